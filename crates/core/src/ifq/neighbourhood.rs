//! Neighbourhood RED: random early detection over the queue that a node and all whom it disturbs have
//! together.
//!
//! *After*: Xu, Gerla, Qi, Shu: "Enhancing TCP Fairness in Ad Hoc Wireless Networks Using Neighborhood RED"
//! (MobiCom 2003), of which only the abstract could be read: nodes that disturb each other have one
//! distributed queue, in which some get no feedback. The three parts below and their values are from memory.
//!
//! **Implemented.** *Detection* (NCD): nobody sees the distributed queue, but a busy channel shows that it is
//! long, so that the average of the channel's utilisation stands for RED's average length. *Notification*
//! (NCN): a node whose neighbourhood is congested, and that is on the path of a flow, broadcasts the drop
//! probability per unit of utilisation. *Distributed drop* (DNCD): who hears it drops with this times its own
//! use of the channel.
//!
//! **Not implemented.** Notifications beyond one hop.
//!
//! **Deviations**: 3 to 6 in docs/models/interface-queue-and-arp.md.

use super::QueueParams;
use super::red::{Decision, Spacing};
use crate::kernel::{Span, Stream, Time};
use crate::wire::congestion::Notification;

/// How a node's channel was used over some time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ChannelUse {
    /// For how long it was busy: the node sent, or sensed others, or the medium was reserved for them.
    pub busy: Span,
    /// For how long the node sent, or received what was for it.
    pub own: Span,
}

/// The detector of one node.
pub(super) struct Neighbourhood {
    interval: Span,
    w_q: f64,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    least_own: f64,
    lifetime: Span,
    /// When the channel is looked at next.
    due: Time,
    looked: Time,
    /// The average utilisation of the channel, and this node's own part, from 0 to 1.
    avg: f64,
    avg_own: f64,
    /// The largest probability told, by this node or others, and until when it is believed.
    told: Option<(f64, Time)>,
    spacing: Spacing,
    stream: Stream,
}

impl Neighbourhood {
    /// Nodes look at their channels at different times: the first one is drawn.
    pub(super) fn new(params: &QueueParams, mut stream: Stream) -> Neighbourhood {
        let interval = Span::from_secs(params.nred_interval_ms * 1e-3);
        Neighbourhood {
            interval,
            w_q: params.nred_weight,
            min_th: params.nred_min_threshold,
            max_th: params.nred_max_threshold,
            max_p: params.nred_max_p,
            least_own: params.nred_own_use,
            lifetime: Span::from_secs(params.nred_lifetime_ms * 1e-3),
            due: Time::ZERO + stream.span_below(interval),
            looked: Time::ZERO,
            avg: 0.0,
            avg_own: 0.0,
            told: None,
            spacing: Spacing::default(),
            stream,
        }
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.due
    }

    /// Looks at the channel's use since it was looked at last. Returns what neighbours are to be told.
    pub(super) fn handle_timeout(&mut self, now: Time, used: ChannelUse) -> Option<Notification> {
        if now < self.due {
            return None;
        }
        self.detect(now, used);
        let p_b = self.drop_probability();
        // Who is not on the path of a flow can tell its neighbours nothing of their queue.
        if p_b == 0.0 || self.avg_own < self.least_own {
            return None;
        }
        let normalised_p = p_b / self.avg;
        if self.believed(now) > normalised_p {
            return None;
        }
        let notification = Notification { normalised_p, lifetime: self.lifetime };
        self.handle_notification(now, notification);
        Some(notification)
    }

    /// NCD: moving averages over intervals.
    fn detect(&mut self, now: Time, used: ChannelUse) {
        let passed = now.since(self.looked).as_secs();
        (self.looked, self.due) = (now, now + self.interval);
        if passed > 0.0 {
            self.avg += self.w_q * ((used.busy.as_secs() / passed).min(1.0) - self.avg);
            self.avg_own += self.w_q * ((used.own.as_secs() / passed).min(1.0) - self.avg_own);
        }
    }

    /// RED's `p_b`, with the utilisation as the average. It stays at `max_p` above the upper threshold.
    fn drop_probability(&self) -> f64 {
        self.max_p * ((self.avg - self.min_th) / (self.max_th - self.min_th)).clamp(0.0, 1.0)
    }

    /// NCN: of all that is told the largest probability counts.
    pub(super) fn handle_notification(&mut self, now: Time, notification: Notification) {
        if notification.normalised_p >= self.believed(now) {
            self.told = Some((notification.normalised_p, now + notification.lifetime));
        }
    }

    fn believed(&self, now: Time) -> f64 {
        self.told.filter(|told| now < told.1).map_or(0.0, |told| told.0)
    }

