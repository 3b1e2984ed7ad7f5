"""Results of runs as they are kept in the repository: one Parquet file for each campaign that is run.

A row is a run: its point, replication, seed and result hash, what made it, and the measures that claims and
tables read. Columns of ``runs.`` have one value a run, those of ``flows.``, ``drops.`` and ``series.`` a list
of them. The metadata ``manetlab-kept`` say in JSON what the points are and what made the runs: version, day,
and the digests of the units of the simulator that they used (`manetlab.code_modules`); and ``without`` which
columns are left out because no run has a value there. Its ``digest`` is over
all of that and all values. The same content makes the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError
from manetlab.files import read_bytes, write_bytes

if TYPE_CHECKING:
    import pyarrow

META = "manetlab-kept"
VERSION = 1
PLACES = ("point", "replication", "seed", "made_by", "result_hash", "cpu_time_s")
"""The columns of every file, before the measures."""
HASH_DIGITS = 16
"""Hexadecimal digits of a result hash that are kept."""
LEVEL = 19
"""Of compression by Zstandard: files are written seldom and stay in the repository for ever."""


@dataclass(frozen=True)
class Maker:
    """What made runs.

    Attributes:
        code: Version and commit.
        platform: On what machine.
        day: When, as ``2026-11-22``.
        units: The digests of the units of the simulator that the runs used, or of the code that
            confirmed them.
        confirmed: Which later code confirmed the runs, and from how many (`manetlab_papers.confirming`).
    """

    code: str
    platform: str
    day: str
    units: Mapping[str, str]
    confirmed: str = ""

    @property
    def origin(self) -> str:
        """What made the runs, and which later code confirmed them."""
        return (
            f"{self.code}, confirmed by {self.confirmed.partition(',')[0]}" if self.confirmed else self.code
        )


@dataclass(frozen=True)
class KeptPoint:
    """A point of a campaign.

    Attributes:
        key: The digest of everything that its runs depend on besides the code and the seed.
        levels: The labels of its factors.
    """

    key: str
    levels: Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """The content of a file.

    Attributes:
        campaign: The campaign's name.
        scale: ``full`` or ``quick``.
        makers: What made the runs; ``made_by`` is a place in this list.
        points: The points; ``point`` is a place in this list.
        columns: The values of each column, run by run.
    """

    campaign: str
    scale: str
    makers: Sequence[Maker]
    points: Sequence[KeptPoint]
    columns: Mapping[str, Sequence[Any]]

    @property
    def measures(self) -> dict[str, set[str]]:
        """The names of the columns by table, without their table's."""
        found: dict[str, set[str]] = {}
        for column in self.columns:
            table, _, name = column.rpartition(".")
            if table:
                found.setdefault(table.removeprefix("series."), set()).add(name)
        return found

    def rows(self, table: str, place: int) -> list[dict[str, Any]]:
        """The rows that a table has of the run at a place; ``runs`` has one."""
        prefix = f"{table}." if table in ("runs", "flows", "drops") else f"series.{table}."
        columns = {
            name.removeprefix(prefix): of[place]
            for name, of in self.columns.items()
            if name.startswith(prefix)
        }
        if table == "runs":
            return [columns]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def path_of(folder: Path, scale: str, campaign: str) -> Path:
    """The file of a campaign; its name has no blanks."""
    return folder / scale / f"{campaign.replace(', ', ',').replace(' ', '=')}.parquet"


def read(path: Path) -> Kept | None:
    """What was kept in a file; None if there is none.

    Raises:
        InputError: The file is not what was written.
    """
    if not path.exists():
        return None
    import pyarrow
    from pyarrow import parquet

    content = read_bytes(path, "file of kept results")
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        table = file.read()
        text = (file.metadata.metadata or {}).get(META.encode())
        if text is None:
            raise _refused(path, "a Parquet file without the metadata of kept results")
        meta = json.loads(text)
        if meta["version"] != VERSION:
            raise _refused(path, f"version {meta['version']}")
        if meta.pop("digest") != _digest(meta, table):
            raise _refused(path, "values that are not what their digest says")
    except (OSError, ValueError, TypeError, LookupError, MemoryError, pyarrow.ArrowException) as error:
        # Whatever a reader of Parquet and JSON says of bytes that are damaged.
        raise _refused(path, f"{type(error).__name__}: {error}".splitlines()[0]) from None
    return Kept(
        meta["campaign"],
        meta["scale"],
        [Maker(**each) for each in meta["makers"]],
        [KeptPoint(**each) for each in meta["points"]],
        {
            **{name: table.column(name).to_pylist() for name in table.column_names},
            **{name: [math.nan] * table.num_rows for name in meta["without"]},
        },
    )


