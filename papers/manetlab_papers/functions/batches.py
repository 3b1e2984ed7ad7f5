"""CBR connections that come in batches, read interval by interval.

Each connection is a series of flows between the same nodes, one for each interval, so that the measures of
a flow are those of the packets made in an interval. Routing overhead is read from time series of the
interval's length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from manetlab_papers.functions.layouts import batches
from manetlab_papers.ledger import Data, load
from manetlab_papers.outcomes import Finding, joined, level, stated, together
from manetlab_papers.quantities import Evaluator, average, difference, levels_of, pool, quantity
from manetlab_papers.rules import Case, Rule, kind
from manetlab_papers.samples import Values


@cache
def _interval_of_flow(campaign: str) -> tuple[int, ...]:
    data = load().campaigns[campaign]["fields_from"]
    ends = [float(end) for end in data["interval_ends_s"]]
    return tuple(ends.index(flow["stop_s"]) for flow in batches("", data)["traffic"]["flows"])


@quantity("intervals")
def intervals(evaluator: Evaluator, data: Data, arguments: Data) -> list[Values]:
    """Values of every scenario in each interval.

    They are `of` delivery (in %), received, latency (in s), throughput (in bit/s) or overhead (in packets);
    with `first` only those from this interval on, counted from 1; with `last` up to that one.
    """
    lists = _READ[arguments["of"]](evaluator, data)
    return lists[arguments.get("first", 1) - 1 : arguments.get("last", len(lists))]


@quantity("interval")
def interval(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The mean over some `intervals` of each scenario."""
    return pool(intervals(evaluator, data, arguments))


def _overhead(evaluator: Evaluator, data: Data) -> list[Values]:
    return list(_series(evaluator, data, "routing_packets").values())


def _throughput(evaluator: Evaluator, data: Data) -> list[Values]:
    """What arrives in each interval, whenever it was made."""
    delivered = _series(evaluator, data, "cbr_delivered_bytes")
    begins_s = [0.0, *delivered][:-1]
    return [
        [8 * each / (end_s - begin_s) for each in listed]
        for begin_s, (end_s, listed) in zip(begins_s, delivered.items(), strict=True)
    ]


def _series(evaluator: Evaluator, data: Data, measure: str) -> dict[float, Values]:
    """A measure of all flows in every scenario, by the end of the interval in s."""
    found: dict[float, Values] = {}
    series = evaluator.runs.series(data["runs"], "totals", levels_of(data))
    for replication in sorted(series):
        for row in series[replication]:
            found.setdefault(float(row["time_s"]), []).append(float(row[measure]))
    return found


def _delivery(evaluator: Evaluator, data: Data) -> list[Values]:
    both = zip(_sums(evaluator, data, "received"), _sums(evaluator, data, "sent"), strict=True)
    return [[100 * a / b for a, b in zip(parts, wholes, strict=True)] for parts, wholes in both]


def _received(evaluator: Evaluator, data: Data) -> list[Values]:
    return _sums(evaluator, data, "received")


def _sums(evaluator: Evaluator, data: Data, measure: str) -> list[Values]:
    places = _interval_of_flow(data["runs"])
    rows = evaluator.runs.of_flows(data["runs"], measure, levels_of(data))
    return [
        [sum(value for value, at in zip(row, places, strict=True) if at == place) for row in rows]
        for place in range(max(places) + 1)
    ]


def _latency(evaluator: Evaluator, data: Data) -> list[Values]:
    places = _interval_of_flow(data["runs"])
    counts, means = (
        evaluator.runs.of_flows(data["runs"], each, levels_of(data))
        for each in ("received", "latency_mean_s")
    )
    return [
        [_weighted(*rows, places, place) for rows in zip(counts, means, strict=True)]
        for place in range(max(places) + 1)
    ]


def _weighted(counts: Values, means: Values, places: Sequence[int], place: int) -> float:
    """The mean over packets of one interval's flows; NaN where none arrived."""
    listed = [
        (count, mean) for count, mean, at in zip(counts, means, places, strict=True) if at == place and count
    ]
    total = sum(count for count, _ in listed)
    return sum(count * mean for count, mean in listed) / total if total else math.nan


_READ = {
    "delivery": _delivery,
    "received": _received,
    "latency": _latency,
    "throughput": _throughput,
    "overhead": _overhead,
}


def _means(lists: Sequence[Values]) -> str:
    return ", ".join(f"{average(each):.1f}" for each in lists) + " %"


@kind("steady")
def steady(rule: Rule) -> Finding:
    """The highest and the lowest place along an axis are no further apart than `within`."""

    def one(case: Case) -> Finding:
        along = sorted(rule.along(case), key=average)
        found = level(difference(along[-1], along[0]), -math.inf, rule.data["within"], must_lie=True)
        return replace(found, ours=_means(rule.along(case)))

    return stated(together((case.name, one(case)) for case in rule.cases()))


@kind("levels off")
def levels_off(rule: Rule) -> Finding:
    """From the first interval to `bend` a rise of at least `rise`, and then less than half of it."""
    findings, texts = [], []
    for case in rule.cases():
        values, place = rule.along(case), rule.data["bend"] - 1
        rise, after = difference(values[place], values[0]), difference(values[-1], values[place])
        half = abs(rise.mean / 2)
        findings.append((case.name, level(rise, rule.data["rise"], math.inf, must_lie=True)))
        findings.append((f"{case.name}, then", level(after, -half, half)))
        texts.append((case.name, _means(values)))
    return replace(stated(together(findings)), ours=joined(texts))
