"""How the metrics are shown: names, units and digits. docs/metrics.md defines them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manetlab.stats import Interval


@dataclass(frozen=True)
class Metric:
    """How one metric is shown.

    Attributes:
        key: Its key in the result.
        label: Its name in words.
        unit: The unit in which it is shown.
        factor: What the result's value is multiplied by for that unit.
        digits: Digits after the point.
    """

    key: str
    label: str
    unit: str = ""
    factor: float = 1.0
    digits: int = 0

    @property
    def heading(self) -> str:
        """Name and unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def of_differences(self) -> Metric:
        """How differences of it are shown: those of percentages are percentage points."""
        return replace(self, unit="percentage points") if self.unit == "%" else self

    def show(self, values: Mapping[str, Any]) -> str:
        """The value in its unit; a dash if there is none."""
        value = values.get(self.key)
        return "–" if value is None else f"{value * self.factor:.{self.digits}f}"

    def show_interval(self, interval: Interval) -> str:
        """Mean and half width in the metric's unit, or mean and ends where it is not in the middle."""
        scaled = interval.scaled(self.factor)
        if scaled.ends is None:
            return f"{scaled.mean:.{self.digits}f} ± {self._number(scaled.half_width)}"
        ends = f"{self._number(scaled.low)} to {self._number(scaled.high)}"
        return f"{scaled.mean:.{self.digits}f} ({ends})"

    def _number(self, value: float) -> str:
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        # Adding zero makes −0 an ordinary zero.
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}"


