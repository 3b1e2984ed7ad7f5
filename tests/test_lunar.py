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
