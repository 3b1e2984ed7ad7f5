"""What campaigns measured, as rules ask for it: one value a scenario, in order of replications.

Two lists of the same campaign are in pairs: equal places are the same scenario. A scenario that has no
value has NaN, and statistics leave it out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError
from manetlab_papers.campaigns import Part

if TYPE_CHECKING:
    from manetlab.campaign import Results

Row = Mapping[str, Any]
Values = list[float]
"""One value a scenario."""


class NotRun(LookupError):
    """No run has these levels."""


class SeveralPoints(ValueError):
    """Levels do not single out one point of a campaign."""


class NotKept(InputError):
    """Rules read what was not kept of a campaign's runs.

    Attributes:
        family: The campaign's name in the ledger.
    """

    def __init__(self, family: str, table: str, names: Collection[str]) -> None:
        found = f"no {', '.join(sorted(names))} in the table {table}"
        hint = "reproduce the experiment with --keep, which runs what is lacking"
        super().__init__("a rule reads what was not kept", family, found, "all that rules read", hint)
        self.family = family


@dataclass
class Tables:
    """The tables of one campaign's runs.

    Attributes:
        labels: What all rows have in common, by factor.
        runs: One mapping a run: the factors' labels, ``replication``, and the totals by name.
        flows: One mapping a flow: the same places, then the flow's measures.
        drops: One mapping a kind of dropped packet: the same places, ``packets``, ``reason``, ``count``.
        series: Reads a time series of all runs by its name, one mapping a row.
        kept: The columns that there are, by table, if these are runs that were kept; else None.
        read: The columns that were read, by table; ``*`` stands for all.
    """

    labels: Mapping[str, Any]
    runs: Sequence[Row]
    flows: Sequence[Row] = ()
    drops: Sequence[Row] = ()
    series: Callable[[str], Sequence[Row]] | None = None
    kept: Mapping[str, Collection[str]] | None = None
    read: dict[str, set[str]] = field(default_factory=dict)
    _read: dict[str, Sequence[Row]] = field(default_factory=dict)
    _by_levels: dict[tuple[str, tuple[str, ...]], dict[tuple[Any, ...], list[Row]]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, part: Part, results: Results) -> Tables:
        """Those of finished runs."""
        return cls(
            part.labels,
            _rows(results.runs),
            _rows(results.flows),
            _rows(results.drops),
            lambda name: _rows(results.series(name)),
        )

    def at(self, name: str, levels: Mapping[str, Any]) -> list[Row]:
        """The rows of a table at some levels, with what all have in common."""
        factors = tuple(levels)
        if (name, factors) not in self._by_levels:
            found: dict[tuple[Any, ...], list[Row]] = {}
            self._by_levels[name, factors] = found
            for row in self.rows(name):
                whole = {**self.labels, **row}
                found.setdefault(tuple(whole[factor] for factor in factors), []).append(whole)
        return self._by_levels[name, factors].get(tuple(levels.values()), [])

    def rows(self, name: str) -> Sequence[Row]:
        """A table: ``runs``, ``flows``, ``drops``, or a time series."""
        if name in ("runs", "flows", "drops"):
            found: Sequence[Row] = getattr(self, name)
            return found
        if name not in self._read:
            assert self.series is not None
            self._read[name] = self.series(name)
        return self._read[name]


class Runs:
    """All finished runs, by the name of the campaign and the labels of its factors and cells.

    Attributes:
        used: The campaigns that were read since somebody cleared it.
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self._tables: dict[str, list[Tables]] = {}
        self._ignored: dict[str, Collection[str]] = {}
        self._found: dict[tuple[Any, ...], list[Row]] = {}

    def add(self, family: str, tables: Tables, ignored: Collection[str] = ()) -> None:
        """Adds the runs of a campaign, which is the same at all levels of ``ignored`` factors."""
        self._tables.setdefault(family, []).append(tables)
        self._ignored[family] = ignored
        self._found.clear()

    def replace(self, family: str, old: Tables, new: Tables) -> None:
        """Puts other tables of the same runs in the place of some."""
        for table, names in old.read.items():
            new.read.setdefault(table, set()).update(names)
        self._tables[family] = [new if each is old else each for each in self._tables[family]]
        self._found.clear()

    def labels(self, family: str, factor: str, levels: Mapping[str, Any] | None = None) -> list[Any]:
        """The labels of a factor or cell that were run at these levels, in their order."""
        return list(dict.fromkeys(row[factor] for row in self._rows(family, "runs", levels or {})))

    def values(self, family: str, measure: str, levels: Mapping[str, Any]) -> Values:
        """A total of every scenario at levels that single out one point.

        Raises:
            NotRun: There is no such point.
            SeveralPoints: There are several.
        """
        self._note(family, "runs", levels, measure)
        rows = self._rows(family, "runs", levels)
        _check_single(family, rows, levels)
        return [_number(row[measure]) for row in rows]

    def flow(self, family: str, measure: str, number: int, levels: Mapping[str, Any]) -> Values:
        """A measure of one flow in every scenario."""
        self._note(family, "flows", levels, measure)
        rows = [row for row in self._rows(family, "flows", levels) if row["flow"] == number]
        _check_single(family, rows, levels)
        return [_number(row[measure]) for row in rows]

    def of_flows(
        self, family: str, measure: str, levels: Mapping[str, Any], kind: str | None = None
    ) -> list[Values]:
        """A measure of all flows, or those of a kind, in every scenario, in order of flows."""
        self._note(family, "flows", levels, measure)
        found: dict[int, Values] = {}
        for row in self._rows(family, "flows", levels):
            if kind in (None, row["kind"]):
                found.setdefault(int(row["replication"]), []).append(_number(row[measure]))
        return list(found.values())

    def summed(self, family: str, measure: str, kind: str, levels: Mapping[str, Any]) -> Values:
        """The sum of a measure over the flows of a kind in every scenario; NaN if one of them has none."""
        return [sum(each) for each in self.of_flows(family, measure, levels, kind)]

    def dropped(
        self, family: str, packets: str, reasons: Collection[str] | None, levels: Mapping[str, Any]
    ) -> Values:
        """How many packets of a kind were dropped for these reasons, or for any, in every scenario."""
        self._note(family, "drops", levels, "packets", "reason", "count")
        found = dict.fromkeys(self.replications(family, levels), 0.0)
        for row in self._rows(family, "drops", levels, may_lack=True):
            if row["packets"] == packets and (reasons is None or row["reason"] in reasons):
                found[int(row["replication"])] += row["count"]
        return list(found.values())

    def replications(self, family: str, levels: Mapping[str, Any]) -> list[int]:
        """The replications that have finished at these levels."""
        return [int(row["replication"]) for row in self._rows(family, "runs", levels)]

    def series(self, family: str, name: str, levels: Mapping[str, Any]) -> dict[int, list[Row]]:
        """The rows of a time series at these levels, by replication."""
        self._note(family, name, levels, "*")
        found: dict[int, list[Row]] = {}
        for row in self._rows(family, name, levels):
            found.setdefault(int(row["replication"]), []).append(row)
        return found

    def has(self, family: str, levels: Mapping[str, Any]) -> bool:
        """Whether there are runs at these levels."""
        try:
            return bool(self._rows(family, "runs", levels))
        except NotRun:
            return False

    def _note(self, family: str, table: str, levels: Mapping[str, Any], *names: str) -> None:
        """Notes that columns are read at these levels.

        Raises:
            NotKept: Of some runs they were not kept.
        """
        for tables in self._at(family, self._heeded(family, levels)):
            tables.read.setdefault(table, set()).update(names)
            if tables.kept is not None:
                there = tables.kept.get(table, ())
                lacking = set(names) - {*there, *("*" if there else "")}
                if lacking:
                    raise NotKept(family, table, lacking)

    def _heeded(self, family: str, levels: Mapping[str, Any]) -> dict[str, Any]:
        """The levels at which a campaign is not the same."""
        ignored = self._ignored.get(family, ())
        return {name: label for name, label in levels.items() if name not in ignored}

    def _at(self, family: str, levels: Mapping[str, Any]) -> list[Tables]:
        """The campaigns whose cells have these levels."""
        return [
            each
            for each in self._tables.get(family, ())
            if all(each.labels[name] == label for name, label in levels.items() if name in each.labels)
        ]

    def _rows(
        self, family: str, table: str, levels: Mapping[str, Any], *, may_lack: bool = False
    ) -> list[Row]:
        self.used.add(family)
        levels = self._heeded(family, levels)
        key = (family, table, *sorted((name, str(label)) for name, label in levels.items()))
        if key not in self._found:
            self._found[key] = [row for each in self._at(family, levels) for row in each.at(table, levels)]
        if not self._found[key] and not may_lack:
            raise NotRun(f"{family}: {dict(levels)}")
        return self._found[key]


def _check_single(family: str, rows: Sequence[Row], levels: Mapping[str, Any]) -> None:
    replications = [row["replication"] for row in rows]
    if len(set(replications)) < len(replications):
        raise SeveralPoints(f"{family}: {dict(levels)} are the levels of several points")


def _number(value: Any) -> float:
    """A table's value; NaN where there is none."""
    return math.nan if value is None else float(value)


def _rows(table: Any) -> list[Row]:
    rows: list[Row] = table.to_dict("records")
    return rows