TCP_FLOW = (
    Metric("throughput_bps", "throughput", "kb/s", 1e-3, 1),
    Metric("goodput", "goodput", "", 1, 3),
    Metric("connect_time_s", "connect", "s", 1, 3),
    Metric("segments_sent", "segments"),
    Metric("retransmissions", "retransmitted"),
    Metric("timeouts", "timeouts"),
    Metric("backoffs", "back-offs"),
    Metric("hops_mean", "hops", "", 1, 2),
)
CBR_FLOW = (
    Metric("sent", "sent"),
    Metric("received", "received"),
    Metric("delivery_fraction", "delivered", "%", 100, 1),
    Metric("latency_mean_s", "latency", "ms", 1e3, 1),
    Metric("latency_p95_s", "95th pct", "ms", 1e3, 1),
    Metric("throughput_bps", "throughput", "kb/s", 1e-3, 1),
    Metric("hops_mean", "hops", "", 1, 2),
)
MESSAGE_FLOW = (
    Metric("messages_made", "made"),
    Metric("messages_delivered", "delivered"),
    Metric("messages_dropped", "dropped at sender"),
    Metric("messages_lost", "lost"),
    Metric("message_delivery_fraction", "delivered", "%", 100, 1),
    Metric("message_latency_mean_s", "latency", "ms", 1e3, 1),
    Metric("throughput_bps", "throughput", "kb/s", 1e-3, 1),
    Metric("hops_mean", "hops", "", 1, 2),
)
RTP_FLOW = (
    Metric("rtp_packets_expected", "packets expected"),
    Metric("rtp_loss_fraction", "lost", "%", 100, 2),
    Metric("rtp_jitter_s", "jitter", "ms", 1e3, 2),
    Metric("rtp_reports_sent", "reports sent"),
    Metric("rtp_reports_received", "reports received"),
    Metric("rtp_reported_loss_mean", "loss reported", "%", 100, 2),
    Metric("rtp_round_trip_mean_s", "round trip", "ms", 1e3, 1),
    Metric("rtp_in_time_fraction", "in time", "%", 100, 1),
)
PROGRESS = (Metric("unsmoothness", "unsmoothness", "", 1, 2),)
WEB_FLOW = (
    Metric("cycles", "cycles"),
    Metric("cycles_completed", "completed"),
    Metric("service_time_s", "service time", "s", 1, 1),
    Metric("response_time_mean_s", "response time", "ms", 1e3, 1),
    Metric("throughput_bps", "throughput", "kb/s", 1e-3, 1),
    Metric("connections", "connections"),
    Metric("timeouts", "timeouts"),
    Metric("hops_mean", "hops", "", 1, 2),
)
FLOWS: Mapping[str, tuple[Metric, ...]] = {
    "tcp": TCP_FLOW,
    "cbr": CBR_FLOW,
    **dict.fromkeys(("on-off", "poisson", "trace", "video", "adp"), MESSAGE_FLOW),
    "web": WEB_FLOW,
}
"""What is shown of each kind of flow, in the order in which they are shown."""
TOTALS = (
    Metric("tcp_throughput_bps", "TCP throughput", "kb/s", 1e-3, 1),
    Metric("tcp_goodput", "TCP goodput", "", 1, 3),
    Metric("tcp_connect_time_mean_s", "TCP connect time", "s", 1, 3),
    Metric("tcp_retransmissions", "TCP segments retransmitted"),
    Metric("tcp_timeouts", "TCP timeouts"),
    Metric("tcp_backoffs", "TCP back-offs"),
    Metric("eq2_goodput_bps", "goodput by eq. 2 of Choi and Yoo", "kb/s", 1e-3, 1),
    Metric("routes_taken", "routes taken from caches"),
    Metric("invalid_routes", "invalid routes from caches"),
    Metric("stale_routes", "of these, over which nothing arrived"),
    Metric("invalid_routes_with_probes", "invalid routes, with probes"),
    Metric("holds", "holds"),
    Metric("holds_answered", "holds that an answer ended"),
    Metric("holds_timed_out", "holds that the timer ended"),
    Metric("hold_time_mean_s", "mean hold time", "s", 1, 3),
    Metric("probes_sent", "probes sent"),
    Metric("probes_answered", "probes answered"),
    Metric("probe_first_answer_mean_s", "mean delay of the first answer", "ms", 1e3, 1),
    Metric("tcp_unsmoothness_max", "unsmoothness of the worst TCP flow", "", 1, 2),
    Metric("announcements", "announcements of flows"),
    Metric("announcement_bytes", "their length", "kB", 1e-3, 1),
    Metric("throttle_error_mean", "mean error of the learned rates", "%", 100, 1),
    Metric("throttle_error_max", "greatest error of a learned rate", "%", 100, 1),
    Metric("cbr_sent", "CBR packets sent"),
    Metric("cbr_received", "CBR packets received"),
    Metric("cbr_delivery_fraction", "CBR delivery", "%", 100, 2),
    Metric("cbr_latency_mean_s", "mean CBR latency", "ms", 1e3, 1),
    Metric("cbr_latency_p95_s", "95th percentile of CBR latency", "ms", 1e3, 1),
    Metric("cbr_throughput_bps", "CBR throughput", "kb/s", 1e-3, 1),
    Metric("messages_made", "messages made"),
    Metric("messages_delivered", "messages delivered"),
    Metric("messages_dropped", "messages dropped at the sender"),
    Metric("messages_lost", "messages lost in the network"),
    Metric("message_delivery_fraction", "message delivery", "%", 100, 2),
    Metric("message_network_drop_rate", "message loss in the network", "%", 100, 2),
    Metric("message_latency_mean_s", "mean message latency", "ms", 1e3, 1),
    Metric("message_throughput_bps", "message throughput", "kb/s", 1e-3, 1),
    Metric("video_decodable_fraction", "decodable video frames", "%", 100, 2),
    Metric("web_sessions", "Web sessions"),
    Metric("web_sessions_finished", "Web sessions finished"),
    Metric("web_cycles_completed", "Web cycles completed"),
    Metric("web_service_time_mean_s", "mean Web service time", "s", 1, 2),
    Metric("web_session_time_mean_s", "mean Web session time", "s", 1, 2),
    Metric("web_response_time_mean_s", "mean Web response time", "ms", 1e3, 1),
    Metric("web_throughput_bps", "Web throughput per session", "kb/s", 1e-3, 1),
    Metric("web_combined_throughput_bps", "combined Web throughput", "kb/s", 1e-3, 1),
    Metric("web_timeouts", "Web timeouts"),
    Metric("routing_packets_per_s", "routing packets at IP", "1/s", 1, 1),
    Metric("routing_bytes_per_s", "routing bytes at IP", "B/s", 1, 0),
    Metric("routing_mac_frames_per_s", "routing frames at MAC", "1/s", 1, 1),
    Metric("routing_mac_bytes_per_s", "routing bytes at MAC", "B/s", 1, 0),
    Metric("mac_frames_per_s", "all frames at MAC", "1/s", 1, 1),
    Metric("mac_bytes_per_s", "all bytes at MAC", "B/s", 1, 0),
    Metric("frames_per_delivered_packet", "frames of all kinds per delivered packet", "", 1, 1),
    Metric("frame_bytes_per_delivered_byte", "frame bytes per delivered byte", "", 1, 2),
    Metric("normalised_routing_load", "routing packets per delivered packet", "", 1, 2),
    Metric("normalised_routing_bytes", "routing bytes per delivered byte", "", 1, 3),
    Metric("mac_packets_per_delivered", "data packets sent per delivered packet", "", 1, 2),
    Metric("mac_bytes_per_delivered_byte", "data bytes sent per delivered byte", "", 1, 2),
    Metric("rebroadcasts_per_delivered_packet", "data packets flooded again per delivered packet", "", 1, 2),
    Metric("hops_mean", "hops per delivered packet", "", 1, 2),
    Metric("collision_fraction", "receptions lost to collisions", "%", 100, 2),
    Metric("bit_error_fraction", "receptions with bit errors", "%", 100, 2),
)


def by_key(key: str) -> Metric:
    """How a total is shown; one that is not in the list is shown under its key, in its base unit."""
    return next((metric for metric in TOTALS if metric.key == key), Metric(key, key, digits=4))


