//! The sending end: what is sent when.
//!
//! An ACK that arrives is first recorded (round-trip sample, timer, window), then whatever the window allows
//! is sent. The order of steps is that of ns-2's one-way Reno agent, so that both send the same segments at
//! the same times. *Deviations*: 2, 5, 11, 13, 14 and 16 in docs/models/tcp.md.

mod ecn;
mod frozen;
mod own_recovery;
mod persist;
mod recovery;
mod spurious;
mod timing;

use super::backlog::Backlog;
use super::congestion::{self, Ack, CongestionControl, Load, Timeout, Window};
use super::loss_predictor::Rounds;
use super::route_failure::{self, Frozen, LossSign, Polls, RouteFailure};
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::{Output, TcpParams};
use crate::kernel::{Span, Time};
use crate::wire::tcp::Segment;

use ecn::{Cause, Reduction};
use persist::Offered;
use recovery::{Phase, Recovery};
use spurious::{Signs, Spurious};
use timing::Timing;

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
    /// Timeouts that it found to be spurious.
    pub spurious_timeouts: u64,
    /// Fast retransmits that it found to be spurious.
    pub spurious_fast_retransmits: u64,
    /// Segments acknowledged, each once.
    pub segments_acked: u64,
    /// Bytes of payload acknowledged, each once.
    pub bytes_acked: u64,
    /// How often it was frozen for a route failure.
    pub freezes: u64,
    /// Probes of the receiver's closed window; they are segments, too.
    pub window_probes: u64,
    /// Probes sent while frozen; they count as retransmissions, too.
    pub probes: u64,
}

/// The sending end of a flow. Calls come in order of time.
pub struct Sender {
    params: TcpParams,
    backlog: Backlog,
    window: Window,
    congestion: Box<dyn CongestionControl>,
    rto: Rto,
    scoreboard: Scoreboard,

    /// The first number that is not acknowledged.
    una: u32,
    /// The number to send next; after a timeout it goes back to `una`. `una <= next <= sent_end`.
    next: u32,
    /// One past the greatest number sent.
    sent_end: u32,

    recovery: Recovery,
    timing: Timing,
    /// The last reduction of the window, for marks of congestion.
    reduction: Reduction,
    spurious: Spurious,
    /// The receiver's window.
    offered: Offered,
    /// What it knows of route failures, and does about them.
    scheme: Box<dyn RouteFailure>,
    /// From what it guesses why a segment was lost.
    rounds: Rounds,
    frozen: Option<Frozen>,
    counters: SenderCounters,
}

impl Sender {
    /// A sender without data. `tick_phase` is how far its tick counter is ahead at time zero (ns-2 draws it
    /// uniformly from one tick); without meaning for an exact clock. `params` must be within their ranges.
    pub fn new(params: &TcpParams, tick_phase: Span) -> Sender {
        let (congestion, window) = congestion::new(params);
        Sender {
            backlog: Backlog::new(params.segment_bytes, params.connection_setup),
            window,
            rto: Rto::new(params, tick_phase),
            scoreboard: Scoreboard::new(params),
            params: params.clone(),
            una: 0,
            next: 0,
            sent_end: 0,
            recovery: Recovery::new(congestion.has_fast_recovery()),
            congestion,
            timing: Timing::new(),
            reduction: Reduction::default(),
            spurious: Spurious::default(),
            offered: Offered::new(),
            scheme: route_failure::new(params),
            rounds: Rounds::new(params),
            frozen: None,
            counters: SenderCounters::default(),
        }
    }

    /// The same sender, which freezes and polls the other end while it is told that it is out of reach
    /// (M-TCP). [`Sender::handle_route_failed`] and [`Sender::handle_route_found`] tell.
    pub fn that_polls(mut self, interval: Span) -> Sender {
        self.scheme = Box::new(Polls::new(interval));
        self
    }

    /// The application hands over `bytes`, or data without end.
    pub fn handle_write(&mut self, now: Time, bytes: Option<u64>, out: &mut Vec<Output>) {
        self.restart_after_idle(now);
        self.backlog.write(bytes);
        self.transmit(now, out);
        self.update_persist(now);
    }

