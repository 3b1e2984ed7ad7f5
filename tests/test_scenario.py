"""Scenarios: from what a user writes to every value written out."""

import hashlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab import InputError, Scenario, _core, parameters, run, run_many
from manetlab.scenario_warnings import before_run
from tests.conftest import ROOT
from tests.examples import CBR_FLOW, TCP_FLOW, chain, mobile


def test_every_parameter_is_explicit() -> None:
    resolved = chain().resolve()
    named = {(section, name) for section, values in resolved.params.items() for name in values}
    assert named == {(s, name) for s, known in parameters.schema().items() for name in known}


def test_values_come_from_profile_then_sets_then_sender_then_the_scenario() -> None:
    plain = chain().resolve().params
    assert plain == parameters.profile("ns-2.35")
    changed = chain(
        routing="aodv:dyer-2002", tcp={"sender": "reno-f", "window": 8}, mac={"slot_us": 9}
    ).resolve()
    assert changed.params["aodv"]["active_route_timeout_s"] == 50
    assert (changed.params["tcp"]["rto_policy"], changed.params["tcp"]["window"]) == ("fixed", 8)
    assert changed.params["mac"] == {**plain["mac"], "slot_us": 9}


def test_the_hash_depends_on_content_and_not_on_paths(tmp_path: Path) -> None:
    resolved = mobile().resolve()
    (tmp_path / "a").write_text(resolved.movement.to_ns2())
    (tmp_path / "b").write_text("# the same\n" + resolved.movement.to_ns2())
    flows = {"flows": resolved.flows}
    hashes = {mobile(movement=str(tmp_path / name), traffic=flows).resolve().hash for name in "ab"}
    assert hashes == {resolved.hash}


@pytest.mark.parametrize(
    "change",
    [
        {"duration_s": 11.0},
        {"warmup_s": 1.0},
        {"seed": 2},
        {"replication": 1},
        {"routing": "static"},
        {"profile": "rfc"},
        {"mac": {"slot_us": 9}},
        {"movement": {"chain": {"nodes": 3, "spacing_m": 201.0}}},
        {"traffic": {"flows": [TCP_FLOW]}},
    ],
)
def test_the_hash_changes_with_everything(change: dict[str, object]) -> None:
    assert chain(**change).resolve().hash != chain().resolve().hash


def test_short_forms_are_the_long_ones(ns2: Path) -> None:
    short = chain(movement=str(ns2 / "chain2.tcl"), tcp="reno-f")
    long = chain(movement={"file": str(ns2 / "chain2.tcl")}, tcp={"sender": "reno-f"})
    assert short.resolve().hash == long.resolve().hash


def test_files_are_found_from_the_folder_of_the_toml(ns2: Path, tmp_path: Path) -> None:
    (tmp_path / "m.tcl").write_bytes((ns2 / "chain2.tcl").read_bytes())
    text = 'duration_s = 5\nmovement = "m.tcl"\ntraffic = { flows = [] }\n'
    (tmp_path / "scenario.toml").write_text(text)
    assert Scenario.load(tmp_path / "scenario.toml").resolve().movement.nodes == 3


