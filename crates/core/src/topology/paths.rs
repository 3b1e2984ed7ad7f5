//! Over how many hops the shortest path between two nodes goes, and for how long.
//!
//! Hops can change only when a link comes up or breaks. Links are followed exactly, so times are exact, too,
//! and a path that is there for a millisecond counts for a millisecond.

use serde::Serialize;

use crate::kernel::Time;

use super::Query;
use super::links::{Change, Links};

/// How long the shortest path of a pair of nodes had how many hops.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HopTimes {
    /// Seconds by the number of hops.
    by_hops_s: Vec<f64>,
    /// Seconds without a path.
    partitioned_s: f64,
    /// When there was no path, from and to, in seconds from the beginning.
    gaps_s: Vec<(f64, f64)>,
}

impl HopTimes {
    /// The times without a path, from and to, in s from the beginning of the window.
    pub fn gaps_s(&self) -> &[(f64, f64)] {
        &self.gaps_s
    }

    fn add(&mut self, hops: Option<u32>, lasted_s: f64) {
        if lasted_s <= 0.0 {
            return;
        }
        let Some(hops) = hops.map(|hops| hops as usize) else {
            self.partitioned_s += lasted_s;
            return;
        };
        if self.by_hops_s.len() <= hops {
            self.by_hops_s.resize(hops + 1, 0.0);
        }
        self.by_hops_s[hops] += lasted_s;
    }

    /// The numbers of hops that the path had at any time, from the smallest, with the share of the time.
    pub fn shares(&self) -> impl DoubleEndedIterator<Item = (u32, f64)> + '_ {
        let whole_s = self.by_hops_s.iter().fold(self.partitioned_s, |sum, each| sum + each);
        let all = self.by_hops_s.iter().enumerate();
        all.filter(|&(_, &each)| each > 0.0).map(move |(hops, each)| (hops as u32, each / whole_s))
    }

    /// The measures that follow.
    pub fn measures(&self) -> PathMeasures {
        let with_path_s: f64 = self.by_hops_s.iter().sum();
        let hop_seconds: f64 = (0..).zip(&self.by_hops_s).map(|(hops, each)| f64::from(hops) * each).sum();
        // Of two numbers of hops that lasted equally long, the smaller.
        let mode = self.shares().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        PathMeasures {
            path_hops_min: self.shares().next().map(|(hops, _)| hops),
            path_hops_max: self.shares().next_back().map(|(hops, _)| hops),
            path_hops_mean: (with_path_s > 0.0).then(|| hop_seconds / with_path_s),
            path_hops_mode: mode.map(|(hops, _)| hops),
            path_hops_mode_share: mode.map(|(_, share)| share),
            path_partitioned: self.partitioned_s / (with_path_s + self.partitioned_s),
        }
    }
}

/// The shortest path of a pair of nodes over time, as the movement alone determines it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PathMeasures {
    /// Fewest hops that it had at any time; none if there never was a path.
    pub path_hops_min: Option<u32>,
    /// Most hops that it had at any time.
    pub path_hops_max: Option<u32>,
    /// Mean hops over the time with a path.
    pub path_hops_mean: Option<f64>,
    /// The number of hops that it had for the longest time; of two equal times the smaller number.
    pub path_hops_mode: Option<u32>,
    /// The share of all time that it had so many.
    pub path_hops_mode_share: Option<f64>,
    /// The share of all time without a path.
    pub path_partitioned: f64,
}

