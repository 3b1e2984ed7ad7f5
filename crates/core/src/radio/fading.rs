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
//! of waves are the same for all pairs; their phases are not. Waves are added in single precision, which
//! changes a gain by less than 2·10⁻⁴.

use std::f64::consts::PI;

use super::keyed::{Key, Sequence};
use super::{FadingKind, RadioParams};
use crate::kernel::{Purpose, Streams, Time};
use crate::mobility::Point;

/// The number of plane waves.
const WAVES: usize = 16;
const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// Of each wave how far it has turned, in parts of a turn of which there are 2³²: sums lose whole turns.
type Turns = [u32; WAVES];

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
    directions: [Directions; 2],
    /// What each wave makes of a pair's number.
    odd: [u32; WAVES],
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
    /// How far each wave turns on the way to a place.
    #[inline(always)]
    fn turns(&self, place: Point) -> Turns {
        let mut turns = [0; WAVES];
        for (turns, (x, y)) in turns.iter_mut().zip(self.x.iter().zip(&self.y)) {
            *turns = in_parts(x * place.x, y * place.y);
        }
        turns
    }
}

/// The end that sends, as the fields see it: worth keeping while it is asked with many others.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    node: u32,
    place: Point,
    /// As that of the lower number, and as the other one.
    turns: [Turns; 2],
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

    /// The end that sends.
    pub(super) fn end(&self, node: u32, place: Point) -> End {
        let turns = match &self.of {
            Of::Nakagami { .. } => [[0; WAVES]; 2],
            Of::Waves(waves) => [0, 1].map(|side: usize| waves.directions[side].turns(place)),
        };
        End { node, place, turns }
    }

    /// The power gain (linear) of a frame of `from` that begins now, at `to`, for [`Fading::limited`].
    #[inline]
    pub(super) fn gain(&self, now: Time, from: &End, to: (u32, Point)) -> f64 {
        match &self.of {
            Of::Nakagami { m } => {
                let number = self.key.of(now.0, from.node.into(), to.0.into());
                gamma(*m, &mut Sequence::from(number))
            }
            Of::Waves(waves) => waves.gain(self.key, from, to),
        }
    }

    /// [`Fading::gain`] at each of these ends; 0 where there is none.
    pub(super) fn gains(
        &self,
        now: Time,
        from: &End,
        ends: impl Iterator<Item = Option<(u32, Point)>>,
        gains: &mut Vec<f64>,
    ) {
        gains.clear();
        match &self.of {
            Of::Nakagami { .. } => gains.extend(ends.map(|to| to.map_or(0.0, |to| self.gain(now, from, to)))),
            Of::Waves(waves) => waves.gains(self.key, from, ends, gains),
        }
    }

    /// What is left of a gain. A comparison that a processor makes for two at a time.
    #[inline(always)]
    pub(super) fn limited(&self, gain: f64) -> f64 {
        if gain < self.limit { gain } else { self.limit }
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
        odd.fill_with(|| (draws.unit() * 9e18) as u64 as u32 | 1);
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
        Waves { per_wavelength, directions: [lower, higher], odd, direct, scattered }
    }

    #[inline(never)]
    fn gains(
        &self,
        key: Key,
        from: &End,
        ends: impl Iterator<Item = Option<(u32, Point)>>,
        gains: &mut Vec<f64>,
    ) {
        gains.extend(ends.map(|to| to.map_or(0.0, |to| self.gain(key, from, to))));
    }

    #[inline(always)]
    fn gain(&self, key: Key, from: &End, (to, place): (u32, Point)) -> f64 {
        let (lower, higher) = (from.node.min(to), from.node.max(to));
        let pair = key.of_two(lower.into(), higher.into()).number() as u32;
        let side = usize::from(from.node > to);
        let (here, there) = (&from.turns[side], self.directions[1 - side].turns(place));
        // One loop after the other, each of which a processor goes through four waves at a time.
        let mut phases = self.odd.map(|odd| pair.wrapping_mul(odd));
        for (phase, (here, there)) in phases.iter_mut().zip(here.iter().zip(&there)) {
            *phase = phase.wrapping_add(here.wrapping_add(*there));
        }
        let (mut squares, mut products) = ([0.0; WAVES], [0.0; WAVES]);
        for (phase, (square, product)) in phases.iter().zip(squares.iter_mut().zip(&mut products)) {
            let (cosine, sine) = half_angle(*phase);
            (*square, *product) = (sine * sine, sine * cosine);
        }
        let real = WAVES as f64 - 2.0 * f64::from(sum(squares));
        let imaginary = 2.0 * f64::from(sum(products));
        let (mut real, mut imaginary) = (self.scattered * real, self.scattered * imaginary);
        if self.direct > 0.0 {
            let turns = from.place.distance(place) * self.per_wavelength;
            let (cosine, sine) = half_angle(in_parts(turns, 0.0));
            real += self.direct * f64::from(1.0 - 2.0 * sine * sine);
            imaginary += self.direct * f64::from(2.0 * sine * cosine);
        }
        real * real + imaginary * imaginary
    }
}

