"""From results to files: the page, and the figures and tables beside it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import interrupts
from manetlab.errors import InputError
from manetlab.files import printable, write_bytes, write_files
from manetlab.optional_packages import require
from manetlab.report import (
    answers,
    brief,
    conclusions,
    delays,
    losses,
    methods,
    outcomes,
    page,
    paper,
    replays,
    reproduction,
    shares,
)
from manetlab.report.figures import AnyFigure
from manetlab.report.page import Drawn, Part, Section
from manetlab.report.study import Study
from manetlab.report.tables import DataTable

if TYPE_CHECKING:
    from manetlab.advice import Advice
    from manetlab.campaign import Results
    from manetlab.scenario import Scenario

    Replay = Callable[[Scenario, str], replays.Played]

PAGE = "index.html"
MANIFEST = "manifest.json"
"""Names the files of a report with their SHA-256 hashes."""


@interrupts.brought_back()
def write(
    results: Results,
    out: str | Path,
    *,
    compare: str | None = None,
    baseline: str | None = None,
    confidence: float | None = None,
    replay: Replay | None = None,
) -> list[Path]:
    """Writes the report of a campaign and returns the files, the page first.

    A report in the same folder is replaced: files of it that the new one does not have are removed unless
    somebody changed them.

    Args:
        results: The results.
        out: The folder: new, empty, or one with a report.
        compare: The factor whose levels are compared; the campaign's if not given.
        baseline: The level that the others are compared with; the campaign's own comparison if not given.
        confidence: The confidence of all intervals; the campaign's if not given.
        replay: Repeats a run from its scenario, for a page with a title; the report then links those of
            each setting's median and worst replication. They take a run each.

    Raises:
        InputError: Nothing has been run, a factor or level is unknown, or the folder cannot be written or
            holds something else. Nothing was written.
    """
    require("report", "report")
    folder = Path(out)
    before = _manifest_of(folder)
    files = render(Study(results, compare, baseline, confidence), replay)
    _check_ours(folder, files, before)
    _write_all(folder, files, before)
    return [folder / name for name in files]


def render(study: Study, replay: Replay | None = None) -> dict[str, bytes]:
    """All files of the report by their names within its folder, the page first."""
    head = _head(study)
    lead = head.brief.figure
    played = None if replay is None else _played(study, replay)
    sections = _sections(study, played, lead)
    files = {PAGE: printable(page.html(head, sections)).encode(), **_table_files(head.table, in_latex=True)}
    figures = [head.lead] if head.lead is not None else []
    for part in (part for section in sections for part in section.parts):
        figures += part.figures
        for table in part.tables:
            files |= _table_files(table, in_latex=not part.folded)
    for drawn in figures:
        files[f"figures/{drawn.figure.name}.svg"] = drawn.svg
        files[f"figures/{drawn.figure.name}.pdf"] = drawn.pdf
    for (point, replication), each in (played or {}).items():
        files[replays.file_name(point, replication)] = printable(each.page).encode()
    return files


def _played(study: Study, replay: Replay) -> replays.AllPlayed:
    """The runs that have a replay."""
    made = {}
    for point, replication in dict.fromkeys(replays.runs(study)):
        title = f"{Path(study.results.store or '').stem}, point {point}, replication {replication}"
        made[point, replication] = replay(study.campaign.scenario(point, replication), title)
    return made


def write_brief(
    results: Results,
    file: Path,
    *,
    compare: str | None = None,
    baseline: str | None = None,
    confidence: float | None = None,
) -> None:
    """Writes the brief page, one side of A4: as HTML, or as PDF if the file's name ends in ``.pdf``.

    Args:
        results: The results.
        file: The file.
        compare: As for `write`.
        baseline: As for `write`.
        confidence: As for `write`.

    Raises:
        InputError: As for `write`; or no browser is there that prints the page.
    """
    require("report", "report")
    study = Study(results, compare, baseline, confidence)
    text = printable(page.sheet(brief.of_study(study), study.campaign.name))
    write_bytes(file, paper.pdf(text) if file.suffix.lower() == ".pdf" else text.encode())


def write_advice(advice: Advice, file: Path, name: str) -> None:
    """Writes the brief page of an advice, with what would change it.

    Args:
        advice: The advice.
        file: The file, HTML or PDF as for `write_brief`.
        name: The name of the field's file, for the command that repeats it.

    Raises:
        InputError: As for `write_brief`.
    """
    require("report", "advise")
    study, told = advice.study, brief.of_study(advice.study)
    caveats = advice.caveats()
    made = replace(
        told,
        answer=[*told.answer, *advice.limit_sentences()],
        basis=f"{told.basis} {advice.why_ended()}",
        caveats=brief.shortened(caveats),
        more=max(0, len(caveats) - brief.MOST_CAVEATS),
        commands=[shlex.join(["manetlab", "advise", name])],
        report=shlex.join(["manetlab", "report", study.results.store.name if study.results.store else name]),
        what_if=advice.what_if(),
    )
    text = printable(page.sheet(made, study.campaign.name))
    write_bytes(file, paper.pdf(text) if file.suffix.lower() == ".pdf" else text.encode())


def _table_files(table: DataTable, in_latex: bool) -> dict[str, bytes]:
    files = {f"tables/{table.name}.csv": printable(table.to_csv()).encode()}
    return {**files, f"tables/{table.name}.tex": printable(table.to_latex()).encode()} if in_latex else files


def _head(study: Study) -> page.Head:
    found, short = answers.answer_of(study), brief.of_study(study)
    warnings = brief.gravest_first(study, found.warnings)
    points = f"{len(study.points)} point{'s' if len(study.points) != 1 else ''}"
    return page.Head(
        brief=short,
        lead=None if short.figure is None else _drawn([short.figure])[0],
        name=study.campaign.name,
        size=f"{len(study.runs)} runs of {points}, {len(study.failed)} failed",
        tested=warnings,
        tested_in_short=[conclusions.in_short(each) for each in warnings],
        answer=[found.verdict, *found.details],
        table=found.table,
        cautions=conclusions.cautions(study),
    )


def _sections(study: Study, played: replays.AllPlayed | None, lead: AnyFigure | None) -> list[Section]:
    """The sections: results and where packets ended are open, what is for specialists is folded."""
    found = [_results(study, lead), _losses(study)]
    if (compared := outcomes.comparison_table(study)) is not None:
        found.append(_comparisons(study, compared))
    if (costs := answers.costs_table(study)) is not None:
        found.append(Section("costs", "Costs of delivery", [Part(tables=[costs])], folded=True))
    found.append(_flows(study))
    if len(study.failed):
        found.append(Section("failures", "Failed runs", [Part(tables=[losses.failure_table(study)])]))
    found.append(Section("set-up", "Methods", [Part(tables=[methods.table(study)])], folded=True))
    found.append(reproduction.section(study, played))
    raw = [outcomes.all_metrics_table(study), losses.run_table(study)]
    found.append(Section("raw", "All values", [Part(tables=raw, folded=True)], folded=True))
    return [section for section in found if section.parts]


def _results(study: Study, lead: AnyFigure | None) -> Section:
    """All figures but that which carries the answer, and the tables behind them all, folded."""
    figures = [each for metric in study.wanted for each in outcomes.metric_figures(study, metric)]
    others = [each for each in figures if lead is None or each.name != lead.name]
    others += delays.figures(study)
    tables = [outcomes.metric_table(study, metric) for metric in study.wanted]
    tables += [each for each in [delays.table(study)] if each is not None]
    return Section("results", "Results", [Part(figures=_drawn(others)), Part(tables=tables, is_aside=True)])


def _comparisons(study: Study, table: DataTable) -> Section:
    text = (
        "A replication has the same movement and traffic at every level, so the comparisons are paired: "
        "what both runs share cancels out."
    )
    made = [outcomes.standing_table(study), outcomes.given_up_table(study)]
    standings = [each for each in made if each is not None]
    return Section(
        "compared",
        "Paired comparison",
        [Part("", _drawn(outcomes.comparison_figures(study)), [*standings, table])],
        [text],
        folded=True,
    )


def _losses(study: Study) -> Section:
    figures = [each for each in [losses.ends_figure(study)] if each is not None]
    tables = [each for each in [losses.loss_table(study), losses.drop_table(study)] if each is not None]
    parts = [Part(figures=_drawn([*figures])), Part(tables=tables, is_aside=bool(figures))]
    return Section("losses", "Where packets ended", parts)


def _flows(study: Study) -> Section:
    parts = [
        Part(
            f"{kind.label} flows", _drawn(shares.flow_figures(study, kind)), [shares.flow_table(study, kind)]
        )
        for kind in shares.kinds(study)
    ]
    return Section("flows", "Flow by flow", parts, folded=True)


def _drawn(figures: list[AnyFigure]) -> list[Drawn]:
    from manetlab.report.printed import draw

    return [Drawn(figure, *draw(figure)) for figure in figures]


def _manifest_of(folder: Path) -> dict[str, str]:
    """The hashes of the report that is there by file; empty if there is none.

    Raises:
        InputError: The folder is something else.
    """
    hint = "choose a folder of its own for the report: --output NAME"
    if not folder.absolute().parent.is_dir():
        found, mend = f"no directory {folder.absolute().parent}", f"mkdir -p {folder.absolute().parent}"
        raise InputError("the report cannot be written", str(folder), found, "a directory", mend)
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise InputError("the report cannot be written", str(folder), "a file", "a folder", hint)
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {str(name): str(digest) for name, digest in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        if any(folder.iterdir()):
            found = "a folder that holds other files"
            raise InputError(
                "the report cannot be written",
                str(folder),
                found,
                "a folder that is new, empty or holds a report",
                hint,
            ) from None
        return {}


def _check_ours(folder: Path, files: Iterable[str], before: Mapping[str, str]) -> None:
    """Checks that each file that would be replaced is one that a report has written.

    Raises:
        InputError: One is not.
    """
    for path in (folder / name for name in files if name not in before):
        if path.exists():
            hint = "choose another folder, or remove the file"
            found, wanted = "a file that no report has written", "a new folder, or one of an earlier report"
            raise InputError("the output would overwrite another file", str(path), found, wanted, hint)


def _write_all(folder: Path, files: Mapping[str, bytes], before: Mapping[str, str]) -> None:
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    manifest = json.dumps({"generator": "manetlab report", "files": hashes}, indent=1) + "\n"
    try:
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            "the report cannot be written", str(folder), reason, "a place to write", "choose another folder"
        ) from None
    # The manifest goes first: files of a report that was cut short are known to be ours.
    write_files(
        [(folder / MANIFEST, manifest.encode()), *((folder / name, each) for name, each in files.items())]
    )
    for name, digest in before.items():
        path = folder / name
        is_ours = path.resolve().is_relative_to(folder.resolve()) and path.is_file()
        if name not in files and is_ours and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
            path.unlink()
