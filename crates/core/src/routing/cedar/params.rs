//! The parameters of CEDAR, and the times that follow from them.

use crate::kernel::Span;
use crate::params::params;

params! {
    /// The parameters of CEDAR.
    pub struct CedarParams in "cedar" {
        /// Time between beacons.
        beacon_interval_s: f64 = 1.0, "s", "assumed", [0.05, 600.0];
        /// Each interval is off by up to this share of it, in either direction.
        beacon_jitter: f64 = 0.1, "", "assumed", [0.0, 0.5];
        /// Intervals without a beacon after which a neighbour is lost.
        allowed_beacon_loss: u32 = 3, "", "assumed", [1.0, 100.0];
        /// Intervals that a node listens before it chooses its first dominator.
        listen_beacons: u32 = 3, "", "assumed", [0.0, 100.0];
        /// How long a source waits for an answer to its first request; twice as long for each further one.
        search_wait_s: f64 = 1.0, "s", "assumed", [0.01, 1e4];
        /// Requests of a search.
        search_tries: u32 = 3, "", "assumed", [1.0, 16.0];
        /// How long a core node remembers a core broadcast.
        find_memory_s: f64 = 5.0, "s", "assumed", [0.001, 1e4];
        /// How long a source keeps a route that it does not use.
        route_life_s: f64 = 30.0, "s", "assumed", [0.1, 1e5];
        /// How long a link is not used that is known to have broken, whatever beacons say.
        broken_link_s: f64 = 1.0, "s", "assumed", [0.0, 1e4];
        /// The node before a broken link sends packets around it, if it knows a way; off: it drops them.
        reroute: bool = true, "", "from memory: Sivakumar, Sinha and Bharghavan 1999";
        /// Maximum number of packets that wait for routes; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "assumed, as AODV in ns-2", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "assumed, as AODV in ns-2", [0.1, 1e4];
    }
}

impl CedarParams {
    pub(super) fn beacon_interval(&self) -> Span {
        Span::from_secs(self.beacon_interval_s)
    }

    pub(super) fn patience(&self) -> Span {
        self.beacon_interval() * u64::from(self.allowed_beacon_loss)
    }

    pub(super) fn listening(&self) -> Span {
        self.beacon_interval() * u64::from(self.listen_beacons)
    }

    /// How long a source waits after a request, when `before` others of the search were sent before it.
    pub(super) fn wait(&self, before: u32) -> Span {
        Span::from_secs(self.search_wait_s * f64::from(1_u32 << before.min(16)))
    }

    pub(super) fn route_life(&self) -> Span {
        Span::from_secs(self.route_life_s)
    }
}
