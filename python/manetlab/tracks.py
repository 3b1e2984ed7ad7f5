"""Tracks of nodes from other programs: files of SUMO, GPX, BonnMotion, The ONE and others, and frames."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any

from manetlab import _core
from manetlab.errors import InputError, shown
from manetlab.files import head_of, printable

PARQUET = b"PAR1"
MOST_LABELS = _core.MAX_NODES

FIRST_IN_MS = 1e11
"""Seconds from here on, which are in the year 5138, are milliseconds since 1970."""


class Tracks:
    """Where nodes were: in a straight line at constant speed between samples.

    A scenario takes them as its movement.

    Examples:
        >>> import manetlab
        >>> tracks = manetlab.Tracks.of_columns([0, 9, 0], ["a", "a", "b"], [0.0, 90.0, 5.0], [0.0, 0.0, 5.0])
        >>> tracks.labels
        ['a', 'b']
        >>> scenario = manetlab.Scenario(movement=tracks, traffic={"flows": []}, duration_s=9.0)
        >>> scenario.resolve().movement.positions(3.0)
        [(30.0, 0.0), (5.0, 5.0)]
    """

    def __init__(self, core: _core.Tracks) -> None:
        """The tracks that the extension has read; use `load`, `of_frame` or `of_columns`."""
        nodes = core.nodes()
        self.labels = [node[0] for node in nodes]
        self.remarks = _remarks(core)
        self._nodes = nodes

    @classmethod
    def load(cls, path: str | Path, *, sampled: bool = False, thin_m: float | None = None) -> Tracks:
        """The tracks of a file; its form is told by its content.

        Args:
            path: A file of SUMO (FCD), GPX, BonnMotion, The ONE, CSV, GeoJSON or Parquet; text may be
                compressed with gzip.
            sampled: Nodes are there from their first to their last sample only; SUMO's always are.
            thin_m: How far, in m, a node may be from its samples, so that samples can be left out; by default
                0.01, or 0.5 where the file is in degrees.

        Raises:
            InputError: It cannot be read, or says what tracks must not.
        """
        path = Path(path)
        return cls(load(path, printable(path), sampled=sampled, thin_m=thin_m).core)

    @classmethod
    def of_frame(cls, frame: Any, *, sampled: bool = False, thin_m: float | None = None) -> Tracks:
        """The tracks of a frame of pandas, polars or pyarrow, with the columns time, id, x, y (or lon, lat).

        Raises:
            InputError: A column is missing, or says what tracks must not.
        """
        return cls(_of_frame(frame, "frame", sampled, thin_m))

    @classmethod
    def of_columns(
        cls,
        t_s: Sequence[float],
        node: Sequence[object],
        x: Sequence[float],
        y: Sequence[float],
        z_m: Sequence[float] | None = None,
        *,
        degrees: bool | None = False,
        sampled: bool = False,
        thin_m: float | None = None,
    ) -> Tracks:
        """The tracks of columns, a sample each.

        Args:
            t_s: Times, in s.
            node: What the nodes are called.
            x: Metres to the east, or longitudes.
            y: Metres to the north, or latitudes.
            z_m: Heights, in m.
            degrees: Whether x and y are degrees; None: it is told from the values.
            sampled: Nodes are there from their first to their last sample only.
            thin_m: As in `load`.

        Raises:
            InputError: The columns say what tracks must not.
        """
        return cls(_of_columns((t_s, node, x, y, z_m, None), "columns", degrees, sampled, thin_m))

    def to_movement(self) -> dict[str, Any]:
        """What a scenario takes as its movement."""
        made = []
        for label, t_s, x_m, y_m, z_m, present_s in self._nodes:
            track: dict[str, Any] = {"label": label, "t_s": t_s, "x_m": x_m, "y_m": y_m}
            if z_m:
                track["z_m"] = z_m
            if present_s:
                track["present_s"] = [list(stay) for stay in present_s]
            made.append(track)
        return {"tracks": made}

    def __repr__(self) -> str:
        """What there is, in a line."""
        return f"<Tracks of {len(self.labels)} nodes>"


class Loaded:
    """Tracks as the extension has read them."""

    def __init__(self, core: _core.Tracks) -> None:
        self.core = core

    def movement(self) -> _core.Movement:
        """Where the nodes start and go. The tracks are used up."""
        return self.core.movement(_remarks(self.core))


def load(path: Path, where: str, *, sampled: bool = False, thin_m: float | None = None) -> Loaded:
    """The tracks of a file, read as it streams by.

    Raises:
        InputError: It cannot be read, or says what tracks must not.
    """
    head = head_of(path, "movement file")
    if head.startswith(PARQUET):
        return Loaded(_of_frame(_parquet(path, where), where, sampled, thin_m))
    return Loaded(_core.Tracks.load(path, where, sampled, thin_m, _bonnmotion(path)))


def is_frame(value: object) -> bool:
    """Whether a value is a table with named columns, of pandas, polars or pyarrow."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__") and hasattr(value, "shape")


