"""The tables that set ns-2.1b8a beside ns-2.35 and two profiles, from made-up results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from validation import REFERENCE, era
from validation.mobile import MEASURES, OF_2001


def results_like_ns2(times: dict[str, float]) -> tuple[list[era.Place], list[Any]]:
    """Results that are those of ns-2.1b8a times a factor of the profile."""
    places: list[era.Place] = []
    results = []
    for profile, factor in times.items():
        for protocol in ("AODV", "DSR"):
            for load in OF_2001:
                for network, runs in era.theirs(REFERENCE, protocol, load, era.VERSION).items():
                    places.append((profile, f"{load}-{protocol}", network))
                    totals = {m.ours: factor * era._of_ns2(runs, m) / m.factor for m in MEASURES}
                    results.append(SimpleNamespace(totals=totals))
        for hops, values in era.chains_of(REFERENCE, era.VERSION).items():
            places.append((profile, "chain", f"chain{hops}.tcl"))
            carried = factor * 1e6 * sum(values) / len(values)
            results.append(SimpleNamespace(totals={"tcp_throughput_bps": carried}))
    return places, results


def test_each_profile_is_beside_ns2_of_2001_on_the_same_networks() -> None:
    made = era.tables(REFERENCE, *results_like_ns2({"cmu-1998": 0.5, "ns-2.1b8a": 1.0}))
    aodv, dsr, loads, chains = made
    for table in (aodv, dsr):
        for row in table.rows:
            assert row[3].endswith("%)") and "(-50 ± " in row[3]
            assert row[4].endswith("(+0 ± 0 %)")
    assert [list(row[:2]) for row in loads.rows] == [
        [protocol, kbps] for protocol in ("AODV", "DSR") for kbps in ("200", "300", "400")
    ]
    assert all(row[2] == row[5] for row in loads.rows)
    # ns-2.35 has not run the higher loads.
    assert [row[3] == "–" for row in loads.rows] == [False, True, True] * 2
    assert all(row[1] == row[4] for row in chains.rows) and len(chains.rows) >= 7


def test_all_networks_and_chains_run_under_both_profiles() -> None:
    places = [place for place, _ in era.scenarios(REFERENCE, 1)]
    first, second = ([place[1:] for place in places if place[0] == profile] for profile in era.PROFILES)
    assert first == second
    assert {load for load, _ in first} > {"chain", "1tcp-AODV", "cbr25L400-DSR"}
