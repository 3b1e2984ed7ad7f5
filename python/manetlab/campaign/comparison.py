"""Comparisons of alternatives, in pairs of the same replication: the one place that tests anything.

Command line, page, files and Python all show what is computed here, under these names.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from manetlab.campaign.survivors import ARRIVED, FEWER, means_if_less, outlived
from manetlab.metrics import ROUTING, better, bounds, by_key
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign.family import Family
    from manetlab.campaign.levels import Label
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.results import Results

Row = dict[str, Any]
COLUMNS = (
    *("metric", "level", "against", "level_mean", "against_mean", "difference", "low", "high"),
    *("ratio", "ratio_low", "ratio_high", "p_t", "p_wilcoxon", "p_adjusted", "p_equivalent", "n", "verdict"),
)
"""What is known of a pair, after the levels of the other factors."""
NOT_COMPARABLE = "not comparable"
"""The verdict where one alternative never sends what a metric counts, as flooding sends no routing packet."""
TESTED = ("ratio", "ratio_low", "ratio_high", "p_t", "p_wilcoxon", "p_adjusted", "p_equivalent")
"""What such a pair does not have."""
UNTESTED = ("difference", "low", "high", "p_t", "p_adjusted", "p_equivalent")
"""What an alternative that is not comparable does not have among the standings."""
STANDING = (
    *("metric", "level", "against", "difference", "low", "high", "p_t", "p_adjusted", "p_equivalent", "n"),
    "verdict",
)
"""What is known of an alternative against the best of the others."""


def level_of(campaign: Campaign, factor: str, label: Label) -> Label:
    """The label of a factor's level as the campaign has it; text stands for a number that is written so.

    Raises:
        InputError: Unknown factor or level.
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
    results: Results,
    factor: str,
    pair: tuple[Label, Label],
    metrics: Sequence[str],
    confidence: float | None = None,
) -> pd.DataFrame:
    """See [`Results.compare`][manetlab.Results.compare]."""
    a, b = (level_of(results.campaign, factor, label) for label in pair)
    return _frame(results, factor, COLUMNS, list(_pairs(results, factor, [(a, b)], metrics, confidence)))


def family_table(results: Results) -> pd.DataFrame:
    """See [`Results.comparisons`][manetlab.Results.comparisons]."""
    family = results.family
    if family is None:
        return _frame(results, None, COLUMNS, [])
    rows = list(_pairs(results, family.factor, family.pairs, family.metrics, None))
    order = {metric: number for number, metric in enumerate(family.metrics)}
    return _frame(results, family.factor, COLUMNS, sorted(rows, key=lambda row: order[row["metric"]]))


def standings(results: Results) -> pd.DataFrame:
    """See [`Results.standings`][manetlab.Results.standings]."""
    family = results.family
    if family is None or family.kind != "best":
        return _frame(results, family.factor if family is not None else None, STANDING, [])
    rows = [
        {**here, "metric": metric, **row}
        for metric in family.metrics
        for (here, values), arrived in zip(
            _settings(results, family.factor, metric), _arrived(results, family.factor, metric), strict=True
        )
        for row in _standings_at(family, metric, values, outlived(arrived))
    ]
    others = [name for name in results.campaign.levels if name != family.factor]
    pairs = {
        (row["metric"], *(row[name] for name in others), frozenset((row["level"], row["against"]))): row
        for row in results.comparisons.to_dict("records")
    }
    return _frame(results, family.factor, STANDING, [_as_pair(row, others, pairs) for row in rows])


def _as_pair(row: Row, others: Sequence[str], pairs: Mapping[Any, Mapping[Hashable, Any]]) -> Row:
    """The standing with interval and p-values of its pair: those of multiple comparisons end at zero."""
    ends = frozenset((row["level"], row.get("against")))
    pair = pairs.get((row["metric"], *(row[name] for name in others), ends))
    if pair is None:
        return row
    low, high = pair["low"], pair["high"]
    if pair["level"] != row["level"]:
        low, high = -high, -low
    return {
        **row,
        "low": low,
        "high": high,
        "p_t": pair["p_t"],
        "p_adjusted": pair["p_adjusted"],
        "n": pair["n"],
    }


