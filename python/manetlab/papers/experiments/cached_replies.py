"""DSR with replies from caches and without: Table 4.4 of the dissertation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers.evidence import Change, Level, Ruled, Values, percent, shown
from manetlab.papers.experiments import ftp
from manetlab.papers.experiments.ftp import DSR, METRIC, RENO, RENO_F
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Outcome, level, together
from manetlab.stats import mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ID = "dyer2002/table-4.4"
SHARE = 0.5
"""What share of the paper's measured time ``--quick`` runs."""
LATENCY, DELIVERY = "cbr_latency_mean_s", "cbr_delivery_fraction"
SENDERS = {"Reno": RENO, "Reno-F": RENO_F}


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """The four columns of the table."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[ID]
    [cell] = ftp.cells(ledger, ID)
    times = scale.times(experiment.setup["warmup_s"], experiment.setup["duration_s"], SHARE)
    columns = []
    for label in experiment.axis:
        replies, _, sender = label.partition("/")
        fields = {"dsr.reply_from_cache": replies == "on"} | technique(SENDERS[sender])
        columns.append({"label": label, "fields": fields})
    return [
        Campaign(
            name=ID,
            question="What do stale routes from caches cost TCP?",
            base=ftp.square(ledger, cell, DSR, times),
            factors={"column": columns},
            replications=scale.scenarios(ledger, experiment.setup["scenarios"]),
            metrics=[METRIC],
        )
    ]


def values(ledger: Ledger, samples: Samples, metric: str, factor: float = 1.0) -> dict[str, Values]:
    """A total of every scenario, by column."""
    axis = ledger.experiments[ID].axis
    return {label: [factor * each for each in samples.values(metric, column=label)] for label in axis}


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """What the runs say of the table."""
    samples = runs[ID]
    throughput = values(ledger, samples, METRIC, 1e-6)
    delivery = values(ledger, samples, DELIVERY, 100)
    on, on_fixed, off, off_fixed = throughput.values()
    return {
        "D4-94": Level({label: mean_interval(each) for label, each in throughput.items()}),
        "D4-95": Level(
            {label: mean_interval(each) for label, each in values(ledger, samples, LATENCY).items()}
        ),
        "D4-96": _lowest(ledger.claim("D4-96"), delivery),
        "D4-97": Change({"": percent(off, on)}),
        "D4-98": Level({"": paired_ratio(on_fixed, off)}),
        "D4-99": Change({"": percent(off_fixed, off)}),
    }


def _lowest(claim: Claim, delivery: dict[str, Values]) -> Ruled:
    """Each within its band, and that of Reno-F with replies the lowest."""
    means = {label: mean_interval(each) for label, each in delivery.items()}
    outcome, _ = together(
        (label, level(each, *claim.band(claim.at.index(label)))) for label, each in means.items()
    )
    lowest = min(means, key=lambda label: means[label].mean) == "on/Reno-F"
    text = "; ".join(f"{label}: {shown(each)}" for label, each in means.items())
    held = outcome is Outcome.REPRODUCED
    return Ruled(text, satisfied=held and lowest, broken=outcome is Outcome.CONTRADICTED)


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """The table with ours beside the printed figures."""
    table = Table(
        "Table 4.4: DSR",
        ("replies/TCP", "Mb/s", "printed", "latency, s", "printed", "CBR, %", "printed", "connect, s"),
    )
    samples = runs[ID]
    shown_of = [
        (values(ledger, samples, METRIC, 1e-6), ledger.claim("D4-94")),
        (values(ledger, samples, LATENCY), ledger.claim("D4-95")),
        (values(ledger, samples, DELIVERY, 100), ledger.claim("D4-96")),
    ]
    connect = values(ledger, samples, "tcp_connect_time_mean_s")
    for place, label in enumerate(ledger.experiments[ID].axis):
        cells = [
            text
            for of, claim in shown_of
            for text in (shown(mean_interval(of[label])), f"{claim.value[place]:g}")
        ]
        table.add(label, *cells, shown(mean_interval(connect[label])))
    return [table]


STUDIES = (
    Study(
        ID,
        campaigns,
        evidence,
        tables,
        quick=f"20 of the 50 scenarios, of each the first {SHARE:.0%} of the measured time",
    ),
)
