//! A bench for routing protocols: a few state machines, scripted links, a virtual clock.
//!
//! The bench is the plainest network that keeps the contract of [`Routing`]: a packet handed over waits its
//! `delay`, then sits in the sender's queue for the link delay, and arrives if the link is up at that time;
//! otherwise its sender is told of the failure. Broadcasts reach whoever hears the sender; a packet to one
//! neighbour needs a link in both directions, because it is acknowledged. There are no collisions. Nodes may
//! have an interface queue ([`Bench::queue_packets`]). They stand where a protocol that asks for positions
//! expects neighbours ([`line`], [`circle`]), but only the script makes links.
//!
//! Every call is audited: each data packet that the machine held or was given must come out in exactly one
//! action or still be held, and each control packet that it was given must come out in exactly one.
//!
//! [`suite`](mod@suite) is what every protocol must pass that finds its routes itself.

mod by_chance;
mod by_place;
mod suite;

pub(crate) use suite::{
    Pace, a_restarted_node_forwards_again, loops_in_random_networks, random_network, suite, suite_at_pace,
    suite_on_chains,
};

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;
use std::sync::Arc;

use super::{Action, ConnectionEvent, Notice, Place, Routing};
use crate::drops::DropReason;
use crate::kernel::{Purpose, Span, Stream, Streams, Time};
use crate::mobility::{Path, Point, Trajectory};
use crate::observe::returns::{Return, Step, returns};
use crate::radio::{Propagation, RadioParams};
use crate::wire::{Ecn, FlowId, NodeId, Packet, Payload};

/// `seconds` after the start.
pub(crate) fn at(seconds: f64) -> Time {
    Time::from_secs(seconds)
}

/// A data packet of 512 bytes that has crossed `hops` links.
pub(crate) fn data(uid: u64, src: u32, dst: u32, hops: u8) -> Packet {
    Packet {
        uid,
        src: NodeId(src),
        dst: NodeId(dst),
        ttl: 64,
        hops,
        bytes: 532,
        created: Time::ZERO,
        payload: Payload::Udp(FlowId(0), uid),
        ecn: Ecn::NotEct,
        routing_header: None,
        announcement: None,
        service: None,
    }
}

/// What makes a node's machine: a function of the node's number, or, as [`Placed`], of its place.
pub(crate) trait Maker {
    /// The machine of the node at `place`.
    fn make(&self, place: Place) -> Box<dyn Routing>;
}

impl<F: Fn(NodeId) -> Box<dyn Routing>> Maker for F {
    fn make(&self, place: Place) -> Box<dyn Routing> {
        self(place.node())
    }
}

/// What makes the machines of a protocol that knows positions.
#[derive(Clone)]
pub(crate) struct Placed<F>(pub(crate) F);

impl<F: Fn(Place) -> Box<dyn Routing>> Maker for Placed<F> {
    fn make(&self, place: Place) -> Box<dyn Routing> {
        (self.0)(place)
    }
}

/// Metres between neighbours of a chain or a ring.
const SPACING_M: f64 = 200.0;

/// `n` nodes on a line.
fn line(n: u32) -> Vec<Point> {
    (0..n).map(|node| Point { x: SPACING_M * f64::from(node), y: 0.0 }).collect()
}

/// `n` nodes on a circle.
fn circle(n: u32) -> Vec<Point> {
    let angle = TAU / f64::from(n);
    let radius = SPACING_M / (2.0 * libm::sin(angle / 2.0));
    let point = |node: u32| {
        let (sin, cos) = libm::sincos(angle * f64::from(node));
        Point { x: radius * cos, y: radius * sin }
    };
    (0..n).map(point).collect()
}

enum Event {
    Originate {
        src: NodeId,
        dst: NodeId,
    },
    Connection {
        src: NodeId,
        event: ConnectionEvent,
    },
    SetLink {
        from: u32,
        to: u32,
        up: bool,
    },
    Restart(NodeId),
    /// The packet enters the sender's queue.
    Queue {
        from: NodeId,
        next_hop: Option<NodeId>,
        packet: Packet,
    },
    /// The packet leaves the queue for one neighbour; `unicast` ones can fail and be flushed.
    Cross {
        from: NodeId,
        to: NodeId,
        unicast: bool,
        packet: Packet,
    },
}

