//! Messages of CEDAR, and the source route of its data. No source gives their formats.
//!
//! A message: kind 160; what it is, 0 to 7 in the order of `Content`; the number of ways that it is still to
//! go; flags (1: the beacon names a dominator); the ways; then its fields. A list of nodes, as a way is one,
//! has the number of its nodes (2 bytes) and their addresses.
//!
//! - beacon: effective degree (2), zero (2), dominator or zeros (4), three lists: neighbours; nodes that are
//!   only heard; core nodes, each followed by the neighbour over which it is
//! - join: nothing
//! - ask, find, found, build, rrep: source (4), target (4), number (4), and then of find the lists of the
//!   core path and of the core nodes that are served, of found the core path, of build the core path and the
//!   route, of rrep the route
//! - rerr: the two ends of the link (8)
//!
//! A source route: kind 161, the IP protocol of what follows it, number of nodes, index of the node that
//! sends the packet; the nodes.

use std::sync::Arc;

use manetlab_core::wire::NodeId;
use manetlab_core::wire::cedar::{Beacon, Content, Message, Near, Nodes, Question, SourceRoute};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// Appends the message.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let (what, flags) = match &message.content {
        Content::Beacon(beacon) => (0, u8::from(beacon.dominator.is_some())),
        Content::Join => (1, 0),
        Content::Ask(_) => (2, 0),
        Content::Find { .. } => (3, 0),
        Content::Found { .. } => (4, 0),
        Content::Build { .. } => (5, 0),
        Content::Reply { .. } => (6, 0),
        Content::Error { .. } => (7, 0),
    };
    out.extend_from_slice(&[kind::CEDAR_MESSAGE, what, message.to.len() as u8, flags]);
    message.to.iter().for_each(|way| put_nodes(out, way));
    match &message.content {
        Content::Beacon(beacon) => put_beacon(out, beacon),
        Content::Join => {}
        Content::Ask(question) => put_question(out, question),
        Content::Find { question, core_path, served: list }
        | Content::Build { question, core_path, route: list } => {
            put_question(out, question);
            put_nodes(out, core_path);
            put_nodes(out, list);
        }
        Content::Found { question, core_path: list } | Content::Reply { question, route: list } => {
            put_question(out, question);
            put_nodes(out, list);
        }
        Content::Error { link } => link.iter().for_each(|node| put_node(out, *node)),
    }
}

fn put_beacon(out: &mut Vec<u8>, beacon: &Beacon) {
    put_short(out, beacon.effective_degree);
    put_short(out, 0);
    match beacon.dominator {
        Some(dominator) => put_node(out, dominator),
        None => put_word(out, 0),
    }
    put_nodes(out, &beacon.neighbours);
    put_nodes(out, &beacon.heard);
    put_nodes(out, &beacon.near.iter().flat_map(|near| [near.core, near.over]).collect::<Vec<_>>());
}

fn put_question(out: &mut Vec<u8>, question: &Question) {
    put_node(out, question.source);
    put_node(out, question.target);
    put_word(out, question.id);
}

fn put_nodes(out: &mut Vec<u8>, nodes: &[NodeId]) {
    put_short(out, nodes.len() as u16);
    nodes.iter().for_each(|node| put_node(out, *node));
}

fn put_node(out: &mut Vec<u8>, node: NodeId) {
    out.extend_from_slice(&address::ipv4(node));
}

/// The message.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "CEDAR message");
    let (kind, what, ways, flags) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
    let wrong = Malformed::Wrong("a CEDAR message with fields that it cannot have");
    if kind != kind::CEDAR_MESSAGE || flags > u8::from(what == 0) {
        return Err(wrong);
    }
    let to = (0..ways).map(|_| nodes(&mut reader)).collect::<Result<_, _>>()?;
    let content = match what {
        0 => Content::Beacon(beacon(&mut reader, flags == 1)?),
        1 => Content::Join,
        2 => Content::Ask(question(&mut reader)?),
        3 => {
            let (question, core_path) = (question(&mut reader)?, nodes(&mut reader)?);
            Content::Find { question, core_path, served: nodes(&mut reader)? }
        }
        4 => Content::Found { question: question(&mut reader)?, core_path: nodes(&mut reader)? },
        5 => {
            let (question, core_path) = (question(&mut reader)?, nodes(&mut reader)?);
            Content::Build { question, core_path, route: nodes(&mut reader)? }
        }
        6 => Content::Reply { question: question(&mut reader)?, route: nodes(&mut reader)? },
        7 => Content::Error { link: [reader.ipv4_node()?, reader.ipv4_node()?] },
        _ => return Err(wrong),
    };
    if reader.rest().is_empty() { Ok(Message { to, content }) } else { Err(wrong) }
}

fn beacon(reader: &mut Reader<'_>, has_dominator: bool) -> Result<Beacon, Malformed> {
    let wrong = Malformed::Wrong("a CEDAR beacon with fields that it cannot have");
    let (effective_degree, zero) = (reader.short()?, reader.short()?);
    let dominator = if has_dominator { Some(reader.ipv4_node()?) } else { None };
    if zero != 0 || (dominator.is_none() && reader.word()? != 0) {
        return Err(wrong);
    }
    let (neighbours, heard, pairs) = (nodes(reader)?, nodes(reader)?, nodes(reader)?);
    let (near, rest) = pairs.as_chunks();
    let near = near.iter().map(|&[core, over]| Near { core, over }).collect();
    if rest.is_empty() {
        Ok(Beacon { effective_degree, dominator, neighbours, heard, near })
    } else {
        Err(wrong)
    }
}

fn question(reader: &mut Reader<'_>) -> Result<Question, Malformed> {
    Ok(Question { source: reader.ipv4_node()?, target: reader.ipv4_node()?, id: reader.word()? })
}

fn nodes(reader: &mut Reader<'_>) -> Result<Nodes, Malformed> {
    let count = reader.short()?;
    (0..count).map(|_| reader.ipv4_node()).collect::<Result<Vec<_>, _>>().map(Arc::from)
}

/// Appends a source route before a payload of this IP protocol.
pub fn encode_route(header: &SourceRoute, next: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[kind::CEDAR_ROUTE, next, header.route.len() as u8, header.at]);
    header.route.iter().for_each(|node| put_node(out, *node));
}

/// The source route, the IP protocol of what follows it, and what follows it.
///
/// # Errors
/// When it is none.
pub fn decode_route(bytes: &[u8]) -> Result<(SourceRoute, u8, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "CEDAR source route");
    let (kind, next, count, at) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
    if kind != kind::CEDAR_ROUTE || at >= count {
        return Err(Malformed::Wrong("a CEDAR source route with fields that it cannot have"));
    }
    let route = (0..count).map(|_| reader.ipv4_node()).collect::<Result<Vec<_>, _>>()?;
    Ok((SourceRoute { route: route.into(), at }, next, reader.rest()))
}
