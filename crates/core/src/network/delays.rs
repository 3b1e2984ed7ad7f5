//! How what the layers' delays hold back goes on.

use super::Network;
use crate::kernel::Span;
use crate::station::Delayed;

impl Network<'_> {
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
