//! Probes and their answers, and requests that only their target may answer.

use crate::kernel::{Span, Time};
use crate::routing::{Action, HoldStep, Notice, Routing};
use crate::wire::dsr::{Header, Route};
use crate::wire::tsr::Mark;
use crate::wire::{NodeId, Packet, RoutingHeader};

use super::node::Tsr;
use super::state::{Hold, has_link, links};

impl Tsr {
    /// III, *parallel probing*: ROUTE PROBEs go out along the cached alternatives, all at once. Without one
    /// the destination is asked for a route.
    pub(super) fn probe_alternatives(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let routes = self.dsr.alternatives(now, dst, self.params.probes);
        let interval = self.params.probe_interval();
        let Some(hold) = self.holds.get_mut(&dst) else { return };
        hold.probe_at = if interval == Span::ZERO { Time::NEVER } else { now + interval };
        hold.probes.clone_from(&routes);
        hold.probed = 0;
        hold.searches = hold.own && routes.is_empty();
        if hold.searches {
            self.search(now, dst, actions);
        }
        for route in &routes {
            self.send_probe(now, dst, route, actions);
        }
    }

    /// Sends a probe along a route.
    pub(super) fn send_probe(&mut self, now: Time, dst: NodeId, route: &Route, actions: &mut Vec<Action>) {
        let (Some(hold), Some(&next_hop)) = (self.holds.get_mut(&dst), route.get(1)) else { return };
        hold.probed += 1;
        let id = self.next_probe;
        self.next_probe = self.next_probe.wrapping_add(1);
        let header = Header { route: route.clone(), tsr: Some(Mark::Probe { id }), ..self.dsr.header() };
        let packet = self.dsr.control(now, dst, u8::MAX, header);
        actions.push(Action::Notify(Notice::Hold { dst, step: HoldStep::Probes }));
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    /// Asks for a route as DSR does, while the hold goes on. What it has kept waits in DSR's buffer, so that
    /// DSR asks again.
    fn search(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let node = self.node;
        let (own, others): (Vec<Packet>, Vec<Packet>) =
            self.buffer.pop_all(now, dst, actions).into_iter().partition(|packet| packet.src == node);
        for packet in others {
            self.keep(now, packet, actions);
        }
        self.with_dsr(now, &[], actions, |dsr, wanted| {
            for packet in own {
                dsr.hold(now, packet, wanted);
            }
            dsr.seek(now, dst, true, wanted);
        });
    }

    /// All routes that were probed are known to be broken: the node asks for one, if it is to.
    pub(super) fn search_if_all_failed(&mut self, now: Time, actions: &mut Vec<Action>) {
        if !self.params.search_after_failed_probes {
            return;
        }
        let has_failed = |hold: &Hold| hold.own && !hold.searches && hold.probes.is_empty();
        while let Some((&dst, hold)) = self.holds.iter_mut().find(|(_, hold)| has_failed(hold)) {
            hold.searches = true;
            self.search(now, dst, actions);
        }
    }

    /// A request for a route to a destination whose packets are held may be answered by that alone.
    pub(super) fn mark_request(&self, packet: &mut Packet) {
        let Some(header) = packet.dsr() else { return };
        if packet.src == self.node && header.request.is_some_and(|request| self.holds_own(request.target)) {
            let marked = Header { tsr: Some(Mark::TargetOnly), ..header.clone() };
            packet.put_header(RoutingHeader::Dsr(marked));
        }
    }

    /// III: the destination answers a probe over the reversed route.
    pub(super) fn answer_probe(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        id: u32,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let node = self.node;
        self.with_dsr(now, &links(header), actions, |dsr, wanted| {
            let (route, reply) = (header.route.clone(), dsr.header());
            dsr.handle_incoming(now, packet, from, wanted);
            if route.len() > 1 && route.last() == Some(&node) {
                let passed = route.clone();
                let reply = Header { reply: Some(route), tsr: Some(Mark::Reply { id }), ..reply };
                dsr.send_reply(now, reply, &passed, Span::ZERO, wanted);
            }
        });
    }

    /// Is it a reply that the destination of a hold made itself, to a request?
    pub(super) fn is_answer_of_target(&self, packet: &Packet, header: &Header) -> bool {
        packet.dst == self.node
            && header.reply.as_ref().is_some_and(|route| route.last() == Some(&packet.src))
            && self.holds_own(packet.src)
    }

    /// Is it the answer to a request that was under way when a link of its route broke? The answer to a probe
    /// is none: probes are sent when a hold has begun.
    fn is_outdated(&self, dst: NodeId, route: &Route, header: &Header) -> bool {
        self.params.answers_avoid_broken
            && header.tsr.is_none()
            && self.holds.get(&dst).is_some_and(|hold| hold.broken.iter().any(|link| has_link(route, *link)))
    }

    /// III, *escape*: the destination has answered, to a probe or to a request. The first answer ends the
    /// hold; any other only refreshes the cache.
    pub(super) fn receive_answer(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let dst = packet.src;
        let route = header.reply.clone().filter(|route| {
            route.len() > 1 && route.first() == Some(&self.node) && route.last() == Some(&dst)
        });
        if let Some(route) = &route
            && !self.is_outdated(dst, route, header)
        {
            if header.tsr.is_some() {
                actions.push(Action::Notify(Notice::Hold { dst, step: HoldStep::Answered }));
            }
            if self.holds_own(dst) {
                self.kept.insert(dst, route.clone());
            }
            self.escape(now, dst, route, actions);
        }
        // Packets that DSR keeps take the same route.
        self.with_dsr(now, &links(header), actions, |dsr, wanted| {
            dsr.handle_incoming(now, packet, from, wanted);
        });
        if !self.params.keep_route {
            self.kept.remove(&dst);
        }
    }

    /// A node that overheard a packet on its way says that some of the nodes of its route can be left out.
    pub(super) fn note_shortening(&mut self, packet: &Packet, header: &Header) {
        let Some(route) = header.reply.as_ref().filter(|_| packet.dst == self.node) else { return };
        if let Some(dst) = route.last()
            && let Some(kept) = self.kept.get_mut(dst)
            && is_part_of(route, kept)
        {
            kept.clone_from(route);
        }
    }
}

/// Are these nodes on the route, in the same order and with the same ends?
fn is_part_of(nodes: &Route, route: &Route) -> bool {
    let mut rest = route.iter();
    nodes.first() == route.first()
        && nodes.last() == route.last()
        && nodes.iter().all(|node| rest.any(|other| other == node))
}
