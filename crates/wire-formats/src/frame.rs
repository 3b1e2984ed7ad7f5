//! Whole frames and packets of a run, as bytes.
//!
//! Node numbers become addresses ([`crate::address`]). Flow *n* has the port 49152 + *n* modulo 16384 at both
//! ends of UDP; of TCP it is the destination's, and the source's counts the flow's connections. RTP and RTCP
//! have their ports 5004 and 5005 at one end. The identification of the IP header is the lower half of the
//! packet's number, so that one packet keeps it over all hops. Application data are zeros; the first four
//! bytes of a CBR packet are its number, if it has as many.
//!
//! The bytes are the standards'. A run may charge another length (`Frame::bytes`, `Packet::bytes`), which is
//! for the caller to compare.

use std::collections::BTreeMap;

use manetlab_core::kernel::Time;
use manetlab_core::mac::{Preamble, Timing};
use manetlab_core::scenario::Scenario;
use manetlab_core::transport::tcp::{RouteFailureScheme, TcpParams};
use manetlab_core::wire::batman::Form;
use manetlab_core::wire::insignia::OPTION_BYTES;
use manetlab_core::wire::mac::{Body, Frame, FrameKind};
use manetlab_core::wire::tcp::{AckSigns, SackBlocks, Segment, WHOLE_WINDOW};
use manetlab_core::wire::{
    ConnectionId, Datagram, EthernetFrame, FlowId, IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader,
    adp, rtp,
};

use crate::conversation::Conversation;
use crate::ipv4::protocol;
use crate::tcp::{Door, Flags, Options};
use crate::udp::{
    AODV_PORT, BABEL_PORT, BATMAN_PORT, DYMO_PORT, OLSR_PORT, Ports, RIP_PORT, RTCP_PORT, RTP_PORT,
};
use crate::{aodv, arp, babel, batman, dot11, dsr, ipv4, llc, olsr, own, radiotap, rip, tcp, udp};

/// The first of the ports that flows have, and how many there are (RFC 6335 §6: dynamic ports).
const FIRST_PORT: u16 = 49_152;
const PORTS: u32 = 16_384;
/// The largest window that needs no shift (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 65_535;

/// Turns the frames and packets of one run into bytes. It sees the run's events in their order.
pub struct Encoder {
    rates_bps: Vec<f64>,
    short_preamble: bool,
    udp_header_bytes: u32,
    flow_timeout_s: u16,
    tcp: TcpParams,
    conversations: BTreeMap<ConnectionId, Conversation>,
    /// The sequence number of each node's last data frame.
    sequences: Vec<Option<u16>>,
}

impl Encoder {
    /// Of a run of this scenario.
    pub fn new(scenario: &Scenario) -> Encoder {
        let params = &scenario.params;
        Encoder {
            rates_bps: Timing::new(&params.mac).rates_bps().collect(),
            short_preamble: params.mac.preamble == Preamble::Short,
            udp_header_bytes: params.network.udp_header_bytes,
            flow_timeout_s: params.dsr.flow_timeout_s as u16,
            tcp: params.tcp.clone(),
            conversations: BTreeMap::new(),
            sequences: vec![None; scenario.movement.len()],
        }
    }

    /// A transport endpoint has made a packet. Every packet that is encoded later has been made before.
    pub fn note_made(&mut self, packet: &Packet) {
        if let Payload::Tcp(connection, segment @ Segment::Data { .. }) = &packet.payload {
            self.conversations.entry(*connection).or_default().note(packet.created, segment);
        }
    }

    /// A node begins to transmit a frame: is it a retransmission? All frames are to be noted, in order.
    pub fn note_sent(&mut self, frame: &Frame) -> bool {
        if frame.kind != FrameKind::Data {
            return false;
        }
        let last = &mut self.sequences[frame.from.index()];
        last.replace(frame.sequence) == Some(frame.sequence)
    }

