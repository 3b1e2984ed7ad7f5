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
    # With `c` unknown nobody is called the best.
    assert "best" not in {each.verdict for each in found.values()}


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
        lambda: bonferroni(0.5, 0),
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


def test_a_relative_margin_tests_the_ratio_of_the_means() -> None:
    random = np.random.default_rng(12)
    scenario = random.gamma(4.0, 100.0, 40)
    a, b = list(scenario * 1.02 + random.normal(0, 3, 40)), list(scenario + random.normal(0, 3, 40))
    by_hand = max(
        scipy.stats.ttest_1samp(np.array(a) - 1.05 * np.array(b), 0.0, alternative="less").pvalue,
        scipy.stats.ttest_1samp(np.array(a) - 0.95 * np.array(b), 0.0, alternative="greater").pvalue,
    )
    assert ratio_equivalence_p(a, b, 0.05) == pytest.approx(by_hand)
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
