//! Three slopes: an exponent each from three distances on, and free space up to the first.
//!
//! As ns-3's ThreeLogDistance model has it, with its exponents and distances as defaults; the loss up to the
//! first distance is Friis's at the run's own frequency.

use super::{CLOSEST_M2, RadioParams, free_space_w};

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ThreeSlopes {
    /// Where each slope begins, in m².
    pub(super) starts_m2: [f64; 3],
    /// The power there, in W.
    starts_w: [f64; 3],
    /// Half the exponents: distances are squared.
    pub(super) half_exponents: [f64; 3],
}

impl ThreeSlopes {
    pub(super) fn new(params: &RadioParams) -> ThreeSlopes {
        let metres = [params.reference_distance_m, params.slope_2_from_m, params.slope_3_from_m];
        let starts_m2 = metres.map(|m| m * m);
        let exponents = [params.slope_1_exponent, params.slope_2_exponent, params.slope_3_exponent];
        let half_exponents = exponents.map(|exponent| exponent / 2.0);
        let first_w = free_space_w(params) / starts_m2[0];
        let falls = |slope: usize| libm::pow(starts_m2[slope] / starts_m2[slope + 1], half_exponents[slope]);
        let second_w = first_w * falls(0);
        let starts_w = [first_w, second_w, second_w * falls(1)];
        ThreeSlopes { starts_m2, starts_w, half_exponents }
    }

    pub(super) fn power_w(&self, distance_m2: f64) -> f64 {
        let distance_m2 = distance_m2.max(CLOSEST_M2 * CLOSEST_M2);
        let slope =
            usize::from(distance_m2 >= self.starts_m2[1]) + usize::from(distance_m2 >= self.starts_m2[2]);
        self.starts_w[slope] * libm::pow(distance_m2 / self.starts_m2[slope], -self.half_exponents[slope])
    }

    pub(super) fn reach_m2(&self, threshold_w: f64) -> f64 {
        let slope =
            usize::from(threshold_w <= self.starts_w[1]) + usize::from(threshold_w <= self.starts_w[2]);
        let ratio = self.starts_w[slope] / threshold_w;
        self.starts_m2[slope] * libm::pow(ratio, 1.0 / self.half_exponents[slope])
    }
}
