//! AODV messages (RFC 3561 §5), in UDP datagrams to port 654.
//!
//! When a request was made ([`Rreq::made`], [`Rrep::made`]) is not on the air; decoded messages have zero
//! there. A hello is a RREP in which destination and originator are the same node and hops are zero (§6.9).
//! The nodes that it hears, if it names them, are extensions (§9) of type 200, which is this project's own.

use std::sync::Arc;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::wire::NodeId;
use manetlab_core::wire::aodv::{Hello, Message, Rerr, Rrep, Rreq, Unreachable};

use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREP_ACK: u8 = 4;
/// Flags of a RREQ (§5.1): G, D and U.
const GRATUITOUS: u16 = 0x2000;
const DESTINATION_ONLY: u16 = 0x1000;
const UNKNOWN: u16 = 0x0800;
/// Flag A of a RREP (§5.2).
const ACKNOWLEDGE: u8 = 0x40;
/// Flag N of a RERR (§5.3).
const NO_DELETE: u8 = 0x80;
/// Extension that names the nodes whose hellos are heard. §9: types of 128 and more may be skipped.
const HEARD: u8 = 200;
/// As many addresses as an extension has room for.
const HEARD_MAX: usize = 63;

/// Appends the message. At most 255 destinations of a RERR have room.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    match message {
        Message::Rreq(request) => encode_rreq(request, out),
        Message::Rrep(reply) => {
            let flags = if reply.acknowledge { ACKNOWLEDGE } else { 0 };
            out.extend_from_slice(&[RREP, flags, 0, reply.hop_count]);
            encode_route(reply.dst, reply.dst_seqno, reply.origin, reply.lifetime, out);
        }
        Message::RrepAck => out.extend_from_slice(&[RREP_ACK, 0]),
        Message::Rerr(error) => encode_rerr(error, out),
        Message::Hello(hello) => {
            out.extend_from_slice(&[RREP, 0, 0, 0]);
            encode_route(hello.node, hello.seqno, hello.node, hello.lifetime, out);
            let Some(heard) = &hello.heard else { return };
            let parts = heard.chunks(HEARD_MAX);
            // Also nodes that hear nobody say so.
            let none = [[].as_slice()];
            for part in parts.chain(none.into_iter().filter(|_| heard.is_empty())) {
                out.extend_from_slice(&[HEARD, 4 * part.len() as u8]);
                part.iter().for_each(|&node| out.extend_from_slice(&address::ipv4(node)));
            }
        }
    }
}

fn encode_rreq(request: &Rreq, out: &mut Vec<u8>) {
    let flag = |is_set: bool, flag: u16| if is_set { flag } else { 0 };
    let flags = flag(request.gratuitous, GRATUITOUS)
        | flag(request.destination_only, DESTINATION_ONLY)
        | flag(request.dst_seqno.is_none(), UNKNOWN);
    out.push(RREQ);
    put_short(out, flags);
    out.push(request.hop_count);
    put_word(out, request.id);
    out.extend_from_slice(&address::ipv4(request.dst));
    put_word(out, request.dst_seqno.unwrap_or(0));
    out.extend_from_slice(&address::ipv4(request.origin));
    put_word(out, request.origin_seqno);
}

/// What RREP and hello have in common (§5.2); the lifetime is in ms.
fn encode_route(dst: NodeId, seqno: u32, origin: NodeId, lifetime: Span, out: &mut Vec<u8>) {
    out.extend_from_slice(&address::ipv4(dst));
    put_word(out, seqno);
    out.extend_from_slice(&address::ipv4(origin));
    put_word(out, u32::try_from(lifetime.0 / 1_000_000).unwrap_or(u32::MAX));
}

fn encode_rerr(error: &Rerr, out: &mut Vec<u8>) {
    let named = &error.unreachable[..error.unreachable.len().min(255)];
    out.extend_from_slice(&[RERR, if error.no_delete { NO_DELETE } else { 0 }, 0, named.len() as u8]);
    for Unreachable { dst, seqno } in named {
        out.extend_from_slice(&address::ipv4(*dst));
        put_word(out, *seqno);
    }
}

