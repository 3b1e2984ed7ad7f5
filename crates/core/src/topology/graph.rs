//! The network of one instant as a graph.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::Time;
use crate::mobility::{Path, Point};

use super::rule::{End, Near};

/// Two nodes, the smaller number first.
pub(super) type Link = (u32, u32);

/// Nodes and the links between them.
pub struct Graph {
    /// Where each node's neighbours begin in `neighbours`; one more entry than nodes.
    begins: Vec<u32>,
    neighbours: Vec<u32>,
}

/// No node, or not reached.
const NONE: u32 = u32::MAX;

impl Graph {
    /// The nodes at these positions, in order of their numbers, and links between those that are at most
    /// `range_m` metres apart.
    pub fn at(positions: &[Point], range_m: f64) -> Graph {
        Graph::with_wires(positions, range_m, &[])
    }

    /// The nodes on these paths at `now`, and links between those that are there and at most `range_m` metres
    /// apart, heights included.
    pub fn of(paths: &[Path], now: Time, range_m: f64) -> Graph {
        Graph::near(paths, now, Near::within(range_m))
    }

    /// The same with links between those that are there and near each other.
    pub(super) fn near(paths: &[Path], now: Time, near: Near<'_>) -> Graph {
        let mut links = links_at(paths, now, near);
        links.sort_unstable();
        Graph::new(paths.len(), &links)
    }

    /// The same with links between the ends of wires, too, wherever these are.
    pub fn with_wires(positions: &[Point], range_m: f64, wires: &[[u32; 2]]) -> Graph {
        let mut links = near_pairs(positions, range_m);
        links.extend(wires.iter().map(|&[a, b]| (a.min(b), a.max(b))));
        links.sort_unstable();
        links.dedup();
        Graph::new(positions.len(), &links)
    }

