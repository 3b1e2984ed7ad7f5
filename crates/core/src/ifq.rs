//! The interface queue between link layer and MAC.

use std::collections::VecDeque;

use crate::mac::Body;
use crate::packet::NodeId;
use crate::params::{choices, params};

choices! {
    /// Where routing packets stand in the queue.
    pub enum RoutingPriority {
        /// Before everything else, the newest first (ns-2's `PriQueue`).
        NewestFirst = "newest-first",
        /// Before everything else, in order of arrival.
        InOrder = "in-order",
        /// Among all others.
        None = "none",
    }
}

params! {
    /// Parameters of the interface queue.
    pub struct QueueParams in "queue" {
        /// Packets that the queue holds.
        packets: u32 = 50, "packet", "ns-2 Queue limit_", [1.0, 1_000_000.0];
        /// Where routing packets stand.
        routing_priority: RoutingPriority = RoutingPriority::InOrder, "", "ns-2 Queue/DropTail/PriQueue";
    }
}

/// What waits for the MAC: a frame's body and the neighbour it is for.
#[derive(Clone, PartialEq, Debug)]
pub struct Outgoing {
    /// The neighbour, or broadcast.
    pub to: NodeId,
    /// The body.
    pub body: Body,
}

/// See the module's head.
pub struct InterfaceQueue {
    limit: usize,
    priority: RoutingPriority,
    waiting: VecDeque<Outgoing>,
    /// How many at the front are routing packets.
    routing: usize,
}

impl InterfaceQueue {
    /// An empty queue.
    pub fn new(params: &QueueParams) -> InterfaceQueue {
        InterfaceQueue {
            limit: params.packets as usize,
            priority: params.routing_priority,
            waiting: VecDeque::new(),
            routing: 0,
        }
    }

    /// Puts `outgoing` into the queue; returns what must be dropped because the queue is full: a new packet,
    /// or, for a routing packet with priority, the last of the queue.
    pub fn push(&mut self, outgoing: Outgoing) -> Option<Outgoing> {
        let first = outgoing.body.is_routing() && self.priority != RoutingPriority::None;
        if !first {
            if self.waiting.len() >= self.limit {
                return Some(outgoing);
            }
            self.waiting.push_back(outgoing);
            return None;
        }
        match self.priority {
            RoutingPriority::NewestFirst => self.waiting.push_front(outgoing),
            _ => self.waiting.insert(self.routing, outgoing),
        }
        self.routing += 1;
        if self.waiting.len() > self.limit {
            self.routing = self.routing.min(self.limit);
            return self.waiting.pop_back();
        }
        None
    }

    /// The next for the MAC.
    pub fn pop(&mut self) -> Option<Outgoing> {
        self.routing = self.routing.saturating_sub(1);
        self.waiting.pop_front()
    }

    /// Moves all IP packets for `neighbour` into `taken`, in order.
    pub fn flush(&mut self, neighbour: NodeId, taken: &mut Vec<Outgoing>) {
        let mut at = 0;
        while at < self.waiting.len() {
            if self.waiting[at].to == neighbour && matches!(self.waiting[at].body, Body::Ip(_)) {
                taken.extend(self.waiting.remove(at));
                if at < self.routing {
                    self.routing -= 1;
                }
            } else {
                at += 1;
            }
        }
    }

    /// All that waits, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Outgoing> {
        self.waiting.iter()
    }

    /// Does nothing wait?
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
