//! What flows had of the reservations that they asked for, as their destinations saw it.

use serde::Serialize;

use super::statistics::ratio;
use crate::kernel::{Span, Time};
use crate::scenario::Scenario;
use crate::stage::InsigniaMode;
use crate::wire::FlowId;
use crate::wire::insignia::Level;

/// What one flow had.
#[derive(Clone, Debug)]
struct Held {
    /// When the flow is active and measured.
    from: Time,
    until: Time,
    packets: u64,
    reserved: u64,
    level: Level,
    /// When the last packet came that says so.
    said: Time,
    /// Time with the least and with all that it wants.
    with_min: Span,
    with_max: Span,
    /// When it lost its reservation, while it has none.
    lost: Option<Time>,
    restorations: u64,
    restoration_sum: Span,
}

/// The reservations of all flows. Measures nothing unless it is told to.
#[derive(Clone, Debug, Default)]
pub struct ReservationLog {
    /// For how long a flow has what its last packet said.
    lifetime: Span,
    /// By flow; none for those that ask for nothing.
    flows: Option<Vec<Option<Held>>>,
}

/// What a flow had of the reservation that it asked for, in the window, while the flow is active.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct ReservationMeasures {
    /// The part of its packets that arrived with a reservation; none if no packet arrived that asks.
    pub reserved_fraction: Option<f64>,
    /// The part of the time in which it had all that it wants.
    pub reserved_max_share: f64,
    /// The part of the time in which it had the least alone.
    pub reserved_min_share: f64,
    /// How often it had a reservation again after it had lost it.
    pub restorations: u64,
    /// Mean time from the loss until then; none if there was none.
    pub restoration_mean_s: Option<f64>,
}

/// The same of all flows that ask for a reservation.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ReservationTotals {
    /// The part of their packets that arrived with a reservation.
    pub reserved_fraction: Option<f64>,
    /// The part of their time in which they had all that they want.
    pub reserved_max_share: Option<f64>,
    /// The part of their time in which they had the least alone.
    pub reserved_min_share: Option<f64>,
    /// How often one had a reservation again after it had lost it.
    pub restorations: u64,
    /// Mean time from the loss until then.
    pub restoration_mean_s: Option<f64>,
}

impl ReservationLog {
    /// The log of a run, which measures nothing where nodes reserve nothing.
    pub fn of_scenario(scenario: &Scenario) -> ReservationLog {
        let params = &scenario.params.insignia;
        if params.mode == InsigniaMode::Off {
            return ReservationLog::default();
        }
        let flows = scenario.flows.iter().map(|flow| {
            let until_s = flow.stop_s.unwrap_or(scenario.duration_s).min(scenario.duration_s);
            let from = Time::from_secs(flow.start_s.max(scenario.warmup_s));
            flow.reserve_bps.map(|_| Held::new(from, Time::from_secs(until_s)))
        });
        ReservationLog { lifetime: Span::from_secs(params.soft_state_s), flows: Some(flows.collect()) }
    }

    /// A packet of a flow has reached its destination, with a reservation or without; `level` is what it says
    /// that its flow has, if it says that.
    pub fn served(&mut self, now: Time, flow: FlowId, is_reserved: bool, level: Option<Level>) {
        let held = self.flows.as_mut().and_then(|flows| flows.get_mut(flow.index())?.as_mut());
        let Some(held) = held else { return };
        if (held.from..held.until).contains(&now) {
            held.packets += 1;
            held.reserved += u64::from(is_reserved);
        }
        if let Some(level) = level {
            held.say(now, level, self.lifetime);
        }
    }

    /// The measures of a flow; none of one that asks for nothing.
    pub fn of(&self, flow: FlowId) -> Option<ReservationMeasures> {
        let held = self.flows.as_ref()?.get(flow.index())?.as_ref()?;
        Some(held.ended(self.lifetime).measures())
    }

    /// The measures of all flows; none where nodes reserve nothing.
    pub fn totals(&self) -> Option<ReservationTotals> {
        let flows: Vec<Held> =
            self.flows.as_ref()?.iter().flatten().map(|of| of.ended(self.lifetime)).collect();
        let count = |of: fn(&Held) -> u64| flows.iter().map(of).sum::<u64>();
        let time_s = |of: fn(&Held) -> Span| flows.iter().map(|held| of(held).as_secs()).sum::<f64>();
        let (restorations, packets) = (count(|of| of.restorations), count(|of| of.packets));
        let all_s = time_s(Held::length);
        Some(ReservationTotals {
            reserved_fraction: ratio(count(|of| of.reserved), packets),
            reserved_max_share: share(time_s(|of| of.with_max), all_s),
            reserved_min_share: share(time_s(|of| of.with_min), all_s),
            restorations,
            restoration_mean_s: share(time_s(|of| of.restoration_sum), restorations as f64),
        })
    }
}

/// A part of something; none if there is nothing.
fn share(part: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| part / all)
}

