//! `expr`: arithmetic, comparison, logic, functions.

use super::parse::Source;
use super::{Eval, Host, Interp, Value, error, shortened};

/// An operand.
#[derive(Clone, Debug)]
enum Operand {
    Int(i64),
    Float(f64),
    Text(Value),
}

use Operand::{Float, Int, Text};

/// Operators of two operands by precedence, the weakest first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "eq", "ne"],
    &["<=", ">=", "<", ">", "in", "ni"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

impl<H: Host> Interp<H> {
    /// The value of an expression.
    pub(crate) fn expr(&mut self, text: &Value) -> Eval<Value> {
        self.charge(text.len())?;
        Ok(Value::new(written(&self.evaluated(text)?)))
    }

    /// Whether an expression is true.
    pub(super) fn is_true(&mut self, text: &Value) -> Eval<bool> {
        self.charge(text.len())?;
        truth(&self.evaluated(text)?)
    }

    fn evaluated(&mut self, text: &Value) -> Eval<Operand> {
        // Most expressions of scripts are a number.
        if let Some(number) = number(text) {
            return Ok(number);
        }
        let mut source = Source::new(text);
        let value = self.ternary(&mut source, true)?;
        blanks(&mut source);
        match source.peek() {
            None => Ok(value),
            Some(_) => error(format!("the expression is not understood at `{}`", shortened(source.rest()))),
        }
    }

    /// `a ? b : c`; nothing is obeyed unless `live`.
    fn ternary(&mut self, source: &mut Source<'_>, live: bool) -> Eval<Operand> {
        self.nested(|tcl| {
            let condition = tcl.chain(source, 0, live)?;
            blanks(source);
            if source.peek() != Some(b'?') {
                return Ok(condition);
            }
            source.at += 1;
            let holds = live && truth(&condition)?;
            let first = tcl.ternary(source, live && holds)?;
            blanks(source);
            if source.peek() != Some(b':') {
                return error("an expression with `?` needs a `:`");
            }
            source.at += 1;
            let second = tcl.ternary(source, live && !holds)?;
            Ok(if holds { first } else { second })
        })
    }

    /// Operands joined by operators of `least` precedence or more.
    fn chain(&mut self, source: &mut Source<'_>, least: usize, live: bool) -> Eval<Operand> {
        let mut left = self.unary(source, live)?;
        loop {
            blanks(source);
            let Some((level, operator)) = operator(source).filter(|&(level, _)| level >= least) else {
                return Ok(left);
            };
            source.at += operator.len();
            self.charge(0)?;
            let decided = live
                && match operator {
                    "&&" => !truth(&left)?,
                    "||" => truth(&left)?,
                    _ => false,
                };
            // `**` binds to the right.
            let next = if operator == "**" { level } else { level + 1 };
            let right = self.nested(|tcl| tcl.chain(source, next, live && !decided))?;
            if !live {
                continue;
            }
            left = match operator {
                "&&" => Int(i64::from(!decided && truth(&right)?)),
                "||" => Int(i64::from(decided || truth(&right)?)),
                _ => binary(operator, &left, &right)?,
            };
        }
    }

    fn unary(&mut self, source: &mut Source<'_>, live: bool) -> Eval<Operand> {
        blanks(source);
        let Some(sign) = source.peek().filter(|b| b"-+!~".contains(b)) else {
            return self.primary(source, live);
        };
        source.at += 1;
        let value = self.nested(|tcl| tcl.unary(source, live))?;
        if !live {
            return Ok(value);
        }
        match (sign, value) {
            (b'!', value) => Ok(Int(i64::from(!truth(&value)?))),
            (b'-', value) => match numeric(&value)? {
                Int(number) => number.checked_neg().map_or_else(too_large, |n| Ok(Int(n))),
                Float(number) => Ok(Float(-number)),
                text => Ok(text),
            },
            (b'~', value) => Ok(Int(!whole(&value)?)),
            (_, value) => numeric(&value),
        }
    }

    fn primary(&mut self, source: &mut Source<'_>, live: bool) -> Eval<Operand> {
        match source.peek() {
            Some(b'(') => {
                source.at += 1;
                let value = self.ternary(source, live)?;
                closing(source)?;
                Ok(value)
            }
            Some(b'$') if live => match self.dollar(source)? {
                Some(value) => Ok(number(&value).unwrap_or(Text(value))),
                None => error("a `$` without a name"),
            },
            Some(b'$') => {
                skip_variable(source)?;
                Ok(Int(0))
            }
            Some(b'[') if live => {
                let value = self.bracket(source)?;
                Ok(number(&value).unwrap_or(Text(value)))
            }
            Some(b'[') => source.skip_brackets().map(|()| Int(0)),
            Some(b'{') => source.braced().map(|text| Text(Value::new(text))),
            Some(b'"') => self.quoted(source, live),
            Some(b) if b.is_ascii_digit() || b == b'.' => literal(source),
            Some(b) if b.is_ascii_alphabetic() => self.function(source, live),
            _ => error(format!("a value is missing in the expression at `{}`", shortened(source.rest()))),
        }
    }

    /// A text in quotes.
    fn quoted(&mut self, source: &mut Source<'_>, live: bool) -> Eval<Operand> {
        source.at += 1;
        let mut text = String::new();
        loop {
            match source.peek() {
                None => return error("a quote \" is not closed"),
                Some(b'"') => {
                    source.at += 1;
                    return Ok(Text(Value::new(text)));
                }
                Some(b'$') if live => match self.dollar(source)? {
                    Some(value) => text.push_str(&value),
                    None => {
                        text.push('$');
                        source.at += 1;
                    }
                },
                Some(b'[') if live => text.push_str(&self.bracket(source)?),
                Some(_) => {
                    let c = source.rest().chars().next().unwrap_or(' ');
                    text.push(c);
                    source.at += c.len_utf8();
                }
            }
        }
    }

    /// `name(a, b)`, or a word that stands for a truth value.
    fn function(&mut self, source: &mut Source<'_>, live: bool) -> Eval<Operand> {
        let name = source.name().to_owned();
        blanks(source);
        if source.peek() != Some(b'(') {
            return match name.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Ok(Int(1)),
                "false" | "no" | "off" => Ok(Int(0)),
                _ => error(format!("`{}` is not a number", shortened(&name))),
            };
        }
        source.at += 1;
        let mut arguments = Vec::new();
        blanks(source);
        while source.peek() != Some(b')') {
            arguments.push(self.ternary(source, live)?);
            blanks(source);
            if source.peek() != Some(b',') {
                break;
            }
            source.at += 1;
        }
        closing(source)?;
        if !live {
            return Ok(Int(0));
        }
        let numbers: Vec<Operand> = arguments.iter().map(numeric).collect::<Eval<_>>()?;
        match (name.as_str(), numbers.as_slice()) {
            ("rand", []) => {
                let place = self.place;
                self.host.note(place, super::commands::DRAWN);
                Ok(Float(self.next_random()))
            }
            ("srand", [seed]) => {
                let seed = whole(seed)? & 0x7fff_ffff;
                self.random = if seed == 0 || seed == 0x7fff_ffff { seed ^ 123_459_876 } else { seed };
                Ok(Float(self.next_random()))
            }
            (name, numbers) => math(name, numbers),
        }
    }

    /// The next number of Tcl's `rand()`: Park and Miller's minimal standard.
    pub(crate) fn next_random(&mut self) -> f64 {
        self.random = self.random * 16807 % 0x7fff_ffff;
        self.random as f64 / f64::from(0x7fff_ffff)
    }
}

