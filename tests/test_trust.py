"""A store may come from somebody else: no command and no function imports or reads what it names unasked."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manetlab import Campaign, InputError, Results, report, view
from tests.conftest import Cli

CHAIN = {
    "duration_s": 2.0,
    "movement": {"chain": {"nodes": 3}},
    "traffic": {"random": {"cbr": 1}},
}
SECRET = "only the owner of this file may know that"
EVIL = """
from pathlib import Path
Path({mark!r}).touch()
from manetlab.examples.flooding import Flooding
class Evil(Flooding):
    pass
"""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "theirs.db"
    factors = {"routing": ["aodv", "dsr"]}
    Campaign(name="t", replications=2, base=CHAIN, factors=factors).run(path, jobs=1)
    return path


def changed(store: Path, folder: Path, change: Callable[[dict[str, Any]], None], place: str = "") -> Path:
    """A copy of a store whose campaign was changed, with new digests and a new id: they are no secret."""
    path = folder / "theirs.db"
    shutil.copy(store, path)
    with sqlite3.connect(path) as db:
        before, definition, at = db.execute("SELECT id, definition, folder FROM campaign").fetchone()
        made = json.loads(definition)
        change(made)
        text, at = json.dumps(made), place or at
        try:
            identity = Campaign.build(made, "made").identity([])
        except InputError:
            identity = before
        digest = hashlib.sha256(json.dumps([identity, text, at]).encode()).hexdigest()
        db.execute(
            "UPDATE campaign SET id = ?, definition = ?, folder = ?, digest = ?", (identity, text, at, digest)
        )
        for point, replication, key in db.execute("SELECT point, replication, key FROM task").fetchall():
            of = hashlib.sha256(json.dumps([identity, point, replication, key]).encode()).hexdigest()
            db.execute(
                "UPDATE task SET digest = ? WHERE point = ? AND replication = ?", (of, point, replication)
            )
    return path


COMMANDS = {
    "status": ["campaign", "status", "theirs.db"],
    "results": ["campaign", "results", "theirs.db"],
    "compare": ["campaign", "results", "theirs.db", "--json"],
    "export": ["campaign", "export", "theirs.db", "-o", "tables"],
    "repeat": ["campaign", "repeat", "theirs.db", "--point", "1", "--replication", "0"],
    "view": ["view", "theirs.db", "--point", "1", "--replication", "0"],
    "report": ["report", "theirs.db", "-o", "page", "--replays"],
}


def names_code(asked: dict[str, Any]) -> None:
    asked["factors"]["routing"][1] = "python:evil_module.Evil"


def names_code_adjusted(asked: dict[str, Any]) -> None:
    names_code(asked)
    asked["adjusted"] = True


def movement(name: str) -> Callable[[dict[str, Any]], None]:
    def change(asked: dict[str, Any]) -> None:
        asked["base"]["movement"] = name

    return change


def traffic(source: Any) -> Callable[[dict[str, Any]], None]:
    def change(asked: dict[str, Any]) -> None:
        asked["base"]["traffic"] = source

    return change


def base(name: str) -> Callable[[dict[str, Any]], None]:
    def change(asked: dict[str, Any]) -> None:
        asked["base"] = name

    return change


def hostile(secret: Path) -> dict[str, tuple[Callable[[dict[str, Any]], None], str]]:
    """What changes a store, and the folder that it then says its files are in."""
    name = str(secret)
    flow = {"kind": "trace", "src": 0, "dst": 1, "start_s": 0.0, "file": name}
    return {
        "code": (names_code, ""),
        "code, adjusted": (names_code_adjusted, ""),
        "movement": (movement(name), ""),
        "movement in the folder that it names": (movement(secret.name), str(secret.parent)),
        "movement by a link": (movement("link"), "."),
        "traffic": (traffic(name), ""),
        "trace": (traffic({"flows": [flow]}), ""),
        "sessions": (traffic({"web": {"sessions": name}}), ""),
        "base": (base(name), ""),
    }


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A folder with what a store may name, a file elsewhere, and the one that is made if code is executed."""
    secret, mark, folder = tmp_path / "elsewhere" / "secret", tmp_path / "EXECUTED", tmp_path / "here"
    secret.parent.mkdir()
    secret.write_text(SECRET)
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    (folder / "evil_module.py").write_text(EVIL.format(mark=str(mark)))
    return folder, secret, mark


def told_in(folder: Path) -> str:
    """What pages and tables in a folder say."""
    kinds = (".html", ".csv", ".json", ".tex", ".svg")
    return "".join(path.read_text() for path in folder.rglob("*") if path.suffix in kinds)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_imports_what_a_store_names(
    honest: Path, place: tuple[Path, Path, Path], name: str
) -> None:
    folder, _, mark = place
    changed(honest, folder, names_code)
    command = [sys.executable, "-m", "manetlab", *COMMANDS[name]]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in made.stderr
    assert made.returncode in (0, 2)
    assert not mark.exists()


