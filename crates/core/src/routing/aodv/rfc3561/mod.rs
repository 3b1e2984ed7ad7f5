//! AODV as RFC 3561 (July 2003) specifies it. Read that first; each step below names its clause.
//!
//! **Implemented.** Sequence numbers with rollover (§6.1), route table and precursor lists (§6.2), route
//! requests with rate limit and binary exponential backoff (§6.3), expanding ring search (§6.4), reverse
//! routes (§6.5), replies by the destination and on the way, gratuitous replies (§6.6), forward routes
//! (§6.7), acknowledged replies (§5.4), the blacklist of neighbours that a reply could not reach (§6.8),
//! hello messages (§6.9), link-layer feedback (§6.10), route errors, unicast or broadcast, with rate limit
//! (§6.11), local repair (§6.12), the wait after a reboot (§6.13).
//!
//! **Not implemented.** Passive acknowledgement (§6.10), several interfaces (§6.14), subnets (§7), other
//! networks (§8), extensions (§9), proactive repair and rediscovery after a RERR with the `N` flag (both MAY,
//! §6.12), the `J` and `R` flags.
//!
//! **Deviations**: 1 to 8 in docs/models/aodv.md, each with its clause and reason.

mod discovery;
mod errors;
mod hello;
mod messages;
mod one_way;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use self::discovery::{Discovery, RateLimit};
use self::hello::Neighbour;
use self::one_way::OneWay;
use self::table::{Nodes, Table};
use super::AodvParams;
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, RouteNow, Routing, relay};
use crate::wire::aodv::{Message, Unreachable};
use crate::wire::tcp::Segment;
use crate::wire::{NodeId, Packet, Payload};

/// Times that follow from the parameters (§10).
impl AodvParams {
    fn delete_period(&self) -> Span {
        self.active_route_timeout().max(self.hello_interval()).scaled(self.delete_period_factor)
    }

    fn net_traversal(&self) -> Span {
        self.node_traversal() * 2 * u64::from(self.net_diameter)
    }

    fn path_discovery(&self) -> Span {
        self.net_traversal() * 2
    }

    fn ring_traversal(&self, ttl: u32) -> Span {
        self.node_traversal() * 2 * u64::from(ttl + self.timeout_buffer)
    }

    fn max_repair_ttl(&self) -> u32 {
        (self.max_repair_factor * f64::from(self.net_diameter)) as u32
    }

    /// §6.4: rings up to TTL_THRESHOLD, beyond it the whole network.
    fn ring(&self, ttl: u32) -> u32 {
        if !self.expanding_ring || ttl > self.ttl_threshold {
            self.net_diameter
        } else {
            ttl.min(self.net_diameter)
        }
    }
}

/// The state of one node.
pub(super) struct Rfc3561 {
    node: NodeId,
    params: Arc<AodvParams>,
    stream: Stream,
    seqno: u32,
    rreq_id: u32,
    table: Table,
    discoveries: BTreeMap<NodeId, Discovery>,
    buffer: PacketBuffer,
    seen: SeenRequests,
    rreq_rate: RateLimit,
    rerr_rate: RateLimit,
    one_way: OneWay,
    /// Nodes that said hello (§6.9).
    neighbours: BTreeMap<NodeId, Neighbour>,
    hello_at: Time,
    last_broadcast: Time,
    /// Data passed through this node; until then it is part of an active route.
    active_until: Time,
    /// After a reboot: no control packet is sent before this time (§6.13).
    silent_until: Time,
}

impl Rfc3561 {
    pub(super) fn new(node: NodeId, params: Arc<AodvParams>, stream: Stream) -> Rfc3561 {
        Rfc3561 {
            node,
            stream,
            seqno: 0,
            rreq_id: 0,
            table: Table::new(params.delete_period(), params.sequence_numbers),
            discoveries: BTreeMap::new(),
            buffer: PacketBuffer::new(params.buffer_packets),
            seen: SeenRequests::default(),
            rreq_rate: RateLimit::default(),
            rerr_rate: RateLimit::default(),
            one_way: OneWay::default(),
            neighbours: BTreeMap::new(),
            hello_at: Time::NEVER,
            last_broadcast: Time::ZERO,
            active_until: Time::ZERO,
            silent_until: Time::ZERO,
            params,
        }
    }
}

impl Routing for Rfc3561 {
    /// A start after the run's beginning is a reboot (§6.13).
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        if now > Time::ZERO && self.params.wait_on_reboot {
            self.silent_until = now + self.params.delete_period();
        }
        if self.params.hello {
            let interval = self.params.hello_interval();
            self.hello_at = if self.params.hello_follows_broadcast {
                now.max(self.last_broadcast + interval)
            } else {
                now + self.stream.span_below(interval)
            };
        }
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            self.last_broadcast = now;
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else if self.table.valid(now, packet.dst).is_some() {
            self.send_data(now, packet, None, Span::ZERO, actions);
        } else {
            let dst = packet.dst;
            let gratuitous = self.params.gratuitous_for_tcp && is_of_tcp_sender(&packet);
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            self.discover(now, dst, gratuitous, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if self.params.data_counts_as_hello || !packet.is_data() {
            self.note_neighbour(now, from);
        }
        if !packet.is_data() {
            self.receive_message(now, packet, from, actions);
            return;
        }
        if packet.is_for(self.node) {
            self.active_until = now + self.params.active_route_timeout();
        }
        if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward_data(now, packet, from, actions);
        }
    }