def _standings_at(
    family: Family, metric: str, values: Mapping[Label, Sequence[float | None]], fewer: set[Label]
) -> Iterator[Row]:
    """Every alternative that has a value against the best of the others, in one measure at one setting.

    Those with which significantly less arrives, `fewer`, take no part in a measure of what arrives.
    """
    from manetlab.stats import compare_with_best

    labels = {str(label): label for label in family.alternatives}
    apart = _not_comparable(metric, values) | fewer
    compared = {name: values[label] for name, label in labels.items() if label not in apart}
    standing = {}
    if len(compared) > 1:
        found = compare_with_best(
            compared,
            higher_is_better=better(metric) == "higher",
            families=family.questions,
            confidence=family.confidence,
            margin=family.margins.get(metric),
            share=family.shares.get(metric),
            comparisons=family.size,
        )
        standing = {each.name: each for each in found}
    for name, label in labels.items():
        if all(value is None for value in values[label]):
            continue
        if name not in standing:
            n = sum(value is not None for value in values[label])
            verdict = FEWER if label in fewer else NOT_COMPARABLE
            yield {"level": label, **dict.fromkeys(UNTESTED, math.nan), "n": n, "verdict": verdict}
            continue
        each = standing[name]
        low, high = _within(metric, each.difference.low, each.difference.high)
        row = {"level": label, "against": labels.get(each.against), "difference": each.difference.mean}
        row |= {"low": low, "high": high, "p_t": each.p, "p_adjusted": each.p_adjusted}
        as_good = each.is_equivalent and each.verdict != "best"
        verdict = f"{each.verdict}, practically as good" if as_good else each.verdict
        yield {**row, "p_equivalent": each.p_equivalent, "n": each.n, "verdict": verdict}


def _arrived(results: Results, factor: str, metric: str) -> list[dict[Label, list[float | None]]]:
    """How much arrives with each alternative at each setting, if the metric is one of what arrives."""
    measured = (name for name in ARRIVED.get(metric, ()) if name in results.measured)
    if (arrived := next(measured, None)) is None:
        return [{} for _ in _settings(results, factor, metric)]
    return [values for _, values in _settings(results, factor, arrived)]


def _not_comparable(metric: str, values: Mapping[Label, Sequence[float | None]]) -> set[Label]:
    """The alternatives that never send what a cost of routing counts; all, if only one other does."""
    if by_key(metric).group != ROUTING:
        return set()
    sending = {label for label, listed in values.items() if any(listed)}
    silent = {label for label, listed in values.items() if set(listed) - {None} == {0.0}}
    if not sending or not silent:
        return set()
    return silent if len(sending) > 1 else sending | silent


def _pairs(
    results: Results,
    factor: str,
    pairs: Sequence[tuple[Label, Label]],
    metrics: Sequence[str],
    confidence: float | None,
) -> Iterator[Row]:
    """One row for each pair of levels, setting and metric with a replication in common."""
    family = results.family
    for a, b in pairs:
        found = {metric: dict(enumerate(_settings(results, factor, metric))) for metric in metrics}
        arrived = {metric: _arrived(results, factor, metric) for metric in metrics}
        for place in found[metrics[0]] if metrics else ():
            for metric in metrics:
                here, values = found[metric][place]
                both = [(x, y) for x, y in zip(values[a], values[b], strict=True) if None not in (x, y)]
                if both:
                    of_family = family if family and family.has(factor, a, b, metric) else None
                    row = _row(metric, both, of_family, confidence)  # type: ignore[arg-type]
                    if of_family and _is_of_fewer(metric, row, arrived[metric][place], (a, b)):
                        row["verdict"] = FEWER
                    yield {**here, "metric": metric, "level": a, "against": b, **row}


