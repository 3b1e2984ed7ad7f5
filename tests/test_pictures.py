"""Pictures of scenarios: what they draw follows from positions and range."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import manetlab
from manetlab import pictures, topology
from manetlab.scenario import Scenario
from tests.conftest import Cli

CHAIN = {
    "movement": {"positions": [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (5000.0, 0.0)]},
    "traffic": {
        "flows": [
            {"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0},
            {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 100, "interval_s": 1.0},
        ]
    },
    "duration_s": 10.0,
}
WALK = {
    "movement": {"waypoint": {"nodes": 12, "width_m": 900.0, "height_m": 300.0, "speed_max": 20.0}},
    "traffic": {"random": {"tcp": 1, "cbr": 0}},
    "duration_s": 20.0,
}


def test_the_topology_shows_links_and_the_flows_paths() -> None:
    axes = pictures.plot(Scenario.build(CHAIN))
    assert "4 nodes, 2 links of up to 250 m" in axes.get_title()
    drawn = [[tuple(point) for point in line.get_xydata()] for line in axes.lines]
    assert drawn == [[(0, 0), (200, 0), (400, 0)], [(0, 0), (5000, 0)]]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["0 → 2: 2 hops", "0 → 3: no path"]


def test_connectivity_is_that_of_all_pairs() -> None:
    resolved = Scenario.build(WALK).resolve()
    found = pictures.connectivity(resolved, 1.0)
    assert found["time_s"] == [float(second) for second in range(21)]
    for time_s, degree, partitioned in zip(*found.values(), strict=True):
        places = resolved.movement.positions(time_s)
        near = [
            {b for b, q in enumerate(places) if b != a and math.dist(p, q) <= 250}
            for a, p in enumerate(places)
        ]
        assert degree == sum(map(len, near)) / 12
        apart = 0
        for start in range(12):
            seen, todo = {start}, [start]
            while todo:
                todo += [other for other in near[todo.pop()] if other not in seen and not seen.add(other)]  # type: ignore[func-returns-value]
            apart += 12 - len(seen)
        assert partitioned == pytest.approx(apart / (12 * 11))


def test_connectivity_agrees_with_the_report_of_the_topology() -> None:
    resolved = Scenario.build(WALK).resolve()
    found, told = pictures.connectivity(resolved, 1.0), topology.report(resolved)
    # The report looks at instants that begin a step: not at the end of the run.
    assert told.degree_mean == pytest.approx(sum(found["degree"][:-1]) / 20)


@pytest.mark.parametrize("kind", pictures.KINDS)
@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_files_are_the_same_each_time(tmp_path: Path, kind: str, ending: str, start: bytes) -> None:
    made = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.{ending}"
        pictures.save(Scenario.build(WALK), path, kind, at_s=5.0)
        made.append(path.read_bytes())
    assert made[0].startswith(start)
    assert made[0] == made[1]


def test_the_command_draws_a_file(cli: Cli, tmp_path: Path) -> None:
    assert cli("scenario", "generate", "--nodes", 5, "--duration", 5, "-o", "a.toml").returncode == 0
    done = cli("scenario", "plot", "a.toml", "--what", "movement", "-o", "a.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.svg").exists()
    for wrong in (
        ["-o", "a.gif"],
        ["-o", "b.svg", "--at", "6"],
        ["-o", "b.svg", "--step", "0"],
        ["-o", "a.toml"],
    ):
        done = cli("scenario", "plot", "a.toml", *wrong)
        assert done.returncode == 2, wrong
        assert "Traceback" not in done.stderr


def test_other_kinds_and_times_are_refused() -> None:
    with pytest.raises(manetlab.InputError, match="no such picture"):
        pictures.plot(Scenario.build(CHAIN), "map")
    with pytest.raises(manetlab.InputError, match="time"):
        pictures.plot(Scenario.build(CHAIN), at_s=11.0)
