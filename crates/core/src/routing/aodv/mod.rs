//! AODV, the Ad hoc On-Demand Distance Vector protocol, in two behaviours.
//!
//! [`Behaviour::Rfc3561`] is the standard (Perkins, Belding-Royer, Das: RFC 3561, July 2003).
//! [`Behaviour::Ns2`] is the protocol that most published figures come from: Das and Marina's model of the
//! 1999 drafts, as in ns-2.35 and, by switches, as in ns-2.1b8a of 2001. They differ in what they do, not
//! only in their constants, so each has a file that can be read beside its source: `rfc3561` and `ns2`.
//! Messages, parameters and the packet buffer are shared.
//!
//! All nodes of a run use the same behaviour. What each implements and leaves out is at its file's head,
//! the deviations are in docs/models/aodv.md.

mod ns2;
mod rfc3561;

#[cfg(test)]
mod probe;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::kernel::{Span, Stream, Time};
use crate::params::{choices, params};
use crate::routing::Routing;
use crate::wire::aodv::Message;
use crate::wire::{NodeId, Packet, Payload};

choices! {
    /// Whose AODV.
    pub enum Behaviour {
        /// The standard, RFC 3561.
        Rfc3561 = "rfc-3561",
        /// Das and Marina's model, as in ns-2.35 or earlier.
        Ns2 = "ns-2",
    }
}

