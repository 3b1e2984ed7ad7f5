//! The topology that a movement makes: who hears whom, over how many hops, for how long.
//!
//! What Kurkowski, Navidi and Camp ask to be known of a scenario before it is used (*Two Standards for
//! Rigorous MANET Routing Protocol Evaluation*, MASS 2006: average shortest-path hops, average network
//! partitioning) and what decides how protocols fare besides: degree, link changes, lifetimes of links and
//! paths. A link is two nodes within the range in which frames can be received, or what a [`LinkRule`] says;
//! interference is not looked at.
//!
//! Positions, hops and partitions are looked at in the instants that begin each step; links between the
//! instants are followed exactly, from the legs of the nodes' paths, or under a rule from place to place.

mod graph;
mod holding;
mod links;
mod paths;
mod reach;
mod rule;

use serde::Serialize;

use crate::kernel::{Span, Time};
use crate::mobility::{Path, Trajectory, geometric_mobility};

pub use graph::Graph;
pub use holding::{Field, Held, Hold, Searched, search};
pub use paths::{HopTimes, PathMeasures, hop_times};
pub use reach::{Reach, reach};
pub use rule::{End, LinkRule};

use links::Links;
use rule::Near;

/// Nodes visited in one call for all searches from sampled sources, about a second's work.
const VISITS: u64 = 100_000_000;

/// What to look at.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// Where the nodes go.
    pub movement: &'a [Trajectory],
    /// The distance up to which frames can be received, in m.
    pub range_m: f64,
    /// What says which nodes have links, where more than the range does.
    pub rule: Option<&'a dyn LinkRule>,
    /// The beginning and the end of the time looked at.
    pub window: (Time, Time),
    /// The time between two instants, more than zero.
    pub step: Span,
    /// Source and destination of each pair of nodes that is looked at by itself, numbers below those of the
    /// nodes.
    pub pairs: &'a [(u32, u32)],
}

impl<'a> Query<'a> {
    fn near(&self) -> Near<'a> {
        Near { range_m: self.range_m, rule: self.rule }
    }
}

/// The answer. Means over instants are over those that begin a step.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Topology {
    /// Number of instants.
    pub instants: u64,
    /// From how many nodes paths were searched in each instant; all of them unless the network is large. They
    /// take turns.
    pub sources: u64,
    /// Mean hops of the shortest path over all instants and connected pairs; none if no two nodes are
    /// connected.
    pub hops_mean: Option<f64>,
    /// Share of all node pairs, over all instants, that have no path; none with a single node.
    pub partitioned_pairs: Option<f64>,
    /// Share of instants in which not every node can reach every other.
    pub partitioned_time: f64,
    /// Mean number of neighbours of a node.
    pub degree_mean: f64,
    /// Mean speed of a node, m/s; jumps are no speed.
    pub speed_mean: f64,
    /// Mean relative speed of two nodes, over all pairs, m/s ([`geometric_mobility`]); none with one node.
    pub geometric_mobility: Option<f64>,
    /// Links that came up or broke, per second.
    pub link_changes_per_s: f64,
    /// Time that links were up over links that broke, s; none if none broke.
    pub link_lifetime_s: Option<f64>,
    /// As `hops_mean`, over the pairs asked for.
    pub pair_hops_mean: Option<f64>,
    /// As `partitioned_pairs`, over the pairs asked for.
    pub pair_partitioned: Option<f64>,
    /// Time that shortest paths of the pairs asked for lasted over such paths that broke, s; none if none
    /// broke.
    pub path_lifetime_s: Option<f64>,
    /// How many such paths broke.
    pub paths_broken: u64,
    /// As `degree_mean`, over the nodes of the pairs asked for; none without any.
    pub pair_degree_mean: Option<f64>,
    /// As `speed_mean`, over the nodes of the pairs asked for; none without any.
    pub pair_speed_mean: Option<f64>,
    /// Smallest x and y of any start or destination, in m.
    pub corner_low_m: (f64, f64),
    /// Greatest x and y of any start or destination, in m.
    pub corner_high_m: (f64, f64),
}

