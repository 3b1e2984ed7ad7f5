"""Experiments from end to end, small: run, judged, kept, continued."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manetlab.errors import InputError
from manetlab_papers import compare, ledger, page, record
from manetlab_papers.campaigns import Scale
from manetlab_papers.functions.sessions import saved_percent
from manetlab_papers.functions.timeouts import multipliers
from manetlab_papers.functions.video import correlation
from manetlab_papers.outcomes import Outcome
from manetlab_papers.reproduce import Reproduction, chosen
from manetlab_papers.tables import tables_of

LEDGER = ledger.load()
OPPOSITE = LEDGER.experiments["bansal2003/sec-cbr-opposite"]


def test_an_experiment_from_end_to_end_continues_where_it_stopped(tmp_path: Path) -> None:
    told: list[int] = []
    pages: list[str] = []

    def reproduce() -> list[record.Entry]:
        scale = Scale(replications=2, duration_share=0.05)
        reproduction = Reproduction(
            LEDGER, scale, tmp_path, progress=lambda _, report: told.append(report.ran)
        )
        made = reproduction.make(OPPOSITE)
        tables = list(tables_of(OPPOSITE, reproduction.evaluator))
        pages.append(page.page(LEDGER, "again", [(OPPOSITE, made, tables)], reproduction.costs))
        return made

    [entry] = reproduce()
    assert (entry.claim, entry.outcome, entry.scale) == ("B-09", Outcome.REPRODUCED, "quick")
    assert told[-1] == 4
    assert reproduce() == [entry]
    assert told[-1] == 0
    # The second time nothing is run, and the cost is that of the first.
    assert pages[0] == pages[1]
    assert all(word in pages[0] for word in ("`again`", "B-09", "| all | 4 |"))
    assert re.search(r"^Day: \d{4}-\d\d-\d\d\.$", pages[0], re.MULTILINE)
    assert all(pages[0].count(LEDGER.assumptions[name].text) == 1 for name in OPPOSITE.unstated)
    recorded = record.load(tmp_path)
    assert recorded == [entry]
    assert "| bansal2003 |" in record.page(LEDGER, recorded)
    # A page and the record that it was made from have the same verdicts.
    (tmp_path / "page.md").write_text(record.page(LEDGER, recorded), encoding="utf-8")
    old, new = (compare.verdicts(tmp_path / name) for name in ("page.md", record.FILE))
    assert old == new
    other = {"B-09": ("contradicted", "2 %"), "B-10": ("reproduced", "1 %")}
    summary, changed = compare.compared(old, other)
    assert [row[:3] for row in changed.rows] == [
        ("B-09", "reproduced", "contradicted"),
        ("B-10", "not tested", "reproduced"),
    ]
    assert len(summary.rows) == 2


def test_timeouts_grow_as_the_state_diagrams_say(tmp_path: Path) -> None:
    reproduction = Reproduction(LEDGER, Scale(), tmp_path, jobs=2)
    [verdict] = reproduction.make(LEDGER.experiments["dyer2002/fig-4.3"])
    assert (verdict.claim, verdict.outcome, verdict.size) == ("D4-113", Outcome.BY_CONSTRUCTION, "full")
    campaign = {"runs": "timeouts-in-a-row"}
    reno = multipliers(reproduction.evaluator, {**campaign, "sender": "Reno"})
    # 3 s times 64 is beyond the greatest timeout of 64 s.
    assert reno[:4] == [2, 4, 8, 16]
    assert reno[4:8] == pytest.approx([64 / 3] * 4)
    assert multipliers(reproduction.evaluator, {**campaign, "sender": "fixed-RTO"})[:8] == [2.0] * 8


@pytest.mark.parametrize("key", ["dyer2002/table-5.8", "dyer2002/fig-6.12", "dyer2003/fig-8"])
def test_small_runs_are_judged_claim_by_claim(key: str, tmp_path: Path) -> None:
    reproduction = Reproduction(LEDGER, Scale(replications=2, duration_share=0.2), tmp_path, jobs=2)
    experiment = LEDGER.experiments[key]
    made = reproduction.make(experiment)
    assert [each.claim for each in made] == [claim.id for claim in LEDGER.claims_of(experiment)]
    assert all(each.ours for each in made)
    assert list(tables_of(experiment, reproduction.evaluator))


def test_a_row_says_how_much_of_the_papers_size_was_run() -> None:
    def of(name: str, scale: Scale) -> record.Extent:
        return record.extent(LEDGER, LEDGER.experiments[name], scale)

    quick, full = Scale(), Scale(full=True)
    assert of("dyer2002/table-4.2", quick) == record.Extent("20 of 50", "315 of 900 s", "quick")
    assert of("dyer2002/table-4.2", full) == record.Extent("50", "900 s", "full")
    # Fewer points are not the paper's size either.
    assert of("bansal2003/table-2", quick) == record.Extent("20", "500 s", "quick")
    assert of("bansal2003/fig-1", quick).size == "full"
    assert of("dyer2003/sec-4-long", quick).measured == "100, 200 of 100, 200, 400 s"


def test_names_stand_for_experiments_once_and_in_order() -> None:
    ids = [each.id for each in chosen(LEDGER, ["fig-4.15", "dyer2002/table-1.1", "fig-4.15"])]
    assert ids == ["dyer2002/table-1.1", "dyer2002/fig-4.15"]
    assert chosen(LEDGER, ["all"]) == list(LEDGER.runnable.values())
    assert {each.paper for each in chosen(LEDGER, ["bansal2003"])} == {"bansal2003"}
    with pytest.raises(InputError, match="cannot be run yet"):
        chosen(LEDGER, ["osipov2007/fig-3"])


def test_the_growing_rto_saves_what_the_closed_form_says() -> None:
    def saved(growth: float) -> float:
        arguments = {"growth": growth, "timeouts": 10}
        return saved_percent(None, {}, arguments)  # type: ignore[arg-type]

    closed = 100 * (1 - 10 / sum(1.05**power for power in range(10)))
    # The timer has ticks of a tenth of a second.
    assert saved(0.05) == pytest.approx(closed, abs=0.1)
    assert saved(0.0) == pytest.approx(0.0)


def test_the_correlation_is_pearsons() -> None:
    assert correlation([(3.0, 1.0), (2.0, 2.0), (1.0, 3.0)]) == pytest.approx(-1.0)
    assert correlation([(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)]) == 0.0
    # One side does not vary.
    assert correlation([(1.0, 2.0), (1.0, 3.0)]) != correlation([(1.0, 2.0), (1.0, 3.0)])
