//! What a recorder needs that a network does not keep for itself: the number of each frame, what became of
//! it at its receivers, the packet that an RTS, CTS or ACK is for, and which routes have changed. None of it
//! exists in a run without a recorder.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{Event, PacketRef, Reach, Reception, Recorder, Sending};
use crate::kernel::{Span, Time};
use crate::mac::{Dcf, Signal};
use crate::routing::{Changes, RouteNow, Routing};
use crate::scenario::Scenario;
use crate::wire::NodeId;
use crate::wire::mac::{Body, Frame, FrameKind};

/// The routes of nodes that are not called are compared at the multiples of this time: what a protocol would
/// answer may depend on the time without that it says so. Routes whose end is known are compared when they
/// end. Neither depends on when something else happens.
const ROUTES_STEP: Span = Span::from_millis(1000);

/// A recorder, and what is kept for it.
pub(crate) struct Watch<'r> {
    recorder: &'r mut dyn Recorder,
    /// By place in the MAC's table of rates.
    rates_bps: Vec<f64>,
    frames: u64,
    /// What is known of each transmission on its way, by its place among them.
    on_air: Vec<OnAir>,
    /// By node: whose RTS or data frame it received last, and which packet that was for.
    answers: Vec<Option<(NodeId, PacketRef)>>,
    /// By node.
    queue_lengths: Vec<u32>,
    destinations: Destinations,
    /// By node.
    routes: Vec<KnownRoutes>,
    /// When all routes are compared next.
    step_due: Time,
    /// When routes of a node may end by themselves, and the node; where that has been found earlier, a
    /// comparison finds nothing new.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
}

/// A next hop, and how many hops there are.
type Route = (NodeId, Option<u32>);

/// A node's routes when they were compared last.
#[derive(Default)]
struct KnownRoutes {
    /// By the destination's place; nothing depends on the order.
    routes: FxHashMap<u32, Route>,
    /// When the first of them may end by itself.
    until: Time,
}

impl KnownRoutes {
    /// Are these all routes that the node has to the destinations?
    fn holds(&self, routing: &dyn Routing, now: Time, node: NodeId, destinations: &[NodeId]) -> bool {
        (0..).zip(destinations).all(|(place, &dst)| {
            let next_hop = routing.next_hop(now, dst).filter(|_| dst != node);
            let route = next_hop.map(|next_hop| (next_hop, routing.route_hops(now, dst)));
            route == self.routes.get(&place).copied()
        })
    }
}

/// Whose next hops are wanted.
struct Destinations {
    all: Vec<NodeId>,
    /// Their places by the group in which a protocol tells changes.
    places: Vec<Vec<u32>>,
    /// Used again for the places to compare, in their order.
    changed: Vec<u32>,
}

impl Destinations {
    fn new(all: Vec<NodeId>) -> Destinations {
        let mut places = vec![Vec::new(); Changes::GROUPS];
        for (place, &dst) in (0..).zip(&all) {
            places[Changes::group_of(dst)].push(place);
        }
        Destinations { all, places, changed: Vec::new() }
    }

    /// Looks for the places of those that have changed.
    fn find(&mut self, changes: Changes) {
        self.changed.clear();
        for group in changes.groups() {
            self.changed.extend_from_slice(&self.places[group]);
        }
        if !self.changed.is_sorted() {
            self.changed.sort_unstable();
        }
    }
}

/// A transmission on its way.
#[derive(Default)]
struct OnAir {
    number: u64,
    packet: Option<PacketRef>,
    /// Of a unicast frame: can the node that it is for decode it, if it senses it?
    addressee: Option<bool>,
    receptions: Vec<Reception>,
}

