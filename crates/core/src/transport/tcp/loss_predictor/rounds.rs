//! The sender's guesses, from the round trips of monitored segments (Biaz and Vaidya 1998), or from echoes of
//! marks (Liu and Jain 2001).
//!
//! One new segment at a time is monitored, as for round-trip samples. Wᵢ is the window when the i-th was
//! sent, RTTᵢ its round trip, Tᵢ = Wᵢ/RTTᵢ.

use super::super::{LossPredictor, TcpParams};
use crate::kernel::Time;
use crate::wire::tcp::AckSigns;

/// A monitored segment whose ACK has come.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Round {
    /// In segments.
    window: f64,
    rtt_s: f64,
}

impl Round {
    /// In segments per second.
    fn throughput(self) -> f64 {
        self.window / self.rtt_s
    }
}

/// What a sender knows that guesses, or heeds the guesses of its receiver.
pub(in super::super) struct Rounds {
    kind: LossPredictor,
    /// In segments waiting, of the delay gradient, of the throughput gradient.
    thresholds: (f64, f64, f64),
    /// The segment that is monitored, when it was sent, and the window then.
    monitored: Option<(u32, Time, f64)>,
    rtt_min_s: f64,
    first: Option<Round>,
    /// The last, and that before it.
    last: Option<Round>,
    before: Option<Round>,
    /// Did the last ACK say that the radio lost the segment that it asks for?
    is_told: bool,
    /// One past the greatest number sent when the last ACK with ECN-Echo came.
    echo_end: u32,
}

impl Rounds {
    /// Nothing was sent yet.
    pub(in super::super) fn new(params: &TcpParams) -> Rounds {
        Rounds {
            kind: params.loss_predictor,
            thresholds: (
                params.predictor_vegas_threshold,
                params.predictor_ndg_threshold,
                params.predictor_ntg_threshold,
            ),
            monitored: None,
            rtt_min_s: f64::INFINITY,
            first: None,
            last: None,
            before: None,
            is_told: false,
            echo_end: 0,
        }
    }

    /// Does the sender guess by itself?
    pub(in super::super) fn guesses(&self) -> bool {
        match self.kind {
            LossPredictor::Vegas
            | LossPredictor::Ndg
            | LossPredictor::Ntg
            | LossPredictor::CoherenceSender => true,
            LossPredictor::None | LossPredictor::Arrivals | LossPredictor::CoherenceReceiver => false,
        }
    }

    /// A new segment is sent with a window of so many.
    pub(in super::super) fn handle_new_data(&mut self, now: Time, number: u32, window: f64) {
        self.monitored = self.monitored.or(Some((number, now, window)));
    }

    /// A loss is repaired: the ACK of what is monitored would wait for that.
    pub(in super::super) fn stop_monitoring(&mut self) {
        self.monitored = None;
    }

    /// An ACK, new or duplicate, when everything below `sent_end` has been sent.
    pub(in super::super) fn handle_signs(&mut self, signs: &AckSigns, sent_end: u32) {
        self.is_told = signs.eln;
        if signs.ece {
            self.echo_end = sent_end;
        }
    }

    /// Everything below `una` is acknowledged.
    pub(in super::super) fn handle_new_ack(&mut self, now: Time, una: u32) {
        let Some((_, sent, window)) = self.monitored.take_if(|(number, ..)| *number < una) else { return };
        let round = Round { window, rtt_s: now.since(sent).as_secs() };
        self.rtt_min_s = self.rtt_min_s.min(round.rtt_s);
        self.first = self.first.or(Some(round));
        (self.before, self.last) = (self.last, Some(round));
    }

    /// Was `una`, the first segment that is not acknowledged, lost by the radio, if it is lost now? Not as
    /// long as too little is known.
    pub(in super::super) fn blames_radio(&self, una: u32) -> bool {
        let (waiting, delay, throughput) = self.thresholds;
        match self.kind {
            LossPredictor::None | LossPredictor::CoherenceReceiver => false,
            LossPredictor::Vegas => self.waiting().is_some_and(|segments| segments <= waiting),
            LossPredictor::Ndg => self.delay_gradient().is_some_and(|gradient| gradient <= delay),
            LossPredictor::Ntg => self.throughput_gradient().is_some_and(|gradient| gradient >= throughput),
            LossPredictor::Arrivals => self.is_told,
            // No echo since `una` was sent.
            LossPredictor::CoherenceSender => self.echo_end <= una,
        }
    }

    /// (W/RTTmin − W/RTT)·RTTmin: segments in queues.
    fn waiting(&self) -> Option<f64> {
        self.last.map(|last| last.window * (1.0 - self.rtt_min_s / last.rtt_s))
    }

    /// ((RTTᵢ − RTTᵢ₋₁)/(RTTᵢ + RTTᵢ₋₁))·((Wᵢ + Wᵢ₋₁)/(Wᵢ − Wᵢ₋₁)). A window that stays leaves the first
    /// factor.
    fn delay_gradient(&self) -> Option<f64> {
        let (before, last) = self.before.zip(self.last)?;
        let delay = (last.rtt_s - before.rtt_s) / (last.rtt_s + before.rtt_s);
        let change = last.window - before.window;
        Some(if change == 0.0 { delay } else { delay * (last.window + before.window) / change })
    }

