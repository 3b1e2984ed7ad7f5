//! Flow state: packets without a source route (RFC 4728 §3.5), as ns-2.35 has it.
//!
//! A source numbers each route that its packets to a destination take. The first packets of such a *flow*
//! carry the source route and the flow's number, which the nodes on the way remember; the following ones
//! carry the number alone, or nothing if the flow is the newest of its source and destination, the *default
//! flow*. A node that does not know a flow says so to its source, and salvages the packet.
//!
//! *Deviations* (docs/models/dsr.md): 6 (what ns-2.35 does differently from the standard).

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::{Action, relay};
use crate::wire::dsr::{FlowMark, Header, Route, UnknownFlow};
use crate::wire::{NodeId, Packet, RoutingHeader};

use super::DsrParams;
use super::node::Dsr;

/// The maximum number of flows of other nodes that a node remembers, as in ns-2.35's flowstruct.h, where a
/// larger number ends the run.
const KNOWN_FLOWS: usize = 3000;

/// A flow of this node's own packets.
#[derive(Debug)]
struct OwnFlow {
    id: u16,
    route: Route,
    /// Packets that carried the source route since the flow began, or since a node did not know it.
    with_route: u32,
    /// When the source route was last sent.
    advertised: Time,
    expires: Time,
    /// TTL of its first packet.
    ttl: u8,
    /// Have all its packets with a source route had that TTL?
    may_be_default: bool,
}

/// This node's flows to one destination.
#[derive(Debug, Default)]
struct OwnFlows {
    /// The newest flow, which needs no number.
    default: Option<u16>,
    /// In order of their age; those that have expired go when the next packet is sent.
    flows: SmallVec<[OwnFlow; 1]>,
}

/// A flow of another node.
#[derive(Debug)]
struct KnownFlow {
    route: Route,
    /// Where this node stands on the route.
    here: usize,
    /// TTL of the packets of this flow on arrival.
    ttl: u8,
    expires: Time,
}

/// What became of the flow of a packet that could not be delivered.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// Its route, and where this node stands on it.
    Known(Route, usize),
    /// It has expired.
    Over,
    /// There is no default flow.
    NoDefault,
}

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct FlowTable {
    flows_made: u16,
    own: BTreeMap<NodeId, OwnFlows>,
    /// By source, destination and number.
    known: BTreeMap<(NodeId, NodeId, u16), KnownFlow>,
    /// By source and destination: the number of the newest known flow.
    defaults: BTreeMap<(NodeId, NodeId), u16>,
}

impl FlowTable {
    /// A packet of this node is to be sent along `found`: the route that it takes, and what its header says.
    fn send(
        &mut self,
        now: Time,
        packet: &Packet,
        found: &[NodeId],
        params: &DsrParams,
    ) -> (Route, FlowMark) {
        let own = self.own.entry(packet.dst).or_default();
        own.flows.retain(|flow| flow.expires >= now);
        let is_default = |flow: &&OwnFlow| Some(flow.id) == own.default && flow.route.len() <= found.len();
        let route = own.flows.iter().find(is_default).map_or(found, |flow| &flow.route[..]);
        let route = Route::from_slice(route);
        let expires = now + Span::from_secs(params.flow_timeout_s);
        let Some(flow) = own.flows.iter_mut().rfind(|flow| flow.route == route) else {
            // Numbers of flows that may become the default are odd (§3.5.2).
            let id = self.flows_made.wrapping_mul(2).wrapping_add(1);
            self.flows_made = self.flows_made.wrapping_add(1);
            own.default = Some(id);
            own.flows.push(OwnFlow {
                id,
                route: route.clone(),
                with_route: 1,
                advertised: now,
                expires,
                ttl: packet.ttl,
                may_be_default: true,
            });
            return (route, FlowMark::Establishes(id));
        };
        flow.expires = expires;
        let interval = Span::from_secs(params.flow_route_interval_s);
        let mark = if flow.with_route < params.flow_packets_with_route || flow.advertised + interval < now {
            flow.may_be_default &= flow.ttl == packet.ttl;
            flow.with_route += 1;
            flow.advertised = now;
            FlowMark::Establishes(flow.id)
        } else if own.default == Some(flow.id) && flow.may_be_default && flow.ttl == packet.ttl {
            FlowMark::Default
        } else {
            FlowMark::Member(flow.id)
        };
        (route, mark)
    }

