//! What becomes of a packet that came over a link, in every protocol that forwards hop by hop.

use super::Action;
use crate::drops::DropReason;
use crate::wire::{NodeId, Packet};

/// Delivers a data packet that is for `node` or for all, and drops one that came back to its source or may go
/// no farther. Any other comes back with its hop counted and is to be forwarded.
pub(super) fn accept(node: NodeId, packet: Packet, actions: &mut Vec<Action>) -> Option<Packet> {
    if packet.is_for(node) {
        actions.push(Action::Deliver(packet));
        None
    } else if packet.src == node {
        actions.push(Action::Drop(packet, DropReason::RoutingLoop));
        None
    } else {
        count_hop(packet, actions)
    }
}

/// Takes the next hop from a packet's time to live; drops it if there is none left (RFC 791 §3.2).
pub(super) fn count_hop(mut packet: Packet, actions: &mut Vec<Action>) -> Option<Packet> {
    if packet.ttl <= 1 {
        actions.push(Action::Drop(packet, DropReason::TtlExpired));
        return None;
    }
    packet.ttl -= 1;
    Some(packet)
}
