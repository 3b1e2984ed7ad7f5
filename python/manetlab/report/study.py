"""A campaign's results as the report needs them: what is compared, at which points, with what outcome."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from manetlab import _core
from manetlab.campaign.comparison import NOT_COMPARABLE
from manetlab.campaign.family import LEAST_CONFIDENCE, MOST_CONFIDENCE, PRIMARY, usual
from manetlab.campaign.survivors import ARRIVED, FEWER, outlived
from manetlab.errors import InputError
from manetlab.factors import Factor, level
from manetlab.metrics import TOTALS, Metric, by_key

if TYPE_CHECKING:
    import pandas as pd

    from manetlab.campaign import Campaign, Results
    from manetlab.campaign.levels import Label
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario
    from manetlab.topology import TopologyReport

Levels = tuple[str, ...]
"""One level of each factor, in the order of the factors."""

OF_FLOWS = ("throughput_bps", "delivery_fraction")
"""Measures of a flow by which flows are compared."""
READ_OF_FLOWS = ("id", "kind", *OF_FLOWS, "delays")
"""What a report reads of flows, see `Results.load`."""
MOST_REPLICATIONS, MOST_NODE_SECONDS = 10, 3e6
"""For how many replications of a point it is found out what can arrive; nodes times seconds in all."""


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
        adjusted_mean: The mean adjusted for the movement; NaN if it is not.
        adjusted_low: Lower end of its interval.
        adjusted_high: Upper end.
        gain: The variance of the mean over that of the adjusted mean.
        draws: The number of draws of the movement; 0 if the mean is not adjusted.
        adjustment: The covariates, or why the mean is not adjusted.
    """

    mean: float
    low: float
    high: float
    median: float
    p5: float
    p95: float
    n: int
    adjusted_mean: float = math.nan
    adjusted_low: float = math.nan
    adjusted_high: float = math.nan
    gain: float = math.nan
    draws: int = 0
    adjustment: str = ""


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
    """A row of `Results.comparisons`: two alternatives at one setting of the other factors, in pairs.

    Attributes:
        metric: What is compared.
        level: The alternative.
        against: What it is compared with.
        others: The levels of the other factors.
        difference: Mean difference level − against, with the ends of its interval.
        ratio: Ratio of the means level / against, with the ends of its interval; NaN where there is none.
        p_t: p-value of the paired t test.
        p_wilcoxon: p-value of Wilcoxon's signed rank test.
        p_adjusted: `p_t` adjusted for the campaign's family.
        p_equivalent: p-value of the equivalence test, adjusted; NaN without a margin.
        n: The number of pairs.
        verdict: What it shows of the level.
    """

    metric: Metric
    level: str
    against: str
    others: Levels
    difference: tuple[float, float, float]
    ratio: tuple[float, float, float]
    p_t: float
    p_wilcoxon: float
    p_adjusted: float
    p_equivalent: float
    n: int
    verdict: str


@dataclass(frozen=True)
class Standing:
    """A row of `Results.standings`: an alternative against the best of the others, at one setting.

    Attributes:
        metric: What is compared.
        level: The alternative.
        against: The best of the others.
        others: The levels of the other factors.
        difference: Mean difference from it, with the ends of its interval.
        p_adjusted: The p-value of the pair, adjusted for the campaign's family.
        p_equivalent: That of being worse than the best by the margin, adjusted; NaN without a margin.
        n: The number of pairs.
        verdict: ``best``, ``not distinguishable`` or ``worse``, and whether it is practically as good; or
            ``not comparable``, or ``less arrives``.
    """

    metric: Metric
    level: str
    against: str
    others: Levels
    difference: tuple[float, float, float]
    p_adjusted: float
    p_equivalent: float
    n: int
    verdict: str

    @property
    def can_be_best(self) -> bool:
        """Is it comparable, and no other shown to be better?"""
        return not self.verdict.startswith(("worse", NOT_COMPARABLE, FEWER))

    @property
    def is_compared(self) -> bool:
        """Does it take part in the comparison?"""
        return not self.verdict.startswith((NOT_COMPARABLE, FEWER))


