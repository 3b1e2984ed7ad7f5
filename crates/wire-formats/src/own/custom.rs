//! Messages and headers of protocols in Python. Their contents are Python's, so that only lengths are on the
//! air: kind 112, or 113 for a header, and zeros. A header has the IP protocol of what follows it and its own
//! length (2 bytes) after its kind.

use super::kind;
use crate::reader::{Malformed, Reader, put_short};

/// A header before the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The IP protocol of the payload.
    pub next: u8,
    /// Its length in bytes; shorter ones are 4 bytes long.
    pub bytes: u16,
}

/// Appends a message of so many bytes, at least one.
pub fn encode(bytes: usize, out: &mut Vec<u8>) {
    out.push(kind::CUSTOM_MESSAGE);
    out.resize(out.len() + bytes.saturating_sub(1), 0);
}

/// Appends a header.
pub fn encode_header(header: Header, out: &mut Vec<u8>) {
    let bytes = header.bytes.max(4);
    out.extend_from_slice(&[kind::CUSTOM_HEADER, header.next]);
    put_short(out, bytes);
    out.resize(out.len() + usize::from(bytes) - 4, 0);
}

/// The header, and what follows it.
///
/// # Errors
/// When it is none.
pub fn decode_header(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "header");
    let (kind, next, length) = (reader.byte()?, reader.byte()?, reader.short()?);
    let wrong = Malformed::Wrong("a header with fields that it cannot have");
    let zeros = length.checked_sub(4).ok_or(wrong)?;
    if kind != kind::CUSTOM_HEADER || reader.take(zeros.into())?.iter().any(|&byte| byte != 0) {
        return Err(wrong);
    }
    Ok((Header { next, bytes: length }, reader.rest()))
}
