"""The family of comparisons of a campaign: what is compared with what, in which measures, how sure.

Its p-values and intervals are adjusted once, for all of its comparisons. Whatever else is compared is
exploratory: it has no adjusted p-value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError, shown
from manetlab.metrics import better, named, within
from manetlab.parameters import unknown

if TYPE_CHECKING:
    from manetlab.campaign.levels import Label, Level
    from manetlab.campaign.plan import Campaign

KINDS = ("best", "pairs", "control")
"""Which alternative is best; every alternative with every other; every alternative with one of them."""
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.999999
"""What a family may have; each of its comparisons is made with more."""
KEYS = ("factor", "kind", "control", "metrics", "margins", "confidence", "elimination")
PROTOCOLS = ("routing", "tcp", "tcp.sender", "profile")
"""Factors that are compared before all others if a campaign names none and has them, in this order."""
PRIMARY = ("tcp_throughput_bps", "cbr_delivery_fraction")
"""The primary measures of a campaign that names no metrics."""
OF_OTHER_TRAFFIC = ("message_delivery_fraction", "web_sessions_finished")
"""The first of these that has values is the primary measure where there is neither TCP nor CBR."""


def usual(measured: Collection[str]) -> tuple[str, ...]:
    """What says most of campaigns whose named or usual measures have no values, of those that have some."""
    for metric in OF_OTHER_TRAFFIC:
        if metric in measured:
            return (metric,)
    # What was offered is the same with everything: a measure that can be better or worse says more.
    directed = [metric for metric in measured if better(metric)]
    return tuple((directed or list(measured))[:1])


def unknown_metric(name: str, known: Collection[str], where: str) -> InputError:
    """The error for a metric that does not exist."""
    error = unknown("metric", name, known, where, "measures")
    if word := within(name):
        error.wanted = f"for example {word}"
        error.hint = f'did you mean "{word}", which is {named(word)}?'
    return error


def with_keys(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a campaign says of its comparison, with the keys of measures that it calls as papers do."""
    made, metrics, margins = dict(asked), asked.get("metrics"), asked.get("margins")
    if isinstance(metrics, Sequence) and not isinstance(metrics, str):
        made["metrics"] = [named(str(name)) for name in metrics]
    if isinstance(margins, Mapping):
        made["margins"] = {named(str(name)): margin for name, margin in margins.items()}
    return made


@dataclass(frozen=True)
class Family:
    """What a campaign compares, with the defaults for what it does not say.

    Attributes:
        factor: The factor whose levels are the alternatives.
        kind: One of `KINDS`.
        alternatives: The labels of the levels.
        control: The alternative that the others are compared with; None for other kinds.
        metrics: The primary measures.
        margins: For measures that have one, the difference below which two alternatives are practically
            the same, in the measure's unit.
        shares: The same for measures whose margin is a share of what a measure is with the other.
        confidence: The confidence that all intervals of the family hold.
        settings: How many combinations of levels the other factors have.
    """

    factor: str
    kind: str
    alternatives: tuple[Label, ...]
    control: Label | None
    metrics: tuple[str, ...]
    margins: Mapping[str, float]
    shares: Mapping[str, float]
    confidence: float
    settings: int

    @property
    def alpha(self) -> float:
        """The chance of even one false finding that is accepted."""
        return round(1.0 - self.confidence, 12)

    @property
    def pairs(self) -> list[tuple[Label, Label]]:
        """The pairs that are compared at each setting, the later alternative with the earlier or control."""
        if self.kind == "control":
            return [(each, self.control) for each in self.alternatives if each != self.control]  # type: ignore[misc]
        return [(later, earlier) for earlier, later in combinations(self.alternatives, 2)]

    @property
    def questions(self) -> int:
        """How often the question is asked: once for each primary measure and setting."""
        return len(self.metrics) * self.settings

    @property
    def size(self) -> int:
        """The number of comparisons for which p-values and intervals are adjusted."""
        return self.questions * len(self.pairs)

    def has(self, factor: str, a: Label, b: Label, metric: str) -> bool:
        """Is this comparison one of the family, in either direction?"""
        return (
            factor == self.factor
            and metric in self.metrics
            and ((a, b) in self.pairs or (b, a) in self.pairs)
        )


