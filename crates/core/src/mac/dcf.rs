//! The distributed coordination function: one station's state machine.
//!
//! *Standard*: IEEE 802.11-1999 clause 9.2.
//! *Implemented*: physical and virtual carrier sense, DIFS, EIFS, backoff with freezing and post-backoff,
//! RTS/CTS above a threshold, ACK, short and long retry limits, duplicate filter, broadcast at its own rate,
//! a rate for each link (`rate_control`).
//! *Not implemented*: fragmentation, power saving, infrastructure mode.
//! *Deviations*: numbered 1 to 9 in docs/models/mac.md, each with its clause. What ns-2 does otherwise is a
//! parameter each, see [`MacParams`](super::MacParams).
//!
//! **Order of calls.** `handle_arrival` at a frame's first bit; at the last bit of a frame to the station or
//! to all, `handle_received` if [`Dcf::received`] names it; `handle_timeout` for the station's own deadlines.
//! Time never goes back. After each call the network asks `next_timeout` again.

use std::rc::Rc;

use super::medium::{ReceiverRules, WeakFrames};
use super::nonpersistent::NonPersistent;
use super::rate_control::LinkRates;
use super::{Access, DataWait, MacAction, Protection, Signal, Timing};
use crate::kernel::{Span, Stream, Time};
use crate::mac::medium::Medium;
use crate::wire::NodeId;
use crate::wire::mac::{ACK_BYTES, Body, CTS_BYTES, Class, Frame, FrameKind, RTS_BYTES, Rate};

/// What the station is in the middle of, with the deadline that ends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not in a frame exchange.
    Idle,
    /// An RTS is out: the CTS must have arrived by then.
    AwaitCts(Time),
    /// A CTS is out: the data frame must have arrived by then, or have begun ([`DataWait::Carrier`]).
    AwaitData(Time),
    /// A data frame is out: the ACK must have arrived by then; for a broadcast, its end.
    AwaitAck(Time),
    /// An ACK is on the air until then.
    SendingAck(Time),
    /// A CTS to the station itself is out, and the data frame follows then.
    Protecting(Time),
}

impl State {
    fn deadline(self) -> Time {
        match self {
            State::Idle => Time::NEVER,
            State::AwaitCts(t) | State::AwaitData(t) | State::AwaitAck(t) => t,
            State::SendingAck(t) | State::Protecting(t) => t,
        }
    }
}

/// A response that is due a SIFS after the frame it answers.
#[derive(Clone, Copy, Debug)]
struct Response {
    kind: FrameKind,
    to: NodeId,
    rate: Rate,
    airtime: Span,
    reserves: Span,
    class: Class,
}

/// The frame that the station is trying to send.
#[derive(Clone, Debug)]
struct Current {
    to: NodeId,
    body: Rc<Body>,
    bytes: u32,
    rate: Rate,
    sequence: u16,
    uses_rts: bool,
    /// Is an RTS due (again) before the frame?
    rts_due: bool,
}

impl Current {
    /// Must a CTS to the station itself go before the frame?
    fn protection_due(&self, timing: &Timing) -> bool {
        !self.to.is_broadcast() && timing.protection() == Protection::CtsToSelf
    }
}

/// The backoff procedure (§9.2.5.2): after DIFS without a busy medium the slots count down.
#[derive(Clone, Copy, Debug)]
struct Backoff {
    slots: u32,
    /// The medium is idle from here on, as far as was known when the backoff was last looked at; DIFS begins.
    /// Frames that were overheard since can only have made it later ([`Dcf::goes_on`]).
    idle_from: Time,
    /// No backoff has been drawn yet: the station may transmit after DIFS unless the medium gets busy.
    undrawn: bool,
    /// A frame has begun to arrive too late to be sensed before the backoff ends: the station will transmit.
    committed: bool,
}

