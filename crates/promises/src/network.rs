//! A network without a radio: links are up or down, every packet takes the same time, nothing is lost.
//!
//! A packet handed over waits its `delay` and the link's delay, and arrives if the link is up then. Otherwise
//! its sender is told, if it was for one neighbour and is traffic, or if the protocol takes its own messages
//! back. Broadcasts reach all neighbours. Whoever listens to others' packets hears those of its neighbours.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::observe::returns::{Return, Step, returns};
use manetlab_core::routing::{Action, ConnectionEvent, KnownLinks, Routing};
use manetlab_core::wire::{Ecn, FlowId, NodeId, Packet, Payload};

use crate::graph::Graph;

/// What a packet takes from node to node, unless set otherwise.
const LINK_DELAY: Span = Span::from_millis(2);
/// Where the numbers of messages begin: those of traffic are places in a list.
const FIRST_MESSAGE: u64 = 1 << 40;
/// More events than any story has.
const MOST_EVENTS: u64 = 50_000_000;

/// Makes the protocol of a node, at the start and when it starts anew.
pub type Make = Box<dyn FnMut(NodeId) -> Box<dyn Routing>>;

enum Event {
    /// A packet leaves its sender's queue for one neighbour, or for all.
    Leaves { from: NodeId, to: Option<NodeId>, packet: Packet },
}

/// A packet of traffic.
#[derive(Clone, Copy, Debug)]
struct Sent {
    dst: NodeId,
    /// Links that it crossed, if it arrived.
    hops: Option<u8>,
}

/// See the module's head.
pub struct Network {
    now: Time,
    make: Make,
    nodes: Vec<Box<dyn Routing>>,
    links: Graph,
    link_delay: Span,
    events: BTreeMap<(Time, u64), Event>,
    /// When nodes want to be woken.
    wakes: BTreeSet<(Time, u32)>,
    wake_of: Vec<Time>,
    scheduled: u64,
    messages_made: u64,
    sent: Vec<Sent>,
    steps: Vec<Step>,
    /// The first time that next hops led in a circle: when, from which node, to which destination.
    circle: Option<(Time, NodeId, NodeId)>,
    /// Routing messages, the first of them.
    messages: Vec<(NodeId, Packet)>,
    most_messages: usize,
}

