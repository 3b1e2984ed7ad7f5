"""The interval of a mean that cannot lie everywhere: of a fraction, a rate, a time, a count."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from manetlab.errors import InputError, shown
from manetlab.stats import checks
from manetlab.stats.intervals import Interval, deviation, t_quantile, unit_of

POWER = 1.5
"""How the variance of the values grows with their mean: between 1, as for counts, and 2, as for times."""


def bounded_interval(
    values: Iterable[float], least: float = 0.0, most: float = math.inf, confidence: float = 0.95
) -> Interval:
    """The mean of independent values from ``least`` to ``most``, with an interval that lies there too.

    A score interval, as Wilson's (1927) is for proportions, for a quasi-likelihood (Wedderburn 1974): it
    holds every mean μ with (mean − μ)² ≤ t² φ V(μ) / n, where V(μ) = (μ − least)^1.5 without a greatest
    value and ((μ − least)(most − μ))^1.5 with one, and φ = s² / V(mean) is estimated from the values.
    Far from the bounds it is Student's interval; near one it is longer on the side of the tail.
    docs/statistics.md tells how often such intervals cover the mean.

    Values that all lie on a bound do not show how far they can be from it. If ``most`` is finite, they have
    the interval of the largest variance that a mean allows, (μ − least)(most − μ); if all are ``least`` and
    there is no ``most``, the interval has no upper end. Values that are equal elsewhere have an interval of
    no width.

    Args:
        values: The values, one of each independent replication.
        least: The minimum possible value.
        most: The greatest possible value; infinite if there is none.
        confidence: The interval's confidence.

    Raises:
        InputError: There are no values, one is not finite or not from ``least`` to ``most``, or the
            confidence is not a share.
    """
    listed = checks.numbers(values, "bounded_interval")
    confidence = checks.confidence(confidence, "bounded_interval: confidence")
    if not -math.inf < least < most:
        found, wanted = f"{shown(least)} and {shown(most)}", "a finite lower bound, and an upper one above it"
        raise InputError("the bounds are not allowed", "bounded_interval", found, wanted)
    if not (least <= min(listed) and max(listed) <= most):
        for index, value in enumerate(listed):
            checks.within(value, least, most, f"bounded_interval: value {index}")
    if (unit := unit_of(listed)) != 1.0:
        in_unit = [value / unit for value in listed]
        return bounded_interval(in_unit, least / unit, most / unit, confidence).scaled(unit)
    n = len(listed)
    mean = math.fsum(listed) / n
    if n == 1:
        return Interval.between(mean, least, most, 1)
    t2 = t_quantile(0.5 + confidence / 2, n - 1) ** 2 / n
    spread = deviation(listed)
    if spread > 0.0 and least < mean < most:
        return within_bounds(mean, math.sqrt(t2) * spread, least, most, n)
    if spread == 0.0 and least < min(listed) and max(listed) < most:
        return Interval(listed[0], 0.0, n)
    # On a bound, or nearer to it than doubles can tell.
    at = least if mean - least < most - mean else most
    # Wilson's interval at its end, where only one root is left.
    reach = (most - least) * t2 / (1.0 + t2) if math.isfinite(most) else math.inf
    low, high = (least, least + reach) if at == least else (most - reach, most)
    return Interval.between(at, low, high, n)


def within_bounds(mean: float, half_width: float, least: float, most: float, n: int) -> Interval:
    """The score interval of an estimate between bounds, of which it is neither.

    Args:
        mean: The estimate.
        half_width: What would be half its width far from the bounds.
        least: The minimum possible value.
        most: The greatest possible value; infinite if there is none.
        n: The number of values that it rests on.
    """
    return Interval.between(mean, *_ends(mean, half_width, least, most), n)


def _ends(mean: float, half_width: float, least: float, most: float) -> tuple[float, float]:
    """Where (mean − μ)² = ``half_width``² · V(μ) / V(mean), below and above the mean."""

    def is_held(mu: float) -> bool:
        # No square and no power of what has a unit: in a small or a large one it may be beyond doubles.
        variance = (mu - least) / (mean - least)
        if math.isfinite(most):
            variance *= (most - mu) / (most - mean)
        return bool(abs(mean - mu) <= half_width * variance ** (POWER / 2))

    outside = most
    if math.isinf(most):
        # Doubles until it is outside: the distance grows faster than the standard deviation.
        outside = mean + (mean - least)
        while is_held(outside):
            outside = least + 2.0 * (outside - least)
    return _edge(mean, least, is_held), _edge(mean, outside, is_held)


def _edge(inside: float, outside: float, is_held: Callable[[float], bool]) -> float:
    """The last place on the way from ``inside`` to ``outside`` that the interval holds."""
    # A far bound may need a thousand halvings; in the end nothing is between neighbouring doubles.
    while (middle := (inside + outside) / 2) not in (inside, outside):
        inside, outside = (middle, outside) if is_held(middle) else (inside, middle)
    return inside