def family_of(campaign: Campaign, measured: Collection[str]) -> Family | None:
    """The family of a campaign, or None if it varies nothing.

    Args:
        campaign: The campaign.
        measured: The metrics that have a value in some run; primary measures without one are left out, and
            nothing takes their place if the campaign names them.
    """
    asked = campaign.comparison
    varied = {name: levels for name, levels in campaign.levels.items() if len(levels) > 1}
    if not varied:
        return None
    factor = asked.get("factor") or _usual_factor(varied)
    labels = tuple(level.label for level in campaign.levels[factor])
    named = asked.get("metrics") or campaign.metrics or PRIMARY
    metrics = tuple(metric for metric in dict.fromkeys(named) if metric in measured)
    if not metrics and not asked.get("metrics") and not campaign.metrics:
        metrics = usual(measured)
    kind = asked.get("kind") or _usual_kind(asked, labels, metrics)
    control = level_in(labels, asked.get("control", labels[0]))
    margins = asked.get("margins", {})
    return Family(
        factor=factor,
        kind=kind,
        alternatives=labels,
        control=control if kind == "control" else None,
        metrics=metrics,
        margins={key: float(value) for key, value in margins.items() if not isinstance(value, str)},
        shares={key: _percentage(value) for key, value in margins.items() if isinstance(value, str)},
        confidence=float(asked.get("confidence", 0.95)),
        settings=campaign.point_count // len(labels),
    )


def _usual_factor(varied: Mapping[str, Sequence[Level]]) -> str:
    """A protocol if one is varied, or else the first factor that is not numeric, or else the first."""
    protocols = [name for name in PROTOCOLS if name in varied]
    named = [name for name, levels in varied.items() if not are_numbers([each.label for each in levels])]
    return [*protocols, *named, *varied][0]


def _usual_kind(asked: Mapping[str, Any], labels: Sequence[Label], metrics: Sequence[str]) -> str:
    """Which is best, where the question makes sense: three or more alternatives that are no numbers."""
    if "control" in asked or len(labels) == 2 or are_numbers(labels):
        return "control"
    return "best" if all(better(metric) for metric in metrics) else "pairs"


def are_numbers(labels: Collection[Label]) -> bool:
    """Are all labels numbers?"""
    return all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)


def level_in(labels: Collection[Label], wanted: object) -> Label | None:
    """The label that is written so; text stands for a number. None if there is none."""
    return next((label for label in labels if str(label) == str(wanted)), None)


def check(asked: Mapping[str, Any], campaign: Campaign, metrics: Collection[str]) -> None:
    """Checks what a campaign says of its comparison.

    Args:
        asked: The table ``comparison``.
        campaign: The campaign.
        metrics: All metrics that there are.

    Raises:
        InputError: A key, factor, level or metric is unknown, or a value is not allowed.
    """
    where = f"{campaign.where}: comparison"
    for key in asked:
        if key not in KEYS:
            raise unknown("key of a comparison", str(key), KEYS, where)
    factor = asked.get("factor")
    varied = [name for name, levels in campaign.levels.items() if len(levels) > 1]
    if asked and not varied:
        hint = "add a factor with two or more levels, or remove the comparison"
        raise InputError("there is nothing to compare", where, "no factor with two levels", "a factor", hint)
    if factor is not None and factor not in varied:
        raise unknown("factor that is varied", str(factor), varied, f"{where}.factor")
    kind = asked.get("kind")
    if kind is not None and kind not in KINDS:
        raise unknown("kind of comparison", str(kind), KINDS, f"{where}.kind")
    _check_control(asked, campaign, where)
    _check_metrics(asked, metrics, where)
    confidence = asked.get("confidence", 0.95)
    if not _is_number(confidence) or not LEAST_CONFIDENCE <= confidence <= MOST_CONFIDENCE:
        wanted, hint = f"a number from {LEAST_CONFIDENCE} to {MOST_CONFIDENCE}", "95 % is written 0.95"
        raise InputError("the value is not allowed", f"{where}.confidence", shown(confidence), wanted, hint)
    _check_elimination(asked, campaign, where)
    primary = asked.get("metrics") or campaign.metrics
    if kind == "best" and (undirected := [metric for metric in primary if not better(metric)]):
        found, wanted = ", ".join(undirected), "measures of which it is known which way is better"
        hint = 'name others in comparison.metrics, or use kind = "pairs"'
        raise InputError("this measure has no best value", f"{where}.metrics", found, wanted, hint)


