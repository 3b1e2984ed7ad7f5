//! One node's TSR: its state, its inputs, and what it makes of what its DSR wants to send.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::changes::Tracked;
use crate::routing::dsr::{Dsr, DsrParams};
use crate::routing::{Action, Changes, ConnectionEvent, Notice, RouteNow, Routing};
use crate::wire::dsr::{Header, Route};
use crate::wire::tcp::Segment;
use crate::wire::tsr::Mark;
use crate::wire::{NodeId, Packet, Payload, RoutingHeader};

use super::TsrParams;
use super::state::{Hold, Link, links};

/// See the module's head.
pub(super) struct Tsr {
    pub(super) node: NodeId,
    pub(super) params: TsrParams,
    pub(super) dsr: Dsr,
    /// By destination.
    pub(super) holds: Tracked<BTreeMap<NodeId, Hold>>,
    /// The packets of those holds.
    pub(super) buffer: PacketBuffer,
    /// The route that TCP's packets from here to a destination took last, until it is known to be broken.
    pub(super) sessions: BTreeMap<NodeId, Route>,
    /// The routes that destinations have answered over, which TCP's packets from here keep to.
    pub(super) kept: Tracked<BTreeMap<NodeId, Route>>,
    /// The route of the TCP packets from a source to a destination that passed here last.
    pub(super) passing: BTreeMap<(NodeId, NodeId), Route>,
    /// The number of this node's next probe.
    pub(super) next_probe: u32,
    /// What DSR wants done, before it is looked at; used again.
    wanted: Vec<Action>,
}

impl Tsr {
    pub(super) fn new(node: NodeId, params: TsrParams, dsr: DsrParams, stream: Stream) -> Tsr {
        Tsr {
            node,
            params,
            buffer: PacketBuffer::new(dsr.buffer_packets),
            dsr: Dsr::new(node, dsr, stream),
            holds: Tracked::default(),
            sessions: BTreeMap::new(),
            kept: Tracked::default(),
            passing: BTreeMap::new(),
            next_probe: 1,
            wanted: Vec::new(),
        }
    }

    /// Is it a packet that TSR is for?
    fn is_held_kind(&self, packet: &Packet) -> bool {
        match packet.payload {
            Payload::Tcp(_, Segment::Data { .. }) => true,
            Payload::Tcp(_, Segment::Ack { .. }) => self.params.hold_acks,
            _ => false,
        }
    }

    /// Does a hold keep this node's own packets to `dst`?
    pub(super) fn holds_own(&self, dst: NodeId) -> bool {
        self.holds.get(&dst).is_some_and(|hold| hold.own)
    }

    /// Calls DSR. `broken` are links that are found broken by it: holds begin before what DSR wants to send
    /// is looked at.
    pub(super) fn with_dsr(
        &mut self,
        now: Time,
        broken: &[Link],
        actions: &mut Vec<Action>,
        call: impl FnOnce(&mut Dsr, &mut Vec<Action>),
    ) {
        let mut wanted = std::mem::take(&mut self.wanted);
        call(&mut self.dsr, &mut wanted);
        let began = self.note_broken(now, broken);
        for action in wanted.drain(..) {
            self.review(now, action, actions);
        }
        self.wanted = wanted;
        for dst in began {
            self.announce(now, dst, actions);
        }
        self.search_if_all_failed(now, actions);
    }

    /// Lets through what DSR wants, keeps what is to be held, and sends the rest where it shall go.
    fn review(&mut self, now: Time, action: Action, actions: &mut Vec<Action>) {
        match action {
            Action::Send { packet, next_hop, delay } if self.is_held_kind(&packet) => {
                let own = packet.src == self.node;
                if own && self.holds_own(packet.dst) {
                    self.keep_own(now, packet, actions);
                } else if !own && self.is_to_wait(&packet) {
                    self.keep(now, packet, actions);
                } else if own && self.takes_other_route(packet.dst) {
                    let route = self.kept[&packet.dst].clone();
                    self.send_on(packet, &route, delay, actions);
                } else {
                    if own {
                        self.note_session(packet.dst);
                    } else {
                        self.note_passing(&packet);
                    }
                    actions.push(Action::Send { packet, next_hop, delay });
                }
            }
            Action::Broadcast { mut packet, delay } => {
                self.mark_request(&mut packet);
                actions.push(Action::Broadcast { packet, delay });
            }
            // There is a route only when it has been answered.
            Action::Notify(Notice::RouteFound { dst }) if self.holds_own(dst) => {}
            other => actions.push(other),
        }
    }

    /// Has the destination answered over another route than the one that DSR has just used?
    fn takes_other_route(&self, dst: NodeId) -> bool {
        self.kept.get(&dst).is_some_and(|kept| self.dsr.in_use.get(&dst) != Some(kept))
    }

    /// TCP's packets from here to `dst` take the route that DSR used last.
    fn note_session(&mut self, dst: NodeId) {
        let Some(route) = self.dsr.in_use.get(&dst) else { return };
        if self.sessions.get(&dst) != Some(route) {
            self.sessions.insert(dst, route.clone());
        }
    }

    /// Sends one of this node's own packets along a route that was answered.
    pub(super) fn send_on(
        &mut self,
        mut packet: Packet,
        route: &Route,
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        let Some(&next_hop) = route.get(1) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        self.dsr.note_use(packet.dst, route, actions);
        self.note_session(packet.dst);
        packet.put_header(RoutingHeader::Dsr(Header { route: route.clone(), ..self.dsr.header() }));
        actions.push(Action::Send { packet, next_hop, delay });
    }

