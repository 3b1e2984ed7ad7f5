//! What goes over the air: the types of all headers and messages, one file a protocol.
//!
//! The layers stand on these types, and these types on none of the layers: they import the kernel's time and
//! each other. What a protocol does with a message, and lengths that depend on its parameters, are the
//! protocol's.
//!
//! No header is serialised in a run: its fields are typed values, and its length in bytes is carried beside
//! them. Each file has, in this order, the lengths that a standard fixes, the types, their lengths and their
//! names in recordings. Whatever turns a type into bytes, and bytes into it, belongs below them in the same
//! file.

pub mod abr;
pub mod adp;
pub mod adv;
pub mod airmail;
pub mod aodv;
pub mod arp;
pub mod babel;
pub mod batman;
pub mod cedar;
pub mod congestion;
mod custom;
pub mod density;
pub mod dsdv;
pub mod dsr;
pub mod dymo;
mod ethernet;
mod ids;
pub mod insignia;
pub mod lunar;
pub mod mac;
pub mod olsr;
mod packet;
pub mod psp;
pub mod rip;
pub mod rtp;
pub mod ssa;
pub mod tcp;
pub mod tora;
pub mod tsr;
mod udp;
pub mod zrp;

pub use custom::{CustomHeader, CustomMessage};
pub use ethernet::{ETHERNET_HEADER_BYTES, EthernetFrame};
pub use ids::{ConnectionId, FlowId, NodeId};
pub use packet::{Ecn, IP_HEADER_BYTES, Packet, Payload, RoutingHeader};
pub use udp::{Datagram, UDP_HEADER_BYTES};
