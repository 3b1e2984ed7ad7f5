"""Max-min fair shares: the paper's example, others by hand, linear programming on random graphs."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from manetlab import InputError, Scenario, alone, alone_runs, chain_runs, parameters, run
from manetlab.chain_throughput import Key, ThroughputRow, ThroughputTable, packaged, read
from manetlab.shares import (
    _within,
    _within_plainly,
    at_instant,
    max_min,
    mean_rates,
    rates_over_time,
    regions,
    varies,
)
from tests.conftest import Cli

ROW = [(200.0 * place, 0.0) for place in range(8)]


def shares(**flows_of: str) -> dict[str, Fraction]:
    """The shares of flows with names of one letter."""
    return max_min({name: list(flows) for name, flows in flows_of.items()}).shares


def test_the_papers_example() -> None:
    # Osipov and Tschudin 2006, Fig. 2: four flows share α; one of them shares β with E and F.
    for common in "ABCD":
        found = max_min({"alpha": list("ABCD"), "beta": [common, "E", "F"]})
        assert found.shares == {
            **dict.fromkeys("ABCD", Fraction(1, 4)),
            **dict.fromkeys("EF", Fraction(3, 8)),
        }
        assert found.bottlenecks == {**dict.fromkeys("ABCD", "alpha"), **dict.fromkeys("EF", "beta")}


def test_regions_are_the_same_without_numpy() -> None:
    drawn = random.Random(3)
    places = [(drawn.uniform(0, 900), drawn.uniform(0, 900)) for _ in range(60)]
    of_flows = [drawn.sample(range(60), length) for length in (2, 3, 5, 9)]
    # Exactly at the range counts.
    places[:2], of_flows[0] = [(0.0, 0.0), (150.0, 200.0)], [0, 2]
    found = _within(places, of_flows, 250.0)
    plainly = _within_plainly(places, of_flows, 250.0)
    assert [[bool(each) for each in of_flow] for of_flow in found] == plainly
    assert plainly[0][1] and any(not each for of_flow in plainly for each in of_flow)


def test_a_long_flow_across_regions_of_different_load() -> None:
    # The parking lot: L crosses all; its bottleneck is the region of three.
    assert shares(a="LA", b="LBC", c="LD") == {
        "L": Fraction(1, 3),
        "A": Fraction(2, 3),
        "B": Fraction(1, 3),
        "C": Fraction(1, 3),
        "D": Fraction(2, 3),
    }


def test_regions_that_follow_from_each_other() -> None:
    # Three levels: 1/4, then (1 − 1/4)/2 = 3/8, then 1 − 3/8.
    assert shares(a="ABCD", b="DEF", c="FG") == {
        **dict.fromkeys("ABCD", Fraction(1, 4)),
        **dict.fromkeys("EF", Fraction(3, 8)),
        "G": Fraction(5, 8),
    }


def test_a_ring_of_regions_and_a_flow_apart() -> None:
    # Each flow of the ring is in two regions of three flows; Z has a region for itself.
    assert shares(a="ABX", b="BCX", c="CAX", d="Z") == {**dict.fromkeys("ABXC", Fraction(1, 3)), "Z": 1}


def test_a_flow_counts_once_in_a_region() -> None:
    assert max_min({"a": ["A", "A", "B"]}).shares == {"A": Fraction(1, 2), "B": Fraction(1, 2)}
    assert max_min({"empty": []}).shares == {}


def test_flows_that_are_no_collection_are_refused() -> None:
    with pytest.raises(InputError, match="region alpha"):
        max_min({"alpha": "AB"})


def lexicographic(members: list[set[int]], flows: int) -> np.ndarray:
    """Max-min fair shares by repeated linear programming, without any idea of filling.

    Maximises the smallest share that is not final; a flow is final if its share alone cannot be above that.
    """
    rows = np.array([[flow in member for flow in range(flows)] for member in members], dtype=float)
    final: dict[int, float] = {}
    while len(final) < flows:
        rest = [flow for flow in range(flows) if flow not in final]
        # Variables: every share, and the smallest of those that are not final.
        least = np.zeros((len(rest), flows + 1))
        for place, flow in enumerate(rest):
            least[place, flow], least[place, flows] = -1.0, 1.0
        limits = np.vstack([np.hstack([rows, np.zeros((len(rows), 1))]), least])
        bounds = [(final.get(flow, 0.0), final.get(flow, 1.0)) for flow in range(flows)]
        right = [1.0] * len(rows) + [0.0] * len(rest)
        cost = np.zeros(flows + 1)
        cost[flows] = -1.0
        level = solved(cost, limits, right, [*bounds, (0.0, 1.0)])
        floors = [(final.get(flow, level), final.get(flow, 1.0)) for flow in range(flows)]
        for flow in rest:
            alone = np.zeros(flows)
            alone[flow] = -1.0
            if solved(alone, rows, [1.0] * len(rows), floors) <= level + 1e-7:
                final[flow] = level
    return np.array([final[flow] for flow in range(flows)])


def solved(
    cost: np.ndarray, limits: np.ndarray, right: list[float], bounds: list[tuple[float, float]]
) -> float:
    # Bounds that have been found by the solver itself are true to its precision only.
    right = [each + 1e-12 for each in right]
    found = linprog(cost, A_ub=limits, b_ub=right, bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return -float(found.fun)


def random_regions(draw: random.Random) -> tuple[list[set[int]], int]:
    """Regions of random flows, every flow in one at least."""
    flows = draw.randint(1, 8)
    members = [
        {flow for flow in range(flows) if draw.random() < draw.choice((0.2, 0.5, 0.8))}
        for _ in range(draw.randint(1, 8))
    ]
    for flow in range(flows):
        if not any(flow in member for member in members):
            draw.choice(members).add(flow)
    return members, flows


@pytest.mark.parametrize("part", range(10))
def test_filling_finds_what_linear_programming_finds_on_1000_random_graphs(part: int) -> None:
    draw = random.Random(part)
    for _ in range(100):
        members, flows = random_regions(draw)
        found = max_min(dict(enumerate(members))).shares
        wanted = lexicographic(members, flows)
        assert [float(found[flow]) for flow in range(flows)] == pytest.approx(wanted, abs=1e-9)


@given(st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=1, max_size=12))
def test_every_flow_has_a_full_region_in_which_no_flow_has_more(members: list[set[int]]) -> None:
    # The condition of max-min fairness (Bertsekas and Gallager 1992, section 6.5.2), exactly.
    found = max_min(dict(enumerate(members)))
    assert all(sum(found.shares[flow] for flow in flows) <= 1 for flows in members)
    for flow, share in found.shares.items():
        bottleneck = members[found.bottlenecks[flow]]
        assert flow in bottleneck
        assert sum(found.shares[other] for other in bottleneck) == 1
        assert share == max(found.shares[other] for other in bottleneck)


def test_a_region_is_around_every_node_of_a_path_and_holds_who_can_be_heard() -> None:
    # Eight nodes, 200 m apart, 250 m of range: each node hears its two neighbours.
    found = regions(ROW, {"left": [0, 1], "right": [6, 5, 4]}, 250.0)
    assert found == {0: ("left",), 1: ("left",), 4: ("right",), 5: ("right",), 6: ("right",)}
    found = regions(ROW, {"left": [0, 1, 2], "right": [5, 4, 3]}, 250.0)
    both = ("left", "right")
    assert found == {0: ("left",), 1: ("left",), 2: both, 3: both, 4: ("right",), 5: ("right",)}


def test_two_flows_that_do_not_hear_each_other_meet_in_the_region_between_them() -> None:
    # Fig. 2: A and D know of each other by B, between them.
    found = regions(ROW, {"A": [0, 1], "B": [2, 3], "D": [4, 5]}, 250.0)
    assert found[2] == ("A", "B") and found[3] == ("B", "D")
    assert regions(ROW, {"A": [0, 1], "B": [2], "D": [3, 4]} | {"B": [2, 7]}, 250.0)[2] == ("A", "B", "D")


def test_the_range_is_included() -> None:
    places = [(0.0, 0.0), (100.0, 0.0), (350.0, 0.0), (450.0, 0.0)]
    assert regions(places, {"A": [0, 1], "B": [2, 3]}, 250.0)[1] == ("A", "B")
    assert regions(places, {"A": [0, 1], "B": [2, 3]}, 249.999)[1] == ("A",)
    assert regions(places, {}, 250.0) == {}


@pytest.mark.parametrize("path", [[0], [0, 8], [0, -1], [0, 1, 0], []])
def test_what_is_no_path_is_refused(path: list[int]) -> None:
    with pytest.raises(InputError, match="flow A"):
        regions(ROW, {"A": path}, 250.0)


def scenario(flows: list[dict[str, Any]], **fields: Any) -> Scenario:
    """Flows in a row of eight nodes, 200 m apart."""
    tcp = [{"kind": "tcp", "start_s": 0.0, "segment_bytes": 600, **flow} for flow in flows]
    places = {"movement": {"positions": [list(place) for place in ROW]}, "traffic": {"flows": tcp}}
    return Scenario.build({**places, "duration_s": 100.0, "profile": "ns-2.35", **fields})


def table(tmp_path: Path) -> ThroughputTable:
    rows = (
        '[[row]]\nprofile = "ns-2.35"\nrts = true\ndata_rate_bps = 2e6\nsegment_bytes = 600\n'
        "throughput_bps = [900e3, 450e3, 300e3]\nhalf_width_95_bps = [0, 0, 0]\n"
    )
    path = tmp_path / "table.toml"
    path.write_text(rows)
    return read(path)


def test_a_flows_rate_is_its_share_of_what_it_would_carry_alone(tmp_path: Path) -> None:
    made = scenario([{"src": 0, "dst": 2}, {"src": 3, "dst": 4}, {"src": 5, "dst": 6}]).resolve()
    found = at_instant(made, table=table(tmp_path))
    assert (found.time_s, found.range_m) == (0.0, pytest.approx(250.0, abs=0.1))
    # Region 2 has the first two, region 4 the last two; no region has all three.
    assert [flow.path for flow in found.flows] == [[0, 1, 2], [3, 4], [5, 6]]
    assert [flow.share for flow in found.flows] == [Fraction(1, 2)] * 3
    assert [flow.rate_bps for flow in found.flows] == [225e3, 450e3, 450e3]
    assert [flow.regions for flow in found.flows] == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6]]
    assert all(flow.bottleneck in flow.regions for flow in found.flows)


def test_paths_are_those_of_static_routes() -> None:
    # Two ways of two hops: static routes take the smaller number.
    places = [[0.0, 0.0], [200.0, 0.0], [0.0, 200.0], [200.0, 200.0]]
    made = scenario([{"src": 0, "dst": 3}], movement={"positions": places}, routing="static")
    assert at_instant(made.resolve()).flows[0].path == [0, 1, 3]


def test_paths_can_be_given() -> None:
    made = scenario([{"src": 0, "dst": 2}, {"src": 4, "dst": 5}]).resolve()
    assert at_instant(made, range_m=10.0).flows[0].share == 1
    found = at_instant(made, paths={0: [0, 4, 2]}, range_m=10.0)
    assert [flow.path for flow in found.flows] == [[0, 4, 2], None]
    for paths, what in (
        ({0: [0, 1]}, "flow's path"),
        ({0: []}, "flow's path"),
        ({2: [0, 2]}, "no such flow"),
    ):
        with pytest.raises(InputError, match=what):
            at_instant(made, paths=paths)


def test_only_active_flows_share() -> None:
    made = scenario(
        [{"src": 0, "dst": 1}, {"src": 1, "dst": 2, "start_s": 30.0}, {"src": 2, "dst": 3, "stop_s": 50.0}],
        warmup_s=20.0,
    ).resolve()
    # Of itself the first instant in the measurement in which all have begun.
    assert at_instant(made).time_s == 30.0
    shares_at = {time_s: [flow.share for flow in at_instant(made, time_s).flows] for time_s in (0, 30, 50)}
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert shares_at == {0: [half, None, half], 30: [third] * 3, 50: [half, half, None]}


def test_what_has_no_path_or_no_row_has_no_rate(tmp_path: Path) -> None:
    flows = [{"src": 0, "dst": 8}, {"src": 0, "dst": 1, "segment_bytes": 700}]
    places = [*map(list, ROW), [9000.0, 0.0]]
    made = scenario(flows, movement={"positions": places}).resolve()
    apart, odd = at_instant(made, table=table(tmp_path)).flows
    assert (apart.share, apart.rate_bps, apart.hops) == (None, None, None) and "no path" in apart.note
    assert (odd.share, odd.rate_bps) == (1, None) and "segments of 700 bytes" in odd.note


@pytest.mark.parametrize(
    "given", [{"time_s": 101.0}, {"time_s": -1.0}, {"range_m": 0.0}, {"range_m": math.nan}]
)
def test_an_instant_and_a_radius_that_cannot_be_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError, match="shares"):
        at_instant(scenario([{"src": 0, "dst": 1}]).resolve(), **given)


def test_the_command_shows_what_python_finds(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(
        'duration_s = 10.0\nprofile = "ns-2.35"\nmac = { rts_threshold_bytes = 2347 }\n'
        "[movement.chain]\nnodes = 8\n[traffic]\nflows = [\n"
        '{ kind = "tcp", src = 0, dst = 2, start_s = 0.0, segment_bytes = 600 },\n'
        '{ kind = "tcp", src = 3, dst = 5, start_s = 0.0, segment_bytes = 601 },\n]\n'
    )
    done = cli("shares", path, "--json")
    assert done.returncode == 0, done.stderr
    found = at_instant(Scenario.load(path).resolve())
    assert json.loads(done.stdout) == found.to_dict()
    assert found.flows[0].rate_bps == pytest.approx(packaged().bps(packaged_key(600), 2) / 2)
    text = cli("shares", path, "--at", 5, "--range", 260).stdout
    assert "0 → 1 → 2" in text and "1/2" in text and f"{found.flows[0].rate_bps / 1e3:.1f}" in text
    assert "Flow 1: the table has no row" in text and "260.0 m" in text
    assert cli("shares", path, "--at", 11).returncode == 2


@pytest.mark.parametrize(
    "flow",
    [
        {"kind": "tcp", "segment_bytes": 600},
        {"kind": "cbr", "bytes": 600, "interval_s": 0.1},
        {"kind": "cbr", "bytes": 900, "interval_s": 0.1},
        {"kind": "poisson", "bytes": 600, "interval_s": 0.1},
        {"kind": "video"},
        {"kind": "video", "transport": "rtp-udp"},
        {"kind": "video", "transport": "tcp"},
        {"kind": "video", "transport": "adp"},
        {"kind": "trace", "packets": [[0.0, 100], [1.0, 2000]]},
        {"kind": "adp"},
        {"kind": "tcp", "segment_bytes": 1234, "alone_bps": [9e5, 8e5]},
    ],
    ids=lambda flow: " ".join(str(each) for each in flow.values()),
)
def test_shares_and_oracle_have_the_same_rate_for_every_kind_of_flow(flow: dict[str, Any]) -> None:
    fields = {"mac": {"rts_threshold_bytes": 2347, "data_rate_bps": 2e6}, "profile": "rfc"}
    base = scenario([{"src": 0, "dst": 2}], **fields)
    made = base.changed(traffic={"flows": [{"src": 0, "dst": 2, "start_s": 0.0, **flow}]}).resolve()
    times = (made.scenario.duration_s, 1.0)
    [oracle] = rates_over_time(made.movement, made.flows, made.params, [], "rfc", *times)
    [share] = at_instant(made).flows
    assert share.note == ""
    assert oracle == [(0.0, share.rate_bps)]


def test_a_flow_of_mixed_packets_that_no_two_rows_speak_of_has_no_rate(tmp_path: Path) -> None:
    video = {"kind": "video", "src": 0, "dst": 2, "start_s": 0.0}
    made = scenario([]).changed(traffic={"flows": [video]}).resolve()
    known = table(tmp_path)
    [share] = at_instant(made, table=known).flows
    assert (share.share, share.rate_bps) == (1, None)
    assert "different sizes" in share.note
    times = (made.scenario.duration_s, 1.0)
    assert rates_over_time(made.movement, made.flows, made.params, [], "ns-2.35", *times, table=known) == [
        None
    ]
    with pytest.raises(InputError, match="flow 0"):
        mean_rates(made, table=known)


def kinds(*traffic: tuple[str, int, float], profile: str = "ns-2.35") -> ThroughputTable:
    """A table with these kinds, sizes and throughputs over one hop, in bit/s."""
    return ThroughputTable(
        {
            Key(profile, True, 2e6, size, kind): ThroughputRow((bps,), (0.0,), {})
            for kind, size, bps in traffic
        },
        "",
    )


def test_datagrams_have_rows_of_their_own() -> None:
    flows = [
        {"kind": "tcp", "segment_bytes": 600},
        {"kind": "cbr", "bytes": 600, "interval_s": 0.1},
        {"kind": "cbr", "bytes": 1000, "interval_s": 0.1},
        {"kind": "video"},
    ]
    listed = [{"src": 0, "dst": 1, "start_s": 0.0, **flow} for flow in flows]
    made = scenario([]).changed(traffic={"flows": listed}).resolve()

    def alone(known: ThroughputTable) -> list[float | None]:
        return [each.alone_bps for each in at_instant(made, table=known).flows]

    tcp, cbr = ("tcp", 600, 9e5), ("cbr", 600, 12e5)
    assert alone(kinds(tcp)) == [9e5, 9e5, None, None]
    assert alone(kinds(tcp, cbr)) == [9e5, 12e5, None, None]
    # A packet of 1400 bytes takes twice as long as one of 600, and one of 1000 bytes half as much longer.
    both = ("cbr", 1400, 8 * 1400 / (2 * 8 * 600 / 12e5))
    found = alone(kinds(tcp, cbr, both))
    assert found[:3] == [9e5, 12e5, pytest.approx(8 * 1000 / (1.5 * 8 * 600 / 12e5))]
    mean_bytes = 8 * 1211.1
    assert found[3] == pytest.approx(mean_bytes / ((1 + (1211.1 - 600) / 800) * 8 * 600 / 12e5), rel=1e-4)
    assert alone(kinds(tcp, cbr, both, ("video", 1211, 15e5)))[3] == 15e5


def packaged_key(segment_bytes: int) -> Key:
    """What is nearest to the paper's settings."""
    return Key("ns-2.35", False, 2e6, segment_bytes)


