//! AODV as ns-2.35 behaves: Das and Marina's model of the 1999 drafts (draft-ietf-manet-aodv-02 to -04).
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
//! Sizes are the model's: RREQ 28 (it counts its time stamp), RREP and hello 24, RERR 4 + 8 n bytes, plus IP.

mod table;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use smallvec::SmallVec;

use self::table::{Link, Table};
use super::{AodvParams, control};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, Notice, Routing, relay};
use crate::wire::aodv::{Hello, Message, Rerr, Rrep, Rreq, Unreachable};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

const RREQ_BYTES: u32 = 28 + IP_HEADER_BYTES;
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
            self.resolve(now, packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, mut packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if !packet.is_data() {
            packet.ttl = packet.ttl.saturating_sub(1);
            self.receive_message(now, packet, from, actions);
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.resolve(now, packet, actions);
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
            _ => {
                actions.push(Action::Drop(packet, DropReason::LinkFailure));
                actions.push(Action::FlushQueue(next_hop));
                self.lose_neighbour(now, next_hop, actions);
            }
        }
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
        route.link.map(|link| u32::from(link.hops))
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
    /// Sends a data packet on, or does what can be done without a route.
    fn resolve(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let at = self.table.find_or_add(packet.dst);
        let route = self.table.at(at);
        if route.is_up() {
            self.forward(now, at, packet, Span::ZERO, actions);
        } else if packet.src == self.node {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            self.request(now, at, actions);
        } else if route.in_repair {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
        } else {
            let unreachable = Unreachable { dst: route.dst, seqno: route.seqno };
            self.send_error(now, SmallVec::from_slice(&[unreachable]), Span::ZERO, actions);
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
            self.forward(now, at, packet, delay, actions);
            delay = Span(delay.0 + spacing.0);
        }
        delay
    }
}

/// Searching for routes.
impl Ns2 {
    /// Sends a request unless the route is up, the last request may still be answered, or the node pauses.
    fn request(&mut self, now: Time, at: usize, actions: &mut Vec<Action>) {
        let pause = Span::from_secs(self.params.max_rreq_pause_s);
        let route = self.table.at_mut(at);
        if route.is_up() || route.request_timeout > now {
            return;
        }
        if route.request_count > self.params.rreq_retries {
            route.request_timeout = now + pause;
            route.request_count = 0;
            self.buffer.drop_all(now, route.dst, DropReason::NoRoute, actions);
            return;
        }
        let ttl = self.request_ttl(at);
        let route = self.table.at_mut(at);
        if ttl == self.params.net_diameter {
            route.request_count += 1;
        }
        route.last_ttl = ttl;
        // The round trip, twice to be safe; longer after each network-wide request.
        let wait = route.per_hop_time(self.params.node_traversal())
            * 2
            * u64::from(ttl)
            * u64::from(route.request_count.max(1));
        route.request_timeout = now + wait.min(pause);
        route.expires = Time::ZERO;
        let (dst, dst_seqno) = (route.dst, route.seqno);
        self.send_request(now, dst, dst_seqno, ttl, actions);
    }

    /// The TTL of the next request: a little more than the last distance or the last ring.
    fn request_ttl(&self, at: usize) -> u32 {
        let params = &self.params;
        let route = self.table.at(at);
        // A route that was never up counts as infinitely long, unless `ring_for_unknown`.
        let unknown = if params.ring_for_unknown { 0 } else { 255 };
        let reach = route.last_ttl.max(route.last_hops.map_or(unknown, u32::from));
        if !params.expanding_ring || reach >= params.ttl_threshold {
            params.net_diameter
        } else if reach == 0 {
            params.ttl_start
        } else {
            reach + params.ttl_increment
        }
    }

