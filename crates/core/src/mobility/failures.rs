//! Nodes that fail and come back, as times in which they are not there.
//!
//! **Implemented.** A radio that is off: the node neither sends nor hears, as one that has left; its state
//! stays, and its timers run. By list; by area, all nodes that are inside in that instant; by chance: times
//! up and down alternate, each drawn from an exponential distribution or always as long, from a stream of the
//! node's own, and begin as they are after a long time. A crash: the same, and the node has forgotten
//! everything when it comes back.

use serde::Deserialize;

use super::{Path, Point, Presence, Trajectory};
use crate::kernel::{Purpose, Stream, Streams, Time};

/// Most times in which nodes are down by chance, over all of them.
const MOST_FAILURES: f64 = 1e6;

/// When nodes fail, times in s; exactly one of `node`, `area` and `up_mean_s` is given.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Failure {
    /// This node, at `at_s`.
    pub node: Option<u32>,
    /// All nodes within this polygon, at `at_s`: its corners, in m.
    pub area: Option<Vec<[f64; 2]>>,
    /// When.
    pub at_s: f64,
    /// For how long; none: for good.
    pub for_s: Option<f64>,
    /// By chance: the mean time for which a node is up.
    pub up_mean_s: Option<f64>,
    /// By chance: the mean time for which it is down.
    pub down_mean_s: f64,
    /// By chance: which nodes; none: all.
    pub nodes: Option<Vec<u32>>,
    /// By chance: is every time as long as the mean?
    pub fixed: bool,
    /// Does the node forget everything?
    pub crash: bool,
}

/// Why nodes cannot fail like this.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FailureError {
    /// There is no such node.
    #[error("failures[{0}]: there is no node {1}")]
    Node(usize, u32),
    /// Chance would let them fail too often.
    #[error("failures[{0}]: nodes would fail more than {MOST_FAILURES:e} times")]
    TooMany(usize),
}

/// From when to when a node is down.
type Down = (Time, Time);

/// Where nodes go that fail like this, in a run until `end`.
///
/// # Errors
/// See [`FailureError`].
pub fn with_failures(
    movement: &[Trajectory],
    failures: &[Failure],
    streams: &Streams,
    end: Time,
) -> Result<Vec<Trajectory>, FailureError> {
    let mut down: Vec<Vec<Down>> = vec![Vec::new(); movement.len()];
    let mut crashes: Vec<Vec<Time>> = movement.iter().map(|node| node.crashes.clone()).collect();
    let mut draws: Vec<Stream> =
        (0..movement.len() as u32).map(|node| streams.stream(node, Purpose::Failures)).collect();
    for (index, failure) in failures.iter().enumerate() {
        let named = failure.node.iter().chain(failure.nodes.iter().flatten());
        if let Some(&none) = named.clone().find(|&&node| node as usize >= movement.len()) {
            return Err(FailureError::Node(index, none));
        }
        if let Some(up_mean_s) = failure.up_mean_s {
            let cycle_s = up_mean_s + failure.down_mean_s;
            if end.as_secs() / cycle_s * movement.len() as f64 > MOST_FAILURES {
                return Err(FailureError::TooMany(index));
            }
        }
        for (node, trajectory) in movement.iter().enumerate() {
            let before = down[node].len();
            match failure.up_mean_s {
                None if is_hit(failure, node as u32, trajectory) => down[node].push(listed(failure)),
                Some(up_mean_s) if takes_part(failure, node as u32) => {
                    by_chance(failure, up_mean_s, &mut draws[node], end, &mut down[node]);
                }
                _ => {}
            }
            if failure.crash {
                crashes[node].extend(down[node][before..].iter().map(|&(from, _)| from));
            }
        }
    }
    crashes.iter_mut().for_each(|crashes| crashes.sort_unstable());
    let failed = movement.iter().zip(down).zip(crashes).map(|((trajectory, down), crashes)| Trajectory {
        present: without(&trajectory.present, down),
        crashes,
        ..trajectory.clone()
    });
    Ok(failed.collect())
}

fn listed(failure: &Failure) -> Down {
    let at = Time::from_secs(failure.at_s);
    (at, failure.for_s.map_or(Time::NEVER, |for_s| Time::from_secs(failure.at_s + for_s)))
}

/// Is it this node that fails, or is it in the area then?
fn is_hit(failure: &Failure, node: u32, trajectory: &Trajectory) -> bool {
    match &failure.area {
        None => failure.node == Some(node),
        Some(area) => is_inside(area, Path::new(trajectory).position(Time::from_secs(failure.at_s))),
    }
}

