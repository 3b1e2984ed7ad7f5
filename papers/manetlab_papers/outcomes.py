"""What is said of one comparison: held against a band, in an order, along an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from manetlab.stats import Interval
from manetlab_papers.quantities import TooFew, difference, mean, present, shown
from manetlab_papers.samples import Values


class Outcome(StrEnum):
    """What is said of a claim."""

    REPRODUCED = "reproduced"
    BY_CONSTRUCTION = "by construction"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Measured:
    """What was compared, as figures draw it.

    Attributes:
        interval: A value, a change or a difference with its interval.
        low: The lower end of where it is said to lie; infinite where that is open.
        high: The upper end.
        name: The case; empty if there is one.
        unit: The unit if it is not the claim's, as one appends it.
    """

    interval: Interval
    low: float
    high: float
    name: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Finding:
    """An outcome.

    Attributes:
        outcome: What is said.
        reason: Why.
        ours: What was found, in one line.
        fit: Where an interval was held against a band, how they lie: "within" if all of it lies in the band,
            "touches" if some of it does, "outside" if none; empty elsewhere.
        p: The p-value of the test that the outcome rests on; None where no test rejected anything, such as
            an interval that meets its band.
        equivalent: Of a claim of no effect, whether the effect is shown to lie within the band.
        measured: What was compared; nothing where no interval was.
    """

    outcome: Outcome
    reason: str
    ours: str = ""
    fit: str = ""
    p: float | None = None
    equivalent: bool | None = None
    measured: tuple[Measured, ...] = ()


REPRODUCED, CONTRADICTED, INCONCLUSIVE = Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE


def level(interval: Interval, low: float, high: float, *, must_lie: bool = False) -> Finding:
    """A mean against a band.

    Args:
        interval: The mean with its interval.
        low: The band's lower end.
        high: Its upper end.
        must_lie: The mean itself must lie in the band; otherwise it suffices that the interval meets it.
    """
    measured = (Measured(interval, low, high),)
    if interval.high < low or interval.low > high:
        side, end = ("below", low) if interval.high < low else ("above", high)
        p = p_value(interval, end)
        reason = f"the interval lies {side} the band"
        return Finding(CONTRADICTED, reason, fit="outside", p=p, measured=measured)
    fit = "within" if low <= interval.low and interval.high <= high else "touches"
    outcome, reason = REPRODUCED, "the interval meets the band, the mean does not"
    if interval.low < low and interval.high > high:
        outcome, reason = INCONCLUSIVE, "the interval is wider than the band"
    elif low <= interval.mean <= high:
        reason = "the mean lies in the band"
    elif must_lie:
        outcome, reason = INCONCLUSIVE, "the mean lies outside the band, the interval meets it"
    return Finding(outcome, reason, fit=fit, measured=measured)


def p_value(interval: Interval, value: float) -> float:
    """Student's two-sided p-value of a 95 % interval's quantity being this value.

    Below 0.05 exactly where the interval does not hold the value; of an interval of which the estimate is not
    the middle, the half towards the value counts.
    """
    from scipy.stats import t

    half = interval.mean - interval.low if value < interval.mean else interval.high - interval.mean
    if interval.n < 2 or half == 0:
        return 1.0 if interval.mean == value else 0.0
    if math.isinf(half):
        return 1.0
    quantile = float(t.ppf(0.975, interval.n - 1))
    return float(2 * t.sf(abs(interval.mean - value) / half * quantile, interval.n - 1))


def outside_p(interval: Interval, low: float, high: float) -> float:
    """The p-value of a quantity lying in a band: 1 if its estimate does, else that of the nearer end."""
    if low <= interval.mean <= high or math.isnan(interval.mean):
        return 1.0
    return p_value(interval, low if interval.mean < low else high)


def apart_p(first: Interval, second: Interval) -> float:
    """Welch's two-sided p-value of two quantities being equal, from their 95 % intervals."""
    from scipy.stats import t

    lower, upper = (first, second) if first.mean <= second.mean else (second, first)
    # Of intervals of which the estimate is not the middle, the halves towards each other count.
    halves = ((lower.high - lower.mean, lower.n), (upper.mean - upper.low, upper.n))
    if any(math.isinf(half) for half, _ in halves):
        return 1.0
    parts = [((half / t.ppf(0.975, n - 1)) ** 2, n - 1) for half, n in halves if half and n > 1]
    if not parts:
        return 1.0 if first.mean == second.mean else 0.0
    variance = sum(each for each, _ in parts)
    freedom = variance**2 / sum(each**2 / degrees for each, degrees in parts)
    return float(2 * t.sf((upper.mean - lower.mean) / math.sqrt(variance), freedom))


