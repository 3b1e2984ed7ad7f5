"""What held a flow up, and for how long: each instant of its life has one cause.

docs/recording.md says what each cause means. viewer/src/stalls.ts computes the same in pages; a test compares
the two.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CAUSES = ("on-air", "queue", "back-off", "searching", "kept", "no-path", "lost", "timeout", "idle")
"""All causes, in the order in which tables and pages list them."""
OF_COPIES = {"duplicate", "already-seen", "suppressed"}
"""Reasons for drops of further copies, which lose nothing."""

FRAMES = {"rts", "cts", "data", "ack"}
EXCHANGE_NS = 30_000
"""Frames this close belong to one exchange: more than SIFS, and less than any DIFS."""
EVERYBODY = -1
"""Where broadcasts go, which nobody acknowledges: unless a receiver sends it on, such a packet is lost."""
HANDLING_NS = 1_000_000
"""A node hands a packet on within this time after its frame has ended, unless it has no route."""
CELL_NS = 100_000_000
"""How often paths are looked for."""


class Step(NamedTuple):
    """What happened to a packet, or a frame that was sent for it.

    Attributes:
        time: When, ns.
        what: ``made``, ``sent``, ``delivered``, ``dropped``, ``kept``, or the kind of a frame.
        node: Where.
        uid: The packet.
        src: Its source.
        dst: Its destination.
        reason: Why it was dropped.
        until: When the frame ends, ns.
        to: The node that the data frame is addressed to, if it arrived there; `EVERYBODY` of a broadcast.
    """

    time: int
    what: str
    node: int
    uid: int
    src: int = -1
    dst: int = -1
    reason: str = ""
    until: int = 0
    to: int | None = None


class Stall(NamedTuple):
    """A part of a flow's life: from when to when (ns), what held it up, at which node, why it was lost."""

    start: int
    end: int
    cause: str
    node: int | None
    reason: str | None


@dataclass
class Packet:
    """A packet on its way.

    Attributes:
        order: Its number among those of its flow.
        node: Where it is.
        cause: What it waits for; ``lost``, or empty when it has arrived.
        reason: Why it was lost.
        pending: When the frame ends that has just brought it to a node, and which.
    """

    order: int
    is_forward: bool
    dst: int
    node: int
    cause: str = "searching"
    reason: str = ""
    pending: tuple[int, int] | None = None
    changes: list[tuple[int, str, int, str]] = field(default_factory=list)

    def become(self, time: int, cause: str, node: int, reason: str = "") -> None:
        """From this time on it waits for this, there."""
        self.cause, self.node, self.reason = cause, node, reason
        self.changes.append((time, cause, node, reason))

    def arrive(self, time: int) -> None:
        """Ends what is pending before a time."""
        if self.pending is not None and self.pending[0] <= time:
            ended, node = self.pending
            self.pending = None
            if node == EVERYBODY:
                self.become(ended, "lost", self.node, "broadcast")
            else:
                self.become(ended, "searching", node)


def stalls(
    steps: Iterable[Step],
    flow: tuple[int, int],
    life: tuple[int, int],
    timeouts: Iterable[int],
    is_joined: Callable[[int, int, int], bool] | None,
) -> list[Stall]:
    """The parts of a flow's life, which follow each other without a gap.

    Args:
        steps: What happened to its packets, in order.
        flow: Its source and destination.
        life: When it begins and ends, ns.
        timeouts: When its retransmission timer expired, ns.
        is_joined: Are two nodes joined by a path at a time in ns? None if that is not known.
    """
    packets, air = _followed(steps, flow[0])
    begin, end = life
    causes = _causes(packets, flow, life)
    parts = [
        part
        for start, until, cause, node, reason, ends in _with_air(causes, air, life)
        for part in _with_paths(Stall(start, until, cause, node, reason), ends, is_joined)
    ]
    return _merged(_timed_out(parts, set(timeouts)), begin, end)


