"""Figures as data: what is drawn, without saying with which library.

The page draws them interactively ([`interactive`][manetlab.report.interactive]), papers take them as SVG and
PDF ([`printed`][manetlab.report.printed]). All values are in the units that the axes' titles name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

MOST_DOTS = 2000
"""Values that a figure draws one by one; of more it draws some, evenly spaced in rank."""

Number = float | None
"""None stands for no value, or for an end of an interval that is boundless."""


@dataclass(frozen=True)
class Series:
    """Estimates with their intervals, drawn as one line or one group of bars.

    Attributes:
        name: What they belong to, for the legend.
        x: Where: numbers on an axis of numbers, names on one of categories.
        y: The estimates.
        low: The intervals' lower ends.
        high: Their upper ends.
        n: How many values each estimate is made of.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[Number, ...]
    low: tuple[Number, ...]
    high: tuple[Number, ...]
    n: tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """Values whose distribution is drawn.

    Attributes:
        name: What they belong to, for the legend.
        x: The category that each value belongs to; empty for a cumulative distribution.
        values: The values.
    """

    name: str
    x: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Box:
    """A distribution in five numbers, and what lies outside (Tukey, Exploratory Data Analysis, 1977).

    Attributes:
        x: The category.
        low: The minimum within 1.5 times the box's length from the box.
        q1: The first quartile.
        median: The median.
        q3: The third quartile.
        high: The maximum within 1.5 times the box's length from the box.
        outliers: The values beyond ``low`` and ``high``.
    """

    x: str
    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: tuple[float, ...]

    @classmethod
    def of(cls, x: str, values: Sequence[float]) -> Box:
        """The box of these values."""
        from manetlab.stats import percentiles

        q1, median, q3 = percentiles(values, (25.0, 50.0, 75.0))
        reach = 1.5 * (q3 - q1)
        # A quartile lies between two values: its box may reach beyond the last value on its side.
        low = min(q1, *(value for value in values if value >= q1 - reach))
        high = max(q3, *(value for value in values if value <= q3 + reach))
        return cls(x, low, q1, median, q3, high, tuple(value for value in values if not low <= value <= high))


@dataclass(frozen=True)
class Figure:
    """What every figure has.

    Attributes:
        name: The stem of its files, and its anchor on the page.
        title: What it shows.
        x_title: The title of the horizontal axis, with its unit.
        y_title: The title of the vertical axis, with its unit.
        caption: What the marks and bars are, with the numbers of replications.
        table: The name of the table with the same values.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    caption: str
    table: str


@dataclass(frozen=True)
class Lines(Figure):
    """A metric over a numeric factor, one line a level of another."""

    series: tuple[Series, ...]


@dataclass(frozen=True)
class Bars(Figure):
    """A metric by categories, one bar a level of another factor."""

    series: tuple[Series, ...]


@dataclass(frozen=True)
class Stacks(Figure):
    """Shares of a whole: one bar a category, its parts above each other in the order of the series."""

    series: tuple[Series, ...]


@dataclass(frozen=True)
class Forest(Figure):
    """Differences to a baseline with their intervals, one a line, beside a line at zero.

    The horizontal axis is that of the differences; the series' `x` are the names of the lines.
    """

    series: tuple[Series, ...]


@dataclass(frozen=True)
class Boxes(Figure):
    """Distributions by categories: a box from quartile to quartile, whiskers as Tukey drew them."""

    samples: tuple[Sample, ...]

    def boxes(self, sample: Sample) -> list[Box]:
        """The boxes of a sample, one a category that it has values in, in the order of the values."""
        at = next(index for index, each in enumerate(self.samples) if each is sample)
        return self._boxes[at]

    @property
    def is_thinned(self) -> bool:
        """Are there more outliers than are drawn?"""
        return self._outliers > MOST_DOTS

    @cached_property
    def _all_boxes(self) -> list[list[Box]]:
        made = []
        for sample in self.samples:
            by_name: dict[str, list[float]] = {}
            for name, value in zip(sample.x, sample.values, strict=True):
                by_name.setdefault(name, []).append(value)
            made.append([Box.of(name, values) for name, values in by_name.items()])
        return made

    @cached_property
    def _outliers(self) -> int:
        return sum(len(box.outliers) for boxes in self._all_boxes for box in boxes)

    @cached_property
    def _boxes(self) -> list[list[Box]]:
        """The boxes of all samples, with the outliers that are drawn."""
        if not self.is_thinned:
            return self._all_boxes
        share = MOST_DOTS / self._outliers
        return [
            [
                replace(box, outliers=thinned(sorted(box.outliers), math.ceil(share * len(box.outliers))))
                for box in boxes
            ]
            for boxes in self._all_boxes
        ]


@dataclass(frozen=True)
class Cumulative(Figure):
    """Empirical cumulative distributions."""

    samples: tuple[Sample, ...]

    @property
    def is_thinned(self) -> bool:
        """Are there more values than are drawn?"""
        return sum(len(sample.values) for sample in self.samples) > MOST_DOTS

    def steps(self, sample: Sample) -> tuple[list[float], list[float]]:
        """The corners of a sample's distribution: where it rises, and to what share."""
        ordered = sorted(sample.values)
        count = len(ordered)
        most = max(2, MOST_DOTS // len(self.samples)) if self.is_thinned else count
        ranks = evenly_spaced(count, most)
        shares = [0.0, *((rank + 1) / count for rank in ranks)]
        return [ordered[0], *(ordered[rank] for rank in ranks)], shares


def evenly_spaced(count: int, most: int) -> Sequence[int]:
    """At most so many of the numbers below ``count``, evenly spaced, the first and the last among them."""
    if count <= most:
        return range(count)
    if most == 1:
        return [count // 2]
    return [round(index * (count - 1) / (most - 1)) for index in range(most)]


def thinned(ordered: Sequence[float], most: int) -> tuple[float, ...]:
    """At most so many of ordered values, evenly spaced in rank."""
    return tuple(ordered[rank] for rank in evenly_spaced(len(ordered), most))


AnyFigure = Lines | Bars | Stacks | Forest | Boxes | Cumulative
