//! The parameters of ABR, and the times and lengths that follow from them.

use crate::kernel::Span;
use crate::params::params;
use crate::wire::abr::{self, Kind, Message};
use crate::wire::{IP_HEADER_BYTES, NodeId};

params! {
    /// The parameters of ABR.
    pub struct AbrParams in "abr" {
        /// Time between a node's beacons.
        beacon_interval_s: f64 = 1.0, "s", "Toh 1997, from memory", [0.05, 1000.0];
        /// Each interval is longer or shorter by up to this share of it.
        beacon_jitter: f64 = 0.1, "", "a decision of this model", [0.0, 0.4];
        /// Beacons missed in a row with which a neighbour is lost, and its ticks with it.
        missed_beacons: u32 = 2, "", "a decision of this model", [1.0, 1000.0];
        /// Ticks from which on a link is stable: twice the range over the way of a beacon interval, here 250
        /// m at 10 m/s.
        threshold_ticks: u32 = 50, "", "the rule from memory, the value a decision of this model", [1.0, 1e6];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_layer_feedback: bool = true, "", "as AODV";
        /// Routes that a node may relay and be taken like others that relay fewer.
        max_load: u32 = 8, "", "the rule from memory, the value a decision of this model", [1.0, 65535.0];
        /// How long the destination waits after the first query before it chooses.
        choice_wait_ms: f64 = 50.0, "ms", "a decision of this model", [0.0, 1e5];
        /// How long the source waits for the answer to a broadcast query.
        query_wait_s: f64 = 1.0, "s", "a decision of this model", [0.01, 1000.0];
        /// Broadcast queries of a search.
        query_tries: u32 = 3, "", "a decision of this model", [1.0, 16.0];
        /// Links that a broadcast query may cross.
        query_ttl: u32 = 35, "hop", "as AODV's NET_DIAMETER, RFC 3561 §10", [1.0, 255.0];
        /// How long a query is remembered, so that it is passed on once.
        query_memory_s: f64 = 10.0, "s", "a decision of this model", [0.1, 1e5];
        /// How long a node waits for the answer to a localised query, for each link that it may cross.
        local_wait_s: f64 = 0.2, "s", "a decision of this model", [0.001, 1000.0];
        /// How long a route lives that is not used.
        route_life_s: f64 = 10.0, "s", "a decision of this model", [0.1, 1e5];
        /// The source floods a route delete when its last flow to a destination is over; off: routes expire.
        route_delete: bool = false, "", "Toh 1997, from memory: either";
        /// Every broadcast but beacons waits a time uniform below this.
        broadcast_jitter_ms: f64 = 10.0, "ms", "RFC 5148 §5.3", [0.0, 1e4];
        /// Maximum number of packets that wait for routes; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "as AODV in ns-2", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "as AODV in ns-2", [0.1, 1e5];
        /// Length of a beacon, IP header not included.
        beacon_bytes: u32 = 24, "B", "a decision of this model", [16.0, 1500.0];
        /// Length of any other message without its nodes.
        header_bytes: u32 = 16, "B", "a decision of this model", [16.0, 255.0];
        /// Length of each node in a query: address, ticks, load, place.
        hop_bytes: u32 = 12, "B", "a decision of this model", [12.0, 255.0];
        /// Length of each node in a reply.
        node_bytes: u32 = 4, "B", "a decision of this model", [4.0, 255.0];
    }
}

impl AbrParams {
    pub(super) fn beacon_interval(&self) -> Span {
        Span::from_secs(self.beacon_interval_s)
    }

    pub(super) fn choice_wait(&self) -> Span {
        Span::from_secs(self.choice_wait_ms * 1e-3)
    }

    pub(super) fn query_wait(&self) -> Span {
        Span::from_secs(self.query_wait_s)
    }

    pub(super) fn query_memory(&self) -> Span {
        Span::from_secs(self.query_memory_s)
    }

    /// How long a localised query that may cross so many links is waited for.
    pub(super) fn local_wait(&self, links: u8) -> Span {
        Span::from_secs(self.local_wait_s * f64::from(links) + self.choice_wait_ms * 1e-3)
    }

    pub(super) fn route_life(&self) -> Span {
        Span::from_secs(self.route_life_s)
    }

    pub(super) fn buffer_timeout(&self) -> Span {
        Span::from_secs(self.buffer_timeout_s)
    }

    pub(super) fn broadcast_jitter(&self) -> Span {
        Span::from_secs(self.broadcast_jitter_ms * 1e-3)
    }

    /// The length of a message at the IP layer.
    pub(super) fn bytes(&self, message: &Message) -> u32 {
        let nodes = self.hop_bytes.max(abr::HOP_BYTES) * message.hops.len() as u32
            + self.node_bytes.max(abr::NODE_BYTES) * message.nodes.len() as u32;
        let header = if message.kind == Kind::Beacon { self.beacon_bytes } else { self.header_bytes };
        IP_HEADER_BYTES + header.max(abr::HEADER_BYTES) + nodes
    }
}

/// Source and destination of a route.
pub(super) type Ends = (NodeId, NodeId);
