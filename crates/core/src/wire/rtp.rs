//! Headers of RTP and reports of RTCP (RFC 3550).

use crate::kernel::Time;

/// Bytes of the fixed header (§5.1).
pub const HEADER_BYTES: u32 = 12;

/// The fields of a packet's header that mean something here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// One more than the packet before.
    pub sequence: u16,
    /// When the frame was made, in ticks of the clock.
    pub timestamp: u32,
    /// Is it the last packet of its frame?
    pub marker: bool,
}

/// What a receiver report says of the one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Of the packets expected since the last report those lost, in 256ths.
    pub fraction_lost: u8,
    /// All that were expected less all that arrived; negative if copies arrived.
    pub cumulative_lost: i32,
    /// The highest sequence number, with the number of wraps in the upper half.
    pub highest: u32,
    /// The interarrival jitter in ticks.
    pub jitter: u32,
    /// LSR and DLSR: the sender's time in the last report that came from it, and how long ago that came, in
    /// 65536ths of a second.
    pub last_sender_report: Option<(u32, u32)>,
}

/// What a sender report says (§6.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderReport {
    /// When it was sent, by the sender's clock (the NTP time stamp).
    pub sent: Time,
    /// The same in ticks of the media's clock.
    pub timestamp: u32,
    /// Packets sent so far.
    pub packets: u32,
    /// Bytes of payload in them, without headers.
    pub octets: u32,
}

/// A packet of RTCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rtcp {
    /// From the receiver.
    Receiver(Report),
    /// From the sender.
    Sender(SenderReport),
    /// From the sender, with its last report: it leaves the session.
    Bye(SenderReport),
}

/// Bytes that a BYE adds to a report (§6.6).
pub const BYE_BYTES: u32 = 8;
