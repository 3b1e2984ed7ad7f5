"""A first experiment: does Reno-F help TCP over AODV when nodes move?

Ten networks of 50 nodes in 1000 m × 1000 m, stationary random waypoint at 1 to 20 m/s, one file transfer
and ten CBR flows in the background. Each network is run twice, with TCP Reno and with Reno-F; movement,
traffic and every other random draw are the same in both, so the runs are compared in pairs.
"""

from __future__ import annotations

from manetlab.metrics import Metric
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.stats import Interval, mean_interval, paired_interval
from manetlab.tables import Table

NETWORKS = 10
SENDERS = ("reno", "reno-f")
THROUGHPUT = Metric("tcp_throughput_bps", "TCP throughput", "kb/s", 1e-3, 1)
DELIVERY = Metric("cbr_delivery_fraction", "CBR delivery", "%", 100, 1)


def scenarios() -> list[Scenario]:
    """All runs: each network with each sender."""
    network = {
        "movement": {"waypoint": {"nodes": 50, "width_m": 1000.0, "height_m": 1000.0}},
        "traffic": {"random": {"tcp": 1, "cbr": 10, "cbr_bytes": 512, "cbr_interval_s": 0.4096}},
        "duration_s": 300.0,
        "warmup_s": 50.0,
        "routing": "aodv",
        "profile": "ns-2.35",
    }
    tcp = {"window": 8, "segment_bytes": 1460}
    return [
        Scenario.build({**network, "replication": number, "tcp": {**tcp, "sender": sender}})
        for number in range(NETWORKS)
        for sender in SENDERS
    ]


def table(results: list[Result]) -> Table:
    """The results, network by network, and the paired difference in plain words.

    Args:
        results: The results of [`scenarios`][manetlab.demo.scenarios], in their order.
    """
    reno, reno_f = results[::2], results[1::2]
    deliveries = (f"{sender} {DELIVERY.heading}" for sender in SENDERS)
    columns = ("network", *SENDERS, "difference", *deliveries)
    shown = Table(f"{THROUGHPUT.heading} over AODV, 50 moving nodes", columns)
    of_reno, of_reno_f = ([float(r.totals[THROUGHPUT.key]) for r in side] for side in (reno, reno_f))
    for number, (a, b) in enumerate(zip(reno, reno_f, strict=True)):
        step = f"{(of_reno_f[number] - of_reno[number]) * THROUGHPUT.factor:+.{THROUGHPUT.digits}f}"
        cells = (THROUGHPUT.show(a.totals), THROUGHPUT.show(b.totals), step)
        shown.add(str(number), *cells, DELIVERY.show(a.totals), DELIVERY.show(b.totals))
    means = [mean_interval(of_reno), mean_interval(of_reno_f)]
    difference = paired_interval(of_reno_f, of_reno)
    shown.add("mean ± 95 %", *(THROUGHPUT.show_interval(mean) for mean in (*means, difference)), "", "")
    shown.notes.append(in_words(difference, means[0]))
    balanced = sum(bool(result.audit["balanced"]) for result in results)
    events = sum(result.provenance["events"] for result in results)
    shown.notes.append(
        f"The audit balances in {balanced} of {len(results)} runs; {events} events were simulated."
    )
    return shown


def in_words(difference: Interval, base: Interval) -> str:
    """The paired difference between Reno-F and Reno, as a sentence."""
    share = f" ({difference.mean / base.mean:+.1%} of Reno's mean)" if base.mean else ""
    measured = (
        f"Reno-F - Reno, paired difference: {THROUGHPUT.show_interval(difference)} {THROUGHPUT.unit}{share}."
    )
    if difference.holds_zero:
        return f"{measured} The 95 % interval includes zero: the difference is not significant."
    better = "Reno-F" if difference.mean > 0 else "Reno"
    return f"{measured} The 95 % interval excludes zero: {better} is significantly better here."
