"""Where along a load a protocol does best, and where it saturates."""

from __future__ import annotations

import math
from typing import Any

from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Outcome, stated
from manetlab_papers.quantities import Evaluator, Values, average, difference, levels_of, quantity
from manetlab_papers.rules import Rule, kind

DELIVERY = "cbr_delivery_fraction"


def _loads(evaluator: Evaluator, data: Data, arguments: Data) -> list[float]:
    """The loads that were run, and run in the other set-up if one is named (`common_with`)."""
    found = evaluator.labels("load", {}, [data])
    if "common_with" in arguments:
        other = {**data, **arguments["common_with"]}
        found = [load for load in found if load in evaluator.labels("load", {}, [other])]
    return list(found)


@quantity("at peak")
def at_peak(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """A total of every scenario at the load at which its mean is greatest."""
    lists = [evaluator.values({**data, "load": load}) for load in _loads(evaluator, data, arguments)]
    return max(lists, key=average)


@quantity("range of means")
def range_of_means(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """How far apart the means at several levels are: the greatest less the least, or as a `ratio` of the two."""
    loops = {name: wanted for name, wanted in arguments.items() if name != "as"}
    means = [average(evaluator.values({**data, **chosen})) for chosen in evaluator.loop(loops, data)]
    return max(means) / min(means) if arguments["as"] == "ratio" else max(means) - min(means)


@quantity("lost packets")
def lost_packets(evaluator: Evaluator, data: Data, _arguments: Data) -> Values:
    """CBR packets of every scenario that were dropped, or came too late to count."""
    levels = levels_of(data)
    sent, received = (evaluator.runs.of_flows(data["runs"], each, levels) for each in ("sent", "received"))
    missing = [sum(a) - sum(b) for a, b in zip(sent, received, strict=True)]
    return list(map(max, missing, evaluator.runs.dropped(data["runs"], "cbr", None, levels)))


def _means(evaluator: Evaluator, data: Data, loads: list[float]) -> list[float]:
    return [average(evaluator.values({**data, "measure": DELIVERY, "load": load})) for load in loads]


def saturation_kbps(evaluator: Evaluator, data: Data, points: float) -> float:
    """The first load beyond the peak whose delivery is so many points below it; infinite if none."""
    loads = _loads(evaluator, data, {})
    means = _means(evaluator, data, loads)
    best = means.index(max(means))
    below = [
        load
        for load, mean in list(zip(loads, means, strict=True))[best:]
        if 100 * (means[best] - mean) >= points
    ]
    return below[0] if below else math.inf


@kind("saturation")
def saturation(rule: Rule) -> Finding:
    """The loads at which protocols saturate, each in the claim's band."""
    found: dict[str, float] = {}
    end = 0.0
    for case in rule.cases():
        end = max(_loads(rule.evaluator, case.sides["of"], {}))
        found[case.name] = saturation_kbps(rule.evaluator, case.sides["of"], rule.data["points_below_peak"])
    low, high = rule.claim.band()
    text = "; ".join(f"{name}: {load:g}" for name, load in found.items())
    holds = all(low <= load <= high for load in found.values())
    outcome = Outcome.REPRODUCED if holds else Outcome.CONTRADICTED
    return stated(Finding(outcome, "", text.replace("inf", f"above {end:g}")))


@kind("crossing")
def crossing(rule: Rule) -> Finding:
    """A difference that must change its sign from minus to plus at a load within the claim's band."""
    [case] = rule.cases()
    loads = _loads(rule.evaluator, case.sides["of"], {})
    differences = [
        difference(*(rule.evaluator.values({**side, "load": load}) for side in case.sides.values()))
        for load in loads
    ]
    low, high = rule.claim.band()
    crossed = [
        (a + (b - a) * before.mean / (before.mean - after.mean))
        for a, b, before, after in zip(loads, loads[1:], differences, differences[1:], strict=False)
        if before.mean < 0 <= after.mean
    ]
    within = [each for load, each in zip(loads, differences, strict=True) if low <= load <= high]
    one_sign = all(each.low > 0 for each in within) or all(each.high < 0 for each in within)
    outcome = Outcome.CONTRADICTED if one_sign else Outcome.INCONCLUSIVE
    if any(low <= load <= high for load in crossed):
        outcome = Outcome.REPRODUCED
    text = ", ".join(
        f"{load:g}: {1000 * each.mean:+.0f} ms" for load, each in zip(loads, differences, strict=True)
    )
    return stated(Finding(outcome, "", f"{case.name} at {text}"))
