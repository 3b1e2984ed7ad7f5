//! Access with non-persistent carrier sense: CSMA, and FAMA-NCS, which acquires the floor by RTS and CTS.
//!
//! *Sources*: CSMA: Kleinrock and Tobagi, "Packet switching in radio channels: part I", IEEE Trans.
//! Communications 1975. FAMA: Fullmer and Garcia-Luna-Aceves, SIGCOMM 1995 and 1997; Garcia-Luna-Aceves and
//! Fullmer, Mobile Networks and Applications 1999. Of FAMA's papers only the abstracts could be read.
//! *Implemented*: a station that finds the medium idle transmits once it has turned around, otherwise it
//! senses again after a random time. CSMA sends the data frame without anything else. FAMA sends an RTS
//! first; the CTS is longer than an RTS, carrier sense and the largest round trip, so that it dominates; who
//! hears noise waits for the longest data frame; RTSs are repeated up to a limit. Neither has ACKs.
//! *Not implemented*: FAMA-NTR and FAMA-NPS; several data frames for one floor.
//! *Deviations*: numbered 1 to 5 in docs/models/csma-fama.md.
//!
//! How long others' frames and noise keep a station silent is what [`Medium`] knows, with the values that
//! [`Timing`] has for these protocols: here is only when a station senses, sends and answers.

use std::rc::Rc;

use super::medium::Medium;
use super::{AccessProtocol, MacAction, Timing};
use crate::kernel::{Span, Stream, Time};
use crate::wire::NodeId;
use crate::wire::mac::{Body, Class, Frame, FrameKind, RTS_BYTES, Rate};

/// What the station is doing, with the deadline that ends it.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It has nothing to send.
    Passive,
    /// It senses the medium then.
    Backoff(Time),
    /// It has found the medium idle, and transmits then, whatever has begun in the time that this takes.
    TurnsAround(Time),
    /// An RTS is out: the CTS must have arrived by then.
    AwaitCts(Time),
    /// It has received a CTS, and sends its data frame then, after turning around.
    HasFloor(Time),
    /// Its data frame is on the air until then.
    Sending(Time),
    /// It has received an RTS, and answers then, after turning around.
    Answers(Time, Request),
    /// Its CTS is out: the data frame must have begun by then.
    AwaitData(Time),
}

/// An RTS to be answered.
#[derive(Clone, Copy, Debug)]
struct Request {
    from: NodeId,
    /// What the CTS reserves for the data frame.
    reserves: Span,
    class: Class,
}

/// The frame that the station is trying to send.
#[derive(Debug)]
struct Current {
    to: NodeId,
    body: Rc<Body>,
    bytes: u32,
    rate: Rate,
    sequence: u16,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct NonPersistent {
    node: NodeId,
    stream: Stream,
    state: State,
    current: Option<Current>,
    /// RTSs that were sent for the current frame.
    requests: u32,
    /// After its own frame the station leaves the medium to others until then.
    rests_until: Time,
    sequence: u16,
}

impl NonPersistent {
    /// A station that has nothing to send; none if it has the DCF.
    pub(super) fn new(node: NodeId, timing: &Timing, stream: &Stream) -> Option<Box<NonPersistent>> {
        (timing.params().access_protocol != AccessProtocol::Dcf).then(|| {
            Box::new(NonPersistent {
                node,
                stream: stream.clone(),
                state: State::Passive,
                current: None,
                requests: 0,
                rests_until: Time::ZERO,
                sequence: 0,
            })
        })
    }

    /// Can the station take a frame from above?
    pub(super) fn is_ready(&self) -> bool {
        self.current.is_none()
    }

    /// The body of the frame that the station is trying to send.
    pub(super) fn in_hand(&self) -> Option<&Body> {
        self.current.as_ref().map(|current| &*current.body)
    }

    /// The station forgets everything. What it was trying to send comes back.
    pub(super) fn restart(&mut self) -> Option<Rc<Body>> {
        (self.state, self.requests, self.rests_until) = (State::Passive, 0, Time::ZERO);
        self.sequence = 0;
        self.current.take().map(|current| current.body)
    }