def test_the_packaged_table_says_what_chains_carry_now() -> None:
    # Whoever changes what a lone flow carries measures the table again, by the command in docs/shares.md.
    for hops in (1, 4):
        row = packaged().rows[packaged_key(600)]
        made = row.made_with
        assert len(str(made["commit"])) == 40
        base = {"profile": "ns-2.35", **made["changes"]}
        chains = [chain_runs.chain(base, hops, 600, made["spacing_m"]).changed(seed=seed) for seed in (1, 2)]
        mean = sum(run(each).totals["tcp_throughput_bps"] for each in chains) / 2
        assert mean == pytest.approx(row.over(hops), abs=5 * row.half_width_95_bps[hops - 1])


@pytest.mark.parametrize("key", [each for each in packaged().rows if each.traffic != "tcp"], ids=str)
def test_the_packaged_table_says_what_chains_carry_of_cbr_and_video_now(key: Key) -> None:
    # Five times the half width, as for TCP; below it 1 % may be lost, above it more is.
    row = packaged().rows[key]
    assert len(str(row.made_with["commit"])) == 40
    base = {"profile": key.profile, **row.made_with["changes"]}
    for hops in (1, 3):
        slack_bps = 5 * row.half_width_95_bps[hops - 1] + 0.01 * row.over(hops)
        arrived = []
        for rate_bps in (row.over(hops) - slack_bps, row.over(hops) + slack_bps):
            made = chain_runs.datagrams(base, hops, key.traffic, rate_bps, key.segment_bytes)
            [flow] = run(made.changed(seed=1)).flows
            arrived.append(flow["delivery_fraction" if key.traffic == "cbr" else "packet_delivery_fraction"])
        assert arrived[0] >= 0.99 > arrived[1]


