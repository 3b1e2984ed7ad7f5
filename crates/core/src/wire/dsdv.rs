//! Updates of DSDV.

use std::sync::Arc;

use super::ids::NodeId;

/// Bytes of one entry of an update (ns-2.35).
const ENTRY_BYTES: u32 = 12;
/// The metric of a destination that cannot be reached.
pub const INFINITE: u8 = u8::MAX;

/// One destination in an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The destination.
    pub dst: NodeId,
    /// Hops from the sender of the update to it; [`INFINITE`] if there is no route.
    pub metric: u8,
    /// Its sequence number: even if the destination gave it out, odd if the route broke.
    pub seqno: u32,
}

/// An update, broadcast to the neighbours.
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// A full dump, or an incremental one.
    pub full: bool,
    /// What it says.
    pub entries: Arc<[Entry]>,
}

impl Update {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        ENTRY_BYTES * self.entries.len() as u32
    }
}
