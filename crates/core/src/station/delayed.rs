//! What the layers' delays hold back.

use std::rc::Rc;

use crate::ifq::Outgoing;
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

/// Something that a layer's delay holds back.
pub(crate) enum Delayed {
    /// From routing to ARP (jitter).
    Down { node: u32, packet: Packet, next_hop: NodeId },
    /// From the link layer to the interface queue.
    Enqueue { node: u32, outgoing: Outgoing },
    /// An IP packet from the MAC to routing.
    Up { node: u32, body: Rc<Body>, from: NodeId, power_w: Option<f64> },
    /// Over a wired link to a node.
    OverWire { node: u32, packet: Packet, from: NodeId },
}

impl Delayed {
    /// Is it held back at this node? What is on a wire is at none.
    pub(crate) fn is_at(&self, at: u32) -> bool {
        match *self {
            Delayed::Down { node, .. } | Delayed::Enqueue { node, .. } | Delayed::Up { node, .. } => {
                node == at
            }
            Delayed::OverWire { .. } => false,
        }
    }

    /// What is held back.
    pub(crate) fn into_body(self) -> Body {
        match self {
            Delayed::Down { packet, .. } | Delayed::OverWire { packet, .. } => Body::Ip(packet),
            Delayed::Enqueue { outgoing, .. } => outgoing.body,
            Delayed::Up { body, .. } => Rc::unwrap_or_clone(body),
        }
    }

    /// The packet that is held back, unless it is ARP's.
    pub(crate) fn packet(&self) -> Option<&Packet> {
        match self {
            Delayed::Down { packet, .. } | Delayed::OverWire { packet, .. } => Some(packet),
            Delayed::Enqueue { outgoing, .. } => outgoing.body.packet(),
            Delayed::Up { body, .. } => body.packet(),
        }
    }
}
