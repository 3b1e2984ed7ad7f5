"""Plots of results, on matplotlib's axes, which can be changed and saved as any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError
from manetlab.metrics import by_key, of_flow
from manetlab.optional_packages import require

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

APART = 0.012
"""How far apart intervals of the same place are drawn, as a share of the width of the axis."""


def axes_or_new(axes: Axes | None, what: str) -> Axes:
    """The axes that are given, or those of a new figure.

    Raises:
        InputError: matplotlib is not installed.
    """
    if axes is not None:
        return axes
    require("report", what)
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(6.0, 3.7), layout="constrained")[1]


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


def by_flow(flows: Sequence[dict[str, Any]], name: str, axes: Axes) -> Axes:
    """A metric of each flow that has it, as bars.

    Raises:
        InputError: No flow has it.
    """
    having = [flow for flow in flows if flow.get(name) is not None]
    if not having:
        known = sorted({key for flow in flows for key, value in flow.items() if isinstance(value, float)})
        raise InputError("no flow has this metric", "plot", f'"{name}"', "one of " + ", ".join(known))
    metric = of_flow(name, having[0]["kind"])
    labels = [f"{flow['id']}: {flow['src']} → {flow['dst']}" for flow in having]
    axes.barh(labels, [flow[name] * metric.factor for flow in having])
    axes.invert_yaxis()
    axes.set(xlabel=metric.heading, ylabel="flow")
    return axes


def over_factor(table: pd.DataFrame, name: str, factors: Sequence[str], axes: Axes) -> Axes:
    """Means and intervals of a metric over a factor, a line for each combination of the other factors.

    Args:
        table: A summary: the factors, ``mean``, ``low``, ``high`` and ``n``.
        name: The metric.
        factors: The factors; the first is the horizontal axis.
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
        scaled = {part: rows[part] * metric.factor for part in ("mean", "low", "high")}
        ends = [scaled["mean"] - scaled["low"], scaled["high"] - scaled["mean"]]
        label = ", ".join(map(str, key if isinstance(key, tuple) else (key,)))
        style = "o-" if is_numeric else "o"
        axes.errorbar([each + shift for each in at], scaled["mean"], ends, fmt=style, capsize=3, label=label)
    if not is_numeric:
        axes.set_xticks(range(len(places)), [str(place) for place in places])
    axes.set(xlabel=across or "", ylabel=metric.heading)
    if others:
        axes.legend(title=", ".join(others))
    axes.set_title(f"means with 95 % intervals, n = {table['n'].min()}", fontsize="medium")
    return axes