@pytest.mark.parametrize("attack", hostile(Path("secret")))
def test_nothing_reads_or_imports_what_a_store_names(
    honest: Path, place: tuple[Path, Path, Path], attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, secret, mark = place
    monkeypatch.syspath_prepend(str(folder))
    change, at = hostile(secret)[attack]
    store = changed(honest, folder, change, str(folder) if at == "." else at)
    told = []
    for use in (
        lambda results: str(report.answer(results)),
        lambda results: str(report.write(results, folder / "page")),
        lambda results: str(results.export(folder / "tables", ["csv"])),
        lambda results: str(results.campaign.scenario(1, 0).resolve()),
        lambda results: view(results.campaign.scenario(1, 0)).html,
        lambda results: str(results.campaign.run(folder / "again.db", jobs=1)),
    ):
        try:
            told.append(use(Results.load(store)))
        except InputError as error:
            told.append(str(error))
    assert not mark.exists()
    assert SECRET not in told_in(folder) + "".join(told)
    assert "outside its folder" in told[3] or "code of its own" in told[3] or "without a base" in told[3]


def test_no_function_imports_what_a_store_names(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "EXECUTED"
    (tmp_path / "evil_module.py").write_text(EVIL.format(mark=str(mark)))
    monkeypatch.syspath_prepend(str(tmp_path))
    store = changed(honest, tmp_path, names_code)
    results = Results.load(store)
    report.answer(results)
    for use in (
        lambda: results.campaign.scenario(1, 0).resolve(),
        lambda: results.campaign.points[1].scenario(0).changed(seed=3).resolve(),
        lambda: results.campaign.run(tmp_path / "other.db", jobs=1),
    ):
        with pytest.raises(InputError, match="code of its own"):
            use()
    assert not mark.exists()
    Results.load(store, trust=True).campaign.scenario(1, 0).resolve()
    assert mark.exists()


def test_a_store_that_is_trusted_has_its_files_read(tmp_path: Path) -> None:
    moves = tmp_path / "elsewhere" / "moves.tcl"
    moves.parent.mkdir()
    moves.write_text(
        "".join(
            f"$node_({n}) set {axis}_ {n * 100.0 if axis == 'X' else 0.0}\n"
            for n in range(3)
            for axis in "XYZ"
        )
    )
    (tmp_path / "stores").mkdir()
    given = tmp_path / "elsewhere" / "c.toml"
    given.write_text(
        'replications = 2\nfactors.routing = ["aodv", "dsr"]\n'
        '[base]\nduration_s = 2.0\nmovement = "moves.tcl"\ntraffic.random = { cbr = 1 }\n'
    )
    store = tmp_path / "stores" / "c.db"
    made = Campaign.load(given).run(store, jobs=1)
    made.campaign.scenario(0, 0).resolve()
    with pytest.raises(InputError, match="outside its folder"):
        Results.load(store).campaign.scenario(0, 0).resolve()
    for trusting in ({"trust": True}, {"campaign_file": given}):
        Results.load(store, **trusting).campaign.scenario(0, 0).resolve()


def test_a_campaign_that_is_not_that_of_its_id_is_refused(honest: Path, tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    shutil.copy(honest, path)
    with sqlite3.connect(path) as db:
        identity, definition, at = db.execute("SELECT id, definition, folder FROM campaign").fetchone()
        text = definition.replace('"nodes": 3', '"nodes": 4')
        digest = hashlib.sha256(json.dumps([identity, text, at]).encode()).hexdigest()
        db.execute("UPDATE campaign SET definition = ?, digest = ?", (text, digest))
    with pytest.raises(InputError, match="another than its id says"):
        Results.load(path)


def test_a_store_starts_no_long_search(honest: Path, tmp_path: Path, cli: Cli) -> None:
    def search(asked: dict[str, Any]) -> None:
        asked["base"]["movement"] = {"waypoint": {"nodes": 3}}
        asked["base"]["traffic"] = {"random": {"tcp": 1, "hops": 200, "hops_draws": 100_000_000}}

    store = changed(honest, tmp_path, search)
    for words in (["campaign", "results", store], ["report", store, "-o", tmp_path / "page"]):
        made = cli(*words)
        assert made.returncode == 0, made.stderr
        assert "long search" in " ".join((made.stdout + made.stderr).split()) or "page" in made.stdout


def test_a_store_names_no_multitude_of_points_without_runs(honest: Path, tmp_path: Path, cli: Cli) -> None:
    def multitude(asked: dict[str, Any]) -> None:
        asked["factors"]["tcp.window"] = list(range(1, 1001))
        asked["factors"]["queue.packets"] = list(range(1, 101))
        asked["replications"] = 2

    store = changed(honest, tmp_path, multitude)
    with pytest.raises(InputError, match="very many points"):
        Results.load(store)
    for words in (["campaign", "results", store], ["report", store, "-o", tmp_path / "page"]):
        made = cli(*words)
        assert made.returncode == 2
        assert "very many points" in made.stderr and "--trust" in made.stderr
    assert Results.load(store, trust=True).campaign.point_count >= 100_000


def test_a_metric_that_is_named_often_is_shown_once(honest: Path, tmp_path: Path) -> None:
    def often(asked: dict[str, Any]) -> None:
        asked["metrics"] = ["cbr_delivery_fraction"] * 100_000

    results = Results.load(changed(honest, tmp_path, often))
    assert results.wanted() == ["cbr_delivery_fraction"]
    assert results.wanted(["hops_mean", "hops_mean"]) == ["hops_mean"]
