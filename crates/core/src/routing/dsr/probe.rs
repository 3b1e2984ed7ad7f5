//! A test's view of one DSR node: it hands packets with headers in and reads those that come out.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use smallvec::SmallVec;

use super::{DsrParams, new};
use crate::kernel::{Span, Time};
use crate::routing::testbench::data;
use crate::routing::{Action, probe};
use crate::wire::dsr::{Header, LinkError, Request, Route};
use crate::wire::{NodeId, Packet, Payload, RoutingHeader};

/// A packet that the node sent.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sent {
    /// The neighbour; none: broadcast.
    pub(super) to: Option<u32>,
    pub(super) delay: Span,
    pub(super) packet: Packet,
}

impl Sent {
    pub(super) fn header(&self) -> &Header {
        self.packet.dsr().expect("every packet has a header")
    }

    pub(super) fn route(&self) -> Vec<u32> {
        plain(&self.header().route)
    }

    pub(super) fn reply(&self) -> Vec<u32> {
        plain(self.header().reply.as_ref().expect("a reply"))
    }
}

pub(super) fn route(nodes: &[u32]) -> Route {
    nodes.iter().map(|node| NodeId(*node)).collect()
}

pub(super) fn plain(route: &[NodeId]) -> Vec<u32> {
    route.iter().map(|node| node.0).collect()
}

/// The node under test; the others are whoever the tests say.
pub(super) const ME: u32 = probe::ME.0;

/// The shared probe, and the headers that its node's parameters make.
pub(super) struct Probe {
    probe: probe::Probe,
    reply_fixed_bytes: u8,
}

impl Deref for Probe {
    type Target = probe::Probe;

    fn deref(&self) -> &probe::Probe {
        &self.probe
    }
}

impl DerefMut for Probe {
    fn deref_mut(&mut self) -> &mut probe::Probe {
        &mut self.probe
    }
}

impl Probe {
    /// A node that starts at time zero.
    pub(super) fn new(params: &DsrParams) -> Probe {
        let probe = probe::Probe::new(|node, stream| new(node, params, stream));
        Probe { probe, reply_fixed_bytes: params.reply_fixed_bytes as u8 }
    }

    fn header(&self) -> Header {
        Header { reply_fixed_bytes: self.reply_fixed_bytes, ..Header::default() }
    }

    /// A data packet on a source route, from its first node to its last.
    pub(super) fn on_route(&mut self, nodes: &[u32]) -> Packet {
        let header = Header { route: route(nodes), ..self.header() };
        let mut packet = data(self.uid(), nodes[0], *nodes.last().expect("a route"), 1);
        packet.put_header(RoutingHeader::Dsr(header));
        packet
    }

    fn control(&mut self, src: u32, dst: u32, header: Header) -> Packet {
        Packet {
            payload: Payload::Nothing,
            bytes: 20 + header.bytes(),
            routing_header: Some(Arc::new(RoutingHeader::Dsr(header))),
            ..data(self.uid(), src, dst, 1)
        }
    }

    /// A packet arrives; DSR does not care from whom.
    pub(super) fn receive(&mut self, now: Time, packet: Packet) -> Vec<Action> {
        self.incoming(now, packet, 99)
    }

    /// A request that has passed these nodes; `forwarders` as its initiator set it.
    pub(super) fn request_packet(&mut self, id: u32, target: u32, passed: &[u32], forwarders: u32) -> Packet {
        let request = Some(Request { id, target: NodeId(target), forwarders });
        let header = Header { request, route: route(passed), ..self.header() };
        self.control(passed[0], NodeId::BROADCAST.0, header)
    }

    /// Such a request arrives.
    pub(super) fn request(
        &mut self,
        now: Time,
        id: u32,
        target: u32,
        passed: &[u32],
        forwarders: u32,
    ) -> Vec<Action> {
        let packet = self.request_packet(id, target, passed, forwarders);
        self.receive(now, packet)
    }

    /// A reply that offers `offered` comes along `way`, or is overheard on it.
    pub(super) fn reply_packet(&mut self, offered: &[u32], way: &[u32]) -> Packet {
        let header = Header { reply: Some(route(offered)), route: route(way), ..self.header() };
        self.control(way[0], *way.last().expect("a way"), header)
    }

    pub(super) fn reply(&mut self, now: Time, offered: &[u32]) -> Vec<Action> {
        let way: Vec<u32> = offered.iter().rev().copied().collect();
        let packet = self.reply_packet(offered, &way);
        self.receive(now, packet)
    }

    /// Errors, each as (tell, from, to), on a packet along `way`.
    pub(super) fn error_packet(&mut self, errors: &[(u32, u32, u32)], way: &[u32]) -> Packet {
        let errors: SmallVec<[LinkError; 1]> = errors
            .iter()
            .map(|&(tell, from, to)| LinkError { tell: NodeId(tell), from: NodeId(from), to: NodeId(to) })
            .collect();
        let header = Header { errors, route: route(way), ..self.header() };
        self.control(way[0], *way.last().expect("a way"), header)
    }

    /// What the node sends of itself, up to and including `end`.
    pub(super) fn sent_until(&mut self, end: Time) -> Vec<(Time, Sent)> {
        let actions = self.run_until(end).into_iter();
        actions.flat_map(|(now, action)| sent(&[action]).into_iter().map(move |sent| (now, sent))).collect()
    }
}

/// The packets sent, in order.
pub(super) fn sent(actions: &[Action]) -> Vec<Sent> {
    let sent = |action: &Action| match action {
        Action::Send { packet, next_hop, delay } => {
            Some(Sent { to: Some(next_hop.0), delay: *delay, packet: packet.clone() })
        }
        Action::Broadcast { packet, delay } => Some(Sent { to: None, delay: *delay, packet: packet.clone() }),
        _ => None,
    };
    actions.iter().filter_map(sent).collect()
}

/// The only packet sent.
pub(super) fn only(actions: &[Action]) -> Sent {
    let mut all = sent(actions);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}
