"""Statistics against values worked out by hand, scipy's own, and experiments whose truth is known."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats import (
    Interval,
    bootstrap_interval,
    checks,
    heavy_tail_warning,
    holm,
    jain,
    max_min,
    mean_interval,
    median_interval,
    paired_difference,
    paired_interval,
    paired_ratio,
    percentile_interval,
    percentiles,
    t_quantile,
    unfairness,
)
from manetlab.stats.fairness import jain_of_each

EXPERIMENTS = 2_000
VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=3, max_size=12)
POSITIVE = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=12)


def test_quantiles_of_the_printed_tables() -> None:
    assert t_quantile(0.975, 1) == pytest.approx(12.706, abs=1e-3)
    assert t_quantile(0.975, 9) == pytest.approx(2.262, abs=1e-3)
    assert t_quantile(0.995, 30) == pytest.approx(2.750, abs=1e-3)


def test_the_interval_of_a_mean() -> None:
    interval = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval.mean == 3.0
    # s = sqrt(2.5), t = 2.776 with 4 degrees of freedom.
    assert interval.half_width == pytest.approx(2.7764 * math.sqrt(2.5 / 5), rel=1e-4)


def test_one_value_says_nothing_of_its_spread() -> None:
    assert mean_interval([4.0]).half_width == math.inf
    assert bootstrap_interval([4.0]).half_width == math.inf


def test_equal_values_have_no_spread_whatever_their_rounding() -> None:
    for interval in (mean_interval([0.1] * 11), bootstrap_interval([0.1] * 11, "median")):
        assert (interval.low, interval.high) == pytest.approx((0.1, 0.1), abs=1e-16)
        assert interval.half_width == 0.0


def test_an_interval_that_is_not_symmetric_keeps_its_ends() -> None:
    interval = Interval.between(2.0, 1.0, 5.0, 9)
    assert (interval.low, interval.high, interval.half_width) == (1.0, 5.0, 2.0)
    turned = interval.scaled(-10.0)
    assert (turned.mean, turned.low, turned.high, turned.half_width) == (-20.0, -50.0, -10.0, 20.0)
    assert not interval.holds_zero
    assert interval.relative_half_width == 1.0


@pytest.mark.parametrize("mean", [1.0, -3.0])
def test_t_intervals_cover_the_mean_of_normal_values(mean: float) -> None:
    samples = np.random.default_rng(7).normal(mean, 2.0, (EXPERIMENTS, 10))
    covered = sum(mean_interval(sample).holds(mean) for sample in samples)
    assert 0.93 <= covered / EXPERIMENTS <= 0.97


@pytest.mark.parametrize(("n", "low", "high"), [(15, 0.87, 0.92), (60, 0.92, 0.95)])
def test_bootstrap_intervals_of_exponential_values_cover_less_until_there_are_many(
    n: int, low: float, high: float
) -> None:
    # Of 15 skewed values BCa's 95 % are some 89 %: known of it, and said in docs/statistics.md.
    samples = np.random.default_rng(8).exponential(1.0, (EXPERIMENTS, n))
    covered = sum(bootstrap_interval(sample, resamples=999).holds(1.0) for sample in samples)
    assert low <= covered / EXPERIMENTS <= high


def test_the_bootstrap_misses_more_evenly_than_t_on_the_side_of_the_tail() -> None:
    # The t interval of skewed values misses the mean nearly always from below.
    samples = np.random.default_rng(9).lognormal(0.0, 1.0, (EXPERIMENTS, 30))
    truth = math.exp(0.5)
    below_t = sum(mean_interval(sample).high < truth for sample in samples)
    below_bootstrap = sum(bootstrap_interval(sample, resamples=999).high < truth for sample in samples)
    assert below_bootstrap < 0.85 * below_t


def test_median_intervals_cover_the_median_of_any_values() -> None:
    samples = np.random.default_rng(10).standard_cauchy((EXPERIMENTS, 25))
    covered = sum(median_interval(sample).holds(0.0) for sample in samples)
    # The order statistics of 25 values give 95.7 % exactly.
    exact = 1 - 2 * scipy.stats.binom.cdf(7, 25, 0.5)
    assert exact == pytest.approx(0.957, abs=1e-3)
    assert covered / EXPERIMENTS == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / EXPERIMENTS))


def test_percentiles_that_the_values_do_not_bound_are_unbounded() -> None:
    assert median_interval([1, 2, 3, 4, 5]).half_width == math.inf
    assert median_interval([1, 2, 3, 4, 5, 6]).low == 1.0
    top = percentile_interval(range(72), 95)
    assert percentile_interval(range(71), 95).high == math.inf
    assert top.high == 71.0
    assert top.mean == percentiles(range(72))[2]


def test_percentiles_interpolate_as_the_core_does() -> None:
    assert percentiles([1, 2, 3, 4], (50, 100)) == [2.5, 4.0]
    assert percentiles([7.0]) == [7.0, 7.0, 7.0]


def test_the_bootstrap_does_not_depend_on_the_order_and_follows_its_seed() -> None:
    values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0]
    assert bootstrap_interval(values) == bootstrap_interval(sorted(values))
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)
    own = bootstrap_interval(values, lambda data: float(np.median(data)))
    assert own == bootstrap_interval(values, "median")


def test_a_median_that_no_single_value_moves_has_the_percentile_interval() -> None:
    interval = bootstrap_interval([1.0, 1.0, 1.0, 1.0, 5.0], "median")
    assert (interval.mean, interval.low) == (1.0, 1.0)
    assert math.isfinite(interval.high)


@given(VALUES, st.floats(0.1, 50), st.floats(-1e3, 1e3))
def test_intervals_move_and_stretch_with_their_values(
    values: list[float], scale: float, shift: float
) -> None:
    moved = [value * scale + shift for value in values]
    size = max(map(abs, [*moved, *values, 1.0])) * scale
    for of in (mean_interval, median_interval):
        before, after = of(values), of(moved)
        assert after.low == pytest.approx(before.low * scale + shift, abs=1e-9 * size)
        assert after.high == pytest.approx(before.high * scale + shift, abs=1e-9 * size)


def test_values_whose_squares_are_beyond_doubles_have_the_interval_of_others() -> None:
    values = [1.0, 2.5, 4.0, -3.0]
    before, after = mean_interval(values), mean_interval([value * 2.0**1020 for value in values])
    assert (after.low, after.mean, after.high) == tuple(
        end * 2.0**1020 for end in (before.low, before.mean, before.high)
    )


@settings(max_examples=25, deadline=None)
@given(VALUES, st.sampled_from([0.5, 2.0, 1024.0]))
def test_bootstrap_intervals_stretch_with_their_values(values: list[float], scale: float) -> None:
    before = bootstrap_interval(values, resamples=199)
    after = bootstrap_interval([value * scale for value in values], resamples=199)
    size = max(map(abs, values)) * scale
    assert after.low == pytest.approx(before.low * scale, abs=1e-9 * size)
    assert after.high == pytest.approx(before.high * scale, abs=1e-9 * size)


def test_pairs_take_away_what_the_scenarios_share() -> None:
    a, b = [10.0, 20.0, 30.0], [9.0, 19.1, 28.9]
    paired = paired_interval(a, b)
    assert paired.mean == pytest.approx(1.0)
    assert not paired.holds_zero
    assert mean_interval(a).half_width > 10 * paired.half_width


@pytest.mark.parametrize("n", [2, 5, 10, 60])
def test_paired_tests_agree_with_those_of_scipy(n: int) -> None:
    draw = np.random.default_rng(n)
    for _ in range(20):
        a = draw.normal(10.0, 3.0, n)
        b = a + draw.normal(0.5, 1.0, n)
        ours = paired_difference(a, b)
        theirs = scipy.stats.ttest_rel(a, b)
        assert ours.p_t == pytest.approx(theirs.pvalue, rel=1e-9)
        assert ours.difference.low == pytest.approx(theirs.confidence_interval().low, rel=1e-9)
        assert ours.p_wilcoxon == pytest.approx(scipy.stats.wilcoxon(a - b).pvalue, rel=1e-12)
        assert ours.n == n


def test_students_own_example_of_paired_differences() -> None:
    # The sleep data of Student's paper of 1908: t = 4.0621 with 9 degrees of freedom, p = 0.002833.
    dextro = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    laevo = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    paired = paired_difference(laevo, dextro)
    assert paired.difference.mean == pytest.approx(1.58)
    assert paired.p_t == pytest.approx(0.002833, abs=5e-7)


def test_wilcoxon_gives_the_exact_chance_of_small_samples() -> None:
    # All of 5 differences positive: 2 of 32 assignments of signs are as extreme.
    assert paired_difference([2, 4, 6, 8, 10], [1, 2, 3, 4, 5]).p_wilcoxon == pytest.approx(2 / 32)


def test_zero_differences_count_for_neither_side() -> None:
    alone, with_zeros = [1.0, 2.0, 4.0, 8.0, -3.0, 16.0], [1.0, 2.0, 4.0, 0.0, 8.0, -3.0, 16.0, 0.0]
    # Ranks 1 to 6 with 3 on the other side: 5 of the 64 assignments of signs have a rank sum of 3 or less
    # there.
    assert paired_difference(alone, [0.0] * 6).p_wilcoxon == pytest.approx(2 * 5 / 64)
    assert paired_difference(with_zeros, [0.0] * 8).p_wilcoxon == pytest.approx(2 * 5 / 64)
    assert paired_difference(with_zeros, [0.0] * 8).n == 8
    same = paired_difference([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (same.p_t, same.p_wilcoxon, same.difference.half_width) == (1.0, 1.0, 0.0)


def test_a_comparison_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        paired_difference([2.0, 3.0], [1.0, 2.5]).p_t = 0.01  # type: ignore[misc]


def test_equal_differences_have_the_least_p_values() -> None:
    paired = paired_difference([2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0])
    assert (paired.p_t, paired.p_wilcoxon) == (0.0, 2 / 16)
    assert paired.difference == Interval(1.0, 0.0, 4)


def test_one_pair_speaks_neither_for_nor_against_equality() -> None:
    paired = paired_difference([5.0], [1.0])
    assert (paired.difference.mean, paired.difference.half_width) == (4.0, math.inf)
    assert (paired.p_t, paired.p_wilcoxon) == (1.0, 1.0)


def test_paired_ratios_cover_the_ratio_of_means() -> None:
    draw = np.random.default_rng(11)
    covered = 0
    for _ in range(EXPERIMENTS):
        scenario = draw.normal(100.0, 20.0, 10)
        a, b = 1.2 * scenario + draw.normal(0, 5, 10), scenario + draw.normal(0, 5, 10)
        covered += paired_ratio(a, b).holds(1.2)
    assert 0.93 <= covered / EXPERIMENTS <= 0.97


def test_the_ends_of_a_ratio_are_where_the_paired_t_test_turns() -> None:
    a, b = [5.0, 7.0, 9.0, 6.5, 8.0], [4.0, 6.5, 7.0, 6.0, 6.1]
    interval = paired_ratio(a, b)
    for end in (interval.low, interval.high):
        assert paired_difference(a, [end * y for y in b]).p_t == pytest.approx(0.05, rel=1e-9)


def test_ratios_without_a_bound_say_so() -> None:
    assert paired_ratio([1.0, 2.0, 3.0], [-1.0, 0.5, 1.0]).high == math.inf
    assert math.isnan(paired_ratio([1.0, 2.0], [-1.0, 1.0]).mean)
    proportional = paired_ratio([30.0, 33.0, 36.0], [10.0, 11.0, 12.0])
    assert (proportional.low, proportional.high) == (3.0, 3.0)
    assert paired_ratio([3.0], [2.0]) == Interval(1.5, math.inf, 1)


def test_a_ratio_loses_its_bound_at_the_confidence_at_which_the_denominator_may_be_zero() -> None:
    # Student's distribution of two values is Cauchy's; the mean of 1 and 5 is 1.5 standard errors.
    at = 2.0 * math.atan(1.5) / math.pi
    near = [at + step * 2.0**-53 for step in range(-30, 31)]
    unbounded = [math.isinf(paired_ratio([1.0, 2.0], [1.0, 5.0], each).half_width) for each in near]
    assert unbounded == sorted(unbounded)
    assert (unbounded[0], unbounded[-1]) == (False, True)


@given(
    st.lists(st.tuples(st.floats(1, 100), st.floats(50, 100)), min_size=3, max_size=10), st.floats(0.1, 10)
)
def test_ratios_stretch_with_their_numerator(pairs: list[tuple[float, float]], scale: float) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    before, after = paired_ratio(a, b), paired_ratio([scale * x for x in a], b)
    assert after.low == pytest.approx(before.low * scale, rel=1e-6, abs=1e-6)
    assert after.high == pytest.approx(before.high * scale, rel=1e-6, abs=1e-6)


def test_holm_adjusts_as_worked_out_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_lowers(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1.0 for p, q in zip(p_values, adjusted, strict=True))
    ranked = sorted(zip(p_values, adjusted, strict=True))
    assert all(before[1] <= after[1] for before, after in pairwise(ranked))
    # Never beyond Bonferroni.
    assert all(q <= min(1.0, len(p_values) * p) for p, q in zip(p_values, adjusted, strict=True))


def test_holm_keeps_the_chance_of_a_false_finding_in_the_family() -> None:
    families = np.random.default_rng(12).uniform(size=(EXPERIMENTS, 10))
    wrong = sum(min(holm(family)) <= 0.05 for family in families)
    assert 0.035 <= wrong / EXPERIMENTS <= 0.065


@pytest.mark.parametrize(
    ("packets", "printed"),
    [((50681, 48974), 0.99971), ((100029, 5), 0.50004), ((100057, 2), 0.50001), ((99717, 84, 2, 0), 0.25043)],
)
def test_jain_gives_the_fairness_that_bansal_and_barua_print(
    packets: tuple[int, ...], printed: float
) -> None:
    assert jain(packets) == pytest.approx(printed, abs=1.5e-5)


@given(POSITIVE, st.floats(1e-3, 1e3))
def test_fairness_is_within_its_bounds_and_knows_no_unit(values: list[float], scale: float) -> None:
    index = jain(values)
    assert 1 / len(values) - 1e-12 <= index <= 1 + 1e-12
    assert jain([scale * value for value in values]) == pytest.approx(index, rel=1e-9)
    assert 0.0 <= max_min(values) <= 1.0


def test_fairness_of_extremes() -> None:
    assert jain([0.0, 0.0, 9.0]) == pytest.approx(1 / 3)
    assert jain([5e-320, 5e-320]) == 1.0
    assert math.isnan(jain([0.0, 0.0]))
    assert jain([1.0, 0.5]) == pytest.approx(0.9)
    assert math.isnan(max_min([0.0, 0.0]))
    assert max_min([4.0, 1.0, 2.0]) == 0.25
    assert max_min([0.0, 2.0]) == 0.0
    assert unfairness([3.0, 0.0], [3.0, 4.0]) == pytest.approx(0.8)
    assert unfairness([1.0, 2.0], [1.0, 2.0]) == 0.0
    assert unfairness([0.25], [1.0]) == 0.75


def test_jain_of_each_group_is_that_of_the_group() -> None:
    groups = [[3.0, 1.0], [0.5], [0.0, 0.0], [1.0, 2.0, 3.5]]
    found = jain_of_each([value for group in groups for value in group], [len(group) for group in groups])
    assert repr(found) == repr([jain(group) for group in groups])
    with pytest.raises(InputError, match="0 or more"):
        jain_of_each([1.0, -1.0], [2])


def test_a_heavy_tail_is_told_and_a_light_one_is_not() -> None:
    draw = np.random.default_rng(13)
    told = sum(heavy_tail_warning(sample) is not None for sample in draw.pareto(1.2, (200, 30)))
    false_alarms = sum(heavy_tail_warning(sample) is not None for sample in draw.normal(5, 1, (1000, 30)))
    assert told > 190
    assert false_alarms <= 20
    assert heavy_tail_warning([0.0] * 9 + [1.0]) is not None
    assert heavy_tail_warning([1e9 + 1e-7 * (i % 3) for i in range(10)]) is None


def test_shares_are_between_0_and_1_and_confidences_not_too_close_to_1() -> None:
    last, first = math.nextafter(1.0, 0.0), math.nextafter(0.0, 1.0)
    assert [checks.share(each, "here") for each in (first, last)] == [first, last]
    for refused in (0.0, 1.0, math.nan):
        with pytest.raises(InputError):
            checks.share(refused, "here")
    most = 1.0 - 1e-14
    assert checks.confidence(most, "here") == most
    with pytest.raises(InputError, match="at most"):
        checks.confidence(math.nextafter(most, 1.0), "here")


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: mean_interval([]), "no values"),
        (lambda: mean_interval([1.0, math.nan]), "finite number"),
        (lambda: mean_interval([1.0, None]), "None"),  # type: ignore[list-item]
        (lambda: mean_interval([1.0], confidence=95), "0.95"),
        (lambda: paired_difference([1.0, 2.0], [1.0]), "2 and 1 values"),
        (lambda: paired_interval([1.0, 2.0], [1.0]), "2 and 1 values"),
        (lambda: paired_ratio([], []), "no values"),
        (lambda: bootstrap_interval([1.0, 2.0], "mode"), "mean, median"),
        (lambda: bootstrap_interval([1.0, 2.0], seed=-1), "0 or more"),
        (lambda: percentile_interval([1.0, 2.0], 0), "above 0 and below 1"),
        (lambda: percentiles([1.0, 2.0], (101,)), "from 0 to 100"),
        (lambda: holm([0.5, 1.1]), "value 1"),
        (lambda: jain([1.0, -1.0]), "0 or more"),
        (lambda: unfairness([1.0], [0.0]), "fair share"),
    ],
)
def test_what_is_no_data_is_refused(call, what: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=what):
        call()
