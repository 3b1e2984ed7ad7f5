"""Table 1.1 of Dyer's dissertation (2002): TCP over chains of 1 to 10 hops (values of Holland and Vaidya).

D1-01 to D1-04 are the claims drawn from the table; their tolerances were set before the first run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.stats import mean_interval
from manetlab.tables import Table
from manetlab.validation.check import Check, groups, replications, verdict

PRINTED_MBPS = (1.463, 0.729, 0.4844, 0.3399, 0.2464, 0.2052, 0.1981, 0.1918, 0.1853, 0.1824)
NEAR = 0.25
"""D1-01: a value within this share of the printed one is near it."""
NEEDED_NEAR = 8
SCALES = (0.80, 1.05)
"""D1-01: how PLCP and control frames are accounted for may scale all values alike, within these bounds."""
RISE = 1.05
"""D1-02: no value may exceed its predecessor by more than this factor."""
RATIOS = {2: (0.44, 0.55), 3: (0.28, 0.39)}
"""D1-03: bounds of the ratio to one hop."""
FLAT = (0.75, 1.02)
"""D1-04: bounds that the interval of the ratio of ten hops to six must meet."""
DURATION_S = 210.0
WARMUP_S = 10.0


def check(_folder: Path, seeds: int) -> Check:
    """Ten chains, each with so many seeds, under ``cmu-1998``."""
    hops = range(1, len(PRINTED_MBPS) + 1)

    def evaluate(results: list[Result]) -> list[Table]:
        runs = [[r.totals["tcp_throughput_bps"] / 1e6 for r in group] for group in groups(results, seeds)]
        table = Table(
            f"Table 1.1 under cmu-1998, static routes, Mb/s: mean and 95 % interval of {seeds} seeds",
            ("hops", "manetlab", "printed", "ratio"),
        )
        for number, printed, values in zip(hops, PRINTED_MBPS, runs, strict=True):
            ours = mean_interval(values)
            figures = (f"{ours.mean:.4f} ± {ours.half_width:.4f}", str(printed), f"{ours.mean / printed:.3f}")
            table.add(str(number), *figures)
        return [table, claims(runs)]

    return Check([s for number in hops for s in replications(scenario(number), seeds)], evaluate)


def scenario(hops: int) -> Scenario:
    """One TCP flow from end to end of a chain."""
    return Scenario.build(
        {
            "movement": {"chain": {"nodes": hops + 1, "spacing_m": 200.0}},
            "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": hops, "start_s": 0.0}]},
            "duration_s": DURATION_S,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": "cmu-1998",
            "tcp": {"sender": "reno", "window": 8, "segment_bytes": 1460},
        }
    )


def claims(runs: Sequence[Sequence[float]]) -> Table:
    """The verdicts on the claims.

    Args:
        runs: Throughput of each seed, Mb/s, by number of hops from 1.
    """
    means = [mean_interval(values).mean for values in runs]
    table = Table("Claims on Table 1.1", ("claim", "statement", "found", "verdict"), text_columns=4)
    near, scale = _near(means)
    found = f"{near} of 10 within ±25 %" + ("" if scale == 1.0 else f" after scaling all by {scale:.2f}")
    table.add("D1-01", "the ten printed values", found, verdict(near >= NEEDED_NEAR))
    rise = max(later / earlier for earlier, later in pairwise(means))
    table.add("D1-02", "never rises when a hop is added", f"greatest step ×{rise:.3f}", verdict(rise <= RISE))
    ratios = {hops: means[hops - 1] / means[0] for hops in RATIOS}
    inside = all(low <= ratios[hops] <= high for hops, (low, high) in RATIOS.items())
    shown = ", ".join(f"{ratio:.3f} at {hops}" for hops, ratio in ratios.items())
    table.add("D1-03", "one hop's value over the hop count, to 3 hops", shown, verdict(inside))
    flat = mean_interval([ten / six for ten, six in zip(runs[9], runs[5], strict=True)])
    meets = flat.low <= FLAT[1] and flat.high >= FLAT[0]
    found = f"{flat.mean:.3f} ± {flat.half_width:.3f}"
    table.add("D1-04", "nearly flat beyond six hops: ten give 89 % of six", found, verdict(meets))
    return table


def _near(means: Sequence[float]) -> tuple[int, float]:
    """How many means are near the printed values, under the mildest allowed factor that suffices."""

    def count(scale: float) -> int:
        pairs = zip(means, PRINTED_MBPS, strict=True)
        return sum(abs(mean * scale / printed - 1) <= NEAR for mean, printed in pairs)

    steps = round((SCALES[1] - SCALES[0]) * 100)
    scales = sorted((SCALES[0] + step / 100 for step in range(steps + 1)), key=lambda scale: abs(scale - 1))
    counted = [(count(scale), round(scale, 2)) for scale in scales]
    enough = [pair for pair in counted if pair[0] >= NEEDED_NEAR]
    return enough[0] if enough else max(counted)
