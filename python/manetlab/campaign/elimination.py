"""Which points of a campaign get no more replications, because their alternatives cannot be the best.

Every setting of the other factors has a race of its own. What is decided follows from the results and nothing
else: at each look from the replications up to it, whatever else a store has and in whatever order it came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from manetlab.campaign.columns import read_runs
from manetlab.campaign.comparison import settled_at
from manetlab.campaign.family import family_of
from manetlab.stats.elimination import Eliminated, eliminated
from manetlab.stats.looks import Looks, doubling

if TYPE_CHECKING:
    from manetlab.campaign.columns import Runs
    from manetlab.campaign.levels import Label
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.snapshot import Snapshot
    from manetlab.campaign.store import Store

NOBODY: Eliminated[int] = Eliminated({}, {})
"""Where nothing was eliminated."""


def is_asked(campaign: Campaign) -> bool:
    """Does the campaign eliminate alternatives?"""
    return bool(campaign.comparison.get("elimination"))


def looks_of(campaign: Campaign, reached: int) -> Looks:
    """The looks of a campaign that has so many replications at the end."""
    from manetlab.stats import Sequential

    rounds: Iterable[int] = doubling(reached)
    if campaign.until is not None:
        rounds = Sequential(campaign.until, campaign.replications, campaign.max_replications).rounds()
    return Looks.among([*(n for n in rounds if n < reached), reached])


def of_store(store: Store, number: int, campaign: Campaign, reached: int) -> Eliminated[int]:
    """What is eliminated of a campaign in a store; see `of_runs`."""
    runs = read_runs(store, number, reached, campaign.point_count, has_texts=False)
    failed = {(int(point), int(at)) for point, at, _ in store.failures(number, reached)}
    return of_runs(campaign, reached, runs, failed)


def of_runs(
    campaign: Campaign, reached: int, runs: Runs, failed: Collection[tuple[int, int]]
) -> Eliminated[int]:
    """The points that got no more replications at looks before the last.

    A race stops at the first look whose runs are not all there: nothing is decided by some of them.

    Args:
        campaign: The campaign.
        reached: The replications at the last look.
        runs: The finished runs.
        failed: Point and replication of the runs that failed.
    """
    if not is_asked(campaign):
        return NOBODY
    looks = looks_of(campaign, reached)
    there = {*zip(runs.points, runs.replications, strict=True), *failed}
    given_up: dict[int, int] = {}
    alone: dict[int, int] = {}
    for place, points in enumerate(settings(campaign)):

        def settled(
            n: int, ended: Mapping[int, int], points: list[int] = points, place: int = place
        ) -> set[int] | None:
            wanted = ((point, at) for point in points if point not in ended for at in range(n))
            if any(each not in there for each in wanted):
                return None
            return _settled(Looked(campaign, n, runs, looks, dict(ended)), place, points)

        found = eliminated(points, looks.before, settled, stop_alone=campaign.until is None)
        given_up |= found.given_up
        alone |= found.alone
    return Eliminated(given_up, alone)


def settings(campaign: Campaign) -> list[list[int]]:
    """The points of each setting of the other factors, in the order of alternatives."""
    family = family_of(campaign, campaign.metrics)
    assert family is not None
    found: dict[tuple[Label, ...], list[int]] = {}
    for point in campaign.points:
        others = tuple(label for name, label in point.levels.items() if name != family.factor)
        found.setdefault(others, []).append(point.number)
    return list(found.values())


def _settled(looked: Looked, place: int, points: list[int]) -> set[int]:
    """The points at a setting of whose alternatives nothing is open any more."""
    # The level is that of all measures that are named, also where one has no value yet.
    campaign = looked.campaign
    family = family_of(campaign, campaign.comparison.get("metrics") or campaign.metrics)
    assert family is not None
    out = settled_at(looked, family, place)
    return {point for point, label in zip(points, family.alternatives, strict=True) if label in out}


@dataclass(frozen=True)
class Race:
    """What elimination has made of a campaign.

    Attributes:
        eliminated: The points that got no more replications.
        looks: The looks.
    """

    eliminated: Eliminated[int]
    looks: Looks

    @classmethod
    def of(cls, campaign: Campaign, replications: int, snapshot: Snapshot) -> Race:
        """What follows from the runs that are there."""
        failed = [(point, replication) for point, replication, _ in snapshot.failures]
        found = of_runs(campaign, replications, snapshot.runs, failed)
        return cls(found, looks_of(campaign, replications))


@dataclass(frozen=True)
class Looked:
    """What is known at a look: the part of `Results` that comparisons need.

    Attributes:
        campaign: The campaign.
        replications: The replications at the look.
        runs: The runs, also those of later replications.
        looks: All looks.
        ended: The points that got no more replications before.
    """

    campaign: Campaign
    replications: int
    runs: Runs
    looks: Looks | None
    ended: Mapping[int, int]

    @cached_property
    def measured(self) -> list[str]:
        """The metrics that have a value in some run."""
        points = range(self.campaign.point_count)
        return [name for name in self.runs.totals if any(self.values_at(point, name)[0] for point in points)]

    def values_at(self, point: int, metric: str) -> tuple[list[int], list[float]]:
        """The replications of a point that have a value of a metric, and the values."""
        replications, values = self.runs.values_at(point, metric)
        count = sum(number < self.ended.get(point, self.replications) for number in replications)
        return replications[:count], values[:count]
