//! TCP Reno and Tahoe, sequence numbers counted in segments, data in one direction.
//!
//! Read RFC 5681 (congestion control) first, then RFC 6298 (retransmission timer). A [`Sender`] stands at a
//! flow's source, a [`Receiver`] at its destination; both are state machines without I/O and clock.
//!
//! | file | what it knows |
//! |---|---|
//! | `params.rs` | every parameter, the senders' names, the profiles |
//! | `sender.rs` | what is sent when: the window, acknowledgements, loss detection and recovery |
//! | `congestion.rs` | `cwnd` and `ssthresh`: how they open and close |
//! | `rto.rs` | round-trip estimate, retransmission timeout, back-off policy |
//! | `scoreboard.rs` | what SACK blocks have told, and what RFC 6675 concludes from it |
//! | `backlog.rs` | what the application has handed over, cut into segments |
//! | `receiver.rs` | reassembly, acknowledgements now or later, SACK blocks |
//!
//! **Implemented.** Slow start, congestion avoidance, fast retransmit and fast recovery (RFC 5681 §3); Tahoe
//! (Jacobson 1988: fast retransmit, then slow start); at most one fast retransmit per window (RFC 6582 §3.2,
//! step 2); limited transmit (RFC 3042); retransmission timer with exact clock or BSD's integer ticks (RFC
//! 6298), Karn's rule by timing one segment at a time; exponential back-off or the fixed RTO of Dyer and
//! Boppana (MobiHoc 2001); SACK (RFC 2018) with pipe-based recovery (RFC 6675); delayed acknowledgements (RFC
//! 1122 §4.2.3.2); the SYN as segment 0; the restart of the window after idle time (RFC 5681 §4.1).
//!
//! **Not implemented.** Two-way data, the SYN's options and the FIN; flow control beyond a constant window;
//! Nagle's algorithm; ECN; time stamps (RFC 7323); D-SACK; F-RTO; the rescue retransmission (RFC 6675 §4,
//! `NextSeg` rule 4); the reset of the RTO to 3 s after a lost SYN (RFC 6298 §5.7).
//!
//! **Deviations.**
//! * Numbers count segments: each write is cut into full segments and a shorter last one, and segments are
//!   never joined or cut again. ns-2 sends the last one at full length.
//! * RFC 5681 §3.2 step 6: the ACK that ends fast recovery also opens the window by one step, as in 4.4BSD and
//!   ns-2.
//! * RFC 5681 §3.1 bounds growth by the bytes acknowledged; here an ACK opens by at most one segment, which
//!   is the same when an ACK acknowledges whole segments.
//! * RFC 3042 sends unsent data only; here, as in ns-2, whatever is next, which after a timeout may be data
//!   sent before.
//! * RFC 6675 §5.1 lets post-timeout retransmissions use the scoreboard; here a timeout forgets it (RFC 2018
//!   §8) and everything is sent again, as ns-2's `Sack1` does.
//! * ns-2 keeps its timer running while nothing is outstanding. Its one effect, a window of one segment after
//!   idle time, is that of `restart_window`; ns-2 also forbids a fast retransmit of the first segment then.
//! * ns-2's `Sack1` fills a hole as soon as it sees one; RFC 6675 §4 asks for evidence that it is lost first.

mod backlog;
mod congestion;
mod params;
mod receiver;
mod rto;
mod scoreboard;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{RtoPolicy, SENDER_NAMES, TcpParams, TcpVariant, WindowReduction};
pub use receiver::{Receiver, ReceiverCounters};
pub use sender::{Sender, SenderCounters};

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

/// What a sender or a receiver asks the network to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Output {
    /// Send this segment to the other end.
    Send {
        /// The segment.
        segment: Segment,
        /// Its length at the IP layer, the IP and TCP headers included.
        bytes: u32,
    },
    /// All that the application has handed over is acknowledged.
    Finished,
}
