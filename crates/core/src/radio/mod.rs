//! The radio channel: who receives a transmission, when, and how strongly.
//!
//! *Implemented*: free space to the crossover distance and two-ray ground beyond it; receive and
//! carrier-sense thresholds; true propagation delay; a spatial index.
//! *Not implemented*: fading, shadowing, antenna patterns, several channels.
//! *Deviations*: 1 to 5 in docs/models/radio.md; 5 is the receiver's, in `mac/medium.rs`.

mod index;
mod propagation;

pub use index::{Arrival, Index};
pub use propagation::Propagation;

use crate::params::{choices, params};

choices! {
    /// When a frame survives others that overlap it at the receiver.
    pub enum Capture {
        /// As ns-2 does it: the frame that came first survives each later one that is weaker by the capture
        /// ratio, compared one by one; a later frame never captures the receiver.
        Pairwise = "pairwise",
        /// The frame that came first survives as long as its power over noise and the sum of all others
        /// stays at or above the capture ratio.
        Sinr = "sinr",
    }
}

params! {
    /// Parameters of the radio channel. The defaults are those of the 914 MHz Lucent WaveLAN card as ns-2
    /// has them: 250 m to receive, 550 m to sense.
    pub struct RadioParams in "radio" {
        /// Transmitted power.
        transmit_power_w: f64 = 0.281_838_15, "W", "ns-2 Phy/WirelessPhy Pt_", [1e-9, 1e3];
        /// Carrier frequency.
        frequency_hz: f64 = 914e6, "Hz", "ns-2 Phy/WirelessPhy freq_", [1e6, 1e11];
        /// Height of transmitting and receiving antennas above ground.
        antenna_height_m: f64 = 1.5, "m", "ns-2 Antenna/OmniAntenna Z_", [0.01, 1000.0];
        /// Gain of each antenna, linear.
        antenna_gain: f64 = 1.0, "", "ns-2 Antenna/OmniAntenna Gt_, Gr_", [0.001, 1e4];
        /// System loss, linear.
        system_loss: f64 = 1.0, "", "ns-2 Phy/WirelessPhy L_", [1.0, 1e4];
        /// Minimum power at which a frame can be received.
        receive_threshold_w: f64 = 3.652e-10, "W", "ns-2 Phy/WirelessPhy RXThresh_", [1e-20, 1.0];
        /// Minimum power that is sensed as a busy medium; the receiver ignores weaker signals.
        carrier_sense_threshold_w: f64 = 1.559e-11, "W", "ns-2 Phy/WirelessPhy CSThresh_", [1e-20, 1.0];
        /// Ratio of powers, linear, at or above which the stronger frame survives.
        capture_ratio: f64 = 10.0, "", "ns-2 Phy/WirelessPhy CPThresh_", [1.0, 1e6];
        /// The rule for overlapping frames.
        capture: Capture = Capture::Pairwise, "", "ns-2 Mac/802_11 recv";
        /// Noise power for the `sinr` rule.
        noise_w: f64 = 0.0, "W", "none in ns-2", [0.0, 1.0];
    }
}
