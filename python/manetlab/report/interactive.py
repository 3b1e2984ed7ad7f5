"""Figures for the page: what Plotly draws, as plain data."""

from __future__ import annotations

import html
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import singledispatch
from itertools import pairwise
from typing import Any

from manetlab.report.figures import (
    AnyFigure,
    Bars,
    Boxes,
    Cumulative,
    Forest,
    Lines,
    Number,
    Sample,
    Series,
    Stacks,
)

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "5px 1px")
PATTERNS = ("", "/", "x", ".", "\\", "-", "+")

TITLE_LETTERS = 28
"""Longest line of an axis title."""

Spec = dict[str, Any]


def plotly(figure: AnyFigure) -> Spec:
    """The figure as traces and layout of Plotly, without colours: those are the theme's.

    Traces take the theme's colours in their order, so series of the same place have the same colour in all
    figures.
    """
    traces, axes = _drawn(figure)
    shared = {"automargin": True, "zeroline": False}
    return {
        # Forests grow with their lines, the others do not.
        "height_rem": 8 + rows(figure) * max(2.6, 1.3 * len(traces)) if isinstance(figure, Forest) else 22,
        "data": traces,
        "layout": {
            "xaxis": {"title": {"text": title(figure.x_title)}, **shared, **axes.get("xaxis", {})},
            "yaxis": {"title": {"text": title(figure.y_title)}, **shared, **axes.get("yaxis", {})},
            # Above the axes, where it can grow to several lines on a phone without covering a title.
            "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
            "showlegend": len(traces) > 1,
            "margin": {"l": 8, "r": 12, "t": 24, "b": 8},
            "hovermode": "closest",
            "boxmode": _mode(figure),
            "barmode": "stack" if isinstance(figure, Stacks) else _mode(figure),
        },
    }


def _mode(figure: AnyFigure) -> str:
    """Are bars and boxes of several series beside each other, or is each alone in its place?"""
    many = figure.series if isinstance(figure, Bars) else figure.samples if isinstance(figure, Boxes) else ()
    return "overlay" if are_alone(many) else "group"


@singledispatch
def _drawn(figure: AnyFigure) -> tuple[list[Spec], Spec]:
    """The traces, and what the axes have beyond their titles."""
    raise TypeError(f"{type(figure).__name__} is not a figure")


@_drawn.register(Lines)
def _(figure: Lines) -> tuple[list[Spec], Spec]:
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": aside(figure.series, index),
            "y": list(series.y),
            "error_y": _bars(series),
            "line": {"dash": DASHES[index % len(DASHES)], "width": 2},
            "marker": {"symbol": SYMBOLS[index % len(SYMBOLS)], "size": 8},
            **_named(series, "%{text}: %{y:.4g}"),
            "text": [str(plain(x)) for x in series.x],
        }
        for index, series in enumerate(figure.series)
    ]
    return traces, {"yaxis": _from_zero(figure.series)}


@_drawn.register(Bars)
def _(figure: Bars) -> tuple[list[Spec], Spec]:
    traces = [
        {
            "type": "bar",
            "x": list(map(plain, series.x)),
            "y": list(series.y),
            "error_y": _bars(series),
            # Paler than the intervals, which would be lost in them otherwise.
            "marker": {
                "opacity": 0.6,
                "pattern": {
                    "shape": PATTERNS[index % len(PATTERNS)],
                    "solidity": 0.15,
                    "fillmode": "overlay",
                },
            },
            **_named(series, "%{x}: %{y:.4g}"),
        }
        for index, series in enumerate(figure.series)
    ]
    return traces, {"xaxis": {"type": "category", "showgrid": False}, "yaxis": {"rangemode": "tozero"}}


@_drawn.register(Stacks)
def _(figure: Stacks) -> tuple[list[Spec], Spec]:
    traces = [
        {
            "type": "bar",
            "name": plain(series.name),
            "x": list(map(plain, series.x)),
            "y": list(series.y),
            "marker": {"pattern": {"shape": PATTERNS[index % len(PATTERNS)], "solidity": 0.15}},
            "hovertemplate": "%{x}: %{y:.3g} %",
        }
        for index, series in enumerate(figure.series)
    ]
    return traces, {"xaxis": {"type": "category", "showgrid": False}, "yaxis": {"range": [0, 100]}}


@_drawn.register(Forest)
def _(figure: Forest) -> tuple[list[Spec], Spec]:
    names = list(dict.fromkeys(str(name) for series in figure.series for name in series.x))
    count = len(figure.series)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": list(series.y),
            "y": [names.index(str(name)) + within_row(index, count) for name in series.x],
            "text": [str(plain(name)) for name in series.x],
            "error_x": _bars(series),
            "marker": {"symbol": SYMBOLS[index % len(SYMBOLS)], "size": 9},
            **_named(series, "%{text}: %{x:.4g}"),
        }
        for index, series in enumerate(figure.series)
    ]
    return traces, {
        "xaxis": {"zeroline": True, "zerolinewidth": 2, "rangemode": "tozero"},
        "yaxis": {
            "tickvals": list(range(len(names))),
            "ticktext": [str(plain(name)) for name in names],
            "showgrid": False,
            "range": [len(names) - 0.5, -0.5],
        },
    }


