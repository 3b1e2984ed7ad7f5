//! RTP's ends of a flow of messages: headers on its packets, and the reports that come back.

use crate::kernel::{Slot, Span, Time};
use crate::observe::RtpMeasures;
use crate::scenario::Scenario;
use crate::transport::rtp;
use crate::wire::{self, Ecn, FlowId, Payload};

use super::Network;
use super::flows::Transport;

/// Both ends of RTP, of which the bearer knows nothing.
pub(super) struct RtpFlow {
    sender: rtp::Sender,
    receiver: rtp::Receiver,
    report_slot: Slot,
    report_bytes: u32,
    sender_report_bytes: u32,
    sender_reports: u64,
    /// The message that is being sent, and how much of it has been.
    sent: (u32, u32),
    /// Reports that came back, and the sum of the fractions lost that they say, in 256ths.
    reports: (u64, u64),
}

impl RtpFlow {
    /// Ends that have sent nothing.
    pub(super) fn new(
        sender: rtp::Sender,
        receiver: rtp::Receiver,
        report_slot: Slot,
        params: &rtp::RtpParams,
    ) -> RtpFlow {
        let (report_bytes, sender_report_bytes) = (params.report_bytes, params.sender_report_bytes);
        RtpFlow {
            sender,
            receiver,
            report_slot,
            report_bytes,
            sender_report_bytes,
            sender_reports: 0,
            sent: (0, 0),
            reports: (0, 0),
        }
    }

    /// The header of the next packet, sent at `now`: `payload` bytes of a message, given by number, bytes and when it was made.
    pub(super) fn header(
        &mut self,
        now: Time,
        (message, bytes, made): (u32, u32, Time),
        payload: u32,
    ) -> wire::rtp::Header {
        let before = if self.sent.0 == message { self.sent.1 } else { 0 };
        self.sent = (message, before + payload);
        self.sender.header(now, payload, made, before + payload >= bytes)
    }

    fn next_timeout(&self) -> Time {
        self.sender.next_timeout().min(self.receiver.next_timeout())
    }
}

impl Network {
    fn rtp_mut(&mut self, id: FlowId) -> Option<&mut RtpFlow> {
        match &mut self.flows[id.index()].transport {
            Transport::Messages(messages) => messages.rtp.as_deref_mut(),
            _ => None,
        }
    }

    /// A packet of a flow arrived, with or without an RTP header.
    pub(super) fn hear_rtp(&mut self, id: FlowId, header: Option<&wire::rtp::Header>) {
        let now = self.now;
        let (Some(header), Some(flow)) = (header, self.rtp_mut(id)) else { return };
        flow.receiver.handle_packet(now, header);
        self.await_reports(id.0);
    }

    /// Sets the time at which either end of a flow next reports, if it does.
    pub(super) fn await_reports(&mut self, id: u32) {
        let Some(flow) = self.rtp_mut(FlowId(id)) else { return };
        let (slot, next) = (flow.report_slot, flow.next_timeout());
        self.agenda.set(slot, next);
    }

    /// A report may be due.
    pub(super) fn wake_reports(&mut self, id: u32) {
        let now = self.now;
        let Some(flow) = self.rtp_mut(FlowId(id)) else { return };
        let of_sender = flow.sender.handle_timeout(now);
        let of_receiver = flow.receiver.handle_timeout(now);
        self.await_reports(id);
        let reports = [of_sender.map(wire::rtp::Rtcp::Sender), of_receiver.map(wire::rtp::Rtcp::Receiver)];
        for report in reports.into_iter().flatten() {
            self.send_report(id, report);
        }
    }

    /// The sender of a flow leaves the session, if it has one.
    pub(super) fn say_bye(&mut self, id: u32) {
        let now = self.now;
        let Some(flow) = self.rtp_mut(FlowId(id)) else { return };
        let bye = wire::rtp::Rtcp::Bye(flow.sender.handle_end(now));
        self.await_reports(id);
        self.send_report(id, bye);
    }

    fn send_report(&mut self, id: u32, report: wire::rtp::Rtcp) {
        let Some(flow) = self.rtp_mut(FlowId(id)) else { return };
        let bytes = match report {
            wire::rtp::Rtcp::Receiver(_) => flow.report_bytes,
            wire::rtp::Rtcp::Sender(_) => flow.sender_report_bytes,
            wire::rtp::Rtcp::Bye(_) => flow.sender_report_bytes + wire::rtp::BYE_BYTES,
        };
        let is_back = matches!(report, wire::rtp::Rtcp::Receiver(_));
        flow.sender_reports += u64::from(!is_back);
        let flow = &self.flows[id as usize];
        let (src, dst) = if is_back { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        let bytes = bytes + self.udp_overhead_bytes;
        self.originate(src, dst, bytes, Payload::Rtcp(FlowId(id), report), Ecn::NotEct);
    }

    /// A report reached the other end.
    pub(super) fn hear_report(&mut self, id: FlowId, report: &wire::rtp::Rtcp) {
        let now = self.now;
        let Some(flow) = self.rtp_mut(id) else { return };
        match report {
            wire::rtp::Rtcp::Receiver(report) => {
                flow.reports.0 += 1;
                flow.reports.1 += u64::from(report.fraction_lost);
                flow.sender.handle_report(now, report);
            }
            wire::rtp::Rtcp::Sender(report) => flow.receiver.handle_sender_report(now, report),
            wire::rtp::Rtcp::Bye(report) => {
                flow.receiver.handle_bye(now, report);
                self.await_reports(id.0);
            }
        }
    }

    /// What RTP measures of a flow; none if it has none.
    pub(super) fn rtp_measures(&self, id: u32, scenario: &Scenario) -> Option<RtpMeasures> {
        let Transport::Messages(messages) = &self.flows[id as usize].transport else { return None };
        let rtp = messages.rtp.as_deref()?;
        let (expected, lost) = rtp.receiver.losses();
        let (told, sender_reports_received) = rtp.receiver.told();
        let (warmup, deadline) =
            (Time::from_secs(scenario.warmup_s), Span::from_secs(scenario.params.video.playout_deadline_s));
        Some(RtpMeasures {
            rtp_packets_expected: expected,
            rtp_packets_lost: lost,
            rtp_loss_fraction: (expected > 0).then(|| lost as f64 / expected as f64),
            rtp_jitter_s: rtp.receiver.jitter_s(),
            rtp_reports_sent: rtp.receiver.reports(),
            rtp_reports_received: rtp.reports.0,
            rtp_reported_loss_mean: (rtp.reports.0 > 0)
                .then(|| rtp.reports.1 as f64 / 256.0 / rtp.reports.0 as f64),
            rtp_sender_reports_sent: rtp.sender_reports,
            rtp_sender_reports_received: sender_reports_received,
            rtp_reported_packets: told.map(|report| u64::from(report.packets)),
            rtp_reported_bytes: told.map(|report| u64::from(report.octets)),
            rtp_round_trip_mean_s: rtp.sender.round_trip_mean_s(),
            rtp_in_time_fraction: messages.log.in_time_fraction(warmup, deadline),
        })
    }
}
