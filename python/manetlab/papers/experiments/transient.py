"""CBR connections that come in batches: Figs 3.7 to 3.12 and A.16 to A.21 of the dissertation.

Each connection is a series of flows between the same nodes, one for each interval, so that the measures of a
flow are those of the packets made in an interval. Routing overhead is read from time series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from random import Random
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Pairs, Ruled, Trend, Trends, Values, shown
from manetlab.papers.experiments.by_load import ADV_1, ADV_5, ADVS, AODV, DSR, ON_DEMAND
from manetlab.papers.experiments.ftp import pool
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples, filled
from manetlab.papers.setup import Fields, base, interval_s, lateness, mobile, routing
from manetlab.papers.study import Found, Runs, Scale, Study, no_claims
from manetlab.papers.verdicts import Finding, change, level, ruled_by
from manetlab.stats import mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

LOW, HIGH = "dyer2002/fig-3.7", "dyer2002/fig-3.10"
BETWEEN = ("dyer2002/fig-A.16", "dyer2002/fig-A.19")
"""The entries of the loads in between, of which the dissertation has figures and says nothing."""
QUICK = "20 of the 30 scenarios; each as long as the paper's"


def connections(ledger: Ledger, key: str) -> list[tuple[int, int]]:
    """Source and destination of each connection, in order of their beginning.

    They are the same in all scenarios: nodes that move at random are alike, whichever talk.
    """
    nodes = ledger.experiments[key].setup["nodes"]
    pairs = [(src, dst) for src in range(nodes) for dst in range(nodes) if src != dst]
    Random(key).shuffle(pairs)
    return pairs[: _batches(ledger, key)[1]]


def _batches(ledger: Ledger, key: str) -> tuple[int, int]:
    """Connections of a batch, and of all batches."""
    text = ledger.experiments[key].setup["traffic"]
    return wording.whole(text, "CBR connections"), int(wording.after(text, "up to"))


def starts(ledger: Ledger) -> list[float]:
    """When the batches begin, in s."""
    text = ledger.assumptions["exact-start-of-the-batches"].text
    return [float(each) for each in re.findall(r"\d+", text)]


def flows(ledger: Ledger, key: str) -> list[dict[str, Any]]:
    """All flows, interval by interval within each connection."""
    text = ledger.experiments[key].setup["traffic"]
    size, _ = _batches(ledger, key)
    packet_bytes = wording.whole(text, "byte")
    gap_s = interval_s(packet_bytes, wording.number(text, "Kbps") / size)
    ends = [float(end) for end in ledger.experiments[key].axis]
    draw, found = Random(f"{key}, phases"), []
    for number, (src, dst) in enumerate(connections(ledger, key)):
        first_s, phase_s = starts(ledger)[number // size], draw.random() * gap_s
        for begin, end in zip([0.0, *ends], ends, strict=False):
            if begin >= first_s:
                # The first packet of an interval is the next of the connection's.
                missed = -(-(begin - first_s - phase_s) // gap_s) if begin > first_s else 0
                start_s = round(first_s + phase_s + max(missed, 0) * gap_s, 6)
                place = {"src": src, "dst": dst, "start_s": start_s, "stop_s": end}
                found.append({"kind": "cbr", **place, "bytes": packet_bytes, "interval_s": gap_s})
    return found


@cache
def _interval_of_flow(key: str) -> tuple[int, ...]:
    from manetlab.papers import ledger

    loaded = ledger.load()
    ends = [float(end) for end in loaded.experiments[key].axis]
    return tuple(ends.index(flow["stop_s"]) for flow in flows(loaded, key))


def campaign(ledger: Ledger, scale: Scale, key: str) -> Campaign:
    """All protocols under one load."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[key]
    setup = experiment.setup
    fields: Fields = base(ledger, experiment, mobile(experiment), lateness(ledger))
    fields.pop("traffic", None)
    return Campaign(
        name=key,
        question="How soon do the protocols settle as connections come?",
        base=fields
        | {
            "warmup_s": 0.0,
            "duration_s": float(setup["duration_s"]),
            "traffic": {"flows": flows(ledger, key)},
        },
        factors={
            "routing": [
                {"label": name, "fields": {"routing": routing(experiment, name)}}
                for name in experiment.systems
            ]
        },
        replications=scale.scenarios(ledger, setup["scenarios"]),
        metrics=["cbr_delivery_fraction"],
        series_s=float(experiment.axis[0]),
    )


