//! When updates are triggered: the trigger meter, its threshold, and the speed of the network (3.2.2, 3.2.7).
//!
//! **Deviations** (docs/models/adv.md): 3 (HIGH_SPEED), 5 and 15 (the threshold), 16 (speed).

use super::AdvParams;
use crate::kernel::{Span, Time};

/// The trigger meter and the history from which the threshold of an active node follows.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Trigger {
    /// *Trigger meter*: what has happened since the last update was scheduled.
    pub(super) meter: u32,
    /// The threshold as computed at the last full update.
    threshold: f64,
    /// The historical average of the trigger meter, t_h.
    average: f64,
    /// Partial updates since the last full one.
    partials: u32,
    /// The sum of the trigger meter at these updates.
    sum: u32,
    last_full: Time,
}

impl Trigger {
    pub(super) fn new(params: &AdvParams) -> Trigger {
        let initial = f64::from(params.trgmeter_high);
        Trigger { meter: 0, threshold: initial, average: initial, partials: 0, sum: 0, last_full: Time::ZERO }
    }

    pub(super) fn start(&mut self, now: Time) {
        self.last_full = now;
    }

    pub(super) fn raise(&mut self, by: u32) {
        self.meter = self.meter.saturating_add(by);
    }

    /// The threshold beyond which a partial update is due: computed for an active node, constant for others.
    pub(super) fn threshold(&self, is_active: bool, speed: Speed, params: &AdvParams) -> f64 {
        match speed {
            _ if is_active => self.threshold,
            Speed::Low => f64::from(params.trgmeter_high),
            Speed::High => f64::from(params.trgmeter_med),
        }
    }

    /// A partial update goes out, to which this meter has led.
    pub(super) fn note_partial(&mut self, meter: u32) {
        self.partials += 1;
        self.sum = self.sum.saturating_add(meter);
    }

    /// A full update goes out, to which this meter has led. An active node computes its threshold anew.
    pub(super) fn note_full(&mut self, now: Time, meter: u32, is_active: bool, params: &AdvParams) {
        if is_active {
            // Without partial updates the sum of the text is empty; the meter of the full update stands in
            // for it.
            let latest = if self.partials > 0 {
                f64::from(self.sum) / f64::from(self.partials)
            } else {
                f64::from(meter) / 2.0
            };
            self.average = (self.average + latest) / 2.0;
            let most = now.since(self.last_full).as_secs() / params.min_update_gap_s;
            let share = match f64::from(self.partials) {
                partials if partials >= 0.6 * most => 1.0,
                partials if partials >= 0.3 * most => 0.75,
                _ => 0.5,
            };
            self.threshold = (share * self.average).max(f64::from(params.trgmeter_low));
        }
        (self.partials, self.sum, self.last_full) = (0, 0, now);
    }
}

/// How fast the neighbourhood changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Speed {
    /// LOW_SPEED.
    #[default]
    Low,
    /// HIGH_SPEED.
    High,
}

/// *Neighbour changes*, counted over a number of full updates, and what they said last.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Mobility {
    pub(super) changes: u32,
    full_updates: u32,
    began: Time,
    pub(super) speed: Speed,
}

impl Mobility {
    pub(super) fn start(&mut self, now: Time) {
        self.began = now;
    }

    /// A node has come within one hop, or has left.
    pub(super) fn count(&mut self, now: Time, params: &AdvParams) {
        self.look_at_clock(now, params);
        self.changes += 1;
    }

    pub(super) fn note_full(&mut self, now: Time, params: &AdvParams) {
        self.full_updates += 1;
        if self.full_updates >= params.speed_window_updates {
            self.close(now, params);
        }
    }

    /// Full updates are triggered too; a node that makes none classifies the network by the clock.
    pub(super) fn look_at_clock(&mut self, now: Time, params: &AdvParams) {
        if now.since(self.began) >= Span::from_secs(params.speed_window_s) {
            self.close(now, params);
        }
    }

