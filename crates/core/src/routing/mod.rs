//! Routing protocols: the contract, and the protocols.
//!
//! **Contract.** A protocol is one node's state machine. It has no clock, no queue and no radio: time comes
//! in by argument, packets go out as [`Action`]s, and random numbers come from the stream it was given. One
//! that asks where nodes are is given a [`Place`].
//! The network calls one `handle_*` at a time, carries out the actions in their order, and afterwards asks
//! [`Routing::next_timeout`] when the protocol wants to be woken. Time never runs backwards; an early call of
//! `handle_timeout` does nothing.
//!
//! Every packet that goes in by value comes out in exactly one action, or stays in the protocol's buffer and
//! is counted by [`Routing::buffered`]; a control message that is consumed comes out as
//! [`Action::Consume`]. The packet audit checks this in every run.

pub mod abr;
pub mod adv;
pub mod aodv;
pub mod babel;
pub mod batman;
mod buffer;
mod by_node;
pub mod cedar;
mod changes;
pub mod dsdv;
pub mod dsr;
pub mod dymo;
pub mod flooding;
mod known;
pub mod lunar;
pub mod olsr;
mod place;
#[cfg(test)]
mod probe;
mod relay;
pub mod rip;
mod seen;
pub mod ssa;
mod static_routes;
mod table;
pub mod tora;
pub mod tsr;
mod whole_path;
pub mod zrp;

#[cfg(test)]
pub(crate) mod testbench;

pub use changes::Changes;
pub use known::KnownLinks;
pub use place::Place;
pub use static_routes::{RouteTable, StaticRoutes, shortest_hops, shortest_hops_over};
pub(crate) use whole_path::whole_path;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::wire::{NodeId, Packet};

/// What a routing protocol asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Send the packet to `next_hop` after `delay` (through ARP and the interface queue).
    Send {
        /// The packet.
        packet: Packet,
        /// The neighbour that shall receive it.
        next_hop: NodeId,
        /// How long to hold it first.
        delay: Span,
    },
    /// Send the packet to all neighbours after `delay`.
    Broadcast {
        /// The packet.
        packet: Packet,
        /// How long to hold it first (jitter).
        delay: Span,
    },
    /// Hand the packet to the transport endpoint at this node.
    Deliver(Packet),
    /// The packet ends here, for this reason.
    Drop(Packet, DropReason),
    /// The control message ends here: its content has been used, or it is a duplicate.
    Consume(Packet),
    /// Take all IP packets for this neighbour out of the interface queue, for [`NodeId::BROADCAST`] those
    /// that are for all neighbours; each comes back by [`Routing::handle_flushed`].
    FlushQueue(NodeId),
    /// Tell the other layers.
    Notify(Notice),
}

impl Action {
    /// The packet that the action hands out.
    pub fn packet(&self) -> Option<&Packet> {
        match self {
            Action::Send { packet, .. }
            | Action::Broadcast { packet, .. }
            | Action::Deliver(packet)
            | Action::Drop(packet, _)
            | Action::Consume(packet) => Some(packet),
            Action::FlushQueue(_) | Action::Notify(_) => None,
        }
    }
}

/// What routing tells the other layers: one small set for all protocols (see docs/decisions.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// This node found the route to `dst` broken at its own link, or was told so.
    RouteFailed {
        /// The destination that cannot be reached any more.
        dst: NodeId,
        /// Was the failure told by another node (true), or seen at this node's own link (false)?
        told: bool,
    },
    /// This node has a route to `dst` again.
    RouteFound {
        /// The destination.
        dst: NodeId,
    },
    /// This node holds TCP's packets to `dst` while it probes routes, see [`tsr`].
    Hold {
        /// The destination.
        dst: NodeId,
        /// What happens in the hold.
        step: HoldStep,
    },
}

impl Notice {
    /// The destination that it is about.
    pub fn dst(self) -> NodeId {
        match self {
            Notice::RouteFailed { dst, .. } | Notice::RouteFound { dst } | Notice::Hold { dst, .. } => dst,
        }
    }
}