    /// ((Tᵢ − Tᵢ₋₁)/(Wᵢ − Wᵢ₋₁))/(T₁/W₁). A window that stays leaves its numerator's sign, infinitely large.
    fn throughput_gradient(&self) -> Option<f64> {
        let (before, last) = self.before.zip(self.last)?;
        let first = self.first?;
        let (gain, change) = (last.throughput() - before.throughput(), last.window - before.window);
        Some(if change == 0.0 {
            if gain > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY }
        } else {
            gain / change * first.window / first.throughput()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monitored segments with these windows and round trips in milliseconds.
    fn after(kind: LossPredictor, rounds: &[(f64, u64)]) -> Rounds {
        let mut seen = Rounds::new(&TcpParams { loss_predictor: kind, ..TcpParams::default() });
        let mut now = Time::ZERO;
        for (number, &(window, rtt_ms)) in (0..).zip(rounds) {
            seen.handle_new_data(now, number, window);
            now = Time(now.0 + rtt_ms * 1_000_000);
            seen.handle_new_ack(now, number + 1);
        }
        seen
    }

    fn near(found: Option<f64>, wanted: f64) -> bool {
        found.is_some_and(|found| (found - wanted).abs() < 1e-9)
    }

    /// Of ten segments in 125 ms, 100 ms without queues, two wait.
    #[test]
    fn vegas_counts_what_waits() {
        let seen = after(LossPredictor::Vegas, &[(5.0, 100), (10.0, 125)]);
        assert!(near(seen.waiting(), 2.0) && !seen.blames_radio(0));
        let seen = after(LossPredictor::Vegas, &[(5.0, 100), (4.0, 125)]);
        assert!(near(seen.waiting(), 0.8) && seen.blames_radio(0));
    }

    /// 100 ms to 300 ms: half of their sum. Six to ten: four of their sum, 16.
    #[test]
    fn the_delay_gradient_has_the_sign_of_delay_by_window() {
        let seen = after(LossPredictor::Ndg, &[(6.0, 100), (10.0, 300)]);
        assert!(near(seen.delay_gradient(), 0.5 * 4.0) && !seen.blames_radio(0));
        let seen = after(LossPredictor::Ndg, &[(10.0, 100), (6.0, 300)]);
        assert!(near(seen.delay_gradient(), -2.0) && seen.blames_radio(0), "the window was not the reason");
        assert!(!after(LossPredictor::Ndg, &[(10.0, 300), (6.0, 100)]).blames_radio(0));
        let seen = after(LossPredictor::Ndg, &[(6.0, 100), (6.0, 300)]);
        assert!(near(seen.delay_gradient(), 0.5) && !seen.blames_radio(0));
    }

    /// Two segments in 100 ms: 20 a second, 10 a second for each of the window. From 40 to 80 a second with
    /// four segments more: as much again.
    #[test]
    fn the_throughput_gradient_is_one_as_long_as_nothing_waits() {
        let seen = after(LossPredictor::Ntg, &[(2.0, 100), (4.0, 100), (8.0, 100)]);
        assert!(near(seen.throughput_gradient(), 1.0) && seen.blames_radio(0));
        let seen = after(LossPredictor::Ntg, &[(2.0, 100), (4.0, 100), (8.0, 200)]);
        assert!(near(seen.throughput_gradient(), 0.0) && !seen.blames_radio(0), "only the queue has grown");
        assert!(after(LossPredictor::Ntg, &[(4.0, 200), (4.0, 100)]).blames_radio(0), "more with the same");
        assert!(!after(LossPredictor::Ntg, &[(4.0, 100), (4.0, 100)]).blames_radio(0));
    }

    #[test]
    fn who_knows_too_little_blames_congestion() {
        for (kind, needs) in [(LossPredictor::Vegas, 1), (LossPredictor::Ndg, 2), (LossPredictor::Ntg, 2)] {
            // The delay falls with a growing window, and throughput rises: the radio, as soon as it is known.
            let rounds = [(2.0, 110), (3.0, 100)];
            for count in 0..=2 {
                assert_eq!(after(kind, &rounds[..count]).blames_radio(0), count >= needs, "{kind:?} {count}");
            }
        }
    }

    #[test]
    fn one_segment_at_a_time_is_monitored_and_none_across_a_repair() {
        let mut seen = after(LossPredictor::Vegas, &[]);
        seen.handle_new_data(Time::ZERO, 4, 2.0);
        seen.handle_new_data(Time(50_000_000), 5, 9.0);
        seen.handle_new_ack(Time(90_000_000), 4);
        assert_eq!(seen.last, None, "segment 4 is not acknowledged");
        seen.handle_new_ack(Time(100_000_000), 6);
        assert_eq!(seen.last, Some(Round { window: 2.0, rtt_s: 0.1 }));
        seen.handle_new_data(Time(200_000_000), 6, 9.0);
        seen.stop_monitoring();
        seen.handle_new_ack(Time(900_000_000), 7);
        assert_eq!(seen.last, Some(Round { window: 2.0, rtt_s: 0.1 }));
    }
}
