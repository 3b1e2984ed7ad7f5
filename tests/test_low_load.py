"""ADV in whole networks that send little: the triggers must keep each other going."""

from __future__ import annotations

from typing import Any

from manetlab import Scenario, run_many

FLOWS = 25
LOAD_BPS = 10_000
SILENT_PER_S = 1.0


def silent(adv: dict[str, Any]) -> int:
    """How many of 16 networks of chapter 3, at its lowest load, send no routing packets after the warm-up."""
    scenario = Scenario.build(
        {
            "duration_s": 200,
            "warmup_s": 100,
            "seed": 1,
            "profile": "cmu-1998",
            "routing": "adv:dyer-2002-ch3-1s",
            "movement": {"waypoint": {"nodes": 50, "width_m": 1000, "height_m": 1000, "boundary": "wrap"}},
            "traffic": {"random": {"cbr": FLOWS, "cbr_interval_s": FLOWS * 512 * 8 / LOAD_BPS}},
            "adv": adv,
        }
    )
    results = run_many([scenario.changed(replication=number) for number in range(16)], jobs=1)
    return sum(result.totals["routing_packets_per_s"] < SILENT_PER_S for result in results)


def test_fewer_networks_fall_silent_if_broken_links_are_urgent_at_either_speed() -> None:
    # Four times as many in 64 networks, see docs/models/adv.md.
    assert silent({}) < silent({"urgent_breaks_at_low_speed": False})


def test_no_network_falls_silent_if_one_waiting_packet_is_enough() -> None:
    assert silent({"urgent_breaks_at_low_speed": False, "buffer_threshold": 1}) == 0
