//! Free space up to the crossover, two-ray ground beyond it.
//!
//! Rappaport, *Wireless Communications*, 2nd ed. (2002), §4.2 and §4.6. With both antennas at height *h*,
//! wavelength λ, gains *G* and loss *L*:
//! free space P·G²·λ² / ((4π)²·d²·L), two-ray ground P·G²·h⁴ / (d⁴·L); they meet at 4π·h²/λ.
//! *Deviations*: 2 and 3 in docs/models/radio.md.

use std::f64::consts::PI;

use super::{CLOSEST_M2, RadioParams, free_space_w, radiated_w, wavelength_m};

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct TwoRay {
    free_space: f64,
    two_ray: f64,
    pub(in super::super) crossover_m2: f64,
    height2: f64,
}

impl TwoRay {
    pub(super) fn new(params: &RadioParams) -> TwoRay {
        let height2 = params.antenna_height_m * params.antenna_height_m;
        let crossover_m = 4.0 * PI * height2 / wavelength_m(params);
        TwoRay {
            free_space: free_space_w(params),
            two_ray: radiated_w(params) * height2 * height2,
            crossover_m2: crossover_m * crossover_m,
            height2,
        }
    }

    pub(super) fn power_w(&self, distance_m2: f64) -> f64 {
        if distance_m2 < self.crossover_m2 {
            self.free_space / distance_m2.max(CLOSEST_M2)
        } else {
            self.two_ray / (distance_m2 * distance_m2)
        }
    }

    pub(super) fn reach_m2(&self, threshold_w: f64) -> f64 {
        let free_space = self.free_space / threshold_w;
        if free_space <= self.crossover_m2 { free_space } else { (self.two_ray / threshold_w).sqrt() }
    }

    /// With heights h and H the power beyond 4π·h·H/λ is P·G²·h²·H²/(d⁴·L).
    pub(super) fn gain_of_heights(&self, [one_m, other_m]: [f64; 2], distance_m2: f64) -> f64 {
        let taller = one_m * other_m / self.height2;
        #[expect(clippy::float_cmp, reason = "nothing is done where there is nothing to do")]
        if taller == 1.0 {
            return 1.0;
        }
        let crossover_m2 = self.crossover_m2 * taller * taller;
        let power_w = if distance_m2 < crossover_m2 {
            self.free_space / distance_m2.max(CLOSEST_M2)
        } else {
            self.two_ray * taller * taller / (distance_m2 * distance_m2)
        };
        power_w / self.power_w(distance_m2)
    }

    pub(super) fn highest_of_heights(&self, tallest_m: f64) -> f64 {
        let taller = (tallest_m * tallest_m / self.height2).max(1.0);
        taller * taller
    }
}
