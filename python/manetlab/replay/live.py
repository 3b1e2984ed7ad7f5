"""What a page needs to make runs itself: the engine, the scenario, and how each choice changes it.

Python resolves all of it, so that the engine runs exactly what the simulator would run here. Scenarios and
changes are text in the page, which never parses them: JavaScript would round seeds above 2⁵³.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import _core, movement_files
from manetlab.errors import InputError
from manetlab.files import read_bytes
from manetlab.metrics import applying
from manetlab.replay import controls, python_in_page, scenario_text
from manetlab.resolving import canonical
from manetlab.scenario import LARGEST_SEED

if TYPE_CHECKING:
    from manetlab.resolving import Resolved
    from manetlab.running import Result

MORE_DRAWS = 4
"""Other seeds that a page offers if movement or traffic are drawn from the seed."""
MOST_MOVEMENT_BYTES = 8 * 2**20
"""Longest movement of all draws together; a page with more offers fewer."""
FIRST = {
    *("tcp_throughput_bps", "tcp_timeouts", "cbr_delivery_fraction", "cbr_latency_mean_s"),
    *(
        "message_delivery_fraction",
        "message_latency_mean_s",
        "web_response_time_mean_s",
        "routing_packets_per_s",
    ),
    *("hops_mean", "collision_fraction"),
}
"""Totals that a page shows at once."""
OVER_TCP = {"tcp", "web"}
"""Kinds of flows that have a TCP sender."""
NO_ENGINE = (
    "This page replays the run but cannot make others: the manetlab that wrote it was built without the "
    "engine for pages."
)

Patch = dict[str, Any]


@dataclass(frozen=True)
class Live:
    """What is put into a page that makes runs.

    Attributes:
        config: Short values: the fields of ``LiveConfig`` in viewer/src/live.ts.
        data: The fields of ``LiveData`` in viewer/src/requests.ts; none without an engine.
        engine: The module; none if this manetlab was built without.
        python: Python for the page, by the names of its elements; empty if the page is to be small.
    """

    config: dict[str, Any]
    data: dict[str, Any] | None
    engine: bytes | None
    python: dict[str, bytes] = field(default_factory=dict)

    def elements(self) -> Iterator[tuple[str, str]]:
        """What the page holds beside recordings: elements' names and their text."""
        if self.engine is not None and self.data is not None:
            yield "live-data", _packed(json.dumps(self.data).encode())
            yield "engine", _packed(self.engine)
            yield from ((name, _packed(content)) for name, content in self.python.items())


def _packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def engine() -> bytes | None:
    """The simulator as a WebAssembly module, if this manetlab has it."""
    file = resources.files("manetlab.replay") / "assets" / "engine.wasm"
    return file.read_bytes() if file.is_file() else None


def live(
    resolved: Resolved,
    result: Result,
    written: str | None = None,
    is_lab: bool = False,
    with_python: bool = False,
) -> Live:
    """What a page needs to make runs of a scenario, of which one was made here.

    Args:
        resolved: The scenario.
        result: Its result.
        written: Its text as the user wrote it.
        is_lab: The page shows the text at once.
        with_python: The page holds Python, so that its text may say whatever a scenario's file may.

    Raises:
        InputError: The scenario's protocol is written in Python, its movement has no form of ns-2, or Python
            for pages is not there.
    """
    if resolved.protocol is not None:
        hint = "leave out --live: the page then replays the run"
        wanted = "a protocol that is part of manetlab"
        raise InputError(
            "a page cannot run a protocol in Python", "view --live", resolved.protocol.name, wanted, hint
        )
    movement_files.check_in_ns2_form(resolved.movement, "view --live")
    metrics = [
        {
            "key": each.key,
            "label": each.label,
            "unit": each.unit,
            "factor": each.factor,
            "digits": each.digits,
            "isFirst": each.key in FIRST,
        }
        for each in applying(result.totals, result.flows)
        if each.key in result.totals
    ]
    config = {"hash": result.hash, "totals": dict(result.totals), "metrics": metrics}
    module = engine()
    if module is None:
        return Live({**config, "missing": NO_ENGINE}, None, None)
    python = dict(python_in_page.elements(_files(resolved))) if with_python else {}
    return Live(config, {**choices(resolved), **scenario_text.of(resolved, written, is_lab)}, module, python)


def _files(resolved: Resolved) -> dict[str, bytes]:
    """What the scenario reads, by the names that its text has for them."""
    origin = resolved.scenario.origin
    # The first source is the scenario's own file.
    read = dict.fromkeys([*origin.sources[1:], *resolved.scenario.files])
    return {
        Path(os.path.relpath(path, origin.folder)).as_posix(): read_bytes(path, "file of the scenario")
        for path in read
    }


def choices(resolved: Resolved) -> dict[str, Any]:
    """The scenario and all that the page offers; of each list the first is the scenario's own."""
    scenario, movement = resolved.scenario, resolved.movement.to_ns2()
    routings = [{"name": scenario.routing, "patch": "{}"}, *_named(_routings(resolved))]
    senders = _senders(resolved)
    draws = _draws(resolved, movement) if scenario.is_drawn else []
    free, listed = controls.found(resolved)
    return {
        "scenario": resolved.core_json(),
        "movement": movement,
        "routings": routings,
        "senders": senders,
        "pairs": _pairs(resolved, routings, senders),
        "draws": draws,
        "controls": [each.to_dict() for each in free],
        "listed": [each.to_dict() for each in listed],
        "isNamed": scenario.live is not None and scenario.live.controls is not None,
        **_variants(resolved, listed, [each["name"] for each in draws]),
        "seed": str(scenario.seed),
        "isStatic": "setdest" not in movement,
    }


