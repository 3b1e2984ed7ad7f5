"""What an experiment here has to say: which runs, which tables, which evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from manetlab.papers import assumptions
from manetlab.papers.evidence import Evidence, Untested
from manetlab.papers.ledger import Experiment, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.verdicts import Verdict, judge
from manetlab.papers.wording import after
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

Runs = Mapping[str, Samples]
"""The finished runs of each campaign, by its name."""
Found = Mapping[str, Evidence | Untested]
"""The evidence on each claim that an experiment speaks of."""


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Attributes:
        full: As much as the paper; otherwise what keeps the point.
        replications: A number of replications instead of the one that follows; for tests.
        duration_share: What share of the measured time is run; for tests.
    """

    full: bool = False
    replications: int | None = None
    duration_share: float = 1.0

    @property
    def name(self) -> str:
        """``full`` or ``quick``."""
        return "full" if self.full else "quick"

    def scenarios(self, ledger: Ledger, paper: int) -> int:
        """How many random scenarios: the paper's number, or the least that the ledger's policy allows."""
        if self.replications is not None:
            return self.replications
        return paper if self.full else min(paper, int(_least(ledger)))

    def seeds(self, paper: int) -> int:
        """How many seeds of a scenario that is not random."""
        return paper if self.replications is None else self.replications

    def times(self, warmup_s: float, measured_s: float, quick: float = 1.0) -> dict[str, float]:
        """Warm-up and duration of a run, as fields of a scenario.

        Args:
            warmup_s: The warm-up, in s.
            measured_s: The measured time of the paper, in s.
            quick: What share of that is run if not all is.
        """
        share = self.duration_share * (1.0 if self.full else quick)
        return {"warmup_s": warmup_s, "duration_s": warmup_s + measured_s * share}


def _least(ledger: Ledger) -> float:
    """``at least 20`` of the ledger's policy."""
    return after(ledger.policy["runs"], "at least")


@dataclass(frozen=True)
class Study:
    """An experiment of the ledger that can be run.

    Attributes:
        id: The experiment's id in the ledger.
        campaigns: Makes the campaigns; those of equal runs share them.
        evidence: What the runs say of each claim.
        tables: The paper's table or figure with our values.
        quick: What ``--quick`` leaves out.
        untested: Why a claim of the experiment is not tested.
    """

    id: str
    campaigns: Callable[[Ledger, Scale], list[Campaign]]
    evidence: Callable[[Ledger, Runs], Found]
    tables: Callable[[Ledger, Runs], list[Table]]
    quick: str
    untested: Mapping[str, str] = field(default_factory=dict)

    def judge(self, ledger: Ledger, runs: Runs) -> list[Verdict]:
        """The verdicts on all claims that are drawn from the experiment.

        Raises:
            ValueError: A claim has neither evidence nor a reason why it is not tested.
        """
        found = {
            **{claim: Untested(why) for claim, why in self.untested.items()},
            **self.evidence(ledger, runs),
        }
        verdicts = []
        for claim in ledger.claims_of(self.experiment(ledger)):
            if claim.id not in found:
                raise ValueError(f"{self.id} says nothing of {claim.id}")
            verdicts.append(judge(claim, found[claim.id], ledger.policy["tie"]))
        return verdicts

    def experiment(self, ledger: Ledger) -> Experiment:
        """The ledger's entry."""
        return ledger.experiments[self.id]

    def assumption_table(self, ledger: Ledger) -> Table:
        """What the paper does not say, what was taken, and how it entered the runs."""
        table = Table(
            f"{self.id}: what the paper does not say", ("parameter", "taken", "how"), text_columns=3
        )
        for name, how in assumptions.applied(ledger, self.experiment(ledger)).items():
            assumption = ledger.assumptions[name]
            table.add(assumption.parameter, assumption.text, how.how)
        return table


def no_claims(_ledger: Ledger, _runs: Runs) -> Found:
    """The evidence of a figure from which the ledger draws no claim."""
    return {}


def one_table(
    key: str,
    campaigns: Callable[[Ledger, Scale], list[Campaign]],
    evidence: Callable[[Ledger, Runs], Found],
    table: Callable[[Ledger, Runs, str], Table],
    quick: str,
) -> Study:
    """A study that shows one table, made from the experiment's id."""
    return Study(key, campaigns, evidence, lambda ledger, runs: [table(ledger, runs, key)], quick=quick)


def without_runs(key: str, untested: Mapping[str, str]) -> Study:
    """An experiment that cannot be run, with the reason for each of its claims."""
    return Study(
        key,
        campaigns=lambda _ledger, _scale: [],
        evidence=no_claims,
        tables=lambda _ledger, _runs: [],
        quick="nothing is run",
        untested=untested,
    )