/// What happens in a hold, or after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldStep {
    /// It begins. The TCP senders at this node whose connections go to the destination tell their
    /// retransmission time-out by [`ConnectionEvent::RetransmissionTimeout`].
    Begins,
    /// A probe is sent.
    Probes,
    /// An answer to a probe arrived; perhaps when the hold was over.
    Answered,
    /// It ends.
    Ends {
        /// Because the destination answered (true), or because its timer expired (false)?
        answered: bool,
    },
}

impl HoldStep {
    /// What recordings call it.
    pub fn name(self) -> &'static str {
        match self {
            HoldStep::Begins => "begins",
            HoldStep::Probes => "probes",
            HoldStep::Answered => "answered",
            HoldStep::Ends { answered: true } => "ends-answered",
            HoldStep::Ends { answered: false } => "ends-timed-out",
        }
    }
}

/// What the transports of a node tell its routing protocol: at the source of a flow, before its first packet
/// and after its last, and when they are asked. Other nodes, the destination among them, are told nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionEvent {
    /// A flow from this node to `dst` begins.
    Opened {
        /// The destination.
        dst: NodeId,
        /// Do packets come back from the destination (TCP)?
        two_way: bool,
    },
    /// A flow from this node to `dst` is over: a CBR source has made its last packet, a TCP sender has all
    /// data acknowledged and will get no more. A flow that goes on until the run ends is never over.
    Closed {
        /// The destination.
        dst: NodeId,
        /// Did packets come back from the destination?
        two_way: bool,
    },
    /// The answer to [`HoldStep::Begins`].
    RetransmissionTimeout {
        /// The destination.
        dst: NodeId,
        /// The retransmission time-out of a TCP sender at this node, its back-off included.
        rto: Span,
    },
}

/// A route, as the protocol would use it now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteNow {
    /// The neighbour that it begins with.
    pub next_hop: NodeId,
    /// Over how many links it goes, as far as this node knows.
    pub hops: Option<u32>,
    /// Up to when it stays like this, unless something happens meanwhile; perhaps for longer.
    pub until: Time,
}

