"""Judges a claim: the evidence against the ledger's band, by the rule that the ledger names.

The ledger words its rules; most claims share a few of them, and each of those is a function here. A claim's
tolerance is read sentence by sentence: the first, if it is that of a shared rule, names the rule, and every
other is a further condition, which the evidence must answer. A tolerance that opens with no shared rule is
carried out by the experiment itself (`Ruled`) and shown beside its outcome.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from manetlab.papers.evidence import (
    Change,
    Evidence,
    Level,
    Order,
    Pairs,
    Ruled,
    Single,
    Trend,
    Trends,
    Untested,
    shown,
)
from manetlab.papers.ledger import Claim
from manetlab.papers.wording import number
from manetlab.stats import Interval, mean_interval, paired_interval


class Outcome(StrEnum):
    """What is said of a claim."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Verdict:
    """The outcome of one claim.

    Attributes:
        claim: The claim.
        outcome: What is said of it.
        ours: What was found, in the claim's unit.
        reason: Why.
        part: Which part of the claim was tested; empty for all of it.
    """

    claim: Claim
    outcome: Outcome
    ours: str
    reason: str
    part: str = ""


Finding = tuple[Outcome, str]
"""An outcome and its reason."""

_ORDER = r"Order of ensemble means must agree; .*"
_TREND = r"Slope sign over the stated range must agree \(.*"
RULES: dict[type, str] = {
    Level: r"\S+ CI of the ensemble mean must overlap \[lo, hi\]\."
    r"|Each (ratio must lie in|within) \[lo, hi\]( points)?\."
    r"|Jain index must lie in \[lo, hi\];.*"
    r"|Ratio CI must overlap \[lo, hi\]\.",
    Change: r"Sign of the paired mean change must agree and its \S+ CI must overlap \[lo, hi\] %\."
    r"|Printed as not significant: CI must overlap \[lo, hi\] %; sign is free\."
    r"|No material effect: \S+ CI of the paired change must overlap \[lo, hi\] and must not lie wholly "
    r"outside it\."
    r"|(Ratio CI must overlap|CI overlaps) \[lo, hi\]( points)?\.",
    Single: r"Single scenario that is not available: .*",
    Order: _ORDER,
    Pairs: _ORDER,
    Trend: _TREND,
    Trends: _TREND,
}
"""The sentence that names a shared rule, by the kind of evidence that it judges."""
NAMES = {_ORDER: "the order", _TREND: "a rise or fall as said"}
"""What the rules are called that have no band."""
REMARKS = ("Unusual:", "Ensemble of at least", "Numbers ", "Upper end ")
"""How sentences of a tolerance open that explain and ask for nothing."""


def judge(claim: Claim, evidence: Evidence | Untested, tie: str) -> Verdict:
    """The verdict on a claim.

    Args:
        claim: The claim.
        evidence: What the runs say.
        tie: The ledger's rule of ties.

    Raises:
        ValueError: The evidence does not answer what the claim's tolerance asks.
    """
    if isinstance(evidence, Untested):
        return Verdict(claim, Outcome.NOT_TESTED, "–", evidence.why)
    further = _further(claim, evidence)
    if len(further) > len(evidence.also):
        raise ValueError(f"{claim.id}: the evidence does not answer: {further}")
    outcome, reason = _found(claim, evidence, number(tie, "%"))
    for condition in evidence.also:
        if condition.holds is False and outcome is Outcome.REPRODUCED:
            outcome = Outcome.INCONCLUSIVE
        if condition.holds is None and outcome is Outcome.REPRODUCED:
            outcome = Outcome.INCONCLUSIVE
        mark = {True: "holds", False: "does not hold", None: "cannot be told"}[condition.holds]
        reason += f"; {condition.text}: {mark}"
    if evidence.remark:
        reason += f". {evidence.remark}"
    return Verdict(claim, outcome, ours(evidence), reason, evidence.part)


