"""What Python and notebooks show: short representations, tables, plots, positions and units."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import manetlab
from manetlab import Campaign, InputError, Result, Results, Scenario, notebook, palette
from tests.conftest import ROOT
from tests.examples import chain
from tests.test_campaign import waypoint


@pytest.fixture(scope="module")
def result() -> Result:
    flows = [
        {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.0},
        {"kind": "cbr", "src": 2, "dst": 0, "start_s": 0.5, "bytes": 64, "interval_s": 0.5},
    ]
    return manetlab.run(chain(traffic={"flows": flows}, duration_s=5.0, warmup_s=0.0), series_s=1.0)


@pytest.fixture(scope="module")
def results() -> Results:
    return waypoint(
        factors={"tcp": ["reno", "sack"], "traffic.random.cbr": [1, 4]},
        replications=2,
        metrics=["tcp_throughput_bps", "cbr_delivery_fraction"],
    ).run()


def test_modules_are_attributes_without_being_imported() -> None:
    program = """
import sys, manetlab
assert not {"manetlab.topology", "manetlab.stats", "numpy"} & set(sys.modules)
manetlab.topology.report; manetlab.stats.mean_interval; manetlab.report.write
assert {"topology", "stats", "run"} <= set(dir(manetlab))
try:
    manetlab.tomography
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "no attribute 'tomography'" in done.stdout


def test_types_are_marked_as_such() -> None:
    assert (ROOT / "python/manetlab/py.typed").exists()
    assert (ROOT / "papers/manetlab_papers/py.typed").exists()


