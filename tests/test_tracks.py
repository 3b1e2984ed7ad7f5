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
from manetlab.ceilings import of_flows
from manetlab.movement_files import expanded
from manetlab.origin import Origin
from manetlab.report import answer, conclusions, methods
from manetlab.report.study import Study
from tests.conftest import Cli

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
        scenario({"tracks": [WALK, {**STAND, **more}]}, radio={"path_loss": "friis"}).resolve().hash
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


def test_tracks_without_paths_are_told_although_the_first_one_has_them(tmp_path: Path) -> None:
    files(tmp_path, 4)
    found = answer(campaign(tmp_path, 4).run())
    [told] = [each for each in found.warnings if "tracks leave" in each]
    # At 300 and 400 m there is no path.
    assert told.startswith(
        "2 of the 4 tracks leave more than 5 % of the flows' node pairs without a path, up to 100.0 %"
    )
    whole = answer(campaign(tmp_path, 2).run())
    assert not [each for each in whole.warnings if "tracks leave" in each]


def test_an_export_names_the_file_of_each_run(tmp_path: Path) -> None:
    files(tmp_path, 2)
    campaign(tmp_path, 3, cycle=True).run().export(tmp_path / "out", formats=["csv"])
    rows = (tmp_path / "out" / "provenance.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].endswith(",movement_file")
    assert [row.rsplit(",", 1)[1] for row in rows[1:]] == 2 * [
        f"d-{number}.movements" for number in (1, 2, 1)
    ]


def test_flows_have_the_names_of_their_nodes(tmp_path: Path) -> None:
    text = "time,id,x,y\n0,Bob,0,0\n9,Bob,0,0\n0,Anna,100,0\n9,Anna,100,0\n"
    (tmp_path / "walk.csv").write_text(text, encoding="utf-8")
    flow = {"kind": "cbr", "src": "Anna", "dst": "Bob", "start_s": 1.0, "bytes": 64, "interval_s": 1.0}
    base = {"duration_s": 5.0, "movement": {"file": "walk.csv"}, "traffic": {"flows": [flow]}}
    [made] = manetlab.run(Scenario.build(base, "walk", Origin(tmp_path))).flows
    assert (made["src_name"], made["dst_name"]) == ("Anna", "Bob")
    asked = manetlab.Campaign(base=base, factors={"routing": ["aodv"]}, replications=1, folder=tmp_path)
    asked.run().export(tmp_path / "out", formats=["csv"])
    [head, row] = (tmp_path / "out" / "flows.csv").read_text(encoding="utf-8").splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True)).items() >= {
        ("src_name", "Anna"),
        ("dst_name", "Bob"),
    }


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


# Presence.


def still(label: str, x_m: float, **more: Any) -> dict[str, Any]:
    return {"label": label, "t_s": [0.0], "x_m": [x_m], "y_m": [0.0], **more}


def ran(tracks: list[dict[str, Any]], **fields: Any) -> manetlab.Result:
    flow = {**FLOW, "dst": len(tracks) - 1}
    return manetlab.run(
        Scenario(movement={"tracks": tracks}, traffic={"flows": [flow]}, duration_s=41.0, **fields)
    )


def received(result: manetlab.Result) -> int:
    return int(result.totals["cbr_received"])


@pytest.mark.parametrize("routing", ["aodv", "dsr", "dsdv", "static", "flooding"])
@pytest.mark.parametrize("absent", [0, 1, 2])
def test_nothing_passes_a_node_that_is_absent(absent: int, routing: str) -> None:
    tracks = [still(str(node), 200.0 * node) for node in range(3)]
    always = ran(tracks, routing=routing)
    tracks[absent]["present_s"] = [[0.0, 20.25]]
    left = ran(tracks, routing=routing)
    assert left.audit["balanced"]
    # A packet every half second, from 1 s on.
    assert received(left) <= 39
    assert received(left) >= received(always) - 41
    if absent == 0:
        [lost] = [drop for drop in left.drops if drop["reason"] == "absent" and drop["packets"] == "cbr"]
        assert lost["count"] == 41


def test_an_absent_node_neither_sends_nor_hears() -> None:
    never = {"present_s": [[100.0, 101.0]]}
    assert (
        ran([still("a", 0.0, **never), still("b", 200.0, **never)], routing="dsdv").provenance["arrivals"]
        == 0
    )
    alone = ran([still("a", 0.0), still("b", 200.0, **never)], routing="dsdv")
    assert alone.provenance["arrivals"] == 0
    assert received(alone) == 0


def test_presence_throughout_the_run_changes_nothing() -> None:
    tracks = [still(str(node), 200.0 * node) for node in range(4)]
    there = [{**track, "present_s": [[0.0, 50.0]]} for track in tracks]
    assert ran(tracks).hash == ran(there).hash


