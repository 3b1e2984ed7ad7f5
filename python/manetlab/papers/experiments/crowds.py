"""TCP with other numbers of connections than in Table 2 of Bansal and Barua, who say one sentence of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Trend, Trends, Values, shown
from manetlab.papers.experiments.random_topology import (
    AODV,
    DSR,
    network,
    pause_levels,
    scenarios,
    system_levels,
)
from manetlab.papers.experiments.random_topology import ID as TABLE
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import base
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.stats import mean_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ID = "bansal2003/sec-random"
SHARE = 0.2
"""What share of the time ``--quick`` runs."""
QUICK = (
    f"no pauses, no heuristic, 40 CBR flows beside ten TCP flows or none, the first {SHARE:.0%} of the time"
)
_COUNTS = ("traffic.random.tcp", "traffic.random.cbr")


def numbers(ledger: Ledger) -> tuple[list[int], list[int]]:
    """The article's other numbers of TCP flows and of CBR flows, the latter with none."""
    alone, beside = ledger.experiments[ID].axis
    wording.require(alone, "no CBR")
    return wording.listed(alone, "TCP"), [0, *wording.listed(beside.partition("with")[2], "CBR")]


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Both protocols with every number of TCP and CBR flows; in short those that differ most."""
    from manetlab.campaign import Campaign

    experiment, table = ledger.experiments[ID], ledger.experiments[TABLE]
    tcp, cbr = numbers(ledger)
    cells = [(n, m) for m in cbr for n in tcp]
    pauses, names = list(map(float, table.axis)), list(table.systems)
    if not scale.full:
        cells = [(n, 0) for n in tcp] + [(tcp[-1], cbr[-1])]
        pauses, names = pauses[:1], [AODV, DSR]
    share = scale.duration_share * (1.0 if scale.full else SHARE)
    duration_s = wording.number(ledger.assumptions["run-length-4"].text, "s") * share
    return [
        Campaign(
            name=ID,
            question="Which protocol gains as connections are added?",
            base=base(ledger, experiment, network(ledger), {"warmup_s": 0.0, "duration_s": duration_s}),
            factors={
                "system": system_levels(names),
                "pause": pause_levels(pauses),
                "connections": [
                    {"label": connections(*cell), "fields": dict(zip(_COUNTS, cell, strict=True))}
                    for cell in cells
                ],
            },
            replications=scenarios(ledger, scale),
            metrics=["tcp_throughput_bps"],
        )
    ]


def connections(tcp: int, cbr: int) -> str:
    """A number of TCP and of CBR flows in words."""
    return f"{tcp} TCP, {cbr} CBR"


class Crowds:
    """The runs with other numbers of connections.

    Args:
        ledger: The ledger.
        samples: The campaign's.
    """

    def __init__(self, ledger: Ledger, samples: Samples) -> None:
        self.samples = samples
        self.pauses = samples.labels("pause")
        self.names = [str(each) for each in samples.labels("system")]
        run = samples.labels("connections")
        tcp, cbr = numbers(ledger)
        of = {m: [n for n in tcp if connections(n, m) in run] for m in cbr}
        self.by_cbr = {m: listed for m, listed in of.items() if listed}

    def throughput(self, system: str, pause: object, tcp: int, cbr: int) -> Values:
        """Of all TCP flows together in every scenario, in kb/s."""
        at = {"system": system, "pause": pause, "connections": connections(tcp, cbr)}
        return [each / 1e3 for each in self.samples.values("tcp_throughput_bps", **at)]

    def ratio(self, pause: object, tcp: int, cbr: int) -> Values:
        """DSR's throughput in every scenario in parts of AODV's mean."""
        aodv = self.throughput(AODV, pause, tcp, cbr)
        mean = sum(aodv) / len(aodv)
        return [each / mean for each in self.throughput(DSR, pause, tcp, cbr)]

    def along(self) -> dict[str, list[Values]]:
        """The ratio at every pause time along numbers of TCP flows, and of CBR beside most TCP flows."""
        found = {}
        most = max(max(listed) for listed in self.by_cbr.values())
        for pause in self.pauses:
            for m, listed in self.by_cbr.items():
                if len(listed) > 1:
                    text = f"pause {pause:g} s, {', '.join(map(str, listed))} TCP, {m} CBR"
                    found[text] = [self.ratio(pause, n, m) for n in listed]
            beside = [m for m, listed in self.by_cbr.items() if most in listed]
            text = f"pause {pause:g} s, {most} TCP, {', '.join(map(str, beside))} CBR"
            found[text] = [self.ratio(pause, most, m) for m in beside]
        return found


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """Whether DSR catches up as connections are added."""
    of = Crowds(ledger, runs[ID])
    return {"B-44": Trends({name: Trend(along, +1) for name, along in of.along().items()})}


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput by numbers of connections, for every pause time."""
    of = Crowds(ledger, runs[ID])
    made = []
    for pause in of.pauses:
        table = Table(f"Pause {pause:g} s: throughput of all TCP flows, kb/s", ("connections", *of.names))
        for cbr, listed in of.by_cbr.items():
            for tcp in listed:
                cells = (mean_interval(of.throughput(name, pause, tcp, cbr)) for name in of.names)
                table.add(connections(tcp, cbr), *map(shown, cells))
        made.append(table)
    return made


STUDIES = (Study(ID, campaigns, evidence, tables, quick=QUICK),)
