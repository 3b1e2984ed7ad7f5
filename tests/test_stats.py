"""Means and intervals against values worked out by hand."""

import math

import pytest

from manetlab.stats import mean_interval, paired_interval, t_quantile


def test_quantiles_of_the_printed_tables() -> None:
    assert t_quantile(0.975, 1) == pytest.approx(12.706, abs=1e-3)
    assert t_quantile(0.975, 9) == pytest.approx(2.262, abs=1e-3)
    assert t_quantile(0.995, 30) == pytest.approx(2.750, abs=1e-3)


def test_the_interval_of_a_mean() -> None:
    interval = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval.mean == 3.0
    # s = sqrt(2.5), t = 2.776 with 4 degrees of freedom.
    assert interval.half_width == pytest.approx(2.7764 * math.sqrt(2.5 / 5), rel=1e-4)


def test_pairs_take_away_what_the_scenarios_share() -> None:
    a, b = [10.0, 20.0, 30.0], [9.0, 19.1, 28.9]
    paired = paired_interval(a, b)
    assert paired.mean == pytest.approx(1.0)
    assert not paired.holds_zero
    assert mean_interval(a).half_width > 10 * paired.half_width


def test_one_value_says_nothing_of_its_spread() -> None:
    assert mean_interval([4.0]).half_width == math.inf


def test_values_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired_interval([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])
