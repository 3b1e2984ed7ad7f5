"""Table 1.1 of Dyer's dissertation (2002): TCP over chains of 1 to 10 hops (values of Holland and Vaidya).

The set-up, the printed values and the four claims drawn from them, with their bands, are the ledger's
(`manetlab_papers`); the experiment is the one that ``manetlab papers reproduce table-1.1`` runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from manetlab.running import Result
from manetlab.tables import Table
from manetlab_papers import ledger
from manetlab_papers.campaigns import Scale, needed
from manetlab_papers.functions import load_all
from manetlab_papers.outcomes import Outcome
from manetlab_papers.quantities import Evaluator
from manetlab_papers.rules import judge_all
from manetlab_papers.samples import Runs, Tables
from manetlab_papers.tables import tables_of
from validation.check import Check, verdict

ID = "dyer2002/table-1.1"
CAMPAIGNS = ("table-1.1", "table-1.1-dsr")
"""The chains over the protocol of the other claims, and over DSR, by which D1-01 is judged."""
THROUGHPUT = "tcp_throughput_bps"

ByHops = Mapping[int, Sequence[float]]
"""Throughput of each seed by number of hops, bit/s."""


def check(_folder: Path, seeds: int) -> Check:
    """The ledger's chains, each with so many seeds."""
    experiment = ledger.load().experiments[ID]
    parts = list(needed(ledger.load(), experiment, Scale(replications=seeds)))
    places = [
        (part.family, point, seed)
        for part in parts
        for point in part.campaign.points
        for seed in range(seeds)
    ]

    def evaluate(results: list[Result]) -> list[Table]:
        measured: dict[str, dict[int, list[float]]] = {}
        for (name, point, _), result in zip(places, results, strict=True):
            of_hops = measured.setdefault(name, {}).setdefault(int(str(point.levels["hops"])), [])
            of_hops.append(result.totals[THROUGHPUT] or 0.0)
        return [*tables_of(experiment, _evaluator(measured)), claims(measured)]

    return Check([point.scenario(seed) for _, point, seed in places], evaluate)


def _evaluator(measured: Mapping[str, ByHops]) -> Evaluator:
    load_all()
    runs = Runs()
    for name, by_hops in measured.items():
        rows = [
            {"hops": hops, "replication": seed, THROUGHPUT: value}
            for hops, values in by_hops.items()
            for seed, value in enumerate(values)
        ]
        runs.add(name, Tables({}, rows))
    return Evaluator(ledger.load(), runs, full=True)


def claims(measured: Mapping[str, ByHops]) -> Table:
    """The verdicts on the four claims.

    Args:
        measured: The throughputs of each of `CAMPAIGNS`.
    """
    table = Table("Claims on Table 1.1", ("claim", "statement", "found", "verdict"), text_columns=4)
    for judged in judge_all(ledger.load().experiments[ID], _evaluator(measured)):
        table.add(
            judged.claim.id,
            judged.claim.statement,
            judged.ours,
            verdict(judged.outcome is Outcome.REPRODUCED),
        )
    return table
