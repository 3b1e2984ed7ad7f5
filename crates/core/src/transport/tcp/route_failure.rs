//! What senders that know of route failures do: freeze and probe, wait for the route, or take a loss for no congestion.
//!
//! | scheme | a failure is known by | meanwhile | it ends with |
//! |---|---|---|---|
//! | ELFN (Holland and Vaidya 1999) | routing's notice | a probe at a constant interval | any ACK |
//! | TCP-F (Chandran and others 1998) | notice (RFN) | nothing | notice (RRN), guard timer |
//! | TCP-BuS (Kim, Toh and Choi 2000) | ERDN, notice | a probe whenever the guard timer fires | ERSN, notice, an ACK after a probe |
//! | ATCP (Liu and Singh 2001) | notice (ICMP unreachable) | probes, ever rarer | any ACK |
//! | Bansal and Barua 2003 | two timeouts without any ACK | a probe at the moderated timeout | any ACK |
//! | TCP-DOOR (Wang and Zhang 2002) | segments or ACKs out of order | no reduction for T1 | T1 |
//!
//! The sender has one frozen state for all of them, [`Standby`]. ATCP has two more beside it, see [`AtcpState`].

use super::sender::Sender;
use super::{Output, RouteFailureScheme};
use crate::kernel::{Span, Time};
use crate::wire::tcp::{AckSigns, Segment};

/// A sender that is frozen: it sends nothing but probes, and the retransmission timer stands still.
#[derive(Clone, Copy)]
pub(super) struct Standby {
    since: Time,
    /// What was left of the retransmission timer.
    remaining: Span,
    /// When the next probe is sent, or the guard timer fires.
    wake: Time,
    /// From one probe to the next.
    interval: Span,
    /// Has a probe been sent?
    probed: bool,
}

impl Standby {
    pub(super) fn wake(&self) -> Time {
        self.wake
    }
}

/// ATCP's states (Liu and Singh 2001, Fig. 3). It is a layer below TCP that decides which signs of trouble TCP sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum AtcpState {
    /// TCP works, and nothing is wrong.
    #[default]
    Normal,
    /// A mark of congestion has come: TCP deals with it alone, and with losses, until it sends new data.
    Congested,
    /// Duplicate ACKs or an expired timer told of a loss by the channel: TCP persists, which is sends nothing new and
    /// closes nothing, while ATCP sends the first segment again, until an ACK for new data.
    Loss,
    /// The route is gone: TCP persists and probes, until any ACK.
    Disconnected,
}

/// What TCP-DOOR remembers.
#[derive(Default)]
pub(super) struct Door {
    /// Until when no reduction is made.
    steady_until: Time,
    /// The last reduction: when, and window and threshold before it.
    before: Option<(Time, f64, f64)>,
    /// The greatest number of an ACK so far.
    latest_ack: u32,
}

impl Sender {
    /// Routing at the source tells that the route to the destination failed. Schemes without notices ignore it.
    pub fn handle_route_failed(&mut self, now: Time) {
        let interval = match self.params.route_failure {
            RouteFailureScheme::Elfn => Span::from_secs(self.params.elfn_probe_interval_s),
            RouteFailureScheme::Atcp => self.rto.value(),
            RouteFailureScheme::TcpF | RouteFailureScheme::TcpBus => {
                Span::from_secs(self.params.route_guard_s)
            }
            _ => return,
        };
        if self.standby.is_none() && self.una < self.sent_end {
            if self.params.route_failure == RouteFailureScheme::Atcp {
                self.atcp = AtcpState::Disconnected;
            }
            self.freeze(now, interval);
        }
    }

    /// Routing at the source tells that it has a route again. It ends the standby of TCP-F and TCP-BuS; the others wait
    /// for an ACK.
    pub fn handle_route_found(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.waits_for_route() && self.standby.is_some() {
            self.resume(now, out);
        }
    }