def _is_of_fewer(
    metric: str, row: Row, arrived: Mapping[Label, Sequence[float | None]], pair: tuple[Label, Label]
) -> bool:
    """Does the alternative that looks better in a measure of what arrives deliver significantly less?"""
    if not arrived or not row["verdict"].startswith(("higher", "lower")):
        return False
    first_is_better = (row["difference"] > 0.0) == (better(metric) == "higher")
    good, bad = pair if first_is_better else pair[::-1]
    return means_if_less(arrived[good], arrived[bad]) is not None


def _settings(
    results: Results, factor: str, metric: str
) -> Iterator[tuple[Row, dict[Label, list[float | None]]]]:
    """Every combination of the other factors, with the values of each level, one a replication."""
    levels = {name: [level.label for level in of] for name, of in results.campaign.levels.items()}
    alternatives = levels.pop(factor)
    numbers = {tuple(point.levels.values()): point.number for point in results.campaign.points}
    for chosen in product(*levels.values()):
        here = dict(zip(levels, chosen, strict=True))
        values: dict[Label, list[float | None]] = {}
        for label in alternatives:
            place = tuple({**here, factor: label}[name] for name in results.campaign.factors)
            values[label] = [None] * results.replications
            for number, value in zip(*results.values_at(numbers[place], metric), strict=True):
                values[label][number] = value
        yield here, values


def _row(
    metric: str, both: Sequence[tuple[float, float]], family: Family | None, confidence: float | None
) -> Row:
    """The comparison of values in pairs, adjusted if it is one of the family."""
    from manetlab.stats import adjusted_pair

    a, b = [x for x, _ in both], [y for _, y in both]
    usual = 0.95 if family is None else family.confidence
    found = adjusted_pair(
        a,
        b,
        family.size if family is not None else 1,
        usual if confidence is None else confidence,
        family.margins.get(metric) if family is not None else None,
        family.shares.get(metric) if family is not None else None,
    )
    low, high = _within(metric, found.difference.low, found.difference.high)
    row: Row = {
        "level_mean": math.fsum(a) / len(a),
        "against_mean": math.fsum(b) / len(b),
        "difference": found.difference.mean,
        "low": low,
        "high": high,
        "ratio": found.ratio.mean,
        "ratio_low": found.ratio.low,
        "ratio_high": found.ratio.high,
        "p_t": found.p_t,
        "p_wilcoxon": found.p_wilcoxon,
        "p_adjusted": found.p_adjusted if family is not None else math.nan,
        "p_equivalent": found.p_equivalent,
        "n": found.n,
        "verdict": _verdict(found.difference.mean, found.p_adjusted, found.p_equivalent, a == b, family),
    }
    if by_key(metric).group == ROUTING and any(a) != any(b):
        row |= {**dict.fromkeys(TESTED, math.nan), "verdict": NOT_COMPARABLE}
    return row


def _verdict(
    difference: float, p_adjusted: float, p_equivalent: float, are_equal: bool, family: Family | None
) -> str:
    """What the comparison shows of the level; one that is not of the family is only a hint."""
    if family is None:
        return "exploratory"
    same = p_equivalent <= family.alpha
    if are_equal:
        return "equal"
    if p_adjusted <= family.alpha:
        direction = "higher" if difference > 0 else "lower"
        return f"{direction}, practically the same" if same else direction
    return "practically the same" if same else "not significant"


def _within(metric: str, low: float, high: float) -> tuple[float, float]:
    """The ends of an interval of a difference, no further than the metric's bounds are apart."""
    least, most = bounds(metric)
    return max(low, least - most), min(high, most - least)


def _frame(
    results: Results, factor: str | None, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    import pandas as pd

    others = [name for name in results.campaign.factors if name != factor]
    return pd.DataFrame.from_records(list(rows), columns=[*others, *columns])
