"""The capacity of a connection: the printed table over hops, and what of it chains reproduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.capacity import capacity_over_time
from manetlab.scenario import Scenario
from manetlab.tables import Table
from manetlab_papers.campaigns import scenario_of
from manetlab_papers.ledger import Data, Ledger
from manetlab_papers.outcomes import Finding, Measured, Outcome, at_least_p, outside_p, stated
from manetlab_papers.quantities import Evaluator, mean
from manetlab_papers.rules import Rule, kind
from manetlab_papers.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from manetlab.stats import Interval

PRINTED = "D1-01"
"""The claim that prints the throughput of one TCP connection over 1, 2, … hops, in Mb/s."""


def over_time_mbps(ledger: Ledger, scenario: Scenario, src: int, dst: int) -> list[float]:
    """The capacity between two nodes from 0 to the end of a scenario, ten times a second, in Mb/s."""
    # The unit is the table's.
    [series] = capacity_over_time(scenario, [(src, dst)], table_bps=ledger.claim(PRINTED).value).bps
    return series


@kind("scaled by the first")
def scaled(rule: Rule) -> Finding:
    """At least `at_least` means lie in their bands after all were scaled alike.

    The factor is the printed first element in parts of ours, as far as `factor` allows.
    """
    means = [mean(rule.evaluator.values(case.sides["of"])) for case in rule.cases()]
    wanted = rule.claim.value[0] / means[0].mean
    factor = min(max(wanted, rule.data["factor"]["lo"]), rule.data["factor"]["hi"])
    inside = sum(low <= factor * each.mean <= high for each, (low, high) in _banded(rule, means))
    meeting = sum(
        low <= factor * each.high and factor * each.low <= high for each, (low, high) in _banded(rule, means)
    )
    outcome, p = Outcome.INCONCLUSIVE, None
    if inside >= rule.data["at_least"]:
        outcome = Outcome.REPRODUCED
    elif meeting < rule.data["at_least"]:
        outcome = Outcome.CONTRADICTED
        ps = [outside_p(each.scaled(factor), *band) for each, band in _banded(rule, means)]
        p = at_least_p(ps, len(ps) - rule.data["at_least"] + 1, len(ps))
    text = f"{inside} of {len(means)} within their bands after scaling all by {factor:.3g}"
    reason = f"at least {rule.data['at_least']} of {len(means)} must lie in their bands"
    measured = tuple(Measured(each.scaled(factor), *band) for each, band in _banded(rule, means))
    return stated(Finding(outcome, reason, text, p=p, measured=measured))


def _banded(rule: Rule, means: Sequence[Interval]) -> list[tuple[Interval, tuple[float, float]]]:
    return [(each, rule.claim.band(place)) for place, each in enumerate(means)]


@kind("capacity of a chain")
def of_chain(rule: Rule) -> Finding:
    """Along a chain the capacity is the printed value of its hops, the last beyond, 0 without a path."""
    nodes, spacing_m = rule.data["nodes"], rule.data["spacing_m"]
    places = [[spacing_m * place, 0.0] for place in range(nodes)]
    alone = [2 * spacing_m * nodes, 0.0]
    scenario = Scenario.build(
        {"movement": {"positions": [*places, alone]}, "traffic": {"flows": []}, "duration_s": 1.0}
    )
    printed = rule.evaluator.ledger.claim(PRINTED).value
    found = [set(over_time_mbps(rule.evaluator.ledger, scenario, 0, place)) for place in range(1, nodes + 1)]
    wanted = [{printed[min(hops, len(printed)) - 1]} for hops in range(1, nodes)] + [{0.0}]
    text = ", ".join(f"{value:g}" for each in found for value in each)
    low, high = rule.claim.band()
    within = all(low <= value <= high for each in found for value in each)
    outcome = Outcome.REPRODUCED if found == wanted and within else Outcome.CONTRADICTED
    return stated(Finding(outcome, "", f"over 1 to {nodes - 1} hops and without a path it is {text} Mb/s"))


def shares(evaluator: Evaluator, data: Data) -> list[Table]:
    """How long the capacity between the first two nodes of a campaign's scenario has which value."""
    scenario = scenario_of(evaluator.ledger, data["campaign"])
    series = over_time_mbps(evaluator.ledger, scenario, 0, 1)
    table = Table(data["title"], ("Mb/s", "share of time"))
    for value in sorted(set(series), reverse=True):
        table.add(f"{value:g}", f"{100 * series.count(value) / len(series):.1f} %")
    table.notes.append(f"Mean capacity {sum(series) / len(series):.3f} Mb/s.")
    return [table]


TABLES["capacity over a run"] = shares
