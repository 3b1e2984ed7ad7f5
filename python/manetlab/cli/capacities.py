"""``manetlab capacity``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.campaign.plan import Campaign
    from manetlab.load_capacity import AtLevel, Capacity, Question
    from manetlab.tables import Table


@click.command()
@click.argument("file", type=options.PATH)
@click.option("--level", metavar="FIELD", help="The load: traffic.random.calls. [the file's]")
@click.option("--levels", help="Its levels: 1..20, or 10..200:10. [the file's]")
@click.option("--limit", help='What must hold: "voice_satisfied_fraction >= 0.95". [the file\'s]')
@click.option("--most", type=click.IntRange(8, 100_000), help="Most runs of a level. [64]")
@click.option("--store", type=options.PATH, help="The store. [beside the file, NAME.capacity.db]")
@click.option("--allow-other-version", is_flag=True, help="Also use runs of another version or commit.")
@options.JOBS
@options.JSON
@click.option("--csv", type=options.WRITTEN, help="Write all levels to this file.")
@click.option("--plot", type=options.WRITTEN, help="Draw the levels in this file, .svg or .png.")
def capacity(
    file: Path,
    store: Path | None,
    allow_other_version: bool,
    jobs: int | None,
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **asked: Any,
) -> None:
    """Find the largest load within a limit.

    FILE is a campaign, whose table [capacity] says what the load is and what must hold; each combination of
    its factors is a network of its own. It can also be a scenario, with --level, --levels and --limit. The
    search can be interrupted; the same command continues it.
    """
    from manetlab.files import check_apart
    from manetlab.load_capacity import Question, write_csv

    campaign = _campaign_of(file)
    given = {name: value for name, value in asked.items() if value is not None}
    if campaign.factors and not campaign.capacity and not given:
        hint = f"manetlab campaign run {shlex.quote(str(file))} runs it as it is"
        wanted = "a table [capacity] with level, levels and limit"
        raise InputError("this campaign asks for no capacity", str(file), "no [capacity]", wanted, hint)
    place = store or file.with_suffix(".capacity.db")
    if plot is not None:
        from manetlab.report.ranges import check_plot

        check_plot(plot, "--plot")
    options.check_written(inputs=[file, place, *campaign.inputs])
    check_apart({"--store": place}, (file, *campaign.inputs))
    question = Question.build({**campaign.capacity, **given}, f"{campaign.where}: capacity")
    found = _search(campaign, question, place, jobs, allow_other_version)
    if csv is not None:
        write_csv(csv, found)
    if plot is not None:
        from manetlab.report.capacities import draw

        draw(found, plot)
    if as_json:
        print(json.dumps({"capacities": [each.to_dict() for each in found]}))
        return
    _print(found, question)


def _campaign_of(file: Path) -> Campaign:
    """The campaign of a file, or one whose base is the scenario of a file."""
    from manetlab.campaign.plan import Campaign
    from manetlab.files import parse_toml, read_bytes

    try:
        data = parse_toml(read_bytes(file, "campaign file"))
    except ValueError:
        # The reader of campaigns says what is wrong.
        return Campaign.load(file)
    if "base" in data or "factors" in data:
        return Campaign.load(file)
    return Campaign.build({"base": file.name, "name": file.stem}, str(file), file.parent)


def _search(
    campaign: Campaign, question: Question, place: Path, jobs: int | None, allow_other_version: bool
) -> list[Capacity]:
    from manetlab.cli.progress import kept_in, shown_progress
    from manetlab.load_capacity import find

    with kept_in(place), shown_progress(question.level) as progress:
        return find(
            campaign,
            question,
            store=place,
            jobs=jobs,
            progress=progress,
            allow_other_version=allow_other_version,
        )


def _print(found: list[Capacity], question: Question) -> None:
    from manetlab.tables import stdout_console

    console = stdout_console()
    table = _table(found, question)
    runs, grid = sum(each.border.replications for each in found), sum(each.runs_of_grid for each in found)
    table.notes += [
        f"Each level is judged by one-sided tests that allow for their number, "
        f"{100 * question.confidence:g} % together; the intervals of the means are those of 95 %.",
        f"{runs:,} runs; all levels with {question.most} runs each would be {grid:,}.",
    ]
    if any(at.arrived for each in found for at in each.levels):
        table.notes.append(
            "The measure is known of what arrives only: it may keep to the limit because the rest is lost."
        )
    for each in found:
        if each.border.out_of_order is not None:
            low, high = each.border.out_of_order
            table.notes.append(
                f"{' '.join(map(str, each.labels.values()))}: {low:g} does not hold although {high:g} does; "
                "the answer is what holds below the first that does not."
            )
    table.print(console)
    for each in found:
        print(each.sentence())


def _table(found: list[Capacity], question: Question) -> Table:
    from manetlab import metrics
    from manetlab.tables import Table

    metric = metrics.by_key(question.metric)
    factors = list(found[0].labels)
    measured = f"{metric.label}, {metric.unit}" if metric.unit else metric.label
    arrived = dict.fromkeys(key for each in found for at in each.levels for key in at.arrived)
    said = [metrics.by_key(key) for key in arrived]
    of_arrived = [f"{of.label}, {of.unit}" if of.unit else of.label for of in said]
    heads = (*factors, question.level, "runs", measured, "95 % interval", *of_arrived, question.limit_text)
    table = Table(f"How large may {question.level} be?", heads, text_columns=len(factors))
    for each in found:
        for at in each.levels:
            much = [
                f"{at.arrived[of.key] * of.factor:.{max(of.digits, 1)}f}" if of.key in at.arrived else "–"
                for of in said
            ]
            place = (*map(str, each.labels.values()), f"{at.level:g}", str(at.mean.n))
            table.add(*place, *_cells(at, question), *much, at.status.value)
    return table


def _cells(at: AtLevel, question: Question) -> list[str]:
    from manetlab import metrics

    metric = metrics.by_key(question.metric)
    digits = max(metric.digits, 1)
    mean = at.mean.scaled(metric.factor)
    return [f"{mean.mean:.{digits}f}", f"{mean.low:.{digits}f} to {mean.high:.{digits}f}"]
