//! The routing table (RFC 3561 §6.1, §6.2).
//!
//! **Deviations** (docs/models/aodv.md): 1 (nothing is expunged), 2 and 3 (numbers are never lowered).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::kernel::{Span, Time};
use crate::routing::{Changes, RouteNow};
use crate::wire::NodeId;

/// A set of neighbours.
pub(super) type Nodes = SmallVec<[NodeId; 4]>;

/// The way to one destination. Small, because in a large network every flood leaves a route to its origin at
/// every node.
pub(super) struct Route {
    pub(super) next_hop: NodeId,
    /// `None` while no sequence number is known.
    pub(super) seqno: Option<u32>,
    /// The valid destination sequence number flag (§6.2): does the number belong to this route? That of a
    /// neighbour that was only heard after its route had been lost does not, and is the least that the next
    /// one may be.
    seqno_is_valid: bool,
    /// Hops to the destination; of an invalid route, when it was last valid.
    pub(super) hops: u8,
    /// Is the route valid, as far as it has been looked at? See [`Route::is_valid`].
    valid: bool,
    /// Of a valid route its end of life, of an invalid one when its hop count is forgotten (§6.11).
    pub(super) expires: Time,
    /// What most routes never have.
    details: Option<Box<Details>>,
    /// The route was reported as failed, and not yet as found again.
    pub(super) reported: bool,
}

#[derive(Default)]
struct Details {
    /// Neighbours that were given the route.
    precursors: Nodes,
    /// The route broke and may be repaired here until this time (§6.12).
    repairable_until: Time,
}

impl Route {
    fn fresh(now: Time, offer: &Offer, seqno: Option<u32>) -> Route {
        Route {
            next_hop: offer.next_hop,
            seqno,
            seqno_is_valid: seqno.is_some(),
            hops: offer.hops,
            valid: true,
            expires: now,
            details: None,
            reported: false,
        }
    }

    /// The route leads another way, or is valid again.
    fn renew(&mut self, now: Time, hops: u8, next_hop: NodeId) {
        if !self.valid {
            self.expires = now;
        }
        self.valid = true;
        self.hops = hops;
        self.next_hop = next_hop;
        self.end_repair();
    }

    /// Can the route be used now?
    pub(super) fn is_valid(&self, now: Time) -> bool {
        self.valid && self.expires > now
    }

    /// The route lives at least until `time`; an invalid route stays as it is.
    pub(super) fn prolong(&mut self, now: Time, time: Time) {
        if self.is_valid(now) {
            self.expires = self.expires.max(time);
        }
    }

    /// The number with which this route may be given to others (§6.6 ii).
    pub(super) fn valid_seqno(&self) -> Option<u32> {
        self.seqno.filter(|_| self.seqno_is_valid)
    }

    /// The destination itself told its number; an older one than is known says nothing.
    pub(super) fn learn_seqno(&mut self, told: u32) {
        if self.seqno.is_none_or(|known| !newer(known, told)) {
            (self.seqno, self.seqno_is_valid) = (Some(told), true);
        }
    }

    /// Marks the route invalid and raises its sequence number (§6.1: "the path … expires or breaks") "if it
    /// exists and is valid" (§6.11).
    pub(super) fn invalidate(&mut self, forget_at: Time) {
        if self.seqno_is_valid {
            self.seqno = self.seqno.map(|seqno| seqno.wrapping_add(1));
        }
        self.valid = false;
        self.expires = forget_at;
    }

    /// The last known hop count of a route that is not valid (§6.4), while it is remembered.
    pub(super) fn last_hops(&self, now: Time) -> Option<u8> {
        (!self.valid && self.expires > now).then_some(self.hops)
    }

    /// The neighbours that were given this route.
    pub(super) fn precursors(&self) -> &[NodeId] {
        self.details.as_deref().map_or(&[], |details| details.precursors.as_slice())
    }

    pub(super) fn add_precursor(&mut self, node: NodeId) {
        if !self.precursors().contains(&node) {
            self.details.get_or_insert_default().precursors.push(node);
        }
    }

    pub(super) fn forget_precursors(&mut self) {
        if let Some(details) = &mut self.details {
            details.precursors.clear();
            self.tidy();
        }
    }

    /// Details that say nothing are none.
    fn tidy(&mut self) {
        self.details
            .take_if(|details| details.precursors.is_empty() && details.repairable_until == Time::ZERO);
    }

    /// The route broke: may it be repaired here at this time (§6.12)?
    pub(super) fn is_repairable(&self, now: Time) -> bool {
        self.details.as_ref().is_some_and(|details| details.repairable_until > now)
    }

    pub(super) fn allow_repair(&mut self, until: Time) {
        self.details.get_or_insert_default().repairable_until = until;
    }

