//! Fading: how much stronger or weaker a signal is because it arrives over many ways at once.
//!
//! *Read*: Nakagami, *The m-distribution* (1960); Clarke, *A statistical theory of mobile-radio reception*
//! (1968); Rice, *Mathematical analysis of random noise* (1944).
//!
//! **Implemented.** Power gains with mean 1. *Nakagami*: drawn anew for each frame and each receiver,
//! gamma-distributed with shape *m*. *Rayleigh* and *Rice*: a field over both places, the sum of plane waves
//! from random directions with random phases for each pair of nodes, plus the direct way for Rice. It stands
//! still while both nodes do, and changes as fast as they move: over 0.38 wavelengths it is forgotten (J₀).
//! It is the same in both directions.
//!
//! **Deviations.** A frame has the gain of its first bit to its end; above some 5 m/s at 2.4 GHz a long frame
//! at 1 Mb/s would see it change. Sixteen waves make deep fades a little more seldom than infinitely many.
//! Gains above `fading_limit_db` are cut off, so that the spatial index knows how far to look. The directions
//! of waves are the same for all pairs; their phases are not.

use std::f64::consts::PI;

use super::keyed::{Key, Sequence, unit};
use super::{FadingKind, RadioParams};
use crate::kernel::{Purpose, Streams, Time};
use crate::mobility::Point;

/// The number of plane waves.
const WAVES: usize = 16;
/// How many of them are computed beside each other.
const ABREAST: usize = 4;
const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    key: Key,
    limit: f64,
    of: Of,
}

#[derive(Clone, Debug)]
enum Of {
    Nakagami { m: f64 },
    Waves(Box<Waves>),
}

#[derive(Clone, Debug)]
struct Waves {
    per_wavelength: f64,
    /// Directions at the node of the lower number and at the other one.
    lower: Directions,
    higher: Directions,
    /// What each wave makes of a pair's number.
    odd: [u64; WAVES],
    /// Amplitudes of the direct way and of each wave.
    direct: f64,
    scattered: f64,
}

/// Unit vectors over the wavelength, in turns per metre, one component after the other.
#[derive(Clone, Debug)]
struct Directions {
    x: [f64; WAVES],
    y: [f64; WAVES],
}

impl Directions {
    /// Turns of each wave on the way to a place.
    #[inline]
    fn turns(&self, place: Point) -> [f64; WAVES] {
        let mut turns = [0.0; WAVES];
        for (turns, (x, y)) in turns.iter_mut().zip(self.x.iter().zip(&self.y)) {
            *turns = x * place.x + y * place.y;
        }
        turns
    }
}

impl Fading {
    /// The fading of a run; none without it.
    pub(super) fn new(params: &RadioParams, streams: &Streams) -> Option<Fading> {
        let key = Key::new(streams, Purpose::Fading, 0);
        let of = match params.fading {
            FadingKind::None => return None,
            FadingKind::Nakagami => Of::Nakagami { m: params.nakagami_m },
            FadingKind::Rayleigh => Of::Waves(Box::new(Waves::new(params, 0.0, streams))),
            FadingKind::Rice => {
                Of::Waves(Box::new(Waves::new(params, libm::pow(10.0, params.rice_k_db / 10.0), streams)))
            }
        };
        Some(Fading { key, limit: libm::pow(10.0, params.fading_limit_db / 10.0), of })
    }

    /// The greatest gain that there is, linear.
    pub(super) fn highest(&self) -> f64 {
        self.limit
    }

    /// Is it another one for each frame?
    pub(super) fn is_of_frames(&self) -> bool {
        matches!(self.of, Of::Nakagami { .. })
    }