    /// What radiotap says of a frame whose preamble began at `start`.
    pub fn radiotap(&self, start: Time, frame: &Frame, signal_dbm: Option<i8>) -> radiotap::Header {
        let bps = self.rates_bps[frame.rate.index()];
        let body_ns = f64::from(8 * frame.bytes) / bps * 1e9;
        let preamble_ns = frame.airtime.0.saturating_sub(body_ns as u64);
        radiotap::Header {
            tsft_us: (start.0 + preamble_ns) / 1000,
            short_preamble: self.short_preamble && bps >= 2e6,
            rate: (bps / 5e5).clamp(1.0, 255.0) as u8,
            signal_dbm,
        }
    }

    /// Appends a frame without its FCS.
    pub fn frame(&self, frame: &Frame, retry: bool, out: &mut Vec<u8>) {
        let duration_us = frame.reserves.0.div_ceil(1000).min(dot11::MAX_DURATION_US.into()) as u16;
        let &Frame { from, to, sequence, .. } = frame;
        let header = match frame.kind {
            FrameKind::Data => {
                dot11::Header::Data { duration_us, to, from, sequence: sequence & 0xfff, retry }
            }
            FrameKind::Rts => dot11::Header::Rts { duration_us, to, from },
            FrameKind::Cts => dot11::Header::Cts { duration_us, to },
            FrameKind::Ack => dot11::Header::Ack { duration_us, to },
        };
        dot11::encode(header, out);
        if let Some(body) = frame.body.as_deref() {
            llc::encode(ether_type(body), out);
            self.body(body, from, out);
        }
    }

    /// Appends what a data frame carries, as it is at node `at`, without LLC header.
    pub fn body(&self, body: &Body, at: NodeId, out: &mut Vec<u8>) {
        match body {
            Body::Ip(packet) if own::lunar::is_below_ip(packet) => self.below_ip(packet, at, out),
            Body::Ip(packet) if is_batman_adv(packet) => self.batman_adv(packet, out, at),
            Body::Ip(packet) => match from_outside(packet) {
                Some(frame) => out.extend_from_slice(frame.payload()),
                None => self.packet(packet, at, out),
            },
            &Body::Arp(message) => arp::encode(message, out),
        }
    }

    /// Appends a message of LUNAR, or a label and the IP packet behind it.
    fn below_ip(&self, packet: &Packet, at: NodeId, out: &mut Vec<u8>) {
        if let &Payload::Lunar(message) = &packet.payload {
            own::lunar::encode(own::lunar::Header::Message { message, sender: at }, out);
        } else if let Some(label) = packet.label() {
            own::lunar::encode(own::lunar::Header::Label(label.selector), out);
            self.packet(packet, at, out);
        }
    }

    /// Appends messages of batman-adv, or its headers and the IP packet behind them.
    fn batman_adv(&self, packet: &Packet, out: &mut Vec<u8>, at: NodeId) {
        if let Payload::Batman(content) = &packet.payload {
            batman::encode(content, out);
        } else if let Some(&header) = packet.routing_header.as_deref().and_then(RoutingHeader::as_batman) {
            batman::encode_unicast(header, packet.src, out);
            self.packet(packet, at, out);
        }
    }

    /// Appends an IP packet as it is at node `at`, without what LUNAR or batman-adv puts before it.
    pub fn packet(&self, packet: &Packet, at: NodeId, out: &mut Vec<u8>) {
        let start = out.len();
        // Its length and its protocol are known when the rest is there.
        let header_bytes = ipv4::BYTES + packet.service.map_or(0, |_| OPTION_BYTES as usize);
        out.resize(start + header_bytes, 0);
        let next = protocol_of(&packet.payload);
        let next = match packet.routing_header.as_deref() {
            None | Some(RoutingHeader::Lunar(_) | RoutingHeader::Batman(_)) => next,
            Some(RoutingHeader::Dsr(header)) => {
                let place = dsr::Place {
                    src: packet.src,
                    dst: packet.dst,
                    at,
                    hops: packet.hops,
                    flow_timeout_s: self.flow_timeout_s,
                };
                dsr::encode(header, place, next, out)
            }
            Some(RoutingHeader::Cedar(header)) => {
                own::cedar::encode_route(header, next, out);
                protocol::EXPERIMENTAL
            }
            Some(RoutingHeader::Zrp(header)) => {
                own::zrp::encode_route(header, next, out);
                protocol::EXPERIMENTAL
            }
            Some(RoutingHeader::Custom(header)) => {
                let header = own::custom::Header { next, bytes: header.bytes().min(65_535) as u16 };
                own::custom::encode_header(header, out);
                protocol::EXPERIMENTAL
            }
        };
        self.payload(packet, out);
        let header = ipv4::Header {
            total_length: (out.len() - start).min(65_535) as u16,
            identification: packet.uid as u16,
            ttl: packet.ttl,
            protocol: next,
            ecn: packet.ecn,
            src: packet.src,
            dst: packet.dst,
            service: packet.service,
        };
        let mut bytes = Vec::with_capacity(header_bytes);
        ipv4::encode(&header, &mut bytes);
        out[start..start + header_bytes].copy_from_slice(&bytes);
    }

