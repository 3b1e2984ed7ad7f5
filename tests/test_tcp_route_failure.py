"""Senders that know of route failures, on a chain whose middle node leaves and returns."""

from pathlib import Path
from typing import Any

import pytest

from manetlab import Scenario, run

AWAY_S = 13.0


def flow(
    sender: str,
    routing: str,
    folder: Path,
    kind: dict[str, Any] | None = None,
    hops: int = 2,
    seed: int = 1,
    **tcp: object,
) -> dict[str, Any]:
    """What a flow measured, TCP if no kind is given; the last node but one is away from 21.5 to 34.5 s."""
    lines = [
        f"$node_({node}) set {axis}_ {200.0 * node if axis == 'X' else 0.0}"
        for node in range(hops + 1)
        for axis in "XYZ"
    ]
    moves = f'"$node_({hops - 1}) setdest {200.0 * (hops - 1)}'
    lines += [f'$ns_ at {at} {moves} {y} 100.0"' for at, y in ((20.0, 600.0), (30.0, 0.0))]
    movement = folder / "leaves.tcl"
    movement.write_text("\n".join(lines) + "\n")
    scenario = {
        "duration_s": 60,
        "seed": seed,
        "movement": {"file": str(movement)},
        "routing": routing,
        "traffic": {"flows": [{"src": 0, "dst": hops, "start_s": 1.0, **(kind or {"kind": "tcp"})}]},
        "tcp": {"sender": sender, **tcp},
    }
    result = run(Scenario.build(scenario))
    assert result.audit["balanced"]
    return dict(result.flows[0])


@pytest.mark.parametrize("routing", ["aodv", "dsr"])
@pytest.mark.parametrize(("sender", "in_row"), [("elfn", 1), ("bansal-barua", 2), ("atcp", 1)])
def test_a_frozen_sender_does_not_back_off(sender: str, in_row: int, routing: str, tmp_path: Path) -> None:
    plain, aware = flow("reno", routing, tmp_path), flow(sender, routing, tmp_path)
    # RTOs of 1, 2, 4 and 8 s reach over the outage.
    assert plain["timeouts_in_row"] == 4
    assert aware["timeouts_in_row"] <= in_row
    assert aware["longest_gap_s"] > AWAY_S
    assert aware["delivered_bytes"] > 2_000_000


@pytest.mark.parametrize("routing", ["aodv", "dsr"])
def test_a_warned_sender_loses_only_the_outage_and_the_warning(routing: str, tmp_path: Path) -> None:
    plain, warned = flow("reno", routing, tmp_path), flow("freeze-tcp", routing, tmp_path)
    assert (plain["timeouts"], warned["timeouts"]) == (4, 0)
    # The warning of 0.5 s, less the time until it arrives; then two round trips, one of them for the route.
    assert AWAY_S < warned["longest_gap_s"] < AWAY_S + 0.5 < plain["longest_gap_s"]
    assert warned["delivered_bytes"] > plain["delivered_bytes"]
    early = flow("freeze-tcp", routing, tmp_path, freeze_warning_s=2.0)
    assert AWAY_S + 1.5 < early["longest_gap_s"] < AWAY_S + 2.0, "a warning that comes too early costs time"


