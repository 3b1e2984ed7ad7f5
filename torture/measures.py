"""What each measure of a run may be, by the core's table, and how measures must fit each other.

A measure that a result has and the table lacks is a finding, and so is one that the table has and the result
or docs/metrics.md lacks (`tests/test_torture.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from manetlab import Result
from manetlab.metrics import FLOW_MEASURES, MEASURES, Metric


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
        if value is None or self is NONE:
            return value is None and self.optional
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        high = duration_s if self.high == RUN else self.high
        return self.low - ROUNDING <= value <= high * (1 + ROUNDING) + ROUNDING and math.isfinite(value)


RUN = -1.0
NONE = Range(optional=True)
"""Of a measure that has no value."""
ROUNDING = 1e-9
"""What the arithmetic of floating-point numbers may add, relative to the value and in its unit."""

RANGES = {
    "count": Range(is_whole=True),
    # Copies count as received (RFC 3550, A.3), so fewer than none may be lost.
    "whole": Range(-math.inf, is_whole=True),
    "amount": Range(),
    "share": Range(high=1.0),
    "time": Range(high=RUN),
    "hops": Range(1.0, 256.0),
}
"""What a measure may be that has such values."""
# Of a flow it is given, not measured.
GIVEN = {"id": RANGES["count"], "src": RANGES["count"], "dst": RANGES["count"], "start_s": RANGES["time"]}


def _range_of(metric: Metric) -> Range:
    return replace(RANGES[metric.values], optional=metric.is_optional)


SPLIT = "tcp.base_station = split or m-tcp"
"""What measures of split connections need; only the run can say whether a base station is on a flow's way."""

NAMED = {"kind", "transport", "src_name", "dst_name"}
"""What a flow has beside its measures."""


def faults(result: Result) -> Iterator[str]:
    """What is wrong with the measures of a run, each in a line that begins with the measure's name."""
    scenario = result.provenance["scenario"]
    duration_s, warmup_s = scenario["duration_s"], scenario["warmup_s"]
    for flow in result.flows:
        there = (_needed(result) - {"a deadline_ms", SPLIT}) | _needed_by(flow)
        of_kind = (each for each in FLOW_MEASURES if not each.flows or flow["kind"] in each.flows)
        table = {each.key: _range_of(each) for each in of_kind if not each.needs or each.needs in there}
        measured = {name: value for name, value in flow.items() if name not in NAMED}
        for fault in (*_outside(measured, GIVEN | table, duration_s), *_unfit(flow, duration_s - warmup_s)):
            yield f"{fault} (a flow of kind {flow['kind']})"
        if scenario["params"]["tcp"]["base_station"] == "m-tcp" and flow.get("acked_undelivered_max_bytes"):
            yield "acked_undelivered_max_bytes: M-TCP acknowledges what has not arrived"
    yield from _outside(result.totals, _totals(result), duration_s)
    yield from _unbalanced(result.audit)
    yield from _other_totals(result)


def _needed(result: Result) -> set[str]:
    """What measures need beside flows of a kind, and a run has, in the words of the core's table."""
    scenario = result.provenance["scenario"]
    params, routing = scenario["params"], scenario["routing"]
    there = {
        "DSR or TSR": routing in ("dsr", "tsr"),
        "TSR": routing == "tsr",
        "tcp.allowed_pause_s above 0": params["tcp"]["allowed_pause_s"] > 0.0,
        "tcp.spurious": params["tcp"]["spurious"] != "none",
        "tcp.loss_predictor": params["tcp"]["loss_predictor"] != "none",
        "insignia.mode on": params["insignia"]["mode"] == "on",
        "throttle.mode density": params["throttle"]["mode"] == "density",
        # Noise destroys frames as errors of bits do.
        "radio.bit_error_rate above 0": params["radio"]["bit_error_rate"] > 0.0
        or params["radio"]["errors"] == "by-rate",
        "network.measure_path_hops": params["network"]["measure_path_hops"],
        # These only the run can say: movement has its own comings and goings, flows their own deadlines.
        "a node that joins, leaves or fails": "cbr_both_up_delivery_fraction" in result.totals,
        "a deadline_ms": "datagram_in_time_fraction" in result.totals,
        SPLIT: "tcp_acked_undelivered_bytes" in result.totals,
        "the table energy": "energy_j" in result.totals,
    }
    return {needs for needs, is_there in there.items() if is_there}


def _needed_by(flow: Mapping[str, Any]) -> set[str]:
    """The same of a flow; whether protocols and oracles know what is asked only they can say."""
    there = {
        "TCP": flow.get("transport") == "tcp",
        SPLIT: "acked_undelivered_bytes" in flow,
        "a deadline_ms": "in_time_fraction" in flow,
        "RTP": str(flow.get("transport")).startswith("rtp"),
        "network.measure_route_hops and a protocol that knows the length of its routes": "route_hops_mean"
        in flow,
        "insignia.mode on, and a flow with reserve_bps": "reserved_max_share" in flow,
        "throttle.measure_error, and a rate of the oracle": "throttle_error_mean" in flow,
    }
    return {needs for needs, is_there in there.items() if is_there}


def _totals(result: Result) -> dict[str, Range]:
    """The table of this run's totals. Those of TCP and CBR are there, and none, without such flows."""
    kinds = {flow["kind"] for flow in result.flows}
    there = _needed(result)
    if "tcp" in kinds or any(flow.get("transport") == "tcp" for flow in result.flows):
        there.add("a flow that is one TCP connection")
    table: dict[str, Range] = {}
    for key, metric in MEASURES.items():
        applies = not metric.flows or bool(kinds & {*metric.flows})
        if metric.needs and metric.needs not in there:
            continue
        if applies:
            table[key] = _range_of(metric)
        elif not metric.needs and metric.flows in (("tcp",), ("cbr",)):
            table[key] = NONE
    # Where no frame could have been received, there is no share of those with bit errors.
    if result.totals.get("collision_fraction") is None:
        table.pop("bit_error_fraction", None)
    # Whoever has messages has a share of video frames, which is none without video.
    if kinds & {*MEASURES["messages_made"].flows}:
        table.setdefault("video_decodable_fraction", NONE)
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
        of_kind = [flow[measure] for flow in result.flows if flow["kind"] == kind]
        if not of_kind and result.totals[total] is None:
            continue
        summed = sum(of_kind)
        if not of_kind or not math.isclose(result.totals[total], summed, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{total}: {result.totals[total]!r} is not the sum over the flows, {summed!r}"
    if any(drop["count"] < 1 for drop in result.drops):
        yield f"drops: a reason without drops: {result.drops}"
    lost = (sum(loss["count"] for loss in result.losses), sum(flow["lost"] for flow in result.audit["flows"]))
    if lost[0] != lost[1]:
        yield f"losses: {lost[0]} by reason, {lost[1]} in the books"
    counts = [drop["count"] for drop in result.drops]
    if counts != sorted(counts, reverse=True):
        yield "drops: not the most frequent first"
