//! How the power of a signal falls with distance: one file a model.
//!
//! A model says the received power at a squared distance ([`PathLoss::power_w`]) and the squared distance at
//! which a power is received ([`PathLoss::reach_m2`]); each undoes the other. Both are strictly monotonic, so
//! a signal that something else has made weaker or stronger is, for whoever receives it, one from another
//! distance ([`PathLoss::as_if_from_m2`]).
//!
//! To add a model: its file, a variant of [`PathLoss`], and a value of the parameter `radio.path_loss`.

mod friis;
mod log_distance;
mod three_slopes;
mod two_ray;

use std::f64::consts::PI;

pub(super) use friis::Friis;
pub(super) use log_distance::LogDistance;
pub(super) use three_slopes::ThreeSlopes;
pub(super) use two_ray::TwoRay;

use super::{PathLossKind, RadioParams, powers};

/// The speed of light that ns-2 uses for its wavelength; the default thresholds were computed with it.
const WAVELENGTH_LIGHT_M_PER_S: f64 = 3e8;
/// Antennas at the same point: the formulas have no meaning closer than a wavelength or so. In m².
pub(super) const CLOSEST_M2: f64 = 1e-2;

/// Of powers: ln(10)/10.
const NEPERS_PER_DB: f64 = std::f64::consts::LN_10 / 10.0;

/// One of the models, with the parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathLoss {
    Friis(Friis),
    TwoRay(TwoRay),
    LogDistance(LogDistance),
    ThreeSlopes(ThreeSlopes),
}

impl PathLoss {
    /// The model that the parameters name.
    pub(super) fn new(params: &RadioParams) -> PathLoss {
        match params.path_loss {
            PathLossKind::Friis => PathLoss::Friis(Friis::new(params)),
            PathLossKind::TwoRay => PathLoss::TwoRay(TwoRay::new(params)),
            PathLossKind::LogDistance => PathLoss::LogDistance(LogDistance::new(params)),
            PathLossKind::ThreeSlopes => PathLoss::ThreeSlopes(ThreeSlopes::new(params)),
        }
    }

    /// Received power in W at a squared distance in m².
    pub(super) fn power_w(&self, distance_m2: f64) -> f64 {
        match self {
            PathLoss::TwoRay(model) => model.power_w(distance_m2),
            PathLoss::Friis(model) => model.power_w(distance_m2),
            PathLoss::LogDistance(model) => model.power_w(distance_m2),
            PathLoss::ThreeSlopes(model) => model.power_w(distance_m2),
        }
    }

    /// The squared distance (m²) up to which the power is at least `threshold_w`.
    pub(super) fn reach_m2(&self, threshold_w: f64) -> f64 {
        match self {
            PathLoss::TwoRay(model) => model.reach_m2(threshold_w),
            PathLoss::Friis(model) => model.reach_m2(threshold_w),
            PathLoss::LogDistance(model) => model.reach_m2(threshold_w),
            PathLoss::ThreeSlopes(model) => model.reach_m2(threshold_w),
        }
    }

    /// The least and the greatest exponent with which the power falls with the squared distance, from
    /// [`CLOSEST_M2`] on.
    fn exponents(&self) -> [f64; 2] {
        match self {
            PathLoss::Friis(_) => [1.0, 1.0],
            PathLoss::TwoRay(_) => [1.0, 2.0],
            PathLoss::LogDistance(model) => [model.half_exponent; 2],
            PathLoss::ThreeSlopes(model) => {
                let [first, second, third] = model.half_exponents;
                [first.min(second).min(third), first.max(second).max(third)]
            }
        }
    }

    /// Of two signals the nearer is, for certain, not so many times as powerful as the farther (`ratio`, at
    /// least 1) if the squared distances are to each other at most as the first of these, and for certain is
    /// if they are at least as the second.
    pub(super) fn certain_capture(&self, ratio: f64) -> [f64; 2] {
        /// Of the ratio, against rounding.
        const MARGIN: f64 = 1e-9;
        let [least, most] = self.exponents();
        if ratio < 1.0 || least <= 0.0 {
            return [0.0, f64::INFINITY];
        }
        let (lost, captured) = (libm::pow(ratio, 1.0 / most), libm::pow(ratio, 1.0 / least));
        [lost * (1.0 - MARGIN), captured * (1.0 + MARGIN)]
    }

    /// The squared distance (m²) from which a signal from `distance_m2` seems to come that something else
    /// makes stronger by `gain`, linear. Without that, the distance itself, bit by bit.
    pub(super) fn as_if_from_m2(&self, distance_m2: f64, gain: f64) -> f64 {
        let distance_m2 = distance_m2.max(self.loss_from_m2());
        #[expect(clippy::float_cmp, reason = "nothing is done where there is nothing to do")]
        if gain == 1.0 {
            return distance_m2;
        }
        match self {
            PathLoss::LogDistance(model) => model.as_if_from_m2(distance_m2, gain),
            _ => self.reach_m2(self.power_w(distance_m2) * gain),
        }
    }

    /// The same with a second gain, in dB.
    pub(super) fn as_if_shadowed_m2(&self, distance_m2: f64, gain: f64, gain_db: f64) -> f64 {
        if gain_db == 0.0 {
            return self.as_if_from_m2(distance_m2, gain);
        }
        match self {
            PathLoss::LogDistance(model) => self.as_if_from_m2(distance_m2, gain) * model.stretch(gain_db),
            _ => self.as_if_from_m2(distance_m2, gain * powers::exp(gain_db * NEPERS_PER_DB)),
        }
    }

