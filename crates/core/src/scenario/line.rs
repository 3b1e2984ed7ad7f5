//! Wired links: what goes from one node to another without the radio.
//!
//! **Implemented.** A wired link is full duplex. In each direction packets are sent one after the other at
//! the link's rate and arrive after its delay, in order; those that find the line busy wait in a queue that
//! drops what comes when it is full. Nothing is lost on the way.
//!
//! **Not implemented.** Framing, shared media, errors, queues that prefer or mark packets, broadcasts: what
//! goes to all neighbours goes over the radio alone. *Deviations*: none, there is no standard.
//!
//! Nothing needs a timer: when a packet will have arrived is known when the line takes it.

use std::collections::VecDeque;

use super::WiredLink;
use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// One direction of a wired link.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    rate_bps: f64,
    delay: Span,
    /// How many packets may wait.
    places: usize,
    /// The last packet taken has left by then.
    busy_until: Time,
    /// When those packets begin to be sent that have not, the first one first.
    waiting: VecDeque<Time>,
}

impl Line {
    /// Both directions of a link.
    pub(crate) fn both(link: &WiredLink) -> [Line; 2] {
        let [a, b] = link.nodes.map(NodeId);
        [(a, b), (b, a)].map(|(from, to)| Line {
            from,
            to,
            rate_bps: link.rate_bps,
            delay: Span::from_secs(link.delay_s),
            places: link.queue_packets as usize,
            busy_until: Time::ZERO,
            waiting: VecDeque::new(),
        })
    }

    /// Takes a packet of so many bytes: when its last bit arrives; none if the queue is full.
    pub(crate) fn take(&mut self, now: Time, bytes: u32) -> Option<Time> {
        while self.waiting.front().is_some_and(|&begins| begins <= now) {
            self.waiting.pop_front();
        }
        if self.busy_until > now {
            if self.waiting.len() >= self.places {
                return None;
            }
            self.waiting.push_back(self.busy_until);
        }
        self.busy_until = self.busy_until.max(now) + Span::of_bits(8 * u64::from(bytes), self.rate_bps);
        Some(self.busy_until + self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Mb/s, so that 125 bytes take a millisecond; 10 ms to the other end.
    fn line(queue_packets: u32) -> Line {
        let [line, _] = Line::both(&WiredLink { nodes: [0, 1], rate_bps: 1e6, delay_s: 0.01, queue_packets });
        line
    }

    fn at(ms: f64) -> Time {
        Time::from_secs(ms * 1e-3)
    }

    /// ```text
    /// takes   a b c           d
    /// sends   |-a-|-b-|-c-|   |-d-|
    /// ```
    #[test]
    fn packets_are_sent_one_after_the_other() {
        let mut line = line(10);
        let arrivals: Vec<_> = [0.0, 0.25, 0.5, 4.0].map(|ms| line.take(at(ms), 125)).to_vec();
        assert_eq!(arrivals, [11.0, 12.0, 13.0, 15.0].map(|ms| Some(at(ms))));
        assert_eq!(line.take(at(5.0), 250), Some(at(17.0)), "the line is free again at this instant");
    }

    #[test]
    fn what_finds_all_places_taken_is_dropped() {
        let mut line = line(2);
        let taken = |line: &mut Line, ms| line.take(at(ms), 125).is_some();
        // One is being sent, two wait.
        assert_eq!([0.0, 0.1, 0.2, 0.3].map(|ms| taken(&mut line, ms)), [true, true, true, false]);
        // At 1 ms the second begins to be sent, and its place is free.
        assert_eq!([0.9, 1.0, 1.1].map(|ms| taken(&mut line, ms)), [false, true, false]);
    }

    #[test]
    fn without_a_queue_only_a_free_line_takes_packets() {
        let mut line = line(0);
        assert_eq!([0.0, 0.9, 1.0].map(|ms| line.take(at(ms), 125).is_some()), [true, false, true]);
    }
}
