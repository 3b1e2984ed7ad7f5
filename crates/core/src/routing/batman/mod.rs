//! B.A.T.M.A.N. IV, as batman-adv (2024) and batmand (0.3) do it: nodes flood messages that say that they are
//! there, and remember for each node only the neighbour over which its messages come best.
//!
//! Read first: the draft by Neumann, Aichele, Lindner, Wunderlich (draft-openmesh-b-a-t-m-a-n-00, 2008) for
//! the idea; what is done today is in the sources, `bat_iv_ogm.c` of batman-adv above all.
//!
//! **Implemented.** Originator messages (OGMs), their aggregation, echoes by which a node learns how well it
//! is heard, transmission qualities (TQ) with a penalty for asymmetric links and one for each hop, ranking of
//! neighbours, protection against jumps of numbers, purging; headers on data packets.
//!
//! **Not implemented.** Translation tables (nodes are their own clients), distributed ARP tables, gateways,
//! multicast, fragments, bonding, several interfaces, network coding; B.A.T.M.A.N. V.
//!
//! **Deviations**: numbered in docs/models/batman.md.

mod originators;
mod params;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::originators::{Arrival, Originators};
pub use self::params::{BatmanParams, Layer};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::{Action, Changes, Notice, Routing, relay};
use crate::wire::batman::{Ogm, Packet as BatmanPacket, Unicast};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader, UDP_HEADER_BYTES};

/// The best quality.
const BEST: u8 = 255;
/// Messages that a window of received ones holds.
const WINDOW: u32 = 64;
/// Hops that a data packet may go (batman-adv 2024).
const UNICAST_TTL: u8 = 50;

/// One node's B.A.T.M.A.N. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &Arc<BatmanParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Batman::new(node, Arc::clone(params), stream))
}

/// Messages of others that will be sent together.
struct Aggregate {
    at: Time,
    ogms: Vec<Ogm>,
}

/// The state of one node.
struct Batman {
    node: NodeId,
    params: Arc<BatmanParams>,
    stream: Stream,
    /// The number of the last message of its own.
    seqno: u32,
    ogm_at: Time,
    originators: Originators,
    /// What waits to be passed on, and what goes with the next message of its own.
    waiting: Vec<Aggregate>,
    with_own: Vec<Ogm>,
    /// Routes whose changes were not asked for yet.
    changes: Changes,
}

impl Batman {
    fn new(node: NodeId, params: Arc<BatmanParams>, stream: Stream) -> Batman {
        Batman {
            node,
            params,
            stream,
            seqno: 0,
            ogm_at: Time::NEVER,
            originators: Originators::default(),
            waiting: Vec::new(),
            with_own: Vec::new(),
            changes: Changes::NONE,
        }
    }
}

