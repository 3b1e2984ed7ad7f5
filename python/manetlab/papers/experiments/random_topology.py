"""One TCP beside CBR in a large moving network, with and without the heuristic: Bansal and Barua, Table 2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Pairs, Ruled, Trend, Values, percent, shown
from manetlab.papers.experiments.ftp import pool
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples, filled
from manetlab.papers.setup import ROUTINGS, Fields, base
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Finding, level, ruled_by
from manetlab.stats import mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ID = "bansal2003/table-2"
AODV, DSR, HEURISTIC = "AODV", "DSR", " + heuristic"
HOPS, DELAY, OVERHEAD = "hops_mean", "latency_mean_s", "overhead"
THROUGHPUT = "throughput_bps"
QUICK = "the first, the middle and the last of the five pause times; each run as long as in full"
NO_QUEUES = "the length of queues is not among what a run measures"
NO_OVERLAP = "on how many paths a node is at once is not among what a run measures"
NOT_SCORED = "the ledger asks only for the sign, because the article's table contradicts the sentence"
SENDERS = {False: "reno", True: "bansal-barua"}


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Both protocols under both senders at every pause time."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[ID]
    pauses = [float(pause) for pause in experiment.axis]
    if not scale.full:
        pauses = [pauses[0], pauses[len(pauses) // 2], pauses[-1]]
    duration_s = wording.number(ledger.assumptions["run-length-4"].text, "s") * scale.duration_share
    return [
        Campaign(
            name=ID,
            question="Does the heuristic help, and which protocol is better at which mobility?",
            base=base(ledger, experiment, network(ledger), {"warmup_s": 0.0, "duration_s": duration_s}),
            factors={"system": system_levels(experiment.systems), "pause": pause_levels(pauses)},
            replications=scenarios(ledger, scale),
            metrics=["tcp_throughput_bps"],
        )
    ]


def system_levels(names: Sequence[str]) -> list[dict[str, Any]]:
    """Protocols, with the heuristic or without, as levels."""
    return [
        {
            "label": name,
            "fields": {
                "routing": ROUTINGS[name.removesuffix(HEURISTIC)],
                "tcp.sender": SENDERS[name.endswith(HEURISTIC)],
            },
        }
        for name in names
    ]


def pause_levels(pauses: Sequence[float]) -> list[dict[str, Any]]:
    """Pause times, as levels."""
    return [{"label": pause, "fields": {"movement.waypoint.pause_s": pause}} for pause in pauses]


def scenarios(ledger: Ledger, scale: Scale) -> int:
    """How many random scenarios."""
    return scale.scenarios(ledger, int(wording.after(ledger.assumptions["scenarios"].text, "at least")))


def network(ledger: Ledger) -> Fields:
    """Nodes, field and flows, by dotted name."""
    setup = ledger.experiments[ID].setup
    width_m, height_m = wording.two(ledger.assumptions["field"].text, "m x", "m")
    packets_per_s = wording.number(ledger.assumptions["cbr-rate-2"].text, "packets/s")
    low, high = wording.two(ledger.assumptions["alpha-and-beta"].text, "s and", "s")
    return {
        "movement.waypoint.nodes": int(wording.listed(setup["nodes"], "(")[0]),
        "movement.waypoint.width_m": width_m,
        "movement.waypoint.height_m": height_m,
        "movement.waypoint.speed_max": wording.two(ledger.assumptions["speed"].text, "-", "m/s")[1],
        "movement.waypoint.speed_min": wording.two(
            ledger.assumptions["lower-speed-bound"].text, ",", "] m/s"
        )[0],
        # As setdest does it: nodes pause first, so that the longest pause makes a network that stands still.
        "movement.waypoint.start": "uniform",
        "traffic.random.tcp": wording.whole(setup["traffic"], "TCP"),
        "traffic.random.cbr": wording.whole(setup["traffic"], "CBR"),
        "traffic.random.cbr_bytes": wording.whole(setup["traffic"], "bytes"),
        "traffic.random.cbr_interval_s": 1 / packets_per_s,
        "tcp.segment_bytes": wording.whole(setup["transport"], "byte"),
        "tcp.window": wording.whole(setup["transport"], "segments"),
        "tcp.moderated_rto_min_s": low,
        "tcp.moderated_rto_max_s": high,
    }


class Pauses:
    """The runs, by pause time.

    Args:
        samples: The campaign's.
        packet_bytes: Payload of TCP's and of CBR's packets.
    """

    def __init__(self, samples: Samples, packet_bytes: int) -> None:
        self.samples, self.packet_bytes = samples, packet_bytes
        self.pauses = sorted(float(str(pause)) for pause in samples.labels("pause"))

    def flow(self, system: str, pause: float, metric: str, factor: float = 1.0) -> Values:
        """A measure of the TCP flow in every scenario; NaN where nothing arrived."""
        values = self.samples.flow(metric, system=system, pause=pause)
        return [math.nan if each is None else factor * each for each in values]

    def throughput(self, system: str, pause: float) -> Values:
        """In kb/s."""
        return self.flow(system, pause, THROUGHPUT, 1e-3)

    def overhead(self, system: str, pause: float) -> Values:
        """Routing packets for each data packet that arrived, in every scenario."""
        place = {"system": system, "pause": pause}
        rates = (
            self.samples.values(metric, **place)
            for metric in ("routing_packets_per_s", "tcp_throughput_bps", "cbr_throughput_bps")
        )
        return [
            8 * self.packet_bytes * packets / (tcp + cbr) for packets, tcp, cbr in zip(*rates, strict=True)
        ]

    def values(self, system: str, pause: float, metric: str) -> Values:
        """Any of the measures."""
        if metric == THROUGHPUT:
            return self.throughput(system, pause)
        return self.overhead(system, pause) if metric == OVERHEAD else self.flow(system, pause, metric)


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """What the runs say of the table."""
    of = Pauses(runs[ID], wording.whole(ledger.experiments[ID].setup["transport"], "byte"))
    levels = {
        "B-18": (AODV, THROUGHPUT),
        "B-19": (AODV + HEURISTIC, THROUGHPUT),
        "B-20": (DSR, THROUGHPUT),
        "B-21": (DSR + HEURISTIC, THROUGHPUT),
        "B-22": (AODV, HOPS),
        "B-23": (DSR, HOPS),
        "B-26": (AODV, OVERHEAD),
        "B-27": (DSR, OVERHEAD),
        "B-30": (AODV, DELAY),
        "B-31": (DSR, DELAY),
    }
    axis = [float(pause) for pause in ledger.experiments[ID].axis]
    return {
        **{claim: _levels(ledger.claim(claim), of, axis, *what) for claim, what in levels.items()},
        "B-32": _gains(ledger.claim("B-32"), of, axis, AODV),
        "B-33": _gains(ledger.claim("B-33"), of, axis, DSR),
        "B-34": _most_at_first(of),
        "B-35": Pairs({"": (of.throughput(AODV, axis[0]), of.throughput(DSR, axis[0]))}),
        "B-36": Trend([_lead(of, pause) for pause in of.pauses], -1),
        "B-38": _greater(of, HOPS),
        "B-40": _greater(of, OVERHEAD),
        "B-42": _inverse(ledger.claim("B-42"), of),
        "B-43": Trend([_present(of.flow(DSR, pause, HOPS)) for pause in of.pauses], +1),
    }


def _present(values: Values) -> Values:
    """Values with the mean of the others in place of those that are missing."""
    return filled([None if math.isnan(each) else each for each in values])


def _levels(claim: Claim, of: Pauses, axis: list[float], system: str, metric: str) -> Ruled:
    """Are so many of the means within their bands? Of fewer pause times that cannot be excluded."""
    wanted = int(wording.listed(claim.tolerance, "of 5")[-1])
    means = {pause: mean_interval(_present(of.values(system, pause, metric))) for pause in of.pauses}
    inside = [
        low <= mean.mean <= high
        for pause, mean in means.items()
        for low, high in [claim.band(axis.index(pause))]
    ]
    text = ", ".join(f"{pause:g} s: {shown(mean)}" for pause, mean in means.items())
    possible = sum(inside) + len(axis) - len(inside)
    return Ruled(text, satisfied=sum(inside) >= wanted, broken=possible < wanted)


def _gain(of: Pauses, protocol: str, pause: float) -> Values:
    """The heuristic's gain in every scenario in percent of the mean without it."""
    plain = of.throughput(protocol, pause)
    mean = sum(plain) / len(plain)
    with_it = of.throughput(protocol + HEURISTIC, pause)
    return [100 * (a - b) / mean for a, b in zip(with_it, plain, strict=True)]


