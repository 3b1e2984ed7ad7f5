//! Neighbours and the costs of the links to them (RFC 8966 §3.4, appendix A).

use super::params::{LinkCost, of_centis};
use crate::kernel::{Span, Time};
use crate::wire::babel::INFINITY;

/// Hellos farther from what was expected than this come from a neighbour that has started again
/// (RFC 8966 A.1).
const RESTARTED: u16 = 16;
/// The cost of a link on which nothing is lost (RFC 8966 A.2.2).
const NOMINAL: u16 = 256;
/// The newest of a history's bits.
const NEWEST: u16 = 0x8000;
/// The oldest four do not keep a link alive (babeld 1.14).
const RECENT: u16 = 0xfff0;
/// Of so many Hellos the share that came counts (after RFC 8966 A.2.2).
const COUNTED: u16 = 6;
/// From this silence on cost grows (babeld 1.14).
const SILENT_S: f64 = 40.0;

/// A neighbour.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    /// Which of its last sixteen Hellos came, the newest first.
    history: u16,
    /// The number of the next one; none before the first.
    expected: Option<u16>,
    hello_interval: Span,
    /// When that will be missed.
    pub(super) missed_at: Time,
    last_hello: Time,
    /// What the neighbour says that a packet to it costs, and until when that holds.
    txcost: u16,
    pub(super) ihu_until: Time,
    /// Hellos until the neighbour is told again that it is heard.
    pub(super) hellos_until_ihu: u32,
}

impl Neighbour {
    /// Of which the first packet has come, and whose first Hello is thought to come within this interval.
    pub(super) fn new(now: Time, hello_interval: Span) -> Neighbour {
        Neighbour {
            history: 0,
            expected: None,
            hello_interval,
            missed_at: now + hello_interval.scaled(1.5),
            last_hello: now,
            txcost: INFINITY,
            ihu_until: Time::NEVER,
            hellos_until_ihu: 0,
        }
    }

    /// Has a neighbour with a Hello of this number started again since the last one?
    pub(super) fn has_restarted(&self, seqno: u16) -> bool {
        let ahead = self.expected.map_or(0, |expected| seqno.wrapping_sub(expected));
        ahead.min(ahead.wrapping_neg()) > RESTARTED
    }

    /// Has it sent a Hello yet?
    pub(super) fn has_greeted(&self) -> bool {
        self.expected.is_some()
    }

    /// RFC 8966 A.1: the history after a Hello. Those that were missed in the meantime, or were thought so,
    /// are set right.
    pub(super) fn hello(&mut self, now: Time, seqno: u16, interval: u16) {
        let expected = self.expected.unwrap_or(seqno);
        let ahead = u32::from(seqno.wrapping_sub(expected));
        if ahead <= u32::from(RESTARTED) {
            self.history = self.history.checked_shr(ahead).unwrap_or(0);
        } else {
            let behind = u32::from(expected.wrapping_sub(seqno));
            self.history = self.history.checked_shl(behind).unwrap_or(0);
        }
        self.history = self.history >> 1 | NEWEST;
        self.expected = Some(seqno.wrapping_add(1));
        // An interval of nothing would be missed for ever.
        self.hello_interval = of_centis(interval.max(1));
        (self.last_hello, self.missed_at) = (now, now + self.hello_interval.scaled(1.5));
    }

    /// The next Hello did not come. Is nothing left that says that the neighbour is there?
    pub(super) fn miss_hello(&mut self) -> bool {
        self.history >>= 1;
        self.expected = self.expected.map(|seqno| seqno.wrapping_add(1));
        self.missed_at += self.hello_interval;
        self.history == 0
    }

    /// How well the neighbour says that it hears this node.
    pub(super) fn ihu(&mut self, txcost: u16, until: Time) {
        (self.txcost, self.ihu_until) = (txcost, until);
    }

    /// The neighbour says no more, or the MAC cannot reach it.
    pub(super) fn lose_ihu(&mut self) {
        (self.txcost, self.ihu_until) = (INFINITY, Time::NEVER);
    }

    /// What a packet from it costs (RFC 8966 A.2).
    pub(super) fn rxcost(&self, now: Time, by: LinkCost) -> u16 {
        let history = self.history;
        if history & RECENT == 0 {
            return INFINITY;
        }
        let cost = match by {
            LinkCost::Recent => {
                let (newest, second) = ((history & NEWEST) >> 2, (history & NEWEST >> 1) >> 1);
                let sum = u32::from(newest) + u32::from(second) + u32::from(history & 0x3fff);
                u32::from(NEWEST) * u32::from(NOMINAL) / (sum + 1)
            }
            LinkCost::Etx => {
                let came = (history >> (u16::BITS as u16 - COUNTED)).count_ones();
                if came == 0 {
                    return INFINITY;
                }
                u32::from(NOMINAL * COUNTED) / came
            }
        };
        let silent_s = now.since(self.last_hello).as_secs();
        let cost =
            if silent_s > SILENT_S { f64::from(cost) * (silent_s - 20.0) / 20.0 } else { f64::from(cost) };
        cost.min(f64::from(INFINITY)) as u16
    }

    /// The link's cost (RFC 8966 A.2.2): transmissions that a packet and its acknowledgement need.
    pub(super) fn cost(&self, now: Time, by: LinkCost) -> u16 {
        let (txcost, rxcost) = (self.txcost, self.rxcost(now, by));
        if txcost == INFINITY || rxcost == INFINITY {
            return INFINITY;
        }
        if txcost < NOMINAL && rxcost < NOMINAL {
            return txcost;
        }
        let product = u64::from(txcost.max(NOMINAL)) * u64::from(rxcost.max(NOMINAL));
        ((product + 128) >> 8).min(INFINITY.into()) as u16
    }

