"""``manetlab view``."""

from __future__ import annotations

from pathlib import Path

import click

from manetlab.cli import options


@click.command()
@click.argument("run", type=options.PATH, metavar="RECORDING", help="A recording of a run.")
@options.output("The page to write. [replay.html]")
@click.option("--compare", type=options.PATH, metavar="OTHER", help="Another run, played beside it in step.")
@click.option("--title", help="The page's title. [the file's name]")
def view(run: Path, output: Path | None, compare: Path | None, title: str | None) -> None:
    """Write a page that replays a run: movement, frames, routes, drops. It opens in any browser, offline."""
    from manetlab.files import check_apart, check_writable
    from manetlab.replay import view as replay

    out = output or Path("replay.html")
    check_writable(out)
    check_apart({"--output": out}, (run, compare))
    made = replay(run, compare, title=title)
    made.save(out)
    print(f"{out}: open it in a browser ({len(made.html) / 1e6:.1f} MB, nothing is loaded from any network)")
