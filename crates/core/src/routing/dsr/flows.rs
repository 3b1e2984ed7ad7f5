//! Flow state: packets without a source route (RFC 4728 §3.5), as ns-2.35 has it.
//!
//! A source numbers each route that its packets to a destination take. The first packets of such a *flow*
//! carry the source route and the flow's number, which the nodes on the way remember; the following ones
//! carry the number alone, or nothing if the flow is the newest of its source and destination, the *default
//! flow*. A node that does not know a flow says so to its source, and salvages the packet.
//!
//! *Deviations* (docs/models/dsr.md): 6 (what ns-2.35 does differently from the standard).

use smallvec::SmallVec;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::{Action, relay};
use crate::wire::dsr::{FlowMark, Header, Route, UnknownFlow};
use crate::wire::{NodeId, Packet, RoutingHeader};

use super::flow_table::Fate;
use super::node::Dsr;

impl Dsr {
    fn flow_timeout(&self) -> Span {
        Span::from_secs(self.params.flow_timeout_s)
    }

    /// The route that a packet takes when `found` is the cached one, and the mark of its flow. Requests,
    /// replies and errors about links always carry their source route, and so do packets of others.
    pub(super) fn choose_flow(
        &mut self,
        now: Time,
        packet: &Packet,
        header: &Header,
        found: &[NodeId],
    ) -> (Route, Option<FlowMark>) {
        let is_control = header.request.is_some() || header.reply.is_some() || !header.errors.is_empty();
        if !self.params.flow_state || is_control || packet.src != self.node {
            return (Route::from_slice(found), None);
        }
        let (route, mark) = self.flows.send(now, packet, found, &self.params);
        (route, Some(mark))
    }

    /// A packet with a source route tells the nodes on it of its flow.
    pub(super) fn remember_flow(&mut self, now: Time, packet: &Packet, header: &Header) {
        let life = self.flow_timeout();
        if let Some(FlowMark::Establishes(id)) = header.flow
            && let Some(here) = header.place_of(self.node)
        {
            self.flows.remember(now, packet, id, (&header.route, here), life);
        }
    }

    /// A packet of another node without a source route.
    pub(super) fn forward_by_flow(
        &mut self,
        now: Time,
        packet: Packet,
        header: &Header,
        mark: FlowMark,
        actions: &mut Vec<Action>,
    ) {
        match self.flows.next_hop(now, &packet, mark, self.flow_timeout()) {
            Ok(next_hop) => {
                if let Some(packet) = relay::count_hop(packet, actions) {
                    actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
                }
            }
            Err(id) => self.report_unknown_flow(now, packet, header, id, actions),
        }
    }

    /// The packet is salvaged, and its source is told that its flow `id`, or its default flow, is not known
    /// here.
    fn report_unknown_flow(
        &mut self,
        now: Time,
        mut packet: Packet,
        header: &Header,
        id: Option<u16>,
        actions: &mut Vec<Action>,
    ) {
        let (src, dst) = (packet.src, packet.dst);
        if src == self.node {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        }
        let without_flow = Header { flow: None, ..header.clone() };
        packet.put_header(RoutingHeader::Dsr(without_flow.clone()));
        self.rescue(now, packet, &without_flow, None, actions);
        let mut unknown_flows = without_flow.unknown_flows;
        if unknown_flows.len() < self.params.max_nested_errors as usize {
            unknown_flows.push(UnknownFlow { src, dst, id });
            let header = Header { unknown_flows, salvaged: header.salvaged, ..self.header() };
            let error = self.control(now, src, u8::MAX, header);
            self.send_or_seek(now, error, actions);
        }
    }

    /// Errors about flows have come here. The newest is for this node; those that it carries for others are
    /// what is left.
    pub(super) fn learn_unknown_flows(&mut self, header: &Header) -> SmallVec<[UnknownFlow; 1]> {
        let mut unknown_flows = header.unknown_flows.clone();
        while let Some(unknown) = unknown_flows.last().copied().filter(|unknown| unknown.src == self.node) {
            // ns-2.35 looks for a default flow under a number that it has not set, and so finds none.
            if let Some(id) = unknown.id {
                self.flows.establish_again(unknown.dst, id);
            }
            unknown_flows.pop();
        }
        unknown_flows
    }

    /// A packet that could not be delivered gets the source route of its flow, if it had none, and with it
    /// the next hop that has failed. None if that was all that could be done with it.
    pub(super) fn restore_route(
        &mut self,
        now: Time,
        mut packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) -> Option<(Packet, NodeId)> {
        let header = packet.dsr();
        let Some((header, mark)) =
            header.and_then(|header| Some((header.clone(), header.flow?))).filter(|of| of.0.route.is_empty())
        else {
            return Some((packet, next_hop));
        };
        match self.flows.fate(now, self.node, &packet, mark) {
            Fate::Known(route, here) => {
                let next_hop = route.get(here + 1).copied().unwrap_or(next_hop);
                packet.put_header(RoutingHeader::Dsr(Header { route, flow: None, ..header }));
                Some((packet, next_hop))
            }
            Fate::Over => {
                actions.push(Action::Drop(packet, DropReason::LinkFailure));
                None
            }
            Fate::NoDefault => {
                self.report_unknown_flow(now, packet, &header, None, actions);
                None
            }
        }
    }
}
