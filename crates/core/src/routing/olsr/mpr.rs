//! The choice of multipoint relays (MPRs): neighbours over which a node reaches all nodes two hops away.

use std::collections::{BTreeMap, BTreeSet};

use super::quality::Cost;
use crate::routing::by_node::ByNode;
use crate::wire::NodeId;

/// Willingness to relay: never, and always (RFC 3626 §18.8).
pub(super) const WILL_NEVER: u8 = 0;
pub(super) const WILL_ALWAYS: u8 = 7;

/// A symmetric neighbour, as far as the choice needs it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) node: NodeId,
    pub(super) willingness: u8,
    /// Of the link to it.
    pub(super) cost: Cost,
    /// Its symmetric neighbours, this node not among them, with the costs of its links to them.
    pub(super) neighbours: Vec<(NodeId, Cost)>,
}

/// A neighbour over which nodes of N2 can be reached, and which they are.
struct Reach {
    node: NodeId,
    willingness: u8,
    two_hop: Vec<NodeId>,
}

/// Of each node of N2, over how many relays it is to be reached yet.
#[derive(Default)]
struct Left {
    of: ByNode<u32>,
    /// How many nodes have some left.
    nodes: usize,
}

impl Left {
    /// Counts one relay more for each of these.
    fn cover(&mut self, reached: &[NodeId]) {
        for node in reached {
            if let Some(count) = self.of.get_mut(*node).filter(|count| **count > 0) {
                *count -= 1;
                self.nodes -= usize::from(*count == 0);
            }
        }
    }

    fn count(&self, reached: &[NodeId]) -> usize {
        reached.iter().filter(|node| self.of.get(**node).is_some_and(|count| *count > 0)).count()
    }
}

/// RFC 3626 §8.3.1 and, for a coverage above one, §16.2.
pub(super) fn by_hops(candidates: &[Candidate], coverage: u32) -> BTreeSet<NodeId> {
    let mut near = ByNode::default();
    candidates.iter().for_each(|each| *near.place(each.node) = Some(()));
    // N and, for each of it, what of N2 it reaches.
    let mut reached_by = ByNode::<u32>::default();
    let willing = candidates.iter().filter(|each| each.willingness != WILL_NEVER);
    let reach = willing.map(|each| {
        let nodes = each.neighbours.iter().map(|(node, _)| *node);
        let two_hop: Vec<NodeId> = nodes.filter(|node| near.get(*node).is_none()).collect();
        two_hop.iter().for_each(|node| *reached_by.place(*node).get_or_insert(0) += 1);
        Reach { node: each.node, willingness: each.willingness, two_hop }
    });
    let reach: Vec<Reach> = reach.collect();
    // Step 1, and step 3: of a node that is reached over no more than `coverage` all are needed.
    let is_scarce = |node: &NodeId| reached_by.get(*node).is_some_and(|count| *count <= coverage);
    let (needed, others): (Vec<Reach>, Vec<Reach>) = reach
        .into_iter()
        .partition(|each| each.willingness == WILL_ALWAYS || each.two_hop.iter().any(is_scarce));
    reached_by.iter_mut().for_each(|(_, count)| *count = (*count).min(coverage));
    let nodes = reached_by.iter().filter(|(_, count)| **count > 0).count();
    let mut left = Left { of: reached_by, nodes };
    needed.iter().for_each(|each| left.cover(&each.two_hop));
    let mut chosen: BTreeSet<NodeId> = needed.iter().map(|each| each.node).collect();
    // Step 4.
    while left.nodes > 0 {
        let rank = |each: &&Reach| {
            let uncovered = left.count(&each.two_hop);
            (each.willingness, uncovered, each.two_hop.len(), std::cmp::Reverse(each.node))
        };
        let useful =
            others.iter().filter(|each| !chosen.contains(&each.node) && left.count(&each.two_hop) > 0);
        let Some(best) = useful.max_by_key(rank) else { break };
        left.cover(&best.two_hop);
        chosen.insert(best.node);
    }
    chosen
}

