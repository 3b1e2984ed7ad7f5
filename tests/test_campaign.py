"""What a campaign asks for, what it refuses, and what its tables hold."""

from __future__ import annotations

import datetime
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats as reference

import manetlab
from manetlab import Campaign, InputError, Results, RunFailed
from manetlab.campaign import worker
from manetlab.campaign.adjusting import Adjustment
from manetlab.campaign.plan import MAX_RUNS
from manetlab.metrics import FLOW_MEASURES
from manetlab.scenario_data import assign
from manetlab.stats import Sequential, bounded_interval
from tests.campaigns import BASE, exported, small
from tests.conftest import NS2
from tests.examples import chain


def waypoint(**changes: Any) -> Campaign:
    """Moving nodes, with movement and traffic drawn from the seed."""
    base = {
        "movement": {"waypoint": {"nodes": 12, "width_m": 500.0, "height_m": 500.0}},
        "traffic": {"random": {"tcp": 1, "cbr": 2, "cbr_start_within_s": 1.0}},
        "duration_s": 3.0,
    }
    return Campaign(**{"base": base, "replications": 3, **changes})


# What is asked for


def test_no_factor_is_named_as_a_column_of_some_table_is() -> None:
    results = small(replications=2, comparison={"factor": "tcp", "kind": "best"}).run()
    tables = ["runs", "flows", "drops", "ends", "delays", "failed", "machines", "standings", "given_up"]
    columns = {name for table in tables for name in getattr(results, table)}
    columns |= {*results.summary(), *results.comparisons, *results.drop_counts, *results.end_counts}
    columns |= {*Adjustment.COLUMNS, "src_name", "dst_name"}
    series = manetlab.run(**BASE, series_s=0.5).series
    of_series = {name for each in series.values() for name in each}
    refused = "this name is reserved|the campaign sets the seed"
    for name in sorted({*columns, *of_series} - {"tcp", "load", *(metric.key for metric in FLOW_MEASURES)}):
        asked = {"factors": {name: [{"label": 1, "fields": {"tcp.window": 1}}]}}
        with pytest.raises(InputError, match=refused):
            small(**asked, series_s=0.5)
        if name in columns:
            with pytest.raises(InputError, match=refused):
                small(**asked)
    assert small(factors={"flows": [{"label": 1, "fields": {"tcp.window": 1}}]}).point_count == 1


def test_points_are_all_combinations_and_the_last_factor_varies_fastest() -> None:
    points = small().points
    assert [point.levels for point in points] == [
        {"tcp": "reno", "load": "low"},
        {"tcp": "reno", "load": "high"},
        {"tcp": "reno-f", "load": "low"},
        {"tcp": "reno-f", "load": "high"},
    ]
    assert [point.number for point in points] == [0, 1, 2, 3]
    scenario = points[3].scenario(2)
    assert scenario.seed == 3
    assert scenario.tcp == {"sender": "reno-f"}
    assert scenario.traffic.random is not None
    assert (scenario.traffic.random.tcp, scenario.traffic.random.cbr_bytes) == (1, 256)


def test_all_levels_of_a_protocol_factor_share_movement_and_traffic() -> None:
    campaign = waypoint(factors={"tcp": ["reno", "reno-f", "sack"], "routing": ["aodv", "aodv:dyer-2002"]})
    seen: dict[int, set[tuple[str, str]]] = {}
    for point in campaign.points:
        for replication in range(4):
            resolved = point.scenario(replication).resolve()
            shared = (resolved.movement.digest, json.dumps(resolved.flows))
            seen.setdefault(replication, set()).add(shared)
    assert {replication: len(same) for replication, same in seen.items()} == dict.fromkeys(range(4), 1)
    assert len(set.union(*seen.values())) == 4


def test_a_campaigns_run_is_the_run_of_its_scenario() -> None:
    results = small().run()
    for row in results.runs.to_dict("records"):
        alone = manetlab.run(results.campaign.points[row["point"]].scenario(row["replication"]))
        assert row["result_hash"] == alone.hash
        assert row["tcp_throughput_bps"] == alone.totals["tcp_throughput_bps"]
        assert row["seed"] == alone.provenance["seed"] == 1 + row["replication"]