    /// A node on the way tells what TCP-BuS has nodes tell; other schemes, and other segments, are ignored.
    pub fn handle_notification(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        if self.params.route_failure != RouteFailureScheme::TcpBus {
            return;
        }
        match segment {
            Segment::Erdn { .. } => self.handle_route_failed(now),
            Segment::Ersn { kept, .. } if self.standby.is_some() => self.repair_path(now, kept, out),
            _ => {}
        }
    }

    // Selective retransmission request: what was sent before the last segment that was kept, and is not kept itself, had
    // passed the break or was lost at it. Segments after that may be on their way to where the others waited, and ACKs
    // have had no time to arrive if it was silent for less than a timeout. Segments that arrive before those sent again
    // make duplicate ACKs, which mean no further loss.
    fn repair_path(&mut self, now: Time, kept: &[(u32, u32)], out: &mut Vec<Output>) {
        let was_long = self.standby.is_some_and(|standby| now.since(standby.since) >= self.rto.value());
        self.thaw(now);
        self.recover_end = self.sent_end;
        self.forget_duplicates();
        let last = kept.last().filter(|_| was_long);
        let end = last.map_or(self.una, |&(_, to)| to.min(self.next));
        for number in self.una..end {
            if !kept.iter().any(|&(from, to)| (from..to).contains(&number)) {
                self.send(now, number, out);
            }
        }
        self.transmit(now, out);
    }

    /// Do routing's notices change what it does?
    pub fn heeds_notices(&self) -> bool {
        use RouteFailureScheme::{Atcp, Elfn, TcpBus, TcpF};
        matches!(self.params.route_failure, Elfn | TcpF | TcpBus | Atcp)
    }

    /// Is it frozen?
    pub fn is_in_standby(&self) -> bool {
        self.standby.is_some()
    }

    fn waits_for_route(&self) -> bool {
        matches!(self.params.route_failure, RouteFailureScheme::TcpF | RouteFailureScheme::TcpBus)
    }

    fn freeze(&mut self, now: Time, interval: Span) {
        let remaining = if self.deadline > now && self.deadline != Time::NEVER {
            self.deadline.since(now)
        } else {
            self.rto.value()
        };
        self.standby = Some(Standby { since: now, remaining, wake: now + interval, interval, probed: false });
        self.deadline = Time::NEVER;
        self.hold_until = Time::NEVER;
        // A round trip through an outage says nothing about the path.
        self.timed = None;
        self.counters.standbys += 1;
    }

    /// The standby's own timer.
    pub(super) fn wake_from_standby(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.params.route_failure == RouteFailureScheme::TcpF {
            self.resume(now, out);
        } else {
            self.probe(now, out);
        }
    }

    fn probe(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(standby) = &mut self.standby else { return };
        standby.probed = true;
        standby.wake = now + standby.interval;
        if self.params.route_failure == RouteFailureScheme::Atcp {
            let longest = Span::from_secs(self.params.atcp_probe_interval_max_s);
            standby.interval = (standby.interval * 2).min(longest);
            standby.wake = now + standby.interval;
        }
        self.counters.probes += 1;
        self.send(now, self.una, out);
        self.deadline = Time::NEVER;
    }

    /// Leaves standby with what was frozen, or what the scheme puts in its place; sends nothing.
    fn thaw(&mut self, now: Time) {
        let Some(standby) = self.standby.take() else { return };
        self.deadline = now + standby.remaining;
        match self.params.route_failure {
            RouteFailureScheme::Elfn => {
                if !self.params.elfn_restore_window {
                    self.window.cwnd = 1.0;
                }
                if !self.params.elfn_restore_rto {
                    self.rto.restart(&self.params);
                    self.deadline = now + self.rto.value();
                }
            }
            // The new route's capacity is not known (Liu and Singh 2001).
            RouteFailureScheme::Atcp => {
                self.atcp = AtcpState::Normal;
                self.window.cwnd = 1.0;
            }
            // What waits along the path takes longer than what is sent now.
            RouteFailureScheme::TcpBus => self.deadline = now + self.rto.value() * 2,
            _ => {}
        }
    }

