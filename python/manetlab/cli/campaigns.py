"""``manetlab campaign``."""

from __future__ import annotations

import json
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import choices, options
from manetlab.cli.groups import Group
from manetlab.cli.progress import waiting
from manetlab.errors import InputError, numbers_below

if TYPE_CHECKING:
    from pandas import DataFrame

    from manetlab.campaign.results import Results
    from manetlab.campaign.status import Status
    from manetlab.metrics import Metric
    from manetlab.tables import Table

SOURCE = click.argument(
    "source",
    type=options.PATH,
    metavar="CAMPAIGN",
    help="A campaign's TOML file, or its store CAMPAIGN.db.",
)
STORE = click.option("--store", type=options.PATH, help="The store. [beside the campaign's file, NAME.db]")
SHOWN_FAILURES = 5
"""The maximum number of failed runs that are listed."""


@click.group(cls=Group, no_args_is_help=True)
def app() -> None:
    """Run a campaign, and show or export its results."""


@app.command()
@click.argument("file", type=options.PATH, metavar="CAMPAIGN.toml", help="A campaign in TOML.")
@STORE
@options.JOBS
@click.option("--shard", metavar="I/N", help="Run only part I of N, into a store of its own; see merge.")
@click.option("--until", help="Replicate until the metrics' intervals are within ± this share, e.g. 5%.")
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Run on the Dask cluster with this scheduler.")
@click.option(
    "--slurm",
    multiple=True,
    metavar="KEY=VALUE",
    help="Run as SLURM jobs; takes jobs=N and the options of SLURMCluster.",
)
@click.option("--allow-other-version", is_flag=True, help="Also use results of another version or commit.")
@click.option("--retry-failed", is_flag=True, help="Run failed runs again.")
@options.JSON
def run(
    file: Path,
    store: Path | None,
    jobs: int | None,
    shard: str | None,
    until: str | None,
    scheduler: str | None,
    slurm: tuple[str, ...],
    allow_other_version: bool,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Make the missing runs and show the results.

    It can be interrupted at any time; the same command continues.
    """
    from manetlab import file_kinds
    from manetlab.campaign.plan import Campaign
    from manetlab.cli.progress import kept_in, shown_progress

    campaign = Campaign.load(file)
    file_kinds.refuse_capacity({"capacity": campaign.capacity}, str(file), "a campaign without one")
    if until is not None:
        campaign = campaign.changed(until=share(until))
    part = None if shard is None else part_of(shard)
    name = ".db" if part is None else f".shard-{part[0]}-of-{part[1]}.db"
    place = store or file.with_suffix(name)
    with kept_in(place), shown_progress(campaign.name) as progress:
        results = campaign.run(
            place,
            jobs=jobs,
            scheduler=scheduler,
            slurm=pairs(slurm) if slurm else None,
            progress=progress,
            allow_other_version=allow_other_version,
            retry_failed=retry_failed,
            shard=part,
        )
    if part is None:
        _show(results, None, as_json)
    else:
        _show_part(results, place, file.with_suffix(""), part, as_json)
    _tell_failures(results)


def _show_part(results: Results, place: Path, name: Path, part: tuple[int, int], as_json: bool) -> None:
    """Shows what a shard has; the answer needs all of them."""
    done, failed = results.done, len(results.failed)
    if as_json:
        shown = {"store": str(place), "shard": part[0], "of": part[1], "done": done, "failed": failed}
        print(json.dumps(shown))
        return
    print(f"Shard {part[0]} of {part[1]} is complete: {done} runs in {place}, {failed} failed.")
    print(f"When all are: manetlab campaign merge {name}.shard-*.db -o {name}.db")


@app.command()
@click.argument(
    "shards", type=options.PATH, nargs=-1, required=True, metavar="SHARD.db…", help="The shards' stores."
)
@options.output("The store that gets all runs; it may exist.", required=True)
@click.option("--allow-other-version", is_flag=True, help="The runs may be of several versions of the code.")
@options.JSON
def merge(shards: tuple[Path, ...], output: Path, allow_other_version: bool, as_json: bool) -> None:
    """Make one store of the shards of a campaign.

    Every row is checked; merging again changes nothing.
    """
    from manetlab.campaign.merging import merge as merge_stores

    with waiting("merge"):
        merged = merge_stores(output, shards, allow_other_version=allow_other_version)
    missing = merged.total - merged.done - merged.failed
    if as_json:
        shown = {"store": str(output), "new": merged.runs, "known": merged.known, "done": merged.done}
        print(json.dumps({**shown, "failed": merged.failed, "missing": missing}))
        return
    print(f"{merged.done} of {merged.total} runs of campaign {merged.campaign} are in {output}: ", end="")
    print(f"{merged.runs} new, {merged.failed} failed, {missing} missing.")
    print(f"Show them: manetlab campaign results {output}")


@app.command()
@SOURCE
@STORE
@options.JSON
def status(source: Path, store: Path | None, as_json: bool) -> None:
    """Show the progress and the failed runs."""
    from manetlab.campaign import elimination
    from manetlab.campaign.status import Status
    from manetlab.tables import Table, stdout_console

    with waiting("counting"):
        found = Status.load(store or options.store_of(source), options.campaign_file(source))
        asked = options.campaign_now(source, found.campaign, found.store) or found.campaign
    shown: dict[str, Any] = {
        "store": str(found.store),
        "name": asked.name,
        "question": asked.question,
        "points": asked.point_count,
        "replications": found.replications,
        "done": found.done,
        "failed": len(found.failures),
        "missing": found.missing,
        "code": found.code,
        "started": found.started,
        "ended": found.ended,
        "cpu_time_s": round(found.cpu_time_s, 3),
    }
    if elimination.is_asked(found.campaign):
        shown |= {"spared": found.spared, "given_up": _given_up(found)}
    if as_json:
        print(json.dumps(shown))
        return
    table = Table(f"Campaign {asked.name}", ("what", "value"), text_columns=2)
    for key, value in shown.items():
        table.add(key, "; ".join(value) if isinstance(value, list) else str(value))
    table.print(stdout_console())
    _tell(found.failures, found.store)


def _given_up(found: Status) -> list[str]:
    """The points that were given up, in the order in which they were."""
    points = [
        (after, ", ".join(f"{name} = {label}" for name, label in found.campaign.points[point].levels.items()))
        for point, after in found.eliminated.given_up.items()
    ]
    return [f"{where} after {after} replications" for after, where in sorted(points, key=lambda of: of[0])]


@app.command("results")
@SOURCE
@STORE
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="A measure to show (see `manetlab list measures`); may be repeated. [the campaign's metrics]",
    shell_complete=choices.complete("measures"),
)
@click.option(
    "--compare",
    metavar="A,B",
    help="Compare two levels of a factor in paired runs, e.g. reno-f,reno.",
    shell_complete=choices.complete_levels,
)
@options.TRUST
@options.JSON
def results_(
    source: Path,
    store: Path | None,
    metrics: tuple[str, ...],
    compare: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Show the answer, the means and their intervals.

    With --compare it shows the paired comparison of two levels.
    """
    from manetlab.report.study import READ_OF_FLOWS

    results = _results(source, store, trust, READ_OF_FLOWS)
    if compare is None:
        _show(results, list(metrics) or None, as_json)
    else:
        _compare(results, compare, list(metrics) or None, as_json)
    _tell_failures(results, strict=False)


@app.command()
@SOURCE
@options.output("Folder to write to.", required=True, kind=options.FOLDER)
@STORE
@click.option("--format", "formats", default="csv,parquet", help="csv, parquet or both.")
@options.TRUST
def export(source: Path, output: Path, store: Path | None, formats: str, trust: bool) -> None:
    """Write the results as CSV and Parquet.

    These are runs, flows, drops, failures and provenance.
    """
    with waiting("export"):
        results = _results(source, store, trust)
        written = results.export(output, [name.strip() for name in formats.split(",")])
    for path in written:
        print(path)


@app.command()
@SOURCE
@click.option("--point", type=click.IntRange(min=0), required=True, help="Number of the point.")
@click.option("--replication", type=click.IntRange(min=0), required=True, help="Number of the replication.")
@STORE
@options.JSON
@options.RECORD
@options.TRUST
def repeat(
    source: Path,
    point: int,
    replication: int,
    store: Path | None,
    as_json: bool,
    record: Path | None,
    trust: bool,
    **described: Any,
) -> None:
    """Repeat one run and show its result.

    Nothing is stored; the result is compared with that in the store.
    """
    from manetlab.cli.runs import show
    from manetlab.running import run as run_one

    to_file = options.record_to(record, described)
    stored = store or options.store_of(source)
    options.check_written(inputs=(stored, stored.with_suffix(".toml")))
    results = _results(source, store, trust)
    campaign = results.campaign
    if record is not None:
        options.check_written(inputs=options.inputs_of_store(results))
    if point >= campaign.point_count:
        wanted = numbers_below(campaign.point_count)
        raise InputError("no such point", "--point", str(point), wanted, "see the tables' first column")
    scenario = campaign.scenario(point, replication)
    if scenario.is_in_python and not trust:
        _ask_before_import(scenario.routing, results.store)
        scenario = _results(source, store, trust=True).campaign.scenario(point, replication)
    with waiting("run"):
        result = run_one(scenario, record=to_file or False)
    if as_json:
        print(result.to_json())
    else:
        show(result)
    runs = results.runs
    kept = runs[(runs["point"] == point) & (runs["replication"] == replication)]["result_hash"]
    differs = [stored for stored in kept if stored != result.hash]
    if len(kept):
        said = "NOT the same as in the store" if differs else "the same as in the store"
        print(said, file=sys.stderr)
    if differs:
        raise click.exceptions.Exit(1)


def _ask_before_import(routing: str, store: Path | None) -> None:
    """Asks whether to import the code that a store names: the store may come from somebody else.

    Raises:
        InputError: The answer is no, or nobody is there to answer.
    """
    asked = sys.stdin.isatty()
    if asked and click.confirm(f"{store} names {routing}. Import this code and run it?", err=True):
        return
    found = f"{routing}, not trusted" if asked else routing
    hint = "--trust imports it; do so only if you know where the store and the code come from"
    raise InputError("the store names code of its own", str(store), found, "your consent to import it", hint)


def part_of(text: str) -> tuple[int, int]:
    """The part and the number of parts in ``2/8``.

    Raises:
        InputError: It is written otherwise.
    """
    part, slash, parts = text.partition("/")
    try:
        if slash:
            return int(part), int(parts)
    except ValueError:
        pass
    hint = "for example --shard 2/8: the second of eight"
    raise InputError("--shard takes a part and the number of parts", "--shard", repr(text), "I/N", hint)


def share(text: str) -> float:
    """A share written as ``5%`` or ``0.05``.

    Raises:
        InputError: It is neither.
    """
    number, percent, rest = text.partition("%")
    try:
        if rest.strip():
            raise ValueError
        return float(number) / (100 if percent else 1)
    except ValueError:
        hint = "the half width of the interval as a share of the mean"
        raise InputError("not a valid share", "--until", repr(text), "for example 5% or 0.05", hint) from None


def pairs(texts: Iterable[str]) -> dict[str, Any]:
    """``KEY=VALUE`` options as a mapping; a value that looks like a whole number becomes one.

    Raises:
        InputError: One has no key or no value.
    """
    made: dict[str, Any] = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not key or not value:
            hint = "for example --slurm cores=4 --slurm memory=8GB --slurm jobs=10"
            raise InputError("not an option of the form KEY=VALUE", "--slurm", repr(text), "KEY=VALUE", hint)
        made[key.strip()] = int(value) if value.strip().isdecimal() else value.strip()
    return made


def _results(
    source: Path, store: Path | None, trust: bool = False, of_flows: Sequence[str] | None = None
) -> Results:
    with waiting("reading"):
        return options.results_of(source, store, trust, of_flows)


def _show(results: Results, metrics: list[str] | None, as_json: bool) -> None:
    from manetlab.campaign.adjusting import about_adjusted
    from manetlab.cli.progress import shown_draws
    from manetlab.metrics import by_key
    from manetlab.stats import Interval
    from manetlab.tables import Table, stdout_console

    with shown_draws(results):
        summary = results.summary(metrics)
    if as_json:
        print(json.dumps(_as_json(results, summary)))
        return
    campaign = results.campaign
    if metrics is None and results.done:
        _answer(results)
    for key in results.wanted(metrics):
        metric = by_key(key)
        adjusted = ("adjusted (95 %)", "gain") if campaign.adjusted else ()
        headings = ("mean (95 %)", *adjusted, "median", "5 % – 95 %", "n")
        asked = "" if metrics is None else f"{campaign.question or campaign.name}\n"
        title = f"{asked}{metric.heading}"
        columns = ("point", *_headings(list(campaign.factors)), *headings)
        table = Table(title, columns, text_columns=len(campaign.factors) + 1, keys=len(campaign.factors) + 1)
        for row in summary[summary["metric"] == key].to_dict("records"):
            interval = Interval.between(row["mean"], row["low"], row["high"], row["n"])
            median, low, high = (metric.show({key: row[name]}) for name in ("median", "p5", "p95"))
            levels = (str(row[name]) for name in campaign.factors)
            spread = (median, f"{low} – {high}", str(row["n"]))
            more = _adjusted(metric, row) if campaign.adjusted else ()
            table.add(str(row["point"]), *levels, metric.show_interval(interval), *more, *spread)
        if campaign.adjusted:
            table.notes += about_adjusted(summary[summary["metric"] == key].to_dict("records"))
        _note(table, results)
        table.print(stdout_console())


def _as_json(results: Results, summary: DataFrame) -> dict[str, Any]:
    """The answer as one object: what the terminal and the page say, and the tables behind it."""
    from manetlab.report.answers import answer

    found = answer(results) if results.done else None
    tables = {"summary": summary, "comparisons": results.comparisons, "standings": results.standings}
    if results.looks is not None:
        tables["given_up"] = results.given_up
    return {
        "name": results.campaign.name,
        "question": results.campaign.question,
        "warnings": [] if found is None else found.warnings,
        "plain": [] if found is None else found.plain,
        "verdict": None if found is None else found.verdict,
        "details": [] if found is None else found.details,
        **{
            name: json.loads(of.to_json(orient="records", double_precision=15)) for name, of in tables.items()
        },
    }


def _adjusted(metric: Metric, row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """The mean that is adjusted for the movement, and its gain; a dash for each if it is not."""
    from manetlab.stats import Interval

    if not row["draws"]:
        return "–", "–"
    ends = (row["adjusted_mean"], row["adjusted_low"], row["adjusted_high"])
    return metric.show_interval(Interval.between(*ends, row["n"])), f"{row['gain']:.1f}"


def _answer(results: Results) -> None:
    """Prints what speaks against the question, the verdict, and the table of alternatives and measures."""
    from rich.text import Text

    from manetlab.report.answers import answer_of, table_of
    from manetlab.report.study import Study
    from manetlab.tables import Table, stdout_console
    from manetlab.topology import with_kind

    study, console = Study(results), stdout_console()
    found = answer_of(study)
    console.print(Text(results.campaign.question or results.campaign.name))
    for warning in found.warnings:
        console.print(Text(with_kind(warning)))
    console.print()
    for sentence in (*found.plain, found.verdict, *found.details):
        console.print(Text(sentence))
    console.print()
    answers, keys = table_of(study, study.wanted), len(study.factors)
    headings = [column.heading for column in answers.shown_columns]
    table = Table(answers.caption, headings, text_columns=keys, keys=keys, notes=answers.notes)
    for cells in answers.shown_rows:
        table.add(*(cell.shown for cell in cells))
    table.print(console)


def _compare(results: Results, pair: str, metrics: list[str] | None, as_json: bool) -> None:
    from manetlab.campaign.comparison import factor_with
    from manetlab.metrics import by_key
    from manetlab.report.quantities import p_value
    from manetlab.tables import Table, stdout_console

    a, comma, b = (part.strip() for part in pair.partition(","))
    if not (a and comma and b):
        hint = "for example --compare reno-f,reno"
        raise InputError("--compare takes two levels", "--compare", repr(pair), "A,B", hint)
    factor = factor_with(results.campaign, a, b)
    compared = results.compare(factor, a, b, metrics)
    if as_json:
        print(compared.to_json(orient="records", double_precision=15))
        return
    others = [name for name in results.campaign.factors if name != factor]
    for key in results.wanted(metrics):
        metric = by_key(key)
        step = metric.of_differences
        difference = "difference" if step == metric else f"difference ({step.unit})"
        headings = (a, b, difference, "95 %", "p (t)", "p (adjusted)", "n", "verdict")
        title = f"{metric.heading}, {factor}: {a} compared with {b}"
        table = Table(title, (*_headings(others), *headings), text_columns=len(others), keys=len(others))
        rows = compared[compared["metric"] == key].to_dict("records")
        for row in rows:
            values = (row[name] for name in ("level_mean", "against_mean", "difference"))
            means = (metric.show({key: value}) for value in values)
            ends = " to ".join(metric.show({key: row[name]}) for name in ("low", "high"))
            chances = (p_value(row[name]) for name in ("p_t", "p_adjusted"))
            cells = (*means, ends, *chances, str(row["n"]), row["verdict"])
            table.add(*(str(row[name]) for name in others), *cells)
        table.notes.append("Runs are paired: both have the same movement and traffic.")
        table.notes.append(_about_adjustment(results, rows))
        _note(table, results)
        table.print(stdout_console())


def _about_adjustment(results: Results, rows: Sequence[Mapping[Hashable, Any]]) -> str:
    family = results.family
    if family is None or all(row["verdict"] == "exploratory" for row in rows):
        return (
            "This comparison is exploratory: the campaign does not ask it (see `comparison` in "
            "`manetlab docs campaigns`). Its p-value and interval are not adjusted, and it decides nothing."
        )
    if family.size == 1:
        return "It is the campaign's only comparison: p (adjusted) is the p-value of the t test."
    return (
        f"p (adjusted) and the intervals are adjusted for the campaign's {family.size} comparisons; "
        f"significant means at most {family.alpha:g}."
    )


def _headings(factors: list[str]) -> list[str]:
    """The factors' names, without the sections where they are clear without them."""
    short = [name.rpartition(".")[2] for name in factors]
    return [last if short.count(last) == 1 else name for last, name in zip(short, factors, strict=True)]


def _note(table: Table, results: Results) -> None:
    codes = results.provenance_in_short["code"]
    if results.missing:
        table.notes.append(f"{results.missing} of the planned runs have not been made yet.")
    if len(codes) > 1:
        table.notes.append(f"THE RESULTS MIX DIFFERENT VERSIONS OF THE CODE: {'; '.join(codes)}.")


def _tell_failures(results: Results, strict: bool = True) -> None:
    """Reports failed runs on standard error; if ``strict``, they set the command's exit status."""
    failed = results.failed
    _tell(list(zip(failed["point"], failed["replication"], failed["error"], strict=True)), results.store)
    if strict and not failed.empty:
        raise click.exceptions.Exit(1)


def _tell(failures: Sequence[tuple[int, int, str]], store: Path | None) -> None:
    """Reports failed runs on standard error."""
    from manetlab.campaign.run_tables import command_of

    if not failures:
        return
    print(f"{len(failures)} run{'s' if len(failures) != 1 else ''} failed:", file=sys.stderr)
    for point, replication, error in failures[:SHOWN_FAILURES]:
        print(f"point {point}, replication {replication}: {error}", file=sys.stderr)
        print(f"  repeat: {command_of(store, point, replication)}", file=sys.stderr)
    if len(failures) > SHOWN_FAILURES:
        print("to list all: manetlab campaign export, failed.csv", file=sys.stderr)
