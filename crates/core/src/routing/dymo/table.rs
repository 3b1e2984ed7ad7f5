//! Routes of DYMO and the choice among them, and the requests that were seen.

use std::collections::BTreeMap;

use crate::kernel::{Span, Time};
use crate::routing::Changes;
use crate::wire::NodeId;

/// Is `a` the newer of two numbers that go around?
pub(super) fn is_newer(a: u16, b: u16) -> bool {
    a != b && a.wrapping_sub(b) < 0x8000
}

/// The number after this one; 0 means that none is known.
pub(super) fn next_seqno(seqno: u16) -> u16 {
    seqno.checked_add(1).unwrap_or(1)
}

/// What a message says of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) dst: NodeId,
    pub(super) seqno: u16,
    pub(super) hops: u8,
    pub(super) next_hop: NodeId,
}

/// A route, or what is left of one.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) next_hop: NodeId,
    pub(super) seqno: u16,
    pub(super) hops: u8,
    broken: bool,
    pub(super) until: Time,
    /// Data went over it; until then it is active.
    active_until: Time,
    /// It was reported as failed, and not yet as found again.
    reported: bool,
}

impl Route {
    fn is_valid(&self, now: Time) -> bool {
        !self.broken && self.until > now
    }
}

/// A route that has broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken {
    pub(super) dst: NodeId,
    pub(super) seqno: u16,
    /// Data went over it not long ago.
    pub(super) was_active: bool,
}

/// Routes by destination, with their numbers for a while after they have ended.
#[derive(Default)]
pub(super) struct Table {
    routes: BTreeMap<NodeId, Route>,
    changes: Changes,
}

impl Table {
    pub(super) fn valid(&self, now: Time, dst: NodeId) -> Option<&Route> {
        self.routes.get(&dst).filter(|route| route.is_valid(now))
    }

    /// The number that is known of a node; 0 if none is.
    pub(super) fn seqno(&self, dst: NodeId) -> u16 {
        self.routes.get(&dst).map_or(0, |route| route.seqno)
    }

    /// Takes a route that is newer, or as new and shorter, or as new and no longer where the known one has
    /// ended. One that is the same as the known one lives on. Returns whether a route was found that was
    /// reported as failed.
    pub(super) fn offer(&mut self, now: Time, life: Span, offer: Offer) -> bool {
        let known = self.routes.get(&offer.dst);
        let is_taken = known.is_none_or(|known| {
            is_newer(offer.seqno, known.seqno)
                || (offer.seqno == known.seqno
                    && (offer.hops < known.hops
                        || (offer.hops == known.hops
                            && (offer.next_hop == known.next_hop || !known.is_valid(now)))))
        });
        if !is_taken {
            return false;
        }
        let was_reported = known.is_some_and(|known| known.reported);
        let active_until = known.map_or(Time::ZERO, |known| known.active_until);
        let Offer { dst, seqno, hops, next_hop } = offer;
        let until = now + life;
        self.changes.add(dst);
        let (broken, reported) = (false, false);
        self.routes.insert(dst, Route { next_hop, seqno, hops, broken, until, active_until, reported });
        was_reported
    }

    /// A route is used: it lives on, and is active.
    pub(super) fn prolong(&mut self, now: Time, life: Span, active: Span, dst: NodeId) {
        if let Some(route) = self.routes.get_mut(&dst).filter(|route| route.is_valid(now)) {
            route.until = route.until.max(now + life);
            route.active_until = now + active;
            self.changes.add(dst);
        }
    }

    /// Breaks the routes for which `is_broken` says so, and returns them.
    pub(super) fn break_routes(
        &mut self,
        now: Time,
        is_broken: impl Fn(NodeId, &Route) -> bool,
    ) -> Vec<Broken> {
        let mut broken = Vec::new();
        for (dst, route) in &mut self.routes {
            if route.is_valid(now) && is_broken(*dst, route) {
                (route.broken, route.reported, route.until) = (true, true, now);
                self.changes.add(*dst);
                let was_active = route.active_until > now;
                broken.push(Broken { dst: *dst, seqno: route.seqno, was_active });
            }
        }
        broken
    }

