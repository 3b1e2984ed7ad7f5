"""CBR flows by offered load, in the square and in rectangles: the dissertation's runs, and how they are read.

`steady_state`, `connections` and `rectangles` say what its figures show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Values, percent, shown
from manetlab.papers.experiments.ftp import pool
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, base, interval_s, lateness, mobile, routing
from manetlab.papers.study import Runs, Scale
from manetlab.stats import Interval, mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

FEW, MANY = "dyer2002/fig-3.1", "dyer2002/fig-3.2"
ADV_1, ADV_5, AODV, DSR, DSDV = "ADV-1sec", "ADV-5sec", "AODV", "DSR", "DSDV"
ADVS, ON_DEMAND = (ADV_1, ADV_5), (AODV, DSR)
LATENCY, DELIVERY, THROUGHPUT = "cbr_latency_mean_s", "cbr_delivery_fraction", "cbr_throughput_bps"
PACKETS, BYTES, FRAMES = "routing_packets_per_s", "routing_bytes_per_s", "routing_mac_frames_per_s"
SHARE = 0.08
"""What share of the paper's measured time ``--quick`` runs."""
ROUND = 100
"""With 50 connections ``--quick`` runs the lowest load and those that are multiples of this, in kb/s."""


def loads(ledger: Ledger) -> list[float]:
    """The offered loads in kb/s."""
    return [float(load) for load in ledger.assumptions["offered-loads-on-the-x-axis"].assume]


def flows(ledger: Ledger, key: str, kbps: float) -> Fields:
    """The CBR connections of a figure at an offered load, by dotted name."""
    text = ledger.experiments[key].setup["traffic"]
    count, packet_bytes = wording.whole(text, "CBR connections"), wording.whole(text, "byte")
    return {
        "traffic.random.cbr": count,
        "traffic.random.cbr_bytes": packet_bytes,
        "traffic.random.cbr_interval_s": interval_s(packet_bytes, kbps / count),
    }


def campaign(ledger: Ledger, scale: Scale, key: str) -> Campaign:
    """All protocols at all loads."""
    listed = loads(ledger)
    if key == MANY and not scale.full:
        listed = [listed[0], *(load for load in listed if load % ROUND == 0)]
    experiment = ledger.experiments[key]
    return at_loads(ledger, scale, key, mobile(experiment), experiment.systems, listed)


def at_loads(
    ledger: Ledger,
    scale: Scale,
    key: str,
    movement: Fields,
    protocols: Sequence[str],
    listed: Sequence[float],
    name: str | None = None,
    share: float = SHARE,
) -> Campaign:
    """Protocols at offered loads.

    Args:
        ledger: The ledger.
        scale: How much is run.
        key: The experiment.
        movement: Fields of the movement, by dotted name.
        protocols: By the dissertation's names.
        listed: The loads, in kb/s.
        name: The campaign's, if not the experiment's.
        share: What share of the paper's measured time ``--quick`` runs.
    """
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[key]
    setup = experiment.setup
    times = scale.times(setup["warmup_s"], setup["duration_s"], share)
    return Campaign(
        name=name or key,
        question="How do the protocols fare as the load grows?",
        base=base(ledger, experiment, movement, lateness(ledger), times, {"traffic.random.tcp": 0}),
        factors={
            "routing": [
                {"label": each, "fields": {"routing": routing(experiment, each)}} for each in protocols
            ],
            "load": [{"label": load, "fields": flows(ledger, key, load)} for load in listed],
        },
        replications=scale.scenarios(ledger, setup["scenarios"]),
        metrics=[DELIVERY, LATENCY, THROUGHPUT],
    )


