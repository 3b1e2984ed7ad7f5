"""The study of why segments were lost: what is kept, its page, and kept runs made again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import run
from manetlab.campaign import Campaign
from studies import loss_causes

RUNS = pd.read_parquet(loss_causes.KEPT)


def test_the_page_is_that_of_what_is_kept(tmp_path: Path) -> None:
    done = CliRunner().invoke(loss_causes.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    made = (tmp_path / loss_causes.PAGE).read_text(encoding="utf-8")
    assert made == (loss_causes.HERE / loss_causes.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("study", "column", "row", "levels"),
    [
        (*loss_causes.TO_MOBILE, ["3 %", "coherence"]),
        (*loss_causes.FROM_MOBILE, ["3 %", "Vegas"]),
        (*loss_causes.AD_HOC, ["AODV, 15 m/s", "NDG"]),
    ],
)
def test_a_kept_run_comes_out_again(study: str, column: str, row: str, levels: list[str]) -> None:
    whole = Campaign.load(loss_causes.HERE / f"{study}.toml")
    kept = RUNS[RUNS["study"] == study]
    assert len(kept) == whole.point_count * whole.replications
    assert not kept.duplicated(["column", "row", "replication"]).any()
    point = next(each for each in whole.points if [each.levels[column], each.levels[row]] == levels)
    chosen = (kept["column"] == levels[0]) & (kept["row"] == levels[1]) & (kept["replication"] == 0)
    [found] = kept[chosen].itertuples()
    assert run(whole.scenario(point.number, 0)).hash.startswith(str(found.result_hash))
