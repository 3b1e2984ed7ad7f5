//! The network: the only place that knows all the layers. It hands each layer's actions to the next.
//!
//! One packet's journey: a source makes it (`Network::originate`) → routing chooses the next hop → ARP
//! resolves it → after the link layer's delay it waits in the interface queue → the MAC contends and puts
//! frames on the air (`Network::transmit`) → each frame reaches the nodes in carrier-sense range one after
//! the other (`air.rs`) → the receiver's MAC hands the packet up → routing delivers it or sends it on.
//!
//! Every state machine has one slot in the event queue; after each call its deadline is set anew. Actions go
//! through vectors that are used again, so that the steady state of a run allocates nothing.

mod air;
mod build;
mod flows;
mod messages;
mod results;
mod rtp;
mod sampling;
mod stage;
mod web;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::arp::{Arp, ArpAction};
use crate::drops::DropReason;
use crate::ifq::{Admission, InterfaceQueue, Outgoing};
use crate::kernel::{EventQueue, Slot, Span, Time};
use crate::mac::{Dcf, MacAction, ReceiverRules, ShortWay, Timing};
use crate::observe::{Audit, Meter, Record, RecordKind, Recording, RunResult, Series, Unbalanced};
use crate::radio::Index;
use crate::routing::{Action, Routing};
use crate::scenario::{About, RoutingKind, RoutingMaker, Scenario, ScenarioError};
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

use air::Air;
use flows::Flow;
use sampling::Sampling;
use stage::StageNode;

/// Why a run ended without a result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The packet audit failed: a defect of the simulator.
    #[error("the packet audit does not balance: {0}")]
    Unbalanced(#[from] Unbalanced),
    /// A layer asked to be woken at an instant that has passed: a defect of the simulator, or of a protocol that the
    /// caller brought along.
    #[error("time would run backwards: at {now_s} s, {owner} has a deadline at {deadline_s} s")]
    Backwards {
        /// Whose deadline it is.
        owner: String,
        /// The deadline, s.
        deadline_s: f64,
        /// The time of the run, s.
        now_s: f64,
    },
    /// The caller of [`run_while`] wanted no more.
    #[error("stopped after {0} s of simulated time")]
    Stopped(f64),
}

/// What a run returns.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The measures.
    pub result: RunResult,
    /// The recording, if it was asked for.
    pub recording: Option<Recording>,
    /// The time series, if they were asked for.
    pub series: Option<Series>,
}

/// What a run keeps besides its result, none of which changes the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Keep the recording.
    pub record: bool,
    /// Keep time series with steps of this length, which is not zero.
    pub series_step: Option<Span>,
}

/// Runs a scenario; `record` asks for the recording, which changes no result.
///
/// # Errors
/// When the scenario cannot be run, or the packet audit fails.
pub fn run(scenario: &Scenario, record: bool) -> Result<Outcome, RunError> {
    run_while(scenario, Options { record, ..Options::default() }, &mut || true)
}