    fn send_request(&mut self, now: Time, dst: NodeId, dst_seqno: u32, ttl: u32, actions: &mut Vec<Action>) {
        self.seqno += 2;
        let rreq = Rreq {
            id: self.next_request_id,
            origin: self.node,
            origin_seqno: self.seqno,
            dst,
            dst_seqno: Some(dst_seqno),
            hop_count: 1,
            gratuitous: self.params.gratuitous_rrep,
            destination_only: self.params.destination_only,
            made: now,
        };
        self.next_request_id += 1;
        let packet = control(now, self.node, NodeId::BROADCAST, ttl, RREQ_BYTES, Message::Rreq(rreq));
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

    fn receive_message(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        match &packet.payload {
            Payload::Aodv(Message::Rreq(rreq)) => {
                let rreq = rreq.clone();
                self.receive_request(now, packet, rreq, from, actions);
            }
            Payload::Aodv(Message::Rrep(rrep)) => {
                let rrep = rrep.clone();
                self.receive_reply(now, packet, rrep, from, actions);
            }
            Payload::Aodv(Message::Rerr(rerr)) => {
                self.receive_error(now, rerr, from, actions);
                actions.push(Action::Consume(packet));
            }
            Payload::Aodv(Message::Hello(hello)) => {
                self.receive_hello(now, hello.node);
                actions.push(Action::Consume(packet));
            }
            _ => actions.push(Action::Consume(packet)),
        }
    }

    fn receive_request(
        &mut self,
        now: Time,
        packet: Packet,
        rreq: Rreq,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.knows(&rreq) {
            actions.push(Action::Consume(packet));
            return;
        }
        let until = now + Span::from_secs(self.params.broadcast_id_save_s);
        self.seen.add(Time::ZERO, (rreq.origin, rreq.id), until);
        self.update_reverse_route(now, &rreq, from, actions);
        if rreq.dst == self.node {
            self.answer_as_destination(now, &rreq, actions);
            actions.push(Action::Consume(packet));
        } else if self.answer_for_destination(now, &rreq, actions) {
            actions.push(Action::Consume(packet));
        } else {
            self.forward_request(packet, rreq, actions);
        }
    }

    /// Is this a request of its own, or one that it has seen?
    fn knows(&self, rreq: &Rreq) -> bool {
        rreq.origin == self.node || self.seen.holds(Time::ZERO, (rreq.origin, rreq.id))
    }

    /// The way back to the originator; buffered packets for it leave at once.
    fn update_reverse_route(&mut self, now: Time, rreq: &Rreq, from: NodeId, actions: &mut Vec<Action>) {
        let at = self.table.find_or_add(rreq.origin);
        let life = now + Span::from_secs(self.params.reverse_route_life_s);
        let route = self.table.at_mut(at);
        route.expires = route.expires.max(life);
        let expires = route.expires;
        if !self.is_better(at, rreq.origin_seqno, rreq.hop_count) {
            return;
        }
        self.update_route(at, rreq.origin_seqno, rreq.hop_count, from, expires, actions);
        let route = self.table.at_mut(at);
        if route.request_timeout > Time::ZERO {
            // This node was itself looking for the originator.
            route.end_search(rreq.hop_count);
            route.expires = now + self.params.active_route_timeout();
            self.first_expiry = self.first_expiry.min(route.expires);
        }
        self.release(now, at, Span::ZERO, Span::ZERO, actions);
    }

    /// Is a route with this sequence number and hop count fresher than the one in the table, or shorter?
    fn is_better(&self, at: usize, seqno: u32, hops: u8) -> bool {
        let route = self.table.at(at);
        !self.params.sequence_numbers
            || seqno > route.seqno
            || (seqno == route.seqno && route.link.is_none_or(|link| hops < link.hops))
    }

    fn update_route(
        &mut self,
        at: usize,
        seqno: u32,
        hops: u8,
        next_hop: NodeId,
        expires: Time,
        actions: &mut Vec<Action>,
    ) {
        let route = self.table.at_mut(at);
        route.seqno = seqno;
        route.link = Some(Link { hops, next_hop });
        route.in_repair = false;
        route.expires = expires;
        self.first_expiry = self.first_expiry.min(expires);
        if route.reported {
            route.reported = false;
            actions.push(Action::Notify(Notice::RouteFound { dst: route.dst }));
        }
    }

    fn answer_as_destination(&mut self, now: Time, rreq: &Rreq, actions: &mut Vec<Action>) {
        // Somebody may have raised this node's number; the new one is above both, and even.
        self.seqno = self.seqno.max(rreq.dst_seqno.unwrap_or(0)) + 1;
        self.seqno += self.seqno % 2;
        let rrep = Rrep {
            dst: self.node,
            dst_seqno: self.seqno,
            origin: rreq.origin,
            hop_count: 1,
            lifetime: self.params.my_route_timeout(),
            acknowledge: false,
            made: rreq.made,
        };
        self.send_reply(now, rrep, actions);
    }

    /// Answers with the route in the table if it is fresh enough. A route in repair counts as a route.
    fn answer_for_destination(&mut self, now: Time, rreq: &Rreq, actions: &mut Vec<Action>) -> bool {
        let Some(at) = self.table.find(rreq.dst) else { return false };
        let Some(link) = self.table.at(at).link else { return false };
        let seqno = self.table.at(at).seqno;
        let fresh = !self.params.sequence_numbers || seqno >= rreq.dst_seqno.unwrap_or(0);
        if rreq.destination_only || !fresh {
            return false;
        }
        let lifetime = whole_seconds_left(self.table.at(at).expires, now);
        let rrep = Rrep {
            dst: rreq.dst,
            dst_seqno: seqno,
            origin: rreq.origin,
            hop_count: link.hops.saturating_add(1),
            lifetime,
            acknowledge: false,
            made: rreq.made,
        };
        self.send_reply(now, rrep, actions);
        let reverse = self.table.find_or_add(rreq.origin);
        if let Some(back) = self.table.at(reverse).link {
            self.table.at_mut(at).add_precursor(back.next_hop);
        }
        self.table.at_mut(reverse).add_precursor(link.next_hop);
        if rreq.gratuitous {
            let gratuitous = Rrep {
                dst: rreq.origin,
                dst_seqno: rreq.origin_seqno,
                origin: rreq.dst,
                hop_count: rreq.hop_count,
                lifetime,
                acknowledge: false,
                made: rreq.made,
            };
            self.send_reply(now, gratuitous, actions);
        }
        true
    }

    fn forward_request(&mut self, mut packet: Packet, mut rreq: Rreq, actions: &mut Vec<Action>) {
        rreq.hop_count = rreq.hop_count.saturating_add(1);
        if let Some(route) = self.table.get(rreq.dst) {
            // The greatest sequence number seen on the way.
            rreq.dst_seqno = rreq.dst_seqno.max(Some(route.seqno));
        }
        packet.src = self.node;
        packet.payload = Payload::Aodv(Message::Rreq(rreq));
        if packet.ttl == 0 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
        } else {
            let delay = self.stream.span_below(self.params.broadcast_jitter());
            actions.push(Action::Broadcast { packet, delay });
        }
    }

