"""The largest load: the search beside all levels, what the command says and keeps, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from manetlab import Campaign, InputError
from manetlab.load_capacity import Question, find
from manetlab.metrics import by_key
from tests.conftest import Cli

CAMPAIGN = """
question = "How many flows over three hops?"

[capacity]
level = "traffic.random.cbr"
levels = "1..6"
limit = "cbr_delivery_fraction >= 0.9"
most = 16

[base]
duration_s = 3.0
warmup_s = 0.5
movement.chain = { nodes = 4 }
traffic.random = { cbr = 1, cbr_interval_s = 0.02, cbr_start_within_s = 0.5 }

[factors]
routing = ["static", "aodv"]
"""


def campaign(**changes: Any) -> Campaign:
    import tomllib

    data = tomllib.loads(CAMPAIGN)
    return Campaign.build({**data, "capacity": {**data["capacity"], **changes}})


def test_the_answer_holds_what_all_levels_say(tmp_path: Path) -> None:
    asked = campaign()
    found = find(asked, store=tmp_path / "runs.db")
    levels = [1, 2, 3, 4, 5, 6]
    # By brute force, with the same seeds.
    whole = asked.changed(
        factors={**asked.factors, "traffic.random.cbr": levels}, replications=16, capacity={}
    ).run()
    means = whole.runs.groupby(["routing", "traffic.random.cbr"])["cbr_delivery_fraction"].mean()
    for each in found:
        kept = [level for level in levels if means[each.labels["routing"], level] >= 0.9]
        assert (each.border.low or 0) <= max(kept, default=0) <= (each.border.high or 0)
        assert each.border.low != levels[-1], "a load that the chain carries says nothing"
        for at in each.levels:
            runs = whole.runs
            here = runs[
                (runs["routing"] == each.labels["routing"]) & (runs["traffic.random.cbr"] == at.level)
            ]
            made = here.sort_values("replication")["cbr_delivery_fraction"][: at.mean.n]
            assert at.mean.mean == pytest.approx(made.mean(), abs=1e-12)
    assert sum(each.border.replications for each in found) < sum(each.runs_of_grid for each in found)


def test_the_command_says_shows_and_keeps_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "flows.toml").write_text(CAMPAIGN)
    outputs = ("--csv", "levels.csv", "--plot", "levels.svg")
    done = cli("capacity", "flows.toml", *outputs)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    answers = [line for line in said if "the largest traffic.random.cbr with PDR ≥ 90 %" in line]
    assert len(answers) == 2, done.stdout
    assert {line.split(":")[0] for line in answers} == {"static", "aodv"}
    with (tmp_path / "levels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} <= {"holds", "fails", "open"}
    assert all(0.0 <= float(row["low"]) <= float(row["mean"]) <= float(row["high"]) <= 1.0 for row in rows)
    assert "limit" in (tmp_path / "levels.svg").read_text()
    # Again: nothing is run, and the same comes out.
    again = cli("capacity", "flows.toml", "--json")
    found = json.loads(again.stdout)["capacities"]
    assert [each["answer"] for each in found] == answers
    kept = {(row["routing"], float(row["traffic.random.cbr"]), int(row["runs"])) for row in rows}
    assert kept == {
        (each["labels"]["routing"], at["level"], at["runs"]) for each in found for at in each["levels"]
    }


def test_a_scenario_is_asked_with_options(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        "duration_s = 2.0\nmovement.chain = { nodes = 3 }\nrouting = 'static'\n"
        "traffic.random = { cbr = 1, cbr_interval_s = 0.5, cbr_start_within_s = 0.5 }\n"
    )
    asked = ("--level", "traffic.random.cbr", "--levels", "1..2", "--limit", "pdr_cbr >= 0.5")
    refused = cli("capacity", "s.toml", *asked)
    assert refused.returncode == 2 and "pdr_cbr" in refused.stderr
    done = cli("capacity", "s.toml", *asked[:-1], "cbr_delivery_fraction >= 0.5", "--most", "8", "--json")
    [found] = json.loads(done.stdout)["capacities"]
    assert (found["low"], found["high"], found["is_open_above"]) == (2, 2, True)
    assert "and all below keep to" in found["answer"]
    incomplete = cli("capacity", "s.toml")
    assert incomplete.returncode == 2 and "the question is not complete" in incomplete.stderr


def test_a_load_that_is_too_much_from_the_first_level_on() -> None:
    found = find(campaign(limit="cbr_latency_p95_s <= 0.000001", most=8))
    assert [(each.border.low, each.border.high) for each in found] == [(None, None)] * 2
    assert all("not even traffic.random.cbr = 1" in each.sentence() for each in found)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"limit": "cbr_delivery_fraction > 0.9"}, "not a limit"),
        ({"limit": "cbr_delivery_fraction >= 90"}, "beyond what the measure can be"),
        ({"limit": "happiness >= 0.9"}, "happiness"),
        ({"limit": 0.9}, "not a limit"),
        ({"levels": "6..1"}, "not levels"),
        ({"levels": "1..9:0"}, "not levels"),
        ({"levels": [3, 2, 1]}, "not levels"),
        ({"levels": [1, "2"]}, "not levels"),
        ({"levels": "1..100000"}, "too many levels"),
        ({"level": 7}, "not a level"),
        ({"most": 3}, "number of replications"),
        ({"confidence": 95}, "the share is not allowed"),
        ({"speed": 1}, "speed"),
    ],
)
def test_what_is_no_question_is_refused(changes: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        find(campaign(**changes))


def test_a_load_that_is_no_field_or_a_factor_is_refused() -> None:
    with pytest.raises(InputError, match="voices"):
        find(campaign(level="traffic.random.voices"))
    with pytest.raises(InputError, match="the load is a factor"):
        find(campaign(level="routing"))


@pytest.mark.parametrize(
    ("limit", "levels"),
    [
        ("cbr_latency_mean_s <= 0.5", [1, 2]),
        ("voice_satisfied_fraction >= 0.5", [1, 2]),
        ("cbr_delivery_fraction >= 0.5", [0, 1]),
    ],
    ids=["nothing arrives", "no call is there", "nothing is sent"],
)
def test_a_measure_without_a_value_is_not_judged(limit: str, levels: list[int]) -> None:
    base = {
        "duration_s": 2.0,
        "movement": {"chain": {"nodes": 3, "spacing_m": 2000.0}},
        "traffic": {"random": {"cbr": 1, "cbr_interval_s": 0.1}},
    }
    capacity = {"level": "traffic.random.cbr", "levels": levels, "limit": limit, "most": 32}
    with pytest.raises(InputError, match="cannot be judged"):
        find(Campaign(base=base, capacity=capacity))


def test_a_network_in_which_nothing_arrives_carries_nothing() -> None:
    base = {
        "duration_s": 2.0,
        "movement": {"chain": {"nodes": 3, "spacing_m": 2000.0}},
        "traffic": {"random": {"cbr": 1, "cbr_interval_s": 0.1}},
    }
    # Eight zeros do not show how far the mean may be from zero, 32 do.
    asked = {
        "level": "traffic.random.cbr",
        "levels": [1, 2],
        "limit": "cbr_delivery_fraction >= 0.5",
        "most": 32,
    }
    assert find(Campaign(base=base, capacity=asked))[0].border.high is None


def test_the_limit_is_said_in_the_unit_that_is_shown() -> None:
    asked = Question.build({"level": "x", "levels": [1, 2], "limit": "cbr_latency_p95_s ≤ 0.15"})
    metric = by_key("cbr_latency_p95_s")
    assert asked.limit_text == f"{metric.label} ≤ {0.15 * metric.factor:g} {metric.unit}"


def test_of_a_measure_of_what_arrives_it_is_told_how_much_that_is(cli: Cli, tmp_path: Path) -> None:
    changes = {"limit": "cbr_latency_mean_s <= 5", "levels": [1, 6], "most": 8}
    asked = campaign(**changes)
    whole = asked.changed(
        factors={**asked.factors, "traffic.random.cbr": [1, 6]}, replications=8, capacity={}
    ).run()
    means = whole.runs.groupby(["routing", "traffic.random.cbr"])["cbr_delivery_fraction"].mean()
    for each in find(asked):
        # The chain is overloaded, and what arrives is soon there.
        assert each.border.low == 6
        for at in each.levels:
            [(key, mean)] = at.arrived.items()
            assert key == "cbr_delivery_fraction"
            assert mean == pytest.approx(means[each.labels["routing"], at.level])
        assert each.levels[-1].arrived["cbr_delivery_fraction"] < 0.9
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    options = ("--levels", "1..6:5", "--most", "8")
    limit = ("--limit", "cbr_latency_mean_s <= 5", "--csv", "levels.csv")
    done = cli("capacity", tmp_path / "c.toml", *options, *limit)
    assert " PDR, % " in done.stdout
    with (tmp_path / "levels.csv").open() as file:
        shares = [float(row["cbr_delivery_fraction"]) for row in csv.DictReader(file)]
    assert len(shares) > 1
    assert min(shares) < 0.9 < max(shares) <= 1.0
    assert "known of what arrives only" in done.stdout
    done = cli("capacity", tmp_path / "c.toml", *options, "--limit", "cbr_delivery_fraction >= 0.9")
    assert "known of what arrives only" not in done.stdout
