//! The parameters of SSA, and the times and powers that follow from them.

use super::signals::to_dbw;
use crate::kernel::Span;
use crate::params::{choices, params};
use crate::radio::RadioParams;
use crate::wire::ssa::{Message, Preference};
use crate::wire::{IP_HEADER_BYTES, ssa};

choices! {
    /// Over which links the second search for a destination may come.
    pub enum SecondSearch {
        /// All.
        Any = "any",
        /// Strong ones first.
        StrongPreferred = "strong-preferred",
    }
}

params! {
    /// The parameters of SSA.
    pub struct SsaParams in "ssa" {
        /// Time between a node's beacons.
        beacon_interval_s: f64 = 1.0, "s", "Dube et al. 1997, from memory", [0.05, 1000.0];
        /// Each interval is longer or shorter by up to this share of it.
        beacon_jitter: f64 = 0.1, "", "a decision of this model", [0.0, 0.4];
        /// Weight of what was known of a neighbour's strength, when a new beacon tells of it.
        smoothing: f64 = 0.8, "", "the rule from memory, the value a decision of this model", [0.0, 0.999];
        /// By how much the strength must exceed `radio.receive_threshold_w`: 3.9 dB are four fifths of the
        /// range over two-ray ground.
        strong_margin_db: f64 = 3.9, "dB", "a decision of this model", [-30.0, 60.0];
        /// Beacons in a row at such a strength that make a link strong.
        strong_clicks: u32 = 5, "", "the rule from memory, the value a decision of this model", [1.0, 10_000.0];
        /// Beacons missed in a row that break the link.
        missed_beacons: u32 = 3, "", "Dube et al. 1997, from memory", [1.0, 1000.0];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_layer_feedback: bool = true, "", "as AODV";
        /// How long a search waits for its answer.
        search_wait_s: f64 = 1.0, "s", "a decision of this model", [0.01, 1000.0];
        /// Over which links the second search may come; the first takes strong ones only.
        second_search: SecondSearch = SecondSearch::Any, "", "Dube et al. 1997: the user's choice";
        /// How long a search that prefers strong links, and came over a weak one, waits for a copy over a
        /// strong one.
        weak_wait_ms: f64 = 40.0, "ms", "a decision of this model", [0.0, 1e5];
        /// Links that a search may cross.
        search_ttl: u32 = 35, "hop", "as AODV's NET_DIAMETER, RFC 3561 §10", [1.0, 255.0];
        /// How long a search is remembered, so that it is passed on once.
        search_memory_s: f64 = 10.0, "s", "a decision of this model", [0.1, 1e5];
        /// How long a route lives that is not used.
        route_life_s: f64 = 10.0, "s", "a decision of this model", [0.1, 1e5];
        /// Every search waits a time uniform below this at each node.
        broadcast_jitter_ms: f64 = 10.0, "ms", "RFC 5148 §5.3", [0.0, 1e4];
        /// Maximum number of packets that wait for routes; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "as AODV in ns-2", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "as AODV in ns-2", [0.1, 1e5];
        /// Length of a message without its nodes, IP header not included.
        header_bytes: u32 = 16, "B", "a decision of this model", [16.0, 255.0];
        /// Length of each node in one.
        node_bytes: u32 = 4, "B", "a decision of this model", [4.0, 255.0];
    }
}

impl SsaParams {
    pub(super) fn beacon_interval(&self) -> Span {
        Span::from_secs(self.beacon_interval_s)
    }

    pub(super) fn search_wait(&self) -> Span {
        Span::from_secs(self.search_wait_s)
    }

    pub(super) fn weak_wait(&self) -> Span {
        Span::from_secs(self.weak_wait_ms * 1e-3)
    }

    pub(super) fn search_memory(&self) -> Span {
        Span::from_secs(self.search_memory_s)
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

    /// What a beacon must have to count as strong, in dBW.
    pub(super) fn strong_dbw(&self, radio: &RadioParams) -> f64 {
        to_dbw(radio.receive_threshold_w) + self.strong_margin_db
    }

    pub(super) fn second_preference(&self) -> Preference {
        match self.second_search {
            SecondSearch::Any => Preference::Any,
            SecondSearch::StrongPreferred => Preference::StrongPreferred,
        }
    }

    /// The length of a message at the IP layer.
    pub(super) fn bytes(&self, message: &Message) -> u32 {
        let (header, node) = (self.header_bytes.max(ssa::HEADER_BYTES), self.node_bytes.max(ssa::NODE_BYTES));
        IP_HEADER_BYTES + header + node * message.nodes.len() as u32
    }
}
