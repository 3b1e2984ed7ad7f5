//! Frames on the air.
//!
//! Every node has one transmission, with one entry in the event queue. First its first bit reaches the nodes
//! in carrier-sense range, then its last bit those that must act on it ([`Phase`]), each at its own time.
//! Nearly always nothing else is due before a first bit can reach the farthest node; then all are served at
//! once, in order of nodes: what one does then cannot reach another in between. Otherwise the first bits of
//! all transmissions concerned wait in one list, in order of time, which is left whenever something else
//! comes first. So are last bits.

use std::cmp::Reverse;
use std::rc::Rc;

use crate::drops::DropReason;
use crate::kernel::{Slot, Span, Time};
use crate::mac::{MacAction, ShortWay, Signal};
use crate::radio::Arrival;
use crate::wire::NodeId;
use crate::wire::mac::{Body, Frame, FrameKind, Rate};

use super::{Network, Target};

/// A frame on its way.
struct Transmission {
    slot: Slot,
    frame: Option<Frame>,
    /// The squared distance up to which the frame can be received, in m².
    receive_m2: f64,
    start: Time,
    phase: Phase,
    /// How many the first bit has not reached yet, in the phase of first bits.
    unreached: usize,
    /// Does routing listen to the frame, whomever it is for?
    tapped: bool,
    /// Those that the frame is meant for and strong enough for, or all for whom it is strong enough if
    /// routing listens: delay in nanoseconds and node, nearest first in the second phase.
    receivers: Vec<(u32, u32)>,
    /// How many of them the last bit has reached.
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nobody has been reached.
    Start,
    /// Nodes are being reached one after the other.
    FrameStarts,
    /// All have been reached; those that the frame is for wait for its last bit.
    FrameEnds,
}

/// All frames on their way.
pub(super) struct Air {
    /// One for each node, by node. More, should a node transmit while another frame of its is still on the
    /// way.
    transmissions: Vec<Transmission>,
    /// Those beyond one for each node that are free.
    free: Vec<u32>,
    /// Used again for arrivals that do not go the short way.
    remaining: Vec<Arrival>,
    /// First bits under way that something else may come before, the last one first.
    frame_starts: Vec<FrameStart>,
    /// When the next of them is due.
    frame_starts_slot: Slot,
    /// The longest delay of a first bit.
    longest: Span,
    /// First bits that reached receivers.
    pub(super) arrivals: u64,
    /// Those of them whose frames were meant for the receiver and strong enough to be decoded.
    pub(super) meant: u64,
    /// Those of them that errors of bits damaged.
    pub(super) damaged: u64,
    /// Transmissions that arrive damaged and are acknowledged and discarded, with their receivers.
    spoiled: Vec<(u32, u32)>,
}

/// A first bit under way.
struct FrameStart {
    due: Time,
    arrival: Arrival,
    transmission: u32,
}

impl Air {
    /// The air over as many nodes as there are slots for transmissions; signals arrive within `longest`.
    pub(super) fn new(slots: Vec<Slot>, frame_starts_slot: Slot, longest: Span) -> Air {
        Air {
            transmissions: slots.into_iter().map(Transmission::new).collect(),
            free: Vec::new(),
            remaining: Vec::new(),
            frame_starts: Vec::new(),
            frame_starts_slot,
            longest,
            arrivals: 0,
            meant: 0,
            damaged: 0,
            spoiled: Vec::new(),
        }
    }

    /// The frame of a transmission that is on its way.
    pub(super) fn frame(&self, at: u32) -> Option<&Frame> {
        self.transmissions[at as usize].frame.as_ref()
    }
}

