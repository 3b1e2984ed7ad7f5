//! Packets of ADP: 16 bytes (Dyer 2002, Table 5.2, which gives fields without their order).
//!
//! Data: kind 32, flags (1: an RTP header follows), flow; number; time stamp; message; then the payload.
//! ACK: kind 33, bytes of the vector, flow; number; the time stamp that comes back; packets answered; then
//! the vector, whose first byte has its lowest bits. Flows have two bytes, time stamps are µs, modulo 2³².

use manetlab_core::kernel::Time;
use manetlab_core::wire::adp::Segment;
use manetlab_core::wire::{FlowId, rtp};

use super::kind;
use crate::reader::{Malformed, Reader, put_short, put_word};

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The flow, modulo 2¹⁶.
    pub flow: FlowId,
    /// What ADP says.
    pub segment: Segment,
    /// The RTP header in it, if there is one.
    pub rtp: Option<rtp::Header>,
    /// Bytes of an ACK's vector, at most 4.
    pub vector_bytes: u8,
}

/// Appends the packet, its payload as zeros.
pub fn encode(packet: &Packet, out: &mut Vec<u8>) {
    let micros = |time: Time| (time.0 / 1000) as u32;
    match packet.segment {
        Segment::Data { number, sent, message, payload } => {
            out.extend_from_slice(&[kind::ADP_DATA, packet.rtp.is_some().into()]);
            put_short(out, packet.flow.0 as u16);
            for word in [number, micros(sent), message] {
                put_word(out, word);
            }
            if let Some(header) = &packet.rtp {
                crate::rtp::encode(packet.flow, header, out);
            }
            out.resize(out.len() + payload as usize, 0);
        }
        Segment::Ack { number, count, echo, vector } => {
            let bytes = packet.vector_bytes.min(4);
            out.extend_from_slice(&[kind::ADP_ACK, bytes]);
            put_short(out, packet.flow.0 as u16);
            for word in [number, micros(echo), count] {
                put_word(out, word);
            }
            out.extend_from_slice(&vector.to_le_bytes()[..usize::from(bytes)]);
        }
    }
}

/// The packet.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Packet, Malformed> {
    let mut reader = Reader::new(bytes, "ADP packet");
    let (kind, second, flow) = (reader.byte()?, reader.byte()?, FlowId(reader.short()?.into()));
    let (number, micros, third) = (reader.word()?, reader.word()?, reader.word()?);
    let time = Time(u64::from(micros) * 1000);
    match (kind, second) {
        (kind::ADP_DATA, 0 | 1) => {
            let (rtp, payload) = if second == 1 {
                let (_, header, payload) = crate::rtp::decode(reader.rest())?;
                (Some(header), payload)
            } else {
                (None, reader.rest())
            };
            let segment = Segment::Data { number, sent: time, message: third, payload: payload.len() as u32 };
            Ok(Packet { flow, segment, rtp, vector_bytes: 0 })
        }
        (kind::ADP_ACK, 0..=4) => {
            let mut vector = [0; 4];
            vector[..usize::from(second)].copy_from_slice(reader.take(second.into())?);
            let vector = u32::from_le_bytes(vector);
            let segment = Segment::Ack { number, count: third, echo: time, vector };
            Ok(Packet { flow, segment, rtp: None, vector_bytes: second })
        }
        _ => Err(Malformed::Wrong("an ADP packet with fields that it cannot have")),
    }
}
