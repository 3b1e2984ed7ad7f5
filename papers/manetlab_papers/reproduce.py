"""Runs experiments and judges their claims."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import provenance
from manetlab.errors import InputError, RunFailed
from manetlab_papers import record
from manetlab_papers.campaigns import Part, Scale, needed
from manetlab_papers.ledger import Experiment, Ledger
from manetlab_papers.page import Cost
from manetlab_papers.quantities import Evaluator
from manetlab_papers.rules import judge_all
from manetlab_papers.samples import Runs, Tables
from manetlab_papers.special import load_all

if TYPE_CHECKING:
    from manetlab.campaign.execution import Report

Progress = Callable[[str, "Report"], None]


def chosen(ledger: Ledger, names: Iterable[str]) -> list[Experiment]:
    """The experiments that names stand for, each once, in the ledger's order.

    Args:
        ledger: The ledger.
        names: Ids, with or without the paper's key; a paper's key for all of its; ``all``.

    Raises:
        InputError: A name is unknown, or its experiment cannot be run yet.
    """
    known = ledger.runnable
    wanted: set[str] = set()
    hint = "`manetlab papers list` marks those that can"
    for name in names:
        if name == "all":
            wanted |= set(known)
        elif name in ledger.papers:
            found = {key for key in known if key.startswith(f"{name}/")}
            if not found:
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


class Reproduction:
    """Experiments that share their runs.

    Args:
        ledger: The ledger.
        scale: How much is run.
        folder: Where runs and verdicts are kept.
        jobs: Runs at a time; as many as there are cores if not given.
        progress: Called with a campaign's name and how far it is, now and then.
    """

    def __init__(
        self,
        ledger: Ledger,
        scale: Scale,
        folder: Path,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        load_all()
        self.ledger, self.scale, self.folder = ledger, scale, folder
        self.jobs, self.progress = jobs, progress
        self.runs = Runs()
        self.evaluator = Evaluator(ledger, self.runs, full=scale.full)
        self.costs: dict[str, Cost] = {}

    def make(self, experiment: Experiment) -> list[record.Entry]:
        """Runs what is missing of an experiment, judges its claims and keeps the verdicts.

        Raises:
            InputError: The folder cannot be used.
            ManetlabError: A run failed.
        """
        for part in needed(self.ledger, experiment, self.scale):
            if part.campaign.name not in self.costs:
                self._run(part)
        made = record.entries(
            judge_all(experiment, self.evaluator),
            self.scale.name,
            provenance.code_identity(),
            date.today().isoformat(),
        )
        record.keep(self.folder, made)
        return made

    def _run(self, part: Part) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name, progress = part.campaign.name, self.progress
        told = None if progress is None else lambda report: progress(name, report)
        results = part.campaign.run(store_path(self.folder), jobs=self.jobs, progress=told)
        if len(results.failed):
            first = results.failed.iloc[0]
            raise RunFailed(f"{len(results.failed)} runs failed, the first: {first['error']}", name)
        self.costs[name] = Cost.of(results)
        ignored = self.ledger.campaigns[part.family].get("ignores", ())
        self.runs.add(part.family, Tables.of(part, results), ignored)
