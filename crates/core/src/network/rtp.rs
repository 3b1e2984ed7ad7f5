//! RTP's ends of a flow of messages: headers on its packets, and the reports that come back.

use crate::kernel::{Slot, Span, Time};
use crate::observe::RtpMeasures;
use crate::packet::{Ecn, FlowId, Payload};
use crate::scenario::Scenario;
use crate::transport::rtp;

use super::Network;
use super::flows::Transport;

/// Both ends of RTP, of which the bearer knows nothing.
pub(super) struct RtpFlow {
    sender: rtp::Sender,
    receiver: rtp::Receiver,
    report_slot: Slot,
    report_bytes: u32,
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
        report_bytes: u32,
    ) -> RtpFlow {
        RtpFlow { sender, receiver, report_slot, report_bytes, sent: (0, 0), reports: (0, 0) }
    }

    /// The header of the next packet: `payload` bytes of a message of `bytes`, made at `made`.
    pub(super) fn header(&mut self, message: u32, payload: u32, bytes: u32, made: Time) -> rtp::Header {
        let before = if self.sent.0 == message { self.sent.1 } else { 0 };
        self.sent = (message, before + payload);
        self.sender.header(made, before + payload >= bytes)
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
    pub(super) fn hear_rtp(&mut self, id: FlowId, header: Option<&rtp::Header>) {
        let now = self.now;
        let (Some(header), Some(flow)) = (header, self.rtp_mut(id)) else { return };
        flow.receiver.handle_packet(now, header);
        let (slot, next) = (flow.report_slot, flow.receiver.next_timeout());
        self.agenda.set(slot, next);
    }

    /// A report may be due.
    pub(super) fn wake_reports(&mut self, id: u32) {
        let now = self.now;
        let Some(flow) = self.rtp_mut(FlowId(id)) else { return };
        let report = flow.receiver.handle_timeout(now);
        let (slot, next, bytes) = (flow.report_slot, flow.receiver.next_timeout(), flow.report_bytes);
        self.agenda.set(slot, next);
        if let Some(report) = report {
            let flow = &self.flows[id as usize];
            // Reports go the other way.
            let (src, dst, bytes) = (flow.dst, flow.src, bytes + self.udp_overhead_bytes);
            self.originate(src, dst, bytes, Payload::Rtcp(FlowId(id), report), Ecn::NotEct);
        }
    }

    /// A report reached the sender.
    pub(super) fn hear_report(&mut self, id: FlowId, report: &rtp::Report) {
        if let Some(flow) = self.rtp_mut(id) {
            flow.reports.0 += 1;
            flow.reports.1 += u64::from(report.fraction_lost);
        }
    }

    /// What RTP measures of a flow; none if it has none.
    pub(super) fn rtp_measures(&self, id: u32, scenario: &Scenario) -> Option<RtpMeasures> {
        let Transport::Messages(messages) = &self.flows[id as usize].transport else { return None };
        let rtp = messages.rtp.as_deref()?;
        let (expected, lost) = rtp.receiver.losses();
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
            rtp_in_time_fraction: messages.log.in_time_fraction(warmup, deadline),
        })
    }
}
