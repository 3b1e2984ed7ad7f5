"""The studies that are kept: how systems are ranked, what is drawn, and that the page fits the kept runs."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import palette
from manetlab.campaign import Campaign
from manetlab.scenario import Scenario
from studies import adjusted, deciding, drawing, overlap, ranking, remedies
from studies.outage import outage

KEPT = pd.read_parquet(remedies.KEPT)
CAMPAIGN = Campaign.load(remedies.CAMPAIGN)
SYSTEMS = {each["label"]: each["fields"] for each in CAMPAIGN.factors["system"]}


def runs_of(kbps: dict[str, float], spread: float = 1.0) -> pd.DataFrame:
    """Runs of these systems at one speed, whose scenarios differ much and systems little."""
    rows = [
        {
            "sessions": 1,
            "speed": 2,
            "system": system,
            "replication": number,
            "tcp_throughput_bps": 1e3 * (mean + 50 * number + spread * (-1) ** number * place),
        }
        for place, (system, mean) in enumerate(kbps.items())
        for number in range(10)
    ]
    return pd.DataFrame(rows)


def test_the_best_is_named_only_where_all_others_are_worse() -> None:
    clear = ranking.standings(runs_of({"DSR, Reno": 100, "DSR, a": 130, "DSR, b": 160}), 1, [2], 1, 2)
    assert [(each.system, each.verdict) for each in clear] == [
        ("DSR, b", "best"),
        ("DSR, a", "worse"),
        ("DSR, Reno", "worse"),
    ]
    assert ranking.can_be_best(clear) == ["DSR, b"]
    unclear = ranking.standings(runs_of({"DSR, Reno": 100, "DSR, a": 159, "DSR, b": 160}, 20), 1, [2], 1, 2)
    assert ranking.can_be_best(unclear) == ["DSR, b", "DSR, a"]


def test_gains_are_paired_with_reno_over_the_same_routing() -> None:
    runs = runs_of({"DSR, Reno": 100, "DSR, a": 130, "AODV, Reno": 500, "AODV, a": 490})
    listed = {each.system: each for each in ranking.standings(runs, 1, [2], 1, 2)}
    assert listed["DSR, Reno"].gain is None
    dsr, aodv = listed["DSR, a"].gain, listed["AODV, a"].gain
    assert dsr is not None
    assert aodv is not None
    assert (dsr.mean, aodv.mean) == (pytest.approx(30), pytest.approx(-10))
    # Scenarios differ by 450 kb/s, paired differences hardly at all.
    assert dsr.half_width < 5


def test_a_run_that_is_missing_is_an_error() -> None:
    runs = runs_of({"DSR, Reno": 100, "DSR, a": 130})
    with pytest.raises(ValueError, match="missing"):
        ranking.scenarios(runs.drop(index=3), 1, [2])


def test_every_run_of_the_campaign_is_kept_once_with_the_same_seeds() -> None:
    points = CAMPAIGN.point_count * CAMPAIGN.replications
    assert len(KEPT) == points
    assert not KEPT.duplicated(remedies.PLACES).any()
    assert set(KEPT["system"]) == set(SYSTEMS)
    assert (KEPT.groupby("replication")["seed"].nunique() == 1).all()


def test_the_page_has_the_tables_of_the_kept_runs_and_shows_every_outage(tmp_path: Path) -> None:
    done = CliRunner().invoke(remedies.main, ["--pages", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (tmp_path / remedies.PAGE).read_text(encoding="utf-8")
    for sessions, listed in remedies.ranked(KEPT).items():
        assert remedies.sentence(sessions, listed) in page
        assert remedies.ranking(sessions, listed).to_markdown() in page
    assert remedies.by_speed(KEPT, len(SYSTEMS)).to_markdown() in page
    for system in SYSTEMS:
        routing, _, remedy = system.partition(", ")
        if routing == "DSR":
            assert (tmp_path / remedies.FIGURES / f"{remedies.slug(remedy)}.svg").exists()
            assert f"figures/remedies/{remedies.slug(remedy)}.svg" in page


def test_in_the_outage_renos_timeouts_double_and_a_fixed_rto_keeps_trying() -> None:
    reno, fixed = (outage(name, SYSTEMS[f"DSR, {name}"]) for name in ("Reno", "fixed RTO"))
    steps = [later - earlier for earlier, later in pairwise(reno.timeline.timeouts)]
    assert [later / earlier for earlier, later in pairwise(steps)] == pytest.approx([2.0] * 3, rel=0.05)
    steps = [later - earlier for earlier, later in pairwise(fixed.timeline.timeouts)]
    assert steps == pytest.approx([1.6] * len(steps), abs=0.11)
    assert fixed.resumed_s is not None
    assert reno.resumed_s is not None
    assert fixed.resumed_s < reno.resumed_s
    [(begin, end)] = reno.timeline.apart
    # Nobody gets anything through while there is no path.
    arrived = [count for time_s, count in reno.timeline.received if begin + 0.2 < time_s < end]
    assert len(set(arrived)) == 1


def test_a_drawing_has_all_marks_within_its_frame() -> None:
    received = [(0.5 * step, 10.0 * min(step, 8)) for step in range(20)]
    made = drawing.Timeline("a < b", 0.0, 10.0, received, [5.0], [4.0, 6.0], [5.5], [(4.0, 7.0)], 100.0)
    root = ET.fromstring(drawing.svg(made))
    name = "{http://www.w3.org/2000/svg}"
    assert root.findall(f"{name}text")[0].text == "a < b"
    line = root.find(f"{name}polyline")
    assert line is not None
    points = [tuple(map(float, each.split(","))) for each in line.attrib["points"].split()]
    # A flat stretch needs its two ends only.
    assert len(points) == 10
    assert all(0 <= x <= drawing.WIDTH and 0 <= y <= drawing.HEIGHT for x, y in points)
    triangles = [each for each in root.findall(f"{name}path") if each.attrib["class"] == "timeout"]
    assert len(triangles) == 3, "two timeouts, and one in the legend"


def test_the_legend_of_a_drawing_has_what_is_drawn_in_the_colours_of_all_figures() -> None:
    made = drawing.Timeline("quiet", 0.0, 10.0, [(0.0, 0.0), (10.0, 90.0)], [], [], [5.5], [], 100.0)
    drawn = drawing.svg(made)
    texts = [each.text for each in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert "search for a route" in texts
    assert not {"timeout", "segment sent while none arrives", "no path"} & {*texts}
    assert all(drawn.count(hue) for hue in (palette.ON_LIGHT[2], palette.ON_DARK[2]))
    assert "Arial" not in drawn


def population(scenarios: int = 200) -> pd.DataFrame:
    """Runs of one protocol: throughput follows the square of the capacity, and delivery is noise."""
    random = np.random.default_rng(3)
    hops = random.integers(30, 120, scenarios)
    capacity_bps = 1e6 * random.uniform(0.2, 1.5, scenarios)
    return pd.DataFrame(
        {
            "routing": "aodv",
            "replication": range(scenarios),
            "tcp_throughput_bps": 0.4 * capacity_bps**2 / 1e6 + random.normal(1e5, 1e4, scenarios),
            "cbr_delivery_fraction": random.uniform(0.4, 0.9, scenarios),
            "cbr_latency_mean_s": random.uniform(0.1, 0.3, scenarios),
            "events": 1e6,
        }
        | {f"tcp_{part}": of for part, of in _paths(capacity_bps, hops).items()}
        | {f"cbr_{part}": of for part, of in _paths(capacity_bps[::-1], hops[::-1]).items()}
    )


def _paths(capacity_bps: np.ndarray, hops: np.ndarray) -> dict[str, object]:
    return {"count": 30, "capacity_bps": 30 * capacity_bps, "without": 0, "hops": hops}


def test_the_gain_is_where_the_movement_explains_and_the_mean_is_unbiased() -> None:
    kept = population()
    explained, noise = (adjusted.tally("adjusted", kept, "aodv", of, 10, 300) for of in adjusted.METRICS[:2])
    assert explained.adjusted == 300
    assert explained.gain > 4
    bias, margin = explained.bias
    assert abs(bias) < 1.5 * margin < 0.03
    assert 0.92 <= explained.covered / 300 <= 0.98
    # How many covariates there are depends on the number of runs alone, so noise is adjusted too, at a price.
    assert noise.adjusted == 300
    assert 0.6 < noise.gain <= 1.05
    assert 0.92 <= noise.covered / 300 <= 0.98
    with pytest.raises(click.UsageError, match="more than"):
        adjusted.tally("adjusted", kept, "aodv", adjusted.METRICS[0], 11, 1)


@pytest.mark.parametrize("study", adjusted.STUDIES)
def test_the_kept_runs_of_adjusted_means_are_those_of_their_campaign(study: str) -> None:
    campaign, kept = adjusted.campaign_of(study), pd.read_parquet(adjusted.kept_of(study))
    assert campaign.name == study
    assert set(kept["routing"]) == set(campaign.factors["routing"])
    assert (kept.groupby("replication")["routing"].nunique() == 4).all()
    assert kept["code"].nunique() == 1
    assert (kept["seed"] == campaign.first_seed + kept["replication"]).all()


@pytest.mark.parametrize("name", deciding.questions())
def test_every_variant_and_every_arm_of_a_deciding_run_is_another_scenario(name: str) -> None:
    question = deciding.questions()[name]
    variants, arms = question["variants"].values(), question.get("arms", {"": {}}).values()
    assert next(iter(variants)) == {}
    for _, campaign, compared in deciding.places(question):
        for levels in compared:
            hashes = [
                next(deciding.scenarios(question, campaign, levels, arm, fields)).resolve().hash
                for arm in arms
                for fields in variants
            ]
            assert len(set(hashes)) == len(hashes), "a variant or an arm that changes nothing"


@pytest.mark.parametrize(
    ("name", "arm", "campaign", "levels"),
    [
        ("session-timeouts", "ten sessions", "web-cbr", {"protocol": "AODV", "tcp": "Reno-F"}),
        ("session-timeouts", "ten transfers", "web-transfers", {"protocol": "AODV"}),
        (
            "sessions-share",
            "five beside ADP",
            "mix-cbr",
            {"protocol": "ADV", "tcp": "Reno", "mix": "5 HTTP + 5 ADP (5 s)"},
        ),
    ],
)
def test_the_arms_of_a_deciding_run_are_what_the_papers_claims_are_judged_by(
    name: str, arm: str, campaign: str, levels: dict[str, str]
) -> None:
    question = deciding.questions()[name]
    own = next(deciding.scenarios(question, question["campaign"], question["at"], question["arms"][arm]))
    assert own.resolve().hash == next(deciding.scenarios(question, campaign, levels)).resolve().hash


def test_a_dotted_field_of_a_deciding_run_is_set_alone() -> None:
    question = {"replications": 1}
    levels = {"protocol": "ADV", "tcp": "Reno"}
    as_run = next(deciding.scenarios(question, "web-cbr", levels))
    changed = next(deciding.scenarios(question, "web-cbr", levels, {"traffic.web.cycles": 30}))
    expected = as_run.to_dict()
    expected["traffic"]["web"]["cycles"] = 30
    assert changed.to_dict() == expected


def test_a_deciding_run_measures_totals_their_ratios_and_what_is_below() -> None:
    totals = {"web_timeouts": 6, "web_connection_time_s": 30.0, "tcp_timeouts": 0, "done": 0, "all": 10}
    rates = [
        {"of": "web_timeouts", "per": "web_connection_time_s"},
        {"of": "tcp_timeouts", "divided_by": 2000},
    ]
    assert deciding.of_totals(rates, totals) == 0.2
    assert deciding.of_totals(rates, {**totals, "web_timeouts": 0, "tcp_timeouts": 500}) == 0.25
    assert deciding.of_totals({"of": "done", "below": "all"}, totals) == 1.0
    assert deciding.of_totals({"of": "done", "below": "all"}, {**totals, "done": 10}) == 0.0
    assert math.isnan(deciding.of_totals("latency_mean_s", totals))


def test_a_deciding_run_counts_packets_by_kind_and_reason() -> None:
    drops = [
        {"layer": layer, "reason": reason, "packets": packets, "count": count}
        for layer, reason, packets, count in (
            ("routing", "buffer-full", "cbr", 3),
            ("transport", "buffer-full", "cbr", 4),
            ("routing", "buffer-full", "tcp", 10),
            ("routing", "no-route", "cbr", 20),
        )
    ]
    assert deciding.of_drops({"drops": "buffer-full", "packets": "cbr"}, drops) == 7.0
    assert deciding.of_drops({"drops": "queue-full", "packets": "cbr"}, drops) == 0.0


def test_flows_share_the_node_of_their_path_where_most_are() -> None:
    assert overlap.most_shared([{0, 1, 2}, {2, 3}, {3, 4}, {5, 6}]) == [2, 2, 2, 1]
    assert overlap.most_shared([]) == []


@pytest.mark.parametrize(("ends", "shared"), [([(0, 3), (1, 2)], 2.0), ([(0, 1), (2, 3)], 1.0)])
def test_on_a_chain_routes_and_packets_give_the_same_overlap(
    ends: list[tuple[int, int]], shared: float
) -> None:
    flows = [
        {"kind": "cbr", "src": a, "dst": b, "start_s": 0.5, "interval_s": 0.5, "bytes": 100} for a, b in ends
    ]
    for routing in ("aodv", "dsr"):
        scenario = Scenario.build(
            {
                "movement": {"chain": {"nodes": 4, "spacing_m": 200.0}},
                "traffic": {"flows": flows},
                "duration_s": 30.0,
                "routing": routing,
            }
        )
        assert (overlap.by_packets(scenario), overlap.by_routes(scenario)) == (shared, shared), routing
