"""The search for the largest load: what it finds, how often it is right, what it costs."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Sequence

import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats import borders
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
    search = BorderSearch([1, 2, 3, 4, 5], SHARE)
    for level, value in ((1, 0.97), (2, 0.4), (3, 0.5), (4, 0.97), (5, 0.97)):
        search.values[level] = [value, value + 0.01] * 4
    found = search.border()
    assert found.out_of_order == (2, 5)
    assert (found.low, found.high) == (1, 1)


@pytest.mark.parametrize("at_least", [True, False])
def test_the_estimate_is_the_greatest_open_level_whose_fitted_mean_is_on_the_limit(at_least: bool) -> None:
    search = BorderSearch([1, 2, 3, 4], Limit(10.0, at_least))
    # Levels 2 and 3 are in the wrong order: both are fitted by the mean of 9 and 11.
    for level, off in ((1, 2.0), (2, -1.0), (3, 1.0), (4, -5.0)):
        mean = 10.0 + (off if at_least else -off)
        width = 0.125 if level in (1, 4) else 5.0
        search.values[level] = [mean - width, mean + width] * 4
    found = search.border()
    assert (found.low, found.estimate, found.high) == (1, 3, 3)


def test_the_estimate_is_not_beyond_what_is_shown() -> None:
    search = BorderSearch([1, 2, 3], SHARE)
    for level, value in ((1, 0.97), (2, 0.4), (3, 0.4)):
        search.values[level] = [value, value + 0.01] * 4
        search.status(level)
    search.values[2] += [0.99] * 92
    found = search.border()
    assert (found.low, found.estimate, found.high) == (1, 1, 1)


@pytest.mark.parametrize("at_least", [True, False])
def test_values_that_are_all_on_the_limit_keep_to_it(at_least: bool) -> None:
    assert Limit(0.5, at_least, 0.0, 1.0).status([0.5] * 8, 0.95) is Status.HOLDS


def test_without_more_said_a_mean_has_no_bounds_and_must_be_the_limit_or_more() -> None:
    assert Limit(5.0) == Limit(5.0, True, -math.inf, math.inf)


def test_a_value_above_the_greatest_leaves_an_interval_without_an_upper_bound() -> None:
    # All on the bound: Wilson's interval with Student's quantile of 7 degrees of freedom.
    on_it = SHARE.interval([1.0] * 8, 0.95)
    assert (on_it.low, on_it.high) == (pytest.approx(8 / (8 + 2.3646**2), rel=1e-4), 1.0)
    over = [0.5, 0.75, 1.125]
    assert SHARE.interval(over, 0.95) == Limit(0.9, least=0.0).interval(over, 0.95)


@pytest.mark.parametrize(
    ("most", "looks"),
    [(8, [8]), (9, [8, 9]), (16, [8, 16]), (64, [8, 16, 32, 64]), (70, [8, 16, 32, 64, 70])],
)
def test_a_level_is_looked_at_whenever_its_replications_have_doubled(most: int, looks: list[int]) -> None:
    assert list(BorderSearch([1], SHARE, most).looks()) == looks


@pytest.mark.parametrize(("levels", "looked_at"), [(7, 1 + 3), (8, 1 + 4), (15, 1 + 4), (20, 1 + 5)])
def test_the_error_is_divided_by_the_looks_and_the_levels_that_halving_meets(
    levels: int, looked_at: int
) -> None:
    # Seven levels have eight possible borders, which three halvings tell apart.
    search = BorderSearch(range(levels), SHARE, most=64, confidence=0.9)
    assert search.confidence_of_a_look == pytest.approx(1.0 - 0.1 / (4 * looked_at), abs=1e-12)


def test_a_search_is_made_again_from_what_is_printed_of_it() -> None:
    search = BorderSearch([1, 2], SHARE)
    search.values[1] = [0.99, 0.98] * 4
    assert search.status(1) is Status.HOLDS
    assert eval(repr(search), {**vars(borders), "inf": math.inf}) == search
    with pytest.raises(TypeError):
        BorderSearch([1, 2], SHARE, 64, 0.95, {}, {})  # type: ignore[call-arg]


def test_limits_and_borders_cannot_be_changed() -> None:
    for value, name in ((SHARE, "threshold"), (BorderSearch([1], SHARE).border(), "low")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, 0.5)


@given(st.dictionaries(st.integers(0, 9), st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=1))
def test_fitted_means_are_in_order_and_keep_the_mean_of_all(values: dict[float, Sequence[float]]) -> None:
    for rising in (True, False):
        fitted = fitted_means(values, rising)
        means = list(fitted.values())
        assert list(fitted) == sorted(values)
        assert means == sorted(means, reverse=not rising)
        weighted = sum(fitted[level] * len(of) for level, of in values.items())
        assert weighted == pytest.approx(sum(map(sum, values.values())), abs=1e-9)


@given(
    st.dictionaries(
        st.integers(0, 9), st.lists(st.floats(-50, 50), min_size=1, max_size=5), min_size=1, max_size=8
    ),
    st.booleans(),
)
def test_fitted_means_are_scipys_isotonic_regression(
    values: dict[float, Sequence[float]], rising: bool
) -> None:
    levels = sorted(values)
    means = [math.fsum(values[level]) / len(values[level]) for level in levels]
    weights = [len(values[level]) for level in levels]
    theirs = scipy.optimize.isotonic_regression(means, weights=weights, increasing=rising).x
    assert list(fitted_means(values, rising).values()) == pytest.approx(theirs.tolist(), abs=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": []},
        {"levels": [2, 1]},
        {"levels": [1, 1]},
        {"levels": [1, 3, 2]},
        {"most": 7},
        {"confidence": 1.0},
    ],
)
def test_what_is_no_search_is_refused(wrong: dict[str, object]) -> None:
    given_: dict[str, object] = {"levels": [1, 2], "limit": SHARE, **wrong}
    with pytest.raises(InputError):
        BorderSearch(**given_)  # type: ignore[arg-type]
