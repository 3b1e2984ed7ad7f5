//! OLSR, Optimized Link State Routing (RFC 3626), and what olsrd made of it.
//!
//! Read first: RFC 3626 §1.4 for the idea, then §6 to §10 in the order in which a message passes through
//! them. For olsrd: its sources, version 0.9.8; there is no text that describes them.
//!
//! **Implemented.** Link sensing and HELLOs (§6, §7); neighbours, two-hop neighbours, multipoint relays (§8);
//! TCs and the topology set (§9); routes (§10); default forwarding and messages that share packets (§3);
//! link-layer feedback (§13); hysteresis (§14); redundant TCs and relays (§15, §16). Of olsrd: link
//! qualities (ETX) in LQ_HELLO and LQ_TC, relays and routes by them, fish-eye, its duplicate test and times.
//!
//! **Not implemented.** Several interfaces (MID, §5), networks behind nodes (HNA, §12), networks among nodes
//! without OLSR (§11), TCs in several parts.
//!
//! **Deviations**: numbered in docs/models/olsr.md.

mod mpr;
mod neighbours;
mod params;
mod quality;
mod routes;
#[cfg(test)]
mod tests;
mod topology;

use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use self::neighbours::{Change, Neighbours};
pub use self::params::{Metric, OlsrParams};
use self::routes::Routes;
use self::topology::{Duplicates, Topology};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::{Action, Changes, KnownLinks, Notice, Routing, relay};
use crate::wire::olsr::{
    Content, Hello, Message, PACKET_HEADER_BYTES, Packet as OlsrPacket, Qualities, Tc, TimeCode,
};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, UDP_HEADER_BYTES};

/// How far TCs go (RFC 3626 §9.3).
const TC_TTL: u8 = 255;
/// The TTLs of TCs with fish-eye, one after the other, when the first ones have made the node known
/// (olsrd 0.9.8).
const FISH_EYE_TTLS: [u8; 8] = [2, 8, 2, 16, 2, 8, 2, TC_TTL];
const FIRST_TCS: usize = 32;

/// One node's OLSR. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &Arc<OlsrParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Olsr::new(node, Arc::clone(params), stream))
}

/// The routing table, which may wait until it is asked for.
#[derive(Default)]
struct Table {
    routes: Routes,
    /// Of when the routes are that are not computed yet: nothing that they follow from has changed since.
    due: Option<Time>,
}

/// The state of one node.
struct Olsr {
    node: NodeId,
    params: Arc<OlsrParams>,
    stream: Stream,
    packet_number: u16,
    message_number: u16,
    near: Neighbours,
    /// The multipoint relays.
    mprs: BTreeSet<NodeId>,
    topology: Topology,
    duplicates: Duplicates,
    table: RefCell<Table>,
    /// Does nobody hear what this node notices of routes? They are computed when they are used then.
    is_unheard: bool,
    /// Routes whose changes were not asked for yet.
    changes: Changes,
    /// When routes are to be computed, because something changed; and when they were.
    routes_at: Time,
    routed: Option<Time>,
    hello_at: Time,
    tc_at: Time,
    /// The links that the last TC told of, and their number; how many TCs were made.
    advertised: Vec<(NodeId, Qualities)>,
    ansn: u16,
    tcs: usize,
    /// Until when nodes may know links of this node that are no more: it sends TCs without links.
    empty_until: Time,
    /// Messages that wait, most of them other nodes', and until when.
    waiting: Vec<Message>,
    forward_at: Time,
    /// When a second is over, if links have qualities.
    second_at: Time,
}

impl Olsr {
    fn new(node: NodeId, params: Arc<OlsrParams>, stream: Stream) -> Olsr {
        Olsr {
            node,
            near: Neighbours::new(node, &params),
            duplicates: Duplicates::new(params.duplicate_window),
            params,
            stream,
            packet_number: 0,
            message_number: 0,
            mprs: BTreeSet::new(),
            topology: Topology::default(),
            table: RefCell::default(),
            is_unheard: false,
            changes: Changes::NONE,
            routes_at: Time::NEVER,
            routed: None,
            hello_at: Time::NEVER,
            tc_at: Time::NEVER,
            advertised: Vec::new(),
            ansn: 0,
            tcs: 0,
            empty_until: Time::ZERO,
            waiting: Vec::new(),
            forward_at: Time::NEVER,
            second_at: Time::NEVER,
        }
    }
}