    /// What antennas at these heights make of the power over two at the height of all, linear: only the
    /// ground minds.
    pub(super) fn gain_of_heights(&self, heights_m: [f64; 2], distance_m2: f64) -> f64 {
        match self {
            PathLoss::TwoRay(model) => model.gain_of_heights(heights_m, distance_m2),
            _ => 1.0,
        }
    }

    /// The greatest of these gains where no antenna is taller.
    pub(super) fn highest_of_heights(&self, tallest_m: f64) -> f64 {
        match self {
            PathLoss::TwoRay(model) => model.highest_of_heights(tallest_m),
            _ => 1.0,
        }
    }

    /// The squared distance (m²) below which the power grows no more.
    pub(super) fn loss_from_m2(&self) -> f64 {
        match self {
            PathLoss::TwoRay(_) | PathLoss::Friis(_) => CLOSEST_M2,
            PathLoss::LogDistance(model) => model.reference_m2,
            PathLoss::ThreeSlopes(model) => model.starts_m2[0],
        }
    }
}

/// The wavelength in m.
fn wavelength_m(params: &RadioParams) -> f64 {
    WAVELENGTH_LIGHT_M_PER_S / params.frequency_hz
}

/// What both antennas and the system make of the transmitted power, in W.
fn radiated_w(params: &RadioParams) -> f64 {
    params.transmit_power_w * params.antenna_gain * params.antenna_gain / params.system_loss
}

/// The power in free space at 1 m, in W (Friis).
fn free_space_w(params: &RadioParams) -> f64 {
    let per_wave = wavelength_m(params) / (4.0 * PI);
    radiated_w(params) * per_wave * per_wave
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Loss in dB over `distance_m` at this frequency.
    fn loss_db(kind: PathLossKind, frequency_hz: f64, distance_m: f64) -> f64 {
        let params = RadioParams {
            path_loss: kind,
            frequency_hz,
            transmit_power_w: 1.0,
            path_loss_exponent: 2.7,
            ..RadioParams::default()
        };
        -10.0 * libm::log10(PathLoss::new(&params).power_w(distance_m * distance_m))
    }

    #[test]
    fn free_space_loses_31_7_db_in_the_first_metre_at_914_mhz_and_40_2_at_2437() {
        for kind in [PathLossKind::Friis, PathLossKind::LogDistance, PathLossKind::ThreeSlopes] {
            assert!((loss_db(kind, 914e6, 1.0) - 31.7).abs() < 0.05, "{kind:?}");
            assert!((loss_db(kind, 2.437e9, 1.0) - 40.2).abs() < 0.05, "{kind:?}");
        }
    }

    #[test]
    fn each_model_falls_as_its_exponents_say() {
        let falls_db = |kind, from, to| loss_db(kind, 2.4e9, to) - loss_db(kind, 2.4e9, from);
        assert!((falls_db(PathLossKind::Friis, 50.0, 500.0) - 20.0).abs() < 1e-9);
        assert!((falls_db(PathLossKind::LogDistance, 5.0, 50.0) - 27.0).abs() < 1e-9);
        assert!((falls_db(PathLossKind::TwoRay, 500.0, 5000.0) - 40.0).abs() < 1e-9);
        // 1.9 from 1 m, 3.8 from 200 m and from 500 m.
        assert!((falls_db(PathLossKind::ThreeSlopes, 10.0, 100.0) - 19.0).abs() < 1e-9);
        assert!((falls_db(PathLossKind::ThreeSlopes, 250.0, 450.0) - 38.0 * libm::log10(1.8)).abs() < 1e-9);
        assert!((falls_db(PathLossKind::ThreeSlopes, 600.0, 6000.0) - 38.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn reach_undoes_power(metres in 1.5..5e3f64, kind in 0usize..4, gain_db in -30.0..30.0f64) {
            let kinds = [PathLossKind::Friis, PathLossKind::TwoRay, PathLossKind::LogDistance, PathLossKind::ThreeSlopes];
            let model = PathLoss::new(&RadioParams { path_loss: kinds[kind], ..RadioParams::default() });
            let distance_m2 = metres * metres;
            let back_m2 = model.reach_m2(model.power_w(distance_m2));
            prop_assert!((back_m2 / distance_m2 - 1.0).abs() < 1e-9);
            // A gain moves the signal to where its power is.
            let gain = libm::pow(10.0, gain_db / 10.0);
            let moved_m2 = model.as_if_from_m2(distance_m2, gain);
            let wanted_w = model.power_w(distance_m2) * gain;
            prop_assert!((model.power_w(moved_m2) / wanted_w - 1.0).abs() < 1e-9);
            prop_assert!(model.as_if_from_m2(distance_m2, 1.0).to_bits() == distance_m2.to_bits());
            // In dB, too, and both together.
            let in_db_m2 = model.as_if_shadowed_m2(distance_m2, 1.0, gain_db);
            prop_assert!((in_db_m2 / moved_m2 - 1.0).abs() < 1e-9);
            let both_m2 = model.as_if_shadowed_m2(distance_m2, gain, -gain_db);
            prop_assert!((both_m2 / distance_m2 - 1.0).abs() < 1e-9);
        }
    }
}
