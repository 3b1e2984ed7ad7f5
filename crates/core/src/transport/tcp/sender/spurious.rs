//! Spurious retransmissions, of what was delayed and not lost: how the sender finds out, and takes back what
//! the supposed loss did to it.
//!
//! *Implemented*: Eifel's detection by time stamps (RFC 3522 §3.2); F-RTO's by the first two ACKs after a
//! timeout, basic and with SACK (RFC 5682 §2.1, §3.1); for both the Eifel response (RFC 4015 §3.1).
//! *Not implemented*: the variant that is safe from receivers that lie (RFC 3522 §3.4); timeouts that a
//! D-SACK shows to be spurious late (RFC 4015, `LATE_SPUR_TO`); the alternatives of RFC 5682 appendix A.
//! *Deviations*: 38 to 41 in docs/models/tcp.md.

use super::Sender;
use super::ecn::Reduction;
use super::recovery::Phase;
use crate::kernel::Time;
use crate::transport::tcp::congestion::Ack;
use crate::transport::tcp::route_failure::LossSign;
use crate::transport::tcp::rto::Estimate;
use crate::transport::tcp::{Output, SpuriousDetection};

/// What an acceptable ACK says beside its number.
#[derive(Clone, Copy)]
pub(super) struct Signs {
    /// The time stamp that it echoes, [`Time::NEVER`] if none.
    pub(super) echo: Time,
    /// ECN-Echo, as it stands in the ACK.
    pub(super) ece: bool,
    /// Does ECN-Echo keep the window from opening?
    pub(super) marked: bool,
    /// Does it report a duplicate (RFC 2883)?
    pub(super) repeats: bool,
}

/// How far detection is.
#[derive(Clone, Copy, Default)]
enum Stage {
    /// No loss recovery is watched.
    #[default]
    Idle,
    /// RFC 3522 §3.2, step 3. `resent` is `RetransmitTS`, [`Time::NEVER`] until the segment is sent again.
    Stamp { sign: LossSign, resent: Time },
    /// RFC 5682 §2.1, step 2: the next ACK is the first after a timeout.
    FirstAck,
    /// Step 3: the next ACK tells.
    SecondAck,
}

/// The sender before the loss that is watched (RFC 4015 §3.1, step 0).
#[derive(Clone, Copy)]
struct Before {
    at: Time,
    /// One past the greatest number sent.
    sent_end: u32,
    /// `pipe_prev`.
    pipe: f64,
    /// `cwnd` and `ssthresh`.
    window: (f64, f64),
    reduction: Reduction,
    /// `SRTT_prev` and `RTTVAR_prev`; none before the first sample.
    estimate: Option<Estimate>,
}

/// What a sender knows of spurious retransmissions.
#[derive(Default)]
pub(super) struct Spurious {
    stage: Stage,
    before: Option<Before>,
    /// Recovery that slow start brings about goes up to here.
    recovery_end: u32,
    /// F-RTO's `recover` + 1.
    recover_end: u32,
    /// Has an ACK ever reported a duplicate?
    has_heard_repeat: bool,
    /// After a spurious timeout, until the first sample of new data: the sender before it.
    adapting: Option<Before>,
}

impl Sender {
    /// Does it look for spurious retransmissions?
    pub fn detects_spurious(&self) -> bool {
        self.params.spurious != SpuriousDetection::None
    }

    /// Does this ACK of everything below `next` report a duplicate?
    // RFC 2883 §5.
    pub(super) fn hear_of_duplicate(&mut self, next: u32, sack: &[(u32, u32)]) -> bool {
        let Some(&first) = sack.first().filter(|_| self.params.dsack) else { return false };
        let is_within = |block: &(u32, u32)| block.0 <= first.0 && first.1 <= block.1;
        let repeats = first.0 < next || sack.get(1).is_some_and(is_within);
        self.spurious.has_heard_repeat |= repeats;
        repeats
    }

