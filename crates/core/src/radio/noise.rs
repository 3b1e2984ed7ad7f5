//! Noise at receivers, and which frames it destroys.
//!
//! **Implemented.** With `radio.errors = "by-rate"` each receiver of a frame has one uniform draw, a function
//! of when and by whom the frame was sent and of who receives it. The frame's header is lost if the draw is
//! not below the probability that the header is right, and the frame if it is not below the probability that
//! all of it is right; so one draw tells both. Bounds tell most fates ([`fates`](super::fates)), exact
//! probabilities the others. The SNR is that of the signal over noise and, with `capture =
//! "as-noise"`, over everything else that is on the air, part by part.

use std::sync::OnceLock;

use super::errors::{FrameErrors, Modulation, noise_w};
use super::fates::{Fate, Fates, Logarithms};
use super::keyed::{Key, OfTwo, unit};
use super::{Errors, Propagation, RadioParams};
use crate::kernel::{Purpose, Span, Streams, Time};

/// The noise power at a receiver of frames at this rate, in W: what the parameters give, or thermal noise.
pub(super) fn noise_at_w(params: &RadioParams, bps: f64) -> f64 {
    if params.noise_w > 0.0 {
        return params.noise_w;
    }
    let bandwidth_hz = Modulation::of(bps).map_or(22e6, Modulation::bandwidth_hz);
    noise_w(params.noise_temperature_k, bandwidth_hz, params.noise_figure_db)
}

/// What the receiver loses of the SNR at this rate, as a factor: it is to be divided by it.
pub(super) fn implementation_loss(params: &RadioParams, bps: f64) -> f64 {
    let loss_db = match crate::wire::mac::dsss_place(bps) {
        Some(0) => params.loss_1_db,
        Some(1) => params.loss_2_db,
        Some(2) => params.loss_5_5_db,
        Some(_) => params.loss_11_db,
        None => params.loss_ofdm_db,
    };
    libm::pow(10.0, loss_db / 10.0)
}

/// Noise and errors at one rate.
#[derive(Clone, Debug)]
struct AtRate {
    modulation: Modulation,
    has_short_preamble: bool,
    /// Noise with the receiver's own loss in it, in W.
    noise_w: f64,
    header: Span,
    /// Made when the first frame at the rate is judged.
    known: OnceLock<Known>,
}

/// Which frames of a rate are lost.
#[derive(Clone, Debug)]
struct Known {
    errors: FrameErrors,
    /// The squared distance up to which noise alone loses no frame, in m².
    intact_m2: f64,
    /// None where there can be none.
    fates: Option<Fates>,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct Noise {
    key: Key,
    propagation: Propagation,
    /// By rate, in the order of the MAC's table.
    rates: Vec<AtRate>,
    /// What other frames count as noise, linear.
    others_factor: f64,
    logarithms: Logarithms,
}

/// A frame that has been sent, of which noise decides at each of its receivers.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'n> {
    noise: &'n Noise,
    rate: usize,
    bytes: u32,
    known: &'n Known,
    bits: f64,
    draws: OfTwo,
}

impl Sent<'_> {
    /// Is it intact over this squared distance (m²) for certain, whatever the draw?
    #[inline]
    pub fn spares(&self, distance_m2: f64) -> bool {
        distance_m2 <= self.known.intact_m2
    }

    /// Its draw at a receiver: it is right as long as the probability of that is above.
    #[inline]
    pub fn draw(&self, to: u32) -> f64 {
        unit(self.draws.and(to.into()))
    }

    /// What noise alone makes of it at a receiver, over this squared distance (m²).
    #[inline(always)]
    pub fn fate_at(&self, distance_m2: f64, to: u32) -> Fate {
        if self.spares(distance_m2) { Fate::Intact } else { self.fate(distance_m2, self.draw(to)) }
    }

    /// What noise alone makes of it over this squared distance (m²) with this draw.
    #[inline(always)]
    pub fn fate(&self, distance_m2: f64, draw: f64) -> Fate {
        let certain = self.known.fates.as_ref().and_then(|fates| {
            let around = self.noise.logarithms.around(draw);
            fates.certain(self.bits, distance_m2, around)
        });
        certain.unwrap_or_else(|| self.exact_fate(distance_m2, libm::log(draw)))
    }

    #[inline(never)]
    fn exact_fate(&self, distance_m2: f64, ln_draw: f64) -> Fate {
        let errors = &self.known.errors;
        let snr = self.noise.propagation.power_w(distance_m2) / self.noise.rates[self.rate].noise_w;
        let header = errors.ln_header_right(snr);
        if ln_draw >= header {
            Fate::Unnoticed
        } else if ln_draw >= header + errors.ln_payload_right(snr, self.bytes, 1.0) {
            Fate::Damaged
        } else {
            Fate::Intact
        }
    }
}

