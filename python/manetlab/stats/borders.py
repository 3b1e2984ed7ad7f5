"""The greatest level of a load at which a mean still keeps to a limit, found with few replications."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from manetlab.errors import InputError, shown
from manetlab.stats import checks
from manetlab.stats.bounded import bounded_interval
from manetlab.stats.intervals import Interval, mean_interval

LEAST = 8
"""Replications of a level before it is looked at for the first time."""


class Status(StrEnum):
    """What the replications of a level say about the limit."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Limit:
    """What a mean must keep to.

    Attributes:
        threshold: The value, in the measure's unit.
        at_least: Whether the mean must be the threshold or more; else the threshold or less.
        least: The measure's lower bound; minus infinity if there is none.
        most: Its upper bound; infinity if there is none.
    """

    threshold: float
    at_least: bool = True
    least: float = -math.inf
    most: float = math.inf

    def interval(self, values: Sequence[float], confidence: float) -> Interval:
        """The mean of some values with an interval that knows their bounds; a value may lie above `most`."""
        if math.isfinite(self.least):
            most = self.most if max(values) <= self.most else math.inf
            return bounded_interval(values, self.least, most, confidence)
        return mean_interval(values, confidence)

    def is_kept_by(self, mean: float) -> bool:
        """Does this mean keep to the limit?"""
        return mean >= self.threshold if self.at_least else mean <= self.threshold

    def status(self, values: Sequence[float], confidence: float) -> Status:
        """Whether the whole interval of the mean is on one side of the threshold."""
        interval = self.interval(values, confidence)
        above, below = interval.low >= self.threshold, interval.high <= self.threshold
        if above and below:
            return Status.HOLDS
        if above or below:
            return Status.HOLDS if above == self.at_least else Status.FAILS
        return Status.OPEN


