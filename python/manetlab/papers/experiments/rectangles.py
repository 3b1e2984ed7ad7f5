"""CBR flows by offered load in rectangular fields: Figs A.1 to A.15 of the dissertation.

Five set-ups with three figures each: 50 nodes in a long field; 100 nodes in a larger one with 25 and with 100
connections; and those two with pauses. The dissertation gives the larger field two widths, in its text and in
its captions. `--full` runs both, and what is said of that field must hold in both; `--quick` runs that of the
captions, which name what the figures show, and its verdicts are on that part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Change, Level, Pairs, Ruled, Trend, Trends, Values, percent, shown
from manetlab.papers.experiments.by_load import (
    ADV_1,
    ADVS,
    BYTES,
    DELIVERY,
    DSR,
    FEW,
    LATENCY,
    ON_DEMAND,
    PACKETS,
    SHARE,
    THROUGHPUT,
    Compared,
    Loads,
    at_loads,
    campaign,
    loads,
    tables_of,
)
from manetlab.papers.experiments.ftp import pool
from manetlab.papers.ledger import Ledger
from manetlab.papers.setup import mobile
from manetlab.papers.study import Found, Runs, Scale, Study, no_claims
from manetlab.papers.verdicts import Finding, level, ruled_by
from manetlab.stats import mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

LONG, LARGE, BUSY, SLOW, BUSY_SLOW = (f"dyer2002/fig-A.{number}" for number in (1, 4, 7, 10, 13))
"""The first figure of each set-up, whose entry is that of the others, too."""
PAUSES = ((LARGE, SLOW), (BUSY, BUSY_SLOW))
"""Set-ups without and with pauses."""
BEYOND = (450.0, 500.0)
"""Loads in kb/s with which the axis goes on in the long field, where nothing saturates before its end."""
SLOW_SHARE = 0.2
"""As `SHARE`, with pauses: all nodes leave at the end of the warm-up, and few have arrived soon after."""


@dataclass(frozen=True)
class SetUp:
    """What `--quick` runs of a set-up.

    Attributes:
        loads: The loads, in kb/s.
        share: What share of the measured time.
    """

    loads: tuple[float, ...]
    share: float = SHARE


QUICK = {
    LONG: SetUp((100.0, 300.0, 350.0, 400.0, *BEYOND)),
    LARGE: SetUp((100.0, 200.0, 300.0, 350.0, 400.0)),
    BUSY: SetUp((100.0, 200.0, 300.0, 400.0)),
    SLOW: SetUp((200.0, 300.0, 400.0), SLOW_SHARE),
    BUSY_SLOW: SetUp((100.0, 200.0), SLOW_SHARE),
}


def fields(ledger: Ledger, entry: str) -> list[str]:
    """The fields that a set-up names, as ``2200 m x 600 m``; the captions' first."""
    return re.findall(r"\d+ m x \d+ m", ledger.experiments[entry].setup["field"])


def protocols(scale: Scale) -> tuple[str, ...]:
    """ADV by its buffer times, of which the dissertation does not say which it drew, and the others."""
    return (*(ADVS if scale.full else (ADV_1,)), *ON_DEMAND)


def name(entry: str, field: str) -> str:
    """The campaign of a set-up in a field."""
    return f"{entry}/{field}"


def campaigns(entries: Sequence[str], ledger: Ledger, scale: Scale) -> list[Campaign]:
    """All protocols at all loads of set-ups; of the square, that of Fig. 3.1."""
    made = []
    for entry in entries:
        if entry == FEW:
            made.append(campaign(ledger, scale, FEW))
            continue
        experiment, every = ledger.experiments[entry], fields(ledger, entry)
        axis = [*loads(ledger), *(BEYOND if entry == LONG else ())]
        listed = axis if scale.full else QUICK[entry].loads
        made += [
            at_loads(
                ledger,
                scale,
                entry,
                mobile(experiment, field),
                protocols(scale),
                listed,
                name(entry, field),
                QUICK[entry].share,
            )
            for field in (every if scale.full else every[:1])
        ]
    return made


