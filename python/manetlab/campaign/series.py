"""Time series of runs: Parquet files in a folder beside the store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def folder_of(store: Path) -> Path:
    """The folder of a store's time series."""
    return store.with_name(f"{store.name}.series")


def write(
    store: Path | None, key: str, series: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, tuple[str, int]]:
    """Writes the time series of a run; returns file and number of rows of each, by its name.

    Each is written under another name, forced to the disk and renamed: a file of this name is whole. It counts when
    the store refers to it, which it does from the transaction that keeps its run.

    Raises:
        InputError: The disk is full or cannot be written.
    """
    import pyarrow
    from pyarrow import parquet

    if store is None:
        hint = "give the campaign a store: run(\"name.db\")"
        raise InputError("time series need a store", "series", ", ".join(series), "a store in a file", hint)
    written = {}
    for name, rows in series.items():
        file = f"{name}/{key}.parquet"
        path = folder_of(store) / file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
            try:
                with os.fdopen(handle, "wb") as sink:
                    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), sink)
                    sink.flush()
                    os.fsync(sink.fileno())
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "what was stored before is safe; free some room, then run the same again"
            wanted = "a place to write"
            raise InputError("a time series cannot be written", str(path), reason, wanted, hint) from None
        written[name] = (file, len(rows))
    return written


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(
    store: Path, places: Sequence[tuple[str, Mapping[str, Any]]], columns: Sequence[str]
) -> pd.DataFrame:
    """The rows of all these files, each with the columns of its place before its own.

    Raises:
        InputError: A file is not there or is not what was written.
    """
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    tables = []
    for file, place in places:
        path = folder_of(store) / file
        try:
            table = parquet.read_table(path).to_pandas()
        except (OSError, pyarrow.ArrowException) as error:
            hint = "the folder of the time series must stay beside the store, under its name"
            raise InputError("a time series cannot be read", str(path), str(error), "Parquet", hint) from None
        for index, (name, value) in enumerate(place.items()):
            table.insert(index, name, value)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(columns))