def test_a_node_that_comes_back_is_heard_again() -> None:
    tracks = [still("a", 0.0), still("b", 200.0, present_s=[[5.0, 10.0], [20.0, 30.0]])]
    result = ran(tracks, routing="static")
    # Between 5 and 10 s ten packets, and twenty between 20 and 30 s; ARP may lose one that it holds.
    assert 28 <= received(result) <= 31


# Heights.


def test_heights_count_in_free_space_and_are_refused_by_two_ray_ground() -> None:
    def at(z_m: float, **radio: Any) -> manetlab.Result:
        return ran(
            [still("mast", 0.0, z_m=[0.0]), still("drone", 150.0, z_m=[z_m])], radio=radio, routing="static"
        )

    with pytest.raises(InputError, match="two-ray ground, which is for antennas at one height"):
        at(10.0)
    free_space = {"path_loss": "friis", "range_m": 250.0}
    assert received(at(190.0, **free_space)) == 80
    assert received(at(210.0, **free_space)) == 0
    assert received(at(0.0)) == 80


def test_heights_count_in_the_topology() -> None:
    def hops(z_m: float) -> float | None:
        tracks = [still("mast", 0.0, z_m=[0.0]), still("drone", 150.0, z_m=[z_m])]
        radio = {"path_loss": "friis", "range_m": 250.0}
        return manetlab.topology.report(scenario({"tracks": tracks}, radio=radio)).hops_mean

    assert hops(190.0) == 1.0
    assert hops(210.0) is None


# Ceilings.


def test_a_ferry_has_a_ceiling_above_what_has_a_path() -> None:
    ferry = {"label": "ferry", "t_s": [0.0, 40.0], "x_m": [0.0, 1000.0], "y_m": [0.0, 0.0]}
    resolved = scenario({"tracks": [still("a", 0.0), still("b", 1000.0), ferry]}, warmup_s=0.0).changed(
        duration_s=41.0
    )
    [found] = of_flows(resolved.resolve())
    assert found.with_path == 0.0
    # The ferry is within 250 m of its start until 10 s: of 80 packets those of the first ten seconds.
    assert found.ceiling == pytest.approx(20 / 80, abs=2 / 80)
    assert found.held == pytest.approx(20 / 80, abs=4 / 80)


@pytest.mark.parametrize("routing", ["aodv", "dsr", "dsdv", "flooding", "static"])
def test_no_protocol_delivers_more_than_the_ceiling(routing: str) -> None:
    for seed in range(1, 5):
        sparse = manetlab.Scenario(
            movement={"waypoint": {"nodes": 12, "width_m": 1500.0, "height_m": 800.0, "speed_max": 20.0}},
            traffic={"random": {"cbr": 4, "cbr_start_within_s": 5.0}},
            duration_s=60.0,
            seed=seed,
            routing=routing,
        )
        result, found = manetlab.run(sparse), of_flows(sparse.resolve())
        assert any(each.with_path < 1.0 for each in found)
        for each in found:
            assert each.with_path <= each.held <= each.ceiling
            flow = result.flows[each.flow]
            assert flow["received"] <= each.ceiling * flow["sent"] + 1e-9


# The command line.


def test_movement_alone_is_checked_and_run(cli: Cli, tmp_path: Path) -> None:
    files(tmp_path, 2)
    done = cli("scenario", "check", "--movement", "d-1.movements")
    assert done.returncode == 0, done.stderr
    assert "2 nodes, 0 flows" in done.stdout
    assert "100 s" in done.stderr
    done = cli("run", "--movement", "d-1.movements", "--duration", "20", "--json")
    assert "5 CBR flows" in done.stderr
    assert json.loads(done.stdout)["totals"]["cbr_delivery_fraction"] == 1.0
    done = cli("run", "--movement", "d-*.movements", "--duration", "20", "--seeds", "2", "--json")
    assert len(json.loads(done.stdout)["replications"]) == 2
    done = cli("run", "--movement", "d-*.movements", "--duration", "20", "--seeds", "3")
    assert "fewer movement files than replications" in done.stderr
    assert cli("scenario", "report", "--movement", "d-1.movements").returncode == 0