    /// The route is valid again, or given up.
    pub(super) fn end_repair(&mut self) {
        if let Some(details) = &mut self.details {
            details.repairable_until = Time::ZERO;
            self.tidy();
        }
    }
}

/// What a message says about a destination.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub(super) dst: NodeId,
    pub(super) seqno: u32,
    pub(super) hops: u8,
    pub(super) next_hop: NodeId,
}

/// Is sequence number `a` greater than `b`? In signed 32-bit arithmetic, so that numbers may roll over
/// (§6.1).
pub(super) fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// All destinations ever heard of.
///
/// An entry keeps its sequence number for good and only its hop count is forgotten after DELETE_PERIOD:
/// §6.4 allows entries to stay longer, and a node that forgets the number it gave to a broken route may be
/// answered with a route that leads through itself.
///
/// Expiry needs no timer: every look at an entry first makes it what time has made of it.
pub(super) struct Table {
    /// Nothing depends on its order.
    routes: FxHashMap<NodeId, Route>,
    delete_period: Span,
    /// Compare sequence numbers; otherwise every offer is taken.
    compare: bool,
    /// Routes that were lent for a change.
    changes: Changes,
}

impl Table {
    pub(super) fn new(delete_period: Span, compare: bool) -> Table {
        Table { routes: FxHashMap::default(), delete_period, compare, changes: Changes::NONE }
    }

    /// The entry for `dst`.
    pub(super) fn get(&mut self, now: Time, dst: NodeId) -> Option<&mut Route> {
        let route = self.routes.get_mut(&dst)?;
        self.changes.add(dst);
        if route.valid && route.expires <= now {
            route.invalidate(route.expires + self.delete_period);
            route.forget_precursors();
        }
        Some(route)
    }

    /// The entry for `dst` if it is valid.
    pub(super) fn valid(&mut self, now: Time, dst: NodeId) -> Option<&mut Route> {
        self.get(now, dst).filter(|route| route.valid)
    }

    /// A valid route, without a change to the table. One that is not valid does not become so by time.
    pub(super) fn route(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let &Route { next_hop, hops, expires, .. } =
            self.routes.get(&dst).filter(|route| route.is_valid(now))?;
        Some(RouteNow { next_hop, hops: Some(hops.into()), until: expires })
    }

    /// The destinations whose routes may be others than when this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }

