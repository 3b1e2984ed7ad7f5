"""Experiments from the ledger to verdicts: scenarios, evidence, and a small one from end to end."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab.campaign import Campaign
from manetlab.capacity import of_hops
from manetlab.errors import InputError
from manetlab.metrics import TOTALS
from manetlab.papers import capacity, kept, ledger, record, setup, wording
from manetlab.papers.evidence import Ruled, Single
from manetlab.papers.experiments import (
    buffer_times,
    by_load,
    cached_replies,
    chains,
    connections,
    crowds,
    fairness,
    fixed_topologies,
    ftp,
    one_tcp,
    one_udp,
    outages,
    quoted,
    random_topology,
    ranks,
    rectangles,
    several_tcp,
    state_diagrams,
    steady_state,
    studies,
    table_5_1,
    transient,
    tuning,
)
from manetlab.papers.reproduce import Reproduction, chosen
from manetlab.papers.samples import Samples
from manetlab.papers.study import Scale
from manetlab.papers.verdicts import Outcome
from manetlab.scenario import Scenario
from manetlab.stats import Interval
from manetlab.topology import shortest_hops_over_time

LEDGER = ledger.load()
STILL: dict[str, Any] = {
    "movement": {"chain": {"nodes": 2, "spacing_m": 100.0}},
    "traffic": {"flows": []},
    "duration_s": 1.0,
    "profile": "cmu-1998",
}


@pytest.mark.parametrize("key", list(studies()))
def test_every_point_of_every_experiment_is_a_scenario(key: str) -> None:
    for scale in (Scale(), Scale(full=True)):
        for campaign in studies()[key].campaigns(LEDGER, scale):
            assert campaign.replications >= 5
            campaign.check()


def test_quick_takes_fewer_scenarios_of_the_same_and_full_the_papers() -> None:
    [quick] = studies()["dyer2002/fig-4.14"].campaigns(LEDGER, Scale())
    [full] = studies()["dyer2002/fig-4.14"].campaigns(LEDGER, Scale(full=True))
    assert (quick.replications, full.replications) == (20, 50)
    assert quick.points[1].scenario(7) == full.points[1].scenario(7)


def test_quick_may_run_less_of_the_measured_time_and_full_never_does() -> None:
    assert Scale().times(100.0, 900.0, 0.5) == {"warmup_s": 100.0, "duration_s": 550.0}
    assert Scale(full=True).times(100.0, 900.0, 0.5) == {"warmup_s": 100.0, "duration_s": 1000.0}
    assert Scale(duration_share=0.1).times(100.0, 900.0) == {"warmup_s": 100.0, "duration_s": 190.0}


def test_the_set_up_of_a_table_is_the_papers() -> None:
    for campaign in studies()["dyer2002/table-4.3"].campaigns(LEDGER, Scale(full=True)):
        labels = [point.levels["technique"] for point in campaign.points]
        assert labels == ftp.techniques(LEDGER)
        resolved = campaign.points[labels.index(ftp.RENO_F)].scenario(3).resolve()
        tcp = resolved.params["tcp"]
        assert (tcp["sack"], tcp["rto_policy"], tcp["delayed_ack"]) == (True, "fixed", True)
        assert (tcp["window"], tcp["segment_bytes"], tcp["hold_down"]) == (8, 1460, False)
        assert campaign.points[labels.index(ftp.HOLD_DOWN)].scenario(3).resolve().params["tcp"]["hold_down"]
        assert resolved.params["network"]["cbr_late_after_s"] == 5.0
        cbr = [flow for flow in resolved.flows if flow["kind"] == "cbr"]
        load_bps = sum(8 * flow["bytes"] / flow["interval_s"] for flow in cbr)
        assert (len(cbr), load_bps) == (40, pytest.approx(50_000))
        assert all(flow["bytes"] == 512 and flow["start_s"] < 10 for flow in cbr)
        [transfer] = [flow for flow in resolved.flows if flow["kind"] == "tcp"]
        assert transfer["start_s"] == resolved.core["warmup_s"] == 100
        assert resolved.core["duration_s"] == 1000


def test_protocols_and_techniques_see_the_same_movement_and_traffic() -> None:
    made = studies()["dyer2002/fig-4.18"].campaigns(LEDGER, Scale())
    most = [campaign for campaign in made if "10 beside" in campaign.name]
    listed = [campaign.points[0].scenario(5).resolve() for campaign in most]
    assert len(listed) == 3
    assert len({json.dumps([each.flows, each.movement.digest]) for each in listed}) == 1


def test_adv_keeps_packets_as_long_as_the_chapter_says() -> None:
    def times(key: str, system: str) -> tuple[float, float]:
        adv = (
            Scenario.build({"routing": setup.routing(LEDGER.experiments[key], system), **STILL})
            .resolve()
            .params["adv"]
        )
        return adv["tcp_buffer_timeout_s"], adv["other_buffer_timeout_s"]

    assert times("dyer2002/fig-3.1", "ADV-1sec") == (1.0, 1.0)
    assert times("dyer2002/fig-3.1", "ADV-5sec") == (5.0, 5.0)
    assert times("dyer2002/table-4.2", "ADV") == (30.0, 30.0)
    # The HTTP paper and chapters 5 and 6 let other packets wait shortly.
    assert setup.ROUTINGS["ADV"] == "adv:dyer-2002"


def test_the_pairs_of_buffer_times_are_those_of_their_labels() -> None:
    campaign = studies()["dyer2002/fig-4.24"].campaigns(LEDGER, Scale())[0]
    for point in campaign.points:
        adv = point.scenario(1).resolve().params["adv"]
        both = f"{adv['tcp_buffer_timeout_s']:g}s/{adv['other_buffer_timeout_s']:g}s"
        assert both == point.levels["pair"]


def test_replies_from_caches_are_switched_in_two_columns_of_table_4_4() -> None:
    [campaign] = studies()[cached_replies.ID].campaigns(LEDGER, Scale())
    replies = [point.scenario(1).resolve().params["dsr"]["reply_from_cache"] for point in campaign.points]
    assert replies == [True, True, False, False]


def test_the_requests_of_dsr_are_as_far_apart_as_the_paper_prints() -> None:
    dsr = Scenario.build({"routing": setup.ROUTINGS["DSR"], **STILL}).resolve().params["dsr"]
    text = LEDGER.experiments["dyer2002/table-4.4"].setup["routing"]
    assert dsr["request_period_s"] == wording.number(text, "s between repeated requests")
    assert [dsr["primary_paths"], dsr["secondary_paths"]] == wording.listed(text.partition("caches")[2], ",")


def test_the_flows_of_a_connection_that_comes_in_a_batch_are_one_without_a_break() -> None:
    flows = transient.flows(LEDGER, transient.LOW)
    by_pair: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for each in flows:
        by_pair.setdefault((each["src"], each["dst"]), []).append(each)
    assert len(by_pair) == 50
    begun = Counter()
    for listed in by_pair.values():
        gap_s = listed[0]["interval_s"]
        begun[listed[0]["start_s"] // 60] += 1
        assert listed[-1]["stop_s"] == 420
        for before, after in pairwise(listed):
            # Whole intervals lie between the packets on both sides of a boundary, and none is left out.
            steps = (after["start_s"] - before["start_s"]) / gap_s
            assert steps == pytest.approx(round(steps), abs=1e-4)
            last_s = before["start_s"] + gap_s * ((before["stop_s"] - before["start_s"]) // gap_s)
            assert before["stop_s"] <= after["start_s"] + 1e-6
            assert after["start_s"] - last_s == pytest.approx(gap_s, abs=1e-4)
    assert begun == {0: 10, 1: 10, 2: 10, 3: 10, 4: 10}
    load_bps = sum(8 * listed[0]["bytes"] / listed[0]["interval_s"] for listed in by_pair.values())
    assert load_bps == pytest.approx(25_000)


def made_up(campaign: Campaign, replications: int = 4) -> Samples:
    """Samples with all that a campaign would measure, at random."""
    draw = Random(campaign.name)
    names = [metric.key for metric in TOTALS]
    runs, flows, series, drops = [], [], [], []
    for point in campaign.points:
        count = len(campaign.base.get("traffic", {}).get("flows", [0]))
        for replication in range(replications):
            place = {**point.levels, "replication": replication}
            runs.append({**place, **{name: draw.uniform(0.5, 1.0) for name in names}})
            drops.append({**place, "packets": "cbr", "reason": "link-failure", "count": 1})
            for number in range(count):
                measures = ("throughput_bps", "hops_mean", "latency_mean_s", "sent", "received")
                flows.append({**place, "flow": number, **{name: draw.uniform(0.5, 1.0) for name in measures}})
            if campaign.series_s is not None:
                steps = range(7)
                series += [
                    {**place, "time_s": 60.0 * step, "routing_packets": draw.random()} for step in steps
                ]
    return Samples(runs, flows, lambda _: series, drops)


NEW = [
    key
    for module in (
        connections,
        transient,
        tuning,
        one_tcp,
        several_tcp,
        cached_replies,
        buffer_times,
        ranks,
        rectangles,
        random_topology,
        crowds,
        quoted,
    )
    for key in (study.id for study in module.STUDIES)
]


@pytest.mark.parametrize("key", NEW)
def test_what_quick_runs_is_enough_for_a_verdict_on_every_claim(key: str) -> None:
    study = studies()[key]
    runs = {campaign.name: made_up(campaign) for campaign in study.campaigns(LEDGER, Scale())}
    verdicts = study.judge(LEDGER, runs)
    assert [each.claim for each in verdicts] == LEDGER.claims_of(LEDGER.experiments[key])
    untested = {each.claim.id for each in verdicts if each.outcome is Outcome.NOT_TESTED}
    assert untested == set(study.untested)
    assert bool(study.tables(LEDGER, runs)) == bool(runs)


def test_the_larger_field_has_two_widths_and_quick_runs_that_of_the_captions() -> None:
    def made(scale: Scale) -> dict[str, tuple[float, float]]:
        found = {}
        for campaign in studies()["dyer2002/fig-A.7"].campaigns(LEDGER, scale):
            [*_, last] = campaign.points
            scenario = last.scenario(2).resolve()
            waypoint = campaign.base["movement"]["waypoint"]
            assert (waypoint["nodes"], waypoint["boundary"]) == (100, "classic")
            flows = [flow for flow in scenario.flows if flow["kind"] == "cbr"]
            assert len(flows) == (100 if rectangles.BUSY in campaign.name else 25)
            assert {point.levels["routing"] for point in campaign.points} >= set(rectangles.ON_DEMAND)
            found[campaign.name] = (waypoint["width_m"], waypoint["height_m"])
        return found

    quick, full = made(Scale()), made(Scale(full=True))
    assert list(quick.values()) == [(2200, 600)] * 2
    assert list(full.values()) == [(2200, 600), (2600, 600)] * 2
    assert set(quick) < set(full)


def test_pauses_are_those_of_the_second_section() -> None:
    def pause(entry: str) -> float:
        [campaign] = rectangles.campaigns([entry], LEDGER, Scale())
        return float(campaign.base["movement"]["waypoint"]["pause_s"])

    assert [pause(entry) for entry in (rectangles.LARGE, rectangles.BUSY)] == [0, 0]
    assert [pause(entry) for entry in (rectangles.SLOW, rectangles.BUSY_SLOW)] == [100, 100]


def delivered(shares: dict[float, list[float]]) -> by_load.Loads:
    """Runs with these delivery fractions, by load and scenario."""
    rows = [
        {"routing": "DSR", "load": load, "replication": number, by_load.DELIVERY: share}
        for load, listed in shares.items()
        for number, share in enumerate(listed)
    ]
    return by_load.Loads(Samples(rows, []))


def test_a_scenario_saturates_where_it_loses_so_much_beyond_the_ensembles_best_load() -> None:
    of = delivered(
        {
            100.0: [0.80, 0.99, 0.90],
            200.0: [0.95, 0.95, 0.95],
            300.0: [0.89, 0.93, 0.95],
            400.0: [0.70, 0.89, 0.91],
        }
    )
    assert of.saturations_kbps("DSR", 5.0) == [300.0, 400.0, 500.0]
    assert of.saturation_kbps("DSR", 5.0) == 400.0


def test_a_saturation_beyond_the_axis_may_be_late_enough_or_not() -> None:
    def judged(here: list[float]) -> Ruled:
        axis = (200.0, 300.0, 400.0)
        rows = [
            {"routing": name, "load": load, "replication": number, by_load.DELIVERY: share}
            for name in rectangles.ON_DEMAND
            for load, share in zip(axis, here, strict=True)
            for number in range(2)
        ]
        square = [row | {by_load.DELIVERY: 0.9 if row["load"] == 200.0 else 0.8} for row in rows]
        both = by_load.Compared(*(by_load.Loads(Samples(each, [])) for each in (square, rows)))
        return rectangles.much_later(LEDGER, both)

    # The square saturates at 300 kb/s, so that 375 kb/s are asked for.
    assert judged([0.9, 0.9, 0.8]).satisfied
    assert judged([0.9, 0.9, 0.9]).satisfied
    assert judged([0.9, 0.8, 0.7]).broken


def test_what_connections_cost_is_worse_latency_and_less_delivery() -> None:
    def of(latency_s: float, share: float) -> by_load.Loads:
        row = {"routing": "DSR", "load": 100.0, "replication": 0}
        metrics = {by_load.LATENCY: latency_s, by_load.DELIVERY: share}
        return by_load.Loads(Samples([row | metrics], []))

    both = by_load.Compared(of(0.1, 0.8), of(0.3, 0.6))
    assert rectangles.loss(both, "DSR", by_load.LATENCY) == pytest.approx([200.0])
    assert rectangles.loss(both, "DSR", by_load.DELIVERY) == pytest.approx([25.0])


@pytest.mark.parametrize(("busy_at_300", "holds", "mean"), [(0.80, True, 0.95), (0.94, None, 0.945)])
def test_of_advs_saturation_the_same_load_tells_nothing(
    busy_at_300: float, holds: bool | None, mean: float
) -> None:
    def of(shares: tuple[float, float, float]) -> Samples:
        rows = [
            {"routing": "ADV-1sec", "load": load, "replication": number, by_load.DELIVERY: share}
            for load, share in zip((200.0, 300.0, 400.0), shares, strict=True)
            for number in range(2)
        ]
        return Samples(rows, [])

    field = rectangles.fields(LEDGER, rectangles.BUSY)[0]
    runs = {
        rectangles.name(rectangles.LARGE, field): of((0.95, 0.95, 0.80)),
        rectangles.name(rectangles.BUSY, field): of((0.95, busy_at_300, 0.80)),
    }
    found = rectangles.below_saturation(rectangles.Measured(LEDGER, runs))
    assert [each.holds for each in found.also] == [holds]
    assert [interval.mean for interval in found.of.values()] == pytest.approx([mean])
    assert found.part == field


@pytest.mark.parametrize(
    ("reasons", "late", "satisfied", "text"),
    [
        ({"link-failure": 60, "queue-full": 30}, 10, True, "0.9"),
        ({"link-failure": 60, "no-route": 20}, 20, False, "0.6"),
        ({"link-failure": 95, "buffer-full": 5}, 0, False, "0.95"),
    ],
)
def test_what_dsdv_loses_dies_at_the_mac_or_elsewhere(
    reasons: dict[str, int], late: int, satisfied: bool, text: str
) -> None:
    place = [{"routing": "DSDV", "load": 10.0, "replication": number} for number in range(3)]
    flows = [
        {**each, "flow": flow, "sent": 500, "received": 500 - (100 if flow else 0)}
        for each in place
        for flow in range(2)
    ]
    assert sum(reasons.values()) + late == 100
    drops = [
        {**each, "packets": packets, "reason": reason, "count": count}
        for each in place
        for reason, count in reasons.items()
        for packets in ("cbr", "routing")
    ]
    few = by_load.Loads(Samples(place, flows, None, drops))
    found = steady_state._at_mac(LEDGER.claim("D3-13"), few)
    assert found.satisfied is satisfied
    assert found.found.startswith(f"{text} ±")


def test_the_chapters_claims_are_no_verdicts_with_the_appendix_load() -> None:
    for key, chapter in zip(buffer_times.APPENDIX, buffer_times.CHAPTER, strict=True):
        study = studies()[key]
        campaigns = study.campaigns(LEDGER, Scale())
        assert {campaign.name for campaign in campaigns}.isdisjoint(
            campaign.name for campaign in studies()[chapter].campaigns(LEDGER, Scale())
        )
        cbr = [flow for flow in campaigns[0].points[0].scenario(1).resolve().flows if flow["kind"] == "cbr"]
        assert sum(8 * flow["bytes"] / flow["interval_s"] for flow in cbr) == pytest.approx(200_000)
        runs = {campaign.name: made_up(campaign) for campaign in campaigns}
        assert study.judge(LEDGER, runs) == []
        own, expected = study.tables(LEDGER, runs)
        assert [row[0] for row in own.rows] == LEDGER.experiments[key].axis
        assert [row[0] for row in expected.rows] == list(LEDGER.experiments[key].claims)


def test_timeouts_grow_as_the_state_diagrams_say(tmp_path: Path) -> None:
    reproduction = Reproduction(LEDGER, Scale(), tmp_path, jobs=2)
    [verdict] = reproduction.make(studies()[state_diagrams.FIXED])
    assert (verdict.claim, verdict.outcome) == ("D4-113", Outcome.REPRODUCED)
    [samples] = reproduction.runs.values()
    reno = state_diagrams.multipliers(samples, "Reno")
    # 3 s times 64 is beyond the greatest timeout of 64 s.
    assert reno[:4] == [2, 4, 8, 16]
    assert reno[4:8] == pytest.approx([64 / 3] * 4)
    assert state_diagrams.multipliers(samples, "fixed-RTO")[:8] == [2.0] * 8


def test_elfn_is_tried_as_its_authors_did() -> None:
    [campaign] = quoted.campaigns(LEDGER, Scale())
    waypoint = campaign.base["movement"]["waypoint"]
    assert (waypoint["speed_min"], waypoint["speed_max"]) == pytest.approx((9.0, 11.0))
    assert (waypoint["nodes"], waypoint["width_m"], waypoint["height_m"]) == (30, 1500, 300)
    for point in campaign.points:
        scenario = point.scenario(3).resolve()
        assert (scenario.params["tcp"]["window"], scenario.params["tcp"]["segment_bytes"]) == (8, 1460)
        assert [flow["kind"] for flow in scenario.flows] == ["tcp"]
        label = point.levels["system"]
        assert scenario.params["dsr"]["reply_from_cache"] == (label != quoted.NO_REPLIES)
        assert (scenario.params["tcp"]["route_failure"] == "elfn") == (label == quoted.ELFN)


def test_the_articles_other_numbers_of_connections() -> None:
    assert crowds.numbers(LEDGER) == ([1, 2, 10], [0, 10, 20, 40])
    [full] = crowds.campaigns(LEDGER, Scale(full=True))
    assert len(full.points) == 4 * 5 * 12
    [quick] = crowds.campaigns(LEDGER, Scale())
    for point in quick.points:
        counts = Counter(flow["kind"] for flow in point.scenario(1).resolve().flows)
        assert point.levels["connections"] == crowds.connections(counts["tcp"], counts["cbr"])


def test_a_scenario_in_which_nothing_arrived_stays_in_its_pair() -> None:
    rows = [
        {"routing": "DSR", "load": 10.0, "replication": number, "cbr_latency_mean_s": latency}
        for number, latency in enumerate((0.1, None, 0.3))
    ]
    samples = Samples(rows, [])
    assert samples.values("cbr_latency_mean_s") == [0.1, 0.3]
    assert by_load.Loads(samples).at("DSR", 10.0, "cbr_latency_mean_s") == pytest.approx([0.1, 0.2, 0.3])


def test_ranks_are_judged_pair_by_pair() -> None:
    claim = LEDGER.claim("D7-13")
    assert dict(zip(claim.at, claim.value, strict=True)) == {"DSR": 1.0, "AODV": 2.0, "ADV": 3.0}

    def found(dsr: float, aodv: float, adv: float) -> tuple[bool | None, bool | None]:
        values = {
            name: [level * (1 + step / 100) for step in range(5)]
            for name, level in (("DSR", dsr), ("AODV", aodv), ("ADV", adv))
        }
        ruled = ranks.ranked(claim, values, 5.0)
        return ruled.satisfied, ruled.broken

    assert found(3.0, 2.0, 1.0) == (True, False)
    assert found(3.0, 2.95, 1.0) == (False, False)
    assert found(1.0, 2.0, 3.0) == (False, True)
    tied = LEDGER.claim("D7-16")
    same = {"DSR": [3.0, 3.1], "AODV": [3.0, 3.05], "ADV": [1.0, 1.1]}
    assert ranks.ranked(tied, same, 5.0).satisfied
    assert ranks.ranked(tied, {**same, "AODV": [2.0, 2.1]}, 5.0).broken


def test_a_loss_without_a_mechanism_is_contradicted_by_a_clear_gain_only() -> None:
    claim = LEDGER.claim("D4-13")
    judged = [one_tcp.clear_loss(claim, Interval(mean, 2.0, 20)) for mean in (-6.0, 0.5, 9.0)]
    assert [(each.satisfied, each.broken) for each in judged] == [
        (True, False),
        (False, False),
        (False, True),
    ]


def test_the_load_at_which_two_latencies_cross_is_looked_for() -> None:
    def crossing(dsr_s: list[float]) -> Ruled:
        rows = [
            {
                "routing": name,
                "load": load,
                "replication": replication,
                "cbr_latency_mean_s": value + replication / 1e3,
            }
            for name, values in (("DSR", dsr_s), ("AODV", [1.0] * 4))
            for load, value in zip((50.0, 150.0, 250.0, 350.0), values, strict=True)
            for replication in range(5)
        ]
        return steady_state._crossing(LEDGER.claim("D3-04"), by_load.Loads(Samples(rows, [])))

    assert crossing([0.5, 0.5, 1.5, 1.5]).satisfied
    assert not crossing([0.5, 1.5, 1.5, 1.5]).satisfied
    assert crossing([2.0, 2.0, 2.0, 2.0]).broken


def test_tcp_and_udp_of_table_5_1_go_between_the_same_nodes() -> None:
    [campaign] = studies()[table_5_1.ID].campaigns(LEDGER, Scale())
    ends = [
        [(flow["src"], flow["dst"]) for flow in point.scenario(4).resolve().flows]
        for point in campaign.points
    ]
    assert len(ends[0]) == 10
    assert ends == [ends[0]] * 3
    udp = campaign.points[-1].scenario(4).resolve().flows
    assert sum(8 * flow["bytes"] / flow["interval_s"] for flow in udp) == pytest.approx(1.07e6)


def test_one_udp_flow_goes_where_the_tcp_flow_goes() -> None:
    alone, udp = studies()[one_udp.FAST].campaigns(LEDGER, Scale())
    [tcp], [cbr] = (each.points[0].scenario(2).resolve().flows for each in (alone, udp))
    assert (tcp["src"], tcp["dst"]) == (cbr["src"], cbr["dst"])
    assert one_udp.rates_kbps(LEDGER) == [300, 500, 1460]


def placed(places: list[list[float]]) -> Scenario:
    return Scenario.build({"movement": {"positions": places}, "traffic": {"flows": []}, "duration_s": 1.0})


@given(st.integers(1, 6))
def test_flows_of_a_star_meet_in_its_middle_only(flows: int) -> None:
    places = chains.star(flows, 200.0)
    pairs = [(2 * number + 1, 2 * number + 2) for number in range(flows)]
    assert shortest_hops_over_time(placed(places), pairs, 1.0).hops == [[2]] * flows
    # Without the middle node there is no path of two hops.
    apart = [(src - 1, dst - 1) for src, dst in pairs]
    without = shortest_hops_over_time(placed(places[1:]), apart, 1.0).hops
    assert all(hops != [2] for hops in without)


def test_the_capacity_is_that_of_the_shortest_path() -> None:
    table = capacity.table_mbps(LEDGER)
    assert [of_hops(hops, table) for hops in (None, 1, 2, 10, 11, 40)] == [
        0.0,
        *table[:2],
        *[table[-1]] * 3,
    ]
    moving = {
        "movement": {"positions": [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [200.0, 240.0], [900.0, 0.0]]},
        "traffic": {"flows": []},
        "duration_s": 1.0,
    }
    scenario = Scenario.build(moving)
    over_time = [capacity.over_time(LEDGER, scenario, 0, dst)[0] for dst in (1, 2, 3, 4)]
    assert over_time == [table[0], table[1], table[1], 0.0]


def test_the_ledgers_range_is_the_radios() -> None:
    text = LEDGER.experiments["dyer2002/fig-1.2"].setup["mac_phy"]
    reach_m = wording.number(text, "m nominal range")
    for distance_m, hops in ((reach_m - 0.1, 1), (reach_m + 0.1, None)):
        places = placed([[0.0, 0.0], [distance_m, 0.0]])
        assert shortest_hops_over_time(places, [(0, 1)], 1.0).hops == [[hops]]


def test_what_depends_on_an_unknown_set_up_is_said_only_if_all_agree() -> None:
    def across(*outcomes: Outcome) -> tuple[bool | None, bool | None]:
        named = {str(number): outcome for number, outcome in enumerate(outcomes)}
        found = fairness.across(named, dict.fromkeys(named, "1"))
        return found.satisfied, found.broken

    assert across(Outcome.REPRODUCED, Outcome.REPRODUCED) == (True, False)
    assert across(Outcome.CONTRADICTED, Outcome.CONTRADICTED) == (False, True)
    assert across(Outcome.REPRODUCED, Outcome.CONTRADICTED) == (False, False)
    assert across(Outcome.INCONCLUSIVE, Outcome.CONTRADICTED) == (False, False)


def row(technique: str, replication: int, mbps: float) -> dict[str, object]:
    return {"technique": technique, "replication": replication, "tcp_throughput_bps": mbps * 1e6}


def flow(technique: str, replication: int, **measures: float | None) -> dict[str, object]:
    return {"technique": technique, "replication": replication, "flow": 0, **measures}


def outage_samples(
    gaps: list[tuple[float, float]], repairs: list[tuple[float | None, float | None]]
) -> Samples:
    runs = [row(label, number, 1.0 + number) for number in range(len(gaps)) for label in TECHNIQUES]
    flows = [
        flow(label, number, longest_gap_s=gap, route_repair_mean_s=repair)
        for number, (both_gaps, both_repairs) in enumerate(zip(gaps, repairs, strict=True))
        for label, gap, repair in zip(TECHNIQUES, both_gaps, both_repairs, strict=True)
    ]
    return Samples(runs, flows)


TECHNIQUES = (outages.RENO, outages.RENO_F)


def test_a_stall_of_reno_that_reno_f_shortens_is_looked_for() -> None:
    claim = LEDGER.claim("D4-52")
    assert outages.stalls(claim, [50.0, 5.0], [20.0, 5.0]).satisfied
    # Both stand still: there was no path.
    assert outages.stalls(claim, [50.0, 5.0], [48.0, 5.0]).satisfied is False
    assert outages.stalls(claim, [50.0] * 2, [48.0] * 2).broken is False
    assert outages.stalls(claim, [50.0] * 50, [48.0] * 50).broken is True


def test_the_average_scenario_is_the_one_nearest_the_mean() -> None:
    samples = outage_samples([(9.0, 1.0)] * 3, [(0.6, 0.4), (0.9, None), (0.7, 0.5)])
    found = outages.reno_evidence(LEDGER, {outages.ALONE: samples})["D4-49"]
    assert isinstance(found, Single)
    assert found.chosen == {"": 0.9}
    of_reno_f = outages.reno_f_evidence(LEDGER, {outages.ALONE: samples})
    # Scenarios without a repair under both senders make no pair.
    change = of_reno_f["D4-51"]
    assert change.of[""].n == 2  # type: ignore[union-attr]
    assert change.of[""].mean == pytest.approx(100 * (0.9 / 1.3 - 1))  # type: ignore[union-attr]


def test_the_lowest_decile_has_two_scenarios_at_least() -> None:
    assert outages.decile([5.0, 1.0, 3.0, 2.0]) == [1, 3]
    assert outages.decile([float(value) for value in range(50, 0, -1)]) == [49, 48, 47, 46, 45]


def test_spreads_are_held_against_their_upper_end() -> None:
    claim = LEDGER.claim("B-02")
    same, apart = [[1.0, 1.01], [1.0, 1.02]], [[1.0, 1.01], [0.5, 0.51]]
    assert fixed_topologies.below(claim, {"": fixed_topologies.spread(same)}).satisfied
    found = fixed_topologies.below(claim, {"": fixed_topologies.spread(apart)})
    assert (found.satisfied, found.broken) == (False, True)


def test_fairness_may_not_rise_from_row_to_row() -> None:
    claim = LEDGER.claim("B-16")
    fall = [[0.99, 1.0], [0.6, 0.61], [0.5, 0.51], [0.5, 0.5]]
    assert fairness.falls(claim, fall).satisfied
    found = fairness.falls(claim, [*fall[:2], [0.8, 0.81], [0.5, 0.5]])
    assert (found.satisfied, found.broken) == (False, True)


def test_proportional_means_a_line_through_the_origin() -> None:
    assert fixed_topologies.through_origin({1: 2.0, 2: 4.0, 3: 6.0}) == pytest.approx(1.0)
    assert fixed_topologies.through_origin({1: 5.0, 2: 6.0, 3: 7.0}) < 0.9


def test_an_experiment_from_end_to_end_continues_where_it_stopped(tmp_path: Path) -> None:
    told: list[int] = []
    pages: list[str] = []

    def reproduce() -> list[record.Entry]:
        reproduction = Reproduction(
            LEDGER,
            Scale(replications=2, duration_share=0.05),
            tmp_path,
            progress=lambda _, report: told.append(report.ran),
        )
        made = reproduction.make(studies()[fixed_topologies.OPPOSITE])
        pages.append(
            kept.page(
                LEDGER,
                "again",
                [(studies()[fixed_topologies.OPPOSITE], made)],
                reproduction.runs,
                reproduction.costs,
            )
        )
        return made

    [entry] = reproduce()
    assert (entry.claim, entry.outcome, entry.scale) == ("B-09", Outcome.REPRODUCED, "quick")
    assert told[-1] == 4
    assert reproduce() == [entry]
    assert told[-1] == 0
    # The second time nothing is run, and the cost is that of the first.
    assert pages[0] == pages[1]
    assert all(word in pages[0] for word in ("`again`", "B-09", "| all | 4 |"))
    assert re.search(r"^Day: \d{4}-\d\d-\d\d\.$", pages[0], re.MULTILINE)
    experiment = LEDGER.experiments[fixed_topologies.OPPOSITE]
    assert all(pages[0].count(LEDGER.assumptions[name].text) == 1 for name in experiment.unstated)
    recorded = record.load(tmp_path)
    assert recorded == [entry]
    page = record.page(LEDGER, recorded, {entry.experiment: "the same as in full"})
    assert "B-09" in page
    assert "| bansal2003 |" in page


def test_names_stand_for_experiments_once_and_in_order() -> None:
    ids = [study.id for study in chosen(LEDGER, ["fig-4.15", "dyer2002/table-1.1", "fig-4.15"])]
    assert ids == ["dyer2002/table-1.1", "dyer2002/fig-4.15"]
    assert chosen(LEDGER, ["all"]) == list(studies().values())
    assert {study.id.partition("/")[0] for study in chosen(LEDGER, ["bansal2003"])} == {"bansal2003"}
    with pytest.raises(InputError, match="cannot be run yet"):
        chosen(LEDGER, ["osipov2007/fig-9"])
    with pytest.raises(InputError, match="no experiment of this paper"):
        chosen(LEDGER, ["osipov2007"])


def entry(claim: str, outcome: Outcome, scale: str = "quick", part: str = "") -> record.Entry:
    experiment = LEDGER.claim(claim).experiment
    return record.Entry(claim, str(outcome), "1", "because", part, experiment, scale, "1.0", "2026-11-22")


def test_the_status_counts_every_claim_once_and_full_runs_first(tmp_path: Path) -> None:
    made = [
        entry("D1-01", Outcome.CONTRADICTED, "full"),
        entry("D1-01", Outcome.REPRODUCED),
        entry("D5-01", Outcome.REPRODUCED, part="AODV"),
        entry("B-09", Outcome.INCONCLUSIVE),
    ]
    all_kept = record.keep(tmp_path, made)
    assert record.keep(tmp_path, made[:1]) == all_kept
    rows = {cells[0]: list(map(int, cells[1:])) for cells in record.status(LEDGER, all_kept).rows}
    assert sum(claims[0] for paper, claims in rows.items() if paper != "all") == rows["all"][0] == 430
    assert rows["all"][1:] == [1, 1, 1, 427, 1]
    assert rows["bansal2003"][1:] == [0, 0, 1, rows["bansal2003"][0] - 1, 0]


def test_a_broken_record_is_told(tmp_path: Path) -> None:
    (tmp_path / record.FILE).write_text('[{"claim": "D1-01"}]')
    with pytest.raises(InputError, match="cannot be read"):
        record.load(tmp_path)


def test_a_rule_that_the_ledger_words_is_carried_out() -> None:
    gaps = [(120.0, 9.0)]
    runs = [row(label, 0, 0.1) for label in TECHNIQUES]
    flows = [
        flow(label, 0, longest_gap_s=gap, timeouts_in_row=8.0, route_repair_mean_s=1.0)
        for label, gap in zip(TECHNIQUES, gaps[0], strict=True)
    ]
    found = outages.worst_reno_evidence(LEDGER, {outages.WORST: Samples(runs, flows)})["D4-64"]
    assert isinstance(found, Ruled)
    assert found.satisfied
