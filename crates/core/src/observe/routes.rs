//! The routes that the sources of flows hold over time: over how many links, and for how long. Definitions
//! stand in docs/metrics.md.
//!
//! A route's length is weighted by its lifetime, after Bansal and Barua, "Performance Analysis of TCP over
//! IEEE 802.11 Based Ad Hoc Networks" (2003): "the average weighted length of paths from the source[s] to
//! the destination[s] where weights were the lifetime of a path with a particular hop-count". A mean over
//! packets that arrive says something else: short routes, which carry more, weigh more in it.

use serde::Serialize;

use super::statistics::ratio;
use crate::kernel::{Span, Time};
use crate::scenario::Scenario;
use crate::wire::{FlowId, NodeId};

/// The route that the source of a flow holds.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RouteMeasures {
    /// Mean number of links of the route, weighted by the time that the source held it; none if it never
    /// held one.
    pub route_hops_mean: Option<f64>,
    /// Share of the time that the flow was open in which its source held no route; none if it never was.
    pub route_missing_share: Option<f64>,
}

/// The routes of all flows, if they are wanted.
#[derive(Default)]
pub struct Routes {
    /// The flows that begin at each node; empty if routes are not wanted.
    from_node: Vec<Vec<FlowId>>,
    logs: Vec<RouteLog>,
}

impl Routes {
    /// Those of a scenario's flows.
    pub fn of_scenario(scenario: &Scenario) -> Routes {
        let ends = scenario.flows.iter().map(|flow| (NodeId(flow.src), NodeId(flow.dst)));
        Routes::new(scenario.movement.len(), ends, Time::from_secs(scenario.warmup_s))
    }

    /// Those of flows with these sources and destinations among so many nodes, from `start` on.
    pub fn new(nodes: usize, ends: impl Iterator<Item = (NodeId, NodeId)>, start: Time) -> Routes {
        let mut routes = Routes { from_node: vec![Vec::new(); nodes], logs: Vec::new() };
        for ((src, dst), number) in ends.zip(0..) {
            routes.from_node[src.index()].push(FlowId(number));
            routes.logs.push(RouteLog::new(dst, start));
        }
        routes
    }

    /// Does a flow begin at this node whose route is wanted?
    pub fn concern(&self, node: u32) -> bool {
        self.from_node.get(node as usize).is_some_and(|flows| !flows.is_empty())
    }

    /// The flow is open or is over: time in which nothing is to be sent counts for nothing.
    pub fn set_open(&mut self, now: Time, flow: FlowId, is_open: bool) {
        if let Some(log) = self.logs.get_mut(flow.index()) {
            log.count(now);
            log.is_open = is_open;
        }
    }

    /// Routing at `node` may have changed: `hops` says over how many links its route to a node goes now.
    pub fn look(&mut self, now: Time, node: u32, hops: impl Fn(NodeId) -> Option<u32>) {
        for flow in &self.from_node[node as usize] {
            let log = &mut self.logs[flow.index()];
            let found = hops(log.dst);
            if found != log.hops {
                log.count(now);
                log.hops = found;
            }
        }
    }

    /// The measures of a flow at the end of the run; none if they are not wanted.
    pub fn measures(&self, end: Time, flow: FlowId) -> Option<RouteMeasures> {
        self.logs.get(flow.index()).map(|log| log.measures(end))
    }
}

/// The route of one flow.
#[derive(Clone)]
struct RouteLog {
    dst: NodeId,
    is_open: bool,
    hops: Option<u32>,
    /// Up to when time has been counted.
    counted: Time,
    with_route: Span,
    without_route: Span,
    /// Links times nanoseconds.
    hop_time: u128,
}

impl RouteLog {
    fn new(dst: NodeId, start: Time) -> RouteLog {
        let (with_route, without_route) = (Span::ZERO, Span::ZERO);
        RouteLog { dst, is_open: false, hops: None, counted: start, with_route, without_route, hop_time: 0 }
    }

    /// Counts the time up to now. What was before the window does not count.
    fn count(&mut self, now: Time) {
        if now <= self.counted {
            return;
        }
        let lasted = now.since(self.counted);
        self.counted = now;
        match self.hops {
            _ if !self.is_open => {}
            Some(hops) => {
                self.with_route = self.with_route + lasted;
                self.hop_time += u128::from(hops) * u128::from(lasted.0);
            }
            None => self.without_route = self.without_route + lasted,
        }
    }

    fn measures(&self, end: Time) -> RouteMeasures {
        let mut whole = self.clone();
        whole.count(end);
        let (with, without) = (whole.with_route.0, whole.without_route.0);
        RouteMeasures {
            route_hops_mean: (with > 0).then(|| whole.hop_time as f64 / with as f64),
            route_missing_share: ratio(without, with + without),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowId = FlowId(0);

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// What a source holds from each of these times on: a route over so many links, or none. The flow is open
    /// from 2 s to 18 s, the window from 4 s to 20 s.
    fn measured(steps: &[(f64, Option<u32>)]) -> RouteMeasures {
        let mut routes = Routes::new(3, [(NodeId(1), NodeId(2))].into_iter(), secs(4.0));
        routes.set_open(secs(2.0), FLOW, true);
        for &(at_s, hops) in steps {
            routes.look(secs(at_s), 1, |dst| hops.filter(|_| dst == NodeId(2)));
        }
        routes.set_open(secs(18.0), FLOW, false);
        routes.measures(secs(20.0), FLOW).expect("wanted")
    }

    #[test]
    fn a_route_is_weighted_by_how_long_the_source_holds_it() {
        // Within window and flow: 3 links from 4 s to 6 s, none to 7 s, 5 links to 15 s, 2 links to 18 s.
        let found = measured(&[(3.0, Some(3)), (6.0, None), (7.0, Some(5)), (9.0, Some(5)), (15.0, Some(2))]);
        assert_eq!(found.route_hops_mean, Some((2.0 * 3.0 + 8.0 * 5.0 + 3.0 * 2.0) / 13.0));
        assert_eq!(found.route_missing_share, Some(1.0 / 14.0));
    }

    #[test]
    fn a_route_that_never_was_has_no_length() {
        let found = measured(&[(3.0, Some(4)), (3.5, None)]);
        assert_eq!(found, RouteMeasures { route_hops_mean: None, route_missing_share: Some(1.0) });
    }

    #[test]
    fn a_flow_that_never_opens_has_no_time() {
        let routes = Routes::new(3, [(NodeId(1), NodeId(2))].into_iter(), Time::ZERO);
        assert_eq!(routes.measures(secs(9.0), FLOW), Some(RouteMeasures::default()));
        assert!(routes.concern(1) && !routes.concern(2));
        let unwanted = Routes::default();
        assert!(!unwanted.concern(1));
        assert_eq!(unwanted.measures(secs(9.0), FLOW), None);
    }
}
