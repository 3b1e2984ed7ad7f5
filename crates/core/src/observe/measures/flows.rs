//! The measures of single flows.

use super::*;

/// All measures of flows, by the kinds of flows that have them.
pub const FLOWS: &[Group] = &[
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
    RTP,
    TIMELY,
    WEB,
    COST,
    PATH,
    ROUTE,
    RATES,
    RESERVATION,
];

const EQ2_GOODPUT: Measure =
    measure("eq2_goodput_bps", "goodput by eq. 2 of Choi and Yoo", BIT_RATE, Higher).detail();
const BACKOFFS: Measure = measure("backoffs", "back-offs", COUNT, Lower);

const TCP: Group = Group {
    title: "TCP",
    flows: &["tcp"],
    needs: "",
    measures: &[
        measure("throughput_bps", "throughput", BIT_RATE, Higher),
        measure("delivered_bytes", "payload delivered", BYTES, Higher).detail(),
        measure("goodput", "goodput", RATIO_OF_ONE, Higher).optional(),
        measure("connect_time_s", "connect", TIME, Lower).optional(),
        measure("segments_sent", "segments", COUNT, Neither),
        measure("retransmissions", "retransmitted", COUNT, Lower),
        measure("timeouts", "timeouts", COUNT, Lower),
        measure("fast_retransmits", "fast retransmits", COUNT, Neither).detail(),
        BACKOFFS,
        measure("completed_s", "completed at", TIME, Lower).optional().detail(),
        measure("hops_mean", "hops", HOPS, Neither).optional(),
        measure("latency_mean_s", "delay", DELAY, Lower).words("mean end-to-end delay").optional().detail(),
        measure("route_repairs", "route repairs", COUNT, Neither).detail(),
        measure("route_repair_mean_s", "mean route repair", TIME, Lower).optional().detail(),
        measure("route_repair_max_s", "longest route repair", TIME, Lower).optional().detail(),
        measure("longest_gap_s", "longest gap", TIME, Lower).detail(),
        measure("timeouts_in_row", "timeouts in a row", COUNT, Lower).detail(),
        EQ2_GOODPUT,
    ],
};

const CONNECTION: Group = Group {
    title: "Messages over TCP",
    flows: OVER_ANY,
    needs: "TCP",
    measures: &[EQ2_GOODPUT, BACKOFFS.detail()],
};

const PROGRESS: Group = Group {
    title: "Progress",
    flows: &["tcp"],
    needs: "tcp.allowed_pause_s above 0",
    measures: &[measure("unsmoothness", "unsmoothness", RATIO, Lower).optional()],
};

const SPURIOUS: Group = Group {
    title: "Spurious retransmissions",
    flows: &["tcp"],
    needs: "tcp.spurious",
    measures: &[
        measure("spurious_timeouts", "spurious timeouts", COUNT, Lower),
        measure("spurious_fast_retransmits", "spurious fast retransmits", COUNT, Lower).detail(),
    ],
};

const SPLIT: Group = Group {
    title: "Acknowledged by a base station",
    flows: &["tcp"],
    needs: "tcp.base_station = split or m-tcp",
    measures: &[
        measure("acked_undelivered_bytes", "acknowledged, never delivered", BYTES, Lower),
        measure("acked_undelivered_max_bytes", "most acknowledged and not delivered", BYTES, Lower).detail(),
    ],
};

const GUESSES: Group = Group {
    title: "Guesses why segments were lost",
    flows: &["tcp"],
    needs: "tcp.loss_predictor",
    measures: &[
        measure("congestion_accuracy", "congestion losses diagnosed", ROUGH_PERCENT, Higher).optional(),
        measure("wireless_accuracy", "wireless losses diagnosed", ROUGH_PERCENT, Higher).optional(),
        measure("judged_congestion_losses", "guesses at congestion losses", COUNT, Neither).detail(),
        measure("judged_wireless_losses", "guesses at wireless losses", COUNT, Neither).detail(),
        measure("judged_others", "guesses at other segments", COUNT, Neither).detail(),
    ],
};

const CBR: Group = Group {
    title: "CBR",
    flows: &["cbr"],
    needs: "",
    measures: &[
        measure("sent", "sent", COUNT, Neither),
        measure("received", "received", COUNT, Higher),
        measure("duplicates", "duplicates", COUNT, Neither).detail(),
        measure("delivery_fraction", "PDR", ROUGH_PERCENT, Higher).words("packet delivery ratio").optional(),
        measure("latency_mean_s", "delay", DELAY, Lower).words("mean end-to-end delay").optional(),
        measure("latency_p50_s", "median delay", DELAY, Lower).optional().detail(),
        measure("latency_p95_s", "95th pct of delay", DELAY, Lower).optional(),
        measure("latency_p99_s", "99th percentile of delay", DELAY, Lower).optional().detail(),
        measure("throughput_bps", "throughput", BIT_RATE, Higher),
        measure("hops_mean", "hops", HOPS, Neither).optional(),
    ],
};