/// Analyses the topology for as long as `keep_going`, which is asked at every instant, says so; none if it
/// says no.
///
/// # Panics
/// If the step is zero, or a pair's node does not exist.
pub fn analyse(query: &Query, keep_going: &mut dyn FnMut() -> bool) -> Option<Topology> {
    let nodes = query.movement.len();
    let (start, end) = query.window;
    let mut sums = Sums::default();
    let instants = end.since(start).0.div_ceil(query.step.0).max(1);
    let sources = (VISITS / (instants * nodes as u64).max(1)).clamp(1, nodes as u64);
    let mut links = Links::new(query.movement, query.near(), start);
    let mut followed = vec![Followed::default(); query.pairs.len()];
    let mut now = start;
    let mut first_source = 0;
    while now < end {
        if !keep_going() {
            return None;
        }
        let graph = links.graph();
        sums.add(&graph);
        sums.count_hops(&graph, first_source, sources as u32);
        first_source = ((u64::from(first_source) + sources) % nodes as u64) as u32;
        sums.add_pairs(&graph, query.pairs, &mut followed);
        let next = (now + query.step).min(end);
        let broken = links.advance(next);
        for path in &mut followed {
            path.advance(now, next, broken, &mut sums);
        }
        now = next;
    }
    let (low, high) = corners(query.movement);
    let totals = links.totals();
    let seconds = end.since(start).as_secs();
    let speeds: Vec<f64> = query.movement.iter().map(|of| links::way_in(of, start, end) / seconds).collect();
    let paths: Vec<Path> = query.movement.iter().map(Path::new).collect();
    let ends = query.pairs.iter().flat_map(|&(src, dst)| [src, dst]);
    Some(Topology {
        instants,
        sources,
        hops_mean: ratio(sums.hops, sums.connected),
        partitioned_pairs: ratio(sums.pairs_apart, sums.pairs),
        partitioned_time: sums.instants_apart as f64 / instants as f64,
        degree_mean: 2.0 * sums.links as f64 / (instants * nodes as u64) as f64,
        speed_mean: mean(&speeds).unwrap_or(0.0),
        geometric_mobility: geometric_mobility(&paths, start, end),
        link_changes_per_s: (totals.made + totals.broken) as f64 / seconds,
        link_lifetime_s: (totals.broken > 0).then(|| totals.up_s / totals.broken as f64),
        pair_hops_mean: ratio(sums.asked_hops, sums.asked_connected),
        pair_partitioned: ratio(sums.asked - sums.asked_connected, sums.asked),
        path_lifetime_s: (sums.paths_broken > 0).then(|| sums.path_s / sums.paths_broken as f64),
        paths_broken: sums.paths_broken,
        pair_degree_mean: ratio(sums.asked_neighbours, 2 * sums.asked),
        pair_speed_mean: mean(&ends.map(|node| speeds[node as usize]).collect::<Vec<_>>()),
        corner_low_m: low,
        corner_high_m: high,
    })
}

/// The hops of the shortest path of each pair in each instant that begins a step; none where there is no
/// path. Like [`analyse`], for as long as `keep_going` says so.
///
/// # Panics
/// If the step is zero, or a pair's node does not exist.
pub fn hops_over_time(query: &Query, keep_going: &mut dyn FnMut() -> bool) -> Option<Vec<Vec<Option<u32>>>> {
    let (start, end) = query.window;
    let paths: Vec<Path> = query.movement.iter().map(Path::new).collect();
    let mut hops = vec![Vec::new(); query.pairs.len()];
    let mut now = start;
    while now < end {
        if !keep_going() {
            return None;
        }
        let graph = Graph::near(&paths, now, query.near());
        for (of_pair, found) in hops.iter_mut().zip(graph.search_pairs(query.pairs)) {
            of_pair.push(found.map(|path| path.len() as u32 - 1));
        }
        now += query.step;
    }
    Some(hops)
}

