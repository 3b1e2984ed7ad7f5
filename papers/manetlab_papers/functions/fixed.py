"""What fixed topologies show: fairness among flows, spreads, proportion, correlation."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from manetlab.stats import Interval, jain
from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Measured, Outcome, level, stated, together
from manetlab_papers.quantities import Evaluator, TooFew, average, difference, levels_of, quantity, ratio
from manetlab_papers.rules import Rule, kind
from manetlab_papers.samples import Values


@quantity("jain")
def of_jain(evaluator: Evaluator, data: Data, _arguments: Data) -> Values:
    """Jain's index of the flows' throughput in every run."""
    return [jain(each) for each in evaluator.runs.of_flows(data["runs"], "throughput_bps", levels_of(data))]


@quantity("share of the last flow")
def last_share(evaluator: Evaluator, data: Data, _arguments: Data) -> Values:
    """What part of the flows' throughput the last one has, in every run."""
    flows = evaluator.runs.of_flows(data["runs"], "throughput_bps", levels_of(data))
    return [each[-1] / sum(each) for each in flows]


@quantity("spread of means")
def spread(evaluator: Evaluator, data: Data, arguments: Data) -> Interval:
    """(max − min) / max of the means at several levels, in percent, with its paired interval."""
    lists = [evaluator.values({**data, **chosen}) for chosen in evaluator.loop(arguments, data)]
    found = ratio(min(lists, key=average), max(lists, key=average))
    return Interval.between(100 * (1 - found.mean), 100 * (1 - found.high), 100 * (1 - found.low), found.n)


@kind("hardly rises")
def hardly_rises(rule: Rule) -> Finding:
    """No mean along an axis is above its predecessor by more than `within`."""
    [case] = rule.cases()
    along = rule.along(case)
    steps = [
        ("", level(difference(later, earlier), -math.inf, rule.data["within"], must_lie=True))
        for earlier, later in pairwise(along)
    ]
    found = together(steps)
    return replace(found, ours=", ".join(f"{average(each):.3f}" for each in along))


@kind("proportional")
def proportional(rule: Rule) -> Finding:
    """R² of a line through the origin is `above` a bound, over the means along one factor (`to`)."""
    [(factor, labels)] = rule.data["to"].items()
    of = rule.side("of", {})
    means = {x: average(rule.evaluator.values({**of, factor: x})) for x in labels}
    fit = through_origin(means)
    outcome = Outcome.REPRODUCED if fit > rule.data["above"] else Outcome.CONTRADICTED
    return stated(Finding(outcome, "", f"R² {fit:.4f}"))


def through_origin(points: dict[float, float]) -> float:
    """R² of a line through the origin: 1 − residuals² / deviations² from the mean."""
    slope = sum(x * y for x, y in points.items()) / sum(x * x for x in points)
    mean = sum(points.values()) / len(points)
    residual = sum((y - slope * x) ** 2 for x, y in points.items())
    return 1 - residual / sum((y - mean) ** 2 for y in points.values())


@kind("correlation")
def correlation(rule: Rule) -> Finding:
    """Two quantities over all cases' scenarios correlate `below` a bound, by Fisher's transformation.

    With `means` over the cases, each with its means; a quick reproduction may have run too few of them.
    """
    from scipy.stats import pearsonr

    lists = [list(rule.values(case).values()) for case in rule.cases()]
    means = rule.data.get("means", False)
    rows = [
        row
        for each in lists
        for row in ([tuple(map(average, each))] if means else zip(*each, strict=True))
        if not any(map(math.isnan, row))
    ]
    if len(rows) < 4:
        raise TooFew(f"{len(rows)} points")
    found = pearsonr(*zip(*rows, strict=True))
    ends, bound = found.confidence_interval(0.95), rule.data["below"]
    outcome, p = Outcome.INCONCLUSIVE, None
    if not ends.low <= bound <= ends.high:
        outcome = Outcome.REPRODUCED if ends.high < bound else Outcome.CONTRADICTED
        # A perfect correlation is infinitely far from any other.
        own = math.atanh(found.statistic) if abs(found.statistic) < 1 else math.inf
        p = math.erfc(abs(own - math.atanh(bound)) * math.sqrt(len(rows) - 3) / math.sqrt(2))
    of = f"{len(rows)} {'points' if means else 'scenarios'}"
    interval = Interval.between(found.statistic, ends.low, ends.high, len(rows))
    measured = (Measured(interval, -math.inf, bound),)
    text = f"{found.statistic:.2f}, 95 % interval {ends.low:.2f} to {ends.high:.2f}, {of}"
    return stated(Finding(outcome, f"it must be below {bound:g}", text, p=p, measured=measured))
