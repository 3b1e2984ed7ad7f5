//! Draws of movement in which the shortest path between two nodes keeps its number of hops.
//!
//! Choi and Yoo ("TCP-Aware Source Routing in Mobile Ad Hoc Networks", 2004, IV.A) compare protocols by hop
//! count on scenarios that have "to keep the hop count of end-to-end nodes". Such scenarios are found by a
//! search over draws. **What is found is no random sample**: above all, the ends of a path that keeps its
//! hops are slower than other nodes.
//!
//! A draw is looked at in [`INSTANTS`] instants, those far apart first, and a pair is given up as soon as it
//! misses its hops in more of them than the share allows. What is left is followed exactly ([`hop_times`]),
//! and only that decides. With a share of 1 the instants lose no pair; with a smaller one they may lose a
//! pair that barely reaches it.

use std::collections::BTreeSet;

use crate::kernel::{Span, Time};
use crate::mobility::{Path, Trajectory};

use super::graph::links_at;
use super::rule::Near;
use super::{HopTimes, Query, hop_times};

/// The instants in which a draw is looked at before anything is followed: 2 to the power of [`BITS`].
const INSTANTS: u32 = 1 << BITS;
const BITS: u32 = 7;

/// What a pair's shortest path has to keep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hold {
    /// The number of hops, 1 or more.
    pub hops: u32,
    /// The share of the window in which it has so many at least, above 0 and at most 1.
    pub share: f64,
}

/// A draw in which pairs keep their hops.
#[derive(Clone, PartialEq, Debug)]
pub struct Held {
    /// The draw's number.
    pub draw: u64,
    /// Where its nodes go.
    pub movement: Vec<Trajectory>,
    /// Source and destination of each pair; no two have a node in common.
    pub pairs: Vec<(u32, u32)>,
}

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The distance up to which frames can be received, in m.
    pub range_m: f64,
    /// The beginning and the end of the time looked at.
    pub window: (Time, Time),
}

/// How a search ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Searched {
    /// With the first draw that fits.
    Found(Held),
    /// After all draws.
    NotFound,
    /// Before that, because it was told to.
    Stopped,
}

/// The first of `draws` draws in which as many pairs as there are `units` keep their hops, and these pairs.
/// `draw` makes the movement of a draw from its number, from 0 on. Of two units, uniform on [0, 1), the first
/// chooses among the pairs that are left, and the second says which end is the source; a pair that is chosen
/// takes away all that have a node in common with it, and a draw is given up when none is left. Every draw is
/// looked at for as long as `keep_going` says so.
///
/// # Errors
/// Those of `draw`.
pub fn search<E>(
    draws: u64,
    mut draw: impl FnMut(u64) -> Result<Vec<Trajectory>, E>,
    field: Field,
    hold: Hold,
    units: &[(f64, f64)],
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Searched, E> {
    for number in 0..draws {
        if !keep_going() {
            return Ok(Searched::Stopped);
        }
        let movement = draw(number)?;
        let Some(holding) = pairs_that_hold(&movement, field, hold, units.len(), keep_going) else {
            return Ok(Searched::Stopped);
        };
        if let Some(pairs) = choose(holding, units) {
            return Ok(Searched::Found(Held { draw: number, movement, pairs }));
        }
    }
    Ok(Searched::NotFound)
}

/// All pairs, the smaller number first, whose shortest path keeps its hops; none at all if they are fewer
/// than `wanted`. None if `keep_going` says no.
fn pairs_that_hold(
    movement: &[Trajectory],
    field: Field,
    hold: Hold,
    wanted: usize,
    keep_going: &mut dyn FnMut() -> bool,
) -> Option<Vec<(u32, u32)>> {
    let likely = likely_pairs(movement, field, hold, wanted);
    if likely.len() < wanted {
        return Some(Vec::new());
    }
    let query = Query {
        movement,
        range_m: field.range_m,
        rule: None,
        window: field.window,
        step: Span::from_secs(1.0),
        pairs: &likely,
    };
    let times = hop_times(&query, keep_going)?;
    let share = |times: &HopTimes| {
        times.shares().find(|&(hops, _)| hops == hold.hops).map_or(0.0, |(_, share)| share)
    };
    let holding = likely.iter().zip(&times).filter(|(_, times)| share(times) >= hold.share);
    Some(holding.map(|(&pair, _)| pair).collect())
}

/// The pairs that miss their hops in no more instants than the share allows; fewer than `wanted` as soon as
/// no more can be left.
fn likely_pairs(movement: &[Trajectory], field: Field, hold: Hold, wanted: usize) -> Vec<(u32, u32)> {
    let allowed = ((1.0 - hold.share) * f64::from(INSTANTS)).ceil() as u32;
    let nodes = movement.len() as u32;
    let paths: Vec<Path> = movement.iter().map(Path::new).collect();
    let all = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| ((a, b), 0u32)));
    let mut likely: Vec<((u32, u32), u32)> = all.collect();
    let mut rings = Rings::new(movement.len());
    let (start, end) = field.window;
    for place in 0..INSTANTS {
        if likely.len() < wanted.max(1) {
            break;
        }
        // The bits of the number reversed: each instant is far from those before it.
        let turn = place.reverse_bits() >> (u32::BITS - BITS);
        let after = end.since(start).0 as f64 * (f64::from(turn) + 0.5) / f64::from(INSTANTS);
        let now = start + Span(after as u64);
        rings.join(&links_at(&paths, now, Near::within(field.range_m)));
        let mut of = None;
        likely.retain_mut(|((a, b), misses)| {
            if of != Some(*a) {
                rings.find(*a, hold.hops);
                of = Some(*a);
            }
            *misses += u32::from(!rings.has(*b));
            *misses <= allowed
        });
    }
    likely.into_iter().map(|(pair, _)| pair).collect()
}

