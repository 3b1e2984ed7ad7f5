"""The page of a reproduction that is kept: its tables, its verdicts, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manetlab.tables import Table
from manetlab_papers import record
from manetlab_papers.ledger import Experiment, Ledger

if TYPE_CHECKING:
    from manetlab.campaign import Results


@dataclass(frozen=True)
class Cost:
    """What the runs of a campaign cost.

    Attributes:
        runs: How many there are.
        cpu_s: Processor time of all, in s.
        machines: On what they were made.
        code: Version and commit of what made them.
        days: When they ended, as ``2026-11-21``.
    """

    runs: int
    cpu_s: float
    machines: frozenset[str]
    code: frozenset[str]
    days: frozenset[str]

    @classmethod
    def of(cls, results: Results) -> Cost:
        """That of a campaign's finished runs."""
        made = results.machines
        return cls(
            len(made),
            float(made["cpu_time_s"].sum()),
            frozenset(map(str, made["platform"])),
            frozenset(map(str, made["code"])),
            frozenset(str(ended)[:10] for ended in made["ended"]),
        )

    def __add__(self, other: Cost) -> Cost:
        """That of both."""
        return Cost(
            self.runs + other.runs,
            self.cpu_s + other.cpu_s,
            self.machines | other.machines,
            self.code | other.code,
            self.days | other.days,
        )


def page(
    ledger: Ledger,
    command: str,
    made: Sequence[tuple[Experiment, Sequence[record.Entry], Sequence[Table]]],
    costs: Mapping[str, Cost],
) -> str:
    """The page, in Markdown.

    Args:
        ledger: The ledger.
        command: What makes it again.
        made: The verdicts and tables of each experiment.
        costs: What the runs of each campaign cost.
    """
    size = "fewer runs than the papers'" if "--quick" in command else "the papers' full size"
    lines = [
        f"# Experiments at {size}",
        "",
        f"This page is made by `{command}`; do not edit it.",
        "`papers/how-to.md` says how to read verdicts.",
        record.MANY_CASES,
        "",
        cost_table(costs).to_markdown(),
    ]
    shown: list[str] = []
    for experiment, entries, tables in made:
        verdicts = record.verdict_table(ledger, "Verdicts", entries, short=True)
        listed = [table.to_markdown() for table in (*([verdicts] if entries else []), *tables)]
        # Figures of the same runs may share a table, which stands with the first.
        new = [each for each in listed if each not in shown]
        lines += [f"## {experiment.id}: {experiment.title}", "", *new]
        shown += new
    return "\n".join([*lines, *_assumptions(ledger, [experiment for experiment, *_ in made])])


def _assumptions(ledger: Ledger, made: Sequence[Experiment]) -> list[str]:
    """What the papers do not say of these experiments and what is taken, each once, with its reason."""
    names = dict.fromkeys(name for experiment in made for name in experiment.unstated)
    listed = [ledger.assumptions[name] for name in names]
    items = [f"- {each.parameter}: {each.text} – {each.why}" for each in listed]
    return ["## What the papers leave open, and what is assumed", "", *items, ""] if items else []


def cost_table(costs: Mapping[str, Cost]) -> Table:
    """Runs and processor time by campaign, and what made them."""
    table = Table("What they cost", ("campaign", "runs", "processor time, min"))
    for name, cost in costs.items():
        table.add(name, str(cost.runs), f"{cost.cpu_s / 60:.1f}")
    total = sum(cost.cpu_s for cost in costs.values())
    table.add("all", str(sum(cost.runs for cost in costs.values())), f"{total / 60:.1f}")
    for what, listed in (
        ("Machine", {each for cost in costs.values() for each in cost.machines}),
        ("Version and commit", {each for cost in costs.values() for each in cost.code}),
        ("Day", {each for cost in costs.values() for each in cost.days}),
    ):
        table.notes.append(f"{what}: {', '.join(sorted(listed))}.")
    return table
