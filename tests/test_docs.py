"""The documentation is true: its commands work, its tables are complete, its links lead somewhere."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import advice, docs_tables, flows, sources
from manetlab.input_tables import InputTable
from manetlab.running import Result
from tests import notebook

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "papers" / "how-to.md"])
OTHERS = [ROOT / "papers" / "README.md", *(ROOT / "papers" / "pages").glob("*.md")]
STUDIES = [
    ROOT / "papers" / "studies" / name
    for name in (
        "README.md",
        "adjusted.md",
        "fairness.md",
        "last-hop.md",
        "loss-causes.md",
        "movement.md",
        "quoted.md",
        "ranges.md",
    )
]
MANETLAB = ".venv/bin/manetlab"
TOO_LONG = (["demo"], ["papers", "reproduce"])
"""Commands that take a minute; their own tests run them in small."""
ARRIVED = ("received", "delivered_bytes", "messages_delivered")
"""Keys of a flow that say that something arrived, by its kind."""


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def commands(page: Path) -> list[str]:
    """The lines of all shell blocks, with continued lines joined."""
    return [
        line
        for block in blocks(page, "sh")
        for line in block.replace("\\\n", " ").splitlines()
        if line.strip()
    ]


def entries(text: str) -> dict[str, str]:
    """What the first column of a page's tables names, with the rest of its rows."""
    found: dict[str, str] = {}
    for first, rest in re.findall(r"^\|([^|]*)\|(.*)$", text, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", first):
            found[name] = found.get(name, "") + rest
    return found


def section(text: str, heading: str) -> str:
    """The text from a heading to the next one."""
    return re.split(r"^#", text.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def write_named_blocks(page: Path, folder: Path) -> None:
    """Makes the files of a page: the blocks of TOML whose first line names one."""
    for block in blocks(page, "toml"):
        if named := re.match(r"# (\S+\.toml)\n", block):
            (folder / named[1]).write_text(block, encoding="utf-8")


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    """What is in a folder, with sizes and times of change."""
    found = {path: path.stat() for path in folder.rglob("*")}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}


@cache
def small_result() -> Result:
    """A run with TCP, CBR, video over RTP and a Web session, some of which cannot be delivered."""
    flows: list[dict[str, Any]] = [
        {"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 20_000},
        {"kind": "cbr", "src": 0, "dst": 2, "start_s": 0.5, "bytes": 512, "interval_s": 0.2},
        {"kind": "cbr", "src": 1, "dst": 3, "start_s": 0.6, "bytes": 512, "interval_s": 0.2},
        {"kind": "video", "src": 0, "dst": 2, "start_s": 0.7, "transport": "rtp-adp"},
        {
            "kind": "web",
            "src": 2,
            "dst": 0,
            "start_s": 0.8,
            "cycles": [{"think_s": 0.5, "request_bytes": 200, "replies_bytes": [900]}],
        },
    ]
    places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (5000.0, 0.0)]
    return manetlab.run(
        movement={"positions": places}, traffic={"flows": flows}, duration_s=20.0, routing="aodv", record=True
    )


def keys(value: object) -> set[str]:
    """All keys of nested mappings."""
    match value:
        case dict():
            return set(value).union(*(keys(inner) for inner in value.values()))
        case list():
            return set().union(*(keys(inner) for inner in value))
    return set()


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=page_name)
def test_the_commands_of_a_page_work(page: Path, tmp_path: Path) -> None:
    (tmp_path / "validation").symlink_to(ROOT / "validation")
    write_named_blocks(page, tmp_path)
    for command in commands(page):
        before = files(tmp_path)
        program, *arguments = shlex.split(command)
        if program == "make":
            continue
        assert program == MANETLAB, command
        if not any(arguments[: len(words)] == words for words in TOO_LONG):
            done = subprocess.run(
                [sys.executable, "-m", "manetlab", *arguments],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            assert done.stdout or files(tmp_path) != before, command


def test_the_targets_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"`make ([\w-]+)`", text) + re.findall(r"^make ([\w-]+)$", text, re.MULTILINE)
        assert set(named) <= targets, page_name(page)