/// See the module's head. In this order, so that arrivals touch the first lines of the cache only.
#[repr(C)]
pub struct Dcf {
    medium: Medium,
    backoff: Option<Backoff>,
    state: State,
    /// When a response or the data frame after a CTS is due; also the unfrozen wait of `defer`.
    defer: Time,
    stream: Stream,
    cw: u32,
    sequence: u16,
    /// The layer above waits to be told that the next frame may come.
    owes_ready: bool,
    /// Apart, because it is large and not needed while others transmit.
    current: Box<Option<Current>>,
    /// Apart for the same reason.
    rates: Box<LinkRates>,
    node: NodeId,
    short_retries: u32,
    long_retries: u32,
    response: Option<Response>,
    /// Contends in place of the DCF, which then has nothing to send: what is heard of the medium is the same,
    /// and `defer` is when this wants to be woken.
    instead: Option<Box<NonPersistent>>,
    /// Last sequence number by transmitter, most recent transmitter first (§9.2.9).
    last_sequences: Vec<(NodeId, u16)>,
}

impl Dcf {
    /// A station that has nothing to send and hears nothing.
    pub fn new(node: NodeId, timing: &Timing, stream: Stream) -> Dcf {
        Dcf {
            instead: NonPersistent::new(node, timing, &stream),
            medium: Medium::default(),
            backoff: None,
            state: State::Idle,
            defer: Time::NEVER,
            stream,
            cw: timing.params().cw_min,
            sequence: 0,
            owes_ready: false,
            current: Box::new(None),
            rates: Box::new(LinkRates::new(timing)),
            node,
            short_retries: 0,
            long_retries: 0,
            response: None,
            last_sequences: Vec::new(),
        }
    }

    /// Gives the unicast data frames to one neighbour, or to all that have none, a rate that stays.
    pub fn fix_rate(&mut self, to: Option<NodeId>, rate: Rate) {
        self.rates.fix(to, rate);
    }

    /// Can the station take a frame from above?
    pub fn is_ready(&self) -> bool {
        self.instead.as_ref().map_or(!self.owes_ready, |instead| instead.is_ready())
    }

    /// The body of the frame that the station is trying to send.
    pub fn in_hand(&self) -> Option<&Body> {
        match &self.instead {
            Some(instead) => instead.in_hand(),
            None => (*self.current).as_ref().map(|current| &*current.body),
        }
    }

    /// From which squared distance the frame that has just been received seems to come, in m².
    pub fn heard_from_m2(&self) -> f64 {
        self.medium.heard_from_m2()
    }

    /// The station forgets everything but its fixed rates. What it was trying to send comes back.
    pub fn restart(&mut self, timing: &Timing) -> Option<Rc<Body>> {
        let lost = self.current.take();
        self.medium.restart();
        self.rates.restart();
        (self.state, self.response, self.defer) = (State::Idle, None, Time::NEVER);
        (self.owes_ready, self.backoff, self.cw) = (false, None, timing.params().cw_min);
        (self.short_retries, self.long_retries, self.sequence) = (0, 0, 0);
        self.last_sequences.clear();
        let of_instead = self.instead.as_mut().and_then(|instead| instead.restart());
        lost.map(|current| current.body).or(of_instead)
    }

    /// Frames that the station would have had to act on ([`Signal::wanted`]) and that others destroyed so
    /// far.
    pub fn collisions(&self) -> u64 {
        self.medium.collisions()
    }

    /// When the station next wants to be woken. It may find that it is too early.
    pub fn next_timeout(&self, timing: &Timing) -> Time {
        let backoff = self.backoff.map_or(Time::NEVER, |backoff| backoff.expiry(timing));
        self.state.deadline().min(self.defer).min(backoff)
    }

    /// The transmission that has just been received and must be acted on, if there is one.
    #[inline]
    pub fn received(&self, now: Time) -> Option<u32> {
        self.medium.received(now)
    }

    /// The transmission that is being received intact so far and must be acted on, if there is one.
    pub fn awaited(&self) -> Option<u32> {
        self.medium.awaited()
    }

    /// The transmission that would have to be acted on if the station did not transmit itself.
    pub fn deafened(&self) -> Option<u32> {
        self.medium.deafened()
    }

