"""``manetlab view``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options
from manetlab.errors import InputError, numbers_below

if TYPE_CHECKING:
    from manetlab.scenario import Scenario

SQLITE = b"SQLite format 3\0"
"""How a campaign's store begins."""


@click.command()
@click.argument(
    "run",
    type=options.PATH,
    required=False,
    metavar="[RUN|SCENARIO.toml]",
    help="A recording, a scenario to run, or a campaign's store with --point and --replication.",
)
@options.DESCRIBED
@options.SET
@options.output("The page to write. [replay.html]")
@click.option(
    "--compare",
    type=options.PATH,
    metavar="OTHER",
    multiple=True,
    help="Another run, played beside it in step; up to three times.",
)
@click.option("--point", type=click.IntRange(min=0), help="Number of the point in a store.")
@click.option("--replication", type=click.IntRange(min=0), help="Number of the replication in a store.")
@click.option(
    "--live",
    is_flag=True,
    help="The page can also run the scenario with other protocols, senders, seeds and positions.",
)
@options.PYTHON
@click.option("--title", help="The page's title. [the names of the files]")
@options.TRUST
def view(
    run: Path | None,
    output: Path | None,
    compare: tuple[Path, ...],
    point: int | None,
    replication: int | None,
    title: str | None,
    live: bool,
    python: bool,
    trust: bool,
    **described: Any,
) -> None:
    """Write a page that replays a run in a browser.

    It shows movement, frames, routes and drops, and works offline.
    """
    from manetlab.cli.progress import waiting
    from manetlab.replay import view as replay

    out = output or Path("replay.html")
    options.check_written(also={"--output": out})
    source, read = _described(run, described) or _run_of(run, point, replication, trust)
    beside = [_run_of(each, None, None, trust) for each in compare]
    also_read = [path for _, paths in beside for path in paths]
    options.check_written(also={"--output": out}, inputs=[*read, *also_read])
    if run is not None and point is not None and title is None:
        title = f"{run.stem}, point {point}, replication {replication}"
    with waiting("replay"):
        made = replay(source, [each for each, _ in beside] or None, title=title, live=live, python=python)
        made.save(out)
    if live and not made.is_live:
        print(
            "warning: this manetlab was built without the engine for pages, so the page only replays: see "
            "`manetlab docs replay`",
            file=sys.stderr,
        )
    print(f"{out}: open it in a browser ({len(made.html) / 1e6:.1f} MB, nothing is loaded from any network)")


def _described(run: Path | None, described: dict[str, Any]) -> tuple[Path | Scenario, list[Path]] | None:
    """The scenario that options describe, alone or with a file, and what is read for it; None without any."""
    given = any(value not in (None, ()) for value in described.values())
    if not given and run is not None:
        return None
    made = options.scenario_from(run, **described)
    return made, made.inputs


def _run_of(
    path: Path | None, point: int | None, replication: int | None, trust: bool
) -> tuple[Path | Scenario, list[Path]]:
    """A recording, a scenario or the scenario of a run in a store, and what is read for it."""
    from manetlab.replay.recorded import is_recording
    from manetlab.scenario import Scenario

    assert path is not None
    if not _begins_with(path, SQLITE):
        if point is not None or replication is not None:
            wanted = "the store of a campaign"
            raise InputError("points and replications are those of a store", "--point", str(path), wanted)
        return path, [] if is_recording(path) else Scenario.load(path).inputs
    if point is None or replication is None:
        hint = "`manetlab campaign results` lists the points"
        wanted = "--point and --replication"
        raise InputError("a store holds many runs", str(path), "none was chosen", wanted, hint)
    from manetlab.campaign import Results

    results = Results.load(path, trust=trust)
    campaign = results.campaign
    if point >= campaign.point_count:
        wanted = numbers_below(campaign.point_count)
        raise InputError("no such point", "--point", str(point), wanted, "see the tables' first column")
    return campaign.scenario(point, replication), options.inputs_of_store(results)


def _begins_with(path: Path, start: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except OSError:
        return False