impl Routing for Batman {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.ogm_at = now + self.stream.span_below(Span::from_secs(self.params.ogm_interval_s));
    }

    fn handle_outgoing(&mut self, _now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            if self.params.layer == Layer::Link {
                let header = Unicast { ttl: UNICAST_TTL, dst: packet.dst };
                packet.put_header(RoutingHeader::Batman(header));
            }
            self.forward(packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Batman(content) = &packet.payload {
            let ogms = Arc::clone(&content.ogms);
            actions.push(Action::Consume(packet));
            for ogm in ogms.iter() {
                self.receive(now, ogm, from, actions);
            }
        } else if let Some(packet) = self.pass(packet, actions) {
            self.forward(packet, actions);
        }
    }

    /// B.A.T.M.A.N. learns nothing from the MAC.
    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Packet,
        _next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    /// Messages of batman-adv carry MAC addresses.
    fn knows_mac_addresses(&self) -> bool {
        self.params.layer == Layer::Link
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        for dst in self.originators.expire(now, self.params.purge()) {
            self.changes.add(dst);
            if self.originators.router(dst).is_none() {
                actions.push(Action::Notify(Notice::RouteFailed { dst, told: true }));
            }
        }
        if self.ogm_at <= now {
            self.send_own(now, actions);
        }
        let (due, later): (Vec<Aggregate>, Vec<Aggregate>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|aggregate| aggregate.at <= now);
        self.waiting = later;
        for aggregate in due {
            self.send(now, aggregate.ogms, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let waiting = self.waiting.iter().map(|aggregate| aggregate.at);
        waiting.fold(self.ogm_at.min(self.originators.next_timeout()), Time::min)
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn remembered(&self, _now: Time) -> Option<usize> {
        Some(self.originators.len() + self.waiting.len() + self.with_own.len())
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.originators.router(dst)
    }

    fn take_route_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

/// Data.
impl Batman {
    /// Takes what is for this node, with its header off, and what has gone too far; anything else goes on.
    fn pass(&self, mut packet: Packet, actions: &mut Vec<Action>) -> Option<Packet> {
        let header = packet.routing_header.as_deref().and_then(RoutingHeader::as_batman).copied();
        if packet.is_for(self.node) {
            packet.take_header();
        }
        let mut packet = relay::accept(self.node, packet, actions)?;
        if let Some(Unicast { ttl, dst }) = header {
            if ttl <= 1 {
                actions.push(Action::Drop(packet, DropReason::TtlExpired));
                return None;
            }
            packet.put_header(RoutingHeader::Batman(Unicast { ttl: ttl - 1, dst }));
        }
        Some(packet)
    }

    fn forward(&self, packet: Packet, actions: &mut Vec<Action>) {
        actions.push(match self.originators.router(packet.dst) {
            Some(next_hop) => Action::Send { packet, next_hop, delay: Span::ZERO },
            None => Action::Drop(packet, DropReason::NoRoute),
        });
    }
}

/// What comes in.
impl Batman {
    /// A message that a neighbour has sent, its own or another's.
    fn receive(&mut self, now: Time, ogm: &Ogm, from: NodeId, actions: &mut Vec<Action>) {
        if ogm.origin == self.node {
            self.receive_echo(ogm, from);
            return;
        }
        if ogm.previous == self.node || ogm.is_not_best || ogm.origin.is_broadcast() {
            return;
        }
        let originator = self.originators.entry(now, ogm.origin, self.params.purge());
        let arrival = originator.note(now, ogm, from, &self.params);
        if arrival == Arrival::Refused || ogm.tq == 0 || self.goes_back(ogm) {
            return;
        }
        let is_neighbour = ogm.origin == from;
        if !is_neighbour && self.originators.router(from).is_none() {
            return;
        }
        let tq = self.quality(ogm.tq, from);
        if tq >= 1 {
            self.rank(ogm, tq, from, arrival, actions);
        }
        let is_best = self.originators.router(ogm.origin) == Some(from);
        // A neighbour's own message always goes on, so that it learns how well it is heard.
        if is_neighbour || (tq >= 1 && arrival != Arrival::RepeatedHere && is_best) {
            self.pass_on(now, ogm, from, (tq, is_neighbour, is_neighbour && !is_best));
        }
    }

    /// A message of this node that comes back from the neighbour that heard it.
    fn receive_echo(&mut self, ogm: &Ogm, from: NodeId) {
        let behind = self.params.ahead(self.seqno, ogm.seqno);
        if ogm.is_direct
            && let Some(neighbour) = self.originators.get_mut(from)
        {
            neighbour.echo(behind);
        }
    }

    /// Would it go in a circle: does this node send packets for the originator to the one from which the
    /// sender has the message?
    fn goes_back(&self, ogm: &Ogm) -> bool {
        let previous = ogm.previous;
        previous != ogm.origin
            && self.originators.router(ogm.origin) == Some(previous)
            && self.originators.router(previous) == Some(previous)
    }

    /// The quality over a neighbour: what it says, less what is lost on the link to it, and less again if the
    /// link is much worse in the other direction.
    fn quality(&self, tq: u8, neighbour: NodeId) -> u8 {
        let Some(link) = self.originators.get(neighbour) else { return 0 };
        let heard = link.heard(neighbour);
        let echoed = link.echoed().min(heard);
        if heard < 1 || echoed < 1 {
            return 0;
        }
        let own = 255 * echoed / heard;
        let missed = u64::from(WINDOW - heard.min(WINDOW));
        let asymmetry = 255 - 255 * missed.pow(3) / u64::from(WINDOW).pow(3);
        (u64::from(tq) * u64::from(own) * asymmetry / (255 * 255)) as u8
    }

    fn rank(&mut self, ogm: &Ogm, tq: u8, from: NodeId, arrival: Arrival, actions: &mut Vec<Action>) {
        let Some(originator) = self.originators.get(ogm.origin) else { return };
        if !originator.ranks(ogm, arrival) {
            return;
        }
        let router = originator.router;
        let echoed = [Some(from), router].map(|node| {
            node.map_or((from, 0), |node| (node, self.originators.get(node).map_or(0, |each| each.echoed())))
        });
        let echoed = |node| echoed.iter().find(|(other, _)| *other == node).map_or(0, |(_, echoed)| *echoed);
        let Some(originator) = self.originators.get_mut(ogm.origin) else { return };
        if originator.rank((ogm, tq), from, arrival == Arrival::New, echoed) {
            self.changes.add(ogm.origin);
            if router.is_none() {
                actions.push(Action::Notify(Notice::RouteFound { dst: ogm.origin }));
            }
        }
    }
}

/// What goes out.
impl Batman {
    /// Passes a message on with the quality from here. On the radio from which it came it costs twice.
    fn pass_on(
        &mut self,
        now: Time,
        ogm: &Ogm,
        from: NodeId,
        (tq, is_direct, is_not_best): (u8, bool, bool),
    ) {
        if ogm.ttl <= 1 {
            return;
        }
        let here = if self.params.half_duplex { self.params.penalised(tq) } else { tq };
        let tq = self.params.penalised(here);
        let passed = Ogm { previous: from, ttl: ogm.ttl - 1, tq, is_direct, is_not_best, ..*ogm };
        let jitter = Span::from_secs(self.params.forward_jitter_ms * 1e-3);
        let at = now + self.stream.span_below(jitter);
        let end = at + Span::from_secs(self.params.aggregation_ms * 1e-3);
        if self.params.aggregation_ms > 0.0 {
            let has_room = |others: usize| {
                let ogms = others as u32 + 1;
                ogms <= self.params.aggregate_ogms
                    && ogms * self.params.form().ogm_bytes() <= self.params.aggregate_bytes
            };
            let fits = |others: usize, sent: Time| at < sent && sent <= end && has_room(others);
            if fits(self.with_own.len() + 1, self.ogm_at) {
                self.with_own.push(passed);
                return;
            }
            if let Some(aggregate) = self.waiting.iter_mut().find(|each| fits(each.ogms.len(), each.at)) {
                aggregate.ogms.push(passed);
                return;
            }
        }
        self.waiting.push(Aggregate { at: end, ogms: vec![passed] });
    }

    /// A message of its own, with others that came in time for it.
    fn send_own(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.seqno = self.seqno.wrapping_add(1);
        self.originators.iter_mut().for_each(|each| each.await_echo());
        let own = Ogm {
            origin: self.node,
            previous: self.node,
            seqno: self.seqno,
            ttl: self.params.ttl as u8,
            tq: BEST,
            is_direct: false,
            is_not_best: false,
        };
        let mut ogms = vec![own];
        ogms.append(&mut self.with_own);
        let interval = Span::from_secs(self.params.ogm_interval_s);
        let jitter = Span::from_secs(self.params.ogm_jitter_ms * 1e-3).min(interval.scaled(0.5));
        self.ogm_at = now + interval.saturating_sub(jitter) + self.stream.span_below(jitter * 2);
        self.send(now, ogms, actions);
    }

    fn send(&self, now: Time, ogms: Vec<Ogm>, actions: &mut Vec<Action>) {
        let content = BatmanPacket { form: self.params.form(), ogms: ogms.into() };
        let headers = match self.params.layer {
            Layer::Link => 0,
            Layer::Ip => IP_HEADER_BYTES + UDP_HEADER_BYTES,
        };
        let bytes = headers + content.bytes();
        let packet = Packet::control(now, self.node, NodeId::BROADCAST, 1, bytes, Payload::Batman(content));
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }
}
