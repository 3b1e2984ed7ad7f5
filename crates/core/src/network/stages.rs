//! What stands around routing, in networks that have such a thing: what layers show to interceptors,
//! throttles and queues that look at the channel, and what becomes of their actions. In other networks a
//! packet's way asks once at each place whether there is anything, and no more.

use std::sync::Arc;

use crate::drops::DropReason;
use crate::ifq::QueueDiscipline;
use crate::kernel::{Slot, Span, Time};
use crate::observe::{Event, ReservationLog, ShareLog};
use crate::scenario::Scenario;
use crate::stage::{Interceptor, InterceptorAction, Stages, Throttle, ThrottleAction};
use crate::wire::congestion::Notification;
use crate::wire::density::{Announcement, FlowKey};
use crate::wire::{CustomMessage, Ecn, IP_HEADER_BYTES, NodeId, Packet, Payload};

use super::delays::Delayed;
use super::{Network, Target};

impl Network<'_> {
    /// Adds what the scenario wants around routing.
    pub(super) fn add_stages(&mut self, scenario: &Scenario) {
        let nodes = 0..self.stations.len() as u32;
        let mut stages = Stages::default();
        for node in nodes.clone() {
            let made = scenario.interceptor(node);
            stages.interceptors.extend(made.map(|made| (made, self.add_slot(Target::Interceptor(node)))));
        }
        for node in nodes {
            let made = scenario.throttle(node);
            stages.throttles.extend(made.map(|made| (made, self.add_slot(Target::Throttle(node)))));
        }
        if scenario.params.queue.discipline == QueueDiscipline::NeighbourhoodRed {
            let headers = IP_HEADER_BYTES + scenario.params.network.udp_header_bytes;
            stages.notification_bytes = headers + Notification::BYTES;
            stages.detectors = (0..self.stations.len() as u32).map(|node| self.add_detector(node)).collect();
        }
        if stages.is_empty() {
            return;
        }
        stages.announcement_headers = scenario.announcement_headers();
        if stages.announcement_headers.is_some() {
            self.meter.shares = ShareLog::of_scenario(scenario);
        }
        self.meter.reservations = ReservationLog::of_scenario(scenario);
        self.stages = Some(Box::new(stages));
    }

    /// The slot of a queue that looks at the channel.
    fn add_detector(&mut self, node: u32) -> Slot {
        let slot = self.add_slot(Target::Queue(node));
        self.clock.agenda.set(slot, self.stations[node as usize].queue.next_timeout());
        slot
    }

    // Interceptors.

    /// Calls the node's interceptor, if there is one, carries out its actions, and sets its deadline.
    #[inline]
    pub(super) fn with_interceptor(
        &mut self,
        node: u32,
        call: impl FnOnce(&mut dyn Interceptor, Time, &mut Vec<InterceptorAction>),
    ) {
        if self.stages.is_some() {
            self.call_interceptor(node, call);
        }
    }

    fn call_interceptor(
        &mut self,
        node: u32,
        call: impl FnOnce(&mut dyn Interceptor, Time, &mut Vec<InterceptorAction>),
    ) {
        let now = self.clock.now;
        let Some((interceptor, _)) = self.interceptor(node) else { return };
        let mut actions = Vec::new();
        call(interceptor, now, &mut actions);
        for action in actions {
            self.carry_out_interceptor(node, action);
        }
        if let Some((interceptor, slot)) = self.interceptor(node) {
            let due = interceptor.next_timeout();
            self.clock.agenda.set(slot, due);
        }
    }

    fn interceptor(&mut self, node: u32) -> Option<(&mut dyn Interceptor, Slot)> {
        self.stages.as_mut()?.interceptor(node)
    }

    /// Routing sends a packet on: it comes back unless it is kept.
    #[inline]
    pub(super) fn send_or_keep(&mut self, node: u32, packet: Packet) -> Option<Packet> {
        if self.stages.is_none() {
            return Some(packet);
        }
        let waiting = self.stations[node as usize].queue.len();
        self.pass_or_keep(node, packet, |interceptor, now, packet, out| {
            interceptor.see_queue(waiting);
            interceptor.handle_outgoing(now, packet, out)
        })
    }

    /// Routing gives a packet up: it comes back unless it is kept.
    #[inline]
    pub(super) fn drop_or_keep(&mut self, node: u32, packet: Packet, reason: DropReason) -> Option<Packet> {
        if self.stages.is_none() {
            return Some(packet);
        }
        self.pass_or_keep(node, packet, |interceptor, now, packet, out| {
            interceptor.handle_given_up(now, packet, reason, out)
        })
    }

    fn pass_or_keep(
        &mut self,
        node: u32,
        packet: Packet,
        call: impl FnOnce(&mut dyn Interceptor, Time, Packet, &mut Vec<InterceptorAction>) -> Option<Packet>,
    ) -> Option<Packet> {
        let now = self.clock.now;
        let copy = self.watch.is_on().then(|| packet.clone());
        let Some((interceptor, _)) = self.interceptor(node) else { return Some(packet) };
        let mut actions = Vec::new();
        let passed = call(interceptor, now, packet, &mut actions);
        if let Some(packet) = copy.filter(|_| passed.is_none()) {
            self.record(node, || Event::Kept(&packet));
        }
        self.with_interceptor(node, |_, _, out| out.append(&mut actions));
        passed
    }

    fn carry_out_interceptor(&mut self, node: u32, action: InterceptorAction) {
        match action {
            InterceptorAction::Route(packet) => self.route(node, packet),
            InterceptorAction::Tell { connection, source, segment, .. } if source.0 == node => {
                self.notify_sender(connection, &segment);
            }
            InterceptorAction::Tell { connection, source, segment, bytes } => {
                let payload = Payload::Tcp(connection, segment);
                self.originate(NodeId(node), source, bytes, payload, Ecn::NotEct);
            }
            InterceptorAction::Drop(packet, reason) => self.drop_packet(node, &packet, reason),
            InterceptorAction::Deliver(packet) => {
                self.audit.deliver(&packet);
                self.record(node, || Event::Delivered(&packet));
            }
            InterceptorAction::Up(mut packet, from) => {
                self.number(&mut packet);
                self.come_up(node, packet, from);
            }
            InterceptorAction::Send { to, bytes, payload } => {
                self.originate(NodeId(node), to, bytes, payload, Ecn::NotEct);
            }
            InterceptorAction::Served { flow, is_reserved, level } => {
                self.meter.reservations.served(self.clock.now, flow, is_reserved, level);
            }
        }
    }

    /// Routing gets a packet that was kept.
    fn route(&mut self, node: u32, packet: Packet) {
        self.with_routing(node, |routing, now, actions| routing.handle_outgoing(now, packet, actions));
    }

    // Throttles.

    /// An endpoint at the node has made a packet: it comes back unless it is kept.
    #[inline]
    pub(super) fn make_or_keep(&mut self, node: u32, packet: Packet) -> Option<Packet> {
        if self.stages.as_ref().is_none_or(|stages| stages.throttles.is_empty()) {
            return Some(packet);
        }
        let copy = self.watch.is_on().then(|| packet.clone());
        let mut passed = None;
        let mut is_kept = true;
        self.with_throttle(node, |throttle, now, out| {
            passed = throttle.handle_made(now, packet, out);
            is_kept = passed.is_none() && out.is_empty();
        });
        if let Some(packet) = copy.filter(|_| is_kept) {
            self.record(node, || Event::Kept(&packet));
        }
        passed
    }

    /// Calls the node's throttle, carries out its actions, and sets its deadline.
    pub(super) fn with_throttle(
        &mut self,
        node: u32,
        call: impl FnOnce(&mut Throttle, Time, &mut Vec<ThrottleAction>),
    ) {
        let now = self.clock.now;
        let Some((throttle, _)) = self.throttle(node) else { return };
        let mut actions = Vec::new();
        call(throttle, now, &mut actions);
        for action in actions {
            self.carry_out_throttle(node, action);
        }
        if let Some((throttle, slot)) = self.throttle(node) {
            let due = throttle.next_timeout();
            self.clock.agenda.set(slot, due);
        }
    }

    fn throttle(&mut self, node: u32) -> Option<(&mut Throttle, Slot)> {
        self.stages.as_mut()?.throttle(node)
    }

    fn carry_out_throttle(&mut self, node: u32, action: ThrottleAction) {
        match action {
            ThrottleAction::Route(packet) => self.route(node, packet),
            ThrottleAction::Drop(packet, reason) => self.drop_packet(node, &packet, reason),
            ThrottleAction::Announce(announcement) => self.announce(node, announcement),
            ThrottleAction::Rate { flow, hops, share, rate_bps } => {
                self.meter.shares.learned(self.clock.now, flow, rate_bps);
                self.record(node, || Event::Share { flow, hops, share, rate_bps });
            }
        }
    }

    // Queues that look at the channel.

    /// The node's queue learns how the channel was used, and may tell the neighbours of congestion.
    pub(super) fn look_at_channel(&mut self, node: u32) {
        let now = self.clock.now;
        let used = self.channel.take_use(now, node);
        let queue = &mut self.stations[node as usize].queue;
        let told = queue.handle_timeout(now, used);
        let due = queue.next_timeout();
        if let Some(stages) = &self.stages {
            self.clock.agenda.set(stages.detectors[node as usize], due);
        }
        let Some(notification) = told.filter(|_| !self.is_absent(node)) else { return };
        let bytes = self.stages.as_ref().map_or(0, |stages| stages.notification_bytes);
        let payload = Payload::Custom(CustomMessage::new(Notification::NAME, notification));
        let packet = Packet::control(now, NodeId(node), NodeId::BROADCAST, 1, bytes, payload);
        self.tell_neighbours(node, packet);
    }

    /// Sends a packet that is not routing's to all neighbours.
    fn tell_neighbours(&mut self, node: u32, mut packet: Packet) {
        self.number(&mut packet);
        self.hold(Span::ZERO, Delayed::Down { node, packet, next_hop: NodeId::BROADCAST });
    }

    // Packets that pass by, and what is announced with them.

    /// A packet comes up for routing: its announcement is taken off, and an interceptor may change it. It
    /// comes back unless it is kept.
    pub(super) fn pass_up(&mut self, node: u32, mut packet: Packet) -> Option<Packet> {
        packet.take_announcement();
        self.pass_or_keep(node, packet, |interceptor, now, packet, out| {
            interceptor.handle_arrival(now, packet, out)
        })
    }

    fn announces(&self) -> bool {
        self.stages.as_ref().is_some_and(|stages| stages.announcement_headers.is_some())
    }

    /// A packet goes to a neighbour, or to all: the node carries its flow; messages of the routing protocol
    /// to all neighbours carry what the node announces.
    pub(super) fn show_sent(&mut self, node: u32, packet: &mut Packet, next_hop: NodeId) {
        if !self.announces() {
            return;
        }
        if let Some(flow) = self.flow_from_source(packet) {
            self.with_throttle(node, |throttle, now, out| throttle.handle_sent(now, flow, next_hop, out));
        } else if next_hop.is_broadcast() && packet.announcement.is_none() && !packet.is_data() {
            let mut announced = None;
            self.with_throttle(node, |throttle, now, out| announced = throttle.handle_broadcast(now, out));
            if let Some(announcement) = announced {
                self.meter.announced(self.clock.now, announcement.bytes(), false);
                packet.put_announcement(announcement);
            }
        }
    }

    /// A packet came from a neighbour; true if nothing of it is for routing.
    pub(super) fn show_received(&mut self, node: u32, packet: &Packet, from: NodeId) -> bool {
        if let Some(notification) = packet.notification() {
            self.stations[node as usize].queue.handle_notification(self.clock.now, notification);
        }
        if !self.announces() {
            return packet.bypasses_routing();
        }
        if let Some(announcement) = &packet.announcement {
            self.with_throttle(node, |throttle, now, out| {
                throttle.handle_announcement(now, from, announcement, out);
            });
        } else if let Some(flow) = self.flow_from_source(packet) {
            self.with_throttle(node, |throttle, now, out| throttle.handle_received(now, flow, from, out));
        }
        packet.bypasses_routing()
    }

    /// The flow of a packet that goes from the flow's source to its destination.
    fn flow_from_source(&self, packet: &Packet) -> Option<FlowKey> {
        let flow = packet.flow()?;
        let of = &self.flows[flow.index()];
        ((of.src, of.dst) == (packet.src, packet.dst)).then_some(FlowKey { src: of.src, dst: of.dst, flow })
    }

    /// Sends an announcement to all neighbours in a datagram of its own.
    fn announce(&mut self, node: u32, announcement: Arc<Announcement>) {
        self.meter.announced(self.clock.now, announcement.bytes(), true);
        let bytes = self.stages.as_ref().and_then(|stages| stages.announcement_headers).unwrap_or_default();
        let (src, dst) = (NodeId(node), NodeId::BROADCAST);
        let mut packet = Packet::control(self.clock.now, src, dst, 1, bytes, Payload::Nothing);
        packet.put_announcement(announcement);
        self.tell_neighbours(node, packet);
    }
}
