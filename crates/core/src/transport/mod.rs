//! Transport protocols: TCP, ADP, PSP, RTP over either datagram protocol, and UDP, which needs no state.

pub mod adp;
pub mod psp;
pub mod rtp;
pub mod tcp;