def _named(patches: Mapping[str, Patch]) -> list[dict[str, str]]:
    return [{"name": name, "patch": canonical(patch)} for name, patch in patches.items()]


def _changed(resolved: Resolved, changes: Mapping[str, Any]) -> Patch | None:
    """How changes of a scenario change what is run; none if the scenario cannot be changed so."""
    try:
        return difference(resolved.core, resolved.scenario.changed(**changes).resolve().core)
    except InputError:
        return None


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Patch:
    """What must be merged into a table to make another one with the same keys of it."""
    found: Patch = {}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            if inner := difference(old, value):
                found[key] = inner
        elif key not in before or canonical(old) != canonical(value):
            found[key] = value
    return found


def _routings(resolved: Resolved) -> dict[str, Patch]:
    """Each protocol, and each of its sets that is another one than those before it."""
    found: dict[str, Patch] = {}
    for protocol in _core.routings():
        for name in (protocol, *(f"{protocol}:{each}" for each in _core.routing_sets(protocol))):
            patch = _changed(resolved, {"routing": name})
            if patch and patch not in found.values():
                found[name] = patch
    return found


def _senders(resolved: Resolved) -> list[dict[str, str]]:
    """Each TCP sender; none if nothing is sent over TCP."""
    if not any(flow.get("kind", "tcp") in OVER_TCP for flow in resolved.flows):
        return []
    found: dict[str, Patch] = {}
    own = resolved.scenario.section("tcp").get("sender")
    for name in _core.tcp_senders():
        patch = _changed(resolved, {"tcp": {"sender": name}})
        if patch:
            found[name] = patch
        elif patch is not None and own is None:
            own = name
    return [{"name": str(own or "as given"), "patch": "{}"}, *_named(found)]


def _pairs(
    resolved: Resolved, routings: Sequence[Mapping[str, str]], senders: Sequence[Mapping[str, str]]
) -> dict[str, str]:
    """Changes to a routing and a sender that are not those of the one and then of the other."""
    found: dict[str, str] = {}
    for number, routing in enumerate(routings):
        of_routing = json.loads(routing["patch"])
        for other, sender in enumerate(senders):
            # What is in both could be overwritten by the one that comes last.
            if not _overlap(of_routing, json.loads(sender["patch"])):
                continue
            both = {"routing": routing["name"], "tcp": {"sender": sender["name"]}}
            if (patch := _changed(resolved, both)) is not None:
                found[f"{number} {other}"] = canonical(patch)
    return found


def _overlap(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Do two patches name the same value?"""
    return any(
        not (isinstance(first[key], Mapping) and isinstance(second[key], Mapping))
        or _overlap(first[key], second[key])
        for key in first.keys() & second.keys()
    )


def _draws(resolved: Resolved, movement: str) -> list[dict[str, str]]:
    """The scenario's own draw of movement and traffic, and those of the seeds that follow.

    Of a scenario whose flows are throttled by its parameters only its own draw: the rates belong to both.
    """
    seed = resolved.scenario.seed
    found = [{"name": str(seed), "patch": "{}", "movement": movement}]
    if resolved.params["throttle"]["mode"] in ("oracle", "density"):
        return found
    size = len(movement)
    for other in range(seed + 1, min(seed + MORE_DRAWS, LARGEST_SEED) + 1):
        try:
            drawn = resolved.scenario.changed(seed=other).resolve()
        except InputError:
            continue
        text = drawn.movement.to_ns2()
        size += len(text)
        if size > MOST_MOVEMENT_BYTES:
            break
        patch = canonical(difference(resolved.core, drawn.core))
        found.append({"name": str(other), "patch": patch, "movement": text})
    return found


def _variants(
    resolved: Resolved, listed: Sequence[controls.Listed], draws: Sequence[str]
) -> dict[str, dict[str, Any] | list[str]]:
    """What each combination of choices makes of the scenario, by seed (if it is drawn) and choices' numbers.

    Raises:
        InputError: There are too many.
    """
    combinations = controls.combinations(listed)
    seeds = draws or [str(resolved.scenario.seed)]
    if (count := len(combinations) * len(seeds)) > controls.MOST_COMBINATIONS:
        hint = "offer fewer values, or a field that takes any value; `manetlab docs replay` says which do"
        found, wanted = f"{count}, of {len(seeds)} draws", f"at most {controls.MOST_COMBINATIONS}"
        where = f"{resolved.scenario.where}: live.controls"
        raise InputError("the controls have too many combinations", where, found, wanted, hint)
    variants: dict[str, Any] = {}
    refused: dict[str, str] = {}
    movements: dict[str, int] = {}
    for seed in seeds:
        for numbers, fields in combinations:
            key = " ".join([seed if draws else "", *map(str, numbers)]).strip()
            try:
                made = controls.assigned(resolved.scenario, fields, int(seed))
            except InputError as error:
                refused[key] = str(error)
                continue
            number = movements.setdefault(made.movement.to_ns2(), len(movements))
            patch = difference(resolved.core, made.core)
            variants[key] = {"patch": canonical(patch), "movement": number}
    if (size := sum(map(len, movements))) > MOST_MOVEMENT_BYTES:
        found, wanted = f"{size} bytes of movement", f"at most {MOST_MOVEMENT_BYTES}"
        where = f"{resolved.scenario.where}: live.controls"
        raise InputError("the controls make the page too large", where, found, wanted, "offer fewer values")
    return {"variants": variants, "refused": refused, "movements": list(movements)}