params! {
    /// The parameters of AODV. Those that only one behaviour knows are ignored by the other; `source` tells.
    pub struct AodvParams in "aodv" {
        /// The variant of AODV: the standard's or ns-2's.
        behaviour: Behaviour = Behaviour::Rfc3561, "", "RFC 3561; ns-2.35";
        /// ACTIVE_ROUTE_TIMEOUT: how long a route stays valid after its last use.
        active_route_timeout_s: f64 = 3.0, "s", "RFC 3561 §10", [0.001, 1e6];
        /// MY_ROUTE_TIMEOUT: the lifetime that a destination puts into its replies.
        my_route_timeout_s: f64 = 6.0, "s", "RFC 3561 §10", [0.001, 1e6];
        /// K in DELETE_PERIOD = K * max(ACTIVE_ROUTE_TIMEOUT, HELLO_INTERVAL): how long a broken route's hop
        /// count is remembered. Behaviour rfc-3561 only.
        delete_period_factor: f64 = 5.0, "", "RFC 3561 §10", [1.0, 1e3];
        /// NET_DIAMETER: the TTL of network-wide requests and of replies; in behaviour ns-2 also of data
        /// packets.
        net_diameter: u32 = 35, "hop", "RFC 3561 §10", [1.0, 255.0];
        /// NODE_TRAVERSAL_TIME: estimate of the time that a message takes over one hop.
        node_traversal_ms: f64 = 40.0, "ms", "RFC 3561 §10", [0.001, 1e5];
        /// TIMEOUT_BUFFER: hops added to the TTL when waiting for the answer to a ring search. Behaviour
        /// rfc-3561 only.
        timeout_buffer: u32 = 2, "hop", "RFC 3561 §10", [0.0, 255.0];
        /// Search in growing rings; off: every request is network-wide.
        expanding_ring: bool = true, "", "RFC 3561 §6.4";
        /// TTL_START: the TTL of the first ring.
        ttl_start: u32 = 1, "hop", "RFC 3561 §10", [1.0, 255.0];
        /// TTL_INCREMENT: the TTL that each further ring adds.
        ttl_increment: u32 = 2, "hop", "RFC 3561 §10", [1.0, 255.0];
        /// TTL_THRESHOLD: the maximum TTL of a ring; beyond it requests are network-wide.
        ttl_threshold: u32 = 7, "hop", "RFC 3561 §10", [0.0, 255.0];
        /// Also search in rings from TTL_START for a destination that was never reached before; off:
        /// network-wide at once, as ns-2.35 effectively does. Behaviour ns-2 only.
        ring_for_unknown: bool = true, "", "ns-2.35 aodv_rtable.cc";
        /// RREQ_RETRIES: how often a network-wide request is repeated.
        rreq_retries: u32 = 2, "", "RFC 3561 §10", [0.0, 100.0];
        /// How long a node sends no requests for a destination after all retries, and the maximum wait for an
        /// answer. Behaviour ns-2 only.
        max_rreq_pause_s: f64 = 10.0, "s", "ns-2.35 aodv.h", [0.0, 1e6];
        /// How long the reverse route that a request leaves behind stays valid. Behaviour ns-2 only.
        reverse_route_life_s: f64 = 6.0, "s", "ns-2.35 aodv.h", [0.001, 1e6];
        /// How long a request is remembered as seen, and how often the memory is cleaned. Behaviour ns-2
        /// only.
        broadcast_id_save_s: f64 = 6.0, "s", "ns-2.35 aodv.h", [0.001, 1e6];
        /// Divide the time that a discovery took by the nodes between, not by the hops: over one hop that is
        /// infinite, and each wait for that destination is `max_rreq_pause_s` until three later
        /// discoveries have led over more hops. Behaviour ns-2 only.
        wait_by_nodes_between: bool = false, "", "ns-2.1b8a aodv.cc";
        /// Keep the packets for a destination that all requests did not find, until they are too old; off:
        /// drop them. Behaviour ns-2 only.
        keep_packets_after_retries: bool = false, "", "ns-2.1b8a aodv.cc";
        /// A request prolongs the route back to its originator also if it does not change it. Behaviour ns-2
        /// only.
        requests_prolong_routes: bool = true, "", "ns-2.35 aodv.cc; ns-2.1b8a: off";
        /// Accept any information about a destination without a valid route, whatever its sequence number.
        /// Behaviour ns-2 only.
        accept_any_when_down: bool = false, "", "ns-2.1b8a aodv.cc";
        /// Count hops from zero, as the standard does; off: from one. Behaviour ns-2 only.
        hop_counts_from_zero: bool = false, "", "ns-2.35 aodv.cc; ns-2.1b8a: on";
        /// Length of a request at the IP layer. Behaviour ns-2 only.
        rreq_bytes: u32 = 48, "byte", "ns-2.35 aodv_packet.h; ns-2.1b8a: 52", [44.0, 1500.0];
        /// Double the wait for an answer with each network-wide request; off: wait RING_TRAVERSAL_TIME for
        /// its TTL, as after a ring. Behaviour rfc-3561 only.
        rreq_backoff: bool = true, "", "RFC 3561 §6.3";
        /// RREQ_RATELIMIT: requests that a node may originate per second; 0: no limit. Behaviour rfc-3561
        /// only.
        rreq_ratelimit: u32 = 10, "1/s", "RFC 3561 §10", [0.0, 1000.0];
        /// Requests beyond RREQ_RATELIMIT are not sent, and those that a node passes on count as well; off:
        /// its own wait until they may be sent, and those of others are always passed on. Behaviour
        /// rfc-3561 only.
        rreq_limit_drops: bool = false, "", "AODV-UU 0.9.1, aodv_socket.c";
        /// RERR_RATELIMIT: route errors that a node may send per second; 0: no limit. Behaviour rfc-3561
        /// only.
        rerr_ratelimit: u32 = 10, "1/s", "RFC 3561 §10", [0.0, 1000.0];
        /// Compare sequence numbers; off: the latest information about a destination wins, and routes may
        /// loop.
        sequence_numbers: bool = true, "", "RFC 3561 §6.1";
        /// Only the destination may answer requests (the D flag); off: intermediate nodes may, too.
        destination_only: bool = false, "", "RFC 3561 §5.1";
        /// An intermediate node that answers a request also sends a reply to the destination (the G flag).
        gratuitous_rrep: bool = false, "", "RFC 3561 §6.6.3";
        /// A search that a TCP segment begins asks for such a reply, also if `gratuitous_rrep` is off.
        /// Behaviour rfc-3561 only.
        gratuitous_for_tcp: bool = false, "", "AODV-UU 0.9.1, ns/packet_input.cc";
        /// Ignore requests from a neighbour to which a reply could not be delivered, for BLACKLIST_TIMEOUT.
        /// Behaviour rfc-3561 only.
        blacklist: bool = true, "", "RFC 3561 §6.8";
        /// Pass on also a reply that tells nothing new, if there is a route to its destination: otherwise the
        /// second source behind a relay gets no answer where only the destination may give one. Behaviour
        /// rfc-3561 only.
        pass_known_rreps: bool = true, "", "RFC 3561 §6.7: off";
        /// Pass on every reply, also one that changes nothing here, and take each as the end of the search
        /// for its destination. Behaviour ns-2 only.
        pass_all_rreps: bool = false, "", "ns-2.1b8a aodv.cc";
        /// Ask for an acknowledgement of each reply (the A flag); a reply without one within NEXT_HOP_WAIT
        /// counts as undeliverable. The standard asks for it on links that are likely to be unidirectional,
        /// if there is no link-layer feedback. Behaviour rfc-3561 only.
        rrep_ack: bool = false, "", "RFC 3561 §5.4, §6.7";
        /// Forward route errors only for destinations to which other nodes were given a route; off: for all.
        precursors: bool = true, "", "RFC 3561 §6.2";
        /// A node that passes a reply on also tells a failure of the route back to the neighbour that the
        /// reply came from; off: only a failure of the route to the destination, to the neighbour before
        /// it. Behaviour rfc-3561 only.
        precursors_both_ways: bool = false, "", "AODV-UU 0.9.1, aodv_rrep.c";
        /// Send route errors.
        rerr: bool = true, "", "RFC 3561 §6.11";
        /// Repair a broken route at the break (a MAY of the standard; ns-2.35 does).
        local_repair: bool = false, "", "RFC 3561 §6.12";
        /// MAX_REPAIR_TTL as a share of NET_DIAMETER: destinations farther away are not repaired locally.
        /// Behaviour rfc-3561 only.
        max_repair_factor: f64 = 0.3, "", "RFC 3561 §10", [0.0, 1.0];
        /// LOCAL_ADD_TTL: hops added to the TTL of a local repair's request. Behaviour rfc-3561 only.
        local_add_ttl: u32 = 2, "hop", "RFC 3561 §10", [0.0, 255.0];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_layer_feedback: bool = true, "", "RFC 3561 §6.10";
        /// A frame that the MAC cannot deliver breaks the link only if the route to the packet's destination
        /// still leads over it. Behaviour rfc-3561 only.
        failure_needs_route: bool = false, "", "AODV-UU 0.9.1, ns/aodv-uu.cc";
        /// A packet that the MAC cannot deliver waits if its destination is being searched for, and breaks no
        /// link. Behaviour rfc-3561 only.
        search_keeps_failed: bool = false, "", "AODV-UU 0.9.1, ns/aodv-uu.cc";
        /// A packet of the node's own that the MAC cannot deliver, or that waited in the interface queue for
        /// the same neighbour, returns to the buffer and its destination is sought; off: it is dropped.
        /// Behaviour ns-2 only.
        rebuffer_own_packets: bool = false, "", "ns-2.1b8a aodv.cc";
        /// A break takes down the route to the failed packet's destination alone, and a route error goes to
        /// each neighbour by itself whose data used that route within ACTIVE_ROUTE_TIMEOUT; off: to all
        /// neighbours at once, for all routes over the link. Behaviour ns-2 only.
        unicast_errors: bool = false, "", "ns-2.1b8a aodv.cc; Dyer 2002 §3.4.2";
        /// With `unicast_errors`: node 0 counts as the neighbour that a node's own packets came from, so that
        /// the error of a route that the node uses itself goes to node 0, wherever that is (a fault of
        /// ns-2.1b8a). Behaviour ns-2 only.
        errors_to_node_0: bool = false, "", "ns-2.1b8a aodv.cc";
        /// Send hello messages, and break links to neighbours that stop sending them.
        hello: bool = false, "", "RFC 3561 §6.9";
        /// HELLO_INTERVAL.
        hello_interval_s: f64 = 1.0, "s", "RFC 3561 §10", [0.001, 1e4];
        /// ALLOWED_HELLO_LOSS: how many hellos may be missing before a link is broken.
        allowed_hello_loss: u32 = 2, "", "RFC 3561 §10", [1.0, 100.0];
        /// Additional time to wait for a neighbour's hellos. Hellos are jittered: without this slack a single
        /// lost hello may break the link. Behaviour rfc-3561 only.
        hello_slack_ms: f64 = 0.0, "ms", "RFC 3561 §6.9; AODV-UU: 50", [0.0, 1e4];
        /// Also send hellos without an active route. Behaviour rfc-3561 only.
        hello_when_idle: bool = false, "", "RFC 3561 §6.9; AODV-UU";
        /// All nodes send their first hello one interval after the start, and each next one an interval after
        /// their last broadcast; off: each begins at a random time, and looks once an interval whether it has
        /// broadcast in the last one. Behaviour rfc-3561 only.
        hello_follows_broadcast: bool = false, "", "AODV-UU 0.9.1, aodv_hello.c";
        /// Any packet from a neighbour counts as a hello; off: only messages of AODV. Behaviour rfc-3561
        /// only.
        data_counts_as_hello: bool = true, "", "RFC 3561 §6.9; AODV-UU 0.9.1, aodv_neighbor.c";
        /// Number of consecutive hellos, each within one and a half intervals of the previous one, that make
        /// a neighbour. Behaviour rfc-3561 only.
        hellos_before_neighbour: u32 = 1, "", "RFC 3561 §6.9; AODV-UU, receive_n_hellos", [1.0, 100.0];
        /// Always send hellos, and list in them the nodes that are heard. Hellos that do not list the
        /// receiving node are ignored, and so are requests from their senders. Behaviour rfc-3561 only.
        hello_two_way: bool = false, "", "AODV-UU, unidir_hack";
        /// Wait for DELETE_PERIOD after a reboot before taking part again. Behaviour rfc-3561 only.
        wait_on_reboot: bool = true, "", "RFC 3561 §6.13";
        /// Maximum number of packets that a node holds while it searches for routes; the oldest is dropped
        /// first.
        buffer_packets: u32 = 64, "packet", "ns-2.35 aodv_rqueue.h", [1.0, 100_000.0];
        /// How long a packet may wait for a route.
        buffer_timeout_s: f64 = 30.0, "s", "ns-2.35 aodv_rqueue.h", [0.001, 1e6];
        /// A broadcast waits a time uniform below this, so that neighbours do not collide. In behaviour ns-2
        /// this applies only to a broadcast that answers another.
        broadcast_jitter_ms: f64 = 10.0, "ms", "ns-2.35 aodv.cc; RFC 5148 §5", [0.0, 1e4];
        /// A reply or error to one neighbour waits a time uniform below this. Behaviour rfc-3561 only.
        unicast_jitter_ms: f64 = 10.0, "ms", "RFC 5148 §5; AODV-UU: 30", [0.0, 1e4];
        /// Gap between packets released from the buffer: ARP holds only one packet per neighbour.
        release_spacing_ms: f64 = 10.0, "ms", "ns-2.35 aodv.h", [0.0, 1e4];
    }
}

