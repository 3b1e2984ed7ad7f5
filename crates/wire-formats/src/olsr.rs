//! Packets of OLSR (RFC 3626 §3.3, §6.1, §9.1), in UDP datagrams to port 698, with the messages `LQ_HELLO`
//! and `LQ_TC` of olsrd 0.9.8, in which the qualities of the link follow each address.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::olsr::{
    Content, Hello, LinkType, Listed, Message, NeighbourType, Packet, Qualities, Tc, TimeCode,
};

use crate::address;
use crate::reader::{Malformed, Reader, put_short};

/// Message types (RFC 3626 §18.4), and those of olsrd.
const HELLO: u8 = 1;
const TC: u8 = 2;
const LQ_HELLO: u8 = 201;
const LQ_TC: u8 = 202;
/// In the place of the reserved field of a TC, `LQ_TC` has the borders of the addresses that it has; both are
/// this if it has all.
const ALL_ADDRESSES: u16 = 0xffff;

const LINKS: [LinkType; 4] =
    [LinkType::Unspecified, LinkType::Asymmetric, LinkType::Symmetric, LinkType::Lost];
const NEIGHBOURS: [NeighbourType; 3] = [NeighbourType::Not, NeighbourType::Symmetric, NeighbourType::Mpr];

/// Appends the packet. Lengths that do not fit 16 bits are cut off.
pub fn encode(packet: &Packet, out: &mut Vec<u8>) {
    let start = out.len();
    put_short(out, 0);
    put_short(out, packet.number);
    packet.messages.iter().for_each(|message| encode_message(message, out));
    put_length(start, start, out);
}

/// Writes how long all from `start` is to `place`.
fn put_length(start: usize, place: usize, out: &mut [u8]) {
    let length = (out.len() - start) as u16;
    out[place..place + 2].copy_from_slice(&length.to_be_bytes());
}

fn encode_message(message: &Message, out: &mut Vec<u8>) {
    let start = out.len();
    let kind = match &message.content {
        Content::Hello(hello) => {
            if hello.has_qualities {
                LQ_HELLO
            } else {
                HELLO
            }
        }
        Content::Tc(tc) => {
            if tc.has_qualities {
                LQ_TC
            } else {
                TC
            }
        }
    };
    out.extend_from_slice(&[kind, message.validity.0, 0, 0]);
    out.extend_from_slice(&address::ipv4(message.origin));
    out.extend_from_slice(&[message.ttl, message.hops]);
    put_short(out, message.number);
    match &message.content {
        Content::Hello(hello) => encode_hello(hello, out),
        Content::Tc(tc) => {
            put_short(out, tc.ansn);
            put_short(out, if tc.has_qualities { ALL_ADDRESSES } else { 0 });
            for &(node, qualities) in &*tc.advertised {
                encode_entry(node, tc.has_qualities.then_some(qualities), out);
            }
        }
    }
    put_length(start, start + 2, out);
}

fn encode_hello(hello: &Hello, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0, hello.interval.0, hello.willingness]);
    for group in hello.groups() {
        let start = out.len();
        // RFC 3626 §6.1.1: two bits for the link, two for the neighbour.
        let code = group[0].link as u8 | (group[0].neighbour as u8) << 2;
        out.extend_from_slice(&[code, 0, 0, 0]);
        for listed in group {
            encode_entry(listed.node, hello.has_qualities.then_some(listed.qualities), out);
        }
        put_length(start, start + 2, out);
    }
}

fn encode_entry(node: NodeId, qualities: Option<Qualities>, out: &mut Vec<u8>) {
    out.extend_from_slice(&address::ipv4(node));
    if let Some(Qualities { here, there }) = qualities {
        out.extend_from_slice(&[here, there, 0, 0]);
    }
}

