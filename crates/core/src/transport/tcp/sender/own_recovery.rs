//! What a congestion control sends again that repairs losses itself, as ns-2's Vegas does without SACK.

use super::Sender;
use super::ecn::Cause;
use crate::kernel::Time;
use crate::transport::tcp::Output;
use crate::transport::tcp::congestion::{Duplicate, Repair};
use crate::transport::tcp::route_failure::LossSign;

impl Sender {
    /// Lets the congestion control repair at a duplicate ACK; false if it does not repair itself. It sends
    /// again at once what is overdue, and its window includes the inflation.
    pub(super) fn repair_at_duplicate(&mut self, now: Time, out: &mut Vec<Output>) -> bool {
        let seen = Duplicate {
            now,
            una: self.una,
            dupacks: self.recovery.dupacks,
            under_way: self.next - self.una + 1,
            limit: f64::from(self.params.window),
            is_beyond_recover: !self.params.one_fast_retransmit_per_window
                || self.una > self.recovery.reduced_end,
        };
        let Some(own) = self.congestion.own_recovery() else { return false };
        if let Repair::First { counts_as_third } = own.judge_duplicate(&mut self.window, seen)
            && !self.repair_first(now, counts_as_third, out)
        {
            return true;
        }
        if self.recovery.dupacks >= self.params.dupack_threshold {
            self.transmit(now, out);
        }
        true
    }

    /// Sends the first segment again; false if the loss was no congestion.
    fn repair_first(&mut self, now: Time, counts_as_third: bool, out: &mut Vec<Output>) -> bool {
        self.counters.fast_retransmits += 1;
        (self.recovery.recover_end, self.recovery.reduced_end) = (self.sent_end, self.sent_end);
        self.timing.stop_measuring();
        if !self.is_congestion(now, LossSign::DuplicateAcks, out) {
            return false;
        }
        self.note_reduction(Cause::Loss);
        self.rto.back_off();
        self.restart_timer(now);
        self.send(now, self.una, out);
        if counts_as_third {
            self.recovery.dupacks = self.params.dupack_threshold;
        }
        true
    }

    /// Lets the congestion control repair after an ACK of new data; false if it does not repair itself.
    pub(super) fn repair_after_ack(&mut self, now: Time, out: &mut Vec<Output>) -> bool {
        let is_held = self.is_held();
        let Some(own) = self.congestion.own_recovery() else { return false };
        if !is_held && own.repairs_after_ack(self.una, now) && self.una < self.backlog.end() {
            self.recovery.dupacks = self.params.dupack_threshold;
            self.send(now, self.una, out);
        }
        true
    }
}
