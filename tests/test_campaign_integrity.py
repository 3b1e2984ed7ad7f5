"""What a store notices: values that were changed, damaged bytes, and stores that somebody prepared."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from manetlab import InputError, Results
from manetlab.campaign.series import LEFT_BEHIND_S, folder_of
from tests.campaigns import small
from tests.conftest import ROOT

Change = Callable[[sqlite3.Connection], object]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished store with time series."""
    path = tmp_path_factory.mktemp("filled") / "s.db"
    small(series_s=0.25, replications=2).run(path)
    return path


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    """A copy to be changed."""
    path = tmp_path / "s.db"
    shutil.copy(filled, path)
    shutil.copytree(folder_of(filled), folder_of(path))
    return path


def change(store: Path, *statements: str) -> None:
    with sqlite3.connect(store) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def read(path: Path) -> list[str]:
    """All that a reader looks at, as text."""
    results = Results.load(path)
    tables = [results.runs, results.flows, results.drops, results.failed, results.machines]
    tables += [results.series(name) for name in results.series_names]
    return [table.to_csv() for table in tables] + [str(results.provenance["sessions"])]


def refused(path: Path) -> InputError:
    with pytest.raises(InputError) as error:
        read(path)
    return error.value


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET totals = replace(totals, '\"tcp_throughput_bps\": ', '\"tcp_throughput_bps\": 1')",
        "UPDATE run SET flows = '[]' WHERE key = (SELECT max(key) FROM run)",
        "UPDATE run SET cpu_time_s = cpu_time_s * 2",
        "UPDATE run SET totals = ''",
        "UPDATE run SET result_hash = 'x'",
        "UPDATE run SET scenario_hash = 'x'",
        "UPDATE campaign SET definition = replace(definition, 'reno-f', 'tahoe')",
        "UPDATE campaign SET folder = '/'",
        "UPDATE session SET dependencies = '{'",
        "UPDATE task SET point = 99 WHERE point = 3",
        "UPDATE task SET key = 'x' WHERE point = 3 AND replication = 1",
        "UPDATE run SET totals = CAST(x'ff00ff' AS TEXT)",
        "UPDATE run SET totals = CAST(totals AS BLOB)",
        "UPDATE task SET key = CAST(key AS BLOB)",
        "UPDATE campaign SET folder = CAST(folder AS BLOB)",
        "UPDATE campaign SET reached = 'x'",
        "UPDATE campaign SET reached = -1",
        "INSERT INTO failure VALUES (1, 4, 1, 'code', 'error', 'now')",
        "INSERT INTO failure VALUES (1, 'x', 1, 'code', 'error', 'now')",
        "INSERT INTO failure VALUES (1, 0, -1, 'code', 'error', 'now')",
        "INSERT INTO failure VALUES (1, 0, 1, 'code', x'00', 'now')",
    ],
)
def test_a_changed_value_is_refused(store: Path, statement: str) -> None:
    change(store, statement)
    assert refused(store).what == "the store is damaged, or was changed by another program"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE task SET campaign = 9 WHERE point = 3",
        "DELETE FROM run WHERE key = (SELECT max(key) FROM run)",
        "UPDATE series SET key = 'x' || substr(key, 2) WHERE key = (SELECT max(key) FROM series)",
        "UPDATE series SET file = replace(file, 'totals/', 'tcp_flows/')",
    ],
)
def test_rows_that_belong_to_nothing_are_told(store: Path, statement: str) -> None:
    change(store, statement)
    assert refused(store).what == "the store is damaged, or was changed by another program"


def test_a_schema_that_is_no_text_is_told(store: Path) -> None:
    # The first bit of a parenthesis: SQLite's error quotes what follows it.
    content = bytearray(store.read_bytes())
    at = content.index(b"(number)", content.index(b"CREATE TABLE claim ("))
    content[at] ^= 0x80
    store.write_bytes(content)
    assert "damaged" in refused(store).what


def test_a_run_under_anothers_key_is_refused(store: Path) -> None:
    change(
        store,
        "CREATE TEMP TABLE pair AS SELECT min(key) AS a, max(key) AS b FROM run",
        "UPDATE task SET key = CASE key WHEN (SELECT a FROM pair) THEN (SELECT b FROM pair) "
        "WHEN (SELECT b FROM pair) THEN (SELECT a FROM pair) ELSE key END",
    )
    assert "the task of point" in refused(store).found


