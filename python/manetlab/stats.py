"""Means with confidence intervals, and paired comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A mean and the half width of its confidence interval.

    Attributes:
        mean: The mean of the values.
        half_width: Half the width of the interval; infinite for fewer than two values.
        n: The number of values.
    """

    mean: float
    half_width: float
    n: int

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half_width

    @property
    def holds_zero(self) -> bool:
        """Is zero within the interval?"""
        return self.low <= 0.0 <= self.high

    def scaled(self, factor: float) -> Interval:
        """The same in another unit."""
        return Interval(self.mean * factor, self.half_width * abs(factor), self.n)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of independent values with its Student t interval.

    Args:
        values: The values, one of each independent replication.
        confidence: The interval's confidence.

    Raises:
        ValueError: There are no values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("the mean of no values")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, math.inf, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Interval(mean, t_quantile(0.5 + confidence / 2, n - 1) * math.sqrt(variance / n), n)


def paired_interval(a: Sequence[float], b: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of the differences a - b of paired values with its Student t interval.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        confidence: The interval's confidence.

    Raises:
        ValueError: There are no values, or not as many of one as of the other.
    """
    return mean_interval([x - y for x, y in zip(a, b, strict=True)], confidence)


def t_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution."""
    # scipy takes a third of a second to import; most commands do without it.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
