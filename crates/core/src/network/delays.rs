//! What the layers' delays hold back, and how it goes on.

use std::rc::Rc;

use super::{Network, Target};
use crate::ifq::Outgoing;
use crate::kernel::Span;
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

/// Something that a layer's delay holds back.
pub(super) enum Delayed {
    /// From routing to ARP (jitter).
    Down { node: u32, packet: Packet, next_hop: NodeId },
    /// From the link layer to the interface queue.
    Enqueue { node: u32, outgoing: Outgoing },
    /// An IP packet from the MAC to routing.
    Up { node: u32, body: Rc<Body>, from: NodeId, power_w: Option<f64> },
    /// Over a wired link to a node.
    OverWire { node: u32, packet: Packet, from: NodeId },
}

impl Network<'_> {
    /// Makes a line for each of the constant delays that is not zero.
    pub(super) fn add_delay_lines(&mut self, mut delays: Vec<Span>) {
        delays.sort_unstable();
        delays.dedup();
        for delay in delays.into_iter().filter(|&delay| delay != Span::ZERO) {
            let slot = self.add_slot(Target::DelayLine(self.delays.lines() as u32));
            self.delays.add_line(delay, slot);
        }
    }

    /// Goes on with `what` after one of the layers' constant delays.
    pub(super) fn put_in_line(&mut self, delay: Span, what: Delayed) {
        if let Some(what) = self.delays.put(&mut self.clock.agenda, self.clock.now, delay, what) {
            self.go_on_with(what);
        }
    }

    /// The first in a line is due, and with it those that are due before anything else.
    pub(super) fn advance_line(&mut self, line: u32) {
        while let Some(what) = self.delays.pop(line) {
            self.go_on_with(what);
            if !self.delays.move_on(&mut self.clock, line) {
                return;
            }
        }
    }

    /// Goes on with `what` after a delay of its own.
    pub(super) fn hold(&mut self, delay: Span, what: Delayed) {
        if let Some(what) = self.delays.hold(&mut self.clock.agenda, self.clock.now, delay, what) {
            self.go_on_with(what);
        }
    }

    /// The first of what has a delay of its own is due.
    pub(super) fn release_held(&mut self) {
        if let Some(what) = self.delays.release(&mut self.clock.agenda) {
            self.go_on_with(what);
        }
    }

    fn go_on_with(&mut self, what: Delayed) {
        match what {
            Delayed::Down { node, packet, next_hop } => self.send_down(node, packet, next_hop),
            Delayed::Enqueue { node, outgoing } => self.enqueue(node, outgoing),
            Delayed::Up { node, body, from, power_w } => self.hand_to_routing(node, body, from, power_w),
            Delayed::OverWire { node, packet, from } => self.leave_wire(node, packet, from),
        }
    }
}
