//! One node's DSR under test: packets in by hand, actions out, time by hand.

use std::sync::Arc;

use smallvec::SmallVec;

use super::header::{Header, LinkError, Request, Route};
use super::{DsrParams, new};
use crate::kernel::{Purpose, Span, Streams, Time};
use crate::packet::{Ecn, NodeId, Packet, Payload};
use crate::routing::testbench::data;
use crate::routing::{Action, Routing};

/// The node under test; the others are whoever the tests say.
pub(super) const ME: u32 = 0;

pub(super) struct Probe {
    machine: Box<dyn Routing>,
    reply_fixed_bytes: u8,
    next_uid: u64,
}

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
        self.packet.dsr.as_deref().expect("every packet has a header")
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

impl Probe {
    /// A node that starts at time zero.
    pub(super) fn new(params: &DsrParams) -> Probe {
        let stream = Streams::new(1, 0).stream(ME, Purpose::Routing);
        Probe {
            machine: new(NodeId(ME), params, stream),
            reply_fixed_bytes: params.reply_fixed_bytes as u8,
            next_uid: 1,
        }
    }

    fn actions(&mut self, input: impl FnOnce(&mut dyn Routing, &mut Vec<Action>)) -> Vec<Action> {
        let mut actions = Vec::new();
        input(self.machine.as_mut(), &mut actions);
        actions
    }

    fn uid(&mut self) -> u64 {
        self.next_uid += 1;
        self.next_uid
    }

    fn header(&self) -> Header {
        Header { reply_fixed_bytes: self.reply_fixed_bytes, ..Header::default() }
    }

    /// A data packet on a source route, from its first node to its last.
    pub(super) fn on_route(&mut self, nodes: &[u32]) -> Packet {
        let header = Header { route: route(nodes), ..self.header() };
        let mut packet = data(self.uid(), nodes[0], *nodes.last().expect("a route"), 1);
        packet.bytes += header.bytes();
        packet.dsr = Some(Arc::new(header));
        packet
    }

    fn control(&mut self, src: u32, dst: u32, header: Header) -> Packet {
        Packet {
            payload: Payload::Dsr,
            bytes: 20 + header.bytes(),
            ecn: Ecn::NotEct,
            dsr: Some(Arc::new(header)),
            ..data(self.uid(), src, dst, 1)
        }
    }

    /// This node's transport sends a packet to `dst`.
    pub(super) fn send(&mut self, now: Time, dst: u32) -> Vec<Action> {
        let packet = data(self.uid(), ME, dst, 0);
        self.actions(|machine, actions| machine.handle_outgoing(now, packet, actions))
    }

    pub(super) fn incoming(&mut self, now: Time, packet: Packet) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_incoming(now, packet, NodeId(99), actions))
    }

    /// A request that has passed these nodes arrives; `forwarders` as its initiator set it.
    pub(super) fn request(
        &mut self,
        now: Time,
        id: u32,
        target: u32,
        passed: &[u32],
        forwarders: u32,
    ) -> Vec<Action> {
        let request = Some(Request { id, target: NodeId(target), forwarders });
        let header = Header { request, route: route(passed), ..self.header() };
        let packet = self.control(passed[0], NodeId::BROADCAST.0, header);
        self.incoming(now, packet)
    }

    /// A reply that offers `offered` comes along `way`, or is overheard on it.
    pub(super) fn reply_packet(&mut self, offered: &[u32], way: &[u32]) -> Packet {
        let header = Header { reply: Some(route(offered)), route: route(way), ..self.header() };
        self.control(way[0], *way.last().expect("a way"), header)
    }

    pub(super) fn reply(&mut self, now: Time, offered: &[u32]) -> Vec<Action> {
        let way: Vec<u32> = offered.iter().rev().copied().collect();
        let packet = self.reply_packet(offered, &way);
        self.incoming(now, packet)
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

    pub(super) fn overhear(&mut self, now: Time, packet: &Packet, from: u32, to: u32) -> Vec<Action> {
        self.actions(|machine, actions| {
            machine.handle_overheard(now, packet, NodeId(from), NodeId(to), actions);
        })
    }

    pub(super) fn fail(&mut self, now: Time, packet: Packet, next_hop: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_link_failure(now, packet, NodeId(next_hop), actions))
    }

    pub(super) fn flushed(&mut self, now: Time, packet: Packet, next_hop: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_flushed(now, packet, NodeId(next_hop), actions))
    }

    /// Wakes the machine whenever it wants, up to and including `end`.
    pub(super) fn run_until(&mut self, end: Time) -> Vec<(Time, Sent)> {
        let mut all = Vec::new();
        while self.machine.next_timeout() <= end {
            let now = self.machine.next_timeout();
            let actions = self.actions(|machine, actions| machine.handle_timeout(now, actions));
            assert!(self.machine.next_timeout() > now, "wants to be woken again at {now:?}");
            all.extend(sent(&actions).into_iter().map(|sent| (now, sent)));
        }
        all
    }

    pub(super) fn next_hop(&self, now: Time, dst: u32) -> Option<u32> {
        self.machine.next_hop(now, NodeId(dst)).map(|next_hop| next_hop.0)
    }

    pub(super) fn buffered(&self) -> usize {
        let mut count = 0;
        self.machine.buffered(&mut |_| count += 1);
        count
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
