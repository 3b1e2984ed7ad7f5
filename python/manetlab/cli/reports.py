"""``manetlab report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    store: Annotated[Path, typer.Argument(metavar="RESULTS", help="The store of a campaign.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write. [the store's name with -report in place of its ending]"),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(metavar="FACTOR", help="Factor whose levels are compared. [a protocol, or the first]"),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Level that the others are compared with. [the first]")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of all intervals.")] = 0.95,
) -> None:
    """Write a campaign's results as a page, with figures (SVG, PDF) and tables (CSV, LaTeX) beside it."""
    from manetlab.campaign import Results
    from manetlab.report import write

    folder = out or store.with_name(f"{store.stem}-report")
    files = write(Results.load(store), folder, compare=compare, baseline=baseline, confidence=confidence)
    print(f"{files[0]}: open it in a browser; {len(files) - 1} figures and tables are beside it")
