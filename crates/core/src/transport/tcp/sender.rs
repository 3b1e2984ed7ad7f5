//! The sending end: what is sent when.
//!
//! An ACK that arrives is first recorded (round-trip sample, timer, window), then whatever the window allows is
//! sent. The order of steps is that of ns-2's one-way Reno agent, so that both send the same segments at the
//! same times.

use std::collections::VecDeque;

use super::backlog::Backlog;
use super::congestion::{self, CongestionControl, Load, Progress, Window};
use super::ecn::{Cause, Reduction};
use super::recovery::Recovery;
use super::route_failure::{AtcpState, Door, Standby};
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::{Output, TcpParams, TcpVariant};
use crate::kernel::{Span, Time};
use crate::wire::tcp::Segment;

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
    /// Reductions of the window for a mark of congestion.
    pub mark_reductions: u64,
    /// Segments acknowledged, each once.
    pub segments_acked: u64,
    /// Bytes of payload acknowledged, each once.
    pub bytes_acked: u64,
    /// How often it was frozen for a route failure.
    pub standbys: u64,
    /// Probes sent while frozen; they count as retransmissions, too.
    pub probes: u64,
}

/// The sending end of a flow. Calls come in order of time.
pub struct Sender {
    pub(super) params: TcpParams,
    pub(super) backlog: Backlog,
    pub(super) window: Window,
    pub(super) congestion: Box<dyn CongestionControl>,
    pub(super) rto: Rto,
    pub(super) scoreboard: Scoreboard,

    /// The least number that is not acknowledged.
    pub(super) una: u32,
    /// The number to send next; after a timeout it goes back to `una`. `una <= next <= sent_end`.
    pub(super) next: u32,
    /// One past the greatest number sent.
    pub(super) sent_end: u32,

    pub(super) recovery: Recovery,
    /// `sent_end` at the last loss: no fast retransmit of what was outstanding then (RFC 6582 `recover` + 1).
    pub(super) recover_end: u32,
    pub(super) dupacks: u32,
    /// Segments that have left the network during fast recovery, as duplicate ACKs tell.
    pub(super) inflation: u32,
    /// Segments sent by limited transmit since the last new ACK.
    pub(super) limited: u32,
    /// Partial ACKs since recovery began (RFC 6582 §3.2).
    pub(super) partial_acks: u32,
    /// ACKs for new data since the last fast retransmit, as far as Vegas looks at them.
    pub(super) acks_since_repair: u32,
    /// The segment that timed out last.
    pub(super) timed_out: Option<u32>,
    /// When the hold-down timer ends, [`Time::NEVER`] if it does not run.
    pub(super) hold_until: Time,
    /// Frozen for a route failure?
    pub(super) standby: Option<Standby>,
    pub(super) door: Door,
    /// `Normal` under every other scheme.
    pub(super) atcp: AtcpState,
    /// The last reduction of the window, for marks of congestion.
    pub(super) reduction: Reduction,
    /// Has no ACK arrived since the last timeout?
    pub(super) is_silent: bool,

    /// When each of `una..sent_end` was sent last, and was that a retransmission? Empty unless the congestion control
    /// asks for round trips of each.
    pub(super) times: VecDeque<(Time, bool)>,
    /// The one segment whose round trip is measured, and when it was sent.
    pub(super) timed: Option<(u32, Time)>,
    /// When the retransmission timer fires; it runs while anything is outstanding.
    pub(super) deadline: Time,
    /// When the last outstanding segment was acknowledged.
    pub(super) idle_since: Time,
    pub(super) counters: SenderCounters,
}

