//! Messages of ZRP, and the route that its data carries. No source gives their bytes: runs charge the lengths
//! of SWANS, in which a beacon has none and lists say nothing of how long they are.
//!
//! A message: kind 176 to 180, zero (1), a number of links or nodes or zeros (2); then its fields, and last a
//! list of nodes (4 each) up to the end.
//!
//! - 176, beacon: nothing
//! - 177, link state: links that it may still cross; origin (4), number (4); the list is its neighbours
//! - 178, query: number of neighbours that are to bordercast it; number (4), destination (4), these
//!   neighbours; the list is the path
//! - 179, reply: node that is to have it next (4), number of the query (4); the list is the route
//! - 180, error: node that is to have it next (4), ends of the link (8); the list is the route
//!
//! A route: kind 181, the IP protocol of what follows it, number of nodes (2); the nodes.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::zrp::{Back, LinkState, Message, Nodes, Query, SourceRoute};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// Appends the message.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    match message {
        Message::Beacon => put_head(out, 0, 0),
        Message::LinkState(state) => {
            put_head(out, 1, state.ttl as u16);
            put_nodes(out, &[state.origin]);
            put_word(out, state.seqno);
            put_nodes(out, &state.neighbours);
        }
        Message::Query { query, targets } => {
            put_head(out, 2, targets.len() as u16);
            put_word(out, query.id);
            put_nodes(out, &[query.dst]);
            put_nodes(out, targets);
            put_nodes(out, &query.path);
        }
        Message::Reply(reply) => {
            put_head(out, 3, 0);
            put_nodes(out, &[reply.to]);
            put_word(out, reply.content);
            put_nodes(out, &reply.path);
        }
        Message::Error(error) => {
            put_head(out, 4, 0);
            put_nodes(out, &[error.to]);
            put_nodes(out, &error.content);
            put_nodes(out, &error.path);
        }
    }
}

fn put_head(out: &mut Vec<u8>, which: usize, count: u16) {
    out.extend_from_slice(&[kind::ZRP[which], 0]);
    put_short(out, count);
}

fn put_nodes(out: &mut Vec<u8>, nodes: &[NodeId]) {
    nodes.iter().for_each(|node| out.extend_from_slice(&address::ipv4(*node)));
}

/// The message.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "ZRP message");
    let (kind, zero, count) = (reader.byte()?, reader.byte()?, reader.short()?);
    let which = kind::ZRP.iter().position(|known| *known == kind);
    let has_count = matches!(which, Some(1 | 2));
    let wrong = Malformed::Wrong("a ZRP message with fields that it cannot have");
    if zero != 0 || (count != 0 && !has_count) {
        return Err(wrong);
    }
    let message = match which {
        Some(0) if reader.rest().is_empty() => return Ok(Message::Beacon),
        Some(1) => {
            let (origin, seqno) = (reader.ipv4_node()?, reader.word()?);
            Message::LinkState(LinkState { origin, seqno, ttl: count.into(), neighbours: rest(&mut reader)? })
        }
        Some(2) => {
            let (id, dst) = (reader.word()?, reader.ipv4_node()?);
            let targets = nodes(&mut reader, count.into())?;
            Message::Query { query: Query { id, dst, path: rest(&mut reader)? }, targets }
        }
        Some(3) => {
            let (to, content) = (reader.ipv4_node()?, reader.word()?);
            Message::Reply(Back { content, path: rest(&mut reader)?, to })
        }
        Some(4) => {
            let (to, content) = (reader.ipv4_node()?, [reader.ipv4_node()?, reader.ipv4_node()?]);
            Message::Error(Back { content, path: rest(&mut reader)?, to })
        }
        _ => return Err(wrong),
    };
    match &message {
        // The first node of a path is its source.
        Message::Query { query, .. } if query.path.is_empty() => Err(wrong),
        _ => Ok(message),
    }
}

fn nodes(reader: &mut Reader<'_>, count: usize) -> Result<Nodes, Malformed> {
    (0..count).map(|_| reader.ipv4_node()).collect::<Result<Vec<_>, _>>().map(Nodes::from)
}

/// The list up to the end.
fn rest(reader: &mut Reader<'_>) -> Result<Nodes, Malformed> {
    let length = reader.rest().len();
    if length.is_multiple_of(4) {
        nodes(reader, length / 4)
    } else {
        Err(Malformed::Wrong("a ZRP message with a list that ends within a node"))
    }
}

/// Appends a route before a payload of this IP protocol.
pub fn encode_route(header: &SourceRoute, next: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[kind::ZRP_ROUTE, next]);
    put_short(out, header.path.len() as u16);
    put_nodes(out, &header.path);
}

/// The route, the IP protocol of what follows it, and what follows it.
///
/// # Errors
/// When it is none.
pub fn decode_route(bytes: &[u8]) -> Result<(SourceRoute, u8, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "ZRP route");
    let (kind, next, count) = (reader.byte()?, reader.byte()?, reader.short()?);
    if kind != kind::ZRP_ROUTE {
        return Err(Malformed::Wrong("a ZRP route of another kind"));
    }
    let path = nodes(&mut reader, count.into())?;
    Ok((SourceRoute { path }, next, reader.rest()))
}
