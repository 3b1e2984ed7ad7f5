//! One node's LUNAR: what it knows, and what it does with data.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::LunarParams;
use super::selectors::{Leads, Selectors};
use super::state::{Path, Search, Waiting};
use crate::drops::DropReason;
use crate::kernel::{MAX_TIME_S, Span, Stream, Time};
use crate::routing::buffer::PacketBuffer;
use crate::routing::changes::Tracked;
use crate::routing::seen::SeenRequests;
use crate::routing::{Action, Changes, RouteNow, Routing, relay};
use crate::wire::lunar::{Label, Message, Selector};
use crate::wire::{NodeId, Packet, Payload, RoutingHeader};

/// See the module's head.
pub(super) struct Lunar {
    pub(super) node: NodeId,
    pub(super) params: Arc<LunarParams>,
    pub(super) stream: Stream,
    pub(super) selectors: Selectors,
    /// The newest path to each destination, alive or dead.
    pub(super) paths: Tracked<BTreeMap<NodeId, Path>>,
    pub(super) searches: BTreeMap<NodeId, Search>,
    /// Packets that wait for the end of a search for their destination.
    pub(super) buffer: PacketBuffer,
    pub(super) seen: SeenRequests,
    /// Requests to be passed on after their jitter.
    pub(super) waiting: Vec<Waiting>,
    /// The number of this node's last request.
    pub(super) number: u32,
}

impl Lunar {
    pub(super) fn new(node: NodeId, params: Arc<LunarParams>, stream: Stream) -> Lunar {
        Lunar {
            node,
            stream,
            selectors: Selectors::new(),
            paths: Tracked::default(),
            searches: BTreeMap::new(),
            buffer: PacketBuffer::new(params.buffer_packets),
            seen: SeenRequests::default(),
            waiting: Vec::new(),
            number: 0,
            params,
        }
    }

    /// Sends a packet along the path to its destination, if there is one; otherwise it comes back.
    pub(super) fn send(
        &mut self,
        now: Time,
        mut packet: Packet,
        delay: Span,
        actions: &mut Vec<Action>,
    ) -> Option<Packet> {
        let Some(path) = self.paths.get_mut(&packet.dst).filter(|path| path.until > now) else {
            return Some(packet);
        };
        path.is_used = true;
        if self.params.data_prolongs {
            path.until = now + self.params.lifetime();
        }
        let next_hop = path.next;
        packet.put_header(RoutingHeader::Lunar(self.params.label(path.selector)));
        actions.push(Action::Send { packet, next_hop, delay });
        None
    }

    /// Swaps the label of a data packet, or takes it off at the end of the path. A packet whose selector
    /// leads nowhere ends here, and nobody is told.
    fn forward(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let selector = packet.label().map(|label| label.selector);
        let leads = selector.and_then(|selector| self.selectors.get(now, selector));
        if self.params.data_prolongs
            && let Some(selector) = selector
        {
            self.selectors.prolong(now, self.params.lifetime(), selector);
        }
        match leads {
            Some(Leads::Here) if packet.dst == self.node => {
                packet.take_header();
                actions.push(Action::Deliver(packet));
            }
            Some(Leads::On { to, selector }) => {
                let Some(mut packet) = relay::count_hop(packet, actions) else { return };
                packet.put_header(RoutingHeader::Lunar(self.params.label(selector)));
                actions.push(Action::Send { packet, next_hop: to, delay: Span::ZERO });
            }
            _ => actions.push(Action::Drop(packet, DropReason::DeadSelector)),
        }
    }
}

impl LunarParams {
    fn label(&self, selector: Selector) -> Label {
        Label { selector, bytes: self.header_bytes }
    }
}

impl Routing for Lunar {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        // What a stage has kept here still has the label with which it was to go on.
        packet.take_header();
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else if let Some(packet) = self.send(now, packet, Span::ZERO, actions) {
            let dst = packet.dst;
            // Packets leave with the end of the search; no longer wait than any run ends it earlier.
            self.buffer.push(now, packet, Span::from_secs(MAX_TIME_S), actions);
            self.search(now, dst, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        match packet.payload {
            Payload::Lunar(Message::Rreq(rreq)) => {
                actions.push(Action::Consume(packet));
                self.receive_rreq(now, rreq, from, actions);
            }
            Payload::Lunar(Message::Rrep(rrep)) => self.receive_rrep(now, packet, rrep, from, actions),
            _ if !packet.is_data() => actions.push(Action::Consume(packet)),
            _ if packet.dst.is_broadcast() => actions.push(Action::Deliver(packet)),
            _ => self.forward(now, packet, actions),
        }
    }

    fn suppress_duplicate(
        &mut self,
        now: Time,
        packet: &Packet,
        _from: NodeId,
        _actions: &mut Vec<Action>,
    ) -> bool {
        match &packet.payload {
            Payload::Lunar(Message::Rreq(rreq)) => self.has_seen(now, rreq.series),
            _ => false,
        }
    }

    /// Losses are not taken for broken links: the next discovery finds out.
    fn handle_link_failure(&mut self, _now: Time, packet: Packet, _to: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    fn knows_mac_addresses(&self) -> bool {
        true
    }

    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.pass_on_due(now, actions);
        self.continue_searches(now, actions);
        self.refresh_paths(now, actions);
    }

    fn next_timeout(&self) -> Time {
        let waiting = self.waiting.iter().map(|waiting| waiting.due);
        let searches = self.searches.values().map(|search| search.deadline);
        let refreshes = self.paths.values().map(|path| path.refresh_at);
        waiting.chain(searches).chain(refreshes).min().unwrap_or(Time::NEVER)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
    }

    /// Nodes on the way know selectors, not destinations: only the source of a path has a next hop.
    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.paths.get(&dst).filter(|path| path.until > now).map(|path| path.next)
    }

    fn take_route_changes(&mut self) -> Changes {
        self.paths.take_changes()
    }

    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let path = self.paths.get(&dst).filter(|path| path.until > now)?;
        Some(RouteNow { next_hop: path.next, hops: None, until: path.until })
    }
}
