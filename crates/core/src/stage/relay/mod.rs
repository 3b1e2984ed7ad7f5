//! What base stations share that make two connections of one: I-TCP (`split.rs`) and M-TCP (`m_tcp.rs`).
//!
//! ```text
//!  source ── segments ──► receiver │ buffer │ sender ── segments ──► destination
//!         ◄─ ACKs, room ─          │        │        ◄─ ACKs ───────
//! ```
//!
//! A [`Station`] ends the source's segments and the destination's ACKs, and gives both to the connection's
//! [`Relay`], which decides what the source is told and when. What both relays have is in [`Halves`]. A
//! base station that crashes forgets its connections; what the source sends on them afterwards is dropped.

#[cfg(test)]
pub(super) mod testbench;

use std::collections::{BTreeMap, BTreeSet};

use super::{Interceptor, InterceptorAction};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::transport::tcp::{Output, Receiver, ReceiverOutput, Sender, TcpParams};
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, Ecn, FlowId, NodeId, Packet, Payload};

/// A flow of whose connection a base station makes two.
#[derive(Clone, PartialEq, Debug)]
pub struct SplitFlow {
    /// Where its data come from.
    pub src: NodeId,
    /// Where they go.
    pub dst: NodeId,
    /// The TTL of what is sent here.
    pub ttl: u8,
    /// The parameters of the receiver towards the source.
    pub receiver: TcpParams,
    /// The parameters of the sender towards the destination.
    pub sender: TcpParams,
}

/// The flows of whose connections a node makes two. Each has one connection.
pub type Splits = BTreeMap<FlowId, SplitFlow>;

/// One connection, of which a base station makes two. Calls come in order of time.
pub(super) trait Relay: Send {
    /// A connection of which nothing has arrived.
    fn new(flow: &SplitFlow) -> Self;

    /// A segment comes from the source, with the ECN field of its IP header.
    fn handle_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, out: &mut Outputs);

    /// An ACK comes from the destination.
    fn handle_ack(&mut self, now: Time, segment: &Segment, out: &mut Outputs);

    /// The deadline of [`Relay::next_timeout`] has come. An early call does nothing.
    fn handle_timeout(&mut self, now: Time, out: &mut Outputs);

    /// When it next wants to be woken; [`Time::NEVER`] if it does not.
    fn next_timeout(&self) -> Time;
}

/// The two halves of a connection.
pub(super) struct Halves {
    pub(super) receiver: Receiver,
    pub(super) sender: Sender,
    /// Is the first segment a SYN?
    has_syn: bool,
    /// The source's SYN, until the destination has answered.
    syn: Option<(Segment, Ecn)>,
    /// Payload bytes that the sender has been given so far.
    pub(super) written: u64,
}

impl Halves {
    /// Those of a connection of which nothing has arrived.
    pub(super) fn of(flow: &SplitFlow) -> Halves {
        Halves {
            receiver: Receiver::new(&flow.receiver).of_relay(),
            // The ticks of its clock, if it has any, begin with the run.
            sender: Sender::new(&flow.sender, Span::ZERO),
            has_syn: flow.receiver.connection_setup,
            syn: None,
            written: 0,
        }
    }

    /// The same, whose sender polls the destination while it is told that it is out of reach.
    pub(super) fn that_polls(mut self, interval: Span) -> Halves {
        self.sender = self.sender.that_polls(interval);
        self
    }

    /// A segment comes from the source. What is in order is written to the second connection.
    pub(super) fn take_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, out: &mut Outputs) {
        let is_syn = self.has_syn && matches!(segment, Segment::Data { number: 0, .. });
        if is_syn && self.sender.counters().segments_acked == 0 {
            self.syn = Some((segment.clone(), ecn));
            self.sender.handle_open(now, &mut out.sender);
            return;
        }
        self.receiver.handle_data(now, segment, ecn, &mut out.receiver);
        let arrived = self.receiver.counters().bytes_in_order;
        if arrived > self.written {
            self.sender.handle_write(now, Some(arrived - self.written), &mut out.sender);
            self.written = arrived;
        }
    }

    /// An ACK comes from the destination. What it acknowledges leaves the buffer.
    pub(super) fn take_ack(&mut self, now: Time, segment: &Segment, out: &mut Outputs) {
        self.sender.handle_ack(now, segment, &mut out.sender);
        if self.sender.counters().segments_acked > 0
            && let Some((syn, ecn)) = self.syn.take()
        {
            self.receiver.handle_data(now, &syn, ecn, &mut out.receiver);
        }
        self.receiver.handle_read(self.sender.counters().bytes_acked, &mut out.receiver);
    }
}

