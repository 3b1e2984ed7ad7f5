"""Figures for papers: SVG and PDF by matplotlib, one column wide, with fonts embedded.

The bytes depend on the figure and the versions of matplotlib and its fonts only: no dates, no random names.
"""

from __future__ import annotations

import io
import textwrap
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from manetlab import palette
from manetlab.plots import HATCHES, MARKERS, STYLE, filling, style
from manetlab.report.figures import AnyFigure, Bars, Boxes, Cumulative, Forest, Lines, Number, Series, Stacks
from manetlab.report.interactive import TITLE_LETTERS, are_alone, aside, rows, within_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTH_IN = 3.5
"""The width of a column of IEEE and ACM papers, inches."""
HEIGHT_IN = 2.4


def draw(figure: AnyFigure) -> tuple[bytes, bytes]:
    """The figure as SVG and as PDF."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    # What a user's own matplotlibrc says has no influence.
    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings.update(STYLE)
        drawing = Drawing(figsize=(WIDTH_IN, _height_in(figure)))
        axes = drawing.add_subplot()
        _draw(figure, axes)
        _axis_titles(figure, axes)
        _legend(drawing, axes)
        svg = _saved(drawing, "svg", {"Date": None})
        # The layout is found by now; both forms are to have the same.
        drawing.set_layout_engine("none")
        return svg, _saved(drawing, "pdf", {"CreationDate": None})


def _saved(drawing: Drawing, form: str, metadata: dict[str, None]) -> bytes:
    target = io.BytesIO()
    drawing.savefig(target, format=form, metadata=metadata)
    return target.getvalue()


def _height_in(figure: AnyFigure) -> float:
    """Forests grow with their lines, the others do not."""
    if isinstance(figure, Forest):
        return max(1.4, 0.8 + rows(figure) * max(0.28, 0.14 * len(figure.series)))
    if isinstance(figure, Stacks):
        # Its legend has a line a part.
        return HEIGHT_IN + 0.17 * len(figure.series)
    return HEIGHT_IN


def _axis_titles(figure: AnyFigure, axes: Axes) -> None:
    axes.set_xlabel(textwrap.fill(figure.x_title, TITLE_LETTERS))
    axes.set_ylabel(textwrap.fill(figure.y_title, TITLE_LETTERS))


def _legend(drawing: Drawing, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) > 1:
        widest = max(map(len, labels))
        drawing.legend(
            handles, labels, loc="outside upper center", ncols=max(1, min(4, len(labels), 48 // (widest + 6)))
        )


@singledispatch
def _draw(figure: AnyFigure, axes: Axes) -> None:
    raise TypeError(f"{type(figure).__name__} is not a figure for {type(axes).__name__}")


@_draw.register(Lines)
def _(figure: Lines, axes: Axes) -> None:
    for index, series in enumerate(figure.series):
        places = aside(figure.series, index)
        axes.errorbar(places, _floats(series.y), yerr=_lengths(series), label=series.name, **style(index))
    ends = [end for series in figure.series for end in (*series.y, *series.low) if end is not None]
    if ends and min(ends) >= 0.0:
        axes.set_ylim(bottom=0)


@_draw.register(Bars)
def _(figure: Bars, axes: Axes) -> None:
    names = list(dict.fromkeys(str(name) for series in figure.series for name in series.x))
    places = {name: index for index, name in enumerate(names)}
    alone = are_alone(figure.series)
    width = 0.5 if alone else 0.8 / len(figure.series)
    for index, series in enumerate(figure.series):
        shift = 0.0 if alone else (index - (len(figure.series) - 1) / 2) * width
        axes.bar(
            [places[str(name)] + shift for name in series.x],
            _floats(series.y),
            width * 0.94,
            yerr=lengths if any(map(any, lengths := _lengths(series))) else None,
            label=series.name,
            **filling(index),
            error_kw={"elinewidth": 0.9, "ecolor": "#222222"},
        )
    axes.set_xticks(range(len(names)), names)
    axes.grid(False, axis="x")
    _slant(axes, names)


@_draw.register(Stacks)
def _(figure: Stacks, axes: Axes) -> None:
    names = [str(name) for name in figure.series[0].x]
    below = [0.0] * len(names)
    for index, series in enumerate(figure.series):
        heights = [0.0 if value is None else value for value in series.y]
        axes.bar(
            range(len(names)),
            heights,
            0.7,
            bottom=below,
            label=series.name,
            **filling(index),
        )
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 100)
    axes.grid(False, axis="x")
    _slant(axes, names)


@_draw.register(Forest)
def _(figure: Forest, axes: Axes) -> None:
    names = list(dict.fromkeys(str(name) for series in figure.series for name in series.x))
    axes.axvline(0.0, color="#222222", linewidth=0.8)
    for index, series in enumerate(figure.series):
        shift = within_row(index, len(figure.series))
        places = [names.index(str(name)) + shift for name in series.x]
        marks = {**style(index), "linestyle": "none"}
        axes.errorbar(_floats(series.y), places, xerr=_lengths(series), label=series.name, **marks)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis="y")


@_draw.register(Boxes)
def _(figure: Boxes, axes: Axes) -> None:
    names = list(dict.fromkeys(name for sample in figure.samples for name in sample.x))
    alone = are_alone(figure.samples)
    width = 0.5 if alone else 0.8 / len(figure.samples)
    for index, sample in enumerate(figure.samples):
        shift = 0.0 if alone else (index - (len(figure.samples) - 1) / 2) * width
        boxes = figure.boxes(sample)
        colour = palette.ON_LIGHT[index % len(palette.ON_LIGHT)]
        axes.bxp(
            [
                {"whislo": box.low, "q1": box.q1, "med": box.median, "q3": box.q3, "whishi": box.high}
                | {"fliers": list(box.outliers)}
                for box in boxes
            ],
            positions=[names.index(box.x) + shift for box in boxes],
            widths=width * 0.8,
            manage_ticks=False,
            patch_artist=True,
            label=sample.name,
            boxprops={
                "facecolor": (colour, 0.3),
                "hatch": HATCHES[index % len(HATCHES)],
                "edgecolor": colour,
                "linewidth": 0.8,
            },
            medianprops={"color": "#111111", "linewidth": 1.2},
            whiskerprops={"color": colour, "linewidth": 0.8},
            capprops={"color": colour, "linewidth": 0.8},
            flierprops={"marker": MARKERS[index % len(MARKERS)], "markersize": 2, "markeredgecolor": colour},
        )
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(bottom=0)
    axes.grid(False, axis="x")
    _slant(axes, names)


@_draw.register(Cumulative)
def _(figure: Cumulative, axes: Axes) -> None:
    for index, sample in enumerate(figure.samples):
        x, y = figure.steps(sample)
        line = {key: value for key, value in style(index).items() if key != "marker"}
        axes.step(x, y, where="post", label=sample.name, **line)
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)


def _slant(axes: Axes, names: list[str]) -> None:
    """Turns the names of categories where they would run into each other."""
    room = 42 / len(names)
    if any(len(before) + len(after) > 2 * room for before, after in pairwise(names)):
        axes.tick_params(axis="x", rotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")


def _floats(values: tuple[Number, ...]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _lengths(series: Series) -> list[list[float]]:
    """The lengths of the error bars to either side; zero where an interval is boundless."""

    def lengths(ends: tuple[Number, ...]) -> list[float]:
        return [
            0.0 if end is None or y is None else abs(end - y) for end, y in zip(ends, series.y, strict=True)
        ]

    return [lengths(series.low), lengths(series.high)]