/// The nodes at a number of hops from a node, as sets of bits.
struct Rings {
    /// Words of a set.
    words: usize,
    /// The neighbours of each node, a set after the other.
    near: Vec<u64>,
    reached: Vec<u64>,
    ring: Vec<u64>,
    next: Vec<u64>,
}

impl Rings {
    fn new(nodes: usize) -> Rings {
        let words = nodes.div_ceil(64).max(1);
        let set = || vec![0; words];
        Rings { words, near: vec![0; words * nodes], reached: set(), ring: set(), next: set() }
    }

    /// These are the links now.
    fn join(&mut self, links: &[(u32, u32)]) {
        self.near.fill(0);
        for &(a, b) in links {
            for (from, to) in [(a as usize, b), (b as usize, a)] {
                self.near[from * self.words + (to / 64) as usize] |= 1 << (to % 64);
            }
        }
    }

    /// The ring of the nodes that are exactly so many hops away.
    fn find(&mut self, source: u32, hops: u32) {
        self.reached.fill(0);
        self.reached[(source / 64) as usize] = 1 << (source % 64);
        self.ring.copy_from_slice(&self.reached);
        for _ in 0..hops {
            self.next.fill(0);
            for (word, &bits) in self.ring.iter().enumerate() {
                let mut left = bits;
                while left != 0 {
                    let node = word * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let near = &self.near[node * self.words..(node + 1) * self.words];
                    self.next.iter_mut().zip(near).for_each(|(next, near)| *next |= near);
                }
            }
            for (next, reached) in self.next.iter_mut().zip(&mut self.reached) {
                *next &= !*reached;
                *reached |= *next;
            }
            std::mem::swap(&mut self.ring, &mut self.next);
        }
    }

    fn has(&self, node: u32) -> bool {
        self.ring[(node / 64) as usize] >> (node % 64) & 1 == 1
    }
}

