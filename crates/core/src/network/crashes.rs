//! Nodes that crash: they forget everything, and start anew when they are there again.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::arp::Arp;
use crate::drops::DropReason;
use crate::ifq::InterfaceQueue;
use crate::kernel::{Purpose, Slot, Stream, Streams, Time};
use crate::mobility::{Path, Trajectory};
use crate::routing::{Action, ConnectionEvent, Place, Routing};
use crate::scenario::{RoutingMaker, Scenario};
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

use super::delays::Delayed;
use super::{Network, Target};

/// What happens to a node that crashes, in this order where it does so at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    Crashes,
    Starts,
}

/// The routing of a node that has crashed and has not started since: there is none.
struct Down;

impl Routing for Down {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, _now: Time, packet: Packet, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::Absent));
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        self.handle_outgoing(now, packet, actions);
    }

    fn handle_link_failure(&mut self, now: Time, packet: Packet, _to: NodeId, actions: &mut Vec<Action>) {
        self.handle_outgoing(now, packet, actions);
    }

    fn handle_timeout(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, _now: Time, _dst: NodeId) -> Option<NodeId> {
        None
    }
}

/// What makes routing protocols.
pub(super) enum Maker<'r> {
    Own(Box<RoutingMaker<'static>>),
    Custom(&'r mut RoutingMaker<'r>),
}

impl Maker<'_> {
    pub(super) fn make(&mut self, place: Place, stream: Stream) -> Box<dyn Routing> {
        match self {
            Maker::Own(make) => make(place, stream),
            Maker::Custom(make) => make(place, stream),
        }
    }
}

/// All that is needed for nodes that crash.
pub(super) struct Crashes<'r> {
    maker: Maker<'r>,
    paths: Arc<[Path]>,
    streams: Streams,
    scenario: &'r Scenario,
    /// What is to come, by node.
    steps: Vec<VecDeque<(Time, Step)>>,
    /// By node.
    slots: Vec<Slot>,
    /// How often each node has started anew.
    starts: Vec<u32>,
    /// Who has crashed and not started since.
    is_down: Vec<bool>,
    /// The connections from each node that are open, which its applications tell routing again.
    open: Vec<Vec<(NodeId, bool)>>,
}

/// When a node crashes, and when it starts anew: when it is there next.
fn steps(trajectory: &Trajectory, path: &Path) -> VecDeque<(Time, Step)> {
    let back = |crash| if path.is_present(crash) { crash } else { path.next_presence_change(crash) };
    let all =
        trajectory.crashes.iter().flat_map(|&crash| [(crash, Step::Crashes), (back(crash), Step::Starts)]);
    let in_order: BTreeSet<(Time, Step)> = all.filter(|&(at, _)| at < Time::NEVER).collect();
    in_order.into_iter().collect()
}

impl<'r> Network<'r> {
    /// Prepares the crashes of a scenario that has any.
    pub(super) fn add_crashes(&mut self, scenario: &'r Scenario, maker: Maker<'r>, paths: &Arc<[Path]>) {
        if scenario.movement.iter().all(|node| node.crashes.is_empty()) {
            return;
        }
        let nodes = paths.len();
        let steps: Vec<_> =
            scenario.movement.iter().zip(paths.iter()).map(|(node, path)| steps(node, path)).collect();
        let slots: Vec<Slot> = (0..nodes as u32).map(|node| self.add_slot(Target::Crash(node))).collect();
        for (steps, &slot) in steps.iter().zip(&slots) {
            self.clock.agenda.set(slot, steps.front().map_or(Time::NEVER, |step| step.0));
        }
        self.crashes = Some(Box::new(Crashes {
            maker,
            paths: Arc::clone(paths),
            streams: Streams::new(scenario.seed, scenario.replication),
            scenario,
            steps,
            slots,
            starts: vec![0; nodes],
            is_down: vec![false; nodes],
            open: vec![Vec::new(); nodes],
        }));
    }

    /// The node's next step is due.
    pub(super) fn crash_or_start(&mut self, node: u32) {
        let Some(crashes) = &mut self.crashes else { return };
        let steps = &mut crashes.steps[node as usize];
        let step = steps.pop_front();
        let next = steps.front().map_or(Time::NEVER, |step| step.0);
        self.clock.agenda.set(crashes.slots[node as usize], next);
        match step {
            Some((_, Step::Crashes)) => self.crash(node),
            Some((_, Step::Starts)) => self.start_anew(node),
            None => {}
        }
    }