def lone(hops: int = 1, **fields: Any) -> Scenario:
    """One NewReno flow over a chain, in a network of which the packaged table speaks."""
    flow = {"kind": "tcp", "src": 0, "dst": hops, "start_s": 0.0, "segment_bytes": 600}
    base = {
        "movement": {"chain": {"nodes": hops + 1, "spacing_m": 130.0}},
        "traffic": {"flows": [flow]},
        "duration_s": 30.0,
        "profile": "ns-2.35",
        "routing": "static",
        "mac": {"rts_threshold_bytes": 2347, "data_rate_bps": 11e6},
        "tcp": {"sender": "newreno"},
    }
    return Scenario.build(base).changed(**fields)


@pytest.mark.parametrize("rate_bps", [1e6, 2e6, 5.5e6])
def test_the_rate_of_a_flows_links_decides_what_it_carries_alone(rate_bps: float) -> None:
    made = lone(rates=[{"src": 0, "rate_bps": rate_bps}, {"src": 1, "dst": 0, "rate_bps": rate_bps}])
    row = packaged().bps(Key("ns-2.35", False, rate_bps, 600), 1)
    assert at_instant(made.resolve()).flows[0].alone_bps == row
    [oracle] = made.changed(throttle={"mode": "oracle"}).resolve().flows
    assert [tuple(each) for each in oracle["throttle_bps"]] == [(0.0, row)]
    [density] = made.changed(throttle={"mode": "density"}).resolve().flows
    assert density["alone_bps"][0] == row