    /// Is the link so bad that the neighbour is told with every Hello how it is heard (babeld 1.14)?
    pub(super) fn is_marginal(&self) -> bool {
        self.txcost >= 384 || self.history & 0xf000 != 0xf000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};
    use crate::routing::testbench::at;

    /// A neighbour after Hellos that came (true) or were lost.
    fn after(came: &[bool]) -> Neighbour {
        let mut neighbour = Neighbour::new(at(0.0), of_centis(400));
        neighbour.expected = Some(0);
        let hellos = came.iter().enumerate().filter(|(_, came)| **came);
        hellos.for_each(|(seqno, _)| neighbour.hello(at(0.0), seqno as u16, 400));
        let silence = came.iter().rev().take_while(|came| !**came).count();
        (0..silence).for_each(|_| {
            neighbour.miss_hello();
        });
        neighbour
    }

    fn recent(came: &[bool]) -> u16 {
        after(came).rxcost(at(0.0), LinkCost::Recent)
    }

    #[test]
    fn costs_of_short_histories_are_those_of_babeld() {
        let first = [1, 2, 3, 4].map(|hellos| recent(&vec![true; hellos]));
        assert_eq!(first, [1023, 511, 341, 292]);
        let lost = [0, 1, 2, 3].map(|lost| recent(&[vec![true; 16], vec![false; lost]].concat()));
        assert_eq!(lost, [256, 341, 512, 1024]);
        assert_eq!(recent(&[vec![true; 16], vec![false; 12]].concat()), INFINITY);
    }

    #[test]
    fn costs_by_share_are_those_of_the_last_six() {
        let etx = |came: &[bool]| after(came).rxcost(at(0.0), LinkCost::Etx);
        assert_eq!((etx(&[true]), etx(&[true; 3]), etx(&[true; 9])), (1536, 512, 256));
        assert_eq!(etx(&[vec![true; 9], vec![false; 5]].concat()), 1536);
        assert_eq!(etx(&[vec![true; 9], vec![false; 6]].concat()), INFINITY);
    }

    /// Random losses: the mean cost is above that of the mean loss, by what a short memory costs.
    #[test]
    fn mean_costs_under_random_losses_are_as_computed() {
        let mut stream = Streams::new(3, 0).stream(0, Purpose::Channel);
        for (loss, wanted) in [(0.05, 273.0), (0.1, 293.0), (0.2, 347.0), (0.3, 443.0)] {
            let mut neighbour = after(&[true; 16]);
            let (mut sum, mut count) = (0.0, 0.0);
            for seqno in 16..40_000_u16 {
                if stream.unit() < loss {
                    neighbour.miss_hello();
                } else {
                    neighbour.hello(at(0.0), seqno, 400);
                }
                let cost = neighbour.rxcost(at(0.0), LinkCost::Recent);
                if cost < INFINITY {
                    (sum, count) = (sum + f64::from(cost), count + 1.0);
                }
            }
            assert!((sum / count / wanted - 1.0).abs() < 0.03, "{} at {loss}, not {wanted}", sum / count);
        }
    }

    #[test]
    fn a_hello_that_comes_late_undoes_what_was_missed() {
        let mut neighbour = after(&[true; 16]);
        neighbour.miss_hello();
        neighbour.hello(at(0.0), 16, 400);
        assert_eq!(neighbour.rxcost(at(0.0), LinkCost::Recent), 256);
        neighbour.hello(at(0.0), 16, 400);
        assert_eq!((neighbour.history, neighbour.expected), (u16::MAX, Some(17)), "the same twice");
        neighbour.hello(at(0.0), 19, 400);
        assert_eq!(neighbour.history, 0x9fff, "17 and 18 were lost");
        assert!(!neighbour.has_restarted(36) && neighbour.has_restarted(37));
        assert!(!neighbour.has_restarted(4) && neighbour.has_restarted(3));
    }

    #[test]
    fn a_link_costs_nothing_finite_until_both_ends_are_heard() {
        let mut neighbour = after(&[true; 16]);
        assert_eq!(neighbour.cost(at(0.0), LinkCost::Recent), INFINITY);
        neighbour.ihu(256, at(42.0));
        assert_eq!(neighbour.cost(at(0.0), LinkCost::Recent), 256);
        neighbour.ihu(512, at(42.0));
        assert_eq!(neighbour.cost(at(0.0), LinkCost::Recent), 512);
        neighbour.miss_hello();
        assert_eq!(neighbour.cost(at(0.0), LinkCost::Recent), 682);
        neighbour.lose_ihu();
        assert_eq!(neighbour.cost(at(0.0), LinkCost::Recent), INFINITY);
    }

    /// babeld 1.14: a cost of 384 in one direction, one of the last four Hellos lost in the other.
    #[test]
    fn a_link_is_marginal_that_loses_much_in_either_direction() {
        let mut neighbour = after(&[true; 16]);
        let marginal = [383, 384].map(|txcost| {
            neighbour.ihu(txcost, at(42.0));
            neighbour.is_marginal()
        });
        assert_eq!(marginal, [false, true]);
        neighbour.ihu(256, at(42.0));
        neighbour.miss_hello();
        assert!(neighbour.is_marginal());
    }
}
