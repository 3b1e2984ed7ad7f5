"""Draws of movement in which paths keep their hops, against plain searches of what they promise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from manetlab import InputError, Scenario, run
from manetlab.topology import path_hops, report, search, shortest_hops_over_time
from tests.conftest import Cli
from tests.examples import CBR_FLOW, chain

WAYPOINT = {"nodes": 40, "width_m": 1000.0, "height_m": 1000.0, "speed_min": 1.0, "speed_max": 6.0}


def scenario(waypoint: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    """Forty nodes that walk, 40 s, of which the last 30 s are measured, with random traffic."""
    random = {"tcp": 1, "hops": 3, **changes.pop("random", {})}
    fields = {
        "duration_s": 40.0,
        "warmup_s": 10.0,
        "movement": {"waypoint": {**WAYPOINT, **(waypoint or {})}},
        "traffic": {"random": random},
        **changes,
    }
    return Scenario.build(fields)


@pytest.mark.parametrize("hops", [2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_found_keeps_its_hops_in_a_plain_search(hops: int, seed: int) -> None:
    resolved = scenario(random={"hops": hops}, seed=seed).resolve()
    fine = shortest_hops_over_time(resolved, step_s=0.05)
    [measured] = [
        [each for time, each in zip(fine.times_s, of, strict=True) if time >= 10] for of in fine.hops
    ]
    assert set(measured) == {hops}
    assert path_hops(resolved)[0].shares == {hops: 1.0}
    assert resolved.selection is not None
    assert resolved.to_dict()["selection"] == {
        "hops": hops,
        "hops_share": 1.0,
        "draw": resolved.selection.draw,
    }


def test_a_share_is_reached_and_a_smaller_share_is_found_no_later() -> None:
    draws = []
    for share in (1.0, 0.9, 0.5):
        resolved = scenario(random={"hops": 4, "hops_share": share}, seed=3).resolve()
        assert path_hops(resolved)[0].holds(4, share)
        assert resolved.selection is not None
        draws.append(resolved.selection.draw)
    assert draws == sorted(draws, reverse=True)


def test_the_same_seed_finds_the_same_and_another_replication_another() -> None:
    first, again, other = (scenario(replication=each).resolve() for each in (0, 0, 1))
    assert first.hash == again.hash
    assert first.movement.digest == again.movement.digest
    assert first.flows == again.flows
    assert first.movement.digest != other.movement.digest


def test_draw_zero_is_the_movement_without_a_search() -> None:
    found = scenario(random={"hops": 2, "hops_share": 0.01}).resolve()
    plain = scenario(traffic={"random": {"tcp": 1}}).resolve()
    assert found.selection is not None
    assert found.selection.draw == 0
    assert found.movement.digest == plain.movement.digest
    assert plain.selection is None
    assert "selection" not in plain.to_dict()


def test_all_flows_with_ends_of_their_own_keep_their_hops() -> None:
    traffic = {"tcp": 2, "video": 1, "cbr": 2, "cbr_ends": "apart", "hops": 2, "hops_share": 0.8}
    resolved = scenario(random=traffic).resolve()
    ends = [node for flow in resolved.flows for node in (flow["src"], flow["dst"])]
    assert len(set(ends)) == len(ends) == 10
    assert all(each.holds(2, 0.8) for each in path_hops(resolved))
    # CBR flows that may share nodes go anywhere.
    free = scenario(random={"cbr": 30, "hops_share": 0.8}).resolve()
    assert path_hops(free)[0].holds(3, 0.8)
    assert len(free.flows) == 31
    assert {each.holds(3, 0.8) for each in path_hops(free)[1:]} == {True, False}


def test_of_a_movement_that_is_not_drawn_pairs_are_searched() -> None:
    def ends(seed: int) -> tuple[int, int]:
        movement = {"chain": {"nodes": 7}}
        fields = {"movement": movement, "traffic": {"random": {"tcp": 1, "hops": 4}}, "duration_s": 10.0}
        [flow] = Scenario.build({**fields, "seed": seed}).resolve().flows
        return flow["src"], flow["dst"]

    found = {ends(seed) for seed in range(40)}
    assert found == {pair for low in range(3) for pair in ((low, low + 4), (low + 4, low))}


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"random": {"hops": 30, "hops_draws": 3}}, "no draw keeps its hops"),
        ({"random": {"hops": 30, "hops_draws": 3}}, "none in 3 draws"),
        ({"movement": {"chain": {"nodes": 3}}}, "none in the movement"),
        ({"random": {"tcp": 0, "cbr": 4}}, "traffic.random.hops"),
        ({"random": {"tcp": 21}}, "too few nodes"),
        ({"random": {"hops": 0}}, "hops"),
        ({"random": {"hops_share": 0.0}}, "hops_share"),
        ({"random": {"hops_share": 1.5}}, "hops_share"),
        ({"random": {"hops_draws": 0}}, "hops_draws"),
    ],
)
def test_what_cannot_be_found_or_asked_is_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        scenario(**fields).resolve()


def test_results_of_selected_scenarios_say_so() -> None:
    selected = scenario(duration_s=12.0)
    result = run(selected)
    assert "not a random sample" in result.provenance["note"]
    assert result.provenance["scenario"]["selection"]["hops"] == 3
    assert any("not a random sample" in warning for warning in report(selected).warnings)
    plain = selected.changed(traffic={"random": {"tcp": 1}})
    assert "note" not in run(plain).provenance
    assert not any("not a random sample" in warning for warning in report(plain).warnings)


def test_the_report_shows_what_the_selection_does() -> None:
    asked = scenario(waypoint={"speed_max": 20.0}, traffic={"random": {"tcp": 1}})
    found = search(asked, hops=3, share=0.9, count=12)
    assert [each.replication for each in found.found] == list(range(12))
    assert found.missing == []
    for each in found.found:
        random = {"tcp": 1, "hops": 3, "hops_share": 0.9}
        again = asked.changed(replication=each.replication, traffic={"random": random}).resolve()
        assert again.selection is not None
        assert (each.draw, each.pairs) == (again.selection.draw, list(again.selection.pairs))
        assert each.shares == [path_hops(again)[0].shares[3]]
    for key in ("degree_mean", "flow_degree_mean", "speed_mean", "flow_speed_mean"):
        assert len(found.selected[key]) == len(found.unselected[key]) == 12
    selected, unselected = found.lifetimes_s
    assert unselected is not None
    # Paths that keep their hops live longer, and their ends are slower.
    assert selected is None or selected > unselected
    assert sum(found.selected["flow_speed_mean"]) < sum(found.unselected["flow_speed_mean"])


def test_a_search_needs_traffic_that_is_drawn() -> None:
    with pytest.raises(InputError, match="not drawn"):
        search(chain(traffic={"flows": [CBR_FLOW]}), 2)
    with pytest.raises(InputError, match="number of scenarios"):
        search(scenario(), 2, count=0)
    with pytest.raises(InputError, match="no draw keeps its hops"):
        search(scenario(), 40, count=2, draws=2)


def test_the_command_line_finds_the_same(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "walk.toml").write_text(
        "duration_s = 40.0\nwarmup_s = 10.0\ntraffic.random.tcp = 1\n[movement.waypoint]\n"
        + "\n".join(f"{key} = {value}" for key, value in WAYPOINT.items()),
        encoding="utf-8",
    )
    options = ("--hops", 3, "--share", 0.8, "--count", 3, "--seed", 5)
    done = cli("scenario", "search", "walk.toml", *options, "--json", "--output", "draws.csv")
    assert done.returncode == 0, done.stderr
    found = search(Scenario.load(tmp_path / "walk.toml", {"seed": 5}), 3, 0.8, 3).to_dict()
    assert json.loads(done.stdout) == json.loads(json.dumps(found))
    rows = (tmp_path / "draws.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "replication,draw,src,dst,share"
    assert len(rows) == 4
    shown = cli("scenario", "search", "walk.toml", *options)
    assert "not a random sample" in " ".join(shown.stdout.split())
    none = cli("scenario", "search", "walk.toml", "--hops", 30, "--draws", 2, "--count", 1)
    assert none.returncode == 2
    assert "no draw keeps its hops" in none.stderr
