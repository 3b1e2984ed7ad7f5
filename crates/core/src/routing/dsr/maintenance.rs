//! Route maintenance: broken links, errors, salvaging (RFC 4728 §3.2, §3.4, §8.3).
//!
//! *Deviations* (docs/models/dsr.md): 3 (nested errors), 5 (salvage first).

use smallvec::SmallVec;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::{Action, Notice, relay};
use crate::wire::dsr::{FlowMark, Header, LinkError, Route};
use crate::wire::{NodeId, Packet, RoutingHeader};

use super::memory::{Break, HeldError};
use super::node::Dsr;

impl Dsr {
    /// §8.1.5: a node on the way sends a packet on along its source route.
    pub(super) fn forward(&mut self, now: Time, packet: Packet, header: &Header, actions: &mut Vec<Action>) {
        match header.flow {
            None => {}
            Some(FlowMark::Establishes(_)) => self.remember_flow(now, &packet, header),
            Some(mark) => return self.forward_by_flow(now, packet, header, mark, actions),
        }
        if !header.errors.is_empty() {
            self.learn_errors(header, actions);
        }
        let Some(next_hop) = header.next_hop_of(self.node) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        self.learn_forwarded(now, header, actions);
        if let Some(packet) = relay::count_hop(packet, actions) {
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
        }
    }

