//! The signal stability table: how strong neighbours are heard, and for how long they have been.

use std::collections::BTreeMap;

use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// What is known of a neighbour.
#[derive(Clone, Copy, Debug)]
struct Signal {
    /// Smoothed over its beacons, in dBW; infinite over a wire.
    strength_dbw: f64,
    /// Beacons in a row at which it was strong enough.
    clicks: u32,
    /// Beacons in a row that did not come.
    missed: u32,
    /// When the next one counts as missed.
    miss_at: Time,
}

/// What makes links strong, and what breaks them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) interval: Span,
    /// Weight of what was known.
    pub(super) smoothing: f64,
    pub(super) strong_dbw: f64,
    pub(super) strong_clicks: u32,
    pub(super) missed_beacons: u32,
}

/// See the module's head.
pub(super) struct Signals {
    rule: Rule,
    neighbours: BTreeMap<NodeId, Signal>,
}

impl Signals {
    pub(super) fn new(rule: Rule) -> Signals {
        Signals { rule, neighbours: BTreeMap::new() }
    }

    /// A beacon; without a power it came over a wire, which does not fade. Smoothed in decibels: in watts a
    /// neighbour that was very near would seem strong for long when it goes away.
    pub(super) fn hear(&mut self, now: Time, from: NodeId, power_w: Option<f64>) {
        let Rule { interval, smoothing, strong_dbw, .. } = self.rule;
        // Beacons are late by their jitter: one is missed half an interval after it was due.
        let miss_at = now + interval.scaled(1.5);
        let known = self.neighbours.get(&from);
        let strength_dbw = match (power_w.map(to_dbw), known) {
            (None, _) => f64::INFINITY,
            (Some(new), Some(known)) if known.strength_dbw.is_finite() => {
                smoothing * known.strength_dbw + (1.0 - smoothing) * new
            }
            (Some(new), _) => new,
        };
        let clicks = known.map_or(0, |known| known.clicks);
        let clicks = if strength_dbw >= strong_dbw { clicks.saturating_add(1) } else { 0 };
        self.neighbours.insert(from, Signal { strength_dbw, clicks, missed: 0, miss_at });
    }

    /// Is the link from this neighbour strong?
    pub(super) fn is_strong(&self, from: NodeId) -> bool {
        self.neighbours.get(&from).is_some_and(|signal| signal.clicks >= self.rule.strong_clicks)
    }

    /// When the next beacon counts as missed.
    pub(super) fn next_miss(&self) -> Time {
        self.neighbours.values().map(|signal| signal.miss_at).min().unwrap_or(Time::NEVER)
    }

    /// Counts the beacons that did not come; returns the neighbours that are gone.
    pub(super) fn count_misses(&mut self, now: Time) -> Vec<NodeId> {
        let mut gone = Vec::new();
        for (node, signal) in self.neighbours.iter_mut().filter(|(_, signal)| signal.miss_at <= now) {
            (signal.clicks, signal.missed) = (0, signal.missed + 1);
            signal.miss_at = now + self.rule.interval;
            if signal.missed >= self.rule.missed_beacons {
                gone.push(*node);
            }
        }
        gone
    }

    pub(super) fn remove(&mut self, node: NodeId) {
        self.neighbours.remove(&node);
    }

    pub(super) fn len(&self) -> usize {
        self.neighbours.len()
    }
}

/// A power in W as decibels over 1 W.
pub(super) fn to_dbw(power_w: f64) -> f64 {
    10.0 * libm::log10(power_w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    const N: NodeId = NodeId(3);

    fn signals() -> Signals {
        let interval = Span::from_secs(1.0);
        Signals::new(Rule { interval, smoothing: 0.5, strong_dbw: 0.0, strong_clicks: 3, missed_beacons: 2 })
    }

    /// Smoothed these are 4, 1, 1.5, 1.25 and -0.375 dB over 1 W.
    #[test]
    fn a_link_is_strong_after_enough_strong_beacons_in_a_row() {
        let mut signals = signals();
        let found: Vec<bool> = [(0.0, 4.0), (1.0, -2.0), (2.0, 2.0), (3.0, 1.0), (4.0, -2.0)]
            .into_iter()
            .map(|(seconds, power_dbw)| {
                signals.hear(at(seconds), N, Some(libm::pow(10.0, power_dbw / 10.0)));
                signals.is_strong(N)
            })
            .collect();
        assert_eq!(found, [false, false, true, true, false]);
        assert_eq!(signals.neighbours[&N].clicks, 0, "the row begins anew");
    }

    #[test]
    fn a_beacon_that_does_not_come_ends_the_row_and_several_the_link() {
        let mut signals = signals();
        for seconds in [0.0, 1.0, 2.0] {
            signals.hear(at(seconds), N, Some(2.0));
        }
        assert!(signals.is_strong(N));
        assert_eq!((signals.next_miss(), signals.count_misses(at(3.4))), (at(3.5), vec![]));
        assert_eq!(signals.count_misses(at(3.5)), []);
        assert!(!signals.is_strong(N));
        assert_eq!((signals.next_miss(), signals.count_misses(at(4.5))), (at(4.5), vec![N]));
        signals.remove(N);
        assert_eq!((signals.next_miss(), signals.len()), (Time::NEVER, 0));
    }

    #[test]
    fn what_comes_over_a_wire_is_strong_enough() {
        let mut signals = signals();
        for seconds in [0.0, 1.0, 2.0] {
            signals.hear(at(seconds), N, None);
        }
        assert!(signals.is_strong(N));
        signals.hear(at(3.0), N, Some(0.5));
        assert!(!signals.is_strong(N), "over the radio its own strength counts");
    }
}
