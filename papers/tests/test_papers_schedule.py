"""Experiments are run in order of importance and cost, and what is kept costs nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manetlab import provenance
from manetlab_papers import ledger
from manetlab_papers.campaigns import Scale
from manetlab_papers.reproduce import Keeping, Reproduction, chosen, kept_folder
from manetlab_papers.result_files import path_of, read, write
from manetlab_papers.schedule import planned, remaining

LEDGER = ledger.load()
SMALL = Scale(replications=2, duration_share=0.05)


def test_the_important_come_first_and_of_these_the_cheapest() -> None:
    names = ["fig-4.6", "fig-4.4", "table-4.2", "fig-6.7", "fig-6.2"]
    # Nothing is known of times here, so fewer runs count as cheaper.
    steps = planned(LEDGER, chosen(LEDGER, names), Scale(full=True), None)
    made = [(each.experiment.id.partition("/")[2], each.experiment.priority) for each in steps]
    assert made == [("fig-6.2", 1), ("fig-4.4", 1), ("table-4.2", 1), ("fig-6.7", 1), ("fig-4.6", 2)]
    # What Fig. 4.4 runs is not counted again.
    [alone] = planned(LEDGER, chosen(LEDGER, ["table-4.2"]), Scale(full=True), None)
    assert steps[2].cost.runs == alone.cost.runs - steps[1].cost.runs


def test_what_is_kept_costs_nothing_and_its_time_tells_what_more_would_cost(tmp_path: Path) -> None:
    experiment = LEDGER.experiments["dyer2003/fig-8"]
    before = planned(LEDGER, [experiment], SMALL, tmp_path)
    assert before[0].cost.runs > 0
    assert before[0].cost.cpu_time_s == 0.0
    Reproduction(LEDGER, SMALL, tmp_path / "out", keeping=Keeping(tmp_path, renewed=True)).make(experiment)
    assert planned(LEDGER, [experiment], SMALL, tmp_path)[0].cost.runs == 0
    full = planned(LEDGER, [experiment], Scale(full=True), tmp_path)[0].cost
    assert full.runs > before[0].cost.runs
    assert full.cpu_time_s > 0.0


def test_what_runs_cost_at_both_lengths_tells_what_others_of_their_kind_will_cost(tmp_path: Path) -> None:
    one, other = "ftp, transfers 1, kbps 100, flows 10", "ftp, transfers 1, kbps 150, flows 10"
    experiment = LEDGER.experiments["dyer2002/fig-4.6"]
    folder = kept_folder()
    assert folder is not None
    quick, full = Scale().name, Scale(full=True).name
    # What is kept at full size stands for quick runs that take a fifth of the time.
    for size, name, share in ((quick, one, 0.2), (quick, other, 0.2), (full, one, 1.0)):
        kept = read(path_of(folder, full, name))
        assert kept is not None
        times = [share * seconds for seconds in kept.columns["cpu_time_s"]]
        made = replace(kept, scale=size, columns=kept.columns | {"cpu_time_s": times})
        write(path_of(tmp_path, size, name), made)

    def costs() -> dict[str, float]:
        left = remaining(LEDGER, [experiment], Scale(full=True), tmp_path).costs
        return {name: each.cpu_time_s for name, each in left.items()}

    before = costs()
    path = path_of(tmp_path, full, one)
    kept = read(path)
    assert kept is not None
    times = [2 * seconds for seconds in kept.columns["cpu_time_s"]]
    write(path, replace(kept, columns=kept.columns | {"cpu_time_s": times}))
    assert costs()[other] == pytest.approx(2 * before[other])
    path.unlink()
    by_length = costs()[other]
    assert before[other] > by_length > 0.0


def test_runs_that_are_kept_without_what_a_rule_reads_are_left_to_run(tmp_path: Path) -> None:
    experiment = LEDGER.experiments["dyer2003/fig-8"]
    Reproduction(LEDGER, SMALL, tmp_path / "out", keeping=Keeping(tmp_path, renewed=True)).make(experiment)
    assert planned(LEDGER, [experiment], SMALL, tmp_path)[0].cost.runs == 0
    for path in tmp_path.rglob("*.parquet"):
        kept = read(path)
        assert kept is not None
        values = {name: each for name, each in kept.columns.items() if not name.startswith("flows.")}
        assert len(values) < len(kept.columns)
        write(path, replace(kept, columns=values))
    cost = planned(LEDGER, [experiment], SMALL, tmp_path)[0].cost
    assert cost.runs > 0
    # As many are made.
    ran: list[int] = []
    again = Reproduction(
        LEDGER,
        SMALL,
        tmp_path / "again",
        progress=lambda _, report: ran.append(report.ran),
        keeping=Keeping(tmp_path),
    )
    again.make(experiment)
    assert max(ran) == cost.runs


def test_runs_of_earlier_code_are_left_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = LEDGER.experiments["dyer2003/fig-8"]
    before = planned(LEDGER, [experiment], SMALL, tmp_path)[0].cost
    Reproduction(LEDGER, SMALL, tmp_path / "out", keeping=Keeping(tmp_path, renewed=True)).make(experiment)
    assert planned(LEDGER, [experiment], SMALL, tmp_path)[0].cost.runs == 0
    monkeypatch.setattr(provenance, "source_digest", lambda: "changed")
    after = planned(LEDGER, [experiment], SMALL, tmp_path)[0].cost
    assert after.runs == before.runs
    assert after.cpu_time_s > 0.0


def test_a_priority_narrows_papers_and_all_but_not_what_is_named() -> None:
    first = chosen(LEDGER, ["all"], 1)
    assert first
    assert {each.priority for each in first} == {1}
    minor = next(each for each in LEDGER.runnable.values() if each.priority == 3)
    assert chosen(LEDGER, [minor.id], 1) == [minor]
