"""Means, medians and percentiles with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manetlab.errors import InputError, shown
from manetlab.stats import checks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Statistic = Callable[[NDArray[np.float64]], float]

RESAMPLES = 9_999
"""Resamples of a bootstrap: the ends of a 95 % interval then vary by some hundredths of its width."""


@dataclass(frozen=True)
class Interval:
    """An estimate and its confidence interval.

    Attributes:
        mean: The estimate: the mean of the values unless said otherwise.
        half_width: Half the width of the interval; infinite where the values do not bound it, as a single
            one does not.
        n: The number of values.
        ends: The interval's ends where the estimate is not its middle; None where it is.
    """

    mean: float
    half_width: float
    n: int
    ends: tuple[float, float] | None = None

    @classmethod
    def between(cls, estimate: float, low: float, high: float, n: int) -> Interval:
        """The interval from ``low`` to ``high``, of which the estimate need not be the middle."""
        return cls(estimate, (high - low) / 2, n, (low, high))

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half_width if self.ends is None else self.ends[0]

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half_width if self.ends is None else self.ends[1]

    @property
    def holds_zero(self) -> bool:
        """Is zero within the interval?"""
        return self.holds(0.0)

    def holds(self, value: float) -> bool:
        """Is the value within the interval?"""
        return self.low <= value <= self.high

    @property
    def relative_half_width(self) -> float:
        """The half width as a share of the estimate's size; 0 for no width, infinite for an estimate of 0."""
        if self.half_width == 0.0:
            return 0.0
        return self.half_width / abs(self.mean) if self.mean else math.inf

    def scaled(self, factor: float) -> Interval:
        """The same in another unit; a negative factor turns it round."""
        half_width = self.half_width * abs(factor)
        if self.ends is None:
            return Interval(self.mean * factor, half_width, self.n)
        low, high = sorted(end * factor for end in self.ends)
        return Interval(self.mean * factor, half_width, self.n, (low, high))


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """The mean of independent values with its Student t interval.

    Exact for normal values, and near it for others once there are enough of them that their mean is nearly
    normal; see `heavy_tail_warning`. Equal values give an interval of no width.

    Args:
        values: The values, one of each independent replication.
        confidence: The interval's confidence.

    Raises:
        InputError: There are no values, one is not finite, or the confidence is not a share.
    """
    listed = checks.numbers(values, "mean_interval")
    confidence = checks.confidence(confidence, "mean_interval: confidence")
    if (unit := unit_of(listed)) != 1.0:
        return mean_interval([value / unit for value in listed], confidence).scaled(unit)
    n = len(listed)
    mean = math.fsum(listed) / n
    if n == 1:
        return Interval(mean, math.inf, 1)
    return Interval(mean, t_quantile(0.5 + confidence / 2, n - 1) * deviation(listed) / math.sqrt(n), n)


LARGEST = 1e150
"""Sums of the squares of values up to this size are within doubles, however many values there are."""


