"""``manetlab papers``: what five papers claim, and what of it is reproduced here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from manetlab.cli import options
from manetlab.cli.groups import Group
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab_papers.ledger import Claim, Experiment, Ledger
    from manetlab_papers.reproduce import Keeping

OUT = options.together(
    click.option(
        "--output",
        "-o",
        "out",
        type=options.FOLDER,
        default=Path("out/papers"),
        help="Folder that keeps runs and verdicts.",
    ),
    options.renamed("--out", "--output"),
)
MARKDOWN = click.option(
    "--markdown",
    type=options.WRITTEN,
    help="Write the page of all verdicts so far here, in Markdown.",
)


KEPT = click.option(
    "--kept",
    "kept_in",
    type=options.PATH,
    help="Folder of results that are kept for good; papers/kept of a checkout if not given.",
)


PRIORITY = click.option(
    "--priority",
    type=click.IntRange(1, 3),
    help="Only experiments of this priority or a higher one: 1 headlines, 2 core, 3 minor.",
)


@click.group(cls=Group, no_args_is_help=True)
def app() -> None:
    """Reproduce five papers' experiments and their claims."""


@app.command("list")
@click.option("--paper", help="Only this paper's, by its key.")
@click.option("--runnable", is_flag=True, help="Only those that can be run.")
def list_all(paper: str | None, runnable: bool) -> None:
    """List the papers' experiments."""
    from manetlab.parameters import unknown
    from manetlab.tables import Table, stdout_console
    from manetlab_papers import ledger

    loaded = ledger.load()
    if paper is not None and paper not in loaded.papers:
        raise unknown("paper", paper, loaded.papers, "--paper")
    table = Table("Experiments", ("experiment", "title", "claims", "priority", "can be run"), text_columns=2)
    for each in loaded.experiments.values():
        can = each.runs is not None
        if paper in (None, each.paper) and (can or not runnable):
            count = len(loaded.claims_of(each))
            table.add(each.id, each.title, str(count), str(each.priority), "yes" if can else "–")
    table.print(stdout_console())


@app.command()
@click.argument("name", metavar="ID", help="An experiment or a claim.")
@KEPT
def show(name: str, kept_in: Path | None) -> None:
    """Show an experiment or a claim.

    That is what the paper says, and the kept results beside it. Nothing is run.
    """
    from manetlab.tables import stdout_console
    from manetlab_papers import excerpts, ledger
    from manetlab_papers.reproduce import kept_folder

    loaded, console = ledger.load(), stdout_console()
    folder = kept_folder() if kept_in is None else kept_in
    if name in loaded.claims:
        claim = loaded.claims[name]
        _claim_table(claim).print(console)
        found = excerpts.of_claim(loaded, claim, folder) if folder is not None else ()
    else:
        experiment = loaded.experiment(name)
        for table in _experiment_tables(loaded, experiment):
            table.print(console)
        found = excerpts.of_experiment(loaded, experiment, folder) if folder is not None else ()
    for table in found:
        table.print(console)


@app.command()
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="ID…",
    help="Experiments, a paper's key for all of its, or all.",
)
@click.option("--full/--quick", default=False, help="As many runs as the paper, or fewer.")
@OUT
@MARKDOWN
@click.option(
    "--page",
    type=options.WRITTEN,
    help="Write tables, verdicts and cost of these experiments here, in Markdown.",
)
@KEPT
@click.option("--keep", is_flag=True, help="Keep the results of the runs for good, in the folder --kept.")
@click.option("--fresh", is_flag=True, help="Make all runs, also those whose results are kept.")
@PRIORITY
@options.JOBS
def reproduce(
    names: tuple[str, ...],
    full: bool,
    out: Path,
    markdown: Path | None,
    page: Path | None,
    kept_in: Path | None,
    keep: bool,
    fresh: bool,
    priority: int | None,
    jobs: int | None,
) -> None:
    """Run experiments and judge their claims.

    The results are printed beside those of the paper. The more important are run first, and of these the
    cheapest; `plan` shows the order and what it costs.
    """
    from manetlab.files import write_text
    from manetlab.tables import stdout_console
    from manetlab_papers import ledger, record
    from manetlab_papers import page as pages
    from manetlab_papers.campaigns import Scale
    from manetlab_papers.reproduce import Reproduction, chosen, kept_folder
    from manetlab_papers.schedule import planned
    from manetlab_papers.tables import tables_of

    _check_written(out, kept_in or kept_folder())
    loaded, console = ledger.load(), stdout_console()
    scale = Scale(full=full)
    keeping = _keeping(kept_in, keep, fresh)
    asked = chosen(loaded, names, priority)
    folder = None if keeping is None else keeping.folder
    wanted = [step.experiment for step in planned(loaded, asked, scale, folder)]
    try:
        with _Bar() as bar:
            reproduction = Reproduction(loaded, scale, out, jobs, bar.tell, keeping)
            made = [(each, reproduction.make(each)) for each in wanted]
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"finished runs are kept in {out}; the same command continues") from None
    shown = [(each, entries, list(tables_of(each, reproduction.evaluator))) for each, entries in made]
    for experiment, entries, tables in shown:
        for table in tables:
            table.print(console)
        table = record.verdict_table(loaded, f"{experiment.id}: {experiment.title}", entries)
        table.notes.append(f"Runs: {scale.name}" + ("." if full else f" ({experiment.quick})."))
        table.notes.append(record.assumed(loaded, experiment))
        table.print(console)
    if page is not None:
        command = f"manetlab papers reproduce {' '.join(names)} --{scale.name} --page …"
        write_text(page, pages.page(loaded, command, shown, reproduction.costs))
    _report(out, markdown)


