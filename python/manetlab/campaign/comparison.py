"""Comparisons of alternatives, in pairs of the same replication: the one place that tests anything.

Command line, page, files and Python all show what is computed here, under these names.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Protocol

from manetlab.campaign.survivors import ARRIVED, FEWER, means_if_less, outlived
from manetlab.metrics import ROUTING, better, bounds, by_key
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign.family import Family
    from manetlab.campaign.levels import Label
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.results import Results
    from manetlab.stats import WithBest
    from manetlab.stats.looks import Looks

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
GIVEN_UP = ("level", "after", "metric", "verdict", "than", "at_least")
"""What is known of an alternative that got no more replications."""


class Measured(Protocol):
    """What comparisons need of results."""

    @property
    def campaign(self) -> Campaign:
        """The campaign."""
        ...

    @property
    def replications(self) -> int:
        """Replications of each point that goes on to the end."""
        ...

    @property
    def measured(self) -> list[str]:
        """The metrics that have a value in some run."""
        ...

    @property
    def looks(self) -> Looks | None:
        """The looks, where alternatives are eliminated."""
        ...

    @property
    def ended(self) -> Mapping[int, int]:
        """The points that got no more replications after an earlier look, with those that they had."""
        ...

    def values_at(self, point: int, metric: str) -> tuple[list[int], list[float]]:
        """The replications of a point that have a value of a metric, and the values."""
        ...


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
        for row in _standings_at(results, family, metric, here, values, arrived)
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


def given_up_table(results: Results) -> pd.DataFrame:
    """See [`Results.given_up`][manetlab.Results.given_up]."""
    family = results.family
    factor = None if family is None else family.factor
    if not results.given_up_after or family is None:
        return _frame(results, factor, GIVEN_UP, [])
    others = [name for name in results.campaign.factors if name != factor]
    behind: dict[tuple[Any, ...], list[tuple[float, Label]]] = {}
    for pair in results.comparisons.to_dict("records"):
        if pair["verdict"] in (FEWER, NOT_COMPARABLE):
            continue
        place = (pair["metric"], *(pair[name] for name in others))
        # By how much the first and the second are worse than the other at least.
        worse = (("level", "against", -pair["high"]), ("against", "level", pair["low"]))
        if better(pair["metric"]) == "lower":
            worse = (("level", "against", pair["low"]), ("against", "level", -pair["high"]))
        for side, other, least in worse:
            behind.setdefault((*place, pair[side]), []).append((least, pair[other]))
    verdicts = {
        (row["metric"], *(row[name] for name in others), row["level"]): row["verdict"]
        for row in results.standings.to_dict("records")
    }
    rows: list[Row] = []
    for point, after in sorted(results.given_up_after.items()):
        levels = results.campaign.points[point].levels
        for metric in family.metrics:
            key = (metric, *(levels[name] for name in others), levels[family.factor])
            if (verdict := verdicts.get(key)) is None:
                continue
            here: Row = {name: levels[name] for name in others}
            row: Row = {"level": levels[family.factor], "after": after, "metric": metric, "verdict": verdict}
            row |= {"than": None, "at_least": math.nan}
            least, than = max(behind.get(key, [(0.0, None)]), key=lambda each: each[0])
            if verdict.startswith("worse") and least >= 0.0:
                row |= {"than": than, "at_least": least}
            rows.append(here | row)
    return _frame(results, factor, GIVEN_UP, rows)


def settled_at(looked: Measured, family: Family, place: int) -> set[Label]:
    """The alternatives at a setting that are worse in some measure, and of which nothing is open in any.

    In each measure that has values such an alternative is settled (see `manetlab.stats.WithBest`) or takes no
    part in the comparison.

    Args:
        looked: The results at a look.
        family: What is compared.
        place: The number of the setting.
    """
    worse: set[Label] = set()
    open_in_some: set[Label] = set()
    for metric in family.metrics:
        if metric not in looked.measured:
            continue
        here, values = next(islice(_settings(looked, family.factor, metric), place, None))
        arrived = _arrived(looked, family.factor, metric)[place]
        if all(value is None for listed in values.values() for value in listed):
            continue
        apart, standing = _against_best(looked, family, metric, here, values, arrived)
        for label in family.alternatives:
            if label in standing and standing[label].is_settled:
                worse.add(label)
            elif label not in apart:
                open_in_some.add(label)
    return worse - open_in_some


def _against_best(
    results: Measured,
    family: Family,
    metric: str,
    here: Row,
    values: Mapping[Label, Sequence[float | None]],
    arrived: Mapping[Label, Sequence[float | None]],
) -> tuple[dict[Label, str], dict[Label, WithBest]]:
    """What takes no part in a measure at one setting, and why; all others against the best of the others.

    Those with which significantly less arrives take no part in a measure of what arrives.
    """
    from manetlab.stats import compare_with_best

    ended = _ended_at(results, family.factor, here)
    labels = {str(label): label for label in family.alternatives}
    apart = dict.fromkeys(_not_comparable(metric, values), NOT_COMPARABLE)
    apart |= dict.fromkeys(_with_fewer(arrived, ended), FEWER)
    compared = {name: values[label] for name, label in labels.items() if label not in apart}
    if len(compared) < 2:
        return apart, {}
    found = compare_with_best(
        compared,
        higher_is_better=better(metric) == "higher",
        families=family.questions,
        confidence=family.confidence,
        margin=family.margins.get(metric),
        share=family.shares.get(metric),
        comparisons=family.size,
        looks=results.looks,
        ended={str(label): n for label, n in ended.items()},
    )
    return apart, {labels[each.name]: each for each in found}


def _with_fewer(arrived: Mapping[Label, Sequence[float | None]], ended: Mapping[Label, int]) -> set[Label]:
    """The alternatives with which significantly less arrives, now or when they were given up."""
    found = outlived(arrived)
    for n in sorted({*ended.values()}):
        then = outlived({label: of[:n] for label, of in arrived.items()})
        found |= {label for label in then if ended.get(label) == n}
    return found


def _ended_at(results: Measured, factor: str, here: Mapping[str, Any]) -> dict[Label, int]:
    """The alternatives at a setting that got no more replications, with those that they had."""
    if not results.ended:
        return {}
    points = results.campaign.points
    return {
        points[number].levels[factor]: n
        for number, n in results.ended.items()
        if all(points[number].levels[name] == label for name, label in here.items())
    }


def _part(results: Measured, ended: Mapping[Label, int], pair: tuple[Label, Label]) -> float:
    """The part of its error that a pair has where alternatives are eliminated: that of its last look."""
    if results.looks is None:
        return 1.0
    return results.looks.part(min(ended.get(label, results.replications) for label in pair))


def _standings_at(
    results: Measured,
    family: Family,
    metric: str,
    here: Row,
    values: Mapping[Label, Sequence[float | None]],
    arrived: Mapping[Label, Sequence[float | None]],
) -> Iterator[Row]:
    """Every alternative that has a value against the best of the others, in one measure at one setting."""
    labels = {str(label): label for label in family.alternatives}
    apart, standing = _against_best(results, family, metric, here, values, arrived)
    for label in family.alternatives:
        if all(value is None for value in values[label]):
            continue
        if label not in standing:
            n = sum(value is not None for value in values[label])
            verdict = apart.get(label, NOT_COMPARABLE)
            yield {"level": label, **dict.fromkeys(UNTESTED, math.nan), "n": n, "verdict": verdict}
            continue
        each = standing[label]
        low, high = _within(metric, each.difference.low, each.difference.high)
        row = {"level": label, "against": labels.get(each.against), "difference": each.difference.mean}
        row |= {"low": low, "high": high, "p_t": each.p, "p_adjusted": each.p_adjusted}
        as_good = each.is_equivalent and each.verdict != "best"
        verdict = f"{each.verdict}, practically as good" if as_good else each.verdict
        yield {**row, "p_equivalent": each.p_equivalent, "n": each.n, "verdict": verdict}


def _arrived(results: Measured, factor: str, metric: str) -> list[dict[Label, list[float | None]]]:
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
                    part = _part(results, _ended_at(results, factor, here), (a, b))
                    row = _row(metric, both, of_family, confidence, part)  # type: ignore[arg-type]
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
    results: Measured, factor: str, metric: str
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
    metric: str,
    both: Sequence[tuple[float, float]],
    family: Family | None,
    confidence: float | None,
    part: float,
) -> Row:
    """The comparison of values in pairs, adjusted if it is one of the family, and for the looks at it."""
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
        part,
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
