"""What a file is that was given for another: errors that say so, and what to do with it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manetlab.errors import InputError
from manetlab.files import parse_toml, read_bytes

LOOKED_AT = 20_000
"""How many bytes of a file are looked at to find out what it is."""

MOVEMENT, TRAFFIC = "movement", "traffic"

# In order: the first that fits names the file. A main script may hold lines of the others.
_SIGNS: tuple[tuple[str, str, str], ...] = (
    (
        r"new\s+Simulator|^\s*set\s+val\(",
        "a main script of ns-2",
        "run it as it is:  manetlab run SCRIPT.tcl",
    ),
    (r"<(gpx|fcd-export)\b", "tracks of nodes", "it belongs to --movement"),
    (
        r"create-connection|new\s+(Agent|Application)/|attach-agent",
        TRAFFIC,
        "it belongs to --traffic",
    ),
    (r"set\s+[XYZ]_|setdest", MOVEMENT, "it belongs to --movement"),
    (r"^\s*\[?advise\b", "a field to advise on", "manetlab advise FILE"),
    (r"^\s*\[?capacity\b", "a question of capacity", "manetlab capacity FILE"),
    (r"^\s*\[?(base|factors)\b", "a campaign", "manetlab campaign run FILE"),
    (
        r"^\s*(duration_s|\[?movement|\[?traffic)\b.*",
        "a scenario in TOML",
        "give it without an option: manetlab run FILE",
    ),
    (
        r"\A\s*(-?[\d.]+(e-?\d+)?[ \t]+){2,}-?[\d.]+(e-?\d+)?\s*(\n|\Z)",
        "lines of numbers, as BonnMotion writes them",
        "it belongs to --movement",
    ),
)
_OURS = ("a field to advise on", "a question of capacity", "a campaign", "a scenario in TOML")
_NAMES = {MOVEMENT: "a movement file (setdest)", TRAFFIC: "a traffic file (cbrgen.tcl)"}
_SCRIPT = re.compile(rb"\bnew\s+Simulator\b")


def is_script(content: bytes) -> bool:
    """Whether a file is a script of ns-2."""
    return _SCRIPT.search(content) is not None


def is_known(head: bytes) -> bool:
    """Whether a file that begins so is TOML of manetlab."""
    text = head[:LOOKED_AT].decode("utf-8", errors="replace")
    return any(kind in _OURS and re.search(sign, text, re.MULTILINE) for sign, kind, _ in _SIGNS)


def explained(error: InputError, content: bytes, wanted: str) -> InputError:
    """The error of a reader of ns-2's files, or a better one if the file is known to be something else.

    Args:
        error: What the reader says.
        content: The file.
        wanted: What it should be, ``movement`` or ``traffic``.
    """
    text = content[:LOOKED_AT].decode("utf-8", errors="replace")
    kind, hint = next(
        ((kind, hint) for sign, kind, hint in _SIGNS if re.search(sign, text, re.MULTILINE)), (wanted, "")
    )
    if kind == wanted:
        return error
    found = _NAMES.get(kind, kind)
    return InputError(f"not a {wanted} file of ns-2", error.where, found, _NAMES[wanted], hint)


def refuse_campaign(data: Mapping[str, Any], where: str, wanted: str = "a scenario") -> None:
    """Raises an InputError if what should be something else, as read, is a campaign."""
    if "base" in data and "movement" not in data:
        refuse_capacity(data, where, wanted)
        hint = f"manetlab campaign run {shlex.quote(where)}"
        found = f"a campaign: {', '.join(list(data)[:4])}"
        raise InputError("this is a campaign", where, found, wanted, hint)


def refuse_scenario(source: Path | Mapping[str, Any], where: str = "") -> None:
    """Raises an InputError if what should be a campaign, as a file or read, is a scenario or a field."""
    if isinstance(source, Path):
        where = str(source)
        if (found := _read(source)) is None:
            return
        source = found
    refuse_field(source, where, "a campaign")
    if "base" not in source and ("movement" in source or "traffic" in source):
        hint = f"manetlab run {shlex.quote(where)}"
        raise InputError("this is a scenario", where, "no [base]", "a campaign", hint)


def refuse_field(data: Mapping[str, Any], where: str, wanted: str) -> None:
    """Raises an InputError if what should be something else is a field of ``manetlab advise``."""
    asks = "question" in data and "movement" in data and "base" not in data and "routing" not in data
    if "advise" in data or asks:
        hint = f"manetlab advise {shlex.quote(where)}"
        found = "a table [advise]" if "advise" in data else "a question, and no routing"
        raise InputError("this is a field to advise on", where, found, wanted, hint)


def refuse_capacity(source: Path | Mapping[str, Any], where: str, wanted: str) -> None:
    """Raises an InputError if what should be something else, as a file or read, asks for a capacity."""
    data = _read(source) if isinstance(source, Path) else source
    if data is not None and data.get("capacity"):
        hint = f"manetlab capacity {shlex.quote(where)}"
        raise InputError("this is a question of capacity", where, "a table [capacity]", wanted, hint)


def _read(path: Path) -> Mapping[str, Any] | None:
    """What is in a file of TOML; none if it cannot be read as such, of which its own reader tells."""
    try:
        return parse_toml(read_bytes(path, "campaign file"))
    except (ValueError, RecursionError):
        return None
