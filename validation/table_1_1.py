"""Table 1.1 of Dyer's dissertation (2002): TCP over chains of 1 to 10 hops (values of Holland and Vaidya).

The set-up, the printed values and the four claims drawn from them, with their bands, are the ledger's
(`manetlab.papers`); the experiment is the one that ``manetlab papers reproduce table-1.1`` runs.
"""

from __future__ import annotations

from pathlib import Path

from manetlab.papers import ledger
from manetlab.papers.experiments import table_1_1
from manetlab.papers.experiments.table_1_1 import Values
from manetlab.papers.samples import Samples
from manetlab.papers.study import Scale
from manetlab.papers.verdicts import Outcome, judge
from manetlab.running import Result
from manetlab.tables import Table
from validation.check import Check, verdict


def check(_folder: Path, seeds: int) -> Check:
    """The ledger's chains, each with so many seeds."""
    loaded = ledger.load()
    [campaign] = table_1_1.campaigns(loaded, Scale(replications=seeds))
    places = [(point, seed) for point in campaign.points for seed in range(seeds)]

    def evaluate(results: list[Result]) -> list[Table]:
        rows = [
            {**point.levels, "replication": seed, **result.totals}
            for (point, seed), result in zip(places, results, strict=True)
        ]
        runs = {table_1_1.ID: Samples(rows, [])}
        tables = table_1_1.tables(loaded, runs)
        return [*tables, claims(table_1_1.values(loaded, runs))]

    return Check([point.scenario(seed) for point, seed in places], evaluate)


def claims(measured: Values) -> Table:
    """The verdicts on the four claims.

    Args:
        measured: Throughput of each seed by number of hops, Mb/s.
    """
    loaded = ledger.load()
    table = Table("Claims on Table 1.1", ("claim", "statement", "found", "verdict"), text_columns=4)
    for key, evidence in table_1_1.of_values(loaded, measured).items():
        judged = judge(loaded.claim(key), evidence, loaded.policy["tie"])
        table.add(key, judged.claim.statement, judged.ours, verdict(judged.outcome is Outcome.REPRODUCED))
    return table
