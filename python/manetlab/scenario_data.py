"""Scenarios as they are written: plain data with short forms, and how changes are merged into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manetlab import parameters

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
    return value
