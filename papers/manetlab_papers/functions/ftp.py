"""FTP transfers beside CBR flows: extremes over scenarios, spreads over protocols, ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from manetlab.stats import Interval
from manetlab.tables import Table
from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Measured, Outcome, outside_p, pair, stated, together
from manetlab_papers.quantities import Evaluator, average, difference, mean, present, quantity, shown
from manetlab_papers.rules import Case, Rule, judge, kind
from manetlab_papers.samples import Values
from manetlab_papers.tables import TABLES


@quantity("spread")
def spread(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """How far apart values at some levels (`over`) are in every scenario, in parts of their mean."""
    lists = [evaluator.values({**data, **chosen}) for chosen in evaluator.loop(arguments["over"], data)]
    return [(max(each) - min(each)) / (sum(each) / len(each)) for each in zip(*lists, strict=True)]


@kind("ends")
def ends(rule: Rule) -> Finding:
    """The least and the greatest value over scenarios (`ends`), each in its band.

    A value beyond the outer end of its band contradicts. One that falls short of it does so only
    if there were `enough` scenarios: those of fewer lie less far out.
    """
    [case] = rule.cases()
    [values] = present(rule.values(case)["of"])
    found = {name: {"min": min, "max": max}[name](values) for name in rule.data.get("ends", ("min", "max"))}
    outcome = Outcome.REPRODUCED
    for name, value in found.items():
        low, high = rule.claim.band_of(name)
        beyond = value < low if name == "min" else value > high
        if not low <= value <= high:
            told = beyond or len(values) >= rule.data["enough"]
            outcome = (
                Outcome.CONTRADICTED if told or outcome is Outcome.CONTRADICTED else Outcome.INCONCLUSIVE
            )
    return stated(Finding(outcome, "", " to ".join(f"{value:.4g}" for value in found.values())))


@kind("diminishing")
def diminishing(rule: Rule) -> Finding:
    """Along numbers each one more adds less at the end than at the beginning, by the means alone."""
    [(factor, places)] = rule.data["along"].items()
    found = []
    for case in rule.cases():
        along = [rule.evaluator.values({**case.sides["of"], factor: place}) for place in places]
        first, last = (
            difference(along[n], along[n - 1]).mean / (places[n] - places[n - 1])
            for n in (1, len(places) - 1)
        )
        outcome = Outcome.REPRODUCED if last < first else Outcome.INCONCLUSIVE
        found.append((case.name, Finding(outcome, "the means are so or not", f"{first:.4g}, {last:.4g}")))
    return together(found)


@kind("ranked")
def ranked(rule: Rule) -> Finding:
    """Systems by the ranks that the claim prints.

    Strict pairs are judged as any order, printed ties must be `within` so many percent.
    """
    values = {case.name: rule.values(case)["of"] for case in rule.cases()}
    rank = dict(zip(rule.claim.at, rule.claim.value, strict=True))
    found = []
    for a, b in combinations(rule.claim.at, 2):
        first, second = (a, b) if rank[a] <= rank[b] else (b, a)
        if rank[a] == rank[b]:
            found.append((f"{first} = {second}", _level(values[first], values[second], rule.data["within"])))
        else:
            found.append((f"{first} > {second}", pair(values[first], values[second], rule.tie_percent)))
    text = ", ".join(f"{name} {shown(mean(each))}" for name, each in values.items())
    return stated(replace(together(found), ours=f"{text} kb/s"))


def _level(first: Values, second: Values, within: float) -> Finding:
    """Two that are printed as level: no further apart than that, in percent of the greater."""
    first, second = present(first, second)
    percent = difference(first, second).scaled(100 / max(average(first), average(second)))
    measured, text = (Measured(percent, -within, within, unit=" %"),), f"{percent.mean:+.1f} %"
    if abs(percent.mean) <= within:
        return Finding(Outcome.REPRODUCED, f"a tie ({text})", measured=measured)
    if percent.low > within or percent.high < -within:
        p = outside_p(percent, -within, within)
        return Finding(Outcome.CONTRADICTED, f"no tie ({text})", p=p, measured=measured)
    return Finding(
        Outcome.INCONCLUSIVE, f"not told from a tie within {within:g} % ({text})", measured=measured
    )


@kind("best of all")
def best(rule: Rule) -> Finding:
    """One case (`which`) has the best mean rank over measures, and none is better in all of them.

    `signs` says of each measure whether more is better (+1) or less (-1). Another that is better in all
    of them contradicts; another with the same mean rank leaves it open.
    """
    measures: Mapping[str, int] = rule.data["signs"]
    scores = {
        case.name: [sign * _mean(rule, case, measure).mean for measure, sign in measures.items()]
        for case in rule.cases()
    }
    own = scores[rule.data["which"]]

    def rank(of: list[float]) -> float:
        places = range(len(of))
        return sum(1 + sum(other[n] > of[n] for other in scores.values()) for n in places) / len(of)

    outcome = Outcome.INCONCLUSIVE
    if any(all(theirs > ours for theirs, ours in zip(other, own, strict=True)) for other in scores.values()):
        outcome = Outcome.CONTRADICTED
    elif all(rank(own) < rank(other) for other in scores.values() if other is not own):
        outcome = Outcome.REPRODUCED
    text = ", ".join(f"{name}: mean rank {rank(each):.2g}" for name, each in scores.items())
    reason = (
        "another is better in all" if outcome is Outcome.CONTRADICTED else "another has as good a mean rank"
    )
    return stated(Finding(outcome, reason, text))


def _mean(rule: Rule, case: Case, measure: str) -> Interval:
    of = {"of": {**case.sides["of"], "measure": measure}}
    return mean(rule.values(replace(case, sides=of))["of"])


def expectations(evaluator: Evaluator, data: Data) -> list[Table]:
    """What claims on one load would say of another (`at`), which the paper does not say."""
    made = Table(data["title"], ("claim", "statement", "ours", "outcome"), text_columns=4)
    for name in data["claims"]:
        claim = evaluator.ledger.claims[name]
        rule = {**claim.rule, "at": {**claim.rule.get("at", {}), **data["at"]}}
        verdict = judge(replace(claim, rule=rule), evaluator)
        made.add(name, claim.statement, verdict.ours, str(verdict.outcome))
    made.notes.extend(data["notes"])
    return [made]


TABLES["expectations"] = expectations
