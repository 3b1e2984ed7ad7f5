//! Address resolution with one held packet per neighbour (RFC 826; RFC 1122 §2.3.2).
//!
//! *Implemented*: request by broadcast, reply by unicast, learning at the target; one packet held per
//! unresolved neighbour, a newer one replaces it; requests that wait for a random time and are repeated by a
//! timer, or, as in ns-2, one request for each packet; after the allowed number of requests the packet that
//! waits is reported as a link failure.
//! *Not implemented*: expiry of entries. The reasons are in docs/models/interface-queue-and-arp.md, which
//! numbers no deviation for ARP.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::{Span, Stream, Time};
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
        /// A request waits a time uniform below this, so that neighbours that ask at the same instant do not
        /// collide; 0: it is sent at once.
        request_jitter_ms: f64 = 10.0, "ms", "RFC 5148 §5; ns-2: 0", [0.0, 1e4];
        /// A request without an answer is repeated after this time, whatever packets come meanwhile; 0: each
        /// packet that needs the address sends a request, and nothing else does.
        retry_interval_ms: f64 = 100.0, "ms", "RFC 1122 §2.3.2.1: 1000; ns-2: 0", [0.0, 1e5];
        /// Learn the sender of every request that is received, as ns-2 does. In the standard only the node
        /// that the request asks for learns it; others only renew an entry that they have.
        learns_from_all: bool = false, "", "RFC 826";
        /// Delay between ARP and the interface queue.
        delay_us: f64 = 5.0, "µs", "ns-2 ARPTable delay_", [0.0, 1e6];
    }
}

impl ArpParams {
    /// Requests for each packet, at once, and the senders of all requests learned, as in ns-2.
    pub fn ns_2() -> ArpParams {
        ArpParams {
            request_jitter_ms: 0.0,
            retry_interval_ms: 0.0,
            learns_from_all: true,
            ..ArpParams::default()
        }
    }

    /// Are requests repeated by a timer?
    pub fn has_timer(&self) -> bool {
        self.enabled && self.retry_interval_ms > 0.0
    }
}

/// What ARP asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum ArpAction {
    /// Send to the (resolved) neighbour.
    Send {
        /// The neighbour.
        to: NodeId,
        /// The body.
        body: Body,
    },
    /// Broadcast a request.
    Ask {
        /// The request.
        request: ArpMessage,
        /// How long to hold it first (jitter).
        delay: Span,
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

/// A neighbour that was asked for and has not answered.
struct Search {
    /// Requests so far, at least one.
    requests: u32,
    held: Packet,
    /// When the next request is due, or the search is given up; [`Time::NEVER`] without a timer.
    due: Time,
}

/// The ARP table of one node. `next_timeout` says when to wake it.
pub struct Arp {
    node: NodeId,
    enabled: bool,
    max_requests: u32,
    learns_from_all: bool,
    jitter: Span,
    /// None: packets ask, and no timer does.
    retry_interval: Option<Span>,
    stream: Stream,
    resolved: BTreeSet<NodeId>,
    /// By neighbour; none of them is resolved.
    searches: BTreeMap<NodeId, Search>,
}

impl Arp {
    /// An empty table. `stream` is used for jitter only.
    pub fn new(node: NodeId, params: &ArpParams, stream: Stream) -> Arp {
        let interval = Span::from_micros(params.retry_interval_ms * 1e3);
        Arp {
            node,
            enabled: params.enabled,
            max_requests: params.max_requests,
            learns_from_all: params.learns_from_all,
            jitter: Span::from_micros(params.request_jitter_ms * 1e3),
            retry_interval: params.has_timer().then_some(interval.max(Span(1))),
            stream,
            resolved: BTreeSet::new(),
            searches: BTreeMap::new(),
        }
    }

    /// A packet for a neighbour.
    pub fn handle_outgoing(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<ArpAction>,
    ) {
        if !self.enabled || self.resolved.contains(&next_hop) {
            actions.push(ArpAction::Send { to: next_hop, body: Body::Ip(packet) });
            return;
        }
        let Some(search) = self.searches.get_mut(&next_hop) else {
            let due = self.retry_interval.map_or(Time::NEVER, |interval| now + interval);
            self.searches.insert(next_hop, Search { requests: 1, held: packet, due });
            return self.ask(next_hop, actions);
        };
        if self.retry_interval.is_none() && search.requests >= self.max_requests {
            if let Some(search) = self.searches.remove(&next_hop) {
                actions.push(ArpAction::Unresolved { next_hop, packet: search.held });
            }
            actions.push(ArpAction::Unresolved { next_hop, packet });
            return;
        }
        // RFC 1122 §2.3.2.2: at least the latest packet is saved.
        actions.push(ArpAction::Replaced(std::mem::replace(&mut search.held, packet)));
        if self.retry_interval.is_none() {
            search.requests += 1;
            self.ask(next_hop, actions);
        }
    }

    /// An ARP packet from the MAC.
    pub fn handle_message(&mut self, message: ArpMessage, actions: &mut Vec<ArpAction>) {
        let (ArpMessage::Request { from, wanted: target } | ArpMessage::Reply { from, to: target }) = message;
        // Addresses never change, so that a renewed entry is the same entry.
        if target != self.node && !self.learns_from_all {
            return;
        }
        self.resolved.insert(from);
        if let Some(search) = self.searches.remove(&from) {
            actions.push(ArpAction::Send { to: from, body: Body::Ip(search.held) });
        }
        if let ArpMessage::Request { .. } = message
            && target == self.node
        {
            let reply = ArpMessage::Reply { from: self.node, to: from };
            actions.push(ArpAction::Send { to: from, body: Body::Arp(reply) });
        }
    }

    /// The deadline of [`Arp::next_timeout`] has come: requests are repeated, and searches given up.
    pub fn handle_timeout(&mut self, now: Time, actions: &mut Vec<ArpAction>) {
        let due = self.searches.iter().filter(|(_, search)| search.due <= now);
        for next_hop in due.map(|(&next_hop, _)| next_hop).collect::<Vec<_>>() {
            self.ask_again_or_give_up(now, next_hop, actions);
        }
    }

    /// When a request is due to be repeated; [`Time::NEVER`] if none is.
    pub fn next_timeout(&self) -> Time {
        self.searches.values().map(|search| search.due).min().unwrap_or(Time::NEVER)
    }

    /// The packets that wait for an answer.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        self.searches.values().map(|search| &search.held)
    }

    fn ask_again_or_give_up(&mut self, now: Time, next_hop: NodeId, actions: &mut Vec<ArpAction>) {
        let (Some(interval), Some(search)) = (self.retry_interval, self.searches.get_mut(&next_hop)) else {
            return;
        };
        if search.requests < self.max_requests {
            search.requests += 1;
            search.due = now + interval;
            self.ask(next_hop, actions);
        } else if let Some(search) = self.searches.remove(&next_hop) {
            actions.push(ArpAction::Unresolved { next_hop, packet: search.held });
        }
    }

    fn ask(&mut self, wanted: NodeId, actions: &mut Vec<ArpAction>) {
        let delay = if self.jitter == Span::ZERO { Span::ZERO } else { self.stream.span_below(self.jitter) };
        actions.push(ArpAction::Ask { request: ArpMessage::Request { from: self.node, wanted }, delay });
    }
}

#[cfg(test)]
mod tests;
