//! What the path density protocol costs, and how far the rates that sources learn are from an oracle's.

use serde::Serialize;

use super::statistics::mean;
use crate::kernel::Time;
use crate::scenario::{Scenario, timed};
use crate::stage::{Rates, ThrottleMode};
use crate::wire::FlowId;

/// A flow whose rates are compared.
#[derive(Clone, Debug, Default)]
struct Compared {
    /// When the flow is active and measured.
    from: Time,
    until: Time,
    oracle: Rates,
    learned: Rates,
}

/// The rates of all flows, and what was announced. Measures nothing unless it is told to.
#[derive(Clone, Debug, Default)]
pub struct ShareLog {
    is_on: bool,
    announcements: u64,
    alone: u64,
    bytes: u64,
    flows: Vec<Option<Compared>>,
}

/// How far the rates of a flow are from an oracle's, in the window, while the flow is active and the oracle
/// has a rate for it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RateMeasures {
    /// Mean over time of the difference between the rate that the source has learned and the oracle's, as a
    /// part of the oracle's; none if it never has one.
    pub throttle_error_mean: Option<f64>,
    /// The greatest such difference.
    pub throttle_error_max: Option<f64>,
    /// The part of the time in which the source has not learned a rate yet; none if there is no such time.
    pub throttle_unknown_share: Option<f64>,
}

/// What was announced, and the errors of all flows.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ShareTotals {
    /// Announcements in the window.
    pub announcements: u64,
    /// Those of them that went in a packet of their own.
    pub announcements_alone: u64,
    /// Bytes of all of them, without headers of IP and UDP.
    pub announcement_bytes: u64,
    /// Mean of the flows' `throttle_error_mean`.
    pub throttle_error_mean: Option<f64>,
    /// Greatest of the flows' `throttle_error_max`.
    pub throttle_error_max: Option<f64>,
}

impl ShareLog {
    /// The log of a run, which measures nothing where nodes do not announce their flows.
    pub fn of_scenario(scenario: &Scenario) -> ShareLog {
        if scenario.params.throttle.mode != ThrottleMode::Density {
            return ShareLog::default();
        }
        let mut log = ShareLog::measured();
        for flow in &scenario.flows {
            let until_s = flow.stop_s.unwrap_or(scenario.duration_s).min(scenario.duration_s);
            let from = Time::from_secs(flow.start_s.max(scenario.warmup_s));
            log.add_flow(from, Time::from_secs(until_s), flow.oracle_bps.as_deref().map(timed));
        }
        log
    }

    /// A log for a run in which nodes announce their flows.
    pub fn measured() -> ShareLog {
        ShareLog { is_on: true, ..ShareLog::default() }
    }

    /// Adds the next flow, active and measured from `from` until `until`, with the oracle's rates if they are
    /// to be compared.
    pub fn add_flow(&mut self, from: Time, until: Time, oracle: Option<Rates>) {
        let compared = |oracle| Compared { from, until, oracle, learned: Vec::new() };
        self.flows.push(oracle.map(compared));
    }

    /// A node announces its flows, in the window.
    pub fn announced(&mut self, bytes: u32, is_alone: bool) {
        self.announcements += 1;
        self.alone += u64::from(is_alone);
        self.bytes += u64::from(bytes);
    }

    /// The source of a flow has learned another rate.
    pub fn learned(&mut self, now: Time, flow: FlowId, rate_bps: f64) {
        if let Some(Some(of)) = self.flows.get_mut(flow.index()) {
            of.learned.push((now, rate_bps));
        }
    }

    /// The measures of a flow; none if they are not wanted.
    pub fn of(&self, flow: FlowId) -> Option<RateMeasures> {
        self.flows.get(flow.index())?.as_ref().map(Compared::measures)
    }