@pytest.mark.parametrize("example", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_are_usable(example: Path) -> None:
    assert Scenario.load(example).resolve().flows


def test_placements() -> None:
    def positions(movement: object) -> list[tuple[float, float]]:
        return chain(movement=movement, traffic={"flows": []}).resolve().movement.positions(0.0)

    assert positions({"chain": {"nodes": 3, "spacing_m": 100.0}}) == [(0, 0), (100, 0), (200, 0)]
    assert positions({"grid": {"columns": 2, "rows": 2, "spacing_m": 5.0}}) == [
        (0, 0),
        (5, 0),
        (0, 5),
        (5, 5),
    ]
    assert positions({"positions": [[1.0, 2.0], [3.0, 4.0]]}) == [(1, 2), (3, 4)]


def test_random_traffic_has_distinct_tcp_ends_and_no_flow_to_itself() -> None:
    flows = mobile(traffic={"random": {"tcp": 10, "cbr": 200, "tcp_start_s": 1.0}}).resolve().flows
    ends = [node for flow in flows if flow["kind"] == "tcp" for node in (flow["src"], flow["dst"])]
    assert sorted(ends) == list(range(20))
    cbr = [flow for flow in flows if flow["kind"] == "cbr"]
    assert len(cbr) == 200
    assert all(flow["src"] != flow["dst"] for flow in cbr)
    assert {flow["dst"] for flow in cbr} == set(range(20))
    assert all(0 <= flow["start_s"] < 20 for flow in cbr)


def test_traffic_within_hops_goes_no_farther_and_everywhere_else() -> None:
    # Ten nodes in a line, 200 m apart: hops are differences of numbers.
    line = {"nodes": 10, "spacing_m": 200.0}
    for hops in (1, 3):
        random = {"cbr": 500, "cbr_within_hops": hops}
        flows = chain(movement={"chain": line}, traffic={"random": random}).resolve().flows
        drawn = {(flow["src"], flow["dst"]) for flow in flows}
        assert drawn == {(a, b) for a in range(10) for b in range(10) if 0 < abs(a - b) <= hops}


def test_traffic_within_hops_takes_the_range_from_the_radio_and_leaves_lone_nodes_out() -> None:
    places = [[0.0, 0.0], [200.0, 0.0], [300.0, 0.0], [900.0, 0.0]]
    fields = {"movement": {"positions": places}, "traffic": {"random": {"cbr": 50, "cbr_within_hops": 1}}}
    flows = chain(**fields).resolve().flows
    assert {(flow["src"], flow["dst"]) for flow in flows} == {(0, 1), (1, 0), (1, 2), (2, 1)}
    # A sixteenth of the power, received in proportion to d⁻⁴, reaches half as far: 125 m.
    weak = chain(**fields, radio={"transmit_power_w": 0.28183815 / 16}).resolve().flows
    assert {(flow["src"], flow["dst"]) for flow in weak} == {(1, 2), (2, 1)}
    with pytest.raises(InputError, match="no node has a neighbour"):
        chain(**fields, radio={"transmit_power_w": 1e-6}).resolve()
    with pytest.raises(InputError, match="cbr_within_hops"):
        chain(traffic={"random": {"cbr": 1, "cbr_within_hops": 0}})


def ends(scenario: Scenario) -> list[tuple[int, int]]:
    return [(flow["src"], flow["dst"]) for flow in scenario.resolve().flows]


def test_distinct_pairs_of_cbr_take_every_pair_once() -> None:
    every = 20 * 19
    random = {"cbr": every, "cbr_ends": "distinct-pairs"}
    pairs = ends(mobile(traffic={"random": random}))
    assert sorted(pairs) == [(src, dst) for src in range(20) for dst in range(20) if src != dst]
    with pytest.raises(InputError, match="no two CBR flows"):
        mobile(traffic={"random": {**random, "cbr": every + 1}}).resolve()


def test_flows_apart_share_no_node_and_stand_where_tcp_flows_would() -> None:
    both = ends(mobile(traffic={"random": {"tcp": 3, "cbr": 7, "cbr_ends": "apart"}}))
    assert sorted(node for pair in both for node in pair) == list(range(20))
    assert both == ends(mobile(traffic={"random": {"tcp": 10}}))
    assert both == ends(mobile(traffic={"random": {"cbr": 10, "cbr_ends": "apart"}}))
    with pytest.raises(InputError, match="at least 22 nodes"):
        mobile(traffic={"random": {"tcp": 4, "cbr": 7, "cbr_ends": "apart"}}).resolve()


def test_drawn_datagrams_are_late_at_the_age_that_the_pattern_gives() -> None:
    def ages(**random: object) -> list[tuple[str, object]]:
        flows = mobile(traffic={"random": random}).resolve().flows
        return [(flow["kind"], flow.get("late_after_s")) for flow in flows]

    assert ages(tcp=1, video=1, adp=1, cbr=1) == [
        ("tcp", None),
        ("adp", None),
        ("video", None),
        ("cbr", None),
    ]
    late = ages(tcp=1, video=1, adp=1, cbr=1, late_after_s=5)
    assert late == [("tcp", None), ("adp", 5.0), ("video", 5.0), ("cbr", 5.0)]
    assert ages(video=1, video_transport="tcp", late_after_s=5) == [("video", None)]


def test_video_and_adp_go_where_tcp_would() -> None:
    traffic = {"random": {"tcp": 1, "adp": 2, "video": 3, "video_transport": "adp", "cbr": 4}}
    flows = mobile(traffic=traffic, warmup_s=5.0).resolve().flows
    assert [flow["kind"] for flow in flows] == ["tcp", "adp", "adp", *["video"] * 3, *["cbr"] * 4]
    assert {flow["transport"] for flow in flows[3:6]} == {"adp"}
    assert flows[5]["start_s"] == flows[0]["start_s"]
    for kind in ("tcp", "adp", "video"):
        assert ends(mobile(traffic={"random": {kind: 6, "cbr": 4}})) == ends(mobile(traffic=traffic))
    assert len({node for pair in ends(mobile(traffic=traffic))[:6] for node in pair}) == 12


@pytest.mark.parametrize("duration_s", [1e-6, 3.0, 10.0])
def test_random_starts_keep_within_a_short_run(duration_s: float) -> None:
    random = {"cbr": 50, "tcp": 0}
    flows = mobile(traffic={"random": random}, duration_s=duration_s).resolve().flows
    assert all(0 <= flow["start_s"] < duration_s for flow in flows)
    longer = mobile(traffic={"random": random}, duration_s=50.0).resolve().flows
    assert 18 < max(flow["start_s"] for flow in longer) < 20


def test_starts_asked_for_after_the_end_are_refused() -> None:
    with pytest.raises(InputError, match="might start after the run"):
        mobile(traffic={"random": {"cbr": 1, "cbr_start_within_s": 20.5}}).resolve()


def test_a_seed_whose_draw_cannot_be_used_is_told_before_the_first_run() -> None:
    field = {"nodes": 2, "width_m": 500.0, "height_m": 500.0}
    random = {"cbr": 1, "cbr_start_within_s": 1.0}
    free = mobile(movement={"waypoint": field}, traffic={"random": random}, duration_s=1.0)
    bound = free.changed(traffic={"random": {**random, "cbr_within_hops": 1}})

    def distance(seed: int) -> float:
        return math.dist(*free.changed(seed=seed).resolve().movement.positions(0.0))

    near = next(seed for seed in range(100) if distance(seed) < 249)
    apart = next(seed for seed in range(100) if distance(seed) > 251)
    done: list[int] = []
    drawn = [bound.changed(seed=near), bound.changed(seed=apart)]
    with pytest.raises(InputError, match="no node has a neighbour"):
        run_many(drawn, jobs=1, progress=lambda at, _: done.append(at))
    assert not done


def test_runs_that_share_what_was_read_are_those_that_were_made_alone() -> None:
    seeds = [chain(seed=seed, replication=seed % 2) for seed in (3, 4, 5)]
    asked = [*seeds, chain(seed=3, profile="rfc"), *seeds[:1]]
    together = [result.provenance for result in run_many(asked, jobs=2)]
    alone = [run(scenario).provenance for scenario in asked]
    for key in ("scenario", "scenario_hash", "result_hash", "seed", "replication", "profile"):
        assert [each[key] for each in together] == [each[key] for each in alone]


def test_texts_and_hash_are_those_of_the_canonical_json_of_everything() -> None:
    resolved = mobile().resolve()

    def canonical(value: object) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    assert resolved.core_json() == canonical(resolved.core)
    assert resolved.hash == hashlib.sha256(canonical(resolved.to_dict()).encode()).hexdigest()


def test_what_cannot_be_used_is_told_before_the_first_run() -> None:
    done: list[int] = []
    with pytest.raises(InputError, match="no such profile"):
        run_many([chain(), chain(profile="ns-3")], jobs=1, progress=lambda index, _: done.append(index))
    assert done == []


def test_sections_are_joined_wherever_they_are_changed(tmp_path: Path) -> None:
    fields: dict[str, object] = {"mac": {"slot_us": 9}, "tcp": "reno-f"}
    more: dict[str, object] = {"mac": {"cw_min": 15}, "tcp": {"window": 8}}
    wanted = chain(mac={"slot_us": 9, "cw_min": 15}, tcp={"sender": "reno-f", "window": 8}).resolve().hash
    (tmp_path / "s.toml").write_text(
        'duration_s = 10\nprofile = "ns-2.35"\ntcp = "reno-f"\nmac = { slot_us = 9 }\n'
        "movement = { chain = { nodes = 3 } }\n[traffic]\nflows = [\n"
        '  { kind = "tcp", src = 0, dst = 2, start_s = 1 },\n'
        '  { kind = "cbr", src = 2, dst = 0, start_s = 0.5, bytes = 512, interval_s = 0.1 },\n]\n'
    )
    assert chain(**fields).changed(**more).resolve().hash == wanted
    assert Scenario.load(tmp_path / "s.toml", more).resolve().hash == wanted
    assert run(chain(**fields), **more).provenance["scenario_hash"] == wanted
    assert run(tmp_path / "s.toml", **more).provenance["scenario_hash"] == wanted


@pytest.mark.parametrize(
    "call",
    [
        lambda: run(3),  # type: ignore[arg-type]
        lambda: run(chain().resolve(), seed=99),
        lambda: run_many([chain()], jobs=-1),
        lambda: run_many([chain()], jobs=0),
        lambda: run_many([3]),  # type: ignore[list-item]
        lambda: Scenario.build(None),  # type: ignore[arg-type]
        lambda: chain(mac={"slot_us": 10**400}).resolve(),
        lambda: chain(mac={"cw_min": 10**5000}).resolve(),
        lambda: chain(duration_s=10**5000),
    ],
)
def test_misuse_is_a_clear_error(call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert all((caught.value.what, caught.value.where, caught.value.found, caught.value.wanted))


def test_values_of_numpy_are_taken() -> None:
    class Array:
        """As much of a NumPy array as is looked at; NumPy is not needed to use manetlab."""

        dtype = "float64"

        def __init__(self, value: object) -> None:
            self.value = value

        def tolist(self) -> object:
            return self.value

    places = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]]
    asked = chain(seed=Array(3), movement={"positions": Array(places)})
    assert asked.resolve().hash == chain(seed=3, movement={"positions": places}).resolve().hash


