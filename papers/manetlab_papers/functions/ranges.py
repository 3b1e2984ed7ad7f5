"""Osipov and Tschudin's measures: unfairness, shares, horizons, admissible ranges, hidden transmissions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from manetlab import operation_range, shares
from manetlab import stats as measures
from manetlab.stats import Interval
from manetlab.tables import Table
from manetlab_papers.campaigns import every
from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Outcome, stated
from manetlab_papers.quantities import Evaluator, average, levels_of, mean, present, quantity, shown
from manetlab_papers.rules import Rule, kind
from manetlab_papers.samples import NotRun, Values
from manetlab_papers.tables import TABLES

UNSMOOTHNESS = "tcp_unsmoothness_max"
NOTHING = 1e9
"""Stands in for the unsmoothness of a run in which a flow got nothing: beyond any bound."""


def _beside(data: Data, *names: str) -> dict[str, Any]:
    """A quantity without some of its levels."""
    return {key: value for key, value in data.items() if key not in names}


def _alone_bps(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """What one flow carries alone in the network of a quantity, mean over the runs, in bit/s."""
    kept = {name: data[name] for name in arguments.get("same", ()) if name in data}
    return average(evaluator.values({**kept, **arguments["alone"], "measure": "tcp_throughput_bps"}))


@quantity("unfairness")
def unfairness(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """Equation 2 in every run: all flows meet, so the fair rate is an equal part of what one carries alone.

    `alone` is the quantity of the runs with one flow; levels that it shares with the others are in `same`.
    """
    whole_bps = _alone_bps(evaluator, data, arguments)
    flows = evaluator.runs.of_flows(data["runs"], "throughput_bps", levels_of(data), "tcp")
    return [measures.unfairness(each, [whole_bps / len(each)] * len(each)) for each in flows]


@quantity("range over runs")
def range_over_runs(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The greatest less the least value over the runs, one for each place of a loop (`along`)."""
    found = []
    for place in evaluator.loop(arguments["along"], {**data, **arguments["of"]}):
        [values] = present(evaluator.values({**data, **arguments["of"], **place}))
        found.append(max(values) - min(values))
    return found


