"""What every routing protocol costs: in one network of 50 nodes, and with 1,000 nodes at the same density."""

import json
import math
from collections.abc import Iterator
from typing import Any

from benches.measuring import MANETLAB, OUT, Cost, in_turn, measured, progress, ratios, spread
from benches.scenarios import NODES_PER_KM2
from manetlab import Scenario, _core, run
from manetlab.files import write_text
from manetlab.resolving import Resolved
from manetlab.tables import Table

Fields = dict[str, Any]

NODES, MANY_NODES = 50, 1000
DURATION_S = 100.0
WARMUP_S = 20.0
FLOWS = 20
WITHIN_HOPS = 5
"""From each flow's source to its destination, at the start: fewer than any protocol's messages may cross."""
LIMIT_S = 600.0
"""Processor time after which a run is given up."""


def names() -> list[str]:
    """All protocols, AODV first."""
    return sorted(_core.routings(), key=lambda name: (name != "aodv", name))


def scenario(nodes: int, routing: str) -> Fields:
    """Nodes that walk and drive through a field, and CBR flows of two packets a second."""
    side_m = 1000.0 * math.sqrt(nodes / NODES_PER_KM2)
    field = {"nodes": nodes, "width_m": side_m, "height_m": side_m, "speed_min": 1.0, "speed_max": 10.0}
    traffic = {"cbr": FLOWS, "cbr_bytes": 512, "cbr_interval_s": 0.5, "cbr_within_hops": WITHIN_HOPS}
    return {
        "duration_s": DURATION_S,
        "warmup_s": WARMUP_S,
        "seed": 1,
        "routing": routing,
        "movement": {"waypoint": field},
        "traffic": {"random": traffic},
    }


def _cost(resolved: Resolved) -> tuple[float, int, int]:
    """CPU time of a run, its events and its arrivals."""
    origin = run(resolved).provenance
    return origin["cpu_time_s"], origin["events"], origin["arrivals"]


def table(rounds: int) -> Table:
    """CPU time and events a second of every protocol in the same network, beside AODV's in the same round."""
    progress(f"{len(names())} routing protocols, {NODES} nodes, {rounds} rounds")
    networks = [Scenario.build(scenario(NODES, name)).resolve() for name in names()]
    found = in_turn(rounds, *(lambda resolved=resolved: _cost(resolved) for resolved in networks))
    columns = ("routing", "CPU time", "÷ AODV", "events", "million events/s", "÷ AODV", "arrivals")
    shown = Table(f"Routing protocols, {NODES} nodes, {DURATION_S:g} s, {rounds} rounds", columns)
    of_aodv = [seconds for seconds, _, _ in found[0]]
    rates_of_aodv = [events / seconds for seconds, events, _ in found[0]]
    for name, costs in zip(names(), found, strict=True):
        times = [seconds for seconds, _, _ in costs]
        rates = [events / seconds for seconds, events, _ in costs]
        shown.add(
            name,
            spread(times, 3, " s"),
            spread(ratios(times, of_aodv)),
            f"{costs[0][1]:,}",
            spread([1e-6 * rate for rate in rates]),
            spread(ratios(rates, rates_of_aodv)),
            f"{costs[0][2]:,}",
        )
    return shown


def thousand(only: list[str] | None = None) -> Table:
    """One run of every protocol with 1,000 nodes: what it takes, and what arrives."""
    columns = (
        *("routing", "CPU time", "memory", "million events", "million events/s"),
        *("CBR delivered", "routing packets/node·s", "air that routing takes", "routing in all bytes"),
    )
    shown = Table(f"{MANY_NODES:,} nodes, {DURATION_S:g} s, {FLOWS} CBR flows", columns)
    OUT.mkdir(parents=True, exist_ok=True)
    for name in only or names():
        path = OUT / f"routing-{name}.toml"
        write_text(path, "".join(_lines(scenario(MANY_NODES, name))))
        cost = measured([*MANETLAB, "run", path, "--json"], limit_s=LIMIT_S)
        row = [f"over {LIMIT_S:g} s", *["–"] * 7] if cost is None else _of_many(name, cost)
        # Each at once: whoever stops the long ones keeps the others.
        progress(f"{name}: {', '.join(row)}")
        shown.add(name, *row)
    return shown


def _lines(fields: Fields, under: str = "") -> Iterator[str]:
    """A scenario as TOML, a line for each value."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _lines(value, f"{under}{name}.")
        else:
            yield f"{under}{name} = {json.dumps(value)}\n"


def _of_many(name: str, cost: Cost) -> list[str]:
    result = json.loads(cost.output)
    totals, origin = result["totals"], result["provenance"]
    return [
        f"{cost.cpu_s:.1f} s",
        f"{cost.peak_mb:.0f} MB",
        f"{1e-6 * origin['events']:.1f}",
        f"{1e-6 * origin['events'] / origin['cpu_time_s']:.2f}",
        f"{100 * totals['cbr_delivery_fraction']:.0f} %",
        f"{totals['routing_packets_per_s'] / MANY_NODES:.2f}",
        f"{100 * _air(name, totals):.0f} %",
        f"{100 * totals['routing_mac_bytes_per_s'] / totals['mac_bytes_per_s']:.0f} %",
    ]


def _air(name: str, totals: Fields) -> float:
    """The share of time for which frames of routing are on the air within carrier sense of a node, if all of
    them are broadcasts, and none overlap."""
    params = Scenario.build(scenario(MANY_NODES, name)).resolve().params
    mac = params["mac"]
    sensed_m = _core.radio_ranges(json.dumps(params))[2]
    near = NODES_PER_KM2 * math.pi * (sensed_m / 1000.0) ** 2 / MANY_NODES
    headers_s = totals["routing_mac_frames_per_s"] * mac["plcp_bits"] / mac["plcp_rate_bps"]
    bodies_s = 8.0 * totals["routing_mac_bytes_per_s"] / mac["broadcast_rate_bps"]
    return float(near * (headers_s + bodies_s))