    /// Is the station transmitting?
    pub fn is_on_air(&self, now: Time) -> bool {
        self.medium.is_on_air(now)
    }

    /// The transmission to somebody else that has just been received intact, if there is one.
    #[inline]
    pub fn overheard(&self, now: Time) -> Option<u32> {
        self.medium.overheard(now)
    }

    /// A frame from above. Only while [`Dcf::is_ready`].
    pub fn handle_send(
        &mut self,
        now: Time,
        to: NodeId,
        body: Body,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        debug_assert!(self.is_ready());
        self.medium.settle(now);
        if let Some(instead) = &mut self.instead {
            let all = to.is_broadcast();
            let rate = if all { timing.broadcast_rate } else { self.rates.rate(now, to, timing) };
            instead.handle_send(now, (to, body), rate, &self.medium, timing);
            self.defer = instead.next_timeout();
            return;
        }
        let bytes = timing.frame_bytes(body.bytes());
        let protects = || timing.protection() == Protection::RtsCts;
        let uses_rts = !to.is_broadcast() && (timing.uses_rts(bytes) || protects());
        // §7.1.3.4: sequence numbers count modulo 4096. Number 0 is left to "none yet".
        self.sequence = self.sequence % 4095 + 1;
        *self.current = Some(Current {
            to,
            rate: if to.is_broadcast() { timing.broadcast_rate } else { timing.data_rate },
            body: Rc::new(body),
            bytes,
            sequence: self.sequence,
            uses_rts,
            rts_due: uses_rts,
        });
        self.owes_ready = true;
        if self.backoff.is_none() && self.defer == Time::NEVER {
            self.contend(now, timing, out);
        }
        self.mark_patience();
    }

    /// Length and draw of the frame that arrives next, where others count as noise in its errors
    /// ([`Noise::draw`](crate::radio::Noise::draw)).
    pub fn announce(&mut self, bytes: u32, draw: f64) {
        self.medium.announce(bytes, draw);
    }

    /// The first bit of a frame reaches the station. A reception that ends at this very instant must have
    /// been handled before ([`Dcf::received`]). True if `next_timeout` may have changed.
    #[inline(always)]
    pub fn handle_arrival(
        &mut self,
        now: Time,
        signal: &Signal,
        timing: &Timing,
        rules: &ReceiverRules,
    ) -> bool {
        self.medium.settle_handled(now);
        let Some(backoff) = self.backoff.filter(|backoff| !backoff.committed) else {
            self.medium.arrive(now, signal, timing, rules);
            return false;
        };
        if self.medium.is_receiving() && !backoff.undrawn {
            return self.hear_another(now, signal, backoff, timing, rules);
        }
        if self.goes_on(&backoff) > now || !self.commits(now, timing) {
            self.suspend_backoff(now, timing);
        }
        self.medium.arrive(now, signal, timing, rules);
        self.forecast_backoff(now);
        self.mark_patience();
        true
    }

    /// The first bit of a frame while another is being received, so that the backoff is suspended. True if it
    /// goes on at another time than was known.
    #[inline]
    fn hear_another(
        &mut self,
        now: Time,
        signal: &Signal,
        backoff: Backoff,
        timing: &Timing,
        rules: &ReceiverRules,
    ) -> bool {
        self.medium.arrive(now, signal, timing, rules);
        let idle_from = self.idle_at();
        self.backoff = Some(Backoff { idle_from, ..backoff });
        self.mark_patience();
        idle_from != backoff.idle_from
    }

    /// Is the station in the state of [`Dcf::overhear`] at the instant?
    #[inline(always)]
    pub fn may_overhear(&self, now: Time) -> bool {
        self.medium.may_overhear(now)
    }

