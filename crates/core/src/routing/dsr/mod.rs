//! DSR, the Dynamic Source Routing protocol (Johnson, Hu, Maltz: RFC 4728, February 2007).
//!
//! Read RFC 4728 §3 first; for what most published figures were made with, Broch, Maltz, Johnson, Hu,
//! Jetcheva: *A Performance Comparison of Multi-Hop Wireless Ad Hoc Network Routing Protocols*, MobiCom 1998.
//! The standard and the models differ in switches and constants here, not in code.
//!
//! *Implemented*: source routes in packet headers, their bytes on the air (§6); route discovery with a first
//! request to neighbours only, and backoff (§3.1, §8.2); replies by the target and from caches (§3.3.2); path
//! and link caches (§4.1); the send buffer (§4.2); route errors, nested and told again on the next request
//! (§3.4.4); salvaging (§3.4.1); cleaning of the interface queue after a break (§3.4.2); promiscuous learning
//! (§3.3.1); route shortening by gratuitous replies (§3.4.3); flow state as ns-2.35 has it (§3.5).
//!
//! *Not implemented*: shortening of flows (§3.5.4), which never happens in ns-2.35 either; acknowledgements
//! by DSR itself (§3.2; the MAC acknowledges), the blacklist (§4.6) and unidirectional links; requests that
//! carry data or replies (§8.2.1); prevention of reply storms by delay (§8.2.5); the limit of
//! MaxRequestRexmt; several interfaces and external routes; adaptive lifetimes of links (Appendix A).
//!
//! *Deviations*: numbered in docs/models/dsr.md, 1 to 6 from RFC 4728 and 7 to 10 from ns-2.35, each with its
//! reason. What ns-2.35 does and the standard does not is a parameter, on in the set `ns-2.35` alone.

mod cache;
mod discovery;
mod flow_table;
mod flows;
mod link_cache;
mod maintenance;
mod memory;
mod node;
mod path_cache;
mod path_index;
mod requests;
mod snoop;

#[cfg(test)]
mod flow_tests;
#[cfg(test)]
mod probe;
#[cfg(test)]
mod tests;

use crate::kernel::{Span, Stream};
use crate::params::{choices, params};
use crate::routing::Routing;
use crate::wire::NodeId;

pub(super) use node::Dsr;

choices! {
    /// What the route cache holds.
    pub enum CacheKind {
        /// Whole paths from this node, in a primary and a secondary part.
        Path = "path",
        /// Single links, from which paths are computed.
        Link = "link",
    }
}

