//! TCP, sequence numbers counted in segments, data in one direction.
//!
//! Read RFC 5681 (congestion control) first, then RFC 6298 (retransmission timer). A [`Sender`] stands at a
//! flow's source, a [`Receiver`] at its destination; both are state machines without I/O and clock.
//!
//! | file | what it knows |
//! |---|---|
//! | `params.rs` | every parameter, the senders' names, the profiles |
//! | `sender/` | what is sent when: the window, acknowledgements, the timers |
//! | `sender/recovery.rs` | what duplicate and partial ACKs send again |
//! | `sender/own_recovery.rs` | what congestion controls send again that repair losses themselves |
//! | `sender/ecn.rs` | what marks of congestion do to the window |
//! | `sender/spurious.rs` | what was sent again in vain: Eifel, F-RTO |
//! | `sender/persist.rs` | the receiver's window, and the probes of a closed one |
//! | `sender/frozen.rs` | a sender that sends nothing but probes |
//! | `congestion/` | `cwnd` and `ssthresh`: a contract, and Reno, Tahoe, Vegas, CUBIC behind it |
//! | `route_failure/` | what a sender knows of routes: a contract, and ELFN, TCP-F, TCP-BuS, ATCP and others behind it |
//! | `loss_predictor/` | why segments were lost, as sender or receiver guess it |
//! | `rto.rs` | round-trip estimate, retransmission timeout, back-off policy |
//! | `scoreboard.rs` | what SACK blocks have told, and what RFC 6675 or SMART concludes from it |
//! | `order.rs` | in which order segments were sent last, for SMART |
//! | `backlog.rs` | what the application has handed over, cut into segments |
//! | `foresight.rs` | when the receiver of Freeze-TCP will be cut off, by the power of what it hears |
//! | `receiver.rs` | reassembly, the window, acknowledgements now or later, SACK blocks, time stamps |
//!
//! What is implemented and what is not is in docs/models/tcp.md, which also numbers the deviations, 1 to 53,
//! each with its clause.

mod backlog;
mod congestion;
mod foresight;
mod loss_predictor;
mod order;
mod params;
mod receiver;
mod route_failure;
mod rto;
mod scoreboard;
mod sender;
#[cfg(test)]
mod tests;

pub use params::{
    BackoffEnd, BaseStationMode, FreezeForesight, LossPredictor, NamedSender, RouteFailureScheme, RtoPolicy,
    SENDER_NAMES, SENDERS, SplitSender, SpuriousDetection, TcpParams, TcpVariant, VegasRules,
    WindowReduction,
};
pub use receiver::{Receiver, ReceiverCounters};
pub use sender::{Sender, SenderCounters};

use crate::wire::Ecn;
use crate::wire::tcp::Segment;

/// What a sender asks of its flow, and tells it.
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
    /// It has guessed why this segment was lost.
    Judged(Judgement),
    /// New data was acknowledged.
    Acknowledged,
    /// The retransmission timer expired.
    TimedOut,
    /// All that the application has handed over is acknowledged.
    Finished,
}

/// What a receiver asks of its flow, and tells it.
#[derive(Clone, PartialEq, Debug)]
pub enum ReceiverOutput {
    /// Send this ACK to the sender.
    Send {
        /// The ACK.
        segment: Segment,
        /// Its length at the IP layer, the IP and TCP headers included.
        bytes: u32,
        /// The ECN field of its IP header.
        ecn: Ecn,
    },
    /// It has guessed why this segment was lost.
    Judged(Judgement),
    /// New data can be read in order: the bytes so far.
    InOrder(u64),
}

/// Why a segment was lost, as an end of the connection guesses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// The segment.
    pub number: u32,
    /// Congestion, or the radio?
    pub is_congestion: bool,
}