impl AodvParams {
    /// The names of the parameter sets that [`AodvParams::set`] knows.
    pub const SETS: &'static [&'static str] = &[
        "rfc-3561",
        "ns-2.35",
        "ns-2.1b8a",
        "dyer-2002",
        "aodv-uu-ll",
        "aodv-uu-hello",
        "aodv-uu-ll-2.27",
        "aodv-uu-hello-2.27",
    ];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<AodvParams> {
        match name {
            "rfc-3561" => Some(AodvParams::rfc()),
            "ns-2.35" => Some(AodvParams::ns_2_35()),
            "ns-2.1b8a" => Some(AodvParams::ns_2_1b8a()),
            "dyer-2002" => Some(AodvParams::dyer_2002()),
            "aodv-uu-ll" => Some(AodvParams::aodv_uu_ll()),
            "aodv-uu-hello" => Some(AodvParams::aodv_uu_hello()),
            "aodv-uu-ll-2.27" => Some(AodvParams::aodv_uu_ll().in_ns_2_27()),
            "aodv-uu-hello-2.27" => Some(AodvParams::aodv_uu_hello().in_ns_2_27()),
            _ => None,
        }
    }

    /// RFC 3561 §10; the same as [`AodvParams::default`].
    pub fn rfc() -> AodvParams {
        AodvParams::default()
    }

    /// ns-2.35 as it is shipped (aodv.h, aodv_rqueue.h).
    pub fn ns_2_35() -> AodvParams {
        AodvParams {
            behaviour: Behaviour::Ns2,
            active_route_timeout_s: 10.0,
            my_route_timeout_s: 10.0,
            net_diameter: 30,
            node_traversal_ms: 30.0,
            ttl_start: 5,
            ring_for_unknown: false,
            rreq_retries: 3,
            local_repair: true,
            allowed_hello_loss: 3,
            unicast_jitter_ms: 0.0,
            ..AodvParams::default()
        }
    }

    /// ns-2.1b8a (June 2001) as it is shipped (aodv.h, rtqueue.h), with rules that ns-2.35 no longer has. Its
    /// local repair is compiled out; `local_repair` turns it on.
    pub fn ns_2_1b8a() -> AodvParams {
        AodvParams {
            active_route_timeout_s: 50.0,
            my_route_timeout_s: 60.0,
            reverse_route_life_s: 10.0,
            broadcast_id_save_s: 6.0,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            ring_for_unknown: true,
            rreq_retries: 3,
            max_rreq_pause_s: 10.0,
            wait_by_nodes_between: true,
            keep_packets_after_retries: true,
            requests_prolong_routes: false,
            accept_any_when_down: true,
            hop_counts_from_zero: true,
            rreq_bytes: 52,
            pass_all_rreps: true,
            local_repair: false,
            rebuffer_own_packets: true,
            unicast_errors: true,
            errors_to_node_0: true,
            buffer_packets: 64,
            buffer_timeout_s: 30.0,
            ..AodvParams::ns_2_35()
        }
    }

    /// AODV of Dyer's dissertation (2002, Table 3.7): the ns-2 model with a route timeout of 50 s and rings
    /// from TTL 1. Of the rest MY_ROUTE_TIMEOUT (100 s), the reverse route's life (5 s) and the memory of
    /// requests (3 s) are those that the model's own comments give for its earlier versions, as they do the
    /// 50 s of Table 3.7.
    pub fn dyer_2002() -> AodvParams {
        AodvParams {
            active_route_timeout_s: 50.0,
            my_route_timeout_s: 100.0,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            ring_for_unknown: true,
            rreq_retries: 3,
            reverse_route_life_s: 5.0,
            broadcast_id_save_s: 3.0,
            buffer_packets: 64,
            buffer_timeout_s: 30.0,
            local_repair: true,
            ..AodvParams::ns_2_35()
        }
    }

    /// What AODV-UU (Uppsala University, 0.9) does in both of its modes, as its port to ns-2 is configured.
    fn aodv_uu() -> AodvParams {
        AodvParams {
            rreq_backoff: false,
            // AODV-UU blacklists by missing RREP-ACKs, which it asks for only with `unidir_hack`.
            blacklist: false,
            pass_known_rreps: false,
            wait_on_reboot: false,
            buffer_packets: 512,
            buffer_timeout_s: 10.0,
            unicast_jitter_ms: 30.0,
            ..AodvParams::rfc()
        }
    }

    /// AODV-UU with link-layer feedback: routes live longer, because a break does not need to be guessed.
    pub fn aodv_uu_ll() -> AodvParams {
        AodvParams {
            active_route_timeout_s: 10.0,
            my_route_timeout_s: 20.0,
            // DELETE_PERIOD is ACTIVE_ROUTE_TIMEOUT.
            delete_period_factor: 1.0,
            ..AodvParams::aodv_uu()
        }
    }

    /// AODV-UU with hello messages instead of link-layer feedback.
    pub fn aodv_uu_hello() -> AodvParams {
        AodvParams {
            link_layer_feedback: false,
            hello: true,
            hello_slack_ms: 50.0,
            hello_when_idle: true,
            // Neighbours are known; a request for them alone would be wasted.
            ttl_start: 2,
            // AODV-UU compares with 7 before it adds TTL_INCREMENT: its last ring has TTL 8.
            ttl_threshold: 8,
            ..AodvParams::aodv_uu()
        }
    }

    /// The same mode of AODV-UU with what its port to ns-2.27 (0.9.1, directory ns) does otherwise.
    fn in_ns_2_27(self) -> AodvParams {
        AodvParams {
            // The lists of recent messages hold one fewer than RREQ_RATELIMIT and RERR_RATELIMIT.
            rreq_ratelimit: 9,
            rerr_ratelimit: 9,
            rreq_limit_drops: true,
            // TTL_THRESHOLD is compared with before TTL_INCREMENT is added.
            ttl_threshold: 8,
            gratuitous_for_tcp: true,
            precursors_both_ways: true,
            failure_needs_route: true,
            search_keeps_failed: true,
            hello_follows_broadcast: true,
            data_counts_as_hello: false,
            broadcast_jitter_ms: 20.0,
            unicast_jitter_ms: 0.0,
            release_spacing_ms: 5.0,
            ..self
        }
    }

    fn active_route_timeout(&self) -> Span {
        Span::from_secs(self.active_route_timeout_s)
    }

    fn my_route_timeout(&self) -> Span {
        Span::from_secs(self.my_route_timeout_s)
    }

    fn hello_interval(&self) -> Span {
        Span::from_secs(self.hello_interval_s)
    }

    /// How long a neighbour may be silent.
    fn hello_patience(&self) -> Span {
        self.hello_interval() * u64::from(self.allowed_hello_loss)
            + Span::from_secs(self.hello_slack_ms * 1e-3)
    }

    fn broadcast_jitter(&self) -> Span {
        Span::from_secs(self.broadcast_jitter_ms * 1e-3)
    }

    fn buffer_timeout(&self) -> Span {
        Span::from_secs(self.buffer_timeout_s)
    }

    fn release_spacing(&self) -> Span {
        Span::from_secs(self.release_spacing_ms * 1e-3)
    }

    fn node_traversal(&self) -> Span {
        Span::from_secs(self.node_traversal_ms * 1e-3)
    }
}

/// One node's AODV. `stream` is used for jitter only; all nodes share `params`.
pub fn new(node: NodeId, params: &Arc<AodvParams>, stream: Stream) -> Box<dyn Routing> {
    match params.behaviour {
        Behaviour::Rfc3561 => Box::new(rfc3561::Rfc3561::new(node, Arc::clone(params), stream)),
        Behaviour::Ns2 => Box::new(ns2::Ns2::new(node, Arc::clone(params), stream)),
    }
}

/// A new control packet.
fn control(now: Time, src: NodeId, dst: NodeId, ttl: u32, bytes: u32, message: Message) -> Packet {
    Packet::control(now, src, dst, ttl.min(255) as u8, bytes, Payload::Aodv(message))
}
