//! Distributions, drawn by inversion or transformation so that a draw costs a fixed number of uniforms.

use crate::kernel::Stream;

/// Pareto with this mean and shape, the shape above one.
pub(super) fn pareto(stream: &mut Stream, mean: f64, shape: f64) -> f64 {
    let least = mean * (shape - 1.0) / shape;
    least * libm::pow(stream.positive_unit(), -1.0 / shape)
}

/// Log-normal, given the mean and the standard deviation of the variable itself, not of its logarithm.
pub(super) fn log_normal(stream: &mut Stream, mean: f64, deviation: f64) -> f64 {
    let variance = libm::log1p((deviation / mean) * (deviation / mean));
    let location = libm::log(mean) - variance / 2.0;
    libm::exp(location + variance.sqrt() * stream.normal())
}

/// Log-normal, given the median and the standard deviation of the logarithm.
pub(super) fn log_normal_by_median(stream: &mut Stream, median: f64, sigma: f64) -> f64 {
    median * libm::exp(sigma * stream.normal())
}

/// Pareto with this shape, cut off below and above.
pub(super) fn bounded_pareto(stream: &mut Stream, (least, most): (f64, f64), shape: f64) -> f64 {
    let above = libm::pow(least / most, shape);
    least * libm::pow(1.0 - stream.unit() * (1.0 - above), -1.0 / shape)
}

/// Geometric from one on, with this mean, which is at least one.
pub(super) fn geometric(stream: &mut Stream, mean: f64) -> u32 {
    if mean <= 1.0 {
        return 1;
    }
    1 + (libm::log(stream.positive_unit()) / libm::log1p(-1.0 / mean)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};

    const DRAWS: usize = 40_000;

    /// The distance of Kolmogorov and Smirnov between a sample and a distribution function.
    fn distance(mut draw: impl FnMut(&mut Stream) -> f64, cumulative: impl Fn(f64) -> f64) -> f64 {
        let mut stream = Streams::new(7, 0).stream(0, Purpose::Traffic);
        let mut sample: Vec<f64> = (0..DRAWS).map(|_| draw(&mut stream)).collect();
        sample.sort_unstable_by(f64::total_cmp);
        let n = DRAWS as f64;
        let gap = |(i, &x): (usize, &f64)| {
            (cumulative(x) - i as f64 / n).abs().max(((i + 1) as f64 / n - cumulative(x)).abs())
        };
        sample.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    /// The test's bound at a level of 1 %.
    fn bound() -> f64 {
        1.628 / (DRAWS as f64).sqrt()
    }

    #[test]
    fn draws_follow_their_distribution_functions() {
        let found = distance(|stream| stream.exponential(3.0), |x| 1.0 - libm::exp(-x / 3.0));
        assert!(found < bound(), "exponential: {found}");
        // A mean of 3 with shape 1.5 begins at 1.
        let found = distance(|stream| pareto(stream, 3.0, 1.5), |x| 1.0 - libm::pow(x, -1.5));
        assert!(found < bound(), "Pareto: {found}");
        // ln(1 + 0.5²) and what follows from it, for a mean of 2 and a deviation of 1.
        let (sigma, mu) = (libm::log1p(0.25).sqrt(), libm::log(2.0) - libm::log1p(0.25) / 2.0);
        let cumulative = |x: f64| 0.5 * libm::erfc(-(libm::log(x) - mu) / (sigma * 2f64.sqrt()));
        let found = distance(|stream| log_normal(stream, 2.0, 1.0), cumulative);
        assert!(found < bound(), "log-normal: {found}");
        let cumulative = |x: f64| 0.5 * libm::erfc(-libm::log(x / 4.0) / (0.7 * 2f64.sqrt()));
        let found = distance(|stream| log_normal_by_median(stream, 4.0, 0.7), cumulative);
        assert!(found < bound(), "log-normal by its median: {found}");
        let whole = 1.0 - libm::pow(200.0, -1.2);
        let found = distance(
            |stream| bounded_pareto(stream, (1.0, 200.0), 1.2),
            |x| (1.0 - libm::pow(x, -1.2)) / whole,
        );
        assert!(found < bound(), "bounded Pareto: {found}");
    }

    #[test]
    fn a_geometric_draw_fails_equally_often_each_time() {
        let mut stream = Streams::new(7, 0).stream(0, Purpose::Traffic);
        let drawn: Vec<u32> = (0..DRAWS).map(|_| geometric(&mut stream, 3.0)).collect();
        for n in 1..6 {
            let at_least = drawn.iter().filter(|&&count| count >= n).count() as f64;
            let beyond = drawn.iter().filter(|&&count| count > n).count() as f64;
            let error = (2.0 / 9.0 / at_least).sqrt();
            assert!((beyond / at_least - 2.0 / 3.0).abs() < 3.0 * error, "{n}: {}", beyond / at_least);
        }
        assert_eq!(geometric(&mut stream, 1.0), 1);
    }
}