    /// The power gain (linear) of a frame of `from` that begins now, at `to`.
    pub(super) fn gain(&self, now: Time, ends: [(u32, Point); 2]) -> f64 {
        let [(from, here), (to, there)] = ends;
        let gain = match &self.of {
            Of::Nakagami { m } => {
                let number = self.key.of(now.0, u64::from(from), u64::from(to));
                gamma(*m, &mut Sequence::from(number))
            }
            Of::Waves(waves) => {
                let pair = self.key.of(u64::from(from.min(to)), u64::from(from.max(to)), 0);
                let (lower, higher) = if from < to { (here, there) } else { (there, here) };
                waves.gain(pair, lower, higher, lower.distance(higher))
            }
        };
        gain.min(self.limit)
    }
}

/// The shape of the gamma distribution that gains have, or nearly have: Rice's is near that of
/// m = (K + 1)²/(2·K + 1). None without fading.
pub(super) fn shape(params: &RadioParams) -> Option<f64> {
    let k = libm::pow(10.0, params.rice_k_db / 10.0);
    match params.fading {
        FadingKind::None => None,
        FadingKind::Rayleigh => Some(1.0),
        FadingKind::Nakagami => Some(params.nakagami_m),
        FadingKind::Rice => Some((k + 1.0) * (k + 1.0) / (2.0 * k + 1.0)),
    }
}

/// The median gain, linear, within 2 % (Wilson and Hilferty 1931): what decides whether there is a link.
pub(super) fn median_gain(params: &RadioParams) -> f64 {
    let Some(m) = shape(params) else { return 1.0 };
    let root = 1.0 - 1.0 / (9.0 * m);
    root * root * root
}

impl Waves {
    fn new(params: &RadioParams, k: f64, streams: &Streams) -> Waves {
        let mut draws = Sequence::from(streams.stream(1, Purpose::Fading).bits());
        let per_wavelength = params.frequency_hz / LIGHT_M_PER_S;
        let mut odd = [0; WAVES];
        odd.fill_with(|| (draws.unit() * 9e18) as u64 | 1);
        // One direction in each sixteenth of the circle, so that no side is left out.
        let mut directions = || {
            let mut directions = Directions { x: [0.0; WAVES], y: [0.0; WAVES] };
            for at in 0..WAVES {
                let angle = 2.0 * PI * (at as f64 + draws.unit()) / WAVES as f64;
                directions.x[at] = libm::cos(angle) * per_wavelength;
                directions.y[at] = libm::sin(angle) * per_wavelength;
            }
            directions
        };
        let (lower, mut higher) = (directions(), directions());
        // Which direction at one end belongs to which at the other is by chance.
        for at in (1..WAVES).rev() {
            let other = (draws.unit() * (at + 1) as f64) as usize;
            higher.x.swap(at, other);
            higher.y.swap(at, other);
        }
        let direct = (k / (k + 1.0)).sqrt();
        let scattered = (1.0 / ((k + 1.0) * WAVES as f64)).sqrt();
        Waves { per_wavelength, lower, higher, odd, direct, scattered }
    }

    fn gain(&self, pair: u64, lower: Point, higher: Point, distance_m: f64) -> f64 {
        // Four waves beside each other, of which the compiler computes several at a time.
        let (lower, higher) = (self.lower.turns(lower), self.higher.turns(higher));
        let (mut real, mut imaginary) = ([0.0; ABREAST], [0.0; ABREAST]);
        let ways = lower.chunks_exact(ABREAST).zip(higher.chunks_exact(ABREAST));
        for ((lower, higher), odd) in ways.zip(self.odd.chunks_exact(ABREAST)) {
            for at in 0..ABREAST {
                let turns = lower[at] + higher[at] + unit(pair.wrapping_mul(odd[at]));
                real[at] += cos_turns(turns);
                imaginary[at] += cos_turns(turns - 0.25);
            }
        }
        let sum = |of: [f64; ABREAST]| (of[0] + of[1]) + (of[2] + of[3]);
        let (real, imaginary) = (sum(real), sum(imaginary));
        let (mut real, mut imaginary) = (real * self.scattered, imaginary * self.scattered);
        if self.direct > 0.0 {
            let turns = distance_m * self.per_wavelength;
            real += self.direct * cos_turns(turns);
            imaginary += self.direct * cos_turns(turns - 0.25);
        }
        real * real + imaginary * imaginary
    }
}

