"""The studies of LUNAR: that all guesses are tried, and that the page fits the kept runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manetlab_papers import ledger
from manetlab_papers.samples import Tables
from studies import lunar_checks, lunar_guesses

PAGE = (Path(__file__).parent.parent / "docs/models/lunar.md").read_text(encoding="utf-8")
LEDGER = lunar_guesses.asked(ledger.load())


@pytest.fixture(scope="module")
def runs() -> dict[str, Tables]:
    """What is kept of the study of guesses, if its set-ups are today's."""
    kept = lunar_guesses.kept(LEDGER)
    changed = {unit for part in kept.values() for units in part.stale.values() for unit in units}
    assert "set-up" not in changed, "run `python -m studies.lunar_guesses --run`"
    return {name: part.tables() for name, part in kept.items()}


def test_every_guess_that_is_a_parameter_is_changed() -> None:
    [table] = re.findall(r"## What was guessed\n\n(.*?)\n\n", PAGE, re.DOTALL)
    named = set()
    for row in table.splitlines()[2:]:
        what, _, others = row.strip("|").split("|")
        if "known" not in what:
            named |= set(re.findall(r"`([a-z_]+)", others))
    changed = {name for _, _, fields in lunar_guesses.systems().values() for name in fields}
    assert named <= changed


def test_no_parameter_of_the_study_is_changed_to_its_default() -> None:
    labels = [label for label, (_, guess, _) in lunar_guesses.systems().items() if guess]
    points = {
        part.part.campaign.points[number].levels["system"]: point.key
        for part in lunar_guesses.kept(LEDGER).values()
        if "system" in part.part.campaign.factors
        for number, point in enumerate(part.kept.points)
    }
    assert set(labels) < set(points)
    # Points of equal scenarios share a key.
    assert len(set(points.values())) == len(points)


def test_the_tables_of_the_page_are_those_of_the_kept_runs(runs: dict[str, Tables]) -> None:
    for table in lunar_guesses.tables(LEDGER, runs):
        assert table.to_markdown() in PAGE, table.title


def test_what_the_page_says_no_guess_decides(runs: dict[str, Tables]) -> None:
    for apart in lunar_guesses.APART:
        table = lunar_guesses.verdicts(LEDGER, runs, apart)
        for claim in ("O-28", "O-29"):
            place = table.columns.index(claim)
            assert not any(row[place] for row in table.rows[1:]), claim
    carried: dict[str, list[float]] = {variant: [] for variant in lunar_guesses.ROUTING}
    for label, (variant, guess, _) in lunar_guesses.systems().items():
        if guess not in lunar_guesses.KNOWN:
            levels = {"system": label, "flows": 4, lunar_guesses.SIZE: 12}
            rows = [row for row in runs["osipov-ranges-near"].runs if levels.items() <= row.items()]
            assert len(rows) == lunar_guesses.SCALE.replications
            carried[variant].append(sum(row["tcp_throughput_bps"] for row in rows) / len(rows))
    assert min(carried[lunar_guesses.OPPORTUNISTIC]) > max(carried[lunar_guesses.STANDARD])


def test_the_comparison_on_the_page_is_that_of_the_runs_at_the_paper_s_size() -> None:
    plain = ledger.load()
    kept = {name: part.tables() for name, part in lunar_checks.kept(plain).items()}
    for table in lunar_checks.tables(plain, kept):
        assert table.to_markdown() in PAGE, table.title
