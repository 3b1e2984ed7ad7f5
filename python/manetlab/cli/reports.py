"""``manetlab report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from manetlab.cli import choices, options
from manetlab.cli.progress import waiting

if TYPE_CHECKING:
    from manetlab.scenario import Scenario


@click.command()
@click.argument(
    "source",
    type=options.PATH,
    metavar="CAMPAIGN",
    help="The store of a campaign, or its TOML file beside it.",
)
@options.output("Folder to write to. [the store's name, with -report for .db]", kind=options.FOLDER)
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
@click.option(
    "--replays",
    is_flag=True,
    help="Also write replays of the median and the worst run of each setting.",
)
@options.TRUST
def report(
    source: Path,
    output: Path | None,
    compare: str | None,
    baseline: str | None,
    confidence: float | None,
    replays: bool,
    trust: bool,
) -> None:
    """Write a campaign's results as an HTML page.

    Plots (SVG, PDF) and tables (CSV, LaTeX) are written beside it.
    """
    from manetlab.replay import view
    from manetlab.report import write

    def replay(scenario: Scenario, title: str) -> str:
        return view(scenario, title=title).html

    store = options.store_of(source)
    folder = output or store.with_name(f"{store.stem}-report")
    with waiting("report"):
        results = options.results_of(source, trust=trust)
        chosen = {"compare": compare, "baseline": baseline}
        files = write(results, folder, **chosen, confidence=confidence, replay=replay if replays else None)
    what = "plots, tables and replays" if replays else "plots and tables"
    print(f"{files[0]}: open it in a browser; {len(files) - 1} {what} are beside it")