    /// The first bit of a frame in the state in which most stations are most of the time: the receiver is
    /// free, and no slots of a backoff are counted. Does what [`Dcf::handle_arrival`] does, except that a
    /// backoff is not told how much later it goes on: the station finds out when it next acts, and
    /// `next_timeout` may be too early until then. False, and nothing done, in every other case. `EIFS` and
    /// `weak_frames` are as [`ShortWay`](super::ShortWay) says; only to be called if it is open.
    #[inline(always)]
    pub fn overhear<const EIFS: bool>(
        &mut self,
        now: Time,
        signal: &Signal,
        weak_frames: WeakFrames,
    ) -> bool {
        self.medium.overhear::<EIFS>(now, signal, weak_frames)
    }

    /// The frame named by [`Dcf::received`] has arrived intact.
    pub fn handle_received(&mut self, now: Time, frame: &Frame, timing: &Timing, out: &mut Vec<MacAction>) {
        if let Some(instead) = &mut self.instead {
            self.medium.release();
            instead.handle_received(now, frame, &self.medium, timing, out);
            self.defer = instead.next_timeout();
            return;
        }
        match frame.kind {
            FrameKind::Rts => self.on_rts(now, frame, timing, out),
            FrameKind::Cts => self.on_cts(now, timing, out),
            FrameKind::Data => self.on_data(now, frame, timing, out),
            FrameKind::Ack => self.on_ack(now, timing, out),
        }
        self.handle_missed(now);
    }

    /// The frame named by [`Dcf::received`] has ended, and the station does not act on it.
    pub fn handle_missed(&mut self, now: Time) {
        self.medium.release();
        self.forecast_backoff(now);
        self.mark_patience();
    }

    /// One of the station's own deadlines has come.
    pub fn handle_timeout(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        self.medium.settle(now);
        if let Some(instead) = &mut self.instead {
            if self.defer <= now {
                instead.handle_timeout(now, &mut self.medium, timing, out);
                self.defer = instead.next_timeout();
            }
            return;
        }
        if self.state.deadline() <= now {
            self.on_exchange_end(now, timing, out);
        } else if self.defer <= now {
            self.defer = Time::NEVER;
            self.on_defer_end(now, timing, out);
        } else if let Some(backoff) = self.backoff.filter(|backoff| backoff.expiry(timing) <= now) {
            self.on_backoff_end(now, backoff, timing, out);
        }
        self.mark_patience();
    }

    // Contention, §9.2.5.

    /// Begins to contend for the medium with the current frame.
    fn contend(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let idle_at = self.idle_at();
        if idle_at > now {
            self.start_backoff(now, timing);
            return;
        }
        match timing.params().access {
            Access::Standard if now >= idle_at + timing.difs => {
                self.transmit_current(now, false, timing, out);
            }
            Access::Standard => {
                self.backoff =
                    Some(Backoff { slots: 0, idle_from: idle_at, undrawn: true, committed: false });
            }
            Access::AlwaysBackoff => self.start_backoff(now, timing),
            Access::DeferRandom | Access::Defer => self.start_deferral(now, timing),
        }
    }

    /// ns-2's wait without a backoff, which does not freeze.
    fn start_deferral(&mut self, now: Time, timing: &Timing) {
        let random = timing.params().access == Access::DeferRandom;
        let slots = if random { self.draw_slots(timing) } else { 0 };
        self.defer = now + timing.difs + timing.slot * u64::from(slots);
    }

    fn draw_slots(&mut self, timing: &Timing) -> u32 {
        self.stream.below(self.cw + u32::from(timing.params().backoff_includes_cw))
    }

    /// §9.2.5.2: draws a backoff; it counts from when the medium is idle, not before now.
    fn start_backoff(&mut self, now: Time, timing: &Timing) {
        let slots = self.draw_slots(timing);
        let idle_from = self.idle_at().max(now);
        self.backoff = Some(Backoff { slots, idle_from, undrawn: false, committed: false });
    }

    /// A frame begins to arrive: does the backoff end before carrier sense can report it? Then the station
    /// transmits, as all stations do whose backoffs end in the same slot (§9.2.10).
    fn commits(&mut self, now: Time, timing: &Timing) -> bool {
        let Some(mut backoff) = self.backoff else { return false };
        backoff.idle_from = self.goes_on(&backoff);
        backoff.committed |= backoff.expiry(timing) < now + timing.cca;
        self.backoff = Some(backoff);
        backoff.committed
    }

