"""Fair shares of the places where flows meet (Osipov and Tschudin 2006, section II).

An *L-region* is the area around a node that carries a flow, as far as it can be heard. What a flow uses of a
region is its *share* of the region's load, whose total is 1. Shares are max-min fair: none could grow unless
one that is smaller already, or as small, were to shrink. docs/shares.md has the definitions and examples.

`max_min` takes regions of any kind; `regions` makes them of positions and paths.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from manetlab.errors import InputError, shown

RegionName = TypeVar("RegionName", bound=Hashable)
FlowName = TypeVar("FlowName", bound=Hashable)


@dataclass(frozen=True)
class Allocation(Generic[RegionName, FlowName]):
    """Max-min fair shares.

    Attributes:
        shares: The share of each flow, exactly, in the order in which the regions name them.
        bottlenecks: For each flow the first of the regions that are full and in which no flow has more.
    """

    shares: dict[FlowName, Fraction]
    bottlenecks: dict[FlowName, RegionName]


def max_min(regions: Mapping[RegionName, Collection[FlowName]]) -> Allocation[RegionName, FlowName]:
    """The max-min fair shares of flows in regions of load 1, by progressive filling.

    All shares grow alike until a region is full; those of its flows are then final, and the others grow on. A
    flow counts once in a region, however many of its nodes are there.

    Args:
        regions: The flows of each region. A flow that is in no region is not known here: nothing bounds it.

    Raises:
        InputError: A region's flows are not a collection.
    """
    open_flows = {name: _flows_of(name, flows) for name, flows in regions.items()}
    left = dict.fromkeys(open_flows, Fraction(1))
    regions_of: dict[FlowName, list[RegionName]] = {}
    for name, flows in open_flows.items():
        for flow in flows:
            regions_of.setdefault(flow, []).append(name)
    final: dict[FlowName, Fraction] = {}
    bottlenecks: dict[FlowName, RegionName] = {}
    while busy := [name for name, flows in open_flows.items() if flows]:
        fullest = min(busy, key=lambda name: left[name] / len(open_flows[name]))
        share = left[fullest] / len(open_flows[fullest])
        for flow in list(open_flows[fullest]):
            final[flow], bottlenecks[flow] = share, fullest
            for crossed in regions_of[flow]:
                left[crossed] -= share
                del open_flows[crossed][flow]
    return Allocation({flow: final[flow] for flow in regions_of}, bottlenecks)


def _flows_of(name: object, flows: Collection[FlowName]) -> dict[FlowName, None]:
    """The flows of a region, each once, in order."""
    if isinstance(flows, str) or not isinstance(flows, Collection):
        where, wanted = f"max_min: region {name}", "a list or a set of flows"
        raise InputError("the flows of a region are not a collection", where, shown(flows), wanted)
    return dict.fromkeys(flows)


def regions(
    positions: Sequence[tuple[float, float]], paths: Mapping[FlowName, Sequence[int]], range_m: float
) -> dict[int, tuple[FlowName, ...]]:
    """The L-regions that flows make, each by the node in its centre.

    Every node on a path is the centre of a region. A flow is in it if one of the flow's nodes, ends included,
    is at most ``range_m`` metres from the centre.

    Args:
        positions: Where each node is, in m.
        paths: The nodes of each flow's path, both ends included.
        range_m: The distance over which nodes can talk at the rate that all of them know, in m.

    Raises:
        InputError: A path names a node that does not exist, or is no path.
    """
    import numpy as np

    for flow, path in paths.items():
        _check_path(flow, path, len(positions))
    carriers = sorted({node for path in paths.values() for node in path})
    if not carriers:
        return {}
    places = np.array([positions[node] for node in carriers], dtype=float)
    index = {node: place for place, node in enumerate(carriers)}
    x, y = places[:, 0], places[:, 1]
    near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= range_m * range_m
    # One column a flow: is one of its nodes within range of each carrier?
    within = [near[:, [index[node] for node in path]].any(axis=1) for path in paths.values()]
    return {
        centre: tuple(flow for flow, of_flow in zip(paths, within, strict=True) if of_flow[place])
        for place, centre in enumerate(carriers)
    }


def _check_path(flow: object, path: Sequence[int], nodes: int) -> None:
    known = [type(node) is int and 0 <= node < nodes for node in path]
    if len(path) < 2 or len(set(path)) < len(path) or not all(known):
        wanted = f"two or more different nodes from 0 to {nodes - 1}"
        raise InputError("not a path", f"regions: flow {flow}", shown(list(path)), wanted)