def applying(totals: Mapping[str, Any], flows: Iterable[Mapping[str, Any]]) -> list[Metric]:
    """The totals that apply to a run with these flows: a kind of traffic that is not there has none."""
    there = {flow["kind"] for flow in flows}
    absent = [f"{kind}_" for kind in ("tcp", "cbr", "video", "web") if kind not in there]
    absent += [] if any(FLOWS[kind] is MESSAGE_FLOW for kind in there) else ["message"]
    return [metric for metric in TOTALS if metric.key in totals and not metric.key.startswith(tuple(absent))]


COMMON_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("pdr", "delivery", "delivery_ratio", "packet_delivery_ratio"), "cbr_delivery_fraction"),
    **dict.fromkeys(("throughput", "tcp_throughput", "goodput_bps"), "tcp_throughput_bps"),
    **dict.fromkeys(("delay", "latency", "end_to_end_delay", "e2e_delay"), "cbr_latency_mean_s"),
    **dict.fromkeys(("overhead", "routing_overhead"), "routing_packets_per_s"),
    **dict.fromkeys(
        ("routing_load", "nrl", "nro", "normalized_routing_load", "normalised_routing_overhead"),
        "normalised_routing_load",
    ),
    **dict.fromkeys(("hops", "path_length"), "hops_mean"),
}
"""What papers call metrics, and the key of the one that is nearest."""
BASE_UNITS = (
    ("_bytes_per_s", "B/s"),
    ("_per_s", "1/s"),
    ("_bps", "bit/s"),
    ("_s", "s"),
    ("_bytes", "B"),
)
"""Endings of metrics' names, and the unit in which results have them; all others are counts or ratios."""


def base_unit(key: str) -> str:
    """The unit of a metric in results and files, "1" for a count, a ratio or a share."""
    return next((unit for ending, unit in BASE_UNITS if key.endswith(ending)), "1")


ROUTING_COSTS = ("routing_", "normalised_routing_")
"""How metrics of what routing alone sends begin: a protocol that floods data sends nothing of that kind."""
COSTS = (
    *("normalised_routing_load", "normalised_routing_bytes", "mac_packets_per_delivered"),
    *("rebroadcasts_per_delivered_packet", "frames_per_delivered_packet", "frame_bytes_per_delivered_byte"),
)
"""What a delivery costs: routing packets, data packets, those of them that nodes send again as a flood, and
what is on the air for whatever reason."""


def with_loads(totals: Mapping[str, Any]) -> dict[str, Any]:
    """The totals with the normalised routing load, in packets and in bytes, which follows from the others."""
    made = dict(totals)
    for name, routing, all_frames, cost in (
        ("load", "routing_packets_per_s", "mac_frames_per_s", "frames_per_delivered_packet"),
        ("bytes", "routing_bytes_per_s", "mac_bytes_per_s", "frame_bytes_per_delivered_byte"),
    ):
        per_delivered, on_air = totals[cost], totals[all_frames]
        # What was delivered is what was on the air over its cost.
        known = per_delivered is not None and on_air > 0.0
        made[f"normalised_routing_{name}"] = totals[routing] * per_delivered / on_air if known else None
    return made


FRACTIONS = {"message_network_drop_rate", "jain"}
"""Metrics from 0 to 1 whose names do not say so."""
HIGHER = ("_throughput_bps", "_goodput", "_delivery_fraction", "_received", "_delivered", "_completed")
HIGHER_TOO = {"video_decodable_fraction", "web_sessions_finished"}
LOWER = ("_timeouts", "_retransmissions", "_dropped", "_lost", "_drop_rate")
LOWER_TOO = {
    *("tcp_connect_time_mean_s", "collision_fraction", "bit_error_fraction"),
    *("mac_bytes_per_delivered_byte", *COSTS),
}
"""Endings and names of metrics that are better when they are higher, or lower."""


def bounds(key: str) -> tuple[float, float]:
    """Between what values a metric lies: a fraction from 0 to 1, everything else at or above 0."""
    return 0.0, 1.0 if key.endswith("_fraction") or key in FRACTIONS else math.inf


def better(key: str) -> str:
    """Which way a metric is better, ``higher`` or ``lower``; empty where that is not known.

    More hops or packets are neither, and what routing sends in a second is not rated either: it says nothing
    of what arrived.
    """
    if key.endswith(HIGHER) or key in HIGHER_TOO:
        return "higher"
    is_time = key.endswith("_s") and any(word in key for word in ("latency", "response_time", "service_time"))
    return "lower" if key.endswith(LOWER) or key in LOWER_TOO or is_time else ""


def interval_of(key: str, values: Iterable[float], confidence: float = 0.95) -> Interval:
    """The mean of a metric over replications, with an interval that stays where the metric can be.

    Raises:
        InputError: There are no values, one is not finite, or the confidence is not a share.
    """
    from manetlab.stats import bounded_interval

    listed = list(values)
    return bounded_interval(listed, bounds(key)[0], most_of(key, listed), confidence)


def most_of(key: str, values: Iterable[float]) -> float:
    """The upper bound of a metric, unless one of its values is beyond it."""
    # A run may count what was sent before it began to count: such a share can exceed 1.
    most = bounds(key)[1]
    return most if max(values, default=0.0) <= most else math.inf
