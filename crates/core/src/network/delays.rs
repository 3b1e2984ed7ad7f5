//! The layers' delays: constant ones, and those that a protocol draws for each packet (jitter).

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::{Network, Target};
use crate::ifq::Outgoing;
use crate::kernel::{Slot, Span, Time};
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

/// Something that a layer's delay holds back.
pub(super) enum Delayed {
    /// From routing to ARP (jitter).
    Down { node: u32, packet: Packet, next_hop: NodeId },
    /// From the link layer to the interface queue.
    Enqueue { node: u32, outgoing: Outgoing },
    /// An IP packet from the MAC to routing.
    Up { node: u32, body: Rc<Body>, from: NodeId },
}

/// A constant delay: what goes in first comes out first, so one entry of the event queue is enough.
struct DelayLine {
    delay: Span,
    slot: Slot,
    waiting: VecDeque<(Time, Delayed)>,
}

/// All that is held back.
pub(super) struct Delays {
    /// One line for each of the layers' constant delays.
    lines: Vec<DelayLine>,
    /// What has a delay of its own, by time; equal times in the order in which they were held.
    held: BTreeMap<(Time, u64), Delayed>,
    held_slot: Slot,
    /// How many things had a delay of their own so far.
    count: u64,
}

impl Delays {
    /// No delay lines yet. What has a delay of its own waits for the deadline of `held_slot`.
    pub(super) fn new(held_slot: Slot) -> Delays {
        Delays { lines: Vec::new(), held: BTreeMap::new(), held_slot, count: 0 }
    }

    /// All that is held back now.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Delayed> {
        let in_lines = self.lines.iter().flat_map(|line| &line.waiting).map(|(_, what)| what);
        in_lines.chain(self.held.values())
    }
}

impl Network {
    /// Makes a line for each of the constant delays that is not zero.
    pub(super) fn add_delay_lines(&mut self, mut delays: Vec<Span>) {
        delays.sort_unstable();
        delays.dedup();
        for delay in delays.into_iter().filter(|&delay| delay != Span::ZERO) {
            let slot = self.add_slot(Target::DelayLine(self.delays.lines.len() as u32));
            self.delays.lines.push(DelayLine { delay, slot, waiting: VecDeque::new() });
        }
    }

    /// Goes on with `what` after one of the layers' constant delays.
    pub(super) fn put_in_line(&mut self, delay: Span, what: Delayed) {
        let Some(at) = self.delays.lines.iter().position(|line| line.delay == delay) else {
            self.hold(delay, what);
            return;
        };
        let line = &mut self.delays.lines[at];
        let due = self.now + delay;
        if line.waiting.is_empty() {
            self.agenda.set(line.slot, due);
        }
        line.waiting.push_back((due, what));
    }

    /// The first in a line is due, and with it those that are due before anything else.
    pub(super) fn advance_line(&mut self, at: u32) {
        while let Some((_, what)) = self.delays.lines[at as usize].waiting.pop_front() {
            self.go_on_with(what);
            let line = &self.delays.lines[at as usize];
            let Some(&(due, _)) = line.waiting.front() else { return };
            if due >= self.agenda.peek_time() || due >= self.end {
                self.agenda.set(line.slot, due);
                return;
            }
            assert!(due >= self.now, "a layer's delay ended in the past");
            self.now = due;
        }
    }

    /// Goes on with `what` after a delay of its own.
    pub(super) fn hold(&mut self, delay: Span, what: Delayed) {
        if delay == Span::ZERO {
            self.go_on_with(what);
            return;
        }
        self.delays.held.insert((self.now + delay, self.delays.count), what);
        self.delays.count += 1;
        self.set_held_deadline();
    }

    /// The first of what has a delay of its own is due.
    pub(super) fn release_held(&mut self) {
        if let Some((_, what)) = self.delays.held.pop_first() {
            self.set_held_deadline();
            self.go_on_with(what);
        }
    }

    fn set_held_deadline(&mut self) {
        let next = self.delays.held.first_key_value().map_or(Time::NEVER, |(&(due, _), _)| due);
        self.agenda.set(self.delays.held_slot, next);
    }

    fn go_on_with(&mut self, what: Delayed) {
        match what {
            Delayed::Down { node, packet, next_hop } => self.send_down(node, packet, next_hop),
            Delayed::Enqueue { node, outgoing } => self.enqueue(node, outgoing),
            Delayed::Up { node, body, from } => self.hand_to_routing(node, body, from),
        }
    }
}
