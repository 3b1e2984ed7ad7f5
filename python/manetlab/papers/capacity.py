"""The dissertation's capacity of a connection: what Table 1.1 gives for its shortest path at each instant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.ledger import Ledger

if TYPE_CHECKING:
    import numpy as np

    from manetlab.scenario import Scenario

STEP_S = 0.1
"""How often the topology is looked at, in s."""


def table_mbps(ledger: Ledger) -> tuple[float, ...]:
    """Table 1.1 as printed: the throughput of one TCP connection over 1, 2, … hops, in Mb/s."""
    return ledger.claim("D1-01").value


def of_hops(hops: int | None, table: Sequence[float]) -> float:
    """The capacity of a path: zero for none, the last entry for a path longer than the table."""
    return 0.0 if not hops else table[min(hops, len(table)) - 1]


def range_m(ledger: Ledger) -> float:
    """The nominal range of the dissertation's radio."""
    return wording.number(ledger.experiments["dyer2002/fig-1.2"].setup["mac_phy"], "m nominal range")


def over_time(ledger: Ledger, scenario: Scenario, src: int, dst: int) -> list[float]:
    """The capacity between two nodes every `STEP_S` from 0 to the end of a scenario, in Mb/s."""
    import numpy as np

    resolved = scenario.resolve()
    table, reach_m = table_mbps(ledger), range_m(ledger)
    samples = round(resolved.core["duration_s"] / STEP_S)
    positions = resolved.movement.positions
    return [
        of_hops(shortest_hops(np.asarray(positions(index * STEP_S)), reach_m, src, dst), table)
        for index in range(samples)
    ]


def shortest_hops(places: np.ndarray, reach_m: float, src: int, dst: int) -> int | None:
    """The least number of links from one node to another, or None if there is no path.

    Args:
        places: Nodes × 2, in m.
        reach_m: Nodes not farther apart than this are neighbours.
        src: From here.
        dst: To there.
    """
    import numpy as np

    offsets = places[:, None, :] - places[None, :, :]
    linked = (offsets**2).sum(axis=2) <= reach_m**2
    reached = np.zeros(len(places), dtype=bool)
    reached[src] = True
    rim = reached
    for hops in range(len(places)):
        if rim[dst]:
            return hops
        rim = linked[rim].any(axis=0) & ~reached
        if not rim.any():
            return None
        reached = reached | rim
    return None
