"""Time series of runs: Parquet files in a folder beside the store."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from manetlab.campaign.database import damaged
from manetlab.campaign.levels import are_mixed
from manetlab.errors import InputError, shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow


LEFT_BEHIND_S = 600.0
"""A temporary file that is older than this, in s, has no writer any more."""


def folder_of(store: Path) -> Path:
    """The folder of a store's time series."""
    return store.with_name(f"{store.name}.series")


def write(
    store: Path, key: str, series: Mapping[str, Mapping[str, Sequence[Any]]]
) -> dict[str, tuple[str, int, str]]:
    """Writes the time series of a run; returns file, number of rows and digest of each, by its name.

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
        path = folder_of(store) / file
        write_parquet(path, table)
        written[name] = (file, table.num_rows, _digest(path.read_bytes()))
    return written


def write_parquet(path: Path, table: pyarrow.Table) -> None:
    """Writes a Parquet file whole or not at all.

    Raises:
        InputError: The disk is full or cannot be written.
    """
    from pyarrow import parquet

    with whole_file(path) as sink:
        parquet.write_table(table, sink)


@contextlib.contextmanager
def whole_file(path: Path, before: Callable[[Path], object] | None = None) -> Iterator[IO[bytes]]:
    """A file that is whole or not there: written under another name, forced to the disk, then renamed.

    Args:
        path: The file.
        before: Called with the whole file under its other name, just before it is renamed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as sink:
                yield sink
                sink.flush()
                os.fsync(sink.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            if before is not None:
                before(Path(temporary))
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


def _remove_leftovers(folder: Path) -> None:
    """Removes what writers that were killed left behind; a living one needs seconds."""
    for leftover in folder.glob(".*.new"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > LEFT_BEHIND_S:
                leftover.unlink()


def read(store: Path, places: Sequence[tuple[str, str, Mapping[str, Any]]]) -> pd.DataFrame:
    """The rows of all these files, each with the columns of its place before its own.

    Args:
        store: The store beside which the files are.
        places: File, digest and place of each.

    Raises:
        InputError: A file is not there or is not what was written.
    """
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    tables: list[pd.DataFrame] = []
    mixed = {name for name in places[0][2] if are_mixed({place[name] for _, _, place in places})}
    for file, digest, place in places:
        path = _within(store, file)
        try:
            content = path.read_bytes()
            if _digest(content) != digest:
                raise damaged(path, "a time series that is not what its digest says")
            table = parquet.read_table(pyarrow.BufferReader(content)).to_pandas()
        except (OSError, pyarrow.ArrowException) as error:
            hint = "the folder of the time series must stay beside the store, under its name"
            raise InputError("a time series cannot be read", str(path), str(error), "Parquet", hint) from None
        for index, (name, value) in enumerate(place.items()):
            # pandas would make a number of true where other tables have numbers.
            is_mixed = name in mixed
            table.insert(index, name, pd.Series([value] * len(table), dtype=object) if is_mixed else value)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def take_over(store: Path, into: Path, files: Sequence[tuple[str, str]]) -> None:
    """Copies the files of a store's time series to another store that does not have them yet.

    Args:
        store: The store beside which they are.
        into: The store beside which they shall be.
        files: File and digest of each.

    Raises:
        InputError: A file is not there, is not what was written, or cannot be copied.
    """
    for file, digest in files:
        path, copy = _within(store, file), _within(into, file)
        try:
            content = path.read_bytes()
        except OSError as error:
            hint = "the folder of the time series must stay beside the store, under its name"
            raise InputError("a time series cannot be read", str(path), str(error), "Parquet", hint) from None
        if _digest(content) != digest:
            raise damaged(path, "a time series that is not what its digest says")
        if not copy.exists():
            with whole_file(copy) as sink:
                sink.write(content)


def _within(store: Path, file: str) -> Path:
    """The file of a time series, which a store names by its place in the folder.

    Raises:
        InputError: The name leads out of the folder: a store may come from somebody else.
    """
    name = PurePosixPath(file)
    if name.is_absolute() or len(name.parts) != 2 or ".." in name.parts or name.suffix != ".parquet":
        raise damaged(store, f"a time series in the file {shown(file)}")
    return folder_of(store) / name


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