/// The state machine of one node. See the module's head.
pub trait Routing: Send {
    /// The node starts, perhaps later than the run. Its first deadlines are set here: when it was made there
    /// was no time yet.
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>);

    /// A flow of this node begins or is over. Most protocols do not care.
    fn handle_connection(&mut self, _now: Time, _event: ConnectionEvent, _actions: &mut Vec<Action>) {}

    /// A packet that is to go out from here: from this node's own transport, or from another node's and kept
    /// here by a [stage](crate::stage). A way is sought for both alike.
    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>);

    /// A packet from the link layer: traffic to deliver or forward, or a control message. `packet.hops`
    /// already counts the link just crossed; `packet.ttl` does not.
    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>);

    /// A broadcast from the link layer, to look at before it comes by [`Routing::handle_incoming`];
    /// `packet.hops` does not count the link just crossed. True if it repeats what this node knows, and the
    /// node has learned all there is to learn from it: then it counts as consumed. False if nothing is done.
    /// Most of what a flood brings is repetition, which this spares the copy of the packet.
    fn suppress_duplicate(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _from: NodeId,
        _actions: &mut Vec<Action>,
    ) -> bool {
        false
    }

    /// The MAC (or ARP) could not bring the packet to `next_hop`.
    fn handle_link_failure(&mut self, now: Time, packet: Packet, next_hop: NodeId, actions: &mut Vec<Action>);

    /// A packet that [`Action::FlushQueue`] took out of the interface queue. Unless told otherwise it shares
    /// the fate of the one that failed.
    fn handle_flushed(&mut self, _now: Time, packet: Packet, _next_hop: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    /// Does the protocol listen to packets that are addressed to others? Asked once, before the run begins.
    fn wants_overheard(&self) -> bool {
        false
    }

    /// A packet that the MAC of `from` sent to the MAC of `to`, another node than this, was received intact
    /// here too. Called only if [`Routing::wants_overheard`]; the packet is not this node's, and stays where
    /// it is.
    fn handle_overheard(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _from: NodeId,
        _to: NodeId,
        _actions: &mut Vec<Action>,
    ) {
    }

    /// Does the protocol want to know how strong the frames are that bring it packets? Asked once, before the
    /// run begins.
    fn wants_rx_power(&self) -> bool {
        false
    }

    /// The packet that comes up next (by [`Routing::suppress_duplicate`], [`Routing::handle_incoming`] or
    /// [`Routing::handle_overheard`]) was received from the neighbour `from` at this power, in W: that of its
    /// last frame's first bit, shadows and fading included. Called only if [`Routing::wants_rx_power`], and
    /// not for packets that a wire brings.
    fn handle_rx_power(&mut self, _now: Time, _from: NodeId, _power_w: f64) {}

    /// Does the protocol learn its neighbours' MAC addresses by itself, so that nothing that it sends needs
    /// ARP? Asked once, before the run begins.
    fn knows_mac_addresses(&self) -> bool {
        false
    }

    /// Shall the protocol's own packets, too, come back by [`Routing::handle_link_failure`] when they cannot
    /// be delivered? Otherwise they are dropped.
    fn takes_back_control(&self) -> bool {
        false
    }

    /// The deadline of [`Routing::next_timeout`] has come.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>);

    /// When the protocol next wants to be woken; [`Time::NEVER`] if it does not.
    fn next_timeout(&self) -> Time;

    /// Calls `visit` for every packet that the protocol holds.
    fn buffered(&self, visit: &mut dyn FnMut(&Packet));

    /// How many entries the tables hold at `now` on other nodes and their messages, for tests that all of
    /// them end with their time; none from a protocol that does not tell.
    fn remembered(&self, _now: Time) -> Option<usize> {
        None
    }

    /// No [`Notice`] of this node reaches anybody, and [`Routing::take_route_changes`] is not asked: a
    /// protocol whose routes are dear may compute them when they are used. Called at most once, before all
    /// else.
    fn compute_when_asked(&mut self) {}

    /// The next hop towards `dst` that the protocol would use now, for recordings, tests and loop checks.
    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId>;

    /// Over how many links the route goes that a data packet to `dst` would be sent on now, as far as this
    /// node knows; none without a route.
    fn route_hops(&self, _now: Time, _dst: NodeId) -> Option<u32> {
        None
    }

    /// All nodes of the route that a data packet to `dst` would be sent on now, this one first, if the source
    /// of a packet decides about them; none without a route, and from protocols that go from hop to hop.
    fn source_route(&self, _now: Time, _dst: NodeId) -> Option<Vec<NodeId>> {
        None
    }

    /// What the node knows of the network's links, from a protocol that keeps sets of them.
    fn known_links(&self, _now: Time) -> Option<KnownLinks> {
        None
    }

    /// What [`Routing::next_hop`] and [`Routing::route_hops`] answer, and up to when they do.
    fn route_now(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let next_hop = self.next_hop(now, dst)?;
        Some(RouteNow { next_hop, hops: self.route_hops(now, dst), until: Time::NEVER })
    }

    /// The destinations for which [`Routing::route_now`] may answer otherwise than when this was asked last,
    /// not counting routes that have ended by themselves. A recorder looks up these routes only.
    fn take_route_changes(&mut self) -> Changes {
        Changes::ALL
    }

    /// Does the protocol know how long its routes are, and answer [`Routing::route_hops`]? Asked once, before
    /// the run begins.
    fn knows_route_hops(&self) -> bool {
        false
    }

    /// The probability that a packet crosses a chain of so many hops when nothing else is sent. The shared
    /// suite of tests holds a protocol to it; one that forwards by chance promises less than certainty.
    #[cfg(test)]
    fn delivery_odds(&self, _hops: u32) -> f64 {
        1.0
    }
}
