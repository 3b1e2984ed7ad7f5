//! DYMO, Dynamic MANET On-demand routing, which became AODVv2: AODV with paths that are accumulated, numbers
//! that only their owners raise, and answers by the target alone.
//!
//! Read first: draft-ietf-manet-dymo-24 (2012) and, for the early form, what DYMO-FAU does after
//! draft-ietf-manet-dymo-02 (2005).
//!
//! **Implemented.** Requests with growing hop limits, a rate limit and pauses; replies by the target;
//! routes to all nodes of a message's path; only better copies of a request are passed on; route errors;
//! expiry; link failures by the MAC or by missing hellos; the packet buffer.
//!
//! **Not implemented.** Replies by nodes on the way, gateways and prefixes, several interfaces, other metrics
//! than hops, RREP-ACK, unsupported elements of messages.
//!
//! **Deviations**: numbered in docs/models/dymo.md.

mod params;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::params::DymoParams;
use self::table::{Broken, Offer, Seen, Table, is_newer, next_seqno};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::{Action, Changes, Notice, RouteNow, Routing, relay};
use crate::wire::dymo::{Content, Known, Message, RouteMessage};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, UDP_HEADER_BYTES};

/// How often what has ended is looked for.
const SWEEP: Span = Span::from_millis(5000);

/// One node's DYMO. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &Arc<DymoParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Dymo::new(node, Arc::clone(params), stream))
}

/// What a search does.
#[derive(Clone, Copy, Debug)]
enum Search {
    /// So many requests were sent; the next one, or the end, comes then.
    Asks { sent: u32, at: Time },
    /// Nothing was found, and nothing is sought until then.
    HeldDown { until: Time },
}

impl Search {
    fn deadline(self) -> Time {
        match self {
            Search::Asks { at, .. } => at,
            Search::HeldDown { until } => until,
        }
    }
}

/// Requests that may be originated: a bucket that fills.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    filled: Time,
}

/// The state of one node.
struct Dymo {
    node: NodeId,
    params: Arc<DymoParams>,
    stream: Stream,
    seqno: u16,
    table: Table,
    seen: Seen,
    searches: BTreeMap<NodeId, Search>,
    bucket: Bucket,
    buffer: PacketBuffer,
    /// Neighbours that said hello, and when they count as lost.
    neighbours: BTreeMap<NodeId, Time>,
    hello_at: Time,
    /// Data went through this node; until then it is part of a route that is used.
    active_until: Time,
    /// When what has ended is looked for; never if nothing is known.
    sweep_at: Time,
}

impl Dymo {
    fn new(node: NodeId, params: Arc<DymoParams>, stream: Stream) -> Dymo {
        Dymo {
            node,
            stream,
            seqno: 1,
            table: Table::default(),
            seen: Seen::default(),
            searches: BTreeMap::new(),
            bucket: Bucket { tokens: f64::from(params.rreq_burst), filled: Time::ZERO },
            buffer: PacketBuffer::new(params.buffer_packets),
            neighbours: BTreeMap::new(),
            hello_at: Time::NEVER,
            active_until: Time::ZERO,
            sweep_at: Time::NEVER,
            params,
        }
    }
}

impl Routing for Dymo {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.bucket.filled = now;
        if self.params.hello {
            self.hello_at = now + self.stream.span_below(self.params.hello_interval());
        }
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else if self.table.valid(now, dst).is_some() {
            self.send_data(now, packet, actions);
        } else if let Some(Search::HeldDown { until }) = self.searches.get(&dst)
            && *until > now
        {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
        } else {
            self.buffer.push(now, packet, Span::from_secs(self.params.buffer_timeout_s), actions);
            self.search(now, dst, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if self.params.data_counts_as_hello || !packet.is_data() {
            self.note_neighbour(now, from);
        }
        if let Payload::Dymo(message) = &packet.payload {
            let content = message.content.clone();
            actions.push(Action::Consume(packet));
            self.receive(now, content, from, actions);
            return;
        }
        if packet.dst == self.node {
            self.active_until = now + self.params.route_life();
        }
        if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(now, packet, actions);
        }
    }