def _followed(steps: Iterable[Step], source: int) -> tuple[list[Packet], list[tuple[int, int]]]:
    """Each packet's changes, and when frames were on the air for one of them."""
    packets: dict[int, Packet] = {}
    air: list[tuple[int, int]] = []
    for step in steps:
        packet = packets.get(step.uid)
        if packet is None:
            if step.what not in ("made", "sent", "kept"):
                continue
            packet = packets[step.uid] = Packet(len(packets), step.src == source, step.dst, step.node)
            packet.become(step.time, "searching", step.node)
        handled = packet.pending
        packet.arrive(step.time)
        if handled is not None and handled[1] == step.node and step.time - handled[0] <= HANDLING_NS:
            air.append((handled[0], step.time))
        _follow(packet, step, air)
    for packet in packets.values():
        packet.arrive(1 << 63)
    return list(packets.values()), air


def _follow(packet: Packet, step: Step, air: list[tuple[int, int]]) -> None:
    if step.what in FRAMES:
        air.append((step.time, step.until))
    if packet.cause == "":
        return
    match step.what:
        case "sent":
            packet.become(step.time, "queue", step.node)
        case "kept":
            packet.become(step.time, "kept", step.node)
        case "delivered":
            packet.become(step.time, "", step.node)
        case "dropped":
            # Elsewhere it is a copy that is dropped: the sender of one whose acknowledgement was lost.
            if step.reason not in OF_COPIES and step.node == packet.node:
                packet.become(step.time, "lost", step.node, step.reason)
        case "rts" | "data" if step.node == packet.node:
            packet.become(step.time, "back-off", step.node)
            if step.to is not None:
                packet.pending = (step.until, step.to)


Held = tuple[int, int, str, int | None, str | None, tuple[int, int] | None]
"""From when to when, what, where, why, and the nodes that must be joined by a path."""


def _causes(packets: list[Packet], flow: tuple[int, int], life: tuple[int, int]) -> Iterator[Held]:
    """What the flow waits for, as if nothing were on the air and all were joined."""
    changes = sorted(
        (time, packet.order, number) for packet in packets for number, (time, *_) in enumerate(packet.changes)
    )
    waiting: tuple[list[int], list[int]] = ([], [])
    overtaken = [-1, -1]
    now: dict[int, tuple[str, int, str]] = {}
    last: tuple[str, int, str] = ("", flow[0], "")
    begin, end = life
    for i, (time, order, number) in enumerate(changes):
        packet = packets[order]
        _, cause, node, reason = packet.changes[number]
        now[order] = (cause, node, reason)
        way = 0 if packet.is_forward else 1
        if cause in ("", "lost"):
            last = now[order]
            if cause == "":
                overtaken[way] = max(overtaken[way], order)
        else:
            heapq.heappush(waiting[way], order)
        until = changes[i + 1][0] if i + 1 < len(changes) else end
        if until > time and until > begin and time < end:
            held = _foremost(waiting, overtaken, now)
            span = max(begin, time), min(end, until)
            if held is not None:
                cause, node, _ = now[held]
                yield (*span, cause, node, None, (node, packets[held].dst))
            elif last[0] == "lost":
                yield (*span, "lost", last[1], last[2], flow)
            else:
                yield (*span, "idle", None, None, None)


def _foremost(
    waiting: tuple[list[int], list[int]], overtaken: list[int], now: dict[int, tuple[str, int, str]]
) -> int | None:
    """The oldest packet on its way that none made later has overtaken; of those back if there is no other."""
    for way, heap in enumerate(waiting):
        while heap and (heap[0] < overtaken[way] or now[heap[0]][0] in ("", "lost")):
            heapq.heappop(heap)
        if heap:
            return heap[0]
    return None


def _with_air(causes: Iterator[Held], air: list[tuple[int, int]], life: tuple[int, int]) -> Iterator[Held]:
    """The same with the times in which a frame is on the air; before the first packet there is nothing."""
    spans = _joined(air)
    at, where = life[0], 0
    for start, end, *rest in causes:
        if start > at:
            yield (at, start, "idle", None, None, None)
        at = start
        while at < end:
            while where < len(spans) and spans[where][1] <= at:
                where += 1
            first, last = spans[where] if where < len(spans) else (end, end)
            if first > at:
                yield (at, min(first, end), *rest)  # type: ignore[misc]
                at = min(first, end)
            else:
                yield (at, min(last, end), "on-air", None, None, None)
                at = min(last, end)
    if at < life[1]:
        yield (at, life[1], "idle", None, None, None)


