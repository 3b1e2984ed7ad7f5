"""The largest load that a network carries within a limit: how many calls, flows, kb/s or nodes.

`find` answers what the table ``[capacity]`` of a campaign asks, for each combination of the levels of its
factors, with replications only where they decide. docs/capacity.md describes it, `manetlab.stats.borders`
has the statistics.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import metrics
from manetlab.campaign import family
from manetlab.campaign.plan import Campaign
from manetlab.campaign.survivors import ARRIVED
from manetlab.errors import InputError, RunFailed, shown
from manetlab.parameters import unknown
from manetlab.stats import Interval
from manetlab.stats.borders import LEAST, Border, BorderSearch, Limit, Status

if TYPE_CHECKING:
    from manetlab.campaign.execution import Report
    from manetlab.campaign.levels import Label
    from manetlab.campaign.results import Results

MOST_LEVELS = 1000
"""Most levels of a load."""
KEYS = ("level", "levels", "limit", "most", "confidence")
_LIMIT = re.compile(r"\s*([\w-]+)\s*(>=|<=|≥|≤)\s*(\S+)\s*")


@dataclass(frozen=True)
class Question:
    """What is asked of each network.

    Attributes:
        level: The field of the scenario that is the load, dotted: ``traffic.random.calls``.
        levels: Its values, in ascending order.
        metric: The measure that must keep to a limit, a total of a run.
        limit: The limit of its mean over replications.
        most: Most replications of a level.
        confidence: The confidence of the answer.
    """

    level: str
    levels: tuple[float, ...]
    metric: str
    limit: Limit
    most: int = 64
    confidence: float = 0.95

    @classmethod
    def build(cls, asked: Mapping[str, Any], where: str = "capacity") -> Question:
        """The question of a table ``[capacity]``.

        Raises:
            InputError: A key is unknown or missing, or a value is not allowed.
        """
        for key in asked:
            if key not in KEYS:
                raise unknown("key of [capacity]", str(key), KEYS, where)
        examples = {"level": '"traffic.random.calls"', "levels": '"1..20"', "limit": '"pdr >= 0.95"'}
        for key, example in examples.items():
            if key not in asked:
                hint = f"for example {key} = {example}; `manetlab docs capacity` says more"
                raise InputError(
                    "the question is not complete", f"{where}: {key}", "nothing", "a value", hint
                )
        metric, limit = limit_of(asked["limit"], f"{where}: limit")
        level, levels = asked["level"], _levels(asked["levels"], f"{where}: levels")
        if not isinstance(level, str):
            wanted = "the name of a field of the scenario that is a number"
            raise InputError("not a level", f"{where}: level", shown(level), wanted)
        made = cls(level, levels, metric, limit, asked.get("most", 64), asked.get("confidence", 0.95))
        made.search()
        return made

    def search(self) -> BorderSearch:
        """A search that has seen nothing yet."""
        return BorderSearch(self.levels, self.limit, self.most, self.confidence)

    @property
    def limit_text(self) -> str:
        """The limit in words, in the unit in which the measure is shown."""
        metric = metrics.by_key(self.metric)
        sign = "≥" if self.limit.at_least else "≤"
        unit = f" {metric.unit}" if metric.unit else ""
        return f"{metric.label} {sign} {self.limit.threshold * metric.factor:g}{unit}"


def limit_of(text: object, where: str) -> tuple[str, Limit]:
    """A measure's key and its limit, of a text such as ``pdr >= 0.95``.

    Raises:
        InputError: It is no such text, or the limit is beyond what the measure can be.
    """
    found = _LIMIT.fullmatch(text) if isinstance(text, str) else None
    hint = "for example voice_satisfied_fraction >= 0.95; `manetlab list measures` lists the measures"
    if found is None:
        wanted = "a measure, >= or <=, and a number in the measure's base unit"
        raise InputError("not a limit", where, shown(text), wanted, hint)
    name, sign, number = found.groups()
    key = metrics.named(name)
    if key not in metrics.MEASURES:
        raise family.unknown_metric(name, metrics.MEASURES, where)
    try:
        threshold = float(number)
    except ValueError:
        threshold = math.nan
    least, most = metrics.bounds(key)
    if not least <= threshold <= most or math.isinf(threshold):
        wanted = f"a number from {least:g}" + (f" to {most:g}" if math.isfinite(most) else "")
        raise InputError("the limit is beyond what the measure can be", where, shown(text), wanted, hint)
    return key, Limit(threshold, sign in (">=", "≥"), least, most)


def _levels(given: object, where: str) -> tuple[float, ...]:
    """Levels as a list of numbers, or as ``1..20`` or ``10..200:10``."""
    wanted = "a list of ascending numbers, or a text such as 1..20 or 10..200:10"
    if isinstance(given, str):
        found = re.fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*(?::\s*(\d+))?\s*", given)
        if found is None or int(found[3] or 1) == 0:
            raise InputError("not levels", where, shown(given), wanted)
        given = list(range(int(found[1]), int(found[2]) + 1, int(found[3] or 1))[: MOST_LEVELS + 1])
    if not isinstance(given, Sequence) or not all(map(_is_number, given)):
        raise InputError("not levels", where, shown(given), wanted)
    ascending = all(low < high for low, high in pairwise(given))
    if len(given) < 2 or not ascending:
        raise InputError("not levels", where, shown(given), f"two or more, {wanted}")
    if len(given) > MOST_LEVELS:
        hint = "use a step: 10..1000:10"
        raise InputError("there are too many levels", where, f"{len(given)}", f"at most {MOST_LEVELS}", hint)
    return tuple(given)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class AtLevel:
    """What was seen at one level.

    Attributes:
        level: The level.
        mean: The measure's mean over replications with its 95 % interval, in the measure's base unit.
        status: ``holds``, ``fails`` or ``open``, by the tests of the search, which allow for their number.
        arrived: For a measure of what arrives, such as a delay, by the key of the measure that says how much
            that is its mean over the same runs; empty for all others.
    """

    level: float
    mean: Interval
    status: Status
    arrived: Mapping[str, float]


@dataclass(frozen=True)
class Capacity:
    """The largest load of one network.

    Attributes:
        question: What was asked.
        labels: The levels of the campaign's other factors.
        border: The answer with its interval.
        levels: What was seen, by level.
    """

    question: Question
    labels: Mapping[str, Label]
    border: Border
    levels: Sequence[AtLevel]

    @property
    def runs_of_grid(self) -> int:
        """The runs of all levels with the most replications each."""
        return len(self.question.levels) * self.question.most

    def sentence(self) -> str:
        """The answer in a sentence."""
        told = self._told()
        return told if self.labels else f"{told[:1].upper()}{told[1:]}"

    def _told(self) -> str:
        name, border = self.question.level, self.border
        whose = ", ".join(f"{label}" for label in self.labels.values())
        whose = f"{whose}: " if whose else ""
        first, last = self.question.levels[0], self.question.levels[-1]
        if border.high is None:
            return f"{whose}not even {name} = {first:g} keeps to {self.question.limit_text}."
        if border.low == last:
            return f"{whose}{name} = {last:g} and all below keep to {self.question.limit_text}."
        if border.low == border.high:
            return f"{whose}the largest {name} with {self.question.limit_text} is {border.low:g}."
        low = f"below {first:g}" if border.low is None else f"{border.low:g}"
        high = f"{border.high:g} or more" if border.is_open_above else f"{border.high:g}"
        guess = f"below {first:g}" if border.estimate is None else f"{border.estimate:g}"
        confidence = f"{100 * self.question.confidence:g} %"
        return (
            f"{whose}the largest {name} with {self.question.limit_text} is about {guess} "
            f"({confidence} interval: {low} to {high})."
        )

    def to_dict(self) -> dict[str, Any]:
        """The answer and what was seen, for JSON."""
        border = self.border
        return {
            "labels": dict(self.labels),
            "level": self.question.level,
            "metric": self.question.metric,
            "threshold": self.question.limit.threshold,
            "at_least": self.question.limit.at_least,
            "confidence": self.question.confidence,
            "estimate": border.estimate,
            "low": border.low,
            "high": border.high,
            "is_open_above": border.is_open_above,
            "out_of_order": border.out_of_order,
            "runs": border.replications,
            "runs_of_grid": self.runs_of_grid,
            "answer": self.sentence(),
            "levels": [
                {
                    "level": each.level,
                    "status": each.status.value,
                    "runs": each.mean.n,
                    "mean": each.mean.mean,
                    "low": each.mean.low if math.isfinite(each.mean.low) else None,
                    "high": each.mean.high if math.isfinite(each.mean.high) else None,
                    "arrived": dict(each.arrived),
                }
                for each in self.levels
            ],
        }


def find(
    campaign: Campaign,
    question: Question | None = None,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    progress: Callable[[Report], None] | None = None,
    allow_other_version: bool = False,
) -> list[Capacity]:
    """The largest load of each network of a campaign, by simulation.

    Args:
        campaign: The networks: one for each combination of its factors' levels. Its replications and
            ``until`` are not heeded.
        question: What is asked; by default what the campaign's table ``[capacity]`` says.
        store: The file that keeps the runs, so that a search that was stopped continues; none are kept
            without it.
        jobs: Runs at a time; by default the number of cores.
        progress: Called with a report now and then.
        allow_other_version: Use runs that another version or commit left in the store.

    Raises:
        InputError: The question or a scenario is not allowed, or the measure has no value in a run.
        RunFailed: A run failed.
    """
    asked = question or Question.build(campaign.capacity, f"{campaign.where}: capacity")
    if asked.level in campaign.factors:
        hint = "leave it out of [factors]"
        raise InputError(
            "the load is a factor, too", f"{campaign.where}: factors", asked.level, "other factors", hint
        )
    whole = campaign.changed(
        factors={**campaign.factors, asked.level: list(asked.levels)},
        replications=LEAST,
        until=None,
        metrics=[asked.metric],
        comparison={},
        capacity={},
    )
    options: dict[str, Any] = {"jobs": jobs, "progress": progress, "allow_other_version": allow_other_version}
    with _kept(store) as place:
        searches = [asked.search() for _ in campaign.points]
        arrived: list[dict[float, dict[str, float]]] = [{} for _ in campaign.points]
        while wave := list(_next(asked, searches)):
            for n in sorted({n for _, _, n in wave}):
                points = {number * len(asked.levels) + at: (number, at) for number, at, m in wave if m == n}
                results = whole.changed(replications=n).run(place, points=list(points), **options)
                for point, (number, at) in points.items():
                    searches[number].values[asked.levels[at]] = _values(results, point, asked)
                    arrived[number][asked.levels[at]] = _arrived(results, point, asked)
    return [
        Capacity(asked, point.levels, search.border(), _seen(asked, search, of))
        for point, search, of in zip(campaign.points, searches, arrived, strict=True)
    ]


@contextmanager
def _kept(store: str | Path | None) -> Iterator[Path]:
    """The store, or one that is gone afterwards: replications are added to those that are there."""
    if store is not None:
        yield Path(store)
        return
    with tempfile.TemporaryDirectory(prefix="manetlab-") as folder:
        yield Path(folder) / "capacity.db"


def _next(asked: Question, searches: Sequence[BorderSearch]) -> Iterator[tuple[int, int, int]]:
    """What is to be run next: the network, the place of the level, and how many replications."""
    for number, search in enumerate(searches):
        if (wanted := search.wanted()) is not None:
            level, n = wanted
            yield number, asked.levels.index(level), n


def _values(results: Results, point: int, asked: Question) -> list[float]:
    """The measure in each replication of a point."""
    failed = results.failed
    for row in failed[failed["point"] == point].to_dict("records"):
        where = f"point {row['point']}, replication {row['replication']}"
        raise RunFailed("a run failed", where, row["error"], hint=f"to repeat it: {row['command']}")
    runs = results.runs[results.runs["point"] == point].sort_values("replication")
    values = [float(value) for value in runs[asked.metric]]
    if missing := sum(map(math.isnan, values)):
        where = results.campaign.place_of(point)
        hint = "is there traffic of its kind at every level, and does something of it arrive?"
        found = f"no value in {missing} of {len(values)} runs"
        raise InputError(f"{asked.metric} cannot be judged", where, found, "a value in every run", hint)
    return values


def _arrived(results: Results, point: int, asked: Question) -> dict[str, float]:
    """How much arrives at a point on average, if the measure is of what arrives."""
    runs = results.runs[results.runs["point"] == point]
    measured = [key for key in ARRIVED.get(asked.metric, ()) if key in runs and runs[key].notna().any()]
    return {key: float(runs[key].mean()) for key in measured[:1]}


def _seen(
    asked: Question, search: BorderSearch, arrived: Mapping[float, Mapping[str, float]]
) -> list[AtLevel]:
    return [
        AtLevel(level, asked.limit.interval(values, 0.95), search.status(level), arrived[level])
        for level, values in sorted(search.values.items())
    ]


def write_csv(path: Path, found: Sequence[Capacity]) -> None:
    """Writes a line for each level that was run, with how much arrives if the measure is of what arrives.

    Raises:
        InputError: The file cannot be written.
    """
    import csv
    import io

    from manetlab.files import write_text

    target = io.StringIO()
    arrived = sorted({key for each in found for at in each.levels for key in at.arrived})
    heads = [*found[0].labels, found[0].question.level, "status", "runs", "mean", "low", "high", *arrived]
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(heads)
    for each in found:
        for at in each.levels:
            seen = (at.level, at.status.value, at.mean.n, at.mean.mean, at.mean.low, at.mean.high)
            writer.writerow([*each.labels.values(), *seen, *(at.arrived.get(key, "") for key in arrived)])
    write_text(path, target.getvalue())
