//! The sending end: headers, sender reports, the farewell (RFC 3550 §5.1, §6.4.1, §6.6).

use super::timer::ReportTimer;
use super::{RtpParams, compact, ticks};
use crate::kernel::{Stream, Time};
use crate::wire::rtp::{Header, Report, SenderReport};

/// The sending end. Calls come in order of time.
pub struct Sender {
    next: u16,
    clock_hz: f64,
    offset: u32,
    timer: ReportTimer,
    packets: u32,
    octets: u32,
    /// Packets at the last report and at the one before.
    reported: [u32; 2],
    /// Round trips that reports told, in 65536ths of a second: how many, and their sum.
    round_trips: (u64, u64),
}

impl Sender {
    /// A sender that begins at a sequence number and a time stamp drawn from `stream` (§5.1), and joins with
    /// its first packet; its reports come at times drawn from `report_stream`. `overhead_bytes` are those of
    /// UDP and IP.
    pub fn new(
        params: &RtpParams,
        overhead_bytes: u32,
        stream: &mut Stream,
        report_stream: Stream,
    ) -> Sender {
        let next = stream.below(1 << 16) as u16;
        Sender {
            next,
            clock_hz: params.clock_hz,
            offset: stream.below(u32::MAX),
            timer: ReportTimer::new(params, overhead_bytes, report_stream),
            packets: 0,
            octets: 0,
            reported: [0, 0],
            round_trips: (0, 0),
        }
    }

    /// The header of the next packet, sent at `now`, with `payload` bytes of a frame made at `made`.
    pub fn header(&mut self, now: Time, payload: u32, made: Time, marker: bool) -> Header {
        if self.packets == 0 {
            self.timer.join(now);
        }
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(payload);
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        Header { sequence, timestamp: self.stamp(made), marker }
    }

    /// The report, if one is due and anything was sent since the last but one (§6.4). An early call does
    /// nothing.
    pub fn handle_timeout(&mut self, now: Time) -> Option<SenderReport> {
        if !self.timer.fires(now) {
            return None;
        }
        let sends = self.packets != self.reported[1];
        self.reported = [self.packets, self.reported[0]];
        self.timer.restart(now, sends);
        sends.then(|| self.report(now))
    }

    /// The flow is over: the report that says so. In a session of two nobody has to wait to leave (§6.3.7).
    pub fn handle_end(&mut self, now: Time) -> SenderReport {
        self.timer.stop();
        self.report(now)
    }

    /// A receiver's report came back: the round trip (§6.4.1) is the time since the sender's report that it
    /// names, less what the receiver waited.
    pub fn handle_report(&mut self, now: Time, report: &Report) {
        if let Some((last, delay)) = report.last_sender_report {
            let round_trip = compact(now).wrapping_sub(last).wrapping_sub(delay);
            self.round_trips.0 += 1;
            self.round_trips.1 += u64::from(round_trip);
        }
    }

    /// When the next report is due; [`Time::NEVER`] before the first packet and after the end.
    pub fn next_timeout(&self) -> Time {
        self.timer.next()
    }

    /// Mean of the round trips that reports told, in s; none if none did.
    pub fn round_trip_mean_s(&self) -> Option<f64> {
        let (count, sum) = self.round_trips;
        (count > 0).then(|| sum as f64 / 65_536.0 / count as f64)
    }

    fn report(&self, now: Time) -> SenderReport {
        SenderReport { sent: now, timestamp: self.stamp(now), packets: self.packets, octets: self.octets }
    }

    fn stamp(&self, time: Time) -> u32 {
        self.offset.wrapping_add(ticks(time, self.clock_hz))
    }
}
