//! Received power over distance: free space (Friis) up to the crossover, two-ray ground beyond it.
//!
//! Rappaport, *Wireless Communications*, 2nd ed. (2002), §4.2 and §4.6. With both antennas at height *h*,
//! wavelength λ, gains *G* and loss *L*:
//! free space P·G²·λ² / ((4π)²·d²·L), two-ray ground P·G²·h⁴ / (d⁴·L); they meet at 4π·h²/λ.
//! *Deviations*: 2 and 3 in docs/models/radio.md.

use std::f64::consts::PI;

use super::RadioParams;
use crate::kernel::Span;
use crate::wire::mac::{DSSS_BPS, dsss_place};

/// Speed of light in vacuum, m/s.
const LIGHT_M_PER_S: f64 = 299_792_458.0;
/// The speed of light that ns-2 uses for its wavelength; the default thresholds were computed with it.
const WAVELENGTH_LIGHT_M_PER_S: f64 = 3e8;

/// Power as a function of squared distance, with thresholds turned into squared distances.
#[derive(Clone, Copy, Debug)]
pub struct Propagation {
    free_space: f64,
    two_ray: f64,
    crossover_m2: f64,
    /// At the rates of 802.11b, in their order, and at all others.
    receive_m2: [f64; DSSS_BPS.len() + 1],
    pub(super) sense_m2: f64,
}

impl Propagation {
    /// The model with these parameters.
    pub fn new(params: &RadioParams) -> Propagation {
        let wavelength_m = WAVELENGTH_LIGHT_M_PER_S / params.frequency_hz;
        let radiated =
            params.transmit_power_w * params.antenna_gain * params.antenna_gain / params.system_loss;
        let per_wave = wavelength_m / (4.0 * PI);
        let height2 = params.antenna_height_m * params.antenna_height_m;
        let crossover_m = 4.0 * PI * height2 / wavelength_m;
        let mut model = Propagation {
            free_space: radiated * per_wave * per_wave,
            two_ray: radiated * height2 * height2,
            crossover_m2: crossover_m * crossover_m,
            receive_m2: [0.0; DSSS_BPS.len() + 1],
            sense_m2: 0.0,
        };
        let [one, two, five, eleven] = DSSS_BPS;
        let reach_m2 = |bps| model.reach_m2(params.receive_threshold_at_w(bps));
        let receive_m2 = [one, two, five, eleven, f64::NAN].map(reach_m2);
        model.receive_m2 = receive_m2;
        // Nothing is received that is not sensed.
        model.sense_m2 =
            receive_m2.into_iter().fold(model.reach_m2(params.carrier_sense_threshold_w), f64::max);
        model
    }

    /// The squared distance (m²) up to which the power is at least `threshold_w`.
    pub(crate) fn reach_m2(&self, threshold_w: f64) -> f64 {
        let free_space = self.free_space / threshold_w;
        if free_space <= self.crossover_m2 { free_space } else { (self.two_ray / threshold_w).sqrt() }
    }

    /// Received power in W at a squared distance in m².
    pub fn power_w(&self, distance_m2: f64) -> f64 {
        if distance_m2 < self.crossover_m2 {
            // Antennas at the same point: the formula has no meaning closer than a wavelength or so.
            self.free_space / distance_m2.max(1e-2)
        } else {
            self.two_ray / (distance_m2 * distance_m2)
        }
    }

    /// The squared distance (m²) up to which frames at this rate can be received.
    pub fn receive_m2(&self, rate_bps: f64) -> f64 {
        self.receive_m2[dsss_place(rate_bps).unwrap_or(DSSS_BPS.len())]
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

    /// The time after which a transmission has reached all who sense it.
    pub fn longest_delay(&self) -> Span {
        Span(Propagation::travel_ns(self.sense_m2) as u64)
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

    use super::super::ByRate;
    use super::*;
    use proptest::prelude::*;

    fn wavelan() -> Propagation {
        Propagation::new(&RadioParams::default())
    }

    #[test]
    fn the_wavelan_card_reaches_250_and_550_metres() {
        for bps in DSSS_BPS.into_iter().chain([54e6]) {
            assert!((wavelan().receive_range_m(bps) - 250.0).abs() < 0.1);
        }
        assert!((wavelan().sense_range_m() - 550.0).abs() < 0.1);
        assert!((wavelan().crossover_m2.sqrt() - 86.14).abs() < 0.01);
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

    #[test]
    fn the_two_formulas_meet_at_the_crossover() {
        let model = wavelan();
        let (below, above) = (model.crossover_m2 * (1.0 - 1e-12), model.crossover_m2 * (1.0 + 1e-12));
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
