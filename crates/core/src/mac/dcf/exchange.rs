//! The frames of an exchange: what is sent, what is answered, and what follows when nothing comes; IEEE
//! 802.11-1999 clauses 9.2.5.3 to 9.2.9.

use std::rc::Rc;

use super::{Backoff, Dcf, Response, State};
use crate::kernel::{Span, Time};
use crate::mac::{Access, DataWait, MacAction, Timing};
use crate::wire::mac::{ACK_BYTES, CTS_BYTES, Frame, FrameKind, RTS_BYTES};

impl Dcf {
    // Transmissions.

    fn transmit(&mut self, now: Time, frame: Frame, state: State, timing: &Timing, out: &mut Vec<MacAction>) {
        self.suspend_backoff(now, timing);
        self.state = state;
        self.medium.transmit(now + frame.airtime, timing);
        out.push(MacAction::Transmit(frame));
    }

    /// Sends the current frame, or the RTS that announces it; a `committed` station without looking at the
    /// medium.
    pub(super) fn transmit_current(
        &mut self,
        now: Time,
        committed: bool,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        let Some(current) = &*self.current else { return };
        let idle = committed || self.is_idle(now);
        if current.rts_due {
            if idle {
                self.transmit_rts(now, timing, out);
            } else {
                self.grow_cw(timing);
                self.start_backoff(now, timing);
            }
            return;
        }
        let follows_cts = current.uses_rts;
        if (!follows_cts || timing.params().sense_before_data) && !idle {
            if let Some(current) = &mut *self.current {
                current.rts_due = current.uses_rts;
            }
            self.grow_cw(timing);
            self.start_backoff(now, timing);
            return;
        }
        if current.protection_due(timing) && !follows_cts {
            self.transmit_protection(now, timing, out);
        } else {
            self.transmit_data(now, timing, out);
        }
    }

    /// A CTS to the station itself (802.11-2007 §9.13.2): it tells stations that cannot decode the data frame
    /// how long that lasts.
    fn transmit_protection(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &mut *self.current else { return };
        current.rate = self.rates.rate(now, current.to, timing);
        let airtime = timing.airtime(current.bytes, current.rate);
        let reserves = timing.sifs * 2 + airtime + timing.ack(current.rate).1;
        let frame = Frame {
            kind: FrameKind::Cts,
            from: self.node,
            to: self.node,
            reserves: Timing::duration_field(reserves),
            rate: timing.control_rate,
            airtime: timing.cts,
            bytes: CTS_BYTES,
            sequence: 0,
            class: current.body.class(),
            body: None,
        };
        self.transmit(now, frame, State::Protecting(now + timing.cts + timing.sifs), timing, out);
    }

    fn transmit_rts(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &mut *self.current else { return };
        // What the RTS reserves depends on the data frame's rate, so it is decided here.
        current.rate = self.rates.rate(now, current.to, timing);
        let airtime = timing.airtime(current.bytes, current.rate);
        let reserves = timing.sifs * 3 + timing.cts + airtime + timing.ack(current.rate).1;
        let frame = Frame {
            kind: FrameKind::Rts,
            from: self.node,
            to: current.to,
            reserves: Timing::duration_field(reserves),
            rate: timing.control_rate,
            airtime: timing.rts,
            bytes: RTS_BYTES,
            sequence: 0,
            class: current.body.class(),
            body: None,
        };
        self.transmit(now, frame, State::AwaitCts(now + timing.cts_timeout), timing, out);
    }

    fn transmit_data(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &mut *self.current else { return };
        let broadcast = current.to.is_broadcast();
        let is_announced = current.uses_rts || matches!(self.state, State::Protecting(_));
        if !broadcast && !is_announced {
            current.rate = self.rates.rate(now, current.to, timing);
        }
        let airtime = timing.airtime(current.bytes, current.rate);
        let end = now + airtime;
        let (reserves, deadline) = if broadcast {
            (Span::ZERO, end)
        } else {
            (timing.sifs + timing.ack(current.rate).1, end + timing.ack_wait(current.rate))
        };
        let frame = Frame {
            kind: FrameKind::Data,
            from: self.node,
            to: current.to,
            reserves: Timing::duration_field(reserves),
            rate: current.rate,
            airtime,
            bytes: current.bytes,
            sequence: current.sequence,
            class: current.body.class(),
            body: Some(Rc::clone(&current.body)),
        };
        self.transmit(now, frame, State::AwaitAck(deadline), timing, out);
    }