impl Routing for Olsr {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.hello_at = now + self.stream.span_below(self.params.hello_interval());
        self.tc_at = now + self.stream.span_below(self.params.tc_interval());
        if self.params.has_qualities() {
            self.second_at = now + Span::from_secs(1.0);
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
        if let Payload::Olsr(content) = &packet.payload {
            let content = content.clone();
            actions.push(Action::Consume(packet));
            self.receive(now, &content, from, actions);
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(packet, actions);
        }
    }

    /// With feedback the packet takes another way, if there is one (RFC 3626 §13 leaves it open).
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
        let change = self.near.fail(now, next_hop);
        self.update(now, change, false, actions);
        self.forward(packet, actions);
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let mut change = self.near.expire(now);
        let farther = self.topology.expire(now);
        if self.second_at <= now {
            change.add(self.near.end_second(now));
            self.second_at = now + Span::from_secs(1.0);
        }
        self.update(now, change, farther, actions);
        self.make_messages(now, actions);
    }

    fn next_timeout(&self) -> Time {
        let mine = self.hello_at.min(self.tc_at).min(self.forward_at).min(self.second_at);
        mine.min(self.near.next_timeout()).min(self.topology.next_timeout()).min(self.routes_at)
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn remembered(&self, now: Time) -> Option<usize> {
        Some(self.near.len() + self.topology.len() + self.duplicates.len(now) + self.waiting.len())
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.routes().get(dst).map(|route| route.next_hop)
    }

    fn route_hops(&self, _now: Time, dst: NodeId) -> Option<u32> {
        self.routes().get(dst).map(|route| route.hops)
    }

    fn compute_when_asked(&mut self) {
        self.is_unheard = true;
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn known_links(&self, now: Time) -> Option<KnownLinks> {
        let two_hop = self.near.relays(now).flat_map(|relay| {
            let ends = relay.neighbours().map(|node| [relay.node, node]);
            ends.collect::<Vec<_>>()
        });
        Some(KnownLinks {
            neighbours: self.near.symmetric().map(|(node, _)| node).collect(),
            two_hop: two_hop.collect(),
            relays: self.mprs.iter().copied().collect(),
            topology: self.topology.links().collect(),
        })
    }

    fn take_route_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

/// The routing table.
impl Olsr {
    fn routes(&self) -> Ref<'_, Routes> {
        let due = self.table.borrow().due;
        if let Some(due) = due {
            let routes = self.computed(due);
            *self.table.borrow_mut() = Table { routes, due: None };
        }
        Ref::map(self.table.borrow(), |table| &table.routes)
    }

    /// RFC 3626 §10, or olsrd's.
    fn computed(&self, now: Time) -> Routes {
        match self.params.metric {
            Metric::Hops => routes::by_hops(now, self.node, &self.near, &self.topology),
            Metric::Etx => routes::by_cost(self.node, &self.near, &self.topology),
        }
    }
}

/// Data.
impl Olsr {
    fn forward(&self, packet: Packet, actions: &mut Vec<Action>) {
        actions.push(match self.routes().get(packet.dst) {
            Some(route) => Action::Send { packet, next_hop: route.next_hop, delay: Span::ZERO },
            None => Action::Drop(packet, DropReason::NoRoute),
        });
    }
}

/// What comes in.
impl Olsr {
    /// Packet processing (RFC 3626 §3.4).
    fn receive(&mut self, now: Time, packet: &OlsrPacket, from: NodeId, actions: &mut Vec<Action>) {
        let mut change = self.near.packet(now, from, packet.number);
        let mut farther = false;
        for message in packet.messages.iter() {
            if message.ttl == 0 || message.origin == self.node {
                continue;
            }
            match &message.content {
                // With one interface a node the originator of a HELLO is its sender.
                Content::Hello(hello) if message.origin == from => {
                    if self.near.is_chosen_anew(now, from, hello) {
                        // Routes that wait are as if it had not chosen this node.
                        self.routes();
                    }
                    change.add(self.near.hello(now, from, (message.validity, hello, packet.number)));
                }
                Content::Hello(_) => {}
                Content::Tc(tc) => farther |= self.receive_tc(now, message, tc, from),
            }
        }
        self.update(now, change, farther, actions);
    }

    /// TC processing and default forwarding (RFC 3626 §9.5, §3.4.1). Are there other links than before?
    fn receive_tc(&mut self, now: Time, message: &Message, tc: &Tc, from: NodeId) -> bool {
        // A node that is no symmetric neighbour says nothing, and the message is not recorded.
        if !self.near.is_symmetric(from) {
            return false;
        }
        let name = (message.origin, message.number);
        let changed = !self.duplicates.is_processed(now, name)
            && self.topology.learn(message.origin, now + message.validity.span(), tc);
        let is_wanted = self.near.selects(now, from);
        // olsrd records only what it passes on, so that it passes on a later copy from one that selected it.
        if !is_wanted && self.params.duplicate_window {
            return changed;
        }
        let was_recorded = self.duplicates.record(now, name, Span::from_secs(self.params.duplicate_hold_s));
        if is_wanted && !was_recorded && message.ttl > 1 {
            self.pass_on(now, message);
        }
        changed
    }

    fn pass_on(&mut self, now: Time, message: &Message) {
        let hops = message.hops.saturating_add(1);
        self.wait(now, Message { ttl: message.ttl - 1, hops, ..message.clone() });
    }

    /// The message goes with those that wait already, or begins to wait (RFC 3626 §3.4.1).
    fn wait(&mut self, now: Time, message: Message) {
        if self.waiting.is_empty() {
            let jitter = Span::from_secs(self.params.forward_jitter_s);
            self.forward_at = now + self.stream.span_below(jitter);
        }
        self.waiting.push(message);
    }
}

/// What follows from a change.
impl Olsr {
    fn update(&mut self, now: Time, change: Change, farther: bool, actions: &mut Vec<Action>) {
        if change.near {
            let candidates = self.near.candidates();
            let coverage = self.params.mpr_coverage;
            self.mprs = match self.params.metric {
                Metric::Hops => mpr::by_hops(&candidates, coverage),
                Metric::Etx => mpr::by_cost(&candidates, coverage),
            };
        }
        if change.lost && self.params.triggered_tc && self.has_lost_advertised(now) {
            self.tc_at = now;
        }
        if change.near || farther {
            let soonest = self.routed.map_or(now, |routed| routed + Span::from_secs(self.params.route_gap_s));
            self.routes_at = self.routes_at.min(soonest.max(now));
        }
        if self.routes_at <= now {
            (self.routes_at, self.routed) = (Time::NEVER, Some(now));
            // With a gap what follows may change what routes follow from, and change no route yet.
            if self.is_unheard && self.params.route_gap_s == 0.0 {
                self.table.get_mut().due = Some(now);
            } else {
                self.compute_routes(now, change.lost, actions);
            }
        }
    }

    /// Computes the routing table and tells what has changed; `here` if a neighbour was lost.
    fn compute_routes(&mut self, now: Time, here: bool, actions: &mut Vec<Action>) {
        let routes = self.computed(now);
        let table = self.table.get_mut();
        for (dst, route) in table.routes.iter() {
            let found = routes.get(dst);
            if found != Some(route) {
                self.changes.add(dst);
            }
            if found.is_none() {
                actions.push(Action::Notify(Notice::RouteFailed { dst, told: !here }));
            }
        }
        for (dst, _) in routes.iter().filter(|(dst, _)| table.routes.get(*dst).is_none()) {
            self.changes.add(dst);
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        table.routes = routes;
    }

    /// The advertised link set (RFC 3626 §9.1, §15.1).
    fn advertised_now(&self, now: Time) -> Vec<(NodeId, Qualities)> {
        let told = |node: NodeId, selects: bool| match self.params.tc_redundancy {
            0 => selects,
            1 => selects || self.mprs.contains(&node),
            _ => true,
        };
        self.near.advertised(told, now)
    }

    fn has_lost_advertised(&self, now: Time) -> bool {
        let links = self.advertised_now(now);
        self.advertised.iter().any(|(node, _)| links.iter().all(|(other, _)| other != node))
    }
}

/// What goes out.
impl Olsr {
    /// Makes the messages that are due; those that wait go with them.
    fn make_messages(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.params.tcs_wait && self.tc_at <= now {
            if let Some(tc) = self.tc(now) {
                self.wait(now, tc);
            }
            self.tc_at = now + self.params.until_tc(&mut self.stream);
        }
        if self.hello_at.min(self.tc_at).min(self.forward_at) > now {
            return;
        }
        self.forward_at = Time::NEVER;
        let mut messages = std::mem::take(&mut self.waiting);
        if self.hello_at <= now {
            messages.push(self.hello(now));
            self.hello_at = now + self.params.until_hello(&mut self.stream);
        }
        if self.tc_at <= now {
            messages.extend(self.tc(now));
            self.tc_at = now + self.params.until_tc(&mut self.stream);
        }
        self.send(now, messages, actions);
    }

    fn message(&mut self, validity: TimeCode, ttl: u8, content: Content) -> Message {
        self.message_number = self.message_number.wrapping_add(1);
        Message { validity, origin: self.node, ttl, hops: 0, number: self.message_number, content }
    }

    /// RFC 3626 §6.2.
    fn hello(&mut self, now: Time) -> Message {
        let hello = Hello {
            interval: TimeCode::of(self.params.hello_interval()),
            willingness: self.params.willingness as u8,
            has_qualities: self.params.has_qualities(),
            listed: self.near.listed(now, |node| self.mprs.contains(&node)).into(),
        };
        self.message(self.params.hello_validity(), 1, Content::Hello(hello))
    }

    /// RFC 3626 §9.3: a TC of a node that has links to tell of, or that had some not long ago.
    fn tc(&mut self, now: Time) -> Option<Message> {
        let links = self.advertised_now(now);
        if links != self.advertised {
            self.ansn = self.ansn.wrapping_add(1);
            self.advertised.clone_from(&links);
        }
        let validity = self.params.tc_validity();
        if !links.is_empty() {
            self.empty_until = now + validity.span();
        } else if self.empty_until <= now {
            return None;
        }
        let ttl = match self.tcs.checked_sub(FIRST_TCS) {
            Some(later) if self.params.fish_eye => FISH_EYE_TTLS[later % FISH_EYE_TTLS.len()],
            _ => TC_TTL,
        };
        self.tcs += 1;
        let tc = Tc { ansn: self.ansn, has_qualities: self.params.has_qualities(), advertised: links.into() };
        Some(self.message(validity, ttl, Content::Tc(tc)))
    }

    /// Sends messages, as many together as a packet has room for.
    fn send(&mut self, now: Time, messages: Vec<Message>, actions: &mut Vec<Action>) {
        let room =
            self.params.packet_bytes.saturating_sub(IP_HEADER_BYTES + UDP_HEADER_BYTES + PACKET_HEADER_BYTES);
        let mut together: Vec<Message> = Vec::new();
        let mut bytes = 0;
        for message in messages {
            if !together.is_empty() && bytes + message.bytes() > room {
                self.send_packet(now, std::mem::take(&mut together), actions);
                bytes = 0;
            }
            bytes += message.bytes();
            together.push(message);
        }
        if !together.is_empty() {
            self.send_packet(now, together, actions);
        }
    }

    fn send_packet(&mut self, now: Time, messages: Vec<Message>, actions: &mut Vec<Action>) {
        self.packet_number = self.packet_number.wrapping_add(1);
        let content = OlsrPacket { number: self.packet_number, messages: messages.into() };
        let bytes = IP_HEADER_BYTES + UDP_HEADER_BYTES + content.bytes();
        let packet = Packet::control(now, self.node, NodeId::BROADCAST, 1, bytes, Payload::Olsr(content));
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }
}