params! {
    /// The parameters of DSR.
    pub struct DsrParams in "dsr" {
        /// The contents of the route cache: whole paths or single links.
        cache: CacheKind = CacheKind::Path, "", "RFC 4728 §4.1";
        /// Number of paths in the primary part of a path cache, for paths that the node asked for or uses.
        primary_paths: u32 = 30, "path", "ns-2.35 mobicache.cc; Dyer 2002, Table 3.8", [1.0, 10_000.0];
        /// Number of paths in the secondary part of a path cache, for paths that the node overheard.
        secondary_paths: u32 = 64, "path", "ns-2.35 mobicache.cc; Dyer 2002, Table 3.8: 34", [1.0, 10_000.0];
        /// Put a path that is learned into the first free place of a path cache even if a later place holds
        /// it already.
        cache_gaps_first: bool = false, "", "ns-2.35 mobicache.cc";
        /// RouteCacheTimeout: how long a cached route may be used after it was last learned; 0: for ever.
        cache_timeout_s: f64 = 300.0, "s", "RFC 4728 §9", [0.0, 1e6];
        /// Learn from the source routes of packets that the node forwards.
        learn_forwarded_routes: bool = true, "", "RFC 4728 §3.3.1";
        /// Learn the routes in replies that the node forwards. ns-2 learns them only from replies that it
        /// overhears.
        learn_forwarded_replies: bool = true, "", "RFC 4728 §3.3.1";
        /// A target also learns the way of its reply, as it learns from packets that it forwards.
        learn_own_replies: bool = false, "", "ns-2.35 dsragent.cc";
        /// Also learn the reverse of every route.
        learn_reverse_routes: bool = true, "", "RFC 4728 §3.3.1";
        /// Listen to packets that are addressed to other nodes, for their routes, replies and errors.
        promiscuous: bool = true, "", "RFC 4728 §3.3.1";
        /// Number of overheard packets that a node remembers, to process each only once; 0: none.
        overheard_packets: u32 = 0, "packet", "ns-2.35 dsragent.h: 1024", [0.0, 1e6];
        /// Handle an error that is overheard on its way to this node as if it had already arrived: spread it
        /// with the next request, and send on the errors that it carries for others. On arrival it is handled
        /// again.
        handle_overheard_errors: bool = false, "", "ns-2.35 dsragent.cc";
        /// An error that is sent on because it was overheard counts, for those who overhear it in turn, as
        /// the packet that was overheard: who remembers that one does not process it.
        unwrapped_copies_count_as_heard: bool = false, "", "ns-2.35 dsragent.cc";
        /// Maximum number of nodes in a source route, including both ends. The length field of the option
        /// allows 64.
        max_route_nodes: u32 = 64, "", "RFC 4728 §6.7; ns-2.35 hdr_sr.h: 16", [2.0, 64.0];
        /// Begin each discovery with a request to neighbours only.
        ring_zero: bool = true, "", "RFC 4728 §3.3.3";
        /// NonpropRequestTimeout: how long the neighbours have to answer.
        nonprop_request_timeout_ms: f64 = 30.0, "ms", "RFC 4728 §9", [0.0, 1e5];
        /// RequestPeriod: the wait after the first attempt at a discovery.
        request_period_s: f64 = 0.5, "s", "RFC 4728 §9", [0.001, 1e4];
        /// The factor by which each further failed attempt multiplies the wait.
        request_backoff: f64 = 2.0, "", "RFC 4728 §4.3; ns-2.35 dsragent.cc: 4", [1.0, 100.0];
        /// MaxRequestPeriod: the maximum wait.
        max_request_period_s: f64 = 10.0, "s", "RFC 4728 §9", [0.001, 1e4];
        /// RequestTableSize: number of initiators whose requests are remembered.
        request_table_nodes: u32 = 64, "", "RFC 4728 §9", [1.0, 1e6];
        /// RequestTableIds: number of requests remembered of each initiator.
        request_table_ids: u32 = 16, "", "RFC 4728 §9", [1.0, 1000.0];
        /// Take a request for one that was seen unless its number is higher than the last of its initiator.
        only_newer_requests: bool = false, "", "ns-2.35 requesttable.h";
        /// BroadcastJitter: a request waits a time uniform below this, so that neighbours do not collide.
        request_jitter_ms: f64 = 10.0, "ms", "RFC 4728 §9", [0.0, 1e4];
        /// A target's reply waits a time uniform below this (BroadcastJitter).
        reply_jitter_ms: f64 = 10.0, "ms", "RFC 4728 §8.2.4", [0.0, 1e4];
        /// A reply from a cache waits a time uniform below this (BroadcastJitter).
        cached_reply_jitter_ms: f64 = 10.0, "ms", "RFC 4728 §8.2.4; ns-2.35 dsragent.cc: 0", [0.0, 1e4];
        /// Answer requests for other nodes from the cache.
        reply_from_cache: bool = true, "", "RFC 4728 §3.3.2";
        /// Cut loops out of a route that the cache completes, and send it if the node is still on it; off: do
        /// not send it.
        cut_loops_in_replies: bool = false, "", "RFC 4728 §8.2.3; ns-2.35 path.cc";
        /// Bytes of a Route Reply option before its addresses, without the initiator's. ns-2 counts that
        /// address and six more bytes.
        reply_fixed_bytes: u32 = 3, "byte", "RFC 4728 §6.3; ns-2.35 hdr_sr.h", [0.0, 100.0];
        /// Tell the user of a route about a shorter one when one of its packets is overheard before its turn.
        gratuitous_replies: bool = true, "", "RFC 4728 §3.4.3";
        /// GratReplyHoldoff: the minimum time between two such replies to one node about one sender.
        grat_reply_holdoff_s: f64 = 1.0, "s", "RFC 4728 §9", [0.0, 1e4];
        /// GratReplyTableSize: number of such replies that are remembered.
        grat_reply_table: u32 = 64, "", "RFC 4728 §9; ns-2.35 dsragent.h: 10", [1.0, 1e5];
        /// Hold gratuitous replies back by the route that they shorten, as ns-2 does; off: by the user of the
        /// route and the sender that was overheard.
        grat_replies_by_route: bool = false, "", "RFC 4728 §3.4.3; ns-2.35 dsragent.cc";
        /// Attach the last route error to the next request.
        gratuitous_errors: bool = true, "", "RFC 4728 §3.4.4";
        /// The maximum age of such an error.
        grat_error_hold_s: f64 = 1.0, "s", "ns-2.35 dsragent.cc", [0.0, 1e4];
        /// Maximum number of route errors in one packet; a packet that would need more is not sent.
        max_nested_errors: u32 = 3, "", "ns-2.35 hdr_sr.h", [1.0, 15.0];
        /// Nest the errors of a packet in the new error also if the packet itself goes on, by another route
        /// of its maker or salvaged: then they are on their way twice. Off: only if it is lost.
        nest_rescued_errors: bool = false, "", "RFC 4728 §8.3.4; ns-2.35 dsragent.cc";
        /// After a break notify all sources whose packets waited for the link; off: only the source of the
        /// packet that failed.
        error_per_source: bool = true, "", "RFC 4728 §3.4";
        /// Forward packets of other nodes by a cached route when their next hop cannot be reached.
        salvage: bool = true, "", "RFC 4728 §8.3.6";
        /// Also salvage replies, unless they contain the very link that failed. The standard drops them: a
        /// reply is to test the path that it takes.
        salvage_replies: bool = false, "", "RFC 4728 §8.3.6; ns-2.35 dsragent.cc";
        /// Check replies that waited in the interface queue for the link that failed as the one whose
        /// transmission failed is checked. Off: as in ns-2, they are checked for a link from this node to the
        /// node after its next hop, so that replies that offer the dead link are salvaged.
        check_queued_replies: bool = true, "", "ns-2.35 dsragent.cc";
        /// MAX_SALVAGE_COUNT: the maximum number of times that a packet is salvaged.
        max_salvages: u32 = 15, "", "RFC 4728 §9", [0.0, 255.0];
        /// Number of requests, to neighbours only, that a node sends for packets of other nodes that it
        /// cannot salvage; 0: none, and the packets are dropped.
        salvage_requests: u32 = 0, "", "RFC 4728 §3.4.1; ns-2.35 dsragent.cc: 1", [0.0, 15.0];
        /// Charge the length of the source route that a packet of another node had when it came to wait for a
        /// route, and the length of the header from which an error was unwrapped, beside the new header, as
        /// ns-2 does. A packet for which this happens again becomes still longer.
        keep_stale_header_bytes: bool = false, "", "ns-2.35 dsragent.cc";
        /// Send packets without their source route once the nodes on it know the flow that they belong to.
        flow_state: bool = false, "", "RFC 4728 §3.5; ns-2.35 dsragent.cc: on";
        /// Number of packets of a flow that carry the source route before others do not, with flow state.
        flow_packets_with_route: u32 = 3, "packet", "ns-2.35 flowstruct.h", [1.0, 1e6];
        /// Time after which a packet of a flow carries the source route again.
        flow_route_interval_s: f64 = 5.0, "s", "ns-2.35 dsragent.cc", [0.0, 1e4];
        /// How long a flow is known after its last packet.
        flow_timeout_s: f64 = 60.0, "s", "ns-2.35 dsragent.cc", [0.001, 65_535.0];
        /// Maximum number of packets that a node holds while it searches for routes; the oldest is dropped
        /// first.
        buffer_packets: u32 = 64, "packet", "ns-2.35 dsragent.h", [1.0, 100_000.0];
        /// SendBufferTimeout: how long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "RFC 4728 §9", [0.001, 1e6];
        /// Check the buffer at intervals uniform between this and twice this; 0: whenever something is due.
        buffer_check_ms: f64 = 0.0, "ms", "ns-2.35 dsragent.h: 30", [0.0, 1e5];
        /// Give TCP's packets an IP header of 20 bytes beside the one that their length includes, as ns-2's
        /// DSR does.
        second_ip_header: bool = false, "", "ns-2.35 dsragent.cc";
        /// Gap between packets released from the buffer: ARP holds only one packet per neighbour.
        release_spacing_ms: f64 = 30.0, "ms", "ns-2.35 dsragent.cc", [0.0, 1e4];
        /// Keep that gap at every release; off: only at a release by a reply, not at one by a look at the
        /// buffer.
        space_all_releases: bool = true, "", "ns-2.35 dsragent.cc";
    }
}

