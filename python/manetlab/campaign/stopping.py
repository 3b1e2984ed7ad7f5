"""When a campaign has enough replications."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manetlab.campaign import elimination
from manetlab.campaign.adjusting import Adjustment, Draws
from manetlab.campaign.columns import read_runs, values_by_point
from manetlab.campaign.plan import Campaign
from manetlab.campaign.store import Store
from manetlab.metrics import interval_of
from manetlab.stats import Sequential
from manetlab.stats.looks import doubling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from manetlab.stats import Interval


@dataclass(frozen=True)
class Round:
    """What is to be there before the results are looked at again.

    Attributes:
        replications: Replications of every point that goes on.
        reached: Replications that the results have as far as is known.
        ended: The points that get no more replications, with those that they have.
    """

    replications: int
    reached: int
    ended: Mapping[int, int]


def rounds(store: Store, number: int, campaign: Campaign) -> Iterator[Round]:
    """How many replications of every point to have, round after round, until they are enough.

    All points are replicated alike, so that every difference can be taken in pairs, but those of alternatives
    that are eliminated. The answer after a round depends on its replications in the store and on nothing
    else: it is the same however many cores ran them, however often they were interrupted, and whatever
    further replications the store has. The intervals that must become narrow are those that the results show:
    adjusted ones if the campaign adjusts means.

    Args:
        store: The store; the round before is finished in it when the next is asked for.
        number: The campaign's number in the store.
        campaign: The campaign.
    """
    if campaign.until is None:
        yield from _fixed(store, number, campaign)
        return
    replications, ended = campaign.replications, dict[int, int]()
    yield Round(replications, replications, ended)
    draws = Draws(campaign)
    while True:
        following = _rule(campaign).round_after(replications)
        if elimination.is_asked(campaign):
            # Looks before the next round: this one is the last of them.
            ended = elimination.of_store(store, number, campaign, following).ended
        if not _wants_more(store, number, campaign, replications, draws, ended):
            return
        replications = following
        yield Round(replications, replications, ended)


def _fixed(store: Store, number: int, campaign: Campaign) -> Iterator[Round]:
    """The rounds of a campaign with a number of replications: one, or from look to look."""
    reached, ended = campaign.replications, dict[int, int]()
    for n in doubling(reached) if elimination.is_asked(campaign) else [reached]:
        yield Round(n, reached, ended)
        if n < reached:
            ended = elimination.of_store(store, number, campaign, reached).ended


def _rule(campaign: Campaign) -> Sequential:
    assert campaign.until is not None
    return Sequential(campaign.until, campaign.replications, campaign.max_replications, interval=interval_of)


def _wants_more(
    store: Store,
    number: int,
    campaign: Campaign,
    replications: int,
    draws: Draws,
    ended: Collection[int],
) -> bool:
    """Is some metric's interval at some point that has not ended not narrow enough?"""
    made = measured(store, number, campaign, replications)
    adjustment = Adjustment(campaign, *made, draws) if campaign.adjusted else None
    for point, values in enumerate(made[0]):
        if point in ended:
            continue
        known = {name: [each for each in of.values() if each is not None] for name, of in values.items()}
        rule = _rule(campaign)
        if adjustment is not None:
            rule = _adjusted_rule(rule, adjustment, point)
        if rule.wants_more({name: known[name] for name in campaign.metrics}, replications):
            return True
    return False


def _adjusted_rule(rule: Sequential, adjustment: Adjustment, point: int) -> Sequential:
    """The rule that looks at the adjusted intervals of a point."""
    from dataclasses import replace

    def interval(metric: str, _: Sequence[float], confidence: float) -> Interval:
        return adjustment.of(point, metric, confidence).interval

    return replace(rule, interval=interval)


def measured(
    store: Store, number: int, campaign: Campaign, replications: int
) -> tuple[list[dict[str, dict[int, float | None]]], list[float], frozenset[int]]:
    """The values of the metrics at each point by replication, the mean events of a run, where runs failed."""
    runs = read_runs(store, number, replications, campaign.point_count, has_texts=False)
    values, events = values_by_point(runs, campaign.point_count, campaign.metrics)
    failed = frozenset(int(point) for point, *_ in store.failures(number, replications))
    return values, events, failed
