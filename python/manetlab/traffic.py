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
    cbr_ends: str


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
    apart = pattern.tcp + (pattern.cbr if pattern.cbr_ends == "apart" else 0)
    needed = max(2 * apart, 2 if pattern.cbr else 0)
    pairs = nodes * (nodes - 1)
    if pattern.cbr_ends == "distinct-pairs" and nodes >= needed and pattern.cbr > pairs:
        hint = "no two CBR flows have the same source and destination"
        found, wanted = f"{pattern.cbr} flows", f"at most {pairs}, the pairs of {nodes} nodes"
        raise InputError("too few nodes for the traffic", f"{where}: traffic.random", found, wanted, hint)
    if nodes < needed:
        hint = "flows that are apart, and the TCP flows always, have all different end points"
        found, wanted = f"{nodes} nodes", f"at least {needed} nodes"
        raise InputError("too few nodes for the traffic", f"{where}: traffic.random", found, wanted, hint)
    warmup_s, duration_s = times
    within_s = pattern.cbr_start_within_s
    if within_s is None:
        within_s = min(CBR_START_WITHIN_S, duration_s)
    elif pattern.cbr and within_s > duration_s:
        place = f"{where}: traffic.random.cbr_start_within_s"
        wanted = f"at most the duration, {duration_s:g} s"
        hint = "leave it out, or make the run longer"
        raise InputError("CBR flows might begin after the run", place, f"{within_s:g} s", wanted, hint)
    # One list of draws in a fixed order: 2 for each TCP flow, at most 3 for each CBR flow.
    units = iter(_core.traffic_draws(seed, replication, 2 * pattern.tcp + 3 * pattern.cbr))
    start_s = warmup_s if pattern.tcp_start_s is None else pattern.tcp_start_s
    # The TCP flows' come first, so that CBR flows that stand for them in another scenario have theirs.
    ends = _distinct([next(units) for _ in range(2 * apart)], nodes)
    apart_ends = list(zip(ends[::2], ends[1::2], strict=True))
    flows: list[dict[str, Any]] = [
        {"kind": "tcp", "src": src, "dst": dst, "start_s": start_s} for src, dst in apart_ends[: pattern.tcp]
    ]
    numbered: list[int] = []
    if pattern.cbr_ends == "distinct-pairs":
        numbered = _distinct([next(units) for _ in range(pattern.cbr)], pairs)
    for index in range(pattern.cbr):
        if pattern.cbr_ends == "apart":
            src, dst = apart_ends[pattern.tcp + index]
        elif pattern.cbr_ends == "distinct-pairs":
            src, other = divmod(numbered[index], nodes - 1)
            dst = other + (other >= src)
        else:
            src = int(next(units) * nodes)
            # One of the others: those from the source on count one higher.
            other = int(next(units) * (nodes - 1))
            dst = other + (other >= src)
        drawn_s = next(units) * within_s
        # Whole microseconds: a time that every file format keeps. The nearest may be the end of the run.
        begins_s = round(drawn_s, 6)
        flows.append(
            {
                "kind": "cbr",
                "src": src,
                "dst": dst,
                "start_s": begins_s if begins_s < duration_s else floor(drawn_s * 1e6) / 1e6,
                "bytes": pattern.cbr_bytes,
                "interval_s": pattern.cbr_interval_s,
            }
        )
    return flows


def _distinct(units: list[float], count: int) -> list[int]:
    """As many different numbers below ``count`` as there are draws, by the shuffle of Fisher and Yates."""
    places: dict[int, int] = {}
    chosen = []
    for index, unit in enumerate(units):
        other = index + int(unit * (count - index))
        chosen.append(places.get(other, other))
        places[other] = places.get(index, index)
    return chosen
