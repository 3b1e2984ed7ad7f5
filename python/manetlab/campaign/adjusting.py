"""Means of a campaign that are adjusted for what the movement alone explains of them.

Many more movements are drawn than are run. docs/statistics.md describes the method, and
`manetlab.movement_covariates` the covariates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from manetlab.campaign.family import PRIMARY
from manetlab.errors import InputError
from manetlab.metrics import interval_of, most_of
from manetlab.movement_covariates import Paths, asked, cost_in_events, covariates, paths_of

if TYPE_CHECKING:
    from manetlab.campaign.plan import Campaign
    from manetlab.resolving import Resolved
    from manetlab.stats import AdjustedMean

MOST_DRAWS = 20_000
"""Most movements that are drawn for one setting."""
FEWEST = 2
"""Draws for each replication at least."""
MOST_EXPLAINED = 0.99
"""Beyond this share of the variance, more draws are not made."""
TOLD_EVERY = 50
"""Draws between two reports of progress."""
DECIDING = ("movement", "traffic", "rates", "duration_s", "warmup_s", "profile", "radio", "mac")
"""Fields of a scenario that decide its movement, its flows and how far links reach."""

SKEWED = "; the rest is skewed"
"""What stands behind the covariates of an adjusted mean whose interval may cover less often than it says."""

Values = Mapping[str, Mapping[int, float | None]]
"""Of one point, the value of each metric in each replication that was made; None where there is none."""


class Draws:
    """The paths in a campaign's scenarios, computed on demand and then kept.

    Args:
        campaign: The campaign.
        hashes: Of runs that were made earlier, by point the hash of the first replication's scenario.

    Attributes:
        progress: Called now and then with the number of draws so far and in all.
    """

    def __init__(self, campaign: Campaign, hashes: Mapping[int, str] | None = None) -> None:
        self.progress: Callable[[int, int], None] | None = None
        self._campaign = campaign
        self._hashes = hashes or {}
        self._first: dict[int, Resolved | str] = {}
        self._settings: dict[int, str] = {}
        self._known: dict[str, list[dict[str, Paths] | None]] = {}

    def first(self, point: int) -> Resolved | str:
        """The scenario of a point's first replication, or why there are no draws of it."""
        if point not in self._first:
            self._first[point] = self._resolved(point)
        return self._first[point]

    def _resolved(self, point: int) -> Resolved | str:
        try:
            scenario = self._campaign.scenario(point, 0)
            if not scenario.is_drawn:
                return "movement and traffic are the same in all replications"
            if scenario.traffic.random is not None and scenario.traffic.random.hops is not None:
                return "the scenarios are selected, not drawn at random"
            resolved = scenario.resolve()
            if self._hashes.get(point, resolved.hash) != resolved.hash:
                return "the scenarios are not those of the runs: the version or a file is another"
            return resolved
        except InputError as error:
            return f"a scenario cannot be resolved here: {error}"

    def setting(self, point: int) -> str:
        """What decides the draws of a point: points of the same setting share them."""
        if point not in self._settings:
            data = self._campaign.scenario(point, 0).to_dict()
            deciding = [data.get(key) for key in DECIDING]
            self._settings[point] = json.dumps(deciding, sort_keys=True, default=str)
        return self._settings[point]

    def paths(self, point: int, count: int) -> list[dict[str, Paths] | None]:
        """The paths of the first ``count`` replications; None for one that cannot be drawn."""
        drawn = self._known.setdefault(self.setting(point), [])
        while len(drawn) < count:
            if self.progress is not None and len(drawn) % TOLD_EVERY == 0:
                self.progress(len(drawn), count)
            try:
                drawn.append(paths_of(self._campaign.scenario(point, len(drawn)).resolve()))
            except InputError:
                drawn.append(None)
        return drawn[:count]


