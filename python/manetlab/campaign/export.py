"""Results as files that everything reads: CSV and Parquet.

``runs``, ``flows``, ``drops``, ``failed`` and ``campaign.json`` hold what was measured, ``summary``,
``comparisons`` and ``standings`` what follows from it: they are the same, byte for byte, however the campaign
was run. Times, machines and versions are in ``provenance`` and ``provenance.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab.campaign.series import write_parquet
from manetlab.errors import InputError
from manetlab.files import check_writable, for_spreadsheet, write_text
from manetlab.movement_files import expanded
from manetlab.optional_packages import require
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign.results import Results

FORMATS = ("csv", "parquet")
GENERATOR = "manetlab campaign export"
MANIFEST = "manifest.json"
"""Names the files of an export with their SHA-256 hashes, so that they can be told from others."""


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
            that no export has written. Nothing was written.
    """
    folder = Path(folder)
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS, "export")
    if "parquet" in formats or results.series_names:
        require("notebook", "export")
    tables = dict(_tables(results))
    written = [folder / "campaign.json", folder / "provenance.json"]
    written += [folder / f"{name}.{suffix}" for name in tables for suffix in formats]
    _check_ours(folder, written)
    _make(folder)
    write_text(written[0], json.dumps(results.campaign.to_dict(), indent=2) + "\n")
    write_text(written[1], json.dumps(results.provenance, indent=2) + "\n")
    for path in written[2:]:
        _write(path, tables[path.stem])
    hashes = {path.name: _sha256(path) for path in written}
    write_text(folder / MANIFEST, json.dumps({"generator": GENERATOR, "files": hashes}, indent=1) + "\n")
    return written


def _check_ours(folder: Path, written: Sequence[Path]) -> None:
    """Checks that each file that would be replaced is there as an export has written it."""
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        hashes = known["files"] if known["generator"] == GENERATOR else {}
    except (OSError, ValueError, KeyError, TypeError):
        hashes = {}
    for path in written:
        if path.exists() and (not path.is_file() or hashes.get(path.name) != _sha256(path)):
            hint = "choose another folder, or remove the file"
            found, wanted = "a file that no export has written", "a new folder, or one of an earlier export"
            raise InputError("the output would overwrite another file", str(path), found, wanted, hint)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _tables(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "runs", results.runs.drop(columns="cpu_time_s")
    yield "flows", results.flows
    yield "drops", results.drops
    if not results.ends.empty:
        yield "ends", results.ends
    if not results.delays.empty:
        yield "delays", results.delays
    yield "failed", results.failed
    yield "summary", results.summary()
    yield "comparisons", results.comparisons
    if results.family is not None and results.family.kind == "best":
        yield "standings", results.standings
    yield "provenance", _with_movement_files(results)
    for name in results.series_names:
        yield f"series-{name}", results.series(name)


def _with_movement_files(results: Results) -> pd.DataFrame:
    """What made the runs, and which movement file each took where there is a file for each replication."""
    table, names = results.machines, {}
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
    if not names:
        return table
    taken = [
        names[point][replication % len(names[point])] if names.get(point) else ""
        for point, replication in zip(table["point"], table["replication"], strict=True)
    ]
    return table.assign(movement_file=taken)


def _write(path: Path, table: pd.DataFrame) -> None:
    if path.suffix == ".csv":
        texts = table.select_dtypes(exclude="number").columns
        safe = table.assign(**{name: table[name].map(for_spreadsheet) for name in texts})
        safe = safe.rename(columns=for_spreadsheet)
        write_text(path, safe.to_csv(index=False, lineterminator="\n"))
    else:
        import pyarrow

        write_parquet(path, pyarrow.Table.from_pandas(table, preserve_index=False))


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
