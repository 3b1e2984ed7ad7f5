//! Bursts and silences of random length (ns-2's `Traffic/Exponential` and `Traffic/Pareto`).
//! *Deviation*: 1 in docs/models/traffic.md.

use super::draws::pareto;
use super::{Message, Source};
use crate::kernel::{Span, Stream, Time};
use crate::params::choices;

choices! {
    /// How the lengths of bursts and silences are distributed.
    pub enum Durations {
        /// Exponentially.
        Exponential = "exponential",
        /// By a Pareto distribution: many such sources together are self-similar (Willinger and others 1997).
        Pareto = "pareto",
    }
}

/// What an on/off source is like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OnOffParams {
    /// Payload of a packet, in bytes.
    pub bytes: u32,
    /// Time between packets within a burst.
    pub interval: Span,
    /// Mean length of a burst, in s.
    pub on_s: f64,
    /// Mean length of a silence, in s.
    pub off_s: f64,
    /// The distribution of both.
    pub durations: Durations,
    /// The shape of a Pareto distribution.
    pub shape: f64,
}

/// A source that begins with a burst. A burst's first packet comes at its beginning, so that none is without.
pub struct OnOffSource {
    params: OnOffParams,
    stop: Time,
    next: Time,
    burst_end: Time,
    stream: Stream,
}

impl OnOffSource {
    /// A source whose first burst begins at `start` and that makes no packet at or after `stop`.
    pub fn new(start: Time, stop: Time, params: OnOffParams, stream: Stream) -> OnOffSource {
        let mut source = OnOffSource { params, stop, next: start, burst_end: start, stream };
        source.burst_end = start + source.draw(params.on_s);
        source
    }

    fn draw(&mut self, mean_s: f64) -> Span {
        Span::from_secs(match self.params.durations {
            Durations::Exponential => self.stream.exponential(mean_s),
            Durations::Pareto => pareto(&mut self.stream, mean_s, self.params.shape),
        })
    }
}

impl Source for OnOffSource {
    fn next_timeout(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    fn handle_timeout(&mut self) -> Message {
        self.next += self.params.interval;
        if self.next >= self.burst_end {
            // A burst shorter than the interval still has its packet; the silence begins no sooner than it.
            self.next = self.burst_end + self.draw(self.params.off_s);
            self.burst_end = self.next + self.draw(self.params.on_s);
        }
        Message { bytes: self.params.bytes, frame: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    fn times(durations: Durations, off_s: f64, stop_s: f64) -> Vec<f64> {
        let params = OnOffParams {
            bytes: 100,
            interval: Span::from_millis(10),
            on_s: 0.5,
            off_s,
            durations,
            shape: 1.5,
        };
        let stream = Streams::new(3, 0).stream(0, Purpose::Traffic);
        let mut source = OnOffSource::new(Time::from_secs(1.0), Time::from_secs(stop_s), params, stream);
        let mut times = Vec::new();
        while source.next_timeout() != Time::NEVER {
            times.push(source.next_timeout().as_secs());
            source.handle_timeout();
        }
        times
    }

    #[test]
    fn gaps_are_the_interval_or_longer_and_packets_stop() {
        for durations in [Durations::Exponential, Durations::Pareto] {
            let times = times(durations, 1.0, 100.0);
            assert_eq!(times.first(), Some(&1.0));
            assert!(times.last().is_some_and(|&last| last < 100.0));
            assert!(times.windows(2).filter(|pair| pair[1] - pair[0] > 0.0101).count() > 20);
        }
    }

    /// A burst of length X has ⌈X / interval⌉ packets, of mean 1 / (1 − e^(−interval / mean)).
    #[test]
    fn the_mean_rate_is_that_of_the_lengths() {
        let bursts_s = 1.5;
        let expected = 1.0 / (1.0 - libm::exp(-0.01 / 0.5)) / bursts_s;
        let rate = times(Durations::Exponential, 1.0, 40_001.0).len() as f64 / 40_000.0;
        // One deviation of the rate is 0.6 %: of 26667 cycles, each with the variance of two exponentials.
        assert!((rate / expected - 1.0).abs() < 0.018, "{rate} packets/s, expected {expected}");
    }

    #[test]
    fn without_silences_bursts_follow_each_other() {
        let times = times(Durations::Exponential, 0.0, 20.0);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] < 0.0101));
    }
}
