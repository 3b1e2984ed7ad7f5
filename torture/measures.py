"""What each measure of a run may be, and how measures must fit each other: the one table of their ranges.

docs/metrics.md defines the measures. A measure that a result has and this table lacks is a finding, and so is
one that the table has and the page lacks (`tests/test_torture.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manetlab import Result


@dataclass(frozen=True)
class Range:
    """What a measure may be.

    Attributes:
        low: Smallest value.
        high: Largest value; `RUN` stands for the length of the run.
        is_whole: Is it a whole number?
        optional: May it be missing, because there is nothing that it could be computed from?
    """

    low: float = 0.0
    high: float = math.inf
    is_whole: bool = False
    optional: bool = False

    def holds(self, value: object, duration_s: float) -> bool:
        """May the measure be this, in a run of this length?"""
        if value is None:
            return self.optional
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        high = duration_s if self.high == RUN else self.high
        return self.low - ROUNDING <= value <= high * (1 + ROUNDING) + ROUNDING and math.isfinite(value)


RUN = -1.0
ROUNDING = 1e-9
"""What the arithmetic of floating-point numbers may add, relative to the value and in its unit."""

COUNT, COUNT_OR_NONE = Range(is_whole=True), Range(is_whole=True, optional=True)
WHOLE = Range(-math.inf, is_whole=True)
RATE, RATE_OR_NONE = Range(), Range(optional=True)
TIME, TIME_OR_NONE = Range(high=RUN), Range(high=RUN, optional=True)
SHARE_OR_NONE = Range(high=1.0, optional=True)
HOPS_OR_NONE = Range(1.0, 256.0, optional=True)

EVERY_FLOW = {
    "id": COUNT,
    "src": COUNT,
    "dst": COUNT,
    "start_s": TIME,
    "mac_packets": COUNT,
    "mac_bytes": COUNT,
    "mac_ack_packets": COUNT,
    "mac_ack_bytes": COUNT,
    "mac_packets_per_delivered": RATE_OR_NONE,
    "mac_bytes_per_delivered_byte": RATE_OR_NONE,
}
TCP = {
    "throughput_bps": RATE,
    "delivered_bytes": COUNT,
    # Above 1 if data is delivered in the window that was sent before it.
    "goodput": RATE_OR_NONE,
    "connect_time_s": TIME_OR_NONE,
    "segments_sent": COUNT,
    "retransmissions": COUNT,
    "timeouts": COUNT,
    "fast_retransmits": COUNT,
    "completed_s": TIME_OR_NONE,
    "hops_mean": HOPS_OR_NONE,
    "latency_mean_s": TIME_OR_NONE,
    "route_repairs": COUNT,
    "route_repair_mean_s": TIME_OR_NONE,
    "route_repair_max_s": TIME_OR_NONE,
    "longest_gap_s": TIME,
    "timeouts_in_row": COUNT,
    "eq2_goodput_bps": RATE,
    "backoffs": COUNT,
}
# What flows of messages over TCP have, too.
CONNECTION = {name: TCP[name] for name in ("eq2_goodput_bps", "backoffs")}
# With tcp.allowed_pause_s.
PROGRESS, PROGRESS_TOTALS = {"unsmoothness": RATE_OR_NONE}, {"tcp_unsmoothness_max": RATE_OR_NONE}
# With a flow that is one TCP connection.
TCP_TOTALS = {"tcp_backoffs": COUNT, "eq2_goodput_bps": RATE}
# With the path density protocol; rates may be compared with an oracle's.
BIT_ERROR_TOTALS = {"bit_error_fraction": SHARE_OR_NONE}
SHARE_TOTALS = {
    "announcements": COUNT,
    "announcements_alone": COUNT,
    "announcement_bytes": COUNT,
    "throttle_error_mean": RATE_OR_NONE,
    "throttle_error_max": RATE_OR_NONE,
}
COMPARED = {
    "throttle_error_mean": RATE_OR_NONE,
    "throttle_error_max": RATE_OR_NONE,
    "throttle_unknown_share": SHARE_OR_NONE,
}
# With DSR and TSR.
CACHE_TOTALS = {
    "routes_taken": COUNT,
    "invalid_routes": COUNT,
    "stale_routes": COUNT,
    "invalid_routes_with_probes": COUNT,
}
# With TSR. Holds of several nodes add up.
TSR_TOTALS = {
    "holds": COUNT,
    "holds_answered": COUNT,
    "holds_timed_out": COUNT,
    "hold_time_s": RATE,
    "hold_time_mean_s": TIME_OR_NONE,
    "hold_time_max_s": TIME_OR_NONE,
    "probes_sent": COUNT,
    "probes_answered": COUNT,
    "probe_first_answer_mean_s": TIME_OR_NONE,
}
CBR = {
    "sent": COUNT,
    "received": COUNT,
    "duplicates": COUNT,
    "delivery_fraction": SHARE_OR_NONE,
    "latency_mean_s": TIME_OR_NONE,
    "latency_p50_s": TIME_OR_NONE,
    "latency_p95_s": TIME_OR_NONE,
    "latency_p99_s": TIME_OR_NONE,
    "throughput_bps": RATE,
    "hops_mean": HOPS_OR_NONE,
}
MESSAGES = {
    "messages_made": COUNT,
    "messages_delivered": COUNT,
    "messages_dropped": COUNT,
    "messages_waiting": COUNT,
    "messages_lost": COUNT,
    "message_delivery_fraction": SHARE_OR_NONE,
    "message_network_drop_rate": SHARE_OR_NONE,
    "message_latency_mean_s": TIME_OR_NONE,
    "message_latency_p50_s": TIME_OR_NONE,
    "message_latency_p95_s": TIME_OR_NONE,
    "message_latency_p99_s": TIME_OR_NONE,
    "throughput_bps": RATE,
    "packets_sent": COUNT_OR_NONE,
    "packets_received": COUNT_OR_NONE,
    "packet_delivery_fraction": SHARE_OR_NONE,
    "network_latency_mean_s": TIME_OR_NONE,
    "hops_mean": HOPS_OR_NONE,
    "acks_sent": COUNT_OR_NONE,
    "timeouts": COUNT_OR_NONE,
}
VIDEO = {
    "frames_late": COUNT,
    "i_frames": COUNT,
    "p_frames": COUNT,
    "b_frames": COUNT,
    "i_decodable": COUNT,
    "p_decodable": COUNT,
    "b_decodable": COUNT,
    "decodable_fraction": SHARE_OR_NONE,
}
RTP = {
    "rtp_packets_expected": COUNT,
    # Copies count as received (RFC 3550, A.3), so fewer than none may be lost.
    "rtp_packets_lost": WHOLE,
    "rtp_loss_fraction": SHARE_OR_NONE,
    "rtp_jitter_s": TIME,
    "rtp_reports_sent": COUNT,
    "rtp_reports_received": COUNT,
    "rtp_reported_loss_mean": SHARE_OR_NONE,
    "rtp_sender_reports_sent": COUNT,
    "rtp_sender_reports_received": COUNT,
    "rtp_reported_packets": COUNT_OR_NONE,
    "rtp_reported_bytes": COUNT_OR_NONE,
    "rtp_round_trip_mean_s": TIME_OR_NONE,
    "rtp_in_time_fraction": SHARE_OR_NONE,
}
# With network.measure_path_hops.
PATH = {
    "path_hops_min": COUNT_OR_NONE,
    "path_hops_max": COUNT_OR_NONE,
    "path_hops_mean": HOPS_OR_NONE,
    "path_hops_mode": COUNT_OR_NONE,
    "path_hops_mode_share": SHARE_OR_NONE,
    "path_partitioned": Range(high=1.0),
}
# With network.measure_route_hops and a protocol that knows how long its routes are.
ROUTE = {"route_hops_mean": Range(0.0, 256.0, optional=True), "route_missing_share": SHARE_OR_NONE}
WEB = {
    "cycles": COUNT,
    "cycles_begun": COUNT,
    "cycles_completed": COUNT,
    "completed_s": TIME_OR_NONE,
    "service_time_s": TIME,
    "session_time_s": TIME,
    "responses": COUNT,
    "response_time_mean_s": TIME_OR_NONE,
    "response_time_max_s": TIME_OR_NONE,
    "delivered_bytes": COUNT,
    "throughput_bps": RATE_OR_NONE,
    "connections": COUNT,
    # Summed over connections, which may be open at once.
    "connection_time_s": RATE,
    "segments_sent": COUNT,
    "retransmissions": COUNT,
    "timeouts": COUNT,
    "hops_mean": HOPS_OR_NONE,
}
TOTALS = {
    "tcp_throughput_bps": RATE,
    "tcp_goodput": RATE_OR_NONE,
    "tcp_connect_time_mean_s": TIME_OR_NONE,
    "tcp_retransmissions": COUNT,
    "tcp_timeouts": COUNT,
    "cbr_sent": COUNT,
    "cbr_received": COUNT,
    "cbr_delivery_fraction": SHARE_OR_NONE,
    "cbr_latency_mean_s": TIME_OR_NONE,
    "cbr_latency_p50_s": TIME_OR_NONE,
    "cbr_latency_p95_s": TIME_OR_NONE,
    "cbr_latency_p99_s": TIME_OR_NONE,
    "cbr_throughput_bps": RATE,
    "routing_packets_per_s": RATE,
    "routing_bytes_per_s": RATE,
    "routing_mac_frames_per_s": RATE,
    "routing_mac_bytes_per_s": RATE,
    "mac_frames_per_s": RATE,
    "mac_bytes_per_s": RATE,
    "hops_mean": HOPS_OR_NONE,
    "collision_fraction": SHARE_OR_NONE,
    "mac_packets_per_delivered": RATE_OR_NONE,
    "mac_bytes_per_delivered_byte": RATE_OR_NONE,
    "frames_per_delivered_packet": RATE_OR_NONE,
    "frame_bytes_per_delivered_byte": RATE_OR_NONE,
    "rebroadcasts_per_delivered_packet": RATE_OR_NONE,
    "normalised_routing_load": RATE_OR_NONE,
    "normalised_routing_bytes": RATE_OR_NONE,
}
MESSAGE_TOTALS = {
    "messages_made": COUNT,
    "messages_delivered": COUNT,
    "messages_dropped": COUNT,
    "messages_lost": COUNT,
    "message_delivery_fraction": SHARE_OR_NONE,
    "message_network_drop_rate": SHARE_OR_NONE,
    "message_latency_mean_s": TIME_OR_NONE,
    "message_throughput_bps": RATE,
    "video_decodable_fraction": SHARE_OR_NONE,
}
WEB_TOTALS = {
    "web_sessions": COUNT,
    "web_sessions_finished": COUNT,
    "web_cycles_completed": COUNT,
    "web_service_time_mean_s": TIME,
    "web_session_time_mean_s": TIME,
    "web_response_time_mean_s": TIME_OR_NONE,
    "web_delivered_bytes": COUNT,
    "web_throughput_bps": RATE_OR_NONE,
    "web_combined_throughput_bps": RATE_OR_NONE,
    "web_timeouts": COUNT,
    "web_connection_time_s": RATE,
}
BY_KIND = {
    "tcp": TCP,
    "cbr": CBR,
    "video": MESSAGES | VIDEO,
    "web": WEB,
    **dict.fromkeys(("on-off", "poisson", "trace", "adp"), MESSAGES),
}
NAMED = {"kind", "transport"}
"""What a flow has beside its measures."""


def faults(result: Result) -> Iterator[str]:
    """What is wrong with the measures of a run, each in a line that begins with the measure's name."""
    scenario = result.provenance["scenario"]
    duration_s, warmup_s = scenario["duration_s"], scenario["warmup_s"]
    for flow in result.flows:
        table = EVERY_FLOW | BY_KIND[flow["kind"]]
        if flow.get("transport") == "tcp":
            table = table | CONNECTION
        if "rtp_jitter_s" in flow:
            table = table | RTP
        if scenario["params"]["network"]["measure_path_hops"]:
            table = table | PATH
        if flow["kind"] == "tcp" and scenario["params"]["tcp"]["allowed_pause_s"] > 0.0:
            table = table | PROGRESS
        if "throttle_unknown_share" in flow:
            table = table | COMPARED
        if "route_missing_share" in flow:
            table = table | ROUTE
        measured = {name: value for name, value in flow.items() if name not in NAMED}
        for fault in (*_outside(measured, table, duration_s), *_unfit(flow, duration_s - warmup_s)):
            yield f"{fault} (a flow of kind {flow['kind']})"
    yield from _outside(result.totals, _totals(result), duration_s)
    yield from _unbalanced(result.audit)
    yield from _other_totals(result)


