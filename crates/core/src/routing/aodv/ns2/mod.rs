//! AODV as ns-2 behaves: Das and Marina's model of the 1999 drafts (draft-ietf-manet-aodv-02 to -04), as in
//! ns-2.35 and, by the switches that `AodvParams::ns_2_1b8a` sets, as in ns-2.1b8a of June 2001.
//!
//! Read first: the ns-2 manual, chapter "Mobile Networking", and Perkins, Royer, Das, Marina: "Performance
//! Comparison of Two On-Demand Routing Protocols for Ad Hoc Networks" (IEEE Personal Communications, 2001).
//!
//! **Implemented.** Requests with a TTL taken from the last known distance, waits from measured latencies, a
//! pause after fruitless network-wide requests; reverse and forward routes with sequence numbers; answers by
//! nodes on the way; route errors along precursors; local repair in the second half of a path; link-layer
//! feedback or hello messages; the packet buffer with spaced release; the half-second purge.
//!
//! **Not implemented.** RREP-ACK and the `A` flag, multicast, subnets, aggregation: the model has none of
//! them.
//!
//! **Deviations**: numbered in docs/models/aodv.md, 9 to 16 where the model departs from the drafts and so
//! does this file, 17 from ns-2.35.
//!
//! Sizes are the model's: RREQ 28 or 32 (it counts its time stamp), RREP and hello 24, RERR 4 + 8 n bytes,
//! a RERR to one neighbour as much as a RREP, plus IP.

mod discovery;
mod errors;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_2001;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use smallvec::SmallVec;

use self::table::Table;
use super::{AodvParams, control};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, Routing, relay};
use crate::wire::aodv::{Hello, Message, Unreachable};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

const RREP_BYTES: u32 = 24 + IP_HEADER_BYTES;
/// How often routes are looked through.
const PURGE_INTERVAL: Span = Span::from_millis(500);

/// The state of one node.
pub(super) struct Ns2 {
    node: NodeId,
    params: Arc<AodvParams>,
    stream: Stream,
    /// Always even.
    seqno: u32,
    next_request_id: u32,
    table: Table,
    buffer: PacketBuffer,
    /// Requests seen. Each is remembered until it is found at a purge that its time has passed.
    seen: SeenRequests,
    /// Neighbours heard by hello, and when they count as lost.
    neighbours: BTreeMap<NodeId, Time>,
    seen_purge_at: Time,
    hello_at: Time,
    neighbour_purge_at: Time,
    route_purge_at: Time,
    /// No route that is up expires before this time.
    first_expiry: Time,
    /// When routes in repair are given up.
    repair_ends: BinaryHeap<Reverse<(Time, NodeId)>>,
}

impl Ns2 {
    pub(super) fn new(node: NodeId, params: Arc<AodvParams>, stream: Stream) -> Ns2 {
        let buffer = PacketBuffer::new(params.buffer_packets);
        Ns2 {
            node,
            params,
            stream,
            seqno: 2,
            next_request_id: 1,
            table: Table::default(),
            buffer,
            seen: SeenRequests::default(),
            neighbours: BTreeMap::new(),
            seen_purge_at: Time::NEVER,
            hello_at: Time::NEVER,
            neighbour_purge_at: Time::NEVER,
            route_purge_at: Time::NEVER,
            first_expiry: Time::NEVER,
            repair_ends: BinaryHeap::new(),
        }
    }
}