    /// Sends the CTS or ACK that was due after SIFS.
    fn transmit_response(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(response) = self.response else { return };
        let end = now + response.airtime;
        let (bytes, state) = match response.kind {
            FrameKind::Cts => (CTS_BYTES, State::AwaitData(end + timing.data_wait(response.reserves))),
            _ => (ACK_BYTES, State::SendingAck(end)),
        };
        let frame = Frame {
            kind: response.kind,
            from: self.node,
            to: response.to,
            reserves: response.reserves,
            rate: response.rate,
            airtime: response.airtime,
            bytes,
            sequence: 0,
            class: response.class,
            body: None,
        };
        self.transmit(now, frame, state, timing, out);
    }

    // Ends of waits.

    /// The backoff is over, unless frames that have been overheard put it off.
    pub(super) fn on_backoff_end(
        &mut self,
        now: Time,
        backoff: Backoff,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        let backoff = Backoff { idle_from: self.goes_on(&backoff), ..backoff };
        if backoff.expiry(timing) > now {
            self.backoff = Some(backoff);
            return;
        }
        self.backoff = None;
        // A response goes first; contention starts again when it has ended.
        if self.response.is_none() {
            self.transmit_current(now, backoff.committed, timing, out);
        }
    }

    pub(super) fn on_defer_end(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        match self.response.map(|response| response.kind) {
            // §9.2.5.7: no CTS while the NAV says busy; the station does not answer.
            Some(FrameKind::Cts) if !self.is_idle(now) => {
                self.response = None;
                if timing.params().stalls_after_refusal {
                    // A backoff that is running goes on; a deferral that the RTS ended is forgotten.
                    self.forecast_backoff(now);
                } else {
                    self.resume(now, timing, out);
                }
            }
            Some(_) => self.transmit_response(now, timing, out),
            None => self.transmit_current(now, false, timing, out),
        }
    }

    pub(super) fn on_exchange_end(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        if self.waits_for_data(now, timing) {
            return;
        }
        match self.state {
            State::AwaitCts(_) => self.on_cts_timeout(now, timing, out),
            State::AwaitAck(_) => self.on_ack_timeout(now, timing, out),
            State::AwaitData(_) | State::SendingAck(_) => self.response = None,
            State::Protecting(_) => return self.transmit_data(now, timing, out),
            State::Idle => {}
        }
        self.resume(now, timing, out);
    }

    /// Is a frame to this station, presumably the data frame that its CTS allows, being received when it must
    /// have begun? Then the station waits for its end.
    fn waits_for_data(&mut self, now: Time, timing: &Timing) -> bool {
        if !matches!(self.state, State::AwaitData(_)) || timing.params().data_wait != DataWait::Carrier {
            return false;
        }
        let Some(end) = self.medium.awaited_end().filter(|end| *end >= now) else { return false };
        // Past its last bit, so that it is received first.
        self.state = State::AwaitData(Time(end.0 + 1));
        true
    }

    /// An exchange has ended: what comes next.
    fn resume(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        self.state = State::Idle;
        if self.response.is_some() {
            self.defer = now + timing.sifs;
        } else if let Some(current) = &*self.current {
            if current.uses_rts && !current.rts_due {
                // Its CTS has come: the data frame follows after SIFS. An own backoff cannot be running.
                self.defer = now + timing.before_data;
            } else if self.backoff.is_none() {
                self.start_backoff_after_exchange(now, timing);
            }
        } else if self.owes_ready {
            self.owes_ready = false;
            out.push(MacAction::Ready);
        }
        self.forecast_backoff(now);
    }

    fn start_backoff_after_exchange(&mut self, now: Time, timing: &Timing) {
        match timing.params().access {
            Access::DeferRandom | Access::Defer => self.start_deferral(now, timing),
            Access::Standard | Access::AlwaysBackoff => self.start_backoff(now, timing),
        }
    }

    /// §9.2.5.3: no CTS came.
    fn on_cts_timeout(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        self.short_retries += 1;
        if self.short_retries >= timing.params().short_retry_limit {
            self.short_retries = 0;
            self.give_up(now, timing, out);
        } else {
            self.retry(now, timing);
        }
    }

    /// §9.2.5.3: no ACK came; or a broadcast has ended.
    fn on_ack_timeout(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &mut *self.current else { return };
        if current.to.is_broadcast() {
            self.finish(now, timing, out);
            return;
        }
        self.rates.handle_missing_ack(now, current.to, timing);
        let params = timing.params();
        let (retries, limit) = if current.uses_rts {
            (&mut self.long_retries, params.long_retry_limit)
        } else {
            (&mut self.short_retries, params.short_retry_limit)
        };
        *retries += 1;
        if *retries >= limit + u32::from(params.exceeds_retry_limit) {
            *retries = 0;
            self.give_up(now, timing, out);
        } else {
            current.rts_due = current.uses_rts;
            self.retry(now, timing);
        }
    }

