"""LUNAR from outside: named on the command line, seen in recordings and metrics."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from manetlab import run
from tests.conftest import Cli

CHAIN: dict[str, Any] = {
    "movement": {"chain": {"nodes": 4}},
    "traffic": {
        "flows": [{"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 512, "interval_s": 0.25}]
    },
    "duration_s": 11.0,
}


def sent(events: list[dict[str, Any]]) -> Counter[str]:
    """How many packets of each kind IP has handed down, each hop counted."""
    return Counter(event["what"] for event in events if event["event"] == "sent")


def recorded(**changes: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    result = run(**{**CHAIN, **changes}, record=True)
    assert result.recording is not None
    lines = result.recording.splitlines()
    return result.totals, [json.loads(line) for line in lines[1:]]


def test_requests_and_replies_are_named_and_counted_and_labels_are_charged() -> None:
    for routing, floods in [("lunar", 4), ("lunar:standard", 4), ("lunar:opportunistic", 1)]:
        totals, events = recorded(routing=routing)
        assert sent(events) == {"rreq": 3 * floods, "rrep": 3 * floods, "cbr": 3 * 40}, routing
        assert totals["routing_packets_per_s"] * 11.0 == 6 * floods
        charged = 3 * floods * (40 + 36) + 3 * 40 * 12
        assert round(totals["routing_bytes_per_s"] * 11.0) == charged
        assert totals["cbr_delivery_fraction"] == 1.0


def test_lengths_and_refresh_are_parameters() -> None:
    lengths = {"rreq_bytes": 60, "rrep_bytes": 50, "header_bytes": 8, "refresh_s": 1.0}
    totals, events = recorded(routing="lunar", lunar=lengths)
    requests = sent(events)["rreq"] // 3
    assert requests in (10, 11)
    assert round(totals["routing_bytes_per_s"] * 11.0) == 3 * requests * (60 + 50) + 3 * 40 * 8


def test_the_command_line_runs_it(cli: Cli, tmp_path: Path) -> None:
    scenario, recording = tmp_path / "chain.toml", tmp_path / "run.jsonl"
    scenario.write_text("duration_s = 5\nmovement.chain.nodes = 4\ntraffic.random.tcp = 1\n")
    done = cli("run", scenario, "--routing", "lunar:opportunistic", "--record", recording, "--json")
    resolved = json.loads(done.stdout)["provenance"]["scenario"]
    assert resolved["routing"] == "lunar"
    assert (resolved["params"]["lunar"]["refresh"], resolved["params"]["lunar"]["lifetime_s"]) == (False, 3.0)
    events = [json.loads(line) for line in recording.read_text().splitlines()[1:]]
    assert sent(events)["rreq"] > 0
    assert not any(event.get("for") == "arp" for event in events)


def in_areas(routing: str, forwarders: int, seed: int) -> dict[str, Any]:
    """Four throttled flows in Osipov and Tschudin's areas, 150 m apart."""
    flows = [
        {"kind": "tcp", "src": each, "dst": 4 + each, "start_s": float(each), "segment_bytes": 600}
        for each in range(4)
    ]
    return run(
        profile="ns-2.27",
        duration_s=60.0,
        warmup_s=12.0,
        movement={"areas": {"sources": 4, "sinks": 4, "forwarders": forwarders, "spacing_m": 150.0}},
        traffic={"flows": flows},
        mac={"rts_threshold_bytes": 2347},
        tcp={"sender": "newreno", "allowed_pause_s": 3.0},
        throttle={"mode": "preset", "rate_bps": 90150.0},
        routing=routing,
        seed=seed,
    ).totals


def test_floods_end_the_range_of_lunar_and_not_that_of_opportunistic_lunar() -> None:
    seeds = range(1, 4)
    unsmooth, carried = {}, {}
    for routing in ("static", "lunar", "lunar:opportunistic"):
        for forwarders in (2, 12):
            totals = [in_areas(routing, forwarders, seed) for seed in seeds]
            place = routing, forwarders
            unsmooth[place] = sum(each["tcp_unsmoothness_max"] for each in totals) / len(seeds)
            carried[place] = [each["tcp_throughput_bps"] for each in totals]
            if routing != "lunar":
                # Once its paths are there opportunistic LUNAR floods no more than static routes do.
                assert {each["routing_packets_per_s"] for each in totals} == {0.0}
    # The bound of the admissible range is 1.
    assert unsmooth["lunar", 2] < 1 < unsmooth["lunar", 12]
    assert max(unsmooth["lunar:opportunistic", 2], unsmooth["lunar:opportunistic", 12]) < 1
    for forwarders in (2, 12):
        three = (carried[each, forwarders] for each in ("static", "lunar:opportunistic", "lunar"))
        assert all(static > quiet > flooding for static, quiet, flooding in zip(*three, strict=True))
