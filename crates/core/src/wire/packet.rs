//! IP packets (RFC 791), as far as a run needs them, and what they carry.

use std::sync::Arc;

use super::congestion::Notification;
use super::custom::{CustomHeader, CustomMessage};
use super::density::Announcement;
use super::ids::{ConnectionId, FlowId, NodeId};
use super::udp::Datagram;
use super::{
    abr, adp, adv, aodv, babel, batman, cedar, dsdv, dsr, dymo, insignia, lunar, olsr, psp, rip, rtp, ssa,
    tcp, tora, zrp,
};
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
    /// What the option of INSIGNIA says, if it has one; `bytes` counts it.
    pub service: Option<insignia::Service>,
    /// What the routing protocol has put between IP and the payload; `bytes` counts it. Shared by copies,
    /// which are many where a header is large.
    pub routing_header: Option<Arc<RoutingHeader>>,
    /// What the sender announces with it to its neighbours, who take it off; `bytes` counts it.
    pub announcement: Option<Arc<Announcement>>,
}

/// A header of a routing protocol between IP and the payload, on data packets or on its own messages.
#[derive(Clone, PartialEq, Debug)]
pub enum RoutingHeader {
    /// The DSR options header.
    Dsr(dsr::Header),
    /// LUNAR's label.
    Lunar(lunar::Label),
    /// The headers of batman-adv.
    Batman(batman::Unicast),
    /// CEDAR's source route.
    Cedar(cedar::SourceRoute),
    /// ZRP's route.
    Zrp(zrp::SourceRoute),
    /// A header that only its protocol understands.
    Custom(CustomHeader),
}

