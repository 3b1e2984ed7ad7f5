//! RIP, the Routing Information Protocol: distributed Bellman-Ford as the Internet had it, for wires.
//!
//! Read first: RFC 2453 (version 2) §3.4 for the idea and for counting to infinity, §3.8 to §3.10 for what is
//! done when.
//!
//! **Implemented.** Regular and triggered updates (§3.8, §3.10), routes that time out and are told as lost
//! before they are deleted (§3.8), split horizon, simple or with poisoned reverse, or none (§3.4.3), requests
//! for whole tables and their answers (§3.9.1), messages of up to 25 routes (§3.6).
//!
//! **Not implemented.** Requests for single routes, networks of several addresses, authentication, route
//! tags, version 1, costs of links other than one.
//!
//! **Deviations**: numbered in docs/models/rip.md.

mod params;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::params::{RipParams, SplitHorizon};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::changes::Tracked;
use crate::routing::{Action, Changes, Notice, Routing, relay};
use crate::wire::rip::{Entry, INFINITY, MAX_ENTRIES, Message};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, UDP_HEADER_BYTES};

/// What a link costs, and with which metric a node tells of itself (§3.5).
const LINK_COST: u8 = 1;

/// One node's RIP. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &Arc<RipParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Rip::new(node, Arc::clone(params), stream))
}

/// A route to another node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Route {
    /// [`INFINITY`] while it is told as lost.
    metric: u8,
    next_hop: NodeId,
    /// When it times out; of a lost one, when it is deleted.
    until: Time,
    /// The route change flag: the next triggered update tells of it.
    is_changed: bool,
}

impl Route {
    fn is_valid(&self) -> bool {
        self.metric < INFINITY
    }
}

/// The state of one node.
struct Rip {
    node: NodeId,
    params: Arc<RipParams>,
    stream: Stream,
    routes: Tracked<BTreeMap<NodeId, Route>>,
    update_at: Time,
    /// When there is something to tell at once; held back for a while after each triggered update.
    trigger_at: Time,
    held_until: Time,
}

impl Rip {
    fn new(node: NodeId, params: Arc<RipParams>, stream: Stream) -> Rip {
        Rip {
            node,
            params,
            stream,
            routes: Tracked::default(),
            update_at: Time::NEVER,
            trigger_at: Time::NEVER,
            held_until: Time::ZERO,
        }
    }
}

