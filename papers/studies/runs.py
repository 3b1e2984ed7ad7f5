"""The runs of a campaign as studies keep them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow

from manetlab.campaign import Results
from manetlab.files import write_bytes
from manetlab_papers import result_files


def with_code(results: Results) -> pd.DataFrame:
    """A row for each run, with the code that made it and the first 16 digits of its result hash."""
    code = results.machines[["point", "replication", "code"]]
    # A copy, whose columns are one block.
    runs = results.runs.merge(code, on=["point", "replication"]).copy()
    runs["result_hash"] = runs["result_hash"].str[:16]
    return runs


def write_kept(runs: pd.DataFrame, path: Path) -> None:
    """Writes rows without their index to a Parquet file, as short as it can be: it stays for ever."""
    table = pyarrow.Table.from_pandas(runs, preserve_index=False).replace_schema_metadata(None)
    write_bytes(path, result_files.packed(table))