    /// DNCD: a packet is to be sent.
    pub(super) fn judge(&mut self, now: Time) -> Decision {
        let p_b = (self.believed(now) * self.avg_own).min(1.0);
        if p_b == 0.0 {
            self.spacing.end();
            return Decision::Admit;
        }
        let p_a = self.spacing.probability(p_b);
        self.spacing.draw(p_a, &mut self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    const INTERVAL: u64 = 100;

    fn ms(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    /// Without memory: the average is the last interval's utilisation. From none at 0.5 to 0.2 at 0.9.
    fn params() -> QueueParams {
        QueueParams {
            nred_interval_ms: INTERVAL as f64,
            nred_weight: 1.0,
            nred_min_threshold: 0.5,
            nred_max_threshold: 0.9,
            nred_max_p: 0.2,
            nred_own_use: 0.1,
            nred_lifetime_ms: 150.0,
            ..QueueParams::default()
        }
    }

    /// A detector that looks at the channel at 0, 100 ms, …
    fn detector(params: &QueueParams) -> Neighbourhood {
        let stream = Streams::new(1, 0).stream(0, Purpose::Queue);
        let mut detector = Neighbourhood::new(params, stream);
        assert!(detector.next_timeout() < ms(INTERVAL));
        detector.due = Time::ZERO;
        assert_eq!(detector.handle_timeout(Time::ZERO, ChannelUse::default()), None);
        detector
    }

    /// The channel was busy for so many ms of the last interval, of which so many were the node's own.
    fn used(busy: u64, own: u64) -> ChannelUse {
        ChannelUse { busy: ms(busy).since(Time::ZERO), own: ms(own).since(Time::ZERO) }
    }

    fn told(probability: Option<Notification>) -> Option<f64> {
        probability.map(|notification| (notification.normalised_p * 1e9).round() / 1e9)
    }

    #[test]
    fn the_probability_rises_with_the_utilisation_between_the_thresholds() {
        let mut detector = detector(&params());
        let told = [(50, 0.0), (51, 0.005), (70, 0.1), (90, 0.2), (100, 0.2)].map(|(busy, p_b)| {
            let at = detector.next_timeout() + detector.lifetime;
            detector.due = at;
            detector.looked = Time(at.0 - ms(INTERVAL).0);
            let p = told(detector.handle_timeout(at, used(busy, 20))).unwrap_or_default();
            (p - p_b / (busy as f64 / 100.0)).abs()
        });
        assert!(told.iter().all(|error| *error < 1e-8), "{told:?}");
    }

    #[test]
    fn averages_move_by_their_weight() {
        let mut detector = detector(&QueueParams { nred_weight: 0.25, ..params() });
        for (at, busy, avg, avg_own) in
            [(100, 80, 0.2, 0.1), (200, 80, 0.35, 0.175), (300, 0, 0.2625, 0.13125)]
        {
            detector.handle_timeout(ms(at), used(busy, busy / 2));
            assert!((detector.avg - avg).abs() < 1e-12 && (detector.avg_own - avg_own).abs() < 1e-12, "{at}");
        }
        assert_eq!(detector.next_timeout(), ms(400));
    }

    #[test]
    fn an_early_call_does_nothing() {
        let mut detector = detector(&params());
        assert_eq!(detector.handle_timeout(ms(99), used(99, 99)), None);
        assert_eq!((detector.avg, detector.next_timeout()), (0.0, ms(100)));
    }

    #[test]
    fn who_is_on_no_path_tells_nobody_and_drops_nothing() {
        let mut detector = detector(&params());
        assert_eq!(detector.handle_timeout(ms(100), used(90, 9)), None);
        assert_eq!(detector.judge(ms(100)), Decision::Admit);
        assert!(detector.handle_timeout(ms(200), used(90, 11)).is_some());
    }

    /// The others' probability is believed for 150 ms.
    #[test]
    fn a_larger_probability_that_was_heard_keeps_a_node_silent() {
        let mut detector = detector(&params());
        let heard = Notification { normalised_p: 0.3, lifetime: detector.lifetime };
        detector.handle_notification(ms(60), heard);
        // Its own would be 0.2 / 0.9.
        assert_eq!(detector.handle_timeout(ms(100), used(90, 50)), None);
        assert_eq!(detector.handle_timeout(ms(200), used(90, 50)), None);
        assert_eq!(told(detector.handle_timeout(ms(300), used(90, 50))), Some(0.222_222_222));
        // A smaller one that is heard changes nothing.
        detector.handle_notification(ms(310), Notification { normalised_p: 0.1, ..heard });
        assert!((detector.believed(ms(449)) - 0.2 / 0.9).abs() < 1e-12);
        assert!(detector.believed(ms(450)).abs() < 1e-12);
    }

    /// Told 0.5, nodes that use 0.2 and 0.4 of the channel drop with 0.1 and 0.2: the gaps are uniform from 1
    /// to 9 and 4.
    #[test]
    fn nodes_drop_by_their_own_use_of_the_channel() {
        for (own, longest) in [(20, 9), (40, 4)] {
            let mut detector = detector(&params());
            detector.handle_timeout(ms(100), used(45, own));
            detector
                .handle_notification(ms(100), Notification { normalised_p: 0.5, lifetime: Span(1 << 60) });
            let drops: Vec<usize> =
                (0..2000).filter(|_| detector.judge(ms(101)) == Decision::Notify).collect();
            let gaps: Vec<usize> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert_eq!(gaps.iter().max(), Some(&longest), "{own}");
            // Their deviation is at most 2.6, that of the mean of hundreds below 0.14.
            let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
            assert!((mean - (1.0 + longest as f64) / 2.0).abs() < 0.5, "{own}: {mean}");
        }
    }
}
