"""What a page asks of Python: what a scenario's text asks the engine to run, or what is wrong with it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manetlab.errors import InputError, ManetlabError
from manetlab.scenario import Scenario

LONGEST_NAME = 40
"""The longest text of a change that names a run."""


def answer(asked: str) -> str:
    """The answer to what a page asks, both as JSON.

    Args:
        asked: ``text`` and ``before``, the scenario as it is and as the page was made with; ``name`` of the
            file; and ``changes``: ``routing``, ``sender`` and ``seed``, if they are chosen beside the text.

    Returns:
        What `Resolved` in viewer/src/resolver.ts has, or ``error``, as the command line prints it.
    """
    given = json.loads(asked)
    try:
        return json.dumps(_resolved(given))
    except ManetlabError as error:
        return json.dumps({"error": str(error)})


def _resolved(given: dict[str, Any]) -> dict[str, Any]:
    path = Path(given["name"])
    path.write_bytes(given["text"].encode("utf-8", "replace"))
    scenario = Scenario.load(path, _changes(given["changes"]))
    if scenario.is_in_python:
        hint = "protocols in Python run on the command line: manetlab run"
        wanted = "a protocol that is part of manetlab"
        raise InputError("a page cannot run a protocol in Python", str(path), scenario.routing, wanted, hint)
    resolved = scenario.resolve()
    made: dict[str, Any] = resolved.movement.in_request()  # type: ignore[attr-defined]  # of in_page.core
    return {
        "scenario": resolved.core_json(),
        "movement": made["movement"],
        "beside": json.dumps(made["beside"]),
        "routing": scenario.routing,
        "sender": scenario.tcp.get("sender"),
        "seed": str(scenario.seed),
        "names": _names(given["before"], given["text"]),
    }


def _changes(chosen: dict[str, str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if "routing" in chosen:
        changes["routing"] = chosen["routing"]
    if "sender" in chosen:
        changes["tcp"] = {"sender": chosen["sender"]}
    if "seed" in chosen:
        changes["seed"] = int(chosen["seed"])
    return changes


def _names(before: str, after: str) -> list[list[str]]:
    """For each changed field its name, and in a few words what it was and what it is."""
    was, now = dict(_fields(tomllib.loads(before))), dict(_fields(tomllib.loads(after)))
    return [
        [name, "" if name not in was else _named(name, was[name]), _named(name, now.get(name))]
        for name in dict.fromkeys([*was, *now])
        if was.get(name) != now.get(name)
    ]


def _fields(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if key == "live":
            continue
        if key == "tcp" and isinstance(value, str):
            value = {"sender": value}
        if isinstance(value, dict):
            yield from ((f"{key}.{name}", each) for name, each in value.items())
        else:
            yield key, value


def _named(name: str, value: object) -> str:
    if value is None:
        return f"{name} not given"
    text = f"{name} {value if isinstance(value, str) else json.dumps(value, default=str)}"
    return text if len(text) <= LONGEST_NAME else f"other {name}"
