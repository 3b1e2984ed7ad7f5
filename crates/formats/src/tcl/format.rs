//! `format`: `%d`, `%f`, `%g`, `%s` and the like.

use super::{Eval, Value, error, shortened};

/// Widest field and finest fraction.
const WIDEST: usize = 500;

/// A field as it is asked for.
#[derive(Default)]
struct Field {
    left: bool,
    zeros: bool,
    plus: bool,
    blank: bool,
    width: usize,
    precision: Option<usize>,
}

/// The arguments in the form that the first says.
pub(super) fn formatted(form: &str, arguments: &[Value]) -> Eval<String> {
    let mut made = String::new();
    let mut arguments = arguments.iter();
    let mut chars = form.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            made.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            made.push('%');
            continue;
        }
        let mut field = Field::default();
        while let Some(flag) = chars.next_if(|c| "-0+ #".contains(*c)) {
            match flag {
                '-' => field.left = true,
                '0' => field.zeros = true,
                '+' => field.plus = true,
                ' ' => field.blank = true,
                _ => {}
            }
        }
        let mut number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| -> Eval<usize> {
            if chars.next_if_eq(&'*').is_some() {
                let width = arguments.next().and_then(|argument| argument.trim().parse().ok());
                return width.map_or_else(|| error("format needs a width"), Ok);
            }
            let mut number = 0usize;
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                number = number.saturating_mul(10).saturating_add(digit as usize - '0' as usize);
            }
            Ok(number)
        };
        field.width = number(&mut chars)?;
        if chars.next_if_eq(&'.').is_some() {
            field.precision = Some(number(&mut chars)?);
        }
        if field.width > WIDEST || field.precision.is_some_and(|precision| precision > WIDEST) {
            return error("a field of format is wider than 500 characters");
        }
        while chars.next_if(|c| "lhL".contains(*c)).is_some() {}
        let Some(kind) = chars.next() else { return error("format ends with a `%`") };
        let Some(argument) = arguments.next() else { return error("format needs more arguments") };
        made.push_str(&padded(converted(kind, &field, argument)?, &field));
    }
    Ok(made)
}

fn padded(text: String, field: &Field) -> String {
    let missing = field.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    if field.left {
        return text + &" ".repeat(missing);
    }
    if field.zeros {
        let at = usize::from(text.starts_with(['-', '+', ' ']));
        return format!("{}{}{}", &text[..at], "0".repeat(missing), &text[at..]);
    }
    " ".repeat(missing) + &text
}

fn converted(kind: char, field: &Field, argument: &Value) -> Eval<String> {
    let text = argument.trim();
    let whole =
        || text.parse::<i64>().or_else(|_| error(format!("`{}` is not a whole number", shortened(text))));
    let real = || match crate::number::decimal(text) {
        Some(value) => Ok(value),
        None => error(format!("`{}` is not a number", shortened(text))),
    };
    let precision = field.precision.unwrap_or(6);
    let made = match kind {
        'd' | 'i' | 'u' => whole()?.to_string(),
        'x' => format!("{:x}", whole()?),
        'X' => format!("{:X}", whole()?),
        'o' => format!("{:o}", whole()?),
        'c' => return Ok(u32::try_from(whole()?).ok().and_then(char::from_u32).unwrap_or('?').to_string()),
        's' => {
            return Ok(match field.precision {
                Some(most) => argument.chars().take(most).collect(),
                None => argument.to_string(),
            });
        }
        'f' | 'F' => format!("{:.precision$}", real()?),
        'e' | 'E' => scientific(real()?, precision),
        'g' | 'G' => general(real()?, precision.max(1)),
        _ => return error(format!("format knows no `%{kind}`")),
    };
    let sign = if made.starts_with('-') {
        ""
    } else if field.plus {
        "+"
    } else if field.blank {
        " "
    } else {
        ""
    };
    Ok(format!("{sign}{made}"))
}

/// `1.5e+03`, as C writes it.
fn scientific(value: f64, precision: usize) -> String {
    let made = format!("{value:.precision$e}");
    let Some((mantissa, exponent)) = made.split_once('e') else { return made };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The shorter of the two forms with so many digits, as C's `%g`.
fn general(value: f64, digits: usize) -> String {
    let made = scientific(value, digits - 1);
    let exponent: i32 = made.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let Some((mantissa, tail)) = made.split_once('e') else { return made };
        return format!("{}e{tail}", without_zeros(mantissa));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
