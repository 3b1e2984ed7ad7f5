//! Frames on the air.
//!
//! A transmission is one entry of the event queue. First its first bit reaches the nodes in carrier-sense range
//! ([`Phase::FirstBits`]), then its last bit those that must act on it ([`Phase::LastBits`]), each at its own
//! time. When nothing else is due before a first bit reaches the farthest receiver, all receivers are served at
//! once, in order of nodes: what one does then cannot reach another in between. Otherwise the transmission walks
//! its receivers in order of time and goes back to the queue whenever something else comes first.

use crate::kernel::{Slot, Span, Time};
use crate::mac::{Body, Frame, Signal};
use crate::observe::RecordKind;
use crate::packet::NodeId;
use crate::radio::Arrival;

use super::{Network, Target};

/// A frame on its way.
struct Transmission {
    slot: Slot,
    frame: Option<Frame>,
    start: Time,
    phase: Phase,
    /// All receivers in the first phase, those that the frame is meant for in the second.
    arrivals: Vec<Arrival>,
    /// The longest delay of all first bits.
    last_ns: u32,
    /// Are the arrivals in order of time?
    sorted: bool,
    /// How many of the arrivals have been dealt with.
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    FirstBits,
    LastBits,
}

/// All frames on their way; places are used again.
#[derive(Default)]
pub(super) struct Air {
    transmissions: Vec<Transmission>,
    free: Vec<u32>,
    /// First bits that reached receivers.
    pub(super) arrivals: u64,
}

impl Network {
    /// Puts a frame on the air.
    pub(super) fn transmit(&mut self, node: u32, frame: Frame) {
        self.meter.frame_sent(self.now, &frame);
        self.record(node, || RecordKind::Frame {
            kind: frame.kind,
            to: frame.to,
            bytes: frame.bytes,
            class: frame.class,
        });
        let at = self.air.free.pop().unwrap_or_else(|| {
            let at = self.air.transmissions.len() as u32;
            let slot = self.add_slot(Target::Air(at));
            self.air.transmissions.push(Transmission {
                slot,
                frame: None,
                start: Time::ZERO,
                phase: Phase::FirstBits,
                arrivals: Vec::new(),
                last_ns: 0,
                sorted: false,
                next: 0,
            });
            at
        });
        let transmission = &mut self.air.transmissions[at as usize];
        self.index.arrivals(node, self.now, &mut transmission.arrivals);
        transmission.start = self.now;
        transmission.phase = Phase::FirstBits;
        transmission.next = 0;
        transmission.sorted = false;
        transmission.frame = Some(frame);
        let (first, last) = nearest_and_farthest(&transmission.arrivals);
        transmission.last_ns = last;
        if first == u32::MAX {
            self.end_transmission(at);
        } else {
            self.agenda.set(transmission.slot, self.now + Span(first.into()));
        }
    }

    /// The next first or last bits of a transmission arrive.
    pub(super) fn continue_transmission(&mut self, at: u32) {
        let transmission = &self.air.transmissions[at as usize];
        let last = transmission.start + Span(transmission.last_ns.into());
        match transmission.phase {
            Phase::FirstBits if transmission.next == 0 && last < self.agenda.peek_time().min(self.end) => {
                self.serve_all(at);
            }
            Phase::FirstBits => self.walk_first_bits(at),
            Phase::LastBits => self.walk_last_bits(at),
        }
    }

    fn serve_all(&mut self, at: u32) {
        let transmission = &mut self.air.transmissions[at as usize];
        let Some(template) = transmission.template(at) else { return };
        let arrivals = std::mem::take(&mut transmission.arrivals);
        let start = transmission.start;
        for arrival in &arrivals {
            let now = start + Span(arrival.delay_ns.into());
            let signal = template.at(now, arrival);
            let mac = &mut self.stations[arrival.node as usize].mac;
            if !mac.overhear(now, &signal, &self.timing, &self.rules) {
                self.now = now;
                self.arrive(arrival.node, signal);
            }
        }
        self.air.arrivals += arrivals.len() as u64;
        self.air.transmissions[at as usize].arrivals = arrivals;
        self.begin_last_bits(at);
    }

    fn walk_first_bits(&mut self, at: u32) {
        let transmission = &mut self.air.transmissions[at as usize];
        let Some(template) = transmission.template(at) else { return };
        transmission.sort();
        loop {
            let transmission = &mut self.air.transmissions[at as usize];
            let arrival = transmission.arrivals[transmission.next];
            transmission.next += 1;
            self.air.arrivals += 1;
            self.arrive(arrival.node, template.at(self.now, &arrival));
            let Some(due) = self.air.transmissions[at as usize].due() else {
                self.begin_last_bits(at);
                return;
            };
            if !self.go_on(at, due) {
                return;
            }
        }
    }

