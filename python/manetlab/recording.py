"""Recordings of runs: what is recorded, and reading what was recorded as tables.

docs/recording.md describes the files and all columns.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import _core, recorded_head
from manetlab.errors import InputError, numbers_below, shown
from manetlab.files import check_outputs, completed, printable
from manetlab.optional_packages import require

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from manetlab.recorded_stalls import FlowsOf

KINDS = tuple(_core.RECORDED_KINDS)
"""The kinds of events, and what became of frames at their receivers."""

JSON_LINES = (".jsonl", ".json")
"""How names of files end that are written as JSON lines."""

ALL_NODES = -1
"""The address of all nodes in tables."""

_IN_SECONDS = ("rto", "airtime")
_NAMES = {"rate": "rate_bps", "rto": "rto_s", "airtime": "airtime_s", "length": "packets"}


_OF_STALLS = {
    **dict.fromkeys(("from_s", "until_s"), "double"),
    **dict.fromkeys(("from_ns", "until_ns"), "int64"),
    "cause": "string",
    "node": "int64",
    "reason": "string",
}
_OF_SHARES = {"cause": "string", "node": "int64", "reason": "string", "time_s": "double", "share": "double"}

_NEVER_NS = 2**63 - 1
"""Later than every event."""
_LATER_NS = 1_000_000_000
"""So long after a frame's end it has arrived everywhere, and is told: light goes 300,000 km in a second."""


def _in_ns(seconds: float) -> int:
    """A time as the simulator has it: the nearest nanosecond; negative ones are the start."""
    return min(_NEVER_NS, round(max(0.0, seconds) * 1e9)) if seconds < 1e10 else _NEVER_NS


@dataclass(frozen=True)
class RecordTo:
    """Where a run is recorded to, and what of it.

    Attributes:
        path: The file. If its name ends in ``.jsonl`` or ``.json``, it gets JSON lines, of the whole run.
        nodes: Only events at these nodes, and frames that are addressed to one of them.
        flows: Only what belongs to these flows, or to none.
        kinds: Only these, see `KINDS`.
        from_s: Only events from this time on, s.
        until_s: Only events before this time, s.
    """

    path: Path
    nodes: tuple[int, ...] | None = None
    flows: tuple[int, ...] | None = None
    kinds: tuple[str, ...] | None = None
    from_s: float | None = None
    until_s: float | None = None

    def to_core(self, nodes: int, flows: int, provenance: Callable[[], dict[str, Any]]) -> str:
        """What the core is told, as JSON, for a run with so many nodes and flows.

        Raises:
            InputError: Unknown node, flow, kind or time.
        """
        self._check_members("nodes", self.nodes, range(nodes), numbers_below(nodes))
        self._check_members("flows", self.flows, range(flows), numbers_below(flows))
        self._check_members("kinds", self.kinds, KINDS, ", ".join(KINDS))
        until_s = float("inf") if self.until_s is None else self.until_s
        if not 0.0 <= (self.from_s or 0.0) < until_s:
            found = f"from {self.from_s or 0.0:g} s until {until_s:g} s"
            hint = "times count from the start of the run"
            raise InputError(
                "nothing would be recorded", "record: from_s, until_s", found, "0 ≤ from < until", hint
            )
        json_lines = self.path.suffix.lower() in JSON_LINES
        chosen = [self.nodes, self.flows, self.kinds, self.from_s, self.until_s]
        if json_lines and any(each is not None for each in chosen):
            hint = "record to a file with another name, and export that: manetlab recording export"
            wanted = "no choice of nodes, flows, kinds or times"
            raise InputError("JSON lines hold the whole run", "record", str(self.path), wanted, hint)
        return json.dumps(
            {
                "json_lines": json_lines,
                "nodes": self.nodes,
                "flows": self.flows,
                "kinds": self.kinds,
                "from_s": self.from_s,
                "until_s": self.until_s,
                "provenance": None if json_lines else provenance(),
            }
        )

    def _check_members(
        self, name: str, chosen: tuple[Any, ...] | None, known: Iterable[Any], wanted: str
    ) -> None:
        for each in () if chosen is None else chosen:
            if each not in known:
                raise InputError(f"unknown {name}", f"record: {name}", shown(each), wanted)


