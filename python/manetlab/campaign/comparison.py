"""Comparisons of two levels of a factor, in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign.levels import Label
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.results import Results

COLUMNS = (
    *("metric", "a", "b", "difference", "low", "high", "ratio", "ratio_low", "ratio_high"),
    *("p_t", "p_wilcoxon", "p_holm", "n"),
)


def level_of(campaign: Campaign, factor: str, label: Label) -> Label:
    """The label of a factor's level as the campaign has it; text stands for a number that is written so.

    Raises:
        InputError: There is no such factor or level.
    """
    if factor not in campaign.levels:
        raise unknown("factor in the campaign", factor, campaign.levels, campaign.where)
    labels = {str(level.label): level.label for level in campaign.levels[factor]}
    if str(label) not in labels:
        raise unknown(f"level of {factor}", str(label), labels, campaign.where)
    return labels[str(label)]


def factor_with(campaign: Campaign, a: str, b: str) -> str:
    """The factor that has both levels.

    Raises:
        InputError: None has.
    """
    for name, levels in campaign.levels.items():
        if {a, b} <= {str(level.label) for level in levels}:
            return name
    labels = [str(level.label) for levels in campaign.levels.values() for level in levels]
    wrong = next((label for label in (a, b) if label not in labels), f"{a},{b}")
    raise unknown("pair of levels of one factor", wrong, labels, campaign.where)


def compare(
    results: Results, factor: str, pair: tuple[Label, Label], metrics: Sequence[str], confidence: float
) -> pd.DataFrame:
    """See [`Results.compare`][manetlab.Results.compare]."""
    import pandas as pd

    from manetlab.stats import holm

    campaign = results.campaign
    a, b = (level_of(campaign, factor, label) for label in pair)
    others = {name: [level.label for level in levels] for name, levels in campaign.levels.items()}
    del others[factor]
    joined = _joined(results.runs, [*others, "replication"], factor, (a, b), metrics)
    rows = []
    for chosen in product(*others.values()):
        here = dict(zip(others, chosen, strict=True))
        at_point = joined
        for name, label in here.items():
            at_point = at_point[at_point[name] == label]
        for metric in metrics:
            values = at_point[[f"{metric} a", f"{metric} b"]].dropna()
            if not values.empty:
                of_a, of_b = (values[f"{metric} {side}"].tolist() for side in "ab")
                row = _row(of_a, of_b, confidence)
                rows.append({**here, "metric": metric, **row})
    for row, p in zip(rows, holm(row["p_t"] for row in rows), strict=True):
        row["p_holm"] = p
    return pd.DataFrame.from_records(rows, columns=[*others, *COLUMNS])


def _joined(
    runs: pd.DataFrame, places: list[str], factor: str, pair: tuple[Label, Label], metrics: Sequence[str]
) -> pd.DataFrame:
    """One row a pair, with the columns ``METRIC a`` and ``METRIC b``."""
    sides = []
    for name, label in zip("ab", pair, strict=True):
        columns = {metric: f"{metric} {name}" for metric in metrics}
        sides.append(runs[runs[factor] == label][[*places, *metrics]].rename(columns=columns))
    joined: pd.DataFrame = sides[0].merge(sides[1], on=places)
    return joined


def _row(a: list[float], b: list[float], confidence: float) -> dict[str, Any]:
    from manetlab.stats import mean_interval, paired_difference, paired_ratio

    tested = paired_difference(a, b, confidence)
    ratio = paired_ratio(a, b, confidence)
    return {
        "a": mean_interval(a).mean,
        "b": mean_interval(b).mean,
        "difference": tested.difference.mean,
        "low": tested.difference.low,
        "high": tested.difference.high,
        "ratio": ratio.mean,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "p_t": tested.t_p,
        "p_wilcoxon": tested.wilcoxon_p,
        "n": tested.n,
    }
