//! The measures of a run as a whole.

use super::*;

/// All totals, by what must be there for them to apply.
pub const TOTALS: &[Group] = &[
    TCP,
    CONNECTION,
    PROGRESS,
    SPURIOUS,
    SPLIT,
    GUESSES,
    CBR,
    MESSAGE,
    VIDEO,
    VOICE,
    TIMELY,
    WEB,
    PATHS,
    PRESENCE,
    ENERGY,
    BIT_ERRORS,
    ROUTING,
    DELIVERY,
    AIR,
    CACHES,
    HOLDS,
    ANNOUNCEMENTS,
    RESERVATIONS,
];

const TCP: Group = Group {
    title: "TCP flows",
    flows: &["tcp"],
    needs: "",
    measures: &[
        measure("tcp_throughput_bps", "TCP throughput", BIT_RATE, Higher).also(&[
            "throughput",
            "tcp_throughput",
            "goodput_bps",
        ]),
        measure("tcp_goodput", "TCP goodput", RATIO_OF_ONE, Higher).optional(),
        measure("tcp_connect_time_mean_s", "TCP connect time", TIME, Lower).optional(),
        measure("tcp_retransmissions", "TCP segments retransmitted", COUNT, Lower),
        measure("tcp_timeouts", "TCP timeouts", COUNT, Lower),
    ],
};

const CONNECTION: Group = Group {
    title: "TCP connections",
    flows: CONNECTIONS,
    needs: "a flow that is one TCP connection",
    measures: &[
        measure("tcp_backoffs", "TCP back-offs", COUNT, Lower),
        measure("eq2_goodput_bps", "goodput by eq. 2 of Choi and Yoo", BIT_RATE, Higher).detail(),
    ],
};

const PROGRESS: Group = Group {
    title: "Progress of TCP flows",
    flows: &["tcp"],
    needs: "tcp.allowed_pause_s above 0",
    measures: &[
        measure("tcp_unsmoothness_max", "unsmoothness of the worst TCP flow", RATIO, Lower).optional()
    ],
};

const SPURIOUS: Group = Group {
    title: "Spurious retransmissions of TCP flows",
    flows: &["tcp"],
    needs: "tcp.spurious",
    measures: &[
        measure("tcp_spurious_timeouts", "spurious TCP timeouts", COUNT, Lower),
        measure("tcp_spurious_fast_retransmits", "spurious TCP fast retransmits", COUNT, Lower).detail(),
    ],
};

const SPLIT: Group = Group {
    title: "Acknowledged by base stations",
    flows: &["tcp"],
    needs: "tcp.base_station = split or m-tcp",
    measures: &[
        measure("tcp_acked_undelivered_bytes", "TCP payload acknowledged, never delivered", BYTES, Lower),
        measure(
            "tcp_acked_undelivered_max_bytes",
            "most of a TCP flow acknowledged and not delivered",
            BYTES,
            Lower,
        )
        .detail(),
    ],
};

const GUESSES: Group = Group {
    title: "Guesses why segments were lost, of TCP flows",
    flows: &["tcp"],
    needs: "tcp.loss_predictor",
    measures: &[
        measure("tcp_congestion_accuracy", "TCP congestion losses diagnosed", ROUGH_PERCENT, Higher)
            .optional(),
        measure("tcp_wireless_accuracy", "TCP wireless losses diagnosed", ROUGH_PERCENT, Higher).optional(),
        measure("tcp_judged_congestion_losses", "guesses at TCP congestion losses", COUNT, Neither).detail(),
        measure("tcp_judged_wireless_losses", "guesses at TCP wireless losses", COUNT, Neither).detail(),
        measure("tcp_judged_others", "guesses at other TCP segments", COUNT, Neither).detail(),
    ],
};

