//! The parameters of TORA and of IMEP beneath it.

use crate::kernel::Span;
use crate::params::params;

params! {
    /// The parameters of TORA over IMEP.
    pub struct ToraParams in "tora" {
        /// Time between beacons, or between the HELLOs in their place.
        beacon_interval_s: f64 = 1.0, "s", "ns-2.35, imep", [0.05, 1e4];
        /// How long a link is believed in without news: that the neighbour is heard, and that it hears.
        link_life_s: f64 = 3.0, "s", "ns-2.35, imep", [0.1, 1e5];
        /// Objects wait a time uniform below this for others to go with.
        object_wait_ms: f64 = 10.0, "ms", "ns-2.35, imep", [0.0, 1e4];
        /// Of a node's heights for one destination only the last waits; the others, which neighbours
        /// would answer one by one, are not told.
        latest_heights: bool = true, "", "a decision of this model";
        /// HELLOs and ACKs wait at least this long for objects to go with.
        least_wait_ms: f64 = 150.0, "ms", "ns-2.35, imep", [0.0, 1e4];
        /// They wait a time uniform below this in addition.
        extra_wait_ms: f64 = 100.0, "ms", "ns-2.35, imep", [0.0, 1e4];
        /// How long a block of objects waits for its ACKs before it is sent again.
        repeat_after_s: f64 = 0.5, "s", "ns-2.35, imep", [0.01, 1e3];
        /// How often it is sent again, before the links to those that are silent are taken for down.
        repeats: u32 = 2, "", "ns-2.35, imep", [0.0, 100.0];
        /// How long a missing block is waited for, before later ones are taken without it.
        gap_patience_s: f64 = 1.5, "s", "ns-2.35, imep", [0.01, 1e3];
        /// Minimum time between two queries of a node for the same destination.
        query_pause_s: f64 = 0.2, "s", "ns-2.35, tora", [0.0, 1e3];
        /// After so long a query without an answer is sent once more; 0: never.
        query_repeat_s: f64 = 3.0, "s", "a decision of this model", [0.0, 1e4];
        /// A neighbour that asks is taken to have a height that was told within this time.
        update_memory_s: f64 = 1.5, "s", "a decision of this model", [0.0, 1e4];
        /// Maximum number of packets that wait for routes; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "as AODV in ns-2", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "as AODV in ns-2", [0.1, 1e4];
    }
}

impl ToraParams {
    pub(super) fn link_life(&self) -> Span {
        Span::from_secs(self.link_life_s)
    }

    pub(super) fn gap_patience(&self) -> Span {
        Span::from_secs(self.gap_patience_s)
    }

    pub(super) fn repeat_after(&self) -> Span {
        Span::from_secs(self.repeat_after_s)
    }
}
