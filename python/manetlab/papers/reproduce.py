"""Runs experiments and judges their claims."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import provenance
from manetlab.errors import InputError
from manetlab.papers import record
from manetlab.papers.experiments import studies
from manetlab.papers.kept import Cost
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.study import Scale, Study

if TYPE_CHECKING:
    from manetlab.campaign.execution import Report

Progress = Callable[[str, "Report"], None]


def chosen(ledger: Ledger, names: Iterable[str]) -> list[Study]:
    """The experiments that names stand for, each once, in the ledger's order.

    Args:
        ledger: The ledger.
        names: Ids, with or without the paper's key; a paper's key for all of its; ``all``.

    Raises:
        InputError: A name is unknown, or its experiment cannot be run yet.
    """
    known = studies()
    wanted: set[str] = set()
    for name in names:
        if name == "all":
            wanted |= set(known)
        elif name in ledger.papers:
            wanted |= _of_paper(known, name)
        else:
            experiment = ledger.experiment(name)
            if experiment.id not in known:
                hint = "`manetlab papers list` marks those that can"
                wants = "an experiment that can be run"
                raise InputError(
                    "this experiment cannot be run yet", "command line", experiment.id, wants, hint
                )
            wanted.add(experiment.id)
    return [study for key, study in known.items() if key in wanted]


def _of_paper(known: dict[str, Study], paper: str) -> set[str]:
    found = {key for key in known if key.startswith(f"{paper}/")}
    if not found:
        hint = "`manetlab papers list` marks those that can"
        raise InputError(
            "no experiment of this paper can be run yet", "command line", paper, "another paper", hint
        )
    return found


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
        self.ledger, self.scale, self.folder = ledger, scale, folder
        self.jobs, self.progress = jobs, progress
        self.runs: dict[str, Samples] = {}
        self.costs: dict[str, Cost] = {}

    def make(self, study: Study) -> list[record.Entry]:
        """Runs what is missing of an experiment, judges its claims and keeps the verdicts.

        Raises:
            InputError: The folder cannot be used.
            ManetlabError: A run failed.
        """
        for campaign in study.campaigns(self.ledger, self.scale):
            if campaign.name not in self.runs:
                self.runs[campaign.name] = self._run(campaign)
        made = record.entries(
            study.judge(self.ledger, self.runs),
            self.scale.name,
            provenance.code_identity(),
            date.today().isoformat(),
        )
        record.keep(self.folder, made)
        return made

    def _run(self, campaign: object) -> Samples:
        from manetlab.campaign import Campaign
        from manetlab.errors import RunFailed

        assert isinstance(campaign, Campaign)
        self.folder.mkdir(parents=True, exist_ok=True)
        name, progress = campaign.name, self.progress
        told = None if progress is None else lambda report: progress(name, report)
        results = campaign.run(store_path(self.folder), jobs=self.jobs, progress=told)
        if len(results.failed):
            first = results.failed.iloc[0]
            raise RunFailed(f"{len(results.failed)} runs failed, the first: {first['error']}", name)
        self.costs[name] = Cost.of(results)
        return Samples.of(results)
