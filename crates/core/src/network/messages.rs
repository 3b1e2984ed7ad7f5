//! Flows that send messages: a source, what carries its messages, and what becomes of each.

use crate::kernel::{Slot, Span, Time};
use crate::observe::{FlowMeasures, MessageLog, MessageMeasures, MessageSample};
use crate::routing::ConnectionEvent;
use crate::scenario::{FlowKind, Scenario};
use crate::traffic::{Message, Source};
use crate::transport::adp;
use crate::wire::{self, Datagram, Ecn, FlowId, Packet, Payload};

use super::Network;
use super::flows::{TcpFlow, Transport};
use super::rtp::RtpFlow;

/// A flow that sends messages.
pub(super) struct MessageFlow {
    /// None for endless data, which the transport makes itself.
    source: Option<Box<dyn Source>>,
    bearer: Bearer,
    /// Most payload of a packet.
    packet_bytes: u32,
    state: FlowState,
    pub(super) log: MessageLog,
    /// RTP's ends, if the packets are RTP's.
    pub(super) rtp: Option<Box<RtpFlow>>,
}

/// Where a flow is between its first message and its last, as routing is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlowState {
    Unborn,
    Open,
    /// The source has made its last message, which may still wait.
    Ending,
    Closed,
}

/// What carries messages.
pub(super) enum Bearer {
    Udp,
    Adp(Box<AdpFlow>),
    Tcp(Box<TcpFlow>),
}

/// Both endpoints of an ADP flow.
pub(super) struct AdpFlow {
    pub(super) sender: adp::Sender,
    pub(super) receiver: adp::Receiver,
    pub(super) sender_slot: Slot,
    pub(super) receiver_slot: Slot,
    /// Does the sender make its messages itself?
    pub(super) endless: bool,
}

impl MessageFlow {
    /// A flow that has sent nothing.
    pub(super) fn new(
        source: Option<Box<dyn Source>>,
        bearer: Bearer,
        packet_bytes: u32,
        rtp: Option<RtpFlow>,
    ) -> MessageFlow {
        let (state, log) = (FlowState::Unborn, MessageLog::default());
        MessageFlow { source, bearer, packet_bytes, state, log, rtp: rtp.map(Box::new) }
    }

    /// The RTP header of the next packet, with `payload` of this message, if the flow has such headers; and its bytes.
    fn rtp_header(&mut self, now: Time, message: u32, payload: u32) -> (Option<wire::rtp::Header>, u32) {
        let Some(rtp) = &mut self.rtp else { return (None, 0) };
        let (of, made) = self.log.message(message);
        (Some(rtp.header(now, (message, of.bytes, made), payload)), wire::rtp::HEADER_BYTES)
    }

    pub(super) fn tcp(&self) -> Option<&TcpFlow> {
        if let Bearer::Tcp(tcp) = &self.bearer { Some(tcp) } else { None }
    }

    pub(super) fn tcp_mut(&mut self) -> Option<&mut TcpFlow> {
        if let Bearer::Tcp(tcp) = &mut self.bearer { Some(tcp) } else { None }
    }

    /// The flow at this instant, for the time series.
    pub(super) fn sample(&self, flow: u32) -> MessageSample {
        let adp_flow = if let Bearer::Adp(adp_flow) = &self.bearer { Some(adp_flow) } else { None };
        MessageSample {
            flow,
            delivered_messages: self.log.delivered(),
            waiting_messages: match &self.bearer {
                Bearer::Udp => Some(0),
                Bearer::Adp(adp_flow) => Some(adp_flow.sender.waiting().count() as u64),
                Bearer::Tcp(_) => None,
            },
            adp_window_packets: adp_flow.map(|adp_flow| adp_flow.sender.window()),
            adp_tto_s: adp_flow.map(|adp_flow| adp_flow.sender.tto().as_secs()),
        }
    }

    fn two_way(&self) -> bool {
        !matches!(self.bearer, Bearer::Udp) || self.rtp.is_some()
    }
}

