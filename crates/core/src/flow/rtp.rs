//! RTP's two ends beside a flow of messages: headers on its packets, and the reports both ends send each
//! other. The transport that carries the packets knows nothing of them. *Deviations*: 4, 6 and 7
//! in docs/models/rtp.md.

use super::{End, FlowAction};
use crate::kernel::Time;
use crate::observe::RtpMeasures;
use crate::transport::rtp::{self, RtpParams};
use crate::wire::rtp::{BYE_BYTES, Header, Rtcp};
use crate::wire::{Ecn, FlowId, Payload};

use super::messages::Messages;

/// See the module's head.
pub(super) struct RtpEnds {
    id: FlowId,
    sender: rtp::Sender,
    receiver: rtp::Receiver,
    /// Bytes of UDP and IP headers.
    overhead_bytes: u32,
    report_bytes: u32,
    sender_report_bytes: u32,
    /// Sender reports sent, BYE included.
    sender_reports: u64,
    /// The message that is being sent, and how much of it has been.
    sent: (u32, u32),
    /// Reports that came back, and the sum of the fractions lost that they state, in 256ths.
    reports: (u64, u64),
}

impl RtpEnds {
    /// Ends that have sent nothing.
    pub(super) fn new(
        id: FlowId,
        (sender, receiver): (rtp::Sender, rtp::Receiver),
        params: &RtpParams,
        overhead_bytes: u32,
    ) -> RtpEnds {
        RtpEnds {
            id,
            sender,
            receiver,
            overhead_bytes,
            report_bytes: params.report_bytes,
            sender_report_bytes: params.sender_report_bytes,
            sender_reports: 0,
            sent: (0, 0),
            reports: (0, 0),
        }
    }

    /// The header of the next packet, with `payload` bytes of a message.
    pub(super) fn header(&mut self, now: Time, messages: &Messages, number: u32, payload: u32) -> Header {
        let (message, made) = messages.log.message(number);
        let before = if self.sent.0 == number { self.sent.1 } else { 0 };
        self.sent = (number, before + payload);
        self.sender.header(now, payload, made, before + payload >= message.bytes)
    }

    /// When either end next reports.
    pub(super) fn next_timeout(&self) -> Time {
        self.sender.next_timeout().min(self.receiver.next_timeout())
    }

    /// A report of either end may be due.
    pub(super) fn handle_timeout(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        let of_sender = self.sender.handle_timeout(now).map(Rtcp::Sender);
        let of_receiver = self.receiver.handle_timeout(now).map(Rtcp::Receiver);
        for report in [of_sender, of_receiver].into_iter().flatten() {
            self.send(report, actions);
        }
    }

    /// A packet with this header arrived.
    pub(super) fn handle_header(&mut self, now: Time, header: &Header) {
        self.receiver.handle_packet(now, header);
    }

    /// A report reached the other end.
    pub(super) fn handle_report(&mut self, now: Time, report: &Rtcp) {
        match report {
            Rtcp::Receiver(report) => {
                self.reports.0 += 1;
                self.reports.1 += u64::from(report.fraction_lost);
                self.sender.handle_report(now, report);
            }
            Rtcp::Sender(report) => self.receiver.handle_sender_report(now, report),
            Rtcp::Bye(report) => self.receiver.handle_bye(now, report),
        }
    }

    /// The flow is over: its sender leaves the session.
    pub(super) fn say_bye(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        let bye = Rtcp::Bye(self.sender.handle_end(now));
        self.send(bye, actions);
    }

    /// The measures of a flow of these messages.
    pub(super) fn measures(&self, messages: &Messages) -> RtpMeasures {
        let (expected, lost) = self.receiver.losses();
        let (told, sender_reports_received) = self.receiver.told();
        let (reports, fractions) = self.reports;
        RtpMeasures {
            rtp_packets_expected: expected,
            rtp_packets_lost: lost,
            rtp_loss_fraction: loss_fraction(expected, lost),
            rtp_jitter_s: self.receiver.jitter_s(),
            rtp_reports_sent: self.receiver.reports(),
            rtp_reports_received: reports,
            rtp_reported_loss_mean: (reports > 0).then(|| fractions as f64 / 256.0 / reports as f64),
            rtp_sender_reports_sent: self.sender_reports,
            rtp_sender_reports_received: sender_reports_received,
            rtp_reported_packets: told.map(|report| u64::from(report.packets)),
            rtp_reported_bytes: told.map(|report| u64::from(report.octets)),
            rtp_round_trip_mean_s: self.sender.round_trip_mean_s(),
            rtp_in_time_fraction: messages.in_time_fraction(),
        }
    }

    fn send(&mut self, report: Rtcp, actions: &mut Vec<FlowAction>) {
        let (from, bytes) = match report {
            Rtcp::Receiver(_) => (End::Destination, self.report_bytes),
            Rtcp::Sender(_) => (End::Source, self.sender_report_bytes),
            Rtcp::Bye(_) => (End::Source, self.sender_report_bytes + BYE_BYTES),
        };
        self.sender_reports += u64::from(from == End::Source);
        actions.push(FlowAction::Send {
            from,
            bytes: bytes + self.overhead_bytes,
            payload: Payload::Rtcp(self.id, report),
            ecn: Ecn::NotEct,
        });
    }
}

/// The share of the packets that did not arrive; copies make it zero at the least, as in the reports
/// (RFC 3550 §6.4.1). None before the first packet.
fn loss_fraction(expected: i64, lost: i64) -> Option<f64> {
    (expected > 0).then(|| lost.max(0) as f64 / expected as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_do_not_make_the_loss_negative() {
        assert_eq!(loss_fraction(10, 4), Some(0.4));
        assert_eq!(loss_fraction(10, -20), Some(0.0));
        assert_eq!(loss_fraction(0, 0), None);
    }
}