/// The cosine of so many turns, right to 3·10⁻⁷: 1 − 2·sin²(π·r), where *r* is what the turns exceed whole
/// ones by.
#[inline]
fn cos_turns(turns: f64) -> f64 {
    /// Numbers from here to its double are whole.
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    let x = PI * (turns - ((turns + WHOLE) - WHOLE));
    let x2 = x * x;
    let series = 1.0 / 39_916_800.0;
    let series = 1.0 / 362_880.0 - x2 * series;
    let series = 1.0 / 5040.0 - x2 * series;
    let series = 1.0 / 120.0 - x2 * series;
    let series = 1.0 / 6.0 - x2 * series;
    let sine = x * (1.0 - x2 * series);
    1.0 - 2.0 * sine * sine
}

/// Gamma-distributed with shape `m` and mean 1 (Marsaglia and Tsang 2000).
pub(super) fn gamma(m: f64, draws: &mut Sequence) -> f64 {
    // Below 1: that of a shape higher by 1, times a power of a uniform number.
    let (shape, factor) = if m < 1.0 { (m + 1.0, libm::pow(draws.unit(), 1.0 / m)) } else { (m, 1.0) };
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = draws.normal();
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        if libm::log(draws.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v * factor / m;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fading(kind: FadingKind, change: impl FnOnce(&mut RadioParams)) -> Fading {
        let mut params = RadioParams { fading: kind, fading_limit_db: 60.0, ..RadioParams::default() };
        change(&mut params);
        Fading::new(&params, &Streams::new(1, 0)).expect("there is fading")
    }

    /// Gains of so many frames or pairs.
    fn gains(fading: &Fading, count: u32) -> Vec<f64> {
        let mut draws = Sequence::from(5);
        let mut place = || Point { x: 1000.0 * draws.unit(), y: 1000.0 * draws.unit() };
        let ends = (0..count).map(|at| [(at % 100, place()), (100 + at / 100, place())]);
        ends.enumerate().map(|(at, ends)| fading.gain(Time(at as u64 * 1_000_003), ends)).collect()
    }

    fn share(gains: &[f64], is_so: impl Fn(f64) -> bool) -> f64 {
        gains.iter().filter(|&&gain| is_so(gain)).count() as f64 / gains.len() as f64
    }

    /// P(g·S ≥ θ) at a mean of 0, 3, 6 and 10 dB over θ.
    #[test]
    fn links_hold_as_often_as_nakagami_says() {
        for (m, wanted) in [
            (0.75, [0.348, 0.553, 0.713, 0.849]),
            (1.0, [0.368, 0.606, 0.778, 0.905]),
            (1.5, [0.392, 0.681, 0.861, 0.960]),
            (3.0, [0.423, 0.808, 0.959, 0.996]),
        ] {
            let gains = gains(&fading(FadingKind::Nakagami, |params| params.nakagami_m = m), 60_000);
            for (over_db, wanted) in [0.0, 3.0, 6.0, 10.0].into_iter().zip(wanted) {
                let found = share(&gains, |gain| gain * libm::pow(10.0, over_db / 10.0) >= 1.0);
                assert!((found - wanted).abs() < 0.008, "m {m}, {over_db} dB: {found}");
            }
        }
    }

    #[test]
    fn rayleigh_has_mean_1_and_exponential_tails() {
        let gains = gains(&fading(FadingKind::Rayleigh, |_| {}), 40_000);
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((share(&gains, |gain| gain < 0.1) - 0.095).abs() < 0.006);
        assert!((share(&gains, |gain| gain > 3.0) - 0.049).abs() < 0.005);
    }

    #[test]
    fn rice_wavers_less_the_stronger_the_direct_way_is() {
        for k_db in [0.0, 6.0, 12.0] {
            let gains = gains(&fading(FadingKind::Rice, |params| params.rice_k_db = k_db), 40_000);
            let n = gains.len() as f64;
            let mean = gains.iter().sum::<f64>() / n;
            let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / n;
            let k = libm::pow(10.0, k_db / 10.0);
            assert!((mean - 1.0).abs() < 0.02, "{mean}");
            // That of a Rice-distributed power: (2K + 1)/(K + 1)².
            let wanted = (2.0 * k + 1.0) / ((k + 1.0) * (k + 1.0));
            assert!((variance / wanted - 1.0).abs() < 0.1, "{k_db} dB: {variance}, {wanted}");
        }
    }

    /// Correlation of the powers, which is that of the amplitudes squared, as one end or both move by so many
    /// wavelengths.
    #[test]
    fn it_is_forgotten_over_a_third_of_a_wavelength() {
        let fading = fading(FadingKind::Rayleigh, |_| {});
        let wavelength_m = LIGHT_M_PER_S / 914e6;
        let correlation = |wavelengths: f64, both: bool| {
            let mut draws = Sequence::from(9);
            let (mut n, mut sum, mut product) = (0.0, 0.0, 0.0);
            for at in 0..40_000u32 {
                let mut place = || Point { x: 1000.0 * draws.unit(), y: 1000.0 * draws.unit() };
                let (a, b) = (place(), place());
                let mut step = |from: Point| {
                    let angle = 2.0 * PI * draws.unit();
                    let metres = wavelengths * wavelength_m;
                    Point { x: from.x + metres * libm::cos(angle), y: from.y + metres * libm::sin(angle) }
                };
                let (moved, other) = (step(a), if both { step(b) } else { b });
                let ids = (at % 100, 100 + at / 100);
                let before = fading.gain(Time::ZERO, [(ids.0, a), (ids.1, b)]);
                let after = fading.gain(Time::ZERO, [(ids.0, moved), (ids.1, other)]);
                n += 1.0;
                sum += before;
                product += before * after;
            }
            let mean: f64 = sum / n;
            product / n - mean * mean
        };
        for (wavelengths, j0) in [(0.1, 0.904), (0.2, 0.643), (0.38, 0.006)] {
            // Of sixteen waves, whose powers vary by a sixteenth less than those of many.
            let found = correlation(wavelengths, false);
            assert!((found - (j0 * j0 - 1.0 / 32.0)).abs() < 0.06, "{wavelengths}: {found}");
            let found = correlation(wavelengths, true);
            let both = libm::pow(j0, 4.0) * 15.0 / 16.0;
            assert!((found - both).abs() < 0.06, "{wavelengths}, both: {found}");
        }
    }

    #[test]
    fn it_is_the_same_in_both_directions_bit_by_bit() {
        let fading = fading(FadingKind::Rice, |_| {});
        let (a, b) = (Point { x: 3.0, y: 4.0 }, Point { x: 100.0, y: -20.0 });
        let gain = |ends| fading.gain(Time(7), ends);
        assert!(gain([(1, a), (2, b)]).to_bits() == gain([(2, b), (1, a)]).to_bits());
    }

    #[test]
    fn the_cosine_is_right() {
        for at in -5000..5000 {
            let turns = f64::from(at) * 0.000_731;
            assert!((cos_turns(turns) - libm::cos(2.0 * PI * turns)).abs() < 3e-7, "{turns}");
        }
    }

    #[test]
    fn half_of_the_gains_are_above_the_median() {
        let of = |kind, change: fn(&mut RadioParams)| {
            let mut params = RadioParams { fading: kind, ..RadioParams::default() };
            change(&mut params);
            let median = median_gain(&params);
            share(&gains(&fading(kind, change), 20_000), |gain| gain > median)
        };
        for half in [
            of(FadingKind::Rayleigh, |_| {}),
            of(FadingKind::Nakagami, |params| params.nakagami_m = 0.75),
            of(FadingKind::Nakagami, |params| params.nakagami_m = 3.0),
            of(FadingKind::Rice, |params| params.rice_k_db = 6.0),
        ] {
            assert!((half - 0.5).abs() < 0.02, "{half}");
        }
    }
}
