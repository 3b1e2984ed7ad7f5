//! When updates are triggered: the trigger meter, its threshold, and the speed of the network (3.2.2, 3.2.7).

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
            // Without partial updates the sum of the text is empty; the meter of the full update stands in for it.
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
