"""Scenarios that have a name: ``preset = "conference"`` stands for all that they say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from manetlab.errors import InputError, shown
from manetlab.files import parse_toml, read_bytes
from manetlab.parameters import unknown
from manetlab.scenario_data import merged

KEY = "preset"
FILE = Path(__file__).parent / "presets.toml"


@cache
def presets() -> dict[str, dict[str, Any]]:
    """The fields of each preset by name."""
    return parse_toml(read_bytes(FILE, "presets"))


def expanded(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a scenario, with those of the preset that they name where they have none of their own.

    Sections of parameters are joined, all else is as it is given.

    Args:
        data: The fields; without a preset they stay as they are.
        where: What an error names as its place.

    Raises:
        InputError: There is no preset of that name.
    """
    own = dict(data)
    if (name := own.pop(KEY, None)) is None:
        return own
    if not isinstance(name, str):
        wanted = f"one of {', '.join(presets())}"
        raise InputError("the preset is not a name", f"{where}: {KEY}", shown(name), wanted)
    if name not in presets():
        raise unknown(KEY, name, presets(), where)
    return merged(presets()[name], own)
