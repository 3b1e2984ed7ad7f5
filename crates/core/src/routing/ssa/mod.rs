//! SSA, Signal Stability-based Adaptive routing: routes on demand, over links that have been strong for a
//! while.
//!
//! Read first: Dube, Rais, Wang and Tripathi, *Signal Stability-based Adaptive Routing (SSA) for Ad Hoc
//! Mobile Networks*, IEEE Personal Communications 4(1), 1997. Its text was not at hand: docs/models/ssa.md
//! says what is from memory, and what is a choice of this model.
//!
//! **Implemented.** The dynamic routing protocol (DRP): beacons, the signal stability table with smoothed
//! strengths and clicks. The static routing protocol (SRP): searches over strong links alone, a second search
//! over others, the answer to the first that arrives, errors to the source, which erases the route and
//! searches anew.
//!
//! **Not implemented.** Routes to all nodes of a reply's list, which is an option; extended SSA with answers
//! by nodes on the way.
//!
//! **Deviations**: numbered in docs/models/ssa.md.

mod params;
mod routes;
mod signals;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::params::SsaParams;
use self::routes::{Flows, Routes};
use self::signals::{Rule, Signals};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::radio::RadioParams;
use crate::routing::buffer::PacketBuffer;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, Notice, RouteNow, Routing, relay};
use crate::wire::ssa::{Kind, Message, Preference};
use crate::wire::{NodeId, Packet, Payload};

/// How often what has ended is looked for.
const SWEEP: Span = Span::from_millis(5000);

/// One node's SSA. `stream` is used for jitter only.
pub fn new(
    node: NodeId,
    params: &Arc<SsaParams>,
    radio: &Arc<RadioParams>,
    stream: Stream,
) -> Box<dyn Routing> {
    Box::new(Ssa::new(node, Arc::clone(params), radio, stream))
}

/// Which search for a destination waits for its answer, and until when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asking {
    /// The first, over strong links alone.
    StrongOnly { until: Time },
    /// The second.
    Again { until: Time },
}

impl Asking {
    fn until(self) -> Time {
        match self {
            Asking::StrongOnly { until } | Asking::Again { until } => until,
        }
    }
}

/// The state of one node.
struct Ssa {
    node: NodeId,
    params: Arc<SsaParams>,
    stream: Stream,
    signals: Signals,
    /// How strong the next packet from this neighbour was received, in W.
    rx_power: Option<(NodeId, f64)>,
    routes: Routes,
    flows: Flows,
    searches_made: u32,
    last_reply: u32,
    seen: SeenRequests,
    asking: BTreeMap<NodeId, Asking>,
    /// Searches that came over weak links only, by source and number, and until when they wait for better
    /// copies.
    held: BTreeMap<(NodeId, u32), (Time, Message)>,
    buffer: PacketBuffer,
    beacon_at: Time,
    /// When what has ended is looked for; never if nothing is known.
    sweep_at: Time,
}

impl Ssa {
    fn new(node: NodeId, params: Arc<SsaParams>, radio: &RadioParams, stream: Stream) -> Ssa {
        let rule = Rule {
            interval: params.beacon_interval(),
            smoothing: params.smoothing,
            strong_dbw: params.strong_dbw(radio),
            strong_clicks: params.strong_clicks,
            missed_beacons: params.missed_beacons,
        };
        Ssa {
            node,
            stream,
            signals: Signals::new(rule),
            rx_power: None,
            routes: Routes::default(),
            flows: Flows::default(),
            searches_made: 0,
            last_reply: 0,
            seen: SeenRequests::default(),
            asking: BTreeMap::new(),
            held: BTreeMap::new(),
            buffer: PacketBuffer::new(params.buffer_packets),
            beacon_at: Time::NEVER,
            sweep_at: Time::NEVER,
            params,
        }
    }
}