    /// Sends a reply to `rrep.origin`.
    fn send_reply(&mut self, now: Time, rrep: Rrep, actions: &mut Vec<Action>) {
        let Some(link) = self.table.get(rrep.origin).and_then(|route| route.link) else { return };
        let (origin, ttl) = (rrep.origin, self.params.net_diameter);
        let packet = control(now, self.node, origin, ttl, RREP_BYTES, Message::Rrep(rrep));
        actions.push(Action::Send { packet, next_hop: link.next_hop, delay: Span::ZERO });
    }

    fn receive_reply(
        &mut self,
        now: Time,
        packet: Packet,
        rrep: Rrep,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let at = self.table.find_or_add(rrep.dst);
        let better = self.is_better(at, rrep.dst_seqno, rrep.hop_count);
        if better {
            let expires = now + rrep.lifetime;
            self.update_route(at, rrep.dst_seqno, rrep.hop_count, from, expires, actions);
            let route = self.table.at_mut(at);
            route.end_search(rrep.hop_count);
            if rrep.origin == self.node {
                route.add_latency(Span(now.since(rrep.made).0 / u64::from(rrep.hop_count.max(1))));
            }
            self.release(now, at, Span::ZERO, self.params.release_spacing(), actions);
        }
        if rrep.origin == self.node || !better {
            actions.push(Action::Consume(packet));
        } else {
            self.forward_reply(now, at, packet, rrep, actions);
        }
    }

    fn forward_reply(
        &mut self,
        now: Time,
        at: usize,
        mut packet: Packet,
        mut rrep: Rrep,
        actions: &mut Vec<Action>,
    ) {
        let reverse = self.table.find(rrep.origin);
        let back = reverse.and_then(|reverse| self.table.at(reverse).link);
        let (Some(reverse), Some(back)) = (reverse, back) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        rrep.hop_count = rrep.hop_count.saturating_add(1);
        packet.payload = Payload::Aodv(Message::Rrep(rrep));
        if packet.ttl == 0 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
        } else {
            self.forward(now, reverse, packet, Span::ZERO, actions);
        }
        self.table.at_mut(at).add_precursor(back.next_hop);
    }
}

/// Broken links.
impl Ns2 {
    /// Seeks the destination from here. See the module's head for when the repair ends.
    fn repair(&mut self, now: Time, at: usize, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
        self.table.at_mut(at).in_repair = true;
        self.request(now, at, actions);
        let delay = Span(self.table.at(at).request_timeout.0);
        self.repair_ends.push(Reverse((now + delay, dst)));
    }

    fn end_repair(&mut self, dst: NodeId, actions: &mut Vec<Action>) {
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
    fn lose_neighbour(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
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

    fn send_error(
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

    fn receive_error(&mut self, now: Time, rerr: &Rerr, from: NodeId, actions: &mut Vec<Action>) {
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

/// The time left, in whole seconds as a 32-bit number: an expiry time in the past wraps around.
fn whole_seconds_left(expires: Time, now: Time) -> Span {
    let seconds = (expires.0 as i64 - now.0 as i64) / 1_000_000_000;
    Span(u64::from(seconds as u32) * 1_000_000_000)
}
