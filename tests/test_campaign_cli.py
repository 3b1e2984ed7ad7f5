"""``manetlab campaign``: what it prints where, and what it refuses."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from manetlab import Campaign, InputError, Results
from manetlab.cli.campaigns import pairs, share
from tests.campaigns import small
from tests.conftest import Cli

QUESTION = """
question = "Which sender is better?"
replications = 3
metrics = ["tcp_throughput_bps"]
[factors]
tcp = ["reno", "reno-f"]
"traffic.random.cbr" = [1, 4]
[base]
duration_s = {duration}
movement.chain.nodes = 3
traffic.random = {{ tcp = 1, cbr_start_within_s = 0.5 }}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "question.toml"
    path.write_text(QUESTION.format(duration=1.0))
    return path


def test_run_results_compare_status_export_and_repeat(cli: Cli, file: Path, tmp_path: Path) -> None:
    ran = cli("campaign", "run", file)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Which sender is better?")
    assert "12 of 12 runs" in ran.stderr
    results = Results.load(tmp_path / "question.db")
    asked_again = cli("campaign", "results", file)
    assert asked_again.stdout == ran.stdout
    # The table is that of Python.
    summary = json.loads(cli("campaign", "results", "question.db", "--json").stdout)["summary"]
    pd.testing.assert_frame_equal(pd.DataFrame(summary), results.summary(), check_dtype=False, atol=1e-4)
    compared = json.loads(cli("campaign", "results", file, "--compare", "reno-f,reno", "--json").stdout)
    # JSON has no infinity: what is unbounded is null.
    of_python = results.compare("tcp", "reno-f", "reno").replace([math.inf, -math.inf], math.nan)
    told = pd.DataFrame(compared).fillna(math.nan).infer_objects()
    pd.testing.assert_frame_equal(told, of_python, check_dtype=False, atol=1e-4)
    table = cli("campaign", "results", file, "--compare", "reno-f,reno").stdout
    assert f"{of_python['difference'][0] / 1000:.1f}" in table
    assert "adjusted for the campaign's 2 comparisons" in table
    status = json.loads(cli("campaign", "status", file, "--json").stdout)
    assert (status["done"], status["failed"], status["missing"]) == (12, 0, 0)
    done = cli("campaign", "export", file, "-o", "out", "--format", "csv")
    assert len(done.stdout.splitlines()) == 10
    assert "out/ends.csv" in done.stdout
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "comparisons.csv"), results.comparisons, check_dtype=False
    )
    runs = pd.read_csv(tmp_path / "out" / "runs.csv")
    assert list(runs["result_hash"]) == list(results.runs["result_hash"])
    assert "cpu_time_s" not in runs.columns
    again = cli("campaign", "repeat", "question.db", "--point", 3, "--replication", 2, "--json")
    assert json.loads(again.stdout)["provenance"]["result_hash"] == results.runs["result_hash"][11]
    assert again.stderr == "the same as in the store\n"


def test_until_on_the_command_line(cli: Cli, file: Path, tmp_path: Path) -> None:
    done = cli("campaign", "run", file, "--until", "40%", "--store", "other.db")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "question.db").exists()
    assert Results.load(tmp_path / "other.db").campaign.until == 0.4


