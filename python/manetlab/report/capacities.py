"""What a network carries within a limit, as a plot: the measure by load, the limit, and the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import metrics, palette
from manetlab.plots import DASHES, MARKERS
from manetlab.report.ranges import check_plot, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from manetlab.load_capacity import Capacity


def draw(found: Sequence[Capacity], path: Path) -> None:
    """Draws the measure at the levels that were run, with 95 % intervals, a line for each network.

    The limit is a grey line across; what is within each answer's interval has a band of the network's colour.

    Args:
        found: The answers to one question.
        path: The file, .svg or .png.

    Raises:
        InputError: The file cannot be written, or a package is missing.
    """
    check_plot(path, "draw: path")
    save(path, lambda axes: draw_on(axes, found))


def draw_on(axes: Axes, found: Sequence[Capacity]) -> None:
    """Draws the answers on axes; the legend is left to the caller."""
    from matplotlib.ticker import MaxNLocator

    question = found[0].question
    metric = metrics.by_key(question.metric)
    for place, each in enumerate(found):
        _draw_one(axes, each, place, metric.factor)
    axes.axhline(
        question.limit.threshold * metric.factor, color=palette.LIGHT["muted"], linewidth=1.0, label="limit"
    )
    axes.set_xlabel(question.level)
    if all(float(level).is_integer() for level in question.levels):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel(f"{metric.label} ({metric.unit})" if metric.unit else metric.label)


def _draw_one(axes: Axes, found: Capacity, place: int, factor: float) -> None:
    color = palette.ON_LIGHT[place % len(palette.ON_LIGHT)]
    means = [at.mean.scaled(factor) for at in found.levels]
    # An interval without an end is drawn without that arm.
    below = [mean.mean - mean.low if math.isfinite(mean.low) else 0.0 for mean in means]
    above = [mean.high - mean.mean if math.isfinite(mean.high) else 0.0 for mean in means]
    axes.errorbar(
        [at.level for at in found.levels],
        [mean.mean for mean in means],
        (below, above),
        color=color,
        linestyle=DASHES[place % len(DASHES)],
        marker=MARKERS[place % len(MARKERS)],
        markersize=4,
        capsize=2,
        label=", ".join(map(str, found.labels.values())) or metrics.by_key(found.question.metric).label,
    )
    border, levels = found.border, found.question.levels
    if border.high is not None:
        axes.axvspan(levels[0] if border.low is None else border.low, border.high, color=color, alpha=0.15)