/// How a data packet ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Delivered,
    Dropped(DropReason),
    /// It was in the buffer of a node that restarted.
    LostInRestart,
    /// It was broadcast, and nobody heard it.
    Unheard,
}

/// A data packet: in as many copies as are on their way or held.
struct Sent {
    src: NodeId,
    dst: NodeId,
    at: Time,
    copies: u32,
    /// Delivered if any copy was; otherwise how the last copy ended.
    end: Option<End>,
}

/// See the module's head.
pub(crate) struct Bench {
    /// TTL of new data packets.
    pub(crate) ttl: u8,
    /// Deliver every broadcast twice, and let every hop take a random time up to 30 ms.
    pub(crate) unruly: bool,
    /// Nodes send one packet at a time, and this many may wait; more are lost. Without it they send all at
    /// once.
    pub(crate) queue_packets: Option<u64>,
    /// Look after each event whether next hops form a cycle.
    pub(crate) watch_loops: bool,
    /// Panic as soon as the next hops to any node form a cycle.
    pub(crate) forbid_loops: bool,
    /// Did next hops ever form a cycle?
    pub(crate) looped: bool,
    make: Box<dyn Maker>,
    paths: Arc<[Path]>,
    nodes: Vec<Box<dyn Routing>>,
    /// By node: when it has sent what waits, if it sends one packet at a time.
    idle_at: Vec<Time>,
    /// Who is heard by whom.
    links: BTreeSet<(u32, u32)>,
    /// Who else is, by distance, and how strong.
    radio: Option<Propagation>,
    events: BTreeMap<(Time, u64), Event>,
    sequence: u64,
    next_uid: u64,
    now: Time,
    stream: Stream,
    packets: BTreeMap<u64, Sent>,
    /// Control packets put on the air: when, by whom.
    control: Vec<(Time, NodeId, Packet)>,
    /// Links that data packets crossed: from, to, the packet as it was then.
    crossed: Vec<(NodeId, NodeId, Packet)>,
    /// Those that they crossed to one neighbour.
    steps: Vec<Step>,
    /// What makes a new data packet another than CBR's.
    carries: fn(&mut Packet),
    notices: Vec<Notice>,
}

impl Bench {
    const LINK_DELAY: Span = Span::from_millis(2);

    /// `n` nodes on a line, without links.
    pub(crate) fn new(n: u32, make: impl Maker + 'static) -> Bench {
        Bench::over(&line(n), make)
    }

    /// `n` nodes on a circle, linked in a ring.
    pub(crate) fn on_a_ring(n: u32, make: impl Maker + 'static) -> Bench {
        let mut bench = Bench::over(&circle(n), make);
        bench.ring(n);
        bench
    }

    /// Nodes at these points, without links.
    pub(crate) fn over(points: &[Point], make: impl Maker + 'static) -> Bench {
        let fixed = |point: &Point| Path::new(&Trajectory::fixed(point.x, point.y));
        Bench::along(points.iter().map(fixed).collect(), make)
    }

    /// Nodes on these paths, which hear each other as far as the radio of ns-2 reaches, 250 m.
    pub(crate) fn on_the_air(paths: Arc<[Path]>, make: impl Maker + 'static) -> Bench {
        Bench { radio: Some(Propagation::new(&RadioParams::default())), ..Bench::along(paths, make) }
    }

    fn along(paths: Arc<[Path]>, make: impl Maker + 'static) -> Bench {
        let n = paths.len() as u32;
        let mut bench = Bench {
            ttl: 64,
            unruly: false,
            queue_packets: None,
            watch_loops: true,
            forbid_loops: false,
            looped: false,
            nodes: (0..n).map(|node| make.make(Place::new(NodeId(node), Arc::clone(&paths)))).collect(),
            make: Box::new(make),
            paths,
            idle_at: vec![Time::ZERO; n as usize],
            links: BTreeSet::new(),
            radio: None,
            events: BTreeMap::new(),
            sequence: 0,
            next_uid: 0,
            now: Time::ZERO,
            stream: Streams::new(1, 0).stream(0, Purpose::Channel),
            packets: BTreeMap::new(),
            control: Vec::new(),
            crossed: Vec::new(),
            steps: Vec::new(),
            carries: |_| {},
            notices: Vec::new(),
        };
        for node in 0..n {
            bench.call(NodeId(node), None, |machine, now, _, actions| machine.handle_start(now, actions));
        }
        bench
    }

