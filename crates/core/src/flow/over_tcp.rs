//! Messages over TCP: each is one write to the flow's connection, and is delivered when the byte stream
//! reaches its end.

use super::connection::Connection;
use super::messages::Messages;
use super::{End, Flow, FlowAction, FlowReport, Snapshot, Timer};
use crate::kernel::Time;
use crate::observe::{MessageMeasures, Meter, RunningCounts};
use crate::routing::Notice;
use crate::traffic::Source;
use crate::wire::tcp;
use crate::wire::{NodeId, Packet, Payload};

/// See the module's head.
pub(super) struct OverTcp {
    source: Box<dyn Source>,
    messages: Messages,
    connection: Connection,
    start: Time,
}

impl OverTcp {
    /// A flow that has sent nothing and begins at `start`.
    pub(super) fn new(
        source: Box<dyn Source>,
        messages: Messages,
        connection: Connection,
        start: Time,
    ) -> OverTcp {
        OverTcp { source, messages, connection, start }
    }

    fn wake_source(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        if now < self.source.next_timeout() {
            return;
        }
        let made = self.messages.make(now, self.source.as_mut());
        if made.is_first {
            self.connection.open(actions);
        }
        self.connection.write(now, &[Some(made.bytes.into())], made.is_last, actions);
    }
}

impl Flow for OverTcp {
    fn timers(&self) -> &'static [Timer] {
        &[Timer::Source, Timer::Sender, Timer::Receiver]
    }

    fn next_timeout(&self, timer: Timer) -> Time {
        match timer {
            Timer::Source => self.source.next_timeout(),
            Timer::Sender => self.connection.sender.next_timeout(),
            Timer::Receiver => self.connection.receiver.next_timeout(),
            Timer::Reports => Time::NEVER,
        }
    }

    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>) {
        match timer {
            Timer::Source => self.wake_source(now, actions),
            Timer::Sender => self.connection.wake_sender(now, actions),
            Timer::Receiver => self.connection.wake_receiver(now, actions),
            Timer::Reports => actions.push(FlowAction::Broken("a flow over TCP has reports")),
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, _is_first: bool, actions: &mut Vec<FlowAction>) {
        let Payload::Tcp(_, segment) = &packet.payload else {
            return actions.push(FlowAction::Broken("a flow over TCP gets a packet that is no segment"));
        };
        if let Some(in_order) = self.connection.handle_segment(now, packet, segment, actions) {
            self.messages.log.progress(now, in_order);
        }
    }

    fn handle_notice(&mut self, now: Time, at: End, notice: Notice, actions: &mut Vec<FlowAction>) {
        self.connection.handle_notice(now, at, notice, actions);
    }

    fn handle_notification(
        &mut self,
        now: Time,
        _connection: u32,
        segment: &tcp::Segment,
        actions: &mut Vec<FlowAction>,
    ) {
        self.connection.handle_notification(now, segment, actions);
    }

    fn wants_rx_power(&self) -> bool {
        self.connection.receiver.wants_rx_power()
    }

    fn handle_rx_power(
        &mut self,
        now: Time,
        heard: (NodeId, f64),
        has_packet: bool,
        actions: &mut Vec<FlowAction>,
    ) {
        self.connection.handle_rx_power(now, heard, has_packet, actions);
    }

    fn handle_warmup_end(&mut self) {
        self.connection.mark_warmup();
    }

    fn has_outages(&self) -> bool {
        true
    }

    fn report(&self, meter: &Meter, _end: Time) -> FlowReport {
        // TCP loses nothing: what is not delivered waits.
        let waiting = self.messages.log.undelivered();
        let measures = self.messages.named(MessageMeasures {
            throughput_bps: self.connection.measures(meter, self.start).throughput_bps,
            timeouts: Some(self.connection.sender.counters().timeouts),
            ..self.messages.common_measures(meter, "tcp", &waiting)
        });
        FlowReport {
            connection: Some(self.connection.connection_measures(meter)),
            stream_bytes: Some(self.connection.delivered_bytes()),
            ..FlowReport::of(measures)
        }
    }

    fn snapshot(&self, counts: &mut RunningCounts) -> Snapshot {
        self.connection.add_running(counts);
        // TCP does not know where messages end.
        Snapshot { tcp: Some(self.connection.sample()), messages: Some(self.messages.sample(None)) }
    }
}
