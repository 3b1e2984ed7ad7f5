"""Intervals of means that cannot lie everywhere: ends, limits, and what they share with Wilson's and t's."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats import Interval, bounded_interval, mean_interval, t_quantile

FRACTIONS = st.lists(st.floats(0, 1).map(lambda x: round(x, 6)), min_size=2, max_size=30)
RATES = st.lists(st.floats(0, 1e9).map(lambda x: round(x, 3)), min_size=2, max_size=30)


@given(FRACTIONS, st.floats(0.5, 0.999))
def test_intervals_of_fractions_stay_between_0_and_1(values: list[float], confidence: float) -> None:
    found = bounded_interval(values, 0.0, 1.0, confidence)
    assert 0.0 <= found.low <= found.mean <= found.high <= 1.0
    assert found.mean == pytest.approx(sum(values) / len(values), abs=1e-12)


@given(RATES)
def test_intervals_of_rates_stay_above_0(values: list[float]) -> None:
    found = bounded_interval(values)
    assert 0.0 <= found.low <= found.mean <= found.high
    assert math.isinf(found.high) == (max(values) == 0.0)


@given(
    RATES.filter(lambda values: max(values) > 1.0), st.sampled_from([0.001, 0.5, 8.0, 1e140, 1e205, 1e299])
)
def test_the_unit_does_not_matter(values: list[float], factor: float) -> None:
    before, after = bounded_interval(values), bounded_interval([value * factor for value in values])
    assert (after.low, after.high) == pytest.approx((before.low * factor, before.high * factor), rel=1e-9)


@given(RATES.filter(lambda values: max(values) > 1.0), st.sampled_from([1e50, 1e100, 1e205, 1.7e308]))
def test_a_bound_that_is_far_away_is_none(values: list[float], most: float) -> None:
    bounded, free = bounded_interval(values, 0.0, most), bounded_interval(values)
    assert (bounded.low, bounded.high) == pytest.approx((free.low, free.high), rel=1e-9)


def test_an_end_beyond_all_doubles_is_infinite() -> None:
    found = bounded_interval([1e308, 1.5e308, 1e307])
    assert 0.0 < found.low < found.mean < found.high == math.inf


@pytest.mark.parametrize("width", [1.0, math.inf])
@pytest.mark.parametrize("values", [[0.1, 0.4, 0.3, 0.0], [0.5, 0.25], [0.0, 0.0, 0.0], [1.0, 1.0]])
def test_the_interval_moves_with_the_bounds(values: list[float], width: float) -> None:
    before = bounded_interval(values, 0.0, width)
    for by in (1000.0, -7.0):
        after = bounded_interval([value + by for value in values], by, by + width)
        moved = (before.low + by, before.mean + by, before.high + by)
        assert (after.low, after.mean, after.high) == pytest.approx(moved, abs=1e-6)


@given(FRACTIONS)
def test_what_is_lost_has_the_interval_of_what_is_delivered(values: list[float]) -> None:
    delivered = bounded_interval(values, 0.0, 1.0)
    lost = bounded_interval([1.0 - value for value in values], 0.0, 1.0)
    assert (1.0 - lost.high, 1.0 - lost.low) == pytest.approx((delivered.low, delivered.high), abs=1e-7)


def test_the_ends_are_where_the_score_is_students_quantile() -> None:
    values = [0.99, 0.7, 0.95, 1.0, 0.9]
    found, n, mean = bounded_interval(values, 0.0, 1.0), 5, 0.908
    dispersion = scipy.stats.tvar(values) / (mean * (1 - mean)) ** 1.5
    for end in (found.low, found.high):
        score = (mean - end) / math.sqrt(dispersion * (end * (1 - end)) ** 1.5 / n)
        assert abs(score) == pytest.approx(t_quantile(0.975, n - 1), rel=1e-9)


def test_far_from_the_bounds_it_is_students_interval() -> None:
    values = [1000.0 + step for step in range(10)]
    found, student = bounded_interval(values), mean_interval(values)
    assert (found.low, found.high) == pytest.approx((student.low, student.high), rel=1e-4)


def test_bounds_are_as_large_as_the_values() -> None:
    values, unit = [2.0, 3.5, 2.5], 2.0**600
    small = bounded_interval(values, 1.9, 4.0)
    large = bounded_interval([value * unit for value in values], 1.9 * unit, 4.0 * unit)
    assert (large.low / unit, large.high / unit) == pytest.approx((small.low, small.high), rel=1e-12)


def test_values_that_are_all_on_a_bound_say_how_far_from_it_they_may_be() -> None:
    # Wilson's interval of n successes of n, with Student's quantile: n / (n + t²).
    ones = bounded_interval([1.0] * 10, 0.0, 1.0)
    assert (ones.low, ones.high) == pytest.approx((10 / (10 + 2.2622**2), 1.0), rel=1e-4)
    zeros = bounded_interval([0.0] * 10, 0.0, 1.0)
    assert (zeros.low, zeros.high) == pytest.approx((0.0, 1 - ones.low))
    # Ten zeros say nothing of how large a rate is where it is not zero.
    assert (bounded_interval([0.0] * 10).low, bounded_interval([0.0] * 10).high) == (0.0, math.inf)


def test_equal_values_elsewhere_have_no_spread_and_a_single_one_has_any() -> None:
    assert bounded_interval([0.5] * 3, 0.0, 1.0) == Interval(0.5, 0.0, 3)
    one = bounded_interval([0.5], 0.0, 1.0)
    assert (one.mean, one.low, one.high, one.n) == (0.5, 0.0, 1.0, 1)
    assert bounded_interval([3.0]).high == math.inf


def test_a_mean_nearer_to_a_bound_than_doubles_can_tell_is_on_it() -> None:
    below = [*[1.0] * 9, math.nextafter(1.0, 0.0)]
    assert bounded_interval(below, 0.0, 1.0) == bounded_interval([1.0] * 10, 0.0, 1.0)
    above = [*[1.0] * 9, math.nextafter(1.0, 2.0)]
    assert bounded_interval(above, 1.0, 2.0) == bounded_interval([1.0] * 10, 1.0, 2.0)
    # The squares of such differences are less than doubles have, in whatever order the values are.
    for least in ([0.0, 1e-300], [1e-300, 0.0]):
        assert bounded_interval(least, 0.0, 1.0) == bounded_interval([0.0, 0.0], 0.0, 1.0)
        greatest = [-value for value in least]
        assert bounded_interval(greatest, -1.0, 0.0) == bounded_interval([0.0, 0.0], -1.0, 0.0)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: bounded_interval([]),
        lambda: bounded_interval([0.5, 1.5], 0.0, 1.0),
        lambda: bounded_interval([-0.1, 0.5]),
        lambda: bounded_interval([1.0, 1.0], 1.0, 1.0),
        lambda: bounded_interval([0.5, 0.6], -math.inf, 1.0),
        lambda: bounded_interval([0.5, 0.6], 0.0, 1.0, 95.0),
    ],
)
def test_what_has_no_interval_is_refused(refused: Callable[[], Interval]) -> None:
    with pytest.raises(InputError):
        refused()
