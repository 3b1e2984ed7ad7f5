"""Fair shares of the places where flows meet (Osipov and Tschudin 2006, section II).

An *L-region* is the area around a node that carries a flow, as far as it can be heard. What a flow uses of a
region is its *share* of the region's load, whose total is 1. Shares are max-min fair: none could grow unless
one that is smaller already, or as small, were to shrink. docs/shares.md has the definitions and examples.

`max_min` takes regions of any kind; `regions` makes them of positions and paths.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from manetlab import _core, alone
from manetlab.chain_throughput import ThroughputTable, packaged
from manetlab.errors import InputError, numbers_below, shown
from manetlab.radio_units import OPEN_FIELD

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

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
        InputError: A path names a node that does not exist, or is not a path.
    """
    for flow, path in paths.items():
        _check_path(flow, path, len(positions))
    carriers = sorted({node for path in paths.values() for node in path})
    if not carriers:
        return {}
    index = {node: place for place, node in enumerate(carriers)}
    places = [positions[node] for node in carriers]
    of_flows = [[index[node] for node in path] for path in paths.values()]
    # Pages have no NumPy.
    within = (_within_plainly if sys.platform == "emscripten" else _within)(places, of_flows, range_m)
    return {
        centre: tuple(flow for flow, of_flow in zip(paths, within, strict=True) if of_flow[place])
        for place, centre in enumerate(carriers)
    }


def _within(
    places: Sequence[tuple[float, float]], of_flows: Sequence[Sequence[int]], range_m: float
) -> Sequence[Sequence[bool]]:
    """For each flow, given as places' numbers, whether one of its nodes is within range of each place."""
    import numpy as np

    x, y = np.array(places, dtype=float).T
    near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= range_m * range_m
    return [near[:, of_flow].any(axis=1) for of_flow in of_flows]


def _within_plainly(
    places: Sequence[tuple[float, float]], of_flows: Sequence[Sequence[int]], range_m: float
) -> Sequence[Sequence[bool]]:
    """The same without NumPy, by the same operations."""

    def is_near(one: tuple[float, float], other: tuple[float, float]) -> bool:
        dx, dy = one[0] - other[0], one[1] - other[1]
        return dx * dx + dy * dy <= range_m * range_m

    return [
        [any(is_near(place, places[node]) for node in of_flow) for place in places] for of_flow in of_flows
    ]


def _check_path(flow: object, path: Sequence[int], nodes: int) -> None:
    known = [type(node) is int and 0 <= node < nodes for node in path]
    if len(path) < 2 or len(set(path)) < len(path) or not all(known):
        wanted = f"two or more different nodes from 0 to {nodes - 1}"
        raise InputError("not a path", f"regions: flow {flow}", shown(list(path)), wanted)


@dataclass(frozen=True)
class FlowShare:
    """A flow's share at an instant.

    Attributes:
        flow: Its number in the scenario.
        src: Its source.
        dst: Its destination.
        path: The nodes of its path, both ends included; None if it has no path or is not active.
        regions: The centres of the regions that it is in.
        bottleneck: The centre of the region that bounds its share.
        share: Its max-min fair share; None without a path.
        alone_bps: What it would carry alone over a path of its length, in bit/s; None if that is not known.
        note: Why it has no share or no rate; empty if it has both.
        error: The error of `note` if the table speaks of other links or other parameters than the flow's.
    """

    flow: int
    src: int
    dst: int
    path: list[int] | None
    regions: list[int]
    bottleneck: int | None
    share: Fraction | None
    alone_bps: float | None = None
    note: str = ""
    error: InputError | None = field(default=None, compare=False, repr=False)

    @property
    def hops(self) -> int | None:
        """Length of its path."""
        return None if self.path is None else len(self.path) - 1

    @property
    def rate_bps(self) -> float | None:
        """Its fair rate, in bit/s: its share of what it would carry alone (equation 1)."""
        if self.share is None or self.alone_bps is None:
            return None
        return float(self.share) * self.alone_bps

    def to_dict(self) -> dict[str, Any]:
        """All of it, the share as a number and, exactly, as text."""
        return {
            "flow": self.flow,
            "src": self.src,
            "dst": self.dst,
            "path": self.path,
            "hops": self.hops,
            "regions": self.regions,
            "bottleneck": self.bottleneck,
            "share": None if self.share is None else float(self.share),
            "share_exact": None if self.share is None else str(self.share),
            "alone_bps": self.alone_bps,
            "rate_bps": self.rate_bps,
            "note": self.note,
        }


