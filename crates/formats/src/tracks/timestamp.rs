//! Times of tracks: seconds, or dates and times of ISO 8601.

use crate::error::{Fault, Parsed, quoted};
use crate::number;

/// Nanoseconds, since whatever the file's times count from; of a date, since 1970 in UTC.
pub(super) type Nanos = i64;

/// Whether and how a time was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clock {
    Seconds,
    /// Thousandths, millionths or billionths of a second since 1970.
    SinceEpoch(u32),
    Calendar,
}

/// A time in s, or as `2026-05-04T12:30:05.25Z` (also with a blank for the `T`, with `+02:00`, without
/// `Z`; as `2026/05/04` or `04.05.2026`). Seconds of twelve digits and more, which are later than the year
/// 5000, are milliseconds, microseconds or nanoseconds since 1970.
pub(super) fn time(text: &str) -> Parsed<(Nanos, Clock)> {
    let text = text.trim();
    if let Some((at, digits)) = since_epoch(text) {
        return Ok((at, Clock::SinceEpoch(digits)));
    }
    if let Some(ns) = number::plain_nanoseconds(text) {
        return Ok((ns, Clock::Seconds));
    }
    calendar(text).map(|ns| (ns, Clock::Calendar)).ok_or_else(|| {
        let hint = match text.matches('/').count() {
            2 => "write the year first: 05/04/2026 may be in April or in May",
            _ => "one kind of time in the whole file",
        };
        Fault::new("time", quoted(text), "seconds, as 12.5, or a time as 2026-05-04T12:30:05Z", hint)
    })
}

/// Nanoseconds of a whole number that counts parts of seconds since 1970, and how many decimals these are.
fn since_epoch(text: &str) -> Option<(Nanos, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let decimals = match whole.len() {
        12..=14 => 3,
        15..=17 => 6,
        18..=19 => 9,
        _ => return None,
    };
    if whole.starts_with('0') || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scale = 10_i64.pow(9 - decimals);
    let ns = whole.parse::<i64>().ok()?.checked_mul(scale)?;
    // Parts of such a part, down to nanoseconds.
    let fraction: String = fraction.chars().take((9 - decimals) as usize).collect();
    let more = if fraction.is_empty() { 0 } else { fraction.parse::<i64>().ok()? };
    ns.checked_add(more * scale / 10_i64.pow(fraction.len() as u32)).map(|at| (at, decimals))
}

/// Year, month and day of a date with the year first, or with points and the day first.
fn date(text: &str) -> Option<(&str, &str, &str)> {
    let separator = text.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = text.split(separator).collect();
    match (separator, parts.as_slice()) {
        ('-' | '/' | '.', &[year, month, day]) if year.len() == 4 => Some((year, month, day)),
        ('.', &[day, month, year]) if year.len() == 4 => Some((year, month, day)),
        _ => None,
    }
}

fn calendar(text: &str) -> Option<Nanos> {
    let text = text.strip_suffix(" UTC").or_else(|| text.strip_suffix(" GMT")).unwrap_or(text);
    let (day, clock) = text.split_once(['T', 't', ' '])?;
    let (year, month, day) = date(day)?;
    let days = days_since_1970(digits(year)?, digits(month)?, digits(day)?)?;
    let (clock, offset_s) = zone(clock)?;
    let mut parts = clock.split(':');
    let (hours, minutes) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let (seconds, fraction) = match parts.next() {
        None => (0, ""),
        Some(text) => {
            let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
            (digits(whole)?, fraction)
        }
    };
    if parts.next().is_some() || hours > 24 || minutes > 59 || seconds > 60 {
        return None;
    }
    let ns = if fraction.is_empty() { 0 } else { number::plain_nanoseconds(&format!("0.{fraction}"))? };
    let seconds = days * 86_400 + hours * 3600 + minutes * 60 + seconds - offset_s;
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// The time of day without its zone, and what the zone is ahead of UTC, in s.
fn zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), 0));
    }
    let Some(at) = clock.find(['+', '-']) else { return Some((clock, 0)) };
    let (clock, zone) = clock.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone: String = zone[1..].chars().filter(|&c| c != ':').collect();
    let number = digits(&zone)?;
    let (hours, minutes) = match zone.len() {
        2 => (number, 0),
        4 => (number / 100, number % 100),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some((clock.trim_end(), sign * (hours * 3600 + minutes * 60)))
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Days from 1970-01-01 in the Gregorian calendar; `None` for a day that does not exist.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, 28 + i64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month - 1).ok().filter(|&before| before < 12)?;
    if !(1..=lengths[before]).contains(&day) {
        return None;
    }
    let past = year - 1;
    let leaps = |years: i64| years / 4 - years / 100 + years / 400;
    let to_year = 365 * (year - 1970) + leaps(past) - leaps(1969);
    Some(to_year + lengths[..before].iter().sum::<i64>() + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_times_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00:00Z", 951_825_600.0),
            ("2026-05-04T12:30:05.25Z", 1_777_897_805.25),
            ("2026-05-04 14:30:05,25+02:00", 1_777_897_805.25),
            ("2026-05-04T12:30-0000", 1_777_897_800.0),
            ("2026/05/04 12:30:05", 1_777_897_805.0),
            ("04.05.2026 12:30:05", 1_777_897_805.0),
            ("2026-05-04 12:30:05+00", 1_777_897_805.0),
            ("2026-05-04 12:30:05 UTC", 1_777_897_805.0),
        ] {
            let (ns, clock) = time(text).expect(text);
            assert_eq!((ns, clock), ((seconds * 1e3) as i64 * 1_000_000, Clock::Calendar), "{text}");
        }
    }

    #[test]
    fn parts_of_seconds_since_1970_are_told_by_their_digits() {
        for (text, clock, ns) in [
            ("1777897805", Clock::Seconds, 1_777_897_805_000_000_000),
            ("1777897805250", Clock::SinceEpoch(3), 1_777_897_805_250_000_000),
            ("1777897805250.5", Clock::SinceEpoch(3), 1_777_897_805_250_500_000),
            ("1777897805250001", Clock::SinceEpoch(6), 1_777_897_805_250_001_000),
            ("1777897805250001002", Clock::SinceEpoch(9), 1_777_897_805_250_001_002),
        ] {
            assert_eq!(time(text).expect(text), (ns, clock), "{text}");
        }
        assert!(time("9777897805250001002").is_err());
        assert!(time("05/04/2026 12:30:05").is_err_and(|fault| fault.hint.contains("year first")));
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for text in
            ["2025-02-29T00:00:00Z", "2025-13-01T00:00:00Z", "2025-01-01", "T", "12:00:00", "", "1e30"]
        {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
