//! Fixed routes of fewest hops, computed once from positions that do not change.
//!
//! **Implemented.** Next hops by breadth-first search from each destination over the graph whose edges join
//! nodes within range, or the ends of a wired link; of several neighbours that are equally near to the
//! destination the one with the smallest number is the next hop. There are no control messages.
//!
//! **Not implemented.** Any reaction to a failed link: the packet is dropped, the route stays. That is what
//! static routes are for: everything that happens is the doing of the layers below.
//!
//! **Deviations**: none, as docs/models/static-routes.md says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::mobility::Point;
use crate::routing::{Action, Changes, Routing, relay};
use crate::topology::Graph;
use crate::wire::{NodeId, Packet};

/// Next hops to some destinations, shared by all nodes of a run. Its size is nodes times destinations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RouteTable {
    /// For each destination the next hop of every node; [`NodeId::BROADCAST`] where there is no route.
    trees: BTreeMap<NodeId, Box<[NodeId]>>,
}

impl RouteTable {
    /// The next hop from `node` to `dst`; `None` if there is no path, or if `dst` is not among the
    /// destinations.
    pub fn next_hop(&self, node: NodeId, dst: NodeId) -> Option<NodeId> {
        let next_hop = *self.trees.get(&dst)?.get(node.index())?;
        (!next_hop.is_broadcast()).then_some(next_hop)
    }
}

/// Routes of fewest hops to each of `destinations`, between nodes at `positions` (in order of their numbers)
/// that hear each other at distances up to `range_m` metres.
pub fn shortest_hops(positions: &[Point], range_m: f64, destinations: &[NodeId]) -> RouteTable {
    shortest_hops_over(positions, range_m, &[], destinations, |_, _| true)
}

/// The same over `wires`, by their ends, and those other links only that `carry` data from the first node to
/// the second.
pub fn shortest_hops_over(
    positions: &[Point],
    range_m: f64,
    wires: &[[u32; 2]],
    destinations: &[NodeId],
    carry: impl Fn(u32, u32) -> bool,
) -> RouteTable {
    let graph = Graph::with_wires(positions, range_m, wires);
    let carry =
        |from, to| wires.iter().any(|&ends| ends == [from, to] || ends == [to, from]) || carry(from, to);
    let known = destinations.iter().filter(|dst| dst.index() < positions.len());
    RouteTable { trees: known.map(|&dst| (dst, tree(&graph, dst, &carry))).collect() }
}

/// Every node's next hop to `dst`.
fn tree(graph: &Graph, dst: NodeId, carry: &impl Fn(u32, u32) -> bool) -> Box<[NodeId]> {
    let mut hops = vec![u32::MAX; graph.nodes()];
    let mut queue = VecDeque::from([dst.0]);
    hops[dst.index()] = 0;
    while let Some(node) = queue.pop_front() {
        for &next in graph.neighbours(node) {
            if hops[next as usize] == u32::MAX && carry(next, node) {
                hops[next as usize] = hops[node as usize] + 1;
                queue.push_back(next);
            }
        }
    }
    let next_hop = |node: u32| match hops[node as usize] {
        0 | u32::MAX => NodeId::BROADCAST,
        own => {
            let mut neighbours = graph.neighbours(node).iter();
            let nearer = neighbours.find(|next| hops[**next as usize] == own - 1 && carry(node, **next));
            nearer.map_or(NodeId::BROADCAST, |&next| NodeId(next))
        }
    };
    (0..graph.nodes() as u32).map(next_hop).collect()
}

/// One node's view of a [`RouteTable`].
#[derive(Clone, Debug)]
pub struct StaticRoutes {
    node: NodeId,
    routes: Arc<RouteTable>,
}

impl StaticRoutes {
    /// The routing of `node`.
    pub fn new(node: NodeId, routes: Arc<RouteTable>) -> StaticRoutes {
        StaticRoutes { node, routes }
    }

    fn send(&self, packet: Packet, actions: &mut Vec<Action>) {
        match self.routes.next_hop(self.node, packet.dst) {
            Some(next_hop) => actions.push(Action::Send { packet, next_hop, delay: Span::ZERO }),
            None => actions.push(Action::Drop(packet, DropReason::NoRoute)),
        }
    }
}