    /// See [`Routing::delivery_odds`].
    pub(crate) fn odds(&self, hops: u32) -> f64 {
        self.nodes[0].delivery_odds(hops)
    }

    /// New data packets are made into something else than CBR's.
    pub(crate) fn carry(&mut self, change: fn(&mut Packet)) {
        self.carries = change;
    }

    /// Links the first `n` nodes in a chain.
    pub(crate) fn chain(&mut self, n: u32) {
        for node in 1..n {
            self.link(node - 1, node);
        }
    }

    /// Links the first `n` nodes in a ring.
    pub(crate) fn ring(&mut self, n: u32) {
        self.chain(n);
        self.link(0, n - 1);
    }

    /// Links two nodes from the start.
    pub(crate) fn link(&mut self, a: u32, b: u32) {
        self.links.extend([(a, b), (b, a)]);
    }

    /// Of two linked nodes the second is no longer heard by the first.
    pub(crate) fn make_one_way(&mut self, from: u32, to: u32) {
        self.links.remove(&(to, from));
    }

    pub(crate) fn link_at(&mut self, time: Time, a: u32, b: u32) {
        self.schedule(time, Event::SetLink { from: a, to: b, up: true });
        self.schedule(time, Event::SetLink { from: b, to: a, up: true });
    }

    pub(crate) fn unlink_at(&mut self, time: Time, a: u32, b: u32) {
        self.schedule(time, Event::SetLink { from: a, to: b, up: false });
        self.schedule(time, Event::SetLink { from: b, to: a, up: false });
    }

    pub(crate) fn restart_at(&mut self, time: Time, node: u32) {
        self.schedule(time, Event::Restart(NodeId(node)));
    }

    pub(crate) fn send_at(&mut self, time: Time, src: u32, dst: u32) {
        self.schedule(time, Event::Originate { src: NodeId(src), dst: NodeId(dst) });
    }

    /// Four packets per second from `src` to `dst`, one way.
    pub(crate) fn flow(&mut self, src: u32, dst: u32, start: f64, end: f64) {
        let count = ((end - start) * 4.0) as u32;
        let opened = ConnectionEvent::Opened { dst: NodeId(dst), two_way: false };
        let closed = ConnectionEvent::Closed { dst: NodeId(dst), two_way: false };
        self.schedule(at(start), Event::Connection { src: NodeId(src), event: opened });
        self.schedule(at(end), Event::Connection { src: NodeId(src), event: closed });
        for number in 0..count {
            self.send_at(at(start + f64::from(number) * 0.25), src, dst);
        }
    }