impl<'r> Watch<'r> {
    pub(crate) fn new(recorder: &'r mut dyn Recorder, scenario: &Scenario, rates_bps: Vec<f64>) -> Watch<'r> {
        let nodes = scenario.movement.len();
        recorder.begin(scenario);
        let destinations = recorder.destinations(scenario);
        Watch {
            recorder,
            rates_bps,
            frames: 0,
            on_air: Vec::new(),
            answers: vec![None; nodes],
            queue_lengths: vec![0; nodes],
            routes: (0..nodes).map(|_| KnownRoutes::default()).collect(),
            destinations: Destinations::new(destinations),
            step_due: Time::ZERO,
            ends: BinaryHeap::new(),
        }
    }

    /// Hands an event on.
    pub(crate) fn record(&mut self, time: Time, node: u32, event: &Event<'_>) {
        self.recorder.record(time, NodeId(node), event);
    }

    /// Where a transmission is noted.
    fn on_air(&mut self, id: u32) -> &mut OnAir {
        let place = id as usize;
        if place >= self.on_air.len() {
            self.on_air.resize_with(place + 1, OnAir::default);
        }
        &mut self.on_air[place]
    }

    /// The transmission ends at a receiver; what was known before counts.
    fn note(&mut self, id: u32, node: u32, outcome: Reach, time: Time) {
        let receptions = &mut self.on_air(id).receptions;
        if receptions.iter().all(|known| known.node.0 != node) {
            receptions.push(Reception { node: NodeId(node), outcome, at: time });
        }
    }

    /// A MAC puts a frame on the air, in this place among the transmissions.
    #[cold]
    pub(crate) fn frame_begins(&mut self, now: Time, node: u32, id: u32, frame: &Frame, mac: &Dcf) {
        if let Some(deafened) = mac.deafened() {
            self.note(deafened, node, Reach::Deaf, now);
        }
        let of_body = |body: &Body| match body {
            Body::Ip(packet) => Some(PacketRef::from(packet)),
            Body::Arp(_) => None,
        };
        let packet = match frame.kind {
            FrameKind::Data => frame.body.as_deref().and_then(of_body),
            FrameKind::Rts => mac.in_hand().and_then(of_body),
            FrameKind::Cts | FrameKind::Ack => {
                self.answers[node as usize].filter(|(to, _)| *to == frame.to).map(|(_, packet)| packet)
            }
        };
        let number = self.frames;
        self.frames += 1;
        let on_air = self.on_air(id);
        (on_air.number, on_air.packet, on_air.addressee) = (number, packet, None);
        on_air.receptions.clear();
        let rate_bps = self.rates_bps[frame.rate.index()];
        self.record(now, node, &Event::Frame(Sending { number, frame, rate_bps, packet }));
    }

    /// The node that a unicast frame is for senses it or not, and can decode it or not.
    #[cold]
    pub(crate) fn addressee(&mut self, id: u32, receivable: Option<bool>) {
        self.on_air(id).addressee = receivable;
    }

    /// A node's MAC has got a signal; `before`: the transmission whose last bit it awaited until then.
    pub(crate) fn first_bit(
        &mut self,
        now: Time,
        node: u32,
        signal: &Signal,
        before: Option<u32>,
        mac: &Dcf,
    ) {
        let awaited = mac.awaited();
        if let Some(before) = before
            && awaited != Some(before)
        {
            self.note(before, node, Reach::Collided, now);
        }
        let id = signal.transmission;
        if signal.wanted && awaited != Some(id) {
            let outcome = if mac.is_on_air(now) {
                Reach::Deaf
            } else if signal.damaged {
                Reach::TooWeak
            } else {
                Reach::Collided
            };
            self.note(id, node, outcome, now);
        }
    }

    /// A node has received a frame that it must act on.
    #[cold]
    pub(crate) fn received(&mut self, now: Time, node: u32, id: u32, frame: Option<&Frame>) {
        self.note(id, node, Reach::Received, now);
        if let Some(frame) = frame
            && matches!(frame.kind, FrameKind::Rts | FrameKind::Data)
            && frame.to.0 == node
        {
            let packet = self.on_air(id).packet;
            self.answers[node as usize] = packet.map(|packet| (frame.from, packet));
        }
    }

    /// All receivers of a transmission have its last bit.
    #[cold]
    pub(crate) fn frame_ends(&mut self, now: Time, id: u32, frame: &Frame) {
        if !frame.to.is_broadcast() {
            // What the receiver decodes has been noted, unless the MAC lost it in a way not known here.
            let outcome = match self.on_air(id).addressee {
                Some(true) => Reach::Collided,
                Some(false) => Reach::TooWeak,
                None => Reach::OutOfReach,
            };
            self.note(id, frame.to.0, outcome, now);
        }
        let on_air = self.on_air(id);
        let (number, mut receptions) = (on_air.number, std::mem::take(&mut on_air.receptions));
        if frame.to.is_broadcast() {
            receptions.sort_unstable_by_key(|reception| reception.node);
        }
        self.record(now, frame.from.0, &Event::Received { number, frame, receptions: &receptions });
        self.on_air(id).receptions = receptions;
    }

    /// A node's interface queue has this length.
    #[cold]
    pub(crate) fn queue(&mut self, now: Time, node: u32, length: u32) {
        if std::mem::replace(&mut self.queue_lengths[node as usize], length) != length {
            self.record(now, node, &Event::Queue(length));
        }
    }

    /// The node's routing is a new one, which does not know what the one before it had: all its routes are
    /// looked at next.
    pub(crate) fn routing_is_new(&mut self, node: u32) {
        if let Some(known) = self.routes.get_mut(node as usize) {
            known.until = Time::ZERO;
        }
    }

    /// Compares those of a node's routes that may have changed with what they were.
    #[inline(never)]
    pub(crate) fn compare_routes(&mut self, now: Time, node: u32, routing: &mut dyn Routing) {
        let mut changes = routing.take_route_changes();
        let Watch { recorder, routes, destinations, ends, .. } = self;
        let known = &mut routes[node as usize];
        let until_before = known.until;
        if now >= known.until {
            (changes, known.until) = (Changes::ALL, Time::NEVER);
        }
        if !changes.is_empty() {
            destinations.find(changes);
            for &place in &destinations.changed {
                let dst = destinations.all[place as usize];
                let route = route(routing, now, NodeId(node), dst);
                known.until = route.map_or(known.until, |route| known.until.min(route.until));
                let answer = route.map(|route| (route.next_hop, route.hops));
                let before = match answer {
                    Some(answer) => known.routes.insert(place, answer),
                    None => known.routes.remove(&place),
                };
                if answer != before {
                    let (next_hop, hops) =
                        (answer.map(|answer| answer.0), answer.and_then(|answer| answer.1));
                    recorder.record(now, NodeId(node), &Event::Route { dst, next_hop, hops });
                }
            }
        }
        if known.until != until_before && known.until != Time::NEVER {
            ends.push(Reverse((known.until, node)));
        }
        debug_assert!(
            known.holds(routing, now, NodeId(node), &destinations.all),
            "a route of node {node} has changed, and its protocol did not say so"
        );
    }

    /// When routes are to be compared although nothing happens.
    pub(crate) fn due(&self) -> Time {
        self.ends.peek().map_or(self.step_due, |&Reverse((end, _))| end.min(self.step_due))
    }

    /// Whose routes are due next, if they are one node's, and takes that off what is due.
    pub(crate) fn next_due(&mut self) -> Option<u32> {
        match self.ends.peek() {
            Some(&Reverse((end, node))) if end <= self.step_due => {
                self.ends.pop();
                Some(node)
            }
            _ => {
                self.step_due += ROUTES_STEP;
                None
            }
        }
    }

    /// The run has reached its end.
    pub(crate) fn run_ends(&mut self, now: Time) {
        self.recorder.end(now);
    }
}

/// The route that a node's protocol would use now; a node has none to itself.
fn route(routing: &dyn Routing, now: Time, node: NodeId, dst: NodeId) -> Option<RouteNow> {
    if dst == node { None } else { routing.route_now(now, dst) }
}
