//! Random early detection (Floyd and Jacobson 1993): congestion is told by the average length of the queue,
//! to a few packets at random, before the queue is full. Names are the paper's.

use super::QueueParams;
use crate::kernel::{Span, Stream, Time};

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Admit,
    /// Its sender shall learn of congestion: by a mark if it understands marks, else by the loss of the
    /// packet.
    Notify,
    /// The average is beyond what marks can mend (RFC 3168 §7): the packet is dropped in any case.
    Drop,
}

/// What spaces notices evenly (§5): `count`, the packets since the last one; none while none are to be given.
#[derive(Default)]
pub(super) struct Spacing(Option<u32>);

impl Spacing {
    /// No notices are to be given.
    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    /// A notice has been given.
    fn begin(&mut self) {
        self.0 = Some(0);
    }

    /// Counts a packet, and says with what probability its sender learns of congestion (`p_a`).
    pub(super) fn probability(&mut self, p_b: f64) -> f64 {
        let count = self.0.map_or(0, |count| count + 1);
        self.0 = Some(count);
        let left = 1.0 - f64::from(count) * p_b;
        if left > 0.0 { (p_b / left).min(1.0) } else { 1.0 }
    }

    /// Draws whether its sender learns of it.
    pub(super) fn draw(&mut self, probability: f64, stream: &mut Stream) -> Decision {
        if probability > 0.0 && stream.unit() < probability {
            self.begin();
            Decision::Notify
        } else {
            Decision::Admit
        }
    }
}

/// The detector of one queue.
pub(super) struct Red {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    gentle: bool,
    /// Time in which an idle link would have sent a packet.
    idle_packet: Span,
    /// The average number of packets that wait.
    avg: f64,
    spacing: Spacing,
    /// Since when nothing waits and nothing is sent (`q_time`).
    idle_since: Option<Time>,
    stream: Stream,
}

impl Red {
    pub(super) fn new(params: &QueueParams, stream: Stream) -> Red {
        Red {
            min_th: params.red_min_threshold,
            max_th: params.red_max_threshold,
            max_p: params.red_max_p,
            w_q: params.red_weight,
            gentle: params.red_gentle,
            idle_packet: Span::from_secs(params.red_idle_packet_ms * 1e-3),
            avg: 0.0,
            spacing: Spacing::default(),
            idle_since: Some(Time::ZERO),
            stream,
        }
    }

    /// A packet arrives while `waiting` others wait.
    pub(super) fn judge(&mut self, now: Time, waiting: usize) -> Decision {
        let was_idle = self.idle_since.is_some();
        self.average(now, waiting);
        let Some(probability) = self.notice_probability() else {
            // What is dropped at an idle link leaves it idle.
            self.idle_since = was_idle.then_some(now);
            return Decision::Drop;
        };
        self.spacing.draw(probability, &mut self.stream)
    }

    /// `avg`: a moving average over arrivals, which over idle time goes on as if small packets had met an
    /// empty queue.
    fn average(&mut self, now: Time, waiting: usize) {
        if self.idle_since.is_some() {
            self.end_idle(now);
        } else {
            self.avg += self.w_q * (waiting as f64 - self.avg);
        }
    }

