//! A routing table entry (3.2.1 and Table 3.1).
//!
//! **Deviations** (docs/models/adv.md): 12 and 13 (the odd number of an invalid route).

use crate::kernel::Time;
use crate::routing::table;
use crate::wire::NodeId;
use crate::wire::adv::INFINITE;

/// What a node knows of another.
///
/// The field *packets queued* of Table 3.1 is a question to the buffer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Route {
    pub(super) dst: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) metric: u8,
    pub(super) seqno: u32,
    /// *Packets handled*: data packets lately sent towards it; above zero this node is a forwarding node to
    /// it.
    pub(super) handled: u32,
    /// Its metric has risen from 1 since it was last heard.
    pub(super) has_risen: bool,
    /// *Receiver flag*: it is an active receiver.
    pub(super) is_receiver: bool,
    /// *Advertisement count*: the number of partial updates that shall name it.
    pub(super) advertise: u32,
    /// A neighbour asked for a route, for packets that wait there or farther on, and this node has none to
    /// answer with.
    pub(super) is_asked_for: bool,
    /// When a data packet was last sent towards it.
    pub(super) used_at: Option<Time>,
    /// When it became an active receiver, a data packet was last sent towards it, or somebody asked for it.
    pub(super) active_at: Time,
}

impl Route {
    /// A node of which nothing is known.
    pub(super) fn unknown(dst: NodeId) -> Route {
        Route {
            dst,
            next_hop: dst,
            metric: INFINITE,
            seqno: 0,
            handled: 0,
            has_risen: false,
            is_receiver: false,
            advertise: 0,
            is_asked_for: false,
            used_at: None,
            active_at: Time::ZERO,
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.metric != INFINITE
    }

    /// *Forwarding node*: has this node lately sent packets towards the destination?
    pub(super) fn is_forwarded(&self) -> bool {
        self.handled > 0
    }

    /// Takes the way through `next_hop`.
    pub(super) fn adopt(&mut self, next_hop: NodeId, metric: u8, seqno: u32) {
        (self.next_hop, self.metric, self.seqno) = (next_hop, metric, seqno);
    }

    /// The route is broken, or no longer believed. The odd number makes that fresher than the route, and the
    /// destination's next number fresher still.
    pub(super) fn invalidate(&mut self) {
        self.metric = INFINITE;
        self.seqno |= 1;
    }

    /// Sets the receiver flag; true if it was clear.
    pub(super) fn become_receiver(&mut self, now: Time) -> bool {
        let was_receiver = std::mem::replace(&mut self.is_receiver, true);
        if !was_receiver {
            self.active_at = now;
        }
        !was_receiver
    }

    /// One more partial update shall name it.
    pub(super) fn count_up(&mut self) {
        self.advertise = self.advertise.saturating_add(1);
    }

    /// One partial update less, but never below zero.
    pub(super) fn count_down(&mut self) {
        self.advertise = self.advertise.saturating_sub(1);
    }
}

impl table::Entry for Route {
    fn dst(&self) -> NodeId {
        self.dst
    }
}
