"""What nodes on the way see: queues, and flows that share them."""

from __future__ import annotations

import math

from manetlab_papers.ledger import Data
from manetlab_papers.quantities import Evaluator, levels_of, quantity
from manetlab_papers.samples import Row, Values


@quantity("packets found waiting")
def found_waiting(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """How many packets a packet finds waiting in an interface queue, by scenario; all packets count alike.

    With `relayed` only packets count that another node made: those in the queues of nodes on the way.
    """
    of = "relayed_" if arguments.get("relayed") else ""
    return _weighted(evaluator, data, "queues", f"{of}waiting_mean", f"{of}packets")


@quantity("flows sharing a node")
def sharing(evaluator: Evaluator, data: Data, _arguments: Data) -> Values:
    """How many flows are on the node of a flow's path where most are; mean over all flows with a path."""
    return _weighted(evaluator, data, "paths", "shared_mean", "flows")


def _weighted(evaluator: Evaluator, data: Data, series: str, mean: str, weight: str) -> Values:
    """The mean over the steps of a series, weighted; NaN of a scenario in which no step has any weight."""
    found = evaluator.runs.series(data["runs"], series, levels_of(data))
    return [
        _mean_of([(row[mean], row[weight]) for row in rows if _counts(row, weight)])
        for rows in found.values()
    ]


def _counts(row: Row, weight: str) -> bool:
    return bool(row[weight])


def _mean_of(weighed: list[tuple[float, float]]) -> float:
    total = sum(weight for _, weight in weighed)
    return sum(float(value) * weight for value, weight in weighed) / total if total else math.nan