    fn payload(&self, packet: &Packet, out: &mut Vec<u8>) {
        let (src, dst) = (packet.src, packet.dst);
        let option_bytes = packet.service.map_or(0, |_| OPTION_BYTES);
        let header_bytes = option_bytes + packet.routing_header.as_ref().map_or(0, |header| header.bytes());
        // What is charged for, beyond IP and routing.
        let charged = packet.bytes.saturating_sub(IP_HEADER_BYTES + header_bytes);
        match &packet.payload {
            Payload::Tcp(connection, segment) => self.tcp(packet, *connection, segment, out),
            &Payload::Udp(flow, number) => {
                let bytes = charged.saturating_sub(self.udp_header_bytes) as usize;
                udp::encode(src, dst, ports(flow), out, |out| put_numbered(number, bytes, out));
            }
            &Payload::Datagram(flow, Datagram { payload, rtp, .. }) => {
                let own = port(flow.0);
                let ports = if rtp.is_some() { Ports { src: own, dst: RTP_PORT } } else { ports(flow) };
                udp::encode(src, dst, ports, out, |out| {
                    if let Some(header) = &rtp {
                        crate::rtp::encode(flow, header, out);
                    }
                    out.resize(out.len() + payload as usize, 0);
                });
            }
            &Payload::Adp(flow, segment, rtp) => {
                let vector_bytes = charged.saturating_sub(adp::HEADER_BYTES).min(4) as u8;
                own::adp::encode(&own::adp::Packet { flow, segment, rtp, vector_bytes }, out);
            }
            &Payload::Psp(flow, segment) => own::psp::encode(&own::psp::Packet { flow, segment }, out),
            Payload::Rtcp(flow, report) => {
                let ports = match report {
                    rtp::Rtcp::Receiver(_) => Ports { src: RTCP_PORT, dst: port(flow.0) },
                    _ => Ports { src: port(flow.0), dst: RTCP_PORT },
                };
                udp::encode(src, dst, ports, out, |out| crate::rtp::encode_rtcp(*flow, report, out));
            }
            Payload::Aodv(message) => {
                let ports = Ports { src: AODV_PORT, dst: AODV_PORT };
                udp::encode(src, dst, ports, out, |out| aodv::encode(message, out));
            }
            Payload::Dsdv(update) => own::dsdv::encode(update, out),
            Payload::Abr(message) => put_padded(charged, out, |out| own::abr::encode(message, out)),
            Payload::Ssa(message) => put_padded(charged, out, |out| own::ssa::encode(message, out)),
            Payload::Olsr(content) => {
                let ports = Ports { src: OLSR_PORT, dst: OLSR_PORT };
                udp::encode(src, dst, ports, out, |out| olsr::encode(content, out));
            }
            Payload::Babel(content) => {
                let ports = Ports { src: BABEL_PORT, dst: BABEL_PORT };
                udp::encode(src, dst, ports, out, |out| babel::encode(content, out));
            }
            Payload::Batman(content) => {
                let ports = Ports { src: BATMAN_PORT, dst: BATMAN_PORT };
                udp::encode(src, dst, ports, out, |out| batman::encode(content, out));
            }
            Payload::Dymo(message) => {
                let ports = Ports { src: DYMO_PORT, dst: DYMO_PORT };
                udp::encode(src, dst, ports, out, |out| own::dymo::encode(message, out));
            }
            Payload::Rip(message) => {
                let ports = Ports { src: RIP_PORT, dst: RIP_PORT };
                udp::encode(src, dst, ports, out, |out| rip::encode(message, out));
            }
            Payload::Tora(content) => own::tora::encode(content, out),
            Payload::Nothing | Payload::Lunar(_) => {}
            Payload::Adv(message) => own::adv::encode(message, out),
            Payload::Cedar(message) => own::cedar::encode(message, out),
            Payload::Zrp(message) => own::zrp::encode(message, out),
            // No format of reports is published.
            Payload::Insignia(..) | Payload::Custom(_) => own::custom::encode(charged as usize, out),
        }
    }

