"""Exports hold labels as campaigns have them, and one that broke off can be repeated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from manetlab import Campaign, InputError
from manetlab.campaign import export as exports
from manetlab.campaign import run_tables
from manetlab.campaign.results import Results
from manetlab.errors import RunFailed
from tests.campaigns import small

MIXED = ([1, "both"], [2.5, 1, "both", False], [-1, "-x", "=1"], [False, 2], [2**70, 1])
"""Labels for which a column of numbers has no type."""


def labelled(labels: list[Any], **changes: Any) -> Campaign:
    """A campaign with a load of these labels, and two senders."""
    load = [
        {"label": label, "fields": {"traffic.random.cbr": 1 + number}} for number, label in enumerate(labels)
    ]
    asked = {"factors": {"load": load, "tcp": ["reno", "reno-f"]}, "replications": 2}
    return small(**{**asked, **changes})


def texts(folder: Path, table: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table as CSV has it, all as text, and as Parquet has it."""
    read = pd.read_csv(folder / f"{table}.csv", dtype=str, keep_default_na=False)
    return read, parquet.read_table(folder / f"{table}.parquet").to_pandas()


@pytest.mark.parametrize("labels", MIXED, ids=str)
def test_mixed_labels_are_text_in_parquet_as_in_csv(tmp_path: Path, labels: list[Any]) -> None:
    campaign = labelled(labels, series_s=0.5)
    results = campaign.run(tmp_path / "c.db").asking(factor="load", kind="best")
    results.export(tmp_path / "out")
    for table in ("runs", "flows", "drops", "provenance", "summary", "series-totals"):
        written, typed = texts(tmp_path / "out", table)
        # An apostrophe keeps spreadsheets from taking text for a formula.
        assert typed["load"].tolist() == [text.removeprefix("'") for text in written["load"]], table
        assert {*typed["load"]} == {*map(str, labels)}, table
        types = parquet.read_schema(tmp_path / "out" / f"{table}.parquet")
        assert (
            str(types.field("point").type) == "int64" and types.field("load").type == types.field("tcp").type
        )
    for table in ("comparisons", "standings"):
        written, typed = texts(tmp_path / "out", table)
        for column in ("level", "against"):
            assert typed[column].fillna("").tolist() == [text.removeprefix("'") for text in written[column]]
            assert {*typed[column].dropna()} <= {*map(str, labels)}


def test_what_has_only_numbers_of_mixed_labels_is_text_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from manetlab.campaign import worker

    run = worker.run

    def failing(resolved: Any, **options: Any) -> Any:
        if resolved.scenario.traffic.random.cbr < 3:
            raise RunFailed("no reason", "here", "this", "that")
        return run(resolved, **options)

    monkeypatch.setattr(worker, "run", failing)
    results = labelled([1, 2.5, "both"]).run()
    assert {*results.failed["load"]} == {1, 2.5}
    results.export(tmp_path / "out")
    written, typed = texts(tmp_path / "out", "failed")
    assert typed["load"].tolist() == written["load"].tolist()
    assert {*typed["load"]} == {"1", "2.5"}


@pytest.mark.parametrize("labels", [*MIXED, [1, 2.5], [2, 1], [True, False], ["b", "a"]], ids=str)
def test_parts_of_exports_have_the_types_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: list[Any]
) -> None:
    results = labelled(labels, series_s=0.5).run(tmp_path / "c.db")
    whole = {path.name: path for path in results.export(tmp_path / "whole")}
    for name in ("RUNS", "TEXTS", "ROWS"):
        monkeypatch.setattr(exports, name, 1)
    monkeypatch.setattr(run_tables, "MOST_AT_ONCE", 0)
    monkeypatch.setattr("manetlab.campaign.columns.BLOCK", 1)
    for path in Results.load(tmp_path / "c.db").export(tmp_path / "parts"):
        if path.suffix == ".parquet":
            assert parquet.read_metadata(path).num_row_groups >= min(2, parquet.read_metadata(path).num_rows)
            one, other = (parquet.read_table(each) for each in (path, whole[path.name]))
            assert one.equals(other, check_metadata=True), path.name
        else:
            assert path.read_bytes() == whole[path.name].read_bytes(), path.name