    /// A packet of another node, with its source route, belongs to the flow `id`; this node stands `here` on
    /// the route.
    fn remember(&mut self, now: Time, packet: &Packet, id: u16, (route, here): (&Route, usize), life: Span) {
        let key = (packet.src, packet.dst, id);
        if self.known.get(&key).is_some_and(|flow| flow.route == *route) {
            return;
        }
        self.make_room(now);
        let flow = KnownFlow { route: route.clone(), here, ttl: packet.ttl, expires: now + life };
        self.known.insert(key, flow);
        let newest = self.defaults.entry((packet.src, packet.dst)).or_insert(id);
        // Numbers go round: the newer of two is the one that is less than half of all numbers ahead.
        if (id.wrapping_sub(*newest) as i16) > 0 {
            *newest = id;
        }
    }

    /// Forgets flows if there are too many: those that have expired, or else the one that will first.
    fn make_room(&mut self, now: Time) {
        if self.known.len() < KNOWN_FLOWS {
            return;
        }
        let first = self.known.values().map(|flow| flow.expires).min().unwrap_or(now);
        let known = &mut self.known;
        let limit = now.max(first + Span(1));
        known.retain(|_, flow| flow.expires >= limit);
        self.defaults.retain(|&(src, dst), id| known.contains_key(&(src, dst, *id)));
    }

    /// The next hop of a packet of a flow, by its number or else of the default flow; what is unknown if that
    /// is so: a number, or the default flow.
    fn next_hop(
        &mut self,
        now: Time,
        packet: &Packet,
        mark: FlowMark,
        life: Span,
    ) -> Result<NodeId, Option<u16>> {
        let ends = (packet.src, packet.dst);
        let (id, ttl) = match mark {
            FlowMark::Establishes(id) | FlowMark::Member(id) => (id, None),
            FlowMark::Default => (*self.defaults.get(&ends).ok_or(None)?, Some(packet.ttl)),
        };
        let flow = self.known.get_mut(&(ends.0, ends.1, id)).ok_or(Some(id))?;
        if ttl.is_some_and(|ttl| ttl != flow.ttl) {
            return Err(None);
        }
        flow.expires = now + life;
        flow.route.get(flow.here + 1).copied().ok_or(Some(id))
    }

    /// The flow of a packet of `node` or another one that could not be delivered, as it is known now.
    fn fate(&self, now: Time, node: NodeId, packet: &Packet, mark: FlowMark) -> Fate {
        let id = match (mark, packet.src == node) {
            (FlowMark::Establishes(id) | FlowMark::Member(id), _) => Some(id),
            (FlowMark::Default, true) => self.own.get(&packet.dst).and_then(|own| own.default),
            (FlowMark::Default, false) => self.defaults.get(&(packet.src, packet.dst)).copied(),
        };
        let Some(id) = id else { return Fate::NoDefault };
        let found = if packet.src == node {
            let own = self.own.get(&packet.dst).and_then(|own| own.flows.iter().find(|flow| flow.id == id));
            own.map(|flow| (&flow.route, 0, flow.expires))
        } else {
            let known = self.known.get(&(packet.src, packet.dst, id));
            known.map(|flow| (&flow.route, flow.here, flow.expires))
        };
        match found {
            Some((route, here, expires)) if expires >= now => Fate::Known(route.clone(), here),
            _ => Fate::Over,
        }
    }

    /// A node does not know a flow of this node: its next packets carry the source route again.
    fn establish_again(&mut self, dst: NodeId, id: u16) {
        let own = self.own.get_mut(&dst);
        if let Some(flow) = own.and_then(|own| own.flows.iter_mut().find(|flow| flow.id == id)) {
            flow.with_route = 0;
        }
    }

    /// A link failed: this node's flows over it are over.
    pub(super) fn lose_link(&mut self, from: NodeId, to: NodeId) {
        for own in self.own.values_mut() {
            own.flows.retain(|flow| !flow.route.windows(2).any(|link| link == [from, to]));
        }
    }
}

impl Dsr {
    fn flow_timeout(&self) -> Span {
        Span::from_secs(self.params.flow_timeout_s)
    }