impl Routing for Ssa {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.beacon_at = now + self.stream.span_below(self.params.beacon_interval());
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else if self.routes.valid(now, dst).is_some() {
            self.send_data(now, packet, self.node, actions);
        } else {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            self.search(now, dst, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        let power_w = self.rx_power.take().filter(|(of, _)| *of == from).map(|(_, power_w)| power_w);
        if let Payload::Ssa(message) = &packet.payload {
            let message = message.clone();
            actions.push(Action::Consume(packet));
            match message.kind {
                Kind::Beacon => self.signals.hear(now, from, power_w),
                Kind::Search => self.receive_search(now, message, from, actions),
                Kind::Reply => self.receive_reply(now, message, from, actions),
                Kind::Error => self.receive_error(now, message, from, actions),
                Kind::Erase => self.receive_erase(now, &message, actions),
            }
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(now, packet, from, actions);
        }
    }

    fn suppress_duplicate(
        &mut self,
        now: Time,
        packet: &Packet,
        _from: NodeId,
        _actions: &mut Vec<Action>,
    ) -> bool {
        match &packet.payload {
            Payload::Ssa(message) => message.kind == Kind::Search && self.knows(now, message),
            _ => false,
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.params.link_layer_feedback && packet.is_data() {
            self.break_link(now, next_hop, actions);
            actions.push(Action::FlushQueue(next_hop));
        }
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    fn wants_rx_power(&self) -> bool {
        true
    }

    fn handle_rx_power(&mut self, _now: Time, from: NodeId, power_w: f64) {
        self.rx_power = Some((from, power_w));
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due = self.asking.iter().filter(|(_, asking)| asking.until() <= now);
        for dst in due.map(|(dst, _)| *dst).collect::<Vec<_>>() {
            self.continue_search(now, dst, actions);
        }
        let waited = self.held.iter().filter(|(_, (until, _))| *until <= now);
        for name in waited.map(|(name, _)| *name).collect::<Vec<_>>() {
            if let Some((_, message)) = self.held.remove(&name) {
                self.accept_search(now, &message, actions);
            }
        }
        self.buffer.expire(now, actions);
        for neighbour in self.signals.count_misses(now) {
            self.break_link(now, neighbour, actions);
        }
        if self.beacon_at <= now {
            self.send_beacon(now, actions);
        }
        if self.sweep_at <= now {
            self.routes.forget(now, self.params.route_life());
            self.flows.forget(now);
            self.seen.forget(now);
            let known = self.routes.len() + self.flows.len() + self.seen.len(now);
            self.sweep_at = if known > 0 { now + SWEEP } else { Time::NEVER };
        }
    }

    fn next_timeout(&self) -> Time {
        let asking = self.asking.values().map(|asking| asking.until());
        let held = self.held.values().map(|(until, _)| *until);
        let mine = self.beacon_at.min(self.sweep_at).min(self.buffer.next_expiry());
        asking.chain(held).fold(mine.min(self.signals.next_miss()), Time::min)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn remembered(&self, now: Time) -> Option<usize> {
        let tables = self.routes.len() + self.flows.len() + self.seen.len(now) + self.signals.len();
        Some(tables + self.asking.len() + self.held.len())
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.routes.valid(now, dst).map(|route| route.next_hop)
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        self.routes.valid(now, dst).map(|route| route.hops)
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let route = self.routes.valid(now, dst)?;
        Some(RouteNow { next_hop: route.next_hop, hops: Some(route.hops), until: route.until })
    }

    fn take_route_changes(&mut self) -> Changes {
        self.routes.take_changes()
    }
}

/// Data.
impl Ssa {
    /// Sends a packet that came from a neighbour, or from here, along its route.
    fn send_data(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        let Some(next_hop) = self.next_hop(now, packet.dst) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        let life = self.params.route_life();
        self.routes.prolong(now, life, packet.dst);
        self.flows.note((packet.src, packet.dst), from, now + life);
        self.keep_clean(now);
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    /// A packet that cannot go on is answered by an error.
    fn forward(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if self.next_hop(now, packet.dst).is_none() {
            let ends = (packet.src, packet.dst);
            self.send_error(now, ends, self.routes.number(packet.dst), &[self.node], from, actions);
        }
        self.send_data(now, packet, from, actions);
    }

    /// What waited for the route goes.
    fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        self.asking.remove(&dst);
        for packet in self.buffer.pop_all(now, dst, actions) {
            self.send_data(now, packet, self.node, actions);
        }
    }
}

/// Searches.
impl Ssa {
    /// A route-search over strong links alone begins, unless one for this destination goes on.
    fn search(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        if !self.asking.contains_key(&dst) {
            let until = now + self.params.search_wait();
            self.asking.insert(dst, Asking::StrongOnly { until });
            self.ask(now, dst, Preference::StrongOnly, actions);
        }
    }

    /// No answer came in time: the second search, or the end.
    fn continue_search(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        if let Some(Asking::StrongOnly { .. }) = self.asking.remove(&dst) {
            let until = now + self.params.search_wait();
            self.asking.insert(dst, Asking::Again { until });
            self.ask(now, dst, self.params.second_preference(), actions);
        } else {
            self.buffer.drop_all(now, dst, DropReason::NoRoute, actions);
        }
    }

    fn ask(&mut self, now: Time, dst: NodeId, preference: Preference, actions: &mut Vec<Action>) {
        self.searches_made += 1;
        let message = Message {
            kind: Kind::Search,
            preference,
            ttl: self.params.search_ttl as u8,
            source: self.node,
            destination: dst,
            number: self.searches_made,
            nodes: [self.node].into(),
        };
        self.broadcast(now, message, actions);
    }

    /// Is the search this node's own, or one that it has passed on or answered?
    fn knows(&self, now: Time, message: &Message) -> bool {
        message.source == self.node || self.seen.holds(now, (message.source, message.number))
    }

    /// What comes over a weak link counts as not received, unless the source wants it.
    fn receive_search(&mut self, now: Time, message: Message, from: NodeId, actions: &mut Vec<Action>) {
        let is_named = message.nodes.contains(&self.node);
        if self.knows(now, &message) || is_named || message.nodes.last() != Some(&from) {
            return;
        }
        if self.signals.is_strong(from) || message.preference == Preference::Any {
            self.accept_search(now, &message, actions);
        } else if message.preference == Preference::StrongPreferred {
            let until = now + self.params.weak_wait();
            self.held.entry((message.source, message.number)).or_insert((until, message));
        }
    }

    /// The first search that arrives is answered by its destination, and passed on by others.
    fn accept_search(&mut self, now: Time, message: &Message, actions: &mut Vec<Action>) {
        let name = (message.source, message.number);
        self.held.remove(&name);
        self.seen.add(now, name, now + self.params.search_memory());
        self.keep_clean(now);
        let nodes: Arc<[NodeId]> = message.nodes.iter().copied().chain([self.node]).collect();
        if message.destination == self.node {
            self.answer(now, Message { nodes, ..message.clone() }, actions);
        } else if message.ttl > 1 {
            self.broadcast(now, Message { ttl: message.ttl - 1, nodes, ..message.clone() }, actions);
        }
    }

    /// A route-reply goes back along the list. Its number is the node's clock, so that it is newer than all
    /// before it even if the node has started anew.
    fn answer(&mut self, now: Time, search: Message, actions: &mut Vec<Action>) {
        let clock_ms = (now.0 / 1_000_000) as u32;
        self.last_reply = clock_ms.max(self.last_reply + 1);
        let reply = Message { kind: Kind::Reply, number: self.last_reply, ..search };
        self.send_back(now, reply, actions);
    }

    /// To the node before this one in the list.
    fn send_back(&mut self, now: Time, reply: Message, actions: &mut Vec<Action>) {
        let place = reply.nodes.iter().position(|node| *node == self.node);
        if let Some(before) = place.and_then(|place| reply.nodes.get(place.checked_sub(1)?)) {
            self.send(now, *before, reply, actions);
        }
    }

    /// The nodes on the way install the route to the destination.
    fn receive_reply(&mut self, now: Time, reply: Message, from: NodeId, actions: &mut Vec<Action>) {
        let dst = reply.destination;
        let Some(place) = reply.nodes.iter().position(|node| *node == self.node) else { return };
        if reply.nodes.get(place + 1) != Some(&from) || dst == self.node || dst.is_broadcast() {
            return;
        }
        let hops = (reply.nodes.len() - 1 - place) as u32;
        let until = now + self.params.route_life();
        if self.routes.offer(until, dst, (from, hops), reply.number) {
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        self.keep_clean(now);
        // A newer route that has broken meanwhile is not replaced; one that is valid serves as well.
        if self.routes.valid(now, dst).is_some() {
            self.release(now, dst, actions);
            self.send_back(now, reply, actions);
        }
    }
}

/// Broken links and routes.
impl Ssa {
    /// The sources of the flows over the link are told.
    fn break_link(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        self.signals.remove(neighbour);
        for dst in self.routes.over(now, neighbour) {
            let Some(route) = self.routes.break_route(now, dst, 0) else { continue };
            actions.push(Action::Notify(Notice::RouteFailed { dst, told: false }));
            for (source, from) in self.flows.to(now, dst) {
                if from == self.node {
                    self.search(now, dst, actions);
                } else {
                    let link = [self.node, neighbour];
                    self.send_error(now, (source, dst), route.number, &link, from, actions);
                }
            }
        }
    }

    /// Goes to the neighbour from which the flow's packets come.
    fn send_error(
        &mut self,
        now: Time,
        (source, destination): (NodeId, NodeId),
        number: u32,
        link: &[NodeId],
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let nodes = link.into();
        let (kind, preference, ttl) = (Kind::Error, Preference::Any, 1);
        let error = Message { kind, preference, ttl, source, destination, number, nodes };
        self.send(now, from, error, actions);
    }

    /// Passed on to the source, which erases the route and searches anew.
    fn receive_error(&mut self, now: Time, error: Message, from: NodeId, actions: &mut Vec<Action>) {
        let dst = error.destination;
        let Some(before) = self.flows.from(now, (error.source, dst)) else { return };
        if self.next_hop(now, dst) != Some(from) {
            return;
        }
        if before != self.node {
            self.send(now, before, error, actions);
        } else if let Some(route) = self.routes.break_route(now, dst, error.number) {
            actions.push(Action::Notify(Notice::RouteFailed { dst, told: true }));
            let erase = Message { kind: Kind::Erase, number: route.number, nodes: [].into(), ..error };
            self.send(now, route.next_hop, erase, actions);
            self.search(now, dst, actions);
        }
    }

    /// Each node of the old route gives it up, if it has not got a newer one.
    fn receive_erase(&mut self, now: Time, erase: &Message, actions: &mut Vec<Action>) {
        let dst = erase.destination;
        let Some(route) = self.routes.break_route(now, dst, erase.number) else { return };
        actions.push(Action::Notify(Notice::RouteFailed { dst, told: true }));
        self.send(now, route.next_hop, erase.clone(), actions);
    }
}

/// What goes out.
impl Ssa {
    fn send_beacon(&mut self, now: Time, actions: &mut Vec<Action>) {
        let (interval, jitter) = (self.params.beacon_interval(), self.params.beacon_jitter);
        self.beacon_at = now + interval.scaled(self.stream.uniform(1.0 - jitter, 1.0 + jitter));
        let message = Message {
            kind: Kind::Beacon,
            preference: Preference::Any,
            ttl: 1,
            source: self.node,
            destination: NodeId::BROADCAST,
            number: 0,
            nodes: [].into(),
        };
        let packet = self.packet(now, NodeId::BROADCAST, message);
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

    fn broadcast(&mut self, now: Time, message: Message, actions: &mut Vec<Action>) {
        let packet = self.packet(now, NodeId::BROADCAST, message);
        let delay = self.stream.span_below(self.params.broadcast_jitter());
        actions.push(Action::Broadcast { packet, delay });
    }

    fn send(&mut self, now: Time, next_hop: NodeId, message: Message, actions: &mut Vec<Action>) {
        let packet = self.packet(now, next_hop, message);
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    fn packet(&self, now: Time, dst: NodeId, message: Message) -> Packet {
        let bytes = self.params.bytes(&message);
        Packet::control(now, self.node, dst, 1, bytes, Payload::Ssa(message))
    }

    /// Something is known, and will end.
    fn keep_clean(&mut self, now: Time) {
        self.sweep_at = self.sweep_at.min(now + SWEEP);
    }
}
