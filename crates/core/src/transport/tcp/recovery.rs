//! Loss recovery: what duplicate and partial ACKs send again. Reno's and NewReno's fast recovery, Tahoe's way back to
//! slow start, the pipe of RFC 6675, Vegas's early retransmission.

use std::cmp::Ordering;

use super::sender::Sender;
use super::{Output, TcpVariant};
use crate::kernel::Time;

/// What the sender is doing about a loss.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
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

impl Sender {
    /// `news`: does the ACK tell of a segment held that was not known to be?
    pub(super) fn handle_duplicate_ack(&mut self, now: Time, news: bool, out: &mut Vec<Output>) {
        if self.is_held() {
            return;
        }
        if self.params.sack && self.params.variant != TcpVariant::Tahoe {
            self.handle_sack_duplicate(now, news, out);
            return;
        }
        self.dupacks += 1;
        let threshold = self.params.dupack_threshold;
        let inflates = self.params.inflate_outside_recovery && self.params.variant != TcpVariant::Tahoe;
        match self.dupacks.cmp(&threshold) {
            Ordering::Less if self.is_overdue(now) => {
                self.fast_retransmit(now, out);
                self.inflation = self.dupacks;
            }
            Ordering::Less if self.recovery == Recovery::Fast => self.inflation += 1,
            Ordering::Less => return self.limited_transmit(now, out),
            Ordering::Equal if self.recovery == Recovery::Fast => self.inflation += 1,
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
            && after <= self.window.cwnd + f64::from(self.dupacks)
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
        self.recover_end = self.sent_end;
        self.timed = None;
        self.restart_timer(now);
        (self.partial_acks, self.acks_since_repair) = (0, 0);
        if !self.loss_is_congestion(now) {
            self.send(now, self.una, out);
            return;
        }
        self.reduce_for_loss();
        if self.params.variant == TcpVariant::Tahoe {
            // Slow start from the lost segment, which the window of one now sends.
            self.next = self.una;
            return;
        }
        self.recovery = match self.params.sack {
            true => Recovery::Sack { rexmit_end: self.una + 1 },
            false => Recovery::Fast,
        };
        self.send(now, self.una, out);
    }

    /// Does an ACK of `next` acknowledge a part of what was outstanding when NewReno's recovery began?
    pub(super) fn is_partial(&self, next: u32) -> bool {
        self.params.partial_ack_recovery && self.recovery == Recovery::Fast && next < self.recover_end
    }

    // RFC 6582 §3.2, step 3, partial acknowledgement: the window loses what was acknowledged and gets one segment back,
    // the timer is restarted for the first (the Impatient variant, §4).
    pub(super) fn handle_partial_ack(&mut self, now: Time, next: u32, out: &mut Vec<Output>) {
        let acked = next - self.una;
        self.advance(next);
        self.rto.handle_progress();
        self.timed.take_if(|(number, _)| *number < next);
        self.partial_acks += 1;
        if self.partial_acks == 1 {
            self.restart_timer(now);
        }
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            self.window.cwnd = (self.window.cwnd - f64::from(acked - self.inflation)).max(1.0);
            self.inflation = 1;
        }
        if !self.is_held() {
            self.send(now, self.una, out);
        }
        self.transmit(now, out);
    }

    // Brakmo and Peterson 1995 §3.1: at a duplicate ACK a segment older than the exact timeout is lost.
    fn is_overdue(&self, now: Time) -> bool {
        self.recovery == Recovery::Open && self.may_fast_retransmit() && self.first_is_overdue(now)
    }

    // The same at the first two ACKs of new data after a fast retransmit.
    pub(super) fn repair_overdue(&mut self, now: Time, out: &mut Vec<Output>) {
        self.acks_since_repair = self.acks_since_repair.saturating_add(1);
        if self.acks_since_repair <= 2 && !self.is_held() && self.first_is_overdue(now) {
            self.timed = None;
            self.send(now, self.una, out);
        }
    }

    fn first_is_overdue(&self, now: Time) -> bool {
        self.times.front().is_some_and(|(sent, _)| self.congestion.is_overdue(now.since(*sent)))
    }

    // RFC 6675 §5, step C.
    pub(super) fn transmit_into_pipe(&mut self, now: Time, mut rexmit_end: u32, out: &mut Vec<Output>) {
        let threshold = self.params.dupack_threshold;
        let mut pipe = self.scoreboard.pipe(self.una, self.sent_end, rexmit_end, threshold);
        let limit = self.send_limit(self.params.window);
        while self.window.cwnd - f64::from(pipe) >= 1.0 {
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
}