def _gains(claim: Claim, of: Pauses, axis: list[float], protocol: str) -> Ruled:
    """A gain over all pause times, in its band without pauses, and nowhere significantly below its band."""
    changes = {
        pause: percent(of.throughput(protocol + HEURISTIC, pause), of.throughput(protocol, pause))
        for pause in of.pauses
    }
    overall = mean_interval(pool([_gain(of, protocol, pause) for pause in of.pauses]))
    findings: list[tuple[str, Finding]] = [
        ("mean", level(overall, 0.0, float("inf"), must_lie=True)),
        ("no pause", level(changes[axis[0]], *claim.band())),
    ]
    low_enough = any(each.high < claim.band(axis.index(pause))[0] for pause, each in changes.items())
    text = ", ".join(f"{pause:g} s: {shown(each)}" for pause, each in changes.items())
    found = ruled_by(f"{text}; mean {shown(overall)}", findings)
    return Ruled(
        found.found, satisfied=bool(found.satisfied) and not low_enough, broken=found.broken or low_enough
    )


def _most_at_first(of: Pauses) -> Ruled:
    """Is the gain without pauses above the mean of the others, for both protocols?"""
    findings: list[tuple[str, Finding]] = []
    texts = []
    for protocol in (AODV, DSR):
        first, *others = (_gain(of, protocol, pause) for pause in of.pauses)
        more = paired_interval(first, pool(others))
        findings.append((protocol, level(more, 0.0, float("inf"), must_lie=True)))
        texts.append(f"{protocol}: {shown(more)} points more")
    return ruled_by("; ".join(texts), findings)


