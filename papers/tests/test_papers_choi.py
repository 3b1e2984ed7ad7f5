"""The claims on TSR, on runs made for them: each can hold, be contradicted and stay open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from manetlab_papers import ledger
from manetlab_papers.functions import load_all
from manetlab_papers.outcomes import Outcome, pair_apart
from manetlab_papers.quantities import Evaluator, TooFew
from manetlab_papers.rules import Verdict, judge
from manetlab_papers.samples import Runs, Tables
from manetlab_papers.tables import tables_of

REPRODUCED, CONTRADICTED, INCONCLUSIVE = Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE
LEDGER = ledger.load()
load_all()
SPEEDS, SYSTEMS = (2, 5, 10, 20, 30), ("DSR", "ELFN", "TSR")
WOBBLE = (0.0, 0.01, -0.01, 0.005, -0.005, 0.002, -0.002, 0.0)
"""By how much scenarios differ, in parts of the mean."""
Measures = Mapping[str, float]
PLAIN = {
    "eq2_goodput_bps": 4e5,
    "invalid_routes": 100.0,
    "routes_taken": 200.0,
    "invalid_routes_with_probes": 120.0,
    "tcp_timeouts": 20.0,
    "tcp_backoffs": 10.0,
    "longest_gap_s": 20.0,
    "timeouts_in_row": 3.0,
    "path_hops_mode": 3.0,
    "path_hops_mode_share": 0.5,
    "path_partitioned": 0.1,
}


def runs_of(measures: Callable[[int, str, int, int], Measures]) -> Runs:
    """Runs of both campaigns, as `PLAIN` but for what is given at a speed, system, scenario, sessions."""
    runs = Runs()
    for name, sessions in (("one-session", 1), ("ten-sessions", 10)):
        rows, flows = [], []
        for speed in SPEEDS:
            for system in SYSTEMS:
                for number, apart in enumerate(WOBBLE):
                    place = {"speed": speed, "system": system, "replication": number}
                    given = {**PLAIN, **measures(speed, system, number, sessions)}
                    # Paths are the same under all systems, to the last bit.
                    made = {key: each if "path" in key else each * (1 + apart) for key, each in given.items()}
                    rows.append({**place, **made})
                    flows.append({**place, "flow": 0, "kind": "tcp", **made})
        runs.add(name, Tables({}, rows, flows))
    return runs


def verdict(name: str, measures: Callable[[int, str, int, int], Measures]) -> Verdict:
    return judge(LEDGER.claim(name), Evaluator(LEDGER, runs_of(measures), full=True))


def goodputs(dsr: float, elfn: float, tsr: float) -> Callable[[int, str, int, int], Measures]:
    """One goodput of each system, whatever the speed."""
    of = dict(zip(SYSTEMS, (dsr, elfn, tsr), strict=True))
    return lambda _speed, system, _number, _sessions: {"eq2_goodput_bps": 1e5 * of[system]}


@pytest.mark.parametrize(
    ("name", "dsr", "elfn", "tsr", "expected"),
    [
        ("C-03", 1.0, 1.2, 1.5, REPRODUCED),
        ("C-03", 1.0, 1.2, 1.05, CONTRADICTED),
        ("C-03", 1.0, 1.2, 3.0, CONTRADICTED),
        ("C-04", 1.0, 1.0, 1.12, REPRODUCED),
        ("C-04", 1.0, 1.0, 0.9, CONTRADICTED),
        ("C-04", 1.0, 1.0, 1.6, CONTRADICTED),
        ("C-06", 1.0, 1.2, 1.5, REPRODUCED),
        ("C-06", 1.0, 1.2, 1.21, INCONCLUSIVE),
        ("C-06", 1.0, 1.5, 1.2, CONTRADICTED),
        ("C-17", 1.0, 1.2, 1.0, REPRODUCED),
        ("C-17", 1.2, 1.0, 1.0, CONTRADICTED),
        ("C-22", 1.0, 1.0, 1.2, REPRODUCED),
        ("C-22", 1.0, 1.2, 1.0, CONTRADICTED),
        ("C-22", 1.0, 1.0, 1.01, INCONCLUSIVE),
        ("C-20", 1.0, 1.05, 0.95, REPRODUCED),
        ("C-20", 1.0, 1.05, 1.3, CONTRADICTED),
    ],
)
def test_orders_and_changes_of_goodput(
    name: str, dsr: float, elfn: float, tsr: float, expected: Outcome
) -> None:
    assert verdict(name, goodputs(dsr, elfn, tsr)).outcome is expected


def by_speed(**of: float) -> Callable[[int, str, int, int], Measures]:
    """TSR's goodput in parts of DSR's, speed by speed."""
    return lambda speed, system, _number, _sessions: {
        "eq2_goodput_bps": 1e5 * (of[f"v{speed}"] if system == "TSR" else 1.0)
    }


def test_a_gain_must_be_greater_at_high_speed() -> None:
    found = verdict("C-05", by_speed(v2=1.0, v5=1.1, v10=1.2, v20=1.3, v30=1.5))
    assert found.outcome is REPRODUCED
    # 40 % at high speed, 5 % at low.
    assert found.ours.startswith("35.00 ±")
    assert found.ours.endswith("points")
    assert verdict("C-05", by_speed(v2=1.5, v5=1.5, v10=1.2, v20=1.1, v30=1.1)).outcome is CONTRADICTED


def test_a_gain_over_elfn_is_that_of_all_speeds_and_of_the_best() -> None:
    """At one speed a great gain does not hide losses at the others."""
    made = by_speed(v2=0.8, v5=0.8, v10=0.8, v20=0.8, v30=1.2)
    assert verdict("C-04", made).outcome is CONTRADICTED


def along(*goodput: float) -> Callable[[int, str, int, int], Measures]:
    """One goodput at each speed, under all systems."""
    of = dict(zip(SPEEDS, goodput, strict=True))
    return lambda speed, _system, _number, _sessions: {"eq2_goodput_bps": 1e5 * of[speed]}


def test_goodput_over_speeds() -> None:
    assert verdict("C-07", along(4, 5, 4, 3, 2)).outcome is REPRODUCED
    assert verdict("C-07", along(5, 4, 4, 3, 2)).outcome is CONTRADICTED
    assert verdict("C-08", along(4, 5, 4, 3, 2)).outcome is REPRODUCED
    assert verdict("C-08", along(5, 2, 3, 4, 5)).outcome is CONTRADICTED


def gaps(gap_s: float, apart: float, scenarios: int) -> Callable[[int, str, int, int], Measures]:
    return lambda speed, _system, number, _sessions: (
        {"longest_gap_s": gap_s, "path_partitioned": apart} if speed == 30 and number < scenarios else {}
    )


def test_a_session_stands_still_only_where_there_is_a_path() -> None:
    assert verdict("C-01", gaps(90, 0.1, 2)).outcome is REPRODUCED
    # Nobody stands still for so long: of 40 scenarios that does not tell.
    assert verdict("C-01", gaps(50, 0.1, 2)).outcome is INCONCLUSIVE
    # The two ends have no path for so long.
    assert verdict("C-01", gaps(90, 0.5, 2)).outcome is INCONCLUSIVE


def test_a_share_of_scenarios_is_contradicted_where_its_interval_excludes_it() -> None:
    rule = {
        "kind": "share of scenarios",
        "at_least": 60,
        "percent": 50,
        "at": LEDGER.claim("C-01").rule["at"],
    }
    claim = replace(LEDGER.claim("C-01"), rule={**rule, "of": {"flow": 0, "measure": "longest_gap_s"}})
    found = judge(claim, Evaluator(LEDGER, runs_of(gaps(90, 0.1, 2)), full=True))
    assert found.outcome is CONTRADICTED
    assert found.p is not None
    assert found.p < 0.001
    assert found.ours.startswith("2 of 40 scenarios")


def test_the_ends_of_goodput_over_all_scenarios() -> None:
    def ends(least: float, most: float) -> Callable[[int, str, int, int], Measures]:
        extremes = {0: least, 1: most}
        return lambda _speed, _system, number, _sessions: {"eq2_goodput_bps": 1e6 * extremes.get(number, 0.4)}

    assert verdict("C-02", ends(0.01, 1.3)).outcome is REPRODUCED
    assert verdict("C-02", ends(0.01, 1.7)).outcome is CONTRADICTED
    # 120 values are not the paper's 1500, of which the greatest may be greater.
    assert verdict("C-02", ends(0.01, 0.9)).outcome is INCONCLUSIVE


def held(
    shares: float, order: Callable[[int, str], float], cells: int = 4
) -> Callable[[int, str, int, int], Measures]:
    """Two scenarios of each number of hops from 2 on, for the first `cells` of them."""
    return lambda _speed, system, number, _sessions: {
        "path_hops_mode": 2 + number // 2 if number // 2 < cells else 9,
        "path_hops_mode_share": shares,
        "eq2_goodput_bps": 1e5 * order(2 + number // 2, system),
    }


AS_SAID = {"DSR": 1.0, "ELFN": 1.2, "TSR": 1.5}


@pytest.mark.parametrize("name", ["C-10", "C-11", "C-12", "C-13", "C-14"])
def test_at_three_of_four_hop_counts_that_hold(name: str) -> None:
    def said(_hops: int, system: str) -> float:
        return AS_SAID[system]

    def reversed_(hops: int, system: str) -> float:
        return 1 / AS_SAID[system] if hops > 3 else AS_SAID[system]

    assert verdict(name, held(0.9, said)).outcome is REPRODUCED
    assert verdict(name, held(0.9, said, cells=3)).outcome is REPRODUCED
    assert verdict(name, held(0.9, reversed_)).outcome is CONTRADICTED
    # Two cells are empty, or all.
    assert verdict(name, held(0.9, said, cells=2)).outcome is INCONCLUSIVE
    assert verdict(name, held(0.79, said)).outcome is INCONCLUSIVE


def test_speeds_whose_hop_counts_hold_have_scenarios_of_their_own() -> None:
    def made(at_5: float, cells: int = 4) -> Callable[[int, str, int, int], Measures]:
        def of(speed: int, system: str, number: int, sessions: int) -> Measures:
            shift = number if speed == 2 else len(WOBBLE) - 1 - number
            return held(0.9, lambda _hops, _system: at_5 if speed == 5 else 1.0, cells)(
                speed, system, shift, sessions
            )

        return of

    assert verdict("C-09", made(1.5)).outcome is REPRODUCED
    assert verdict("C-09", made(0.5)).outcome is CONTRADICTED
    open_ = verdict("C-09", made(1.5, cells=2))
    assert open_.outcome is INCONCLUSIVE
    assert "none" in open_.ours


def test_means_of_different_scenarios_are_compared_by_welchs_test() -> None:
    assert pair_apart([2.0, 2.1, math.nan], [1.0, 1.1], 5.0).outcome is REPRODUCED
    assert pair_apart([1.0, 1.1], [2.0, 2.1, 2.2], 5.0).outcome is CONTRADICTED
    assert pair_apart([1.0, 2.0], [1.1, 2.2], 5.0).outcome is INCONCLUSIVE
    assert pair_apart([1.0, 1.001], [1.02, 1.021], 5.0).reason.startswith("a tie, within")
    with pytest.raises(TooFew):
        pair_apart([1.0, math.nan], [1.0, 2.0], 5.0)


def counts(measure: str, dsr: float, elfn: float, tsr: float) -> Callable[[int, str, int, int], Measures]:
    of = dict(zip(SYSTEMS, (dsr, elfn, tsr), strict=True))
    return lambda _speed, system, _number, _sessions: {measure: of[system]}


def test_invalid_routes_and_back_offs_are_fewer_under_tsr() -> None:
    assert verdict("C-15", counts("invalid_routes", 100, 80, 40)).outcome is REPRODUCED
    assert verdict("C-15", counts("invalid_routes", 100, 30, 40)).outcome is CONTRADICTED
    assert verdict("C-19", counts("tcp_backoffs", 10, 0, 5)).outcome is REPRODUCED
    assert verdict("C-19", counts("tcp_backoffs", 5, 0, 10)).outcome is CONTRADICTED


def test_invalid_routes_go_together_with_goodput_over_the_points_of_the_figure() -> None:
    def made(sign: int) -> Callable[[int, str, int, int], Measures]:
        def of(speed: int, system: str, number: int, _sessions: int) -> Measures:
            point = SPEEDS.index(speed) + 3 * SYSTEMS.index(system)
            # Within a point scenarios with many routes carry much, whatever the points do.
            return {
                "invalid_routes": 50.0 + 5 * point + number,
                "eq2_goodput_bps": 1e5 * (20 + sign * point + 0.1 * number),
            }

        return of

    found = verdict("C-16", made(-1))
    assert found.outcome is REPRODUCED
    assert found.ours.endswith("15 points")
    assert verdict("C-16", made(+1)).outcome is CONTRADICTED
    # What goes up and down along the points correlates with nothing.
    zigzag = verdict(
        "C-16",
        lambda speed, system, _number, _sessions: {
            "invalid_routes": 50.0 + SPEEDS.index(speed),
            "eq2_goodput_bps": 1e5 * (4 + SYSTEMS.index(system)),
        },
    )
    assert zigzag.outcome is INCONCLUSIVE


@pytest.mark.parametrize(
    ("timeouts", "backoffs", "goodput", "expected"),
    [
        (30, 5, 6e5, REPRODUCED),
        (10, 5, 6e5, CONTRADICTED),
        (30, 15, 6e5, CONTRADICTED),
        (30, 5, 2e5, CONTRADICTED),
        (20.1, 5, 6e5, INCONCLUSIVE),
    ],
)
def test_more_timeouts_and_fewer_back_offs(
    timeouts: float, backoffs: float, goodput: float, expected: Outcome
) -> None:
    def made(_speed: int, system: str, _number: int, _sessions: int) -> Measures:
        own = {"tcp_timeouts": timeouts, "tcp_backoffs": backoffs, "eq2_goodput_bps": goodput}
        return own if system == "TSR" else {}

    assert verdict("C-18", made).outcome is expected


def test_alternatives_of_ten_sessions_are_less_often_invalid() -> None:
    def made(one: float, ten: float) -> Callable[[int, str, int, int], Measures]:
        return lambda _speed, _system, number, sessions: {
            "invalid_routes": (one if sessions == 1 else ten) * (1 + 0.01 * number)
        }

    assert verdict("C-21", made(100, 50)).outcome is REPRODUCED
    assert verdict("C-21", made(50, 100)).outcome is CONTRADICTED


def test_every_figure_has_its_table() -> None:
    evaluator = Evaluator(LEDGER, runs_of(held(0.9, lambda _hops, system: AS_SAID[system], 2)), full=True)
    found: dict[str, Any] = {}
    for number in (1, *range(3, 13)):
        name = f"choi2004/fig-{number}"
        found[name] = list(tables_of(LEDGER.experiments[name], evaluator))
        assert found[name], name
    text = found["choi2004/fig-5"][0].to_markdown()
    assert "| 2, 2 | 2 of 8 | 0.1" in text
    assert "| 2, 5 | 0 of 8 | none | none | none |" in text
