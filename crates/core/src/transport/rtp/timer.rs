//! When a member of the session reports (RFC 3550 §6.2, §6.3).
//! *Deviation*: 3 in docs/models/rtp.md.

use super::RtpParams;
use crate::kernel::{Span, Stream, Time};

/// What makes up for the reconsideration of the timer (§6.3.1): e − 3/2.
pub(super) const COMPENSATION: f64 = std::f64::consts::E - 1.5;

/// One member's timer. Both ends share the bandwidth of reports: more than a quarter of the members send
/// (§6.3.1).
pub(super) struct ReportTimer {
    stream: Stream,
    interval_s: f64,
    /// What reports may take, in bit/s.
    bandwidth_bps: f64,
    /// Mean length of the members' reports at the IP layer, in bytes.
    report_bytes: f64,
    members: f64,
    reports: u64,
    /// When the last report was due (`tp`), and when the next is (`tn`).
    previous: Time,
    next: Time,
}

impl ReportTimer {
    /// The timer of a member that has not joined. `overhead_bytes` are those of UDP and IP.
    pub(super) fn new(params: &RtpParams, overhead_bytes: u32, stream: Stream) -> ReportTimer {
        let both = f64::from(params.report_bytes) + f64::from(params.sender_report_bytes);
        ReportTimer {
            stream,
            interval_s: params.report_interval_s,
            bandwidth_bps: params.session_bandwidth_bps * params.report_share,
            report_bytes: both / 2.0 + f64::from(overhead_bytes),
            members: 2.0,
            reports: 0,
            previous: Time::NEVER,
            next: Time::NEVER,
        }
    }

    /// The member joins (§6.3.2).
    pub(super) fn join(&mut self, now: Time) {
        self.previous = now;
        self.next = now + self.interval();
    }

    /// Has the member joined, and not left?
    pub(super) fn is_running(&self) -> bool {
        self.next != Time::NEVER
    }

    /// Is it time to report? An early call does nothing.
    pub(super) fn fires(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        // §6.3.6: the interval is drawn again, and only if it is over by now there is a report.
        let reconsidered = self.previous + self.interval();
        if reconsidered > now {
            self.next = reconsidered;
            return false;
        }
        true
    }

    /// What was due at `now` was sent, or there was nothing to say.
    pub(super) fn restart(&mut self, now: Time, sent: bool) {
        self.reports += u64::from(sent);
        self.previous = now;
        self.next = now + self.interval();
    }

    /// The other member has left: reverse reconsideration (§6.3.4), from two members to one.
    pub(super) fn lose_member(&mut self, now: Time) {
        self.members = 1.0;
        self.next = now + Span(self.next.since(now).0 / 2);
        self.previous = Time(now.0 - now.since(self.previous).0 / 2);
    }

    /// The member leaves.
    pub(super) fn stop(&mut self) {
        self.next = Time::NEVER;
    }

    pub(super) fn next(&self) -> Time {
        self.next
    }

    pub(super) fn reports(&self) -> u64 {
        self.reports
    }

    // §6.3.1.
    fn interval(&mut self) -> Span {
        let least_s = if self.reports == 0 { self.interval_s / 2.0 } else { self.interval_s };
        let interval_s = least_s.max(self.members * self.report_bytes * 8.0 / self.bandwidth_bps);
        Span::from_secs(interval_s * self.stream.uniform(0.5, 1.5) / COMPENSATION)
    }
}
