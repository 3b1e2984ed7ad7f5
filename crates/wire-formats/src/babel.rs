//! Packets of Babel (RFC 8966 §4), in UDP datagrams to port 6696.
//!
//! Prefixes are nodes' IPv4 addresses, /32. A router-id is zeros and the node's IPv4 address. The address in
//! an IHU is IPv4's, or the interface identifier that the node's MAC address gives (RFC 4291, appendix A).

use manetlab_core::wire::NodeId;
use manetlab_core::wire::babel::{INFINITY, Packet, Tlv};

use crate::address;
use crate::reader::{Malformed, Reader, put_short};

/// RFC 8966 §4.2.
const MAGIC: u8 = 42;
const VERSION: u8 = 2;
/// TLV types (RFC 8966 §4.6).
const HELLO: u8 = 4;
const IHU: u8 = 5;
const ROUTER_ID: u8 = 6;
const NEXT_HOP: u8 = 7;
const UPDATE: u8 = 8;
const ROUTE_REQUEST: u8 = 9;
const SEQNO_REQUEST: u8 = 10;
/// Address encodings (RFC 8966 §4.1.4).
const WILDCARD: u8 = 0;
const IPV4: u8 = 1;
const LINK_LOCAL: u8 = 3;
/// Bits of a node's prefix.
const WHOLE: u8 = 32;

/// Appends the packet.
pub fn encode(packet: &Packet, out: &mut Vec<u8>) {
    out.extend_from_slice(&[MAGIC, VERSION]);
    put_short(out, packet.tlvs.iter().map(Tlv::bytes).sum::<u32>() as u16);
    packet.tlvs.iter().for_each(|tlv| encode_tlv(*tlv, out));
}

