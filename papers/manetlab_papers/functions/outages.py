"""Route failures: the capacity that a scenario has, the scenarios of the lowest values, and stalls."""

from __future__ import annotations

import math
from functools import cache

from manetlab_papers.campaigns import scenario_of
from manetlab_papers.functions.capacity import over_time_mbps
from manetlab_papers.ledger import Data, load
from manetlab_papers.outcomes import Finding, Outcome, stated
from manetlab_papers.quantities import Evaluator, levels_of, quantity
from manetlab_papers.rules import Rule, kind
from manetlab_papers.samples import Values


@quantity("mean capacity")
def mean_capacity(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The mean capacity between the ends of the first flow in every scenario of a campaign, in Mb/s.

    Movement and end points are the same under every load and technique, so that the campaign `of` may
    be another than that of the runs.
    """
    numbers = evaluator.runs.replications(data["runs"], levels_of(data))
    return [_capacity(arguments["of"], number) for number in numbers]


@cache
def _capacity(campaign: str, replication: int) -> float:
    ledger = load()
    scenario = scenario_of(ledger, campaign, replication)
    flow = scenario.resolve().flows[0]
    series = over_time_mbps(ledger, scenario, flow["src"], flow["dst"])
    return sum(series) / len(series)


@quantity("in the lowest tenth")
def in_lowest_tenth(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """A quantity in the tenth of the scenarios with the lowest values of another (`by`); NaN in the others.

    There are two at least, so that there is an interval.
    """
    by, values = evaluator.values(arguments["by"]), evaluator.values(data)
    lowest = sorted(range(len(by)), key=by.__getitem__)[: max(2, round(len(by) / 10))]
    return [value if place in lowest else math.nan for place, value in enumerate(values)]


@kind("some scenario")
def some_scenario(rule: Rule) -> Finding:
    """There is a scenario in which several quantities (`where`) are as great as they should be.

    Each is `at_least` so much, or `below_part` of the first. If there is none, that contradicts only where
    `enough` scenarios were run. Shown are the greatest of such scenarios, or of all.
    """
    lists = []
    for each in rule.data["where"]:
        of = {key: value for key, value in each.items() if key not in ("at_least", "below_part")}
        lists.append(rule.evaluator.values({**rule.side("of", {}), **of}))
    rows = [row for row in zip(*lists, strict=True) if not any(map(math.isnan, row))]
    found = [row for row in rows if _holds(rule, row)]
    outcome = Outcome.REPRODUCED
    if not found:
        outcome = Outcome.CONTRADICTED if len(rows) >= rule.data["enough"] else Outcome.INCONCLUSIVE
    greatest = ", ".join(f"{value:.0f}" for value in max(found or rows))
    return stated(Finding(outcome, "", f"{len(found)} of {len(rows)} scenarios, the greatest {greatest}"))


def _holds(rule: Rule, row: tuple[float, ...]) -> bool:
    return all(
        value >= condition.get("at_least", -math.inf)
        and value < condition.get("below_part", math.inf) * row[0]
        for value, condition in zip(row, rule.data["where"], strict=True)
    )