    fn close(&mut self, now: Time, params: &AdvParams) {
        self.speed = if self.changes >= params.high_speed_changes { Speed::High } else { Speed::Low };
        (self.changes, self.full_updates, self.began) = (0, 0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    fn params() -> AdvParams {
        AdvParams::default()
    }

    /// The threshold after these partial updates and a full one `elapsed_s` after the last.
    fn threshold_after(meters: &[u32], full: u32, elapsed_s: f64) -> f64 {
        let mut trigger = Trigger::new(&params());
        trigger.start(at(100.0));
        meters.iter().for_each(|&meter| trigger.note_partial(meter));
        trigger.note_full(at(100.0 + elapsed_s), full, true, &params());
        trigger.threshold(true, Speed::Low, &params())
    }

    #[track_caller]
    fn assert_near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} for {wanted}");
    }

    #[test]
    fn rule_3_2_7_the_threshold_begins_at_trgmeter_high() {
        assert_near(Trigger::new(&params()).threshold(true, Speed::High, &params()), 20.0);
    }

    #[test]
    fn rule_3_2_7_the_average_of_the_partial_updates_is_halved_into_the_history() {
        // t_n = (24 + 36) / 2 = 30; t_h = (20 + 30) / 2 = 25; two of at most two updates.
        assert_near(threshold_after(&[24, 36], 60, 1.0), 25.0);
    }

    #[test]
    fn rule_3_2_7_without_partial_updates_half_the_meter_counts() {
        // t_n = 60 / 2; t_h = 25; no update of two is less than 30 %.
        assert_near(threshold_after(&[], 60, 1.0), 12.5);
    }

    #[test]
    fn rule_3_2_7_few_partial_updates_lower_the_threshold() {
        // Of ten possible ones in 5 s.
        let with = |partials: usize| threshold_after(&vec![30; partials], 60, 5.0);
        assert_near(with(6), 25.0);
        assert_near(with(5), 0.75 * 25.0);
        assert_near(with(3), 0.75 * 25.0);
        assert_near(with(2), 0.5 * 25.0);
    }

    #[test]
    fn the_history_goes_on_and_the_sums_begin_anew() {
        let mut trigger = Trigger::new(&params());
        trigger.note_partial(40);
        trigger.note_full(at(0.5), 60, true, &params());
        assert_near(trigger.threshold(true, Speed::Low, &params()), 30.0);
        trigger.note_partial(50);
        trigger.note_full(at(1.0), 60, true, &params());
        assert_near(trigger.threshold(true, Speed::Low, &params()), 40.0);
    }

    #[test]
    fn no_threshold_is_below_trgmeter_low() {
        let mut trigger = Trigger::new(&params());
        for second in 1..20 {
            trigger.note_full(at(f64::from(second)), 0, true, &params());
        }
        assert_near(trigger.threshold(true, Speed::Low, &params()), 5.0);
    }

    #[test]
    fn rule_3_2_7_the_threshold_of_non_active_nodes_follows_the_speed() {
        let mut trigger = Trigger::new(&params());
        trigger.note_partial(200);
        trigger.note_full(at(0.5), 60, false, &params());
        assert_near(trigger.threshold(false, Speed::Low, &params()), 20.0);
        assert_near(trigger.threshold(false, Speed::High, &params()), 8.0);
        assert_near(trigger.threshold(true, Speed::High, &params()), 20.0);
    }

    #[test]
    fn rule_3_2_3_eight_changes_over_six_full_updates_are_high_speed() {
        for (changes, speed) in [(7, Speed::Low), (8, Speed::High)] {
            let mut mobility = Mobility::default();
            (0..changes).for_each(|_| mobility.count(at(1.0), &params()));
            (0..5).for_each(|_| mobility.note_full(at(2.0), &params()));
            assert_eq!(mobility.speed, Speed::Low, "only five full updates");
            mobility.note_full(at(3.0), &params());
            assert_eq!(mobility.speed, speed, "{changes} changes");
            assert_eq!(mobility.changes, 0, "the count begins anew");
            (0..6).for_each(|_| mobility.note_full(at(4.0), &params()));
            assert_eq!(mobility.speed, Speed::Low, "and so does the class");
        }
    }

    #[test]
    fn a_node_without_full_updates_classifies_by_the_clock() {
        let mut mobility = Mobility::default();
        (0..8).for_each(|_| mobility.count(at(59.0), &params()));
        assert_eq!(mobility.speed, Speed::Low);
        mobility.look_at_clock(at(60.0), &params());
        assert_eq!(mobility.speed, Speed::High);
        mobility.look_at_clock(at(120.0), &params());
        assert_eq!(mobility.speed, Speed::Low);
    }
}
