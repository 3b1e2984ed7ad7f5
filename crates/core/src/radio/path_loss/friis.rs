//! Free space (Friis 1946): the power falls with the square of the distance.
//!
//! Rappaport, *Wireless Communications*, 2nd ed. (2002), §4.2. With wavelength λ, gains *G* and loss *L*:
//! P·G²·λ² / ((4π)²·d²·L).

use super::{CLOSEST_M2, RadioParams, free_space_w};

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Friis {
    /// In W, at 1 m.
    at_a_metre_w: f64,
}

impl Friis {
    pub(super) fn new(params: &RadioParams) -> Friis {
        Friis { at_a_metre_w: free_space_w(params) }
    }

    pub(super) fn power_w(&self, distance_m2: f64) -> f64 {
        self.at_a_metre_w / distance_m2.max(CLOSEST_M2)
    }

    pub(super) fn reach_m2(&self, threshold_w: f64) -> f64 {
        self.at_a_metre_w / threshold_w
    }
}
