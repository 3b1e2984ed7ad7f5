"""Looks while replications are made: when they are, and the part of the error that each has."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.stats import Looks
from manetlab.stats.looks import doubling


def looks(most: int) -> Looks:
    return Looks.among(doubling(most))


def test_looks_double_and_share_out_the_error() -> None:
    assert [doubling(n) for n in (2, 10, 11, 20, 70)] == [
        [2],
        [10],
        [10, 11],
        [10, 20],
        [10, 20, 40, 70],
    ]
    assert looks(70) == Looks((10, 20, 40), 70)
    assert [looks(70).part(n) for n in (10, 20, 40, 70)] == pytest.approx([1 / 4, 1 / 12, 1 / 24, 5 / 8])
    # Without a look before the last, everything is as it is without elimination.
    assert looks(10).part(10) == 1.0
    # Rounds that grow by a quarter, as those of a precision that is wanted.
    assert Looks.among([4, 5, 7, 9, 12, 15, 19, 24, 30, 38, 48, 60]).before == (12, 24, 48)


@given(st.integers(2, 100_000), st.integers(2, 100_000))
def test_the_parts_are_the_whole_error_and_more_replications_change_no_earlier_one(a: int, b: int) -> None:
    few, many = looks(min(a, b)), looks(max(a, b))
    assert math.fsum(many.part(n) for n in (*many.before, many.last)) == pytest.approx(1.0)
    assert many.part(many.last) >= 0.5
    assert all(few.part(n) == many.part(n) for n in few.before)


def test_a_look_after_one_replication_is_allowed_and_none_after_nothing() -> None:
    assert Looks((1, 2), 3).part(1) == 0.25
    assert len({Looks((), 1), Looks((), 1), Looks((), 2)}) == 2
    with pytest.raises(InputError):
        Looks((), 0)


def test_looks_that_cannot_be_are_refused() -> None:
    for before in ((10, 10), (5, 30), (30, 5), (10, 20)):
        with pytest.raises(InputError) as refused:
            Looks(before, 20)
        assert refused.value.found == str([*before, 20])
    with pytest.raises(InputError, match="one of 5, 10"):
        Looks((5,), 10).part(7)
