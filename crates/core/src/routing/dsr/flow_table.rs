//! What a node remembers of its own and others' flows, and what that says of a packet (RFC 4728 §3.5).
//!
//! Read first: [`super::flows`], which sends and forwards by it.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::DsrParams;
use crate::kernel::{Span, Time};
use crate::wire::dsr::{FlowMark, Route};
use crate::wire::{NodeId, Packet};

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
pub(super) enum Fate {
    /// Its route, and where this node stands on it.
    Known(Route, usize),
    /// It has expired.
    Over,
    /// There is no default flow.
    NoDefault,
}

/// A node's own flows and those of others that it knows.
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
    pub(super) fn send(
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
    pub(super) fn remember(
        &mut self,
        now: Time,
        packet: &Packet,
        id: u16,
        (route, here): (&Route, usize),
        life: Span,
    ) {
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
    pub(super) fn next_hop(
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
    pub(super) fn fate(&self, now: Time, node: NodeId, packet: &Packet, mark: FlowMark) -> Fate {
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
    pub(super) fn establish_again(&mut self, dst: NodeId, id: u16) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::{at, data};

    #[test]
    fn of_more_flows_than_a_node_remembers_the_one_that_ends_first_is_forgotten() {
        let mut table = FlowTable::default();
        let route = Route::from_slice(&[1, 2, 3].map(NodeId));
        for id in 0..=KNOWN_FLOWS as u16 {
            let now = at(f64::from(id) / 1e3);
            table.remember(now, &data(1, 1, 3, 0), id, (&route, 1), Span::from_secs(60.0));
        }
        let first = table.known.keys().next().map(|(_, _, id)| *id);
        assert_eq!((table.known.len(), first), (KNOWN_FLOWS, Some(1)));
    }
}
