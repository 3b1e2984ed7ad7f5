//! PSP, the packet spacing protocol of Kapadia, Feng and Feng: datagrams at a rate that follows counts of
//! what arrives, and never sent again.
//!
//! Source: the description in a few sentences by the first of this project's papers (its section 2.3). The
//! authors' own text could not be read.
//!
//! **Implemented.** Data with a sequence number and the sender's estimate of the round-trip time; an
//! acknowledgement about once in that time, with the number of packets that have arrived since the last; a
//! sender that begins at its highest rate, spaces packets out if fewer arrive than it sent, and closes up
//! again while none is lost; more space while nothing comes back.
//!
//! **Not implemented.** Retransmissions, which PSP has not.
//!
//! **Deviations.** All numbers, and what is not said above, are decisions: 1 to 8 in docs/models/psp.md.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::{Receiver, ReceiverCounters};
pub use sender::{Sender, SenderCounters};

use crate::params::params;
use crate::wire::IP_HEADER_BYTES;
use crate::wire::psp::{HEADER_BYTES, Segment};

params! {
    /// The parameters of a PSP flow, at both ends.
    pub struct PspParams in "psp" {
        /// Time between packets at the highest rate, with which a flow begins.
        spacing_min_ms: f64 = 2.0, "ms", "assumed: a packet of 1500 bytes at 11 Mb/s", [0.001, 1e5];
        /// The longest time between packets.
        spacing_max_ms: f64 = 1000.0, "ms", "assumed", [0.001, 1e6];
        /// The round-trip time before the first sample.
        rtt_initial_s: f64 = 0.5, "s", "assumed", [0.001, 1e4];
        /// The share of packets that may be lost before the spacing grows.
        tolerated_loss: f64 = 0.05, "", "assumed", [0.0, 1.0];
        /// By what the spacing grows at most at one acknowledgement, and each time that none comes.
        growth_max: f64 = 2.0, "", "assumed", [1.0, 100.0];
        /// By what the spacing is multiplied at an acknowledgement that tells of no loss.
        shrinkage: f64 = 0.9, "", "assumed", [0.01, 1.0];
        /// Round-trip times without an acknowledgement after which the spacing grows, once a round-trip time.
        silence_rtts: f64 = 2.0, "", "assumed", [1.0, 1000.0];
        /// Maximum number of messages that wait at the sender; a new one replaces the oldest. Zero: no limit.
        buffer_frames: u32 = 75, "frame", "as ADP's", [0.0, 1e9];
    }
}

/// What a sender or a receiver asks the network to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send this packet, which has so many bytes at the IP layer, to the other end.
    Send(Segment, u32),
    /// A waiting message was dropped for a newer one.
    Dropped(u32),
}

/// The length at the IP layer of a packet with so much payload.
fn packet_bytes(payload: u32) -> u32 {
    IP_HEADER_BYTES + HEADER_BYTES + payload
}
