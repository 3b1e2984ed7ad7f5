"""Intervals and warnings at their limits: ends, units, few values, and defaults."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import scipy.stats
from scipy.optimize import brentq

from manetlab.errors import InputError
from manetlab.stats import (
    Interval,
    bootstrap_interval,
    heavy_tail_warning,
    mean_interval,
    median_interval,
    percentile_interval,
    percentiles,
)

VALUES = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0]


@pytest.mark.parametrize("interval", [Interval(3.0, 2.0, 9), Interval.between(2.0, 1.0, 5.0, 9)])
def test_an_interval_holds_its_ends_and_nothing_beyond(interval: Interval) -> None:
    assert (interval.low, interval.high, interval.half_width) == (1.0, 5.0, 2.0)
    assert interval.holds(1.0)
    assert interval.holds(5.0)
    assert not interval.holds(math.nextafter(1.0, 0.0))
    assert not interval.holds(math.nextafter(5.0, 6.0))


def test_zero_is_held_where_it_is() -> None:
    assert Interval(0.0, 0.5, 9).holds_zero
    assert Interval.between(0.0, -1.0, 0.5, 9).holds_zero
    assert not Interval(1.0, 0.5, 9).holds_zero


def test_a_half_width_is_relative_to_the_size_of_the_mean() -> None:
    widths = [
        Interval(mean, half_width, 9).relative_half_width for mean, half_width in ((10.0, 1.0), (-4, 2))
    ]
    assert widths == [0.1, 0.5]
    assert Interval(0.0, 1.0, 9).relative_half_width == math.inf
    assert Interval(5.0, 0.0, 9).relative_half_width == 0.0
    assert Interval(0.0, 0.0, 9).relative_half_width == 0.0


def test_another_unit_changes_the_whole_interval() -> None:
    assert Interval(2.0, 0.5, 7).scaled(-10.0) == Interval(-20.0, 5.0, 7)
    assert Interval.between(2.0, 1.0, 5.0, 7).scaled(10.0) == Interval.between(20.0, 10.0, 50.0, 7)
    assert len({Interval(2.0, 0.5, 7), Interval(2.0, 0.5, 7), Interval(2.0, 0.5, 8)}) == 2


def test_two_values_bound_their_mean_and_one_does_not() -> None:
    # The deviation is √2, and Student's quantile with one degree of freedom is tan(0.475 π).
    found = mean_interval([1.0, 3.0])
    assert (found.mean, found.half_width, found.n) == (2.0, pytest.approx(math.tan(0.475 * math.pi)), 2)
    assert mean_interval([4.0]) == bootstrap_interval([4.0]) == Interval(4.0, math.inf, 1)
    of_two = bootstrap_interval([1.0, 3.0])
    assert 1.0 <= of_two.low < 2.0 < of_two.high <= 3.0


def test_students_interval_is_scipys() -> None:
    for confidence in (0.5, 0.95, 0.999):
        found = mean_interval(VALUES, confidence)
        ends = scipy.stats.ttest_1samp(VALUES, 0.0).confidence_interval(confidence)
        assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-12)
    assert mean_interval(VALUES) == mean_interval(VALUES, 0.95)


def test_a_bootstrap_has_9999_resamples_and_seed_1_if_nothing_else_is_said() -> None:
    values = [math.sqrt(number) for number in range(2, 22)]
    assert bootstrap_interval(values) == bootstrap_interval(values, "mean", 0.95, 1, 9_999)
    assert bootstrap_interval(values) != bootstrap_interval(values, resamples=10_000)
    assert math.isfinite(bootstrap_interval(VALUES, seed=0, resamples=99).half_width)
    # The only resample is both ends.
    assert bootstrap_interval(VALUES, "median", resamples=1).half_width == 0.0


@pytest.mark.parametrize("values", [[1.0, 5.0, 5.0], [1.0, 1.0, 5.0], [1.0, 2.0, 5.0]])
def test_only_values_that_are_all_equal_have_no_width(values: list[float]) -> None:
    assert bootstrap_interval(values, resamples=99).half_width > 0.0
    assert bootstrap_interval([values[0]] * 3) == Interval(1.0, 0.0, 3)


def test_percentiles_and_their_intervals_are_order_statistics() -> None:
    # The 2nd and the 9th of ten: 1 − 2 · 11 / 2¹⁰ = 97.9 %; the 3rd and the 8th would be 89.1 %.
    found = median_interval(range(1, 11))
    assert (found.mean, found.low, found.high, found.n) == (5.5, 2.0, 9.0, 10)
    assert percentile_interval(range(1, 11), 50.0, 0.89).low == 3.0
    assert percentile_interval(range(1, 6), 50.0).low == -math.inf
    # 0.95^71 is 2.62 %, and 0.95^72 2.49 %.
    assert [percentile_interval(range(n), 95.0).high for n in (71, 72)] == [math.inf, 71.0]
    assert [percentile_interval(range(n), 5.0).low for n in (71, 72)] == [-math.inf, 0.0]
    assert percentiles(range(101)) == [5.0, 50.0, 95.0]
    assert percentiles([1.0, 2.0, 3.0], (0.0, 0.5, 99.5, 100.0)) == pytest.approx([1.0, 1.01, 2.99, 3.0])


def test_few_values_and_values_that_vary_by_rounding_show_no_tail() -> None:
    assert heavy_tail_warning([0.0] * 6 + [1.0]) is None
    assert heavy_tail_warning([0.0] * 7 + [1.0]) is not None
    assert heavy_tail_warning([1e9] * 9 + [math.nextafter(1e9, 2e9)]) is None
    assert heavy_tail_warning([0.0] * 10) is None


def test_the_warning_says_how_many_values_are_needed() -> None:
    # One in six: g = (1 − 2p) / √(p (1 − p)), of which the square is 3.2, times 12 · 11 / 10² for a sample.
    told = heavy_tail_warning([0.0] * 10 + [1.0] * 2)
    assert told is not None
    assert "skewness 2.1 in 12 values" in told
    assert "about 106 values" in told


def skewed(far: float, n: int) -> list[float]:
    """Values on a line but for the last, which is far beyond them."""
    return [*(step / (n - 2) for step in range(n - 1)), far]


def test_cochrans_rule_ends_at_25_times_the_squared_skewness() -> None:
    def at(skewness: float) -> list[float]:
        far = brentq(lambda far: scipy.stats.skew(skewed(far, 50), bias=False) - skewness, 1.0, 9.0)
        return skewed(far, 50)

    # 25 · 1.41² = 49.7, for which 50 values are enough; 25 · 1.42² = 50.4.
    assert scipy.stats.skewtest(at(1.41)).pvalue < 0.001
    assert heavy_tail_warning(at(1.41)) is None
    assert heavy_tail_warning(at(1.42)) is not None


def test_a_skewness_that_chance_makes_in_one_of_a_hundred_samples_is_told() -> None:
    def at(p: float) -> list[float]:
        far = brentq(lambda far: scipy.stats.skewtest(skewed(far, 12)).pvalue - p, 1.1, 9.0)
        return skewed(far, 12)

    assert heavy_tail_warning(at(0.011)) is None
    assert heavy_tail_warning(at(0.009)) is not None


@pytest.mark.parametrize(
    "refused",
    [
        lambda: bootstrap_interval(VALUES, seed=True),
        lambda: bootstrap_interval(VALUES, seed=1.0),  # type: ignore[arg-type]
        lambda: bootstrap_interval(VALUES, resamples=0),
        lambda: bootstrap_interval(VALUES, "sum"),
        lambda: percentiles(VALUES, (-0.1,)),
        lambda: percentiles(VALUES, (100.1,)),
        lambda: percentile_interval(VALUES, 100.0),
    ],
)
def test_what_is_beyond_a_limit_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        refused()