    fn suppress_duplicate(
        &mut self,
        now: Time,
        packet: &Packet,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) -> bool {
        let Payload::Aodv(Message::Rreq(rreq)) = &packet.payload else { return false };
        let known = self.knows(now, rreq);
        if known {
            self.note_neighbour(now, from);
            if !self.refuses_requests_of(now, from) {
                self.hear_neighbour(now, from, actions);
            }
        }
        known
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.link_layer_feedback || !packet.is_data() {
            self.note_lost_reply(now, &packet, next_hop);
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        }
        if self.params.search_keeps_failed && self.discoveries.contains_key(&packet.dst) {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            return;
        }
        let route = self.table.valid(now, packet.dst);
        let leads_elsewhere = route.as_ref().is_some_and(|route| route.next_hop != next_hop);
        let route = route.filter(|route| route.next_hop == next_hop);
        if self.params.failure_needs_route && route.is_none() {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            if !leads_elsewhere {
                actions.push(Action::FlushQueue(next_hop));
            }
            return;
        }
        let repair = match route {
            Some(route) if self.params.local_repair && packet.hops > 0 => {
                u32::from(route.hops) <= self.params.max_repair_ttl()
            }
            _ => false,
        };
        self.break_link(now, next_hop, repair, actions);
        self.rescue(now, packet, actions);
        actions.push(Action::FlushQueue(next_hop));
    }

    fn handle_flushed(&mut self, now: Time, packet: Packet, _next_hop: NodeId, actions: &mut Vec<Action>) {
        if packet.is_data() {
            self.rescue(now, packet, actions);
        } else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        }
    }

    /// §6.8: a reply that could not be delivered tells of its next hop.
    fn takes_back_control(&self) -> bool {
        self.params.blacklist
    }

    /// Deadlines that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due = self.discoveries.iter().filter(|(_, discovery)| discovery.deadline() <= now);
        let due: SmallVec<[NodeId; 4]> = due.map(|(dst, _)| *dst).collect();
        for dst in due {
            self.continue_discovery(now, dst, actions);
        }
        if self.buffer.next_expiry() <= now {
            self.buffer.expire(now, actions);
        }
        self.lose_silent_neighbours(now, actions);
        self.miss_acks(now);
        if self.hello_at <= now {
            self.tick_hello(now, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let discovery = self.discoveries.values().map(Discovery::deadline).min();
        let neighbour = self.neighbours.values().map(|neighbour| neighbour.lost_at).min();
        self.hello_at
            .min(self.buffer.next_expiry())
            .min(discovery.unwrap_or(Time::NEVER))
            .min(neighbour.unwrap_or(Time::NEVER))
            .min(self.one_way.next_timeout())
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.table.route(now, dst).map(|route| route.next_hop)
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        self.table.route(now, dst)?.hops
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn take_route_changes(&mut self) -> Changes {
        self.table.take_changes()
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        self.table.route(now, dst)
    }
}

/// Does the packet go from the sender of a TCP connection to its receiver?
fn is_of_tcp_sender(packet: &Packet) -> bool {
    matches!(packet.payload, Payload::Tcp(_, Segment::Data { .. }))
}

/// Data.
impl Rfc3561 {
    /// §6.2: each use of a route prolongs the routes to the destination and its next hop, and, since routes
    /// are expected to be symmetric, those to the source and the previous hop.
    fn send_data(
        &mut self,
        now: Time,
        packet: Packet,
        from: Option<NodeId>,
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        let Some(next_hop) = self.table.valid(now, packet.dst).map(|route| route.next_hop) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        let until = now + self.params.active_route_timeout();
        self.active_until = until;
        for node in [Some(packet.dst), Some(next_hop), from.map(|_| packet.src), from].into_iter().flatten() {
            if let Some(route) = self.table.valid(now, node) {
                route.prolong(now, until);
            }
        }
        actions.push(Action::Send { packet, next_hop, delay });
    }

    fn forward_data(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if self.table.valid(now, dst).is_some() {
            self.send_data(now, packet, Some(from), Span::ZERO, actions);
        } else if self.can_repair(now, dst) {
            self.rescue(now, packet, actions);
        } else {
            self.refuse(now, dst, from, actions);
            actions.push(Action::Drop(packet, DropReason::NoRoute));
        }
    }

    /// §6.11 case (ii): a data packet for which there is no active route, and no repair going on.
    fn refuse(&mut self, now: Time, dst: NodeId, from: NodeId, actions: &mut Vec<Action>) {
        let forget_at = now + self.params.delete_period();
        let mut seqno = 0;
        if let Some(route) = self.table.get(now, dst) {
            route.invalidate(forget_at);
            seqno = route.seqno.unwrap_or(0);
        }
        let mut to: Nodes = SmallVec::from_slice(&[from]);
        if now < self.silent_until {
            // §6.13: after a reboot the error is broadcast, and the wait begins anew.
            self.silent_until = forget_at;
            to.clear();
        }
        let unreachable = SmallVec::from_slice(&[Unreachable { dst, seqno }]);
        self.send_rerr(now, unreachable, &to, false, actions);
    }

    /// §6.3: packets that waited for this route leave in order of their arrival.
    fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let mut delay = Span::ZERO;
        for packet in self.buffer.pop_all(now, dst, actions) {
            self.send_data(now, packet, None, delay, actions);
            delay = Span(delay.0 + self.params.release_spacing().0);
        }
    }
}
