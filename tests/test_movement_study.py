"""The study of movement: what is kept, its page, and kept runs and links made again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import run
from manetlab.campaign import Campaign
from manetlab.scenario import Scenario
from manetlab.topology import report
from studies import movement
from studies.movement import PLACES, rate_of_uniform_places

RUNS, SEEN = pd.read_parquet(movement.KEPT), pd.read_csv(movement.LINKS)


def test_the_page_is_that_of_what_is_kept(tmp_path: Path) -> None:
    done = CliRunner().invoke(movement.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    made = (tmp_path / movement.PAGE).read_text(encoding="utf-8")
    assert made == (movement.HERE / movement.PAGE).read_text(encoding="utf-8")


def test_nodes_at_uniform_places_have_the_rate_of_their_distances() -> None:
    uniform = SEEN[SEEN["movement"].isin(["random walk", "Gauss-Markov"])]
    for _, rows in uniform.groupby(["movement", "speed_mps"]):
        wanted = rate_of_uniform_places(rows["geometric_mobility"].mean())
        assert rows["link_changes_per_s"].mean() == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("preset", ["conference", "event", "disaster"])
def test_a_kept_run_and_kept_links_come_out_again(preset: str) -> None:
    whole = Campaign.load(movement.CAMPAIGN)
    assert len(RUNS) == whole.point_count * whole.replications
    assert not RUNS.duplicated([*PLACES, "replication"]).any()
    point = next(each for each in whole.points if list(each.levels.values()) == [preset, "DSR"])
    chosen = (RUNS["preset"] == preset) & (RUNS["protocol"] == "DSR") & (RUNS["replication"] == 0)
    [row] = RUNS[chosen].itertuples()
    assert run(whole.scenario(point.number, 0)).hash.startswith(str(row.result_hash))
    again = report(Scenario.build({"preset": preset, "traffic": {"flows": []}, "seed": 2}))
    [kept] = SEEN[(SEEN["movement"] == preset) & (SEEN["seed"] == 2)].itertuples()
    assert again.geometric_mobility == pytest.approx(kept.geometric_mobility, rel=1e-5)
