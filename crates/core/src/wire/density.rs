//! Announcements of the path density protocol: which flows a node carries, and their shares.
//!
//! An announcement rides on a routing protocol's broadcast, or goes alone in a datagram to all neighbours.

use super::ids::{FlowId, NodeId};

/// Type, number of flows, and the share that the region grants (assumed: no format is published).
const HEADER_BYTES: u32 = 8;
/// Source, destination and ports, and the hops to the destination (assumed).
const ENTRY_BYTES: u32 = 13;
/// A share, and a share with the centre of the region that grants it (assumed).
const SHARE_BYTES: u32 = 4;
const BOUND_BYTES: u32 = 8;

/// Which flow it is, for all nodes: source, destination, and the ports, for which the flow's number stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowKey {
    /// The source of its data.
    pub src: NodeId,
    /// The destination.
    pub dst: NodeId,
    /// The flow.
    pub flow: FlowId,
}

/// The smallest share that any region of a stretch of a path grants, and that region's centre.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// The share, above 0 and at most 1.
    pub share: f32,
    /// The node in the middle of the region.
    pub centre: NodeId,
}

impl Bound {
    /// The smaller of two; of equal ones that of the centre with the lower number, so that all nodes name the
    /// same.
    pub fn min(self, other: Bound) -> Bound {
        if (other.share, other.centre) < (self.share, self.centre) { other } else { self }
    }
}

/// The way from a node to the destination of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Downstream {
    /// Links to the destination.
    pub hops: u8,
    /// What the regions of this node and of those that follow grant.
    pub bound: Bound,
}

/// A flow that a node carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// The flow.
    pub key: FlowKey,
    /// What the regions grant from the source to this node.
    pub upstream: Bound,
    /// The rest of the way; none before the next node has told of it.
    pub downstream: Option<Downstream>,
}

impl Entry {
    /// What the regions grant that this node knows of.
    pub fn bound(&self) -> Bound {
        self.downstream.map_or(self.upstream, |rest| rest.bound.min(self.upstream))
    }
}

/// What a node announces.
#[derive(Clone, PartialEq, Debug)]
pub struct Announcement {
    /// What its region grants each flow that nothing else holds back; of no meaning if it carries none.
    pub share: f32,
    /// The flows that it carries, in order of their keys.
    pub flows: Vec<Entry>,
    /// Are bounds told with their centres, and of both directions?
    pub has_bounds: bool,
}

impl Announcement {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        let entry = ENTRY_BYTES + if self.has_bounds { 2 * BOUND_BYTES } else { SHARE_BYTES };
        HEADER_BYTES + entry * self.flows.len() as u32
    }

    /// The entry of a flow.
    pub fn entry(&self, key: FlowKey) -> Option<&Entry> {
        self.flows.binary_search_by_key(&key, |entry| entry.key).ok().map(|at| &self.flows[at])
    }
}
