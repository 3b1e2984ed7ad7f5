//! TCP, sequence numbers counted in segments.

use smallvec::SmallVec;

use crate::kernel::Time;

/// Selective acknowledgement blocks: half-open ranges of segment numbers, most recent first (RFC 2018 §4).
pub type SackBlocks = SmallVec<[(u32, u32); 3]>;

/// A TCP segment. Numbers count segments, not bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Segment {
    /// From sender to receiver.
    Data {
        /// The segment's number; number 0 is the SYN when connection setup is simulated.
        number: u32,
        /// Bytes of payload, zero in a SYN.
        payload: u32,
        /// When it was handed to IP, for round-trip measurement and connect time.
        sent: Time,
        /// Has this number been sent before?
        retransmission: bool,
    },
    /// From receiver to sender.
    Ack {
        /// The number of the next segment that the receiver waits for.
        next: u32,
        /// What it holds beyond that.
        sack: SackBlocks,
    },
}