def test_too_many_tcp_flows_for_the_nodes() -> None:
    with pytest.raises(InputError, match="too few nodes"):
        chain(traffic={"random": {"tcp": 2}}).resolve()


def test_tcp_of_a_given_length_cannot_be_written_for_ns2() -> None:
    with pytest.raises(InputError, match="how long a TCP transfer is"):
        _core.write_traffic('[{"kind": "tcp", "src": 0, "dst": 1, "start_s": 0, "bytes": 1000}]')


def test_a_transfer_of_a_given_length_ends() -> None:
    flow = run(chain(traffic={"flows": [{**TCP_FLOW, "bytes": 20_000}]})).flows[0]
    assert flow["delivered_bytes"] == 20_000
    assert flow["completed_s"] is not None


times = st.integers(0, 9_000_000).map(lambda micros: micros / 1e6)


@given(st.lists(st.tuples(st.sampled_from(["tcp", "cbr"]), times, st.integers(1, 65_000)), max_size=8))
def test_flows_survive_ns2s_files(drawn: list[tuple[str, float, int]]) -> None:
    flows = [
        {**TCP_FLOW, "start_s": start} if kind == "tcp" else {**CBR_FLOW, "start_s": start, "bytes": size}
        for kind, start, size in drawn
    ]
    asked = chain(traffic={"flows": flows}).resolve()
    text = _core.write_traffic(json.dumps(asked.flows))
    assert json.loads(_core.read_traffic(text.encode(), "t")) == asked.flows


