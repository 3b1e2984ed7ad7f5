"""The finished runs of a campaign in columns: 8 bytes a number, 32 bytes a hash, flows and drops packed.

So a million runs are held in a gigabyte. Tables are made of them block by block.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from manetlab import _core
from manetlab.campaign.database import damaged
from manetlab.campaign.store import Store
from manetlab.errors import shown
from manetlab.metrics import MEASURES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 4096
"""Runs whose flows or drops become a table together."""
HASH = 32
"""Bytes of a hash, each of two digits."""


class Hashes(Sequence[str]):
    """SHA-256 hashes in hexadecimal digits, held as bytes; what is none is held as it is.

    Args:
        count: How many there are; all are zero at first.
    """

    def __init__(self, count: int) -> None:
        self._bytes = bytearray(HASH * count)
        self._others: dict[int, str] = {}

    def extend(self, texts: Sequence[str]) -> None:
        """Appends some."""
        before = len(self)
        self._bytes.extend(bytes(HASH * len(texts)))
        self.put(range(before, len(self)), texts)

    def __len__(self) -> int:
        return len(self._bytes) // HASH

    @property
    def _rows(self) -> NDArray[np.uint8]:
        import numpy as np

        return np.frombuffer(self._bytes, dtype=np.uint8).reshape(-1, HASH)

    def put(self, places: Sequence[int], texts: Sequence[str]) -> None:
        """Sets those at these places."""
        import numpy as np

        for place in self._others.keys() & {*places} if self._others else ():
            del self._others[place]
        letters = "".join(texts)
        packed = _unhexed(letters)
        if packed is None or {*map(len, texts)} - {2 * HASH}:
            for place, text in zip(places, texts, strict=True):
                packed = _unhexed(text)
                if packed is None or len(packed) != HASH:
                    self._others[place] = text
                else:
                    self._bytes[HASH * place : HASH * (place + 1)] = packed
        elif texts:
            self._rows[places] = np.frombuffer(packed, dtype=np.uint8).reshape(-1, HASH)

    def __getitem__(self, place: Any) -> Any:
        """One, or those of a slice as a list."""
        if isinstance(place, slice):
            places = range(len(self))[place]
            if places.step != 1 or self._others:
                return [self[each] for each in places]
            letters = self._bytes[HASH * places.start : HASH * max(places.start, places.stop)].hex()
            return [letters[at : at + 2 * HASH] for at in range(0, len(letters), 2 * HASH)]
        at = range(len(self))[place]
        if at in self._others:
            return self._others[at]
        return self._bytes[HASH * at : HASH * (at + 1)].hex()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), BLOCK):
            yield from self[first : first + BLOCK]

    def at(self, places: Sequence[int]) -> Hashes:
        """Those at these places."""
        made = Hashes(0)
        made._bytes = bytearray(self._rows[places].tobytes()) if places else bytearray()
        if self._others:
            made._others = {at: self._others[each] for at, each in enumerate(places) if each in self._others}
        return made

    def in_order(self) -> Sequence[int]:
        """The places in the order of the hashes; of those that are the same, in their own."""
        import numpy as np

        if self._others:
            return sorted(range(len(self)), key=self.__getitem__)
        order = np.frombuffer(self._bytes, dtype=f"S{HASH}").argsort(kind="stable")
        return array("q", order.astype("q").tobytes())

    @property
    def distinct(self) -> int:
        """How many different ones there are."""
        import numpy as np

        if self._others:
            return len({*self})
        return len(np.unique(np.frombuffer(self._bytes, dtype=f"S{HASH}")))


def _unhexed(text: str) -> bytes | None:
    """The bytes of hexadecimal digits; None if they are none, or are written in another way."""
    try:
        packed = bytes.fromhex(text)
    except ValueError:
        return None
    return packed if packed.hex() == text else None


class Runs:
    """The finished runs, ordered by point and replication.

    Args:
        points: The number of each one's point.
        replications: The number of its replication.
        of_flows: The fields of flows that are kept; all if not given.

    Attributes:
        points: The number of each one's point.
        replications: The number of its replication.
        keys: Its key.
        scenario_hashes: The hash of its resolved scenario.
        result_hashes: The hash of its result.
        codes: The version and commit that made it.
        platforms: On what.
        hosts: Where.
        ended: When.
        events: How many events it had.
        cpu_times_s: What it took, in s.
        wall_times_s: The same by the clock.
        totals: The metrics by name: those that some run has, NaN where there is none.
        others: Totals of earlier versions that are no metric of this one, as they are stored.
    """

    def __init__(
        self, points: Sequence[int], replications: Sequence[int], of_flows: Collection[str] | None = None
    ) -> None:
        count = len(points)
        self.points, self.replications = array("q", points), array("q", replications)
        self.keys, self.scenario_hashes, self.result_hashes = (Hashes(count) for _ in range(3))
        self.codes, self.platforms, self.hosts, self.ended = ([""] * count for _ in range(4))
        self.events = array("q", bytes(8 * count))
        self.cpu_times_s, self.wall_times_s = (array("d", bytes(8 * count)) for _ in range(2))
        self.totals: dict[str, array[float]] = {}
        self.others: dict[str, list[object]] = {}
        self._shared: dict[str, str] = {}
        self._stored = _core.StoredRuns(count, {*MEASURES}, None if of_flows is None else {*of_flows})
        self._places: Sequence[int] = range(count)
        """Where what runs have of flows and drops is in `_stored`."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.points)

    def put(self, places: Sequence[int], rows: Sequence[Sequence[Any]], has_texts: bool = True) -> None:
        """Takes the columns of `RUN` of the runs at some places.

        Args:
            places: The places.
            rows: The columns of each; what follows them does not matter.
            has_texts: Whether flows and drops will be asked for.

        Raises:
            ValueError: A value is of another kind than a store has.
            TypeError: The same.
            OverflowError: The same.
        """
        import numpy as np

        columns = [*zip(*rows, strict=True)]
        key, scenario, code, _, result, events, _, totals, flows, drops, _, cpu_s, wall_s, *rest = columns
        platform, _, host, ended, *_ = rest
        for kept, texts in (
            (self.keys, key),
            (self.scenario_hashes, scenario),
            (self.result_hashes, result),
        ):
            kept.put(places, [*map(str, texts)])
        shared = self._shared.setdefault
        for listed, values in (
            (self.codes, code),
            (self.platforms, platform),
            (self.hosts, host),
            (self.ended, ended),
        ):
            for at, value in zip(places, map(str, values), strict=True):
                listed[at] = shared(value, value)
        for column, numbers in (
            (self.events, events),
            (self.cpu_times_s, cpu_s),
            (self.wall_times_s, wall_s),
        ):
            kind = column.typecode
            np.frombuffer(column, dtype=kind)[places] = np.frombuffer(array(kind, numbers), dtype=kind)
        self._put_totals(places, [*totals])
        if has_texts:
            self._stored.put(places, [*flows], [*drops])

    def _put_totals(self, places: Sequence[int], texts: list[str]) -> None:
        import numpy as np

        groups, others = self._stored.totals(texts)
        for names, rows, values in groups:
            if not names:
                continue
            at = np.array(places, dtype="q")[np.frombuffer(rows, dtype="q")]
            for name, found in zip(names, np.frombuffer(values).reshape(-1, len(names)).T, strict=True):
                if name not in self.totals:
                    if np.isnan(found).all():
                        continue
                    self.totals[name] = array("d", [math.nan]) * len(self)
                np.frombuffer(self.totals[name])[at] = found
        for row, name, value in others:
            self.others.setdefault(name, [None] * len(self))[places[row]] = json.loads(value)

    def blocks(self) -> Iterator[slice]:
        """The places of all runs in order, those of a block at a time."""
        return (slice(first, first + BLOCK) for first in range(0, len(self), BLOCK))

    def rows_of(
        self, name: str, places: slice, only: Sequence[str] | None = None
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """What some runs have of ``flows``, ``drops`` or ``ends``: how many rows each, and the columns.

        Args:
            name: What. Drops are what was dropped, ends where packets ended.
            places: The places of the runs.
            only: The columns that are wanted, of those that there are; all if not given.
        """
        import numpy as np

        counts, columns = self._stored.table(name, self._places[places], only)
        made = {name: np.frombuffer(values, dtype=kind) if kind else values for name, kind, values in columns}
        return np.frombuffer(counts, dtype="q"), made

    def sums(self) -> list[tuple[int, str | None, str | None, str | None, str | None, int]]:
        """Counts of drops and ends of the runs of each point: point, end, layer, reason, packets, sum.

        Drops have no end. They are ordered by point, then as they are met.
        """
        each = [of for name in ("drops", "ends") for of in self._stored.sums(name, self._places, self.points)]
        return sorted(each, key=itemgetter(0))

    @property
    def have_delays(self) -> bool:
        """Whether a flow of some run has a histogram of delays."""
        return self._stored.has_field("delays", self._places)

    def delays_of(self, places: slice) -> list[list[tuple[int, dict[str, Any]]]]:
        """The flows of each of some runs that have a histogram of delays, by their number."""
        found = (self._stored.field_of_flows("delays", place) for place in self._places[places])
        return [[(flow, json.loads(histogram)) for flow, histogram in of] for of in found]

    def before(self, ended: Mapping[int, int]) -> Runs:
        """The runs without those of points that have ended, from the replication on with which they did."""
        both = enumerate(zip(self.points, self.replications, strict=True))
        kept = [at for at, (point, number) in both if number < ended.get(point, number + 1)]
        made = Runs([self.points[at] for at in kept], [self.replications[at] for at in kept])
        for name in ("codes", "platforms", "hosts", "ended"):
            setattr(made, name, [getattr(self, name)[at] for at in kept])
        for name in ("keys", "scenario_hashes", "result_hashes"):
            setattr(made, name, getattr(self, name).at(kept))
        for name in ("events", "cpu_times_s", "wall_times_s"):
            column = getattr(self, name)
            setattr(made, name, array(column.typecode, (column[at] for at in kept)))
        for name, values in self.totals.items():
            left = array("d", (values[at] for at in kept))
            if any(value == value for value in left):
                made.totals[name] = left
        made.others = {name: [others[at] for at in kept] for name, others in self.others.items()}
        made._stored, made._places = self._stored, array("q", (self._places[at] for at in kept))
        return made

    def of_point(self, point: int) -> slice:
        """The places of the runs of a point."""
        from bisect import bisect_left, bisect_right

        return slice(bisect_left(self.points, point), bisect_right(self.points, point))

    def values_at(self, point: int, metric: str) -> tuple[list[int], list[float]]:
        """The replications of a point that have a value of a metric, and the values."""
        import numpy as np

        if metric not in self.totals:
            return [], []
        of = self.of_point(point)
        values = np.frombuffer(self.totals[metric])[of]
        is_known = ~np.isnan(values)
        return np.frombuffer(self.replications, dtype="q")[of][is_known].tolist(), values[is_known].tolist()


def read_runs(
    store: Store,
    campaign: int,
    replications: int,
    points: int,
    *,
    has_texts: bool = True,
    of_flows: Collection[str] | None = None,
) -> Runs:
    """The finished runs of a campaign.

    Args:
        store: The store.
        campaign: The campaign's number in it.
        replications: How many of each point are wanted.
        points: How many points there are.
        has_texts: Whether flows and drops will be asked for.
        of_flows: The fields of flows that will be; all if not given.

    Raises:
        InputError: A task or a run is not what was stored.
    """
    of_points, numbers, keys = array("q"), array("q"), Hashes(0)
    for tasks in store.tasks(campaign, replications):
        for point, replication, _ in tasks:
            if not 0 <= point < points or replication < 0:
                raise damaged(store.path, f"a run of point {point}, replication {replication}")
        task_points, task_replications, task_keys = zip(*tasks, strict=True)
        of_points.extend(task_points)
        numbers.extend(task_replications)
        keys.extend(task_keys)
    runs = Runs(of_points, numbers, of_flows)
    # In the order of the keys, in which the store has the runs: it is read from its beginning to its end.
    order = keys.in_order()
    ordered = keys.at(order)
    wanted = (key for key, _ in groupby(ordered))
    # Tasks whose scenarios are the same share a run.
    sharing = groupby(zip(ordered, order, strict=True), key=itemgetter(0))
    for rows in store.runs_of(wanted, len(order)):
        places, repeated = [], []
        for row, (_, same) in zip(rows, sharing, strict=False):
            for _, place in same:
                places.append(place)
                repeated.append(row)
        _put(runs, places, repeated, has_texts, store)
    return runs


def _put(
    runs: Runs, places: Sequence[int], rows: Sequence[Sequence[Any]], has_texts: bool, store: Store
) -> None:
    """Puts rows in their places.

    Raises:
        InputError: One is not what a store has.
    """
    if not rows:
        return
    try:
        runs.put(places, rows, has_texts)
    except (ValueError, TypeError, OverflowError) as error:
        if len(rows) == 1:
            raise damaged(store.path, f"the run {shown(rows[0][0])}: {error}") from None
        for place, row in zip(places, rows, strict=True):
            _put(runs, [place], [row], has_texts, store)


def values_by_point(
    runs: Runs, points: int, metrics: Collection[str]
) -> tuple[list[dict[str, dict[int, float | None]]], list[float]]:
    """The values of metrics at each point by replication, None where there is none, and the mean events."""
    values: list[dict[str, dict[int, float | None]]] = []
    events: list[float] = []
    for point in range(points):
        of = runs.of_point(point)
        replications, counts = runs.replications[of], runs.events[of]
        known = {name: runs.totals[name][of] if name in runs.totals else None for name in metrics}
        values.append(
            {
                name: {
                    replication: None if value != value else value
                    for replication, value in zip(replications, column, strict=True)
                }
                if column is not None
                else dict.fromkeys(replications)
                for name, column in known.items()
            }
        )
        events.append(sum(counts) / max(1, len(counts)))
    return values, events
