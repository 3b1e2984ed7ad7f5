"""What is in a scenario: nodes, field, the network over time, and what each flow can deliver at most."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from manetlab import _core, ceilings
from manetlab.resolving import canonical

if TYPE_CHECKING:
    from manetlab.ceilings import Ceiling
    from manetlab.resolving import Resolved

PARTS = 5
"""Into how many parts of the run the network over time is cut."""
MOST_NAMES = 6
"""How many names of nodes are listed."""


@dataclass(frozen=True)
class Part:
    """The network in a part of the run.

    Attributes:
        from_s: Where it begins, in s.
        until_s: Where it ends, in s.
        degree_mean: Mean number of neighbours of a node.
        partitioned_pairs: Share of node pairs without a path; None with a single node.
    """

    from_s: float
    until_s: float
    degree_mean: float
    partitioned_pairs: float | None


@dataclass(frozen=True)
class Contents:
    """What is in a scenario.

    Attributes:
        nodes: How many nodes there are.
        labels: Their names; None if they are called by their numbers.
        low_m: Smallest x and y of any start or destination, in m.
        high_m: Greatest x and y of any start or destination, in m.
        heights_m: Lowest and greatest height when the run begins and ends, in m; None on flat fields.
        ends_s: When the movement ends, in s; 0 if nobody moves.
        speed_mean: Mean speed of a node, in m/s.
        geometric_mobility: Mean relative speed of two nodes, over all pairs, in m/s; None with one node.
        come_and_go: How many nodes join or leave during the run.
        over_time: The network in the parts of the run.
        ceilings: What each flow can deliver at most.
    """

    nodes: int
    labels: list[str] | None
    low_m: tuple[float, float]
    high_m: tuple[float, float]
    heights_m: tuple[float, float] | None
    ends_s: float
    speed_mean: float
    geometric_mobility: float | None
    come_and_go: int
    over_time: list[Part]
    ceilings: list[Ceiling]

    def to_dict(self) -> dict[str, Any]:
        """The values by name."""
        return asdict(self)

    def name(self, node: int) -> str:
        """What a node is called."""
        return str(node) if self.labels is None else self.labels[node]

    @property
    def lines(self) -> list[str]:
        """What is said in sentences."""
        (west, south), (east, north) = self.low_m, self.high_m
        field = f"field: {west:g} to {east:g} m east, {south:g} to {north:g} m north"
        if self.heights_m is not None:
            field += f", {self.heights_m[0]:g} to {self.heights_m[1]:g} m high"
        # Where nobody moves, what ends may be failures.
        relative = ""
        if self.geometric_mobility is not None:
            relative = f", {self.geometric_mobility:.2f} m/s of two nodes relative to each other"
        moves = f"movement: {self.speed_mean:.2f} m/s on average{relative}, which ends at {self.ends_s:g} s"
        if not self.speed_mean:
            moves = "movement: nobody moves"
        lines = [field, moves]
        if self.labels is not None:
            more = ", …" if len(self.labels) > MOST_NAMES else ""
            lines.append(f"names: {', '.join(self.labels[:MOST_NAMES])}{more}")
        if self.come_and_go:
            lines.append(f"presence: {self.come_and_go} of {self.nodes} nodes join or leave during the run")
        return lines


def contents(resolved: Resolved) -> Contents:
    """What is in a scenario."""
    duration_s = float(resolved.core["duration_s"])
    movement = resolved.movement
    cuts = [duration_s * part / PARTS for part in range(PARTS + 1)]
    found = [_topology(resolved, *times) for times in itertools.pairwise(cuts)]
    whole = _topology(resolved, 0.0, duration_s)
    heights = [each for time_s in (0.0, duration_s) for each in movement.heights(time_s)]
    return Contents(
        movement.nodes,
        movement.labels,
        tuple(whole["corner_low_m"]),
        tuple(whole["corner_high_m"]),
        (min(heights), max(heights)) if movement.has_heights else None,
        movement.ends_s,
        whole["speed_mean"],
        whole["geometric_mobility"],
        sum(bool(stays) for stays in movement.stays),
        [
            Part(from_s, until_s, part["degree_mean"], part["partitioned_pairs"])
            for (from_s, until_s), part in zip(itertools.pairwise(cuts), found, strict=True)
        ],
        ceilings.of_flows(resolved),
    )


def _topology(resolved: Resolved, from_s: float, until_s: float) -> dict[str, Any]:
    """The topology of a part of the run, by itself."""
    core = canonical({**resolved.core, "flows": [], "warmup_s": from_s, "duration_s": until_s})
    step_s = max(1e-3, min(1.0, until_s - from_s))
    found: dict[str, Any] = json.loads(_core.topology(core, resolved.movement, step_s))
    return found