const CBR: Group = Group {
    title: "CBR flows",
    flows: &["cbr"],
    needs: "",
    measures: &[
        measure("cbr_sent", "CBR packets sent", COUNT, Neither),
        measure("cbr_received", "CBR packets received", COUNT, Higher),
        measure("cbr_delivery_fraction", "PDR", PERCENT, Higher)
            .words("packet delivery ratio of CBR")
            .optional()
            .also(&["pdr", "delivery", "delivery_ratio", "packet_delivery_ratio"]),
        measure("cbr_latency_mean_s", "mean end-to-end delay", DELAY, Lower).optional().also(&[
            "delay",
            "latency",
            "end_to_end_delay",
            "e2e_delay",
        ]),
        measure("cbr_latency_p50_s", "median end-to-end delay", DELAY, Lower).optional().detail(),
        measure("cbr_latency_p95_s", "95th percentile of end-to-end delay", DELAY, Lower).optional(),
        measure("cbr_latency_p99_s", "99th percentile of end-to-end delay", DELAY, Lower).optional().detail(),
        measure("cbr_throughput_bps", "CBR throughput", BIT_RATE, Higher),
    ],
};

const MESSAGE: Group = Group {
    title: "Flows of messages",
    flows: MESSAGES,
    needs: "",
    measures: &[
        measure("messages_made", "messages made", COUNT, Neither),
        measure("messages_delivered", "messages delivered", COUNT, Higher),
        measure("messages_dropped", "messages dropped at the sender", COUNT, Lower),
        measure("messages_lost", "messages lost in the network", COUNT, Lower),
        measure("message_delivery_fraction", "message delivery ratio", PERCENT, Higher).optional(),
        measure("message_network_drop_rate", "message loss in the network", PERCENT, Lower).optional(),
        measure("message_latency_mean_s", "mean message delay", DELAY, Lower).optional(),
        measure("message_throughput_bps", "message throughput", BIT_RATE, Higher),
    ],
};

const VIDEO: Group = Group {
    title: "Video",
    flows: &["video"],
    needs: "",
    measures: &[measure("video_decodable_fraction", "decodable video frames", PERCENT, Higher).optional()],
};

const VOICE: Group = Group {
    title: "Calls",
    flows: &["voice"],
    needs: "",
    measures: &[
        measure("voice_calls", "calls", COUNT, Neither),
        measure("voice_satisfied_fraction", "share of satisfied calls", ROUGH_PERCENT, Higher)
            .words("share of calls with R of at least 70 in both directions")
            .optional()
            .also(&["satisfied_calls"]),
        measure("voice_r_mean", "mean R", RATING, Higher).words("mean rating of the E-model").optional(),
        measure("voice_mos_mean", "mean MOS", RATIO, Higher)
            .words("mean opinion score")
            .optional()
            .also(&["mos"]),
        measure("voice_lost_fraction", "speech lost or late", PERCENT, Lower).optional(),
        measure("voice_mouth_to_ear_mean_s", "mean mouth-to-ear delay", HEARD_DELAY, Lower)
            .optional()
            .also(&["mouth_to_ear"]),
    ],
};

const TIMELY: Group = Group {
    title: "Datagrams with a deadline",
    flows: DATAGRAMS,
    needs: "a deadline_ms",
    measures: &[
        measure("datagram_in_time_fraction", "share within the deadline", PERCENT, Higher)
            .words("share of datagrams that arrive within the deadline")
            .optional()
            .also(&["in_time", "deadline_share"]),
        measure("datagram_jitter_mean_s", "mean jitter", FINE_DELAY, Lower)
            .words("mean interarrival jitter of RFC 3550")
            .optional()
            .also(&["jitter"]),
        measure("datagram_delay_spread_mean_s", "mean spread of delay", DELAY, Lower)
            .words("mean of the 95th less the 5th percentile of delay")
            .optional()
            .also(&["delay_variation"]),
    ],
};

