//! Random connected topologies, and the shortest ways in them.

use std::collections::{BTreeSet, VecDeque};

use manetlab_core::kernel::Stream;

/// Nodes of the smallest and of the largest topology.
const NODES: (u32, u32) = (3, 18);
/// Neighbours that a node has on average where links are drawn by positions.
const NEIGHBOURS: f64 = 4.0;

/// Who hears whom; links work in both directions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    neighbours: Vec<BTreeSet<u32>>,
}

impl Graph {
    /// So many nodes without a link.
    pub fn without_links(nodes: u32) -> Graph {
        Graph { neighbours: vec![BTreeSet::new(); nodes as usize] }
    }

    /// A connected topology: half of them by positions in a square, half of them trees with some more links.
    pub fn draw(stream: &mut Stream) -> Graph {
        let nodes = NODES.0 + stream.below(NODES.1 - NODES.0 + 1);
        let mut graph = Graph::without_links(nodes);
        if stream.below(2) == 0 {
            graph.link_by_positions(stream);
        }
        for node in 1..nodes {
            if graph.hops(0)[node as usize].is_none() {
                graph.link(node, stream.below(node));
            }
        }
        // A tree has no way around: some get one.
        for _ in 0..stream.below(nodes / 2 + 1) {
            graph.link(stream.below(nodes), stream.below(nodes));
        }
        graph
    }

    fn link_by_positions(&mut self, stream: &mut Stream) {
        let nodes = self.nodes();
        let points: Vec<(f64, f64)> = (0..nodes).map(|_| (stream.unit(), stream.unit())).collect();
        let range_squared = NEIGHBOURS / (std::f64::consts::PI * f64::from(nodes));
        for a in 0..nodes {
            for b in 0..a {
                let ((ax, ay), (bx, by)) = (points[a as usize], points[b as usize]);
                if (ax - bx) * (ax - bx) + (ay - by) * (ay - by) < range_squared {
                    self.link(a, b);
                }
            }
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.neighbours.len() as u32
    }

    /// Links two nodes; a node is not linked to itself.
    pub fn link(&mut self, a: u32, b: u32) {
        if a != b {
            self.neighbours[a as usize].insert(b);
            self.neighbours[b as usize].insert(a);
        }
    }

    /// The nodes that a node hears, in the order of their numbers.
    pub fn of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.neighbours[node as usize].iter().copied()
    }

    /// Does the first hear the second?
    pub fn has(&self, a: u32, b: u32) -> bool {
        self.neighbours[a as usize].contains(&b)
    }

    /// All links, each once.
    pub fn links(&self) -> Vec<[u32; 2]> {
        let of = |a: u32| self.of(a).filter(move |b| a < *b).map(move |b| [a, b]);
        (0..self.nodes()).flat_map(of).collect()
    }

    /// Hops from a node to each, none where there is no way.
    pub fn hops(&self, from: u32) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.neighbours.len()];
        let mut ahead = VecDeque::from([(from, 0)]);
        hops[from as usize] = Some(0);
        while let Some((node, far)) = ahead.pop_front() {
            for next in self.of(node) {
                if hops[next as usize].is_none() {
                    hops[next as usize] = Some(far + 1);
                    ahead.push_back((next, far + 1));
                }
            }
        }
        hops
    }

    /// The same without one link.
    pub fn without(&self, [a, b]: [u32; 2]) -> Graph {
        let mut graph = self.clone();
        graph.neighbours[a as usize].remove(&b);
        graph.neighbours[b as usize].remove(&a);
        graph
    }

    /// The same in two parts: without the links between the half that is nearest to a node and the rest.
    pub fn parted(&self, at: u32) -> Graph {
        let hops = self.hops(at);
        let mut order: Vec<u32> = (0..self.nodes()).collect();
        order.sort_by_key(|node| hops[*node as usize]);
        let near: BTreeSet<u32> = order[..order.len() / 2].iter().copied().collect();
        let crosses = |[a, b]: &[u32; 2]| near.contains(a) != near.contains(b);
        self.links().into_iter().filter(crosses).fold(self.clone(), |graph, link| graph.without(link))
    }

    /// The same with other numbers: node *i* is now `numbers[i]`.
    pub fn renumbered(&self, numbers: &[u32]) -> Graph {
        let mut graph = Graph::without_links(self.nodes());
        for [a, b] in self.links() {
            graph.link(numbers[a as usize], numbers[b as usize]);
        }
        graph
    }
}

/// The numbers below `n` in random order.
pub fn shuffled(n: u32, stream: &mut Stream) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..n).collect();
    for last in (1..n).rev() {
        numbers.swap(last as usize, stream.below(last + 1) as usize);
    }
    numbers
}