/// What the two halves ask for.
#[derive(Default)]
pub(super) struct Outputs {
    pub(super) sender: Vec<Output>,
    pub(super) receiver: Vec<ReceiverOutput>,
}

impl Outputs {
    /// Segments go to the destination and ACKs to the source, as if each came from the other.
    fn send(self, now: Time, id: FlowId, flow: &SplitFlow, out: &mut Vec<InterceptorAction>) {
        let connection = ConnectionId::from(id);
        let packet = |(src, dst), segment, bytes, ecn| {
            let payload = Payload::Tcp(connection, segment);
            InterceptorAction::Route(Packet {
                ecn,
                ..Packet::control(now, src, dst, flow.ttl, bytes, payload)
            })
        };
        for output in self.receiver {
            if let ReceiverOutput::Send { segment, bytes, ecn } = output {
                out.push(packet((flow.dst, flow.src), segment, bytes, ecn));
            }
        }
        for output in self.sender {
            if let Output::Send { segment, bytes, ecn } = output {
                out.push(packet((flow.src, flow.dst), segment, bytes, ecn));
            }
        }
    }
}

/// One base station. See the module's head. Calls come in order of time.
pub(super) struct Station<R> {
    flows: Splits,
    pub(super) connections: BTreeMap<FlowId, R>,
    /// Whose connections a crash has made it forget.
    forgotten: BTreeSet<FlowId>,
}

impl<R> Station<R> {
    /// A base station that makes two connections of each of these flows'.
    pub(super) fn new(flows: Splits) -> Station<R> {
        Station { flows, connections: BTreeMap::new(), forgotten: BTreeSet::new() }
    }
}

impl<R: Relay> Interceptor for Station<R> {
    fn handle_outgoing(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let &Payload::Tcp(ConnectionId { flow: id, .. }, ref segment) = &packet.payload else {
            return Some(packet);
        };
        // What was made here has no number yet.
        let Some(flow) = self.flows.get(&id).filter(|_| packet.uid != Packet::UNNUMBERED) else {
            return Some(packet);
        };
        if self.forgotten.contains(&id) {
            out.push(InterceptorAction::Drop(packet, DropReason::FlowEnded));
            return None;
        }
        let mut outputs = Outputs::default();
        match segment {
            Segment::Data { .. } => {
                let connection = self.connections.entry(id).or_insert_with(|| R::new(flow));
                connection.handle_data(now, segment, packet.ecn, &mut outputs);
            }
            Segment::Ack { .. } => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.handle_ack(now, segment, &mut outputs);
                }
            }
            Segment::Erdn { .. } | Segment::Ersn { .. } => return Some(packet),
        }
        out.push(InterceptorAction::Deliver(packet));
        outputs.send(now, id, flow, out);
        None
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        for (&id, connection) in &mut self.connections {
            if connection.next_timeout() > now {
                continue;
            }
            let mut outputs = Outputs::default();
            connection.handle_timeout(now, &mut outputs);
            outputs.send(now, id, &self.flows[&id], out);
        }
    }

    fn handle_crash(&mut self, _out: &mut Vec<InterceptorAction>) {
        self.forgotten.extend(std::mem::take(&mut self.connections).into_keys());
    }

    fn next_timeout(&self) -> Time {
        self.connections.values().map(R::next_timeout).min().unwrap_or(Time::NEVER)
    }

    // The buffer holds bytes; what carried them has arrived.
    fn kept(&self, _visit: &mut dyn FnMut(&Packet)) {}
}
