"""No output takes the place of an input or of another output; one that is cut short leaves what was there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import Campaign, InputError, Scenario, files, recording, series_files
from manetlab.files import UNFINISHED, completed
from tests.conftest import Cli

SHORT = (
    "duration_s = 2.0\nmovement.chain = { nodes = 3 }\n"
    'traffic.flows = [{ kind = "cbr", src = 0, dst = 2, start_s = 0.5, bytes = 100, interval_s = 0.5 }]\n'
)
LONG = (
    "duration_s = 1e6\nmovement.chain = { nodes = 4 }\n"
    'traffic.flows = [{ kind = "tcp", src = 0, dst = 3, start_s = 0.5 }]\n'
)
CAMPAIGN = f'replications = 2\nfactors.routing = ["aodv", "dsr"]\n[base]\n{SHORT}'
OUTPUTS = ("record", "pcap", "ns2_trace")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.toml").write_text(SHORT)
    return tmp_path


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_run_in_python_overwrites_no_input(folder: Path, output: str) -> None:
    (folder / "link").symlink_to("b.toml")
    for scenario in ("b.toml", Scenario.load("b.toml"), Scenario.load("b.toml").changed(seed=4).resolve()):
        for name in ("b.toml", folder / "b.toml", "link"):
            with pytest.raises(InputError, match="would overwrite"):
                manetlab.run(scenario, **{output: name})
    assert (folder / "b.toml").read_text() == SHORT


def test_a_run_in_python_overwrites_no_trace_of_packets(folder: Path) -> None:
    packets = "time_s,bytes\n0.5,100\n"
    (folder / "packets.csv").write_text(packets)
    flow = {"kind": "trace", "src": 0, "dst": 1, "start_s": 0.0, "file": "packets.csv"}
    with pytest.raises(InputError, match="would overwrite"):
        manetlab.run(
            duration_s=2.0, movement={"chain": {"nodes": 2}}, traffic={"flows": [flow]}, record="packets.csv"
        )
    assert (folder / "packets.csv").read_text() == packets


@pytest.mark.parametrize("one", OUTPUTS)
@pytest.mark.parametrize("other", OUTPUTS)
def test_two_outputs_are_two_files(folder: Path, one: str, other: str) -> None:
    if one == other:
        return
    with pytest.raises(InputError, match="would overwrite"):
        manetlab.run("b.toml", **{one: "x", other: folder / "x"})
    (folder / "x").touch()
    with pytest.raises(InputError, match="would overwrite"):
        manetlab.run("b.toml", **{one: "x", other: f"x{UNFINISHED}"})


def test_a_recording_is_not_exported_over_itself(folder: Path) -> None:
    manetlab.run("b.toml", record="r.mlrec")
    before = (folder / "r.mlrec").read_bytes()
    with pytest.raises(InputError, match="would overwrite"):
        recording.open("r.mlrec").export_json_lines("r.mlrec")
    assert (folder / "r.mlrec").read_bytes() == before


def test_repeat_and_view_overwrite_neither_store_nor_campaign(folder: Path, cli: Cli) -> None:
    (folder / "c.toml").write_text(CAMPAIGN)
    Campaign.load("c.toml").run("c.db", jobs=1)
    before = {name: (folder / name).read_bytes() for name in ("c.db", "c.toml")}
    run = ("--point", 0, "--replication", 0)
    for source in ("c.db", "c.toml"):
        for name in before:
            made = cli("campaign", "repeat", source, *run, "--record", name)
            assert made.returncode == 2, made.stdout
            assert "would overwrite" in made.stderr
    assert cli("view", "c.db", *run, "-o", "c.db").returncode == 2
    with pytest.raises(InputError, match="would overwrite"):
        manetlab.run(manetlab.Results.load("c.db").campaign.scenario(0, 0), record="c.db")
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_an_export_replaces_only_what_an_export_wrote(folder: Path, cli: Cli) -> None:
    (folder / "c.toml").write_text(CAMPAIGN)
    Campaign.load("c.toml").run("c.db", jobs=1)
    mine = folder / "tables"
    mine.mkdir()
    (mine / "runs.csv").write_text("mine")
    made = cli("campaign", "export", "c.db", "-o", "tables")
    assert made.returncode == 2
    assert "runs.csv" in made.stderr
    assert (mine / "runs.csv").read_text() == "mine"
    assert [path.name for path in mine.iterdir()] == ["runs.csv"]
    for _ in range(2):
        assert cli("campaign", "export", "c.db", "-o", "new").returncode == 0
    (folder / "new" / "runs.csv").write_text("changed by hand")
    assert cli("campaign", "export", "c.db", "-o", "new").returncode == 2


@pytest.mark.parametrize("name", [":memory:", "file:z.db", "file:q.db?mode=memory", "a%20b#c?d.db"])
def test_every_name_of_a_store_is_that_of_a_file(folder: Path, name: str) -> None:
    campaign = Campaign.build({"base": {"duration_s": 1.0, **_CHAIN}, "replications": 2})
    campaign.run(name, jobs=1)
    assert (folder / name).is_file()
    assert len(manetlab.Results.load(name).runs) == 2


_CHAIN = {"movement": {"chain": {"nodes": 2}}, "traffic": {"random": {"cbr": 1}}}


def interrupted(folder: Path, words: list[str], ready: Callable[[], Any]) -> subprocess.CompletedProcess[str]:
    """A command that got Ctrl-C as soon as it was ready for that; it is killed if it goes on."""
    command = [sys.executable, "-m", "manetlab", *words]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60.0
        while not ready() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        try:
            _, told = process.communicate(timeout=20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("Ctrl-C was not obeyed")
    return subprocess.CompletedProcess(command, process.returncode, "", told)


@pytest.mark.parametrize("option", ["--record", "--pcap", "--ns2-trace"])
@pytest.mark.parametrize("is_there", [True, False])
def test_ctrl_c_leaves_what_was_there_and_says_what_is(folder: Path, option: str, is_there: bool) -> None:
    (folder / "b.toml").write_text(LONG)
    out = folder / "out"
    if is_there:
        out.write_text("an earlier output")
    written = folder / f"out{UNFINISHED}" if is_there else out
    made = interrupted(
        folder,
        ["run", "b.toml", option, "out"],
        lambda: written.exists() and written.stat().st_size > 100_000,
    )
    assert made.returncode == 130
    assert f"a part is in {written.name if not is_there else written}" in made.stderr
    assert "nothing was written" not in made.stderr
    if is_there:
        assert out.read_text() == "an earlier output"
        assert "out is as it was" in made.stderr


def test_ctrl_c_ends_an_export_at_once(folder: Path) -> None:
    manetlab.run(
        Scenario.load("b.toml", {"duration_s": 1000.0}).changed(traffic={"flows": [_TCP]}), record="r.mlrec"
    )
    out = folder / "r.mlrec.jsonl"
    made = interrupted(folder, ["recording", "export", "r.mlrec", "--json-lines"], out.exists)
    assert made.returncode == 130
    assert "a part is in r.mlrec.jsonl" in made.stderr or "was not written" in made.stderr
    whole = folder / "whole.jsonl"
    recording.open("r.mlrec").export_json_lines(whole)
    assert not out.exists() or out.stat().st_size < whole.stat().st_size


_TCP = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.0}


@pytest.fixture
def pipe(folder: Path) -> Iterator[Path]:
    path = folder / "live"
    os.mkfifo(path)
    yield path


@pytest.mark.parametrize("option", ["--record", "--pcap", "--ns2-trace"])
def test_ctrl_c_ends_the_wait_for_a_reader(pipe: Path, option: str) -> None:
    started = time.monotonic()
    made = interrupted(
        pipe.parent, ["run", "b.toml", option, "live"], lambda: time.monotonic() > started + 2.0
    )
    assert made.returncode == 130, made.stderr


@pytest.mark.parametrize("option", ["--record", "--pcap", "--ns2-trace"])
def test_ctrl_c_ends_the_wait_for_a_reader_that_does_not_read(pipe: Path, option: str) -> None:
    (pipe.parent / "b.toml").write_text(LONG)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        started = time.monotonic()
        made = interrupted(
            pipe.parent, ["run", "b.toml", option, "live"], lambda: time.monotonic() > started + 3.0
        )
    finally:
        os.close(reader)
    assert made.returncode == 130, made.stderr


@pytest.mark.parametrize("option", ["--pcap", "--ns2-trace"])
def test_a_pipe_gets_what_a_file_gets(pipe: Path, cli: Cli, option: str) -> None:
    assert cli("run", "b.toml", option, "file").returncode == 0
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert cli("run", "b.toml", option, "live").returncode == 0
        told, _ = reader.communicate(timeout=20.0)
    assert told == (pipe.parent / "file").read_bytes()


def test_an_output_has_its_name_when_all_are_complete(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("before")
    with completed([one, other]) as places:
        places[one].write_text("after")
        places[other].write_text("new")
        assert one.read_text() == "before"
    assert (one.read_text(), other.read_text()) == ("after", "new")
    told = r"a part is in .*one\.unfinished, and .*one is as it was"
    with pytest.raises(KeyboardInterrupt, match=told), completed([one]) as places:
        places[one].write_text("half")
        raise KeyboardInterrupt
    assert one.read_text() == "after"
    with pytest.raises(InputError, match="a part is in"), completed([one]) as places:
        places[one].write_text("half")
        raise InputError("the disk is full")


def test_what_is_complete_of_several_files_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series = {"totals": {"time_s": [0.0]}, **{name: {"time_s": [0.0]} for name in series_files.NAMES[1:]}}
    write = files.write_bytes

    def full(path: Path, content: bytes) -> None:
        if "queues" in path.name:
            raise InputError("the output cannot be written", str(path), "no space", hint="check the disk")
        write(path, content)

    monkeypatch.setattr(files, "write_bytes", full)
    with pytest.raises(InputError) as told:
        series_files.write_series(tmp_path / "x.csv", series)
    assert "nothing was written" not in str(told.value)
    complete = ["x.csv", "x-tcp-flows.csv", "x-message-flows.csv", "x-route-repairs.csv"]
    assert f"complete: {', '.join(str(tmp_path / name) for name in complete)}" in str(told.value)


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "out"
    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(InputError, match="was not written"):
        files.write_text(path, "new")
    path.write_text("before")
    with pytest.raises(InputError, match="is as it was"):
        files.write_text(path, "new")
    assert path.read_text() == "before"


def test_a_replay_without_a_temporary_folder_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.TemporaryDirectory", none)
    with pytest.raises(InputError, match="no temporary folder") as told:
        manetlab.view(str(folder / "b.toml"))
    assert "TMPDIR" in str(told.value)
