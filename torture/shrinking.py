"""Makes a failing scenario smaller for as long as it fails in the same way."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from manetlab import Scenario, parameters
from manetlab.errors import ManetlabError
from torture.drawing import Fields

PATIENCE_S = 60.0
"""For how long a scenario is made smaller, in s."""
TABLES = ("movement", "traffic")
PLAIN = (
    "routing",
    "profile",
    "seed",
    "replication",
    "warmup_s",
    "rates",
    "radios",
    "walls",
    "failures",
    "wired",
)
"""Fields that may be left out."""


def shrunk(fields: Fields, fails: Callable[[Fields], bool], patience_s: float = PATIENCE_S) -> Fields:
    """The smallest scenario that was found to fail still.

    Args:
        fields: A scenario that fails.
        fails: Does this one fail in the same way?
        patience_s: For how long to try, in s.
    """
    end_s = time.monotonic() + patience_s
    smallest = fields
    found = True
    while found:
        found = False
        for candidate in smaller(smallest):
            if time.monotonic() > end_s:
                return smallest
            if candidate != smallest and fails(candidate):
                smallest, found = candidate, True
                break
    return smallest


def smaller(fields: Fields) -> Iterator[Fields]:
    """Scenarios that are a step smaller, those first that leave out most."""
    yield from _fewer_flows(fields)
    yield from _without(fields)
    yield from _fewer_nodes(fields)
    yield from _less_of_tracks(fields)
    for share in (0.25, 0.5, 0.75, 0.9):
        yield shortened(fields, _rounded(fields["duration_s"] * share))
    yield from _written_out(fields)
    yield from _rounder(fields)


def shortened(fields: Fields, duration_s: float) -> Fields:
    """The same scenario, ended earlier; what would begin later begins sooner."""
    changed = copy.deepcopy(fields)
    share = duration_s / fields["duration_s"]
    changed["duration_s"] = duration_s
    if "warmup_s" in fields:
        changed["warmup_s"] = _rounded(fields["warmup_s"] * share)
    traffic = changed["traffic"]
    for flow in traffic.get("flows", []):
        if flow["start_s"] >= duration_s:
            flow["start_s"] = flow["start_s"] * share
        if "stop_s" in flow and flow["stop_s"] <= flow["start_s"]:
            del flow["stop_s"]
    for name in ("tcp_start_s", "cbr_start_within_s"):
        if name in traffic.get("random", {}):
            traffic["random"][name] *= share
    return changed


def _fewer_flows(fields: Fields) -> Iterator[Fields]:
    traffic = fields["traffic"]
    flows = traffic.get("flows", [])
    half = len(flows) // 2
    if half:
        yield _with(fields, "traffic", {**traffic, "flows": flows[:half]})
        yield _with(fields, "traffic", {**traffic, "flows": flows[half:]})
    for at in range(len(flows)):
        yield _with(fields, "traffic", {**traffic, "flows": flows[:at] + flows[at + 1 :]})
    for at, flow in enumerate(flows):
        for name in flow.keys() - {"kind", "src", "dst", "start_s"}:
            less = {key: value for key, value in flow.items() if key != name}
            yield _with(fields, "traffic", {**traffic, "flows": [*flows[:at], less, *flows[at + 1 :]]})


def _without(fields: Fields) -> Iterator[Fields]:
    """Without a section, a parameter, or a field that may be left out."""
    for name, value in fields.items():
        if name in PLAIN:
            yield {key: each for key, each in fields.items() if key != name}
        if isinstance(value, dict) and name not in TABLES:
            yield {key: each for key, each in fields.items() if key != name}
            for parameter in value if len(value) > 1 else ():
                yield _with(fields, name, {key: each for key, each in value.items() if key != parameter})
    if ":" in fields.get("routing", "") and not fields["routing"].startswith("python"):
        yield {**fields, "routing": fields["routing"].partition(":")[0]}
    for table in TABLES:
        for kind, given in fields[table].items():
            if isinstance(given, dict):
                for name in given:
                    less = {key: value for key, value in given.items() if key != name}
                    yield _with(fields, table, {**fields[table], kind: less})


def _fewer_nodes(fields: Fields) -> Iterator[Fields]:
    movement = fields["movement"]
    for kind, given in movement.items():
        match kind:
            case "positions" | "tracks":
                for at in range(len(given)):
                    less = {**movement, kind: given[:at] + given[at + 1 :]}
                    yield _without_node(_with(fields, "movement", less), at)
            case "grid":
                for name, other in (("columns", "rows"), ("rows", "columns")):
                    for fewer in _below(given[name]):
                        yield _with_nodes(fields, {kind: {**given, name: fewer}}, fewer * given[other])
            case "areas":
                yield from _fewer_in_areas(fields, given)
            case _ if kind == "chain" or kind in parameters.movement_schema():
                for fewer in _below(given.get("nodes", 1)):
                    yield _with_nodes(fields, {kind: {**given, "nodes": fewer}}, fewer)


def _less_of_tracks(fields: Fields) -> Iterator[Fields]:
    """With tracks that say less: no heights, no presence, a single sample."""
    movement = fields["movement"]
    for at, track in enumerate(movement.get("tracks", [])):
        first = {name: values[:1] for name, values in track.items() if name in ("t_s", "x_m", "y_m", "z_m")}
        for less in (
            *({key: value for key, value in track.items() if key != name} for name in ("z_m", "present_s")),
            {**track, **first},
        ):
            if less != track:
                tracks = [*movement["tracks"][:at], less, *movement["tracks"][at + 1 :]]
                yield _with(fields, "movement", {**movement, "tracks": tracks})


def _fewer_in_areas(fields: Fields, areas: Fields) -> Iterator[Fields]:
    names = ("sources", "sinks", "forwarders")
    for name in (*names, "hops"):
        for fewer in _below(areas.get(name, 1)):
            changed = {**areas, name: fewer}
            yield _with_nodes(fields, {"areas": changed}, sum(changed[each] for each in names))


def _below(number: int) -> list[int]:
    return sorted({each for each in (number // 2, number * 3 // 4, number - 1) if 1 <= each < number})


def _with_nodes(fields: Fields, movement: Fields, nodes: int) -> Fields:
    """The same with fewer nodes: flows of those that are gone have others."""
    changed = _with(fields, "movement", movement)
    flows = fields["traffic"].get("flows")
    if flows is None or nodes < 2:
        return changed
    moved = []
    for flow in flows:
        src, dst = flow["src"] % nodes, flow["dst"] % nodes
        moved.append({**flow, "src": src, "dst": dst if dst != src else (dst + 1) % nodes})
    return _with(changed, "traffic", {**fields["traffic"], "flows": moved})


def _without_node(fields: Fields, gone: int) -> Fields:
    """The same after a node was taken out: flows keep their nodes, which have other numbers."""
    flows = fields["traffic"].get("flows")
    if flows is None:
        return fields
    kept = [
        {**flow, "src": flow["src"] - (flow["src"] > gone), "dst": flow["dst"] - (flow["dst"] > gone)}
        for flow in flows
        if gone not in (flow["src"], flow["dst"])
    ]
    return _with(fields, "traffic", {**fields["traffic"], "flows": kept})


def _written_out(fields: Fields) -> Iterator[Fields]:
    """With the flows that were drawn, and with the nodes where they begin."""
    movement, traffic = fields["movement"], fields["traffic"]
    try:
        resolved = Scenario.build(fields).resolve()
    except ManetlabError:
        return
    if "flows" not in traffic:
        flows = [
            {name: value for name, value in flow.items() if value is not None} for flow in resolved.flows
        ]
        yield _with(fields, "traffic", {"flows": flows})
    if movement.keys() & {*parameters.movement_schema(), "areas", "tracks"} and resolved.movement.nodes <= 50:
        places = [list(place) for place in resolved.movement.positions(0.0)]
        yield _with(fields, "movement", {"positions": places})


def _rounder(fields: Fields) -> Iterator[Fields]:
    """With numbers of fewer digits."""
    yield from (candidate for candidate in _rounded_within(fields) if candidate != fields)


def _rounded_within(value: Any) -> Iterator[Any]:
    """The same with one of its numbers rounded."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: each} for each in _rounded_within(inner))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], each, *value[at + 1 :]] for each in _rounded_within(inner))
    elif isinstance(value, float) and _rounded(value) != value:
        yield _rounded(value)


def _rounded(value: float) -> float:
    """The number with two digits."""
    return float(f"{value:.2g}") if math.isfinite(value) else value


def _with(fields: Fields, name: str, value: Any) -> Fields:
    return {**fields, name: value}
