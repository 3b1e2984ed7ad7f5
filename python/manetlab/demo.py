"""A first experiment: does a fixed retransmission timeout help TCP over AODV when nodes move?

Ten networks of 50 nodes in 1000 m × 1000 m, stationary random waypoint at 1 to 20 m/s, one file transfer and
ten CBR flows in the background. Each network is run with TCP Reno, with Reno whose timeout is fixed and that
is otherwise the same, and with Reno-F, which has a fixed timeout, SACK and delayed ACKs. Movement, traffic
and every other random draw are the same in all three, so the runs are compared in pairs.
"""

from __future__ import annotations

from manetlab.metrics import by_key
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.stats import Adjusted, adjusted_pair, mean_interval
from manetlab.tables import Table

NETWORKS = 10
SENDERS = {
    "reno": "Reno",
    "fixed-rto": "Reno with a fixed timeout",
    "reno-f": "Reno-F (fixed timeout, SACK, delayed ACKs)",
}
"""The senders and what each is; the others are compared with the first."""
THROUGHPUT = by_key("tcp_throughput_bps")
SIGNIFICANT = 0.05


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
    """The results, network by network, and the paired differences in plain words.

    Args:
        results: The results of [`scenarios`][manetlab.demo.scenarios], in their order.
    """
    names, count = list(SENDERS), len(SENDERS)
    by_sender = {name: results[place::count] for place, name in enumerate(names)}
    columns = ("network", *(f"{name} ({THROUGHPUT.unit})" for name in names))
    shown = Table(f"{THROUGHPUT.label} over AODV, 50 moving nodes", columns)
    for number in range(NETWORKS):
        shown.add(str(number), *(THROUGHPUT.show(by_sender[name][number].totals) for name in names))
    values = {
        name: [float(result.totals[THROUGHPUT.key]) for result in of_sender]
        for name, of_sender in by_sender.items()
    }
    means = [mean_interval(values[name]) for name in names]
    shown.add("mean ± 95 %", *(THROUGHPUT.show_interval(mean) for mean in means))
    base = names[0]
    for name in names[1:]:
        compared = adjusted_pair(values[name], values[base], comparisons=count - 1)
        shown.notes.append(in_words(SENDERS[name], compared, means[0].mean))
    balanced = sum(bool(result.audit["balanced"]) for result in results)
    events = sum(result.provenance["events"] for result in results)
    shown.notes += [
        f"Intervals and p-values of the differences are adjusted for {count - 1} comparisons.",
        f"The audit balances in {balanced} of {len(results)} runs; {events} events were simulated.",
    ]
    return shown


def in_words(name: str, compared: Adjusted, base: float) -> str:
    """The paired difference between a sender and Reno, as a sentence.

    Args:
        name: What the sender is called.
        compared: The comparison with Reno.
        base: Reno's mean.
    """
    share = f", {compared.difference.mean / base:+.1%}" if base else ""
    difference = THROUGHPUT.show_interval(compared.difference)
    is_significant = compared.p_adjusted <= SIGNIFICANT
    verdict = "significant" if is_significant else "not significant"
    return f"{name} − Reno: {difference} {THROUGHPUT.unit}{share}; {verdict} (p = {compared.p_adjusted:.2g})."
