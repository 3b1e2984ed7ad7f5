//! Messages, or endless data, over ADP, with or without RTP: acknowledgements pace the packets, and what is
//! lost is not sent again.

use super::messages::Messages;
use super::rtp::RtpEnds;
use super::{End, Flow, FlowAction, FlowReport, Snapshot, Timer};
use crate::kernel::Time;
use crate::observe::{FlowEvent, MessageMeasures, MessageSample, Meter, RunningCounts};
use crate::traffic::Source;
use crate::transport::adp::{Output, Receiver, Sender};
use crate::wire::adp::Segment;
use crate::wire::rtp::HEADER_BYTES;
use crate::wire::{Ecn, Packet, Payload};

/// See the module's head.
pub(super) struct OverAdp {
    data: Data,
    messages: Messages,
    rtp: Option<RtpEnds>,
    state: State,
    sender: Sender,
    receiver: Receiver,
}

/// Where the data come from.
pub(super) enum Data {
    /// A source makes messages.
    Messages(Box<dyn Source>),
    /// The sender makes them itself, one a packet, between these times.
    Endless {
        /// When it begins.
        start: Time,
        /// When it ends.
        stop: Time,
    },
}

/// Where a flow is between its first message and its last, as routing is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotStarted,
    Open,
    /// The source has made its last message, which may still wait.
    Ending,
    Closed,
}

impl OverAdp {
    /// A flow that has sent nothing.
    pub(super) fn new(
        data: Data,
        messages: Messages,
        rtp: Option<RtpEnds>,
        (sender, receiver): (Sender, Receiver),
    ) -> OverAdp {
        OverAdp { data, messages, rtp, state: State::NotStarted, sender, receiver }
    }

    fn source_deadline(&self) -> Time {
        match (&self.data, self.state) {
            (Data::Messages(source), _) => source.next_timeout(),
            (Data::Endless { start, .. }, State::NotStarted) => *start,
            (Data::Endless { stop, .. }, State::Open) => *stop,
            (Data::Endless { .. }, State::Ending | State::Closed) => Time::NEVER,
        }
    }

    fn wake_source(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        if now < self.source_deadline() {
            return;
        }
        let is_first = self.state == State::NotStarted;
        if is_first {
            actions.push(FlowAction::Opened { at: End::Source, two_way: true });
        }
        match &mut self.data {
            Data::Messages(source) => {
                let made = self.messages.make(now, source.as_mut());
                self.state = if made.is_last { State::Ending } else { State::Open };
                self.with_sender(now, actions, |sender, out| {
                    sender.handle_message(now, made.number, made.bytes, out);
                });
            }
            Data::Endless { .. } if is_first => {
                self.state = State::Open;
                self.with_sender(now, actions, |sender, out| sender.handle_start(now, out));
            }
            Data::Endless { .. } => {
                self.state = State::Ending;
                self.with_sender(now, actions, |sender, _| sender.handle_close());
            }
        }
    }

    /// Calls the sender and passes on what it asks for. The flow is over when the source has ended and
    /// nothing waits.
    fn with_sender(
        &mut self,
        now: Time,
        actions: &mut Vec<FlowAction>,
        call: impl FnOnce(&mut Sender, &mut Vec<Output>),
    ) {
        let mut outputs = Vec::new();
        call(&mut self.sender, &mut outputs);
        for output in outputs {
            match output {
                Output::Dropped(message) => self.messages.log.drop(message),
                Output::Send(segment, bytes) => self.send(now, segment, bytes, actions),
            }
        }
        if self.state == State::Ending && self.sender.waiting().next().is_none() {
            self.state = State::Closed;
            if let Some(rtp) = &mut self.rtp {
                rtp.say_bye(now, actions);
            }
            actions.push(FlowAction::Closed { at: End::Source, two_way: true });
        }
    }

    /// Sends a data packet of `bytes` at the IP layer, and with an RTP header in it if the flow has RTP.
    fn send(&mut self, now: Time, segment: Segment, bytes: u32, actions: &mut Vec<FlowAction>) {
        let Segment::Data { message, payload, .. } = segment else {
            return actions.push(FlowAction::Broken("an ADP sender acknowledges"));
        };
        if matches!(self.data, Data::Endless { .. }) {
            self.messages.make_endless(now, payload);
        }
        let rtp = self.rtp.as_mut().map(|rtp| rtp.header(now, &self.messages, message, payload));
        let header_bytes = if rtp.is_some() { HEADER_BYTES } else { 0 };
        actions.push(FlowAction::Count(FlowEvent::PacketSent));
        actions.push(FlowAction::Send {
            from: End::Source,
            bytes: bytes + header_bytes,
            payload: Payload::Adp(self.messages.id, segment, rtp),
            ecn: Ecn::NotEct,
        });
    }

