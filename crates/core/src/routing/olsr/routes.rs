//! The routing table: from what is near and from the topology set, by hops or by the qualities of links.

use std::collections::{BTreeMap, BTreeSet};

use super::mpr::WILL_NEVER;
use super::neighbours::Neighbours;
use super::quality::Cost;
use super::topology::Topology;
use crate::kernel::Time;
use crate::wire::NodeId;

/// A route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) next_hop: NodeId,
    pub(super) hops: u32,
}

/// By destination.
pub(super) type Routes = BTreeMap<NodeId, Route>;

/// RFC 3626 §10. Where it leaves the choice, the more willing neighbour, the one that has chosen this node as
/// relay and the one with the lowest address come first, and farther away the next hop with the lowest one.
pub(super) fn by_hops(now: Time, node: NodeId, near: &Neighbours, topology: &Topology) -> Routes {
    // Step 2: symmetric neighbours.
    let neighbours = near.symmetric().map(|(next_hop, _)| (next_hop, Route { next_hop, hops: 1 }));
    let mut routes: Routes = neighbours.collect();
    // Step 3.1: nodes of the two-hop neighbour set.
    let mut two_hop: BTreeMap<NodeId, _> = BTreeMap::new();
    for (over, dst, _) in near.two_hop() {
        let willingness = near.willingness(over);
        if dst == node || routes.contains_key(&dst) || willingness == WILL_NEVER {
            continue;
        }
        let rank = (willingness, near.selects(now, over), std::cmp::Reverse(over));
        let best = two_hop.entry(dst).or_insert(rank);
        *best = rank.max(*best);
    }
    let mut reached: Vec<NodeId> = two_hop.keys().copied().collect();
    for (dst, (.., std::cmp::Reverse(next_hop))) in two_hop {
        routes.insert(dst, Route { next_hop, hops: 2 });
    }
    // Step 3.2: links whose last hop has a route of one hop less.
    let mut hops = 2;
    while !reached.is_empty() {
        hops += 1;
        reached.sort_unstable_by_key(|last_hop| (routes[last_hop].next_hop, *last_hop));
        let mut farther = Vec::new();
        for last_hop in reached {
            let next_hop = routes[&last_hop].next_hop;
            for dst in topology.links_of(last_hop).filter(|dst| *dst != node) {
                routes.entry(dst).or_insert_with(|| {
                    farther.push(dst);
                    Route { next_hop, hops }
                });
            }
        }
        reached = farther;
    }
    routes
}

/// A search for the cheapest ways: the best that is known, and the nodes from which it may go on.
struct Search {
    node: NodeId,
    best: BTreeMap<NodeId, (Cost, Route)>,
    open: BTreeSet<(Cost, NodeId)>,
}

impl Search {
    /// Takes a way that is cheaper than the one known before.
    fn relax(&mut self, dst: NodeId, cost: Cost, route: Route) {
        let before = self.best.get(&dst).map(|(before, _)| *before);
        if dst == self.node || cost.is_broken() || before.is_some_and(|before| before <= cost) {
            return;
        }
        if let Some(before) = before {
            self.open.remove(&(before, dst));
        }
        self.open.insert((cost, dst));
        self.best.insert(dst, (cost, route));
    }
}

/// The cheapest ways (olsrd 0.9.8): of equal ones that which is found first, from the lowest address on.
pub(super) fn by_cost(node: NodeId, near: &Neighbours, topology: &Topology) -> Routes {
    let mut search = Search { node, best: BTreeMap::new(), open: BTreeSet::new() };
    for (next_hop, cost) in near.symmetric() {
        search.relax(next_hop, cost, Route { next_hop, hops: 1 });
    }
    while let Some((cost, last_hop)) = search.open.pop_first() {
        let (_, route) = search.best[&last_hop];
        for (dst, link) in topology.costs_of(last_hop) {
            search.relax(dst, cost.and(link), Route { hops: route.hops + 1, ..route });
        }
    }
    search.best.into_iter().map(|(dst, (_, route))| (dst, route)).collect()
}
