"""How long ADV keeps packets of TCP and of CBR without a route: Figs 4.24 to 4.27 and B.11 to B.14.

The appendix has the same four figures with more background traffic. The dissertation draws its claims from
the first four alone; beside the figures of the appendix they are shown as expectations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Change, Pairs, Ruled, Trend, Values, percent, shown
from manetlab.papers.experiments import ftp
from manetlab.papers.experiments.ftp import ADV, METRIC, RENO, RENO_F, SHORT, pool
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import banded, judge
from manetlab.stats import Interval, mean_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

CHAPTER = tuple(f"dyer2002/fig-4.{number}" for number in (24, 25, 26, 27))
APPENDIX = tuple(f"dyer2002/fig-B.{number}" for number in (11, 12, 13, 14))
CONNECTS = CHAPTER[0]
"""The entry of the chapter's set-up; that of the appendix' is ``APPENDIX[0]``."""
CONNECT, LATENCY, DELIVERY = "tcp_connect_time_mean_s", "cbr_latency_mean_s", "cbr_delivery_fraction"
BOTH = (RENO, RENO_F)


def pair_fields(label: str) -> Fields:
    """Buffer times of TCP's and of other packets, from ``30s/1s``."""
    tcp, _, other = label.partition("/")
    return {
        "adv.tcp_buffer_timeout_s": wording.number(tcp, "s"),
        "adv.other_buffer_timeout_s": wording.number(other, "s"),
    }


def name(entry: str, transfers: int) -> str:
    """The campaign of a set-up with so many transfers."""
    return f"{entry}/{transfers}"


def campaigns(entry: str, ledger: Ledger, scale: Scale) -> list[Campaign]:
    """All pairs of times under both senders, for each number of transfers of a set-up."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[entry]
    times = scale.times(experiment.setup["warmup_s"], experiment.setup["duration_s"], SHORT)
    return [
        Campaign(
            name=name(entry, cell.transfers),
            question="How long should ADV keep packets for which it has no route?",
            base=ftp.square(ledger, cell, ADV, times),
            factors={
                "pair": [{"label": label, "fields": pair_fields(label)} for label in experiment.axis],
                "technique": [{"label": label, "fields": technique(label)} for label in BOTH],
            },
            replications=scale.scenarios(ledger, experiment.setup["scenarios"]),
            metrics=[METRIC],
        )
        for cell in ftp.cells(ledger, entry)
    ]


class Buffering:
    """The runs of a set-up, by pair of times.

    Args:
        entry: The set-up's entry.
        ledger: The ledger.
        runs: All finished campaigns.
    """

    def __init__(self, entry: str, ledger: Ledger, runs: Runs) -> None:
        self.ledger = ledger
        self.samples: dict[int, Samples] = {
            cell.transfers: runs[name(entry, cell.transfers)] for cell in ftp.cells(ledger, entry)
        }
        self.pairs: list[str] = list(ledger.experiments[entry].axis)
        ends = [tuple(pair_fields(label).values()) for label in self.pairs]
        self.long_s, self.short_s = max(ends)[0], min(ends)[0]
        self._labels = dict(zip(ends, self.pairs, strict=True))

    def values(self, metric: str, tcp_s: float, other_s: float, transfers: int, sender: str) -> Values:
        """A total of every scenario."""
        samples, pair = self.samples[transfers], self._labels[tcp_s, other_s]
        return samples.filled(metric, pair=pair, technique=sender)

    def pooled(self, metric: str, tcp_s: float, other_s: float, senders: Sequence[str] = BOTH) -> Values:
        """Its mean over numbers of transfers and senders, in every scenario."""
        return pool([self.values(metric, tcp_s, other_s, n, each) for n in self.samples for each in senders])

    def of_tcp(self, metric: str, senders: Sequence[str]) -> dict[str, Interval]:
        """What TCP's short time changes, in percent, in every other circumstance."""
        return {
            f"CBR {other_s:g} s, {n} TCP": percent(
                *(self.values(metric, tcp_s, other_s, n, sender) for tcp_s in (self.short_s, self.long_s))
            )
            for other_s in (self.long_s, self.short_s)
            for n in self.samples
            for sender in senders
        }

    def of_cbr(self, metric: str) -> dict[str, Interval]:
        """What CBR's short time changes, in percent, in every other circumstance."""
        return {
            f"TCP {tcp_s:g} s, {n} TCP, {sender}": percent(
                *(self.values(metric, tcp_s, other_s, n, sender) for other_s in (self.short_s, self.long_s))
            )
            for tcp_s in (self.long_s, self.short_s)
            for n in self.samples
            for sender in BOTH
        }


