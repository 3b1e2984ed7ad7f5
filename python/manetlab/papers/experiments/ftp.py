"""FTP transfers beside CBR flows in the dissertation's square: the runs of its chapter 4 and appendix B.

All figures of the chapter are made of cells: so many transfers beside a load of so many CBR flows, under a
routing protocol and a technique of TCP. A cell is one campaign for each protocol, and figures share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Values
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, background, base, lateness, mobile, routing, tcp, technique
from manetlab.papers.study import Runs, Scale

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ADV, AODV, DSR = "ADV", "AODV", "DSR"
PROTOCOLS = (ADV, AODV, DSR)
RENO, SACK, RENO_F = "Reno", "SACK + delayed ACKs", "SACK + fixed RTO + delayed ACKs"
HOLD_DOWN = "SACK + fixed RTO + hold-down timer + delayed ACKs"
METRIC = "tcp_throughput_bps"
SQUARE = "dyer2002/table-4.2"
"""The entry of nodes, field, segments and times; those of the chapter's others are the same."""
TABLES = (SQUARE, "dyer2002/table-4.3")

LONG, MEDIUM, SHORT = 0.35, 0.15, 0.1
"""What share of the paper's measured time ``--quick`` runs: of the tables, of one transfer, of several."""
QUICK = (
    f"20 of the 50 scenarios; of the measured time {LONG:.0%} for Tables 4.2 and 4.3, else {MEDIUM:.0%} with "
    f"one transfer and {SHORT:.0%} with several; only the techniques of which claims speak"
)

_ALL = ("all",)
_BOTH = (RENO, RENO_F)
_QUICK_TECHNIQUES: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(TABLES, (_ALL,)),
    "dyer2002/fig-B.1": ((RENO, SACK, RENO_F),),
    "dyer2002/fig-B.2": (_ALL,),
    "dyer2002/fig-B.3": ((RENO, SACK, RENO_F),),
    "dyer2002/fig-B.4": ((RENO, RENO_F, HOLD_DOWN),),
    "dyer2002/fig-4.18": ((RENO, SACK, RENO_F), (RENO, RENO_F, HOLD_DOWN), (RENO, SACK, RENO_F, HOLD_DOWN)),
    "dyer2002/fig-4.19": (_BOTH, _BOTH, _BOTH),
    "dyer2002/fig-B.5": (_BOTH, (), _BOTH),
    "dyer2002/fig-B.6": ((), (), _BOTH),
}
"""The techniques of which the claims speak, by figure and, within it, by number of transfers."""


@dataclass(frozen=True)
class Cell:
    """One set-up.

    Attributes:
        transfers: How many FTP transfers.
        kbps: Load of all CBR flows together.
        flows: How many CBR flows.
    """

    transfers: int
    kbps: float
    flows: int

    @property
    def load(self) -> str:
        """The background in words."""
        return f"{self.kbps:g} kb/s from {self.flows}"

    def name(self, protocol: str) -> str:
        """The campaign's name."""
        return f"dyer2002/ftp/{self.transfers} beside {self.kbps:g} kbps from {self.flows}/{protocol}"


def techniques(ledger: Ledger) -> list[str]:
    """The columns of the dissertation's tables, as the claims name them."""
    claims = ledger.claims_of(ledger.experiments[SQUARE])
    return [
        RENO,
        *dict.fromkeys(
            claim.systems[1] for claim in claims if len(claim.systems) == 2 and claim.kind == "change"
        ),
    ]


def cells(ledger: Ledger, key: str) -> list[Cell]:
    """The set-ups of a figure, along its axis."""
    experiment = ledger.experiments[key]
    text = experiment.setup["background"]
    flows = wording.whole(text, "CBR connections")
    along = (
        [float(load) for load in experiment.axis] if text.startswith("x ") else [wording.number(text, "Kbps")]
    )
    transfers = wording.listed(experiment.setup["traffic"], "FTP")
    return [Cell(count, load, flows) for count in transfers for load in along]


