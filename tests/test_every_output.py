"""No command destroys what it reads: goes over every command that has an option for something to write.

A command is found by its options' types, so a new one is tried as soon as it is there: it needs an entry in
`CALLS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import click
import pytest

import manetlab
from manetlab import Campaign, InputError, Scenario, pictures
from manetlab.cli import app, options

READ = {
    "s.toml": (
        'duration_s = 2.0\nmovement = "movement.ns"\n[[traffic.flows]]\nkind = "trace"\nsrc = 0\ndst = 1\n'
        'start_s = 0.0\nfile = "packets.csv"\n[[traffic.flows]]\nkind = "tcp"\nsrc = 0\ndst = 1\n'
        "start_s = 0.0\n"
    ),
    "w.toml": (
        'duration_s = 2.0\nmovement.chain = { nodes = 9 }\ntraffic.web = { sessions = "sessions.toml" }\n'
    ),
    "c.toml": (
        'replications = 2\nbase = "s.toml"\nfactors.movement = ["movement.ns", "other.ns"]\n'
        'metrics = ["message_delivery_fraction"]\n'
    ),
    "a.toml": (
        "duration_s = 5.0\nmovement.areas = { sources = 1, sinks = 1, forwarders = 2 }\n"
        'traffic.flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0.0 }]\n'
    ),
    "drawn.toml": "duration_s = 2.0\nmovement.chain = { nodes = 9 }\ntraffic.web = { clients = 1 }\n",
    "movement.ns": "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(1) set X_ 100\n$node_(1) set Y_ 0\n",
    "other.ns": "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(1) set X_ 90\n$node_(1) set Y_ 0\n",
    "traffic.ns": (
        "set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(0) $udp_(0)\nset null_(0) [new Agent/Null]\n"
        "$ns_ attach-agent $node_(1) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n"
        "$cbr_(0) set packetSize_ 64\n$cbr_(0) set interval_ 0.25\n$cbr_(0) attach-agent $udp_(0)\n"
        '$ns_ connect $udp_(0) $null_(0)\n$ns_ at 0.5 "$cbr_(0) start"\n'
    ),
    "packets.csv": "time_s,bytes\n0.5,100\n",
    "p-tcp-flows.csv": "mine\n",
}
"""The files that commands read, by name."""
NS2 = ["--movement", "movement.ns", "--traffic", "traffic.ns", "--duration", "2"]
POINT = ["--point", "0", "--replication", "0"]
CAMPAIGN_FILES = ["c.toml", "c.db", "s.toml", "movement.ns", "other.ns", "packets.csv"]
CALLS: dict[str, list[tuple[list[str], list[str]]]] = {
    "run": [
        (["s.toml", "--series", "1", "--series-output", "new.csv"], ["s.toml", "movement.ns", "packets.csv"]),
        ([*NS2, "--series", "1", "--series-output", "new.csv"], ["movement.ns", "traffic.ns"]),
    ],
    "scenario search": [
        (["s.toml", "--hops", "1", "--count", "1"], ["s.toml", "movement.ns", "packets.csv"])
    ],
    "scenario capacity": [(["s.toml"], ["s.toml", "movement.ns", "packets.csv"])],
    "scenario plot": [(["s.toml", "-o", "new.svg"], ["s.toml", "movement.ns", "packets.csv"])],
    "scenario generate": [(["--nodes", "3", "--duration", "2"], [])],
    "scenario sessions": [(["w.toml"], ["w.toml", "sessions.toml"])],
    "scenario import": [(NS2, ["movement.ns", "traffic.ns"])],
    "campaign merge": [(["c.db"], ["c.db"])],
    "campaign repeat": [
        (["c.db", *POINT], CAMPAIGN_FILES),
        (["c.toml", *POINT], CAMPAIGN_FILES),
    ],
    "advise": [(["a.toml", "--store", "range.db"], ["a.toml", "range.db"])],
    "capacity": [
        (["c.toml", "--limit", "cbr_received >= 1", "--store", "range.db"], ["c.toml", "s.toml", "range.db"]),
    ],
    "range": [
        (["a.toml", "--store", "range.db", "--table", "table.toml"], ["a.toml", "table.toml", "range.db"])
    ],
    "lab": [([], [])],
    "view": [
        (["s.toml"], ["s.toml", "movement.ns", "packets.csv"]),
        (["r.mlrec", "--compare", "s.toml"], ["r.mlrec", "s.toml", "movement.ns"]),
        (["c.db", *POINT], CAMPAIGN_FILES),
    ],
    "recording export": [(["r.mlrec", "--json-lines"], ["r.mlrec"])],
    "emulate": [(["s.toml", "true"], ["s.toml", "movement.ns", "packets.csv"])],
    "chain-throughput": [(["--hops", "1", "--seeds", "2"], [])],
    "papers reproduce": [(["D5-01", "-o", "results", "--kept", "kept"], [])],
    "papers verdicts": [(["--kept", "kept"], [])],
    "papers status": [(["-o", "results"], [])],
}
"""How each command that writes files is called, and what it then reads."""
ENDINGS = {
    ("run", "--series-output"): ".csv",
    ("scenario search", "--output"): ".csv",
    ("scenario capacity", "--output"): ".csv",
    ("scenario plot", "--output"): ".svg",
    ("advise", "--output"): ".html",
    ("capacity", "--plot"): ".svg",
    ("range", "--plot"): ".svg",
}
"""What the name of an output must end in, where it must."""


def commands(group: click.Group = app, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands, by the words that call them."""
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}".strip())
        else:
            yield f"{name} {word}".strip(), command


