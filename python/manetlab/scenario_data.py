"""Scenarios as they are written: plain data with short forms, how changes are merged and fields set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manetlab import parameters
from manetlab.errors import InputError, shown

SHORT_FORMS = {"movement": "file", "traffic": "file", "tcp": "sender"}
"""Fields for which a string alone may stand, and the key that it is the value of."""


def as_plain(value: Any) -> Any:
    """The same value as data: NumPy's values, tuples, mappings and routing protocols converted."""
    if isinstance(value, Mapping):
        return {key: as_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(each) for each in value]
    if isinstance(value, type):
        from manetlab.routing import name_of

        return name_of(value)
    # NumPy is not imported for this: whoever has such a value has it.
    return value.tolist() if hasattr(value, "tolist") and hasattr(value, "dtype") else value


def merged(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``data`` with ``changes``; sections of parameters are joined, all else is replaced."""
    merged = dict(data)
    for key, value in changes.items():
        if key in parameters.sections():
            section, change = long_form(key, merged.get(key)), long_form(key, value)
            if isinstance(section, Mapping) and isinstance(change, Mapping):
                merged[key] = {**section, **change}
                continue
        merged[key] = value
    return merged


def long_form(key: str, value: object) -> object:
    """A field's value with its short form, a string alone, written out as a table."""
    if key in SHORT_FORMS and isinstance(value, str | Path):
        return {SHORT_FORMS[key]: str(value)}
    # What readers of tracks return says itself what movement it is.
    if key != "movement":
        return value
    from manetlab import tracks

    if tracks.is_frame(value):
        value = tracks.Tracks.of_frame(value)
    return value.to_movement() if hasattr(value, "to_movement") else value


def assign(data: Mapping[str, Any], path: str, value: object, where: str) -> dict[str, Any]:
    """``data`` with one field set; what it holds otherwise stays.

    A section of parameters that is set to a table changes only the parameters that the table names.

    Raises:
        InputError: The path leads through something that has no fields.
    """
    head, *rest = path.split(".")
    if not rest:
        return merged(data, {head: value})
    return {**data, head: _assigned(long_form(head, data.get(head, {})), rest, value, f"{where}: {path}")}


def _assigned(node: object, path: list[str], value: object, where: str) -> object:
    key, *rest = path
    if isinstance(node, Mapping):
        inner = _assigned(node.get(key, {}), rest, value, where) if rest else value
        return {**node, key: inner}
    if isinstance(node, list | tuple) and key.isdecimal() and int(key) < len(node):
        items = list(node)
        items[int(key)] = _assigned(items[int(key)], rest, value, where) if rest else value
        return items
    wanted = f"a table or list that has {key}"
    raise InputError("this field cannot be set", where, shown(node), wanted, "see the base scenario")