def run_of(ledger: Ledger, cell: Cell, *, full: bool) -> list[str]:
    """The techniques under which a set-up is run."""
    every = techniques(ledger)
    if full:
        # The dissertation dropped the hold-down timer with several transfers; a claim says why.
        return every
    for key, by_transfers in _QUICK_TECHNIQUES.items():
        for listed, each in zip(by_transfers, cells(ledger, key), strict=True):
            if each == cell:
                return every if listed is _ALL else list(listed)
    return list(_BOTH) if cell.transfers == 1 and cell.flows == cells(ledger, SQUARE)[0].flows else []


def square(ledger: Ledger, cell: Cell, protocol: str, *more: Mapping[str, Any]) -> Fields:
    """The scenario of a set-up, nested."""
    experiment = ledger.experiments[SQUARE]
    packet_bytes = wording.whole(experiment.setup["background"], "byte")
    fields: Fields = {"routing": routing(experiment, protocol), "traffic.random.tcp": cell.transfers}
    if cell.flows:
        fields |= background(f"{cell.kbps:g} Kbps from {cell.flows} CBR connections", packet_bytes)
    return base(ledger, experiment, mobile(experiment), tcp(experiment), lateness(ledger), fields, *more)


def times(ledger: Ledger, scale: Scale, cell: Cell) -> dict[str, float]:
    """Warm-up and duration."""
    setup = ledger.experiments[SQUARE].setup
    quick = SHORT
    if cell.transfers == 1:
        quick = LONG if cell in [each for key in TABLES for each in cells(ledger, key)] else MEDIUM
    return scale.times(setup["warmup_s"], setup["duration_s"], quick)


def campaign(ledger: Ledger, scale: Scale, cell: Cell, protocol: str) -> Campaign:
    """The runs of a set-up under a protocol."""
    from manetlab.campaign import Campaign

    labels = run_of(ledger, cell, full=scale.full)
    return Campaign(
        name=cell.name(protocol),
        question="How does the throughput change with TCP's techniques?",
        base=square(ledger, cell, protocol, times(ledger, scale, cell)),
        factors={"technique": [{"label": label, "fields": technique(label)} for label in labels]},
        replications=scale.scenarios(ledger, ledger.experiments[SQUARE].setup["scenarios"]),
        metrics=[METRIC],
    )


def campaigns(
    ledger: Ledger, scale: Scale, keys: Sequence[str], protocols: Sequence[str] = PROTOCOLS
) -> list[Campaign]:
    """The runs of figures, each set-up once."""
    listed = dict.fromkeys(cell for key in keys for cell in cells(ledger, key))
    return [
        campaign(ledger, scale, cell, protocol)
        for cell in listed
        if run_of(ledger, cell, full=scale.full)
        for protocol in protocols
    ]


@dataclass(frozen=True)
class Measured:
    """The finished runs, by set-up, protocol and technique.

    Attributes:
        ledger: The ledger.
        runs: All finished campaigns.
    """

    ledger: Ledger
    runs: Runs

    def cells(self, key: str) -> list[Cell]:
        """The set-ups of a figure that were run."""
        return [cell for cell in cells(self.ledger, key) if cell.name(AODV) in self.runs]

    def cell(self, key: str, transfers: int | None = None) -> Cell:
        """The one set-up of a figure, or that of so many transfers."""
        [found] = [each for each in cells(self.ledger, key) if transfers in (None, each.transfers)]
        return found

    def samples(self, cell: Cell, protocol: str) -> Samples:
        """All runs of a set-up under a protocol."""
        return self.runs[cell.name(protocol)]

    def values(self, cell: Cell, protocol: str, label: str, metric: str = METRIC) -> Values:
        """A total of every scenario."""
        return self.samples(cell, protocol).filled(metric, technique=label)

    def pooled(self, wanted: Sequence[Cell], protocol: str, labels: Sequence[str], metric: str) -> Values:
        """The mean of a total over set-ups and techniques, in every scenario."""
        return pool([self.values(cell, protocol, label, metric) for cell in wanted for label in labels])


def pool(lists: Sequence[Values]) -> Values:
    """The mean of several values of every scenario."""
    return [sum(each) / len(lists) for each in zip(*lists, strict=True)]
