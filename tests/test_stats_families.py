"""Families of comparisons against scipy's tests, hand calculation, and experiments whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats import (
    Looks,
    WithBest,
    adjusted_pair,
    bonferroni,
    compare_with_best,
    equivalence_p,
    ratio_equivalence_p,
)

EXPERIMENTS = 1_000
ROWS = st.integers(3, 8).flatmap(
    lambda n: st.lists(st.lists(st.floats(-100, 100), min_size=n, max_size=n), min_size=2, max_size=4)
)


def sample(seed: int, n: int) -> tuple[list[float], list[float]]:
    draw = np.random.default_rng(seed)
    a = draw.normal(10.0, 3.0, n)
    return a.tolist(), (a + draw.normal(0.3, 1.0, n)).tolist()


def test_a_p_value_is_multiplied_by_the_comparisons_and_divided_by_the_part_of_the_error() -> None:
    assert bonferroni(0.125, 3) == bonferroni(0.125, 3, 1.0) == 0.375
    assert bonferroni(0.125, 3, 0.5) == 0.75
    assert bonferroni(0.125, 3, 0.25) == 1.0
    assert (bonferroni(0.0, 1), bonferroni(0.25, 1), bonferroni(1.0, 1)) == (0.0, 0.25, 1.0)


@pytest.mark.parametrize("part", [1.0, 0.25])
@pytest.mark.parametrize("comparisons", [1, 7])
def test_p_values_and_intervals_at_a_look_have_its_part_of_the_error(comparisons: int, part: float) -> None:
    a, b = sample(2, 12)
    ours = adjusted_pair(a, b, comparisons, 0.9, margin=2.0, part=part)
    theirs = scipy.stats.ttest_rel(a, b)
    ends = theirs.confidence_interval(1 - 0.1 / comparisons * part)
    assert (ours.difference.low, ours.difference.high) == pytest.approx(ends, rel=1e-9)
    assert ours.p_adjusted == pytest.approx(min(1.0, theirs.pvalue * comparisons / part), rel=1e-9)
    alone = equivalence_p(a, b, 2.0)
    assert ours.p_equivalent == pytest.approx(min(1.0, alone * comparisons / part), rel=1e-9)
    by_share = adjusted_pair(a, b, comparisons, 0.9, share=0.2, part=part).p_equivalent
    alone = ratio_equivalence_p(a, b, 0.2)
    assert by_share == pytest.approx(min(1.0, alone * comparisons / part), rel=1e-9)
    # A margin is asked first.
    assert adjusted_pair(a, b, comparisons, 0.9, margin=2.0, share=0.01, part=part) == ours


def test_a_pair_alone_is_a_family_of_one_at_95_per_cent() -> None:
    a, b = sample(4, 12)
    assert repr(adjusted_pair(a, b)) == repr(adjusted_pair(a, b, 1, 0.95, part=1.0))
    assert len({adjusted_pair(a, b, margin=1.0), adjusted_pair(a, b, margin=1.0)}) == 1


@pytest.mark.parametrize("comparisons", [1, 7])
def test_p_values_and_intervals_of_a_family_are_scipys_at_its_level(comparisons: int) -> None:
    a, b = sample(1, 12)
    ours = adjusted_pair(a, b, comparisons, 0.9)
    theirs = scipy.stats.ttest_rel(a, b)
    assert ours.p_t == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.p_adjusted == pytest.approx(min(1.0, theirs.pvalue * comparisons), rel=1e-9)
    ends = theirs.confidence_interval(1 - 0.1 / comparisons)
    assert (ours.difference.low, ours.difference.high) == pytest.approx(ends, rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 20), st.integers(1, 30))
def test_an_adjusted_p_value_says_what_its_interval_says(seed: int, n: int, comparisons: int) -> None:
    a, b = sample(seed, n)
    ours = adjusted_pair(a, b, comparisons)
    assert (ours.p_adjusted <= 0.05) == (not ours.difference.holds_zero)
    if math.isfinite(ours.ratio.half_width):
        assert (ours.p_adjusted <= 0.05) == (not ours.ratio.holds(1.0))


def test_the_equivalence_test_is_two_tests_of_scipy() -> None:
    a, b = sample(3, 15)
    differences = np.subtract(a, b)
    above = scipy.stats.ttest_1samp(differences, -0.9, alternative="greater").pvalue
    below = scipy.stats.ttest_1samp(differences, 0.9, alternative="less").pvalue
    assert equivalence_p(a, b, 0.9) == pytest.approx(max(above, below), rel=1e-9)
    assert adjusted_pair(a, b, 4, margin=0.9).p_equivalent == pytest.approx(
        min(1.0, 4 * max(above, below)), rel=1e-9
    )
    assert math.isnan(adjusted_pair(a, b, 4).p_equivalent)


@pytest.mark.parametrize("margin", [0.1, 0.5, 1.0, 2.0])
def test_equivalence_at_5_per_cent_is_the_90_per_cent_interval_between_the_margins(margin: float) -> None:
    for seed in range(30):
        a, b = sample(seed, 10)
        interval = adjusted_pair(a, b, confidence=0.9).difference
        inside = -margin < interval.low and interval.high < margin
        assert (equivalence_p(a, b, margin) <= 0.05) == inside


def test_equal_systems_are_equivalent_and_a_single_pair_says_nothing() -> None:
    assert equivalence_p([1.0, 2.0], [1.0, 2.0], 0.1) == 0.0
    assert equivalence_p([1.0], [1.0], 0.1) == 1.0
    assert equivalence_p([1.0, 2.0], [0.5, 1.5], 0.25) == 1.0
    # Exactly the margin apart is not within it, on neither side.
    assert equivalence_p([1.0, 2.0], [0.5, 1.5], 0.5) == equivalence_p([0.5, 1.5], [1.0, 2.0], 0.5) == 1.0
    assert equivalence_p([1.0, 2.0], [0.5, 1.5], 0.75) == 0.0
    assert ratio_equivalence_p([1.0], [1.0], 0.1) == 1.0


def by_hand(rows: dict[str, list[float]], level: float) -> dict[str, tuple[float, float, float]]:
    """Hsu's constrained intervals and p-values, from scipy's one-sided tests, higher being better."""
    n = len(next(iter(rows.values())))
    quantile = scipy.stats.t.ppf(1 - level, n - 1)

    def width(i: str, j: str) -> float:
        return float(quantile * scipy.stats.sem(np.subtract(rows[i], rows[j])))

    def mean(i: str, j: str) -> float:
        return float(np.mean(np.subtract(rows[i], rows[j])))

    others = {i: [j for j in rows if j != i] for i in rows}
    upper = {i: max(0.0, min(mean(i, j) + width(i, j) for j in others[i])) for i in rows}
    possible = [i for i in rows if upper[i] > 0.0]
    found = {}
    for i in rows:
        rivals = [j for j in possible if j != i]
        lower = min([0.0, *(mean(i, j) - width(i, j) for j in rivals)]) if rivals else 0.0
        p = min(scipy.stats.ttest_rel(rows[i], rows[j], alternative="less").pvalue for j in others[i])
        found[i] = (lower, upper[i], min(1.0, 2 * float(p)))
    return found


@pytest.mark.parametrize("families", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_comparisons_with_the_best_are_those_made_by_hand(seed: int, families: int) -> None:
    draw = np.random.default_rng(seed)
    shared = draw.normal(100.0, 20.0, 10)
    rows = {
        name: (shared + draw.normal(gain, 4.0, 10)).tolist()
        for name, gain in zip("abcd", (0, 3, 6, 7), strict=True)
    }
    expected = by_hand(rows, 0.05 / (12 * families))
    for each in compare_with_best(rows, families=families):
        low, high, p = expected[each.name]
        assert (each.difference.low, each.difference.high) == pytest.approx((low, high), rel=1e-9)
        assert each.p == pytest.approx(p, rel=1e-9)
        assert each.p_adjusted == pytest.approx(min(1.0, 6 * families * p), rel=1e-9)


def test_the_best_the_rivals_and_the_worse_are_told_apart() -> None:
    base = [10.0, 30.0, 20.0, 40.0, 15.0]
    rows = {
        "near": [value - wobble for value, wobble in zip(base, (1.0, -1.0, 0.5, -0.5, 0.2), strict=True)],
        "worse": [value - 8.0 - step for value, step in zip(base, (0.1, 0.2, 0.0, 0.1, 0.3), strict=True)],
        "leader": base,
    }
    found = {each.name: each for each in compare_with_best(rows)}
    assert {name: each.verdict for name, each in found.items()} == {
        "near": "not distinguishable",
        "worse": "worse",
        "leader": "not distinguishable",
    }
    assert found["worse"].difference.high == 0.0
    assert (found["worse"].against, found["near"].against, found["leader"].against) == (
        "leader",
        "leader",
        "near",
    )
    del rows["near"]
    assert [each.verdict for each in compare_with_best(rows)] == ["worse", "best"]
    # What is lower is better turns the answer round, and its differences keep their sign.
    turned = {each.name: each for each in compare_with_best(rows, higher_is_better=False)}
    assert (turned["worse"].verdict, turned["leader"].verdict) == ("best", "worse")
    assert turned["leader"].difference.mean == pytest.approx(8.14)
    assert turned["leader"].difference.low == 0.0


def test_a_p_value_of_exactly_alpha_is_significant() -> None:
    rows = {"a": [0.0, 2.0], "b": [0.0, 0.0]}
    (_, b) = compare_with_best(rows)
    alpha = b.p_adjusted
    # Both have as many bits as a float below 1 can have: nothing is rounded.
    confidence = 1.0 - alpha
    assert 1.0 - confidence == alpha
    assert [each.verdict for each in compare_with_best(rows, confidence=confidence)] == ["best", "worse"]
    more = math.nextafter(confidence, 1.0)
    assert [each.verdict for each in compare_with_best(rows, confidence=more)] == ["not distinguishable"] * 2


def of_two(a: list[float], b: list[float], confidence: float, margin: float | None = None) -> WithBest:
    """The second of two alternatives, of which the first is better."""
    (_, second) = compare_with_best({"a": a, "b": b}, confidence=confidence, margin=margin)
    return second


def test_p_values_of_exactly_alpha_settle_and_are_equivalent() -> None:
    # Of two differences a t of 1 has the two-sided p-value 1/2, but for its rounding.
    alpha = of_two([0.0, 2.0], [0.0, 0.0], 0.9).p_adjusted
    assert alpha == pytest.approx(0.5)
    confidence = 1.0 - alpha
    assert 1.0 - confidence == alpha
    settled = of_two([0.0, 2.0], [0.0, 0.0], confidence)
    assert (settled.verdict, settled.is_settled) == ("worse", True)
    # A margin of 2 leaves 2 and 0 of 0 and −2, one of 1 leaves 0 and −2 of −1 and −3.
    within = of_two([0.0, 2.0], [0.0, 0.0], confidence, margin=2.0)
    assert (within.p_equivalent, within.is_equivalent, within.is_settled) == (alpha, True, True)
    beyond = of_two([1.0, 3.0], [0.0, 0.0], confidence, margin=1.0)
    assert (beyond.p_equivalent, beyond.is_equivalent, beyond.is_settled) == (1.0, False, True)
    more = math.nextafter(confidence, 1.0)
    assert not of_two([0.0, 2.0], [0.0, 0.0], more).is_settled
    assert not of_two([0.0, 2.0], [0.0, 0.0], more, margin=2.0).is_equivalent
    assert not of_two([1.0, 3.0], [0.0, 0.0], more, margin=1.0).is_settled


def test_an_alternative_is_settled_when_nothing_is_left_to_say_of_it() -> None:
    zeros, behind = [0.0] * 3, [-4.0, -5.0, -6.0]
    found = of_two(zeros, behind, 0.95)
    assert found.p == pytest.approx(scipy.stats.ttest_1samp(behind, 0.0).pvalue, rel=1e-9)
    assert (found.verdict, found.is_settled) == ("worse", True)
    # Worse, but by 5 it is neither shown to be less nor more than a margin of 5; it is of 1 and of 12.
    settled = [of_two(zeros, behind, 0.95, margin).is_settled for margin in (1.0, 5.0, 12.0)]
    assert settled == [True, False, True]
    # What does not vary, and what is so skewed that the test cannot be trusted, is not settled.
    for differences in ([-5.0] * 12, [-100.0] * 10 + [-110.0] * 2):
        found = of_two([0.0] * 12, differences, 0.95)
        assert (found.verdict, found.is_settled) == ("worse", False)
    # The best is not: it may be looked at on.
    (best, _) = compare_with_best({"a": zeros, "b": behind})
    assert (best.verdict, best.is_settled) == ("best", False)
    assert (best.difference.low, best.difference.mean) == (0.0, 5.0)


def test_to_be_settled_it_is_enough_to_be_behind_one() -> None:
    draw = np.random.default_rng(14)
    rows = {"a": draw.normal(9.0, 1.0, 8), "b": draw.normal(0.0, 1.0, 8), "c": draw.normal(0.0, 1.0, 8)}
    found = {each.name: each for each in compare_with_best({name: list(of) for name, of in rows.items()})}
    assert [found[name].verdict for name in "abc"] == ["best", "worse", "worse"]
    assert [found[name].is_settled for name in "abc"] == [False, True, True]
    beyond = compare_with_best({name: list(of) for name, of in rows.items()}, margin=2.0)
    assert [each.is_settled for each in beyond] == [False, True, True]


def test_practically_as_good_as_the_best_is_so_whichever_of_the_rivals_is_the_best() -> None:
    draw = np.random.default_rng(15)
    base = draw.normal(100.0, 20.0, 10)
    rows = {"a": base, "b": base + draw.normal(0.0, 0.1, 10), "c": base + draw.normal(1.0, 3.0, 10)}
    found = compare_with_best({name: list(of) for name, of in rows.items()}, margin=1.0)
    assert [each.verdict for each in found] == ["not distinguishable"] * 3
    p = [
        2 * scipy.stats.ttest_1samp(rows["a"] - rows[other] + 1.0, 0.0, alternative="greater").pvalue
        for other in "bc"
    ]
    assert p[0] < 0.01 < p[1]
    assert found[0].p_equivalent == pytest.approx(min(1.0, 3 * p[1]))


def test_more_comparisons_than_those_of_the_question_are_adjusted_for_and_never_fewer() -> None:
    a, b = sample(5, 12)
    rows = {"a": a, "b": b, "c": sample(6, 12)[0]}
    plain, many, few = (compare_with_best(rows, comparisons=count) for count in (None, 20, 1))
    assert few == plain
    for one, other in zip(plain, many, strict=True):
        assert one.p_adjusted == pytest.approx(min(1.0, 3 * one.p))
        assert other.p_adjusted == pytest.approx(min(1.0, 20 * one.p))


def test_a_margin_is_asked_before_a_share() -> None:
    a, b = sample(7, 12)
    rows = {"a": a, "b": b}
    assert compare_with_best(rows, margin=1.0, share=0.5) == compare_with_best(rows, margin=1.0)


def test_alternatives_that_ended_earlier_have_the_part_of_their_look_and_are_not_compared_with() -> None:
    draw = np.random.default_rng(16)
    base = draw.normal(100.0, 20.0, 20)
    a, b, c = (base + draw.normal(gain, 1.0, 20) for gain in (0.0, 0.5, 2.0))
    rows: dict[str, list[float | None]] = {"a": list(a), "b": list(b), "c": [*c[:10], *[None] * 10]}
    found = {
        each.name: each
        for each in compare_with_best(rows, looks=Looks((10,), 20), ended={"c": 10}, margin=9.0)
    }
    # After ten replications c is the best of all; of the others, it was looked at less than b.
    assert np.mean(c[:10] - b[:10]) > 0.0
    assert [(found[name].against, found[name].n) for name in "abc"] == [("b", 20), ("a", 20), ("b", 10)]
    # The first look has a quarter of the error, and the last one the rest.
    ends = scipy.stats.ttest_rel(a[:10], c[:10]).confidence_interval(1 - 0.05 / 3 / 4)
    assert found["a"].difference.low == pytest.approx(ends.low, rel=1e-9)
    of_c, of_b = (
        scipy.stats.ttest_rel(a[:n], other[:n], alternative="less").pvalue for other, n in ((c, 10), (b, 20))
    )
    smallest = min(2 * of_c * 3 / (1 / 4), 2 * of_b * 3 / (3 / 4))
    assert found["a"].p_adjusted == pytest.approx(min(1.0, smallest), rel=1e-9)


def test_as_good_as_the_best_in_practice_needs_a_margin() -> None:
    base = [10.0, 30.0, 20.0, 40.0, 15.0]
    rows = {"a": base, "b": [value - 0.5 - 0.01 * (value % 3) for value in base]}
    assert [each.is_equivalent for each in compare_with_best(rows)] == [None, None]
    assert [each.is_equivalent for each in compare_with_best(rows, margin=1.0)] == [True, True]
    assert [each.is_equivalent for each in compare_with_best(rows, margin=0.4)] == [True, False]
    (_, b) = compare_with_best(rows, margin=1.0)
    assert b.verdict == "worse"
    assert b.difference.low > -1.0


@settings(deadline=None, max_examples=200)
@given(ROWS, st.booleans(), st.integers(1, 5), st.floats(0.1, 50.0))
def test_verdict_p_value_and_interval_agree(
    rows: list[list[float]], higher: bool, families: int, margin: float
) -> None:
    named = {str(number): values for number, values in enumerate(rows)}
    found = compare_with_best(named, higher_is_better=higher, families=families, margin=margin)
    sign = 1.0 if higher else -1.0
    for each in found:
        better = each.difference.scaled(sign)
        assert (each.verdict == "worse") == (each.p_adjusted <= 0.05)
        assert better.low <= better.mean <= better.high
        assert better.low <= 0.0 <= better.high
        if each.verdict == "worse":
            assert better.high <= 1e-9
        if each.is_equivalent and each.verdict != "best":
            assert better.low > -margin - 1e-9
    assert sum(each.verdict == "best" for each in found) <= 1


def test_scenarios_without_a_value_leave_their_pairs_only() -> None:
    rows: dict[str, list[float | None]] = {
        "a": [1.0, 2.0, 3.0, 4.0],
        "b": [1.5, None, 3.2, 4.9],
        "c": [None] * 4,
    }
    found = {each.name: each for each in compare_with_best(rows)}
    assert (found["a"].n, found["b"].n, found["c"].n) == (3, 3, 0)
    assert found["c"].verdict == "not distinguishable"
    assert found["c"].difference.half_width == math.inf
    # With `c` unknown nobody is called the best, and how far it may be ahead is unknown.
    assert "best" not in {each.verdict for each in found.values()}
    assert found["a"].difference.low == -math.inf
    unknown = {each.name: each for each in compare_with_best(rows, margin=100.0)}
    assert [unknown[name].p_equivalent for name in "ab"] == [1.0, 1.0]
    of_c = unknown["c"]
    assert (of_c.against, of_c.difference.n, of_c.p, of_c.is_settled) == ("", 0, 1.0, False)
    assert (of_c.difference.low, of_c.difference.high) == (-math.inf, math.inf)
    assert math.isnan(of_c.p_equivalent)
    assert not of_c.is_equivalent


def test_where_pairs_contradict_each_other_nothing_is_excluded() -> None:
    # Each is ahead of the next in the three scenarios that only these two have.
    none: list[float | None] = [None] * 3
    found = compare_with_best(
        {"a": [9.0, 8.9, 9.1, *none, 0.0, 0.1, 0.0], "b": [0.0, 0.1, 0.0, 9.0, 8.9, 9.1, *none]}
        | {"c": [*none, 0.0, 0.1, 0.0, 9.0, 8.9, 9.1]}
    )
    assert all(each.p_adjusted < 0.05 for each in found)
    assert [each.verdict for each in found] == ["not distinguishable"] * 3
    assert all(each.difference.low < 0.0 for each in found)


def test_what_is_found_of_an_alternative_is_a_value() -> None:
    rows = {"a": [1.0, 2.0], "b": [1.5, 2.0]}
    assert len({*compare_with_best(rows, margin=1.0), *compare_with_best(rows, margin=1.0)}) == 2


def test_alternatives_that_are_always_equal_share_the_first_place() -> None:
    same = [1.0, 2.0, 3.0]
    found = compare_with_best({"a": same, "b": same, "c": [0.5, 1.6, 2.4]})
    assert [each.verdict for each in found] == ["not distinguishable", "not distinguishable", "worse"]


@pytest.mark.parametrize("n", [5, 10, 30])
@pytest.mark.parametrize("gains", [(0.0, 0.0, 0.0, 0.0), (0.0, 0.5, 1.0, 1.0), (0.0, 0.0, 0.0, 2.0)])
def test_all_statements_hold_together_as_often_as_stated(n: int, gains: tuple[float, ...]) -> None:
    # Variances of the pairs differ widely: what Nelson and Matejcik's sphericity excludes.
    draw = np.random.default_rng(n)
    spreads = (0.2, 1.0, 3.0, 0.3)
    best, right = max(gains), 0
    for _ in range(EXPERIMENTS):
        shared = draw.normal(0.0, 5.0, n)
        rows = {
            str(number): (shared + draw.normal(gain, spread, n)).tolist()
            for number, (gain, spread) in enumerate(zip(gains, spreads, strict=True))
        }
        found = compare_with_best(rows)
        truth = [gain - max(gains[:i] + gains[i + 1 :]) for i, gain in enumerate(gains)]
        held = all(
            each.difference.low <= true <= each.difference.high
            for each, true in zip(found, truth, strict=True)
        )
        right += held and all(
            each.verdict != "worse" for each, gain in zip(found, gains, strict=True) if gain == best
        )
    # Three standard errors below 95 %.
    assert right / EXPERIMENTS >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / EXPERIMENTS)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: bonferroni(1.5, 2),
        lambda: bonferroni(-0.1, 2),
        lambda: bonferroni(0.5, 0),
        lambda: bonferroni(0.5, True),
        lambda: bonferroni(0.5, 2.0),  # type: ignore[arg-type]
        lambda: bonferroni(0.5, 2, 0.0),
        lambda: adjusted_pair([1.0, 2.0], [1.0, 3.0], 0),
        lambda: adjusted_pair([1.0, 2.0], [1.0, 3.0], part=0.0),
        lambda: compare_with_best({"a": [1.0, 2.0], "b": [1.0, 2.0]}, families=0),
        lambda: compare_with_best({"a": [1.0, 2.0], "b": [1.0, 2.0]}, share=1.0),
        lambda: equivalence_p([1.0, 2.0], [1.0, 3.0], 0.0),
        lambda: adjusted_pair([1.0, 2.0], [1.0], 2),
        lambda: compare_with_best({"a": [1.0, 2.0]}),
        lambda: compare_with_best({"a": [1.0, 2.0], "b": [1.0]}),
        lambda: compare_with_best({"a": [1.0, 2.0], "b": [1.0, 2.0]}, confidence=1.0),
        lambda: compare_with_best({"a": [1.0, 2.0], "b": [1.0, 2.0]}, margin=-1.0),
    ],
)
def test_what_cannot_be_compared_is_refused(refused: object) -> None:
    with pytest.raises(InputError):
        refused()  # type: ignore[operator]


def test_the_alternatives_that_cannot_be_compared_are_told() -> None:
    for values, found in (
        ({}, "none"),
        ({"a": [1.0, 2.0]}, "a: 2 values"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "a: 2 values, b: 1 values"),
    ):
        with pytest.raises(InputError) as refused:
            compare_with_best(values)
        assert refused.value.found == found


def test_a_relative_margin_tests_the_ratio_of_the_means() -> None:
    random = np.random.default_rng(12)
    scenario = random.gamma(4.0, 100.0, 40)
    a, b = list(scenario * 1.02 + random.normal(0, 3, 40)), list(scenario + random.normal(0, 3, 40))
    by_hand = max(
        scipy.stats.ttest_1samp(np.array(a) - 1.05 * np.array(b), 0.0, alternative="less").pvalue,
        scipy.stats.ttest_1samp(np.array(a) - 0.95 * np.array(b), 0.0, alternative="greater").pvalue,
    )
    assert ratio_equivalence_p(a, b, 0.05) == pytest.approx(by_hand)
    near = scipy.stats.ttest_1samp(np.array(a) - 1.022 * np.array(b), 0.0, alternative="less").pvalue
    assert ratio_equivalence_p(a, b, 0.022) == pytest.approx(near, rel=1e-9, abs=0.0)
    # From the other side, where what is compared is the smaller one.
    smaller, larger = np.array(b), np.array(a)
    below = scipy.stats.ttest_1samp(smaller - 0.978 * larger, 0.0, alternative="greater").pvalue
    assert below > scipy.stats.ttest_1samp(smaller - 1.022 * larger, 0.0, alternative="less").pvalue
    assert ratio_equivalence_p(b, a, 0.022) == pytest.approx(below, rel=1e-9, abs=0.0)
    found = adjusted_pair(a, b, comparisons=3, share=0.05)
    assert found.p_equivalent == pytest.approx(3 * by_hand)
    assert found.p_equivalent < 0.05
    assert adjusted_pair(a, b, comparisons=3, share=0.01).p_equivalent > 0.05
    assert math.isnan(adjusted_pair(a, b).p_equivalent)
    # A factor of the values changes nothing: the margin goes with them.
    assert ratio_equivalence_p([9.0 * x for x in a], [9.0 * y for y in b], 0.05) == pytest.approx(by_hand)


@pytest.mark.parametrize("higher", [True, False])
def test_an_alternative_within_a_share_of_the_best_is_practically_as_good(higher: bool) -> None:
    random = np.random.default_rng(13)
    scenario = random.gamma(4.0, 100.0, 60)
    worse = (0.98, 0.8) if higher else (1.02, 1.2)
    values = {
        "best": list(scenario + random.normal(0, 2, 60)),
        "near": list(worse[0] * scenario + random.normal(0, 2, 60)),
        "far": list(worse[1] * scenario + random.normal(0, 2, 60)),
    }
    found = {each.name: each for each in compare_with_best(values, higher_is_better=higher, share=0.05)}
    assert [found[name].is_equivalent for name in values] == [True, True, False]
    assert [found[name].verdict for name in values] == ["best", "worse", "worse"]
    a, b = np.array(values["near"]), np.array(values["best"])
    gap = a - 0.95 * b if higher else 1.05 * b - a
    p = 2 * scipy.stats.ttest_1samp(gap, 0.0, alternative="greater").pvalue
    assert found["near"].p_equivalent == pytest.approx(min(1.0, 3 * p))