    /// From when the backoff goes on: `idle_from`, or later if the station has overheard frames since.
    fn goes_on(&self, backoff: &Backoff) -> Time {
        if backoff.committed { backoff.idle_from } else { backoff.idle_from.max(self.idle_at()) }
    }

    /// Tells the medium how long the backoff does not mind arrivals: until it goes on, no slots are counted.
    fn mark_patience(&mut self) {
        self.medium.patient_until = match &self.backoff {
            None => Time::NEVER,
            Some(backoff) if backoff.committed || backoff.idle_from == Time::NEVER => Time::ZERO,
            Some(backoff) => backoff.idle_from,
        };
    }

    /// The medium gets busy now: slots that have passed are counted.
    fn suspend_backoff(&mut self, now: Time, timing: &Timing) {
        let Some(mut backoff) = self.backoff else { return };
        let idle_from = self.goes_on(&backoff);
        if backoff.idle_from == Time::NEVER {
            return;
        }
        let counts_from = idle_from + timing.difs;
        if backoff.undrawn {
            // §9.2.5.1: the medium got busy before DIFS was over.
            backoff.slots = self.draw_slots(timing);
            backoff.undrawn = false;
        } else if now > counts_from {
            let counted = (now.0 - counts_from.0) / timing.slot.0;
            backoff.slots -= counted.min(u64::from(backoff.slots)) as u32;
        }
        // The forecast that follows sets when it goes on.
        self.backoff = Some(Backoff { idle_from: Time::NEVER, committed: false, ..backoff });
    }

    /// Sets from when a suspended backoff goes on, as far as can be known now.
    fn forecast_backoff(&mut self, now: Time) {
        let idle_at = self.idle_at();
        if let Some(backoff) = &mut self.backoff
            && !backoff.committed
            && (backoff.idle_from == Time::NEVER || backoff.idle_from < idle_at)
        {
            backoff.idle_from = if idle_at == Time::NEVER { idle_at } else { idle_at.max(now) };
        }
    }

    /// From when the medium is idle and the station is in no exchange.
    fn idle_at(&self) -> Time {
        if self.state == State::Idle { self.medium.idle_at() } else { Time::NEVER }
    }

    fn is_idle(&self, now: Time) -> bool {
        self.state == State::Idle && self.medium.is_idle(now)
    }

    /// §9.2.4: the contention window grows as 2·cw + 1 up to its maximum.
    fn grow_cw(&mut self, timing: &Timing) {
        self.cw = (2 * self.cw + 1).min(timing.params().cw_max);
    }

    // Transmissions.

    fn transmit(&mut self, now: Time, frame: Frame, state: State, timing: &Timing, out: &mut Vec<MacAction>) {
        self.suspend_backoff(now, timing);
        self.state = state;
        self.medium.transmit(now + frame.airtime, timing);
        out.push(MacAction::Transmit(frame));
    }

    /// Sends the current frame, or the RTS that announces it; a `committed` station without looking at the
    /// medium.
    fn transmit_current(&mut self, now: Time, committed: bool, timing: &Timing, out: &mut Vec<MacAction>) {
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
    fn on_backoff_end(&mut self, now: Time, backoff: Backoff, timing: &Timing, out: &mut Vec<MacAction>) {
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

    fn on_defer_end(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
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

    fn on_exchange_end(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
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

    fn on_rts(&mut self, now: Time, frame: &Frame, timing: &Timing, out: &mut Vec<MacAction>) {
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

    fn on_cts(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
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

    fn on_data(&mut self, now: Time, frame: &Frame, timing: &Timing, out: &mut Vec<MacAction>) {
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

    fn on_ack(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
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

impl Backoff {
    fn expiry(&self, timing: &Timing) -> Time {
        if self.idle_from == Time::NEVER {
            return Time::NEVER;
        }
        self.idle_from + timing.difs + timing.slot * u64::from(self.slots)
    }
}