const WEB: Group = Group {
    title: "Web sessions",
    flows: &["web"],
    needs: "",
    measures: &[
        measure("web_sessions", "Web sessions", COUNT, Neither),
        measure("web_sessions_finished", "Web sessions finished", COUNT, Higher),
        measure("web_cycles_completed", "Web cycles completed", COUNT, Higher),
        measure(
            "web_service_time_mean_s",
            "mean Web service time",
            Quantity { digits: 2, ..LONG_TIME },
            Lower,
        ),
        measure(
            "web_session_time_mean_s",
            "mean Web session time",
            Quantity { digits: 2, ..LONG_TIME },
            Lower,
        ),
        measure("web_response_time_mean_s", "mean Web response time", DELAY, Lower).optional(),
        measure("web_delivered_bytes", "Web payload delivered", KILOBYTES, Higher).detail(),
        measure("web_throughput_bps", "Web throughput per session", BIT_RATE, Higher).optional(),
        measure("web_combined_throughput_bps", "combined Web throughput", BIT_RATE, Higher).optional(),
        measure("web_timeouts", "Web timeouts", COUNT, Lower),
        measure("web_connection_time_s", "time with open Web connections", SUM_OF_TIMES, Neither).detail(),
    ],
};

const PATHS: Group = Group {
    title: "Paths and receptions",
    flows: &[],
    needs: "",
    measures: &[
        measure("hops_mean", "hops per delivered packet", HOPS, Neither)
            .optional()
            .also(&["hops", "path_length"]),
        measure("collision_fraction", "receptions lost to collisions", PERCENT, Lower).optional(),
    ],
};

const PRESENCE: Group = Group {
    title: "Nodes that join, leave or fail",
    flows: &["cbr"],
    needs: "a node that joins, leaves or fails",
    measures: &[measure("cbr_both_up_delivery_fraction", "PDR while both ends are up", PERCENT, Higher)
        .words("packet delivery ratio of CBR packets made while both ends are up")
        .optional()],
};

const ENERGY: Group = Group {
    title: "Energy",
    flows: &[],
    needs: "the table energy",
    measures: &[
        measure("energy_j", "energy", JOULES, Lower),
        measure("energy_without_idle_j", "energy without idling", JOULES, Lower)
            .words("energy spent on frames, sent or received"),
        measure("energy_data_j", "energy for data", JOULES, Neither).detail(),
        measure("energy_routing_j", "energy for routing", JOULES, Lower).detail(),
        measure("energy_arp_j", "energy for ARP", JOULES, Lower).detail(),
        measure("energy_mac_j", "energy for RTS, CTS and ACK", JOULES, Lower).detail(),
        measure("energy_busy_j", "energy for sensing a busy medium", JOULES, Neither).detail(),
        measure("energy_idle_j", "energy for idling", JOULES, Neither).detail(),
        measure("energy_per_delivered_kb_j", "energy per delivered kB", JOULES_PER_KB, Lower).optional(),
        measure("energy_dead_nodes", "nodes with an empty battery", COUNT, Lower),
        measure("energy_first_death_s", "time of the first empty battery", LONG_TIME, Higher).optional(),
        measure("energy_half_dead_s", "time when half of all batteries are empty", LONG_TIME, Higher)
            .optional()
            .detail(),
    ],
};

const BIT_ERRORS: Group = Group {
    title: "Bit errors",
    flows: &[],
    needs: "radio.bit_error_rate above 0",
    measures: &[measure("bit_error_fraction", "receptions with bit errors", PERCENT, Lower).optional()],
};

/// What routing alone sends: a protocol that floods data sends nothing of that kind.
const ROUTING: Group = Group {
    title: "Routing overhead",
    flows: &[],
    needs: "",
    measures: &[
        measure("routing_packets_per_s", "routing packets at IP", RATE, Neither)
            .also(&["overhead", "routing_overhead"]),
        measure("routing_bytes_per_s", "routing bytes at IP", BYTE_RATE, Neither),
        measure("routing_mac_frames_per_s", "routing frames at MAC", RATE, Neither),
        measure("routing_mac_bytes_per_s", "routing bytes at MAC", BYTE_RATE, Neither),
        measure("normalised_routing_load", "NRL", RATIO, Lower)
            .words("normalised routing load: routing packets per delivered packet")
            .optional()
            .also(&["nrl", "nro", "routing_load", "normalized_routing_load", "normalised_routing_overhead"]),
        measure("normalised_routing_bytes", "NRL in bytes", RATIO_OF_ONE, Lower)
            .words("normalised routing load in bytes: routing bytes per delivered byte")
            .optional(),
    ],
};

