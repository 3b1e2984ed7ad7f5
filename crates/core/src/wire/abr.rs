//! Messages of ABR (Toh 1996): one header for all of them, and lists of nodes.

use std::sync::Arc;

use super::ids::NodeId;

/// Bytes of the header's fields.
pub const HEADER_BYTES: u32 = 16;
/// Bytes of a node in a query.
pub const HOP_BYTES: u32 = 12;
/// Bytes of a node in a reply.
pub const NODE_BYTES: u32 = 4;

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The source is here.
    Beacon,
    /// Broadcast query (BQ): the source seeks the destination.
    Bq,
    /// Localised query (LQ): a node on the way does.
    Lq,
    /// The destination's answer to either.
    Reply,
    /// Route notification RN\[0\]: the next node towards the source is to repair the route.
    RnBack,
    /// RN\[1\] towards the source, which is to seek anew; erases the route.
    RnToSource,
    /// RN\[1\] towards the destination; erases the route.
    RnErase,
    /// Route delete (RD): the source needs the route no more; flooded.
    Rd,
}

/// A node that has passed on a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The node.
    pub node: NodeId,
    /// Beacons in a row that it has heard of the node before it in the list; 0 for the first.
    pub ticks: u32,
    /// Routes that it relays.
    pub load: u16,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// Links that a query may still cross.
    pub ttl: u8,
    /// LQ and its reply: links of the route before the first node of the list.
    pub before: u8,
    /// The source of the route; the sender of a beacon.
    pub source: NodeId,
    /// The destination of the route; everybody in a beacon.
    pub destination: NodeId,
    /// Query, RD: the number that its maker gave it. Reply: that of the destination. RN: that of the reply
    /// that made the route; 0: of any.
    pub number: u32,
    /// Query: who made it, and who has passed it on.
    pub hops: Arc<[Hop]>,
    /// Reply: the way from the maker of the query to the destination.
    pub nodes: Arc<[NodeId]>,
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Beacon => "beacon",
            Kind::Bq => "rreq",
            Kind::Lq => "lq",
            Kind::Reply => "rrep",
            Kind::RnBack | Kind::RnToSource | Kind::RnErase => "rn",
            Kind::Rd => "rd",
        }
    }
}