    /// The timer has expired, and nothing has been done about it yet.
    pub(super) fn watch_timeout(&mut self, now: Time) {
        let is_recovering = self.is_recovering();
        match self.params.spurious {
            SpuriousDetection::None => return,
            SpuriousDetection::Eifel if is_recovering => {}
            SpuriousDetection::Eifel => self.watch_stamp(now, LossSign::Timeout),
            // RFC 5682 §2.1 and §3.1, step 1.
            SpuriousDetection::FRto if self.is_beyond_f_rto() => {
                self.spurious.recover_end = self.sent_end;
                self.spurious.stage = Stage::Idle;
            }
            SpuriousDetection::FRto => {
                // RFC 4015 §3.1: not initiated again for the same segment.
                if !matches!(self.spurious.stage, Stage::FirstAck) {
                    self.spurious.before = Some(self.before(now));
                }
                self.spurious.stage = Stage::FirstAck;
            }
        }
        self.spurious.recovery_end = self.sent_end;
    }

    /// Duplicate ACKs tell of a loss, and the window has not been reduced yet.
    pub(super) fn watch_fast_retransmit(&mut self, now: Time) {
        if self.params.spurious == SpuriousDetection::Eifel && !self.is_recovering() {
            self.watch_stamp(now, LossSign::DuplicateAcks);
        }
        if !self.recovery.is_fast {
            self.spurious.recovery_end = self.sent_end;
        }
    }

    fn watch_stamp(&mut self, now: Time, sign: LossSign) {
        self.spurious.before = Some(self.before(now));
        self.spurious.stage = Stage::Stamp { sign, resent: Time::NEVER };
    }

    /// Has loss recovery begun that is not over?
    fn is_recovering(&self) -> bool {
        self.una < self.spurious.recovery_end
            || matches!(self.recovery.phase, Phase::Fast | Phase::Sack { .. })
    }

    /// Would F-RTO take segments for original that an earlier recovery has sent again?
    fn is_beyond_f_rto(&self) -> bool {
        self.una < self.spurious.recover_end || matches!(self.recovery.phase, Phase::Sack { .. })
    }

    fn before(&self, now: Time) -> Before {
        let flight = f64::from(self.sent_end - self.una);
        Before {
            at: now,
            sent_end: self.sent_end,
            pipe: flight.max(self.window.ssthresh),
            window: (self.window.cwnd, self.window.ssthresh),
            reduction: self.reduction,
            estimate: self.rto.estimate(),
        }
    }

    /// The first segment is sent again, for the first time in this recovery or not.
    pub(super) fn note_resent(&mut self, now: Time) {
        if let Stage::Stamp { resent, .. } = &mut self.spurious.stage {
            *resent = now.min(*resent);
        }
    }

    /// Does this ACK of new data, not yet taken in, show that the first segment was sent again in vain, and
    /// does the sender take back what it did? Counts what it finds.
    // RFC 3522 §3.2, steps 4 to 6.
    pub(super) fn judge_stamp(&mut self, next: u32, signs: Signs) -> Option<LossSign> {
        let Stage::Stamp { sign, resent } = self.spurious.stage else { return None };
        self.spurious.stage = Stage::Idle;
        let is_original = signs.echo < resent;
        // An ACK of a duplicate, or of all when there is no D-SACK, may be the first that was not lost.
        let is_known = !signs.repeats && (self.spurious.has_heard_repeat || next < self.sent_end);
        if !(is_original && is_known) {
            return None;
        }
        if sign == LossSign::DuplicateAcks {
            self.counters.spurious_fast_retransmits += 1;
            return Some(sign).filter(|_| self.params.eifel_fast_retransmit);
        }
        self.counters.spurious_timeouts += 1;
        Some(sign)
    }

    /// Is this ACK of new data, whose number has been taken in, the second after a timeout, and does it show
    /// that the timeout was spurious? If it shows the contrary, slow start goes on.
    // RFC 5682 §2.1 and §3.1, step 3.
    pub(super) fn judge_second_ack(&mut self, sack: &[(u32, u32)]) -> Option<LossSign> {
        if !matches!(self.spurious.stage, Stage::SecondAck) {
            return None;
        }
        self.spurious.stage = Stage::Idle;
        if self.tells_of_new(sack) {
            self.next = self.una;
            return None;
        }
        self.counters.spurious_timeouts += 1;
        Some(LossSign::Timeout)
    }

    /// If the ACK of new data that has been taken in is the first after a timeout, sends two new segments in
    /// place of old ones; false if it sends nothing.
    // RFC 5682 §2.1 and §3.1, step 2.
    pub(super) fn answer_first_ack(&mut self, now: Time, out: &mut Vec<Output>) -> bool {
        if !matches!(self.spurious.stage, Stage::FirstAck) {
            return false;
        }
        self.spurious.stage = Stage::Idle;
        let (end, limit) = (self.sent_end, self.send_limit(self.params.window));
        self.spurious.recover_end = end;
        if self.una == end || end >= limit || self.is_held() {
            return false;
        }
        self.spurious.stage = Stage::SecondAck;
        self.next = end;
        while self.next < limit.min(end + 2) {
            self.send_next(now, out);
        }
        true
    }