    /// The neighbour is lost: it is nobody's precursor any more. Returns the destinations of all valid routes
    /// over it, in order of their numbers.
    #[expect(
        clippy::iter_over_hash_type,
        reason = "each route is changed by itself, and what is found is sorted"
    )]
    pub(super) fn lose(&mut self, now: Time, neighbour: NodeId) -> SmallVec<[NodeId; 8]> {
        let mut over = SmallVec::new();
        for (&dst, route) in &mut self.routes {
            if let Some(details) = &mut route.details {
                details.precursors.retain(|precursor| *precursor != neighbour);
            }
            if route.next_hop == neighbour && route.is_valid(now) {
                over.push(dst);
            }
        }
        over.sort_unstable();
        over
    }

    /// Takes the route if it is newer, or as new and shorter or the only one or the only one whose number is
    /// valid, or if nothing was known (§6.2, §6.7, and §6.1 for invalid entries). A route taken over an
    /// invalid one lives until `now`; the caller prolongs it. Returns whether it was taken.
    pub(super) fn offer(&mut self, now: Time, offer: Offer) -> bool {
        let compare = self.compare;
        let Some(route) = self.get(now, offer.dst) else {
            self.changes.add(offer.dst);
            self.routes.insert(offer.dst, Route::fresh(now, &offer, Some(offer.seqno)));
            return true;
        };
        let taken = !compare
            || route.seqno.is_none_or(|seqno| {
                newer(offer.seqno, seqno)
                    || (offer.seqno == seqno
                        && (!route.valid || !route.seqno_is_valid || offer.hops < route.hops))
            });
        if taken {
            (route.seqno, route.seqno_is_valid) = (Some(offer.seqno), true);
            route.renew(now, offer.hops, offer.next_hop);
        }
        taken
    }

    /// A message came straight from this neighbour: there is a route of one hop to it, whose sequence number
    /// the message does not tell (§6.5, §6.7). A number that is known stays, but that of a lost route is not
    /// valid for the new one. Returns whether the route is new.
    pub(super) fn hear(&mut self, now: Time, neighbour: NodeId, life: Span) -> bool {
        let Some(route) = self.get(now, neighbour) else {
            let offer = Offer { dst: neighbour, seqno: 0, hops: 1, next_hop: neighbour };
            let route = Route { expires: now + life, ..Route::fresh(now, &offer, None) };
            self.changes.add(neighbour);
            self.routes.insert(neighbour, route);
            return true;
        };
        let new = !(route.valid && route.hops == 1);
        route.seqno_is_valid &= route.valid;
        if new {
            route.renew(now, 1, neighbour);
        }
        route.expires = route.expires.max(now + life);
        new
    }

    /// A route that was just taken lives at least until `time`.
    pub(super) fn give_life(&mut self, dst: NodeId, time: Time) {
        self.changes.add(dst);
        if let Some(route) = self.routes.get_mut(&dst) {
            route.expires = route.expires.max(time);
        }
    }

    /// A route that was just taken lives until `time`.
    pub(super) fn set_life(&mut self, dst: NodeId, time: Time) {
        self.changes.add(dst);
        if let Some(route) = self.routes.get_mut(&dst) {
            route.expires = time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const D: NodeId = NodeId(9);

    fn table() -> Table {
        Table::new(Span::from_millis(15_000), true)
    }

    fn offer(seqno: u32, hops: u8, next_hop: u32) -> Offer {
        Offer { dst: D, seqno, hops, next_hop: NodeId(next_hop) }
    }

    /// Offers a route and lets it live for 3 s.
    fn take(table: &mut Table, now: Time, offered: Offer) -> bool {
        let taken = table.offer(now, offered);
        if taken {
            table.set_life(D, now + Span::from_millis(3000));
        }
        taken
    }

    #[test]
    fn a_route_is_taken_if_newer_or_as_new_and_shorter() {
        // RFC 3561 §6.2.
        let mut table = table();
        let now = Time::from_secs(1.0);
        assert!(take(&mut table, now, offer(7, 3, 1)));
        assert!(!take(&mut table, now, offer(6, 1, 2)), "an older number is stale, however short");
        assert!(!take(&mut table, now, offer(7, 3, 2)), "as new and as long");
        assert!(take(&mut table, now, offer(7, 2, 2)), "as new and shorter");
        assert!(take(&mut table, now, offer(8, 9, 3)), "newer, however long");
        assert_eq!(table.route(now, D).map(|route| route.next_hop), Some(NodeId(3)));
    }

    #[test]
    fn sequence_numbers_roll_over() {
        // RFC 3561 §6.1: signed 32-bit comparison.
        assert!(newer(0, u32::MAX));
        assert!(!newer(u32::MAX, 0));
        assert!(newer(0x8000_0000, 0x7fff_ffff));
        let mut table = table();
        assert!(take(&mut table, Time::ZERO, offer(u32::MAX, 2, 1)));
        assert!(take(&mut table, Time::ZERO, offer(0, 2, 2)));
    }

    #[test]
    fn an_expired_route_is_invalid_with_a_raised_number_and_remembers_its_length_for_delete_period() {
        // RFC 3561 §6.1, §6.4, §6.11.
        let mut table = table();
        take(&mut table, Time::ZERO, offer(7, 4, 1));
        assert!(table.valid(Time(2_999_999_999), D).is_some());
        let route = table.get(Time::from_secs(3.0), D).expect("the entry stays");
        assert_eq!((route.valid, route.seqno), (false, Some(8)));
        assert_eq!(route.last_hops(Time(17_999_999_999)), Some(4));
        assert_eq!(route.last_hops(Time::from_secs(18.0)), None);
        assert_eq!(table.get(Time::from_secs(1000.0), D).and_then(|route| route.seqno), Some(8));
    }

    #[test]
    fn a_neighbour_that_is_heard_keeps_its_known_number() {
        let mut table = table();
        take(&mut table, Time::ZERO, offer(7, 4, 1));
        assert!(table.hear(Time::ZERO, D, Span::from_millis(3000)));
        let route = table.get(Time::ZERO, D).expect("the route");
        assert_eq!((route.seqno, route.hops, route.next_hop), (Some(7), 1, D));
        assert!(!table.hear(Time::ZERO, D, Span::from_millis(3000)), "it is no news again");
    }

    proptest! {
        #[test]
        fn a_known_sequence_number_never_goes_back(
            steps in prop::collection::vec((0u64..4, 0u32..20, 1u8..10, 0u32..4), 1..200),
        ) {
            let mut table = table();
            let (mut now, mut last) = (Time::ZERO, None);
            for (kind, seqno, hops, next_hop) in steps {
                now += Span::from_millis(700 * u64::from(hops));
                match kind {
                    0 => { table.hear(now, D, Span::from_millis(3000)); }
                    1 => if let Some(route) = table.valid(now, D) { route.invalidate(now); },
                    _ => { take(&mut table, now, offer(seqno, hops, next_hop)); }
                }
                let known = table.get(now, D).and_then(|route| route.seqno);
                prop_assert!(known >= last, "{known:?} after {last:?}");
                last = known;
            }
        }
    }
}
