//! The parameters of OLSR, and the times that follow from them.

use crate::kernel::{Span, Stream};
use crate::params::{choices, params};
use crate::wire::olsr::TimeCode;

choices! {
    /// What makes a route the best.
    pub enum Metric {
        /// The number of its links (RFC 3626 §10).
        Hops = "hops",
        /// The expected number of transmissions over it, by the qualities of its links (olsrd).
        Etx = "etx",
    }
}

params! {
    /// The parameters of OLSR.
    pub struct OlsrParams in "olsr" {
        /// Longest time between HELLOs.
        hello_interval_s: f64 = 2.0, "s", "RFC 3626 §18.2", [0.05, 1e4];
        /// Longest time between TCs.
        tc_interval_s: f64 = 5.0, "s", "RFC 3626 §18.2", [0.05, 1e4];
        /// A HELLO comes earlier than its interval by a time uniform below this; never before half of it.
        hello_jitter_s: f64 = 0.5, "s", "RFC 3626 §18.3", [0.0, 1e4];
        /// The same for a TC.
        tc_jitter_s: f64 = 0.5, "s", "RFC 3626 §18.3", [0.0, 1e4];
        /// Another node's message waits a time uniform below this before it is passed on; all that comes
        /// meanwhile goes with it.
        forward_jitter_s: f64 = 0.5, "s", "RFC 3626 §3.4.1", [0.0, 1e4];
        /// Let a TC of the node's own wait as others' do, up to the next HELLO; off: it goes when it is due,
        /// and what waits goes with it.
        tcs_wait: bool = false, "", "olsrd 0.9.8";
        /// How long neighbours believe a HELLO.
        hello_validity_s: f64 = 6.0, "s", "RFC 3626 §18.3", [0.1, 1e4];
        /// How long nodes believe a TC.
        tc_validity_s: f64 = 15.0, "s", "RFC 3626 §18.3", [0.1, 1e4];
        /// How long a link that was lost is remembered, and called lost in HELLOs.
        neighbour_hold_s: f64 = 6.0, "s", "RFC 3626 §18.3", [0.1, 1e4];
        /// How long a message is remembered, so that it is passed on once.
        duplicate_hold_s: f64 = 30.0, "s", "RFC 3626 §18.3", [0.1, 1e4];
        /// Remember of each originator its newest message and which of the 31 before it came, as olsrd does;
        /// off: each message.
        duplicate_window: bool = false, "", "olsrd 0.9.8";
        /// Which links TCs tell of: 0, those to neighbours that chose this node as relay; 1, also those to
        /// its relays; 2, those to all neighbours.
        tc_redundancy: u32 = 0, "", "RFC 3626 §15.1", [0.0, 2.0];
        /// Over how many relays each two-hop neighbour is to be reached, where there are as many.
        mpr_coverage: u32 = 1, "", "RFC 3626 §16.1", [1.0, 100.0];
        /// Willingness of every node to be a relay: 0 never, 7 always.
        willingness: u32 = 3, "", "RFC 3626 §18.8", [0.0, 7.0];
        /// Take a link for established only when packets arrive steadily.
        hysteresis: bool = false, "", "RFC 3626 §14";
        /// Weight of the newest packet in the hysteresis.
        hysteresis_scaling: f64 = 0.5, "", "RFC 3626 §14.2", [0.0, 1.0];
        /// Quality above which a link is established.
        hysteresis_high: f64 = 0.8, "", "RFC 3626 §14.2", [0.0, 1.0];
        /// Quality below which a link is lost.
        hysteresis_low: f64 = 0.3, "", "RFC 3626 §14.2", [0.0, 1.0];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_feedback: bool = false, "", "RFC 3626 §13";
        /// Send a TC at once when one of the links that it told of is lost.
        triggered_tc: bool = false, "", "RFC 3626 §9.3";
        /// What makes a route the best.
        metric: Metric = Metric::Hops, "", "RFC 3626 §10";
        /// Let most TCs go 2 to 16 hops only, so that far nodes hear one in eight.
        fish_eye: bool = false, "", "olsrd 0.9.8";
        /// Shortest time between computations of routes; 0: at every change.
        route_gap_s: f64 = 0.0, "s", "olsrd 0.9.8", [0.0, 1e4];
        /// Longest packet, IP header included, as long as it is not a single message.
        packet_bytes: u32 = 1500, "B", "RFC 3626 §3.3", [100.0, 65_535.0];
    }
}

