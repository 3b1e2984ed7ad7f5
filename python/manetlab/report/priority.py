"""Which alternative to take, measure by measure in the stated order: the next decides among what is left.

What arrives comes before what is known of what arrives only, whatever the order: a delay cannot make up
for packets that never came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manetlab.campaign.survivors import ARRIVED
from manetlab.metrics import Metric
from manetlab.report.study import Levels, Study


@dataclass(frozen=True)
class Choice:
    """What is left at one setting of the factors that are not compared.

    Attributes:
        others: The setting.
        steps: Each measure that ruled something out, with what was left after it.
        left: The alternatives that no measure rules out, the one with the best mean first.
        fewer: Those that take no part, as significantly less arrives with them and the measures are of
            what arrives; none where a measure says how much that is.
    """

    others: Levels
    steps: tuple[tuple[Metric, tuple[str, ...]], ...]
    left: tuple[str, ...]
    fewer: tuple[str, ...] = ()


def order(metrics: Sequence[Metric]) -> list[Metric]:
    """The measures in the order in which they decide: as stated, but what arrives comes before its delay."""
    ordered: list[Metric] = []
    for metric in metrics:
        arrived = [each for each in metrics if each.key in ARRIVED.get(metric.key, ())]
        ordered += [each for each in (*arrived, metric) if each not in ordered]
    return ordered


def choices(study: Study) -> list[Choice]:
    """What is left at each setting, in the campaign's order."""
    return [_choice(study, others) for others in study.settings]


def _choice(study: Study, others: Levels) -> Choice:
    measures = [metric for metric in order(study.primary) if metric.better]
    assert study.compared is not None
    left = tuple(name for name in study.compared.levels if study.point_at(others, name) is not None)
    steps = []
    fewer: tuple[str, ...] = ()
    for metric in measures:
        if not any(each.key in ARRIVED.get(metric.key, ()) for each in measures):
            fewer += _fewer(study, metric, others, left)
            left = tuple(name for name in left if name not in fewer)
        beaten = _beaten(study, metric, others, left)
        if kept := tuple(name for name in left if name not in beaten):
            if len(kept) < len(left):
                steps.append((metric, kept))
            left = kept
    ordered = _by_mean(study, measures[0] if measures else None, others, left)
    return Choice(others, tuple(steps), ordered, fewer)


def _fewer(study: Study, metric: Metric, others: Levels, among: Sequence[str]) -> tuple[str, ...]:
    """Those with which significantly less arrives, if others are left and these do not beat them anyway."""
    outlived = study.outlived(metric, others)
    comparable = [name for name in among if name not in outlived]
    if not comparable:
        return ()
    is_best = study.family is not None and study.family.kind == "best"
    return tuple(
        name
        for name in among
        if name in outlived and (is_best or name not in _beaten(study, metric, others, [*comparable, name]))
    )


def _beaten(study: Study, metric: Metric, others: Levels, among: Sequence[str]) -> set[str]:
    """Those that another of them is significantly, and not only practically as well, better than."""
    found = set()
    for each in study.comparisons:
        if each.metric != metric or each.others != others or not {each.level, each.against} <= {*among}:
            continue
        # A verdict such as "lower, practically the same" is within the margin that was stated.
        if each.verdict in ("higher", "lower"):
            found.add(each.against if each.verdict == metric.better else each.level)
    return found


def _by_mean(study: Study, metric: Metric | None, others: Levels, left: Sequence[str]) -> tuple[str, ...]:
    if metric is None:
        return tuple(left)
    sign = -1.0 if metric.better == "higher" else 1.0

    def mean(name: str) -> float:
        point = study.point_at(others, name)
        found = study.estimates.get((point.number, metric.key)) if point is not None else None
        return float("inf") if found is None else sign * found.mean

    return tuple(sorted(left, key=mean))