def test_representations_are_short_and_say_what_there_is(result: Result, results: Results) -> None:
    scenario = chain()
    resolved = scenario.resolve()
    capacity = manetlab.capacity_over_time(scenario)
    hops = manetlab.topology.shortest_hops_over_time(scenario)
    shown: dict[str, object] = {
        "2 flows, seed 1": result,
        "8 of 8 runs at 4 points": results,
        "4 points × 2 replications": results.campaign,
        f"scenario {resolved.hash[:12]}": resolved,
        "Scenario(": scenario,
        "Movement of 3 nodes": resolved.movement,
        "2 pairs at 100 instants": capacity,
        "HopsOverTime: 2 pairs": hops,
    }
    for told, value in shown.items():
        assert told in repr(value)
        assert len(repr(value)) < 1000
        assert " at 0x" not in repr(value)
    alone = [{"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.0}]
    one = manetlab.run(chain(traffic={"flows": alone}, duration_s=1.0, warmup_s=0.0))
    assert repr(one).startswith("<Result of 1 flow, ")
    assert "TCP throughput" in repr(one)
    lone = [{"kind": "cbr", "src": 0, "dst": 2, "start_s": 0.0, "bytes": 100, "interval_s": 0.1}]
    without_tcp = manetlab.run(chain(traffic={"flows": lone}, duration_s=1.0, warmup_s=0.0))
    assert "TCP" not in repr(without_tcp) + without_tcp._repr_html_()
    assert "PDR" in repr(without_tcp)
    many = [{"kind": "tcp", "src": 0, "dst": 1, "start_s": float(at)} for at in range(300)]
    assert (
        len(repr(Scenario(traffic={"flows": many}, movement={"chain": {"nodes": 2}}, duration_s=400))) < 1000
    )


def test_html_has_the_same_values_and_no_markup_of_users(result: Result, results: Results) -> None:
    for value in (result, results, results.campaign, chain()):
        assert value._repr_html_().count("<table>") == 1
    assert "TCP throughput (kb/s)" in result._repr_html_()
    assert "sack" in results._repr_html_()
    asked = results.campaign.changed(question="<b>?</b>")
    assert "<b>?</b>" not in asked._repr_html_()


def test_parts_of_a_result_are_tables_with_the_columns_of_a_campaign(
    result: Result, results: Results
) -> None:
    flows = result.to_frame()
    assert list(flows.columns[:4]) == list(results.flows.columns[4:8]) == ["flow", "kind", "src", "dst"]
    totals = result.to_frame("totals").set_index("metric")
    assert totals.loc["tcp_throughput_bps", "unit"] == "bit/s"
    assert totals.loc["tcp_throughput_bps", "value"] == result.totals["tcp_throughput_bps"]
    assert list(result.to_frame("drops").columns) == list(results.drops.columns[-4:])
    assert len(result.to_frame("series:totals")) == 5
    with pytest.raises(InputError, match="no such part"):
        result.to_frame("series:nothing")
    assert results.to_frame() is results.runs


def test_plots_show_what_the_tables_say(result: Result, results: Results, tmp_path: Path) -> None:
    axes: Any = Figure().add_subplot()
    results.plot("tcp_throughput_bps", axes=axes)
    summary = results.summary(["tcp_throughput_bps"])
    drawn = [container.lines[0].get_ydata() for container in axes.containers]
    assert sorted(y for line in drawn for y in line) == pytest.approx(sorted(summary["mean"] / 1e3))
    # Intervals at the same place do not cover each other.
    places = [x for container in axes.containers for x in container.lines[0].get_xdata()]
    assert len(set(places)) == len(places)
    # Names, ticks and the axis are those of a report's plot.
    assert axes.get_xlabel() == "CBR flows" and axes.get_ylabel() == "TCP throughput (kb/s)"
    assert axes.get_ylim()[0] == 0.0
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "4"]
    assert axes.get_legend().get_title().get_text() == "TCP sender"
    colours = [container.lines[0].get_color() for container in axes.containers]
    assert colours == list(palette.ON_LIGHT[:2])
    own = results.plot("tcp_throughput_bps")
    assert not own.spines["top"].get_visible()
    by_sender = results.plot(across="tcp", axes=Figure().add_subplot())
    assert [label.get_text() for label in by_sender.get_xticklabels()] == ["reno", "sack"]
    with pytest.raises(InputError, match="no such factor"):
        results.plot(across="speed")
    over_time: Any = Figure().add_subplot()
    result.plot(axes=over_time)
    assert over_time.get_xlabel() == "time (s)"
    of_flows = result.plot("throughput_bps", axes=Figure().add_subplot())
    assert len(of_flows.patches) == 2 and of_flows.get_xlabel() == "throughput (kb/s)"
    of_flows.figure.savefig(tmp_path / "plot.png")
    with pytest.raises(InputError, match="no flow has this metric"):
        result.plot("smoothness", axes=Figure().add_subplot())


def test_positions_are_a_table() -> None:
    scenario = chain(duration_s=3.0, warmup_s=0.0)
    table = scenario.positions(step_s=1.0)
    assert list(table.columns) == ["time_s", "node", "x_m", "y_m"]
    assert len(table) == 9
    assert table[table["node"] == 2]["x_m"].tolist() == [table["x_m"].max()] * 3
    with pytest.raises(InputError, match="step"):
        scenario.positions(step_s=0.0)


def test_arrays_have_units(results: Results) -> None:
    arrays = results.xarray()
    assert arrays["tcp_throughput_bps"].attrs == {"long_name": "TCP throughput", "units": "bit/s"}
    assert arrays["cbr_delivery_fraction"].attrs["units"] == "1"
    assert arrays["cbr_latency_mean_s"].attrs["units"] == "s"
    assert arrays["routing_packets_per_s"].attrs["units"] == "1/s"


def test_p_values_have_the_same_names_everywhere(results: Results, tmp_path: Path) -> None:
    names = [name for name in results.comparisons.columns if name.startswith("p_")]
    manetlab.report.write(results, tmp_path / "report")
    head = (tmp_path / "report/tables/comparisons.csv").read_text().splitlines()[0].split(",")
    assert [name for name in head if name.startswith("p_")] == names
    assert not [name for name in head if name.endswith("_p")]
    paired = manetlab.stats.paired_difference([1.0, 2.0, 4.0], [1.0, 1.0, 1.0])
    assert 0 < paired.p_t <= 1 and 0 < paired.p_wilcoxon <= 1


def test_a_notebook_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[int, int]] = []
    monkeypatch.setattr(notebook, "is_notebook", lambda: True)
    monkeypatch.setattr(notebook.Bar, "show", lambda _, *told: shown.append(told[:2]))
    waypoint(factors={"tcp": ["reno", "sack"]}, replications=2).run()
    assert shown[-1] == (4, 4)
    shown.clear()
    manetlab.run_many([chain(duration_s=2.0, warmup_s=0.0, seed=seed) for seed in range(3)])
    assert sorted(shown) == [(1, 3), (2, 3), (3, 3)]
    assert 'max="4" value="1"' in notebook.bar("<x>", 1, 4) and "<x>" not in notebook.bar("<x>", 1, 4)


@pytest.mark.parametrize("offered", [Scenario, Campaign, Results, Result])
def test_completion_offers_only_our_own(offered: type) -> None:
    public = {name for name in dir(offered) if not name.startswith("_")}
    assert not {name for name in public if name.startswith(("model_", "parse_", "dict", "json", "copy"))}