impl Routing for Rip {
    /// The first update comes at a random time within the first interval, and the request just before.
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.update_at = now + self.stream.span_below(Span::from_secs(self.params.update_interval_s));
        if self.params.asks_at_start {
            let packet = self.packet(now, NodeId::BROADCAST, Message::Request);
            let delay = self.params.jitter(&mut self.stream);
            actions.push(Action::Broadcast { packet, delay });
        }
    }

    fn handle_outgoing(&mut self, _now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            self.forward(packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Rip(message) = &packet.payload {
            let message = message.clone();
            actions.push(Action::Consume(packet));
            match message {
                Message::Request => self.answer(now, from, actions),
                Message::Response(entries) => self.receive(now, &entries, from, actions),
            }
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(packet, actions);
        }
    }

    /// With feedback all routes over the neighbour end; there is no other to take for the packet.
    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.link_feedback || !packet.is_data() {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        }
        let over_it = self.routes.iter().filter(|(_, route)| route.next_hop == next_hop && route.is_valid());
        for dst in over_it.map(|(&dst, _)| dst).collect::<Vec<_>>() {
            self.lose(now, dst, false, actions);
        }
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.expire(now, actions);
        if self.update_at <= now {
            self.update_at = now + self.params.until_update(&mut self.stream);
            self.tell(now, false, actions);
        } else if self.trigger_at <= now {
            self.held_until = now + self.params.hold(&mut self.stream);
            self.tell(now, true, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let ends = self.routes.values().map(|route| route.until);
        ends.fold(self.update_at.min(self.trigger_at), Time::min)
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn remembered(&self, _now: Time) -> Option<usize> {
        Some(self.routes.len())
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.routes.get(&dst).filter(|route| route.is_valid()).map(|route| route.next_hop)
    }

    fn route_hops(&self, _now: Time, dst: NodeId) -> Option<u32> {
        // The destination itself counts as a network.
        let route = self.routes.get(&dst).filter(|route| route.is_valid())?;
        Some(u32::from(route.metric - LINK_COST))
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn take_route_changes(&mut self) -> Changes {
        self.routes.take_changes()
    }
}

/// Data.
impl Rip {
    fn forward(&self, packet: Packet, actions: &mut Vec<Action>) {
        let route = self.routes.get(&packet.dst).filter(|route| route.is_valid());
        actions.push(match route {
            Some(&Route { next_hop, .. }) => Action::Send { packet, next_hop, delay: Span::ZERO },
            None => Action::Drop(packet, DropReason::NoRoute),
        });
    }
}

/// What comes in.
impl Rip {
    /// §3.9.1: a request for everything is answered with everything, as in a regular update, to who asked.
    fn answer(&mut self, now: Time, from: NodeId, actions: &mut Vec<Action>) {
        for message in self.messages(false) {
            let packet = self.packet(now, from, message);
            let delay = self.params.jitter(&mut self.stream);
            actions.push(Action::Send { packet, next_hop: from, delay });
        }
    }

    /// §3.9.2, after what the sender would not have told this node, or told otherwise (§3.4.3).
    fn receive(&mut self, now: Time, entries: &[Entry], from: NodeId, actions: &mut Vec<Action>) {
        for entry in entries {
            let leads_back = entry.next_hop == Some(self.node);
            let told = match self.params.split_horizon {
                SplitHorizon::Simple if leads_back => continue,
                SplitHorizon::PoisonedReverse if leads_back => INFINITY,
                _ => entry.metric,
            };
            let is_usable = entry.dst != self.node && !entry.dst.is_broadcast();
            if is_usable && (1..=INFINITY).contains(&told) {
                let metric = told.saturating_add(LINK_COST).min(INFINITY);
                self.learn(now, entry.dst, metric, from, actions);
            }
        }
    }

    fn learn(&mut self, now: Time, dst: NodeId, metric: u8, from: NodeId, actions: &mut Vec<Action>) {
        let (timeout, switches_to_equal) = (self.params.timeout(), self.params.switches_to_equal);
        let Some(&route) = self.routes.get(&dst) else {
            if metric < INFINITY {
                self.adopt(now, dst, metric, from, actions);
            }
            return;
        };
        let is_same = route.next_hop == from;
        if is_same && metric == INFINITY {
            // Hearing so once more does not put off its deletion.
            if route.is_valid() {
                self.lose(now, dst, true, actions);
            }
        } else if metric < route.metric || (is_same && metric != route.metric) {
            self.adopt(now, dst, metric, from, actions);
        } else if is_same {
            if let Some(route) = self.routes.get_mut(&dst) {
                route.until = now + timeout;
            }
        } else if switches_to_equal
            && metric == route.metric
            && route.is_valid()
            && now + timeout.scaled(0.5) >= route.until
        {
            self.adopt(now, dst, metric, from, actions);
        }
    }

    fn adopt(&mut self, now: Time, dst: NodeId, metric: u8, next_hop: NodeId, actions: &mut Vec<Action>) {
        let until = now + self.params.timeout();
        let before = self.routes.insert(dst, Route { metric, next_hop, until, is_changed: true });
        if !before.is_some_and(|route| route.is_valid()) {
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        self.trigger(now);
    }
}

/// Losing routes.
impl Rip {
    /// §3.8: routes time out, and lost ones are deleted.
    fn expire(&mut self, now: Time, actions: &mut Vec<Action>) {
        let ended: Vec<(NodeId, bool)> = self
            .routes
            .iter()
            .filter(|(_, route)| route.until <= now)
            .map(|(&dst, route)| (dst, route.is_valid()))
            .collect();
        for (dst, was_valid) in ended {
            if was_valid {
                self.lose(now, dst, false, actions);
            } else {
                self.routes.remove(&dst);
            }
        }
    }

    /// The deletion of a route begins (§3.8): it is told as lost; were others `told` of it?
    fn lose(&mut self, now: Time, dst: NodeId, told: bool, actions: &mut Vec<Action>) {
        let until = now + self.params.garbage();
        if let Some(route) = self.routes.get_mut(&dst) {
            *route = Route { metric: INFINITY, until, is_changed: true, ..*route };
        }
        actions.push(Action::Notify(Notice::RouteFailed { dst, told }));
        self.trigger(now);
    }

    /// §3.10.1: something has changed.
    fn trigger(&mut self, now: Time) {
        if self.params.triggered_updates {
            self.trigger_at = self.trigger_at.min(now.max(self.held_until));
        }
    }
}

/// What goes out.
impl Rip {
    /// Tells all neighbours all routes, or those that have changed. A triggered update of nothing is none: a
    /// regular one has told it meanwhile.
    fn tell(&mut self, now: Time, only_changed: bool, actions: &mut Vec<Action>) {
        for message in self.messages(only_changed) {
            let packet = self.packet(now, NodeId::BROADCAST, message);
            let delay = self.params.jitter(&mut self.stream);
            actions.push(Action::Broadcast { packet, delay });
        }
        self.trigger_at = Time::NEVER;
        if self.routes.values().any(|route| route.is_changed) {
            self.routes.values_mut().for_each(|route| route.is_changed = false);
        }
    }

    /// All routes with the node itself first, or those that have changed, in messages of 25 (§3.10.2).
    fn messages(&self, only_changed: bool) -> Vec<Message> {
        let names_next_hops = self.params.split_horizon != SplitHorizon::None;
        let own = Entry { dst: self.node, next_hop: None, metric: LINK_COST };
        let told = self.routes.iter().filter(|(_, route)| route.is_changed || !only_changed);
        let others = told.map(|(&dst, route)| Entry {
            dst,
            next_hop: (names_next_hops && route.is_valid()).then_some(route.next_hop),
            metric: route.metric,
        });
        let entries: Vec<Entry> = (!only_changed).then_some(own).into_iter().chain(others).collect();
        entries.chunks(MAX_ENTRIES).map(|part| Message::Response(part.into())).collect()
    }

    fn packet(&self, now: Time, to: NodeId, message: Message) -> Packet {
        let bytes = IP_HEADER_BYTES + UDP_HEADER_BYTES + message.bytes();
        Packet::control(now, self.node, to, 1, bytes, Payload::Rip(message))
    }
}