def _refused(path: Path, found: str) -> InputError:
    hint = "restore it, for example by git checkout, or remove it and reproduce the experiment with --keep"
    return InputError("kept results cannot be read", str(path), found, f"version {VERSION}, undamaged", hint)


def write(path: Path, kept: Kept) -> bool:
    """Writes a file whole or not at all; returns whether it is another than before.

    Raises:
        InputError: It cannot be written.
    """
    import pyarrow
    from pyarrow import parquet

    meta: dict[str, Any] = {
        "version": VERSION,
        "campaign": kept.campaign,
        "scale": kept.scale,
        "makers": [asdict(each) for each in kept.makers],
        "points": [asdict(each) for each in kept.points],
    }
    without = [name for name, values in kept.columns.items() if all(map(_is_nan, values))]
    meta["without"] = without
    there = {name: values for name, values in kept.columns.items() if name not in without}
    table = pyarrow.table({name: _array(values) for name, values in there.items()})
    meta = json.loads(json.dumps(meta))
    text = json.dumps({**meta, "digest": _digest(meta, table)}, separators=(",", ":"), sort_keys=True)
    sink = pyarrow.BufferOutputStream()
    options = {"compression": "zstd", "compression_level": LEVEL, "write_statistics": False}
    with parquet.ParquetWriter(sink, table.schema, store_schema=False, **options) as writer:
        writer.write_table(table, max(1, table.num_rows))
        writer.add_key_value_metadata({META: text})
    content = sink.getvalue().to_pybytes()
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)
    return True


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _array(values: Sequence[Any]) -> pyarrow.Array:
    """A column; NaN stays NaN."""
    import pyarrow

    made = pyarrow.array(values, from_pandas=False)
    # A column of which no run has a value has no type of its own.
    if pyarrow.types.is_null(made.type):
        return made.cast(pyarrow.float64())
    if pyarrow.types.is_list(made.type) and pyarrow.types.is_null(made.type.value_type):
        return made.cast(pyarrow.list_(pyarrow.float64()))
    return made


def _digest(meta: Mapping[str, Any], table: pyarrow.Table) -> str:
    """SHA-256 over the metadata and every value, whatever way a file has them."""
    import pyarrow

    made = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        made.update(f"\n{name} {len(column)}\n".encode())
        if pyarrow.types.is_list(column.type):
            made.update(column.value_lengths().to_numpy(zero_copy_only=False).tobytes())
            column = column.flatten()
        of = column.type
        if column.null_count == 0 and (pyarrow.types.is_floating(of) or pyarrow.types.is_integer(of)):
            made.update(column.to_numpy(zero_copy_only=False).tobytes())
        else:
            made.update(json.dumps(column.to_pylist()).encode())
    return made.hexdigest()


def columns_of(
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    wanted: Mapping[str, Collection[str]],
    places: Sequence[tuple[int, int]],
) -> dict[str, list[Any]]:
    """The columns of tables.

    Args:
        rows: Their rows, by table.
        wanted: The names of the columns that are kept, by table.
        places: Point and replication of each run, in order.
    """
    columns: dict[str, list[Any]] = {}
    for table, names in wanted.items():
        at: dict[tuple[int, int], list[Mapping[str, Any]]] = {place: [] for place in places}
        for row in rows[table]:
            at[int(row["point"]), int(row["replication"])].append(row)
        prefix = table if table in ("runs", "flows", "drops") else f"series.{table}"
        for name in sorted(names):
            lists = [[row.get(name) for row in at[place]] for place in places]
            columns[f"{prefix}.{name}"] = [each[0] for each in lists] if table == "runs" else lists
    return columns
