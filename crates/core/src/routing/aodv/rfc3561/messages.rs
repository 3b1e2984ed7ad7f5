//! Route requests and replies, received and sent (RFC 3561 §6.5 to §6.8).

use super::Rfc3561;
use super::table::{Offer, newer};
use crate::drops::DropReason;
use crate::kernel::Time;
use crate::routing::aodv::control;
use crate::routing::{Action, relay};
use crate::wire::aodv::{Message, RREP_BYTES, Rrep, Rreq};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

impl Rfc3561 {
    pub(super) fn receive_message(
        &mut self,
        now: Time,
        packet: Packet,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        match &packet.payload {
            Payload::Aodv(Message::Rreq(rreq)) => {
                let rreq = rreq.clone();
                self.receive_rreq(now, packet, rreq, from, actions);
            }
            Payload::Aodv(Message::Rrep(rrep)) => {
                let rrep = rrep.clone();
                self.receive_rrep(now, packet, rrep, from, actions);
            }
            Payload::Aodv(Message::Rerr(rerr)) => {
                self.receive_rerr(now, rerr, from, actions);
                actions.push(Action::Consume(packet));
            }
            Payload::Aodv(Message::Hello(hello)) => {
                self.receive_hello(now, hello, from, actions);
                actions.push(Action::Consume(packet));
            }
            Payload::Aodv(Message::RrepAck) => {
                self.receive_ack(from);
                actions.push(Action::Consume(packet));
            }
            _ => actions.push(Action::Consume(packet)),
        }
    }

    /// §6.5, §6.7: a message from a neighbour makes a route to it.
    pub(super) fn hear_neighbour(&mut self, now: Time, from: NodeId, actions: &mut Vec<Action>) {
        if self.table.hear(now, from, self.params.active_route_timeout()) {
            self.route_found(now, from, actions);
        }
    }

    /// §6.3: is this a request of its own, or one that it has seen?
    pub(super) fn knows(&self, now: Time, rreq: &Rreq) -> bool {
        rreq.origin == self.node || self.seen.holds(now, (rreq.origin, rreq.id))
    }

    /// §6.8: are requests ignored that come from this neighbour, because a reply may not reach it?
    pub(super) fn refuses_requests_of(&self, now: Time, from: NodeId) -> bool {
        self.one_way.is_blacklisted(now, from) || self.may_be_one_way(from)
    }

    /// §6.5.
    fn receive_rreq(
        &mut self,
        now: Time,
        packet: Packet,
        mut rreq: Rreq,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.refuses_requests_of(now, from) {
            actions.push(Action::Consume(packet));
            return;
        }
        self.hear_neighbour(now, from, actions);
        if self.knows(now, &rreq) {
            actions.push(Action::Consume(packet));
            return;
        }
        self.remember(now, (rreq.origin, rreq.id));
        rreq.hop_count = rreq.hop_count.saturating_add(1);
        self.update_reverse_route(now, &rreq, from, actions);
        if rreq.dst == self.node {
            self.answer_as_destination(now, &rreq, actions);
            actions.push(Action::Consume(packet));
        } else if now < self.silent_until || self.answer_for_destination(now, &rreq, from, actions) {
            actions.push(Action::Consume(packet));
        } else {
            self.forward_rreq(now, packet, rreq, actions);
        }
    }

    /// §6.5, points 1 to 4, and the lifetime of the reverse route.
    fn update_reverse_route(&mut self, now: Time, rreq: &Rreq, from: NodeId, actions: &mut Vec<Action>) {
        let offer =
            Offer { dst: rreq.origin, seqno: rreq.origin_seqno, hops: rreq.hop_count, next_hop: from };
        let taken = self.table.offer(now, offer);
        let travelled = self.params.node_traversal() * 2 * u64::from(rreq.hop_count);
        let minimal = now + (self.params.net_traversal() * 2).saturating_sub(travelled);
        if taken {
            self.table.give_life(rreq.origin, minimal);
            self.route_found(now, rreq.origin, actions);
        } else if let Some(route) = self.table.valid(now, rreq.origin) {
            route.prolong(now, minimal);
        }
    }

    /// §6.6.1.
    fn answer_as_destination(&mut self, now: Time, rreq: &Rreq, actions: &mut Vec<Action>) {
        // §6.1: the greater of its own number and the one asked for.
        if let Some(asked) = rreq.dst_seqno.filter(|asked| newer(*asked, self.seqno)) {
            self.seqno = asked;
        }
        if now < self.silent_until {
            return;
        }
        let rrep = Rrep {
            dst: self.node,
            dst_seqno: self.seqno,
            origin: rreq.origin,
            hop_count: 0,
            lifetime: self.params.my_route_timeout(),
            acknowledge: false,
            made: rreq.made,
        };
        self.send_rrep(now, &rrep, actions);
    }

