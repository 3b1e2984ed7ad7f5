//! Packets of B.A.T.M.A.N. IV: of batman-adv, under EtherType 0x4305 and without an IP header, and of
//! batmand, in UDP datagrams to port 4305.
//!
//! The TVLVs of an originator message of batman-adv are one container of zeros, of the length that a run
//! charges; fewer bytes than its header are zeros.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::batman::{Form, Ogm, Packet, Unicast};

use crate::address;
use crate::llc;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// Packet types of batman-adv, and the version of its formats.
const IV_OGM: u8 = 0x00;
const UNICAST: u8 = 0x40;
const ADV_VERSION: u8 = 15;
/// Flags of its originator messages.
const NOT_BEST: u8 = 0x01;
const DIRECT: u8 = 0x04;
/// Type and version of the container, and the bytes of a container's header.
const CONTAINER: [u8; 2] = [0x02, 1];
const CONTAINER_BYTES: u16 = 4;
/// The version of batmand's formats, and its flags; it has none for an echo.
const DAEMON_VERSION: u8 = 5;
const DAEMON_DIRECT: u8 = 0x40;
const DAEMON_NOT_BEST: u8 = 0x20;

/// Appends the packet, without what carries it.
pub fn encode(packet: &Packet, out: &mut Vec<u8>) {
    packet.ogms.iter().for_each(|ogm| match packet.form {
        Form::Adv { tvlv_bytes } => encode_adv(ogm, tvlv_bytes, out),
        Form::Daemon => encode_daemon(ogm, out),
    });
}

fn encode_adv(ogm: &Ogm, tvlv_bytes: u16, out: &mut Vec<u8>) {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let flags = flag(ogm.is_not_best, NOT_BEST) | flag(ogm.is_direct, DIRECT);
    out.extend_from_slice(&[IV_OGM, ADV_VERSION, ogm.ttl, flags]);
    put_word(out, ogm.seqno);
    out.extend_from_slice(&address::mac(ogm.origin));
    out.extend_from_slice(&address::mac(ogm.previous));
    out.extend_from_slice(&[0, ogm.tq]);
    put_short(out, tvlv_bytes);
    let end = out.len() + usize::from(tvlv_bytes);
    if let Some(length) = tvlv_bytes.checked_sub(CONTAINER_BYTES) {
        out.extend_from_slice(&CONTAINER);
        put_short(out, length);
    }
    out.resize(end, 0);
}

fn encode_daemon(ogm: &Ogm, out: &mut Vec<u8>) {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let flags = flag(ogm.is_direct, DAEMON_DIRECT) | flag(ogm.is_not_best, DAEMON_NOT_BEST);
    out.extend_from_slice(&[DAEMON_VERSION, flags, ogm.ttl, 0]);
    put_short(out, ogm.seqno as u16);
    put_short(out, 0);
    out.extend_from_slice(&address::ipv4(ogm.origin));
    out.extend_from_slice(&address::ipv4(ogm.previous));
    out.extend_from_slice(&[ogm.tq, 0]);
}

/// Appends the headers of a data packet of batman-adv that goes from `src` into the mesh.
pub fn encode_unicast(header: Unicast, src: NodeId, out: &mut Vec<u8>) {
    out.extend_from_slice(&[UNICAST, ADV_VERSION, header.ttl, 0]);
    out.extend_from_slice(&address::mac(header.dst));
    out.extend_from_slice(&address::mac(header.dst));
    out.extend_from_slice(&address::mac(src));
    put_short(out, llc::IPV4);
}

/// What is under the EtherType of batman-adv.
#[derive(Clone, PartialEq, Debug)]
pub enum Decoded<'a> {
    /// Originator messages.
    Ogms(Packet),
    /// The headers of a data packet, and the IP packet behind them.
    Unicast(Unicast, &'a [u8]),
}

/// What is under the EtherType of batman-adv.
///
/// # Errors
/// When it is neither originator messages with equal TVLVs nor a data packet.
pub fn decode(bytes: &[u8]) -> Result<Decoded<'_>, Malformed> {
    let mut reader = Reader::new(bytes, "batman-adv packet");
    if bytes.first() != Some(&UNICAST) {
        return decode_adv(&mut reader).map(Decoded::Ogms);
    }
    let head = [reader.byte()?, reader.byte()?];
    let (ttl, ttvn, dst) = (reader.byte()?, reader.byte()?, reader.mac_node()?);
    let (to, _, ether_type) = (reader.mac_node()?, reader.mac_node()?, reader.short()?);
    if head[1] != ADV_VERSION || ttvn != 0 || to != dst || ether_type != llc::IPV4 {
        return Err(Malformed::Wrong("a data packet of batman-adv with fields that are not used"));
    }
    Ok(Decoded::Unicast(Unicast { ttl, dst }, reader.rest()))
}

fn decode_adv(reader: &mut Reader<'_>) -> Result<Packet, Malformed> {
    let wrong = Malformed::Wrong("an originator message with fields that are not used");
    let mut ogms = Vec::new();
    let mut form = None;
    while ogms.is_empty() || !reader.rest().is_empty() {
        let (kind, version, ttl, flags) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
        let (seqno, origin, previous) = (reader.word()?, reader.mac_node()?, reader.mac_node()?);
        let (zero, tq, tvlv_bytes) = (reader.byte()?, reader.byte()?, reader.short()?);
        reader.take(tvlv_bytes.into())?;
        if kind != IV_OGM || version != ADV_VERSION || flags & !(NOT_BEST | DIRECT) != 0 || zero != 0 {
            return Err(wrong);
        }
        if *form.get_or_insert(tvlv_bytes) != tvlv_bytes {
            return Err(wrong);
        }
        let (is_direct, is_not_best) = (flags & DIRECT != 0, flags & NOT_BEST != 0);
        ogms.push(Ogm { origin, previous, seqno, ttl, tq, is_direct, is_not_best });
    }
    Ok(Packet { form: Form::Adv { tvlv_bytes: form.unwrap_or(0) }, ogms: ogms.into() })
}

/// A packet of batmand.
///
/// # Errors
/// When it is none, or has what is not used: gateways, networks.
pub fn decode_daemon(bytes: &[u8]) -> Result<Packet, Malformed> {
    let mut reader = Reader::new(bytes, "batmand packet");
    let mut ogms = Vec::new();
    while ogms.is_empty() || !reader.rest().is_empty() {
        let (version, flags, ttl, gateway) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
        let (seqno, port) = (u32::from(reader.short()?), reader.short()?);
        let (origin, previous) = (reader.ipv4_node()?, reader.ipv4_node()?);
        let (tq, networks) = (reader.byte()?, reader.byte()?);
        let is_used =
            flags & !(DAEMON_DIRECT | DAEMON_NOT_BEST) == 0 && gateway == 0 && port == 0 && networks == 0;
        if version != DAEMON_VERSION || !is_used {
            return Err(Malformed::Wrong("an originator message of batmand with fields that are not used"));
        }
        let (is_direct, is_not_best) = (flags & DAEMON_DIRECT != 0, flags & DAEMON_NOT_BEST != 0);
        ogms.push(Ogm { origin, previous, seqno, ttl, tq, is_direct, is_not_best });
    }
    Ok(Packet { form: Form::Daemon, ogms: ogms.into() })
}
