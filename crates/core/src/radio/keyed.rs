//! Random numbers without a state: functions of a key and of what they are asked for, and of nothing else.
//!
//! A value does not depend on what was asked before it, so it is the same for every protocol, whichever node
//! transmits first, and it need not be kept. Bits are mixed by the finaliser of SplitMix64 (Steele, Lea and
//! Flood 2014).

use crate::kernel::{Purpose, Streams};

/// A family of such numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key(u64);

/// Odd numbers without pattern, to keep what is mixed apart.
const APART: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8cb9_2ba7_2f3d_8dd7];

impl Key {
    /// The run's key for a purpose; `part` tells several of one purpose apart.
    pub(super) fn new(streams: &Streams, purpose: Purpose, part: u32) -> Key {
        Key(streams.stream(part, purpose).bits())
    }

    /// The number of three.
    #[inline]
    pub(super) fn of(self, a: u64, b: u64, c: u64) -> u64 {
        self.of_two(a, b).and(c)
    }

    /// What the numbers of these two and any third one have in common.
    #[inline]
    pub(super) fn of_two(self, a: u64, b: u64) -> OfTwo {
        let apart = a.wrapping_mul(APART[0]) ^ b.wrapping_mul(APART[1]).rotate_left(21);
        OfTwo(mix(self.0 ^ apart))
    }
}

/// See [`Key::of_two`].
#[derive(Clone, Copy, Debug)]
pub(super) struct OfTwo(u64);

impl OfTwo {
    /// The number of both alone.
    #[inline]
    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// The number of both and this one.
    #[inline]
    pub(super) fn and(self, c: u64) -> u64 {
        mix(self.0.wrapping_add(c.wrapping_mul(APART[2])))
    }
}

/// SplitMix64's finaliser.
#[inline]
pub(super) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Uniform on (0, 1), from 64 bits.
#[inline]
pub(super) fn unit(bits: u64) -> f64 {
    /// Of 2⁵², so that what follows are the bits of a whole number.
    const EXPONENT: u64 = 0x4330_0000_0000_0000;
    const WHOLE: f64 = (1u64 << 52) as f64;
    // A conversion of 64-bit integers cannot be done for several at a time.
    let number = f64::from_bits(bits >> 12 | EXPONENT) - WHOLE;
    (number + 0.5) * (1.0 / WHOLE)
}

/// Numbers one after the other that begin with such a number.
pub(super) struct Sequence(u64);

impl Sequence {
    pub(super) fn from(number: u64) -> Sequence {
        Sequence(number)
    }

    /// Uniform on (0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(APART[0]);
        unit(mix(self.0))
    }

    /// Normal with mean 0 and variance 1 (Box and Muller 1958).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(self.unit())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_uniform_and_those_of_neighbours_are_not_alike() {
        let key = Key::new(&Streams::new(1, 0), Purpose::Channel, 0);
        let (mut mean, mut product) = (0.0, 0.0);
        for at in 0..20_000u64 {
            let (here, beside) = (unit(key.of(at, 7, 3)) - 0.5, unit(key.of(at + 1, 7, 3)) - 0.5);
            mean += here / 20_000.0;
            product += here * beside / 20_000.0;
        }
        // Four standard errors: 0.289 and 1/12 over the square root of 20,000.
        assert!(mean.abs() < 0.0082 && product.abs() < 0.0024, "{mean}, {product}");
    }
}
