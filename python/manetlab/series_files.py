"""Time series as files: CSV or Parquet, by the file's name."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from manetlab.errors import InputError
from manetlab.files import check_writable, write_bytes, write_files
from manetlab.optional_packages import require

Columns = dict[str, list[Any]]

NAMES = ("totals", "tcp_flows", "message_flows", "route_repairs", "queues", "paths")
"""The time series of a run that was asked for any; all but the first may have no rows."""


def series_paths(path: Path) -> dict[str, Path]:
    """Which file each series goes to: ``totals`` to the one named, the others beside it."""
    others = {name: name.replace("_", "-") for name in NAMES[1:]}
    beside = {name: path.with_name(f"{path.stem}-{ending}{path.suffix}") for name, ending in others.items()}
    return {"totals": path, **beside}


def check_series_file(path: Path, where: str) -> None:
    """Checks, before the work is done, that series can be written to files of this name.

    Raises:
        InputError: The name says no format, or a file cannot be written.
    """
    for each in series_paths(path).values():
        check_columns_file(each, where)


def check_columns_file(path: Path, where: str) -> None:
    """Checks, before the work is done, that columns can be written to a file of this name.

    Raises:
        InputError: The name says no format, or the file cannot be written.
    """
    if path.suffix not in _WRITERS:
        wanted = "a name that ends in " + " or ".join(_WRITERS)
        raise InputError("the format of the series is unknown", where, str(path), wanted)
    if path.suffix == ".parquet":
        require("notebook", where)
    check_writable(path)


def write_columns(path: Path, columns: Columns) -> None:
    """Writes columns of equal length to a file that `check_columns_file` allows."""
    write_bytes(path, _WRITERS[path.suffix](columns))


def write_series(path: Path, series: dict[str, Columns]) -> None:
    """Writes ``totals`` to the file and the others, where they have rows, to files beside it.

    Args:
        path: A name that ends in ``.csv`` or ``.parquet``.
        series: The ``series`` of a result.

    Raises:
        InputError: The name says no format, or a file cannot be written.
    """
    check_series_file(path, "write_series")
    write_files(
        (each, _WRITERS[each.suffix](series[name]))
        for name, each in series_paths(path).items()
        if name == "totals" or series[name]["time_s"]
    )


def _csv(columns: Columns) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode("utf-8")


def _parquet(columns: Columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


_WRITERS = {".csv": _csv, ".parquet": _parquet}
