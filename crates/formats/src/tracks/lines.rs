//! The lines of a source, one at a time.

use std::io::{BufRead, Read};

use super::unreadable;
use crate::error::{Fault, Parsed};

/// Longest line. BonnMotion has all of a node's points on one.
const LONGEST: u64 = 64 << 20;

/// Gives every line to `take`, without its end and blanks; blank ones and those that begin with `#` are
/// left out. `take` gets the line's number too, counted from 1.
///
/// # Errors
/// The first fault of `take`, with its line; a source that cannot be read, is no text, or has a line too
/// long.
pub(super) fn each(mut source: impl BufRead, mut take: impl FnMut(u64, &str) -> Parsed<()>) -> Parsed<()> {
    let mut raw = Vec::new();
    for number in 1.. {
        raw.clear();
        let read = (&mut source).take(LONGEST).read_until(b'\n', &mut raw);
        match read.map_err(|error| unreadable(&error).at(number))? as u64 {
            0 => break,
            LONGEST if !raw.ends_with(b"\n") => {
                let hint = "is it a file of tracks?";
                return Err(
                    Fault::new("line too long", "more than 64 MiB", "at most 64 MiB", hint).at(number)
                );
            }
            _ => {}
        }
        let line = text(&raw).map_err(|fault| fault.at(number))?.trim();
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        take(number, line).map_err(|fault| {
            let line = fault.line.unwrap_or(number);
            fault.at(line)
        })?;
    }
    Ok(())
}

/// Bytes as text.
pub(super) fn text(bytes: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let hint = if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            "this is UTF-16: save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE > NEW"
        } else if bytes.contains(&0) {
            "this looks like a binary file: export the tracks as text"
        } else {
            "its letters are in an older encoding: save it as UTF-8, or: iconv -f LATIN1 -t UTF-8 FILE > NEW"
        };
        let found = format!("the byte 0x{:02x}", bytes[error.valid_up_to()]);
        Fault::new("not a text file", found, "UTF-8", hint)
    })
}
