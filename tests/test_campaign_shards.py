"""Shards: parts of a campaign in stores of their own, and one store made of them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from manetlab import Campaign, InputError, Results
from manetlab.campaign.merging import merge
from tests.campaigns import BASE, exported, small
from tests.conftest import Cli

SHARDS = 3


def run_shards(campaign: Campaign, folder: Path) -> list[Path]:
    paths = [folder / f"part-{part}.db" for part in range(1, SHARDS + 1)]
    for part, path in enumerate(paths, 1):
        campaign.run(path, shard=(part, SHARDS))
    return paths


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return run_shards(small(series_s=0.5), tmp_path_factory.mktemp("shards"))


def test_shards_have_every_run_once_and_merged_they_are_the_campaign(
    shards: list[Path], tmp_path: Path
) -> None:
    parts = [Results.load(path).runs for path in shards]
    seen = [(row["point"], row["replication"]) for runs in parts for row in runs.to_dict("records")]
    assert sorted(seen) == [(point, replication) for point in range(4) for replication in range(3)]
    # No part has the runs of one point only.
    assert all(len(set(runs["point"])) == 4 for runs in parts)
    # In whatever order, and twice.
    (tmp_path / "whole").mkdir()
    whole = small(series_s=0.5).run(tmp_path / "whole" / "w.db")
    for number, order in enumerate((shards, shards[::-1], [*shards, *shards])):
        target = tmp_path / f"{number}.db"
        merged = merge(target, order)
        assert (merged.runs, merged.done, merged.failed, merged.total) == (12, 12, 0, 12)
        assert merged.known == len(order) * 4 - 12
        results = Results.load(target)
        assert exported(results, tmp_path / "a") == exported(whole, tmp_path / "b")
        assert results.series("totals").equals(whole.series("totals"))
        # Processes of one machine and second are told once.
        sessions = [Results.load(path).provenance["sessions"][0] for path in shards]
        noted = results.provenance["sessions"]
        assert all(each in sessions for each in noted)
        assert all(each in noted for each in sessions)


def test_what_is_merged_is_continued(shards: list[Path], tmp_path: Path) -> None:
    merge(tmp_path / "m.db", shards[:2])
    assert Results.load(tmp_path / "m.db").missing == 4
    ran: list[int] = []
    small(series_s=0.5).run(tmp_path / "m.db", progress=lambda report: ran.append(report.ran))
    assert max(ran) == 4
    merged = merge(tmp_path / "m.db", shards[2:])
    assert (merged.runs, merged.known, merged.done) == (0, 4, 12)


def test_what_failed_in_one_shard_and_ran_in_another_is_done(tmp_path: Path) -> None:
    paths = run_shards(small(), tmp_path)
    with sqlite3.connect(paths[0]) as db:
        [(point, replication, key)] = db.execute("SELECT point, replication, key FROM task LIMIT 1")
    other = tmp_path / "other.db"
    shutil.copyfile(paths[0], other)
    with sqlite3.connect(other) as db:
        db.execute("DELETE FROM task WHERE key = ?", (key,))
        db.execute("DELETE FROM run WHERE key = ?", (key,))
        db.execute("INSERT INTO failure VALUES (1, ?, ?, '', 'power cut', '')", (point, replication))
    alone = merge(tmp_path / "alone.db", [other, *paths[1:]])
    assert (alone.done, alone.failed) == (11, 1)
    for order in ([other, *paths], [*paths, other]):
        merged = merge(tmp_path / f"{order[0].stem}-first.db", order)
        assert (merged.done, merged.failed) == (12, 0)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE run SET totals = replace(totals, '1', '2')", "the run"),
        ("UPDATE task SET replication = 77 WHERE rowid = rowid AND replication = 0 AND point = 0", "point 0"),
        ("UPDATE session SET host = 'elsewhere'", "a session"),
        ("UPDATE series SET digest = 'none'", "digest"),
    ],
)
def test_a_damaged_shard_is_refused_and_nothing_of_it_is_taken(
    shards: list[Path], change: str, found: str, tmp_path: Path
) -> None:
    damaged = tmp_path / "part-1.db"
    shutil.copyfile(shards[0], damaged)
    shutil.copytree(f"{shards[0]}.series", f"{damaged}.series")
    with sqlite3.connect(damaged) as db:
        db.execute(change.replace("rowid = rowid AND ", ""))
    with pytest.raises(InputError, match="damaged") as refused:
        merge(tmp_path / "m.db", [shards[1], damaged])
    assert found in str(refused.value)
    assert len(Results.load(tmp_path / "m.db").runs) == 4


def test_other_questions_codes_and_results_are_refused(
    shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(series_s=0.5, first_seed=7).run(tmp_path / "seeds.db")
    with pytest.raises(InputError, match="different campaigns"):
        merge(tmp_path / "m.db", [shards[0], tmp_path / "seeds.db"])
    small(series_s=0.5, metrics=["tcp_timeouts"]).run(tmp_path / "asked.db", shard=(2, 3))
    with pytest.raises(InputError, match="different questions") as refused:
        merge(tmp_path / "m.db", [shards[0], tmp_path / "asked.db"])
    assert "another metrics than in" in str(refused.value)
    with monkeypatch.context() as changed:
        changed.setattr("manetlab.provenance.code_identity", lambda: "9.9.9 otherwise")
        small(series_s=0.5).run(tmp_path / "code.db", shard=(2, 3))
    with pytest.raises(InputError, match="different code"):
        merge(tmp_path / "m.db", [shards[0], tmp_path / "code.db"])
    assert merge(tmp_path / "mixed.db", [shards[0], tmp_path / "code.db"], allow_other_version=True).done == 8
    with pytest.raises(InputError, match="would overwrite another file"):
        merge(shards[0], shards)


def test_a_merge_that_is_killed_leaves_a_store_that_the_next_one_completes(
    shards: list[Path], tmp_path: Path
) -> None:
    code = (
        "import os, sys\n"
        "from manetlab.campaign import merging, store\n"
        "adopt, count = store.Store.adopt_run, [0]\n"
        "def dying(self, *row):\n"
        "    count[0] += 1\n"
        "    if count[0] == int(sys.argv[1]): os._exit(9)\n"
        "    return adopt(self, *row)\n"
        "store.Store.adopt_run = dying\n"
        "merging.merge(sys.argv[2], sys.argv[3:])\n"
    )
    for at in range(1, 13):
        target = tmp_path / f"{at}.db"
        killed = subprocess.run([sys.executable, "-c", code, str(at), target, *shards], capture_output=True)
        assert killed.returncode == 9
        kept = len(Results.load(target).runs) if at > 4 else 0
        assert kept == (at - 1) // 4 * 4
        merged = merge(target, shards)
        assert (merged.done, merged.runs) == (12, 12 - kept)


def test_shards_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        'factors = { tcp = ["reno", "reno-f"] }\nreplications = 3\n[base]\nduration_s = 1.0\n'
        "[base.movement.chain]\nnodes = 3\n[base.traffic.random]\ntcp = 1\n"
    )
    for part in (1, 2):
        told = cli("campaign", "run", "c.toml", "--shard", f"{part}/2").stdout
        assert f"Shard {part} of 2 is complete: 3 runs in c.shard-{part}-of-2.db" in told
        assert "campaign merge c.shard-*.db" in told
    names = sorted(path.name for path in tmp_path.glob("c.shard-*.db"))
    merged = cli("campaign", "merge", *names, "-o", "c.db")
    assert "6 of 6 runs of campaign c are in c.db: 6 new, 0 failed, 0 missing." in merged.stdout
    assert cli("campaign", "run", "c.toml").returncode == 0
    for wrong, told in (("3/2", "a number from 1 to 2"), ("0/2", "from 1"), ("2", "I/N"), ("a/b", "I/N")):
        refused = cli("campaign", "run", "c.toml", "--shard", wrong)
        assert refused.returncode == 2
        assert told in refused.stderr


def test_intervals_that_decide_how_much_is_run_need_all_runs() -> None:
    with pytest.raises(InputError, match="looked at over all runs"):
        small(until=0.1, base=BASE).run(shard=(1, 2))