@pytest.mark.parametrize("labels", [*MIXED, [1, 2.5], ["b", "a"]], ids=str)
def test_labels_of_tables_and_arrays_are_those_of_the_campaign(tmp_path: Path, labels: list[Any]) -> None:
    results = labelled(labels, series_s=0.5).run(tmp_path / "c.db")
    for table in (results.runs, results.flows, results.summary(), results.series("totals")):
        assert [*dict.fromkeys(table["load"])] == labels
        assert {type(each) for each in table["load"]} <= {*map(type, labels), float}
    arrays = results.xarray()
    assert arrays["load"].values.tolist() == labels
    for label in labels:
        wanted = results.runs[results.runs["load"].map(lambda each, label=label: each == label)]["cbr_sent"]
        assert np.array_equal(arrays["cbr_sent"].sel(load=label).values.ravel(), wanted.to_numpy())


ALIKE = (
    [1, "1"],
    [1, True],
    [0, False],
    [1, 1.0],
    [1.0, "1"],
    [True, "true"],
    [True, "True"],
    [0.3, 0.1 + 0.2],
)


@pytest.mark.parametrize("labels", ALIKE, ids=str)
def test_labels_that_are_the_same_value_or_text_are_refused(labels: list[Any]) -> None:
    for asked in (labels, ["a", *labels[::-1]]):
        with pytest.raises(InputError, match="a level occurs twice") as refused:
            labelled(asked)
        assert all(repr(label) in refused.value.found for label in labels)


@pytest.mark.parametrize("label", [math.nan, math.inf, -math.inf, 10**400])
def test_a_label_that_is_no_finite_number_is_refused(label: float) -> None:
    with pytest.raises(InputError, match="not a valid level"):
        labelled([label, 1])


class BrokenOffError(BaseException):
    """What ends an export in these tests, as a kill does."""


def broken_off(results: Results, folder: Path, at: int, *, is_renamed: bool) -> bool:
    """Exports until a file is renamed for the n-th time, before or after that; was there so many?"""
    left, replace = at, Path.replace

    def breaking(path: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left < 0 and not is_renamed:
            raise BrokenOffError
        made = replace(path, target)
        if left < 0:
            raise BrokenOffError
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "replace", breaking)
        try:
            results.export(folder)
        except BrokenOffError:
            return True
    return False


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("is_renamed", [False, True])
def test_an_export_that_broke_off_at_any_file_can_be_repeated(tmp_path: Path, is_renamed: bool) -> None:
    campaign = small(factors={"tcp": ["reno", "reno-f"]}, replications=1)
    campaign.run(tmp_path / "c.db", jobs=1)
    earlier = Results.load(tmp_path / "c.db")
    campaign.changed(replications=2).run(tmp_path / "c.db", jobs=1)
    results = Results.load(tmp_path / "c.db")
    results.export(tmp_path / "whole")
    wanted, out = content(tmp_path / "whole"), tmp_path / "out"
    places = 0
    while broken_off(results, out, places, is_renamed=is_renamed):
        places += 1
        # What others put in the place of a file, be it written yet or not, stays theirs.
        before = content(out)
        (out / "drops.csv").write_text("mine")
        with pytest.raises(InputError, match="would overwrite"):
            results.export(out)
        assert content(out) == {**before, "drops.csv": b"mine"}
        (out / "drops.csv").unlink()
        if "drops.csv" in before:
            (out / "drops.csv").write_bytes(before["drops.csv"])
        if places % 8 == 0:
            # Now and then an earlier export is there in place of what just broke off.
            earlier.export(out)
    # Twice a file: the manifest's, and its own; and the manifest when all is done.
    assert places == 2 * (len(wanted) - 1) + 1
    assert content(out) == wanted


def test_an_export_overwrites_no_manifest_of_others(tmp_path: Path) -> None:
    results = small(replications=1).run()
    for manifest in ('{"generator": "somebody else", "files": {}}', '{"name": "app"}', "mine", "[]"):
        (tmp_path / exports.MANIFEST).write_text(manifest)
        with pytest.raises(InputError, match="would overwrite"):
            results.export(tmp_path)
        assert content(tmp_path) == {exports.MANIFEST: manifest.encode()}