def at_least_p(ps: Iterable[float | None], wanted: int, of: int) -> float | None:
    """The p-value of at least so many of several hypotheses being false.

    The partial conjunction of Benjamini and Heller (2008) with Bonferroni's correction: the ``wanted``-th
    smallest p-value times the number of hypotheses that are left with it. One without a p-value has 1.
    """
    listed = sorted(1.0 if p is None else p for p in ps)
    listed += [1.0] * (of - len(listed))
    return min(1.0, listed[wanted - 1] * (of - wanted + 1)) if 0 < wanted <= of else None


def at_confidence(interval: Interval, confidence: float) -> Interval:
    """A 95 % interval at another confidence, by the ratio of Student's quantiles."""
    from scipy.stats import t

    if interval.n < 2:
        return interval
    factor = float(t.ppf(0.5 + confidence / 2, interval.n - 1) / t.ppf(0.975, interval.n - 1))
    low, high = (interval.mean + factor * (end - interval.mean) for end in (interval.low, interval.high))
    return Interval.between(interval.mean, low, high, interval.n)


def equivalence(interval: Interval, low: float, high: float) -> bool:
    """Whether two one-sided tests at 5 % show that a quantity lies between two margins (TOST).

    They do exactly where the 90 % interval lies between them.
    """
    narrow = at_confidence(interval, 0.9)
    return low <= narrow.low and narrow.high <= high


def change(interval: Interval, low: float, high: float, sign: int) -> Finding:
    """A paired change against a band.

    Args:
        interval: The change with its interval.
        low: The band's lower end.
        high: Its upper end.
        sign: The sign that it must have; 0 if that is free.
    """
    if (sign > 0 and interval.high < 0) or (sign < 0 and interval.low > 0):
        found = replace(level(interval, low, high), outcome=CONTRADICTED, p=p_value(interval, 0.0))
        return replace(found, reason="the change has the other sign, with significance")
    found = level(interval, low, high)
    if found.outcome is REPRODUCED and sign and interval.mean * sign <= 0:
        reason = "the interval meets the band, the mean has the other sign"
        return replace(found, outcome=INCONCLUSIVE, reason=reason)
    return replace(found, reason=found.reason.replace("the mean", "the mean change"))


def significant(interval: Interval, sign: int) -> Finding:
    """A quantity that must be above zero (sign +1) or below it (-1)."""
    measured = (beyond_zero(interval, sign),)
    if interval.low * sign > 0 and interval.high * sign > 0:
        reason = "the sign is as said, with significance"
        return Finding(REPRODUCED, reason, p=p_value(interval, 0.0), measured=measured)
    if interval.low * sign < 0 and interval.high * sign < 0:
        reason = "the sign is the other, with significance"
        return Finding(CONTRADICTED, reason, p=p_value(interval, 0.0), measured=measured)
    return Finding(INCONCLUSIVE, "the interval holds zero", measured=measured)


def beyond_zero(interval: Interval, sign: int) -> Measured:
    """A quantity that is said to be above zero (sign +1) or below it (-1)."""
    return Measured(interval, *((0.0, math.inf) if sign > 0 else (-math.inf, 0.0)))


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
    measured = (Measured(Interval(value, 0.0, 1), low, high),)
    if low <= value <= high:
        return Finding(REPRODUCED, "the chosen scenario lies in the band", measured=measured)
    there = [each for each in ensemble if not math.isnan(each)]
    if math.isnan(value) or not there:
        return Finding(INCONCLUSIVE, "the chosen scenario has no value")
    share = sum(low <= each <= high for each in there)
    reason = f"the chosen scenario lies outside the band, {share} of {len(there)} scenarios in it"
    excluded, p = complete, None
    if excluded is None:
        behind = level(mean(list(there)), low, high)
        excluded, p = behind.outcome is CONTRADICTED, behind.p
    if share == 0 and excluded:
        return Finding(CONTRADICTED, reason, p=p, measured=measured)
    return Finding(INCONCLUSIVE, reason, measured=measured)


