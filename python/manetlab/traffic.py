"""Random traffic patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from manetlab import _core
from manetlab.errors import InputError


@dataclass(frozen=True)
class Pattern:
    """How many flows of which kind; see [`RandomTraffic`][manetlab.scenario.RandomTraffic]."""

    tcp: int
    cbr: int
    tcp_start_s: float | None
    cbr_bytes: int
    cbr_interval_s: float
    cbr_start_within_s: float


def draw(pattern: Pattern, nodes: int, warmup_s: float, seed: int, replication: int) -> list[dict[str, Any]]:
    """The flows of a pattern.

    Args:
        pattern: How many flows of which kind.
        nodes: How many nodes there are.
        warmup_s: When TCP flows begin if the pattern does not say it, in s.
        seed: The seed of the run.
        replication: The number of its replication.

    Raises:
        InputError: There are too few nodes for that many flows.
    """
    needed = max(2 * pattern.tcp, 2 if pattern.cbr else 0)
    if nodes < needed:
        hint = "the TCP flows have all different end points"
        found, wanted = f"{nodes} nodes", f"at least {needed} nodes"
        raise InputError("too few nodes for the traffic", "traffic.random", found, wanted, hint)
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
        flows.append(
            {
                "kind": "cbr",
                "src": src,
                "dst": other + (other >= src),
                # Whole microseconds: a time that every file format keeps.
                "start_s": round(next(units) * pattern.cbr_start_within_s, 6),
                "bytes": pattern.cbr_bytes,
                "interval_s": pattern.cbr_interval_s,
            }
        )
    return flows


def _distinct(units: list[float], nodes: int) -> list[int]:
    """As many different nodes as there are draws, by the shuffle of Fisher and Yates."""
    places: dict[int, int] = {}
    chosen = []
    for index, unit in enumerate(units):
        other = index + int(unit * (nodes - index))
        chosen.append(places.get(other, other))
        places[other] = places.get(index, index)
    return chosen
