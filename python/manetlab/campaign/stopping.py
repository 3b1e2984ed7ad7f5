"""When a campaign has enough replications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from manetlab.campaign.adjusting import Adjustment, Draws
from manetlab.campaign.columns import read_runs, values_by_point
from manetlab.campaign.plan import Campaign
from manetlab.campaign.store import Store
from manetlab.metrics import interval_of
from manetlab.stats import Sequential

if TYPE_CHECKING:
    from collections.abc import Sequence

    from manetlab.stats import Interval


def rounds(store: Store, number: int, campaign: Campaign) -> Iterator[int]:
    """How many replications of every point to have, round after round, until they are enough.

    All points are replicated alike, so that every difference can be taken in pairs. The answer after a round
    depends on its replications in the store and on nothing else: it is the same however many cores ran them,
    however often they were interrupted, and whatever further replications the store has. The intervals that
    must become narrow are those that the results show: adjusted ones if the campaign adjusts means.

    Args:
        store: The store; the round before is finished in it when the next is asked for.
        number: The campaign's number in the store.
        campaign: The campaign.
    """
    replications = campaign.replications
    yield replications
    if campaign.until is None:
        return
    draws = Draws(campaign)
    while _wants_more(store, number, campaign, replications, draws):
        replications = _rule(campaign).round_after(replications)
        yield replications


def _rule(campaign: Campaign) -> Sequential:
    assert campaign.until is not None
    return Sequential(campaign.until, campaign.replications, campaign.max_replications, interval=interval_of)


def _wants_more(store: Store, number: int, campaign: Campaign, replications: int, draws: Draws) -> bool:
    """Is some metric's interval at some point not narrow enough?"""
    made = measured(store, number, campaign, replications)
    adjustment = Adjustment(campaign, *made, draws) if campaign.adjusted else None
    for point, values in enumerate(made[0]):
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
