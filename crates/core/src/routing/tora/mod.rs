//! TORA, the Temporally Ordered Routing Algorithm, over IMEP: nodes have heights for each destination,
//! packets flow down, and a node that has no link down any more raises its height, which reverses its links.
//!
//! Read first: Park and Corson, "A highly adaptive distributed routing algorithm for mobile wireless
//! networks", INFOCOM 1997, and docs/models/tora.md, which says what was read and what was not.
//!
//! **Implemented.** Queries, updates and clears; the five cases of maintenance; partitions that are found
//! and erased ([`rules`]); IMEP's beacons and HELLOs, its blocks of objects, their acknowledgement,
//! repetition and order ([`imep`]); link failures by the MAC; the packet buffer.
//!
//! **Not implemented.** Proactive and loop-free optimisations of the later drafts, IMEP's authentication,
//! several interfaces, addresses of IMEP's own.
//!
//! **Deviations**: numbered in docs/models/tora.md.

mod heights;
mod imep;
mod params;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::imep::{Event, Imep};
pub use self::params::ToraParams;
use self::rules::Rules;
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::{Action, Changes, Notice, Routing, relay};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

/// One node's TORA. `stream` is used for IMEP's waits.
pub fn new(node: NodeId, params: &Arc<ToraParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Tora::new(node, params, stream))
}

/// The state of one node.
struct Tora {
    node: NodeId,
    imep: Imep,
    rules: Rules,
    buffer: PacketBuffer,
    buffer_timeout: Span,
    /// Destinations for which a link leads down.
    reachable: BTreeSet<NodeId>,
    /// Those for which none does any more, which was told.
    failed: BTreeSet<NodeId>,
    changes: Changes,
}

impl Tora {
    fn new(node: NodeId, params: &Arc<ToraParams>, stream: Stream) -> Tora {
        Tora {
            node,
            imep: Imep::new(node, Arc::clone(params), stream),
            rules: Rules::new(node, Arc::clone(params)),
            buffer: PacketBuffer::new(params.buffer_packets),
            buffer_timeout: Span::from_secs(params.buffer_timeout_s),
            reachable: BTreeSet::new(),
            failed: BTreeSet::new(),
            changes: Changes::NONE,
        }
    }
}

impl Routing for Tora {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.imep.start(now);
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            self.forward(now, packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        self.imep.hear(now, from);
        if let Payload::Tora(content) = &packet.payload {
            let mut events = Vec::new();
            self.imep.receive(now, from, content, &mut events);
            actions.push(Action::Consume(packet));
            self.heed(now, events, actions);
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(now, packet, actions);
        }
    }

    /// The packet, and those that are flushed after it, seek another way.
    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let mut events = Vec::new();
        self.imep.lose(next_hop, &mut events);
        self.heed(now, events, actions);
        actions.push(Action::FlushQueue(next_hop));
        self.handle_flushed(now, packet, next_hop, actions);
    }

    fn handle_flushed(&mut self, now: Time, packet: Packet, _next_hop: NodeId, actions: &mut Vec<Action>) {
        if packet.is_data() {
            self.forward(now, packet, actions);
        } else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        }
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let (mut packets, mut events, mut messages) = (Vec::new(), Vec::new(), Vec::new());
        self.imep.handle_timeout(now, &mut packets, &mut events);
        self.heed(now, events, actions);
        for content in packets {
            let bytes = IP_HEADER_BYTES + content.bytes();
            let payload = Payload::Tora(Arc::new(content));
            let packet = Packet::control(now, self.node, NodeId::BROADCAST, 1, bytes, payload);
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        }
        self.rules.repeat_queries(now, &mut messages);
        messages.into_iter().for_each(|message| self.imep.send(now, message));
        self.buffer.expire(now, actions);
    }

    fn next_timeout(&self) -> Time {
        self.imep.next_timeout().min(self.rules.next_query()).min(self.buffer.next_expiry())
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.rules.next_hop(dst).filter(|_| dst != self.node)
    }

    fn take_route_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

impl Tora {
    /// Sends a packet down, or keeps it and asks for a route.
    fn forward(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        self.rules.know(dst);
        self.settle(now, false, actions);
        if let Some(next_hop) = self.rules.next_hop(dst) {
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
            return;
        }
        self.buffer.push(now, packet, self.buffer_timeout, actions);
        self.require_route(now, dst);
    }

    fn require_route(&mut self, now: Time, dst: NodeId) {
        let mut messages = Vec::new();
        self.rules.require_route(now, dst, &mut messages);
        messages.into_iter().for_each(|message| self.imep.send(now, message));
    }

    /// What IMEP says changes heights.
    fn heed(&mut self, now: Time, events: Vec<Event>, actions: &mut Vec<Action>) {
        for event in events {
            let mut messages = Vec::new();
            match event {
                Event::Up(node) => {
                    self.changes.add(node);
                    self.rules.link_up(now, node, &mut messages);
                }
                Event::Down(node) => {
                    self.changes.add(node);
                    self.rules.link_down(now, node, &mut messages);
                }
                Event::Object(from, message) => self.rules.receive(now, from, message, &mut messages),
            }
            messages.into_iter().for_each(|message| self.imep.send(now, message));
            self.settle(now, matches!(event, Event::Object(..)), actions);
        }
    }

    /// Packets that wait go down where a link leads down now, and ask where none does.
    fn settle(&mut self, now: Time, told: bool, actions: &mut Vec<Action>) {
        for dst in self.rules.take_touched() {
            self.changes.add(dst);
            let Some(next_hop) = self.rules.next_hop(dst) else {
                if self.reachable.remove(&dst) {
                    self.failed.insert(dst);
                    actions.push(Action::Notify(Notice::RouteFailed { dst, told }));
                }
                if self.buffer.contains(dst) {
                    self.require_route(now, dst);
                }
                continue;
            };
            self.reachable.insert(dst);
            if self.failed.remove(&dst) {
                actions.push(Action::Notify(Notice::RouteFound { dst }));
            }
            for packet in self.buffer.pop_all(now, dst, actions) {
                actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
            }
        }
    }
}
