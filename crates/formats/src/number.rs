//! Numbers of the files: exact times, floats, bounded integers.

use manetlab_core::kernel::Time;

use crate::error::{Fault, Parsed, quoted};
use crate::limits::Limits;

/// Why a text is not a time.
#[derive(PartialEq, Debug)]
enum Bad {
    NotANumber,
    Negative,
    TooLarge,
}

/// A decimal number of seconds, to the nearest nanosecond (halves up, as [`Time::from_secs`] rounds), in
/// integers: a `f64` of seconds cannot tell nanoseconds apart from 2^53 ns (104 days) on.
fn nanoseconds(text: &str) -> Result<u64, Bad> {
    let (negative, text) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(Bad::NotANumber);
    }
    // Each digit stands at a power of ten; nanoseconds are at -9. No digit needs a shift of the others, so a
    // huge exponent costs nothing.
    let mut place = whole.len() as i64 + exponent;
    let mut sum: u64 = 0;
    let mut half = false;
    for digit in whole.bytes().chain(fraction.bytes()) {
        place -= 1;
        match digit {
            b'0' => {}
            b'1'..=b'9' if negative => return Err(Bad::Negative),
            // 10^11 s does not fit, and 10^10 s is beyond every limit.
            b'1'..=b'9' if place > 9 => return Err(Bad::TooLarge),
            // At most 9.99…·10^9 s are summed: below 10^19 < 2^64.
            b'1'..=b'9' if place >= -9 => sum += u64::from(digit - b'0') * 10u64.pow((place + 9) as u32),
            b'1'..=b'9' => half |= place == -10 && digit >= b'5',
            _ => return Err(Bad::NotANumber),
        }
    }
    Ok(sum + u64::from(half))
}

/// Seconds as a decimal number, not negative, as nanoseconds; `None` for what is no such number or too large.
pub(crate) fn plain_nanoseconds(text: &str) -> Option<i64> {
    nanoseconds(text).ok().and_then(|ns| i64::try_from(ns).ok())
}

/// The digits behind an `e`, clamped: no mantissa is long enough to bring a clamped exponent back.
fn exponent(text: &str) -> Result<i64, Bad> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Bad::NotANumber);
    }
    let size = digits.bytes().fold(0i64, |sum, b| (sum * 10 + i64::from(b - b'0')).min(1 << 50));
    Ok(if text.starts_with('-') { -size } else { size })
}

/// A time of a file: seconds as a decimal number.
pub(crate) fn time(text: &str, limits: &Limits) -> Parsed<Time> {
    let hint = match nanoseconds(text) {
        Ok(ns) if ns <= limits.max_time_s.saturating_mul(1_000_000_000) => return Ok(Time(ns)),
        Ok(_) | Err(Bad::TooLarge) => "times are seconds since the start of the run",
        Err(Bad::Negative) => "a run starts at 0 s: shift all times of the file",
        Err(Bad::NotANumber) => comma(text).unwrap_or("times are seconds, written as 12.5 or 1.25e1"),
    };
    let wanted = format!("a number of seconds from 0 to {}", limits.max_time_s);
    Err(Fault::new("time", quoted(text), wanted, hint))
}

/// Writes a time so that it is read back exactly: seconds with up to nine decimals.
pub(crate) fn write_time(time: Time) -> String {
    let (seconds, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    let text = format!("{seconds}.{rest:09}");
    let kept = text.trim_end_matches('0').len().max(text.len() - 8);
    text[..kept].to_owned()
}

/// A finite decimal number; `inf`, `nan` and hexadecimal are not.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    if plain { text.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
}

/// A finite number from `low` to `high`, named `what` in `unit` when it is not.
pub(crate) fn bounded(text: &str, what: &str, low: f64, high: f64, unit: &str) -> Parsed<f64> {
    match decimal(text) {
        Some(value) if (low..=high).contains(&value) => Ok(value),
        number => {
            let hint = match number {
                None => comma(text).unwrap_or("numbers are written as 12.5 or 1.25e1").to_owned(),
                Some(_) => format!("the {what} is in {unit}"),
            };
            Err(Fault::new(what, quoted(text), format!("a number from {low} to {high} {unit}"), hint))
        }
    }
}

/// A whole number from `low` to `high`, in decimal digits only.
pub(crate) fn integer(text: &str, what: &str, low: u64, high: u64) -> Parsed<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(value) if digits && (low..=high).contains(&value) => Ok(value),
        _ => Err(Fault::new(
            what,
            quoted(text),
            format!("a whole number from {low} to {high}"),
            format!("write {what} in decimal digits"),
        )),
    }
}

/// The hint for a number with a decimal comma.
fn comma(text: &str) -> Option<&'static str> {
    let point = text.replacen(',', ".", 1);
    (point != text && decimal(&point).is_some()).then_some("write the decimal point as `.`, not as `,`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimal_seconds_become_exact_nanoseconds() {
        for (text, ns) in [
            ("0", 0),
            ("-0.0", 0),
            ("+1.5", 1_500_000_000),
            (".5", 500_000_000),
            ("2.", 2_000_000_000),
            ("127.93667922166023", 127_936_679_222),
            ("0.0000000004999999999", 0),
            ("0.0000000005", 1),
            ("9999999.999999999", 9_999_999_999_999_999),
            ("999999999.999999999", 999_999_999_999_999_999),
            ("0.9999999999", 1_000_000_000),
            ("1.25e1", 12_500_000_000),
            ("125E-1", 12_500_000_000),
            ("1e-999999999999999999999", 0),
            ("0e999999999999999999999", 0),
            ("00000000000000000000012", 12_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", ".", "-", "e5", "1e", "1e+", "1.2.3", "nan", "inf", "0x10", "1s", "1 ", "١"] {
            assert_eq!(nanoseconds(text), Err(Bad::NotANumber), "{text}");
        }
        assert_eq!(nanoseconds("-1e-30"), Err(Bad::Negative));
        assert_eq!(nanoseconds("1e10"), Err(Bad::TooLarge));
        assert_eq!(nanoseconds("1e99999999999999999999"), Err(Bad::TooLarge));
        assert!(time("1000000000.000000001", &Limits::default()).is_err());
        assert!(time("1000000000", &Limits::default()).is_ok());
    }

    #[test]
    fn a_decimal_comma_has_its_own_hint() {
        let fault = time("12,5", &Limits::default()).expect_err("a comma");
        assert!(fault.hint.contains("decimal point"));
    }

    proptest! {
        #[test]
        fn a_written_time_is_read_back(ns in 0u64..=1_000_000_000_000_000_000) {
            prop_assert_eq!(nanoseconds(&write_time(Time(ns))), Ok(ns));
        }

        #[test]
        fn short_decimals_agree_with_from_secs(thousandths in 0u64..10_000_000) {
            let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            let seconds: f64 = text.parse().expect("a decimal");
            prop_assert_eq!(Time(nanoseconds(&text).expect("a time")), Time::from_secs(seconds));
        }

        #[test]
        fn a_written_float_is_read_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(decimal(&format!("{value:?}")).map(f64::to_bits), Some(bits));
        }
    }
}
