//! Messages of SSA (Dube, Rais, Wang and Tripathi 1997): one header for all of them, and a list of nodes.

use std::sync::Arc;

use super::ids::NodeId;

/// Bytes of the header's fields, and of a node in the list.
pub const HEADER_BYTES: u32 = 16;
/// See [`HEADER_BYTES`].
pub const NODE_BYTES: u32 = 4;

/// Over which links a route search may come (PREF).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preference {
    /// Strong ones only.
    StrongOnly,
    /// Strong ones first.
    StrongPreferred,
    /// All.
    Any,
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The source is here.
    Beacon,
    /// The source seeks the destination.
    Search,
    /// The destination answers the source.
    Reply,
    /// A link of the route is broken; goes back to the source.
    Error,
    /// The source gives the route up; goes along it.
    Erase,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// Over which links it may come; only searches are particular.
    pub preference: Preference,
    /// Links that a search may still cross.
    pub ttl: u8,
    /// Who seeks or uses the route; the sender of a beacon.
    pub source: NodeId,
    /// Whereto; everybody in a beacon.
    pub destination: NodeId,
    /// The source's number of a search, otherwise the destination's number of its reply; 0 in an error: of
    /// any reply.
    pub number: u32,
    /// Search: the source and who has passed it on. Reply: the whole route. Error: the link's ends, or the
    /// node alone where the route ends.
    pub nodes: Arc<[NodeId]>,
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Beacon => "beacon",
            Kind::Search => "rreq",
            Kind::Reply => "rrep",
            Kind::Error => "rerr",
            Kind::Erase => "erase",
        }
    }
}
