"""``manetlab papers``: what it prints, and what it says to names that it does not know."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from manetlab.cli import app
from manetlab.errors import InputError
from manetlab_papers import causes, excerpts, ledger, record, words
from manetlab_papers.reproduce import judged_from

KEPT = Path(__file__).resolve().parents[1] / "kept"


# What the entry point of the distribution adds to the command line.
def manetlab(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["papers", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_names_every_experiment_and_marks_those_that_can_be_run() -> None:
    every = manetlab("list")
    assert all(key in every for key in ledger.load().experiments)
    lines = manetlab("list", "--runnable").splitlines()
    assert sum(line.rstrip().endswith("yes") for line in lines) == len(ledger.load().runnable)
    assert "osipov2007" not in manetlab("list", "--paper", "choi2004")


def test_show_prints_set_up_assumptions_and_claims() -> None:
    text = manetlab("show", "table-5.1")
    assert all(claim in text for claim in ledger.load().experiments["dyer2002/table-5.1"].claims)
    assert "scenarios, warm-up, duration" in text
    assert "`waypoint.speed_min`" in text


def test_show_prints_what_cannot_be_run_yet_too() -> None:
    assert "not yet" in manetlab("show", "osipov2007/fig-3")


def test_show_prints_a_claim_with_its_rule() -> None:
    text = " ".join(manetlab("show", "D4-64").split())
    assert "Some scenario shows >= 7 consecutive timeouts and a gap >= lo s." in text
    assert "≥ 100" in text


def test_show_prints_the_rule_of_a_claim_without_a_band_once() -> None:
    [rule] = [each.tolerance for each in ledger.load().claims.values() if each.id == "B-37"]
    assert " ".join(manetlab("show", "B-37").split()).count(rule) == 1


def test_show_prints_what_came_out_of_kept_results() -> None:
    text = manetlab("show", "B-26")
    found, _ = judged_from(ledger.load(), KEPT, [ledger.load().experiment("table-2")])
    [entry] = [each for each in found if each.claim == "B-26" and each.scale == "full"]
    cause = causes.of_claim(causes.load(), "B-26")[0]
    joined = " ".join(text.split())
    word = words.of_claim(ledger.load().claims["B-26"], entry, causes.load())
    for said in (str(word), entry.outcome, entry.reason, entry.scenarios, entry.measured, cause.title):
        assert said in joined
    assert "manetlab papers reproduce table-2 --full" in joined
    # One a case, and one in the key.
    assert sum(map(joined.count, "●◀▶")) == len(entry.compared) + 1


def test_what_came_out_fits_a_narrow_terminal() -> None:
    console = Console(width=80, file=io.StringIO())
    for table in excerpts.of_claim(ledger.load(), ledger.load().claims["B-26"], KEPT):
        table.print(console)
    assert max(map(len, console.file.getvalue().splitlines())) <= 80  # type: ignore[attr-defined]


def test_show_prints_an_experiments_tables_of_kept_results(tmp_path: Path) -> None:
    text = manetlab("show", "bansal2003/fig-1")
    assert "Fig. 1: throughput by hops" in text
    assert "manetlab papers reproduce bansal2003/fig-1 --full" in text
    assert "no results are kept" in manetlab("show", "bansal2003/fig-1", "--kept", str(tmp_path))
    assert "no results are kept" in manetlab("show", "B-04", "--kept", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["show", "fig-4.1O"], "do you mean fig-4.1"),
        (["show", "table-1"], "put the paper's key before it"),
        (["reproduce", "tabel-4.2"], "do you mean table-4.2"),
        (["reproduce", "osipov2007/fig-3"], "cannot be run yet"),
        (["list", "--paper", "dyer"], "dyer200"),
    ],
)
def test_unknown_names_are_told_with_a_suggestion(
    arguments: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        manetlab(*arguments)
    assert expected in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_reproduce_prints_tables_verdicts_and_status_and_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "papers.md"
    key = "bansal2003/sec-cbr-opposite"
    text = manetlab("reproduce", key, "--output", str(tmp_path / "out"), "--markdown", str(page))
    assert "CBR one way and both ways" in text
    assert "B-09" in text
    assert "The paper leaves open; assumed here: " in text
    kept = record.load(tmp_path / "out")
    assert [each.claim for each in kept] == ["B-09"]
    written = page.read_text(encoding="utf-8")
    assert f"{key}: CBR flows in opposite directions" in written
    assert kept[0].date in written
    assert record.short_code(kept[0].code) in written
    again = tmp_path / "again.md"
    manetlab("status", "--output", str(tmp_path / "out"), "--markdown", str(again))
    assert again.read_text(encoding="utf-8") == written


def test_verdicts_come_from_what_reproduce_kept(tmp_path: Path) -> None:
    key, kept_in = "bansal2003/sec-cbr-opposite", str(tmp_path / "kept")
    manetlab("reproduce", key, "--output", str(tmp_path / "out"), "--kept", kept_in, "--keep")
    page = tmp_path / "page.md"
    text = manetlab("verdicts", key, "--kept", kept_in, "--markdown", str(page))
    assert "B-09" in text
    assert "Not kept" not in text
    by_runs = tmp_path / "runs.md"
    manetlab("status", "--output", str(tmp_path / "out"), "--markdown", str(by_runs))
    assert page.read_text(encoding="utf-8") == by_runs.read_text(encoding="utf-8")
    assert f"Not kept, or not enough: {key}" in " ".join(
        manetlab("verdicts", key, "--kept", str(tmp_path / "nothing")).split()
    )


def test_the_page_cannot_take_the_place_of_the_record(tmp_path: Path) -> None:
    (tmp_path / record.FILE).write_text("[]")
    with pytest.raises(InputError, match="among results"):
        manetlab(
            "reproduce",
            "sec-cbr-opposite",
            "--output",
            str(tmp_path),
            "--markdown",
            str(tmp_path / record.FILE),
        )


def test_the_status_of_nothing_is_that_nothing_is_tested(tmp_path: Path) -> None:
    lines = manetlab("status", "--output", str(tmp_path)).splitlines()
    # The table is wider than a pipe, so it comes in parts.
    of_all = [cell for line in lines if line.split()[:1] == ["all"] for cell in line.split()[1:]]
    count = str(len(ledger.load().claims))
    assert of_all == [count, *["0"] * 7, count, "0"]
