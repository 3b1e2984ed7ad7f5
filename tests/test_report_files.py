"""The files of a report: the same bytes each time, nothing of others lost, the command that writes them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from manetlab.campaign import Campaign, Results
from manetlab.errors import InputError
from manetlab.report import write
from tests.conftest import Cli
from tests.reports import Totals
from tests.reports import results as made

CAMPAIGN = """
name = "small"
question = "Does it work?"
replications = 2
metrics = ["tcp_throughput_bps"]

[base]
duration_s = 4.0
warmup_s = 1.0

[base.movement.chain]
nodes = 3

[[base.traffic.flows]]
kind = "tcp"
src = 0
dst = 2
start_s = 0.5

[factors]
tcp = ["reno", "reno-f"]
"""


def results(**fields: Any) -> Results:
    """A campaign of few figures."""
    return made(fixed, **{"factors": {"tcp": ["reno", "reno-f"]}, **fields})


def fixed(_: Mapping[str, Any], replication: int) -> Totals:
    return {"tcp_throughput_bps": 1000.0 + replication, "cbr_delivery_fraction": 0.5}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a campaign that was run."""
    folder = tmp_path_factory.mktemp("store")
    (folder / "small.toml").write_text(CAMPAIGN)
    Campaign.load(folder / "small.toml").run(folder / "small.db")
    return folder / "small.db"


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(results(), tmp_path / name)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert len(content(tmp_path / "a")) > 15


def test_the_files_are_those_that_the_manifest_names(tmp_path: Path) -> None:
    files = write(results(), tmp_path / "out")
    assert files[0] == tmp_path / "out" / "index.html"
    named = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    assert {str(path.relative_to(tmp_path / "out")) for path in files} == set(named)
    assert set(content(tmp_path / "out")) == {*named, "manifest.json"}


def test_a_new_report_takes_away_what_only_the_old_one_had_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(results(metrics=["tcp_throughput_bps", "cbr_delivery_fraction"]), out)
    changed, mine = out / "tables" / "metric-cbr-delivery-fraction.tex", out / "figures" / "mine.svg"
    changed.write_text("by hand")
    mine.write_text("mine")
    write(results(), out)
    assert not (out / "tables" / "metric-cbr-delivery-fraction.csv").exists()
    assert (changed.read_text(), mine.read_text()) == ("by hand", "mine")


def test_a_manifest_cannot_make_a_report_remove_files_elsewhere(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(results(), out)
    precious = tmp_path / "precious"
    precious.write_text("keep")
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["files"]["../precious"] = "6ca7ea2feefc88ecb5ed6356ed963f47dc9137f82526fdd25d618ea626d0803f"
    (out / "manifest.json").write_text(json.dumps(manifest))
    write(results(), out)
    assert precious.read_text() == "keep"


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("my home page")
    with pytest.raises(InputError, match="a folder that holds other files"):
        write(results(), tmp_path)
    assert content(tmp_path) == {"index.html": b"my home page"}
    with pytest.raises(InputError, match="a file"):
        write(results(), tmp_path / "index.html")


def test_what_cannot_be_reported_leaves_the_old_report(tmp_path: Path) -> None:
    write(results(), tmp_path / "out")
    before = content(tmp_path / "out")
    with pytest.raises(InputError):
        write(results(), tmp_path / "out", compare="speed")
    assert content(tmp_path / "out") == before


def test_the_commands_on_the_page_make_the_same_report(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(CAMPAIGN)
    assert cli("campaign", "run", "small.toml").returncode == 0
    done = cli("report", "small.db", "--baseline", "reno-f")
    assert done.returncode == 0
    # A slow machine is told how long it takes already.
    assert [line for line in done.stderr.splitlines() if not line.endswith(" so far")] == []
    assert done.stdout.startswith("small-report/index.html")
    page = (tmp_path / "small-report" / "index.html").read_text()
    commands, again, definition = map(
        html.unescape, re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    )
    # They stand on the first page, and where all is that they need.
    assert commands == again
    name = commands.split()[3]
    (tmp_path / name).write_text(definition)
    for command in commands.splitlines():
        program, *arguments = command.split()
        assert program == "manetlab"
        assert cli(*arguments).returncode == 0, command
    assert (tmp_path / "small-report" / "index.html").read_text() == page


def test_replays_are_linked_and_are_those_that_the_commands_make(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(CAMPAIGN)
    assert cli("campaign", "run", "small.toml").returncode == 0
    done = cli("report", "small.db", "--replays")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "small-report"
    page = (folder / "index.html").read_text(encoding="utf-8")
    rows = re.findall(
        r'<a href="(replays/[^"]*)">(\w+): (\d+)</a>.*?<code>(manetlab view .*?)</code>', page, re.S
    )
    # Two settings, each with a median and a worst replication.
    assert [which for _, which, _, _ in rows] == ["median", "worst"] * 2
    for link, _, replication, command in rows:
        assert f"--replication {replication} " in command
        assert cli(*command.split()[1:]).returncode == 0
        assert (folder / link).read_bytes() == (tmp_path / command.split()[-1]).read_bytes()
    # Without them, the report takes them away again.
    assert cli("report", "small.db").returncode == 0
    assert [path.name for path in folder.rglob("*.html")] == ["index.html"]
    assert 'href="replays' not in (folder / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report", "nowhere.db"), "nowhere.db"),
        (("report", "nowhere.toml"), "nowhere"),
        (("report", "small.db", "--compare", "routing"), "tcp"),
        (("report", "small.db", "--baseline", "vegas"), "reno, reno-f"),
        (("report", "small.db", "--confidence", "95"), "0.95"),
        (("report", "small.db", "--output", "small.toml"), "a folder"),
        (("report", "small.db", "--output", "no/such/place"), "no/such"),
    ],
)
def test_bad_requests_are_told_at_once(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "small.toml").write_text(CAMPAIGN)
    assert cli("campaign", "run", "small.toml").returncode == 0
    done = cli(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.rglob("*.html")) == []
