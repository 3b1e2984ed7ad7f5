"""Fair shares of the places where flows meet (Osipov and Tschudin 2006, section II).

An *L-region* is the area around a node that carries a flow, as far as it can be heard. What a flow uses of a
region is its *share* of the region's load, whose total is 1. Shares are max-min fair: none could grow unless
one that is smaller already, or as small, were to shrink. docs/shares.md has the definitions and examples.

`max_min` takes regions of any kind; `regions` makes them of positions and paths.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from manetlab import _core
from manetlab.chain_throughput import Key, Table, packaged
from manetlab.errors import InputError, shown

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
            raise InputError("no such flow", "paths", shown(number), f"a flow from 0 to {len(flows) - 1}")
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
    table: Table | None = None,
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
        InputError: The instant is not in the run, a path does not fit its flow, or the radius is not above 0.
    """
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


def rates_over_time(
    movement: _core.Movement,
    flows: Sequence[Mapping[str, Any]],
    params: Mapping[str, Mapping[str, Any]],
    rates: Sequence[Mapping[str, Any]],
    profile: str,
    duration_s: float,
    step_s: float,
    table: Table | None = None,
) -> list[list[tuple[float, float]] | None]:
    """The fair rates of flows along shortest paths over a whole run: what an oracle tells their sources.

    The topology is looked at whenever a flow starts or stops and, if nodes move, at the beginning of each
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

    Returns:
        For each flow its rates, as (from when on in s, bit/s of payload); None for those whose packets differ
        in size or that never have a path.

    Raises:
        InputError: The table does not say what a flow carries alone.
    """
    links = (json.dumps(params), json.dumps(rates), "[]")
    _, range_m, _ = _core.radio_ranges(links[0])
    ends = [(flow["src"], flow["dst"]) for flow in flows]
    alone: dict[int, list[float] | None] = {}
    found: list[list[tuple[float, float]]] = [[] for _ in flows]
    for time_s in _instants(movement, flows, duration_s, step_s):
        active = [is_active(flow, time_s) for flow in flows]
        shortest = _core.shortest_paths(*links, movement, ends, time_s) if any(active) else []
        paths = {number: path for number, path in enumerate(shortest) if path is not None and active[number]}
        allocated = max_min(regions(movement.positions(time_s), paths, range_m)).shares
        for number, share in allocated.items():
            if number not in alone:
                alone[number] = alone_bps(flows[number], params, profile, table)
            if (bps := alone[number]) is None:
                continue
            rate_bps = float(share) * bps[min(len(paths[number]) - 1, len(bps)) - 1]
            if not found[number] or found[number][-1][1] != rate_bps:
                found[number].append((time_s, rate_bps))
    return [rates or None for rates in found]


def mean_rates(
    resolved: Resolved,
    *,
    table: Table | None = None,
    whole_bps: float | None = None,
    step_s: float = 1.0,
) -> list[float]:
    """The fair rates of a scenario's flows on average over the measurement, in bit/s, as nodes move.

    A flow that has not had a path yet has a rate of 0; one that loses its path keeps its rate.

    Args:
        resolved: The scenario.
        table: What flows carry alone; the package's table if not given.
        whole_bps: What every flow carries alone, whatever its path; instead of a table.
        step_s: How often the topology is looked at, in s.

    Raises:
        InputError: Nothing says what a flow carries alone.
    """
    flows: Sequence[Mapping[str, Any]] = resolved.flows
    if whole_bps is not None:
        flows = [{**flow, "alone_bps": [whole_bps]} for flow in flows]
    scenario, duration_s = resolved.scenario, resolved.core["duration_s"]
    links = (resolved.params, scenario.rates or [])
    found = rates_over_time(
        resolved.movement, flows, *links, scenario.profile, duration_s, step_s, table=table
    )
    for number, rates in enumerate(found):
        if rates is None and alone_bps(flows[number], resolved.params, scenario.profile, table) is None:
            what, wanted = "the table does not say what it carries alone", "a fair rate for every flow"
            raise InputError("a flow has no fair rate", f"shares: flow {number}", what, wanted)
    window_s = (resolved.core["warmup_s"], duration_s)
    return [_mean_over(rates or [], *window_s) for rates in found]


def _mean_over(rates: Sequence[tuple[float, float]], begin_s: float, end_s: float) -> float:
    """The mean over a window of what holds from each time on until the next."""
    ends = [*(from_s for from_s, _ in rates[1:]), end_s]
    pieces = [
        (max(0.0, min(until_s, end_s) - max(from_s, begin_s)), bps)
        for (from_s, bps), until_s in zip(rates, ends, strict=False)
    ]
    return sum(length_s * bps for length_s, bps in pieces) / (end_s - begin_s)


