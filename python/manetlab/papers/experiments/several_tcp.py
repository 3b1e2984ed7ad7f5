"""Several TCP connections beside CBR flows: Figs 4.18 to 4.23 and B.5 to B.10 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manetlab.papers import wording
from manetlab.papers.evidence import (
    Also,
    Change,
    Level,
    Pairs,
    Ruled,
    Trend,
    Trends,
    Values,
    percent,
    points,
    shown,
)
from manetlab.papers.experiments import one_tcp
from manetlab.papers.experiments.ftp import (
    ADV,
    AODV,
    DSR,
    HOLD_DOWN,
    METRIC,
    PROTOCOLS,
    RENO,
    RENO_F,
    SACK,
    Cell,
    Measured,
    pool,
)
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.study import Found, Runs
from manetlab.papers.verdicts import banded, level, ordering, ruled_by
from manetlab.stats import Interval, mean_interval, paired_interval, paired_ratio

FEW, MANY = "dyer2002/fig-4.18", "dyer2002/fig-4.19"
FEW_HIGH, MANY_HIGH = "dyer2002/fig-B.5", "dyer2002/fig-B.6"
ALONE_FEW, ALONE_MANY = "dyer2002/fig-B.1", "dyer2002/fig-B.2"
"""Where one transfer beside the same background is run."""
PACKETS, BYTES = "routing_packets_per_s", "routing_bytes_per_s"
LATENCY, DELIVERY = "cbr_latency_mean_s", "cbr_delivery_fraction"
BOTH = (RENO, RENO_F)
POOLED = "Reno and Reno-F together"


class Figures(Measured):
    """The runs with several transfers, by figure."""

    def most(self, key: str) -> Cell:
        """The greatest number of transfers."""
        return self.cells(key)[-1]

    def with_one(self, key: str) -> list[Cell]:
        """One transfer and several, beside the same background."""
        alone = ALONE_FEW if key == FEW else ALONE_MANY
        return [*self.cells(alone), *self.cells(key)]

    def ahead(
        self,
        cells: Sequence[Cell],
        first: str,
        rivals: Sequence[str],
        labels: Sequence[str],
        metric: str = METRIC,
    ) -> dict[str, tuple[Values, Values]]:
        """A protocol's values beside each rival's, by set-up and technique."""
        return {
            f"{first} > {rival}, {cell.transfers} TCP, {cell.flows} CBR, {label}": (
                self.values(cell, first, label, metric),
                self.values(cell, rival, label, metric),
            )
            for cell in cells
            for label in labels
            for rival in rivals
        }

    def change(self, cells: Sequence[Cell], protocols: Sequence[str], metric: str) -> Change:
        """The change from Reno to Reno-F of a total, over some set-ups together, by protocol."""

        def of(protocol: str) -> Interval:
            fixed, reno = (self.pooled(cells, protocol, [label], metric) for label in (RENO_F, RENO))
            return percent(fixed, reno)

        return Change({protocol: of(protocol) for protocol in protocols})


def combined_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.18: combined throughput with ten CBR flows."""
    figures = Figures(ledger, runs)
    cells, most = figures.cells(FEW), figures.most(FEW)
    # More than two: all but the first of the axis.
    more = cells[1:]
    with_sack = [cell for cell in cells if SACK in figures.samples(cell, ADV).labels("technique")]
    held = [cell for cell in cells if HOLD_DOWN in figures.samples(cell, ADV).labels("technique")]
    rivals = (AODV, DSR)

    return {
        "D4-67": Change(
            {
                f"{p}, {cell.transfers} TCP": one_tcp.gain(figures, cell, p, SACK)
                for cell in with_sack
                for p in PROTOCOLS
            }
        ),
        "D4-68": Pairs(figures.ahead(cells, ADV, rivals, [RENO])),
        "D4-71": Trends({f"{cell.transfers} TCP": _narrowing(figures, cell) for cell in cells}),
        "D4-72": Pairs(
            {name: pair for p in rivals for name, pair in figures.ahead(more, p, [ADV], [RENO_F]).items()}
        ),
        "D4-73": Change({"": percent(figures.values(most, DSR, RENO_F), figures.values(most, ADV, RENO_F))}),
        "D7-18": Change(
            {
                f"{p}, {cell.transfers} TCP": percent(
                    figures.values(cell, p, HOLD_DOWN), figures.values(cell, p, RENO_F)
                )
                for cell in held
                for p in PROTOCOLS
            }
        ),
    }


