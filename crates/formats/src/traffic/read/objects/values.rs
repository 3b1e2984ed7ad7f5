//! Values of parameters in ns-2's notation.

use super::AppKind;
use crate::error::{Fault, Parsed, quoted};
use crate::limits::Limits;
use crate::number;

/// Largest payload, in bytes: the length field of IP has 16 bits (RFC 791 §3.1).
const MAX_BYTES: u64 = 65_535;

/// How fast a CBR source sends. An interval stands for the rate that it means at the packet size of its line.
#[derive(Clone, Copy)]
pub(in crate::traffic::read) enum Pace {
    Interval { seconds: f64, bytes: u32 },
    Rate { bps: f64 },
}

impl Pace {
    /// The time between packets of `bytes` bytes, in seconds.
    pub(super) fn interval_s(self, bytes: u32) -> Parsed<f64> {
        let seconds = match self {
            Pace::Interval { seconds, bytes: then } if then == bytes => seconds,
            Pace::Interval { seconds, bytes: then } => seconds * (f64::from(bytes) / f64::from(then)),
            Pace::Rate { bps } => f64::from(bytes) * 8.0 / bps,
        };
        if (1e-9..=1e9).contains(&seconds) {
            return Ok(seconds);
        }
        let found = format!("{seconds:?} s between packets of {bytes} bytes");
        Err(Fault::new(
            "rate",
            found,
            "an interval from 1e-9 to 1e9 s",
            "check rate_, interval_ and packetSize_",
        ))
    }
}

/// Sets a parameter of an application; `None` if it has none of that name.
pub(super) fn set_app(
    app: &mut AppKind,
    parameter: &str,
    value: &str,
    limits: &Limits,
) -> Parsed<Option<()>> {
    let AppKind::Cbr { bytes, pace, random, max_packets } = app else { return Ok(None) };
    match parameter {
        "packetSize_" => *bytes = self::bytes(value)?,
        "interval_" => *pace = Pace::Interval { seconds: interval(value, limits)?, bytes: *bytes },
        "rate_" => *pace = Pace::Rate { bps: rate(value)? },
        "random_" => *random = switch(value)?,
        "maxpkts_" => *max_packets = Some(number::integer(value, "maxpkts_", 1, u64::MAX)?),
        _ => return Ok(None),
    }
    Ok(Some(()))
}

pub(super) fn bytes(value: &str) -> Parsed<u32> {
    number::integer(value, "packetSize_", 1, MAX_BYTES).map(|bytes| bytes as u32)
}

pub(super) fn window(value: &str) -> Parsed<u32> {
    number::integer(value, "window_", 1, manetlab_core::scenario::MAX_WINDOW.into())
        .map(|segments| segments as u32)
}

pub(super) fn label(value: &str) -> Parsed<()> {
    number::integer(value, "label", 0, u64::from(u32::MAX)).map(|_| ())
}

fn switch(value: &str) -> Parsed<bool> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(Fault::new("random_", quoted(value), "0 or 1", "0 sends evenly, 1 varies each interval")),
    }
}

/// A time as Tcl's delays are written: seconds, or with `s`, `ms`, `us`, `ns`.
fn interval(value: &str, limits: &Limits) -> Parsed<f64> {
    // Divided, because 1e-3 and its like have no exact form and 250ms is to be 0.25.
    let (digits, per_second) = [("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("s", 1.0)]
        .into_iter()
        .find_map(|(suffix, per_second)| value.strip_suffix(suffix).map(|digits| (digits, per_second)))
        .unwrap_or((value, 1.0));
    match number::decimal(digits).map(|count| count / per_second) {
        Some(seconds) if (1e-9..=limits.max_time_s as f64).contains(&seconds) => Ok(seconds),
        _ => Err(Fault::new(
            "interval_",
            quoted(value),
            format!("a number of seconds from 1e-9 to {}", limits.max_time_s),
            "write it as 0.25 or 250ms",
        )),
    }
}

/// A rate as Tcl's bandwidths are written: bit/s, with `k` or `M` before it, in bytes with a capital `B`.
fn rate(value: &str) -> Parsed<f64> {
    let (rest, factor) = match value.as_bytes().last() {
        Some(b'B') => (&value[..value.len() - 1], 8.0),
        Some(b'b') => (&value[..value.len() - 1], 1.0),
        _ => (value, 1.0),
    };
    let (digits, prefix) = match rest.as_bytes().last() {
        Some(b'k' | b'K') => (&rest[..rest.len() - 1], 1e3),
        Some(b'm' | b'M') => (&rest[..rest.len() - 1], 1e6),
        _ => (rest, 1.0),
    };
    match number::decimal(digits).map(|count| count * prefix * factor) {
        Some(bps) if bps > 0.0 && bps <= 1e15 => Ok(bps),
        _ => Err(Fault::new(
            "rate_",
            quoted(value),
            "a positive rate in bit/s",
            "write it as 64000, 64kb or 2Mb",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_intervals_carry_ns2_units() {
        let limits = Limits::default();
        for (text, bps) in
            [("81920", 81920.0), ("448Kb", 448e3), ("64k", 64e3), ("1.5Mb", 1.5e6), ("10kB", 80e3)]
        {
            assert_eq!(rate(text).ok(), Some(bps), "{text}");
        }
        for (text, seconds) in [("0.25", 0.25), ("250ms", 0.25), ("5us", 5e-6), ("2s", 2.0)] {
            assert_eq!(interval(text, &limits).ok(), Some(seconds), "{text}");
        }
        for text in ["", "b", "kb", "0", "-5kb", "nan", "infMb", "64é"] {
            assert!(rate(text).is_err(), "{text}");
        }
        for text in ["", "s", "0", "-1", "1e10", "nan", "nanms"] {
            assert!(interval(text, &limits).is_err(), "{text}");
        }
    }

    #[test]
    fn an_interval_set_before_the_size_keeps_its_rate() {
        let pace = Pace::Interval { seconds: 0.1, bytes: 210 };
        assert_eq!(pace.interval_s(420).ok(), Some(0.2));
        assert_eq!(pace.interval_s(210).ok(), Some(0.1));
    }
}