/// A frame that is being judged at a receiver, for [`Noise::ln_right`].
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Its rate, by its place in the MAC's table.
    pub rate: usize,
    /// Its length, MAC header and FCS included.
    pub bytes: u32,
    /// Its power in W.
    pub power_w: f64,
    /// When its first and last bit arrive.
    pub start: Time,
    /// See `start`.
    pub end: Time,
}

impl Noise {
    /// Errors of frames at these rates (bit/s) with headers so long; none if thresholds decide.
    pub fn new(params: &RadioParams, rates: &[(f64, Span, bool)], streams: &Streams) -> Option<Noise> {
        if params.errors != Errors::ByRate {
            return None;
        }
        let propagation = Propagation::new(params);
        let at = |&(bps, header, has_short_preamble): &(f64, Span, bool)| {
            Modulation::of(bps).map(|modulation| {
                let noise_w = noise_at_w(params, bps) * implementation_loss(params, bps);
                AtRate { modulation, has_short_preamble, noise_w, header, known: OnceLock::new() }
            })
        };
        let rates = rates.iter().map(at).collect::<Option<Vec<_>>>()?;
        let key = Key::new(streams, Purpose::Noise, 0);
        let others_factor = libm::pow(10.0, params.interference_penalty_db / 10.0);
        Some(Noise { key, propagation, rates, others_factor, logarithms: Logarithms::new() })
    }

    /// A frame at this rate, by its place in the MAC's table, that `from` began to send at `start`.
    #[inline]
    pub fn sent(&self, rate: usize, bytes: u32, from: u32, start: Time) -> Sent<'_> {
        let known = self.known(rate);
        let draws = self.key.of_two(start.0, from.into());
        Sent { noise: self, rate, bytes, known, bits: known.errors.bits(bytes), draws }
    }

    #[inline]
    fn known(&self, rate: usize) -> &Known {
        let at = &self.rates[rate];
        at.known.get_or_init(|| self.know(at))
    }

    /// Bounds for frames at a rate go from where the first are lost to where no more can be.
    #[cold]
    fn know(&self, at: &AtRate) -> Known {
        let (errors, noise_w) = (FrameErrors::new(at.modulation, at.has_short_preamble), at.noise_w);
        // A little less, against rounding.
        let intact_m2 = self.propagation.reach_m2(noise_w * errors.snr_without_loss()) * (1.0 - 1e-9);
        let [lowest, highest] = FrameErrors::SNR_OF_TABLES;
        let nearest_m2 = self.propagation.reach_m2(noise_w * highest).max(intact_m2);
        let ends_m2 = [nearest_m2, self.propagation.reach_m2(noise_w * lowest)];
        let fates = Fates::new(ends_m2, |m2| {
            let snr = self.propagation.power_w(m2) / noise_w;
            (errors.ln_header_right(snr), errors.ln_bit_right(snr))
        });
        Known { errors, intact_m2, fates }
    }

    /// The logarithm of the probability that the part of a frame from `from` to `until` is right while others
    /// with a power of `others_w` in sum are on the air.
    fn ln_part_right(&self, frame: &Judged, from: Time, until: Time, others_w: f64) -> f64 {
        let (AtRate { noise_w, header, .. }, errors) =
            (&self.rates[frame.rate], &self.known(frame.rate).errors);
        let snr = frame.power_w / (noise_w + others_w * self.others_factor);
        let header_end = frame.start + *header;
        let share = |from: Time, until: Time, of: Span| {
            if until > from && of > Span::ZERO { until.since(from).0 as f64 / of.0 as f64 } else { 0.0 }
        };
        let in_header = share(from, until.min(header_end), *header);
        let behind = share(from.max(header_end), until, frame.end.since(header_end));
        let mut ln_right = 0.0;
        if in_header > 0.0 {
            ln_right += in_header * errors.ln_header_right(snr);
        }
        if behind > 0.0 {
            ln_right += errors.ln_payload_right(snr, frame.bytes, behind);
        }
        ln_right
    }

    /// The logarithm of the probability that what of a frame arrives in a piece of time is right, if nothing
    /// else comes than the others on the air, each with its power (W) and its end.
    pub fn ln_right(&self, frame: &Judged, (from, until): (Time, Time), others: &[(f64, Time)]) -> f64 {
        let mut ends: Vec<Time> = others.iter().map(|other| other.1).filter(|&end| end < until).collect();
        ends.push(until);
        ends.sort_unstable();
        let (mut from, mut ln_right) = (from, 0.0);
        for until in ends {
            if until > from {
                // Added anew in order of arrival: a difference would depend on what was there before.
                let others_w = others.iter().filter(|other| other.1 > from).map(|other| other.0).sum();
                ln_right += self.ln_part_right(frame, from, until, others_w);
                from = until;
            }
        }
        ln_right
    }
}

