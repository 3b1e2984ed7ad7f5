//! What goes over the air as bytes: encoders and decoders of all headers and messages.
//!
//! A run keeps headers as typed values (`manetlab_core::wire`) and serialises none. Here they become the
//! bytes that the standards give them, and bytes become the same values again. Protocols whose sources give
//! no format have one of this project's own, which [`own`] and docs/captures.md describe.
//!
//! Encoders append to a vector and cannot fail. Decoders take any bytes whatsoever and never panic: what is
//! not a header is [`Malformed`]. Nothing here opens a file.

pub mod address;
pub mod aodv;
pub mod arp;
pub mod babel;
pub mod batman;
pub mod capture;
mod checksum;
pub mod conversation;
pub mod dot11;
pub mod dsr;
pub mod frame;
pub mod ipv4;
pub mod llc;
pub mod ns2_trace;
pub mod olsr;
pub mod own;
pub mod pcapng;
pub mod radiotap;
mod reader;
pub mod rip;
pub mod rtp;
pub mod stack;
pub mod tcp;
pub mod udp;

pub use reader::Malformed;
