"""What a campaign measured, as experiments ask for it: one value a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manetlab.campaign import Results

Row = Mapping[str, Any]


class Samples:
    """The finished runs of a campaign, by its factors' labels and replication.

    Args:
        runs: One mapping a run: the factors' labels, ``replication``, and the totals by name.
        flows: One mapping a flow: the same places, then the flow's measures.
        series: Reads a time series of all runs by its name, one mapping a row; none if the runs kept none.
        drops: One mapping a kind of dropped packet: the same places, ``packets``, ``reason``, ``count``.
    """

    def __init__(
        self,
        runs: Sequence[Row],
        flows: Sequence[Row],
        series: Callable[[str], Sequence[Row]] | None = None,
        drops: Sequence[Row] = (),
    ) -> None:
        self._runs = sorted(runs, key=lambda row: row["replication"])
        self._flows = sorted(flows, key=lambda row: (row["replication"], row["flow"]))
        self._read = series
        self._drops = drops
        self._series: dict[str, Sequence[Row]] = {}

    @classmethod
    def of(cls, results: Results) -> Samples:
        """Those of a campaign's results."""
        return cls(
            _rows(results.runs),
            _rows(results.flows),
            lambda name: _rows(results.series(name)),
            _rows(results.drops),
        )

    def values(self, metric: str, **levels: object) -> list[float]:
        """A total of every scenario at these levels, in order of replications.

        Runs that lack the metric, which is then that of nothing, are left out.
        """
        return [float(row[metric]) for row in self._at(self._runs, levels) if _there(row[metric])]

    def replications(self, **levels: object) -> list[int]:
        """The replications that have finished at these levels."""
        return [int(row["replication"]) for row in self._at(self._runs, levels)]

    def labels(self, factor: str) -> list[object]:
        """The labels of a factor, in the order of the campaign's points."""
        return list(dict.fromkeys(row[factor] for row in self._runs))

    def flow(self, metric: str, number: int = 0, **levels: object) -> list[float | None]:
        """A measure of one flow in every scenario; None where it is that of nothing."""
        rows = (row for row in self._at(self._flows, levels) if row["flow"] == number)
        return [float(row[metric]) if _there(row[metric]) else None for row in rows]

    def present(self, metric: str, instead: float, **levels: object) -> list[float]:
        """A total of every scenario at these levels, and ``instead`` where it is that of nothing."""
        rows = self._at(self._runs, levels)
        return [float(row[metric]) if _there(row[metric]) else instead for row in rows]

    def filled(self, metric: str, **levels: object) -> list[float]:
        """A total of every scenario at these levels; where it is that of nothing, the mean of the others."""
        rows = self._at(self._runs, levels)
        return filled([float(row[metric]) if _there(row[metric]) else None for row in rows])

    def of_flows(self, metric: str, **levels: object) -> list[list[float]]:
        """A measure of all flows in every scenario, in order of flows."""
        found: dict[int, list[float]] = {}
        for row in self._at(self._flows, levels):
            found.setdefault(int(row["replication"]), []).append(float(row[metric]))
        return list(found.values())

    def summed(self, metric: str, kind: str, **levels: object) -> list[float]:
        """The sum of a measure over the flows of a kind in every scenario, in order of replications."""
        found: dict[int, float] = {}
        for row in self._at(self._flows, levels):
            if row["kind"] == kind and _there(row[metric]):
                found[row["replication"]] = found.get(row["replication"], 0.0) + float(row[metric])
        return list(found.values())

    def dropped(self, packets: str, reasons: Collection[str] | None = None, **levels: object) -> list[float]:
        """How many packets of a kind were dropped for these reasons, or for any, in every scenario."""
        found = dict.fromkeys(self.replications(**levels), 0.0)
        for row in self._at(self._drops, levels):
            if row["packets"] == packets and (reasons is None or row["reason"] in reasons):
                found[row["replication"]] += row["count"]
        return list(found.values())

    def rows_of(self, name: str, **levels: object) -> dict[int, list[Row]]:
        """The rows of a time series at these levels, by replication.

        Raises:
            InputError: The runs kept none.
        """
        if name not in self._series:
            assert self._read is not None
            self._series[name] = self._read(name)
        found: dict[int, list[Row]] = {}
        for row in self._at(self._series[name], levels):
            found.setdefault(int(row["replication"]), []).append(row)
        return found

    def series(self, column: str, **levels: object) -> list[list[float]]:
        """What was counted in each step of the time series of totals, in every scenario.

        Raises:
            InputError: The runs kept none.
        """
        found: dict[float, list[float]] = {}
        rows = self.rows_of("totals", **levels)
        for replication in sorted(rows):
            for row in rows[replication]:
                found.setdefault(float(row["time_s"]), []).append(float(row[column]))
        return list(found.values())

    @staticmethod
    def _at(rows: Sequence[Row], levels: Mapping[str, object]) -> list[Row]:
        return [row for row in rows if all(row[name] == label for name, label in levels.items())]


def filled(values: Sequence[float | None]) -> list[float]:
    """Values with the mean of the others where there is none, so that scenarios stay in pairs."""
    present = [each for each in values if each is not None]
    mean = sum(present) / len(present) if present else 0.0
    return [mean if each is None else each for each in values]


def _there(value: Any) -> bool:
    """Whether a table has a value here; pandas has NaN where there is none."""
    return value is not None and value == value


def _rows(table: Any) -> list[Row]:
    rows: list[Row] = table.to_dict("records")
    return rows
