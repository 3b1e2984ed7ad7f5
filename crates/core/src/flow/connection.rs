//! Both ends of one TCP connection, and what every flow makes of what they ask for.

use super::{End, FlowAction};
use crate::kernel::Time;
use crate::observe::{
    ConnectionMeasures, Delivery, FlowEvent, FlowSample, Meter, RunningCounts, SplitMeasures,
    SpuriousMeasures, TcpMeasures,
};
use crate::routing::{HoldStep, Notice};
use crate::transport::tcp::{Output, Receiver, ReceiverCounters, ReceiverOutput, Sender, SenderCounters};
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, NodeId, Packet, Payload};

/// A TCP connection between the two ends of a flow.
pub(super) struct Connection {
    id: ConnectionId,
    /// Where its data come from; ACKs go the other way.
    from: End,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// Has the application written anything? Before that, nothing happens.
    is_open: bool,
    /// Has it written all, so that the connection is over when everything is acknowledged?
    has_all: bool,
    ended: Option<Time>,
    /// If it is split on the way: how many bytes have been acknowledged at most that had not arrived.
    ahead_bytes_max: Option<u64>,
    /// The counters when the warm-up ended.
    at_warmup: (SenderCounters, ReceiverCounters),
    /// Used again for each call of the sender, and of the receiver.
    outputs: (Vec<Output>, Vec<ReceiverOutput>),
}

impl Connection {
    /// A connection that nothing is written to.
    pub(super) fn new(id: ConnectionId, from: End, sender: Sender, receiver: Receiver) -> Connection {
        Connection {
            id,
            from,
            sender,
            receiver,
            is_open: false,
            has_all: false,
            ended: None,
            ahead_bytes_max: None,
            at_warmup: (SenderCounters::default(), ReceiverCounters::default()),
            outputs: (Vec::new(), Vec::new()),
        }
    }

    /// The same connection, which is two: a base station acknowledges what it has not delivered.
    pub(super) fn split(mut self) -> Connection {
        self.ahead_bytes_max = Some(0);
        self
    }

    /// The number of the connection within its flow.
    pub(super) fn number(&self) -> u32 {
        self.id.number
    }

    /// When all data was acknowledged that the sender was to send.
    pub(super) fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// The application begins to use the connection: routing is told.
    pub(super) fn open(&mut self, actions: &mut Vec<FlowAction>) {
        self.is_open = true;
        actions.push(FlowAction::Opened { at: self.from, two_way: true });
    }

    /// The application writes `bytes`, or data without end, all at once; if `is_last`, it writes no more.
    pub(super) fn write(
        &mut self,
        now: Time,
        bytes: &[Option<u64>],
        is_last: bool,
        actions: &mut Vec<FlowAction>,
    ) {
        self.has_all = is_last;
        self.with_sender(now, actions, |sender, out| {
            for &bytes in bytes {
                sender.handle_write(now, bytes, out);
            }
        });
    }

    /// The application's time is over: nothing new is sent, and what is outstanding is brought to its end.
    pub(super) fn close(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        self.sender.handle_close();
        if !self.sender.has_outstanding() {
            self.end(now, actions);
        }
    }

    /// All is acknowledged that the sender was to send: routing is told, once.
    fn end(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        if self.has_all && self.ended.is_none() {
            self.ended = Some(now);
            actions.push(FlowAction::Closed { at: self.from, two_way: true });
        }
    }

    /// The timers of the sender may be due.
    pub(super) fn wake_sender(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        self.with_sender(now, actions, |sender, out| sender.handle_timeout(now, out));
    }

    /// A delayed ACK may be due.
    pub(super) fn wake_receiver(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        self.with_receiver(actions, |receiver, out| receiver.handle_timeout(now, out));
    }

    /// The receiver's node has received a frame; see [`super::Flow::handle_rx_power`].
    pub(super) fn handle_rx_power(
        &mut self,
        now: Time,
        heard: (NodeId, f64),
        has_packet: bool,
        actions: &mut Vec<FlowAction>,
    ) {
        self.with_receiver(actions, |receiver, out| receiver.handle_rx_power(now, heard, has_packet, out));
    }

