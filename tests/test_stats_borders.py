"""The search for the largest load: what it finds, how often it is right, what it costs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats.borders import Border, BorderSearch, Limit, Status, fitted_means

LEVELS = list(range(1, 31))
SHARE = Limit(0.9, at_least=True, least=0.0, most=1.0)


def searched(search: BorderSearch, value: Callable[[float, int], float]) -> Border:
    """Runs a search to its end; `value` is of a level and a replication."""
    while (wanted := search.wanted()) is not None:
        level, n = wanted
        made = search.values.setdefault(level, [])
        assert n > len(made)
        made += [value(level, replication) for replication in range(len(made), n)]
    return search.border()


@given(st.integers(0, 20), st.booleans())
def test_without_noise_the_border_is_found_exactly(true: int, at_least: bool) -> None:
    limit = Limit(50.0, at_least, 0.0, 100.0)
    good, bad = (80.0, 20.0) if at_least else (20.0, 80.0)
    search = BorderSearch(range(1, 21), limit)
    found = searched(search, lambda level, _: good if level <= true else bad)
    assert (found.low or 0, found.estimate or 0, found.high or 0) == (true, true, true)
    assert found.is_open_above == (true == 20)
    # The lowest level, and by halving five of twenty, eight replications each.
    assert found.replications <= 8 * 6


def delivery(level: float, replication: int, experiment: int) -> float:
    """A share that falls with the load; replications differ, and in the same way at all levels."""
    luck = random.Random(f"{experiment} {replication}").gauss(0.0, 1.0)
    own = random.Random(f"{experiment} {replication} {level}").gauss(0.0, 1.0)
    return 1.0 / (1.0 + math.exp((level - 12.0 - 2.0 * luck - own) / 3.0))


def true_border() -> int:
    """Where the mean of `delivery` crosses the limit."""
    noise = scipy.stats.norm(0.0, math.sqrt(5.0))
    means = [
        noise.expect(lambda x, level=level: 1 / (1 + math.exp((level - 12 - x) / 3))) for level in LEVELS
    ]
    return sum(mean >= SHARE.threshold for mean in means)


def test_the_interval_covers_the_border_at_a_fraction_of_the_grids_cost() -> None:
    true, experiments = true_border(), 60
    assert 1 < true < 12
    missed, runs = 0, 0
    for number in range(experiments):
        found = searched(BorderSearch(LEVELS, SHARE), lambda level, r, e=number: delivery(level, r, e))
        missed += not (found.low or 0) <= true <= (found.high or 0)
        assert (found.low or 0) <= (found.estimate or 0) <= (found.high or 0)
        runs += found.replications
    # At a coverage of 95 % more misses are less likely than one in a thousand.
    assert missed <= scipy.stats.binom(experiments, 0.05).ppf(0.999)
    assert runs / experiments < 0.25 * 64 * len(LEVELS)


def test_levels_that_stay_open_are_within_the_interval() -> None:
    # The mean is the limit itself from level 4 to 6.
    def value(level: float, replication: int) -> float:
        mean = 0.9 if 4 <= level <= 6 else 0.97 if level < 4 else 0.5
        return mean + (0.02 if replication % 2 else -0.02)

    search = BorderSearch(range(1, 11), SHARE)
    found = searched(search, value)
    assert (found.low, found.high) == (3, 6)
    assert [search.status(level) for level in (3, 5, 7)] == [Status.HOLDS, Status.OPEN, Status.FAILS]
    assert all(len(values) <= 64 for values in search.values.values())


def test_later_replications_do_not_change_what_was_decided() -> None:
    search = BorderSearch([1, 2], SHARE)
    search.values[1] = [0.99, 0.98] * 4
    assert search.status(1) is Status.HOLDS
    search.values[1] += [0.0] * 40
    fresh = BorderSearch([1, 2], SHARE, values=dict(search.values))
    assert search.status(1) is fresh.status(1) is Status.HOLDS


def test_a_measure_that_goes_the_other_way_is_noticed() -> None:
    found = searched(BorderSearch(range(1, 21), SHARE), lambda level, _: 0.99 if level > 5 else 0.2)
    assert (found.low, found.high) == (None, None)


def test_a_higher_level_that_holds_is_told_and_does_not_count() -> None:
    search = BorderSearch([1, 2, 3, 4], SHARE)
    for level, value in ((1, 0.97), (2, 0.4), (4, 0.97)):
        search.values[level] = [value, value + 0.01] * 4
    found = search.border()
    assert found.out_of_order == (2, 4)
    assert (found.low, found.high) == (1, 1)


@given(st.dictionaries(st.integers(0, 9), st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=1))
def test_fitted_means_are_in_order_and_keep_the_mean_of_all(values: dict[float, Sequence[float]]) -> None:
    for rising in (True, False):
        fitted = fitted_means(values, rising)
        means = list(fitted.values())
        assert list(fitted) == sorted(values)
        assert means == sorted(means, reverse=not rising)
        weighted = sum(fitted[level] * len(of) for level, of in values.items())
        assert weighted == pytest.approx(sum(map(sum, values.values())), abs=1e-9)


@pytest.mark.parametrize(
    "wrong", [{"levels": []}, {"levels": [2, 1]}, {"levels": [1, 1]}, {"most": 7}, {"confidence": 1.0}]
)
def test_what_is_no_search_is_refused(wrong: dict[str, object]) -> None:
    given_: dict[str, object] = {"levels": [1, 2], "limit": SHARE, **wrong}
    with pytest.raises(InputError):
        BorderSearch(**given_)  # type: ignore[arg-type]
