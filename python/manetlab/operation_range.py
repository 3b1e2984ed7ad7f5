"""The admissible operation range of a network: how many TCP flows it carries well, and up to which size.

Osipov and Tschudin (2006, section IV.C) hold the shape of a network and its hops fixed and add flows and
forwarders. A configuration is *admissible* if, over 30 runs, the mean unsmoothness of the worst flow and the
worst unfairness stay below their bounds. For each number of flows the *right border* is the largest network
that they reach from the smallest without a break: there routing begins to break TCP. docs/range.md describes
it.

`find` searches the borders. All runs are those of one campaign, whose store can be continued and read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import interrupts
from manetlab.campaign.plan import Campaign
from manetlab.errors import InputError, RunFailed, shown
from manetlab.scenario import Scenario
from manetlab.scenario_data import assign, merged
from manetlab.shares import at_instant, mean_rates, varies
from manetlab.sources import MAX_NODES, Areas

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from manetlab.campaign.execution import Report
    from manetlab.campaign.results import Results
    from manetlab.chain_throughput import ThroughputTable
    from manetlab.resolving import Resolved

FLOWS = range(2, 10)
"""The numbers of flows that are looked at if none are given: those of the paper's Fig. 4."""
RUNS = 30
"""Runs of a configuration (section IV.C.2)."""
MOST_NODES = 60
"""The largest network that is looked at if no other is given."""
STAGGER_S = 0.1
"""Time between the starts of two flows if no other is given, in s."""
FORWARDERS = "movement.areas.forwarders"


@dataclass(frozen=True)
class Bounds:
    """What a configuration must stay below to be admissible.

    Attributes:
        unsmoothness: For the unsmoothness of the worst flow, on average over the runs. The paper takes 1, and
            2 for the weak range of AODV with HELLO messages.
        unfairness: For the unfairness of the worst run.
        pause_s: The pause in a flow's progress that stands for an unsmoothness of 1, in s.
    """

    unsmoothness: float = 1.0
    unfairness: float = 0.1
    pause_s: float = 3.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
                where, wanted = f"bounds: {name}", "a number above 0"
                raise InputError("the bound is not allowed", where, shown(value), wanted)


@dataclass(frozen=True)
class Size:
    """One configuration: a number of flows in a network of some size.

    Attributes:
        flows: Number of flows, each with a source and a sink of its own.
        forwarders: Number of forwarders.
        nodes: Number of nodes: sources, sinks and forwarders.
        runs: Number of runs.
        unserved: Number of runs in which some flow got nothing at all.
        unsmoothness: That of a run's worst flow, on average over the runs in which all flows got something;
            None if there are none.
        unsmoothness_low: Lower end of its 95 % interval; None with fewer than two runs.
        unsmoothness_high: Upper end.
        unfairness: That of the worst run.
        unfairness_mean: Mean over the runs.
        total_bps: Throughput of all flows together, mean over the runs, in bit/s.
        total_low_bps: Its smallest value in a run, in bit/s.
        total_high_bps: Its largest, in bit/s.
        breaks: The bounds that it does not keep: ``unserved``, ``unsmoothness``, ``unfairness``.
    """

    flows: int
    forwarders: int
    nodes: int
    runs: int
    unserved: int
    unsmoothness: float | None
    unsmoothness_low: float | None
    unsmoothness_high: float | None
    unfairness: float
    unfairness_mean: float
    total_bps: float
    total_low_bps: float
    total_high_bps: float
    breaks: tuple[str, ...]

    @property
    def admissible(self) -> bool:
        """Whether it keeps all bounds."""
        return not self.breaks


