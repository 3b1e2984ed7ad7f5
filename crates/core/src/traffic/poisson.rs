//! Packets at the events of a Poisson process.

use super::{Message, Source};
use crate::kernel::{Span, Stream, Time};

/// A source of packets of one length with independent, exponentially distributed gaps.
pub struct PoissonSource {
    bytes: u32,
    mean_s: f64,
    left: Option<u64>,
    stop: Time,
    next: Time,
    stream: Stream,
}

impl PoissonSource {
    /// A source that begins at `start`, so that its first packet comes one gap later, with a mean gap of
    /// `mean_s`; it makes no packet at or after `stop`.
    pub fn new(
        start: Time,
        stop: Time,
        bytes: u32,
        mean_s: f64,
        max_packets: Option<u64>,
        mut stream: Stream,
    ) -> PoissonSource {
        let next = start + Span::from_secs(stream.exponential(mean_s));
        PoissonSource { bytes, mean_s, left: max_packets, stop, next, stream }
    }
}

impl Source for PoissonSource {
    fn next_timeout(&self) -> Time {
        if self.next < self.stop && self.left != Some(0) { self.next } else { Time::NEVER }
    }

    fn handle_timeout(&mut self) -> Message {
        self.next += Span::from_secs(self.stream.exponential(self.mean_s));
        self.left = self.left.map(|left| left - 1);
        Message { bytes: self.bytes, frame: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    fn counts(max_packets: Option<u64>) -> Vec<u64> {
        let stream = Streams::new(5, 0).stream(0, Purpose::Traffic);
        let stop = Time::from_secs(10_000.0);
        let mut source = PoissonSource::new(Time::ZERO, stop, 64, 0.25, max_packets, stream);
        let mut counts = vec![0; 10_000];
        while source.next_timeout() != Time::NEVER {
            counts[source.next_timeout().as_secs() as usize] += 1;
            source.handle_timeout();
        }
        counts
    }

    /// The index of dispersion of a Poisson process is one; its deviation over n seconds is √(2/n).
    #[test]
    fn the_count_of_a_second_has_its_mean_as_its_variance() {
        let counts = counts(None);
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<u64>() as f64 / n;
        let variance =
            counts.iter().map(|&count| libm::pow(count as f64 - mean, 2.0)).sum::<f64>() / (n - 1.0);
        assert!((mean - 4.0).abs() < 3.0 * (4.0 / n).sqrt(), "mean {mean}");
        assert!((variance / mean - 1.0).abs() < 3.0 * (2.0 / n).sqrt(), "dispersion {}", variance / mean);
    }

    #[test]
    fn it_ends_after_its_packets() {
        assert_eq!(counts(Some(17)).iter().sum::<u64>(), 17);
    }
}