@app.command()
@click.option(
    "--output",
    "-o",
    "out",
    type=options.FOLDER,
    default=Path("out/pages"),
    show_default=True,
    help="Folder for all pages, arranged as the repository is.",
)
@KEPT
def pages(out: Path, kept_in: Path | None) -> None:
    """Write the papers' pages with their charts.

    They are made from kept results; nothing is run. In a checkout the pages that it stores are renewed, too:
    docs/papers.md and papers/pages.
    """
    from manetlab import provenance
    from manetlab_papers import causes, ledger
    from manetlab_papers import pages as made
    from manetlab_papers.campaigns import Scale
    from manetlab_papers.reproduce import chosen, study_from
    from manetlab_papers.schedule import remaining

    loaded, root = ledger.load(), provenance.repository()
    everything, kept = chosen(loaded, ["all"]), _folder(kept_in, "--kept")
    study = study_from(loaded, kept, everything)
    left = remaining(loaded, everything, Scale(full=True), kept)
    for folder, is_whole in ((out, True), *([(root, False)] if root is not None else [])):
        files = made.files(made.Site(loaded, study, causes.load(), left, is_whole))
        differing = made.write(folder, files)
        click.echo(f"{folder}: {len(files)} files, {len(differing)} of them changed")


@app.command()
@click.argument("names", nargs=-1, metavar="[ID]…")
@click.option("--full/--quick", default=False, help="As many runs as the paper, or fewer.")
@KEPT
@PRIORITY
def plan(names: tuple[str, ...], full: bool, kept_in: Path | None, priority: int | None) -> None:
    """Show what is left to run, and what it costs.

    Experiments are listed in the order in which they are run. Without ID all experiments are looked at.
    The processor time follows from runs that are kept.
    """
    from manetlab.tables import Table, stdout_console
    from manetlab_papers import ledger
    from manetlab_papers.campaigns import Scale
    from manetlab_papers.reproduce import chosen, kept_folder
    from manetlab_papers.schedule import planned

    loaded, folder, scale = ledger.load(), kept_in or kept_folder(), Scale(full=full)
    wanted = chosen(loaded, names or ["all"], priority)
    steps = planned(loaded, wanted, scale, folder)
    left = [each for each in steps if each.cost.runs]
    columns = ("experiment", "priority", "runs", "processor time, min")
    table = Table(f"Left to run, {'full size' if full else 'quick'}", columns, text_columns=1)
    for each in left:
        minutes = each.cost.cpu_time_s / 60
        table.add(each.experiment.id, str(each.experiment.priority), str(each.cost.runs), f"{minutes:.1f}")
    runs, hours = sum(each.cost.runs for each in left), sum(each.cost.cpu_time_s for each in left) / 3600
    table.notes.append(f"{runs} runs, about {hours:.1f} hours of processor time.")
    table.notes.append("An experiment is listed with what those above it do not run for it.")
    done = len(steps) - len(left)
    table.notes.append(f"{done} of {len(steps)} experiments need no more runs.")
    if runs:
        table.notes.append(
            "Runs of earlier code count as left; `manetlab papers confirm` repeats a sample of them."
        )
    table.print(stdout_console())


