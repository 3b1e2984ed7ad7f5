"""The counts of DSR's packets: ns-2.35's traces are read right, and ours add up."""

from collections import Counter

import pytest

from manetlab import run
from manetlab.scenario import Scenario
from validation.packets import Counts, of_ns2, of_ours, table

START = "[0 0 0 0] -------"
TRACE = [
    f"s 1.000000000 _23_ RTR  --- 1 DSR 32 {START} [23:255 0:255 32 0] 1 [1 1] [0 1 0 0->0] [0 0 0 0->0]",
    f"s 1.040000000 _23_ RTR  --- 2 DSR 32 {START} [23:255 0:255 32 0] 1 [1 2] [0 2 0 0->0] [0 0 0 0->0]",
    f"f 1.050000000 _7_ RTR  --- 2 DSR 36 {START} [23:255 0:255 32 0] 2 [1 2] [0 2 0 0->0] [0 0 0 0->0]",
    f"s 1.060000000 _0_ RTR  --- 3 DSR 56 {START} [0:255 23:255 254 7] 3 [0 2] [1 2 3 23->0] [0 0 0 0->0]",
    f"f 1.070000000 _7_ RTR  --- 3 DSR 56 {START} [0:255 23:255 253 23] 3 [0 2] [1 2 3 23->0] [0 0 0 0->0]",
    f"r 1.080000000 _23_ RTR  --- 3 DSR 56 {START} [0:255 23:255 253 23] 3 [0 2] [1 2 3 23->0] [0 0 0 0->0]",
    # The reply has ended the search: this request begins a new one.
    f"s 1.090000000 _23_ RTR  --- 4 DSR 32 {START} [23:255 0:255 32 0] 1 [1 3] [0 3 0 0->0] [0 0 0 0->0]",
    f"s 1.100000000 _7_ RTR  --- 5 DSR 56 {START} [7:255 23:255 255 23] 2 [0 4] [1 4 4 23->9] [0 0 0 0->0]",
    f"s 1.110000000 _7_ RTR  --- 6 DSR 56 {START} [7:255 23:255 255 23] 2 [0 0] [1 0 4 23->9] [0 0 0 0->0]",
    f"s 1.120000000 _7_ RTR  --- 7 DSR 44 {START} [7:255 23:255 255 23] 2 [0 0] [0 0 4 23->9] [1 1 23 7->9]",
    f"s 1.130000000 _7_ RTR  --- 8 DSR 60 {START} [7:255 5:255 255 5] 2 [0 0] [0 0 4 23->9] [1 2 5 7->9]",
    f"f 1.140000000 _5_ RTR  --- 9 DSR 44 {START} [4:255 5:255 255 5] 2 [0 0] [0 0 4 23->9] [1 1 5 7->9]",
    f"s 1.150000000 _7_ RTR  --- 10 DSR 36 {START} [7:255 5:255 255 5] 2 [0 0] [0 0 0 0->0] [0 0 0 0->0]",
    "s 2.000000000 _1_ AGT  --- 20 cbr 512 [0 0 0 0] ------- [1:0 2:0 32 0] [0] 0 0",
    "r 2.250000000 _2_ AGT  --- 20 cbr 512 [0 0 0 0] ------- [1:0 2:0 32 0] [0] 1 0",
    "s 3.000000000 _1_ AGT  --- 21 cbr 512 [0 0 0 0] ------- [1:0 2:0 32 0] [1] 0 0",
]


def test_a_trace_of_ns2_is_counted_by_kind_and_cause() -> None:
    counts = of_ns2(TRACE, 0.0, 10.0)
    assert counts.packets == Counter(
        {
            ("rreq", "neighbours", "made"): 2,
            ("rreq", "all", "made"): 1,
            ("rreq", "all", "forwarded"): 1,
            ("rrep", "target", "made"): 1,
            ("rrep", "target", "forwarded"): 1,
            ("rrep", "cache", "made"): 1,
            ("rrep", "shorter", "made"): 1,
            ("rerr", "broken", "made"): 1,
            ("rerr", "nested", "made"): 1,
            ("rerr", "unwrapped", "forwarded"): 1,
            ("rerr", "unknown-flow", "made"): 1,
        }
    )
    assert (counts.made, counts.latencies_s) == (2, [0.25])


def test_what_is_sent_before_the_warm_up_ends_is_not_counted() -> None:
    counts = of_ns2(TRACE, 1.045, 10.0)
    assert sum(counts.packets.values()) == 10
    assert counts.rate([("rreq", "all", "forwarded")]) == pytest.approx(1 / 8.955)


def test_ours_add_up_to_the_routing_packets_of_the_result() -> None:
    scenario = Scenario.build(
        {
            "movement": {"waypoint": {"nodes": 20, "width_m": 900.0, "height_m": 500.0}},
            "traffic": {"random": {"tcp": 1, "cbr": 4}},
            "duration_s": 30.0,
            "warmup_s": 10.0,
            "routing": "dsr",
            "profile": "ns-2.35",
        }
    )
    counts = of_ours(scenario, 10.0, 30.0)
    assert {cause for _, cause, _ in counts.packets} >= {"neighbours", "cache", "broken"}
    total = sum(counts.packets.values()) / 20.0
    assert total == pytest.approx(run(scenario).totals["routing_packets_per_s"])


def test_the_table_shows_rates_and_shares() -> None:
    key = ("rreq", "all", "made")
    theirs = [Counts(Counter({key: 20}), 1, [0.1], 10.0)] * 2
    ours = [Counts(Counter({key: 10}), 1, [0.2], 10.0)] * 2
    text = table("x", theirs, ours).to_markdown()
    assert "| rreq, all, made | 2.000 ± 0.000 | 1.000 ± 0.000 | -1.00 | -50.0% |" in text
    assert "+0.100" in text