@_drawn.register(Boxes)
def _(figure: Boxes) -> tuple[list[Spec], Spec]:
    traces: list[Spec] = []
    for index, sample in enumerate(figure.samples):
        boxes = figure.boxes(sample)
        traces.append(
            {
                "type": "box",
                "name": plain(sample.name),
                "x": [plain(box.x) for box in boxes],
                "q1": [box.q1 for box in boxes],
                "median": [box.median for box in boxes],
                "q3": [box.q3 for box in boxes],
                "lowerfence": [box.low for box in boxes],
                "upperfence": [box.high for box in boxes],
                # Plotly draws no box that comes without points; the median is none that it would show.
                "y": [[box.median, *box.outliers] for box in boxes],
                "boxpoints": "outliers",
                "jitter": 0,
                "pointpos": 0,
                "marker": {"symbol": SYMBOLS[index % len(SYMBOLS)], "size": 4},
            }
        )
    return traces, {"xaxis": {"type": "category", "showgrid": False}, "yaxis": {"rangemode": "tozero"}}


@_drawn.register(Cumulative)
def _(figure: Cumulative) -> tuple[list[Spec], Spec]:
    traces = []
    for index, sample in enumerate(figure.samples):
        x, y = figure.steps(sample)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": plain(sample.name),
                "x": x,
                "y": y,
                "line": {"shape": "hv", "dash": DASHES[index % len(DASHES)], "width": 2},
                "hovertemplate": "%{y:.0%} have at most %{x:.4g}",
            }
        )
    widest = max((value for sample in figure.samples for value in sample.values), default=0.0)
    return traces, {"xaxis": {"range": [0, 1.03 * widest or 1.0]}, "yaxis": {"range": [0, 1.02]}}


def aside(many: tuple[Series, ...], index: int) -> list[float | str]:
    """Where the marks of one of several lines stand: beside each other, not on each other."""
    places = sorted({x for series in many for x in series.x if not isinstance(x, str)})
    gap = min((b - a for a, b in pairwise(places)), default=1.0)
    step = gap * min(0.06, 0.5 / len(many)) * (index - (len(many) - 1) / 2)
    return [plain(x) if isinstance(x, str) else x + step for x in many[index].x]


def are_alone(many: Sequence[Series | Sample]) -> bool:
    """Is every bar or box alone in its category, in whose middle it then stands?

    So it is where the levels that are compared are the categories.
    """
    return max(Counter(str(x) for each in many for x in set(each.x)).values(), default=1) == 1


def within_row(index: int, count: int) -> float:
    """How far one of several marks in a row of a forest is from the row's middle."""
    return (index - (count - 1) / 2) * min(0.25, 0.8 / count)


def plain(text: float | str) -> float | str:
    """The text for Plotly, which would take parts of it for HTML."""
    return html.escape(text, quote=False) if isinstance(text, str) else text


def title(text: str) -> str:
    """An axis title in lines that fit on a phone."""
    return "<br>".join(str(plain(line)) for line in textwrap.wrap(text, TITLE_LETTERS))


def rows(figure: Forest) -> int:
    """The number of lines of a forest."""
    return len({name for series in figure.series for name in series.x})


def _named(series: Series, template: str) -> Spec:
    ends = [
        f"{_end(low)} to {_end(high)}, n = {n}" if (low, high) != (None, None) else f"n = {n}"
        for low, high, n in zip(series.low, series.high, series.n, strict=True)
    ]
    return {
        "name": plain(series.name),
        "customdata": ends,
        "hovertemplate": template + " (%{customdata})",
    }


def _end(value: Number) -> str:
    return "∞" if value is None else f"{value:.4g}"


def _bars(series: Series) -> Spec:
    """The intervals as error bars; none where an interval is boundless."""

    def lengths(ends: tuple[Number, ...]) -> list[float]:
        return [
            0.0 if end is None or y is None else abs(end - y) for end, y in zip(ends, series.y, strict=True)
        ]

    return {
        "type": "data",
        "symmetric": False,
        "array": lengths(series.high),
        "arrayminus": lengths(series.low),
        # Bars of no length would still have their end marks.
        "visible": any(lengths(series.high) + lengths(series.low)),
        "thickness": 1.5,
        "width": 5,
    }


def _from_zero(many: tuple[Series, ...]) -> Spec:
    """Zero is shown where no value is below it: a cut axis makes small differences look great."""
    ends = [end for series in many for end in (*series.y, *series.low) if end is not None]
    return {"rangemode": "tozero"} if ends and min(ends) >= 0.0 else {}
