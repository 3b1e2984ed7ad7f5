"""What video flows cost, how much of them waits, and how far they go second by second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from manetlab.tables import Table
from manetlab.topology import shortest_hops_over_time
from manetlab_papers.campaigns import scenario_of
from manetlab_papers.ledger import Data, load
from manetlab_papers.quantities import Evaluator, levels_of, quantity
from manetlab_papers.samples import Row, Values
from manetlab_papers.tables import TABLES

STEP_S = 1.0
"""The step of the time series in which deliveries are counted."""


@quantity("measured seconds")
def measured_s(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """How long runs were measured, from the frames that a flow made at so many a second (`frames_per_s`)."""
    made = evaluator.runs.of_flows(data["runs"], "messages_made", levels_of(data), "video")
    return [flows[0] / arguments["frames_per_s"] for flows in made]


@quantity("hops of delivered packets")
def hops(evaluator: Evaluator, data: Data, _arguments: Data) -> Values:
    """Mean hops of the delivered packets of all video flows in every scenario."""
    counts, means = (
        evaluator.runs.of_flows(data["runs"], name, levels_of(data), "video")
        for name in ("packets_received", "hops_mean")
    )
    return [
        sum(n * mean for n, mean in zip(of_counts, of_means, strict=True) if n) / sum(of_counts)
        for of_counts, of_means in zip(counts, means, strict=True)
    ]


@quantity("waiting over time")
def waiting(evaluator: Evaluator, data: Data, _arguments: Data) -> list[Values]:
    """The frames that wait at all sources, at every step of the time series and in every scenario."""
    sums: dict[float, dict[int, float]] = {}
    series = evaluator.runs.series(data["runs"], "message_flows", levels_of(data))
    for replication, rows in series.items():
        for row in rows:
            at = sums.setdefault(row["time_s"], {})
            at[replication] = at.get(replication, 0.0) + row["waiting_messages"]
    return [list(sums[time_s].values()) for time_s in sorted(sums)]


@quantity("correlation with hops")
def correlations(evaluator: Evaluator, data: Data, _arguments: Data) -> Values:
    """How frames delivered in a second correlate with hops, over flows and seconds, by scenario."""
    series = evaluator.runs.series(data["runs"], "message_flows", levels_of(data))
    return [
        correlation(
            [
                (delivered, float(path))
                for path, delivered in _by_path(data["runs"], replication, rows)
                if path is not None
            ]
        )
        for replication, rows in series.items()
    ]


def _by_path(campaign: str, replication: int, rows: Sequence[Row]) -> list[tuple[int | None, float]]:
    """Hops of the shortest path and frames delivered, for every flow and measured second."""
    paths, from_s = _paths(campaign, replication)
    found = []
    for row in rows:
        began_s = row["time_s"] - STEP_S
        if began_s >= from_s:
            path = paths[int(row["flow"])][round(began_s / STEP_S)]
            found.append((path, float(row["delivered_messages"])))
    return found


@cache
def _paths(campaign: str, replication: int) -> tuple[list[list[int | None]], float]:
    """Hops of each flow's shortest path second by second, and when measurement begins, in s."""
    scenario = scenario_of(load(), campaign, replication)
    return shortest_hops_over_time(scenario, step_s=STEP_S).hops, scenario.warmup_s


def correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Pearson's, NaN where one side does not vary."""
    count = len(pairs)
    if not count:
        return math.nan
    mean_x, mean_y = (sum(pair[side] for pair in pairs) / count for side in (0, 1))
    cov = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    var_x, var_y = sum((x - mean_x) ** 2 for x, _ in pairs), sum((y - mean_y) ** 2 for _, y in pairs)
    return cov / math.sqrt(var_x * var_y) if var_x and var_y else math.nan


def by_hops(evaluator: Evaluator, data: Data) -> list[Table]:
    """Frames a second by length of the path, for each level of a factor (`across`)."""
    [(factor, labels)] = data["across"].items()
    table = Table(data["title"], ("hops", *labels))
    found: dict[int, dict[str, list[float]]] = {}
    for label in labels:
        levels = {**levels_of(data["at"]), factor: label}
        for replication, rows in evaluator.runs.series(data["at"]["runs"], "message_flows", levels).items():
            for path, delivered in _by_path(data["at"]["runs"], replication, rows):
                found.setdefault(path or 0, {}).setdefault(label, []).append(delivered)
    for path in sorted(found):
        means = (sum(found[path][label]) / len(found[path][label]) for label in labels)
        table.add(str(path) if path else "none", *(f"{each:.2f}" for each in means))
    return [table]


TABLES["frames by hops"] = by_hops
