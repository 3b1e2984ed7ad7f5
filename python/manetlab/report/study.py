"""A campaign's results as the report needs them: what is compared, at which points, with what outcome."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from manetlab.errors import InputError
from manetlab.metrics import TOTALS, Metric
from manetlab.report.quantities import Factor, level, total

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign import Campaign, Results
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario
    from manetlab.topology import TopologyReport

PROTOCOLS = ("routing", "tcp", "tcp.sender", "profile")
"""Factors that are compared before all others if a campaign has them, in this order."""
Levels = tuple[str, ...]
"""One level of each factor, in the order of the factors."""


@dataclass(frozen=True)
class Estimate:
    """The estimate of one metric from the replications of one point, in the metric's base unit.

    Attributes:
        mean: The mean over the replications.
        low: Lower end of its interval; −∞ for one replication.
        high: Upper end.
        median: The median.
        p5: The 5th percentile.
        p95: The 95th percentile.
        n: The replications that have a value.
    """

    mean: float
    low: float
    high: float
    median: float
    p5: float
    p95: float
    n: int


@dataclass(frozen=True)
class Point:
    """One combination of levels.

    Attributes:
        number: Its number in the campaign.
        levels: The level of each factor.
    """

    number: int
    levels: Levels


@dataclass(frozen=True)
class Comparison:
    """One level against the baseline, at one setting of the other factors, in pairs over the replications.

    Attributes:
        metric: What is compared.
        level: The level compared with the baseline.
        baseline: The baseline.
        others: The levels of the other factors.
        difference: Mean difference level − baseline, with the ends of its interval.
        ratio: Ratio of the means level / baseline, with the ends of its interval; NaN where there is none.
        t_p: p-value of the paired t test.
        wilcoxon_p: p-value of Wilcoxon's signed rank test.
        adjusted_p: `t_p` adjusted by Holm's method over all comparisons of the report.
        n: The number of pairs.
        alpha: The chance of a false finding that is accepted: 1 − confidence.
    """

    metric: Metric
    level: str
    baseline: str
    others: Levels
    difference: tuple[float, float, float]
    ratio: tuple[float, float, float]
    t_p: float
    wilcoxon_p: float
    adjusted_p: float
    n: int
    alpha: float

    @property
    def verdict(self) -> Literal["higher", "lower", "not significant", "equal"]:
        """The outcome for the metric at this level against the baseline, by the adjusted p-value."""
        mean, low, high = self.difference
        if mean == low == high == 0.0:
            return "equal"
        if not self.adjusted_p <= self.alpha or self.n < 2:
            return "not significant"
        return "higher" if mean > 0 else "lower"


class Study:
    """The results of a campaign, with the choice of what is compared with what.

    Args:
        results: The results.
        compare: The factor whose levels are compared; a protocol if one is varied, or else the first factor
            that is no number, or else the first.
        baseline: The level that the others are compared with; the first if not given.
        confidence: The confidence of all intervals.

    Raises:
        InputError: Nothing has been run, there is no such factor or level, or the confidence is not allowed.
    """

    def __init__(
        self,
        results: Results,
        compare: str | None = None,
        baseline: str | None = None,
        confidence: float = 0.95,
    ) -> None:
        if not 0.5 <= confidence < 1.0:
            hint = "95 % is written 0.95"
            wanted = "a number of at least 0.5 and below 1"
            raise InputError("the confidence is not allowed", "report", f"{confidence:g}", wanted, hint)
        self.results = results
        self.confidence = confidence
        self.campaign: Campaign = results.campaign
        self.labels = {key: [each.label for each in levels] for key, levels in self.campaign.levels.items()}
        self.factors = [Factor.of(key, labels) for key, labels in self.labels.items()]
        self.points = [
            Point(point.number, tuple(level(point.levels[key]) for key in self.labels))
            for point in self.campaign.points
        ]
        self.runs = self._with_levels(results.runs)
        self.flows = self._with_levels(results.flows)
        self.drops = self._with_levels(results.drops)
        self.failed = self._with_levels(results.failed)
        if self.runs.empty:
            raise _nothing_to_report(len(self.failed))
        self.compared = self._chosen(compare)
        self.baseline = self._chosen_baseline(baseline)
        self.others = [factor for factor in self.factors if factor is not self.compared]

    def _with_levels(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with the factors' columns as text."""
        return frame.assign(**{factor.key: frame[factor.key].map(level) for factor in self.factors})

    def _chosen(self, compare: str | None) -> Factor | None:
        varied = [factor for factor in self.factors if len(factor.levels) > 1]
        if compare is not None:
            for factor in varied:
                if factor.key == compare:
                    return factor
            wanted = (
                "one of " + ", ".join(factor.key for factor in varied)
                if varied
                else "a campaign that varies a factor"
            )
            raise InputError("this factor cannot be compared", "--compare", f'"{compare}"', wanted)
        protocols = [factor for key in PROTOCOLS for factor in varied if factor.key == key]
        named = [factor for factor in varied if factor.numbers is None]
        return next(iter(protocols + named + varied), None)

    def _chosen_baseline(self, baseline: str | None) -> str:
        levels = self.compared.levels if self.compared else ()
        if baseline is None:
            return levels[0] if levels else ""
        if baseline not in levels:
            wanted = "one of " + ", ".join(levels) if levels else "no baseline: nothing is compared"
            raise InputError("no such level", "--baseline", f'"{baseline}"', wanted)
        return baseline

    @cached_property
    def scenarios(self) -> dict[int, Scenario]:
        """The scenario of each point's first replication."""
        return {point.number: point.scenario(0) for point in self.campaign.points}

    @cached_property
    def _resolving(self) -> tuple[dict[int, Resolved], InputError | None]:
        try:
            return {number: scenario.resolve() for number, scenario in self.scenarios.items()}, None
        except InputError as error:
            return {}, error

    @property
    def resolved(self) -> dict[int, Resolved]:
        """The resolved scenario of each point's first replication; nothing if one cannot be resolved here."""
        return self._resolving[0]

    @property
    def unresolved(self) -> InputError | None:
        """Why scenarios cannot be resolved here, as when files are elsewhere; None if they can."""
        return self._resolving[1]

    @cached_property
    def topologies(self) -> dict[int, TopologyReport]:
        """What the movement of each point's first replication makes of the network, at some 100 instants."""
        from manetlab import topology

        known: dict[tuple[object, ...], TopologyReport] = {}
        found = {}
        for number, resolved in self.resolved.items():
            window_s = resolved.core["duration_s"] - resolved.core["warmup_s"]
            ends = tuple((flow["src"], flow["dst"]) for flow in resolved.flows)
            decided_by = (resolved.movement.digest, window_s, ends, str(resolved.params["radio"]))
            if decided_by not in known:
                known[decided_by] = topology.report(resolved, min(window_s, max(1.0, window_s / 100)))
            found[number] = known[decided_by]
        return found

    @cached_property
    def wanted(self) -> list[Metric]:
        """The metrics that the campaign asks for; those that every study has if it names none."""
        named = list(self.campaign.metrics) or ["tcp_throughput_bps", "cbr_delivery_fraction"]
        shown = [total(key) for key in named if key in self.runs and self.runs[key].notna().any()]
        return shown or self.measured[:1]

    @cached_property
    def measured(self) -> list[Metric]:
        """All metrics that have a value in some run."""
        return [
            metric for metric in TOTALS if metric.key in self.runs and self.runs[metric.key].notna().any()
        ]

    @cached_property
    def estimates(self) -> dict[tuple[int, str], Estimate]:
        """What is known of each metric at each point, by the point's number and the metric's key."""
        keys = list(dict.fromkeys(metric.key for metric in [*self.wanted, *self.measured]))
        summary = self.results.summary(keys, self.confidence)
        names = [each.name for each in fields(Estimate)]
        return {
            (row["point"], row["metric"]): Estimate(**{name: row[name] for name in names})
            for row in summary.to_dict("records")
        }

    def named(self, name: str) -> str:
        """A level of the compared factor in a sentence: alone if it is a name, with the factor if not."""
        assert self.compared is not None
        return name if self.compared.numbers is None else self.compared.setting(name)

    def other_levels(self, point: Point) -> Levels:
        """The levels of the factors that are not compared."""
        return tuple(
            name
            for factor, name in zip(self.factors, point.levels, strict=True)
            if factor is not self.compared
        )

    def compared_level(self, point: Point) -> str:
        """The level of the compared factor; empty if nothing is compared."""
        if self.compared is None:
            return ""
        return point.levels[self.factors.index(self.compared)]

    @cached_property
    def settings(self) -> list[Levels]:
        """The combinations of levels of the factors that are not compared, in the campaign's order."""
        return list(dict.fromkeys(self.other_levels(point) for point in self.points))

    def point_at(self, others: Levels, compared: str) -> Point | None:
        """The point with these levels, if the campaign has it."""
        for point in self.points:
            if self.other_levels(point) == others and self.compared_level(point) == compared:
                return point
        return None

    def in_words(self, others: Levels) -> str:
        """A setting of the factors that are not compared, as in ``load = high, speed = 5 m/s``."""
        return ", ".join(factor.setting(name) for factor, name in zip(self.others, others, strict=True))

    @property
    def alpha(self) -> float:
        """The chance of even one false finding that is accepted."""
        return round(1.0 - self.confidence, 12)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """All comparisons with the baseline: metric by metric, level by level, setting by setting."""
        from manetlab.stats import holm

        found = list(self._compared())
        # Comparisons that no test could be made of are no part of the family.
        tested = [each for each in found if math.isfinite(each.t_p)]
        adjusted = iter(holm([each.t_p for each in tested]))
        return [
            Comparison(
                **{**vars(each), "adjusted_p": next(adjusted) if math.isfinite(each.t_p) else math.nan}
            )
            for each in found
        ]

    def _compared(self) -> Iterator[Comparison]:
        if self.compared is None:
            return
        labels = dict(zip(self.compared.levels, self.labels[self.compared.key], strict=True))
        for metric in self.wanted:
            for name in self.compared.levels:
                if name != self.baseline:
                    sides = labels[name], labels[self.baseline]
                    frame = self.results.compare(self.compared.key, *sides, metric.key, self.confidence)
                    for row in frame.to_dict("records"):
                        yield self._comparison(metric, name, row)

    def _comparison(self, metric: Metric, name: str, row: Mapping[Hashable, Any]) -> Comparison:
        """A row of `Results.compare`; its own adjustment is for fewer comparisons than the report makes."""
        return Comparison(
            metric=metric,
            level=name,
            baseline=self.baseline,
            others=tuple(level(row[factor.key]) for factor in self.others),
            difference=(row["difference"], row["low"], row["high"]),
            ratio=(row["ratio"], row["ratio_low"], row["ratio_high"]),
            t_p=row["p_t"],
            wilcoxon_p=row["p_wilcoxon"],
            adjusted_p=math.nan,
            n=int(row["n"]),
            alpha=self.alpha,
        )


def _nothing_to_report(failed: int) -> InputError:
    found = f"only failed runs ({failed})" if failed else "no run"
    hint = "`manetlab campaign run` makes the missing runs; `manetlab campaign status` shows the failures"
    return InputError("there is nothing to report", "report", found, "at least one finished run", hint)