    /// A segment reached the end that it is for. Returns the bytes that the receiver has delivered in order
    /// so far, if the segment brought new ones.
    pub(super) fn handle_segment(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        actions: &mut Vec<FlowAction>,
    ) -> Option<u64> {
        match segment {
            Segment::Data { payload, .. } => {
                let delivery = Delivery::of(packet, *payload, true);
                actions.push(FlowAction::Count(FlowEvent::SegmentDelivered(delivery)));
                let ecn = packet.ecn;
                return self
                    .with_receiver(actions, |receiver, out| receiver.handle_data(now, segment, ecn, out));
            }
            Segment::Ack { .. } => {
                self.with_sender(now, actions, |sender, out| sender.handle_ack(now, segment, out));
            }
            Segment::Erdn { .. } | Segment::Ersn { .. } => self.handle_notification(now, segment, actions),
        }
        None
    }

    /// The sender gets a notification from a node on the way, or its own (TCP-BuS).
    pub(super) fn handle_notification(
        &mut self,
        now: Time,
        segment: &Segment,
        actions: &mut Vec<FlowAction>,
    ) {
        self.with_sender(now, actions, |sender, out| sender.handle_notification(now, segment, out));
    }

    /// Routing at one end tells about the other end. The sender there is told if it has begun and reacts to
    /// notices. Whether it does or not, it tells its timeout to routing that begins to hold its packets.
    pub(super) fn handle_notice(
        &mut self,
        now: Time,
        at: End,
        notice: Notice,
        actions: &mut Vec<FlowAction>,
    ) {
        if at != self.from || !self.is_open {
            return;
        }
        match notice {
            Notice::RouteFailed { .. } if self.sender.heeds_notices() => {
                self.with_sender(now, actions, |sender, out| sender.handle_route_failed(now, out));
            }
            Notice::RouteFound { .. } if self.sender.heeds_notices() => {
                self.with_sender(now, actions, |sender, out| sender.handle_route_found(now, out));
            }
            Notice::Hold { step: HoldStep::Begins, .. } if self.ended.is_none() => {
                actions.push(FlowAction::RetransmissionTimeout { at, rto: self.sender.rto() });
            }
            Notice::RouteFailed { .. } | Notice::RouteFound { .. } | Notice::Hold { .. } => {}
        }
    }

    /// The warm-up ends.
    pub(super) fn mark_warmup(&mut self) {
        self.at_warmup = (self.sender.counters().clone(), self.receiver.counters().clone());
    }

    /// The measures of a flow whose only connection this is.
    pub(super) fn measures(&self, meter: &Meter, start: Time) -> TcpMeasures {
        meter.tcp_measures(
            self.id.flow,
            start,
            (self.sender.counters(), &self.at_warmup.0),
            (self.receiver.counters(), &self.at_warmup.1),
            self.ended,
            !self.sender.is_cut_off(),
        )
    }

    /// What is measured of a flow whose only connection this is, whatever it carries.
    pub(super) fn connection_measures(&self, meter: &Meter) -> ConnectionMeasures {
        let last = self.receiver.counters().last_segment;
        meter.connection_measures(self.id.flow, last, self.receiver.segment_bytes())
    }

    /// What its sender found to be sent again in vain; none if it does not look for it.
    pub(super) fn spurious_measures(&self) -> Option<SpuriousMeasures> {
        let (now, before) = (self.sender.counters(), &self.at_warmup.0);
        self.sender.detects_spurious().then(|| SpuriousMeasures {
            spurious_timeouts: now.spurious_timeouts - before.spurious_timeouts,
            spurious_fast_retransmits: now.spurious_fast_retransmits - before.spurious_fast_retransmits,
        })
    }

    /// What was acknowledged and has not arrived; none if the connection is not split.
    pub(super) fn split_measures(&self) -> Option<SplitMeasures> {
        let acked_undelivered_bytes = self.ahead_bytes();
        self.ahead_bytes_max.map(|acked_undelivered_max_bytes| SplitMeasures {
            acked_undelivered_bytes,
            acked_undelivered_max_bytes,
        })
    }