def alone_bps(
    flow: Mapping[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    profile: str,
    table: Table | None = None,
) -> list[float] | None:
    """What a flow carries alone over one hop, two, …, in bit/s; a share of it is a rate.

    Args:
        flow: The flow.
        params: The parameters of all sections.
        profile: The name of the profile, for the table of what flows carry alone.
        table: What flows carry alone; the package's table if not given.

    Returns:
        The throughputs that the flow has of its own, or those of the table; None for flows whose packets
        differ in size, if the table does not have the rows from which it follows.

    Raises:
        InputError: The table does not say what the flow carries alone.
    """
    known = packaged() if table is None else table
    found, key = _found_bps(flow, params, profile, known)
    if found is None and payload_bytes(flow, params) is not None:
        known.row(key)
    return None if found is None else list(found)


def _found_bps(
    flow: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]], profile: str, table: Table
) -> tuple[Sequence[float] | None, Key]:
    """What a flow carries alone over one hop, two, …, in bit/s, if known; the row that would say it."""
    size, mean_bytes = payload_bytes(flow, params), mean_payload_bytes(flow, params)
    key = Key.of(profile, params, round(mean_bytes), _kind(flow))
    if (given := flow.get("alone_bps")) is not None:
        return given, key
    if key.traffic != "tcp" and (found := table.of_datagrams(key, mean_bytes)) is not None:
        return found, key
    # A table without rows for datagrams has what TCP carries, which is less: its ACKs take time as well.
    of_tcp = Key.of(profile, params, round(mean_bytes))
    if size is None:
        return table.of_mixed(of_tcp, mean_bytes), key
    row = table.rows.get(of_tcp)
    return None if row is None else row.throughput_bps, key


def _kind(flow: Mapping[str, Any]) -> str:
    """The kind of traffic that a flow is in the table: datagrams are sent without waiting for anything."""
    if flow["kind"] in ("tcp", "web", "adp") or flow.get("transport", "udp") in ("tcp", "adp", "rtp-adp"):
        return "tcp"
    return "video" if flow["kind"] == "video" else "cbr"


def _instants(
    movement: _core.Movement, flows: Sequence[Mapping[str, Any]], duration_s: float, step_s: float
) -> list[float]:
    """When fair shares may change, in s."""
    events = {flow["start_s"] for flow in flows} | {flow.get("stop_s") or 0.0 for flow in flows}
    stands = movement.last_command_s == 0.0 and movement.positions(0.0) == movement.positions(duration_s)
    steps = 0 if stands else math.ceil(duration_s / step_s)
    events |= {number * step_s for number in range(steps)}
    return sorted(time_s for time_s in events if time_s < duration_s)


def is_active(flow: Mapping[str, Any], time_s: float) -> bool:
    """Whether a flow has begun and its source has not been told to stop."""
    stop_s = flow.get("stop_s")
    return bool(flow["start_s"] <= time_s and (stop_s is None or time_s < stop_s))


def payload_bytes(flow: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]]) -> int | None:
    """The payload of a flow's packets, in bytes; None if they differ in size."""
    if flow["kind"] in ("tcp", "web"):
        given = flow.get("segment_bytes")
        return int(params["tcp"]["segment_bytes"] if given is None else given)
    return int(flow["bytes"]) if "bytes" in flow else None


def mean_payload_bytes(flow: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]]) -> float:
    """The mean payload of the packets of a flow, in bytes; of video by the mean lengths of its frames."""
    if (size := payload_bytes(flow, params)) is not None:
        return float(size)
    if flow["kind"] == "adp":
        return float(params["adp"]["packet_bytes"])
    transport = flow.get("transport", "udp")
    most = math.inf
    if transport == "tcp":
        most = params["tcp"]["segment_bytes"]
    elif flow["kind"] == "video" and params["video"]["packet_bytes"]:
        most = params["video"]["packet_bytes"]
    lengths = _frames(params["video"]) if flow["kind"] == "video" else [each[1] for each in flow["packets"]]
    return float(sum(lengths)) / sum(math.ceil(each / most) or 1 for each in lengths)


def video_bps(video: Mapping[str, Any]) -> float:
    """The mean rate of a video source with these parameters, in bit/s."""
    lengths = _frames(video)
    return 8.0 * float(video["frames_per_s"]) * sum(lengths) / len(lengths)


def _frames(video: Mapping[str, Any]) -> list[float]:
    """The mean lengths of the frames of a group of pictures, in bytes."""
    spacing = video["b_frames"] + 1
    kinds = ["i", *("b" if place % spacing else "p" for place in range(1, video["gop_frames"]))]
    return [float(video[f"{kind}_mean_bytes"]) for kind in kinds]


def _with_rate(share: FlowShare, resolved: Resolved, table: Table) -> FlowShare:
    """The same with what the flow would carry alone."""
    if share.hops is None:
        return replace(share, note="no path, or not active")
    flow = resolved.flows[share.flow]
    found, key = _found_bps(flow, resolved.params, resolved.scenario.profile, table)
    if found is None and payload_bytes(flow, resolved.params) is None:
        return replace(share, note=f"packets of different sizes, and the table has not two rows like {key}")
    if found is None:
        return replace(share, note=f"the table has no row for {key}")
    return replace(share, alone_bps=found[min(share.hops, len(found)) - 1])