@dataclass(frozen=True)
class Shares:
    """The shares of a scenario's flows at an instant.

    Attributes:
        time_s: The instant, in s.
        range_m: The radius of a region, in m.
        flows: The flows, in order.
    """

    time_s: float
    range_m: float
    flows: list[FlowShare]

    def unfairness(self, actual_bps: Sequence[float]) -> float:
        """How far flows are from their fair rates, in order; 0 if each has its own (equation 2).

        Raises:
            InputError: There are more or fewer flows, or one has no fair rate.
        """
        from manetlab.stats import unfairness

        for each in self.flows:
            if each.error is not None:
                raise each.error
            if each.rate_bps is None:
                wanted = "a fair rate for every flow"
                raise InputError("a flow has no fair rate", f"shares: flow {each.flow}", each.note, wanted)
        return unfairness(actual_bps, [float(each.rate_bps or 0.0) for each in self.flows])

    def to_dict(self) -> dict[str, Any]:
        """All of it as one mapping."""
        flows = [each.to_dict() for each in self.flows]
        return {"time_s": self.time_s, "range_m": self.range_m, "flows": flows}


def of_flows(
    positions: Sequence[tuple[float, float]],
    flows: Sequence[Mapping[str, Any]],
    paths: Mapping[int, Sequence[int]],
    range_m: float,
) -> list[FlowShare]:
    """The shares of flows that take these paths, without rates.

    Args:
        positions: Where each node is, in m.
        flows: The flows, with their ``src`` and ``dst``.
        paths: The nodes of each path by the flow's number; flows without one have no share.
        range_m: The radius of a region, in m.

    Raises:
        InputError: A path names a node that does not exist, or does not lead from the flow's source to its
            destination.
    """
    for number, given in paths.items():
        path = list(given)
        if not 0 <= number < len(flows):
            raise InputError("no such flow", "paths", shown(number), numbers_below(len(flows)))
        ends = (flows[number]["src"], flows[number]["dst"])
        if not path or (path[0], path[-1]) != ends:
            wanted = f"nodes from {ends[0]} to {ends[1]}"
            raise InputError("not the flow's path", f"paths: flow {number}", shown(path), wanted)
    around = regions(positions, paths, range_m)
    found = max_min(around)
    made = []
    for number, flow in enumerate(flows):
        taken = list(paths[number]) if number in paths else None
        inside = [centre for centre, members in around.items() if number in members]
        bottleneck, share = found.bottlenecks.get(number), found.shares.get(number)
        made.append(FlowShare(number, flow["src"], flow["dst"], taken, inside, bottleneck, share))
    return made


def at_instant(
    resolved: Resolved,
    time_s: float | None = None,
    *,
    paths: Mapping[int, Sequence[int]] | None = None,
    range_m: float | None = None,
    table: ThroughputTable | None = None,
) -> Shares:
    """The shares and fair rates of a scenario's flows at an instant.

    Args:
        resolved: The scenario.
        time_s: The instant, in s. If not given, the first in the measurement in which every flow has begun.
        paths: The nodes of each path by the flow's number; shortest paths, those of static routes, if not
            given, and none for flows that are not active at the instant.
        range_m: The radius of a region, in m; the radio's receive range if not given.
        table: What flows carry alone; the package's table if not given.

    Raises:
        InputError: The instant is not in the run, a path does not fit its flow, the radius is not above 0, or
            there are wired links or nodes that come and go.
    """
    check_network(resolved)
    duration_s = resolved.core["duration_s"]
    if time_s is None:
        time_s = max([resolved.core["warmup_s"], *(flow["start_s"] for flow in resolved.flows)])
    if not 0 <= time_s <= duration_s:
        wanted = f"a time from 0 to {duration_s:g} s"
        raise InputError("the instant is not in the run", "shares: time_s", f"{time_s} s", wanted)
    if range_m is None:
        # Control frames reserve the medium as far as the slowest rate reaches.
        _, range_m, _ = _core.radio_ranges(json.dumps(resolved.params))
    if not 0 < range_m < math.inf:
        raise InputError("the radius of regions is not allowed", "shares: range_m", f"{range_m} m", "above 0")
    active = {number for number, flow in enumerate(resolved.flows) if is_active(flow, time_s)}
    if paths is None:
        ends = [(flow["src"], flow["dst"]) for flow in resolved.flows]
        found = enumerate(_core.shortest_paths(*resolved.links_json(), resolved.movement, ends, time_s))
        paths = {number: path for number, path in found if path is not None and number in active}
    listed = of_flows(resolved.movement.positions(time_s), resolved.flows, paths, range_m)
    known = packaged() if table is None else table
    return Shares(time_s, range_m, [_with_rate(each, resolved, known) for each in listed])


