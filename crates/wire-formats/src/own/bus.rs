//! Notifications of TCP-BuS: 20 bytes, and 8 for each range of segments that was kept.
//!
//! Kind 48 (ERDN) or 49 (ERSN), number of ranges, zero (2 bytes); flow; connection within the flow; the
//! destination that cannot be reached, or can be again; zero (4 bytes). A range: the first segment, and the
//! first after it.

use manetlab_core::wire::tcp::SegmentRanges;
use manetlab_core::wire::{ConnectionId, FlowId, NodeId};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_word};

/// A notification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The connection.
    pub connection: ConnectionId,
    /// The destination.
    pub dst: NodeId,
    /// What was kept on the way, in an ERSN; none: it is an ERDN.
    pub kept: Option<SegmentRanges>,
}

/// Appends the notification; at most 255 ranges have room.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let kind = if message.kept.is_some() { kind::ERSN } else { kind::ERDN };
    let kept = message.kept.as_deref().unwrap_or_default();
    let kept = &kept[..kept.len().min(255)];
    out.extend_from_slice(&[kind, kept.len() as u8, 0, 0]);
    put_word(out, message.connection.flow.0);
    put_word(out, message.connection.number);
    out.extend_from_slice(&address::ipv4(message.dst));
    put_word(out, 0);
    for &(first, after) in kept {
        put_word(out, first);
        put_word(out, after);
    }
}

/// The notification.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "TCP-BuS message");
    let (kind, count, zero) = (reader.byte()?, reader.byte()?, reader.short()?);
    let connection = ConnectionId { flow: FlowId(reader.word()?), number: reader.word()? };
    let (dst, last) = (reader.ipv4_node()?, reader.word()?);
    let mut kept = SegmentRanges::new();
    for _ in 0..count {
        kept.push((reader.word()?, reader.word()?));
    }
    let is_known = kind == kind::ERSN || (kind == kind::ERDN && count == 0);
    if !is_known || zero != 0 || last != 0 || !reader.rest().is_empty() {
        return Err(Malformed::Wrong("a TCP-BuS message with fields that it cannot have"));
    }
    Ok(Message { connection, dst, kept: (kind == kind::ERSN).then_some(kept) })
}