impl Network<'_> {
    /// Puts a frame on the air.
    pub(super) fn transmit(&mut self, node: u32, frame: Frame) {
        self.meter.frame_sent(self.now, &frame);
        let at = self.free_transmission(node);
        self.watch_transmission(node, at, &frame);
        let transmission = &mut self.air.transmissions[at as usize];
        // Routing may listen to IP packets for others.
        transmission.tapped = self.taps && matches!(frame.body.as_deref(), Some(Body::Ip(_)));
        transmission.receive_m2 = self.reaches_m2[frame.rate.index()];
        transmission.frame = Some(frame);
        transmission.start = self.now;
        transmission.phase = Phase::Start;
        // Looked at before anything else, to find out whether all can be served at once.
        self.agenda.set(transmission.slot, self.now);
    }

    /// The node's own transmission, or another one if that is still on the way: when a frame follows sooner
    /// than signals travel.
    fn free_transmission(&mut self, node: u32) -> u32 {
        if self.air.transmissions[node as usize].frame.is_none() {
            return node;
        }
        self.air.free.pop().unwrap_or_else(|| {
            let at = self.air.transmissions.len() as u32;
            let slot = self.add_slot(Target::Air(at));
            self.air.transmissions.push(Transmission::new(slot));
            at
        })
    }

    /// A transmission begins, or its next last bits arrive.
    pub(super) fn continue_transmission(&mut self, at: u32) {
        match self.air.transmissions[at as usize].phase {
            Phase::Start => self.begin_frame_starts(at),
            Phase::FrameStarts => {}
            Phase::FrameEnds => self.deliver_frame_ends(at),
        }
    }

    fn begin_frame_starts(&mut self, at: u32) {
        let transmission = &mut self.air.transmissions[at as usize];
        let Some(template) = transmission.template(at, self.short_way) else {
            return self.break_off(NodeId(at), "a transmission begins without a frame");
        };
        self.index.compute(template.from.0, self.now);
        self.watch_addressee(at, template.from, template.to, template.receive_m2);
        let transmission = &mut self.air.transmissions[at as usize];
        if template.tapped {
            let reached = self.index.arrivals(template.from.0, template.receive_m2);
            let receivable = reached.filter(|arrival| arrival.receivable);
            transmission.receivers.extend(receivable.map(|arrival| (arrival.delay_ns, arrival.node)));
        }
        if self.now + self.air.longest < self.agenda.peek_time().min(self.end) {
            self.serve_all(template);
            self.begin_frame_ends(at);
        } else {
            transmission.phase = Phase::FrameStarts;
            self.queue_frame_starts(at, &template);
            self.deliver_frame_starts();
        }
    }

    /// Brings the first bit to all; nothing else happens before the last of them has it.
    fn serve_all(&mut self, template: Template) {
        let mut remaining = std::mem::take(&mut self.air.remaining);
        // A loop of its own for each case: most arrivals go through it.
        match (template.to.is_broadcast(), self.short_way.uses_eifs) {
            (false, false) => self.take_short_way::<false, false>(template, &mut remaining),
            (false, true) => self.take_short_way::<false, true>(template, &mut remaining),
            (true, false) => self.take_short_way::<true, false>(template, &mut remaining),
            (true, true) => self.take_short_way::<true, true>(template, &mut remaining),
        }
        self.air.arrivals += self.index.sensed(template.from.0);
        for arrival in &remaining {
            self.arrive(arrival, &template);
        }
        self.air.remaining = remaining;
    }

    /// Brings the first bit of a frame to one or to all to those nodes that can go the short way, and
    /// collects the others.
    fn take_short_way<const TO_ALL: bool, const EIFS: bool>(
        &mut self,
        template: Template,
        remaining: &mut Vec<Arrival>,
    ) {
        remaining.clear();
        if !self.short_way.open || template.followed_within != Span::ZERO {
            remaining.extend(self.index.arrivals(template.from.0, template.receive_m2));
            return;
        }
        let (stations, weak_frames) = (self.stations.as_mut_slice(), self.short_way.weak_frames);
        remaining.resize(self.index.candidates(template.from.0), Arrival::default());
        let mut left = 0;
        for arrival in self.index.arrivals(template.from.0, template.receive_m2) {
            let (now, signal) = template.at(&arrival, TO_ALL || template.to.0 == arrival.node);
            let mac = &mut stations[arrival.node as usize].mac;
            if !mac.overhear::<EIFS>(now, &signal, weak_frames) {
                remaining[left] = arrival;
                left += 1;
            }
        }
        remaining.truncate(left);
    }

    /// Puts the first bits of a transmission among those that are under way.
    fn queue_frame_starts(&mut self, at: u32, template: &Template) {
        let before = self.air.frame_starts.len();
        let reached = self.index.arrivals(template.from.0, template.receive_m2);
        self.air.frame_starts.extend(reached.map(|arrival| FrameStart {
            due: template.start + Span(arrival.delay_ns.into()),
            arrival,
            transmission: at,
        }));
        self.air.transmissions[at as usize].unreached = self.air.frame_starts.len() - before;
        if self.air.frame_starts.len() == before {
            self.begin_frame_ends(at);
        }
        // No two are the same: a transmission reaches a node once.
        self.air
            .frame_starts
            .sort_unstable_by_key(|bit| Reverse((bit.due, bit.arrival.node, bit.transmission)));
    }

    /// Brings those first bits to their receivers that are due now or before anything else.
    pub(super) fn deliver_frame_starts(&mut self) {
        self.agenda.set(self.air.frame_starts_slot, Time::NEVER);
        while let Some(bit) = self.air.frame_starts.pop() {
            if bit.due > self.now && bit.due >= self.agenda.peek_time().min(self.end) {
                self.agenda.set(self.air.frame_starts_slot, bit.due);
                self.air.frame_starts.push(bit);
                return;
            }
            assert!(bit.due >= self.now, "a first bit arrives in the past");
            self.now = bit.due;
            let transmission = &mut self.air.transmissions[bit.transmission as usize];
            let Some(template) = transmission.template(bit.transmission, self.short_way) else {
                return self.break_off(NodeId(bit.arrival.node), "a frame arrives that nobody sends");
            };
            transmission.unreached -= 1;
            let last = transmission.unreached == 0;
            self.air.arrivals += 1;
            if !self.overhear(&bit.arrival, &template) {
                self.arrive(&bit.arrival, &template);
            }
            if last {
                self.begin_frame_ends(bit.transmission);
            }
        }
    }

    /// Brings a first bit to a node if it can go the short way; false, and nothing done, otherwise.
    fn overhear(&mut self, arrival: &Arrival, template: &Template) -> bool {
        let ShortWay { open, uses_eifs, weak_frames, .. } = self.short_way;
        let meant = template.to.is_broadcast() || template.to.0 == arrival.node;
        let (now, signal) = template.at(arrival, meant);
        let mac = &mut self.stations[arrival.node as usize].mac;
        open && template.followed_within == Span::ZERO
            && if uses_eifs {
                mac.overhear::<true>(now, &signal, weak_frames)
            } else {
                mac.overhear::<false>(now, &signal, weak_frames)
            }
    }

    /// All first bits have arrived: those for whom the frame is meant wait for its last bit.
    fn begin_frame_ends(&mut self, at: u32) {
        let transmission = &mut self.air.transmissions[at as usize];
        transmission.phase = Phase::FrameEnds;
        transmission.next = 0;
        transmission.receivers.sort_unstable();
        match transmission.next_end() {
            // A frame can be shorter than signals travel.
            Some(due) => self.agenda.set(transmission.slot, due.max(self.now)),
            None => self.end_transmission(at),
        }
    }

    fn deliver_frame_ends(&mut self, at: u32) {
        loop {
            let transmission = &mut self.air.transmissions[at as usize];
            let (_, node) = transmission.receivers[transmission.next];
            transmission.next += 1;
            if self.stations[node as usize].mac.received(self.now) == Some(at) {
                self.receive(node, at);
            } else if self.taps {
                self.tap(node, at);
            }
            let Some(due) = self.air.transmissions[at as usize].next_end() else {
                self.end_transmission(at);
                return;
            };
            // A frame can be shorter than signals travel: its last bits are then late, but in order of time.
            if !self.go_on(at, due.max(self.now)) {
                return;
            }
        }
    }

    /// Moves on to `due` if nothing else comes before it; else leaves it to the event queue.
    fn go_on(&mut self, at: u32, due: Time) -> bool {
        let at_once = due == self.now || due < self.agenda.peek_time().min(self.end);
        if at_once {
            self.now = due;
        } else {
            self.agenda.set(self.air.transmissions[at as usize].slot, due);
        }
        at_once
    }

    fn end_transmission(&mut self, at: u32) {
        self.watch_end(at);
        self.air.spoiled.retain(|&(other, _)| other != at);
        let transmission = &mut self.air.transmissions[at as usize];
        transmission.frame = None;
        transmission.receivers.clear();
        if at as usize >= self.stations.len() {
            self.air.free.push(at);
        }
    }

    /// The first bit reaches a node.
    fn arrive(&mut self, arrival: &Arrival, template: &Template) {
        let meant = template.to.is_broadcast() || template.to.0 == arrival.node;
        let (now, mut signal) = template.at(arrival, meant);
        self.air.meant += u64::from(signal.wanted);
        if let Some(errors) = self.bit_errors.as_deref_mut().filter(|_| signal.receivable) {
            signal.damaged = errors.damage(arrival.node, template.bytes);
            self.air.damaged += u64::from(signal.wanted && signal.damaged);
            if signal.damaged && signal.wanted && !self.timing.params().repeats_damaged {
                self.spoil(arrival.node, &mut signal);
            }
        }
        if signal.wanted && !template.tapped {
            let receivers = &mut self.air.transmissions[template.transmission as usize].receivers;
            receivers.push((arrival.delay_ns, arrival.node));
        }
        self.now = now;
        if let Some(ended) = self.stations[arrival.node as usize].mac.received(now) {
            // A frame that ends at this very instant does not overlap the one that begins.
            self.receive(arrival.node, ended);
        }
        if self.is_watched() {
            self.watch_arrival(arrival.node, &signal);
        } else {
            self.tell_mac(arrival.node, &signal);
        }
    }

    /// The MAC gets a signal that begins now.
    #[inline(always)]
    pub(super) fn tell_mac(&mut self, node: u32, signal: &Signal) {
        let mac = &mut self.stations[node as usize].mac;
        if mac.handle_arrival(self.now, signal, &self.timing, &self.rules) {
            self.set_mac_deadline(node);
        }
    }

    /// The last bit of a frame reaches a node that the frame may not be for: routing sees it if it is intact.
    fn tap(&mut self, node: u32, at: u32) {
        if self.stations[node as usize].mac.overheard(self.now) != Some(at) {
            return;
        }
        let Some(&Frame { from, to, body: Some(ref body), .. }) =
            self.air.transmissions[at as usize].frame.as_ref()
        else {
            return;
        };
        let body = Rc::clone(body);
        if let Body::Ip(packet) = &*body {
            self.with_routing(node, |routing, now, actions| {
                routing.handle_overheard(now, packet, from, to, actions);
            });
        }
    }

    /// A damaged frame shall not be repeated: a data frame to one node is received, and what it carries lost.
    fn spoil(&mut self, node: u32, signal: &mut Signal) {
        let at = signal.transmission;
        if self.air.frame(at).is_some_and(|frame| frame.kind == FrameKind::Data && !frame.to.is_broadcast()) {
            signal.damaged = false;
            self.air.spoiled.push((at, node));
        }
    }

    /// A node has received a transmission that it must act on.
    fn receive(&mut self, node: u32, at: u32) {
        self.watch_reception(node, at);
        let Some(frame) = &self.air.transmissions[at as usize].frame else {
            return self.break_off(NodeId(node), "a frame is received that nobody sends");
        };
        let mut actions = self.mac_actions.pop().unwrap_or_default();
        self.stations[node as usize].mac.handle_received(self.now, frame, &self.timing, &mut actions);
        if self.air.spoiled.contains(&(at, node)) {
            self.discard(node, &mut actions);
        }
        self.finish_mac(node, actions);
    }

    /// What a damaged frame carried is lost at its receiver, which has acknowledged it.
    fn discard(&mut self, node: u32, actions: &mut Vec<MacAction>) {
        let delivered = actions.extract_if(.., |action| matches!(action, MacAction::Deliver { .. }));
        for action in delivered.collect::<Vec<_>>() {
            let MacAction::Deliver { body, .. } = action else { continue };
            if let Body::Ip(packet) = &*body {
                self.audit.receive(packet);
            }
            self.drop_body(node, &body, DropReason::Damaged);
        }
    }
}