    /// When the station next wants to be woken.
    pub(super) fn next_timeout(&self) -> Time {
        match self.state {
            State::Passive => Time::NEVER,
            State::Backoff(t) | State::TurnsAround(t) | State::AwaitCts(t) | State::HasFloor(t) => t,
            State::Sending(t) | State::Answers(t, _) | State::AwaitData(t) => t,
        }
    }

    /// A frame from above, to be sent at this rate. Only while [`NonPersistent::is_ready`].
    pub(super) fn handle_send(
        &mut self,
        now: Time,
        (to, body): (NodeId, Body),
        rate: Rate,
        medium: &Medium,
        timing: &Timing,
    ) {
        let bytes = timing.frame_bytes(body.bytes());
        self.sequence = self.sequence % 4095 + 1;
        self.current = Some(Current { to, body: Rc::new(body), bytes, rate, sequence: self.sequence });
        self.requests = 0;
        if matches!(self.state, State::Passive) {
            self.contend(now, medium, timing);
        }
    }

    /// The station's deadline has come.
    pub(super) fn handle_timeout(
        &mut self,
        now: Time,
        medium: &mut Medium,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        match self.state {
            State::Backoff(_) => self.sense(now, medium, timing),
            State::TurnsAround(_) => self.transmit_first(now, medium, timing, out),
            State::AwaitCts(_) => self.on_cts_timeout(now, timing, out),
            State::HasFloor(_) => self.transmit_data(now, medium, timing, out),
            State::Sending(_) => self.on_sent(now, timing, out),
            State::Answers(_, request) => self.transmit_cts(now, request, medium, timing, out),
            State::AwaitData(_) => self.contend(now, medium, timing),
            State::Passive => {}
        }
    }

    /// A frame for the station, or for all, has arrived intact.
    pub(super) fn handle_received(
        &mut self,
        now: Time,
        frame: &Frame,
        medium: &Medium,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        match frame.kind {
            FrameKind::Rts => self.on_rts(now, frame, medium, timing),
            FrameKind::Cts if matches!(self.state, State::AwaitCts(_)) => {
                self.state = State::HasFloor(now + timing.sifs);
            }
            FrameKind::Data => {
                if let Some(body) = &frame.body {
                    out.push(MacAction::Deliver { body: Rc::clone(body), from: frame.from });
                }
            }
            FrameKind::Cts | FrameKind::Ack => {}
        }
    }

    // Contention.

    /// Senses at once, or when the rest after a frame of its own is over; without a frame nothing is done.
    fn contend(&mut self, now: Time, medium: &Medium, timing: &Timing) {
        if self.current.is_none() {
            self.state = State::Passive;
        } else if self.rests_until > now {
            self.state = State::Backoff(self.rests_until);
        } else {
            self.sense(now, medium, timing);
        }
    }

    /// An idle medium is used; on a busy one the station does not wait for its end, but senses again after a
    /// random time.
    fn sense(&mut self, now: Time, medium: &Medium, timing: &Timing) {
        if medium.idle_at() > now {
            self.back_off(now, timing);
        } else {
            self.state = State::TurnsAround(now + timing.cca);
        }
    }

    fn back_off(&mut self, now: Time, timing: &Timing) {
        self.state = State::Backoff(now + self.draw(timing));
    }

    /// A random time, of at least a nanosecond, so that time goes on.
    fn draw(&mut self, timing: &Timing) -> Span {
        let params = timing.params();
        let drawn = match params.access_protocol {
            AccessProtocol::Fama => timing.rts.0 as f64 * self.stream.uniform(0.0, params.fama_backoff_rts),
            AccessProtocol::Csma | AccessProtocol::Dcf => self.stream.exponential(params.csma_delay_ms * 1e6),
        };
        Span((drawn as u64).max(1))
    }

    // Transmissions.

    fn transmit_first(&mut self, now: Time, medium: &mut Medium, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &self.current else { return };
        if timing.params().access_protocol == AccessProtocol::Fama && !current.to.is_broadcast() {
            self.transmit_rts(now, medium, timing, out);
        } else {
            self.transmit_data(now, medium, timing, out);
        }
    }

