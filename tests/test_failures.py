"""Nodes that fail: by list, by area, by chance; and what is delivered while both ends are up."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from manetlab import Scenario, _core, run
from manetlab.errors import InputError
from manetlab.topology import path_hops


def chain(nodes: int = 3, **changes: Any) -> Scenario:
    flow = {"kind": "cbr", "src": 0, "dst": nodes - 1, "start_s": 1.0, "bytes": 256, "interval_s": 0.1}
    fields: dict[str, Any] = {
        "duration_s": 41.0,
        "warmup_s": 1.0,
        "routing": "aodv",
        "movement": {"positions": [[200.0 * node, 0.0] for node in range(nodes)]},
        "traffic": {"flows": [flow]},
    }
    return Scenario(**{**fields, **changes})


def test_a_node_that_is_down_from_the_start_is_as_one_that_is_out_of_range() -> None:
    failed = run(chain(failures=[{"node": 1, "at_s": 0.0}]))
    positions = [[0.0, 0.0], [200.0, 5000.0], [400.0, 0.0]]
    away = run(chain(movement={"positions": positions}))
    names = ("cbr_sent", "cbr_received", "mac_frames_per_s", "routing_packets_per_s")
    assert [failed.totals[name] for name in names] == [away.totals[name] for name in names]
    assert failed.totals["cbr_received"] == 0


@pytest.mark.parametrize("routing", _core.routings())
def test_delivery_resumes_when_a_relay_is_back(routing: str) -> None:
    """Down for 10 of 40 s: what is lost is lost in this time, and a little more."""
    result = run(chain(routing=routing, duration_s=81.0, failures=[{"node": 1, "at_s": 20.0, "for_s": 10.0}]))
    whole = run(chain(routing=routing, duration_s=81.0))
    lost = whole.totals["cbr_received"] - result.totals["cbr_received"]
    assert 60 <= lost <= 500, lost
    # Both ends are up all the time.
    assert result.totals["cbr_both_up_delivery_fraction"] == result.totals["cbr_delivery_fraction"]
    assert "cbr_both_up_delivery_fraction" not in whole.totals


def test_what_is_made_while_an_end_is_down_counts_in_the_total_alone() -> None:
    result = run(chain(nodes=2, failures=[{"node": 1, "at_s": 11.0, "for_s": 20.0}]))
    assert result.totals["cbr_delivery_fraction"] == pytest.approx(0.5, abs=0.03)
    assert result.totals["cbr_both_up_delivery_fraction"] > 0.98


def test_a_frame_that_is_on_the_air_when_its_sender_fails_is_lost() -> None:
    # Its one packet is on the air from 1.0102 to 1.0167 s.
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 1.0, "bytes": 1500, "interval_s": 100.0}
    made: dict[str, Any] = {"traffic": {"flows": [flow]}, "routing": "static", "nodes": 2, "warmup_s": 0.0}
    assert run(chain(**made)).totals["cbr_received"] == 1
    cut = run(chain(**made, failures=[{"node": 0, "at_s": 1.013}]))
    assert cut.totals["cbr_received"] == 0


@pytest.mark.parametrize("failing", [0, 1])
def test_a_receiver_forgets_the_frame_in_which_it_or_the_sender_failed(failing: int) -> None:
    # Frames of 12 ms every 20 ms: most failures fall into one. Node 2 sends before node 0 does again.
    flow = {"kind": "cbr", "start_s": 1.0, "bytes": 1400, "interval_s": 0.02}
    flows = [{**flow, "src": 0, "dst": 1}, {**flow, "src": 2, "dst": 1, "start_s": 1.017}]
    made: dict[str, Any] = {
        "movement": {"positions": [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]]},
        "traffic": {"flows": flows},
        "routing": "static",
        "duration_s": 9.0,
    }
    for step in range(10):
        failure = {"node": failing, "at_s": 3.0 + 0.002 * step, "for_s": 1.0}
        result = run(chain(failures=[failure], **made))
        assert result.totals["cbr_both_up_delivery_fraction"] > 0.97, failure


def test_a_frame_that_is_cut_by_a_moment_is_lost() -> None:
    """Its sender is back before the frame would have ended."""
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 1.0, "bytes": 1500, "interval_s": 100.0}
    made: dict[str, Any] = {"traffic": {"flows": [flow]}, "routing": "static", "nodes": 2, "warmup_s": 0.0}
    plain = run(chain(**made))
    for node in (0, 1):
        cut = run(chain(**made, failures=[{"node": node, "at_s": 1.013, "for_s": 1e-6}]))
        # It was sent again.
        assert cut.totals["mac_frames_per_s"] > plain.totals["mac_frames_per_s"]
        assert cut.totals["cbr_received"] == 1


@pytest.mark.parametrize("for_s", [None, 0.5])
def test_a_station_goes_on_after_a_frame_that_was_cut(for_s: float | None) -> None:
    """Whatever was on the air when the relay failed, nothing of it is left at its neighbours."""
    for step in range(12):
        failure = {"node": 1, "at_s": 18.3056 + 0.0007 * step}
        result = run(chain(routing="static", failures=[failure | ({"for_s": for_s} if for_s else {})]))
        assert result.totals["cbr_received"] < result.totals["cbr_sent"]


def test_all_nodes_down_balances_the_books() -> None:
    result = run(chain(failures=[{"area": [[-1, -1], [9999, -1], [9999, 1], [-1, 1]], "at_s": 0.0}]))
    assert result.totals["cbr_received"] == 0
    assert result.totals["mac_frames_per_s"] == 0.0
    assert result.totals["cbr_sent"] > 0


def test_the_topology_knows_who_is_down() -> None:
    resolved = chain(failures=[{"node": 1, "at_s": 21.0, "for_s": 10.0}]).resolve()
    [path] = path_hops(resolved)
    assert path.partitioned == pytest.approx(0.25)


def test_failures_by_chance_are_the_same_for_all_protocols_and_not_for_all_seeds() -> None:
    failures = [{"up_mean_s": 8.0, "down_mean_s": 4.0, "nodes": [1]}]
    first, other = (chain(failures=failures, routing=routing).resolve() for routing in ("aodv", "dsr"))
    assert first.movement.digest == other.movement.digest
    assert first.movement.digest != chain(failures=failures, seed=2).resolve().movement.digest
    assert first.movement.digest != chain().resolve().movement.digest


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        ({"node": 7, "at_s": 1.0}, "no node 7"),
        ({"node": 1, "at_s": 1.0, "kind": "explode"}, "radio-off"),
        ({"node": 1}, "at_s"),
        ({"node": 1, "at_s": math.nan}, "failures[0].at_s"),
        ({"node": 1, "at_s": 1.0, "for_s": 0.0}, "failures[0].for_s"),
        ({"node": 1, "area": [[0, 0], [1, 0], [1, 1]], "at_s": 1.0}, "exactly one of"),
        ({"at_s": 1.0}, "exactly one of"),
        ({"up_mean_s": 5.0}, "down_mean_s"),
        ({"up_mean_s": 5.0, "down_mean_s": 1.0, "at_s": 3.0}, "no at_s beside"),
        ({"node": 1, "at_s": 1.0, "distribution": "fixed"}, "no distribution beside"),
        ({"up_mean_s": 0.001, "down_mean_s": 0.001, "nodes": [9]}, "no node 9"),
    ],
)
def test_failures_that_cannot_be_are_told(failure: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        chain(failures=[failure]).resolve()
    assert told in str(caught.value)


# Crashes.

PROTOCOLS = tuple(_core.routings())


@pytest.mark.parametrize("routing", [*PROTOCOLS, "aodv:dyer-2002"])
def test_every_protocol_delivers_again_after_a_crash(routing: str) -> None:
    """The relay is down from 40 to 50 s; from 110 s on nothing is left of that.

    ADV knows receivers from floods that open connections, and from routes that others advertise: where the
    relay was the only way there are none, until the next connection opens.
    """
    profile = "ns-2.35" if ":" in routing else "rfc"
    crash = {"kind": "crash", "node": 1, "at_s": 40.0, "for_s": 10.0}
    start_s = 100.0 if routing == "adv" else 1.0
    flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": start_s, "bytes": 256, "interval_s": 0.1}
    about: dict[str, Any] = {"profile": profile, "traffic": {"flows": [flow]}, "failures": [crash]}
    made = chain(routing=routing, duration_s=160.0, warmup_s=110.0, **about)
    assert run(made).totals["cbr_delivery_fraction"] > 0.97


@pytest.mark.parametrize("routing", [*PROTOCOLS, "python:manetlab.examples.greedy.Greedy"])
def test_an_end_that_crashes_is_found_again(routing: str) -> None:
    for node in (0, 2):
        crash = {"kind": "crash", "node": node, "at_s": 40.0, "for_s": 1.0}
        result = run(chain(routing=routing, duration_s=160.0, warmup_s=110.0, failures=[crash]))
        assert result.totals["cbr_delivery_fraction"] > 0.97, node


def test_aodv_waits_after_a_crash() -> None:
    """DELETE_PERIOD, 15 s, in which the relay takes part in no route (RFC 3561 §6.13)."""

    def lost(kind: str, **aodv: Any) -> int:
        failure = {"kind": kind, "node": 1, "at_s": 20.0, "for_s": 1.0}
        totals = run(chain(failures=[failure], aodv=aodv, duration_s=81.0)).totals
        return int(totals["cbr_sent"] - totals["cbr_received"])

    waits, goes_on = lost("crash"), lost("crash", wait_on_reboot=False)
    assert waits - goes_on > 80
    assert goes_on < 60


def test_what_waits_at_a_node_that_crashes_is_lost() -> None:
    """More is made than the radio can send: the interface queue of the source is full when it crashes."""
    flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 1000, "interval_s": 0.004}
    made: dict[str, Any] = {"routing": "static", "traffic": {"flows": [flow]}, "duration_s": 3.0}
    totals = {
        kind: run(chain(**made, failures=[{"kind": kind, "node": 0, "at_s": 2.0, "for_s": 1e-6}]))
        for kind in ("radio-off", "crash")
    }
    absent = {
        kind: sum(drop["count"] for drop in result.drops if drop["reason"] == "absent")
        for kind, result in totals.items()
    }
    assert absent["crash"] > absent["radio-off"] + 20


def test_crashes_are_part_of_the_movement() -> None:
    failure = {"node": 1, "at_s": 21.0, "for_s": 10.0}
    digests = {
        chain(failures=[{**failure, **kind}]).resolve().movement.digest
        for kind in ({}, {"kind": "radio-off"}, {"kind": "crash"})
    }
    assert len(digests) == 2


@pytest.mark.parametrize("routing", PROTOCOLS)
def test_crashes_by_chance_balance_the_books(routing: str) -> None:
    """All nodes crash again and again, one at the start, and some for less than a frame lasts."""
    failures = [
        {"kind": "crash", "up_mean_s": 5.0, "down_mean_s": 1.0},
        {"kind": "crash", "node": 0, "at_s": 0.0, "for_s": 1e-9},
        {"kind": "crash", "node": 1, "at_s": 7.0, "for_s": 1e-3},
        {"node": 1, "at_s": 7.0, "for_s": 2.0},
    ]
    flows = [
        {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 512, "interval_s": 0.02},
        {"kind": "tcp", "src": 3, "dst": 0, "start_s": 2.0},
    ]
    made = chain(4, routing=routing, failures=failures, traffic={"flows": flows})
    result = run(made)
    assert result.totals["cbr_received"] < result.totals["cbr_sent"]
    assert run(made, record=True).hash == result.hash


def test_a_recording_has_the_routes_of_a_node_that_has_started_anew() -> None:
    """Static routes never change by themselves: the protocol of a node that is back says nothing of them."""
    crash = {"kind": "crash", "node": 1, "at_s": 4.0, "for_s": 2.0}
    recording = run(chain(routing="static", duration_s=10.0, failures=[crash]), record=True).recording
    assert recording is not None
    events = [json.loads(line) for line in recording.splitlines()[1:]]
    found = [
        (event["t"], event.get("next_hop"))
        for event in events
        if event["event"] == "route" and event["node"] == 1
    ]
    assert {t for t, _ in found if t > 3.9} == {4.0, 6.0}
    assert {hop for t, hop in found if t == 4.0} == {None}
    assert {hop for t, hop in found if t == 6.0} == {0, 2}