def check_network(resolved: Resolved) -> None:
    """Checks that the network is one of the radio alone, whose nodes are there for the whole run.

    Raises:
        InputError: There are wired links, of which regions know nothing; or nodes join, leave or fail, or
            have batteries that may become empty, which paths of an instant do not follow.
    """
    place, scenario = f"{resolved.scenario.where}: ", resolved.scenario
    if wired := scenario.wired:
        found = f"{len(wired)} wired link" + ("s" if len(wired) > 1 else "")
        where, wanted = f"{place}wired", "no wired links: fair shares are those of the radio"
        raise InputError("fair shares of a network with wires", where, found, wanted)
    what = "fair shares of a network whose nodes come and go"
    wanted = "nodes that are there for the whole run: fair shares do not follow who is away"
    if away := nodes_away(resolved):
        where, hint = ("failures", "leave failures out") if scenario.failures else ("movement", "")
        found = f"{len(away)} of {resolved.movement.nodes} nodes are away at times"
        raise InputError(what, f"{place}{where}", found, wanted, hint)
    if scenario.energy is not None and scenario.energy.battery_j is not None:
        hint = "leave energy.battery_j out"
        raise InputError(what, f"{place}energy.battery_j", "batteries that have an end", wanted, hint)


def nodes_away(resolved: Resolved) -> list[int]:
    """The nodes that join late, leave early or fail."""
    duration_s = resolved.core["duration_s"]
    return [node for node, stays in enumerate(resolved.movement.stays) if _is_away(stays, duration_s)]


def _is_away(stays: Sequence[tuple[float, float]], duration_s: float) -> bool:
    """Whether a node that is there in these spans is away at some time of a run; no span is always."""
    return bool(stays) and not any(from_s <= 0.0 and until_s >= duration_s for from_s, until_s in stays)


def rates_over_time(
    movement: _core.Movement,
    flows: Sequence[Mapping[str, Any]],
    params: Mapping[str, Mapping[str, Any]],
    rates: Sequence[Mapping[str, Any]],
    profile: str,
    duration_s: float,
    step_s: float,
    table: ThroughputTable | None = None,
    around: Mapping[str, Any] = OPEN_FIELD,
) -> list[list[tuple[float, float]] | None]:
    """The fair rates of flows along shortest paths over a whole run: what an oracle tells their sources.

    The topology is evaluated whenever a flow starts or stops and, if nodes move, at the beginning of each
    step. A flow that loses its path keeps its rate until it has one again.

    Args:
        movement: Where the nodes go.
        flows: The flows.
        params: The parameters of all sections.
        rates: Nodes and links with a rate of their own.
        profile: The name of the profile, for the table of what flows carry alone.
        duration_s: The length of the run, in s.
        step_s: The length of a step, in s.
        table: What flows carry alone; the package's table if not given.
        around: Seed, replication, radios of single nodes and walls, which decide about links.

    Returns:
        For each flow its rates, as (from when on in s, bit/s of payload); None for those whose packets differ
        in size or that never have a path.

    Raises:
        InputError: The table does not say what a flow carries alone.
    """
    _, range_m, _ = _core.radio_ranges(json.dumps(params))
    carried: dict[tuple[int, float | None], list[float] | None] = {}
    found: list[list[tuple[float, float]]] = [[] for _ in flows]
    for time_s, paths in _paths_over_time(movement, flows, params, rates, duration_s, step_s, around):
        allocated = max_min(regions(movement.positions(time_s), paths, range_m)).shares
        for number, share in allocated.items():
            flow, where = flows[number], f"shares: flow {number}"
            of_links = alone.link_rates(paths[number], params, rates, both_ways=alone.is_answered(flow))
            key = (number, alone.common_rate(flow, of_links, f"{where} at {time_s:g} s"))
            if key not in carried:
                carried[key] = alone.alone_bps(flow, params, profile, table, rate_bps=key[1], where=where)
            if (bps := carried[key]) is None:
                continue
            rate_bps = float(share) * bps[min(len(paths[number]) - 1, len(bps)) - 1]
            if not found[number] or found[number][-1][1] != rate_bps:
                found[number].append((time_s, rate_bps))
    return [rates or None for rates in found]


