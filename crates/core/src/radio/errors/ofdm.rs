//! Coded bits of OFDM over 20 MHz (IEEE 802.11-2007 clause 17): 802.11a, and 802.11g beside 802.11b.
//!
//! *Read*: Pei and Henderson, *Validation of OFDM error rate model in ns-3* (2010), which gives the bound for
//! the rates of 802.11: errors of raw bits in white noise by modulation, decoded by hard decisions with the
//! convolutional code of constraint length 7, punctured to 2/3 and 3/4 (union bound over the first ten
//! distances; Frenger, Orten and Ottosson, *Convolutional codes with optimum distance spectrum*, 1999).

use crate::wire::mac::ofdm_place;

/// A rate: its modulation and its code.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ofdm {
    constellation: Constellation,
    code: Code,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Constellation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Code {
    Half,
    TwoThirds,
    ThreeQuarters,
}

impl Ofdm {
    /// 6 Mb/s, the rate of the SIGNAL field.
    pub(super) const SIX: Ofdm = Ofdm { constellation: Constellation::Bpsk, code: Code::Half };

    pub(super) fn of(bps: f64) -> Option<Ofdm> {
        use {Code::*, Constellation::*};
        let all = [
            (Bpsk, Half),
            (Bpsk, ThreeQuarters),
            (Qpsk, Half),
            (Qpsk, ThreeQuarters),
            (Qam16, Half),
            (Qam16, ThreeQuarters),
            (Qam64, TwoThirds),
            (Qam64, ThreeQuarters),
        ];
        let (constellation, code) = all[ofdm_place(bps)?];
        Some(Ofdm { constellation, code })
    }

    /// The logarithm of the probability that a decoded bit is right.
    pub(super) fn ln_right(self, snr: f64) -> f64 {
        libm::log1p(-self.code.wrong(self.constellation.wrong(snr)))
    }
}

impl Constellation {
    /// The probability that a bit is wrong before decoding.
    fn wrong(self, snr: f64) -> f64 {
        let tail = |scale: f64| libm::erfc((snr / scale).sqrt());
        match self {
            Constellation::Bpsk => 0.5 * tail(1.0),
            Constellation::Qpsk => 0.5 * tail(2.0),
            Constellation::Qam16 => 0.375 * tail(10.0),
            Constellation::Qam64 => 7.0 / 24.0 * tail(42.0),
        }
    }
}

impl Code {
    /// The union bound for decoded bits, at most ½.
    fn wrong(self, raw: f64) -> f64 {
        // The first distance, how far apart those are that follow, wrong bits at each, and bits of a period.
        let (first, apart, wrong_bits, period): (f64, f64, [f64; 10], f64) = match self {
            Code::Half => (
                10.0,
                2.0,
                [
                    36.0,
                    211.0,
                    1404.0,
                    11633.0,
                    77433.0,
                    502_690.0,
                    3_322_763.0,
                    21_292_910.0,
                    134_365_911.0,
                    843_425_871.0,
                ],
                1.0,
            ),
            Code::TwoThirds => (
                6.0,
                1.0,
                [3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
                2.0,
            ),
            Code::ThreeQuarters => (
                5.0,
                1.0,
                [
                    42.0,
                    201.0,
                    1492.0,
                    10469.0,
                    62935.0,
                    379_644.0,
                    2_253_373.0,
                    13_073_811.0,
                    75_152_755.0,
                    428_005_675.0,
                ],
                3.0,
            ),
        };
        // Chernoff's bound for taking a path at a distance: D to the power of it.
        let d = (4.0 * raw * (1.0 - raw)).sqrt();
        let (mut power, step) = (libm::pow(d, first), libm::pow(d, apart));
        let mut sum = 0.0;
        for bits in wrong_bits {
            sum += bits * power;
            power *= step;
        }
        (sum / (2.0 * period)).min(0.5)
    }
}
