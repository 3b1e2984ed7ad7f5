//! ABR, Associativity-Based Routing: routes on demand, over neighbours that have been heard for long.
//!
//! Read first: Toh, *Associativity-Based Routing for Ad-Hoc Mobile Networks*, Wireless Personal
//! Communications 4(2), 1997. Neither its text nor that of draft-ietf-manet-longlived-adhoc-routing was at
//! hand: docs/models/abr.md says what is from memory, and what is a choice of this model.
//!
//! **Implemented.** Beacons and associativity ticks; broadcast queries, the destination's choice and its
//! reply; reconstruction by localised queries and route notifications, back towards the source; route delete.
//!
//! **Not implemented.** Entries of all neighbours in a query (the receiving end tells of a link), passive
//! routes, loads other than the number of routes.
//!
//! **Deviations**: numbered in docs/models/abr.md.

mod choice;
mod params;
mod routes;
#[cfg(test)]
mod tests;
mod ticks;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::choice::Way;
pub use self::params::AbrParams;
use self::params::Ends;
use self::routes::{Route, Routes};
use self::ticks::Ticks;
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, ConnectionEvent, Notice, RouteNow, Routing, relay};
use crate::wire::abr::{Hop, Kind, Message};
use crate::wire::{NodeId, Packet, Payload};

/// How often what has ended is looked for.
const SWEEP: Span = Span::from_millis(5000);

/// One node's ABR. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &Arc<AbrParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Abr::new(node, Arc::clone(params), stream))
}

/// What a node does that has no route for packets which it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seeking {
    /// The source has sent so many broadcast queries, and waits until then.
    Bq { sent: u32, until: Time },
    /// A node on the way has sent a localised query.
    Lq { until: Time },
}

impl Seeking {
    fn until(self) -> Time {
        match self {
            Seeking::Bq { until, .. } | Seeking::Lq { until } => until,
        }
    }
}

/// The best way that copies of a query have found; at the destination, until it chooses.
struct Choosing {
    at: Time,
    query: Message,
    best: Way,
}

/// The state of one node.
struct Abr {
    node: NodeId,
    params: Arc<AbrParams>,
    stream: Stream,
    ticks: Ticks,
    routes: Routes,
    /// Queries and route deletes of this node.
    made: u32,
    last_reply: u32,
    /// Queries and route deletes, by their makers and numbers.
    seen: SeenRequests,
    seeking: BTreeMap<Ends, Seeking>,
    choosing: BTreeMap<(NodeId, u32), Choosing>,
    /// This node's flows to each destination.
    open: BTreeMap<NodeId, u32>,
    buffer: PacketBuffer,
    beacon_at: Time,
    /// When what has ended is looked for; never if nothing is known.
    sweep_at: Time,
}

impl Abr {
    fn new(node: NodeId, params: Arc<AbrParams>, stream: Stream) -> Abr {
        Abr {
            node,
            stream,
            ticks: Ticks::default(),
            routes: Routes::default(),
            made: 0,
            last_reply: 0,
            seen: SeenRequests::default(),
            seeking: BTreeMap::new(),
            choosing: BTreeMap::new(),
            open: BTreeMap::new(),
            buffer: PacketBuffer::new(params.buffer_packets),
            beacon_at: Time::NEVER,
            sweep_at: Time::NEVER,
            params,
        }
    }
}