@dataclass(frozen=True)
class Measured:
    """The finished runs.

    Attributes:
        ledger: The ledger.
        runs: By campaign.
    """

    ledger: Ledger
    runs: Runs

    def fields(self, entry: str) -> list[str]:
        """The fields in which a set-up was run."""
        return [field for field in fields(self.ledger, entry) if name(entry, field) in self.runs]

    def loads(self, entry: str, field: str | None = None) -> Loads:
        """The runs of a set-up; in its only field if none is given."""
        if entry == FEW:
            return Loads(self.runs[FEW])
        return Loads(self.runs[name(entry, field or fields(self.ledger, entry)[0])])

    def part(self) -> str:
        """What of the larger field was run, if not all."""
        run, every = self.fields(LARGE), fields(self.ledger, LARGE)
        return "" if run == every else ", ".join(run)

    def label(self, field: str, *parts: str) -> str:
        """The name of a case, with the field if there are several."""
        return ", ".join([field, *parts] if len(self.fields(LARGE)) > 1 else parts)

    def connections(self, entry: str) -> str:
        """How many connections a set-up has, in words."""
        count = wording.whole(self.ledger.experiments[entry].setup["traffic"], "CBR connections")
        return f"{count} connections"

    def compared(self, before: str, after: str) -> dict[str, Compared]:
        """Two set-ups, in every field of the second that was run."""
        return {
            field: Compared(
                self.loads(before, field if field in self.fields(before) else None), self.loads(after, field)
            )
            for field in self.fields(after)
        }


def names_of(of: Loads | Compared) -> list[str]:
    """The protocols that were run in rectangular fields."""
    samples = of.samples if isinstance(of, Loads) else of.after.samples
    return [str(each) for each in samples.labels("routing")]


def advs_of(of: Loads | Compared) -> list[str]:
    """The variants of ADV among them."""
    return [each for each in names_of(of) if each in ADVS]


def long_delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.1: latency and delivery in the long field."""
    measured = Measured(ledger, runs)
    of = measured.loads(LONG)
    [both] = measured.compared(FEW, LONG).values()
    return {
        "DA-03": Level({adv: mean_interval(of.peak(adv, DELIVERY)) for adv in advs_of(of)}),
        "DA-06": much_later(ledger, both),
    }


def points_of(ledger: Ledger) -> float:
    """How many points below its peak a protocol's delivery is when it saturates."""
    return wording.number(ledger.claim("D3-11").tolerance, "points below")


def much_later(ledger: Ledger, both: Compared) -> Ruled:
    """Both on-demand protocols saturate at so much more load; what is beyond the axis is not known."""
    claim, points = ledger.claim("DA-06"), points_of(ledger)
    factor = 1 + wording.number(claim.tolerance, "%") / 100
    texts, held, broken = [], [], []
    for protocol in ON_DEMAND:
        square, here = (of.saturation_kbps(protocol, points) for of in (both.before, both.after))
        ends = [of.loads[-1] for of in (both.before, both.after)]
        texts.append(f"{protocol}: {_bounded(here, ends[1])}, in the square {_bounded(square, ends[0])}")
        known = ends[1] if math.isinf(here) else here
        held.append(known >= factor * square)
        broken.append(not math.isinf(here) and here < factor * min(square, ends[0]))
    return Ruled("; ".join(texts), satisfied=all(held), broken=any(broken))


def _bounded(kbps: float, end: float) -> str:
    return f"above {end:g}" if math.isinf(kbps) else f"{kbps:g}"


