//! Splits the bytes of a file into lines and words, which know where they are for messages of errors.

use crate::error::{Fault, Parsed, ReadError, quoted};
use crate::limits::Limits;
use crate::number;

/// Gives every command line of a file to `take`: comments and blank lines left out, a trailing `;` or
/// `;# comment` cut off, the carriage return of a CRLF line removed.
///
/// # Errors
/// The first fault of `take`, or a file that is empty, too long or not text.
pub(crate) fn each_line<'a>(
    bytes: &'a [u8],
    name: &str,
    limits: &Limits,
    mut take: impl FnMut(u64, &'a str) -> Parsed<()>,
) -> Result<(), ReadError> {
    limits.check_size(bytes.len() as u64, name)?;
    let text = text_of(bytes).map_err(|fault| fault.in_file(name, None))?;
    let mut lines = text.split('\n').zip(1u64..).peekable();
    while let Some((raw, number)) = lines.next() {
        let line = raw.trim_ascii();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Err(mut fault) = command_of(line).and_then(|command| take(number, command)) {
            if lines.peek().is_none() {
                fault.hint.push_str("; this last line does not end: the file may have been cut off");
            }
            return Err(fault.in_file(name, Some(number)));
        }
    }
    Ok(())
}

/// The file as text.
pub(crate) fn text_of(bytes: &[u8]) -> Parsed<&str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wanted = "a text file in ASCII or UTF-8, without NUL bytes";
    let hint = "this looks like a binary, compressed, UTF-16 or Latin-1 file: convert it to UTF-8 first";
    if bytes.trim_ascii().is_empty() {
        return Err(Fault::new("empty file", "nothing", "at least one line", "give the file's right name"));
    }
    let line_at = |at: usize| 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count() as u64;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Fault::new("not a text file", format!("the byte 0x{:02x}", bytes[at]), wanted, hint).at(line_at(at))
    })?;
    match text.find('\0') {
        Some(at) => Err(Fault::new("not a text file", "a NUL byte", wanted, hint).at(line_at(at))),
        None => Ok(text),
    }
}

/// A line without what follows its `;`.
fn command_of(line: &str) -> Parsed<&str> {
    let Some((command, rest)) = line.split_once(';') else { return Ok(line) };
    let rest = rest.trim_ascii_start();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(command.trim_ascii_end());
    }
    Err(Fault::new("two commands on a line", quoted(line), "one command a line", "break the line at the `;`"))
}

/// The words of a line, taken from the left.
#[derive(Clone)]
pub(crate) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub(crate) fn new(line: &'a str) -> Words<'a> {
        Words { rest: line.trim_ascii() }
    }

    /// The next word, empty when there is none.
    pub(crate) fn next(&mut self) -> &'a str {
        let end = self.rest.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_ascii_start();
        word
    }

    /// All that is left.
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// The next `N` words, if exactly so many are left.
    pub(crate) fn last<const N: usize>(mut self) -> Option<[&'a str; N]> {
        let words = std::array::from_fn(|_| self.next());
        (self.rest.is_empty() && words.iter().all(|word| !word.is_empty())).then_some(words)
    }

    /// The words between `open` and `close`, if the rest is so enclosed.
    pub(crate) fn within(&self, open: char, close: char) -> Option<Words<'a>> {
        self.rest.strip_prefix(open)?.strip_suffix(close).map(Words::new)
    }
}

/// Is `word` the simulator's variable?
pub(crate) fn is_simulator(word: &str) -> bool {
    matches!(word, "$ns_" | "$ns")
}

/// The index in `$node_(index)`; `None` if `word` is nothing of that form.
pub(crate) fn node(word: &str, limits: &Limits) -> Parsed<Option<u32>> {
    let index = word.strip_prefix("$node_(").or_else(|| word.strip_prefix("$node("));
    let Some(index) = index.and_then(|rest| rest.strip_suffix(')')) else { return Ok(None) };
    let wanted = |hint: String| {
        let last = limits.max_nodes.saturating_sub(1);
        Fault::new("node", quoted(word), format!("an index from 0 to {last}"), hint)
    };
    if index.len() > 1 && index.starts_with('0') {
        return Err(wanted("to Tcl, 01 and 1 are different nodes: drop the leading zero".to_owned()));
    }
    match number::integer(index, "node", 0, u64::from(u32::MAX)) {
        Ok(value) if value < u64::from(limits.max_nodes) => Ok(Some(value as u32)),
        _ => Err(wanted("nodes are numbered 0, 1, 2 … without gaps".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_by_any_blanks() {
        let words = Words::new("  a\t b  c\r");
        assert_eq!(words.clone().last(), Some(["a", "b", "c"]));
        assert_eq!(words.clone().last::<2>(), None);
        assert_eq!(words.last::<4>(), None);
    }

    #[test]
    fn lines_are_counted_with_comments_and_blanks() {
        let mut seen = Vec::new();
        let text = b"\xef\xbb\xbf# head\r\n\r\n one \r\ntwo ;# why\n\n three;";
        each_line(text, "f", &Limits::default(), |number, line| {
            seen.push((number, line));
            Ok(())
        })
        .expect("a good file");
        assert_eq!(seen, [(3, "one"), (4, "two"), (6, "three")]);
    }

    #[test]
    fn bytes_that_are_no_text_are_found_with_their_line() {
        let refuse = |bytes: &[u8]| {
            each_line(bytes, "f", &Limits::default(), |_, _| Ok(())).expect_err("not a text file")
        };
        assert_eq!(refuse(b"a\nb\0").line, Some(2));
        assert_eq!(refuse(b"a\n\n\xff").line, Some(3));
        assert_eq!(refuse(b" \n\t").line, None);
        assert_eq!(refuse(b"").line, None);
    }

    #[test]
    fn a_node_is_named_by_a_plain_index() {
        let limits = Limits { max_nodes: 10, ..Limits::default() };
        assert_eq!(node("$node_(7)", &limits).expect("in range"), Some(7));
        assert_eq!(node("$node(7)", &limits).expect("in range"), Some(7));
        assert_eq!(node("$tcp_(7)", &limits).expect("no node"), None);
        for word in
            ["$node_(10)", "$node_(-1)", "$node_(+1)", "$node_()", "$node_(01)", "$node_(4000000000000)"]
        {
            assert!(node(word, &limits).is_err(), "{word}");
        }
    }
}
