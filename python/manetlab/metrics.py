"""What is said of the measures of a run, and how they are shown.

The table's one home is the Rust core (``observe/measures``); here it is read. docs/metrics.md defines the
measures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from manetlab import _core, extension

if TYPE_CHECKING:
    from manetlab.stats import Interval

extension.check()


@dataclass(frozen=True)
class Metric:
    """All that is said of one measure.

    Attributes:
        key: Its key in the result.
        label: What the field calls it.
        unit: The unit in which it is shown.
        factor: What the result's value is multiplied by for that unit.
        digits: Digits after the point.
        words: The label without abbreviations; empty if it has none.
        also: Other names by which papers call it, and by which it can be asked for.
        base_unit: Its unit in results and files, "1" for a count, a ratio or a share.
        values: ``count``, ``whole``, ``amount``, ``share``, ``time`` or ``hops``.
        bounds: Between what values it lies.
        better: Which way it is better, ``higher`` or ``lower``; empty where that is not known.
        group: The title of the measures that need the same.
        flows: The kinds of flows of which one must be there for it to apply; empty: any run has it.
        needs: What else must be there, in words.
        is_optional: May it have no value although it applies?
        is_detail: Is it shown only to those who ask for it by name?
    """

    key: str
    label: str
    unit: str = ""
    factor: float = 1.0
    digits: int = 0
    words: str = ""
    also: tuple[str, ...] = ()
    base_unit: str = "1"
    values: str = "amount"
    bounds: tuple[float, float] = (0.0, math.inf)
    better: str = ""
    group: str = ""
    flows: tuple[str, ...] = ()
    needs: str = ""
    is_optional: bool = False
    is_detail: bool = False

    @classmethod
    def _of_core(cls, said: Mapping[str, Any]) -> Metric:
        low, high = said["bounds"]
        return cls(
            key=said["name"],
            label=said["label"],
            unit=said["shown"],
            factor=said["factor"],
            digits=said["digits"],
            words=said["words"],
            also=tuple(said["also"]),
            base_unit=said["unit"],
            values=said["values"],
            bounds=(-math.inf if low is None else low, math.inf if high is None else high),
            better="" if said["better"] == "neither" else said["better"],
            group=said["group"],
            flows=tuple(said["flows"]),
            needs=said["needs"],
            is_optional=said["is_optional"],
            is_detail=said["is_detail"],
        )

    @property
    def heading(self) -> str:
        """Name and unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def in_words(self) -> str:
        """Its name without abbreviations."""
        return self.words or self.label

    @property
    def of_differences(self) -> Metric:
        """How differences of it are shown: those of percentages are percentage points."""
        return replace(self, unit="percentage points") if self.unit == "%" else self

    def show(self, values: Mapping[str, Any]) -> str:
        """The value in its unit; a dash if there is none."""
        value = values.get(self.key)
        return "–" if value is None else f"{value * self.factor:.{self.digits}f}"

    def show_interval(self, interval: Interval) -> str:
        """Mean and half width in the metric's unit, or mean and ends where it is not in the middle.

        The mean alone where all values are 0: the interval, from 0 to infinity, would say nothing.
        """
        scaled = interval.scaled(self.factor)
        if scaled.low == scaled.mean == 0.0 and math.isinf(scaled.high):
            return self._number(0.0)
        if scaled.ends is None:
            return f"{scaled.mean:.{self.digits}f} ± {self._number(scaled.half_width)}"
        ends = f"{self._number(scaled.low)} to {self._number(scaled.high)}"
        return f"{scaled.mean:.{self.digits}f} ({ends})"

    def _number(self, value: float) -> str:
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        # Adding zero makes −0 an ordinary zero.
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}"


