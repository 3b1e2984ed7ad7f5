//! What comes in time: the share of datagrams that arrive within a deadline, and how much their delays vary.
//! Measured of flows that have a deadline.

use serde::Serialize;

use super::statistics::{mean, percentile, ratio};

/// What RFC 3550 divides by (§6.4.1).
const JITTER_GAIN: f64 = 1.0 / 16.0;
/// The upper ends of a histogram's classes, in s; what took longer is in one more.
const CLASSES_S: [f64; 13] = [1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// What a flow made in the window of what arrives for itself, CBR packets or messages, and how long those
/// took that arrived.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Delays {
    /// How many were made.
    pub made: u64,
    /// The delays of those that arrived, in s, in the order of arrival.
    pub arrived_s: Vec<f64>,
}

/// Measures of a flow that has a deadline.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct TimelinessMeasures {
    /// Those that arrived no later than the deadline over all that were made; none if none was made.
    pub in_time_fraction: Option<f64>,
    /// Mean of the interarrival jitter of RFC 3550 over the arrivals, s; none before two have come.
    pub jitter_s: Option<f64>,
    /// The 95th percentile of the delay less its 5th, s; none if nothing arrived.
    pub delay_spread_s: Option<f64>,
}

/// The same over all flows that have a deadline.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct TimelinessTotals {
    /// What arrived no later than its flow's deadline over all that was made; none if nothing was.
    pub datagram_in_time_fraction: Option<f64>,
    /// Mean of the flows' jitters, s.
    pub datagram_jitter_mean_s: Option<f64>,
    /// Mean of the flows' spreads, s.
    pub datagram_delay_spread_mean_s: Option<f64>,
}

/// How long the datagrams of a flow took: how many took up to each of the ends, and longer than the one
/// before.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DelayHistogram {
    /// The flow's number in the scenario.
    pub flow: u32,
    /// The upper ends of the classes, s; the last class has none.
    pub up_to_s: Vec<f64>,
    /// How many are in each class, one more than there are ends.
    pub counts: Vec<u64>,
    /// How many of those made did not arrive.
    pub lost: u64,
}

/// A flow with a deadline: what it sent, the deadline in s, and its measures.
pub type Timely = (Delays, f64, TimelinessMeasures);

impl Delays {
    /// The measures with this deadline, in s.
    pub fn measures(&self, deadline_s: f64) -> TimelinessMeasures {
        let mut sorted = self.arrived_s.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let ends = percentile(&sorted, 0.05).zip(percentile(&sorted, 0.95));
        TimelinessMeasures {
            in_time_fraction: ratio(self.in_time(deadline_s), self.made),
            jitter_s: mean(&jitters_s(&self.arrived_s)),
            delay_spread_s: ends.map(|(low, high)| high - low),
        }
    }

    /// How many arrived no later than the deadline.
    fn in_time(&self, deadline_s: f64) -> u64 {
        self.arrived_s.iter().filter(|&&delay_s| delay_s <= deadline_s).count() as u64
    }

    /// The histogram of flow number `flow`.
    pub fn histogram(&self, flow: u32) -> DelayHistogram {
        let mut counts = vec![0; CLASSES_S.len() + 1];
        for delay_s in &self.arrived_s {
            counts[CLASSES_S.partition_point(|end_s| end_s < delay_s)] += 1;
        }
        let lost = self.made - self.arrived_s.len() as u64;
        DelayHistogram { flow, up_to_s: CLASSES_S.to_vec(), counts, lost }
    }
}

impl TimelinessTotals {
    /// Of the flows that have a deadline; none if none has.
    pub fn of(flows: &[&Timely]) -> Option<TimelinessTotals> {
        if flows.is_empty() {
            return None;
        }
        let made = flows.iter().map(|(delays, ..)| delays.made).sum();
        let in_time = flows.iter().map(|(delays, deadline_s, _)| delays.in_time(*deadline_s)).sum();
        let values = |of: fn(&TimelinessMeasures) -> Option<f64>| -> Vec<f64> {
            flows.iter().filter_map(|(.., measures)| of(measures)).collect()
        };
        Some(TimelinessTotals {
            datagram_in_time_fraction: ratio(in_time, made),
            datagram_jitter_mean_s: mean(&values(|flow| flow.jitter_s)),
            datagram_delay_spread_mean_s: mean(&values(|flow| flow.delay_spread_s)),
        })
    }
}

/// The estimates `J` after each arrival but the first: `J += (|D| − J) / 16`, where `D` is how much longer
/// than the one before this one took (RFC 3550 §6.4.1).
fn jitters_s(delays_s: &[f64]) -> Vec<f64> {
    let mut jitter_s = 0.0;
    let pairs = delays_s.windows(2);
    pairs
        .map(|pair| {
            jitter_s += ((pair[1] - pair[0]).abs() - jitter_s) * JITTER_GAIN;
            jitter_s
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(made: u64, arrived_s: &[f64]) -> Delays {
        Delays { made, arrived_s: arrived_s.to_vec() }
    }

    #[test]
    fn what_comes_at_the_deadline_is_in_time_and_what_is_lost_is_not() {
        let found = delays(5, &[0.1, 0.2, 0.3]).measures(0.2);
        assert_eq!(found.in_time_fraction, Some(0.4));
        assert_eq!(delays(2, &[]).measures(1.0).in_time_fraction, Some(0.0));
        assert_eq!(delays(0, &[]).measures(1.0), TimelinessMeasures::default());
    }

    #[test]
    fn jitter_is_that_of_rfc_3550() {
        // |D| is 16 ms, then 0: J is 1 ms, then 1 − 1/16 ms.
        let found = delays(3, &[0.010, 0.026, 0.026]).measures(1.0).jitter_s.expect("two pairs");
        assert!((found - 0.5 * (0.001 + 0.0009375)).abs() < 1e-12, "{found}");
        assert_eq!(delays(1, &[0.010]).measures(1.0).jitter_s, None);
    }

    #[test]
    fn the_spread_is_between_percentiles() {
        let all: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(delays(101, &all).measures(1.0).delay_spread_s, Some(90.0));
    }

    #[test]
    fn totals_weigh_what_is_made_and_each_flow_has_its_own_deadline() {
        let (a, b) = (delays(3, &[0.1, 0.1, 0.1]), delays(1, &[0.1]));
        let (of_a, of_b) = (a.measures(0.05), b.measures(0.2));
        let (of_a, of_b) = ((a, 0.05, of_a), (b, 0.2, of_b));
        let found = TimelinessTotals::of(&[&of_a, &of_b]).expect("there are flows");
        assert_eq!(found.datagram_in_time_fraction, Some(0.25));
        assert_eq!(found.datagram_jitter_mean_s, Some(0.0));
        assert_eq!(TimelinessTotals::of(&[]), None);
    }

    #[test]
    fn a_histogram_counts_every_datagram_once() {
        let found = delays(6, &[0.0005, 0.001, 0.0011, 11.0]).histogram(7);
        assert_eq!((found.flow, found.lost), (7, 2));
        assert_eq!((found.counts[0], found.counts[1], found.counts[13]), (2, 1, 1));
        assert_eq!(found.counts.iter().sum::<u64>() + found.lost, 6);
        assert_eq!(found.counts.len(), found.up_to_s.len() + 1);
    }
}
