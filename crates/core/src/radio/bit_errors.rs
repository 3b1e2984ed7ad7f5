//! Errors of bits by noise: a frame that is strong enough may still arrive damaged.
//!
//! **Implemented.** Errors are independent of each other and of everything else. A frame of *n* bits, MAC
//! header and FCS included, arrives with all of them right with probability (1 − *p*)ⁿ, at each receiver for
//! itself; its FCS shows every error. With a block code, a coded frame arrives if each of its blocks can be
//! corrected (`block_code.rs`). Each node draws from a stream of its own.
//!
//! **Not implemented.** Bursts; probabilities that depend on power, rate or distance; errors in the PLCP
//! header, which is short and at the lowest rate.

use super::block_code::{BlockCode, Coded};
use crate::kernel::{Purpose, Stream, Streams};

/// See the module's head.
#[derive(Debug)]
pub struct BitErrors {
    /// The logarithm of the probability that a bit is right.
    ln_right: f64,
    /// None where no frame is coded.
    coded: Option<Coded>,
    /// By node.
    streams: Vec<Stream>,
}

impl BitErrors {
    /// Errors at this rate at so many nodes; none, and nothing is ever drawn, if the rate is 0.
    pub fn new(rate: f64, code: Option<BlockCode>, nodes: u32, streams: &Streams) -> Option<BitErrors> {
        let at_node = |node| streams.stream(node, Purpose::Channel);
        let ln_right = libm::log1p(-rate);
        let coded = code.map(|code| Coded::new(code, ln_right));
        (rate > 0.0).then(|| BitErrors { ln_right, coded, streams: (0..nodes).map(at_node).collect() })
    }

    /// Draws whether a frame of so many bytes arrives damaged at a node; a data frame is coded if there is a
    /// code.
    pub fn damage(&mut self, node: u32, bytes: u32, is_data: bool) -> bool {
        let probability = match self.coded.as_mut().filter(|_| is_data) {
            Some(coded) => coded.probability(bytes),
            None => self.probability(bytes),
        };
        self.streams[node as usize].unit() < probability
    }

    /// The probability that a frame of so many bytes without a code is damaged, 1 − (1 − *p*)ⁿ.
    fn probability(&self, bytes: u32) -> f64 {
        // In this form nothing is lost where the rate is so small that 1 − p rounds to 1.
        -libm::expm1(8.0 * f64::from(bytes) * self.ln_right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(rate: f64) -> BitErrors {
        BitErrors::new(rate, None, 2, &Streams::new(1, 0)).expect("the rate is above 0")
    }

    #[test]
    fn without_errors_there_is_nothing_to_draw() {
        assert!(BitErrors::new(0.0, BlockCode::new(255, 32), 2, &Streams::new(1, 0)).is_none());
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
        let alone: Vec<bool> = (0..1000).map(|_| one.damage(0, 100, true)).collect();
        let beside: Vec<bool> = (0..1000)
            .map(|_| {
                both.damage(1, 1500, true);
                both.damage(0, 100, true)
            })
            .collect();
        assert_eq!(alone, beside);
    }

    /// At one wrong bit in a hundred hardly any frame of 510 bytes is right, and hardly any block has 33
    /// wrong bytes.
    #[test]
    fn only_data_frames_are_coded() {
        let mut coded =
            BitErrors::new(0.01, BlockCode::new(255, 64), 1, &Streams::new(1, 0)).expect("above 0");
        let mut damaged = |is_data| (0..100).filter(|_| coded.damage(0, 510, is_data)).count();
        assert_eq!([damaged(true), damaged(false)], [0, 100]);
    }
}