def test_nested_fields_are_set_and_their_neighbours_stay() -> None:
    base = {"tcp": "reno", "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": 1, "start_s": 1.0}]}}
    assert assign(base, "tcp.window", 8, "")["tcp"] == {"sender": "reno", "window": 8}
    assert assign({"tcp": {"window": 8}}, "tcp", "sack", "")["tcp"] == {"sender": "sack", "window": 8}
    flows = assign(base, "traffic.flows.0.start_s", 2.0, "")["traffic"]["flows"]
    assert flows == [{"kind": "tcp", "src": 0, "dst": 1, "start_s": 2.0}]
    assert base["traffic"]["flows"][0]["start_s"] == 1.0  # type: ignore[index]
    assert assign({}, "movement.chain.nodes", 4, "") == {"movement": {"chain": {"nodes": 4}}}
    with pytest.raises(InputError, match="cannot be set"):
        assign(base, "traffic.flows.1.start_s", 2.0, "here")


def test_factors_may_be_files(tmp_path: Path) -> None:
    base = {"duration_s": 12.0, "profile": "ns-2.35", "traffic": str(NS2 / "chain2.traffic.tcl")}
    campaign = Campaign(
        base=base, factors={"movement": ["chain2.tcl", "chain3.tcl"]}, replications=1, folder=NS2
    )
    assert list(campaign.run().runs["movement"]) == ["chain2.tcl", "chain3.tcl"]
    # What is in a file is part of what is asked: another content is another run.
    for name in ("chain2.tcl", "chain3.tcl"):
        (tmp_path / name).write_bytes((NS2 / name).read_bytes())
    moved = campaign.changed(folder=tmp_path)
    moved.run(tmp_path / "s.db")
    ran: list[int] = []
    (tmp_path / "chain3.tcl").write_bytes((NS2 / "chain2.tcl").read_bytes())
    results = moved.run(tmp_path / "s.db", progress=lambda report: ran.append(report.ran))
    assert ran[-1] == 0
    assert results.runs["key"].nunique() == 1
    (tmp_path / "chain3.tcl").unlink()
    with pytest.raises(InputError, match="does not exist"):
        moved.run(tmp_path / "s.db")


def test_a_toml_file_and_python_ask_the_same(tmp_path: Path) -> None:
    file = tmp_path / "question.toml"
    file.write_text(
        'replications = 3\nmetrics = ["tcp_throughput_bps"]\nname = "small"\n'
        '[factors]\ntcp = ["reno", "reno-f"]\n'
        '[[factors.load]]\nlabel = "low"\nfields = { "traffic.random.cbr" = 1 }\n'
        '[[factors.load]]\nlabel = "high"\n'
        'fields = { "traffic.random.cbr" = 4, "traffic.random.cbr_bytes" = 256 }\n'
        "[base]\nduration_s = 1.0\nmovement.chain.nodes = 3\n"
        "traffic.random = { tcp = 1, cbr = 1, cbr_start_within_s = 0.5 }\n"
    )
    loaded = Campaign.load(file)
    assert loaded.to_dict() == small().to_dict()
    one, other = exported(loaded.run(), tmp_path / "a"), exported(small().run(), tmp_path / "b")
    # The order in which the base names its fields is kept, and makes no difference.
    assert {**one, "campaign.json": b""} == {**other, "campaign.json": b""}


def test_the_base_may_be_a_scenarios_file(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "chain2.tcl").write_bytes((NS2 / "chain2.tcl").read_bytes())
    text = 'duration_s = 3.0\nseed = 9\nmovement = "chain2.tcl"\ntraffic.random = { tcp = 1 }\n'
    (tmp_path / "inner" / "base.toml").write_text(text)
    (tmp_path / "c.toml").write_text('base = "inner/base.toml"\nreplications = 2\nfactors.tcp = ["reno"]\n')
    campaign = Campaign.load(tmp_path / "c.toml")
    assert campaign.name == "c"
    scenario = campaign.points[0].scenario(0)
    assert scenario.seed == 1
    assert scenario.files == [tmp_path / "inner" / "chain2.tcl"]
    assert len(campaign.run().runs) == 2


# What is refused