def shared_rule(claim: Claim) -> str:
    """A tolerance with the name of its shared rule in place of its words, if that rule has no band."""
    first, *others = _sentences(claim)
    for rule, name in NAMES.items():
        if re.fullmatch(rule, first):
            return ". ".join([name, *others])
    return claim.tolerance


def _sentences(claim: Claim) -> list[str]:
    return [each for each in re.split(r"(?<=[.)])\s+(?=[A-Z])", claim.tolerance) if each]


def _further(claim: Claim, evidence: Evidence) -> list[str]:
    """The sentences of a tolerance that are conditions beside its shared rule."""
    if isinstance(evidence, Ruled):
        return []
    sentences = _sentences(claim)
    if not re.fullmatch(RULES[type(evidence)], sentences[0]):
        kind = type(evidence).__name__
        raise ValueError(f"{claim.id}: no rule of {kind} reads as its tolerance does: {claim.tolerance}")
    return [each for each in sentences[1:] if not each.startswith(REMARKS)]


def _found(claim: Claim, evidence: Evidence, tie_percent: float) -> Finding:
    match evidence:
        case Level():
            must_lie = "must lie" in claim.tolerance or claim.tolerance.startswith("Each")
            return together(
                (name, level(interval, *claim.band(_place(claim, name)), must_lie=must_lie))
                for name, interval in evidence.of.items()
            )
        case Change():
            sign = 0
            if claim.tolerance.startswith("Sign"):
                sign = said_sign(claim)
            return together(
                (name, change(interval, *claim.band(_place(claim, name)), sign))
                for name, interval in evidence.of.items()
            )
        case Single():
            if evidence.overall is not None:
                [value] = evidence.chosen.values()
                return single_change(value, evidence.overall, *claim.band())
            return together(
                (
                    name,
                    single(
                        value, evidence.ensemble[name], *claim.band(_place(claim, name)), evidence.complete
                    ),
                )
                for name, value in evidence.chosen.items()
            )
        case Order():
            return ordering(list(evidence.of.items()), tie_percent)
        case Pairs():
            return together(
                (name, _pair(*pair, tie_percent, may_tie=evidence.may_tie))
                for name, pair in evidence.of.items()
            )
        case Trend():
            return trend(evidence.along, evidence.sign)
        case Trends():
            return together((name, trend(each.along, each.sign)) for name, each in evidence.of.items())
        case Ruled():
            return ruled(evidence)


def ruled(evidence: Ruled) -> Finding:
    """The outcome of a rule that the experiment carried out."""
    if evidence.satisfied:
        return Outcome.REPRODUCED, "the ledger's rule holds"
    broken = evidence.satisfied is False if evidence.broken is None else evidence.broken
    if broken:
        return Outcome.CONTRADICTED, "the ledger's rule does not hold"
    return Outcome.INCONCLUSIVE, "the runs do not tell whether the ledger's rule holds"


def _place(claim: Claim, name: str) -> int:
    """Which of the claim's bands an element has."""
    if max(len(claim.lo), len(claim.hi)) <= 1:
        return 0
    if name not in claim.at:
        raise ValueError(f"{claim.id}: {name} is none of {claim.at}")
    return claim.at.index(name)


def said_sign(claim: Claim) -> int:
    """The sign of the change that a claim speaks of: the printed number's, or that of its band."""
    if claim.value and claim.value[0] != 0:
        return 1 if claim.value[0] > 0 else -1
    low, high = claim.band()
    if low >= 0:
        return 1
    return -1 if high <= 0 else 0


def level(interval: Interval, low: float, high: float, *, must_lie: bool = False) -> Finding:
    """A mean against a band.

    Args:
        interval: The mean with its interval.
        low: The band's lower end.
        high: Its upper end.
        must_lie: The mean itself must lie in the band; otherwise it suffices that the interval meets it.
    """
    if interval.high < low or interval.low > high:
        side = "below" if interval.high < low else "above"
        return Outcome.CONTRADICTED, f"the interval lies {side} the band"
    if interval.low < low and interval.high > high:
        return Outcome.INCONCLUSIVE, "the interval is wider than the band"
    inside = low <= interval.mean <= high
    if inside:
        return Outcome.REPRODUCED, "the mean lies in the band"
    if must_lie:
        return Outcome.INCONCLUSIVE, "the mean lies outside the band, the interval meets it"
    return Outcome.REPRODUCED, "the interval meets the band, the mean does not"


