//! The network: the only place that knows all the layers. It hands each layer's actions to the next.
//!
//! One packet's journey: a source makes it (`Network::originate`) → routing chooses the next hop → ARP
//! resolves it → after the link layer's delay it waits in the interface queue → the MAC contends and puts
//! frames on the air (`Network::transmit`) → each frame reaches the nodes in carrier-sense range one after
//! the other (`crate::channel`) → the receiver's MAC hands the packet up → routing delivers it or sends it
//! on.
//!
//! Every state machine has one slot in the event queue; after each call its deadline is set anew. Actions go
//! through vectors that are used again, so that the steady state of a run allocates nothing.

mod air;
mod build;
mod crashes;
mod delays;
mod flows;
mod results;
mod stages;
#[cfg(test)]
mod tests;
mod wires;

use std::rc::Rc;
use std::sync::Arc;

use crate::arp::{Arp, ArpAction};
use crate::channel::Channel;
use crate::drops::DropReason;
use crate::flow::{FlowAction, Flows, Timer};
use crate::ifq::{Admission, Outgoing};
use crate::kernel::{Clock, Delays, Slot, Span, Time};
use crate::mac::{Dcf, MacAction, Timing};
use crate::mobility::Path;
use crate::observe::{Accounts, Event, PathSample, RunError, WORK_BETWEEN_QUESTIONS};
use crate::routing::{Action, Routing, whole_path};
use crate::scenario::Line;
use crate::stage::{Stage, Stages};
use crate::station::{Crashes, Delayed, Station};
use crate::wire::mac::Body;
use crate::wire::{FlowId, NodeId, Packet};

/// What a slot of the event queue belongs to.
#[derive(Clone, Copy, Debug)]
enum Target {
    Mac(u32),
    Routing(u32),
    Flow(FlowId, Timer),
    Air(u32),
    /// Starts of frames under way.
    FrameStarts,
    /// What has a delay of its own.
    Held,
    DelayLine(u32),
    /// The warm-up ends.
    Warmup,
    /// Of a node: what stands around its routing.
    Stage(Stage, u32),
    /// Of a node: its address resolution.
    Arp(u32),
    /// Of a node: its battery.
    Battery(u32),
    /// Of a node: it crashes, or starts anew.
    Crash(u32),
}

/// A vector of actions that is used again.
type Pool<T> = Vec<Vec<T>>;

/// See the module's head.
pub(crate) struct Network<'r> {
    pub(crate) clock: Clock,
    events: u64,
    /// By slot of the event queue.
    targets: Vec<Target>,
    link_layer_delay: Span,
    arp_delay: Span,
    data_ttl: u8,
    channel: Channel,
    /// For each node, when its ARP wants to be woken; empty where no request is repeated by a timer.
    arp_slots: Vec<Slot>,
    /// Does routing want to know how strong frames are?
    hears_power: bool,
    /// Must next hops be resolved, because routing names them by their IP addresses?
    needs_arp: bool,
    stations: Vec<Station>,
    /// Both directions of every wired link.
    lines: Vec<Line>,
    flows: Flows,
    delays: Delays<Delayed>,
    accounts: Accounts<'r>,
    /// What stands around routing; nothing in most networks.
    stages: Option<Box<Stages>>,
    /// The paths of all nodes, by node, if some of them join or leave.
    comings: Option<Arc<[Path]>>,
    /// What nodes need that crash; nothing where none does.
    crashes: Option<Box<Crashes<'r>>>,
    /// The first invariant that did not hold: the run ends.
    broken: Option<RunError>,
    flow_actions: Pool<FlowAction>,
    routing_actions: Pool<Action>,
    mac_actions: Pool<MacAction>,
    arp_actions: Pool<ArpAction>,
}