@dataclass(frozen=True)
class Border:
    """How far the range of a number of flows reaches.

    Attributes:
        flows: The number of flows.
        left_nodes: The smallest network for that number of different flows: all from one source, one
            forwarder in each band.
        sizes: The configurations that were run, the smallest first.
        is_open: All of them are admissible: the border is beyond the largest.
        without_routing_bps: Throughput of all flows at the border with static routes, in bit/s, if asked for.
    """

    flows: int
    left_nodes: int
    sizes: tuple[Size, ...]
    is_open: bool
    without_routing_bps: float | None = None

    @property
    def last(self) -> Size | None:
        """The last configuration before the first that is not admissible; None if there is none."""
        found = None
        for size in self.sizes:
            if not size.admissible:
                break
            found = size
        return found

    @property
    def right_nodes(self) -> int | None:
        """The right border in nodes: the size of `last`."""
        return None if self.last is None else self.last.nodes

    @property
    def routing_load(self) -> float | None:
        """Equivalent routing load: the part of the throughput without routing that is lost at the border."""
        if self.last is None or not self.without_routing_bps:
            return None
        from manetlab.stats import equivalent_routing_load

        return equivalent_routing_load(self.last.total_bps, self.without_routing_bps)

    def to_dict(self) -> dict[str, Any]:
        """All of it as one mapping."""
        return {
            "flows": self.flows,
            "left_nodes": self.left_nodes,
            "right_nodes": self.right_nodes,
            "is_open": self.is_open,
            "without_routing_bps": self.without_routing_bps,
            "routing_load": self.routing_load,
            "sizes": [{**asdict(size), "admissible": size.admissible} for size in self.sizes],
        }