def _remarks(core: _core.Tracks) -> list[str]:
    """How the source was understood, a sentence each."""
    found = []
    if core.began_s:
        found.append(f"times of the tracks count from the file's {_instant(core.began_s)}")
    if (centre := core.centre_deg) is not None:
        found.append(
            f"degrees are projected to metres around {centre[1]:.5f}, {centre[0]:.5f} (latitude, longitude)"
        )
    found += _oddities(core)
    before, after = core.samples
    if after < before:
        found.append(
            f"{after} of the tracks' {before} samples are kept; the others lie on lines between them"
        )
    return found


_ODD = {
    "repeated": (
        "sample at the time of another of its node is",
        "samples at the time of others of their nodes are",
    ),
    "timeless": ("point without a time is", "points without a time are"),
    "placeless": ("row without a time or a place is", "rows without a time or a place are"),
    "without_fix": (
        "sample at 0°, 0°, as receivers write it without a fix, is",
        "samples at 0°, 0°, as receivers write them without a fix, are",
    ),
}
"""What is left out, in words: one, and several."""


def _oddities(core: _core.Tracks) -> list[str]:
    """What is odd about the tracks, a sentence each."""
    counts, is_single = core.odd
    found = [
        f"{counts[reason]} {words[counts[reason] > 1]} left out"
        for reason, words in _ODD.items()
        if reason in counts
    ]
    if (count := counts.get("reordered", 0)) > 0:
        found.append(
            f"times of the tracks go back {count} times in the file: samples are put in order of time"
        )
    if is_single:
        found.append("each node has one sample only: is what is taken for its name the number of a row?")
    return found


def _instant(seconds: float) -> str:
    """A time of a file: seconds, or a date where they count from 1970."""
    if abs(seconds) < 1e8:
        return f"{seconds:g} s"
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _bonnmotion(path: Path) -> str | None:
    """What the points of a BonnMotion file hold, if its file of parameters is beside it."""
    stem = re.sub(r"\.movements(\.gz)?$", "", path.name)
    if stem == path.name or not (beside := path.with_name(f"{stem}.params")).is_file():
        return None
    text = head_of(beside, "parameters of BonnMotion").decode("utf-8", "replace")
    said = dict(re.findall(r"^\s*(\w+)\s*=\s*(\S+)", text, re.MULTILINE))
    if said.get("J", "").upper() == "3D":
        return "high"
    return "status" if said.get("model", "").lower().startswith("disasterarea") else "flat"


def _parquet(path: Path, where: str) -> Any:
    from pyarrow import ArrowException, parquet

    try:
        return parquet.read_table(path)
    except (ArrowException, OSError) as error:
        hint = "was it written completely?"
        raise InputError("not a file of Parquet", where, str(error)[:100], "a table", hint) from None


