"""The studies that are kept: how systems are ranked, what is drawn, and that the page fits the kept runs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import click
import numpy as np
import pandas as pd
import pytest

from manetlab.campaign import Campaign
from studies import adjusted, deciding, drawing, ranking, remedies
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


def test_the_tables_of_the_page_are_those_of_the_kept_runs() -> None:
    page = remedies.PAGE.read_text(encoding="utf-8")
    for sessions, listed in remedies.ranked(KEPT).items():
        assert remedies.sentence(sessions, listed) in page
        assert remedies.ranking(sessions, listed).to_markdown() in page
    assert remedies.by_speed(KEPT, len(SYSTEMS)).to_markdown() in page
    for system in SYSTEMS:
        routing, _, remedy = system.partition(", ")
        if routing == "DSR":
            assert (remedies.FIGURES / f"{remedies.slug(remedy)}.svg").exists()
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
    triangles = [each for each in root.findall(f"{name}path") if each.attrib.get("fill") == drawing.TIMEOUT]
    assert len(triangles) == 2


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
    assert noise.adjusted < 150
    assert 0.8 < noise.gain <= 1.05
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
def test_every_variant_of_a_deciding_run_is_another_scenario(name: str) -> None:
    question = deciding.questions()[name]
    first, *others = question["variants"].values()
    assert first == {}
    for _, campaign, compared in deciding.places(question):
        for levels in compared:
            hashes = [
                next(deciding.scenarios(question, campaign, levels, fields)).resolve().hash
                for fields in (first, *others)
            ]
            assert len(set(hashes)) == len(hashes), "a variant that changes nothing"