@app.command()
@click.argument("names", nargs=-1, metavar="[ID]…")
@KEPT
@MARKDOWN
def verdicts(names: tuple[str, ...], kept_in: Path | None, markdown: Path | None) -> None:
    """Judge the claims from kept results.

    Nothing is run. Without ID all experiments are judged. Verdicts are stale where the code has changed
    since the runs were made.
    """
    from manetlab.files import write_text
    from manetlab.tables import stdout_console
    from manetlab_papers import ledger, record
    from manetlab_papers.reproduce import chosen, judged_from

    loaded, console = ledger.load(), stdout_console()
    folder = _folder(kept_in, "--kept")
    _check_written(folder)
    wanted = chosen(loaded, names or ["all"])
    entries, lacking = judged_from(loaded, folder, wanted)
    best = record.best(entries)
    for experiment in wanted if names else ():
        shown = [best[claim] for claim in experiment.claims if claim in best]
        if shown:
            record.verdict_table(loaded, f"{experiment.id}: {experiment.title}", shown).print(console)
    table = record.status(loaded, entries)
    if lacking:
        table.notes.append(f"Not kept, or not enough: {', '.join(each.id for each in lacking)}.")
    table.print(console)
    if markdown is not None:
        write_text(markdown, record.page(loaded, entries))


@app.command()
@click.argument("names", nargs=-1, metavar="[ID]…")
@click.option("--full/--quick", default=False, help="Results at full size, or quick ones.")
@click.option(
    "--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each point made again."
)
@OUT
@KEPT
@options.JOBS
def confirm(
    names: tuple[str, ...], full: bool, runs: int, out: Path, kept_in: Path | None, jobs: int | None
) -> None:
    """Repeat some runs of each stale point.

    If all have the kept values, the results count as current. Without ID all experiments are looked at. Use
    it after a change of the code that should change no result: a campaign of which one value differs remains
    stale. Runs are kept in the folder `--output`, so that the same command continues.
    """
    from manetlab.tables import Table, stdout_console
    from manetlab_papers import ledger
    from manetlab_papers.campaigns import Scale
    from manetlab_papers.reproduce import Keeping, Reproduction, chosen

    loaded = ledger.load()
    wanted = chosen(loaded, names or ["all"])
    keeping = Keeping(_folder(kept_in, "--kept"))
    columns = ("campaign", "stale points", "runs made again", "outcome")
    table = Table(f"Kept results, {'full size' if full else 'quick'}", columns, text_columns=1)
    with _Bar() as bar:
        reproduction = Reproduction(loaded, Scale(full=full), out, jobs, bar.tell, keeping)
        for made in reproduction.confirm(wanted, runs):
            differing = f"stale: {len(made.differing)} points differ"
            shared = "stale: points that had the same runs have others now"
            outcome = "confirmed" if made.kept is not None else differing if made.differing else shared
            table.add(made.campaign, str(made.points), str(made.runs), outcome)
            table.notes += [f"{made.campaign} differs at {each}." for each in made.differing[:3]]
    if not table.rows:
        table.notes.append("Nothing that is kept is stale.")
    table.print(stdout_console())


@app.command()
@KEPT
def pack(kept_in: Path | None) -> None:
    """Move the files of kept results into archives.

    The repository has one for each paper. `reproduce --keep` and `confirm` write one file for each campaign,
    which several machines can collect in one folder before they are packed.
    """
    from manetlab_papers import ledger, result_files
    from manetlab_papers.campaigns import papers_of

    folder, papers = _folder(kept_in, "--kept"), papers_of(ledger.load())
    for archive in result_files.pack(folder, lambda scale, campaign: papers[scale, campaign]):
        click.echo(archive)


@app.command()
@click.argument("names", nargs=-1, metavar="[ID]…")
def causes(names: tuple[str, ...]) -> None:
    """Explain why claims differ from the printed values.

    ID is a cause or a claim. Without ID all causes are listed.
    """
    from manetlab.parameters import unknown
    from manetlab.tables import Table, stdout_console
    from manetlab_papers import causes as data
    from manetlab_papers import ledger

    loaded, known, console = ledger.load(), data.load(), stdout_console()
    by_id = {each.id: each for each in known}
    for name in names:
        if name not in by_id and name not in loaded.claims:
            raise unknown("cause or claim", name, [*by_id, *loaded.claims], "ID")
        found = [by_id[name]] if name in by_id else data.of_claim(known, name)
        for each in found:
            console.print(f"{each.title} ({each.id}, {each.because})", markup=False, style="bold")
            console.print(f"Claims: {', '.join(each.claims)}.\n\n{each.summary}\n", markup=False)
            for claim, choice in each.gives.items():
                console.print(f"{claim} is given by {choice}.", markup=False)
            console.print(f"{each.text}\n", markup=False)
        if not found:
            console.print(f"No cause is given for {name}.", markup=False)
    if not names:
        table = Table("Why verdicts differ", ("cause", "kind", "claims", "summary"), text_columns=4)
        for each in known:
            table.add(each.id, each.because, ", ".join(each.claims), each.summary)
        table.print(console)


@app.command()
@OUT
@MARKDOWN
def status(out: Path, markdown: Path | None) -> None:
    """Show the verdicts of each paper's claims.

    It counts those reproduced, contradicted, left open and not tested.
    """
    _check_written(out)
    _report(out, markdown)


