//! One node's DSR: its state, its inputs, and how packets get and lose their headers.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::{Action, Changes, Notice, RouteNow, Routing};
use crate::wire::dsr::{FlowMark, Header, Route};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader};

use super::DsrParams;
use super::cache::Cache;
use super::flow_table::FlowTable;
use super::memory::{Break, HeldError, Overheard};
use super::requests::RequestTable;

/// See the module's head.
pub(in crate::routing) struct Dsr {
    pub(in crate::routing) node: NodeId,
    pub(in crate::routing) params: DsrParams,
    pub(super) stream: Stream,
    pub(super) cache: Cache,
    pub(super) requests: RequestTable,
    /// The number of this node's next request.
    pub(super) next_request: u32,
    /// The send buffer (RFC 4728 §4.2). Its packets have no source route; those of others keep the rest of
    /// their header.
    pub(super) buffer: PacketBuffer,
    /// When the buffer is next looked at, if that happens at intervals; never while it is empty.
    pub(super) check_at: Time,
    /// The last error that was meant for this node.
    pub(super) held_error: Option<HeldError>,
    /// The link that failed last here, and who has been told of it.
    pub(super) last_break: Option<Break>,
    pub(super) overheard: Overheard,
    /// The route that each destination's packets from here took last, until it is known to be broken.
    pub(in crate::routing) in_use: BTreeMap<NodeId, Route>,
    pub(super) flows: FlowTable,
    /// When a search is due, and of which states of the buffer and of the searches that is true.
    search_due: Cell<Option<((u64, u64), Time)>>,
}

impl Dsr {
    pub(in crate::routing) fn new(node: NodeId, params: DsrParams, stream: Stream) -> Dsr {
        Dsr {
            node,
            stream,
            cache: Cache::new(node, &params),
            requests: RequestTable::default(),
            next_request: 1,
            buffer: PacketBuffer::new(params.buffer_packets),
            check_at: Time::NEVER,
            held_error: None,
            last_break: None,
            overheard: Overheard::default(),
            in_use: BTreeMap::new(),
            flows: FlowTable::default(),
            search_due: Cell::new(None),
            params,
        }
    }

    /// An empty header.
    pub(in crate::routing) fn header(&self) -> Header {
        Header { reply_fixed_bytes: self.params.reply_fixed_bytes as u8, ..Header::default() }
    }

    /// A new packet with nothing but a header.
    pub(in crate::routing) fn control(&self, now: Time, dst: NodeId, ttl: u8, header: Header) -> Packet {
        let mut packet = Packet::control(now, self.node, dst, ttl, IP_HEADER_BYTES, Payload::Nothing);
        packet.put_header(RoutingHeader::Dsr(header));
        packet
    }

    /// Sends a packet along a source route that begins here.
    pub(super) fn send_along(
        &mut self,
        now: Time,
        mut packet: Packet,
        route: &[NodeId],
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        let mut header = packet.dsr().cloned().unwrap_or_else(|| self.header());
        let (route, flow) = self.choose_flow(now, &packet, &header, route);
        let Some(&next_hop) = route.get(1) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        if packet.src == self.node && packet.is_data() {
            self.note_use(packet.dst, &route, actions);
        }
        header.flow = flow;
        header.route = match flow {
            None | Some(FlowMark::Establishes(_)) => route,
            Some(FlowMark::Member(_) | FlowMark::Default) => Route::new(),
        };
        packet.put_header(RoutingHeader::Dsr(header));
        actions.push(Action::Send { packet, next_hop, delay });
    }

    /// This node's own data takes this route from now on.
    pub(in crate::routing) fn note_use(&mut self, dst: NodeId, route: &[NodeId], actions: &mut Vec<Action>) {
        match self.in_use.get_mut(&dst) {
            Some(used) if used.as_slice() == route => {}
            Some(used) => *used = Route::from_slice(route),
            None => {
                self.in_use.insert(dst, Route::from_slice(route));
                actions.push(Action::Notify(Notice::RouteFound { dst }));
            }
        }
    }

    /// Sends a packet without a source route if a route is known; else it waits while one is sought.
    pub(super) fn send_or_seek(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        match self.route_to(now, packet.dst, true) {
            Some(route) => self.send_along(now, packet, &route, Span::ZERO, actions),
            None => {
                let (dst, own) = (packet.dst, self.is_own(&packet));
                self.hold(now, packet, actions);
                self.seek(now, dst, own, actions);
            }
        }
    }

    /// At most `count` different routes to `dst` that are cached, the shortest first.
    pub(in crate::routing) fn alternatives(&self, now: Time, dst: NodeId, count: u32) -> Vec<Route> {
        self.cache.alternatives(now, dst, count as usize)
    }

    pub(super) fn route_to(&mut self, now: Time, dst: NodeId, for_use: bool) -> Option<Route> {
        self.cache.find(now, dst, for_use).map(Route::from_slice)
    }

    /// `new` is charged the length of `old`, if that is what ns-2 does.
    pub(super) fn charge_stale(&self, old: &Header, new: &mut Header) {
        if self.params.keep_stale_header_bytes {
            new.stale_bytes = u16::try_from(old.bytes()).unwrap_or(u16::MAX);
        }
    }

    /// Puts a packet into the send buffer.
    pub(in crate::routing) fn hold(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let header = packet.take_header();
        if let Some(header) = header.as_deref().and_then(RoutingHeader::as_dsr)
            && (packet.src != self.node || !packet.is_data())
        {
            let routed = Header { flow: None, ..header.clone() };
            let mut held = Header { route: Route::new(), ..routed.clone() };
            if packet.src != self.node && !routed.route.is_empty() {
                self.charge_stale(&routed, &mut held);
            }
            packet.put_header(RoutingHeader::Dsr(held));
        }
        self.buffer.push(now, packet, Span::from_secs(self.params.buffer_timeout_s), actions);
        if self.checks_at_intervals() && self.check_at == Time::NEVER {
            // The node has been looking at its empty buffer all along.
            let interval = self.check_interval();
            self.check_at = now + self.stream.span_below(interval);
        }
    }