fn takes_part(failure: &Failure, node: u32) -> bool {
    failure.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node))
}

/// Times up and down alternate from the start of the run on, as if they had for a long time.
fn by_chance(failure: &Failure, up_mean_s: f64, draws: &mut Stream, end: Time, down: &mut Vec<Down>) {
    let means_s = [up_mean_s, failure.down_mean_s];
    let cycle_s = means_s[0] + means_s[1];
    let lasts_s = |is_down: bool, draws: &mut Stream| {
        let mean_s = means_s[usize::from(is_down)];
        if failure.fixed { mean_s } else { -mean_s * libm::log1p(-draws.unit()) }
    };
    // Where in a cycle the run begins; what is left of an exponential time is as long as a whole one.
    let phase_s = draws.unit() * cycle_s;
    let mut is_down = phase_s >= up_mean_s;
    let left_s = if is_down { cycle_s - phase_s } else { up_mean_s - phase_s };
    let mut now_s = if failure.fixed { left_s } else { lasts_s(is_down, draws) };
    let mut since_s = 0.0;
    loop {
        if is_down {
            down.push((Time::from_secs(since_s), Time::from_secs(now_s)));
        }
        if now_s >= end.as_secs() {
            return;
        }
        (since_s, is_down) = (now_s, !is_down);
        now_s += lasts_s(is_down, draws);
    }
}

/// When a node is there that is down in between; no times at all are always.
fn without(present: &[Presence], mut down: Vec<Down>) -> Vec<Presence> {
    down.retain(|(from, until)| from < until);
    if down.is_empty() {
        return present.to_vec();
    }
    down.sort_unstable();
    let always = [Presence { from: Time::ZERO, until: Time::NEVER }];
    let mut left = Vec::new();
    for &Presence { from, until } in if present.is_empty() { &always } else { present } {
        let mut up_from = from;
        for &(fails, returns) in down.iter().filter(|(fails, returns)| *fails < until && *returns > from) {
            if up_from < fails {
                left.push(Presence { from: up_from, until: fails });
            }
            up_from = up_from.max(returns);
        }
        if up_from < until {
            left.push(Presence { from: up_from, until });
        }
    }
    if left.is_empty() {
        // Never: no time would be always.
        left.push(Presence { from: Time(Time::NEVER.0 - 1), until: Time::NEVER });
    }
    left
}

