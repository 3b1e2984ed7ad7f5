//! ZRP, the Zone Routing Protocol: every node knows the shortest ways within its zone, and asks for others
//! from border to border.
//!
//! Read first: docs/models/zrp.md, which says what was read; the drafts (draft-ietf-manet-zone-zrp-04,
//! -iarp-02, -ierp-02, -brp-02) were not.
//!
//! **Implemented.** Neighbours by beacons (NDP), their lists within the zone and shortest ways ([`iarp`]);
//! searches, replies along the way of the query, routes that packets carry, route errors and repair through
//! the zone ([`ierp`] and here); queries from border to border, which end where others have been ([`brp`]);
//! link failures by the MAC; the packet buffer.
//!
//! **Not implemented.** Zones of different radius, route optimisation by nodes that overhear, other metrics
//! than hops, several interfaces.
//!
//! **Deviations**: numbered in docs/models/zrp.md.

mod brp;
mod iarp;
mod ierp;
mod messages;
mod params;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::brp::Brp;
use self::iarp::Zone;
use self::ierp::{Ierp, Step};
use self::messages::{Path, packet, path_of, put_path};
pub use self::params::ZrpParams;
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::{Action, Notice, Routing, relay};
use crate::wire::zrp::{Back, LinkState, Message, Query};
use crate::wire::{NodeId, Packet, Payload};

/// One node's ZRP. `stream` is used for jitter.
pub fn new(node: NodeId, params: &Arc<ZrpParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Zrp::new(node, Arc::clone(params), stream))
}

/// The state of one node.
struct Zrp {
    node: NodeId,
    params: Arc<ZrpParams>,
    stream: Stream,
    zone: Zone,
    ierp: Ierp,
    brp: Brp,
    /// Queries that wait for their jitter, and whether IERP is to see them.
    queries: Vec<(Time, Query, bool)>,
    beacon_at: Time,
    link_state_at: Time,
    buffer: PacketBuffer,
    /// Destinations whose routes have failed, which was told.
    failed: BTreeSet<NodeId>,
}

impl Zrp {
    fn new(node: NodeId, params: Arc<ZrpParams>, stream: Stream) -> Zrp {
        Zrp {
            node,
            stream,
            zone: Zone::new(node, &params),
            ierp: Ierp::default(),
            brp: Brp::default(),
            queries: Vec::new(),
            beacon_at: Time::NEVER,
            link_state_at: Time::NEVER,
            buffer: PacketBuffer::new(params.buffer_packets),
            failed: BTreeSet::new(),
            params,
        }
    }
}