impl OlsrParams {
    /// The names of the parameter sets that [`OlsrParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["rfc3626", "olsrd", "olsrd-mobile", "link-state"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<OlsrParams> {
        match name {
            "rfc3626" => Some(OlsrParams::default()),
            "olsrd" => Some(OlsrParams::olsrd()),
            "olsrd-mobile" => Some(OlsrParams::olsrd_mobile()),
            "link-state" => Some(OlsrParams::link_state()),
            _ => None,
        }
    }

    /// olsrd 0.9.8 as it is shipped: made for networks of fixed nodes.
    pub fn olsrd() -> OlsrParams {
        OlsrParams {
            tc_jitter_s: 1.25,
            forward_jitter_s: 2.0,
            tcs_wait: true,
            hello_validity_s: 20.0,
            tc_validity_s: 300.0,
            neighbour_hold_s: 20.0,
            duplicate_hold_s: 120.0,
            duplicate_window: true,
            tc_redundancy: 2,
            mpr_coverage: 7,
            metric: Metric::Etx,
            fish_eye: true,
            route_gap_s: 1.0,
            ..OlsrParams::default()
        }
    }

    /// Pure link state routing, as OSPF has it: all neighbours are relays, since they are always willing
    /// (RFC 3626 §8.3.1), every node tells of all of its links (§15.1), and at once when one is lost (§9.3).
    pub fn link_state() -> OlsrParams {
        OlsrParams { willingness: 7, tc_redundancy: 2, triggered_tc: true, ..OlsrParams::default() }
    }

    /// olsrd with times for nodes that move.
    pub fn olsrd_mobile() -> OlsrParams {
        OlsrParams {
            hello_interval_s: 1.0,
            hello_jitter_s: 0.25,
            tc_interval_s: 3.0,
            tc_jitter_s: 0.75,
            forward_jitter_s: 1.0,
            hello_validity_s: 6.0,
            tc_validity_s: 15.0,
            neighbour_hold_s: 6.0,
            ..OlsrParams::olsrd()
        }
    }

    pub(super) fn hello_interval(&self) -> Span {
        Span::from_secs(self.hello_interval_s)
    }

    pub(super) fn tc_interval(&self) -> Span {
        Span::from_secs(self.tc_interval_s)
    }

    /// Until the next HELLO.
    pub(super) fn until_hello(&self, stream: &mut Stream) -> Span {
        jittered(self.hello_interval(), self.hello_jitter_s, stream)
    }

    /// Until the next TC.
    pub(super) fn until_tc(&self, stream: &mut Stream) -> Span {
        jittered(self.tc_interval(), self.tc_jitter_s, stream)
    }

    pub(super) fn hello_validity(&self) -> TimeCode {
        TimeCode::of(Span::from_secs(self.hello_validity_s))
    }

    pub(super) fn tc_validity(&self) -> TimeCode {
        TimeCode::of(Span::from_secs(self.tc_validity_s))
    }

    pub(super) fn neighbour_hold(&self) -> Span {
        Span::from_secs(self.neighbour_hold_s)
    }

    pub(super) fn has_qualities(&self) -> bool {
        self.metric == Metric::Etx
    }
}

/// RFC 3626 §3.4.1: the interval less a random time, which keeps nodes from sending in step.
fn jittered(interval: Span, jitter_s: f64, stream: &mut Stream) -> Span {
    let jitter = Span::from_secs(jitter_s).min(interval.scaled(0.5));
    interval.saturating_sub(stream.span_below(jitter))
}
