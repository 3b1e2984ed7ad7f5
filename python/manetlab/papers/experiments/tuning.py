"""What section 3.5 of the dissertation changed in ADV, each change by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Pairs, Values, shown
from manetlab.papers.experiments import ftp
from manetlab.papers.experiments.ftp import ADV, METRIC, RENO, SHORT, Cell
from manetlab.papers.ledger import Ledger
from manetlab.papers.setup import Fields, technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.stats import mean_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ID = "dyer2002/sec-3.5-tuning"
TUNED, SWITCHED, USED = "as tuned", "next hop switched", "stale routes used"
VARIANTS: dict[str, Fields] = {
    TUNED: {"adv.switch_next_hop_on_tie": False, "adv.ignore_former_non_receivers": True},
    SWITCHED: {"adv.switch_next_hop_on_tie": True},
    USED: {"adv.ignore_former_non_receivers": False},
}
CONNECT, DELIVERY = "tcp_connect_time_mean_s", "cbr_delivery_fraction"


def cells(ledger: Ledger) -> list[Cell]:
    """The numbers of transfers beside the background."""
    text = ledger.experiments[ID].setup["traffic"]
    transfers = wording.listed(text, "TCP")
    return [Cell(each, wording.number(text, "Kbps"), wording.whole(text, "CBR")) for each in transfers]


def name(transfers: int) -> str:
    """The campaign with so many transfers."""
    return f"{ID}/{transfers}"


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """ADV as it was tuned, and without one change each."""
    from manetlab.campaign import Campaign

    setup = ledger.experiments[ID].setup
    times = scale.times(setup["warmup_s"], setup["duration_s"], SHORT)
    return [
        Campaign(
            name=name(cell.transfers),
            question="What does each change to ADV gain?",
            base=ftp.square(ledger, cell, ADV, technique(RENO), times),
            factors={"variant": [{"label": label, "fields": fields} for label, fields in VARIANTS.items()]},
            replications=scale.scenarios(ledger, setup["scenarios"]),
            metrics=[METRIC],
        )
        for cell in cells(ledger)
    ]


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """Whether each change gains."""

    def pairs(better: str, worse: str, metric: str) -> dict[str, tuple[Values, Values]]:
        return {
            f"{cell.transfers} TCP, {metric}": (
                runs[name(cell.transfers)].filled(metric, variant=better),
                runs[name(cell.transfers)].filled(metric, variant=worse),
            )
            for cell in cells(ledger)
        }

    return {
        "D3-52": Pairs(pairs(TUNED, SWITCHED, METRIC) | pairs(TUNED, SWITCHED, DELIVERY)),
        "D3-53": Pairs(pairs(USED, TUNED, CONNECT)),
    }


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput, delivery and connect time of each variant."""
    table = Table(
        "ADV's tuning", ("transfers", "variant", "throughput, kb/s", "CBR, %", "connect, s"), text_columns=2
    )
    for cell in cells(ledger):
        for label in VARIANTS:
            values = [
                mean_interval(runs[name(cell.transfers)].filled(metric, variant=label)).scaled(factor)
                for metric, factor in ((METRIC, 1e-3), (DELIVERY, 100), (CONNECT, 1))
            ]
            table.add(str(cell.transfers), label, *map(shown, values))
    return [table]


STUDIES = (
    Study(
        ID,
        campaigns,
        evidence,
        tables,
        quick=f"20 of the 50 scenarios, of each the first {SHORT:.0%} of the measured time",
    ),
)