class Intervals:
    """The runs of one load, by interval.

    Args:
        key: The experiment.
        samples: The campaign's.
    """

    def __init__(self, key: str, samples: Samples) -> None:
        self.samples = samples
        self.of_flow = _interval_of_flow(key)
        self.count = max(self.of_flow) + 1

    def delivery(self, name: str) -> list[Values]:
        """The delivery fraction in percent of every scenario, by interval."""
        return self._ratio(name, "received", "sent", 100.0)

    def received(self, name: str) -> list[Values]:
        """Packets that arrived of those made in each interval, of every scenario."""
        return self._sums(name, "received")

    def latency(self, name: str) -> list[Values]:
        """The mean latency in s of every scenario, by interval."""
        received = self._rows(name, "received")
        latency = self._rows(name, "latency_mean_s")
        found: list[list[float | None]] = [[] for _ in range(self.count)]
        for counts, means in zip(received, latency, strict=True):
            for place in range(self.count):
                listed = [
                    (count, mean)
                    for count, mean, at in zip(counts, means, self.of_flow, strict=True)
                    if at == place and count
                ]
                total = sum(count for count, _ in listed)
                found[place].append(sum(count * mean for count, mean in listed) / total if total else None)
        return [filled(each) for each in found]

    def overhead(self, name: str, column: str = "routing_packets") -> list[Values]:
        """What the routing protocol sent in each interval, of every scenario."""
        return list(self.samples.series(column, routing=name))

    def _rows(self, name: str, metric: str) -> list[list[float]]:
        return self.samples.of_flows(metric, routing=name)

    def _sums(self, name: str, metric: str) -> list[Values]:
        rows = self._rows(name, metric)
        return [
            [sum(value for value, at in zip(row, self.of_flow, strict=True) if at == place) for row in rows]
            for place in range(self.count)
        ]

    def _ratio(self, name: str, part: str, whole: str, factor: float) -> list[Values]:
        return [
            [factor * a / b for a, b in zip(parts, wholes, strict=True)]
            for parts, wholes in zip(self._sums(name, part), self._sums(name, whole), strict=True)
        ]


def low_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.7: delivery and latency at the low load."""
    of = Intervals(LOW, runs[LOW])
    ends = ledger.assumptions["20-connections-which-interval"].text
    second = ledger.experiments[LOW].axis.index(int(wording.after(ends, "at")))
    # The two intervals after the last batch, and the one before them.
    last = len(starts(ledger)) - 1
    others = (ADV_1, AODV, DSR)

    def pooled(values: Sequence[Values]) -> Values:
        return pool(values[second:])

    best = {f"delivery, {p}": (pooled(of.delivery(ADV_5)), pooled(of.delivery(p))) for p in others}
    latest = {f"latency, {p}": (pooled(of.latency(ADV_5)), pooled(of.latency(p))) for p in others}
    return {
        "D3-42": _stable(ledger.claim("D3-42"), of.delivery(AODV)),
        "D3-43": _levels_off(ledger.claim("D3-43"), {adv: of.delivery(adv) for adv in ADVS}),
        "D3-44": Pairs(best | latest),
        "D3-45": Pairs(
            {f"{p} > ADV-1sec": (pooled(of.latency(p)), pooled(of.latency(ADV_1))) for p in ON_DEMAND},
            may_tie=True,
        ),
        "D3-46": Trends(
            {p: Trend(of.latency(p), -1) for p in (*ADVS, *ON_DEMAND)}
            | {f"{p}, after the last batch": Trend(of.latency(p)[last:], -1) for p in (*ADVS, *ON_DEMAND)}
        ),
    }


def _stable(claim: Claim, delivery: Sequence[Values]) -> Ruled:
    ordered = sorted(delivery, key=lambda values: mean_interval(values).mean)
    spread, most = paired_interval(ordered[-1], ordered[0]), 100 * wording.after(claim.tolerance, "<")
    text = ", ".join(f"{mean_interval(each).mean:.1f}" for each in delivery)
    return Ruled(f"{text} %", satisfied=spread.mean < most, broken=spread.low > most)


def _levels_off(claim: Claim, delivery: dict[str, list[Values]]) -> Ruled:
    """From the first interval to the one that the claim names a rise, then little more."""
    least = 100 * wording.after(claim.tolerance, ">")
    place = int(wording.after(claim.tolerance, "Interval")) - 1
    findings: list[tuple[str, Finding]] = []
    texts = []
    for name, values in delivery.items():
        rise = paired_interval(values[place], values[0])
        after = paired_interval(values[-1], values[place])
        half = rise.mean / 2
        findings.append((name, level(rise, least, float("inf"), must_lie=True)))
        findings.append((f"{name}, then", level(after, -abs(half), abs(half))))
        texts.append(f"{name}: " + ", ".join(f"{mean_interval(each).mean:.1f}" for each in values) + " %")
    return ruled_by("; ".join(texts), findings)


def low_throughput_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.8: throughput at the low load."""
    claim, of = ledger.claim("D3-47"), Intervals(LOW, runs[LOW])
    width = wording.number(claim.tolerance, "%")
    last = len(starts(ledger)) - 1
    findings: list[tuple[str, Finding]] = []
    texts = []
    for name in (*ADVS, *ON_DEMAND):
        received = of.received(name)
        mean = mean_interval(received[last]).mean
        rise = paired_interval(received[-1], received[last]).scaled(100 / mean)
        flat = name in ADVS
        findings.append((name, level(rise, -width, width) if flat else change(rise, 0.0, float("inf"), +1)))
        texts.append(f"{name}: {shown(rise, ' %')}")
    return {"D3-47": ruled_by("; ".join(texts), findings)}


