//! Exponentials, logarithms and powers for many numbers at a time.
//!
//! **Implemented.** Argument reduction by powers of two and a series behind it, without tables and without
//! branches, so that the compiler computes several at a time. Additions, multiplications and one division in
//! a fixed order: the same bits on every machine. Right to 4·10⁻¹⁵ of the value, which is enough wherever a
//! result is compared with a threshold, as all powers of signals are.
//!
//! **Not implemented.** Arguments that are not finite, exponentials that leave the range of normal numbers.

/// Numbers from here to its double are whole, and their lowest bits are those of the integer.
const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
/// The logarithm of 2 in two parts, the first of which has so few bits that its multiples are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// The greatest exponent, either way, for which [`exp`] is right.
const MOST: f64 = 700.0;

/// e to the power of `x`, of which only what lies between −700 and 700 counts.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(-MOST, MOST);
    let shifted = x * std::f64::consts::LOG2_E + WHOLE;
    let octaves = shifted - WHOLE;
    let r = (x - octaves * LN_2_HIGH) - octaves * LN_2_LOW;
    // The series of e^r in two halves, which a processor computes side by side.
    let r2 = r * r;
    let r4 = r2 * r2;
    let first = (1.0 + r) + r2 * (1.0 / 2.0 + r * (1.0 / 6.0));
    let second = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let third = (1.0 / 40_320.0 + r * (1.0 / 362_880.0))
        + r2 * (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0))
        + r4 * (1.0 / 479_001_600.0);
    let value = first + r4 * (second + r4 * third);
    // The exponent of a number that is near 1.
    f64::from_bits(value.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// The natural logarithm of a normal number above 0.
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    /// The bits of √½: mantissas are taken from there to √2.
    const FROM: u64 = 0x3fe6_a09e_667f_3bcd;
    /// Those of 1.
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    /// Those of 2⁵².
    const EXPONENT: u64 = 0x4330_0000_0000_0000;
    let above = x.to_bits().wrapping_add(ONE - FROM);
    // Not a conversion, which cannot be done for several at a time: 1023 more than the octaves.
    let octaves = f64::from_bits(above >> 52 | EXPONENT) - ((1u64 << 52) + 1023) as f64;
    let mantissa = f64::from_bits((above & ((1 << 52) - 1)) + FROM);
    // 2·artanh, by its series.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0));
    let high = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0)) + z4 * (1.0 / 19.0);
    let series = s * z * (low + z4 * high);
    octaves * LN_2_HIGH + (2.0 * s + (2.0 * series + octaves * LN_2_LOW))
}

#[cfg(test)]
mod tests {
    use super::super::keyed::Sequence;
    use super::*;

    #[test]
    fn exponentials_are_right() {
        let mut draws = Sequence::from(3);
        for scale in [1e-9, 0.3, 1.0, 30.0, 690.0] {
            for _ in 0..20_000 {
                let x = scale * (2.0 * draws.unit() - 1.0);
                let wanted = libm::exp(x);
                assert!((exp(x) / wanted - 1.0).abs() < 4e-15, "{x}: {} {wanted}", exp(x));
            }
        }
        assert!(exp(0.0).to_bits() == 1.0f64.to_bits());
        assert!(exp(1e9).is_finite() && exp(-1e9) > 0.0);
    }

    #[test]
    fn logarithms_are_right() {
        let mut draws = Sequence::from(4);
        for _ in 0..100_000 {
            let x = libm::exp(700.0 * (2.0 * draws.unit() - 1.0));
            let wanted = libm::log(x);
            assert!((ln(x) - wanted).abs() <= 4e-15 * wanted.abs().max(1.0), "{x}: {} {wanted}", ln(x));
            // Near 1, where most fades are.
            let x = 0.5 + draws.unit();
            assert!((ln(x) - libm::log(x)).abs() < 1e-15, "{x}");
        }
        assert!(ln(1.0).to_bits() == 0.0f64.to_bits());
    }
}
