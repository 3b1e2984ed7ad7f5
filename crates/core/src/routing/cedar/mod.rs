//! CEDAR, the Core-Extraction Distributed Ad hoc Routing algorithm (Sivakumar, Sinha, Bharghavan, IEEE JSAC
//! 17(8), 1999; draft-ietf-manet-cedar-spec-00, 1998), in a plain form: a few nodes, the *core*, dominate all
//! others, and searches for routes go from core node to core node.
//!
//! Read docs/models/cedar.md first. Neither paper nor draft could be read, only the opening of the draft:
//! what is here is from memory, and what memory does not give is assumed.
//!
//! **Implemented.** The choice of dominators by effective degree and degree, by beacons and joins; core
//! nodes that know each other over up to three hops and have tunnels to each other; the core broadcast; the
//! core path; routes that core nodes compute one after the other from links that they know; source-routed
//! data; new ways around broken links, and errors.
//!
//! **Not implemented.** Bandwidth: every link has the rate of the MAC, no flow is refused, and links of wide
//! bandwidth are not told farther than beacons tell them (increase and decrease waves). Core paths are not
//! kept for later searches.
//!
//! **Deviations**: numbered in docs/models/cedar.md.

mod neighbourhood;
mod params;
mod searching;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::neighbourhood::Neighbourhood;
pub use self::params::CedarParams;
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, KnownLinks, Notice, RouteNow, Routing, relay};
use crate::wire::cedar::{Beacon, Content, Message, Nodes, SourceRoute};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader};

/// How often what has ended is looked for.
const SWEEP: Span = Span::from_millis(5000);

/// One node's CEDAR. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &Arc<CedarParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Cedar::new(node, Arc::clone(params), stream))
}

/// A route of this node's own packets.
struct Route {
    /// From this node to the destination.
    nodes: Nodes,
    until: Time,
}

/// A search that waits for its answer.
struct Search {
    /// Requests sent so far.
    sent: u32,
    /// When the next one is sent, or the search ends.
    at: Time,
}

/// The state of one node.
struct Cedar {
    node: NodeId,
    params: Arc<CedarParams>,
    stream: Stream,
    neighbourhood: Neighbourhood,
    dominator: Option<NodeId>,
    /// No dominator is chosen before.
    choose_from: Time,
    beacon_at: Time,
    /// The core broadcasts that this node has passed on.
    seen: SeenRequests,
    routes: BTreeMap<NodeId, Route>,
    searches: BTreeMap<NodeId, Search>,
    next_id: u32,
    buffer: PacketBuffer,
    /// When what has ended is looked for; never if nothing is known.
    sweep_at: Time,
    changes: Changes,
}

impl Cedar {
    fn new(node: NodeId, params: Arc<CedarParams>, stream: Stream) -> Cedar {
        Cedar {
            node,
            stream,
            neighbourhood: Neighbourhood::new(node),
            dominator: None,
            choose_from: Time::NEVER,
            beacon_at: Time::NEVER,
            seen: SeenRequests::default(),
            routes: BTreeMap::new(),
            searches: BTreeMap::new(),
            next_id: 0,
            buffer: PacketBuffer::new(params.buffer_packets),
            sweep_at: Time::NEVER,
            changes: Changes::NONE,
            params,
        }
    }
}

