"""Movement as tracks and from several files: what each replication gets, and what is refused."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import InputError, Scenario, _core
from manetlab.campaign import worker
from manetlab.campaign.plan import Task
from manetlab.movement_files import expanded
from manetlab.origin import Origin

FLOW = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 1.0, "bytes": 100, "interval_s": 0.5}
WALK: dict[str, Any] = {"label": "walker", "t_s": [0.0, 10.0], "x_m": [0.0, 100.0], "y_m": [0.0, 0.0]}
STAND: dict[str, Any] = {"label": "stand", "t_s": [0.0], "x_m": [50.0], "y_m": [10.0]}


def scenario(movement: object, **fields: Any) -> Scenario:
    return Scenario(movement=movement, traffic={"flows": [FLOW]}, duration_s=20.0, **fields)


def files(folder: Path, count: int) -> None:
    """Movement files of two nodes whose distance is that of their number in hundreds of m."""
    for number in range(1, count + 1):
        lines = [
            f"$node_({node}) set {axis}_ {100 * number * node if axis == 'X' else 0}"
            for node in range(2)
            for axis in "XY"
        ]
        (folder / f"d-{number}.movements").write_text("\n".join(lines) + "\n")


def campaign(folder: Path, replications: int, **movement: Any) -> manetlab.Campaign:
    base = {
        "movement": {"files": ["d-*.movements"], **movement},
        "traffic": {"flows": [FLOW]},
        "duration_s": 9,
    }
    factors = {"routing": ["aodv", "dsr"]}
    return manetlab.Campaign(base=base, factors=factors, replications=replications, folder=folder)


def test_tracks_given_as_data_move_and_keep_their_names() -> None:
    given = scenario({"tracks": [WALK, STAND]})
    movement = given.resolve().movement
    assert movement.labels == ["walker", "stand"]
    assert movement.positions(5.0) == [(50.0, 0.0), (50.0, 10.0)]
    assert not movement.has_heights and not movement.has_presence
    again = Scenario.build(json.loads(json.dumps(given.to_dict())))
    assert again.resolve().hash == given.resolve().hash


def test_heights_names_and_presence_are_part_of_the_scenario() -> None:
    hashes = {
        scenario({"tracks": [WALK, {**STAND, **more}]}).resolve().hash
        for more in ({}, {"label": "other"}, {"z_m": [3.0]}, {"present_s": [[0.0, 5.0]]}, {"x_m": [51.0]})
    }
    assert len(hashes) == 5


def test_an_object_that_says_its_movement_is_taken() -> None:
    class Tracks:
        def to_movement(self) -> dict[str, Any]:
            return {"tracks": [WALK, STAND]}

    assert scenario(Tracks()).resolve().hash == scenario({"tracks": [WALK, STAND]}).resolve().hash


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"t_s": [0.0]}, "movement.tracks[0].x_m"),
        ({"t_s": [0.0, -1.0]}, "movement.tracks[0].t_s[1]"),
        ({"x_m": [0.0, float("nan")]}, "movement.tracks[0].x_m[1]"),
        ({"t_s": [5.0, 5.0]}, "node walker: sample 1 is not later than the sample before"),
        ({"present_s": [[3.0, 3.0]]}, "node walker: presence 0 is empty"),
        ({"label": "stand"}, "labels that differ"),
    ],
)
def test_tracks_that_cannot_be_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=r"not allowed|cannot be used") as refused:
        scenario({"tracks": [{**WALK, **changed}, STAND]}).resolve()
    assert said in str(refused.value)


def test_rows_of_the_core_may_come_in_any_order() -> None:
    rows = (array("I", [1, 0, 0]), array("d", [0, 10, 0]), array("d", [5, 9, 1]), array("d", [0, 0, 0]), None)
    movement = _core.Movement.tracks(["a", "b"], rows)
    assert movement.positions(5.0) == [(5.0, 0.0), (5.0, 0.0)]
    with pytest.raises(ValueError, match="label"):
        _core.Movement.tracks(["a"], rows)


def test_each_replication_takes_its_file_in_natural_order(tmp_path: Path) -> None:
    files(tmp_path, 11)
    assert expanded(["d-*.movements"], "here", Origin(tmp_path))[9] == "d-10.movements"
    for number in range(11):
        taken = campaign(tmp_path, 11).scenario(0, number)
        assert taken.movement_file == tmp_path / f"d-{number + 1}.movements"
        assert taken.resolve().movement.bounds[0] == 100.0 * (number + 1)
        # Alternatives are compared on the same movement.
        other = campaign(tmp_path, 11).scenario(1, number)
        assert other.movement_file == taken.movement_file


def test_runs_of_several_seeds_take_a_file_each(tmp_path: Path) -> None:
    files(tmp_path, 3)
    given = Scenario.build(
        {"movement": {"files": ["d-*.movements"]}, "traffic": {"flows": [FLOW]}, "duration_s": 5},
        folder=tmp_path,
    )
    results = manetlab.run_many([given.changed(replication=number) for number in range(3)])
    received = [result.totals["cbr_delivery_fraction"] for result in results]
    assert received == [1.0, 1.0, 0.0]
    with pytest.raises(InputError, match="fewer movement files than replications"):
        manetlab.run_many([given.changed(replication=number) for number in range(4)])


def test_fewer_files_than_replications_are_refused_unless_they_are_taken_again(tmp_path: Path) -> None:
    files(tmp_path, 2)
    with pytest.raises(InputError, match="fewer movement files than replications") as refused:
        campaign(tmp_path, 3).run()
    assert "cycle = true" in str(refused.value)
    cycled = campaign(tmp_path, 3, cycle=True)
    assert cycled.scenario(0, 2).movement_file == cycled.scenario(0, 0).movement_file
    assert cycled.run().runs["point"].count() == 6


def test_a_pattern_without_files_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file fits the pattern") as refused:
        campaign(tmp_path, 3).run()
    assert str(tmp_path) in str(refused.value)


def test_a_worker_gets_the_file_of_its_replication(tmp_path: Path) -> None:
    files(tmp_path, 3)
    work = worker.work_of(campaign(tmp_path, 3), Task(1, 2), "code")
    named = worker.named_files(work)
    assert named == [(work.origin, "d-3.movements", "movement")]
    assert (
        worker.resolve(work).movement.digest == campaign(tmp_path, 3).scenario(1, 2).resolve().movement.digest
    )


def test_a_store_names_no_files_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    files(tmp_path, 2)
    origin = Origin.of_store(tmp_path / "in" / "some.db", tmp_path / "in", None, trust=False)
    fields = {"movement": {"files": ["../d-*.movements"]}, "traffic": {"flows": [FLOW]}, "duration_s": 5}
    with pytest.raises(InputError, match="outside its folder"):
        Scenario.build(fields, "store", origin).resolve()


def test_numbers_and_cycles_are_of_files_alone() -> None:
    with pytest.raises(InputError, match="cycle only beside files"):
        scenario({"chain": {"nodes": 2}, "cycle": True})
    with pytest.raises(InputError, match="exactly one of"):
        scenario({"chain": {"nodes": 2}, "files": ["a"]})
