"""Web sessions: drawn from the seed, or kept in a file and read again.

A file is JSON: ``format``, ``version`` and ``sessions``, each with client, server, start and cycles. What is
written reads back to the same, and what is read writes back to the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from manetlab import _core, flows, parameters
from manetlab.errors import InputError, shown
from manetlab.files import read_bytes
from manetlab.input_tables import Place
from manetlab.origin import Origin

FORMAT = "manetlab-web-sessions"
VERSION = 1
SESSIONS = "sessions"
"""The key of ``traffic.web`` that gives sessions instead of drawing them."""

Session = dict[str, Any]
"""One session: the keys of a flow of kind ``web`` without ``kind``."""


def given(source: Mapping[str, Any], where: str, folder: Path | Origin) -> dict[str, Any]:
    """The same as a user's ``traffic.web`` with its file, if it names one, read: it no longer depends on it.

    Args:
        source: ``sessions`` (the name of a file, or the sessions), or parameters of section ``web``.
        where: What errors name as their place.
        folder: Where the file's name starts from, and whether it may be read.

    Raises:
        InputError: The file, a session or a parameter cannot be used.
    """
    if SESSIONS not in source:
        return parameters.check_web(source, f"{where}: traffic.web")
    if len(source) > 1:
        others = ", ".join(key for key in source if key != SESSIONS)
        hint = "omit sessions to draw them, or omit the parameters to read them"
        raise InputError(
            "sessions are given or drawn, not both", f"{where}: traffic.web", others, "only sessions", hint
        )
    found, origin = source[SESSIONS], Origin.of(folder)
    if isinstance(found, str):
        return {SESSIONS: parsed(origin.read(found, "session file"), origin.path(found))}
    return {SESSIONS: _checked(found, Place(where, f"traffic.web.{SESSIONS}"))}


def drawn_flows(
    source: Mapping[str, Any], nodes: int, warmup_s: float, streams: tuple[int, int]
) -> list[dict[str, Any]]:
    """The flows of a ``traffic.web`` that `given` has made.

    Args:
        source: The sessions, or how they are drawn.
        nodes: Nodes of the network.
        warmup_s: When measurement begins, in s.
        streams: The seed of the run and the number of its replication.

    Raises:
        InputError: There are fewer nodes than clients and servers, or the parameters contradict each other.
    """
    if SESSIONS in source:
        return [{"kind": "web", **session} for session in source[SESSIONS]]
    drawn: list[dict[str, Any]] = json.loads(
        _core.draw_web_sessions(json.dumps(source), nodes, warmup_s, *streams)
    )
    return drawn


def read(path: Path) -> list[Session]:
    """The sessions of a file.

    Raises:
        InputError: It cannot be read, is not such a file, or a session in it cannot be used.
    """
    return parsed(read_bytes(path, "session file"), path)


def parsed(content: bytes, path: Path) -> list[Session]:
    """The sessions of a file's content; see `read`."""
    wanted = f'a JSON object with "format": "{FORMAT}"'
    hint = "`manetlab scenario sessions` writes such files"
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        what = "the session file is not JSON"
        raise InputError(what, str(path), shown(str(error)), wanted, hint) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = shown(data.get("format") if isinstance(data, dict) else data)
        raise InputError("not a session file", str(path), found, wanted, hint)
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        hint = "draw the sessions again, or use the version of manetlab that wrote them"
        what = "the session file has another version"
        raise InputError(what, str(path), shown(data.get("version")), f"version {VERSION}", hint)
    if unknown := [key for key in data if key not in ("format", "version", SESSIONS)]:
        raise parameters.unknown("key", unknown[0], ("format", "version", SESSIONS), str(path))
    return _checked(data.get(SESSIONS), Place(str(path), SESSIONS))


def text(sessions: Iterable[Mapping[str, Any]]) -> str:
    """Sessions as the content of a file, a cycle a line.

    Args:
        sessions: Sessions, or flows of kind ``web``; flows of other kinds are left out.
    """
    parts = []
    for session in sessions:
        if session.get("kind", "web") != "web":
            continue
        head = {
            key: session[key] for key in ("src", "dst", "start_s", "stop_s") if session.get(key) is not None
        }
        turns = (
            {key: cycle[key] for key in flows.cycle_fields() if key in cycle} for cycle in session["cycles"]
        )
        cycles = ",\n".join(f"   {json.dumps(cycle)}" for cycle in turns)
        parts.append(f'  {json.dumps(head)[:-1]}, "cycles": [\n{cycles}\n  ]}}')
    listed = ",\n".join(parts)
    return f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "{SESSIONS}": [\n{listed}\n ]\n}}\n'


def _checked(sessions: object, place: Place) -> list[Session]:
    """The same sessions, if each of them can be."""
    if not isinstance(sessions, list) or not sessions:
        hint = "each with src, dst, start_s and cycles"
        raise InputError("there are no sessions", str(place), shown(sessions), "a list of sessions", hint)
    return [_session(session, place.at(number)) for number, session in enumerate(sessions)]


def _session(session: object, place: Place) -> Session:
    if not isinstance(session, Mapping):
        hint = "src is the client, dst the server"
        raise InputError("not a session", str(place), shown(session), "a table with its fields", hint)
    flow = flows.checked({**session, "kind": "web"}, place)
    return {name: given for name, given in flow.items() if name != "kind"}