def test_links_of_different_rates_are_refused_unless_the_flow_says_what_it_carries() -> None:
    # The ACKs come back at 11 Mb/s.
    made = lone(rates=[{"src": 0, "rate_bps": 1e6}])
    assert "0 to 1: 1 Mb/s, 1 to 0: 11 Mb/s" in at_instant(made.resolve()).flows[0].note
    for mode in ("oracle", "density"):
        with pytest.raises(InputError, match="different rates") as caught:
            made.changed(throttle={"mode": mode}).resolve()
        assert "--measured" in caught.value.hint
        own = [{**made.traffic.flows[0], "alone_bps": [6.6e5]}]
        assert made.changed(throttle={"mode": mode}, traffic={"flows": own}).resolve()
    with pytest.raises(InputError, match="different rates"):
        mean_rates(made.resolve())
    # Datagrams have no answers on the air but the MAC's.
    cbr = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.0, "bytes": 600, "interval_s": 0.01}
    assert at_instant(made.changed(traffic={"flows": [cbr]}).resolve()).flows[0].alone_bps == packaged().bps(
        Key("ns-2.35", False, 1e6, 600), 1
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"mac": {"preamble": "short"}}, "mac.preamble is short, in the row long"),
        ({"mac": {"plcp_bits": 10000}}, "mac.plcp_bits is 10000"),
        ({"mac": {"cw_min": 7}}, "mac.cw_min is 7"),
        ({"mac": {"rate_control": "aarf"}}, "mac.rate_control is aarf"),
        ({"radio": {"bit_error_rate": 1e-4}}, "radio.bit_error_rate is 0.0001, in the row 0"),
        ({"radio": {"ranges": "ladder"}}, "radio.ranges is ladder"),
        ({"queue": {"packets": 2}}, "queue.packets is 2"),
        ({"tcp": {"window": 1}}, "tcp.window is 1"),
        ({"tcp": {"sender": "vegas"}}, "tcp."),
        ({"network": {"link_layer_delay_us": 1000.0}}, "network.link_layer_delay_us is 1000"),
        ({"mac": {"data_header_bytes": 30}}, "mac.data_header_bytes is 30"),
    ],
    ids=str,
)
def test_a_row_that_was_measured_with_other_parameters_is_refused(
    changes: dict[str, Any], named: str
) -> None:
    made = lone(**changes)
    assert named in at_instant(made.resolve()).flows[0].note
    for mode in ("oracle", "density"):
        with pytest.raises(InputError, match="other parameters") as caught:
            made.changed(throttle={"mode": mode}).resolve()
        assert named in caught.value.found and "chain-throughput" in caught.value.hint
    with pytest.raises(InputError, match="other parameters"):
        at_instant(made.resolve()).unfairness([1e5])


