"""The study of the lossy last hop: what is kept, its page, and kept runs made again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import run
from manetlab.campaign import Campaign
from studies import last_hop

RUNS = pd.read_parquet(last_hop.KEPT)


def test_the_page_is_that_of_what_is_kept(tmp_path: Path) -> None:
    done = CliRunner().invoke(last_hop.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    made = (tmp_path / last_hop.PAGE).read_text(encoding="utf-8")
    assert made == (last_hop.HERE / last_hop.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("study", "column", "row", "levels"),
    [
        (*last_hop.ERRORS, ["10⁻⁵", "I-TCP"]),
        (*last_hop.ERRORS, ["1.9 × 10⁻⁶", "snoop"]),
        (*last_hop.DELAYS, ["100", "I-TCP, SACK"]),
    ],
)
def test_a_kept_run_comes_out_again(study: str, column: str, row: str, levels: list[str]) -> None:
    whole = Campaign.load(last_hop.HERE / f"{study}.toml")
    kept = RUNS[RUNS["study"] == study]
    assert len(kept) == whole.point_count * whole.replications
    assert not kept.duplicated(["column", "row", "replication"]).any()
    point = next(each for each in whole.points if [each.levels[column], each.levels[row]] == levels)
    chosen = (kept["column"] == levels[0]) & (kept["row"] == levels[1]) & (kept["replication"] == 0)
    [found] = kept[chosen].itertuples()
    assert run(whole.scenario(point.number, 0)).hash.startswith(str(found.result_hash))
