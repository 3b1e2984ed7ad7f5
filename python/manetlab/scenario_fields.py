"""The fields of a scenario by dotted names: which there are, and how one is set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache

from manetlab import flows, parameters, presets, radio_units, web
from manetlab.errors import InputError
from manetlab.input_tables import Field
from manetlab.scenario import Scenario
from manetlab.scenario_data import long_form
from manetlab.sources import Areas, Chain, Grid, MovementSource, RandomTraffic, TrafficSource
from manetlab.value_types import ValueType

REPLICATED = ("seed", "replication")
"""Fields that the campaign sets itself."""
LABEL_LENGTH = 60
"""Most characters of a label that is made from a value."""


@cache
def known() -> tuple[str, ...]:
    """Every field of a scenario, nested ones with dots. Flows have ``*`` for their number."""
    nested: dict[str, Sequence[str]] = {
        "movement": tuple(MovementSource.fields),
        **{f"movement.{model}": tuple(names) for model, names in parameters.movement_schema().items()},
        "movement.chain": tuple(Chain.fields),
        "movement.grid": tuple(Grid.fields),
        "movement.areas": tuple(Areas.fields),
        "traffic": tuple(TrafficSource.fields),
        "traffic.random": tuple(RandomTraffic.fields),
        "traffic.web": (web.SESSIONS, *parameters.web_schema()),
        "traffic.flows.*": flows.field_names(),
        **{section: tuple(names) for section, names in parameters.schema().items()},
    }
    nested["tcp"] = ("sender", *nested["tcp"])
    nested["radio"] = (radio_units.DEVICE, *radio_units.FIELDS, *nested["radio"])
    top = (presets.KEY, *(name for name in Scenario.fields if name not in REPLICATED))
    return (*top, *(f"{parent}.{name}" for parent, names in nested.items() for name in names))


@cache
def units() -> dict[str, str]:
    """The units of the fields that have one, by their names as in `known`."""
    declared: dict[str, Mapping[str, Field | ValueType]] = {
        "": Scenario.fields,
        "movement": MovementSource.fields,
        **{f"movement.{model}": known for model, known in parameters.movement_schema().items()},
        "movement.chain": Chain.fields,
        "movement.grid": Grid.fields,
        "movement.areas": Areas.fields,
        "traffic": TrafficSource.fields,
        "traffic.random": RandomTraffic.fields,
        "traffic.web": parameters.web_schema(),
        "traffic.flows.*": {name: field for kind in flows.kinds().values() for name, field in kind.items()},
        "radio": {name: stated.value for name, stated in radio_units.FIELDS.items()},
    }
    of_fields = {
        f"{parent}.{name}".lstrip("."): field.unit
        for parent, of_parent in (*declared.items(), *parameters.schema().items())
        for name, field in of_parent.items()
    }
    return {path: unit for path, unit in of_fields.items() if unit}


def general(path: str) -> str:
    """A dotted name as `known` has it, with ``*`` for the numbers of flows."""
    return ".".join("*" if part.isdecimal() else part for part in path.split("."))


def check(path: str, where: str) -> None:
    """Checks that a scenario has a field of this dotted name.

    Raises:
        InputError: It has none; the error names the nearest.
    """
    if path in REPLICATED:
        hint = "give first_seed; replication r of every point has the seed first_seed + r"
        wanted = "a field other than the seed"
        raise InputError("the campaign sets the seed", where, f'"{path}"', wanted, hint)
    section, _, name = path.partition(".")
    if general(path) in known() or (section == parameters.PYTHON and name.isidentifier()):
        return
    # A parameter's own name without its section is the usual slip.
    same = [name for name in known() if name.rpartition(".")[2] == path]
    error = parameters.unknown("field of a scenario", path, known(), where)
    if same:
        error.hint = f'did you mean "{same[0]}"?'
    error.wanted = "a field of a scenario, dotted where it is nested: tcp.window"
    raise error


def leaves(path: str, value: object) -> list[tuple[str, ...]]:
    """The fields that setting ``path`` to ``value`` decides, as parts of their names."""
    parts = path.split(".")
    value = long_form(path, value)
    if len(parts) == 1 and parts[0] in parameters.sections() and isinstance(value, Mapping):
        return [(*parts, str(name)) for name in value]
    return [tuple(parts)]


def label(value: object) -> str | int | float | bool:
    """What names a level: the value itself, or its content in a line."""
    if isinstance(value, str | int | float | bool):
        return value
    text = _line(value)
    return text if len(text) <= LABEL_LENGTH else text[: LABEL_LENGTH - 1] + "…"


def _line(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_line(inner)}" for key, inner in value.items())
    return value if isinstance(value, str) else json.dumps(value, default=str)
