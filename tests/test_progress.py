"""Unsmoothness, effective horizon, equivalent routing load; sources and sinks in areas of their own."""

from __future__ import annotations

import json
import math
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab import InputError, Scenario, run
from manetlab.shares import at_instant
from manetlab.stats import effective_horizon, equivalent_routing_load, unfairness, unsmoothness
from tests.conftest import Cli
from tests.examples import chain

FLOW = {"kind": "tcp", "src": 0, "dst": 1, "start_s": 0.0}


def even(pause_at_s: float) -> tuple[list[float], list[float]]:
    """A packet each 0.1 s of 100 s, but for those of three seconds, which come at their end."""
    times = [0.1 * number for number in range(1, 1001)]
    paused = [time if not pause_at_s < time < pause_at_s + 3 else pause_at_s + 3 for time in times]
    return paused, [float(number) for number in range(1, 1001)]


@pytest.mark.parametrize("pause_at_s", [0.0, 30.0, 97.0])
def test_a_pause_of_three_seconds_has_unsmoothness_one(pause_at_s: float) -> None:
    # Claim O-19: 1 ± 0.05.
    assert unsmoothness(*even(pause_at_s), 0.0, 100.0) == pytest.approx(1.0, abs=0.05)
    assert unsmoothness(*even(pause_at_s), 0.0, 100.0, allowed_s=1.5) == pytest.approx(2.0, abs=0.1)


def test_an_even_flow_deviates_by_a_packet() -> None:
    assert unsmoothness(*even(200.0), 0.0, 100.0) == pytest.approx(0.1 / 3)
    # One packet, by the line half of it: half the flow's length before it, and after it.
    assert unsmoothness([50.0], [1.0], 0.0, 100.0) == pytest.approx(50 / 3)
    assert unsmoothness([110.0], [7.0], 100.0, 130.0) == pytest.approx(20 / 3)
    # Two thirds of the length before it, a third after.
    assert unsmoothness([120.0], [7.0], 100.0, 130.0) == pytest.approx(20 / 3)


def test_something_may_arrive_at_the_start_and_at_the_stop() -> None:
    # All that comes comes at the last moment: the whole length of 10 s late.
    assert unsmoothness([0.0, 10.0], [0.0, 5.0], 0.0, 10.0) == pytest.approx(10 / 3)
    assert unsmoothness([2.0, 2.0, 7.0], [5.0, 5.0, 5.0], 2.0, 12.0) == pytest.approx(10 / 3)


def test_a_flow_that_receives_nothing_is_infinitely_unsmooth() -> None:
    assert unsmoothness([], [], 0.0, 100.0) == math.inf
    assert unsmoothness([1.0], [0.0], 0.0, 100.0) == math.inf


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (([2.0, 1.0], [1.0, 2.0], 0.0, 9.0), "times_s"),
        (([1.0, 2.0], [2.0, 1.0], 0.0, 9.0), "received"),
        (([1.0, 3.0, 2.0, 4.0], [1.0, 2.0, 3.0, 4.0], 0.0, 9.0), "times_s"),
        (([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0], 0.0, 9.0), "received"),
        (([1.0], [1.0, 2.0], 0.0, 9.0), "cannot be paired"),
        (([], [1.0], 0.0, 9.0), "not enough values"),
        (([1.0], [], 0.0, 9.0), "not enough values"),
        (([1.0], [2.0], 1.5, 9.0), "times_s"),
        (([1.0], [-1.0], 0.0, 9.0), "received"),
        (([10.0], [1.0], 0.0, 9.0), "times_s"),
        (([1.0], [1.0], 9.0, 9.0), "no length"),
        (([1.0], [1.0], 0.0, 9.0, 0.0), "allowed_s"),
    ],
)
def test_what_is_no_progress_is_refused(arguments: tuple[Any, ...], what: str) -> None:
    with pytest.raises(InputError, match=what):
        unsmoothness(*arguments)


def test_the_effective_horizon_of_the_papers_example() -> None:
    # Osipov and Tschudin 2006, III.C.1: 144 kb/s over nine hops, at least 30 kb/s, four flows.
    assert effective_horizon(144e3) == 4
    assert [effective_horizon(bps) for bps in (0.0, 29.9e3, 30e3, 59.9e3, 60e3)] == [0, 0, 1, 1, 2]
    assert effective_horizon(144e3, least_bps=7.2e3) == 20
    for arguments in ((-1.0,), (math.nan,), (1.0, 0.0)):
        with pytest.raises(InputError, match="effective_horizon"):
            effective_horizon(*arguments)


