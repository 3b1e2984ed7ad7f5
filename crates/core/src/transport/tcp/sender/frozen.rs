//! What route failures make of the sender: it asks its scheme at each occasion and carries out what the
//! scheme decides.

use super::Sender;
use crate::kernel::{Span, Time};
use crate::transport::tcp::route_failure::{
    Frozen, Loss, LossSign, Resend, RouteFailure, Step, Verdict, View,
};
use crate::transport::tcp::{Judgement, Output};
use crate::wire::tcp::{AckSigns, Segment};

impl Sender {
    /// Routing at the source tells that the route to the destination failed.
    pub fn handle_route_failed(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.frozen.is_none() && self.has_outstanding() {
            let step = self.ask(now, |scheme, view| scheme.handle_route_failed(view));
            self.carry_out(now, step, out);
        }
    }

    /// Routing at the source tells that it has a route again.
    pub fn handle_route_found(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.is_frozen() {
            let step = self.ask(now, |scheme, view| scheme.handle_route_found(view));
            self.carry_out(now, step, out);
        }
    }

    /// A node on the way tells something, as TCP-BuS has nodes do.
    pub fn handle_notification(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        let step = self.ask(now, |scheme, view| scheme.handle_notification(segment, view));
        self.carry_out(now, step, out);
    }

    /// Do routing's notices change what it does?
    pub fn heeds_notices(&self) -> bool {
        self.scheme.heeds_notices()
    }

    /// Is it frozen for a route failure?
    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// The state that its scheme is in.
    #[cfg(test)]
    pub(in crate::transport::tcp) fn scheme_state(&self) -> &'static str {
        self.scheme.state()
    }

    /// When the scheme is woken next, if the sender is frozen.
    pub(super) fn wake_time(&self) -> Time {
        self.frozen.map_or(Time::NEVER, |frozen| frozen.wake)
    }

    /// Wakes the scheme if it is time.
    pub(super) fn wake_scheme(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.wake_time() {
            let step = self.ask(now, |scheme, view| scheme.handle_wake(view));
            self.carry_out(now, step, out);
        }
    }

    /// Shows the scheme an ACK, new, duplicate or old.
    pub(super) fn show_ack(&mut self, now: Time, signs: &AckSigns, out: &mut Vec<Output>) {
        self.rounds.handle_signs(signs, self.sent_end);
        let step = self.ask(now, |scheme, view| scheme.handle_ack(signs, view));
        self.carry_out(now, step, out);
    }

    /// Does a loss mean congestion, by the scheme and by what it guesses itself, or is it at least repaired
    /// as if it did ([`Verdict::Spared`], which is remembered)? If not, what it means instead is done.
    pub(super) fn is_congestion(&mut self, now: Time, sign: LossSign, out: &mut Vec<Output>) -> bool {
        let loss = Loss { sign, again: self.recovery.has_timed_out(self.una) };
        let mut verdict = self.ask(now, |scheme, view| scheme.judge_loss(loss, view));
        if sign == LossSign::DuplicateAcks {
            let is_congestion = !self.rounds.blames_radio(self.una);
            if self.rounds.guesses() {
                out.push(Output::Judged(Judgement { number: self.una, is_congestion }));
            }
            if verdict == Verdict::Congestion && !is_congestion {
                verdict = Verdict::Spared;
            }
        }
        self.recovery.is_spared = verdict == Verdict::Spared;
        match verdict {
            Verdict::Congestion | Verdict::Spared => return true,
            Verdict::Accident => self.send(now, self.una, out),
            Verdict::RouteFailure { wake } => {
                self.carry_out(now, Step::Freeze { wake }, out);
                self.carry_out(now, Step::Probe { wake }, out);
            }
        }
        false
    }

    /// The retransmission timer is restarted: a frozen sender will have a whole timeout when it goes on. With
    /// nothing outstanding there is nothing to be frozen for.
    pub(super) fn restart_frozen_timer(&mut self) {
        if self.una == self.sent_end {
            self.frozen = None;
        } else if let Some(frozen) = &mut self.frozen {
            frozen.remaining = self.rto.value();
        }
    }

    fn ask<T>(&mut self, now: Time, question: impl FnOnce(&mut dyn RouteFailure, &mut View<'_>) -> T) -> T {
        let mut view = View {
            now,
            window: &mut self.window,
            rto: &mut self.rto,
            frozen: self.frozen,
            una: self.una,
            next: self.next,
        };
        question(self.scheme.as_mut(), &mut view)
    }

    fn carry_out(&mut self, now: Time, step: Step, out: &mut Vec<Output>) {
        match step {
            Step::Nothing => {}
            Step::Freeze { wake } => self.freeze(now, wake),
            Step::Probe { wake } => self.probe(now, wake, out),
            Step::Thaw { timer } => self.thaw(now, timer),
            Step::Resume { timer, resend } => {
                self.thaw(now, timer);
                self.resend(now, &resend, out);
                self.transmit(now, out);
            }
        }
    }

    fn freeze(&mut self, now: Time, wake: Span) {
        if self.frozen.is_some() || self.una == self.sent_end {
            return;
        }
        let deadline = self.timing.deadline;
        let is_running = deadline > now && deadline != Time::NEVER;
        let remaining = if is_running { deadline.since(now) } else { self.rto.value() };
        self.frozen = Some(Frozen { since: now, remaining, wake: now + wake, has_probed: false });
        self.timing.deadline = Time::NEVER;
        self.timing.hold_until = Time::NEVER;
        // A round trip through an outage says nothing about the path.
        self.timing.stop_measuring();
        self.counters.freezes += 1;
    }

    fn probe(&mut self, now: Time, wake: Span, out: &mut Vec<Output>) {
        let Some(frozen) = &mut self.frozen else { return };
        frozen.has_probed = true;
        frozen.wake = now + wake;
        self.counters.probes += 1;
        self.send(now, self.una, out);
        self.timing.deadline = Time::NEVER;
    }

    fn thaw(&mut self, now: Time, timer: Span) {
        if self.frozen.take().is_some() {
            self.timing.deadline = now + timer;
        }
    }

    fn resend(&mut self, now: Time, resend: &Resend, out: &mut Vec<Output>) {
        match resend {
            Resend::Nothing => {}
            Resend::Window => {
                self.recovery.start_over(self.sent_end);
                self.scoreboard.clear();
                self.next = self.una;
            }
            Resend::Segments(ranges) => {
                self.recovery.ignore_duplicates_below(self.sent_end);
                for number in ranges.iter().flat_map(|&(from, to)| from..to) {
                    self.send(now, number, out);
                }
            }
        }
    }
}
