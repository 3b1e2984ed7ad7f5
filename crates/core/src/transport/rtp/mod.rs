//! RTP and RTCP (RFC 3550): numbered, stamped packets over UDP or ADP, and reports of what was sent and how
//! it arrives.
//!
//! Read RFC 3550 §5.1 (header), §6.2 and §6.3 (when to report), §6.4 (what) and A.1, A.3 and A.8 (how it is
//! counted) first. **Implemented:** the header's sequence number, time stamp and marker; sender reports with
//! times and totals; receiver reports with the fraction lost, the cumulative loss, the extended highest
//! sequence number, the interarrival jitter and what tells the round trip; both at the RFC's interval with
//! timer reconsideration; BYE of the sender, with reverse reconsideration. **Not implemented:** mixers, more
//! than one sender and one receiver, BYE of the receiver. **Deviations:** 1 to 3 and 5 in docs/models/rtp.md.

mod sender;
mod timer;

pub use sender::Sender;

use self::timer::ReportTimer;
use crate::kernel::{Stream, Time};
use crate::params::params;
use crate::wire::rtp::{Header, Report, SenderReport};

params! {
    /// RTP flows, at both ends.
    pub struct RtpParams in "rtp" {
        /// Ticks of the time stamp per second.
        clock_hz: f64 = 90_000.0, "1/s", "RFC 3551 §5: video", [1.0, 1e9];
        /// Bandwidth of the session, of which reports use a share.
        session_bandwidth_bps: f64 = 145_300.0, "bit/s", "RFC 3550 §6.2; Dyer 2002 §5.2.2", [1.0, 1e12];
        /// The reports' share of the session bandwidth.
        report_share: f64 = 0.05, "", "RFC 3550 §6.2", [1e-6, 1.0];
        /// Minimum time between reports; half of it before the first.
        report_interval_s: f64 = 5.0, "s", "RFC 3550 §6.2", [0.01, 1e5];
        /// Bytes of a report above UDP: 32 of the receiver report and 20 of the source description.
        report_bytes: u32 = 52, "byte", "RFC 3550 §6.4.2, §6.5", [8.0, 65_507.0];
        /// Bytes of a sender report above UDP: 28 of the report and 20 of the source description. A BYE adds
        /// 8.
        sender_report_bytes: u32 = 48, "byte", "RFC 3550 §6.4.1, §6.5, §6.6", [8.0, 65_499.0];
    }
}

/// A time in ticks, of which the lower half counts.
fn ticks(time: Time, clock_hz: f64) -> u32 {
    (time.as_secs() * clock_hz) as u64 as u32
}

/// The middle 32 bits of an NTP time stamp: 65536ths of a second (§4).
fn compact(time: Time) -> u32 {
    ((u128::from(time.0) << 16) / 1_000_000_000) as u32
}

/// What has arrived, first of all by its extended sequence numbers.
#[derive(Clone, Copy, Debug)]
struct Arrivals {
    base: i64,
    highest: i64,
    received: i64,
    /// Arrival less time stamp of the latest packet.
    transit: u32,
    jitter: f64,
}

impl Arrivals {
    fn expected(&self) -> i64 {
        self.highest - self.base + 1
    }
}

/// The receiving end. Calls come in order of time.
pub struct Receiver {
    clock_hz: f64,
    arrivals: Option<Arrivals>,
    /// Expected and received at the last report.
    reported: (i64, i64),
    timer: ReportTimer,
    /// The sender's last report, and when it came.
    told: Option<(SenderReport, Time)>,
    sender_reports: u64,
    /// Has the sender left?
    is_alone: bool,
}

impl Receiver {
    /// A receiver that joins with the first packet. `overhead_bytes` are those of UDP and IP.
    pub fn new(params: &RtpParams, overhead_bytes: u32, stream: Stream) -> Receiver {
        Receiver {
            clock_hz: params.clock_hz,
            arrivals: None,
            reported: (0, 0),
            timer: ReportTimer::new(params, overhead_bytes, stream),
            told: None,
            sender_reports: 0,
            is_alone: false,
        }
    }

    /// A packet arrives.
    pub fn handle_packet(&mut self, now: Time, header: &Header) {
        let transit = ticks(now, self.clock_hz).wrapping_sub(header.timestamp);
        let Some(arrivals) = &mut self.arrivals else {
            let first = i64::from(header.sequence);
            self.arrivals = Some(Arrivals { base: first, highest: first, received: 1, transit, jitter: 0.0 });
            if !self.is_alone {
                self.timer.join(now);
            }
            return;
        };
        let ahead = header.sequence.wrapping_sub(arrivals.highest as u16) as i16;
        arrivals.highest += i64::from(ahead.max(0));
        arrivals.received += 1;
        let difference = f64::from((transit.wrapping_sub(arrivals.transit) as i32).unsigned_abs());
        arrivals.transit = transit;
        arrivals.jitter += (difference - arrivals.jitter) / 16.0;
    }