/// Like [`run`] with more [`Options`], for as long as `go_on`, which is asked every [`EVENTS_BETWEEN_QUESTIONS`]
/// events, says so. Asking changes no result.
///
/// # Errors
/// Those of [`run`], and [`RunError::Stopped`].
pub fn run_while(
    scenario: &Scenario,
    options: Options,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, RunError> {
    run_with(scenario, options, None, go_on)
}

/// Like [`run_while`], with the protocol that the caller brings along if the scenario's is [`RoutingKind::Custom`]:
/// `make` is asked for every node's, in order of their numbers.
///
/// # Errors
/// Those of [`run_while`].
pub fn run_with(
    scenario: &Scenario,
    options: Options,
    make: Option<&mut RoutingMaker<'_>>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, RunError> {
    scenario.check()?;
    if make.is_some() != (scenario.routing == RoutingKind::Custom) {
        let wanted = "a protocol that the caller brings along for `custom`, and for nothing else".to_owned();
        let found = format!("{:?}", scenario.routing).to_lowercase();
        return Err(ScenarioError::Unusable {
            about: About::Value,
            field: "routing".to_owned(),
            found,
            wanted,
        }
        .into());
    }
    let mut network = Network::new(scenario, options, make);
    network.run_to_end(go_on)?;
    network.into_outcome(scenario)
}

/// Events after which [`run_while`] asks whether to go on: some hundredths of a second.
pub const EVENTS_BETWEEN_QUESTIONS: u64 = 1 << 17;

/// What a slot of the event queue belongs to.
#[derive(Clone, Copy, Debug)]
enum Target {
    Mac(u32),
    Routing(u32),
    /// The application of a flow, or its TCP sender's timer.
    Source(u32),
    Sender(u32),
    Receiver(u32),
    /// The reports of an RTP flow.
    Reports(u32),
    Air(u32),
    /// First bits under way.
    FirstBits,
    Delayed,
    Conveyor(u32),
    /// The warm-up ends.
    Warmup,
    /// A node's stage between routing and the link layer.
    Stage(u32),
}

/// Something that a layer's delay holds back.
enum Delayed {
    /// From routing to ARP (jitter).
    Down { node: u32, packet: Packet, next_hop: NodeId },
    /// From the link layer to the interface queue.
    Enqueue { node: u32, outgoing: Outgoing },
    /// An IP packet from the MAC to routing.
    Up { node: u32, body: Rc<Body>, from: NodeId },
}

/// A constant delay: what goes in first comes out first, so one entry of the event queue is enough.
struct Conveyor {
    delay: Span,
    slot: Slot,
    waiting: VecDeque<(Time, Delayed)>,
}

/// One node.
struct Station {
    mac: Dcf,
    queue: InterfaceQueue,
    arp: Arp,
    routing: Box<dyn Routing>,
    mac_slot: Slot,
    routing_slot: Slot,
}

/// A vector of actions that is used again.
type Pool<T> = Vec<Vec<T>>;

struct Network {
    now: Time,
    end: Time,
    events: u64,
    agenda: EventQueue,
    targets: Vec<Target>,
    timing: Timing,
    rules: ReceiverRules,
    short_way: ShortWay,
    link_layer_delay: Span,
    arp_delay: Span,
    udp_overhead_bytes: u32,
    data_ttl: u8,
    index: Index,
    air: Air,
    /// Does routing listen to packets that are addressed to others?
    taps: bool,
    stations: Vec<Station>,
    flows: Vec<Flow>,
    /// What waits for a layer's constant delay, by delay, in order of time.
    conveyors: Vec<Conveyor>,
    /// What waits for a delay of its own (jitter), by time; equal times in the order in which they were delayed.
    delayed: BTreeMap<(Time, u64), Delayed>,
    delayed_slot: Slot,
    /// How many things had a delay of their own so far.
    delays: u64,
    audit: Audit,
    meter: Meter,
    recording: Option<Recording>,
    sampling: Sampling,
    /// Every node's stage between routing and the link layer; empty if the scenario needs none.
    stages: Vec<StageNode>,
    routing_actions: Pool<Action>,
    mac_actions: Pool<MacAction>,
    arp_actions: Pool<ArpAction>,
}

impl Network {
    /// A function of its own, so that its instructions can be counted.
    ///
    /// # Errors
    /// When `go_on` said no, or time would run backwards.
    #[inline(never)]
    fn run_to_end(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        for node in 0..self.stations.len() as u32 {
            self.with_routing(node, |routing, now, actions| routing.handle_start(now, actions));
        }
        while let Some((time, slot)) = self.agenda.pop() {
            if time >= self.end {
                break;
            }
            if time < self.now {
                return Err(self.backwards(time, self.targets[slot.0 as usize]));
            }
            if time >= self.sampling.due() {
                self.sample_until(time);
            }
            self.now = time;
            self.events += 1;
            self.fire(self.targets[slot.0 as usize]);
            if self.events.is_multiple_of(EVENTS_BETWEEN_QUESTIONS) && !go_on() {
                return Err(RunError::Stopped(self.now.as_secs()));
            }
        }
        self.now = self.end;
        self.sample_until(self.end);
        Ok(())
    }

    #[cold]
    fn backwards(&self, deadline: Time, owner: Target) -> RunError {
        let owner = match owner {
            Target::Mac(node) => format!("the MAC of node {node}"),
            Target::Routing(node) => format!("routing at node {node}"),
            Target::Source(flow) => format!("the source of flow {flow}"),
            Target::Sender(flow) => format!("the sender of flow {flow}"),
            Target::Receiver(flow) => format!("the receiver of flow {flow}"),
            Target::Reports(flow) => format!("the reports of flow {flow}"),
            Target::Air(transmission) => format!("transmission {transmission}"),
            Target::FirstBits => "the first bits under way".to_owned(),
            Target::Delayed | Target::Conveyor(_) => "a layer's delay".to_owned(),
            Target::Warmup => "the end of the warm-up".to_owned(),
            Target::Stage(node) => format!("the stage of node {node}"),
        };
        RunError::Backwards { owner, deadline_s: deadline.as_secs(), now_s: self.now.as_secs() }
    }

    #[inline(always)]
    fn fire(&mut self, target: Target) {
        match target {
            Target::Mac(node) => {
                self.with_mac(node, |mac, now, timing, actions| mac.handle_timeout(now, timing, actions));
            }
            Target::Routing(node) => {
                self.with_routing(node, |routing, now, actions| routing.handle_timeout(now, actions));
            }
            Target::Source(flow) => self.wake_source(flow),
            Target::Sender(flow) => self.wake_sender(flow),
            Target::Receiver(flow) => self.wake_receiver(flow),
            Target::Reports(flow) => self.wake_reports(flow),
            Target::Air(transmission) => self.continue_transmission(transmission),
            Target::FirstBits => self.walk_first_bits(),
            Target::Delayed => self.release(),
            Target::Conveyor(at) => self.unload(at),
            Target::Warmup => self.mark_warmup(),
            Target::Stage(node) => self.with_stage(node, |stage, now, out| stage.handle_timeout(now, out)),
        }
    }

    fn add_slot(&mut self, target: Target) -> Slot {
        self.targets.push(target);
        self.agenda.add_slot()
    }

    fn record(&mut self, node: u32, kind: impl FnOnce() -> RecordKind) {
        if let Some(recording) = &mut self.recording {
            recording.push(Record { time: self.now, node: NodeId(node), kind: kind() });
        }
    }

    // Delays.

    /// Deals with `what` after one of the layers' constant delays.
    fn convey(&mut self, delay: Span, what: Delayed) {
        let Some(at) = self.conveyors.iter().position(|conveyor| conveyor.delay == delay) else {
            self.delay(delay, what);
            return;
        };
        let conveyor = &mut self.conveyors[at];
        let due = self.now + delay;
        if conveyor.waiting.is_empty() {
            self.agenda.set(conveyor.slot, due);
        }
        conveyor.waiting.push_back((due, what));
    }

    fn unload(&mut self, at: u32) {
        while let Some((_, what)) = self.conveyors[at as usize].waiting.pop_front() {
            self.deal_with(what);
            let conveyor = &self.conveyors[at as usize];
            let Some(&(due, _)) = conveyor.waiting.front() else { return };
            if due >= self.agenda.peek_time() || due >= self.end {
                self.agenda.set(conveyor.slot, due);
                return;
            }
            assert!(due >= self.now, "a layer's delay ended in the past");
            self.now = due;
        }
    }

    /// Deals with `what` after a delay of its own.
    fn delay(&mut self, delay: Span, what: Delayed) {
        if delay == Span::ZERO {
            self.deal_with(what);
            return;
        }
        self.delayed.insert((self.now + delay, self.delays), what);
        self.delays += 1;
        self.await_delayed();
    }

    fn release(&mut self) {
        if let Some((_, what)) = self.delayed.pop_first() {
            self.await_delayed();
            self.deal_with(what);
        }
    }

    fn await_delayed(&mut self) {
        let next = self.delayed.first_key_value().map_or(Time::NEVER, |(&(due, _), _)| due);
        self.agenda.set(self.delayed_slot, next);
    }

    fn deal_with(&mut self, what: Delayed) {
        match what {
            Delayed::Down { node, packet, next_hop } => self.send_down(node, packet, next_hop),
            Delayed::Enqueue { node, outgoing } => self.enqueue(node, outgoing),
            Delayed::Up { node, body, from } => self.hand_to_routing(node, body, from),
        }
    }

    /// A packet from the MAC reaches routing.
    fn hand_to_routing(&mut self, node: u32, body: Rc<Body>, from: NodeId) {
        if let Body::Ip(packet) = &*body
            && packet.dst.is_broadcast()
            && self.stages.is_empty()
            && self.absorb(node, packet, from)
        {
            self.audit.consume(packet);
            return;
        }
        let Body::Ip(mut packet) = Rc::unwrap_or_clone(body) else { return };
        packet.hops = packet.hops.saturating_add(1);
        self.with_stage(node, |stage, now, out| stage.handle_incoming(now, &mut packet, out));
        self.with_routing(node, |routing, now, actions| {
            routing.handle_incoming(now, packet, from, actions);
        });
    }

    /// Shows a broadcast to routing; true if nothing is left of it.
    fn absorb(&mut self, node: u32, packet: &Packet, from: NodeId) -> bool {
        let mut absorbed = false;
        self.with_routing(node, |routing, now, actions| {
            absorbed = routing.absorb(now, packet, from, actions);
        });
        absorbed
    }

    // Routing.

    /// Calls the node's routing protocol, carries out its actions, and sets its deadline.
    fn with_routing(&mut self, node: u32, call: impl FnOnce(&mut dyn Routing, Time, &mut Vec<Action>)) {
        let mut actions = self.routing_actions.pop().unwrap_or_default();
        call(self.stations[node as usize].routing.as_mut(), self.now, &mut actions);
        for action in actions.drain(..) {
            self.carry_out(node, action);
        }
        self.routing_actions.push(actions);
        let station = &self.stations[node as usize];
        self.agenda.set(station.routing_slot, station.routing.next_timeout());
    }

    fn carry_out(&mut self, node: u32, action: Action) {
        match action {
            Action::Send { packet, next_hop, delay } => {
                let Some(mut packet) = self.send_or_keep(node, packet) else { return };
                self.number(&mut packet);
                self.delay(delay, Delayed::Down { node, packet, next_hop });
            }
            Action::Broadcast { mut packet, delay } => {
                self.number(&mut packet);
                self.delay(delay, Delayed::Down { node, packet, next_hop: NodeId::BROADCAST });
            }
            Action::Deliver(packet) => self.deliver(node, &packet),
            Action::Drop(packet, reason) => {
                let Some(mut packet) = self.drop_or_keep(node, packet, reason) else { return };
                self.number(&mut packet);
                self.drop_packet(node, &packet, reason);
            }
            Action::Consume(packet) => self.audit.consume(&packet),
            Action::FlushQueue(neighbour) => self.flush_queue(node, neighbour),
            Action::Notify(notice) => {
                self.meter.outages.noticed(self.now, NodeId(node), notice);
                self.record(node, || RecordKind::Notice(notice));
                self.tell_senders(NodeId(node), notice);
                self.with_stage(node, |stage, now, out| stage.handle_notice(now, notice, out));
            }
        }
    }

    /// Gives a packet that a protocol has just made its number.
    fn number(&mut self, packet: &mut Packet) {
        if packet.uid == Packet::UNNUMBERED {
            packet.uid = self.audit.make(packet.flow());
        }
    }

    fn drop_packet(&mut self, node: u32, packet: &Packet, reason: DropReason) {
        self.with_stage(node, |stage, now, out| stage.handle_dropped(now, packet, out));
        self.audit.drop(packet);
        self.meter.dropped(self.now, packet, reason);
        self.record(node, || RecordKind::Dropped(packet.into(), reason));
    }

    fn flush_queue(&mut self, node: u32, neighbour: NodeId) {
        let mut taken = Vec::new();
        self.stations[node as usize].queue.flush(neighbour, &mut taken);
        for outgoing in taken {
            if let Body::Ip(packet) = outgoing.body {
                self.with_routing(node, |routing, now, actions| {
                    routing.handle_flushed(now, packet, neighbour, actions);
                });
            }
        }
    }

    // Link layer.

    /// IP hands a packet down: through ARP to the interface queue.
    fn send_down(&mut self, node: u32, packet: Packet, next_hop: NodeId) {
        if !packet.is_data() {
            self.meter.routing_sent(self.now, packet.bytes);
        } else if let Some(header) = &packet.routing_header {
            self.meter.routing_header_sent(self.now, header.bytes());
        }
        self.record(node, || RecordKind::SentDown((&packet).into(), next_hop));
        if next_hop.is_broadcast() {
            let outgoing = Outgoing { to: next_hop, body: Body::Ip(packet) };
            self.convey(self.link_layer_delay, Delayed::Enqueue { node, outgoing });
        } else {
            self.with_arp(node, self.link_layer_delay, |arp, actions| {
                arp.handle_outgoing(packet, next_hop, actions);
            });
        }
    }

    /// Calls the node's ARP and carries out its actions; resolved packets wait `resolved_delay`.
    fn with_arp(
        &mut self,
        node: u32,
        resolved_delay: Span,
        call: impl FnOnce(&mut Arp, &mut Vec<ArpAction>),
    ) {
        let mut actions = self.arp_actions.pop().unwrap_or_default();
        call(&mut self.stations[node as usize].arp, &mut actions);
        for action in actions.drain(..) {
            match action {
                ArpAction::Send { to, body } => {
                    let delay = if matches!(body, Body::Arp(_)) { self.arp_delay } else { resolved_delay };
                    self.convey(delay, Delayed::Enqueue { node, outgoing: Outgoing { to, body } });
                }
                ArpAction::Replaced(packet) => self.drop_packet(node, &packet, DropReason::ArpHoldReplaced),
                ArpAction::Unresolved { next_hop, packet } => {
                    self.report_failure(node, packet, next_hop, DropReason::ArpUnresolved);
                }
            }
        }
        self.arp_actions.push(actions);
    }

    /// A packet could not be brought to its next hop: routing decides; for its own packets only if it wants to.
    fn report_failure(&mut self, node: u32, packet: Packet, next_hop: NodeId, unclaimed: DropReason) {
        if packet.is_data() || self.stations[node as usize].routing.takes_back_control() {
            self.with_routing(node, |routing, now, actions| {
                routing.handle_link_failure(now, packet, next_hop, actions);
            });
        } else {
            self.drop_packet(node, &packet, unclaimed);
        }
    }

    fn enqueue(&mut self, node: u32, mut outgoing: Outgoing) {
        let station = &mut self.stations[node as usize];
        match station.queue.admit(self.now, &mut outgoing) {
            Admission::Admitted => {}
            Admission::Marked => {
                if let Body::Ip(packet) = &outgoing.body {
                    self.record(node, || RecordKind::Marked(packet.into()));
                }
            }
            Admission::Refused => return self.drop_body(node, &outgoing.body, DropReason::EarlyDrop),
        }
        let station = &mut self.stations[node as usize];
        if station.mac.is_ready() && station.queue.is_empty() {
            self.give_to_mac(node, outgoing);
        } else if let Some(refused) = station.queue.push(outgoing) {
            self.drop_body(node, &refused.body, DropReason::QueueFull);
        }
    }

    fn drop_body(&mut self, node: u32, body: &Body, reason: DropReason) {
        match body {
            Body::Ip(packet) => self.drop_packet(node, packet, reason),
            Body::Arp(_) => self.meter.arp_dropped(self.now, reason),
        }
    }

    // MAC.

    fn give_to_mac(&mut self, node: u32, outgoing: Outgoing) {
        if let Body::Ip(packet) = &outgoing.body {
            self.meter.packet_taken(self.now, packet, self.timing.frame_bytes(packet.bytes));
        }
        self.with_mac(node, |mac, now, timing, actions| {
            mac.handle_send(now, outgoing.to, outgoing.body, timing, actions);
        });
    }

    /// Calls the node's MAC, carries out its actions, and sets its deadline.
    fn with_mac(&mut self, node: u32, call: impl FnOnce(&mut Dcf, Time, &Timing, &mut Vec<MacAction>)) {
        let mut actions = self.mac_actions.pop().unwrap_or_default();
        call(&mut self.stations[node as usize].mac, self.now, &self.timing, &mut actions);
        self.finish_mac(node, actions);
    }

    /// What follows when a MAC has been called.
    fn finish_mac(&mut self, node: u32, mut actions: Vec<MacAction>) {
        for action in actions.drain(..) {
            self.carry_out_mac(node, action);
        }
        self.mac_actions.push(actions);
        self.set_mac_deadline(node);
    }

    fn set_mac_deadline(&mut self, node: u32) {
        let station = &self.stations[node as usize];
        self.agenda.set(station.mac_slot, station.mac.next_timeout(&self.timing));
    }

    fn carry_out_mac(&mut self, node: u32, action: MacAction) {
        match action {
            MacAction::Transmit(frame) => self.transmit(node, frame),
            MacAction::Deliver { body, from } => self.take_up(node, body, from),
            MacAction::Duplicate(body) => match &*body {
                Body::Ip(packet) => {
                    self.audit.receive(packet);
                    self.drop_packet(node, packet, DropReason::Duplicate);
                }
                Body::Arp(_) => self.meter.arp_dropped(self.now, DropReason::Duplicate),
            },
            MacAction::Sent(body) => {
                if let Body::Ip(packet) = &*body {
                    self.audit.hand_over(packet);
                    self.with_stage(node, |stage, now, out| stage.handle_taken(now, packet, out));
                }
            }
            MacAction::Failed { body, to } => match Rc::unwrap_or_clone(body) {
                Body::Ip(packet) => self.report_failure(node, packet, to, DropReason::RetryLimit),
                Body::Arp(_) => self.meter.arp_dropped(self.now, DropReason::RetryLimit),
            },
            MacAction::Ready => {
                // What routing made of a failed frame may have gone straight to the MAC meanwhile.
                let station = &mut self.stations[node as usize];
                if !station.mac.is_ready() {
                    return;
                }
                let Some(next) = station.queue.pop() else {
                    station.queue.begin_idle(self.now);
                    return;
                };
                self.give_to_mac(node, next);
            }
        }
    }

    /// The MAC hands up what it received.
    fn take_up(&mut self, node: u32, body: Rc<Body>, from: NodeId) {
        match &*body {
            Body::Ip(packet) => {
                self.audit.receive(packet);
                self.convey(self.link_layer_delay, Delayed::Up { node, body, from });
            }
            &Body::Arp(message) => {
                // A packet that waited for the answer goes on after ARP's delay.
                self.with_arp(node, self.arp_delay, |arp, actions| arp.handle_message(message, actions));
            }
        }
    }
}
