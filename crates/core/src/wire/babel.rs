//! Packets of Babel (RFC 8966 §4): lists of TLVs.
//!
//! Every node announces itself alone, so that a prefix is a node, and so is a router-id.

use std::sync::Arc;

use super::ids::NodeId;

/// Bytes of the header of a packet (RFC 8966 §4.2).
pub const PACKET_HEADER_BYTES: u32 = 4;
/// The metric of what cannot be reached, and the cost of a link that carries nothing (RFC 8966 §3.5.2).
pub const INFINITY: u16 = u16::MAX;

/// A piece of a packet (RFC 8966 §4.6). Intervals are in hundredths of a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tlv {
    /// The sender is here.
    Hello {
        /// Its number among the Hellos of its sender.
        seqno: u16,
        /// Until the next one, at most.
        interval: u16,
    },
    /// *I heard you*: how well the sender hears a neighbour.
    Ihu {
        /// The neighbour.
        to: NodeId,
        /// Is its address that of its IPv6 link?
        link_local: bool,
        /// What a packet from it costs.
        rxcost: u16,
        /// Until the next one, at most.
        interval: u16,
    },
    /// Whose the updates are that follow.
    RouterId(NodeId),
    /// Where the updates that follow lead: the sender's address.
    NextHop(NodeId),
    /// A route of the sender.
    Update {
        /// To where.
        prefix: NodeId,
        /// Until the next update, at most.
        interval: u16,
        /// The destination's number.
        seqno: u16,
        /// What it costs; [`INFINITY`] takes the route back.
        metric: u16,
    },
    /// An update that takes all routes of the sender back.
    RetractAll {
        /// Until the next update, at most.
        interval: u16,
    },
    /// Asks for an update of a route, or of all.
    RouteRequest(Option<NodeId>),
    /// Asks a destination to raise its number.
    SeqnoRequest {
        /// The destination.
        prefix: NodeId,
        /// The number wanted.
        seqno: u16,
        /// Hops that the request may go.
        hop_count: u8,
        /// Whose the prefix is.
        router: NodeId,
    },
}

impl Tlv {
    /// Its length in bytes (RFC 8966 §4.6.5 to §4.6.11).
    pub fn bytes(&self) -> u32 {
        match self {
            Tlv::Hello { .. } | Tlv::NextHop(_) | Tlv::RouteRequest(Some(_)) => 8,
            Tlv::Ihu { link_local: true, .. } | Tlv::Update { .. } => 16,
            Tlv::Ihu { .. } | Tlv::RouterId(_) | Tlv::RetractAll { .. } => 12,
            Tlv::RouteRequest(None) => 4,
            Tlv::SeqnoRequest { .. } => 20,
        }
    }

    /// What recordings call a packet with it, if it has nothing more telling.
    fn kind(&self) -> Kind {
        match self {
            Tlv::Hello { .. } | Tlv::Ihu { .. } => Kind::Hello,
            Tlv::RouteRequest(_) | Tlv::SeqnoRequest { .. } => Kind::Request,
            Tlv::RouterId(_) | Tlv::NextHop(_) | Tlv::Update { .. } | Tlv::RetractAll { .. } => Kind::Update,
        }
    }
}

/// What a packet is for, the most telling one last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Hello,
    Request,
    Update,
}

/// TLVs that are sent together.
#[derive(Clone, PartialEq, Debug)]
pub struct Packet {
    /// At least one.
    pub tlvs: Arc<[Tlv]>,
}

impl Packet {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        PACKET_HEADER_BYTES + self.tlvs.iter().map(Tlv::bytes).sum::<u32>()
    }

    /// What recordings call it: by its updates, else by its requests, else `hello`.
    pub fn name(&self) -> &'static str {
        match self.tlvs.iter().map(Tlv::kind).max() {
            Some(Kind::Update) => "update",
            Some(Kind::Request) => "request",
            Some(Kind::Hello) | None => "hello",
        }
    }
}
