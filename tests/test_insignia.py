"""INSIGNIA in whole runs: who has a reservation, what it brings, and that the books balance."""

from __future__ import annotations

from typing import Any

import pytest

from manetlab import InputError, Result, Scenario, run

RESERVING = {"src": 0, "dst": 3, "reserve_bps": 60e3}


def cbr(src: int, dst: int, **fields: Any) -> dict[str, Any]:
    """A CBR flow of 43 kb/s with headers, or as the fields say."""
    usual = {"kind": "cbr", "start_s": 1.0, "bytes": 512, "interval_s": 0.1}
    return {**usual, "src": src, "dst": dst, **fields}


def scenario(flows: list[dict[str, Any]], nodes: int = 4, **fields: Any) -> Scenario:
    usual = {
        "duration_s": 30.0,
        "seed": 3,
        "routing": "static",
        "movement": {"chain": {"nodes": nodes, "spacing_m": 200.0}},
        "insignia": {"mode": "on"},
    }
    return Scenario(**{**usual, **fields, "traffic": {"flows": flows}})


def only(result: Result) -> dict[str, Any]:
    return result.flows[0]


@pytest.mark.parametrize("routing", ["static", "aodv", "dsdv", "dsr", "olsr", "lunar", "batman"])
def test_a_flow_that_fits_has_all_it_wants_over_any_protocol(routing: str) -> None:
    flow = only(run(scenario([cbr(**RESERVING)], routing=routing, warmup_s=15.0)))
    assert flow["received"] > 40
    assert flow["reserved_fraction"] == 1.0
    # DSDV has no route before its second update.
    assert flow["reserved_max_share"] > (0.3 if routing == "dsdv" else 0.99)
    assert (flow["reserved_min_share"], flow["restorations"]) == (0.0, 0)


def test_flooding_sends_to_all_and_reserves_nothing() -> None:
    flow = only(run(scenario([cbr(**RESERVING)], routing="flooding")))
    assert flow["received"] > 100
    assert flow["reserved_fraction"] is None
    assert flow["reserved_max_share"] == 0.0


def test_what_does_not_fit_has_the_least_or_nothing() -> None:
    # A node may reserve 100 kb/s.
    flows = [
        cbr(0, 3, reserve_bps=60e3),
        cbr(0, 3, start_s=2.0, reserve_bps=60e3, reserve_min_bps=20e3),
        cbr(0, 3, start_s=3.0, reserve_bps=60e3),
        cbr(0, 3, start_s=4.0),
    ]
    result = run(scenario(flows, insignia={"mode": "on", "share": 0.05}, warmup_s=6.0))
    full, least, none, plain = result.flows
    assert (full["reserved_fraction"], full["reserved_max_share"]) == (1.0, 1.0)
    assert (least["reserved_max_share"], least["reserved_min_share"]) == (0.0, 1.0)
    # Its base packets are 20 kb/s of 44.8 kb/s with the option.
    assert least["reserved_fraction"] == pytest.approx(20 / 44.8, abs=0.03)
    assert (none["reserved_fraction"], none["reserved_max_share"]) == (0.0, 0.0)
    assert "reserved_fraction" not in plain
    assert result.totals["reserved_max_share"] == pytest.approx(1 / 3)


def test_a_flow_scales_up_when_another_ends() -> None:
    flows = [cbr(0, 3, reserve_bps=60e3, stop_s=10.0), cbr(0, 3, start_s=2.0, reserve_bps=60e3)]
    result = run(scenario(flows, insignia={"mode": "on", "share": 0.05}))
    late = result.flows[1]
    # The first one's reservation ends 2 s after its last packet, at 12 s of 2 s to 30 s.
    assert late["reserved_max_share"] == pytest.approx(18 / 28, abs=0.02)


def test_a_new_path_is_reserved_and_counted_as_a_restoration() -> None:
    # Node 1 of two between the ends fails, and packets then go over node 2.
    places = [[0, 0], [200, 60], [200, -60], [400, 0]]
    fields = {
        "movement": {"positions": places},
        "routing": "aodv",
        "failures": [{"node": 1, "at_s": 10.0, "for_s": 19.0}],
        "insignia": {"mode": "on", "soft_state_s": 0.2},
    }
    result = run(scenario([cbr(**RESERVING)], **fields))
    other = run(
        scenario([cbr(**RESERVING)], **{**fields, "failures": [{"node": 2, "at_s": 10.0, "for_s": 19.0}]})
    )
    # Whichever of the two forwards, the path that breaks is restored within the time that AODV takes.
    moved = only(result) if only(result)["restorations"] else only(other)
    assert moved["restorations"] >= 1
    assert moved["restoration_mean_s"] < 2.0
    assert moved["reserved_max_share"] > 0.9


def crowd(**fields: Any) -> Result:
    """One flow that may reserve among four that send more than the chain carries."""
    others = [cbr(node, node + 3, interval_s=0.02, start_s=1.5) for node in (0, 0, 1, 1)]
    return run(scenario([cbr(0, 4, reserve_bps=60e3), *others], nodes=5, warmup_s=5.0, **fields))


def test_reserved_packets_wait_less_and_are_lost_less_in_a_crowd() -> None:
    with_it, without = (
        only(crowd(insignia={"mode": "on", "queue_threshold": 1000000})),
        only(crowd(insignia={})),
    )
    assert with_it["reserved_fraction"] > 0.9
    assert with_it["delivery_fraction"] > without["delivery_fraction"] + 0.2
    assert with_it["latency_mean_s"] < without["latency_mean_s"] / 2


def test_the_books_balance_with_a_crash_and_full_queues() -> None:
    result = crowd(
        routing="aodv",
        failures=[{"node": 2, "at_s": 10.0, "for_s": 4.0, "kind": "crash"}],
        queue={"packets": 5},
    )
    assert result.audit["balanced"]
    reasons = {drop["reason"] for drop in result.drops}
    assert "queue-full" in reasons


def test_tcp_reserves_for_its_data_alone() -> None:
    flow = {"kind": "tcp", "start_s": 1.0, "src": 0, "dst": 3, "reserve_bps": 200e3}
    measured = only(run(scenario([flow], warmup_s=5.0)))
    assert measured["reserved_fraction"] == 1.0
    assert measured["throughput_bps"] > 1e5


def test_networks_without_it_are_unchanged_by_its_parameters_and_by_requests() -> None:
    plain = run(scenario([cbr(0, 3)], insignia={}))
    asking = run(scenario([cbr(**RESERVING)], insignia={"share": 0.5, "report_s": 7.0}))
    assert plain.hash == asking.hash


def test_what_cannot_be_reserved_is_refused() -> None:
    def told(**fields: Any) -> str:
        with pytest.raises(InputError) as caught:
            scenario([cbr(**{**RESERVING, **fields.pop("flow", {})})], **fields).resolve()
        return str(caught.value)

    assert "reserve_bps" in told(flow={"reserve_bps": 1.0})
    assert "reserve_min_bps" in told(flow={"reserve_min_bps": 70e3})
    assert "tcp-bus" in told(tcp={"sender": "tcp-bus"}, routing="aodv")
