"""Set-ups: every point is a scenario, and what is run is the papers' and enough for every verdict."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab.campaign import Campaign
from manetlab.errors import InputError
from manetlab.metrics import MEASURES as TOTALS
from manetlab.resolving import Resolved
from manetlab.scenario import Scenario
from manetlab.topology import shortest_hops_over_time
from manetlab_papers import ledger
from manetlab_papers.campaigns import Part, Scale, needed, parts
from manetlab_papers.functions import layouts, load_all
from manetlab_papers.outcomes import Outcome
from manetlab_papers.quantities import Evaluator
from manetlab_papers.rules import judge, judge_all
from manetlab_papers.samples import Row, Runs, Tables
from manetlab_papers.tables import tables_of

LEDGER = ledger.load()
load_all()
QUICK, FULL = Scale(), Scale(full=True)


def part_of(name: str, scale: Scale = QUICK, **labels: object) -> Campaign:
    [part] = parts(LEDGER, name, scale, labels)
    return part.campaign


def resolved(campaign: Campaign, replication: int = 4, **levels: object) -> Resolved:
    """The scenario of the one point at these levels."""
    [point] = [
        each
        for each in campaign.points
        if all(str(each.levels[name]) == str(label) for name, label in levels.items())
    ]
    return point.scenario(replication).resolve()


def flows_of(scenario: Resolved, kind: str) -> list[dict[str, Any]]:
    return [flow for flow in scenario.flows if flow["kind"] == kind]


def load_bps(flows: list[dict[str, Any]]) -> float:
    return sum(8 * flow["bytes"] / flow["interval_s"] for flow in flows)


@pytest.mark.parametrize("name", LEDGER.campaigns)
def test_every_point_of_every_campaign_is_a_scenario(name: str) -> None:
    for scale in (QUICK, FULL):
        for part in parts(LEDGER, name, scale):
            part.campaign.check()


def test_every_campaign_is_needed_by_an_experiment() -> None:
    used = {part.family for each in LEDGER.runnable.values() for part in needed(LEDGER, each, FULL)}
    # The capacity of Fig. 1.2 is read off the movement.
    assert used == set(LEDGER.campaigns) - {"fig-1.2"}


@pytest.mark.parametrize("name", LEDGER.campaigns)
def test_sessions_are_only_where_a_set_up_says_how_many(name: str) -> None:
    # What a paper leaves open about sessions is filled in for every campaign of its experiment.
    for part in parts(LEDGER, name, FULL):
        for point in part.campaign.points:
            web = point.scenario(0).to_dict().get("traffic", {}).get("web")
            assert web is None or "clients" in web, point.levels


def test_quick_takes_fewer_scenarios_of_the_same_and_full_the_papers() -> None:
    quick, full = (part_of("outage-worst", scale, protocol="AODV") for scale in (QUICK, FULL))
    assert (quick.replications, full.replications) == (20, 50)
    assert quick.points[1].scenario(7) == full.points[1].scenario(7)


def test_quick_may_run_less_of_the_measured_time_and_full_never_does() -> None:
    cell = {"transfers": 1, "kbps": 50, "flows": 10}
    quick, full = (part_of("ftp", scale, **cell).base for scale in (QUICK, FULL))
    assert (quick["warmup_s"], quick["duration_s"]) == (100, 100 + 0.35 * 900)
    assert (full["warmup_s"], full["duration_s"]) == (100, 1000)
    shorter = part_of("ftp", Scale(full=True, duration_share=0.1), **cell).base
    assert shorter["duration_s"] == 190


# Some set-ups, value by value.


def test_the_set_up_of_table_4_3_is_the_papers() -> None:
    campaign = part_of("ftp", FULL, transfers=1, kbps=50, flows=40)
    reno_f = resolved(campaign, protocol="AODV", technique="SACK + fixed RTO + delayed ACKs")
    tcp = reno_f.params["tcp"]
    assert (tcp["sack"], tcp["rto_policy"], tcp["delayed_ack"]) == (True, "fixed", True)
    assert (tcp["window"], tcp["segment_bytes"], tcp["hold_down"]) == (8, 1460, False)
    held = resolved(campaign, protocol="DSR", technique="SACK + fixed RTO + hold-down timer + delayed ACKs")
    assert held.params["tcp"]["hold_down"]
    assert reno_f.params["network"]["cbr_late_after_s"] == 5.0
    cbr = flows_of(reno_f, "cbr")
    assert (len(cbr), load_bps(cbr)) == (40, pytest.approx(50_000))
    assert all(flow["bytes"] == 512 and flow["start_s"] < 10 for flow in cbr)
    [transfer] = flows_of(reno_f, "tcp")
    assert transfer["start_s"] == reno_f.core["warmup_s"] == 100
    # Protocols and techniques see the same movement and traffic.
    assert held.flows == reno_f.flows
    assert held.movement.digest == reno_f.movement.digest


def test_adv_keeps_packets_as_long_as_the_chapter_says() -> None:
    def times(campaign: Campaign, **levels: object) -> tuple[float, float]:
        adv = campaign.points[0].campaign and resolved(campaign, **levels).params["adv"]
        return adv["tcp_buffer_timeout_s"], adv["other_buffer_timeout_s"]

    assert times(part_of("cbr-25"), routing="ADV-1sec", load=10) == (1.0, 1.0)
    assert times(part_of("cbr-25"), routing="ADV-5sec", load=10) == (5.0, 5.0)
    table = part_of("ftp", transfers=1, kbps=50, flows=10)
    assert times(table, protocol="ADV", technique="Reno") == (30.0, 30.0)
    # The HTTP paper and chapters 5 and 6 let other packets wait shortly.
    assert times(part_of("web"), protocol="ADV", tcp="Reno") == (30.0, 1.0)
    assert times(part_of("article-web"), protocol="ADV", tcp="Reno") == (30.0, 30.0)
    assert times(part_of("article-web"), protocol="ADV 30s/1s", tcp="Reno") == (30.0, 1.0)


def test_connections_that_come_in_batches_are_without_a_break() -> None:
    flows = part_of("batches-25").base["traffic"]["flows"]
    by_pair: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for each in flows:
        by_pair.setdefault((each["src"], each["dst"]), []).append(each)
    begun = Counter(listed[0]["start_s"] // 60 for listed in by_pair.values())
    assert begun == {0: 10, 1: 10, 2: 10, 3: 10, 4: 10}
    for listed in by_pair.values():
        gap_s = listed[0]["interval_s"]
        assert listed[-1]["stop_s"] == 420
        for before, after in pairwise(listed):
            # Whole intervals lie between the packets on both sides of a boundary, and none is left out.
            steps = (after["start_s"] - before["start_s"]) / gap_s
            assert steps == pytest.approx(round(steps), abs=1e-4)
            last_s = before["start_s"] + gap_s * ((before["stop_s"] - before["start_s"]) // gap_s)
            assert before["stop_s"] <= after["start_s"] + 1e-6
            assert after["start_s"] - last_s == pytest.approx(gap_s, abs=1e-4)
    assert load_bps([listed[0] for listed in by_pair.values()]) == pytest.approx(25_000)


@pytest.mark.parametrize("name", ["cbr-large", "cbr-busy", "cbr-slow", "cbr-busy-slow"])
def test_the_larger_field_has_two_widths_in_quick_and_full(name: str) -> None:
    for scale in (QUICK, FULL):
        made = [part.campaign for part in parts(LEDGER, name, scale)]
        assert [each.base["movement"]["waypoint"]["width_m"] for each in made] == [2200, 2600]
        for campaign in made:
            flows = flows_of(campaign.points[-1].scenario(2).resolve(), "cbr")
            assert len(flows) == (100 if "busy" in name else 25)


def test_senders_of_video_differ_in_nothing_else() -> None:
    of = {
        name: resolved(part_of("video"), protocol="ADV", sender=name, **{"traffic.random.video": 5})
        for name in ("UDP", "ADP", "ADP, no limit")
    }
    ends = {str([(flow["src"], flow["dst"]) for flow in flows_of(each, "video")]) for each in of.values()}
    assert len(ends) == 1
    assert [of[name].params["adp"]["buffer_frames"] for name in ("ADP", "ADP, no limit")] == [75, 0]
    assert of["ADP"].params["adp"]["tto_policy"] == "fixed"
    # Transfers go where the video goes.
    ftp = resolved(part_of("video-transfers"), protocol="ADV", **{"traffic.random.tcp": 5})
    assert str([(flow["src"], flow["dst"]) for flow in flows_of(ftp, "tcp")]) in ends
    # Where video has five seconds, so has the datagram traffic beside it.
    beside = [{**flow, "late_after_s": None} for flow in flows_of(of["ADP"], "cbr")]
    assert [{**flow, "late_after_s": None} for flow in flows_of(ftp, "cbr")] == beside


def test_runs_with_series_serve_those_without() -> None:
    whole = part_of("video")
    for name in ("video-seconds", "video-backlog"):
        for point in part_of(name).points:
            assert resolved(whole, **point.levels).hash == point.scenario(4).resolve().hash


def test_a_mix_has_what_its_name_says() -> None:
    for mix, web, transport, frames in (
        ("10 UDP", 0, "udp", 75),
        ("10 ADP (5 s buffer)", 0, "adp", 75),
        ("5 HTTP + 5 UDP", 5, "udp", 75),
        ("5 HTTP + 5 ADP (5 s)", 5, "adp", 75),
        ("5 HTTP + 5 ADP (unlimited)", 5, "adp", 0),
    ):
        scenario = resolved(part_of("mix-cbr", FULL), protocol="AODV", tcp="Reno", mix=mix)
        of_video = flows_of(scenario, "video")
        assert (len(flows_of(scenario, "web")), len(of_video)) == (web, 10 - web)
        assert {flow["transport"] for flow in of_video} == {transport}
        assert transport == "udp" or scenario.params["adp"]["buffer_frames"] == frames


def test_web_sessions_are_the_same_under_all_systems() -> None:
    scenarios = [point.scenario(3).resolve() for point in part_of("web-cbr").points]
    sessions = [flows_of(each, "web") for each in scenarios]
    assert all(each == sessions[0] for each in sessions)
    assert (len(sessions[0]), len({flow["dst"] for flow in sessions[0]})) == (10, 3)
    thinks = [cycle["think_s"] for flow in sessions[0] for cycle in flow["cycles"]]
    assert max(thinks) == 15.0
    assert {len(flow["cycles"]) for flow in sessions[0]} == {20}


def test_tcp_and_udp_of_table_5_1_go_between_the_same_nodes() -> None:
    points = part_of("ten-connections").points
    assert {point.levels["protocol"] for point in points} == {"ADV", "AODV"}
    scenarios = [point.scenario(4).resolve() for point in points]
    ends = [[(flow["src"], flow["dst"]) for flow in each.flows] for each in scenarios]
    assert len(ends[0]) == 10
    assert ends == [ends[0]] * 6
    assert load_bps(scenarios[-1].flows) == pytest.approx(1.07e6)


def test_reno_f_of_the_article_is_run_with_both_contents() -> None:
    campaign = part_of("article-web-cbr")
    of = {
        name: resolved(campaign, protocol="AODV", tcp=name).params["tcp"]
        for name in ("Reno", "Reno-F", "fixed RTO only")
    }
    techniques = {key: tuple(each[key] for key in ("sack", "delayed_ack")) for key, each in of.items()}
    assert techniques == {"Reno": (False, False), "Reno-F": (True, True), "fixed RTO only": (False, False)}
    assert [each["rto_policy"] for each in of.values()] == ["exponential", "fixed", "fixed"]


def test_adv_may_use_stale_routes_only_if_it_keeps_those_that_it_never_used() -> None:
    campaign = part_of("adv-tuning", transfers=1)
    adv = resolved(campaign, variant="stale routes used").params["adv"]
    assert (adv["ignore_former_non_receivers"], adv["unused_route_s"]) == (False, 0)


def test_elfn_is_tried_as_its_authors_did() -> None:
    campaign = part_of("feedback")
    waypoint = campaign.base["movement"]["waypoint"]
    assert (waypoint["nodes"], waypoint["width_m"], waypoint["height_m"]) == (30, 1500, 300)
    for point in campaign.points:
        scenario, label = point.scenario(3).resolve(), str(point.levels["system"])
        assert [flow["kind"] for flow in scenario.flows] == ["tcp"]
        assert scenario.params["dsr"]["reply_from_cache"] == ("no replies" not in label)
        assert (scenario.params["tcp"]["route_failure"] == "elfn") == (label == "ELFN")


def test_the_path_length_of_bansal_and_barua_is_weighted_by_its_lifetime() -> None:
    # "the average weighted length of paths …, where weights were the lifetime of a path with a particular
    # hop-count", of the route that a source holds and not of the packets that arrive.
    campaign = part_of("table-2", FULL)
    for point in campaign.points:
        assert point.scenario(0).resolve().params["network"]["measure_route_hops"]
    assert LEDGER.quantities["bansal-hops"]["measure"] == "route_hops_mean"
    for claim in ("B-22", "B-23", "B-38", "B-42", "B-43"):
        assert '"bansal-hops"' in json.dumps(LEDGER.claims[claim].rule), claim


@pytest.mark.parametrize("cut_s", LEDGER.campaigns["cut-pipe"]["factors"]["delay_s"]["labels"])
def test_the_pipe_is_cut_for_as_long_as_its_name_says(cut_s: float) -> None:
    [part] = parts(LEDGER, "cut-pipe", QUICK)
    [point, *_] = [each for each in part.campaign.points if each.levels["delay_s"] == cut_s]
    scenario = point.scenario(0)
    path = scenario.movement_file
    assert path is not None
    assert path.read_text(encoding="utf-8") == layouts.cut_movement(cut_s)
    [hops] = shortest_hops_over_time(scenario, step_s=0.05).hops
    stretches = [(found, len(list(steps)) * 0.05) for found, steps in groupby(hops)]
    assert {found for found, _ in stretches} == {2, None}
    for found, lasted_s in stretches[:-1]:
        assert lasted_s == pytest.approx(10 if found == 2 else cut_s, abs=0.25)


@given(st.integers(1, 6))
def test_flows_of_a_star_meet_in_its_middle_only(flows: int) -> None:
    def hops(places: list[list[float]], pairs: list[tuple[int, int]]) -> list[list[int | None]]:
        fields = {"movement": {"positions": places}, "traffic": {"flows": []}, "duration_s": 1.0}
        return shortest_hops_over_time(Scenario.build(fields), pairs, 1.0).hops

    places = layouts.star(flows, {"spacing_m": 200.0})["movement"]["positions"]
    pairs = [(2 * number + 1, 2 * number + 2) for number in range(flows)]
    assert hops(places, pairs) == [[2]] * flows
    # Without the middle node there is no path of two hops.
    assert all(of != [2] for of in hops(places[1:], [(src - 1, dst - 1) for src, dst in pairs]))


# Verdicts on anything.

MEASURES = (
    *("throughput_bps", "hops_mean", "latency_mean_s", "sent", "received", "packet_delivery_fraction"),
    *(
        "network_latency_mean_s",
        "route_repairs",
        "route_repair_mean_s",
        "route_repair_max_s",
        "longest_gap_s",
    ),
    *("timeouts_in_row", "service_time_s", "response_time_mean_s", "packets_received", "messages_made"),
    *("mac_packets", "mac_bytes", "mac_ack_packets", "mac_ack_bytes", "route_hops_mean"),
    *("path_hops_mode", "path_hops_mode_share", "path_partitioned"),
)


def made_up(
    part: Part, replications: int = 4, value: Callable[..., Any] | None = None, sessions: int = 1
) -> Tables:
    """Tables with all that a campaign would measure, at random, or a `value` of point, flow and measure."""
    campaign, draw = part.campaign, Random(part.campaign.name)

    def made(*name: Any) -> Any:
        return draw.uniform(0.5, 1.0) if value is None else value(*name)

    runs, flows, drops, series = [], [], [], []
    totals = [*TOTALS]
    listed = campaign.base.get("traffic", {}).get("flows", [None, None])
    for point in campaign.points:
        for replication in range(replications):
            place = {**point.levels, "replication": replication}
            where = (part.family, str({**part.labels, **point.levels}), replication)
            runs.append({**place, **{name: made(*where, 0, name) for name in totals}})
            drops.append({**place, "packets": "cbr", "reason": "link-failure", "count": 1})
            kinds = ["cbr"] * len(listed) if listed[0] else ["tcp", *["web"] * sessions, "video"]
            for number, kind in enumerate(kinds):
                measures = {name: made(*where, number, name) for name in MEASURES}
                flows.append({**place, "flow": number, "kind": kind, **measures})
            if campaign.series_s is not None:
                series += [
                    {
                        **place,
                        "flow": 0,
                        "time_s": 100.0 + campaign.series_s * step,
                        "routing_packets": made(*where, step, "routing_packets"),
                        "cbr_delivered_bytes": made(*where, step, "cbr_delivered_bytes"),
                        "rto_s": 2.0**step,
                        "tcp_timeouts": 1,
                        "waiting_messages": made(*where, step, "waiting_messages"),
                        "delivered_messages": made(*where, step, "delivered_messages"),
                        "packets": 5,
                        "waiting_mean": made(*where, step, "waiting_mean"),
                        "relayed_packets": 3,
                        "relayed_waiting_mean": made(*where, step, "relayed_waiting_mean"),
                        "flows": 2,
                        "shared_mean": made(*where, step, "shared_mean"),
                    }
                    for step in range(1, 12 if campaign.series_s == 1.0 else 8)
                ]
    return Tables(part.labels, runs, flows, drops, lambda _: series)


class Traced(Runs):
    """Runs that note of which points they were asked, and know how long each was measured."""

    def __init__(self) -> None:
        super().__init__()
        self.measured_s: dict[str, list[tuple[dict[str, Any], float]]] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def take(self, part: Part) -> None:
        self.add(part.family, made_up(part, replications=2), LEDGER.campaigns[part.family].get("ignores", ()))
        for point in part.campaign.points:
            fields = part.campaign.fields_of(point.number, 0)
            levels = {**part.labels, **point.levels}
            measured_s = round(fields["duration_s"] - fields.get("warmup_s", 0.0), 6)
            self.measured_s.setdefault(part.family, []).append((levels, measured_s))

    def _rows(self, family: str, table: str, levels: Any, **more: Any) -> list[Row]:
        self.asked.append((family, dict(levels)))
        return super()._rows(family, table, levels, **more)

    def windows_s(self) -> set[float]:
        """How long the points were measured that were asked for."""
        return {
            measured_s
            for family, wanted in self.asked
            for levels, measured_s in self.measured_s[family]
            if all(levels.get(name, label) == label for name, label in wanted.items())
        }


CASES_OF_THEIR_OWN = {
    *("D4-29", "D4-32"),  # Each load has its paired change in a band.
    "D5-06",  # A level of CBR flows and one of transfers, each in its own band.
    "H-21",  # Sessions of two lengths, each compared at its own.
}
"""Claims that compare nothing across windows of different length."""


@pytest.mark.parametrize("scale", [QUICK, FULL], ids=["quick", "full"])
def test_what_a_claim_compares_was_measured_equally_long(scale: Scale) -> None:
    unequal = {}
    for experiment in LEDGER.runnable.values():
        runs = Traced()
        for part in needed(LEDGER, experiment, scale):
            runs.take(part)
        evaluator = Evaluator(LEDGER, runs, full=scale.full)
        for claim in LEDGER.claims_of(experiment):
            runs.asked.clear()
            judge(claim, evaluator)
            if len(runs.windows_s()) > 1:
                unequal[claim.id] = runs.windows_s()
    assert unequal.keys() <= CASES_OF_THEIR_OWN, unequal


def run_of(scale: Scale) -> Iterator[tuple[Any, Evaluator]]:
    for experiment in LEDGER.runnable.values():
        runs = Runs()
        for part in needed(LEDGER, experiment, scale):
            ignored = LEDGER.campaigns[part.family].get("ignores", ())
            runs.add(part.family, made_up(part), ignored)
        yield experiment, Evaluator(LEDGER, runs, full=scale.full)


@pytest.mark.parametrize("scale", [QUICK, FULL], ids=["quick", "full"])
def test_what_is_run_is_enough_for_a_verdict_on_every_claim(scale: Scale) -> None:
    for experiment, evaluator in run_of(scale):
        verdicts = judge_all(experiment, evaluator)
        assert [each.claim for each in verdicts] == LEDGER.claims_of(experiment)
        untested = {each.claim.id for each in verdicts if each.outcome is Outcome.NOT_TESTED}
        assert untested == {each.claim.id for each in verdicts if each.claim.rule["kind"] == "untested"}
        for table in tables_of(experiment, evaluator):
            assert table.rows
            assert all(len(row) == len(table.columns) for row in table.rows)


# Rules can fail.


def chance(name: tuple[Any, ...]) -> float:
    """A number from 0 to 1 that the name determines."""
    return int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=7).digest(), "big") / 2**56


class Drawn:
    """A value that is another in every world: one of a point and measure, with some noise of the scenario."""

    world = 0

    def __init__(self, *name: Any) -> None:
        self.name = name

    def __float__(self) -> float:
        family, levels, _, flow, measure = self.name
        noise = 0.97 + 0.06 * chance(self.name)
        return noise * math.exp(12 * chance((self.world, family, levels, flow, measure)) - 6)

    def __radd__(self, other: float) -> float:
        return other + float(self)


CANNOT_FAIL = {
    "D1-05": "by construction: the capacity is read from the printed table",
    "D4-112": "by construction: a test of the core",
    "D5-28": "by construction: frames of the source that was made from what is printed",
    "D5-29": "by construction, as D5-28",
    "D5-30": "by construction, as D5-28",
    "H-20": "by construction: a closed form that the timer carries out",
    "O-03": "by construction: the algorithm of the definition",
    "O-17": "by construction: a definition",
    "O-18": "by construction: a layout that was made for it",
    "O-19": "by construction: a test of the core",
    "O-20": "by construction: the procedure",
}
"""Claims whose rules hold whatever runs measure, and why; their outcome is never "reproduced"."""
WORLDS = 60


def sessions_of(part: Part) -> int:
    """As many as the article's where claims count them; H-18 is met by any five."""
    return 10 if part.family.startswith("article-web") else 1


