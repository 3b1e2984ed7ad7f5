"""``manetlab demo`` and ``manetlab validate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.running import Result
    from manetlab.scenario import Scenario

Jobs = Annotated[int | None, typer.Option(help="Runs at a time. [as many as cores]", min=1)]


def demo(jobs: Jobs = None) -> None:
    """Compare TCP Reno with Reno-F over AODV in ten mobile networks, in pairs."""
    from manetlab import demo as experiment
    from manetlab.tables import stdout_console

    results = _with_progress(experiment.scenarios(), "runs", jobs)
    experiment.table(results).print(stdout_console())


def validate(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="chains, mobile, dsdv, dsr, saturation, one-hop, table-1.1. [all]"),
    ] = None,
    reference: Annotated[
        Path | None, typer.Option(help="Folder of ns-2's measurements. [the checkout's tests/data/ns2]")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Replications of each case.", min=2, max=1000)] = 5,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here too, as Markdown.")] = None,
    jobs: Jobs = None,
) -> None:
    """Compare the simulator with ns-2.35, with theory and with published figures."""
    from manetlab import validation
    from manetlab.files import check_apart, check_writable, write_text
    from manetlab.parameters import unknown
    from manetlab.tables import stdout_console

    if markdown is not None:
        check_writable(markdown)
    for part in parts or ():
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
    for part in parts or list(validation.PARTS):
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
