"""Results of more runs than a block or a page holds: the same tables and numbers, and pages that sample."""

from __future__ import annotations

import hashlib
import io
import json
import random
import sqlite3
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab import InputError, Results, _core
from manetlab.campaign import columns, run_tables
from manetlab.campaign import store as stores
from manetlab.campaign.columns import Hashes, Runs
from manetlab.campaign.database import digest_of
from manetlab.campaign.export import _csv
from manetlab.campaign.status import Status
from manetlab.campaign.store import RUN
from manetlab.errors import shown
from manetlab.files import for_spreadsheet
from manetlab.report import losses, shares
from manetlab.report.figures import MOST_DOTS, evenly_spaced
from manetlab.report.study import Study
from tests.campaigns import small
from tests.conftest import Cli
from tests.reports import results

TABLES = ("runs", "flows", "drops", "ends", "delays", "machines", "drop_counts", "end_counts")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "small.db"
    small(replications=5).run(path)
    return path


def a_row(**changed: str) -> list[object]:
    """The columns of a run, with changes."""
    numbers = {"events": 1, "arrivals": 1, "cpu_time_s": 1.0, "wall_time_s": 1.0}
    return [({**numbers, **changed}).get(name, "") for name in RUN]


def test_tables_do_not_depend_on_the_blocks_they_are_made_of(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Results.load(store)
    monkeypatch.setattr(columns, "BLOCK", 3)
    in_blocks = Results.load(store)
    assert len(list(in_blocks.snapshot.runs.blocks())) == 7
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(in_blocks, name), getattr(whole, name))


def test_parts_of_tables_are_the_tables_with_the_same_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some runs have columns that others lack, numbers where these have none, and levels of two types.
    loads = [
        {"label": 1, "fields": {"traffic.random": {"tcp": 1}}},
        {"label": "both", "fields": {"traffic.random": {"tcp": 1, "cbr": 1}, "network.deadline_ms": 50.0}},
        {"label": 2.5, "fields": {"traffic.random": {"cbr": 2}}},
    ]
    small(factors={"load": loads}, replications=4).run(tmp_path / "s.db")
    whole = Results.load(tmp_path / "s.db")
    monkeypatch.setattr(columns, "BLOCK", 3)
    in_blocks = Results.load(tmp_path / "s.db")
    for name in ("flows", "drops", "ends", "delays"):
        [at_once] = in_blocks.tables.parts(name, 4)
        pd.testing.assert_frame_equal(at_once, getattr(whole, name))
        with monkeypatch.context() as many:
            many.setattr(run_tables, "MOST_AT_ONCE", 0)
            parts = list(in_blocks.tables.parts(name, 4))
        assert len(parts) > 1
        pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), getattr(whole, name))
        assert all((part.dtypes == parts[0].dtypes).all() for part in parts)


def test_a_table_without_rows_has_one_part(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Results.load(store)
    monkeypatch.setattr(run_tables, "MOST_AT_ONCE", 0)
    assert made.delays.empty and not made.tables.has_delays
    [part] = made.tables.parts("delays", 10)
    pd.testing.assert_frame_equal(part, made.delays)


def test_totals_go_into_columns_whatever_each_run_has() -> None:
    totals = [
        {"tcp_throughput_bps": 1.5, "hops_mean": None},
        {"hops_mean": 2, "an_earlier_one": "x"},
        {"tcp_throughput_bps": None, "hops_mean": None, "collision_fraction": None},
        {"tcp_throughput_bps": 0.0, "hops_mean": -4},
        {},
    ]
    wanted = {"tcp_throughput_bps": [1.5, None, None, 0.0, None], "hops_mean": [None, 2.0, None, -4.0, None]}
    for together in (1, 2, 5):
        runs = Runs([0] * 5, range(5))
        for some in batched([3, 1, 0, 4, 2], together):
            runs.put(some, [a_row(totals=json.dumps(totals[at])) for at in some], has_texts=False)
        found = {name: [None if each != each else each for each in of] for name, of in runs.totals.items()}
        assert found == wanted
        assert runs.others == {"an_earlier_one": [None, "x", None, None, None]}
        assert runs.values_at(0, "hops_mean") == ([1, 3], [2.0, -4.0])


def batched(places: list[int], most: int) -> list[list[int]]:
    return [places[first : first + most] for first in range(0, len(places), most)]


@pytest.mark.parametrize(
    "text",
    [
        *('{"hops_mean": "1.5"}', '{"hops_mean": [1.5]}', '{"hops_mean": true}', "[1.5]", '"hops_mean"', ""),
        *('{"hops_mean": 1, "hops_mean": 2}', '{"hops_mean": 1.5} 2'),
    ],
)
def test_totals_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"hops_mean|object|EOF|trailing"):
        Runs([0], [0]).put([0], [a_row(totals=text)], has_texts=False)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"id": 1}', '[{"id": 1, "id": 2}]', "[[]]", "null"])
