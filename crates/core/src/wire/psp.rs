//! Packets of PSP. The text gives what a header says, and no format (docs/models/psp.md).

use crate::kernel::Span;

/// Bytes of the header.
pub const HEADER_BYTES: u32 = 16;

/// A PSP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segment {
    /// From sender to receiver.
    Data {
        /// Its sequence number, from zero.
        number: u32,
        /// The sender's estimate of the round-trip time.
        rtt: Span,
        /// The message that its payload belongs to.
        message: u32,
        /// Bytes of payload.
        payload: u32,
    },
    /// From receiver to sender, about once in a round-trip time.
    Ack {
        /// The greatest number that has arrived.
        newest: u32,
        /// How long ago it arrived.
        held: Span,
        /// Packets that were sent since the last acknowledgement, as their numbers tell.
        sent: u32,
        /// Packets that have arrived since then.
        received: u32,
    },
}

impl Segment {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Segment::Data { .. } => "psp",
            Segment::Ack { .. } => "psp-ack",
        }
    }
}