def largest(of: Mapping[str, Interval], sign: int) -> dict[str, Interval]:
    """The case with the greatest change in one direction."""
    found = max(of, key=lambda label: sign * of[label].mean)
    return {found: of[found]}


def connect_evidence(runs_of: Buffering) -> Found:
    """Fig. 4.24."""
    long_s, short_s = runs_of.long_s, runs_of.short_s
    shorter = {
        f"CBR {other_s:g} s, {label}": (
            runs_of.pooled(CONNECT, short_s, other_s, [label]),
            runs_of.pooled(CONNECT, long_s, other_s, [label]),
        )
        for other_s in (long_s, short_s)
        for label in BOTH
    }
    by_cbr = {
        f"TCP {tcp_s:g} s": percent(
            *(runs_of.pooled(CONNECT, tcp_s, other_s) for other_s in (short_s, long_s))
        )
        for tcp_s in (long_s, short_s)
    }
    return {"D4-100": Pairs(shorter), "D4-104": Change(by_cbr)}


def throughput_evidence(runs_of: Buffering) -> Found:
    """Fig. 4.25."""
    long_s, short_s = runs_of.long_s, runs_of.short_s
    longer = {
        f"CBR {other_s:g} s, {n} TCP": percent(
            *(runs_of.values(METRIC, tcp_s, other_s, n, RENO) for tcp_s in (long_s, short_s))
        )
        for other_s in (long_s, short_s)
        for n in runs_of.samples
    }
    by_cbr = {
        f"TCP {tcp_s:g} s": percent(
            *(runs_of.pooled(METRIC, tcp_s, other_s) for other_s in (short_s, long_s))
        )
        for tcp_s in (long_s, short_s)
    }
    return {
        "D4-101": Change(largest(longer, +1)),
        "D4-102": Change(largest(runs_of.of_tcp(METRIC, [RENO_F]), +1)),
        "D4-103": Change(by_cbr),
        "D4-110": _best_pair(runs_of),
        "D4-111": Trend([_reno_f_gain(runs_of, tcp_s) for tcp_s in (long_s, short_s)], +1),
    }


def _reno_f_gain(runs_of: Buffering, tcp_s: float) -> Values:
    """Reno-F's gain in every scenario in percent of Reno's mean, over all else together."""
    fixed, reno = (
        pool(
            [runs_of.pooled(METRIC, tcp_s, other_s, [label]) for other_s in (runs_of.long_s, runs_of.short_s)]
        )
        for label in (RENO_F, RENO)
    )
    mean = sum(reno) / len(reno)
    return [100 * (f - r) / mean for f, r in zip(fixed, reno, strict=True)]


def _best_pair(runs_of: Buffering) -> Ruled:
    """Is no pair better in all three metrics, and does none have a better mean rank?"""
    wanted = (runs_of.long_s, runs_of.short_s)
    places = [(a, b) for a in (runs_of.long_s, runs_of.short_s) for b in (runs_of.long_s, runs_of.short_s)]
    scores = {
        place: [
            sign * mean_interval(runs_of.pooled(metric, *place)).mean
            for metric, sign in ((METRIC, 1), (CONNECT, -1), (LATENCY, -1))
        ]
        for place in places
    }

    def rank(place: tuple[float, float]) -> float:
        own = scores[place]
        return sum(1 + sum(other[i] > own[i] for other in scores.values()) for i in range(len(own))) / len(
            own
        )

    dominated = any(
        all(theirs > own for theirs, own in zip(scores[place], scores[wanted], strict=True))
        for place in places
    )
    best = all(rank(wanted) <= rank(place) for place in places)
    text = ", ".join(f"{a:g} s/{b:g} s: mean rank {rank((a, b)):.2g}" for a, b in places)
    return Ruled(text, satisfied=best and not dominated, broken=dominated)


