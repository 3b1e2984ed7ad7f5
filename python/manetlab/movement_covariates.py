"""What the movement alone says of a scenario's results: covariates that are known without a run.

Of the flows that a metric is about and of all others: what their shortest paths could carry, how long they
have none, and how many hops they have. docs/statistics.md says what they are used for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manetlab.capacity import TABLE_1_1_BPS, of_hops
from manetlab.metrics import by_key
from manetlab.topology import shortest_hops_over_time

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

GROUPS = {"tcp": "tcp", "cbr": "cbr", "web": "web"}
"""The group of the flows of a kind; those of all other kinds are one."""
MESSAGES = "message"
INSTANTS, LEAST_INSTANTS, NODE_INSTANTS = 30, 5, 20_000
"""At how many instants the paths are searched, and the minimum for a large network."""
DRAW_EVENTS = 4_000
"""What it costs to draw a scenario, in events of a run. Each node at each instant costs one more."""


@dataclass(frozen=True)
class Paths:
    """The shortest paths of some flows, summed over flows and instants.

    Attributes:
        count: How many paths were looked for: flows times instants.
        capacity_bps: The sum of what they could carry, in bit/s.
        without: How many there were not.
        hops: The sum of the hops of the others.
    """

    count: int = 0
    capacity_bps: float = 0.0
    without: int = 0
    hops: int = 0

    def __add__(self, other: Paths) -> Paths:
        return Paths(
            self.count + other.count,
            self.capacity_bps + other.capacity_bps,
            self.without + other.without,
            self.hops + other.hops,
        )


def step_of(resolved: Resolved) -> float:
    """The time between two instants, in s: up to thirty of them, a second or more apart.

    More say hardly more: on the networks of docs/statistics.md the capacity of a flow's path explains 95.0 %
    of the variance of TCP throughput with an instant every 5 s, and 95.4 % with one every second.
    """
    window_s = resolved.core["duration_s"] - resolved.core["warmup_s"]
    instants = max(LEAST_INSTANTS, min(INSTANTS, NODE_INSTANTS // resolved.movement.nodes))
    return float(min(window_s, max(1.0, window_s / instants)))


def cost_in_events(resolved: Resolved) -> float:
    """What it costs to draw a scenario like this and to look at its paths, in events of a run.

    Measured once, so that the number of draws does not depend on the machine or its load.
    """
    instants = resolved.core["duration_s"] / step_of(resolved)
    return float(DRAW_EVENTS + instants * resolved.movement.nodes)


def paths_of(resolved: Resolved) -> dict[str, Paths]:
    """The shortest paths of each group of flows, from the end of the warm-up to the end of the run."""
    found = shortest_hops_over_time(resolved, None, step_of(resolved))
    first = min(bisect_left(found.times_s, resolved.core["warmup_s"]), len(found.times_s) - 1)
    groups: dict[str, Paths] = {}
    for flow, hops in zip(resolved.flows, found.hops, strict=True):
        group = GROUPS.get(flow["kind"], MESSAGES)
        groups[group] = groups.get(group, Paths()) + _summed(hops[first:])
    return groups


def _summed(hops: Sequence[int | None]) -> Paths:
    known = [each for each in hops if each is not None]
    capacity_bps = sum(of_hops(each, TABLE_1_1_BPS) for each in known)
    return Paths(len(hops), capacity_bps, len(hops) - len(known), sum(known))


def asked(metric: str) -> tuple[str, bool]:
    """What decides the covariates of a metric: the group of its flows, empty for all, and how they begin."""
    said = by_key(metric)
    groups = {GROUPS.get(kind, MESSAGES) for kind in said.flows}
    # The capacity says most of what is carried: of rates, and of the share that new data has in TCP's.
    is_carried = said.base_unit == "bit/s" or said.key == "tcp_goodput"
    return groups.pop() if len(groups) == 1 else "", is_carried


def covariates(metric: str, draws: Iterable[dict[str, Paths]]) -> dict[str, list[float]]:
    """The covariates of a metric in each of several draws, in order of importance.

    A metric that is about one kind of flow has those of these flows, its own, and of the others; a metric
    that is about all of them has only its own. Hops count as zero where there is no path.

    Args:
        metric: The name of a total.
        draws: The paths of each draw, each with the same groups of flows.

    Returns:
        By name one value a draw: ``capacity_bps``, ``without_path``, ``path_hops``, and, beginning with
        ``others_``, the same of the others.
    """
    listed = list(draws)
    if not listed or not listed[0]:
        return {}
    group, is_carried = asked(metric)
    groups = listed[0].keys()
    mine = [each for each in groups if each == group] or list(groups)
    own = [sum((each[group] for group in mine), Paths()) for each in listed]
    rest = [sum((each[group] for group in groups if group not in mine), Paths()) for each in listed]
    names = ["path_hops", "others_capacity_bps", "without_path"]
    if is_carried:
        names = ["capacity_bps", "others_path_hops", "path_hops"]
    return {
        name: [_value(name, paths) for paths in (rest if name.startswith("others_") else own)]
        for name in names
        if not name.startswith("others_") or len(mine) < len(groups)
    }


def _value(name: str, paths: Paths) -> float:
    of = {"capacity_bps": paths.capacity_bps, "without_path": paths.without, "path_hops": paths.hops}
    return of[name.removeprefix("others_")] / paths.count
