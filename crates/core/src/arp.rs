//! Address resolution with one held packet per neighbour, as BSD and ns-2 do it (RFC 826).
//!
//! *Implemented*: request by broadcast, reply by unicast, learning at the target; one packet held per
//! unresolved neighbour, a newer one replaces it; after the allowed number of requests the held packet and
//! the new one are reported as link failures.
//! *Not implemented*: expiry of entries, request retransmission by timer. The reasons are in
//! docs/models/interface-queue-and-arp.md, which numbers no deviation for ARP.

use std::collections::BTreeMap;

use crate::params::params;
use crate::wire::arp::ArpMessage;
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

params! {
    /// Parameters of address resolution.
    pub struct ArpParams in "arp" {
        /// Resolve addresses by ARP; off: every node knows every address.
        enabled: bool = true, "", "RFC 826";
        /// Number of requests for one neighbour before its packets are reported as undeliverable.
        max_requests: u32 = 3, "", "ns-2 ARP_MAX_REQUEST_COUNT", [1.0, 100.0];
        /// Learn the sender of every request that is received, as ns-2 does. In the standard only the node
        /// that the request asks for learns it; others only renew an entry that they have.
        learns_from_all: bool = false, "", "RFC 826";
        /// Delay between ARP and the interface queue.
        delay_us: f64 = 5.0, "µs", "ns-2 ARPTable delay_", [0.0, 1e6];
    }
}

/// What ARP asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum ArpAction {
    /// Send to the (resolved) neighbour.
    Send {
        /// The neighbour, or broadcast.
        to: NodeId,
        /// The body.
        body: Body,
    },
    /// The held packet was replaced by a newer one and ends here.
    Replaced(Packet),
    /// The neighbour does not answer.
    Unresolved {
        /// The neighbour.
        next_hop: NodeId,
        /// The packet that cannot be sent.
        packet: Packet,
    },
}

/// A neighbour. Small, because every node has one for everybody whom it ever talked to, and looks it up for
/// every packet.
#[derive(Default)]
struct Entry {
    resolved: bool,
    requests: u32,
    /// Apart, because it is large and there seldom.
    held: Option<Box<Packet>>,
}

/// The ARP table of one node.
pub struct Arp {
    node: NodeId,
    enabled: bool,
    max_requests: u32,
    learns_from_all: bool,
    entries: BTreeMap<NodeId, Entry>,
}

impl Arp {
    /// An empty table.
    pub fn new(node: NodeId, params: &ArpParams) -> Arp {
        Arp {
            node,
            enabled: params.enabled,
            max_requests: params.max_requests,
            learns_from_all: params.learns_from_all,
            entries: BTreeMap::new(),
        }
    }

    /// A packet for a neighbour.
    pub fn handle_outgoing(&mut self, packet: Packet, next_hop: NodeId, actions: &mut Vec<ArpAction>) {
        if !self.enabled {
            actions.push(ArpAction::Send { to: next_hop, body: Body::Ip(packet) });
            return;
        }
        let entry = self.entries.entry(next_hop).or_default();
        if entry.resolved {
            actions.push(ArpAction::Send { to: next_hop, body: Body::Ip(packet) });
        } else if entry.requests >= self.max_requests {
            entry.requests = 0;
            if let Some(held) = entry.held.take() {
                actions.push(ArpAction::Unresolved { next_hop, packet: *held });
            }
            actions.push(ArpAction::Unresolved { next_hop, packet });
        } else {
            entry.requests += 1;
            if let Some(old) = entry.held.replace(Box::new(packet)) {
                actions.push(ArpAction::Replaced(*old));
            }
            let request = ArpMessage::Request { from: self.node, wanted: next_hop };
            actions.push(ArpAction::Send { to: NodeId::BROADCAST, body: Body::Arp(request) });
        }
    }

    /// An ARP packet from the MAC.
    pub fn handle_message(&mut self, message: ArpMessage, actions: &mut Vec<ArpAction>) {
        let (ArpMessage::Request { from, wanted: target } | ArpMessage::Reply { from, to: target }) = message;
        // Addresses never change, so that a renewed entry is the same entry.
        if target != self.node && !self.learns_from_all {
            return;
        }
        let entry = self.entries.entry(from).or_default();
        entry.resolved = true;
        if let Some(held) = entry.held.take() {
            actions.push(ArpAction::Send { to: from, body: Body::Ip(*held) });
        }
        if let ArpMessage::Request { .. } = message
            && target == self.node
        {
            let reply = ArpMessage::Reply { from: self.node, to: from };
            actions.push(ArpAction::Send { to: from, body: Body::Arp(reply) });
        }
    }

    /// The packets that wait for an answer.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        self.entries.values().filter_map(|entry| entry.held.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: NodeId = NodeId(0);
    const PEER: NodeId = NodeId(1);
    const OTHER: NodeId = NodeId(2);

    fn knows_peer_after(params: &ArpParams, message: ArpMessage) -> bool {
        let mut arp = Arp::new(ME, params);
        arp.handle_message(message, &mut Vec::new());
        arp.entries.get(&PEER).is_some_and(|entry| entry.resolved)
    }

    /// RFC 826, Packet Reception: a new entry only if "I am the target protocol address".
    #[test]
    fn only_the_target_of_a_request_learns_its_sender() {
        let standard = ArpParams::default();
        assert!(knows_peer_after(&standard, ArpMessage::Request { from: PEER, wanted: ME }));
        assert!(!knows_peer_after(&standard, ArpMessage::Request { from: PEER, wanted: OTHER }));
        let ns2 = ArpParams { learns_from_all: true, ..standard };
        assert!(knows_peer_after(&ns2, ArpMessage::Request { from: PEER, wanted: OTHER }));
    }
}
