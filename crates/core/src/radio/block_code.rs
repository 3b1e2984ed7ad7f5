//! Forward error correction of data frames: a block code over bytes.
//!
//! *Source:* Reed and Solomon, *Polynomial codes over certain finite fields*, J. SIAM 8(2), 1960: a code of
//! *n* bytes, *r* of them parity, corrects up to ⌊*r*/2⌋ wrong bytes wherever they are. With bytes as symbols
//! *n* is at most 255, and a code with fewer data bytes is the same one, shortened.
//!
//! **Implemented.** How long a frame is with its parity, and how likely all of its blocks can be corrected if
//! bits are wrong independently of each other. A frame is cut into blocks of *n* − *r* data bytes; the last
//! one may be shorter, and has as much parity.
//!
//! **Not implemented.** The code itself: what is decoded is drawn. A block that cannot be corrected is always
//! recognised, as the frame's FCS would; interleaving, which matters where errors come in bursts; erasures.

use std::collections::BTreeMap;

/// See the module's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCode {
    block_bytes: u32,
    parity_bytes: u32,
}

impl BlockCode {
    /// A code with so many bytes in a block, and so many of these parity, which are fewer; none without
    /// parity.
    pub fn new(block_bytes: u32, parity_bytes: u32) -> Option<BlockCode> {
        debug_assert!(parity_bytes < block_bytes);
        (parity_bytes > 0).then_some(BlockCode { block_bytes, parity_bytes })
    }

    /// The length of so many bytes with their parity.
    pub fn coded_bytes(&self, bytes: u32) -> u32 {
        bytes + bytes.div_ceil(self.block_bytes - self.parity_bytes) * self.parity_bytes
    }

    /// The logarithm of the probability that all blocks of a frame of so many bytes, with parity, can be
    /// corrected. `ln_bit` is that of one bit being right.
    fn ln_right(&self, coded_bytes: u32, ln_bit: f64) -> f64 {
        let (whole, rest) = (coded_bytes / self.block_bytes, coded_bytes % self.block_bytes);
        let ln_block = |bytes| ln_corrected(bytes, self.parity_bytes / 2, ln_bit);
        // Not 0 · −∞ where there is no block of a kind.
        let of_whole = if whole > 0 { f64::from(whole) * ln_block(self.block_bytes) } else { 0.0 };
        of_whole + if rest > 0 { ln_block(rest) } else { 0.0 }
    }
}

/// The logarithm of the probability that at most `correctable` of so many bytes are wrong.
fn ln_corrected(bytes: u32, correctable: u32, ln_bit: f64) -> f64 {
    let ln_right = 8.0 * ln_bit;
    let ln_wrong = libm::log(-libm::expm1(ln_right));
    // The terms of the binomial sum, of which the first has no wrong byte; all are positive, so that nothing
    // is lost in either part of the sum, however small it is.
    let (mut corrected, mut lost, mut ln_ways) = (0.0, 0.0, 0.0);
    for wrong in 0..=bytes {
        let term = libm::exp(ln_ways + f64::from(wrong) * ln_wrong + f64::from(bytes - wrong) * ln_right);
        *(if wrong <= correctable { &mut corrected } else { &mut lost }) += term;
        ln_ways += libm::log(f64::from(bytes - wrong)) - libm::log(f64::from(wrong + 1));
    }
    if lost < 0.5 { libm::log1p(-lost) } else { libm::log(corrected) }
}

/// The probabilities that frames of a run with a code are damaged, each computed once.
#[derive(Debug)]
pub(super) struct Coded {
    code: BlockCode,
    ln_bit: f64,
    /// By length with parity.
    damaged: BTreeMap<u32, f64>,
}

impl Coded {
    /// Of this code, where a bit is right with the probability of this logarithm.
    pub(super) fn new(code: BlockCode, ln_bit: f64) -> Coded {
        Coded { code, ln_bit, damaged: BTreeMap::new() }
    }