class Recording:
    """A recording that is open.

    Attributes:
        head: What the file says first: nodes, duration, ranges, flows, the filter, where it comes from.
        complete: It is whole, and the run reached its end.
    """

    def __init__(self, path: str | Path) -> None:
        require("notebook", "manetlab.recording")
        self.path = Path(path)
        self._core = _core.Recording(self.path)
        self.head = recorded_head.checked(_parsed(self._core.head()), printable(path))
        self.complete: bool = self._core.is_complete()
        self._blocks = self._core.blocks()

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The flows as the scenario has them, with their numbers as ``id``."""
        flows: list[dict[str, Any]] = self.head["flows"]
        return flows

    @property
    def index(self) -> pa.Table:
        """A row for each block: its times in s, its events and frames, its place in the file in bytes."""
        import pyarrow as pa

        names = ("offset", "stored", "first_s", "last_s", "first_event", "events", "first_frame", "frames")
        columns = dict(zip(names, zip(*self._blocks, strict=True), strict=True)) if self._blocks else {}
        for name in ("first_s", "last_s"):
            columns[name] = tuple(ns * 1e-9 for ns in columns.get(name, ()))
        return pa.table(
            {name: pa.array(columns.get(name, ()), None if self._blocks else "int64") for name in names}
        )

    @property
    def movement(self) -> pa.Table:
        """Points between which nodes go straight on at constant speed: ``node``, ``time_s``, ``x``, ``y``."""
        with _as_the_head_says(self.path):
            return _Section(self.head, *self._core.movement()).table("point")

    def events(
        self,
        kind: str,
        from_s: float = 0.0,
        until_s: float = float("inf"),
        nodes: Iterable[int] | None = None,
    ) -> pa.Table:
        """The events of a kind as a table, in order. Only blocks of the times that are asked for are read.

        Args:
            kind: One of `KINDS`. The rows of ``reception`` are those of the frames that start in the time.
            from_s: From this time on, s.
            until_s: Before this time, s.
            nodes: Only at these nodes.

        Raises:
            InputError: Unknown kind, or the file is damaged.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if kind not in KINDS:
            raise InputError("unknown kind of events", "events", shown(kind), ", ".join(KINDS))
        with _as_the_head_says(self.path):
            from_ns, until_ns = _in_ns(from_s), _in_ns(until_s)
            if kind == "reception":
                parts = [self._receptions(from_ns, until_ns)]
            else:
                parts = [
                    section.events(kind, from_ns, until_ns) for section in self._sections(from_ns, until_ns)
                ]
            table = pa.concat_tables(
                [_Section(self.head, [""], []).events(kind), *parts]
            ).unify_dictionaries()
            if nodes is not None:
                table = table.filter(pc.is_in(table["node"], pa.array(sorted(nodes), "int64")))
        return table

    def order(self, kind: str) -> NDArray[np.int64]:
        """The place among all events of each event of a kind, as `events` lists them.

        Raises:
            InputError: The file is damaged.
        """
        import numpy as np

        with _as_the_head_says(self.path):
            wanted = {table["name"]: table["id"] for table in self.head["tables"]}[kind]
            parts = [np.empty(0, dtype=np.int64)]
            for number, block in enumerate(self._blocks):
                kinds = self._section(number).numbers("event", "kind")
                parts.append(block[4] + np.flatnonzero(kinds == wanted))
        return np.concatenate(parts)

    def presence(self) -> pa.Table:
        """When nodes are there, of those that are not always: ``node``, ``from_s``, ``until_s``."""
        with _as_the_head_says(self.path):
            section = _Section(self.head, *self._core.movement())
            if "presence" not in section.schema:
                import pyarrow as pa

                return pa.table({name: pa.array([], "double") for name in ("node", "from_s", "until_s")})
            return section.table("presence")

    def tables(
        self, kinds: Iterable[str] = KINDS, from_s: float = 0.0, until_s: float = float("inf")
    ) -> dict[str, pa.Table]:
        """`events` of several kinds, by kind."""
        return {kind: self.events(kind, from_s, until_s) for kind in kinds}

    def state(self, at_s: float) -> dict[str, pa.Table]:
        """The state of the network at a time, as far as events tell it; reads one block.

        Returns:
            ``routes`` (node, destination, next hop, hops), ``queues`` (those that are not empty), ``windows``
            and ``flows``, as they are when all events at that time have happened.

        Raises:
            InputError: The file is damaged.
        """
        import pyarrow as pa

        with _as_the_head_says(self.path):
            number = max((n for n, block in enumerate(self._blocks) if block[2] * 1e-9 <= at_s), default=None)
            section = _Section(self.head, [""], []) if number is None else self._section(number)
            state = {}
            for name, (before, kind, key, is_there) in _STATES.items():
                empty = section.table(before)
                # Just above the time, so that what happens at it has happened.
                changes = section.events(kind, 0, round(at_s * 1e9) + 1)
                columns = empty.column_names
                rows = {tuple(row[k] for k in key): row for row in empty.to_pylist()}
                for row in changes.to_pylist():
                    rows[tuple(row[k] for k in key)] = {column: row[column] for column in columns}
                kept = [row for _, row in sorted(rows.items()) if is_there(row)]
                state[name] = pa.Table.from_pylist(kept, empty.schema)
        return state

    def stalls(self, flow: int) -> pa.Table:
        """What held a flow up: rows that follow each other from the flow's begin to its end, without a gap.

        Returns:
            ``from_s``, ``until_s``, ``from_ns``, ``until_ns``, ``cause`` (one of `manetlab.stalls.CAUSES`),
            ``node``, and of what was lost the ``reason``. No rows if the flow never began.

        Raises:
            InputError: Unknown flow, the recording leaves out what is needed, or it is damaged.
        """
        import pyarrow as pa

        with _as_the_head_says(self.path):
            parts = self._flows_of.stalls(flow)
        columns: dict[str, list[Any]] = {
            "from_s": [each.start * 1e-9 for each in parts],
            "until_s": [each.end * 1e-9 for each in parts],
            "from_ns": [each.start for each in parts],
            "until_ns": [each.end for each in parts],
            "cause": [each.cause for each in parts],
            "node": [each.node for each in parts],
            "reason": [each.reason for each in parts],
        }
        return pa.table(columns, schema=pa.schema(_OF_STALLS))

    def stall_shares(self, flow: int | None = None) -> pa.Table:
        """How long each cause held a flow up, or all flows together, the longest first.

        Returns:
            ``cause``, ``node``, ``reason``, ``time_s``, ``share``. The shares add up to 1: the times, in ns,
            are exactly the life of the flow, or the lives of the flows.

        Raises:
            InputError: As `stalls`.
        """
        import pyarrow as pa

        sums: dict[tuple[str, int | None, str | None], int] = {}
        flows = [each["id"] for each in self.flows] if flow is None else [flow]
        for row in (row for each in flows for row in self.stalls(each).to_pylist()):
            key = (row["cause"], row["node"], row["reason"])
            sums[key] = sums.get(key, 0) + row["until_ns"] - row["from_ns"]
        life = sum(sums.values())
        order = sorted(sums.items(), key=lambda each: (-each[1], str(each[0])))
        columns: dict[str, list[Any]] = {
            "cause": [cause for (cause, _, _), _ in order],
            "node": [node for (_, node, _), _ in order],
            "reason": [reason for (_, _, reason), _ in order],
            "time_s": [time * 1e-9 for _, time in order],
            "share": [time / life for _, time in order],
        }
        return pa.table(columns, schema=pa.schema(_OF_SHARES))

    @cached_property
    def _flows_of(self) -> FlowsOf:
        from manetlab.recorded_stalls import FlowsOf

        return FlowsOf(self)

    def export_json_lines(self, path: str | Path) -> None:
        """Writes all events as JSON lines.

        Raises:
            InputError: The recording is damaged, or the file cannot be written.
        """
        check_outputs({"path": Path(path)}, [self.path])
        with completed([Path(path)]) as places:
            self._core.export_lines(places[Path(path)])

    def _section(self, number: int) -> _Section:
        return _Section(self.head, *self._core.block(number), first_frame=self._blocks[number][6])

    def _sections(self, from_ns: int, until_ns: int) -> Iterator[_Section]:
        """The blocks with events in the time; what they have beyond it is left to the caller."""
        for number, block in enumerate(self._blocks):
            if block[3] >= from_ns and block[2] < until_ns:
                yield self._section(number)

    def _receptions(self, from_ns: int, until_ns: int) -> pa.Table:
        """What became of the frames that start in the time."""
        import pyarrow as pa
        import pyarrow.compute as pc

        empty = _Section(self.head, [""], []).table("reception")
        sections = self._sections(from_ns, until_ns)
        frames = pa.concat_tables(
            [
                _Section(self.head, [""], []).events("frame"),
                *(each.events("frame", from_ns, until_ns) for each in sections),
            ]
        )
        if not len(frames):
            return empty
        first, last = frames["number"][0], frames["number"][-1]
        # They are told when the last of the frames has ended, which may be in a later block.
        ended_s = pc.max(pc.add(frames["time_s"], frames["airtime_s"])).as_py()
        sections = self._sections(from_ns, _in_ns(ended_s) + _LATER_NS)
        all_ = pa.concat_tables([empty, *(section.table("reception") for section in sections)])
        inside = pc.and_(pc.greater_equal(all_["frame"], first), pc.less_equal(all_["frame"], last))
        return all_.filter(inside)


