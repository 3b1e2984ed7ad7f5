"""What comes in time: shares within a deadline, jitter and spread of the delay, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from manetlab import InputError, Scenario, run
from manetlab.campaign import Campaign
from manetlab.metrics import applying, by_key
from tests.examples import CBR_FLOW, TCP_FLOW, chain

KINDS: dict[str, dict[str, Any]] = {
    "cbr": {"bytes": 200, "interval_s": 0.05},
    "on-off": {"bytes": 200, "interval_s": 0.05, "on_s": 1.0, "off_s": 0.5},
    "poisson": {"bytes": 200, "interval_s": 0.05},
    "trace": {"packets": [[0.1 * at, 300] for at in range(1, 30)]},
    "video": {},
    "voice": {"codec": "g729"},
    "adp": {},
}
OWN = {"in_time_fraction", "jitter_s", "delay_spread_s"}
TOTALS = {"datagram_in_time_fraction", "datagram_jitter_mean_s", "datagram_delay_spread_mean_s"}


def of_kind(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "src": 0, "dst": 3, "start_s": 0.5, **KINDS[kind], **fields}


def network_of(flows: list[dict[str, Any]], **changes: Any) -> Scenario:
    return chain(movement={"chain": {"nodes": 4}}, traffic={"flows": flows}, duration_s=5.0, **changes)


@pytest.mark.parametrize("kind", KINDS)
def test_every_flow_of_datagrams_has_a_share_in_time(kind: str) -> None:
    flows = [of_kind(kind), of_kind(kind, src=1, deadline_ms=0.001)]
    result = run(network_of(flows, network={"deadline_ms": 1e6}))
    first, second = result.flows
    assert first.keys() >= OWN
    # With a deadline of 1000 s all that is delivered is in time, with one of a microsecond nothing is.
    delivered = first["delivery_fraction" if kind == "cbr" else "message_delivery_fraction"]
    assert first["in_time_fraction"] == pytest.approx(delivered)
    assert first["in_time_fraction"] > 0.0
    assert second["in_time_fraction"] == 0.0
    assert 0.0 <= first["jitter_s"] < 5.0
    assert 0.0 <= first["delay_spread_s"] < 5.0
    assert result.totals.keys() >= TOTALS
    assert 0.0 < result.totals["datagram_in_time_fraction"] < 1.0
    [histogram, _] = result.delays
    made = first["sent" if kind == "cbr" else "messages_made"]
    assert sum(histogram["counts"]) + histogram["lost"] == made
    table = result.to_frame("delays")
    assert table[table["flow"] == 0]["count"].tolist() == histogram["counts"]


def test_a_deadline_changes_nothing_that_happens() -> None:
    flows = [CBR_FLOW, TCP_FLOW]
    plain = run(network_of(flows))
    asked = run(network_of(flows, network={"deadline_ms": 50.0}))
    assert not TOTALS & plain.totals.keys()
    assert (plain.delays, len(asked.delays)) == ([], 1)
    assert {key: value for key, value in asked.totals.items() if key not in TOTALS} == plain.totals
    assert asked.audit == plain.audit
    assert asked.provenance["events"] == plain.provenance["events"]
    assert [flow.keys() & OWN for flow in asked.flows] == [OWN, set()]


def test_flows_over_tcp_have_no_deadline() -> None:
    with pytest.raises(InputError, match="deadline_ms"):
        run(network_of([{**TCP_FLOW, "deadline_ms": 100.0}]))


def test_random_traffic_has_a_deadline_for_its_datagrams() -> None:
    scenario = chain(duration_s=5.0).changed(
        traffic={"random": {"tcp": 1, "cbr": 1, "cbr_start_within_s": 0.5, "deadline_ms": 80.0}}
    )
    kinds = {flow["kind"]: flow.get("deadline_ms") for flow in scenario.resolve().flows}
    assert kinds == {"tcp": None, "cbr": 80.0}


def test_the_share_in_time_can_be_what_a_campaign_ranks_by() -> None:
    campaign = Campaign(
        base={
            "movement": {"chain": {"nodes": 4}},
            "traffic": {"flows": [of_kind("cbr", deadline_ms=30.0)]},
            "duration_s": 3.0,
        },
        factors={"routing": ["aodv", "dsr", "static"]},
        metrics=["in_time"],
        replications=2,
    )
    results = campaign.run()
    assert list(campaign.metrics) == ["datagram_in_time_fraction"]
    assert set(results.standings["metric"]) == {"datagram_in_time_fraction"}
    shown = applying({str(key): value for key, value in results.runs.iloc[0].items()}, [{"kind": "cbr"}])
    assert by_key("datagram_in_time_fraction") in shown
