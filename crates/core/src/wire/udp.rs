//! UDP (RFC 768) and the messages that its datagrams carry.

use super::rtp;

/// Bytes of a UDP header (RFC 768). ns-2's UDP agent adds none.
pub const UDP_HEADER_BYTES: u32 = 8;

/// What a UDP datagram carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// The number of the message within its flow.
    pub message: u32,
    /// Bytes of the message in this datagram.
    pub payload: u32,
    /// The RTP header before them, if there is one.
    pub rtp: Option<rtp::Header>,
}