def single_change(value: float, overall: Interval, low: float, high: float) -> Finding:
    """The paired change in a chosen scenario against a band, with that over the ensemble behind it."""
    behind = level(overall, low, high)
    inside, ensemble = low <= value <= high, behind.outcome
    measured = (Measured(Interval(value, 0.0, 1), low, high),)
    if inside and ensemble is not CONTRADICTED:
        return Finding(REPRODUCED, "the chosen scenario lies in the band", measured=measured)
    if inside:
        reason = "the chosen scenario lies in the band, that of the ensemble does not"
        return Finding(INCONCLUSIVE, reason, measured=measured)
    if ensemble is CONTRADICTED:
        reason = "the chosen scenario and the ensemble's interval lie outside the band"
        return Finding(CONTRADICTED, reason, p=behind.p, measured=measured)
    reason = "the chosen scenario lies outside the band, the ensemble's interval meets it"
    return Finding(INCONCLUSIVE, reason, measured=measured)


def pair(first: Values, second: Values, tie_percent: float, *, may_tie: bool = False) -> Finding:
    """Two systems of which the first is said to be greater.

    Args:
        first: The first's values.
        second: The second's.
        tie_percent: Up to this difference of the means they are level.
        may_tie: Being level is as said, too.
    """
    first, second = present(first, second)
    apart = difference(first, second)
    zero = "the paired interval holds zero" if apart.holds_zero else ""
    a, b = mean(first).mean, mean(second).mean
    found = _ordered(a, b, zero, p_value(apart, 0.0), tie_percent, may_tie)
    greatest = max(abs(a), abs(b))
    if not greatest or not math.isfinite(greatest):
        return found
    least = -tie_percent if may_tie else 0.0
    return replace(found, measured=(Measured(apart.scaled(100 / greatest), least, math.inf, unit=" %"),))


def pair_apart(first: Values, second: Values, tie_percent: float) -> Finding:
    """Two systems of which the first is said to be greater, whose scenarios are not the same: Welch's test.

    Raises:
        TooFew: One of them has fewer than two scenarios with a value.
    """
    [first], [second] = present(first), present(second)
    a, b = mean(first), mean(second)
    p = apart_p(a, b)
    return _ordered(a.mean, b.mean, "Welch's test finds no difference" if p >= 0.05 else "", p, tie_percent)


def _ordered(
    first: float, second: float, level_since: str, p: float, tie_percent: float, may_tie: bool = False
) -> Finding:
    """Two means of which the first is said to be greater; `level_since` says why they are not told apart."""
    greatest = max(abs(first), abs(second))
    percent = 100 * (first - second) / greatest if greatest else 0.0
    text = f"{percent:+.1f} %"
    tie = REPRODUCED if may_tie else INCONCLUSIVE
    if level_since:
        return Finding(tie, f"a tie, {level_since} ({text})")
    if abs(percent) < tie_percent:
        return Finding(tie, f"a tie, within {tie_percent:g} % ({text})")
    if first < second:
        return Finding(CONTRADICTED, f"reversed, with significance ({text})", p=p)
    return Finding(REPRODUCED, text, p=p)


def trend(along: Sequence[Values], sign: int) -> Finding:
    """A quantity that is said to rise (sign +1) or fall (-1) along an axis.

    It does if the paired difference of last and first place excludes zero on that side, or the rank
    correlation of means and places is significant. Where a value is infinite, known only to lie beyond the
    axis that it is read from, the sign test takes the place of both.
    """
    from scipy.stats import spearmanr

    if any(math.isinf(value) for values in along for value in values):
        return _censored_trend(along, sign)
    apart = difference(along[-1], along[0])
    measured = (beyond_zero(apart, sign),)
    if not apart.holds_zero:
        agrees = apart.mean * sign > 0
        text, p = f"last minus first {shown(apart)}", p_value(apart, 0.0)
        return Finding(REPRODUCED if agrees else CONTRADICTED, text, p=p, measured=measured)
    means = [mean(values).mean for values in along]
    if len(means) > 3 and len(set(means)) > 1:
        found = spearmanr(range(len(means)), means)
        if found.pvalue < 0.05:
            agrees = found.statistic * sign > 0
            text, outcome = f"rank correlation {found.statistic:+.2f}", REPRODUCED if agrees else CONTRADICTED
            return Finding(outcome, text, p=float(found.pvalue), measured=measured)
    return Finding(INCONCLUSIVE, "no significant rise or fall", measured=measured)


