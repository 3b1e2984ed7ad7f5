"""Verdicts about what arrives: values that are not there, delay of what survived, questions that change."""

from __future__ import annotations

from pathlib import Path

import pytest

from manetlab import Campaign, Results
from manetlab.campaign.survivors import FEWER, means_if_less, outlived
from manetlab.report import answer
from tests.conftest import Cli

CBR = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 500, "interval_s": 0.1}
FIELDS = {"duration_s": 30.0, "movement": {"chain": {"nodes": 3}}, "traffic": {"flows": [CBR]}}
DELAY, PDR = "cbr_latency_mean_s", "cbr_delivery_fraction"


def campaign(protocols: list[str], metrics: list[str], **base: object) -> Campaign:
    return Campaign(base={**FIELDS, **base}, factors={"routing": protocols}, replications=8, metrics=metrics)


@pytest.fixture(scope="module")
def losing() -> Results:
    """DSDV finds its routes late: it loses packets, and is quick with what arrives."""
    return campaign(["aodv", "dsdv"], [DELAY, PDR]).run()


def test_delay_does_not_win_where_less_arrives(losing: Results) -> None:
    rows = {row["metric"]: row for row in losing.comparisons.to_dict("records")}
    assert rows[DELAY]["difference"] < 0.0 and rows[DELAY]["verdict"] == FEWER
    assert rows[PDR]["verdict"] == "lower"
    found = answer(losing)
    [told] = [each for each in found.warnings if "known of what arrives only" in each]
    assert "PDR is 100.00 % with aodv and" in told
    assert told.endswith("with dsdv. That it is better with dsdv is no finding.")
    assert "not comparable between dsdv and aodv" in " ".join(found.details)
    marks = [cells for cells in found.table.shown_rows if cells[0].shown == "dsdv"]
    assert "†" in " ".join(cell.shown for cell in marks[0])
    assert any(note.startswith("†") for note in found.table.notes)


def test_less_arrives_if_the_pairs_show_it() -> None:
    arrived = {"a": [1.0, 1.0, 0.9], "b": [0.5, 0.6, 0.4], "c": [None, None, None]}
    assert outlived(arrived) == {"b"}
    assert means_if_less(arrived["b"], arrived["a"]) == (pytest.approx(0.5), pytest.approx(2.9 / 3))
    assert means_if_less(arrived["a"], arrived["b"]) is None
    # One pair proves nothing, and neither does a difference that may be chance.
    assert means_if_less([0.5], [1.0]) is None
    assert means_if_less([0.5, 1.0, 0.7], [0.6, 0.9, 0.8]) is None


def test_no_alternative_is_the_best_by_what_it_does_not_deliver() -> None:
    results = campaign(["aodv", "dsr", "dsdv"], [DELAY]).run()
    standing = {row["level"]: row["verdict"] for row in results.standings.to_dict("records")}
    assert standing["dsdv"] == FEWER
    assert all(verdict != FEWER for level, verdict in standing.items() if level != "dsdv")
    found = answer(results)
    assert "dsdv" not in found.verdict
    assert "dsdv delivers significantly less and is not compared" in " ".join(found.details)


def test_the_verdict_speaks_only_of_measures_in_which_alternatives_were_compared() -> None:
    found = answer(campaign(["aodv", "dsdv", "dsdv:ns-2.35"], [DELAY, PDR]).run())
    assert "only aodv can be judged" in " ".join(found.details)
    assert found.verdict.startswith("The best routing protocol in PDR (the only primary measure by which")
    assert found.verdict.endswith("is aodv.")


def test_measures_without_values_are_named_and_take_no_part() -> None:
    apart = {"movement": {"positions": [[0, 0], [200, 0], [5000, 0]]}}
    results = campaign(["aodv", "dsdv"], [DELAY, "tcp_throughput_bps"], **apart).run()
    assert results.family is not None and results.family.metrics == ()
    assert results.comparisons.empty
    found = answer(results)
    for key in (DELAY, "tcp_throughput_bps"):
        assert any(f"({key}): it takes no part" in each for each in found.warnings)
    assert "there is nothing to compare" in found.verdict
    # What is shown then says that nothing arrives.
    [columns, *rows] = [found.table.columns, *found.table.shown_rows]
    assert "PDR (%)" in [column.heading for column in columns]
    assert all(any(cell.shown.startswith("0.00 ") for cell in row) for row in rows)


@pytest.mark.parametrize("kind", [{"kind": "voice"}, {"kind": "poisson", "bytes": 100, "interval_s": 0.2}])
def test_campaigns_of_messages_compare_what_arrives_and_not_what_is_offered(kind: dict[str, object]) -> None:
    flow = {**kind, "src": 0, "dst": 2, "start_s": 1.0}
    results = campaign(["aodv", "dsr"], [], traffic={"flows": [flow]}, duration_s=10.0).run()
    assert results.family is not None
    assert results.family.metrics == ("message_delivery_fraction",)


def test_runs_without_a_value_are_counted(losing: Results) -> None:
    told = answer(losing).warnings
    missing = losing.runs[losing.runs[DELAY].isna()]
    assert bool(len(missing)) == any("their pairs are left out" in each for each in told)


def test_changed_questions_take_effect_on_runs_that_are_there(cli: Cli, tmp_path: Path) -> None:
    text = (
        'replications = 2\nmetrics = ["cbr_delivery_fraction"]\n[factors]\nrouting = ["aodv", "dsr"]\n'
        "[base]\nduration_s = 5.0\nmovement.chain = { nodes = 3 }\n[base.traffic]\n"
        'flows = [{ kind = "cbr", src = 0, dst = 2, start_s = 1.0, bytes = 500, interval_s = 0.1 }]\n'
    )
    path = tmp_path / "ask.toml"
    path.write_text(text)
    assert cli("campaign", "run", path).returncode == 0
    path.write_text(text.replace('"cbr_delivery_fraction"', '"hops_mean"'))
    shown = cli("campaign", "results", path)
    assert shown.returncode == 0, shown.stderr
    assert "hops per delivered packet" in shown.stdout and "PDR" not in shown.stdout
    asked = '[comparison]\ncontrol = "dsr"\n[factors]'
    path.write_text(text.replace("[factors]", asked))
    assert "+ higher and − lower than with dsr" in cli("campaign", "results", path).stdout
    path.write_text(text.replace('"dsr"]', '"dsr", "dsdv"]'))
    other = cli("campaign", "results", path)
    assert other.returncode == 0 and "other factors" in other.stderr
