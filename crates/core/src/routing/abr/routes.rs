//! Routes of ABR, each of one source to one destination.

use std::collections::BTreeMap;

use super::params::Ends;
use crate::kernel::{Span, Time};
use crate::routing::Changes;
use crate::wire::NodeId;

/// A route through this node, or what is left of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    /// Whence its packets come; at the source the node itself.
    pub(super) upstream: NodeId,
    pub(super) next_hop: NodeId,
    /// Links from here to the destination; they only shrink along the route.
    pub(super) hops: u32,
    /// Links from the source to here.
    pub(super) before: u32,
    /// The destination's number of the reply that made it.
    pub(super) number: u32,
    pub(super) until: Time,
    is_broken: bool,
}

impl Route {
    pub(super) fn new(
        (upstream, next_hop): (NodeId, NodeId),
        (before, hops): (u32, u32),
        number: u32,
        until: Time,
    ) -> Route {
        Route { upstream, next_hop, hops, before, number, until, is_broken: false }
    }
}

/// Routes by their ends, with their numbers for a while after they have ended.
#[derive(Default)]
pub(super) struct Routes {
    routes: BTreeMap<Ends, Route>,
    changes: Changes,
}

impl Routes {
    pub(super) fn valid(&self, now: Time, ends: Ends) -> Option<&Route> {
        self.known(ends).filter(|route| !route.is_broken && route.until > now)
    }

    /// Also one that has broken.
    pub(super) fn known(&self, ends: Ends) -> Option<&Route> {
        self.routes.get(&ends)
    }

    /// Takes a route of a newer reply. Returns whether it is taken, and whether a broken one was known.
    pub(super) fn offer(&mut self, ends: Ends, route: Route) -> (bool, bool) {
        let known = self.known(ends).copied();
        if known.is_some_and(|known| known.number >= route.number) {
            return (false, false);
        }
        self.routes.insert(ends, route);
        self.changes.add(ends.1);
        (true, known.is_some_and(|known| known.is_broken))
    }

    /// A route that is used lives on.
    pub(super) fn prolong(&mut self, now: Time, life: Span, ends: Ends) {
        if self.valid(now, ends).is_some()
            && let Some(route) = self.routes.get_mut(&ends)
        {
            route.until = now + life;
            self.changes.add(ends.1);
        }
    }

    /// Breaks a route, if it is of this reply or an older one, or of any for 0; returns it as it was.
    pub(super) fn break_route(&mut self, now: Time, ends: Ends, number: u32) -> Option<Route> {
        let route = *self.valid(now, ends)?;
        if number != 0 && route.number > number {
            return None;
        }
        self.routes.insert(ends, Route { is_broken: true, until: now, ..route });
        self.changes.add(ends.1);
        Some(route)
    }

    /// The routes that come from a neighbour or go to it.
    pub(super) fn over(&self, now: Time, neighbour: NodeId) -> Vec<(Ends, Route)> {
        let over = self.routes.iter().filter(|(ends, route)| {
            (route.next_hop == neighbour || route.upstream == neighbour) && self.valid(now, **ends).is_some()
        });
        over.map(|(ends, route)| (*ends, *route)).collect()
    }

    /// How many routes this node relays.
    pub(super) fn load(&self, now: Time, node: NodeId) -> u16 {
        let relayed = self.routes.keys().filter(|ends| ends.0 != node && self.valid(now, **ends).is_some());
        relayed.count().min(usize::from(u16::MAX)) as u16
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
