//! What a link-state protocol knows, for comparisons with other implementations.

use crate::wire::NodeId;

/// What one node knows of the network's links. Everything is in the order of the nodes' numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KnownLinks {
    /// The symmetric neighbours.
    pub neighbours: Vec<NodeId>,
    /// Symmetric links of these neighbours: the neighbour, and the node at the other end.
    pub two_hop: Vec<[NodeId; 2]>,
    /// The neighbours that the node has chosen as relays.
    pub relays: Vec<NodeId>,
    /// Links that nodes have told to all: the node that told, and the node at the other end.
    pub topology: Vec<[NodeId; 2]>,
}