@given(rate=st.floats(1.0, 1e9))
def test_an_interval_survives_ns2s_files_to_the_last_bit(rate: float) -> None:
    lines = (
        "set udp_(0) [$ns_ create-connection UDP $node_(0) Null $node_(1) 0]",
        "set cbr_(0) [new Application/Traffic/CBR]",
        "$cbr_(0) set packetSize_ 512",
        f"$cbr_(0) set rate_ {rate!r}",
        "$cbr_(0) attach-agent $udp_(0)",
        '$ns_ at 1.0 "$cbr_(0) start"',
    )
    flows = _core.read_traffic("\n".join(lines).encode(), "t")
    assert json.loads(flows)[0]["interval_s"] == 512 * 8 / rate
    assert _core.read_traffic(_core.write_traffic(flows).encode(), "t") == flows


@given(
    nodes=st.integers(1, 12),
    boundary=st.sampled_from(["classic", "wrap", "bounce"]),
    start=st.sampled_from(["stationary", "uniform"]),
    pause=st.sampled_from([0.0, 3.7]),
    seed=st.integers(0, 2**64 - 1),
)
def test_movement_survives_ns2s_files(nodes: int, boundary: str, start: str, pause: float, seed: int) -> None:
    waypoint = {"nodes": nodes, "boundary": boundary, "start": start, "pause_s": pause}
    made = chain(movement={"waypoint": waypoint}, traffic={"flows": []}, seed=seed).resolve().movement
    again = _core.Movement.read(made.to_ns2().encode(), "m")
    assert again.digest == made.digest
    assert all(again.positions(t) == made.positions(t) for t in (0.0, 1.23, 9.9))