def _totals(result: Result) -> dict[str, Range]:
    """The table of this run's totals."""
    kinds = {flow["kind"] for flow in result.flows}
    table = dict(TOTALS)
    if kinds & {"on-off", "poisson", "trace", "adp", "video"}:
        table |= MESSAGE_TOTALS
    if "web" in kinds:
        table |= WEB_TOTALS
    routing = result.provenance["scenario"]["routing"]
    if "tcp" in kinds or "tcp_backoffs" in result.totals:
        table |= TCP_TOTALS
    if routing in ("dsr", "tsr"):
        table |= CACHE_TOTALS
    if routing == "tsr":
        table |= TSR_TOTALS
    if "tcp" in kinds and result.provenance["scenario"]["params"]["tcp"]["allowed_pause_s"] > 0.0:
        table |= PROGRESS_TOTALS
    if result.provenance["scenario"]["params"]["throttle"]["mode"] == "density":
        table |= SHARE_TOTALS
    if result.provenance["scenario"]["params"]["radio"]["bit_error_rate"] > 0.0:
        table |= BIT_ERROR_TOTALS
    return table


def _outside(measured: Mapping[str, Any], table: Mapping[str, Range], duration_s: float) -> Iterator[str]:
    for name in sorted(measured.keys() ^ table.keys()):
        yield f"{name}: {'not in the table of measures' if name in measured else 'missing'}"
    for name, value in measured.items():
        if name in table and not table[name].holds(value, duration_s):
            yield f"{name}: {value!r} is outside its range in a run of {duration_s} s"


