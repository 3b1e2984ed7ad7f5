"""The dissertation's capacity of a connection: what Table 1.1 gives for its shortest path at each instant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manetlab.papers.ledger import Ledger

if TYPE_CHECKING:
    from manetlab.scenario import Scenario

STEP_S = 0.1
"""How often the topology is looked at, in s."""


def table_mbps(ledger: Ledger) -> tuple[float, ...]:
    """Table 1.1 as printed: the throughput of one TCP connection over 1, 2, … hops, in Mb/s."""
    return ledger.claim("D1-01").value


def of_hops(hops: int | None, table: Sequence[float]) -> float:
    """The capacity of a path: zero for none, the last entry for a path longer than the table."""
    return 0.0 if not hops else table[min(hops, len(table)) - 1]


def over_time(ledger: Ledger, scenario: Scenario, src: int, dst: int) -> list[float]:
    """The capacity between two nodes every `STEP_S` from 0 to the end of a scenario, in Mb/s."""
    from manetlab.topology import shortest_hops_over_time

    table = table_mbps(ledger)
    [hops] = shortest_hops_over_time(scenario, [(src, dst)], STEP_S).hops
    return [of_hops(each, table) for each in hops]
