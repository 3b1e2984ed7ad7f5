"""Flows that are to begin together get through: in the default profile no result is an artefact of phase."""

from __future__ import annotations

from typing import Any

import pytest

from manetlab import Scenario, run

CELL = [[0, 0], [200, 0], [100, 0]]
"""Two stations in reach of a third."""
TWO_ANSWERS = [[0, 100], [200, 0], [200, 200], [400, 100]]
"""Node 0 has two neighbours, which both reach node 3."""


def cbr(src: int, dst: int, start_s: float, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "cbr",
        "src": src,
        "dst": dst,
        "start_s": start_s,
        "bytes": 200,
        "interval_s": 0.25,
        **fields,
    }


def scenario(flows: list[dict[str, Any]], positions: list[Any] | None = None, **fields: Any) -> Scenario:
    movement = {"positions": CELL if positions is None else positions}
    return Scenario.build(
        {"duration_s": 30.0, "movement": movement, "traffic": {"flows": flows}, "routing": "static", **fields}
    )


def delivered(flows: list[dict[str, Any]], **fields: Any) -> list[float]:
    return [flow["delivery_fraction"] for flow in run(scenario(flows, **fields)).flows]


@pytest.mark.parametrize("routing", ["static", "flooding", "lunar", "aodv", "dsr", "adv"])
@pytest.mark.parametrize("apart_s", [0.0, 1.0])
def test_two_senders_in_step_get_through(routing: str, apart_s: float) -> None:
    flows = [cbr(0, 2, 2.0), cbr(1, 2, 2.0 + apart_s)]
    for seed in (1, 2):
        assert min(delivered(flows, routing=routing, seed=seed)) > 0.95


@pytest.mark.parametrize("routing", ["static", "dsdv", "lunar", "flooding", "adv"])
def test_two_transfers_that_begin_together_connect(routing: str) -> None:
    flows = [{"kind": "tcp", "src": src, "dst": 2, "start_s": 1.0} for src in (0, 1)]
    rates = [flow["throughput_bps"] for flow in run(scenario(flows, routing=routing)).flows]
    assert min(rates) > 100_000


def test_the_profiles_of_ns_2_begin_flows_exactly_when_the_scenario_says() -> None:
    flows = [cbr(0, 2, 1.0), cbr(1, 2, 1.0)]
    made = [
        event["t"]
        for event in _events(scenario(flows, profile="ns-2.35", duration_s=2.0))
        if event["event"] == "made"
    ]
    assert made[:2] == [1.0, 1.0]


def test_without_jitter_the_default_profile_has_the_lockstep_that_jitter_avoids() -> None:
    flows = [cbr(0, 2, 1.0), cbr(1, 2, 1.0)]
    old = {"arp": {"request_jitter_ms": 0.0, "retry_interval_ms": 0.0}, "network": {"start_jitter_ms": 0.0}}
    assert max(delivered(flows, **old)) == 0.0
    with_arp = {"network": {"start_jitter_ms": 0.0}}
    assert min(delivered(flows, **with_arp)) > 0.95, "jittered requests alone are enough"


def test_answers_to_one_request_do_not_lock_a_source_out() -> None:
    flows = [cbr(1, 3, 1.0), cbr(2, 3, 1.6), cbr(0, 3, 5.0)]
    for seed in range(1, 21):
        fractions = delivered(flows, positions=TWO_ANSWERS, routing="aodv", seed=seed)
        assert min(fractions) > 0.95, f"seed {seed}"


def test_random_transfers_begin_within_a_window() -> None:
    mobile = {
        "duration_s": 30.0,
        "warmup_s": 5.0,
        "movement": {"waypoint": {"nodes": 20, "width_m": 500.0, "height_m": 300.0}},
        "routing": "aodv",
    }

    def starts(random: dict[str, Any], **fields: Any) -> list[float]:
        built = Scenario.build({**mobile, "traffic": {"random": random}, **fields})
        return [flow["start_s"] for flow in built.resolve().flows]

    drawn = starts({"tcp": 6})
    assert len(set(drawn)) == 6
    assert all(5.0 <= start < 6.0 for start in drawn)
    assert starts({"tcp": 6}, profile="ns-2.35") == [5.0] * 6
    assert starts({"tcp": 6, "tcp_start_s": 2.0}) == [2.0] * 6
    assert all(
        2.0 <= start < 4.0 for start in starts({"tcp": 6, "tcp_start_s": 2.0, "tcp_start_within_s": 2.0})
    )
    assert starts({"adp": 3, "cbr": 5})[3:] == starts({"adp": 3, "cbr": 5}, profile="ns-2.35")[3:]


def _events(built: Scenario) -> list[dict[str, Any]]:
    import json

    return [json.loads(line) for line in str(run(built, record=True).recording).splitlines()[1:]]
