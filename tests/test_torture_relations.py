"""Relations between runs and light networks: right runs keep them, and wrong ones are noticed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import Result, Scenario
from torture import light, relations
from torture.relations import RELATIONS, Case

FIELDS: dict[str, Any] = {
    "duration_s": 6.0,
    "warmup_s": 1.0,
    "routing": "aodv",
    "movement": {"waypoint": {"nodes": 8, "width_m": 500.0, "height_m": 400.0, "speed_max": 10.0}},
    "traffic": {
        "flows": [
            {"kind": "tcp", "src": 0, "dst": 5, "start_s": 0.5},
            {"kind": "cbr", "src": 1, "dst": 6, "start_s": 0.7, "bytes": 512, "interval_s": 0.1},
        ]
    },
}
STANDING = {**FIELDS, "movement": {"positions": [[0, 0], [200, 10.3], [380.2, 90], [200, 200], [40, 180]]},
            "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.5}]}}  # fmt: skip


def case(fields: dict[str, Any] = FIELDS, run: Callable[..., Result] = manetlab.run) -> Case:
    resolved = Scenario.build(fields).resolve()
    return Case(fields, resolved, manetlab.run(resolved), run)


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("fields", [FIELDS, STANDING], ids=["moving", "standing"])
def test_a_right_run_keeps_every_relation(name: str, fields: dict[str, Any]) -> None:
    assert list(RELATIONS[name](case(fields))) == []


@pytest.mark.parametrize("radio", [{"shadowing_db": 8.0}, {"fading": "rayleigh"}])
def test_with_fields_of_shadows_or_fading_it_matters_where_a_network_is(radio: dict[str, Any]) -> None:
    resolved = Scenario.build({**STANDING, "radio": radio}).resolve()
    placed = Case(STANDING, resolved, manetlab.run(resolved), manetlab.run)
    assert placed.has_fields and not case(STANDING).has_fields
    for name in ("mirrored", "shifted"):
        assert list(RELATIONS[name](placed)) == []


@pytest.mark.parametrize("name", ["outputs", "mirrored", "rewritten"])
def test_another_hash_is_noticed(name: str) -> None:
    def another(*given: Any, **outputs: Any) -> Result:
        result = manetlab.run(*given, **outputs)
        return replace(result, provenance={**result.provenance, "result_hash": "another"})

    [fault] = list(RELATIONS[name](case(run=another)))
    assert fault.startswith(f"{name}: another hash")


def test_a_field_whose_place_matters_is_noticed() -> None:
    runs = iter("ab")

    def another(*given: Any, **outputs: Any) -> Result:
        result = manetlab.run(*given, **outputs)
        return replace(result, provenance={**result.provenance, "result_hash": next(runs)})

    [fault] = list(relations.shifted(case(STANDING, another)))
    assert fault.startswith("shifted: another hash")
    assert list(relations.shifted(case(FIELDS, another))) == [], "nodes that move are not shifted"


def test_a_shorter_run_with_another_beginning_is_noticed() -> None:
    def another(resolved: Any, **outputs: Any) -> Result:
        if resolved.core["duration_s"] < FIELDS["duration_s"]:
            resolved = replace(resolved, core={**resolved.core, "seed": 7})
        return manetlab.run(resolved, **outputs)

    [fault] = list(relations.prefix(case(run=another)))
    assert fault.startswith("prefix: ")


def test_paths_that_depend_on_the_numbers_of_nodes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = relations.topology.path_hops

    def numbered(resolved: Any, pairs: Any) -> Any:
        return [replace(each, partitioned=each.src / 100) for each in honest(resolved, pairs)]

    monkeypatch.setattr(relations.topology, "path_hops", numbered)
    # One shuffle may leave the sources' numbers as they are.
    faults = [fault for seed in (1, 2, 3) for fault in relations.permuted(case({**FIELDS, "seed": seed}))]
    assert faults
    assert all(fault.startswith("permuted: other paths") for fault in faults)


@pytest.mark.parametrize("upside_down", ["cbr_throughput_bps", "all"])
def test_a_measure_that_is_ranked_upside_down_is_noticed(
    upside_down: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = relations.metrics.applying

    def turned(*given: Any) -> Any:
        other = {"higher": "lower", "lower": "higher", "": ""}
        return [
            replace(each, better=other[each.better]) if upside_down in ("all", each.key) else each
            for each in honest(*given)
        ]

    light_load = {**FIELDS, "traffic": {"flows": FIELDS["traffic"]["flows"][1:]}}
    assert list(relations.ranked(case(light_load))) == []
    monkeypatch.setattr(relations.metrics, "applying", turned)
    faults = list(relations.ranked(case(light_load)))
    assert "ranked: cbr_throughput_bps prefers the network that delivers less" in faults


def test_an_engine_with_another_hash_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host = tmp_path / "host.mjs"
    host.write_text('console.log(JSON.stringify({ hash: "another" }));\n', encoding="utf-8")
    monkeypatch.setattr(relations, "HOST", host)
    monkeypatch.setattr(relations, "engine_of_pages", lambda: tmp_path)
    [fault] = list(relations.in_browser(case()))
    assert fault.startswith("in_browser: {'hash': 'another'} instead of")


def test_the_engine_may_reserve_more_memory_than_a_worker() -> None:
    program = """