def test_a_receiver_warns_by_the_power_of_what_it_hears(tmp_path: Path) -> None:
    """Its last hop goes away at 20 m/s, behind a base station as in an ad hoc network, and comes back."""

    def gone(sender: str, wired: bool, **tcp: object) -> dict[str, Any]:
        movement = tmp_path / "mobile.tcl"
        host, base = (-10_000.0, 0.0) if wired else (-200.0, 0.0)
        lines = [
            f"$node_({node}) set {axis}_ {x if axis == 'X' else 0.0}"
            for node, x in enumerate((host, base, 100.0))
            for axis in "XYZ"
        ]
        lines += [
            f'$ns_ at {at} "$node_(2) setdest {x} 0.0 20.0"' for at, x in ((10.0, 400.0), (30.0, 100.0))
        ]
        movement.write_text("\n".join(lines) + "\n")
        scenario = {
            "duration_s": 60,
            "movement": {"file": str(movement)},
            "routing": "static" if wired else "aodv",
            "traffic": {"flows": [{"src": 0, "dst": 2, "kind": "tcp", "start_s": 1.0}]},
            "tcp": {"sender": sender, **tcp},
        }
        if wired:
            scenario["wired"] = [{"nodes": [0, 1], "rate_bps": 1e7, "delay_s": 0.01, "queue_packets": 50}]
        return dict(run(Scenario.build(scenario)).flows[0])

    # 250 m are reached at 17.5 s, and again 37.5 s after the start.
    # Over two hops of radio segments queue, and the round trip that a warning must last is longer.
    for wired, warning_s in ((True, 0.5), (False, 1.0)):
        plain = gone("reno", wired)
        warned = gone("freeze-tcp", wired, freeze_foresight="power", freeze_warning_s=warning_s)
        assert (plain["timeouts"], warned["timeouts"], warned["retransmissions"]) == (5, 0, 0)
        assert 20.0 < warned["longest_gap_s"] < 20.0 + 3 * warning_s < 30.0 < plain["longest_gap_s"]
        assert warned["delivered_bytes"] > 1.3 * plain["delivered_bytes"]


@pytest.mark.parametrize("sender", ["tcp-f", "tcp-bus"])
def test_a_silent_sender_goes_on_after_the_outage(sender: str, tmp_path: Path) -> None:
    aware = flow(sender, "dsr", tmp_path)
    # The guard timer takes the place of the first timeouts.
    assert aware["timeouts_in_row"] < flow("reno", "dsr", tmp_path)["timeouts_in_row"]
    assert AWAY_S < aware["longest_gap_s"] < 2 * AWAY_S


def test_what_nodes_keep_for_tcp_bus_is_not_sent_again(tmp_path: Path) -> None:
    """Retransmissions in each of eight runs, the rest in total: jitter of requests moves single runs."""

    def flows(sender: str, **tcp: object) -> list[dict[str, Any]]:
        return [flow(sender, "aodv", tmp_path, hops=4, seed=seed, **tcp) for seed in range(1, 9)]

    def total(of: list[dict[str, Any]], name: str) -> int:
        return sum(each[name] for each in of)

    keeps, forgets, plain = flows("tcp-bus"), flows("tcp-bus", bus_buffer_packets=0), flows("reno")
    for kept, forgotten in zip(keeps, forgets, strict=True):
        assert kept["retransmissions"] < forgotten["retransmissions"]
    assert total(keeps, "retransmissions") < total(forgets, "retransmissions") / 2
    assert max(total(keeps, "timeouts"), total(forgets, "timeouts")) < total(plain, "timeouts")
    delivered = [total(each, "delivered_bytes") for each in (keeps, forgets, plain)]
    assert delivered[0] == max(delivered)


def test_messages_over_tcp_have_senders_that_know_too(tmp_path: Path) -> None:
    messages = {"kind": "poisson", "transport": "tcp", "bytes": 500, "interval_s": 0.2}
    plain, aware = (flow(sender, "aodv", tmp_path, messages) for sender in ("reno", "elfn"))
    assert plain["timeouts"] == 4
    assert aware["timeouts"] <= 1
    assert aware["messages_delivered"] == aware["messages_made"]


def test_routes_that_are_taken_from_caches_are_counted_with_those_that_break() -> None:
    def totals(**fields: object) -> dict[str, Any]:
        flow = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0}
        made = Scenario.build({"routing": "dsr", "duration_s": 20.0, "traffic": {"flows": [flow]}, **fields})
        return dict(run(made).totals)

    still = totals(movement={"chain": {"nodes": 3}})
    assert (still["routes_taken"], still["invalid_routes"]) == (1, 0)
    # Nothing that was taken during the warm-up counts.
    assert totals(movement={"chain": {"nodes": 3}}, warmup_s=5.0)["routes_taken"] == 0
    field = {"nodes": 25, "width_m": 1000.0, "height_m": 600.0, "speed_min": 15.0, "speed_max": 20.0}
    moving = totals(movement={"waypoint": field})
    assert moving["routes_taken"] > moving["invalid_routes"] >= moving["stale_routes"]
    assert moving["invalid_routes"] > 0
