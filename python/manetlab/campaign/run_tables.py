"""Tables of a campaign's runs, whole and in parts.

They are made block by block, as the runs of a large campaign are held packed in columns.
"""

from __future__ import annotations

import math
import shlex
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab.campaign.levels import are_mixed
from manetlab.campaign.plan import known_metrics
from manetlab.errors import InputError
from manetlab.metrics import base_unit, by_key, delay_classes
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray
    from numpy.typing import NDArray

    from manetlab.campaign.columns import Runs
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.snapshot import Snapshot

Row = dict[str, Any]
MOST_AT_ONCE = 2**17
"""Runs whose texts are made into one table; of more they are gone through twice, first for the types."""

TABLES: Mapping[str, tuple[str, ...]] = {
    "flows": ("id", "kind", "src", "dst"),
    "delays": ("flow", "up_to_s", "count"),
    "drops": ("layer", "reason", "packets", "count"),
    "ends": ("end", "layer", "reason", "packets", "count"),
}
"""Tables of what runs have of flows and drops: the first columns after places."""
RENAMED = {"id": "flow"}
"""What columns are called that runs call otherwise."""


class RunTables:
    """Makes the tables of a campaign's runs, anew each time.

    Args:
        campaign: The campaign.
        snapshot: Its runs, those that failed, and their time series.
        store: The file that they come from; None if they were kept in memory.
    """

    def __init__(self, campaign: Campaign, snapshot: Snapshot, store: Path | None) -> None:
        self._campaign = campaign
        self._snapshot = snapshot
        self._runs = snapshot.runs
        self._store = store

    def runs(self, places: slice = slice(None)) -> pd.DataFrame:
        """[`Results.runs`][manetlab.Results.runs], or some of its rows by their places in it.

        Columns have the types that they have there, whatever is in the rows.
        """
        import pandas as pd

        runs = self._runs
        columns = {
            **self._columns_of(places),
            "seed": [self._campaign.first_seed + number for number in runs.replications[places]],
            "key": runs.keys[places],
            **{name: self._numbers(name, places) for name in known_metrics()},
            **{name: pd.Series(of[places], dtype=self._types[name]) for name, of in runs.others.items()},
            "events": numbers_of(runs.events[places]),
            "cpu_time_s": numbers_of(runs.cpu_times_s[places]),
            "result_hash": runs.result_hashes[places],
        }
        return table_of(columns)

    def first_runs(self, most: int, sampled: int) -> tuple[pd.DataFrame, int | None]:
        """The rows of `runs`; if they are more than ``most``, the first of each point, ``sampled`` in all.

        Returns:
            The rows; and of how many replications of each point, if not of all.
        """
        import pandas as pd

        if len(self._runs) <= most:
            return self.runs(), None
        share = max(1, sampled // self._campaign.point_count)
        starts = [self._runs.of_point(point) for point in range(self._campaign.point_count)]
        firsts = [slice(each.start, min(each.stop, each.start + share)) for each in starts]
        of_all = [self.runs(each) for each in firsts if each.stop > each.start][:sampled]
        return pd.concat(of_all, ignore_index=True), share

    def measures_of_runs(self, metrics: Sequence[str]) -> pd.DataFrame:
        """One row a finished run, with place and seed, and these metrics."""
        import pandas as pd

        seeds = [self._campaign.first_seed + number for number in self._runs.replications]
        named = {name: self._numbers(name, slice(None)) for name in metrics}
        # The metrics stay where they are: a copy of them would be as long as all the rest.
        return pd.DataFrame({**self._columns_of(slice(None)), "seed": seeds, **named}, copy=False)

    def measures_of_flows(self, metrics: Sequence[str]) -> pd.DataFrame:
        """One row a flow of a finished run: ``point``, ``replication``, ``kind``, and these metrics."""
        import numpy as np
        import pandas as pd

        runs = self._runs
        points, replications = array("q"), array("q")
        kinds: list[str | None] = []
        values = {name: array("d") for name in metrics}
        for places in runs.blocks():
            counts, found = runs.rows_of("flows", places, ("kind", *metrics))
            for column, numbers in ((points, runs.points), (replications, runs.replications)):
                column.frombytes(numbers_of(numbers[places]).repeat(counts).tobytes())
            nothing = [None] * int(counts.sum())
            kinds += found.get("kind", nothing)
            for name, measured in values.items():
                measured.frombytes(np.array(found.get(name, nothing), dtype=float).tobytes())
        columns = {
            "point": numbers_of(points),
            "replication": numbers_of(replications),
            "kind": pd.array(kinds, dtype="str" if kinds else object),
            **{name: numbers_of(column) for name, column in values.items()},
        }
        return pd.DataFrame(columns, copy=False)

    @cached_property
    def counts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Drops and ends, each added up over the replications of each point; kept once made."""
        names = ("layer", "reason", "packets", "count")
        found: tuple[list[Row], list[Row]] = ([], [])
        for point, end, *of in self._runs.sums():
            counted = dict(zip(names, of, strict=True))
            place = {"point": point, **self._campaign.points[point].levels}
            found[end is not None].append({**place, **({} if end is None else {"end": end}), **counted})
        places = ("point", *self._campaign.factors)
        return table(found[0], (*places, *names)), table(found[1], (*places, "end", *names))

    @property
    def has_delays(self) -> bool:
        """Whether a flow had a deadline, so that the table ``delays`` has rows."""
        return self._runs.have_delays

    def whole(self, name: str) -> pd.DataFrame:
        """The table ``flows``, ``drops``, ``ends`` or ``delays``."""
        return self._finished(name, list(self._blocks_of(name)))

    def parts(self, name: str, rows: int) -> Iterator[pd.DataFrame]:
        """The table ``flows``, ``drops``, ``ends`` or ``delays`` in parts of so many rows or a few more.

        The whole of it may not fit into memory, and is made at once only of few runs. Columns and their types
        are those of the whole.
        """
        import pandas as pd

        if len(self._runs) <= MOST_AT_ONCE:
            yield self.whole(name)
            return
        of_all = self._finished(name, [witnesses(block) for block in self._blocks_of(name)])
        types = of_all.dtypes.to_dict()
        waiting, count = [], 0
        for block in self._blocks_of(name):
            waiting.append(block.rename(columns=RENAMED).reindex(columns=of_all.columns).astype(types))
            count += len(block)
            if count >= rows:
                yield pd.concat(waiting, ignore_index=True)
                waiting, count = [], 0
        if waiting or of_all.empty:
            yield pd.concat(waiting, ignore_index=True) if waiting else of_all

    def failed(self) -> pd.DataFrame:
        """[`Results.failed`][manetlab.Results.failed]."""
        rows = [
            {
                **self._place(point, replication),
                "seed": self._campaign.first_seed + replication,
                "error": error,
                "command": command_of(self._store, point, replication),
            }
            for point, replication, error in self._snapshot.failures
        ]
        return table(rows, (*self._places, "seed", "error", "command"))

    def machines(self, places: slice = slice(None)) -> pd.DataFrame:
        """[`Results.machines`][manetlab.Results.machines], or some of its rows by their places in it."""
        runs = self._runs
        columns = {
            **self._columns_of(places),
            "key": runs.keys[places],
            "scenario_hash": runs.scenario_hashes[places],
            "code": runs.codes[places],
            "platform": runs.platforms[places],
            "host": runs.hosts[places],
            "ended": runs.ended[places],
            "cpu_time_s": numbers_of(runs.cpu_times_s[places]),
            "wall_time_s": numbers_of(runs.wall_times_s[places]),
        }
        return table_of(columns)

    def series(self, name: str) -> pd.DataFrame:
        """[`Results.series`][manetlab.Results.series].

        Raises:
            InputError: The runs kept none, or a file is not there any more.
        """
        from manetlab.campaign.series import read
        from manetlab.series_files import NAMES

        if name not in NAMES:
            raise unknown("time series", name, NAMES, str(self._store))
        runs = self._runs
        each = zip(runs.keys, runs.points, runs.replications, strict=True)
        place_of = {key: self._place(point, replication) for key, point, replication in each}
        files = [
            (file, digest, place_of[key]) for key, kept, file, digest in self._snapshot.series if kept == name
        ]
        if self._store is None or not files:
            hint = "set series_s = 1.0 in the campaign to keep them, with one value per second"
            wanted = "runs that kept time series"
            raise InputError("there are no time series", str(self._store), "none", wanted, hint)
        return read(self._store, files)

    def _finished(self, name: str, blocks: list[pd.DataFrame]) -> pd.DataFrame:
        """The blocks of a table as one, in which measures of flows are numbers or NaN."""
        made = joined(blocks) if blocks else table([], (*self._places, *TABLES[name]))
        if name != "flows":
            return made
        made = made.rename(columns=RENAMED)
        metrics = [
            name
            for name in made.columns[len(self._places) + 4 :]
            if made[name].dtype == object and name not in ("src_name", "dst_name")
        ]
        return made.astype(dict.fromkeys(metrics, float))

    def _blocks_of(self, name: str) -> Iterator[pd.DataFrame]:
        """A table of flows, drops, ends or delays, block by block: places, first columns, then the others."""
        runs = self._runs
        if name == "delays" and not self.has_delays:
            return
        for places in runs.blocks():
            if name == "delays":
                counts, found = delay_columns(runs, places)
            else:
                counts, found = runs.rows_of(name, places)
            if not counts.any():
                continue
            points, replications = (numbers_of(each[places]) for each in (runs.points, runs.replications))
            made = self._place_columns(points, counts, replications)
            nothing = [None] * int(counts.sum())
            for each in dict.fromkeys((*TABLES[name], *found)):
                made[each] = found.get(each, nothing)
            yield table_of(made)

    def _numbers(self, metric: str, places: slice) -> NDArray[np.float64]:
        """A metric of some runs, NaN where there is none."""
        import numpy as np

        runs = self._runs
        if metric in runs.totals:
            return np.frombuffer(runs.totals[metric])[places]
        return np.full(len(runs.points[places]), math.nan)

    def _columns_of(self, places: slice) -> dict[str, Any]:
        """Point, levels and replication of some runs, as columns."""
        import numpy as np
        import pandas as pd

        points = numbers_of(self._runs.points[places])
        replications = numbers_of(self._runs.replications[places])
        columns = self._place_columns(points, np.ones(len(points), int), replications)
        factors = {name: pd.Series(columns[name], dtype=self._types[name]) for name in self._campaign.factors}
        return {**columns, **factors}

    @cached_property
    def _types(self) -> dict[str, Any]:
        """The types that factors, and totals of earlier versions, have over all runs."""
        import pandas as pd

        levels = [self._campaign.points[point].levels for point in sorted({*self._runs.points})]
        factors = {name: [of[name] for of in levels] for name in self._campaign.factors}
        return {name: pd.Series(of).dtype for name, of in (factors | self._runs.others).items()}

    def _place_columns(
        self, points: NDArray[np.int64], counts: NDArray[np.int64], replications: NDArray[np.int64]
    ) -> dict[str, Any]:
        """Point, levels and replication as columns, of runs with so many rows each."""
        of_points = [point.levels for point in self._campaign.points]
        listed = points.repeat(counts)
        levels = {name: [each[name] for each in of_points] for name in self._campaign.factors}
        numbers = listed.tolist()
        return {
            "point": listed,
            **{name: [labels[number] for number in numbers] for name, labels in levels.items()},
            "replication": replications.repeat(counts),
        }

    @property
    def _places(self) -> tuple[str, ...]:
        return ("point", *self._campaign.factors, "replication")

    def _place(self, point: int, replication: int) -> Row:
        return {"point": point, **self._campaign.points[point].levels, "replication": replication}


def command_of(store: Path | None, point: int, replication: int) -> str:
    """The command that makes a run of a store again and shows what comes out."""
    if store is None:
        return f"manetlab.run(campaign.points[{point}].scenario({replication}))"
    what = ["manetlab", "campaign", "repeat", str(store)]
    return shlex.join([*what, "--point", str(point), "--replication", str(replication)])


def arrays_of(runs: pd.DataFrame, campaign: Campaign) -> xarray.Dataset:
    """The table of runs as [`Results.xarray`][manetlab.Results.xarray] has it."""
    import numpy as np

    measures = runs.drop(columns=["point", "seed", "key", "result_hash"])
    arrays = measures.set_index([*campaign.factors, "replication"]).to_xarray()
    # pandas sorts labels; the campaign's order says more.
    orders = {
        name: [level.label for level in levels if level.label in arrays[name]]
        for name, levels in campaign.levels.items()
    }
    # numpy would make text of numbers that are beside text.
    arrays = arrays.reindex(
        {name: np.array(labels, object) if are_mixed(labels) else labels for name, labels in orders.items()}
    )
    for name, values in arrays.data_vars.items():
        values.attrs |= {"long_name": by_key(str(name)).label, "units": base_unit(str(name))}
    return arrays


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
