//! The parameters of DYMO, and the times that follow from them.

use crate::kernel::Span;
use crate::params::params;
use crate::wire::dymo::{Content, Lengths};

params! {
    /// The parameters of DYMO.
    pub struct DymoParams in "dymo" {
        /// How long a route may be used after it was learned or last used.
        route_life_s: f64 = 5.0, "s", "DYMO-FAU; AODVv2: active 5 and idle 200", [0.1, 1e5];
        /// For how long a route is active after data went over it: errors name active routes.
        active_s: f64 = 5.0, "s", "draft-ietf-manet-dymo-24; DYMO-FAU has the route's life", [0.1, 1e5];
        /// How long a route's number is remembered after that.
        seqno_life_s: f64 = 10.0, "s", "DYMO-FAU; AODVv2: 300", [0.0, 1e5];
        /// How long a request waits for its answer.
        rreq_wait_s: f64 = 2.0, "s", "DYMO-FAU, draft-ietf-manet-dymo-24", [0.01, 1e4];
        /// Requests of a search.
        rreq_tries: u32 = 3, "", "DYMO-FAU, draft-ietf-manet-dymo-24", [1.0, 16.0];
        /// Added to the wait before the second request; it doubles before each further one.
        rreq_backoff_s: f64 = 0.0, "s", "draft-ietf-manet-dymo-24: 1", [0.0, 1e4];
        /// After a search without an answer no other begins for so long.
        holddown_s: f64 = 0.0, "s", "draft-ietf-manet-dymo-24: 10", [0.0, 1e4];
        /// Links that the first request of a search may cross.
        hop_limit_first: u32 = 5, "hop", "DYMO-FAU, draft-ietf-manet-dymo-24", [1.0, 255.0];
        /// Links that the last one may cross; those between are spread evenly.
        hop_limit_last: u32 = 10, "hop", "DYMO-FAU; draft-ietf-manet-dymo-24: 8", [1.0, 255.0];
        /// Requests that a node originates in a second, in the long run; 0: no limit.
        rreq_rate: f64 = 10.0, "1/s", "DYMO-FAU", [0.0, 1e4];
        /// Requests that it may originate at once.
        rreq_burst: u32 = 3, "", "DYMO-FAU", [1.0, 1000.0];
        /// Nodes append themselves to the messages that they pass on, so that everyone on a path learns
        /// routes to everyone before it.
        path_accumulation: bool = true, "", "draft-ietf-manet-dymo-02";
        /// How long a request is remembered, so that only better copies are passed on.
        rreq_memory_s: f64 = 12.0, "s", "draft-ietf-manet-aodvv2-16", [0.1, 1e4];
        /// Links that a route error may cross.
        rerr_hop_limit: u32 = 10, "hop", "draft-ietf-manet-dymo-24", [1.0, 255.0];
        /// Every broadcast waits a time uniform below this.
        broadcast_jitter_ms: f64 = 10.0, "ms", "draft-ietf-manet-dymo-24; DYMO-FAU has none", [0.0, 1e4];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_layer_feedback: bool = true, "", "as AODV";
        /// Say hello while there is a route, and take silent neighbours for lost.
        hello: bool = false, "", "Osipov and Tschudin 2007: draft-02 inherits AODV's";
        /// Time between hellos.
        hello_interval_s: f64 = 1.0, "s", "RFC 3561 §10", [0.05, 1e4];
        /// Intervals without a hello after which a neighbour is lost.
        allowed_hello_loss: u32 = 2, "", "RFC 3561 §10", [1.0, 100.0];
        /// Any packet from a neighbour counts as a hello; off: only messages of DYMO.
        data_counts_as_hello: bool = true, "", "RFC 3561 §6.9";
        /// Maximum number of packets that wait for routes; the oldest is dropped first.
        buffer_packets: u32 = 50, "packet", "DYMO-FAU", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "as AODV in ns-2", [0.1, 1e4];
        /// Length of a request or reply without nodes, UDP header not included.
        message_bytes: u32 = 13, "B", "DYMO-FAU; draft-ietf-manet-dymo-24: 22 with the target", [13.0, 255.0];
        /// Length of each node in one.
        node_bytes: u32 = 10, "B", "DYMO-FAU; draft-ietf-manet-dymo-24: 6", [6.0, 255.0];
        /// Length of a route error without nodes.
        error_bytes: u32 = 4, "B", "DYMO-FAU; draft-ietf-manet-dymo-24: 16", [4.0, 255.0];
        /// Length of each node in one.
        unreachable_bytes: u32 = 8, "B", "DYMO-FAU; draft-ietf-manet-dymo-24: 6", [6.0, 255.0];
    }
}

impl DymoParams {
    /// The names of the parameter sets that [`DymoParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["dymo", "dymo-hello", "aodvv2"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<DymoParams> {
        match name {
            "dymo" => Some(DymoParams::default()),
            "dymo-hello" => {
                Some(DymoParams { hello: true, link_layer_feedback: false, ..DymoParams::default() })
            }
            "aodvv2" => Some(DymoParams::aodvv2()),
            _ => None,
        }
    }

    /// The late drafts (draft-ietf-manet-dymo-24 to -26), which became AODVv2.
    pub fn aodvv2() -> DymoParams {
        DymoParams {
            route_life_s: 205.0,
            seqno_life_s: 300.0,
            rreq_backoff_s: 1.0,
            holddown_s: 10.0,
            hop_limit_last: 8,
            rreq_rate: 0.0,
            path_accumulation: false,
            message_bytes: 22,
            node_bytes: 6,
            error_bytes: 16,
            unreachable_bytes: 6,
            ..DymoParams::default()
        }
    }

    pub(super) fn route_life(&self) -> Span {
        Span::from_secs(self.route_life_s)
    }

    pub(super) fn active(&self) -> Span {
        Span::from_secs(self.active_s)
    }

    pub(super) fn hello_interval(&self) -> Span {
        Span::from_secs(self.hello_interval_s)
    }

    pub(super) fn hello_patience(&self) -> Span {
        self.hello_interval() * u64::from(self.allowed_hello_loss)
    }

    /// How far the request goes that follows `before` others of its search.
    pub(super) fn hop_limit(&self, before: u32) -> u8 {
        let (first, last) = (self.hop_limit_first, self.hop_limit_last.max(self.hop_limit_first));
        let more = (last - first) * before / self.rreq_tries.saturating_sub(1).max(1);
        (first + more).min(255) as u8
    }

    /// How long the parts of a message are.
    pub(super) fn lengths(&self, content: &Content) -> Lengths {
        let (header, node) = match content {
            Content::Rerr { .. } => (self.error_bytes, self.unreachable_bytes),
            _ => (self.message_bytes, self.node_bytes),
        };
        Lengths { header: header as u8, node: node as u8 }
    }

    /// From one request of a search, before which `before` were sent, to the next; from the last to the end.
    pub(super) fn rreq_pause(&self, before: u32, is_last: bool) -> Span {
        let backoff = if is_last { 0.0 } else { self.rreq_backoff_s * f64::from(1_u32 << before.min(16)) };
        Span::from_secs(self.rreq_wait_s + backoff)
    }
}
