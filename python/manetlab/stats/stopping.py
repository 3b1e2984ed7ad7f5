"""How many replications are enough: foretold from some, or found out while they are made."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from manetlab.errors import InputError, shown
from manetlab.stats import checks
from manetlab.stats.intervals import Interval, deviation, mean_interval, t_quantile

MOST_REPLICATIONS = 10_000_000
"""Beyond this no number of replications is foretold."""


def replications_needed(
    values: Iterable[float], relative_half_width: float, confidence: float = 0.95
) -> int | None:
    """How many replications a mean needs whose interval is narrow enough, if all vary as these do.

    The minimum n with t(n − 1) s / √n ≤ `relative_half_width` · |mean|, where t is the quantile of Student's
    t and s the values' standard deviation. The forecast is as uncertain as s is: from 10 values, s is known
    to some ±25 %, n therefore within a factor of about 2.

    Args:
        values: The values of the replications made so far, two or more.
        relative_half_width: The half width wanted, as a share of the mean: 0.05 is ±5 %.
        confidence: The interval's confidence.

    Returns:
        The number, at least 2; None if not even ten million are enough, as for a mean of zero.

    Raises:
        InputError: There are fewer than two values, one is not finite, or an argument is not allowed.
    """
    listed = checks.numbers(values, "replications_needed", least=2)
    share = checks.above_zero(relative_half_width, "replications_needed: relative_half_width")
    confidence = checks.confidence(confidence, "replications_needed: confidence")
    spread, wanted = deviation(listed), share * abs(math.fsum(listed) / len(listed))

    def enough(n: int) -> bool:
        return t_quantile(0.5 + confidence / 2, n - 1) * spread / math.sqrt(n) <= wanted

    if not enough(MOST_REPLICATIONS):
        return None
    # The half width falls with n.
    return bisect_left(range(MOST_REPLICATIONS), True, lo=2, key=enough)


@dataclass(frozen=True)
class Sequential:
    """The stopping rule: replicate until every wanted metric's interval is narrow enough.

    It looks at the values in rounds: after `least` replications, then whenever their number has grown by a
    quarter. A rule that stops when the interval looks narrow stops more readily when the spread looks small
    by chance, so its intervals cover the true mean less often than they say. Looking after every replication,
    from the fifth on, would bring 95 % down to some 92 %; ten at least and looks in rounds keep it at about
    94 % for normal values (docs/statistics.md).

    The intervals are those that `interval` makes of a metric's values: Student's if it is not given. A metric
    that is zero in all replications is narrow enough; one whose mean is near zero while its values
    are not cannot be so relative to its mean, and goes on to `most`. `enough` gives such a metric (a loss of
    packets, a difference) a half width that is narrow enough in the metric's own unit.

    Attributes:
        relative: The half width wanted, as a share of the mean.
        least: Fewest replications.
        most: Most replications.
        confidence: The intervals' confidence.
        enough: Half widths that are narrow enough whatever the mean, by metric.
        interval: The interval of a metric, from its name, its values and the confidence.
    """

    relative: float = 0.05
    least: int = 10
    most: int = 200
    confidence: float = 0.95
    enough: Mapping[str, float] | None = None
    interval: Callable[[str, Sequence[float], float], Interval] | None = None

    def __post_init__(self) -> None:
        checks.above_zero(self.relative, "Sequential: relative")
        checks.confidence(self.confidence, "Sequential: confidence")
        for name, number, lowest in (("least", self.least, 2), ("most", self.most, self.least)):
            if isinstance(number, bool) or not isinstance(number, int) or number < lowest:
                wanted = f"a whole number, {lowest} or more"
                hint = "an interval needs two replications, a reliable one ten"
                raise InputError(
                    "the number of replications is not allowed",
                    f"Sequential: {name}",
                    shown(number),
                    wanted,
                    hint,
                )
        for metric, half_width in (self.enough or {}).items():
            checks.above_zero(half_width, f"Sequential: enough[{metric!r}]")

    def rounds(self) -> Iterator[int]:
        """After how many replications the rule looks at the values."""
        n = self.least
        while n < self.most:
            yield n
            n += -(-n // 4)
        yield self.most

    def round_after(self, made: int) -> int:
        """How many replications there are at the first round with more than ``made``, or `most`."""
        return next((n for n in self.rounds() if n > made), self.most)

    def wants_more(self, values: Mapping[str, Sequence[float]], made: int | None = None) -> bool:
        """Are further replications wanted?

        Between two rounds always, so that the answer does not depend on how many runs end at a time.

        Args:
            values: The values of each wanted metric, of the replications that have it.
            made: How many replications were made; the length of the longest list if not given.

        Raises:
            InputError: No metric is wanted, or a value is not finite.
        """
        if not values:
            wanted = "the values of one or more metrics"
            raise InputError("no metric is given", "Sequential.wants_more", "nothing", wanted)
        n = max(len(listed) for listed in values.values()) if made is None else made
        if n >= self.most:
            return False
        return n not in self.rounds() or any(not self.is_met(name, of) for name, of in values.items())

    def is_met(self, metric: str, values: Sequence[float]) -> bool:
        """Is this metric's interval narrow enough? One without two values is not.

        Raises:
            InputError: A value is not finite.
        """
        if len(values) < 2:
            return False
        if not any(values):
            return True
        if self.interval is None:
            interval = mean_interval(values, self.confidence)
        else:
            interval = self.interval(metric, values, self.confidence)
        if interval.half_width <= (self.enough or {}).get(metric, 0.0):
            return True
        return interval.relative_half_width <= self.relative
