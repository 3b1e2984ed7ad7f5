"""What the movement alone allows: which packets had a path when they were sent, and which can arrive at all.

The **ceiling** is a bound that no protocol passes, however long it keeps packets: what is sent by then can
still be carried to its destination before the run ends, over links that need not be there at the same time.
The share with a path when sent is less. A protocol that keeps packets until there is a path can pass it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from manetlab import _core

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

STEP_S, MOST_STEPS = 1.0, 10_000
"""The time between two looks at the network, in s; it is longer where there would be more looks than this."""
HELD_S = 30.0
"""For how long routing protocols usually keep packets that have no route, in s (AODV, DSR)."""


@dataclass(frozen=True)
class Ceiling:
    """What the movement allows a flow, of what it sends in the measurement.

    Attributes:
        flow: The flow's number.
        kind: Its kind.
        src: Its source.
        dst: Its destination.
        sent: The packets of a CBR flow; of others the time in which they send, in s.
        with_path: Share of its packets whose ends have a path when they are sent.
        held: Share that can arrive within 30 s, if nodes keep what they cannot pass on.
        ceiling: Share that can arrive before the run ends: the most that any protocol delivers.
    """

    flow: int
    kind: str
    src: int
    dst: int
    sent: float
    with_path: float
    held: float
    ceiling: float

    def to_dict(self) -> dict[str, Any]:
        """The values by name."""
        return asdict(self)


def of_flows(resolved: Resolved) -> list[Ceiling]:
    """The ceilings of all flows that send in the measurement.

    Packets of a CBR flow are those that it sends; of other flows each instant between start and stop counts
    as much as any other.
    """
    if not resolved.flows:
        return []
    duration_s = float(resolved.core["duration_s"])
    step_s = max(STEP_S, duration_s / MOST_STEPS)
    reach = _core.reach(resolved.core_json(), resolved.movement, step_s)
    found = []
    for number, (flow, (now, arrival)) in enumerate(zip(resolved.flows, reach, strict=True)):
        sent = _sent_by_step(flow, float(resolved.core["warmup_s"]), duration_s, step_s, len(now))
        if not (total := sum(sent)):
            continue
        within = math.ceil(HELD_S / step_s)

        def share(counts: Mapping[int, float], total: float = total) -> float:
            return sum(counts.values()) / total

        arrives = {step: count for step, count in enumerate(sent) if arrival[step] is not None}
        held = {step: n for step, n in arrives.items() if (arrival[step] or 0) - step <= within}
        with_path = {step: count for step, count in enumerate(sent) if now[step]}
        ends = (int(flow["src"]), int(flow["dst"]))
        found.append(
            Ceiling(number, str(flow["kind"]), *ends, total, share(with_path), share(held), share(arrives))
        )
    return found


def _sent_by_step(
    flow: Mapping[str, Any], from_s: float, duration_s: float, step_s: float, steps: int
) -> list[float]:
    """How much a flow sends in each step of the run that belongs to the measurement."""
    start_s, stop_s = float(flow["start_s"]), min(float(flow.get("stop_s") or duration_s), duration_s)
    sent = [0.0] * steps
    if flow["kind"] == "cbr":
        interval_s = float(flow["interval_s"])
        first = max(0, math.ceil((from_s - start_s) / interval_s))
        for number in range(first, math.ceil((stop_s - start_s) / interval_s)):
            sent[min(int((start_s + number * interval_s) / step_s), steps - 1)] += 1.0
        return sent
    begin_s = max(start_s, from_s)
    for step in range(int(begin_s / step_s), steps):
        overlap_s = min(stop_s, (step + 1) * step_s) - max(begin_s, step * step_s)
        if overlap_s <= 0.0:
            break
        sent[step] += overlap_s
    return sent


def together(ceilings: list[Ceiling], kind: str = "cbr") -> tuple[float, float] | None:
    """The share of a kind of flows' packets with a path when sent, and their ceiling; None without flows."""
    of_kind = [each for each in ceilings if each.kind == kind]
    if not of_kind:
        return None
    whole = sum(each.sent for each in of_kind)
    with_path = sum(each.sent * each.with_path for each in of_kind)
    return with_path / whole, sum(each.sent * each.ceiling for each in of_kind) / whole