/// The message.
///
/// # Errors
/// When it is none, or uses what is not implemented: multicast flags, prefixes, other extensions.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "AODV message");
    let message = match reader.byte()? {
        RREQ => Message::Rreq(decode_rreq(&mut reader)?),
        RREP => decode_rrep(&mut reader)?,
        RERR => Message::Rerr(decode_rerr(&mut reader)?),
        RREP_ACK if reader.byte()? == 0 => Message::RrepAck,
        _ => return Err(Malformed::Wrong("an AODV message of no known type")),
    };
    if reader.rest().is_empty() { Ok(message) } else { Err(Malformed::Wrong("bytes after an AODV message")) }
}

fn decode_rreq(reader: &mut Reader<'_>) -> Result<Rreq, Malformed> {
    let (flags, hop_count, id) = (reader.short()?, reader.byte()?, reader.word()?);
    let (dst, dst_seqno) = (reader.ipv4_node()?, reader.word()?);
    let (origin, origin_seqno) = (reader.ipv4_node()?, reader.word()?);
    if flags & !(GRATUITOUS | DESTINATION_ONLY | UNKNOWN) != 0 {
        return Err(Malformed::Wrong("a RREQ with flags that are not used"));
    }
    Ok(Rreq {
        id,
        origin,
        origin_seqno,
        dst,
        dst_seqno: (flags & UNKNOWN == 0).then_some(dst_seqno),
        hop_count,
        gratuitous: flags & GRATUITOUS != 0,
        destination_only: flags & DESTINATION_ONLY != 0,
        made: Time::ZERO,
    })
}

fn decode_rrep(reader: &mut Reader<'_>) -> Result<Message, Malformed> {
    let (flags, prefix, hop_count) = (reader.byte()?, reader.byte()?, reader.byte()?);
    let (dst, dst_seqno, origin) = (reader.ipv4_node()?, reader.word()?, reader.ipv4_node()?);
    let lifetime = Span(u64::from(reader.word()?) * 1_000_000);
    if flags & !ACKNOWLEDGE != 0 || prefix != 0 {
        return Err(Malformed::Wrong("a RREP with flags that are not used, or with a prefix"));
    }
    let acknowledge = flags & ACKNOWLEDGE != 0;
    if dst == origin && hop_count == 0 && !acknowledge {
        let heard = decode_heard(reader)?;
        return Ok(Message::Hello(Hello { node: dst, seqno: dst_seqno, lifetime, heard }));
    }
    let made = Time::ZERO;
    Ok(Message::Rrep(Rrep { dst, dst_seqno, origin, hop_count, lifetime, acknowledge, made }))
}

fn decode_heard(reader: &mut Reader<'_>) -> Result<Option<Arc<[NodeId]>>, Malformed> {
    let mut heard: Option<Vec<NodeId>> = None;
    while !reader.rest().is_empty() {
        let (kind, length) = (reader.byte()?, reader.byte()?);
        if kind != HEARD || length % 4 != 0 {
            return Err(Malformed::Wrong("an AODV extension that is not used"));
        }
        let nodes = heard.get_or_insert_default();
        for _ in 0..length / 4 {
            nodes.push(reader.ipv4_node()?);
        }
    }
    Ok(heard.map(Into::into))
}

fn decode_rerr(reader: &mut Reader<'_>) -> Result<Rerr, Malformed> {
    let (flags, _, count) = (reader.byte()?, reader.byte()?, reader.byte()?);
    if flags & !NO_DELETE != 0 {
        return Err(Malformed::Wrong("a RERR with flags that are not used"));
    }
    let unreachable = (0..count).map(|_| Ok(Unreachable { dst: reader.ipv4_node()?, seqno: reader.word()? }));
    Ok(Rerr { no_delete: flags != 0, unreachable: unreachable.collect::<Result<_, Malformed>>()? })
}
