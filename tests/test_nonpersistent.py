"""CSMA and FAMA in whole runs: with every routing protocol, with nodes that fail, and in reports."""

from __future__ import annotations

from typing import Any

import pytest

from manetlab import InputError, Scenario, _core, run
from manetlab.report import methods

PROTOCOLS = ("csma", "fama")


def cbr(src: int, dst: int, **fields: Any) -> dict[str, Any]:
    usual = {"kind": "cbr", "start_s": 5.0, "bytes": 512, "interval_s": 0.25}
    return {**usual, "src": src, "dst": dst, **fields}


def scenario(access_protocol: str, **fields: Any) -> Scenario:
    usual = {
        "duration_s": 60.0,
        "seed": 1,
        "routing": "static",
        "movement": {"chain": {"nodes": 4, "spacing_m": 200.0}},
        "traffic": {"flows": [cbr(0, 3)]},
        "mac": {"access_protocol": access_protocol},
    }
    return Scenario(**{**usual, **fields})


@pytest.mark.parametrize("access_protocol", PROTOCOLS)
@pytest.mark.parametrize("routing", _core.routings())
def test_every_routing_protocol_brings_packets_over_three_hops(routing: str, access_protocol: str) -> None:
    flow = run(scenario(access_protocol, routing=routing, warmup_s=30.0)).flows[0]
    assert flow["delivery_fraction"] > 0.5


@pytest.mark.parametrize("access_protocol", PROTOCOLS)
def test_the_books_balance_where_nodes_move_and_crash(access_protocol: str) -> None:
    # A run whose books do not balance is an error.
    fields = {
        "movement": {"waypoint": {"nodes": 20, "width_m": 700, "height_m": 300, "speed_max": 20}},
        "traffic": {"random": {"cbr": 5, "tcp": 3}},
        "failures": [
            {"node": node, "at_s": 10.0 + node, "for_s": 10.0, "kind": "crash"} for node in range(5)
        ],
        "routing": "aodv",
        "aodv": {"hello": True},
    }
    result = run(scenario(access_protocol, **fields))
    assert result.audit["balanced"]
    assert result.totals["tcp_throughput_bps"] > 0


def test_a_neighbour_that_has_left_is_reported_by_fama_alone() -> None:
    gone = [{"node": 3, "at_s": 20.0}]
    reasons = {
        protocol: {loss["reason"] for loss in run(scenario(protocol, failures=gone)).losses}
        for protocol in PROTOCOLS
    }
    assert reasons["csma"] == {None}
    assert "link-failure" in reasons["fama"]


@pytest.mark.parametrize("access_protocol", PROTOCOLS)
def test_rate_control_needs_acks(access_protocol: str) -> None:
    with pytest.raises(InputError) as raised:
        run(scenario(access_protocol, mac={"access_protocol": access_protocol, "rate_control": "arf"}))
    assert raised.value.what == "mac.rate_control cannot be used"
    assert raised.value.wanted.endswith("which have no ACKs")


def test_reports_name_the_protocol() -> None:
    said = {protocol: methods._mac(scenario(protocol).resolve()) for protocol in (*PROTOCOLS, "dcf")}
    assert said["csma"].startswith("non-persistent CSMA")
    assert said["fama"].startswith("FAMA-NCS")
    assert said["dcf"].startswith("IEEE 802.11 DCF")
