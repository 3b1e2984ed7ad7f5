//! What a node remembers of errors, of breaks and of what it overheard.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::kernel::{Span, Time};
use crate::wire::NodeId;
use crate::wire::dsr::Route;

/// An error that was meant for this node.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldError {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) since: Time,
}

/// A link that failed here, and who has been told.
#[derive(Clone, Debug)]
pub(super) struct Break {
    pub(super) next_hop: NodeId,
    pub(super) told: SmallVec<[NodeId; 4]>,
}

/// What a node remembers of what it overheard.
#[derive(Debug, Default)]
pub(super) struct Overheard {
    /// Numbers of packets, each at its remainder by the table's length, as the quotient: in fewer bits,
    /// because the tables of all nodes do not fit into a processor's nearest caches.
    packets: Vec<u32>,
    /// Gratuitous replies: to whom, about which sender, when; the newest last.
    replies: VecDeque<(NodeId, NodeId, Time)>,
    /// ns-2's table of the routes that gratuitous replies were about, and its times; it grows to its size.
    routes: Vec<(Route, Time)>,
    /// The place in that table where the next route goes.
    next_route: usize,
}

impl Overheard {
    /// Is this packet overheard for the first time, as far as is remembered?
    pub(super) fn is_new(&mut self, uid: u64, places: u32) -> bool {
        if places == 0 {
            return true;
        }
        if self.packets.is_empty() {
            self.packets = vec![u32::MAX; places as usize];
        }
        let (quotient, remainder) = (uid / u64::from(places), uid % u64::from(places));
        let known = &mut self.packets[remainder as usize];
        std::mem::replace(known, quotient as u32) != quotient as u32
    }

    /// May a gratuitous reply be sent to `to` about a packet overheard from `from`? Remembers it if so.
    pub(super) fn may_reply(
        &mut self,
        now: Time,
        to: NodeId,
        from: NodeId,
        holdoff: Span,
        size: u32,
    ) -> bool {
        let known = self.replies.iter().position(|reply| (reply.0, reply.1) == (to, from));
        if let Some(at) = known {
            if now < self.replies[at].2 + holdoff {
                return false;
            }
            self.replies.remove(at);
        }
        if self.replies.len() >= size as usize {
            self.replies.pop_front();
        }
        self.replies.push_back((to, from, now));
        true
    }

    /// May a gratuitous reply be sent about `route`? Remembers it if so, as ns-2.35 does: a new route goes to
    /// the next place, but its time to the place after that.
    pub(super) fn may_reply_about(&mut self, now: Time, route: &Route, holdoff: Span, size: u32) -> bool {
        if self.routes.is_empty() {
            self.routes.push((Route::new(), Time::ZERO));
        }
        match self.routes.iter().position(|(known, _)| known == route) {
            Some(at) if now < self.routes[at].1 + holdoff => return false,
            Some(at) => self.routes[at].1 = now,
            None => {
                self.routes[self.next_route].0 = route.clone();
                self.next_route = (self.next_route + 1) % size as usize;
                if self.next_route == self.routes.len() {
                    self.routes.push((Route::new(), now));
                } else {
                    self.routes[self.next_route].1 = now;
                }
            }
        }
        true
    }
}
