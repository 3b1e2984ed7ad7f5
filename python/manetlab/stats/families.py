"""Families of comparisons: p-values and intervals that hold all at once, and say the same.

Every adjustment is Bonferroni's: a comparison's p-value is multiplied by the number of comparisons of the
family, and its interval has the confidence 1 − α / that number. So an adjusted p-value is at most α if and
only if the interval shows the same, which is not so with Holm's correction. docs/decisions.md gives the
reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manetlab.errors import InputError, shown
from manetlab.stats import checks
from manetlab.stats.comparisons import paired_difference, paired_ratio
from manetlab.stats.intervals import Interval, deviation, heavy_tail_warning, mean_interval
from manetlab.stats.looks import Looks


@dataclass(frozen=True)
class Adjusted:
    """One paired comparison of a family, a − b.

    Attributes:
        difference: The mean difference; its interval holds together with those of the whole family.
        ratio: The ratio of the means, with Fieller's interval of the same confidence.
        p_t: The two-sided p-value of the paired t test, as if it were the only comparison.
        p_wilcoxon: That of Wilcoxon's signed rank test.
        p_adjusted: `p_t` adjusted for the family: the one to quote.
        p_equivalent: The p-value of the equivalence test, adjusted for the family; NaN without a margin.
        n: The number of pairs.
    """

    difference: Interval
    ratio: Interval
    p_t: float
    p_wilcoxon: float
    p_adjusted: float
    p_equivalent: float
    n: int


@dataclass(frozen=True)
class WithBest:
    """One alternative against the best of the others.

    Attributes:
        name: The alternative.
        against: The best of the others by its mean.
        difference: Mean difference from it. The interval is that of the difference from the truly best of
            the others, whichever that is; an end at zero says whether this one can be the best.
        p: The smallest two-sided p-value of the t tests that have it worse than another; 1 if none has.
        p_adjusted: The same, adjusted for the family: at most α if it is not the best.
        p_equivalent: The p-value of being worse than the best by the margin or more, adjusted for the
            family; NaN without a margin.
        n: The pairs with `against`.
        verdict: ``best``; ``not distinguishable`` (from the best: it can be the best); or ``worse``.
        is_equivalent: Whether it is worse than the best by less than the margin; None without a margin.
        is_settled: Whether more scenarios have nothing left to say of it: it is worse, by differences that
            vary, and, with a margin, shown to be so by the margin or more or to be practically as good.
    """

    name: str
    against: str
    difference: Interval
    p: float
    p_adjusted: float
    p_equivalent: float
    n: int
    verdict: str
    is_equivalent: bool | None
    is_settled: bool


def bonferroni(p: float, comparisons: int, part: float = 1.0) -> float:
    """A p-value adjusted for a family of that many comparisons.

    Args:
        p: The p-value.
        comparisons: The number of comparisons.
        part: The part of the comparison's error that it may have now, where it is looked at several times.

    Raises:
        InputError: It is not a p-value, there is no comparison, or no part of the error is left.
    """
    checks.within(p, 0.0, 1.0, "bonferroni: p")
    _check_comparisons(comparisons, "bonferroni: comparisons")
    checks.above_zero(part, "bonferroni: part")
    return min(1.0, p * comparisons / part)


def _check_comparisons(comparisons: int, where: str) -> None:
    if isinstance(comparisons, bool) or not isinstance(comparisons, int) or comparisons < 1:
        raise InputError(
            "the family has no such size", where, shown(comparisons), "a whole number, 1 or more"
        )


def adjusted_pair(
    a: Sequence[float],
    b: Sequence[float],
    comparisons: int = 1,
    confidence: float = 0.95,
    margin: float | None = None,
    share: float | None = None,
    part: float = 1.0,
) -> Adjusted:
    """A paired comparison as one of a family.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        comparisons: How many comparisons the family has.
        confidence: The confidence that all intervals of the family hold.
        margin: Systems that differ by less than this are practically the same.
        share: In place of a margin, systems whose means differ by less than this share of the other's.
        part: The part of the comparison's error that it may have now, where it is looked at several times.

    Raises:
        InputError: The values cannot be paired, or an argument is not allowed.
    """
    confidence = checks.confidence(confidence, "adjusted_pair: confidence")
    _check_comparisons(comparisons, "adjusted_pair: comparisons")
    each = 1.0 - bonferroni_level(confidence, comparisons) * part
    tested = paired_difference(a, b, each)
    p_equivalent = math.nan
    if margin is not None:
        p_equivalent = bonferroni(equivalence_p(a, b, margin), comparisons, part)
    elif share is not None:
        p_equivalent = bonferroni(ratio_equivalence_p(a, b, share), comparisons, part)
    return Adjusted(
        difference=tested.difference,
        ratio=paired_ratio(a, b, each),
        p_t=tested.p_t,
        p_wilcoxon=tested.p_wilcoxon,
        p_adjusted=bonferroni(tested.p_t, comparisons, part),
        p_equivalent=p_equivalent,
        n=tested.n,
    )


def bonferroni_level(confidence: float, comparisons: int) -> float:
    """The chance of missing that is left to each of a family's intervals."""
    return (1.0 - confidence) / comparisons


