//! The routing table of the ns-2 model. It also holds what is known of searches for each destination.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::kernel::{Span, Time};
use crate::routing::Changes;
use crate::wire::NodeId;

/// Where a route goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link {
    pub(super) hops: u8,
    pub(super) next_hop: NodeId,
}

/// One destination.
pub(super) struct Route {
    pub(super) dst: NodeId,
    /// The destination's sequence number: even from the destination itself, odd after a break. Zero if
    /// unknown.
    pub(super) seqno: u32,
    /// Absent while the route is down.
    pub(super) link: Option<Link>,
    /// The route is broken and being repaired here. Its link stays, and is offered to others who ask.
    pub(super) in_repair: bool,
    /// When an unused route goes down.
    pub(super) expires: Time,
    /// Hops of the route when it last went down.
    pub(super) last_hops: Option<u8>,
    /// Neighbours that were given this route; they are told when it breaks.
    pub(super) precursors: SmallVec<[NodeId; 4]>,
    /// Before this time no further request is sent; zero if none was sent since the last answer.
    pub(super) request_timeout: Time,
    /// Network-wide requests since the last answer.
    pub(super) request_count: u32,
    /// TTL of the last request, or the hop count of the last answer; zero if there was neither.
    pub(super) last_ttl: u32,
    /// The route was reported as failed, and not yet as found again.
    pub(super) reported: bool,
    /// Neighbours whose data used this route, and until when they count, if errors go to them.
    users: SmallVec<[(NodeId, Time); 4]>,
    /// Times per hop of the last discoveries; zero if there was none.
    latencies: [Span; 3],
    latency_at: usize,
}

/// A discovery's time per hop where there is no hop to divide it by.
const ENDLESS: Span = Span(u64::MAX);

impl Route {
    fn new(dst: NodeId) -> Route {
        Route {
            dst,
            seqno: 0,
            link: None,
            in_repair: false,
            expires: Time::ZERO,
            last_hops: None,
            precursors: SmallVec::new(),
            request_timeout: Time::ZERO,
            request_count: 0,
            last_ttl: 0,
            reported: false,
            users: SmallVec::new(),
            latencies: [Span::ZERO; 3],
            latency_at: 0,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.link.is_some() && !self.in_repair
    }

    /// Takes the route down; it remembers its length for the next search.
    pub(super) fn take_down(&mut self) {
        if let Some(link) = self.link.take() {
            self.last_hops = Some(link.hops);
        }
        self.in_repair = false;
        self.expires = Time::ZERO;
    }

    /// The search is over: the next one begins near where the destination was found.
    pub(super) fn end_search(&mut self, hops: u8) {
        self.request_count = 0;
        self.request_timeout = Time::ZERO;
        self.last_ttl = u32::from(hops);
    }

    pub(super) fn add_precursor(&mut self, node: NodeId) {
        if !self.precursors.contains(&node) {
            self.precursors.push(node);
        }
    }

    /// Data of this neighbour uses the route; it counts until then.
    pub(super) fn note_user(&mut self, user: NodeId, until: Time) {
        match self.users.iter_mut().find(|(known, _)| *known == user) {
            Some(known) => known.1 = until,
            None => self.users.push((user, until)),
        }
    }

    /// Those who used the route lately, the first first. They stay known when it breaks.
    pub(super) fn users(&mut self, now: Time) -> SmallVec<[NodeId; 4]> {
        self.users.retain(|(_, until)| *until > now);
        self.users.iter().map(|(user, _)| *user).collect()
    }

    /// Remembers how long a discovery took for each of so many hops; none at all make it endless.
    pub(super) fn add_latency(&mut self, took: Span, hops: u64) {
        self.latencies[self.latency_at] = took.0.checked_div(hops).map_or(ENDLESS, Span);
        self.latency_at = (self.latency_at + 1) % self.latencies.len();
    }

    /// Mean of the last three discoveries' times per hop; `otherwise` if there was none. None if one of them
    /// is endless.
    pub(super) fn per_hop_time(&self, otherwise: Span) -> Option<Span> {
        if self.latencies.contains(&ENDLESS) {
            return None;
        }
        let measured = self.latencies.iter().filter(|latency| **latency > Span::ZERO);
        let (count, sum) = measured.fold((0, 0), |(count, sum), latency| (count + 1, sum + latency.0));
        Some(u64::checked_div(sum, count).map_or(otherwise, Span))
    }
}

/// All destinations ever heard of; none is forgotten.
#[derive(Default)]
pub(super) struct Table {
    /// In order of creation.
    routes: Vec<Route>,
    /// Places in `routes`. Never iterated: its order is nobody's.
    index: FxHashMap<NodeId, u32>,
    /// Routes that were lent for a change.
    changes: Changes,
}

impl Table {
    /// The place of the route to `dst`.
    pub(super) fn find(&self, dst: NodeId) -> Option<usize> {
        self.index.get(&dst).map(|&at| at as usize)
    }

    /// The place of the route to `dst`, which is made if need be.
    pub(super) fn find_or_add(&mut self, dst: NodeId) -> usize {
        if let Some(at) = self.find(dst) {
            return at;
        }
        self.routes.push(Route::new(dst));
        self.index.insert(dst, self.routes.len() as u32 - 1);
        self.routes.len() - 1
    }

    /// The route at a place.
    pub(super) fn at(&self, place: usize) -> &Route {
        &self.routes[place]
    }

    /// The route at a place, for a change.
    pub(super) fn at_mut(&mut self, place: usize) -> &mut Route {
        let route = &mut self.routes[place];
        self.changes.add(route.dst);
        route
    }

    /// The places of all routes, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.routes.len()).rev()
    }

    /// The destinations whose routes may be others than when this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }

    /// The route to `dst`.
    pub(super) fn get(&self, dst: NodeId) -> Option<&Route> {
        self.find(dst).map(|at| &self.routes[at])
    }
}
