//! What the flows report to the counters: one event for each thing that is counted.

use crate::kernel::Time;
use crate::wire::Packet;

/// Something that happened in a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FlowEvent {
    /// A CBR source made a packet.
    CbrSent,
    /// A CBR packet reached its destination.
    CbrDelivered(Delivery),
    /// A source of messages, or its transport, made a data packet.
    PacketSent,
    /// A data packet with a message, or a part of one, reached its destination.
    PacketDelivered(Delivery),
    /// A TCP data segment reached its destination.
    SegmentDelivered(Delivery),
    /// New data reached a TCP receiver in order.
    Progressed,
    /// A TCP sender's retransmission timer expired.
    TimedOut,
    /// An acknowledgement of new data reached a TCP sender.
    Acknowledged,
}

impl FlowEvent {
    /// When the CBR packet was made that this is about, if it is about one that is new where it is.
    pub fn made(self, now: Time) -> Option<Time> {
        match self {
            FlowEvent::CbrSent => Some(now),
            FlowEvent::CbrDelivered(Delivery { created, is_first: true, .. }) => Some(created),
            _ => None,
        }
    }
}

/// A data packet at its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// When the packet was made.
    pub created: Time,
    /// Links that it crossed.
    pub hops: u8,
    /// Bytes of payload in it.
    pub payload_bytes: u32,
    /// Has no copy of it arrived before?
    pub is_first: bool,
}

impl Delivery {
    /// The arrival of a packet with `payload_bytes`.
    pub fn of(packet: &Packet, payload_bytes: u32, is_first: bool) -> Delivery {
        Delivery { created: packet.created, hops: packet.hops, payload_bytes, is_first }
    }
}