impl Held {
    fn new(from: Time, until: Time) -> Held {
        Held {
            from,
            until,
            packets: 0,
            reserved: 0,
            level: Level::BestEffort,
            said: Time::ZERO,
            with_min: Span::ZERO,
            with_max: Span::ZERO,
            lost: None,
            restorations: 0,
            restoration_sum: Span::ZERO,
        }
    }

    fn length(&self) -> Span {
        self.until.max(self.from).since(self.from)
    }

    /// Up to now it had what it had, for as long as that lasts without another packet.
    fn pass(&mut self, now: Time, lifetime: Span) {
        let ends = now.min(self.said + lifetime);
        let (from, until) = (self.said.max(self.from), ends.min(self.until));
        let span = until.max(from).since(from);
        match self.level {
            Level::BestEffort => {}
            Level::Min => self.with_min = self.with_min + span,
            Level::Max => self.with_max = self.with_max + span,
        }
        if self.level != Level::BestEffort && ends < now {
            (self.level, self.lost) = (Level::BestEffort, Some(ends));
        }
    }

    /// A packet says that it has so much.
    fn say(&mut self, now: Time, level: Level, lifetime: Span) {
        self.pass(now, lifetime);
        if level == Level::BestEffort && self.level != Level::BestEffort {
            self.lost = Some(now);
        }
        if level != Level::BestEffort
            && let Some(lost) = self.lost.take()
            && (self.from..self.until).contains(&now)
        {
            self.restorations += 1;
            self.restoration_sum = self.restoration_sum + now.since(lost);
        }
        (self.level, self.said) = (level, now);
    }

    /// The same at the end of the window.
    fn ended(&self, lifetime: Span) -> Held {
        let mut held = self.clone();
        held.pass(self.until.max(self.said), lifetime);
        held
    }

    fn measures(&self) -> ReservationMeasures {
        let all_s = self.length().as_secs();
        let time_share = |span: Span| share(span.as_secs(), all_s).unwrap_or_default();
        ReservationMeasures {
            reserved_fraction: ratio(self.reserved, self.packets),
            reserved_max_share: time_share(self.with_max),
            reserved_min_share: time_share(self.with_min),
            restorations: self.restorations,
            restoration_mean_s: share(self.restoration_sum.as_secs(), self.restorations as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowId = FlowId(0);

    fn s(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// A flow that is measured from 10 s to 30 s and has what a packet says for 2 s.
    fn log() -> ReservationLog {
        let flows = vec![Some(Held::new(s(10.0), s(30.0))), None];
        ReservationLog { lifetime: Span::from_secs(2.0), flows: Some(flows) }
    }

    #[test]
    fn time_with_each_level_is_counted_in_the_window_until_it_lapses() {
        let mut log = log();
        // Of 9 s to 11 s one second is in the window; then MIN for a second, nothing for one, MAX until 15 s.
        for (at, level) in [
            (9.0, Level::Max),
            (11.0, Level::Min),
            (12.0, Level::BestEffort),
            (13.0, Level::Max),
            (29.0, Level::Min),
        ] {
            log.served(s(at), FLOW, level != Level::BestEffort, Some(level));
        }
        log.served(s(12.5), FlowId(1), true, Some(Level::Max));
        let found = log.of(FLOW).expect("it asks");
        assert!((found.reserved_max_share - (1.0 + 2.0) / 20.0).abs() < 1e-12);
        assert!((found.reserved_min_share - (1.0 + 1.0) / 20.0).abs() < 1e-12);
        assert_eq!(found.reserved_fraction, Some(0.75), "three of the four packets in the window");
        // Lost at 12 s and back at 13 s; lapsed at 15 s and back at 29 s.
        let mean_s = Span::from_secs(1.0 + 14.0).as_secs() / 2.0;
        assert_eq!((found.restorations, found.restoration_mean_s), (2, Some(mean_s)));
        assert_eq!(log.of(FlowId(1)), None, "it asks for nothing");
        let totals = log.totals().expect("nodes reserve");
        assert_eq!((totals.reserved_max_share, totals.restorations), (Some(3.0 / 20.0), 2));
    }

    #[test]
    fn enhanced_packets_say_nothing_of_what_the_flow_has() {
        let mut log = log();
        log.served(s(20.0), FLOW, true, Some(Level::Max));
        log.served(s(21.0), FLOW, false, None);
        let found = log.of(FLOW).expect("it asks");
        assert_eq!((found.reserved_fraction, found.reserved_max_share), (Some(0.5), 2.0 / 20.0));
        assert_eq!(found.restorations, 0);
    }

    #[test]
    fn a_flow_that_never_had_a_reservation_has_restored_none() {
        let mut log = log();
        log.served(s(20.0), FLOW, false, Some(Level::BestEffort));
        log.served(s(21.0), FLOW, true, Some(Level::Min));
        assert_eq!(log.of(FLOW).expect("it asks").restorations, 0);
        assert_eq!(ReservationLog::default().totals(), None);
    }
}
