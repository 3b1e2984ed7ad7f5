//! The parameters of ZRP.

use crate::kernel::Span;
use crate::params::params;

params! {
    /// The parameters of ZRP.
    pub struct ZrpParams in "zrp" {
        /// Hops to the nodes at the border of a zone (ρ); 1: a zone has neighbours only.
        radius: u32 = 2, "hop", "SWANS", [1.0, 64.0];
        /// Time between beacons to neighbours.
        beacon_interval_s: f64 = 1.0, "s", "a decision of this model, as AODV's hellos", [0.05, 1e4];
        /// By which part of it each of these intervals may be longer or shorter.
        beacon_jitter: f64 = 0.1, "", "a decision of this model", [0.0, 0.9];
        /// Beacons that may be missed before a neighbour is lost.
        missed_beacons: u32 = 3, "", "SWANS", [1.0, 100.0];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_layer_feedback: bool = true, "", "a decision of this model";
        /// A node tells its neighbours' list within the zone when it changes, and at least so often.
        link_state_interval_s: f64 = 10.0, "s", "an agent for ns-2", [0.1, 1e4];
        /// How long such a list is believed.
        link_state_life_s: f64 = 30.0, "s", "a decision of this model; SWANS 600, an agent for ns-2 10", [0.1, 1e5];
        /// Lists and queries wait a time uniform below this.
        jitter_ms: f64 = 10.0, "ms", "a decision of this model; SWANS 4000, an agent for ns-2 1000", [0.0, 1e4];
        /// How long a node remembers which parts of the network a query has covered.
        query_life_s: f64 = 30.0, "s", "an agent for ns-2", [0.1, 1e4];
        /// How long a query waits for a reply before it is sent again; it doubles each time.
        query_wait_s: f64 = 1.0, "s", "a decision of this model; an agent for ns-2 5", [0.01, 1e3];
        /// Queries of a search.
        query_tries: u32 = 3, "", "a decision of this model", [1.0, 16.0];
        /// Replies to one query that a node passes on.
        replies: u32 = 3, "", "an agent for ns-2", [1.0, 1000.0];
        /// How long a route of a reply may be used after it was learned or last used.
        route_life_s: f64 = 10.0, "s", "a decision of this model; an agent for ns-2 120", [0.1, 1e5];
        /// A node whose next link is broken replaces it by a way through its zone.
        repair: bool = true, "", "from memory of the drafts";
        /// Maximum number of packets that wait for routes; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "as AODV in ns-2", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "as AODV in ns-2", [0.1, 1e4];
    }
}

impl ZrpParams {
    pub(super) fn jitter(&self) -> Span {
        Span::from_secs(self.jitter_ms * 1e-3)
    }

    pub(super) fn beacon_interval(&self) -> Span {
        Span::from_secs(self.beacon_interval_s)
    }

    /// How long a neighbour may be silent.
    pub(super) fn patience(&self) -> Span {
        self.beacon_interval().scaled(f64::from(self.missed_beacons) * (1.0 + self.beacon_jitter))
    }

    pub(super) fn link_state_interval(&self) -> Span {
        Span::from_secs(self.link_state_interval_s)
    }

    pub(super) fn query_life(&self) -> Span {
        Span::from_secs(self.query_life_s)
    }
}