    /// A packet of a routing protocol that has a DSR header arrives for this node or for another.
    fn receive(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let broken = links(header);
        match (header.tsr, header.request) {
            (Some(Mark::Probe { id }), _) if packet.dst == self.node => {
                self.answer_probe(now, packet, header, id, from, actions);
            }
            (Some(Mark::Reply { .. }), _) if packet.dst == self.node => {
                self.receive_answer(now, packet, header, from, actions);
            }
            (Some(Mark::TargetOnly), Some(request)) => {
                self.with_dsr(now, &broken, actions, |dsr, wanted| {
                    dsr.receive_request(now, packet, (header, request), false, wanted);
                });
            }
            _ if self.is_answer_of_target(&packet, header) => {
                self.receive_answer(now, packet, header, from, actions);
            }
            _ => {
                self.note_shortening(&packet, header);
                self.with_dsr(now, &broken, actions, |dsr, wanted| {
                    dsr.handle_incoming(now, packet, from, wanted);
                });
            }
        }
    }
}

/// The header of a packet that DSR, or TSR, has sent.
fn header_of(packet: &Packet) -> Option<Arc<RoutingHeader>> {
    packet.routing_header.clone().filter(|header| header.as_dsr().is_some())
}

impl Routing for Tsr {
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.dsr.handle_start(now, actions);
    }

    fn handle_connection(&mut self, _now: Time, event: ConnectionEvent, _actions: &mut Vec<Action>) {
        match event {
            // What other connections to the destination send makes it known again.
            ConnectionEvent::Closed { dst, two_way: true } => {
                self.sessions.remove(&dst);
            }
            ConnectionEvent::Opened { .. } | ConnectionEvent::Closed { .. } => {}
            ConnectionEvent::RetransmissionTimeout { dst, rto } => self.learn_rto(dst, rto),
        }
    }

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if packet.src == self.node && dst != self.node && self.is_held_kind(&packet) {
            packet.take_header();
            if self.holds.get(&dst).is_some_and(|hold| hold.own && !hold.searches) {
                self.keep(now, packet, actions);
                return;
            }
            if let Some(route) = self.kept.get(&dst).filter(|_| !self.holds_own(dst)).cloned() {
                self.send_on(packet, &route, Span::ZERO, actions);
                return;
            }
        }
        self.with_dsr(now, &[], actions, |dsr, wanted| dsr.handle_outgoing(now, packet, wanted));
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        let header = header_of(&packet);
        match header.as_deref().and_then(RoutingHeader::as_dsr) {
            Some(header) => self.receive(now, packet, header, from, actions),
            None => self.dsr.handle_incoming(now, packet, from, actions),
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let broken = [(self.node, next_hop)];
        let is_bound = is_probe_or_answer(&packet);
        self.with_dsr(now, &broken, actions, |dsr, wanted| {
            if is_bound {
                dsr.lose_packet(now, packet, next_hop, false, wanted);
            } else {
                dsr.handle_link_failure(now, packet, next_hop, wanted);
            }
        });
    }

    fn handle_flushed(&mut self, now: Time, packet: Packet, next_hop: NodeId, actions: &mut Vec<Action>) {
        let is_bound = is_probe_or_answer(&packet);
        self.with_dsr(now, &[], actions, |dsr, wanted| {
            if is_bound {
                dsr.lose_packet(now, packet, next_hop, true, wanted);
            } else {
                dsr.handle_flushed(now, packet, next_hop, wanted);
            }
        });
    }

    fn wants_overheard(&self) -> bool {
        self.dsr.wants_overheard()
    }

    fn handle_overheard(
        &mut self,
        now: Time,
        packet: &Packet,
        from: NodeId,
        to: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let broken = packet.dsr().map(links).unwrap_or_default();
        self.with_dsr(now, &broken, actions, |dsr, wanted| {
            dsr.handle_overheard(now, packet, from, to, wanted);
        });
    }

    fn takes_back_control(&self) -> bool {
        self.dsr.takes_back_control()
    }

    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        if now < self.next_timeout() {
            return;
        }
        self.buffer.expire(now, actions);
        self.wake_holds(now, actions);
        self.with_dsr(now, &[], actions, |dsr, wanted| dsr.handle_timeout(now, wanted));
    }

    fn next_timeout(&self) -> Time {
        let holds = self.holds.values().map(Hold::next_timeout).min().unwrap_or(Time::NEVER);
        holds.min(self.buffer.next_expiry()).min(self.dsr.next_timeout())
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.dsr.buffered(visit);
        self.buffer.iter().for_each(visit);
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.dsr.next_hop(now, dst)
    }

    fn source_route(&self, now: Time, dst: NodeId) -> Option<Vec<NodeId>> {
        match self.kept.get(&dst) {
            Some(route) => Some(route.to_vec()),
            None => self.dsr.source_route(now, dst),
        }
    }

    /// That of TCP's packets: none while they are held.
    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        if self.holds_own(dst) {
            return None;
        }
        match self.kept.get(&dst) {
            Some(route) => Some(route.len() as u32 - 1),
            None => self.dsr.route_hops(now, dst),
        }
    }

    fn knows_route_hops(&self) -> bool {
        self.dsr.knows_route_hops()
    }

    fn take_route_changes(&mut self) -> Changes {
        let own = self.holds.take_changes().and_those_of(self.kept.take_changes());
        own.and_those_of(self.dsr.take_route_changes())
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let route = self.dsr.route_now(now, dst)?;
        Some(RouteNow { hops: self.route_hops(now, dst), ..route })
    }
}

/// A packet that is to test one route, and may take no other.
fn is_probe_or_answer(packet: &Packet) -> bool {
    packet.dsr().is_some_and(|header| matches!(header.tsr, Some(Mark::Probe { .. } | Mark::Reply { .. })))
}