#[cfg(test)]
mod tests {
    use super::super::PathLossKind;
    use super::super::keyed::Sequence;
    use super::*;

    const HEADER: Span = Span(192_000);

    fn noise(change: impl FnOnce(&mut RadioParams)) -> (RadioParams, Noise) {
        let mut params = RadioParams { errors: Errors::ByRate, noise_w: 1e-13, ..RadioParams::default() };
        change(&mut params);
        let rates = [1e6, 2e6, 5.5e6, 11e6].map(|bps| (bps, HEADER, false));
        let noise = Noise::new(&params, &rates, &Streams::new(1, 0)).expect("errors by rate");
        (params, noise)
    }

    /// What becomes of a frame that node 0 sends at this time, in ns, at node 1.
    fn fate_at(noise: &Noise, rate: usize, bytes: u32, start_ns: u64, distance_m2: f64) -> Fate {
        let sent = noise.sent(rate, bytes, 0, Time(start_ns));
        sent.fate(distance_m2, sent.draw(1))
    }

    /// The squared distance at which a signal has this SNR, in dB.
    fn at_snr(params: &RadioParams, db: f64) -> f64 {
        Propagation::new(params).reach_m2(1e-13 * libm::pow(10.0, db / 10.0))
    }

    #[test]
    fn as_many_frames_are_lost_as_the_rate_loses_at_the_snr() {
        let (params, noise) = noise(|_| {});
        for (rate, db, wanted) in [(3, 7.01, 0.1), (2, 3.13, 0.5), (1, 1.46, 0.1), (0, -2.30, 0.012)] {
            let distance_m2 = at_snr(&params, db);
            let fates = (0..20_000).map(|at| fate_at(&noise, rate, 1058, at * 1000, distance_m2));
            let lost = fates.filter(|&fate| fate != Fate::Intact).count() as f64 / 20_000.0;
            assert!((lost - wanted).abs() < 0.012, "rate {rate}: {lost}");
        }
    }

    /// The largest draw that there is, and the longest frame.
    #[test]
    fn what_is_spared_is_intact_whatever_the_draw() {
        let (params, noise) = noise(|_| {});
        let draw = 1.0 - 1.0 / 9_007_199_254_740_992.0;
        for rate in 0..4 {
            let sent = noise.sent(rate, 65_535, 0, Time(0));
            let spared_m2 = sent.known.intact_m2;
            assert!(sent.spares(spared_m2) && !sent.spares(spared_m2 * 1.001));
            assert_eq!(sent.fate(spared_m2, draw), Fate::Intact);
            // Not much less than what is needed: 4 dB more are lost to it.
            let snr_db = 10.0 * libm::log10(Propagation::new(&params).power_w(spared_m2) / 1e-13);
            assert!((2.0..16.0).contains(&snr_db), "{snr_db}");
            let beyond_m2 = at_snr(&params, snr_db - 4.0);
            assert_ne!(sent.fate(beyond_m2, draw), Fate::Intact);
        }
    }