def low_overhead_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.9: routing overhead."""
    of, claim = {key: Intervals(key, runs[key]) for key in (LOW, HIGH)}, ledger.claim("D3-48")
    most, last = wording.number(claim.tolerance, "%"), len(starts(ledger)) - 1
    findings: list[tuple[str, Finding]] = []
    texts = []
    for key in (LOW, HIGH):
        for adv in ADVS:
            packets = of[key].overhead(adv)
            mean = mean_interval(packets[1]).mean
            rise = paired_interval(packets[last], packets[1]).scaled(100 / mean)
            findings.append((f"{key}, {adv}", level(rise, -most, most)))
            texts.append(f"{key.partition('/')[2]}, {adv}: {shown(rise, ' %')}")
    after = {p: of[LOW].overhead(p) for p in (AODV, *ADVS)}
    return {
        "D3-48": ruled_by("; ".join(texts), findings),
        "D3-49": Trends({p: Trend([each[last], pool(each[last + 1 :])], -1) for p, each in after.items()}),
    }


def high_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.10: delivery at the high load, and beside that at the low."""
    low, high = Intervals(LOW, runs[LOW]), Intervals(HIGH, runs[HIGH])
    sooner = {adv: Trend([_behind(low, adv), _behind(high, adv)], -1) for adv in ADVS}
    pairs = {
        "delivery": (pool(high.delivery(ADV_1)), pool(high.delivery(AODV))),
        "throughput": (pool(high.received(ADV_1)), pool(high.received(AODV))),
    }
    return {"D3-50": Trends(sooner), "D3-51": Pairs(pairs)}


def _behind(of: Intervals, name: str) -> Values:
    """By how many points delivery lies behind its final value in the first intervals, on average."""
    delivery = of.delivery(name)
    early = pool(delivery[: len(delivery) // 2])
    return [final - before for final, before in zip(delivery[-1], early, strict=True)]


def tables(key: str, ledger: Ledger, runs: Runs) -> list[Table]:
    """Delivery, latency and overhead by interval."""
    of, experiment = Intervals(key, runs[key]), ledger.experiments[key]
    made = []
    for title, read, factor in (
        ("delivered, %", of.delivery, 1.0),
        ("latency, ms", of.latency, 1e3),
        ("routing packets", of.overhead, 1.0),
    ):
        table = Table(f"{experiment.title}: {title}", ("until, s", *experiment.systems))
        columns = [read(name) for name in experiment.systems]
        for place, end in enumerate(experiment.axis):
            table.add(str(end), *(shown(mean_interval(each[place]).scaled(factor)) for each in columns))
        made.append(table)
    return made


def _study(key: str, needs: Sequence[str], evidence: Callable[[Ledger, Runs], Found]) -> Study:
    return Study(
        key,
        lambda ledger, scale: [campaign(ledger, scale, each) for each in needs],
        evidence,
        partial(tables, needs[-1]),
        quick=QUICK,
    )


STUDIES = (
    _study(LOW, [LOW], low_evidence),
    _study("dyer2002/fig-3.8", [LOW], low_throughput_evidence),
    _study("dyer2002/fig-3.9", [HIGH, LOW], low_overhead_evidence),
    _study(HIGH, [LOW, HIGH], high_evidence),
    _study("dyer2002/fig-3.11", [HIGH], no_claims),
    _study("dyer2002/fig-3.12", [HIGH], no_claims),
    *(
        _study(f"dyer2002/fig-A.{number}", [entry], no_claims)
        for entry, numbers in zip(BETWEEN, ((16, 17, 18), (19, 20, 21)), strict=True)
        for number in numbers
    ),
)