def test_the_equivalent_routing_load_is_what_is_lost_of_the_total() -> None:
    assert equivalent_routing_load(75.0, 100.0) == 0.25
    assert equivalent_routing_load(0.0, 100.0) == 1.0
    assert equivalent_routing_load(110.0, 100.0) == pytest.approx(-0.1)
    for pair in ((1.0, 0.0), (-1.0, 1.0)):
        with pytest.raises(InputError, match="equivalent_routing_load"):
            equivalent_routing_load(*pair)


def test_a_run_measures_the_unsmoothness_of_what_the_series_shows() -> None:
    asked = chain(tcp={"allowed_pause_s": 3.0}, duration_s=20.0)
    result = run(asked, series_s=0.001)
    [flow] = [flow for flow in result.flows if flow["kind"] == "tcp"]
    series = result.series
    assert series is not None
    rows = series["tcp_flows"]
    of_flow = [place for place, number in enumerate(rows["flow"]) if number == flow["id"]]
    later = [place for place in of_flow if rows["time_s"][place] >= flow["start_s"]]
    received = list(accumulate(rows["delivered_bytes"][place] for place in later))
    # Steps of a millisecond move an arrival by as much.
    wanted = unsmoothness([rows["time_s"][place] for place in later], received, flow["start_s"], 20.0)
    assert flow["unsmoothness"] == pytest.approx(wanted, abs=0.002)
    assert result.totals["tcp_unsmoothness_max"] == flow["unsmoothness"]
    assert flow["unsmoothness"] > 0.0


def test_unsmoothness_is_measured_only_if_asked_for() -> None:
    plain, asked = run(chain(duration_s=5.0)), run(chain(duration_s=5.0, tcp={"allowed_pause_s": 3.0}))
    assert "tcp_unsmoothness_max" not in plain.totals
    assert all("unsmoothness" not in flow for flow in plain.flows)
    without = [{key: each for key, each in flow.items() if key != "unsmoothness"} for flow in asked.flows]
    assert without == plain.flows