def long_throughput_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.2: throughput in the long field, at loads that the square has, too."""
    [both] = Measured(ledger, runs).compared(FEW, LONG).values()
    claim = ledger.claim("DA-02")
    peaks = {
        protocol: tuple(of.peak(protocol, THROUGHPUT, 1e-3) for of in both.at_common_loads())
        for protocol in names_of(both)
    }
    square, here = peaks[DSR]
    peak, rise = mean_interval(here), percent(here, square)
    least = wording.number(claim.tolerance, "%")
    findings: list[tuple[str, Finding]] = [
        ("peak", level(peak, *claim.band())),
        ("rise", level(rise, least, math.inf, must_lie=True)),
    ]
    return {
        "DA-01": Pairs({protocol: (after, before) for protocol, (before, after) in peaks.items()}),
        "DA-02": ruled_by(f"{shown(peak)}, {shown(rise, ' %')} above the square", findings),
    }


def long_overhead_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.3: routing overhead in the long field."""
    [both] = Measured(ledger, runs).compared(FEW, LONG).values()
    return {
        "DA-04": Pairs({p: both.pooled(p, PACKETS)[::-1] for p in ON_DEMAND}),
        "DA-05": Change({adv: both.percent(adv, PACKETS) for adv in advs_of(both)}),
    }


def large_delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.4: latency and delivery in the larger field, beside the long one."""
    measured = Measured(ledger, runs)
    pairs: dict[str, tuple[Values, Values]] = {}
    for field, both in measured.compared(LONG, LARGE).items():
        more, less = {}, {}
        for p in names_of(both):
            latency, delivery = both.pooled(p, LATENCY), both.pooled(p, DELIVERY)
            pairs[measured.label(field, "latency", p)] = latency
            pairs[measured.label(field, "delivery", p)] = (delivery[1], delivery[0])
            more[p], less[p] = _difference(*latency), _difference(delivery[1], delivery[0])
        for what, of in (("latency", more), ("delivery", less)):
            pairs |= {
                measured.label(field, f"change of {what}", f"DSR > {p}"): (of[DSR], of[p])
                for p in of
                if p != DSR
            }
    return {"DA-07": Pairs(pairs, part=measured.part())}


def _difference(a: Values, b: Values) -> Values:
    return [first - second for first, second in zip(a, b, strict=True)]


def saturations(ledger: Ledger, measured: Measured, before: str, after: str, sign: int) -> dict[str, Trend]:
    """From one set-up to another, the loads at which scenarios saturate, at the loads that both have."""
    return {
        measured.label(field, measured.connections(after), p): Trend(
            [of.saturations_kbps(p, points_of(ledger)) for of in both.at_common_loads()], sign
        )
        for field, both in measured.compared(before, after).items()
        for p in names_of(both)
    }


def large_throughput_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.5: throughput in the larger field."""
    measured = Measured(ledger, runs)
    return {"DA-08": Trends(saturations(ledger, measured, LONG, LARGE, -1), part=measured.part())}


def busy_delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.7: latency and delivery with 100 connections, beside 25."""
    measured = Measured(ledger, runs)
    lost = {
        measured.label(field, what, f"{p} > {adv}"): (loss(both, p, metric), loss(both, adv, metric))
        for field, both in measured.compared(LARGE, BUSY).items()
        for metric, what in ((LATENCY, "latency"), (DELIVERY, "delivery"), (THROUGHPUT, "throughput"))
        for p in ON_DEMAND
        for adv in advs_of(both)
    }
    return {"DA-10": Pairs(lost, part=measured.part()), "DA-11": below_saturation(measured)}


def loss(both: Compared, protocol: str, metric: str) -> Values:
    """By how much a total gets worse in every scenario, in percent of the mean before."""
    after, before = both.pooled(protocol, metric)
    worse = _difference(after, before) if metric == LATENCY else _difference(before, after)
    mean = mean_interval(before).mean
    return [100 * each / mean for each in worse]


def below_saturation(measured: Measured) -> Level:
    """What ADV delivers with 100 connections before it saturates, and whether it does so sooner."""
    points, delivered = points_of(measured.ledger), {}
    sooner: list[bool | None] = []
    for field, both in measured.compared(LARGE, BUSY).items():
        for adv in advs_of(both):
            few, many = (of.saturation_kbps(adv, points) for of in both.at_common_loads())
            unsaturated = [load for load in both.after.loads if load < many]
            of_loads = [both.after.at(adv, load, DELIVERY) for load in unsaturated]
            delivered[measured.label(field, adv)] = mean_interval(pool(of_loads))
            # The same load of the axis does not tell which comes first.
            sooner.append(None if many == few else many < few)
    holds = False if False in sooner else None if None in sooner else True
    earlier = Also("ADV saturates earlier than with 25 connections", holds)
    return Level(delivered, also=[earlier], part=measured.part())


def busy_overhead_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. A.9: routing overhead with 100 connections, beside 25."""
    measured, claim = Measured(ledger, runs), ledger.claim("DA-09")
    least = wording.after(claim.tolerance, ">")
    texts: list[str] = []
    findings: list[tuple[str, Finding]] = []
    for field, both in measured.compared(LARGE, BUSY).items():
        for p in names_of(both):
            metric, what = (BYTES, "bytes") if p in ADVS else (PACKETS, "packets")
            ratio = paired_ratio(*both.pooled(p, metric))
            findings.append((measured.label(field, p), level(ratio, least, math.inf, must_lie=True)))
            texts.append(f"{measured.label(field, p, what)}: {shown(ratio)}")
    found = ruled_by("; ".join(texts), findings)
    return {"DA-09": Ruled(found.found, found.satisfied, found.broken, part=measured.part())}


