//! Messages of SSA: a header of 16 bytes and nodes of 4, after IP.
//!
//! Kind (128 beacon, 129 search, 130 reply, 131 error, 132 erasure), preference (0 strong links only, 1
//! strong ones first, 2 any), links that it may cross, number of nodes, source (4), destination (4), number
//! (4); then the nodes. A run that charges more has zeros after them.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::ssa::{Kind, Message, Preference};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_word};

const KINDS: [Kind; 5] = [Kind::Beacon, Kind::Search, Kind::Reply, Kind::Error, Kind::Erase];
const PREFERENCES: [Preference; 3] = [Preference::StrongOnly, Preference::StrongPreferred, Preference::Any];

/// Appends the message. Of more than 255 nodes the first are told.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let place = KINDS.iter().position(|kind| *kind == message.kind).unwrap_or_default();
    let preference = PREFERENCES.iter().position(|each| *each == message.preference).unwrap_or_default();
    let count = message.nodes.len().min(255);
    out.extend_from_slice(&[kind::SSA[place], preference as u8, message.ttl, count as u8]);
    out.extend_from_slice(&address::ipv4(message.source));
    out.extend_from_slice(&address::ipv4(message.destination));
    put_word(out, message.number);
    message.nodes.iter().take(count).for_each(|node| out.extend_from_slice(&address::ipv4(*node)));
}

/// The message; what follows it must be zeros.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "SSA message");
    let first = reader.byte()?;
    let place = kind::SSA.iter().position(|kind| *kind == first);
    let kind = KINDS[place.ok_or(Malformed::Wrong("a kind that SSA has not"))?];
    let preference = *PREFERENCES
        .get(usize::from(reader.byte()?))
        .ok_or(Malformed::Wrong("a preference that SSA has not"))?;
    let (ttl, count) = (reader.byte()?, reader.byte()?);
    let (source, destination, number) = (reader.ipv4_node()?, reader.ipv4_node()?, reader.word()?);
    let nodes = (0..count).map(|_| reader.ipv4_node()).collect::<Result<Vec<NodeId>, Malformed>>()?;
    if reader.rest().iter().any(|byte| *byte != 0) {
        return Err(Malformed::Wrong("an SSA message with more than its nodes"));
    }
    Ok(Message { kind, preference, ttl, source, destination, number, nodes: nodes.into() })
}
