//! The parameters of Babel, and the times that follow from them.

use crate::kernel::{Span, Stream};
use crate::params::{choices, params};

choices! {
    /// How Hellos that were missed raise the cost of a link.
    pub enum LinkCost {
        /// The newest Hellos weigh most: a quarter each for the last three, then an eighth, a sixteenth, …
        /// (babeld).
        Recent = "recent",
        /// The share of the last six Hellos that came (after RFC 8966 A.2.2).
        Etx = "etx",
    }
}

choices! {
    /// What carries Babel's packets.
    pub enum Carrier {
        /// IPv6 between link-local addresses, as babeld does: a header of 40 bytes.
        Ipv6 = "ipv6",
        /// IPv4.
        Ipv4 = "ipv4",
    }
}

params! {
    /// The parameters of Babel.
    pub struct BabelParams in "babel" {
        /// Time between Hellos; each interval is drawn between three and five quarters of it.
        hello_interval_s: f64 = 4.0, "s", "RFC 8966 appendix B", [0.05, 600.0];
        /// Time between updates of all routes, drawn likewise.
        update_interval_s: f64 = 16.0, "s", "RFC 8966 appendix B", [0.05, 600.0];
        /// Every how many Hellos a neighbour on a good link is told that it is heard; on others with each.
        hellos_per_ihu: u32 = 3, "", "RFC 8966 appendix B", [1.0, 16.0];
        /// How many of its announced intervals an IHU is believed.
        ihu_hold: f64 = 3.5, "", "RFC 8966 appendix B", [1.0, 100.0];
        /// How many of its announced intervals an update is believed.
        route_hold: f64 = 3.5, "", "RFC 8966 appendix B", [1.0, 100.0];
        /// How long a feasibility distance is kept after the last update that was sent.
        source_hold_s: f64 = 180.0, "s", "RFC 8966 appendix B", [1.0, 1e5];
        /// How long an answer to a request is waited for; twice as long each time.
        request_wait_s: f64 = 2.0, "s", "RFC 8966 appendix B", [0.01, 1e4];
        /// How often a request is repeated.
        request_repeats: u32 = 3, "", "RFC 8966 appendix B", [0.0, 20.0];
        /// Hops that a request for a new sequence number may go.
        request_hops: u32 = 64, "hop", "RFC 8966 §3.8.2.1", [1.0, 255.0];
        /// How long a request that was passed on is remembered, unless it is answered: others like it are
        /// not passed on as long.
        request_memory_s: f64 = 1.9, "s", "RFC 8966 §3.8.1.2: recently", [0.0, 1e4];
        /// How long an urgent update waits: a route is lost, or new.
        urgent_s: f64 = 0.2, "s", "RFC 8966 appendix B", [0.0, 100.0];
        /// How long any other triggered update waits.
        triggered_s: f64 = 2.0, "s", "RFC 8966 §3.7.2", [0.0, 600.0];
        /// Does a full update wait as long as any other that is not urgent, so that it goes with a Hello?
        /// Off: it goes when it is due.
        dumps_wait: bool = false, "", "babeld 1.12";
        /// How long a request waits. babeld: a quarter of the interval of Hellos.
        request_s: f64 = 0.2, "s", "RFC 8966 appendix B", [0.0, 100.0];
        /// Does what a node has to tell go out at once when it asks for something?
        tells_first: bool = false, "", "babeld 1.14";
        /// Ask a neighbour for all its routes when the link to it can be used; off: its next update tells
        /// them.
        asks_neighbours: bool = true, "", "this model";
        /// How missed Hellos raise the cost of a link.
        link_cost: LinkCost = LinkCost::Etx, "", "RFC 8966 appendix A.2";
        /// Half-life of the metric by which routes are compared, so that a route must stay better for a while
        /// to be taken; 0: no smoothing.
        smoothing_s: f64 = 4.0, "s", "RFC 8966 appendix A.3", [0.0, 1e4];
        /// Take another route also if its metric is equal and its smoothed one lower.
        switches_to_equal: bool = false, "", "babeld 1.14";
        /// Follow an update of the selected route that is not feasible, and keep the route; off: ignore it.
        keeps_unfeasible: bool = false, "", "babeld 1.14";
        /// A frame that the MAC cannot deliver counts as the end of the neighbour's IHUs; off: only the
        /// packet is dropped.
        link_feedback: bool = false, "", "this model";
        /// What carries its packets.
        over: Carrier = Carrier::Ipv6, "", "RFC 8966 §4";
        /// Longest packet, IP header included.
        packet_bytes: u32 = 1500, "B", "RFC 8966 §4", [300.0, 65_535.0];
    }
}

impl BabelParams {
    /// The names of the parameter sets that [`BabelParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["rfc8966", "babeld"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<BabelParams> {
        match name {
            "rfc8966" => Some(BabelParams::default()),
            "babeld" => Some(BabelParams::babeld()),
            _ => None,
        }
    }

    /// babeld 1.14, with its times.
    pub fn babeld() -> BabelParams {
        BabelParams {
            ihu_hold: 10.0,
            // Seven eighths of six intervals.
            route_hold: 5.25,
            source_hold_s: 200.0,
            request_hops: 127,
            request_memory_s: 65.0,
            urgent_s: 0.1,
            triggered_s: 4.0,
            dumps_wait: true,
            request_s: 1.0,
            tells_first: true,
            asks_neighbours: false,
            link_cost: LinkCost::Recent,
            switches_to_equal: true,
            keeps_unfeasible: true,
            ..BabelParams::default()
        }
    }

    pub(super) fn until_hello(&self, stream: &mut Stream) -> Span {
        roughly(self.hello_interval_s, stream)
    }

    pub(super) fn until_update(&self, stream: &mut Stream) -> Span {
        roughly(self.update_interval_s, stream)
    }

    pub(super) fn source_hold(&self) -> Span {
        Span::from_secs(self.source_hold_s)
    }

    /// Its intervals as TLVs say them.
    pub(super) fn hello_centis(&self) -> u16 {
        centis(self.hello_interval_s)
    }

    pub(super) fn ihu_centis(&self) -> u16 {
        centis(self.hello_interval_s * f64::from(self.hellos_per_ihu))
    }

    pub(super) fn update_centis(&self) -> u16 {
        centis(self.update_interval_s)
    }
}

/// A time between three and five quarters of this.
pub(super) fn roughly(seconds: f64, stream: &mut Stream) -> Span {
    Span::from_secs(seconds * stream.uniform(0.75, 1.25))
}

fn centis(seconds: f64) -> u16 {
    (seconds * 100.0 + 0.5) as u16
}

/// A time that a TLV says.
pub(super) fn of_centis(centis: u16) -> Span {
    Span::from_millis(10 * u64::from(centis))
}