    /// The node forgets everything: what it holds is lost.
    fn crash(&mut self, node: u32) {
        let Some(crashes) = &mut self.crashes else { return };
        crashes.is_down[node as usize] = true;
        crashes.starts[node as usize] += 1;
        let streams = crashes.streams.of_draw(crashes.starts[node as usize].into());
        let params = &crashes.scenario.params;
        let queue = InterfaceQueue::new(&params.queue, streams.stream(node, Purpose::Queue));
        let arp = Arp::new(NodeId(node), &params.arp, streams.stream(node, Purpose::Arp));

        let station = &mut self.stations[node as usize];
        let mut lost: Vec<Packet> = Vec::new();
        station.routing.buffered(&mut |packet| lost.push(packet.clone()));
        lost.extend(station.arp.held().cloned());
        let waiting: Vec<Body> = station.queue.iter().map(|outgoing| outgoing.body.clone()).collect();
        (station.routing, station.queue, station.arp) = (Box::new(Down), queue, arp);
        self.clock.agenda.set(station.routing_slot, Time::NEVER);
        if let Some(&slot) = self.arp_slots.get(node as usize) {
            self.clock.agenda.set(slot, Time::NEVER);
        }
        let in_hand = self.channel.restart(&mut self.clock, node);

        lost.into_iter().for_each(|packet| self.lose(node, packet));
        for body in waiting {
            self.drop_body(node, &body, DropReason::Absent);
        }
        if let Some(body) = in_hand {
            self.drop_body(node, &body, DropReason::Absent);
        }
        self.lose_delayed(node);
        self.with_interceptor(node, |interceptor, _, out| interceptor.handle_crash(out));
        self.watch_queue(node);
        self.look_at_routes(node);
    }

    /// What the layers' delays hold back at the node is lost; what is on a wire is not at the node.
    fn lose_delayed(&mut self, node: u32) {
        let is_here = |what: &Delayed| match what {
            Delayed::Down { node: at, .. }
            | Delayed::Enqueue { node: at, .. }
            | Delayed::Up { node: at, .. } => *at == node,
            Delayed::OverWire { .. } => false,
        };
        for what in self.delays.extract(&mut self.clock.agenda, is_here) {
            match what {
                Delayed::Down { packet, .. } | Delayed::OverWire { packet, .. } => self.lose(node, packet),
                Delayed::Enqueue { outgoing, .. } => self.drop_body(node, &outgoing.body, DropReason::Absent),
                Delayed::Up { body, .. } => self.drop_body(node, &body, DropReason::Absent),
            }
        }
    }

    fn lose(&mut self, node: u32, mut packet: Packet) {
        self.number(&mut packet);
        self.drop_packet(node, &packet, DropReason::Absent);
    }

    /// The node is there again: routing starts, and learns of the connections that are open.
    fn start_anew(&mut self, node: u32) {
        let Some(crashes) = &mut self.crashes else { return };
        crashes.is_down[node as usize] = false;
        let streams = crashes.streams.of_draw(crashes.starts[node as usize].into());
        let place = Place::new(NodeId(node), Arc::clone(&crashes.paths));
        let routing = crashes.maker.make(place, streams.stream(node, Purpose::Routing));
        self.stations[node as usize].routing = routing;
        let open = crashes.open[node as usize].clone();
        self.let_routes_wait(node);
        self.watch.routing_is_new(node);
        self.with_routing(node, |routing, now, actions| routing.handle_start(now, actions));
        for (dst, two_way) in open {
            let event = ConnectionEvent::Opened { dst, two_way };
            self.with_routing(node, |routing, now, actions| routing.handle_connection(now, event, actions));
        }
    }

    /// Remembers which connections are open, of which a node that starts anew must be told. False if the node
    /// cannot be told now.
    pub(super) fn note_connection(&mut self, node: u32, event: ConnectionEvent) -> bool {
        let Some(crashes) = &mut self.crashes else { return true };
        let open = &mut crashes.open[node as usize];
        match event {
            ConnectionEvent::Opened { dst, two_way } => open.push((dst, two_way)),
            ConnectionEvent::Closed { dst, two_way } => {
                if let Some(place) = open.iter().position(|&each| each == (dst, two_way)) {
                    open.remove(place);
                }
            }
            ConnectionEvent::RetransmissionTimeout { .. } => {}
        }
        !crashes.is_down[node as usize]
    }
}
