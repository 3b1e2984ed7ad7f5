"""How a sender's timeout grows from one to the next where nothing arrives."""

from __future__ import annotations

from manetlab.tables import Table
from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Outcome, joined, stated
from manetlab_papers.quantities import Evaluator, levels_of
from manetlab_papers.rules import Rule, kind
from manetlab_papers.tables import TABLES


def multipliers(evaluator: Evaluator, data: Data) -> list[float]:
    """The RTO after each of the first timeouts, as a multiple of the first."""
    levels = levels_of(data)
    of_flow, totals = (
        evaluator.runs.series(data["runs"], name, levels)[0] for name in ("tcp_flows", "totals")
    )
    rto_s = [float(row["rto_s"]) for row in of_flow]
    timeouts = [int(row["tcp_timeouts"]) for row in totals]
    return [after / rto_s[0] for after, count in zip(rto_s, timeouts, strict=True) if count]


@kind("timeout multipliers")
def exact(rule: Rule) -> Finding:
    """The first timeouts of each sender are the multiples of the first that are `expected`, exactly."""
    found = {}
    for case in rule.cases():
        count = len(rule.data["expected"][case.name])
        found[case.name] = multipliers(rule.evaluator, case.sides["of"])[:count]
    outcome = Outcome.REPRODUCED if found == rule.data["expected"] else Outcome.CONTRADICTED
    text = joined((name, ", ".join(f"{value:g}" for value in values)) for name, values in found.items())
    return stated(Finding(outcome, "", text))


def table(evaluator: Evaluator, data: Data) -> list[Table]:
    """The multipliers along the axis."""
    made = Table(data["title"], ("timeout", "multiple of the first RTO"))
    found = multipliers(evaluator, data["at"])
    for number in range(data["up_to"]):
        made.add(str(number + 1), f"{found[number]:.4g}")
    return [made]


TABLES["timeout multipliers"] = table
