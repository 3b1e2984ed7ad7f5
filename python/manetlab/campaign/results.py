"""What came out of a campaign, as tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import provenance
from manetlab.campaign import run_tables
from manetlab.campaign.columns import values_by_point
from manetlab.campaign.elimination import Race, is_asked
from manetlab.campaign.family import unknown_metric
from manetlab.campaign.levels import Label
from manetlab.campaign.plan import Campaign, known_metrics
from manetlab.campaign.run_tables import Row, RunTables
from manetlab.campaign.snapshot import Snapshot
from manetlab.campaign.store import Store
from manetlab.errors import InputError
from manetlab.metrics import named
from manetlab.optional_packages import require
from manetlab.parameters import unknown

if TYPE_CHECKING:
    import pandas as pd
    import xarray
    from matplotlib.axes import Axes

    from manetlab.campaign.adjusting import Adjustment
    from manetlab.campaign.family import Family
    from manetlab.resolving import Resolved
    from manetlab.stats.looks import Looks

SUMMARY = ("mean", "low", "high", "median", "p5", "p95", "n")
"""What a summary says of a metric, besides adjusted means."""


class Results:
    """The results of a campaign: of the finished runs, and of those that failed.

    Tables are tidy: one row an observation, one column a factor with the labels of its levels. Rows are
    ordered by point and replication, whatever order the runs ended in. A metric that a run does not have is
    NaN.

    Attributes:
        campaign: The campaign.
        replications: Replications of each point.
        store: The file that they come from; None if they were kept in memory.
        snapshot: What was in it, without the runs that elimination would have spared.
        tables: What makes tables of it, of all runs or of some.

    Examples:
        >>> import manetlab
        >>> waypoint = {"nodes": 10, "width_m": 600.0, "height_m": 300.0, "speed_max": 20.0}
        >>> campaign = manetlab.Campaign(
        ...     base={
        ...         "movement": {"waypoint": waypoint},
        ...         "traffic": {"random": {"cbr": 3}},
        ...         "duration_s": 20.0,
        ...     },
        ...     factors={"routing": ["flooding", "aodv"]},
        ...     replications=4,
        ...     metrics=["cbr_delivery_fraction", "normalised_routing_load"],
        ... )
        >>> results = campaign.run()
        >>> results.missing, len(results.runs), len(results.flows)
        (0, 8, 24)
        >>> summary = results.summary(["cbr_delivery_fraction"])
        >>> (summary["mean"] > 0.9).tolist(), summary["n"].tolist()
        ([True, True], [4, 4])
        >>> against = results.compare("routing", "flooding", "aodv")
        >>> against[["metric", "verdict"]].to_dict("records")[1]
        {'metric': 'normalised_routing_load', 'verdict': 'not comparable'}
    """

    def __init__(
        self,
        campaign: Campaign,
        replications: int,
        store: Path | None,
        snapshot: Snapshot,
        race: Race | None = None,
    ) -> None:
        if race is None and is_asked(campaign):
            race = Race.of(campaign, replications, snapshot)
            snapshot = snapshot.before(race.eliminated.ended)
        self.campaign = campaign
        self.replications = replications
        self.store = store
        self.snapshot = snapshot
        self.tables = RunTables(campaign, snapshot, store)
        self._race = race

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        campaign_file: str | Path | None = None,
        trust: bool = False,
        of_flows: Collection[str] | None = None,
    ) -> Results:
        """The results of the campaign that was run last with this store.

        Args:
            path: The store. It may come from somebody else: its scenarios import no code in Python and read
                no file outside its folder.
            campaign_file: The campaign's own file, if it is known: files in its folder may be read, too.
            trust: The store is trusted: its scenarios import and read whatever they name.
            of_flows: The fields of flows that will be asked for, as `flows` has them; all if not given. Of a
                million runs, all would take half of the memory.

        Raises:
            InputError: The store does not exist, it has no campaign, or it is not trusted and asks for what
                would take very long.

        Examples:
            >>> import manetlab
            >>> base = {"movement": {"chain": {"nodes": 3}}, "traffic": {"flows": []}, "duration_s": 2.0}
            >>> files = manetlab.Campaign(base=base, replications=2).run("idle.db").export("tables", ["csv"])
            >>> "runs.csv" in {file.name for file in files}
            True
            >>> manetlab.Results.load("idle.db")
            <Results of 'campaign': 2 of 2 runs at 1 points>
        """
        given = None if campaign_file is None else Path(campaign_file)
        with Store.read(Path(path)) as store:
            found = cls._of(store, *store.definition(None, given, trust), of_flows)
        if (origin := found.campaign.origin) is not None:
            origin.check_points(found.campaign.point_count, len(found.snapshot.runs))
        return found

    @classmethod
    def of(cls, store: Store, number: int, campaign: Campaign) -> Results:
        """The results of a campaign in an open store, to which this process has given it."""
        _, stored, replications = store.definition(number)
        return cls._of(store, number, stored.changed(origin=campaign.origin), replications)

    @classmethod
    def _of(
        cls,
        store: Store,
        this: int,
        campaign: Campaign,
        replications: int,
        of_flows: Collection[str] | None = None,
    ) -> Results:
        snapshot = Snapshot.read(store, this, replications, campaign.point_count, of_flows)
        return cls(campaign, replications, store.path, snapshot)

    def __repr__(self) -> str:
        """What there is of what was wanted, in a line."""
        wanted = self.planned
        failed = f", {len(self.snapshot.failures)} failed" if self.snapshot.failures else ""
        return (
            f"<Results of {self.campaign.name!r}: {len(self.snapshot.runs)} of {wanted} runs at "
            f"{self.campaign.point_count} points{failed}>"
        )

    def _repr_html_(self) -> str:
        """Means and intervals of the campaign's metrics, for notebooks."""
        from manetlab import notebook
        from manetlab.metrics import by_key
        from manetlab.stats import Interval

        summary = self.summary()
        rows = []
        for row in summary.to_dict("records"):
            metric = by_key(row["metric"])
            interval = Interval.between(row["mean"], row["low"], row["high"], row["n"])
            levels = [row[name] for name in self.campaign.factors]
            rows.append([*levels, metric.heading, metric.show_interval(interval), row["n"]])
        heads = [*self.campaign.factors, "metric", "mean (95 %)", "n"]
        return notebook.table(self.campaign.question or self.campaign.name, rows, heads, repr(self)[1:-1])

    def to_frame(self) -> pd.DataFrame:
        """`runs`: one row a finished run, with its factors and metrics."""
        return self.runs

    def plot(self, metric: str | None = None, across: str | None = None, axes: Axes | None = None) -> Axes:
        """Draws means with 95 % intervals over a factor, a line for each combination of the others.

        Args:
            metric: The metric; the campaign's first if not given.
            across: The factor of the horizontal axis; the first with numbers, or the first, if not given.
            axes: Where to draw; a new figure if not given.

        Returns:
            The axes, whose ``figure`` can be saved.

        Raises:
            InputError: Unknown factor or metric, or matplotlib is not installed.
        """
        from manetlab.factors import Factor
        from manetlab.plots import drawing_on, over_factor

        [name, *_] = self.wanted(None if metric is None else [metric])
        varied = [factor for factor, levels in self.campaign.levels.items() if len(levels) > 1]
        if across is not None and across not in self.campaign.factors:
            raise unknown("factor", across, self.campaign.factors, "plot: across")
        numeric = [
            factor
            for factor in varied
            if all(isinstance(level.label, int | float) for level in self.campaign.levels[factor])
        ]
        first = across or next(iter(numeric + varied), None)
        factors = [*([first] if first else []), *(factor for factor in varied if factor != first)]
        headings = {factor: Factor.of(factor, ()).heading for factor in factors}
        with drawing_on(axes, "plot") as drawn_on:
            return over_factor(self.summary([name]), name, factors, headings, drawn_on)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a finished run.

        Columns: ``point``, the factors, ``replication``, ``seed``, ``key``, the metrics of `Result.totals`
        (docs/metrics.md), ``events``, ``cpu_time_s``, ``result_hash``.
        """
        return self.tables.runs()

    @property
    def drop_counts(self) -> pd.DataFrame:
        """`drops`, added up over the replications of each point."""
        return self.tables.counts[0]

    @property
    def end_counts(self) -> pd.DataFrame:
        """`ends`, added up over the replications of each point."""
        return self.tables.counts[1]

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row a flow of a finished run.

        Columns: ``point``, the factors, ``replication``, ``flow`` (its number), ``kind``, ``src``, ``dst``,
        then the metrics of a flow (docs/metrics.md); ``src_name`` and ``dst_name`` where nodes have names.
        """
        return self.tables.whole("flows")

    @cached_property
    def delays(self) -> pd.DataFrame:
        """How long the datagrams of flows with a deadline took, one row a class of delays of a flow.

        Columns: ``point``, the factors, ``replication``, ``flow``, ``up_to_s`` (the upper end of the class;
        ∞ for what took longer than the last end, NaN for what did not arrive), ``count``.
        """
        return self.tables.whole("delays")

    @cached_property
    def drops(self) -> pd.DataFrame:
        """One row a kind of dropped packet of a finished run.

        Columns: ``point``, the factors, ``replication``, ``layer``, ``reason``, ``packets``, ``count``.
        """
        return self.tables.whole("drops")

    @cached_property
    def ends(self) -> pd.DataFrame:
        """Where the packets of flows ended in the finished runs, each packet once, over the whole run.

        Columns: ``point``, the factors, ``replication``, ``end`` (``delivered``, ``lost``, ``under way``), of
        lost ones ``layer``, ``reason`` and ``packets``, ``count``. Runs of earlier versions have no rows.
        """
        return self.tables.whole("ends")

    @cached_property
    def failed(self) -> pd.DataFrame:
        """One row a run that failed.

        Columns: ``point``, the factors, ``replication``, ``seed``, ``error``, ``command`` (which repeats it).
        """
        return self.tables.failed()

    @cached_property
    def machines(self) -> pd.DataFrame:
        """One row a finished run: what made it, where, and how long that took.

        Columns: ``point``, the factors, ``replication``, ``key``, ``scenario_hash``, ``code``, ``platform``,
        ``host``, ``ended``, ``cpu_time_s``, ``wall_time_s``.
        """
        return self.tables.machines()

    @property
    def series_names(self) -> list[str]:
        """The time series that runs have kept."""
        return sorted({name for _, name, _, _ in self.snapshot.series})

    @property
    def done(self) -> int:
        """How many of the wanted runs have finished."""
        return len(self.snapshot.runs)

    @property
    def planned(self) -> int:
        """How many runs are wanted, without those that elimination spares."""
        n = self.replications
        return self.campaign.point_count * n - sum(n - made for made in self.ended.values())

    @property
    def missing(self) -> int:
        """How many of the wanted runs have neither finished nor failed."""
        return self.planned - self.done - len(self.snapshot.failures)

    @property
    def looks(self) -> Looks | None:
        """After how many replications alternatives were looked at; None if the runs were not chosen so."""
        return None if self._race is None else self._race.looks

    @property
    def ended(self) -> Mapping[int, int]:
        """The points that elimination gave no more replications, with those that they have."""
        return {} if self._race is None else self._race.eliminated.ended

    @property
    def given_up_after(self) -> Mapping[int, int]:
        """The points that were given up, with their replications: `ended` without alternatives left alone."""
        return {} if self._race is None else self._race.eliminated.given_up

    @cached_property
    def given_up(self) -> pd.DataFrame:
        """The alternatives that elimination gave up, and what is still claimed of each; else no row.

        Columns: the other factors, ``level``, ``after`` (replications), ``metric``, ``verdict`` (that of
        `standings`), ``than`` and ``at_least``: how much worse it is than the best at least, and the
        alternative whose comparison shows it; NaN where nothing does. All these bounds hold together with the
        intervals of `comparisons`.
        """
        from manetlab.campaign.comparison import given_up_table

        return given_up_table(self)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Where the results come from: code, machines, dependencies, times, the hash of each scenario.

        ``code`` lists the versions and commits of all runs; more than one were mixed because somebody asked
        for it. ``version``, ``commit``, ``platform`` and ``python`` are those of this process.
        """
        return {**self.provenance_in_short, "scenario_hashes": self.snapshot.scenario_hashes}

    @cached_property
    def provenance_in_short(self) -> dict[str, Any]:
        """`provenance` without the hash of each scenario."""
        runs, sessions = self.snapshot.runs, self.snapshot.sessions
        return {
            **provenance.of_code(),
            "store": None if self.store is None else str(self.store),
            "code": sorted(set(runs.codes)),
            "hosts": sorted(set(runs.hosts)),
            "platforms": sorted(set(runs.platforms)),
            "dependencies": sessions[-1]["dependencies"] if sessions else {},
            "dependencies_hash": sessions[-1]["dependencies_hash"] if sessions else None,
            "sessions": sessions,
            "started": min((session["began"] for session in sessions), default=None),
            "ended": max(runs.ended, default=None),
            "events": sum(runs.events),
            "cpu_time_s": sum(runs.cpu_times_s),
        }

    @property
    def scenario_count(self) -> int:
        """How many different resolved scenarios were run."""
        return self.snapshot.runs.scenario_hashes.distinct

    def check_scenarios(self, resolved: Mapping[int, Resolved]) -> None:
        """Checks that scenarios are those that were run, so that what they say is true of the runs.

        Args:
            resolved: The resolved scenario of the first replication, by point.

        Raises:
            InputError: Some are others: the version is not that of the runs, or a file has changed.
        """
        stored = self.snapshot.first_hashes
        others = [point for point, each in resolved.items() if stored.get(point, each.hash) != each.hash]
        if others:
            raise InputError(
                "the scenarios are not those of the runs",
                str(self.store),
                f"other scenarios at {len(others)} of {len(resolved)} points",
                f"those that were run, with {'; '.join(self.provenance_in_short['code'])}",
                "use the version that made the runs, and the files as they were then",
            )

    def command(self, point: int, replication: int) -> str:
        """The command that makes a run again and shows what comes out."""
        return run_tables.command_of(self.store, point, replication)

    def series(self, name: str) -> pd.DataFrame:
        """A time series of all runs that recorded it.

        Args:
            name: One of `manetlab.series_files.NAMES`; docs/metrics.md says what they hold.

        Returns:
            Columns: ``point``, the factors, ``replication``, then the series' own.

        Raises:
            InputError: The runs kept none, or a file is not there any more.
        """
        require("notebook", "series")
        return self.tables.series(name)

    def xarray(self) -> xarray.Dataset:
        """The metrics as arrays whose dimensions are the factors and ``replication``.

        Each array's ``attrs`` have its ``units`` and its ``long_name``.
        """
        require("notebook", "xarray")
        return run_tables.arrays_of(self.runs, self.campaign)

    def summary(self, metrics: Sequence[str] | None = None, confidence: float = 0.95) -> pd.DataFrame:
        """Mean, interval and percentiles of metrics over the replications of each point.

        Args:
            metrics: Names of totals; the campaign's own if not given.
            confidence: Of the interval of the mean, which is within the metric's bounds.

        Returns:
            Columns: ``point``, the factors, ``metric``, ``mean``, ``low``, ``high``, ``median``, ``p5``,
            ``p95``, ``n``. Points without a value of a metric have no row for it. If the campaign adjusts
            means for the movement, also ``adjusted_mean``, ``adjusted_low``, ``adjusted_high``, ``gain`` (the
            variance of the mean over that of the adjusted one), ``draws`` (of the movement) and
            ``adjustment`` (the covariates, and whether the rest is skewed; or why the mean is not adjusted:
            the others are then NaN).
        """
        from manetlab.metrics import interval_of
        from manetlab.stats import percentiles

        adjustment = self.adjustment if self.campaign.adjusted else None
        rows = []
        for point in self.campaign.points:
            for metric in self.wanted(metrics):
                _, values = self.snapshot.runs.values_at(point.number, metric)
                if not values:
                    continue
                interval = interval_of(metric, values, confidence)
                low, median, high = percentiles(values, (5.0, 50.0, 95.0))
                row: Row = {"point": point.number, **point.levels, "metric": metric}
                row |= {"mean": interval.mean, "low": interval.low, "high": interval.high}
                row |= {"median": median, "p5": low, "p95": high, "n": interval.n}
                if adjustment is not None:
                    row |= adjustment.columns_of(point.number, metric, confidence)
                rows.append(row)
        columns = ("point", *self.campaign.factors, "metric", *SUMMARY)
        return run_tables.table(rows, (*columns, *(() if adjustment is None else adjustment.COLUMNS)))

    @cached_property
    def adjustment(self) -> Adjustment:
        """The means that are adjusted for what the movement alone explains, computed when asked for."""
        from manetlab.campaign.adjusting import Adjustment, Draws

        runs, draws = self.snapshot.runs, Draws(self.campaign, self.snapshot.first_hashes)
        values, costs = values_by_point(runs, self.campaign.point_count, list(runs.totals))
        failed = frozenset(point for point, _, _ in self.snapshot.failures)
        return Adjustment(self.campaign, values, costs, failed, draws)

    @cached_property
    def family(self) -> Family | None:
        """What the campaign compares, with the defaults for what it does not say; None if nothing varies."""
        from manetlab.campaign.family import family_of

        return family_of(self.campaign, self.measured)

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """The family of comparisons: one row a pair of alternatives, primary measure and setting.

        Columns: the other factors, ``metric``, ``level`` and ``against`` (the alternatives),
        ``level_mean`` and ``against_mean`` (over the pairs), ``difference`` with ``low`` and ``high``,
        ``ratio`` (of the means) with ``ratio_low`` and ``ratio_high``, ``p_t`` (paired t test),
        ``p_wilcoxon``, ``p_adjusted`` (of ``p_t``, for the family: the one to quote), ``p_equivalent``
        (equivalence test, adjusted; NaN without a margin), ``n`` (pairs), ``verdict``. The
        confidence of the intervals is family-wise: one excludes zero if and only if its ``p_adjusted`` is at
        most 1 − confidence.
        """
        from manetlab.campaign.comparison import family_table

        return family_table(self)

    @cached_property
    def standings(self) -> pd.DataFrame:
        """Every alternative against the best of the others, if the campaign asks which is best; else no row.

        Columns: the other factors, ``metric``, ``level``, ``against`` (the best of the others by its mean),
        ``difference`` from it with ``low`` and ``high``, ``p_t``, ``p_adjusted``, ``p_equivalent``, ``n``,
        ``verdict``. Interval and p-values are those of this pair in `comparisons`; the verdict looks at all.
        """
        from manetlab.campaign.comparison import standings

        return standings(self)

    def asking(self, **changes: Any) -> Results:
        """The same results under another comparison: keys of the campaign's ``comparison`` and their values.

        Raises:
            InputError: A key or a value is not allowed.
        """
        # Which runs there are is decided; to look at them in another way decides it no more.
        fixed = {*changes, "elimination"}
        kept = {key: value for key, value in self.campaign.comparison.items() if key not in fixed}
        asked = {**kept, **{key: value for key, value in changes.items() if value is not None}}
        changed = self.campaign.changed(comparison=asked)
        made = Results(changed, self.replications, self.store, self.snapshot, self._race)
        if self.campaign.adjusted:
            # The comparison decides nothing about means: what is known of them is kept.
            made.__dict__["adjustment"] = self.adjustment
        return made

    def asked_by(self, campaign: Campaign) -> Results:
        """The same results with what a campaign asks of them now: name, question, metrics and comparison.

        What decides which runs there are stays as it is in the store.

        Raises:
            InputError: The comparison does not fit the factors of the results.
        """
        asked = {name: getattr(campaign, name) for name in ("name", "question", "metrics", "comparison")}
        if is_asked(campaign) != is_asked(self.campaign):
            rest = {key: value for key, value in campaign.comparison.items() if key != "elimination"}
            asked["comparison"] = rest
        if all(getattr(self.campaign, name) == value for name, value in asked.items()):
            return self
        changed = self.campaign.changed(**asked)
        made = Results(changed, self.replications, self.store, self.snapshot, self._race)
        if self.campaign.adjusted and campaign.metrics == self.campaign.metrics:
            made.__dict__["adjustment"] = self.adjustment
        return made

    def compare(
        self,
        factor: str,
        a: Label,
        b: Label,
        metric: str | Sequence[str] | None = None,
        confidence: float | None = None,
    ) -> pd.DataFrame:
        """Level ``a`` of a factor against level ``b``, in pairs of the same replication.

        Replications have the same movement and traffic at both levels, so a difference within a pair is the
        factor's. A comparison of the campaign's `family` has the p-values and intervals that it has there.
        Any other is exploratory: its interval holds for itself alone, and its ``p_adjusted`` is NaN.

        Args:
            factor: The factor.
            a: The label of a level.
            b: The label of the level that it is compared with.
            metric: The total, or several; the campaign's own if not given.
            confidence: Of the intervals; the family's if not given.

        Returns:
            The columns of `comparisons`. Combinations without a pair have no row.

        Raises:
            InputError: Unknown factor, level or metric.
        """
        from manetlab.campaign.comparison import compare

        metrics = self.wanted([metric] if isinstance(metric, str) else metric)
        return compare(self, factor, (a, b), metrics, confidence)

    def values_at(self, point: int, metric: str) -> tuple[list[int], list[float]]:
        """The replications of a point that have a value of a metric, and the values."""
        return self.snapshot.runs.values_at(point, metric)

    def run_count(self, point: int) -> int:
        """How many runs of a point have finished."""
        return len(self.snapshot.runs.points[self.snapshot.runs.of_point(point)])

    def values_of(self, metric: str) -> dict[tuple[Label, ...], dict[int, float]]:
        """The values of a metric: by the levels of all factors, then by replication."""
        found = {}
        for point in self.campaign.points:
            replications, values = self.snapshot.runs.values_at(point.number, metric)
            if values:
                found[tuple(point.levels.values())] = dict(zip(replications, values, strict=True))
        return found

    @cached_property
    def measured(self) -> list[str]:
        """The metrics that have a value in some run."""
        return [name for name in known_metrics() if name in self.snapshot.runs.totals]

    def wanted(self, metrics: Sequence[str] | None = None) -> list[str]:
        """The metrics that are asked for, the campaign's own, or else all that some run has.

        Raises:
            InputError: Unknown metric.
        """
        asked = [named(metric) for metric in metrics or ()]
        for metric in asked:
            if metric not in known_metrics():
                raise unknown_metric(metric, known_metrics(), "metrics")
        if chosen := list(dict.fromkeys(asked or self.campaign.metrics)):
            return chosen
        return self.measured

    def export(self, folder: str | Path, formats: Sequence[str] = ("csv", "parquet")) -> list[Path]:
        """Writes all tables into a folder, which is made if it is not there.

        Args:
            folder: The folder: a new one, or one whose files of these names are an earlier export's.
            formats: ``csv``, ``parquet`` or both.

        Returns:
            The files.

        Raises:
            InputError: A format is unknown, the folder cannot be written, or a file in it would be
                overwritten that no export has written.
        """
        from manetlab.campaign.export import export

        return export(self, folder, formats)