    fn tcp(&self, packet: &Packet, connection: ConnectionId, segment: &Segment, out: &mut Vec<u8>) {
        let none = Conversation::default();
        let conversation = self.conversations.get(&connection).unwrap_or(&none);
        let ports = (port(connection.number), port(connection.flow.0));
        let (header, payload) = match segment {
            &Segment::Data { number, payload, sent, cwr, .. } => {
                (self.data_header(conversation, ports, (number, sent, cwr)), payload)
            }
            Segment::Ack { next, sack, signs } => {
                (self.ack_header(conversation, ports, packet.created, (*next, sack, *signs)), 0)
            }
            &Segment::Erdn { dst } => {
                return own::bus::encode(&own::bus::Message { connection, dst, kept: None }, out);
            }
            Segment::Ersn { dst, kept } => {
                let message = own::bus::Message { connection, dst: *dst, kept: Some(kept.clone()) };
                return own::bus::encode(&message, out);
            }
        };
        tcp::encode(packet.src, packet.dst, &header, payload as usize, out);
    }

    fn data_header(
        &self,
        conversation: &Conversation,
        (src_port, dst_port): (u16, u16),
        (number, sent, cwr): (u32, Time, bool),
    ) -> tcp::Header {
        let syn = conversation.is_syn(number);
        // RFC 3168 §6.1.1: a SYN that offers ECN has both bits.
        let flags = Flags { syn, ack: !syn, ece: syn && self.tcp.ecn, cwr: cwr || (syn && self.tcp.ecn) };
        let timestamps = self.tcp.timestamps.then(|| (ticks(sent), 0));
        let options = Options { timestamps, ..self.setup_options(syn) };
        let (seq, ack) = (conversation.seq(number), u32::from(!syn));
        let window = self.window(syn, WHOLE_WINDOW);
        tcp::Header { src_port, dst_port, seq, ack, flags, window, options }
    }

    fn ack_header(
        &self,
        conversation: &Conversation,
        (dst_port, src_port): (u16, u16),
        made: Time,
        (next, sack, signs): (u32, &SackBlocks, AckSigns),
    ) -> tcp::Header {
        let syn = conversation.answers_syn(made, next);
        let flags = Flags { syn, ack: true, ece: signs.ece || (syn && self.tcp.ecn), cwr: false };
        let echo = if signs.echo == Time::NEVER { 0 } else { ticks(signs.echo) };
        let is_door = self.tcp.route_failure == RouteFailureScheme::TcpDoor;
        let options = Options {
            timestamps: self.tcp.timestamps.then(|| (ticks(made), echo)),
            sack: sack.iter().map(|&(from, to)| (conversation.seq(from), conversation.seq(to))).collect(),
            door: is_door
                .then_some(Door { count: signs.order.count(), out_of_order: signs.order.is_out_of_order() }),
            ..self.setup_options(syn)
        };
        let (seq, ack) = (u32::from(!syn), conversation.seq(next));
        let window = self.window(syn, signs.window);
        tcp::Header { src_port, dst_port, seq, ack, flags, window, options }
    }

