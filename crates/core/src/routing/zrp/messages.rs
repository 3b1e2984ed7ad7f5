//! Packets with messages of ZRP, and packets that carry their route.

use std::sync::Arc;

use crate::kernel::Time;
use crate::wire::zrp::{Message, Nodes, SourceRoute};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader};

/// The packet that carries a message to a neighbour, or to all.
pub(super) fn packet(message: Message, now: Time, from: NodeId, to: NodeId) -> Packet {
    let bytes = IP_HEADER_BYTES + message.bytes();
    Packet::control(now, from, to, 1, bytes, Payload::Zrp(Arc::new(message)))
}

/// The route of a data packet.
pub(super) type Path = Nodes;

/// Writes the packet's route into its header.
pub(super) fn put_path(packet: &mut Packet, path: &Path) {
    packet.put_header(RoutingHeader::Zrp(SourceRoute { path: Arc::clone(path) }));
}

/// The route of a packet, if it carries one.
pub(super) fn path_of(packet: &Packet) -> Option<Path> {
    packet.routing_header.as_deref()?.as_zrp().map(|route| Arc::clone(&route.path))
}
