//! Paths, searches, and requests that will be passed on.

use crate::kernel::Time;
use crate::wire::NodeId;
use crate::wire::lunar::{Rreq, Selector};

/// A path from this node.
pub(super) struct Path {
    /// Its first node.
    pub(super) next: NodeId,
    /// The selector for it.
    pub(super) selector: Selector,
    /// The number of the request that found it.
    pub(super) number: u32,
    /// From then on it is of no use.
    pub(super) until: Time,
    /// When to search again, if it has been used; never while a search goes on.
    pub(super) refresh_at: Time,
    /// Has it carried a packet since it was found, or since it was last due for a refresh?
    pub(super) is_used: bool,
}

/// A search for a destination, for a first path or a newer one.
pub(super) struct Search {
    /// Requests sent so far.
    pub(super) tried: u32,
    /// Until when an answer to the last one is waited for.
    pub(super) deadline: Time,
}

/// A request that will be passed on.
pub(super) struct Waiting {
    /// When its jitter is over.
    pub(super) due: Time,
    pub(super) rreq: Rreq,
    /// Copies heard since the first.
    pub(super) copies: u32,
}