    /// The route that a packet takes when `found` is the cached one, and the mark of its flow. Requests,
    /// replies and errors about links always carry their source route, and so do packets of others.
    pub(super) fn choose_flow(
        &mut self,
        now: Time,
        packet: &Packet,
        header: &Header,
        found: &[NodeId],
    ) -> (Route, Option<FlowMark>) {
        let is_control = header.request.is_some() || header.reply.is_some() || !header.errors.is_empty();
        if !self.params.flow_state || is_control || packet.src != self.node {
            return (Route::from_slice(found), None);
        }
        let (route, mark) = self.flows.send(now, packet, found, &self.params);
        (route, Some(mark))
    }

    /// A packet with a source route tells the nodes on it of its flow.
    pub(super) fn remember_flow(&mut self, now: Time, packet: &Packet, header: &Header) {
        let life = self.flow_timeout();
        if let Some(FlowMark::Establishes(id)) = header.flow
            && let Some(here) = header.place_of(self.node)
        {
            self.flows.remember(now, packet, id, (&header.route, here), life);
        }
    }

    /// A packet of another node without a source route.
    pub(super) fn forward_by_flow(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        mark: FlowMark,
        actions: &mut Vec<Action>,
    ) {
        match self.flows.next_hop(now, &packet, mark, self.flow_timeout()) {
            Ok(next_hop) => {
                if let Some(packet) = relay::count_hop(packet, actions) {
                    actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
                }
            }
            Err(id) => self.report_unknown_flow(now, packet, header, id, actions),
        }
    }

    /// The packet is salvaged, and its source is told that its flow `id`, or its default flow, is not known
    /// here.
    fn report_unknown_flow(
        &mut self,
        now: Time,
        mut packet: Packet,
        header: &Header,
        id: Option<u16>,
        actions: &mut Vec<Action>,
    ) {
        let (src, dst) = (packet.src, packet.dst);
        if src == self.node {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        }
        let without_flow = Header { flow: None, ..header.clone() };
        packet.put_header(RoutingHeader::Dsr(without_flow.clone()));
        self.rescue(now, packet, &without_flow, self.node, actions);
        let mut unknown_flows = without_flow.unknown_flows;
        if unknown_flows.len() < self.params.max_nested_errors as usize {
            unknown_flows.push(UnknownFlow { src, dst, id });
            let header = Header { unknown_flows, salvaged: header.salvaged, ..self.header() };
            let error = self.control(now, src, u8::MAX, header);
            self.send_or_seek(now, error, actions);
        }
    }

    /// Errors about flows have come here. The newest is for this node; those that it carries for others are
    /// what is left.
    pub(super) fn learn_unknown_flows(&mut self, header: &Header) -> SmallVec<[UnknownFlow; 1]> {
        let mut unknown_flows = header.unknown_flows.clone();
        while let Some(unknown) = unknown_flows.last().copied().filter(|unknown| unknown.src == self.node) {
            // ns-2.35 looks for a default flow under a number that it has not set, and so finds none.
            if let Some(id) = unknown.id {
                self.flows.establish_again(unknown.dst, id);
            }
            unknown_flows.pop();
        }
        unknown_flows
    }

    /// A packet that could not be delivered gets the source route of its flow, if it had none, and with it
    /// the next hop that has failed. None if that was all that could be done with it.
    pub(super) fn restore_route(
        &mut self,
        now: Time,
        mut packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) -> Option<(Packet, NodeId)> {
        let header = packet.dsr();
        let Some((header, mark)) =
            header.and_then(|header| Some((header.clone(), header.flow?))).filter(|of| of.0.route.is_empty())
        else {
            return Some((packet, next_hop));
        };
        match self.flows.fate(now, self.node, &packet, mark) {
            Fate::Known(route, here) => {
                let next_hop = route.get(here + 1).copied().unwrap_or(next_hop);
                packet.put_header(RoutingHeader::Dsr(Header { route, flow: None, ..header }));
                Some((packet, next_hop))
            }
            Fate::Over => {
                actions.push(Action::Drop(packet, DropReason::LinkFailure));
                None
            }
            Fate::NoDefault => {
                self.report_unknown_flow(now, packet, &header, None, actions);
                None
            }
        }
    }
}
