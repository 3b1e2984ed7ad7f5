//! The optional stages around routing: what each layer shows them, and what becomes of their actions.

use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Purpose, Slot, Span, Streams, Time};
use crate::observe::{Event, ShareLog};
use crate::scenario::{Params, Scenario};
use crate::stage::{self, OwnFlow, Rates, Stage, StageAction, ThrottleMode, ThrottleParams};
use crate::wire::density::{Announcement, FlowKey};
use crate::wire::{Ecn, FlowId, IP_HEADER_BYTES, NodeId, Packet, Payload};

use super::delays::Delayed;
use super::{Network, Target};

/// One node's stage, with its slot in the event queue.
pub(super) struct StageNode {
    stage: Box<dyn Stage>,
    slot: Slot,
}

impl Network<'_> {
    /// Every node's stage, none if the scenario needs none. With wired links base stations come before
    /// TCP-BuS, which has nothing to do where routes do not fail.
    pub(super) fn stage_nodes(&mut self, scenario: &Scenario) -> Vec<StageNode> {
        (0..self.stations.len() as u32)
            .filter_map(|node| {
                let hosts =
                    self.lines.iter().filter(|line| line.from.0 == node).map(|line| line.to).collect();
                let base_station = stage::base_station(&scenario.params.tcp, hosts);
                let stage = base_station
                    .filter(|_| !self.lines.is_empty())
                    .or_else(|| stage::tcp_bus(NodeId(node), &scenario.params.tcp))?;
                Some(StageNode { stage, slot: self.add_slot(Target::Stage(node)) })
            })
            .collect()
    }

    /// Every node's throttles, none if the scenario throttles nothing. They stand before routing and keep
    /// nothing but what the node's own endpoints make, so that they and the other stages are independent.
    pub(super) fn throttle_nodes(&mut self, scenario: &Scenario) -> Vec<StageNode> {
        let params = &scenario.params;
        if params.throttle.mode == ThrottleMode::Off {
            return Vec::new();
        }
        if self.announcement_headers.is_some() {
            self.meter.shares = share_log(scenario);
        }
        let streams = Streams::new(scenario.seed, scenario.replication);
        (0..self.stations.len() as u32)
            .filter_map(|node| {
                let (flows, stream) = (own_flows(scenario, node), streams.stream(node, Purpose::Shares));
                let udp_header_bytes = params.network.udp_header_bytes;
                let stage = stage::throttle(NodeId(node), &params.throttle, udp_header_bytes, flows, stream)?;
                Some(StageNode { stage, slot: self.add_slot(Target::Throttle(node)) })
            })
            .collect()
    }

    /// An endpoint at the node has made a packet: it comes back unless it is kept.
    #[inline]
    pub(super) fn make_or_keep(&mut self, node: u32, packet: Packet) -> Option<Packet> {
        if self.throttles.is_empty() {
            return Some(packet);
        }
        let copy = self.watch.is_some().then(|| packet.clone());
        let mut passed = None;
        let mut is_kept = true;
        self.with_throttle(node, |stage, now, out| {
            passed = stage.handle_made(now, packet, out);
            is_kept = passed.is_none() && out.is_empty();
        });
        if let Some(packet) = copy.filter(|_| is_kept) {
            self.record(node, || Event::Kept(&packet));
        }
        passed
    }

    /// Calls the node's throttles, carries out their actions, and sets their deadline.
    pub(super) fn with_throttle(
        &mut self,
        node: u32,
        call: impl FnOnce(&mut dyn Stage, Time, &mut Vec<StageAction>),
    ) {
        let of = &mut self.throttles[node as usize];
        let mut actions = Vec::new();
        call(of.stage.as_mut(), self.now, &mut actions);
        for action in actions {
            self.carry_out_stage(node, action);
        }
        let of = &self.throttles[node as usize];
        self.agenda.set(of.slot, of.stage.next_timeout());
    }

    /// Calls the node's stage, if there is one, carries out its actions, and sets its deadline.
    #[inline]
    pub(super) fn with_stage(
        &mut self,
        node: u32,
        call: impl FnOnce(&mut dyn Stage, Time, &mut Vec<StageAction>),
    ) {
        let Some(of) = self.stages.get_mut(node as usize) else { return };
        let mut actions = Vec::new();
        call(of.stage.as_mut(), self.now, &mut actions);
        for action in actions {
            self.carry_out_stage(node, action);
        }
        let of = &self.stages[node as usize];
        self.agenda.set(of.slot, of.stage.next_timeout());
    }

    /// Routing sends a packet on: it comes back unless it is kept.
    #[inline]
    pub(super) fn send_or_keep(&mut self, node: u32, packet: Packet) -> Option<Packet> {
        if self.stages.is_empty() {
            return Some(packet);
        }
        self.pass_or_keep(node, packet, |stage, now, packet, out| stage.handle_outgoing(now, packet, out))
    }

    /// Routing gives a packet up: it comes back unless it is kept.
    #[inline]
    pub(super) fn drop_or_keep(&mut self, node: u32, packet: Packet, reason: DropReason) -> Option<Packet> {
        if self.stages.is_empty() {
            return Some(packet);
        }
        self.pass_or_keep(node, packet, |stage, now, packet, out| {
            stage.handle_given_up(now, packet, reason, out)
        })
    }

    /// Calls `visit` for the packets kept at all nodes.
    pub(super) fn visit_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.stages.iter().chain(&self.throttles).for_each(|of| of.stage.kept(visit));
    }

    fn pass_or_keep(
        &mut self,
        node: u32,
        packet: Packet,
        call: impl FnOnce(&mut dyn Stage, Time, Packet, &mut Vec<StageAction>) -> Option<Packet>,
    ) -> Option<Packet> {
        let copy = self.watch.is_some().then(|| packet.clone());
        let mut actions = Vec::new();
        let not_kept = call(self.stages[node as usize].stage.as_mut(), self.now, packet, &mut actions);
        if let Some(packet) = copy.filter(|_| not_kept.is_none()) {
            self.record(node, || Event::Kept(&packet));
        }
        self.with_stage(node, |_, _, out| out.append(&mut actions));
        not_kept
    }

    fn carry_out_stage(&mut self, node: u32, action: StageAction) {
        match action {
            StageAction::Route(packet) => {
                self.with_routing(node, |routing, now, actions| {
                    routing.handle_outgoing(now, packet, actions);
                });
            }
            StageAction::Tell { connection, source, segment, .. } if source.0 == node => {
                self.notify_sender(connection, &segment);
            }
            StageAction::Tell { connection, source, segment, bytes } => {
                let payload = Payload::Tcp(connection, segment);
                self.originate(NodeId(node), source, bytes, payload, Ecn::NotEct);
            }
            StageAction::Drop(packet, reason) => self.drop_packet(node, &packet, reason),
            StageAction::Announce(announcement) => self.announce(node, announcement),
            StageAction::Rate { flow, hops, share, rate_bps } => {
                self.meter.shares.learned(self.now, flow, rate_bps);
                self.record(node, || Event::Share { flow, hops, share, rate_bps });
            }
        }
    }

    // The path density protocol.

    /// A packet goes to a neighbour, or to all: the node carries its flow; messages of the routing protocol
    /// to all neighbours carry what the node announces.
    pub(super) fn show_sent(&mut self, node: u32, packet: &mut Packet, next_hop: NodeId) {
        if let Some(flow) = self.flow_from_source(packet) {
            self.with_throttle(node, |stage, now, out| stage.handle_sent(now, flow, next_hop, out));
        } else if next_hop.is_broadcast() && packet.announcement.is_none() && !packet.is_data() {
            let mut announced = None;
            self.with_throttle(node, |stage, now, out| announced = stage.handle_broadcast(now, out));
            if let Some(announcement) = announced {
                self.meter.announced(self.now, announcement.bytes(), false);
                packet.put_announcement(announcement);
            }
        }
    }

    /// A packet came from a neighbour.
    pub(super) fn show_received(&mut self, node: u32, packet: &Packet, from: NodeId) {
        if let Some(announcement) = &packet.announcement {
            self.with_throttle(node, |stage, now, out| {
                stage.handle_announcement(now, from, announcement, out);
            });
        } else if let Some(flow) = self.flow_from_source(packet) {
            self.with_throttle(node, |stage, now, out| stage.handle_received(now, flow, from, out));
        }
    }

    /// The flow of a packet that goes from the flow's source to its destination.
    fn flow_from_source(&self, packet: &Packet) -> Option<FlowKey> {
        let flow = packet.flow()?;
        let of = &self.flows[flow.index()];
        ((of.src, of.dst) == (packet.src, packet.dst)).then_some(FlowKey { src: of.src, dst: of.dst, flow })
    }

    /// Sends an announcement to all neighbours in a datagram of its own.
    fn announce(&mut self, node: u32, announcement: Arc<Announcement>) {
        self.meter.announced(self.now, announcement.bytes(), true);
        let bytes = self.announcement_headers.unwrap_or_default();
        let (src, dst) = (NodeId(node), NodeId::BROADCAST);
        let mut packet = Packet::control(self.now, src, dst, 1, bytes, Payload::Nothing);
        packet.put_announcement(announcement);
        self.number(&mut packet);
        self.hold(Span::ZERO, Delayed::Down { node, packet, next_hop: dst });
    }
}

