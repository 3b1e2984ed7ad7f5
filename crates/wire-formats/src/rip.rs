//! Messages of RIP version 2 (RFC 2453 §4), in UDP datagrams to port 520.
//!
//! Each node is a network with a mask of 32 bits. Route tags are zero.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::rip::{Entry, INFINITY, MAX_ENTRIES, Message};

use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

const REQUEST: u8 = 1;
const RESPONSE: u8 = 2;
const VERSION: u8 = 2;
/// The address family of IP, and that of a request for everything (§3.9.1).
const AF_INET: u16 = 2;
const AF_ALL: u16 = 0;

/// Appends the message.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    let command = match message {
        Message::Request => REQUEST,
        Message::Response(_) => RESPONSE,
    };
    out.extend_from_slice(&[command, VERSION, 0, 0]);
    match message {
        Message::Request => {
            put_short(out, AF_ALL);
            out.resize(out.len() + 14, 0);
            put_word(out, INFINITY.into());
        }
        Message::Response(entries) => entries.iter().for_each(|entry| encode_entry(entry, out)),
    }
}

fn encode_entry(entry: &Entry, out: &mut Vec<u8>) {
    put_short(out, AF_INET);
    put_short(out, 0);
    out.extend_from_slice(&address::ipv4(entry.dst));
    put_word(out, u32::MAX);
    out.extend_from_slice(&entry.next_hop.map_or([0; 4], address::ipv4));
    put_word(out, entry.metric.into());
}

/// The message in a datagram.
///
/// # Errors
/// When it is none, or says what no node of this project says.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "RIP message");
    let (command, version) = (reader.byte()?, reader.byte()?);
    if version != VERSION || reader.short()? != 0 {
        return Err(Malformed::Wrong("a version of RIP that is not used"));
    }
    match command {
        REQUEST => {
            let entry = reader.take(20)?;
            let mut whole = Vec::with_capacity(24);
            encode(&Message::Request, &mut whole);
            let is_whole = entry == &whole[4..] && reader.rest().is_empty();
            if is_whole { Ok(Message::Request) } else { Err(Malformed::Wrong("a request for single routes")) }
        }
        RESPONSE => {
            let mut entries = Vec::new();
            while !reader.rest().is_empty() {
                entries.push(decode_entry(&mut reader)?);
            }
            if entries.len() > MAX_ENTRIES {
                return Err(Malformed::Wrong("more routes than a RIP message has room for"));
            }
            Ok(Message::Response(entries.into()))
        }
        _ => Err(Malformed::Wrong("a command of RIP that is not used")),
    }
}

fn decode_entry(reader: &mut Reader<'_>) -> Result<Entry, Malformed> {
    if (reader.short()?, reader.short()?) != (AF_INET, 0) {
        return Err(Malformed::Wrong("a RIP entry that is no route"));
    }
    let dst = node(reader)?.ok_or(Malformed::Wrong("a route to no node"))?;
    if reader.word()? != u32::MAX {
        return Err(Malformed::Wrong("a route to more than one node"));
    }
    let next_hop = node(reader)?;
    let metric = u8::try_from(reader.word()?).map_err(|_| Malformed::Wrong("a RIP metric"))?;
    Ok(Entry { dst, next_hop, metric })
}

/// The node of an address; none of 0.0.0.0.
fn node(reader: &mut Reader<'_>) -> Result<Option<NodeId>, Malformed> {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(reader.take(4)?);
    if bytes == [0; 4] { Ok(None) } else { address::node_of_ipv4(bytes).map(Some) }
}
