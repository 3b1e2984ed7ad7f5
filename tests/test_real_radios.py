"""The study of radios that are not discs: what is kept, its page, and that a kept run can be made again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import Campaign, run
from studies import real_radios

RUNS = pd.read_parquet(real_radios.KEPT)
CAMPAIGN = Campaign.load(real_radios.CAMPAIGN)


def test_every_run_is_kept_once_on_the_same_networks() -> None:
    assert len(RUNS) == CAMPAIGN.point_count * CAMPAIGN.replications
    assert not RUNS.duplicated(["surroundings", "system", "replication"]).any()
    assert (RUNS.groupby("replication")["seed"].nunique() == 1).all()


def test_the_page_is_that_of_the_kept_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(real_radios.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    for name in (real_radios.PAGE, real_radios.FIGURE):
        assert (tmp_path / name).is_file()
    made = (tmp_path / real_radios.PAGE).read_text(encoding="utf-8")
    assert made == (real_radios.DOCS / real_radios.PAGE).read_text(encoding="utf-8")


def test_radios_have_the_same_mean_number_of_receivers() -> None:
    """Within the error of a few draws, others than the powers were found with."""
    looked = pd.read_csv(real_radios.LOOKS)
    by_place = looked.groupby("surroundings")["neighbours"].mean()
    assert by_place.max() / by_place.min() < 1.2


@pytest.mark.parametrize("point", [0, 5, 10])
def test_a_kept_run_comes_out_again(point: int) -> None:
    surroundings, system = divmod(point, len(CAMPAIGN.factors["system"]))
    labels = [
        CAMPAIGN.factors[name][level]["label"]
        for name, level in (("surroundings", surroundings), ("system", system))
    ]
    [kept] = RUNS[
        (RUNS["surroundings"] == labels[0]) & (RUNS["system"] == labels[1]) & (RUNS["replication"] == 0)
    ]["result_hash"]
    assert run(CAMPAIGN.scenario(point, 0)).hash.startswith(kept)
