"""Which protocol to take in a field: the race, its end, what would change the answer, and the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from manetlab import InputError
from manetlab.advice import Advice, Influence, advise, build
from manetlab.report.priority import Choice
from tests.conftest import Cli

FLOW = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 512, "interval_s": 0.1}


def field(*, advise: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Four nodes in a chain, over which DSDV has no route yet when the run ends."""
    usual = {"movement": {"chain": {"nodes": 4}}, "traffic": {"flows": [FLOW]}, "duration_s": 4.0}
    return {**usual, "advise": {"candidates": ["aodv", "dsdv"], "unsure": {}, **(advise or {})}, **changes}


def found(tmp_path: Path, **asked: Any) -> Advice:
    return advise(*build(field(advise=asked)), store=tmp_path / "a.db", jobs=1)


def test_the_race_ends_when_one_is_left_and_a_limit_is_judged(tmp_path: Path) -> None:
    seen = found(tmp_path, limits=["pdr >= 0.1", "cbr_latency_mean_s <= 1e-6"])
    assert (seen.ended, seen.runs, seen.choice.left) == ("known", 20, ("aodv",))
    assert seen.limits == {
        "cbr_delivery_fraction": {"aodv": "holds", "dsdv": "open"},
        "cbr_latency_mean_s": {"aodv": "fails", "dsdv": "no value"},
    }
    assert seen.to_dict()["limits"] == {"cbr_delivery_fraction": "holds", "cbr_latency_mean_s": "fails"}
    assert seen.limit_sentences() == [
        "AODV keeps to the limit: PDR at least 10 %.",
        "None of the 2 candidates keeps to the limit: mean end-to-end delay at most 0.001 ms.",
    ]
    # What a race has left out is no caveat of its page, and the same race gives the same answer.
    assert found(tmp_path, limits=["pdr >= 0.1", "cbr_latency_mean_s <= 1e-6"]).to_dict() == seen.to_dict()


def test_who_is_out_gets_no_more_runs_and_the_budget_ends_what_cannot_be_told_apart(tmp_path: Path) -> None:
    data = field(
        radio={"bit_error_rate": 2e-4}, advise={"candidates": ["aodv", "dsdv", "dsr"], "margin": 1e-9}
    )
    data["advise"]["runs"] = 60
    seen = advise(*build(data), store=tmp_path / "a.db", jobs=1)
    # Ten of each, ten more of two; forty more would be beyond the budget.
    assert (seen.ended, seen.runs) == ("budget", 50)
    assert set(seen.choice.left) == {"aodv", "dsr"}
    assert seen.study.runs.groupby("routing").size().to_dict() == {"aodv": 20, "dsdv": 10, "dsr": 20}


def test_what_is_practically_the_same_needs_no_further_runs(tmp_path: Path) -> None:
    seen = found(tmp_path, candidates=["aodv", "flooding"], margin=0.5)
    assert (seen.ended, seen.runs) == ("practically the same", 20)


def test_each_look_has_its_share_of_the_error() -> None:
    _, asked = build(field(advise={"most": 40, "confidence": 0.9}))
    assert asked.looks == [10, 20, 40]
    assert asked.confidence_of_look == pytest.approx(1 - 0.1 / 3)
    campaign, _ = build(field())
    assert campaign.comparison["confidence"] == pytest.approx(1 - 0.05 / 4)


def test_the_answer_is_looked_at_with_other_values_of_unsure_inputs(tmp_path: Path) -> None:
    seen = found(tmp_path, unsure={"movement.chain.nodes": [6], "traffic.flows.0.interval_s": [0.2, 0.4]})
    assert [(each.key, each.choice.left, each.stays) for each in seen.influences] == [
        ("movement.chain.nodes", ("aodv",), True),
        ("traffic.flows.0.interval_s", ("aodv",), True),
        ("traffic.flows.0.interval_s", ("aodv",), True),
    ]
    assert seen.what_if() == [
        "With nodes = 6 the answer stays the same.",
        "With interval = 0.2 s or interval = 0.4 s the answer stays the same.",
    ]


def test_a_value_with_which_another_is_best_is_named(tmp_path: Path) -> None:
    seen = found(tmp_path)
    other = Choice(("",), (), ("dsdv",))
    same = Choice(("",), (), ("aodv",))
    seen.__dict__["influences"] = (
        Influence("a", "a = 1", same, True),
        Influence("a", "a = 2", other, False),
    )
    assert seen.what_if() == ["With a = 1 the answer stays the same.", "With a = 2 DSDV is best."]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"traffic": {"random": {"calls": 2}}}, "voice_satisfied_fraction"),
        ({"traffic": {"random": {"tcp": 1, "cbr": 2}}}, "cbr_delivery_fraction"),
        ({"traffic": {"random": {"tcp": 1}}}, "tcp_throughput_bps"),
        ({"traffic": {"random": {"cbr": 2, "deadline_ms": 100.0}}}, "datagram_in_time_fraction"),
        ({"network": {"deadline_ms": 100.0}}, "datagram_in_time_fraction"),
        ({"advise": {"measures": ["delay", "pdr"]}}, "cbr_delivery_fraction"),
    ],
)
def test_what_arrives_decides_first(changes: dict[str, Any], wanted: str) -> None:
    assert build(field(**changes))[1].measures[0] == wanted


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (["pdr >= 0.0"], "All 2 candidates keep to the limit: PDR at least 0 %."),
        (["pdr >= 0.1"], "AODV keeps to the limit: PDR at least 10 %."),
        (["cbr_latency_mean_s <= 1e-6"], "None of the 2 candidates keeps to the limit: mean end-to-end"),
    ],
)
def test_a_limit_is_told_of_all_candidates(limits: list[str], told: str, tmp_path: Path) -> None:
    seen = found(tmp_path, measures=["pdr"], limits=limits)
    [sentence] = seen.limit_sentences()
    assert sentence.startswith(told)


