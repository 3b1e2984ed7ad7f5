"""Admissible operation ranges as a plot, like Figs 9 and 10 of Osipov and Tschudin (2006)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError
from manetlab.files import check_writable, write_bytes
from manetlab.optional_packages import require
from manetlab.report import palette
from manetlab.report.printed import DASHES, HATCHES, MARKERS, STYLE, WIDTH_IN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from manetlab.operation_range import Border, OperationRange

HEIGHT_IN = 2.8
DPI = 200


def check_plot(path: Path, where: str) -> None:
    """Checks, before the runs, that a plot can be written there.

    Raises:
        InputError: The name ends in neither .svg nor .png, the file cannot be written, or a package is
            missing.
    """
    if path.suffix not in (".svg", ".png"):
        raise InputError("not a kind of plot", where, str(path), "a file name that ends in .svg or .png")
    require("report", where)
    check_writable(path)


def draw(ranges: Sequence[OperationRange], path: Path) -> None:
    """Draws ranges over each other: network size to the right, number of flows upwards.

    A range reaches from the smallest network for so many flows to its right border; an arrow marks a border
    that is beyond the largest network that was run, and a cross a number of flows without a range.

    Args:
        ranges: The ranges.
        path: The file, .svg or .png.

    Raises:
        InputError: The file cannot be written, or a package is missing.
    """
    check_plot(path, "draw: path")
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings.update(STYLE)
        figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI)
        axes = figure.add_subplot()
        for place, each in enumerate(ranges):
            _draw_range(axes, each, place)
        axes.set_xlabel("network size (nodes)")
        axes.set_ylabel("TCP flows")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(left=0)
        figure.legend(loc="outside upper center", ncols=2)
        target = io.BytesIO()
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(target, format=path.suffix[1:], metadata=metadata)
    write_bytes(path, target.getvalue())


def _draw_range(axes: Axes, found: OperationRange, place: int) -> None:
    color = palette.ON_LIGHT[place % len(palette.ON_LIGHT)]
    # Where colours begin again, markers and dashes are one further, so that two of the same colour differ.
    further = place + place // len(palette.ON_LIGHT)
    style: dict[str, Any] = {"color": color, "linestyle": DASHES[further % len(DASHES)]}
    marker = MARKERS[further % len(MARKERS)]
    inside = [border for border in found.borders if border.right_nodes is not None]
    flows = [border.flows for border in inside]
    left = [border.left_nodes for border in inside]
    right = [_right(border) for border in inside]
    hatch = HATCHES[place % len(HATCHES)]
    axes.fill_betweenx(flows, left, right, facecolor=color, alpha=0.18, hatch=hatch, edgecolor=color)
    axes.plot(left, flows, linewidth=0.7, **style)
    axes.plot(right, flows, marker=marker, label=found.routing, **style)
    for border in found.borders:
        if border.is_open:
            axes.annotate(
                "",
                (_right(border), border.flows),
                (14, 0),
                textcoords="offset points",
                annotation_clip=False,
                arrowprops={"arrowstyle": "<-", "color": color},
            )
        if border.right_nodes is None:
            axes.plot([border.left_nodes], [border.flows], marker="x", linestyle="none", color=color)


def _right(border: Border) -> int:
    return border.left_nodes if border.right_nodes is None else border.right_nodes