    /// A graph of `nodes` nodes with these links, each given once, in order.
    pub(super) fn new(nodes: usize, links: &[Link]) -> Graph {
        let mut begins = vec![0; nodes + 1];
        for &(a, b) in links {
            begins[a as usize + 1] += 1;
            begins[b as usize + 1] += 1;
        }
        for node in 0..nodes {
            begins[node + 1] += begins[node];
        }
        let mut next = begins.clone();
        let mut neighbours = vec![0; links.len() * 2];
        for &(a, b) in links {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        // Links in order leave each list with the smaller ends of its links mixed with the greater ones.
        for node in 0..nodes {
            neighbours[begins[node] as usize..begins[node + 1] as usize].sort_unstable();
        }
        Graph { begins, neighbours }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    pub(super) fn links(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The nodes that have a link to `node`, in order of their numbers.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        &self.neighbours[self.begins[node as usize] as usize..self.begins[node as usize + 1] as usize]
    }

    /// The sizes of the parts within which every node can reach every other.
    pub(super) fn components(&self) -> Vec<u32> {
        let mut seen = vec![false; self.nodes()];
        let mut sizes = Vec::new();
        let mut waiting = Vec::new();
        for start in 0..self.nodes() as u32 {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            let mut size = 0;
            waiting.push(start);
            while let Some(node) = waiting.pop() {
                size += 1;
                for &near in self.neighbours(node) {
                    if !std::mem::replace(&mut seen[near as usize], true) {
                        waiting.push(near);
                    }
                }
            }
            sizes.push(size);
        }
        sizes
    }

    /// How many other nodes can be reached from each of `count` nodes, `first` and those that follow it in a
    /// circle, and the hops to them: sums over all of these sources.
    ///
    /// Searches from 64 sources at once, a bit for each (Then et al., *The More the Merrier: Efficient
    /// Multi-Source Graph Traversal*, VLDB 2014).
    pub(super) fn hops_from(&self, first: u32, count: u32) -> (u64, u64) {
        let nodes = self.nodes() as u32;
        let sources: Vec<u32> = (first..nodes).chain(0..first).take(count as usize).collect();
        let (mut reached, mut hops) = (0, 0);
        for together in self.near_each_other(&sources) {
            let found = self.hops_from_each(&together);
            reached += found.0;
            hops += found.1;
        }
        (reached, hops)
    }

    /// The nodes in groups of up to 64 near ones, whose searches pass the same nodes at the same time.
    fn near_each_other(&self, of: &[u32]) -> Vec<Vec<u32>> {
        let mut is_left = vec![false; self.nodes()];
        for &node in of {
            is_left[node as usize] = true;
        }
        let mut groups = Vec::new();
        for &start in of {
            if !is_left[start as usize] {
                continue;
            }
            let mut group = Vec::with_capacity(64);
            self.search_while(start, |node| {
                if std::mem::take(&mut is_left[node as usize]) {
                    group.push(node);
                }
                group.len() < 64
            });
            groups.push(group);
        }
        groups
    }

    /// Goes through the nodes that are reached from `source`, the nearest first, while `visit` says so, and
    /// returns for each node the one before it on a shortest path; the source's is itself.
    fn search_while(&self, source: u32, mut visit: impl FnMut(u32) -> bool) -> Vec<u32> {
        let mut before = vec![NONE; self.nodes()];
        before[source as usize] = source;
        let mut order = vec![source];
        let mut at = 0;
        while let Some(&node) = order.get(at)
            && visit(node)
        {
            at += 1;
            for &near in self.neighbours(node) {
                if before[near as usize] == NONE {
                    before[near as usize] = node;
                    order.push(near);
                }
            }
        }
        before
    }

    fn hops_from_each(&self, sources: &[u32]) -> (u64, u64) {
        // Bits are sources: those that have reached a node, in the last round, and in this one.
        let mut seen = vec![0u64; self.nodes()];
        let (mut last, mut new) = (seen.clone(), seen.clone());
        for (bit, &source) in sources.iter().enumerate() {
            seen[source as usize] = 1 << bit;
            last[source as usize] = 1 << bit;
        }
        let (mut edge, mut next) = (sources.to_vec(), Vec::new());
        let (mut reached, mut sum) = (0, 0);
        for hops in 1.. {
            for node in edge.drain(..) {
                let bits = std::mem::take(&mut last[node as usize]);
                for &near in self.neighbours(node) {
                    let bits = bits & !seen[near as usize];
                    if bits != 0 {
                        if new[near as usize] == 0 {
                            next.push(near);
                        }
                        new[near as usize] |= bits;
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            for &node in &next {
                let bits = new[node as usize];
                seen[node as usize] |= bits;
                reached += u64::from(bits.count_ones());
                sum += hops * u64::from(bits.count_ones());
            }
            std::mem::swap(&mut last, &mut new);
            std::mem::swap(&mut edge, &mut next);
        }
        (reached, sum)
    }

    /// The other nodes that are reached from `source` over at most `hops` links, in order of their numbers.
    ///
    /// Costs the links of the nodes that are found, however large the graph is.
    pub fn within_hops(&self, source: u32, hops: u32) -> Vec<u32> {
        let mut found = BTreeSet::from([source]);
        let mut edge = vec![source];
        for _ in 0..hops {
            let mut next = Vec::new();
            for node in edge {
                next.extend(self.neighbours(node).iter().filter(|&&other| found.insert(other)));
            }
            if next.is_empty() {
                break;
            }
            edge = next;
        }
        found.remove(&source);
        found.into_iter().collect()
    }

    /// For each pair the nodes of a shortest path, both ends included; none if there is no path. Of several
    /// the one that a search from the source finds which looks at nodes in the order of their numbers.
    pub(super) fn search_pairs(&self, pairs: &[(u32, u32)]) -> Vec<Option<Vec<u32>>> {
        let mut destinations: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(source, dst) in pairs {
            destinations.entry(source).or_default().push(dst);
        }
        let tree = |(source, mut left): (u32, Vec<u32>)| {
            let before = self.search_while(source, |node| {
                left.retain(|&dst| dst != node);
                !left.is_empty()
            });
            (source, before)
        };
        let trees: BTreeMap<u32, Vec<u32>> = destinations.into_iter().map(tree).collect();
        pairs.iter().map(|&(source, dst)| walk_back(&trees[&source], source, dst)).collect()
    }
}

fn walk_back(before: &[u32], source: u32, dst: u32) -> Option<Vec<u32>> {
    if before[dst as usize] == NONE {
        return None;
    }
    let mut path = vec![dst];
    while let Some(&node) = path.last()
        && node != source
    {
        path.push(before[node as usize]);
    }
    path.reverse();
    Some(path)
}

/// The links of an instant: all pairs of nodes, the smaller number first, that are there and near each other,
/// heights included.
pub(super) fn links_at(paths: &[Path], now: Time, near: Near<'_>) -> Vec<Link> {
    let ends: Vec<End> = (0..).zip(paths).map(|(node, path)| End::of(node, path, now)).collect();
    let positions: Vec<Point> = ends.iter().map(|end| end.place).collect();
    let mut links = near_pairs(&positions, near.reach_m());
    let differ = paths.iter().any(|path| !path.present().is_empty() || !path.heights().is_empty());
    if differ || near.rule.is_some() {
        let there: Vec<bool> = paths.iter().map(|path| path.is_present(now)).collect();
        links.retain(|&(a, b)| {
            let (a, b) = (a as usize, b as usize);
            there[a] && there[b] && near.join(now, [ends[a], ends[b]])
        });
    }
    links
}

/// All pairs of nodes at most `range_m` apart, each once, the smaller number first.
pub(super) fn near_pairs(positions: &[Point], range_m: f64) -> Vec<Link> {
    // Cells as wide as the range: who is in range is in the same cell or in one that touches it.
    let cell_m = range_m.max(1.0);
    let cell = |point: &Point| ((point.x / cell_m).floor() as i64, (point.y / cell_m).floor() as i64);
    let mut grid: Vec<((i64, i64), u32)> =
        positions.iter().zip(0..).map(|(point, node)| (cell(point), node)).collect();
    grid.sort_unstable();
    let mut pairs = Vec::new();
    for (place, &((column, row), node)) in grid.iter().enumerate() {
        let mut take = |other: u32| {
            if positions[node as usize].distance2(positions[other as usize]) <= range_m * range_m {
                pairs.push((node.min(other), node.max(other)));
            }
        };
        // The rest of the own cell and the cell above it follow in order; the three cells of the next column
        // as well.
        for (low, high) in
            [((column, row), (column, row + 1)), ((column + 1, row - 1), (column + 1, row + 1))]
        {
            let from =
                if low == (column, row) { place + 1 } else { grid.partition_point(|&(each, _)| each < low) };
            grid[from..].iter().take_while(|&&(each, _)| each <= high).for_each(|&(_, other)| take(other));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_within_hops_is_what_powers_of_the_adjacency_matrix_say(
            places in prop::collection::vec((0.0..1500.0f64, -700.0..700.0f64), 1..30),
            hops in 0u32..6,
        ) {
            let positions: Vec<Point> = places.into_iter().map(|(x, y)| Point { x, y }).collect();
            let count = positions.len();
            let joined = |a: usize, b: usize| positions[a].distance2(positions[b]) <= 250.0 * 250.0;
            let graph = Graph::at(&positions, 250.0);
            for from in 0..count {
                let mut reached: Vec<bool> = (0..count).map(|node| node == from).collect();
                for _ in 0..hops {
                    reached = (0..count).map(|b| (0..count).any(|a| reached[a] && joined(a, b))).collect();
                }
                let wanted: Vec<u32> =
                    (0..count).filter(|&node| node != from && reached[node]).map(|node| node as u32).collect();
                prop_assert_eq!(graph.within_hops(from as u32, hops), wanted);
            }
        }

        #[test]
        fn sums_of_hops_are_those_of_single_searches(
            places in prop::collection::vec((0.0..3000.0f64, -700.0..700.0f64), 1..150),
            first in any::<prop::sample::Index>(),
            count in any::<prop::sample::Index>(),
        ) {
            let positions: Vec<Point> = places.into_iter().map(|(x, y)| Point { x, y }).collect();
            let graph = Graph::at(&positions, 250.0);
            let nodes = positions.len();
            let (first, count) = (first.index(nodes), 1 + count.index(nodes));
            let mut wanted = (0, 0);
            for source in (0..count).map(|after| ((first + after) % nodes) as u32) {
                let pairs: Vec<(u32, u32)> = (0..nodes as u32).map(|dst| (source, dst)).collect();
                for path in graph.search_pairs(&pairs).into_iter().flatten().filter(|path| path.len() > 1) {
                    wanted.0 += 1;
                    wanted.1 += path.len() as u64 - 1;
                }
            }
            prop_assert_eq!(graph.hops_from(first as u32, count as u32), wanted);
        }
    }
}