    /// All path losses and all rates, near, far, and beyond all tables.
    #[test]
    fn fates_are_those_of_exact_probabilities() {
        let all = [1e6, 2e6, 5.5e6, 11e6, 6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6];
        for path_loss in [PathLossKind::TwoRay, PathLossKind::LogDistance, PathLossKind::ThreeSlopes] {
            let params = RadioParams { errors: Errors::ByRate, path_loss, ..RadioParams::default() };
            let rates = all.map(|bps| (bps, HEADER, false));
            let noise = Noise::new(&params, &rates, &Streams::new(1, 0)).expect("errors by rate");
            let mut draws = Sequence::from(3);
            for at in 0..60_000 {
                let rate = at % all.len();
                let db = -30.0 + 70.0 * draws.unit();
                let power_w = noise.rates[rate].noise_w * libm::pow(10.0, db / 10.0);
                let distance_m2 = Propagation::new(&params).reach_m2(power_w);
                let (bytes, draw) = ((14.0 + 1500.0 * draws.unit()) as u32, draws.unit());
                let sent = noise.sent(rate, bytes, 0, Time(0));
                let exact = sent.exact_fate(distance_m2, libm::log(draw));
                assert_eq!(sent.fate(distance_m2, draw), exact, "{path_loss:?}, {rate}, {db} dB");
            }
        }
    }

    #[test]
    fn a_lost_header_is_a_lost_frame() {
        let (params, noise) = noise(|_| {});
        let fates = |db: f64| {
            let distance_m2 = at_snr(&params, db);
            let all = (0..5000).map(|at| fate_at(&noise, 3, 1000, at, distance_m2));
            let all: Vec<Fate> = all.collect();
            [Fate::Intact, Fate::Damaged, Fate::Unnoticed]
                .map(|fate| all.iter().filter(|&&found| found == fate).count())
        };
        // Headers at 1 Mb/s arrive where nothing at 11 Mb/s does, and half of them at -7.9 dB.
        assert_eq!(fates(2.0), [0, 5000, 0]);
        assert!(fates(-7.9)[2].abs_diff(2500) < 200);
        assert_eq!(fates(20.0), [5000, 0, 0]);
    }

    #[test]
    fn others_count_as_long_as_they_last() {
        let (_, noise) = noise(|_| {});
        let start = Time(1_000_000);
        let end = start + HEADER + Span::of_bits(8 * 1058, 11e6);
        let power_w = 1e-13 * libm::pow(10.0, 0.701);
        let frame = Judged { rate: 3, bytes: 1058, power_w, start, end };
        let lost = |ln_right: f64| 1.0 - libm::exp(ln_right);
        assert!((lost(noise.ln_right(&frame, (start, end), &[])) - 0.1).abs() < 0.002);
        // Strong, but with another frame over half of its bits that makes noise twice as strong as before.
        let strong = Judged { power_w: power_w * 2.0, ..frame };
        let behind = end.since(start + HEADER);
        let half = start + HEADER + Span(behind.0 / 2);
        let over_half = noise.ln_right(&strong, (start, end), &[(1e-13, half)]);
        assert!((lost(over_half) - 0.051).abs() < 0.002, "{}", lost(over_half));
        // Parts have the product of their probabilities, wherever they are cut.
        let cut = Time(start.0 + 333_333);
        let parts = noise.ln_part_right(&strong, start, cut, 1e-13)
            + noise.ln_part_right(&strong, cut, half, 1e-13)
            + noise.ln_part_right(&strong, half, end, 0.0);
        assert!((parts - over_half).abs() < 1e-9);
    }

    /// At 1 Mb/s spreading takes off an equally strong frame; at 2 Mb/s one frame of 1058 bytes in five is
    /// lost.
    #[test]
    fn equally_strong_frames_destroy_each_other_by_rate() {
        let (_, noise) = noise(|_| {});
        let start = Time(0);
        let lost = |rate: usize, bps: f64| {
            let end = start + HEADER + Span::of_bits(8 * 1058, bps);
            let frame = Judged { rate, bytes: 1058, power_w: 1e-9, start, end };
            1.0 - libm::exp(noise.ln_right(&frame, (start, end), &[(1e-9, end)]))
        };
        assert!(lost(0, 1e6) < 1e-5);
        assert!((lost(1, 2e6) - 0.8).abs() < 0.05, "{}", lost(1, 2e6));
    }
}
