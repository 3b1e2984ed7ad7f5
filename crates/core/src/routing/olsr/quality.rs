//! How good links are: the hysteresis of RFC 3626 §14, and the link qualities of olsrd 0.9.8 (`etx_ff`).

use crate::kernel::{Span, Time};
use crate::wire::olsr::Qualities;

/// What a packet costs on a link, in 1024ths of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cost(u32);

impl Cost {
    /// A link that carries nothing.
    pub(super) const BROKEN: Cost = Cost(1 << 22);
    /// A link on which nothing is lost, and every link where hops are counted.
    pub(super) const HOP: Cost = Cost(1024);
    /// Links on which fewer packets arrive, in 255ths, are broken: a tenth.
    const LEAST_QUALITY: u8 = 25;

    /// Of a link with these qualities.
    pub(super) fn of(qualities: Qualities) -> Cost {
        let Qualities { here, there } = qualities;
        if here.min(there) < Self::LEAST_QUALITY {
            return Cost::BROKEN;
        }
        Cost(Self::HOP.0 * 255 * 255 / (u32::from(here) * u32::from(there)))
    }

    /// Of one link after the other.
    pub(super) fn and(self, other: Cost) -> Cost {
        if self.is_broken() || other.is_broken() {
            return Cost::BROKEN;
        }
        Cost(self.0.saturating_add(other.0))
    }

    pub(super) fn is_broken(self) -> bool {
        self >= Cost::BROKEN
    }
}

/// Seconds that are remembered.
const WINDOW: usize = 32;
/// Those that count when the first packet has come.
const FIRST_WINDOW: usize = 4;
/// Packets that are taken for expected, and lost, in each second before the first one.
const ASSUMED: u32 = 3;
/// A gap in the numbers of packets beyond which it is not taken for losses.
const MOST_LOST: u16 = 256;

/// The packets of a neighbour in the last seconds.
#[derive(Clone, Debug)]
pub(super) struct Received {
    received: [u32; WINDOW],
    expected: [u32; WINDOW],
    /// How many of these count, and which is now's.
    window: usize,
    second: usize,
    last_hello: Time,
    hello_interval: Span,
}

impl Received {
    /// Nothing yet.
    pub(super) fn new(now: Time, hello_interval: Span) -> Received {
        Received {
            received: [0; WINDOW],
            expected: [ASSUMED; WINDOW],
            window: FIRST_WINDOW,
            second: 0,
            last_hello: now,
            hello_interval,
        }
    }

    /// A packet came, and `gap` numbers after the last one; none for the first packet.
    pub(super) fn packet(&mut self, gap: Option<u16>) {
        let gap = match gap {
            Some(0) => return,
            Some(gap) if gap <= MOST_LOST => gap,
            _ => 1,
        };
        self.received[self.second] += 1;
        self.expected[self.second] += u32::from(gap);
    }

    /// A HELLO came, and says when the next one will.
    pub(super) fn hello(&mut self, now: Time, interval: Span) {
        (self.last_hello, self.hello_interval) = (now, interval);
    }

    /// A second is over: which share of the packets came, in 255ths.
    pub(super) fn end_second(&mut self, now: Time) -> u8 {
        let sum = |counts: &[u32; WINDOW]| counts[..self.window].iter().sum::<u32>();
        let (received, expected) = (f64::from(sum(&self.received)), f64::from(sum(&self.expected)));
        let share = if expected > 0.0 { received * self.silence_factor(now) / expected } else { 0.0 };
        self.window = (self.window + 1).min(WINDOW);
        self.second = (self.second + 1) % self.window;
        (self.received[self.second], self.expected[self.second]) = (0, 0);
        (share * 255.0).min(255.0) as u8
    }

    /// A HELLO is missed half an interval after it was due, then one every interval. From the second one on
    /// the seconds that they tell of count as lost.
    fn silence_factor(&self, now: Time) -> f64 {
        let interval_s = self.hello_interval.as_secs().max(1e-3);
        let missed = libm::floor(now.since(self.last_hello).as_secs() / interval_s - 0.5);
        if missed < 2.0 {
            return 1.0;
        }
        (1.0 - missed * interval_s / WINDOW as f64).max(0.0)
    }
}

/// Do qualities differ so much from those in use that routes must be computed anew: by more than a tenth, or
/// because nothing is lost any more?
pub(super) fn differ(used: Qualities, new: Qualities) -> bool {
    let one = |used: u8, new: u8| {
        used != new && (new == u8::MAX || u32::from(used.abs_diff(new)) * 10 > u32::from(used))
    };
    one(used.here, new.here) || one(used.there, new.there)
}

/// RFC 3626 §14: how steadily the packets of a neighbour come.
#[derive(Clone, Debug)]
pub(super) struct Steadiness {
    /// 0 to 1.
    quality: f64,
    /// Is the link not established yet, or not any more?
    pub(super) is_pending: bool,
    /// When a packet will be missed.
    pub(super) silent_at: Time,
    /// Packets that were missed since the last one came.
    missed: u16,
}

