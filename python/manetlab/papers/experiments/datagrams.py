"""ADP with endless data, windowed and ACK-clocked: Tables 5.3 and 5.4 of the dissertation.

And what all experiments of its chapters 5 and 6 have in common: the field, the background, the protocols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Level, Values, percent, shown
from manetlab.papers.experiments.outages import present
from manetlab.papers.ledger import Experiment, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, background, base, lateness, mobile, routing
from manetlab.papers.study import Found, Runs, Scale, one_table
from manetlab.papers.verdicts import change, level, ruled_by
from manetlab.stats import mean_interval, paired_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign
    from manetlab.papers.evidence import Ruled

WINDOWED, CLOCKED = "dyer2002/table-5.3", "dyer2002/table-5.4"
PROTOCOLS = ("ADV", "AODV")
CLAIMS = {WINDOWED: ("D5-12", "D5-13", "D5-14"), CLOCKED: ("D5-15", "D5-16", "D5-17")}
"""Throughput, delivery and latency of each table."""
MEASURES = ("throughput_bps", "packet_delivery_fraction", "network_latency_mean_s")
FACTORS = (1e-6, 100.0, 1.0)
"""From the measures to the units of the claims: Mb/s, %, s."""
QUICK = "the same as in full"


def setting(ledger: Ledger, scale: Scale, key: str, *more: Fields, quick: float = 1.0) -> Fields:
    """Field, background, times and assumptions of an experiment of chapter 5 or 6, nested.

    Args:
        ledger: The ledger.
        scale: How much is run.
        key: The experiment.
        more: Further fields by dotted name.
        quick: What share of the paper's measured time is run if not all is.
    """
    experiment = ledger.experiments[key]
    measured_s = experiment.setup["duration_s"]
    if isinstance(measured_s, str):
        measured_s = wording.after(measured_s, "up to")
    times = scale.times(experiment.setup["warmup_s"], measured_s, quick)
    load: Fields = {}
    if experiment.setup["background"] != "none":
        load = background(experiment.setup["background"], background_bytes(ledger))
    return base(ledger, experiment, mobile(experiment), lateness(ledger), load, times, *more)


def background_bytes(ledger: Ledger) -> int:
    """The payload of a CBR packet of the dissertation, which not every set-up repeats."""
    return wording.whole(ledger.experiments["dyer2002/table-4.2"].setup["background"], "byte")


def protocol_rows(experiment: Experiment, protocols: tuple[str, ...] = PROTOCOLS) -> list[Fields]:
    """The routing protocols as levels of a factor."""
    return [{"label": name, "fields": {"routing": routing(experiment, name)}} for name in protocols]


def sender(experiment: Experiment) -> Fields:
    """The variant of ADP that a set-up names, by dotted name."""
    text = experiment.setup["transport"]
    is_fixed = "fixed TTO" in text
    if not is_fixed:
        wording.require(text, "TTO doubled on consecutive timeouts")
    return {
        "adp.variant": "windowed" if "window" in text else "ack-clocked",
        "adp.tto_policy": "fixed" if is_fixed else "doubling",
    }


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Both variants over both protocols."""
    from manetlab.campaign import Campaign

    made = []
    for key in (WINDOWED, CLOCKED):
        experiment = ledger.experiments[key]
        wording.require(experiment.setup["traffic"], "1 connection, infinite backlog")
        fields = setting(ledger, scale, key, sender(experiment), {"traffic.random.adp": 1})
        made.append(
            Campaign(
                name=key,
                question="What does an ADP connection with endless data get, at what loss and delay?",
                base=fields,
                factors={"protocol": protocol_rows(experiment)},
                replications=scale.scenarios(ledger, experiment.setup["scenarios"]),
                metrics=["message_throughput_bps"],
            )
        )
    return made


def measured(samples: Samples, measure: str, factor: float) -> dict[str, Values]:
    """A measure of the ADP connection in every scenario, by protocol."""
    return {
        name: [factor * each for each in present(samples.flow(measure, protocol=name))] for name in PROTOCOLS
    }


def levels(runs: Runs, key: str) -> Found:
    """What one table says: the mean of each measure, by protocol."""
    found = {}
    for claim, measure, factor in zip(CLAIMS[key], MEASURES, FACTORS, strict=True):
        values = measured(runs[key], measure, factor)
        found[claim] = Level({name: mean_interval(each) for name, each in values.items()})
    return found


def clocked_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Table 5.4, and both variants beside each other."""
    return {**levels(runs, CLOCKED), "D5-18": compared(ledger, runs[CLOCKED], runs[WINDOWED])}


def compared(ledger: Ledger, clocked: Samples, windowed: Samples) -> Ruled:
    """Throughput alike, delivery higher, latency at most a share of the windowed variant's."""
    rule = ledger.claim("D5-18").tolerance
    low, high = wording.two(rule, r"\.\.\+", "%")
    most = wording.after(rule, "latency ratio <")
    findings, texts = [], []
    for name in PROTOCOLS:
        of = [
            (measured(clocked, measure, factor)[name], measured(windowed, measure, factor)[name])
            for measure, factor in zip(MEASURES, FACTORS, strict=True)
        ]
        rate, delivery, latency = percent(*of[0]), paired_interval(*of[1]), paired_ratio(*of[2])
        findings += [
            (name, change(rate, -low, high, 0)),
            (name, level(delivery, 0.0, float("inf"), must_lie=True)),
            (name, level(latency, 0.0, most, must_lie=True)),
        ]
        texts.append(
            f"{name}: throughput {shown(rate)} %, delivery {shown(delivery)} points, "
            f"latency × {shown(latency)}"
        )
    return ruled_by("; ".join(texts), findings)


def table(ledger: Ledger, runs: Runs, key: str) -> Table:
    """Table 5.3 or 5.4 with our values."""
    columns = ("measure", *(f"{name}, {of}" for name in PROTOCOLS for of in ("ours", "printed")))
    made = Table(ledger.experiments[key].title, columns)
    names = ("throughput, Mb/s", "delivered, %", "network latency, s")
    for name, claim, measure, factor in zip(names, CLAIMS[key], MEASURES, FACTORS, strict=True):
        printed, values = ledger.claim(claim), measured(runs[key], measure, factor)
        cells = []
        for protocol in PROTOCOLS:
            cells += [
                shown(mean_interval(values[protocol])),
                f"{printed.value[printed.at.index(protocol)]:g}",
            ]
        made.add(name, *cells)
    return made


STUDIES = (
    one_table(WINDOWED, campaigns, lambda _ledger, runs: levels(runs, WINDOWED), table, QUICK),
    one_table(CLOCKED, campaigns, clocked_evidence, table, QUICK),
)