impl Routing for Cedar {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.choose_from = now + self.params.listening();
        self.beacon_at = now + self.stream.span_below(self.params.beacon_interval());
    }

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        packet.take_header();
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else if self.has_route(now, packet.dst, actions) {
            self.send_data(now, packet, actions);
        } else {
            let dst = packet.dst;
            self.buffer.push(now, packet, Span::from_secs(self.params.buffer_timeout_s), actions);
            if !self.searches.contains_key(&dst) {
                self.ask(now, dst, 0, actions);
            }
        }
    }

    fn handle_incoming(&mut self, now: Time, mut packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Cedar(message) = &packet.payload {
            let Message { to, content } = Message::clone(message);
            actions.push(Action::Consume(packet));
            match content {
                Content::Beacon(beacon) => self.receive_beacon(now, beacon, from, actions),
                content => self.pass_on(now, &to, content, from, actions),
            }
            return;
        }
        if packet.is_for(self.node) {
            packet.take_header();
        }
        if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(now, packet, actions);
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.lose_link(now, [self.node, next_hop], false, actions);
        actions.push(Action::FlushQueue(next_hop));
        self.send_around(now, packet, next_hop, true, actions);
    }

    /// Packets that were to take the same link; their sources learn of it with their next packet.
    fn handle_flushed(&mut self, now: Time, packet: Packet, next_hop: NodeId, actions: &mut Vec<Action>) {
        self.send_around(now, packet, next_hop, false, actions);
    }

    fn takes_back_control(&self) -> bool {
        true
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        for neighbour in self.neighbourhood.expire(now) {
            self.forget_routes(|nodes| nodes[1] == neighbour, false, actions);
        }
        let due = self.searches.iter().filter(|(_, search)| search.at <= now);
        for (dst, sent) in due.map(|(dst, search)| (*dst, search.sent)).collect::<Vec<_>>() {
            self.continue_search(now, dst, sent, actions);
        }
        self.buffer.expire(now, actions);
        if self.beacon_at <= now {
            self.send_beacon(now, actions);
        }
        if self.sweep_at <= now {
            self.routes.retain(|_, route| route.until > now);
            self.seen.forget(now);
            let is_empty = self.routes.is_empty() && self.seen.len(now) == 0;
            self.sweep_at = if is_empty { Time::NEVER } else { now + SWEEP };
        }
    }

    fn next_timeout(&self) -> Time {
        let searches = self.searches.values().map(|search| search.at);
        let own = self.beacon_at.min(self.sweep_at).min(self.buffer.next_expiry());
        searches.fold(own.min(self.neighbourhood.next_timeout()), Time::min)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn remembered(&self, now: Time) -> Option<usize> {
        let known = self.neighbourhood.len() + self.seen.len(now);
        Some(known + self.routes.len() + self.searches.len())
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.route(now, dst).map(|route| route.nodes[1])
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        self.route(now, dst).map(|route| route.nodes.len() as u32 - 1)
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn source_route(&self, now: Time, dst: NodeId) -> Option<Vec<NodeId>> {
        self.route(now, dst).map(|route| route.nodes.to_vec())
    }

    fn known_links(&self, _now: Time) -> Option<KnownLinks> {
        Some(KnownLinks {
            neighbours: self.neighbourhood.neighbours().map(|(node, _)| node).collect(),
            two_hop: self.neighbourhood.two_hop(),
            relays: self.dominator.into_iter().collect(),
            topology: self.neighbourhood.told(),
        })
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let route = self.route(now, dst)?;
        let hops = Some(route.nodes.len() as u32 - 1);
        Some(RouteNow { next_hop: route.nodes[1], hops, until: route.until })
    }

    fn take_route_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

/// The core.
impl Cedar {
    /// How many nodes have chosen this one, itself included.
    fn effective_degree(&self) -> usize {
        let chosen =
            self.neighbourhood.neighbours().filter(|(_, beacon)| beacon.dominator == Some(self.node));
        chosen.count() + usize::from(self.dominator == Some(self.node))
    }

    fn receive_beacon(&mut self, now: Time, beacon: Beacon, from: NodeId, actions: &mut Vec<Action>) {
        if self.neighbourhood.hear(from, beacon, now + self.params.patience()) {
            self.forget_routes(|nodes| nodes[1] == from, false, actions);
        }
    }

    fn send_beacon(&mut self, now: Time, actions: &mut Vec<Action>) {
        let interval = self.params.beacon_interval();
        let jitter = interval.scaled(self.params.beacon_jitter);
        self.beacon_at = now + interval.saturating_sub(jitter) + self.stream.span_below(jitter * 2);
        if now >= self.choose_from {
            self.choose(now, actions);
        }
        let beacon = Beacon {
            effective_degree: self.effective_degree() as u16,
            dominator: self.dominator,
            neighbours: self.neighbourhood.neighbours().map(|(node, _)| node).collect(),
            heard: self.neighbourhood.one_way().collect(),
            near: self.neighbourhood.near().into(),
        };
        let message = Message { to: [].into(), content: Content::Beacon(beacon) };
        let packet = self.packet(now, NodeId::BROADCAST, message);
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

    /// A node without a dominator, or whose dominator is no neighbour any more, chooses the one with the
    /// largest effective degree, then degree, of its neighbours and itself; of equal ones itself, or else the
    /// lowest number.
    fn choose(&mut self, now: Time, actions: &mut Vec<Action>) {
        if let Some(chosen) = self.dominator
            && (chosen == self.node || self.neighbourhood.beacon_of(chosen).is_some())
        {
            return;
        }
        let others = self.neighbourhood.neighbours();
        let rank = |effective: usize, degree: usize, node: NodeId| {
            (effective, degree, node == self.node, std::cmp::Reverse(node))
        };
        let others =
            others.map(|(node, beacon)| rank(beacon.effective_degree.into(), beacon.neighbours.len(), node));
        let degree = self.neighbourhood.neighbours().count();
        let best = others.fold(rank(self.effective_degree(), degree, self.node), Ord::max).3.0;
        self.dominator = Some(best);
        if best != self.node {
            self.send_to(now, &[best], Content::Join, actions);
        }
    }
}

/// Data.
impl Cedar {
    fn route(&self, now: Time, dst: NodeId) -> Option<&Route> {
        self.routes.get(&dst).filter(|route| route.until > now)
    }

    /// Is there a route, or a way over links that this node knows itself?
    fn has_route(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) -> bool {
        if self.route(now, dst).is_some() {
            return true;
        }
        let known = self.neighbourhood.path(now, self.node, dst, &[]);
        known.is_some_and(|nodes| self.learn_route(now, nodes.into(), actions))
    }

    /// Takes a route for the node's own packets. False if it does not begin here with a link that is whole.
    fn learn_route(&mut self, now: Time, nodes: Nodes, actions: &mut Vec<Action>) -> bool {
        let (Some(&second), Some(&dst)) = (nodes.get(1), nodes.last()) else { return false };
        if nodes[0] != self.node || !self.neighbourhood.may_send_to(now, second) {
            return false;
        }
        let until = now + self.params.route_life();
        if self.routes.insert(dst, Route { nodes, until }).is_none_or(|before| before.until <= now) {
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        self.changes.add(dst);
        self.keep_clean(now);
        true
    }

    fn send_data(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let until = now + self.params.route_life();
        let Some(route) = self.routes.get_mut(&packet.dst).filter(|route| route.until > now) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        route.until = until;
        let next_hop = route.nodes[1];
        let header = SourceRoute { route: Arc::clone(&route.nodes), at: 0 };
        packet.put_header(RoutingHeader::Cedar(header));
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    /// Sends another node's packet on along its route.
    fn forward(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let header = packet.routing_header.as_deref().and_then(RoutingHeader::as_cedar);
        let here = header.map(|header| (Arc::clone(&header.route), usize::from(header.at) + 1));
        let Some((route, at)) = here.filter(|(route, at)| route.get(*at) == Some(&self.node)) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        let Some(&next_hop) = route.get(at + 1) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        packet.put_header(RoutingHeader::Cedar(SourceRoute { route, at: at as u8 }));
        if self.neighbourhood.may_send_to(now, next_hop) {
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
        } else {
            self.send_around(now, packet, next_hop, true, actions);
        }
    }

    /// Sends a packet around a link that it cannot cross, over nodes where it has not been; `tell` its source
    /// of it.
    fn send_around(
        &mut self,
        now: Time,
        mut packet: Packet,
        next_hop: NodeId,
        tell: bool,
        actions: &mut Vec<Action>,
    ) {
        let header = packet.routing_header.as_deref().and_then(RoutingHeader::as_cedar);
        let header = header.filter(|header| usize::from(header.at) < header.route.len());
        let Some(SourceRoute { route, at }) = header.cloned() else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        };
        let place = usize::from(at);
        if tell && place > 0 {
            let back: Vec<NodeId> = route[..place].iter().rev().copied().collect();
            self.send_to(now, &back, Content::Error { link: [self.node, next_hop] }, actions);
        }
        let been = &route[..=place];
        let around = self.neighbourhood.path(now, self.node, packet.dst, been);
        match around.filter(|around| self.params.reroute && around.len() > 1) {
            Some(around) => {
                let next_hop = around[1];
                let route = been.iter().chain(&around[1..]).copied().collect();
                packet.put_header(RoutingHeader::Cedar(SourceRoute { route, at }));
                actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
            }
            None => {
                if tell && place > 0 {
                    actions.push(Action::Notify(Notice::RouteFailed { dst: packet.dst, told: false }));
                }
                actions.push(Action::Drop(packet, DropReason::LinkFailure));
            }
        }
    }
}

/// Broken links.
impl Cedar {
    /// A link is not used for a while, and no route goes over it.
    fn lose_link(&mut self, now: Time, link: [NodeId; 2], told: bool, actions: &mut Vec<Action>) {
        let until = now + Span::from_secs(self.params.broken_link_s);
        self.neighbourhood.note_broken(link, until);
        let [a, b] = link;
        let crosses = |nodes: &[NodeId]| nodes.windows(2).any(|pair| pair == [a, b] || pair == [b, a]);
        self.forget_routes(crosses, told, actions);
    }

    fn forget_routes(&mut self, is_lost: impl Fn(&[NodeId]) -> bool, told: bool, actions: &mut Vec<Action>) {
        let changes = &mut self.changes;
        self.routes.retain(|&dst, route| {
            let lost = is_lost(&route.nodes);
            if lost {
                changes.add(dst);
                actions.push(Action::Notify(Notice::RouteFailed { dst, told }));
            }
            !lost
        });
    }

    /// Something is known, and will end.
    fn keep_clean(&mut self, now: Time) {
        self.sweep_at = self.sweep_at.min(now + SWEEP);
    }

    fn packet(&self, now: Time, dst: NodeId, message: Message) -> Packet {
        let bytes = IP_HEADER_BYTES + message.bytes();
        Packet::control(now, self.node, dst, 1, bytes, Payload::Cedar(Arc::new(message)))
    }
}
