//! LUNAR, the Lightweight Underlay Network Ad hoc Routing protocol (Tschudin, Gold, Rensfelt, Wibling,
//! NEW2AN 2004), and its opportunistic variant (Osipov, Tschudin 2007, section IV.C.6).
//!
//! Read section IV of Osipov and Tschudin first. LUNAR lies below IP and makes a network of several hops look
//! like one link: asked for a neighbour's address, it floods a request, and the answer sets up a path of
//! *selectors*, labels that have a meaning at one node each. Data packets carry the selector of their next
//! node; each node swaps it for the next one's.
//!
//! ```text
//!  0 ──rreq(r0)──► 1 ──rreq(r1)──► 2      r: selectors for the answer, each at its own node
//!  0 ◄─rrep(r0,f1)─ 1 ◄─rrep(r1,f2)─ 2    f: selectors for data
//!  0 ───[f1] data──► 1 ──[f2] data─► 2    1 swaps f1 for f2; f2 delivers at 2
//! ```
//!
//! *Implemented*: discovery by flooding with a limit of hops, jitter and dampening; answers by the target
//! alone, to the first copy; paths of selectors, which replace ARP; a complete rediscovery every 3 s while a
//! path is used, during which the old path carries data; expiry without a word. *Opportunistic*: no
//! rediscovery, every data packet postpones the expiry at each node that it comes to.
//!
//! *Not implemented*: resolution of names and configuration of addresses (DNS, DHCP), delivery trees for
//! broadcast addresses, gateways.
//!
//! *Deviations*: none is known, because the specification could not be read: only abstracts were at hand.
//! docs/models/lunar.md marks what is known and what is guessed; each guess is a parameter, or is said to be
//! none. The defaults were fixed before Osipov and Tschudin's experiments were run.
//!
//! Neither HELLOs nor errors exist, nobody but the target answers, and what the MAC reports is not heeded.

mod discovery;
mod node;
mod selectors;
mod state;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::kernel::{Span, Stream};
use crate::params::params;
use crate::routing::Routing;
use crate::wire::NodeId;

params! {
    /// The parameters of LUNAR.
    pub struct LunarParams in "lunar" {
        /// A source searches again, and again, for a destination to which it has a path; off: only when the
        /// path has expired.
        refresh: bool = true, "", "Osipov and Tschudin 2007, IV.C.5, IV.C.6";
        /// How old a path is when its source searches again.
        refresh_s: f64 = 3.0, "s", "Osipov and Tschudin 2007, IV.C.5", [0.001, 1e6];
        /// Search again also if the path has carried nothing since the last search; off: let it expire.
        refresh_unused: bool = false, "", "assumed";
        /// How long a path and its selectors live: from their making, or from the last data packet.
        lifetime_s: f64 = 6.0, "s", "assumed; opportunistic: Osipov and Tschudin 2007, IV.C.6: 3", [0.001, 1e6];
        /// Every data packet postpones the end of the path at the node that it comes to; off: only a new
        /// discovery does.
        data_prolongs: bool = false, "", "Osipov and Tschudin 2007, IV.C.6";
        /// The number of links that a request may cross.
        hop_limit: u32 = 5, "hop", "assumed; 3 is the radius that LUNAR is made for", [1.0, 255.0];
        /// Maximum number of requests in one search, the first included.
        tries: u32 = 3, "", "assumed", [1.0, 16.0];
        /// How long a source waits for an answer to its first request.
        retry_s: f64 = 0.5, "s", "assumed", [0.001, 1e4];
        /// Double the wait with each further request.
        retry_backoff: bool = true, "", "assumed";
        /// A node waits for a time drawn uniformly from 0 to this before it passes a request on.
        jitter_s: f64 = 0.01, "s", "assumed", [0.0, 10.0];
        /// A node does not pass a request on of which it hears this many further copies while it waits; 0:
        /// it always does.
        dampening_copies: u32 = 0, "", "assumed: dampening is named, not described", [0.0, 100.0];
        /// How long a node remembers a request, so that it ignores further copies.
        memory_s: f64 = 6.0, "s", "assumed", [0.001, 1e6];
        /// Maximum number of packets that a source holds while it searches; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "assumed", [1.0, 100_000.0];
        /// Gap between packets released from the buffer.
        release_spacing_ms: f64 = 10.0, "ms", "assumed", [0.0, 1e4];
        /// Length of a request. It has no IP header.
        rreq_bytes: u32 = 40, "B", "assumed", [20.0, 1500.0];
        /// Length of a reply. It has no IP header.
        rrep_bytes: u32 = 36, "B", "assumed", [20.0, 1500.0];
        /// What a data packet is longer by: a selector of 8 bytes, and a type.
        header_bytes: u32 = 12, "B", "assumed", [8.0, 255.0];
    }
}

impl LunarParams {
    /// The names of the parameter sets that [`LunarParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["standard", "opportunistic"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<LunarParams> {
        match name {
            "standard" => Some(LunarParams::default()),
            "opportunistic" => Some(LunarParams::opportunistic()),
            _ => None,
        }
    }

    /// Osipov and Tschudin 2007, IV.C.6: no forced rediscovery; each data packet moves the end of the path to
    /// 3 s from now.
    pub fn opportunistic() -> LunarParams {
        LunarParams { refresh: false, lifetime_s: 3.0, data_prolongs: true, ..LunarParams::default() }
    }

    /// How old a path is when its source searches again; none: never.
    fn refresh(&self) -> Option<Span> {
        self.refresh.then(|| Span::from_secs(self.refresh_s))
    }

    fn lifetime(&self) -> Span {
        Span::from_secs(self.lifetime_s)
    }

    /// How long a source waits after its request of this number in a search, from 1.
    fn wait(&self, tried: u32) -> Span {
        let doublings = if self.retry_backoff { tried - 1 } else { 0 };
        Span::from_secs(self.retry_s) * (1 << doublings)
    }

    fn release_spacing(&self) -> Span {
        Span::from_secs(self.release_spacing_ms * 1e-3)
    }
}

/// One node's LUNAR. `stream` is used for selectors and jitter; all nodes share `params`.
pub fn new(node: NodeId, params: &Arc<LunarParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(node::Lunar::new(node, Arc::clone(params), stream))
}
