//! What a node remembers of a hold, and questions about links.

use crate::kernel::{Span, Time};
use crate::wire::NodeId;
use crate::wire::dsr::{Header, LinkError, Route};

/// A link, in its direction.
pub(super) type Link = (NodeId, NodeId);

/// A hold of TCP's packets to one destination.
pub(super) struct Hold {
    /// Of those that this node sends?
    pub(super) own: bool,
    /// Of those of other nodes whose source route has one of these links, or that this node salvages; none:
    /// not of those of other nodes.
    pub(super) passing: Vec<Link>,
    pub(super) since: Time,
    /// TCP's retransmission time-out, the longest of all connections; none if it is not known.
    pub(super) rto: Option<Span>,
    /// When the TSR timer expires.
    pub(super) deadline: Time,
    /// When routes are probed again.
    pub(super) probe_at: Time,
    /// The routes that were probed last, without those that are known to have failed.
    pub(super) probes: Vec<Route>,
    /// How many were probed last; too many to probe another until the hold is announced.
    pub(super) probed: u32,
    /// The links that were found to be broken when it began, or since.
    pub(super) broken: Vec<Link>,
    /// Does the node ask for a route? DSR's buffer keeps the packets then.
    pub(super) searches: bool,
}

impl Hold {
    pub(super) fn next_timeout(&self) -> Time {
        self.deadline.min(self.probe_at)
    }
}

/// Does the path have the link?
pub(super) fn has_link(path: &[NodeId], link: Link) -> bool {
    path.windows(2).any(|step| (step[0], step[1]) == link)
}

/// The links that a header says are broken.
pub(super) fn links(header: &Header) -> Vec<Link> {
    header.errors.iter().map(|&LinkError { from, to, .. }| (from, to)).collect()
}