impl DsrParams {
    /// The names of the parameter sets that [`DsrParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["rfc4728", "ns-2.35", "ns-2.1b8a", "dyer-2002", "broch-1998"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<DsrParams> {
        match name {
            "rfc4728" => Some(DsrParams::default()),
            "ns-2.35" => Some(DsrParams::ns_2_35()),
            "ns-2.1b8a" => Some(DsrParams::ns_2_1b8a()),
            "dyer-2002" => Some(DsrParams::dyer_2002()),
            "broch-1998" => Some(DsrParams::broch_1998()),
            _ => None,
        }
    }

    /// ns-2.35 as it is shipped (dsragent.cc and its headers), and as it has been since flow state came into
    /// it in March 2002.
    pub fn ns_2_35() -> DsrParams {
        DsrParams {
            cache_timeout_s: 0.0,
            learn_forwarded_replies: false,
            learn_reverse_routes: false,
            overheard_packets: 1024,
            cached_reply_jitter_ms: 0.0,
            salvage_replies: true,
            check_queued_replies: false,
            keep_stale_header_bytes: true,
            max_route_nodes: 16,
            // The wait grows with the attempts made so far, the first one among them.
            request_period_s: 2.0,
            request_backoff: 4.0,
            request_table_nodes: 128,
            cut_loops_in_replies: true,
            reply_fixed_bytes: 9,
            grat_reply_table: 10,
            nest_rescued_errors: true,
            error_per_source: false,
            salvage_requests: 1,
            buffer_check_ms: 30.0,
            second_ip_header: true,
            flow_state: true,
            handle_overheard_errors: true,
            unwrapped_copies_count_as_heard: true,
            only_newer_requests: true,
            request_table_ids: 1,
            learn_own_replies: true,
            grat_replies_by_route: true,
            space_all_releases: false,
            cache_gaps_first: true,
            ..DsrParams::default()
        }
    }

    /// ns-2.1b8a (June 2001) as it is shipped (dsragent.cc, mobicache.cc): most rules of ns-2.35, without
    /// flow state, discovery for packets of others and a limit to salvaging, and with a smaller cache, whose
    /// size the dissertation's Table 3.8 gives.
    pub fn ns_2_1b8a() -> DsrParams {
        DsrParams {
            secondary_paths: 34,
            salvage_requests: 0,
            max_salvages: 255,
            overheard_packets: 0,
            unwrapped_copies_count_as_heard: false,
            second_ip_header: false,
            flow_state: false,
            ..DsrParams::ns_2_35()
        }
    }

    /// DSR of Dyer's dissertation (2002): the values of Table 3.8, and for all else those of Broch and
    /// others, whose implementation and parameters it says it used (3.4.1). Both sets have the same values.
    pub fn dyer_2002() -> DsrParams {
        DsrParams {
            request_period_s: 0.5,
            buffer_packets: 64,
            buffer_timeout_s: 30.0,
            primary_paths: 30,
            secondary_paths: 34,
            ..DsrParams::broch_1998()
        }
    }

    /// Broch et al. 1998: requests 500 ms apart with exponential backoff, caches of the size that the
    /// dissertation prints for that code, and no discovery for packets of others, nor a limit to their
    /// salvaging.
    pub fn broch_1998() -> DsrParams {
        DsrParams {
            request_period_s: 0.5,
            request_backoff: 2.0,
            secondary_paths: 34,
            salvage_requests: 0,
            max_salvages: 255,
            check_queued_replies: true,
            keep_stale_header_bytes: false,
            second_ip_header: false,
            flow_state: false,
            handle_overheard_errors: false,
            unwrapped_copies_count_as_heard: false,
            only_newer_requests: false,
            request_table_ids: 16,
            learn_own_replies: false,
            grat_replies_by_route: false,
            space_all_releases: true,
            cache_gaps_first: false,
            ..DsrParams::ns_2_35()
        }
    }

    fn nonprop_request_timeout(&self) -> Span {
        Span::from_secs(self.nonprop_request_timeout_ms * 1e-3)
    }

    fn request_jitter(&self) -> Span {
        Span::from_secs(self.request_jitter_ms * 1e-3)
    }

    fn reply_jitter(&self) -> Span {
        Span::from_secs(self.reply_jitter_ms * 1e-3)
    }

    fn cached_reply_jitter(&self) -> Span {
        Span::from_secs(self.cached_reply_jitter_ms * 1e-3)
    }

    pub(super) fn release_spacing(&self) -> Span {
        Span::from_secs(self.release_spacing_ms * 1e-3)
    }

    /// The wait after so many attempts at a discovery (RFC 4728 §4.3).
    fn wait_after(&self, attempts: u32) -> Span {
        if attempts == 0 {
            return Span::ZERO;
        }
        let growth = libm::pow(self.request_backoff, f64::from(attempts - 1));
        Span::from_secs((self.request_period_s * growth).min(self.max_request_period_s))
    }
}

/// One node's DSR. `stream` is used for jitter and for the times of looking at the buffer.
pub fn new(node: NodeId, params: &DsrParams, stream: Stream) -> Box<dyn Routing> {
    Box::new(node::Dsr::new(node, params.clone(), stream))
}