    /// Bytes that have been acknowledged to the sender, and that the receiver does not have in order.
    fn ahead_bytes(&self) -> u64 {
        self.sender.counters().bytes_acked.saturating_sub(self.receiver.counters().bytes_in_order)
    }

    /// Payload that arrived in order since the end of the warm-up.
    pub(super) fn delivered_bytes(&self) -> u64 {
        self.receiver.counters().bytes_in_order - self.at_warmup.1.bytes_in_order
    }

    /// Payload sent since the end of the warm-up, retransmissions included.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.sender.counters().bytes_sent - self.at_warmup.0.bytes_sent
    }

    /// Adds what the connection did since the start of the run, for the time series.
    pub(super) fn add_running(&self, counts: &mut RunningCounts) {
        counts.tcp_delivered_bytes += self.receiver.counters().bytes_in_order;
        counts.tcp_retransmissions += self.sender.counters().retransmissions;
        counts.tcp_timeouts += self.sender.counters().timeouts;
    }

    /// The connection at this instant, for the time series.
    pub(super) fn sample(&self) -> FlowSample {
        FlowSample {
            flow: self.id.flow.0,
            cwnd_segments: self.sender.cwnd(),
            ssthresh_segments: self.sender.ssthresh(),
            rto_s: self.sender.rto().as_secs(),
            delivered_bytes: self.receiver.counters().bytes_in_order,
        }
    }

    /// Calls the sender and passes on what it asks for.
    fn with_sender(
        &mut self,
        now: Time,
        actions: &mut Vec<FlowAction>,
        call: impl FnOnce(&mut Sender, &mut Vec<Output>),
    ) {
        let mut outputs = std::mem::take(&mut self.outputs.0);
        call(&mut self.sender, &mut outputs);
        self.ahead_bytes_max = self.ahead_bytes_max.map(|most| most.max(self.ahead_bytes()));
        actions.push(FlowAction::Window {
            at: self.from,
            cwnd: self.sender.cwnd(),
            ssthresh: self.sender.ssthresh(),
            rto: self.sender.rto(),
        });
        let mut is_finished = false;
        for output in outputs.drain(..) {
            match output {
                Output::Send { segment, bytes, ecn } => {
                    let payload = Payload::Tcp(self.id, segment);
                    actions.push(FlowAction::Send { from: self.from, bytes, payload, ecn });
                }
                Output::Judged(judgement) => {
                    actions.push(FlowAction::Judged { connection: self.id.number, judgement });
                }
                Output::TimedOut => actions.push(FlowAction::Count(FlowEvent::TimedOut)),
                Output::Acknowledged => actions.push(FlowAction::Count(FlowEvent::Acknowledged)),
                Output::Finished => is_finished = true,
            }
        }
        self.outputs.0 = outputs;
        if is_finished {
            self.end(now, actions);
        }
    }

    /// Calls the receiver and passes on what it asks for. Returns the bytes delivered so far if they became
    /// more.
    fn with_receiver(
        &mut self,
        actions: &mut Vec<FlowAction>,
        call: impl FnOnce(&mut Receiver, &mut Vec<ReceiverOutput>),
    ) -> Option<u64> {
        let mut outputs = std::mem::take(&mut self.outputs.1);
        call(&mut self.receiver, &mut outputs);
        let mut in_order = None;
        for output in outputs.drain(..) {
            match output {
                ReceiverOutput::Send { segment, bytes, ecn } => {
                    let payload = Payload::Tcp(self.id, segment);
                    actions.push(FlowAction::Send { from: self.from.other(), bytes, payload, ecn });
                }
                ReceiverOutput::Judged(judgement) => {
                    actions.push(FlowAction::Judged { connection: self.id.number, judgement });
                }
                ReceiverOutput::InOrder(bytes) => {
                    actions.push(FlowAction::Count(FlowEvent::Progressed));
                    in_order = Some(bytes);
                }
            }
        }
        self.outputs.1 = outputs;
        in_order
    }
}