/// The packet.
///
/// # Errors
/// When it is none, or has messages that are not used: MID, HNA, and those of other extensions.
pub fn decode(bytes: &[u8]) -> Result<Packet, Malformed> {
    let mut reader = Reader::new(bytes, "OLSR packet");
    let (length, number) = (reader.short()?, reader.short()?);
    if usize::from(length) != bytes.len() {
        return Err(Malformed::Wrong("an OLSR packet with a wrong length"));
    }
    let mut messages = Vec::new();
    while !reader.rest().is_empty() {
        messages.push(decode_message(&mut reader)?);
    }
    if messages.is_empty() {
        return Err(Malformed::Short("OLSR packet"));
    }
    Ok(Packet { number, messages: messages.into() })
}

fn decode_message(reader: &mut Reader<'_>) -> Result<Message, Malformed> {
    let (kind, validity, length) = (reader.byte()?, TimeCode(reader.byte()?), reader.short()?);
    let body = usize::from(length).checked_sub(4).ok_or(Malformed::Short("OLSR message"))?;
    let mut reader = Reader::new(reader.take(body)?, "OLSR message");
    let (origin, ttl, hops, number) = (reader.ipv4_node()?, reader.byte()?, reader.byte()?, reader.short()?);
    let has_qualities = matches!(kind, LQ_HELLO | LQ_TC);
    let content = match kind {
        HELLO | LQ_HELLO => Content::Hello(decode_hello(&mut reader, has_qualities)?),
        TC | LQ_TC => Content::Tc(decode_tc(&mut reader, has_qualities)?),
        _ => return Err(Malformed::Wrong("an OLSR message of a type that is not used")),
    };
    Ok(Message { validity, origin, ttl, hops, number, content })
}

fn decode_hello(reader: &mut Reader<'_>, has_qualities: bool) -> Result<Hello, Malformed> {
    let (reserved, interval, willingness) = (reader.short()?, TimeCode(reader.byte()?), reader.byte()?);
    let mut listed = Vec::new();
    while !reader.rest().is_empty() {
        let (code, zero, length) = (reader.byte()?, reader.byte()?, reader.short()?);
        let length = usize::from(length).checked_sub(4).ok_or(Malformed::Short("group of a HELLO"))?;
        let mut group = Reader::new(reader.take(length)?, "group of a HELLO");
        let wrong = Malformed::Wrong("a group of a HELLO with fields that are not used");
        if code > 0xf || zero != 0 || reserved != 0 {
            return Err(wrong);
        }
        let (link, neighbour) = (LINKS[usize::from(code & 3)], NEIGHBOURS.get(usize::from(code >> 2)));
        let &neighbour = neighbour.ok_or(wrong)?;
        while !group.rest().is_empty() {
            let (node, qualities) = decode_entry(&mut group, has_qualities)?;
            listed.push(Listed { node, link, neighbour, qualities });
        }
    }
    Ok(Hello { interval, willingness, has_qualities, listed: listed.into() })
}

fn decode_tc(reader: &mut Reader<'_>, has_qualities: bool) -> Result<Tc, Malformed> {
    let (ansn, borders) = (reader.short()?, reader.short()?);
    if borders != if has_qualities { ALL_ADDRESSES } else { 0 } {
        return Err(Malformed::Wrong("a TC in parts, or with fields that are not used"));
    }
    let mut advertised = Vec::new();
    while !reader.rest().is_empty() {
        advertised.push(decode_entry(reader, has_qualities)?);
    }
    Ok(Tc { ansn, has_qualities, advertised: advertised.into() })
}

fn decode_entry(reader: &mut Reader<'_>, has_qualities: bool) -> Result<(NodeId, Qualities), Malformed> {
    let node = reader.ipv4_node()?;
    if !has_qualities {
        return Ok((node, Qualities::default()));
    }
    let qualities = Qualities { here: reader.byte()?, there: reader.byte()? };
    if reader.short()? != 0 {
        return Err(Malformed::Wrong("qualities of a link with fields that are not used"));
    }
    Ok((node, qualities))
}
