"""Runs experiments and judges their claims."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import provenance
from manetlab.errors import InputError, RunFailed
from manetlab_papers import record
from manetlab_papers.campaigns import Part, Scale, needed
from manetlab_papers.confirmation import Confirmation, confirm, stale_points
from manetlab_papers.functions import load_all
from manetlab_papers.kept_runs import KeptPart, Ran, keep, load, only
from manetlab_papers.ledger import Experiment, Ledger
from manetlab_papers.page import Cost
from manetlab_papers.quantities import Evaluator
from manetlab_papers.result_files import path_of, write
from manetlab_papers.rules import Verdict, judge_all
from manetlab_papers.samples import NotKept, NotRun, Runs, Tables
from manetlab_papers.tables import grids_of, tables_of

if TYPE_CHECKING:
    from manetlab.campaign import Campaign, Results
    from manetlab.campaign.execution import Report

Progress = Callable[[str, "Report"], None]


def judged_from(
    ledger: Ledger, folder: Path, experiments: Sequence[Experiment]
) -> tuple[list[record.Entry], list[Experiment]]:
    """The verdicts that follow from kept results, and the experiments of which too little is kept.

    Raises:
        InputError: Results that are kept cannot be read.
    """
    study = study_from(ledger, folder, experiments)
    return study.entries, study.lacking


@dataclass(frozen=True)
class Study:
    """What follows from kept results.

    Attributes:
        entries: The verdicts, of both scales where there are results of both.
        made: By experiment, the runs that count most: at full size where there are such.
        lacking: The experiments of which too little is kept.
        costs: What the runs cost, by scale and campaign.
    """

    entries: list[record.Entry]
    made: dict[str, Reproduction]
    lacking: list[Experiment]
    costs: dict[tuple[str, str], Cost]


def study_from(ledger: Ledger, folder: Path, experiments: Sequence[Experiment]) -> Study:
    """What follows from kept results; nothing is run, nothing is written.

    Raises:
        InputError: Results that are kept cannot be read.
    """
    study = Study([], {}, [], {})
    for scale in (Scale(), Scale(full=True)):
        reproduction = Reproduction(ledger, scale, folder, keeping=Keeping(folder))
        for experiment in experiments:
            # Without runs both scales say the same.
            if scale.full and not experiment.runs:
                continue
            entries = reproduction.judge_kept(experiment)
            if entries is not None:
                study.entries.extend(entries)
                study.made[experiment.id] = reproduction
        study.costs.update({(scale.name, name): cost for name, cost in reproduction.costs.items()})
    study.lacking.extend(each for each in experiments if each.id not in study.made)
    return study


def chosen(ledger: Ledger, names: Iterable[str], priority: int | None = None) -> list[Experiment]:
    """The experiments that names stand for, each once, in the ledger's order.

    Args:
        ledger: The ledger.
        names: Ids, with or without the paper's key; a paper's key for all of its; ``all``.
        priority: The last priority that counts of what ``all`` and a paper's key stand for; any if not given.

    Raises:
        InputError: A name is unknown, or its experiment cannot be run yet.
    """
    known = ledger.runnable
    wanted: set[str] = set()
    hint = "`manetlab papers list` marks those that can"

    def enough(key: str) -> bool:
        return priority is None or known[key].priority <= priority

    for name in names:
        if name == "all":
            wanted |= {key for key in known if enough(key)}
        elif name in ledger.papers:
            found = {key for key in known if key.startswith(f"{name}/") and enough(key)}
            if not found and priority is None:
                what = "no experiment of this paper can be run yet"
                raise InputError(what, "command line", name, "another paper", hint)
            wanted |= found
        else:
            experiment = ledger.experiment(name)
            if experiment.id not in known:
                what, wants = "this experiment cannot be run yet", "an experiment that can be run"
                raise InputError(what, "command line", experiment.id, wants, hint)
            wanted.add(experiment.id)
    return [experiment for key, experiment in known.items() if key in wanted]


def store_path(folder: Path) -> Path:
    """The store of this code's runs. Each version and commit has its own, so that results are never mixed."""
    digest = hashlib.sha256(provenance.code_identity().encode()).hexdigest()[:12]
    return folder / f"runs-{digest}.sqlite"


def kept_folder() -> Path | None:
    """Where a checkout keeps results of runs; None if this is installed from a package."""
    root = provenance.repository()
    return None if root is None else root / "papers" / "kept"