    /// Calls the receiver and sends its acknowledgements, which have no RTP header.
    fn with_receiver(
        &mut self,
        actions: &mut Vec<FlowAction>,
        call: impl FnOnce(&mut Receiver, &mut Vec<Output>),
    ) {
        let mut outputs = Vec::new();
        call(&mut self.receiver, &mut outputs);
        actions.extend(outputs.into_iter().map(|output| match output {
            Output::Send(segment, bytes) => FlowAction::Send {
                from: End::Destination,
                bytes,
                payload: Payload::Adp(self.messages.id, segment, None),
                ecn: Ecn::NotEct,
            },
            Output::Dropped(_) => FlowAction::Broken("an ADP receiver drops a message"),
        }));
    }

    fn handle_data(
        &mut self,
        now: Time,
        (packet, segment, is_first): (&Packet, &Segment, bool),
        actions: &mut Vec<FlowAction>,
    ) {
        let Segment::Data { message, payload, .. } = *segment else {
            return self.with_sender(now, actions, |sender, out| sender.handle_ack(now, segment, out));
        };
        self.messages.arrive(now, (packet, is_first), (message, payload), actions);
        self.with_receiver(actions, |receiver, out| receiver.handle_data(now, segment, out));
    }
}

impl Flow for OverAdp {
    fn timers(&self) -> &'static [Timer] {
        const ALL: &[Timer] = &[Timer::Source, Timer::Sender, Timer::Receiver, Timer::Reports];
        if self.rtp.is_some() { ALL } else { &ALL[..3] }
    }

    fn next_timeout(&self, timer: Timer) -> Time {
        match timer {
            Timer::Source => self.source_deadline(),
            Timer::Sender => self.sender.next_timeout(),
            Timer::Receiver => self.receiver.next_timeout(),
            Timer::Reports => self.rtp.as_ref().map_or(Time::NEVER, RtpEnds::next_timeout),
        }
    }

    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>) {
        match (timer, &mut self.rtp) {
            (Timer::Source, _) => self.wake_source(now, actions),
            (Timer::Sender, _) => {
                self.with_sender(now, actions, |sender, out| sender.handle_timeout(now, out));
            }
            (Timer::Receiver, _) => {
                self.with_receiver(actions, |receiver, out| receiver.handle_timeout(now, out));
            }
            (Timer::Reports, Some(rtp)) => rtp.handle_timeout(now, actions),
            (Timer::Reports, None) => actions.push(FlowAction::Broken("a flow without RTP has reports")),
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, is_first: bool, actions: &mut Vec<FlowAction>) {
        match (&packet.payload, &mut self.rtp) {
            (Payload::Adp(_, segment, None), rtp) => {
                if rtp.is_some() && matches!(segment, Segment::Data { .. }) {
                    return actions.push(FlowAction::Broken("one end of a flow has RTP"));
                }
                self.handle_data(now, (packet, segment, is_first), actions);
            }
            (Payload::Adp(_, segment, Some(header)), Some(rtp)) => {
                rtp.handle_header(now, header);
                self.handle_data(now, (packet, segment, is_first), actions);
            }
            (Payload::Rtcp(_, report), Some(rtp)) => rtp.handle_report(now, report),
            _ => actions.push(FlowAction::Broken("a flow over ADP gets a packet that is not its own")),
        }
    }

    fn report(&self, meter: &Meter, _end: Time) -> FlowReport {
        let transport = if self.rtp.is_some() { "rtp-adp" } else { "adp" };
        let waiting: Vec<u32> = self.sender.waiting().collect();
        let measures = self.messages.named(MessageMeasures {
            acks_sent: Some(self.receiver.counters().acks_sent),
            timeouts: Some(self.sender.counters().timeouts),
            ..self.messages.common_measures(meter, transport, &waiting)
        });
        let rtp = self.rtp.as_ref().map(|rtp| rtp.measures(&self.messages));
        FlowReport { rtp, delays: Some(self.messages.delays()), ..FlowReport::of(measures) }
    }

    fn snapshot(&self, _counts: &mut RunningCounts) -> Snapshot {
        let messages = MessageSample {
            adp_window_packets: Some(self.sender.window()),
            adp_tto_s: Some(self.sender.tto().as_secs()),
            ..self.messages.sample(Some(self.sender.waiting().count() as u64))
        };
        Snapshot { tcp: None, messages: Some(messages) }
    }
}