impl Network {
    /// Nodes that start now, and of whose messages so many are kept.
    pub fn new(links: Graph, mut make: Make, most_messages: usize) -> Network {
        let nodes: Vec<_> = (0..links.nodes()).map(|node| make(NodeId(node))).collect();
        let mut network = Network {
            now: Time::ZERO,
            make,
            wake_of: vec![Time::NEVER; nodes.len()],
            nodes,
            links,
            link_delay: LINK_DELAY,
            events: BTreeMap::new(),
            wakes: BTreeSet::new(),
            scheduled: 0,
            messages_made: 0,
            sent: Vec::new(),
            steps: Vec::new(),
            circle: None,
            messages: Vec::new(),
            most_messages,
        };
        for node in 0..network.links.nodes() {
            network.call(NodeId(node), |routing, now, actions| routing.handle_start(now, actions));
        }
        network
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The links are others from now on.
    pub fn set_links(&mut self, links: Graph) {
        self.links = links;
    }

    /// What a packet takes from node to node from now on.
    pub fn set_link_delay(&mut self, delay: Span) {
        self.link_delay = delay;
    }

    /// A node forgets everything and starts anew.
    pub fn restart(&mut self, node: u32) {
        self.nodes[node as usize] = (self.make)(NodeId(node));
        self.call(NodeId(node), |routing, now, actions| routing.handle_start(now, actions));
    }

    /// A node's transport says that a flow begins, or is over.
    pub fn tell(&mut self, src: u32, event: ConnectionEvent) {
        self.call(NodeId(src), |routing, now, actions| routing.handle_connection(now, event, actions));
    }

    /// A node sends a packet of traffic; its number is returned.
    pub fn send(&mut self, src: u32, dst: u32) -> usize {
        let uid = self.sent.len();
        self.sent.push(Sent { dst: NodeId(dst), hops: None });
        let packet = Packet {
            uid: uid as u64,
            src: NodeId(src),
            dst: NodeId(dst),
            ttl: 64,
            hops: 0,
            bytes: 532,
            created: self.now,
            payload: Payload::Udp(FlowId(0), uid as u64),
            ecn: Ecn::NotEct,
            routing_header: None,
            announcement: None,
            service: None,
        };
        self.call(NodeId(src), |routing, now, actions| routing.handle_outgoing(now, packet, actions));
        uid
    }

    /// How many links a packet of traffic crossed, if it has arrived.
    pub fn hops_of(&self, uid: usize) -> Option<u32> {
        self.sent[uid].hops.map(u32::from)
    }

    /// Packets that came back to nodes where they had been, and the first time that next hops led in a
    /// circle: when, from which node, to which destination; since this was asked last.
    pub fn take_loops(&mut self) -> (Vec<Return>, Option<(Time, NodeId, NodeId)>) {
        let found = returns(&self.steps);
        self.steps.clear();
        (found, self.circle.take())
    }

    /// Routing messages and their senders, the first ones.
    pub fn messages(&self) -> &[(NodeId, Packet)] {
        &self.messages
    }

    /// How many hops next hops lead from a node to another; none if they do not lead there.
    pub fn walk(&self, src: u32, dst: u32) -> Option<u32> {
        let mut at = src;
        for hops in 0..=self.links.nodes() {
            if at == dst {
                return Some(hops);
            }
            let next = self.nodes[at as usize].next_hop(self.now, NodeId(dst))?;
            if !self.links.has(at, next.0) {
                return None;
            }
            at = next.0;
        }
        None
    }

    /// What a node knows of links, from a protocol that keeps sets of them.
    pub fn known_links(&self, node: u32) -> Option<KnownLinks> {
        self.nodes[node as usize].known_links(self.now)
    }

    /// How many hops a node takes its route to another to have, if it has one and knows.
    pub fn route_hops(&self, node: u32, dst: u32) -> Option<u32> {
        self.nodes[node as usize].route_hops(self.now, NodeId(dst))
    }

    /// What a node still knows or holds: a route, packets, entries of its tables, if it tells of them.
    pub fn leftover(&self, node: u32) -> Option<String> {
        let routing = &self.nodes[node as usize];
        let others = (0..self.links.nodes()).filter(|dst| *dst != node);
        let route = others.map(NodeId).find(|dst| routing.next_hop(self.now, *dst).is_some());
        let mut held = 0_usize;
        routing.buffered(&mut |_| held += 1);
        match (route, held, routing.remembered(self.now)) {
            (Some(dst), ..) => Some(format!("node {node} has a route to {}", dst.0)),
            (None, 1.., _) => Some(format!("node {node} holds {held} packets")),
            (None, 0, Some(entries @ 1..)) => Some(format!("node {node} remembers {entries} entries")),
            (None, 0, None | Some(0)) => None,
        }
    }

    /// Runs all that happens up to and including `end`.
    ///
    /// # Panics
    /// If there is no end to it.
    pub fn run_until(&mut self, end: Time) {
        for _ in 0..MOST_EVENTS {
            let event = self.events.first_key_value().map_or(Time::NEVER, |((time, _), _)| *time);
            let wake = self.wakes.first().map_or(Time::NEVER, |(time, _)| *time);
            if event.min(wake) > end {
                self.now = end;
                return;
            }
            self.now = event.min(wake).max(self.now);
            if event <= wake {
                if let Some((_, Event::Leaves { from, to, packet })) = self.events.pop_first() {
                    self.leave(from, to, packet);
                }
            } else if let Some((_, node)) = self.wakes.pop_first() {
                self.wake_of[node as usize] = Time::NEVER;
                self.call(NodeId(node), |routing, now, actions| routing.handle_timeout(now, actions));
            }
        }
        panic!("no end, at {:?}", self.now);
    }

    fn leave(&mut self, from: NodeId, to: Option<NodeId>, mut packet: Packet) {
        if !packet.is_data() && self.messages.len() < self.most_messages {
            self.messages.push((from, packet.clone()));
        }
        packet.hops = packet.hops.saturating_add(1);
        let Some(to) = to else {
            for neighbour in self.links.of(from.0).collect::<Vec<_>>() {
                self.bring_to_all(from, NodeId(neighbour), &packet);
            }
            return;
        };
        if !self.links.has(from.0, to.0) {
            packet.hops -= 1;
            let comes_back = packet.is_data() || self.nodes[from.index()].takes_back_control();
            if comes_back {
                self.call(from, |routing, now, actions| {
                    routing.handle_link_failure(now, packet, to, actions);
                });
            }
            return;
        }
        if packet.is_data() {
            self.steps.push(Step { time: self.now, uid: packet.uid, from, to, ttl: packet.ttl });
        }
        for neighbour in self.links.of(from.0).map(NodeId).collect::<Vec<_>>() {
            if neighbour != to && self.nodes[neighbour.index()].wants_overheard() {
                self.call(neighbour, |routing, now, actions| {
                    routing.handle_overheard(now, &packet, from, to, actions);
                });
            }
        }
        self.call(to, |routing, now, actions| routing.handle_incoming(now, packet, from, actions));
    }

    /// One neighbour's copy of a broadcast.
    fn bring_to_all(&mut self, from: NodeId, to: NodeId, packet: &Packet) {
        self.call(to, |routing, now, actions| {
            let before = Packet { hops: packet.hops - 1, ..packet.clone() };
            if !routing.suppress_duplicate(now, &before, from, actions) {
                routing.handle_incoming(now, packet.clone(), from, actions);
            }
        });
    }

    /// Calls one node's protocol, and does what it wants.
    fn call(&mut self, node: NodeId, input: impl FnOnce(&mut dyn Routing, Time, &mut Vec<Action>)) {
        let mut actions = Vec::new();
        let routing = self.nodes[node.index()].as_mut();
        input(routing, self.now, &mut actions);
        self.look_for_circles(node);
        for action in actions {
            self.carry_out(node, action);
        }
        let wake = self.nodes[node.index()].next_timeout();
        let set = &mut self.wake_of[node.index()];
        if *set != wake {
            self.wakes.remove(&(*set, node.0));
            *set = wake;
            if wake != Time::NEVER {
                self.wakes.insert((wake, node.0));
            }
        }
    }

    /// Only what the node has changed can close a circle, and it goes through the node.
    fn look_for_circles(&mut self, node: NodeId) {
        let changed: Vec<usize> = self.nodes[node.index()].take_route_changes().groups().collect();
        if self.circle.is_some() {
            return;
        }
        for dst in changed.into_iter().filter(|group| *group < self.nodes.len()) {
            let dst = NodeId(dst as u32);
            let mut at = node;
            for _ in 0..self.nodes.len() {
                match self.nodes[at.index()].next_hop(self.now, dst) {
                    Some(next) if at != dst => at = next,
                    _ => break,
                }
                if at == node {
                    self.circle = Some((self.now, node, dst));
                    return;
                }
            }
        }
    }

    fn carry_out(&mut self, node: NodeId, action: Action) {
        match action {
            Action::Send { packet, next_hop, delay } => self.hand_over(node, Some(next_hop), packet, delay),
            Action::Broadcast { packet, delay } => self.hand_over(node, None, packet, delay),
            Action::Deliver(packet) => {
                if let Some(sent) = self.sent.get_mut(packet.uid as usize).filter(|sent| sent.dst == node) {
                    sent.hops.get_or_insert(packet.hops);
                }
            }
            Action::FlushQueue(next_hop) => self.flush(node, next_hop),
            Action::Drop(..) | Action::Consume(_) | Action::Notify(_) => {}
        }
    }

    fn hand_over(&mut self, from: NodeId, to: Option<NodeId>, mut packet: Packet, delay: Span) {
        if packet.uid == Packet::UNNUMBERED {
            packet.uid = FIRST_MESSAGE + self.messages_made;
            self.messages_made += 1;
        }
        let key = (self.now + delay + self.link_delay, self.scheduled);
        self.scheduled += 1;
        self.events.insert(key, Event::Leaves { from, to, packet });
    }

    /// What has been handed over to a neighbour and not left yet comes back.
    fn flush(&mut self, node: NodeId, next_hop: NodeId) {
        let is_meant = |event: &Event| {
            let Event::Leaves { from, to, packet } = event;
            *from == node && *to == Some(next_hop) && packet.is_data()
        };
        let due = self.now + self.link_delay;
        let queued = self.events.range(..=(due, u64::MAX)).filter(|(_, event)| is_meant(event));
        for key in queued.map(|(key, _)| *key).collect::<Vec<_>>() {
            if let Some(Event::Leaves { packet, .. }) = self.events.remove(&key) {
                self.call(node, |routing, now, actions| {
                    routing.handle_flushed(now, packet, next_hop, actions);
                });
            }
        }
    }
}

/// Routes that never change, for protocols that are given them: those of fewest hops.
pub fn fixed_routes(links: &Graph) -> Make {
    use manetlab_core::mobility::Point;
    use manetlab_core::routing::{StaticRoutes, shortest_hops_over};
    // Nodes that are out of range of each other, and wires for the links.
    let positions: Vec<Point> =
        (0..links.nodes()).map(|node| Point { x: 1e6 * f64::from(node), y: 0.0 }).collect();
    let all: Vec<NodeId> = (0..links.nodes()).map(NodeId).collect();
    let routes = Arc::new(shortest_hops_over(&positions, 1.0, &links.links(), &all, |_, _| true));
    Box::new(move |node| Box::new(StaticRoutes::new(node, Arc::clone(&routes))))
}