FACTORS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"rooting": ["aodv"]}, 'did you mean "routing"?'),
    "without its section": ({"speed_max": [1.0]}, 'did you mean "movement.waypoint.speed_max"?'),
    "unknown in a section": ({"tcp.windov": [1]}, 'did you mean "tcp.window"?'),
    "the seed": ({"seed": [1, 2]}, "first_seed"),
    "no levels": ({"tcp": []}, "give it values"),
    "empty range": ({"tcp.window": range(5, 5)}, "give it values"),
    "a range without end": ({"tcp.window": range(10**9)}, "fewer levels"),
    "no list": ({"tcp": "reno"}, 'for example tcp = ["reno", …]'),
    "a level twice": ({"tcp": ["reno", "reno"]}, "remove one of them"),
    "the seed in a level": ({"which": [{"label": 1, "fields": {"seed": 1}}]}, "first_seed"),
    "a column's name": ({"key": [{"label": 1, "fields": {"tcp.window": 1}}]}, "tables already have a column"),
    "a metric's name": (
        {"hops_mean": [{"label": 1, "fields": {"tcp.window": 1}}]},
        "tables already have a column of that name",
    ),
    "no level": ({"load": [{"label": "x", "fields": {}}]}, "fields is a table with at least one entry"),
    "a field that is no name": (
        {"load": [{"label": "x", "fields": {7: 1}}]},
        "fields is a table with at least one entry",
    ),
    "one field by two factors": (
        {"tcp.window": [1, 2], "both": [{"label": "x", "fields": {"tcp.window": 3}}]},
        "combine both in one factor",
    ),
    "a field and what holds it": (
        {"movement": [{"chain": {"nodes": 3}}], "movement.chain.nodes": [3]},
        "combine",
    ),
}


@pytest.mark.parametrize("case", FACTORS)
def test_bad_factors_are_refused(case: str) -> None:
    factors, hint = FACTORS[case]
    with pytest.raises(InputError) as refused:
        small(factors=factors)
    assert hint in refused.value.hint


VALUES: dict[str, dict[str, Any]] = {
    "replications": {"replications": 0},
    "replications as text": {"replications": "10"},
    "first seed": {"first_seed": -1},
    "last seed": {"first_seed": 2**64 - 1},
    "metric": {"metrics": ["tcp_thruput"]},
    "metrics as text": {"metrics": "tcp_throughput_bps"},
    "until": {"until": 5},
    "until a narrowness of 0": {"until": 0.0},
    "until without metrics": {"until": 0.05, "metrics": []},
    "until with one replication": {"until": 0.05, "replications": 1},
    "until with too few": {"until": 0.05, "replications": 10, "max_replications": 9},
    "series": {"series_s": 0.0},
    "base": {"base": "x"},
    "seed in the base": {"base": {**BASE, "seed": 3}},
}


@pytest.mark.parametrize("case", VALUES)
def test_bad_values_are_refused(case: str) -> None:
    with pytest.raises(InputError):
        small(**VALUES[case])


@pytest.mark.parametrize("given", [None, 3, "x", []])
def test_what_is_no_table_is_no_campaign(given: Any) -> None:
    with pytest.raises(InputError) as refused:
        Campaign.build(given)
    assert refused.value.what == "not a campaign"


def test_a_value_that_no_store_can_keep_is_refused() -> None:
    # Every level replaces it, so that no scenario has it.
    traffic = {
        **BASE["traffic"],
        "random": {**BASE["traffic"]["random"], "cbr_bytes": datetime.date(2026, 1, 1)},
    }
    campaign = small(
        base={**BASE, "traffic": traffic}, factors={"traffic.random.cbr_bytes": [64, 512]}, replications=1
    )
    with pytest.raises(InputError) as refused:
        campaign.run()
    assert refused.value.what == "the campaign cannot be stored"


def test_a_campaign_of_a_thousand_million_combinations_is_refused_at_once() -> None:
    factors = {f"{name}": list(range(1, 1001)) for name in ("tcp.window", "queue.limit", "tcp.segment_bytes")}
    with pytest.raises(InputError, match="too large") as refused:
        small(factors=factors, replications=1)
    assert "1000 × 1000 × 1000 combinations × 1 replications = 1e+09 runs" in refused.value.found
    assert refused.value.wanted == f"at most {MAX_RUNS} runs"


