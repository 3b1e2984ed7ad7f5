//! Messages of ZRP, and the header of packets that carry their route. Lengths are those of SWANS.

use std::sync::Arc;

use crate::kernel::Time;
use crate::wire::{CustomHeader, CustomMessage, IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader};

/// A node's neighbours, flooded within its zone by IARP.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LinkState {
    pub(super) origin: NodeId,
    pub(super) seqno: u32,
    /// Links that it may still cross.
    pub(super) ttl: u32,
    pub(super) neighbours: Arc<[NodeId]>,
}

/// What names a query: its source and the source's number for it.
pub(super) type Name = (NodeId, u32);

/// A query of IERP.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Query {
    pub(super) id: u32,
    pub(super) dst: NodeId,
    /// The nodes through which it came, from the source to the sender.
    pub(super) path: Arc<[NodeId]>,
}

impl Query {
    pub(super) fn name(&self) -> Name {
        (self.path[0], self.id)
    }
}

/// What goes back along a route, to nodes of it that may be more than a hop apart by now.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Back<T> {
    pub(super) content: T,
    /// The whole route, from its source to its destination.
    pub(super) path: Arc<[NodeId]>,
    /// The node of the route that is to have it next.
    pub(super) to: NodeId,
}

/// A message of ZRP.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Message {
    /// The sender is here.
    Beacon,
    /// IARP's.
    LinkState(LinkState),
    /// A query that BRP hands on: these neighbours are to bordercast it.
    Query { query: Query, targets: Arc<[NodeId]> },
    /// The route that a query of this number has found.
    Reply(Back<u32>),
    /// The link of a route from the first of these nodes to the second is broken.
    Error(Back<[NodeId; 2]>),
}

impl Message {
    fn name(&self) -> &'static str {
        match self {
            Message::Beacon => "beacon",
            Message::LinkState(_) => "link-state",
            Message::Query { .. } => "query",
            Message::Reply(_) => "reply",
            Message::Error(_) => "route-error",
        }
    }

    fn bytes(&self) -> u32 {
        let of = |nodes: &[NodeId]| 4 * nodes.len() as u32;
        match self {
            Message::Beacon => 0,
            Message::LinkState(state) => 8 + of(&state.neighbours),
            Message::Query { query, targets } => 5 + of(targets) + 8 + of(&query.path),
            Message::Reply(reply) => 8 + of(&reply.path),
            Message::Error(error) => 8 + of(&error.path) + 8,
        }
    }

    /// The packet that carries it to a neighbour, or to all.
    pub(super) fn packet(self, now: Time, from: NodeId, to: NodeId) -> Packet {
        let bytes = IP_HEADER_BYTES + self.bytes();
        let payload = Payload::Custom(CustomMessage::new(self.name(), self));
        Packet::control(now, from, to, 1, bytes, payload)
    }

    /// The message of a packet, if it has one.
    pub(super) fn of(packet: &Packet) -> Option<&Message> {
        if let Payload::Custom(message) = &packet.payload { message.content() } else { None }
    }
}

/// The route of a data packet.
pub(super) type Path = Arc<[NodeId]>;

/// Writes the packet's route into its header.
pub(super) fn put_path(packet: &mut Packet, path: &Path) {
    let bytes = 4 + 4 * path.len() as u32;
    packet.put_header(RoutingHeader::Custom(CustomHeader::new("route", bytes, Arc::clone(path))));
}

/// The route of a packet, if it carries one.
pub(super) fn path_of(packet: &Packet) -> Option<Path> {
    packet.routing_header.as_deref()?.as_custom()?.content::<Path>().cloned()
}
