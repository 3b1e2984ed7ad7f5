"""Pictures of a scenario: its topology and links at an instant, its movement, its connectivity over time.

They follow from the movement and the radio; nothing is run. Each function draws on axes of
matplotlib, which can be changed and saved as any other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manetlab import _core, links, palette, topology
from manetlab.errors import InputError, shown
from manetlab.files import check_outputs, write_bytes
from manetlab.optional_packages import require
from manetlab.plots import axes_or_new
from manetlab.resolving import Resolved
from manetlab.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("topology", "links", "delivery", "movement", "connectivity")
"""What can be drawn."""
FORMATS = ("svg", "pdf", "png")
PATH_COLOURS = palette.ON_LIGHT[:6]
"""Colours of flows, in turns: those of reports."""
NODE, LINK = "#52606d", "#cbd2d9"
WALL, BUILDING, GREY = "#7b5e57", "#efe6e2", "#c9b458"
MOST_NUMBERED = 120
"""Most nodes whose numbers are drawn."""
MOST_LISTED = 24
"""Most flows that are listed beside a topology."""
MOST_CONNECTIVITY_NODES = 5000
"""The maximum number of nodes of which all pairs are evaluated."""
TRACK_POINTS = 400
"""Points of a node's track."""

AnyScenario = Scenario | Resolved | str | Path


def plot(
    scenario: AnyScenario,
    kind: str = "topology",
    *,
    at_s: float = 0.0,
    step_s: float = 1.0,
    axes: Axes | None = None,
) -> Axes:
    """Draws a scenario.

    Args:
        scenario: A scenario, or the name of a TOML file that holds one.
        kind: ``topology``: nodes, links and the flows' shortest paths at an instant. ``movement``: where all
            nodes go. ``connectivity``: mean number of neighbours, and the share of node pairs without a
            path, over time.
        at_s: The instant of the topology, in s.
        step_s: Time between the instants of the connectivity, in s.
        axes: Where to draw; a new figure if not given.

    Returns:
        The axes, whose ``figure`` can be saved.

    Raises:
        InputError: The scenario cannot be used, a value is not allowed, or matplotlib is not installed.
    """
    if kind not in KINDS:
        raise InputError("no such picture", "plot: kind", shown(kind), "one of " + ", ".join(KINDS))
    resolved = topology.resolved_of(scenario)
    duration_s = resolved.scenario.duration_s
    if not 0 <= at_s <= duration_s:
        wanted = f"0 to {duration_s:g} s, the run's length"
        raise InputError("the time is not allowed", "plot: at_s", shown(at_s), wanted)
    topology.check_step(step_s, duration_s, "plot: step_s")
    drawn_on = axes_or_new(axes, "plot")
    match kind:
        case "topology":
            _topology(resolved, at_s, drawn_on)
        case "links":
            _links(resolved, at_s, drawn_on)
        case "delivery":
            _delivery(resolved, at_s, drawn_on)
        case "movement":
            _movement(resolved, drawn_on)
        case _:
            _connectivity(resolved, step_s, drawn_on)
    return drawn_on


def save(scenario: AnyScenario, path: Path, kind: str = "topology", **options: Any) -> None:
    """Draws a scenario into a file, .svg, .pdf or .png; the same scenario gives the same bytes.

    Raises:
        InputError: See `plot`; or the file has another ending, or cannot be written.
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        wanted = "a name that ends in " + ", ".join(f".{each}" for each in FORMATS)
        raise InputError("no such format of pictures", str(path), shown(path.suffix), wanted)
    resolved = topology.resolved_of(scenario)
    check_outputs({"path": path}, resolved.scenario.inputs)
    require("report", "scenario plot")
    import io

    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "manetlab", "pdf.fonttype": 42, "svg.fonttype": "path"}):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        plot(resolved, kind, axes=figure.add_subplot(), **options)
        if kind == "links":
            # The layout of a legend beside a field of fixed proportions settles at the second time.
            figure.draw_without_rendering()
        made = io.BytesIO()
        # No date: the bytes depend on the scenario only.
        metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
        figure.savefig(made, format=ending, dpi=160, metadata=metadata)
    write_bytes(path, made.getvalue())


def _positions(resolved: Resolved, time_s: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(resolved.movement.positions(time_s), dtype=np.float64).reshape(-1, 2)


def _range_m(resolved: Resolved) -> float:
    return _core.radio_ranges(json.dumps(resolved.params))[0]


def _are_present(resolved: Resolved, time_s: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which nodes are there."""
    return np.array(resolved.movement.present(time_s), dtype=np.bool_)


