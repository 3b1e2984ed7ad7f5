"""``manetlab advise``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from manetlab.cli import options
from manetlab.cli.reports import BRIEF
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.advice import Advice, Asked
    from manetlab.campaign.plan import Campaign


@click.command()
@click.argument("file", type=options.PATH, metavar="FIELD.toml", help="A scenario without routing protocol.")
@options.output("The page, .html or .pdf. [beside the file, NAME-advice.html]")
@click.option("--store", type=options.PATH, help="The store. [beside the file, NAME.advice.db]")
@click.option("--allow-other-version", is_flag=True, help="Also use runs of another version or commit.")
@options.JOBS
@options.JSON
def advise(
    file: Path,
    output: Path | None,
    store: Path | None,
    allow_other_version: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Find the best routing protocol for a field.

    FILE describes the field: movement, radio, surroundings and traffic, as a scenario does, and in a table
    [advise] what must hold. All candidates race until the best is known or a budget ends; then the three
    least certain inputs are varied. The answer is one page. A race that was interrupted is continued.
    """
    from manetlab.advice import load
    from manetlab.files import check_apart

    campaign, asked = load(file)
    place = store or file.with_suffix(".advice.db")
    page = output or file.with_name(f"{file.stem}-advice.html")
    if page.suffix.lower() not in BRIEF:
        wanted = f"a name that ends in {' or '.join(BRIEF)}"
        raise InputError("no such format of the page", "--output", str(page), wanted)
    beside = place.with_name(f"{place.stem}-unsure{place.suffix}")
    options.check_written(inputs=[file, place, beside, *campaign.inputs], also={"--output": page})
    check_apart({"--store": place}, (file, *campaign.inputs))
    found = _search(campaign, asked, place, jobs, allow_other_version)
    _write(found, file, page)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    _print(found, page)


def _search(
    campaign: Campaign, asked: Asked, place: Path, jobs: int | None, allow_other_version: bool
) -> Advice:
    from manetlab import advice
    from manetlab.cli.progress import kept_in, shown_progress

    with kept_in(place), shown_progress(campaign.name) as progress:
        return advice.advise(
            campaign,
            asked,
            store=place,
            jobs=jobs,
            progress=progress,
            allow_other_version=allow_other_version,
        )


def _write(found: Advice, file: Path, page: Path) -> None:
    from manetlab.cli.progress import waiting
    from manetlab.report.writing import write_advice

    with waiting("report"):
        write_advice(found, page, file.name)


def _print(found: Advice, page: Path) -> None:
    from rich.text import Text

    from manetlab.report import plain
    from manetlab.report.answers import table_of
    from manetlab.tables import Table, stdout_console

    console = stdout_console()
    console.print(Text(found.study.campaign.question))
    console.print()
    for sentence in (*plain.sentences(found.study), *found.limit_sentences(), found.why_ended()):
        console.print(Text(sentence))
    console.print()
    answers = table_of(found.study, found.study.wanted)
    headings = [column.heading for column in answers.shown_columns]
    table = Table(answers.caption, headings, text_columns=1, keys=1, notes=answers.notes)
    for cells in answers.shown_rows:
        table.add(*(cell.shown for cell in cells))
    table.print(console)
    for title, told in (("Caveats", found.caveats()), ("What would change the answer", found.what_if())):
        if told:
            console.print(Text(f"{title}:"))
            for sentence in told:
                console.print(Text(f"- {sentence}"))
            console.print()
    console.print(Text(f"{page}: one A4 page"))
