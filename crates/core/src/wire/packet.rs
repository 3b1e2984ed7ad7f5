//! IP packets (RFC 791), as far as a run needs them, and what they carry.

use std::sync::Arc;

use super::custom::CustomMessage;
use super::ids::{ConnectionId, FlowId, NodeId};
use super::udp::Datagram;
use super::{adp, adv, aodv, dsdv, dsr, rtp, tcp};
use crate::kernel::Time;

/// Bytes of an IPv4 header without options (RFC 791 §3.1).
pub const IP_HEADER_BYTES: u32 = 20;

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Its transport does not understand marks: congestion drops it.
    #[default]
    NotEct,
    /// Its transport understands marks.
    Ect,
    /// A queue on the way met congestion and marked it.
    Ce,
}

/// One IP packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Packet {
    /// Its number: the same for all copies of one packet, never used twice in a run. The network gives it
    /// out when it first sees the packet; makers leave it at [`Packet::UNNUMBERED`].
    pub uid: u64,
    /// The source address; for a rebroadcast control message the node that sends it on.
    pub src: NodeId,
    /// The destination address.
    pub dst: NodeId,
    /// Hops that it may still go.
    pub ttl: u8,
    /// Links that it has crossed so far.
    pub hops: u8,
    /// Its length in bytes at the IP layer, the IP header included.
    pub bytes: u32,
    /// When it was made.
    pub created: Time,
    /// What it carries.
    pub payload: Payload,
    /// What the IP header says of congestion.
    pub ecn: Ecn,
    /// The DSR options header between IP and the payload, if there is one; `bytes` counts it.
    pub dsr: Option<Arc<dsr::Header>>,
}

/// What an IP packet carries.
#[derive(Clone, PartialEq, Debug)]
pub enum Payload {
    /// A TCP segment of a connection.
    Tcp(ConnectionId, tcp::Segment),
    /// A UDP datagram of a flow, with its number within the flow.
    Udp(FlowId, u64),
    /// A UDP datagram that carries a message of a flow, or a part of one.
    Datagram(FlowId, Datagram),
    /// An ADP packet of a flow, with the RTP header in it, if there is one.
    Adp(FlowId, adp::Segment, Option<rtp::Header>),
    /// A report on an RTP flow, of either end.
    Rtcp(FlowId, rtp::Rtcp),
    /// An AODV message.
    Aodv(aodv::Message),
    /// A DSDV update.
    Dsdv(dsdv::Update),
    /// Nothing but the DSR options header.
    Dsr,
    /// An ADV message.
    Adv(adv::Message),
    /// A message that only its protocol understands.
    Custom(CustomMessage),
}

impl Packet {
    /// The `uid` of a packet that the network has not seen yet.
    pub const UNNUMBERED: u64 = u64::MAX;

    /// A routing protocol's own message, without a number.
    pub fn control(now: Time, src: NodeId, dst: NodeId, ttl: u8, bytes: u32, payload: Payload) -> Packet {
        Packet {
            uid: Packet::UNNUMBERED,
            src,
            dst,
            ttl,
            hops: 0,
            bytes,
            created: now,
            payload,
            ecn: Ecn::NotEct,
            dsr: None,
        }
    }

    /// Shall `node` take it, because it is for this node or for all?
    pub fn is_for(&self, node: NodeId) -> bool {
        self.dst == node || self.dst.is_broadcast()
    }

    /// Is it traffic of a flow, rather than a routing protocol's own message?
    pub fn is_data(&self) -> bool {
        self.flow().is_some()
    }

    /// The flow it belongs to, if it is traffic.
    pub fn flow(&self) -> Option<FlowId> {
        match self.payload {
            Payload::Tcp(connection, _) => Some(connection.flow),
            Payload::Udp(flow, _)
            | Payload::Datagram(flow, _)
            | Payload::Adp(flow, ..)
            | Payload::Rtcp(flow, _) => Some(flow),
            _ => None,
        }
    }

    /// What recordings call it (docs/recording.md).
    pub fn name(&self) -> &'static str {
        match &self.payload {
            Payload::Tcp(_, segment) => segment.name(),
            Payload::Udp(..) => "cbr",
            Payload::Datagram(..) => "udp",
            Payload::Adp(_, segment, _) => segment.name(),
            Payload::Rtcp(..) => "rtcp",
            Payload::Aodv(message) => message.name(),
            Payload::Dsdv(_) => "update",
            Payload::Dsr => self.dsr.as_ref().map_or("dsr", |header| header.name()),
            Payload::Adv(message) => message.name(),
            Payload::Custom(message) => message.name,
        }
    }
}
