"""``manetlab report``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import choices, options
from manetlab.cli.progress import waiting
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.report.replays import Played
    from manetlab.scenario import Scenario

BRIEF = (".html", ".pdf")
"""How the name of a brief page may end."""


@click.command()
@click.argument(
    "source",
    type=options.PATH,
    metavar="CAMPAIGN",
    help="The store of a campaign, or its TOML file beside it.",
)
@options.output(
    "Folder to write to, or file with --brief. [the store's name, with -report or -brief.html for .db]",
    kind=options.FOLDER,
)
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
@click.option("--brief", is_flag=True, help="Write one A4 page: .html, or .pdf, which Chromium prints.")
@options.TRUST
def report(
    source: Path,
    output: Path | None,
    compare: str | None,
    baseline: str | None,
    confidence: float | None,
    replays: bool,
    brief: bool,
    trust: bool,
) -> None:
    """Write a campaign's results as an HTML page.

    Plots (SVG, PDF) and tables (CSV, LaTeX) are written beside it. With --brief it is one page to print:
    question, answer, one figure, a map of the field, caveats, and how to repeat it.
    """
    from manetlab.report import write
    from manetlab.report.study import READ_OF_FLOWS

    store = options.store_of(source)
    chosen: dict[str, Any] = {"compare": compare, "baseline": baseline, "confidence": confidence}
    if brief:
        file = output or store.with_name(f"{store.stem}-brief.html")
        if replays:
            raise InputError("one page has no replays", "command line", "--replays", "--brief without it")
        _write_brief(store, source, file, trust, chosen)
        return
    folder = output or store.with_name(f"{store.stem}-report")
    with waiting("report"):
        results = options.results_of(source, trust=trust, of_flows=READ_OF_FLOWS)
        files = write(results, folder, **chosen, replay=_replay if replays else None)
    what = "plots, tables and replays" if replays else "plots and tables"
    print(f"{files[0]}: open it in a browser; {len(files) - 1} {what} are beside it")


def _replay(scenario: Scenario, title: str) -> Played:
    """Repeats a run, for its page and, where pyarrow is installed, for what held its flows up."""
    from importlib.util import find_spec

    from manetlab import recording, run
    from manetlab.replay import view
    from manetlab.replay.page import temporary_folder
    from manetlab.report.replays import Played

    with temporary_folder() as folder:
        path = Path(folder) / "run.mlrec"
        run(scenario, record=path)
        held: dict[str, float] = {}
        for row in recording.open(path).stall_shares().to_pylist() if find_spec("pyarrow") else ():
            held[row["cause"]] = held.get(row["cause"], 0.0) + row["share"]
        return Played(view(path, title=title).html, held)


def _write_brief(store: Path, source: Path, file: Path, trust: bool, chosen: Mapping[str, Any]) -> None:
    """Writes the brief page.

    Raises:
        InputError: The file has another ending, is one that is read, or cannot be written.
    """
    from manetlab.report.study import READ_OF_FLOWS
    from manetlab.report.writing import write_brief

    if file.suffix.lower() not in BRIEF:
        wanted = f"a name that ends in {' or '.join(BRIEF)}"
        raise InputError("no such format of the brief page", "--output", str(file), wanted)
    with waiting("report"):
        results = options.results_of(source, trust=trust, of_flows=READ_OF_FLOWS)
        options.check_written(inputs=[store, *results.campaign.inputs], also={"--output": file})
        write_brief(results, file, **chosen)
    print(f"{file}: one A4 page")