/// The sum over all waves, that of each half first.
#[inline]
fn sum(mut of: [f32; WAVES]) -> f32 {
    let mut many = WAVES;
    while many > 1 {
        many /= 2;
        let (these, those) = of.split_at_mut(many);
        for (this, that) in these.iter_mut().zip(those) {
            *this += *that;
        }
    }
    of[0]
}

/// The sum of two numbers of turns in parts of a turn, without whole turns, right to 2⁻²⁴ of one; for fewer
/// than 2²⁶ either way.
#[inline]
fn in_parts(a: f64, b: f64) -> u32 {
    /// Bits of numbers from here to its double are worth 2⁻²⁴ and more.
    const SHIFTED: f64 = 1.5 * (1u64 << 28) as f64;
    ((a + (b + SHIFTED)).to_bits() as u32) << 8
}

/// The cosine and the sine of half the angle of so many parts of a turn, right to 10⁻⁵: by the polynomials
/// of their degrees whose greatest errors are the least. It is taken from −π/2 to π/2.
#[inline]
fn half_angle(turns: u32) -> (f32, f32) {
    const TURNS: f32 = 1.0 / (1u64 << 32) as f32;
    let t = turns.cast_signed() as f32 * TURNS;
    let t2 = t * t;
    let sine = t * (3.141_582 + t2 * (-5.167_143 + t2 * (2.541_899_4 + t2 * -0.554_637_1)));
    let cosine = 0.999_993_3 + t2 * (-4.933_938 + t2 * (4.041_283_4 + t2 * -1.222_127_1));
    (cosine, sine)
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

    fn between(fading: &Fading, now: Time, [(from, here), to]: [(u32, Point); 2]) -> f64 {
        fading.limited(fading.gain(now, &fading.end(from, here), to))
    }

    /// Gains of so many frames or pairs.
    fn gains(fading: &Fading, count: u32) -> Vec<f64> {
        let mut draws = Sequence::from(5);
        let mut place = || Point { x: 1000.0 * draws.unit(), y: 1000.0 * draws.unit() };
        let ends = (0..count).map(|at| [(at % 100, place()), (100 + at / 100, place())]);
        ends.enumerate().map(|(at, ends)| between(fading, Time(at as u64 * 1_000_003), ends)).collect()
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
                let before = between(&fading, Time::ZERO, [(ids.0, a), (ids.1, b)]);
                let after = between(&fading, Time::ZERO, [(ids.0, moved), (ids.1, other)]);
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
        let gain = |ends| between(&fading, Time(7), ends);
        assert!(gain([(1, a), (2, b)]).to_bits() == gain([(2, b), (1, a)]).to_bits());
    }

    /// Beside a sum in double precision, whose waves turn by as much.
    #[test]
    fn single_precision_suffices() {
        for kind in [FadingKind::Rayleigh, FadingKind::Rice] {
            let fading = fading(kind, |_| {});
            let Of::Waves(waves) = &fading.of else { panic!("made of waves") };
            let mut draws = Sequence::from(8);
            for at in 0..2000 {
                let [here, there] = [(); 2].map(|()| Point {
                    x: 40_000.0 * (draws.unit() - 0.5),
                    y: 40_000.0 * (draws.unit() - 0.5),
                });
                let pair = fading.key.of_two(at, 5000).number() as u32;
                let direct_turns = here.distance(there) * waves.per_wavelength;
                let (mut real, mut imaginary) = (0.0, 0.0);
                let mut add = |amplitude: f64, turns: f64| {
                    real += amplitude * libm::cos(2.0 * PI * turns);
                    imaginary += amplitude * libm::sin(2.0 * PI * turns);
                };
                add(waves.direct, direct_turns);
                for wave in 0..WAVES {
                    let turns = |side: usize, place: Point| {
                        waves.directions[side].x[wave] * place.x + waves.directions[side].y[wave] * place.y
                    };
                    let phase = f64::from(pair.wrapping_mul(waves.odd[wave])) / (1u64 << 32) as f64;
                    add(waves.scattered, turns(0, here) + turns(1, there) + phase);
                }
                let wanted = real * real + imaginary * imaginary;
                let found = between(&fading, Time(7), [(at as u32, here), (5000, there)]);
                assert!((found - wanted).abs() < 2e-4, "{kind:?}, {at}: {found}, {wanted}");
            }
        }
    }

    #[test]
    fn cosines_and_sines_are_right() {
        for at in -5000..5000 {
            let turns = f64::from(at) * 0.000_731;
            let (cosine, sine) = half_angle(in_parts(turns - 70_000.0, 70_000.0));
            // Between −π/2 and π/2.
            let half = PI * (turns - turns.round());
            assert!((f64::from(cosine) - libm::cos(half)).abs() < 1e-5, "{turns}");
            assert!((f64::from(sine) - libm::sin(half)).abs() < 1e-5, "{turns}");
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