/// Bytes of headers of the packets in which nodes announce the flows that they carry; none if they do not.
pub(super) fn announcement_headers(params: &Params) -> Option<u32> {
    let is_on = params.throttle.mode == ThrottleMode::Density;
    is_on.then_some(IP_HEADER_BYTES + params.network.udp_header_bytes)
}

/// The log of a run in which nodes announce their flows.
fn share_log(scenario: &Scenario) -> ShareLog {
    let mut log = ShareLog::measured();
    for flow in &scenario.flows {
        let until_s = flow.stop_s.unwrap_or(scenario.duration_s).min(scenario.duration_s);
        let from = Time::from_secs(flow.start_s.max(scenario.warmup_s));
        log.add_flow(from, Time::from_secs(until_s), flow.oracle_bps.as_deref().map(rates));
    }
    log
}

/// Rates as a scenario says them.
fn rates(given: &[(f64, f64)]) -> Rates {
    given.iter().map(|&(from_s, bps)| (Time::from_secs(from_s), bps)).collect()
}

/// The flows that begin at a node and are throttled, with what is known of their rates.
fn own_flows(scenario: &Scenario, node: u32) -> Vec<OwnFlow> {
    let ThrottleParams { mode, rate_bps, .. } = scenario.params.throttle;
    let common = (mode == ThrottleMode::Preset && rate_bps > 0.0).then(|| vec![(Time::ZERO, rate_bps)]);
    let flows = (0..).map(FlowId).zip(&scenario.flows).filter(|(_, flow)| flow.src == node);
    flows
        .filter_map(|(id, flow)| {
            let rates = flow.throttle_bps.as_deref().map(rates).or_else(|| common.clone());
            let alone_bps = flow.alone_bps.clone().filter(|_| mode == ThrottleMode::Density);
            let alone_bps = alone_bps.unwrap_or_default();
            let is_throttled = rates.is_some() || !alone_bps.is_empty();
            is_throttled.then_some(OwnFlow { flow: id, dst: NodeId(flow.dst), rates, alone_bps })
        })
        .collect()
}
