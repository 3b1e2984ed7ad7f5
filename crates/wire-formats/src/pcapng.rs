//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian.

use manetlab_core::kernel::Time;

/// Link types (draft-ietf-opsawg-pcaplinktype).
pub mod link_type {
    /// Ethernet.
    pub const ETHERNET: u16 = 1;
    /// 802.11 after a radiotap header.
    pub const RADIOTAP: u16 = 127;
}

/// Which way a packet went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// It arrived.
    In,
    /// It was sent.
    Out,
    /// Neither.
    Unknown,
}

/// A packet with what is said of it.
#[derive(Clone, Copy, Debug)]
pub struct PacketBlock<'a> {
    /// The interface, in order of their blocks.
    pub interface: u32,
    /// When.
    pub time: Time,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its direction.
    pub direction: Direction,
    /// A number that copies of it share.
    pub packet_id: Option<u64>,
    /// A comment.
    pub comment: Option<&'a str>,
}

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

mod option {
    pub(super) const COMMENT: u16 = 1;
    pub(super) const APPLICATION: u16 = 4;
    pub(super) const NAME: u16 = 2;
    pub(super) const DESCRIPTION: u16 = 3;
    pub(super) const RESOLUTION: u16 = 9;
    pub(super) const FLAGS: u16 = 2;
    pub(super) const PACKET_ID: u16 = 5;
}

/// Appends the section header, with which a file begins.
pub fn put_section(application: &str, out: &mut Vec<u8>) {
    put_block(SECTION, out, |out| {
        put(out, &BYTE_ORDER.to_le_bytes());
        // Version 1.0, length not known.
        put(out, &[1, 0, 0, 0]);
        put(out, &u64::MAX.to_le_bytes());
        put_option(option::APPLICATION, application.as_bytes(), out);
        put_option(0, &[], out);
    });
}

/// Appends the description of an interface with time stamps in nanoseconds.
pub fn put_interface(link_type: u16, name: &str, description: &str, out: &mut Vec<u8>) {
    put_block(INTERFACE, out, |out| {
        put(out, &link_type.to_le_bytes());
        // Reserved, and no limit to the bytes of a packet.
        put(out, &[0; 6]);
        put_option(option::NAME, name.as_bytes(), out);
        put_option(option::DESCRIPTION, description.as_bytes(), out);
        put_option(option::RESOLUTION, &[9], out);
        put_option(0, &[], out);
    });
}

/// Appends names of IPv4 addresses.
pub fn put_names(names: impl Iterator<Item = ([u8; 4], String)>, out: &mut Vec<u8>) {
    put_block(NAMES, out, |out| {
        for (address, name) in names {
            let content = [&address, name.as_bytes(), &[0]].concat();
            put_option(1, &content, out);
        }
        put_option(0, &[], out);
    });
}

/// Appends a packet.
pub fn put_packet(record: &PacketBlock<'_>, out: &mut Vec<u8>) {
    put_block(PACKET, out, |out| {
        let length = record.bytes.len() as u32;
        let (high, low) = ((record.time.0 >> 32) as u32, record.time.0 as u32);
        for word in [record.interface, high, low, length, length] {
            put(out, &word.to_le_bytes());
        }
        put(out, record.bytes);
        pad(out, record.bytes.len());
        let flags = match record.direction {
            Direction::In => 1_u32,
            Direction::Out => 2,
            Direction::Unknown => 0,
        };
        if let Some(comment) = record.comment {
            put_option(option::COMMENT, comment.as_bytes(), out);
        }
        put_option(option::FLAGS, &flags.to_le_bytes(), out);
        if let Some(id) = record.packet_id {
            put_option(option::PACKET_ID, &id.to_le_bytes(), out);
        }
        put_option(0, &[], out);
    });
}

/// A block: type, length, content, and the length again.
fn put_block(kind: u32, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put(out, &kind.to_le_bytes());
    put(out, &[0; 4]);
    content(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    put(out, &length);
}

/// An option, or a record of names: code, length, content, padding. Code 0 ends the list.
fn put_option(code: u16, content: &[u8], out: &mut Vec<u8>) {
    let content = &content[..content.len().min(usize::from(u16::MAX))];
    put(out, &code.to_le_bytes());
    put(out, &(content.len() as u16).to_le_bytes());
    put(out, content);
    pad(out, content.len());
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

/// Zeros after so many bytes, up to a multiple of four.
fn pad(out: &mut Vec<u8>, bytes: usize) {
    out.resize(out.len() + bytes.next_multiple_of(4) - bytes, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    /// Blocks can be walked from either end, whatever the lengths in them.
    #[test]
    fn blocks_have_their_length_at_both_ends() {
        let mut out = Vec::new();
        put_section("a tool", &mut out);
        put_names([([10, 0, 0, 1], "node0".to_owned())].into_iter(), &mut out);
        for length in 0..9 {
            put_interface(link_type::ETHERNET, &"n".repeat(length), "", &mut out);
            let (interface, time, bytes) = (0, Time(length as u64), &[7; 9][..length]);
            let comment = Some("a comment").filter(|_| length % 2 == 0);
            let (direction, packet_id) = (Direction::In, Some(7));
            put_packet(&PacketBlock { interface, time, bytes, direction, packet_id, comment }, &mut out);
        }
        let (mut at, mut kinds) = (0, Vec::new());
        while at < out.len() {
            let length = word(&out, at + 4) as usize;
            assert_eq!((length % 4, word(&out, at + length - 4) as usize), (0, length));
            kinds.push(word(&out, at));
            at += length;
        }
        assert_eq!(kinds.len(), 2 + 2 * 9);
        assert_eq!(kinds[..4], [SECTION, NAMES, INTERFACE, PACKET]);
    }
}
