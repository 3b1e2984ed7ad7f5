"""The dissertation's capacity of a connection in the units of its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.capacity import capacity_over_time
from manetlab.papers.ledger import Ledger

if TYPE_CHECKING:
    from manetlab.scenario import Scenario


def table_mbps(ledger: Ledger) -> tuple[float, ...]:
    """Table 1.1 as printed: the throughput of one TCP connection over 1, 2, … hops, in Mb/s."""
    return ledger.claim("D1-01").value


def over_time(ledger: Ledger, scenario: Scenario, src: int, dst: int) -> list[float]:
    """The capacity between two nodes from 0 to the end of a scenario, ten times a second, in Mb/s."""
    # The unit is the table's.
    [series] = capacity_over_time(scenario, [(src, dst)], table_bps=table_mbps(ledger)).bps
    return series
