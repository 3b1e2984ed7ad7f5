"""Comparisons of two systems in the same scenarios, and families of comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from manetlab.stats import checks
from manetlab.stats.intervals import Interval, deviation, mean_interval, t_quantile


@dataclass(frozen=True)
class Paired:
    """A paired comparison of two systems.

    Attributes:
        difference: The mean of the differences with its Student t interval.
        p_t: The two-sided p-value of the paired t test: is the mean difference zero?
        p_wilcoxon: The two-sided p-value of Wilcoxon's signed rank test: are they symmetric about zero?
        n: The number of pairs.
    """

    difference: Interval
    p_t: float
    p_wilcoxon: float
    n: int


def paired_interval(a: Iterable[float], b: Iterable[float], confidence: float = 0.95) -> Interval:
    """The mean of the differences a − b of paired values with its Student t interval.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        confidence: The interval's confidence.

    Raises:
        InputError: There are no values, or the lists differ in length.
    """
    left, right = checks.pairs(a, b, "paired_interval")
    return mean_interval([x - y for x, y in zip(left, right, strict=True)], confidence)


def paired_difference(a: Iterable[float], b: Iterable[float], confidence: float = 0.95) -> Paired:
    """The differences a − b of paired values: their mean with interval, paired t test, Wilcoxon's test.

    If all differences are zero, or there is one pair only, both p-values are 1: nothing speaks against
    equality. If all differences are the same and not zero, the t test's is 0, as that of a sample without
    variance is, and Wilcoxon's the smallest that n pairs can give, 2 / 2ⁿ.

    Wilcoxon's test leaves out zero differences, as he did (1945): it speaks of the scenarios in which the
    systems differ at all. Its p-value is exact for up to 50 other differences without ties and up to 13 with
    them; above it is the normal approximation's.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        confidence: The interval's confidence.

    Raises:
        InputError: There are no values, or the lists differ in length.
    """
    left, right = checks.pairs(a, b, "paired_difference")
    differences = [x - y for x, y in zip(left, right, strict=True)]
    interval = mean_interval(differences, confidence)
    n = len(differences)
    if n == 1 or not any(differences):
        return Paired(interval, 1.0, 1.0, n)
    return Paired(interval, _t_p(differences), _wilcoxon_p(differences), n)


def _t_p(differences: list[float]) -> float:
    from scipy.special import stdtr

    n = len(differences)
    spread = deviation(differences)
    if spread == 0.0:
        return 0.0
    t = math.fsum(differences) / n / (spread / math.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


def _wilcoxon_p(differences: list[float]) -> float:
    from scipy.stats import wilcoxon

    # Without zeros in it scipy gives the exact value where it can.
    return float(wilcoxon([difference for difference in differences if difference]).pvalue)


def paired_ratio(a: Iterable[float], b: Iterable[float], confidence: float = 0.95) -> Interval:
    """The ratio of the means of paired values, mean(a) / mean(b), with Fieller's interval (1954).

    Fieller's interval knows that both means are uncertain and that they vary together; single values may be
    zero. It is unbounded, from −∞ to ∞, if the mean of ``b`` does not differ from zero at the confidence
    wanted; all is NaN if that mean is zero. The ratio of means says how much more data got through; the mean
    of ratios, which is something else, would give a scenario with little traffic the weight of one with much.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        confidence: The interval's confidence.

    Raises:
        InputError: There are no values, or the lists differ in length.
    """
    left, right = checks.pairs(a, b, "paired_ratio")
    confidence = checks.confidence(confidence, "paired_ratio: confidence")
    n = len(left)
    mean_a, mean_b = math.fsum(left) / n, math.fsum(right) / n
    if mean_b == 0.0:
        return Interval(math.nan, math.nan, n)
    ratio = mean_a / mean_b
    if n == 1:
        return Interval(ratio, math.inf, n)
    # In the form of residuals a − ratio·b, so that proportional values give an interval of no width: the ends
    # are the roots r of (mean_a − r·mean_b)² = t² var(a − r·b) / n, as a quadratic in d = r − ratio.
    residuals = [x - ratio * y for x, y in zip(left, right, strict=True)]
    t2 = t_quantile(0.5 + confidence / 2, n - 1) ** 2 / n
    square = mean_b**2 - t2 * deviation(right) ** 2
    if square <= 0.0:
        return Interval(ratio, math.inf, n)
    middle = -t2 * _covariance(residuals, right)
    constant = t2 * deviation(residuals) ** 2
    root = math.sqrt(middle**2 + square * constant)
    return Interval.between(ratio, ratio + (middle - root) / square, ratio + (middle + root) / square, n)


def _covariance(a: list[float], b: list[float]) -> float:
    n = len(a)
    mean_a, mean_b = math.fsum(a) / n, math.fsum(b) / n
    return math.fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)) / (n - 1)


def holm(p_values: Iterable[float]) -> list[float]:
    """The p-values of a family of comparisons, adjusted by Holm's method (1979), in the same order.

    To call a comparison significant where its adjusted p-value is at most α keeps the chance of even one
    false finding in the family at α, however the comparisons depend on each other.

    Raises:
        InputError: A value is not from 0 to 1. A family may be empty.
    """
    listed = checks.numbers(p_values, "holm", least=0)
    for index, p in enumerate(listed):
        checks.within(p, 0.0, 1.0, f"holm: value {index}")
    adjusted = listed.copy()
    least = 0.0
    for rank, index in enumerate(sorted(range(len(listed)), key=listed.__getitem__)):
        least = max(least, min(1.0, (len(listed) - rank) * listed[index]))
        adjusted[index] = least
    return adjusted
