"""``python -m validation``: compares the simulator with ns-2.35, theory and published results."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from manetlab.cli import options
from manetlab.cli.progress import run_with_bar
from manetlab.errors import InputError, ManetlabError
from manetlab.files import check_apart, check_writable, write_text
from manetlab.parameters import unknown
from manetlab.tables import stdout_console
from validation import PARTS, REFERENCE


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
@options.JOBS
def validate(
    parts: tuple[str, ...], reference: Path, seeds: int, markdown: Path | None, jobs: int | None
) -> None:
    """Compare the simulator with ns-2.35, theory and published results."""
    if markdown is not None:
        check_writable(markdown)
    for part in parts:
        if part not in PARTS:
            raise unknown("part of the validation", part, PARTS, "command line")
    if not (reference / "aodv.jsonl").is_file():
        wanted, hint = "the folder validation/ns2", "name the folder with --reference"
        raise InputError("ns-2's measurements are missing", str(reference), "no aodv.jsonl", wanted, hint)
    check_apart({"--markdown": markdown}, reference.iterdir())
    console = stdout_console()
    written = []
    for part in parts or PARTS:
        check = PARTS[part](reference, seeds)
        for table in check.evaluate(run_with_bar(check.scenarios, part, jobs)):
            table.print(console)
            written.append(table.to_markdown())
    if markdown is not None:
        write_text(markdown, "\n".join(written))


if __name__ == "__main__":
    try:
        validate(prog_name="python -m validation")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
