//! Messages and labels of LUNAR, between LLC and IP: EtherType 0x88b5 and no IP header.
//!
//! All begin with a selector of the receiving node (8 bytes; zero in a request, which is for all) and a kind.
//!
//! | kind | then | bytes |
//! |---|---|---|
//! | 64, request | links it may cross, 2 zeros; originator, number, target, selector for answers (8), sender
//! | 40 | | 65, reply | 3 zeros; originator, number, selector for data (8), sender | 36 | | 66, data | a
//! zero; the EtherType of what follows (2) | 12 |
//!
//! Originator, number and target have 4 bytes; the sender is its MAC address and 2 zeros. These are the
//! defaults of the lengths that a run charges.

use manetlab_core::wire::lunar::{Message, Rrep, Rreq, Selector, Series};
use manetlab_core::wire::{NodeId, Packet, Payload};

use crate::address;
use crate::llc;
use crate::reader::{Malformed, Reader, put_short, put_word};

const REQUEST: u8 = 64;
const REPLY: u8 = 65;
const DATA: u8 = 66;
const EVERYBODY: Selector = Selector(0);

/// What a packet of LUNAR is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// A message.
    Message {
        /// What it says.
        message: Message,
        /// Who sends it.
        sender: NodeId,
    },
    /// The label of the IP packet that follows.
    Label(Selector),
}

/// Does the packet have a label in front of its IP header, or no IP header at all?
pub fn is_below_ip(packet: &Packet) -> bool {
    packet.label().is_some() || matches!(packet.payload, Payload::Lunar(_))
}

/// Appends it.
pub fn encode(header: Header, out: &mut Vec<u8>) {
    match header {
        Header::Message { message: Message::Rreq(rreq), sender } => {
            put_selector(out, EVERYBODY);
            out.extend_from_slice(&[REQUEST, rreq.hops_left, 0, 0]);
            put_series(out, rreq.series);
            out.extend_from_slice(&address::ipv4(rreq.target));
            put_selector(out, rreq.reply_to);
            put_sender(out, sender);
        }
        Header::Message { message: Message::Rrep(rrep), sender } => {
            put_selector(out, rrep.reply_to);
            out.extend_from_slice(&[REPLY, 0, 0, 0]);
            put_series(out, rrep.series);
            put_selector(out, rrep.forward);
            put_sender(out, sender);
        }
        Header::Label(selector) => {
            put_selector(out, selector);
            out.extend_from_slice(&[DATA, 0]);
            put_short(out, llc::IPV4);
        }
    }
}

/// The header, and the IP packet that follows a label.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "LUNAR packet");
    let wrong = Malformed::Wrong("a LUNAR packet with fields that it cannot have");
    let (selector, kind) = (selector(&mut reader)?, reader.byte()?);
    let (first, second) = (reader.byte()?, reader.short()?);
    if kind == DATA {
        let is_right = first == 0 && second == llc::IPV4;
        return if is_right { Ok((Header::Label(selector), reader.rest())) } else { Err(wrong) };
    }
    let series = Series { origin: reader.ipv4_node()?, number: reader.word()? };
    let message = match kind {
        REQUEST if selector == EVERYBODY => {
            let (target, reply_to) = (reader.ipv4_node()?, self::selector(&mut reader)?);
            Message::Rreq(Rreq { series, target, reply_to, hops_left: first })
        }
        REPLY if first == 0 => {
            Message::Rrep(Rrep { series, reply_to: selector, forward: self::selector(&mut reader)? })
        }
        _ => return Err(wrong),
    };
    let (sender, zeros) = (reader.mac_node()?, reader.short()?);
    let is_right = second == 0 && zeros == 0 && reader.rest().is_empty();
    if is_right { Ok((Header::Message { message, sender }, &[])) } else { Err(wrong) }
}

fn put_selector(out: &mut Vec<u8>, selector: Selector) {
    out.extend_from_slice(&selector.0.to_be_bytes());
}

fn put_series(out: &mut Vec<u8>, series: Series) {
    out.extend_from_slice(&address::ipv4(series.origin));
    put_word(out, series.number);
}

fn put_sender(out: &mut Vec<u8>, sender: NodeId) {
    out.extend_from_slice(&address::mac(sender));
    put_short(out, 0);
}

fn selector(reader: &mut Reader<'_>) -> Result<Selector, Malformed> {
    Ok(Selector(u64::from(reader.word()?) << 32 | u64::from(reader.word()?)))
}
