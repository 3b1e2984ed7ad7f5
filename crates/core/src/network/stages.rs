//! What stands around routing, in networks that have such a thing: what layers show to interceptors,
//! throttles and queues that look at the channel, and what becomes of their actions. In other networks a
//! packet's way asks once at each place whether there is anything, and no more.

use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::observe::Event;
use crate::scenario::Scenario;
use crate::stage::{Interceptor, InterceptorAction, Stage, Stages, ThrottleAction};
use crate::station::Delayed;
use crate::wire::density::Announcement;
use crate::wire::{Ecn, NodeId, Packet, Payload};

use super::{Network, Target};

impl Network<'_> {
    /// Adds what the scenario wants around routing.
    pub(super) fn add_stages(&mut self, scenario: &Scenario) {
        let stages = scenario.stages(|stage, node| self.add_slot(Target::Stage(stage, node)));
        let Some(stages) = stages else { return };
        for (&slot, station) in stages.queues.iter().zip(&self.stations) {
            self.clock.agenda.set(slot, station.queue.next_timeout());
        }
        self.stages = Some(Box::new(stages));
    }

    /// The deadline of one of them has come.
    pub(super) fn wake_stage(&mut self, stage: Stage, node: u32) {
        match stage {
            Stage::Interceptor => {
                self.with_interceptor(node, |interceptor, now, out| interceptor.handle_timeout(now, out));
            }
            Stage::Throttle => {
                self.with_throttle(node, |stages, now, out| stages.wake_throttle(now, node, out));
            }
            Stage::Queue => self.look_at_channel(node),
        }
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
        let Some(interceptor) = self.interceptor(node) else { return };
        let mut actions = Vec::new();
        call(interceptor, now, &mut actions);
        self.finish_interceptor(node, actions);
    }

    fn interceptor(&mut self, node: u32) -> Option<&mut dyn Interceptor> {
        self.stages.as_mut()?.interceptor(node)
    }

    /// What follows when an interceptor has been called.
    fn finish_interceptor(&mut self, node: u32, actions: Vec<InterceptorAction>) {
        for action in actions {
            self.carry_out_interceptor(node, action);
        }
        if let Some(stages) = &self.stages {
            stages.set_interceptor_deadline(&mut self.clock, node);
        }
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
        let copy = self.accounts.watch.is_on().then(|| packet.clone());
        let Some(interceptor) = self.interceptor(node) else { return Some(packet) };
        let mut actions = Vec::new();
        let passed = call(interceptor, now, packet, &mut actions);
        if let Some(packet) = copy.filter(|_| passed.is_none()) {
            self.record(node, || Event::Kept(&packet));
        }
        self.finish_interceptor(node, actions);
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
                self.accounts.audit.deliver(&packet);
                self.record(node, || Event::Delivered(&packet));
            }
            InterceptorAction::Up(mut packet, from) => {
                self.accounts.number(&mut packet);
                self.come_up(node, packet, from);
            }
            InterceptorAction::Send { to, bytes, payload } => {
                self.originate(NodeId(node), to, bytes, payload, Ecn::NotEct);
            }
            InterceptorAction::Served { flow, is_reserved, level } => {
                self.accounts.meter.reservations.served(self.clock.now, flow, is_reserved, level);
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
        let copy = self.accounts.watch.is_on().then(|| packet.clone());
        let mut passed = None;
        let mut is_kept = true;
        self.with_throttle(node, |stages, now, out| {
            passed = stages.handle_made(now, node, packet, out);
            is_kept = passed.is_none() && out.is_empty();
        });
        if let Some(packet) = copy.filter(|_| is_kept) {
            self.record(node, || Event::Kept(&packet));
        }
        passed
    }

    /// Calls what stands around routing, if anything does, carries out what the node's throttle asks for, and
    /// sets its deadline.
    fn with_throttle(&mut self, node: u32, call: impl FnOnce(&mut Stages, Time, &mut Vec<ThrottleAction>)) {
        let Some(stages) = &mut self.stages else { return };
        let mut actions = Vec::new();
        call(stages, self.clock.now, &mut actions);
        for action in actions {
            self.carry_out_throttle(node, action);
        }
        if let Some(stages) = &self.stages {
            stages.set_throttle_deadline(&mut self.clock, node);
        }
    }

    fn carry_out_throttle(&mut self, node: u32, action: ThrottleAction) {
        match action {
            ThrottleAction::Route(packet) => self.route(node, packet),
            ThrottleAction::Drop(packet, reason) => self.drop_packet(node, &packet, reason),
            ThrottleAction::Announce(announcement) => self.announce(node, announcement),
            ThrottleAction::Rate { flow, hops, share, rate_bps } => {
                self.accounts.meter.shares.learned(self.clock.now, flow, rate_bps);
                self.record(node, || Event::Share { flow, hops, share, rate_bps });
            }
        }
    }

    /// Sends an announcement to all neighbours in a datagram of its own.
    fn announce(&mut self, node: u32, announcement: Arc<Announcement>) {
        self.accounts.meter.announced(self.clock.now, announcement.bytes(), true);
        let Some(stages) = &self.stages else { return };
        let packet = stages.announcement(self.clock.now, node, announcement);
        self.tell_neighbours(node, packet);
    }

    // Queues that look at the channel.

    /// The node's queue learns how the channel was used, and may tell the neighbours of congestion.
    fn look_at_channel(&mut self, node: u32) {
        let now = self.clock.now;
        let used = self.channel.take_use(now, node);
        let queue = &mut self.stations[node as usize].queue;
        let told = queue.handle_timeout(now, used);
        let due = queue.next_timeout();
        let Some(stages) = &self.stages else { return };
        self.clock.agenda.set(stages.queues[node as usize], due);
        if let Some(told) = told.filter(|_| !self.is_absent(node)) {
            let packet = stages.notification(now, node, told);
            self.tell_neighbours(node, packet);
        }
    }

    /// Sends a packet that is not routing's to all neighbours.
    fn tell_neighbours(&mut self, node: u32, mut packet: Packet) {
        self.accounts.number(&mut packet);
        self.hold(Span::ZERO, Delayed::Down { node, packet, next_hop: NodeId::BROADCAST });
    }

    // Packets that pass by.

    /// A packet comes up for routing: its announcement is taken off, and an interceptor may change it. It
    /// comes back unless it is kept.
    pub(super) fn pass_up(&mut self, node: u32, mut packet: Packet) -> Option<Packet> {
        packet.take_announcement();
        self.pass_or_keep(node, packet, |interceptor, now, packet, out| {
            interceptor.handle_arrival(now, packet, out)
        })
    }

    /// A packet goes to a neighbour, or to all, and may carry what the node announces.
    pub(super) fn show_sent(&mut self, node: u32, packet: &mut Packet, next_hop: NodeId) {
        let mut bytes = None;
        self.with_throttle(node, |stages, now, out| {
            bytes = stages.handle_sent(now, node, packet, next_hop, out);
        });
        if let Some(bytes) = bytes {
            self.accounts.meter.announced(self.clock.now, bytes, false);
        }
    }

    /// A packet came from a neighbour; true if nothing of it is for routing.
    pub(super) fn show_received(&mut self, node: u32, packet: &Packet, from: NodeId) -> bool {
        if let Some(notification) = packet.notification() {
            self.stations[node as usize].queue.handle_notification(self.clock.now, notification);
        }
        self.with_throttle(node, |stages, now, out| stages.handle_received(now, node, packet, from, out));
        packet.bypasses_routing()
    }
}
