//! Movement as tracks: where a node was seen and when, as receivers of satellite signals, traffic simulators
//! and logs of drones write it.
//!
//! Between two samples a node goes straight on at constant speed. Before the first it is where it is first
//! seen, after the last where it is last seen. While it is absent it does not travel: it comes back where it
//! is seen next. Nor does it travel faster than [`FASTEST_MPS`]: it is suddenly where it is seen next.

use super::{Command, FASTEST_MPS, Point, Trajectory};
use crate::kernel::Time;

/// Where a node is seen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Where, in m.
    pub place: Point,
    /// At which height, in m.
    pub z_m: f64,
}

/// The height of a node at a time; between two of them it changes evenly.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Height {
    /// When.
    pub at: Time,
    /// The height, in m.
    pub z_m: f64,
}

/// A time in which a node is there: it joins and leaves. It neither sends nor hears at other times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Presence {
    /// The first instant.
    pub from: Time,
    /// The first instant after it.
    pub until: Time,
}

impl Presence {
    /// Is this instant within it?
    pub fn covers(self, now: Time) -> bool {
        self.from <= now && now < self.until
    }
}

/// What is known of one node's way.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Track {
    /// The name of the node, as its user has it.
    pub label: String,
    /// Where it is seen, in order of time, once at a time; one sample at least.
    pub samples: Vec<Sample>,
    /// Are the heights of the samples known?
    pub has_heights: bool,
    /// When the node is there, in order, apart from each other; empty: always.
    pub present: Vec<Presence>,
}

/// Why a track is none.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("node {label}: {fault}")]
pub struct TrackError {
    /// The node's name.
    pub label: String,
    /// What is wrong.
    pub fault: TrackFault,
}

/// What can be wrong with a track; samples and presences are named by their indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TrackFault {
    /// It has no samples.
    #[error("it is never seen")]
    Empty,
    /// A sample is not later than the one before.
    #[error("sample {0} is not later than the sample before")]
    Order(usize),
    /// A coordinate is not a finite number.
    #[error("sample {0} has a coordinate that is not a finite number")]
    NotFinite(usize),
    /// A presence is empty, or begins before the one before it has ended.
    #[error("presence {0} is empty, or begins before the presence before it has ended")]
    Presence(usize),
}

impl Track {
    /// The way that follows from it.
    ///
    /// # Errors
    /// Samples or presences are not as the fields say.
    pub fn trajectory(self) -> Result<Trajectory, TrackError> {
        if let Some(fault) = self.fault() {
            return Err(TrackError { label: self.label, fault });
        }
        let commands = self.samples.windows(2).filter_map(|pair| self.command(pair[0], pair[1])).collect();
        let heights = self.samples.iter().map(|&Sample { at, z_m, .. }| Height { at, z_m });
        let heights = if self.has_heights { heights.collect() } else { Vec::new() };
        let start = self.samples[0].place;
        Ok(Trajectory {
            start,
            commands,
            label: Some(self.label),
            heights,
            present: self.present,
            crashes: Vec::new(),
        })
    }

    fn fault(&self) -> Option<TrackFault> {
        if self.samples.is_empty() {
            return Some(TrackFault::Empty);
        }
        for (index, sample) in self.samples.iter().enumerate() {
            if ![sample.place.x, sample.place.y, sample.z_m].iter().all(|value| value.is_finite()) {
                return Some(TrackFault::NotFinite(index));
            }
            if index > 0 && self.samples[index - 1].at >= sample.at {
                return Some(TrackFault::Order(index));
            }
        }
        let overlaps = |index: &usize| {
            let Presence { from, until } = self.present[*index];
            from >= until || (*index > 0 && self.present[index - 1].until > from)
        };
        (0..self.present.len()).find(overlaps).map(TrackFault::Presence)
    }

    /// What takes the node from one sample to the next; nothing where it stays.
    fn command(&self, from: Sample, to: Sample) -> Option<Command> {
        if from.place == to.place {
            return None;
        }
        if let Some(at) = self.return_within(from.at, to.at) {
            return Some(Command::Jump { at, to: to.place });
        }
        let speed = from.place.distance(to.place) / to.at.since(from.at).as_secs();
        if speed > FASTEST_MPS {
            return Some(Command::Jump { at: to.at, to: to.place });
        }
        Some(Command::GoTo { at: from.at, to: to.place, speed })
    }

    /// When the node is there again if it is absent at some time between these two.
    fn return_within(&self, from: Time, to: Time) -> Option<Time> {
        if self.present.is_empty() {
            return None;
        }
        let next = self.present.partition_point(|presence| presence.until <= from);
        match self.present.get(next) {
            Some(presence) if presence.covers(from) && to <= presence.until => None,
            Some(presence) if presence.covers(from) => {
                Some(self.present.get(next + 1).map_or(to, |later| later.from.min(to)))
            }
            Some(presence) => Some(presence.from.clamp(from, to)),
            None => Some(to),
        }
    }
}