@dataclass
class BorderSearch:
    """Finds the greatest of some levels at which a mean keeps to a limit, level by level.

    It supposes that what keeps to the limit at one level keeps to it at all lower ones. The lowest level is
    tried first, so that a measure that goes the other way is noticed. Then it halves: the middle level
    between the highest that holds and the lowest that fails is replicated until its interval is on one side
    of the threshold, looked at whenever the replications have doubled. A level that is still open after
    `most` of them stays open; the search then goes on below and above it.

    The answer is an interval of levels. Each statement of which it is made (a level holds, a level fails) is
    tested on one side, at (1 − confidence) / 2 divided by the number of looks and by the number of levels
    that are looked at, the lowest and those of halving (Bonferroni). So both ends are right together at least
    as often as `confidence` says as long as the intervals of the means are; docs/statistics.md has how often
    they are.

    Attributes:
        levels: The levels, in ascending order.
        limit: What the mean must keep to.
        most: Most replications of a level.
        confidence: The interval's confidence.
        values: The values so far, by level; lists that only grow.
    """

    levels: Sequence[float]
    limit: Limit
    most: int = 64
    confidence: float = 0.95
    values: dict[float, list[float]] = field(default_factory=dict)
    _decided: dict[float, Status] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "BorderSearch"
        self.levels = checks.numbers(self.levels, f"{where}: levels")
        if any(low >= high for low, high in pairwise(self.levels)):
            wanted = "different numbers in ascending order"
            raise InputError(
                "the levels are not in order", f"{where}: levels", shown(list(self.levels)), wanted
            )
        checks.confidence(self.confidence, f"{where}: confidence")
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < LEAST:
            wanted = f"a whole number, {LEAST} or more"
            raise InputError(
                "the number of replications is not allowed", f"{where}: most", shown(self.most), wanted
            )

    def looks(self) -> Iterator[int]:
        """After how many replications a level is looked at."""
        n = LEAST
        while n < self.most:
            yield n
            n *= 2
        yield self.most

    @property
    def confidence_of_a_look(self) -> float:
        """The confidence of the interval by which a level is judged at one look, both sides together."""
        tests = len(list(self.looks())) * (1 + math.ceil(math.log2(len(self.levels) + 1)))
        return 1.0 - (1.0 - self.confidence) / tests

    def status(self, level: float) -> Status:
        """What is known of a level from its own replications.

        The first look that decides counts, so that later replications, made for a picture say, change
        nothing.
        """
        if level in self._decided:
            return self._decided[level]
        values = self.values.get(level, [])
        for n in self.looks():
            if n > len(values):
                break
            if (found := self.limit.status(values[:n], self.confidence_of_a_look)) is not Status.OPEN:
                return self._decided.setdefault(level, found)
        return Status.OPEN

    def wanted(self) -> tuple[float, int] | None:
        """The level that is to be replicated next, and to how many replications; None at the end."""
        level = self._between(*self._ends()) if self.values.get(self.levels[0]) else self.levels[0]
        if level is None:
            return None
        made = len(self.values.get(level, []))
        return level, next(n for n in self.looks() if n > made)

    def _between(self, low: int, high: int) -> float | None:
        """A level between two, neither included, that more replications may decide: the middle first."""
        if high - low < 2:
            return None
        middle = (low + high) // 2
        level = self.levels[middle]
        if len(self.values.get(level, [])) < self.most:
            return level
        # It stays open: first whether those above fail, then whether those below hold.
        above = self._between(middle, high)
        return self._between(low, middle) if above is None else above

    def _ends(self) -> tuple[int, int]:
        """The places of the highest level that holds and of the lowest that fails.

        −1 and the number of levels where there is none. A level that fails below one that holds ends what
        holds: lower loads come first.
        """
        found = {place: self.status(level) for place, level in enumerate(self.levels)}
        high = min(
            (place for place, status in found.items() if status is Status.FAILS), default=len(self.levels)
        )
        low = max((p for p, status in found.items() if status is Status.HOLDS and p < high), default=-1)
        return low, high

    def border(self) -> Border:
        """What is known so far."""
        low, high = self._ends()
        fitted = fitted_means({level: of for level, of in self.values.items() if of}, not self.limit.at_least)
        kept = [level for level, mean in fitted.items() if self.limit.is_kept_by(mean)]
        # What the fit says between the ends; beyond them the tests have spoken.
        inner = [level for level in kept if low < self.levels.index(level) < high]
        holds = self.levels[low] if low >= 0 else None
        return Border(
            low=holds,
            estimate=inner[-1] if inner else holds,
            high=self.levels[high - 1] if high else None,
            is_open_above=high == len(self.levels),
            out_of_order=self._out_of_order(),
            replications=sum(map(len, self.values.values())),
        )

    def _out_of_order(self) -> tuple[float, float] | None:
        """A level that fails and a higher one that holds; None if the levels are in order."""
        failing = [level for level in self.levels if self.status(level) is Status.FAILS]
        holding = [level for level in self.levels if self.status(level) is Status.HOLDS]
        if failing and holding and failing[0] < holding[-1]:
            return failing[0], holding[-1]
        return None


@dataclass(frozen=True)
class Border:
    """The greatest level that keeps to a limit.

    Attributes:
        low: The highest level that is shown to keep to it; None if none is.
        estimate: The best guess: the greatest level whose mean keeps to it after isotonic regression, within
            what is shown; None if none does.
        high: The highest level that is not shown to break it; None if already the lowest breaks it.
        is_open_above: Whether no level is shown to break it, so that even higher ones may keep to it.
        out_of_order: A level that breaks it although a higher one keeps to it, and that higher one; None if
            no two levels are so.
        replications: All replications that were made.
    """

    low: float | None
    estimate: float | None
    high: float | None
    is_open_above: bool
    out_of_order: tuple[float, float] | None
    replications: int


def fitted_means(values: Mapping[float, Sequence[float]], rising: bool) -> dict[float, float]:
    """The means of levels that best follow their order: isotonic regression (pool adjacent violators).

    It is taken instead of a logistic curve because it supposes an order only: how a measure falls with the
    load is what nobody knows before.

    Args:
        values: The values at each level.
        rising: Whether means rise with the level; else they fall.
    """
    levels = sorted(values)
    sign = 1.0 if rising else -1.0
    pools: list[tuple[float, int, list[float]]] = []
    for level in levels:
        listed = values[level]
        pool = (sign * math.fsum(listed) / len(listed), len(listed), [level])
        while pools and pools[-1][0] > pool[0]:
            mean, n, before = pools.pop()
            together = n + pool[1]
            pool = ((mean * n + pool[0] * pool[1]) / together, together, [*before, *pool[2]])
        pools.append(pool)
    return {level: sign * mean for mean, _, among in pools for level in among}
