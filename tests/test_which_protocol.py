"""The study of which protocol to take: its movement, what is kept, its page, and kept runs made again."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import run
from studies import which_protocol
from studies.which_protocol import ASKS, PLACES, SKY, TOWN, campaign, gaps, standing

RUNS = pd.read_parquet(which_protocol.KEPT)
DURATION_S = 60.0


def test_vehicles_keep_to_streets_and_to_their_speeds() -> None:
    for track in TOWN.tracks(7, DURATION_S):
        assert track[0][0] == 0.0 and track[-1][0] >= DURATION_S
        for (t0, x0, y0), (t1, x1, y1) in pairwise(track):
            assert x0 == x1 or y0 == y1, "along one street"
            assert all(0.0 <= at <= end for at, end in ((x1, 800.0), (y1, 400.0)))
            way_m, time_s = math.hypot(x1 - x0, y1 - y0), t1 - t0
            assert way_m == 0.0 or 4.99 <= way_m / time_s <= 15.01


def test_drones_stay_in_their_box_and_keep_their_direction() -> None:
    ways, turns = [], []
    for track in SKY.tracks(7, DURATION_S):
        steps = [(x1 - x0, y1 - y0, z1 - z0) for (_, x0, y0, z0), (_, x1, y1, z1) in pairwise(track)]
        assert all(0 <= x <= 3500 and 0 <= y <= 2000 and 40 <= z <= 120 for _, x, y, z in track)
        ways += [math.hypot(*step) for step in steps]
        headings = [math.atan2(dy, dx) for dx, dy, _ in steps]
        turns += [abs(math.remainder(after - before, math.tau)) for before, after in pairwise(headings)]
    assert sum(ways) / len(ways) == pytest.approx(15.0, abs=1.5)
    assert sorted(turns)[len(turns) // 2] < math.pi / 6, (
        "what is drawn anew turns by a right angle on average"
    )


def test_a_gap_is_what_two_lost_packets_in_a_row_begin() -> None:
    made = pd.DataFrame(
        {"what": "cbr", "src": 0, "dst": 1, "uid": range(8), "time_s": [0.25 * number for number in range(8)]}
    )
    arrived = pd.DataFrame({"what": "cbr", "uid": [0, 2, 5]})
    assert list(gaps(made, arrived)) == [0.5], "1 alone is none; 3 and 4 are; 6 and 7 are a quarter second"
    assert list(gaps(made, arrived[:1])) == [1.5], "to the last packet"


def test_every_run_is_kept_once_on_the_same_networks() -> None:
    whole = campaign()
    assert len(RUNS) == whole.point_count * whole.replications
    assert not RUNS.duplicated([*PLACES, "replication"]).any()
    assert (RUNS.groupby("replication")["seed"].nunique() == 1).all()


def test_the_page_is_that_of_the_kept_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(which_protocol.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert (tmp_path / which_protocol.FIGURE).is_file()
    made = (tmp_path / which_protocol.PAGE).read_text(encoding="utf-8")
    assert made == (which_protocol.DOCS / which_protocol.PAGE).read_text(encoding="utf-8")


def test_of_delays_the_shortest_is_the_best() -> None:
    for who in RUNS["who"].unique():
        verdicts = standing(RUNS, who, ASKS[-1])
        mean_s = RUNS[(RUNS["who"] == who) & (RUNS["load"] == "CBR")].groupby("protocol")[
            "cbr_latency_mean_s"
        ]
        assert verdicts[str(mean_s.mean().idxmin())].verdict != "worse"


@pytest.mark.parametrize("at", [(0, 0, 5), (1, 1, 1), (2, 2, 8)])
def test_a_kept_run_comes_out_again(at: tuple[int, int, int]) -> None:
    whole = campaign()
    labels = [whole.factors[name][place]["label"] for name, place in zip(PLACES, at, strict=True)]
    point = next(each for each in whole.points if [each.levels[name] for name in PLACES] == labels)
    [row] = RUNS[(RUNS[PLACES] == labels).all(axis=1) & (RUNS["replication"] == 0)].itertuples()
    assert run(whole.scenario(point.number, 0)).hash.startswith(str(row.result_hash))
