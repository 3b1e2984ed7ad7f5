"""The finished runs of a campaign in columns: eight bytes a number, texts packed until they are looked at.

So a million runs are held in a gigabyte. Tables are made of them block by block.
"""

from __future__ import annotations

import json
import math
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from manetlab.campaign.database import damaged
from manetlab.campaign.store import Store
from manetlab.errors import shown
from manetlab.metrics import MEASURES

BLOCK = 4096
"""Runs of a block, whose texts are unpacked together."""
PACKED = 128
"""Runs whose texts are compressed together."""
TOGETHER = 1024
"""Runs with the same totals that are put into the columns together."""


class Texts(NamedTuple):
    """What a run has of its flows and of its drops, as JSON.

    Attributes:
        place: The run's place among all.
        flows: The flows.
        drops: The drops, and where packets ended.
    """

    place: int
    flows: str
    drops: str


class _Pack(NamedTuple):
    """Texts of some runs, compressed.

    Attributes:
        places: The runs' places.
        ends: Where each text ends among all letters.
        letters: All texts, one after the other, compressed.
    """

    places: array[int]
    ends: array[int]
    letters: bytes


class _Rows:
    """Totals of runs that have the same ones, row by row, before they are put into columns.

    Args:
        names: What a run has, as it is stored.

    Attributes:
        measures: The metrics among them.
        others: What is no metric of this version.
        places: The runs' places.
        values: The metrics of one run after the other, NaN where there is none.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.measures = [name for name in names if name in MEASURES]
        self.others = [name for name in names if name not in MEASURES]
        self.places, self.values = array("q"), array("d")

    def put(self, at: int, totals: Mapping[str, float | None]) -> None:
        """Takes the totals of the run at a place."""
        found = totals.values() if not self.others else [totals[name] for name in self.measures]
        if None in found:
            found = [math.nan if value is None else value for value in found]
        self.values += array("d", found)  # type: ignore[arg-type]
        self.places.append(at)


class Runs:
    """The finished runs, ordered by point and replication.

    Args:
        places: Point and replication of each, in that order.

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
        others: Totals of earlier versions that are no metric of this one, as they are stored.
    """

    def __init__(self, places: Sequence[tuple[int, int]]) -> None:
        count = len(places)
        self.points = array("q", (point for point, _ in places))
        self.replications = array("q", (replication for _, replication in places))
        self.keys, self.scenario_hashes, self.result_hashes = ([""] * count for _ in range(3))
        self.codes, self.platforms, self.hosts, self.ended = ([""] * count for _ in range(4))
        self.events = array("q", bytes(8 * count))
        self.cpu_times_s, self.wall_times_s = (array("d", bytes(8 * count)) for _ in range(2))
        self._totals: dict[str, array[float]] = {}
        self._rows: dict[tuple[str, ...], _Rows] = {}
        self.others: dict[str, list[object]] = {}
        self._shared: dict[str, str] = {}
        self._waiting: list[list[Texts]] = [[] for _ in range(0, count, BLOCK)]
        self._packs: list[list[_Pack]] = [[] for _ in range(0, count, BLOCK)]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.points)

    def put(self, at: int, row: Sequence[object], has_texts: bool = True) -> None:
        """Takes the columns of `RUN` of the run at a place.

        Args:
            at: The place.
            row: The columns.
            has_texts: Whether its flows and drops will be asked for.

        Raises:
            ValueError: A value is of another kind than a store has.
            TypeError: The same.
        """
        key, scenario, code, _, result, events, _, totals, flows, drops, _, cpu_s, wall_s, *rest = row
        platform, _, host, ended = rest
        self.keys[at], self.scenario_hashes[at], self.result_hashes[at] = str(key), str(scenario), str(result)
        shared = self._shared.setdefault
        self.codes[at], self.platforms[at] = (
            shared(str(code), str(code)),
            shared(str(platform), str(platform)),
        )
        self.hosts[at], self.ended[at] = shared(str(host), str(host)), shared(str(ended), str(ended))
        self.events[at], self.cpu_times_s[at], self.wall_times_s[at] = events, cpu_s, wall_s  # type: ignore[call-overload]
        self._put_totals(at, json.loads(totals))  # type: ignore[arg-type]
        if has_texts:
            self._put_texts(Texts(at, str(flows), str(drops)))

    def _put_totals(self, at: int, totals: dict[str, float | None]) -> None:
        names = tuple(totals)
        rows = self._rows.get(names)
        if rows is None:
            rows = self._rows[names] = _Rows(names)
        rows.put(at, totals)
        for name in rows.others:
            self.others.setdefault(name, [None] * len(self))[at] = totals[name]
        if len(rows.places) == TOGETHER:
            self._to_columns(rows)

    def _to_columns(self, rows: _Rows) -> None:
        """Puts rows into the columns of totals, and forgets them."""
        import numpy as np

        if not rows.places or not rows.measures:
            return
        values = np.frombuffer(rows.values).reshape(len(rows.places), len(rows.measures))
        for name, found in zip(rows.measures, values.T, strict=True):
            if name not in self._totals:
                if np.isnan(found).all():
                    continue
                self._totals[name] = array("d", [math.nan]) * len(self)
            np.frombuffer(self._totals[name])[np.frombuffer(rows.places, dtype="q")] = found
        rows.places, rows.values = array("q"), array("d")

    @property
    def totals(self) -> dict[str, array[float]]:
        """The metrics by name: those that some run has, NaN where there is none."""
        for rows in self._rows.values():
            self._to_columns(rows)
        return self._totals

    def _put_texts(self, texts: Texts) -> None:
        block = texts.place // BLOCK
        waiting = self._waiting[block]
        waiting.append(texts)
        if len(waiting) == PACKED:
            self._packs[block].append(_packed(waiting))
            waiting.clear()

    def blocks(self) -> Iterator[list[Texts]]:
        """The texts of all runs in order, those of a block at a time."""
        for waiting, packs in zip(self._waiting, self._packs, strict=True):
            unpacked = [texts for pack in packs for texts in _unpacked(pack)]
            yield sorted([*waiting, *unpacked])

    def before(self, ended: Mapping[int, int]) -> Runs:
        """The runs without those of points that have ended, from the replication on with which they did."""
        both = enumerate(zip(self.points, self.replications, strict=True))
        kept = [at for at, (point, number) in both if number < ended.get(point, number + 1)]
        made = Runs([(self.points[at], self.replications[at]) for at in kept])
        for name in ("keys", "scenario_hashes", "result_hashes", "codes", "platforms", "hosts", "ended"):
            setattr(made, name, [getattr(self, name)[at] for at in kept])
        for name in ("events", "cpu_times_s", "wall_times_s"):
            column = getattr(self, name)
            setattr(made, name, array(column.typecode, (column[at] for at in kept)))
        for name, values in self.totals.items():
            left = array("d", (values[at] for at in kept))
            if any(value == value for value in left):
                made.totals[name] = left
        made.others = {name: [others[at] for at in kept] for name, others in self.others.items()}
        places = {at: place for place, at in enumerate(kept)}
        for block in self.blocks():
            for texts in block:
                if texts.place in places:
                    made._put_texts(texts._replace(place=places[texts.place]))
        return made

    def of_point(self, point: int) -> slice:
        """The places of the runs of a point."""
        from bisect import bisect_left, bisect_right

        return slice(bisect_left(self.points, point), bisect_right(self.points, point))

    def values_at(self, point: int, metric: str) -> tuple[list[int], list[float]]:
        """The replications of a point that have a value of a metric, and the values."""
        if metric not in self.totals:
            return [], []
        of = self.of_point(point)
        both = zip(self.replications[of], self.totals[metric][of], strict=True)
        known = [(replication, value) for replication, value in both if value == value]
        return [replication for replication, _ in known], [value for _, value in known]


def _packed(many: Sequence[Texts]) -> _Pack:
    parts = [part for texts in many for part in (texts.flows, texts.drops)]
    letters = zlib.compress("".join(parts).encode("utf-8", "surrogatepass"), level=1)
    ends = array("q", accumulate(map(len, parts)))
    return _Pack(array("q", (texts.place for texts in many)), ends, letters)


def _unpacked(pack: _Pack) -> Iterator[Texts]:
    letters = zlib.decompress(pack.letters).decode("utf-8", "surrogatepass")
    parts = [letters[begin:end] for begin, end in pairwise((0, *pack.ends))]
    return map(Texts, pack.places, parts[::2], parts[1::2])


def read_runs(store: Store, campaign: int, replications: int, points: int, has_texts: bool = True) -> Runs:
    """The finished runs of a campaign.

    Args:
        store: The store.
        campaign: The campaign's number in it.
        replications: How many of each point are wanted.
        points: How many points there are.
        has_texts: Whether flows and drops will be asked for.

    Raises:
        InputError: A task or a run is not what was stored.
    """
    tasks = store.tasks(campaign, replications)
    for point, replication, _ in tasks:
        if not 0 <= point < points or replication < 0:
            raise damaged(store.path, f"a run of point {point}, replication {replication}")
    runs = Runs([(point, replication) for point, replication, _ in tasks])
    keys = [key for _, _, key in tasks]
    # In the order of the keys, in which the store has the runs: it is read from its beginning to its end.
    places = sorted(range(len(keys)), key=keys.__getitem__)
    wanted = list(dict.fromkeys(keys[at] for at in places))
    tasks.clear()
    following = iter(places)
    at = next(following, None)
    for row in store.runs_of(wanted):
        # Tasks whose scenarios are the same share a run.
        while at is not None and keys[at] == row[0]:
            try:
                runs.put(at, row, has_texts)
            except (ValueError, TypeError, AttributeError, OverflowError) as error:
                raise damaged(store.path, f"the run {shown(row[0])}: {error}") from None
            at = next(following, None)
    return runs


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