@dataclass(frozen=True)
class Keeping:
    """What is done with results that are kept.

    Attributes:
        folder: The folder of kept results.
        taken: Kept runs that are current are taken and not made again.
        renewed: The results of experiments that are reproduced are kept.
    """

    folder: Path
    taken: bool = True
    renewed: bool = False


class Reproduction:
    """Experiments that share their runs.

    Args:
        ledger: The ledger.
        scale: How much is run.
        folder: Where runs and verdicts are kept.
        jobs: Runs at a time; as many as there are cores if not given.
        progress: Called with a campaign's name and how far it is, now and then.
        keeping: What is done with the results in the repository; nothing if not given.
    """

    def __init__(
        self,
        ledger: Ledger,
        scale: Scale,
        folder: Path,
        jobs: int | None = None,
        progress: Progress | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        load_all()
        self.ledger, self.scale, self.folder = ledger, scale, folder
        self.jobs, self.progress, self.keeping = jobs, progress, keeping
        self.runs = Runs()
        self.evaluator = Evaluator(ledger, self.runs, full=scale.full)
        self.costs: dict[str, Cost] = {}
        self._ran: dict[str, Ran] = {}
        self._kept: dict[str, tuple[Ran, int]] = {}

    def make(self, experiment: Experiment) -> list[record.Entry]:
        """Runs what is missing of an experiment, judges its claims and keeps the verdicts.

        Raises:
            InputError: The folder cannot be used.
            ManetlabError: A run failed.
        """
        needs = list(needed(self.ledger, experiment, self.scale))
        for part in needs:
            if part.campaign.name not in self.costs:
                self._add(part, self._take(part))
        verdicts = self._judged(experiment)
        if self.keeping is not None and self.keeping.renewed:
            self._keep(needs)
        made = record.entries(
            verdicts, self.scale.name, *self._origin(needs), ran=self._extent_of(experiment)
        )
        record.keep(self.folder, made)
        return made

    def confirm(self, experiments: Sequence[Experiment], runs: int) -> Iterator[Confirmation]:
        """Repeats runs of all stale points of kept campaigns, and keeps anew what is confirmed.

        Args:
            experiments: The experiments; campaigns of which too little is kept are passed over.
            runs: Runs of each point.

        Raises:
            InputError: Results that are kept cannot be read or written.
            ManetlabError: A run failed.
        """
        assert self.keeping is not None
        of = [part for each in experiments for part in needed(self.ledger, each, self.scale)]
        for part in {part.campaign.name: part for part in of}.values():
            found = load(self.keeping.folder, self.scale.name, part)
            if found is None or not stale_points(found):
                continue
            made = confirm(found, self._run, runs)
            if made.kept is not None:
                write(path_of(self.keeping.folder, self.scale.name, part.campaign.name), made.kept)
            yield made

    def judge_kept(self, experiment: Experiment) -> list[record.Entry] | None:
        """The verdicts on an experiment whose runs are kept, stale ones included; None if too little is kept.

        Nothing is run and nothing is written.

        Raises:
            InputError: Results that are kept cannot be read.
        """
        needs = list(needed(self.ledger, experiment, self.scale))
        if not self._take_kept(needs):
            return None
        stale: dict[str, set[str]] = {}
        for part in needs:
            before = self._ran[part.campaign.name].before
            for code, changed in ({} if before is None else before.stale).items():
                stale.setdefault(code, set()).update(changed)
        text = "; ".join(
            f"computed by {code}; {' and '.join(sorted(changed))} changed since"
            for code, changed in sorted(stale.items())
        )
        code, day = self._origin(needs) if needs else ("", "")
        try:
            verdicts = judge_all(experiment, self.evaluator)
        except NotKept:
            return None
        return record.entries(verdicts, self.scale.name, code, day, text, self._extent_of(experiment))

    def lacking(self, experiment: Experiment) -> str | None:
        """The ledger's campaign that lacks values which an experiment reads; None if none does.

        Raises:
            InputError: Results that are kept cannot be read.
        """
        if self._take_kept(list(needed(self.ledger, experiment, self.scale))):
            try:
                judge_all(experiment, self.evaluator)
            except NotKept as lacking:
                return lacking.family
        return None

    def _take_kept(self, needs: Sequence[Part]) -> bool:
        """Takes the runs of campaigns as they are kept; False if not all are."""
        assert self.keeping is not None
        for part in needs:
            if part.campaign.name not in self.costs:
                found = load(self.keeping.folder, self.scale.name, part)
                if found is None or not found.is_complete:
                    return False
                self.costs[part.campaign.name] = found.cost(range(part.campaign.point_count))
                self._add(part, Ran(part, found.tables(), None, (), found))
        return True

    def _extent_of(self, experiment: Experiment) -> Callable[[Collection[str]], record.Extent]:
        """How much was run of some campaigns of an experiment."""
        known: dict[frozenset[str], record.Extent] = {}

        def of(names: Collection[str]) -> record.Extent:
            key = frozenset(names)
            if key not in known:
                known[key] = record.extent(self.ledger, experiment, self.scale, key)
            return known[key]

        return of

    def _judged(self, experiment: Experiment) -> list[Verdict]:
        """The verdicts; a campaign of which too little was kept for its rules is run."""
        while True:
            try:
                verdicts = judge_all(experiment, self.evaluator)
                if self.keeping is not None:
                    # What tables and figures read is kept, and must have been kept, too.
                    self._read_drawn(experiment)
            except NotKept as lacking:
                again = [
                    ran
                    for ran in self._ran.values()
                    if ran.part.family == lacking.family and ran.before is not None
                ]
                if not again:
                    raise
                for old in again:
                    new = self._ran[old.part.campaign.name] = self._make(old.part, None)
                    self.runs.replace(lacking.family, old.tables, new.tables)
            else:
                return verdicts

    def _read_drawn(self, experiment: Experiment) -> None:
        """Reads all that an experiment's tables and figures show."""
        list(tables_of(experiment, self.evaluator))
        for data in self.ledger.figures:
            # A figure may draw other experiments as well, which are not run here.
            with suppress(NotRun):
                if experiment.id in data["for"]:
                    list(grids_of(data, self.evaluator))

    def _origin(self, needs: Sequence[Part]) -> tuple[str, str]:
        """Which code made the runs of an experiment, and when."""
        costs = [self.costs[part.campaign.name] for part in needs]
        code = sorted({each for cost in costs for each in cost.code})
        days = {each for cost in costs for each in cost.days}
        return "; ".join(code) or provenance.code_identity(), max(days, default=date.today().isoformat())

    def _add(self, part: Part, ran: Ran) -> None:
        self._ran[part.campaign.name] = ran
        self.runs.add(part.family, ran.tables, self.ledger.campaigns[part.family].get("ignores", ()))

    def _take(self, part: Part) -> Ran:
        """The runs of a campaign: kept ones that are current, and others that are made."""
        before = None
        if self.keeping is not None and self.keeping.taken:
            before = load(self.keeping.folder, self.scale.name, part)
        return self._make(part, before)

    def _make(self, part: Part, before: KeptPart | None) -> Ran:
        points = range(part.campaign.point_count) if before is None else before.missing
        if before is not None and not points:
            everything = range(part.campaign.point_count)
            self.costs[part.campaign.name] = before.cost(everything)
            return Ran(part, before.tables(), None, (), before)
        if before is None or len(points) == part.campaign.point_count:
            results = self._run(part.campaign)
            self.costs[part.campaign.name] = Cost.of(results)
            return Ran(part, Tables.of(part, results), results, range(part.campaign.point_count), None)
        results = self._run(only(part.campaign, points))
        others = [number for number in range(part.campaign.point_count) if number not in points]
        self.costs[part.campaign.name] = Cost.of(results) + before.cost(others)
        return Ran(part, before.tables(Tables.of(part, results), points), results, points, before)

    def _run(self, campaign: Campaign) -> Results:
        self.folder.mkdir(parents=True, exist_ok=True)
        name, progress = campaign.name, self.progress
        told = None if progress is None else lambda report: progress(name, report)
        results = campaign.run(store_path(self.folder), jobs=self.jobs, progress=told)
        if len(results.failed):
            first = results.failed.iloc[0]
            raise RunFailed(f"{len(results.failed)} runs failed, the first: {first['error']}", name)
        return results

    def _keep(self, needs: Sequence[Part]) -> None:
        """Keeps the results of campaigns: what rules and tables have read by now."""
        assert self.keeping is not None
        for part in needs:
            ran = self._ran[part.campaign.name]
            count = sum(map(len, ran.tables.read.values()))
            # Most experiments that share runs read the same of them.
            if ran.made is not None and self._kept.get(part.campaign.name) != (ran, count):
                keep(self.keeping.folder, self.scale.name, ran)
                self._kept[part.campaign.name] = (ran, count)
