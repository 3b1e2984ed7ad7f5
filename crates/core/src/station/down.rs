//! The routing of a node that has crashed and has not started since: there is none.

use crate::drops::DropReason;
use crate::kernel::Time;
use crate::routing::{Action, Routing};
use crate::wire::{NodeId, Packet};

/// See the module's head.
pub(super) struct Down;

impl Routing for Down {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, _now: Time, packet: Packet, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::Absent));
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        self.handle_outgoing(now, packet, actions);
    }

    fn handle_link_failure(&mut self, now: Time, packet: Packet, _to: NodeId, actions: &mut Vec<Action>) {
        self.handle_outgoing(now, packet, actions);
    }

    fn handle_timeout(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, _now: Time, _dst: NodeId) -> Option<NodeId> {
        None
    }
}
