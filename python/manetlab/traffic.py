"""Random traffic patterns."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    cbr_within_hops: int | None


def draw(
    pattern: Pattern,
    movement: _core.Movement,
    radio: Mapping[str, Any],
    times: tuple[float, float],
    streams: tuple[int, int],
    where: str,
) -> list[dict[str, Any]]:
    """The flows of a pattern.

    Args:
        pattern: How many flows of which kind.
        movement: The nodes.
        radio: The parameters of the radio, which say how far a link reaches.
        times: When measurement begins, as TCP flows do if the pattern does not say it, and when the run ends,
            both in s.
        streams: The seed of the run and the number of its replication.
        where: What an error names as its place.

    Raises:
        InputError: There are too few nodes for that many flows, CBR flows might begin after the run, or no
            two nodes are in range of each other.
    """
    nodes = movement.nodes
    needed = max(2 * pattern.tcp, 2 if pattern.cbr else 0)
    if nodes < needed:
        hint = "the TCP flows have all different end points"
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
    # One list of draws in a fixed order: 2 for each end point of TCP, 3 for each CBR flow.
    units = iter(_core.traffic_draws(*streams, 2 * pattern.tcp + 3 * pattern.cbr))
    start_s = warmup_s if pattern.tcp_start_s is None else pattern.tcp_start_s
    ends = _distinct([next(units) for _ in range(2 * pattern.tcp)], nodes)
    flows: list[dict[str, Any]] = [
        {"kind": "tcp", "src": src, "dst": dst, "start_s": start_s}
        for src, dst in zip(ends[::2], ends[1::2], strict=True)
    ]
    drawn = [(next(units), next(units), next(units)) for _ in range(pattern.cbr)]
    pairs = _pairs([(first, second) for first, second, _ in drawn], pattern.cbr_within_hops, movement, radio)
    if len(pairs) < pattern.cbr:
        place, found = f"{where}: traffic.random.cbr_within_hops", "no two nodes in range when the run begins"
        hint = "put the nodes nearer to each other, or leave it out"
        raise InputError("no node has a neighbour", place, found, "two nodes in range of each other", hint)
    for (src, dst), (_, _, unit) in zip(pairs, drawn, strict=True):
        drawn_s = unit * within_s
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


def _pairs(
    draws: list[tuple[float, float]], hops: int | None, movement: _core.Movement, radio: Mapping[str, Any]
) -> list[tuple[int, int]]:
    """Two different nodes for each pair of draws; none at all if no node has others within so many hops."""
    if hops is not None:
        return movement.pairs_within_hops(json.dumps(radio), hops, draws)
    pairs = []
    for first, second in draws:
        src, other = int(first * movement.nodes), int(second * (movement.nodes - 1))
        # One of the others: those from the source on count one higher.
        pairs.append((src, other + (other >= src)))
    return pairs


def _distinct(units: list[float], nodes: int) -> list[int]:
    """As many different nodes as there are draws, by the shuffle of Fisher and Yates."""
    places: dict[int, int] = {}
    chosen = []
    for index, unit in enumerate(units):
        other = index + int(unit * (nodes - index))
        chosen.append(places.get(other, other))
        places[other] = places.get(index, index)
    return chosen