    /// What was announced, and the errors of all flows; none in networks without announcements.
    pub fn totals(&self) -> Option<ShareTotals> {
        let of_flows: Vec<RateMeasures> = self.flows.iter().flatten().map(Compared::measures).collect();
        let means: Vec<f64> = of_flows.iter().filter_map(|of| of.throttle_error_mean).collect();
        self.is_on.then(|| ShareTotals {
            announcements: self.announcements,
            announcements_alone: self.alone,
            announcement_bytes: self.bytes,
            throttle_error_mean: mean(&means),
            throttle_error_max: of_flows.iter().filter_map(|of| of.throttle_error_max).reduce(f64::max),
        })
    }
}

impl Compared {
    fn measures(&self) -> RateMeasures {
        let mut times: Vec<Time> = [self.from, self.until].into();
        times.extend(self.oracle.iter().chain(&self.learned).map(|&(from, _)| from));
        times.retain(|time| (self.from..=self.until).contains(time));
        times.sort_unstable();
        let (mut known_s, mut unknown_s, mut sum, mut greatest) = (0.0, 0.0, 0.0, None);
        for stretch in times.windows(2).filter(|stretch| stretch[0] < stretch[1]) {
            let Some(oracle_bps) = rate_at(&self.oracle, stretch[0]) else { continue };
            let length_s = stretch[1].since(stretch[0]).as_secs();
            let Some(learned_bps) = rate_at(&self.learned, stretch[0]) else {
                unknown_s += length_s;
                continue;
            };
            let error = (learned_bps - oracle_bps).abs() / oracle_bps;
            known_s += length_s;
            sum += error * length_s;
            greatest = Some(error.max(greatest.unwrap_or(0.0)));
        }
        let ratio = |part: f64, all: f64| (all > 0.0).then(|| part / all);
        RateMeasures {
            throttle_error_mean: ratio(sum, known_s),
            throttle_error_max: greatest,
            throttle_unknown_share: ratio(unknown_s, known_s + unknown_s),
        }
    }
}

/// The rate at a time; none before the first.
fn rate_at(rates: &[(Time, f64)], time: Time) -> Option<f64> {
    let known = rates.partition_point(|&(from, _)| from <= time);
    known.checked_sub(1).map(|at| rates[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowId = FlowId(1);

    fn s(secs: u64) -> Time {
        Time(secs * 1_000_000_000)
    }

    fn log(oracle: &[(u64, f64)]) -> ShareLog {
        let mut log = ShareLog::measured();
        log.add_flow(s(0), s(9), None);
        let oracle = oracle.iter().map(|&(from, bps)| (s(from), bps)).collect();
        log.add_flow(s(10), s(20), Some(oracle));
        log
    }

    #[test]
    fn errors_are_weighted_by_time_and_unknown_rates_are_not_errors() {
        let mut log = log(&[(5, 100.0), (15, 200.0)]);
        log.learned(s(12), FLOW, 150.0);
        log.learned(s(14), FLOW, 100.0);
        log.learned(s(18), FLOW, 200.0);
        let found = log.of(FLOW).expect("rates are compared");
        // 10 to 12 unknown; 0.5 for 2 s, 0 for 1 s, 0.5 for 3 s, 0 for 2 s.
        assert_eq!(found.throttle_error_mean, Some(2.5 / 8.0));
        assert_eq!(found.throttle_error_max, Some(0.5));
        assert_eq!(found.throttle_unknown_share, Some(0.2));
        let totals = log.totals().expect("nodes announce");
        assert_eq!(totals.throttle_error_mean, Some(2.5 / 8.0));
    }

    #[test]
    fn a_rate_learned_before_the_window_holds_in_it() {
        let mut log = log(&[(0, 100.0)]);
        log.learned(s(3), FLOW, 80.0);
        let found = log.of(FLOW).expect("rates are compared");
        assert!((found.throttle_error_mean.expect("known") - 0.2).abs() < 1e-12);
        assert_eq!(found.throttle_unknown_share, Some(0.0));
    }

    #[test]
    fn without_an_oracles_rate_there_is_nothing_to_compare() {
        let mut log = log(&[(30, 100.0)]);
        log.learned(s(12), FLOW, 80.0);
        assert_eq!(log.of(FLOW), Some(RateMeasures::default()));
        assert_eq!((log.of(FlowId(0)), ShareLog::default().totals()), (None, None));
    }
}