def _lead(of: Pauses, pause: float) -> Values:
    """AODV's lead over DSR in every scenario, in parts of DSR's mean."""
    aodv, dsr = of.throughput(AODV, pause), of.throughput(DSR, pause)
    mean = sum(dsr) / len(dsr)
    return [(a - b) / mean for a, b in zip(aodv, dsr, strict=True)]


def _greater(of: Pauses, metric: str) -> Pairs:
    """AODV's value beside DSR's at every pause time."""
    return Pairs(
        {
            f"{pause:g} s": (
                _present(of.values(AODV, pause, metric)),
                _present(of.values(DSR, pause, metric)),
            )
            for pause in of.pauses
        }
    )


def _inverse(claim: Claim, of: Pauses) -> Ruled:
    """The correlation of throughput and path length over AODV's scenarios, by Fisher's transformation."""
    from scipy.stats import pearsonr

    rows = [
        (hops, rate)
        for pause in of.pauses
        for hops, rate in zip(of.flow(AODV, pause, HOPS), of.throughput(AODV, pause), strict=True)
        if not math.isnan(hops)
    ]
    bound = -wording.after(claim.tolerance, "correlation < -")
    found = pearsonr([hops for hops, _ in rows], [rate for _, rate in rows])
    ends = found.confidence_interval(0.95)
    text = f"{found.statistic:.2f}, 95 % interval {ends.low:.2f} to {ends.high:.2f}, {len(rows)} scenarios"
    return Ruled(text, satisfied=bool(ends.high < bound), broken=bool(ends.low > bound))


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput, hops, delay and overhead by pause time."""
    experiment = ledger.experiments[ID]
    of = Pauses(runs[ID], wording.whole(experiment.setup["transport"], "byte"))
    made = []
    for title, metric in (
        ("throughput, kb/s", THROUGHPUT),
        ("hops", HOPS),
        ("delay, s", DELAY),
        ("routing packets for each data packet", OVERHEAD),
    ):
        table = Table(f"Table 2: {title}", ("pause, s", *experiment.systems))
        for pause in of.pauses:
            cells = (_present(of.values(system, pause, metric)) for system in experiment.systems)
            table.add(f"{pause:g}", *(shown(mean_interval(each)) for each in cells))
        made.append(table)
    return made


UNTESTED = {
    **dict.fromkeys(("B-24", "B-25", "B-39"), NO_OVERLAP),
    **dict.fromkeys(("B-28", "B-29", "B-41"), NO_QUEUES),
    "B-37": NOT_SCORED,
}
STUDIES = (Study(ID, campaigns, evidence, tables, quick=QUICK, untested=UNTESTED),)
