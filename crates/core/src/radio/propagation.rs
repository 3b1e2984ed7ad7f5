//! Which power arrives over which distance, and over which distance a frame is received and sensed.
//!
//! *Deviations*: 2 and 3 in docs/models/radio.md.

use super::path_loss::{CLOSEST_M2, PathLoss};
use super::{Errors, RadioParams, rate_place};
use crate::wire::mac::{DSSS_BPS, OFDM_BPS};

/// Speed of light in vacuum, m/s.
const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// How many rates may have a range of their own.
const RATES: usize = DSSS_BPS.len() + OFDM_BPS.len();

/// Power as a function of squared distance, with thresholds turned into squared distances.
#[derive(Clone, Copy, Debug)]
pub struct Propagation {
    path_loss: PathLoss,
    /// At the rates of 802.11b, at those of OFDM, in their order, and at all others.
    receive_m2: [f64; RATES + 1],
    pub(super) sense_m2: f64,
}

impl Propagation {
    /// The model with these parameters.
    pub fn new(params: &RadioParams) -> Propagation {
        let mut model =
            Propagation { path_loss: PathLoss::new(params), receive_m2: [0.0; RATES + 1], sense_m2: 0.0 };
        let rates_bps = DSSS_BPS.into_iter().chain(OFDM_BPS).chain([f64::NAN]);
        for (place, bps) in rates_bps.enumerate() {
            model.receive_m2[place] = model.reach_m2(params.receive_threshold_at_w(bps));
        }
        // Nothing is received that is not sensed: a threshold for frames is one for carrier sense too, and
        // noise decides about nothing that the receiver ignores.
        model.sense_m2 = model.reach_m2(params.carrier_sense_threshold_w);
        if params.errors == Errors::ByRate {
            model.receive_m2 = model.receive_m2.map(|reach_m2| reach_m2.min(model.sense_m2));
        } else {
            model.sense_m2 = model.receive_m2.into_iter().fold(model.sense_m2, f64::max);
        }
        model
    }

    /// The squared distance (m²) up to which the power is at least `threshold_w`.
    pub(crate) fn reach_m2(&self, threshold_w: f64) -> f64 {
        self.path_loss.reach_m2(threshold_w)
    }

    /// Received power in W at a squared distance in m².
    pub fn power_w(&self, distance_m2: f64) -> f64 {
        self.path_loss.power_w(distance_m2)
    }

    /// What [`Propagation::captures`] is to be told of a ratio of powers.
    pub fn certain_capture(&self, ratio: f64) -> [f64; 2] {
        self.path_loss.certain_capture(ratio)
    }

    /// Is a signal from the squared distance `from_m2` at least `ratio` times as powerful as one from
    /// `other_m2`, both in m²? Mostly their distances tell; otherwise their powers do.
    #[inline]
    pub fn captures(&self, from_m2: f64, other_m2: f64, ratio: f64, [lost, captured]: [f64; 2]) -> bool {
        if from_m2 > CLOSEST_M2 && other_m2 <= from_m2 * lost {
            false
        } else if from_m2 > CLOSEST_M2 && other_m2 >= from_m2 * captured {
            true
        } else {
            self.power_w(from_m2) >= ratio * self.power_w(other_m2)
        }
    }

    /// The squared distance (m²) up to which frames at this rate can be received.
    pub fn receive_m2(&self, rate_bps: f64) -> f64 {
        self.receive_m2[rate_place(rate_bps).unwrap_or(RATES)]
    }

    /// Is a transmission from this squared distance (m²) sensed?
    pub fn senses(&self, distance_m2: f64) -> bool {
        distance_m2 <= self.sense_m2
    }

    /// The distance up to which frames at this rate can be received, in m.
    pub fn receive_range_m(&self, rate_bps: f64) -> f64 {
        self.receive_m2(rate_bps).sqrt()
    }

    /// The distance up to which frames at any rate can be received, in m.
    pub fn farthest_range_m(&self) -> f64 {
        self.receive_m2.into_iter().fold(0.0, f64::max).sqrt()
    }

