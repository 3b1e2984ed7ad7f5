//! IPv4 headers without options (RFC 791 §3.1).

use manetlab_core::wire::{Ecn, NodeId};

use crate::address;
use crate::checksum;
use crate::reader::{Malformed, Reader, put_short};

/// Length in bytes.
pub const BYTES: usize = 20;

/// Protocol numbers (IANA).
pub mod protocol {
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// DSR (RFC 4728 §11).
    pub const DSR: u8 = 48;
    /// Nothing follows.
    pub const NONE: u8 = 59;
    /// For experiments (RFC 3692): this project's own formats.
    pub const EXPERIMENTAL: u8 = 253;
}

/// A header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Length of the packet in bytes, this header included.
    pub total_length: u16,
    /// Which packet it is, for reassembly: here the lower half of the packet's number.
    pub identification: u16,
    /// Time to live.
    pub ttl: u8,
    /// What follows, see [`protocol`].
    pub protocol: u8,
    /// The ECN field (RFC 3168 §5).
    pub ecn: Ecn,
    /// The source.
    pub src: NodeId,
    /// The destination.
    pub dst: NodeId,
}

/// Appends the header with its checksum.
pub fn encode(header: &Header, out: &mut Vec<u8>) {
    let start = out.len();
    let ecn = match header.ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect => 0b10,
        Ecn::Ce => 0b11,
    };
    out.extend_from_slice(&[0x45, ecn]);
    put_short(out, header.total_length);
    put_short(out, header.identification);
    out.extend_from_slice(&[0, 0, header.ttl, header.protocol, 0, 0]);
    out.extend_from_slice(&address::ipv4(header.src));
    out.extend_from_slice(&address::ipv4(header.dst));
    let sum = checksum::of(&out[start..]);
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
}

/// The header, and what follows it in the packet.
///
/// # Errors
/// When it is not such a header, its checksum is wrong, or bytes of the packet are missing.
pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "IP header");
    if reader.byte()? != 0x45 {
        return Err(Malformed::Wrong("an IP header of another version, or with options"));
    }
    let ecn = match reader.byte()? {
        0b00 => Ecn::NotEct,
        0b10 => Ecn::Ect,
        0b11 => Ecn::Ce,
        _ => return Err(Malformed::Wrong("an IP header with a service class, or with ECT(1)")),
    };
    let (total_length, identification, fragment) = (reader.short()?, reader.short()?, reader.short()?);
    let (ttl, protocol, _) = (reader.byte()?, reader.byte()?, reader.short()?);
    let (src, dst) = (reader.ipv4_node()?, reader.ipv4_node()?);
    if fragment != 0 || checksum::of(&bytes[..BYTES]) != 0 {
        return Err(Malformed::Wrong("a fragment, or an IP header with a wrong checksum"));
    }
    let payload = usize::from(total_length).checked_sub(BYTES).ok_or(Malformed::Short("IP packet"))?;
    let header = Header { total_length, identification, ttl, protocol, ecn, src, dst };
    Ok((header, reader.take(payload)?))
}
