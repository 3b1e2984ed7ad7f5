//! The radio channel: who receives a transmission, when, and how strongly.
//!
//! *Implemented*: free space to the crossover distance and two-ray ground beyond it; receive and
//! carrier-sense thresholds, the former by rate if asked for; true propagation delay; independent errors of
//! bits; a spatial index. path loss by several models, shadowing and fading as fields ([`Environment`]),
//! noise and errors by rate ([`Noise`]).
//! *Not implemented*: antenna patterns, several channels.
//! *Deviations*: 1 to 5 in docs/models/radio.md; 5 is the receiver's, in `mac/medium.rs`.

mod bit_errors;
mod block_code;
mod energy;
mod environment;
mod errors;
mod fading;
mod fates;
mod index;
mod keyed;
mod link_quality;
mod noise;
mod path_loss;
mod powers;
mod propagation;
mod shadowing;
mod walls;

pub use bit_errors::BitErrors;
pub use block_code::BlockCode;
pub use energy::{Energy, EnergySpec, EnergyTotals};
pub use environment::{Environment, Surroundings};
use errors::rate_place;
pub use errors::{FrameErrors, Modulation};
pub use fates::Fate;
pub use index::{Arrival, Index};
pub use link_quality::LinkQuality;
pub use noise::{Judged, Noise, Sent};
pub use propagation::Propagation;

use crate::kernel::Streams;
use crate::params::{choices, params, table};

