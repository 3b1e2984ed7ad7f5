"""Recordings in files: what is written while a run goes on, and what is read of it as tables."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import recording
from manetlab.errors import InputError
from manetlab.recording import ALL_NODES, KINDS, RecordTo
from tests.conftest import Cli

FLOWS: list[dict[str, Any]] = [
    {"kind": "tcp", "src": 0, "dst": 3, "start_s": 0.5},
    {"kind": "cbr", "src": 1, "dst": 4, "start_s": 1.0, "bytes": 512, "interval_s": 0.1},
]
CHAIN: dict[str, Any] = {
    "movement": {"positions": [(200.0 * node, 0.0) for node in range(5)]},
    "traffic": {"flows": FLOWS},
    "routing": "aodv",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "run.mlrec"
    result = manetlab.run(record=path, duration_s=60.0, **CHAIN)
    assert result.recording is None
    assert result.hash == manetlab.run(duration_s=60.0, **CHAIN).hash
    return path


@cache
def lines() -> list[dict[str, Any]]:
    text = manetlab.run(record=True, duration_s=60.0, **CHAIN).recording
    assert text is not None
    return [json.loads(line) for line in text.splitlines()[1:]]


def test_tables_say_what_the_lines_say(file: Path) -> None:
    opened = recording.open(file)
    assert opened.complete
    assert [flow["id"] for flow in opened.flows] == [0, 1]
    tables = opened.tables()
    named = {"notice": ("route-failed", "route-found", "hold")}
    for kind in set(KINDS) - {"reception"}:
        of_kind = [line for line in lines() if line["event"] in named.get(kind, (kind,))]
        rows = tables[kind].to_pylist()
        assert len(rows) == len(of_kind), kind
        for row, line in zip(rows, of_kind, strict=True):
            assert (row["time_ns"], row["node"]) == (round(line["t"] * 1e9), line["node"])
            for key, value in line.items():
                if key in ("t", "event", "told", "receivers"):
                    continue
                expected = ALL_NODES if value == "broadcast" else value
                if isinstance(value, float):
                    expected = pytest.approx(value, rel=1e-12)
                assert row[key] == expected, (kind, line)
    told = {}
    for row in tables["reception"].to_pylist():
        told.setdefault(row["frame"], {})[str(row["node"])] = row["outcome"]
    frames = [line for line in lines() if line["event"] == "frame"]
    assert told == {line["number"]: line["receivers"] for line in frames if "receivers" in line}


def test_a_span_of_time_has_its_events_and_those_only(file: Path) -> None:
    opened = recording.open(file)
    for kind in KINDS:
        whole, part = opened.events(kind), opened.events(kind, 20.0, 30.0)
        if kind == "reception":
            frames = opened.events("frame", 20.0, 30.0)["number"].to_pylist()
            rows = [row for row in whole.to_pylist() if row["frame"] in set(frames)]
        else:
            rows = [row for row in whole.to_pylist() if 20.0 <= row["time_ns"] / 1e9 < 30.0]
        assert part.to_pylist() == rows, kind
    at_two = opened.events("sent", nodes=[2])
    assert set(at_two["node"].to_pylist()) == {2}


def test_the_state_is_what_events_lead_to(file: Path) -> None:
    opened = recording.open(file)
    assert opened.state(0.0)["routes"].num_rows == 0
    for at_s in (5.0, 30.0, 59.0):
        routes, queues = {}, {}
        for line in lines():
            if line["t"] > at_s:
                break
            if line["event"] == "route":
                routes[line["node"], line["dst"]] = line.get("next_hop")
            elif line["event"] == "queue":
                queues[line["node"]] = line["packets"]
        state = opened.state(at_s)
        found = {(row["node"], row["dst"]): row["next_hop"] for row in state["routes"].to_pylist()}
        assert found == {key: hop for key, hop in routes.items() if hop is not None}
        waiting = {row["node"]: row["packets"] for row in state["queues"].to_pylist()}
        assert waiting == {node: length for node, length in queues.items() if length > 0}
    assert found[0, 3] == 1


def test_movement_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.mlrec"
    movement = {"waypoint": {"nodes": 5, "width_m": 300.0, "height_m": 300.0, "speed_max": 10.0}}
    scenario = manetlab.Scenario.build(
        {"movement": movement, "traffic": {"flows": FLOWS}, "duration_s": 50.0, "routing": "dsr"}
    )
    manetlab.run(scenario, record=path)
    points = recording.open(path).movement.to_pandas()
    resolved = scenario.resolve().movement
    for at_s in (0.0, 17.3, 49.0):
        for node, (x, y) in enumerate(resolved.positions(at_s)):
            of_node = points[points["node"] == node]
            before, after = of_node[of_node["time_s"] <= at_s], of_node[of_node["time_s"] > at_s]
            start = before.iloc[-1]
            end = after.iloc[0] if len(after) else start
            share = (at_s - start["time_s"]) / (end["time_s"] - start["time_s"]) if len(after) else 0.0
            assert start["x"] + share * (end["x"] - start["x"]) == pytest.approx(x, abs=1e-6)
            assert start["y"] + share * (end["y"] - start["y"]) == pytest.approx(y, abs=1e-6)


def test_filters_keep_what_they_name(tmp_path: Path) -> None:
    path = tmp_path / "some.mlrec"
    to = RecordTo(path, flows=(1,), kinds=("made", "window", "route"), from_s=10.0, until_s=12.0)
    manetlab.run(record=to, duration_s=20.0, **CHAIN)
    opened = recording.open(path)
    made = opened.events("made")
    assert set(made["flow"].to_pylist()) == {1}
    assert len(made) == 20
    assert len(opened.events("window")) == len(opened.events("frame")) == 0
    assert opened.head["filter"]["from_s"] == 10.0
    assert opened.state(10.5)["routes"].num_rows > 0, "the state is followed before the span, too"


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        ({"nodes": (5,)}, "5"),
        ({"flows": (2,)}, "2"),
        ({"kinds": ("frames",)}, "frames"),
        ({"from_s": 3.0, "until_s": 2.0}, "from 3 s until 2 s"),
        ({"from_s": float("nan")}, "nan"),
    ],
)
def test_what_cannot_be_recorded_is_refused(choice: dict[str, Any], found: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=found):
        manetlab.run(record=RecordTo(tmp_path / "run.mlrec", **choice), duration_s=5.0, **CHAIN)
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused(tmp_path: Path, file: Path) -> None:
    text = tmp_path / "run.jsonl"
    text.write_text('{"format":"manetlab-recording","version":1,"events":0}\n')
    with pytest.raises(InputError, match="JSON lines"):
        recording.open(text)
    with pytest.raises(InputError, match="cannot be read"):
        recording.open(tmp_path / "missing")
    damaged = tmp_path / "damaged.mlrec"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    with pytest.raises(InputError, match=r"checksum|chunk|block"):
        recording.open(damaged).tables()


def test_a_run_that_is_killed_leaves_its_blocks(tmp_path: Path) -> None:
    path = tmp_path / "run.mlrec"
    code = f"import manetlab\nmanetlab.run(record={str(path)!r}, duration_s=1e5, **{CHAIN!r})\n"
    with subprocess.Popen([sys.executable, "-c", code]) as run:
        deadline = time.monotonic() + 60.0
        while (not path.exists() or path.stat().st_size < 500_000) and time.monotonic() < deadline:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
    opened = recording.open(path)
    assert not opened.complete
    assert len(opened.index) > 1
    assert opened.events("frame").num_rows == sum(opened.index["frames"].to_pylist())


def test_the_commands_write_show_and_export(cli: Cli, file: Path, tmp_path: Path) -> None:
    shown = json.loads(cli("recording", "show", str(file), "--json").stdout)
    assert shown["complete"]
    assert shown["events"] == len(lines())
    assert "complete" in cli("recording", "show", str(file)).stdout
    done = cli("recording", "export", str(file), "--json-lines", "-o", "lines.jsonl")
    assert done.returncode == 0, done.stderr
    exported = (tmp_path / "lines.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in exported[1:]] == lines()
    assert cli("recording", "export", str(file)).returncode == 2


def test_the_outcomes_of_frames_of_any_length_are_found(tmp_path: Path) -> None:
    path = tmp_path / "slow.mlrec"
    manetlab.run(
        duration_s=14.0,
        routing="static",
        movement={"positions": [[0, 0], [50, 0]]},
        mac={"data_rate_bps": 1000.0, "control_rate_bps": 1000.0},
        arp={"enabled": False},
        traffic={
            "flows": [
                {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.5, "bytes": 1000, "interval_s": 0.0001}
            ]
        },
        record=path,
    )
    opened = recording.open(path)
    slow = next(frame for frame in opened.events("frame").to_pylist() if frame["airtime_s"] > 1.0)
    for until_s in (slow["time_s"] + 0.001, float("inf")):
        found = opened.events("reception", until_s=until_s).to_pylist()
        assert [each for each in found if each["frame"] == slow["number"]], until_s


@pytest.mark.parametrize("at_s", [8.3, 16.1, 0.001, 33.1])
def test_a_time_is_the_nanosecond_that_it_is_written_as(tmp_path: Path, at_s: float) -> None:
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": at_s, "bytes": 100, "interval_s": 5.0}
    scenario = {"movement": {"chain": {"nodes": 2}}, "traffic": {"flows": [flow]}, "duration_s": at_s + 2}
    whole, later = tmp_path / "whole.mlrec", tmp_path / "later.mlrec"
    manetlab.run(record=whole, **scenario)
    manetlab.run(record=RecordTo(later, from_s=at_s), **scenario)
    opened = recording.open(whole)
    at_ns = opened.events("made")["time_ns"][0].as_py()
    # A thousandth of a nanosecond is below what a double tells apart here.
    at_s = at_ns / 1e9
    assert len(opened.events("made", from_s=at_s)) == 1
    assert len(opened.events("made", until_s=at_s)) == 0
    assert len(recording.open(later).events("made")) == 1


@pytest.mark.parametrize("routing", ["aodv", "lunar", "dsr", "dsdv"])
def test_a_recording_depends_neither_on_the_warm_up_nor_on_what_comes_later(routing: str) -> None:
    scenario = {
        "profile": "rfc",
        "routing": routing,
        "seed": 3,
        "movement": {"waypoint": {"nodes": 12, "width_m": 900.0, "height_m": 300.0}},
        "traffic": {"random": {"cbr": 4, "cbr_start_within_s": 9.0, "cbr_interval_s": 3.7}},
    }
    whole = _lines(manetlab.run(record=True, duration_s=30.0, **scenario))
    assert any('"route"' in line for line in whole)
    for warmup_s in (5.9271, 11.6, 17.31):
        assert _lines(manetlab.run(record=True, duration_s=30.0, warmup_s=warmup_s, **scenario)) == whole
    shorter = _lines(manetlab.run(record=True, duration_s=21.4, **scenario))
    routes = [line for line in shorter if '"route"' in line]
    assert routes == [line for line in whole if '"route"' in line and json.loads(line)["t"] < 21.4]
    times = [json.loads(line)["t"] for line in whole]
    assert times == sorted(times)


def _lines(result: manetlab.Result) -> list[str]:
    assert result.recording is not None
    return result.recording.splitlines()[1:]


@pytest.mark.parametrize("module", ["recording", "captures", "replay", "pictures", "report", "campaign"])
def test_modules_for_users_are_attributes_of_the_package(module: str) -> None:
    code = f"import manetlab; manetlab.{module}.__name__"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
