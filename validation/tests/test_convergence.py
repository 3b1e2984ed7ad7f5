"""How the counts of answered pings are read."""

from __future__ import annotations

import pytest

from validation import convergence


def test_the_time_is_that_of_the_first_round_with_nine_of_ten_pings() -> None:
    assert convergence.reached_s([0, 179, 180, 170, 200]) == 4
    assert convergence.reached_s([200]) == 0
    assert convergence.reached_s([179] * 9) is None


def test_the_level_is_that_of_the_last_rounds() -> None:
    assert convergence.level([0] * 50 + [180] * 10) == pytest.approx(0.9)


def test_times_are_told_with_their_range_and_never_comes_last() -> None:
    assert convergence.times_cell([8, 4, 6]) == "6 (4 to 8)"
    assert convergence.times_cell([4, 6]) == "5 (4 to 6)"
    assert convergence.times_cell([None, 4, 6]) == "6 (4 to never)"
    assert convergence.times_cell([None, 4, None]) == "never (4 to never)"
    assert convergence.times_cell([None, None]) == "never"


def test_every_daemon_that_was_measured_has_a_set_beside_it() -> None:
    measured = {daemon for daemon in convergence.DAEMONS.values() if daemon}
    assert measured == set(convergence.PUBLISHED_S)
    assert all(len(times) == len(convergence.SHAPES) for times in convergence.PUBLISHED_S.values())


def test_starts_that_do_nothing_add_up() -> None:
    assert convergence.asked_s(0) == pytest.approx(1.6)
    # The first row's start, pings and end, then the next start and its wait.
    assert convergence.asked_s(1) == pytest.approx((1.6 + 0 + 2 + 0.3) + 1.6 + 2)
    assert convergence.asked_s(2) == pytest.approx((1.6 + 0 + 2 + 0.3) + (1.6 + 2 + 2 + 0.3) + 1.6 + 4)
