//! Messages over UDP, with or without RTP: each is cut into datagrams that are sent at once and never again.

use super::messages::Messages;
use super::rtp::RtpEnds;
use super::{End, Flow, FlowAction, FlowReport, Snapshot, Timer};
use crate::kernel::Time;
use crate::observe::{FlowEvent, Meter, RunningCounts};
use crate::traffic::Source;
use crate::wire::rtp::HEADER_BYTES;
use crate::wire::{Datagram, Ecn, Packet, Payload};

/// See the module's head.
pub(super) struct OverUdp {
    source: Box<dyn Source>,
    messages: Messages,
    rtp: Option<RtpEnds>,
    /// Payload of a datagram at most.
    packet_bytes: u32,
    /// Bytes of UDP and IP headers.
    overhead_bytes: u32,
}

impl OverUdp {
    /// A flow that has sent nothing.
    pub(super) fn new(
        source: Box<dyn Source>,
        messages: Messages,
        rtp: Option<RtpEnds>,
        packet_bytes: u32,
        overhead_bytes: u32,
    ) -> OverUdp {
        OverUdp { source, messages, rtp, packet_bytes, overhead_bytes }
    }

    fn wake_source(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        if now < self.source.next_timeout() {
            return;
        }
        let made = self.messages.make(now, self.source.as_mut());
        let (at, two_way) = (End::Source, self.rtp.is_some());
        if made.is_first {
            actions.push(FlowAction::Opened { at, two_way });
        }
        for sent in (0..made.bytes).step_by(self.packet_bytes as usize) {
            let payload = self.packet_bytes.min(made.bytes - sent);
            self.send(now, made.number, payload, actions);
        }
        if made.is_last {
            if let Some(rtp) = &mut self.rtp {
                rtp.say_bye(now, actions);
            }
            actions.push(FlowAction::Closed { at, two_way });
        }
    }

    /// Sends one datagram with `payload` bytes of a message.
    fn send(&mut self, now: Time, message: u32, payload: u32, actions: &mut Vec<FlowAction>) {
        let rtp = self.rtp.as_mut().map(|rtp| rtp.header(now, &self.messages, message, payload));
        let header_bytes = if rtp.is_some() { HEADER_BYTES } else { 0 };
        actions.push(FlowAction::Count(FlowEvent::PacketSent));
        actions.push(FlowAction::Send {
            from: End::Source,
            bytes: payload + header_bytes + self.overhead_bytes,
            payload: Payload::Datagram(self.messages.id, Datagram { message, payload, rtp }),
            ecn: Ecn::NotEct,
        });
    }
}

impl Flow for OverUdp {
    fn timers(&self) -> &'static [Timer] {
        if self.rtp.is_some() { &[Timer::Source, Timer::Reports] } else { &[Timer::Source] }
    }

    fn next_timeout(&self, timer: Timer) -> Time {
        match (timer, &self.rtp) {
            (Timer::Source, _) => self.source.next_timeout(),
            (Timer::Reports, Some(rtp)) => rtp.next_timeout(),
            _ => Time::NEVER,
        }
    }

    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>) {
        match (timer, &mut self.rtp) {
            (Timer::Source, _) => self.wake_source(now, actions),
            (Timer::Reports, Some(rtp)) => rtp.handle_timeout(now, actions),
            _ => actions.push(FlowAction::Broken("UDP has a timer")),
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, is_first: bool, actions: &mut Vec<FlowAction>) {
        match (&packet.payload, &mut self.rtp) {
            (Payload::Datagram(_, datagram), rtp) => {
                match (rtp, &datagram.rtp) {
                    (Some(rtp), Some(header)) => rtp.handle_header(now, header),
                    (None, None) => {}
                    _ => return actions.push(FlowAction::Broken("one end of a flow has RTP")),
                }
                let part = (datagram.message, datagram.payload);
                self.messages.arrive(now, (packet, is_first), part, actions);
            }
            (Payload::Rtcp(_, report), Some(rtp)) => rtp.handle_report(now, report),
            _ => actions.push(FlowAction::Broken("a flow over UDP gets a packet that is not its own")),
        }
    }

    fn report(&self, meter: &Meter, _end: Time) -> FlowReport {
        let transport = if self.rtp.is_some() { "rtp-udp" } else { "udp" };
        let measures = self.messages.named(self.messages.common_measures(meter, transport, &[]));
        let rtp = self.rtp.as_ref().map(|rtp| rtp.measures(&self.messages));
        FlowReport { rtp, delays: Some(self.messages.delays()), ..FlowReport::of(measures) }
    }

    fn snapshot(&self, _counts: &mut RunningCounts) -> Snapshot {
        Snapshot { tcp: None, messages: Some(self.messages.sample(Some(0))) }
    }
}