def test_a_level_that_no_scenario_can_have_is_found_before_the_first_run(tmp_path: Path) -> None:
    for factors in (
        {"tcp": ["reno", "westwood"]},
        {"tcp.window": [8, -1]},
        {"movement": ["nowhere.tcl"]},
        {"movement.chain.nodes": [3, 1]},
        # Each level is allowed alone.
        {"warmup_s": [0.0, 0.9], "duration_s": [1.0, 0.8]},
    ):
        with pytest.raises(InputError):
            small(factors=factors).run(tmp_path / "s.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("factors = 3\n", "missing"),
        ("[base]\nduration_s = 1.0\n[factor]\n", "no such key"),
        ("base = 3\n", "not allowed"),
        ('base = "nowhere.toml"\n', "does not exist"),
        ("[base\n", "not TOML"),
        ("base = {}\nreplications = 1" + "0" * 5000 + "\n", "not TOML"),
    ],
)
def test_a_bad_file_is_refused(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(InputError, match=what):
        Campaign.load(tmp_path / "c.toml").run()


# What comes out


def test_one_poisoned_run_is_on_record_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = worker.run

    def poisoned(resolved: Any, **options: Any) -> Any:
        if (resolved.scenario.seed, resolved.scenario.tcp) == (2, {"sender": "reno-f"}):
            raise RunFailed("the books do not balance", "seed 2", "3 packets", "2 packets")
        if resolved.scenario.seed == 3 and resolved.scenario.traffic.random.cbr == 4:
            raise MemoryError("no room")
        return run(resolved, **options)

    monkeypatch.setattr(worker, "run", poisoned)
    path = tmp_path / "s.db"
    results = small().run(path)
    assert (len(results.runs), results.missing) == (8, 0)
    failed = results.failed
    assert [(row.point, row.replication) for row in failed.itertuples()] == [(2, 1), (3, 1), (1, 2), (3, 2)]
    assert "the books do not balance" in failed["error"][0]
    assert "MemoryError: no room" in failed["error"][2]
    assert failed["command"][0] == f"manetlab campaign repeat {path} --point 2 --replication 1"
    assert list(failed["seed"]) == [2, 2, 3, 3]
    # It stays on record, unless it is asked for again.
    monkeypatch.setattr(worker, "run", run)
    assert len(small().run(path).failed) == 4
    healed = small().run(path, retry_failed=True)
    assert (len(healed.runs), len(healed.failed)) == (12, 0)
    assert exported(healed, tmp_path / "a") == exported(small().run(), tmp_path / "b")


def test_the_tables_are_tidy() -> None:
    results = small().run()
    places = ["point", "tcp", "load", "replication"]
    assert list(results.runs.columns[:6]) == [*places, "seed", "key"]
    assert list(results.runs.columns[-3:]) == ["events", "cpu_time_s", "result_hash"]
    order = list(zip(results.runs["point"], results.runs["replication"], strict=True))
    assert order == [(point, replication) for point in range(4) for replication in range(3)]
    assert list(results.flows.columns[:8]) == [*places, "flow", "kind", "src", "dst"]
    assert Counter(results.flows["point"]) == {0: 6, 1: 15, 2: 6, 3: 15}
    assert list(results.drops.columns) == [*places, "layer", "reason", "packets", "count"]
    assert list(results.failed.columns) == [*places, "seed", "error", "command"]
    first = chain()
    assert set(manetlab.run(first).totals) <= set(results.runs.columns)
    assert results.provenance["version"] == manetlab.__version__
    hashes = results.provenance["scenario_hashes"]
    assert hashes["3/2"] == results.campaign.points[3].scenario(2).resolve().hash


def test_arrays_have_the_factors_as_dimensions() -> None:
    results = small().run()
    arrays = results.xarray()
    assert dict(arrays.sizes) == {"tcp": 2, "load": 2, "replication": 3}
    assert list(arrays["load"].values) == ["low", "high"]
    runs = results.runs.set_index(["tcp", "load", "replication"])
    picked = arrays["tcp_throughput_bps"].sel(tcp="reno-f", load="high", replication=1)
    assert float(picked) == runs.loc[("reno-f", "high", 1), "tcp_throughput_bps"]


def test_the_summary_is_of_the_replications() -> None:
    results = waypoint(factors={"tcp": ["reno", "sack"]}, replications=6).run()
    row = results.summary(["cbr_latency_mean_s"]).iloc[1]
    values = results.runs[results.runs["tcp"] == "sack"]["cbr_latency_mean_s"].dropna()
    mean = bounded_interval(list(values))
    assert mean.low > 0.0
    assert (row["mean"], row["low"], row["high"], row["n"]) == (mean.mean, mean.low, mean.high, len(values))
    assert row["median"] == values.median()
    assert row["p95"] == pytest.approx(values.quantile(0.95), rel=1e-12)
    with pytest.raises(InputError, match="no such metric"):
        results.summary(["cbr_latency"])


def test_a_comparison_is_in_pairs() -> None:
    results = waypoint(
        factors={"tcp": ["reno", "reno-f"], "traffic.random.cbr": [1, 4]},
        replications=8,
        metrics=["tcp_throughput_bps", "routing_packets_per_s"],
    ).run()
    table = results.compare("tcp", "reno-f", "reno")
    assert list(zip(table["traffic.random.cbr"], table["metric"], strict=True)) == [
        (load, metric) for load in (1, 4) for metric in ("tcp_throughput_bps", "routing_packets_per_s")
    ]
    row = table.iloc[2]
    runs = results.runs[results.runs["traffic.random.cbr"] == 4].set_index("replication")
    a, b = (runs[runs["tcp"] == sender]["tcp_throughput_bps"].sort_index() for sender in ("reno-f", "reno"))
    test = reference.ttest_rel(a, b)
    assert row["difference"] == pytest.approx((a - b).mean(), rel=1e-12)
    assert row["p_t"] == pytest.approx(test.pvalue, rel=1e-9)
    assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval(1 - 0.05 / 4)), rel=1e-9)
    assert row["p_adjusted"] == pytest.approx(min(1.0, 4 * test.pvalue), rel=1e-9)
    assert row["ratio"] == pytest.approx(a.mean() / b.mean(), rel=1e-12)
    assert row["n"] == 8
    # A metric that is looked at besides is of no family: it has no adjusted p-value.
    (other,) = results.compare("tcp", "reno-f", "reno", "cbr_sent").to_dict("records")[:1]
    assert (math.isnan(other["p_adjusted"]), other["verdict"]) == (True, "exploratory")
    swapped = results.compare("tcp", "reno", "reno-f", "tcp_throughput_bps")
    assert list(swapped["difference"]) == list(-table["difference"][[0, 2]])
    for factor, a_label, metric in (("tpc", "reno", None), ("tcp", "tahoe", None), ("tcp", "reno", "x")):
        with pytest.raises(InputError):
            results.compare(factor, a_label, "reno-f", metric)


