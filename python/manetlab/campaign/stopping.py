"""When a campaign has enough replications."""

from __future__ import annotations

import json
from collections.abc import Iterator

from manetlab.campaign.plan import Campaign
from manetlab.campaign.store import Store
from manetlab.stats import Sequential


def rounds(store: Store, number: int, campaign: Campaign) -> Iterator[int]:
    """How many replications of every point to have, round after round, until they are enough.

    All points are replicated alike, so that every difference can be taken in pairs. The answer after a round
    depends on its replications in the store and on nothing else: it is the same however many cores ran them,
    however often they were interrupted, and whatever further replications the store has.

    Args:
        store: The store; the round before is finished in it when the next is asked for.
        number: The campaign's number in the store.
        campaign: The campaign.
    """
    replications = campaign.replications
    yield replications
    if campaign.until is None:
        return
    rule = Sequential(campaign.until, campaign.replications, campaign.max_replications)
    while any(rule.wants_more(at, replications) for at in _values(store, number, campaign, replications)):
        replications = rule.round_after(replications)
        yield replications


def _values(store: Store, number: int, campaign: Campaign, replications: int) -> list[dict[str, list[float]]]:
    """The values of the wanted metrics at each point."""
    points: list[dict[str, list[float]]] = [
        {metric: [] for metric in campaign.metrics} for _ in range(campaign.point_count)
    ]
    for point, totals in store.totals(number, replications):
        measured = json.loads(totals)
        for metric, values in points[point].items():
            if measured[metric] is not None:
                values.append(float(measured[metric]))
    return points