choices! {
    /// When a frame survives others that overlap it at the receiver.
    pub enum Capture {
        /// As ns-2 does it: the frame that came first survives each later one that is weaker by the capture
        /// ratio, compared one by one; a later frame never captures the receiver.
        Pairwise = "pairwise",
        /// The frame that came first survives as long as its power over noise and the sum of all others
        /// stays at or above the capture ratio.
        Sinr = "sinr",
        /// The receiver locks on the first frame whose header it decodes; what it does not decode is only
        /// noise to it. That frame survives by the rule of `sinr`.
        Locking = "locking",
        /// The same, and others count as noise in the errors by rate: spreading takes them off, which is
        /// kinder than two stations of one code are to each other (ns-3).
        AsNoise = "as-noise",
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

choices! {
    /// Which frames are decoded where no other frame is on the air.
    pub enum Errors {
        /// All that arrive with the power that their rate needs.
        Thresholds = "thresholds",
        /// By chance, with the probability that the rate's modulation has at the frame's power over noise.
        ByRate = "by-rate",
    }
}

choices! {
    /// How power falls with distance.
    pub enum PathLossKind {
        /// Free space (Friis).
        Friis = "friis",
        /// Free space up to the crossover, two-ray ground beyond it.
        TwoRay = "two-ray",
        /// One exponent from `reference_distance_m` on.
        LogDistance = "log-distance",
        /// Three exponents, each from a distance on.
        ThreeSlopes = "three-slopes",
    }
}

choices! {
    /// Which distribution the power has around its mean from place to place within a wavelength.
    pub enum FadingKind {
        /// None.
        None = "none",
        /// A field of many ways, none of them direct.
        Rayleigh = "rayleigh",
        /// A field with a direct way, stronger than all others together by `rice_k_db`.
        Rice = "rice",
        /// Anew for each frame at each receiver, with shape `nakagami_m`.
        Nakagami = "nakagami",
    }
}

table! {
    /// The radio of one node, where it differs from that of all.
    pub struct NodeRadio {
        /// The node.
        node: u32, "";
        /// Its transmitted power.
        transmit_power_w: Option<f64> = "Option::default", "W", [1e-9, 1e3];
        /// The gain of its antenna, linear.
        antenna_gain: Option<f64> = "Option::default", "", [0.001, 1e4];
        /// The height of its antenna above ground; decides with two-ray ground only.
        antenna_height_m: Option<f64> = "Option::default", "m", [0.01, 1000.0];
    }
}

/// A wall or a building.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WallSpec {
    /// Its corners, x and y in m: two or more, of a building three or more.
    pub points: Vec<[f64; 2]>,
    /// What each crossing costs, in dB.
    #[serde(default)]
    pub db: f64,
    /// What each metre inside a building costs, in dB.
    #[serde(default)]
    pub db_per_m: f64,
    /// Is it a building: does a wall lead from the last corner to the first?
    #[serde(default, rename = "building")]
    pub is_building: bool,
    /// Does nothing come through?
    #[serde(default)]
    pub opaque: bool,
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
        /// How power falls with distance.
        path_loss: PathLossKind = PathLossKind::TwoRay, "", "ns-2 Propagation/TwoRayGround";
        /// Exponent of `log-distance`. Outdoors 2 in the open, 2.7 to 5 in a city; indoors 1.6 to 1.8 in
        /// sight, 4 to 6 behind walls.
        path_loss_exponent: f64 = 3.0, "", "Rappaport 2002 §4.9; ns-3 LogDistance", [1.0, 10.0];
        /// Distance up to which the loss is that of free space (`log-distance`, `three-slopes`); nearer it
        /// stays the same.
        reference_distance_m: f64 = 1.0, "m", "Rappaport 2002 §4.9; ns-3 LogDistance", [0.1, 1000.0];
        /// Exponent from `reference_distance_m` on (`three-slopes`).
        slope_1_exponent: f64 = 1.9, "", "ns-3 ThreeLogDistance", [1.0, 10.0];
        /// Exponent from `slope_2_from_m` on (`three-slopes`).
        slope_2_exponent: f64 = 3.8, "", "ns-3 ThreeLogDistance", [1.0, 10.0];
        /// Exponent from `slope_3_from_m` on (`three-slopes`).
        slope_3_exponent: f64 = 3.8, "", "ns-3 ThreeLogDistance", [1.0, 10.0];
        /// Where the second slope begins (`three-slopes`); at least `reference_distance_m`.
        slope_2_from_m: f64 = 200.0, "m", "ns-3 ThreeLogDistance", [0.1, 1e6];
        /// Where the third slope begins (`three-slopes`); at least `slope_2_from_m`.
        slope_3_from_m: f64 = 500.0, "m", "ns-3 ThreeLogDistance", [0.1, 1e6];
        /// Standard deviation of shadowing, a field over both places that is the same for all frames; 0:
        /// none. Outdoors 4 to 12 dB.
        shadowing_db: f64 = 0.0, "dB", "Gudmundson 1991; ns-2 Propagation/Shadowing", [0.0, 30.0];
        /// Over which way of one end shadowing falls to a correlation of about 1/e: some 8 m in a city, 500 m
        /// in a suburb.
        shadowing_distance_m: f64 = 20.0, "m", "Gudmundson 1991", [0.1, 1e5];
        /// Where shadowing is cut off, in standard deviations.
        shadowing_limit: f64 = 3.0, "", "none", [0.1, 10.0];
        /// Fading within a wavelength, of mean 1.
        fading: FadingKind = FadingKind::None, "", "Clarke 1968; Nakagami 1960; Rice 1944";
        /// Power of the direct way over that of all others (`rice`).
        rice_k_db: f64 = 6.0, "dB", "Rice 1944", [-30.0, 60.0];
        /// Shape of `nakagami`; 1 is Rayleigh's distribution.
        nakagami_m: f64 = 1.0, "", "Nakagami 1960", [0.5, 100.0];
        /// Where gains by fading are cut off; losses are not.
        fading_limit_db: f64 = 10.0, "dB", "none", [0.0, 60.0];
        /// How fast both fields drift past each node, as people and cars between standing nodes make them; 0:
        /// where nobody moves nothing changes.
        field_drift_m_s: f64 = 0.0, "m/s", "none", [0.0, 100.0];
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
        /// Noise power for the `sinr` rule and for errors by rate; with 0 the latter have thermal noise.
        noise_w: f64 = 0.0, "W", "none in ns-2", [0.0, 1.0];
        /// What decides whether a frame that no other one overlaps is decoded: thresholds, or noise by
        /// chance.
        errors: Errors = Errors::Thresholds, "", "ns-2: thresholds; ns-3 DsssErrorRateModel, NistErrorRateModel";
        /// Noise that the receiver adds to thermal noise, for errors by rate.
        noise_figure_db: f64 = 7.0, "dB", "ns-3 WifiPhy RxNoiseFigure", [0.0, 60.0];
        /// Temperature of thermal noise, for errors by rate; over 22 MHz, or 20 MHz for OFDM.
        noise_temperature_k: f64 = 290.0, "K", "ns-3 WifiPhy", [1.0, 1e6];
        /// What other frames count more than as noise with `capture = "as-noise"`.
        interference_penalty_db: f64 = 0.0, "dB", "none", [-30.0, 30.0];
        /// What a receiver loses of its SNR at 1 Mb/s against the formulas, for errors by rate.
        loss_1_db: f64 = 0.0, "dB", "none", [0.0, 30.0];
        /// The same at 2 Mb/s.
        loss_2_db: f64 = 0.0, "dB", "none", [0.0, 30.0];
        /// The same at 5.5 Mb/s.
        loss_5_5_db: f64 = 0.0, "dB", "none", [0.0, 30.0];
        /// The same at 11 Mb/s.
        loss_11_db: f64 = 0.0, "dB", "none", [0.0, 30.0];
        /// The same at all rates of OFDM.
        loss_ofdm_db: f64 = 0.0, "dB", "none", [0.0, 30.0];
        /// What 6 Mb/s needs over 2 Mb/s, for ladders; the other rates of OFDM need 1, 3, 5, 8, 12, 16 and 17
        /// dB more.
        step_6_db: f64 = 9.0, "dB", "IEEE 802.11-2007 §17.3.10.1; -82 dBm beside Orinoco's -91", [-30.0, 30.0];
        /// Probability that a bit of a frame that is strong enough to be decoded arrives wrong, at each
        /// receiver for itself. A frame with a wrong bit is lost and followed by EIFS.
        bit_error_rate: f64 = 0.0, "", "ns-2 ErrorModel, unit bit", [0.0, 0.5];
    }
}

