"""Flows as a user writes them: who sends what to whom, from when on.

What each kind of flow may be given is declared in the Rust core (``scenario/flow.rs``); here that schema is
read and used to check flows. A flow is a mapping from its fields to their values; what it does not give, the
core decides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from manetlab import _core
from manetlab.errors import InputError
from manetlab.files import read_bytes
from manetlab.input_tables import REQUIRED, Field, Place, checked_table, list_of, refuse, row, text, value
from manetlab.origin import Origin
from manetlab.parameters import Parameter
from manetlab.value_types import ValueType

Flow = dict[str, Any]
"""A flow: what it was given, by field."""
ENDS = ("src", "dst")
"""The fields of a flow that name a node."""
_PRESSED_S = 1e6
"""Mean length of a talk spurt that ends when the key is released, in s: the longest that there is."""
MAX_NODES = _core.MAX_NODES
"""Maximum number of nodes of a scenario."""


@cache
def _schema() -> dict[str, tuple[str, dict[str, Parameter]]]:
    """What the core says of each kind of flow: its meaning, and its fields by name."""
    of_every, own = map(json.loads, _core.flow_schema())
    return {
        each["kind"]: (
            each["meaning"],
            {info["name"]: Parameter.of_core(info) for info in (*of_every, *each["fields"])},
        )
        for each in own
    }


@cache
def kinds() -> dict[str, dict[str, Field]]:
    """The fields of each kind of flow, by its name."""
    known = {
        kind: {
            "kind": text(f"{kind}: {meaning}"),
            **{name: _field(parameter) for name, parameter in fields.items()},
            **{end: _end(fields[end]) for end in ENDS},
        }
        for kind, (meaning, fields) in _schema().items()
    }
    # The core knows no files: they have been read when a flow comes to it.
    trace = known["trace"]
    trace["file"] = text("A CSV file with the columns time_s and bytes.", default=None)
    trace["packets"] = Field(trace["packets"].meaning, trace["packets"].take, None)
    return known


def field_names() -> tuple[str, ...]:
    """The names of all fields that some kind of flow has."""
    return tuple(dict.fromkeys(name for fields in kinds().values() for name in fields))


def parameter(kind: str, name: str) -> Parameter:
    """What the core says of a field of a kind of flow."""
    return _schema()[kind][1][name]


def of_core(kind: str) -> tuple[str, ...]:
    """The names of the fields of a kind of flow that the core knows as single values."""
    single = ("number", "integer", "boolean", "choice")
    return tuple(name for name, each in _schema()[kind][1].items() if each.kind in single)


@cache
def cycle_fields() -> tuple[str, ...]:
    """The names of the fields of a cycle of a Web session, in order."""
    return tuple(each.name for each in _schema()["web"][1]["cycles"].items)


def like(meaning: str, kind: str, name: str, default: Any = REQUIRED) -> Any:
    """A field of a scenario that may be what a field of a kind of flow may be."""

    def take(written: object, place: Place, hint: str) -> Any:
        return kinds()[kind][name].take(written, place, hint)

    return Field(meaning, take, default, kinds()[kind][name].unit)


def checked(written: object, place: Place) -> Flow:
    """A flow as the user wrote it, its values in their types.

    Raises:
        InputError: It is of no kind, or has a value that is not allowed.
    """
    kind = written.get("kind") if isinstance(written, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds():
        wanted = "kind = " + " or ".join(f'"{known}"' for known in kinds())
        refuse(place, written if kind is None else kind, wanted, "every flow has a kind")
    flow = checked_table(written, kinds()[kind], place, "")
    if flow["src"] == flow["dst"]:
        wanted = f"a destination other than the source, node {flow['src']}"
        refuse(place, flow["dst"], wanted, "a flow goes from one node to another")
    flow = {name: given for name, given in flow.items() if given is not None}
    if kind == "trace" and ("file" in flow) == ("packets" in flow):
        found = "both" if "file" in flow else "neither"
        refuse(place, found, "exactly one of file, packets", "a trace is a file or a list")
    return flow


def copies(written: object, place: Place) -> list[Flow]:
    """The flows that one as the user wrote it stands for: of push-to-talk a copy for each listener.

    While the key is pressed speech has no pause, so all copies have the same packets at the same times.

    Raises:
        InputError: As for `checked`; or listeners are given twice, or not at all, or with what copies cannot
            have.
    """
    if not isinstance(written, Mapping) or not isinstance(listeners := written.get("dst"), list):
        return [checked(written, place)]
    if written.get("kind") != "voice":
        refuse(place.at("dst"), listeners, "one node", 'only flows of kind "voice" go to several')
    if len({*map(repr, listeners)}) < max(1, len(listeners)):
        refuse(place.at("dst"), listeners, "one or more nodes, each once", "the listeners of a group")
    for name in ("on_s", "off_s", "call"):
        if name in written:
            hint = "with several listeners speech lasts from start_s to stop_s without a pause"
            refuse(place.at(name), written[name], f"no {name}", hint)
    pressed = {**written, "on_s": _PRESSED_S, "off_s": 0.0}
    return [checked({**pressed, "dst": each}, place) for each in listeners]


def with_packets(flow: Flow, origin: Origin) -> Flow:
    """The same flow; a trace with the packets of its file, if it names one.

    Raises:
        InputError: The file cannot be used.
    """
    if "file" not in flow:
        return flow
    rest = {name: given for name, given in flow.items() if name != "file"}
    return {
        **rest,
        "packets": parsed_trace(origin.read(flow["file"], "trace file"), origin.path(flow["file"])),
    }


def with_numbers(flow: Flow, labels: list[str] | None, place: Place) -> Flow:
    """The same flow, its nodes by their numbers where it has them by the names of the movement.

    Raises:
        InputError: No node is called so.
    """
    made = dict(flow)
    for end in ENDS:
        if not isinstance(name := flow[end], str):
            continue
        if labels is None or name not in labels:
            listed = ", ".join((labels or [])[:5]) + (", …" if len(labels or []) > 5 else "")
            wanted = f"one of {listed}" if labels else "a number: the nodes of this movement have no names"
            refuse(place.at(end), name, wanted, "text is the name of a node, a number counts nodes from 0")
        made[end] = labels.index(name)
    if made["src"] == made["dst"]:
        wanted = f"a destination other than the source, node {flow['src']}"
        refuse(place, flow["dst"], wanted, "a flow goes from one node to another")
    return made


def _end(parameter: Parameter) -> Field:
    """A node: by its number, or by the name that it has in the movement."""
    number: Field = _field(parameter)

    def take(written: object, place: Place, hint: str) -> Any:
        return written if isinstance(written, str) and written else number.take(written, place, hint)

    return replace(number, take=take)


def _field(parameter: Parameter) -> Any:
    """A field as the core declares it."""
    meaning, default = parameter.meaning, REQUIRED if parameter.required else None
    match parameter.kind:
        case "integers" | "numbers" as plural:
            each = value(meaning, replace(parameter, kind=plural.removesuffix("s")))
            return list_of(meaning, each, least=1, default=default)
        case "tables":
            return list_of(meaning, _table(parameter), least=1, default=default)
        case "rows":
            wanted = f"a list [{', '.join(each.name for each in parameter.items)}]"
            return list_of(
                meaning, row(meaning, tuple(map(_field, parameter.items)), wanted), default=default
            )
    return value(meaning, parameter, default)


def _table(parameter: Parameter) -> Field:
    fields = {each.name: _field(each) for each in parameter.items}
    return Field(parameter.meaning, lambda written, place, hint: checked_table(written, fields, place, hint))


def read_trace(path: Path) -> list[tuple[float, int]]:
    """The packets of a CSV file with the columns ``time_s`` and ``bytes``.

    Args:
        path: The file. Its first line names the columns; other columns are left alone.

    Returns:
        Time in s and length in bytes of each packet, in the file's order.

    Raises:
        InputError: The file cannot be read, has no such columns, or a line is no packet.
    """
    return parsed_trace(read_bytes(path, "trace file"), path)


def parsed_trace(content: bytes, path: Path) -> list[tuple[float, int]]:
    """The packets of a trace's content; see `read_trace`."""
    import csv

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "is it a CSV file?"
        raise InputError("the trace file is not text", str(path), str(error), "CSV in UTF-8", hint) from None
    try:
        rows = list(csv.DictReader(text.splitlines(), strict=True))
    except csv.Error as error:
        hint = "the first line should be time_s,bytes"
        raise InputError("the trace file is not CSV", str(path), str(error), "CSV", hint) from None
    packets: list[tuple[float, int]] = []
    time, size = _schema()["trace"][1]["packets"].items
    for number, line in enumerate(rows, 2):
        latest_s = packets[-1][0] if packets else 0.0
        packets.append(_packet(line, f"{path}: line {number}", latest_s, time, size))
    if not packets:
        hint = "the first line names the columns, each further line is a packet"
        raise InputError("the trace file has no packets", str(path), "no lines", "one packet per line", hint)
    return packets


def _packet(
    row: Mapping[str, str | None], place: str, latest_s: float, time: ValueType, size: ValueType
) -> tuple[float, int]:
    """One line of a trace."""

    def refused(found: str, wanted: str) -> InputError:
        hint = "a trace has the columns time_s and bytes"
        return InputError("the line does not describe a packet", place, found, wanted, hint)

    time_text, bytes_text = row.get("time_s"), row.get("bytes")
    if time_text is None or bytes_text is None:
        raise refused(", ".join(str(key) for key in row), "the columns time_s and bytes")
    try:
        time_s = float(time_text)
    except ValueError:
        raise refused(f'"{time_text}"', "a time in s") from None
    if time.taken(time_s) is None or time_s < latest_s:
        raise refused(f"{time_s} s", f"a time not before that of the previous packet, and {time.wanted}")
    try:
        length = int(bytes_text)
    except ValueError:
        raise refused(f'"{bytes_text}"', "a whole number of bytes") from None
    if size.taken(length) is None:
        raise refused(f"{length} bytes", size.wanted)
    return time_s, length
