"""Stores that earlier versions wrote are opened with what they contain, or refused in words; never misread.

``data/stores`` has what commits 6cf56d9 (schema 1) and a1c7de7 (the first of schema 2) wrote for chains.toml,
and what the latter exported as CSV.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from manetlab import Campaign, InputError, Results
from manetlab.report import write
from tests.conftest import ROOT, Cli

STORES = ROOT / "tests/data/stores"


def unpacked(name: str, folder: Path) -> Path:
    path = folder / "chains.db"
    path.write_bytes(gzip.decompress((STORES / f"{name}.db.gz").read_bytes()))
    (folder / "chains.toml").write_bytes((STORES / "chains.toml").read_bytes())
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("campaign", "results", "chains.db"),
        ("campaign", "status", "chains.db"),
        ("campaign", "export", "chains.db", "--output", "out"),
        ("campaign", "repeat", "chains.db", "--point", "0", "--replication", "0"),
        ("campaign", "run", "chains.toml"),
        ("campaign", "run", "chains.toml", "--allow-other-version"),
        ("report", "chains.db"),
        ("view", "chains.db", "--point", "0", "--replication", "0", "-o", "out.html"),
    ],
    ids=" ".join,
)
def test_a_store_of_schema_1_is_refused_and_left_alone(
    words: tuple[str, ...], tmp_path: Path, cli: Cli
) -> None:
    store = unpacked("schema-1", tmp_path)
    before = store.read_bytes()
    refused = cli(*words)
    assert refused.returncode == 2
    assert "the store has another schema version" in refused.stderr
    assert "schema version 1" in refused.stderr and "hint" in refused.stderr
    assert store.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chains.db", "chains.toml"]


def test_the_first_store_of_schema_2_has_the_values_that_its_version_exported(tmp_path: Path) -> None:
    results = Results.load(unpacked("first-of-schema-2", tmp_path))
    for name, table in (("runs", results.runs), ("drops", results.drops)):
        exported = pd.read_csv(STORES / f"first-of-schema-2.{name}.csv")
        assert sorted(set(exported) - set(table)) == []
        now = table[list(exported)].reset_index(drop=True)
        pd.testing.assert_frame_equal(now, exported, check_dtype=False, check_exact=True)
    # What that version did not measure is not there, rather than zero.
    added = set(results.runs) - set(pd.read_csv(STORES / "first-of-schema-2.runs.csv")) - {"cpu_time_s"}
    assert added and results.runs[sorted(added)].isna().all(axis=None)


def test_nothing_is_said_of_an_earlier_version_that_holds_for_this_one_only(tmp_path: Path, cli: Cli) -> None:
    store = unpacked("first-of-schema-2", tmp_path)
    shown = cli("campaign", "results", "chains.db")
    assert shown.returncode == 0
    told = " ".join(shown.stdout.split())
    assert "neither checked nor described: the scenarios are not those of the runs" in told
    assert "with 0.1.0 without commit" in told and "hops on average" not in told
    page = " ".join(write(Results.load(store), tmp_path / "report")[0].read_text(encoding="utf-8").split())
    assert "neither checked nor described: the scenarios are not those of the runs" in page
    assert "cannot be determined here" in page and "profile of parameters" not in page


def test_runs_of_an_earlier_version_are_not_mixed_or_taken_for_this_ones(tmp_path: Path, cli: Cli) -> None:
    store = unpacked("first-of-schema-2", tmp_path)
    with pytest.raises(InputError, match="another version of the code"):
        Campaign.load(tmp_path / "chains.toml").run(store)
    repeated = cli("campaign", "repeat", "chains.db", "--point", "0", "--replication", "0")
    assert repeated.returncode == 1
    assert "NOT the same as in the store" in repeated.stderr
    assert cli("campaign", "results", "chains.db").stdout.count("MIX") == 0
    more = (tmp_path / "chains.toml").read_text().replace("replications = 2", "replications = 3")
    (tmp_path / "chains.toml").write_text(more)
    mixed = cli("campaign", "run", "chains.toml", "--allow-other-version")
    assert mixed.returncode == 0, mixed.stderr
    assert "THE RESULTS MIX DIFFERENT VERSIONS OF THE CODE: 0.1.0 " in mixed.stdout
    made = Results.load(store).machines
    assert list(made["code"] == "0.1.0 without commit") == [row != 2 for row in made["replication"]]
