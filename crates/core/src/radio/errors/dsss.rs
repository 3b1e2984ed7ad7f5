//! Bits of 802.11b, spread over 22 MHz.
//!
//! *Read*: Fainberg, *A performance analysis of the IEEE 802.11b local area network in the presence of
//! Bluetooth* (2001), for CCK; Proakis, *Digital Communications*, for DBPSK and DQPSK. With *S* the SNR over
//! 22 MHz:
//!
//! - 1 Mb/s (DBPSK): ½·e^(−22·S) of the bits are wrong.
//! - 2 Mb/s (DQPSK), x = 11·S: (√2 + 1)/√(8π√2)·x^(−½)·e^(−(2 − √2)·x), at most ½.
//! - 5.5 and 11 Mb/s (CCK): symbols of 4 and 8 bits, told apart as 16 biorthogonal signals, or two such
//!   choices at half the energy.

use std::f64::consts::{PI, SQRT_2};

/// The rates of 802.11b.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dsss {
    /// 1 Mb/s.
    One,
    /// 2 Mb/s.
    Two,
    /// 5.5 Mb/s.
    Five,
    /// 11 Mb/s.
    Eleven,
}

impl Dsss {
    pub(super) fn of(bps: f64) -> Option<Dsss> {
        let all = [Dsss::One, Dsss::Two, Dsss::Five, Dsss::Eleven];
        crate::wire::mac::dsss_place(bps).map(|place| all[place])
    }

    /// The logarithm of the probability that a bit is right.
    pub(super) fn ln_right(self, snr: f64) -> f64 {
        match self {
            Dsss::One => libm::log1p(-0.5 * libm::exp(-22.0 * snr)),
            Dsss::Two => {
                let x = 11.0 * snr;
                let scale = (SQRT_2 + 1.0) / (8.0 * PI * SQRT_2).sqrt();
                let wrong = scale / x.sqrt() * libm::exp(-(2.0 - SQRT_2) * x);
                libm::log1p(-wrong.min(0.5))
            }
            Dsss::Five => libm::log1p(-biorthogonal_16(8.0 * snr)) / 4.0,
            // Two choices: both must be right.
            Dsss::Eleven => 2.0 * libm::log1p(-biorthogonal_16(4.0 * snr)) / 8.0,
        }
    }
}

/// The probability that one of 16 biorthogonal signals is taken for another at this energy of a symbol over
/// noise: 1 − ∫ (2Φ(t + √(2e)) − 1)⁷ φ(t) dt from −√(2e) on, by Simpson's rule in a form that loses no digits
/// where it is small.
fn biorthogonal_16(energy: f64) -> f64 {
    const STEPS: u32 = 400;
    let lowest = -(2.0 * energy).sqrt();
    let step = (10.0 - lowest) / f64::from(STEPS);
    let density = |t: f64| libm::exp(-t * t / 2.0) / (2.0 * PI).sqrt();
    // One of the seven others is larger than the right one.
    let beaten = |t: f64| -libm::expm1(7.0 * libm::log1p(-libm::erfc((t - lowest) / SQRT_2)));
    let weight = |at: u32| match at {
        0 | STEPS => 1.0,
        _ if at % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let terms = (0..=STEPS).map(|at| {
        let t = lowest + step * f64::from(at);
        weight(at) * beaten(t) * density(t)
    });
    let below = libm::erfc(-lowest / SQRT_2) / 2.0;
    (below + terms.sum::<f64>() * step / 3.0).min(15.0 / 16.0)
}
