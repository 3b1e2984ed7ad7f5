//! TCP segments (RFC 9293, 2018, 3168, 7323), numbered by segments and not by bytes, and the messages of
//! TCP-BuS.

use smallvec::SmallVec;

use super::ids::NodeId;
use crate::kernel::Time;

/// Selective acknowledgement blocks: half-open ranges of segment numbers, most recent first (RFC 2018 §4).
pub type SackBlocks = SmallVec<[(u32, u32); 3]>;

/// Half-open ranges of segment numbers in ascending order, which do not touch each other.
pub type SegmentRanges = SmallVec<[(u32, u32); 3]>;

/// The window of a receiver whose application reads at once.
pub const WHOLE_WINDOW: u16 = u16::MAX;

/// An ACK's own number and a flag in one word, as TCP-DOOR's options have them: packets are many, and small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AckOrder(u32);

impl AckOrder {
    const FLAG: u32 = 1 << 31;

    /// The ACK of this number, of which 31 bits are kept; `out_of_order` as in
    /// [`is_out_of_order`](Self::is_out_of_order).
    pub fn new(count: u32, out_of_order: bool) -> AckOrder {
        AckOrder(count & !Self::FLAG | if out_of_order { Self::FLAG } else { 0 })
    }

    /// The ACK's own number, in order of sending (TCP-DOOR's duplicate sequence number).
    pub fn count(self) -> u32 {
        self.0 & !Self::FLAG
    }

    /// Did the segment that it answers overtake, or was it overtaken (TCP-DOOR)?
    pub fn is_out_of_order(self) -> bool {
        self.0 & Self::FLAG != 0
    }
}

/// What an ACK carries beside numbers; each part is used by the senders that ask for it, and has no meaning
/// for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckSigns {
    /// The time stamp that comes back (RFC 7323 §4.3), [`Time::NEVER`] if there is none.
    pub echo: Time,
    /// Its place in the order of ACKs, and what it says of the order of segments.
    pub order: AckOrder,
    /// The segments from `next` on for which the receiver has room (RFC 9293 §3.8.6), [`WHOLE_WINDOW`] if all
    /// of its window is always free.
    pub window: u16,
    /// ECN-Echo: a segment arrived with a mark, and the sender has not said that it knows (RFC 3168 §6.1.3).
    pub ece: bool,
    /// Explicit loss notification: the radio behind a base station lost the segment that the ACK asks for.
    pub eln: bool,
}

impl Default for AckSigns {
    fn default() -> AckSigns {
        AckSigns {
            echo: Time::NEVER,
            order: AckOrder::default(),
            window: WHOLE_WINDOW,
            ece: false,
            eln: false,
        }
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

impl Segment {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Segment::Data { .. } => "tcp",
            Segment::Ack { .. } => "ack",
            Segment::Erdn { .. } => "erdn",
            Segment::Ersn { .. } => "ersn",
        }
    }
}