def test_every_rule_fails_in_some_world() -> None:
    """No rule holds whatever is measured: of the worlds that are drawn, in one at least it does not."""
    held: dict[str, Outcome] = {}
    for experiment in LEDGER.runnable.values():
        runs = Runs()
        for part in needed(LEDGER, experiment, QUICK):
            ignored = LEDGER.campaigns[part.family].get("ignores", ())
            runs.add(part.family, made_up(part, value=Drawn, sessions=sessions_of(part)), ignored)
        evaluator = Evaluator(LEDGER, runs, full=False)
        left = [claim for claim in LEDGER.claims_of(experiment) if claim.rule["kind"] != "untested"]
        for Drawn.world in range(WORLDS):
            outcomes = {claim.id: judge(claim, evaluator).outcome for claim in left}
            left = [
                claim for claim in left if outcomes[claim.id] in (Outcome.REPRODUCED, Outcome.BY_CONSTRUCTION)
            ]
            if not left:
                break
        held |= {claim.id: outcomes[claim.id] for claim in left}
    assert held == dict.fromkeys(CANNOT_FAIL, Outcome.BY_CONSTRUCTION)


def test_a_load_without_a_number_of_flows_is_refused() -> None:
    few = LEDGER.campaigns["cbr-few"]
    lacking = {**few, "fields": {"traffic": {"random": {"tcp": 0, "cbr_kbps": 50}}}}
    changed = replace(LEDGER, campaigns={**LEDGER.campaigns, "cbr-few": lacking})
    with pytest.raises(InputError, match="cbr_kbps") as error:
        list(parts(changed, "cbr-few", QUICK))
    assert "the number of flows" in str(error.value)