def _joined(air: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those of one exchange as one."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted(air):
        if spans and start <= spans[-1][1] + EXCHANGE_NS:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return spans


def _with_paths(
    stall: Stall, ends: tuple[int, int] | None, is_joined: Callable[[int, int, int], bool] | None
) -> Iterator[Stall]:
    """The part, split where a path between two nodes comes or goes."""
    if is_joined is None or ends is None:
        yield stall
        return
    at = stall.start
    while at < stall.end:
        cell_end = min(stall.end, (at // CELL_NS + 1) * CELL_NS)
        if is_joined(*ends, at):
            yield stall._replace(start=at, end=cell_end)
        else:
            yield Stall(at, cell_end, "no-path", ends[0], None)
        at = cell_end


def _timed_out(parts: list[Stall], timeouts: set[int]) -> list[Stall]:
    """What waits with nothing on its way until the timer expires waits for it."""
    made = list(parts)
    for last in range(len(made) - 1, -1, -1):
        if made[last].end not in timeouts:
            continue
        for i in range(last, -1, -1):
            if made[i].cause not in ("lost", "idle"):
                break
            made[i] = made[i]._replace(cause="timeout")
    return made


def _merged(parts: list[Stall], begin: int, end: int) -> list[Stall]:
    made: list[Stall] = []
    for part in parts:
        if part.end <= part.start:
            continue
        if made and made[-1][2:] == part[2:]:
            made[-1] = made[-1]._replace(end=part.end)
        else:
            made.append(part)
    assert not made or (made[0].start == begin and made[-1].end == end)
    return made


class Paths:
    """Which nodes are joined by others that are within range of each other."""

    def __init__(
        self,
        nodes: int,
        points: dict[str, NDArray[np.float64]],
        presence: dict[str, NDArray[np.float64]],
        range_m: float,
    ) -> None:
        """Points are ``node``, ``time_s``, ``x``, ``y``, and presence ``node``, ``from_s``, ``until_s``."""
        self.nodes, self.range_m = nodes, range_m
        self._legs = [
            tuple(points[name][points["node"] == node] for name in ("time_s", "x", "y"))
            for node in range(nodes)
        ]
        self._presence = presence
        self.is_static = not len(presence["node"]) and all(len(time) <= 1 for time, _, _ in self._legs)
        self._known: dict[int, NDArray[np.int64]] = {}

    def are_joined(self, first: int, second: int, time: int) -> bool:
        """Are two nodes joined, as it is at the begin of the time's tenth of a second?"""
        cell = 0 if self.is_static else time // CELL_NS
        if cell not in self._known:
            self._known[cell] = self._parts(cell * CELL_NS * 1e-9)
        parts = self._known[cell]
        return bool(parts[first] == parts[second])

    def _parts(self, time: float) -> NDArray[np.int64]:
        """Of each node the number of the part of the network that it is in."""
        x, y, here = self._positions(time)
        near = (x[:, None] - x) * (x[:, None] - x) + (y[:, None] - y) * (y[:, None] - y)
        links = (near <= self.range_m * self.range_m) & here[:, None] & here
        parts = np.full(self.nodes, -1, dtype=np.int64)
        for node in range(self.nodes):
            if parts[node] >= 0:
                continue
            edge = np.zeros(self.nodes, dtype=bool)
            edge[node] = True
            while edge.any():
                parts[edge] = node
                edge = links[edge].any(axis=0) & (parts < 0)
        return parts

    def _positions(self, time: float) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        x, y = np.zeros(self.nodes), np.zeros(self.nodes)
        for node, (times, xs, ys) in enumerate(self._legs):
            if not len(times):
                continue
            leg = max(0, int(np.searchsorted(times, time, side="right")) - 1)
            after = min(leg + 1, len(times) - 1)
            length = times[after] - times[leg]
            part = (time - times[leg]) / length if time > times[leg] and length > 0 else 0.0
            x[node] = xs[leg] + (xs[after] - xs[leg]) * part
            y[node] = ys[leg] + (ys[after] - ys[leg]) * part
        return x, y, self._are_present(time)

    def _are_present(self, time: float) -> NDArray[np.bool_]:
        here = np.ones(self.nodes, dtype=bool)
        of, start, end = (self._presence[name] for name in ("node", "from_s", "until_s"))
        for node in np.unique(of).astype(int):
            mine = of == node
            here[node] = bool(((start[mine] <= time) & (time < end[mine])).any())
        return here
