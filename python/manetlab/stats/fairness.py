"""How evenly flows share what there is."""

from __future__ import annotations

import math
from collections.abc import Iterable

from manetlab.errors import InputError
from manetlab.stats import checks


def jain(values: Iterable[float]) -> float:
    """Jain's fairness index, (Σx)² / (n Σx²), from 1/n (one flow has all) to 1 (all have the same).

    From Jain, Chiu and Hawe, DEC-TR-301, 1984. Bansal and Barua's "fair share per link" is the same index
    over the flows through the bottleneck link. NaN if no flow has anything: nothing is shared then.

    Args:
        values: What each flow has: its throughput, its packets; none negative.

    Raises:
        InputError: There are no values, or one is negative or not finite.
    """
    return _index(_shares(values, "jain"))


def jain_of_each(values: Iterable[float], sizes: Iterable[int]) -> list[float]:
    """Jain's fairness index of each of many groups.

    Args:
        values: What each flow has, of one group after the other.
        sizes: How many flows each group has, one or more.

    Raises:
        InputError: There are no values, or one is negative or not finite.
    """
    listed, indices, first = _shares(values, "jain_of_each"), [], 0
    for size in sizes:
        indices.append(_index(listed[first : first + size]))
        first += size
    return indices


def _index(listed: list[float]) -> float:
    """Jain's index of values that have been checked."""
    most = max(listed)
    if most == 0.0:
        return math.nan
    # Divided by the greatest first: squares of very great or small values are not within the range of floats.
    parts = [value / most for value in listed]
    return math.fsum(parts) ** 2 / (len(parts) * math.fsum([part * part for part in parts]))


def max_min(values: Iterable[float]) -> float:
    """What the worst flow has as a share of what the best has.

    From 0 (one has nothing) to 1 (all have the same); NaN if no flow has anything.

    Args:
        values: What each flow has; none negative.

    Raises:
        InputError: There are no values, or one is negative or not finite.
    """
    listed = _shares(values, "max_min")
    return min(listed) / max(listed) if max(listed) else math.nan


def unfairness(actual: Iterable[float], fair: Iterable[float]) -> float:
    """How far the flows are from their fair shares, √Σ(fair − actual)² / √Σ fair² (Osipov 2007, equation 2).

    Args:
        actual: What each flow has.
        fair: What it should have, in the same order and unit.

    Raises:
        InputError: There are no values, the lists differ in length, or all shares are zero.
    """
    got, wanted = checks.pairs(actual, fair, "unfairness")
    whole = math.hypot(*wanted)
    if whole == 0.0:
        raise InputError("no flow has a fair share", "unfairness", "zeros", "shares above 0")
    return math.hypot(*(x - y for x, y in zip(wanted, got, strict=True))) / whole


def _shares(values: Iterable[float], where: str) -> list[float]:
    listed = checks.numbers(values, where)
    if min(listed) < 0.0:
        for index, value in enumerate(listed):
            checks.within(value, 0.0, math.inf, f"{where}: value {index}")
    return listed