def unit_of(values: Sequence[float]) -> float:
    """What values are divided by first: a power of two if their squares are beyond doubles, else 1."""
    largest = max(map(abs, values))
    return 2.0 ** (math.frexp(largest)[1] - 1) if largest > LARGEST else 1.0


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample of two or more values (n − 1 in the denominator)."""
    if min(values) == max(values):
        # The mean of equal values may differ from them by its rounding.
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1))


def bootstrap_interval(
    values: Iterable[float],
    statistic: str | Statistic = "mean",
    confidence: float = 0.95,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Interval:
    """A statistic of independent values with its bootstrap interval (BCa: Efron 1987).

    The same values, in whatever order, and the same seed give the same interval. Where the jackknife behind
    BCa's correction has nothing to go by (a median that no single value moves), it is the percentile
    interval. Below some ten values a bootstrap interval is too narrow whatever the method.

    Args:
        values: The values, one of each independent replication.
        statistic: ``mean``, ``median``, or a function from an array of values to a number.
        confidence: The interval's confidence.
        seed: The seed of the resamples.
        resamples: The number of resamples.

    Raises:
        InputError: There are no values, one is not finite, the statistic has no such name, the confidence is
            not a share, or the seed or the number of resamples is not a whole number from 0 or 1.
    """
    import numpy as np

    data = np.sort(np.array(checks.numbers(values, "bootstrap_interval")))
    confidence = checks.confidence(confidence, "bootstrap_interval: confidence")
    for name, number, least in (("seed", seed, 0), ("resamples", resamples, 1)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            where, wanted = f"bootstrap_interval: {name}", f"a whole number, {least} or more"
            raise InputError(f"the {name} cannot be used", where, shown(number), wanted)
    named: dict[str, Statistic] = {"mean": np.mean, "median": np.median}
    if isinstance(statistic, str) and statistic not in named:
        wanted = "mean, median, or a function"
        raise InputError("no such statistic", "bootstrap_interval", shown(statistic), wanted)
    function = named[statistic] if isinstance(statistic, str) else statistic
    estimate = float(function(data))
    if len(data) == 1:
        return Interval(estimate, math.inf, 1)
    if data[0] == data[-1]:
        return Interval(estimate, 0.0, len(data))
    for method in ("BCa", "percentile"):
        low, high = _bootstrap_ends(data, function, confidence, seed, resamples, method)
        if math.isfinite(low) and math.isfinite(high):
            break
    return Interval.between(estimate, low, high, len(data))


def _bootstrap_ends(
    data: NDArray[np.float64],
    function: Statistic,
    confidence: float,
    seed: int,
    resamples: int,
    method: str,
) -> tuple[float, float]:
    import warnings

    import numpy as np
    from scipy.stats import bootstrap

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Where BCa has nothing to go by its ends are NaN, which the caller sees.
        warnings.simplefilter("ignore")
        found = bootstrap(
            (data,),
            function,
            n_resamples=resamples,
            # A few megabytes at a time, however many values there are.
            batch=max(1, 500_000 // len(data)),
            confidence_level=confidence,
            method=method,
            rng=np.random.Generator(np.random.PCG64(seed)),
        ).confidence_interval
    return float(found.low), float(found.high)


def median_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """The median with its interval from the order statistics: see `percentile_interval`."""
    return percentile_interval(values, 50.0, confidence)


def percentile_interval(values: Iterable[float], percent: float, confidence: float = 0.95) -> Interval:
    """A percentile of independent values with an interval that supposes nothing about their distribution.

    The interval's ends are order statistics, chosen by the binomial distribution (Conover 1999, section 3.2),
    so that the confidence is at least the one wanted. An end is infinite where there are too few values to
    bound the percentile on that side: the median needs 6 at 95 %, the 95th percentile 72 for its upper end.

    Args:
        values: The values, one of each independent replication.
        percent: Which percentile, between 0 and 100.
        confidence: The interval's confidence.

    Raises:
        InputError: There are no values, one is not finite, or the percent or the confidence is not allowed.
    """
    from scipy.stats import quantile_test

    listed = checks.numbers(values, "percentile_interval")
    confidence = checks.confidence(confidence, "percentile_interval: confidence")
    fraction = checks.share(percent / 100, "percentile_interval: percent / 100")
    found = quantile_test(listed, p=fraction).confidence_interval(confidence)
    low = -math.inf if math.isnan(found.low) else float(found.low)
    high = math.inf if math.isnan(found.high) else float(found.high)
    return Interval.between(percentiles(listed, (percent,))[0], low, high, len(listed))


def percentiles(values: Iterable[float], wanted: Sequence[float] = (5.0, 50.0, 95.0)) -> list[float]:
    """Percentiles, by linear interpolation between order statistics (Hyndman and Fan's type 7).

    Args:
        values: The values.
        wanted: Which percentiles, each from 0 to 100.

    Raises:
        InputError: There are no values, one is not finite, or a percentile is not from 0 to 100.
    """
    import numpy as np

    listed = checks.numbers(values, "percentiles")
    for percent in wanted:
        if not 0.0 <= percent <= 100.0:
            raise InputError("no such percentile", "percentiles", shown(percent), "from 0 to 100")
    return [float(value) for value in np.percentile(listed, list(wanted))]


LEAST_FOR_TAIL = 8
"""Fewest values from which something is said about their tail: the test of skewness needs as many."""


def heavy_tail_warning(values: Iterable[float]) -> str | None:
    """A sentence if the values are too skewed for their number to trust a t interval, else None.

    Warns if the sample's skewness g is beyond chance (D'Agostino's test, 1 %) and n is below 25 g², Cochran's
    rule (Sampling Techniques, section 2.15) for a mean that is normal enough for 95 % intervals. Fewer than
    eight values show no tail.

    Raises:
        InputError: There are no values, or one is not finite.
    """
    listed = checks.numbers(values, "heavy_tail_warning")
    g = heavy_tail(listed)
    if g is None:
        return None
    return (
        f"the values are skewed (skewness {g:.1f} in {len(listed)} values): an interval of the mean needs "
        f"about {math.ceil(25 * g * g)} values to be reliable; also look at the median and the percentiles"
    )


def heavy_tail(listed: list[float]) -> float | None:
    """The skewness of values of which `heavy_tail_warning` warns, else None."""
    n = len(listed)
    if n < LEAST_FOR_TAIL or deviation(listed) <= 1e-9 * max(map(abs, listed)):
        return None
    from scipy.stats import skew, skewtest

    g = float(skew(listed, bias=False))
    if n >= math.ceil(25 * g * g) or float(skewtest(listed).pvalue) >= 0.01:
        return None
    return g


def t_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution."""
    # scipy takes a third of a second to import; most commands do without it.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))