def test_what_changes_nothing_of_a_chain_is_no_difference() -> None:
    changes = {"tcp": {"allowed_pause_s": 3.0}, "aodv": {"ttl_start": 2}, "arp": {"max_requests": 5}}
    assert at_instant(lone(**changes).resolve()).flows[0].note == ""
    known = {f"{section}.{name}" for section, of in parameters.schema().items() for name in of}
    assert alone.IRRELEVANT.keys() <= known
    assert alone.IRRELEVANT_SECTIONS.keys() <= parameters.schema().keys()


IN_THE_KEY = ("mac.data_rate_bps", "mac.rts_threshold_bytes", "tcp.segment_bytes")


@pytest.mark.parametrize(
    "name", [each for each in alone.IRRELEVANT if "video" not in each and each not in IN_THE_KEY]
)
def test_parameters_that_do_not_count_change_nothing_of_a_lone_flow(name: str) -> None:
    section, key = name.split(".")
    usual = lone(2).resolve().params[section][key]
    parameter = parameters.schema()[section][key]
    if parameter.kind == "choice":
        other: Any = next(each for each in parameter.choices if each != usual)
    elif isinstance(usual, bool):
        other = not usual
    else:
        other = 2 * usual if usual else 1
    plain, changed = lone(2), lone(2).changed(**{section: {key: other}})
    window = {"warmup_s": 5.0}
    one, two = (run(each, **window).totals["tcp_throughput_bps"] for each in (plain, changed))
    assert two == pytest.approx(one, rel=0.005)