def _paths_over_time(
    movement: _core.Movement,
    flows: Sequence[Mapping[str, Any]],
    params: Mapping[str, Mapping[str, Any]],
    rates: Sequence[Mapping[str, Any]],
    duration_s: float,
    step_s: float,
    around: Mapping[str, Any],
) -> Iterator[tuple[float, dict[int, list[int]]]]:
    """The shortest paths of the active flows that have one, whenever they may be others."""
    links = (json.dumps(params), json.dumps(rates), "[]", json.dumps(around))
    ends = [(flow["src"], flow["dst"]) for flow in flows]
    for time_s in _instants(movement, flows, duration_s, step_s):
        active = [is_active(flow, time_s) for flow in flows]
        shortest = _core.shortest_paths(*links, movement, ends, time_s) if any(active) else []
        yield (
            time_s,
            {number: path for number, path in enumerate(shortest) if path is not None and active[number]},
        )


def alone_over_time(
    movement: _core.Movement,
    flows: Sequence[Mapping[str, Any]],
    params: Mapping[str, Mapping[str, Any]],
    rates: Sequence[Mapping[str, Any]],
    profile: str,
    duration_s: float,
    step_s: float,
    around: Mapping[str, Any] = OPEN_FIELD,
) -> list[list[float] | None]:
    """What flows carry alone over one hop, two, …, in bit/s: what sources need who learn their shares.

    It must be the same over the whole run, as sources do not learn the rates of links.

    Args:
        movement: Where the nodes go.
        flows: The flows.
        params: The parameters of all sections.
        rates: Nodes and links with a rate of their own.
        profile: The name of the profile, for the table of what flows carry alone.
        duration_s: The length of the run, in s.
        step_s: Time between two evaluations of the topology, in s.
        around: Seed, replication, radios of single nodes and walls, which decide about links.

    Raises:
        InputError: The table does not say it, or a flow's links have different rates at any time.
    """
    of_flows: list[dict[tuple[int, int], float]] = [
        alone.link_rates((flow["src"], flow["dst"]), params, rates, both_ways=False) for flow in flows
    ]
    if rates:
        seen: list[dict[tuple[int, int], float]] = [{} for _ in flows]
        for _, paths in _paths_over_time(movement, flows, params, rates, duration_s, step_s, around):
            for number, path in paths.items():
                both_ways = alone.is_answered(flows[number])
                seen[number] |= alone.link_rates(path, params, rates, both_ways=both_ways)
        of_flows = [links or usual for links, usual in zip(seen, of_flows, strict=True)]
    found = []
    for number, (flow, links) in enumerate(zip(flows, of_flows, strict=True)):
        where = f"shares: flow {number}"
        rate_bps = alone.common_rate(flow, links, where)
        found.append(alone.alone_bps(flow, params, profile, rate_bps=rate_bps, where=where))
    return found


