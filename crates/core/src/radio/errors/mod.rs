//! Errors by noise: with which probability a frame arrives intact, by its rate and the SNR.
//!
//! **Implemented.** For each rate of 802.11b, and of OFDM as 802.11a and 802.11g have it, the probability
//! that a bit is right at an SNR ([`dsss`], [`ofdm`]); bits are independent of each other, so that parts of a
//! frame at different SNR have the product of their probabilities. The PLCP header (48 bits), or OFDM's
//! SIGNAL field (24 bits), has its own rate. The formulas, in which no parameter is, are tabulated once a
//! process, in steps of 0.1 dB.
//!
//! **Not implemented.** Errors in preambles; bursts; filters and synchronisation, which real receivers lose
//! 1 to 5 dB by (`radio.implementation_losses_db`).

mod dsss;
mod ofdm;

use std::sync::OnceLock;

use dsss::Dsss;
use ofdm::Ofdm;

use crate::wire::mac::{DSSS_BPS, OFDM_BPS};

/// Boltzmann's constant in J/K.
const BOLTZMANN: f64 = 1.380_649e-23;

/// The noise power in W at a receiver: thermal noise over a bandwidth, and what the receiver adds.
pub(super) fn noise_w(temperature_k: f64, bandwidth_hz: f64, figure_db: f64) -> f64 {
    BOLTZMANN * temperature_k * bandwidth_hz * libm::pow(10.0, figure_db / 10.0)
}

/// How a rate is put on the air.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Modulation {
    /// Spread over 22 MHz: 802.11b.
    Dsss(Dsss),
    /// Carriers over 20 MHz: 802.11a, and 802.11g beside it.
    Ofdm(Ofdm),
}

impl Modulation {
    /// That of a rate; none if it belongs to neither 802.11b nor OFDM.
    pub fn of(bps: f64) -> Option<Modulation> {
        Dsss::of(bps).map(Modulation::Dsss).or_else(|| Ofdm::of(bps).map(Modulation::Ofdm))
    }

    /// The bandwidth over which noise counts, in Hz.
    pub fn bandwidth_hz(self) -> f64 {
        match self {
            Modulation::Dsss(_) => 22e6,
            Modulation::Ofdm(_) => 20e6,
        }
    }

    /// How many coded bits a frame of so many bytes has behind its header: OFDM adds SERVICE and tail.
    pub fn bits(self, bytes: u32) -> f64 {
        let added = match self {
            Modulation::Dsss(_) => 0.0,
            Modulation::Ofdm(_) => 22.0,
        };
        8.0 * f64::from(bytes) + added
    }

    /// The bits of the header, and how they are sent.
    fn header(self, is_short: bool) -> (f64, Modulation) {
        match self {
            Modulation::Dsss(rate) if is_short && rate != Dsss::One => (48.0, Modulation::Dsss(Dsss::Two)),
            Modulation::Dsss(_) => (48.0, Modulation::Dsss(Dsss::One)),
            Modulation::Ofdm(_) => (24.0, Modulation::Ofdm(Ofdm::SIX)),
        }
    }

    /// The logarithm of the probability that a bit is right, at an SNR (linear, over the bandwidth).
    fn ln_right(self, snr: f64) -> f64 {
        match self {
            Modulation::Dsss(rate) => rate.ln_right(snr),
            Modulation::Ofdm(rate) => rate.ln_right(snr),
        }
    }
}

/// The SNR in dB at which 10 % of the frames of 1058 bytes are lost behind their headers, by rate: those of
/// 802.11b and then those of OFDM. A test compares them with the formulas.
const TENTH_LOST_DB: [f64; 12] =
    [-3.17, 1.46, 4.00, 7.01, 3.87, 6.76, 6.88, 9.77, 13.41, 16.51, 21.26, 22.52];

/// The SNR (linear) from which on links are said to hold at a rate: 10 % of the frames of 1058 bytes are
/// lost. None for a rate that belongs to neither 802.11b nor OFDM.
pub(super) fn snr_of_links(bps: f64) -> Option<f64> {
    rate_place(bps).map(|place| libm::pow(10.0, TENTH_LOST_DB[place] / 10.0))
}

/// The place of a rate among those of 802.11b and then those of OFDM; none if it is not one of them.
pub(super) fn rate_place(bps: f64) -> Option<usize> {
    let known = DSSS_BPS.iter().chain(&OFDM_BPS);
    known.into_iter().position(|known| known.total_cmp(&bps).is_eq())
}

/// Where the tables begin, in dB.
const FIRST_DB: f64 = -15.0;
const STEP_DB: f64 = 0.1;
/// Up to 35 dB: beyond it no rate has errors.
const STEPS: usize = 501;
/// ln(−ln(right)) where no error is left.
const NEVER_WRONG: f64 = -80.0;

/// By SNR: how often bits of one modulation are right.
#[derive(Debug)]
struct Curve(Vec<f64>);