def equivalence_p(a: Sequence[float], b: Sequence[float], margin: float) -> float:
    """The p-value of two one-sided paired t tests (TOST; Schuirmann 1987): is |mean a − b| below the margin?

    The larger of the p-values of "the mean difference is −margin or less" and "it is margin or more". It is
    at most α if and only if the interval of confidence 1 − 2α lies between both.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        margin: The difference from which on the systems are not the same in practice.

    Raises:
        InputError: The values cannot be paired, or the margin is not above zero.
    """
    left, right = checks.pairs(a, b, "equivalence_p")
    margin = checks.above_zero(margin, "equivalence_p: margin")
    differences = [x - y for x, y in zip(left, right, strict=True)]
    return max(_p_below(differences, margin), _p_below([-each for each in differences], margin))


def ratio_equivalence_p(a: Sequence[float], b: Sequence[float], share: float) -> float:
    """The p-value of two one-sided paired t tests: is mean a within ± ``share`` of mean b?

    Each tests whether the mean of a − (1 ± share) b is zero or beyond, so the mean of b need not be known
    (Sasabuchi 1988). Means are those of values of at least zero.

    Args:
        a: Values of one system, one a scenario.
        b: Values of the other in the same scenarios.
        share: The share of the other's mean from which on the systems are not the same in practice.

    Raises:
        InputError: The values cannot be paired, or the share is not between 0 and 1.
    """
    left, right = checks.pairs(a, b, "ratio_equivalence_p")
    share = checks.share(share, "ratio_equivalence_p: share")
    above = [x - (1.0 + share) * y for x, y in zip(left, right, strict=True)]
    below = [(1.0 - share) * y - x for x, y in zip(left, right, strict=True)]
    return max(_p_below(above, 0.0), _p_below(below, 0.0))


