"""The style of all plots, and plots of results on axes of matplotlib, which can be changed and saved."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manetlab import palette
from manetlab.errors import InputError
from manetlab.metrics import by_key, delay_classes, delay_names, of_flow
from manetlab.optional_packages import require

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "D", "^", "X", "P", "*")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.2)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    "-",
)
HATCHES = ("", "////", "xxxx", "....", "\\\\\\\\", "----", "++++")
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "#d8dde2",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
    "errorbar.capsize": 2,
    "figure.constrained_layout.use": True,
    # A dollar sign in a name is no mathematics.
    "text.parse_math": False,
    # TrueType outlines in full: publishers refuse Type 3 fonts.
    "pdf.fonttype": 42,
    # Letters as outlines: the figure looks the same where the font is missing.
    "svg.fonttype": "path",
    "svg.hashsalt": "manetlab",
}
APART = 0.012
"""How far apart intervals of the same place are drawn, as a share of the width of the axis."""
SIZE_IN = (6.0, 3.7)
"""Width and height of a new figure, in inches."""
MOST_TICKS = 8
"""Levels of a factor with numbers that are marked on the axis, at most; of more, matplotlib chooses."""
TITLE_LETTERS = 42
"""Letters of an axis's title in a line, at most."""


def style(index: int) -> dict[str, Any]:
    """Colour, marker and dashes of a series by its number; in seven no colour and no marker comes twice."""
    colours = palette.ON_LIGHT
    return {
        "color": colours[index % len(colours)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def axes_or_new(axes: Axes | None, what: str) -> Axes:
    """The axes that are given, or those of a new figure without a style: for maps.

    Raises:
        InputError: matplotlib is not installed.
    """
    if axes is not None:
        return axes
    require("report", what)
    from matplotlib import pyplot

    return pyplot.subplots(figsize=SIZE_IN, layout="constrained")[1]


@contextmanager
def drawing_on(axes: Axes | None, what: str) -> Iterator[Axes]:
    """The axes that are given, as they are, or those of a new figure in the style of reports.

    Raises:
        InputError: matplotlib is not installed.
    """
    if axes is not None:
        yield axes
        return
    require("report", what)
    import matplotlib as mpl
    from matplotlib import pyplot

    settings: Any = STYLE
    with mpl.rc_context(settings):
        yield pyplot.subplots(figsize=SIZE_IN)[1]


def over_time(columns: dict[str, list[Any]], name: str, axes: Axes) -> Axes:
    """A column of a time series over time.

    Raises:
        InputError: Unknown column.
    """
    if name not in columns:
        wanted = "one of " + ", ".join(key for key in columns if key != "time_s")
        raise InputError("no such time series", "plot", f'"{name}"', wanted)
    values = [float("nan") if value is None else float(value) for value in columns[name]]
    axes.plot(columns["time_s"], values)
    axes.set(xlabel="time (s)", ylabel=name)
    return axes


def by_flow(
    flows: Sequence[dict[str, Any]], name: str, axes: Axes, names: Sequence[str] | None = None
) -> Axes:
    """A metric of each flow that has it, as bars; nodes are called by their names if there are any.

    Raises:
        InputError: No flow has it.
    """
    having = [flow for flow in flows if flow.get(name) is not None]
    if not having:
        known = sorted({key for flow in flows for key, value in flow.items() if isinstance(value, float)})
        raise InputError("no flow has this metric", "plot", f'"{name}"', "one of " + ", ".join(known))
    metric = of_flow(name, having[0]["kind"])
    axes.barh([_ends_of(flow, names) for flow in having], [flow[name] * metric.factor for flow in having])
    axes.invert_yaxis()
    axes.set(xlabel=metric.heading, ylabel="flow")
    return axes


def by_delay(
    delays: Sequence[Mapping[str, Any]],
    flows: Sequence[Mapping[str, Any]],
    axes: Axes,
    names: Sequence[str] | None = None,
) -> Axes:
    """How long the datagrams of flows with a deadline took, as shares of those that were made.

    Few flows have bars of their own; many are one.

    Raises:
        InputError: No flow has a deadline.
    """
    if not delays:
        hint = "give the flow a deadline_ms, or set network.deadline_ms"
        wanted = "a flow of datagrams with a deadline"
        raise InputError("no flow has a histogram of its delays", "plot", '"delays"', wanted, hint)
    classes = [delay_classes(each) for each in delays]
    counts = [[count for _, count in each] for each in classes]
    labels = [_ends_of(flows[each["flow"]], names) for each in delays]
    if len(counts) > len(HATCHES):
        counts, labels = [[sum(column) for column in zip(*counts, strict=True)]], [f"{len(labels)} flows"]
    shown = shown_classes(counts)
    width = 0.8 / len(counts)
    for index, (values, label) in enumerate(zip(counts, labels, strict=True)):
        shift = (index - (len(counts) - 1) / 2) * width
        places = [place + shift for place in range(len(shown))]
        shares = [100.0 * values[at] / (sum(values) or 1) for at in shown]
        axes.bar(places, shares, width * 0.94, label=label, **filling(index))
    called = delay_names([end_s for end_s, _ in classes[0]])
    axes.set_xticks(range(len(shown)), [called[at] for at in shown], rotation=30, ha="right")
    axes.grid(False, axis="x")
    axes.set(xlabel="delay (ms)", ylabel="datagrams (%)")
    axes.legend(title="flow")
    return axes


def shown_classes(counts: Sequence[Sequence[float]]) -> list[int]:
    """The numbers of the classes from the first to the last that has something, and of what was lost."""
    last = len(counts[0]) - 1
    filled = [at for at in range(last) if any(values[at] for values in counts)]
    return [*(range(filled[0], filled[-1] + 1) if filled else ()), last]


def filling(index: int) -> dict[str, Any]:
    """Colour and hatch of the bars of a series by its number."""
    return {
        "color": palette.ON_LIGHT[index % len(palette.ON_LIGHT)],
        "hatch": HATCHES[index % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.3,
    }


def _ends_of(flow: Mapping[str, Any], names: Sequence[str] | None) -> str:
    """A flow by its number and its ends, which are called by their names if there are any."""
    src, dst = (flow[end] if names is None else names[flow[end]] for end in ("src", "dst"))
    return f"{flow['id']}: {src} → {dst}"


def over_factor(
    table: pd.DataFrame, name: str, factors: Sequence[str], headings: Mapping[str, str], axes: Axes
) -> Axes:
    """Means and intervals of a metric over a factor, a line for each combination of the other factors.

    Args:
        table: A summary: the factors, ``mean``, ``low``, ``high`` and ``n``.
        name: The metric.
        factors: The factors; the first is the horizontal axis.
        headings: Their names in words, with units.
        axes: Where to draw.
    """
    metric, across = by_key(name), factors[0] if factors else None
    others = list(factors[1:])
    grouped = [(key, rows) for key, rows in table.groupby(others, sort=False)] if others else [((), table)]
    places: list[Any] = list(dict.fromkeys(table[across])) if across else [""]
    is_numeric = all(isinstance(place, int | float) and not isinstance(place, bool) for place in places)
    span = (max(places) - min(places) or 1.0) if is_numeric else max(len(places) - 1, 1)
    for number, (key, rows) in enumerate(grouped):
        shift = span * APART * (number - (len(grouped) - 1) / 2)
        at: list[Any] = [
            place if is_numeric else places.index(place) for place in (rows[across] if across else [""])
        ]
        mean = rows["mean"] * metric.factor
        ends = [_lengths(mean, rows[end] * metric.factor) for end in ("low", "high")]
        label = ", ".join(map(str, key if isinstance(key, tuple) else (key,)))
        marks = style(number) if is_numeric else {**style(number), "linestyle": "none"}
        axes.errorbar([each + shift for each in at], mean, ends, capsize=2, label=label, **marks)
    if not is_numeric:
        axes.set_xticks(range(len(places)), [str(place) for place in places])
    elif len(places) <= MOST_TICKS:
        axes.set_xticks(places, [f"{place:.12g}" for place in places])
    axes.set_xlabel(headings[across] if across else "")
    axes.set_ylabel(textwrap.fill(metric.heading, TITLE_LETTERS))
    if axes.dataLim.y0 >= 0.0:
        axes.set_ylim(bottom=0.0)
    if others:
        axes.legend(title=", ".join(headings[other] for other in others))
    axes.set_title(f"means with 95 % intervals, n = {table['n'].min()}", fontsize="medium")
    return axes


def _lengths(means: pd.Series[float], ends: pd.Series[float]) -> list[float]:
    """The lengths of error bars to one side; zero where an interval has no end or there is none."""
    return [
        abs(end - mean) if math.isfinite(end - mean) else 0.0 for mean, end in zip(means, ends, strict=True)
    ]