impl Sender {
    /// A sender without data. `tick_phase` is how far its tick counter is ahead at time zero (ns-2 draws it
    /// uniformly from one tick); without meaning for an exact clock. `params` must be within their ranges.
    pub fn new(params: &TcpParams, tick_phase: Span) -> Sender {
        Sender {
            backlog: Backlog::new(params.segment_bytes, params.connection_setup),
            window: Window::new(params),
            congestion: congestion::new(params),
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
            partial_acks: 0,
            acks_since_repair: u32::MAX,
            timed_out: None,
            hold_until: Time::NEVER,
            standby: None,
            door: Door::default(),
            atcp: AtcpState::default(),
            reduction: Reduction::default(),
            is_silent: false,
            times: VecDeque::new(),
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
        let Segment::Ack { next, sack, signs } = segment else {
            return;
        };
        self.notice_ack(now, signs);
        let outstanding = self.una < self.sent_end;
        if *next < self.una || *next > self.sent_end || !outstanding {
            return;
        }
        let news = self.params.sack && self.scoreboard.update(*next, self.sent_end, sack);
        let marked = self.params.ecn && signs.ece && self.handle_echo(now, *next);
        if *next > self.una {
            self.leave_atcp_state(AtcpState::Loss);
            self.handle_new_ack(now, *next, (signs.echo, marked), out);
        } else {
            self.handle_duplicate_ack(now, news, out);
        }
    }

    /// The retransmission timer, the hold-down timer or that of a standby. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.hold_until {
            self.hold_until = Time::NEVER;
            self.transmit(now, out);
        }
        if self.standby.is_some_and(|standby| now >= standby.wake()) {
            self.wake_from_standby(now, out);
        }
        if now >= self.deadline {
            self.time_out(now, out);
        }
    }

    fn time_out(&mut self, now: Time, out: &mut Vec<Output>) {
        self.counters.timeouts += 1;
        if self.suspects_route(now, out) {
            return;
        }
        if !self.loss_is_congestion(now) {
            self.timed = None;
            self.send(now, self.una, out);
            self.restart_timer(now);
            return;
        }
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
        let again = self.timed_out == Some(self.una) || self.mark_has_reduced();
        let load = self.load();
        self.congestion.handle_timeout(&mut self.window, load, again);
        self.note_reduction(Cause::Timeout);
        self.timed_out = Some(self.una);
        self.rto.back_off();
        self.restart_timer(now);
        self.timed = None;
        self.next = self.una;
        self.hold_until = Time::NEVER;
        self.transmit(now, out);
        if self.params.hold_down {
            // Dyer 2002 §4.1.3: the first half of the new timeout, which is the RTO before it doubled.
            self.hold_until = now + Span(self.rto.value().0 / 2);
        }
        self.begin_silence(now);
    }

    /// When the retransmission timer, the hold-down timer or a standby's timer fires, [`Time::NEVER`] if nothing is
    /// outstanding.
    pub fn next_timeout(&self) -> Time {
        let standby = self.standby.map_or(Time::NEVER, |standby| standby.wake());
        self.deadline.min(self.hold_until).min(standby)
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The congestion window in segments, without the inflation of fast recovery. It may be above the
    /// receiver's window.
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// The slow-start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
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
            self.window.cwnd = self.window.cwnd.min(restart);
        }
    }

    fn handle_new_ack(&mut self, now: Time, next: u32, (echo, marked): (Time, bool), out: &mut Vec<Output>) {
        if self.is_partial(next) {
            self.handle_partial_ack(now, next, out);
            return;
        }
        self.forget_duplicates();
        let (acked, rtt) = (next - self.una, self.round_trip(now, next));
        self.advance(next);
        self.rto.handle_progress();
        if self.params.timer_after_sample {
            self.take_sample(now, echo);
            self.restart_timer(now);
        } else {
            self.restart_timer(now);
            self.take_sample(now, echo);
        }
        self.open_window(now, acked, rtt, marked);
        if self.una == self.sent_end {
            self.idle_since = now;
        }
        if self.una >= self.recover_end && !marked {
            self.hold_until = Time::NEVER;
        }
        if self.una == self.backlog.end() {
            out.push(Output::Finished);
        }
        self.repair_overdue(now, out);
        self.transmit(now, out);
    }

    pub(super) fn forget_duplicates(&mut self) {
        self.dupacks = 0;
        self.inflation = 0;
        self.limited = 0;
    }

    pub(super) fn advance(&mut self, next: u32) {
        let acked = next - self.una;
        self.counters.segments_acked += u64::from(next - self.una);
        self.counters.bytes_acked +=
            (self.una..next).map(|number| u64::from(self.backlog.payload(number))).sum::<u64>();
        self.una = next;
        self.next = self.next.max(next);
        self.backlog.acknowledge(next);
        let acked = (acked as usize).min(self.times.len());
        self.times.drain(..acked);
    }

    // Without time stamps Karn's rule: only a segment sent once is timed, and a retransmission ends the measurement.
    // With them (RFC 7323 §4.3) each ACK of new data says what it answers.
    fn take_sample(&mut self, now: Time, echo: Time) {
        if echo != Time::NEVER {
            self.timed = None;
            self.rto.sample(echo, now);
        } else if let Some((_, sent)) = self.timed.take_if(|(number, _)| *number < self.una) {
            self.rto.sample(sent, now);
        }
    }

    // RFC 6298 §5.2 and §5.3.
    pub(super) fn restart_timer(&mut self, now: Time) {
        if self.una == self.sent_end {
            self.standby = None;
        }
        self.restart_frozen_timer();
        let stands = self.una == self.sent_end || self.standby.is_some();
        self.deadline = if stands { Time::NEVER } else { now + self.rto.value() };
    }

    fn open_window(&mut self, now: Time, acked: u32, rtt: Option<Span>, marked: bool) {
        match self.recovery {
            Recovery::Sack { .. } if self.una < self.recover_end => {}
            // The end of recovery leaves the halved window, and what follows may be fast retransmitted.
            Recovery::Sack { .. } => {
                self.recovery = Recovery::Open;
                self.recover_end = 1;
            }
            // RFC 6582 §3.2, step 3: full acknowledgement, option 1.
            Recovery::Fast if self.params.partial_ack_recovery && self.params.full_ack_deflation => {
                self.recovery = Recovery::Open;
                let flight = f64::from(self.sent_end - self.una).max(1.0);
                self.window.cwnd = self.window.ssthresh.min(flight + 1.0);
            }
            Recovery::Open | Recovery::Fast | Recovery::Timeout => {
                self.recovery = Recovery::Open;
                let progress = Progress {
                    now,
                    acked,
                    una: self.una,
                    sent_end: self.sent_end,
                    limit: f64::from(self.params.window),
                    rtt,
                    srtt: self.rto.srtt(),
                };
                // RFC 3168 §6.1.2: an ACK with ECN-Echo opens nothing.
                if !marked {
                    self.congestion.handle_progress(&mut self.window, &progress);
                }
            }
        }
        if self.params.connection_setup && self.una == 1 {
            self.window.cwnd = f64::from(self.params.initial_window);
        }
    }

    pub(super) fn load(&self) -> Load {
        let window = self.window.cwnd + f64::from(self.inflation);
        Load {
            window: window.min(f64::from(self.params.window)),
            flight: (self.next - self.una).saturating_sub(self.limited),
        }
    }

    /// Sends what the window allows.
    pub(super) fn transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.is_held() {
            return;
        }
        if let Recovery::Sack { rexmit_end } = self.recovery {
            self.transmit_into_pipe(now, rexmit_end, out);
            return;
        }
        // The cast cuts the fraction of the window off.
        let window = (self.window.cwnd as u32).saturating_add(self.inflation).min(self.params.window);
        let limit = self.send_limit(window);
        while self.next < limit {
            self.send_next(now, out);
        }
    }

    /// Dyer 2002 §4.1.3: while the hold-down timer runs, ACKs send nothing. Nor do they in standby, nor while ATCP repairs a loss.
    pub(super) fn is_held(&self) -> bool {
        self.hold_until != Time::NEVER || self.standby.is_some() || self.atcp == AtcpState::Loss
    }

    /// One past the last number that a window of `window` segments and the data at hand allow.
    pub(super) fn send_limit(&self, window: u32) -> u32 {
        self.una.saturating_add(window).min(self.backlog.end())
    }

    pub(super) fn send_next(&mut self, now: Time, out: &mut Vec<Output>) {
        self.next += 1;
        self.send(now, self.next - 1, out);
    }

    pub(super) fn send(&mut self, now: Time, number: u32, out: &mut Vec<Output>) {
        let retransmission = number < self.sent_end;
        let payload = self.backlog.payload(number);
        if self.una == self.sent_end || self.deadline == Time::NEVER {
            // RFC 6298 §5.1.
            self.deadline = now + self.rto.value();
        }
        if !retransmission {
            self.sent_end = number + 1;
            self.timed = self.timed.or(Some((number, now)));
            self.leave_atcp_state(AtcpState::Congested);
        }
        self.note_time(now, number, retransmission);
        let (cwr, ecn) = self.mark_fields(payload, retransmission);
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(payload);
        self.counters.retransmissions += u64::from(retransmission);
        out.push(Output::Send {
            segment: Segment::Data { number, payload, sent: now, retransmission, cwr },
            bytes: self.params.header_bytes + payload + self.stamp_bytes(),
            ecn,
        });
    }

    fn stamp_bytes(&self) -> u32 {
        if self.params.timestamps { self.params.timestamp_bytes } else { 0 }
    }

    fn note_time(&mut self, now: Time, number: u32, retransmission: bool) {
        if !self.congestion.times_each_segment() {
            return;
        }
        match self.times.get_mut((number - self.una) as usize) {
            Some(time) => *time = (now, retransmission),
            None => self.times.push_back((now, retransmission)),
        }
    }

    // The round trip of the last segment that `next` acknowledges, if it was sent once.
    fn round_trip(&self, now: Time, next: u32) -> Option<Span> {
        let at = (next - self.una).checked_sub(1)? as usize;
        self.times.get(at).filter(|(_, again)| !again).map(|(sent, _)| now.since(*sent))
    }
}