/// Is some node ever higher than another, or than at another time? The heights are those of each node.
pub fn heights_differ<'a>(mut nodes: impl Iterator<Item = &'a [Height]>) -> bool {
    // A node whose height nobody knows is on the ground.
    let z_m = |heights: &[Height]| heights.first().map_or(0.0, |height| height.z_m);
    let Some(first) = nodes.next() else { return false };
    let level = z_m(first);
    let differs = |heights: &[Height]| {
        heights.is_empty() && level.abs() > 0.0
            || heights.iter().any(|height| (height.z_m - level).abs() > 0.0)
    };
    differs(first) || nodes.any(differs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "heights that were put in come out as they are")]

    use super::*;
    use crate::mobility::Path;
    use proptest::prelude::*;

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn sample(at_s: f64, x: f64, y: f64, z_m: f64) -> Sample {
        Sample { at: secs(at_s), place: Point { x, y }, z_m }
    }

    fn there(from_s: f64, until_s: f64) -> Presence {
        Presence { from: secs(from_s), until: secs(until_s) }
    }

    fn track(samples: Vec<Sample>, present: Vec<Presence>) -> Track {
        Track { label: "car".to_owned(), samples, has_heights: true, present }
    }

    fn path(track: Track) -> Path {
        Path::new(&track.trajectory().expect("a track"))
    }

    #[test]
    fn a_node_goes_straight_between_samples_and_stands_outside_them() {
        let path = path(track(vec![sample(10.0, 0.0, 0.0, 2.0), sample(20.0, 30.0, 40.0, 12.0)], Vec::new()));
        for (at_s, x, z_m) in [(0.0, 0.0, 2.0), (15.0, 15.0, 7.0), (20.0, 30.0, 12.0), (99.0, 30.0, 12.0)] {
            assert!((path.position(secs(at_s)).x - x).abs() < 1e-9, "{at_s}");
            assert!((path.height(secs(at_s)) - z_m).abs() < 1e-9, "{at_s}");
            assert!(path.is_present(secs(at_s)));
        }
    }

    #[test]
    fn a_node_does_not_travel_while_it_is_absent() {
        let samples =
            vec![sample(0.0, 0.0, 0.0, 0.0), sample(10.0, 100.0, 0.0, 0.0), sample(50.0, 900.0, 0.0, 0.0)];
        let path = path(track(samples, vec![there(0.0, 11.0), there(40.0, 51.0)]));
        let xs = [10.5, 30.0, 40.0, 60.0].map(|at_s| path.position(secs(at_s)).x.round());
        assert_eq!(xs, [100.0, 100.0, 900.0, 900.0]);
        assert_eq!(path.top_speed(secs(99.0)), 10.0);
        let is_there = [0.0, 10.9, 11.0, 39.9, 40.0, 51.0].map(|at_s| path.is_present(secs(at_s)));
        assert_eq!(is_there, [true, true, false, false, true, false]);
    }

    /// Times of two receivers that differ by a little make great speeds.
    #[test]
    fn a_node_that_would_be_too_fast_is_suddenly_elsewhere() {
        let samples =
            vec![sample(0.0, 0.0, 0.0, 0.0), sample(1.0, 2e5, 0.0, 0.0), sample(5.0, 6e5, 0.0, 0.0)];
        let path = path(track(samples, Vec::new()));
        let xs = [0.999, 1.0, 3.0, 5.0].map(|at_s| path.position(secs(at_s)).x);
        assert_eq!(xs, [0.0, 2e5, 4e5, 6e5]);
        assert_eq!(path.top_speed(secs(9.0)), FASTEST_MPS);
    }

    #[test]
    fn what_is_no_track_is_refused_with_the_index() {
        let fault = |track: Track| track.trajectory().expect_err("no track").fault;
        assert_eq!(fault(track(Vec::new(), Vec::new())), TrackFault::Empty);
        let twice = vec![sample(1.0, 0.0, 0.0, 0.0), sample(1.0, 0.0, 0.0, 0.0)];
        assert_eq!(fault(track(twice, Vec::new())), TrackFault::Order(1));
        assert_eq!(fault(track(vec![sample(1.0, f64::NAN, 0.0, 0.0)], Vec::new())), TrackFault::NotFinite(0));
        let once = || vec![sample(1.0, 0.0, 0.0, 0.0)];
        assert_eq!(fault(track(once(), vec![there(1.0, 1.0)])), TrackFault::Presence(0));
        assert_eq!(fault(track(once(), vec![there(1.0, 3.0), there(2.0, 4.0)])), TrackFault::Presence(1));
    }

    #[test]
    fn heights_differ_between_nodes_or_over_time() {
        let at =
            |z_m: f64| track(vec![sample(0.0, 0.0, 0.0, z_m)], Vec::new()).trajectory().expect("a track");
        let differ = |nodes: &[Trajectory]| heights_differ(nodes.iter().map(|node| &node.heights[..]));
        assert!(!differ(&[at(3.0), at(3.0)]));
        assert!(differ(&[at(3.0), at(4.0)]));
        assert!(differ(&[at(3.0), Trajectory::fixed(0.0, 0.0)]));
        assert!(differ(&[Trajectory::fixed(0.0, 0.0), at(3.0)]));
        assert!(!differ(&[at(0.0), Trajectory::fixed(0.0, 0.0)]));
    }

    proptest! {
        #[test]
        fn nodes_are_where_they_are_seen(
            steps in prop::collection::vec((1u64..5_000_000_000, -1e4f64..1e4, -1e4f64..1e4), 1..20)
        ) {
            let mut at = Time::ZERO;
            let samples: Vec<Sample> = steps
                .iter()
                .map(|&(after, x, y)| {
                    at.0 += after;
                    Sample { at, place: Point { x, y }, z_m: x }
                })
                .collect();
            let path = path(track(samples.clone(), Vec::new()));
            for sample in samples {
                let here = path.position(sample.at);
                // What is covered in a nanosecond at the greatest of these speeds, and rounding.
                let slack = 1e-6 + 1.5e-9 * path.top_speed(Time::NEVER);
                prop_assert!(here.distance(sample.place) <= slack, "{here:?} {sample:?}");
                prop_assert!((path.height(sample.at) - sample.z_m).abs() < 1e-9);
            }
        }
    }
}
