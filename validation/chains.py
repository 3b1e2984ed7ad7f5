"""TCP Reno over chains of 1 to 8 hops, beside ns-2 on the same files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manetlab.running import Result
from manetlab.stats import Interval, mean_interval
from manetlab.tables import Table
from validation.check import NS_2_35, Check, as_ns2_ran, groups, ns2_runs, replications, verdict

HOPS = range(1, 9)
SHORT = 3
"""Up to here the flow is limited by the medium alone, and the tolerance is narrow."""
SHORT_TOLERANCE = 0.03
LONG_TOLERANCE = 0.08


def check(folder: Path, seeds: int, version: str = NS_2_35) -> Check:
    """The chains in ``folder`` that this version of ns-2 ran, each with so many seeds."""
    theirs: dict[int, list[dict[str, Any]]] = {}
    for run in ns2_runs(folder, version=version):
        for hops in HOPS:
            if run["scen"] == f"chain{hops}.tcl":
                theirs.setdefault(hops, []).append(run)
    scenarios = [s for hops in sorted(theirs) for s in replications(as_ns2_ran(theirs[hops][0]), seeds)]

    def evaluate(results: list[Result]) -> list[Table]:
        count = max(len(runs) for runs in theirs.values())
        beside = "" if version == NS_2_35 else f" beside ns-{version}"
        table = Table(
            f"TCP throughput over chains{beside}, Mb/s: "
            f"mean and 95 % interval of {seeds} seeds, ns-2 of {count}",
            ("hops", "manetlab", f"ns-{version}", "difference", "tolerance", "verdict"),
        )
        for hops, ours in zip(sorted(theirs), groups(results, seeds), strict=True):
            of_ours = mean_interval([result.totals["tcp_throughput_bps"] / 1e6 for result in ours])
            of_ns2 = mean_interval([run["tcp_mbps"] for run in theirs[hops]])
            tolerance = (
                f"{SHORT_TOLERANCE:.0%}" if hops <= SHORT else f"{LONG_TOLERANCE:.0%} or ns-2's interval"
            )
            cells = (f"{i.mean:.4f} ± {i.half_width:.4f}" for i in (of_ours, of_ns2))
            difference = f"{of_ours.mean / of_ns2.mean - 1:+.2%}"
            table.add(str(hops), *cells, difference, tolerance, verdict(agrees(hops, of_ours.mean, of_ns2)))
        return [table]

    return Check(scenarios, evaluate)


def agrees(hops: int, ours: float, theirs: Interval) -> bool:
    """Is our mean within the tolerance for chains of that length?"""
    off = abs(ours / theirs.mean - 1)
    if hops <= SHORT:
        return off <= SHORT_TOLERANCE
    return off <= LONG_TOLERANCE or theirs.low <= ours <= theirs.high