    fn suppress_duplicate(
        &mut self,
        now: Time,
        packet: &Packet,
        from: NodeId,
        _actions: &mut Vec<Action>,
    ) -> bool {
        match &packet.payload {
            Payload::Dymo(Message { content: Content::Rreq(request), .. }) => {
                let is_known = self.knows(now, request);
                if is_known {
                    self.note_neighbour(now, from);
                }
                is_known
            }
            _ => false,
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.params.link_layer_feedback && packet.is_data() {
            self.break_link(now, next_hop, actions);
            actions.push(Action::FlushQueue(next_hop));
        }
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due = self.searches.iter().filter(|(_, search)| search.deadline() <= now);
        for dst in due.map(|(dst, _)| *dst).collect::<Vec<_>>() {
            self.continue_search(now, dst, actions);
        }
        self.buffer.expire(now, actions);
        let silent = self.neighbours.iter().filter(|(_, lost_at)| **lost_at <= now);
        for neighbour in silent.map(|(node, _)| *node).collect::<Vec<_>>() {
            self.break_link(now, neighbour, actions);
        }
        if self.hello_at <= now {
            self.say_hello(now, actions);
        }
        if self.sweep_at <= now {
            self.table.forget(now, Span::from_secs(self.params.seqno_life_s));
            self.seen.forget(now);
            self.sweep_at = if self.table.len() + self.seen.len() > 0 { now + SWEEP } else { Time::NEVER };
        }
    }

    fn next_timeout(&self) -> Time {
        let searches = self.searches.values().map(|search| search.deadline());
        let neighbours = self.neighbours.values().copied();
        let mine = self.hello_at.min(self.sweep_at).min(self.buffer.next_expiry());
        searches.chain(neighbours).fold(mine, Time::min)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    fn remembered(&self, _now: Time) -> Option<usize> {
        Some(self.table.len() + self.seen.len() + self.searches.len() + self.neighbours.len())
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.table.valid(now, dst).map(|route| route.next_hop)
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        self.table.valid(now, dst).map(|route| route.hops.into())
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let route = self.table.valid(now, dst)?;
        Some(RouteNow { next_hop: route.next_hop, hops: Some(route.hops.into()), until: route.until })
    }

    fn take_route_changes(&mut self) -> Changes {
        self.table.take_changes()
    }
}

/// Data.
impl Dymo {
    /// Sends a packet along its route; the routes to both of its ends live on.
    fn send_data(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let Some(next_hop) = self.table.valid(now, packet.dst).map(|route| route.next_hop) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        self.active_until = now + self.params.route_life();
        self.prolong(now, packet.dst);
        self.prolong(now, packet.src);
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    fn prolong(&mut self, now: Time, dst: NodeId) {
        self.table.prolong(now, self.params.route_life(), self.params.active(), dst);
    }

    /// A packet that cannot go on is answered by a route error.
    fn forward(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if self.table.valid(now, packet.dst).is_none() {
            let unreachable = Known { node: packet.dst, seqno: self.table.seqno(packet.dst) };
            self.send_error(now, self.params.rerr_hop_limit as u8, [unreachable].into(), actions);
        }
        self.send_data(now, packet, actions);
    }

    fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        self.searches.remove(&dst);
        for packet in self.buffer.pop_all(now, dst, actions) {
            self.send_data(now, packet, actions);
        }
    }
}

/// Searches.
impl Dymo {
    fn search(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        if let Some(Search::Asks { .. }) = self.searches.get(&dst) {
            return;
        }
        self.ask(now, dst, 0, actions);
    }

    /// The wait for an answer is over, or a hold-down.
    fn continue_search(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        match self.searches.remove(&dst) {
            Some(Search::Asks { sent, .. }) if sent < self.params.rreq_tries => {
                self.ask(now, dst, sent, actions);
            }
            Some(Search::Asks { .. }) => {
                self.buffer.drop_all(now, dst, DropReason::NoRoute, actions);
                if self.params.holddown_s > 0.0 {
                    let until = now + Span::from_secs(self.params.holddown_s);
                    self.searches.insert(dst, Search::HeldDown { until });
                }
            }
            Some(Search::HeldDown { .. }) | None => {}
        }
    }

    /// Sends the next request of a search, or puts it off until the rate allows it.
    fn ask(&mut self, now: Time, dst: NodeId, sent: u32, actions: &mut Vec<Action>) {
        if let Some(at) = self.take_token(now) {
            self.searches.insert(dst, Search::Asks { sent, at });
            return;
        }
        let is_last = sent + 1 == self.params.rreq_tries;
        let at = now + self.params.rreq_pause(sent, is_last);
        self.searches.insert(dst, Search::Asks { sent: sent + 1, at });
        self.seqno = next_seqno(self.seqno);
        // The last one asks for any answer.
        let target_seqno = if is_last { 0 } else { self.table.seqno(dst) };
        let request = RouteMessage {
            hop_limit: self.params.hop_limit(sent),
            hop_count: 0,
            target: dst,
            target_seqno,
            path: [self.me()].into(),
        };
        self.broadcast(now, Content::Rreq(request), actions);
    }

    /// Takes a token for a request; or when there will be one.
    fn take_token(&mut self, now: Time) -> Option<Time> {
        let rate = self.params.rreq_rate;
        if rate <= 0.0 {
            return None;
        }
        let Bucket { tokens, filled } = self.bucket;
        let tokens = (tokens + now.since(filled).as_secs() * rate).min(self.params.rreq_burst.into());
        self.bucket = Bucket { tokens, filled: now };
        if tokens < 1.0 {
            // A nanosecond more, so that rounding leaves a whole one.
            return Some(now + Span::from_secs((1.0 - tokens) / rate) + Span(1));
        }
        self.bucket.tokens -= 1.0;
        None
    }
}

/// What comes in.
impl Dymo {
    fn receive(&mut self, now: Time, content: Content, from: NodeId, actions: &mut Vec<Action>) {
        match content {
            Content::Rreq(request) => self.receive_request(now, request, from, actions),
            Content::Rrep(reply) => self.receive_reply(now, reply, from, actions),
            Content::Rerr { hop_limit, unreachable } => {
                self.receive_error(now, hop_limit, &unreachable, from, actions);
            }
            Content::Hello(sender) => {
                if self.params.hello {
                    self.neighbours.insert(from, now + self.params.hello_patience());
                }
                self.learn(now, Offer { dst: from, seqno: sender.seqno, hops: 1, next_hop: from }, actions);
            }
        }
    }

    /// Any packet from a neighbour shows that it is still there (RFC 3561 §6.9).
    fn note_neighbour(&mut self, now: Time, from: NodeId) {
        let patience = self.params.hello_patience();
        if let Some(lost_at) = self.neighbours.get_mut(&from) {
            *lost_at = now + patience;
        }
    }

    /// Is the request this node's own, or no better than one that was seen?
    fn knows(&self, now: Time, request: &RouteMessage) -> bool {
        request.origin().is_none_or(|origin| {
            let name = (origin.node, request.target);
            origin.node == self.node || self.seen.has_as_good(now, name, origin.seqno, request.hop_count)
        })
    }

    fn receive_request(&mut self, now: Time, request: RouteMessage, from: NodeId, actions: &mut Vec<Action>) {
        let Some(origin) = request.origin().filter(|_| !self.knows(now, &request)) else { return };
        let until = now + Span::from_secs(self.params.rreq_memory_s);
        self.seen.add((origin.node, request.target), origin.seqno, request.hop_count, until);
        self.keep_clean(now);
        self.learn_path(now, &request, from, actions);
        if request.target != self.node {
            if let Some(request) = self.passed_on(request) {
                self.broadcast(now, Content::Rreq(request), actions);
            }
            return;
        }
        // Who asks knows a number from before this node has started anew.
        if request.target_seqno != 0 && is_newer(request.target_seqno, self.seqno) {
            self.seqno = request.target_seqno;
        }
        self.seqno = next_seqno(self.seqno);
        let reply = RouteMessage {
            hop_limit: request.hop_count.saturating_add(1),
            hop_count: 0,
            target: origin.node,
            target_seqno: origin.seqno,
            path: [self.me()].into(),
        };
        self.send_reply(now, reply, actions);
    }

    fn receive_reply(&mut self, now: Time, reply: RouteMessage, from: NodeId, actions: &mut Vec<Action>) {
        if reply.origin().is_none_or(|origin| origin.node == self.node) {
            return;
        }
        self.learn_path(now, &reply, from, actions);
        if reply.target != self.node
            && let Some(reply) = self.passed_on(reply)
        {
            self.send_reply(now, reply, actions);
        }
    }

    /// The message as it goes on from here; none if it may cross no more links, or has been here.
    fn passed_on(&self, message: RouteMessage) -> Option<RouteMessage> {
        if message.hop_limit <= 1 || message.path.iter().any(|known| known.node == self.node) {
            return None;
        }
        let path = if self.params.path_accumulation {
            message.path.iter().copied().chain([self.me()]).collect()
        } else {
            message.path
        };
        let hop_count = message.hop_count.saturating_add(1);
        Some(RouteMessage { hop_limit: message.hop_limit - 1, hop_count, path, ..message })
    }

    /// Routes to all nodes of the path: every node that passed it on has appended itself, or none has.
    fn learn_path(&mut self, now: Time, message: &RouteMessage, from: NodeId, actions: &mut Vec<Action>) {
        let far = usize::from(message.hop_count) + 1;
        for (place, known) in message.path.iter().enumerate().take(far) {
            let hops = (far - place).min(255) as u8;
            let offer = Offer { dst: known.node, seqno: known.seqno, hops, next_hop: from };
            if known.node != self.node && !known.node.is_broadcast() && known.seqno != 0 {
                self.learn(now, offer, actions);
            }
        }
    }

    fn learn(&mut self, now: Time, offer: Offer, actions: &mut Vec<Action>) {
        if self.table.offer(now, self.params.route_life(), offer) {
            actions.push(Action::Notify(Notice::RouteFound { dst: offer.dst }));
        }
        self.keep_clean(now);
        if self.table.valid(now, offer.dst).is_some() {
            self.release(now, offer.dst, actions);
        }
    }

    /// Something is known, and will end.
    fn keep_clean(&mut self, now: Time) {
        self.sweep_at = self.sweep_at.min(now + SWEEP);
    }
}

/// Broken links.
impl Dymo {
    fn break_link(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        self.neighbours.remove(&neighbour);
        let broken = self.table.break_routes(now, |_, route| route.next_hop == neighbour);
        self.tell_broken(now, &broken, (self.params.rerr_hop_limit as u8, false), actions);
    }

    /// What the sender cannot reach, this node cannot reach over it.
    fn receive_error(
        &mut self,
        now: Time,
        hop_limit: u8,
        unreachable: &[Known],
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let broken = self.table.break_routes(now, |dst, route| {
            let told = unreachable.iter().find(|known| known.node == dst);
            route.next_hop == from
                && told.is_some_and(|told| told.seqno == 0 || !is_newer(route.seqno, told.seqno))
        });
        self.tell_broken(now, &broken, (hop_limit.saturating_sub(1), true), actions);
    }

    /// An error names the routes that were active; of those that this node was `told` of, all.
    fn tell_broken(
        &mut self,
        now: Time,
        broken: &[Broken],
        (hop_limit, told): (u8, bool),
        actions: &mut Vec<Action>,
    ) {
        let notices = broken.iter().map(|route| Notice::RouteFailed { dst: route.dst, told });
        actions.extend(notices.map(Action::Notify));
        let named = broken.iter().filter(|route| told || route.was_active);
        let unreachable: Arc<[Known]> =
            named.map(|&Broken { dst, seqno, .. }| Known { node: dst, seqno }).collect();
        if !unreachable.is_empty() && hop_limit > 0 {
            self.send_error(now, hop_limit, unreachable, actions);
        }
    }
}

/// What goes out.
impl Dymo {
    fn me(&self) -> Known {
        Known { node: self.node, seqno: self.seqno }
    }

    /// As in AODV, the node says hello while data goes through it (RFC 3561 §6.9).
    fn say_hello(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.hello_at = now + self.params.hello_interval();
        if self.active_until > now {
            self.broadcast(now, Content::Hello(self.me()), actions);
        }
    }

    fn send_error(&mut self, now: Time, hop_limit: u8, unreachable: Arc<[Known]>, actions: &mut Vec<Action>) {
        self.broadcast(now, Content::Rerr { hop_limit, unreachable }, actions);
    }

    fn send_reply(&mut self, now: Time, reply: RouteMessage, actions: &mut Vec<Action>) {
        let Some(next_hop) = self.table.valid(now, reply.target).map(|route| route.next_hop) else { return };
        self.prolong(now, reply.target);
        let packet = self.packet(now, next_hop, Content::Rrep(reply));
        actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
    }

    fn broadcast(&mut self, now: Time, content: Content, actions: &mut Vec<Action>) {
        let packet = self.packet(now, NodeId::BROADCAST, content);
        let delay = self.stream.span_below(Span::from_secs(self.params.broadcast_jitter_ms * 1e-3));
        actions.push(Action::Broadcast { packet, delay });
    }

    fn packet(&self, now: Time, dst: NodeId, content: Content) -> Packet {
        let message = Message { lengths: self.params.lengths(&content), content };
        let bytes = IP_HEADER_BYTES + UDP_HEADER_BYTES + message.bytes();
        Packet::control(now, self.node, dst, 1, bytes, Payload::Dymo(message))
    }
}
