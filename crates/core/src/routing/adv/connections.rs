//! Connections that open and close (3.1, and 3.5 for those that are two-way).
//!
//! **Deviations** (docs/models/adv.md): 6 (end-connection), 7 (floods), 8 (connections), 9 (lost floods), 13
//! (discarded routes).

use super::Adv;
use super::route::Route;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::adv::{FLOOD_BYTES, Flood, FloodKind, Message};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

/// How long a flood is remembered (assumed): longer than it can be on its way.
const FLOOD_MEMORY: Span = Span::from_millis(30_000);

/// An open connection to a destination: one for all flows between the two nodes.
#[derive(Debug)]
pub(super) struct Connection {
    /// Flows that use it.
    flows: u32,
    two_way: bool,
    /// No transport announced it: its first packet did.
    implicit: bool,
    /// When it ends, if no flow uses it any more.
    pub(super) ends_at: Time,
}

/// The source's side.
impl Adv {
    /// Opens a connection, or one flow more of an open one.
    pub(super) fn open(&mut self, now: Time, dst: NodeId, two_way: bool, actions: &mut Vec<Action>) {
        let two_way = two_way && self.params.two_way_sources_receive;
        if let Some(connection) = self.outgoing.get_mut(&dst) {
            let says_enough = connection.two_way || !two_way;
            connection.flows += u32::from(!connection.implicit);
            connection.two_way |= two_way;
            (connection.implicit, connection.ends_at) = (false, Time::NEVER);
            if says_enough {
                return;
            }
        } else {
            let connection = Connection { flows: 1, two_way, implicit: false, ends_at: Time::NEVER };
            self.outgoing.insert(dst, connection);
        }
        self.doubt_route(now, dst);
        self.mark_receiver(now, dst);
        if two_way {
            self.incoming.insert(dst, true);
            (self.is_receiver, self.received_at) = (true, now);
        }
        self.flood(now, FloodKind::InitConnection, dst, two_way, actions);
    }

    /// A new connection does not begin with a route that was not used lately, nor with one to a node that was
    /// no active receiver: that is a memory of a neighbour that has moved on (3.5).
    fn doubt_route(&mut self, now: Time, dst: NodeId) {
        let Some(route) = self.table.get_mut(dst).filter(|route| route.is_valid()) else { return };
        let unused_since = Span::from_secs(self.params.unused_route_s);
        let is_unused = unused_since > Span::ZERO
            && route.used_at.is_none_or(|used_at| now.since(used_at) >= unused_since);
        if is_unused || (self.params.ignore_former_non_receivers && !route.is_receiver) {
            route.invalidate();
        }
    }

    /// A packet that belongs to no announced connection opens one, unless it answers a two-way one.
    pub(super) fn open_for(&mut self, now: Time, packet: &Packet, actions: &mut Vec<Action>) {
        // Of the transports these have acknowledgements or reports.
        let two_way = matches!(
            packet.payload,
            Payload::Tcp(..) | Payload::Adp(..) | Payload::Psp(..) | Payload::Rtcp(..)
        );
        let is_answer =
            two_way && self.params.two_way_sources_receive && self.incoming.get(&packet.dst) == Some(&true);
        if self.outgoing.contains_key(&packet.dst) || is_answer {
            return;
        }
        self.open(now, packet.dst, two_way, actions);
        if let Some(connection) = self.outgoing.get_mut(&packet.dst) {
            connection.implicit = true;
        }
    }

    /// One flow less; the last one leaves the connection open for a while.
    pub(super) fn close(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(connection) = self.outgoing.get_mut(&dst) else { return };
        connection.flows = connection.flows.saturating_sub(1);
        if connection.flows == 0 {
            connection.ends_at = now + Span::from_secs(self.params.linger_s);
            self.end_lingering(now, actions);
        }
    }

    /// Ends the connections that have stayed open long enough.
    pub(super) fn end_lingering(&mut self, now: Time, actions: &mut Vec<Action>) {
        while let Some(dst) = self.outgoing.iter().find(|(_, one)| one.ends_at <= now).map(|(dst, _)| *dst) {
            let two_way = self.outgoing.remove(&dst).is_some_and(|connection| connection.two_way);
            self.clear_receiver(dst);
            if two_way {
                self.incoming.insert(dst, false);
            }
            let stops_receiving = two_way && !self.has_sources();
            self.is_receiver &= !stops_receiving;
            self.flood(now, FloodKind::EndConnection, dst, stops_receiving, actions);
        }
    }
}

/// The destination's side.
impl Adv {
    fn has_sources(&self) -> bool {
        self.incoming.values().any(|is_open| *is_open)
    }

    /// Becomes an active receiver and says so, unless it is one.
    pub(super) fn become_receiver(&mut self, now: Time, actions: &mut Vec<Action>) {
        if !self.is_receiver {
            (self.is_receiver, self.received_at) = (true, now);
            self.flood(now, FloodKind::ReceiverAlert, self.node, false, actions);
        }
    }

    /// Data from a source that is not known: its init-connection was lost.
    pub(super) fn note_received(&mut self, now: Time, packet: &Packet, actions: &mut Vec<Action>) {
        self.received_at = now;
        if !packet.dst.is_broadcast() && !self.incoming.contains_key(&packet.src) {
            self.incoming.insert(packet.src, true);
            self.become_receiver(now, actions);
        }
    }