_TABLE: Mapping[str, list[dict[str, Any]]] = json.loads(_core.measures())
MEASURES: Mapping[str, Metric] = {said["name"]: Metric._of_core(said) for said in _TABLE["totals"]}
"""All measures of a run as a whole, by key."""
FLOW_MEASURES = tuple(map(Metric._of_core, _TABLE["flows"]))
"""All measures of single flows; those of two kinds of flows may have the same key."""
TOTALS = tuple(metric for metric in MEASURES.values() if not metric.is_detail)
"""The measures of a run that are shown without being asked for, in the order in which they are shown."""
KINDS = tuple(dict.fromkeys(kind for metric in FLOW_MEASURES if not metric.needs for kind in metric.flows))
"""All kinds of flows."""
COMPLETED = (
    Metric("start_s", "start", "s", 1, 3),
    Metric("completed_s", "complete at", "s", 1, 3),
    Metric("took_s", "time taken", "s", 1, 3),
)
"""What is shown of transfers that are complete, beside their throughput over the window."""
FLOWS: Mapping[str, tuple[Metric, ...]] = {
    kind: tuple(
        metric
        for metric in FLOW_MEASURES
        if kind in metric.flows and not metric.needs and not metric.is_detail
    )
    for kind in KINDS
}
"""What is shown of each kind of flow, in the order in which they are shown."""
RTP_FLOW = tuple(metric for metric in FLOW_MEASURES if metric.group == "RTP" and not metric.is_detail)
PROGRESS = tuple(metric for metric in FLOW_MEASURES if metric.group == "Progress")
"""What is shown of flows that have it."""
DERIVED: Mapping[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric("jain", "Jain index", digits=3, values="share", bounds=(0.0, 1.0), better="higher"),
        Metric("events", "events", values="count"),
        Metric("arrivals", "arrivals", values="count"),
        Metric("cpu_time_s", "CPU time", "s", digits=3, base_unit="s", better="lower"),
        Metric("wall_time_s", "wall time", "s", digits=3, base_unit="s", better="lower"),
    )
}
"""What is computed of results and of runs, and is no measure of the core."""
ROUTING = "Routing overhead"
"""The group of what routing alone sends: a protocol that floods data sends nothing of that kind."""
_NAMES: Mapping[str, str] = {name: key for key, metric in MEASURES.items() for name in (key, *metric.also)}


def by_key(key: str) -> Metric:
    """What is said of a measure of a run, or of what is derived; one that is unknown has only its key."""
    return MEASURES.get(key) or DERIVED.get(key) or Metric(key, key, digits=4)


def of_flow(key: str, kind: str) -> Metric:
    """What is said of a measure of a flow of this kind; one that is unknown has only its key."""
    found = (each for each in FLOW_MEASURES if each.key == key and (not each.flows or kind in each.flows))
    return next(found, Metric(key, key, digits=4))


def named(name: str) -> str:
    """The key of the measure that papers call so, such as ``pdr``; what is no such name stays as it is."""
    return _NAMES.get(name) or _NAMES.get(name.lower(), name)


def within(name: str) -> str:
    """A name of papers that is a part of this one, such as ``pdr`` of ``cbr_pdr``; empty if none is."""
    parts = name.lower().split("_")
    return next((part for part in parts if part in _NAMES), "")


def applying(totals: Mapping[str, Any], flows: Iterable[Mapping[str, Any]]) -> list[Metric]:
    """The totals that apply to a run with these flows: a kind of traffic that is not there has none."""
    there = {flow["kind"] for flow in flows}
    return [
        metric for metric in TOTALS if metric.key in totals and (not metric.flows or there & {*metric.flows})
    ]


def base_unit(key: str) -> str:
    """The unit of a metric of runs or of flows in results and files, "1" for a count, a ratio or a share."""
    if key in MEASURES or key in DERIVED:
        return by_key(key).base_unit
    # Whatever has the same name is measured in the same, as a test of the core says.
    return next((metric.base_unit for metric in FLOW_MEASURES if metric.key == key), "1")


def bounds(key: str) -> tuple[float, float]:
    """Between what values a metric lies: a share from 0 to 1, everything else at or above 0."""
    return by_key(key).bounds


def better(key: str) -> str:
    """Which way a metric is better, ``higher`` or ``lower``; empty where that is not known."""
    return by_key(key).better


def interval_of(key: str, values: Iterable[float], confidence: float = 0.95) -> Interval:
    """The mean of a metric over replications, with an interval within its bounds.

    Raises:
        InputError: There are no values, one is not finite, or the confidence is not a share.
    """
    from manetlab.stats import bounded_interval

    listed = list(values)
    return bounded_interval(listed, bounds(key)[0], most_of(key, listed), confidence)


def delay_classes(histogram: Mapping[str, Any]) -> list[tuple[float, int]]:
    """The classes of a histogram of delays: the upper end of each in s, and how many are in it.

    The end is ∞ for what took longer than the last end, and NaN for what did not arrive.
    """
    ends = [*histogram["up_to_s"], math.inf, math.nan]
    return list(zip(ends, [*histogram["counts"], histogram["lost"]], strict=True))


def delay_names(ends_s: Sequence[float]) -> list[str]:
    """What classes of delays with these upper ends, in s, are called in plots, in ms."""
    names, before = [], 0.0
    for end_s in ends_s:
        if math.isnan(end_s):
            names.append("lost")
        elif math.isinf(end_s):
            names.append(f"> {1e3 * before:g}")
        else:
            names.append(f"{1e3 * before:g}–{1e3 * end_s:g}")
            before = end_s
    return names


def most_of(key: str, values: Iterable[float]) -> float:
    """The upper bound of a metric, unless one of its values is beyond it."""
    # A run may count what was sent before it began to count: such a share can exceed 1.
    most = bounds(key)[1]
    return most if max(values, default=0.0) <= most else math.inf
