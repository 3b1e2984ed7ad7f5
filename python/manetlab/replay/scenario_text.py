"""The scenario's text in a page that makes runs, and what the page must know to read its changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from manetlab import flows, parameters
from manetlab.errors import InputError
from manetlab.files import printable
from manetlab.replay import controls
from manetlab.resolving import canonical
from manetlab.scenario import LARGEST_SEED, Scenario
from manetlab.sources import Chain, Grid
from manetlab.value_types import ValueType

if TYPE_CHECKING:
    from pathlib import Path

    from manetlab.parameters import Parameter
    from manetlab.resolving import Resolved

DECIDE_OTHERS = ("radio", "throttle", "mac.standard")
"""Sections and parameters from which Python works out others: a page does not take them."""


def read(path: Path) -> str | None:
    """A scenario's text as its user wrote it; None if it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def of(resolved: Resolved, written: str | None, is_open: bool) -> dict[str, Any]:
    """The fields of ``LiveData`` in viewer/src/requests.ts that belong to the text.

    Args:
        resolved: The scenario.
        written: The text as its user wrote it; otherwise the scenario is written anew.
        is_open: The page shows the text at once.
    """
    scenario = resolved.scenario
    return {
        "toml": written if written is not None else _written(scenario),
        "where": "scenario.toml" if written is None else printable(scenario.where).rpartition("/")[2],
        "keys": list(Scenario.fields),
        "parameters": _parameters(resolved),
        "fixed": list(DECIDE_OTHERS),
        "times": _times() if not controls.depends_on_time(resolved) else {"seed": _times()["seed"]},
        "flowFields": {kind: _of_flow(kind) for kind in flows.kinds()},
        "spacings": {"chain": Chain(nodes=2).spacing_m, "grid": Grid(columns=1, rows=1).spacing_m},
        "isEditorOpen": is_open,
    }


def _written(scenario: Scenario) -> str:
    import tomli_w

    return tomli_w.dumps(json.loads(canonical(scenario.to_dict())))


def _known(of: ValueType | Parameter, meaning: str) -> dict[str, Any]:
    """The fields of ``Known`` in viewer/src/edits.ts."""
    return {
        "kind": of.kind,
        "choices": list(of.choices),
        "range": list(of.range) if of.range is not None else None,
        "above": of.above,
        "wanted": of.wanted,
        "meaning": meaning,
    }


def _times() -> dict[str, Any]:
    known = {"seed": ValueType(kind="integer", range=(0, LARGEST_SEED)), **controls.TIMES}
    return {name: _known(of, Scenario.fields[name].meaning) for name, of in known.items()}


def _of_flow(kind: str) -> dict[str, Any]:
    """The fields of a kind of flow; of those that are more than one value only their names."""
    single = flows.of_core(kind)
    unchecked = ValueType(kind="")
    made = {}
    for name in ("kind", *flows.kinds()[kind]):
        is_single = name in single and name not in ("src", "dst")
        of = flows.parameter(kind, name) if is_single else unchecked
        made[name] = _known(of, flows.parameter(kind, name).meaning if is_single else "")
    return made


def _parameters(resolved: Resolved) -> dict[str, Any]:
    """All parameters by section; of those that the scenario states also what they are without that."""
    made = {
        section: {name: _known(each, each.meaning) for name, each in known.items()}
        for section, known in parameters.schema().items()
    }
    data = resolved.scenario.to_dict()
    for section in made.keys() & data.keys():
        stated = data[section]
        for name in stated if isinstance(stated, dict) else ():
            if name in made[section] and (value := _without(resolved, section, name)) is not None:
                made[section][name]["without"] = canonical(value)
    return made


def _without(resolved: Resolved, section: str, name: str) -> Any:
    """The value of a parameter if the scenario does not state it; None if others would change with it."""
    data = resolved.scenario.to_dict()
    left = {key: value for key, value in data[section].items() if key != name}
    try:
        scenario = resolved.scenario
        other = Scenario.build({**data, section: left}, scenario.where, scenario.origin).resolve()
    except InputError:
        return None
    value = other.params[section][name]
    alone = {**resolved.params, section: {**resolved.params[section], name: value}}
    return value if other.params == alone else None
