"""``manetlab lab``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from manetlab.cli import options

SCENARIO = Path(__file__).parents[1] / "lab.toml"
TITLE = "Laboratory"


@click.command()
@options.output("The page to write. [lab.html]")
@options.PYTHON
def lab(output: Path | None, python: bool) -> None:
    """Write a page to build and run networks in a browser.

    It holds the simulator and a small network as text. It needs neither an installation nor a connection.
    With --python, the text may say everything that a scenario's file may.
    """
    from manetlab.replay import view

    out = output or Path("lab.html")
    options.check_written(also={"--output": out})
    made = view(SCENARIO, title=TITLE, live=True, lab=True, python=python)
    made.save(out)
    if not made.is_live:
        print(
            "warning: this manetlab was built without the engine for pages, so the page only replays: see "
            "`manetlab docs replay`",
            file=sys.stderr,
        )
    print(f"{out}: open it in a browser ({len(made.html) / 1e6:.1f} MB)")
