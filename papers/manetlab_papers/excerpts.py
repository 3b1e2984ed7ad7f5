"""What `manetlab papers show` prints of kept results: of a claim and of an experiment, what its page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from manetlab.tables import Table
from manetlab_papers import causes, figures, record, words
from manetlab_papers.addresses import command
from manetlab_papers.campaigns import Scale
from manetlab_papers.charts import SPAN, Point, placed
from manetlab_papers.ledger import Claim, Experiment, Ledger
from manetlab_papers.quantities import shown
from manetlab_papers.record import Entry
from manetlab_papers.reproduce import Study, study_from
from manetlab_papers.schedule import Remaining, remaining
from manetlab_papers.tables import tables_of

LETTERS = 30
"""How long a strip is."""
KEY = "░ accepted band, ● ours with its 95 % interval, ◇ printed"


def of_claim(ledger: Ledger, claim: Claim, folder: Path) -> Iterator[Table]:
    """A claim's verdict from kept results, and what was compared."""
    experiment = ledger.experiments[claim.experiment]
    study = study_from(ledger, folder, [experiment] if experiment.runs is not None else [])
    entry = record.best(study.entries).get(claim.id)
    if entry is None:
        yield _nothing(ledger, experiment)
        return
    missing = ""
    # What is left to run takes the reading of all that is kept.
    if entry.size and _is_open(entry):
        left = remaining(ledger, list(ledger.runnable.values()), Scale(full=True), folder)
        missing = missing_for(ledger, claim, entry, left)
    yield _verdict(ledger, experiment, entry, missing.replace("`", ""))
    if entry.compared:
        yield _compared(claim, entry)


def of_experiment(ledger: Ledger, experiment: Experiment, folder: Path) -> Iterator[Table]:
    """An experiment's tables and verdicts from kept results."""
    study = study_from(ledger, folder, [experiment] if experiment.runs is not None else [])
    if experiment.id not in study.made:
        yield _nothing(ledger, experiment)
        return
    yield from tables_of(experiment, study.made[experiment.id].evaluator)
    best = record.best(study.entries)
    table = Table("Verdicts", ("claim", "printed", "ours", "verdict", "by its rule"), text_columns=5)
    for claim in ledger.claims_of(experiment):
        if claim.id in best:
            entry = best[claim.id]
            table.add(
                *(claim.id, claim.expected, record.brief(entry.ours, entry.compared)),
                *(_word(claim, entry), record.verdict_text(entry)),
            )
    table.notes += [_extent(study, ledger, experiment), f"Runs: {command(ledger, experiment)}"]
    yield table


def missing_for(ledger: Ledger, claim: Claim, entry: Entry | None, left: Remaining) -> str:
    """What is missing for a claim's verdict at full size; nothing if it has one.

    Args:
        ledger: The ledger.
        claim: The claim.
        entry: Its verdict, if it has one.
        left: What is left to run at full size.
    """
    if not _is_open(entry):
        return ""
    if entry is not None and not entry.size:
        return f"not tested: {entry.reason}"
    experiments = [ledger.experiments[each] for each in (claim.experiment, *claim.also)]
    listed = [each for each in experiments if left.of([each]).runs]
    if not listed and entry is None:
        return "not tested: nothing to measure"
    if not listed:
        again = f"`{command(ledger, experiments[0])}`"
        return f"not judged: runs are kept without values that the claim needs; {again} makes these again"
    cost = left.of(listed)
    commands = ", ".join(f"`{command(ledger, each)}`" for each in listed)
    return f"not run: needs {cost.runs} runs, {cost.cpu_time_s / 60:.0f} min, {commands}"


def _is_open(entry: Entry | None) -> bool:
    return entry is None or record.full_category(entry) in (record.ONLY_QUICK, "not tested")


def _extent(study: Study, ledger: Ledger, experiment: Experiment) -> str:
    scale = study.made[experiment.id].scale
    found = record.extent(ledger, experiment, scale)
    if not found.size:
        return "No runs are needed."
    size = "Full size" if "full" in (found.size, scale.name) else "Quick"
    return f"{size}: {found.scenarios} scenarios, {found.measured} measured."


def _nothing(ledger: Ledger, experiment: Experiment) -> Table:
    table = Table("What came out", ("", ""), text_columns=2)
    can = experiment.runs is not None
    table.add("verdict", "no results are kept" if can else "not run: there is nothing to measure")
    if can:
        table.add("runs", command(ledger, experiment))
    return table


def _verdict(ledger: Ledger, experiment: Experiment, entry: Entry, missing: str) -> Table:
    table = Table("What came out", ("", ""), text_columns=2)
    rows = {
        "verdict": _word(ledger.claims[entry.claim], entry),
        "by its rule": record.verdict_text(entry),
        "ours": _listed(entry.ours),
        "why": _listed(entry.reason),
        "rests on": record.size_text(entry),
        "made by": f"{record.short_code(entry.code)}, {entry.date}" if entry.code else "",
        "stale": record.short_code(entry.stale),
        "full size": missing,
        "runs": command(ledger, experiment) if entry.size and not missing else "",
    }
    for name, text in rows.items():
        if text and text != "–":
            table.add(name, text)
    if figures.word(entry) != "within":
        for cause in causes.of_claim(causes.load(), entry.claim):
            table.add("cause", f"{cause.title} ({cause.because}). {cause.summary}")
    return table


def _word(claim: Claim, entry: Entry) -> str:
    why = causes.load()
    return words.said(words.of_claim(claim, entry, why), claim.id, entry, why)


def _listed(text: str) -> str:
    """Cases one below the other."""
    return text.replace("; ", "\n")


def _compared(claim: Claim, entry: Entry) -> Table:
    columns = ("case", "ours", "n", "strip")
    table = Table("Beside the band", columns, text_columns=4, whole=frozenset({columns.index("strip")}))
    points = figures.points(claim, entry)
    for each, point in zip(entry.compared, points, strict=True):
        table.add(
            *(each.name or "all", shown(each.interval, each.unit or claim.unit_of(claim.rule))),
            *(str(each.interval.n), _strip(point, points)),
        )
    table.notes.append(KEY)
    return table


def _strip(point: Point, beside: tuple[Point, ...]) -> str:
    """A strip as letters."""
    at = placed(point, beside)
    letters = [" "] * LETTERS

    def place(share: float) -> int:
        share = min(max(share, SPAN[0]), SPAN[1])
        return round((share - SPAN[0]) / (SPAN[1] - SPAN[0]) * (LETTERS - 1))

    assert at.printed is not None
    for number in range(place(at.printed.low), place(at.printed.high) + 1):
        letters[number] = "░"
    if at.high > at.low:
        for number in range(place(at.low), place(at.high) + 1):
            letters[number] = "─"
    if at.printed.value is not None:
        letters[place(at.printed.value)] = "◇"
    letters[place(at.y)] = "◀" if at.y < SPAN[0] else "▶" if at.y > SPAN[1] else "●"
    return "".join(letters).rstrip()
