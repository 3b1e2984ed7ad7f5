//! The sending end: what is sent when.
//!
//! An ACK that arrives is first recorded (round-trip sample, timer, window), then whatever the window allows is
//! sent. The order of steps is that of ns-2's one-way Reno agent, so that both send the same segments at the
//! same times.

use std::cmp::Ordering;

use super::backlog::Backlog;
use super::congestion::{Congestion, Load};
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::{Output, Segment, TcpParams, TcpVariant};
use crate::kernel::{Span, Time};

/// What a sender has done. Segments include the SYN.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SenderCounters {
    /// Segments handed to IP, retransmissions included.
    pub segments_sent: u64,
    /// Bytes of payload handed to IP, retransmissions included.
    pub bytes_sent: u64,
    /// Segments sent that had been sent before.
    pub retransmissions: u64,
    /// Timeouts of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Segments acknowledged, each once.
    pub segments_acked: u64,
    /// Bytes of payload acknowledged, each once.
    pub bytes_acked: u64,
}

/// What the sender is doing about a loss.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recovery {
    /// Nothing: no loss is known.
    Open,
    /// Fast recovery, until an ACK for new data (RFC 5681 §3.2).
    Fast,
    /// SACK-based recovery, until all that was outstanding at its start is acknowledged (RFC 6675 §5).
    /// Segments below `rexmit_end` have been sent again or are held (`HighRxt` + 1).
    Sack { rexmit_end: u32 },
    /// A timeout, until an ACK for new data.
    Timeout,
}

/// The sending end of a flow. Calls come in order of time.
pub struct Sender {
    params: TcpParams,
    backlog: Backlog,
    congestion: Congestion,
    rto: Rto,
    scoreboard: Scoreboard,

    /// The least number that is not acknowledged.
    una: u32,
    /// The number to send next; after a timeout it goes back to `una`. `una <= next <= sent_end`.
    next: u32,
    /// One past the greatest number sent.
    sent_end: u32,

    recovery: Recovery,
    /// `sent_end` at the last loss: no fast retransmit of what was outstanding then (RFC 6582 `recover` + 1).
    recover_end: u32,
    dupacks: u32,
    /// Segments that have left the network during fast recovery, as duplicate ACKs tell.
    inflation: u32,
    /// Segments sent by limited transmit since the last new ACK.
    limited: u32,
    /// The segment that timed out last.
    timed_out: Option<u32>,

    /// The one segment whose round trip is measured, and when it was sent.
    timed: Option<(u32, Time)>,
    /// When the retransmission timer fires; it runs while anything is outstanding.
    deadline: Time,
    /// When the last outstanding segment was acknowledged.
    idle_since: Time,
    counters: SenderCounters,
}

impl Sender {
    /// A sender without data. `tick_phase` is how far its tick counter is ahead at time zero (ns-2 draws it
    /// uniformly from one tick); without meaning for an exact clock. `params` must be within their ranges.
    pub fn new(params: &TcpParams, tick_phase: Span) -> Sender {
        Sender {
            backlog: Backlog::new(params.segment_bytes, params.connection_setup),
            congestion: Congestion::new(params),
            rto: Rto::new(params, tick_phase),
            scoreboard: Scoreboard::default(),
            params: params.clone(),
            una: 0,
            next: 0,
            sent_end: 0,
            recovery: Recovery::Open,
            recover_end: 1,
            dupacks: 0,
            inflation: 0,
            limited: 0,
            timed_out: None,
            timed: None,
            deadline: Time::NEVER,
            idle_since: Time::ZERO,
            counters: SenderCounters::default(),
        }
    }

