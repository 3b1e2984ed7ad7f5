"""Causes of differences: they name claims that there are, and no contradicted claim is without one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from manetlab.errors import InputError
from manetlab_papers import causes, ledger, record
from manetlab_papers.cli import app
from manetlab_papers.reproduce import chosen, judged_from

ROOT = Path(__file__).resolve().parents[2]
LEDGER, CAUSES = ledger.load(), causes.load()


@pytest.fixture(scope="module")
def kept() -> list[record.Entry]:
    """All verdicts that follow from kept runs."""
    entries, lacking = judged_from(LEDGER, ROOT / "papers" / "kept", chosen(LEDGER, ["all"]))
    assert not lacking
    return entries


def test_every_claim_that_the_kept_runs_contradict_has_a_cause(kept: list[record.Entry]) -> None:
    assert causes.without_cause(CAUSES, kept) == []


def test_a_contradicted_claim_without_a_cause_is_named() -> None:
    kept = [
        record.Entry(claim, outcome, "", "", "", "", "quick", "", "")
        for claim, outcome in (("D3-05", "contradicted"), ("D1-02", "contradicted"), ("D1-03", "reproduced"))
    ]
    assert causes.without_cause(CAUSES, kept) == ["D1-02"]


def test_causes_name_claims_that_there_are() -> None:
    causes.check(LEDGER, CAUSES)
    first = CAUSES[0]
    for wrong, found in (
        (replace(first, claims=("D9-99",)), "D9-99"),
        (replace(first, claims=("D1-01", "D1-01")), "D1-01"),
        (replace(first, claims=()), "nothing"),
    ):
        with pytest.raises(InputError, match="hold together") as error:
            causes.check(LEDGER, [wrong])
        assert found in str(error.value)
    with pytest.raises(InputError, match="hold together"):
        causes.check(LEDGER, [first, first])


def test_values_that_give_a_claim_belong_to_a_choice_that_the_paper_leaves_open() -> None:
    [pipe] = [each for each in CAUSES if each.id == "cut-pipe-period"]
    assert pipe.gives["D2-03"]
    for wrong in (replace(pipe, gives={"D1-01": "5 s"}), replace(pipe, because="size")):
        with pytest.raises(InputError, match="hold together"):
            causes.check(LEDGER, [wrong])


@pytest.mark.parametrize("cause", CAUSES, ids=[each.id for each in CAUSES])
def test_a_cause_has_at_most_ten_lines_and_the_command_of_its_runs(cause: causes.Cause) -> None:
    lines = [each for each in cause.text.splitlines() if each]
    assert len(lines) <= 10
    assert all(len(each) <= 150 for each in lines if not each.startswith("|"))
    named = re.findall(r"`(?:python -m (studies\.\w+)|manetlab ([a-z]+)|papers/studies/([\w-]+))", cause.text)
    assert named


@pytest.mark.parametrize(
    ("old", "new"),
    [('because = "open"', 'because = "fate"'), ("summary = ", "resume = "), ("claims = ", "# ")],
)
def test_an_entry_that_is_not_whole_is_refused(tmp_path: Path, old: str, new: str) -> None:
    text = (ledger.FOLDER / ledger.CAUSES).read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / ledger.CAUSES
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match="hold together"):
        causes.read(path)


def test_the_page_is_made_from_the_data_and_the_kept_runs(kept: list[record.Entry]) -> None:
    page = causes.page(LEDGER, CAUSES, record.best(kept))
    for each in CAUSES:
        assert f"\n## {each.title}\n\n{each.summary}\n" in page
        assert each.text in page


def test_the_page_says_of_each_claim_what_came_out() -> None:
    def entry(outcome: str, size: str) -> record.Entry:
        return record.Entry("D3-05", outcome, "", "", "", "", "quick", "", "", fit="within", size=size)

    [dsdv] = [each for each in CAUSES if each.id == "dsdv"]
    for of, said in (
        ({"D3-05": entry("reproduced", "full")}, "(reproduced, within): DSDV delivers"),
        ({"D3-05": entry("reproduced", "quick")}, "(reproduced, within, quick): DSDV delivers"),
        ({}, "(not tested): DSDV delivers"),
    ):
        [line] = [
            each for each in causes.page(LEDGER, [dsdv], of).splitlines() if each.startswith("- [D3-05]")
        ]
        assert "(dyer2002-3.md#" in line
        assert said in line


def test_the_causes_of_a_claim_are_printed() -> None:
    shown = CliRunner().invoke(app, ["causes", "D3-05"]).output
    assert "dsdv" in shown
    assert "D3-29" in shown
    assert "No cause is given for D1-02" in CliRunner().invoke(app, ["causes", "D1-02"]).output
