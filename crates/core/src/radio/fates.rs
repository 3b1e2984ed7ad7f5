//! Fates of frames that are certain without a logarithm or a power: most of them.
//!
//! **Implemented.** What noise makes of a frame is decided where a draw's logarithm is compared with those
//! of two probabilities ([`Noise`](super::Noise)). Here stand bounds of all three: of a draw by the first
//! bits of its mantissa, of the probabilities by the distance, in 64 steps an octave of its square. Where
//! the bounds decide, they decide as the exact values would; where they do not, the exact ones are
//! computed.

use std::f64::consts::LN_2;

/// What noise makes of a frame at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Nothing.
    Intact,
    /// Its header is decoded, and something behind it is wrong.
    Damaged,
    /// Its header is lost: the receiver knows that there is energy.
    Unnoticed,
}

/// A step of squared distances has this many bits of the mantissa left out: 64 steps an octave.
const SHIFT: u32 = 46;
/// No more steps than this: 64 octaves.
const MOST_STEPS: u64 = 4096;
/// Parts of the range of a mantissa, and how far its bits are to be moved.
const PARTS: usize = 256;
const PARTS_SHIFT: u32 = 44;
/// Bounds are this much wider, against rounding.
const MARGIN: f64 = 1e-9;

/// Logarithms of the probabilities that all is right: within a step not less, and not more.
#[derive(Clone, Copy, Debug)]
struct Step {
    header: [f64; 2],
    bit: [f64; 2],
}

/// See the module's head: those of one rate.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    first: u64,
    steps: Vec<Step>,
}

impl Fates {
    /// Fates of frames whose header and whose bits are right with probabilities of these logarithms at a
    /// squared distance (m²), which fall as it grows, and stay the same beyond `last_m2`. None where the
    /// distances have no end.
    pub(super) fn new([first_m2, last_m2]: [f64; 2], ln_right: impl Fn(f64) -> (f64, f64)) -> Option<Fates> {
        let place = |m2: f64| m2.to_bits() >> SHIFT;
        let are_finite = first_m2 > 0.0 && last_m2 >= first_m2 && last_m2.is_finite();
        let (first, last) = (place(first_m2), place(last_m2) + 1);
        if !are_finite || last - first > MOST_STEPS {
            return None;
        }
        let edges: Vec<(f64, f64)> =
            (first..=last + 1).map(|place| ln_right(f64::from_bits(place << SHIFT))).collect();
        let bounds = |near: f64, far: f64| [far * (1.0 + MARGIN), near * (1.0 - MARGIN)];
        let step = |ends: &[(f64, f64)]| Step {
            header: bounds(ends[0].0, ends[1].0),
            bit: bounds(ends[0].1, ends[1].1),
        };
        Some(Fates { first, steps: edges.windows(2).map(step).collect() })
    }

    /// What becomes of a frame of so many bits behind its header, from this squared distance (m²), whose draw
    /// has a logarithm within these bounds; none if that is not certain.
    pub(super) fn certain(&self, bits: f64, distance_m2: f64, [least, most]: [f64; 2]) -> Option<Fate> {
        let step = (distance_m2.to_bits() >> SHIFT).checked_sub(self.first)?;
        let Step { header, bit } = self.steps.get(step as usize).or(self.steps.last())?;
        if least >= header[1] {
            Some(Fate::Unnoticed)
        } else if most >= header[0] {
            None
        } else if least >= header[1] + bits * bit[1] {
            Some(Fate::Damaged)
        } else if most < header[0] + bits * bit[0] {
            Some(Fate::Intact)
        } else {
            None
        }
    }
}

/// Bounds of logarithms, by the first eight bits of the mantissa.
#[derive(Clone, Debug)]
pub(super) struct Logarithms(Box<[f64; PARTS + 1]>);

impl Logarithms {
    pub(super) fn new() -> Logarithms {
        let mut all = Box::new([0.0; PARTS + 1]);
        for (part, value) in all.iter_mut().enumerate() {
            *value = libm::log1p(part as f64 / PARTS as f64);
        }
        Logarithms(all)
    }

    /// The logarithm of a number above zero, between two bounds.
    pub(super) fn around(&self, number: f64) -> [f64; 2] {
        let bits = number.to_bits();
        let octaves = ((bits >> 52) as f64 - 1023.0) * LN_2;
        let part = (bits >> PARTS_SHIFT) as usize % PARTS;
        [octaves + self.0[part] - MARGIN, octaves + self.0[part + 1] + MARGIN]
    }
}

#[cfg(test)]
mod tests {
    use super::super::keyed::Sequence;
    use super::*;

    #[test]
    fn logarithms_are_within_their_bounds() {
        let (logarithms, mut draws) = (Logarithms::new(), Sequence::from(1));
        for _ in 0..20_000 {
            let number = libm::pow(draws.unit(), 1.0 + 8.0 * draws.unit());
            let [least, most] = logarithms.around(number);
            let exact = libm::log(number);
            assert!(least <= exact && exact <= most && most - least < 0.004, "{number}");
        }
    }

    /// Powers that fall with the fourth power of the distance, and headers of 48 bits.
    fn ln_right(m2: f64) -> (f64, f64) {
        let wrong = 0.5 * libm::exp(-1e10 / (m2 * m2)).min(0.999);
        (48.0 * libm::log1p(-wrong * 0.1), libm::log1p(-wrong))
    }

    #[test]
    fn what_is_certain_is_what_comes_out_and_most_is_certain() {
        let fates = Fates::new([2e4, 1e6], ln_right).expect("finite");
        let (logarithms, mut draws, mut certain) = (Logarithms::new(), Sequence::from(2), 0);
        const TRIALS: usize = 100_000;
        for _ in 0..TRIALS {
            // Some beyond the last step.
            let (m2, bits) = (2e4 * libm::pow(100.0, draws.unit()), 8.0 * (14.0 + 1500.0 * draws.unit()));
            let draw = draws.unit();
            let (header, bit) = ln_right(m2.min(1e6));
            let ln_draw = libm::log(draw);
            let exact = match ln_draw {
                ln if ln >= header => Fate::Unnoticed,
                ln if ln >= header + bits * bit => Fate::Damaged,
                _ => Fate::Intact,
            };
            if let Some(fate) = fates.certain(bits, m2.min(1e6), logarithms.around(draw)) {
                assert_eq!(fate, exact, "{m2} m², {bits} bits, {draw}");
                certain += 1;
            }
        }
        assert!(certain > TRIALS * 9 / 10, "{certain}");
    }

    #[test]
    fn without_an_end_there_is_no_table() {
        for ends in [[0.0, 1.0], [1.0, f64::INFINITY], [2.0, 1.0], [1e-30, 1e30]] {
            assert!(Fates::new(ends, |_| (0.0, 0.0)).is_none(), "{ends:?}");
        }
    }
}