def latency_evidence(runs_of: Buffering) -> Found:
    """Fig. 4.26."""
    return {
        "D4-105": Change(largest(runs_of.of_cbr(LATENCY), -1)),
        "D4-106": Change(largest(runs_of.of_tcp(LATENCY, [RENO]), -1)),
        "D4-107": Change(largest(runs_of.of_tcp(LATENCY, [RENO_F]), -1)),
    }


def delivery_evidence(runs_of: Buffering) -> Found:
    """Fig. 4.27."""
    long_s, short_s = runs_of.long_s, runs_of.short_s
    raised = {
        f"CBR {other_s:g} s": (
            runs_of.pooled(DELIVERY, short_s, other_s),
            runs_of.pooled(DELIVERY, long_s, other_s),
        )
        for other_s in (long_s, short_s)
    }
    lost = largest(runs_of.of_cbr(DELIVERY), -1)
    return {"D4-108": banded(runs_of.ledger.claim("D4-108"), lost, -1), "D4-109": Pairs(raised)}


@dataclass(frozen=True)
class Figure:
    """What a figure shows.

    Attributes:
        evidence: What the runs say of its claims.
        metric: The total.
        title: Its name and unit.
        factor: From the total's unit to that one.
    """

    evidence: Callable[[Buffering], Found]
    metric: str
    title: str
    factor: float = 1.0


FIGURES = (
    Figure(connect_evidence, CONNECT, "connect time, s"),
    Figure(throughput_evidence, METRIC, "throughput, kb/s", 1e-3),
    Figure(latency_evidence, LATENCY, "CBR latency, s"),
    Figure(delivery_evidence, DELIVERY, "CBR packets delivered, %", 100.0),
)
"""The four figures of a set-up, in their order."""


def table(figure: Figure, runs_of: Buffering) -> Table:
    """A metric by pair of times, sender and number of transfers."""
    heads = [f"{n} TCP, {'Reno' if label == RENO else 'Reno-F'}" for n in runs_of.samples for label in BOTH]
    made = Table(f"ADV, buffer times of TCP/CBR: {figure.title}", ("times", *heads))
    for pair in runs_of.pairs:
        tcp_s, other_s = pair_fields(pair).values()
        cells = [
            shown(
                mean_interval(runs_of.values(figure.metric, tcp_s, other_s, n, label)).scaled(figure.factor)
            )
            for n in runs_of.samples
            for label in BOTH
        ]
        made.add(pair, *cells)
    return made


def expectations(figure: Figure, runs_of: Buffering, key: str) -> Table:
    """The chapter's claims that the ledger names for a figure of the appendix, by the chapter's rules."""
    ledger, found = runs_of.ledger, figure.evidence(runs_of)
    columns = ("claim", "statement", "ours", "outcome")
    made = Table("What the chapter says of its own load, here", columns, text_columns=len(columns))
    for name in ledger.experiments[key].claims:
        verdict = judge(ledger.claim(name), found[name], ledger.policy["tie"])
        made.add(name, verdict.claim.statement, verdict.ours, str(verdict.outcome))
    made.notes.append("The dissertation says nothing of this load; these outcomes are no verdicts.")
    return made


def _study(key: str, entry: str, figure: Figure) -> Study:
    own = key in CHAPTER

    def evidence(ledger: Ledger, runs: Runs) -> Found:
        return figure.evidence(Buffering(entry, ledger, runs)) if own else {}

    def tables(ledger: Ledger, runs: Runs) -> list[Table]:
        runs_of = Buffering(entry, ledger, runs)
        further = [] if own else [expectations(figure, runs_of, key)]
        return [table(figure, runs_of), *further]

    quick = f"20 of the 50 scenarios, of each the first {SHORT:.0%} of the measured time"
    return Study(key, partial(campaigns, entry), evidence, tables, quick=quick)


STUDIES = tuple(
    _study(key, keys[0], figure)
    for keys in (CHAPTER, APPENDIX)
    for key, figure in zip(keys, FIGURES, strict=True)
)