    /// Forgets what has ended for so long.
    pub(super) fn forget(&mut self, now: Time, seqno_life: Span) {
        self.routes.retain(|_, route| route.until + seqno_life > now);
    }

    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

/// The best copy of each search that was seen: by its originator and its target.
#[derive(Default)]
pub(super) struct Seen(BTreeMap<(NodeId, NodeId), (u16, u8, Time)>);

impl Seen {
    /// Is this copy of a request no better than one that was seen?
    pub(super) fn has_as_good(&self, now: Time, name: (NodeId, NodeId), seqno: u16, hops: u8) -> bool {
        self.0.get(&name).is_some_and(|&(known, fewest, until)| {
            until > now && !is_newer(seqno, known) && (seqno != known || hops >= fewest)
        })
    }

    pub(super) fn add(&mut self, name: (NodeId, NodeId), seqno: u16, hops: u8, until: Time) {
        self.0.insert(name, (seqno, hops, until));
    }

    pub(super) fn forget(&mut self, now: Time) {
        self.0.retain(|_, (_, _, until)| *until > now);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    const D: NodeId = NodeId(9);

    fn offer(seqno: u16, hops: u8, next_hop: u32) -> Offer {
        Offer { dst: D, seqno, hops, next_hop: NodeId(next_hop) }
    }

    #[test]
    fn numbers_go_around_without_zero() {
        assert!(is_newer(1, u16::MAX) && is_newer(8, 7) && !is_newer(7, 8) && !is_newer(7, 7));
        assert_eq!((next_seqno(7), next_seqno(u16::MAX)), (8, 1));
    }

    #[test]
    fn a_route_is_taken_if_newer_or_as_new_and_shorter_or_no_longer_after_a_break() {
        let (mut table, life) = (Table::default(), Span::from_secs(5.0));
        let via = |table: &Table, seconds| table.valid(at(seconds), D).map(|route| route.next_hop.0);
        table.offer(at(0.0), life, offer(7, 3, 1));
        table.offer(at(0.0), life, offer(6, 1, 2));
        table.offer(at(0.0), life, offer(7, 3, 2));
        assert_eq!(via(&table, 0.0), Some(1));
        table.offer(at(1.0), life, offer(7, 2, 2));
        assert_eq!((via(&table, 5.9), via(&table, 6.0)), (Some(2), None));
        table.offer(at(2.0), life, offer(8, 9, 3));
        let broken = table.break_routes(at(3.0), |_, route| route.next_hop.0 == 3);
        assert_eq!(broken, [Broken { dst: D, seqno: 8, was_active: false }]);
        table.offer(at(3.0), life, offer(8, 10, 4));
        assert_eq!(via(&table, 3.0), None, "a longer way of the same number may lead back");
        assert!(table.offer(at(3.0), life, offer(8, 9, 4)), "it was reported as failed");
        assert_eq!(via(&table, 3.0), Some(4));
        table.forget(at(17.9), Span::from_secs(10.0));
        assert_eq!(table.seqno(D), 8);
        table.forget(at(18.0), Span::from_secs(10.0));
        assert_eq!((table.seqno(D), table.len()), (0, 0));
    }

    #[test]
    fn only_better_copies_of_a_request_are_passed_on() {
        let (mut seen, name) = (Seen::default(), (NodeId(1), D));
        seen.add(name, 7, 3, at(12.0));
        let known = |seen: &Seen, seqno, hops| seen.has_as_good(at(1.0), name, seqno, hops);
        assert!(known(&seen, 7, 3) && known(&seen, 7, 4) && known(&seen, 6, 1));
        assert!(!known(&seen, 7, 2) && !known(&seen, 8, 9));
        assert!(!seen.has_as_good(at(12.0), name, 7, 3) && !seen.has_as_good(at(1.0), (D, D), 7, 3));
        seen.forget(at(12.0));
        assert_eq!(seen.len(), 0);
    }
}