def change(interval: Interval, low: float, high: float, sign: int) -> Finding:
    """A paired change against a band.

    Args:
        interval: The change with its interval.
        low: The band's lower end.
        high: Its upper end.
        sign: The sign that it must have; 0 if that is free.
    """
    if (sign > 0 and interval.high < 0) or (sign < 0 and interval.low > 0):
        return Outcome.CONTRADICTED, "the change has the other sign, with significance"
    outcome, reason = level(interval, low, high)
    if outcome is Outcome.REPRODUCED and sign and interval.mean * sign <= 0:
        return Outcome.INCONCLUSIVE, "the interval meets the band, the mean has the other sign"
    return outcome, reason.replace("the mean", "the mean change")


def single(
    value: float, ensemble: Sequence[float], low: float, high: float, complete: bool | None = None
) -> Finding:
    """A chosen scenario's value against a band, with the ensemble that it was chosen from behind it.

    The paper's scenario is one of an ensemble like ours: only if no scenario of ours lies in the band, the
    paper can be contradicted.

    Args:
        value: The chosen scenario's.
        ensemble: All scenarios'.
        low: The band's lower end.
        high: Its upper end.
        complete: Of an extreme scenario, whether it was chosen from as many as the paper's. Otherwise the
            interval of the ensemble's mean must lie outside the band, too.
    """
    if low <= value <= high:
        return Outcome.REPRODUCED, "the chosen scenario lies in the band"
    if math.isnan(value) or not ensemble:
        return Outcome.INCONCLUSIVE, "the chosen scenario has no value"
    share = sum(low <= each <= high for each in ensemble)
    reason = f"the chosen scenario lies outside the band, {share} of {len(ensemble)} scenarios in it"
    excluded = complete
    if excluded is None:
        excluded = level(mean_interval(ensemble), low, high)[0] is Outcome.CONTRADICTED
    return (Outcome.CONTRADICTED if share == 0 and excluded else Outcome.INCONCLUSIVE), reason


def single_change(value: float, overall: Interval, low: float, high: float) -> Finding:
    """The paired change in a chosen scenario against a band, with that over the ensemble behind it."""
    inside, ensemble = low <= value <= high, level(overall, low, high)[0]
    if inside and ensemble is not Outcome.CONTRADICTED:
        return Outcome.REPRODUCED, "the chosen scenario lies in the band"
    if inside:
        return Outcome.INCONCLUSIVE, "the chosen scenario lies in the band, that of the ensemble does not"
    if ensemble is Outcome.CONTRADICTED:
        return Outcome.CONTRADICTED, "the chosen scenario and the ensemble's interval lie outside the band"
    return Outcome.INCONCLUSIVE, "the chosen scenario lies outside the band, the ensemble's interval meets it"


def ordering(systems: Sequence[tuple[str, Sequence[float]]], tie_percent: float) -> Finding:
    """Systems that are said to come from greatest to least, pair by neighbouring pair."""
    return together(
        (f"{first} > {second}", _pair(of_first, of_second, tie_percent))
        for (first, of_first), (second, of_second) in pairwise(systems)
    )


def _pair(
    first: Sequence[float], second: Sequence[float], tie_percent: float, *, may_tie: bool = False
) -> Finding:
    difference = paired_interval(first, second)
    greatest = max(abs(mean_interval(first).mean), abs(mean_interval(second).mean))
    percent = 100 * difference.mean / greatest if greatest else 0.0
    text = f"{percent:+.1f} %"
    tie = Outcome.REPRODUCED if may_tie else Outcome.INCONCLUSIVE
    if difference.holds_zero:
        return tie, f"a tie, the paired interval holds zero ({text})"
    if difference.mean < 0:
        return Outcome.CONTRADICTED, f"reversed, with significance ({text})"
    if percent < tie_percent:
        return tie, f"a tie, within {tie_percent:g} % ({text})"
    return Outcome.REPRODUCED, text