def _narrowing(figures: Figures, cell: Cell) -> Trend:
    """How far apart the protocols are, in parts of their mean, under Reno and under Reno-F."""

    def spread(label: str) -> Values:
        lists = [figures.values(cell, p, label) for p in PROTOCOLS]
        return [(max(each) - min(each)) / (sum(each) / len(each)) for each in zip(*lists, strict=True)]

    return Trend([spread(RENO), spread(RENO_F)], -1)


def many_flows_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.19: combined throughput with forty CBR flows."""
    figures = Figures(ledger, runs)

    def behind(rival: str) -> Trend:
        return Trend([_lead(figures, key, rival) for key in (FEW, MANY)], -1)

    several = [cell for key in (FEW, MANY) for cell in figures.cells(key)[1:]]
    return {
        "D4-69": Trends({f"relative to {rival}": behind(rival) for rival in (ADV, DSR)}),
        "D4-70": Pairs(figures.ahead(several, DSR, [AODV], [RENO]), may_tie=True),
    }


def _lead(figures: Figures, key: str, rival: str) -> Values:
    """AODV's lead over a rival in combined throughput, in parts of the rival's mean."""
    aodv, other = (figures.pooled(figures.cells(key), p, [RENO], METRIC) for p in (AODV, rival))
    mean = sum(other) / len(other)
    return [(a - o) / mean for a, o in zip(aodv, other, strict=True)]


def high_load_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.5: ten CBR flows at the higher load."""
    figures = Figures(ledger, runs)
    cells = figures.cells(FEW_HIGH)

    def over_adv(protocol: str) -> Trend:
        return Trend([_over_adv(figures, figures.most(key), protocol) for key in (FEW, FEW_HIGH)], +1)

    pairs = {name: pair for p in (ADV, AODV) for name, pair in figures.ahead(cells, p, [DSR], [RENO]).items()}
    return {
        "D4-74": Trends({p: over_adv(p) for p in (DSR, AODV)}),
        "D4-75": Pairs(pairs, also=[_equal(figures, cell, ADV, AODV) for cell in cells]),
    }


def _over_adv(figures: Figures, cell: Cell, protocol: str) -> Values:
    own, adv = (figures.values(cell, p, RENO_F) for p in (protocol, ADV))
    mean = sum(adv) / len(adv)
    return [100 * (a - b) / mean for a, b in zip(own, adv, strict=True)]


def _equal(figures: Figures, cell: Cell, first: str, second: str) -> Also:
    """Are two protocols said to be equal no further apart than a tie?"""
    tie = wording.number(figures.ledger.policy["tie"], "%")
    of = points(*(figures.values(cell, p, RENO) for p in (first, second, second)))
    text = f"{first} ~ {second} with {cell.transfers} TCP, {shown(of, ' %')}"
    return Also(text, bool(of.holds_zero or abs(of.mean) <= tie))


