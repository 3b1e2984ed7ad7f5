"""Movement models beside random waypoint, geometric mobility, and presets of whole scenarios."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from manetlab import Campaign, Scenario, _core, parameters, topology
from manetlab.contents import contents
from manetlab.errors import InputError
from manetlab.movement_files import check_in_ns2_form
from manetlab.presets import presets
from tests.conftest import Cli

MODELS = tuple(parameters.movement_schema())


def scenario(model: str, given: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    fields = {"movement": {model: given or {}}, "traffic": {"random": {"cbr": 3}}, "duration_s": 30.0}
    return Scenario.build({**fields, **changes})


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_drawn_from_seed_and_replication_and_survives_its_ns2_file(model: str) -> None:
    resolved = scenario(model, seed=3).resolve()
    assert resolved.movement.nodes == parameters.movement_defaults()[model]["nodes"]
    assert scenario(model, seed=3).resolve().hash == resolved.hash
    others = (scenario(model, seed=4), scenario(model, seed=3, replication=1))
    assert all(other.resolve().movement.digest != resolved.movement.digest for other in others)
    assert scenario(model).has_movements and scenario(model).is_drawn
    if resolved.movement.has_presence:
        with pytest.raises(InputError, match="no form of ns-2"):
            check_in_ns2_form(resolved.movement, "test")
        return
    read = _core.Movement.read(resolved.movement.to_ns2().encode(), "written.mov")
    assert read.digest == resolved.movement.digest


@pytest.mark.parametrize("model", MODELS)
def test_the_field_of_a_model_is_what_its_parameters_say(model: str) -> None:
    wanted = parameters.movement_defaults()[model]
    found = topology.report(scenario(model))
    assert (found.width_m, found.height_m) == (wanted["width_m"], wanted["height_m"])
    assert found.geometric_mobility is not None and 0 < found.geometric_mobility < 2 * 20.0


@pytest.mark.parametrize("model", MODELS)
def test_a_scenario_of_each_model_is_generated(model: str, cli: Cli) -> None:
    made = cli("scenario", "generate", "--model", model, "--nodes", "20", "--duration", "9", "--seed", "4",
               "--set", f"movement.{model}.width_m=1000", "--set", "routing=dsr")  # fmt: skip
    assert made.returncode == 0, made.stderr
    fields = tomllib.loads(made.stdout)
    generated = Scenario.build(fields)
    assert generated.movement.drawn is not None and generated.routing == "dsr"
    name, given = generated.movement.drawn
    assert (name, given["nodes"], given["width_m"], generated.seed) == (model, 20, 1000, 4)
    assert generated.resolve().movement.nodes == 20


def test_options_that_a_model_lacks_are_named(cli: Cli) -> None:
    shape = ("scenario", "generate", "--nodes", "5", "--duration", "5", "--model")
    for arguments, told in (
        (("manhattan", "--boundary", "wrap"), "no such parameter in [movement.manhattan]"),
        (("levy",), "levy is not implemented"),
        (("rmpg",), 'did you mean "rpgm"?'),
        (("disaster_area", "--movement", "out.mov"), "no form of ns-2"),
    ):
        refused = cli(*shape, *arguments)
        assert refused.returncode == 2 and told in refused.stderr, refused.stderr


@pytest.mark.parametrize(
    ("model", "given", "told"),
    [
        ("rpgm", {"speed_min": 2.0, "speed_max": 1.0}, "rpgm.speed_min cannot be used"),
        ("rpgm", {"max_distance_m": 600.0}, "rpgm.max_distance_m cannot be used"),
        ("disaster", {"radius_m": 500.0}, "disaster.radius_m cannot be used"),
        ("disaster_area", {"clearance_m": 4.0}, "disaster_area.clearance_m cannot be used"),
        ("conference", {"nodes": 3}, "conference.at_entrance cannot be used"),
        ("manhattan", {"blocks": 3}, "no such parameter in [movement.manhattan]"),
        ("gauss_markov", {"alpha": 1.5}, "alpha"),
        ("gauss_markov", {"nodes": 100_000, "step_s": 0.01}, "the movement would fill the memory"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(model: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        scenario(model, given).resolve()
    assert told in str(refused.value) and model in str(refused.value)


def test_a_search_for_paths_that_keep_their_hops_draws_a_model() -> None:
    given = {"nodes": 40, "speed_mean": 1.0, "speed_sd": 0.2}
    traffic = {"random": {"tcp": 1, "hops": 2}}
    resolved = scenario("gauss_markov", given, traffic=traffic, duration_s=10.0).resolve()
    assert resolved.selection is not None
    [found] = topology.path_hops(resolved, resolved.selection.pairs)
    assert found.holds(2)


def test_a_models_parameters_are_factors_of_campaigns() -> None:
    levels = [0.0, 1.0]
    campaign = Campaign(
        base=scenario("gauss_markov", {"nodes": 10}, duration_s=2.0).to_dict(),
        factors={"movement.gauss_markov.alpha": levels},
        replications=1,
    )
    digests = {campaign.scenario(point, 0).resolve().movement.digest for point in range(2)}
    assert len(digests) == 2


def test_geometric_mobility_is_that_of_the_window() -> None:
    """Node 1 stands, node 0 goes at 3 m/s from 10 s to 20 s."""
    tracks = [
        {"label": "walker", "t_s": [10.0, 20.0], "x_m": [0.0, 30.0], "y_m": [0.0, 0.0]},
        {"label": "base", "t_s": [0.0], "x_m": [0.0], "y_m": [9.0]},
    ]
    fields = {"movement": {"tracks": tracks}, "traffic": {"flows": []}, "duration_s": 20.0}
    found = [topology.report(Scenario.build({**fields, "warmup_s": at_s})) for at_s in (0.0, 5.0, 10.0)]
    assert [each.geometric_mobility for each in found] == pytest.approx([1.5, 2.0, 3.0])
    whole = contents(Scenario.build(fields).resolve())
    assert "movement: 0.75 m/s on average, 1.50 m/s of two nodes relative to each other" in whole.lines[1]
    alone = {**fields, "movement": {"positions": [[0.0, 0.0]]}}
    assert topology.report(Scenario.build(alone)).geometric_mobility is None


def test_nodes_of_one_group_have_no_link_that_breaks() -> None:
    """Twice the distance from the reference is below the range."""
    group = {"nodes": 20, "group_size_mean": 20.0, "group_size_sd": 0.0, "max_distance_m": 120.0}
    found = topology.report(scenario("rpgm", {**group, "speed_max": 10.0}, duration_s=600.0))
    assert found.link_changes_per_s == 0 and found.degree_mean == pytest.approx(19)
    assert found.geometric_mobility is not None and found.geometric_mobility > 0


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_a_scenario_that_can_be_run(name: str) -> None:
    resolved = Scenario.build({"preset": name, "routing": "dsr"}).resolve()
    assert resolved.movement.nodes in (50, 150) and len(resolved.flows) == 15
    assert resolved.scenario.routing == "dsr"
    assert "preset" not in resolved.scenario.to_dict()


def test_what_a_scenario_says_goes_before_its_preset() -> None:
    own = {"preset": "event", "duration_s": 10.0, "radio": {"range_m": 40.0}, "walls": []}
    made = Scenario.build(own)
    assert made.duration_s == 10.0 and not made.walls
    assert made.section("radio") == {"range_m": 40.0, "carrier_sense_range_m": 55.0}
    campaign = Campaign(base={"preset": "event"}, factors={"traffic.random.cbr": [2, 4]}, replications=1)
    random = campaign.scenario(1, 0).traffic.random
    assert random is not None and (random.cbr, random.cbr_bytes) == (4, 64)
    both = {"preset": ["event", "disaster"], "radio.range_m": [30.0]}
    campaign = Campaign(base={"routing": "dsr"}, factors=both, replications=1)
    made = [campaign.scenario(point, 0) for point in range(2)]
    assert [each.movement.drawn for each in made] == [("event", {}), ("disaster", {})]
    assert [each.section("radio")["range_m"] for each in made] == [30.0, 30.0]
    for name, found in (("party", '"party"'), (3, "3")):
        with pytest.raises(InputError) as refused:
            Scenario.build({"preset": name})
        assert found in str(refused.value) and "conference" in str(refused.value)


def test_a_preset_is_run_by_one_command(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "--preset", "conference", "--duration", "2", "--set", "traffic.random.cbr=2", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["flows"]) == 2
    (tmp_path / "one-line.toml").write_text('preset = "disaster"\n')
    checked = cli("scenario", "check", "one-line.toml")
    assert checked.returncode == 0 and "50 nodes, 15 flows" in checked.stdout


def test_the_presets_walls_are_as_the_page_says() -> None:
    walls = presets()["event"]["walls"]
    assert len(walls) == 20 and all(wall["opaque"] for wall in walls)
    lengths_m = [math.dist(*wall["points"]) for wall in walls]
    assert min(lengths_m) >= 20 and max(lengths_m) <= 40


def test_links_change_in_proportion_to_geometric_mobility() -> None:
    """Nodes at uniform places that go wherever they are alike have the rate of their distances.

    Of nine networks, each of 1225 pairs and some thousand changes, which have nodes in common: 5 %.
    """
    side_m, range_m, found, wanted = 1000.0, 250.0, 0.0, 0.0
    share = range_m / side_m
    density = 2 * share * (math.pi - 4 * share + share**2) / side_m
    for speed_mps in (2.0, 8.0, 32.0):
        for seed in range(3):
            given = {"speed_min": speed_mps, "speed_max": speed_mps}
            seen = topology.report(scenario("random_walk", given, seed=seed, duration_s=1600.0 / speed_mps))
            assert seen.geometric_mobility is not None
            found += seen.link_changes_per_s / speed_mps
            wanted += 1225 * density * 2 / math.pi * seen.geometric_mobility / speed_mps
    assert found == pytest.approx(wanted, rel=0.05)