    /// The distance up to which transmissions are sensed, in m.
    pub fn sense_range_m(&self) -> f64 {
        self.sense_m2.sqrt()
    }

    /// Nanoseconds that a signal takes for a squared distance in m².
    #[inline]
    pub fn travel_ns(distance_m2: f64) -> f64 {
        distance_m2.sqrt() * (1e9 / LIGHT_M_PER_S)
    }

    /// Nanoseconds that a signal takes for a squared distance in m², rounded down; for distances below a
    /// light-second.
    #[inline]
    pub fn delay_ns(distance_m2: f64) -> u32 {
        /// Numbers from here to its double are whole, and their lowest bits are those of the integer.
        const WHOLE: f64 = (1u64 << 52) as f64;
        let delay = Propagation::travel_ns(distance_m2);
        // A conversion to an integer that looks out for numbers too large cannot be done for several at a
        // time.
        let rounded = (delay + WHOLE) - WHOLE;
        let excess = if rounded > delay { 1.0 } else { 0.0 };
        (rounded - excess + WHOLE).to_bits() as u32
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the same computation gives the same bits")]

    use super::super::keyed::Sequence;
    use super::super::path_loss::TwoRay;
    use super::super::{ByRate, PathLossKind};
    use super::*;
    use proptest::prelude::*;

    fn wavelan() -> Propagation {
        Propagation::new(&RadioParams::default())
    }

    #[test]
    fn distances_tell_of_capture_what_powers_tell() {
        use PathLossKind::{Friis, LogDistance, ThreeSlopes, TwoRay};
        let mut draws = Sequence::from(11);
        for path_loss in [Friis, TwoRay, LogDistance, ThreeSlopes] {
            let model = Propagation::new(&RadioParams { path_loss, ..RadioParams::default() });
            let agree = |from_m2: f64, other_m2: f64, ratio: f64| {
                let wanted = model.power_w(from_m2) >= ratio * model.power_w(other_m2);
                let found = model.captures(from_m2, other_m2, ratio, model.certain_capture(ratio));
                assert_eq!(found, wanted, "{path_loss:?}: {from_m2} and {other_m2} m², {ratio}");
            };
            for _ in 0..20_000 {
                let [from_m2, other_m2] = [(); 2].map(|()| libm::pow(10.0, 9.0 * draws.unit() - 3.0));
                agree(from_m2, other_m2, libm::pow(10.0, 2.0 * draws.unit() - 0.3));
            }
            // Where one is just as many times as powerful as it has to be.
            for from_m2 in [0.5, 40.0, 9e3, 4e4] {
                let limit_m2 = model.reach_m2(model.power_w(from_m2) / 10.0);
                agree(from_m2, limit_m2 * (1.0 - 1e-12), 10.0);
                agree(from_m2, limit_m2 * (1.0 + 1e-12), 10.0);
            }
        }
    }

    #[test]
    fn the_wavelan_card_reaches_250_and_550_metres() {
        for bps in DSSS_BPS.into_iter().chain([54e6]) {
            assert!((wavelan().receive_range_m(bps) - 250.0).abs() < 0.1);
        }
        assert!((wavelan().sense_range_m() - 550.0).abs() < 0.1);
        let PathLoss::TwoRay(model) = wavelan().path_loss else { panic!("the default is two-ray ground") };
        assert!((model.crossover_m2.sqrt() - 86.14).abs() < 0.01);
    }

    #[test]
    fn the_ladder_reaches_297_250_199_and_149_metres() {
        let model = Propagation::new(&RadioParams { ranges: ByRate::Ladder, ..RadioParams::default() });
        assert_eq!(DSSS_BPS.map(|bps| model.receive_range_m(bps).round()), [297.0, 250.0, 199.0, 149.0]);
        assert_eq!(model.receive_m2(2e6), wavelan().receive_m2(2e6));
        assert_eq!(model.farthest_range_m(), model.receive_range_m(1e6));
        assert_eq!(model.sense_range_m(), wavelan().sense_range_m());
    }

    #[test]
    fn whatever_is_received_is_sensed() {
        let radio = RadioParams { ranges: ByRate::Ladder, step_1_db: -30.0, ..RadioParams::default() };
        let model = Propagation::new(&radio);
        assert_eq!(model.sense_range_m(), model.receive_range_m(1e6));
    }

    /// The Orinoco card of 802.11b, 15 dBm at 2.437 GHz, with a noise figure of 7 dB and nothing lost beside
    /// it.
    #[test]
    fn with_noise_rates_reach_as_far_as_their_errors_let_them() {
        let ranges_m = |exponent| {
            let radio = RadioParams {
                path_loss: PathLossKind::LogDistance,
                path_loss_exponent: exponent,
                transmit_power_w: 0.031_623,
                frequency_hz: 2.437e9,
                carrier_sense_threshold_w: 1e-14,
                errors: Errors::ByRate,
                ..RadioParams::default()
            };
            DSSS_BPS.map(|bps| Propagation::new(&radio).receive_range_m(bps))
        };
        for (exponent, wanted_m) in [
            (2.0, [3774.0, 2214.0, 1653.0, 1169.0]),
            (2.7, [446.0, 301.0, 242.0, 187.0]),
            (3.0, [242.0, 170.0, 140.0, 111.0]),
            (3.5, [111.0, 82.0, 69.0, 57.0]),
            (4.0, [61.0, 47.0, 41.0, 34.0]),
        ] {
            for (found_m, wanted_m) in ranges_m(exponent).into_iter().zip(wanted_m) {
                assert!((found_m / wanted_m - 1.0).abs() < 0.02, "{exponent}: {found_m}, {wanted_m}");
            }
        }
    }

    #[test]
    fn noise_decides_about_nothing_that_is_not_sensed() {
        let radio = RadioParams { errors: Errors::ByRate, noise_w: 1e-20, ..RadioParams::default() };
        let model = Propagation::new(&radio);
        assert_eq!(model.farthest_range_m(), wavelan().sense_range_m());
    }

    #[test]
    fn the_two_formulas_meet_at_the_crossover() {
        let model = wavelan();
        let PathLoss::TwoRay(TwoRay { crossover_m2, .. }) = model.path_loss else {
            panic!("the default is two-ray ground")
        };
        let (below, above) = (crossover_m2 * (1.0 - 1e-12), crossover_m2 * (1.0 + 1e-12));
        assert!((model.power_w(below) / model.power_w(above) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn power_falls_with_the_square_and_then_with_the_fourth_power() {
        let model = wavelan();
        let ratio = |a: f64, b: f64| model.power_w(a * a) / model.power_w(b * b);
        assert!((ratio(20.0, 40.0) - 4.0).abs() < 1e-9);
        assert!((ratio(200.0, 400.0) - 16.0).abs() < 1e-9);
    }

    #[test]
    fn light_goes_300_metres_in_a_microsecond() {
        assert_eq!(Propagation::delay_ns(300.0 * 300.0), 1000);
    }

    proptest! {
        #[test]
        fn delays_are_rounded_down(distance_m in 0.0..1e6f64) {
            let distance_m2 = distance_m * distance_m;
            let exact = Propagation::travel_ns(distance_m2);
            prop_assert_eq!(Propagation::delay_ns(distance_m2), exact as u32);
            // Whole numbers of nanoseconds and their neighbours are where rounding can go wrong.
            let whole_m = exact.round() / (1e9 / LIGHT_M_PER_S);
            for distance_m2 in [whole_m * whole_m, (whole_m * whole_m).next_down(), (whole_m * whole_m).next_up()] {
                let exact = Propagation::travel_ns(distance_m2.max(0.0));
                prop_assert_eq!(Propagation::delay_ns(distance_m2.max(0.0)), exact as u32);
            }
        }
    }
}
