"""How even a flow's progress is, and how much of a network is left to flows (Osipov and Tschudin 2006)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from manetlab.errors import InputError, shown
from manetlab.stats import checks

ALLOWED_PAUSE_S = 3.0
"""The pause that unsmoothness 1 stands for, in s (section IV.C.1)."""
LEAST_USEFUL_BPS = 30e3
"""The minimum useful throughput, in bit/s (section III.C.1)."""


def unsmoothness(
    times_s: Iterable[float],
    received: Iterable[float],
    start_s: float,
    stop_s: float,
    allowed_s: float = ALLOWED_PAUSE_S,
) -> float:
    """How far a flow was from even progress, at worst (equation 4).

    Even progress is a straight line from nothing at the start to all that was received at the stop. The
    greatest deviation from it, at an arrival or just before one, is divided by what the line makes in the
    allowed pause: a flow that pauses for so long and is even otherwise has 1.

    Args:
        times_s: When something arrived, in s, in order.
        received: What had been received by then: bytes, or sequence numbers.
        start_s: When the flow began, in s.
        stop_s: When it was stopped, in s; the same for all flows of a run.
        allowed_s: The allowed pause, in s.

    Returns:
        The unsmoothness, infinite if nothing was received.

    Raises:
        InputError: Times or amounts are out of order or not of the same number, or a time is not allowed.
    """
    times, amounts = list(times_s), list(received)
    checks.above_zero(allowed_s, "unsmoothness: allowed_s")
    if not start_s < stop_s:
        found, wanted = f"{start_s} to {stop_s} s", "a stop after the start"
        raise InputError("the flow has no length", "unsmoothness: stop_s", found, wanted)
    if not times and not amounts:
        return math.inf
    times, amounts = checks.pairs(times, amounts, "unsmoothness")
    for values, name, least, most in (
        (times, "times_s", start_s, stop_s),
        (amounts, "received", 0.0, math.inf),
    ):
        if sorted(values) != values or not least <= values[0] <= values[-1] <= most:
            wanted = f"numbers in order, from {least:g} to {most:g}"
            raise InputError("not the progress of a flow", f"unsmoothness: {name}", shown(values), wanted)
    if amounts[-1] == 0.0:
        return math.inf
    slope = amounts[-1] / (stop_s - start_s)
    ideal = [slope * (time_s - start_s) for time_s in times]
    after = (abs(amount - even) for amount, even in zip(amounts, ideal, strict=True))
    before = (abs(amount - even) for amount, even in zip([0.0, *amounts], ideal, strict=False))
    return max(*after, *before) / (slope * allowed_s)


def effective_horizon(alone_bps: float, least_bps: float = LEAST_USEFUL_BPS) -> int:
    """How many flows can share a bottleneck region so that a flow still has what is of use (equation 3).

    Args:
        alone_bps: What the flow carries alone, in bit/s.
        least_bps: What is of use, in bit/s.

    Raises:
        InputError: A throughput is not allowed.
    """
    [alone_bps] = checks.numbers([alone_bps], "effective_horizon: alone_bps")
    checks.within(alone_bps, 0.0, math.inf, "effective_horizon: alone_bps")
    return math.floor(alone_bps / checks.above_zero(least_bps, "effective_horizon: least_bps"))


def equivalent_routing_load(with_routing_bps: float, without_routing_bps: float) -> float:
    """The part of the flows' total throughput that routing costs (section IV.D), negative if it costs none.

    Args:
        with_routing_bps: The total with the routing protocol, in bit/s.
        without_routing_bps: The total with routes that are set in advance, in bit/s.

    Raises:
        InputError: A throughput is not allowed.
    """
    [total] = checks.numbers([with_routing_bps], "equivalent_routing_load: with_routing_bps")
    checks.within(total, 0.0, math.inf, "equivalent_routing_load: with_routing_bps")
    whole = checks.above_zero(without_routing_bps, "equivalent_routing_load: without_routing_bps")
    return 1.0 - total / whole