def test_the_guide_to_contributing_names_every_target() -> None:
    """Those that the Makefile explains at its head."""
    explained = set(re.findall(r"^#   make ([\w-]+) ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(explained) > 20
    assert explained - set(re.findall(r"^\| `make ([\w-]+)", guide, re.M)) == set()


def test_the_tutorial_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = ROOT / "docs" / "tutorial.md"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "validation").symlink_to(ROOT / "validation")
    write_named_blocks(page, tmp_path)
    namespace: dict[str, Any] = {}
    for block in blocks(page, "python"):
        exec(compile(block, "docs/tutorial.md", "exec"), namespace)
    said = capsys.readouterr().out
    assert re.search(
        r"reno-f − reno: [+-]\d+\.\d kb/s \(95 %: [+-]\d+\.\d to [+-]\d+\.\d\) over 5 networks", said
    )
    assert len(re.findall(r"m/s: .* significant", said)) == 3
    assert (tmp_path / "speeds.pdf").read_bytes().startswith(b"%PDF")


def without_numbers(text: str) -> str:
    """A text without its numbers and the width of its columns: any change of the models changes those."""
    return " ".join(re.sub(r"[+-]?\d[\d.e+-]*", "#", text).split())


def test_the_example_of_the_readme_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "README.md"
    [block] = blocks(page, "python")
    namespace: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    shown = next(block for block in blocks(page, "text") if block.startswith("routing"))
    assert without_numbers(capsys.readouterr().out) == without_numbers(shown)
    means = namespace["means"].set_index(["metric", "routing"])["mean"]
    ratio = means["normalised_routing_load", "dsr"] / means["normalised_routing_load", "aodv"]
    assert 1 / 4 < ratio < 0.45, "about a third as many routing packets, as the text says"


def test_the_notebook_shows_what_it_gives(tmp_path: Path) -> None:
    kept, run = notebook.read(), notebook.read()
    notebook.execute(run, tmp_path)
    shown = notebook.outputs(notebook.without_progress(run))
    assert shown == notebook.outputs(kept), "run `make docs`"
    assert {"image/png", "text/html"} <= {kind for cell in shown for output in cell for kind in output}
    assert (tmp_path / "speeds-report" / "index.html").is_file()


def test_the_scenarios_on_pages_can_be_run(tmp_path: Path) -> None:
    shown = [block for page in PAGES for block in blocks(page, "toml")]
    assert shown
    for page in PAGES:
        write_named_blocks(page, tmp_path)
    track = manetlab.Scenario(movement={"waypoint": {}}, traffic={"flows": []}, duration_s=100.0).resolve()
    (tmp_path / "drones-20-1.movements").write_text(track.movement.to_ns2(), encoding="utf-8")
    for block in shown:
        data = tomllib.loads(block)
        if "base" in data:
            manetlab.Campaign.build(data, folder=tmp_path).check()
        elif "advise" in data:
            advice.build(data, folder=tmp_path)[0].check()
        else:
            scenario = manetlab.Scenario.build(data, folder=tmp_path)
            run = manetlab.run(scenario)
            # Where every flow is the same question of who gets through, each does; elsewhere some flow.
            arrived = [any(flow.get(key) for key in ARRIVED) for flow in run.flows]
            all_of_cell = scenario.movement.positions is not None and scenario.movement_file is None
            assert (all if all_of_cell else any)(arrived), block


def test_the_campaign_of_the_page_is_the_same_in_toml_and_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ROOT / "docs" / "campaigns.md"
    monkeypatch.chdir(tmp_path)
    write_named_blocks(page, tmp_path)
    namespace: dict[str, Any] = {}
    [block] = blocks(page, "python")
    exec(compile(block, "docs/campaigns.md", "exec"), namespace)
    of_python = namespace["results"]
    of_toml = manetlab.Campaign.load("reno-f.toml").run("reno-f.db")
    assert of_toml.campaign.to_dict() == of_python.campaign.to_dict()
    assert of_toml.summary().equals(of_python.summary())
    asked = ("tcp", "reno-f", "reno")
    assert of_toml.compare(*asked).equals(of_python.compare(*asked))
    assert len(of_python.compare(*asked)) == 2
    (tmp_path / "load.toml").rename(tmp_path / "other.toml")
    assert len(manetlab.Campaign.load("other.toml").run().runs) == 4


def test_every_key_of_a_campaign_is_described() -> None:
    text = (ROOT / "docs" / "campaigns.md").read_text(encoding="utf-8")
    keys = manetlab.Campaign(base={}).to_dict().keys() | {"until", "max_replications", "series_s"}
    assert sorted(key for key in keys if f"| `{key}` |" not in text) == []


def test_every_key_of_a_scenario_is_described() -> None:
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    tables = [
        table for _, table in inspect.getmembers(sources, inspect.isclass) if issubclass(table, InputTable)
    ]
    assert sources.RandomTraffic in tables
    names = {name for table in (manetlab.Scenario, *tables) for name in table.fields}
    names |= {*flows.field_names(), *flows.cycle_fields()}
    # What a short form of movement or a cycle consists of is described in its row.
    within = {"chain": sources.Chain.fields, "grid": sources.Grid.fields, "areas": sources.Areas.fields}
    within["files"] = dict.fromkeys(sources.ABOUT_FILES)
    described = entries(text).keys() | {
        name
        for row, names in {**within, "cycles": flows.cycle_fields()}.items()
        for name in names
        if f"`{name}`" in entries(text)[row]
    }
    assert sorted(names - described) == []


def test_every_metric_of_a_result_is_defined() -> None:
    result = small_result().to_dict()
    result["provenance"] = dict.fromkeys(result["provenance"])
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    # The keys of two small objects are described in sentences.
    in_words = {"Drops": {"count", "layer", "reason", "packets"}, "Audit": {"balanced", "data", "lost"}}
    for heading, names in in_words.items():
        assert [name for name in names if f"`{name}`" not in section(text, heading)] == []
    assert sorted(keys(result) - entries(text).keys() - set().union(*in_words.values())) == []


def test_every_reason_to_drop_is_defined() -> None:
    source = (ROOT / "crates" / "core" / "src" / "drops.rs").read_text(encoding="utf-8")
    reasons = re.findall(r"^    (\w+) at (\w+),$", source, re.MULTILINE)
    assert len(reasons) > 5
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    for names in reasons:
        reason, layer = (re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower() for name in names)
        assert f"| `{layer}` | `{reason}` |" in text


def test_the_page_of_parameters_is_up_to_date() -> None:
    page = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    assert page == docs_tables.parameters_page(), "run `make docs`"


def test_the_recording_is_as_described() -> None:
    text = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
    head, *lines = (json.loads(line) for line in str(small_result().recording).splitlines())
    assert f"version {head['version']} of JSON lines" in text
    assert head["events"] == len(lines)
    assert {line["event"] for line in lines} >= {"made", "sent", "delivered", "dropped", "frame", "window"}
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)
    for line in lines:
        assert f"| `{line['event']}` |" in text
        assert all(f"`{key}`" in text for key in line), line


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub and most others give to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS, *STUDIES], ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
