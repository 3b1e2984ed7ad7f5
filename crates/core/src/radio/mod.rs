//! The radio channel: who receives a transmission, when, and how strongly.
//!
//! *Implemented*: free space to the crossover distance and two-ray ground beyond it; receive and
//! carrier-sense thresholds, the former by rate if asked for; true propagation delay; independent errors of
//! bits; a spatial index.
//! *Not implemented*: fading, shadowing, antenna patterns, several channels.
//! *Deviations*: 1 to 5 in docs/models/radio.md; 5 is the receiver's, in `mac/medium.rs`.

mod bit_errors;
mod index;
mod propagation;

pub use bit_errors::BitErrors;
pub use index::{Arrival, Index};
pub use propagation::Propagation;

use crate::params::{choices, params};
use crate::wire::mac::dsss_place;

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

choices! {
    /// How a power that a frame needs depends on its rate.
    pub enum ByRate {
        /// Not at all: ns-2 has one threshold for all rates, so that all reach equally far.
        Equal = "equal",
        /// By the steps `step_…_db` over the power that 2 Mb/s needs.
        Ladder = "ladder",
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
        /// Minimum power at which a frame can be received; with `ranges = "ladder"` one at 2 Mb/s.
        receive_threshold_w: f64 = 3.652e-10, "W", "ns-2 Phy/WirelessPhy RXThresh_", [1e-20, 1.0];
        /// Receive thresholds by rate: one for all (ns-2) or one for each rate of 802.11b. With the other
        /// defaults the ladder reaches 297, 250, 199 and 149 m at 1, 2, 5.5 and 11 Mb/s.
        ranges: ByRate = ByRate::Equal, "", "ns-2 Phy/WirelessPhy RXThresh_";
        /// Capture ratios by rate: one for all (ns-2) or one for each rate of 802.11b, by the same steps:
        /// what a rate needs over noise it needs over other frames.
        capture_ratios: ByRate = ByRate::Equal, "", "ns-2 Phy/WirelessPhy CPThresh_";
        /// What 1 Mb/s needs over 2 Mb/s, for ladders.
        step_1_db: f64 = -3.0, "dB", "Orinoco Gold: sensitivity -94, -91, -87, -82 dBm", [-30.0, 30.0];
        /// What 5.5 Mb/s needs over 2 Mb/s, for ladders.
        step_5_5_db: f64 = 4.0, "dB", "Orinoco Gold: sensitivity -94, -91, -87, -82 dBm", [-30.0, 30.0];
        /// What 11 Mb/s needs over 2 Mb/s, for ladders.
        step_11_db: f64 = 9.0, "dB", "Orinoco Gold: sensitivity -94, -91, -87, -82 dBm", [-30.0, 30.0];
        /// Minimum power that is sensed as a busy medium; the receiver ignores weaker signals.
        carrier_sense_threshold_w: f64 = 1.559e-11, "W", "ns-2 Phy/WirelessPhy CSThresh_", [1e-20, 1.0];
        /// Ratio of powers, linear, at or above which the stronger frame survives; with
        /// `capture_ratios = "ladder"` one at 2 Mb/s.
        capture_ratio: f64 = 10.0, "", "ns-2 Phy/WirelessPhy CPThresh_", [1.0, 1e6];
        /// The rule for overlapping frames.
        capture: Capture = Capture::Pairwise, "", "ns-2 Mac/802_11 recv";
        /// Noise power for the `sinr` rule.
        noise_w: f64 = 0.0, "W", "none in ns-2", [0.0, 1.0];
        /// Probability that a bit of a frame that is strong enough to be decoded arrives wrong, at each
        /// receiver for itself. A frame with a wrong bit is lost and followed by EIFS.
        bit_error_rate: f64 = 0.0, "", "ns-2 ErrorModel, unit bit", [0.0, 0.5];
    }
}

impl RadioParams {
    /// The receive threshold at a rate, in W. A rate that 802.11b does not have needs what 2 Mb/s does.
    pub fn receive_threshold_at_w(&self, rate_bps: f64) -> f64 {
        self.receive_threshold_w * self.factor(self.ranges, rate_bps)
    }

    /// The capture ratio of a frame at a rate, linear.
    pub fn capture_ratio_at(&self, rate_bps: f64) -> f64 {
        self.capture_ratio * self.factor(self.capture_ratios, rate_bps)
    }

    /// The ladder's step as a factor; exactly 1 where there is no ladder and at 2 Mb/s.
    fn factor(&self, by_rate: ByRate, rate_bps: f64) -> f64 {
        let steps_db = [self.step_1_db, 0.0, self.step_5_5_db, self.step_11_db];
        match (by_rate, dsss_place(rate_bps).map(|place| steps_db[place])) {
            // Not at 2 Mb/s, whose step is 0 whatever the arithmetic of powers makes of it.
            (ByRate::Ladder, Some(db)) if db != 0.0 => libm::pow(10.0, db / 10.0),
            _ => 1.0,
        }
    }
}
