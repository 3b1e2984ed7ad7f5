"""One CBR flow over AODV in place of Fig. 4.10's TCP connection: Figs 5.1 and 5.2 of the dissertation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Ruled, Single, Values, shown
from manetlab.papers.experiments import outages
from manetlab.papers.experiments.ftp import RENO, RENO_F
from manetlab.papers.experiments.outages import ALONE, average, throughput
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, interval_s
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Outcome, trend
from manetlab.stats import mean_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

FAST, SLOW = "dyer2002/fig-5.1", "dyer2002/fig-5.2"
NAME = "dyer2002/fig-5.1-5.2"


def rates_kbps(ledger: Ledger) -> list[float]:
    """The sending rates, in the order of the figures' systems."""
    found = []
    for key in (SLOW, FAST):
        for system in ledger.experiments[key].systems:
            if "Mbps" in system:
                found.append(1000 * wording.number(system, "Mbps"))
            elif "Kbps" in system:
                found.append(wording.number(system, "Kbps"))
    return sorted(found)


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """The TCP connection alone, and CBR flows between the same nodes."""
    alone = outages.campaign(ledger, scale, ALONE)
    packet_bytes = wording.whole(ledger.experiments[FAST].setup["transport"], "byte")

    def fields(kbps: float) -> Fields:
        return {"traffic.random.cbr_interval_s": interval_s(packet_bytes, kbps)}

    flow: Fields = {"tcp": 0, "cbr": 1, "cbr_bytes": packet_bytes, "cbr_ends": "apart"}
    traffic = alone.base["traffic"]
    base = {**alone.base, "traffic": {"random": {**traffic["random"], **flow}}}
    return [
        alone,
        alone.changed(
            name=NAME,
            question="What does a CBR flow get of the capacity, at what loss?",
            base=base,
            factors={"rate": [{"label": each, "fields": fields(each)} for each in rates_kbps(ledger)]},
            metrics=["cbr_throughput_bps", "cbr_delivery_fraction"],
        ),
    ]


def mbps(samples: Samples, rate: float) -> Values:
    """Throughput of every scenario at a sending rate, in Mb/s."""
    return [each / 1e6 for each in samples.values("cbr_throughput_bps", rate=rate)]


def delivery(samples: Samples, rate: float) -> Values:
    """Delivery fraction of every scenario at a sending rate, in percent."""
    return [100 * each for each in samples.values("cbr_delivery_fraction", rate=rate)]


def fast_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 5.1: in the average scenario of Fig. 4.10."""
    values, rate = throughput(runs[ALONE]), rates_kbps(ledger)[-1]
    chosen = average(values[RENO])
    both = {"TCP Reno-F": values[RENO_F], "UDP": mbps(runs[NAME], rate)}
    return {
        "D5-07": outages.single(chosen, both),
        "D5-08": outages.single(chosen, {"": delivery(runs[NAME], rate)}),
    }


def slow_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 5.2, and all three rates together."""
    chosen = average(throughput(runs[ALONE])[RENO])
    rates = rates_kbps(ledger)
    slow = {f"{rate:g} Kbps": rate for rate in rates[:-1]}
    delivered = {label: delivery(runs[NAME], rate) for label, rate in slow.items()}
    return {
        "D5-09": outages.single(chosen, {label: mbps(runs[NAME], rate) for label, rate in slow.items()}),
        "D5-10": Single({label: values[chosen] for label, values in delivered.items()}, delivered),
        "D5-11": _all_rates(ledger, runs, rates),
    }


def _all_rates(_ledger: Ledger, runs: Runs, rates: list[float]) -> Ruled:
    carried = [mbps(runs[NAME], rate) for rate in rates]
    delivered = [delivery(runs[NAME], rate) for rate in rates]
    outcomes = {trend(carried, +1)[0], trend(delivered, -1)[0]}
    most = max(mean_interval(each).mean for each in carried)
    of_tcp = mean_interval(throughput(runs[ALONE])[RENO_F])
    text = (
        ", ".join(shown(mean_interval(each)) for each in carried)
        + " Mb/s; "
        + ", ".join(f"{mean_interval(each).mean:.1f}" for each in delivered)
        + f" %; Reno-F {shown(of_tcp)} Mb/s"
    )
    return Ruled(
        text,
        satisfied=outcomes == {Outcome.REPRODUCED} and most <= of_tcp.high,
        broken=Outcome.CONTRADICTED in outcomes or most > of_tcp.high,
    )


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput and delivery by rate."""
    table = Table("One CBR flow over AODV", ("rate, kb/s", "throughput, Mb/s", "delivered, %"))
    for rate in rates_kbps(ledger):
        cells = (mean_interval(mbps(runs[NAME], rate)), mean_interval(delivery(runs[NAME], rate)))
        table.add(f"{rate:g}", *map(shown, cells))
    return [table]


STUDIES = (
    Study(FAST, campaigns, fast_evidence, tables, quick=outages.QUICK),
    Study(SLOW, campaigns, slow_evidence, tables, quick=outages.QUICK),
)