def _folder(kept_in: Path | None, option: str) -> Path:
    """The folder of kept results.

    Raises:
        InputError: None is given, and this is no checkout.
    """
    from manetlab_papers.reproduce import kept_folder

    folder = kept_folder() if kept_in is None else kept_in
    if folder is None:
        hint, wanted = "say where: --kept FOLDER", "a folder, or a checkout of the repository"
        raise InputError("there is no folder of kept results", option, "no --kept", wanted, hint)
    return folder


def _keeping(kept_in: Path | None, keep: bool, fresh: bool) -> Keeping | None:
    """What is done with kept results; nothing where there is no folder for them."""
    from manetlab_papers.reproduce import Keeping, kept_folder

    if kept_in is None and kept_folder() is None and not keep:
        return None
    return Keeping(_folder(kept_in, "--keep"), taken=not fresh, renewed=keep)


def _check_written(*folders: Path | None) -> None:
    """Checks that pages are written over nothing else: folders with results hold files of many names.

    Raises:
        InputError: A page cannot be written, would replace another one or what is no page, or would be in one
            of the folders under the name of something else.
    """
    options.check_written()
    context = click.get_current_context()
    for parameter in context.command.params:
        path = context.params.get(parameter.name or "")
        if not isinstance(parameter.type, options.WrittenPath) or path is None or path.suffix == ".md":
            continue
        hint, wanted = "for example page.md", "a name that ends in .md"
        place = path.resolve()
        inside = [each for each in folders if each is not None and place.is_relative_to(each.resolve())]
        if inside:
            found = f"{path}, in a folder of results"
            raise InputError("the page would be among results", parameter.opts[0], found, wanted, hint)


def _report(out: Path, markdown: Path | None) -> None:
    """Prints the status of all claims and writes the page of all verdicts."""
    from manetlab.files import write_text
    from manetlab.tables import stdout_console
    from manetlab_papers import ledger, record

    loaded, kept = ledger.load(), record.load(out)
    record.status(loaded, kept).print(stdout_console())
    if markdown is not None:
        write_text(markdown, record.page(loaded, kept))


class _Bar:
    """A bar for each campaign, on standard error."""

    def __enter__(self) -> Self:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True))
        self._tasks: dict[str, Any] = {}
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def tell(self, name: str, report: Any) -> None:
        """How far a campaign is."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name)
        self._progress.update(self._tasks[name], completed=report.done + report.failed, total=report.total)


def _claim_table(claim: Claim) -> Any:
    from manetlab.tables import Table
    from manetlab_papers.record import band_text

    table = Table(f"{claim.id}: {claim.statement}", ("", ""), text_columns=2)
    order = "" if claim.at else " > ".join(claim.order)  # Ranks stand beside the systems that have them.
    rows = {
        "experiment": claim.experiment,
        "also needs": ", ".join(claim.also),
        "where": f"{claim.paper}, {claim.where}",
        "kind": claim.kind,
        "quantity": claim.quantity,
        "systems": ", ".join(claim.systems),
        "printed": claim.expected,
        "at": ", ".join(claim.at),
        "order": "" if order == claim.expected else order,
        "accepted": band_text(claim),
        "rule": claim.tolerance,
        "strength": claim.strength,
        "priority": str(claim.priority),
        "note": claim.note,
    }
    for name, text in rows.items():
        if text:
            table.add(name, text)
    return table


def _experiment_tables(loaded: Ledger, experiment: Experiment) -> list[Any]:
    from manetlab.tables import Table
    from manetlab_papers.record import accepted

    setup = Table(f"{experiment.id}: {experiment.title}", ("", ""), text_columns=2)
    setup.add("where", experiment.where)
    setup.add("systems", ", ".join(experiment.systems))
    for name, text in experiment.setup.items():
        setup.add(name, str(text))
    for metric in experiment.metrics:
        setup.add("measures", metric)
    can = experiment.runs is not None
    setup.add("can be run", f"yes; --quick: {experiment.quick}" if can else "not yet")
    claims = Table("Claims", ("claim", "statement", "printed", "accepted"), text_columns=4)
    for claim in loaded.claims_of(experiment):
        claims.add(claim.id, claim.statement, claim.expected, accepted(claim))
    return [setup, _assumptions(loaded, experiment), claims]


def _assumptions(loaded: Ledger, experiment: Experiment) -> Any:
    from manetlab.tables import Table

    head = "why" if experiment.runs is None else "how"
    table = Table(
        f"{experiment.id}: what the paper does not say", ("parameter", "taken", head), text_columns=3
    )
    for name in experiment.unstated:
        each = loaded.assumptions[name]
        table.add(each.parameter, each.text, getattr(each, head))
    return table
