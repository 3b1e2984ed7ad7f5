"""Results as files that everything reads: CSV and Parquet.

``runs``, ``flows``, ``drops``, ``failed`` and ``campaign.json`` hold what was measured, ``summary``,
``comparisons`` and ``standings`` what follows from it: they are the same, byte for byte, however the campaign
was run. Times, machines and versions are in ``provenance`` and ``provenance.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab.campaign.series import write_parquet
from manetlab.errors import InputError
from manetlab.files import check_writable, for_spreadsheet, write_text
from manetlab.optional_packages import require
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign.results import Results

FORMATS = ("csv", "parquet")


def export(results: Results, folder: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Writes all tables of a campaign's results into a folder, which is made if it is not there.

    Args:
        results: The results.
        folder: The folder. Files of these names in it are replaced.
        formats: ``csv``, ``parquet`` or both.

    Returns:
        The files.

    Raises:
        InputError: A format is unknown, or the folder cannot be written.
    """
    folder = Path(folder)
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS, "export")
    if "parquet" in formats or results.series_names:
        require("notebook", "export")
    _make(folder)
    written = [folder / "campaign.json", folder / "provenance.json"]
    write_text(written[0], json.dumps(results.campaign.to_dict(), indent=2) + "\n")
    write_text(written[1], json.dumps(results.provenance, indent=2) + "\n")
    for name, table in _tables(results):
        for suffix in formats:
            path = folder / f"{name}.{suffix}"
            _write(path, table)
            written.append(path)
    return written


def _tables(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "runs", results.runs.drop(columns="cpu_time_s")
    yield "flows", results.flows
    yield "drops", results.drops
    yield "failed", results.failed
    yield "summary", results.summary()
    yield "comparisons", results.comparisons
    if results.family is not None and results.family.kind == "best":
        yield "standings", results.standings
    yield "provenance", results.machines
    for name in results.series_names:
        yield f"series-{name}", results.series(name)


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
            reason, hint = error.strerror or str(error), "nothing was written; check the disk"
            raise InputError(
                "the output cannot be written", str(folder), reason, "a place to write", hint
            ) from None
    check_writable(folder / "runs.csv")
