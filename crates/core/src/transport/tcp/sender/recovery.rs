//! Loss recovery: what duplicate and partial ACKs send again. Reno's and NewReno's fast recovery, Tahoe's way
//! back to slow start, the pipe of RFC 6675, Vegas's early retransmission. `own_recovery.rs` is for those
//! that repair losses themselves.
//! *Deviations*: 4 and 6 in docs/models/tcp.md.

use std::cmp::Ordering;

use super::Sender;
use crate::kernel::Time;
use crate::transport::tcp::Output;
use crate::transport::tcp::route_failure::LossSign;

/// What the sender is doing about a loss.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
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

/// What a sender knows of its losses.
pub(super) struct Recovery {
    pub(super) phase: Phase,
    /// `sent_end` at the last loss: recovery goes up to here (RFC 6582 `recover` + 1).
    pub(super) recover_end: u32,
    /// `sent_end` at the last loss that was not spared: no fast retransmit of what was outstanding then, lest
    /// the window is halved twice (RFC 6582 §3.2, step 2). A loss that is spared neither sets nor obeys it.
    pub(super) reduced_end: u32,
    /// Segments that have left the network during fast recovery, as duplicate ACKs tell.
    pub(super) inflation: u32,
    /// Segments sent by limited transmit since the last new ACK.
    pub(super) limited: u32,
    pub(super) dupacks: u32,
    /// Does fast recovery follow a loss, or slow start from the lost segment (Tahoe)?
    pub(super) is_fast: bool,
    /// Partial ACKs since recovery began (RFC 6582 §3.2).
    partial_acks: u32,
    /// ACKs for new data since the last fast retransmit, as far as Vegas looks at them.
    acks_since_repair: u32,
    /// The segment that timed out last.
    timed_out: Option<u32>,
    /// Does the window stay as it is, as the loss that is being repaired was no congestion?
    pub(super) is_spared: bool,
}

impl Recovery {
    /// No loss so far.
    pub(super) fn new(is_fast: bool) -> Recovery {
        Recovery {
            phase: Phase::Open,
            recover_end: 1,
            reduced_end: 1,
            inflation: 0,
            limited: 0,
            dupacks: 0,
            is_fast,
            partial_acks: 0,
            acks_since_repair: u32::MAX,
            timed_out: None,
            is_spared: false,
        }
    }

    /// Recovery is over, and what follows may be fast retransmitted.
    pub(super) fn end(&mut self) {
        self.phase = Phase::Open;
        (self.recover_end, self.reduced_end) = (1, 1);
    }

    /// The window is sent again though no loss is known: duplicate ACKs below `sent_end` mean none.
    pub(super) fn start_over(&mut self, sent_end: u32) {
        self.phase = Phase::Open;
        self.ignore_duplicates_below(sent_end);
    }

    /// Duplicate ACKs for segments below `sent_end` mean no loss.
    pub(super) fn ignore_duplicates_below(&mut self, sent_end: u32) {
        (self.recover_end, self.reduced_end) = (sent_end, sent_end);
        let _ = self.forget_duplicates();
    }

    /// Returns how many there were.
    pub(super) fn forget_duplicates(&mut self) -> u32 {
        self.inflation = 0;
        self.limited = 0;
        std::mem::take(&mut self.dupacks)
    }

    /// The first segment, `una`, timed out. ns-2's Tahoe counts duplicates on, so that what was sent before
    /// the timeout starts no limited transmit.
    pub(super) fn begin_after_timeout(&mut self, sent_end: u32) {
        self.phase = Phase::Timeout;
        let dupacks = self.dupacks;
        self.ignore_duplicates_below(sent_end);
        if !self.is_fast {
            self.dupacks = dupacks;
        }
    }

    /// Notes that `una` timed out.
    pub(super) fn note_timeout(&mut self, una: u32) {
        self.timed_out = Some(una);
    }

    /// Was `una` the segment that timed out last?
    pub(super) fn has_timed_out(&self, una: u32) -> bool {
        self.timed_out == Some(una)
    }
}

