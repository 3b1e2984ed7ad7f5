//! Packets of PSP: 16 bytes. The text gives what they say, and no format.
//!
//! Data: kind 40, zero, flow; number; the sender's round-trip time; message; then the payload. ACK: kind 41,
//! zero, flow; the highest number that arrived; how long ago; packets sent and packets received since the
//! last ACK, in two bytes each. Flows have two bytes, times are µs; what does not fit is the field's largest
//! number.

use manetlab_core::kernel::Span;
use manetlab_core::wire::FlowId;
use manetlab_core::wire::psp::Segment;

use super::kind;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The flow, modulo 2¹⁶.
    pub flow: FlowId,
    /// What PSP says.
    pub segment: Segment,
}

/// Appends the packet, its payload as zeros.
pub fn encode(packet: &Packet, out: &mut Vec<u8>) {
    let micros = |span: Span| u32::try_from(span.0 / 1000).unwrap_or(u32::MAX);
    let short = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
    let kind = match packet.segment {
        Segment::Data { .. } => kind::PSP_DATA,
        Segment::Ack { .. } => kind::PSP_ACK,
    };
    out.extend_from_slice(&[kind, 0]);
    put_short(out, packet.flow.0 as u16);
    match packet.segment {
        Segment::Data { number, rtt, message, payload } => {
            for word in [number, micros(rtt), message] {
                put_word(out, word);
            }
            out.resize(out.len() + payload as usize, 0);
        }
        Segment::Ack { newest, held, sent, received } => {
            put_word(out, newest);
            put_word(out, micros(held));
            put_short(out, short(sent));
            put_short(out, short(received));
        }
    }
}

/// The packet.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Packet, Malformed> {
    let mut reader = Reader::new(bytes, "PSP packet");
    let (kind, zero, flow) = (reader.byte()?, reader.byte()?, FlowId(reader.short()?.into()));
    let (number, time) = (reader.word()?, Span(u64::from(reader.word()?) * 1000));
    let segment = match (kind, zero) {
        (kind::PSP_DATA, 0) => {
            let message = reader.word()?;
            Segment::Data { number, rtt: time, message, payload: reader.rest().len() as u32 }
        }
        (kind::PSP_ACK, 0) => {
            let (sent, received) = (reader.short()?.into(), reader.short()?.into());
            if !reader.rest().is_empty() {
                return Err(Malformed::Wrong("a PSP acknowledgement that does not end"));
            }
            Segment::Ack { newest: number, held: time, sent, received }
        }
        _ => return Err(Malformed::Wrong("a PSP packet with fields that it cannot have")),
    };
    Ok(Packet { flow, segment })
}
