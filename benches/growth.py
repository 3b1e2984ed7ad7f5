"""Cost and number of nodes, at a constant density.

Two loads: nodes that stand, whose traffic stays short, and nodes that move as in the standard scenario, which
drift apart from the nodes that they talk to, so that AODV floods ever larger networks. Frames and arrivals
per node tell the growth of the protocol from that of the simulator.
"""

import json
import statistics
from dataclasses import dataclass

from benches import scenarios
from benches.measuring import Cost, measured, progress
from manetlab.tables import Table

DURATION_S = 100.0
STANDING_S = 1000.0
"""A first pause longer than the run."""
SEEDED_NODES = 1000
"""Networks smaller than this are drawn several times, so that as many nodes are measured."""
MOST_SEEDS = 5
NS2_LIMIT_S = 900.0


@dataclass(frozen=True)
class Point:
    """Means over the networks of one size."""

    nodes: int
    cpu_s: float
    run_s: float
    peak_mb: float
    frames: float
    arrivals: float
    events: float

    def per_node_s(self, amount: float) -> float:
        """An amount per node and simulated second."""
        return amount / self.nodes / DURATION_S


def standing(sizes: list[int], beside: list[int], profile: str) -> Table:
    """Nodes that stand."""
    return _growth("Standing nodes", STANDING_S, sizes, beside, profile)


def moving(sizes: list[int], beside: list[int], profile: str) -> Table:
    """Nodes that move as in the standard scenario."""
    return _growth("Moving nodes", 0.0, sizes, beside, profile)


def _growth(name: str, pause_s: float, sizes: list[int], beside: list[int], profile: str) -> Table:
    columns = ("nodes", "CPU/node·s", "÷ first", "frames/node·s", "arrivals/node·s", "CPU/arrival", "÷ first")
    shown = Table(
        f"{name}, profile {profile}", (*columns, "memory", "ns-2.35 ÷ ours", "ns-2.35 memory"), text_columns=0
    )
    first: Point | None = None
    for nodes in sizes:
        point = _measured(nodes, pause_s, profile)
        first = first or point
        theirs = _beside_ns2(nodes, pause_s) if nodes in beside else ("–", "–")
        per_node, per_arrival = point.per_node_s(point.run_s), point.run_s / point.arrivals
        shown.add(
            f"{nodes:,}",
            f"{per_node * 1e6:.1f} µs",
            f"{per_node / first.per_node_s(first.run_s):.2f}",
            f"{point.per_node_s(point.frames):.2f}",
            f"{point.per_node_s(point.arrivals):.0f}",
            f"{per_arrival * 1e9:.0f} ns",
            f"{per_arrival / (first.run_s / first.arrivals):.2f}",
            f"{point.peak_mb:.0f} MB",
            *theirs,
        )
    return shown


def _seeds(nodes: int) -> range:
    return range(1, 1 + max(1, min(MOST_SEEDS, SEEDED_NODES // nodes)))


def _measured(nodes: int, pause_s: float, profile: str) -> Point:
    costs: list[Cost] = []
    for seed in _seeds(nodes):
        files = scenarios.growing(nodes, DURATION_S, seed, pause_s)
        cost = measured([*files.for_manetlab(seed), "--profile", profile])
        assert cost is not None
        costs.append(cost)
        progress(f"{nodes} nodes, pause {pause_s:g} s, network {seed}: {cost.cpu_s:.2f} s")
    results = [json.loads(cost.output) for cost in costs]
    origins = [result["provenance"] for result in results]
    mean = statistics.mean
    return Point(
        nodes,
        mean(cost.cpu_s for cost in costs),
        mean(origin["cpu_time_s"] for origin in origins),
        max(cost.peak_mb for cost in costs),
        mean(result["totals"]["mac_frames_per_s"] for result in results) * DURATION_S,
        mean(origin["arrivals"] for origin in origins),
        mean(origin["events"] for origin in origins),
    )


def _beside_ns2(nodes: int, pause_s: float) -> tuple[str, str]:
    """ns-2's CPU time over ours by ns-2's profile, whole commands, and its memory, for the first network."""
    files = scenarios.growing(nodes, DURATION_S, 1, pause_s)
    ours = measured(files.for_manetlab(seed=1))
    theirs = measured(files.for_ns2(seed=1), limit_s=NS2_LIMIT_S)
    assert ours is not None
    progress(f"{nodes} nodes beside ns-2: {ours.cpu_s:.2f} s, {theirs.cpu_s if theirs else 'too long'} s")
    if theirs is None:
        return f"over {NS2_LIMIT_S / ours.cpu_s:.1f}", "–"
    return f"{theirs.cpu_s / ours.cpu_s:.1f}", f"{theirs.peak_mb:.0f} MB"