    /// The probability that a block of a frame of so many bytes, with parity, cannot be corrected.
    pub(super) fn probability(&mut self, coded_bytes: u32) -> f64 {
        let Coded { code, ln_bit, damaged } = self;
        *damaged.entry(coded_bytes).or_insert_with(|| -libm::expm1(code.ln_right(coded_bytes, *ln_bit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    fn probability(block_bytes: u32, parity_bytes: u32, coded_bytes: u32, rate: f64) -> f64 {
        let code = BlockCode::new(block_bytes, parity_bytes).expect("it has parity");
        Coded::new(code, libm::log1p(-rate)).probability(coded_bytes)
    }

    fn assert_close(found: f64, expected: f64, what: &str) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{what}: {found}, not {expected}");
    }

    #[test]
    fn every_block_has_parity_and_the_last_one_may_be_short() {
        assert_eq!(BlockCode::new(255, 0), None);
        let code = BlockCode::new(255, 32).expect("it has parity");
        assert_eq!(
            [0, 1, 223, 224, 446, 1536].map(|bytes| code.coded_bytes(bytes)),
            [0, 33, 255, 256 + 32, 510, 1536 + 7 * 32]
        );
    }

    /// A sum over all ways in which bytes of a block may be wrong, in place of the binomial formula.
    #[test]
    fn the_probability_is_that_of_all_patterns_of_wrong_bytes() {
        for (bytes, parity, rate) in [(3, 2, 0.01), (12, 4, 0.05), (12, 6, 1e-3), (10, 3, 0.2), (12, 2, 0.5)]
        {
            let wrong = 1.0 - libm::pow(1.0 - rate, 8.0);
            let lost: f64 = (0_u32..1 << bytes)
                .filter(|pattern| pattern.count_ones() > parity / 2)
                .map(|pattern| {
                    let errors = pattern.count_ones();
                    libm::pow(wrong, errors.into()) * libm::pow(1.0 - wrong, (bytes - errors).into())
                })
                .sum();
            let what = format!("{bytes} bytes, {parity} of parity, at {rate}");
            assert_close(probability(bytes, parity, bytes, rate), lost, &what);
            // Two whole blocks and one of five bytes fewer, by itself.
            let rest = probability(bytes, parity, bytes / 2 + 1, rate);
            let both = 1.0 - (1.0 - lost) * (1.0 - lost) * (1.0 - rest);
            assert_close(probability(bytes, parity, 2 * bytes + bytes / 2 + 1, rate), both, &what);
        }
    }

    /// One byte of parity corrects nothing.
    #[test]
    fn a_code_that_corrects_nothing_is_as_no_code() {
        for rate in [1e-12, 1e-5, 1e-3] {
            let uncoded = -libm::expm1(8.0 * 1000.0 * libm::log1p(-rate));
            assert_close(probability(255, 1, 1000, rate), uncoded, "1000 bytes");
        }
    }

    #[test]
    fn tiny_probabilities_and_those_next_to_one_are_exact() {
        // Two wrong bytes of 255, of which each is wrong with 8 · 10⁻¹⁵: 255 · 254 / 2 · 64 · 10⁻³⁰.
        let tiny = probability(255, 2, 255, 1e-15);
        assert_close(tiny, 255.0 * 127.0 * 64e-30, "one in 10¹⁵");
        assert!(probability(255, 32, 255, 1e-6) > 0.0, "17 wrong bytes are rare and not impossible");
        // With half of all bits wrong no block is right: of 255 bytes one in 256 is.
        assert_eq!(probability(255, 32, 2550, 0.5).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn more_parity_never_hurts_a_block_of_the_same_length() {
        let by_parity: Vec<f64> = (2..40).map(|parity| probability(255, parity, 255, 3e-3)).collect();
        assert!(by_parity.is_sorted_by(|weaker, stronger| weaker >= stronger), "{by_parity:?}");
    }

    /// Bits, drawn one by one and counted by bytes and blocks.
    #[test]
    fn drawn_bits_damage_as_many_frames() {
        let mut stream = Streams::new(7, 0).stream(0, Purpose::Channel);
        let (block, parity, bytes, rate, frames) = (20, 4, 50, 0.01, 20_000_u32);
        let mut is_lost = |bytes: u32| {
            let wrong = (0..bytes).filter(|_| (0..8).filter(|_| stream.unit() < rate).count() > 0).count();
            wrong > parity as usize / 2
        };
        let damaged =
            (0..frames).filter(|_| [block, block, bytes - 2 * block].map(&mut is_lost).contains(&true));
        let share = damaged.count() as f64 / f64::from(frames);
        let expected = probability(block, parity, bytes, rate);
        let deviation = (expected * (1.0 - expected) / f64::from(frames)).sqrt();
        assert!((share - expected).abs() < 4.0 * deviation, "{share}, not {expected}");
    }
}