impl Sender {
    /// `news`: does the ACK tell of a segment held that was not known to be?
    pub(super) fn handle_duplicate_ack(&mut self, now: Time, news: bool, out: &mut Vec<Output>) {
        if self.is_held() {
            return;
        }
        if self.params.sack && self.recovery.is_fast {
            self.handle_sack_duplicate(now, news, out);
            return;
        }
        self.recovery.dupacks += 1;
        if self.repair_at_duplicate(now, out) {
            return;
        }
        let threshold = self.params.dupack_threshold;
        let inflates = self.params.inflate_outside_recovery && self.recovery.is_fast;
        match self.recovery.dupacks.cmp(&threshold) {
            Ordering::Less if self.is_overdue(now) => {
                self.fast_retransmit(now, out);
                self.recovery.inflation = self.recovery.dupacks;
            }
            Ordering::Less if self.recovery.phase == Phase::Fast => self.recovery.inflation += 1,
            Ordering::Less => return self.limited_transmit(now, out),
            Ordering::Equal if self.recovery.phase == Phase::Fast => self.recovery.inflation += 1,
            Ordering::Equal => {
                if self.may_fast_retransmit() {
                    self.fast_retransmit(now, out);
                }
                if inflates || self.recovery.phase == Phase::Fast {
                    self.recovery.inflation = threshold;
                }
            }
            Ordering::Greater => {
                self.recovery.inflation += u32::from(inflates || self.recovery.phase == Phase::Fast);
            }
        }
        self.transmit(now, out);
    }

    // RFC 6675 §5: only an ACK with news is a duplicate ACK.
    fn handle_sack_duplicate(&mut self, now: Time, news: bool, out: &mut Vec<Output>) {
        match self.recovery.phase {
            Phase::Timeout => {}
            Phase::Sack { .. } => self.transmit(now, out),
            Phase::Open | Phase::Fast if news => {
                self.recovery.dupacks += 1;
                if !self.scoreboard.tells_of_loss(self.una, self.recovery.dupacks) {
                    self.limited_transmit(now, out);
                } else if self.may_fast_retransmit() {
                    self.fast_retransmit(now, out);
                    self.transmit(now, out);
                }
            }
            Phase::Open | Phase::Fast => {}
        }
    }

    // Keshav and Morgan 1997: a gap is a loss, also if the ACK that tells of it acknowledges new data, as one
    // does that was delayed.
    pub(super) fn repair_gap(&mut self, now: Time, out: &mut Vec<Output>) {
        let is_open = self.recovery.phase == Phase::Open && self.recovery.is_fast && !self.is_held();
        // After a timeout, what lies beyond `next` is sent again in any case.
        let was_sent = self.una < self.next;
        if is_open && was_sent && self.scoreboard.tells_of_gap(self.una) && self.may_fast_retransmit() {
            self.fast_retransmit(now, out);
        }
    }

