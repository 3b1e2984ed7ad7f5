//! The source of a CBR flow: when its next packet is due.

use crate::kernel::{Span, Stream, Time};

/// Constant bit rate: one packet an interval (ns-2's `Application/Traffic/CBR`).
pub struct CbrSource {
    interval: Span,
    /// Vary each interval by up to half of it either way.
    random: bool,
    left: Option<u64>,
    stop: Time,
    next: Time,
    stream: Stream,
}

impl CbrSource {
    /// A source whose first packet comes at `start` and that makes none at or after `stop`.
    pub fn new(
        start: Time,
        stop: Time,
        interval: Span,
        random: bool,
        max_packets: Option<u64>,
        stream: Stream,
    ) -> CbrSource {
        let next = if max_packets == Some(0) { Time::NEVER } else { start };
        CbrSource { interval, random, left: max_packets, stop, next, stream }
    }

    /// When the next packet is due; [`Time::NEVER`] after the last.
    pub fn next_timeout(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    /// A packet is due: the source goes on to the next.
    pub fn handle_timeout(&mut self) {
        if let Some(left) = &mut self.left {
            *left -= 1;
            if *left == 0 {
                self.next = Time::NEVER;
                return;
            }
        }
        let interval =
            if self.random { self.interval.scaled(self.stream.uniform(0.5, 1.5)) } else { self.interval };
        self.next += interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    fn source(random: bool, max_packets: Option<u64>) -> CbrSource {
        let stream = Streams::new(1, 0).stream(0, Purpose::Traffic);
        CbrSource::new(Time(100), Time(10_000), Span(1000), random, max_packets, stream)
    }

    fn times(mut source: CbrSource) -> Vec<u64> {
        let mut times = Vec::new();
        while source.next_timeout() != Time::NEVER {
            times.push(source.next_timeout().0);
            source.handle_timeout();
        }
        times
    }

    #[test]
    fn packets_come_at_the_interval_until_the_stop() {
        assert_eq!(times(source(false, None)), [100, 1100, 2100, 3100, 4100, 5100, 6100, 7100, 8100, 9100]);
        assert_eq!(times(source(false, Some(3))), [100, 1100, 2100]);
    }

    #[test]
    fn random_intervals_stay_within_half_and_one_and_a_half() {
        let times = times(source(true, None));
        assert!(times.windows(2).all(|pair| (500..=1500).contains(&(pair[1] - pair[0]))));
        assert!(times.windows(2).any(|pair| pair[1] - pair[0] != 1000));
    }
}