impl Network<'_> {
    /// A function of its own, so that its instructions can be counted.
    ///
    /// # Errors
    /// When `go_on` said no, an invariant does not hold, or time would run backwards.
    #[inline(never)]
    pub(crate) fn run_to_end(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        self.start();
        let mut ask_at = WORK_BETWEEN_QUESTIONS;
        while let Some((time, slot)) = self.clock.agenda.pop() {
            if !self.step(time, slot)? {
                break;
            }
            let work = self.events + self.channel.arrivals;
            if work >= ask_at {
                ask_at = work + WORK_BETWEEN_QUESTIONS;
                if !go_on() {
                    return Err(RunError::Stopped(self.clock.now.as_secs()));
                }
            }
        }
        self.end()
    }

    /// All nodes start.
    pub(crate) fn start(&mut self) {
        for node in 0..self.stations.len() as u32 {
            self.with_routing(node, |routing, now, actions| routing.handle_start(now, actions));
        }
        self.set_pause();
    }

    /// What is due at `time` happens, and the answer is true; at the end nothing does.
    #[inline(always)]
    pub(crate) fn step(&mut self, time: Time, slot: Slot) -> Result<bool, RunError> {
        if time < self.clock.now {
            return Err(self.backwards(time, self.targets[slot.0 as usize]));
        }
        if time >= self.clock.pause() {
            if time >= self.clock.end {
                return Ok(false);
            }
            self.pause_at(time);
        }
        self.clock.now = time;
        self.events += 1;
        self.fire(self.targets[slot.0 as usize]);
        Ok(true)
    }

    /// Nothing is due any more before the end.
    pub(crate) fn end(&mut self) -> Result<(), RunError> {
        self.check()?;
        self.compare_due_routes(Time(self.clock.end.0.saturating_sub(1)));
        self.clock.now = self.clock.end;
        self.sample_until(self.clock.end);
        self.accounts.watch.run_ends(self.clock.now);
        Ok(())
    }

    /// Lets the time series and the recorder look at the network before the event at `time`.
    #[cold]
    fn pause_at(&mut self, time: Time) {
        self.sample_until(time);
        self.compare_due_routes(time);
        self.set_pause();
    }

    /// The clock stops for the time series and the recorder.
    fn set_pause(&mut self) {
        self.clock.set_pause(self.accounts.next_look());
    }

    /// Closes all steps of the time series that end at `time` or before; nothing happens between now and
    /// then.
    fn sample_until(&mut self, time: Time) {
        while self.accounts.sampler.due() <= time {
            let mut counts = self.accounts.meter.running();
            let flows = self.flows.snapshots(&mut counts);
            let of_tcp = flows.iter().filter_map(|flow| flow.tcp);
            let of_messages = flows.iter().filter_map(|flow| flow.messages);
            let paths = self.flow_paths(self.accounts.sampler.due());
            let sample = PathSample::of(self.stations.len(), &paths);
            self.accounts.sampler.close_step(counts, of_tcp, of_messages, sample);
        }
    }

    /// The whole paths that packets of the flows would take now; flows without one have none here.
    fn flow_paths(&self, now: Time) -> Vec<Vec<NodeId>> {
        let routing = |node: NodeId| self.stations[node.index()].routing.as_ref();
        self.flows.ends().filter_map(|(src, dst)| whole_path(routing, now, src, dst)).collect()
    }

    /// Do all invariants hold so far?
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        self.broken.take().map_or(Ok(()), Err)
    }

    /// An invariant does not hold at `node`: the run ends after this event.
    #[cold]
    fn break_off(&mut self, node: NodeId, what: &'static str) {
        let at_s = self.clock.now.as_secs();
        self.broken.get_or_insert(RunError::Broken { what, node: node.0, at_s });
        // The loop of events looks at the end anyway, and pays nothing for this.
        self.clock.end_by(self.clock.now);
    }

    #[cold]
    fn backwards(&self, deadline: Time, owner: Target) -> RunError {
        let owner = match owner {
            Target::Mac(node) => format!("the MAC of node {node}"),
            Target::Routing(node) => format!("routing at node {node}"),
            Target::Flow(flow, timer) => format!("the {} of flow {}", timer.name(), flow.0),
            Target::Air(transmission) => format!("transmission {transmission}"),
            Target::FrameStarts => "the starts of frames under way".to_owned(),
            Target::Held | Target::DelayLine(_) => "a layer's delay".to_owned(),
            Target::Warmup => "the end of the warm-up".to_owned(),
            Target::Stage(stage, node) => format!("the {} of node {node}", stage.name()),
            Target::Arp(node) => format!("ARP at node {node}"),
            Target::Battery(node) => format!("the battery of node {node}"),
            Target::Crash(node) => format!("a crash of node {node}"),
        };
        RunError::Backwards { owner, deadline_s: deadline.as_secs(), now_s: self.clock.now.as_secs() }
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
            Target::Flow(flow, timer) => {
                self.with_flow(flow, |flow, now, actions| flow.handle_timeout(now, timer, actions));
            }
            Target::Air(transmission) => self.continue_transmission(transmission),
            Target::FrameStarts => self.continue_frame_starts(),
            Target::Held => self.release_held(),
            Target::DelayLine(line) => self.advance_line(line),
            Target::Warmup => self.flows.handle_warmup_end(),
            Target::Stage(stage, node) => self.wake_stage(stage, node),
            Target::Crash(node) => self.crash_or_start(node),
            Target::Battery(node) => self.channel.look_at_battery(&mut self.clock, node),
            Target::Arp(node) => {
                self.with_arp(node, self.arp_delay, |arp, now, actions| arp.handle_timeout(now, actions));
            }
        }
    }

    fn add_slot(&mut self, target: Target) -> Slot {
        self.targets.push(target);
        self.clock.agenda.add_slot()
    }

    // The recorder.

    /// Tells the recorder, if there is one.
    #[inline]
    fn record<'e>(&mut self, node: u32, event: impl FnOnce() -> Event<'e>) {
        self.accounts.watch.record(self.clock.now, node, event);
    }

    /// The node's interface queue may have another length.
    #[inline]
    fn watch_queue(&mut self, node: u32) {
        self.accounts.watch.queue(self.clock.now, node, self.stations[node as usize].queue.len());
    }

    /// Compares, one time after the other, the routes that are due by `time`: each ends when its time has
    /// come, and not when the next event happens.
    fn compare_due_routes(&mut self, time: Time) {
        while self.accounts.watch.routes_due() <= time {
            self.clock.now = self.accounts.watch.routes_due();
            match self.accounts.watch.next_routes_due() {
                Some(node) => self.watch_routes(node),
                None => (0..self.stations.len() as u32).for_each(|node| self.watch_routes(node)),
            }
        }
    }

    fn watch_routes(&mut self, node: u32) {
        self.accounts.watch.routes(self.clock.now, node, self.stations[node as usize].routing.as_mut());
        self.set_pause();
    }

    // Packets that come up.

    /// A packet from the MAC reaches routing; `power_w`: how strong its frame was, if anybody wants to know.
    fn hand_to_routing(&mut self, node: u32, body: Rc<Body>, from: NodeId, power_w: Option<f64>) {
        if let Some(power_w) = power_w {
            self.stations[node as usize].routing.handle_rx_power(self.clock.now, from, power_w);
            self.show_power(node, &body, (from, power_w));
        }
        if let Body::Ip(packet) = &*body {
            self.record(node, || Event::Arrived(packet, from));
            if self.stages.is_some() && self.show_received(node, packet, from) {
                return self.accounts.audit.consume(packet);
            }
            if packet.dst.is_broadcast() && self.suppress_duplicate(node, packet, from) {
                return self.accounts.audit.consume(packet);
            }
        }
        let Body::Ip(mut packet) = Rc::unwrap_or_clone(body) else {
            return self.break_off(NodeId(node), "something else than an IP packet goes up to routing");
        };
        if self.stages.is_some() {
            let Some(passed) = self.pass_up(node, packet) else { return };
            packet = passed;
        }
        self.come_up(node, packet, from);
    }

    /// Routing gets a packet from a neighbour.
    fn come_up(&mut self, node: u32, mut packet: Packet, from: NodeId) {
        packet.hops = packet.hops.saturating_add(1);
        self.with_routing(node, |routing, now, actions| {
            routing.handle_incoming(now, packet, from, actions);
        });
    }

    /// Shows a broadcast to routing; true if it is a duplicate, of which nothing is left.
    fn suppress_duplicate(&mut self, node: u32, packet: &Packet, from: NodeId) -> bool {
        let mut is_suppressed = false;
        self.with_routing(node, |routing, now, actions| {
            is_suppressed = routing.suppress_duplicate(now, packet, from, actions);
        });
        is_suppressed
    }

    // Routing.

    /// Calls the node's routing protocol, carries out its actions, and sets its deadline.
    pub(crate) fn with_routing(
        &mut self,
        node: u32,
        call: impl FnOnce(&mut dyn Routing, Time, &mut Vec<Action>),
    ) {
        let mut actions = self.routing_actions.pop().unwrap_or_default();
        call(self.stations[node as usize].routing.as_mut(), self.clock.now, &mut actions);
        for action in actions.drain(..) {
            self.carry_out(node, action);
        }
        self.routing_actions.push(actions);
        let station = &self.stations[node as usize];
        self.clock.agenda.set(station.routing_slot, station.routing.next_timeout());
        self.look_at_routes(node);
    }

    /// Routing at the node may have other routes than before.
    #[inline]
    fn look_at_routes(&mut self, node: u32) {
        if self.accounts.want_routes(node) {
            self.look_at_wanted_routes(node);
        }
    }

    #[inline(never)]
    fn look_at_wanted_routes(&mut self, node: u32) {
        let routing = self.stations[node as usize].routing.as_mut();
        self.accounts.look_at_routes(self.clock.now, node, routing);
        self.set_pause();
    }

    fn carry_out(&mut self, node: u32, action: Action) {
        match action {
            Action::Send { packet, next_hop, delay } => {
                let Some(mut packet) = self.send_or_keep(node, packet) else { return };
                self.accounts.number(&mut packet);
                self.hold(delay, Delayed::Down { node, packet, next_hop });
            }
            Action::Broadcast { mut packet, delay } => {
                self.accounts.number(&mut packet);
                self.hold(delay, Delayed::Down { node, packet, next_hop: NodeId::BROADCAST });
            }
            Action::Deliver(packet) => self.deliver(node, &packet),
            Action::Drop(packet, reason) => {
                let Some(mut packet) = self.drop_or_keep(node, packet, reason) else { return };
                self.accounts.number(&mut packet);
                self.drop_packet(node, &packet, reason);
            }
            Action::Consume(packet) => self.accounts.audit.consume(&packet),
            Action::FlushQueue(neighbour) => self.flush_queue(node, neighbour),
            Action::Notify(notice) => {
                self.accounts.noticed(self.clock.now, node, notice);
                self.notify_flows(NodeId(node), notice);
                self.with_interceptor(node, |interceptor, now, out| {
                    interceptor.handle_notice(now, notice, out);
                });
            }
        }
    }

    fn drop_packet(&mut self, node: u32, packet: &Packet, reason: DropReason) {
        self.with_interceptor(node, |interceptor, now, out| {
            interceptor.handle_dropped(now, packet, reason, out);
        });
        self.accounts.dropped(self.clock.now, node, packet, reason);
    }

    fn flush_queue(&mut self, node: u32, neighbour: NodeId) {
        let mut taken = Vec::new();
        self.stations[node as usize].queue.flush(neighbour, &mut taken);
        self.watch_queue(node);
        for outgoing in taken {
            if let Body::Ip(packet) = &outgoing.body
                && packet.bypasses_routing()
            {
                // It is not routing's, and stays.
                self.enqueue(node, outgoing);
            } else if let Body::Ip(packet) = outgoing.body {
                self.with_routing(node, |routing, now, actions| {
                    routing.handle_flushed(now, packet, neighbour, actions);
                });
            }
        }
    }

    // Link layer.

    /// IP hands a packet down: onto the wire, if there is one to its next hop; else through ARP, if that must
    /// be resolved, to the interface queue.
    fn send_down(&mut self, node: u32, mut packet: Packet, next_hop: NodeId) {
        if self.stages.is_some() {
            self.show_sent(node, &mut packet, next_hop);
        }
        self.accounts.sent(self.clock.now, node, &packet, next_hop);
        let Some(packet) = self.send_over_wire(node, packet, next_hop) else { return };
        if next_hop.is_broadcast() || !self.needs_arp {
            let outgoing = Outgoing { to: next_hop, body: Body::Ip(packet) };
            self.put_in_line(self.link_layer_delay, Delayed::Enqueue { node, outgoing });
        } else {
            self.with_arp(node, self.link_layer_delay, |arp, now, actions| {
                arp.handle_outgoing(now, packet, next_hop, actions);
            });
        }
    }

    /// Calls the node's ARP, carries out its actions, and sets its deadline; resolved packets wait
    /// `resolved_delay`.
    fn with_arp(
        &mut self,
        node: u32,
        resolved_delay: Span,
        call: impl FnOnce(&mut Arp, Time, &mut Vec<ArpAction>),
    ) {
        let mut actions = self.arp_actions.pop().unwrap_or_default();
        let arp = &mut self.stations[node as usize].arp;
        call(arp, self.clock.now, &mut actions);
        if let Some(&slot) = self.arp_slots.get(node as usize) {
            self.clock.agenda.set(slot, arp.next_timeout());
        }
        for action in actions.drain(..) {
            match action {
                ArpAction::Send { to, body } => {
                    let delay = if matches!(body, Body::Arp(_)) { self.arp_delay } else { resolved_delay };
                    self.put_in_line(delay, Delayed::Enqueue { node, outgoing: Outgoing { to, body } });
                }
                ArpAction::Ask { request, delay } => {
                    let outgoing = Outgoing { to: NodeId::BROADCAST, body: Body::Arp(request) };
                    self.put_in_line(self.arp_delay + delay, Delayed::Enqueue { node, outgoing });
                }
                ArpAction::Replaced(packet) => self.drop_packet(node, &packet, DropReason::ArpHoldReplaced),
                ArpAction::Unresolved { next_hop, packet } => {
                    self.report_failure(node, packet, next_hop, DropReason::ArpUnresolved);
                }
            }
        }
        self.arp_actions.push(actions);
    }

    /// A packet could not be brought to its next hop: routing decides; for its own packets only if it wants
    /// to.
    fn report_failure(&mut self, node: u32, packet: Packet, next_hop: NodeId, unclaimed: DropReason) {
        self.accounts.meter.link_failed(self.clock.now, &packet);
        if packet.is_data() || self.stations[node as usize].routing.takes_back_control() {
            self.with_routing(node, |routing, now, actions| {
                routing.handle_link_failure(now, packet, next_hop, actions);
            });
        } else {
            self.drop_packet(node, &packet, unclaimed);
        }
    }

    fn enqueue(&mut self, node: u32, mut outgoing: Outgoing) {
        if self.is_absent(node) {
            return self.drop_body(node, &outgoing.body, DropReason::Absent);
        }
        let station = &mut self.stations[node as usize];
        match station.queue.admit(self.clock.now, &mut outgoing) {
            Admission::Admitted => {}
            Admission::Marked => {
                if let Body::Ip(packet) = &outgoing.body {
                    self.record(node, || Event::Marked(packet));
                }
            }
            Admission::Refused => return self.drop_body(node, &outgoing.body, DropReason::EarlyDrop),
        }
        let station = &mut self.stations[node as usize];
        let relayed = matches!(&outgoing.body, Body::Ip(packet) if packet.src.0 != node);
        self.accounts.sampler.packet_queued(station.queue.len(), relayed);
        if self.channel.macs[node as usize].is_ready() && station.queue.is_empty() {
            return self.give_to_mac(node, outgoing);
        }
        let refused = station.queue.push(outgoing);
        self.watch_queue(node);
        if let Some(refused) = refused {
            self.drop_body(node, &refused.body, DropReason::QueueFull);
        }
    }

    fn drop_body(&mut self, node: u32, body: &Body, reason: DropReason) {
        match body {
            Body::Ip(packet) => self.drop_packet(node, packet, reason),
            &Body::Arp(message) => self.accounts.arp_dropped(self.clock.now, node, message, reason),
        }
    }

    // MAC.

    fn give_to_mac(&mut self, node: u32, outgoing: Outgoing) {
        if let Some(packet) = outgoing.body.packet() {
            let again = outgoing.to.is_broadcast() && packet.src.0 != node;
            let frame_bytes = self.channel.timing.frame_bytes(packet.bytes);
            self.accounts.meter.packet_taken(self.clock.now, packet, frame_bytes, again);
        }
        self.with_mac(node, |mac, now, timing, actions| {
            mac.handle_send(now, outgoing.to, outgoing.body, timing, actions);
        });
    }

    /// Calls the node's MAC, carries out its actions, and sets its deadline.
    fn with_mac(&mut self, node: u32, call: impl FnOnce(&mut Dcf, Time, &Timing, &mut Vec<MacAction>)) {
        let mut actions = self.mac_actions.pop().unwrap_or_default();
        let Channel { macs, timing, .. } = &mut self.channel;
        call(&mut macs[node as usize], self.clock.now, timing, &mut actions);
        self.finish_mac(node, actions);
    }

    /// What follows when a MAC has been called.
    fn finish_mac(&mut self, node: u32, mut actions: Vec<MacAction>) {
        // Most often there is nothing to do.
        if !actions.is_empty() {
            for action in actions.drain(..) {
                self.carry_out_mac(node, action);
            }
        }
        self.mac_actions.push(actions);
        self.channel.set_mac_deadline(&mut self.clock, node);
    }

    fn carry_out_mac(&mut self, node: u32, action: MacAction) {
        match action {
            MacAction::Transmit(frame) => self.transmit(node, frame),
            MacAction::Deliver { body, from } => self.hand_up(node, body, from),
            MacAction::Duplicate(body) => {
                if let Some(packet) = body.packet() {
                    self.accounts.audit.receive(packet);
                }
                self.drop_body(node, &body, DropReason::Duplicate);
            }
            MacAction::Sent(body) => {
                if let Body::Ip(packet) = &*body {
                    self.accounts.audit.hand_over(packet);
                    self.with_interceptor(node, |interceptor, now, out| {
                        interceptor.handle_taken(now, packet, out);
                    });
                }
            }
            MacAction::Failed { body, to } => match Rc::unwrap_or_clone(body) {
                Body::Ip(packet) => self.report_failure(node, packet, to, DropReason::RetryLimit),
                arp @ Body::Arp(_) => self.drop_body(node, &arp, DropReason::RetryLimit),
            },
            MacAction::Ready => {
                // What routing made of a failed frame may have gone straight to the MAC meanwhile.
                if !self.channel.macs[node as usize].is_ready() {
                    return;
                }
                self.empty_queue_of_absent(node);
                let station = &mut self.stations[node as usize];
                let Some(next) = station.queue.pop() else {
                    station.queue.begin_idle(self.clock.now);
                    return;
                };
                self.watch_queue(node);
                self.give_to_mac(node, next);
            }
        }
    }

    /// What waited when its node left is lost.
    fn empty_queue_of_absent(&mut self, node: u32) {
        while self.is_absent(node)
            && let Some(left) = self.stations[node as usize].queue.pop()
        {
            self.drop_body(node, &left.body, DropReason::Absent);
        }
    }

    /// The MAC hands up what it received.
    fn hand_up(&mut self, node: u32, body: Rc<Body>, from: NodeId) {
        match &*body {
            Body::Ip(packet) => {
                self.accounts.audit.receive(packet);
                let power_w = self.hears_power.then(|| self.channel.rx_power_w(node));
                self.put_in_line(self.link_layer_delay, Delayed::Up { node, body, from, power_w });
            }
            &Body::Arp(message) => {
                // A packet that waited for the answer goes on after ARP's delay.
                self.with_arp(node, self.arp_delay, |arp, _, actions| arp.handle_message(message, actions));
            }
        }
    }
}