def test_a_row_holds_for_what_it_was_measured_with() -> None:
    key, row = chain_runs.measure({"profile": "rfc", "mac": {"preamble": "short"}}, 600, 1, 2)
    known = ThroughputTable({key: row}, "here")
    fields = {"profile": "rfc", "mac": {"preamble": "short"}}
    base = {**fields, "movement": {"chain": {"nodes": 2}}, "duration_s": 9.0, "tcp": {"sender": "newreno"}}
    flow = {"kind": "tcp", "src": 0, "dst": 1, "start_s": 0.0, "segment_bytes": 600}
    made = Scenario.build({**base, "traffic": {"flows": [flow]}})
    assert at_instant(made.resolve(), table=known).flows[0].alone_bps == row.throughput_bps[0]
    long = at_instant(made.changed(mac={"preamble": "long"}).resolve(), table=known).flows[0]
    assert "mac.preamble is long, in the row short" in long.note
    # A sender of one's own is measured beside it.
    reno, of_reno = chain_runs.measure({**fields, "tcp": {"sender": "reno"}}, 600, 1, 2)
    assert reno.sender == "reno" and key.sender == "newreno"
    both = ThroughputTable({key: row, reno: of_reno}, "here")
    for sender, wanted in (("newreno", row), ("reno", of_reno)):
        [share] = at_instant(made.changed(tcp={"sender": sender}).resolve(), table=both).flows
        assert share.alone_bps == wanted.throughput_bps[0]