def test_runs_without_a_value_make_no_pair() -> None:
    campaign = small(base={**BASE, "traffic": {"random": {"cbr": 1}}}, factors={"tcp": ["reno", "sack"]})
    results = campaign.run()
    assert results.runs["tcp_goodput"].isna().all()
    assert results.runs["tcp_goodput"].dtype == float
    assert results.summary(["tcp_goodput"]).empty
    assert results.compare("tcp", "sack", "reno", "tcp_goodput").empty


def test_replications_go_on_until_the_intervals_are_narrow(tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "factors": {"traffic.random.cbr": [1, 3]},
        "replications": 4,
        "max_replications": 30,
        "metrics": ["tcp_throughput_bps"],
    }
    one = waypoint(until=0.35, **asked).run(tmp_path / "one.db", jobs=1)
    rule = Sequential(0.35, 4, 30)

    def wants_more(results: Results, replications: int) -> bool:
        runs = results.runs[results.runs["replication"] < replications]
        values = [list(at["tcp_throughput_bps"]) for _, at in runs.groupby("point")]
        return any(rule.wants_more({"tcp_throughput_bps": each}, replications) for each in values)

    made = one.replications
    assert 4 < made < 30
    assert len(one.runs) == 2 * made
    looked = [replications for replications in rule.rounds() if replications <= made]
    assert [wants_more(one, replications) for replications in looked] == [True] * (len(looked) - 1) + [False]
    # The same from a store that has more than that, and with another number of threads.
    waypoint(**{**asked, "replications": 20}).run(tmp_path / "two.db")
    two = waypoint(until=0.35, **asked).run(tmp_path / "two.db", jobs=2)
    assert two.replications == made
    pd.testing.assert_frame_equal(one.runs.drop(columns="cpu_time_s"), two.runs.drop(columns="cpu_time_s"))
    capped = waypoint(until=0.001, **{**asked, "max_replications": 6}).run()
    assert capped.replications == 6


def test_a_report_adds_up() -> None:
    reports = []
    small().run(progress=reports.append)
    assert [report.done for report in reports] == sorted(report.done for report in reports)
    last = reports[-1]
    assert (last.done, last.failed, last.total, last.ran, last.left_s) == (12, 0, 12, 12, 0.0)
    assert reports[0].left_s is None
    assert math.isfinite(last.rate)