/// As many pairs as there are units, none with a node of another; none if no pair is left for one.
fn choose(mut holding: Vec<(u32, u32)>, units: &[(f64, f64)]) -> Option<Vec<(u32, u32)>> {
    let mut chosen = Vec::with_capacity(units.len());
    for &(which, way) in units {
        let &(a, b) = holding.get((which * holding.len() as f64) as usize)?;
        chosen.push(if way < 0.5 { (a, b) } else { (b, a) });
        let taken = BTreeSet::from([a, b]);
        holding.retain(|(a, b)| !taken.contains(a) && !taken.contains(b));
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Streams;
    use crate::mobility::waypoint::{self, Boundary, WaypointError, WaypointParams};

    const WINDOW_S: f64 = 30.0;
    const FIELD: Field =
        Field { range_m: 250.0, window: (Time(10_000_000_000), Time(10_000_000_000 + 30_000_000_000)) };

    fn params(boundary: Boundary) -> WaypointParams {
        WaypointParams { nodes: 70, speed_min: 1.0, speed_max: 4.0, boundary, ..WaypointParams::default() }
    }

    fn drawn(params: &WaypointParams, number: u64) -> Result<Vec<Trajectory>, WaypointError> {
        waypoint::generate(params, Span::from_secs(10.0 + WINDOW_S), &Streams::new(7, 1).of_draw(number))
    }

    fn found(hold: Hold, units: &[(f64, f64)], draws: u64) -> Searched {
        let params = params(Boundary::Classic);
        search(draws, |number| drawn(&params, number), FIELD, hold, units, &mut || true).expect("draws")
    }

    /// Shares of the window that every pair has so many hops, followed exactly, without instants.
    fn shares(movement: &[Trajectory], hops: u32) -> Vec<((u32, u32), f64)> {
        let nodes = movement.len() as u32;
        let pairs: Vec<(u32, u32)> = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b))).collect();
        let step = Span::from_secs(1.0);
        let query = Query { movement, range_m: 250.0, rule: None, window: FIELD.window, step, pairs: &pairs };
        let times = hop_times(&query, &mut || true).expect("nobody stops it");
        let share = |times: &HopTimes| times.shares().find(|each| each.0 == hops).map_or(0.0, |each| each.1);
        pairs.into_iter().zip(times.iter().map(share)).collect()
    }

    #[test]
    fn pairs_that_hold_are_those_that_following_all_pairs_finds() {
        for boundary in [Boundary::Classic, Boundary::Wrap] {
            for number in 0..4 {
                let movement = drawn(&params(boundary), number).expect("a movement");
                for hops in 1..=4 {
                    let plain = shares(&movement, hops);
                    let found = |share| {
                        pairs_that_hold(&movement, FIELD, Hold { hops, share }, 1, &mut || true)
                            .expect("not stopped")
                    };
                    let all: Vec<_> = plain.iter().filter(|each| each.1 >= 1.0).map(|each| each.0).collect();
                    assert_eq!(found(1.0), all, "{boundary:?}, {number}, {hops}");
                    let most = found(0.8);
                    for &(pair, share) in &plain {
                        assert!(share >= 0.8 || !most.contains(&pair));
                        assert!(share <= 0.85 || most.contains(&pair), "{pair:?} has {hops} for {share}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_found_holds_and_is_the_first_that_does() {
        let hold = Hold { hops: 4, share: 1.0 };
        let Searched::Found(held) = found(hold, &[(0.3, 0.7)], 500) else { panic!("nothing is found") };
        let params = params(Boundary::Classic);
        for number in 0..=held.draw {
            let movement = drawn(&params, number).expect("a movement");
            let holding: Vec<_> =
                shares(&movement, 4).into_iter().filter(|each| each.1 >= 1.0).map(|each| each.0).collect();
            assert_eq!(holding.is_empty(), number < held.draw);
            if number == held.draw {
                let (a, b) = holding[(0.3 * holding.len() as f64) as usize];
                assert_eq!((held.pairs, movement), (vec![(b, a)], held.movement.clone()));
                break;
            }
        }
        assert_eq!(found(hold, &[(0.3, 0.7)], 500), found(hold, &[(0.3, 0.7)], 500));
        assert_eq!(found(hold, &[(0.3, 0.7)], held.draw), Searched::NotFound);
    }

    #[test]
    fn pairs_of_several_flows_share_no_node() {
        let units = [(0.1, 0.0), (0.5, 0.9), (0.9, 0.2)];
        let Searched::Found(held) = found(Hold { hops: 2, share: 0.9 }, &units, 100) else {
            panic!("nothing is found")
        };
        let nodes: BTreeSet<u32> = held.pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        assert_eq!(nodes.len(), 6);
        assert_eq!(choose(vec![(1, 2), (2, 3)], &[(0.0, 0.0), (0.0, 0.0)]), None);
    }

    #[test]
    fn a_search_stops_when_it_is_told_to() {
        let mut left = 3;
        let mut keep_going = || {
            left -= 1;
            left > 0
        };
        let hold = Hold { hops: 60, share: 1.0 };
        let params = params(Boundary::Classic);
        let ended =
            search(1000, |number| drawn(&params, number), FIELD, hold, &[(0.0, 0.0)], &mut keep_going);
        assert_eq!(ended, Ok(Searched::Stopped));
    }

    #[test]
    fn rings_of_more_nodes_than_a_word_has_bits_are_complete() {
        let chain: Vec<(u32, u32)> = (0..129).map(|node| (node, node + 1)).collect();
        let mut rings = Rings::new(130);
        rings.join(&chain);
        rings.find(60, 7);
        assert_eq!((0..130).filter(|&node| rings.has(node)).collect::<Vec<_>>(), [53, 67]);
        rings.find(0, 129);
        assert!(rings.has(129) && !rings.has(128));
    }
}
