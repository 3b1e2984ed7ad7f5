//! TSR, TCP-aware Source Routing (Choi and Yoo, *TCP-aware Source Routing in Mobile Ad Hoc Networks*, 2004).
//!
//! Read section III and Fig. 2 of the paper first, and RFC 4728 (`routing/dsr`). TSR is DSR that does not let
//! TCP try cached routes which may be dead: when a route in use has failed, TCP's packets are held, cached
//! alternatives are probed all at once, and the first route over which the destination itself answers is
//! used.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | DSR | DSR | route error for TCP's traffic → hold |
//! | hold | TCP's packets are kept, ROUTE PROBEs are out | REPLY PROBE, TSR timer → DSR |
//!
//! *Implemented* (III): activation at the source and at nodes on the way; parallel probing of the node's own
//! alternatives; answers by the destination alone, over the reversed probed route; escape by the first
//! answer, further ones refresh the cache; the TSR timer, TCP's RTO with its back-off + α.
//!
//! *Not implemented*: nothing that the paper describes.
//!
//! *Deviations*: the paper leaves open how many routes are probed, what follows when the timer expires, what
//! happens without an alternative, and more; docs/models/tsr.md numbers what was decided, with its reasons
//! and the parameters for other readings.
//!
//! A node owns a [`Dsr`] and stands between it and the network: every input goes through it, and what its DSR
//! wants to send is looked at before it goes out ([`node`]). DSR itself knows nothing of TSR.

mod hold;
mod node;
mod probing;
mod state;

#[cfg(test)]
mod tests;

use crate::kernel::{Span, Stream};
use crate::params::{choices, params};
use crate::routing::Routing;
use crate::routing::dsr::DsrParams;
use crate::wire::NodeId;

choices! {
    /// What a node does whose TCP traffic loses its route when it knows no other.
    pub enum WithoutAlternatives {
        /// It holds, and asks for a route by a request that only the destination may answer.
        Search = "search",
        /// What DSR does: there is no hold.
        Plain = "plain",
    }
}

choices! {
    /// What becomes of the packets that were held when the TSR timer expires.
    pub enum AfterTimeout {
        /// They go on as in DSR, by a cached route if there is one.
        Release = "release",
        /// They are dropped.
        Drop = "drop",
    }
}

params! {
    /// The parameters of TSR. Its caches, requests and buffers are DSR's, with DSR's parameters.
    pub struct TsrParams in "tsr" {
        /// n: the maximum number of cached routes that are probed at once, the shortest first.
        probes: u32 = 3, "", "Choi and Yoo 2004, III: not given", [1.0, 16.0];
        /// α: what the TSR timer adds to TCP's retransmission time-out.
        alpha_s: f64 = 1.0, "s", "Choi and Yoo 2004, eq. 1", [0.0, 1e4];
        /// The retransmission time-out for the TSR timer of a node that has no TCP sender: a node on the way,
        /// or a TCP receiver that holds its acknowledgements.
        unknown_rto_s: f64 = 1.0, "s", "Choi and Yoo 2004, III: not given", [0.0, 1e4];
        /// Acknowledgements count as TCP's traffic: TCP's receiver holds them when their route fails; off:
        /// only data segments do.
        hold_acks: bool = true, "", "Choi and Yoo 2004, III";
        /// Nodes on the way hold TCP's packets, too, when they hear that a route has failed.
        on_the_way: bool = false, "", "Choi and Yoo 2004, III, IV.B.4: optional";
        /// What a node does that has no cached alternative.
        without_alternatives: WithoutAlternatives = WithoutAlternatives::Search, "", "Choi and Yoo 2004, III: not given";
        /// What becomes of the packets that were held when the timer expires.
        after_timeout: AfterTimeout = AfterTimeout::Release, "", "Choi and Yoo 2004, III: not given";
        /// Also ask for a route, as without an alternative, when all probed routes are known to be broken;
        /// off: wait for the timer.
        search_after_failed_probes: bool = false, "", "Choi and Yoo 2004, III: not given";
        /// The interval at which a node on hold probes the routes that it then has; 0: it probes once.
        probe_interval_s: f64 = 0.0, "s", "Choi and Yoo 2004, III: not given", [0.0, 1e4];
        /// While packets are held, an answer to a request is not believed if its route has a link that is
        /// known to be broken since: it was under way when the link broke; off: any answer of the
        /// destination ends the hold.
        answers_avoid_broken: bool = true, "", "Choi and Yoo 2004, III: not given";
        /// Keep to the route that was answered until it breaks or is shortened; off: only for the packets
        /// that were held, and then use the cache's shortest.
        keep_route: bool = true, "", "Choi and Yoo 2004, III";
    }
}

impl TsrParams {
    /// The names of the parameter sets that [`TsrParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["choi-2004"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<TsrParams> {
        (name == "choi-2004").then(TsrParams::choi_2004)
    }

    /// What the paper says, as it stands: the first answer ends the hold.
    pub fn choi_2004() -> TsrParams {
        TsrParams { answers_avoid_broken: false, ..TsrParams::default() }
    }

    fn alpha(&self) -> Span {
        Span::from_secs(self.alpha_s)
    }

    fn unknown_rto(&self) -> Span {
        Span::from_secs(self.unknown_rto_s)
    }

    fn probe_interval(&self) -> Span {
        Span::from_secs(self.probe_interval_s)
    }
}

/// One node's TSR, over a DSR with these parameters. `stream` is used by DSR.
pub fn new(node: NodeId, params: &TsrParams, dsr: &DsrParams, stream: Stream) -> Box<dyn Routing> {
    Box::new(node::Tsr::new(node, params.clone(), dsr.clone(), stream))
}
