//! What all flows of messages have in common, whatever carries them: the account of every message.

use super::FlowAction;
use super::lateness::Lateness;
use crate::kernel::{Span, Time};
use crate::observe::{
    Delays, Delivery, FlowEvent, FlowMeasures, MessageLog, MessageMeasures, MessageSample, Meter, VoiceSpec,
};
use crate::traffic::{Message, Source};
use crate::wire::{FlowId, Packet};

/// What kind of source makes the messages; the measures are named after it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum MessageKind {
    OnOff,
    Poisson,
    Trace,
    /// The messages are frames, with measures of their own.
    Video,
    /// The messages are packets of speech, with measures of their own.
    Voice(VoiceSpec),
    /// Endless data over ADP.
    Adp,
}

/// The messages of a flow.
pub(super) struct Messages {
    pub(super) id: FlowId,
    kind: MessageKind,
    /// Measures count messages made from here on.
    warmup: Time,
    /// After this a message comes too late; zero: never.
    playout_deadline: Span,
    lateness: Lateness,
    pub(super) log: MessageLog,
}

/// A message that was just made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Made {
    pub(super) number: u32,
    pub(super) bytes: u32,
    /// Is it the flow's first?
    pub(super) is_first: bool,
    /// Will the source make no more?
    pub(super) is_last: bool,
}

impl Messages {
    /// No messages yet.
    pub(super) fn new(
        id: FlowId,
        kind: MessageKind,
        warmup: Time,
        playout_deadline: Span,
        lateness: Lateness,
    ) -> Messages {
        Messages { id, kind, warmup, playout_deadline, lateness, log: MessageLog::default() }
    }

    /// A datagram with so many bytes of a message has arrived; one that is late counts as lost.
    pub(super) fn arrive(
        &mut self,
        now: Time,
        (packet, is_first): (&Packet, bool),
        (message, payload): (u32, u32),
        actions: &mut Vec<FlowAction>,
    ) {
        if self.lateness.applies(now, packet) {
            return;
        }
        let delivery = Delivery::of(packet, payload, is_first);
        actions.push(FlowAction::Count(FlowEvent::PacketDelivered(delivery)));
        if is_first {
            self.log.arrive(now, message, payload);
        }
    }

    /// Takes the message that is due from its source.
    pub(super) fn make(&mut self, now: Time, source: &mut dyn Source) -> Made {
        let message = source.handle_timeout();
        let number = self.log.make(now, message);
        let is_last = source.next_timeout() == Time::NEVER;
        Made { number, bytes: message.bytes, is_first: number == 0, is_last }
    }

    /// An endless source makes a message of `bytes`, which its transport sends at once.
    pub(super) fn make_endless(&mut self, now: Time, bytes: u32) {
        self.log.make(now, Message { bytes, frame: None });
    }

    /// Of the messages made in the window those delivered in time.
    pub(super) fn in_time_fraction(&self) -> Option<f64> {
        self.log.in_time_fraction(self.warmup, self.playout_deadline)
    }

    /// How long the messages of the window took.
    pub(super) fn delays(&self) -> Delays {
        self.log.delays(self.warmup)
    }

    /// The measures that all transports have; `waiting` are the messages at the sender.
    pub(super) fn common_measures(
        &self,
        meter: &Meter,
        transport: &'static str,
        waiting: &[u32],
    ) -> MessageMeasures {
        self.log.measures(self.warmup, transport, waiting, &meter.cbr_measures(self.id))
    }

    /// The measures under the name of the flow's kind.
    pub(super) fn named(&self, measures: MessageMeasures) -> FlowMeasures {
        match self.kind {
            MessageKind::OnOff => FlowMeasures::OnOff(measures),
            MessageKind::Poisson => FlowMeasures::Poisson(measures),
            MessageKind::Trace => FlowMeasures::Trace(measures),
            MessageKind::Video => {
                FlowMeasures::Video(self.log.video(self.warmup, self.playout_deadline, measures))
            }
            MessageKind::Voice(spec) => FlowMeasures::Voice(self.log.voice(self.warmup, spec, measures)),
            MessageKind::Adp => FlowMeasures::Adp(measures),
        }
    }

    /// The messages at this instant, `waiting` of them at the sender if it knows.
    pub(super) fn sample(&self, waiting: Option<u64>) -> MessageSample {
        MessageSample {
            flow: self.id.0,
            delivered_messages: self.log.delivered(),
            waiting_messages: waiting,
            adp_window_packets: None,
            adp_tto_s: None,
        }
    }
}
