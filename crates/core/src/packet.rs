//! Packets as typed values. Sizes in bytes are carried beside the meaning; no header is serialised in a run.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::kernel::Time;
use crate::routing::{adv, aodv, dsdv, dsr};
use crate::transport::{adp, rtp, tcp};

/// A node: its IP address, its MAC address and its index, which are the same number here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The broadcast address.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// Is this the broadcast address?
    pub fn is_broadcast(self) -> bool {
        self == NodeId::BROADCAST
    }

    /// The index into tables of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a flow of the scenario, from zero, in the order of the scenario's list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The index into tables of flows.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One TCP connection of a flow. A transfer has one, number 0; a Web session has one for each request and one for the
/// replies to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId {
    /// The flow.
    pub flow: FlowId,
    /// Its number within the flow.
    pub number: u32,
}

impl From<FlowId> for ConnectionId {
    /// The only connection of a transfer.
    fn from(flow: FlowId) -> ConnectionId {
        ConnectionId { flow, number: 0 }
    }
}

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

/// A message of a protocol whose messages have no variant of [`Payload`]: one that the caller of a run brings along, or
/// one that does not mind an allocation a message. Copies of a packet share it.
#[derive(Clone)]
pub struct CustomMessage {
    /// What recordings call it.
    pub name: &'static str,
    content: Arc<dyn Any + Send + Sync>,
}

impl CustomMessage {
    /// A message with this content.
    pub fn new(name: &'static str, content: impl Any + Send + Sync) -> CustomMessage {
        CustomMessage { name, content: Arc::new(content) }
    }

    /// The content, if it is of this type.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.downcast_ref()
    }
}

impl PartialEq for CustomMessage {
    /// Equal are the copies of one message.
    fn eq(&self, other: &CustomMessage) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }
}

impl fmt::Debug for CustomMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CustomMessage({})", self.name)
    }
}

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
            Payload::Tcp(_, tcp::Segment::Data { .. }) => "tcp",
            Payload::Tcp(_, tcp::Segment::Ack { .. }) => "ack",
            Payload::Tcp(_, tcp::Segment::Erdn { .. }) => "erdn",
            Payload::Tcp(_, tcp::Segment::Ersn { .. }) => "ersn",
            Payload::Udp(..) => "cbr",
            Payload::Datagram(..) => "udp",
            Payload::Adp(_, adp::Segment::Data { .. }, _) => "adp",
            Payload::Adp(_, adp::Segment::Ack { .. }, _) => "adp-ack",
            Payload::Rtcp(..) => "rtcp",
            Payload::Aodv(message) => match message {
                aodv::Message::Rreq { .. } => "rreq",
                aodv::Message::Rrep { .. } => "rrep",
                aodv::Message::RrepAck => "rrep-ack",
                aodv::Message::Rerr { .. } => "rerr",
                aodv::Message::Hello { .. } => "hello",
            },
            Payload::Dsr => self.dsr.as_ref().map_or("dsr", |header| header.name()),
            Payload::Dsdv(_) | Payload::Adv(adv::Message::Update(_)) => "update",
            Payload::Adv(adv::Message::Flood(flood)) => match flood.kind {
                adv::FloodKind::InitConnection => "init-connection",
                adv::FloodKind::ReceiverAlert => "receiver-alert",
                adv::FloodKind::EndConnection => "end-connection",
                adv::FloodKind::NonReceiverAlert => "non-receiver-alert",
            },
            Payload::Custom(message) => message.name,
        }
    }
}
