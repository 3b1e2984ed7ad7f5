//! The result hash: the first 128 bits of SHA-256 over the measures in a canonical form.
//!
//! The form is made from what users see, the flows, totals, drops and audit of the result's JSON, and from
//! nothing else. Types and fields in here can be renamed, split and reordered: as long as the JSON is the
//! same, the hash is.
//!
//! ```text
//! manetlab-measures 2
//! audit/balanced true
//! flows/0/goodput 0x3fef5c28f5c28f5c
//! flows/0/kind "tcp"
//! flows/0/timeouts 3
//! ```
//!
//! The first line names the form and its version. Then comes one line for each measure, in the order of their
//! bytes: its path in the JSON, with list items by their number from 0, a space, and its value. Integers are
//! in decimal digits; numbers that the JSON has with a fraction are the 64 bits of IEEE 754 in 16 hexadecimal
//! digits after `0x`, so equal hashes mean equal results to the last bit; names are in quotation marks. A
//! measure without a value (null) has no line, so that a measure that is new and that a run does not have
//! leaves the run's hash as it was.
//!
//! Form 1, up to November 2026, left ten measures out: those of loads, back-offs, rebroadcasts and
//! routes from caches.
//!
//! Whoever changes these rules raises the version. A measure that is renamed, new or defined otherwise
//! changes the hashes by itself.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{AuditReport, DropCount, FlowResult, RunTotals};

/// The canonical form and its version.
pub const FORM: &str = "manetlab-measures 2";

/// What the result hash covers.
#[derive(Serialize)]
pub struct Measures<'a> {
    /// Each flow.
    pub flows: &'a [FlowResult],
    /// All flows together.
    pub totals: &'a RunTotals,
    /// Where packets died.
    pub drops: &'a [DropCount],
    /// The books.
    pub audit: &'a AuditReport,
}

impl Measures<'_> {
    /// The result hash, 32 hexadecimal digits.
    pub fn hash(&self) -> String {
        digest(&canonical(self))
    }
}

/// The canonical form of whatever is written as JSON.
#[expect(clippy::expect_used, reason = "structs, lists, numbers and names can be written as JSON")]
fn canonical(measures: &impl Serialize) -> String {
    let value = serde_json::to_value(measures).expect("measures have a form in JSON");
    let mut lines = Vec::new();
    collect(&value, "", &mut lines);
    lines.sort_unstable();
    format!("{FORM}\n{}", lines.concat())
}

/// Adds the lines of a value that has this path.
fn collect(value: &Value, path: &str, lines: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") };
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| collect(value, &below(key), lines));
        }
        Value::Array(items) => {
            (0..).zip(items).for_each(|(index, item)| collect(item, &below(&format!("{index}")), lines));
        }
        Value::Bool(truth) => lines.push(format!("{path} {truth}\n")),
        Value::String(name) => lines.push(format!("{path} \"{name}\"\n")),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => lines.push(format!("{path} {:#018x}\n", float.to_bits())),
            None => lines.push(format!("{path} {number}\n")),
        },
    }
}

#[expect(clippy::expect_used, reason = "writing to a `String` does not fail")]
fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(16).fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("writing to a string cannot fail");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Flow {
        goodput: Option<f64>,
        timeouts: u64,
        lost: i64,
        kind: &'static str,
    }

    /// The same to users: another type, with other fields in another order, one of them within another type.
    #[derive(Serialize)]
    struct Connection {
        kind: &'static str,
        #[serde(flatten)]
        counters: Counters,
        #[serde(rename = "goodput")]
        efficiency: f64,
        nothing: Option<f64>,
    }

    #[derive(Serialize)]
    struct Counters {
        #[serde(rename = "lost")]
        missing: i8,
        timeouts: u16,
    }

    fn flow() -> Flow {
        Flow { goodput: Some(0.98), timeouts: 3, lost: -2, kind: "tcp" }
    }

    #[test]
    fn the_form_is_one_line_a_measure_by_its_public_name() {
        let text = "manetlab-measures 2\n0/goodput 0x3fef5c28f5c28f5c\n0/kind \"tcp\"\n0/lost -2\n0/timeouts 3\n1 true\n";
        assert_eq!(canonical(&(flow(), true)), text);
        // What coreutils' sha256sum says of this text.
        assert_eq!(digest(text), "c0b99a1730f092dbce6ea520601cdec7");
    }

    #[test]
    fn names_order_and_nesting_of_types_and_fields_do_not_matter() {
        let counters = Counters { missing: -2, timeouts: 3 };
        let connection = Connection { kind: "tcp", counters, efficiency: 0.98, nothing: None };
        assert_eq!(canonical(&connection), canonical(&flow()));
    }

    #[test]
    fn the_last_bit_matters() {
        let next = f64::from_bits(0.98f64.to_bits() + 1);
        let other = |goodput| digest(&canonical(&Flow { goodput, ..flow() }));
        assert_ne!(other(Some(next)), other(Some(0.98)));
        assert_ne!(other(Some(-0.0)), other(Some(0.0)));
        assert_ne!(other(None), other(Some(0.0)));
    }

    #[test]
    fn no_two_values_share_a_form() {
        let forms =
            [canonical(&1u64), canonical(&1.0f64), canonical(&true), canonical(&"1"), canonical(&[1u64])];
        for (at, form) in forms.iter().enumerate() {
            assert!(forms[..at].iter().all(|other| other != form), "{form}");
        }
        assert_eq!(canonical(&u64::MAX), "manetlab-measures 2\n 18446744073709551615\n");
    }
}