def test_a_time_series_in_the_place_of_another_is_refused(store: Path) -> None:
    # Where nothing is lost, two senders count the same.
    first, *others = sorted((folder_of(store) / "totals").glob("*.parquet"))
    second = next(other for other in others if other.read_bytes() != first.read_bytes())
    shutil.copy(first, second)
    error = refused(store)
    assert error.where == str(second)
    assert "time series" in error.found


@pytest.mark.parametrize("file", ["/etc/passwd", "../s.db", "totals/../../x.parquet", "totals/x.csv"])
def test_a_store_names_no_file_outside_of_its_folder(store: Path, file: str) -> None:
    change(store, f"UPDATE series SET file = '{file}'")
    assert file in refused(store).found


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER gone AFTER INSERT ON session BEGIN DELETE FROM task; END",
        "CREATE VIEW more AS SELECT * FROM run",
        "CREATE TABLE more (what TEXT)",
        "DROP INDEX task_of_run",
    ],
)
def test_a_store_has_its_own_tables_only(store: Path, statement: str) -> None:
    change(store, statement)
    for use in (Results.load, small(series_s=0.25, replications=2).run):
        with pytest.raises(InputError, match="damaged"):
            use(store)


def test_a_view_in_the_place_of_a_table_is_not_asked(store: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS key FROM n"
    change(store, "PRAGMA foreign_keys = OFF", "DROP TABLE run", f"CREATE VIEW run AS {endless}")
    assert "run" in refused(store).found


def test_damaged_bytes_are_told_or_make_no_difference(store: Path) -> None:
    rng = random.Random(1)
    intact, content = read(store), store.read_bytes()
    told = 0
    for _ in range(150):
        damaged = bytearray(content)
        match rng.randrange(4):
            case 0:
                at = rng.randrange(len(damaged))
                damaged[at] ^= 1 << rng.randrange(8)
            case 1:
                del damaged[rng.randrange(len(damaged)) :]
            case 2:
                at = rng.randrange(len(damaged) - 600)
                damaged[at : at + 512] = bytes(512)
            case _:
                one, other = (4096 * rng.randrange(len(damaged) // 4096) for _ in range(2))
                damaged[one : one + 4096], damaged[other : other + 4096] = (
                    content[other : other + 4096],
                    content[one : one + 4096],
                )
        store.write_bytes(damaged)
        try:
            assert read(store) == intact
        except InputError:
            told += 1
    assert told > 50


def test_control_characters_do_not_reach_the_terminal() -> None:
    with pytest.raises(InputError, match="not allowed"):
        small(name="\x1b[2J").run()
    with pytest.raises(InputError, match="not allowed"):
        small(factors={"tcp": [{"label": "a\x07", "fields": {"tcp.sender": "reno"}}]}).run()


def test_code_that_a_store_names_is_imported_only_with_consent(tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    base = {**small().base, "routing": "python:manetlab.examples.flooding.Flooding"}
    small(base=base, factors={}, replications=1).run(path)
    command = [sys.executable, "-m", "manetlab", "campaign", "repeat", str(path), "--point", "0"]
    command += ["--replication", "0"]
    plain = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL, check=False
    )
    assert (plain.returncode, plain.stdout) == (2, "")
    assert "names code of its own" in plain.stderr
    trusted = subprocess.run([*command, "--trust"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert trusted.returncode == 0, trusted.stderr
    assert "the same as in the store" in trusted.stderr


def test_labels_are_no_formulas_in_csv(tmp_path: Path) -> None:
    level = {"label": "=1+1", "fields": {"tcp.sender": "reno"}}
    results = small(factors={"@tcp": [level]}, replications=1).run()
    results.export(tmp_path)
    heading, row = (tmp_path / "runs.csv").read_text().splitlines()
    assert ("'@tcp" in heading, ",'=1+1," in row) == (True, True)
    assert list(results.runs["@tcp"]) == ["=1+1"]


def test_what_a_killed_writer_left_is_removed(store: Path) -> None:
    folder = folder_of(store) / "totals"
    old, young = folder / ".old.new", folder / ".young.new"
    for file in (old, young):
        file.touch()
    long_ago = time.time() - 2 * LEFT_BEHIND_S
    os.utime(old, (long_ago, long_ago))
    small(series_s=0.25, replications=3).run(store)
    assert (old.exists(), young.exists()) == (False, True)
