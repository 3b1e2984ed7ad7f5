"""``manetlab report``."""

from __future__ import annotations

from pathlib import Path

import click

from manetlab.cli import options


@click.command()
@click.argument("store", type=options.PATH, metavar="RESULTS", help="The store of a campaign.")
@click.option(
    "--out",
    type=options.PATH,
    help="Folder to write to. [the store's name, with -report for .db]",
)
@click.option("--compare", metavar="FACTOR", help="Factor whose levels are compared. [the campaign's]")
@click.option(
    "--baseline", metavar="LEVEL", help="Compare all other levels with this one. [the campaign's comparison]"
)
@click.option("--confidence", type=float, help="Confidence of all intervals. [the campaign's, 0.95]")
def report(
    store: Path, out: Path | None, compare: str | None, baseline: str | None, confidence: float | None
) -> None:
    """Write a campaign's results as an HTML page, with plots (SVG, PDF) and tables (CSV, LaTeX) beside it."""
    from manetlab.campaign import Results
    from manetlab.report import write

    folder = out or store.with_name(f"{store.stem}-report")
    files = write(Results.load(store), folder, compare=compare, baseline=baseline, confidence=confidence)
    print(f"{files[0]}: open it in a browser; {len(files) - 1} plots and tables are beside it")
