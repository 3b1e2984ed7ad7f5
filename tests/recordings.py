"""Recordings of version 3 as tests need them, written from docs/recording.md and not by what writes them."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TABLES: dict[str, tuple[int, dict[str, str]]] = {
    "event": (0, {"time": "time", "kind": "uint", "node": "uint"}),
    "frame": (1, {"shape": "row", "to": "address", "uid": "optional"}),
    "made": (2, {"packet": "row", "uid": "uint", "ttl": "uint", "number": "optional"}),
    "sent": (3, {"packet": "row", "uid": "uint", "ttl": "uint", "next_hop": "address"}),
    "delivered": (4, {"packet": "row", "uid": "uint", "ttl": "uint", "number": "optional"}),
    "marked": (5, {"packet": "row", "uid": "uint", "ttl": "uint"}),
    "kept": (6, {"packet": "row", "uid": "uint", "ttl": "uint"}),
    "dropped": (7, {"packet": "row", "uid": "uint", "ttl": "uint", "reason": "string"}),
    "route": (8, {"dst": "address", "next_hop": "address", "hops": "optional"}),
    "queue": (9, {"length": "uint"}),
    "window": (10, {"flow": "uint", "cwnd": "float", "ssthresh": "float", "rto": "uint"}),
    "notice": (11, {"notice": "string", "dst": "address", "detail": "string"}),
    "flow": (12, {"flow": "uint", "step": "string"}),
    "reception": (32, {"frame": "uint", "node": "uint", "outcome": "string"}),
    "shape": (33, {"kind": "string", "for": "string", "rate": "uint", "bytes": "uint", "airtime": "uint"}),
    "packet": (
        34,
        {
            "what": "string",
            "src": "address",
            "dst": "address",
            "bytes": "uint",
            "cause": "string",
            "flow": "optional",
        },
    ),
    "at-route": (48, {"node": "uint", "dst": "address", "next_hop": "address", "hops": "optional"}),
    "at-queue": (49, {"node": "uint", "length": "uint"}),
    "point": (64, {"node": "uint", "time": "time", "x": "float", "y": "float"}),
    "index": (
        65,
        {
            "offset": "uint",
            "stored": "uint",
            "first": "time",
            "last": "time",
            "first_event": "uint",
            "events": "uint",
            "first_frame": "uint",
            "frames": "uint",
        },
    ),
}
BROADCAST = -1
PLAIN, ASCENDING, ZIGZAG, ZIGZAG_FROM = 0, 1, 2, 3
SHAPES = {"rts": 160, "cts": 112, "ack": 112}

Row = dict[str, Any]


@dataclass
class Recorded:
    """A recording in the making. Times are in ns; a node may be `BROADCAST`, and None stands for nothing."""

    nodes: int
    duration_s: float
    flows: list[Row] = field(default_factory=list)
    points: list[tuple[int, int, float, float]] = field(default_factory=list)
    range_m: float = 250.0
    sense_m: float = 550.0
    block_events: int = 65_536
    _events: list[tuple[int, int, str, Row]] = field(default_factory=list)
    _receptions: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    _frames: int = 0

    def point(self, node: int, time: int, x: float, y: float) -> None:
        self.points.append((node, time, x, y))

    def event(self, time: int, node: int, kind: str, **columns: Any) -> None:
        self._events.append((time, node, kind, columns))

    def frame(
        self,
        time: int,
        node: int,
        to: int,
        shape: tuple[str, str, int, int],
        uid: int | None = None,
        receptions: list[tuple[int, str]] | None = None,
    ) -> int:
        """A frame of a shape: kind, what it is for, bytes, airtime in ns. Returns its number."""
        kind, purpose, size, air = shape
        described = {"kind": kind, "for": purpose, "rate": 2_000_000, "bytes": size, "airtime": air}
        self.event(time, node, "frame", shape=described, to=to, uid=uid)
        self._receptions[self._frames] = receptions or []
        self._frames += 1
        return self._frames - 1

    def to_bytes(self) -> bytes:
        out = bytearray(b"\x89MLREC\r\n" + struct.pack("<II", 3, 0))
        out += _chunk(b"HEAD", json.dumps(self._head()).encode())
        points = [
            dict(zip(("node", "time", "x", "y"), each, strict=True))
            for each in sorted(self.points, key=lambda each: each[0])
        ]
        out += _chunk(b"MOVE", _section({"point": points}))
        index, first_frame = [], 0
        for start in range(0, len(self._events), self.block_events):
            events = self._events[start : start + self.block_events]
            section, frames = self._block(events, first_frame)
            head = struct.pack(
                "<QQQQIIQ", events[0][0], events[-1][0], start, first_frame, len(events), frames, 0
            )
            offset = len(out)
            out += _chunk(b"BLCK", section, head)
            index.append(
                {
                    "offset": offset,
                    "stored": len(out) - offset - 16,
                    "first": events[0][0],
                    "last": events[-1][0],
                    "first_event": start,
                    "events": len(events),
                    "first_frame": first_frame,
                    "frames": frames,
                }
            )
            first_frame += frames
        offset = len(out)
        out += _chunk(b"INDX", _section({"index": index}))
        return bytes(out + struct.pack("<Q", offset) + b"\r\nMLREND")

    def _head(self) -> Row:
        xs, ys = [each[2] for each in self.points], [each[3] for each in self.points]
        return {
            "format": "manetlab-recording",
            "version": 3,
            "made_by": "tests",
            "nodes": self.nodes,
            "duration_s": self.duration_s,
            "warmup_s": 0.0,
            "seed": 1,
            "replication": 0,
            "routing": "aodv",
            "receive_range_m": [{"rate_bps": 2e6, "range_m": self.range_m}],
            "sense_range_m": self.sense_m,
            "bounds_m": [min(xs), min(ys), max(xs), max(ys)],
            "flows": self.flows,
            "destinations": sorted({end for flow in self.flows for end in (flow["src"], flow["dst"])}),
            "filter": dict.fromkeys(("nodes", "flows", "kinds", "from_s", "until_s")),
            "tables": [
                {
                    "id": number,
                    "name": name,
                    "columns": [
                        {"id": i, "name": key, "type": of, **({"of": key} if of == "row" else {})}
                        for i, (key, of) in enumerate(columns.items())
                    ],
                }
                for name, (number, columns) in TABLES.items()
            ],
            "provenance": None,
        }

    def _block(self, events: list[tuple[int, int, str, Row]], first_frame: int) -> tuple[bytes, int]:
        rows: dict[str, list[Row]] = {name: [] for name in TABLES if name not in ("point", "index")}
        known: dict[tuple[str, str], int] = {}
        frames = 0
        for time, node, kind, columns in events:
            rows["event"].append({"time": time, "kind": TABLES[kind][0], "node": node})
            made = dict(columns)
            for name in ("shape", "packet"):
                if name in made:
                    key = (name, json.dumps(made[name], sort_keys=True))
                    if key not in known:
                        known[key] = len(rows[name])
                        rows[name].append(made[name])
                    made[name] = known[key]
            rows[kind].append(made)
            if kind == "frame":
                number = first_frame + frames
                for receiver, outcome in self._receptions[number]:
                    rows["reception"].append({"frame": number, "node": receiver, "outcome": outcome})
                frames += 1
        return _section({name: each for name, each in rows.items() if each}), frames


def _chunk(kind: bytes, content: bytes, head: bytes = b"") -> bytes:
    stored = head + zlib.compress(content)
    return kind + struct.pack("<III", len(stored), len(content), zlib.crc32(stored)) + stored


def _section(tables: dict[str, list[Row]]) -> bytes:
    strings = {"": 0}
    out = bytearray()
    for name, rows in tables.items():
        number, columns = TABLES[name]
        out += struct.pack("<HHI", number, len(columns), len(rows))
        for i, (key, of) in enumerate(columns.items()):
            transform = (
                ASCENDING
                if name == "event" and key == "time"
                else ZIGZAG_FROM
                if key in ("uid", "frame")
                else ZIGZAG
                if key == "time"
                else PLAIN
            )
            if of == "optional":
                transform = PLAIN
            out += _column(i, [_number(row.get(key), of, strings) for row in rows], of, transform)
    text = json.dumps(list(strings)).encode()
    return struct.pack("<I", len(text)) + text + struct.pack("<I", len(tables)) + bytes(out)


def _number(value: Any, of: str, strings: dict[str, int]) -> float:
    match of:
        case "optional":
            return 0 if value is None else int(value) + 1
        case "address":
            return 0 if value is None else int(value) + 2
        case "string":
            return strings.setdefault(value or "", len(strings))
        case "float":
            return float(value)
        case _:
            return int(value)


def _column(number: int, values: list[float], of: str, transform: int) -> bytes:
    before = 0
    if of == "float":
        stored = np.array(values, dtype="<f8").view("<u8")
    else:
        whole = np.array(values, dtype="<i8")
        before = int(whole[0]) if transform == ZIGZAG_FROM else 0
        if transform != PLAIN:
            whole = np.diff(whole, prepend=before)
        if transform in (ZIGZAG, ZIGZAG_FROM):
            whole = (whole << 1) ^ (whole >> 63)
        stored = whole.astype("<u8")
    planes, mask = b"", 0
    for k in range(8):
        plane = ((stored >> np.uint64(8 * k)) & np.uint64(255)).astype(np.uint8)
        if plane.any():
            mask |= 1 << k
            planes += plane.tobytes()
    first = struct.pack("<Q", before) if transform == ZIGZAG_FROM else b""
    return struct.pack("<HBB", number, transform, mask) + first + planes
