"""Admissible operation ranges as a plot, like Figs 9 and 10 of Osipov and Tschudin (2006)."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import palette
from manetlab.errors import InputError
from manetlab.files import check_writable, write_bytes
from manetlab.optional_packages import require
from manetlab.plots import HATCHES, STYLE
from manetlab.report.printed import WIDTH_IN

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
    """Draws ranges as bars: network size to the right, numbers of flows upwards, a bar a protocol at each.

    A bar reaches from the smallest network for so many flows to the right border; an arrow marks a border
    that is beyond the largest network that was run, and a cross a number of flows without a range. Only
    numbers of flows that were run have bars.

    Args:
        ranges: The ranges.
        path: The file, .svg or .png.

    Raises:
        InputError: The file cannot be written, or a package is missing.
    """
    check_plot(path, "draw: path")
    save(path, lambda axes: draw_on(axes, ranges))


def save(path: Path, paint: Callable[[Axes], None]) -> None:
    """Writes one plot in the style of reports, with the legend above it.

    Raises:
        InputError: The file cannot be written.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings.update(STYLE)
        figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI)
        paint(figure.add_subplot())
        figure.legend(loc="outside upper center", ncols=2)
        target = io.BytesIO()
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(target, format=path.suffix[1:], metadata=metadata)
    write_bytes(path, target.getvalue())


def draw_on(axes: Axes, ranges: Sequence[OperationRange]) -> None:
    """Draws ranges on axes; the legend is left to the caller."""
    flows = sorted({border.flows for each in ranges for border in each.borders})
    for place, each in enumerate(ranges):
        _draw_range(axes, each, place, len(ranges), flows)
    axes.set_xlabel("network size (nodes)")
    axes.set_ylabel("TCP flows")
    axes.set_yticks(range(len(flows)), [str(each) for each in flows])
    axes.set_ylim(-0.5, len(flows) - 0.5)
    axes.set_xlim(left=0)
    axes.grid(False, axis="y")


def _draw_range(axes: Axes, found: OperationRange, place: int, protocols: int, flows: list[int]) -> None:
    color = palette.ON_LIGHT[place % len(palette.ON_LIGHT)]
    # Where colours begin again, hatches are one further, so that two of the same colour differ.
    hatch = HATCHES[(place + place // len(palette.ON_LIGHT)) % len(HATCHES)]
    width = 0.8 / protocols
    shift = ((protocols - 1) / 2 - place) * width
    at = {border.flows: flows.index(border.flows) + shift for border in found.borders}
    inside = [border for border in found.borders if border.right_nodes is not None]
    axes.barh(
        [at[border.flows] for border in inside],
        [_right(border) - border.left_nodes for border in inside],
        0.86 * width,
        left=[border.left_nodes for border in inside],
        label=found.routing,
        facecolor=(color, 0.55),
        edgecolor=color,
        hatch=hatch,
    )
    for border in found.borders:
        if border.is_open:
            axes.annotate(
                "",
                (_right(border), at[border.flows]),
                (14, 0),
                textcoords="offset points",
                annotation_clip=False,
                arrowprops={"arrowstyle": "<-", "color": color},
            )
        if border.right_nodes is None:
            axes.plot([border.left_nodes], [at[border.flows]], marker="x", linestyle="none", color=color)


def _right(border: Border) -> int:
    return border.left_nodes if border.right_nodes is None else border.right_nodes