def _up_to(resolved: Resolved) -> str:
    """How far links reach, if the distance alone decides."""
    return "" if links.is_beyond_distance(resolved) else f" of up to {_range_m(resolved):.0f} m"


def _linked_pairs(resolved: Resolved, times_s: list[float]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Pairs of nodes with a link in each of these instants."""
    found = _core.linked_pairs(resolved.core_json(), resolved.movement, times_s)
    return [np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in found]


def _walls(resolved: Resolved, axes: Axes) -> None:
    """Draws walls as lines and buildings as areas."""
    from matplotlib.patches import Polygon

    for wall in resolved.core.get("walls", []):
        look = {"edgecolor": WALL, "linewidth": 1.6 if wall["opaque"] else 0.9, "zorder": 1.5}
        face = BUILDING if wall["building"] else "none"
        axes.add_patch(Polygon(wall["points"], closed=wall["building"], facecolor=face, **look))


def _links(resolved: Resolved, at_s: float, axes: Axes) -> None:
    """Pairs of nodes with a good link both ways, with one that goes one way, and with grey ones."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    places, found = _positions(resolved, at_s), links.links(resolved, at_s)
    delivery = {(link.src, link.dst): link.delivery for link in found}
    drawn: dict[str, list[Any]] = {"good": [], "one-way": [], "grey": []}
    for src, dst in {(min(pair), max(pair)) for pair in delivery}:
        ways = [delivery.get((src, dst), 0.0), delivery.get((dst, src), 0.0)]
        if min(ways) > links.GREY[1]:
            drawn["good"].append(places[[src, dst]])
        elif max(ways) > links.GREY[1]:
            drawn["one-way"].append(places[[src, dst]])
        elif max(ways) >= links.GREY[0]:
            drawn["grey"].append(places[[src, dst]])
    looks = {
        "good": (PATH_COLOURS[0], "-", 1.0),
        "one-way": (PATH_COLOURS[3], "--", 1.0),
        "grey": (GREY, "-", 0.7),
    }
    handles = []
    for kind, lines in drawn.items():
        colour, style, width = looks[kind]
        look: dict[str, Any] = {"linestyle": style, "linewidth": width}
        handles.append(Line2D([], [], color=colour, label=f"{kind}: {len(lines)}", **look))
        # What is empty has no extent, and the layout needs one.
        if lines:
            axes.add_collection(LineCollection(lines, colors=colour, zorder=2, **look))
    axes.scatter(places[:, 0], places[:, 1], s=16 if len(places) <= 250 else 5, color=NODE, zorder=3)
    _walls(resolved, axes)
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=8,
        title="pairs of nodes",
        title_fontsize=8,
    )
    _field(axes, f"Links at {at_s:g} s: {len(places)} nodes")