impl RadioParams {
    /// The receive threshold at a rate, in W. A rate that 802.11b and OFDM do not have needs what 2 Mb/s
    /// does. With errors by rate it is the power at which a tenth of the frames of 1058 bytes is lost.
    pub fn receive_threshold_at_w(&self, rate_bps: f64) -> f64 {
        if self.errors == Errors::ByRate
            && let Some(snr) = errors::snr_of_links(rate_bps)
        {
            return noise::noise_at_w(self, rate_bps) * noise::implementation_loss(self, rate_bps) * snr;
        }
        self.receive_threshold_w * self.factor(self.ranges, rate_bps)
    }

    /// The capture ratio of a frame at a rate, linear.
    pub fn capture_ratio_at(&self, rate_bps: f64) -> f64 {
        self.capture_ratio * self.factor(self.capture_ratios, rate_bps)
    }

    /// The distance up to which frames at this rate arrive with enough power in the median of fading, in m.
    pub fn median_range_m(&self, rate_bps: f64) -> f64 {
        let propagation = Propagation::new(self);
        match self.fading {
            FadingKind::None => propagation.receive_range_m(rate_bps),
            _ => {
                let needed_w = self.receive_threshold_at_w(rate_bps) / fading::median_gain(self);
                propagation.reach_m2(needed_w).sqrt()
            }
        }
    }

    /// The distance up to which any frame can be received, with the greatest gain by shadowing, fading and
    /// single radios, in m.
    pub fn farthest_link_m(&self, surroundings: &Surroundings<'_>) -> f64 {
        let within_m = Propagation::new(self).farthest_range_m();
        // No draw decides about the greatest gain.
        match Environment::new(self, surroundings, &Streams::new(0, 0)) {
            Some(environment) => environment.search_m2(within_m * within_m).sqrt(),
            None => within_m,
        }
    }

    /// The ladder's step as a factor; exactly 1 where there is no ladder and at 2 Mb/s.
    fn factor(&self, by_rate: ByRate, rate_bps: f64) -> f64 {
        /// What the rates of OFDM need over 6 Mb/s: the standard's minimum sensitivities (§17.3.10.1).
        const OVER_6_DB: [f64; 8] = [0.0, 1.0, 3.0, 5.0, 8.0, 12.0, 16.0, 17.0];
        let steps_db = [self.step_1_db, 0.0, self.step_5_5_db, self.step_11_db];
        let step_db = rate_place(rate_bps).map(|place| match steps_db.get(place) {
            Some(step_db) => *step_db,
            None => self.step_6_db + OVER_6_DB[place - steps_db.len()],
        });
        match (by_rate, step_db) {
            // Not at 2 Mb/s, whose step is 0 whatever the arithmetic of powers makes of it.
            (ByRate::Ladder, Some(db)) if db != 0.0 => libm::pow(10.0, db / 10.0),
            _ => 1.0,
        }
    }
}
