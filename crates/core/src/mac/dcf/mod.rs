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

mod contention;
mod exchange;

use std::rc::Rc;

use super::medium::{ReceiverRules, WeakFrames};
use super::nonpersistent::NonPersistent;
use super::rate_control::LinkRates;
use super::{MacAction, Protection, Signal, Timing};
use crate::kernel::{Span, Stream, Time};
use crate::mac::medium::Medium;
use crate::wire::NodeId;
use crate::wire::mac::{Body, Class, Frame, FrameKind, Rate};

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
}

impl Backoff {
    fn expiry(&self, timing: &Timing) -> Time {
        if self.idle_from == Time::NEVER {
            return Time::NEVER;
        }
        self.idle_from + timing.difs + timing.slot * u64::from(self.slots)
    }
}