def _delivery(resolved: Resolved, at_s: float, axes: Axes) -> None:
    """The share of frames that are decoded against distance: each link, and the mean over all pairs."""
    found = links.links(resolved, at_s)
    classes = links.by_distance(resolved, found, at_s)
    metres, shares = [link.distance_m for link in found], [100 * link.delivery for link in found]
    axes.axhspan(100 * links.GREY[0], 100 * links.GREY[1], color=LINK, alpha=0.25, linewidth=0, label="grey")
    axes.scatter(metres, shares, s=7, color=PATH_COLOURS[0], alpha=0.5, linewidths=0, label="links")
    edges = [0.0, *(each.to_m for each in classes)]
    means = [100 * each.delivery if each.pairs else math.nan for each in classes]
    if classes:
        axes.stairs(means, edges, baseline=None, color=PATH_COLOURS[3], label="mean over all pairs")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel="distance (m)", ylabel="decoded frames (%)", ylim=(-2, 102), xlim=(0, None))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    axes.set_title(f"Links at {at_s:g} s against distance", fontsize="medium")


def _topology(resolved: Resolved, at_s: float, axes: Axes) -> None:
    from matplotlib.collections import LineCollection

    places, there = _positions(resolved, at_s), _are_present(resolved, at_s)
    [joined] = _linked_pairs(resolved, [at_s])
    axes.add_collection(LineCollection(list(places[joined]), colors=LINK, linewidths=0.6, zorder=1))
    axes.scatter(
        places[there, 0],
        places[there, 1],
        s=16 if len(places) <= 250 else 5,
        color=NODE,
        zorder=3,
        linewidths=0,
    )
    pairs = list(dict.fromkeys((flow["src"], flow["dst"]) for flow in resolved.flows))
    paths = _core.shortest_paths(*resolved.links_json(), resolved.movement, pairs, at_s)
    for number, ((src, dst), path) in enumerate(zip(pairs, paths, strict=True)):
        _path(axes, places, path or [src, dst], PATH_COLOURS[number % len(PATH_COLOURS)], path is not None)
    if pairs and len(pairs) <= MOST_LISTED:
        labels = [
            f"{resolved.name_of(src)} → {resolved.name_of(dst)}: "
            + ("no path" if path is None else f"{len(path) - 1} hops" if len(path) != 2 else "1 hop")
            for (src, dst), path in zip(pairs, paths, strict=True)
        ]
        look: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (1.0, 1.0),
            "frameon": False,
            "fontsize": 8 if len(pairs) <= 12 else 7,
            "title_fontsize": 8,
            "labelspacing": 0.35,
        }
        axes.legend(axes.lines, labels, title="● source  ○ destination", **look)
    if len(places) <= MOST_NUMBERED:
        for node in np.flatnonzero(there):
            name = resolved.name_of(int(node)).replace("$", r"\$")
            axes.annotate(name, places[node], (3, 3), textcoords="offset points", fontsize=6.5, color=NODE)
    _walls(resolved, axes)
    _field(axes, f"Topology at {at_s:g} s: {there.sum()} nodes, {len(joined)} links{_up_to(resolved)}")


def _path(
    axes: Axes,
    places: np.ndarray[Any, np.dtype[np.float64]],
    path: Sequence[int],
    colour: str,
    is_there: bool,
) -> None:
    style = "-" if is_there else (0, (1, 2))
    axes.plot(
        places[list(path), 0],
        places[list(path), 1],
        color=colour,
        linestyle=style,
        linewidth=1.8,
        alpha=0.85,
        zorder=2,
    )
    axes.scatter(places[path[0], 0], places[path[0], 1], s=34, color=colour, zorder=4)
    axes.scatter(
        places[path[-1], 0],
        places[path[-1], 1],
        s=34,
        facecolors="white",
        edgecolors=colour,
        linewidths=1.6,
        zorder=4,
    )


