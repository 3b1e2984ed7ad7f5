"""How Reno's and the fixed timeout grow where nothing arrives: Figs 4.2 and 4.3 of the dissertation.

Fig. 4.1, a sequence of single events at one sender, cannot be made by a run.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Ruled
from manetlab.papers.experiments import chains
from manetlab.papers.experiments.ftp import SQUARE
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import base, technique
from manetlab.papers.study import Found, Runs, Scale, Study, no_claims, without_runs
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

SEQUENCE = "dyer2002/fig-4.1"
RENO, FIXED = "dyer2002/fig-4.2", "dyer2002/fig-4.3"
SENDERS = {"fixed-RTO": technique("fixed RTO"), "Reno": technique("Reno")}
"""By the claim's names."""
APART_M = 10_000.0
"""How far apart the two nodes are: out of each other's reach."""
STEP_S = 1.0
"""The step of the time series: shorter than any timeout, so that none has two in it."""
DURATION_S = 2000.0
"""Time for all the timeouts of the axis at the cap of Reno's back-off."""


def campaigns(ledger: Ledger, _scale: Scale) -> list[Campaign]:
    """Both senders, between nodes that do not hear each other."""
    from manetlab.campaign import Campaign

    experiment, tables = ledger.experiments[FIXED], ledger.experiments[SQUARE]
    wording.require(experiment.setup["field"], "loses everything")
    fields = base(ledger, tables)
    fields = {name: value for name, value in fields.items() if name not in ("movement", "traffic")}
    return [
        Campaign(
            name=FIXED,
            question="How does the timeout grow from one to the next?",
            base=fields | {"warmup_s": 0.0, "duration_s": DURATION_S, "routing": "static"},
            factors={
                "sender": [
                    chains.level(label, 1, [chains.tcp(0, 1)], APART_M, **sender)
                    for label, sender in SENDERS.items()
                ]
            },
            # Nothing in these runs is random; a campaign has this many at least.
            replications=5,
            metrics=["tcp_timeouts"],
            series_s=STEP_S,
        )
    ]


def multipliers(samples: Samples, sender: str) -> list[float]:
    """The timeout after each of the first timeouts, in parts of the first."""
    rto_s = [float(row["rto_s"]) for row in samples.rows_of("tcp_flows", sender=sender)[0]]
    timeouts = [int(row["tcp_timeouts"]) for row in samples.rows_of("totals", sender=sender)[0]]
    return [after / rto_s[0] for after, count in zip(rto_s, timeouts, strict=True) if count]


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.3."""
    claim = ledger.claim("D4-113")
    printed = list(map(float, re.findall(r"\d+", claim.expected)))
    each = len(printed) // len(claim.systems)
    found = {name: multipliers(runs[FIXED], name)[:each] for name in claim.systems}
    text = "; ".join(
        f"{name}: {', '.join(f'{value:g}' for value in values)}" for name, values in found.items()
    )
    return {
        "D4-113": Ruled(text, satisfied=[value for values in found.values() for value in values] == printed)
    }


def tables(sender: str, ledger: Ledger, runs: Runs) -> list[Table]:
    """The multipliers along the axis."""
    first, last = wording.span(ledger.experiments[FIXED].axis)
    table = Table(f"{sender}: the timeout after so many in a row", ("timeouts", "in parts of the first"))
    found = multipliers(runs[FIXED], sender)
    for number in range(first, last + 1):
        table.add(str(number), f"{found[number - 1]:g}")
    return [table]


QUICK = "the same as in full"
EVENTS = (
    "ACKs that are late by so much, each by its own time, are no outcome of a run; the core's test "
    "`the_hold_down_timer_saves_the_retransmissions_of_figure_4_1` carries the sequence out at a sender"
)
STUDIES = (
    without_runs(SEQUENCE, {"D4-112": EVENTS}),
    Study(RENO, campaigns, no_claims, partial(tables, "Reno"), quick=QUICK),
    Study(FIXED, campaigns, evidence, partial(tables, "fixed-RTO"), quick=QUICK),
)
