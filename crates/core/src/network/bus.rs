//! TCP-BuS at the nodes of a path: what routing, the MAC and passing packets tell it, and what it asks for.

use crate::drops::DropReason;
use crate::kernel::{Slot, Time};
use crate::observe::{PacketNote, RecordKind};
use crate::routing::Notice;
use crate::scenario::Scenario;
use crate::transport::tcp::{Bus, BusAction, RouteFailureScheme};
use crate::wire::{Ecn, NodeId, Packet, Payload};

use super::{Network, Target};

/// One node's part, with its slot in the event queue.
pub(super) struct BusNode {
    bus: Bus,
    slot: Slot,
}

impl Network {
    /// Every node's part, none if the scenario's senders are not TCP-BuS's.
    pub(super) fn bus_nodes(&mut self, scenario: &Scenario) -> Vec<BusNode> {
        let params = &scenario.params.tcp;
        if params.route_failure != RouteFailureScheme::TcpBus || params.bus_buffer_packets == 0 {
            return Vec::new();
        }
        let nodes = 0..self.stations.len() as u32;
        let node =
            |node| BusNode { bus: Bus::new(NodeId(node), params), slot: self.add_slot(Target::Bus(node)) };
        nodes.map(node).collect()
    }

    pub(super) fn wake_bus(&mut self, node: u32) {
        self.with_bus(node, |bus, now, out| bus.handle_timeout(now, out));
    }

    /// Routing sends a packet on: it comes back unless it is kept.
    #[inline]
    pub(super) fn send_or_keep(&mut self, node: u32, packet: Packet) -> Option<Packet> {
        if !self.is_keeping(node) {
            return Some(packet);
        }
        self.keep_or(node, packet, |bus, now, packet, out| bus.handle_forward(now, packet, out))
    }

    /// Routing gives a packet up: it comes back unless it is kept.
    #[inline]
    pub(super) fn drop_or_keep(&mut self, node: u32, packet: Packet, reason: DropReason) -> Option<Packet> {
        if self.bus.is_empty() {
            return Some(packet);
        }
        self.keep_or(node, packet, |bus, now, packet, out| bus.handle_given_up(now, packet, reason, out))
    }

    /// A packet was dropped, for whatever reason and at whatever layer.
    pub(super) fn tell_bus_of_drop(&mut self, node: u32, packet: &Packet) {
        if self.is_keeping(node) {
            self.with_bus(node, |bus, now, _| bus.handle_dropped(now, packet));
        }
    }

    /// The next hop has acknowledged a packet.
    pub(super) fn tell_bus_of_hop(&mut self, node: u32, packet: &Packet) {
        if self.is_keeping(node) {
            self.with_bus(node, |bus, _, out| bus.handle_taken(packet, out));
        }
    }

    /// Routing tells the other layers something.
    pub(super) fn tell_bus_of_notice(&mut self, node: u32, notice: Notice) {
        if let Notice::RouteFound { dst } = notice
            && self.is_keeping(node)
        {
            self.with_bus(node, |bus, _, out| bus.handle_route_found(dst, out));
        }
    }

    /// A packet comes up from the MAC.
    pub(super) fn show_to_bus(&mut self, node: u32, packet: &mut Packet) {
        if !self.bus.is_empty() && packet.dst != NodeId(node) {
            self.with_bus(node, |bus, now, out| bus.handle_passing(now, packet, out));
        }
    }

    /// The packets kept at all nodes.
    pub(super) fn kept_packets(&self) -> impl Iterator<Item = &Packet> {
        self.bus.iter().flat_map(|node| node.bus.kept())
    }

    fn keep_or(
        &mut self,
        node: u32,
        packet: Packet,
        call: impl FnOnce(&mut Bus, Time, Packet, &mut Vec<BusAction>) -> Option<Packet>,
    ) -> Option<Packet> {
        let note = PacketNote::from(&packet);
        let mut actions = Vec::new();
        let not_kept = call(&mut self.bus[node as usize].bus, self.now, packet, &mut actions);
        if not_kept.is_none() {
            self.record(node, || RecordKind::Kept(note));
        }
        self.finish_bus(node, actions);
        not_kept
    }

    fn is_keeping(&self, node: u32) -> bool {
        self.bus.get(node as usize).is_some_and(|of| !of.bus.is_idle())
    }

    fn with_bus(&mut self, node: u32, call: impl FnOnce(&mut Bus, Time, &mut Vec<BusAction>)) {
        let mut actions = Vec::new();
        call(&mut self.bus[node as usize].bus, self.now, &mut actions);
        self.finish_bus(node, actions);
    }

    /// Carries out what the node's part asked for, and sets its deadline.
    fn finish_bus(&mut self, node: u32, actions: Vec<BusAction>) {
        for action in actions {
            self.carry_out_bus(node, action);
        }
        let of = &self.bus[node as usize];
        self.agenda.set(of.slot, of.bus.next_timeout());
    }

    fn carry_out_bus(&mut self, node: u32, action: BusAction) {
        match action {
            BusAction::Route(packet) => {
                self.with_routing(node, |routing, now, actions| routing.handle_kept(now, packet, actions));
            }
            BusAction::Tell { connection, source, segment, .. } if source.0 == node => {
                let now = self.now;
                self.with_sender(connection, |sender, out| sender.handle_notification(now, &segment, out));
            }
            BusAction::Tell { connection, source, segment, bytes } => {
                let payload = Payload::Tcp(connection, segment);
                self.originate(NodeId(node), source, bytes, payload, Ecn::NotEct);
            }
            BusAction::Drop(packet, reason) => self.drop_packet(node, &packet, reason),
        }
    }
}
