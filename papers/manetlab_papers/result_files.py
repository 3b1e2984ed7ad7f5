"""Results of runs as they are kept for good: one Parquet file for each campaign that is run.

A row is a run: its point, replication, seed and result hash, what made it, and the measures that claims,
tables and figures read. Columns of ``runs.`` have one value a run, those of ``flows.``, ``drops.`` and
``series.`` a list of them. The metadata ``manetlab-kept`` say in JSON what the points are and what made the
runs: version, day, and the digest of its sources (`manetlab.provenance.source_digest`); and ``without`` which
columns are left out because no run has a value there. Its ``digest`` is over all of that and all values. The
same content makes the same bytes.

A file stands alone in a folder of its scale, as it is written, or packed with those of the same paper in an
archive beside these folders: ``full/opposite.parquet``, alone or in ``bansal2003.zip``.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError
from manetlab.files import read_bytes, write_bytes

if TYPE_CHECKING:
    import pyarrow

META = "manetlab-kept"
VERSION = 2
PLACES = ("point", "replication", "seed", "made_by", "result_hash", "cpu_time_s")
"""The columns of every file, before the measures."""
HASH_DIGITS = 8
"""Hexadecimal digits of a result hash that are kept: another run has the same with a chance of 2⁻³²."""
LEVEL = 22
"""Of compression by Zstandard: files are written seldom and stay in the repository for ever."""
ARCHIVES = "*.zip"
DAMAGED = (OSError, ValueError, TypeError, LookupError, MemoryError, EOFError, NotImplementedError)
"""What readers say of bytes that are damaged, besides errors of their own."""


@dataclass(frozen=True)
class Maker:
    """What made runs.

    Attributes:
        code: Version and commit.
        platform: On what machine.
        day: When, as ``2026-11-22``.
        digest: The digest of all sources that made the runs, or of those that confirmed them.
        form: The form of the runs' result hashes.
        confirmed: Which later code confirmed the runs, and from how many (`manetlab_papers.confirmation`).
    """

    code: str
    platform: str
    day: str
    digest: str
    form: str
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
    """The file of a campaign where it stands alone; its name has no blanks."""
    return folder / scale / f"{campaign.replace(', ', ',').replace(' ', '=')}.parquet"


def read(path: Path) -> Kept | None:
    """What was kept in a file, be it alone or packed; None if there is none.

    Raises:
        InputError: The file or an archive is not what was written.
    """
    if path.exists():
        return parsed(path, read_bytes(path, "file of kept results"))
    for archive in sorted(path.parents[1].glob(ARCHIVES)):
        known = archive.stat()
        kept = _kept_in(archive, f"{path.parent.name}/{path.name}", known.st_mtime_ns, known.st_size)
        if kept is not None:
            return kept
    return None


@lru_cache(maxsize=1024)
def _kept_in(archive: Path, name: str, changed_ns: int, size: int) -> Kept | None:
    """What an archive keeps under a name, read once as long as the archive is the same."""
    found = _members_of(archive, changed_ns, size).get(name)
    return None if found is None else parsed(archive / name, found)


@lru_cache(maxsize=16)
def _members_of(archive: Path, _changed_ns: int, _size: int) -> dict[str, bytes]:
    return members(archive)


def members(archive: Path) -> dict[str, bytes]:
    """The files in an archive, by their names; nothing if it is not there.

    Raises:
        InputError: The archive is not what was written.
    """
    if not archive.exists():
        return {}
    content = read_bytes(archive, "archive of kept results")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            return {name: opened.read(name) for name in opened.namelist()}
    except (*DAMAGED, zipfile.BadZipFile, zlib.error) as error:
        raise _refused(archive, f"{type(error).__name__}: {error}".splitlines()[0]) from None


def pack(folder: Path, paper_of: Callable[[str, str], str]) -> list[Path]:
    """Moves the files that stand alone into the archives of their papers.

    Args:
        folder: The folder of kept results.
        paper_of: The paper of a campaign, from the names of scale and campaign.

    Returns:
        The archives that were written.

    Raises:
        InputError: A file or an archive is not what was written, or an archive cannot be written.
    """
    alone: dict[Path, dict[str, Path]] = {}
    for path in sorted(folder.glob("*/*.parquet")):
        kept = read(path)
        assert kept is not None
        archive = folder / f"{paper_of(kept.scale, kept.campaign)}.zip"
        alone.setdefault(archive, {})[f"{path.parent.name}/{path.name}"] = path
    for archive, paths in alone.items():
        packed = members(archive) | {name: path.read_bytes() for name, path in paths.items()}
        write_bytes(archive, _archived(packed))
        for path in paths.values():
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    return list(alone)


def _archived(packed: Mapping[str, bytes]) -> bytes:
    """An archive of files, of which the columns are compressed already and the metadata are not.

    The same files make the same bytes, as far as zlib is the same.
    """
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name in sorted(packed):
            archive.writestr(zipfile.ZipInfo(name), packed[name], zipfile.ZIP_DEFLATED, 9)
    return sink.getvalue()


def parsed(path: Path, content: bytes) -> Kept:
    """What the bytes of a file say.

    Args:
        path: Where they are from, for errors.
        content: The bytes.

    Raises:
        InputError: They are not what was written.
    """
    import pyarrow
    from pyarrow import parquet

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
    except (*DAMAGED, pyarrow.ArrowException) as error:
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
    content = _bytes_of(table, text, **_encodings(table))
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)
    return True


def packed(table: pyarrow.Table) -> bytes:
    """A table as a Parquet file, each column in the way in which it is shortest."""
    return _bytes_of(table, "", **_encodings(table))


def _bytes_of(table: pyarrow.Table, text: str, **encodings: Any) -> bytes:
    """A table as a Parquet file with a text as its metadata."""
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    options = {"compression": "zstd", "compression_level": LEVEL, "write_statistics": False, **encodings}
    with parquet.ParquetWriter(sink, table.schema, store_schema=False, **options) as writer:
        writer.write_table(table, max(1, table.num_rows))
        if text:
            writer.add_key_value_metadata({META: text})
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _encodings(table: pyarrow.Table) -> dict[str, Any]:
    """How each column becomes shortest: with a dictionary, split into streams of equal bytes, or as it is."""
    import pyarrow

    dictionary: list[str] = []
    split: list[str] = []
    for name in table.column_names:
        one, of = table.select([name]), table.schema.field(name).type
        is_list = pyarrow.types.is_list(of)
        lengths = {"as it is": len(_bytes_of(one, "", use_dictionary=False))}
        lengths["dictionary"] = len(_bytes_of(one, "", use_dictionary=True))
        if pyarrow.types.is_floating(of.value_type if is_list else of):
            lengths["split"] = len(_bytes_of(one, "", use_dictionary=False, use_byte_stream_split=True))
        best = min(lengths, key=lengths.__getitem__)
        path = f"{name}.list.element" if is_list else name
        if best != "as it is":
            (dictionary if best == "dictionary" else split).append(path)
    return {"use_dictionary": dictionary or False, "use_byte_stream_split": split or False}


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