const MESSAGE: Group = Group {
    title: "Messages",
    flows: MESSAGES,
    needs: "",
    measures: &[
        measure("messages_made", "made", COUNT, Neither),
        measure("messages_delivered", "delivered", COUNT, Higher),
        measure("messages_dropped", "dropped at sender", COUNT, Lower),
        measure("messages_lost", "lost", COUNT, Lower),
        measure("messages_waiting", "waiting", COUNT, Neither).detail(),
        measure("message_delivery_fraction", "delivered", ROUGH_PERCENT, Higher).optional(),
        measure("message_network_drop_rate", "loss in the network", PERCENT, Lower).optional().detail(),
        measure("message_latency_mean_s", "delay", DELAY, Lower).optional(),
        measure("message_latency_p50_s", "median delay", DELAY, Lower).optional().detail(),
        measure("message_latency_p95_s", "95th percentile of delay", DELAY, Lower).optional().detail(),
        measure("message_latency_p99_s", "99th percentile of delay", DELAY, Lower).optional().detail(),
        measure("throughput_bps", "throughput", BIT_RATE, Higher),
        measure("packets_sent", "packets sent", COUNT, Neither).optional().detail(),
        measure("packets_received", "packets received", COUNT, Higher).optional().detail(),
        measure("packet_delivery_fraction", "PDR", ROUGH_PERCENT, Higher)
            .words("packet delivery ratio")
            .optional()
            .detail(),
        measure("network_latency_mean_s", "delay in the network", DELAY, Lower).optional().detail(),
        measure("hops_mean", "hops", HOPS, Neither).optional(),
        measure("acks_sent", "ACKs sent", COUNT, Neither).optional().detail(),
        measure("timeouts", "timeouts", COUNT, Lower).optional().detail(),
    ],
};

const VIDEO: Group = Group {
    title: "Video",
    flows: &["video"],
    needs: "",
    measures: &[
        measure("frames_late", "frames late", COUNT, Lower).detail(),
        measure("i_frames", "I frames", COUNT, Neither).detail(),
        measure("p_frames", "P frames", COUNT, Neither).detail(),
        measure("b_frames", "B frames", COUNT, Neither).detail(),
        measure("i_decodable", "decodable I frames", COUNT, Higher).detail(),
        measure("p_decodable", "decodable P frames", COUNT, Higher).detail(),
        measure("b_decodable", "decodable B frames", COUNT, Higher).detail(),
        measure("decodable_fraction", "decodable frames", ROUGH_PERCENT, Higher).optional().detail(),
    ],
};

const VOICE: Group = Group {
    title: "Voice",
    flows: &["voice"],
    needs: "",
    measures: &[
        measure("voice_r", "R", RATING, Higher).words("rating of the E-model").optional(),
        measure("voice_mos", "MOS", RATIO, Higher).words("mean opinion score").optional(),
        measure("voice_worst_mos", "worst MOS in 10 s", RATIO, Higher).optional(),
        measure("voice_satisfied_time_fraction", "10 s windows with R ≥ 70", ROUGH_PERCENT, Higher)
            .optional(),
        measure("voice_mouth_to_ear_s", "mouth-to-ear delay", HEARD_DELAY, Lower).optional(),
        measure("voice_lost_fraction", "lost or late", PERCENT, Lower).optional(),
        measure("voice_packets_late", "late", COUNT, Lower).detail(),
        measure("voice_burst_ratio", "burst ratio", RATIO, Neither).optional().detail(),
    ],
};

const RTP: Group = Group {
    title: "RTP",
    flows: OVER_RTP,
    needs: "RTP",
    measures: &[
        measure("rtp_packets_expected", "packets expected", COUNT, Neither),
        measure("rtp_packets_lost", "packets lost", WHOLE, Lower).detail(),
        measure("rtp_loss_fraction", "lost", PERCENT, Lower).optional(),
        measure("rtp_jitter_s", "jitter", FINE_DELAY, Lower),
        measure("rtp_reports_sent", "reports sent", COUNT, Neither),
        measure("rtp_reports_received", "reports received", COUNT, Neither),
        measure("rtp_reported_loss_mean", "loss reported", PERCENT, Lower).optional(),
        measure("rtp_sender_reports_sent", "sender reports sent", COUNT, Neither).detail(),
        measure("rtp_sender_reports_received", "sender reports received", COUNT, Neither).detail(),
        measure("rtp_reported_packets", "packets sent, as reported", COUNT, Neither).optional().detail(),
        measure("rtp_reported_bytes", "payload sent, as reported", BYTES, Neither).optional().detail(),
        measure("rtp_round_trip_mean_s", "round trip", DELAY, Lower).optional(),
        measure("rtp_in_time_fraction", "in time", ROUGH_PERCENT, Higher).optional(),
    ],
};

