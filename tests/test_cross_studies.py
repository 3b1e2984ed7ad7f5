"""Studies of campaigns with two factors: what is kept, their pages, and kept runs made again."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import run
from manetlab.campaign import Campaign
from studies import fairness, last_hop, loss_causes, quoted


@pytest.mark.parametrize("page", [fairness, last_hop, loss_causes, quoted])
def test_the_page_is_that_of_what_is_kept(page: ModuleType, tmp_path: Path) -> None:
    done = CliRunner().invoke(page.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    made = (tmp_path / page.PAGE).read_text(encoding="utf-8")
    assert made == (page.HERE / page.PAGE).read_text(encoding="utf-8")


def levels_of(study: tuple[str, str, str], column: str, row: str) -> tuple[str, str, str, dict[str, str]]:
    """A study, the labels of a cell of its table, and the levels of that point."""
    name, column_factor, row_factor = study
    return name, column, row, {column_factor: column, row_factor: row}


@pytest.mark.parametrize(
    ("page", "study", "column", "row", "levels"),
    [
        (last_hop, *levels_of(last_hop.ERRORS, "10⁻⁵", "I-TCP")),
        (last_hop, *levels_of(last_hop.ERRORS, "1.9 × 10⁻⁶", "snoop")),
        (last_hop, *levels_of(last_hop.DELAYS, "100", "I-TCP, SACK")),
        (last_hop, *levels_of(last_hop.M_TCP, "5 × 10⁻⁶", "M-TCP")),
        (last_hop, *levels_of(last_hop.OUTAGES, "5", "M-TCP")),
        (loss_causes, *levels_of(loss_causes.TO_MOBILE, "3 %", "coherence")),
        (loss_causes, *levels_of(loss_causes.FROM_MOBILE, "3 %", "Vegas")),
        (loss_causes, *levels_of(loss_causes.AD_HOC, "AODV, 15 m/s", "NDG")),
        (quoted, *levels_of(quoted.TORA, "30", "TORA")),
        (quoted, *levels_of(quoted.TCP, "20", "SSA")),
        (quoted, *levels_of(quoted.EIFEL, "AODV", "Eifel")),
        (quoted, *levels_of(quoted.ACCESS, "4", "FAMA, window 4")),
        (
            fairness,
            *(fairness.AREAS, "200 m, 4", "NRED, 0.14"),
            {"areas": "200 m", "flows": "4", "sharing": "NRED, 0.14"},
        ),
        (
            fairness,
            *(fairness.AREAS, "150 m, 8", "throttling"),
            {"areas": "150 m", "flows": "8", "sharing": "throttling"},
        ),
        (
            fairness,
            *(fairness.PAIRS, "240 m", "NRED and ECN"),
            {"rows": "240 m", "sharing": "NRED and ECN"},
        ),
    ],
)
def test_a_kept_run_comes_out_again(
    page: ModuleType, study: str, column: str, row: str, levels: dict[str, str]
) -> None:
    whole = Campaign.load(page.HERE / f"{study}.toml")
    runs = pd.read_parquet(page.KEPT)
    kept = runs[runs["study"] == study]
    assert len(kept) == whole.point_count * whole.replications
    assert not kept.duplicated(["column", "row", "replication"]).any()
    point = next(each for each in whole.points if each.levels == levels)
    chosen = (kept["column"] == column) & (kept["row"] == row) & (kept["replication"] == 0)
    [found] = kept[chosen].itertuples()
    assert run(whole.scenario(point.number, 0)).hash.startswith(str(found.result_hash))