fn blanks(source: &mut Source<'_>) {
    while source.peek().is_some_and(|b| b.is_ascii_whitespace() || b == b'\\') {
        source.at += 1;
    }
}

fn closing(source: &mut Source<'_>) -> Eval<()> {
    blanks(source);
    if source.peek() != Some(b')') {
        return error("a parenthesis ( is not closed");
    }
    source.at += 1;
    Ok(())
}

/// The operator that stands here, and its precedence.
fn operator(source: &Source<'_>) -> Option<(usize, &'static str)> {
    source.peek()?;
    let levels = LEVELS.iter().enumerate();
    levels
        .flat_map(|(level, all)| all.iter().map(move |&one| (level, one)))
        .find(|(_, one)| stands(source, one))
}

/// Whether an operator stands here, and no longer one.
fn stands(source: &Source<'_>, operator: &str) -> bool {
    let Some(behind) = source.rest().strip_prefix(operator) else { return false };
    let next = behind.bytes().next();
    match operator {
        "|" | "&" | "<" | ">" | "*" => {
            let doubled = next == operator.bytes().next();
            let longer = matches!(operator, "<" | ">") && next == Some(b'=');
            !(doubled || longer)
        }
        "eq" | "ne" | "in" | "ni" => !next.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_'),
        _ => true,
    }
}