@quantity("variation of means")
def variation(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """Coefficient of variation of the means of several quantities."""
    means = [average(evaluator.values({**data, **each})) for each in arguments["of"]]
    middle = sum(means) / len(means)
    deviations = sum((each - middle) ** 2 for each in means) / (len(means) - 1)
    return math.sqrt(deviations) / middle


@quantity("horizon")
def horizon(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """Equation 3: how many flows share a region so that a flow still has `least_bps`, from the mean alone."""
    alone_bps = average(evaluator.values({**data, "measure": "tcp_throughput_bps"}))
    return float(measures.effective_horizon(alone_bps, arguments["least_bps"]))


@quantity("horizon of a run")
def horizon_of_run(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The same from every run's throughput."""
    values = evaluator.values({**data, "measure": "tcp_throughput_bps"})
    return [float(measures.effective_horizon(each, arguments["least_bps"])) for each in values]


# Admissible ranges, from a grid of flows and forwarders.


def _judged(evaluator: Evaluator, data: Data, bounds: Data) -> bool:
    """Whether a configuration is admissible: see `manetlab.operation_range`."""
    worst = [NOTHING if math.isnan(each) else each for each in _worst(evaluator, data)]
    unfair = unfairness(evaluator, data, bounds)
    return bool(average(worst) < bounds["unsmoothness"] and max(unfair) < bounds["unfairness"])


def _worst(evaluator: Evaluator, data: Data) -> Values:
    """The unsmoothness of each run's worst flow."""
    return evaluator.values({**_beside(data, "with"), "measure": UNSMOOTHNESS})


def _sizes(evaluator: Evaluator, data: Data, bounds: Data) -> list[dict[str, Any]]:
    """The numbers of forwarders that were run, the least first."""
    return _places(evaluator, data, {bounds["size"]: {}})


def _places(evaluator: Evaluator, data: Data, along: Data) -> list[dict[str, Any]]:
    """The levels of a loop that were run."""
    rest = _beside(data, *along)
    return list(every({name: list(evaluator.labels(name, wanted, [rest])) for name, wanted in along.items()}))


def _border(evaluator: Evaluator, data: Data, bounds: Data) -> int | None:
    """Forwarders of the last admissible network before the first that is not; None if there is none."""
    last = None
    for size in _sizes(evaluator, data, bounds):
        if not _judged(evaluator, {**data, **size}, bounds):
            break
        last = size[bounds["size"]]
    return last


def _nodes(flows: int, forwarders: int | None) -> float:
    """Nodes of a network with different sources and sinks; none has no range."""
    return 0.0 if forwarders is None else float(2 * flows + forwarders)


@quantity("right borders")
def right_borders(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The right border in nodes for each number of flows (`along`); 0 where there is no range."""
    places = _places(evaluator, _beside(data, arguments["size"]), arguments["along"])
    return [_nodes(place["flows"], _border(evaluator, {**data, **place}, arguments)) for place in places]


@quantity("greatest right border")
def greatest_border(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """The greatest of the right borders, in nodes."""
    return max(right_borders(evaluator, data, arguments))


@quantity("right border")
def right_border(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """The right border for one number of flows, in nodes; 0 where there is no range."""
    return _nodes(data["flows"], _border(evaluator, data, arguments))


@quantity("admissible networks")
def admissible_networks(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """How many of the configurations that were run are admissible."""
    places = _places(evaluator, _beside(data, arguments["size"]), arguments["along"])
    listed = [{**data, **place} for place in places]
    return float(
        sum(
            _judged(evaluator, {**each, **size}, arguments)
            for each in listed
            for size in _sizes(evaluator, each, arguments)
        )
    )


@quantity("least unsmoothness")
def least_unsmoothness(evaluator: Evaluator, data: Data, arguments: Data) -> Interval:
    """The unsmoothness of the worst flow in the configuration in which it is least."""
    found: list[Interval] = []
    for place in _places(evaluator, _beside(data, arguments["size"]), arguments["along"]):
        sizes = _sizes(evaluator, {**data, **place}, arguments)
        found.extend(mean(_worst(evaluator, {**data, **place, **size})) for size in sizes)
    return min(found, key=lambda each: each.mean)


@quantity("worst unfairness")
def worst_unfairness(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """The unfairness of the run in which it is greatest."""
    return max(unfairness(evaluator, data, arguments))


@quantity("routing load at the border")
def load_at_border(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """Equivalent routing load in every run, in percent: at the right border, or in the smallest network.

    `without` is the quantity of the runs with static routes.
    """
    border = _border(evaluator, data, arguments)
    sizes = _sizes(evaluator, data, arguments)
    place = sizes[0] if border is None else {arguments["size"]: border}
    total = evaluator.values({**data, **place, "measure": "tcp_throughput_bps"})
    kept = {name: data[name] for name in ("flows",) if name in data}
    whole = average(evaluator.values({**kept, **arguments["without"], "measure": "tcp_throughput_bps"}))
    return [100 * measures.equivalent_routing_load(each, whole) for each in total]


@quantity("floods after the warm-up")
def floods(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """Routing packets after the warm-up, of which every node sends one in a flood, in every run."""
    per_s = evaluator.values({**data, "measure": "routing_packets_per_s"})
    nodes = _nodes(data["flows"], data[arguments["size"]])
    return [each * arguments["measured_s"] / nodes for each in per_s]


@kind("admissible")
def admissible(rule: Rule) -> Finding:
    """A network of the claim's number of `nodes` is admissible: the bounds are arguments of `of`."""
    data = rule.side("of", {})
    holds = rule.data["nodes"] == rule.claim.value[0] and _judged(rule.evaluator, data, data["with"])
    worst = mean(_worst(rule.evaluator, data))
    unfair = max(unfairness(rule.evaluator, data, data["with"]))
    text = f"{rule.data['nodes']} nodes, unsmoothness {shown(worst)}, worst unfairness {unfair:.3f}"
    return stated(Finding(Outcome.REPRODUCED if holds else Outcome.CONTRADICTED, "", text))


# What is not measured.


@kind("max-min shares")
def max_min_shares(rule: Rule) -> Finding:
    """The shares of abstract `regions`, by progressive filling, are those of the claim."""
    found = shares.max_min(rule.data["regions"]).shares
    values = dict(zip(rule.claim.at, rule.claim.value, strict=True))
    holds = {name: float(share) for name, share in found.items()} == values
    text = ", ".join(f"{name} {Fraction(share)}" for name, share in found.items())
    return stated(Finding(Outcome.REPRODUCED if holds else Outcome.CONTRADICTED, "", text))


@kind("constant")
def constant(rule: Rule) -> Finding:
    """Numbers of `manetlab.operation_range` and `manetlab.stats` are those that the rule names."""
    bounds = operation_range.Bounds()
    ours: Mapping[str, float] = {
        "least useful throughput, kb/s": measures.LEAST_USEFUL_BPS / 1e3,
        "bound on unsmoothness": bounds.unsmoothness,
        "bound on unfairness": bounds.unfairness,
        "runs": operation_range.RUNS,
    }
    named = {name: ours[name] for name in rule.data["values"]}
    holds = named == rule.data["values"]
    text = ", ".join(f"{name} {value:g}" for name, value in named.items())
    return stated(Finding(Outcome.REPRODUCED if holds else Outcome.CONTRADICTED, "", text))


@kind("hidden transmissions")
def hidden_transmissions(rule: Rule) -> Finding:
    """Of nodes at `places`, those that reach the `receiver` and that the `sender` cannot hear (`range_m`)."""
    sender, receiver, range_m = (rule.data[name] for name in ("sender", "receiver", "range_m"))
    places = rule.data["places"]
    hidden = [each for each in places if math.dist(each, sender) > range_m >= math.dist(each, receiver)]
    holds = [float(len(places)), float(len(hidden))] == list(rule.claim.value)
    text = f"{len(places)} transmissions, {len(hidden)} of them hidden from the sender"
    return stated(Finding(Outcome.REPRODUCED if holds else Outcome.CONTRADICTED, "", text))


def ranges(evaluator: Evaluator, data: Data) -> list[Table]:
    """Unsmoothness, unfairness and total of every configuration, system by system."""
    arguments = data["with"]
    table = Table(
        data["title"],
        ("system, flows, nodes", "unsmoothness", "worst unfairness", "total, kb/s", "admissible"),
    )
    common = evaluator.table(data["at"])
    for system in data["systems"]:
        of_system = {**common, "system": system}
        try:
            places = _places(evaluator, of_system, data["along"])
        except NotRun:
            continue
        for place in places:
            for size in _sizes(evaluator, {**of_system, **place}, arguments):
                chosen = {**of_system, **place, **size}
                nodes = _nodes(place["flows"], size[arguments["size"]])
                total = evaluator.values({**chosen, "measure": "tcp_throughput_bps", "times": 1e-3})
                table.add(
                    f"{system}, {place['flows']}, {nodes:.0f}",
                    shown(mean(_worst(evaluator, chosen)), digits=3),
                    f"{max(unfairness(evaluator, chosen, arguments)):.3f}",
                    shown(mean(total)),
                    "yes" if _judged(evaluator, chosen, arguments) else "no",
                )
    table.notes.extend(data.get("notes", []))
    return [table] if table.rows else []


TABLES["ranges"] = ranges
