"""From a script of ns-2 to a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manetlab.ns2_script import Imported, read
from manetlab.origin import Origin
from manetlab.scenario import Scenario
from manetlab.scenario_data import assign, merged


def scenario(
    path: Path,
    changes: Mapping[str, Any] | None = None,
    assigned: Mapping[str, Any] | None = None,
    arguments: Sequence[str] = (),
    *,
    anyway: bool = False,
) -> tuple[Scenario, Imported]:
    """The scenario that a script asks for, and how that was understood.

    Args:
        path: The script.
        changes: Keys that replace the script's, as of `Scenario.load`.
        assigned: Single fields by dotted name, set after the changes.
        arguments: Those of the command line, ``$argv``.
        anyway: Leave out what has no counterpart although results depend on it.

    Raises:
        InputError: The script cannot be evaluated, something has no counterpart, or a value is not allowed.
    """
    changes = changes or {}
    imported = read(path, arguments, changes.get("duration_s"))
    if not anyway:
        imported.check()
    data = merged({"movement": {"file": path.name}, **imported.data}, changes)
    for name, value in (assigned or {}).items():
        data = assign(data, name, value, imported.where)
    sources = [path, *(path.parent / Path(name).name for name in imported.files)]
    return Scenario.build(data, imported.where, Origin(path.parent, tuple(sources))), imported
