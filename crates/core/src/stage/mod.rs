//! Stages around routing: the contract, and what stands behind it.
//!
//! A stage is one node's state machine that sees what the node's own endpoints make, what routing sends on or
//! gives up, what comes up for routing, and what next hops take, and that may keep packets back. Most
//! networks have none, and then a packet's way is a branch or two longer and no more. Routing protocols do
//! not know of stages: a packet that a stage lets go comes to
//! [`Routing::handle_outgoing`](crate::routing::Routing::handle_outgoing) as any other does.
//!
//! **Contract.** The network calls one `handle_*` at a time, carries out the actions in their order, and
//! afterwards asks [`Stage::next_timeout`]. Time never runs backwards; an early call of
//! [`Stage::handle_timeout`] does nothing. A packet that goes in by value comes back from the call, or is
//! kept and shown by [`Stage::kept`] until it goes out in exactly one action. The packet audit checks this in
//! every run.

mod base_station;
mod density;
mod params;
mod tcp_bus;
#[cfg(test)]
mod tests;
mod throttle;

use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Stream, Time};
use crate::routing::Notice;
use crate::transport::tcp::{BaseStationMode, RouteFailureScheme, TcpParams};
use crate::wire::density::{Announcement, FlowKey};
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, FlowId, NodeId, Packet};

pub use params::{Sharing, ThrottleMode, ThrottleParams};
pub use throttle::{OwnFlow, Rates};

use base_station::BaseStation;
use tcp_bus::TcpBus;
use throttle::Throttle;

/// What a stage asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum StageAction {
    /// Routing shall find a way for this packet from here.
    Route(Packet),
    /// Tell the sender of a connection, which may be at this node.
    Tell {
        /// The connection.
        connection: ConnectionId,
        /// Its source.
        source: NodeId,
        /// What it is told.
        segment: Segment,
        /// Its length at the IP layer.
        bytes: u32,
    },
    /// The packet is kept no longer, for this reason.
    Drop(Packet, DropReason),
    /// Send this to all neighbours in a packet of its own.
    Announce(Arc<Announcement>),
    /// A flow of this node has another rate from now on.
    Rate {
        /// The flow.
        flow: FlowId,
        /// Length of its path.
        hops: u8,
        /// Its share.
        share: f64,
        /// The rate, bit/s of payload.
        rate_bps: f64,
    },
}

/// One node's stage. See the module's head. The defaults let everything pass.
pub trait Stage: Send {
    /// An endpoint at this node has made a packet. Returns it if it shall go to routing now.
    fn handle_made(&mut self, _now: Time, packet: Packet, _out: &mut Vec<StageAction>) -> Option<Packet> {
        Some(packet)
    }

    /// Routing sends a packet on to a neighbour. Returns it if it shall go.
    fn handle_outgoing(&mut self, _now: Time, packet: Packet, _out: &mut Vec<StageAction>) -> Option<Packet> {
        Some(packet)
    }

    /// Routing gives up a packet. Returns it if it is not kept.
    fn handle_given_up(
        &mut self,
        _now: Time,
        packet: Packet,
        _reason: DropReason,
        _out: &mut Vec<StageAction>,
    ) -> Option<Packet> {
        Some(packet)
    }

    /// A packet comes up for routing, which may change on the way.
    fn handle_incoming(&mut self, _now: Time, _packet: &mut Packet, _out: &mut Vec<StageAction>) {}

    /// A next hop has acknowledged a packet.
    fn handle_taken(&mut self, _now: Time, _packet: &Packet, _out: &mut Vec<StageAction>) {}

    /// A packet was dropped at this node, for whatever reason and at whatever layer.
    fn handle_dropped(&mut self, _now: Time, _packet: &Packet, _out: &mut Vec<StageAction>) {}

    /// Routing tells the other layers something.
    fn handle_notice(&mut self, _now: Time, _notice: Notice, _out: &mut Vec<StageAction>) {}

    /// A packet of a flow, on its way from the flow's source to its destination, goes to a neighbour, or to
    /// all.
    fn handle_sent(&mut self, _now: Time, _flow: FlowKey, _to: NodeId, _out: &mut Vec<StageAction>) {}

    /// A packet of a flow, on its way from the flow's source to its destination, came from a neighbour.
    fn handle_received(&mut self, _now: Time, _flow: FlowKey, _from: NodeId, _out: &mut Vec<StageAction>) {}

    /// A neighbour has announced its flows.
    fn handle_announcement(
        &mut self,
        _now: Time,
        _from: NodeId,
        _announcement: &Arc<Announcement>,
        _out: &mut Vec<StageAction>,
    ) {
    }

    /// A message of the routing protocol goes to all neighbours. Returns what shall go with it.
    fn handle_broadcast(&mut self, _now: Time, _out: &mut Vec<StageAction>) -> Option<Arc<Announcement>> {
        None
    }

    /// The deadline of [`Stage::next_timeout`] has come.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<StageAction>);

    /// When the stage next wants to be woken; [`Time::NEVER`] if it does not.
    fn next_timeout(&self) -> Time;

    /// Calls `visit` for every packet that is kept, in a fixed order.
    fn kept(&self, visit: &mut dyn FnMut(&Packet));
}

/// What a node does that has wires to these hosts, if base stations do anything.
pub fn base_station(params: &TcpParams, hosts: Vec<NodeId>) -> Option<Box<dyn Stage>> {
    let mode = params.base_station;
    (mode != BaseStationMode::None).then(|| Box::new(BaseStation::new(mode, hosts)) as Box<dyn Stage>)
}

/// The part of a node in TCP-BuS, if its senders have nodes do their part.
pub fn tcp_bus(node: NodeId, params: &TcpParams) -> Option<Box<dyn Stage>> {
    let has_part = params.route_failure == RouteFailureScheme::TcpBus && params.bus_buffer_packets > 0;
    has_part.then(|| Box::new(TcpBus::new(node, params)) as Box<dyn Stage>)
}

/// The throttles of a node with these own flows; none if nothing is throttled anywhere.
pub fn throttle(
    node: NodeId,
    params: &ThrottleParams,
    udp_header_bytes: u32,
    flows: Vec<OwnFlow>,
    stream: Stream,
) -> Option<Box<dyn Stage>> {
    let is_on = params.mode != ThrottleMode::Off;
    is_on.then(|| Box::new(Throttle::new(node, params, udp_header_bytes, flows, stream)) as Box<dyn Stage>)
}
