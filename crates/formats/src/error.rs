//! What a reader says about a file that it does not take.

use thiserror::Error;

/// Longest piece of a file that an error quotes, in characters.
const QUOTED: usize = 72;
/// Longest part of an error, in characters.
const LONGEST_PART: usize = 800;

/// Why a file was refused, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{file}{}: {what}: found {found}, wanted {wanted}\nhint: {hint}", Colon(*line))]
pub struct ReadError {
    /// The file's name, as the caller gave it.
    pub file: Box<str>,
    /// The line, counted from 1; `None` when the file as a whole is at fault.
    pub line: Option<u64>,
    /// What is wrong, in a few words.
    pub what: Box<str>,
    /// What stands there, shortened, with control characters escaped.
    pub found: Box<str>,
    /// What a reader takes there.
    pub wanted: Box<str>,
    /// What to do about it.
    pub hint: Box<str>,
}

/// Shows a line number as `:12`, and nothing for a whole file.
struct Colon(Option<u64>);

impl std::fmt::Display for Colon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A [`ReadError`] in the making: the line parser knows neither the file nor, mostly, the line.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Set where the fault belongs to another line than the one being read.
    pub(crate) line: Option<u64>,
    pub(crate) what: String,
    pub(crate) found: String,
    pub(crate) wanted: String,
    pub(crate) hint: String,
}

/// The result of reading a piece of a file. The fault is boxed: lines without one are the fast path.
pub(crate) type Parsed<T> = Result<T, Box<Fault>>;

impl Fault {
    pub(crate) fn new(
        what: impl Into<String>,
        found: impl Into<String>,
        wanted: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<Fault> {
        let (what, found, wanted, hint) = (what.into(), found.into(), wanted.into(), hint.into());
        Box::new(Fault { line: None, what, found, wanted, hint })
    }

    /// The same fault at `line`.
    pub(crate) fn at(mut self: Box<Fault>, line: u64) -> Box<Fault> {
        self.line = Some(line);
        self
    }

    /// The finished error; `line` counts where the fault does not name its own.
    pub(crate) fn in_file(self, file: &str, line: Option<u64>) -> ReadError {
        ReadError {
            file: file.into(),
            line: self.line.or(line),
            what: harmless(&self.what, LONGEST_PART).into(),
            found: harmless(&self.found, LONGEST_PART).into(),
            wanted: harmless(&self.wanted, LONGEST_PART).into(),
            hint: harmless(&self.hint, LONGEST_PART).into(),
        }
    }
}

/// `text` in backquotes, shortened and [`harmless`].
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", harmless(text, QUOTED))
}

/// At most so many characters of `text`, with control characters escaped so that they cannot play tricks on a
/// terminal.
fn harmless(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Characters that reorder or hide the text around them (Unicode's bidirectional and zero-width controls).
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_and_harmless() {
        assert_eq!(quoted("a\u{1b}[2Jb\u{202e}"), "`a\\u{1b}[2Jb\\u{202e}`");
        assert_eq!(quoted(&"x".repeat(1000)).chars().count(), QUOTED + 3);
    }

    #[test]
    fn whatever_a_reader_passes_on_of_a_file_is_harmless() {
        let error = Fault::new("an element", "a\u{1b}[2J".repeat(1000), "b\u{7}", "c").in_file("a.gpx", None);
        assert!(!error.to_string().contains(['\u{1b}', '\u{7}']));
        assert!(error.to_string().chars().count() < 9 * LONGEST_PART);
    }

    #[test]
    fn an_error_names_file_line_and_hint() {
        let error =
            Fault::new("speed", "`-1`", "a positive number", "drop the sign").in_file("a.tcl", Some(3));
        assert_eq!(
            error.to_string(),
            "a.tcl:3: speed: found `-1`, wanted a positive number\nhint: drop the sign"
        );
    }
}
