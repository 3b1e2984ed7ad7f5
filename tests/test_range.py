"""The admissible operation range: the search against brute force, what it keeps, and what it refuses."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from manetlab import InputError, Results, Scenario, run_many
from manetlab.chain_throughput import packaged
from manetlab.operation_range import Border, Bounds, OperationRange, Size, find, flows_of_text
from manetlab.report import ranges
from manetlab.shares import at_instant, mean_rates
from tests.campaigns import small
from tests.conftest import ROOT, Cli

SCENARIO = """
duration_s = 14.0
warmup_s = 4.0
routing = "aodv"
movement.areas = { sources = 1, sinks = 1, forwarders = 2 }
traffic.flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0.0, segment_bytes = 600 }]
throttle.mode = "oracle"
"""
FLOWS, RUNS, MOST_NODES = (1, 2, 3), 2, 12


def scenario(**changes: Any) -> Scenario:
    return Scenario.build({**toml(), **changes})


def toml() -> dict[str, Any]:
    import tomllib

    return tomllib.loads(SCENARIO)


def searched(bounds: Bounds | None = None, **how: Any) -> OperationRange:
    asked = {"runs": RUNS, "most_nodes": MOST_NODES, "bounds": bounds, **how}
    return find(scenario(), FLOWS, **asked)


def by_brute_force(flows: int, forwarders: int) -> tuple[float, float]:
    """Mean unsmoothness of the worst flow and worst unfairness of a configuration, without a campaign."""
    areas = {"sources": flows, "sinks": flows, "forwarders": forwarders}
    pattern = toml()["traffic"]["flows"][0]
    ends = [{**pattern, "src": each, "dst": flows + each, "start_s": each / 10} for each in range(flows)]
    resolved = [
        scenario(
            movement={"areas": areas}, traffic={"flows": ends}, tcp={"allowed_pause_s": 3.0}, seed=seed
        ).resolve()
        for seed in range(1, RUNS + 1)
    ]
    results = run_many(resolved)
    worst = [max(flow["unsmoothness"] for flow in result.flows) for result in results]
    unfair = []
    for each, result in zip(resolved, results, strict=True):
        fair = [share.rate_bps or math.nan for share in at_instant(each).flows]
        actual = [flow["throughput_bps"] for flow in result.flows]
        unfair.append(math.dist(fair, actual) / math.hypot(*fair))
    return sum(worst) / RUNS, max(unfair)


@pytest.fixture(scope="module")
def everything() -> dict[tuple[int, int], tuple[float, float]]:
    return {
        (flows, forwarders): by_brute_force(flows, forwarders)
        for flows in FLOWS
        for forwarders in range(2, MOST_NODES - 2 * flows + 1, 2)
    }


@pytest.mark.parametrize("unsmoothness", [0.2, 0.3, 0.45])
def test_search_finds_the_border_of_brute_force(
    everything: dict[tuple[int, int], tuple[float, float]], unsmoothness: float
) -> None:
    bounds = Bounds(unsmoothness, unfairness=0.5)
    found = searched(bounds)
    for border in found.borders:
        reached = None
        for (flows, forwarders), (mean, unfair) in everything.items():
            if flows != border.flows:
                continue
            if mean >= bounds.unsmoothness or unfair >= bounds.unfairness:
                break
            reached = 2 * flows + forwarders
        assert border.right_nodes == reached
        # Nothing is run beyond the first size that is not admissible.
        assert all(size.admissible for size in border.sizes[:-1])
        assert border.is_open == (reached == max(2 * f + n for f, n in everything if f == border.flows))


def test_sizes_are_judged_by_the_papers_measures(
    everything: dict[tuple[int, int], tuple[float, float]],
) -> None:
    found = searched(every_size=True)
    sizes = {(size.flows, size.forwarders): size for border in found.borders for size in border.sizes}
    assert sizes.keys() == everything.keys()
    for place, (mean, unfair) in everything.items():
        size = sizes[place]
        assert (size.unsmoothness, size.unfairness) == pytest.approx((mean, unfair))
        assert (size.nodes, size.runs, size.unserved) == (2 * size.flows + size.forwarders, RUNS, 0)
        assert size.admissible == (mean < 1.0 and unfair < 0.1)


def test_all_sizes_have_the_same_border_as_the_search() -> None:
    bounds = Bounds(0.3, unfairness=0.5)
    short, whole = searched(bounds), searched(bounds, every_size=True)
    assert [b.right_nodes for b in short.borders] == [b.right_nodes for b in whole.borders]
    assert sum(len(b.sizes) for b in short.borders) < sum(len(b.sizes) for b in whole.borders)


def test_tighter_bounds_never_reach_further() -> None:
    borders = [
        [
            border.right_nodes or 0
            for border in searched(Bounds(most, unfairness=0.5), every_size=True).borders
        ]
        for most in (0.1, 0.3, 1e3)
    ]
    assert all(a <= b <= c for a, b, c in zip(*borders, strict=True))
    assert borders[0] != borders[2]


def test_a_bound_that_nothing_keeps_leaves_no_range() -> None:
    found = searched(Bounds(unfairness=1e-6))
    assert [border.right_nodes for border in found.borders] == [None] * len(FLOWS)
    assert all(border.sizes[0].breaks == ("unfairness",) and not border.is_open for border in found.borders)


def test_a_flow_that_gets_nothing_breaks_the_range() -> None:
    # Bands so far apart that only the sources' side can talk.
    far = {"sources": 1, "sinks": 1, "forwarders": 2}
    with pytest.raises(InputError, match="no fair rate"):
        find(scenario(movement={"areas": {**far, "spacing_m": 400.0}}), [1], runs=1)
    # Routes exist, but nothing begins before the end of the run but the first flow.
    size = find(scenario(warmup_s=13.99), [2], runs=1, most_nodes=6, stagger_s=13.98).borders[0].sizes[0]
    assert size.unserved == 1
    assert "unserved" in size.breaks


def test_routing_that_costs_nothing_has_no_load() -> None:
    static = find(
        scenario(routing="static"), [2], runs=RUNS, most_nodes=8, bounds=Bounds(5, 1), with_load=True
    )
    assert static.borders[0].routing_load == 0.0
    aodv = find(scenario(), [2], runs=RUNS, most_nodes=8, bounds=Bounds(5, 1), with_load=True).borders[0]
    assert aodv.last is not None
    assert aodv.without_routing_bps == static.borders[0].without_routing_bps
    assert aodv.routing_load == pytest.approx(1 - aodv.last.total_bps / (aodv.without_routing_bps or 0))


def test_the_smallest_network_of_four_flows_has_seven_nodes() -> None:
    # Osipov and Tschudin 2006, IV.C.2: one source, four destinations, two forwarders.
    found = find(scenario(), [4], runs=1, most_nodes=10)
    assert found.borders[0].left_nodes == 7


def test_a_search_goes_on_where_it_was(tmp_path: Path) -> None:
    first = find(scenario(), [1], runs=RUNS, most_nodes=6, bounds=Bounds(9, 9), store=tmp_path / "s.db")
    kept = Results.load(tmp_path / "s.db").machines
    again = find(scenario(), [1], runs=RUNS, most_nodes=6, bounds=Bounds(9, 9), store=tmp_path / "s.db")
    assert again == first
    assert Results.load(tmp_path / "s.db").machines.equals(kept)
    # More flows and larger networks use the runs that are there.
    find(scenario(), [1, 2], runs=RUNS, most_nodes=8, bounds=Bounds(9, 9), store=tmp_path / "s.db")
    more = Results.load(tmp_path / "s.db").machines.set_index("key")
    assert set(kept["key"]) < set(more.index)
    assert (more.loc[list(kept["key"]), "ended"].to_numpy() == kept["ended"].to_numpy()).all()


def test_a_killed_search_ends_with_the_same_range(tmp_path: Path) -> None:
    (tmp_path / "areas.toml").write_text(SCENARIO.replace("14.0", "60.0"), encoding="utf-8")
    command = [sys.executable, "-m", "manetlab", "range", "areas.toml", "--flows", "1,2,3", "--runs", "6"]
    command += ["--nodes", "14", "--all", "--json"]
    killed = [*command, "--store", "killed.db"]
    process = subprocess.Popen(killed, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and _done(tmp_path / "killed.db") < 3:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 3 <= _done(tmp_path / "killed.db") < 6 * 15
    continued, whole = (
        subprocess.run(each, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300).stdout
        for each in (killed, [*command, "--store", "whole.db"])
    )
    assert json.loads(continued) == json.loads(whole)


def _done(store: Path) -> int:
    try:
        return len(Results.load(store).runs)
    except InputError:
        return 0


@pytest.mark.parametrize(
    ("changes", "how", "said"),
    [
        ({"movement": {"chain": {"nodes": 4}}}, {}, "movement is not made of areas"),
        ({"traffic": {"random": {"tcp": 1}}}, {}, "no flow to repeat"),
        (
            {"traffic": {"flows": [{"kind": "video", "src": 0, "dst": 1, "start_s": 0.0}]}},
            {},
            "not one of TCP",
        ),
        ({}, {"most_nodes": 5}, "largest network is too small"),
        ({}, {"stagger_s": 5.0}, "begins too late"),
        ({}, {"stagger_s": -0.1}, "begins too late"),
        ({}, {"flows": []}, "not numbers of flows"),
        ({}, {"flows": [2, 2]}, "not numbers of flows"),
        ({}, {"flows": [0]}, "number is not allowed"),
        ({}, {"runs": 0}, "number is not allowed"),
        ({}, {"step": 0}, "number is not allowed"),
        ({"mac": {"data_rate_bps": 5.5e6}}, {}, "no such row"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    changes: dict[str, Any], how: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        find(scenario(**changes), **{"flows": [2], "runs": 1, "store": tmp_path / "s.db", **how})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, True])
def test_bounds_are_numbers_above_zero(bad: float) -> None:
    with pytest.raises(InputError, match="bound is not allowed"):
        Bounds(unsmoothness=bad)


def test_numbers_of_flows_are_read_as_they_are_written() -> None:
    assert flows_of_text("2..5") == [2, 3, 4, 5]
    assert flows_of_text("2,4..6,9") == [2, 4, 5, 6, 9]
    for text in ("", "2-9", "a", "2...4", "..4", "1e3", "9" * 30):
        with pytest.raises(InputError, match="not numbers of flows"):
            flows_of_text(text)


def test_the_command_writes_table_json_csv_and_plot(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "areas.toml").write_text(SCENARIO, encoding="utf-8")
    asked = ("range", "areas.toml", "--flows", "1,2", "--nodes", 8, "--runs", 2, "--unsmoothness", 3)
    asked += ("--unfairness", 0.5, "--routing", "static", "--routing", "aodv", "--load")
    done = cli(*asked, "--json", "--csv", "sizes.csv", "--plot", "range.svg")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["ranges"]
    assert [each["routing"] for each in found] == ["static", "aodv"]
    assert [each["borders"][1]["flows"] for each in found] == [2, 2]
    with (tmp_path / "sizes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = [size for each in found for border in each["borders"] for size in border["sizes"]]
    assert [int(row["nodes"]) for row in rows] == [size["nodes"] for size in sizes]
    assert (tmp_path / "range.svg").read_text(encoding="utf-8").startswith("<?xml")
    text = cli(*asked, "--plot", "range.png").stdout
    assert "Admissible operation range of aodv" in text
    assert (tmp_path / "range.png").read_bytes().startswith(b"\x89PNG")
    # Both ranges are in the store beside the scenario.
    assert len(Results.load(tmp_path / "areas.range.db").runs)


def test_the_plot_has_a_bar_for_what_was_run_and_nothing_between() -> None:
    def size(flows: int, nodes: int, breaks: tuple[str, ...] = ()) -> Size:
        values = {each.name: 0.0 for each in fields(Size)}
        return Size(**{**values, "flows": flows, "nodes": nodes, "breaks": breaks})  # type: ignore[arg-type]

    def found(routing: str, last: int) -> OperationRange:
        borders = (
            Border(2, 5, (size(2, 6), size(2, last)), is_open=True),
            Border(6, 9, (size(6, 14, ("unfairness",)),), is_open=False),
        )
        return OperationRange(routing, 2, Bounds(), borders)

    axes: Any = Figure().add_subplot()
    ranges.draw_on(axes, [found("aodv", 20), found("dsr", 12)])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2", "6"], "and no 4"
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert bars == [(5, 20), (5, 12)]
    assert len(axes.lines) == 2, "a cross for each protocol at 6 flows"
    heights = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    assert heights[0][0] > heights[1][1], "bars do not cover each other"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--plot", "range.pdf", "not a kind of plot"),
        ("--flows", "few", "not numbers of flows"),
        ("--unfairness", "-1", "bound is not allowed"),
        ("--csv", "areas.toml", "areas.toml"),
    ],
)
def test_the_command_refuses_before_it_runs(
    cli: Cli, tmp_path: Path, option: str, value: str, said: str
) -> None:
    (tmp_path / "areas.toml").write_text(SCENARIO, encoding="utf-8")
    done = cli("range", "areas.toml", option, value)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["areas.toml"]


def test_points_of_a_campaign_can_be_run_one_after_the_other(tmp_path: Path) -> None:
    campaign, store = small(), tmp_path / "small.db"
    some = campaign.run(store, points=[2])
    assert set(some.runs["point"]) == {2}
    assert (some.missing, len(some.failed)) == (9, 0)
    campaign.run(store, points=[0, 2])
    later = campaign.run(store)
    assert later.runs["result_hash"].equals(campaign.run().runs["result_hash"])
    with pytest.raises(InputError, match="no such point"):
        campaign.run(store, points=[4])


def test_progress_counts_the_points_under_way(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    small().run(tmp_path / "s.db", points=[1], progress=lambda each: told.append((each.done, each.total)))
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)


def test_a_border_is_the_end_of_the_first_unbroken_stretch() -> None:
    def size(nodes: int, *breaks: str) -> Size:
        return Size(1, nodes - 2, nodes, 1, 0, 0.5, None, None, 0.05, 0.05, 1e5, 1e5, 1e5, breaks)

    assert Border(1, 4, (size(4), size(6), size(8, "unfairness"), size(10)), False).right_nodes == 6
    assert Border(1, 4, (size(4, "unsmoothness"), size(6)), False).right_nodes is None


def test_the_pages_example_can_be_searched() -> None:
    page = (ROOT / "docs" / "range.md").read_text(encoding="utf-8")
    text = page.partition("```toml")[2].partition("```")[0]
    import tomllib

    example = Scenario.build(tomllib.loads(text))
    found = find(example, [2], runs=1, most_nodes=6)
    assert found.borders[0].sizes[0].unserved == 0


def test_what_flows_carry_alone_can_be_measured_in_their_own_network() -> None:
    near = scenario(movement={"areas": {"sources": 1, "sinks": 1, "forwarders": 2, "spacing_m": 150.0}})
    found = find(near, [2], runs=RUNS, most_nodes=6, measured=True)
    alone = [near.changed(routing="static", throttle={"mode": "off"}, seed=seed).resolve() for seed in (1, 2)]
    alone_bps = sum(result.totals["tcp_throughput_bps"] for result in run_many(alone)) / RUNS
    [size] = found.borders[0].sizes
    # Sources send what one flow carries alone, in equal parts, and no more.
    assert size.total_high_bps <= 1.03 * alone_bps
    by_table = find(near, [2], runs=RUNS, most_nodes=6).borders[0].sizes[0]
    assert size.unfairness != by_table.unfairness
    with pytest.raises(InputError, match="given twice"):
        find(near, [2], runs=1, measured=True, table=packaged())


def test_where_nodes_move_fair_rates_are_means_over_the_measurement() -> None:
    areas = {"sources": 2, "sinks": 2, "forwarders": 4, "spacing_m": 150.0, "height_m": 500.0}
    moving = scenario(movement={"areas": {**areas, "speed_mps": 30.0}})
    found = find(moving, [2], runs=RUNS, most_nodes=8, step=2, every_size=True)
    [size] = [each for each in found.borders[0].sizes if each.forwarders == 4]
    pattern = toml()["traffic"]["flows"][0]
    flows = [{**pattern, "src": each, "dst": 2 + each, "start_s": each / 10} for each in range(2)]
    changed = moving.changed(traffic={"flows": flows}, tcp={"allowed_pause_s": 3.0})
    resolved = [changed.changed(seed=seed).resolve() for seed in (1, 2)]
    unfair, all_shares = [], set()
    for each, result in zip(resolved, run_many(resolved), strict=True):
        rates_bps: list[list[float]] = [[], []]
        # From the first instant on, since a flow without a path keeps its rate.
        for time_s in (0.1, *map(float, range(1, 14))):
            for of_flow, share in zip(rates_bps, at_instant(each, time_s).flows, strict=True):
                of_flow.append(share.rate_bps or (of_flow[-1] if of_flow else 0.0))
                all_shares.add(share.share)
        fair = [sum(of_flow[-10:]) / 10 for of_flow in rates_bps]
        unfair.append(math.dist(fair, [flow["throughput_bps"] for flow in result.flows]) / math.hypot(*fair))
    assert None in all_shares and len(all_shares) > 2
    assert size.unfairness == pytest.approx(max(unfair))


def test_the_fair_rate_where_nothing_moves_is_that_of_any_instant() -> None:
    resolved = scenario(movement={"chain": {"nodes": 4}}).resolve()
    [alone] = at_instant(resolved).flows
    assert alone.rate_bps is not None
    assert mean_rates(resolved) == [pytest.approx(alone.rate_bps)]
    assert mean_rates(resolved, whole_bps=1e5) == [pytest.approx(1e5)]