    /// The application hands over `bytes`, or data without end.
    pub fn handle_write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Output>) {
        self.restart_after_idle(now);
        self.backlog.write(bytes);
        self.transmit(now, out);
    }

    /// Nothing new is sent from now on. What is outstanding is still brought to its end.
    pub fn handle_close(&mut self) {
        self.backlog.close(self.sent_end);
    }

    /// An acknowledgement arrives. Old ones, and those of data never sent, are ignored.
    pub fn handle_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        let Segment::Ack { next, sack } = segment else {
            return;
        };
        let outstanding = self.una < self.sent_end;
        if *next < self.una || *next > self.sent_end || !outstanding {
            return;
        }
        let news = self.params.sack && self.scoreboard.update(*next, self.sent_end, sack);
        if *next > self.una {
            self.handle_new_ack(now, *next, out);
        } else {
            self.handle_duplicate_ack(now, news, out);
        }
    }

    /// The retransmission timer. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.deadline {
            return;
        }
        self.counters.timeouts += 1;
        self.recovery = Recovery::Timeout;
        self.recover_end = self.sent_end;
        self.scoreboard.clear();
        // ns-2's Tahoe counts on, so that what was sent before the timeout starts no limited transmit.
        let dupacks = self.dupacks;
        self.forget_duplicates();
        if self.params.variant == TcpVariant::Tahoe {
            self.dupacks = dupacks;
        }
        if self.una == 0 && self.params.first_loss_rules {
            self.params.initial_window = 1;
        }
        self.congestion.collapse(self.load(), self.timed_out == Some(self.una));
        self.timed_out = Some(self.una);
        self.rto.back_off();
        self.restart_timer(now);
        self.timed = None;
        self.next = self.una;
        self.transmit(now, out);
    }

    /// When the retransmission timer fires, [`Time::NEVER`] if nothing is outstanding.
    pub fn next_timeout(&self) -> Time {
        self.deadline
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The congestion window in segments, without the inflation of fast recovery. It may be above the
    /// receiver's window.
    pub fn cwnd(&self) -> f64 {
        self.congestion.cwnd
    }

    /// The slow-start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.congestion.ssthresh
    }

    /// The retransmission timeout now, back-off included.
    pub fn rto(&self) -> Span {
        self.rto.value()
    }

    /// The smoothed round-trip time; none before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.rto.srtt()
    }

    // RFC 5681 §4.1.
    fn restart_after_idle(&mut self, now: Time) {
        let idle = self.sent_end > 0 && self.una == self.sent_end;
        let restart = f64::from(self.params.restart_window);
        if idle && restart > 0.0 && now.since(self.idle_since) >= self.rto.value() {
            self.congestion.cwnd = self.congestion.cwnd.min(restart);
        }
    }

    fn handle_new_ack(&mut self, now: Time, next: u32, out: &mut Vec<Output>) {
        self.forget_duplicates();
        self.advance(next);
        self.rto.handle_progress();
        if self.params.timer_after_sample {
            self.take_sample(now);
            self.restart_timer(now);
        } else {
            self.restart_timer(now);
            self.take_sample(now);
        }
        self.open_window();
        if self.una == self.sent_end {
            self.idle_since = now;
        }
        if self.una == self.backlog.end() {
            out.push(Output::Finished);
        }
        self.transmit(now, out);
    }

    fn forget_duplicates(&mut self) {
        self.dupacks = 0;
        self.inflation = 0;
        self.limited = 0;
    }

    fn advance(&mut self, next: u32) {
        self.counters.segments_acked += u64::from(next - self.una);
        self.counters.bytes_acked +=
            (self.una..next).map(|number| u64::from(self.backlog.payload(number))).sum::<u64>();
        self.una = next;
        self.next = self.next.max(next);
        self.backlog.acknowledge(next);
    }

    // Karn's rule: only a segment sent once is timed, and a retransmission ends the measurement.
    fn take_sample(&mut self, now: Time) {
        if let Some((_, sent)) = self.timed.take_if(|(number, _)| *number < self.una) {
            self.rto.sample(sent, now);
        }
    }

    // RFC 6298 §5.2 and §5.3.
    fn restart_timer(&mut self, now: Time) {
        self.deadline = if self.una == self.sent_end { Time::NEVER } else { now + self.rto.value() };
    }

    fn open_window(&mut self) {
        match self.recovery {
            Recovery::Sack { .. } if self.una < self.recover_end => {}
            // The end of recovery leaves the halved window, and what follows may be fast retransmitted.
            Recovery::Sack { .. } => {
                self.recovery = Recovery::Open;
                self.recover_end = 1;
            }
            Recovery::Open | Recovery::Fast | Recovery::Timeout => {
                self.recovery = Recovery::Open;
                self.congestion.open();
            }
        }
        if self.params.connection_setup && self.una == 1 {
            self.congestion.cwnd = f64::from(self.params.initial_window);
        }
    }

    /// `news`: does the ACK tell of a segment held that was not known to be?
    fn handle_duplicate_ack(&mut self, now: Time, news: bool, out: &mut Vec<Output>) {
        if self.params.sack && self.params.variant == TcpVariant::Reno {
            self.handle_sack_duplicate(now, news, out);
            return;
        }
        self.dupacks += 1;
        let threshold = self.params.dupack_threshold;
        let inflates = self.params.inflate_outside_recovery && self.params.variant == TcpVariant::Reno;
        match self.dupacks.cmp(&threshold) {
            Ordering::Less => return self.limited_transmit(now, out),
            Ordering::Equal => {
                if self.may_fast_retransmit() {
                    self.fast_retransmit(now, out);
                }
                if inflates || self.recovery == Recovery::Fast {
                    self.inflation = threshold;
                }
            }
            Ordering::Greater => self.inflation += u32::from(inflates || self.recovery == Recovery::Fast),
        }
        self.transmit(now, out);
    }

    // RFC 6675 §5: only an ACK with news is a duplicate ACK.
    fn handle_sack_duplicate(&mut self, now: Time, news: bool, out: &mut Vec<Output>) {
        match self.recovery {
            Recovery::Timeout => {}
            Recovery::Sack { .. } => self.transmit(now, out),
            Recovery::Open | Recovery::Fast if news => {
                self.dupacks += 1;
                let threshold = self.params.dupack_threshold;
                let lost = self.dupacks >= threshold || self.scoreboard.is_lost(self.una, threshold);
                if !lost {
                    self.limited_transmit(now, out);
                } else if self.may_fast_retransmit() {
                    self.fast_retransmit(now, out);
                    self.transmit(now, out);
                }
            }
            Recovery::Open | Recovery::Fast => {}
        }
    }

    // RFC 3042 §2.
    fn limited_transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        let after = f64::from(self.next - self.una + 1);
        if self.params.limited_transmit
            && self.next < self.send_limit(self.params.window)
            && after <= self.congestion.cwnd + f64::from(self.dupacks)
        {
            self.limited += 1;
            self.send_next(now, out);
        }
    }

    // RFC 6582 §3.2, step 2.
    fn may_fast_retransmit(&self) -> bool {
        !self.params.one_fast_retransmit_per_window
            || self.una > self.recover_end
            || (self.params.first_loss_rules && self.una <= 1)
    }

    fn fast_retransmit(&mut self, now: Time, out: &mut Vec<Output>) {
        self.counters.fast_retransmits += 1;
        let load = self.load();
        self.recover_end = self.sent_end;
        self.timed = None;
        self.restart_timer(now);
        match self.params.variant {
            // Slow start from the lost segment, which the window of one now sends.
            TcpVariant::Tahoe => {
                self.congestion.collapse(load, false);
                self.next = self.una;
            }
            TcpVariant::Reno => {
                self.congestion.halve(load);
                self.recovery = match self.params.sack {
                    true => Recovery::Sack { rexmit_end: self.una + 1 },
                    false => Recovery::Fast,
                };
                self.send(now, self.una, out);
            }
        }
    }

    fn load(&self) -> Load {
        let window = self.congestion.cwnd + f64::from(self.inflation);
        Load {
            window: window.min(f64::from(self.params.window)),
            flight: (self.next - self.una).saturating_sub(self.limited),
        }
    }

    /// Sends what the window allows.
    fn transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Recovery::Sack { rexmit_end } = self.recovery {
            self.transmit_into_pipe(now, rexmit_end, out);
            return;
        }
        // The cast cuts the fraction of the window off.
        let window = (self.congestion.cwnd as u32).saturating_add(self.inflation).min(self.params.window);
        let limit = self.send_limit(window);
        while self.next < limit {
            self.send_next(now, out);
        }
    }

    // RFC 6675 §5, step C.
    fn transmit_into_pipe(&mut self, now: Time, mut rexmit_end: u32, out: &mut Vec<Output>) {
        let threshold = self.params.dupack_threshold;
        let mut pipe = self.scoreboard.pipe(self.una, self.sent_end, rexmit_end, threshold);
        let limit = self.send_limit(self.params.window);
        while self.congestion.cwnd - f64::from(pipe) >= 1.0 {
            let hole = self.scoreboard.hole(rexmit_end.max(self.una));
            let lost = hole.filter(|&number| self.scoreboard.is_lost(number, threshold));
            let unsent = self.next < limit;
            // NextSeg rules 1, 2 and 3 in turn.
            match (lost, unsent, hole) {
                (Some(number), _, _) | (None, false, Some(number)) => {
                    rexmit_end = number + 1;
                    self.recovery = Recovery::Sack { rexmit_end };
                    self.send(now, number, out);
                }
                (None, true, _) => self.send_next(now, out),
                (None, false, None) => return,
            }
            pipe += 1;
        }
    }

    /// One past the last number that a window of `window` segments and the data at hand allow.
    fn send_limit(&self, window: u32) -> u32 {
        self.una.saturating_add(window).min(self.backlog.end())
    }

    fn send_next(&mut self, now: Time, out: &mut Vec<Output>) {
        self.next += 1;
        self.send(now, self.next - 1, out);
    }

    fn send(&mut self, now: Time, number: u32, out: &mut Vec<Output>) {
        let retransmission = number < self.sent_end;
        let payload = self.backlog.payload(number);
        if self.una == self.sent_end || self.deadline == Time::NEVER {
            // RFC 6298 §5.1.
            self.deadline = now + self.rto.value();
        }
        if !retransmission {
            self.sent_end = number + 1;
            self.timed = self.timed.or(Some((number, now)));
        }
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(payload);
        self.counters.retransmissions += u64::from(retransmission);
        out.push(Output::Send {
            segment: Segment::Data { number, payload, sent: now, retransmission },
            bytes: self.params.header_bytes + payload,
        });
    }
}
