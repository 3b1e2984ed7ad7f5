"""Max-min fair shares: the paper's example, others by hand, linear programming on random graphs."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from manetlab import InputError
from manetlab.shares import max_min, regions

ROW = [(200.0 * place, 0.0) for place in range(8)]


def shares(**flows_of: str) -> dict[str, Fraction]:
    """The shares of flows with names of one letter."""
    return max_min({name: list(flows) for name, flows in flows_of.items()}).shares


def test_the_papers_example() -> None:
    # Osipov and Tschudin 2006, Fig. 2: four flows share α; one of them shares β with E and F.
    for common in "ABCD":
        found = max_min({"alpha": list("ABCD"), "beta": [common, "E", "F"]})
        assert found.shares == {
            **dict.fromkeys("ABCD", Fraction(1, 4)),
            **dict.fromkeys("EF", Fraction(3, 8)),
        }
        assert found.bottlenecks == {**dict.fromkeys("ABCD", "alpha"), **dict.fromkeys("EF", "beta")}


def test_a_long_flow_across_regions_of_different_load() -> None:
    # The parking lot: L crosses all; its bottleneck is the region of three.
    assert shares(a="LA", b="LBC", c="LD") == {
        "L": Fraction(1, 3),
        "A": Fraction(2, 3),
        "B": Fraction(1, 3),
        "C": Fraction(1, 3),
        "D": Fraction(2, 3),
    }


def test_regions_that_follow_from_each_other() -> None:
    # Three levels: 1/4, then (1 − 1/4)/2 = 3/8, then 1 − 3/8.
    assert shares(a="ABCD", b="DEF", c="FG") == {
        **dict.fromkeys("ABCD", Fraction(1, 4)),
        **dict.fromkeys("EF", Fraction(3, 8)),
        "G": Fraction(5, 8),
    }


def test_a_ring_of_regions_and_a_flow_apart() -> None:
    # Each flow of the ring is in two regions of three flows; Z has a region for itself.
    assert shares(a="ABX", b="BCX", c="CAX", d="Z") == {**dict.fromkeys("ABXC", Fraction(1, 3)), "Z": 1}


def test_a_flow_counts_once_in_a_region() -> None:
    assert max_min({"a": ["A", "A", "B"]}).shares == {"A": Fraction(1, 2), "B": Fraction(1, 2)}
    assert max_min({"empty": []}).shares == {}


def test_flows_that_are_no_collection_are_refused() -> None:
    with pytest.raises(InputError, match="region alpha"):
        max_min({"alpha": "AB"})


def lexicographic(members: list[set[int]], flows: int) -> np.ndarray:
    """Max-min fair shares by repeated linear programming, without any idea of filling.

    Maximises the smallest share that is not final; a flow is final if its share alone cannot be above that.
    """
    rows = np.array([[flow in member for flow in range(flows)] for member in members], dtype=float)
    final: dict[int, float] = {}
    while len(final) < flows:
        rest = [flow for flow in range(flows) if flow not in final]
        # Variables: every share, and the smallest of those that are not final.
        least = np.zeros((len(rest), flows + 1))
        for place, flow in enumerate(rest):
            least[place, flow], least[place, flows] = -1.0, 1.0
        limits = np.vstack([np.hstack([rows, np.zeros((len(rows), 1))]), least])
        bounds = [(final.get(flow, 0.0), final.get(flow, 1.0)) for flow in range(flows)]
        right = [1.0] * len(rows) + [0.0] * len(rest)
        cost = np.zeros(flows + 1)
        cost[flows] = -1.0
        level = solved(cost, limits, right, [*bounds, (0.0, 1.0)])
        floors = [(final.get(flow, level), final.get(flow, 1.0)) for flow in range(flows)]
        for flow in rest:
            alone = np.zeros(flows)
            alone[flow] = -1.0
            if solved(alone, rows, [1.0] * len(rows), floors) <= level + 1e-7:
                final[flow] = level
    return np.array([final[flow] for flow in range(flows)])


def solved(
    cost: np.ndarray, limits: np.ndarray, right: list[float], bounds: list[tuple[float, float]]
) -> float:
    # Bounds that have been found by the solver itself are true to its precision only.
    right = [each + 1e-12 for each in right]
    found = linprog(cost, A_ub=limits, b_ub=right, bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return -float(found.fun)


def random_regions(draw: random.Random) -> tuple[list[set[int]], int]:
    """Regions of random flows, every flow in one at least."""
    flows = draw.randint(1, 8)
    members = [
        {flow for flow in range(flows) if draw.random() < draw.choice((0.2, 0.5, 0.8))}
        for _ in range(draw.randint(1, 8))
    ]
    for flow in range(flows):
        if not any(flow in member for member in members):
            draw.choice(members).add(flow)
    return members, flows


@pytest.mark.parametrize("part", range(10))
def test_filling_finds_what_linear_programming_finds_on_1000_random_graphs(part: int) -> None:
    draw = random.Random(part)
    for _ in range(100):
        members, flows = random_regions(draw)
        found = max_min(dict(enumerate(members))).shares
        wanted = lexicographic(members, flows)
        assert [float(found[flow]) for flow in range(flows)] == pytest.approx(wanted, abs=1e-9)


@given(st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=1, max_size=12))
def test_every_flow_has_a_full_region_in_which_no_flow_has_more(members: list[set[int]]) -> None:
    # The condition of max-min fairness (Bertsekas and Gallager 1992, section 6.5.2), exactly.
    found = max_min(dict(enumerate(members)))
    assert all(sum(found.shares[flow] for flow in flows) <= 1 for flows in members)
    for flow, share in found.shares.items():
        bottleneck = members[found.bottlenecks[flow]]
        assert flow in bottleneck
        assert sum(found.shares[other] for other in bottleneck) == 1
        assert share == max(found.shares[other] for other in bottleneck)


def test_a_region_is_around_every_node_of_a_path_and_holds_who_can_be_heard() -> None:
    # Eight nodes, 200 m apart, 250 m of range: each node hears its two neighbours.
    found = regions(ROW, {"left": [0, 1], "right": [6, 5, 4]}, 250.0)
    assert found == {0: ("left",), 1: ("left",), 4: ("right",), 5: ("right",), 6: ("right",)}
    found = regions(ROW, {"left": [0, 1, 2], "right": [5, 4, 3]}, 250.0)
    both = ("left", "right")
    assert found == {0: ("left",), 1: ("left",), 2: both, 3: both, 4: ("right",), 5: ("right",)}


def test_two_flows_that_do_not_hear_each_other_meet_in_the_region_between_them() -> None:
    # Fig. 2: A and D know of each other by B, between them.
    found = regions(ROW, {"A": [0, 1], "B": [2, 3], "D": [4, 5]}, 250.0)
    assert found[2] == ("A", "B") and found[3] == ("B", "D")
    assert regions(ROW, {"A": [0, 1], "B": [2], "D": [3, 4]} | {"B": [2, 7]}, 250.0)[2] == ("A", "B", "D")


def test_the_range_is_included() -> None:
    places = [(0.0, 0.0), (100.0, 0.0), (350.0, 0.0), (450.0, 0.0)]
    assert regions(places, {"A": [0, 1], "B": [2, 3]}, 250.0)[1] == ("A", "B")
    assert regions(places, {"A": [0, 1], "B": [2, 3]}, 249.999)[1] == ("A",)
    assert regions(places, {}, 250.0) == {}


@pytest.mark.parametrize("path", [[0], [0, 8], [0, -1], [0, 1, 0], []])
def test_what_is_no_path_is_refused(path: list[int]) -> None:
    with pytest.raises(InputError, match="flow A"):
        regions(ROW, {"A": path}, 250.0)