ORDERED = (
    ("received", "sent"),
    ("retransmissions", "segments_sent"),
    ("messages_delivered", "messages_made"),
    ("packets_received", "packets_sent"),
    ("i_decodable", "i_frames"),
    ("p_decodable", "p_frames"),
    ("b_decodable", "b_frames"),
    ("cycles_completed", "cycles"),
    ("cycles_begun", "cycles"),
    ("responses", "cycles_begun"),
    ("latency_p50_s", "latency_p95_s"),
    ("latency_p95_s", "latency_p99_s"),
    ("message_latency_p50_s", "message_latency_p95_s"),
    ("message_latency_p95_s", "message_latency_p99_s"),
    ("response_time_mean_s", "response_time_max_s"),
    ("route_repair_mean_s", "route_repair_max_s"),
    ("path_hops_min", "path_hops_mode"),
    ("path_hops_min", "path_hops_mean"),
    ("path_hops_mode", "path_hops_max"),
    ("path_hops_mean", "path_hops_max"),
)
"""Pairs of measures of a flow of which the first is not above the second."""

HAS_TO_BE = (
    ("sent", "delivery_fraction"),
    ("received", "latency_mean_s"),
    ("received", "hops_mean"),
    ("messages_made", "message_delivery_fraction"),
    ("messages_delivered", "message_latency_mean_s"),
    ("packets_sent", "packet_delivery_fraction"),
    ("packets_received", "hops_mean"),
    ("responses", "response_time_mean_s"),
    ("route_repairs", "route_repair_mean_s"),
    ("rtp_packets_expected", "rtp_loss_fraction"),
)
"""Counts, and what exists if they are not zero: a number that is none in JSON may have been no number."""


