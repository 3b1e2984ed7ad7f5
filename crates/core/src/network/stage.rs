//! The optional stage between routing and the link layer: what each layer shows it, and what becomes of its
//! actions.

use crate::drops::DropReason;
use crate::kernel::{Slot, Time};
use crate::observe::{PacketNote, RecordKind};
use crate::scenario::Scenario;
use crate::stage::{self, Stage, StageAction};
use crate::wire::{Ecn, NodeId, Packet, Payload};

use super::{Network, Target};

/// One node's stage, with its slot in the event queue.
pub(super) struct StageNode {
    stage: Box<dyn Stage>,
    slot: Slot,
}

impl Network {
    /// Every node's stage, none if the scenario needs none.
    pub(super) fn stage_nodes(&mut self, scenario: &Scenario) -> Vec<StageNode> {
        (0..self.stations.len() as u32)
            .filter_map(|node| {
                let stage = stage::new(NodeId(node), &scenario.params.tcp)?;
                Some(StageNode { stage, slot: self.add_slot(Target::Stage(node)) })
            })
            .collect()
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
        self.stages.iter().for_each(|of| of.stage.kept(visit));
    }

    fn pass_or_keep(
        &mut self,
        node: u32,
        packet: Packet,
        call: impl FnOnce(&mut dyn Stage, Time, Packet, &mut Vec<StageAction>) -> Option<Packet>,
    ) -> Option<Packet> {
        let note = PacketNote::from(&packet);
        let mut actions = Vec::new();
        let not_kept = call(self.stages[node as usize].stage.as_mut(), self.now, packet, &mut actions);
        if not_kept.is_none() {
            self.record(node, || RecordKind::Kept(note));
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