class Loads:
    """The runs of a set-up.

    Args:
        samples: The campaign's.
        only: The loads that are looked at, in kb/s; all that were run if not given.
    """

    def __init__(self, samples: Samples, only: Sequence[float] | None = None) -> None:
        self.samples = samples
        self.loads = sorted(only or (float(str(load)) for load in samples.labels("load")))

    def at(self, name: str, load: float, metric: str, factor: float = 1.0) -> Values:
        """A total of every scenario."""
        return [factor * each for each in self.samples.filled(metric, routing=name, load=load)]

    def between(self, low: float, high: float) -> list[float]:
        """The loads that were run within bounds."""
        return [load for load in self.loads if low <= load <= high]

    def over(self, name: str, metric: str, low: float = 0.0, high: float = float("inf")) -> Values:
        """The mean of a total over loads, in every scenario."""
        return pool([self.at(name, load, metric) for load in self.between(low, high)])

    def means(self, name: str, metric: str) -> list[float]:
        """The mean over scenarios at each load."""
        return [mean_interval(self.at(name, load, metric)).mean for load in self.loads]

    def peak(self, name: str, metric: str, factor: float = 1.0) -> Values:
        """A total of every scenario at the load at which its mean is greatest."""
        means = self.means(name, metric)
        return self.at(name, self.loads[means.index(max(means))], metric, factor)

    def saturation_kbps(self, name: str, points: float) -> float:
        """The first load beyond the peak whose delivery is so many points below it; infinite if none."""
        means = self.means(name, DELIVERY)
        best = means.index(max(means))
        below = [
            load
            for load, mean in list(zip(self.loads, means, strict=True))[best:]
            if 100 * (means[best] - mean) >= points
        ]
        return below[0] if below else float("inf")

    def saturations_kbps(self, name: str, points: float) -> Values:
        """The same of each scenario, beyond the load at which the ensemble delivers most.

        A scenario that does not saturate counts with the load that would come next on the axis.
        """
        means = self.means(name, DELIVERY)
        best = means.index(max(means))
        beyond = self.loads[best:]
        following = 2 * beyond[-1] - self.loads[-2]
        delivery = [self.at(name, load, DELIVERY) for load in beyond]
        return [
            next(
                (load for load, share in zip(beyond, of, strict=True) if 100 * (of[0] - share) >= points),
                following,
            )
            for of in zip(*delivery, strict=True)
        ]


class Compared:
    """Two set-ups, at the loads that both have.

    Args:
        before: The runs of one.
        after: Those of the other.
    """

    def __init__(self, before: Loads, after: Loads) -> None:
        self.before, self.after = before, after
        self.loads = [load for load in before.loads if load in after.loads]

    def between(self, low: float, high: float) -> list[float]:
        """The loads within bounds."""
        return [load for load in self.loads if low <= load <= high]

    def at_common_loads(self) -> tuple[Loads, Loads]:
        """Before and after, as if no other loads had been run."""
        return Loads(self.before.samples, self.loads), Loads(self.after.samples, self.loads)

    def pooled(self, name: str, metric: str, loads: Sequence[float] | None = None) -> tuple[Values, Values]:
        """The mean of a total over loads, all if none are given, in every scenario after and before."""
        after, before = (
            pool([of.at(name, load, metric) for load in loads or self.loads])
            for of in (self.after, self.before)
        )
        return after, before

    def percent(self, name: str, metric: str, loads: Sequence[float] | None = None) -> Interval:
        """The change from before to after, in percent."""
        return percent(*self.pooled(name, metric, loads))

    def points(self, name: str, loads: Sequence[float]) -> Interval:
        """The change of the delivery fraction in percentage points."""
        return paired_interval(*self.pooled(name, DELIVERY, loads)).scaled(100)


def tables(key: str, ledger: Ledger, runs: Runs) -> list[Table]:
    """Delivery, latency, throughput and overhead by load."""
    return tables_of(ledger.experiments[key].setup["traffic"], Loads(runs[key]))


def tables_of(title: str, of: Loads) -> list[Table]:
    """The same of a set-up, whose name opens the titles."""
    names = [str(each) for each in of.samples.labels("routing")]
    made = []
    for what, metric, factor in (
        ("delivered, %", DELIVERY, 100.0),
        ("latency, ms", LATENCY, 1e3),
        ("throughput, kb/s", THROUGHPUT, 1e-3),
        ("routing packets/s", PACKETS, 1.0),
        ("routing bytes/s", BYTES, 1.0),
    ):
        table = Table(f"{title}: {what}", ("load, kb/s", *names))
        for load in of.loads:
            cells = [mean_interval(of.at(name, load, metric)).scaled(factor) for name in names]
            table.add(f"{load:g}", *map(shown, cells))
        made.append(table)
    return made