    // TCP-F sends its window again; TCP-BuS leaves that to the nodes that buffered it, and to the timer.
    fn resume(&mut self, now: Time, out: &mut Vec<Output>) {
        self.thaw(now);
        if self.params.route_failure == RouteFailureScheme::TcpF {
            self.recovery = super::recovery::Recovery::Open;
            self.recover_end = self.sent_end;
            self.forget_duplicates();
            self.scoreboard.clear();
            self.next = self.una;
        }
        self.transmit(now, out);
    }

    /// Any ACK that arrives, new, duplicate or old, before it is looked at.
    pub(super) fn notice_ack(&mut self, now: Time, signs: &AckSigns) {
        self.is_silent = false;
        // An ACK tells a sender that waits for its route nothing, unless it may be the answer to a probe.
        if !self.waits_for_route() || self.standby.is_some_and(|standby| standby.probed) {
            self.thaw(now);
        }
        match self.params.route_failure {
            RouteFailureScheme::TcpDoor => self.notice_order(now, signs),
            RouteFailureScheme::Atcp if signs.ece => self.atcp = AtcpState::Congested,
            _ => {}
        }
    }

    // Wang and Zhang 2002: out-of-order delivery means a route change, so recent reductions were no congestion and
    // there will be none for a while.
    fn notice_order(&mut self, now: Time, signs: &AckSigns) {
        let overtaken = signs.count < self.door.latest_ack;
        self.door.latest_ack = self.door.latest_ack.max(signs.count);
        if !overtaken && !signs.out_of_order {
            return;
        }
        self.door.steady_until = now + Span::from_secs(self.params.door_steady_s);
        let recent = Span::from_secs(self.params.door_recovery_s);
        if let Some((when, cwnd, ssthresh)) = self.door.before.take()
            && now.since(when) <= recent
        {
            (self.window.cwnd, self.window.ssthresh) = (cwnd, ssthresh);
            self.rto.end_back_off();
        }
    }

    /// Does a loss now close the window? Not for ATCP, to which a loss without a mark is the channel's, nor for TCP-DOOR
    /// soon after a route change. Remembers the state before.
    pub(super) fn loss_is_congestion(&mut self, now: Time) -> bool {
        match self.params.route_failure {
            RouteFailureScheme::Atcp if self.atcp != AtcpState::Congested => {
                self.atcp = AtcpState::Loss;
                return false;
            }
            RouteFailureScheme::TcpDoor if now < self.door.steady_until => return false,
            _ => {}
        }
        if self.door.before.is_none_or(|_| self.timed_out != Some(self.una)) {
            self.door.before = Some((now, self.window.cwnd, self.window.ssthresh));
        }
        true
    }

    /// Bansal and Barua 2003: is this timeout the second one without any ACK between? Then the route has failed, and
    /// all is frozen as it is.
    pub(super) fn suspects_route(&mut self, now: Time, out: &mut Vec<Output>) -> bool {
        if self.params.route_failure != RouteFailureScheme::BansalBarua || !self.is_silent {
            return false;
        }
        let interval = self.moderated_rto();
        self.freeze(now, interval);
        self.probe(now, out);
        true
    }

    fn moderated_rto(&self) -> Span {
        let least = Span::from_secs(self.params.moderated_rto_min_s);
        let most = Span::from_secs(self.params.moderated_rto_max_s);
        self.rto.value().min(most).max(least)
    }

    /// After a timeout: silence begins, and the timer that ends it is moderated.
    pub(super) fn begin_silence(&mut self, now: Time) {
        if self.params.route_failure == RouteFailureScheme::BansalBarua {
            self.is_silent = true;
            self.deadline = now + self.moderated_rto();
        }
    }

    /// ATCP hears of new data acknowledged, or new data sent.
    pub(super) fn leave_atcp_state(&mut self, left: AtcpState) {
        if self.atcp == left {
            self.atcp = AtcpState::Normal;
        }
    }

    /// An ACK restarts the timer of a sender that waits for its route: it will have a whole timeout then.
    pub(super) fn restart_frozen_timer(&mut self) {
        if let Some(standby) = &mut self.standby {
            standby.remaining = self.rto.value();
        }
    }
}
