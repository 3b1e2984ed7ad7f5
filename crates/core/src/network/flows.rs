//! Flows in the network: their actions go to routing, packets and what routing tells go to them. What kinds
//! of flows there are is known to `crate::flow` only.

use super::{Network, Target};
use crate::drops::DropReason;
use crate::flow::{self, End, Flow, FlowAction};
use crate::kernel::Time;
use crate::observe::{Event, FlowEvent, FlowStep};
use crate::routing::{ConnectionEvent, Notice};
use crate::scenario::Scenario;
use crate::wire::mac::Body;
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, Ecn, FlowId, NodeId, Packet, Payload};

impl Network<'_> {
    pub(super) fn add_flow(&mut self, scenario: &Scenario, id: FlowId) {
        let flow = flow::build::make(scenario, id);
        let spec = &scenario.flows[id.index()];
        let (src, dst) = (NodeId(spec.src), NodeId(spec.dst));
        if flow.has_outages() {
            self.accounts.meter.outages.add(id, src, dst, flow::build::start(scenario, id));
        }
        let slots = flow.timers().iter().map(|&timer| (timer, self.add_slot(Target::Flow(id, timer))));
        let slots = slots.collect();
        self.flows.add(src, dst, flow, slots);
        self.flows.set_deadlines(&mut self.clock, id);
    }

    /// Passes routing's notice at `node` to the flows between this node and the one that it is about.
    pub(super) fn notify_flows(&mut self, node: NodeId, notice: Notice) {
        for (id, at) in self.flows.ends_between(node, notice.dst()) {
            self.with_flow(id, |flow, now, actions| flow.handle_notice(now, at, notice, actions));
        }
    }

    /// Tells a connection's sender what its own node found out about packets on their way.
    pub(super) fn notify_sender(&mut self, connection: ConnectionId, segment: &Segment) {
        self.with_flow(connection.flow, |flow, now, actions| {
            flow.handle_notification(now, connection.number, segment, actions);
        });
    }

    /// A node has received a frame from a neighbour at this power: flows that end there hear of it.
    pub(super) fn show_power(&mut self, node: u32, body: &Body, heard: (NodeId, f64)) {
        let brought = body.packet().filter(|packet| packet.dst.0 == node).and_then(Packet::flow);
        for id in self.flows.hearing_power(node) {
            let has_packet = brought == Some(id);
            self.with_flow(id, |flow, now, actions| flow.handle_rx_power(now, heard, has_packet, actions));
        }
    }

    /// Routing delivers a packet to its endpoint at `node`.
    pub(super) fn deliver(&mut self, node: u32, packet: &Packet) {
        let Some(id) = packet.flow() else {
            self.accounts.audit.consume(packet);
            return;
        };
        if self.stages.is_some() && matches!(packet.payload, Payload::Insignia(..)) {
            // What stands around routing has read it.
            self.accounts.audit.deliver(packet);
            return self.record(node, || Event::Delivered(packet));
        }
        if packet.dst.0 != node || !self.flows.get_mut(id).expects(&packet.payload) {
            self.drop_packet(node, packet, DropReason::FlowEnded);
            return;
        }
        let is_first = self.accounts.delivered(self.clock.now, node, packet);
        self.with_flow(id, |flow, now, actions| flow.handle_packet(now, packet, is_first, actions));
    }

    /// An endpoint makes a packet of `bytes` at the IP layer.
    pub(super) fn originate(&mut self, src: NodeId, dst: NodeId, bytes: u32, payload: Payload, ecn: Ecn) {
        let mut packet = Packet::control(self.clock.now, src, dst, self.data_ttl, bytes, payload);
        packet.ecn = ecn;
        self.accounts.make(self.clock.now, &mut packet);
        if self.is_absent(src.0) {
            return self.drop_packet(src.0, &packet, DropReason::Absent);
        }
        let Some(packet) = self.make_or_keep(src.0, packet) else { return };
        self.with_routing(src.0, |routing, now, actions| routing.handle_outgoing(now, packet, actions));
    }

    /// Calls a flow, carries out its actions, and sets its deadlines.
    pub(super) fn with_flow(
        &mut self,
        id: FlowId,
        call: impl FnOnce(&mut dyn Flow, Time, &mut Vec<FlowAction>),
    ) {
        let mut actions = self.flow_actions.pop().unwrap_or_default();
        call(self.flows.get_mut(id), self.clock.now, &mut actions);
        for action in actions.drain(..) {
            self.carry_out_flow(id, action);
        }
        self.flow_actions.push(actions);
        self.flows.set_deadlines(&mut self.clock, id);
    }

    fn carry_out_flow(&mut self, id: FlowId, action: FlowAction) {
        let nodes_from = |end| self.flows.nodes_from(id, end);
        match action {
            FlowAction::Send { from, bytes, payload, ecn } => {
                let (src, dst) = nodes_from(from);
                self.originate(src, dst, bytes, payload, ecn);
            }
            FlowAction::Opened { at, two_way } => {
                let (node, dst) = nodes_from(at);
                if at == End::Source {
                    self.accounts.set_open(self.clock.now, node, id, true);
                }
                self.tell_routing(node, ConnectionEvent::Opened { dst, two_way });
            }
            FlowAction::Closed { at, two_way } => {
                let (node, dst) = nodes_from(at);
                if at == End::Source {
                    self.accounts.set_open(self.clock.now, node, id, false);
                }
                self.tell_routing(node, ConnectionEvent::Closed { dst, two_way });
            }
            FlowAction::RetransmissionTimeout { at, rto } => {
                let (node, dst) = nodes_from(at);
                self.tell_routing(node, ConnectionEvent::RetransmissionTimeout { dst, rto });
            }
            FlowAction::Window { at, cwnd, ssthresh, rto } => {
                let (node, _) = nodes_from(at);
                self.record(node.0, || Event::Window { flow: id, cwnd, ssthresh, rto });
            }
            FlowAction::Judged { connection, judgement } => {
                let connection = ConnectionId { flow: id, number: connection };
                self.accounts.guesses.judge(self.clock.now, connection, judgement);
            }
            FlowAction::Count(event) => {
                self.accounts.meter.count(self.clock.now, id, event);
                if self.comings.is_some() || self.channel.has_batteries() {
                    let (src, dst) = nodes_from(End::Source);
                    let made = event.made(self.clock.now);
                    let are_up = made.is_some_and(|made| self.is_up(src.0, made) && self.is_up(dst.0, made));
                    self.accounts.meter.count_with_ends(self.clock.now, event, are_up);
                }
                if event == FlowEvent::TimedOut {
                    let (node, _) = nodes_from(End::Source);
                    self.record(node.0, || Event::Flow(id, FlowStep::TimedOut));
                }
            }
            FlowAction::Broken(what) => self.break_off(nodes_from(End::Source).0, what),
        }
    }

    fn tell_routing(&mut self, node: NodeId, event: ConnectionEvent) {
        // A node that has crashed learns of it when it starts anew.
        if self.crashes.as_mut().is_some_and(|crashes| !crashes.note(node.0, event)) {
            return;
        }
        self.with_routing(node.0, |routing, now, actions| routing.handle_connection(now, event, actions));
    }
}
