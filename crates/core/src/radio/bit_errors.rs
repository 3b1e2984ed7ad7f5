//! Errors of bits by noise: a frame that is strong enough may still arrive damaged.
//!
//! **Implemented.** Errors are independent of each other and of everything else. A frame of *n* bits, MAC
//! header and FCS included, arrives with all of them right with probability (1 − *p*)ⁿ, at each receiver for
//! itself; its FCS shows every error. Each node draws from a stream of its own.
//!
//! **Not implemented.** Bursts; probabilities that depend on power, rate or distance; errors in the PLCP
//! header, which is short and at the lowest rate.

use crate::kernel::{Purpose, Stream, Streams};

/// See the module's head.
#[derive(Debug)]
pub struct BitErrors {
    /// The logarithm of the probability that a bit is right.
    ln_right: f64,
    /// By node.
    streams: Vec<Stream>,
}

impl BitErrors {
    /// Errors at this rate at so many nodes; none, and nothing is ever drawn, if the rate is 0.
    pub fn new(rate: f64, nodes: u32, streams: &Streams) -> Option<BitErrors> {
        let at_node = |node| streams.stream(node, Purpose::Channel);
        let ln_right = libm::log1p(-rate);
        (rate > 0.0).then(|| BitErrors { ln_right, streams: (0..nodes).map(at_node).collect() })
    }

    /// Draws whether a frame of so many bytes arrives damaged at a node.
    pub fn damage(&mut self, node: u32, bytes: u32) -> bool {
        self.streams[node as usize].unit() < self.probability(bytes)
    }

    /// The probability that a frame of so many bytes is damaged, 1 − (1 − *p*)ⁿ.
    fn probability(&self, bytes: u32) -> f64 {
        // In this form nothing is lost where the rate is so small that 1 − p rounds to 1.
        -libm::expm1(8.0 * f64::from(bytes) * self.ln_right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(rate: f64) -> BitErrors {
        BitErrors::new(rate, 2, &Streams::new(1, 0)).expect("the rate is above 0")
    }

    #[test]
    fn without_errors_there_is_nothing_to_draw() {
        assert!(BitErrors::new(0.0, 2, &Streams::new(1, 0)).is_none());
    }

    #[test]
    fn the_probability_is_that_of_at_least_one_error() {
        // By hand: 1 - 0.9^8 and 1 - 0.5^16.
        assert!((errors(0.1).probability(1) - 0.569_532_79).abs() < 1e-12);
        assert!((errors(0.5).probability(2) - 0.999_984_741_210_937_5).abs() < 1e-15);
        // So small a rate that 1 - p is 1 in floating point: the probability is that of one error.
        assert!((errors(1e-18).probability(125) / 1e-15 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nodes_draw_for_themselves() {
        let (mut one, mut both) = (errors(0.001), errors(0.001));
        let alone: Vec<bool> = (0..1000).map(|_| one.damage(0, 100)).collect();
        let beside: Vec<bool> = (0..1000)
            .map(|_| {
                both.damage(1, 1500);
                both.damage(0, 100)
            })
            .collect();
        assert_eq!(alone, beside);
    }
}
