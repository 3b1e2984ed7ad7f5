"""The dissertation's ranks of the routing protocols by TCP throughput: Tables 7.1 and 7.2."""

from __future__ import annotations

from itertools import combinations

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Pairs, Ruled, Values, shown
from manetlab.papers.experiments import ftp, several_tcp
from manetlab.papers.experiments.ftp import ADV, AODV, DSR, QUICK, RENO, RENO_F, Cell
from manetlab.papers.experiments.one_tcp import tables_of
from manetlab.papers.experiments.several_tcp import Figures
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.study import Found, Runs, Study
from manetlab.papers.verdicts import Finding, Outcome, ruled_by
from manetlab.stats import Interval, mean_interval, paired_interval

SENDERS = {"dyer2002/table-7.1": RENO, "dyer2002/table-7.2": RENO_F}
FIGURES = (
    *ftp.TABLES,
    *(f"dyer2002/fig-B.{number}" for number in (3, 4)),
    several_tcp.FEW,
    several_tcp.MANY,
    several_tcp.FEW_HIGH,
    several_tcp.MANY_HIGH,
)
"""Where the low and high loads of both numbers of transfers are run."""


def cells(ledger: Ledger, key: str) -> list[Cell]:
    """The set-ups of a table, along its axis: ``10,40,high``."""
    loads = {}
    for part in ledger.assumptions["low-and-high"].text.split(";"):
        transfers, _, kbps = part.partition(":")
        low, high = wording.two(kbps, "and", "Kbps")
        loads[wording.whole(transfers, "TCP")] = {"low": low, "high": high}
    found = []
    for label in ledger.experiments[key].axis:
        transfers, flows, load = label.split(",")
        found.append(Cell(int(transfers), loads[int(transfers)][load], int(flows)))
    return found


def evidence(ledger: Ledger, runs: Runs, key: str) -> Found:
    """The rank of each set-up, in the table's order."""
    figures = Figures(ledger, runs)
    claims = [claim for claim in ledger.claims_of(ledger.experiments[key]) if claim.value]
    found: Found = {
        claim.id: ranked(
            claim,
            {p: figures.values(cell, p, SENDERS[key]) for p in claim.at},
            wording.number(ledger.policy["tie"], "%"),
        )
        for claim, cell in zip(claims, cells(ledger, key), strict=True)
    }
    if key.endswith("7.2"):
        last = figures.most(several_tcp.FEW)
        pairs = {
            name: pair
            for p in (DSR, AODV)
            for name, pair in figures.ahead([last], p, [ADV], [RENO_F]).items()
        }
        more = Pairs(pairs, also=figures_note(ledger.claim("D7-17")))
        return {**found, "D7-17": more}
    return found


def figures_note(claim: Claim) -> list[Also]:
    """The set-up that the claim names beside its rule, which is that of the runs."""
    wording.require(claim.tolerance, "30-s buffering in ADV")
    return [Also("30-s buffering in ADV", True)]


def ranked(claim: Claim, values: dict[str, Values], tie_percent: float) -> Ruled:
    """Strict pairs may not be reversed, printed ties may not be further apart than the claim says."""
    widest = wording.after(claim.tolerance, "within")
    rank = dict(zip(claim.at, claim.value, strict=True))
    findings = []
    for a, b in combinations(claim.at, 2):
        first, second = (a, b) if rank[a] <= rank[b] else (b, a)
        percent = _percent_of_greater(values[first], values[second])
        if rank[a] == rank[b]:
            findings.append((f"{first} = {second}", _equal(percent, widest)))
        else:
            findings.append((f"{first} > {second}", _ahead(percent, tie_percent)))
    text = ", ".join(f"{p} {shown(mean_interval(each).scaled(1e-3))}" for p, each in values.items())
    return ruled_by(f"{text} kb/s", findings)


def _percent_of_greater(first: Values, second: Values) -> Interval:
    greatest = max(mean_interval(first).mean, mean_interval(second).mean)
    return paired_interval(first, second).scaled(100 / greatest)


def _ahead(percent: Interval, tie_percent: float) -> Finding:
    if percent.high < 0:
        return Outcome.CONTRADICTED, "reversed, with significance"
    if abs(percent.mean) <= tie_percent or percent.mean < 0:
        return Outcome.INCONCLUSIVE, "a tie"
    return Outcome.REPRODUCED, "in this order"


def _equal(percent: Interval, widest: float) -> Finding:
    if abs(percent.mean) <= widest:
        return Outcome.REPRODUCED, "a tie"
    apart = percent.low > widest or percent.high < -widest
    return (Outcome.CONTRADICTED if apart else Outcome.INCONCLUSIVE), "no tie"


def _study(key: str) -> Study:
    return Study(
        key,
        lambda ledger, scale: ftp.campaigns(ledger, scale, FIGURES),
        lambda ledger, runs: evidence(ledger, runs, key),
        tables_of(*FIGURES),
        quick=QUICK,
    )


STUDIES = tuple(map(_study, SENDERS))