    /// The SYN is sent, before there are data; nothing happens if none is simulated.
    pub fn handle_open(&mut self, now: Time, out: &mut Vec<Output>) {
        self.backlog.open();
        self.transmit(now, out);
    }

    /// Nothing new is sent from now on. What is outstanding is still brought to its end.
    pub fn handle_close(&mut self) {
        self.backlog.close(self.sent_end);
    }

    /// Has a close kept it from sending what had been written?
    pub fn is_cut_off(&self) -> bool {
        self.backlog.is_cut_off()
    }

    /// An acknowledgement arrives. Old ones, and those of data never sent, are ignored.
    pub fn handle_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        let Segment::Ack { next, sack, signs } = segment else {
            return;
        };
        self.show_ack(now, signs, out);
        let repeats = self.hear_of_duplicate(*next, sack);
        let outstanding = self.has_outstanding();
        if *next < self.una || *next > self.sent_end {
            return;
        }
        // RFC 9293 §3.10.7.4: SND.WL2 =< SEG.ACK.
        let is_update = self.note_window(signs.window);
        if !outstanding {
            if is_update {
                self.transmit(now, out);
            }
            return self.update_persist(now);
        }
        let news = self.params.sack && self.scoreboard.update(*next, self.sent_end, sack);
        let marked = self.params.ecn && signs.ece && self.handle_echo(now, *next);
        if *next > self.una {
            out.push(Output::Acknowledged);
            self.scheme.handle_progress();
            let signs = Signs { echo: signs.echo, ece: signs.ece, marked, repeats };
            self.handle_new_ack(now, *next, (signs, sack), out);
        } else if is_update && !news {
            // RFC 5681 §2: an ACK with another window is no duplicate.
            self.transmit(now, out);
        } else if !self.judge_duplicate(now, (news, signs.ece), sack, out) {
            self.handle_duplicate_ack(now, news, out);
        }
        self.update_persist(now);
    }

    /// The retransmission timer, the hold-down timer, or that of a frozen sender or a closed window. An early
    /// call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.timing.hold_until {
            self.timing.hold_until = Time::NEVER;
            self.transmit(now, out);
        }
        self.wake_scheme(now, out);
        self.probe_window(now, out);
        if now >= self.timing.deadline {
            self.time_out(now, out);
        }
    }

    fn time_out(&mut self, now: Time, out: &mut Vec<Output>) {
        self.counters.timeouts += 1;
        out.push(Output::TimedOut);
        if !self.is_congestion(now, LossSign::Timeout, out) {
            self.timing.stop_measuring();
            self.restart_timer(now);
            return;
        }
        self.watch_timeout(now);
        self.recovery.begin_after_timeout(self.sent_end);
        self.scoreboard.clear();
        if self.una == 0 && self.params.first_loss_rules {
            self.params.initial_window = 1;
        }
        let again = self.recovery.has_timed_out(self.una) || self.mark_has_reduced();
        let (load, ssthresh) = (self.load(), self.window.ssthresh);
        self.congestion.on_timeout(&mut self.window, Timeout { now, load, again });
        if self.is_setting_up() && self.params.lost_syn_spares_ssthresh {
            self.window.ssthresh = ssthresh;
        }
        self.note_reduction(Cause::Timeout);
        self.recovery.note_timeout(self.una);
        self.rto.back_off();
        self.restart_timer(now);
        self.timing.stop_measuring();
        self.next = self.una;
        self.timing.hold_until = Time::NEVER;
        self.transmit(now, out);
        if self.params.hold_down {
            // Dyer 2002 §4.1.3: the first half of the new timeout, which is the RTO before it doubled.
            self.timing.hold_until = now + Span(self.rto.value().0 / 2);
        }
        self.timing.deadline = now + self.scheme.timer_after_timeout(self.rto.value());
    }

    /// When the retransmission timer, the hold-down timer, a frozen sender's timer or that of a closed window
    /// fires, [`Time::NEVER`] if nothing is outstanding or waits for the window to open.
    pub fn next_timeout(&self) -> Time {
        let timing = self.timing.deadline.min(self.timing.hold_until);
        timing.min(self.wake_time()).min(self.offered.probe_at)
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Has it sent what is not acknowledged?
    pub fn has_outstanding(&self) -> bool {
        self.una < self.sent_end
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
        if idle && restart > 0.0 && now.since(self.timing.idle_since) >= self.rto.value() {
            self.window.cwnd = self.window.cwnd.min(restart);
        }
    }

    fn handle_new_ack(
        &mut self,
        now: Time,
        next: u32,
        (signs, sack): (Signs, &[(u32, u32)]),
        out: &mut Vec<Output>,
    ) {
        let spurious = self.judge_stamp(next, signs);
        if spurious.is_none() && self.is_partial(next) {
            self.handle_partial_ack(now, next, out);
            return;
        }
        let dupacks = self.recovery.forget_duplicates();
        let was_setting_up = self.is_setting_up();
        let mut ack = self.advance(now, next, dupacks);
        self.rto.handle_progress();
        if was_setting_up {
            self.begin_data();
        }
        if self.params.timer_after_sample {
            self.take_sample(now, signs.echo);
            self.restart_timer(now);
        } else {
            self.restart_timer(now);
            self.take_sample(now, signs.echo);
        }
        if std::mem::take(&mut self.timing.holds_for_mark) {
            self.timing.hold_until = now + self.rto.value();
        }
        ack.srtt = self.rto.srtt();
        match spurious.or_else(|| self.judge_second_ack(sack)) {
            Some(sign) => self.take_back_at_ack(sign, ack, signs),
            None => self.open_window(ack, signs.marked),
        }
        if self.una == self.sent_end {
            self.timing.idle_since = now;
        }
        if self.una >= self.recovery.recover_end && !signs.marked {
            self.timing.hold_until = Time::NEVER;
        }
        if self.una == self.backlog.end() {
            out.push(Output::Finished);
        }
        if !self.answer_first_ack(now, out) {
            self.repair_gap(now, out);
            self.repair_overdue(now, out);
            self.transmit(now, out);
        }
    }

    // RFC 6298 §5.7: the SYN's timer expired, and the initial RTO is shorter than what data then begins with.
    fn begin_data(&mut self) {
        let rto_s = self.params.rto_after_lost_syn_s;
        if self.recovery.has_timed_out(0) && self.params.rto_initial_s < rto_s {
            self.rto.begin_data(Span::from_secs(rto_s));
        }
    }

    /// Takes note of what is acknowledged, and says what congestion control learns of it.
    fn advance(&mut self, now: Time, next: u32, dupacks: u32) -> Ack {
        let acked = next - self.una;
        let rtt = self.timing.round_trip(now, acked);
        self.rounds.handle_new_ack(now, next);
        self.counters.segments_acked += u64::from(acked);
        self.counters.bytes_acked +=
            (self.una..next).map(|number| u64::from(self.backlog.payload(number))).sum::<u64>();
        self.una = next;
        self.next = self.next.max(next);
        self.backlog.acknowledge(next);
        self.timing.forget(acked);
        Ack {
            now,
            acked,
            una: self.una,
            next: self.next,
            sent_end: self.sent_end,
            dupacks,
            limit: f64::from(self.params.window),
            rtt,
            srtt: self.rto.srtt(),
            may_open: false,
        }
    }

    // Without time stamps Karn's rule: only a segment sent once is timed, and a retransmission ends the
    // measurement. With them (RFC 7323 §4.3) each ACK of new data says what it answers.
    fn take_sample(&mut self, now: Time, echo: Time) {
        if echo != Time::NEVER {
            self.timing.stop_measuring();
            self.sample(echo, now);
        } else if let Some(sent) = self.timing.measured(self.una) {
            self.sample(sent, now);
        }
    }

    // RFC 6298 §5.2 and §5.3.
    fn restart_timer(&mut self, now: Time) {
        self.restart_frozen_timer();
        let stands = self.una == self.sent_end || self.is_frozen();
        self.timing.deadline = if stands { Time::NEVER } else { now + self.rto.value() };
    }

    fn open_window(&mut self, ack: Ack, marked: bool) {
        let may_open = match self.recovery.phase {
            Phase::Sack { .. } if self.una < self.recovery.recover_end => false,
            // The end of recovery leaves the halved window, and what follows may be fast retransmitted.
            Phase::Sack { .. } => {
                self.recovery.end();
                false
            }
            // RFC 6582 §3.2, step 3: full acknowledgement, option 1. A window that was spared stays.
            Phase::Fast
                if self.params.partial_ack_recovery
                    && self.params.full_ack_deflation
                    && !self.recovery.is_spared =>
            {
                self.recovery.phase = Phase::Open;
                let flight = f64::from(self.sent_end - self.una).max(1.0);
                self.window.cwnd = self.window.ssthresh.min(flight + 1.0);
                false
            }
            Phase::Open | Phase::Fast | Phase::Timeout => {
                self.recovery.phase = Phase::Open;
                // RFC 3168 §6.1.2: an ACK with ECN-Echo opens nothing.
                !marked
            }
        };
        self.congestion.on_ack(&mut self.window, &Ack { may_open, ..ack });
        if self.params.connection_setup && self.una == 1 {
            self.congestion.on_established(&mut self.window, f64::from(self.params.initial_window));
        }
    }

    /// Is the SYN not acknowledged yet?
    fn is_setting_up(&self) -> bool {
        self.params.connection_setup && self.una == 0
    }

    fn load(&self) -> Load {
        let window = self.window.cwnd + f64::from(self.recovery.inflation);
        Load {
            window: window.min(f64::from(self.params.window)),
            flight: (self.next - self.una).saturating_sub(self.recovery.limited),
        }
    }

    /// Sends what the window allows.
    fn transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.is_held() {
            return;
        }
        if let Phase::Sack { rexmit_end } = self.recovery.phase {
            self.transmit_into_pipe(now, rexmit_end, out);
            return;
        }
        // The cast cuts the fraction of the window off.
        let window =
            (self.window.cwnd as u32).saturating_add(self.recovery.inflation).min(self.params.window);
        let limit = self.send_limit(window);
        while self.next < limit {
            self.send_next(now, out);
        }
    }

    /// Dyer 2002 §4.1.3: ACKs send nothing while the hold-down timer runs. Nor do they while the sender is
    /// frozen, or its scheme has a loss repaired first.
    fn is_held(&self) -> bool {
        self.timing.hold_until != Time::NEVER || self.is_frozen() || self.scheme.holds_back()
    }

    /// One past the last number that a window of `window` segments and the data at hand allow.
    fn send_limit(&self, window: u32) -> u32 {
        self.una.saturating_add(window).min(self.window_end()).min(self.backlog.end())
    }

    fn send_next(&mut self, now: Time, out: &mut Vec<Output>) {
        self.next += 1;
        self.send(now, self.next - 1, out);
    }

    fn send(&mut self, now: Time, number: u32, out: &mut Vec<Output>) {
        let retransmission = number < self.sent_end;
        let payload = self.backlog.payload(number);
        if self.una == self.sent_end || self.timing.deadline == Time::NEVER {
            // RFC 6298 §5.1.
            self.timing.deadline = now + self.rto.value();
        }
        if retransmission {
            self.timing.resent(number);
            self.rounds.stop_monitoring();
            self.note_resent(now);
        } else {
            self.sent_end = number + 1;
            self.timing.measure(number, now);
            let window = self.window.cwnd.min(f64::from(self.params.window));
            self.rounds.handle_new_data(now, number, window);
            self.scheme.handle_new_data();
        }
        self.timing.note(number - self.una, now, retransmission);
        self.scoreboard.note_sent(number, self.sent_end);
        self.congestion.on_sent(now, number);
        let (cwr, ecn) = self.mark_fields(payload, retransmission);
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(payload);
        self.counters.retransmissions += u64::from(retransmission);
        out.push(Output::Send {
            segment: Segment::Data { number, payload, sent: now, retransmission, cwr },
            bytes: self.segment_bytes(number, payload),
            ecn,
        });
    }

    /// A segment's length at the IP layer.
    fn segment_bytes(&self, number: u32, payload: u32) -> u32 {
        let bytes = self.params.header_bytes + payload + self.stamp_bytes();
        let is_syn = number == 0 && self.params.connection_setup;
        if is_syn { bytes.max(self.params.syn_bytes) } else { bytes }
    }

    fn stamp_bytes(&self) -> u32 {
        if self.params.timestamps { self.params.timestamp_bytes } else { 0 }
    }
}
