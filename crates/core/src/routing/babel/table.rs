//! Sources, routes and the choice among them (RFC 8966 §3.5 to §3.7).
//!
//! Every node announces itself alone, so that a source is a destination, and both tables are one.

use super::params::BabelParams;
use crate::kernel::{Span, Stream, Time};
use crate::routing::by_node::ByNode;
use crate::wire::NodeId;
use crate::wire::babel::INFINITY;

/// Where smoothed metrics of new routes begin at least, so that a route must prove itself (babeld 1.14).
const UNPROVEN: f64 = 32_767.0;
/// A smoothed metric that is nearer to the metric is equal to it (babeld 1.14).
const NEAR: f64 = 4.0;

/// Is `a` the newer of two numbers that go around (RFC 8966 §3.2.1)?
pub(super) fn is_newer(a: u16, b: u16) -> bool {
    a != b && a.wrapping_sub(b) < 0x8000
}

/// A feasibility distance: the best that this node has told of a destination (RFC 8966 §3.5.1).
#[derive(Clone, Copy, Debug)]
struct Source {
    seqno: u16,
    metric: u16,
    until: Time,
}

/// A route that a neighbour has told.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) seqno: u16,
    /// As the neighbour has told it, and from here.
    pub(super) advertised: u16,
    pub(super) metric: u16,
    smoothed: f64,
    smoothed_at: Time,
    until: Time,
}

impl Route {
    pub(super) fn new(now: Time, seqno: u16, advertised: u16, cost: u16, until: Time) -> Route {
        let metric = advertised.saturating_add(cost);
        let smoothed = f64::from(metric).max(UNPROVEN);
        Route { seqno, advertised, metric, smoothed, smoothed_at: now, until }
    }

    /// The neighbour has told it anew; until when is known for what can be reached.
    pub(super) fn adopt(&mut self, seqno: u16, advertised: u16, cost: u16, until: Time) {
        (self.seqno, self.advertised) = (seqno, advertised);
        self.set_cost(cost);
        if advertised < INFINITY {
            self.until = until;
        }
    }

    /// The link to the neighbour has this cost now.
    pub(super) fn set_cost(&mut self, cost: u16) {
        self.metric = self.advertised.saturating_add(cost);
    }

    /// Lets the smoothed metric follow the metric, at a pace that is random so that nodes do not change in
    /// step (RFC 8966 A.3; babeld 1.14). To be called before the metric changes as well: until then it
    /// followed the old one.
    pub(super) fn smooth(&mut self, now: Time, half_life_s: f64, stream: &mut Stream) {
        let metric = f64::from(self.metric);
        let passed_s = now.since(self.smoothed_at).as_secs();
        if half_life_s <= 0.0 || self.metric == INFINITY {
            self.smoothed = metric;
        } else if passed_s > 0.0 {
            let half_lives = passed_s / half_life_s * stream.uniform(0.75, 1.25);
            let above = self.smoothed - metric;
            if above != 0.0 {
                self.smoothed = metric + above * libm::exp2(-half_lives);
            }
        }
        if (self.smoothed - metric).abs() < NEAR {
            self.smoothed = metric;
        }
        self.smoothed_at = now;
    }

    fn is_usable(&self, now: Time) -> bool {
        self.metric < INFINITY && self.until > now
    }
}

/// Routes by the neighbours that have told them, in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Routes(Vec<(NodeId, Route)>);

