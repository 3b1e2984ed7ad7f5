"""Results that are kept: exact, refused when damaged, stale when what they depend on has changed."""

from __future__ import annotations

import math
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from manetlab import provenance
from manetlab.errors import InputError
from manetlab_papers import ledger, record, result_files
from manetlab_papers.campaigns import Part, Scale, needed, parts
from manetlab_papers.kept_runs import keys_of, load
from manetlab_papers.reproduce import Keeping, Reproduction, judged_from
from manetlab_papers.result_files import Kept, KeptPoint, Maker
from manetlab_papers.samples import NotKept, Runs, Tables
from manetlab_papers.tables import tables_of

LEDGER = ledger.load()
CHEAP = ("bansal2003/sec-cbr-opposite", "dyer2002/fig-4.3", "dyer2003/fig-8")
SMALL = Scale(replications=2, duration_share=0.1)
MADE_BY = Maker("0.1.0 abc", "Linux", "2026-11-22", "0123456789ab", "manetlab-measures 1")


def bits(value: Any) -> Any:
    """A value that equals another only if both have the same bits."""
    if isinstance(value, float):
        return struct.pack("<d", value)
    return [bits(each) for each in value] if isinstance(value, list) else (type(value), value)


def made(columns: Mapping[str, list[Any]]) -> Kept:
    return Kept("made", "quick", [MADE_BY], [KeptPoint("k", {"load": 1.5})], columns)


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda runs: st.fixed_dictionaries(
            {
                "runs.x": st.lists(st.floats(), min_size=runs, max_size=runs),
                "flows.received": st.lists(
                    st.lists(st.integers(-(2**53), 2**53)), min_size=runs, max_size=runs
                ),
                "flows.latency_s": st.lists(st.lists(st.floats()), min_size=runs, max_size=runs),
                "drops.reason": st.lists(st.lists(st.text(max_size=3)), min_size=runs, max_size=runs),
            }
        )
    )
)
def test_what_is_read_is_what_was_written_bit_by_bit(columns: dict[str, list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.parquet"
        result_files.write(path, made(columns))
        content = path.read_bytes()
        read = result_files.read(path)
        assert read is not None
        nan = {name: [bits(math.nan)] * len(of) for name, of in columns.items()}
        for name, of in columns.items():
            # Which of the many NaN it is says nothing where no run has a value.
            all_nan = name == "runs.x" and all(map(math.isnan, of))
            assert [bits(each) for each in read.columns[name]] == (
                nan[name] if all_nan else list(map(bits, of))
            )
        assert (read.points, read.makers, read.campaign) == (
            [KeptPoint("k", {"load": 1.5})],
            [MADE_BY],
            "made",
        )
        assert not result_files.write(path, read)
        assert path.read_bytes() == content


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_no_byte_can_change_unnoticed(place: int, change: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.parquet"
        columns: dict[str, list[Any]] = {"runs.x": [1.5, 2.5, math.nan], "flows.received": [[1, 2], [], [3]]}
        result_files.write(path, made(columns))
        content = bytearray(path.read_bytes())
        content[place % len(content)] ^= change
        path.write_bytes(content)
        try:
            read = result_files.read(path)
        except InputError as error:
            assert str(path) in str(error)
        else:
            # A byte of the format that nobody reads.
            assert read is not None
            assert bits(list(read.columns["runs.x"])) == bits(columns["runs.x"])
            assert read.columns["flows.received"] == columns["flows.received"]
            assert read.points == [KeptPoint("k", {"load": 1.5})]


def test_packed_files_are_read_as_those_that_stand_alone(tmp_path: Path) -> None:
    names = ("one, load 1", "another")
    for name in names:
        content = replace(made({"runs.x": [1.0, 2.0]}), campaign=name)
        result_files.write(result_files.path_of(tmp_path, "quick", name), content)
    before = {name: result_files.read(result_files.path_of(tmp_path, "quick", name)) for name in names}
    [archive] = result_files.pack(tmp_path, lambda scale, _: f"{scale}-paper")
    assert (archive, list(tmp_path.iterdir())) == (tmp_path / "quick-paper.zip", [archive])
    assert {
        name: result_files.read(result_files.path_of(tmp_path, "quick", name)) for name in names
    } == before
    assert result_files.read(result_files.path_of(tmp_path, "full", names[0])) is None
    packed = archive.read_bytes()
    # What is written again stands alone and counts, until it is packed in place of the other.
    path = result_files.path_of(tmp_path, "quick", names[0])
    newer = replace(made({"runs.x": [3.0, 4.0]}), campaign=names[0])
    result_files.write(path, newer)
    assert result_files.read(path) == newer
    result_files.pack(tmp_path, lambda scale, _: f"{scale}-paper")
    assert (
        result_files.read(path),
        result_files.read(result_files.path_of(tmp_path, "quick", names[1])),
    ) == (
        newer,
        before[names[1]],
    )
    assert before[names[0]] is not None
    result_files.write(path, before[names[0]])
    result_files.pack(tmp_path, lambda scale, _: f"{scale}-paper")
    assert archive.read_bytes() == packed


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_no_byte_of_an_archive_can_change_unnoticed(place: int, change: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = result_files.path_of(Path(folder), "quick", "made")
        result_files.write(path, made({"runs.x": [1.5, 2.5], "flows.received": [[1, 2], []]}))
        before = result_files.read(path)
        [archive] = result_files.pack(Path(folder), lambda *_: "paper")
        content = bytearray(archive.read_bytes())
        content[place % len(content)] ^= change
        archive.write_bytes(content)
        try:
            read = result_files.read(path)
        except InputError as error:
            assert str(archive) in str(error)
        else:
            # A byte of the format that nobody reads, or of the name, under which nothing is found then.
            assert read in (before, None)


def test_truncated_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "made.parquet"
    result_files.write(path, made({"runs.x": [1.0, 2.0]}))
    content = path.read_bytes()
    for length in (1, 7, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match="kept results"):
            result_files.read(path)
    parquet.write_table(pyarrow.table({"a": [1]}), path)
    with pytest.raises(InputError, match="without the metadata"):
        result_files.read(path)
    path.write_text("point,replication\n0,0\n")
    with pytest.raises(InputError, match="cannot be read"):
        result_files.read(path)


class Made:
    """A reproduction of one experiment with what came out."""

    def __init__(self, key: str, folder: Path, out: str, scale: Scale = SMALL, **keeping: bool) -> None:
        self.ran: list[int] = []
        experiment = LEDGER.experiments[key]
        reproduction = Reproduction(
            LEDGER,
            scale,
            folder / out,
            progress=lambda _, report: self.ran.append(report.ran),
            keeping=Keeping(folder / "kept", **keeping),
        )
        self.entries = reproduction.make(experiment)
        self.tables = [table.to_markdown() for table in tables_of(experiment, reproduction.evaluator)]
        self.cost = {name: (cost.runs, cost.code, cost.days) for name, cost in reproduction.costs.items()}


@pytest.mark.parametrize("key", CHEAP)
def test_verdicts_and_tables_of_kept_runs_are_those_of_the_runs(key: str, tmp_path: Path) -> None:
    scale = Scale() if key == "dyer2002/fig-4.3" else SMALL
    first = Made(key, tmp_path, "first", scale, renewed=True)
    assert max(first.ran) > 0
    second = Made(key, tmp_path, "second", scale)
    assert second.ran == []
    assert (second.entries, second.tables) == (first.entries, first.tables)
    assert second.cost == first.cost
    again = Made(key, tmp_path, "third", scale, taken=False)
    assert max(again.ran) == max(first.ran)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "kept").rglob("*.parquet"))


def change_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "source_digest", lambda: "changed")


def test_only_stale_points_are_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "dyer2003/fig-8"
    first = Made(key, tmp_path, "first", renewed=True)
    [part] = {each.campaign.name: each for each in needed(LEDGER, LEDGER.experiments[key], SMALL)}.values()
    [path] = files(tmp_path)
    content = result_files.read(path)
    assert content is not None
    # Two points were made by earlier code.
    stale = [1, 3]
    earlier = replace(content.makers[0], digest="earlier")
    made_by = [1 if point in stale else 0 for point in content.columns["point"]]
    result_files.write(
        path,
        replace(
            content, makers=[content.makers[0], earlier], columns={**content.columns, "made_by": made_by}
        ),
    )
    found = load(tmp_path / "kept", "quick", part)
    assert found is not None
    assert found.missing == stale
    assert list(found.stale.values()) == [["code"]]
    second = Made(key, tmp_path, "second", renewed=True)
    assert max(second.ran) == 2 * len(stale)
    assert [(each.claim, each.ours) for each in second.entries] == [
        (each.claim, each.ours) for each in first.entries
    ]
    assert second.tables == first.tables
    found = load(tmp_path / "kept", "quick", part)
    assert found is not None
    assert found.missing == []
    change_the_code(monkeypatch)
    found = load(tmp_path / "kept", "quick", part)
    assert found is not None
    assert found.missing == list(range(part.campaign.point_count))


def test_verdicts_follow_from_kept_results_alone_and_stale_ones_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = CHEAP[0]
    experiments = [LEDGER.experiments[each] for each in (key, "dyer2003/fig-8")]
    first = Made(key, tmp_path, "first", Scale(), renewed=True)
    entries, lacking = judged_from(LEDGER, tmp_path / "kept", experiments)
    assert [each.id for each in lacking] == ["dyer2003/fig-8"]
    assert entries == first.entries
    assert "stale" not in record.page(LEDGER, entries)
    change_the_code(monkeypatch)
    [entry], _ = judged_from(LEDGER, tmp_path / "kept", experiments)
    assert replace(entry, stale="") == first.entries[0]
    assert entry.stale == f"computed by {entry.code}; code changed since"
    page = record.page(LEDGER, [entry])
    assert f"Stale: {entry.stale}." in page
    assert f"| {entry.outcome}, stale |" in page
    assert "1 verdict is stale" in page


def test_another_set_up_makes_kept_runs_stale(tmp_path: Path) -> None:
    key = CHEAP[0]
    Made(key, tmp_path, "first", replace(SMALL, duration_share=0.05), renewed=True)
    [part] = needed(LEDGER, LEDGER.experiments[key], SMALL)
    found = load(tmp_path / "kept", "quick", part)
    assert found is not None
    assert found.is_complete
    assert list(found.stale.values()) == [["set-up"]]
    assert found.missing == list(range(part.campaign.point_count))


def test_a_stopped_reproduction_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    keys = (CHEAP[0], CHEAP[2])
    Made(keys[0], tmp_path, "out", renewed=True)
    with monkeypatch.context() as patched:
        patched.setattr("manetlab_papers.result_files.write_bytes", stop)
        with pytest.raises(KeyboardInterrupt):
            Made(keys[1], tmp_path, "out", renewed=True)
    # What was kept is taken, what was run is in the store; nothing is made twice.
    assert Made(keys[0], tmp_path, "out", renewed=True).ran == []
    assert max(Made(keys[1], tmp_path, "out", renewed=True).ran) == 0
    assert Made(keys[1], tmp_path, "elsewhere", renewed=True).ran == []


def test_a_cell_needs_only_what_is_read_of_it() -> None:
    def tables(load: int, columns: dict[str, set[str]]) -> Tables:
        rows = [{"replication": number, "x": 1.0 * number} for number in range(2)]
        return Tables({"load": load}, rows, kept=columns)

    runs, light = Runs(), tables(1, {"runs": {"x"}})
    runs.add("made", light)
    runs.add("made", tables(2, {"runs": {"y"}}))
    assert runs.values("made", "x", {"load": 1}) == [0.0, 1.0]
    assert light.read == {"runs": {"x"}}
    with pytest.raises(NotKept):
        runs.values("made", "x", {"load": 2})


# What makes results stale.


def part_of(name: str, scale: Scale = SMALL) -> Part:
    return next(parts(LEDGER, name, scale))


def test_a_point_is_known_by_what_decides_its_runs_and_not_by_its_labels() -> None:
    campaign = part_of("opposite").campaign
    before = keys_of(campaign)
    assert keys_of(campaign.changed(name="another", metrics=[], question="?")) == before
    base = {**campaign.base}
    changed = keys_of(campaign.changed(base={**base, "mac": {"short_retry_limit": 5}}))
    assert all(a != b for a, b in zip(changed, before, strict=True))
    assert keys_of(campaign.changed(first_seed=2))[0] != before[0]
    assert keys_of(campaign.changed(series_s=1.0))[0] != before[0]


def test_a_file_under_another_campaigns_name_is_refused(tmp_path: Path) -> None:
    part = part_of("opposite")
    path = result_files.path_of(tmp_path, "quick", part.campaign.name)
    result_files.write(path, made({"replication": [0], "point": [0], "made_by": [0]}))
    with pytest.raises(InputError, match="another campaign"):
        load(tmp_path, "quick", part)


def test_a_rule_that_reads_what_was_not_kept_runs_again(tmp_path: Path) -> None:
    key = CHEAP[0]
    Made(key, tmp_path, "first", renewed=True)
    [path] = files(tmp_path)
    content = result_files.read(path)
    assert content is not None
    columns = {name: of for name, of in content.columns.items() if not name.startswith("flows.")}
    result_files.write(path, replace(content, columns=columns))
    again = Made(key, tmp_path, "second", renewed=True)
    assert max(again.ran) > 0
    # What rules of other experiments need stays, too.
    columns = {**content.columns, "flows.hops_mean": [[1.0]] * len(content.columns["point"])}
    result_files.write(path, replace(content, columns=columns))
    Made(key, tmp_path, "third", taken=False, renewed=True)
    assert "flows.hops_mean" in (result_files.read(path) or content).columns
    restored = result_files.read(path)
    assert restored is not None
    assert "flows.throughput_bps" in restored.columns
    assert record.load(tmp_path / "second") == again.entries