    fn transmit(
        &mut self,
        now: Time,
        frame: Frame,
        state: State,
        medium: &mut Medium,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        self.state = state;
        medium.transmit(now + frame.airtime, timing);
        out.push(MacAction::Transmit(frame));
    }

    /// The RTS keeps others silent until the CTS has begun to do so.
    fn transmit_rts(&mut self, now: Time, medium: &mut Medium, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &self.current else { return };
        self.requests += 1;
        let reserves = timing.sifs + timing.cts + timing.propagation * 2;
        let data = timing.airtime(current.bytes, current.rate);
        let frame = Frame {
            kind: FrameKind::Rts,
            from: self.node,
            to: current.to,
            // The receiver learns from it how long the data frame is, and others how long the CTS.
            reserves: Timing::duration_field(reserves + data),
            rate: timing.control_rate,
            airtime: timing.rts,
            bytes: RTS_BYTES,
            sequence: 0,
            class: current.body.class(),
            body: None,
        };
        let state = State::AwaitCts(now + timing.cts_timeout);
        self.transmit(now, frame, state, medium, timing, out);
    }

    fn transmit_cts(
        &mut self,
        now: Time,
        request: Request,
        medium: &mut Medium,
        timing: &Timing,
        out: &mut Vec<MacAction>,
    ) {
        // Another frame may have begun while the station turned around.
        if !medium.is_idle(now) {
            return self.contend(now, medium, timing);
        }
        let frame = Frame {
            kind: FrameKind::Cts,
            from: self.node,
            to: request.from,
            reserves: request.reserves,
            rate: timing.control_rate,
            airtime: timing.cts,
            bytes: timing.cts_bytes,
            sequence: 0,
            class: request.class,
            body: None,
        };
        let begins_by = now + timing.cts + timing.sifs + timing.propagation * 2 + timing.slot;
        self.transmit(now, frame, State::AwaitData(begins_by), medium, timing, out);
    }

    fn transmit_data(&mut self, now: Time, medium: &mut Medium, timing: &Timing, out: &mut Vec<MacAction>) {
        let Some(current) = &self.current else { return };
        let airtime = timing.airtime(current.bytes, current.rate);
        let frame = Frame {
            kind: FrameKind::Data,
            from: self.node,
            to: current.to,
            reserves: Span::ZERO,
            rate: current.rate,
            airtime,
            bytes: current.bytes,
            sequence: current.sequence,
            class: current.body.class(),
            body: Some(Rc::clone(&current.body)),
        };
        self.transmit(now, frame, State::Sending(now + airtime), medium, timing, out);
    }

    // Ends of waits, and frames received.

    fn on_sent(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        if let Some(current) = self.current.take() {
            out.push(MacAction::Sent(current.body));
        }
        self.rest(now, timing, out);
    }

    fn on_cts_timeout(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        if self.requests < timing.params().short_retry_limit {
            return self.back_off(now, timing);
        }
        if let Some(current) = self.current.take() {
            out.push(MacAction::Failed { body: current.body, to: current.to });
        }
        self.rest(now, timing, out);
    }

    /// The frame is done. The next one waits for a random time, or others would never find the medium idle.
    fn rest(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        self.rests_until = now + self.draw(timing);
        self.state = State::Passive;
        out.push(MacAction::Ready);
    }

    /// Answers an RTS unless the station is in an exchange, or a frame that it has overheard reserves the
    /// medium for others.
    fn on_rts(&mut self, now: Time, frame: &Frame, medium: &Medium, timing: &Timing) {
        let free = matches!(self.state, State::Passive | State::Backoff(_));
        if !free || medium.is_reserved(now) {
            return;
        }
        let announced = timing.sifs + timing.cts + timing.propagation * 2;
        let request = Request {
            from: frame.from,
            reserves: Timing::duration_field(timing.sifs + frame.reserves.saturating_sub(announced)),
            class: frame.class,
        };
        self.state = State::Answers(now + timing.sifs, request);
    }
}
