//! Texts as Python's `json` writes them: in ASCII.

use std::io::Write;

/// Appends a text with its quotes.
pub(super) fn write(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    while let Some(length) = bytes[plain..].iter().position(|byte| !IS_PLAIN[usize::from(*byte)]) {
        let special = plain + length;
        out.extend_from_slice(&bytes[plain..special]);
        // A byte of more than seven bits begins a character of several.
        let letter = text[special..].chars().next().unwrap_or_default();
        escape(letter, out);
        plain = special + letter.len_utf8();
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

/// Bytes that stand for themselves.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        is_plain[byte as usize] = byte != b'"' && byte != b'\\';
        byte += 1;
    }
    is_plain
};

fn escape(letter: char, out: &mut Vec<u8>) {
    let short = match letter {
        '"' => b'"',
        '\\' => b'\\',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        _ => {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
