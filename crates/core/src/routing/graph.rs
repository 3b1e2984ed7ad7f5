//! The graph of who is in range of whom, at one moment.

use std::collections::{BTreeMap, BTreeSet};

use crate::mobility::Point;
use crate::packet::NodeId;

/// The nodes at distances up to `range_m` metres of each node, in order of their numbers. `positions` are in the
/// order of the nodes' numbers.
pub fn neighbours(positions: &[Point], range_m: f64) -> Vec<Vec<NodeId>> {
    // A grid of cells as wide as the range: neighbours are in the same cell or in one that touches it.
    let cell_m = range_m.max(1.0);
    let cell = |point: &Point| ((point.x / cell_m).floor() as i64, (point.y / cell_m).floor() as i64);
    let mut grid: BTreeMap<(i64, i64), Vec<u32>> = BTreeMap::new();
    for (node, point) in positions.iter().enumerate() {
        grid.entry(cell(point)).or_default().push(node as u32);
    }
    let near = |node: usize| {
        let (column, row) = cell(&positions[node]);
        let cells = (column - 1..=column + 1).flat_map(|x| (row - 1..=row + 1).map(move |y| (x, y)));
        let candidates = cells.filter_map(|key| grid.get(&key)).flatten();
        let mut near: Vec<NodeId> = candidates
            .filter(|&&other| other as usize != node)
            .filter(|&&other| positions[node].distance2(positions[other as usize]) <= range_m * range_m)
            .map(|&other| NodeId(other))
            .collect();
        near.sort_unstable();
        near
    };
    (0..positions.len()).map(near).collect()
}

/// The other nodes that are reached from `from` over at most `hops` links, in order of their numbers.
///
/// Costs the links of the nodes that are found, however large the graph is.
pub fn within_hops(neighbours: &[Vec<NodeId>], from: NodeId, hops: u32) -> Vec<NodeId> {
    let mut found = BTreeSet::from([from]);
    let mut edge = vec![from];
    for _ in 0..hops {
        let mut next = Vec::new();
        for node in edge {
            next.extend(neighbours[node.index()].iter().filter(|&&other| found.insert(other)));
        }
        if next.is_empty() {
            break;
        }
        edge = next;
    }
    found.remove(&from);
    found.into_iter().collect()
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
            let near = neighbours(&positions, 250.0);
            for from in 0..count {
                let mut reached: Vec<bool> = (0..count).map(|node| node == from).collect();
                for _ in 0..hops {
                    reached = (0..count).map(|b| (0..count).any(|a| reached[a] && joined(a, b))).collect();
                }
                let wanted: Vec<NodeId> =
                    (0..count).filter(|&node| node != from && reached[node]).map(|node| NodeId(node as u32)).collect();
                prop_assert_eq!(within_hops(&near, NodeId(from as u32), hops), wanted);
            }
        }
    }
}