def slow_delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Figs A.10 and A.13: saturation with pauses, beside none."""
    measured = Measured(ledger, runs)
    of: dict[str, Trend] = {}
    for before, after in PAUSES:
        of |= saturations(ledger, measured, before, after, +1)
    return {"DA-13": Trends(of, part=measured.part())}


def slow_overhead_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Figs A.12 and A.15: routing overhead with pauses, beside none."""
    measured = Measured(ledger, runs)
    of = {
        measured.label(field, measured.connections(after), p): Trend(both.pooled(p, PACKETS)[::-1], -1)
        for before, after in PAUSES
        for field, both in measured.compared(before, after).items()
        for p in ON_DEMAND
    }
    return {"DA-12": Trends(of, part=measured.part())}


def tables(entry: str, ledger: Ledger, runs: Runs) -> list[Table]:
    """Delivery, latency, throughput and overhead by load, in every field that was run."""
    measured = Measured(ledger, runs)
    setup = ledger.experiments[entry].setup
    pause_s = wording.after(setup["mobility"], "pause")
    made = []
    for field in measured.fields(entry):
        title = f"{setup['nodes']} nodes in {field}, pause {pause_s:g} s, {setup['traffic']}"
        made += tables_of(title, measured.loads(entry, field))
    return made


def _study(number: int, evidence: Callable[[Ledger, Runs], Found], needs: Sequence[str]) -> Study:
    entry = f"dyer2002/fig-A.{number - (number - 1) % 3}"
    run = QUICK[entry]
    listed = ", ".join(f"{load:g}" for load in run.loads)
    quick = (
        f"20 of the 30 scenarios, the first {run.share:.0%} of the measured time, loads of {listed} kb/s, "
        "ADV with 1 s only"
    )
    if entry != LONG:
        quick += "; of the field's two widths that of the captions"
    return Study(
        f"dyer2002/fig-A.{number}",
        partial(campaigns, needs),
        evidence,
        partial(tables, entry),
        quick=quick,
    )


STUDIES = (
    _study(1, long_delivery_evidence, [FEW, LONG]),
    _study(2, long_throughput_evidence, [FEW, LONG]),
    _study(3, long_overhead_evidence, [FEW, LONG]),
    _study(4, large_delivery_evidence, [LONG, LARGE]),
    _study(5, large_throughput_evidence, [LONG, LARGE]),
    _study(6, no_claims, [LARGE]),
    _study(7, busy_delivery_evidence, [LARGE, BUSY]),
    _study(8, no_claims, [BUSY]),
    _study(9, busy_overhead_evidence, [LARGE, BUSY]),
    _study(10, slow_delivery_evidence, [LARGE, SLOW, BUSY, BUSY_SLOW]),
    _study(11, no_claims, [SLOW]),
    _study(12, slow_overhead_evidence, [LARGE, SLOW, BUSY, BUSY_SLOW]),
    *(_study(number, no_claims, [BUSY_SLOW]) for number in (13, 14, 15)),
)
