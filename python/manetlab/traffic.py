"""Random traffic patterns."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any

from manetlab import _core
from manetlab.errors import InputError

CBR_START_WITHIN_S = 20.0
"""CBR flows begin within this time, in s, if neither the pattern nor a shorter run says otherwise."""


@dataclass(frozen=True)
class Pattern:
    """How many flows of which kind; see [`RandomTraffic`][manetlab.scenario.RandomTraffic]."""

    tcp: int
    cbr: int
    tcp_start_s: float | None
    cbr_bytes: int
    cbr_interval_s: float
    cbr_start_within_s: float | None


def draw(
    pattern: Pattern, nodes: int, times: tuple[float, float], seed: int, replication: int, where: str
) -> list[dict[str, Any]]:
    """The flows of a pattern.

    Args:
        pattern: How many flows of which kind.
        nodes: How many nodes there are.
        times: When measurement begins, as TCP flows do if the pattern does not say it, and when the run ends,
            both in s.
        seed: The seed of the run.
        replication: The number of its replication.
        where: What an error names as its place.

    Raises:
        InputError: There are too few nodes for that many flows, or CBR flows might begin after the run.
    """
    needed = max(2 * pattern.tcp, 2 if pattern.cbr else 0)
    if nodes < needed:
        hint = "the TCP flows have all different end points"
        found, wanted = f"{nodes} nodes", f"at least {needed} nodes"
        raise InputError("too few nodes for the traffic", f"{where}: traffic.random", found, wanted, hint)
    warmup_s, duration_s = times
    within_s = start_within_s(pattern.cbr_start_within_s, duration_s)
    if pattern.cbr and within_s > duration_s:
        place = f"{where}: traffic.random.cbr_start_within_s"
        wanted = f"at most the duration, {duration_s:g} s"
        hint = "leave it out, or make the run longer"
        raise InputError("CBR flows might begin after the run", place, f"{within_s:g} s", wanted, hint)
    # One list of draws in a fixed order: 2 for each end point of TCP, 3 for each CBR flow.
    units = iter(_core.traffic_draws(seed, replication, 2 * pattern.tcp + 3 * pattern.cbr))
    start_s = warmup_s if pattern.tcp_start_s is None else pattern.tcp_start_s
    ends = _distinct([next(units) for _ in range(2 * pattern.tcp)], nodes)
    flows: list[dict[str, Any]] = [
        {"kind": "tcp", "src": src, "dst": dst, "start_s": start_s}
        for src, dst in zip(ends[::2], ends[1::2], strict=True)
    ]
    for _ in range(pattern.cbr):
        src = int(next(units) * nodes)
        # One of the others: those from the source on count one higher.
        other = int(next(units) * (nodes - 1))
        drawn_s = next(units) * within_s
        # Whole microseconds: a time that every file format keeps. The nearest may be the end of the run.
        begins_s = round(drawn_s, 6)
        flows.append(
            {
                "kind": "cbr",
                "src": src,
                "dst": other + (other >= src),
                "start_s": begins_s if begins_s < duration_s else floor(drawn_s * 1e6) / 1e6,
                "bytes": pattern.cbr_bytes,
                "interval_s": pattern.cbr_interval_s,
            }
        )
    return flows


def start_within_s(asked_s: float | None, duration_s: float) -> float:
    """Before which time CBR flows begin, in s: what was asked for, or the default, within the run."""
    return min(CBR_START_WITHIN_S, duration_s) if asked_s is None else asked_s


def _distinct(units: list[float], nodes: int) -> list[int]:
    """As many different nodes as there are draws, by the shuffle of Fisher and Yates."""
    places: dict[int, int] = {}
    chosen = []
    for index, unit in enumerate(units):
        other = index + int(unit * (nodes - index))
        chosen.append(places.get(other, other))
        places[other] = places.get(index, index)
    return chosen
