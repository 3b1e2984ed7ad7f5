//! Simulated time: whole nanoseconds since the start of the run.
//!
//! Integers, so that equal means equal on every machine and no clock drifts with the length of a run.
//! `u64` nanoseconds last 584 years.

use std::ops::{Add, AddAssign, Mul, Sub};

/// Latest time of a scenario, in s: nanoseconds stay exact in every intermediate float.
pub const MAX_TIME_S: f64 = 1e6;

/// An instant of simulated time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

/// A length of simulated time, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every instant: "no wake-up wanted".
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `seconds` after the start, to the nearest nanosecond. Negative values and NaN give
    /// the start, values past the end of `u64` give [`Time::NEVER`]; callers check ranges before.
    pub fn from_secs(seconds: f64) -> Time {
        Time(Span::from_secs(seconds).0)
    }

    /// Seconds since the start.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Span = Span(0);

    /// `seconds`, to the nearest nanosecond, clamped to what the type holds.
    pub fn from_secs(seconds: f64) -> Span {
        // `as` saturates: negative and NaN give 0, too large gives u64::MAX.
        Span((seconds * 1e9 + 0.5) as u64)
    }

    /// `micros` microseconds, to the nearest nanosecond.
    pub fn from_micros(micros: f64) -> Span {
        Span((micros * 1e3 + 0.5) as u64)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// The length in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The time that `bits` take at `rate_bps`, rounded to the nearest nanosecond.
    pub fn of_bits(bits: u64, rate_bps: f64) -> Span {
        Span((bits as f64 * 1e9 / rate_bps + 0.5) as u64)
    }

    /// `self` multiplied by `factor`, to the nearest nanosecond.
    pub fn scaled(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor + 0.5) as u64)
    }

    /// `self - other`, zero if `other` is longer.
    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at [`Time::NEVER`].
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Span::from_secs(1.000_000_000_4), Span(1_000_000_000));
        assert_eq!(Span::from_secs(1.000_000_000_6), Span(1_000_000_001));
        assert_eq!(Span::from_secs(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs(f64::NAN), Span::ZERO);
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Time::NEVER + Span(1), Time::NEVER);
    }

    #[test]
    fn bits_at_a_rate_take_their_time() {
        assert_eq!(Span::of_bits(304, 1e6), Span(304_000));
        assert_eq!(Span::of_bits(8, 11e6), Span(727));
    }
}
