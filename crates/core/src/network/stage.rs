//! The optional stages around routing: what each layer shows them, and what becomes of their actions.

use crate::drops::DropReason;
use crate::kernel::{Slot, Time};
use crate::observe::Event;
use crate::scenario::Scenario;
use crate::stage::{self, Rates, Stage, StageAction, ThrottleMode, ThrottleParams};
use crate::wire::{Ecn, FlowId, NodeId, Packet, Payload};

use super::{Network, Target};

/// One node's stage, with its slot in the event queue.
pub(super) struct StageNode {
    stage: Box<dyn Stage>,
    slot: Slot,
}

impl Network<'_> {
    /// Every node's stage, none if the scenario needs none.
    pub(super) fn stage_nodes(&mut self, scenario: &Scenario) -> Vec<StageNode> {
        (0..self.stations.len() as u32)
            .filter_map(|node| {
                let stage = stage::tcp_bus(NodeId(node), &scenario.params.tcp)?;
                Some(StageNode { stage, slot: self.add_slot(Target::Stage(node)) })
            })
            .collect()
    }

    /// Every node's throttles, none if the scenario throttles nothing. They stand before routing and see
    /// nothing but what the node's own endpoints make, so that they and the other stages are independent.
    pub(super) fn throttle_nodes(&mut self, scenario: &Scenario) -> Vec<StageNode> {
        let params = &scenario.params;
        (0..self.stations.len() as u32)
            .filter_map(|node| {
                let flows = own_rates(scenario, node);
                let stage = stage::throttle(&params.throttle, params.network.udp_header_bytes, flows)?;
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
        }
    }
}

/// The flows that begin at a node and are throttled, with their rates.
fn own_rates(scenario: &Scenario, node: u32) -> Vec<(FlowId, Rates)> {
    let ThrottleParams { mode, rate_bps, .. } = scenario.params.throttle;
    let common = (mode == ThrottleMode::Preset && rate_bps > 0.0).then(|| vec![(Time::ZERO, rate_bps)]);
    let flows = (0..).map(FlowId).zip(&scenario.flows).filter(|(_, flow)| flow.src == node);
    flows
        .filter_map(|(id, flow)| {
            let own = flow.throttle_bps.as_ref().map(|rates| {
                rates.iter().map(|&(from_s, bps)| (Time::from_secs(from_s), bps)).collect::<Rates>()
            });
            Some((id, own.or_else(|| common.clone())?))
        })
        .collect()
}
