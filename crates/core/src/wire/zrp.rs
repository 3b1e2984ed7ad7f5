//! Messages of ZRP, and the header of packets that carry their route. Lengths are those of SWANS.

use std::sync::Arc;

use super::ids::NodeId;

/// Nodes in the order in which they are crossed, or in that of their numbers.
pub type Nodes = Arc<[NodeId]>;

/// A node's neighbours, flooded within its zone by IARP.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkState {
    /// The node whose neighbours they are.
    pub origin: NodeId,
    /// The number of its list.
    pub seqno: u32,
    /// Links that it may still cross.
    pub ttl: u32,
    /// The neighbours.
    pub neighbours: Nodes,
}

/// What names a query: its source and the source's number for it.
pub type Name = (NodeId, u32);

/// A query of IERP.
#[derive(Clone, PartialEq, Debug)]
pub struct Query {
    /// The source's number for it.
    pub id: u32,
    /// The node that is sought.
    pub dst: NodeId,
    /// The nodes through which it came, from the source to the sender.
    pub path: Nodes,
}

impl Query {
    /// What names it.
    pub fn name(&self) -> Name {
        (self.path[0], self.id)
    }
}

/// What goes back along a route, to nodes of it that may be more than a hop apart by now.
#[derive(Clone, PartialEq, Debug)]
pub struct Back<T> {
    /// What it tells.
    pub content: T,
    /// The whole route, from its source to its destination.
    pub path: Nodes,
    /// The node of the route that is to have it next.
    pub to: NodeId,
}

/// A message of ZRP.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// The sender is here.
    Beacon,
    /// IARP's.
    LinkState(LinkState),
    /// A query that BRP hands on.
    Query {
        /// The query.
        query: Query,
        /// The neighbours that are to bordercast it.
        targets: Nodes,
    },
    /// The route that a query of this number has found.
    Reply(Back<u32>),
    /// The link of a route from the first of these nodes to the second is broken.
    Error(Back<[NodeId; 2]>),
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Beacon => "beacon",
            Message::LinkState(_) => "link-state",
            Message::Query { .. } => "query",
            Message::Reply(_) => "reply",
            Message::Error(_) => "route-error",
        }
    }

    /// Its length in bytes, as a run charges it.
    pub fn bytes(&self) -> u32 {
        let of = |nodes: &[NodeId]| 4 * nodes.len() as u32;
        match self {
            Message::Beacon => 0,
            Message::LinkState(state) => 8 + of(&state.neighbours),
            Message::Query { query, targets } => 5 + of(targets) + 8 + of(&query.path),
            Message::Reply(reply) => 8 + of(&reply.path),
            Message::Error(error) => 8 + of(&error.path) + 8,
        }
    }
}

/// The header of a data packet that carries its route.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceRoute {
    /// All nodes of the route, from its source to its destination.
    pub path: Nodes,
}

impl SourceRoute {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        4 + 4 * self.path.len() as u32
    }
}
