"""What held a flow of a recording up: what `manetlab.stalls` needs, from the recording's tables."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError, numbers_below, shown
from manetlab.files import printable
from manetlab.stalls import EVERYBODY, Paths, Stall, Step, stalls

if TYPE_CHECKING:
    from manetlab.recording import Recording

STEPS = ("made", "sent", "kept", "delivered", "dropped")
NEEDED = (*STEPS, "frame", "reception", "flow")
"""Kinds of events without which causes cannot be told."""


class FlowsOf:
    """The flows of a recording, whose events are read once for all of them."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._paths = _paths(recording)
        self._steps: dict[int, list[Step]] | None = None

    def stalls(self, flow: int) -> list[Stall]:
        """The parts of a flow's life; none if it never began.

        Raises:
            InputError: Unknown flow, or the recording leaves out what is needed.
        """
        known = {each["id"]: each for each in self.recording.flows}
        where = printable(self.recording.path)
        if flow not in known:
            raise InputError("unknown flow", where, shown(flow), numbers_below(len(known)))
        _check_filter(self.recording.head["filter"], flow, where)
        life = _life(self.recording, flow)
        if life is None:
            return []
        if self._steps is None:
            self._steps = _steps(self.recording)
        steps = self._steps.get(flow, [])
        begin, end, timeouts = life
        over = _over(self.recording)
        # What is on its way when the source has ended is the flow's, too.
        last = {step.uid: step.what for step in steps if step.what in STEPS}
        arrived = {step.uid for step in steps if step.what == "delivered"}
        if all(uid in arrived or what == "dropped" for uid, what in last.items()):
            end = max([end, *(step.time for step in steps if step.what in STEPS)])
        else:
            end = over
        ends = (known[flow]["src"], known[flow]["dst"])
        is_joined = None if self._paths is None else self._paths.are_joined
        return stalls(steps, ends, (begin, end), timeouts, is_joined)


def _check_filter(chosen: dict[str, Any], flow: int, where: str) -> None:
    hint = "record the run without choosing nodes, kinds or times"
    for name in ("nodes", "from_s", "until_s"):
        if chosen.get(name) is not None:
            raise InputError(
                "the recording has only a part of the run", where, name, "all nodes and times", hint
            )
    if (flows := chosen.get("flows")) is not None and flow not in flows:
        raise InputError("the recording leaves the flow out", where, shown(flow), f"one of {flows}", hint)
    if (kinds := chosen.get("kinds")) is not None and (missing := set(NEEDED) - set(kinds)):
        raise InputError(
            "the recording leaves events out", where, ", ".join(sorted(missing)), ", ".join(NEEDED), hint
        )


def _life(recording: Recording, flow: int) -> tuple[int, int, list[int]] | None:
    """When a flow begins and ends, and when its timer expired, in ns; None if it never began."""
    rows = [row for row in recording.events("flow").to_pylist() if row["flow"] == flow]
    opened = [row["time_ns"] for row in rows if row["step"] == "opened"]
    if not opened:
        return None
    steps = [row["step"] for row in rows if row["step"] in ("opened", "closed")]
    end = rows[-1]["time_ns"] if steps[-1] == "closed" else _over(recording)
    return opened[0], end, [row["time_ns"] for row in rows if row["step"] == "timed-out"]


def _over(recording: Recording) -> int:
    """When the recording ends, in ns."""
    if recording.complete:
        return round(float(recording.head["duration_s"]) * 1e9)
    return round(float(recording.index["last_s"].to_pylist()[-1]) * 1e9)


def _steps(recording: Recording) -> dict[int, list[Step]]:
    """What happened to the packets of each flow, in order."""
    flow_of: dict[int, int] = {}
    by_kind = [list(_of_kind(recording, kind, flow_of)) for kind in STEPS]
    frames = [each for each in _frames(recording, _arrived(recording)) if each[1].uid in flow_of]
    found: dict[int, list[Step]] = {}
    for _, step in heapq.merge(*by_kind, frames, key=lambda each: each[0]):
        found.setdefault(flow_of[step.uid], []).append(step)
    return found


Placed = tuple[int, Step]
"""A step, and its place in the order of all events."""


def _of_kind(recording: Recording, kind: str, flow_of: dict[int, int]) -> Iterator[Placed]:
    """The steps of a kind of all flows' packets; also notes the flow of each packet."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = recording.events(kind)
    mine = table.append_column("place", pa.array(recording.order(kind))).filter(pc.is_valid(table["flow"]))
    names = ("place", "time_ns", "node", "uid", "src", "dst", "flow")
    columns = [mine[name].to_pylist() for name in names]
    reasons = mine["reason"].to_pylist() if kind == "dropped" else [""] * mine.num_rows
    for place, time, node, uid, src, dst, flow, reason in zip(*columns, reasons, strict=True):
        flow_of[uid] = flow
        yield place, Step(time, kind, node, uid, src, dst, reason)


def _frames(recording: Recording, arrived: set[tuple[int, int]]) -> list[Placed]:
    """The frames that were sent for packets."""
    table = recording.events("frame")
    names = ("time_ns", "kind", "node", "uid", "airtime_s", "to", "number")
    columns = [table[name].to_pylist() for name in names]
    return [
        (
            place,
            Step(
                time,
                kind,
                node,
                uid,
                until=time + round(air * 1e9),
                to=to if kind == "data" and (to == EVERYBODY or (number, to) in arrived) else None,
            ),
        )
        for place, time, kind, node, uid, air, to, number in zip(
            recording.order("frame").tolist(), *columns, strict=True
        )
        if uid is not None
    ]


def _arrived(recording: Recording) -> set[tuple[int, int]]:
    """Frames, by their numbers, and nodes where they arrived."""
    import pyarrow.compute as pc

    table = recording.events("reception")
    good = table.filter(pc.equal(table["outcome"], "received"))
    return set(zip(good["frame"].to_pylist(), good["node"].to_pylist(), strict=True))


def _paths(recording: Recording) -> Paths | None:
    """Which nodes are within range of each other; None where more than the distance matters."""
    head = recording.head
    origin = (head.get("provenance") or {}).get("scenario") or {}
    if not head.get("links_by_distance", True) or origin.get("wired") or origin.get("radios"):
        return None
    range_m = max((each["range_m"] or 0.0 for each in head["receive_range_m"]), default=0.0)
    points, presence = recording.movement, recording.presence()
    columns = {name: points[name].to_numpy() for name in ("node", "time_s", "x", "y")}
    stays = {name: presence[name].to_numpy() for name in ("node", "from_s", "until_s")}
    return Paths(head["nodes"], columns, stays, range_m)