def test_flows_and_drops_that_are_no_lists_of_objects_are_refused(text: str) -> None:
    for wrong in ({"flows": text, "drops": "[]"}, {"flows": "[]", "drops": text}):
        with pytest.raises(ValueError, match=r"list|object|EOF|twice"):
            Runs([0], [0]).put([0], [a_row(totals="{}", **wrong)])


def test_the_run_that_is_wrong_is_named_among_many(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s.db"
    copy.write_bytes(store.read_bytes())
    with sqlite3.connect(copy) as db:
        [(key,)] = db.execute("SELECT key FROM run ORDER BY key LIMIT 1 OFFSET 11")
        db.execute("UPDATE run SET flows = '7' WHERE key = ?", (key,))
    with pytest.raises(InputError) as error:
        Results.load(copy)
    assert error.value.found == f"the run {shown(key)} is not what its digest says"
    # Whoever changes a run may know how digests are made.
    with sqlite3.connect(copy) as db:
        [values] = db.execute(f"SELECT {', '.join(RUN)} FROM run WHERE key = ?", (key,))
        db.execute("UPDATE run SET digest = ? WHERE key = ?", (digest_of(values), key))
    db.close()
    with pytest.raises(InputError) as error:
        Results.load(copy)
    assert error.value.found.startswith(f"the run {shown(key)}: invalid type: integer `7`")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.lists(
        st.lists(st.dictionaries(st.sampled_from("abcdef"), JSON, max_size=5), max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_rows_come_back_as_they_were_stored(lists: list[list[dict[str, object]]]) -> None:
    runs = Runs([0] * len(lists), range(len(lists)))
    order = random.Random(len(lists)).sample(range(len(lists)), len(lists))
    runs.put(order, [a_row(totals="{}", flows=json.dumps(lists[at]), drops="[]") for at in order])
    counts, found = runs.rows_of("flows", slice(None))
    assert counts.tolist() == [*map(len, lists)]
    rows = [row for each in lists for row in each]
    assert [*found] == [*dict.fromkeys(name for row in rows for name in row)]
    for name, values in found.items():
        wanted = pd.DataFrame({name: [row.get(name) for row in rows]})
        pd.testing.assert_frame_equal(pd.DataFrame({name: values}), wanted, check_exact=True)


@given(
    st.lists(st.text("0123456789abcdefABC", max_size=3) | st.binary(min_size=32, max_size=32).map(bytes.hex))
)
def test_hashes_come_back_and_so_does_what_is_none(texts: list[str]) -> None:
    hashes = Hashes(0)
    for text in texts:
        hashes.extend([text])
    assert [*hashes] == texts == [hashes[at] for at in range(len(texts))]
    assert hashes[1:3] == texts[1:3] and hashes[::-1] == texts[::-1]
    assert [hashes[at] for at in hashes.in_order()] == sorted(texts)
    assert hashes.distinct == len({*texts})
    places = [at for at in range(len(texts)) if at % 3]
    assert [*hashes.at(places)] == [texts[at] for at in places]
    if texts:
        hashes.put([0], ["ab" * 32])
        assert hashes[0] == "ab" * 32


CELLS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text()


@given(st.lists(st.tuples(CELLS, CELLS, CELLS, st.just("0")), min_size=1))
def test_digests_are_those_of_json(rows: list[tuple[object, ...]]) -> None:
    sound = [(*row[:-1], hashlib.sha256(json.dumps(row[:-1]).encode()).hexdigest()) for row in rows]
    assert [digest_of(row[:-1]) for row in rows] == [row[-1] for row in sound]
    assert _core.first_unsound(sound) is None
    for wrong in (rows[-1], (*sound[-1][:-1], sound[-1][-1].upper()), (b"", "x"), (), (1,)):
        assert _core.first_unsound([*sound, wrong]) == len(sound)


TEXTS = st.sampled_from(["tcp", "DSR, Reno", 'a "b"', "two\nlines", "one\rtwo", "ä", "", "=1+1", "-5", "5"])
COLUMNS = {
    "=int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats() | st.floats(-1e20, 1e20).map(lambda number: round(number, 3)),
    "plain": st.sampled_from(["tcp", "DSR, Reno", 'a "b"', "two\nlines", "7"]),
    "known": st.none() | st.just("aodv"),
    "text": st.none() | TEXTS,
    "mixed": st.integers() | TEXTS | st.floats() | st.booleans() | st.none(),
}


@given(st.data(), st.sets(st.sampled_from([*COLUMNS]), min_size=1), st.integers(0, 4))
def test_csv_is_that_of_pandas(data: st.DataObject, names: set[str], rows: int) -> None:
    cells = {name: [data.draw(COLUMNS[name]) for _ in range(rows)] for name in sorted(names)}
    table, file = pd.DataFrame(cells), io.BytesIO()
    write = _csv(file)
    write(table)
    write(table)
    safe = pd.DataFrame({name: table[name].map(for_spreadsheet) for name in table})
    wanted = safe.rename(columns=for_spreadsheet).to_csv(index=False, lineterminator="\n")
    assert file.getvalue().decode() == wanted + wanted.partition("\n")[2]


def test_flows_keep_the_fields_that_are_wanted(store: Path) -> None:
    whole, some = Results.load(store), Results.load(store, of_flows=("id", "kind", "throughput_bps"))
    kept = ["point", *whole.campaign.factors, "replication", "flow", "kind", "throughput_bps"]
    pd.testing.assert_frame_equal(some.flows[kept], whole.flows[kept])
    assert {*some.flows} - {*kept} == {"src", "dst"} and some.flows[["src", "dst"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(some.drops, whole.drops)
    measures = ("throughput_bps", "delivery_fraction")
    read = Results.load(store, of_flows=("kind", *measures)).tables.measures_of_flows(measures)
    pd.testing.assert_frame_equal(read, whole.tables.measures_of_flows(measures))


def test_runs_are_the_same_sought_or_read_in_a_row(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_row = Results.load(store)
    monkeypatch.setattr(stores, "SOUGHT", 0)
    for name in ("runs", "flows"):
        pd.testing.assert_frame_equal(getattr(Results.load(store), name), getattr(in_a_row, name))


def test_points_with_the_same_scenario_share_a_run(tmp_path: Path) -> None:
    same = [{"label": name, "fields": {"traffic.random.cbr": 1}} for name in ("one", "other")]
    made = small(factors={"load": same}).run(tmp_path / "s.db")
    assert len(made.runs) == 6 and made.runs["key"].nunique() == 3
    assert made.values_at(0, "tcp_throughput_bps") == made.values_at(1, "tcp_throughput_bps")


def test_a_task_whose_run_is_not_there_is_told(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s.db"
    copy.write_bytes(store.read_bytes())
    with sqlite3.connect(copy) as db:
        db.execute("DELETE FROM run WHERE key = (SELECT key FROM run ORDER BY key LIMIT 1 OFFSET 7)")
    db.close()
    for use in (Results.load, Status.load):
        with pytest.raises(InputError, match="damaged") as error:
            use(copy)
        assert "1 rows without what they belong to: task without run" in error.value.found


def test_the_status_counts_what_the_results_have(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "s.db"
    small(replications=4).run(path, points=[0, 1, 3])
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO failure VALUES (1, 2, 1, 'code', 'no reason', 'now')")
    db.close()
    found, made = Status.load(path), Results.load(path)
    assert (found.done, found.missing, found.failures) == (12, 3, [(2, 1, "no reason")])
    assert (made.done, made.missing) == (12, 3)
    known = made.provenance
    assert (list(found.code), found.started, found.ended) == (known["code"], known["started"], known["ended"])
    assert found.cpu_time_s == pytest.approx(known["cpu_time_s"], rel=1e-12)
    shown = cli("campaign", "status", path, "--json")
    assert shown.returncode == 0
    said = json.loads(shown.stdout)
    assert (said["done"], said["failed"], said["missing"]) == (12, 1, 3)
    assert "point 2, replication 1: no reason" in cli("campaign", "status", path).stderr


def test_a_page_lists_the_first_replications_of_each_point_if_runs_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = Study(results())
    all_of_them = losses.run_table(study)
    assert len(all_of_them.rows) == 40 and "sample" not in " ".join(all_of_them.notes)
    monkeypatch.setattr(losses, "MOST_RUNS", 39)
    monkeypatch.setattr(losses, "SAMPLED", 14)
    some = losses.run_table(study)
    assert some.rows == [each for point in range(4) for each in all_of_them.rows[10 * point : 10 * point + 3]]
    assert "the first 3 replications of each point" in some.notes[0]
    assert some.caption == "12 of 40 finished runs"


def test_figures_of_many_flows_draw_some_and_say_which() -> None:
    def spread(_: object, replication: int) -> dict[str, float | None]:
        # Nine of ten are close together, the others far out.
        return {"tcp_throughput_bps": 1e6 + (replication % 7 if replication % 10 else 2e7 + replication)}

    study = Study(results(spread, factors={"tcp": ["reno", "reno-f"]}, replications=6000))
    [kind] = shares.kinds(study)
    boxes, distribution = shares.flow_figures(study, kind)
    for figure in (boxes, distribution):
        assert (
            f"only {MOST_DOTS} are drawn: evenly spaced in rank, from the lowest to the highest"
            in figure.caption
        )
    outliers = [value for sample in boxes.samples for box in boxes.boxes(sample) for value in box.outliers]
    assert MOST_DOTS <= len(outliers) <= MOST_DOTS + 2
    [first, _] = distribution.samples
    [box] = boxes.boxes(boxes.samples[0])
    ordered = sorted(first.values)
    beyond = [value for value in ordered if value > box.high]
    assert (box.outliers[0], box.outliers[-1]) == (beyond[0], beyond[-1])
    x, y = distribution.steps(first)
    assert len(x) == MOST_DOTS // 2 + 1 and (x[0], x[-1]) == (ordered[0], ordered[-1])
    # Where it is drawn it is the distribution of all values.
    assert all(ordered[round(share * len(ordered)) - 1] == at for at, share in zip(x[1:], y[1:], strict=True))


@pytest.mark.parametrize(("count", "most"), [(5, 5), (5, 9), (100, 7), (10, 2), (3, 1), (2000, 1999)])
def test_evenly_spaced_ranks_have_both_ends_and_no_rank_twice(count: int, most: int) -> None:
    ranks = list(evenly_spaced(count, most))
    assert len(ranks) == min(count, most) == len(set(ranks))
    assert ranks == sorted(ranks)
    assert most == 1 or (ranks[0], ranks[-1]) == (0, count - 1)
