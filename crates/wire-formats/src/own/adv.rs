//! Messages of ADV.
//!
//! An update: kind 1, flags (1: a full update), number of entries (2 bytes); then 8 bytes an entry (Dyer
//! 2002, Table 3.3): destination (4 bytes); the low 21 bits of its sequence number, 8 of the metric, 1 that
//! says whether it is a receiver, 2 of the expected response.
//!
//! A flood, 20 bytes: kind 2 to 5 (INIT-CONNECTION, RECEIVER-ALERT, END-CONNECTION, NON-RECEIVER-ALERT),
//! flags (1: the connection is two-way), hops, zero; originator; its sequence number; the flood's number;
//! the receiver.

use manetlab_core::wire::adv::{Entry, Flood, FloodKind, Message, Response, Update};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// Sequence numbers of entries count modulo this.
pub const SEQNO_MODULUS: u32 = 1 << 21;

const FLOODS: [FloodKind; 4] = [
    FloodKind::InitConnection,
    FloodKind::ReceiverAlert,
    FloodKind::EndConnection,
    FloodKind::NonReceiverAlert,
];
const RESPONSES: [Response; 4] = [Response::Zero, Response::Low, Response::Medium, Response::High];

/// Appends the message.
pub fn encode(message: &Message, out: &mut Vec<u8>) {
    match message {
        Message::Update(update) => {
            out.extend_from_slice(&[kind::ADV_UPDATE, update.full.into()]);
            put_short(out, update.entries.len() as u16);
            for entry in &*update.entries {
                out.extend_from_slice(&address::ipv4(entry.dst));
                put_word(
                    out,
                    (entry.seqno % SEQNO_MODULUS) << 11
                        | u32::from(entry.metric) << 3
                        | u32::from(entry.is_receiver) << 2
                        | entry.expected_response as u32,
                );
            }
        }
        Message::Flood(flood) => {
            let kind = kind::ADV_FLOODS[flood.kind as usize];
            out.extend_from_slice(&[kind, flood.two_way.into(), flood.hops, 0]);
            out.extend_from_slice(&address::ipv4(flood.origin));
            put_word(out, flood.seqno);
            put_word(out, flood.id);
            out.extend_from_slice(&address::ipv4(flood.receiver));
        }
    }
}

/// The message.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut reader = Reader::new(bytes, "ADV message");
    let (kind, flags) = (reader.byte()?, reader.byte()?);
    let wrong = Malformed::Wrong("an ADV message with fields that it cannot have");
    if flags > 1 {
        return Err(wrong);
    }
    let message = if kind == kind::ADV_UPDATE {
        let count = reader.short()?;
        let entries = (0..count).map(|_| decode_entry(&mut reader)).collect::<Result<_, _>>()?;
        Message::Update(Update { full: flags == 1, entries })
    } else {
        let place = kind::ADV_FLOODS.iter().position(|&flood| flood == kind).ok_or(wrong)?;
        let (hops, zero) = (reader.byte()?, reader.byte()?);
        if zero != 0 {
            return Err(wrong);
        }
        Message::Flood(Flood {
            kind: FLOODS[place],
            origin: reader.ipv4_node()?,
            seqno: reader.word()?,
            id: reader.word()?,
            receiver: reader.ipv4_node()?,
            two_way: flags == 1,
            hops,
        })
    };
    if reader.rest().is_empty() { Ok(message) } else { Err(wrong) }
}

fn decode_entry(reader: &mut Reader<'_>) -> Result<Entry, Malformed> {
    let (dst, word) = (reader.ipv4_node()?, reader.word()?);
    Ok(Entry {
        dst,
        seqno: word >> 11,
        metric: (word >> 3) as u8,
        is_receiver: word >> 2 & 1 == 1,
        expected_response: RESPONSES[word as usize & 3],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_responses_stand_at_their_own_index() {
        assert!(FLOODS.iter().enumerate().all(|(place, &kind)| kind as usize == place));
        assert!(RESPONSES.iter().enumerate().all(|(place, &response)| response as usize == place));
    }
}