/// How long the shortest path of each pair had how many hops, for as long as `keep_going`, which is asked at
/// every step, says so; none if it says no. The query's step decides only how far ahead links are looked for.
///
/// # Panics
/// If the step is zero, or a pair's node does not exist.
pub fn hop_times(query: &Query, keep_going: &mut dyn FnMut() -> bool) -> Option<Vec<HopTimes>> {
    let (start, end) = query.window;
    let mut links = Links::new(query.movement, query.near(), start).with_changes();
    let mut network = Neighbourhoods::new(query.movement.len(), links.up());
    let mut stays: Vec<Stay> = query.pairs.iter().map(|&pair| Stay::new(pair, &mut network)).collect();
    let mut now = start;
    while now < end {
        if !keep_going() {
            return None;
        }
        let next = (now + query.step).min(end);
        links.advance(next);
        let begins_s = seconds(start, now);
        for at_once in links.changes().chunk_by(|a, b| a.at_s.total_cmp(&b.at_s).is_eq()) {
            at_once.iter().for_each(|change| network.apply(change));
            for stay in &mut stays {
                stay.look(begins_s + at_once[0].at_s, at_once, &mut network);
            }
        }
        now = next;
    }
    let whole_s = seconds(start, end);
    Some(stays.into_iter().map(|stay| stay.end(whole_s)).collect())
}

fn seconds(from: Time, to: Time) -> f64 {
    to.since(from).as_secs()
}

/// For how long the shortest path of a pair has had its present number of hops, and what was before.
struct Stay {
    pair: (u32, u32),
    hops: Option<u32>,
    since_s: f64,
    times: HopTimes,
}

impl Stay {
    fn new(pair: (u32, u32), network: &mut Neighbourhoods) -> Stay {
        Stay { pair, hops: network.hops(pair), since_s: 0.0, times: HopTimes::default() }
    }

    /// At `now_s` these links changed.
    fn look(&mut self, now_s: f64, changes: &[Change], network: &mut Neighbourhoods) {
        // A link more cannot shorten a path of one hop.
        if self.hops.is_some_and(|hops| hops <= 1) && changes.iter().all(|change| change.is_up) {
            return;
        }
        let hops = network.hops(self.pair);
        if hops != self.hops {
            self.leave(now_s);
            (self.hops, self.since_s) = (hops, now_s);
        }
    }

    fn leave(&mut self, now_s: f64) {
        self.times.add(self.hops, now_s - self.since_s);
        if self.hops.is_none() && now_s > self.since_s {
            self.times.gaps_s.push((self.since_s, now_s));
        }
    }

    fn end(mut self, now_s: f64) -> HopTimes {
        self.leave(now_s);
        self.times
    }
}

/// Who has links to whom while links change, and what a search needs.
struct Neighbourhoods {
    near: Vec<Vec<u32>>,
    /// The search that has seen each node last.
    seen: Vec<u64>,
    search: u64,
    edge: Vec<u32>,
    next: Vec<u32>,
}

impl Neighbourhoods {
    fn new(nodes: usize, links: &[(u32, u32)]) -> Neighbourhoods {
        let mut near = vec![Vec::new(); nodes];
        for &(a, b) in links {
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        Neighbourhoods { near, seen: vec![0; nodes], search: 0, edge: Vec::new(), next: Vec::new() }
    }

    fn apply(&mut self, change: &Change) {
        for (from, to) in [change.link, (change.link.1, change.link.0)] {
            let near = &mut self.near[from as usize];
            let at = near.iter().position(|&other| other == to);
            match (change.is_up, at) {
                (true, None) => near.push(to),
                (false, Some(at)) => {
                    near.swap_remove(at);
                }
                _ => {}
            }
        }
    }

    /// The hops of a shortest path; none if there is no path.
    fn hops(&mut self, (src, dst): (u32, u32)) -> Option<u32> {
        self.search += 1;
        self.seen[src as usize] = self.search;
        self.edge.clear();
        self.edge.push(src);
        let mut hops = 0;
        while !self.edge.is_empty() {
            if self.seen[dst as usize] == self.search {
                return Some(hops);
            }
            for &node in &self.edge {
                for &other in &self.near[node as usize] {
                    if std::mem::replace(&mut self.seen[other as usize], self.search) != self.search {
                        self.next.push(other);
                    }
                }
            }
            std::mem::swap(&mut self.edge, &mut self.next);
            self.next.clear();
            hops += 1;
        }
        None
    }
}
