"""The levels of a factor: how they are written, and what they set."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manetlab import factors, scenario_fields
from manetlab.errors import InputError, shown
from manetlab.scenario_data import as_plain

MAX_LEVELS = 10_000
"""Most levels of one factor."""

Label = str | int | float | bool


@dataclass(frozen=True)
class Level:
    """One value of a factor.

    Attributes:
        label: What tables call it.
        fields: The fields of the scenario that it sets, by dotted name.
    """

    label: Label
    fields: dict[str, Any]


def listed(values: object, name: str, where: str) -> list[Any]:
    """A factor's values as a list, not before it is known to be short enough.

    Raises:
        InputError: They are no list or too many, or one is a level that is not written as one.
    """
    place = f"{where}: factors.{name}"
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Collection):
        example = json.dumps(values) if isinstance(values, str | int | float) else "1"
        hint = f"for example {json.dumps(name) if '.' in name else name} = [{example}, …]"
        raise InputError("a factor needs a list of values", place, shown(values), "a list", hint)
    if len(values) > MAX_LEVELS:
        hint = "use fewer levels"
        raise InputError("a factor has too many levels", place, str(len(values)), f"{MAX_LEVELS}", hint)
    plain = as_plain(list(values))
    for value in plain:
        if isinstance(value, Mapping) and "fields" in value and not _is_labelled(value):
            wanted = '{ label = "…", fields = { "field" = value, … } }'
            hint = "label is text or a finite number; fields is a table with at least one entry"
            raise InputError("not a valid level", place, shown(value), wanted, hint)
    assert isinstance(plain, list)
    return plain


def _is_labelled(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == {"label", "fields"}
        and isinstance(value["label"], str | int | float)
        and (isinstance(value["label"], str) or abs(value["label"]) <= sys.float_info.max)
        and isinstance(value["fields"], Mapping)
        and bool(value["fields"])
        and all(isinstance(field, str) for field in value["fields"])
    )


def level_of(factor: str, value: Any) -> Level:
    """The level that a factor's value stands for: a table of label and fields, or the factor's own field."""
    if _is_labelled(value):
        return Level(value["label"], dict(value["fields"]))
    return Level(scenario_fields.label(value), {factor: value})


def are_mixed(labels: Collection[Label]) -> bool:
    """Are labels of several kinds (text, numbers, true and false), or whole numbers of more than 64 bits?

    No type of a column of numbers holds all of these, so tables keep each as it is.
    """
    kinds = {
        bool if isinstance(label, bool) else str if isinstance(label, str) else float for label in labels
    }
    return len(kinds) > 1 or any(isinstance(label, int) and not -(2**63) <= label < 2**63 for label in labels)


def check_different(labels: Sequence[Label], place: str) -> None:
    """Checks that labels differ as values and wherever they are shown: not as 1 and "1", or 1 and true, do.

    Args:
        labels: The labels of a factor's levels.
        place: What the error names as its place.

    Raises:
        InputError: Two are the same.
    """
    known: dict[Label, Label] = {}
    for label in labels:
        names: tuple[Label, ...] = (label, str(label), factors.level(label))
        if (twin := next((known[name] for name in names if name in known), None)) is not None:
            found, hint = str(label), "remove one of them"
            if type(twin) is not type(label) or twin != label:
                found = f"{shown(twin)} and {shown(label)}, which are the same in tables or reports"
                hint = f"{hint}, or give it another label"
            raise InputError("a level occurs twice", place, found, "levels with different labels", hint)
        known |= dict.fromkeys(names, label)


def check_apart(ours: set[tuple[str, ...]], decided: Mapping[tuple[str, ...], str], place: str) -> None:
    """Checks that no field is set by two factors, of which the later would quietly win.

    Args:
        ours: The fields that a factor sets, as parts of their names.
        decided: Those that other factors set, with the factor.
        place: What the error names as its place.

    Raises:
        InputError: A field, or one within it, is in both.
    """
    for mine in sorted(ours):
        for other, factor in decided.items():
            shorter = min(len(mine), len(other))
            if mine[:shorter] == other[:shorter]:
                found = f'"{".".join(mine)}", which factor {factor} sets too'
                hint = "combine both in one factor, with levels of { label, fields }"
                raise InputError(
                    "two factors set the same field", place, found, "fields that no other factor sets", hint
                )
