"""Random scenarios: what is drawn, what is noticed, how a failure becomes small; and all that ever failed."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import Result, Scenario, _core, parameters, run
from manetlab.errors import InputError, RunFailed
from tests.conftest import ROOT
from tests.examples import mobile
from torture import drawing, measures, trial
from torture.shrinking import shortened, shrunk, smaller
from torture.tally import Tally
from torture.worker import Worker

CORPUS = sorted((ROOT / "torture" / "corpus").glob("*.toml"))


@pytest.fixture(scope="module")
def watch() -> trial.Watch:
    return trial.Watch()


@pytest.fixture(scope="module")
def result() -> Result:
    video = {"kind": "video", "src": 3, "dst": 4, "start_s": 1.0, "transport": "rtp-udp"}
    web = {"clients": 1, "servers": 1, "cycles": 2, "think_max_s": 2.0}
    flows = [*mobile(traffic={"random": {"tcp": 1, "cbr": 3}}).resolve().flows, video]
    plain = [{name: value for name, value in flow.items() if value is not None} for flow in flows]
    return run(mobile(traffic={"flows": plain, "web": web}, replication=2))


# The corpus.


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_once_failed_does_not(path: Path, watch: trial.Watch) -> None:
    outcome = trial.try_out(tomllib.loads(path.read_text(encoding="utf-8")), watch, "recorded")
    assert outcome["status"] == trial.RAN, outcome


# What is drawn.


def test_a_scenario_is_always_the_same_for_the_same_number() -> None:
    assert drawing.drawn(7) == drawing.drawn(7)
    assert drawing.drawn(7) != drawing.drawn(9)


def test_every_pair_comes_once_in_a_turn_and_every_other_scenario_is_large() -> None:
    drawn = [drawing.drawn(number) for number in range(2 * len(drawing.PAIRS))]
    in_rust = [each for each in drawn if each.fields["routing"] not in drawing.IN_PYTHON]
    pairs = Counter(
        (each.fields["routing"], each.fields.get("tcp", {}).get("sender", "none")) for each in in_rust
    )
    assert set(pairs) == set(drawing.PAIRS)
    for each in drawn:
        if each.is_large:
            resolved = Scenario.build(each.fields).resolve()
            assert resolved.movement.nodes >= drawing.LARGE_NODES
            assert resolved.scenario.duration_s >= drawing.LARGE_S


def test_what_is_drawn_can_be_run_and_has_what_its_name_says() -> None:
    refused: list[str] = []
    for number in range(400):
        each = drawing.drawn(number)
        try:
            flows = Scenario.build(each.fields).resolve().flows
        except InputError as error:
            refused.append(str(error))
            continue
        over_tcp = [
            flow for flow in flows if flow["kind"] in ("tcp", "web") or flow.get("transport") == "tcp"
        ]
        assert bool(over_tcp) == ("sender" in each.fields.get("tcp", {})), number
    assert len(refused) <= 4, refused


def test_every_end_of_every_range_every_choice_and_kind_is_drawn_at_some_time() -> None:
    drawn = [drawing.drawn(number) for number in range(6000)]
    ends = {end for each in drawn for end in each.extremes}
    wanted = {
        f"{each.key}={end}"
        for section in parameters.schema().values()
        for each in section.values()
        for end in ("low", "high")
        if each.range is not None
    }
    assert len(wanted - ends) < len(wanted) / 4
    assert {kind for each in drawn for kind in each.fields["movement"]} == {
        "areas",
        "chain",
        "grid",
        "positions",
        *parameters.movement_schema(),
        "tracks",
        "flat",
    }
    tracks = [track for each in drawn for track in each.fields["movement"].get("tracks", [])]
    assert {"z_m", "present_s"} <= {name for track in tracks for name in track}
    kinds = {flow["kind"] for each in drawn for flow in each.fields["traffic"].get("flows", [])}
    assert kinds == {kind["kind"] for kind in json.loads(_core.flow_schema()[1])}
    assert {each.fields.get("throttle", {}).get("mode", "off") for each in drawn} == {
        *parameters.schema()["throttle"]["mode"].choices
    }
    searched = [each for each in drawn if "hops" in each.fields["traffic"].get("random", {})]
    assert {each.fields["traffic"]["random"]["hops"] for each in searched} == {1, 2, 3}
    carriers = {each for drawing_ in drawn for each in drawing_.carriers}
    assert carriers == {*drawing.flows_carriers(), "web"} - {"tcp"}
    assert {each.fields["profile"] for each in drawn} == set(_core.profiles())


# What is noticed.


def test_a_run_without_faults_has_none(result: Result) -> None:
    assert list(measures.faults(result)) == []


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        ("totals", "collision_fraction", 1.5),
        ("totals", "tcp_throughput_bps", None),
        ("totals", "mac_frames_per_s", float("inf")),
        ("totals", "cbr_sent", -1),
        ("totals", "cbr_received", 3.5),
        ("totals", "a_new_measure", 1),
        ("flow", "throughput_bps", float("nan")),
        ("flow", "longest_gap_s", 20.5),
        ("flow", "retransmissions", 10**9),
        ("flow", "throughput_bps", 7.0),
        ("audit", "balanced", False),
    ],
)
def test_a_measure_that_cannot_be_is_noticed(result: Result, place: str, name: str, value: object) -> None:
    changed = replace(
        result, **{each: copy.deepcopy(getattr(result, each)) for each in ("flows", "totals", "audit")}
    )
    where: dict[str, Any] = {"totals": changed.totals, "flow": changed.flows[0], "audit": changed.audit}[
        place
    ]
    where[name] = value
    assert any(fault.startswith(place if place == "audit" else name) for fault in measures.faults(changed))


def small(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "duration_s": 2.0,
        "movement": {"chain": {"nodes": 3}},
        "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.1}]},
    }
    return {**fields, **changes}


def test_refused_scenarios_are_no_failures_and_other_errors_are(
    watch: trial.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trial.try_out(small(), watch, "repeated")["status"] == trial.RAN
    refused = trial.try_out(small(duration_s=-1.0), watch)
    assert (refused["status"], refused["why"]) == (trial.REFUSED, "the value is not allowed")
    for error, why in [
        (
            RunFailed("the simulator failed", "", "time runs backwards"),
            "the simulator failed: time runs backwards",
        ),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (InputError("something is wrong"), "an error that leaves something out: something is wrong"),
    ]:

        def fail(*_: Any, error: Exception = error, **__: Any) -> Result:
            raise error

        monkeypatch.setattr(manetlab, "run", fail)
        outcome = trial.try_out(small(), watch)
        assert (outcome["status"], outcome["why"]) == (trial.FAILED, why)


def test_another_hash_is_a_failure(watch: trial.Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = iter("ab")

    def another(*given: Any, **options: Any) -> Result:
        made = run(*given, **options)
        return replace(made, provenance={**made.provenance, "result_hash": next(hashes)})

    monkeypatch.setattr(manetlab, "run", another)
    outcome = trial.try_out(small(), watch, "recorded")
    assert (outcome["status"], outcome["why"]) == (
        trial.FAILED,
        "hash: another one when with recording and series",
    )


BUSY = small(
    duration_s=1e5,
    traffic={"flows": [{"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.0, "bytes": 1, "interval_s": 1e-3}]},
)
"""It would take minutes."""


def test_a_run_that_takes_too_long_is_stopped_and_its_beginning_must_end(watch: trial.Watch) -> None:
    outcome = trial.try_out(BUSY, watch, cpu_s=0.02)
    assert outcome["status"] == trial.FAILED
    assert re.fullmatch(r"time: [\d.]+ s of CPU for 6250 simulated s", outcome["why"])
    assert trial.try_out({**BUSY, "duration_s": 1000.0}, watch, cpu_s=0.2)["status"] in (
        trial.STOPPED,
        trial.RAN,
    )


def test_a_long_run_is_told_to_stop_half_way_and_obeys(
    watch: trial.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A station with ten thousand packets a second, for a quarter of a second of CPU and more.
    busy = copy.deepcopy(BUSY) | {"duration_s": 60.0}
    busy["traffic"]["flows"][0]["interval_s"] = 1e-4
    assert trial.try_out(busy, watch, cpu_s=60.0)["latency_s"] <= trial.LATENCY_S
    monkeypatch.setattr(trial, "LATENCY_S", -1.0)
    outcome = trial.try_out(busy, watch, cpu_s=60.0)
    assert outcome["status"] == trial.FAILED
    assert outcome["why"].startswith("stopped only")


def test_a_process_that_dies_is_a_failure_and_another_takes_its_place() -> None:
    worker = Worker()
    try:
        first = worker.ask({"fields": small()})
        assert first["status"] == trial.RAN
        assert worker._process is not None
        worker._process.kill()
        dead = worker.ask({"fields": small()})
        assert (dead["status"], dead["why"]) == ("failed", "the process died: Killed")
        assert worker.ask({"fields": small()})["hash"] == first["hash"]
    finally:
        worker.close()


def test_a_process_does_not_count_the_memory_of_the_one_that_began_it() -> None:
    child = "from torture import trial; print(trial.held_bytes())"
    parent = "import subprocess, sys\nheld = b'1' * 400_000_000\n"
    parent += f"subprocess.run([sys.executable, '-c', {child!r}])"
    made = subprocess.run(
        [sys.executable, "-c", parent], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert 10_000_000 < int(made.stdout) < 300_000_000


# How a failure becomes small.


def test_a_failing_scenario_loses_all_that_has_no_part_in_the_failure() -> None:
    fields = next(
        each.fields
        for each in map(drawing.drawn, range(1000))
        if len(each.fields["traffic"].get("flows", [])) >= 3
        and "chain" in each.fields["movement"]
        and each.is_large
    )
    fields = {**fields, "dsr": {"salvage": False, "buffer_packets": 7}}

    def fails(candidate: dict[str, Any]) -> bool:
        try:
            resolved = Scenario.build(candidate).resolve()
        except InputError:
            return False
        return (
            resolved.params["dsr"]["buffer_packets"] == 7
            and resolved.movement.nodes >= 4
            and len(resolved.flows) > 0
        )

    smallest = shrunk(fields, fails)
    assert smallest["dsr"] == {"buffer_packets": 7}
    assert smallest["movement"]["chain"]["nodes"] == 4
    assert len(smallest["traffic"]["flows"]) == 1
    assert not {"routing", "profile", "seed", "tcp", "replication"} & smallest.keys()


def test_each_step_is_a_scenario_or_is_refused_and_the_first_are_smaller() -> None:
    for number in (0, 1, 2, 5):
        fields = drawing.drawn(number).fields
        before = copy.deepcopy(fields)
        for candidate in smaller(fields):
            try:
                Scenario.build(candidate).resolve()
            except InputError:
                continue
        assert fields == before


def test_a_shorter_scenario_has_all_its_flows() -> None:
    fields = small(traffic={"flows": [{"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.9, "stop_s": 1.95}]})
    short = Scenario.build(shortened(fields, 0.5)).resolve()
    assert short.scenario.duration_s == 0.5
    assert len(short.flows) == 1


# What is counted.


def test_sittings_add_up(tmp_path: Path) -> None:
    path = tmp_path / "tally.jsonl"
    for number, status in enumerate((trial.RAN, trial.RAN, trial.REFUSED, trial.FAILED)):
        sitting = Tally(seconds=1.5)
        outcome = {**drawing.drawn(number).described(), "status": status, "why": "so", "cpu_s": number / 10}
        sitting.add(outcome, f"commit{number // 2}")
        sitting.append(path)
    total = Tally.read(path)
    assert total.counts[trial.RAN] == 2
    assert (total.next_number, total.seconds) == (4, 6.0)
    assert total.commits == {"commit0": 2, "commit1": 2}
    assert (total.refused, total.failed) == ({"so": 1}, {"so": 1})
    assert total.slowest == (0.3, 3)
    assert sum(total.pairs[" ".join(pair)] for pair in drawing.PAIRS) == 2
    assert total.fewest[0] == 0
    assert "drawn 4, ran 2, refused 1, stopped 0, failed 1" in total.summary()