/// Goes over a variable without reading it.
fn skip_variable(source: &mut Source<'_>) -> Eval<()> {
    source.at += 1;
    if source.peek() == Some(b'{') {
        return source.braced().map(|_| ());
    }
    source.name();
    if source.peek() == Some(b'(') {
        let mut open = 0;
        for (at, b) in source.rest().bytes().enumerate() {
            open += i32::from(b == b'(') - i32::from(b == b')');
            if open == 0 {
                source.at += at + 1;
                return Ok(());
            }
        }
        return error("an index is not closed");
    }
    Ok(())
}

/// A number that stands here.
fn literal(source: &mut Source<'_>) -> Eval<Operand> {
    let rest = source.rest().as_bytes();
    let mut length = 0;
    while let Some(&b) = rest.get(length) {
        let sign = (b == b'-' || b == b'+')
            && matches!(rest[length - 1], b'e' | b'E')
            && !rest[..length].starts_with(b"0x");
        if !(b.is_ascii_alphanumeric() || b == b'.' || (length > 0 && sign)) {
            break;
        }
        length += 1;
    }
    let text = &source.rest()[..length];
    source.at += length;
    number(text).map_or_else(|| error(format!("`{}` is not a number", shortened(text))), Ok)
}

/// A text as a number, if it is one.
fn number(text: &str) -> Option<Operand> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let first = digits.bytes().next()?;
    if !(first.is_ascii_digit() || first == b'.') {
        return None;
    }
    let signed = |value: i64| if text.starts_with('-') { -value } else { value };
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return i64::from_str_radix(hexadecimal, 16).ok().map(|value| Int(signed(value)));
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        // To Tcl, a leading zero makes a number octal.
        let radix = if digits.len() > 1 && first == b'0' { 8 } else { 10 };
        if let Ok(value) = i64::from_str_radix(digits, radix) {
            return Some(Int(signed(value)));
        }
        return if radix == 8 { None } else { text.parse().ok().map(Float) };
    }
    crate::number::decimal(text).map(Float)
}

/// How a value is written.
fn written(value: &Operand) -> String {
    match value {
        Int(number) => number.to_string(),
        Float(number) => format!("{number:?}"),
        Text(value) => value.to_string(),
    }
}

fn too_large<T>() -> Eval<T> {
    error("a number of the expression is too large")
}

fn numeric(value: &Operand) -> Eval<Operand> {
    match value {
        Text(text) => {
            number(text).map_or_else(|| error(format!("`{}` is not a number", shortened(text))), Ok)
        }
        known => Ok(known.clone()),
    }
}

fn real(value: &Operand) -> Eval<f64> {
    match numeric(value)? {
        Int(number) => Ok(number as f64),
        Float(number) => Ok(number),
        Text(_) => Ok(0.0),
    }
}

fn whole(value: &Operand) -> Eval<i64> {
    match numeric(value)? {
        Int(number) => Ok(number),
        other => error(format!("`{}` is not a whole number", written(&other))),
    }
}

fn truth(value: &Operand) -> Eval<bool> {
    match value {
        Int(number) => Ok(*number != 0),
        Float(number) => Ok(*number != 0.0),
        Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(true),
            "false" | "no" | "off" => Ok(false),
            _ => error(format!("`{}` is neither true nor false", shortened(text))),
        },
    }
}

