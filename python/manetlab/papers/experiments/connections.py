"""What twice the CBR connections change (Figs 3.2, 3.4 and 3.6), and the studies of Figs 3.1 to 3.6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Change, Pairs, Ruled, Trend, percent, shown
from manetlab.papers.experiments import ftp, several_tcp
from manetlab.papers.experiments.by_load import (
    ADV_1,
    ADV_5,
    ADVS,
    AODV,
    BYTES,
    DSDV,
    DSR,
    FEW,
    LATENCY,
    MANY,
    ON_DEMAND,
    PACKETS,
    THROUGHPUT,
    Compared,
    Loads,
    campaign,
    tables,
)
from manetlab.papers.experiments.ftp import ADV
from manetlab.papers.experiments.steady_state import (
    QUICK,
    delivery_evidence,
    overhead_evidence,
    throughput_evidence,
)
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Finding, banded, change, level, ruled_by
from manetlab.stats import mean_interval, paired_ratio

if TYPE_CHECKING:
    from manetlab.campaign import Campaign


def _both(runs: Runs) -> Compared:
    """Fewer and more connections."""
    return Compared(Loads(runs[FEW]), Loads(runs[MANY]))


def more_delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.2: latency and delivery."""
    both = _both(runs)
    low, high = wording.two(ledger.claim("D3-17").tolerance, "-", "")
    most = wording.after(ledger.claim("D3-18").tolerance, "<=")
    moderate, up_to = both.between(low, high), both.between(0.0, most)
    return {
        "D3-14": Change({DSDV: both.percent(DSDV, LATENCY)}),
        "D3-15": _little_impact(ledger.claim("D3-15"), both),
        "D3-16": _earlier(ledger.claim("D3-16"), both),
        "D3-17": banded(ledger.claim("D3-17"), {p: both.points(p, moderate) for p in ON_DEMAND}, -1),
        "D3-18": banded(ledger.claim("D3-18"), {p: both.points(p, up_to) for p in (DSDV, *ADVS)}),
    }


def _little_impact(claim: Claim, both: Compared) -> Ruled:
    """Latency within the band under load, and higher at the lowest load."""
    loaded = both.between(wording.number(claim.tolerance, "Kbps"), both.loads[-1])
    findings: list[tuple[str, Finding]] = []
    texts = []
    for adv in ADVS:
        under_load, lowest = both.percent(adv, LATENCY, loaded), both.percent(adv, LATENCY, both.loads[:1])
        findings.append((adv, level(under_load, *claim.band())))
        findings.append((f"{adv}, lowest", change(lowest, 0.0, float("inf"), +1)))
        texts.append(f"{adv}: {shown(under_load)}, at the lowest load {shown(lowest)}")
    return ruled_by("; ".join(texts), findings)


def _earlier(claim: Claim, both: Compared) -> Ruled:
    """Latency is higher at the load that the claim names, and alike at the ends of the axis."""
    middle = wording.number(claim.tolerance, "Kbps")
    width = wording.number(claim.tolerance, "%") / 100
    findings: list[tuple[str, Finding]] = []
    texts = []
    for name in ON_DEMAND:
        ratios = [
            paired_ratio(*both.pooled(name, LATENCY, [load]))
            for load in (both.loads[0], middle, both.loads[-1])
        ]
        findings.append((name, level(ratios[1], 1.0, float("inf"), must_lie=True)))
        findings += [(f"{name}, ends", level(each, 1 - width, 1 + width)) for each in (ratios[0], ratios[2])]
        texts.append(f"{name}: " + ", ".join(map(shown, ratios)))
    return ruled_by("; ".join(texts), findings)


def more_throughput_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.4: throughput."""
    both = _both(runs)
    peaks = percent(*(of.peak(AODV, THROUGHPUT) for of in (both.after, both.before)))
    low, high = wording.two(ledger.claim("D3-19").tolerance, "-", "Kbps")
    names = [(ADV_5, AODV), (ADV_1, AODV), (AODV, DSR)]
    order = {
        f"{a} > {b}": (both.after.over(a, THROUGHPUT, low, high), both.after.over(b, THROUGHPUT, low, high))
        for a, b in names
    }
    return {
        "D3-25": Change({DSR: both.percent(DSR, THROUGHPUT)}),
        "D3-26": banded(ledger.claim("D3-26"), {"": peaks}, -1),
        "D3-27": Pairs(order),
    }


def more_overhead_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.6: routing overhead."""
    both = _both(runs)
    volume = {adv: both.pooled(adv, BYTES, both.loads) for adv in ADVS}
    on_demand = [mean_interval(both.pooled(p, BYTES, both.loads)[0]).mean for p in ON_DEMAND]
    largest = min(mean_interval(many).mean for many, _ in volume.values()) > max(on_demand)
    return {
        "D3-34": Change({p: both.percent(p, PACKETS) for p in (DSDV, *ADVS)}),
        "D3-35": Trend(
            [volume[ADV_1][1], volume[ADV_1][0]], +1, also=[Also("ADV's bytes are the largest", largest)]
        ),
        "D3-36": Change({AODV: both.percent(AODV, PACKETS)}),
        "D3-37": Change({DSR: both.percent(DSR, PACKETS)}),
    }


def _campaigns(keys: Sequence[str], ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [campaign(ledger, scale, key) for key in keys]


def _with_transfers(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Fig. 3.3 with the transfers that one of its claims sets beside it."""
    return [campaign(ledger, scale, FEW), *ftp.campaigns(ledger, scale, [several_tcp.FEW], [ADV, AODV])]


def _study(
    key: str,
    evidence: Callable[[Ledger, Runs], Found],
    keys: Sequence[str],
    campaigns: Callable[[Ledger, Scale], list[Campaign]] | None = None,
) -> Study:
    made = campaigns or partial(_campaigns, keys)
    shown_key = MANY if MANY in keys else FEW
    return Study(key, made, evidence, partial(tables, shown_key), quick=QUICK)


STUDIES = (
    _study(FEW, delivery_evidence, [FEW]),
    _study("dyer2002/fig-3.3", throughput_evidence, [FEW], _with_transfers),
    _study("dyer2002/fig-3.5", overhead_evidence, [FEW]),
    _study(MANY, more_delivery_evidence, [FEW, MANY]),
    _study("dyer2002/fig-3.4", more_throughput_evidence, [FEW, MANY]),
    _study("dyer2002/fig-3.6", more_overhead_evidence, [FEW, MANY]),
)
