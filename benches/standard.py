"""The standard scenario beside ns-2.35 on the same files."""

import json

from benches import scenarios
from benches.measuring import in_turn, measured, must, progress, ratios, spread
from manetlab.tables import Table

DURATION_S = 1000.0
WARMUP_S = 50.0
SHORT_S = 200.0
"""ns-2's DSDV does not finish 1000 s: a packet that it releases from its buffer goes straight back in."""


def table(rounds: int) -> Table:
    """CPU time of both, in turn, on one core."""
    files = scenarios.standard(DURATION_S, WARMUP_S, "standard")
    progress(f"standard scenario, {DURATION_S:g} s, {rounds} rounds")
    ours, theirs, traced = in_turn(
        rounds,
        lambda: must(measured(files.for_manetlab(seed=1, warmup_s=WARMUP_S))),
        lambda: must(measured(files.for_ns2(seed=1))),
        lambda: must(measured(files.for_ns2(seed=1, traces=True))),
    )
    whole = [cost.cpu_s for cost in ours]
    origins = [json.loads(cost.output)["provenance"] for cost in ours]
    alone = [origin["cpu_time_s"] for origin in origins]
    ns2 = [cost.cpu_s for cost in theirs]
    measuring = [cost.cpu_s for cost in traced]
    shown = Table(f"Standard scenario, {DURATION_S:g} s, {rounds} rounds", ("", "CPU time"))
    shown.add("manetlab, whole command", spread(whole, unit=" s"))
    shown.add("manetlab, the run alone", spread(alone, unit=" s"))
    shown.add("ns-2.35 without traces, whole command", spread(ns2, unit=" s"))
    shown.add("ns-2.35 with traces, whole command", spread(measuring, unit=" s"))
    shown.add("ns-2.35 without traces ÷ manetlab, whole commands", spread(ratios(ns2, whole), 1))
    shown.add("ns-2.35 without traces ÷ manetlab, our run alone", spread(ratios(ns2, alone), 1))
    shown.add("ns-2.35 with traces ÷ manetlab, whole commands", spread(ratios(measuring, whole), 1))
    shown.add("ns-2.35 with traces ÷ manetlab, our run alone", spread(ratios(measuring, alone), 1))
    arrivals, events = origins[0]["arrivals"], origins[0]["events"]
    shown.notes.append(
        f"The run simulates {arrivals / 1e6:.1f} million arrivals of frames at receivers and "
        f"{events / 1e6:.1f} million events: {min(alone) / arrivals * 1e9:.0f} ns an arrival in the fastest "
        "round, all included."
    )
    shown.notes.append(
        "ns-2's figures come out of its traces of agents and routing; here they go to /dev/null, and nobody "
        "reads them. manetlab measures as it runs."
    )
    return shown


def protocols_table(rounds: int) -> Table:
    """The beginning of the standard scenario over the other protocols, beside ns-2 where it has them."""
    files = scenarios.standard(SHORT_S, WARMUP_S, "standard")
    columns = ("over", "manetlab", "the run alone", "ns-2.35", "÷ whole commands", "÷ our run alone")
    shown = Table(f"Standard scenario over other protocols, {SHORT_S:g} s, {rounds} rounds", columns)
    for routing in ("dsdv", "dsr", "adv"):
        progress(f"standard scenario over {routing}, {rounds} rounds")
        of_ns2 = "aodv" if routing == "adv" else routing
        ours, theirs = in_turn(
            rounds,
            lambda routing=routing: must(measured(files.for_manetlab(1, WARMUP_S, routing))),
            lambda of_ns2=of_ns2: must(measured(files.for_ns2(1, of_ns2))),
        )
        whole = [cost.cpu_s for cost in ours]
        alone = [json.loads(cost.output)["provenance"]["cpu_time_s"] for cost in ours]
        ns2 = [cost.cpu_s for cost in theirs]
        quotients = (spread(ratios(ns2, whole), 1), spread(ratios(ns2, alone), 1))
        shown.add(
            routing, spread(whole, unit=" s"), spread(alone, unit=" s"), spread(ns2, unit=" s"), *quotients
        )
    shown.notes.append("ns-2 has no ADV; it stands beside ns-2's AODV.")
    return shown