    fn source_opens(&mut self, now: Time, source: NodeId, actions: &mut Vec<Action>) {
        let is_new = self.incoming.insert(source, true) != Some(true);
        if !self.is_receiver {
            self.become_receiver(now, actions);
        } else if is_new && self.params.update_for_new_source {
            self.trigger.raise(self.params.trgmeter_full);
        }
    }

    /// Without other connections it is no active receiver any more. With others it has to say that it still
    /// is one, because every node that hears end-connection clears its flag.
    fn source_ends(&mut self, now: Time, source: NodeId, actions: &mut Vec<Action>) {
        self.outgoing.retain(|dst, connection| *dst != source || !connection.implicit);
        self.incoming.insert(source, false);
        if !self.is_receiver {
        } else if !self.has_sources() {
            self.is_receiver = false;
            self.flood(now, FloodKind::NonReceiverAlert, self.node, false, actions);
        } else if self.params.alert_after_end {
            self.flood(now, FloodKind::ReceiverAlert, self.node, false, actions);
        }
    }
}

/// Floods.
impl Adv {
    /// Sends a flood of its own, with a new sequence number.
    fn flood(
        &mut self,
        now: Time,
        kind: FloodKind,
        receiver: NodeId,
        two_way: bool,
        actions: &mut Vec<Action>,
    ) {
        self.seqno += 2;
        let (origin, seqno, id) = (self.node, self.seqno, self.next_flood);
        self.next_flood += 1;
        let flood = Flood { kind, origin, seqno, id, receiver, two_way, hops: 0 };
        let packet = self.control(now, IP_HEADER_BYTES + FLOOD_BYTES, Message::Flood(flood));
        let delay = self.jitter();
        actions.push(Action::Broadcast { packet, delay });
    }

    /// Every node sends a flood on once, with one hop more.
    pub(super) fn receive_flood(
        &mut self,
        now: Time,
        mut packet: Packet,
        flood: &Flood,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.count_changes(now, from);
        self.seen.retain(|_, until| *until > now);
        let name = (flood.origin, flood.id);
        let is_new = flood.origin != self.node && self.seen.insert(name, now + FLOOD_MEMORY).is_none();
        if is_new {
            self.act_on(now, flood, from, actions);
        }
        self.note_direct_link(now, from, actions);
        if !is_new {
            actions.push(Action::Consume(packet));
            return;
        }
        packet.src = self.node;
        packet.payload = Payload::Adv(Message::Flood(Flood { hops: flood.hops.saturating_add(1), ..*flood }));
        let delay = self.jitter();
        actions.push(Action::Broadcast { packet, delay });
    }

    fn act_on(&mut self, now: Time, flood: &Flood, from: NodeId, actions: &mut Vec<Action>) {
        match flood.kind {
            FloodKind::InitConnection => {
                if self.params.reverse_route_to_source {
                    self.learn_origin(now, flood, from, actions);
                }
                if flood.two_way {
                    self.mark_receiver(now, flood.origin);
                }
                if flood.receiver == self.node {
                    self.source_opens(now, flood.origin, actions);
                } else {
                    self.mark_receiver(now, flood.receiver);
                }
            }
            FloodKind::ReceiverAlert => {
                self.mark_receiver(now, flood.origin);
                self.learn_origin(now, flood, from, actions);
            }
            FloodKind::EndConnection => {
                if flood.two_way {
                    self.clear_receiver(flood.origin);
                }
                if flood.receiver == self.node {
                    self.source_ends(now, flood.origin, actions);
                } else {
                    self.clear_receiver(flood.receiver);
                }
            }
            FloodKind::NonReceiverAlert => self.clear_receiver(flood.origin),
        }
    }

    /// The reverse route to the originator. One that is new raises the trigger meter (3.5).
    fn learn_origin(&mut self, now: Time, flood: &Flood, from: NodeId, actions: &mut Vec<Action>) {
        let metric = flood.hops.saturating_add(1);
        let route = self.table.get_or_insert_with(flood.origin, || Route::unknown(flood.origin));
        if flood.seqno > route.seqno || (flood.seqno == route.seqno && metric < route.metric) {
            route.count_up();
            if self.adopt(now, flood.origin, from, metric, flood.seqno, actions) {
                self.trigger.raise(self.params.trgmeter_new_route);
            }
        }
    }

    /// The node that sent a flood on is one hop away. A broken route waits for its number.
    fn note_direct_link(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        let seqno = self.table.get(neighbour).map_or(0, |route| route.seqno);
        if seqno.is_multiple_of(2) {
            self.adopt(now, neighbour, neighbour, 1, seqno, actions);
        }
    }

    /// Sets the receiver flag and advertises the route.
    fn mark_receiver(&mut self, now: Time, dst: NodeId) {
        if dst != self.node {
            let route = self.table.get_or_insert_with(dst, || Route::unknown(dst));
            route.become_receiver(now);
            route.count_up();
        }
    }

    /// Clears the receiver flag, unless this node has a connection open itself.
    fn clear_receiver(&mut self, dst: NodeId) {
        if let Some(route) = self.table.get_mut(dst) {
            route.is_receiver = self.outgoing.contains_key(&dst);
        }
    }
}