    pub(super) fn checks_at_intervals(&self) -> bool {
        self.params.buffer_check_ms > 0.0
    }

    fn check_interval(&mut self) -> Span {
        let least = self.params.buffer_check_ms * 1e-3;
        Span::from_secs(self.stream.uniform(least, 2.0 * least))
    }

    /// Sends the packets of the buffer for which there is a route now, with this gap between them.
    pub(in crate::routing) fn release(&mut self, now: Time, spacing: Span, actions: &mut Vec<Action>) {
        let mut delay = Span::ZERO;
        for (dst, _) in self.awaited() {
            let Some(route) = self.route_to(now, dst, true) else { continue };
            for packet in self.buffer.pop_all(now, dst, actions) {
                self.send_along(now, packet, &route, delay, actions);
                delay = delay + spacing;
            }
        }
    }

    /// The destinations of the packets in the buffer, that of the oldest first, and whether packets of this
    /// node's own are among those for it.
    fn awaited(&self) -> Vec<(NodeId, bool)> {
        let mut awaited: Vec<(NodeId, bool)> = Vec::new();
        let mut places: BTreeMap<NodeId, usize> = BTreeMap::new();
        for packet in self.buffer.iter() {
            let place = *places.entry(packet.dst).or_insert(awaited.len());
            if place == awaited.len() {
                awaited.push((packet.dst, false));
            }
            awaited[place].1 |= self.is_own(packet);
        }
        awaited
    }

    /// When the first search is due for what is in the buffer.
    fn search_due(&self) -> Time {
        let state = (self.buffer.version(), self.requests.version());
        if let Some((of, due)) = self.search_due.get()
            && of == state
        {
            return due;
        }
        let due = |&(dst, own): &(NodeId, bool)| self.requests.due(dst, own, &self.params);
        let due = self.awaited().iter().map(due).min().unwrap_or(Time::NEVER);
        self.search_due.set(Some((state, due)));
        due
    }

    /// Does the node seek a route for the packet as its source does? Those of others without a header were
    /// kept here.
    fn is_own(&self, packet: &Packet) -> bool {
        packet.src == self.node || packet.dsr().is_none()
    }

    /// Does a packet of this node's own wait for a route to `dst`?
    pub(in crate::routing) fn awaits_own(&self, dst: NodeId) -> bool {
        self.buffer.iter().any(|packet| packet.dst == dst && self.is_own(packet))
    }

    /// After something was learned: packets need not wait for the next look at the buffer if that is exact.
    pub(super) fn release_if_exact(&mut self, now: Time, actions: &mut Vec<Action>) {
        if !self.checks_at_intervals() && !self.buffer.is_empty() {
            self.release(now, self.params.release_spacing(), actions);
        }
    }
}

impl Routing for Dsr {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            // One that was kept here still has the route that failed.
            packet.take_header();
            self.send_or_seek(now, packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        let header = packet.routing_header.clone();
        let Some(header) = header.as_deref().and_then(RoutingHeader::as_dsr) else {
            // Broadcast by another node's transport.
            actions.push(Action::Deliver(packet));
            return;
        };
        if let Some(request) = header.request {
            self.receive_request(now, packet, (header, request), self.params.reply_from_cache, actions);
        } else if packet.dst == self.node {
            self.receive(now, packet, header, actions);
        } else {
            self.forward(now, packet, header, actions);
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.fail_link(now, packet, next_hop, actions);
    }

    fn handle_flushed(&mut self, now: Time, packet: Packet, next_hop: NodeId, actions: &mut Vec<Action>) {
        self.fail_queued(now, packet, next_hop, actions);
    }

    fn wants_overheard(&self) -> bool {
        self.params.promiscuous
    }

    fn handle_overheard(
        &mut self,
        now: Time,
        packet: &Packet,
        from: NodeId,
        to: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.overhear(now, packet, from, to, actions);
    }

    fn takes_back_control(&self) -> bool {
        true
    }

    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        if now < self.next_timeout() {
            return;
        }
        self.buffer.expire(now, actions);
        let spacing = if self.params.space_all_releases { self.params.release_spacing() } else { Span::ZERO };
        self.release(now, spacing, actions);
        for (dst, own) in self.awaited() {
            self.seek(now, dst, own, actions);
        }
        self.check_at = if self.buffer.is_empty() || !self.checks_at_intervals() {
            Time::NEVER
        } else {
            now + self.check_interval()
        };
    }

    fn next_timeout(&self) -> Time {
        if self.checks_at_intervals() {
            return self.check_at;
        }
        self.search_due().min(self.buffer.next_expiry())
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        // A message that waits here where it was made gets its number, and its account, when it leaves.
        self.buffer.iter().filter(|packet| packet.uid != Packet::UNNUMBERED).for_each(visit);
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.cache.route(now, dst).map(|route| route.next_hop)
    }

    fn route_hops(&self, now: Time, dst: NodeId) -> Option<u32> {
        self.cache.route(now, dst)?.hops
    }

    fn source_route(&self, now: Time, dst: NodeId) -> Option<Vec<NodeId>> {
        self.cache.alternatives(now, dst, 1).pop().map(|route| route.to_vec())
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn take_route_changes(&mut self) -> Changes {
        self.cache.take_changes()
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        self.cache.route(now, dst)
    }
}
