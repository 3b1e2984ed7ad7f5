//! TCP, sequence numbers counted in segments, data in one direction.
//!
//! Read RFC 5681 (congestion control) first, then RFC 6298 (retransmission timer). A [`Sender`] stands at a
//! flow's source, a [`Receiver`] at its destination; both are state machines without I/O and clock.
//!
//! | file | what it knows |
//! |---|---|
//! | `params.rs` | every parameter, the senders' names, the profiles |
//! | `sender.rs` | what is sent when: the window, acknowledgements, the timers |
//! | `recovery.rs` | what duplicate and partial ACKs send again |
//! | `congestion/` | `cwnd` and `ssthresh`: a contract, and Reno, Tahoe, Vegas, CUBIC behind it |
//! | `route_failure.rs` | senders that know of route failures: standby, probes, out-of-order detection |
//! | `bus.rs` | TCP-BuS at the nodes of a path: segments kept while the way on is gone |
//! | `ecn.rs` | what marks of congestion do to the window |
//! | `rto.rs` | round-trip estimate, retransmission timeout, back-off policy |
//! | `scoreboard.rs` | what SACK blocks have told, and what RFC 6675 concludes from it |
//! | `backlog.rs` | what the application has handed over, cut into segments |
//! | `receiver.rs` | reassembly, acknowledgements now or later, SACK blocks, time stamps |
//!
//! What is implemented and what is not, and each deviation with its clause, stands in docs/models/tcp.md.

mod backlog;
mod bus;
mod congestion;
mod ecn;
mod params;
mod receiver;
mod recovery;
mod route_failure;
mod rto;
mod scoreboard;
mod sender;
#[cfg(test)]
mod tests;

pub use bus::{Bus, BusAction};
pub use params::{RouteFailureScheme, RtoPolicy, SENDER_NAMES, TcpParams, TcpVariant, WindowReduction};
pub use receiver::{Receiver, ReceiverCounters};
pub use sender::{Sender, SenderCounters};

use smallvec::SmallVec;

use crate::kernel::Time;
use crate::packet::{Ecn, NodeId};

/// Selective acknowledgement blocks: half-open ranges of segment numbers, most recent first (RFC 2018 §4).
pub type SackBlocks = SmallVec<[(u32, u32); 3]>;

/// Half-open ranges of segment numbers in ascending order, which do not touch each other.
pub type SegmentRanges = SmallVec<[(u32, u32); 3]>;

/// What an ACK carries beside numbers; each part is used by the senders that ask for it, and has no meaning for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckSigns {
    /// The time stamp that comes back (RFC 7323 §4.3), [`Time::NEVER`] if there is none.
    pub echo: Time,
    /// The ACK's own number, in order of sending (TCP-DOOR's duplicate sequence number).
    pub count: u32,
    /// Did the segment that it answers overtake, or was it overtaken (TCP-DOOR)?
    pub out_of_order: bool,
    /// ECN-Echo: a segment arrived with a mark, and the sender has not said that it knows (RFC 3168 §6.1.3).
    pub ece: bool,
}

impl Default for AckSigns {
    fn default() -> AckSigns {
        AckSigns { echo: Time::NEVER, count: 0, out_of_order: false, ece: false }
    }
}

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
        /// Congestion window reduced (RFC 3168 §6.1.2).
        cwr: bool,
    },
    /// From receiver to sender.
    Ack {
        /// The number of the next segment that the receiver waits for.
        next: u32,
        /// What it holds beyond that.
        sack: SackBlocks,
        /// What else it says.
        signs: AckSigns,
    },
    /// TCP-BuS's explicit route disconnection notification, from a node on the way to the sender.
    Erdn {
        /// The destination that cannot be reached.
        dst: NodeId,
    },
    /// TCP-BuS's explicit route successful notification, from a node on the way to the sender.
    Ersn {
        /// The destination that can be reached again.
        dst: NodeId,
        /// The segments that were kept on the way and are sent on.
        kept: SegmentRanges,
    },
}

/// What a sender or a receiver asks the network to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Output {
    /// Send this segment to the other end.
    Send {
        /// The segment.
        segment: Segment,
        /// Its length at the IP layer, the IP and TCP headers included.
        bytes: u32,
        /// The ECN field of its IP header.
        ecn: Ecn,
    },
    /// All that the application has handed over is acknowledged.
    Finished,
}
