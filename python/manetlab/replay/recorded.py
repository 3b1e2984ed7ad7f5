"""What a page needs to know of a recording: its head, whether it is whole, and the run in a few words."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manetlab import labels, recorded_head
from manetlab.errors import InputError, shown
from manetlab.files import printable, read_bytes

MAGIC = b"\x89MLREC\r\n"
END = b"\r\nMLREND"
VERSIONS = (2, 3)
"""What the page reads."""
FILE_HEAD, CHUNK_HEAD = 16, 16
MAX_HEAD_BYTES = 64 * 2**20
"""Longest head after inflating: its longest part are the flows."""
HINT = "manetlab run SCENARIO.toml --record FILE writes a recording"


@dataclass(frozen=True)
class Recorded:
    """A recording as bytes, and its head.

    Attributes:
        content: The file, up to the last chunk that is whole.
        head: Its head, see docs/recording.md.
        is_complete: It ends as the run ended; otherwise the run was stopped.
        where: The file's name, for errors and names.
    """

    content: bytes
    head: dict[str, Any]
    is_complete: bool
    where: str


def is_recording(path: Path) -> bool:
    """Does a file begin as a recording does? A file that cannot be read does not."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read(path: Path) -> Recorded:
    """Reads a recording.

    Raises:
        InputError: The file cannot be read, is no recording, or has another version.
    """
    return parsed(read_bytes(path, "recording"), printable(path))


def parsed(content: bytes, where: str) -> Recorded:
    """A recording from its bytes; what follows a chunk that is not whole is left out.

    Raises:
        InputError: It is no recording, or has another version.
    """
    if content[: len(MAGIC)] != MAGIC or len(content) < FILE_HEAD:
        raise InputError("not a recording", where, shown(content[:8]), shown(MAGIC), HINT)
    version = struct.unpack_from("<I", content, 8)[0]
    if version not in VERSIONS:
        hint = "record the run again with this manetlab"
        raise InputError("the recording has another version", where, str(version), "2 or 3", hint)
    chunks = list(_chunks(content))
    if [kind for kind, _, _ in chunks[:2]] != [b"HEAD", b"MOVE"]:
        hint = "the run was stopped too early, or the file is damaged"
        raise InputError("the recording is not whole", where, "no head", "a head and the movement", hint)
    _, start, end = chunks[0]
    is_complete = chunks[-1][0] == b"INDX" and content.endswith(END)
    head = recorded_head.checked(_head(content[start:end], where), where)
    return Recorded(content[: chunks[-1][2]], head, is_complete, where)


def _chunks(content: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Kind, start and end of each chunk, up to the first that is cut short or damaged."""
    at = FILE_HEAD
    while at + CHUNK_HEAD <= len(content):
        kind, stored, _, crc = struct.unpack_from("<4sIII", content, at)
        start, end = at + CHUNK_HEAD, at + CHUNK_HEAD + stored
        if end > len(content) or zlib.crc32(content[start:end]) != crc:
            return
        yield kind, start, end
        if kind == b"INDX":
            return
        at = end


def _head(stored: bytes, where: str) -> dict[str, Any]:
    inflating = zlib.decompressobj()
    try:
        text = inflating.decompress(stored, MAX_HEAD_BYTES)
        head = json.loads(text)
    except (zlib.error, ValueError, RecursionError, MemoryError) as error:
        hint = "the file is damaged"
        raise InputError("the recording's head cannot be read", where, str(error), "JSON", hint) from None
    if not isinstance(head, dict) or inflating.unconsumed_tail:
        raise InputError(
            "the recording's head cannot be read", where, "too much, or no table", "a table", HINT
        )
    return head


def scenario_of(recorded: Recorded) -> dict[str, Any]:
    """The complete scenario that was run; empty if the recording does not hold it."""
    scenario = (recorded.head.get("provenance") or {}).get("scenario")
    return scenario if isinstance(scenario, dict) else {}


def note(recorded: Recorded, name: str) -> dict[str, Any]:
    """What the page says of a run: the fields of ``RunNote`` in viewer/src/model.ts."""
    head, scenario = recorded.head, scenario_of(recorded)
    routing = str(scenario.get("routing", head.get("routing", "")))
    params = scenario.get("params", {})
    sender = _sender(params, head)
    nodes, duration = head.get("nodes"), head.get("duration_s")
    summary = [
        labels.of_protocol(routing),
        *([sender] if sender else []),
        f"{nodes} nodes",
        f"{duration:g} s",
    ]
    provenance = head.get("provenance") or {}
    facts = [
        ("Routing", labels.of_protocol(routing)),
        *([("Transport", sender)] if sender else []),
        *([("Profile", str(provenance["profile"]))] if "profile" in provenance else []),
        ("Nodes", str(nodes)),
        ("Duration", f"{duration:g} s"),
        ("Seed", f"{head.get('seed')}, replication {head.get('replication')}"),
        *([("Scenario", str(provenance["scenario_hash"])[:12])] if "scenario_hash" in provenance else []),
        ("Made by", str(head.get("made_by", ""))),
    ]
    return {
        "name": name,
        "summary": summary,
        "facts": facts,
        "queueLimit": params.get("queue", {}).get("packets", 0),
        "missing": list(_missing(recorded)),
    }


def _sender(params: dict[str, Any], head: dict[str, Any]) -> str:
    """The TCP sender by its name, if there is TCP."""
    if "tcp" not in params or not any(flow.get("kind") != "cbr" for flow in head.get("flows", [])):
        return ""
    from manetlab import _core

    tcp = params["tcp"]
    for name in _core.tcp_senders():
        # The sender's own choices change nothing in parameters that are already so.
        try:
            is_so = json.loads(_core.apply_tcp_sender(name, json.dumps(tcp))) == tcp
        except ValueError:
            # Parameters of another version, or of no version at all.
            return "TCP"
        if is_so:
            return f"TCP {labels.SENDERS.get(name, name)}"
    return "TCP"


def _missing(recorded: Recorded) -> Iterator[str]:
    """What of the run the recording does not hold, in words."""
    if not recorded.is_complete:
        yield "The run was stopped before its end: the recording holds what happened up to then."
    chosen = recorded.head.get("filter") or {}
    for key, what in (("nodes", "nodes"), ("flows", "flows"), ("kinds", "events of the kinds")):
        if chosen.get(key):
            yield f"Only these {what} were recorded: {', '.join(map(str, chosen[key]))}."
    times = [chosen.get("from_s"), chosen.get("until_s")]
    if any(each is not None for each in times):
        begin, end = times[0] or 0, times[1]
        yield f"Recorded from {begin:g} s{f' to {end:g} s' if end is not None else ''} only."


def names(recordings: list[Recorded]) -> list[str]:
    """What two runs are called: by what differs between them, else by their files."""
    described = []
    for each in recordings:
        scenario, head = scenario_of(each), each.head
        described.append(
            {
                "routing": labels.of_protocol(str(scenario.get("routing", head.get("routing", "")))),
                "tcp": _sender(scenario.get("params", {}), head),
                "seed": f"seed {head.get('seed')}",
                "replication": f"replication {head.get('replication')}",
            }
        )
    found = [
        ", ".join(
            value for key, value in own.items() if value and any(other[key] != value for other in described)
        )
        for own in described
    ]
    if len(set(found)) == len(found) and all(found):
        return found
    stems = [Path(each.where).stem for each in recordings]
    return stems if len(set(stems)) == len(stems) else ["first run", "second run"][: len(recordings)]