const TIMELY: Group = Group {
    title: "Datagrams with a deadline",
    flows: DATAGRAMS,
    needs: "a deadline_ms",
    measures: &[
        measure("in_time_fraction", "within the deadline", ROUGH_PERCENT, Higher).optional(),
        measure("jitter_s", "jitter", FINE_DELAY, Lower)
            .words("mean interarrival jitter of RFC 3550")
            .optional(),
        measure("delay_spread_s", "spread of delay", DELAY, Lower)
            .words("95th less 5th percentile of delay")
            .optional(),
    ],
};

const WEB: Group = Group {
    title: "Web",
    flows: &["web"],
    needs: "",
    measures: &[
        measure("cycles", "cycles", COUNT, Neither),
        measure("cycles_begun", "begun", COUNT, Neither).detail(),
        measure("cycles_completed", "completed", COUNT, Higher),
        measure("completed_s", "completed at", TIME, Lower).optional().detail(),
        measure("service_time_s", "service time", LONG_TIME, Lower),
        measure("session_time_s", "session time", LONG_TIME, Lower).detail(),
        measure("responses", "responses", COUNT, Higher).detail(),
        measure("response_time_mean_s", "response time", DELAY, Lower).optional(),
        measure("response_time_max_s", "longest response time", DELAY, Lower).optional().detail(),
        measure("delivered_bytes", "payload delivered", BYTES, Higher).detail(),
        measure("throughput_bps", "throughput", BIT_RATE, Higher).optional(),
        measure("connections", "connections", COUNT, Neither),
        measure("connection_time_s", "time with open connections", SUM_OF_TIMES, Neither).detail(),
        measure("segments_sent", "segments", COUNT, Neither).detail(),
        measure("retransmissions", "retransmitted", COUNT, Lower).detail(),
        measure("timeouts", "timeouts", COUNT, Lower),
        measure("hops_mean", "hops", HOPS, Neither).optional(),
    ],
};

const COST: Group = Group {
    title: "Cost at the MAC",
    flows: &[],
    needs: "",
    measures: &[
        measure("mac_packets", "data packets sent", COUNT, Neither).detail(),
        measure("mac_bytes", "data bytes sent", BYTES, Neither).detail(),
        measure("mac_ack_packets", "acknowledgements sent", COUNT, Neither).detail(),
        measure("mac_ack_bytes", "bytes of acknowledgements sent", BYTES, Neither).detail(),
        measure("mac_packets_per_delivered", "data packets sent per delivered packet", RATIO, Lower)
            .optional()
            .detail(),
        measure("mac_bytes_per_delivered_byte", "data bytes sent per delivered byte", RATIO, Lower)
            .optional()
            .detail(),
    ],
};

const PATH: Group = Group {
    title: "Shortest path",
    flows: &[],
    needs: "network.measure_path_hops",
    measures: &[
        measure("path_hops_min", "fewest hops of the shortest path", COUNT, Neither).optional().detail(),
        measure("path_hops_max", "most hops of the shortest path", COUNT, Neither).optional().detail(),
        measure("path_hops_mean", "mean hops of the shortest path", HOPS, Neither).optional().detail(),
        measure("path_hops_mode", "usual hops of the shortest path", COUNT, Neither).optional().detail(),
        measure("path_hops_mode_share", "share of time with the usual hops", PERCENT, Neither)
            .optional()
            .detail(),
        measure("path_partitioned", "share of time without a path", PERCENT, Neither).detail(),
    ],
};

const ROUTE: Group = Group {
    title: "Route at the source",
    flows: &[],
    needs: "network.measure_route_hops and a protocol that knows the length of its routes",
    measures: &[
        // A source may have a route of no link, to itself.
        measure("route_hops_mean", "hops of the route at the source", RATIO, Neither).optional().detail(),
        measure("route_missing_share", "share of time without a route", PERCENT, Lower).optional().detail(),
    ],
};

const RATES: Group = Group {
    title: "Rates that the source learns",
    flows: &[],
    needs: "throttle.measure_error, and a rate of the oracle",
    measures: &[
        measure("throttle_error_mean", "mean error of the learned rates", RELATIVE_ERROR, Lower)
            .optional()
            .detail(),
        measure("throttle_error_max", "largest error of a learned rate", RELATIVE_ERROR, Lower)
            .optional()
            .detail(),
        measure("throttle_unknown_share", "share of time without a learned rate", PERCENT, Lower)
            .optional()
            .detail(),
    ],
};

const RESERVATION: Group = Group {
    title: "Reservation",
    flows: &[],
    needs: "insignia.mode on, and a flow with reserve_bps",
    measures: &[
        measure("reserved_fraction", "delivered packets with a reservation", PERCENT, Higher).optional(),
        measure("reserved_max_share", "time with the full reservation", PERCENT, Higher),
        measure("reserved_min_share", "time with the minimum reservation", PERCENT, Neither),
        measure("restorations", "restorations of its reservation", COUNT, Neither).detail(),
        measure("restoration_mean_s", "mean time to a restoration", TIME, Lower).optional().detail(),
    ],
};
