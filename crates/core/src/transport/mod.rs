//! Transport protocols: TCP, ADP, RTP over either datagram protocol, and UDP, which needs no state.

pub mod adp;
pub mod rtp;
pub mod tcp;

/// Bytes of a UDP header (RFC 768). ns-2's UDP agent adds none.
pub const UDP_HEADER_BYTES: u32 = 8;
