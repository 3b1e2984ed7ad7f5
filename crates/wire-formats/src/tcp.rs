//! TCP headers with options (RFC 9293 §3.1; RFC 2018, 3168, 7323), as bytes count them.
//!
//! A run numbers segments, and [`crate::conversation`] knows which bytes they are.

use manetlab_core::wire::NodeId;
use smallvec::SmallVec;

use crate::checksum;
use crate::ipv4::protocol;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// The flags that are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// Synchronise sequence numbers.
    pub syn: bool,
    /// The acknowledgement number means something.
    pub ack: bool,
    /// ECN-Echo (RFC 3168 §6.1).
    pub ece: bool,
    /// Congestion window reduced.
    pub cwr: bool,
}

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// TCP-DOOR's option (Wang and Zhang 2002), in the experimental option of RFC 6994.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Door {
    /// The ACK's own number, below 2³¹.
    pub count: u32,
    /// Did segments arrive out of order?
    pub out_of_order: bool,
}

/// The options that are used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Shift of the window (RFC 7323 §2).
    pub window_shift: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323 §3).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks (RFC 2018 §3): left edge, and right edge, which is the first byte that is missing.
    pub sack: SmallVec<[(u32, u32); 4]>,
    /// TCP-DOOR's option.
    pub door: Option<Door>,
}

/// A header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The source port.
    pub src_port: u16,
    /// The destination port.
    pub dst_port: u16,
    /// The sequence number of the first byte.
    pub seq: u32,
    /// The number of the next byte that is waited for.
    pub ack: u32,
    /// The flags.
    pub flags: Flags,
    /// The window, as it stands in the header.
    pub window: u16,
    /// The options.
    pub options: Options,
}

/// Bytes of a header without options.
pub const BYTES: usize = 20;
const OPTIONS_MAX: usize = 40;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Kind for experiments, and the identifier of this one: "dO".
const EXPERIMENT: u8 = 253;
const DOOR_ID: u16 = 0x644f;

impl Options {
    /// Each option is padded to words by NOPs before it (RFC 7323 appendix A, RFC 2018 §3). SACK blocks for
    /// which there is no room are left out, the last first.
    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        if let Some(mss) = self.mss {
            out.extend_from_slice(&[MSS, 4]);
            put_short(out, mss);
        }
        if let Some(shift) = self.window_shift {
            out.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            out.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            out.extend_from_slice(&[NOP, NOP, TIMESTAMPS, 10]);
            put_word(out, value);
            put_word(out, echo);
        }
        if let Some(door) = self.door {
            out.extend_from_slice(&[EXPERIMENT, 8]);
            put_short(out, DOOR_ID);
            put_word(out, u32::from(door.out_of_order) << 31 | (door.count & (u32::MAX >> 1)));
        }
        let room = OPTIONS_MAX.saturating_sub(out.len() - start + 4) / 8;
        let blocks = &self.sack[..self.sack.len().min(room)];
        if !blocks.is_empty() {
            out.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
            for &(left, right) in blocks {
                put_word(out, left);
                put_word(out, right);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Result<Options, Malformed> {
        let mut options = Options::default();
        let mut reader = Reader::new(bytes, "TCP option");
        while let Ok(kind) = reader.byte() {
            if kind == NOP {
                continue;
            }
            if kind == 0 {
                break;
            }
            let length = usize::from(reader.byte()?);
            let wrong = Malformed::Wrong("a TCP option of a length that it cannot have");
            let mut content = Reader::new(reader.take(length.checked_sub(2).ok_or(wrong)?)?, "TCP option");
            match (kind, length) {
                (MSS, 4) => options.mss = Some(content.short()?),
                (WINDOW_SCALE, 3) => options.window_shift = Some(content.byte()?),
                (SACK_PERMITTED, 2) => options.sack_permitted = true,
                (TIMESTAMPS, 10) => options.timestamps = Some((content.word()?, content.word()?)),
                (EXPERIMENT, 8) if content.short()? == DOOR_ID => {
                    let word = content.word()?;
                    options.door =
                        Some(Door { count: word & (u32::MAX >> 1), out_of_order: word >> 31 == 1 });
                }
                (SACK, 10 | 18 | 26 | 34) => {
                    for _ in 0..(length - 2) / 8 {
                        options.sack.push((content.word()?, content.word()?));
                    }
                }
                (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => return Err(wrong),
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Appends the header of a segment between these nodes, and `payload` zeros, with the checksum of both.
pub fn encode(src: NodeId, dst: NodeId, header: &Header, payload: usize, out: &mut Vec<u8>) {
    let start = out.len();
    put_short(out, header.src_port);
    put_short(out, header.dst_port);
    put_word(out, header.seq);
    put_word(out, header.ack);
    let Flags { syn, ack, ece, cwr } = header.flags;
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    out.extend_from_slice(&[0, flag(syn, SYN) | flag(ack, ACK) | flag(ece, ECE) | flag(cwr, CWR)]);
    put_short(out, header.window);
    put_word(out, 0);
    header.options.encode(out);
    out[start + 12] = (((out.len() - start) / 4) << 4) as u8;
    out.resize(out.len() + payload, 0);
    let sum = checksum::with_pseudo_header(src, dst, protocol::TCP, &out[start..]);
    out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
}

/// The header of a segment between these nodes, and its payload.
///
/// # Errors
/// When it is not a header with these flags, or its checksum is wrong.
pub fn decode(src: NodeId, dst: NodeId, bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "TCP header");
    let (src_port, dst_port, seq, ack) = (reader.short()?, reader.short()?, reader.word()?, reader.word()?);
    let (offset, flags, window) = (reader.byte()?, reader.byte()?, reader.short()?);
    reader.word()?;
    if offset & 0xf != 0 || flags & !(SYN | ACK | ECE | CWR) != 0 {
        return Err(Malformed::Wrong("a TCP header with flags that are not used"));
    }
    let length = usize::from(offset >> 4) * 4;
    let options = reader.take(length.checked_sub(BYTES).ok_or(Malformed::Short("TCP header"))?)?;
    if checksum::with_pseudo_header(src, dst, protocol::TCP, bytes) != 0 {
        return Err(Malformed::Wrong("a TCP segment with a wrong checksum"));
    }
    let is_set = |bit: u8| flags & bit != 0;
    let flags = Flags { syn: is_set(SYN), ack: is_set(ACK), ece: is_set(ECE), cwr: is_set(CWR) };
    let options = Options::decode(options)?;
    Ok((Header { src_port, dst_port, seq, ack, flags, window, options }, reader.rest()))
}
