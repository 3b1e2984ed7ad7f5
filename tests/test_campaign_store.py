"""What a store survives: kills, two processes, a full disk, other versions, and files that are none."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import IO

import pandas
import pytest
from pyarrow import parquet

from manetlab import InputError, Results, provenance, run
from manetlab.campaign.store import Store
from tests import killing
from tests.campaigns import exported, small
from tests.conftest import ROOT


def helper(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)


def test_killed_twenty_times_it_ends_as_if_never_killed(tmp_path: Path) -> None:
    told = json.loads(helper("tests.killing", tmp_path).stdout)
    counts = told["after_kills"]
    # No finished run is lost by a kill, and the kills came in the middle of the work.
    assert counts == sorted(counts)
    assert len([count for count in set(counts) if 0 < count < 200]) > 2
    assert told["finally"] == 200
    whole, killed = (Results.load(tmp_path / name) for name in ("whole.db", "killed.db"))
    assert len(killed.runs) == len(killed.runs["key"].unique()) == 200
    assert exported(whole, tmp_path / "a") == exported(killed, tmp_path / "b")


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    script = (
        "import sys; from tests.killing import campaign; from pathlib import Path; ran = []\n"
        "campaign().run(Path(sys.argv[1]), jobs=1, progress=lambda r: ran.append(r.ran)); print(ran[-1])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "s.db")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
    ran = [int(process.communicate(timeout=120)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    # Every run was made by one of them and by no other, and each saw it through to the end.
    assert sum(ran) == 200
    assert len(Results.load(tmp_path / "s.db").runs) == 200
    alone = killing.campaign().run()
    assert exported(alone, tmp_path / "a") == exported(Results.load(tmp_path / "s.db"), tmp_path / "b")


def test_claims_of_a_dead_process_are_void(tmp_path: Path) -> None:
    campaign = small()
    script = (
        "import os, sys; from pathlib import Path; from tests.campaigns import small\n"
        "from manetlab.campaign.store import Store; from collections import deque; campaign = small()\n"
        "store = Store.open(Path(sys.argv[1])); number = store.begin(campaign, campaign.identity([]))\n"
        "with store.transaction(): print(len(store.claim(number, deque(campaign.tasks(3)), 5)))\n"
        "os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "s.db")]
    dead = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False)
    assert dead.returncode == -9
    assert len(campaign.run(tmp_path / "s.db").runs) == 12


def test_a_full_disk_stops_with_an_error_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    small(replications=1).run(path)
    # The limit on the size of files stands for the disk's end; a kill by its signal is turned off by Python.
    script = (
        "import sys, resource; from pathlib import Path; from tests.killing import campaign\n"
        "from manetlab import InputError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))\n"
        "try:\n    campaign().run(Path(sys.argv[1]), jobs=2)\n"
        "except InputError as error:\n    print(error)"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    command = [sys.executable, "-c", script, str(path)]
    full = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
    assert "the store cannot be used" in full.stdout, full.stderr
    assert "what was stored is safe" in full.stdout
    kept = len(Results.load(path).runs)
    assert 0 < kept < 200
    whole = killing.campaign().run(path)
    assert len(whole.runs) == 200
    assert exported(whole, tmp_path / "a") == exported(killing.campaign().run(), tmp_path / "b")


def test_a_read_only_store_can_be_read_and_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    small(replications=1).run(folder / "s.db")
    command = [
        sys.executable,
        "-c",
        "import sys; from manetlab import Results, InputError; from tests.campaigns import small\n"
        "print(len(Results.load(sys.argv[1]).runs))\n"
        "try:\n    small().run(sys.argv[1])\n"
        "except InputError as error:\n    print(error)",
        str(folder / "s.db"),
    ]
    # Whoever may do anything must first give that up to be refused.
    lesser = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    if os.geteuid() == 0 and shutil.which("setpriv"):
        command = [*lesser, *command]
    folder.chmod(0o555)
    (folder / "s.db").chmod(0o444)
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
    folder.chmod(0o755)
    first, *error = done.stdout.splitlines()
    assert first == "4"
    assert "permission denied" in "\n".join(error) or "readonly" in "\n".join(error), done.stdout


def test_a_reader_changes_nothing_and_leaves_nothing_beside_the_store(tmp_path: Path) -> None:
    small(replications=1).run(tmp_path / "s.db")
    before = (tmp_path / "s.db").read_bytes()
    assert len(Results.load(tmp_path / "s.db").runs) == 4
    with sqlite3.connect(tmp_path / "s.db") as db:
        db.execute("UPDATE campaign SET folder = '/'")
    db.close()
    with pytest.raises(InputError):
        Results.load(tmp_path / "s.db")
    (tmp_path / "s.db").write_bytes(before)
    Results.load(tmp_path / "s.db")
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]
    assert (tmp_path / "s.db").read_bytes() == before


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    small(replications=1).run(tmp_path / "s.db")
    with Store.read(tmp_path / "s.db") as store, pytest.raises(InputError), store.transaction():
        store.rows("DELETE FROM task")
    assert len(Results.load(tmp_path / "s.db").runs) == 4


def test_what_a_killed_process_left_in_the_log_is_read(tmp_path: Path) -> None:
    small(replications=1).run(tmp_path / "s.db")
    with Store.open(tmp_path / "s.db") as store:
        store.reach(1, 2)
        # Copied while it is open, as a kill would leave them.
        for name in ("s.db", "s.db-wal", "s.db-shm"):
            shutil.copy(tmp_path / name, tmp_path / f"killed.{name}")
    (tmp_path / "killed").mkdir()
    for name in ("s.db", "s.db-wal", "s.db-shm"):
        (tmp_path / f"killed.{name}").rename(tmp_path / "killed" / name)
    assert (tmp_path / "killed" / "s.db-wal").stat().st_size > 0
    for _ in range(2):
        assert Results.load(tmp_path / "killed" / "s.db").replications == 2
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["s.db"]


def test_other_code_is_not_mixed_in_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    small(replications=1).run(path)
    monkeypatch.setattr(provenance, "code_identity", lambda: "9.9.9 otherwise")
    with pytest.raises(InputError, match="another version of the code") as refused:
        small(replications=2).run(path)
    assert "--allow-other-version" in refused.value.hint
    assert "4 runs of" in refused.value.found
    assert len(Results.load(path).runs) == 4
    ran = []
    mixed = small(replications=2).run(
        path, allow_other_version=True, progress=lambda report: ran.append(report.ran)
    )
    assert (ran[-1], len(mixed.runs)) == (4, 8)
    assert len(mixed.provenance["code"]) == 2


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    ran: list[int] = []

    def count(**changes: object) -> int:
        ran.clear()
        small(**changes).run(path, progress=lambda report: ran.append(report.ran))
        return ran[-1]

    assert count() == 12
    assert count() == 0
    assert count(replications=4) == 4
    # Other points with the same scenarios, and other scenarios.
    factors = small().factors
    assert count(factors={"tcp": ["reno-f", "tahoe"], "load": factors["load"]}, replications=4) == 8
    assert count(factors={"load": factors["load"]}, replications=4) == 0
    assert count(first_seed=2, replications=4) == 4
    # Results are those of the campaign as it was asked last, however much the store has.
    assert len(small(replications=2).run(path).runs) == 8


@pytest.mark.parametrize("content", [b"not a store at all" * 100, b"SQLite format 3\0" + b"\0" * 200])
def test_another_file_is_no_store(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)
    for use in (small().run, Results.load):
        with pytest.raises(InputError, match="store"):
            use(path)
    assert path.read_bytes() == content


def test_another_programs_database_and_another_form_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (what TEXT)")
    db.close()
    before = path.read_bytes()
    for use in (small().run, Results.load):
        with pytest.raises(InputError, match="not a results store"):
            use(path)
    assert path.read_bytes() == before
    path.unlink()
    small(replications=1).run(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(InputError, match="another schema version"):
        Results.load(path)


def test_a_store_that_cannot_be(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere" / "s.db", Path("/proc/s.db"), Path("/dev/null")):
        with pytest.raises(InputError):
            small().run(place)
        with pytest.raises(InputError):
            Results.load(place)


def test_a_transaction_is_whole_or_not_there(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        campaign = small()
        number = store.begin(campaign, campaign.identity([]))
        with pytest.raises(ZeroDivisionError), store.transaction():
            store._db.execute("UPDATE campaign SET reached = 99")
            _ = 1 / 0
        assert store.definition(number)[2] == 3


def test_time_series_are_kept_beside_the_store(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    small().run(path)
    with pytest.raises(InputError, match="no time series"):
        Results.load(path).series("totals")
    with pytest.raises(InputError, match="need a store"):
        small(series_s=0.25).run()
    # Runs that are there without series are made again, and the same.
    results = small(series_s=0.25).run(path)
    assert list(results.runs["result_hash"]) == list(small().run().runs["result_hash"])
    totals = results.series("totals")
    assert list(totals.columns[:4]) == ["point", "tcp", "load", "replication"]
    assert len(totals) == 12 * 4
    alone = run(results.campaign.points[3].scenario(1), series_s=0.25)
    assert alone.series is not None
    kept = totals[(totals["point"] == 3) & (totals["replication"] == 1)]
    assert {column: list(kept[column]) for column in alone.series["totals"]} == alone.series["totals"]
    flows = results.series("tcp_flows")
    assert set(alone.series["tcp_flows"]) <= set(flows.columns)
    results.export(tmp_path / "out")
    assert pandas.read_parquet(tmp_path / "out" / "series-totals.parquet").equals(totals)
    with pytest.raises(InputError, match="no such time series"):
        results.series("window")
    shutil.rmtree(tmp_path / "s.db.series")
    with pytest.raises(InputError, match="cannot be read"):
        Results.load(path).series("totals")


def test_half_a_time_series_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"

    def torn(_: object, sink: IO[bytes]) -> None:
        sink.write(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(parquet, "write_table", torn)
        with pytest.raises(InputError, match="cannot be written") as refused:
            small(series_s=0.25).run(path)
    assert refused.value.found == "No space left on device"
    assert [file for file in (tmp_path / "s.db.series").rglob("*") if file.is_file()] == []
    assert Results.load(path).runs.empty
    assert len(small(series_s=0.25).run(path).series("totals")) == 48