def written(command: click.Command) -> list[str]:
    """The options for files that the command writes."""
    return [each.opts[0] for each in command.params if isinstance(each.type, options.WrittenPath)]


CASES = [
    pytest.param(name, option, call, reads, id=f"{name} {' '.join(call[:1])} {option}")
    for name, command in commands()
    for option in written(command)
    for call, reads in CALLS.get(name, [])
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files that commands read, and two folders with results of papers."""
    folder = tmp_path_factory.mktemp("made")
    for name, text in READ.items():
        (folder / name).write_text(text)
    for name in ("results", "kept"):
        (folder / name).mkdir()
        (folder / name / "runs-quick.sqlite").write_text("runs")
        (folder / name / "verdicts.json").write_text("[]")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        manetlab.run("s.toml", record="r.mlrec")
        Campaign.load("c.toml").run("c.db", jobs=1)
        call("scenario sessions", ["drawn.toml", "-o", "sessions.toml"])
        call("chain-throughput", ["--hops", "2", "--seeds", "2", "-o", "table.toml"])
    (folder / "range.db").write_bytes((folder / "c.db").read_bytes())
    return folder


def call(name: str, arguments: list[str]) -> None:
    """Calls a command within this process."""
    app.main([*name.split(), *arguments], standalone_mode=False)


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """That folder, which is afterwards as it was."""
    monkeypatch.chdir(made)
    before = content(made)
    yield made
    for name in content(made).keys() - before.keys():
        (made / name).unlink()
    for name, there in before.items():
        (made / name).write_bytes(there)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_type_of_an_option_says_whether_a_path_is_read_or_written() -> None:
    for name, command in commands():
        for each in command.params:
            if not isinstance(each.type, click.Path):
                continue
            is_written = isinstance(each.type, options.WrittenPath | options.FolderPath)
            assert is_written or each.type is options.PATH, (name, each.name)
            told = getattr(each, "help", None) or ""
            says = re.search(r"\bto write\b|^(Write|Draw)|\bto (this|a) file\b|\bwrite .* here\b", told)
            assert bool(says) <= is_written, (name, each.name, told)
        if written(command):
            assert name in CALLS, f"{name} writes files: say in CALLS how to call it"


@pytest.mark.parametrize(("name", "option", "arguments", "reads"), CASES)
def test_no_output_takes_the_place_of_an_input(
    folder: Path, name: str, option: str, arguments: list[str], reads: list[str]
) -> None:
    ending, before = ENDINGS.get((name, option), ""), content(folder)
    for number, file in enumerate(reads):
        symbolic, hard = f"symbolic-{number}{ending}", f"hard-{number}{ending}"
        Path(symbolic).symlink_to(file)
        Path(hard).hardlink_to(file)
        for place in (file, str(folder / file), symbolic, hard):
            with pytest.raises(InputError) as refused:
                call(name, [*arguments, option, place])
            if place in (symbolic, hard):
                assert "would overwrite" in str(refused.value), (file, refused.value)
        Path(symbolic).unlink()
        Path(hard).unlink()
    assert content(folder) == before


@pytest.mark.parametrize(("name", "option", "arguments", "reads"), CASES)
def test_no_two_outputs_are_one_file(
    folder: Path, name: str, option: str, arguments: list[str], reads: list[str]
) -> None:
    del reads
    before = content(folder)
    command = dict(commands())[name]
    for one, other in permutations(written(command), 2):
        if option == one:
            place = f"out{ENDINGS.get((name, one), ENDINGS.get((name, other), ''))}"
            with pytest.raises(InputError):
                call(name, [*arguments, one, place, other, place])
    assert content(folder) == before


@pytest.mark.parametrize(
    ("name", "option"), [("papers reproduce", "--page"), ("papers status", "--markdown")]
)
def test_pages_are_not_written_over_results(folder: Path, name: str, option: str) -> None:
    before = content(folder)
    for arguments, _ in CALLS[name]:
        for file in ("results/runs-quick.sqlite", "results/verdicts.json", "results/runs-full.sqlite"):
            with pytest.raises(InputError, match="among results"):
                call(name, [*arguments, option, file])
    assert content(folder) == before


def test_files_beside_an_output_are_no_inputs_either(folder: Path) -> None:
    scenario = READ["s.toml"].replace("packets.csv", "p-tcp-flows.csv")
    Path("p-tcp-flows.csv").write_text(READ["packets.csv"])
    Path("s.toml").write_text(scenario)
    before = content(folder)
    with pytest.raises(InputError, match="would overwrite"):
        call("run", ["s.toml", "--series", "1", "--series-output", "p.csv"])
    assert content(folder) == before


@pytest.mark.parametrize(("name", "file"), [("report", "index.html"), ("campaign export", "runs.csv")])
def test_a_folder_keeps_what_others_wrote_into_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    monkeypatch.setattr("manetlab.report.writing.render", lambda *_: {file: b"new"})
    out = folder / name.replace(" ", "-")
    out.mkdir()
    (out / file).write_text("mine")
    for manifest in (None, "manifest.json"):
        if manifest is not None:
            (out / manifest).write_text('{"generator": "somebody else", "files": {}}')
        with pytest.raises(InputError):
            call(name, ["c.db", "-o", out.name])
        assert (out / file).read_text() == "mine"


def test_every_command_that_fills_a_folder_is_known() -> None:
    found = {
        name
        for name, command in commands()
        if any(isinstance(each.type, options.FolderPath) for each in command.params)
    }
    papers = {f"papers {each}" for each in ("reproduce", "pages", "confirm", "status")}
    assert found - papers == {"report", "campaign export", "course", "emulate"}


def test_in_python_no_page_and_no_picture_takes_the_place_of_its_inputs(folder: Path) -> None:
    before = content(folder)
    scenario = Scenario.load("s.toml")
    for run in ("s.toml", scenario, scenario.resolve()):
        page = manetlab.view(run)
        for file in ("s.toml", "movement.ns", "packets.csv"):
            Path("link.svg").symlink_to(file)
            with pytest.raises(InputError, match="would overwrite"):
                page.save(file)
            with pytest.raises(InputError, match="would overwrite"):
                pictures.save(run, Path("link.svg"))
            Path("link.svg").unlink()
    with pytest.raises(InputError, match="would overwrite"):
        manetlab.view("r.mlrec").save("r.mlrec")
    assert content(folder) == before


def test_a_result_is_not_replayed(folder: Path) -> None:
    with pytest.raises(InputError, match="cannot be replayed") as refused:
        manetlab.view(manetlab.run("s.toml"))  # type: ignore[arg-type]
    assert "record=" in str(refused.value)
    with pytest.raises(InputError, match="a NoneType"):
        manetlab.view(None)  # type: ignore[arg-type]
    assert folder.is_dir()