impl Routing for StaticRoutes {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, _now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            self.send(packet, actions);
        }
    }

    fn handle_incoming(&mut self, _now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        if !packet.is_data() {
            actions.push(Action::Consume(packet));
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.send(packet, actions);
        }
    }

    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Packet,
        _next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    fn handle_timeout(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.routes.next_hop(self.node, dst)
    }

    fn route_hops(&self, _now: Time, dst: NodeId) -> Option<u32> {
        let mut at = self.node;
        // A route of fewest hops visits no node twice.
        let mut hops = 0;
        while at != dst {
            at = self.routes.next_hop(at, dst)?;
            hops += 1;
        }
        Some(hops)
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn take_route_changes(&mut self) -> Changes {
        Changes::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::{Bench, at};
    use proptest::prelude::*;

    fn points(coordinates: &[(f64, f64)]) -> Vec<Point> {
        coordinates.iter().map(|&(x, y)| Point { x, y }).collect()
    }

    #[test]
    fn of_equally_short_ways_the_smallest_next_hop_is_taken() {
        // 0 reaches 3 over 1 or over 2.
        let square = points(&[(0.0, 0.0), (200.0, 0.0), (0.0, 200.0), (200.0, 200.0)]);
        let routes = shortest_hops(&square, 250.0, &[NodeId(3)]);
        assert_eq!(routes.next_hop(NodeId(0), NodeId(3)), Some(NodeId(1)));
        assert_eq!(routes.next_hop(NodeId(2), NodeId(3)), Some(NodeId(3)));
        assert_eq!(routes.next_hop(NodeId(3), NodeId(3)), None, "nobody sends to itself");
        assert_eq!(routes.next_hop(NodeId(3), NodeId(0)), None, "0 is not among the destinations");
    }

    #[test]
    fn to_a_node_that_is_not_there_no_route_leads() {
        let pair = points(&[(0.0, 0.0), (200.0, 0.0)]);
        assert_eq!(shortest_hops(&pair, 250.0, &[NodeId(2)]).next_hop(NodeId(0), NodeId(2)), None);
    }

    #[test]
    fn range_is_inclusive() {
        let pair = points(&[(0.0, 0.0), (250.0, 0.0)]);
        assert!(shortest_hops(&pair, 250.0, &[NodeId(1)]).next_hop(NodeId(0), NodeId(1)).is_some());
        assert!(shortest_hops(&pair, 249.9, &[NodeId(1)]).next_hop(NodeId(0), NodeId(1)).is_none());
    }

    fn maker(routes: Arc<RouteTable>) -> impl Fn(NodeId) -> Box<dyn Routing> {
        move |node| Box::new(StaticRoutes::new(node, Arc::clone(&routes)))
    }

    /// A chain of `n` nodes, 200 m apart, under static routes for a range of 250 m.
    fn chain(n: u32) -> Bench {
        let positions: Vec<Point> = (0..n).map(|i| Point { x: 200.0 * f64::from(i), y: 0.0 }).collect();
        let all: Vec<NodeId> = (0..n).map(NodeId).collect();
        let routes = Arc::new(shortest_hops(&positions, 250.0, &all));
        let mut bench = Bench::new(n, maker(routes));
        bench.chain(n);
        bench
    }

    #[test]
    fn a_failed_link_drops_the_packet_and_changes_no_route() {
        let mut bench = chain(4);
        bench.unlink_at(at(1.0), 1, 2);
        bench.link_at(at(2.0), 1, 2);
        for second in [0.5, 1.5, 2.5] {
            bench.send_at(at(second), 0, 3);
        }
        bench.run_until(at(5.0));
        assert_eq!(bench.delivered(0, 3), 2);
        assert_eq!(bench.drops(DropReason::LinkFailure), 1);
        assert_eq!(bench.control_sent(), 0);
        bench.assert_balanced();
    }

    #[test]
    fn a_packet_ends_when_its_time_to_live_does() {
        let mut bench = chain(4);
        bench.ttl = 2;
        bench.send_at(at(0.5), 0, 2);
        bench.send_at(at(0.5), 0, 3);
        bench.run_until(at(1.0));
        assert_eq!((bench.delivered(0, 2), bench.delivered(0, 3)), (1, 0));
        assert_eq!(bench.drops(DropReason::TtlExpired), 1);
    }

    #[test]
    fn a_destination_without_a_path_is_no_route() {
        let positions = points(&[(0.0, 0.0), (1000.0, 0.0)]);
        let routes = Arc::new(shortest_hops(&positions, 250.0, &[NodeId(1)]));
        let mut bench = Bench::new(2, maker(routes));
        bench.send_at(at(0.5), 0, 1);
        bench.run_until(at(1.0));
        assert_eq!(bench.drops(DropReason::NoRoute), 1);
    }

    proptest! {
        /// Against all-pairs distances by Floyd and Warshall.
        #[test]
        fn each_next_hop_is_one_nearer(
            coordinates in prop::collection::vec((0.0f64..1000.0, 0.0f64..1000.0), 2..25),
        ) {
            let positions = points(&coordinates);
            let n = positions.len();
            let all: Vec<NodeId> = (0..n as u32).map(NodeId).collect();
            let routes = shortest_hops(&positions, 250.0, &all);
            let mut hops = vec![vec![1000u32; n]; n];
            for i in 0..n {
                for j in 0..n {
                    if i == j {
                        hops[i][j] = 0;
                    } else if positions[i].distance(positions[j]) <= 250.0 {
                        hops[i][j] = 1;
                    }
                }
            }
            for k in 0..n {
                for i in 0..n {
                    for j in 0..n {
                        hops[i][j] = hops[i][j].min(hops[i][k] + hops[k][j]);
                    }
                }
            }
            for i in 0..n {
                for j in (0..n).filter(|&j| j != i) {
                    let wanted = (0..n).find(|&k| hops[i][k] == 1 && hops[k][j] + 1 == hops[i][j]);
                    let wanted = wanted.filter(|_| hops[i][j] < 1000).map(|k| NodeId(k as u32));
                    prop_assert_eq!(routes.next_hop(NodeId(i as u32), NodeId(j as u32)), wanted);
                }
            }
        }
    }
}
