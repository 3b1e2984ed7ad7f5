//! How evenly the data of a transfer arrive: unsmoothness (Osipov and Tschudin 2006, §IV.C.1, equation 4).
//!
//! Ideal progress is a straight line from nothing at the transfer's start to all that arrived at its end. The
//! deviation from it is greatest at an arrival, or just before one, and the line is known only at the end. Of
//! the arrivals so far, no others than those on the convex hull can be farthest from a line yet to come, and
//! no others are kept.

use serde::Serialize;

use crate::kernel::{Span, Time};

/// Seconds since the start, and payload bytes in order so far.
type Point = (f64, f64);

/// The progress of one transfer.
#[derive(Clone, Debug)]
pub struct Progress {
    start: Time,
    allowed: Span,
    bytes: u64,
    /// After arrivals: the upper hull, from left to right.
    after: Vec<Point>,
    /// Before arrivals: the lower hull, from left to right.
    before: Vec<Point>,
}

/// What is measured of the progress of one flow, over the whole run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct ProgressMeasures {
    /// Greatest deviation from even progress, over that of the allowed pause; none if nothing arrived.
    pub unsmoothness: Option<f64>,
}

/// What is measured of the progress of all flows.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct ProgressTotals {
    /// That of the flow with the greatest; none if nothing of some flow arrived.
    pub tcp_unsmoothness_max: Option<f64>,
}

impl ProgressTotals {
    /// The totals of these flows; none if nothing was measured.
    pub fn of(flows: impl Iterator<Item = ProgressMeasures>) -> Option<ProgressTotals> {
        flows
            .map(|flow| flow.unsmoothness)
            .reduce(|worst, each| worst.zip(each).map(|(worst, each)| worst.max(each)))
            .map(|tcp_unsmoothness_max| ProgressTotals { tcp_unsmoothness_max })
    }
}

impl Progress {
    /// A transfer that begins at `start` and may pause for `allowed`.
    pub fn new(start: Time, allowed: Span) -> Progress {
        Progress { start, allowed, bytes: 0, after: Vec::new(), before: Vec::new() }
    }

    /// From `now` on, so many `bytes` have arrived in order, more than before. Calls come in order of time.
    pub fn arrived(&mut self, now: Time, bytes: u64) {
        let at_s = now.since(self.start).as_secs();
        add(&mut self.before, (at_s, self.bytes as f64), 1.0);
        add(&mut self.after, (at_s, bytes as f64), -1.0);
        self.bytes = bytes;
    }

    /// What is measured of a transfer that ends at `end`.
    pub fn measures(&self, end: Time) -> ProgressMeasures {
        if self.bytes == 0 || end <= self.start {
            return ProgressMeasures::default();
        }
        let bytes_per_s = self.bytes as f64 / end.since(self.start).as_secs();
        let deviation = |&(at_s, bytes): &Point| (bytes - bytes_per_s * at_s).abs();
        let greatest = self.after.iter().chain(&self.before).map(deviation).fold(0.0, f64::max);
        ProgressMeasures { unsmoothness: Some(greatest / (bytes_per_s * self.allowed.as_secs())) }
    }
}

/// Adds a point at the right of a lower hull, or with `side` -1 of an upper one.
fn add(hull: &mut Vec<Point>, point: Point, side: f64) {
    while let [.., (x0, y0), (x1, y1)] = hull[..]
        && side * ((x1 - x0) * (point.1 - y0) - (y1 - y0) * (point.0 - x0)) <= 0.0
    {
        hull.pop();
    }
    hull.push(point);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// Unsmoothness of arrivals (time, bytes so far) of a transfer from 10 s to 110 s, of which a pause of
    /// 3 s is allowed.
    fn unsmoothness(arrivals: &[(f64, u64)]) -> Option<f64> {
        let mut progress = Progress::new(at(10.0), Span::from_secs(3.0));
        for &(time_s, bytes) in arrivals {
            progress.arrived(at(time_s), bytes);
        }
        progress.measures(at(110.0)).unsmoothness
    }

    /// A packet of ten bytes each 0.1 s, but for those after `pause_s`, which come together 3 s later.
    fn pausing(pause_s: f64) -> Vec<(f64, u64)> {
        let mut packets: Vec<(f64, u64)> = (1..=1000)
            .map(|number| (10.0 + 0.1 * f64::from(number), 10 * u64::from(number as u32)))
            .collect();
        packets.retain(|&(time_s, _)| time_s <= pause_s || time_s >= pause_s + 2.999);
        packets
    }

    #[test]
    fn a_pause_of_three_seconds_has_unsmoothness_one() {
        // Claim O-19: within 0.05, which is half a packet's time of three seconds.
        for pause_s in [10.0, 42.0, 100.0] {
            let found = unsmoothness(&pausing(pause_s)).expect("packets arrived");
            assert!((found - 1.0).abs() < 0.05, "a pause at {pause_s} s: {found}");
        }
    }

    #[test]
    fn even_progress_deviates_by_one_packet_and_a_burst_by_all() {
        let even: Vec<(f64, u64)> = pausing(200.0);
        assert!((unsmoothness(&even).expect("packets arrived") - 0.1 / 3.0).abs() < 1e-9);
        // All at once in the beginning, in the middle, and at the end.
        for (time_s, far_s) in [(10.0, 100.0), (60.0, 50.0), (110.0, 100.0)] {
            let found = unsmoothness(&[(time_s, 5000)]).expect("packets arrived");
            assert!((found - far_s / 3.0).abs() < 1e-9, "{time_s}: {found}");
        }
    }

    #[test]
    fn nothing_that_arrived_has_no_unsmoothness() {
        assert_eq!(unsmoothness(&[]), None);
        let early = Progress::new(at(10.0), Span::from_secs(3.0));
        assert_eq!(early.measures(at(5.0)).unsmoothness, None);
    }

    #[test]
    fn the_worst_flow_counts_and_one_without_data_leaves_none() {
        let flow = |unsmoothness| ProgressMeasures { unsmoothness };
        let worst = |flows: &[Option<f64>]| {
            ProgressTotals::of(flows.iter().copied().map(flow)).map(|totals| totals.tcp_unsmoothness_max)
        };
        assert_eq!(worst(&[]), None);
        assert_eq!(worst(&[Some(0.5), Some(2.0), Some(1.0)]), Some(Some(2.0)));
        assert_eq!(worst(&[Some(0.5), None, Some(1.0)]), Some(None));
    }

    proptest! {
        #[test]
        fn the_hulls_lose_nothing(
            gaps in prop::collection::vec((0u32..3000, 1u64..3000), 1..200)
        ) {
            let (mut time_s, mut bytes) = (10.0, 0);
            let mut arrivals = Vec::new();
            for (gap_ms, more) in gaps {
                time_s = (time_s + f64::from(gap_ms) / 1000.0).min(110.0);
                bytes += more;
                arrivals.push((time_s, bytes));
            }
            let slope = bytes as f64 / 100.0;
            let mut before = 0.0;
            let mut greatest: f64 = 0.0;
            for &(time_s, bytes) in &arrivals {
                let ideal = slope * (time_s - 10.0);
                greatest = greatest.max((bytes as f64 - ideal).abs()).max((before - ideal).abs());
                before = bytes as f64;
            }
            let found = unsmoothness(&arrivals).expect("packets arrived");
            prop_assert!((found - greatest / (3.0 * slope)).abs() < 1e-9 * found.max(1.0));
        }
    }
}
