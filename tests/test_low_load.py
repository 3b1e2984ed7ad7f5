"""ADV in whole networks that send little: the triggers must keep each other going."""

from __future__ import annotations

from typing import Any

from manetlab import Scenario, run_many

FLOWS = 25
LOAD_BPS = 10_000
SILENT_PER_S = 1.0


def routing_rates(adv: dict[str, Any]) -> list[float]:
    """Routing packets per second of some networks of chapter 3 at its lowest load, after the warm-up."""
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
    results = run_many([scenario.changed(replication=number) for number in range(8)], jobs=1)
    return [result.totals["routing_packets_per_s"] for result in results]


def test_no_network_falls_silent_while_forwarding_nodes_report_their_broken_links() -> None:
    assert min(routing_rates({})) > SILENT_PER_S


def test_networks_fall_silent_if_broken_links_are_urgent_at_high_speed_only() -> None:
    silent = [rate for rate in routing_rates({"urgent_breaks_at_low_speed": False}) if rate < SILENT_PER_S]
    assert silent, "the measurements on ADV's page need the other reading"
