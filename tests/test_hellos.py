"""The study of HELLOs and TCP: what is kept, its page, and that a kept run can be made again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from manetlab import Campaign, run
from manetlab.stats import mean_interval
from studies import hellos

RUNS = pd.read_parquet(hellos.KEPT)
CAMPAIGN = Campaign.load(hellos.CAMPAIGN)


def test_every_run_is_kept_once_on_the_same_networks() -> None:
    assert len(RUNS) == CAMPAIGN.point_count * CAMPAIGN.replications
    assert not RUNS.duplicated(hellos.PLACES).any()
    assert (RUNS.groupby("replication")["seed"].nunique() == 1).all()


def test_the_page_is_that_of_the_kept_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(hellos.main, ["--docs", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert (tmp_path / hellos.FIGURE).is_file()
    made = (tmp_path / hellos.PAGE).read_text(encoding="utf-8")
    assert made == (hellos.DOCS / hellos.PAGE).read_text(encoding="utf-8")


def test_throttled_sources_have_equal_parts_of_what_one_flow_carries_alone() -> None:
    for level in CAMPAIGN.factors["flows"]:
        assert level["fields"]["throttle.rate_bps"] * level["label"] == hellos.WHOLE_BPS


def test_a_cell_is_bold_where_the_paper_calls_the_network_admissible() -> None:
    """One cell of the page beside what it is computed from."""
    flows = 4
    rows = hellos.smoothness(RUNS, flows).rows
    sizes = sorted(set(RUNS[RUNS["flows"] == flows]["nodes"]))
    for row in rows:
        for nodes, cell in zip(sizes, row[1:], strict=True):
            found = RUNS[(RUNS["system"] == row[0]) & (RUNS["flows"] == flows) & (RUNS["nodes"] == nodes)]
            smooth, unfair = found["unsmoothness"], found["unfairness"].max()
            assert cell.startswith("**") == bool(smooth.notna().all() and smooth.mean() < 1 and unfair < 0.1)
            mean = mean_interval([float(each) for each in smooth.dropna()]).mean
            assert cell.strip("*").startswith(f"{mean:.2f} ± ")


@pytest.mark.parametrize("point", [5, 30, 57])
def test_a_kept_run_comes_out_again(point: int) -> None:
    system, network = divmod(point, CAMPAIGN.point_count // len(CAMPAIGN.factors["system"]))
    forwarders, flows = divmod(network, 2)
    label = CAMPAIGN.factors["system"][system]["label"]
    count = CAMPAIGN.factors["flows"][flows]["label"]
    nodes = 2 * count + CAMPAIGN.factors[hellos.FORWARDERS][forwarders]
    [kept] = RUNS[
        (RUNS["system"] == label)
        & (RUNS["flows"] == count)
        & (RUNS["nodes"] == nodes)
        & (RUNS["replication"] == 0)
    ]["result_hash"]
    assert run(CAMPAIGN.scenario(point, 0)).hash.startswith(kept)