/// Is the place inside a polygon: is its edge crossed an odd number of times on the way to the east?
pub fn is_inside(corners: &[[f64; 2]], place: Point) -> bool {
    let mut inside = false;
    for (at, &[x, y]) in corners.iter().enumerate() {
        let [before_x, before_y] = corners[(at + corners.len() - 1) % corners.len()];
        if (y > place.y) != (before_y > place.y)
            && place.x < (before_x - x) * (place.y - y) / (before_y - y) + x
        {
            inside = !inside;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::Command;
    use proptest::prelude::*;

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn there(from_s: f64, until_s: f64) -> Presence {
        Presence { from: secs(from_s), until: secs(until_s) }
    }

    fn present(movement: &[Trajectory], failures: &[Failure]) -> Vec<Vec<Presence>> {
        let failed =
            with_failures(movement, failures, &Streams::new(1, 0), secs(100.0)).expect("they can fail");
        failed.into_iter().map(|trajectory| trajectory.present).collect()
    }

    fn of_node(node: u32, at_s: f64, for_s: Option<f64>) -> Failure {
        Failure { node: Some(node), at_s, for_s, ..Failure::default() }
    }

    #[test]
    fn a_node_that_fails_is_there_before_and_after() {
        let nodes = [Trajectory::fixed(0.0, 0.0), Trajectory::fixed(9.0, 0.0)];
        let found = present(&nodes, &[of_node(1, 30.0, Some(5.0)), of_node(1, 60.0, None)]);
        let until = Time::NEVER;
        assert_eq!(found, [vec![], vec![there(0.0, 30.0), Presence { from: secs(35.0), until: secs(60.0) }]]);
        // Overlapping failures are one; a node that is down from the first to the last is never there.
        let found = present(&nodes, &[of_node(0, 10.0, Some(5.0)), of_node(0, 12.0, Some(9.0))]);
        assert_eq!(found[0], [there(0.0, 10.0), Presence { from: secs(21.0), until }]);
        let found = present(&nodes, &[of_node(0, 0.0, None)]);
        assert!(found[0].iter().all(|presence| presence.from > secs(1e6)));
        assert_eq!(
            with_failures(&nodes, &[of_node(2, 0.0, None)], &Streams::new(1, 0), secs(1.0)),
            Err(FailureError::Node(0, 2))
        );
    }

    #[test]
    fn a_node_that_joins_and_leaves_fails_only_while_it_is_there() {
        let mut node = Trajectory::fixed(0.0, 0.0);
        node.present = vec![there(10.0, 20.0), there(40.0, 50.0)];
        let found = present(&[node], &[of_node(0, 15.0, Some(30.0))]);
        assert_eq!(found[0], [there(10.0, 15.0), there(45.0, 50.0)]);
    }

    #[test]
    fn an_area_fails_with_all_who_are_in_it_then() {
        let to = Point { x: 100.0, y: 5.0 };
        let walks = vec![Command::GoTo { at: Time::ZERO, to, speed: 10.0 }];
        let nodes = [
            Trajectory::fixed(5.0, 5.0),
            Trajectory::new(Point { x: 0.0, y: 5.0 }, walks),
            Trajectory::fixed(20.0, 5.0),
        ];
        let area = Some(vec![[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]]);
        let failure = |at_s| Failure { area: area.clone(), at_s, for_s: Some(1.0), ..Failure::default() };
        let fails = |at_s| -> Vec<bool> {
            present(&nodes, &[failure(at_s)]).iter().map(|presences| !presences.is_empty()).collect()
        };
        assert_eq!(fails(0.5), [true, true, false]);
        assert_eq!(fails(5.0), [true, false, false]);
    }

    /// Nodes are there for the share up / (up + down) of the time, in the first instant as well.
    #[test]
    fn availability_is_that_of_an_alternating_renewal_process() {
        let nodes: Vec<Trajectory> = (0..4000).map(|node| Trajectory::fixed(f64::from(node), 0.0)).collect();
        for fixed in [false, true] {
            let failure = Failure { up_mean_s: Some(30.0), down_mean_s: 10.0, fixed, ..Failure::default() };
            let failed =
                with_failures(&nodes, &[failure], &Streams::new(7, 0), secs(100.0)).expect("they can fail");
            let paths: Vec<Path> = failed.iter().map(Path::new).collect();
            for at_s in [0.0, 50.0, 99.0] {
                let up = paths.iter().filter(|path| path.is_present(secs(at_s))).count();
                let share = up as f64 / 4000.0;
                // Three standard errors.
                assert!((share - 0.75).abs() < 0.021, "{fixed} {at_s}: {share}");
            }
        }
    }

    #[test]
    fn chance_spares_those_who_take_no_part_and_has_a_bound() {
        let nodes = [Trajectory::fixed(0.0, 0.0), Trajectory::fixed(9.0, 0.0)];
        let failure =
            Failure { up_mean_s: Some(5.0), down_mean_s: 5.0, nodes: Some(vec![1]), ..Failure::default() };
        let found = present(&nodes, std::slice::from_ref(&failure));
        assert!(found[0].is_empty() && found[1].len() > 3);
        let often = Failure { up_mean_s: Some(1e-6), down_mean_s: 1e-6, ..failure };
        let told = with_failures(&nodes, &[often], &Streams::new(1, 0), secs(100.0));
        assert_eq!(told, Err(FailureError::TooMany(0)));
    }

    proptest! {
        /// A node is there where it was, and is not down.
        #[test]
        fn presence_is_what_was_there_less_what_is_down(
            cuts in prop::collection::btree_set(0u64..100, 0..8),
            downs in prop::collection::vec((0u64..100, 1u64..40), 0..6),
        ) {
            let cuts: Vec<u64> = cuts.into_iter().collect();
            let was: Vec<Presence> =
                cuts.chunks_exact(2).map(|pair| Presence { from: Time(pair[0]), until: Time(pair[1]) }).collect();
            let down: Vec<Down> = downs.iter().map(|&(from, long)| (Time(from), Time(from + long))).collect();
            let left = without(&was, down.clone());
            for at in 0..140 {
                let now = Time(at);
                let was_there = was.is_empty() || was.iter().any(|presence| presence.covers(now));
                let is_down = down.iter().any(|&(from, until)| from <= now && now < until);
                let is_there = left.is_empty() || left.iter().any(|presence| presence.covers(now));
                prop_assert_eq!(is_there, was_there && !is_down, "at {}", at);
            }
            for pair in left.windows(2) {
                prop_assert!(pair[0].until <= pair[1].from);
            }
        }
    }
}
