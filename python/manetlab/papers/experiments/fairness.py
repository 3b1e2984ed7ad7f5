"""Table 1 of Bansal and Barua: flows of different length that share the first link of a chain.

The article does not say which segment and window made the table, and the outcome depends on them. So it is
run with all that the article names, and only what all agree on is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Ruled, Values, shown
from manetlab.papers.experiments import chains
from manetlab.papers.experiments.fixed_topologies import QUICK, campaign, segment_levels, spacing_m
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Outcome, level, ruled, together
from manetlab.stats import jain, mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

FAIRNESS = "bansal2003/table-1"
ROW_CLAIMS = ("B-11", "B-12", "B-13", "B-14", "B-15")
"""The claims on the table's rows, in order."""
Measure = Callable[[Samples, str, Mapping[str, int]], list[float]]
"""Something of every seed of a row and set-up."""


def rows(ledger: Ledger) -> list[str]:
    """The rows of Table 1: hop counts with commas."""
    listed: list[str] = ledger.experiments[FAIRNESS].axis
    return listed


def equal_rows(ledger: Ledger) -> list[str]:
    """Two flows of equal length, for every length in the table."""
    lengths = sorted({hops for row in rows(ledger) for hops in row.split(",")})
    return [f"{hops},{hops}" for hops in lengths]


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Flows from one end of a chain to nodes of the given distances, with every segment and window."""
    metres = spacing_m(ledger)
    levels = []
    for row in [*rows(ledger), *equal_rows(ledger)]:
        hops = [int(each) for each in row.split(",")]
        levels.append(chains.level(row, max(hops), [chains.tcp(0, each) for each in hops], metres))
    sizes, windows = segment_levels(ledger)
    factors: dict[str, list[Any]] = {"row": levels, "tcp.segment_bytes": sizes, "tcp.window": windows}
    return [campaign(ledger, scale, FAIRNESS, FAIRNESS, factors)]


def set_ups(ledger: Ledger) -> dict[str, dict[str, int]]:
    """The segments and windows that the article names, of which it does not say which made Table 1."""
    sizes, windows = segment_levels(ledger)
    return {
        f"{size} B, window {window}": {"tcp.segment_bytes": size, "tcp.window": window}
        for size in sizes
        for window in windows
    }


def indices(samples: Samples, row: str, at: Mapping[str, int]) -> list[float]:
    """Jain's index of the flows' throughput, of every seed."""
    return [jain(each) for each in samples.of_flows("throughput_bps", row=row, **at)]


def last_shares(samples: Samples, row: str, at: Mapping[str, int]) -> list[float]:
    """The share of the longest flow, of every seed."""
    return [each[-1] / sum(each) for each in samples.of_flows("throughput_bps", row=row, **at)]


def across(outcomes: Mapping[str, Outcome], found: Mapping[str, str]) -> Ruled:
    """One outcome over set-ups, any of which may be the article's: only what all agree on is said."""
    agreed = set(outcomes.values())
    text = "; ".join(f"{name}: {found[name]}" for name in outcomes)
    return Ruled(
        text,
        satisfied=agreed == {Outcome.REPRODUCED},
        broken=agreed == {Outcome.CONTRADICTED},
        remark="" if len(agreed) == 1 else _differing(outcomes),
    )


def _differing(outcomes: Mapping[str, Outcome]) -> str:
    by: dict[Outcome, list[str]] = {}
    for name, outcome in outcomes.items():
        by.setdefault(outcome, []).append(name)
    return "; ".join(f"{outcome} with {', '.join(names)}" for outcome, names in by.items())


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fairness by row, its fall, and what is left for the longer flow."""
    samples, known = runs[FAIRNESS], set_ups(ledger)

    def banded(claim: Claim, wanted: Sequence[str], of: Measure) -> Ruled:
        """Every one of some rows in the claim's band, in each set-up."""
        means = {
            name: {row: mean_interval(of(samples, row, at)) for row in wanted} for name, at in known.items()
        }
        outcomes = {
            name: together(
                (row, level(mean, *claim.band(), must_lie="overlap" not in claim.tolerance))
                for row, mean in by_row.items()
            )[0]
            for name, by_row in means.items()
        }
        found = {name: ", ".join(shown(mean) for mean in by_row.values()) for name, by_row in means.items()}
        return across(outcomes, found)

    claims = dict(zip(ROW_CLAIMS, rows(ledger), strict=True))
    falling = {
        name: falls(ledger.claim("B-16"), [indices(samples, row, at) for row in rows(ledger)])
        for name, at in known.items()
    }
    # The rows whose longer flow B-17 speaks of: `1 v. 4 and 1 v. 5 hops`.
    longer = [row for row in rows(ledger) if f"{row.replace(',', ' v. ')}" in ledger.claim("B-17").systems[0]]
    return {
        **{key: banded(ledger.claim(key), [row], indices) for key, row in claims.items()},
        "B-10": banded(ledger.claim("B-10"), equal_rows(ledger), indices),
        "B-16": across(
            {name: ruled(each)[0] for name, each in falling.items()},
            {name: each.found for name, each in falling.items()},
        ),
        "B-17": banded(ledger.claim("B-17"), longer, last_shares),
    }


def falls(claim: Claim, by_row: Sequence[Values]) -> Ruled:
    """Does the index rise from no row to the next by more than the ledger allows?"""
    first, last = (int(each) for each in wording.two(claim.tolerance, "-", "within"))
    slack = wording.after(claim.tolerance, "within")
    chosen = by_row[first - 1 : last]
    rises = [paired_interval(later, earlier) for earlier, later in pairwise(chosen)]
    means = ", ".join(f"{mean_interval(each).mean:.3f}" for each in chosen)
    return Ruled(
        means,
        satisfied=all(rise.mean <= slack for rise in rises),
        broken=any(rise.low > slack for rise in rises),
    )


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Jain's index beside the printed one, and what is left for the longest flow."""
    printed = [f"{ledger.claim(key).value[0]:g}" for key in ROW_CLAIMS]
    made = []
    for title, of in (("Jain's index", indices), ("share of the longest flow", last_shares)):
        table = Table(f"Table 1: {title}, by hops of the flows", ("set-up", *rows(ledger)))
        for name, at in set_ups(ledger).items():
            table.add(name, *(shown(mean_interval(of(runs[FAIRNESS], row, at))) for row in rows(ledger)))
        made.append(table)
    made[0].add("printed", *printed)
    return made


STUDIES = (Study(FAIRNESS, campaigns, evidence, tables, QUICK),)
