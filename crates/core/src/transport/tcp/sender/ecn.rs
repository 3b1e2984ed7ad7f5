//! Explicit congestion notification at the sender (RFC 3168 §6.1.2): a mark closes the window as a loss does,
//! once for each window of data, and nothing is sent again.
//! *Deviations*: 14, 15, 34 and 35 in docs/models/tcp.md.

use super::Sender;
use crate::kernel::Time;
use crate::wire::Ecn;

/// Why the window was reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Cause {
    #[default]
    Loss,
    Mark,
    Timeout,
}

/// The last reduction of the window.
#[derive(Clone, Copy, Default)]
pub(super) struct Reduction {
    cause: Cause,
    /// `sent_end` at that time: signs of congestion among what was sent before it have been answered.
    answered_end: u32,
    /// Must the receiver still be told of it?
    cwr_due: bool,
}

/// The least window with which the timer need not pace what is sent.
const CWND_CLOCKED: f64 = 2.0;

impl Sender {
    /// An ACK of everything below `next` carries ECN-Echo. Closes the window unless that has been done for
    /// this window of data. Returns false if the ACK says nothing that a timeout has not answered; otherwise
    /// it opens no window.
    pub(super) fn handle_echo(&mut self, now: Time, next: u32) -> bool {
        let is_answered = next <= self.reduction.answered_end;
        // A receiver echoes until new data says CWR, and after a timeout old data goes first.
        if is_answered && self.reduction.cause == Cause::Timeout {
            return false;
        }
        if !is_answered {
            self.reduce_for_mark(now);
        }
        // Nothing else would open a window of less than a segment.
        self.window.cwnd = self.window.cwnd.max(1.0);
        true
    }

    fn reduce_for_mark(&mut self, now: Time) {
        let (load, before) = (self.load(), self.window.cwnd);
        self.congestion.on_mark(&mut self.window, load);
        self.window.cwnd = self.window.cwnd.min(before);
        if before < CWND_CLOCKED {
            // A window of one cannot be halved: the next segment waits for the timer instead. The ACK's
            // round-trip sample may still change how long.
            self.timing.hold_until = now + self.rto.value();
            self.timing.holds_for_mark = true;
        }
        self.counters.mark_reductions += 1;
        self.note_reduction(Cause::Mark);
    }

    /// Has a mark already reduced the window in which the first segment was sent?
    pub(super) fn mark_has_reduced(&self) -> bool {
        self.reduction.cause == Cause::Mark && self.una < self.reduction.answered_end
    }

    /// Duplicate ACKs tell of a loss. In a window that a mark has reduced it takes no more; slow start
    /// in place of fast recovery begins in any case.
    pub(super) fn reduce_for_loss(&mut self) {
        if !self.mark_has_reduced() {
            let load = self.load();
            self.congestion.on_loss(&mut self.window, load);
        } else if !self.recovery.is_fast {
            self.window.cwnd = 1.0;
        }
        self.note_reduction(Cause::Loss);
    }

    pub(super) fn note_reduction(&mut self, cause: Cause) {
        self.reduction = Reduction { cause, answered_end: self.sent_end, cwr_due: self.params.ecn };
    }

    /// CWR and the ECN field of a data segment. The SYN cannot be marked (RFC 3168 §6.1.1). Nor can a
    /// retransmission (§6.1.5), and CWR goes with new data (§6.1.2), except in ns-2.
    pub(super) fn mark_fields(&mut self, payload: u32, retransmission: bool) -> (bool, Ecn) {
        let is_plain = retransmission && !self.params.ecn_on_retransmissions;
        if !self.params.ecn || payload == 0 || is_plain {
            return (false, Ecn::NotEct);
        }
        (std::mem::take(&mut self.reduction.cwr_due), Ecn::Ect)
    }
}