def compare_with_best(
    values: Mapping[str, Sequence[float | None]],
    *,
    higher_is_better: bool = True,
    families: int = 1,
    confidence: float = 0.95,
    margin: float | None = None,
    share: float | None = None,
    comparisons: int | None = None,
    looks: Looks | None = None,
    ended: Mapping[str, int] | None = None,
) -> list[WithBest]:
    """Multiple comparisons with the best for paired values: which alternatives can be the best?

    All pairs are compared, each by its own differences, with intervals that hold together (Bonferroni); what
    follows for the best is read off them. An alternative can be the best if no other is shown to be better.
    Its difference from the best of the others has the interval of Hsu (1984) in the form for unequal widths
    (Edwards and Hsu 1983), which is cut at zero: the best is not behind the best of the others, and no other
    is ahead of it. Nothing is supposed about how the alternatives vary together, and alternatives that are
    equally good are both left in the choice as often as stated.

    If only one alternative is left that can be the best, it is ``best``, with the stated confidence. An
    alternative is ``worse`` if and only if its adjusted p-value is at most α, and then its interval ends at
    zero; otherwise it goes on beyond, unless the alternative equals another in every pair.

    Args:
        values: The values of each alternative, the same scenarios in the same order; None where an
            alternative has no value. Pairs in which either is None are left out.
        higher_is_better: Which way is better.
        families: How many such questions are answered together, as for several measures.
        confidence: The confidence that all statements of all questions hold.
        margin: An alternative that is worse than the best by less than this is practically as good.
        share: In place of a margin, one that is worse by less than this share of the best's mean.
        comparisons: How many comparisons to adjust for, if more than those of all pairs in all questions.
        looks: The looks, where alternatives are looked at more than once: the scenarios are those of one.
        ended: The alternatives that got no more scenarios after an earlier look, with those that they had.

    Raises:
        InputError: There are fewer than two alternatives, they have unequal numbers of scenarios, or an
            argument is not allowed.
    """
    confidence = checks.confidence(confidence, "compare_with_best: confidence")
    margin = None if margin is None else checks.above_zero(margin, "compare_with_best: margin")
    share = None if share is None else checks.share(share, "compare_with_best: share")
    _check_alternatives(values)
    sign = 1.0 if higher_is_better else -1.0
    comparisons = max(comparisons or 0, families * len(values) * (len(values) - 1) // 2)
    _check_comparisons(comparisons, "compare_with_best: comparisons of all families")
    level = bonferroni_level(confidence, comparisons)
    pairs = _pairs(values, sign, level, comparisons, looks, ended or {})
    alpha = 1.0 - confidence
    can_be_best = [i for i in values if _p_adjusted(pairs[i]) > alpha]
    return [_with_best(i, pairs[i], can_be_best, sign, alpha, margin, share) for i in values]


def _p_adjusted(pairs: Mapping[str, _Pair]) -> float:
    """The smallest adjusted p-value of the tests that have an alternative worse than another."""
    return min(of.adjusted(of.p_not_worse) for of in pairs.values())


def _with_best(
    name: str,
    pairs: Mapping[str, _Pair],
    can_be_best: Sequence[str],
    sign: float,
    alpha: float,
    margin: float | None,
    share: float | None,
) -> WithBest:
    """One alternative, from its pairs with all others."""
    # Where pairs contradict each other, as they can if values are missing, nothing is excluded.
    rivals = [other for other in can_be_best or pairs if other != name]
    one, verdict = _standing(pairs, rivals, margin, share), _verdict(name, can_be_best, rivals)
    has_margin = margin is not None or share is not None
    is_equivalent = (not rivals or one.p_equivalent <= alpha) if has_margin else None
    is_decided = not has_margin or bool(is_equivalent) or one.p_beyond <= alpha
    return WithBest(
        name=name,
        against=one.against,
        difference=one.difference.scaled(sign),
        p=min(of.p_not_worse for of in pairs.values()),
        p_adjusted=_p_adjusted(pairs),
        p_equivalent=one.p_equivalent,
        n=one.n,
        verdict=verdict,
        is_equivalent=is_equivalent,
        is_settled=verdict == "worse" and is_decided and any(of.is_firm(alpha) for of in pairs.values()),
    )


def _check_alternatives(values: Mapping[str, Sequence[float | None]]) -> None:
    if len(values) < 2 or len({len(listed) for listed in values.values()}) > 1:
        found = ", ".join(f"{name}: {len(listed)} values" for name, listed in values.items()) or "none"
        wanted = "two or more alternatives with a value, or None, for each scenario"
        raise InputError("the alternatives cannot be compared", "compare_with_best", found, wanted)


@dataclass(frozen=True)
class _Level:
    """How a pair is adjusted.

    Attributes:
        of_family: The chance of missing that is left to each of the family's intervals.
        comparisons: For how many comparisons p-values are adjusted.
        part: The part of that chance that the pair's look has.
        scenarios: The scenarios up to that look.
    """

    of_family: float
    comparisons: int
    part: float
    scenarios: int


@dataclass(frozen=True)
class _Pair:
    """The differences of two alternatives, positive where the first is better.

    Attributes:
        differences: The differences; empty if the two have no scenario in common.
        mean: Their mean.
        width: What a one-sided interval adds to it.
        p_not_worse: The two-sided p-value of the paired t test if the first is worse on average, else 1.
        second: The values of the second, positive where a higher value is better and negative where not.
        level: How it is adjusted.
    """

    differences: list[float]
    mean: float
    width: float
    p_not_worse: float
    second: list[float]
    level: _Level

    @classmethod
    def of(cls, a: Sequence[float | None], b: Sequence[float | None], sign: float, level: _Level) -> _Pair:
        both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        if not both:
            return cls([], math.nan, math.inf, 1.0, [], level)
        left, right = checks.pairs([x for x, _ in both], [y for _, y in both], "compare_with_best")
        differences = [sign * (x - y) for x, y in zip(left, right, strict=True)]
        interval = mean_interval(differences, 1.0 - level.of_family * level.part)
        p = min(1.0, 2.0 * _p_below(differences, 0.0))
        return cls(differences, interval.mean, interval.half_width, p, [sign * y for y in right], level)

    def adjusted(self, p: float) -> float:
        """A p-value of this pair, adjusted for the family."""
        return bonferroni(p, self.level.comparisons, self.level.part)

    def is_firm(self, alpha: float) -> bool:
        """Is the first shown to be worse by differences that vary?

        Where all are equal, as between an alternative that has always delivered everything and a steady one,
        nothing is known of what has not been met yet, and the t test takes that for certainty.
        """
        if self.adjusted(self.p_not_worse) > alpha or deviation(self.differences) == 0.0:
            return False
        return heavy_tail_warning(self.differences) is None

    def p_worse_by(self, margin: float | None, share: float | None) -> float:
        """The adjusted p-value of the first being worse than the second by the margin, or share, or more.

        Twice the one-sided one, so that it agrees with the end of the two-sided interval.
        """
        if not self.differences:
            return 1.0
        behind = [-each for each in self._from_margin(margin, share)]
        return self.adjusted(min(1.0, 2.0 * _p_below(behind, 0.0)))

    def p_within(self, margin: float | None, share: float | None) -> float:
        """That of the first being worse by the margin or less, or not worse at all: small far behind it.

        Only pairs with differences are asked.
        """
        return self.adjusted(min(1.0, 2.0 * _p_below(self._from_margin(margin, share), 0.0)))

    def _from_margin(self, margin: float | None, share: float | None) -> list[float]:
        """The differences from that at which the first is worse by exactly the margin, or share."""
        if margin is None and share is not None:
            # A share of what is better low counts upwards: its values are negative here.
            return [each + share * abs(y) for each, y in zip(self.differences, self.second, strict=True)]
        return [each + (margin or 0.0) for each in self.differences]


def _pairs(
    values: Mapping[str, Sequence[float | None]],
    sign: float,
    level: float,
    comparisons: int,
    looks: Looks | None,
    ended: Mapping[str, int],
) -> dict[str, dict[str, _Pair]]:
    """Every alternative with every other, each pair adjusted for its last look."""
    n = len(next(iter(values.values())))

    def pair(i: str, j: str) -> _Pair:
        made = min(ended.get(i, n), ended.get(j, n))
        part = 1.0 if looks is None else looks.part(made)
        return _Pair.of(values[i], values[j], sign, _Level(level, comparisons, part, made))

    return {i: {j: pair(i, j) for j in values if j != i} for i in values}


@dataclass(frozen=True)
class _Standing:
    """One alternative against the others, positive where it is better; p-values are adjusted."""

    against: str
    difference: Interval
    p_equivalent: float
    p_beyond: float
    n: int


def _standing(
    pairs: Mapping[str, _Pair], rivals: Sequence[str], margin: float | None, share: float | None
) -> _Standing:
    known = {name: each for name, each in pairs.items() if each.differences}
    if not known:
        return _Standing("", Interval.between(math.nan, -math.inf, math.inf, 0), math.nan, 1.0, 0)
    # Of those that were given up earlier less is known: the best of the others is among those that were not.
    longest = max(each.level.scenarios for each in known.values())
    last = [name for name, each in known.items() if each.level.scenarios == longest]
    against = min(last, key=lambda name: known[name].mean)
    mean = known[against].mean
    # Hsu's intervals are cut at zero: the best cannot be behind the best of the others, nor any other ahead.
    high = max(0.0, min(each.mean + each.width for each in known.values()))
    behind = [pairs[j].mean - pairs[j].width if pairs[j].differences else -math.inf for j in rivals]
    low = min(0.0, mean, *behind) if rivals else 0.0
    n = len(known[against].differences)
    p_equivalent, p_beyond = math.nan, 1.0
    if margin is not None or share is not None:
        p_beyond = min(each.p_within(margin, share) for each in known.values())
        if rivals:
            p_equivalent = max(pairs[j].p_worse_by(margin, share) for j in rivals)
    return _Standing(against, Interval.between(mean, low, high, n), p_equivalent, p_beyond, n)


def _verdict(i: str, can_be_best: Sequence[str], rivals: Sequence[str]) -> str:
    if can_be_best and i not in can_be_best:
        return "worse"
    return "not distinguishable" if rivals else "best"


def _p_below(differences: Sequence[float], margin: float) -> float:
    """One-sided paired t test of "the mean is ``margin`` or more": small if the mean lies clearly below.

    One value, or values that equal the margin, say nothing against it.
    """
    from scipy.special import stdtr

    n = len(differences)
    distance = math.fsum(differences) / n - margin
    if n == 1:
        return 1.0
    spread = deviation(differences)
    if spread == 0.0:
        return 0.0 if distance < 0.0 else 1.0
    return float(stdtr(n - 1, distance / (spread / math.sqrt(n))))
