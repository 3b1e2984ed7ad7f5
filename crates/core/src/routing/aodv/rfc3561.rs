//! AODV as RFC 3561 (July 2003) specifies it. Read that first; each step below names its clause.
//!
//! **Implemented.** Sequence numbers with rollover (§6.1), route table and precursor lists (§6.2), route
//! requests with rate limit and binary exponential backoff (§6.3), expanding ring search (§6.4), reverse
//! routes (§6.5), replies by the destination and on the way, gratuitous replies (§6.6), forward routes (§6.7),
//! the blacklist of neighbours that a reply could not reach (§6.8), hello messages (§6.9), link-layer feedback
//! (§6.10), route errors, unicast or broadcast, with rate limit (§6.11), local repair (§6.12), the wait after a
//! reboot (§6.13).
//!
//! **Not implemented.** RREP-ACK and the `A` flag (§6.8; the blacklist needs link-layer feedback here), passive
//! acknowledgement (§6.10), several interfaces (§6.14), subnets (§7), other networks (§8), extensions (§9),
//! proactive repair and rediscovery after a RERR with the `N` flag (both MAY, §6.12), the `J` and `R` flags.
//!
//! **Deviations.**
//! - Entries are never expunged; after DELETE_PERIOD only their hop count is forgotten. §6.4 allows it. A
//!   node that forgets sequence numbers can be answered with a route through itself.
//! - A stored sequence number is never lowered: a RERR (§6.11) or a hello message (§6.9) with an older number
//!   leaves the stored one, raised by one if the route breaks. Copying the older number can make loops
//!   (van Glabbeek, Höfner, Tan, Portmann: "Sequence numbers do not guarantee loop freedom", MSWiM 2013).
//! - §6.5 leaves open what the route "without a valid sequence number" to a previous hop does to a number that
//!   is known: it stays, for the same reason.
//! - A RERR for a packet without a route (§6.11 case ii) goes to the neighbour that sent the packet, whether
//!   or not the entry still has precursors.
//! - A request repeated at the greatest TTL is repeated RREQ_RETRIES times in all: rings 1, 3, 5, 7 are followed
//!   by two network-wide requests, and a search that begins network-wide makes three (§6.3).
//! - After a link break the interface queue for that neighbour is emptied; the RFC knows no queue. Such packets
//!   share the fate of the one that failed.
//! - A packet that comes back to its source is dropped. The RFC leaves this to IP.
//! - Broadcasts that answer broadcasts are jittered, and buffered packets leave with a spacing (parameters).

mod table;

use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;

use self::table::{Nodes, Offer, Table, newer};
use super::buffer::PacketBuffer;
use super::{AodvParams, Hello, Message, Rerr, Rrep, Rreq, Unreachable, control};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::packet::{IP_HEADER_BYTES, NodeId, Packet, Payload};
use crate::routing::{Action, Notice, Routing};