def high_many_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.6: forty CBR flows at the higher load."""
    figures = Figures(ledger, runs)
    most = figures.most(MANY_HIGH)
    pairs = figures.ahead([most], ADV, [AODV, DSR], [RENO])
    return {"D4-76": Pairs(pairs, also=[_equal(figures, most, AODV, DSR)])}


def reno_metrics_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.20: all metrics under Reno."""
    figures = Figures(ledger, runs)
    cells, along = figures.cells(FEW), figures.with_one(FEW)
    packets = {p: [figures.values(cell, p, RENO, PACKETS) for cell in along] for p in PROTOCOLS}
    goodput = {
        f"{p}, {cell.transfers} TCP": mean_interval(figures.values(cell, p, RENO, "tcp_goodput")).scaled(100)
        for p in PROTOCOLS
        for cell in cells
    }
    every = [*along, *figures.cells(MANY)]
    order = figures.ahead(every, AODV, [DSR], [RENO], PACKETS) | figures.ahead(
        every, DSR, [ADV], [RENO], PACKETS
    )
    steady = {
        "1 to 10 TCP": percent(packets[ADV][-1], packets[ADV][0]),
        "10 to 40 CBR": percent(figures.values(figures.most(MANY), ADV, RENO, PACKETS), packets[ADV][-1]),
    }
    volume = {p: [figures.values(cell, p, RENO, BYTES) for cell in along] for p in PROTOCOLS}
    highest = all(
        mean_interval(adv).mean > mean_interval(volume[p][place]).mean
        for p in (AODV, DSR)
        for place, adv in enumerate(volume[ADV])
    )
    return {
        "D4-77": Level(goodput),
        "D4-79": Pairs(order),
        "D4-80": Trends({p: Trend(packets[p], +1) for p in (AODV, DSR)}, also=[_concave(along, packets)]),
        "D4-81": Change(steady),
        "D4-82": Trend(volume[ADV], +1, also=[Also("above AODV's and DSR's everywhere", highest)]),
    }


def _concave(cells: Sequence[Cell], packets: dict[str, list[Values]]) -> Also:
    """Does each further transfer add less at the end of the axis than at its beginning?"""

    def slope(protocol: str, place: int) -> float:
        rise = paired_interval(packets[protocol][place], packets[protocol][place - 1]).mean
        return rise / (cells[place].transfers - cells[place - 1].transfers)

    less = all(slope(p, len(cells) - 1) < slope(p, 1) for p in (AODV, DSR))
    return Also("at a diminishing rate", less)


def reno_f_metrics_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.21: what Reno-F does to goodput, over all protocols and numbers of transfers together."""
    figures = Figures(ledger, runs)

    def goodput(label: str) -> Values:
        return pool([figures.pooled(figures.cells(FEW), p, [label], "tcp_goodput") for p in PROTOCOLS])

    lost = paired_interval(goodput(RENO_F), goodput(RENO)).scaled(100)
    combined = {p: mean_interval(figures.values(figures.most(FEW), p, RENO_F)) for p in (ADV, AODV)}
    return {
        "D4-78": banded(ledger.claim("D4-78"), {"": lost}, -1),
        "D6-15": Level({p: each.scaled(1e-6) for p, each in combined.items()}),
    }


def many_metrics_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.7: routing bytes with one transfer and forty CBR flows."""
    figures = Figures(ledger, runs)
    alone = figures.with_one(MANY)[0]
    adv, aodv = (figures.values(alone, p, RENO, BYTES) for p in (ADV, AODV))
    return {"D4-83": Level({"": paired_ratio(adv, aodv)})}


