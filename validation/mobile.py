"""Routing protocols in mobile networks, beside ns-2 on the same movement and traffic files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manetlab.running import Result
from manetlab.stats import Interval, paired_interval
from manetlab.tables import Table
from validation import chains
from validation.check import NS_2_35, Check, as_ns2_ran, groups, ns2_runs, replications, verdict

GROUPS = ("1tcp", "10tcp", "cbr25")
"""Traffic that ns-2 ran with each protocol; with AODV only, the second."""

VARIANTS = ("1tcp-AODV-sack-delack", "1tcp-AODV-vegas", "1tcp-AODV-no-rts")
"""SACK with delayed ACKs, TCP Vegas, and 802.11 without RTS, as the ends of the names of ns-2's runs."""

OF_2001 = (*GROUPS, "cbr25L300", "cbr25L400")
"""Traffic that ns-2.1b8a ran with AODV and DSR."""

REPAIRED = tuple(f"{load}-AODV-localrepair" for load in ("1tcp", "10tcp", "cbr25"))
"""Its runs in which AODV's local repair was compiled in."""

TITLES = {
    "localrepair": "local repair",
    "sack-delack": "SACK with delayed ACKs",
    "vegas": "TCP Vegas",
    "no-rts": "without RTS",
}
"""What tables call the variants."""


@dataclass(frozen=True)
class Measure:
    """A measure that both simulators have.

    Attributes:
        label: Its name and unit.
        ours: Its key in our totals.
        theirs: Its key in ns-2's measurements.
        factor: What our value is multiplied by to be in ns-2's unit.
        tolerance: How far the means may be apart, as a share of ns-2's.
        zero_suffices: Is it enough that the interval of the difference holds zero and is narrow?
        widest: The half-width up to which an interval is narrow, as a share of ns-2's mean.
    """

    label: str
    ours: str
    theirs: str
    factor: float
    tolerance: float
    zero_suffices: bool
    widest: float = 0.15


MEASURES = (
    Measure("TCP throughput, Mb/s", "tcp_throughput_bps", "tcp_mbps", 1e-6, 0.10, True),
    Measure("CBR delivery fraction", "cbr_delivery_fraction", "cbr_delivery", 1.0, 0.10, True),
    Measure("routing packets per s", "routing_packets_per_s", "routing_pkts_per_s", 1.0, 0.10, True),
    Measure("CBR mean latency, s", "cbr_latency_mean_s", "cbr_latency_s", 1.0, 0.25, False),
)
WIDER = tuple(replace(m, tolerance=0.12, widest=0.20) if m.zero_suffices else m for m in MEASURES)
"""For DSDV and DSR, of whose runs in ns-2 some are missing, or in which single seconds weigh much."""


@dataclass(frozen=True)
class Comparison:
    """Our means beside ns-2's, in pairs of the same scenario.

    Attributes:
        ours: Our mean over the scenarios.
        theirs: ns-2's mean over the scenarios.
        difference: The mean difference and its 95 % interval over the scenarios.
    """

    ours: float
    theirs: float
    difference: Interval

    def agrees(self, measure: Measure) -> bool:
        """Is the measure within its tolerance?"""
        if abs(self.ours - self.theirs) <= measure.tolerance * abs(self.theirs):
            return True
        narrow = self.difference.half_width <= measure.widest * abs(self.theirs)
        return measure.zero_suffices and self.difference.holds_zero and narrow


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """The comparison of one value a scenario, ours and ns-2's."""
    n = len(theirs)
    return Comparison(math.fsum(ours) / n, math.fsum(theirs) / n, paired_interval(ours, theirs))