    /// The report, if one is due and anything arrived since the last. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time) -> Option<Report> {
        if !self.timer.fires(now) {
            return None;
        }
        let report = self.report(now);
        self.timer.restart(now, report.is_some());
        if self.is_alone {
            self.timer.stop();
        }
        report
    }

    /// A report of the sender arrives.
    pub fn handle_sender_report(&mut self, now: Time, report: &SenderReport) {
        self.sender_reports += 1;
        self.told = Some((*report, now));
    }

    /// The sender leaves, with its last report: what arrived since the last one is still reported.
    pub fn handle_bye(&mut self, now: Time, report: &SenderReport) {
        self.handle_sender_report(now, report);
        if !std::mem::replace(&mut self.is_alone, true) && self.timer.is_running() {
            self.timer.lose_member(now);
        }
    }

    /// The sender's last report, and how many came.
    pub fn told(&self) -> (Option<SenderReport>, u64) {
        (self.told.map(|(report, _)| report), self.sender_reports)
    }

    /// When the next report is due; [`Time::NEVER`] before the first packet.
    pub fn next_timeout(&self) -> Time {
        self.timer.next()
    }

    /// Reports sent.
    pub fn reports(&self) -> u64 {
        self.timer.reports()
    }

    /// Packets expected and packets lost so far, the latter negative if copies arrived.
    pub fn losses(&self) -> (i64, i64) {
        self.arrivals
            .map_or((0, 0), |arrivals| (arrivals.expected(), arrivals.expected() - arrivals.received))
    }

    /// The interarrival jitter, in s.
    pub fn jitter_s(&self) -> f64 {
        self.arrivals.map_or(0.0, |arrivals| arrivals.jitter / self.clock_hz)
    }

    // A.3.
    fn report(&mut self, now: Time) -> Option<Report> {
        let arrivals = self.arrivals.filter(|arrivals| arrivals.received > self.reported.1)?;
        let (expected, received) =
            (arrivals.expected() - self.reported.0, arrivals.received - self.reported.1);
        let lost = (expected - received).max(0);
        self.reported = (arrivals.expected(), arrivals.received);
        Some(Report {
            fraction_lost: if expected > 0 { (lost * 256 / expected).min(255) as u8 } else { 0 },
            cumulative_lost: (arrivals.expected() - arrivals.received).clamp(-0x80_0000, 0x7f_ffff) as i32,
            highest: arrivals.highest as u32,
            jitter: arrivals.jitter as u32,
            last_sender_report: self
                .told
                .map(|(told, came)| (compact(told.sent), compact(now).wrapping_sub(compact(came)))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::timer::COMPENSATION;
    use super::*;
    use crate::kernel::{Purpose, Span, Streams};

    fn stream(flow: u32) -> Stream {
        Streams::new(1, 0).stream(flow, Purpose::Transport)
    }

    fn receiver() -> Receiver {
        Receiver::new(&RtpParams::default(), 28, stream(0))
    }

    fn sender(flow: u32) -> Sender {
        Sender::new(&RtpParams::default(), 28, &mut stream(flow), stream(flow + 1))
    }

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn packet(sequence: u16, made_s: f64) -> Header {
        Header { sequence, timestamp: (made_s * 90_000.0) as u32, marker: true }
    }

    #[test]
    fn headers_count_and_stamp() {
        let mut sender = sender(3);
        let headers: Vec<Header> = [(1.0, false), (1.0, true), (1.5, true)]
            .map(|(made, last)| sender.header(at(made), 100, at(made), last))
            .into();
        let first = headers[0].sequence;
        let numbers: Vec<u16> = headers.iter().map(|header| header.sequence.wrapping_sub(first)).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(headers.iter().map(|header| header.marker).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(headers[1].timestamp, headers[0].timestamp);
        assert_eq!(headers[2].timestamp.wrapping_sub(headers[0].timestamp), 45_000);
        let beginnings: std::collections::BTreeSet<u16> =
            (0..20).map(|flow| self::sender(flow).header(at(0.0), 1, at(0.0), true).sequence).collect();
        assert_eq!(beginnings.len(), 20);
    }

    /// Sequence numbers go on over the wrap: 65 534, 65 535, 0 (lost), 1, and one that comes late.
    #[test]
    fn numbers_wrap() {
        let mut receiver = receiver();
        for sequence in [65_533, 65_535, 1, 65_534] {
            receiver.handle_packet(at(1.0), &packet(sequence, 1.0));
        }
        assert_eq!(receiver.losses(), (5, 1));
        let report = receiver.report(at(1.0)).expect("packets arrived");
        assert_eq!((report.highest, report.cumulative_lost, report.fraction_lost), (65_537, 1, 51));
        for sequence in 2..=u16::MAX {
            receiver.handle_packet(at(2.0), &packet(sequence, 2.0));
        }
        receiver.handle_packet(at(2.0), &packet(0, 2.0));
        assert_eq!(receiver.report(at(1.0)).map(|report| report.highest), Some(2 << 16));
        assert_eq!(receiver.losses(), (65_540, 1));
    }

    /// A.3: the fraction is that since the last report, copies count as arrivals, and nothing new is no
    /// report.
    #[test]
    fn reports_count_from_the_last_one() {
        let mut receiver = receiver();
        let mut hear = |sequences: &[u16]| {
            for &sequence in sequences {
                receiver.handle_packet(at(1.0), &packet(sequence, 1.0));
            }
            receiver.report(at(1.0)).map(|report| (report.fraction_lost, report.cumulative_lost))
        };
        assert_eq!(hear(&[10, 11, 13]), Some((64, 1)));
        assert_eq!(hear(&[]), None);
        assert_eq!(hear(&[14, 15]), Some((0, 1)));
        assert_eq!(hear(&[15, 15]), Some((0, -1)));
        assert_eq!(hear(&[19]), Some((192, 2)));
    }

    /// §6.4.1: D = (R_j − S_j) − (R_i − S_i), J = J + (|D| − J) / 16, computed here with times in seconds.
    #[test]
    fn jitter_is_that_of_the_formula() {
        let mut receiver = receiver();
        let arrivals = [(0.0, 0.10), (0.066, 0.18), (0.133, 0.21), (0.2, 0.50), (0.266, 0.51), (0.266, 0.52)];
        let mut jitter = 0.0;
        for (number, &(made, arrived)) in arrivals.iter().enumerate() {
            receiver.handle_packet(at(arrived), &packet(number as u16, made));
            if let Some(&(made_before, arrived_before)) =
                number.checked_sub(1).map(|before| &arrivals[before])
            {
                let difference: f64 = (arrived - made) - (arrived_before - made_before);
                jitter += (difference.abs() - jitter) / 16.0;
            }
        }
        // Each time is cut to a tick of 11 µs.
        assert!((receiver.jitter_s() - jitter).abs() < 2e-5, "{} for {jitter}", receiver.jitter_s());
        assert!(jitter > 0.01);
    }

    /// The clock's number of ticks wraps, which no jitter shows.
    #[test]
    fn stamps_wrap() {
        let mut receiver = receiver();
        let wrap_s = 4_294_967_296.0 / 90_000.0;
        for (number, after) in [-0.2, -0.1, 0.0, 0.1].into_iter().enumerate() {
            let made = at(wrap_s + after);
            let header = Header { sequence: number as u16, timestamp: ticks(made, 90_000.0), marker: true };
            receiver.handle_packet(made + Span::from_millis(30), &header);
        }
        assert!(receiver.jitter_s() < 2e-5, "{}", receiver.jitter_s());
    }

    /// §6.2, §6.3.1: on average the interval with reconsideration is the deterministic one, 5 s, and no less
    /// than half of it over 1.218; half as long before the first.
    #[test]
    fn reports_come_at_the_rules_interval() {
        let mut receiver = receiver();
        let mut reports = Vec::new();
        receiver.handle_packet(at(0.0), &packet(0, 0.0));
        let mut sequence = 0u16;
        while receiver.next_timeout() < at(20_000.0) {
            let now = receiver.next_timeout();
            sequence = sequence.wrapping_add(1);
            receiver.handle_packet(now, &packet(sequence, now.as_secs()));
            if receiver.handle_timeout(now).is_some() {
                reports.push(now.as_secs());
            }
        }
        let gaps: Vec<f64> = reports.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(reports[0] <= 1.5 * 2.5 / COMPENSATION);
        let (least, most) = gaps.iter().fold((f64::MAX, 0f64), |(a, b), &gap| (a.min(gap), b.max(gap)));
        assert!(least >= 0.5 * 5.0 / COMPENSATION - 1e-9 && most <= 1.5 * 5.0 / COMPENSATION + 1e-9);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
        assert_eq!(receiver.reports(), reports.len() as u64);
        // A narrow session: two members share 5 % of 1 kbit/s, 80 and 76 bytes each.
        let narrow = RtpParams { session_bandwidth_bps: 1000.0, ..RtpParams::default() };
        let mut slow = Receiver::new(&narrow, 28, stream(0));
        slow.handle_packet(at(0.0), &packet(0, 0.0));
        assert!(slow.next_timeout() >= at(0.5 * 24.96 / COMPENSATION));
    }

    #[test]
    fn without_packets_there_is_no_report() {
        let mut receiver = receiver();
        assert_eq!(receiver.next_timeout(), Time::NEVER);
        receiver.handle_packet(at(1.0), &packet(7, 1.0));
        let mut reports = 0;
        for _ in 0..20 {
            reports += usize::from(receiver.handle_timeout(receiver.next_timeout()).is_some());
        }
        assert_eq!(reports, 1);
    }

    /// §6.4.1: totals that are octets of payload, in both clocks; §6.4: who has sent nothing since the last
    /// but one report is no sender; §6.6: the last word.
    #[test]
    fn a_sender_reports_what_it_sent_and_says_goodbye() {
        let mut sender = sender(3);
        assert_eq!(sender.next_timeout(), Time::NEVER);
        let mut reports = Vec::new();
        let mut stamp = 0;
        for number in 0..20 {
            stamp = sender.header(at(f64::from(number)), 100, at(f64::from(number)), true).timestamp;
            while sender.next_timeout() < at(f64::from(number) + 1.0) {
                let now = sender.next_timeout();
                reports.extend(sender.handle_timeout(now).map(|report| (now, report)));
            }
        }
        assert!(reports.len() >= 3, "{reports:?}");
        for (now, report) in &reports {
            let sent = now.as_secs().floor() as u32 + 1;
            assert_eq!((report.sent, report.packets, report.octets), (*now, sent, 100 * sent));
            let behind = stamp.wrapping_sub(report.timestamp) as i32;
            assert!((f64::from(behind) / 90_000.0 - (19.0 - now.as_secs())).abs() < 1e-4);
        }
        let silent = (0..200).filter(|_| sender.handle_timeout(sender.next_timeout()).is_some()).count();
        assert!((1..=2).contains(&silent), "{silent}");
        assert_eq!(sender.handle_end(at(900.0)).packets, 20);
        assert_eq!(sender.next_timeout(), Time::NEVER);
    }

    /// §6.4.1: the sender's clock is all that is needed, and what the receiver waits does not count.
    #[test]
    fn reports_both_ways_tell_the_round_trip() {
        let (mut sender, mut receiver) = (sender(3), receiver());
        receiver.handle_packet(at(9.9), &sender.header(at(9.8), 100, at(9.8), true));
        let before = receiver.report(at(9.95)).expect("a packet arrived");
        assert_eq!(before.last_sender_report, None);
        sender.handle_report(at(9.97), &before);
        assert_eq!(sender.round_trip_mean_s(), None);
        receiver.handle_sender_report(at(10.1), &sender.handle_end(at(10.0)));
        receiver.handle_packet(at(10.2), &sender.header(at(10.15), 100, at(10.15), true));
        sender.handle_report(at(13.3), &receiver.report(at(13.1)).expect("a packet arrived"));
        let round_trip_s = sender.round_trip_mean_s().expect("one was told");
        assert!((round_trip_s - 0.3).abs() < 3.0 / 65_536.0, "{round_trip_s}");
    }

    /// §6.3.4, §6.6: half of what was left of the interval, one more report, and no timer.
    #[test]
    fn after_a_bye_the_receiver_reports_once_more() {
        let mut receiver = receiver();
        receiver.handle_packet(at(1.0), &packet(7, 1.0));
        let left = receiver.next_timeout().since(at(1.5));
        let bye = SenderReport { sent: at(1.4), timestamp: 0, packets: 2, octets: 200 };
        receiver.handle_bye(at(1.5), &bye);
        assert_eq!(receiver.next_timeout(), at(1.5) + Span(left.0 / 2));
        assert_eq!(receiver.told(), (Some(bye), 1));
        let mut reports = 0;
        while receiver.next_timeout() < Time::NEVER {
            reports += usize::from(receiver.handle_timeout(receiver.next_timeout()).is_some());
        }
        assert_eq!(reports, 1);
        receiver.handle_packet(at(9.0), &packet(8, 1.4));
        assert_eq!((receiver.next_timeout(), receiver.losses()), (Time::NEVER, (2, 0)));
    }
}
