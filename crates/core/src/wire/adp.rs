//! Packets of ADP (Dyer 2002, Table 5.2).

use crate::kernel::Time;

/// Bytes of the header (Dyer 2002, Table 5.2).
pub const HEADER_BYTES: u32 = 16;

/// An ADP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segment {
    /// From sender to receiver.
    Data {
        /// Its sequence number, from zero.
        number: u32,
        /// When it was sent: the header's time stamp.
        sent: Time,
        /// The message that its payload belongs to.
        message: u32,
        /// Bytes of payload.
        payload: u32,
    },
    /// From receiver to sender.
    Ack {
        /// The packet whose arrival it answers.
        number: u32,
        /// Packets that it answers.
        count: u32,
        /// The time stamp of the first of them.
        echo: Time,
        /// Bit *k* − 1 tells that packet `number` − *k* arrived.
        vector: u32,
    },
}

impl Segment {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Segment::Data { .. } => "adp",
            Segment::Ack { .. } => "adp-ack",
        }
    }
}
