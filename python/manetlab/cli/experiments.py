"""``manetlab demo`` and ``manetlab validate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from manetlab.cli import options
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.running import Result
    from manetlab.scenario import Scenario


@click.command()
@options.JOBS
def demo(jobs: int | None) -> None:
    """Compare TCP Reno with Reno-F over AODV in ten mobile networks, in pairs."""
    from manetlab import demo as experiment
    from manetlab.tables import stdout_console

    results = _with_progress(experiment.scenarios(), "runs", jobs)
    experiment.table(results).print(stdout_console())


@click.command()
@click.argument(
    "parts",
    nargs=-1,
    metavar="[PART]...",
    help="chains, mobile, dsdv, dsr, saturation, one-hop, table-1.1. [all]",
)
@click.option(
    "--reference",
    type=options.PATH,
    help="Folder of ns-2's measurements. [the checkout's tests/data/ns2]",
)
@click.option("--seeds", type=click.IntRange(2, 1000), default=5, help="Replications of each case.")
@click.option("--markdown", type=options.PATH, help="Write the tables here too, as Markdown.")
@options.JOBS
def validate(
    parts: tuple[str, ...], reference: Path | None, seeds: int, markdown: Path | None, jobs: int | None
) -> None:
    """Compare the simulator with ns-2.35, with theory and with published figures."""
    from manetlab import validation
    from manetlab.files import check_apart, check_writable, write_text
    from manetlab.parameters import unknown
    from manetlab.tables import stdout_console

    if markdown is not None:
        check_writable(markdown)
    for part in parts:
        if part not in validation.PARTS:
            raise unknown("part of the validation", part, validation.PARTS, "command line")
    folder = reference or validation.reference_folder()
    if not (folder / "aodv.jsonl").is_file():
        hint = "run this in a checkout of manetlab, or name the folder with --reference"
        wanted = "the folder tests/data/ns2"
        raise InputError("ns-2's measurements are not there", str(folder), "no aodv.jsonl", wanted, hint)
    check_apart({"--markdown": markdown}, folder.iterdir())
    console = stdout_console()
    written = []
    for part in parts or validation.PARTS:
        check = validation.PARTS[part](folder, seeds)
        for table in check.evaluate(_with_progress(check.scenarios, part, jobs)):
            table.print(console)
            written.append(table.to_markdown())
    if markdown is not None:
        write_text(markdown, "\n".join(written))


def _with_progress(scenarios: list[Scenario], what: str, jobs: int | None) -> list[Result]:
    """Runs all, with a bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from manetlab.running import run_many

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=len(scenarios))
        return run_many(scenarios, jobs=jobs, progress=lambda _, __: bar.advance(task))