impl Routing for Abr {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.beacon_at = now + self.stream.span_below(self.params.beacon_interval());
    }

    fn handle_connection(&mut self, now: Time, event: ConnectionEvent, actions: &mut Vec<Action>) {
        match event {
            ConnectionEvent::Opened { dst, .. } => *self.open.entry(dst).or_default() += 1,
            ConnectionEvent::Closed { dst, .. } => {
                let left = self.open.remove(&dst).unwrap_or_default().saturating_sub(1);
                if left > 0 {
                    self.open.insert(dst, left);
                } else if self.params.route_delete {
                    self.delete_route(now, dst, actions);
                }
            }
            ConnectionEvent::RetransmissionTimeout { .. } => {}
        }
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let ends = (packet.src, packet.dst);
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else if self.routes.valid(now, ends).is_some() {
            self.send_data(now, packet, actions);
        } else {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            if self.seeking.contains_key(&ends) {
                return;
            }
            if ends.0 == self.node {
                self.send_bq(now, ends, 0, actions);
            } else {
                // Kept here for another node: a way is sought as if the route had broken here.
                self.send_lq(now, ends, self.params.query_ttl as u8, actions);
            }
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Abr(message) = &packet.payload {
            let message = message.clone();
            actions.push(Action::Consume(packet));
            self.receive(now, message, from, actions);
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
            // The destination compares copies until it chooses.
            Payload::Abr(message) if matches!(message.kind, Kind::Bq | Kind::Lq) => {
                message.destination != self.node && self.knows(now, message)
            }
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

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due = self.seeking.iter().filter(|(_, seeking)| seeking.until() <= now);
        for ends in due.map(|(ends, _)| *ends).collect::<Vec<_>>() {
            self.continue_seeking(now, ends, actions);
        }
        let due = self.choosing.iter().filter(|(_, choosing)| choosing.at <= now);
        for name in due.map(|(name, _)| *name).collect::<Vec<_>>() {
            if let Some(choosing) = self.choosing.remove(&name) {
                self.answer(now, choosing, actions);
            }
        }
        self.buffer.expire(now, actions);
        for neighbour in self.ticks.lost(now) {
            self.break_link(now, neighbour, actions);
        }
        if self.beacon_at <= now {
            self.send_beacon(now, actions);
        }
        if self.sweep_at <= now {
            self.routes.forget(now, self.params.route_life());
            self.seen.forget(now);
            let known = self.routes.len() + self.seen.len(now);
            self.sweep_at = if known > 0 { now + SWEEP } else { Time::NEVER };
        }
    }

    fn next_timeout(&self) -> Time {
        let seeking = self.seeking.values().map(|seeking| seeking.until());
        let choosing = self.choosing.values().map(|choosing| choosing.at);
        let mine = self.beacon_at.min(self.sweep_at).min(self.buffer.next_expiry());
        seeking.chain(choosing).fold(mine.min(self.ticks.next_loss()), Time::min)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn remembered(&self, now: Time) -> Option<usize> {
        let tables = self.routes.len() + self.seen.len(now) + self.ticks.len();
        Some(tables + self.seeking.len() + self.choosing.len())
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.routes.valid(now, (self.node, dst)).map(|route| route.next_hop)
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        self.routes.valid(now, (self.node, dst)).map(|route| route.hops)
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let route = self.routes.valid(now, (self.node, dst))?;
        Some(RouteNow { next_hop: route.next_hop, hops: Some(route.hops), until: route.until })
    }

    fn take_route_changes(&mut self) -> Changes {
        self.routes.take_changes()
    }
}

/// Data.
impl Abr {
    fn send_data(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let ends = (packet.src, packet.dst);
        let Some(next_hop) = self.routes.valid(now, ends).map(|route| route.next_hop) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        self.routes.prolong(now, self.params.route_life(), ends);
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    /// Packets wait while the route is repaired here; where there is none, the source is told.
    fn forward(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        let ends = (packet.src, packet.dst);
        if self.seeking.contains_key(&ends) {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            return;
        }
        if self.routes.valid(now, ends).is_none() {
            let number = self.routes.known(ends).map_or(0, |route| route.number);
            self.notify(now, Kind::RnToSource, ends, number, from, actions);
        }
        self.send_data(now, packet, actions);
    }

    /// The packets that wait for this route.
    fn take_waiting(&mut self, now: Time, ends: Ends, actions: &mut Vec<Action>) -> Vec<Packet> {
        let all = self.buffer.pop_all(now, ends.1, actions);
        let (mine, others): (Vec<Packet>, Vec<Packet>) =
            all.into_iter().partition(|packet| packet.src == ends.0);
        for packet in others {
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
        }
        mine
    }

    fn drop_waiting(&mut self, now: Time, ends: Ends, actions: &mut Vec<Action>) {
        let waiting = self.take_waiting(now, ends, actions);
        actions.extend(waiting.into_iter().map(|packet| Action::Drop(packet, DropReason::NoRoute)));
    }
}

/// Queries.
impl Abr {
    /// Broadcast query: floods the network.
    fn send_bq(&mut self, now: Time, ends: Ends, sent: u32, actions: &mut Vec<Action>) {
        let until = now + self.params.query_wait();
        self.seeking.insert(ends, Seeking::Bq { sent: sent + 1, until });
        self.query(now, Kind::Bq, ends, (self.params.query_ttl as u8, 0), actions);
    }

    /// Localised query: goes no farther than the destination was.
    fn send_lq(&mut self, now: Time, ends: Ends, links: u8, actions: &mut Vec<Action>) {
        let until = now + self.params.local_wait(links);
        self.seeking.insert(ends, Seeking::Lq { until });
        let before = self.routes.known(ends).map_or(0, |route| route.before.min(255)) as u8;
        self.query(now, Kind::Lq, ends, (links, before), actions);
    }

    fn query(
        &mut self,
        now: Time,
        kind: Kind,
        ends: Ends,
        (ttl, before): (u8, u8),
        actions: &mut Vec<Action>,
    ) {
        self.made += 1;
        let me = Hop { node: self.node, ticks: 0, load: self.routes.load(now, self.node) };
        let query = Message { ttl, before, hops: [me].into(), ..message(kind, ends, self.made) };
        self.broadcast(now, query, actions);
    }

    /// No answer came in time.
    fn continue_seeking(&mut self, now: Time, ends: Ends, actions: &mut Vec<Action>) {
        match self.seeking.remove(&ends) {
            Some(Seeking::Bq { sent, .. }) if sent < self.params.query_tries => {
                self.send_bq(now, ends, sent, actions);
            }
            Some(Seeking::Lq { .. }) => {
                self.drop_waiting(now, ends, actions);
                // The next node towards the source tries.
                if let Some(&Route { number, upstream, .. }) = self.routes.known(ends)
                    && upstream != self.node
                {
                    self.notify(now, Kind::RnBack, ends, number, upstream, actions);
                }
            }
            _ => self.drop_waiting(now, ends, actions),
        }
    }

    /// Is the query this node's own, or one that it has passed on or begun to answer?
    fn knows(&self, now: Time, query: &Message) -> bool {
        query
            .hops
            .first()
            .is_none_or(|maker| maker.node == self.node || self.seen.holds(now, (maker.node, query.number)))
    }

    /// Is this node on the route that a localised query repairs, before the node that sent it? Links to the
    /// destination shrink along a route, so it has more of them than the query may cross.
    fn is_before_pivot(&self, now: Time, query: &Message) -> bool {
        let reach = u32::from(query.ttl) + query.hops.len() as u32 - 1;
        let route = self.routes.valid(now, (query.source, query.destination));
        query.kind == Kind::Lq && route.is_some_and(|route| route.hops > reach)
    }

    fn receive_query(&mut self, now: Time, query: Message, from: NodeId, actions: &mut Vec<Action>) {
        let (Some(maker), Some(last)) = (query.hops.first(), query.hops.last()) else { return };
        let name = (maker.node, query.number);
        let is_named = query.hops.iter().any(|hop| hop.node == self.node);
        if is_named || query.source == self.node || last.node != from || self.is_before_pivot(now, &query) {
            return;
        }
        let me = Hop { node: self.node, ticks: self.ticks.of(from), load: self.routes.load(now, self.node) };
        let hops: Arc<[Hop]> = query.hops.iter().copied().chain([me]).collect();
        if query.destination == self.node {
            self.compare(now, name, query, Way { hops });
        } else if !self.knows(now, &query) {
            self.remember(now, name);
            if query.ttl > 1 {
                self.broadcast(now, Message { ttl: query.ttl - 1, hops, ..query }, actions);
            }
        }
    }

    fn remember(&mut self, now: Time, name: (NodeId, u32)) {
        self.seen.add(now, name, now + self.params.query_memory());
        self.keep_clean(now);
    }

    /// At the destination: the first copy begins the wait, better ones within it are taken.
    fn compare(&mut self, now: Time, name: (NodeId, u32), query: Message, way: Way) {
        let (threshold_ticks, max_load) = (self.params.threshold_ticks, self.params.max_load);
        if let Some(choosing) = self.choosing.get_mut(&name) {
            if way.is_better_than(&choosing.best, threshold_ticks, max_load) {
                choosing.best = way;
            }
        } else if !self.seen.holds(now, name) {
            self.remember(now, name);
            let at = now + self.params.choice_wait();
            self.choosing.insert(name, Choosing { at, query, best: way });
        }
    }

    /// The reply goes back along the way that is chosen. Its number is the node's clock, so that it is newer
    /// than all before it even if the node has started anew.
    fn answer(&mut self, now: Time, choosing: Choosing, actions: &mut Vec<Action>) {
        let clock_ms = (now.0 / 1_000_000) as u32;
        self.last_reply = clock_ms.max(self.last_reply + 1);
        let Choosing { query, best, .. } = choosing;
        let ends = (query.source, query.destination);
        let reply = Message {
            before: query.before,
            nodes: best.nodes(),
            ..message(Kind::Reply, ends, self.last_reply)
        };
        self.send_back(now, reply, actions);
    }

    /// To the node before this one in the list.
    fn send_back(&mut self, now: Time, reply: Message, actions: &mut Vec<Action>) {
        let place = reply.nodes.iter().position(|node| *node == self.node);
        if let Some(before) = place.and_then(|place| reply.nodes.get(place.checked_sub(1)?)) {
            self.send(now, *before, reply, actions);
        }
    }

    /// The nodes on the way install the route.
    fn receive_reply(&mut self, now: Time, reply: Message, from: NodeId, actions: &mut Vec<Action>) {
        let ends = (reply.source, reply.destination);
        let Some(place) = reply.nodes.iter().position(|node| *node == self.node) else { return };
        if reply.nodes.get(place + 1) != Some(&from) || ends.1 == self.node || ends.1.is_broadcast() {
            return;
        }
        let upstream = match place.checked_sub(1) {
            Some(before) => reply.nodes[before],
            None if ends.0 == self.node => self.node,
            // A route that was repaired here comes whence it came.
            None => self.routes.known(ends).map_or(self.node, |route| route.upstream),
        };
        let links = (u32::from(reply.before) + place as u32, (reply.nodes.len() - 1 - place) as u32);
        let route = Route::new((upstream, from), links, reply.number, now + self.params.route_life());
        let (is_taken, was_broken) = self.routes.offer(ends, route);
        self.keep_clean(now);
        if !is_taken {
            return;
        }
        if was_broken {
            actions.push(Action::Notify(Notice::RouteFound { dst: ends.1 }));
        }
        self.seeking.remove(&ends);
        for packet in self.take_waiting(now, ends, actions) {
            self.send_data(now, packet, actions);
        }
        self.send_back(now, reply, actions);
    }
}

/// Reconstruction.
impl Abr {
    /// The node before a broken link repairs the route, that after it erases it.
    fn break_link(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        self.ticks.remove(neighbour);
        for (ends, route) in self.routes.over(now, neighbour) {
            self.routes.break_route(now, ends, 0);
            if route.next_hop != neighbour {
                self.notify(now, Kind::RnErase, ends, route.number, route.next_hop, actions);
                continue;
            }
            actions.push(Action::Notify(Notice::RouteFailed { dst: ends.1, told: false }));
            if ends.0 == self.node {
                self.send_bq(now, ends, 0, actions);
            } else {
                self.send_lq(now, ends, route.hops.min(255) as u8, actions);
            }
        }
    }

    fn receive(&mut self, now: Time, message: Message, from: NodeId, actions: &mut Vec<Action>) {
        match message.kind {
            Kind::Beacon => {
                let patience = f64::from(self.params.missed_beacons) + 0.5;
                self.ticks.hear(now, from, self.params.beacon_interval().scaled(patience));
            }
            Kind::Bq | Kind::Lq => self.receive_query(now, message, from, actions),
            Kind::Reply => self.receive_reply(now, message, from, actions),
            Kind::RnBack | Kind::RnToSource => self.receive_notification(now, &message, from, actions),
            Kind::RnErase => self.receive_erasure(now, &message, from, actions),
            Kind::Rd => self.receive_delete(now, message, actions),
        }
    }

    /// A node farther on could not repair the route. The next one does, up to the middle of the route; beyond
    /// it the source seeks anew.
    fn receive_notification(&mut self, now: Time, rn: &Message, from: NodeId, actions: &mut Vec<Action>) {
        let ends = (rn.source, rn.destination);
        if self.routes.valid(now, ends).is_none_or(|route| route.next_hop != from) {
            return;
        }
        let Some(route) = self.routes.break_route(now, ends, rn.number) else { return };
        if ends.0 == self.node {
            actions.push(Action::Notify(Notice::RouteFailed { dst: ends.1, told: true }));
            self.send_bq(now, ends, 0, actions);
        } else if rn.kind == Kind::RnBack && route.hops <= route.before {
            self.send_lq(now, ends, route.hops.min(255) as u8, actions);
        } else {
            self.notify(now, Kind::RnToSource, ends, rn.number, route.upstream, actions);
        }
    }

    fn receive_erasure(&mut self, now: Time, rn: &Message, from: NodeId, actions: &mut Vec<Action>) {
        let ends = (rn.source, rn.destination);
        if self.routes.valid(now, ends).is_none_or(|route| route.upstream != from) {
            return;
        }
        if let Some(route) = self.routes.break_route(now, ends, rn.number)
            && route.next_hop != ends.1
        {
            self.notify(now, Kind::RnErase, ends, rn.number, route.next_hop, actions);
        }
    }

    /// The source needs the route no more.
    fn delete_route(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let ends = (self.node, dst);
        if self.routes.break_route(now, ends, 0).is_some() {
            self.made += 1;
            let ttl = self.params.query_ttl as u8;
            self.broadcast(now, Message { ttl, ..message(Kind::Rd, ends, self.made) }, actions);
        }
    }

    fn receive_delete(&mut self, now: Time, rd: Message, actions: &mut Vec<Action>) {
        let name = (rd.source, rd.number);
        if rd.source == self.node || self.seen.holds(now, name) {
            return;
        }
        self.remember(now, name);
        self.routes.break_route(now, (rd.source, rd.destination), 0);
        if rd.ttl > 1 {
            self.broadcast(now, Message { ttl: rd.ttl - 1, ..rd }, actions);
        }
    }
}

/// A message without nodes that crosses one link.
fn message(kind: Kind, (source, destination): Ends, number: u32) -> Message {
    let (hops, nodes) = ([].into(), [].into());
    Message { kind, ttl: 1, before: 0, source, destination, number, hops, nodes }
}

/// What goes out.
impl Abr {
    fn send_beacon(&mut self, now: Time, actions: &mut Vec<Action>) {
        let (interval, jitter) = (self.params.beacon_interval(), self.params.beacon_jitter);
        self.beacon_at = now + interval.scaled(self.stream.uniform(1.0 - jitter, 1.0 + jitter));
        let beacon = message(Kind::Beacon, (self.node, NodeId::BROADCAST), 0);
        let packet = self.packet(now, NodeId::BROADCAST, beacon);
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

    /// A route notification.
    fn notify(
        &mut self,
        now: Time,
        kind: Kind,
        ends: Ends,
        number: u32,
        to: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.send(now, to, message(kind, ends, number), actions);
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
        Packet::control(now, self.node, dst, 1, bytes, Payload::Abr(message))
    }

    /// Something is known, and will end.
    fn keep_clean(&mut self, now: Time) {
        self.sweep_at = self.sweep_at.min(now + SWEEP);
    }
}