const DELIVERY: Group = Group {
    title: "Cost of a delivery",
    flows: &[],
    needs: "",
    measures: &[
        measure(
            "frames_per_delivered_packet",
            "frames of all kinds per delivered packet",
            Quantity { digits: 1, ..RATIO },
            Lower,
        )
        .optional(),
        measure("frame_bytes_per_delivered_byte", "frame bytes per delivered byte", RATIO, Lower).optional(),
        measure("mac_packets_per_delivered", "data packets sent per delivered packet", RATIO, Lower)
            .optional(),
        measure("mac_bytes_per_delivered_byte", "data bytes sent per delivered byte", RATIO, Lower)
            .optional(),
        measure(
            "rebroadcasts_per_delivered_packet",
            "data packets flooded again per delivered packet",
            RATIO,
            Lower,
        )
        .optional(),
    ],
};

const AIR: Group = Group {
    title: "On the air",
    flows: &[],
    needs: "",
    measures: &[
        measure("mac_frames_per_s", "all frames at MAC", RATE, Neither),
        measure("mac_bytes_per_s", "all bytes at MAC", BYTE_RATE, Neither),
    ],
};

const CACHES: Group = Group {
    title: "Routes from caches",
    flows: &[],
    needs: "DSR or TSR",
    measures: &[
        measure("routes_taken", "routes taken from caches", COUNT, Neither),
        measure("invalid_routes", "invalid routes from caches", COUNT, Neither),
        measure("stale_routes", "invalid routes over which nothing arrived", COUNT, Neither),
        measure("invalid_routes_with_probes", "invalid routes, with probes", COUNT, Neither),
    ],
};

const HOLDS: Group = Group {
    title: "TSR's holds",
    flows: &[],
    needs: "TSR",
    measures: &[
        measure("holds", "holds", COUNT, Neither),
        measure("holds_answered", "holds that an answer ended", COUNT, Neither),
        measure("holds_timed_out", "holds that the timer ended", COUNT, Neither),
        measure("hold_time_s", "total hold time", SUM_OF_TIMES, Neither).detail(),
        measure("hold_time_mean_s", "mean hold time", TIME, Neither).optional(),
        measure("hold_time_max_s", "longest hold time", TIME, Neither).optional().detail(),
        measure("probes_sent", "probes sent", COUNT, Neither),
        measure("probes_answered", "probes answered", COUNT, Neither),
        measure("probe_first_answer_mean_s", "mean delay of the first answer", DELAY, Neither).optional(),
    ],
};

const ANNOUNCEMENTS: Group = Group {
    title: "Path density protocol",
    flows: &[],
    needs: "throttle.mode density",
    measures: &[
        measure("announcements", "announcements of flows", COUNT, Neither),
        measure("announcements_alone", "announcements in packets of their own", COUNT, Neither).detail(),
        measure("announcement_bytes", "length of announcements", KILOBYTES, Neither),
        measure("throttle_error_mean", "mean error of the learned rates", RELATIVE_ERROR, Lower).optional(),
        measure("throttle_error_max", "largest error of a learned rate", RELATIVE_ERROR, Lower).optional(),
    ],
};

const RESERVATIONS: Group = Group {
    title: "Reservations",
    flows: &[],
    needs: "insignia.mode on",
    measures: &[
        measure("reserved_fraction", "delivered packets with a reservation", PERCENT, Higher).optional(),
        measure("reserved_max_share", "time with the full reservation", PERCENT, Higher).optional(),
        measure("reserved_min_share", "time with the minimum reservation", PERCENT, Neither).optional(),
        measure("restorations", "restorations of reservations", COUNT, Neither),
        measure("restoration_mean_s", "mean time to a restoration", TIME, Lower).optional(),
    ],
};