    /// Runs all that happens up to and including `end`.
    pub(crate) fn run_until(&mut self, end: Time) {
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 10_000_000, "no end, at {} ns", self.now.0);
            let event = self.events.first_key_value().map_or(Time::NEVER, |((time, _), _)| *time);
            let wake = self.nodes.iter().map(|node| node.next_timeout()).min().unwrap_or(Time::NEVER);
            let next = event.min(wake);
            if next > end {
                break;
            }
            assert!(next >= self.now, "a machine wants to be woken in the past");
            self.now = next;
            if event == next {
                if let Some((_, event)) = self.events.pop_first() {
                    self.carry_out(event);
                }
            } else {
                let due = self.nodes.iter().position(|node| node.next_timeout() == wake);
                let node = NodeId(due.expect("somebody wants to be woken") as u32);
                self.call(node, None, |machine, now, _, actions| machine.handle_timeout(now, actions));
                let again = self.nodes[node.index()].next_timeout();
                assert!(again > self.now, "node {node:?} wants to be woken again at {again:?}");
            }
            if self.watch_loops {
                self.look_for_loops();
            }
        }
        self.now = end;
    }

    /// Packets from `src` that reached `dst`.
    pub(crate) fn delivered(&self, src: u32, dst: u32) -> usize {
        self.delivered_of(src, dst, Time::ZERO)
    }

    /// Packets that `src` sent at `since` or later and that reached `dst`.
    pub(crate) fn delivered_of(&self, src: u32, dst: u32, since: Time) -> usize {
        let wanted = (NodeId(src), NodeId(dst), Some(End::Delivered));
        self.packets.values().filter(|p| (p.src, p.dst, p.end) == wanted && p.at >= since).count()
    }

    /// Data packets dropped for this reason.
    pub(crate) fn drops(&self, reason: DropReason) -> usize {
        self.packets.values().filter(|packet| packet.end == Some(End::Dropped(reason))).count()
    }

    /// Control packets put on the air, each hop counted.
    pub(crate) fn control_sent(&self) -> usize {
        self.control.len()
    }

    /// The control packets that `node` put on the air, and when.
    pub(crate) fn control_by(&self, node: u32) -> impl Iterator<Item = (Time, &Packet)> {
        let by_node = self.control.iter().filter(move |(_, from, _)| from.0 == node);
        by_node.map(|(time, _, packet)| (*time, packet))
    }

    /// Over how many links the route of `src` to `dst` goes, as it knows it.
    pub(crate) fn route_hops(&self, src: u32, dst: u32) -> Option<u32> {
        self.nodes[src as usize].route_hops(self.now, NodeId(dst))
    }

    /// All nodes of the way that packets from `src` to `dst` would take now.
    pub(crate) fn way(&self, src: u32, dst: u32) -> Option<Vec<NodeId>> {
        let routing = |node: NodeId| self.nodes[node.index()].as_ref();
        super::whole_path(routing, self.now, NodeId(src), NodeId(dst))
    }

    /// What protocols told the other layers, in order.
    pub(crate) fn notices(&self) -> impl Iterator<Item = Notice> + '_ {
        self.notices.iter().copied()
    }

    /// The links that data packets crossed, in order: from, to, the packet as it was then.
    pub(crate) fn crossings(&self) -> &[(NodeId, NodeId, Packet)] {
        &self.crossed
    }

    /// Data packets sent to one neighbour that came back to nodes where they had been.
    pub(crate) fn returns(&self) -> Vec<Return> {
        returns(&self.steps)
    }

    /// Each copy of a packet has ended, or a node holds it, or it is on its way, and never two of these.
    pub(crate) fn assert_balanced(&self) {
        let mut held: Vec<u64> = Vec::new();
        for node in &self.nodes {
            node.buffered(&mut |packet| held.extend(packet.is_data().then_some(packet.uid)));
        }
        held.extend(self.events.values().filter_map(|event| match event {
            Event::Queue { packet, .. } | Event::Cross { packet, .. } if packet.is_data() => Some(packet.uid),
            _ => None,
        }));
        held.sort_unstable();
        let copies = |(uid, packet): (&u64, &Sent)| std::iter::repeat_n(*uid, packet.copies as usize);
        let open: Vec<u64> = self.packets.iter().flat_map(copies).collect();
        assert_eq!(held, open, "packets that are held are those that have not ended");
    }

    /// Follows next hops from every node to `dst`; does any way come back on itself?
    pub(crate) fn has_loop(&self, dst: NodeId) -> bool {
        (0..self.nodes.len()).any(|start| {
            let mut node = NodeId(start as u32);
            for _ in 0..=self.nodes.len() {
                match self.nodes[node.index()].next_hop(self.now, dst) {
                    Some(next) if node != dst => node = next,
                    _ => return false,
                }
            }
            true
        })
    }

    fn look_for_loops(&mut self) {
        let looped = (0..self.nodes.len() as u32).find(|dst| self.has_loop(NodeId(*dst)));
        self.looped |= looped.is_some();
        if self.forbid_loops {
            assert_eq!(looped, None, "next hops to this node form a cycle at {:?}", self.now);
        }
    }

    fn schedule(&mut self, time: Time, event: Event) {
        self.events.insert((time, self.sequence), event);
        self.sequence += 1;
    }

    fn is_heard(&self, from: NodeId, by: NodeId) -> bool {
        let by_radio = |radio: &Propagation| self.distance2(from, by) <= radio.receive_m2(2e6);
        self.links.contains(&(from.0, by.0)) || self.radio.as_ref().is_some_and(by_radio)
    }

    fn distance2(&self, from: NodeId, to: NodeId) -> f64 {
        let [from, to] = [from, to].map(|node| self.paths[node.index()].position(self.now));
        from.distance2(to)
    }

    fn carry_out(&mut self, event: Event) {
        match event {
            Event::SetLink { from, to, up: true } => {
                self.links.insert((from, to));
            }
            Event::SetLink { from, to, up: false } => {
                self.links.remove(&(from, to));
            }
            Event::Restart(node) => self.restart(node),
            Event::Connection { src, event } => {
                self.call(src, None, |machine, now, _, actions| {
                    machine.handle_connection(now, event, actions);
                });
            }
            Event::Originate { src, dst } => {
                let uid = self.number();
                let mut packet = data(uid, src.0, dst.0, 0);
                packet.ttl = self.ttl;
                packet.created = self.now;
                (self.carries)(&mut packet);
                self.packets.insert(uid, Sent { src, dst, at: self.now, copies: 1, end: None });
                self.call(src, Some(packet), |machine, now, packet, actions| {
                    machine.handle_outgoing(now, packet.expect("given"), actions);
                });
            }
            Event::Queue { from, next_hop, packet } => self.enqueue(from, next_hop, packet),
            Event::Cross { from, to, unicast, packet } => self.cross(from, to, unicast, packet),
        }
    }

    fn number(&mut self) -> u64 {
        self.next_uid += 1;
        self.next_uid
    }

    fn restart(&mut self, node: NodeId) {
        let mut lost = Vec::new();
        self.nodes[node.index()].buffered(&mut |packet| lost.extend(packet.is_data().then_some(packet.uid)));
        for uid in lost {
            self.end(uid, End::LostInRestart);
        }
        self.nodes[node.index()] = self.make.make(Place::new(node, Arc::clone(&self.paths)));
        self.call(node, None, |machine, now, _, actions| machine.handle_start(now, actions));
    }

    fn crossing_time(&mut self) -> Time {
        let extra = if self.unruly { Span::from_millis(28) } else { Span::ZERO };
        self.now + Bench::LINK_DELAY + self.stream.span_below(extra)
    }

    /// How long a packet that enters the queue waits for those before it; none if there is no room.
    fn wait_in_queue(&mut self, from: NodeId) -> Option<Span> {
        let Some(room) = self.queue_packets else { return Some(Span::ZERO) };
        let idle_at = &mut self.idle_at[from.index()];
        let wait = (*idle_at).max(self.now).since(self.now);
        if wait > Bench::LINK_DELAY * room {
            return None;
        }
        *idle_at = self.now + wait + Bench::LINK_DELAY;
        Some(wait)
    }

    fn enqueue(&mut self, from: NodeId, next_hop: Option<NodeId>, packet: Packet) {
        if !packet.is_data() {
            self.control.push((self.now, from, packet.clone()));
        }
        let Some(wait) = self.wait_in_queue(from) else {
            if packet.is_data() {
                self.end(packet.uid, End::Dropped(DropReason::QueueFull));
            }
            return;
        };
        if let Some(to) = next_hop {
            let time = self.crossing_time() + wait;
            self.schedule(time, Event::Cross { from, to, unicast: true, packet });
            return;
        }
        for to in (0..self.nodes.len() as u32).map(NodeId).filter(|to| *to != from) {
            if self.is_heard(from, to) {
                for _ in 0..=u32::from(self.unruly) {
                    let time = self.crossing_time() + wait;
                    let packet = packet.clone();
                    self.packets.entry(packet.uid).and_modify(|sent| sent.copies += 1);
                    self.schedule(time, Event::Cross { from, to, unicast: false, packet });
                }
            }
        }
        // The sender's own copy.
        self.broadcast_ends(&packet);
    }

    fn broadcast_ends(&mut self, packet: &Packet) {
        if packet.is_data() {
            self.end(packet.uid, End::Unheard);
        }
    }

    fn cross(&mut self, from: NodeId, to: NodeId, unicast: bool, mut packet: Packet) {
        if self.is_heard(from, to) && (!unicast || self.is_heard(to, from)) {
            packet.hops += 1;
            if packet.is_data() {
                self.crossed.push((from, to, packet.clone()));
                if unicast {
                    self.steps.push(Step { time: self.now, uid: packet.uid, from, to, ttl: packet.ttl });
                }
            }
            if unicast {
                self.overhear(from, to, &packet);
            }
            if let Some(radio) = self.radio.as_ref().filter(|_| self.nodes[to.index()].wants_rx_power()) {
                let power_w = radio.power_w(self.distance2(from, to));
                self.nodes[to.index()].handle_rx_power(self.now, from, power_w);
            }
            self.call(to, Some(packet), |machine, now, packet, actions| {
                let packet = packet.expect("given");
                // As the network does it.
                if !unicast && machine.suppress_duplicate(now, &packet, from, actions) {
                    actions.push(Action::Consume(packet));
                } else {
                    machine.handle_incoming(now, packet, from, actions);
                }
            });
        } else if unicast {
            self.call(from, Some(packet), |machine, now, packet, actions| {
                machine.handle_link_failure(now, packet.expect("given"), to, actions);
            });
        } else {
            self.broadcast_ends(&packet);
        }
    }

    /// Shows a unicast packet to the other neighbours of its sender that want to see it.
    fn overhear(&mut self, from: NodeId, to: NodeId, packet: &Packet) {
        for node in (0..self.nodes.len() as u32).map(NodeId).filter(|node| *node != to && *node != from) {
            if self.nodes[node.index()].wants_overheard() && self.is_heard(from, node) {
                self.call(node, None, |machine, now, _, actions| {
                    machine.handle_overheard(now, packet, from, to, actions);
                });
            }
        }
    }

    /// Calls one machine, audits the call, carries out its actions.
    fn call(
        &mut self,
        node: NodeId,
        packet: Option<Packet>,
        input: impl FnOnce(&mut dyn Routing, Time, Option<Packet>, &mut Vec<Action>),
    ) {
        let machine = self.nodes[node.index()].as_mut();
        let mut before: Vec<u64> = packet.iter().map(|packet| packet.uid).collect();
        machine.buffered(&mut |packet| before.push(packet.uid));
        let mut actions = Vec::new();
        input(machine, self.now, packet, &mut actions);
        let mut after: Vec<u64> =
            actions.iter().filter_map(Action::packet).map(|packet| packet.uid).collect();
        after.retain(|uid| *uid != Packet::UNNUMBERED);
        machine.buffered(&mut |packet| after.push(packet.uid));
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(after, before, "packets that came out or stayed are those that went in or were held");
        for action in actions {
            self.act(node, action);
        }
    }

    fn act(&mut self, node: NodeId, action: Action) {
        match action {
            Action::Send { packet, next_hop, delay } => self.hand_over(node, Some(next_hop), packet, delay),
            Action::Broadcast { packet, delay } => self.hand_over(node, None, packet, delay),
            Action::Deliver(packet) => {
                assert_eq!(packet.dst, node, "delivered to the wrong node");
                self.end(packet.uid, End::Delivered);
            }
            Action::Drop(packet, reason) if packet.is_data() => self.end(packet.uid, End::Dropped(reason)),
            Action::Consume(packet) => assert!(!packet.is_data(), "data must not be consumed"),
            Action::FlushQueue(next_hop) => self.flush(node, next_hop),
            Action::Notify(notice) => self.notices.push(notice),
            Action::Drop(..) => {}
        }
    }

    fn hand_over(&mut self, from: NodeId, next_hop: Option<NodeId>, mut packet: Packet, delay: Span) {
        if packet.uid == Packet::UNNUMBERED {
            packet.uid = self.number();
        }
        self.schedule(self.now + delay, Event::Queue { from, next_hop, packet });
    }

    fn flush(&mut self, node: NodeId, next_hop: NodeId) {
        let waits = |event: &Event| match event {
            Event::Cross { from, to, unicast: true, packet } => {
                (*from, *to) == (node, next_hop) && packet.is_data()
            }
            _ => false,
        };
        let keys: Vec<(Time, u64)> =
            self.events.iter().filter(|(_, event)| waits(event)).map(|(key, _)| *key).collect();
        for key in keys {
            if let Some(Event::Cross { packet, .. }) = self.events.remove(&key) {
                self.call(node, Some(packet), |machine, now, packet, actions| {
                    machine.handle_flushed(now, packet.expect("given"), next_hop, actions);
                });
            }
        }
    }

    fn end(&mut self, uid: u64, end: End) {
        let packet = self.packets.get_mut(&uid).expect("a data packet of this bench");
        assert!(packet.copies > 0, "packet {uid} ends more often than it has copies");
        packet.copies -= 1;
        let delivered = packet.end == Some(End::Delivered);
        assert!(!(delivered && end == End::Delivered), "packet {uid} is delivered twice");
        if end == End::Delivered || packet.copies == 0 && !delivered {
            packet.end = Some(end);
        }
    }
}