    // RFC 3042 §2.
    fn limited_transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        let after = f64::from(self.next - self.una + 1);
        if self.params.limited_transmit
            && self.next < self.send_limit(self.params.window)
            && after <= self.window.cwnd + f64::from(self.recovery.dupacks)
        {
            self.recovery.limited += 1;
            self.send_next(now, out);
        }
    }

    // RFC 6582 §3.2, step 2: beyond `recover`. RFC 6675 §5.1: SACK may as soon as all up to RecoveryPoint is
    // acknowledged.
    fn may_fast_retransmit(&self) -> bool {
        let at_point = self.params.sack && self.params.sack_recovery_at_point;
        !self.params.one_fast_retransmit_per_window
            || self.una > self.recovery.reduced_end
            || (at_point && self.una == self.recovery.reduced_end)
            || self.scheme.spares_losses()
            || self.rounds.blames_radio(self.una)
            || (self.params.first_loss_rules && self.una <= 1)
    }

    fn fast_retransmit(&mut self, now: Time, out: &mut Vec<Output>) {
        self.counters.fast_retransmits += 1;
        let before = self.recovery.reduced_end;
        (self.recovery.recover_end, self.recovery.reduced_end) = (self.sent_end, self.sent_end);
        self.timing.stop_measuring();
        if self.params.fast_retransmit_restarts_timer {
            self.restart_timer(now);
        }
        (self.recovery.partial_acks, self.recovery.acks_since_repair) = (0, 0);
        if !self.is_congestion(now, LossSign::DuplicateAcks, out) {
            return;
        }
        if self.recovery.is_spared {
            self.recovery.reduced_end = before;
        } else {
            self.watch_fast_retransmit(now);
            self.reduce_for_loss();
        }
        if !self.recovery.is_fast {
            // Slow start from the lost segment, which the window of one now sends.
            self.next = self.una;
            return;
        }
        self.recovery.phase = match self.params.sack {
            true => Phase::Sack { rexmit_end: self.una + 1 },
            false => Phase::Fast,
        };
        self.send(now, self.una, out);
    }

    /// Does an ACK of `next` acknowledge a part of what was outstanding when NewReno's recovery began?
    pub(super) fn is_partial(&self, next: u32) -> bool {
        self.params.partial_ack_recovery
            && self.recovery.phase == Phase::Fast
            && next < self.recovery.recover_end
    }

    // RFC 6582 §3.2, step 3, partial acknowledgement: the window loses what was acknowledged and gets one
    // segment back, the timer is restarted for the first (the Impatient variant, §4).
    pub(super) fn handle_partial_ack(&mut self, now: Time, next: u32, out: &mut Vec<Output>) {
        let ack = self.advance(now, next, self.recovery.dupacks);
        let acked = ack.acked;
        self.congestion.on_ack(&mut self.window, &ack);
        self.rto.handle_progress();
        self.timing.measured(next);
        self.recovery.partial_acks += 1;
        if self.recovery.partial_acks == 1 {
            self.restart_timer(now);
        }
        if self.recovery.inflation > acked {
            self.recovery.inflation -= acked - 1;
        } else {
            self.window.cwnd = (self.window.cwnd - f64::from(acked - self.recovery.inflation)).max(1.0);
            self.recovery.inflation = 1;
        }
        if !self.is_held() {
            self.send(now, self.una, out);
        }
        self.transmit(now, out);
    }

    // Brakmo and Peterson 1995 §3.1: at a duplicate ACK a segment older than the exact timeout is lost.
    fn is_overdue(&self, now: Time) -> bool {
        self.recovery.phase == Phase::Open && self.may_fast_retransmit() && self.first_is_overdue(now)
    }

    // The same at the first two ACKs of new data after a fast retransmit.
    pub(super) fn repair_overdue(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.repair_after_ack(now, out) {
            return;
        }
        self.recovery.acks_since_repair = self.recovery.acks_since_repair.saturating_add(1);
        if self.recovery.acks_since_repair <= 2 && !self.is_held() && self.first_is_overdue(now) {
            self.timing.stop_measuring();
            self.send(now, self.una, out);
        }
    }

    fn first_is_overdue(&self, now: Time) -> bool {
        self.timing.age_of_first(now).is_some_and(|age| self.congestion.is_overdue(age))
    }

    // RFC 6675 §5, step C.
    pub(super) fn transmit_into_pipe(&mut self, now: Time, mut rexmit_end: u32, out: &mut Vec<Output>) {
        let mut pipe = self.scoreboard.pipe(self.una, self.sent_end, rexmit_end);
        let limit = self.send_limit(self.params.window);
        while self.window.cwnd - f64::from(pipe) >= 1.0 {
            // NextSeg rules 1, 2 and 3 in turn.
            match self.scoreboard.next_hole(self.una, rexmit_end) {
                Some((number, is_lost)) if is_lost || self.next >= limit => {
                    rexmit_end = rexmit_end.max(number + 1);
                    self.recovery.phase = Phase::Sack { rexmit_end };
                    self.send(now, number, out);
                }
                _ if self.next < limit => self.send_next(now, out),
                _ => return,
            }
            pipe += 1;
        }
    }
}