@dataclass(frozen=True)
class GivenUp:
    """A row of `Results.given_up`: an alternative that got no more replications, in one measure.

    Attributes:
        metric: The measure.
        level: The alternative.
        others: The levels of the other factors.
        after: Its replications.
        verdict: That of its standing.
        than: The alternative than which it is shown to be worse; empty if it is not in this measure.
        at_least: How much worse it is than the best at least; NaN if it is not shown.
    """

    metric: Metric
    level: str
    others: Levels
    after: int
    verdict: str
    than: str
    at_least: float


class Study:
    """The results of a campaign, with the choice of what is compared with what.

    What is compared is the campaign's own choice, unless another is asked for.

    Args:
        results: The results.
        compare: The factor whose levels are compared; the campaign's if not given.
        baseline: The level that the others are compared with; the campaign's own comparison if not given.
        confidence: The confidence of all intervals; the campaign's if not given.

    Raises:
        InputError: Nothing has been run, the factor or level is unknown, or the confidence is not allowed.
    """

    def __init__(
        self,
        results: Results,
        compare: str | None = None,
        baseline: str | None = None,
        confidence: float | None = None,
    ) -> None:
        if confidence is not None and not LEAST_CONFIDENCE <= confidence <= MOST_CONFIDENCE:
            hint = "95 % is written 0.95"
            wanted = f"a number from {LEAST_CONFIDENCE} to {MOST_CONFIDENCE}"
            raise InputError("the confidence is not allowed", "report", repr(confidence), wanted, hint)
        if not results.done:
            raise _nothing_to_report(len(results.failed))
        self.results = _asked(results, compare, baseline, confidence)
        self.family = self.results.family
        self.is_as_declared = not results.campaign.comparison or self.family == results.family
        self.campaign: Campaign = self.results.campaign
        self.confidence = self.family.confidence if self.family is not None else confidence or 0.95
        self.labels = {key: [each.label for each in levels] for key, levels in self.campaign.levels.items()}
        self.factors = [Factor.of(key, labels) for key, labels in self.labels.items()]
        self.points = [
            Point(point.number, tuple(level(point.levels[key]) for key in self.labels))
            for point in self.campaign.points
        ]
        self.runs = self.with_levels(results.tables.measures_of_runs(results.measured))
        self.failed = self.with_levels(results.failed)
        self.compared = next(
            (each for each in self.factors if self.family and each.key == self.family.factor), None
        )
        self.others = [factor for factor in self.factors if factor is not self.compared]

    @property
    def baseline(self) -> str:
        """The level that the others are compared with; empty if there is none."""
        control = self.family.control if self.family is not None else None
        return "" if control is None else level(control)

    def with_levels(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with the factors' columns as text."""
        return frame.assign(**{factor.key: frame[factor.key].map(level) for factor in self.factors})

    @cached_property
    def flows(self) -> pd.DataFrame:
        """Point, replication and kind of every flow, and the measures by which flows are compared."""
        return self.results.tables.measures_of_flows(OF_FLOWS)

    @cached_property
    def drops(self) -> pd.DataFrame:
        """What was dropped, added up over the replications of a point."""
        return self.with_levels(self.results.drop_counts)

    @cached_property
    def ends(self) -> pd.DataFrame:
        """Where packets of flows ended, added up over the replications of a point."""
        return self.with_levels(self.results.end_counts)

    @cached_property
    def delays(self) -> pd.DataFrame:
        """How long datagrams of flows with a deadline took."""
        return self.with_levels(self.results.delays)

    @cached_property
    def scenarios(self) -> dict[int, Scenario]:
        """The scenario of each point's first replication."""
        return {point.number: point.scenario(0) for point in self.campaign.points}

    @cached_property
    def _resolving(self) -> tuple[dict[int, Resolved], InputError | None]:
        try:
            resolved = {number: scenario.resolve() for number, scenario in self.scenarios.items()}
            self.results.check_scenarios(resolved)
        except InputError as error:
            return {}, error
        return resolved, None

    @property
    def resolved(self) -> dict[int, Resolved]:
        """The resolved scenario of each point's first replication; nothing if one cannot be resolved here."""
        return self._resolving[0]

    @property
    def unresolved(self) -> InputError | None:
        """Why scenarios cannot be resolved here as they were run; None if they can."""
        return self._resolving[1]

    @cached_property
    def topologies(self) -> dict[int, TopologyReport]:
        """What the movement of each point's first replication makes of the network."""
        from manetlab.scenario_warnings import topology_of

        known: dict[tuple[object, ...], TopologyReport] = {}
        found = {}
        for number, resolved in self.resolved.items():
            window_s = resolved.core["duration_s"] - resolved.core["warmup_s"]
            ends = tuple((flow["src"], flow["dst"]) for flow in resolved.flows)
            range_m = _core.radio_ranges(json.dumps(resolved.params))[0]
            decided_by = (resolved.movement.digest, window_s, ends, range_m)
            if decided_by not in known:
                known[decided_by] = topology_of(resolved)
            found[number] = known[decided_by]
        return found

    @cached_property
    def ceilings(self) -> dict[int, tuple[float, float, int]]:
        """By point what its movement lets arrive of what CBR flows send.

        That is the share of packets that have a path when they are sent, the share that can arrive at all,
        and over how many replications these are means.

        Points without CBR flows are missing, and so are all if a scenario cannot be resolved here.
        """
        from manetlab import ceilings

        sizes = [each.movement.nodes * float(each.core["duration_s"]) for each in self.resolved.values()]
        if not sizes:
            return {}
        count = max(1, min(MOST_REPLICATIONS, int(MOST_NODE_SECONDS / sum(sizes))))
        known: dict[str, tuple[float, float] | None] = {}
        found = {}
        for point in self.points:
            made = self.replications_of(point.number)[:count]
            shares = []
            for replication in made:
                resolved = self.campaign.scenario(point.number, int(replication)).resolve()
                ranges = _core.radio_ranges(json.dumps(resolved.params))
                flows = json.dumps(resolved.flows, sort_keys=True)
                key = f"{resolved.movement.digest} {ranges} {flows} {resolved.core['warmup_s']}"
                if key not in known:
                    known[key] = ceilings.together(ceilings.of_flows(resolved))
                shares.append(known[key])
            if shares and all(each is not None for each in shares):
                whole = [each for each in shares if each is not None]
                means = [sum(each[place] for each in whole) / len(whole) for place in (0, 1)]
                found[point.number] = (means[0], means[1], len(whole))
        return found

    def replications_of(self, point: int) -> list[int]:
        """The replications of a point that were run."""
        return [int(each) for each in self.runs["replication"][self.runs["point"] == point]]

    @cached_property
    def wanted(self) -> list[Metric]:
        """The primary measures, then the other metrics that the campaign asks for."""
        primary = self.family.metrics if self.family is not None else PRIMARY
        named = dict.fromkeys([*primary, *self.campaign.metrics])
        shown = [by_key(key) for key in named if key in self.runs and self.runs[key].notna().any()]
        if shown:
            return shown
        known = [metric.key for metric in self.measured]
        return [by_key(key) for key in [key for key in PRIMARY if key in known] or usual(known)]

    @property
    def primary(self) -> list[Metric]:
        """The primary measures: those that are compared."""
        known = self.family.metrics if self.family is not None else ()
        return [metric for metric in self.wanted if metric.key in known]

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
            (row["point"], row["metric"]): Estimate(**{name: row[name] for name in names if name in row})
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

    def values_at(self, others: Levels, compared: str, key: str) -> list[float | None]:
        """The values of a metric at a point, one a replication; None where there is none."""
        point = self.point_at(others, compared)
        runs = self.runs[self.runs["point"] == (point.number if point is not None else -1)]
        known = dict(zip(runs["replication"], runs[key], strict=True))
        return [
            None if (value := known.get(place)) is None or value != value else float(value)
            for place in range(self.results.replications)
        ]

    def outlived(self, metric: Metric, others: Levels) -> set[str]:
        """The alternatives with which significantly less arrives at a setting, if that is what is measured.

        Empty for measures that are not of what arrives.
        """
        arrived = next((key for key in ARRIVED.get(metric.key, ()) if key in self.results.measured), None)
        if arrived is None or self.compared is None:
            return set()
        values: dict[Label, list[float | None]] = {
            name: self.values_at(others, name, arrived) for name in self.compared.levels
        }
        return {str(name) for name in outlived(values)}

    def in_words(self, others: Levels) -> str:
        """A setting of the factors that are not compared, as in ``load = high, speed = 5 m/s``."""
        return ", ".join(factor.setting(name) for factor, name in zip(self.others, others, strict=True))

    def point_in_words(self, point: Point) -> str:
        """A point by all its levels, as in ``tcp = reno, load = high``; empty if nothing varies."""
        return ", ".join(
            factor.setting(name) for factor, name in zip(self.factors, point.levels, strict=True)
        )

    @property
    def alpha(self) -> float:
        """The chance of even one false finding that is accepted."""
        return round(1.0 - self.confidence, 12)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """All comparisons of the family: metric by metric, pair by pair, setting by setting."""
        return [
            Comparison(
                **self._place(row),
                ratio=(row["ratio"], row["ratio_low"], row["ratio_high"]),
                p_t=row["p_t"],
                p_wilcoxon=row["p_wilcoxon"],
            )
            for row in self.results.comparisons.to_dict("records")
        ]

    @cached_property
    def standings(self) -> list[Standing]:
        """Every alternative against the best of the others, if the question is which is best."""
        return [Standing(**self._place(row)) for row in self.results.standings.to_dict("records")]

    @cached_property
    def given_up(self) -> list[GivenUp]:
        """The alternatives that elimination gave up: setting by setting, measure by measure."""
        return [
            GivenUp(
                metric=by_key(row["metric"]),
                level=level(row["level"]),
                others=tuple(level(row[factor.key]) for factor in self.others),
                after=int(row["after"]),
                verdict=row["verdict"],
                than="" if math.isnan(row["at_least"]) else level(row["than"]),
                at_least=row["at_least"],
            )
            for row in self.results.given_up.to_dict("records")
        ]

    def _place(self, row: Mapping[Hashable, Any]) -> dict[str, Any]:
        """What a comparison and a standing have in common."""
        # Pandas has a NaN for what is nothing among numbers.
        against = row["against"]
        return {
            "metric": by_key(row["metric"]),
            "level": level(row["level"]),
            "against": "–" if against is None or against != against else level(against),
            "others": tuple(level(row[factor.key]) for factor in self.others),
            "difference": (row["difference"], row["low"], row["high"]),
            "p_adjusted": row["p_adjusted"],
            "p_equivalent": row["p_equivalent"],
            "n": int(row["n"]),
            "verdict": row["verdict"],
        }


def _asked(results: Results, compare: str | None, baseline: str | None, confidence: float | None) -> Results:
    """The results under the comparison that is asked for; themselves if none is.

    Raises:
        InputError: Unknown factor or level.
    """
    if compare is None and baseline is None and confidence is None:
        return results
    levels = results.campaign.levels
    varied = [name for name in levels if len(levels[name]) > 1]
    if compare is not None and compare not in varied:
        wanted = "one of " + ", ".join(varied) if varied else "a campaign that varies a factor"
        raise InputError("this factor cannot be compared", "--compare", f'"{compare}"', wanted)
    factor = compare or (results.family.factor if results.family is not None else None)
    labels = [level(each.label) for each in levels[factor]] if factor is not None else []
    if baseline is not None and baseline not in labels:
        wanted = "one of " + ", ".join(labels) if labels else "no baseline: nothing is compared"
        raise InputError("no such level", "--baseline", f'"{baseline}"', wanted)
    if factor is None:
        return results
    asked: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    if compare is not None and results.family is not None and compare != results.family.factor:
        asked |= {"factor": compare, "kind": None, "control": None}
    if baseline is not None:
        control = next(each.label for each in levels[factor] if level(each.label) == baseline)
        asked |= {"factor": factor, "kind": "control", "control": control}
    return results.asking(**asked)


def _nothing_to_report(failed: int) -> InputError:
    found = f"only failed runs ({failed})" if failed else "no run"
    hint = "`manetlab campaign run` makes the missing runs; `manetlab campaign status` shows the failures"
    return InputError("there is nothing to report", "report", found, "at least one finished run", hint)