fn encode_tlv(tlv: Tlv, out: &mut Vec<u8>) {
    // RFC 8966 §4.3: the length does not count type and length.
    let length = tlv.bytes() as u8 - 2;
    match tlv {
        Tlv::Hello { seqno, interval } => {
            out.extend_from_slice(&[HELLO, length, 0, 0]);
            put_short(out, seqno);
            put_short(out, interval);
        }
        Tlv::Ihu { to, link_local, rxcost, interval } => {
            out.extend_from_slice(&[IHU, length, if link_local { LINK_LOCAL } else { IPV4 }, 0]);
            put_short(out, rxcost);
            put_short(out, interval);
            if link_local {
                let [a, b, c, d, e, f] = address::mac(to);
                out.extend_from_slice(&[a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
            } else {
                out.extend_from_slice(&address::ipv4(to));
            }
        }
        Tlv::RouterId(node) => {
            out.extend_from_slice(&[ROUTER_ID, length, 0, 0]);
            put_router(node, out);
        }
        Tlv::NextHop(node) => {
            out.extend_from_slice(&[NEXT_HOP, length, IPV4, 0]);
            out.extend_from_slice(&address::ipv4(node));
        }
        Tlv::Update { prefix, interval, seqno, metric } => {
            out.extend_from_slice(&[UPDATE, length, IPV4, 0, WHOLE, 0]);
            [interval, seqno, metric].into_iter().for_each(|field| put_short(out, field));
            out.extend_from_slice(&address::ipv4(prefix));
        }
        Tlv::RetractAll { interval } => {
            out.extend_from_slice(&[UPDATE, length, WILDCARD, 0, 0, 0]);
            [interval, 0, INFINITY].into_iter().for_each(|field| put_short(out, field));
        }
        Tlv::RouteRequest(Some(prefix)) => {
            out.extend_from_slice(&[ROUTE_REQUEST, length, IPV4, WHOLE]);
            out.extend_from_slice(&address::ipv4(prefix));
        }
        Tlv::RouteRequest(None) => out.extend_from_slice(&[ROUTE_REQUEST, length, WILDCARD, 0]),
        Tlv::SeqnoRequest { prefix, seqno, hop_count, router } => {
            out.extend_from_slice(&[SEQNO_REQUEST, length, IPV4, WHOLE]);
            put_short(out, seqno);
            out.extend_from_slice(&[hop_count, 0]);
            put_router(router, out);
            out.extend_from_slice(&address::ipv4(prefix));
        }
    }
}

fn put_router(node: NodeId, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&address::ipv4(node));
}

/// The packet.
///
/// # Errors
/// When it is none, or has what is not used: padding, acknowledgements, sub-TLVs, other prefixes, flags.
pub fn decode(bytes: &[u8]) -> Result<Packet, Malformed> {
    let mut reader = Reader::new(bytes, "Babel packet");
    let (magic, version, length) = (reader.byte()?, reader.byte()?, reader.short()?);
    if magic != MAGIC || version != VERSION || usize::from(length) != reader.rest().len() {
        return Err(Malformed::Wrong("a Babel packet with a wrong header"));
    }
    let mut tlvs = Vec::new();
    while !reader.rest().is_empty() {
        let (kind, length) = (reader.byte()?, reader.byte()?);
        let mut body = Reader::new(reader.take(length.into())?, "Babel TLV");
        tlvs.push(decode_tlv(kind, &mut body)?);
        if !body.rest().is_empty() {
            return Err(UNUSED);
        }
    }
    if tlvs.is_empty() { Err(Malformed::Short("Babel packet")) } else { Ok(Packet { tlvs: tlvs.into() }) }
}

const UNUSED: Malformed = Malformed::Wrong("a Babel TLV with fields that are not used");

fn decode_tlv(kind: u8, reader: &mut Reader<'_>) -> Result<Tlv, Malformed> {
    match kind {
        HELLO if reader.short()? == 0 => Ok(Tlv::Hello { seqno: reader.short()?, interval: reader.short()? }),
        IHU => decode_ihu(reader),
        ROUTER_ID if reader.short()? == 0 => decode_router(reader).map(Tlv::RouterId),
        NEXT_HOP => match (reader.byte()?, reader.byte()?) {
            (IPV4, 0) => reader.ipv4_node().map(Tlv::NextHop),
            _ => Err(UNUSED),
        },
        UPDATE => decode_update(reader),
        ROUTE_REQUEST => match (reader.byte()?, reader.byte()?) {
            (WILDCARD, 0) => Ok(Tlv::RouteRequest(None)),
            (IPV4, WHOLE) => reader.ipv4_node().map(|prefix| Tlv::RouteRequest(Some(prefix))),
            _ => Err(UNUSED),
        },
        SEQNO_REQUEST => {
            let (encoding, bits, seqno) = (reader.byte()?, reader.byte()?, reader.short()?);
            let (hop_count, zero, router) = (reader.byte()?, reader.byte()?, decode_router(reader)?);
            if (encoding, bits, zero) != (IPV4, WHOLE, 0) {
                return Err(UNUSED);
            }
            Ok(Tlv::SeqnoRequest { prefix: reader.ipv4_node()?, seqno, hop_count, router })
        }
        _ => Err(UNUSED),
    }
}

fn decode_ihu(reader: &mut Reader<'_>) -> Result<Tlv, Malformed> {
    let (encoding, zero, rxcost, interval) =
        (reader.byte()?, reader.byte()?, reader.short()?, reader.short()?);
    let to = match (encoding, zero) {
        (IPV4, 0) => reader.ipv4_node()?,
        (LINK_LOCAL, 0) => {
            let id = reader.take(8)?;
            if id[3..5] != [0xff, 0xfe] {
                return Err(UNUSED);
            }
            address::node_of_mac([id[0] ^ 2, id[1], id[2], id[5], id[6], id[7]])?
        }
        _ => return Err(UNUSED),
    };
    Ok(Tlv::Ihu { to, link_local: encoding == LINK_LOCAL, rxcost, interval })
}

fn decode_update(reader: &mut Reader<'_>) -> Result<Tlv, Malformed> {
    let (encoding, flags, bits, omitted) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
    let (interval, seqno, metric) = (reader.short()?, reader.short()?, reader.short()?);
    match (encoding, flags, bits, omitted) {
        (IPV4, 0, WHOLE, 0) => Ok(Tlv::Update { prefix: reader.ipv4_node()?, interval, seqno, metric }),
        (WILDCARD, 0, 0, 0) if metric == INFINITY && seqno == 0 => Ok(Tlv::RetractAll { interval }),
        _ => Err(UNUSED),
    }
}

fn decode_router(reader: &mut Reader<'_>) -> Result<NodeId, Malformed> {
    if reader.word()? != 0 {
        return Err(UNUSED);
    }
    reader.ipv4_node()
}
