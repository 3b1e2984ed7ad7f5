"""Results as files that everything reads: CSV and Parquet.

``runs``, ``flows``, ``drops``, ``failed`` and ``campaign.json`` hold what was measured, ``summary``,
``comparisons``, ``standings`` and ``given_up`` what follows from it: they are the same, byte for byte,
however the campaign was run. Times, machines and versions are in ``provenance`` and ``provenance.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from manetlab import _core
from manetlab.campaign.levels import Label, are_mixed
from manetlab.campaign.series import whole_file
from manetlab.errors import InputError
from manetlab.files import check_writable, for_spreadsheet
from manetlab.movement_files import expanded
from manetlab.optional_packages import require
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign.results import Results

FORMATS = ("csv", "parquet")
RUNS, TEXTS, ROWS = 2**17, 2**18, 2**20
"""Runs, rows of what is in their texts, and rows of other tables that are written at a time.

Parquet has a group for each."""
CSV_ROWS = 2**15
"""Rows of which CSV is made at a time."""
PLAIN = {"int64": "q", "float64": "d", "str": "", "object": ""}
"""How `_core.csv_rows` gets the columns of a type."""
GENERATOR = "manetlab campaign export"
MANIFEST = "manifest.json"
"""Names the files of an export with their SHA-256 hashes, so that they can be told from others."""
ALTERNATIVES = {
    "comparisons": ("level", "against"),
    "standings": ("level", "against"),
    "given_up": ("level", "than"),
}
"""The columns of tables that name alternatives, by the labels of the factor that is compared."""


def export(results: Results, folder: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Writes all tables of a campaign's results into a folder, which is made if it is not there.

    Args:
        results: The results.
        folder: The folder: a new one, or one without files of these names but those of an earlier export.
        formats: ``csv``, ``parquet`` or both.

    Returns:
        The files.

    Raises:
        InputError: A format is unknown, the folder cannot be written, or a file in it would be overwritten
            that no export has written: nothing was written. Or the disk is full: the export can be repeated.
    """
    folder = Path(folder)
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS, "export")
    if "parquet" in formats or results.series_names:
        require("notebook", "export")
    made = _tables(results)
    written = [folder / "campaign.json", folder / "provenance.json"]
    written += [folder / f"{name}.{suffix}" for name in made for suffix in formats]
    ours = _Ours(folder, written)
    _make(folder)
    with whole_file(written[0], partial(ours.announce, written[0])) as file:
        file.write(f"{json.dumps(results.campaign.to_dict(), indent=2)}\n".encode())
    with whole_file(written[1], partial(ours.announce, written[1])) as file:
        # Text by text: of very many runs it is long.
        for text in json.JSONEncoder(indent=2).iterencode(results.provenance):
            file.write(text.encode())
        file.write(b"\n")
    for name, parts in made.items():
        # One table after the other: all of them may not fit into memory.
        _write([folder / f"{name}.{suffix}" for suffix in formats], parts(), _mixed(results, name), ours)
    ours.finish()
    return written


class _Ours:
    """Which files of a folder an export has written; the manifest says so whenever the export breaks off.

    A file's new hash is in the manifest before the file is: until the next one is announced, the old and the
    new file count as ours.

    Args:
        folder: The folder.
        written: The files that will be written.

    Raises:
        InputError: One is there, but not as an export has written it; or another program's manifest is.
    """

    def __init__(self, folder: Path, written: Sequence[Path]) -> None:
        self._manifest, self._written = folder / MANIFEST, written
        self._hashes, self._next = _known(self._manifest)
        for path in written:
            of_ours = [known.pop(path.name, None) for known in (self._hashes, self._next)]
            if path.exists():
                if not path.is_file() or (found := _sha256(path)) not in of_ours:
                    raise _not_ours(path)
                self._hashes[path.name] = found

    def announce(self, path: Path, made: Path) -> None:
        """Says that a file is about to be what was made under another name."""
        digest = _sha256(made)
        self._write({"files": self._hashes, "next": {**self._next, path.name: digest}})
        self._hashes[path.name] = digest

    def finish(self) -> None:
        """Says that all files are there."""
        self._write({"files": {path.name: self._hashes[path.name] for path in self._written}})

    def _write(self, hashes: Mapping[str, Mapping[str, str]]) -> None:
        with whole_file(self._manifest) as file:
            file.write(f"{json.dumps({'generator': GENERATOR, **hashes}, indent=1)}\n".encode())