/// The parameters of the hysteresis: weight of the newest packet, and the two thresholds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    pub(super) scaling: f64,
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Steadiness {
    /// After the first packet.
    pub(super) fn new(thresholds: Thresholds, silent_at: Time) -> Steadiness {
        Steadiness { quality: thresholds.scaling, is_pending: true, silent_at, missed: 0 }
    }

    /// Of a link that needs none.
    pub(super) fn always() -> Steadiness {
        Steadiness { quality: 1.0, is_pending: false, silent_at: Time::NEVER, missed: 0 }
    }

    /// A packet came, `gap` numbers after the last one.
    pub(super) fn packet(&mut self, thresholds: Thresholds, gap: u16, silent_at: Time) {
        let gap = if gap > MOST_LOST { 1 } else { gap };
        let lost = gap.saturating_sub(1).saturating_sub(self.missed);
        (0..lost).for_each(|_| self.quality *= 1.0 - thresholds.scaling);
        self.quality = (1.0 - thresholds.scaling) * self.quality + thresholds.scaling;
        (self.missed, self.silent_at) = (0, silent_at);
        self.decide(thresholds);
    }

    /// No packet came when one was due; another one is due `interval` later.
    pub(super) fn silence(&mut self, thresholds: Thresholds, interval: Span) {
        self.missed = self.missed.saturating_add(1);
        self.quality *= 1.0 - thresholds.scaling;
        self.silent_at += interval;
        self.decide(thresholds);
    }

    fn decide(&mut self, thresholds: Thresholds) {
        if self.quality > thresholds.high {
            self.is_pending = false;
        } else if self.quality < thresholds.low {
            self.is_pending = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    const STANDARD: Thresholds = Thresholds { scaling: 0.5, high: 0.8, low: 0.3 };

    #[test]
    fn the_third_packet_establishes_a_link_and_two_losses_break_it() {
        let mut link = Steadiness::new(STANDARD, at(2.0));
        link.packet(STANDARD, 1, at(3.0));
        assert!(link.is_pending, "0.75 after the second packet");
        link.packet(STANDARD, 1, at(4.0));
        assert!(!link.is_pending, "0.875");
        link.silence(STANDARD, Span::from_secs(2.0));
        assert!(!link.is_pending, "0.4375");
        assert_eq!(link.silent_at, at(6.0));
        link.silence(STANDARD, Span::from_secs(2.0));
        assert!(link.is_pending, "0.21875");
    }

    #[test]
    fn a_packet_missed_in_silence_is_no_loss_again_when_its_number_is_missing() {
        let mut link = Steadiness::new(STANDARD, at(2.0));
        (0..2).for_each(|_| link.packet(STANDARD, 1, at(2.0)));
        link.silence(STANDARD, Span::from_secs(2.0));
        link.packet(STANDARD, 2, at(8.0));
        assert!((link.quality - (0.875 * 0.5 * 0.5 + 0.5)).abs() < 1e-12);
    }

    #[test]
    fn costs_are_those_of_olsrd() {
        let cost = |here, there| Cost::of(Qualities { here, there });
        assert_eq!(cost(255, 255), Cost::HOP);
        assert_eq!(cost(255, 128).0, 1024 * 255 / 128);
        assert!(cost(24, 255).is_broken() && cost(255, 24).is_broken());
        assert_eq!(cost(25, 25).0, 1024 * 255 * 255 / 625);
        assert_eq!((Cost::HOP.and(Cost::BROKEN), Cost::BROKEN.and(Cost::HOP)), (Cost::BROKEN, Cost::BROKEN));
    }

    /// A neighbour whose packets all come: the packets assumed lost at first are forgotten in half a minute.
    #[test]
    fn a_link_becomes_good_within_the_window() {
        let mut link = Received::new(at(0.0), Span::from_secs(2.0));
        let mut last = 0;
        for second in 1..80 {
            link.packet(Some(1));
            link.hello(at(f64::from(second)), Span::from_secs(2.0));
            let quality = link.end_second(at(f64::from(second)));
            assert!(quality >= last);
            last = quality;
            if second == 4 {
                assert!(quality > 25 && quality < 100, "{quality} at first");
            }
        }
        assert_eq!(last, 255);
        // Two HELLOs missed: 28/32 of it.
        assert_eq!(link.end_second(at(79.0 + 4.9)), 255);
        assert_eq!(link.end_second(at(79.0 + 5.1)), (255.0 * 28.0 / 32.0) as u8);
        assert_eq!(link.end_second(at(79.0 + 7.1)), (255.0 * 26.0 / 32.0) as u8);
    }

    #[test]
    fn half_of_the_packets_make_half_the_quality() {
        let mut link = Received::new(at(0.0), Span::from_secs(2.0));
        for second in 1..100 {
            link.packet(Some(2));
            link.hello(at(f64::from(second)), Span::from_secs(2.0));
            if second > 70 {
                assert_eq!(link.end_second(at(f64::from(second))), 127);
            } else {
                link.end_second(at(f64::from(second)));
            }
        }
    }

    #[test]
    fn only_a_change_of_a_tenth_is_heeded() {
        let of = |here| Qualities { here, there: 200 };
        assert!(!differ(of(200), of(181)) && differ(of(200), of(179)));
        assert!(differ(of(250), of(255)) && !differ(of(255), of(255)));
    }
}