def open(path: str | Path) -> Recording:  # noqa: A001
    """Opens a recording.

    Raises:
        InputError: The file cannot be read or is no recording, or pyarrow is not installed.
    """
    return Recording(path)


def _parsed(head: str) -> object:
    try:
        return json.loads(head)
    except (ValueError, RecursionError):
        return None


@contextlib.contextmanager
def _as_the_head_says(path: Path) -> Iterator[None]:
    """Tells that the tables are not as the head says, which anything may fail at.

    Raises:
        InputError: They are not.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        found, hint = f"{type(error).__name__}: {error}", "the file is damaged, or another program wrote it"
        wanted = "tables as its head describes them"
        raise InputError("the recording cannot be read", printable(path), found[:200], wanted, hint) from None


def _has_route(row: dict[str, Any]) -> bool:
    return row["next_hop"] is not None


_STATES: dict[str, tuple[str, str, tuple[str, ...], Callable[[dict[str, Any]], bool]]] = {
    "routes": ("at-route", "route", ("node", "dst"), _has_route),
    "queues": ("at-queue", "queue", ("node",), lambda row: row["packets"] > 0),
    "windows": ("at-window", "window", ("flow",), lambda _: True),
    "flows": ("at-flow", "flow", ("flow",), lambda _: True),
}
"""The parts of the state: the table at a block's head, the events that change it, what a row is about, and
whether a row is part of it."""


class _Section:
    """The tables of a block, or of the movement, in Arrow's form."""

    def __init__(
        self,
        head: dict[str, Any],
        strings: list[str],
        tables: list[tuple[str, int, list[tuple[str, str, bytes]]]],
        first_frame: int = 0,
    ) -> None:
        self.schema = {table["name"]: table for table in head["tables"]}
        self.strings = strings
        self.raw = {name: {c: data for c, _, data in columns} for name, _, columns in tables}
        self.first_frame = first_frame

    def numbers(self, table: str, column: str) -> NDArray[np.uint64]:
        """A column as it is stored; empty if the table is not there."""
        import numpy as np

        return np.frombuffer(self.raw.get(table, {}).get(column, b""), "<u8")

    def table(self, name: str) -> pa.Table:
        """A table, with the rows that it refers to in other tables."""
        import pyarrow as pa

        return pa.table(self._columns(name))

    def events(self, kind: str, from_ns: int = 0, until_ns: int = _NEVER_NS) -> pa.Table:
        """The events of a kind in the time, with time and node."""
        import numpy as np
        import pyarrow as pa

        if kind == "reception":
            return self.table(kind)
        mine = np.flatnonzero(self.numbers("event", "kind") == self.schema[kind]["id"])
        time_ns = self.numbers("event", "time")[mine].astype(np.int64)
        columns = {
            "time_s": pa.array(time_ns * 1e-9),
            "time_ns": pa.array(time_ns),
            "node": pa.array(self.numbers("event", "node")[mine].astype(np.int64)),
        }
        if kind == "frame":
            columns["number"] = pa.array(np.arange(len(mine), dtype=np.int64) + self.first_frame)
        table = pa.table({**columns, **self._columns(kind)})
        chosen = np.flatnonzero((time_ns >= from_ns) & (time_ns < until_ns))
        return table if len(chosen) == len(mine) else table.take(pa.array(chosen))

    def _columns(self, name: str) -> dict[str, pa.Array]:
        import pyarrow as pa

        columns: dict[str, pa.Array] = {}
        for column in self.schema[name]["columns"]:
            raw = self.numbers(name, column["name"])
            if column["type"] == "row":
                rows = pa.array(raw.astype("int64"))
                of = self._columns(column["of"])
                columns.update({each: values.take(rows) for each, values in of.items()})
            else:
                columns.update(self._column(column["name"], column["type"], raw))
        return columns

    def _column(self, name: str, kind: str, raw: NDArray[np.uint64]) -> dict[str, pa.Array]:
        import numpy as np
        import pyarrow as pa

        if kind == "float":
            return {_NAMES.get(name, name): pa.array(raw.view("<f8"))}
        number = raw.astype(np.int64)
        if kind == "time":
            return {f"{name}_s": pa.array(number * 1e-9)}
        if kind == "optional":
            return {name: pa.array(number - 1, mask=number == 0)}
        if kind == "address":
            return {name: pa.array(np.where(number == 1, ALL_NODES, number - 2), mask=number == 0)}
        if kind == "string":
            places = pa.array(number.astype(np.int32))
            return {name: pa.DictionaryArray.from_arrays(places, pa.array(self.strings, "string"))}
        values = number * 1e-9 if name in _IN_SECONDS else number
        return {_NAMES.get(name, name): pa.array(values)}
