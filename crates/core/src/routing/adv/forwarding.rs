//! Data packets (3.2.6), neighbours that come and go (3.2.2), links that fail.
//!
//! **Deviations** (docs/models/adv.md): 11 (buffered packets), 12 (broken links), 19 (urgency), 20
//! (neighbours that go).

use super::Adv;
use super::route::Route;
use super::trigger::Speed;
use crate::kernel::{Span, Time};
use crate::routing::{Action, Notice};
use crate::wire::{NodeId, Packet};

impl Adv {
    /// Sends a data packet on, or keeps it, at any node, until there is a valid route.
    pub(super) fn forward(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let route = self.table.get_or_insert_with(packet.dst, || Route::unknown(packet.dst));
        if route.is_valid() {
            let next_hop = note_use(now, route);
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
            return;
        }
        // A packet for it shows that it is a receiver, and the next update shall ask for it.
        route.become_receiver(now);
        route.advertise = route.advertise.max(1);
        let timeout = self.params.buffer_timeout(&packet);
        self.buffer.push(now, packet, timeout, actions);
        if self.buffer.len() >= self.params.buffer_threshold as usize {
            self.trigger.raise(self.params.trgmeter_med);
        }
    }

    /// Sends all packets that wait for a destination that has a route now, oldest first.
    pub(super) fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let spacing = Span::from_secs(self.params.release_spacing_ms * 1e-3);
        let Some(route) = self.table.get_mut(dst) else { return };
        let mut delay = Span::ZERO;
        for packet in self.buffer.pop_all(now, dst, actions) {
            let next_hop = note_use(now, route);
            actions.push(Action::Send { packet, next_hop, delay });
            delay = delay + spacing;
        }
    }

    /// The MAC reports a broken link: a neighbour change, and the end of all routes across it. Each is
    /// advertised, and urgent at a forwarding node: 3.2.2 names no speed, and Table 3.4, which does, is about
    /// received updates.
    pub(super) fn lose_neighbour(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        let is_urgent = self.params.urgent_breaks_at_low_speed || self.mobility.speed == Speed::High;
        let mut was_in_use = false;
        for route in self.table.iter_mut().filter(|route| route.next_hop == neighbour && route.is_valid()) {
            was_in_use = true;
            route.invalidate();
            route.count_up();
            if is_urgent && route.is_forwarded() {
                self.trigger.raise(self.params.trgmeter_med);
            }
            actions.push(Action::Notify(Notice::RouteFailed { dst: route.dst, told: false }));
        }
        if was_in_use {
            self.mobility.count(now, &self.params);
        }
    }

    /// An update or a connection control packet from a node that was not within one hop is a neighbour
    /// change: it has come in. If its metric has risen from 1 since it was last heard, it had gone out
    /// before.
    pub(super) fn count_changes(&mut self, now: Time, from: NodeId) {
        let (mut has_come, mut had_gone) = (true, false);
        if let Some(route) = self.table.get_mut(from) {
            has_come = route.metric != 1;
            had_gone = std::mem::take(&mut route.has_risen) && self.params.departures_when_heard;
        }
        for _ in 0..u32::from(has_come) + u32::from(had_gone) {
            self.mobility.count(now, &self.params);
        }
    }
}

/// Counts a packet that is sent towards the destination; returns the next hop.
fn note_use(now: Time, route: &mut Route) -> NodeId {
    route.handled = route.handled.saturating_add(1);
    route.used_at = Some(now);
    route.active_at = now;
    route.next_hop
}