def check(
    folder: Path,
    seeds: int,
    scenarios_per_group: int | None = None,
    protocol: str = "AODV",
    names: Sequence[str] = (),
    version: str = NS_2_35,
) -> Check:
    """The mobile networks in ``folder``, each with so many seeds; all of a group, or the first so many.

    ``names`` are the ends of the names of ns-2's runs, those of `GROUPS` with the protocol if none are
    given; ``version`` is ns-2's. Each network counts once, with the mean of our seeds and the mean of ns-2's.
    """
    theirs = {
        name: found[:scenarios_per_group]
        for name in names or [f"{group}-{protocol}" for group in GROUPS]
        if (found := by_network(ns2_runs(folder, protocol, version), name))
    }
    scenarios = [
        scenario
        for networks in theirs.values()
        for runs in networks
        for scenario in replications(as_ns2_ran(runs[0]), seeds)
    ]

    def evaluate(results: list[Result]) -> list[Table]:
        pieces = groups(results, seeds)
        return [
            _table(name, seeds, [next(pieces) for _ in networks], networks, version)
            for name, networks in theirs.items()
        ]

    return Check(scenarios, evaluate)


def by_network(runs: list[dict[str, Any]], name: str) -> list[list[dict[str, Any]]]:
    """ns-2's runs whose names end so, those of each network together."""
    networks: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        if run["id"] == f"{run['scen'].removesuffix('.mov')}-{name}":
            networks.setdefault(run["scen"], []).append(run)
    return [networks[scenario] for scenario in sorted(networks)]


def check_variants(folder: Path, seeds: int) -> Check:
    """The mobile networks with AODV and other senders, receivers or MAC settings."""
    return check(folder, seeds, names=VARIANTS)


def check_dsdv(folder: Path, seeds: int) -> Check:
    """The mobile networks in which ns-2.35 finished with DSDV."""
    return check(folder, seeds, protocol="DSDV")


def check_dsr(folder: Path, seeds: int) -> Check:
    """The mobile networks with DSR."""
    return check(folder, seeds, protocol="DSR")


def check_2001(folder: Path, seeds: int) -> Check:
    """The mobile networks and chains that ns-2.1b8a of June 2001 was measured on, under its profile."""
    parts = [
        check(folder, seeds, protocol=rp, names=[f"{load}-{rp}" for load in OF_2001], version="2.1b8a")
        for rp in ("AODV", "DSR")
    ]
    parts.append(check(folder, seeds, names=REPAIRED, version="2.1b8a"))
    return chains.check(folder, seeds, "2.1b8a").then(*parts)


def _table(
    name: str,
    seeds: int,
    ours: list[Sequence[Result]],
    theirs: list[list[dict[str, Any]]],
    version: str,
) -> Table:
    columns = (
        "measure",
        "manetlab",
        f"ns-{version}",
        "difference",
        "95 % of the difference",
        "tolerance",
        "verdict",
    )
    group, protocol, *variant = name.split("-", 2)
    counts = sorted({len(runs) for runs in theirs})
    of_ns2 = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    beside = "" if version == NS_2_35 else f" beside ns-{version}"
    title = f"{group} over {protocol}{''.join(f', {TITLES[v]}' for v in variant)}{beside}"
    table = Table(f"{title}: {len(theirs)} networks, {seeds} seeds each, ns-2 {of_ns2}", columns)
    for measure in MEASURES if protocol == "AODV" else WIDER:
        of_theirs = [
            [float(run[measure.theirs]) for run in runs if run[measure.theirs] is not None] for runs in theirs
        ]
        if not all(of_theirs):
            continue
        compared = compare(
            [_mean(results, measure) for results in ours],
            [math.fsum(values) / len(values) for values in of_theirs],
        )
        half = compared.difference.half_width / compared.theirs
        table.add(
            measure.label,
            f"{compared.ours:.4f}",
            f"{compared.theirs:.4f}",
            f"{compared.ours / compared.theirs - 1:+.1%}",
            f"{compared.difference.mean / compared.theirs:+.1%} ± {half:.1%}",
            f"{measure.tolerance:.0%}",
            verdict(compared.agrees(measure)),
        )
    return table


def _mean(results: Sequence[Result], measure: Measure) -> float:
    values = [result.totals[measure.ours] for result in results]
    known = [float(value) for value in values if value is not None]
    return math.fsum(known) / len(known) * measure.factor if known else math.nan