def test_the_command_line_shows_it_only_then(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(
        "duration_s = 2.0\n[movement.chain]\nnodes = 2\n[traffic]\n"
        'flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0.0 }]\n'
    )
    assert "unsmoothness" not in cli("run", path).stdout
    shown = cli("run", path, "--set", "tcp.allowed_pause_s=3").stdout
    assert shown.count("unsmoothness") == 2


def in_areas(seed: int = 1, **areas: Any) -> Scenario:
    counts = {"sources": 2, "sinks": 2, "forwarders": 4, **areas}
    flows = [{**FLOW, "src": number, "dst": 2 + number, "segment_bytes": 600} for number in range(2)]
    fields = {"movement": {"areas": counts}, "traffic": {"flows": flows}, "duration_s": 60.0}
    return Scenario.build({**fields, "seed": seed, "profile": "ns-2.35", "routing": "static"})


@given(st.integers(0, 2**63), st.integers(3, 5), st.integers(4, 20))
def test_sources_and_sinks_are_as_many_hops_apart_as_asked(seed: int, hops: int, forwarders: int) -> None:
    made = in_areas(seed, hops=hops, forwarders=forwarders).resolve()
    assert made.movement.nodes == 4 + forwarders
    found = at_instant(made)
    assert [flow.hops for flow in found.flows] == [hops, hops]
    # With three hops, all flows meet in every band: "the majority of nodes in the single bottleneck".
    if hops == 3:
        assert [float(flow.share or 0) for flow in found.flows] == [0.5, 0.5]


def test_places_are_drawn_for_each_replication() -> None:
    places = {tuple(in_areas(seed).resolve().movement.positions(0.0)) for seed in range(5)}
    assert len(places) == 5
    assert in_areas().is_drawn
    first, more = (in_areas(forwarders=count).resolve().movement.positions(0.0) for count in (2, 9))
    assert more[:6] == first


@pytest.mark.parametrize(
    ("areas", "what"),
    [
        ({"forwarders": 1}, "2 or more"),
        ({"hops": 1}, "hops"),
        ({"sources": 0}, "sources"),
        ({"x": 1}, "x"),
        ({"speed_mps": -1.0}, "speed_mps"),
        ({"speed_mps": 1e-4}, "0, or 0.001 m/s or more"),
        ({"speed_mps": 1001.0}, "speed_mps"),
        ({"speed_mps": 1.0, "height_m": 0.5}, "height_m"),
        ({"speed_mps": 1.0, "band_width_m": 0.0}, "1 m or more where nodes move"),
    ],
)
def test_areas_that_cannot_be_are_refused(areas: dict[str, float], what: str) -> None:
    with pytest.raises(InputError) as caught:
        in_areas(**areas)
    assert what in str(caught.value)


def test_movement_in_areas_that_would_fill_the_memory_is_refused() -> None:
    narrow = in_areas(speed_mps=1000.0, height_m=1.0, end_width_m=1.0, band_width_m=1.0)
    with pytest.raises(InputError, match="would fill the memory") as caught:
        narrow.changed(duration_s=1e6).resolve()
    assert caught.value.where == "movement.areas"
    assert "lower speed" in caught.value.hint


def test_the_speed_is_part_of_what_a_scenario_is() -> None:
    still, walking, faster = (
        scenario.resolve() for scenario in (in_areas(), in_areas(speed_mps=1.0), in_areas(speed_mps=5.0))
    )
    assert in_areas(speed_mps=0.0).resolve().hash == still.hash
    assert len({each.hash for each in (still, walking, faster)}) == 3
    assert still.movement.positions(0.0) == walking.movement.positions(0.0) == faster.movement.positions(0.0)
    assert still.movement.positions(30.0) == still.movement.positions(0.0)
    assert walking.movement.positions(30.0) != walking.movement.positions(0.0)
    # Ten seconds at 1 m/s lead no farther than 10 m.
    steps = zip(walking.movement.positions(10.0), walking.movement.positions(20.0), strict=True)
    assert all(math.dist(*step) <= 10.0 + 1e-6 for step in steps)


def test_the_smallest_network_of_four_flows_has_seven_nodes() -> None:
    # Claim O-21: one source, four sinks, two forwarders.
    flows = [{**FLOW, "dst": sink} for sink in range(1, 5)]
    made = Scenario.build(
        {
            "movement": {"areas": {"sources": 1, "sinks": 4, "forwarders": 2}},
            "traffic": {"flows": flows},
            "duration_s": 1.0,
        }
    ).resolve()
    assert made.movement.nodes == 7
    assert {tuple(flow.path or ()) for flow in at_instant(made).flows} == {
        (0, 5, 6, sink) for sink in range(1, 5)
    }


def test_unfairness_of_a_run_compares_with_fair_rates() -> None:
    found = at_instant(in_areas().changed(mac={"rts_threshold_bytes": 2347}).resolve())
    fair = [float(flow.rate_bps or 0.0) for flow in found.flows]
    assert found.unfairness(fair) == 0.0
    assert found.unfairness([fair[0], 0.0]) == pytest.approx(math.sqrt(0.5))
    assert found.unfairness([1.0, 2.0]) == unfairness([1.0, 2.0], fair)
    with pytest.raises(InputError, match="cannot be paired"):
        found.unfairness([1.0])
    without = at_instant(in_areas().changed(mac={"data_rate_bps": 3e5}).resolve())
    with pytest.raises(InputError, match="flow 0"):
        without.unfairness(fair)


def test_the_command_compares_a_run_with_fair_rates(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(
        'duration_s = 20.0\nprofile = "ns-2.35"\nrouting = "static"\nmac = { rts_threshold_bytes = 2347 }\n'
        "[movement.areas]\nsources = 2\nsinks = 2\nforwarders = 2\n[traffic]\nflows = [\n"
        '{ kind = "tcp", src = 0, dst = 2, start_s = 0.0, segment_bytes = 600 },\n'
        '{ kind = "tcp", src = 1, dst = 3, start_s = 0.0, segment_bytes = 600 },\n]\n'
    )
    done = cli("shares", path, "--run", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    resolved = Scenario.load(path).resolve()
    actual = [flow["throughput_bps"] for flow in run(resolved).flows]
    assert [flow["actual_bps"] for flow in shown["flows"]] == actual
    assert shown["unfairness"] == pytest.approx(at_instant(resolved).unfairness(actual))
    text = cli("shares", path, "--run").stdout
    assert f"{actual[0] / 1e3:.1f}" in text and f"Unfairness: {shown['unfairness']:.3f}" in text