def latency_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.22: latency of CBR packets."""
    figures = Figures(ledger, runs)
    cells, most = figures.cells(FEW), figures.most(FEW)
    rising = {
        f"{p}, {flows[-1].flows} CBR, {label}": Trend(
            [figures.values(cell, p, label, LATENCY) for cell in flows], +1
        )
        for flows in (figures.with_one(FEW), figures.with_one(MANY))
        for p in PROTOCOLS
        for label in BOTH
    }
    return {
        "D4-84": Trends(rising),
        "D4-85": figures.change(cells, [ADV], LATENCY),
        "D4-86": figures.change([most], [AODV, DSR], LATENCY),
        "D4-87": _levels_and_ratio(ledger.claim("D4-87"), figures, most),
    }


def _levels_and_ratio(claim: Claim, figures: Figures, cell: Cell) -> Ruled:
    """Levels within their bands, and ADV's that many times the others'."""
    values = {p: figures.pooled([cell], p, BOTH, LATENCY) for p in PROTOCOLS}
    band = wording.bounds(claim.tolerance)
    ratios = {p: paired_ratio(values[ADV], values[p]) for p in (AODV, DSR)}
    findings = [
        *((p, level(mean_interval(values[p]), *claim.band(claim.at.index(p)))) for p in PROTOCOLS),
        *((f"{ADV}/{p}", level(ratio, *band)) for p, ratio in ratios.items()),
    ]
    text = "; ".join(f"{p}: {shown(mean_interval(values[p]))}" for p in PROTOCOLS)
    text += "; " + "; ".join(f"{ADV}/{p}: {shown(ratio)}" for p, ratio in ratios.items())
    return ruled_by(f"{text}; {POOLED}", findings)


def delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.23: CBR packets delivered."""
    figures = Figures(ledger, runs)
    cells, most = figures.cells(FEW), figures.most(FEW)
    everywhere = [*cells, *figures.cells(MANY)]
    return {
        "D4-88": _levels_and_order(ledger.claim("D4-88"), figures, most),
        "D4-89": _delivered(figures, cells[0]),
        "D4-91": Pairs(figures.ahead(everywhere, AODV, [DSR], BOTH, DELIVERY)),
        "D4-92": figures.change(cells, [ADV], DELIVERY),
        "D4-93": figures.change([most], [AODV, DSR], DELIVERY),
    }


def _levels_and_order(claim: Claim, figures: Figures, cell: Cell) -> Ruled:
    """Levels within their bands, in the order of the claim."""
    values = {p: [100 * v for v in figures.pooled([cell], p, BOTH, DELIVERY)] for p in claim.at}
    tie = wording.number(figures.ledger.policy["tie"], "%")
    findings = [
        *(
            (p, level(mean_interval(each), *claim.band(place)))
            for place, (p, each) in enumerate(values.items())
        ),
        ("order", ordering(list(values.items()), tie)),
    ]
    text = "; ".join(f"{p}: {shown(mean_interval(each))}" for p, each in values.items())
    return ruled_by(f"{text}; {POOLED}", findings)


def _delivered(figures: Figures, cell: Cell) -> Level:
    """ADV's delivery fraction in percent under both senders."""
    return Level(
        {label: mean_interval(figures.values(cell, ADV, label, DELIVERY)).scaled(100) for label in BOTH}
    )


def many_delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.10: CBR packets delivered, forty flows."""
    figures = Figures(ledger, runs)
    return {"D4-90": _delivered(figures, figures.cells(MANY)[0])}


_EVIDENCE: dict[str, tuple[tuple[str, ...], Callable[[Ledger, Runs], Found]]] = {
    FEW: ((FEW,), combined_evidence),
    MANY: ((FEW, MANY), many_flows_evidence),
    FEW_HIGH: ((FEW, FEW_HIGH), high_load_evidence),
    MANY_HIGH: ((MANY_HIGH,), high_many_evidence),
    "dyer2002/fig-4.20": ((ALONE_FEW, FEW, MANY), reno_metrics_evidence),
    "dyer2002/fig-4.21": ((ALONE_FEW, FEW), reno_f_metrics_evidence),
    "dyer2002/fig-B.7": ((ALONE_MANY, MANY), many_metrics_evidence),
    "dyer2002/fig-B.8": ((ALONE_MANY, MANY), one_tcp.nothing),
    "dyer2002/fig-4.22": ((ALONE_FEW, ALONE_MANY, FEW, MANY), latency_evidence),
    "dyer2002/fig-4.23": ((FEW, MANY), delivery_evidence),
    "dyer2002/fig-B.9": ((ALONE_MANY, MANY), one_tcp.nothing),
    "dyer2002/fig-B.10": ((MANY,), many_delivery_evidence),
}
STUDIES = tuple(one_tcp.study(key, needs, evidence) for key, (needs, evidence) in _EVIDENCE.items())
