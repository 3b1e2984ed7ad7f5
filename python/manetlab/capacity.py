"""What a connection could carry alone if routing always knew the shortest path.

The estimate of T. D. Dyer's dissertation (2002), §1.3: at each instant the throughput of one TCP connection
over a static chain as long as the shortest path between the two nodes. docs/metrics.md defines it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError, shown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario

STEP_S = 0.1
"""Time between two evaluations of the topology, in s."""
TABLE_1_1_BPS = tuple(
    1e6 * mbps for mbps in (1.463, 0.729, 0.4844, 0.3399, 0.2464, 0.2052, 0.1981, 0.1918, 0.1853, 0.1824)
)
"""What one TCP connection carries over 1, 2, … hops, in bit/s: the dissertation's Table 1.1 as printed."""


@dataclass(frozen=True, repr=False)
class CapacityOverTime:
    """The estimated capacity between pairs of nodes at equally spaced instants.

    Attributes:
        times_s: The instants, in s, from the start of the run; the end of the run is not among them.
        pairs: Source and destination of each pair.
        hops: For each pair the hops of the shortest path at each instant; None where there is no path.
        bps: For each pair the capacity at each instant, in bit/s; zero where there is no path.
    """

    times_s: list[float]
    pairs: list[tuple[int, int]]
    hops: list[list[int | None]]
    bps: list[list[float]]

    def means_bps(self, from_s: float = 0.0) -> list[float]:
        """The mean capacity of each pair over the instants from ``from_s`` on, in bit/s.

        Raises:
            InputError: There is no instant from then on.
        """
        first = self._first(from_s)
        return [sum(values[first:]) / len(values[first:]) for values in self.bps]

    def without_path(self, from_s: float = 0.0) -> list[float]:
        """The share of the instants from ``from_s`` on in which each pair has no path.

        Raises:
            InputError: There is no instant from then on.
        """
        first = self._first(from_s)
        return [hops[first:].count(None) / len(hops[first:]) for hops in self.hops]

    def columns(self) -> dict[str, list[Any]]:
        """All of it as columns, pair by pair; ``flow`` is the pair's place."""
        count = len(self.times_s)
        return {
            "time_s": self.times_s * len(self.pairs),
            "flow": [place for place in range(len(self.pairs)) for _ in range(count)],
            "hops": [each for hops in self.hops for each in hops],
            "capacity_bps": [each for bps in self.bps for each in bps],
        }

    def to_frame(self) -> pd.DataFrame:
        """`columns` as a table."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def __repr__(self) -> str:
        """How much there is, in a line."""
        return f"<CapacityOverTime: {len(self.pairs)} pairs at {len(self.times_s)} instants>"

    def _first(self, from_s: float) -> int:
        if not from_s <= self.times_s[-1]:
            wanted = f"a time up to the last instant, {self.times_s[-1]:g} s"
            raise InputError("no instant is left", "capacity: from_s", f"{from_s:g} s", wanted)
        return bisect_left(self.times_s, from_s)


def capacity_over_time(
    scenario: Scenario | Resolved | str | Path,
    pairs: Iterable[tuple[int, int]] | None = None,
    step_s: float = STEP_S,
    table_bps: Sequence[float] | None = None,
) -> CapacityOverTime:
    """The estimated capacity between pairs of nodes over the whole run, warm-up included.

    Args:
        scenario: A scenario, or the name of a TOML file that holds one.
        pairs: Source and destination of each pair; those of the flows, in their order, if not given.
        step_s: Time between two instants, in s.
        table_bps: What one connection carries over 1, 2, … hops, in bit/s; a longer path has the last entry.
            The dissertation's Table 1.1 if not given.

    Raises:
        InputError: The scenario cannot be used, a node or the step is not allowed, or the table is empty.

    Examples:
        >>> import manetlab
        >>> four = {"chain": {"nodes": 4}}
        >>> chain = manetlab.Scenario(movement=four, traffic={"flows": []}, duration_s=10.0)
        >>> found = manetlab.capacity_over_time(chain, [(0, 1), (0, 3)], step_s=5.0)
        >>> found.times_s, found.hops
        ([0.0, 5.0], [[1, 1], [3, 3]])
        >>> found.bps[0] > found.bps[1]
        True
    """
    from manetlab.topology import shortest_hops_over_time

    table = TABLE_1_1_BPS if table_bps is None else table_bps
    if not table or not all(isinstance(each, int | float) and each >= 0 for each in table):
        wanted = "a list of throughputs over 1, 2, … hops, in bit/s"
        place = "capacity_over_time: table_bps"
        raise InputError("the table of throughputs is not valid", place, shown(table_bps), wanted)
    found = shortest_hops_over_time(scenario, pairs, step_s)
    bps = [[of_hops(each, table) for each in hops] for hops in found.hops]
    return CapacityOverTime(found.times_s, found.pairs, found.hops, bps)


def of_hops(hops: int | None, table: Sequence[float]) -> float:
    """The capacity of a path: zero for none, the last entry for a path longer than the table."""
    return 0.0 if not hops else table[min(hops, len(table)) - 1]