impl Routing for Zrp {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.beacon_at = now + self.stream.span_below(self.params.beacon_interval());
        self.link_state_at = now + self.stream.span_below(self.params.link_state_interval());
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            self.route(now, packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, mut packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Zrp(message) = &packet.payload {
            let message = (**message).clone();
            actions.push(Action::Consume(packet));
            self.hear(now, from, actions);
            self.receive(now, message, from, actions);
            return;
        }
        if packet.is_for(self.node) {
            packet.take_header();
        }
        let Some(packet) = relay::accept(self.node, packet, actions) else { return };
        match path_of(&packet) {
            Some(path) => self.follow(now, packet, path, actions),
            None => self.route(now, packet, actions),
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.params.link_layer_feedback {
            self.lose(now, next_hop, actions);
            actions.push(Action::FlushQueue(next_hop));
        }
        self.handle_flushed(now, packet, next_hop, actions);
    }

    /// Packets whose link is gone seek another way.
    fn handle_flushed(&mut self, now: Time, packet: Packet, _next_hop: NodeId, actions: &mut Vec<Action>) {
        if !packet.is_data() || !self.params.link_layer_feedback {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        } else if let Some(path) = path_of(&packet) {
            self.follow(now, packet, path, actions);
        } else {
            self.route(now, packet, actions);
        }
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        for node in self.zone.expire(now) {
            self.link_is_gone(now, node, actions);
        }
        self.ierp.forget(now);
        self.brp.forget(now);
        for (dst, step) in self.ierp.continue_searches(now, &self.params) {
            match step {
                Step::Asks(id) => self.ask(now, dst, id, actions),
                Step::GivesUp => self.buffer.drop_all(now, dst, DropReason::NoRoute, actions),
            }
        }
        self.buffer.expire(now, actions);
        let due = self.queries.iter().filter(|(at, ..)| *at <= now).cloned().collect::<Vec<_>>();
        self.queries.retain(|(at, ..)| *at > now);
        for (_, query, is_new) in due {
            self.process(now, &query, is_new, actions);
        }
        if self.beacon_at <= now {
            self.beacon(now, actions);
        }
        if self.link_state_at <= now {
            self.link_state_at = now + self.params.link_state_interval();
            let state = self.zone.link_state();
            self.broadcast(now, Message::LinkState(state), Span::ZERO, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let queries = self.queries.iter().map(|(at, ..)| *at);
        let tables = self.zone.next_expiry().min(self.ierp.next_expiry()).min(self.brp.next_expiry());
        let mine = self.beacon_at.min(self.link_state_at).min(self.buffer.next_expiry());
        queries.fold(tables.min(mine), Time::min)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn remembered(&self, _now: Time) -> Option<usize> {
        Some(self.zone.len() + self.ierp.len() + self.brp.len() + self.queries.len())
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        let of_route = || self.ierp.route(now, dst).and_then(|path| path.get(1).copied());
        self.zone.reach(dst).map(|reach| reach.next_hop).or_else(of_route)
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        let of_route = || self.ierp.route(now, dst).map(|path| path.len() as u32 - 1);
        self.zone.reach(dst).map(|reach| reach.hops).or_else(of_route)
    }

    fn knows_route_hops(&self) -> bool {
        true
    }
}

/// Data.
impl Zrp {
    /// A packet goes through the zone, or along a route that it carries, or waits for one.
    fn route(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if let Some(reach) = self.zone.reach(dst) {
            packet.take_header();
            actions.push(Action::Send { packet, next_hop: reach.next_hop, delay: Span::ZERO });
        } else if let Some(path) = self.ierp.route(now, dst).cloned() {
            self.ierp.prolong(now, Span::from_secs(self.params.route_life_s), dst);
            put_path(&mut packet, &path);
            self.follow(now, packet, path, actions);
        } else {
            packet.take_header();
            self.buffer.push(now, packet, Span::from_secs(self.params.buffer_timeout_s), actions);
            if let Some(id) = self.ierp.search(now, dst, &self.params) {
                self.ask(now, dst, id, actions);
            }
        }
    }

    /// A packet goes to the next node of its route, or around a link that is gone.
    fn follow(&mut self, now: Time, mut packet: Packet, path: Path, actions: &mut Vec<Action>) {
        let next = place_of(&path, self.node).and_then(|place| path.get(place + 1).copied());
        if let Some(next_hop) = next.filter(|next| self.zone.is_neighbour(*next)) {
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
        } else if let Some(repaired) = self.repaired(&path) {
            let next_hop = repaired[place_of(&repaired, self.node).unwrap_or_default() + 1];
            put_path(&mut packet, &repaired);
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
        } else if packet.src == self.node || path.first() == Some(&self.node) {
            next.iter().for_each(|next| self.break_routes(self.node, *next, false, actions));
            self.route(now, packet, actions);
        } else {
            if let Some(next) = next {
                let content = [self.node, next];
                self.send_back(now, Back { content, path, to: self.node }, Message::Error, actions);
            }
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        }
    }

    /// The route with a way through the zone in place of the broken link: to the farthest of its later nodes
    /// that is in the zone, over none that the packet has seen.
    fn repaired(&self, path: &Path) -> Option<Path> {
        let place = place_of(path, self.node).filter(|_| self.params.repair)?;
        let (before, after) = (&path[..place], &path[place + 1..]);
        let (last, way) = (0..after.len())
            .rev()
            .find_map(|last| Some((last, self.zone.way(after[last]).filter(|way| is_new(way, before))?)))?;
        let rest = after[last + 1..].iter().filter(|node| !way.contains(node));
        Some(before.iter().chain(&way).chain(rest).copied().collect())
    }

    fn break_routes(&mut self, from: NodeId, to: NodeId, told: bool, actions: &mut Vec<Action>) {
        for dst in self.ierp.break_link([from, to]) {
            self.failed.insert(dst);
            actions.push(Action::Notify(Notice::RouteFailed { dst, told }));
        }
    }

    /// Packets that wait for a destination that can be reached now go there.
    fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        if self.failed.remove(&dst) {
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        self.ierp.found(dst);
        for packet in self.buffer.pop_all(now, dst, actions) {
            self.route(now, packet, actions);
        }
    }

    /// Packets that wait for nodes of the zone.
    fn release_zone(&mut self, now: Time, actions: &mut Vec<Action>) {
        let waiting: BTreeSet<NodeId> = self.buffer.iter().map(|packet| packet.dst).collect();
        for dst in waiting.into_iter().filter(|dst| self.zone.reach(*dst).is_some()).collect::<Vec<_>>() {
            self.release(now, dst, actions);
        }
    }
}

/// Neighbours and their lists: NDP and IARP.
impl Zrp {
    fn beacon(&mut self, now: Time, actions: &mut Vec<Action>) {
        let jitter = self.params.beacon_jitter;
        let factor = 1.0 + self.stream.uniform(-jitter, jitter);
        self.beacon_at = now + self.params.beacon_interval().scaled(factor);
        self.broadcast(now, Message::Beacon, Span::ZERO, actions);
    }

    /// Any message shows that its sender is a neighbour.
    fn hear(&mut self, now: Time, from: NodeId, actions: &mut Vec<Action>) {
        if self.zone.hear(from, now + self.params.patience()) {
            self.tell_links(now);
            self.release_zone(now, actions);
        }
    }

    fn lose(&mut self, now: Time, node: NodeId, actions: &mut Vec<Action>) {
        if self.zone.lose(node) {
            self.link_is_gone(now, node, actions);
        }
    }

    /// Routes may be repaired through the zone when they are used; the zone is told.
    fn link_is_gone(&mut self, now: Time, node: NodeId, actions: &mut Vec<Action>) {
        if !self.params.repair {
            self.break_routes(self.node, node, false, actions);
        }
        self.tell_links(now);
    }

    /// The list of neighbours has changed, and is told after a jitter.
    fn tell_links(&mut self, now: Time) {
        let jitter = self.stream.span_below(self.params.jitter());
        self.link_state_at = self.link_state_at.min(now + jitter);
    }

    fn receive_link_state(&mut self, now: Time, state: LinkState, actions: &mut Vec<Action>) {
        let until = now + Span::from_secs(self.params.link_state_life_s);
        if !self.zone.learn(&state, until) {
            return;
        }
        self.release_zone(now, actions);
        if state.ttl > 1 {
            let jitter = self.stream.span_below(self.params.jitter());
            self.broadcast(
                now,
                Message::LinkState(LinkState { ttl: state.ttl - 1, ..state }),
                jitter,
                actions,
            );
        }
    }
}

/// Queries, replies and errors: IERP and BRP.
impl Zrp {
    fn ask(&mut self, now: Time, dst: NodeId, id: u32, actions: &mut Vec<Action>) {
        let query = Query { id, dst, path: [self.node].into() };
        self.brp.originate(query.name(), now + self.params.query_life());
        self.bordercast(now, query, actions);
    }

    fn bordercast(&mut self, now: Time, query: Query, actions: &mut Vec<Action>) {
        if let Some(targets) = self.brp.bordercast(&self.zone, &query) {
            self.broadcast(now, Message::Query { query, targets }, Span::ZERO, actions);
        }
    }

    fn receive(&mut self, now: Time, message: Message, from: NodeId, actions: &mut Vec<Action>) {
        match message {
            Message::Beacon => {}
            Message::LinkState(state) => self.receive_link_state(now, state, actions),
            Message::Query { query, targets } => self.receive_query(now, query, &targets, from),
            Message::Reply(reply) => self.receive_reply(now, reply, actions),
            Message::Error(error) => self.receive_error(now, error, actions),
        }
    }

    /// A query waits for its jitter; that of a node that is asked to bordercast it only later, again.
    fn receive_query(&mut self, now: Time, query: Query, targets: &[NodeId], from: NodeId) {
        let until = now + self.params.query_life();
        let is_new = self.brp.receive(query.name(), from, targets.contains(&self.node), until);
        let waits = self.queries.iter().any(|(_, other, _)| other.name() == query.name());
        if is_new || self.brp.is_due(query.name()) && !waits {
            let at = now + self.stream.span_below(self.params.jitter());
            self.queries.push((at, query, is_new));
        }
    }

    /// A query whose destination is in the zone is answered; any other goes on if BRP says so.
    fn process(&mut self, now: Time, query: &Query, is_new: bool, actions: &mut Vec<Action>) {
        if query.path.contains(&self.node) {
            return;
        }
        if self.zone.has(query.dst) {
            let way = self.zone.way(query.dst).filter(|way| is_new && self::is_new(way, &query.path));
            if let Some(way) = way {
                let path: Path = query.path.iter().copied().chain(way).collect();
                self.send_back(now, Back { content: query.id, path, to: self.node }, Message::Reply, actions);
            }
            return;
        }
        let path = query.path.iter().copied().chain([self.node]).collect();
        let Query { id, dst, .. } = *query;
        self.bordercast(now, Query { id, dst, path }, actions);
    }

    /// Sends to the node before this one on the route, or to the nearest before that which is in the zone.
    fn send_back<T>(
        &mut self,
        now: Time,
        back: Back<T>,
        wrap: impl FnOnce(Back<T>) -> Message,
        actions: &mut Vec<Action>,
    ) {
        let Some(place) = place_of(&back.path, back.to) else { return };
        let to = if back.to == self.node {
            back.path[..place].iter().rev().copied().find(|node| self.zone.reach(*node).is_some())
        } else {
            Some(back.to)
        };
        let reach = to.and_then(|to| Some((to, self.zone.reach(to)?)));
        if let Some((to, reach)) = reach {
            let packet = packet(wrap(Back { to, ..back }), now, self.node, reach.next_hop);
            actions.push(Action::Send { packet, next_hop: reach.next_hop, delay: Span::ZERO });
        }
    }

    fn receive_reply(&mut self, now: Time, reply: Back<u32>, actions: &mut Vec<Action>) {
        let (Some(&source), Some(&dst)) = (reply.path.first(), reply.path.last()) else { return };
        if source == self.node {
            self.ierp.learn(now, Span::from_secs(self.params.route_life_s), &reply.path);
            self.release(now, dst, actions);
            return;
        }
        let until = now + self.params.query_life();
        if reply.to != self.node || self.ierp.may_reply((source, reply.content), self.params.replies, until) {
            self.send_back(now, reply, Message::Reply, actions);
        }
    }

    fn receive_error(&mut self, now: Time, error: Back<[NodeId; 2]>, actions: &mut Vec<Action>) {
        let [from, to] = error.content;
        self.break_routes(from, to, true, actions);
        if error.path.first() != Some(&self.node) {
            self.send_back(now, error, Message::Error, actions);
        }
    }

    fn broadcast(&self, now: Time, message: Message, delay: Span, actions: &mut Vec<Action>) {
        let packet = packet(message, now, self.node, NodeId::BROADCAST);
        actions.push(Action::Broadcast { packet, delay });
    }
}

fn place_of(path: &[NodeId], node: NodeId) -> Option<usize> {
    path.iter().position(|other| *other == node)
}

/// Does a way lead over none of these nodes?
fn is_new(way: &[NodeId], nodes: &[NodeId]) -> bool {
    way.iter().all(|node| !nodes.contains(node))
}
