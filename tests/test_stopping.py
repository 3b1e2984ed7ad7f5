"""When to stop: the rule against experiments whose spread is known."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats import Interval, Sequential, mean_interval, replications_needed, t_quantile


def made(rule: Sequential, values: list[float]) -> int:
    """How many replications the rule makes of these, one after the other."""
    n = 0
    while n == 0 or rule.wants_more({"m": values[:n]}):
        n += 1
    return n


@pytest.mark.parametrize(("share", "least_n"), [(0.05, 18), (0.10, 7)])
def test_as_many_as_students_t_needs(share: float, least_n: int) -> None:
    # Standard deviation exactly a tenth of the mean: t(17) 0.1/√18 = 0.0497, t(16) 0.1/√17 = 0.0514.
    values = [10.0 - math.sqrt(0.5), 10.0 + math.sqrt(0.5)]
    assert np.std(values, ddof=1) == pytest.approx(1.0)
    assert replications_needed(values, share) == least_n


@given(st.lists(st.floats(1, 100), min_size=2, max_size=12), st.floats(0.01, 0.5))
def test_one_replication_less_would_not_do(values: list[float], share: float) -> None:
    n = replications_needed(values, share)
    assert n is not None
    s, mean = float(np.std(values, ddof=1)), sum(values) / len(values)

    def half(k: int) -> float:
        return t_quantile(0.975, k - 1) * s / math.sqrt(k)

    assert half(n) <= share * mean * (1 + 1e-9)
    assert n == 2 or half(n - 1) > share * mean * (1 - 1e-9)


def test_no_number_of_replications_bounds_a_mean_of_zero() -> None:
    assert replications_needed([-1.0, 1.0], 0.05) is None
    assert replications_needed([3.0, 3.0], 0.05) == 2
    # Zeros throughout do not vary: nothing is unknown of them.
    assert replications_needed([0.0, 0.0], 0.05) == 2


def test_ten_million_replications_are_the_most_that_are_foretold() -> None:
    # Mean 1 and standard deviation √2; with so many degrees of freedom t is normal.
    half_width = t_quantile(0.975, 10**7 - 1) * math.sqrt(2) / math.sqrt(10**7)
    assert replications_needed([0.0, 2.0], half_width * (1 + 1e-9)) == 10**7
    assert replications_needed([0.0, 2.0], half_width * (1 - 1e-9)) is None


def test_rounds_grow_by_a_quarter() -> None:
    rule = Sequential(least=10, most=40)
    assert list(rule.rounds()) == [10, 13, 17, 22, 28, 35, 40]
    assert [rule.round_after(n) for n in (0, 10, 11, 39, 40, 99)] == [10, 13, 13, 40, 40, 40]
    assert list(Sequential(least=2, most=2).rounds()) == [2]


@pytest.mark.parametrize(("spread", "relative"), [(0.1, 0.05), (0.2, 0.05), (0.3, 0.1)])
def test_it_stops_where_the_known_spread_says(spread: float, relative: float) -> None:
    draw = np.random.default_rng(3)
    rule = Sequential(relative, least=10, most=1_000)
    # With the spread known, (1.96 · spread / relative)² replications are needed, and a round goes a quarter
    # beyond.
    wanted = (1.96 * spread / relative) ** 2
    numbers = [made(rule, list(draw.normal(1.0, spread, 1_000))) for _ in range(200)]
    assert wanted <= np.mean(numbers) <= 1.25 * wanted + 5
    assert all(n in set(rule.rounds()) for n in numbers)


def test_intervals_at_the_stop_cover_nearly_as_often_as_they_say() -> None:
    draw = np.random.default_rng(4)
    rule = Sequential(0.05, least=10, most=1_000)
    covered = 0
    for _ in range(2_000):
        values = list(draw.normal(1.0, 0.15, 200))
        covered += mean_interval(values[: made(rule, values)]).holds(1.0)
    # The price of looking: some 94 % where 95 % are asked for, see docs/statistics.md.
    assert 0.925 <= covered / 2_000 <= 0.955


def test_every_wanted_metric_is_waited_for() -> None:
    rule = Sequential(0.05, least=4, most=50)
    steady, wild = [1.0, 1.01, 0.99, 1.0], [1.0, 2.0, 0.5, 1.5]
    assert not rule.wants_more({"a": steady})
    assert rule.wants_more({"a": steady, "b": wild})
    assert rule.wants_more({"a": steady, "b": []})


def test_between_rounds_it_goes_on_and_at_the_most_it_stops() -> None:
    rule = Sequential(0.05, least=4, most=6)
    assert rule.wants_more({"a": [1.0] * 3})
    assert not rule.wants_more({"a": [1.0] * 4})
    assert not rule.wants_more({"a": [1.0, 9.0] * 3})
    assert rule.wants_more({"a": [1.0] * 4}, made=3)
    assert not rule.wants_more({"a": [1.0, 9.0]}, made=6)
    assert rule.wants_more({"a": [1.0] * 11}, made=11) is False
    wide = Sequential(0.05, least=4, most=60)
    assert wide.wants_more({"a": [1.0] * 6})


def test_without_a_number_made_the_longest_list_has_it() -> None:
    rule = Sequential(0.05, least=4, most=6)
    assert not rule.wants_more({"a": [1.0, 9.0] * 3, "b": [1.0, 9.0]})


def test_an_interval_exactly_as_wide_as_wanted_is_narrow_enough() -> None:
    asked = []

    def of_half_width(half_width: float, **changes: float) -> bool:
        def interval(metric: str, values: Sequence[float], confidence: float) -> Interval:
            asked.append((metric, list(values), confidence))
            return Interval(10.0, half_width, len(values))

        return Sequential(0.05, enough=changes, interval=interval).is_met("m", [7.0, 8.0])

    # 5 % of 10.
    assert of_half_width(0.5)
    assert not of_half_width(math.nextafter(0.5, 1.0))
    assert of_half_width(2.0, m=2.0)
    assert not of_half_width(math.nextafter(2.0, 3.0), m=2.0)
    # What is enough for another metric says nothing of this one.
    assert not of_half_width(0.9, other=2.0)
    assert asked == [("m", [7.0, 8.0], 0.95)] * 5


def test_two_values_have_an_interval_and_one_has_none() -> None:
    rule = Sequential()
    assert rule.is_met("m", [7.0, 7.0])
    assert not rule.is_met("m", [7.0])
    assert not rule.is_met("m", [0.0])


def test_a_rule_is_5_per_cent_at_95_from_10_to_200_if_nothing_else_is_said() -> None:
    rule = Sequential()
    assert rule == Sequential(relative=0.05, least=10, most=200, confidence=0.95)
    assert len({rule, Sequential(), Sequential(most=300)}) == 2


def test_zeros_are_certain_and_a_mean_of_zero_is_not() -> None:
    rule = Sequential(0.05, least=4, most=50)
    assert not rule.wants_more({"a": [0.0] * 4})
    assert rule.wants_more({"a": [0.0, 0.0, 0.0, 1.0]})
    assert rule.wants_more({"a": [-1.0, 1.0, -1.0, 1.0]})
    lenient = Sequential(0.05, least=4, most=50, enough={"a": 2.0})
    assert not lenient.wants_more({"a": [-1.0, 1.0, -1.0, 1.0]})


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: Sequential(relative=0), "above 0"),
        (lambda: Sequential(least=1), "2 or more"),
        (lambda: Sequential(least=20, most=10), "20 or more"),
        (lambda: Sequential(confidence=1.0), "above 0 and below 1"),
        (lambda: Sequential(enough={"m": -1.0}), "above 0"),
        (lambda: Sequential().wants_more({}), "one or more metrics"),
        (lambda: replications_needed([1.0], 0.05), "2 or more"),
    ],
)
def test_rules_that_cannot_work_are_refused(call, what: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=what):
        call()