def test_who_keeps_to_a_limit_that_the_best_does_not_is_named(tmp_path: Path) -> None:
    seen = found(tmp_path, limits=["pdr >= 0.1"])
    for of_best, told in (("fails", "does not keep to"), ("open", "may or may not keep to")):
        other = replace(seen, limits={"cbr_delivery_fraction": {"aodv": of_best, "dsdv": "holds"}})
        assert other.limit_sentences() == [f"AODV {told} the limit: PDR at least 10 %; DSDV does."]


def test_a_field_without_a_path_says_so_first(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(
        "duration_s = 3.0\nmovement.positions = [[0, 0], [5000, 0]]\n"
        'traffic.flows = [{ kind = "cbr", src = 0, dst = 1, start_s = 1.0, bytes = 50, interval_s = 0.2 }]\n'
        '[advise]\ncandidates = ["aodv", "dsr"]\nunsure = {}\n'
    )
    done = cli("advise", "two.toml")
    assert done.returncode == 0, done.stderr
    caveats = done.stdout.split("Caveats:\n")[1].splitlines()
    assert "have no path" in caveats[0], caveats
    page = (tmp_path / "two-advice.html").read_text()
    assert page.index("have no path") < page.index("How to repeat this")


def test_a_budget_of_time_that_is_over_leaves_the_inputs_untried(tmp_path: Path) -> None:
    data = field(
        traffic={"random": {"cbr": 2, "cbr_interval_s": 0.02, "cbr_start_within_s": 1.0}},
        advise={
            "candidates": ["aodv", "dsr"],
            "measures": ["pdr"],
            "minutes": 1e-3,
            "margin": 1e-9,
            "unsure": {"movement.chain.nodes": [6]},
        },
    )
    seen = advise(*build(data), store=tmp_path / "a.db", jobs=1)
    assert (seen.ended, seen.runs, seen.influences) == ("budget", 20, ())
    assert "the fewest that can be compared, with 2 left" in seen.why_ended()
    assert seen.what_if() == ["The budget left no runs for other values of the least certain inputs."]


def test_the_least_certain_inputs_are_load_reach_and_speed() -> None:
    waypoint = {"nodes": 10, "width_m": 300.0, "height_m": 300.0, "speed_min": 1.0, "speed_max": 2.0}
    data = {"movement": {"waypoint": waypoint}, "traffic": {"random": {"calls": 3}}, "duration_s": 30.0}
    assert build(data)[1].unsure == {
        "traffic.random.calls": [1, 6],
        "radio.link_margin_db": [3.0, 6.0],
        "movement.waypoint.speed_max": [1.0, 4.0],
    }
    assert build({**data, "radio": {"range_m": 100.0}})[1].unsure["radio.range_m"] == [80.0, 125.0]
    log = {"path_loss": "log-distance", "path_loss_exponent": 3.0}
    assert build({**data, "radio": log})[1].unsure["radio.path_loss_exponent"] == [2.8, 3.2]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (field(routing="aodv"), ["field: routing", "candidates"]),
        (field(advise={"limit": []}), ["no such key", "limits"]),
        (field(advise={"candidates": ["aodv"]}), ["nothing to choose"]),
        (field(advise={"candidates": "aodv"}), ["nothing to choose"]),
        (field(advise={"limits": "pdr >= 0.9"}), ["advise.limits", "a list"]),
        (field(advise={"limits": ["pdr > 0.9"]}), ["not a limit"]),
        (field(advise={"measures": ["pdrr"]}), ["pdrr"]),
        (field(advise={"measures": ["hops"]}), ["no best value"]),
        (field(advise={"most": 5}), ["advise.most", "10"]),
        (field(advise={"runs": 10.5}), ["advise.runs", "whole"]),
        (field(advise={"runs": 19}), ["advise.runs", "at least 20: 10 of each of the 2 candidates"]),
        (field(advise={"minutes": "ten"}), ["advise.minutes"]),
        (field(advise={"unsure": {f"a{at}": [1] for at in range(4)}}), ["at most 3"]),
        (field(advise={"unsure": {"duration_s": 3.0}}), ["unsure.duration_s", "list"]),
        (field(advise=None) | {"advise": 3}, ["not a table"]),
    ],
)
def test_what_cannot_be_asked_is_refused(data: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(InputError) as error:
        build(data)
    for words in told:
        assert words in str(error.value)


def test_the_command_writes_one_page(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "team.toml").write_text(
        'question = "What for the four?"\nduration_s = 4.0\nmovement.chain = { nodes = 4 }\n'
        'traffic.flows = [{ kind = "cbr", src = 0, dst = 3, start_s = 1.0, bytes = 512, interval_s = 0.1 }]\n'
        '[advise]\ncandidates = ["aodv", "dsdv"]\nlimits = ["pdr >= 0.1"]\n'
        'unsure = { "movement.chain.nodes" = [6] }\n'
    )
    done = cli("advise", "team.toml", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["best"], told["ended"], told["limits"]) == (
        ["aodv"],
        "known",
        {"cbr_delivery_fraction": "holds"},
    )
    assert told["caveats"] and all(each in done.stdout for each in told["caveats"])
    page = (tmp_path / "team-advice.html").read_text()
    for words in (*told["answer"], *told["what_would_change_it"], "<h1>What for the four?</h1>"):
        assert words in page
    assert "manetlab advise team.toml" in page
    assert "not finished" not in page
    refused = cli("advise", "team.toml", "-o", "page.txt")
    assert (refused.returncode, "no such format" in refused.stderr) == (2, True)
