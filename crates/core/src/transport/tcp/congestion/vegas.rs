//! Vegas (Brakmo and Peterson 1995): keeps between α and β segments of its own waiting in queues.
//!
//! Once per round trip the window is compared with what the least round trip ever seen would need: the
//! difference cwnd × (1 − base ÷ rtt) is what waits. A segment older than an exact timeout is lost at the
//! first duplicate ACK. *Deviations*: 9 and 10 in docs/models/tcp.md.

use super::{Ack, CongestionControl, Load, Timeout, Window};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;

pub(super) struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// The least round trip, in seconds.
    base_s: f64,
    /// Sum and number of this round trip's samples.
    sum_s: f64,
    samples: u32,
    /// When this segment is acknowledged, a round trip is over.
    round_end: u32,
    /// In slow start: does the window grow in this round trip? It does in every other one.
    grows: bool,
    /// Exact estimates in seconds, none before the first sample (RFC 6298 §2).
    estimate: Option<(f64, f64)>,
}

/// Vegas never goes below two segments by itself.
const CWND_MIN: f64 = 2.0;

impl Vegas {
    pub(super) fn new(params: &TcpParams) -> Vegas {
        Vegas {
            alpha: params.vegas_alpha,
            beta: params.vegas_beta,
            gamma: params.vegas_gamma,
            base_s: f64::INFINITY,
            sum_s: 0.0,
            samples: 0,
            round_end: 0,
            grows: true,
            estimate: None,
        }
    }

    fn sample(&mut self, rtt_s: f64) {
        self.base_s = self.base_s.min(rtt_s);
        self.sum_s += rtt_s;
        self.samples += 1;
        self.estimate = Some(match self.estimate {
            Some((srtt, var)) => (srtt * 0.875 + rtt_s * 0.125, var * 0.75 + (srtt - rtt_s).abs() * 0.25),
            None => (rtt_s, rtt_s / 2.0),
        });
    }

    // A round trip is over: §3.2 and §3.3.
    fn decide(&mut self, window: &mut Window, limit: f64) {
        let waiting = window.cwnd * (1.0 - self.base_s * f64::from(self.samples) / self.sum_s);
        if window.cwnd < window.ssthresh {
            self.grows = !self.grows;
            if waiting > self.gamma {
                window.cwnd = (window.cwnd * 0.875).max(CWND_MIN);
                window.ssthresh = CWND_MIN;
            }
        } else if waiting < self.alpha {
            window.cwnd = (window.cwnd + 1.0).min(limit.max(1.0));
        } else if waiting > self.beta {
            window.cwnd = (window.cwnd - 1.0).max(CWND_MIN);
        }
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.may_open {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.sample(rtt.as_secs());
        }
        if ack.una > self.round_end {
            if self.samples > 0 {
                self.decide(window, ack.limit);
            }
            (self.sum_s, self.samples) = (0.0, 0);
            self.round_end = ack.sent_end;
        }
        if window.cwnd < window.ssthresh && self.grows {
            window.cwnd += 1.0;
        }
    }

    fn on_loss(&mut self, window: &mut Window, load: Load) {
        window.halve(load);
        // In congestion avoidance nothing would open a window of less than a segment.
        window.cwnd = window.cwnd.max(CWND_MIN);
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: Timeout) {
        window.collapse(timeout.load, timeout.again);
        self.grows = true;
    }

    fn is_overdue(&self, age: Span) -> bool {
        self.estimate.is_some_and(|(srtt, var)| age.as_secs() > srtt + 4.0 * var)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;

    /// The window after a round trip of `rtt_ms` in congestion avoidance, with the least one 100 ms.
    fn after_a_round_trip(cwnd: f64, rtt_ms: u64) -> f64 {
        let params = TcpParams::default();
        let mut vegas = Vegas::new(&params);
        vegas.base_s = 0.1;
        let mut window = Window { cwnd, ssthresh: 2.0, ..Window::new(&params) };
        let ack = Ack {
            now: Time::ZERO,
            acked: 1,
            una: 1,
            next: 9,
            sent_end: 9,
            dupacks: 0,
            limit: 20.0,
            rtt: Some(Span::from_millis(rtt_ms)),
            srtt: None,
            may_open: true,
        };
        vegas.on_ack(&mut window, &ack);
        // Within the round trip nothing is decided again.
        let decided = window.cwnd;
        vegas.on_ack(&mut window, &Ack { una: 2, ..ack });
        assert_eq!(window.cwnd.to_bits(), decided.to_bits());
        window.cwnd
    }

    #[test]
    fn between_alpha_and_beta_the_window_stays() {
        // Of eight, 0, 0.73, 2, 3.2 and 4 wait.
        let windows = [100, 110, 133, 167, 200].map(|rtt_ms| after_a_round_trip(8.0, rtt_ms));
        assert_eq!(windows.map(f64::to_bits), [9.0, 9.0, 8.0, 7.0, 7.0].map(f64::to_bits));
        assert_eq!(after_a_round_trip(2.0, 10_000).to_bits(), 2.0f64.to_bits(), "never below two");
        assert_eq!(after_a_round_trip(20.0, 100).to_bits(), 20.0f64.to_bits(), "never above the receiver's");
    }

    #[test]
    fn slow_start_ends_an_eighth_lower_when_more_than_gamma_waits() {
        let mut vegas = Vegas::new(&TcpParams::default());
        vegas.base_s = 0.1;
        (vegas.sum_s, vegas.samples) = (0.2, 1);
        let mut window = Window { cwnd: 8.0, ssthresh: 20.0, ..Window::new(&TcpParams::default()) };
        vegas.decide(&mut window, 20.0);
        assert_eq!((window.cwnd, window.ssthresh), (7.0, 2.0));
    }

    #[test]
    fn a_segment_is_overdue_after_the_smoothed_round_trip_and_four_deviations() {
        let mut vegas = Vegas::new(&TcpParams::default());
        assert!(!vegas.is_overdue(Span::from_secs(100.0)), "before the first sample");
        [0.1, 0.2].into_iter().for_each(|rtt_s| vegas.sample(rtt_s));
        // (7 · 100 + 200) / 8 ms, and four times (3 · 50 + 100) / 4 ms.
        let overdue = [362, 363].map(|age_ms| vegas.is_overdue(Span::from_millis(age_ms)));
        assert_eq!(overdue, [false, true]);
    }
}
