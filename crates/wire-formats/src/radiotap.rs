//! The radiotap header: what a receiver knows of a frame beside its bytes (radiotap.org).

use crate::reader::{Malformed, Reader};

/// 2412 MHz, channel 1.
const CHANNEL_MHZ: u16 = 2412;
/// Channel flags: CCK (here all of 802.11b) and 2 GHz spectrum.
const CHANNEL_FLAGS: u16 = 0x0020 | 0x0080;
const TSFT: u32 = 1;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
const SHORT_PREAMBLE: u8 = 0x02;

/// The fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// When the first bit of the MAC header was there, in µs.
    pub tsft_us: u64,
    /// Had the frame the short preamble?
    pub short_preamble: bool,
    /// The rate in units of 500 kb/s.
    pub rate: u8,
    /// The power at which it was received, in dBm; none in transmissions.
    pub signal_dbm: Option<i8>,
}

/// Appends the header: 22 bytes, one more with a signal.
pub fn encode(header: &Header, out: &mut Vec<u8>) {
    let present = TSFT | FLAGS | RATE | CHANNEL | header.signal_dbm.map_or(0, |_| SIGNAL);
    let length = 22 + u16::from(header.signal_dbm.is_some());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&present.to_le_bytes());
    out.extend_from_slice(&header.tsft_us.to_le_bytes());
    out.extend_from_slice(&[if header.short_preamble { SHORT_PREAMBLE } else { 0 }, header.rate]);
    out.extend_from_slice(&CHANNEL_MHZ.to_le_bytes());
    out.extend_from_slice(&CHANNEL_FLAGS.to_le_bytes());
    out.extend(header.signal_dbm.map(i8::cast_unsigned));
}

/// The header, and the frame after it.
///
/// # Errors
/// When it is not a header with these fields.
pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "radiotap header");
    let version = reader.byte()?;
    reader.byte()?;
    let length = u16::swap_bytes(reader.short()?);
    let present = u32::swap_bytes(reader.word()?);
    let has_signal = present == TSFT | FLAGS | RATE | CHANNEL | SIGNAL;
    if version != 0 || (!has_signal && present != TSFT | FLAGS | RATE | CHANNEL) {
        return Err(Malformed::Wrong("a radiotap header with other fields"));
    }
    if length != 22 + u16::from(has_signal) {
        return Err(Malformed::Wrong("a radiotap header of another length"));
    }
    let (low, high) = (u32::swap_bytes(reader.word()?), u32::swap_bytes(reader.word()?));
    let (flags, rate) = (reader.byte()?, reader.byte()?);
    reader.take(4)?;
    let signal_dbm = has_signal.then(|| reader.byte()).transpose()?.map(u8::cast_signed);
    let tsft_us = u64::from(high) << 32 | u64::from(low);
    let header = Header { tsft_us, short_preamble: flags & SHORT_PREAMBLE != 0, rate, signal_dbm };
    Ok((header, reader.rest()))
}