/// Those of all rates, of 802.11b and then of OFDM, as far as they have been asked for.
static CURVES: [OnceLock<Curve>; DSSS_BPS.len() + OFDM_BPS.len()] =
    [const { OnceLock::new() }; DSSS_BPS.len() + OFDM_BPS.len()];

impl Curve {
    /// That of a modulation.
    fn of(modulation: Modulation) -> &'static Curve {
        let known = DSSS_BPS.iter().chain(&OFDM_BPS).map(|&bps| Modulation::of(bps)).zip(&CURVES);
        let place = known.into_iter().find(|(other, _)| *other == Some(modulation));
        let Some((_, curve)) = place else { unreachable!("each modulation is that of a rate") };
        curve.get_or_init(|| Curve::new(modulation))
    }

    fn new(modulation: Modulation) -> Curve {
        let at = |step: usize| {
            let snr = libm::pow(10.0, (FIRST_DB + STEP_DB * step as f64) / 10.0);
            libm::log(-modulation.ln_right(snr)).clamp(NEVER_WRONG, 10.0)
        };
        Curve((0..STEPS).map(at).collect())
    }

    /// The logarithm of the probability that a bit is right.
    fn ln_right(&self, snr: f64) -> f64 {
        let place = (10.0 * libm::log10(snr.max(1e-30)) - FIRST_DB) / STEP_DB;
        let place = place.clamp(0.0, (STEPS - 2) as f64 + 0.999_999);
        let (step, part) = (place as usize, place.fract());
        let log = self.0[step] + part * (self.0[step + 1] - self.0[step]);
        if log <= NEVER_WRONG + 1.0 { 0.0 } else { -libm::exp(log) }
    }
}

/// Errors of the frames of one rate.
#[derive(Clone, Debug)]
pub struct FrameErrors {
    modulation: Modulation,
    header_bits: f64,
    header: &'static Curve,
    payload: &'static Curve,
}

impl FrameErrors {
    /// Below and above these (linear; a little beyond both ends of the tables) nothing changes any more.
    pub(super) const SNR_OF_TABLES: [f64; 2] = [0.0316, 3163.0];

    /// Those of this modulation, with or without the short preamble of 802.11b.
    pub fn new(modulation: Modulation, has_short_preamble: bool) -> FrameErrors {
        let (header_bits, header) = modulation.header(has_short_preamble);
        FrameErrors { modulation, header_bits, header: Curve::of(header), payload: Curve::of(modulation) }
    }

    /// The logarithm of the probability that the header is right at this SNR, linear.
    pub fn ln_header_right(&self, snr: f64) -> f64 {
        self.header_bits * self.header.ln_right(snr)
    }

    /// How many bits a frame of so many bytes has behind its header.
    pub(super) fn bits(&self, bytes: u32) -> f64 {
        self.modulation.bits(bytes)
    }

    /// The logarithm of the probability that one of these bits is right at this SNR, linear.
    pub(super) fn ln_bit_right(&self, snr: f64) -> f64 {
        self.payload.ln_right(snr)
    }

    /// The logarithm of the probability that a share of what follows the header is right, of a frame of so
    /// many bytes; all of it has share 1.
    pub fn ln_payload_right(&self, snr: f64, bytes: u32, share: f64) -> f64 {
        share * self.modulation.bits(bytes) * self.payload.ln_right(snr)
    }

    /// The SNR (linear) from which on no draw loses a frame, however long it is.
    pub(super) fn snr_without_loss(&self) -> f64 {
        /// Of ln(−ln(right)): a draw is at most 1 − 2⁻⁵³, which is e^(−36.7) below 1, and the longest frame
        /// has e^13.2 bits.
        const UNSEEN: f64 = -51.0;
        let is_unseen = |step: usize| self.header.0[step] <= UNSEEN && self.payload.0[step] <= UNSEEN;
        match (0..STEPS - 1).rev().take_while(|&step| is_unseen(step)).last() {
            Some(step) => libm::pow(10.0, (FIRST_DB + STEP_DB * step as f64) / 10.0),
            None => f64::INFINITY,
        }
    }

    /// The SNR (linear) at which a frame of so many bytes is lost with this probability.
    pub fn snr_for_loss(&self, bytes: u32, loss: f64) -> f64 {
        let ln_right = |db: f64| {
            let snr = libm::pow(10.0, db / 10.0);
            self.ln_header_right(snr) + self.ln_payload_right(snr, bytes, 1.0)
        };
        let wanted = libm::log1p(-loss);
        let (mut low, mut high) = (FIRST_DB, FIRST_DB + STEP_DB * STEPS as f64);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if ln_right(middle) < wanted { low = middle } else { high = middle }
        }
        libm::pow(10.0, high / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frame errors without the header's, in dB of SNR.
    fn db_for_loss(bps: f64, bytes: u32, loss: f64) -> f64 {
        let modulation = Modulation::of(bps).expect("a rate of 802.11");
        let curve = Curve::new(modulation);
        let wanted = libm::log1p(-loss);
        let (mut low, mut high) = (-15.0, 30.0);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            let right = modulation.bits(bytes) * curve.ln_right(libm::pow(10.0, middle / 10.0));
            if right < wanted { low = middle } else { high = middle }
        }
        high
    }

