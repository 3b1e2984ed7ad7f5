"""Movement from files: what a file says, and which of several files a replication takes."""

from __future__ import annotations

import glob
import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import _core, file_kinds, tracks
from manetlab.errors import InputError, shown
from manetlab.files import head_of, printable

if TYPE_CHECKING:
    from manetlab.origin import Origin
    from manetlab.sources import MovementSource, Track

KIND = "movement file"
SPECIAL = frozenset("*?[")
"""What makes a pattern of a name."""


_NS2 = re.compile(
    rb"\bset\s+[XYZ]_|\bsetdest\b|\$ns_?\b|\$god_?\b|\$node_?\(|\bnew\s+(Simulator|Agent|Application)\b"
)
"""What is in files of ns-2, and in no others."""


def load(origin: Origin, name: str) -> _core.Movement:
    """The movement of a file, whatever program wrote it: the form is told by the content.

    Raises:
        InputError: It cannot be read, is no movement, or one that cannot be used.
    """
    path, where = origin.checked(name, KIND), printable(origin.path(name))
    head = head_of(path, KIND)
    if file_kinds.is_script(head):
        from manetlab import ns2_script

        return ns2_script.movement_of(origin.read(name, KIND), where, origin.beside(name))
    if is_ns2(head):
        return read(origin.read(name, KIND), where)
    return tracks.load(path, where).movement()


def is_ns2(head: bytes) -> bool:
    """Whether a file that begins so is one of ns-2."""
    return _NS2.search(head) is not None or file_kinds.is_known(head)


def read(content: bytes, name: str) -> _core.Movement:
    """The movement that the content of a file of ns-2 says; errors call the file by this name.

    Raises:
        InputError: It is no movement, or one that cannot be used.
    """
    try:
        return _core.Movement.read(content, name)
    except InputError as error:
        raise file_kinds.explained(error, content, file_kinds.MOVEMENT) from None


def of_tracks(tracks: Sequence[Track], where: str) -> _core.Movement:
    """The movement of tracks that are given as data.

    Raises:
        InputError: A track cannot be used.
    """
    node = array("I")
    columns = t_s, x_m, y_m, z_m = array("d"), array("d"), array("d"), array("d")
    for number, track in enumerate(tracks):
        node.extend([number] * len(track.t_s))
        t_s.extend(track.t_s)
        x_m.extend(track.x_m)
        y_m.extend(track.y_m)
        z_m.extend(track.z_m or [0.0] * len(track.t_s))
    with_heights = any(track.z_m is not None for track in tracks)
    rows = (node, *columns[:3], z_m if with_heights else None)
    labels = [track.label for track in tracks]
    return _core.Movement.tracks(labels, rows, [track.present_s or [] for track in tracks], where)


def check_in_ns2_form(movement: _core.Movement, where: str) -> None:
    """Checks that ns-2's form says all of a movement.

    Raises:
        InputError: Nodes have heights that differ, or join and leave.
    """
    if not movement.has_heights and not movement.has_presence:
        return
    found = "nodes that join and leave" if movement.has_presence else "heights that differ"
    wanted, hint = "nodes that are always there, on a flat field", "ns-2's form of movement cannot say it"
    raise InputError("the movement has no form of ns-2", where, found, wanted, hint)


def name_of(source: MovementSource, replication: int, where: str, origin: Origin) -> str | None:
    """The name of the file that a replication takes its movement from, if it takes it from one.

    Raises:
        InputError: There is no file of that number.
    """
    if source.files is None:
        return source.file
    names = expanded(source.files, where, origin)
    number = replication if source.number is None else source.number
    if number < len(names) or source.cycle:
        return names[number % len(names)]
    found = f"{len(names)} {'file' if len(names) == 1 else 'files'}, and replication {number + 1}"
    hint = (
        "give more files or ask for fewer replications; movement.cycle = true takes the files again from the "
        "first on, which makes no new networks of them"
    )
    place = f"{where}: movement.files"
    raise InputError("fewer movement files than replications", place, found, "a file each replication", hint)


def expanded(patterns: Sequence[str], where: str, origin: Origin) -> list[str]:
    """The files of patterns, each once, those of a pattern in natural order: track-2 before track-10.

    Raises:
        InputError: A pattern has no file.
    """
    names: dict[str, None] = {}
    for index, pattern in enumerate(patterns):
        if not SPECIAL & set(pattern):
            names[pattern] = None
            continue
        # Unlike `Path.glob`, this takes patterns that begin at the root, too.
        found = glob.glob(pattern, root_dir=origin.folder)  # noqa: PTH207
        if not found:
            place, folder = f"{where}: movement.files[{index}]", Path(origin.folder).absolute()
            hint = "names and patterns start from the folder of the scenario's or the campaign's file"
            raise InputError("no file fits the pattern", place, shown(pattern), f"files in {folder}", hint)
        names.update(dict.fromkeys(sorted(found, key=_natural)))
    return list(names)


def _natural(name: str) -> list[tuple[int, str]]:
    """The order of names in which numbers count as numbers."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() and part.isascii() else (-1, part) for part in parts]