def trend(along: Sequence[Sequence[float]], sign: int) -> Finding:
    """A quantity that is said to rise (sign +1) or fall (-1) along an axis.

    It does if the paired difference of last and first place excludes zero on that side, or the rank
    correlation of means and places is significant.
    """
    from scipy.stats import spearmanr

    difference = paired_interval(along[-1], along[0])
    if not difference.holds_zero:
        agrees = difference.mean * sign > 0
        text = f"last minus first {shown(difference)}"
        return (Outcome.REPRODUCED if agrees else Outcome.CONTRADICTED), text
    means = [mean_interval(values).mean for values in along]
    if len(means) > 3 and len(set(means)) > 1:
        found = spearmanr(range(len(means)), means)
        if found.pvalue < 0.05:
            agrees = found.statistic * sign > 0
            text = f"rank correlation {found.statistic:+.2f}"
            return (Outcome.REPRODUCED if agrees else Outcome.CONTRADICTED), text
    return Outcome.INCONCLUSIVE, "no significant rise or fall"


def ruled_by(text: str, findings: Iterable[tuple[str, Finding]]) -> Ruled:
    """A rule that holds if all of several findings do, and is broken if one of them is."""
    outcome, _ = together(findings)
    return Ruled(text, satisfied=outcome is Outcome.REPRODUCED, broken=outcome is Outcome.CONTRADICTED)


def banded(claim: Claim, of: Mapping[str, Interval], sign: int = 0) -> Ruled:
    """A rule in prose that asks for intervals that meet the claim's band, and for a sign if one is given."""
    findings = [(name, change(each, *claim.band(_place(claim, name)), sign)) for name, each in of.items()]
    return ruled_by(_listed((name, shown(each)) for name, each in of.items()), findings)


def together(findings: Iterable[tuple[str, Finding]]) -> Finding:
    """One outcome of several elements: all must be reproduced, and one that is contradicted contradicts.

    Raises:
        ValueError: There is no element.
    """
    listed = list(findings)
    if not listed:
        raise ValueError("a verdict on nothing")
    outcomes = {outcome for _, (outcome, _) in listed}
    worst = next(
        each for each in (Outcome.CONTRADICTED, Outcome.INCONCLUSIVE, Outcome.REPRODUCED) if each in outcomes
    )
    reasons = {reason for _, (_, reason) in listed}
    if len(listed) == 1 or len(reasons) == 1:
        return worst, listed[0][1][1]
    telling = [(name, reason) for name, (outcome, reason) in listed if outcome is worst]
    return worst, "; ".join(f"{name}: {reason}" for name, reason in telling)


def ours(evidence: Evidence) -> str:
    """What was found, in one line."""
    match evidence:
        case Level() | Change():
            return _listed((name, shown(interval)) for name, interval in evidence.of.items())
        case Single():
            texts = []
            for name, value in evidence.chosen.items():
                texts.append((name, f"{value:.4g} ({_of_all(evidence, name)})"))
            return _listed(texts)
        case Order():
            return _listed((name, shown(mean_interval(values))) for name, values in evidence.of.items())
        case Pairs():
            means = {name: [mean_interval(each).mean for each in pair] for name, pair in evidence.of.items()}
            return _listed((name, f"{first:.4g}, {second:.4g}") for name, (first, second) in means.items())
        case Trend():
            return _along(evidence)
        case Trends():
            return _listed((name, _along(each)) for name, each in evidence.of.items())
        case Ruled():
            return evidence.found


def _along(evidence: Trend) -> str:
    return ", ".join(f"{mean_interval(values).mean:.4g}" for values in evidence.along)


def _of_all(evidence: Single, name: str) -> str:
    if not evidence.ensemble[name]:
        return "none has a value"
    return f"all: {shown(evidence.overall or mean_interval(evidence.ensemble[name]))}"


def _listed(texts: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{name}: {text}" if name else text for name, text in texts)