def mean_rates(
    resolved: Resolved,
    *,
    table: ThroughputTable | None = None,
    whole_bps: float | None = None,
    step_s: float = 1.0,
) -> list[float]:
    """The fair rates of a scenario's flows on average over the measurement, in bit/s, as nodes move.

    A flow that has not had a path yet has a rate of 0, as has one that has stopped; one that loses its path
    keeps its rate.

    Args:
        resolved: The scenario.
        table: What flows carry alone; the package's table if not given.
        whole_bps: What every flow carries alone, whatever its path; instead of a table.
        step_s: Time between two evaluations of the topology, in s.

    Raises:
        InputError: Nothing says what a flow carries alone.
    """
    flows: Sequence[Mapping[str, Any]] = resolved.flows
    if whole_bps is not None:
        flows = [{**flow, "alone_bps": [whole_bps]} for flow in flows]
    check_network(resolved)
    scenario, duration_s = resolved.scenario, resolved.core["duration_s"]
    links = (resolved.params, scenario.rates or [])
    found = rates_over_time(
        resolved.movement, flows, *links, scenario.profile, duration_s, step_s, table, resolved.surroundings
    )
    known = packaged() if table is None else table
    for number, (flow, rates) in enumerate(zip(flows, found, strict=True)):
        if rates is None and alone.find(flow, resolved.params, scenario.profile, known).bps is None:
            what, wanted = "the table does not say what it carries alone", "a fair rate for every flow"
            raise InputError("a flow has no fair rate", f"shares: flow {number}", what, wanted)
    begin_s = resolved.core["warmup_s"]
    return [
        _mean_over([*(rates or []), *_end_of(flow, duration_s)], begin_s, duration_s)
        for flow, rates in zip(flows, found, strict=True)
    ]


def _end_of(flow: Mapping[str, Any], duration_s: float) -> list[tuple[float, float]]:
    """From when on a flow that stops has no rate."""
    stop_s = flow.get("stop_s")
    return [] if stop_s is None or stop_s >= duration_s else [(float(stop_s), 0.0)]


def varies(resolved: Resolved) -> bool:
    """Whether fair rates change within the measurement: nodes move, or a flow starts or stops."""
    begin_s, duration_s = resolved.core["warmup_s"], resolved.core["duration_s"]
    return not stands(resolved.movement, duration_s) or any(
        flow["start_s"] > begin_s or (flow.get("stop_s") or duration_s) < duration_s
        for flow in resolved.flows
    )


def _mean_over(rates: Sequence[tuple[float, float]], begin_s: float, end_s: float) -> float:
    """The mean over a window of what holds from each time on until the next."""
    ends = [*(from_s for from_s, _ in rates[1:]), end_s]
    pieces = [
        (max(0.0, min(until_s, end_s) - max(from_s, begin_s)), bps)
        for (from_s, bps), until_s in zip(rates, ends, strict=False)
    ]
    return sum(length_s * bps for length_s, bps in pieces) / (end_s - begin_s)


def _instants(
    movement: _core.Movement, flows: Sequence[Mapping[str, Any]], duration_s: float, step_s: float
) -> list[float]:
    """When fair shares may change, in s."""
    events = {flow["start_s"] for flow in flows} | {flow.get("stop_s") or 0.0 for flow in flows}
    steps = 0 if stands(movement, duration_s) else math.ceil(duration_s / step_s)
    events |= {number * step_s for number in range(steps)}
    return sorted(time_s for time_s in events if time_s < duration_s)


def stands(movement: _core.Movement, duration_s: float) -> bool:
    """Whether all nodes stay where they are."""
    return movement.last_command_s == 0.0 and movement.positions(0.0) == movement.positions(duration_s)


def is_active(flow: Mapping[str, Any], time_s: float) -> bool:
    """Whether a flow has begun and its source has not been told to stop."""
    stop_s = flow.get("stop_s")
    return bool(flow["start_s"] <= time_s and (stop_s is None or time_s < stop_s))


def _with_rate(share: FlowShare, resolved: Resolved, table: ThroughputTable) -> FlowShare:
    """The same with what the flow would carry alone."""
    if share.path is None or share.hops is None:
        return replace(share, note="no path, or not active")
    flow, where = resolved.flows[share.flow], f"shares: flow {share.flow}"
    rates_bps = alone.link_rates(
        share.path, resolved.params, resolved.scenario.rates or [], both_ways=alone.is_answered(flow)
    )
    try:
        rate_bps = alone.common_rate(flow, rates_bps, where)
        found = alone.find(flow, resolved.params, resolved.scenario.profile, table, rate_bps)
        if found.differences:
            raise found.error(where)
    except InputError as error:
        return replace(share, note=f"{error.what}: {error.found}", error=error)
    if found.bps is None and alone.payload_bytes(flow, resolved.params) is None:
        return replace(
            share, note=f"packets of different sizes, and the table has not two rows like {found.key}"
        )
    if found.bps is None:
        return replace(share, note=f"the table has no row for {found.key}")
    return replace(share, alone_bps=found.bps[min(share.hops, len(found.bps)) - 1])
