//! Messages of DYMO, in UDP datagrams to port 653. The drafts build them of elements, and later of RFC 5444's
//! blocks; these have the same lengths.
//!
//! A request or reply (kinds 80, 81) and a hello (83): kind, links that it may cross, links that it has
//! crossed, length of the header, length of a node, target (4), target's number (2), zeros. A route error
//! (82): kind, links that it may cross, length of the header, length of a node, zeros. Then the nodes:
//! address (4), number (2), zeros.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::dymo::{Content, Known, Lengths, Message, RouteMessage};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_short};

/// Bytes of the fields of a header: of a route error, of all others; and of a node.
const ERROR_FIELDS: usize = 4;
const FIELDS: usize = 11;
const NODE_FIELDS: usize = 6;

/// Appends the message. Fields that have no room in its lengths make it longer.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let Lengths { header, node } = message.lengths;
    let start = out.len();
    match &message.content {
        Content::Rreq(route) => encode_route(kind::DYMO[0], route, message.lengths, out),
        Content::Rrep(route) => encode_route(kind::DYMO[1], route, message.lengths, out),
        Content::Rerr { hop_limit, unreachable } => {
            out.extend_from_slice(&[kind::DYMO[2], *hop_limit, header, node]);
            encode_nodes(unreachable, start, message.lengths, out);
        }
        Content::Hello(sender) => {
            let path = [*sender].into();
            let route =
                RouteMessage { hop_limit: 1, hop_count: 0, target: sender.node, target_seqno: 0, path };
            encode_route(kind::DYMO[3], &route, message.lengths, out);
        }
    }
}

fn encode_route(kind: u8, route: &RouteMessage, lengths: Lengths, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[kind, route.hop_limit, route.hop_count, lengths.header, lengths.node]);
    out.extend_from_slice(&address::ipv4(route.target));
    put_short(out, route.target_seqno);
    encode_nodes(&route.path, start, lengths, out);
}

fn encode_nodes(nodes: &[Known], start: usize, lengths: Lengths, out: &mut Vec<u8>) {
    out.resize(out.len().max(start + usize::from(lengths.header)), 0);
    for known in nodes {
        let end = out.len() + usize::from(lengths.node).max(NODE_FIELDS);
        out.extend_from_slice(&address::ipv4(known.node));
        put_short(out, known.seqno);
        out.resize(end, 0);
    }
}

/// The message.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "DYMO message");
    let kind = reader.byte()?;
    let hop_limit = reader.byte()?;
    if kind == kind::DYMO[2] {
        let lengths = Lengths { header: reader.byte()?, node: reader.byte()? };
        let unreachable = decode_nodes(reader, lengths, ERROR_FIELDS)?.into();
        return Ok(Message { lengths, content: Content::Rerr { hop_limit, unreachable } });
    }
    let hop_count = reader.byte()?;
    let lengths = Lengths { header: reader.byte()?, node: reader.byte()? };
    let (target, target_seqno) = (reader.ipv4_node()?, reader.short()?);
    let path = decode_nodes(reader, lengths, FIELDS)?;
    let content = match kind::DYMO.iter().position(|other| *other == kind) {
        Some(3) => Content::Hello(hello(target, &path)?),
        Some(place) => {
            let route = RouteMessage { hop_limit, hop_count, target, target_seqno, path: path.into() };
            if place == 0 { Content::Rreq(route) } else { Content::Rrep(route) }
        }
        None => return Err(Malformed::Wrong("a kind that DYMO has not")),
    };
    Ok(Message { lengths, content })
}

fn hello(sender: NodeId, path: &[Known]) -> Result<Known, Malformed> {
    match path {
        [known] if known.node == sender => Ok(*known),
        _ => Err(Malformed::Wrong("a DYMO hello that is not of its sender")),
    }
}

fn decode_nodes(mut reader: Reader<'_>, lengths: Lengths, fields: usize) -> Result<Vec<Known>, Malformed> {
    let wrong = Malformed::Wrong("a DYMO message with lengths that it cannot have");
    let zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let padding = usize::from(lengths.header).checked_sub(fields).ok_or(wrong)?;
    let node_padding = usize::from(lengths.node).checked_sub(NODE_FIELDS).ok_or(wrong)?;
    if !zeros(reader.take(padding)?) {
        return Err(wrong);
    }
    let mut nodes = Vec::new();
    while !reader.rest().is_empty() {
        nodes.push(Known { node: reader.ipv4_node()?, seqno: reader.short()? });
        if !zeros(reader.take(node_padding)?) {
            return Err(wrong);
        }
    }
    Ok(nodes)
}