impl Transmission {
    fn new(slot: Slot) -> Transmission {
        Transmission {
            slot,
            frame: None,
            receive_m2: 0.0,
            start: Time::ZERO,
            phase: Phase::Start,
            unreached: 0,
            tapped: false,
            receivers: Vec::new(),
            next: 0,
        }
    }

    /// What all receivers get alike.
    fn template(&self, at: u32, way: ShortWay) -> Option<Template> {
        let &Frame { kind, from, to, airtime, reserves, rate, bytes, .. } = self.frame.as_ref()?;
        let (start, reserves, tapped) = (self.start, way.reserves(reserves), self.tapped);
        let receive_m2 = self.receive_m2;
        let transmission = at;
        let followed_within = way.followed_within(kind);
        Some(Template {
            start,
            from,
            to,
            airtime,
            rate,
            bytes,
            receive_m2,
            reserves,
            followed_within,
            transmission,
            tapped,
        })
    }

    /// When the last bit reaches the next receiver; none after the last.
    fn next_end(&self) -> Option<Time> {
        let &(delay_ns, _) = self.receivers.get(self.next)?;
        Some(self.start + Span(delay_ns.into()) + self.frame.as_ref()?.airtime)
    }
}

/// What all receivers of a transmission get alike.
#[derive(Clone, Copy)]
struct Template {
    start: Time,
    from: NodeId,
    to: NodeId,
    airtime: Span,
    rate: Rate,
    bytes: u32,
    receive_m2: f64,
    /// By whether the frame can be decoded.
    reserves: [Span; 2],
    /// [`Signal::followed_within`].
    followed_within: Span,
    transmission: u32,
    tapped: bool,
}

impl Template {
    /// What a receiver gets, and when; is the frame meant for it?
    #[inline(always)]
    fn at(&self, arrival: &Arrival, meant: bool) -> (Time, Signal) {
        // Plain additions: a run's times are far from the end of time.
        let now = Time(self.start.0 + u64::from(arrival.delay_ns));
        let signal = Signal {
            end: Time(now.0 + self.airtime.0),
            distance_m2: arrival.distance_m2,
            receivable: arrival.receivable,
            damaged: false,
            rate: self.rate,
            wanted: meant & arrival.receivable,
            reserves: self.reserves[usize::from(arrival.receivable)],
            followed_within: self.followed_within,
            transmission: self.transmission,
        };
        (now, signal)
    }
}
