//! Broken links: local repair and route errors.

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::{Ns2, RREP_BYTES};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::aodv::control;
use crate::routing::{Action, Notice};
use crate::wire::aodv::{Message, Rerr, Unreachable};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet};

impl Ns2 {
    /// Seeks the destination from here. See the module's head for when the repair ends.
    pub(super) fn repair(&mut self, now: Time, at: usize, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
        self.table.at_mut(at).in_repair = true;
        self.request(now, at, actions);
        let delay = Span(self.table.at(at).request_timeout.0);
        self.repair_ends.push(Reverse((now + delay, dst)));
    }

    pub(super) fn end_repair(&mut self, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(at) = self.table.find(dst) else { return };
        if self.table.at(at).in_repair {
            self.fail_route(at, false, actions);
        }
    }

    /// Takes a route down and tells the other layers.
    fn fail_route(&mut self, at: usize, told: bool, actions: &mut Vec<Action>) {
        let route = self.table.at_mut(at);
        route.take_down();
        route.reported = true;
        actions.push(Action::Notify(Notice::RouteFailed { dst: route.dst, told }));
    }

    /// A neighbour cannot be reached any more: all routes over it go down.
    pub(super) fn lose_neighbour(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        self.neighbours.remove(&neighbour);
        self.seqno += 2;
        let mut unreachable = SmallVec::new();
        // Newest first, as in all walks over the model's table.
        for at in self.table.newest_first() {
            let route = self.table.at_mut(at);
            route.precursors.retain(|precursor| *precursor != neighbour);
            if route.link.is_some_and(|link| link.next_hop == neighbour) {
                route.seqno += 1;
                unreachable.push(Unreachable { dst: route.dst, seqno: route.seqno });
                self.fail_route(at, false, actions);
            }
        }
        if !unreachable.is_empty() {
            self.send_error(now, unreachable, Span::ZERO, actions);
        }
    }

    pub(super) fn send_error(
        &mut self,
        now: Time,
        unreachable: SmallVec<[Unreachable; 2]>,
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.rerr {
            return;
        }
        let rerr = Rerr { no_delete: false, unreachable };
        let bytes = IP_HEADER_BYTES + rerr.bytes();
        let packet = control(now, self.node, NodeId::BROADCAST, 1, bytes, Message::Rerr(rerr));
        actions.push(Action::Broadcast { packet, delay });
    }

    /// Handles an error in the form that this node sends them.
    pub(super) fn receive_error(&mut self, now: Time, rerr: &Rerr, from: NodeId, actions: &mut Vec<Action>) {
        if self.params.unicast_errors {
            self.receive_unicast_error(now, rerr, from, actions);
        } else {
            self.receive_broadcast_error(now, rerr, from, actions);
        }
    }

    fn receive_broadcast_error(&mut self, now: Time, rerr: &Rerr, from: NodeId, actions: &mut Vec<Action>) {
        let mut passed_on = SmallVec::new();
        for told in &rerr.unreachable {
            let Some(at) = self.table.find(told.dst) else { continue };
            let route = self.table.at_mut(at);
            let over_sender = route.link.is_some_and(|link| link.next_hop == from);
            if !over_sender || (self.params.sequence_numbers && route.seqno > told.seqno) {
                continue;
            }
            route.seqno = told.seqno;
            if !route.precursors.is_empty() || !self.params.precursors {
                passed_on.push(*told);
                route.precursors.clear();
            }
            self.fail_route(at, true, actions);
            actions.push(Action::FlushQueue(from));
        }
        if !passed_on.is_empty() {
            let delay = self.stream.span_below(self.params.broadcast_jitter());
            self.send_error(now, passed_on, delay, actions);
        }
    }
}

/// Broken links as in ns-2.1b8a: errors go to those who used the route, and a node's own packets are kept.
impl Ns2 {
    /// The route is used by data from this neighbour or, if `from` is none, by the node's own.
    pub(super) fn note_user(&mut self, now: Time, at: usize, from: Option<NodeId>) {
        if !self.params.unicast_errors {
            return;
        }
        let own = self.params.errors_to_node_0.then_some(NodeId(0));
        let Some(user) = from.or(own) else { return };
        let until = now + self.params.active_route_timeout();
        self.table.at_mut(at).note_user(user, until);
    }

    /// The link of this route has broken: the route goes down, and who used it is told.
    pub(super) fn break_route(&mut self, now: Time, at: usize, actions: &mut Vec<Action>) {
        let route = self.table.at_mut(at);
        if route.link.is_none() {
            return;
        }
        route.seqno += 1;
        self.fail_route(at, false, actions);
        self.tell_users(now, at, actions);
    }

    /// What becomes of a packet whose next hop cannot be reached.
    pub(super) fn rescue(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if self.params.rebuffer_own_packets && packet.src == self.node && packet.is_data() {
            let at = self.table.find_or_add(packet.dst);
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            self.request(now, at, actions);
        } else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        }
    }

    /// Tells the neighbours that used a route lately that it is down.
    fn tell_users(&mut self, now: Time, at: usize, actions: &mut Vec<Action>) {
        let route = self.table.at_mut(at);
        let unreachable = Unreachable { dst: route.dst, seqno: route.seqno };
        for user in route.users(now) {
            self.tell(now, user, unreachable, actions);
        }
    }

    /// Sends an error to one neighbour; to node 0 also if it is none.
    pub(super) fn tell(
        &mut self,
        now: Time,
        user: NodeId,
        unreachable: Unreachable,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.rerr || user == self.node {
            return;
        }
        let rerr = Rerr { no_delete: false, unreachable: SmallVec::from_slice(&[unreachable]) };
        let packet = control(now, self.node, user, 1, RREP_BYTES, Message::Rerr(rerr));
        actions.push(Action::Send { packet, next_hop: user, delay: Span::ZERO });
    }

    fn receive_unicast_error(&mut self, now: Time, rerr: &Rerr, from: NodeId, actions: &mut Vec<Action>) {
        for told in &rerr.unreachable {
            let Some(at) = self.table.find(told.dst) else { continue };
            let route = self.table.at_mut(at);
            let over_sender = route.link.is_some_and(|link| link.next_hop == from);
            if !over_sender || (self.params.sequence_numbers && route.seqno > told.seqno) {
                continue;
            }
            route.seqno = told.seqno;
            self.fail_route(at, true, actions);
            self.tell_users(now, at, actions);
        }
    }
}
