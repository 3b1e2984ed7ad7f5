//! Requests for new sequence numbers that wait for an answer (RFC 8966 §3.2.7, §3.8.2), and updates that are
//! sent again because nobody acknowledges them.

use std::collections::BTreeMap;

use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// What is sent again, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeats {
    left: u32,
    wait: Span,
    at: Time,
}

impl Repeats {
    pub(super) fn new(now: Time, left: u32, wait: Span) -> Repeats {
        Repeats { left, wait, at: now + wait }
    }

    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// Its time has come: is it sent again? The next wait is twice as long.
    pub(super) fn fire(&mut self) -> bool {
        let again = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.wait = (self.wait * 2).max(Span(1));
        self.at += self.wait;
        again
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) seqno: u16,
    /// The neighbour for whom it was passed on.
    pub(super) requester: Option<NodeId>,
    until: Time,
    repeats: Option<Repeats>,
}

impl Pending {
    /// One of this node's own.
    pub(super) fn own(seqno: u16, repeats: Repeats) -> Pending {
        Pending { seqno, requester: None, until: Time::NEVER, repeats: Some(repeats) }
    }

    /// One that is passed on, and remembered until `until`.
    pub(super) fn passed_on(seqno: u16, requester: NodeId, until: Time) -> Pending {
        Pending { seqno, requester: Some(requester), until, repeats: None }
    }

    fn at(&self) -> Time {
        self.repeats.map_or(self.until, |repeats| repeats.at())
    }
}

/// By destination.
#[derive(Default)]
pub(super) struct Requests(BTreeMap<NodeId, Pending>);

impl Requests {
    pub(super) fn add(&mut self, prefix: NodeId, pending: Pending) {
        self.0.insert(prefix, pending);
    }

    /// Was the same asked for, or more, and not answered yet? Requests follow routes that need not be
    /// feasible, and come back to where they were: what is forgotten too early goes in circles for as many
    /// hops as it may.
    pub(super) fn is_redundant(&self, prefix: NodeId, seqno: u16) -> bool {
        self.0.get(&prefix).is_some_and(|pending| !super::table::is_newer(seqno, pending.seqno))
    }

    /// Takes out the request that an update with this number answers.
    pub(super) fn answered(&mut self, prefix: NodeId, seqno: u16) -> Option<Pending> {
        let pending = self.0.get(&prefix)?;
        if super::table::is_newer(pending.seqno, seqno) { None } else { self.0.remove(&prefix) }
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.0.values().map(Pending::at).min().unwrap_or(Time::NEVER)
    }

    /// Those to be repeated now; those that are over are forgotten.
    pub(super) fn fire(&mut self, now: Time) -> Vec<(NodeId, Pending)> {
        let mut again = Vec::new();
        self.0.retain(|prefix, pending| {
            if pending.at() > now {
                return true;
            }
            let fires = pending.repeats.as_mut().is_some_and(Repeats::fire);
            if fires {
                again.push((*prefix, *pending));
            }
            fires
        });
        again
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
