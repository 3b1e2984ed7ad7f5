"""When a campaign has enough replications."""

from __future__ import annotations

import json
import math

from manetlab.campaign.plan import Campaign
from manetlab.campaign.store import Store


def wants_more(store: Store, campaign: Campaign, replications: int) -> bool:
    """Is an interval of a wanted metric, at any point, still wider than `Campaign.until` says?

    The answer depends on the first ``replications`` replications of the store and on nothing else, so that it is
    the same however many cores ran them and however often the campaign was interrupted.
    """
    from manetlab import stats

    assert campaign.until is not None
    rule = stats.Sequential(
        relative=campaign.until,
        least=campaign.replications,
        most=campaign.max_replications,
        confidence=0.95,
    )
    return any(rule.wants_more(values) for values in _values(store, campaign, replications))


def _values(store: Store, campaign: Campaign, replications: int) -> list[dict[str, list[float]]]:
    points: list[dict[str, list[float]]] = [
        {metric: [] for metric in campaign.metrics} for _ in range(campaign.point_count)
    ]
    query = (
        "SELECT point, totals FROM task JOIN run USING (key) "
        "WHERE campaign = (SELECT number FROM campaign ORDER BY used DESC LIMIT 1) AND replication < ? "
        "ORDER BY point, replication"
    )
    for point, totals in store.rows(query, (replications,)):
        measured = json.loads(totals)
        for metric, values in points[point].items():
            value = measured[metric]
            if value is not None and math.isfinite(value):
                values.append(float(value))
    return points
