"""``python -m validation``: compares the simulator with ns-2.35, theory and published results."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import click

from manetlab.cli import options
from manetlab.cli.progress import run_with_bar
from manetlab.errors import InputError, ManetlabError
from manetlab.files import check_apart, check_writable, write_text
from manetlab.parameters import unknown
from manetlab.provenance import commit
from manetlab.tables import stdout_console
from validation import PARTS, REFERENCE
from validation.check import ns2_file
from validation.page import renewed, summary


@click.command()
@click.argument("parts", nargs=-1, metavar="[PART]...", help=f"{', '.join(PARTS)}. [all]")
@click.option(
    "--reference",
    type=options.PATH,
    default=REFERENCE,
    help="Folder of ns-2's measurements. [validation/ns2]",
)
@click.option(
    "--seeds", type=click.IntRange(2, 1000), default=5, show_default=True, help="Replications of each case."
)
@click.option("--markdown", type=options.PATH, help="Write the tables here too, as Markdown.")
@click.option("--page", type=options.PATH, help="Renew the results on this page.")
@options.JOBS
def validate(
    parts: tuple[str, ...],
    reference: Path,
    seeds: int,
    markdown: Path | None,
    page: Path | None,
    jobs: int | None,
) -> None:
    """Compare the simulator with ns-2.35, theory and published results."""
    for file in (markdown, page):
        if file is not None:
            check_writable(file)
    for part in parts:
        if part not in PARTS:
            raise unknown("part of the validation", part, PARTS, "command line")
    if not ns2_file(reference).is_file():
        wanted, hint = "the folder validation/ns2", "name the folder with --reference"
        raise InputError(
            "ns-2's measurements are missing", str(reference), f"no {ns2_file(reference).name}", wanted, hint
        )
    check_apart({"--markdown": markdown, "--page": page}, reference.iterdir())
    console = stdout_console()
    tables = []
    for part in parts or PARTS:
        check = PARTS[part](reference, seeds)
        for table in check.evaluate(run_with_bar(check.scenarios, part, jobs)):
            table.print(console)
            tables.append(table)
    console.print(summary(tables))
    if markdown is not None:
        write_text(markdown, "\n".join(table.to_markdown() for table in tables))
    if page is not None:
        asked = " ".join(["python -m validation", *parts, f"--seeds {seeds}"])
        made = f"`{asked}` on {date.today():%Y-%m-%d} at commit `{(commit() or 'unknown')[:7]}`."
        write_text(page, renewed(page.read_text(encoding="utf-8"), made, tables))


if __name__ == "__main__":
    try:
        validate(prog_name="python -m validation")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