    fn retry(&mut self, now: Time, timing: &Timing) {
        self.grow_cw(timing);
        self.start_backoff(now, timing);
    }

    fn give_up(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        self.cw = timing.params().cw_min;
        if let Some(current) = self.current.take() {
            out.push(MacAction::Failed { body: current.body, to: current.to });
        }
        if timing.params().backoff_after_failure {
            self.start_backoff(now, timing);
        }
    }

    /// The current frame is done; a backoff follows every transmission (§9.2.5.2).
    fn finish(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        self.cw = timing.params().cw_min;
        if let Some(current) = self.current.take() {
            out.push(MacAction::Sent(current.body));
        }
        self.start_backoff(now, timing);
    }

    // Frames received.

    pub(super) fn on_rts(&mut self, now: Time, frame: &Frame, timing: &Timing, out: &mut Vec<MacAction>) {
        if self.state != State::Idle || self.response.is_some() {
            return;
        }
        // §7.2.1.2: what the RTS reserves less the CTS and its SIFS, rounded up like every Duration field.
        let reserves = Timing::duration_field(frame.reserves.saturating_sub(timing.sifs + timing.cts));
        self.response = Some(Response {
            kind: FrameKind::Cts,
            to: frame.from,
            rate: timing.control_rate,
            airtime: timing.cts,
            reserves,
            class: frame.class,
        });
        self.defer = Time::NEVER;
        self.resume(now, timing, out);
    }

    pub(super) fn on_cts(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let (State::AwaitCts(_), Some(current)) = (self.state, &mut *self.current) else { return };
        current.rts_due = false;
        // §9.2.5.3: the short retry count is reset, the contention window is not.
        if timing.params().cts_resets_short_retries {
            self.short_retries = 0;
        }
        if timing.params().resets_retries_early {
            self.cw = timing.params().cw_min;
        }
        self.resume(now, timing, out);
    }

    pub(super) fn on_data(&mut self, now: Time, frame: &Frame, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(body) = &frame.body else { return };
        if !frame.to.is_broadcast() {
            if !self.acknowledge(now, frame, timing, out) {
                return;
            }
            if self.is_duplicate(frame) {
                out.push(MacAction::Duplicate(Rc::clone(body)));
                return;
            }
        }
        out.push(MacAction::Deliver { body: Rc::clone(body), from: frame.from });
    }

    /// §9.2.8: an ACK is due after SIFS. False if the frame must be ignored.
    fn acknowledge(&mut self, now: Time, frame: &Frame, timing: &Timing, out: &mut Vec<MacAction>) -> bool {
        let awaited = matches!(self.state, State::AwaitData(_));
        if awaited {
            self.response = None;
            if timing.params().resets_retries_early {
                self.short_retries = 0;
                self.cw = timing.params().cw_min;
            }
        } else if self.response.is_some() || (timing.params().ack_needs_cts && timing.uses_rts(frame.bytes)) {
            return false;
        }
        let (rate, airtime) = timing.ack(frame.rate);
        self.response = Some(Response {
            kind: FrameKind::Ack,
            to: frame.from,
            rate,
            airtime,
            reserves: Span::ZERO,
            class: frame.class,
        });
        if awaited || self.state == State::Idle {
            self.resume(now, timing, out);
        }
        true
    }

    /// §9.2.9: has this frame been received before? Remembers it.
    fn is_duplicate(&mut self, frame: &Frame) -> bool {
        match self.last_sequences.iter().position(|entry| entry.0 == frame.from) {
            Some(at) => {
                self.last_sequences[..=at].rotate_right(1);
                std::mem::replace(&mut self.last_sequences[0].1, frame.sequence) == frame.sequence
            }
            None => {
                self.last_sequences.insert(0, (frame.from, frame.sequence));
                false
            }
        }
    }

    pub(super) fn on_ack(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let (State::AwaitAck(_), Some(current)) = (self.state, &*self.current) else { return };
        self.rates.handle_ack(current.to, timing);
        if current.uses_rts {
            self.long_retries = 0;
        } else {
            self.short_retries = 0;
        }
        self.finish(now, timing, out);
        self.resume(now, timing, out);
    }
}