def test_what_a_flow_carries_in_its_own_network_can_be_measured(cli: Cli, tmp_path: Path) -> None:
    made = lone(rates=[{"src": 0, "rate_bps": 1e6}], mac={"rts_threshold_bytes": 2347, "data_rate_bps": 11e6})
    path = tmp_path / "lone.toml"
    import tomli_w

    path.write_text(tomli_w.dumps(made.to_dict()))
    refused = cli("shares", path)
    assert refused.returncode == 2 and "--measured" in refused.stderr
    done = cli("shares", path, "--measured", "--run", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["unfairness"] < 0.01
    assert 6.1e5 < shown["flows"][0]["alone_bps"] < 7.2e5


def test_a_moving_network_is_judged_by_means_over_time(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "moving.toml").write_text(
        'duration_s = 60.0\nwarmup_s = 10.0\nprofile = "ns-2.27"\nrouting = "aodv"\n'
        "[movement.waypoint]\nnodes = 15\nwidth_m = 700.0\nheight_m = 300.0\n"
        "speed_min = 5.0\nspeed_max = 15.0\n"
        "[mac]\nrts_threshold_bytes = 2347\n[tcp]\nsender = 'newreno'\n[traffic]\nflows = [\n"
        '{ kind = "tcp", src = 0, dst = 1, start_s = 0.0, segment_bytes = 600 },\n'
        '{ kind = "tcp", src = 2, dst = 3, start_s = 0.0, stop_s = 40.0, segment_bytes = 600 },\n]\n'
    )
    done = cli("shares", "moving.toml", "--run", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    resolved = Scenario.load(tmp_path / "moving.toml").resolve()
    fair = mean_rates(resolved)
    actual = [flow["actual_bps"] for flow in shown["flows"]]
    assert [flow["mean_rate_bps"] for flow in shown["flows"]] == fair
    assert shown["unfairness"] == pytest.approx(math.dist(fair, actual) / math.hypot(*fair))


def test_a_flow_that_stops_has_no_rate_from_then_on() -> None:
    made = lone().changed(duration_s=40.0, warmup_s=10.0)
    [whole] = mean_rates(made.resolve())
    stopping = made.changed(traffic={"flows": [{**made.traffic.flows[0], "stop_s": 20.0}]}).resolve()
    assert mean_rates(stopping) == [pytest.approx(whole / 3)]
    assert varies(stopping) and not varies(made.resolve())


def test_a_network_with_wires_has_no_fair_shares() -> None:
    wires = [{"nodes": [0, 1], "rate_bps": 10e6, "delay_s": 0.001}]
    made = lone(2, wired=wires).resolve()
    for ask in (at_instant, mean_rates, alone_runs.measure):
        with pytest.raises(InputError, match="wired"):
            ask(made)


def test_a_network_whose_nodes_come_and_go_has_no_fair_shares() -> None:
    def fails(at_s: float) -> dict[str, Any]:
        return {"failures": [{"node": 1, "at_s": at_s, "for_s": 5.0}]}

    leaving = [
        {
            "label": str(node),
            "t_s": [0.0],
            "x_m": [130.0 * node],
            "y_m": [0.0],
            "present_s": [[0.0, 12.0 + 9.0 * node]],
        }
        for node in range(3)
    ]
    for gone in (fails(20.0), {"movement": {"tracks": leaving}}, {"energy": {"battery_j": 5.0}}):
        made = lone(2, **gone).resolve()
        for ask in (at_instant, mean_rates, alone_runs.measure):
            with pytest.raises(InputError, match="whose nodes come and go"):
                ask(made)
    # The run ends at 30 s.
    for there in (fails(40.0), {"energy": {}}):
        assert mean_rates(lone(2, **there).resolve()) == mean_rates(lone(2).resolve())
