"""The topology that follows from a scenario's movement, without a run.

Hops, partitions, neighbours, links and paths follow from where the nodes are and how far frames can be
received; a simulation on a topology that does not test what it should is wasted. docs/scenarios.md has the
definitions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import _core, parameters
from manetlab.errors import InputError, shown
from manetlab.resolving import Resolved
from manetlab.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_HOPS = 4.0
"""Mean shortest-path hops below which a scenario hardly tests routing (Kurkowski, Navidi and Camp 2006)."""
MOST_PARTITIONED = 0.05
"""Share of node pairs without a path above which a scenario tests little but partitions (the same)."""
DESIGNED = ("positions", "chain", "grid", "areas")
"""Movements whose hops are what somebody meant them to be."""
LEAST_STEP_S, MOST_INSTANTS = 1e-3, 1_000_000
"""Shortest time between two instants, in s; the maximum number of instants."""
MOST_LINKED_NODES = 3000
"""The maximum number of nodes of which all pairs are evaluated as links."""


class Note(str):
    """A remark on a scenario that is not necessarily an objection."""


def with_kind(told: str) -> str:
    """What is said of a scenario after ``warning:`` or ``note:``."""
    return f"{'note' if isinstance(told, Note) else 'warning'}: {told}"


@dataclass(frozen=True)
class TopologyReport:
    """The topology in the window from the end of the warm-up to the end of the run.

    Values of instants are means over those that begin a step; link changes between them are exact.

    Attributes:
        nodes: Number of nodes.
        range_m: The distance up to which frames can be received, in m.
        width_m: The field's extent to the east, in m: that of random waypoint, else of all starts and
            destinations.
        height_m: Its extent to the north, in m.
        area_in_discs: The field's area over the area within range of a node: how many nodes would just cover
            it.
        diagonal_in_ranges: The field's diagonal over the range: about the hops from corner to corner, at
            least.
        step_s: Time between two instants, in s.
        instants: Number of instants.
        sources: The number of nodes from which paths are searched at each instant: all nodes, or in large
            networks fewer, in rotation.
        hops_mean: Mean hops of the shortest path over instants and connected pairs of nodes; None without
            any.
        partitioned_pairs: Share of node pairs, over instants, that have no path; None with a single node.
        partitioned_time: Share of instants in which some pair of nodes has no path.
        degree_mean: Mean number of neighbours of a node.
        speed_mean: Mean speed of a node, in m/s.
        geometric_mobility: Mean relative speed of two nodes, over all pairs, in m/s (Johansson et al. 1999);
            None with a single node.
        link_changes_per_s: Links that came up or broke in the whole network, per second.
        link_lifetime_s: Time that links were up over links that broke, in s; None if none broke.
        grey_links: Share of links, when the window begins, over which 10 to 90 % of the frames are decoded,
            among those over which more are or these; None without links, or in a network of more than 3000
            nodes.
        flow_hops_mean: Like `hops_mean`, over the pairs of nodes of the flows.
        flow_partitioned: Like `partitioned_pairs`, over the pairs of nodes of the flows.
        path_lifetime_s: How long a shortest path of a flow's pair lasts until a link of it breaks: the time
            of such paths over those that broke, in s; None if none broke.
        paths_broken: How many such paths broke.
        flow_degree_mean: Like `degree_mean`, over the ends of the flows; None without flows.
        flow_speed_mean: Like `speed_mean`, over the ends of the flows; None without flows.
        warnings: Objections to the scenario, a sentence each.
    """

    nodes: int
    range_m: float
    width_m: float
    height_m: float
    area_in_discs: float
    diagonal_in_ranges: float
    step_s: float
    instants: int
    sources: int
    hops_mean: float | None
    partitioned_pairs: float | None
    partitioned_time: float
    degree_mean: float
    speed_mean: float
    geometric_mobility: float | None
    link_changes_per_s: float
    link_lifetime_s: float | None
    grey_links: float | None
    flow_hops_mean: float | None
    flow_partitioned: float | None
    path_lifetime_s: float | None
    paths_broken: int
    flow_degree_mean: float | None
    flow_speed_mean: float | None
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The report as one mapping."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class HopsOverTime:
    """The shortest paths of pairs of nodes at equally spaced instants.

    Attributes:
        times_s: The instants, in s, from the start of the run; the end of the run is not among them.
        pairs: Source and destination of each pair.
        hops: For each pair the hops of the shortest path at each instant; None where there is no path.
    """

    times_s: list[float]
    pairs: list[tuple[int, int]]
    hops: list[list[int | None]]

    def __repr__(self) -> str:
        """How much there is, in a line."""
        return f"<HopsOverTime: {len(self.pairs)} pairs at {len(self.times_s)} instants>"


@dataclass(frozen=True)
class PathHops:
    """Over how many hops the shortest path of a pair of nodes goes in the measurement window.

    Times are exact: links are followed between instants, and hops change only with them.

    Attributes:
        src: Source node.
        dst: Destination node.
        shares: By number of hops, in order, the share of the window in which the path had that number.
        hops_min: The minimum number of hops; None if there never is a path.
        hops_max: The maximum number of hops.
        hops_mean: Mean hops over the time with a path.
        hops_mode: The number of hops that the path has for the longest time; of two equal times the smaller.
        mode_share: The share of the window in which it has that number.
        partitioned: The share of the window without a path.
    """

    src: int
    dst: int
    shares: dict[int, float]
    hops_min: int | None
    hops_max: int | None
    hops_mean: float | None
    hops_mode: int | None
    mode_share: float | None
    partitioned: float

    def holds(self, hops: int, share: float = 1.0) -> bool:
        """Whether the path has this number of hops for at least this share of the window."""
        return self.shares.get(hops, 0.0) >= share


@dataclass(frozen=True)
class FoundDraw:
    """A scenario that was found.

    Attributes:
        replication: The number of its replication: with this, the seed and ``traffic.random.hops`` the
            scenario is found again.
        draw: The number of the draw of its movement.
        pairs: Source and destination of each flow whose path keeps its hops.
        shares: For each of them the share of the window in which the path has these hops.
    """

    replication: int
    draw: int
    pairs: list[tuple[int, int]]
    shares: list[float]


@dataclass(frozen=True)
class SelectionReport:
    """What a search found, beside unselected scenarios.

    Attributes:
        hops: The number of hops that paths keep.
        share: The minimum share of the window.
        draws: The maximum number of draws for a scenario.
        found: The scenarios found, in order of replications.
        missing: The replications for which no draw was found.
        selected: By key of `TopologyReport`, the value of each scenario found.
        unselected: The same of the scenarios that the same replications have without a search.
        lifetimes_s: How long a path of a flow lasts until it breaks, in s, over all selected scenarios and
            over all unselected ones: the time of paths over those that broke; None if none broke.
    """

    hops: int
    share: float
    draws: int
    found: list[FoundDraw]
    missing: list[int]
    selected: dict[str, list[float]]
    unselected: dict[str, list[float]]
    lifetimes_s: tuple[float | None, float | None]

    def to_dict(self) -> dict[str, Any]:
        """The report as one mapping."""
        return {**asdict(self), "note": NO_RANDOM_SAMPLE}


NO_RANDOM_SAMPLE = (
    "A selected set is not a random sample. Results on it hold for networks like these, and not for those "
    "that the same parameters give without a selection."
)
COMPARED = ("degree_mean", "flow_degree_mean", "speed_mean", "flow_speed_mean", "flow_hops_mean")
"""What is compared between selected and unselected scenarios, by keys of `TopologyReport`."""


def search(
    scenario: Scenario | str | Path, hops: int, share: float = 1.0, count: int = 20, draws: int = 10_000
) -> SelectionReport:
    """Finds scenarios in which the flows' shortest paths keep their hops, beside unselected ones.

    Args:
        scenario: A scenario with random traffic, or the name of a TOML file that holds one.
        hops: The number of hops.
        share: The minimum share of the measurement window for which paths keep them.
        count: How many scenarios: replications from the scenario's own on.
        draws: The maximum number of draws for each scenario.

    Raises:
        InputError: The scenario cannot be used, a value is not allowed, or nothing is found.
    """
    base = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    if base.traffic.random is None:
        hint = "for example [traffic.random] with tcp = 1"
        raise InputError("the scenario's flows are not drawn", base.where, "none", "traffic.random", hint)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_SCENARIOS:
        wanted = f"1 to {MOST_SCENARIOS}"
        raise InputError("the number of scenarios is not allowed", "search: count", shown(count), wanted)
    traffic = base.to_dict()["traffic"]
    unselected_flows = {key: value for key, value in traffic["random"].items() if not key.startswith("hops")}
    selected_flows = {**unselected_flows, "hops": hops, "hops_share": share, "hops_draws": draws}
    draws_found, missing, last_error = [], [], None
    reports: tuple[list[TopologyReport], list[TopologyReport]] = ([], [])
    for replication in range(base.replication, base.replication + count):
        candidate = base.changed(replication=replication, traffic={**traffic, "random": selected_flows})
        try:
            selected = candidate.resolve()
        except InputError as error:
            if not error.where.endswith("traffic.random.hops"):
                raise
            last_error = error
            missing.append(replication)
            continue
        draws_found.append(_found_draw(selected, hops))
        reports[0].append(report(selected))
        reports[1].append(report(candidate.changed(traffic={**traffic, "random": unselected_flows})))
    if not draws_found and last_error is not None:
        raise last_error
    return SelectionReport(
        hops,
        share,
        draws,
        draws_found,
        missing,
        _compared(reports[0]),
        _compared(reports[1]),
        (_lifetime_s(reports[0], base), _lifetime_s(reports[1], base)),
    )


MOST_SCENARIOS = 100_000
"""Most scenarios of one search."""


def _found_draw(resolved: Resolved, hops: int) -> FoundDraw:
    assert resolved.selection is not None
    pairs = resolved.selection.pairs
    shares = [path.shares.get(hops, 0.0) for path in path_hops(resolved, pairs)]
    return FoundDraw(resolved.scenario.replication, resolved.selection.draw, list(pairs), shares)


def _compared(reports: list[TopologyReport]) -> dict[str, list[float]]:
    values = {key: [getattr(each, key) for each in reports] for key in COMPARED}
    return {key: [each for each in of_key if each is not None] for key, of_key in values.items()}


def _lifetime_s(reports: list[TopologyReport], scenario: Scenario) -> float | None:
    """The time of all paths over those that broke."""
    window_s = scenario.duration_s - scenario.warmup_s
    broken = sum(each.paths_broken for each in reports)
    time_s = 0.0
    for each in reports:
        if each.path_lifetime_s is not None:
            time_s += each.path_lifetime_s * each.paths_broken
        elif each.flow_partitioned is not None:
            time_s += window_s * (1 - each.flow_partitioned)
    return time_s / broken if broken else None


def report(scenario: Scenario | Resolved | str | Path, step_s: float = 1.0) -> TopologyReport:
    """The topology that a scenario's movement makes.

    Args:
        scenario: A scenario, or the name of a TOML file that holds one.
        step_s: Time between two instants, in s.

    Raises:
        InputError: The scenario cannot be used, or the step is not allowed.
    """
    resolved = resolved_of(scenario)
    times = resolved.scenario.duration_s - resolved.scenario.warmup_s
    check_step(step_s, times, "topology.report: step_s")
    measures = json.loads(_core.topology(resolved.core_json(), resolved.movement, step_s))
    (west, south), (east, north) = measures.pop("corner_low_m"), measures.pop("corner_high_m")
    width_m, height_m = east - west, north - south
    drawn = _drawn(resolved)
    if drawn is not None:
        width_m, height_m = drawn[1]["width_m"], drawn[1]["height_m"]
    range_m, warnings = measures["range_m"], _warnings(resolved, measures, drawn)
    return TopologyReport(
        nodes=resolved.movement.nodes,
        width_m=width_m,
        height_m=height_m,
        area_in_discs=width_m * height_m / (math.pi * range_m**2),
        diagonal_in_ranges=math.hypot(width_m, height_m) / range_m,
        step_s=step_s,
        flow_hops_mean=measures.pop("pair_hops_mean"),
        flow_partitioned=measures.pop("pair_partitioned"),
        flow_degree_mean=measures.pop("pair_degree_mean"),
        flow_speed_mean=measures.pop("pair_speed_mean"),
        grey_links=grey_share(resolved, resolved.scenario.warmup_s),
        warnings=warnings,
        **measures,
    )


def grey_share(resolved: Resolved, at_s: float) -> float | None:
    """The share of links that are grey, among good and grey ones; None without any, or of too many nodes."""
    if resolved.movement.nodes > MOST_LINKED_NODES:
        return None
    return _core.grey_share(json.dumps(resolved.core), resolved.movement, at_s)


def shortest_hops_over_time(
    scenario: Scenario | Resolved | str | Path,
    pairs: Iterable[tuple[int, int]] | None = None,
    step_s: float = 0.1,
) -> HopsOverTime:
    """The hops of the shortest path between pairs of nodes over the whole run, warm-up included.

    Args:
        scenario: A scenario, or the name of a TOML file that holds one.
        pairs: Source and destination of each pair; those of the flows, in their order, if not given.
        step_s: Time between two instants, in s.

    Raises:
        InputError: The scenario cannot be used, or a node or the step is not allowed.
    """
    resolved = resolved_of(scenario)
    duration_s = resolved.scenario.duration_s
    check_step(step_s, duration_s, "shortest_hops_over_time: step_s")
    node_pairs = _pairs(resolved, pairs, "shortest_hops_over_time")
    hops = _core.shortest_hops(resolved.core_json(), resolved.movement, node_pairs, step_s)
    # As the core counts: whole nanoseconds.
    step_ns, end_ns = round(step_s * 1e9), round(duration_s * 1e9)
    return HopsOverTime([time / 1e9 for time in range(0, end_ns, step_ns)], node_pairs, hops)


def path_hops(
    scenario: Scenario | Resolved | str | Path, pairs: Iterable[tuple[int, int]] | None = None
) -> list[PathHops]:
    """How long the shortest path of each pair has how many hops, from the end of the warm-up to the end.

    Args:
        scenario: A scenario, or the name of a TOML file that holds one.
        pairs: Source and destination of each pair; those of the flows, in their order, if not given.

    Raises:
        InputError: The scenario cannot be used, or a node is not allowed.
    """
    resolved = resolved_of(scenario)
    node_pairs = _pairs(resolved, pairs, "path_hops")
    paths = json.loads(_core.path_hops(resolved.core_json(), resolved.movement, node_pairs))
    return [
        PathHops(
            src,
            dst,
            dict(path["shares"]),
            path["path_hops_min"],
            path["path_hops_max"],
            path["path_hops_mean"],
            path["path_hops_mode"],
            path["path_hops_mode_share"],
            path["path_partitioned"],
        )
        for (src, dst), path in zip(node_pairs, paths, strict=True)
    ]


def _pairs(resolved: Resolved, pairs: Iterable[tuple[int, int]] | None, where: str) -> list[tuple[int, int]]:
    """The pairs asked for, or else those of the flows."""
    node_pairs = [(flow["src"], flow["dst"]) for flow in resolved.flows] if pairs is None else list(pairs)
    for number, pair in enumerate(node_pairs):
        _check_pair(pair, resolved.movement.nodes, f"{where}: pair {number}")
    return node_pairs


def resolved_of(scenario: Scenario | Resolved | str | Path) -> Resolved:
    """The resolved scenario, of whatever describes one.

    Raises:
        InputError: It describes none.
    """
    match scenario:
        case Resolved():
            return scenario
        case Scenario():
            return scenario.resolve()
        case str() | Path():
            return Scenario.load(scenario).resolve()
    wanted = "a Scenario, a Resolved or a file"
    raise InputError("not a scenario", "topology", shown(scenario), wanted)


def check_step(step_s: float, times_s: float, where: str) -> None:
    """Checks the time between instants.

    Raises:
        InputError: It is too short for a window of ``times_s``, or no number.
    """
    number = isinstance(step_s, int | float) and not isinstance(step_s, bool)
    if not number or not step_s >= LEAST_STEP_S or times_s / step_s > MOST_INSTANTS:
        wanted = f"{LEAST_STEP_S:g} s or more, and at most {MOST_INSTANTS} instants in {times_s:g} s"
        raise InputError("the step is not allowed", where, shown(step_s), wanted, "1 s is usual")


def _check_pair(pair: Sequence[int], nodes: int, where: str) -> None:
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2
    if not is_pair or not all(type(node) is int and 0 <= node < nodes for node in pair):
        raise InputError("no such pair", where, shown(pair), f"two nodes from 0 to {nodes - 1}")


def _drawn(resolved: Resolved) -> tuple[str, dict[str, Any]] | None:
    """The scenario's movement model with all its parameters, if it has one."""
    if (drawn := resolved.scenario.movement.drawn) is None:
        return None
    return drawn[0], {**parameters.movement_defaults()[drawn[0]], **drawn[1]}


