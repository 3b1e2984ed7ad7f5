//! The routing table: from what is near and from the topology set, by hops or by the qualities of links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::mpr::WILL_NEVER;
use super::neighbours::Neighbours;
use super::quality::Cost;
use super::topology::Topology;
use crate::kernel::Time;
use crate::routing::by_node::ByNode;
use crate::wire::NodeId;

/// A route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) next_hop: NodeId,
    pub(super) hops: u32,
}

/// By destination.
pub(super) type Routes = ByNode<Route>;

/// RFC 3626 §10. Where it leaves the choice, the more willing neighbour, the one that has chosen this node as
/// relay and the one with the lowest address come first, and farther away the next hop with the lowest one.
pub(super) fn by_hops(now: Time, node: NodeId, near: &Neighbours, topology: &Topology) -> Routes {
    // Step 2: symmetric neighbours.
    let mut routes = Routes::default();
    for (next_hop, _) in near.symmetric() {
        *routes.place(next_hop) = Some(Route { next_hop, hops: 1 });
    }
    // Step 3.1: nodes of the two-hop neighbour set.
    let mut best = ByNode::default();
    let mut two_hop = Vec::new();
    for relay in near.relays(now).filter(|relay| relay.willingness != WILL_NEVER) {
        let rank = (relay.willingness, relay.selects, Reverse(relay.node));
        for dst in relay.neighbours() {
            if dst == node || routes.get(dst).is_some() {
                continue;
            }
            let place = best.place(dst);
            if place.is_none() {
                two_hop.push(dst);
            }
            *place = (*place).max(Some(rank));
        }
    }
    let mut reached: Vec<(NodeId, NodeId)> = Vec::new();
    for dst in two_hop {
        let Some(&(.., Reverse(next_hop))) = best.get(dst) else { continue };
        *routes.place(dst) = Some(Route { next_hop, hops: 2 });
        reached.push((next_hop, dst));
    }
    // Step 3.2: links whose last hop has a route of one hop less.
    let mut hops = 2;
    while !reached.is_empty() {
        hops += 1;
        reached.sort_unstable();
        let mut farther = Vec::new();
        for (next_hop, last_hop) in reached {
            for dst in topology.links_of(last_hop).filter(|dst| *dst != node) {
                let place = routes.place(dst);
                if place.is_none() {
                    *place = Some(Route { next_hop, hops });
                    farther.push((next_hop, dst));
                }
            }
        }
        reached = farther;
    }
    routes
}

/// A search for the cheapest ways: the best that is known, and the nodes from which it may go on. Of a node
/// for which a cheaper way was found the older entry is still there, and means nothing.
struct Search {
    node: NodeId,
    best: ByNode<(Cost, Route)>,
    open: BinaryHeap<Reverse<(Cost, NodeId)>>,
}

impl Search {
    /// Takes a way that is cheaper than the one known before.
    fn relax(&mut self, dst: NodeId, cost: Cost, route: Route) {
        if dst == self.node || cost.is_broken() {
            return;
        }
        let best = self.best.place(dst);
        if best.is_none_or(|(before, _)| cost < before) {
            *best = Some((cost, route));
            self.open.push(Reverse((cost, dst)));
        }
    }

    /// The nearest node from which the search did not go on yet.
    fn next(&mut self) -> Option<(Cost, NodeId, Route)> {
        loop {
            let Reverse((cost, node)) = self.open.pop()?;
            match self.best.get(node) {
                Some((best, route)) if *best == cost => return Some((cost, node, *route)),
                _ => {}
            }
        }
    }
}

/// The cheapest ways (olsrd 0.9.8): of equal ones that which is found first, from the lowest address on.
pub(super) fn by_cost(node: NodeId, near: &Neighbours, topology: &Topology) -> Routes {
    let mut search = Search { node, best: ByNode::default(), open: BinaryHeap::new() };
    for (next_hop, cost) in near.symmetric() {
        search.relax(next_hop, cost, Route { next_hop, hops: 1 });
    }
    while let Some((cost, last_hop, route)) = search.next() {
        for (dst, link) in topology.costs_of(last_hop) {
            search.relax(dst, cost.and(link), Route { hops: route.hops + 1, ..route });
        }
    }
    let mut routes = Routes::default();
    for (dst, (_, route)) in search.best.iter() {
        *routes.place(dst) = Some(*route);
    }
    routes
}