/// The pairs of nodes that have a link in each of these instants, the smaller number first, in order.
pub fn links_over_time(
    movement: &[Trajectory],
    range_m: f64,
    rule: Option<&dyn LinkRule>,
    instants: &[Time],
) -> Vec<Vec<(u32, u32)>> {
    let paths: Vec<Path> = movement.iter().map(Path::new).collect();
    let near = Near { range_m, rule };
    let of_instant = |&now: &Time| {
        let mut links = graph::links_at(&paths, now, near);
        links.sort_unstable();
        links
    };
    instants.iter().map(of_instant).collect()
}

/// What adds up over instants.
#[derive(Default)]
struct Sums {
    hops: u64,
    connected: u64,
    pairs: u64,
    pairs_apart: u64,
    instants_apart: u64,
    links: u64,
    asked: u64,
    asked_connected: u64,
    asked_hops: u64,
    asked_neighbours: u64,
    paths_broken: u64,
    path_s: f64,
}

impl Sums {
    fn add(&mut self, graph: &Graph) {
        let nodes = graph.nodes() as u64;
        let together: u64 = graph.components().iter().map(|&size| pairs_of(u64::from(size))).sum();
        let apart = pairs_of(nodes) - together;
        self.pairs += pairs_of(nodes);
        self.pairs_apart += apart;
        self.instants_apart += u64::from(apart > 0);
        self.links += graph.links() as u64;
    }

    fn count_hops(&mut self, graph: &Graph, first: u32, sources: u32) {
        let (reached, hops) = graph.hops_from(first, sources);
        self.connected += reached;
        self.hops += hops;
    }

    fn add_pairs(&mut self, graph: &Graph, pairs: &[(u32, u32)], followed: &mut [Followed]) {
        for &(src, dst) in pairs {
            self.asked_neighbours += (graph.neighbours(src).len() + graph.neighbours(dst).len()) as u64;
        }
        for (of_pair, found) in followed.iter_mut().zip(graph.search_pairs(pairs)) {
            self.asked += 1;
            if let Some(path) = found {
                self.asked_connected += 1;
                self.asked_hops += path.len() as u64 - 1;
                if of_pair.path.is_empty() {
                    of_pair.path = path;
                }
            }
        }
    }
}

/// The path of a pair that is followed until one of its links breaks: the shortest one in the instant in
/// which it was taken. Empty while there is none.
#[derive(Clone, Default)]
struct Followed {
    path: Vec<u32>,
}

impl Followed {
    /// The step from `now` to `next` has passed; `broken` are the links that broke in it and when, in order.
    fn advance(&mut self, now: Time, next: Time, broken: &[((u32, u32), f64)], sums: &mut Sums) {
        let first = self
            .path
            .windows(2)
            .filter_map(|ends| {
                let link = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let at = broken.partition_point(|(each, _)| *each < link);
                broken.get(at).filter(|(each, _)| *each == link).map(|&(_, after_s)| after_s)
            })
            .min_by(f64::total_cmp);
        if let Some(after_s) = first {
            sums.path_s += after_s;
            sums.paths_broken += 1;
            self.path.clear();
        } else if !self.path.is_empty() {
            sums.path_s += next.since(now).as_secs();
        }
    }
}

fn pairs_of(nodes: u64) -> u64 {
    nodes * nodes.saturating_sub(1) / 2
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The corners of the smallest rectangle that holds all starts and destinations.
fn corners(movement: &[Trajectory]) -> ((f64, f64), (f64, f64)) {
    use crate::mobility::Command;
    let ends = |command: &Command| match *command {
        Command::GoTo { to, .. } | Command::Jump { to, .. } => to,
    };
    let points = movement.iter().flat_map(|of| std::iter::once(of.start).chain(of.commands.iter().map(ends)));
    let mut low = (f64::INFINITY, f64::INFINITY);
    let mut high = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for point in points {
        low = (low.0.min(point.x), low.1.min(point.y));
        high = (high.0.max(point.x), high.1.max(point.y));
    }
    (low, high)
}

#[cfg(test)]
mod tests;
