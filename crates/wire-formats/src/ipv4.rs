//! IPv4 headers (RFC 791 §3.1), without options but for that of INSIGNIA.

use manetlab_core::wire::insignia::{Indicator, Mode, OPTION_BYTES, Part, RATES_KBPS, Service};
use manetlab_core::wire::{Ecn, NodeId};

use crate::address;
use crate::checksum;
use crate::reader::{Malformed, Reader, put_short};

/// Length in bytes without options.
pub const BYTES: usize = 20;
/// An option for experiments that is copied to fragments (RFC 4727 §3.1).
const OPTION: u8 = 158;
/// The flags of that of INSIGNIA.
const RESERVED: u8 = 4;
const ENHANCED: u8 = 2;
const MAX: u8 = 1;

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
    /// The option of INSIGNIA.
    pub service: Option<Service>,
}

impl Header {
    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        BYTES + self.service.map_or(0, |_| OPTION_BYTES as usize)
    }
}

/// Appends the header with its checksum.
pub fn encode(header: &Header, out: &mut Vec<u8>) {
    let start = out.len();
    let ecn = match header.ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect => 0b10,
        Ecn::Ce => 0b11,
    };
    out.extend_from_slice(&[0x40 | (header.bytes() / 4) as u8, ecn]);
    put_short(out, header.total_length);
    put_short(out, header.identification);
    out.extend_from_slice(&[0, 0, header.ttl, header.protocol, 0, 0]);
    out.extend_from_slice(&address::ipv4(header.src));
    out.extend_from_slice(&address::ipv4(header.dst));
    if let Some(service) = header.service {
        put_service(service, out);
    }
    let sum = checksum::of(&out[start..]);
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
}

/// The header, and what follows it in the packet.
///
/// # Errors
/// When it is not such a header, its checksum is wrong, or bytes of the packet are missing.
pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "IP header");
    let has_option = match reader.byte()? {
        0x45 => false,
        0x47 => true,
        _ => return Err(Malformed::Wrong("an IP header of another version, or with other options")),
    };
    let ecn = match reader.byte()? {
        0b00 => Ecn::NotEct,
        0b10 => Ecn::Ect,
        0b11 => Ecn::Ce,
        _ => return Err(Malformed::Wrong("an IP header with a service class, or with ECT(1)")),
    };
    let (total_length, identification, fragment) = (reader.short()?, reader.short()?, reader.short()?);
    let (ttl, protocol, _) = (reader.byte()?, reader.byte()?, reader.short()?);
    let (src, dst) = (reader.ipv4_node()?, reader.ipv4_node()?);
    let service = has_option.then(|| service(&mut reader)).transpose()?;
    let length = BYTES + service.map_or(0, |_| OPTION_BYTES as usize);
    if fragment != 0 || checksum::of(&bytes[..length]) != 0 {
        return Err(Malformed::Wrong("a fragment, or an IP header with a wrong checksum"));
    }
    let payload = usize::from(total_length).checked_sub(length).ok_or(Malformed::Short("IP packet"))?;
    let header = Header { total_length, identification, ttl, protocol, ecn, src, dst, service };
    Ok((header, reader.take(payload)?))
}

fn put_service(service: Service, out: &mut Vec<u8>) {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let flags = flag(service.is_reserved(), RESERVED)
        | flag(service.part == Part::Enhanced, ENHANCED)
        | flag(service.indicator == Indicator::Max, MAX);
    out.extend_from_slice(&[OPTION, OPTION_BYTES as u8, flags, 0]);
    put_short(out, service.max_kbps);
    put_short(out, service.min_kbps);
}

fn service(reader: &mut Reader<'_>) -> Result<Service, Malformed> {
    let (kind, length, flags, unused) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
    let (max_kbps, min_kbps) = (reader.short()?, reader.short()?);
    let is_known = (kind, u32::from(length), unused) == (OPTION, OPTION_BYTES, 0);
    if !is_known || flags > RESERVED | ENHANCED | MAX || !(RATES_KBPS.0..=max_kbps).contains(&min_kbps) {
        return Err(Malformed::Wrong("an IP option that is not that of INSIGNIA"));
    }
    Ok(Service {
        mode: if flags & RESERVED == 0 { Mode::BestEffort } else { Mode::Reserved },
        part: if flags & ENHANCED == 0 { Part::Base } else { Part::Enhanced },
        indicator: if flags & MAX == 0 { Indicator::Min } else { Indicator::Max },
        max_kbps,
        min_kbps,
    })
}
