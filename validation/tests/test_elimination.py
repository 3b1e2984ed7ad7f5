"""Coverage of sequential elimination, in small; `python -m validation.elimination` makes the whole table."""

from functools import cache

import numpy as np
import pytest

from validation.elimination import BEHIND, MOST, Case, Found, Values, cases, table, tried
from validation.intervals import BEYOND, KINDS

EXPERIMENTS = 40
"""Of each kind of values: 640 experiments with each truth, whose shares have a standard error below 1 %."""
NAMES = {kind.name for kind in KINDS}


@cache
def found(truth: str) -> dict[str, Found]:
    return {
        case.name: tried(case, EXPERIMENTS)
        for case in cases()
        if case.truth.startswith(truth) and case.name in NAMES
    }


def mean(shares: list[float]) -> float:
    return sum(shares) / len(shares)


def test_where_alternatives_differ_choices_and_intervals_are_right_as_often_as_stated() -> None:
    of_kinds = [*found("two lead").values()]
    assert mean([each.right for each in of_kinds]) >= 0.95
    assert mean([each.held for each in of_kinds]) >= 0.95


def test_equally_good_alternatives_are_kept_nearly_as_often() -> None:
    # Two of them never vary: differences are as skewed as the values. The page says how often, kind by kind.
    assert mean([each.right for each in found("all alike").values()]) >= 0.95 - 0.03


def test_replications_are_spared_where_an_alternative_is_clearly_behind() -> None:
    assert BEHIND[-1] == 0.8
    spread_little = found("two lead")["fractions, beta(99, 1)"]
    assert 0.5 < spread_little.replications < 0.75
    assert mean([each.replications for each in found("all alike").values()]) > 0.97


def test_an_alternative_that_is_given_up_wrongly_is_counted() -> None:
    def draw(_: np.random.Generator) -> Values:
        networks = np.arange(float(MOST))
        # The second is 0.9 or 1.1 below the first, although its mean is said to be the same.
        return np.column_stack([networks, networks - 1.0 + 0.1 * (-1.0) ** np.arange(MOST)])

    wrong = tried(Case("made up", "all alike", (0.0, 0.0), draw), 2)
    assert (wrong.right, wrong.held, wrong.replications) == (0.0, 0.0, 0.25)


@pytest.mark.parametrize("truth", ["all alike, two steady", "two lead"])
def test_the_table_has_every_kind_of_values(truth: str) -> None:
    listed = {case.name for case in cases() if case.truth == truth}
    assert listed >= NAMES | {kind.name for kind in BEYOND}


def test_the_table_has_a_line_for_each_case() -> None:
    assert [row[:2] for row in table(1).rows] == [(case.name, case.truth) for case in cases()]
