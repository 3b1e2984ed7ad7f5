//! Random streams, each named by (seed, replication, node, purpose).
//!
//! A stream is ChaCha8 (Bernstein 2008) in counter mode, keyed by its name: the key is the seed (8 bytes),
//! the replication (8 bytes), the node (4 bytes), the purpose (4 bytes) and the ASCII bytes `manetlab`, which
//! differ in the bits of the draw's number where one of several draws is wanted.
//! Streams of different names are different keys of a cipher, so they do not overlap and do not depend on
//! the order in which they are made: a protocol that draws more numbers moves nobody else's.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::Span;

/// What a stream's numbers are used for. The discriminants are part of a run's definition: never reuse one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Purpose {
    /// Where nodes start and where they go.
    Mobility = 1,
    /// Who talks to whom, when, and how much.
    Traffic = 2,
    /// Backoff slots of the 802.11 MAC.
    Mac = 3,
    /// Jitter and other draws of routing protocols.
    Routing = 4,
    /// Draws of transport protocols.
    Transport = 5,
    /// Random losses and fading on the radio channel.
    Channel = 6,
    /// Early drops and marks of the interface queue.
    Queue = 7,
    /// When the senders of flows report.
    Reports = 8,
    /// When nodes announce the flows that they carry.
    Shares = 9,
    /// Jitter of address resolution.
    Arp = 10,
    /// By how much flows begin later than they are to.
    Starts = 11,
    /// The field of shadowing.
    Shadowing = 12,
    /// Fading, as a field or from frame to frame.
    Fading = 13,
    /// Whether noise destroys a frame.
    Noise = 14,
    /// When nodes fail and come back.
    Failures = 15,
    /// Where groups of nodes, and what they gather at, are and go.
    Groups = 16,
}

/// All streams of one run: knows the seed and the replication, makes streams by node and purpose.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
    replication: u64,
    draw: u64,
}

impl Streams {
    /// The streams of replication `replication` under `seed`.
    pub fn new(seed: u64, replication: u64) -> Streams {
        Streams { seed, replication, draw: 0 }
    }

    /// The streams of another draw of the same run; draw 0 is the run's own.
    pub fn of_draw(self, draw: u64) -> Streams {
        Streams { draw, ..self }
    }

    /// The stream of `purpose` at `node` (for traffic: of flow number `node`).
    pub fn stream(&self, node: u32, purpose: Purpose) -> Stream {
        let mut key = [0u8; 32];
        key[0..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&self.replication.to_le_bytes());
        key[16..20].copy_from_slice(&node.to_le_bytes());
        key[20..24].copy_from_slice(&(purpose as u32).to_le_bytes());
        key[24..32].copy_from_slice(&(u64::from_le_bytes(*b"manetlab") ^ self.draw).to_le_bytes());
        Stream(Box::new(ChaCha8Rng::from_seed(key)))
    }
}

/// One random stream. Its state stands apart: it is large, and owners of a stream look at their own state far
/// more often.
#[derive(Clone, Debug)]
pub struct Stream(Box<ChaCha8Rng>);

impl Stream {
    /// Uniform on 0, 1, …, `n` - 1. `n` must be positive.
    pub fn below(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0);
        // The product's high half: its bias is below n / 2^64.
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u32
    }

    /// 64 bits, each 0 or 1 alike.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform on (0, 1]: what a logarithm takes.
    pub fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Uniform on [`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Standard normal, by the transformation of Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(self.positive_unit())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.positive_unit())
    }

    /// Uniform on [0, `span`), in whole nanoseconds; zero for an empty span.
    pub fn span_below(&mut self, span: Span) -> Span {
        Span((self.unit() * span.0 as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, replication: u64, node: u32, purpose: Purpose) -> u64 {
        Streams::new(seed, replication).stream(node, purpose).0.next_u64()
    }

    #[test]
    fn each_part_of_the_name_makes_another_stream() {
        let base = first(1, 0, 0, Purpose::Mac);
        assert_ne!(base, first(2, 0, 0, Purpose::Mac));
        assert_ne!(base, first(1, 1, 0, Purpose::Mac));
        assert_ne!(base, first(1, 0, 1, Purpose::Mac));
        assert_ne!(base, first(1, 0, 0, Purpose::Traffic));
        let drawn = |draw| Streams::new(1, 0).of_draw(draw).stream(0, Purpose::Mac).0.next_u64();
        assert_eq!(base, drawn(0));
        assert_ne!(base, drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert_eq!(base, first(1, 0, 0, Purpose::Mac));
    }

    #[test]
    fn below_reaches_every_value_about_equally() {
        let mut stream = Streams::new(7, 0).stream(3, Purpose::Mac);
        let mut seen = [0u32; 31];
        for _ in 0..31_000 {
            seen[stream.below(31) as usize] += 1;
        }
        // Chi-square with 30 degrees of freedom: 59.7 is its 0.999 quantile.
        let chi2: f64 = seen.iter().map(|&n| libm::pow(f64::from(n) - 1000.0, 2.0) / 1000.0).sum();
        assert!(chi2 < 59.7, "chi2 = {chi2}");
    }

    #[test]
    fn unit_stays_in_its_interval() {
        let mut stream = Streams::new(7, 0).stream(3, Purpose::Routing);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&stream.unit())));
    }
}