/// olsrd 0.9.8: for each node within two hops the `coverage` cheapest ways over a neighbour, as long as they
/// are cheaper than the link to it, if there is one.
pub(super) fn by_cost(candidates: &[Candidate], coverage: u32) -> BTreeSet<NodeId> {
    let direct: BTreeMap<NodeId, Cost> = candidates.iter().map(|each| (each.node, each.cost)).collect();
    let always = candidates.iter().filter(|each| each.willingness == WILL_ALWAYS);
    let mut chosen: BTreeSet<NodeId> = always.map(|each| each.node).collect();
    let mut ways: BTreeMap<NodeId, Vec<(Cost, NodeId)>> = BTreeMap::new();
    for each in candidates.iter().filter(|each| each.willingness != WILL_NEVER) {
        for &(node, cost) in &each.neighbours {
            let way = each.cost.and(cost);
            if !way.is_broken() && direct.get(&node).is_none_or(|direct| way < *direct) {
                ways.entry(node).or_default().push((way, each.node));
            }
        }
    }
    for over in ways.values_mut() {
        over.sort_unstable();
        chosen.extend(over.iter().take(coverage as usize).map(|(_, relay)| *relay));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Stream, Streams};

    /// Node 0's neighbours in an undirected graph.
    fn around(links: &[(u32, u32)], willingness: impl Fn(u32) -> u8) -> Vec<Candidate> {
        let neighbours_of = |node: u32| {
            let other = move |&(a, b): &(u32, u32)| {
                if a == node {
                    Some(b)
                } else if b == node {
                    Some(a)
                } else {
                    None
                }
            };
            links.iter().filter_map(other).collect::<Vec<u32>>()
        };
        let candidate = |node: u32| Candidate {
            node: NodeId(node),
            willingness: willingness(node),
            cost: Cost::HOP,
            neighbours: neighbours_of(node)
                .into_iter()
                .filter(|each| *each != 0)
                .map(|each| (NodeId(each), Cost::HOP))
                .collect(),
        };
        neighbours_of(0).into_iter().map(candidate).collect()
    }

    fn chosen(links: &[(u32, u32)], willingness: impl Fn(u32) -> u8) -> Vec<u32> {
        by_hops(&around(links, willingness), 1).into_iter().map(|node| node.0).collect()
    }

    /// Cases of growing size: a square, and what is added to it.
    #[test]
    fn relays_of_small_networks_are_those_that_are_needed() {
        let mut links = vec![(0, 1), (0, 2), (1, 3), (2, 3)];
        assert_eq!(chosen(&links, |_| 3), [1], "either would do");
        links.push((1, 4));
        assert_eq!(chosen(&links, |_| 3), [1]);
        links.push((2, 5));
        assert_eq!(chosen(&links, |_| 3), [1, 2]);
        links.push((0, 6));
        let always = |node| if node == 6 { WILL_ALWAYS } else { 3 };
        assert_eq!(chosen(&links, always), [1, 2, 6]);
        links.extend([(0, 7), (7, 8)]);
        let unwilling = |node| if node == 7 { WILL_NEVER } else { always(node) };
        assert_eq!(chosen(&links, unwilling), [1, 2, 6], "8 cannot be reached");
    }

    /// RFC 3626 §8.3.1, step 4: willingness comes first, then reach, then degree.
    #[test]
    fn the_most_willing_relay_is_chosen_first() {
        let links = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (2, 5), (3, 4), (3, 5)];
        assert_eq!(chosen(&links, |_| 3), [2]);
        assert_eq!(chosen(&links, |node| if node == 3 { 4 } else { 3 }), [3]);
        assert_eq!(chosen(&links, |node| if node == 1 { 4 } else { 3 }), [1, 2]);
    }

    fn random_graph(stream: &mut Stream) -> Vec<(u32, u32)> {
        let nodes = 4 + stream.below(12);
        let density = stream.uniform(0.1, 0.6);
        let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
        pairs.filter(|_| stream.unit() < density).collect()
    }

    fn two_hop(candidates: &[Candidate]) -> BTreeSet<NodeId> {
        let near: BTreeSet<NodeId> = candidates.iter().map(|each| each.node).collect();
        let all = candidates.iter().flat_map(|each| each.neighbours.iter().map(|(node, _)| *node));
        all.filter(|node| !near.contains(node)).collect()
    }

    fn reaches_all(candidates: &[Candidate], chosen: &BTreeSet<NodeId>) -> bool {
        let relays = candidates.iter().filter(|each| chosen.contains(&each.node));
        let reached: BTreeSet<NodeId> =
            relays.flat_map(|each| each.neighbours.iter().map(|(node, _)| *node)).collect();
        two_hop(candidates).is_subset(&reached)
    }

    /// The size of the smallest set of relays, by trying all.
    fn smallest(candidates: &[Candidate]) -> usize {
        let sets = 0..1_u32 << candidates.len();
        let covering = sets.filter(|set| {
            let some = candidates.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
            reaches_all(candidates, &some.map(|(_, each)| each.node).collect())
        });
        covering.map(u32::count_ones).min().expect("all neighbours reach all") as usize
    }

    /// The greedy choice is within 1 + ln Δ of the smallest (Qayyum, Viennot, Laouiti 2002).
    #[test]
    fn relays_reach_every_two_hop_neighbour_and_are_not_many_more_than_needed() {
        let mut stream = Streams::new(7, 0).stream(0, Purpose::Routing);
        for _ in 0..3000 {
            let candidates = around(&random_graph(&mut stream), |_| 3);
            let chosen = by_hops(&candidates, 1);
            assert!(reaches_all(&candidates, &chosen));
            if candidates.len() <= 8 {
                let most = candidates.iter().map(|each| each.neighbours.len()).max().unwrap_or(0);
                let bound = smallest(&candidates) as f64 * (1.0 + libm::log(most.max(1) as f64));
                assert!(chosen.len() as f64 <= bound + 1e-9, "{} relays, {bound} allowed", chosen.len());
            }
        }
    }

    #[test]
    fn more_coverage_means_that_every_node_is_reached_over_as_many_as_can() {
        let mut stream = Streams::new(8, 0).stream(0, Purpose::Routing);
        for _ in 0..1000 {
            let candidates = around(&random_graph(&mut stream), |_| 3);
            for chosen in [by_hops(&candidates, 3), by_cost(&candidates, 3)] {
                for node in two_hop(&candidates) {
                    let over = |relays: &mut dyn Iterator<Item = &Candidate>| {
                        relays.filter(|each| each.neighbours.iter().any(|(other, _)| *other == node)).count()
                    };
                    let possible = over(&mut candidates.iter());
                    let relays = over(&mut candidates.iter().filter(|each| chosen.contains(&each.node)));
                    assert!(relays >= possible.min(3), "{relays} of {possible} ways to {node:?}");
                }
            }
        }
    }

    #[test]
    fn by_cost_a_relay_needs_a_way_that_is_whole_and_cheaper_than_the_link() {
        let relays = |candidates: &[Candidate]| by_cost(candidates, 1);
        let mut triangle = around(&[(0, 1), (0, 2), (1, 2)], |_| 3);
        assert_eq!(relays(&triangle), [].into());
        triangle[1].cost = Cost::HOP.and(Cost::HOP).and(Cost::HOP);
        assert_eq!(relays(&triangle), [NodeId(1)].into(), "two hops to 2 cost less than its link");
        let mut chain = around(&[(0, 1), (1, 2)], |_| 3);
        assert_eq!(relays(&chain), [NodeId(1)].into());
        chain[0].neighbours[0].1 = Cost::BROKEN;
        assert_eq!(relays(&chain), [].into());
    }
}
