"""``manetlab course``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from manetlab.cli import options
from manetlab.errors import InputError


@click.command()
@click.argument("name", required=False, help="The exercise, such as rts. [all of them]")
@options.output("Folder to write to. [course]", kind=options.FOLDER)
def course(name: str | None, output: Path | None) -> None:
    """Write exercises on mobile ad hoc networks as live pages.

    Each page holds a network, the simulator, questions, and solutions that are folded.
    """
    from manetlab import course as exercises

    names = exercises.ORDER if name is None else (exercises.exercise(name).name,)
    folder = output or Path("course")
    paths = exercises.outputs(names, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        wanted = "a folder that can be made"
        raise InputError("the folder cannot be made", str(folder), error.strerror or "", wanted) from None
    exercises.check_replaced(paths)
    is_live = True
    for each, path in zip(names, paths, strict=False):
        is_live = exercises.write(each, path).is_live
        print(f"{path}: {exercises.exercise(each).title}")
    if len(names) > 1:
        exercises.write_index(paths[-1])
        print(f"{paths[-1]}: open this one first")
    if not is_live:
        print(
            "warning: this manetlab was built without the engine for pages, so the pages only replay: see "
            "`manetlab docs replay`",
            file=sys.stderr,
        )