/// §5.1.
const RREQ_BYTES: u32 = 24 + IP_HEADER_BYTES;
/// §5.2.
const RREP_BYTES: u32 = 20 + IP_HEADER_BYTES;

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

    fn blacklist_timeout(&self) -> Span {
        let rings = if self.expanding_ring {
            self.ttl_threshold.saturating_sub(self.ttl_start) / self.ttl_increment + 1
        } else {
            0
        };
        self.net_traversal() * u64::from(rings + self.rreq_retries)
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

/// A search for a destination.
struct Discovery {
    ttl: u32,
    state: Waiting,
    /// Requests sent over the whole network.
    network_wide: u32,
    /// How many of them were repetitions.
    retries: u32,
    /// A local repair (§6.12); the hop count of the route that broke.
    repair: Option<u8>,
}

/// What a search waits for.
#[derive(Clone, Copy)]
enum Waiting {
    /// The next request may be sent then (rate limit, or the wait after a reboot).
    ToSend(Time),
    /// An answer may come until then.
    ForAnswer(Time),
}

impl Discovery {
    fn deadline(&self) -> Time {
        match self.state {
            Waiting::ToSend(time) | Waiting::ForAnswer(time) => time,
        }
    }
}

/// At most so many messages in any second.
#[derive(Default)]
struct RateLimit {
    /// When messages were sent, for the last second.
    sent: VecDeque<Time>,
}

impl RateLimit {
    const WINDOW: Span = Span::from_millis(1000);

    /// When the next message may be sent: `now` or later.
    fn free_at(&mut self, now: Time, limit: u32) -> Time {
        while self.sent.front().is_some_and(|sent| *sent + RateLimit::WINDOW <= now) {
            self.sent.pop_front();
        }
        if limit == 0 || self.sent.len() < limit as usize {
            return now;
        }
        self.sent[self.sent.len() - limit as usize] + RateLimit::WINDOW
    }

    fn count(&mut self, now: Time) {
        self.sent.push_back(now);
    }
}

/// The state of one node.
pub(super) struct Rfc3561 {
    node: NodeId,
    params: AodvParams,
    stream: Stream,
    seqno: u32,
    rreq_id: u32,
    table: Table,
    discoveries: BTreeMap<NodeId, Discovery>,
    buffer: PacketBuffer,
    /// Requests seen, remembered for PATH_DISCOVERY_TIME; the list has them in order of time.
    seen: BTreeMap<(NodeId, u32), Time>,
    seen_order: VecDeque<(Time, (NodeId, u32))>,
    rreq_rate: RateLimit,
    rerr_rate: RateLimit,
    /// Neighbours whose requests are ignored, and until when (§6.8).
    blacklist: BTreeMap<NodeId, Time>,
    /// Neighbours that said hello, and when they count as lost (§6.9).
    neighbours: BTreeMap<NodeId, Time>,
    hello_at: Time,
    last_broadcast: Time,
    /// Data passed through this node; until then it is part of an active route.
    active_until: Time,
    /// After a reboot: no control packet is sent before this time (§6.13).
    silent_until: Time,
}

impl Rfc3561 {
    pub(super) fn new(node: NodeId, params: AodvParams, stream: Stream) -> Rfc3561 {
        Rfc3561 {
            node,
            stream,
            seqno: 0,
            rreq_id: 0,
            table: Table::new(params.delete_period(), params.sequence_numbers),
            discoveries: BTreeMap::new(),
            buffer: PacketBuffer::new(params.buffer_packets, params.buffer_timeout_s),
            seen: BTreeMap::new(),
            seen_order: VecDeque::new(),
            rreq_rate: RateLimit::default(),
            rerr_rate: RateLimit::default(),
            blacklist: BTreeMap::new(),
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
        if now > Time::ZERO {
            self.silent_until = now + self.params.delete_period();
        }
        if self.params.hello {
            self.hello_at = now + self.stream.span_below(self.params.hello_interval());
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
            self.buffer.push(now, packet, actions);
            self.discover(now, dst, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, mut packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        self.note_neighbour(now, from);
        if !packet.is_data() {
            self.receive_message(now, packet, from, actions);
        } else if packet.dst == self.node || packet.dst.is_broadcast() {
            self.active_until = now + self.params.active_route_timeout();
            actions.push(Action::Deliver(packet));
        } else if packet.src == self.node {
            actions.push(Action::Drop(packet, DropReason::RoutingLoop));
        } else if packet.ttl <= 1 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
        } else {
            packet.ttl -= 1;
            self.forward_data(now, packet, from, actions);
        }
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
        let route = self.table.valid(now, packet.dst).filter(|route| route.next_hop == next_hop);
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
        let silent = self.neighbours.iter().filter(|(_, expires)| **expires <= now);
        let lost: Nodes = silent.map(|(neighbour, _)| *neighbour).collect();
        for neighbour in lost {
            self.neighbours.remove(&neighbour);
            self.break_link(now, neighbour, false, actions);
        }
        if self.hello_at <= now {
            self.tick_hello(now, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let discovery = self.discoveries.values().map(Discovery::deadline).min();
        let neighbour = self.neighbours.values().copied().min();
        self.hello_at
            .min(self.buffer.next_expiry())
            .min(discovery.unwrap_or(Time::NEVER))
            .min(neighbour.unwrap_or(Time::NEVER))
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.table.next_hop(now, dst)
    }
}

/// Data.
impl Rfc3561 {
    /// §6.2: each use of a route prolongs the routes to the destination and its next hop, and, since routes are
    /// expected to be symmetric, those to the source and the previous hop.
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
        self.send_rerr(now, unreachable, &to, false, Span::ZERO, actions);
    }

    /// §6.3: packets that waited for this route leave in order of their arrival.
    fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let mut delay = Span::ZERO;
        while let Some(packet) = self.buffer.pop(now, dst, actions) {
            self.send_data(now, packet, None, delay, actions);
            delay = Span(delay.0 + self.params.release_spacing().0);
        }
    }
}

/// Route discovery (§6.3, §6.4).
impl Rfc3561 {
    fn discover(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        if self.discoveries.contains_key(&dst) {
            return;
        }
        // §6.4: the first ring reaches a little beyond the last known distance.
        let last_hops = self.table.get(now, dst).and_then(|route| route.last_hops(now));
        let first = match last_hops {
            Some(hops) => u32::from(hops) + self.params.ttl_increment,
            None => self.params.ttl_start,
        };
        let ttl = self.params.ring(first);
        self.begin_discovery(now, dst, ttl, None, actions);
    }

    fn begin_discovery(
        &mut self,
        now: Time,
        dst: NodeId,
        ttl: u32,
        repair: Option<u8>,
        actions: &mut Vec<Action>,
    ) {
        let discovery = Discovery { ttl, state: Waiting::ToSend(now), network_wide: 0, retries: 0, repair };
        self.discoveries.insert(dst, discovery);
        self.send_rreq(now, dst, actions);
    }

    /// §6.3: sends the next request of a search, unless that must wait.
    fn send_rreq(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let free_at = self.rreq_rate.free_at(now, self.params.rreq_ratelimit).max(self.silent_until);
        let Some(discovery) = self.discoveries.get_mut(&dst) else { return };
        if free_at > now {
            discovery.state = Waiting::ToSend(free_at);
            return;
        }
        let ttl = discovery.ttl;
        let wait = if ttl < self.params.net_diameter {
            self.params.ring_traversal(ttl)
        } else {
            // Binary exponential backoff.
            discovery.network_wide += 1;
            self.params.net_traversal() * (1 << (discovery.network_wide - 1).min(30))
        };
        discovery.state = Waiting::ForAnswer(now + wait);
        self.rreq_rate.count(now);
        // §6.1: a node increments its own number immediately before it originates a route discovery.
        self.seqno = self.seqno.wrapping_add(1);
        self.rreq_id = self.rreq_id.wrapping_add(1);
        self.remember(now, (self.node, self.rreq_id));
        let rreq = Rreq {
            id: self.rreq_id,
            origin: self.node,
            origin_seqno: self.seqno,
            dst,
            dst_seqno: self.table.get(now, dst).and_then(|route| route.seqno),
            hop_count: 0,
            gratuitous: self.params.gratuitous_rrep,
            destination_only: self.params.destination_only,
            made: now,
        };
        let packet = control(now, self.node, NodeId::BROADCAST, ttl, RREQ_BYTES, Message::Rreq(rreq));
        self.broadcast(now, packet, Span::ZERO, actions);
    }

    /// The wait of a search is over.
    fn continue_discovery(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(discovery) = self.discoveries.get_mut(&dst) else { return };
        if let Waiting::ForAnswer(_) = discovery.state {
            if discovery.repair.is_some() {
                self.fail_repair(now, dst, actions);
                return;
            }
            let whole = self.params.net_diameter;
            if discovery.ttl < whole {
                discovery.ttl = self.params.ring(discovery.ttl + self.params.ttl_increment);
            }
            if discovery.ttl >= whole {
                if discovery.retries == self.params.rreq_retries {
                    self.discoveries.remove(&dst);
                    self.buffer.drop_all(now, dst, DropReason::NoRoute, actions);
                    return;
                }
                discovery.retries += 1;
            }
        }
        self.send_rreq(now, dst, actions);
    }

    /// There is a route to `dst`: searches for it end, and what waited leaves (§6.2).
    fn route_found(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(route) = self.table.valid(now, dst) else { return };
        if route.reported {
            route.reported = false;
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        let hops = route.hops;
        let repaired = self.discoveries.remove(&dst).and_then(|discovery| discovery.repair);
        if repaired.is_some_and(|old_hops| hops > old_hops) {
            // §6.12: the repaired route is longer; the nodes before this one may want a better one.
            self.report(now, &[dst], true, Span::ZERO, actions);
        }
        self.release(now, dst, actions);
    }

    /// §6.3: the request named so is not processed again within PATH_DISCOVERY_TIME.
    fn remember(&mut self, now: Time, name: (NodeId, u32)) {
        while let Some(&(expires, old)) = self.seen_order.front()
            && expires <= now
        {
            self.seen_order.pop_front();
            if self.seen.get(&old) == Some(&expires) {
                self.seen.remove(&old);
            }
        }
        let expires = now + self.params.path_discovery();
        self.seen.insert(name, expires);
        self.seen_order.push_back((expires, name));
    }

    fn broadcast(&mut self, now: Time, packet: Packet, delay: Span, actions: &mut Vec<Action>) {
        self.last_broadcast = now;
        actions.push(Action::Broadcast { packet, delay });
    }
}

/// Messages (§6.5 to §6.7).
impl Rfc3561 {
    fn receive_message(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        match &packet.payload {
            Payload::Aodv(Message::Rreq(rreq)) => {
                let rreq = rreq.clone();
                self.receive_rreq(now, packet, rreq, from, actions);
            }
            Payload::Aodv(Message::Rrep(rrep)) => {
                let rrep = rrep.clone();
                self.receive_rrep(now, packet, rrep, from, actions);
            }
            Payload::Aodv(Message::Rerr(rerr)) => {
                self.receive_rerr(now, rerr, from, actions);
                actions.push(Action::Consume(packet));
            }
            Payload::Aodv(Message::Hello(hello)) => {
                self.receive_hello(now, hello, from, actions);
                actions.push(Action::Consume(packet));
            }
            _ => actions.push(Action::Consume(packet)),
        }
    }

    /// §6.5, §6.7: a message from a neighbour makes a route to it.
    fn hear_neighbour(&mut self, now: Time, from: NodeId, actions: &mut Vec<Action>) {
        if self.table.hear(now, from, self.params.active_route_timeout()) {
            self.route_found(now, from, actions);
        }
    }

    /// §6.5.
    fn receive_rreq(
        &mut self,
        now: Time,
        packet: Packet,
        mut rreq: Rreq,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.blacklist.get(&from).is_some_and(|until| *until > now) {
            actions.push(Action::Consume(packet));
            return;
        }
        self.hear_neighbour(now, from, actions);
        let name = (rreq.origin, rreq.id);
        if rreq.origin == self.node || self.seen.get(&name).is_some_and(|expires| *expires > now) {
            actions.push(Action::Consume(packet));
            return;
        }
        self.remember(now, name);
        rreq.hop_count = rreq.hop_count.saturating_add(1);
        self.update_reverse_route(now, &rreq, from, actions);
        if rreq.dst == self.node {
            self.answer_as_destination(now, &rreq, actions);
            actions.push(Action::Consume(packet));
        } else if now < self.silent_until || self.answer_for_destination(now, &rreq, from, actions) {
            actions.push(Action::Consume(packet));
        } else {
            self.forward_rreq(now, packet, rreq, actions);
        }
    }

    /// §6.5, points 1 to 4, and the lifetime of the reverse route.
    fn update_reverse_route(&mut self, now: Time, rreq: &Rreq, from: NodeId, actions: &mut Vec<Action>) {
        let offer =
            Offer { dst: rreq.origin, seqno: rreq.origin_seqno, hops: rreq.hop_count, next_hop: from };
        let taken = self.table.offer(now, offer);
        let travelled = self.params.node_traversal() * 2 * u64::from(rreq.hop_count);
        let minimal = now + (self.params.net_traversal() * 2).saturating_sub(travelled);
        if taken {
            self.table.give_life(rreq.origin, minimal);
            self.route_found(now, rreq.origin, actions);
        } else if let Some(route) = self.table.valid(now, rreq.origin) {
            route.prolong(now, minimal);
        }
    }

    /// §6.6.1.
    fn answer_as_destination(&mut self, now: Time, rreq: &Rreq, actions: &mut Vec<Action>) {
        // §6.1: the greater of its own number and the one asked for.
        if let Some(asked) = rreq.dst_seqno.filter(|asked| newer(*asked, self.seqno)) {
            self.seqno = asked;
        }
        if now < self.silent_until {
            return;
        }
        let rrep = Rrep {
            dst: self.node,
            dst_seqno: self.seqno,
            origin: rreq.origin,
            hop_count: 0,
            lifetime: self.params.my_route_timeout(),
            made: rreq.made,
        };
        self.send_rrep(now, rrep, actions);
    }

    /// §6.6 (ii), §6.6.2, §6.6.3: an intermediate node with a fresh enough route answers.
    fn answer_for_destination(
        &mut self,
        now: Time,
        rreq: &Rreq,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) -> bool {
        let compare = self.params.sequence_numbers;
        let Some(route) = self.table.valid(now, rreq.dst) else { return false };
        let Some(seqno) = route.seqno else { return false };
        let stale = compare && rreq.dst_seqno.is_some_and(|asked| newer(asked, seqno));
        if rreq.destination_only || stale {
            return false;
        }
        route.add_precursor(from);
        let (hops, lifetime, next_hop) = (route.hops, route.expires.since(now), route.next_hop);
        let rrep = Rrep {
            dst: rreq.dst,
            dst_seqno: seqno,
            origin: rreq.origin,
            hop_count: hops,
            lifetime,
            made: rreq.made,
        };
        self.send_rrep(now, rrep, actions);
        let Some(reverse) = self.table.valid(now, rreq.origin) else { return true };
        reverse.add_precursor(next_hop);
        if rreq.gratuitous {
            let gratuitous = Rrep {
                dst: rreq.origin,
                dst_seqno: rreq.origin_seqno,
                origin: rreq.dst,
                hop_count: reverse.hops,
                lifetime: reverse.expires.since(now),
                made: rreq.made,
            };
            self.send_rrep(now, gratuitous, actions);
        }
        true
    }

    /// §6.5, last paragraphs. The hop count already includes the hop to this node.
    fn forward_rreq(&mut self, now: Time, mut packet: Packet, mut rreq: Rreq, actions: &mut Vec<Action>) {
        if packet.ttl <= 1 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
            return;
        }
        packet.ttl -= 1;
        packet.src = self.node;
        if let Some(known) = self.table.get(now, rreq.dst).and_then(|route| route.seqno)
            && rreq.dst_seqno.is_none_or(|asked| newer(known, asked))
        {
            rreq.dst_seqno = Some(known);
        }
        packet.payload = Payload::Aodv(Message::Rreq(rreq));
        let delay = self.stream.span_below(self.params.broadcast_jitter());
        self.broadcast(now, packet, delay, actions);
    }

    /// §6.6: a new reply goes to the next hop toward the originator of the request.
    fn send_rrep(&mut self, now: Time, rrep: Rrep, actions: &mut Vec<Action>) {
        if self.table.valid(now, rrep.origin).is_none() {
            return;
        }
        let ttl = self.params.net_diameter;
        let packet = control(now, self.node, rrep.origin, ttl, RREP_BYTES, Message::Rrep(rrep.clone()));
        self.pass_rrep(now, packet, &rrep, actions);
    }

    /// §6.7.
    fn receive_rrep(
        &mut self,
        now: Time,
        mut packet: Packet,
        mut rrep: Rrep,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.hear_neighbour(now, from, actions);
        rrep.hop_count = rrep.hop_count.saturating_add(1);
        let offer = Offer { dst: rrep.dst, seqno: rrep.dst_seqno, hops: rrep.hop_count, next_hop: from };
        let taken = rrep.dst != self.node && self.table.offer(now, offer);
        if taken {
            self.table.set_life(rrep.dst, now + rrep.lifetime);
            self.route_found(now, rrep.dst, actions);
        }
        if rrep.origin == self.node || !taken || now < self.silent_until {
            actions.push(Action::Consume(packet));
        } else if packet.ttl <= 1 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
        } else {
            packet.ttl -= 1;
            packet.src = self.node;
            packet.payload = Payload::Aodv(Message::Rrep(rrep.clone()));
            self.pass_rrep(now, packet, &rrep, actions);
        }
    }

    /// §6.7, last paragraph: whenever a node transmits a reply, the neighbours at both sides become precursors,
    /// and the reverse route lives on.
    fn pass_rrep(&mut self, now: Time, packet: Packet, rrep: &Rrep, actions: &mut Vec<Action>) {
        let until = now + self.params.active_route_timeout();
        let Some(reverse) = self.table.valid(now, rrep.origin) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        reverse.prolong(now, until);
        let back = reverse.next_hop;
        if let Some(forward) = self.table.valid(now, rrep.dst) {
            forward.add_precursor(back);
            let next_hop = forward.next_hop;
            if let Some(route) = self.table.valid(now, next_hop) {
                route.add_precursor(back);
            }
        }
        actions.push(Action::Send { packet, next_hop: back, delay: Span::ZERO });
    }

    /// §6.8: the link to a neighbour that a reply cannot reach may be unidirectional.
    fn note_lost_reply(&mut self, now: Time, packet: &Packet, next_hop: NodeId) {
        let lost_reply = matches!(packet.payload, Payload::Aodv(Message::Rrep(_)));
        if self.params.blacklist && self.params.link_layer_feedback && lost_reply {
            self.blacklist.insert(next_hop, now + self.params.blacklist_timeout());
        }
    }
}

/// Hello messages (§6.9).
impl Rfc3561 {
    fn tick_hello(&mut self, now: Time, actions: &mut Vec<Action>) {
        let interval = self.params.hello_interval();
        self.hello_at = now + interval;
        let quiet = now.since(self.last_broadcast) >= interval;
        if now >= self.active_until || !quiet || now < self.silent_until {
            return;
        }
        let lifetime = interval * u64::from(self.params.allowed_hello_loss);
        let message = Message::Hello(Hello { node: self.node, seqno: self.seqno, lifetime });
        let packet = control(now, self.node, NodeId::BROADCAST, 1, RREP_BYTES, message);
        self.broadcast(now, packet, Span::ZERO, actions);
    }

    fn receive_hello(&mut self, now: Time, hello: &Hello, from: NodeId, actions: &mut Vec<Action>) {
        let new = self.table.hear(now, from, hello.lifetime);
        if let Some(route) = self.table.valid(now, from)
            && route.seqno.is_none_or(|known| newer(hello.seqno, known))
        {
            route.seqno = Some(hello.seqno);
        }
        if new {
            self.route_found(now, from, actions);
        }
        if self.params.hello {
            self.neighbours.insert(from, now + self.patience());
        }
    }

    /// Any packet from a neighbour that has said hello shows that it is still there.
    fn note_neighbour(&mut self, now: Time, from: NodeId) {
        let patience = self.patience();
        if let Some(expires) = self.neighbours.get_mut(&from) {
            *expires = now + patience;
        }
    }

    fn patience(&self) -> Span {
        self.params.hello_interval() * u64::from(self.params.allowed_hello_loss)
    }
}

/// Broken links (§6.11, §6.12).
impl Rfc3561 {
    /// §6.11 case (i). With `repair`, destinations near enough are not given up yet: they are repaired when
    /// data for them comes (§6.12).
    fn break_link(&mut self, now: Time, neighbour: NodeId, repair: bool, actions: &mut Vec<Action>) {
        self.neighbours.remove(&neighbour);
        self.table.remove_precursor(neighbour);
        let forget_at = now + self.params.delete_period();
        let lost: SmallVec<[NodeId; 8]> = self.table.over(now, neighbour).collect();
        let mut failed: SmallVec<[NodeId; 8]> = SmallVec::new();
        for dst in lost {
            let Some(route) = self.table.valid(now, dst) else { continue };
            let alive_until = route.expires;
            route.invalidate(forget_at);
            if repair && u32::from(route.hops) <= self.params.max_repair_ttl() {
                route.repairable_until = alive_until;
            } else {
                route.reported = true;
                actions.push(Action::Notify(Notice::RouteFailed { dst, told: false }));
                failed.push(dst);
            }
        }
        self.report(now, &failed, false, Span::ZERO, actions);
    }

    /// Is the route to `dst` being repaired, or may it be?
    fn can_repair(&mut self, now: Time, dst: NodeId) -> bool {
        let repairing = self.discoveries.get(&dst).is_some_and(|discovery| discovery.repair.is_some());
        repairing || self.table.get(now, dst).is_some_and(|route| route.repairable_until > now)
    }

    /// A packet whose link broke: with local repair it waits, or takes the route found meanwhile.
    fn rescue(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if !self.params.local_repair {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        } else if self.table.valid(now, dst).is_some() {
            self.send_data(now, packet, None, Span::ZERO, actions);
        } else if self.can_repair(now, dst) {
            let source = packet.src;
            self.buffer.push(now, packet, actions);
            self.repair(now, dst, source, actions);
        } else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        }
    }

    /// §6.12: a request for the destination with TTL max(MIN_REPAIR_TTL, 0.5 * #hops) + LOCAL_ADD_TTL.
    fn repair(&mut self, now: Time, dst: NodeId, source: NodeId, actions: &mut Vec<Action>) {
        if self.discoveries.contains_key(&dst) {
            return;
        }
        let to_source = self.table.get(now, source).map_or(0, |route| u32::from(route.hops));
        let Some(route) = self.table.get(now, dst) else { return };
        let old_hops = route.hops;
        let ttl = u32::from(old_hops).max(to_source.div_ceil(2)) + self.params.local_add_ttl;
        self.begin_discovery(now, dst, ttl.min(self.params.net_diameter), Some(old_hops), actions);
    }

    /// §6.12: no answer came within the discovery period.
    fn fail_repair(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        self.discoveries.remove(&dst);
        if let Some(route) = self.table.get(now, dst) {
            route.repairable_until = Time::ZERO;
            route.reported = true;
        }
        self.buffer.drop_all(now, dst, DropReason::LinkFailure, actions);
        actions.push(Action::Notify(Notice::RouteFailed { dst, told: false }));
        self.report(now, &[dst], false, Span::ZERO, actions);
    }

    /// §6.11 case (iii).
    fn receive_rerr(&mut self, now: Time, rerr: &Rerr, from: NodeId, actions: &mut Vec<Action>) {
        let forget_at = now + self.params.delete_period();
        let mut affected: SmallVec<[NodeId; 8]> = SmallVec::new();
        for told in &rerr.unreachable {
            let route = self.table.valid(now, told.dst).filter(|route| route.next_hop == from);
            let Some(route) = route else { continue };
            affected.push(told.dst);
            if rerr.no_delete {
                continue;
            }
            route.invalidate(forget_at);
            if route.seqno.is_some_and(|known| newer(told.seqno, known)) {
                route.seqno = Some(told.seqno);
            }
            route.reported = true;
            actions.push(Action::Notify(Notice::RouteFailed { dst: told.dst, told: true }));
        }
        let delay = self.stream.span_below(self.params.broadcast_jitter());
        self.report(now, &affected, rerr.no_delete, delay, actions);
    }

    /// §6.11: lists those destinations that have precursors, and tells the precursors. `delay` is for a
    /// broadcast; a unicast leaves at once.
    fn report(
        &mut self,
        now: Time,
        dsts: &[NodeId],
        no_delete: bool,
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        let mut unreachable = SmallVec::new();
        let mut to = Nodes::new();
        for &dst in dsts {
            let Some(route) = self.table.get(now, dst) else { continue };
            if self.params.precursors && route.precursors.is_empty() {
                continue;
            }
            unreachable.push(Unreachable { dst, seqno: route.seqno.unwrap_or(0) });
            for precursor in &route.precursors {
                if !to.contains(precursor) {
                    to.push(*precursor);
                }
            }
            if !no_delete {
                route.precursors.clear();
            }
        }
        if !self.params.precursors {
            to.clear();
        }
        if !unreachable.is_empty() {
            self.send_rerr(now, unreachable, &to, no_delete, delay, actions);
        }
    }

    /// §6.11: unicast to a single neighbour, broadcast otherwise; no more than RERR_RATELIMIT per second.
    fn send_rerr(
        &mut self,
        now: Time,
        unreachable: SmallVec<[Unreachable; 2]>,
        to: &[NodeId],
        no_delete: bool,
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.rerr || self.rerr_rate.free_at(now, self.params.rerr_ratelimit) > now {
            return;
        }
        self.rerr_rate.count(now);
        let bytes = 4 + 8 * unreachable.len() as u32 + IP_HEADER_BYTES;
        let message = Message::Rerr(Rerr { no_delete, unreachable });
        if let &[next_hop] = to {
            let packet = control(now, self.node, next_hop, 1, bytes, message);
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
        } else {
            let packet = control(now, self.node, NodeId::BROADCAST, 1, bytes, message);
            self.broadcast(now, packet, delay, actions);
        }
    }
}