def _warnings(
    resolved: Resolved, measures: Mapping[str, Any], drawn: tuple[str, Mapping[str, Any]] | None
) -> list[str]:
    """Objections to a scenario: about its flows' pairs of nodes, or about all pairs if it has no flows."""
    warnings: list[str] = [] if resolved.selection is None else [resolved.selection.note]
    of_flows = bool(resolved.flows)
    hops, partitioned = (
        (measures["pair_hops_mean"], measures["pair_partitioned"])
        if of_flows
        else (measures["hops_mean"], measures["partitioned_pairs"])
    )
    is_designed = any(getattr(resolved.scenario.movement, name) is not None for name in DESIGNED)
    tests_routing = not is_designed and resolved.core["routing"] != "static"
    if tests_routing and hops is not None and hops < LEAST_HOPS:
        whose = "the flows' shortest paths" if of_flows else "shortest paths"
        warnings.append(
            Note(
                f"{whose} have {hops:.2f} hops on average; below {LEAST_HOPS:g} a scenario hardly tests "
                "routing over several hops (Kurkowski, Navidi and Camp 2006)"
            )
        )
    if partitioned is not None and partitioned > MOST_PARTITIONED:
        whose = "the flows' node pairs" if of_flows else "the node pairs"
        warnings.append(
            f"{100 * partitioned:.1f} % of {whose} have no path; above {100 * MOST_PARTITIONED:g} % "
            "results say more about partitions than about protocols (Kurkowski, Navidi and Camp 2006)"
        )
    waypoint = drawn[1] if drawn is not None and drawn[0] == "waypoint" else None
    if waypoint is not None and waypoint["start"] != "stationary":
        warnings.append(
            'random waypoint starts uniformly (start = "uniform"); speeds fall and nodes cluster for '
            "hundreds of seconds, and results change with them (Yoon, Liu and Noble 2003)"
        )
    if waypoint is not None and waypoint["speed_min"] <= 0.0:
        warnings.append(
            "the minimum speed is 0; the mean speed keeps falling towards 0 during the run (Yoon, Liu and "
            "Noble 2003)"
        )
    return warnings