    #[test]
    fn thermal_noise_over_22_mhz_is_100_55_dbm_below() {
        let dbm = |figure_db| 10.0 * libm::log10(noise_w(290.0, 22e6, figure_db)) + 30.0;
        assert!((dbm(0.0) + 100.55).abs() < 0.01);
        assert!((dbm(7.0) + 93.55).abs() < 0.01);
    }

    /// SNR in dB at which 90, 50, 10 and 1 % of the frames are lost, by bytes and rate.
    #[test]
    fn frames_of_802_11b_are_lost_where_the_formulas_say() {
        const RATES: [f64; 4] = [1e6, 2e6, 5.5e6, 11e6];
        const TABLE: [(u32, [[f64; 4]; 4]); 5] = [
            (
                40,
                [
                    [-7.15, -6.07, -4.78, -3.57],
                    [-3.06, -1.82, -0.34, 1.02],
                    [-0.19, 0.99, 2.35, 3.59],
                    [2.82, 4.00, 5.36, 6.60],
                ],
            ),
            (
                128,
                [
                    [-6.10, -5.23, -4.14, -3.07],
                    [-1.85, -0.85, 0.38, 1.57],
                    [0.96, 1.88, 3.01, 4.10],
                    [3.97, 4.89, 6.02, 7.11],
                ],
            ),
            (
                546,
                [
                    [-5.06, -4.36, -3.45, -2.53],
                    [-0.67, 0.12, 1.15, 2.17],
                    [2.05, 2.78, 3.71, 4.65],
                    [5.06, 5.79, 6.72, 7.66],
                ],
            ),
            (
                1058,
                [
                    [-4.66, -4.02, -3.17, -2.30],
                    [-0.22, 0.51, 1.46, 2.42],
                    [2.46, 3.13, 4.00, 4.89],
                    [5.47, 6.14, 7.01, 7.90],
                ],
            ),
            (
                1534,
                [
                    [-4.45, -3.84, -3.02, -2.18],
                    [0.02, 0.71, 1.63, 2.56],
                    [2.68, 3.31, 4.15, 5.01],
                    [5.69, 6.33, 7.16, 8.02],
                ],
            ),
        ];
        for (bytes, by_rate) in TABLE {
            for (bps, wanted_db) in RATES.into_iter().zip(by_rate) {
                for (loss, wanted_db) in [0.9, 0.5, 0.1, 0.01].into_iter().zip(wanted_db) {
                    let found_db = db_for_loss(bps, bytes, loss);
                    assert!(
                        (found_db - wanted_db).abs() < 0.02,
                        "{bytes} B at {bps}: {found_db}, {wanted_db}"
                    );
                }
            }
        }
    }

    #[test]
    fn links_hold_where_a_tenth_of_the_frames_is_lost() {
        for (place, &bps) in DSSS_BPS.iter().chain(&OFDM_BPS).enumerate() {
            let found_db = db_for_loss(bps, 1058, 0.1);
            assert!((found_db - TENTH_LOST_DB[place]).abs() < 0.03, "{bps}: {found_db}");
        }
    }

    #[test]
    fn half_of_the_headers_are_lost_at_7_9_db_below_noise() {
        let errors = FrameErrors::new(Modulation::Dsss(Dsss::One), false);
        let right = libm::exp(errors.ln_header_right(libm::pow(10.0, -0.79)));
        assert!((right - 0.5).abs() < 0.02, "{right}");
    }

    #[test]
    fn parts_at_another_snr_have_the_product_of_their_probabilities() {
        let errors = FrameErrors::new(Modulation::Dsss(Dsss::Eleven), false);
        let (weak, strong) = (libm::pow(10.0, 0.701), 1e3);
        let whole = errors.ln_payload_right(weak, 1058, 1.0);
        let half = errors.ln_payload_right(weak, 1058, 0.5) + errors.ln_payload_right(strong, 1058, 0.5);
        assert!((1.0 - libm::exp(whole) - 0.10).abs() < 0.002);
        assert!((1.0 - libm::exp(half) - 0.051).abs() < 0.001);
    }

    #[test]
    fn each_rate_of_ofdm_needs_more_than_the_one_below() {
        let needs: Vec<f64> = OFDM_BPS.iter().map(|&bps| db_for_loss(bps, 1000, 0.1)).collect();
        // 9 Mb/s (BPSK 3/4) and 12 Mb/s (QPSK 1/2) need about the same.
        assert!(needs.windows(2).all(|pair| pair[1] > pair[0] - 0.3), "{needs:?}");
        assert!((needs[7] - needs[0] - 18.6).abs() < 0.5, "{needs:?}");
    }
}