def test_nodes_and_links_may_have_rates_of_their_own() -> None:
    plain = chain()
    rates = [{"src": 0, "rate_bps": 11e6}, {"src": 1, "dst": 2, "rate_bps": 5.5e6}]
    resolved = plain.changed(rates=rates).resolve()
    assert resolved.core["rates"] == rates
    assert resolved.hash != plain.resolve().hash
    # What a scenario does not use leaves its hash as it was.
    assert "rates" not in plain.resolve().to_dict()


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([{"src": 9, "rate_bps": 1e6}], "rates[0].src"),
        ([{"src": 0, "rate_bps": 6e6}], "1e6, 2e6, 5.5e6 or 11e6 bit/s"),
        ([{"src": 0, "rate_bps": 54e6}], "1e6, 2e6, 5.5e6 or 11e6 bit/s"),
        ([{"src": 0, "rate_bps": 60e6}], "from 1000000 to 54000000"),
        ([{"src": 0}], "rates[0].rate_bps"),
        ([{"src": 0, "rate": 1e6}], "rates[0].rate"),
    ],
)
def test_rates_that_cannot_be_used_are_told(rates: list[dict[str, float]], told: str) -> None:
    with pytest.raises(InputError) as error:
        chain().changed(rates=rates).resolve()
    assert told in str(error.value)


WIRE = {"nodes": [0, 2], "rate_bps": 1e7, "delay_s": 0.001}


def test_two_nodes_may_have_a_wired_link() -> None:
    plain = chain(routing="static")
    resolved = plain.changed(wired=[WIRE]).resolve()
    assert resolved.core["wired"] == [{**WIRE, "queue_packets": 50}]
    assert resolved.hash != plain.resolve().hash
    # What a scenario does not use leaves its hash as it was.
    assert "wired" not in plain.resolve().to_dict()
    # Of partitions of the radio nothing is said: the wire may join them.
    apart = chain(routing="static", movement={"positions": [[0, 0], [5000, 0], [9000, 0]]})
    assert before_run(apart.resolve())
    assert not before_run(apart.changed(wired=[WIRE]).resolve())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"wired": [{**WIRE, "nodes": [0, 9]}]}, "wired[0].nodes[1]"),
        ({"wired": [{**WIRE, "nodes": [0]}]}, "two nodes"),
        ({"wired": [{**WIRE, "nodes": [0, 1, 2]}]}, "two nodes"),
        ({"wired": [{**WIRE, "rate_bps": 0}]}, "wired[0].rate_bps"),
        ({"wired": [{**WIRE, "length_m": 5}]}, "wired[0].length_m"),
        ({"wired": [{"nodes": [0, 1], "rate_bps": 1e6}]}, "wired[0].delay_s"),
        ({"wired": [WIRE], "routing": "aodv"}, "learn of neighbours by what they hear over the radio"),
        ({"wired": [WIRE], "network": {"measure_path_hops": True}}, "network.measure_path_hops"),
    ],
)
def test_wired_links_that_cannot_be_used_are_told(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        chain(**{"routing": "static", **changes}).resolve()
