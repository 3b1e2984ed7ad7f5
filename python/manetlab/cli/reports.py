"""``manetlab report``."""

from __future__ import annotations

from pathlib import Path

import click

from manetlab.cli import choices, options
from manetlab.cli.progress import waiting


@click.command()
@click.argument(
    "source",
    type=options.PATH,
    metavar="CAMPAIGN",
    help="The store of a campaign, or its TOML file beside it.",
)
@options.output("Folder to write to. [the store's name, with -report for .db]")
@options.renamed("--out", "--output")
@click.option(
    "--compare",
    metavar="FACTOR",
    help="Factor whose levels are compared. [the campaign's]",
    shell_complete=choices.complete_factors,
)
@click.option(
    "--baseline",
    metavar="LEVEL",
    help="Compare all other levels with this one. [the campaign's comparison]",
    shell_complete=choices.complete_levels,
)
@click.option("--confidence", type=float, help="Confidence of all intervals. [the campaign's, 0.95]")
def report(
    source: Path, output: Path | None, compare: str | None, baseline: str | None, confidence: float | None
) -> None:
    """Write a campaign's results as an HTML page, with plots (SVG, PDF) and tables (CSV, LaTeX) beside it."""
    from manetlab.campaign import Results
    from manetlab.report import write

    store = options.store_of(source)
    folder = output or store.with_name(f"{store.stem}-report")
    with waiting("report"):
        results = Results.load(store)
        files = write(results, folder, compare=compare, baseline=baseline, confidence=confidence)
    print(f"{files[0]}: open it in a browser; {len(files) - 1} plots and tables are beside it")