fn binary(operator: &str, left: &Operand, right: &Operand) -> Eval<Operand> {
    let flag = |holds: bool| Ok(Int(i64::from(holds)));
    match operator {
        "eq" => return flag(written(left) == written(right)),
        "ne" => return flag(written(left) != written(right)),
        "in" | "ni" => {
            let held =
                super::split_list(&Value::new(written(right)))?.iter().any(|item| **item == *written(left));
            return flag(held == (operator == "in"));
        }
        "==" | "!=" | "<" | ">" | "<=" | ">=" => {
            let order = match (numeric(left), numeric(right)) {
                (Ok(Int(a)), Ok(Int(b))) => Some(a.cmp(&b)),
                (Ok(_), Ok(_)) => real(left)?.partial_cmp(&real(right)?),
                _ => Some(written(left).cmp(&written(right))),
            };
            let Some(order) = order else { return flag(false) };
            return flag(match operator {
                "==" => order.is_eq(),
                "!=" => order.is_ne(),
                "<" => order.is_lt(),
                ">" => order.is_gt(),
                "<=" => order.is_le(),
                _ => order.is_ge(),
            });
        }
        _ => {}
    }
    match (numeric(left)?, numeric(right)?) {
        (Int(a), Int(b)) => integers(operator, a, b),
        (a, b) => floats(operator, real(&a)?, real(&b)?),
    }
}

fn integers(operator: &str, a: i64, b: i64) -> Eval<Operand> {
    let shift = || u32::try_from(b).ok().filter(|&by| by < 63);
    let result = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" | "%" if b == 0 => return error("a division by zero"),
        // Tcl rounds down, so that the remainder has the divisor's sign.
        "/" => a.checked_div(b).map(|q| q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
        "%" => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        "**" => match u32::try_from(b) {
            Ok(power) => a.checked_pow(power),
            Err(_) if b < 0 => return floats("**", a as f64, b as f64),
            Err(_) => None,
        },
        "<<" => shift().and_then(|by| a.checked_mul(1 << by)),
        ">>" => shift().map(|by| a >> by),
        "&" => Some(a & b),
        "|" => Some(a | b),
        _ => Some(a ^ b),
    };
    result.map_or_else(too_large, |number| Ok(Int(number)))
}

fn floats(operator: &str, a: f64, b: f64) -> Eval<Operand> {
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if b == 0.0 => return error("a division by zero"),
        "/" => a / b,
        "**" => libm::pow(a, b),
        _ => return error(format!("`{operator}` needs whole numbers")),
    };
    finite(result)
}

fn finite(value: f64) -> Eval<Operand> {
    if value.is_finite() { Ok(Float(value)) } else { too_large() }
}

/// A function of numbers.
fn math(name: &str, numbers: &[Operand]) -> Eval<Operand> {
    let rounded = |value: f64| {
        if value.abs() < 9e18 { Ok(Int(value as i64)) } else { too_large() }
    };
    match (name, numbers) {
        ("int" | "wide" | "entier", [Int(number)]) | ("round", [Int(number)]) => Ok(Int(*number)),
        ("int" | "wide" | "entier", [value]) => rounded(real(value)?.trunc()),
        ("round", [value]) => rounded(real(value)?.round()),
        ("abs", [Int(number)]) => number.checked_abs().map_or_else(too_large, |n| Ok(Int(n))),
        ("min" | "max", [first, rest @ ..]) => {
            let mut best = first.clone();
            for value in rest {
                let below = real(value)? < real(&best)?;
                if below == (name == "min") {
                    best = value.clone();
                }
            }
            Ok(best)
        }
        (_, [value]) => {
            let x = real(value)?;
            finite(match name {
                "abs" => x.abs(),
                "double" => x,
                "floor" => x.floor(),
                "ceil" => x.ceil(),
                "sqrt" => x.sqrt(),
                "exp" => libm::exp(x),
                "log" => libm::log(x),
                "log10" => libm::log10(x),
                "sin" => libm::sin(x),
                "cos" => libm::cos(x),
                "tan" => libm::tan(x),
                "asin" => libm::asin(x),
                "acos" => libm::acos(x),
                "atan" => libm::atan(x),
                _ => return error(format!("the function {name}() is not known")),
            })
        }
        (_, [a, b]) => {
            let (a, b) = (real(a)?, real(b)?);
            finite(match name {
                "pow" => libm::pow(a, b),
                "fmod" => a % b,
                "hypot" => libm::hypot(a, b),
                "atan2" => libm::atan2(a, b),
                _ => return error(format!("the function {name}() is not known")),
            })
        }
        _ => error(format!("the function {name}() is not known, or has other arguments")),
    }
}
