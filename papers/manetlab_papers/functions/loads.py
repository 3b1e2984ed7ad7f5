"""Where along a load a protocol does best, and where it saturates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Measured, Outcome, stated
from manetlab_papers.quantities import Evaluator, average, difference, exact, levels_of, pool, quantity
from manetlab_papers.rules import Rule, kind
from manetlab_papers.samples import Values

DELIVERY = "cbr_delivery_fraction"


def _loads(evaluator: Evaluator, data: Data, common: Data | None = None) -> list[float]:
    """The loads that were run, or those that several campaigns have in `common`."""
    return list(evaluator.labels("load", {} if common is None else {"common": common}, [data]))


@quantity("at peak")
def at_peak(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """A total of every scenario at the load, of those in `common`, at which its mean is greatest."""
    lists = [
        evaluator.values({**data, "load": load}) for load in _loads(evaluator, data, arguments.get("common"))
    ]
    return max(lists, key=average)


@quantity("range of means")
def range_of_means(evaluator: Evaluator, data: Data, arguments: Data) -> float:
    """How far apart the means at several levels are: greatest less least, or the `ratio` of the two."""
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


def saturation_kbps(evaluator: Evaluator, data: Data, points: float, common: Data | None = None) -> float:
    """The first load beyond the peak whose delivery is so many points below it; infinite if none."""
    loads = _loads(evaluator, data, common)
    means = _means(evaluator, data, loads)
    best = means.index(max(means))
    below = [
        load
        for load, mean in list(zip(loads, means, strict=True))[best:]
        if 100 * (means[best] - mean) >= points
    ]
    return below[0] if below else math.inf


@quantity("saturation of scenarios")
def saturations_kbps(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The load at which each scenario saturates, beyond the one at which the ensemble delivers most.

    Infinite for a scenario that saturates at none of the loads: it does so above the largest, and how far
    above is not known. NaN for one that delivered nothing known at a load before.
    """
    loads = _loads(evaluator, data, arguments["common"])
    means = _means(evaluator, data, loads)
    beyond = loads[means.index(max(means)) :]
    delivery = [evaluator.values({**data, "measure": DELIVERY, "load": load}) for load in beyond]
    points = arguments["points_below_peak"]
    return [_saturation_of_one(beyond, of, points) for of in zip(*delivery, strict=True)]


def _saturation_of_one(loads: Sequence[float], shares: Sequence[float], points: float) -> float:
    for load, share in zip(loads, shares, strict=True):
        if math.isnan(share):
            return math.nan
        if 100 * (shares[0] - share) >= points:
            return load
    return math.inf


@quantity("below saturation")
def below_saturation(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """The mean of a total over the loads at which a protocol is not saturated, in every scenario."""
    end = saturation_kbps(evaluator, data, arguments["points_below_peak"], arguments["common"])
    return pool([evaluator.values({**data, "load": load}) for load in _loads(evaluator, data) if load < end])


@kind("saturates earlier")
def earlier(rule: Rule) -> Finding:
    """Each protocol saturates at a lower load in `of` than in `against`; the same load does not tell."""
    points, common = rule.data["points_below_peak"], rule.data["common"]
    found = [
        [saturation_kbps(rule.evaluator, side, points, common) for side in case.sides.values()]
        for case in rule.cases()
    ]
    text = "; ".join(f"{of:g} and {against:g} kb/s" for of, against in found)
    if any(of > against for of, against in found):
        return Finding(Outcome.CONTRADICTED, "later", text)
    outcome = Outcome.INCONCLUSIVE if any(of == against for of, against in found) else Outcome.REPRODUCED
    return Finding(outcome, "no later", text)


@kind("saturates later")
def later(rule: Rule) -> Finding:
    """Each protocol saturates at a load that is at least `by_percent` higher in `of` than in `against`.

    What is beyond the end of an axis is not known.
    """
    least = rule.data["by_percent"]
    factor, texts, held, broken = 1 + least / 100, [], [], []
    measured = []
    for case in rule.cases():
        here, there = (
            saturation_kbps(rule.evaluator, side, rule.data["points_below_peak"])
            for side in case.sides.values()
        )
        ends = [max(_loads(rule.evaluator, side)) for side in case.sides.values()]
        texts.append(f"{case.name}: {_bounded(here, ends[0])}, in the square {_bounded(there, ends[1])}")
        held.append(min(here, ends[0]) >= factor * there)
        broken.append(not math.isinf(here) and here < factor * min(there, ends[1]))
        if math.isfinite(here) and math.isfinite(there):
            higher = exact(100 * (here - there) / there)
            measured.append(Measured(higher, least, math.inf, case.name, " %"))
    outcome = Outcome.CONTRADICTED if any(broken) else Outcome.INCONCLUSIVE
    reason = f"it must be {least:g} % higher, with all of them"
    outcome = Outcome.REPRODUCED if all(held) else outcome
    return stated(Finding(outcome, reason, "; ".join(texts), measured=tuple(measured)))


def _bounded(kbps: float, end: float) -> str:
    return f"above {end:g}" if math.isinf(kbps) else f"{kbps:g}"


@kind("saturation")
def saturation(rule: Rule) -> Finding:
    """The loads at which protocols saturate, each in the claim's band."""
    found: dict[str, float] = {}
    end = 0.0
    for case in rule.cases():
        end = max(_loads(rule.evaluator, case.sides["of"]))
        found[case.name] = saturation_kbps(rule.evaluator, case.sides["of"], rule.data["points_below_peak"])
    low, high = rule.claim.band()
    text = "; ".join(f"{name}: {load:g}" for name, load in found.items())
    holds = all(low <= load <= high for load in found.values())
    outcome = Outcome.REPRODUCED if holds else Outcome.CONTRADICTED
    outside = ", ".join(name for name, load in found.items() if not low <= load <= high)
    reason = f"{outside}: outside {low:g} to {high:g} kb/s"
    # Of a protocol that saturates at none of the loads no place is known.
    measured = tuple(
        Measured(exact(load), low, high, name) for name, load in found.items() if math.isfinite(load)
    )
    text = text.replace("inf", f"above {end:g}") + " kb/s"
    return stated(Finding(outcome, reason, text, measured=measured))


@kind("crossing")
def crossing(rule: Rule) -> Finding:
    """A difference that must change its sign from minus to plus at a load within the claim's band."""
    [case] = rule.cases()
    loads = _loads(rule.evaluator, case.sides["of"])
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
    measured = tuple(Measured(exact(load), low, high) for load in crossed)
    return stated(Finding(outcome, "", f"{case.name} at {text}", measured=measured))
