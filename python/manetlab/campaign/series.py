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
    import pyarrow


def folder_of(store: Path) -> Path:
    """The folder of a store's time series."""
    return store.with_name(f"{store.name}.series")


def write(
    store: Path, key: str, series: Mapping[str, Mapping[str, Sequence[Any]]]
) -> dict[str, tuple[str, int]]:
    """Writes the time series of a run; returns file and number of rows of each, by its name.

    A series counts when the store refers to its file, which it does from the transaction that keeps the run.

    Raises:
        InputError: The disk is full or cannot be written.
    """
    import pyarrow

    written = {}
    for name, columns in series.items():
        if name != "totals" and not any(columns.values()):
            continue
        file = f"{name}/{key}.parquet"
        table = pyarrow.table({column: list(values) for column, values in columns.items()})
        write_parquet(folder_of(store) / file, table)
        written[name] = (file, table.num_rows)
    return written


def write_parquet(path: Path, table: pyarrow.Table) -> None:
    """Writes a Parquet file whole or not at all: under another name, forced to the disk, then renamed.

    Raises:
        InputError: The disk is full or cannot be written.
    """
    from pyarrow import parquet

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as sink:
                parquet.write_table(table, sink)
                sink.flush()
                os.fsync(sink.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "what was written before is safe; free some space, then run the same command again"
        wanted = "a writable place with free space"
        raise InputError("a table cannot be written", str(path), reason, wanted, hint) from None


def read(store: Path, places: Sequence[tuple[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """The rows of all these files, each with the columns of its place before its own.

    Raises:
        InputError: A file is not there or is not what was written.
    """
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    tables: list[pd.DataFrame] = []
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
    return pd.concat(tables, ignore_index=True)