    /// Counts the packet, and says with what probability its sender learns of congestion (`p_a`); none if it
    /// must be dropped.
    fn notice_probability(&mut self) -> Option<f64> {
        let p_b = if self.avg < self.min_th {
            self.spacing.end();
            return Some(0.0);
        } else if self.avg < self.max_th {
            self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle && self.avg < 2.0 * self.max_th {
            // Floyd 2000: from max_p at max_th to one at twice that.
            self.max_p + (1.0 - self.max_p) * (self.avg - self.max_th) / self.max_th
        } else {
            self.spacing.begin();
            return None;
        };
        Some(self.spacing.probability(p_b))
    }

    /// The link sends again: the average has fallen over the idle time.
    pub(super) fn end_idle(&mut self, now: Time) {
        if let Some(since) = self.idle_since.take() {
            let packets = now.since(since).as_secs() / self.idle_packet.as_secs();
            self.avg *= libm::pow(1.0 - self.w_q, packets);
        }
    }

    /// Nothing waits and nothing is sent.
    pub(super) fn begin_idle(&mut self, now: Time) {
        self.idle_since = self.idle_since.or(Some(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    fn red(params: &QueueParams) -> Red {
        Red::new(params, Streams::new(1, 0).stream(0, Purpose::Queue))
    }

    /// Thresholds 5 and 15, as in the paper's simulations; w_q is large so that few packets move the average.
    fn params() -> QueueParams {
        QueueParams {
            red_min_threshold: 5.0,
            red_max_threshold: 15.0,
            red_max_p: 0.02,
            red_weight: 0.25,
            red_gentle: false,
            red_idle_packet_ms: 4.0,
            ..QueueParams::default()
        }
    }

    fn busy(params: &QueueParams, avg: f64) -> Red {
        let mut red = red(params);
        red.end_idle(Time::ZERO);
        red.avg = avg;
        red
    }

    /// Equation 2: after L arrivals that each find one packet more, from an empty queue on, the average is
    /// L + 1 + ((1 − w)^(L+1) − 1) ÷ w.
    #[test]
    fn a_burst_moves_the_average_as_equation_2_says() {
        let w_q = 0.002;
        let mut red = busy(&QueueParams { red_weight: w_q, ..params() }, 0.0);
        for length in 1..=100 {
            red.average(Time::ZERO, length);
        }
        let expected = 101.0 + (libm::pow(1.0 - w_q, 101.0) - 1.0) / w_q;
        assert!((red.avg - expected).abs() < 1e-9, "{} {expected}", red.avg);
    }

    /// A script of arrivals, with averages and probabilities worked out from the paper's Fig. 2.
    #[test]
    fn averages_and_probabilities_follow_the_algorithm() {
        let mut red = busy(&params(), 4.0);
        let mut probability = |waiting| {
            red.average(Time::ZERO, waiting);
            (red.avg, red.notice_probability())
        };
        // 4 + (6 − 4)/4 is below min_th.
        assert_eq!(probability(6), (4.5, Some(0.0)));
        // 4.5 + 8/4 − 4.5/4 = 5.375 and so on; p_b = 0.02 (avg − 5)/10; p_a = p_b/(1 − count p_b).
        let p_b = |avg: f64| 0.02 * (avg - 5.0) / 10.0;
        let mut avg: f64 = 4.5;
        for (count, waiting) in [8, 10, 12, 14].into_iter().enumerate() {
            avg = 0.75 * avg + 0.25 * f64::from(waiting);
            let p_a = p_b(avg) / (1.0 - count as f64 * p_b(avg));
            let (found, notice) = probability(waiting as usize);
            assert!((found - avg).abs() < 1e-12);
            assert!((notice.expect("not to drop") - p_a).abs() < 1e-12);
        }
        // 9.3 + (40 − 9.3)/4 is beyond max_th.
        let (avg, notice) = probability(40);
        assert!(avg > 15.0 && notice.is_none());
    }

    /// §5: with p_a = p_b/(1 − count p_b) the number of packets from one notice to the next is uniform. Its
    /// greatest value is 1/p_b in the text and one less in Fig. 2, which counts the arriving packet first.
    #[test]
    fn notices_are_spaced_evenly() {
        let params = QueueParams { red_max_p: 0.1, ..params() };
        // p_b = 0.05: intervals from 1 to 19.
        let mut red = busy(&params, 10.0);
        let (mut intervals, mut since) = ([0u32; 19], 0);
        red.spacing.begin();
        while intervals.iter().sum::<u32>() < 19_000 {
            since += 1;
            if red.judge(Time::ZERO, 10) == Decision::Notify {
                intervals[since - 1] += 1;
                since = 0;
            }
        }
        // 18 degrees of freedom: 42.3 is the 0.999 quantile.
        let chi2: f64 = intervals.iter().map(|&n| libm::pow(f64::from(n) - 1000.0, 2.0) / 1000.0).sum();
        assert!(chi2 < 42.3, "{chi2}: {intervals:?}");
    }

    #[test]
    fn idle_time_counts_as_small_packets_that_found_nothing() {
        let mut red = busy(&params(), 8.0);
        red.begin_idle(Time::from_secs(1.0));
        red.begin_idle(Time::from_secs(1.01));
        // Three packets of 4 ms; the arrival itself finds an empty queue and adds nothing.
        assert_eq!(red.judge(Time::from_secs(1.012), 0), Decision::Admit);
        assert!((red.avg - 8.0 * libm::pow(0.75, 3.0)).abs() < 1e-9, "{}", red.avg);
        assert_eq!(red.judge(Time::from_secs(2.0), 0), Decision::Admit);
        assert!((red.avg - 8.0 * libm::pow(0.75, 4.0)).abs() < 1e-9, "the link is busy: one packet more");
    }

    #[test]
    fn what_is_dropped_at_an_idle_link_leaves_it_idle() {
        let mut red = busy(&params(), 60.0);
        red.begin_idle(Time::ZERO);
        assert_eq!(red.judge(Time::from_secs(0.004), 0), Decision::Drop);
        assert_eq!(red.judge(Time::from_secs(0.008), 0), Decision::Drop);
        assert!((red.avg - 60.0 * libm::pow(0.75, 2.0)).abs() < 1e-9, "{}", red.avg);
    }

    #[test]
    fn gentle_goes_on_to_twice_the_maximum() {
        let params = QueueParams { red_gentle: true, ..params() };
        let at = |avg: f64| busy(&params, avg).notice_probability();
        assert_eq!(at(15.0), Some(0.02));
        assert!((at(22.5).expect("not to drop") - 0.51).abs() < 1e-12);
        assert_eq!(at(30.0), None);
    }
}
