"""Figures as data: what is drawn, without saying with which library.

The page draws them interactively ([`interactive`][manetlab.report.interactive]), papers take them as SVG and
PDF ([`printed`][manetlab.report.printed]). All values are in the units that the axes' titles name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        names = dict.fromkeys(sample.x)
        return [
            Box.of(name, [value for at, value in zip(sample.x, sample.values, strict=True) if at == name])
            for name in names
        ]


@dataclass(frozen=True)
class Cumulative(Figure):
    """Empirical cumulative distributions."""

    samples: tuple[Sample, ...]


AnyFigure = Lines | Bars | Stacks | Forest | Boxes | Cumulative
