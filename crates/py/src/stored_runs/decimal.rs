//! Numbers as Python writes them.

use std::io::Write;

/// Appends a number in its shortest exact decimal form, as Python's `repr` has it.
pub(super) fn write_float(number: f64, out: &mut Vec<u8>) {
    if number.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if number.is_infinite() {
        return out.extend_from_slice(if number > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
    let mut buffer = [0; 32];
    let mut rest = &mut buffer[..];
    let _ = write!(rest, "{number:e}");
    let length = 32 - rest.len();
    let form = &buffer[..length];
    let split = form.iter().position(|byte| *byte == b'e').unwrap_or(length);
    let exponent =
        form[split + 1..].iter().filter(|byte| **byte != b'-').fold(0, |n, b| 10 * n + i32::from(b - b'0'));
    let exponent = if form.get(split + 1) == Some(&b'-') { -exponent } else { exponent };
    let is_negative = form[0] == b'-';
    let first = usize::from(is_negative);
    if is_negative {
        out.push(b'-');
    }
    let digits = || form[first..split].iter().copied().filter(|byte| *byte != b'.');
    let count = digits().count() as i32;
    match exponent {
        -4..0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
            out.extend(digits());
        }
        0..16 => {
            let whole = (exponent + 1) as usize;
            out.extend(digits().chain(std::iter::repeat(b'0')).take(whole));
            out.push(b'.');
            if count > exponent + 1 {
                out.extend(digits().skip(whole));
            } else {
                out.push(b'0');
            }
        }
        _ => {
            out.extend_from_slice(&form[first..split]);
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(out, "e{sign}{:02}", exponent.abs());
        }
    }
}

/// Appends an integer.
pub(super) fn write_int(number: i128, out: &mut Vec<u8>) {
    let _ = write!(out, "{number}");
}