    /// §6.6 (ii), §6.6.2, §6.6.3: an intermediate node with a fresh enough route answers.
    fn answer_for_destination(
        &mut self,
        now: Time,
        rreq: &Rreq,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) -> bool {
        let compare = self.params.sequence_numbers;
        let Some(route) = self.table.valid(now, rreq.dst) else { return false };
        let Some(seqno) = route.valid_seqno() else { return false };
        let stale = compare && rreq.dst_seqno.is_some_and(|asked| newer(asked, seqno));
        if rreq.destination_only || stale {
            return false;
        }
        route.add_precursor(from);
        let (hops, lifetime, next_hop) = (route.hops, route.expires.since(now), route.next_hop);
        let rrep = Rrep {
            dst: rreq.dst,
            dst_seqno: seqno,
            origin: rreq.origin,
            hop_count: hops,
            lifetime,
            acknowledge: false,
            made: rreq.made,
        };
        self.send_rrep(now, &rrep, actions);
        let Some(reverse) = self.table.valid(now, rreq.origin) else { return true };
        reverse.add_precursor(next_hop);
        if rreq.gratuitous {
            let gratuitous = Rrep {
                dst: rreq.origin,
                dst_seqno: rreq.origin_seqno,
                origin: rreq.dst,
                hop_count: reverse.hops,
                lifetime: reverse.expires.since(now),
                acknowledge: false,
                made: rreq.made,
            };
            self.send_rrep(now, &gratuitous, actions);
        }
        true
    }

    /// §6.5, last paragraphs. The hop count already includes the hop to this node.
    fn forward_rreq(&mut self, now: Time, packet: Packet, mut rreq: Rreq, actions: &mut Vec<Action>) {
        let Some(mut packet) = relay::count_hop(packet, actions) else { return };
        packet.src = self.node;
        if let Some(known) = self.table.get(now, rreq.dst).and_then(|route| route.seqno)
            && rreq.dst_seqno.is_none_or(|asked| newer(known, asked))
        {
            rreq.dst_seqno = Some(known);
        }
        packet.payload = Payload::Aodv(Message::Rreq(rreq));
        if self.params.rreq_limit_drops {
            if self.rreq_rate.free_at(now, self.params.rreq_ratelimit) > now {
                actions.push(Action::Consume(packet));
                return;
            }
            self.rreq_rate.count(now);
        }
        self.broadcast(now, packet, actions);
    }

    /// §6.6: a new reply goes to the next hop toward the originator of the request.
    fn send_rrep(&mut self, now: Time, rrep: &Rrep, actions: &mut Vec<Action>) {
        if self.table.valid(now, rrep.origin).is_none() {
            return;
        }
        let ttl = self.params.net_diameter;
        let packet = control(
            now,
            self.node,
            rrep.origin,
            ttl,
            IP_HEADER_BYTES + RREP_BYTES,
            Message::Rrep(rrep.clone()),
        );
        self.pass_rrep(now, packet, rrep, actions);
    }

    /// §6.7.
    fn receive_rrep(
        &mut self,
        now: Time,
        packet: Packet,
        mut rrep: Rrep,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if rrep.acknowledge && now >= self.silent_until {
            self.acknowledge(now, from, actions);
        }
        self.hear_neighbour(now, from, actions);
        rrep.hop_count = rrep.hop_count.saturating_add(1);
        let offer = Offer { dst: rrep.dst, seqno: rrep.dst_seqno, hops: rrep.hop_count, next_hop: from };
        let taken = rrep.dst != self.node && self.table.offer(now, offer);
        if taken {
            self.table.set_life(rrep.dst, now + rrep.lifetime);
            self.route_found(now, rrep.dst, actions);
        }
        let is_passed = taken || self.passes_known_rrep(now, rrep.dst);
        if rrep.origin == self.node || !is_passed || now < self.silent_until {
            actions.push(Action::Consume(packet));
        } else if let Some(mut packet) = relay::count_hop(packet, actions) {
            packet.src = self.node;
            self.pass_rrep(now, packet, &rrep, actions);
        }
    }

    /// Is a reply passed on that changes nothing here? Not by the letter of §6.7, which leaves the second
    /// source behind this node without an answer. Whoever believes the reply gets a route over this node with
    /// a number that is older than this node's own, or the same and a longer way, so that no loop can arise;
    /// that is why this node must have a valid route with a valid number.
    fn passes_known_rrep(&mut self, now: Time, dst: NodeId) -> bool {
        self.params.pass_known_rreps
            && self.table.valid(now, dst).is_some_and(|route| route.valid_seqno().is_some())
    }

    /// §6.7, last paragraphs: whenever a node transmits a reply, the neighbours at both sides become
    /// precursors, the reverse route lives on, and the next hop may have to acknowledge it.
    fn pass_rrep(&mut self, now: Time, mut packet: Packet, rrep: &Rrep, actions: &mut Vec<Action>) {
        let until = now + self.params.active_route_timeout();
        let Some(reverse) = self.table.valid(now, rrep.origin) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        reverse.prolong(now, until);
        let back = reverse.next_hop;
        if let Some(forward) = self.table.valid(now, rrep.dst) {
            forward.add_precursor(back);
            let next_hop = forward.next_hop;
            if let Some(route) = self.table.valid(now, next_hop) {
                route.add_precursor(back);
            }
            if self.params.precursors_both_ways
                && let Some(reverse) = self.table.valid(now, rrep.origin)
            {
                reverse.add_precursor(next_hop);
            }
        }
        let delay = self.unicast_jitter();
        self.await_ack(back, now + delay);
        let marked = Rrep { acknowledge: self.params.rrep_ack, ..rrep.clone() };
        packet.payload = Payload::Aodv(Message::Rrep(marked));
        actions.push(Action::Send { packet, next_hop: back, delay });
    }
}
