//! Flows: applications and transport endpoints at both ends.

use smallvec::{SmallVec, smallvec};

use crate::drops::DropReason;
use crate::kernel::{Slot, Time};
use crate::observe::RecordKind;
use crate::routing::{ConnectionEvent, Notice};
use crate::traffic::CbrSource;
use crate::transport::tcp::{Output, Receiver, ReceiverCounters, Sender, SenderCounters};
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, Ecn, FlowId, IP_HEADER_BYTES, NodeId, Packet, Payload};

use super::Network;
use super::messages::MessageFlow;
use super::web::{self, WebFlow};

/// One flow at work.
pub(super) struct Flow {
    pub(super) src: NodeId,
    pub(super) dst: NodeId,
    pub(super) start: Time,
    pub(super) stop: Time,
    pub(super) source_slot: Slot,
    pub(super) transport: Transport,
}

/// The endpoints of a flow.
pub(super) enum Transport {
    Tcp(Box<TcpFlow>),
    Cbr(Box<CbrFlow>),
    Messages(Box<MessageFlow>),
    Web(Box<WebFlow>),
}

impl Flow {
    /// Where a connection of the flow comes from and goes to.
    pub(super) fn ends(&self, number: u32) -> (NodeId, NodeId) {
        let is_reply = matches!(self.transport, Transport::Web(_)) && web::is_reply(number);
        web::directed(self.src, self.dst, is_reply)
    }
}

impl Transport {
    /// The TCP endpoints of the flow's only connection, if it has one.
    pub(super) fn tcp(&self) -> Option<&TcpFlow> {
        match self {
            Transport::Tcp(tcp) => Some(tcp),
            Transport::Messages(messages) => messages.tcp(),
            Transport::Cbr(_) | Transport::Web(_) => None,
        }
    }

    /// The TCP endpoints of a connection, if it is there.
    pub(super) fn tcp_mut(&mut self, number: u32) -> Option<&mut TcpFlow> {
        match self {
            Transport::Tcp(tcp) => Some(tcp),
            Transport::Messages(messages) => messages.tcp_mut(),
            Transport::Web(web) => web.tcp_mut(number),
            Transport::Cbr(_) => None,
        }
    }

    /// The numbers of the connections that are there.
    fn connections(&self) -> SmallVec<[u32; 4]> {
        match self {
            Transport::Web(web) => web.connections().map(|(number, _)| number).collect(),
            _ => smallvec![0],
        }
    }
}

/// The source of a CBR flow; its destination has no state.
pub(super) struct CbrFlow {
    pub(super) source: CbrSource,
    pub(super) payload_bytes: u32,
    pub(super) next_number: u64,
}

/// Both endpoints of a TCP flow.
pub(super) struct TcpFlow {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) sender_slot: Slot,
    pub(super) receiver_slot: Slot,
    pub(super) bytes: Option<u64>,
    pub(super) started: bool,
    /// Is all data handed over, so that the transfer is over when it is acknowledged?
    pub(super) ends: bool,
    pub(super) completed: Option<Time>,
    /// The counters when the warm-up ended.
    pub(super) at_warmup: (SenderCounters, ReceiverCounters),
}

impl TcpFlow {
    /// Endpoints that have done nothing, with `bytes` to transfer and the slots of sender and receiver.
    pub(super) fn new(
        sender: Sender,
        receiver: Receiver,
        (sender_slot, receiver_slot): (Slot, Slot),
        bytes: Option<u64>,
    ) -> TcpFlow {
        TcpFlow {
            sender,
            receiver,
            sender_slot,
            receiver_slot,
            bytes,
            started: false,
            ends: true,
            completed: None,
            at_warmup: (SenderCounters::default(), ReceiverCounters::default()),
        }
    }
}

