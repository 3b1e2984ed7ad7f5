//! Searching for routes: requests and replies.

use super::table::Link;
use super::{Ns2, RREP_BYTES};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::aodv::control;
use crate::routing::{Action, Notice};
use crate::wire::aodv::{Message, Rrep, Rreq};
use crate::wire::{NodeId, Packet, Payload};

impl Ns2 {
    /// Sends a request unless the route is up, the last request may still be answered, or the node pauses.
    pub(super) fn request(&mut self, now: Time, at: usize, actions: &mut Vec<Action>) {
        let pause = Span::from_secs(self.params.max_rreq_pause_s);
        let route = self.table.at_mut(at);
        if route.is_up() || route.request_timeout > now {
            return;
        }
        if route.request_count > self.params.rreq_retries {
            route.request_timeout = now + pause;
            route.request_count = 0;
            if !self.params.keep_packets_after_retries {
                self.buffer.drop_all(now, route.dst, DropReason::NoRoute, actions);
            }
            return;
        }
        let ttl = self.request_ttl(at);
        let route = self.table.at_mut(at);
        if ttl == self.params.net_diameter {
            route.request_count += 1;
        }
        route.last_ttl = ttl;
        // The round trip, twice to be safe; longer after each network-wide request.
        let tries = u64::from(route.request_count.max(1));
        let wait = route
            .per_hop_time(self.params.node_traversal())
            .map_or(pause, |per_hop| per_hop * 2 * u64::from(ttl) * tries);
        route.request_timeout = now + wait.min(pause);
        route.expires = Time::ZERO;
        let (dst, dst_seqno) = (route.dst, route.seqno);
        self.send_request(now, dst, dst_seqno, ttl, actions);
    }

    /// The TTL of the next request: a little more than the last distance or the last ring.
    fn request_ttl(&self, at: usize) -> u32 {
        let params = &self.params;
        let route = self.table.at(at);
        // A route that was never up counts as infinitely long, unless `ring_for_unknown`.
        let unknown = if params.ring_for_unknown { 0 } else { 255 };
        let reach = route.last_ttl.max(route.last_hops.map_or(unknown, u32::from));
        if !params.expanding_ring || reach >= params.ttl_threshold {
            params.net_diameter
        } else if reach == 0 {
            params.ttl_start
        } else {
            reach + params.ttl_increment
        }
    }

