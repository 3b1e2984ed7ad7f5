"""Campaigns whose means are adjusted for the movement: the same everywhere, and where they cannot be."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from manetlab import Campaign, InputError, Scenario
from manetlab.campaign.adjusting import FEWEST, Adjustment
from manetlab.campaign.results import Results
from manetlab.metrics import bounds
from manetlab.movement_covariates import Paths, cost_in_events, covariates, paths_of, step_of
from manetlab.report import write
from manetlab.stats import adjusted_interval
from tests.conftest import Cli

BASE: dict[str, Any] = {
    "movement": {"waypoint": {"nodes": 12, "width_m": 700.0, "height_m": 500.0}},
    "traffic": {"random": {"tcp": 1, "cbr": 2, "cbr_start_within_s": 1.0}},
    "duration_s": 8.0,
    "warmup_s": 2.0,
}
SPARSE = {"waypoint": {"nodes": 6, "width_m": 2000.0, "height_m": 2000.0}}
TCP = "tcp_throughput_bps"
FILE = """
name = "moving"
replications = 12
adjusted = true
metrics = ["tcp_throughput_bps", "cbr_delivery_fraction"]
factors.routing = ["aodv", "dsr"]
[base]
duration_s = 8.0
warmup_s = 2.0
movement.waypoint = { nodes = 12, width_m = 700.0, height_m = 500.0 }
traffic.random = { tcp = 1, cbr = 2, cbr_start_within_s = 1.0 }
"""


def moving(**changes: Any) -> Campaign:
    asked: dict[str, Any] = {
        "base": BASE,
        "factors": {"routing": ["aodv", "dsr"]},
        "replications": 12,
        "metrics": [TCP],
        "adjusted": True,
    }
    return Campaign(**{**asked, **changes})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return moving().run(tmp_path_factory.mktemp("adjusted") / "moving.db")


def test_adjusted_means_are_those_of_the_paths_in_all_draws(results: Results) -> None:
    summary = results.summary()
    draws = set(summary["draws"])
    # Both protocols meet the same movement: its draws are shared.
    assert len(draws) == 1
    [count] = draws
    assert count >= FEWEST * 12
    for row in summary.to_dict("records"):
        campaign, point = results.campaign, row["point"]
        paths = [paths_of(campaign.scenario(point, number).resolve()) for number in range(count)]
        values = list(results.values_of(TCP)[(row["routing"],)].values())
        known = covariates(TCP, paths)
        here = {name: of[:12] for name, of in known.items()}
        by_hand = adjusted_interval(values, here, known, *bounds(TCP))
        found = (row["adjusted_mean"], row["adjusted_low"], row["adjusted_high"], row["gain"])
        interval = by_hand.interval
        assert found == pytest.approx((interval.mean, interval.low, interval.high, by_hand.gain))
        assert row["adjustment"] == "capacity_bps"


def test_the_plain_mean_stands_beside_it_and_is_the_same_as_without(results: Results) -> None:
    plain = Results(results.campaign.changed(adjusted=False), 12, results.store, results.snapshot).summary()
    assert not set(Adjustment.COLUMNS) & set(plain.columns)
    both = results.summary()
    pd.testing.assert_frame_equal(both[plain.columns], plain)
    assert list(both["adjusted_mean"]) != list(both["mean"])


def test_command_line_files_and_report_show_the_same(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "moving.toml"
    file.write_text(FILE)
    done = cli("campaign", "run", file)
    assert done.returncode == 0, done.stderr
    results = Results.load(tmp_path / "moving.db")
    assert results.campaign.adjusted
    summary = results.summary()
    shown = " ".join(done.stdout.split())
    assert "adjusted (95 %)" in shown
    assert f"{summary['adjusted_mean'][0] / 1e3:.1f} (" in shown
    assert f"Adjusted means use what {summary['draws'][0]} draws of the movement say" in shown
    assert cli("campaign", "export", file, "-o", "out", "--format", "csv").returncode == 0
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "summary.csv"), summary, check_dtype=False)
    write(results, tmp_path / "report")
    table = pd.read_csv(tmp_path / "report" / "tables" / "metric-tcp-throughput-bps.csv")
    of_tcp = summary[summary["metric"] == TCP]
    assert list(table["adjusted_mean"]) == pytest.approx(list(of_tcp["adjusted_mean"]))
    assert list(table["gain"]) == pytest.approx(list(of_tcp["gain"]))
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "adjusted mean" in page
    assert "regression estimates with double sampling" in page


def test_until_stops_when_the_adjusted_intervals_are_narrow() -> None:
    asked = moving(factors={}, replications=10, until=0.2, max_replications=60)
    plain, adjusted = asked.changed(adjusted=False).run(), asked.run()
    assert adjusted.replications < plain.replications
    [row] = adjusted.summary().to_dict("records")
    assert (row["adjusted_high"] - row["adjusted_low"]) / 2 <= 0.2 * row["adjusted_mean"]
    assert (row["high"] - row["low"]) / 2 > 0.2 * row["mean"]


def test_until_stops_by_the_intervals_that_results_show() -> None:
    results = moving(adjusted=False, replications=10, until=0.5, max_replications=80).run()
    for row in results.summary().to_dict("records"):
        assert (row["high"] - row["low"]) / 2 <= 0.5 * row["mean"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"replications": 4}, "4 replications; an adjusted mean needs 10"),
        ({"base": {**BASE, "movement": {"chain": {"nodes": 3}}, "traffic": {"flows": []}}}, "are the same"),
        ({"metrics": ["cbr_latency_mean_s"], "base": {**BASE, "movement": SPARSE}}, "have no value"),
    ],
)
def test_the_reason_is_told_where_a_mean_is_not_adjusted(changes: dict[str, Any], reason: str) -> None:
    if "base" in changes and "flows" in changes["base"]["traffic"]:
        flow = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 2.0}
        changes["base"]["traffic"] = {"flows": [flow]}
    summary = moving(**changes).run().summary()
    assert summary["adjustment"].str.contains("not adjusted: ").all()
    assert reason in summary["adjustment"][0]
    assert set(summary["draws"]) == {0}
    assert all(math.isnan(each) for each in summary["adjusted_mean"])


def test_a_campaign_keeps_whether_it_adjusts_and_runs_the_same_either_way(results: Results) -> None:
    assert results.campaign.to_dict()["adjusted"] is True
    assert "adjusted" not in moving(adjusted=False).to_dict()
    assert moving().identity([]) == moving(adjusted=False).identity([])
    with pytest.raises(InputError, match="true or false"):
        moving(adjusted="yes")


def standing() -> Scenario:
    """Two TCP hops, one CBR hop, and a CBR flow without a path."""
    places = [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [9000.0, 0.0]]
    ends = [("tcp", 0, 2), ("cbr", 0, 1), ("cbr", 0, 3)]
    packets = {"tcp": {}, "cbr": {"bytes": 512, "interval_s": 0.5}}
    flows = [{"kind": kind, "src": a, "dst": b, "start_s": 1.0, **packets[kind]} for kind, a, b in ends]
    return Scenario.build(
        {"movement": {"positions": places}, "traffic": {"flows": flows}, "duration_s": 60.0, "warmup_s": 30.0}
    )


def test_covariates_are_of_the_metrics_own_flows_and_of_the_others() -> None:
    paths = paths_of(standing().resolve())
    assert paths == {"tcp": Paths(30, 30 * 0.729e6, 0, 60), "cbr": Paths(60, 30 * 1.463e6, 30, 30)}
    assert covariates(TCP, [paths]) == {
        "capacity_bps": [0.729e6],
        "others_path_hops": [0.5],
        "path_hops": [2.0],
    }
    assert covariates("cbr_delivery_fraction", [paths]) == {
        "path_hops": [0.5],
        "others_capacity_bps": [0.729e6],
        "without_path": [0.5],
    }
    assert covariates("routing_bytes_per_s", [paths]) == {"path_hops": [1.0], "without_path": [1 / 3]}


def test_draws_of_large_networks_look_at_fewer_instants() -> None:
    small = standing().resolve()
    assert (step_of(small), cost_in_events(small)) == (1.0, 4_000 + 60 * 4)
    waypoint = {"waypoint": {"nodes": 2_000, "width_m": 6000.0, "height_m": 6000.0}}
    large = Scenario.build({**BASE, "movement": waypoint, "duration_s": 302.0}).resolve()
    assert step_of(large) == 30.0


def test_results_as_json_have_the_adjusted_means(results: Results, cli: Cli) -> None:
    printed = json.loads(cli("campaign", "results", results.store, "--json").stdout)
    assert printed["summary"][0]["gain"] == pytest.approx(results.summary()["gain"][0])