impl Routes {
    fn place(&self, neighbour: NodeId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&neighbour, |(node, _)| *node)
    }

    pub(super) fn get(&self, neighbour: NodeId) -> Option<&Route> {
        self.place(neighbour).ok().map(|place| &self.0[place].1)
    }

    pub(super) fn get_mut(&mut self, neighbour: NodeId) -> Option<&mut Route> {
        self.place(neighbour).ok().map(|place| &mut self.0[place].1)
    }

    pub(super) fn insert(&mut self, neighbour: NodeId, route: Route) {
        match self.place(neighbour) {
            Ok(place) => self.0[place].1 = route,
            Err(place) => self.0.insert(place, (neighbour, route)),
        }
    }

    fn remove(&mut self, neighbour: NodeId) {
        if let Ok(place) = self.place(neighbour) {
            self.0.remove(place);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a node knows of a destination.
#[derive(Debug, Default)]
pub(super) struct Destination {
    source: Option<Source>,
    routes: Routes,
    selected: Option<NodeId>,
    /// The route, and its metric, when one was selected last.
    used: Option<(NodeId, u16)>,
    /// The metric that this node told last.
    pub(super) told: Option<u16>,
}

impl Destination {
    fn source(&self, now: Time) -> Option<Source> {
        self.source.filter(|source| source.until > now)
    }

    /// RFC 8966 §3.5.1.
    pub(super) fn is_feasible(&self, now: Time, seqno: u16, advertised: u16) -> bool {
        advertised == INFINITY
            || self.source(now).is_none_or(|source| {
                is_newer(seqno, source.seqno) || (seqno == source.seqno && advertised < source.metric)
            })
    }

    /// The feasibility distance, before an update is sent (RFC 8966 §3.7.3).
    pub(super) fn tell(&mut self, now: Time, hold: Span, seqno: u16, metric: u16) {
        let is_better = self.is_feasible(now, seqno, metric);
        let until = now + hold;
        match &mut self.source {
            Some(source) if !is_better => source.until = until,
            source => *source = Some(Source { seqno, metric, until }),
        }
    }

    /// The number of the feasibility distance.
    pub(super) fn seqno(&self, now: Time) -> Option<u16> {
        self.source(now).map(|source| source.seqno)
    }

    pub(super) fn routes(&mut self) -> &mut Routes {
        &mut self.routes
    }

    pub(super) fn selected(&self) -> Option<(NodeId, &Route)> {
        let neighbour = self.selected?;
        Some((neighbour, self.routes.get(neighbour)?))
    }

    /// The route, and its metric, when one was selected last.
    pub(super) fn used(&self) -> Option<(NodeId, u16)> {
        self.used
    }

    /// The best route that may not be used, or that is not: whom to ask for a better one. `but` is left out.
    pub(super) fn next_best(&self, now: Time, but: Option<NodeId>) -> Option<NodeId> {
        let others = self.routes.0.iter().filter(|(node, route)| Some(*node) != but && route.is_usable(now));
        others.min_by_key(|(node, route)| (route.metric, *node)).map(|(node, _)| *node)
    }

    /// RFC 8966 §3.6 and A.3: the route with the lowest smoothed metric that is feasible, if it is also no
    /// worse now than the one that is used. One that is used stays while it leads anywhere.
    pub(super) fn select(&mut self, now: Time, params: &BabelParams, stream: &mut Stream) {
        self.routes.0.iter_mut().for_each(|(_, route)| route.smooth(now, params.smoothing_s, stream));
        let current = self.selected().filter(|(_, route)| route.is_usable(now));
        let usable = |(_, route): &&(NodeId, Route)| {
            route.is_usable(now) && self.is_feasible(now, route.seqno, route.advertised)
        };
        // The first of equals: that of the lowest number.
        let order = |(_, one): &&(NodeId, Route), (_, other): &&(NodeId, Route)| {
            one.smoothed.total_cmp(&other.smoothed).then(one.metric.cmp(&other.metric))
        };
        let best = self.routes.0.iter().filter(usable).min_by(order);
        self.selected = match (current, best) {
            (Some((current, old)), Some((node, route))) => {
                let is_as_good =
                    route.metric < old.metric || (params.switches_to_equal && route.metric == old.metric);
                Some(if is_as_good && route.smoothed < old.smoothed { *node } else { current })
            }
            (current, best) => current.map(|(node, _)| node).or(best.map(|(node, _)| *node)),
        };
        self.used = self.selected().map(|(node, route)| (node, route.metric));
    }

    /// Forgets routes that have ended. Were there any?
    fn expire(&mut self, now: Time) -> bool {
        let before = self.routes.0.len();
        self.routes.0.retain(|(_, route)| route.until > now);
        if self.selected.is_some_and(|node| self.routes.get(node).is_none()) {
            self.selected = None;
        }
        self.routes.0.len() != before
    }
}

/// All destinations.
#[derive(Default)]
pub(super) struct Table {
    all: ByNode<Destination>,
    /// No route ends before; none if there is no route.
    look_at: Option<Time>,
}

impl Table {
    pub(super) fn get(&self, prefix: NodeId) -> Option<&Destination> {
        self.all.get(prefix)
    }

    pub(super) fn get_mut(&mut self, prefix: NodeId) -> &mut Destination {
        self.all.place(prefix).get_or_insert_default()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Destination)> {
        self.all.iter()
    }

    /// Destinations with routes, or with a feasibility distance.
    pub(super) fn len(&self, now: Time) -> usize {
        let is_known = |each: &Destination| !each.routes.is_empty() || each.source(now).is_some();
        self.all.iter().filter(|(_, each)| is_known(each)).count()
    }

    /// A route ends then.
    pub(super) fn ends(&mut self, until: Time) {
        self.look_at = Some(self.look_at.unwrap_or(Time::NEVER).min(until));
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.look_at.unwrap_or(Time::NEVER)
    }

    /// The destinations of which routes have ended by now.
    pub(super) fn expire(&mut self, now: Time) -> Vec<NodeId> {
        if self.next_timeout() > now {
            return Vec::new();
        }
        let ended = self.all.iter_mut().filter_map(|(prefix, each)| each.expire(now).then_some(prefix));
        let ended = ended.collect();
        let routes = self.all.iter().flat_map(|(_, each)| &each.routes.0);
        self.look_at = routes.map(|(_, route)| route.until).min();
        ended
    }

    /// Lets the smoothed metrics of all routes over the neighbour follow their metrics up to now.
    pub(super) fn smooth(&mut self, now: Time, neighbour: NodeId, half_life_s: f64, stream: &mut Stream) {
        for (_, destination) in self.all.iter_mut() {
            if let Some(route) = destination.routes.get_mut(neighbour) {
                route.smooth(now, half_life_s, stream);
            }
        }
    }

    /// The destinations with a route over the neighbour, whose link has this cost now; without a cost the
    /// neighbour is gone.
    pub(super) fn set_cost(&mut self, neighbour: NodeId, cost: Option<u16>) -> Vec<NodeId> {
        let mut changed = Vec::new();
        for (prefix, destination) in self.all.iter_mut() {
            let Some(route) = destination.routes.get_mut(neighbour) else { continue };
            changed.push(prefix);
            if let Some(cost) = cost {
                route.set_cost(cost);
                continue;
            }
            destination.routes.remove(neighbour);
            if destination.selected == Some(neighbour) {
                destination.selected = None;
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};
    use crate::routing::testbench::at;

    fn stream() -> Stream {
        Streams::new(1, 0).stream(0, Purpose::Routing)
    }

    /// A destination with routes over these neighbours: number and metric as told.
    fn destination(routes: &[(u32, u16, u16)]) -> Destination {
        let route = |&(node, seqno, metric): &(u32, u16, u16)| {
            (NodeId(node), Route::new(at(0.0), seqno, metric, 256, at(1000.0)))
        };
        let mut all = Routes::default();
        routes.iter().map(route).for_each(|(node, route)| all.insert(node, route));
        Destination { routes: all, ..Destination::default() }
    }

    #[test]
    fn what_is_newer_or_nearer_than_all_that_was_told_is_feasible() {
        let mut node = Destination::default();
        assert!(node.is_feasible(at(0.0), 7, 9000));
        node.tell(at(0.0), Span::from_secs(180.0), 7, 512);
        let feasible = |node: &Destination, seqno, metric| node.is_feasible(at(1.0), seqno, metric);
        assert!(feasible(&node, 7, 511) && !feasible(&node, 7, 512) && !feasible(&node, 6, 0));
        assert!(feasible(&node, 8, 9000) && feasible(&node, 6, INFINITY));
        node.tell(at(1.0), Span::from_secs(180.0), 7, 768);
        assert!(!feasible(&node, 7, 512), "the distance never grows");
        node.tell(at(1.0), Span::from_secs(180.0), 8, 768);
        assert!(feasible(&node, 8, 767) && !feasible(&node, 7, 0));
        assert!(node.is_feasible(at(181.0), 7, 9000), "it is forgotten in the end");
    }

    #[test]
    fn a_better_route_is_taken_when_it_has_been_better_for_a_while() {
        let (params, mut stream) = (BabelParams::default(), stream());
        let mut node = destination(&[(1, 7, 512)]);
        let mut taken_s = None;
        for second in 0..60 {
            if second == 30 {
                node.routes.insert(NodeId(2), Route::new(at(30.0), 7, 256, 256, at(1000.0)));
            }
            node.select(at(f64::from(second)), &params, &mut stream);
            if node.selected == Some(NodeId(2)) {
                taken_s = taken_s.or(Some(second - 30));
            }
        }
        // 32767 − 512 halves to less than 256 in seven half-lives.
        assert!(taken_s.is_some_and(|seconds| (24..=33).contains(&seconds)), "after {taken_s:?} s");
    }

    /// The smoothed metric begins to rise when the metric does, however long nobody looked before.
    #[test]
    fn a_route_that_becomes_worse_is_left_after_a_while() {
        let (params, mut stream) = (BabelParams::default(), stream());
        let mut table = Table::default();
        *table.get_mut(NodeId(4)) = destination(&[(1, 7, 256), (2, 7, 512)]);
        for quiet_s in [100.0, 110.0] {
            table.get_mut(NodeId(4)).select(at(quiet_s), &params, &mut stream);
        }
        let mut cost = |table: &mut Table, seconds, cost| {
            table.smooth(at(seconds), NodeId(1), params.smoothing_s, &mut stream);
            table.set_cost(NodeId(1), Some(cost));
            table.get_mut(NodeId(4)).select(at(seconds), &params, &mut stream);
            table.get_mut(NodeId(4)).selected
        };
        // 1280 instead of 512, beside 768: the smoothed metric is above that after half a half-life.
        assert_eq!(cost(&mut table, 130.0, 1024), Some(NodeId(1)), "not at once");
        assert_eq!(cost(&mut table, 131.0, 1024), Some(NodeId(1)));
        assert_eq!(cost(&mut table, 134.0, 1024), Some(NodeId(2)));
    }

    #[test]
    fn a_route_that_ends_is_replaced_at_once_by_one_that_is_feasible() {
        let (params, mut stream) = (BabelParams::default(), stream());
        let mut node = destination(&[(1, 7, 256), (2, 7, 512), (3, 7, 600)]);
        node.select(at(50.0), &params, &mut stream);
        assert_eq!(node.used(), Some((NodeId(1), 512)));
        node.tell(at(50.0), Span::from_secs(180.0), 7, 512);
        node.routes.get_mut(NodeId(1)).expect("there").set_cost(INFINITY);
        node.select(at(50.0), &params, &mut stream);
        assert_eq!(node.selected, None, "512 and 600 are not below 512");
        assert_eq!(node.next_best(at(50.0), None), Some(NodeId(2)));
        node.routes.get_mut(NodeId(3)).expect("there").adopt(8, 600, 256, at(1000.0));
        node.select(at(50.0), &params, &mut stream);
        assert_eq!(node.selected, Some(NodeId(3)), "a new number");
    }

    #[test]
    fn routes_end_with_their_neighbour_and_with_their_time() {
        let mut table = Table::default();
        for prefix in [4, 5] {
            let node = table.get_mut(NodeId(prefix));
            node.routes.insert(NodeId(1), Route::new(at(0.0), 1, 256, 256, at(56.0)));
            node.routes.insert(NodeId(2), Route::new(at(0.0), 1, 256, 256, at(60.0)));
        }
        table.ends(at(56.0));
        assert_eq!(table.set_cost(NodeId(2), None), [NodeId(4), NodeId(5)]);
        assert!(table.expire(at(55.0)).is_empty());
        assert_eq!(table.expire(at(56.0)), [NodeId(4), NodeId(5)]);
        assert_eq!(table.next_timeout(), Time::NEVER);
    }
}
