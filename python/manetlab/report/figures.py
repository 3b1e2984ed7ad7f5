"""Figures as data: what is drawn, without saying with which library.

The page draws them interactively ([`interactive`][manetlab.report.interactive]), papers take them as SVG and PDF
([`printed`][manetlab.report.printed]). All values are in the units that the axes' titles name.
"""

from __future__ import annotations

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
class Forest(Figure):
    """Differences to a baseline with their intervals, one a line, beside a line at zero.

    The horizontal axis is that of the differences; the series' `x` are the names of the lines.
    """

    series: tuple[Series, ...]


@dataclass(frozen=True)
class Boxes(Figure):
    """Distributions by categories: box from the first to the third quartile, whiskers to 1.5 times its length."""

    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Cumulative(Figure):
    """Empirical cumulative distributions."""

    samples: tuple[Sample, ...]


AnyFigure = Lines | Bars | Forest | Boxes | Cumulative
