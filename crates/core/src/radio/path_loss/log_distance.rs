//! Log-distance: from a reference distance on the power falls with one exponent; up to it in free space.
//!
//! Rappaport, *Wireless Communications*, 2nd ed. (2002), §4.9.1: L(d) = L(d₀) + 10·γ·log₁₀(d/d₀) dB. The loss
//! up to the reference distance is Friis's at the run's own frequency, and nearer than that it stays the
//! same.

use super::super::powers;
use super::{CLOSEST_M2, NEPERS_PER_DB, RadioParams, free_space_w};

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LogDistance {
    pub(in super::super) reference_m2: f64,
    reference_w: f64,
    /// Half the exponent: distances are squared.
    pub(super) half_exponent: f64,
}

impl LogDistance {
    pub(super) fn new(params: &RadioParams) -> LogDistance {
        let reference_m2 = params.reference_distance_m * params.reference_distance_m;
        LogDistance {
            reference_m2,
            reference_w: free_space_w(params) / reference_m2,
            half_exponent: params.path_loss_exponent / 2.0,
        }
    }

    /// Goes on below the reference distance, where only signals that something has made stronger seem to be.
    pub(super) fn power_w(&self, distance_m2: f64) -> f64 {
        let ratio = distance_m2.max(CLOSEST_M2 * CLOSEST_M2) / self.reference_m2;
        self.reference_w * libm::pow(ratio, -self.half_exponent)
    }

    pub(super) fn reach_m2(&self, threshold_w: f64) -> f64 {
        self.reference_m2 * libm::pow(self.reference_w / threshold_w, 1.0 / self.half_exponent)
    }

    /// The factor of the squared distance for a gain in dB.
    #[inline]
    pub(in super::super) fn stretch(&self, gain_db: f64) -> f64 {
        powers::exp(-gain_db * (NEPERS_PER_DB / self.half_exponent))
    }

    /// The same for a gain above 0, linear.
    #[inline]
    pub(in super::super) fn stretch_by(&self, gain: f64) -> f64 {
        powers::exp(powers::ln(gain) * (-1.0 / self.half_exponent))
    }

    /// Shorter than the way over powers, because there is one exponent.
    pub(super) fn as_if_from_m2(&self, distance_m2: f64, gain: f64) -> f64 {
        distance_m2 * libm::pow(gain, -1.0 / self.half_exponent)
    }
}