import resource, sys
from torture import relations
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, hard))
asked = "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[0])"
print(relations.printed_by([sys.executable, "-c", asked]).strip() == str(hard))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    with pytest.raises(RuntimeError, match="ended with 3: why"):
        relations.printed_by([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"])


def test_x_and_y_are_exchanged_in_starts_and_orders() -> None:
    text = '$node_(0) set X_ 1.0\n$node_(0) set Y_ 2.0\n$ns_ at 3.0 "$node_(0) setdest 4.0 5.0 6.0"\n'
    wanted = '$node_(0) set Y_ 1.0\n$node_(0) set X_ 2.0\n$ns_ at 3.0 "$node_(0) setdest 5.0 4.0 6.0"\n'
    assert relations._exchanged(text) == wanted


# Light networks.


def test_light_networks_are_tried_with_bit_errors_for_the_directions_of_measures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [fault for number in range(3) for fault in light.ranking(number)] == []
    monkeypatch.setattr(light, "ranked", lambda _: iter(["ranked: upside down"]))
    monkeypatch.setattr("sys.argv", ["light", "--networks", "1", "--routing", "static"])
    assert light.main() == 1
    assert "network 0, ranked: upside down" in capsys.readouterr().out


def test_light_networks_are_connected_and_the_same_each_time() -> None:
    for number in range(5):
        fields = light.network(number)
        assert fields == light.network(number)
        report = manetlab.topology.report(Scenario.build({**fields, "routing": "static"}))
        assert report.partitioned_pairs == 0.0
    assert light.network(0) != light.network(1)


def test_senders_in_phase_are_among_light_networks() -> None:
    starts = [[flow["start_s"] for flow in light.network(number)["traffic"]["flows"]] for number in range(30)]
    assert any(len(each) > 1 and len(set(each)) == 1 for each in starts)
    assert any(
        len(each) > 1 and all(start.is_integer() for start in set(each)) and len(set(each)) > 1
        for each in starts
    )


def test_a_protocol_that_delivers_too_little_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(scenario: Scenario) -> Result:
        return manetlab.run(
            scenario.changed(radio={"bit_error_rate": 3e-4}) if scenario.routing == "aodv" else scenario
        )

    class Library:
        run = staticmethod(deaf)

    monkeypatch.setattr(light, "manetlab", Library)
    [loss] = list(light.losses(0, ["aodv", "dsr"]))
    assert loss.routing == "aodv"
    assert loss.delivered < light.SHARE * loss.wanted
    assert str(loss).startswith("network 0, aodv: ")


def test_reasons_are_those_of_protocols_that_exist() -> None:
    assert {*light.REASONS} <= {*light.routings()}
    assert {*light.FLOODS} <= {*light.routings()}


def test_what_is_rare_and_has_a_reason_is_named_and_all_else_fails() -> None:
    assert light.reason_of("lunar:standard") == light.REASONS["lunar"]
    assert light.reason_of("aodv:rfc-3561") is None
    verdicts = list(light.verdicts({"aodv": 1, "lunar": 10, "dsdv": 11}, 100))
    assert [fails for fails, _ in verdicts] == [True, True, False]
    assert [line.partition(" (")[0] for _, line in verdicts] == [
        "FAILED: aodv in 1 of 100 networks",
        "FAILED: dsdv in 11 of 100 networks",
        "named: lunar in 10 of 100 networks",
    ]