@dataclass(frozen=True)
class OperationRange:
    """The admissible operation range of a scenario's network and protocols.

    Attributes:
        routing: The routing protocol.
        runs: Runs of each configuration.
        bounds: What they had to stay below.
        borders: The borders, by number of flows.
    """

    routing: str
    runs: int
    bounds: Bounds
    borders: tuple[Border, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as one mapping."""
        borders = [border.to_dict() for border in self.borders]
        return {"routing": self.routing, "runs": self.runs, "bounds": asdict(self.bounds), "borders": borders}

    def rows(self) -> list[dict[str, Any]]:
        """One mapping a configuration, for a table."""
        listed = [{"routing": self.routing, **asdict(size)} for each in self.borders for size in each.sizes]
        return [{**row, "breaks": " ".join(row["breaks"]), "admissible": not row["breaks"]} for row in listed]


@interrupts.brought_back()
def find(
    scenario: Scenario,
    flows: Sequence[int] = FLOWS,
    *,
    runs: int = RUNS,
    most_nodes: int = MOST_NODES,
    step: int | None = None,
    stagger_s: float = STAGGER_S,
    bounds: Bounds | None = None,
    every_size: bool = False,
    with_load: bool = False,
    measured: bool = False,
    table: ThroughputTable | None = None,
    store: str | Path | None = None,
    jobs: int | None = None,
    progress: Callable[[Report], None] | None = None,
    allow_other_version: bool = False,
) -> OperationRange:
    """Searches the right border for each number of flows, as the paper does.

    The scenario says everything but numbers: its movement must be ``areas``, its first flow, one of TCP, is
    the pattern of all. Each flow has a source and a sink of its own. The search begins with one forwarder in
    each band, and adds forwarders until a configuration is not admissible.

    Args:
        scenario: The scenario. Run r of a configuration has its seed plus r.
        flows: The numbers of flows.
        runs: Runs of each configuration.
        most_nodes: The largest network, in nodes.
        step: How many forwarders to add at a time; one for each band if not given.
        stagger_s: Time between the starts of two flows, in s. All must have begun before the warm-up ends.
        bounds: What an admissible configuration stays below; the paper's if not given.
        every_size: Run all sizes, also after one that is not admissible.
        with_load: Run the borders with static routes, too, for the equivalent routing load.
        measured: Measure first what one flow carries alone in this network, with static routes and the fewest
            forwarders, and take fair rates, and the rates of throttled sources, as shares of that.
        table: What flows carry alone, for their fair rates; the package's if not given.
        store: The file that keeps the runs; without it they are kept in memory. A search that was stopped
            goes on where it was.
        jobs: Runs at a time; as many as there are cores if not given.
        progress: Called now and then, as for `manetlab.Campaign.run`; what it gets is about the sizes under
            way.
        allow_other_version: Use runs in the store that another version made.

    Raises:
        InputError: The scenario or an argument cannot be used.
        RunFailed: A run failed.
    """
    plan = _Plan.of(scenario, flows, runs, most_nodes, step, stagger_s, bounds or Bounds())
    options = {
        "store": store,
        "jobs": jobs,
        "progress": progress,
        "allow_other_version": allow_other_version,
    }
    if measured:
        if table is not None:
            found = "a table, and measured"
            raise InputError("what flows carry alone is given twice", "find: table", found, "one of them")
        plan = replace(plan, alone_bps=_alone_bps(plan, options))
    plan.check(table)
    found_sizes = _search(plan, table, options, every_size)
    borders = tuple(_border(plan, count, sizes) for count, sizes in found_sizes.items())
    if with_load:
        borders = _with_load(plan, borders, options)
    return OperationRange(scenario.routing, runs, plan.bounds, borders)


@dataclass(frozen=True)
class _Plan:
    """What is searched, checked."""

    base: Mapping[str, Any]
    areas: Areas
    pattern: Mapping[str, Any]
    flows: tuple[int, ...]
    runs: int
    first_seed: int
    most_nodes: int
    step: int
    stagger_s: float
    bounds: Bounds
    alone_bps: float | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        flows: Sequence[int],
        runs: int,
        most_nodes: int,
        step: int | None,
        stagger_s: float,
        bounds: Bounds,
    ) -> _Plan:
        areas, pattern = _areas_of(scenario), _pattern_of(scenario)
        base = {key: each for key, each in scenario.to_dict().items() if key not in ("seed", "replication")}
        base = merged(base, {"tcp": {"allowed_pause_s": bounds.pause_s}})
        step = areas.hops - 1 if step is None else step
        made = cls(
            *(base, areas, pattern, _listed_flows(flows), runs, scenario.seed),
            *(most_nodes, _whole(step, "step", 1, MAX_NODES), stagger_s, bounds),
        )
        _whole(runs, "runs", 1, 100_000)
        _whole(most_nodes, "most_nodes", 2, MAX_NODES)
        for count in made.flows:
            if not made.sizes(count):
                least = 2 * count + areas.hops - 1
                wanted = f"{least} or more for {count} flows over {areas.hops} hops"
                raise InputError("the largest network is too small", "most_nodes", str(most_nodes), wanted)
        last_s = made.flows_of(max(made.flows))[-1]["start_s"]
        if not stagger_s >= 0 or not last_s <= scenario.warmup_s:
            found = f"the last of {max(made.flows)} flows at {last_s:g} s"
            wanted = f"all flows before the end of the warm-up, {scenario.warmup_s:g} s"
            hint = "use a longer warm-up, or less time between starts"
            raise InputError("a flow begins too late", "stagger_s", found, wanted, hint)
        return made

    def left_nodes(self, flows: int) -> int:
        """Nodes of the smallest network: one source, one forwarder a band, a sink for each flow."""
        return 1 + (self.areas.hops - 1) + flows

    def sizes(self, flows: int) -> range:
        """The numbers of forwarders that are looked at."""
        return range(self.areas.hops - 1, self.most_nodes - 2 * flows + 1, self.step)

    def flows_of(self, count: int) -> list[dict[str, Any]]:
        """The flows, each from a source of its own to a sink of its own."""
        start_s = self.pattern["start_s"]
        return [
            {
                **self.pattern,
                "src": number,
                "dst": count + number,
                "start_s": round(start_s + number * self.stagger_s, 9),
            }
            for number in range(count)
        ]

    def level(self, count: int, **further: Any) -> dict[str, Any]:
        """The level of a factor that sets the number of flows."""
        fields = {"movement.areas.sources": count, "movement.areas.sinks": count}
        flows = self.flows_of(count)
        if self.alone_bps is not None and self.is_throttled:
            flows = self._with_rates(flows, {**fields, "traffic.flows": flows})
            further = {"throttle.mode": "preset", **further}
        return {"label": count, "fields": {**fields, "traffic.flows": flows, **further}}

    @property
    def is_throttled(self) -> bool:
        """Whether sources keep to rates."""
        return str(self.base.get("throttle", {}).get("mode", "off")) != "off"

    def _with_rates(self, flows: list[dict[str, Any]], fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The flows with their shares of what one carries alone, as they are in the smallest network."""
        made: Mapping[str, Any] = {**self.base, "throttle": {"mode": "off"}, "routing": "static"}
        for name, value in {**fields, FORWARDERS: self.areas.hops - 1}.items():
            made = assign(made, name, value, "range")
        resolved = Scenario.build({**made, "seed": self.first_seed}, "range").resolve()
        if self.areas.speed_mps > 0:
            rates_bps = mean_rates(resolved, whole_bps=self.alone_bps)
        else:
            shares = at_instant(resolved).flows
            rates_bps = [float(each.share or 0) * (self.alone_bps or 0.0) for each in shares]
        return [{**flow, "throttle_bps": [[0.0, rate]]} for flow, rate in zip(flows, rates_bps, strict=True)]

    @property
    def forwarders(self) -> list[int]:
        """All numbers of forwarders that some number of flows may come to."""
        return sorted({number for count in self.flows for number in self.sizes(count)})

    def campaign(self) -> Campaign:
        """All configurations that may be run."""
        routing = self.base.get("routing", "aodv")
        return Campaign(
            name="range",
            question=f"How many flows does {routing} carry well, and up to which size?",
            base=self.base,
            factors={"flows": [self.level(count) for count in self.flows], FORWARDERS: self.forwarders},
            replications=self.runs,
            first_seed=self.first_seed,
            metrics=["tcp_unsmoothness_max", "tcp_throughput_bps"],
            where="range",
        )

    def check(self, table: ThroughputTable | None) -> None:
        """Checks that every flow of the smallest configurations has a path and a fair rate.

        Raises:
            InputError: One has not.
        """
        campaign = self.campaign()
        for place in range(len(self.flows)):
            resolved = campaign.scenario(place * len(self.forwarders), 0).resolve()
            _unfairness_of(resolved, [0.0] * self.flows[place], table, self.alone_bps)


def _areas_of(scenario: Scenario) -> Areas:
    areas = scenario.movement.areas
    if not isinstance(areas, Areas):
        given = [name for name in scenario.movement.fields if getattr(scenario.movement, name) is not None]
        wanted = "movement.areas: sources, forwarders and sinks in areas one hop apart"
        hint = "`manetlab docs range` has an example"
        where = f"{scenario.where}: movement"
        raise InputError("the movement is not made of areas", where, ", ".join(given), wanted, hint)
    return areas


def _pattern_of(scenario: Scenario) -> Mapping[str, Any]:
    """The flow that all flows are like."""
    where, hint = f"{scenario.where}: traffic", "`manetlab docs range` has an example"
    if not (flows := scenario.traffic.flows):
        wanted = "traffic.flows with one flow, the pattern of all"
        raise InputError("there is no flow to repeat", where, "no list of flows", wanted, hint)
    first: Mapping[str, Any] = flows[0]
    if first["kind"] != "tcp":
        wanted = "a TCP transfer: unsmoothness is the measure of TCP flows"
        raise InputError("the flow is not one of TCP", f"{where}.flows[0]", str(first["kind"]), wanted)
    return first


def _listed_flows(flows: Sequence[int]) -> tuple[int, ...]:
    listed = tuple(_whole(count, "flows", 1, MAX_NODES // 2) for count in flows)
    if not listed or len(set(listed)) < len(listed):
        raise InputError(
            "not numbers of flows", "flows", shown(list(listed)), "different numbers, one or more"
        )
    return tuple(sorted(listed))


def _whole(value: object, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        wanted = f"a whole number from {least} to {most}"
        raise InputError("the number is not allowed", name, shown(value), wanted)
    return value


def _search(
    plan: _Plan, table: ThroughputTable | None, options: Mapping[str, Any], every_size: bool
) -> dict[int, list[Size]]:
    """The configurations that were run, by number of flows: for all numbers at once, size after size."""
    campaign = plan.campaign()
    measured: dict[int, list[Size]] = {count: [] for count in plan.flows}
    while wave := list(_next(plan, measured, every_size)):
        points = {_point(plan, *each): each for each in wave}
        results = campaign.run(points=points, **options)
        _check_failures(results, points)
        for point, (count, forwarders) in points.items():
            measured[count].append(_judged(plan, results, point, count, forwarders, table))
    return measured


def _next(plan: _Plan, measured: Mapping[int, Sequence[Size]], every_size: bool) -> Iterator[tuple[int, int]]:
    """The configurations that are to be run next: flows and forwarders."""
    for count, sizes in measured.items():
        wanted = plan.sizes(count)
        if len(sizes) < len(wanted) and (every_size or all(size.admissible for size in sizes[-1:])):
            yield count, wanted[len(sizes)]


def _point(plan: _Plan, flows: int, forwarders: int) -> int:
    """The number of a configuration in the campaign."""
    return plan.flows.index(flows) * len(plan.forwarders) + plan.forwarders.index(forwarders)


def _check_failures(results: Results, points: Collection[int]) -> None:
    failed = results.failed
    for row in failed[failed["point"].isin(list(points))].to_dict("records"):
        where = f"point {row['point']}, replication {row['replication']}"
        raise RunFailed("a run failed", where, row["error"], hint=f"to repeat it: {row['command']}")


def _judged(
    plan: _Plan, results: Results, point: int, count: int, forwarders: int, table: ThroughputTable | None
) -> Size:
    """A configuration whose runs are made."""
    from manetlab.stats import mean_interval

    runs = results.runs[results.runs["point"] == point]
    totals = [float(value) for value in runs["tcp_throughput_bps"]]
    worst = [float(value) for value in runs["tcp_unsmoothness_max"].dropna()]
    unfair = _unfairness(results, point, table, plan.alone_bps)
    interval = mean_interval(worst) if len(worst) > 1 else None
    mean = sum(worst) / len(worst) if worst else None
    unserved = len(totals) - len(worst)
    kept = {
        "unserved": unserved == 0,
        "unsmoothness": mean is not None and mean < plan.bounds.unsmoothness,
        "unfairness": max(unfair) < plan.bounds.unfairness,
    }
    return Size(
        flows=count,
        forwarders=forwarders,
        nodes=2 * count + forwarders,
        runs=len(totals),
        unserved=unserved,
        unsmoothness=mean,
        unsmoothness_low=None if interval is None else interval.low,
        unsmoothness_high=None if interval is None else interval.high,
        unfairness=max(unfair),
        unfairness_mean=sum(unfair) / len(unfair),
        total_bps=sum(totals) / len(totals),
        total_low_bps=min(totals),
        total_high_bps=max(totals),
        breaks=tuple(name for name, is_kept in kept.items() if not is_kept),
    )


def _unfairness(
    results: Results, point: int, table: ThroughputTable | None, alone_bps: float | None
) -> list[float]:
    """The unfairness of each run of a configuration."""
    flows = results.flows[results.flows["point"] == point]
    found = []
    for replication, of_run in flows.groupby("replication"):
        resolved = results.campaign.scenario(point, int(str(replication))).resolve()
        actual_bps = [float(bps) for bps in of_run.sort_values("flow")["throughput_bps"]]
        found.append(_unfairness_of(resolved, actual_bps, table, alone_bps))
    return found


def _unfairness_of(
    resolved: Resolved, actual_bps: Sequence[float], table: ThroughputTable | None, alone_bps: float | None
) -> float:
    """The unfairness of a run, with what flows carry alone as measured, or else as the table says.

    Where nodes move, or flows start or stop in the measurement, fair rates are means over it.
    """
    from manetlab.stats import unfairness

    if varies(resolved):
        fair_bps = mean_rates(resolved, table=table, whole_bps=alone_bps)
        if 0.0 in fair_bps:
            where, found = f"range: flow {fair_bps.index(0.0)}", "no path at any time"
            raise InputError("a flow has no fair rate", where, found, "a fair rate for every flow")
        return unfairness(actual_bps, fair_bps)
    shares = at_instant(resolved, table=table)
    if alone_bps is None:
        return shares.unfairness(actual_bps)
    return unfairness(actual_bps, [float(each.share or 0) * alone_bps for each in shares.flows])


def _alone_bps(plan: _Plan, options: Mapping[str, Any]) -> float:
    """What one flow carries alone with static routes and the fewest forwarders, in bit/s."""
    fields = {"sources": 1, "sinks": 1, "forwarders": plan.areas.hops - 1}
    base = merged(plan.base, {"movement": {"areas": {**plan.areas.to_dict(), **fields}}})
    base = {**base, "routing": "static", "throttle": {**base.get("throttle", {}), "mode": "off"}}
    campaign = Campaign(
        name="range-alone",
        question="What does one flow carry alone?",
        base={**base, "traffic": {"flows": plan.flows_of(1)}},
        replications=plan.runs,
        first_seed=plan.first_seed,
        metrics=["tcp_throughput_bps"],
        where="range",
    )
    results = campaign.run(**options)
    _check_failures(results, range(campaign.point_count))
    return float(results.runs["tcp_throughput_bps"].mean())


def _border(plan: _Plan, count: int, sizes: Sequence[Size]) -> Border:
    is_open = len(sizes) == len(plan.sizes(count)) and all(size.admissible for size in sizes)
    return Border(count, plan.left_nodes(count), tuple(sizes), is_open)


def _with_load(plan: _Plan, borders: Sequence[Border], options: Mapping[str, Any]) -> tuple[Border, ...]:
    """The borders with what their networks carry with static routes."""
    reached = {border.flows: border.last for border in borders if border.last is not None}
    if not reached:
        return tuple(borders)
    levels = [plan.level(count, **{FORWARDERS: size.forwarders}) for count, size in reached.items()]
    campaign = plan.campaign().changed(
        name="range-static",
        question="How much do the flows at the borders carry with static routes?",
        base={**plan.base, "routing": "static"},
        factors={"flows": levels},
        metrics=["tcp_throughput_bps"],
    )
    results = campaign.run(**options)
    _check_failures(results, range(campaign.point_count))
    means = results.runs.groupby("flows")["tcp_throughput_bps"].mean().to_dict()
    return tuple(replace(border, without_routing_bps=means.get(border.flows)) for border in borders)


def write_csv(path: Path, found: Sequence[OperationRange]) -> None:
    """Writes one line a configuration.

    Raises:
        InputError: The file cannot be written.
    """
    import csv
    import io

    from manetlab.files import write_text

    rows = [row for each in found for row in each.rows()]
    target = io.StringIO()
    if rows:
        writer = csv.DictWriter(target, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_text(path, target.getvalue())


def flows_of_text(text: str, where: str = "--flows") -> list[int]:
    """Numbers of flows written as ``2..9``, ``4``, or ``2,4,6``.

    Raises:
        InputError: The text is none of these.
    """
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        ends = (first, last) if dots else (first, first)
        if not all(end.strip().isdecimal() and len(end.strip()) < 9 for end in ends):
            wanted = "numbers as in 2..9, or 2,4,6"
            raise InputError("not numbers of flows", where, shown(text), wanted)
        found.extend(range(int(ends[0]), min(int(ends[1]), MAX_NODES) + 1))
    return found