impl Network {
    /// The application of a flow is due: the transfer starts or stops, or the next CBR packet is made.
    pub(super) fn wake_source(&mut self, id: u32) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        match &mut flow.transport {
            Transport::Tcp(tcp) if tcp.started => {
                tcp.sender.handle_close();
            }
            Transport::Tcp(tcp) => {
                tcp.started = true;
                self.agenda.set(flow.source_slot, flow.stop);
                let bytes = tcp.bytes;
                let (src, dst) = (flow.src, flow.dst);
                self.tell_routing(src, ConnectionEvent::Opened { dst, two_way: true });
                self.with_sender(FlowId(id).into(), |sender, out| sender.handle_write(now, bytes, out));
            }
            Transport::Messages(_) => self.wake_message_source(id),
            Transport::Web(_) => self.wake_web(id),
            Transport::Cbr(cbr) => {
                cbr.source.handle_timeout();
                let payload = Payload::Udp(FlowId(id), cbr.next_number);
                cbr.next_number += 1;
                let bytes = cbr.payload_bytes + self.udp_overhead_bytes;
                let (src, dst) = (flow.src, flow.dst);
                let (is_first, next) = (cbr.next_number == 1, cbr.source.next_timeout());
                self.agenda.set(flow.source_slot, next);
                self.meter.cbr_sent(now, FlowId(id));
                if is_first {
                    self.tell_routing(src, ConnectionEvent::Opened { dst, two_way: false });
                }
                self.originate(src, dst, bytes, payload, Ecn::NotEct);
                if next == Time::NEVER {
                    self.tell_routing(src, ConnectionEvent::Closed { dst, two_way: false });
                }
            }
        }
    }

    pub(super) fn wake_sender(&mut self, id: u32) {
        let now = self.now;
        for number in self.flows[id as usize].transport.connections() {
            let at = ConnectionId { flow: FlowId(id), number };
            self.with_sender(at, |sender, out| sender.handle_timeout(now, out));
        }
        self.with_adp_sender(id, |sender, out| sender.handle_timeout(now, out));
    }

    pub(super) fn wake_receiver(&mut self, id: u32) {
        let now = self.now;
        for number in self.flows[id as usize].transport.connections() {
            let at = ConnectionId { flow: FlowId(id), number };
            self.with_receiver(at, |receiver, out| receiver.handle_timeout(now, out));
        }
        self.with_adp_receiver(id, |receiver, out| receiver.handle_timeout(now, out));
    }

    pub(super) fn with_sender(&mut self, at: ConnectionId, call: impl FnOnce(&mut Sender, &mut Vec<Output>)) {
        let flow = &mut self.flows[at.flow.index()];
        let (src, dst) = flow.ends(at.number);
        let Some(tcp) = flow.transport.tcp_mut(at.number) else { return };
        let mut outputs = Vec::new();
        let (timeouts, acked) = (tcp.sender.counters().timeouts, tcp.sender.counters().segments_acked);
        call(&mut tcp.sender, &mut outputs);
        if tcp.sender.counters().timeouts > timeouts {
            self.meter.outages.timed_out(at.flow);
        }
        if tcp.sender.counters().segments_acked > acked {
            self.meter.outages.acknowledged(at.flow);
        }
        let (slot, mut next) = (tcp.sender_slot, tcp.sender.next_timeout());
        let finishes = tcp.ends
            && outputs.iter().any(|output| matches!(output, Output::Finished))
            && tcp.completed.is_none();
        if finishes {
            tcp.completed = Some(self.now);
        }
        let (cwnd, ssthresh, rto) = (tcp.sender.cwnd(), tcp.sender.ssthresh(), tcp.sender.rto());
        if let Transport::Web(web) = &flow.transport {
            next = web::next_sender(web.connections());
        }
        self.agenda.set(slot, next);
        self.record(src.0, || RecordKind::Window { flow: at.flow.0, cwnd, ssthresh, rto_s: rto.as_secs() });
        self.originate_all(at, src, dst, outputs);
        if finishes {
            self.tell_routing(src, ConnectionEvent::Closed { dst, two_way: true });
            self.close_connection(at);
        }
    }

    /// The notice from routing to the TCP senders at `node` whose flows go to its destination. Only those that react to
    /// notices are told.
    pub(super) fn tell_senders(&mut self, node: NodeId, notice: Notice) {
        let (Notice::RouteFailed { dst, .. } | Notice::RouteFound { dst }) = notice;
        for id in 0..self.flows.len() as u32 {
            for number in self.flows[id as usize].transport.connections() {
                let flow = &mut self.flows[id as usize];
                let told = flow.ends(number) == (node, dst)
                    && flow
                        .transport
                        .tcp_mut(number)
                        .is_some_and(|tcp| tcp.started && tcp.sender.heeds_notices());
                if told {
                    let now = self.now;
                    self.with_sender(ConnectionId { flow: FlowId(id), number }, |sender, out| match notice {
                        Notice::RouteFailed { .. } => sender.handle_route_failed(now, out),
                        Notice::RouteFound { .. } => sender.handle_route_found(now, out),
                    });
                }
            }
        }
    }

    /// The notice from transports to routing.
    pub(super) fn tell_routing(&mut self, src: NodeId, event: ConnectionEvent) {
        self.with_routing(src.0, |routing, now, actions| routing.handle_connection(now, event, actions));
    }

    fn with_receiver(&mut self, at: ConnectionId, call: impl FnOnce(&mut Receiver, &mut Vec<Output>)) {
        let flow = &mut self.flows[at.flow.index()];
        // ACKs go the other way.
        let (dst, src) = flow.ends(at.number);
        let Some(tcp) = flow.transport.tcp_mut(at.number) else { return };
        let mut outputs = Vec::new();
        let in_order = tcp.receiver.counters().bytes_in_order;
        call(&mut tcp.receiver, &mut outputs);
        let bytes_in_order = tcp.receiver.counters().bytes_in_order;
        let (slot, mut next) = (tcp.receiver_slot, tcp.receiver.next_timeout());
        if bytes_in_order > in_order {
            self.meter.outages.progressed(self.now, at.flow);
            if let Transport::Messages(messages) = &mut flow.transport {
                messages.log.progress(self.now, bytes_in_order);
            }
        }
        let of_web = if let Transport::Web(web) = &flow.transport {
            next = web::next_receiver(web.connections());
            true
        } else {
            false
        };
        self.agenda.set(slot, next);
        self.originate_all(at, src, dst, outputs);
        if of_web {
            self.web_progress(at);
        }
    }

    fn originate_all(&mut self, at: ConnectionId, src: NodeId, dst: NodeId, outputs: Vec<Output>) {
        for output in outputs {
            if let Output::Send { segment, bytes, ecn } = output {
                self.originate(src, dst, bytes, Payload::Tcp(at, segment), ecn);
            }
        }
    }

    /// A transport endpoint makes a packet of `bytes` at the IP layer.
    pub(super) fn originate(&mut self, src: NodeId, dst: NodeId, bytes: u32, payload: Payload, ecn: Ecn) {
        let mut packet = Packet {
            uid: Packet::UNNUMBERED,
            src,
            dst,
            ttl: self.data_ttl,
            hops: 0,
            bytes,
            created: self.now,
            payload,
            ecn,
            routing_header: None,
        };
        packet.uid = self.audit.make(packet.flow());
        self.record(src.0, || RecordKind::Made((&packet).into()));
        self.with_routing(src.0, |routing, now, actions| routing.handle_outgoing(now, packet, actions));
    }

    /// Routing delivers a packet to its endpoint at `node`.
    pub(super) fn deliver(&mut self, node: u32, packet: &Packet) {
        let now = self.now;
        let Some(id) = packet.flow() else {
            self.audit.consume(packet);
            return;
        };
        let is_closed = matches!(packet.payload, Payload::Tcp(at, _) if self.is_closed(at));
        if packet.dst.0 != node || is_closed {
            self.drop_packet(node, packet, DropReason::FlowEnded);
            return;
        }
        let first = self.audit.deliver(packet);
        self.record(node, || RecordKind::Delivered(packet.into()));
        match (&packet.payload, &self.flows[id.index()].transport) {
            (Payload::Tcp(at, segment @ Segment::Data { .. }), _) => {
                self.meter.tcp_delivered(now, id, packet);
                self.with_receiver(*at, |receiver, out| receiver.handle_data(now, segment, packet.ecn, out));
            }
            (Payload::Tcp(at, segment @ Segment::Ack { .. }), _) => {
                self.with_sender(*at, |sender, out| sender.handle_ack(now, segment, out));
            }
            (Payload::Tcp(at, segment), _) => {
                self.with_sender(*at, |sender, out| sender.handle_notification(now, segment, out));
            }
            (Payload::Udp(..), Transport::Cbr(cbr)) => {
                self.meter.cbr_delivered(now, id, packet, cbr.payload_bytes, first);
            }
            _ => self.deliver_message(packet, first),
        }
    }

    /// The warm-up ends: counters so far are set aside.
    pub(super) fn mark_warmup(&mut self) {
        for flow in &mut self.flows {
            if let Transport::Web(web) = &mut flow.transport {
                web.mark_warmup();
            } else if let Some(tcp) = flow.transport.tcp_mut(0) {
                tcp.at_warmup = (tcp.sender.counters().clone(), tcp.receiver.counters().clone());
            }
        }
    }
}

/// Bytes that UDP and IP add to a payload.
pub(super) fn udp_overhead_bytes(udp_header_bytes: u32) -> u32 {
    IP_HEADER_BYTES + udp_header_bytes
}