def test_failed_runs_are_told_at_the_end(cli: Cli, tmp_path: Path) -> None:
    # Each level is fine with the first of the other factor; both second ones together are not.
    (tmp_path / "c.toml").write_text(
        'replications = 1\n[factors]\n"traffic.random.tcp" = [1, 2]\n"movement.chain.nodes" = [4, 2]\n'
        "[base]\nduration_s = 0.5\n"
    )
    done = cli("campaign", "run", "c.toml")
    assert done.returncode == 1
    assert "1 run failed" in done.stderr
    [command] = [line for line in done.stderr.splitlines() if "repeat:" in line]
    assert command.endswith("manetlab campaign repeat c.db --point 3 --replication 0")
    repeated = cli(*command.split()[2:])
    assert repeated.returncode == 2
    assert "too few nodes for the traffic" in repeated.stderr
    assert "too few nodes for the traffic" in done.stderr
    # What is on record is told again, and is no failure of the command that shows it.
    assert cli("campaign", "results", "c.db").returncode == 0


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(QUESTION.format(duration=40.0).replace("replications = 3", "replications = 300"))
    command = [sys.executable, "-m", "manetlab", "campaign", "run", "long.toml", "--jobs", "1"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, text=True, **streams) as process:  # type: ignore[call-overload]
        for _ in range(600):
            time.sleep(0.1)
            if (tmp_path / "long.db").exists() and progress(tmp_path / "long.db"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "the same command continues" in err
    assert "Traceback" not in err
    kept = progress(tmp_path / "long.db")
    assert 0 < kept < 1200
    shorter = Campaign.load(file).changed(replications=1)
    ran: list[int] = []
    shorter.run(tmp_path / "long.db", progress=lambda report: ran.append(report.ran))
    assert ran[-1] == max(0, 4 - kept)


def progress(store: Path) -> int:
    try:
        return len(Results.load(store).runs)
    except InputError:
        return 0


def in_a_terminal(file: Path, folder: Path, **variables: str) -> str:
    """What running a campaign shows in a terminal, on standard output and standard error."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "manetlab", "campaign", "run", str(file)]
    usual = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment = {**usual, "TERM": "xterm", "COLUMNS": "100", **variables}
    with subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert running.returncode == 0
    return shown.decode()


def test_a_terminal_gets_a_bar_with_rate_and_time_left(file: Path, tmp_path: Path) -> None:
    text = in_a_terminal(file, tmp_path)
    assert "12/12" in text
    assert "runs/s" in text
    assert "0:00:00 left" in text


def test_no_color_turns_colours_off(file: Path, tmp_path: Path) -> None:
    # Of the numbers that select how characters look, 30 to 49 and 90 to 107 are colours.
    def colours(text: str) -> set[str]:
        numbers = {each for codes in re.findall(r"\x1b\[([0-9;]*)m", text) for each in codes.split(";")}
        return {each for each in numbers if re.fullmatch(r"[34][0-9]|9[0-7]|10[0-7]", each)}

    assert colours(in_a_terminal(file, tmp_path))
    file.with_suffix(".db").unlink()
    text = in_a_terminal(file, tmp_path, NO_COLOR="1")
    assert "12/12" in text and colours(text) == set()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("run", "nowhere.toml"), "does not exist"),
        (("run", "question.toml", "--until", "5x%"), "not a valid share"),
        (("run", "question.toml", "--until", "0"), "not allowed"),
        (("run", "question.toml", "--store", "nowhere/s.db"), "cannot be written"),
        (("run", "question.toml", "--scheduler", "tcp://127.0.0.1:9"), "cannot be reached"),
        (("run", "question.toml", "--slurm", "cores"), "not an option"),
        (("results", "question.toml"), "the store does not exist"),
        (("status", "nowhere.db"), "the store does not exist"),
        (("export", "question.db", "-o", "out"), "the store does not exist"),
        (("repeat", "question.db", "--point", 0, "--replication", 0), "the store does not exist"),
    ],
)
def test_what_cannot_be_done_is_refused(
    cli: Cli, file: Path, tmp_path: Path, arguments: tuple[str, ...], what: str
) -> None:
    refused = cli("campaign", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert what in refused.stderr
    assert "Traceback" not in refused.stderr
    assert list(tmp_path.iterdir()) == [file]


def test_wrong_questions_to_a_store_are_refused(cli: Cli, tmp_path: Path) -> None:
    small().run(tmp_path / "s.db")
    (tmp_path / "taken").touch()
    for arguments in (
        ("results", "s.db", "--compare", "reno"),
        ("results", "s.db", "--compare", "reno,tahoe"),
        ("results", "s.db", "--compare", "reno,high"),
        ("results", "s.db", "--metric", "tcp"),
        ("export", "s.db", "-o", "out", "--format", "xml"),
        ("export", "s.db", "-o", "taken"),
        ("repeat", "s.db", "--point", 4, "--replication", 0),
    ):
        refused = cli("campaign", *arguments)
        assert (refused.returncode, refused.stdout) == (2, ""), arguments
        assert "Traceback" not in refused.stderr
    assert not (tmp_path / "out").exists()


def test_options_are_read_as_written() -> None:
    assert (share("5%"), share("0.05"), share(" 12.5 % ")) == (0.05, 0.05, 0.125)
    assert pairs(["cores=4", "memory=8GB", "job_extra_directives=a=b"]) == {
        "cores": 4,
        "memory": "8GB",
        "job_extra_directives": "a=b",
    }
