//! Packets as a list says: measured traffic played again.

use super::{Message, Source};
use crate::kernel::{Span, Time};

/// A source that makes each packet of a list at its time.
pub struct TraceSource {
    packets: std::vec::IntoIter<(Span, u32)>,
    start: Time,
    stop: Time,
}

impl TraceSource {
    /// A source of `packets`: time since `start` in s, never falling, and bytes. It makes none at or after
    /// `stop`.
    pub fn new(start: Time, stop: Time, packets: &[(f64, u32)]) -> TraceSource {
        let packets: Vec<(Span, u32)> =
            packets.iter().map(|&(time_s, bytes)| (Span::from_secs(time_s), bytes)).collect();
        TraceSource { packets: packets.into_iter(), start, stop }
    }
}

impl Source for TraceSource {
    fn next_timeout(&self) -> Time {
        let next = self.packets.as_slice().first().map_or(Time::NEVER, |&(after, _)| self.start + after);
        if next < self.stop { next } else { Time::NEVER }
    }

    #[expect(clippy::expect_used, reason = "the contract of `Source`: called only when a packet is due")]
    fn handle_timeout(&mut self) -> Message {
        let (_, bytes) = self.packets.next().expect("a packet is due");
        Message { bytes, frame: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_as_listed_until_the_stop() {
        let list = [(0.0, 10), (0.5, 20), (0.5, 30), (2.0, 40), (9.0, 50)];
        let mut source = TraceSource::new(Time::from_secs(1.0), Time::from_secs(10.0), &list);
        let mut seen = Vec::new();
        while source.next_timeout() != Time::NEVER {
            seen.push((source.next_timeout().as_secs(), source.handle_timeout().bytes));
        }
        assert_eq!(seen, [(1.0, 10), (1.5, 20), (1.5, 30), (3.0, 40)]);
    }
}
