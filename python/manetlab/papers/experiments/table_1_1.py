"""Table 1.1 of the dissertation, TCP over chains (values of Holland and Vaidya); Fig. 1.2 applies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from manetlab.papers import capacity, wording
from manetlab.papers.evidence import Level, Ruled, shown
from manetlab.papers.experiments import chains
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.setup import base, mobile
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.scenario import Scenario
from manetlab.stats import Interval, mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ID = "dyer2002/table-1.1"
CAPACITY = "dyer2002/fig-1.2"
Values = Mapping[int, Sequence[float]]
"""Throughput of each seed by the number of hops, in Mb/s."""


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Static chains of the table's lengths, each with the ledger's number of seeds."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[ID]
    spacing_m = chains.spacing_m(ledger, "node-spacing")
    duration = ledger.assumptions["duration"].text
    times = scale.times(wording.number(duration, "s warm-up"), wording.number(duration, "s measured"))
    chosen = {
        "routing": "static",
        "tcp.sender": "reno",
        "tcp.segment_bytes": wording.whole(experiment.setup["transport"], "byte"),
    }
    hops = experiment.axis
    return [
        Campaign(
            name=ID,
            question="How fast is one TCP connection over so many hops?",
            base=base(ledger, experiment, chosen, times),
            factors={"hops": [chains.level(each, each, [chains.tcp(0, each)], spacing_m) for each in hops]},
            replications=scale.seeds(wording.whole(duration, "seeds")),
            metrics=["tcp_throughput_bps"],
        )
    ]


def values(ledger: Ledger, runs: Runs) -> dict[int, list[float]]:
    """What was measured, by hops."""
    axis = ledger.experiments[ID].axis
    return {hops: [each / 1e6 for each in runs[ID].values("tcp_throughput_bps", hops=hops)] for hops in axis}


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """What the chains say of the table's claims."""
    return of_values(ledger, values(ledger, runs))


def of_values(ledger: Ledger, measured: Values) -> Found:
    """The same from throughput by hops."""
    flat = paired_ratio(measured[10], measured[6])
    ratios = {f"{hops} hops": paired_ratio(measured[hops], measured[1]) for hops in (2, 3)}
    return {
        "D1-01": printed_values(ledger.claim("D1-01"), measured),
        "D1-02": never_rises(ledger.claim("D1-02"), measured),
        "D1-03": Level(ratios),
        "D1-04": Level({"": flat}),
    }


def printed_values(claim: Claim, measured: Values) -> Ruled:
    """Enough means in their bands, all scaled by the mildest of the factors that the ledger allows."""
    needed = int(wording.after(claim.tolerance, "At least"))
    least, most = wording.two(claim.tolerance, "-", "from PLCP")
    means = [mean_interval(each) for each in measured.values()]
    steps = round((most - least) * 100)
    scales = sorted((round(least + step / 100, 2) for step in range(steps + 1)), key=lambda s: abs(s - 1))
    counted = [(_near(claim, means, scale), scale) for scale in scales]
    count, scale = next((each for each in counted if each[0] >= needed), max(counted))
    possible = max(_meeting(claim, means, scale) for scale in scales)
    scaled = "" if scale == 1.0 else f" after scaling all by {scale:g}"
    found = f"{count} of {len(means)} within their bands{scaled}"
    return Ruled(found, satisfied=count >= needed, broken=possible < needed)


def _near(claim: Claim, means: Sequence[Interval], scale: float) -> int:
    return sum(low <= scale * mean.mean <= high for mean, (low, high) in _banded(claim, means))


def _meeting(claim: Claim, means: Sequence[Interval], scale: float) -> int:
    return sum(
        low <= scale * mean.high and scale * mean.low <= high for mean, (low, high) in _banded(claim, means)
    )


def _banded(claim: Claim, means: Sequence[Interval]) -> list[tuple[Interval, tuple[float, float]]]:
    return [(mean, claim.band(index)) for index, mean in enumerate(means)]


def never_rises(claim: Claim, measured: Values) -> Ruled:
    """No mean above its predecessor by more than the ledger's share."""
    most = 1 + wording.number(claim.tolerance, "%") / 100
    steps = [paired_ratio(later, earlier) for earlier, later in pairwise(measured.values())]
    greatest = max(steps, key=lambda step: step.mean)
    found = f"greatest step ×{greatest.mean:.3f}"
    return Ruled(found, satisfied=greatest.mean <= most, broken=any(step.low > most for step in steps))


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Ours beside the printed table."""
    table = Table("Table 1.1, Mb/s: mean and 95 % interval", ("hops", "ours", "printed", "ratio"))
    printed = capacity.table_mbps(ledger)
    for (hops, each), value in zip(values(ledger, runs).items(), printed, strict=True):
        ours = mean_interval(each)
        table.add(str(hops), shown(ours), f"{value:g}", f"{ours.mean / value:.3f}")
    return [table]


def capacity_scenario(ledger: Ledger) -> Scenario:
    """Fig. 1.2's field, in which nobody sends; node 0 and node 1 are the ends of the path."""
    experiment = ledger.experiments[CAPACITY]
    length_s = wording.number(ledger.assumptions["run-length"].text, "s")
    fields = base(ledger, experiment, mobile(experiment), {"duration_s": length_s, "traffic.flows": []})
    return Scenario.build(fields)


def capacity_evidence(ledger: Ledger, _runs: Runs) -> Found:
    """The capacity takes the table's values and no other."""
    claim = ledger.claim("D1-05")
    found = set(capacity.over_time(ledger, capacity_scenario(ledger), 0, 1))
    listed = {0.0, *capacity.table_mbps(ledger)}
    low, high = claim.band()
    satisfied = found <= listed and all(low <= each <= high for each in found)
    text = ", ".join(f"{each:g}" for each in sorted(found, reverse=True))
    return {"D1-05": Ruled(f"over a run it takes {text} Mb/s", satisfied=satisfied)}


def capacity_tables(ledger: Ledger, _runs: Runs) -> list[Table]:
    """How long the capacity has which value."""
    series = capacity.over_time(ledger, capacity_scenario(ledger), 0, 1)
    table = Table("Fig. 1.2: capacity of one connection over a run", ("Mb/s", "share of time"))
    for value in sorted(set(series), reverse=True):
        table.add(f"{value:g}", f"{100 * series.count(value) / len(series):.1f} %")
    table.notes.append(f"Mean capacity {sum(series) / len(series):.3f} Mb/s.")
    return [table]


STUDIES = (
    Study(ID, campaigns, evidence, tables, quick="the same as in full"),
    Study(
        CAPACITY, lambda _ledger, _scale: [], capacity_evidence, capacity_tables, quick="the same as in full"
    ),
)
