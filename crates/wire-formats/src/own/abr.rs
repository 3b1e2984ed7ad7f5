//! Messages of ABR: a header of 16 bytes, hops of 12 and nodes of 4, after IP.
//!
//! Kind (144 beacon, 145 BQ, 146 LQ, 147 reply, 148 RN\[0\], 149 RN\[1\] to the source, 150 RN\[1\] that
//! erases, 151 RD), links that it may cross, links before its first node, number of nodes, source (4),
//! destination (4), number (4); then, in queries, hops: node (4), ticks (4), load (2), place in the list (2);
//! in others nodes. A run that charges more has zeros after them.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::abr::{Hop, Kind, Message};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

const KINDS: [Kind; 8] =
    [Kind::Beacon, Kind::Bq, Kind::Lq, Kind::Reply, Kind::RnBack, Kind::RnToSource, Kind::RnErase, Kind::Rd];

fn is_query(kind: Kind) -> bool {
    matches!(kind, Kind::Bq | Kind::Lq)
}

/// Appends the message. Of more than 255 nodes the first are told.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let place = KINDS.iter().position(|kind| *kind == message.kind).unwrap_or_default();
    let nodes = if is_query(message.kind) { message.hops.len() } else { message.nodes.len() };
    let count = nodes.min(255);
    out.extend_from_slice(&[kind::ABR[place], message.ttl, message.before, count as u8]);
    out.extend_from_slice(&address::ipv4(message.source));
    out.extend_from_slice(&address::ipv4(message.destination));
    put_word(out, message.number);
    for (place, hop) in message.hops.iter().take(count).enumerate() {
        out.extend_from_slice(&address::ipv4(hop.node));
        put_word(out, hop.ticks);
        put_short(out, hop.load);
        put_short(out, place as u16);
    }
    message.nodes.iter().take(count).for_each(|node| out.extend_from_slice(&address::ipv4(*node)));
}

/// The message; what follows it must be zeros.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "ABR message");
    let first = reader.byte()?;
    let place = kind::ABR.iter().position(|kind| *kind == first);
    let kind = KINDS[place.ok_or(Malformed::Wrong("a kind that ABR has not"))?];
    let (ttl, before, count) = (reader.byte()?, reader.byte()?, reader.byte()?);
    let (source, destination, number) = (reader.ipv4_node()?, reader.ipv4_node()?, reader.word()?);
    let (mut hops, mut nodes) = (Vec::new(), Vec::new());
    for place in 0..count {
        if is_query(kind) {
            hops.push(decode_hop(&mut reader, place)?);
        } else {
            nodes.push(reader.ipv4_node()?);
        }
    }
    if reader.rest().iter().any(|byte| *byte != 0) {
        return Err(Malformed::Wrong("an ABR message with more than its nodes"));
    }
    let (hops, nodes): (_, Vec<NodeId>) = (hops.into(), nodes);
    Ok(Message { kind, ttl, before, source, destination, number, hops, nodes: nodes.into() })
}

fn decode_hop(reader: &mut Reader<'_>, place: u8) -> Result<Hop, Malformed> {
    let hop = Hop { node: reader.ipv4_node()?, ticks: reader.word()?, load: reader.short()? };
    if reader.short()? != u16::from(place) {
        return Err(Malformed::Wrong("an ABR query whose hops are not in order"));
    }
    Ok(hop)
}
