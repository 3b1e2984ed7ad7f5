"""Coverage of the intervals of means, in small; `python -m validation.intervals` makes the whole table."""

import math

import pytest

from validation.intervals import ALWAYS, KINDS, SIZES, coverage, table

EXPERIMENTS = 300


@pytest.mark.parametrize("n", SIZES)
def test_intervals_cover_the_mean_of_what_replications_look_like(n: int) -> None:
    found = {kind.name: coverage(kind, n, EXPERIMENTS)[0] for kind in KINDS}
    # Each within three standard errors of the lower limit, all together within both.
    error = math.sqrt(0.93 * 0.07 / EXPERIMENTS)
    assert [name for name, share in found.items() if share < 0.93 - 3 * error] == []
    assert 0.93 <= sum(found.values()) / len(found) <= 0.97


def test_students_intervals_of_the_same_values_do_not() -> None:
    nearly_all_ones = next(kind for kind in KINDS if "90 % are 1" in kind.name)
    assert coverage(nearly_all_ones, 5, EXPERIMENTS)[1] < 0.6


@pytest.mark.parametrize("kind", ALWAYS, ids=lambda kind: kind.name)
def test_intervals_of_certain_values_hold_them(kind: object) -> None:
    assert coverage(kind, 5, 10) == (1.0, 1.0)  # type: ignore[arg-type]


def test_the_table_has_all_kinds() -> None:
    assert len(table(1).rows) > len(KINDS) + len(ALWAYS)