def _unfit(flow: Mapping[str, Any], window_s: float) -> Iterator[str]:
    """Measures of a flow that contradict each other."""
    for less, more in ORDERED:
        low, high = flow.get(less), flow.get(more)
        if low is not None and high is not None and low > high * (1 + ROUNDING) + ROUNDING:
            yield f"{less}: {low!r} is above {more}, {high!r}"
    for count, measure in HAS_TO_BE:
        if measure in flow and (flow.get(count) or 0) > 0 and flow[measure] is None:
            yield f"{measure}: none although {count} is {flow[count]}"
    parts = [flow.get(f"messages_{end}") for end in ("delivered", "dropped", "lost", "waiting")]
    if "messages_made" in flow and flow["messages_made"] != sum(parts):  # type: ignore[arg-type]
        yield f"messages_made: {flow['messages_made']} is not the sum of {parts}"
    if flow["kind"] == "tcp":
        expected = 8 * flow["delivered_bytes"] / window_s
        if not math.isclose(flow["throughput_bps"], expected, rel_tol=1e-6, abs_tol=1e-6):
            yield f"throughput_bps: {flow['throughput_bps']!r} is not {expected!r}"


def _unbalanced(audit: Mapping[str, Any]) -> Iterator[str]:
    """Accounts whose two sides differ."""
    if audit["balanced"] is not True:
        yield "audit: not balanced"
    ends = ("delivered", "consumed", "handed_over", "dropped", "in_flight")
    for name in ("data", "routing"):
        books = audit[name]
        if books["made"] + books["received"] != sum(books[end] for end in ends):
            yield f"audit: the copies of {name} do not balance: {books}"
    for number, books in enumerate(audit["flows"]):
        if books["made"] != books["delivered"] + books["lost"] + books["in_flight"]:
            yield f"audit: the packets of flow {number} do not balance: {books}"


SUMS = (
    ("tcp_throughput_bps", "tcp", "throughput_bps"),
    ("cbr_sent", "cbr", "sent"),
    ("cbr_received", "cbr", "received"),
)
"""Totals, the kind of flow, and its measure of which they are the sum."""


def _other_totals(result: Result) -> Iterator[str]:
    """Totals that are not the sums that they should be, and drops that count nothing."""
    for total, kind, measure in SUMS:
        summed = sum(flow[measure] for flow in result.flows if flow["kind"] == kind)
        if not math.isclose(result.totals[total], summed, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{total}: {result.totals[total]!r} is not the sum over the flows, {summed!r}"
    if any(drop["count"] < 1 for drop in result.drops):
        yield f"drops: a reason without drops: {result.drops}"
    counts = [drop["count"] for drop in result.drops]
    if counts != sorted(counts, reverse=True):
        yield "drops: not the most frequent first"