    /// §8.3.4: the MAC could not deliver a packet.
    pub(super) fn fail_link(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let Some((packet, next_hop)) = self.restore_route(now, packet, next_hop, actions) else { return };
        self.lose_link(self.node, next_hop, false, actions);
        let header = packet.routing_header.clone();
        let Some(header) = header.as_deref().and_then(RoutingHeader::as_dsr) else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        };
        self.last_break = Some(Break { next_hop, told: SmallVec::new() });
        let goes_on = self.rescue(now, packet, header, Some([self.node, next_hop]), actions);
        // §3.4.2: what else waits for this neighbour has no better prospects.
        actions.push(Action::FlushQueue(next_hop));
        self.report(now, header, next_hop, goes_on, actions);
    }

    /// A packet that waited for a link that has failed.
    pub(super) fn fail_queued(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let header = packet.routing_header.clone();
        let Some(header) = header.as_deref().and_then(RoutingHeader::as_dsr) else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        };
        let dead = if self.params.check_queued_replies {
            Some([self.node, next_hop])
        } else {
            // In ns-2.35 a packet's place on its source route moves on when the packet is queued, and is put
            // back only for the one whose transmission failed. Of others the node takes the link from itself
            // to the node after that place for dead.
            header.next_hop_of(next_hop).map(|after| [self.node, after])
        };
        let goes_on = self.rescue(now, packet, header, dead, actions);
        if self.params.error_per_source {
            self.report(now, header, next_hop, goes_on, actions);
        }
    }

    /// The MAC could not deliver a packet that no other route may carry: it is lost. For the rest all is as
    /// after [`Dsr::fail_link`], or after [`Dsr::fail_queued`] if the packet waited for the link.
    pub(in crate::routing) fn lose_packet(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        waited: bool,
        actions: &mut Vec<Action>,
    ) {
        let header = packet.routing_header.clone();
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
        if !waited {
            self.lose_link(self.node, next_hop, false, actions);
            self.last_break = Some(Break { next_hop, told: SmallVec::new() });
            actions.push(Action::FlushQueue(next_hop));
        }
        if let Some(header) = header.as_deref().and_then(RoutingHeader::as_dsr)
            && (!waited || self.params.error_per_source)
        {
            self.report(now, header, next_hop, false, actions);
        }
    }

    /// What becomes of a packet whose next hop cannot be reached: its maker tries another route; a node on
    /// the way salvages it (§8.3.6), unless it is a reply that offers the link `dead`. True if it goes on or
    /// waits for a route.
    pub(super) fn rescue(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        dead: Option<[NodeId; 2]>,
        actions: &mut Vec<Action>,
    ) -> bool {
        if header.reply.is_some() && !self.params.salvage_replies {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            false
        } else if packet.src == self.node {
            self.send_or_seek(now, packet, actions);
            true
        } else if !self.params.salvage {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            false
        } else if u32::from(header.salvaged) >= self.params.max_salvages {
            actions.push(Action::Drop(packet, DropReason::SalvageLimit));
            false
        } else if let Some(route) = self.route_to(now, packet.dst, false) {
            self.salvage(now, packet, header, dead, &route, actions)
        } else if self.params.salvage_requests > 0 {
            let dst = packet.dst;
            self.hold(now, packet, actions);
            self.seek_if_exact(now, dst, actions);
            true
        } else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            false
        }
    }

    fn salvage(
        &mut self,
        now: Time,
        mut packet: Packet,
        header: &Header,
        dead: Option<[NodeId; 2]>,
        route: &Route,
        actions: &mut Vec<Action>,
    ) -> bool {
        let offers = |[from, to]: [NodeId; 2]| {
            let uses_link =
                |path: &Route| path.windows(2).any(|link| link == [from, to] || link == [to, from]);
            header.reply.as_ref().is_some_and(uses_link)
        };
        if dead.is_some_and(offers) {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return false;
        }
        let header = Header { salvaged: header.salvaged.saturating_add(1), ..header.clone() };
        packet.put_header(RoutingHeader::Dsr(header));
        self.send_along(now, packet, route, Span::ZERO, actions);
        true
    }

    /// §8.3.4: tells the node at which the packet's source route began that the link to `next_hop` is gone. A
    /// packet that was itself an error hands its errors on, to be unwrapped there; if it goes on, it carries
    /// them itself, and a second copy is made only if that is asked for. How often it was salvaged counts on.
    fn report(
        &mut self,
        now: Time,
        header: &Header,
        next_hop: NodeId,
        goes_on: bool,
        actions: &mut Vec<Action>,
    ) {
        let (Some(&tell), Some(here)) = (header.route.first(), header.place_of(self.node)) else { return };
        let told =
            self.last_break.as_mut().filter(|last| last.next_hop == next_hop).map(|last| &mut last.told);
        if tell == self.node || told.as_ref().is_some_and(|told| told.contains(&tell)) {
            return;
        }
        if let Some(told) = told {
            told.push(tell);
        }
        let mut errors = match goes_on && !self.params.nest_rescued_errors {
            true => SmallVec::new(),
            false => header.errors.clone(),
        };
        if errors.len() >= self.params.max_nested_errors as usize {
            return;
        }
        errors.push(LinkError { tell, from: self.node, to: next_hop });
        let back: Route = header.route[..=here].iter().rev().copied().collect();
        let first = back[1];
        let packet = self.control(
            now,
            tell,
            u8::MAX,
            Header { errors, route: back, salvaged: header.salvaged, ..self.header() },
        );
        actions.push(Action::Send { packet, next_hop: first, delay: Span::ZERO });
    }

    /// §8.3.5: takes the links that errors name out of the cache; remembers an error meant for this node.
    pub(super) fn learn_errors(&mut self, header: &Header, actions: &mut Vec<Action>) {
        for error in &header.errors {
            self.lose_link(error.from, error.to, true, actions);
        }
    }

    /// Remembers the error for the next request if it is meant for this node.
    pub(super) fn remember_error(&mut self, now: Time, header: &Header) {
        if let Some(error) = header.errors.last()
            && error.tell == self.node
        {
            self.held_error = Some(HeldError { from: error.from, to: error.to, since: now });
        }
    }

    /// An error that carries others was meant for this node: the next inner one goes to whom it is for.
    pub(super) fn unwrap_error(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        actions: &mut Vec<Action>,
    ) {
        match self.inner_error(now, packet, header) {
            Ok(inner) => self.send_or_seek(now, inner, actions),
            Err(packet) => actions.push(Action::Consume(packet)),
        }
    }

    /// The packet with the errors that are left for others, to the one whom the newest of them is for; the
    /// packet as it was if none is left.
    #[expect(clippy::result_large_err, reason = "it is the packet that comes back, and no error")]
    pub(super) fn inner_error(
        &mut self,
        now: Time,
        mut packet: Packet,
        header: &Header,
    ) -> Result<Packet, Packet> {
        let errors = self.inner_errors(now, header);
        let Some(next) = errors.last() else { return Err(packet) };
        packet.src = self.node;
        packet.dst = next.tell;
        packet.ttl = u8::MAX;
        let mut inner =
            Header { errors, salvaged: header.salvaged, copy_of: header.copy_of, ..self.header() };
        self.charge_stale(header, &mut inner);
        packet.put_header(RoutingHeader::Dsr(inner));
        Ok(packet)
    }

    /// What an error carries for others. Inner errors for this node are remembered, too.
    fn inner_errors(&mut self, now: Time, header: &Header) -> SmallVec<[LinkError; 1]> {
        let mut errors = header.errors.clone();
        errors.pop();
        while let Some(error) = errors.last().copied().filter(|error| error.tell == self.node) {
            self.held_error = Some(HeldError { from: error.from, to: error.to, since: now });
            errors.pop();
        }
        errors
    }

    /// A message about unknown flows was meant for this node: those for others go on.
    pub(super) fn receive_unknown_flows(
        &mut self,
        now: Time,
        mut packet: Packet,
        header: &Header,
        actions: &mut Vec<Action>,
    ) {
        let unknown_flows = self.learn_unknown_flows(header);
        let Some(next) =
            unknown_flows.last().copied().filter(|_| unknown_flows.len() < header.unknown_flows.len())
        else {
            actions.push(Action::Consume(packet));
            return;
        };
        packet.src = self.node;
        packet.dst = next.src;
        packet.ttl = u8::MAX;
        let mut inner = Header { unknown_flows, salvaged: header.salvaged, ..self.header() };
        self.charge_stale(header, &mut inner);
        packet.put_header(RoutingHeader::Dsr(inner));
        self.send_or_seek(now, packet, actions);
    }

    /// A link is gone: caches forget it, and the routes in use that need it have failed.
    fn lose_link(&mut self, from: NodeId, to: NodeId, told: bool, actions: &mut Vec<Action>) {
        self.cache.remove_link(from, to);
        self.flows.lose_link(from, to);
        self.in_use.retain(|&dst, route| {
            let broken = route.windows(2).any(|link| link[0] == from && link[1] == to);
            if broken {
                actions.push(Action::Notify(Notice::RouteFailed { dst, told }));
            }
            !broken
        });
    }
}