impl RoutingHeader {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        match self {
            RoutingHeader::Dsr(header) => header.bytes(),
            RoutingHeader::Lunar(label) => label.bytes,
            RoutingHeader::Batman(_) => batman::Unicast::BYTES,
            RoutingHeader::Cedar(route) => route.bytes(),
            RoutingHeader::Zrp(route) => route.bytes(),
            RoutingHeader::Custom(header) => header.bytes(),
        }
    }

    /// What recordings call a packet with nothing but this header.
    pub fn name(&self) -> &'static str {
        match self {
            RoutingHeader::Dsr(header) => header.name(),
            RoutingHeader::Lunar(_) => "label",
            RoutingHeader::Batman(_) => "unicast",
            RoutingHeader::Cedar(_) => "source-route",
            RoutingHeader::Zrp(_) => "route",
            RoutingHeader::Custom(header) => header.name,
        }
    }

    /// The header, if it is DSR's.
    pub fn as_dsr(&self) -> Option<&dsr::Header> {
        match self {
            RoutingHeader::Dsr(header) => Some(header),
            _ => None,
        }
    }

    /// The header, if it is LUNAR's label.
    pub fn as_label(&self) -> Option<&lunar::Label> {
        match self {
            RoutingHeader::Lunar(label) => Some(label),
            _ => None,
        }
    }

    /// The headers, if they are batman-adv's.
    pub fn as_batman(&self) -> Option<&batman::Unicast> {
        match self {
            RoutingHeader::Batman(header) => Some(header),
            _ => None,
        }
    }

    /// The header, if it is CEDAR's.
    pub fn as_cedar(&self) -> Option<&cedar::SourceRoute> {
        match self {
            RoutingHeader::Cedar(route) => Some(route),
            _ => None,
        }
    }

    /// The header, if it is ZRP's.
    pub fn as_zrp(&self) -> Option<&zrp::SourceRoute> {
        match self {
            RoutingHeader::Zrp(route) => Some(route),
            _ => None,
        }
    }

    /// The header, if it is one that only its protocol understands.
    pub fn as_custom(&self) -> Option<&CustomHeader> {
        match self {
            RoutingHeader::Custom(header) => Some(header),
            _ => None,
        }
    }
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
    /// A PSP packet of a flow.
    Psp(FlowId, psp::Segment),
    /// A report on an RTP flow, of either end.
    Rtcp(FlowId, rtp::Rtcp),
    /// A report of INSIGNIA on a flow.
    Insignia(FlowId, insignia::Report),
    /// An AODV message.
    Aodv(aodv::Message),
    /// A DSDV update.
    Dsdv(dsdv::Update),
    /// Nothing: the packet ends with its routing header.
    Nothing,
    /// An ADV message.
    Adv(adv::Message),
    /// A LUNAR message.
    Lunar(lunar::Message),
    /// Messages of OLSR.
    Olsr(olsr::Packet),
    /// Messages of Babel.
    Babel(babel::Packet),
    /// Messages of B.A.T.M.A.N.
    Batman(batman::Packet),
    /// A message of DYMO.
    Dymo(dymo::Message),
    /// A packet of IMEP with messages of TORA.
    Tora(Arc<tora::Packet>),
    /// A message of SSA.
    Ssa(ssa::Message),
    /// A message of ABR.
    Abr(abr::Message),
    /// A message of CEDAR.
    Cedar(Arc<cedar::Message>),
    /// A message of RIP.
    Rip(rip::Message),
    /// A message of ZRP.
    Zrp(Arc<zrp::Message>),
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
            service: None,
            routing_header: None,
            announcement: None,
        }
    }

    /// Puts a routing header on it, in place of the one that it may have; `bytes` changes by their lengths.
    pub fn put_header(&mut self, header: RoutingHeader) {
        self.take_header();
        self.bytes += header.bytes();
        self.routing_header = Some(Arc::new(header));
    }

    /// Takes its routing header off, and the header's length off `bytes`.
    pub fn take_header(&mut self) -> Option<Arc<RoutingHeader>> {
        let header = self.routing_header.take()?;
        self.bytes -= header.bytes();
        Some(header)
    }

    /// Puts an announcement on it, in place of the one that it may have; `bytes` changes by their lengths.
    pub fn put_announcement(&mut self, announcement: Arc<Announcement>) {
        self.take_announcement();
        self.bytes += announcement.bytes();
        self.announcement = Some(announcement);
    }

    /// Takes its announcement off, and the announcement's length off `bytes`.
    pub fn take_announcement(&mut self) -> Option<Arc<Announcement>> {
        let announcement = self.announcement.take()?;
        self.bytes -= announcement.bytes();
        Some(announcement)
    }

    /// Puts the option of INSIGNIA on it, in place of the one that it may have; `bytes` counts it.
    pub fn put_service(&mut self, service: insignia::Service) {
        self.take_service();
        self.bytes += insignia::OPTION_BYTES;
        self.service = Some(service);
    }

    /// Takes the option of INSIGNIA off, and its length off `bytes`.
    pub fn take_service(&mut self) -> Option<insignia::Service> {
        let service = self.service.take()?;
        self.bytes -= insignia::OPTION_BYTES;
        Some(service)
    }

    /// Does it go with a reservation?
    pub fn is_reserved(&self) -> bool {
        self.service.is_some_and(insignia::Service::is_reserved)
    }

    /// Does it carry nothing but an announcement?
    pub fn only_announces(&self) -> bool {
        self.announcement.is_some() && self.payload == Payload::Nothing && self.routing_header.is_none()
    }

    /// What it tells of congestion, if that is what it is for.
    pub fn notification(&self) -> Option<Notification> {
        match &self.payload {
            Payload::Custom(message) => message.content().copied(),
            _ => None,
        }
    }

    /// Is it for what stands around routing, and not for routing?
    pub fn bypasses_routing(&self) -> bool {
        self.only_announces() || self.notification().is_some()
    }

    /// Its DSR options header, if it has one.
    pub fn dsr(&self) -> Option<&dsr::Header> {
        self.routing_header.as_deref().and_then(RoutingHeader::as_dsr)
    }

    /// Its LUNAR label, if it has one.
    pub fn label(&self) -> Option<&lunar::Label> {
        self.routing_header.as_deref().and_then(RoutingHeader::as_label)
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
            | Payload::Psp(flow, _)
            | Payload::Rtcp(flow, _)
            | Payload::Insignia(flow, _) => Some(flow),
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
            Payload::Psp(_, segment) => segment.name(),
            Payload::Rtcp(..) => "rtcp",
            Payload::Insignia(..) => "qos-report",
            Payload::Aodv(message) => message.name(),
            Payload::Dsdv(_) => "update",
            Payload::Nothing if self.only_announces() => "shares",
            Payload::Nothing => self.routing_header.as_ref().map_or("empty", |header| header.name()),
            Payload::Adv(message) => message.name(),
            Payload::Lunar(message) => message.name(),
            Payload::Olsr(packet) => packet.name(),
            Payload::Babel(packet) => packet.name(),
            Payload::Batman(_) => "ogm",
            Payload::Dymo(message) => message.name(),
            Payload::Tora(packet) => packet.name(),
            Payload::Ssa(message) => message.name(),
            Payload::Abr(message) => message.name(),
            Payload::Cedar(message) => message.name(),
            Payload::Rip(message) => message.name(),
            Payload::Zrp(message) => message.name(),
            Payload::Custom(message) => message.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(bytes: u32, content: Vec<u32>) -> RoutingHeader {
        RoutingHeader::Custom(CustomHeader::new("perimeter", bytes, content))
    }

    fn data() -> Packet {
        let payload = Payload::Udp(FlowId(3), 7);
        Packet::control(Time::ZERO, NodeId(1), NodeId(2), 64, 540, payload)
    }

    #[test]
    fn a_header_has_its_bytes_on_the_packet_and_takes_them_away() {
        let mut packet = data();
        packet.put_header(custom(12, vec![4, 5]));
        assert_eq!((packet.bytes, packet.name(), packet.is_data()), (552, "cbr", true));
        packet.put_header(custom(30, vec![]));
        assert_eq!(packet.bytes, 570, "a new header replaces the old one");
        assert_eq!(packet.take_header().map(|header| header.bytes()), Some(30));
        assert_eq!((packet.bytes, packet.take_header()), (540, None));
        assert_eq!(packet, data());
    }

    #[test]
    fn copies_share_a_header_that_only_its_protocol_understands() {
        let mut packet = data();
        packet.put_header(custom(12, vec![4, 5]));
        let copy = packet.clone();
        assert_eq!(copy, packet);
        let header = copy.routing_header.as_deref().and_then(RoutingHeader::as_custom).expect("a header");
        assert_eq!(header.content::<Vec<u32>>(), Some(&vec![4, 5]));
        assert_eq!((header.content::<String>(), copy.dsr()), (None, None));
        packet.put_header(custom(12, vec![4, 5]));
        assert_ne!(copy, packet, "another header, though it says the same");
    }

    #[test]
    fn a_packet_with_nothing_but_a_header_is_named_by_it() {
        let mut packet = Packet { payload: Payload::Nothing, bytes: IP_HEADER_BYTES, ..data() };
        packet.put_header(custom(8, vec![]));
        assert_eq!((packet.name(), packet.is_data(), packet.flow()), ("perimeter", false, None));
        let request = Some(dsr::Request { id: 1, target: NodeId(9), forwarders: 0 });
        packet.put_header(RoutingHeader::Dsr(dsr::Header { request, ..dsr::Header::default() }));
        assert_eq!((packet.name(), packet.bytes), ("rreq", IP_HEADER_BYTES + 12));
    }
}
