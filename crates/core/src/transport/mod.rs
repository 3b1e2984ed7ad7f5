//! Transport protocols: TCP, ADP, RTP over either datagram protocol, and UDP, which needs no state.

pub mod adp;
pub mod rtp;
pub mod tcp;