impl Network {
    /// The source of a flow of messages is due.
    pub(super) fn wake_message_source(&mut self, id: u32) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let Transport::Messages(messages) = &mut flow.transport else { return };
        let Some(source) = &mut messages.source else {
            self.wake_endless(id);
            return;
        };
        let message = source.handle_timeout();
        let next = source.next_timeout();
        let number = messages.log.make(now, message);
        self.agenda.set(flow.source_slot, next);
        let (dst, two_way) = (flow.dst, messages.two_way());
        let (src, is_first) = (flow.src, messages.state == FlowState::Unborn);
        messages.state = if next == Time::NEVER { FlowState::Ending } else { FlowState::Open };
        if is_first {
            self.tell_routing(src, ConnectionEvent::Opened { dst, two_way });
        }
        self.send_message(id, number, message, next == Time::NEVER);
    }

    /// An endless transfer starts, or stops.
    fn wake_endless(&mut self, id: u32) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let Transport::Messages(messages) = &mut flow.transport else { return };
        let (src, dst) = (flow.src, flow.dst);
        if messages.state == FlowState::Unborn {
            messages.state = FlowState::Open;
            self.agenda.set(flow.source_slot, flow.stop);
            self.tell_routing(src, ConnectionEvent::Opened { dst, two_way: true });
            self.with_adp_sender(id, |sender, out| sender.handle_start(now, out));
        } else {
            messages.state = FlowState::Ending;
            self.with_adp_sender(id, |sender, _| sender.handle_close());
        }
    }

    fn send_message(&mut self, id: u32, number: u32, message: Message, is_last: bool) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let (src, dst) = (flow.src, flow.dst);
        let Transport::Messages(messages) = &mut flow.transport else { return };
        match &mut messages.bearer {
            Bearer::Adp(_) => {
                self.with_adp_sender(id, |sender, out| {
                    sender.handle_message(now, number, message.bytes, out);
                });
            }
            Bearer::Tcp(tcp) => {
                (tcp.started, tcp.ends) = (true, is_last);
                self.with_sender(FlowId(id).into(), |sender, out| {
                    sender.handle_write(now, Some(u64::from(message.bytes)), out);
                });
            }
            Bearer::Udp => {
                let (most, two_way) = (messages.packet_bytes, messages.two_way());
                for at in (0..message.bytes).step_by(most as usize) {
                    let payload = most.min(message.bytes - at);
                    let Transport::Messages(messages) = &mut self.flows[id as usize].transport else {
                        return;
                    };
                    let (rtp, header_bytes) = messages.rtp_header(now, number, payload);
                    let bytes = payload + header_bytes + self.udp_overhead_bytes;
                    self.meter.packet_sent(now, FlowId(id));
                    let datagram = Datagram { message: number, payload, rtp };
                    self.originate(src, dst, bytes, Payload::Datagram(FlowId(id), datagram), Ecn::NotEct);
                }
                self.await_reports(id);
                if is_last {
                    self.say_bye(id);
                    self.tell_routing(src, ConnectionEvent::Closed { dst, two_way });
                }
            }
        }
    }

    /// Calls the flow's ADP sender, if it has one, and carries out what it asks for.
    pub(super) fn with_adp_sender(
        &mut self,
        id: u32,
        call: impl FnOnce(&mut adp::Sender, &mut Vec<adp::Output>),
    ) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let (src, dst) = (flow.src, flow.dst);
        let Transport::Messages(messages) = &mut flow.transport else { return };
        let Bearer::Adp(adp_flow) = &mut messages.bearer else { return };
        let mut outputs = Vec::new();
        call(&mut adp_flow.sender, &mut outputs);
        self.agenda.set(adp_flow.sender_slot, adp_flow.sender.next_timeout());
        let is_empty = adp_flow.sender.waiting().next().is_none();
        let closes = messages.state == FlowState::Ending && is_empty;
        if closes {
            messages.state = FlowState::Closed;
        }
        for output in &outputs {
            match *output {
                adp::Output::Dropped(number) => messages.log.drop(number),
                adp::Output::Send(wire::adp::Segment::Data { payload, .. }, _) if adp_flow.endless => {
                    messages.log.make(now, Message { bytes: payload, frame: None });
                }
                adp::Output::Send(..) => {}
            }
        }
        for output in outputs {
            if let adp::Output::Send(segment, bytes) = output {
                self.meter.packet_sent(now, FlowId(id));
                let Transport::Messages(messages) = &mut self.flows[id as usize].transport else { return };
                let (rtp, header_bytes) = match segment {
                    wire::adp::Segment::Data { message, payload, .. } => {
                        messages.rtp_header(now, message, payload)
                    }
                    wire::adp::Segment::Ack { .. } => (None, 0),
                };
                let payload = Payload::Adp(FlowId(id), segment, rtp);
                self.originate(src, dst, bytes + header_bytes, payload, Ecn::NotEct);
            }
        }
        self.await_reports(id);
        if closes {
            self.say_bye(id);
            self.tell_routing(src, ConnectionEvent::Closed { dst, two_way: true });
        }
    }

    /// Calls the flow's ADP receiver, if it has one, and carries out what it asks for.
    pub(super) fn with_adp_receiver(
        &mut self,
        id: u32,
        call: impl FnOnce(&mut adp::Receiver, &mut Vec<adp::Output>),
    ) {
        let flow = &mut self.flows[id as usize];
        // ACKs go the other way.
        let (src, dst) = (flow.dst, flow.src);
        let Transport::Messages(messages) = &mut flow.transport else { return };
        let Bearer::Adp(adp_flow) = &mut messages.bearer else { return };
        let mut outputs = Vec::new();
        call(&mut adp_flow.receiver, &mut outputs);
        self.agenda.set(adp_flow.receiver_slot, adp_flow.receiver.next_timeout());
        for output in outputs {
            if let adp::Output::Send(segment, bytes) = output {
                self.originate(src, dst, bytes, Payload::Adp(FlowId(id), segment, None), Ecn::NotEct);
            }
        }
    }

    /// A packet of a flow of messages reached its endpoint; `first` if no copy of it had.
    pub(super) fn deliver_message(&mut self, packet: &Packet, first: bool) {
        let now = self.now;
        match &packet.payload {
            Payload::Datagram(id, datagram) => {
                self.hear_rtp(*id, datagram.rtp.as_ref());
                self.take_in(*id, packet, datagram.message, datagram.payload, first);
            }
            Payload::Adp(id, segment @ wire::adp::Segment::Data { message, payload, .. }, rtp) => {
                self.hear_rtp(*id, rtp.as_ref());
                self.take_in(*id, packet, *message, *payload, first);
                self.with_adp_receiver(id.0, |receiver, out| receiver.handle_data(now, segment, out));
            }
            Payload::Adp(id, segment @ wire::adp::Segment::Ack { .. }, _) => {
                self.with_adp_sender(id.0, |sender, out| sender.handle_ack(now, segment, out));
            }
            Payload::Rtcp(id, report) => self.hear_report(*id, report),
            _ => {}
        }
    }

    fn take_in(&mut self, id: FlowId, packet: &Packet, message: u32, payload: u32, first: bool) {
        self.meter.packet_delivered(self.now, id, packet, payload, first);
        if first && let Transport::Messages(messages) = &mut self.flows[id.index()].transport {
            messages.log.arrive(self.now, message, payload);
        }
    }

    /// The measures of a flow of messages.
    pub(super) fn message_measures(
        &self,
        id: u32,
        messages: &MessageFlow,
        scenario: &Scenario,
    ) -> FlowMeasures {
        let warmup = Time::from_secs(scenario.warmup_s);
        let packets = self.meter.cbr_measures(FlowId(id));
        let log = &messages.log;
        let measures = match &messages.bearer {
            Bearer::Udp => {
                let transport = if messages.rtp.is_some() { "rtp-udp" } else { "udp" };
                log.measures(warmup, transport, &[], &packets)
            }
            Bearer::Adp(adp_flow) => {
                let transport = if messages.rtp.is_some() { "rtp-adp" } else { "adp" };
                let waiting: Vec<u32> = adp_flow.sender.waiting().collect();
                MessageMeasures {
                    acks_sent: Some(adp_flow.receiver.counters().acks_sent),
                    timeouts: Some(adp_flow.sender.counters().timeouts),
                    ..log.measures(warmup, transport, &waiting, &packets)
                }
            }
            Bearer::Tcp(tcp) => {
                let start = self.flows[id as usize].start;
                let of_tcp = self.meter.tcp_measures(
                    FlowId(id),
                    start,
                    (tcp.sender.counters(), &tcp.at_warmup.0),
                    (tcp.receiver.counters(), &tcp.at_warmup.1),
                    tcp.completed,
                );
                MessageMeasures {
                    throughput_bps: of_tcp.throughput_bps,
                    timeouts: Some(tcp.sender.counters().timeouts),
                    // TCP loses nothing: what is not delivered waits.
                    ..log.measures(warmup, "tcp", &log.undelivered(), &packets)
                }
            }
        };
        match scenario.flows[id as usize].kind {
            FlowKind::OnOff { .. } => FlowMeasures::OnOff(measures),
            FlowKind::Poisson { .. } => FlowMeasures::Poisson(measures),
            FlowKind::Trace { .. } => FlowMeasures::Trace(measures),
            FlowKind::Video { .. } => {
                let deadline = Span::from_secs(scenario.params.video.playout_deadline_s);
                FlowMeasures::Video(log.video(warmup, deadline, measures))
            }
            FlowKind::Adp {} | FlowKind::Tcp { .. } | FlowKind::Cbr { .. } | FlowKind::Web { .. } => {
                FlowMeasures::Adp(measures)
            }
        }
    }
}
