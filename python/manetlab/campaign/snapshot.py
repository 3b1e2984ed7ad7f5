"""What a store has of a campaign, read at one instant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from manetlab.campaign.columns import Runs, read_runs

if TYPE_CHECKING:
    from manetlab.campaign.store import Store


@dataclass(frozen=True)
class Snapshot:
    """What a store has of a campaign at one instant.

    Attributes:
        runs: The finished runs.
        failures: Point, replication and error of each run that failed.
        series: Key of the run, name, file and digest of each time series.
        sessions: The processes that ran the campaign, in order.
    """

    runs: Runs
    failures: list[tuple[int, int, str]]
    series: list[tuple[str, str, str, str]]
    sessions: list[dict[str, Any]]

    @classmethod
    def read(
        cls,
        store: Store,
        campaign: int,
        replications: int,
        points: int,
        of_flows: Collection[str] | None = None,
    ) -> Snapshot:
        """What there is of a campaign.

        Args:
            store: The store.
            campaign: The campaign's number in it.
            replications: How many of each point are wanted.
            points: How many points there are.
            of_flows: The fields of flows that will be asked for; all if not given.

        Raises:
            InputError: Something is not what was stored.
        """
        return cls(
            read_runs(store, campaign, replications, points, of_flows=of_flows),
            store.checked_failures(campaign, replications, points),
            store.series_files(campaign, replications),
            store.sessions(campaign),
        )

    def before(self, ended: Mapping[int, int]) -> Snapshot:
        """The same without the runs of points that have ended, from the replication on with which they did.

        So the answer does not depend on whether a store also has runs that elimination would have spared.
        """
        runs = self.runs.before(ended)
        failures = [each for each in self.failures if each[1] < ended.get(each[0], each[1] + 1)]
        keys = {*runs.keys}
        return replace(
            self, runs=runs, failures=failures, series=[each for each in self.series if each[0] in keys]
        )

    @property
    def scenario_hashes(self) -> dict[str, str]:
        """The hash of the resolved scenario of each finished run, by ``point/replication``."""
        runs = self.runs
        each = zip(runs.points, runs.replications, runs.scenario_hashes, strict=True)
        return {f"{point}/{replication}": found for point, replication, found in each}

    @property
    def first_hashes(self) -> dict[int, str]:
        """The hash of the resolved scenario of each point's first replication, where that has finished."""
        runs = self.runs
        each = zip(runs.points, runs.replications, runs.scenario_hashes, strict=True)
        return {point: found for point, replication, found in each if replication == 0}
