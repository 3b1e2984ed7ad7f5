//! The network of one instant as a graph.

use std::collections::BTreeMap;

/// Nodes and the links between them.
pub(super) struct Graph {
    /// Where each node's neighbours begin in `neighbours`; one more entry than nodes.
    begins: Vec<u32>,
    neighbours: Vec<u32>,
}

/// No node, or not reached.
const NONE: u32 = u32::MAX;

impl Graph {
    /// A graph of `nodes` nodes with these links, each given once, in order.
    pub(super) fn new(nodes: usize, links: &[(u32, u32)]) -> Graph {
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

    pub(super) fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    pub(super) fn links(&self) -> usize {
        self.neighbours.len() / 2
    }

    fn of(&self, node: u32) -> &[u32] {
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
                for &near in self.of(node) {
                    if !std::mem::replace(&mut seen[near as usize], true) {
                        waiting.push(near);
                    }
                }
            }
            sizes.push(size);
        }
        sizes
    }

    /// How many other nodes can be reached from `source`, and the sum of the hops to them.
    pub(super) fn hops_from(&self, source: u32) -> (u64, u64) {
        let mut hops = vec![NONE; self.nodes()];
        hops[source as usize] = 0;
        let mut order = vec![source];
        let (mut at, mut sum) = (0, 0);
        while let Some(&node) = order.get(at) {
            at += 1;
            let there = hops[node as usize];
            sum += u64::from(there);
            for &near in self.of(node) {
                if hops[near as usize] == NONE {
                    hops[near as usize] = there + 1;
                    order.push(near);
                }
            }
        }
        (order.len() as u64 - 1, sum)
    }

    /// For each pair the nodes of a shortest path, both ends included; none if there is no path. Of several the one
    /// that a search from the source finds which looks at nodes in the order of their numbers.
    pub(super) fn search_pairs(&self, pairs: &[(u32, u32)]) -> Vec<Option<Vec<u32>>> {
        let mut trees: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(source, _) in pairs {
            trees.entry(source).or_insert_with(|| self.tree(source));
        }
        pairs.iter().map(|&(source, dst)| walk_back(&trees[&source], source, dst)).collect()
    }

    /// For each node the one before it on a shortest path from `source`; the source's is itself.
    fn tree(&self, source: u32) -> Vec<u32> {
        let mut before = vec![NONE; self.nodes()];
        before[source as usize] = source;
        let mut order = vec![source];
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &near in self.of(node) {
                if before[near as usize] == NONE {
                    before[near as usize] = node;
                    order.push(near);
                }
            }
        }
        before
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