impl Routing for Ns2 {
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.seen_purge_at = now;
        self.route_purge_at = now;
        if self.params.hello {
            self.hello_at = now;
            self.neighbour_purge_at = now;
        }
        self.handle_timeout(now, actions);
    }

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            packet.ttl = packet.ttl.min(self.params.net_diameter.min(255) as u8);
            self.resolve(now, packet, None, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, mut packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if !packet.is_data() {
            packet.ttl = packet.ttl.saturating_sub(1);
            self.receive_message(now, packet, from, actions);
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.resolve(now, packet, Some(from), actions);
        }
    }

    fn suppress_duplicate(
        &mut self,
        _now: Time,
        packet: &Packet,
        _from: NodeId,
        _actions: &mut Vec<Action>,
    ) -> bool {
        matches!(&packet.payload, Payload::Aodv(Message::Rreq(rreq)) if self.knows(rreq))
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let route = self.table.find(packet.dst);
        let link = route.and_then(|at| self.table.at(at).link);
        match (route, link) {
            _ if !self.params.link_layer_feedback || !packet.is_data() || packet.dst.is_broadcast() => {
                actions.push(Action::Drop(packet, DropReason::LinkFailure));
            }
            (None, _) => actions.push(Action::Drop(packet, DropReason::LinkFailure)),
            // The break is nearer to the destination than to the source.
            (Some(at), Some(link)) if self.params.local_repair && packet.hops > link.hops => {
                self.repair(now, at, packet, actions);
            }
            (Some(at), _) if self.params.unicast_errors => {
                self.break_route(now, at, actions);
                self.rescue(now, packet, actions);
                actions.push(Action::FlushQueue(next_hop));
            }
            _ => {
                self.rescue(now, packet, actions);
                actions.push(Action::FlushQueue(next_hop));
                self.lose_neighbour(now, next_hop, actions);
            }
        }
    }

    fn handle_flushed(&mut self, now: Time, packet: Packet, _next_hop: NodeId, actions: &mut Vec<Action>) {
        self.rescue(now, packet, actions);
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.seen_purge_at <= now {
            self.seen.forget(now);
            self.seen_purge_at = now + Span::from_secs(self.params.broadcast_id_save_s);
        }
        if self.hello_at <= now {
            self.send_hello(now, actions);
        }
        if self.neighbour_purge_at <= now {
            self.purge_neighbours(now, actions);
        }
        if self.route_purge_at <= now {
            self.purge_routes(now, actions);
            self.route_purge_at = now + PURGE_INTERVAL;
        }
        while let Some(&Reverse((time, dst))) = self.repair_ends.peek()
            && time <= now
        {
            self.repair_ends.pop();
            self.end_repair(dst, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let repair_end = self.repair_ends.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
        self.seen_purge_at
            .min(self.hello_at)
            .min(self.neighbour_purge_at)
            .min(self.route_purge_at)
            .min(repair_end)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        let route = self.table.get(dst).filter(|route| route.is_up())?;
        route.link.map(|link| link.next_hop)
    }

    fn route_hops(&self, _now: Time, dst: NodeId) -> Option<u32> {
        let route = self.table.get(dst).filter(|route| route.is_up())?;
        route.link.map(|link| u32::from(link.hops) + u32::from(self.params.hop_counts_from_zero))
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn take_route_changes(&mut self) -> Changes {
        self.table.take_changes()
    }
}

/// Data.
impl Ns2 {
    /// Sends a data packet on, or does what can be done without a route. `from` is the neighbour that it came
    /// from, none for a packet of this node's own.
    fn resolve(&mut self, now: Time, packet: Packet, from: Option<NodeId>, actions: &mut Vec<Action>) {
        let at = self.table.find_or_add(packet.dst);
        let route = self.table.at(at);
        if route.is_up() {
            self.note_user(now, at, from);
            self.forward(now, at, packet, Span::ZERO, actions);
        } else if packet.src == self.node {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            self.request(now, at, actions);
        } else if route.in_repair {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
        } else {
            let unreachable = Unreachable { dst: route.dst, seqno: route.seqno };
            match from {
                Some(from) if self.params.unicast_errors => self.tell(now, from, unreachable, actions),
                _ => self.send_error(now, SmallVec::from_slice(&[unreachable]), Span::ZERO, actions),
            }
            actions.push(Action::Drop(packet, DropReason::NoRoute));
        }
    }

    /// Sends a packet along a route that has a link; the route lives on.
    fn forward(&mut self, now: Time, at: usize, packet: Packet, delay: Span, actions: &mut Vec<Action>) {
        let route = self.table.at_mut(at);
        let Some(link) = route.link else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        route.expires = now + self.params.active_route_timeout();
        self.first_expiry = self.first_expiry.min(route.expires);
        actions.push(Action::Send { packet, next_hop: link.next_hop, delay });
    }

    /// Sends all buffered packets for a destination, the first after `delay`, the others `spacing` apart.
    /// Returns the delay that the next packet would have had.
    fn release(
        &mut self,
        now: Time,
        at: usize,
        mut delay: Span,
        spacing: Span,
        actions: &mut Vec<Action>,
    ) -> Span {
        let dst = self.table.at(at).dst;
        for packet in self.buffer.pop_all(now, dst, actions) {
            if packet.src == self.node {
                self.note_user(now, at, None);
            }
            self.forward(now, at, packet, delay, actions);
            delay = Span(delay.0 + spacing.0);
        }
        delay
    }
}

/// Timers.
impl Ns2 {
    /// Unused routes go down; buffered packets leave if there is a route, and are sought for otherwise.
    fn purge_routes(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.first_expiry >= now && self.buffer.is_empty() {
            // The walk would find nothing to do.
            return;
        }
        // Releasing packets makes routes live longer: what they live now is a bound all the same.
        self.first_expiry = Time::NEVER;
        // The spacing goes on from one destination to the next.
        let mut delay = Span::ZERO;
        for at in self.table.newest_first() {
            let route = self.table.at(at);
            if route.is_up() && route.expires < now {
                let route = self.table.at_mut(at);
                route.seqno += 1;
                route.take_down();
                self.buffer.drop_all(now, route.dst, DropReason::NoRoute, actions);
            } else if route.is_up() {
                self.first_expiry = self.first_expiry.min(route.expires);
                delay = self.release(now, at, delay, self.params.release_spacing(), actions);
            } else if self.buffer.contains(route.dst) {
                self.request(now, at, actions);
            }
        }
    }

    fn send_hello(&mut self, now: Time, actions: &mut Vec<Action>) {
        let interval = self.params.hello_interval();
        let lifetime = interval * u64::from(1 + self.params.allowed_hello_loss);
        let message = Message::Hello(Hello { node: self.node, seqno: self.seqno, lifetime, heard: None });
        let packet = control(now, self.node, NodeId::BROADCAST, 1, RREP_BYTES, message);
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        self.hello_at = now + interval.scaled(self.stream.uniform(0.75, 1.25));
    }

    fn receive_hello(&mut self, now: Time, neighbour: NodeId) {
        let patience = self.params.hello_interval().scaled(1.5 * f64::from(self.params.allowed_hello_loss));
        if self.neighbours.insert(neighbour, now + patience).is_none() {
            // The set of neighbours has changed.
            self.seqno += 2;
        }
    }

    fn purge_neighbours(&mut self, now: Time, actions: &mut Vec<Action>) {
        let silent = self.neighbours.iter().filter(|(_, expires)| **expires <= now);
        let lost: SmallVec<[NodeId; 4]> = silent.map(|(neighbour, _)| *neighbour).collect();
        for neighbour in lost {
            self.lose_neighbour(now, neighbour, actions);
        }
        self.neighbour_purge_at = now + self.params.hello_interval();
    }
}
