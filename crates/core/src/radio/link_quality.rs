//! How good a link is: the share of frames that are decoded at a mean power, if no other frame is on the air.

use super::errors::{FrameErrors, Modulation};
use super::fading::{gamma, median_gain, shape};
use super::keyed::Sequence;
use super::noise::{implementation_loss, noise_at_w};
use super::{Errors, RadioParams};

/// Over so many gains by fading the share is taken.
const GAINS: u64 = 512;

/// See the module's head.
#[derive(Clone, Debug)]
pub struct LinkQuality {
    needed_w: f64,
    threshold_w: f64,
    sensed_w: f64,
    /// By noise, with the noise power in W; none where thresholds decide.
    errors: Option<(FrameErrors, f64)>,
    /// Gains by fading, each as likely as all others.
    gains: Vec<f64>,
    highest_gain: f64,
}

impl LinkQuality {
    /// That of frames at this rate.
    pub fn new(params: &RadioParams, rate_bps: f64) -> LinkQuality {
        let by_noise = params.errors == Errors::ByRate;
        let errors = Modulation::of(rate_bps).filter(|_| by_noise).map(|modulation| {
            let noise_w = noise_at_w(params, rate_bps) * implementation_loss(params, rate_bps);
            (FrameErrors::new(modulation, false), noise_w)
        });
        let gains: Vec<f64> = match shape(params) {
            Some(m) => (0..GAINS).map(|at| gamma(m, &mut Sequence::from(at.wrapping_mul(977)))).collect(),
            None => vec![1.0],
        };
        let threshold_w = params.receive_threshold_at_w(rate_bps);
        let sensed_w = params.carrier_sense_threshold_w;
        // Noise decides about nothing that the receiver ignores.
        let least_w = if by_noise { threshold_w.max(sensed_w) } else { threshold_w };
        let highest_gain = gains.iter().copied().fold(0.0, f64::max);
        LinkQuality {
            needed_w: least_w / median_gain(params),
            threshold_w,
            sensed_w,
            errors,
            gains,
            highest_gain,
        }
    }

    /// The mean power whose median by fading suffices, in W.
    pub fn needed_w(&self) -> f64 {
        self.needed_w
    }

    /// The share of frames of so many bytes that are decoded at this mean power in W.
    pub fn delivery(&self, power_w: f64, bytes: u32) -> f64 {
        let ignored_below_w = if self.errors.is_some() { self.sensed_w } else { self.threshold_w };
        if power_w * self.highest_gain < ignored_below_w {
            return 0.0;
        }
        let of_gain = |gain: &f64| match &self.errors {
            None => f64::from(u8::from(power_w * gain >= self.threshold_w)),
            Some(_) if power_w * gain < self.sensed_w => 0.0,
            Some((errors, noise_w)) => {
                let snr = power_w * gain / noise_w;
                libm::exp(errors.ln_header_right(snr) + errors.ln_payload_right(snr, bytes, 1.0))
            }
        };
        self.gains.iter().map(of_gain).sum::<f64>() / self.gains.len() as f64
    }
}