    /// All first bits have arrived: those for whom the frame is meant wait for its last bit.
    fn begin_last_bits(&mut self, at: u32) {
        let transmission = &mut self.air.transmissions[at as usize];
        let to = transmission.frame.as_ref().map_or(NodeId::BROADCAST, |frame| frame.to);
        // Routing may listen to IP packets for others.
        let tapped = self.taps
            && transmission.frame.as_ref().is_some_and(|frame| matches!(frame.body, Some(Body::Ip(_))));
        transmission
            .arrivals
            .retain(|arrival| arrival.receivable && (tapped || to.is_broadcast() || to.0 == arrival.node));
        transmission.phase = Phase::LastBits;
        transmission.next = 0;
        transmission.sort();
        match transmission.due() {
            Some(due) => self.agenda.set(transmission.slot, due),
            None => self.end_transmission(at),
        }
    }

    fn walk_last_bits(&mut self, at: u32) {
        loop {
            let transmission = &mut self.air.transmissions[at as usize];
            let node = transmission.arrivals[transmission.next].node;
            transmission.next += 1;
            if self.stations[node as usize].mac.received(self.now) == Some(at) {
                self.receive(node, at);
            } else if self.taps {
                self.tap(node, at);
            }
            let Some(due) = self.air.transmissions[at as usize].due() else {
                self.end_transmission(at);
                return;
            };
            if !self.go_on(at, due) {
                return;
            }
        }
    }

    /// Moves on to `due` if nothing else comes before it; else leaves it to the event queue.
    fn go_on(&mut self, at: u32, due: Time) -> bool {
        let at_once = due < self.agenda.peek_time() && due < self.end;
        if at_once {
            self.now = due;
        } else {
            self.agenda.set(self.air.transmissions[at as usize].slot, due);
        }
        at_once
    }

    fn end_transmission(&mut self, at: u32) {
        self.air.transmissions[at as usize].frame = None;
        self.air.free.push(at);
    }

    #[inline]
    fn arrive(&mut self, node: u32, signal: Signal) {
        if let Some(ended) = self.stations[node as usize].mac.received(self.now) {
            // A frame that ends at this very instant does not overlap the one that begins.
            self.receive(node, ended);
        }
        let mac = &mut self.stations[node as usize].mac;
        if mac.handle_arrival(self.now, &signal, &self.timing, &self.rules) {
            self.set_mac_deadline(node);
        }
    }

    /// The last bit of a frame reaches a node that the frame may not be for: routing sees it if it is intact.
    fn tap(&mut self, node: u32, at: u32) {
        if self.stations[node as usize].mac.overheard(self.now) != Some(at) {
            return;
        }
        let Some(frame) = self.air.transmissions[at as usize].frame.take() else { return };
        if let Some(Body::Ip(packet)) = &frame.body {
            self.with_routing(node, |routing, now, actions| {
                routing.handle_overheard(now, packet, frame.from, frame.to, actions);
            });
        }
        self.air.transmissions[at as usize].frame = Some(frame);
    }

    /// A node has received a transmission that it must act on.
    fn receive(&mut self, node: u32, at: u32) {
        // The frame stays where it is; it is taken out only to lend it to the MAC.
        let Some(frame) = self.air.transmissions[at as usize].frame.take() else { return };
        self.with_mac(node, |mac, now, timing, actions| mac.handle_received(now, &frame, timing, actions));
        self.air.transmissions[at as usize].frame = Some(frame);
    }
}

/// The shortest and the longest delay; `(u32::MAX, 0)` if there is none.
fn nearest_and_farthest(arrivals: &[Arrival]) -> (u32, u32) {
    let delays = arrivals.iter().map(|arrival| arrival.delay_ns);
    delays.fold((u32::MAX, 0), |(first, last), delay| (first.min(delay), last.max(delay)))
}

impl Transmission {
    fn sort(&mut self) {
        if !self.sorted {
            self.arrivals.sort_unstable_by_key(|arrival| (arrival.delay_ns, arrival.node));
            self.sorted = true;
        }
    }

    /// When the next first or last bit arrives; none after the last.
    fn due(&self) -> Option<Time> {
        let first_bit = self.start + Span(self.arrivals.get(self.next)?.delay_ns.into());
        match (self.phase, &self.frame) {
            (Phase::LastBits, Some(frame)) => Some(first_bit + frame.airtime),
            _ => Some(first_bit),
        }
    }

    /// What all receivers get alike.
    fn template(&self, at: u32) -> Option<Template> {
        let frame = self.frame.as_ref()?;
        Some(Template { airtime: frame.airtime, to: frame.to, reserves: frame.reserves, transmission: at })
    }
}

/// What all receivers of a transmission get alike.
struct Template {
    airtime: Span,
    to: NodeId,
    reserves: Span,
    transmission: u32,
}

impl Template {
    #[inline]
    fn at(&self, now: Time, arrival: &Arrival) -> Signal {
        Signal {
            end: now + self.airtime,
            power_w: arrival.power_w,
            receivable: arrival.receivable,
            wanted: self.to.is_broadcast() || self.to.0 == arrival.node,
            reserves: self.reserves,
            transmission: self.transmission,
        }
    }
}