def test_the_check_says_what_is_in_a_scenario(cli: Cli, tmp_path: Path) -> None:
    given = scenario({"tracks": [WALK, {**STAND, "present_s": [[0.0, 10.0]]}]})
    (tmp_path / "tracks.json").write_text(json.dumps(given.to_dict()))
    tracks = "".join(
        "[[movement.tracks]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in track.items())
        for track in given.to_dict()["movement"]["tracks"]
    )
    flow = ", ".join(f"{key} = {json.dumps(value)}" for key, value in FLOW.items())
    (tmp_path / "s.toml").write_text(f"duration_s = 20.0\ntraffic.flows = [{{ {flow} }}]\n{tracks}")
    done = cli("scenario", "check", "s.toml")
    assert done.returncode == 0, done.stderr
    for told in ("names: walker, stand", "1 of 2 nodes join or leave", "ceiling", "neighbours"):
        assert told in done.stdout
    found = json.loads(cli("scenario", "check", "s.toml", "--json").stdout)
    assert found["labels"] == ["walker", "stand"]
    [ceiling] = found["ceilings"]
    assert ceiling["with_path"] == pytest.approx(18 / 38, abs=0.03)


# What is said of one track.


def test_one_track_is_one_network_whatever_is_drawn_of_the_traffic(tmp_path: Path) -> None:
    files(tmp_path, 3)
    traffic = {"random": {"cbr": 1}}

    def told(
        levels: list[dict[str, Any]], replications: int = 3
    ) -> tuple[list[str], list[str], dict[str, str]]:
        base = {"traffic": traffic, "movement": levels[0]["fields"]["movement"], "duration_s": 9}
        factors = {"routing": ["aodv", "dsr"], "speed": levels}
        made = manetlab.Campaign(base=base, factors=factors, replications=replications, folder=tmp_path)
        study = Study(made.run())
        rows = {row[0].shown: row[1].shown for row in methods.table(study).rows}
        return (
            conclusions.tested(study),
            conclusions.cautions(study),
            {str(k): str(v) for k, v in rows.items()},
        )

    one = [{"label": speed, "fields": {"movement": {"file": f"d-{speed}.movements"}}} for speed in (1, 2)]
    tested, cautions, rows = told(one)
    assert (
        "3 replications, all with the same movement and only the traffic drawn anew, of each"
        in rows["replications"]
    )
    assert "one track: ns-2 file d-1.movements" in rows["mobility model"]
    for said in (tested, cautions):
        [network] = [each for each in said if "One track is one network" in each]
        assert "these 2 tracks" in network
        assert "“speed”" in network
    many = [
        {"label": speed, "fields": {"movement": {"files": ["d-*.movements"], "cycle": cycle}}}
        for speed, cycle in ((1, False), (2, True))
    ]
    tested, cautions, rows = told(many)
    assert "3 independent replications" in rows["replications"]
    assert "3 tracks, a file for each replication: d-1.movements (SHA-256" in rows["mobility model"]
    assert not any("network" in each for each in (*tested, *cautions))
    cycled = [{"label": 1, "fields": {"movement": {"files": ["d-[12].movements"], "cycle": True}}}]
    tested, cautions, rows = told(cycled)
    assert "3 replications, which take 2 movement files in turn" in rows["replications"]
    assert any("3 replications share 2 movement files" in each for each in cautions)


def test_results_show_the_names_of_nodes(cli: Cli, tmp_path: Path) -> None:
    result = ran([still("base", 0.0), still("drone", 200.0)])
    assert result.provenance["labels"] == ["base", "drone"]
    flow = "{ kind = 'cbr', src = 0, dst = 1, start_s = 1.0, bytes = 100, interval_s = 0.5 }"
    tracks = "".join(
        f"[[movement.tracks]]\nlabel = '{name}'\nt_s = [0]\nx_m = [{x}]\ny_m = [0]\n"
        for name, x in (("base", 0), ("drone", 200))
    )
    (tmp_path / "s.toml").write_text(f"duration_s = 5.0\ntraffic.flows = [{flow}]\n{tracks}")
    shown = cli("run", "s.toml").stdout
    assert "base" in shown and "drone" in shown


def test_a_run_over_movement_alone_lasts_until_the_last_node_has_arrived(cli: Cli, tmp_path: Path) -> None:
    """Not until its last order: the leg that follows would be cut, and with it the time without a path."""
    rows = ["time,id,x,y", "0,a,0,0", "0,b,150,0", "10,a,300,0", "20,a,900,0", "20,b,150,0"]
    (tmp_path / "w.csv").write_text("\n".join(rows) + "\n")
    order = '$ns_ at 5.0 "$node_(0) setdest 200.0 0.0 10.0"\n'
    places = "".join(f"$node_({node}) set {axis}_ 0.0\n" for node in (0, 1) for axis in "XYZ")
    (tmp_path / "w.tcl").write_text(places + order)
    for file, ends_s in (("w.csv", 20), ("w.tcl", 25)):
        checked = cli("scenario", "check", "--movement", file)
        assert f"which ends at {ends_s} s" in checked.stdout
        assert f"{ends_s} s, as long as the movement" in checked.stderr
    assert "0 to 900 m east" in cli("scenario", "check", "--movement", "w.csv").stdout