    /// The options of a SYN; none of another segment.
    fn setup_options(&self, syn: bool) -> Options {
        if !syn {
            return Options::default();
        }
        let shift = self.window_shift();
        Options {
            mss: Some(self.tcp.segment_bytes.min(65_535) as u16),
            window_shift: (shift > 0).then_some(shift),
            sack_permitted: self.tcp.sack,
            ..Options::default()
        }
    }

    fn window_bytes(&self, segments: u16) -> u64 {
        let segments = if segments == WHOLE_WINDOW { self.tcp.window } else { segments.into() };
        u64::from(segments) * u64::from(self.tcp.segment_bytes)
    }

    fn window_shift(&self) -> u8 {
        (0..14).find(|shift| self.window_bytes(WHOLE_WINDOW) >> shift <= MAX_WINDOW).unwrap_or(14)
    }

    /// The window is never shifted in a SYN (RFC 7323 §2.2).
    fn window(&self, syn: bool, segments: u16) -> u16 {
        let shift = if syn { 0 } else { self.window_shift() };
        (self.window_bytes(segments) >> shift).min(MAX_WINDOW) as u16
    }
}

/// Does the packet have headers of batman-adv in front of its IP header, or no IP header at all?
fn is_batman_adv(packet: &Packet) -> bool {
    match (&packet.payload, packet.routing_header.as_deref()) {
        (Payload::Batman(content), _) => matches!(content.form, Form::Adv { .. }),
        (_, header) => matches!(header, Some(RoutingHeader::Batman(_))),
    }
}

/// The frame of a program outside the simulation, if that is what the packet is.
fn from_outside(packet: &Packet) -> Option<&EthernetFrame> {
    match &packet.payload {
        Payload::Custom(message) => message.content(),
        _ => None,
    }
}

/// The EtherType of what a data frame carries.
pub fn ether_type(body: &Body) -> u16 {
    match body {
        Body::Ip(packet) if own::lunar::is_below_ip(packet) => llc::EXPERIMENTAL,
        Body::Ip(packet) if is_batman_adv(packet) => llc::BATMAN,
        Body::Ip(packet) => from_outside(packet).map_or(llc::IPV4, EthernetFrame::ether_type),
        Body::Arp(_) => llc::ARP,
    }
}

/// The IP protocol of a packet's payload.
fn protocol_of(payload: &Payload) -> u8 {
    match payload {
        Payload::Tcp(_, Segment::Data { .. } | Segment::Ack { .. }) => protocol::TCP,
        Payload::Udp(..)
        | Payload::Datagram(..)
        | Payload::Rtcp(..)
        | Payload::Aodv(_)
        | Payload::Olsr(_)
        | Payload::Babel(_)
        | Payload::Batman(_)
        | Payload::Dymo(_)
        | Payload::Rip(_) => protocol::UDP,
        Payload::Nothing | Payload::Lunar(_) => protocol::NONE,
        Payload::Tcp(..)
        | Payload::Adp(..)
        | Payload::Psp(..)
        | Payload::Dsdv(_)
        | Payload::Adv(_)
        | Payload::Tora(_)
        | Payload::Ssa(_)
        | Payload::Abr(_)
        | Payload::Cedar(_)
        | Payload::Zrp(_)
        | Payload::Insignia(..)
        | Payload::Custom(_) => protocol::EXPERIMENTAL,
    }
}

/// A time in ticks of the clock for time stamps, 1 ms (RFC 7323 §5.4).
fn ticks(time: Time) -> u32 {
    (time.0 / 1_000_000) as u32
}

fn port(number: u32) -> u16 {
    FIRST_PORT + (number % PORTS) as u16
}

fn ports(flow: FlowId) -> Ports {
    Ports { src: port(flow.0), dst: port(flow.0) }
}

/// Appends a message, and zeros where a run charges more bytes than its format has.
fn put_padded(charged: u32, out: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) {
    let end = out.len() + charged as usize;
    encode(out);
    out.resize(out.len().max(end), 0);
}

fn put_numbered(number: u64, bytes: usize, out: &mut Vec<u8>) {
    let end = out.len() + bytes;
    if bytes >= 4 {
        out.extend_from_slice(&(number as u32).to_be_bytes());
    }
    out.resize(end, 0);
}