class Adjustment:
    """The adjusted means of all points, from the values of their replications.

    Args:
        campaign: The campaign.
        values: For each point the values of its metrics, the wanted ones among them.
        events: For each point the mean number of events of a run: what runs cost.
        failed: The points at which runs failed.
        draws: What is known of the movement; it is added to.

    Attributes:
        draws: The same.
        COLUMNS: What a summary says of adjusted means.
    """

    COLUMNS: ClassVar = ("adjusted_mean", "adjusted_low", "adjusted_high", "gain", "draws", "adjustment")

    def __init__(
        self,
        campaign: Campaign,
        values: Sequence[Values],
        events: Sequence[float],
        failed: frozenset[int],
        draws: Draws,
    ) -> None:
        self._campaign, self._values, self._events = campaign, values, events
        self._failed, self.draws = failed, draws
        self._counts: dict[str, int] = {}
        self._known: dict[tuple[int, str, float], AdjustedMean] = {}
        self._everywhere: dict[tuple[str, tuple[str, bool]], dict[str, list[float]]] = {}

    def of(self, point: int, metric: str, confidence: float = 0.95) -> AdjustedMean:
        """The adjusted mean of a metric at a point, or the unadjusted one with the reason.

        Raises:
            InputError: No replication has a value.
        """
        key = (point, metric, confidence)
        if key not in self._known:
            self._known[key] = self._adjusted(point, metric, confidence)
        return self._known[key]

    def columns_of(self, point: int, metric: str, confidence: float = 0.95) -> dict[str, Any]:
        """The same as columns of a summary; of an unadjusted mean all but the last two are NaN or 0.

        Raises:
            InputError: No replication has a value.
        """
        found = self.of(point, metric, confidence)
        if not found.is_adjusted:
            nothing = dict.fromkeys(self.COLUMNS[:-2], math.nan)
            return {**nothing, "draws": 0, "adjustment": f"not adjusted: {found.reason}"}
        ends = (found.interval.mean, found.interval.low, found.interval.high)
        return dict(zip(self.COLUMNS, (*ends, found.gain, found.draws, in_words(found)), strict=True))

    def _adjusted(self, point: int, metric: str, confidence: float) -> AdjustedMean:
        from manetlab.stats import AdjustedMean, adjusted_interval

        values = {number: each for number, each in self._made(point, metric).items() if each is not None}
        plain = interval_of(metric, values.values(), confidence)
        if reason := self._obstacle(point, metric):
            return AdjustedMean(plain, reason=reason)
        paths = self.draws.paths(point, self._count(point))
        key = (self.draws.setting(point), asked(metric))
        if key not in self._everywhere:
            self._everywhere[key] = covariates(metric, (each for each in paths if each is not None))
        covariates_here = covariates(metric, _all(paths[number] for number in values))
        most = most_of(metric, values.values())
        return adjusted_interval(
            list(values.values()), covariates_here, self._everywhere[key], 0.0, most, confidence
        )

    def _made(self, point: int, metric: str) -> Mapping[int, float | None]:
        return self._values[point].get(metric, {})

    def _obstacle(self, point: int, metric: str) -> str:
        """Why the values of a point cannot be adjusted, as far as the values do not say it; else empty."""
        first = self.draws.first(point)
        if isinstance(first, str):
            return first
        if point in self._failed:
            return "runs failed"
        values = self._made(point, metric)
        without = sum(value is None for value in values.values())
        if without:
            return f"{without} of {len(values)} replications have no value"
        return "" if first.flows else "there are no flows"

    def _count(self, point: int) -> int:
        """How many movements are drawn for a point, the replications that were run included."""
        setting = self.draws.setting(point)
        if setting not in self._counts:
            self._counts[setting] = self._best_count(setting)
        return self._counts[setting]

    def _best_count(self, setting: str) -> int:
        points = [
            number
            for number in range(self._campaign.point_count)
            if not isinstance(self.draws.first(number), str) and self.draws.setting(number) == setting
        ]
        first = self.draws.first(points[0])
        assert not isinstance(first, str)
        replications = (
            max(max(of, default=-1) for number in points for of in self._values[number].values()) + 1
        )
        explained_share = max(self._explained(number) for number in points)
        return draws_for(
            replications,
            explained_share,
            sum(self._events[number] for number in points) / cost_in_events(first),
        )

    def _explained(self, point: int) -> float:
        """The largest share of the variance of a primary metric that the covariates explain."""
        from manetlab.stats.regression import explained

        largest = 0.0
        for metric in self._campaign.metrics or PRIMARY:
            values = self._made(point, metric)
            if not values or self._obstacle(point, metric):
                continue
            paths = self.draws.paths(point, max(values) + 1)
            covariates_here = covariates(metric, _all(paths[number] for number in values))
            largest = max(
                largest,
                explained([float(value) for value in values.values() if value is not None], covariates_here),
            )
        return largest


def draws_for(replications: int, share: float, costs: float) -> int:
    """How many movements to draw for replications that are run, which they include.

    The variance of the adjusted mean is smallest for what runs and draws cost together if there are
    √(c/c′ · R²/(1 − R²)) draws a replication (Cochran 1977, section 12.4).

    Args:
        replications: The replications.
        share: The share of the variance that the covariates explain, R².
        costs: What a replication costs over what a draw costs, c/c′.
    """
    bounded = min(MOST_EXPLAINED, share)
    per_replication = math.sqrt(costs * bounded / (1.0 - bounded))
    return max(replications, min(MOST_DRAWS, math.ceil(max(FEWEST, per_replication) * replications)))


def _all(paths: Iterable[dict[str, Paths] | None]) -> list[dict[str, Paths]]:
    """All of them: of a replication that was run the scenario can be drawn."""
    return [each for each in paths if each is not None]


def in_words(found: AdjustedMean) -> str:
    """The covariates of an adjusted mean, and what speaks against its interval."""
    names = ", ".join(found.covariates)
    return names if found.skewness is None else f"{names}{SKEWED} ({found.skewness:.1f})"


def about_adjusted(rows: Iterable[Mapping[Any, Any]]) -> list[str]:
    """What rows of a summary say of the adjusted means of one metric, a sentence each.

    Args:
        rows: Rows of `Results.summary` with the columns of adjusted means.
    """
    summary_rows = list(rows)
    draws = sorted({int(row["draws"]) for row in summary_rows if row["draws"]})
    reasons = dict.fromkeys(row["adjustment"].partition(": ")[2] for row in summary_rows if not row["draws"])
    sentences = []
    if draws:
        many = f"{draws[0]}" if len(draws) == 1 else f"{draws[0]} to {draws[-1]}"
        adjusted = [row["adjustment"].partition(SKEWED) for row in summary_rows if row["draws"]]
        covariate_names = "; ".join(dict.fromkeys(names for names, _, _ in adjusted))
        sentences.append(
            f"Adjusted means use what {many} draws of the movement say ({covariate_names}). The gain is the "
            "variance of the mean over that of the adjusted mean."
        )
        skewed = sum(bool(mark) for _, mark, _ in adjusted)
        if skewed:
            sentences.append(
                f"What the movement does not explain is skewed at {skewed} of {len(summary_rows)} points: "
                "adjusted intervals may cover the mean less often there than they say."
            )
    if reasons:
        sentences.append(f"Not adjusted: {'; '.join(reasons)}.")
    return sentences
