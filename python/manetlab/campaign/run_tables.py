"""What tables of runs are made of: which tables there are, and blocks of them joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manetlab.metrics import delay_classes

if TYPE_CHECKING:
    from array import array

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from manetlab.campaign.columns import Runs

Row = dict[str, Any]


TABLES: Mapping[str, tuple[str, ...]] = {
    "flows": ("id", "kind", "src", "dst"),
    "delays": ("flow", "up_to_s", "count"),
    "drops": ("layer", "reason", "packets", "count"),
    "ends": ("end", "layer", "reason", "packets", "count"),
}
"""Tables of what runs have of flows and drops: the first columns after places."""
RENAMED = {"id": "flow"}
"""What columns are called that runs call otherwise."""


def delay_columns(runs: Runs, places: slice) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """How many rows of delays some runs have each, and their columns."""
    import numpy as np

    names, counts = TABLES["delays"], []
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for flows in runs.delays_of(places):
        rows = [(flow, *of) for flow, histogram in flows for of in delay_classes(histogram)]
        counts.append(len(rows))
        for row in rows:
            for name, value in zip(names, row, strict=True):
                columns[name].append(value)
    return np.array(counts, dtype="q"), columns


def table(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """A table that has at least these columns, in this order."""
    import pandas as pd

    names = dict.fromkeys((*columns, *(name for row in rows for name in row)))
    return pd.DataFrame.from_records(rows, columns=list(names))


def table_of(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A table of columns of the same length; without rows, numbers have a type and nothing else."""
    import pandas as pd

    return pd.DataFrame(dict(columns))


def numbers_of(column: array[Any]) -> NDArray[Any]:
    """The numbers as an array of numpy."""
    import numpy as np

    return np.frombuffer(column, dtype=column.typecode) if column else np.empty(0, column.typecode)


def witnesses(block: pd.DataFrame) -> pd.DataFrame:
    """The first row, and of columns that are no numbers the first with each type: they decide its type."""
    rows = {0}
    for name in block:
        if block[name].dtype.kind not in "iuf":
            rows |= {*block[name].map(type).drop_duplicates().index}
    return block.iloc[sorted(rows)]


def joined(blocks: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables one below the other, joined column by column, as not all of it may fit into memory twice."""
    import pandas as pd

    if len(blocks) == 1:
        return blocks[0]
    names = dict.fromkeys(str(name) for block in blocks for name in block)
    columns = {}
    for name in names:
        parts = [
            block.pop(name) if name in block else pd.Series([None] * len(block), dtype=object)
            for block in blocks
        ]
        if any(part.dtype != parts[0].dtype for part in parts):
            # A column without any value in some block.
            parts = [part.astype(object) for part in parts]
            columns[name] = pd.concat(parts, ignore_index=True).infer_objects()
        else:
            columns[name] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns, copy=False)