def _known(manifest: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The hashes of the files that an export has written, and of those that it was about to write."""
    if not manifest.exists():
        return {}, {}
    try:
        known = json.loads(manifest.read_text(encoding="utf-8"))
        if known["generator"] != GENERATOR:
            raise _not_ours(manifest)
        hashes, coming = ({**known.get(part, {})} for part in ("files", "next"))
        return hashes, coming
    except (OSError, ValueError, KeyError, TypeError):
        raise _not_ours(manifest) from None


def _not_ours(path: Path) -> InputError:
    hint = "choose another folder, or remove the file"
    found, wanted = "a file that no export has written", "a new folder, or one of an earlier export"
    return InputError("the output would overwrite another file", str(path), found, wanted, hint)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Parts(NamedTuple):
    """A table, part by part.

    Attributes:
        each: The parts, from the first row to the last.
        types: Rows that have all types which are in its columns, if the first part may not have them.
    """

    each: Iterator[pd.DataFrame]
    types: pd.DataFrame | None = None


def _tables(results: Results) -> dict[str, Callable[[], Parts]]:
    """What makes each table, by its name."""

    def of_runs(rows: Callable[[slice], pd.DataFrame]) -> Callable[[], Parts]:
        firsts = range(0, max(1, results.done), RUNS)
        return lambda: Parts(rows(slice(first, first + RUNS)) for first in firsts)

    def of_texts(name: str) -> Callable[[], Parts]:
        return lambda: Parts(results.tables.parts(name, TEXTS))

    def whole(make: Callable[[], pd.DataFrame]) -> Callable[[], Parts]:
        return lambda: _in_parts(make())

    files = _movement_files(results)
    tables: dict[str, Callable[[], Parts]] = {
        "runs": of_runs(lambda places: results.tables.runs(places).drop(columns="cpu_time_s")),
        "flows": of_texts("flows"),
        "drops": of_texts("drops"),
    }
    if not results.end_counts.empty:
        tables["ends"] = of_texts("ends")
    if results.tables.has_delays:
        tables["delays"] = of_texts("delays")
    tables["failed"] = whole(lambda: results.failed)
    tables["summary"] = whole(results.summary)
    tables["comparisons"] = whole(lambda: results.comparisons)
    if results.family is not None and results.family.kind == "best":
        tables["standings"] = whole(lambda: results.standings)
    if results.looks is not None:
        tables["given_up"] = whole(lambda: results.given_up)
    tables["provenance"] = of_runs(lambda places: _with_files(results.tables.machines(places), files))
    for name in results.series_names:
        # Their files may not be there any more: that is found out before anything is written.
        tables[f"series-{name}"] = partial(_in_parts, results.series(name))
    return tables


def _in_parts(table: pd.DataFrame) -> Parts:
    each = (table.iloc[first : first + ROWS] for first in range(0, max(1, len(table)), ROWS))
    if len(table) <= ROWS:
        return Parts(each)
    rows = {0}
    for name in table.columns[table.dtypes.astype(str) == "object"]:
        # Arrow takes NaN among objects for nothing.
        rows |= {*table[name].dropna().map(type).drop_duplicates().index}
    return Parts(each, table.loc[sorted(rows)])


def _movement_files(results: Results) -> dict[int, list[str]]:
    """The movement files of each point whose replications have one each."""
    names = {}
    for point in results.campaign.points:
        scenario, next_one = (point.scenario(replication) for replication in (0, 1))
        if scenario.movement.files is None:
            continue
        try:
            known = expanded(scenario.movement.files, scenario.where, scenario.origin)
        except InputError:
            # They are elsewhere now; what was measured is there all the same.
            continue
        number = scenario.movement.number
        # A number that the campaign gives is the same in all replications.
        given = number is not None and number == next_one.movement.number
        names[point.number] = [known[number % len(known)]] if number is not None and given else known
    return names


def _with_files(table: pd.DataFrame, names: Mapping[int, Sequence[str]]) -> pd.DataFrame:
    """What made the runs, and which movement file each took where there is a file for each replication."""
    if not names:
        return table
    taken = [
        names[point][replication % len(names[point])] if names.get(point) else ""
        for point, replication in zip(table["point"], table["replication"], strict=True)
    ]
    return table.assign(movement_file=taken)


def _mixed(results: Results, table: str) -> dict[str, dict[Label, Label]]:
    """The columns of a table whose labels are of several kinds, with the labels, by what is equal to them."""
    family = results.family
    mixed = {
        name: {level.label: level.label for level in levels}
        for name, levels in results.campaign.levels.items()
        if are_mixed([level.label for level in levels])
    }
    if family is not None and family.factor in mixed:
        mixed |= dict.fromkeys(ALTERNATIVES.get(table, ()), mixed[family.factor])
    return mixed


def _write(
    paths: Sequence[Path],
    parts: Parts,
    mixed: Mapping[str, dict[Label, Label]],
    ours: _Ours,
) -> None:
    """Writes the parts of a table to all of its files."""
    with ExitStack() as open_files:
        writers = []
        for path in paths:
            file = open_files.enter_context(whole_file(path, partial(ours.announce, path)))
            if path.suffix == ".csv":
                writers.append(_csv(file, mixed))
            else:
                writers.append(_parquet(open_files, file, mixed, parts.types))
        for part in parts.each:
            # Rows that happen to have only numbers may have others that are equal, 1.0 where the label is 1.
            labelled = _with(part, {name: labels.get for name, labels in mixed.items()}, object)
            for write in writers:
                write(labelled)


def _with(part: pd.DataFrame, by: Mapping[str, Callable[[Any], object]], kind: type) -> pd.DataFrame:
    """A part of a table with columns of a type in place of those that it has of these: cell by cell."""
    import pandas as pd

    columns = {name: [*map(make, part[name])] for name, make in by.items() if name in part}
    return part.assign(**{name: pd.Series(of, part.index, kind) for name, of in columns.items()})


def _csv(file: IO[bytes], mixed: Collection[str] = ()) -> Callable[[pd.DataFrame], None]:
    """What appends a part of a table to a CSV file."""

    def write(table: pd.DataFrame) -> None:
        for first in range(0, max(1, len(table)), CSV_ROWS):
            append(table.iloc[first : first + CSV_ROWS])

    def append(part: pd.DataFrame) -> None:
        is_first = file.tell() == 0
        if (rows := _plain_rows(part)) is not None:
            head = part.iloc[:0].rename(columns=for_spreadsheet)
            file.write(head.to_csv(index=False, header=is_first, lineterminator="\n").encode())
            file.write(rows)
            return
        texts = part.select_dtypes(exclude="number").columns
        safe = part.assign(**{name: part[name].map(for_spreadsheet) for name in texts if name not in mixed})
        safe = _with(safe, dict.fromkeys(mixed, for_spreadsheet), object)
        safe = safe.rename(columns=for_spreadsheet)
        file.write(safe.to_csv(index=False, header=is_first, lineterminator="\n").encode())

    return write


def _plain_rows(part: pd.DataFrame) -> bytes | None:
    """Rows of CSV, as pandas writes them; None if a cell is no number of 64 bits and no plain text."""
    columns: list[tuple[str, bytes | list[object]]] = []
    for place in range(part.shape[1]):
        column = part.iloc[:, place]
        kind = PLAIN.get(str(column.dtype))
        if kind is None:
            return None
        columns.append((kind, column.to_numpy().tobytes() if kind else column.tolist()))
    return _core.csv_rows(columns, len(part)) if len(columns) > 1 else None


def _parquet(
    open_files: ExitStack, file: IO[bytes], mixed: Collection[str], types: pd.DataFrame | None
) -> Callable[[pd.DataFrame], None]:
    """What appends a part of a table to a Parquet file, in which mixed labels are text."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    writers: list[ParquetWriter] = []

    def arrow(part: pd.DataFrame, schema: pyarrow.Schema | None = None) -> pyarrow.Table:
        part = _with(part, dict.fromkeys(mixed, lambda cell: None if cell is None else str(cell)), str)
        return pyarrow.Table.from_pandas(part, schema=schema, preserve_index=False)

    def write(part: pd.DataFrame) -> None:
        if writers:
            table = arrow(part, writers[0].schema)
        else:
            table = arrow(part, None if types is None else arrow(types).schema)
            writers.append(open_files.enter_context(ParquetWriter(file, table.schema)))
        writers[0].write_table(table)

    return write


def _make(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        hint = "give a folder; it may not exist yet"
        raise InputError("the output is not a folder", str(folder), "a file", "a folder", hint)
    if not folder.exists():
        check_writable(folder)
        try:
            folder.mkdir()
        except OSError as error:
            reason, hint = error.strerror or str(error), f"{folder} was not made; check the disk"
            raise InputError(
                "the output cannot be written", str(folder), reason, "a place to write", hint
            ) from None
    check_writable(folder / "runs.csv")