def _of_frame(frame: Any, where: str, sampled: bool, thin_m: float | None) -> _core.Tracks:
    names = getattr(frame, "column_names", None) or list(frame.columns)
    places, in_ms = _core.track_columns([str(name) for name in names])

    def column(holds: str) -> Any:
        return None if holds not in places else _listed(frame[names[places[holds]]])

    times, ids, heights, states = (column(each) for each in ("time", "id", "z", "state"))
    x, y = column("x"), column("y")
    degrees = None
    if x is None or y is None:
        x, y, degrees = column("lon"), column("lat"), True
    if times is None or ids is None or x is None or y is None:
        missing = "time" if times is None else "id" if ids is None else "x and y, or lon and lat"
        wanted = "columns time, id, x and y (or lon and lat)"
        hint = f"rename or add columns: {missing}"
        raise InputError("no columns of tracks", where, shown([str(name) for name in names]), wanted, hint)
    if in_ms:
        times = [each / 1e3 if isinstance(each, int | float) else each for each in times]
    # As SUMO names them: vehicles are there while they are listed.
    sampled = sampled or "timestep_time" in map(str, names)
    return _of_columns((times, ids, x, y, heights, states), where, degrees, sampled, thin_m)


def _listed(column: Any) -> list[Any]:
    """A column's values."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _of_columns(
    columns: tuple[Any, Any, Any, Any, Any, Any],
    where: str,
    degrees: bool | None,
    sampled: bool,
    thin_m: float | None,
) -> _core.Tracks:
    times, ids, x, y, heights, states = columns
    numbers: dict[str, int] = {}
    node = array("I", (numbers.setdefault(_label(each), len(numbers)) for each in ids))
    if len(numbers) > MOST_LABELS:
        hint = "take a part of the field, or of the time"
        raise InputError("too many nodes", where, str(len(numbers)), f"at most {MOST_LABELS} nodes", hint)
    t_s = array("d", [_seconds(each, row, where) for row, each in enumerate(times)])
    first = min((each for each in t_s if not isnan(each)), default=0.0)
    if first >= FIRST_IN_MS:
        digits = len(f"{first:.0f}")
        scale = 1e3 if digits <= 14 else 1e6 if digits <= 17 else 1e9
        first, t_s = first / scale, array("d", [each / scale for each in t_s])
    if first >= 1e6:
        # Dates, or seconds since 1970: exact to the nanosecond only from the first on.
        t_s = array("d", [each - first for each in t_s])
    given = {"x": x, "y": y, "z": heights, "state": states}
    x, y, z, state = (None if each is None else _numbers(name, each, where) for name, each in given.items())
    told = (degrees, sampled, thin_m)
    return _core.Tracks.columns(list(numbers), node, (t_s, x, y, z, state), where, told)


def _label(value: object) -> str:
    """What a node is called: 3 where a table has 3.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _seconds(value: Any, row: int, where: str) -> float:
    """A time: a number, a date and time, or text of it."""
    try:
        if value is None or value != value:
            return nan
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime) and value.tzinfo is None:
            # A time without a zone is one of UTC, wherever this runs.
            value = value.replace(tzinfo=UTC)
        if hasattr(value, "timestamp"):
            return float(value.timestamp())
        if hasattr(value, "total_seconds"):
            return float(value.total_seconds())
        return float(value)
    except (TypeError, ValueError):
        hint = "times are numbers of seconds, or dates and times"
        raise InputError("time", f"{where}: row {row}", shown(value), "a time", hint) from None


def _numbers(name: str, column: Sequence[Any], where: str) -> Any:
    try:
        # A row without its place is left out, a state that is missing says nothing.
        if name != "state":
            column = [nan if each is None else each for each in column]
        return array("d", [float(each) for each in column])
    except (TypeError, ValueError):
        row = next(row for row, each in enumerate(column) if not _is_number(each))
        hint = "every sample needs its place"
        raise InputError(name, f"{where}: row {row}", shown(column[row]), "a number", hint) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
