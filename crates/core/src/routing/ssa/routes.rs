//! Routes of SSA, and over whom the packets of flows come.

use std::collections::BTreeMap;

use crate::kernel::{Span, Time};
use crate::routing::Changes;
use crate::wire::NodeId;

/// A route, or what is left of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) next_hop: NodeId,
    pub(super) hops: u32,
    /// The destination's number of the reply that made it: along a route it never falls.
    pub(super) number: u32,
    is_broken: bool,
    pub(super) until: Time,
}

/// Routes by destination, with their numbers for a while after they have ended.
#[derive(Default)]
pub(super) struct Routes {
    routes: BTreeMap<NodeId, Route>,
    changes: Changes,
}

impl Routes {
    pub(super) fn valid(&self, now: Time, dst: NodeId) -> Option<&Route> {
        self.routes.get(&dst).filter(|route| !route.is_broken && route.until > now)
    }

    /// The number of the last known reply; 0 if none is known.
    pub(super) fn number(&self, dst: NodeId) -> u32 {
        self.routes.get(&dst).map_or(0, |route| route.number)
    }

    /// Takes a route of a newer reply. Returns whether a broken one was known.
    pub(super) fn offer(
        &mut self,
        until: Time,
        dst: NodeId,
        (next_hop, hops): (NodeId, u32),
        number: u32,
    ) -> bool {
        if self.number(dst) >= number {
            return false;
        }
        self.changes.add(dst);
        let known = self.routes.insert(dst, Route { next_hop, hops, number, is_broken: false, until });
        known.is_some_and(|known| known.is_broken)
    }

    /// A route that is used lives on.
    pub(super) fn prolong(&mut self, now: Time, life: Span, dst: NodeId) {
        if self.valid(now, dst).is_some()
            && let Some(route) = self.routes.get_mut(&dst)
        {
            route.until = now + life;
            self.changes.add(dst);
        }
    }

    /// Breaks the route to `dst` if it is of this reply or an older one, or of any for 0; returns it as it
    /// was.
    pub(super) fn break_route(&mut self, now: Time, dst: NodeId, number: u32) -> Option<Route> {
        let route = *self.valid(now, dst)?;
        if number != 0 && route.number > number {
            return None;
        }
        self.routes.insert(dst, Route { is_broken: true, until: now, ..route });
        self.changes.add(dst);
        Some(route)
    }

    /// The destinations of routes over a neighbour.
    pub(super) fn over(&self, now: Time, next_hop: NodeId) -> Vec<NodeId> {
        let over = self
            .routes
            .iter()
            .filter(|(dst, route)| route.next_hop == next_hop && self.valid(now, **dst).is_some());
        over.map(|(dst, _)| *dst).collect()
    }

    /// Forgets what has ended for so long.
    pub(super) fn forget(&mut self, now: Time, memory: Span) {
        self.routes.retain(|_, route| route.until + memory > now);
    }

    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

/// From which neighbour the packets of each flow come, by source and destination: errors go back this way.
#[derive(Default)]
pub(super) struct Flows(BTreeMap<(NodeId, NodeId), (NodeId, Time)>);

impl Flows {
    pub(super) fn note(&mut self, ends: (NodeId, NodeId), from: NodeId, until: Time) {
        self.0.insert(ends, (from, until));
    }

    pub(super) fn from(&self, now: Time, ends: (NodeId, NodeId)) -> Option<NodeId> {
        self.0.get(&ends).filter(|(_, until)| *until > now).map(|(from, _)| *from)
    }

    /// The sources of flows to `dst`, each with the neighbour from which its packets come.
    pub(super) fn to(&self, now: Time, dst: NodeId) -> Vec<(NodeId, NodeId)> {
        let flows = self.0.iter().filter(|((_, to), (_, until))| *to == dst && *until > now);
        flows.map(|((source, _), (from, _))| (*source, *from)).collect()
    }

    pub(super) fn forget(&mut self, now: Time) {
        self.0.retain(|_, (_, until)| *until > now);
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

    #[test]
    fn only_newer_replies_make_routes_also_after_a_break() {
        let mut routes = Routes::default();
        let via = |routes: &Routes, seconds| routes.valid(at(seconds), D).map(|route| route.next_hop.0);
        assert!(!routes.offer(at(10.0), D, (NodeId(1), 3), 7));
        routes.offer(at(10.0), D, (NodeId(2), 1), 7);
        assert_eq!(via(&routes, 0.0), Some(1), "of the same reply");
        assert_eq!(routes.break_route(at(1.0), D, 6), None, "an older one was meant");
        assert_eq!(routes.break_route(at(1.0), D, 7).map(|route| route.hops), Some(3));
        routes.offer(at(11.0), D, (NodeId(2), 1), 6);
        assert_eq!(via(&routes, 1.0), None, "it was on its way when the other broke");
        assert!(routes.offer(at(11.0), D, (NodeId(3), 9), 8));
        assert_eq!((via(&routes, 10.9), via(&routes, 11.0)), (Some(3), None));
        routes.forget(at(20.9), Span::from_secs(10.0));
        assert_eq!(routes.number(D), 8);
        routes.forget(at(21.0), Span::from_secs(10.0));
        assert_eq!((routes.number(D), routes.len()), (0, 0));
    }

    #[test]
    fn a_route_that_is_used_lives_on() {
        let mut routes = Routes::default();
        routes.offer(at(10.0), D, (NodeId(1), 3), 7);
        routes.prolong(at(9.0), Span::from_secs(10.0), D);
        assert_eq!(routes.over(at(18.9), NodeId(1)), [D]);
        assert_eq!(routes.over(at(19.0), NodeId(1)), []);
        routes.prolong(at(19.0), Span::from_secs(10.0), D);
        assert_eq!(routes.valid(at(19.0), D), None, "it had ended");
    }
}
