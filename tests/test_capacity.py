"""The estimated capacity: the table's entry of the shortest path, and nothing where there is none."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import manetlab
from manetlab import InputError, Scenario, capacity_over_time
from tests.conftest import Cli
from tests.examples import mobile

MOVING = """
duration_s = 20.0
[movement.waypoint]
nodes = 20
width_m = 600.0
height_m = 600.0
[traffic.random]
tcp = 2
"""
TABLE = [900.0, 500.0, 300.0]
ROW = [[200.0 * place, 0.0] for place in range(7)]
"""Six hops of 200 m from end to end."""


def standing() -> Scenario:
    flows = [{"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0}]
    places = [*ROW, [9000.0, 0.0]]
    fields = {"movement": {"positions": places}, "traffic": {"flows": flows}}
    return Scenario.build({**fields, "duration_s": 60.0})


def test_the_capacity_is_the_tables_of_so_many_hops() -> None:
    pairs = [(0, 1), (0, 2), (0, 3), (0, 6), (6, 0), (0, 7)]
    found = capacity_over_time(standing(), pairs, step_s=10.0, table_bps=TABLE)
    assert [hops[0] for hops in found.hops] == [1, 2, 3, 6, 6, None]
    assert [bps[0] for bps in found.bps] == [900.0, 500.0, 300.0, 300.0, 300.0, 0.0]
    assert all(set(bps) == {bps[0]} for bps in found.bps)
    assert found.means_bps(50.0)[:2] == [900.0, 500.0]
    assert found.without_path() == [0.0] * 5 + [1.0]


def test_pairs_are_the_flows_and_the_table_is_the_papers_if_not_given() -> None:
    found = manetlab.capacity_over_time(standing(), step_s=1.0)
    assert found.pairs == [(0, 2)]
    assert found.bps[0][0] == pytest.approx(0.729e6)


def test_means_leave_out_what_comes_before() -> None:
    found = capacity_over_time(mobile(), step_s=1.0, table_bps=TABLE)
    for bps, mean, late in zip(found.bps, found.means_bps(), found.means_bps(15.0), strict=True):
        assert mean == pytest.approx(sum(bps) / 20)
        assert late == pytest.approx(sum(bps[15:]) / 5)
    with pytest.raises(InputError, match="no instant is left"):
        found.means_bps(20.0)


@pytest.mark.parametrize("table", [[], ["1"], [-1.0]])
def test_a_table_that_is_none_is_refused(table: list[float]) -> None:
    with pytest.raises(InputError, match="table"):
        capacity_over_time(standing(), table_bps=table)


def test_the_command_line_prints_means_and_writes_the_series(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(MOVING)
    done = cli("scenario", "capacity", path, "--step", 0.5, "--output", "capacity.csv")
    assert done.returncode == 0, done.stderr
    found = capacity_over_time(path, step_s=0.5)
    assert all(f"{mean / 1e3:.1f}" in done.stdout for mean in found.means_bps())
    with (tmp_path / "capacity.csv").open() as text:
        rows = list(csv.DictReader(text))
    written = [float(row["capacity_bps"]) for row in rows if row["flow"] == "1"]
    assert written == found.bps[1]
    assert [row["hops"] for row in rows if row["flow"] == "0"] == [
        "" if hops is None else str(hops) for hops in found.hops[0]
    ]


def test_the_series_takes_the_place_of_nothing_that_is_read(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scenario.csv"
    path.write_text(MOVING)
    done = cli("scenario", "capacity", path, "--output", path)
    assert (done.returncode, "overwrite" in done.stderr) == (2, True)
    done = cli("scenario", "capacity", path, "--output", "out.txt")
    assert (done.returncode, ".csv or .parquet" in done.stderr) == (2, True)
