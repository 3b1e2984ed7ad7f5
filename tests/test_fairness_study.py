"""The study of throttling against neighbourhood RED: what is kept, its page, and kept runs made again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import run
from manetlab.campaign import Campaign
from studies import fairness

RUNS = pd.read_parquet(fairness.KEPT)


def test_the_page_is_that_of_what_is_kept(tmp_path: Path) -> None:
    done = CliRunner().invoke(fairness.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    made = (tmp_path / fairness.PAGE).read_text(encoding="utf-8")
    assert made == (fairness.HERE / fairness.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("study", "column", "levels"),
    [
        (fairness.AREAS, "200 m, 4", {"areas": "200 m", "flows": "4", "sharing": "NRED, 0.14"}),
        (fairness.AREAS, "150 m, 8", {"areas": "150 m", "flows": "8", "sharing": "throttling"}),
        (fairness.PAIRS, "240 m", {"rows": "240 m", "sharing": "NRED and ECN"}),
    ],
)
def test_a_kept_run_comes_out_again(study: str, column: str, levels: dict[str, str]) -> None:
    whole = Campaign.load(fairness.HERE / f"{study}.toml")
    kept = RUNS[RUNS["study"] == study]
    assert len(kept) == whole.point_count * whole.replications
    assert not kept.duplicated(["column", "row", "replication"]).any()
    point = next(each for each in whole.points if each.levels == levels)
    chosen = (kept["column"] == column) & (kept["row"] == levels["sharing"]) & (kept["replication"] == 0)
    [found] = kept[chosen].itertuples()
    assert run(whole.scenario(point.number, 0)).hash.startswith(str(found.result_hash))
