"""What is said of measures: the core's table, the page that defines them, the names that can be given."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from manetlab import InputError, Scenario, run
from manetlab.campaign import Campaign
from manetlab.factors import Factor
from manetlab.metrics import (
    DERIVED,
    FLOW_MEASURES,
    MEASURES,
    TOTALS,
    applying,
    base_unit,
    better,
    bounds,
    by_key,
    named,
    of_flow,
)
from tests.conftest import Cli
from tests.examples import CBR_FLOW, TCP_FLOW, chain

ROOT = Path(__file__).resolve().parents[1]
COUNTED = {"", "packet", "segment", "message", "frame", "link", "hop", "node"}
"""What the page calls the unit of a measure that has none: nothing, or what is counted."""
GIVEN = {"id", "kind", "src", "dst", "start_s", "transport", "src_name", "dst_name"}
"""What the page describes of flows and is not measured."""
SECTIONS = {
    "Every flow": {
        "Cost at the MAC",
        "Shortest path",
        "Route at the source",
        "Rates that the source learns",
        "Reservation",
    },
    "A TCP flow": {
        "TCP",
        "Progress",
        "Spurious retransmissions",
        "Acknowledged by a base station",
        "Guesses why segments were lost",
    },
    "A CBR flow": {"CBR"},
    "A flow with a deadline": {"Datagrams with a deadline"},
    "A flow of messages": {"Messages", "Video", "Voice", "RTP"},
    "A Web session": {"Web"},
    "Totals": {metric.group for metric in MEASURES.values()},
}
"""The sections of docs/metrics.md, and the groups of measures that each describes."""


def described(section: str) -> dict[str, str]:
    """The names that a section of the page describes, each with its unit."""
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    text = next(part for part in page.split("\n## ") if part.startswith(f"{section}\n"))
    found: dict[str, str] = {}
    for names, units in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|([^|]*)\|", text, re.MULTILINE):
        keys, told = re.findall(r"\w+", names), [each.strip() for each in units.split(",")]
        # One unit is that of all names; otherwise each has its own.
        found |= dict(zip(keys, told if len(told) == len(keys) else told * len(keys), strict=False))
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_describes_the_measures_of_the_table_with_their_units(section: str) -> None:
    table = MEASURES.values() if section == "Totals" else FLOW_MEASURES
    wanted = {metric.key: metric.base_unit for metric in table if metric.group in SECTIONS[section]}
    found = {key: unit for key, unit in described(section).items() if key not in GIVEN}
    assert found.keys() == wanted.keys()
    for key, unit in wanted.items():
        assert found[key] in COUNTED if unit == "1" else found[key] == unit, key


def test_measures_cover_what_runs_return() -> None:
    video = {"kind": "video", "src": 0, "dst": 1, "start_s": 0.5, "transport": "tcp"}
    flows = [TCP_FLOW, CBR_FLOW, video]
    result = run(chain(traffic={"flows": flows}, duration_s=3.0, warmup_s=0.0))
    assert result.totals.keys() <= MEASURES.keys()
    for flow in result.flows:
        for key in flow.keys() - GIVEN:
            assert of_flow(key, flow["kind"]).group, key


@pytest.mark.parametrize(
    ("key", "unit", "way", "most"),
    [
        ("mac_packets_per_delivered", "1", "lower", math.inf),
        ("message_network_drop_rate", "1", "lower", 1.0),
        ("collision_fraction", "1", "lower", 1.0),
        ("web_session_time_mean_s", "s", "lower", math.inf),
        ("eq2_goodput_bps", "bit/s", "higher", math.inf),
        ("messages_delivered", "1", "higher", math.inf),
        ("routing_bytes_per_s", "B/s", "", math.inf),
        ("announcement_bytes", "B", "", math.inf),
        ("jain", "1", "higher", 1.0),
        ("nothing_of_that_fraction", "1", "", math.inf),
    ],
)
def test_unit_direction_and_bounds_are_stated(key: str, unit: str, way: str, most: float) -> None:
    assert (base_unit(key), better(key), bounds(key)) == (unit, way, (0.0, most))


def test_a_cost_is_better_when_it_is_lower() -> None:
    costs = [metric for metric in MEASURES.values() if metric.group == "Cost of a delivery"]
    assert len(costs) == 5
    assert {metric.better for metric in costs} == {"lower"}


def test_what_papers_call_measures_are_names_of_measures() -> None:
    assert named("pdr") == named("PDR") == "cbr_delivery_fraction"
    assert named("NRL") == "normalised_routing_load"
    assert named("e2e_delay") == "cbr_latency_mean_s"
    assert named("holds") == "holds"
    assert named("nothing") == "nothing"


def campaign(**changes: Any) -> Campaign:
    fields = {"base": chain(routing="static").to_dict(), "factors": {"routing": ["aodv", "static"]}}
    return Campaign(**{**fields, "replications": 2, **changes})


def test_a_campaign_takes_the_names_of_papers() -> None:
    made = campaign(metrics=["pdr", "cbr_delivery_fraction"], comparison={"margins": {"NRL": 0.1}})
    assert made.metrics == ("cbr_delivery_fraction",)
    assert made.comparison["margins"] == {"normalised_routing_load": 0.1}
    made = campaign(comparison={"metrics": ["delay"]})
    assert made.comparison["metrics"] == ["cbr_latency_mean_s"]
    with pytest.raises(InputError, match="no such metric"):
        campaign(metrics=["pdrr"])
    with pytest.raises(InputError, match="no such metric") as failed:
        campaign(metrics=["cbr_pdr"])
    assert failed.value.hint == 'did you mean "pdr", which is cbr_delivery_fraction?'


def test_measures_of_flows_that_are_not_there_have_no_value_and_are_not_shown() -> None:
    only = {"tcp": TCP_FLOW, "cbr": CBR_FLOW}
    for kind, flow in only.items():
        result = run(chain(traffic={"flows": [flow]}, duration_s=3.0, warmup_s=0.0))
        shown = {metric.key for metric in applying(result.totals, result.flows)}
        for metric in MEASURES.values():
            if metric.flows in (("tcp",), ("cbr",)) and metric.key in result.totals:
                applies = metric.flows == (kind,)
                assert applies or result.totals[metric.key] is None, metric.key
                assert (metric.key in shown) == (applies and not metric.is_detail), metric.key


def test_the_list_of_measures_names_each_with_its_unit(cli: Cli) -> None:
    told = cli("list", "measures").stdout
    for key, metric in MEASURES.items():
        [line] = [line for line in told.splitlines() if line.split()[:1] == [key]]
        unit = metric.unit or ("number" if metric.values == "count" else "ratio")
        assert metric.label and "_" not in metric.label
        assert unit in line.split()
        assert line.split()[-1] == (metric.better or "–")
    assert "Web sessions" in told
    assert "pdr" in told


def test_details_are_shown_to_those_who_ask() -> None:
    details = MEASURES.keys() - {metric.key for metric in TOTALS}
    assert {"cbr_latency_p50_s", "web_delivered_bytes", "hold_time_s"} <= details
    assert by_key("cbr_latency_p50_s").heading == "median end-to-end delay (ms)"
    assert by_key("cpu_time_s") is DERIVED["cpu_time_s"]


def test_a_scenario_without_flows_has_no_throughput() -> None:
    totals = run(Scenario.build(chain(traffic={"flows": []}).to_dict())).totals
    assert totals["tcp_throughput_bps"] is totals["cbr_throughput_bps"] is totals["cbr_sent"] is None


def test_factors_have_the_units_that_fields_declare() -> None:
    wanted = {
        "duration_s": ("duration", "s"),
        "traffic.random.cbr_interval_s": ("cbr_interval", "s"),
        "radio.range_m": ("range", "m"),
        "mac.cw_min": ("mac.cw_min", "slot"),
        "movement.waypoint.speed_max": ("maximum speed", "m/s"),
        "load_bps": ("load_bps", ""),
    }
    found = {key: Factor.of(key, [1.0, 2.0]) for key in wanted}
    assert {key: (each.label, each.unit) for key, each in found.items()} == wanted
