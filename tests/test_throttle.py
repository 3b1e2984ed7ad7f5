"""Ingress throttling: exact spacing in whole runs, who is throttled, and the oracle's rates."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from manetlab import InputError, Scenario, run
from manetlab.running import Result
from manetlab.shares import at_instant, rates_over_time
from tests.conftest import Cli

PAPER = {"profile": "ns-2.35", "mac": {"rts_threshold_bytes": 2347}, "tcp": {"sender": "newreno"}}
RATE_BPS = 48e3


def scenario(flows: list[dict[str, Any]], nodes: int = 4, **fields: Any) -> Scenario:
    """Flows of segments of 600 bytes in a chain."""
    tcp = [{"kind": "tcp", "start_s": 0.0, "segment_bytes": 600, **flow} for flow in flows]
    tcp = [{key: each for key, each in flow.items() if each is not None} for flow in tcp]
    base = {"movement": {"chain": {"nodes": nodes}}, "traffic": {"flows": tcp}, "duration_s": 30.0}
    return Scenario.build({**base, **PAPER, "routing": "static", **fields})


def preset(rate_bps: float = RATE_BPS) -> dict[str, Any]:
    return {"mode": "preset", "rate_bps": rate_bps}


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in str(result.recording).splitlines()[1:]]


def departures(result: Result, node: int) -> list[float]:
    """When each segment with data that a node itself made went to the link layer first."""
    listed = lines(result)
    made = {line["uid"] for line in listed if line["event"] == "made" and line["node"] == node}
    left: dict[int, float] = {}
    for line in listed:
        is_own = line["event"] == "sent" and line["node"] == node and line["uid"] in made
        # A SYN has a header only.
        if is_own and line["what"] == "tcp" and line["bytes"] > 600:
            left.setdefault(line["uid"], line["t"])
    return list(left.values())


@pytest.mark.parametrize("routing", ["static", "aodv", "dsr"])
def test_segments_leave_their_source_one_mss_over_the_rate_apart(routing: str) -> None:
    made = scenario([{"src": 0, "dst": 3}], throttle=preset(), routing=routing, duration_s=20.0)
    result = run(made, record=True)
    times = departures(result, 0)
    gaps = [late - early for early, late in pairwise(times)]
    assert len(gaps) > 150
    assert min(gaps) >= 0.1 - 1e-9
    # Endless data: nearly always somebody waits, and then the gap is exact.
    assert sum(gap == pytest.approx(0.1, abs=1e-9) for gap in gaps) > 0.9 * len(gaps)
    assert result.audit["balanced"]


def test_a_throttled_flow_carries_its_rate() -> None:
    result = run(scenario([{"src": 0, "dst": 3}], throttle=preset(), warmup_s=10.0))
    assert result.totals["tcp_throughput_bps"] == pytest.approx(RATE_BPS, rel=0.02)


def test_what_is_forwarded_and_acks_are_not_throttled() -> None:
    # Node 1 forwards the first flow's data and ACKs, and has a throttled flow of its own.
    flows = [
        {"src": 0, "dst": 3, "throttle_bps": [[0.0, 60e3]]},
        {"src": 1, "dst": 3, "throttle_bps": [[0.0, 24e3]]},
    ]
    result = run(scenario(flows, throttle={"mode": "preset"}, warmup_s=10.0), record=True)
    first, second = (flow["throughput_bps"] for flow in result.flows)
    assert first == pytest.approx(60e3, rel=0.03)
    assert second == pytest.approx(24e3, rel=0.03)
    own = departures(result, 1)
    assert min(late - early for early, late in pairwise(own)) >= 0.2 - 1e-9
    kept = [line for line in lines(result) if line["event"] == "kept"]
    assert {line["node"] for line in kept} == {0, 1}
    assert {line["what"] for line in kept} == {"tcp"}


def test_flooding_is_throttled_too_and_a_full_queue_drops() -> None:
    cbr = {"kind": "cbr", "src": 0, "dst": 2, "bytes": 600, "interval_s": 0.05, "segment_bytes": None}
    made = scenario([cbr], nodes=3, routing="flooding", throttle={**preset(), "queue_packets": 7})
    result = run(made, record=True)
    times = [line["t"] for line in lines(result) if line["event"] == "sent" and line["node"] == 0]
    assert [late - early for early, late in pairwise(times)] == pytest.approx(
        [0.1] * (len(times) - 1), abs=0.02
    )
    [drop] = [drop for drop in result.drops if drop["layer"] == "throttle"]
    assert (drop["reason"], drop["packets"]) == ("throttle-full", "cbr")
    assert drop["count"] == pytest.approx(300, abs=10)
    assert result.audit["balanced"]


def test_networks_without_throttle_are_unchanged_by_its_parameters() -> None:
    plain = scenario([{"src": 0, "dst": 3}], routing="aodv")
    off = plain.changed(throttle={"rate_bps": 1e3, "queue_packets": 1, "step_s": 5.0})
    # A rate that is never reached changes nothing that is measured either.
    fast = plain.changed(throttle=preset(1e12))
    assert run(plain).hash == run(off).hash
    assert run(plain).totals == run(fast).totals


def test_the_oracle_gives_the_shares_of_the_topology() -> None:
    flows = [{"src": 0, "dst": 2}, {"src": 3, "dst": 5}, {"src": 0, "dst": 1, "start_s": 5.0, "stop_s": 9.0}]
    made = scenario(flows, nodes=6, throttle={"mode": "oracle"}).resolve()
    for time_s in (0.0, 5.0, 9.0):
        found = at_instant(made, time_s).flows
        for flow, share in zip(made.flows, found, strict=True):
            if share.rate_bps is not None:
                now = [rate for from_s, rate in flow["throttle_bps"] if from_s <= time_s][-1]
                assert now == pytest.approx(share.rate_bps)
    assert [flow["throttle_bps"][0][0] for flow in made.flows] == [0.0, 0.0, 5.0]
    # The third flow comes and goes; the first has half, a third, and half again.
    assert [from_s for from_s, _ in made.flows[0]["throttle_bps"]] == [0.0, 5.0, 9.0]


def test_the_oracle_follows_nodes_that_move() -> None:
    fields = {
        "movement": {"waypoint": {"nodes": 15, "width_m": 700.0, "height_m": 300.0, "speed_max": 20.0}},
        "duration_s": 60.0,
    }
    made = scenario([{"src": 0, "dst": 1}, {"src": 2, "dst": 3}], throttle={"mode": "oracle"}, **fields)
    resolved = made.resolve()
    rates = resolved.flows[0]["throttle_bps"]
    assert len(rates) > 3
    for time_s, rate in rates:
        assert time_s == int(time_s)
        assert at_instant(resolved, time_s).flows[0].rate_bps == pytest.approx(rate)
    slow = made.changed(throttle={"mode": "oracle", "step_s": 20.0}).resolve().flows[0]["throttle_bps"]
    assert {time_s for time_s, _ in slow} <= {0.0, 20.0, 40.0}
    assert run(resolved).audit["balanced"]


def test_own_rates_come_before_the_oracles_and_the_common_one() -> None:
    flows = [{"src": 0, "dst": 1, "throttle_bps": [[0.0, 1e4], [3.0, 2e4]]}, {"src": 2, "dst": 3}]
    made = scenario(flows, throttle={"mode": "oracle"}).resolve()
    assert [tuple(each) for each in made.flows[0]["throttle_bps"]] == [(0.0, 1e4), (3.0, 2e4)]
    assert made.flows[1]["throttle_bps"][0][1] > 1e4
    assert "throttle_bps" not in scenario(flows[1:], throttle=preset()).resolve().flows[0]


def test_flows_of_packets_of_different_sizes_and_without_a_path_have_no_rates() -> None:
    trace = {"kind": "trace", "src": 0, "dst": 1, "packets": [[0.0, 600], [1.0, 60]], "segment_bytes": None}
    far = {"src": 0, "dst": 4}
    places = [[200.0 * place, 0.0] for place in range(4)] + [[9000.0, 0.0]]
    made = scenario([trace, far, {"src": 2, "dst": 3}], movement={"positions": places})
    resolved = made.changed(throttle={"mode": "oracle"}).resolve()
    assert ["throttle_bps" in flow for flow in resolved.flows] == [False, False, True]
    # The trace counts nevertheless.
    alone = rates_over_time(resolved.movement, resolved.flows[2:], resolved.params, [], "ns-2.35", 30.0, 1.0)[
        0
    ]
    assert alone is not None
    assert resolved.flows[2]["throttle_bps"][0][1] == pytest.approx(alone[0][1] / 2)


def test_what_cannot_be_throttled_is_refused() -> None:
    def told(flow: dict[str, Any], **fields: Any) -> str:
        with pytest.raises(InputError) as caught:
            scenario([{"src": 0, "dst": 1, **flow}], **fields).resolve()
        return str(caught.value)

    given = {"throttle_bps": [[0.0, 1e4]]}
    assert "throttling is off" in told(given) and 'throttle.mode to "preset"' in told(given)
    on = {"throttle": {"mode": "preset"}}
    assert "throttle_bps" in told({"throttle_bps": []}, **on)
    assert "throttle_bps[1]" in told({"throttle_bps": [[5.0, 1e4], [1.0, 1e4]]}, **on)
    assert "throttle_bps[0][1]" in told({"throttle_bps": [[0.0, 0.0]]}, **on)
    oracle = {"throttle": {"mode": "oracle"}}
    assert "segments of 599 bytes" in told({"segment_bytes": 599}, **oracle)
    assert "oracle" in told({}, throttle={"mode": "on"})


def test_both_stages_work_together() -> None:
    flow = {"src": 0, "dst": 3}
    made = scenario([flow], throttle=preset(), routing="aodv", tcp={"sender": "tcp-bus"})
    result = run(made)
    assert result.audit["balanced"]
    assert result.totals["tcp_throughput_bps"] <= RATE_BPS * 1.01


def test_a_resolved_scenario_shows_the_rates(cli: Cli, tmp_path: Any) -> None:
    (tmp_path / "scenario.toml").write_text(
        'duration_s = 5.0\nprofile = "ns-2.35"\nmac = { rts_threshold_bytes = 2347 }\n'
        "[movement.chain]\nnodes = 3\n[traffic]\n"
        'flows = [{ kind = "tcp", src = 0, dst = 2, start_s = 0.0, segment_bytes = 600 }]\n'
    )
    done = cli("scenario", "show", "scenario.toml", "--set", "throttle.mode=oracle", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["flows"][0]["throttle_bps"] == [[0.0, pytest.approx(533.9e3, rel=0.01)]]
    assert cli("scenario", "show", "scenario.toml", "--set", "throttle.mode=oracle").returncode == 0


# The path density protocol.


def density(**changes: Any) -> dict[str, Any]:
    return {"mode": "density", **changes}


TWO = [{"src": 0, "dst": 2}, {"src": 5, "dst": 3}]
"""Two flows in a chain of six nodes, who meet in the middle."""


@pytest.mark.parametrize("routing", ["static", "aodv", "dsr", "dsdv", "adv", "tsr"])
@pytest.mark.parametrize("shares", ["equal", "max-min"])
def test_sources_learn_the_oracles_rates_whatever_the_routing(routing: str, shares: str) -> None:
    # Once a second, so that broadcasts which collide do not matter. DSDV takes its time to find all routes.
    throttle = density(shares=shares, measure_error=True, announce_s=1.0)
    fields = {"duration_s": 80.0, "warmup_s": 60.0, "routing": routing}
    flows = [{**flow, "start_s": 30.0} for flow in TWO]
    result = run(scenario(flows, nodes=6, throttle=throttle, **fields), record=True)
    assert result.audit["balanced"]
    for flow in result.flows:
        assert flow["throttle_unknown_share"] == 0.0
        assert flow["throttle_error_mean"] < 0.01, flow
    learned = {line["flow"]: line for line in lines(result) if line["event"] == "share"}
    assert [(learned[flow]["hops"], round(learned[flow]["share"], 6)) for flow in (0, 1)] == [
        (2, 0.5),
        (2, 0.5),
    ]


def test_announcements_are_on_the_air_and_in_the_books() -> None:
    made = scenario(TWO, nodes=6, throttle=density(), routing="static")
    result = run(made, record=True)
    sent = [line for line in lines(result) if line["event"] == "sent" and line["what"] == "shares"]
    assert len(sent) == result.totals["announcements"] == result.totals["announcements_alone"]
    assert {line["node"] for line in sent} == {0, 1, 2, 3, 4, 5}
    # IP's header, 8 bytes and 29 for a flow: nodes 2 and 3 carry one each. UDP's is not charged in ns-2.
    assert {line["bytes"] for line in sent if line["node"] == 2} == {20 + 8 + 29}
    per_node = len(sent) / 6
    assert 30.0 / 3.0 - 1 <= per_node <= 30.0 / 2.7 + 6
    bytes_per_s = sum(line["bytes"] for line in sent) / 30.0
    assert result.totals["routing_bytes_per_s"] == pytest.approx(bytes_per_s)
    assert result.audit["routing"]["made"] == len(sent)


def test_announcements_ride_on_broadcasts_of_routing() -> None:
    result = run(scenario(TWO, nodes=6, throttle=density(announce_s=30.0), routing="dsdv"), record=True)
    totals = result.totals
    assert totals["announcements"] > totals["announcements_alone"]
    updates = [line for line in lines(result) if line["event"] == "sent" and line["what"] == "update"]
    # Two of the same table, with and without: an announcement makes it longer by 37 bytes.
    lengths = {line["bytes"] for line in updates}
    assert any(length + 37 in lengths for length in lengths)


def test_without_presets_a_busy_chain_is_smooth_and_throttled() -> None:
    crowd = [{"src": 0, "dst": 3}, {"src": 1, "dst": 3}, {"src": 2, "dst": 3}, {"src": 3, "dst": 0}]
    fields = {"duration_s": 60.0, "warmup_s": 20.0}
    learned = run(scenario(crowd, throttle=density(), **fields))
    oracle = run(scenario(crowd, throttle={"mode": "oracle"}, **fields))
    for flow, wanted in zip(learned.flows, oracle.flows, strict=True):
        assert flow["throughput_bps"] == pytest.approx(wanted["throughput_bps"], rel=0.1)


def test_density_needs_to_know_what_a_flow_carries_alone() -> None:
    with pytest.raises(InputError, match="segments of 599 bytes"):
        scenario([{"src": 0, "dst": 1, "segment_bytes": 599}], throttle=density()).resolve()
    own = {"src": 0, "dst": 2, "segment_bytes": 599, "alone_bps": [2e5, 1e5]}
    result = run(scenario([own], nodes=3, throttle=density(), warmup_s=10.0))
    assert result.totals["tcp_throughput_bps"] == pytest.approx(1e5, rel=0.03)
    for wrong in ([], [0.0], [1e5, 1e13]):
        with pytest.raises(InputError, match="alone_bps"):
            scenario([{**own, "alone_bps": wrong}], throttle=density()).resolve()


def test_rates_are_compared_only_if_that_is_asked_for() -> None:
    plain = scenario(TWO, nodes=6, throttle=density()).resolve()
    assert all("oracle_bps" not in flow for flow in plain.flows)
    assert "throttle_error_mean" not in run(plain).flows[0]
    compared = scenario(TWO, nodes=6, throttle=density(measure_error=True)).resolve()
    oracle = scenario(TWO, nodes=6, throttle={"mode": "oracle"}).resolve()
    for flow, wanted in zip(compared.flows, oracle.flows, strict=True):
        assert flow["oracle_bps"] == wanted["throttle_bps"]
    assert "announcements" not in run(oracle).totals


def test_a_flow_that_ends_leaves_its_share_to_others() -> None:
    # The second flow ends; its last packets lapse, and the first has the chain for itself.
    flows = [{"src": 0, "dst": 2}, {"src": 5, "dst": 3, "stop_s": 20.0}]
    result = run(scenario(flows, nodes=6, throttle=density(), duration_s=40.0), record=True)
    rates = [
        (line["t"], line["share"]) for line in lines(result) if line["event"] == "share" and not line["flow"]
    ]
    assert rates[-1][1] == 1.0
    assert 20.0 + 6.0 <= rates[-1][0] <= 20.0 + 6.0 + 5.0