    fn send_request(&mut self, now: Time, dst: NodeId, dst_seqno: u32, ttl: u32, actions: &mut Vec<Action>) {
        self.seqno += 2;
        let rreq = Rreq {
            id: self.next_request_id,
            origin: self.node,
            origin_seqno: self.seqno,
            dst,
            dst_seqno: Some(dst_seqno),
            hop_count: self.hops_to_neighbour(),
            gratuitous: self.params.gratuitous_rrep,
            destination_only: self.params.destination_only,
            made: now,
        };
        self.next_request_id += 1;
        let packet =
            control(now, self.node, NodeId::BROADCAST, ttl, self.params.rreq_bytes, Message::Rreq(rreq));
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

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
                self.receive_request(now, packet, rreq, from, actions);
            }
            Payload::Aodv(Message::Rrep(rrep)) => {
                let rrep = rrep.clone();
                self.receive_reply(now, packet, rrep, from, actions);
            }
            Payload::Aodv(Message::Rerr(rerr)) => {
                self.receive_error(now, rerr, from, actions);
                actions.push(Action::Consume(packet));
            }
            Payload::Aodv(Message::Hello(hello)) => {
                self.receive_hello(now, hello.node);
                actions.push(Action::Consume(packet));
            }
            _ => actions.push(Action::Consume(packet)),
        }
    }

    fn receive_request(
        &mut self,
        now: Time,
        packet: Packet,
        rreq: Rreq,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.knows(&rreq) {
            actions.push(Action::Consume(packet));
            return;
        }
        let until = now + Span::from_secs(self.params.broadcast_id_save_s);
        self.seen.add(Time::ZERO, (rreq.origin, rreq.id), until);
        self.update_reverse_route(now, &rreq, from, actions);
        if rreq.dst == self.node {
            self.answer_as_destination(now, &rreq, actions);
            actions.push(Action::Consume(packet));
        } else if self.answer_for_destination(now, &rreq, actions) {
            actions.push(Action::Consume(packet));
        } else {
            self.forward_request(packet, rreq, actions);
        }
    }

    /// Is this a request of its own, or one that it has seen?
    pub(super) fn knows(&self, rreq: &Rreq) -> bool {
        rreq.origin == self.node || self.seen.holds(Time::ZERO, (rreq.origin, rreq.id))
    }

    /// The way back to the originator; buffered packets for it leave at once.
    fn update_reverse_route(&mut self, now: Time, rreq: &Rreq, from: NodeId, actions: &mut Vec<Action>) {
        let at = self.table.find_or_add(rreq.origin);
        let life = now + Span::from_secs(self.params.reverse_route_life_s);
        let route = self.table.at_mut(at);
        let expires = route.expires.max(life);
        if self.params.requests_prolong_routes {
            route.expires = expires;
        }
        if !self.is_better(at, rreq.origin_seqno, rreq.hop_count) {
            return;
        }
        self.update_route(at, rreq.origin_seqno, rreq.hop_count, from, expires, actions);
        let route = self.table.at_mut(at);
        if route.request_timeout > Time::ZERO {
            // This node was itself looking for the originator.
            route.end_search(rreq.hop_count);
            route.expires = now + self.params.active_route_timeout();
            self.first_expiry = self.first_expiry.min(route.expires);
        }
        self.release(now, at, Span::ZERO, Span::ZERO, actions);
    }

    /// Is a route with this sequence number and hop count fresher than the one in the table, or shorter?
    fn is_better(&self, at: usize, seqno: u32, hops: u8) -> bool {
        let route = self.table.at(at);
        !self.params.sequence_numbers
            || (self.params.accept_any_when_down && !route.is_up())
            || seqno > route.seqno
            || (seqno == route.seqno && route.link.is_none_or(|link| hops < link.hops))
    }

    /// The hop count of a message that goes to its maker's neighbours.
    fn hops_to_neighbour(&self) -> u8 {
        u8::from(!self.params.hop_counts_from_zero)
    }

    /// How long a discovery took, for the waits of later ones.
    fn note_latency(&mut self, now: Time, at: usize, rrep: &Rrep) {
        let between = u64::from(rrep.hop_count.saturating_sub(self.hops_to_neighbour()));
        let hops = if self.params.wait_by_nodes_between { between } else { between + 1 };
        self.table.at_mut(at).add_latency(now.since(rrep.made), hops);
    }

    fn update_route(
        &mut self,
        at: usize,
        seqno: u32,
        hops: u8,
        next_hop: NodeId,
        expires: Time,
        actions: &mut Vec<Action>,
    ) {
        let route = self.table.at_mut(at);
        route.seqno = seqno;
        route.link = Some(Link { hops, next_hop });
        route.in_repair = false;
        route.expires = expires;
        self.first_expiry = self.first_expiry.min(expires);
        if route.reported {
            route.reported = false;
            actions.push(Action::Notify(Notice::RouteFound { dst: route.dst }));
        }
    }

    fn answer_as_destination(&mut self, now: Time, rreq: &Rreq, actions: &mut Vec<Action>) {
        // Somebody may have raised this node's number; the new one is above both, and even.
        self.seqno = self.seqno.max(rreq.dst_seqno.unwrap_or(0)) + 1;
        self.seqno += self.seqno % 2;
        let rrep = Rrep {
            dst: self.node,
            dst_seqno: self.seqno,
            origin: rreq.origin,
            hop_count: self.hops_to_neighbour(),
            lifetime: self.params.my_route_timeout(),
            acknowledge: false,
            made: rreq.made,
        };
        self.send_reply(now, rrep, actions);
    }

    /// Answers with the route in the table if it is fresh enough. A route in repair counts as a route.
    fn answer_for_destination(&mut self, now: Time, rreq: &Rreq, actions: &mut Vec<Action>) -> bool {
        let Some(at) = self.table.find(rreq.dst) else { return false };
        let Some(link) = self.table.at(at).link else { return false };
        let seqno = self.table.at(at).seqno;
        let fresh = !self.params.sequence_numbers || seqno >= rreq.dst_seqno.unwrap_or(0);
        if rreq.destination_only || !fresh {
            return false;
        }
        let lifetime = whole_seconds_left(self.table.at(at).expires, now);
        let rrep = Rrep {
            dst: rreq.dst,
            dst_seqno: seqno,
            origin: rreq.origin,
            hop_count: link.hops.saturating_add(1),
            lifetime,
            acknowledge: false,
            made: rreq.made,
        };
        self.send_reply(now, rrep, actions);
        let reverse = self.table.find_or_add(rreq.origin);
        if let Some(back) = self.table.at(reverse).link {
            self.table.at_mut(at).add_precursor(back.next_hop);
        }
        self.table.at_mut(reverse).add_precursor(link.next_hop);
        if rreq.gratuitous {
            let gratuitous = Rrep {
                dst: rreq.origin,
                dst_seqno: rreq.origin_seqno,
                origin: rreq.dst,
                hop_count: rreq.hop_count,
                lifetime,
                acknowledge: false,
                made: rreq.made,
            };
            self.send_reply(now, gratuitous, actions);
        }
        true
    }

    fn forward_request(&mut self, mut packet: Packet, mut rreq: Rreq, actions: &mut Vec<Action>) {
        rreq.hop_count = rreq.hop_count.saturating_add(1);
        if let Some(route) = self.table.get(rreq.dst) {
            // The greatest sequence number seen on the way.
            rreq.dst_seqno = rreq.dst_seqno.max(Some(route.seqno));
        }
        packet.src = self.node;
        packet.payload = Payload::Aodv(Message::Rreq(rreq));
        if packet.ttl == 0 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
        } else {
            let delay = self.stream.span_below(self.params.broadcast_jitter());
            actions.push(Action::Broadcast { packet, delay });
        }
    }

    /// Sends a reply to `rrep.origin`.
    fn send_reply(&mut self, now: Time, rrep: Rrep, actions: &mut Vec<Action>) {
        let Some(link) = self.table.get(rrep.origin).and_then(|route| route.link) else { return };
        let (origin, ttl) = (rrep.origin, self.params.net_diameter);
        let packet = control(now, self.node, origin, ttl, RREP_BYTES, Message::Rrep(rrep));
        actions.push(Action::Send { packet, next_hop: link.next_hop, delay: Span::ZERO });
    }

    fn receive_reply(
        &mut self,
        now: Time,
        packet: Packet,
        rrep: Rrep,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let at = self.table.find_or_add(rrep.dst);
        let better = self.is_better(at, rrep.dst_seqno, rrep.hop_count);
        if better || self.params.pass_all_rreps {
            self.table.at_mut(at).end_search(rrep.hop_count);
        }
        if better {
            let expires = now + rrep.lifetime;
            self.update_route(at, rrep.dst_seqno, rrep.hop_count, from, expires, actions);
            if rrep.origin == self.node {
                self.note_latency(now, at, &rrep);
            }
            self.release(now, at, Span::ZERO, self.params.release_spacing(), actions);
        }
        if rrep.origin == self.node || !(better || self.params.pass_all_rreps) {
            actions.push(Action::Consume(packet));
        } else {
            self.forward_reply(now, at, packet, rrep, actions);
        }
    }

    fn forward_reply(
        &mut self,
        now: Time,
        at: usize,
        mut packet: Packet,
        mut rrep: Rrep,
        actions: &mut Vec<Action>,
    ) {
        let reverse = self.table.find(rrep.origin);
        let back = reverse.and_then(|reverse| self.table.at(reverse).link);
        let (Some(reverse), Some(back)) = (reverse, back) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        rrep.hop_count = rrep.hop_count.saturating_add(1);
        packet.payload = Payload::Aodv(Message::Rrep(rrep));
        if packet.ttl == 0 {
            actions.push(Action::Drop(packet, DropReason::TtlExpired));
        } else {
            self.forward(now, reverse, packet, Span::ZERO, actions);
        }
        self.table.at_mut(at).add_precursor(back.next_hop);
    }
}

/// The time left, in whole seconds as a 32-bit number: an expiry time in the past wraps around.
fn whole_seconds_left(expires: Time, now: Time) -> Span {
    let seconds = (expires.0 as i64 - now.0 as i64) / 1_000_000_000;
    Span(u64::from(seconds as u32) * 1_000_000_000)
}
