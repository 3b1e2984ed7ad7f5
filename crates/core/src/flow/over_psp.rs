//! Messages over PSP: packets are spaced out by what arrives, and what is lost is not sent again.

use super::messages::Messages;
use super::{End, Flow, FlowAction, FlowReport, Snapshot, Timer};
use crate::kernel::Time;
use crate::observe::{FlowEvent, MessageMeasures, Meter, RunningCounts};
use crate::traffic::Source;
use crate::transport::psp::{Output, Receiver, Sender};
use crate::wire::psp::Segment;
use crate::wire::{Ecn, Packet, Payload};

/// See the module's head.
pub(super) struct OverPsp {
    source: Box<dyn Source>,
    messages: Messages,
    sender: Sender,
    receiver: Receiver,
    /// Has the source made its last message, which may still wait?
    is_ending: bool,
    is_closed: bool,
}

impl OverPsp {
    /// A flow that has sent nothing.
    pub(super) fn new(
        source: Box<dyn Source>,
        messages: Messages,
        (sender, receiver): (Sender, Receiver),
    ) -> OverPsp {
        OverPsp { source, messages, sender, receiver, is_ending: false, is_closed: false }
    }

    fn wake_source(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        if now < self.source.next_timeout() {
            return;
        }
        let made = self.messages.make(now, self.source.as_mut());
        if made.is_first {
            actions.push(FlowAction::Opened { at: End::Source, two_way: true });
        }
        self.is_ending = made.is_last;
        self.with_sender(actions, |sender, out| sender.handle_message(now, made.number, made.bytes, out));
    }

    /// Calls the sender and passes on what it asks for. The flow is over when the source has ended and
    /// nothing waits.
    fn with_sender(
        &mut self,
        actions: &mut Vec<FlowAction>,
        call: impl FnOnce(&mut Sender, &mut Vec<Output>),
    ) {
        let mut outputs = Vec::new();
        call(&mut self.sender, &mut outputs);
        for output in outputs {
            match output {
                Output::Dropped(message) => self.messages.log.drop(message),
                Output::Send(segment, bytes) => {
                    actions.push(FlowAction::Count(FlowEvent::PacketSent));
                    actions.push(self.packet(End::Source, segment, bytes));
                }
            }
        }
        if self.is_ending && !self.is_closed && self.sender.waiting().next().is_none() {
            self.is_closed = true;
            actions.push(FlowAction::Closed { at: End::Source, two_way: true });
        }
    }

    /// Calls the receiver and sends its acknowledgements.
    fn with_receiver(
        &mut self,
        actions: &mut Vec<FlowAction>,
        call: impl FnOnce(&mut Receiver, &mut Vec<Output>),
    ) {
        let mut outputs = Vec::new();
        call(&mut self.receiver, &mut outputs);
        actions.extend(outputs.into_iter().map(|output| match output {
            Output::Send(segment, bytes) => self.packet(End::Destination, segment, bytes),
            Output::Dropped(_) => FlowAction::Broken("a PSP receiver drops a message"),
        }));
    }

    fn packet(&self, from: End, segment: Segment, bytes: u32) -> FlowAction {
        let payload = Payload::Psp(self.messages.id, segment);
        FlowAction::Send { from, bytes, payload, ecn: Ecn::NotEct }
    }
}

impl Flow for OverPsp {
    fn timers(&self) -> &'static [Timer] {
        &[Timer::Source, Timer::Sender, Timer::Receiver]
    }

    fn next_timeout(&self, timer: Timer) -> Time {
        match timer {
            Timer::Source => self.source.next_timeout(),
            Timer::Sender => self.sender.next_timeout(),
            Timer::Receiver => self.receiver.next_timeout(),
            Timer::Reports => Time::NEVER,
        }
    }

    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>) {
        match timer {
            Timer::Source => self.wake_source(now, actions),
            Timer::Sender => self.with_sender(actions, |sender, out| sender.handle_timeout(now, out)),
            Timer::Receiver => self.with_receiver(actions, |receiver, out| receiver.handle_timeout(now, out)),
            Timer::Reports => actions.push(FlowAction::Broken("a flow over PSP has reports")),
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, is_first: bool, actions: &mut Vec<FlowAction>) {
        match &packet.payload {
            Payload::Psp(_, segment @ Segment::Data { message, payload, .. }) => {
                self.messages.arrive(now, (packet, is_first), (*message, *payload), actions);
                self.with_receiver(actions, |receiver, out| receiver.handle_data(now, segment, out));
            }
            Payload::Psp(_, segment) => self.sender.handle_ack(now, segment),
            _ => actions.push(FlowAction::Broken("a flow over PSP gets a packet that is not its own")),
        }
    }

    fn report(&self, meter: &Meter, _end: Time) -> FlowReport {
        let waiting: Vec<u32> = self.sender.waiting().collect();
        let measures = self.messages.named(MessageMeasures {
            acks_sent: Some(self.receiver.counters().acks_sent),
            timeouts: Some(self.sender.counters().silences),
            ..self.messages.common_measures(meter, "psp", &waiting)
        });
        FlowReport { delays: Some(self.messages.delays()), ..FlowReport::of(measures) }
    }

    fn snapshot(&self, _counts: &mut RunningCounts) -> Snapshot {
        let waiting = Some(self.sender.waiting().count() as u64);
        Snapshot { tcp: None, messages: Some(self.messages.sample(waiting)) }
    }
}