def _censored_trend(along: Sequence[Values], sign: int) -> Finding:
    """The sign test on last and first place.

    A scenario whose value lies beyond the axis at one of them has a difference of known sign. Those that are
    level, or lie beyond the axis at both, tell nothing and are left out.
    """
    first, last = present(along[0], along[-1])
    rises, falls = (
        sum(f * (b - a) > 0 for a, b in zip(first, last, strict=True) if a != b) for f in (+1, -1)
    )
    text = f"{rises} scenarios rise, {falls} fall, {len(first) - rises - falls} are level or beyond the axis"
    p = sign_test(rises, falls)
    if p >= 0.05:
        return Finding(INCONCLUSIVE, f"no significant rise or fall: {text}")
    return Finding(REPRODUCED if (rises - falls) * sign > 0 else CONTRADICTED, text, p=p)


def sign_test(rises: int, falls: int) -> float:
    """The two-sided p-value of so many rises and falls if either is as likely."""
    from scipy.stats import binomtest

    return float(binomtest(rises, rises + falls).pvalue) if rises + falls else 1.0


def together(findings: Iterable[tuple[str, Finding]]) -> Finding:
    """One outcome of several elements: all must be reproduced, and one that is contradicted contradicts.

    Raises:
        ValueError: There is no element.
    """
    listed = list(findings)
    if not listed:
        raise ValueError("a verdict on nothing")
    outcomes = {found.outcome for _, found in listed}
    worst = next(each for each in (CONTRADICTED, INCONCLUSIVE, REPRODUCED) if each in outcomes)
    tests = {
        "fit": joint_fit(found.fit for _, found in listed),
        "p": joint_p(worst, [found for _, found in listed]),
        "equivalent": joint_equivalence(found.equivalent for _, found in listed),
        "measured": joint_measured(listed),
    }
    ours = joined((name, found.ours) for name, found in listed)
    if len({found.reason for _, found in listed}) == 1:
        return Finding(worst, listed[0][1].reason, ours, **tests)  # type: ignore[arg-type]
    telling = [(name, found.reason) for name, found in listed if found.outcome is worst]
    reason = "; ".join(f"{name}: {reason}" for name, reason in telling)
    return Finding(worst, reason, ours, **tests)  # type: ignore[arg-type]


def joint_fit(fits: Iterable[str]) -> str:
    """How intervals lie to their bands: as that one which lies worst."""
    there = set(fits) - {""}
    return next((each for each in ("outside", "touches", "within") if each in there), "")


def joint_p(outcome: Outcome, findings: Sequence[Finding]) -> float | None:
    """The p-value of an outcome that rests on several comparisons.

    Where all must hold, the greatest counts; where any contradicts, the least times their number, which is
    Bonferroni's correction.
    """
    listed = [found.p for found in findings if found.outcome is outcome and found.p is not None]
    if not listed or outcome is INCONCLUSIVE:
        return None
    return min(1.0, min(listed) * len(findings)) if outcome is CONTRADICTED else max(listed)


def joint_measured(findings: Iterable[tuple[str, Finding]]) -> tuple[Measured, ...]:
    """All that was compared, each with its names."""
    return tuple(
        replace(each, name=", ".join(filter(None, (name, each.name))))
        for name, found in findings
        for each in found.measured
    )


def joint_equivalence(each: Iterable[bool | None]) -> bool | None:
    """Whether all effects that were asked for are shown to lie within their bands."""
    there = [found for found in each if found is not None]
    return all(there) if there else None


def joined(texts: Iterable[tuple[str, str]]) -> str:
    """Cases in one line, each with its name if it has one."""
    return "; ".join(f"{name}: {text}" if name else text for name, text in texts if text)


def stated(found: Finding) -> Finding:
    """A finding on a rule that the ledger states in words of its own, with what breaks it where known."""
    if found.outcome is REPRODUCED:
        return replace(found, reason="the claim's rule holds")
    unknown = {
        CONTRADICTED: "the claim's rule does not hold",
        INCONCLUSIVE: "the runs do not tell whether the claim's rule holds",
    }
    return replace(found, reason=found.reason or unknown[found.outcome])


def all_hold(conditions: Sequence[Finding]) -> Finding:
    """One outcome of several conditions of a rule; what is told of a condition names it by what was found."""
    whole = together(("", each) for each in conditions)
    telling = [each for each in conditions if each.outcome is whole.outcome]
    are_named = len(telling) > 1 or any(each.ours for each in conditions if each not in telling)
    named = [
        f"{each.ours}: {each.reason}" if are_named and each.ours and len(each.measured) == 1 else each.reason
        for each in telling
    ]
    return stated(replace(whole, reason="; ".join(dict.fromkeys(named))))


def too_few(error: TooFew) -> Finding:
    """What is said where too few scenarios have what a comparison needs."""
    return Finding(INCONCLUSIVE, "too few scenarios have a value to compare", str(error))