    /// Takes in a duplicate ACK if F-RTO waits for it; false if it does not. `news`: does it tell of a
    /// segment held that was not known to be? `ece`: does it carry ECN-Echo?
    pub(super) fn judge_duplicate(
        &mut self,
        now: Time,
        (news, ece): (bool, bool),
        sack: &[(u32, u32)],
        out: &mut Vec<Output>,
    ) -> bool {
        let with_sack = self.params.sack;
        match self.spurious.stage {
            // RFC 5682 §2.1, step 2 (a). With SACK it waits on (§3.1, step 2).
            Stage::FirstAck if !with_sack => {
                self.spurious.recover_end = self.sent_end;
                self.spurious.stage = Stage::Idle;
                false
            }
            Stage::SecondAck if with_sack && news && !self.tells_of_new(sack) => {
                self.spurious.stage = Stage::Idle;
                self.counters.spurious_timeouts += 1;
                self.take_back(LossSign::Timeout, 0, ece);
                self.transmit(now, out);
                true
            }
            // Step 3 (a).
            Stage::SecondAck => {
                self.spurious.stage = Stage::Idle;
                self.window.cwnd = CWND_AFTER_TWO_ROUND_TRIPS;
                self.next = self.una;
                self.transmit(now, out);
                true
            }
            Stage::Idle | Stage::FirstAck | Stage::Stamp { .. } => false,
        }
    }

    // RFC 5682 §3.1, step 3: does the ACK acknowledge what was sent in step 2? Without SACK an ACK that
    // advances counts as one of old data (§2.1).
    fn tells_of_new(&self, sack: &[(u32, u32)]) -> bool {
        let end = self.spurious.recover_end;
        self.params.sack && (self.una > end || sack.iter().any(|block| block.1 > end))
    }

    /// The retransmission was spurious, as an ACK of `acked` segments tells, which has been taken in.
    // RFC 4015 §3.1, steps 8 to 11. For fast retransmits, which it does not treat, as Ludwig and Katz 2000.
    pub(super) fn take_back(&mut self, sign: LossSign, acked: u32, ece: bool) {
        let Some(before) = self.spurious.before.take() else { return };
        self.next = self.sent_end;
        self.recovery.end();
        (self.spurious.recovery_end, self.spurious.recover_end) = (self.una, self.una);
        if !(self.params.ecn && ece) {
            (self.window.cwnd, self.window.ssthresh) = match sign {
                LossSign::DuplicateAcks => before.window,
                LossSign::Timeout => {
                    let burst = acked.min(self.params.initial_window);
                    (f64::from(self.sent_end - self.una + burst), before.pipe)
                }
            };
            self.reduction = before.reduction;
        }
        if sign == LossSign::Timeout {
            self.spurious.adapting = Some(before);
        }
    }

    /// Takes back what the loss did, and then lets the ACK that told do nothing more to the window (RFC 4015
    /// §3.4) unless it carries ECN-Echo.
    pub(super) fn take_back_at_ack(&mut self, sign: LossSign, ack: Ack, signs: Signs) {
        self.take_back(sign, ack.acked, signs.ece);
        let may_open = self.params.ecn && signs.ece && !signs.marked;
        self.congestion.on_ack(&mut self.window, &Ack { may_open, ..ack });
    }

    /// Takes a round-trip sample of a segment sent at `sent`.
    // RFC 4015 §3.1, step 11.
    pub(super) fn sample(&mut self, sent: Time, now: Time) {
        let una = self.una;
        let is_of_new = |before: &mut Before| sent > before.at && una > before.sent_end;
        match self.spurious.adapting.take_if(is_of_new) {
            Some(before) => self.rto.start_anew(before.estimate, sent, now),
            None => self.rto.sample(sent, now),
        }
    }
}

/// Slow start has come to this by the second round trip after a timeout (RFC 5682 §2.1, step 3 (a)).
const CWND_AFTER_TWO_ROUND_TRIPS: f64 = 3.0;
