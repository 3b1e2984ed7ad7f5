"""How many flows a network carries well: what the study asks, and that its page fits the kept runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab.shares import mean_rates
from studies import horizon

KEPT, BESIDE = pd.read_parquet(horizon.KEPT), pd.read_parquet(horizon.BESIDE)
PLACES = ["part", "routing", "speed_mps", "throttle", "flows", "nodes", "replication"]


def runs_of(routing: str, worst: dict[int, list[float | None]], unfair: float = 0.05) -> pd.DataFrame:
    """Runs of two flows, unthrottled and standing, with these values of unsmoothness by size."""
    rows = [
        {
            "part": "areas",
            "routing": routing,
            "speed_mps": 0.0,
            "throttle": "off",
            "flows": 2,
            "nodes": nodes,
            "replication": number,
            "unsmoothness": value,
            "unfairness": unfair,
        }
        for nodes, values in worst.items()
        for number, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("worst", "unfair", "wanted"),
    [
        ({6: [0.5, 1.2], 18: [0.9, 0.9], 30: [0.1, 0.1]}, 0.05, "30+"),
        ({6: [0.5, 1.2], 18: [0.9, 1.2], 30: [0.1, 0.1]}, 0.05, "6"),
        ({6: [1.0, 1.0], 18: [0.1, 0.1]}, 0.05, "–"),
        ({6: [0.5, None], 18: [0.1, 0.1]}, 0.05, "–"),
        ({6: [0.5, 0.5]}, 0.1, "–"),
    ],
)
def test_the_border_is_the_last_size_before_the_first_that_breaks_a_bound(
    worst: dict[int, list[float | None]], unfair: float, wanted: str
) -> None:
    assert horizon.border(runs_of("DSR", worst, unfair), "DSR", 0.0, 2, "off") == wanted


@pytest.mark.parametrize("flows", horizon.FLOWS)
@pytest.mark.parametrize("speed_mps", horizon.SPEEDS_MPS)
def test_all_flows_have_equal_shares_at_all_times(speed_mps: float, flows: int) -> None:
    # The study compares with equal parts, and preset rates are these.
    campaign = horizon.areas_campaign(3.6e5, 2)
    for point in range(campaign.point_count):
        made = campaign.scenario(point, 1)
        areas = made.movement.areas
        assert areas is not None
        if (areas.sources, areas.speed_mps, made.routing) == (flows, speed_mps, "aodv"):
            assert mean_rates(made.resolve(), whole_bps=3.6e5) == [pytest.approx(3.6e5 / flows)] * flows


def test_every_run_is_kept_once_with_the_same_seeds() -> None:
    replications = KEPT[KEPT["part"] == "areas"]["replication"].nunique()
    whole = horizon.whole(KEPT[KEPT["part"] == "alone"])
    campaigns = {
        "alone": horizon.alone_campaign(replications),
        "areas": horizon.areas_campaign(whole, replications),
        "high": horizon.high_campaign(whole, replications),
    }
    for part, campaign in campaigns.items():
        assert len(KEPT[KEPT["part"] == part]) == campaign.point_count * replications
    start = horizon.start_campaign(whole)
    assert len(KEPT[KEPT["part"] == "start"]) == start.point_count * start.replications
    assert not KEPT.duplicated(PLACES).any()
    assert (KEPT.groupby("replication")["seed"].nunique() == 1).all()
    beside = horizon.beside_campaign(BESIDE["replication"].nunique())
    assert len(BESIDE) == beside.point_count * beside.replications


def test_the_page_and_its_figure_are_made_from_the_kept_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(horizon.main, ["--pages", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (tmp_path / horizon.PAGE).read_text(encoding="utf-8")
    assert page == horizon.page(KEPT, BESIDE)
    assert f"]({horizon.FIGURE})" in page
    assert "{" not in page
    drawn = (tmp_path / horizon.FIGURE).read_text(encoding="utf-8")
    assert all(name in drawn for name in horizon.ROUTINGS)
    horizon.draw(KEPT, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == drawn
