//! What may stand around routing at a node: two contracts, and what keeps them.
//!
//! An [`Interceptor`] stands between routing and the link layer: it sees what routing sends on or gives up,
//! what comes up for routing, and what next hops take. TCP-BuS, base stations, AIRMAIL and INSIGNIA are
//! interceptors.
//! A [`Throttle`] stands between the node's own endpoints and routing: it lets their data go at the rates of
//! their flows, which it may learn by announcements. The two know nothing of each other. Most networks have
//! neither. Routing protocols do not know of them: a packet that one lets go comes to
//! [`Routing::handle_outgoing`](crate::routing::Routing::handle_outgoing) as any other does.
//!
//! **Contract of both.** The network calls one `handle_*` at a time, carries out the actions in their order,
//! and afterwards asks `next_timeout`. Time never runs backwards; an early call of `handle_timeout` does
//! nothing. A packet that goes in by value comes back from the call, or is kept and shown by `kept` until it
//! goes out in exactly one action. The packet audit checks this in every run.

mod airmail;
mod around;
mod base_station;
mod density;
mod insignia;
mod m_tcp;
mod params;
mod relay;
mod split;
mod tcp_bus;
#[cfg(test)]
mod tests;
mod throttle;

use crate::drops::DropReason;
use crate::kernel::Time;
use crate::routing::Notice;
use crate::transport::tcp::{BaseStationMode, RouteFailureScheme, TcpParams};
use crate::wire::insignia::Level;
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, FlowId, NodeId, Packet, Payload};

pub(crate) use around::{Stage, Stages};
pub use insignia::{Asking, Insignia};
pub use params::{Adaptation, InsigniaMode, InsigniaParams, Sharing, ThrottleMode, ThrottleParams};
pub use throttle::{OwnFlow, Rates, Throttle, ThrottleAction};

pub use relay::{SplitFlow, Splits};

use airmail::Airmail;
use base_station::BaseStation;
use m_tcp::Supervisory;
use split::Split;
use tcp_bus::TcpBus;

/// What an interceptor asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum InterceptorAction {
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
    /// The packet's connection ends here: it has arrived.
    Deliver(Packet),
    /// The packet comes up for routing from this neighbour, later than it arrived.
    Up(Packet, NodeId),
    /// Send a packet of its own to another node.
    Send {
        /// The other node.
        to: NodeId,
        /// Its length at the IP layer.
        bytes: u32,
        /// What it carries.
        payload: Payload,
    },
    /// A packet of a flow that may ask for a reservation has reached its destination.
    Served {
        /// The flow.
        flow: FlowId,
        /// Did the packet arrive with a reservation?
        is_reserved: bool,
        /// What the packet says that its flow has, if it says that.
        level: Option<Level>,
    },
}

/// What stands between routing and the link layer at one node. See the module's head. The defaults let
/// everything pass.
pub trait Interceptor: Send {
    /// The interface queue holds so many packets; told before each [`Interceptor::handle_outgoing`].
    fn see_queue(&mut self, _waiting: usize) {}

    /// Routing sends a packet on to a neighbour. Returns it if it shall go.
    fn handle_outgoing(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet>;

    /// Routing gives up a packet. Returns it if it is not kept.
    fn handle_given_up(
        &mut self,
        _now: Time,
        packet: Packet,
        _reason: DropReason,
        _out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        Some(packet)
    }

    /// A packet comes up for routing. Returns it if it is not kept.
    fn handle_arrival(
        &mut self,
        now: Time,
        mut packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        self.handle_incoming(now, &mut packet, out);
        Some(packet)
    }

    /// The same for those that keep none: it may change on the way.
    fn handle_incoming(&mut self, _now: Time, _packet: &mut Packet, _out: &mut Vec<InterceptorAction>) {}

    /// A next hop has acknowledged a packet.
    fn handle_taken(&mut self, _now: Time, _packet: &Packet, _out: &mut Vec<InterceptorAction>) {}

    /// A packet was dropped at this node, for whatever reason and at whatever layer.
    fn handle_dropped(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _reason: DropReason,
        _out: &mut Vec<InterceptorAction>,
    ) {
    }

    /// Routing tells the other layers something.
    fn handle_notice(&mut self, _now: Time, _notice: Notice, _out: &mut Vec<InterceptorAction>) {}

    /// The node crashes and forgets everything.
    fn handle_crash(&mut self, _out: &mut Vec<InterceptorAction>) {}

    /// The deadline of [`Interceptor::next_timeout`] has come.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>);

    /// When it next wants to be woken; [`Time::NEVER`] if it does not.
    fn next_timeout(&self) -> Time;

    /// Calls `visit` for every packet that is kept, in a fixed order.
    fn kept(&self, visit: &mut dyn FnMut(&Packet));
}

/// What the wired links of a scenario make of a node.
pub struct Wires {
    /// Who is at the other ends of its wires.
    pub hosts: Vec<NodeId>,
    /// The neighbours to which its routes go over the radio.
    pub cell: Vec<NodeId>,
    /// The flows of whose connections it makes two, if base stations do.
    pub splits: Splits,
}

/// What stands between routing and the link layer at a node of a scenario with these wires, if it has any;
/// nothing if the parameters ask for nothing. Where there are wires, base stations come before TCP-BuS, which
/// has nothing to do where routes do not fail.
pub fn interceptor(node: NodeId, params: &TcpParams, wires: Option<Wires>) -> Option<Box<dyn Interceptor>> {
    match (wires, params.base_station) {
        (None, _) | (_, BaseStationMode::None) => {}
        (Some(wires), BaseStationMode::Airmail) => {
            return Some(Box::new(Airmail::new(node, params, wires.cell)));
        }
        (Some(wires), BaseStationMode::Split) => return Some(Box::new(Split::new(wires.splits))),
        (Some(wires), BaseStationMode::MTcp) => return Some(Box::new(Supervisory::new(wires.splits))),
        (Some(wires), mode) => return Some(Box::new(BaseStation::new(mode, wires.hosts))),
    }
    let has_part = params.route_failure == RouteFailureScheme::TcpBus && params.bus_buffer_packets > 0;
    has_part.then(|| Box::new(TcpBus::new(node, params)) as Box<dyn Interceptor>)
}
