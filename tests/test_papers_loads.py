"""Experiments of datagrams, video and Web sessions: their set-ups, and what is computed from their runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from manetlab.campaign import Campaign
from manetlab.papers import ledger
from manetlab.papers.evidence import Trend
from manetlab.papers.experiments import (
    datagrams,
    http,
    http_paper,
    mixes,
    studies,
    video,
    video_costs,
    video_figures,
)
from manetlab.papers.reproduce import Reproduction
from manetlab.papers.samples import Samples
from manetlab.papers.study import Scale
from manetlab.resolving import Resolved

LEDGER = ledger.load()


def resolved(campaign: Campaign, replication: int = 4, **levels: object) -> Resolved:
    """The scenario of the point at these levels."""
    [point] = [
        each
        for each in campaign.points
        if all(str(each.levels[name]) == str(label) for name, label in levels.items())
    ]
    return point.scenario(replication).resolve()


def ends(scenario: Resolved, kind: str) -> list[tuple[int, int]]:
    return [(flow["src"], flow["dst"]) for flow in scenario.flows if flow["kind"] == kind]


def test_the_windowed_variant_doubles_and_has_endless_data() -> None:
    windowed, clocked = datagrams.campaigns(LEDGER, Scale())
    for campaign, variant in ((windowed, "windowed"), (clocked, "ack-clocked")):
        scenario = resolved(campaign, protocol="AODV")
        assert scenario.params["adp"]["variant"] == variant
        assert scenario.params["adp"]["tto_policy"] == "doubling"
        assert [flow["kind"] for flow in scenario.flows] == ["adp", *["cbr"] * 10]
        load_bps = sum(8 * flow["bytes"] / flow["interval_s"] for flow in scenario.flows[1:])
        assert load_bps == pytest.approx(100_000)


def test_senders_of_video_differ_in_nothing_else() -> None:
    campaign = video.by_flows(LEDGER, Scale())
    at = {"protocol": "ADV", "traffic.random.video": 5}
    of = {name: resolved(campaign, sender=name, **at) for name in (video.UDP, video.ADP, video.UNLIMITED)}
    assert len({str(ends(each, "video")) for each in of.values()}) == 1
    assert len(ends(of[video.UDP], "video")) == 5
    assert {flow["transport"] for flow in of[video.UDP].flows if flow["kind"] == "video"} == {"udp"}
    assert [of[name].params["adp"]["buffer_frames"] for name in (video.ADP, video.UNLIMITED)] == [75, 0]
    assert of[video.ADP].params["adp"]["tto_policy"] == "fixed"
    # Transfers go where the video goes.
    ftp = resolved(video.transfers(LEDGER, Scale()), protocol="ADV", **{"traffic.random.tcp": 5})
    assert ends(ftp, "tcp") == ends(of[video.UDP], "video")
    assert ends(ftp, "cbr") == ends(of[video.UDP], "cbr")


def test_runs_with_series_serve_those_without() -> None:
    scale = Scale()
    whole = video.by_flows(LEDGER, scale)
    for part in (video.in_time(LEDGER, scale), video.backlog(LEDGER, scale)):
        for point in part.points:
            same = resolved(whole, **point.levels)
            assert same.hash == point.scenario(4).resolve().hash


def test_web_sessions_are_the_same_under_all_systems() -> None:
    campaign = http.campaign(LEDGER, Scale(), http.LOADED)
    scenarios = [point.scenario(3).resolve() for point in campaign.points]
    sessions = [[flow for flow in each.flows if flow["kind"] == "web"] for each in scenarios]
    assert all(each == sessions[0] for each in sessions)
    assert len(sessions[0]) == 10
    assert len({flow["src"] for flow in sessions[0]}) == 10
    assert len({flow["dst"] for flow in sessions[0]}) == 3
    thinks = [cycle["think_s"] for flow in sessions[0] for cycle in flow["cycles"]]
    assert max(thinks) == 15.0
    assert {len(flow["cycles"]) for flow in sessions[0]} == {20}
    reno_f = resolved(campaign, protocol="AODV", tcp="Reno-F").params["tcp"]
    assert (reno_f["sack"], reno_f["rto_policy"], reno_f["delayed_ack"]) == (True, "fixed", True)
    assert (reno_f["window"], reno_f["segment_bytes"]) == (8, 1460)


def test_a_mix_has_what_its_name_says() -> None:
    campaign = mixes.campaign(LEDGER, Scale(full=True), mixes.LOADED)
    for mix, web, transport, frames in (
        ("10 UDP", 0, "udp", 75),
        ("10 ADP (5 s buffer)", 0, "adp", 75),
        ("5 HTTP + 5 UDP", 5, "udp", 75),
        ("5 HTTP + 5 ADP (5 s)", 5, "adp", 75),
        ("5 HTTP + 5 ADP (unlimited)", 5, "adp", 0),
    ):
        scenario = resolved(campaign, protocol="AODV", tcp="Reno", mix=mix)
        of_video = [flow for flow in scenario.flows if flow["kind"] == "video"]
        assert len(ends(scenario, "web")) == web
        assert len(of_video) == 10 - web
        assert {flow["transport"] for flow in of_video} == {transport}
        assert transport == "udp" or scenario.params["adp"]["buffer_frames"] == frames
        assert (scenario.core["warmup_s"], scenario.core["duration_s"]) == (100, 300)


def test_the_article_has_both_of_advs_buffer_times() -> None:
    campaign = http_paper.campaign(LEDGER, Scale(), http_paper.FREE)
    adv = {
        name: resolved(campaign, protocol=name, tcp="Reno").params["adv"]
        for name in (http_paper.ADV, http_paper.ADV_SHORT)
    }
    keys = ("tcp_buffer_timeout_s", "other_buffer_timeout_s")
    times = {name: tuple(each[key] for key in keys) for name, each in adv.items()}
    assert times == {http_paper.ADV: (30, 30), http_paper.ADV_SHORT: (30, 1)}
    scenario = resolved(campaign, protocol="AODV", tcp="Reno")
    assert scenario.params["aodv"]["local_repair"]
    assert scenario.core["duration_s"] == 200


def video_flow(sender: str, replication: int, number: int, **measures: float | None) -> dict[str, Any]:
    counts = {"messages_made": 1500, "mac_ack_packets": 0, "mac_ack_bytes": 0}
    place = {"sender": sender, "replication": replication, "flow": number, "kind": "video"}
    return {**place, **counts, **measures}


def cbr_flow(sender: str, replication: int) -> dict[str, Any]:
    keys = video_flow(sender, replication, 9)
    return {
        **dict.fromkeys(keys, None),
        "sender": sender,
        "replication": replication,
        "flow": 9,
        "kind": "cbr",
    }


def test_costs_are_of_the_video_flows_and_weighted_by_what_they_deliver() -> None:
    flows = []
    for sender, acks in (("UDP", 0), ("ADP", 90)):
        for replication in range(2):
            flows += [
                video_flow(
                    sender,
                    replication,
                    0,
                    packets_received=100,
                    hops_mean=2.0,
                    throughput_bps=8000.0,
                    mac_packets=300,
                    mac_bytes=400_000,
                    mac_ack_packets=acks,
                    mac_ack_bytes=acks * 64,
                ),
                video_flow(
                    sender,
                    replication,
                    1,
                    packets_received=300,
                    hops_mean=4.0,
                    throughput_bps=24_000.0,
                    mac_packets=1500,
                    mac_bytes=2_000_000,
                    mac_ack_packets=acks,
                    mac_ack_bytes=acks * 64,
                ),
                video_flow(sender, replication, 2, packets_received=0, hops_mean=math.nan, throughput_bps=0.0)
                | {"mac_packets": 0, "mac_bytes": 0},
                cbr_flow(sender, replication),
            ]
    found = video_costs.figures(Samples([], flows), "ADP", divisor=0.9)
    # 1500 frames at 15 a second are 100 s of the paper's 900; 32 kb/s of them are 400,000 bytes.
    assert found["throughput, Mb/s"] == pytest.approx([0.9 * 0.032] * 2)
    assert found["packets delivered"] == pytest.approx([3600.0] * 2)
    assert found["hops per delivered packet"] == pytest.approx([3.5] * 2)
    assert found["data packets at the MAC per delivered packet"] == pytest.approx([4.5] * 2)
    assert found["ACKs at the MAC per data packet there"] == pytest.approx([0.1] * 2)
    assert found["packets at the MAC per delivered packet"] == pytest.approx([1980 / 400] * 2)
    assert found["MBytes delivered"] == pytest.approx([9 * 400_000 / 2**20] * 2)
    of_bytes = (2_400_000 + 180 * 64) / 400_000
    assert found["MBytes at the MAC per delivered MByte"] == pytest.approx([of_bytes] * 2)


def test_the_correlation_is_pearsons() -> None:
    assert video_costs.correlation([(3.0, 1.0), (2.0, 2.0), (1.0, 3.0)]) == pytest.approx(-1.0)
    assert video_costs.correlation([(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)]) == 0.0
    assert math.isnan(video_costs.correlation([(1.0, 2.0), (1.0, 3.0)]))
    assert math.isnan(video_costs.correlation([]))


def test_a_backlog_is_that_of_all_flows_step_by_step() -> None:
    rows = [
        {
            "protocol": protocol,
            "traffic.random.video": flows,
            "replication": replication,
            "time_s": time_s,
            "flow": flow,
            "waiting_messages": time_s * (flow + 1) + replication,
        }
        for protocol in datagrams.PROTOCOLS
        for flows in video.BUSY
        for replication in range(2)
        for time_s in (10.0, 20.0)
        for flow in range(2)
    ]
    found = video_figures.growing(Samples([], [], lambda _: rows))
    assert set(found.of) == {"ADV, 5", "ADV, 10", "AODV, 5", "AODV, 10"}
    assert found.of["ADV, 5"] == Trend([[30.0, 32.0], [60.0, 62.0]], +1)


def web_rows(times: dict[str, list[list[float | None]]]) -> list[dict[str, Any]]:
    return [
        {
            "protocol": protocol,
            "tcp": tcp,
            "kind": "web",
            "replication": replication,
            "flow": flow,
            "service_time_s": value,
        }
        for protocol, of_runs in times.items()
        for tcp in http.TCPS
        for replication, values in enumerate(of_runs)
        for flow, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("aodv", "satisfied", "broken"),
    [
        # Longer than ADV's in all ten; in nine; in none, surely; in none, but not surely.
        ([[2.0] * 10, [2.1] * 10, [2.2] * 10], True, False),
        ([[2.0] * 9 + [0.5], [2.1] * 9 + [0.6], [2.2] * 9 + [0.7]], True, False),
        ([[0.5] * 10, [0.6] * 10, [0.7] * 10], False, True),
        ([[0.5] * 10, [0.6] * 10, [1.5] * 10], False, False),
    ],
)
def test_nine_of_ten_sessions_must_be_shorter(
    aodv: list[list[float | None]], satisfied: bool, broken: bool
) -> None:
    adv: list[list[float | None]] = [[1.0] * 10, [1.1] * 10, [1.2] * 10]
    samples = Samples([], web_rows({"ADV": adv, "AODV": aodv}))
    found = http.shorter(LEDGER.claim("D6-12"), samples, "service_time_s")
    assert (found.satisfied, found.broken) == (satisfied, broken)


def test_the_growing_rto_saves_what_the_closed_form_says() -> None:
    closed = 100 * (1 - 10 / sum(1.05**power for power in range(10)))
    # The timer has ticks of a tenth of a second.
    assert http_paper.saved(0.05, 10) == pytest.approx(closed, abs=0.1)
    assert http_paper.saved(0.0, 10) == pytest.approx(0.0)


@pytest.mark.parametrize("key", ["dyer2002/table-5.8", "dyer2002/fig-6.12", "dyer2003/fig-8"])
def test_small_runs_are_judged_claim_by_claim(key: str, tmp_path: Path) -> None:
    reproduction = Reproduction(LEDGER, Scale(replications=2, duration_share=0.2), tmp_path, jobs=2)
    made = reproduction.make(studies()[key])
    assert [each.claim for each in made] == [claim.id for claim in LEDGER.claims_of(LEDGER.experiments[key])]
    assert all(each.ours for each in made)
    tables = studies()[key].tables(LEDGER, reproduction.runs)
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
