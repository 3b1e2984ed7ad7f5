"""What flows cost at the MAC: counted by hand on chains, and beside what the recording says."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from manetlab import Scenario, run
from tests.examples import chain, mobile

HEADER = 28 + 8
"""MAC header and FCS of a data frame (IEEE 802.11-1999 §7.2.2), LLC and SNAP (RFC 1042), in bytes."""


def lone(nodes: int, **flow: Any) -> dict[str, Any]:
    """One flow from end to end of a chain over static routes; its measures."""
    flows = [{"src": 0, "dst": nodes - 1, "start_s": 1.0, **flow}]
    fields = {"movement": {"chain": {"nodes": nodes}}, "traffic": {"flows": flows}, "duration_s": 20.0}
    [measured] = run(Scenario.build({**fields, "routing": "static"})).flows
    return measured


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_packet_costs_one_transmission_a_hop(hops: int) -> None:
    flow = lone(hops + 1, kind="cbr", bytes=100, interval_s=0.5)
    assert flow["received"] == flow["sent"] == 38
    assert flow["mac_packets"] == 38 * hops
    assert flow["mac_bytes"] == 38 * hops * (100 + 28 + HEADER)
    assert (flow["mac_ack_packets"], flow["mac_ack_bytes"]) == (0, 0)
    assert flow["mac_packets_per_delivered"] == hops
    assert flow["mac_bytes_per_delivered_byte"] == hops * (100 + 28 + HEADER) / 100


def test_flooding_pays_for_the_data_packets_that_it_repeats() -> None:
    """Over three hops three nodes send each packet once; flooding has no other packets."""
    flow = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 100, "interval_s": 0.5}
    fields = {"movement": {"chain": {"nodes": 4}}, "traffic": {"flows": [flow]}, "duration_s": 20.0}
    totals = run(Scenario.build({**fields, "routing": "flooding"})).totals
    assert totals["cbr_delivery_fraction"] == 1.0
    assert totals["routing_packets_per_s"] == 0.0
    assert totals["frames_per_delivered_packet"] == 3
    assert totals["frame_bytes_per_delivered_byte"] == 3 * (100 + 28 + HEADER) / 100


def test_flooding_has_no_routing_load_but_sends_each_data_packet_again() -> None:
    """Four nodes in a row: the source, and the two in between, which send every packet again."""
    flow = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 100, "interval_s": 0.5}
    fields = {"movement": {"chain": {"nodes": 4}}, "traffic": {"flows": [flow]}, "duration_s": 20.0}
    totals = run(Scenario.build({**fields, "routing": "flooding"})).totals
    assert (totals["normalised_routing_load"], totals["normalised_routing_bytes"]) == (0.0, 0.0)
    assert totals["mac_packets_per_delivered"] == 3
    assert totals["rebroadcasts_per_delivered_packet"] == 2


def test_what_routes_carry_is_not_counted_as_flooded() -> None:
    """AODV broadcasts requests, and data only as unicasts; flooded acknowledgements count as data does."""
    flow = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 50_000}
    fields = {"movement": {"chain": {"nodes": 3}}, "traffic": {"flows": [flow]}, "duration_s": 20.0}
    assert (
        run(Scenario.build({**fields, "routing": "aodv"})).totals["rebroadcasts_per_delivered_packet"] == 0.0
    )
    flooded = run(Scenario.build({**fields, "routing": "flooding"}))
    [each] = flooded.flows
    # Of three nodes one is in between, and sends each packet of either kind once that it has from an end.
    again = flooded.totals["rebroadcasts_per_delivered_packet"]
    sent = flooded.totals["mac_packets_per_delivered"]
    assert each["mac_ack_packets"] > 0
    assert 0.4 * sent < again < 0.5 * sent


def test_rebroadcasts_are_those_of_the_recording() -> None:
    """In a network of many paths every node but source and destination sends a packet at most once more."""
    flow = {"kind": "cbr", "src": 0, "dst": 8, "start_s": 1.0, "bytes": 100, "interval_s": 0.5}
    movement = {"grid": {"rows": 3, "columns": 3, "spacing_m": 200.0}}
    fields = {"movement": movement, "traffic": {"flows": [flow]}, "duration_s": 20.0, "routing": "flooding"}
    result = run(Scenario.build(fields), record=True)
    assert result.recording is not None
    events = [json.loads(line) for line in result.recording.splitlines()[1:]]
    again = sum(each["event"] == "sent" and each["node"] != 0 for each in events)
    received = result.totals["cbr_received"]
    assert received > 30
    assert result.totals["rebroadcasts_per_delivered_packet"] == pytest.approx(again / received, rel=1e-3)


def test_the_routing_load_is_counted_by_hand_on_a_chain() -> None:
    """DSR over two hops, one search: a request to neighbours, a flooded one, and the reply.

    Node 0 asks its neighbours (1 transmission), then all nodes: nodes 0 and 1 send that request on (2). The
    reply goes from 2 to 1 and from 1 to 0 (2). Each data packet carries a source route over both hops.
    """
    flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 100, "interval_s": 0.5}
    fields = {"movement": {"chain": {"nodes": 3}}, "traffic": {"flows": [flow]}, "duration_s": 20.0}
    result = run(Scenario.build({**fields, "routing": "dsr"}), record=True)
    received = result.totals["cbr_received"]
    assert received == 38
    assert result.totals["normalised_routing_load"] == pytest.approx(5 / 38)
    assert result.recording is not None
    sent = [json.loads(line) for line in result.recording.splitlines()[1:]]
    sent = [each for each in sent if each["event"] == "sent"]
    routing = [each["bytes"] for each in sent if each["what"] != "cbr"]
    headers = [each["bytes"] - 128 for each in sent if each["what"] == "cbr"]
    assert (len(routing), len(headers)) == (5, 2 * 38)
    assert result.totals["normalised_routing_bytes"] == pytest.approx(
        (sum(routing) + sum(headers)) / (38 * 100)
    )


def test_a_run_that_delivers_nothing_has_no_routing_load() -> None:
    fields = {"movement": {"positions": [[0.0, 0.0], [5000.0, 0.0]]}, "duration_s": 5.0, "routing": "aodv"}
    flows = [{"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.0, "bytes": 100, "interval_s": 1.0}]
    totals = run(Scenario.build({**fields, "traffic": {"flows": flows}})).totals
    assert totals["routing_packets_per_s"] > 0.0
    assert totals["normalised_routing_load"] is totals["normalised_routing_bytes"] is None


def test_an_acknowledged_packet_costs_twice_as_many() -> None:
    packets = {"kind": "trace", "packets": [[float(second), 200] for second in range(10)]}
    flow = lone(3, **packets, transport="adp")
    assert flow["packets_received"] == flow["packets_sent"] == flow["acks_sent"] == 10
    assert (flow["mac_packets"], flow["mac_ack_packets"]) == (20, 20)
    # Table 5.2: 16 bytes beside the 20 of IP.
    assert flow["mac_bytes"] == 20 * (200 + 36 + HEADER)
    assert flow["mac_ack_bytes"] == 20 * (36 + HEADER)
    assert flow["mac_packets_per_delivered"] == 4


def test_tcp_pays_for_its_acknowledgements() -> None:
    flow = lone(2, kind="tcp", bytes=100_000, segment_bytes=1000)
    assert flow["mac_ack_packets"] > 0
    assert flow["mac_packets"] >= 100
    cost = (flow["mac_bytes"] + flow["mac_ack_bytes"]) / flow["delivered_bytes"]
    assert flow["mac_bytes_per_delivered_byte"] == pytest.approx(cost)


def test_what_dies_in_a_queue_costs_nothing() -> None:
    """A source faster than the link: its queue overflows, and only what the MAC took counts."""
    flow = lone(2, kind="cbr", bytes=1000, interval_s=0.001)
    assert flow["sent"] > 2 * flow["mac_packets"]
    # The queue and the MAC hold what is left at the end.
    assert 0 <= flow["mac_packets"] - flow["received"] <= 1


def test_retries_and_warm_up_do_not_count() -> None:
    """No MAC takes more packets than IP handed down in the window, but for those that then were under way."""
    result = run(mobile(warmup_s=10.0), record=True)
    assert result.recording is not None
    events = [json.loads(line) for line in result.recording.splitlines()[1:]]
    handed = Counter(each["what"] for each in events if each["event"] == "sent" and each["t"] >= 10.0)
    cbr = sum(flow["mac_packets"] for flow in result.flows if flow["kind"] == "cbr")
    [tcp] = [flow for flow in result.flows if flow["kind"] == "tcp"]
    # At most a window of segments, or the ACKs for one, waited when the warm-up ended or wait at the end.
    waiting = 32
    assert abs(cbr - handed["cbr"]) <= 3
    assert 0.9 * handed["tcp"] < tcp["mac_packets"] <= handed["tcp"] + waiting
    assert 0.9 * handed["ack"] < tcp["mac_ack_packets"] <= handed["ack"] + waiting


def test_totals_are_those_of_all_flows() -> None:
    result = run(chain())
    packets = sum(each["mac_packets"] + each["mac_ack_packets"] for each in result.flows)
    delivered = sum(
        (each["mac_packets"] + each["mac_ack_packets"]) / each["mac_packets_per_delivered"]
        for each in result.flows
    )
    assert result.totals["mac_packets_per_delivered"] == pytest.approx(packets / delivered)


def test_a_flow_that_delivers_nothing_has_no_cost_of_a_delivery() -> None:
    fields = {"movement": {"positions": [[0.0, 0.0], [5000.0, 0.0]]}, "duration_s": 5.0}
    flows = [{"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.0, "bytes": 100, "interval_s": 1.0}]
    result = run(Scenario.build({**fields, "traffic": {"flows": flows}}))
    assert result.flows[0]["mac_packets_per_delivered"] is None
    assert result.totals["mac_bytes_per_delivered_byte"] is None