def _check_control(asked: Mapping[str, Any], campaign: Campaign, where: str) -> None:
    if "control" not in asked:
        return
    if asked.get("kind", "control") != "control":
        wanted, hint = 'kind = "control", or no control', "a control is what all others are compared with"
        raise InputError("this comparison has no control", where, shown(asked["control"]), wanted, hint)
    varied = {name: levels for name, levels in campaign.levels.items() if len(levels) > 1}
    factor = asked.get("factor") or _usual_factor(varied)
    labels = [level.label for level in campaign.levels[factor]]
    if level_in(labels, asked["control"]) is None:
        raise unknown(f"level of {factor}", str(asked["control"]), map(str, labels), f"{where}.control")


def _check_elimination(asked: Mapping[str, Any], campaign: Campaign, where: str) -> None:
    """Elimination decides which runs there are: what it decides by is stated, not found in the runs."""
    place, wants = f"{where}.elimination", asked.get("elimination", False)
    if not isinstance(wants, bool):
        hint = "true gives alternatives that are shown to be worse no more replications"
        raise InputError("the value is not allowed", place, shown(wants), "true or false", hint)
    if wants and asked.get("kind") != "best":
        found = f"kind = {shown(asked['kind'])}" if "kind" in asked else "no kind"
        hint = "elimination looks for the best; other questions need all replications of all alternatives"
        raise InputError("there is nothing to look for", place, found, 'kind = "best"', hint)
    if wants and not (asked.get("metrics") or campaign.metrics):
        hint = 'name them: comparison.metrics = ["cbr_delivery_fraction"]'
        raise InputError("there is nothing to eliminate by", place, "no metrics", "primary measures", hint)


def _check_metrics(asked: Mapping[str, Any], known: Collection[str], where: str) -> None:
    metrics, margins = asked.get("metrics", ()), asked.get("margins", {})
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        wanted = "a list of names"
        raise InputError(
            "the value is not allowed", f"{where}.metrics", shown(metrics), wanted, '["tcp_throughput_bps"]'
        )
    if not isinstance(margins, Mapping):
        hint = "margins = { cbr_delivery_fraction = 0.02 }"
        raise InputError("the value is not allowed", f"{where}.margins", shown(margins), "a table", hint)
    for key in (*metrics, *margins):
        if key not in known:
            raise unknown_metric(str(key), known, where)
    for key, margin in margins.items():
        is_share = isinstance(margin, str) and 0.0 < _percentage(margin) < 1.0
        if not is_share and (not _is_number(margin) or not 0.0 < margin < math.inf):
            wanted = 'a number above 0, or a share such as "5 %"'
            hint = (
                "a number is in the unit that ends the metric's name: 2 % of the packets are 0.02 of "
                "cbr_delivery_fraction; a share is one of the other alternative's mean"
            )
            raise InputError(
                "the value is not allowed", f"{where}.margins.{key}", shown(margin), wanted, hint
            )


def _percentage(text: str) -> float:
    """The share that ``5 %`` stands for; NaN for other text."""
    number, percent, rest = text.partition("%")
    try:
        return float(number) / 100 if percent and not rest.strip() else math.nan
    except ValueError:
        return math.nan


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