def _movement(resolved: Resolved, axes: Axes) -> None:
    from matplotlib.collections import LineCollection

    times = np.linspace(0.0, resolved.scenario.duration_s, TRACK_POINTS)
    tracks = np.stack([_positions(resolved, float(time)) for time in times])
    lines = LineCollection([*tracks.transpose(1, 0, 2)], colors=NODE, linewidths=0.5, alpha=0.45)
    axes.add_collection(lines)
    axes.scatter(tracks[0, :, 0], tracks[0, :, 1], s=14, color=PATH_COLOURS[0], zorder=3, label="start")
    axes.scatter(
        tracks[-1, :, 0],
        tracks[-1, :, 1],
        s=14,
        facecolors="white",
        edgecolors=PATH_COLOURS[3],
        zorder=3,
        label="end",
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    _field(axes, f"Movement of {resolved.movement.nodes} nodes in {resolved.scenario.duration_s:g} s")


def _field(axes: Axes, title: str) -> None:
    axes.set(xlabel="x (m)", ylabel="y (m)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_aspect("equal", adjustable="box")
    axes.autoscale_view()
    _widen(axes)
    axes.set_title(title, fontsize="medium")


NARROWEST = 0.25
"""Least height of a picture's field in parts of its width, and the reverse: a chain has no height."""


def _widen(axes: Axes) -> None:
    """Widens what is shown of a field that is almost a line, so that there is room for axes and labels."""
    (west, east), (south, north) = axes.get_xlim(), axes.get_ylim()
    least = NARROWEST * max(east - west, north - south)
    if north - south < least:
        middle = (south + north) / 2
        axes.set_ylim(middle - least / 2, middle + least / 2)
    if east - west < least:
        middle = (west + east) / 2
        axes.set_xlim(middle - least / 2, middle + least / 2)


def connectivity(resolved: Resolved, step_s: float) -> dict[str, list[float]]:
    """How connected the network is at equally spaced instants, from the start of the run.

    Returns:
        ``time_s``; ``degree``, the mean number of neighbours; ``partitioned``, the share of node pairs
        without a path.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = resolved.movement.nodes
    if not 2 <= nodes <= MOST_CONNECTIVITY_NODES:
        wanted = f"2 to {MOST_CONNECTIVITY_NODES} nodes"
        raise InputError("the connectivity cannot be drawn", "plot", f"{nodes} nodes", wanted)
    times_s = [number * step_s for number in range(int(resolved.scenario.duration_s / step_s) + 1)]
    made: dict[str, list[float]] = {"time_s": [], "degree": [], "partitioned": []}
    for time_s, joined in zip(times_s, _linked_pairs(resolved, times_s), strict=True):
        graph = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(nodes, nodes))
        sizes = np.bincount(connected_components(graph, directed=False)[1])
        connected = float((sizes * (sizes - 1)).sum())
        made["time_s"].append(time_s)
        made["degree"].append(2 * len(joined) / nodes)
        made["partitioned"].append(1 - connected / (nodes * (nodes - 1)))
    return made


def _connectivity(resolved: Resolved, step_s: float, axes: Axes) -> None:
    found = connectivity(resolved, step_s)
    axes.plot(found["time_s"], found["degree"], color=PATH_COLOURS[0], linewidth=1.3)
    axes.set_ylim(0, None)
    axes.set_ylabel("mean number of\nneighbours")
    axes.tick_params(labelbottom=False)
    other = _below(axes)
    for each in (axes, other):
        each.spines[["top", "right"]].set_visible(False)
    share = [100 * each for each in found["partitioned"]]
    other.plot(found["time_s"], share, color=PATH_COLOURS[3], linewidth=1.3, clip_on=False)
    other.set_ylim(0, 100)
    other.set_xlabel("time (s)")
    other.set_ylabel("node pairs\nwithout a path (%)")
    axes.set_title(f"Connectivity of links{_up_to(resolved)}", fontsize="medium")


def _below(axes: Axes) -> Axes:
    """Axes with the same times in the lower half of the place of these, which keep the upper half."""
    figure, place = axes.get_figure(), axes.get_subplotspec()
    assert figure is not None
    if place is None:
        x, y, width, height = axes.get_position().bounds
        axes.set_position((x, y + 0.55 * height, width, 0.45 * height))
        return figure.add_axes((x, y, width, 0.45 * height), sharex=axes)
    halves = place.subgridspec(2, 1)
    axes.set_subplotspec(halves[0])
    return figure.add_subplot(halves[1], sharex=axes)
