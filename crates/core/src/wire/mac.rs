//! Frames of IEEE 802.11 (1999, clause 7), and what they carry.

use std::rc::Rc;

use super::arp::{ARP_BYTES, ArpMessage};
use super::ids::NodeId;
use super::packet::Packet;
use crate::kernel::Span;

/// Length of an RTS frame in bytes (IEEE 802.11-1999 §7.2.1.1).
pub const RTS_BYTES: u32 = 20;
/// Length of a CTS frame in bytes (IEEE 802.11-1999 §7.2.1.2).
pub const CTS_BYTES: u32 = 14;
/// Length of an ACK frame in bytes (IEEE 802.11-1999 §7.2.1.3).
pub const ACK_BYTES: u32 = 14;

/// What a data frame carries.
#[derive(Clone, PartialEq, Debug)]
pub enum Body {
    /// An IP packet.
    Ip(Packet),
    /// An ARP packet.
    Arp(ArpMessage),
}

impl Body {
    /// The IP packet; none if it is one of ARP's.
    pub fn packet(&self) -> Option<&Packet> {
        if let Body::Ip(packet) = self { Some(packet) } else { None }
    }

    /// Length in bytes, without the MAC header.
    pub fn bytes(&self) -> u32 {
        match self {
            Body::Ip(packet) => packet.bytes,
            Body::Arp(_) => ARP_BYTES,
        }
    }

    /// Is it a routing protocol's own packet?
    pub fn is_routing(&self) -> bool {
        self.class() == Class::Routing
    }

    /// On whose behalf the frame and its RTS, CTS and ACK are on the air.
    pub fn class(&self) -> Class {
        match self {
            Body::Ip(packet) if packet.is_data() => Class::Data,
            Body::Ip(_) => Class::Routing,
            Body::Arp(_) => Class::Arp,
        }
    }
}

/// On whose behalf a frame is on the air; a note for the books, not a header field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Traffic of a flow.
    Data,
    /// A routing protocol's packet.
    Routing,
    /// Address resolution.
    Arp,
}

/// The kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data.
    Data,
    /// Acknowledgement.
    Ack,
}

impl Class {
    /// What recordings call it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Data => "data",
            Class::Routing => "routing",
            Class::Arp => "arp",
        }
    }
}

impl FrameKind {
    /// What recordings call it.
    pub fn name(self) -> &'static str {
        match self {
            FrameKind::Rts => "rts",
            FrameKind::Cts => "cts",
            FrameKind::Data => "data",
            FrameKind::Ack => "ack",
        }
    }
}

/// The rates of 802.11b in bit/s, the slowest first (802.11b-1999 §18.2.3.3: what a PLCP header can name).
pub const DSSS_BPS: [f64; 4] = [1e6, 2e6, 5.5e6, 11e6];

/// The place of a rate among those of 802.11b; none if it is not one of them.
pub fn dsss_place(bps: f64) -> Option<usize> {
    DSSS_BPS.iter().position(|dsss| dsss.total_cmp(&bps).is_eq())
}

/// The rates of OFDM in bit/s, the slowest first (IEEE 802.11-2007 §17.3.2.2).
pub const OFDM_BPS: [f64; 8] = [6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6];

/// The place of a rate among those of OFDM; none if it is not one of them.
pub fn ofdm_place(bps: f64) -> Option<usize> {
    OFDM_BPS.iter().position(|ofdm| ofdm.total_cmp(&bps).is_eq())
}

/// One of the rates of a run, by its place in the MAC's table of them, the slowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Rate(pub u8);

impl Rate {
    /// Its place in the table.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A frame on the air.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// Its kind.
    pub kind: FrameKind,
    /// The transmitter.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The Duration field: how long the medium stays reserved after the frame (§9.2.5.4).
    pub reserves: Span,
    /// The rate of its MAC part, which also decides its preamble (802.11b §18.2.2).
    pub rate: Rate,
    /// Time on the air, preamble included.
    pub airtime: Span,
    /// Length in bytes, MAC header and FCS included.
    pub bytes: u32,
    /// Sequence number of a data frame.
    pub sequence: u16,
    /// On whose behalf it is on the air.
    pub class: Class,
    /// What a data frame carries; the same for all who receive it.
    pub body: Option<Rc<Body>>,
}
