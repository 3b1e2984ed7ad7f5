"""What a campaign is to run: a base scenario, factors and their levels, replications."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import file_kinds, presets, scenario_fields
from manetlab.campaign import family
from manetlab.campaign.levels import Label, Level, check_apart, check_different, level_of, listed
from manetlab.errors import InputError, shown
from manetlab.files import parse_toml, printable, read_bytes
from manetlab.metrics import MEASURES, named
from manetlab.origin import Origin
from manetlab.parameters import unknown
from manetlab.running import check_series_step
from manetlab.scenario import Scenario
from manetlab.scenario_data import as_plain, assign, long_form, merged

if TYPE_CHECKING:
    from manetlab.campaign.execution import Progress
    from manetlab.campaign.results import Results

MAX_RUNS = 1_000_000
"""Most runs that a campaign may ask for."""
MAX_CHECKED = 10_000
"""Up to this number of points, every point's scenario is built before the first run."""
BESIDE = ("folder", "where", "origin")
"""What a campaign has and its file does not say."""
COLUMNS = frozenset(
    (
        *("point", "replication", "seed", "key", "events", "cpu_time_s", "result_hash", "error", "command"),
        *("flow", "id", "kind", "src", "dst", "src_name", "dst_name", "up_to_s", "end", "layer", "reason"),
        *("packets", "count", "scenario_hash", "code", "platform", "host", "ended", "wall_time_s", "metric"),
        *("mean", "low", "high", "median", "p5", "p95", "n", "gain", "draws", "adjustment", "adjusted_mean"),
        *("adjusted_low", "adjusted_high", "level", "against", "level_mean", "against_mean", "difference"),
        *("ratio", "ratio_low", "ratio_high", "p_t", "p_wilcoxon", "p_adjusted", "p_equivalent", "verdict"),
        *("start_s", "after", "than", "at_least"),
    )
)
"""Columns of other tables but measures of flows: names that no factor can have."""
SERIES_COLUMNS = frozenset(
    (
        *("time_s", "tcp_delivered_bytes", "cbr_delivered_bytes", "routing_packets", "routing_bytes"),
        *("routing_mac_frames", "mac_frames", "mac_bytes", "drops", "cwnd_segments", "ssthresh_segments"),
        *("rto_s", "delivered_messages", "waiting_messages", "adp_window_packets", "adp_tto_s", "lasted_s"),
        *("waiting_mean", "relayed_packets", "relayed_waiting_mean", "flows", "hops_mean", "shared_mean"),
    )
)
"""Columns of time series: no factor of a campaign that keeps them can have these names."""


@dataclass(frozen=True)
class Task:
    """One run that the campaign asks for.

    Attributes:
        point: The number of its point.
        replication: The number of its replication, from 0.
    """

    point: int
    replication: int


@dataclass(frozen=True)
class Point:
    """One combination of levels.

    Attributes:
        number: Its place in the campaign, from 0.
        levels: The label of each factor's level.
        campaign: The campaign.
    """

    number: int
    levels: dict[str, Label]
    campaign: Campaign = field(repr=False, compare=False)

    def scenario(self, replication: int) -> Scenario:
        """The scenario of a replication; its seed is the campaign's first plus ``replication``.

        Raises:
            InputError: Base and levels make no scenario.
        """
        return self.campaign.scenario(self.number, replication)


@dataclass(frozen=True, kw_only=True, repr=False)
class Campaign:
    """A question, and the runs that answer it.

    Replication *r* of every point has the seed ``first_seed`` + *r*, so movement and traffic are the same at
    all levels of a factor that does not change them, and differences can be taken in pairs.

    Attributes:
        base: The fields of the scenario that all points share.
        factors: What varies. A key is a field of the scenario, dotted for a nested one (``tcp.window``), with
            a list of its values; or any name, with a list of ``{"label": …, "fields": {field: value, …}}``.
        name: What the campaign is called.
        question: What it asks, in a sentence.
        replications: The number for each point; with ``until``, the minimum.
        first_seed: The seed of replication 0.
        metrics: The totals that are wanted: what tables show and ``until`` looks at.
        until: Replicate until the half width of each wanted metric's 95 % interval, the one that the results
            show, is at every point at most this share of its mean.
        max_replications: How many of each point at most, with ``until``.
        adjusted: Adjust means for what the movement alone explains of them, and stop by their intervals.
        series_s: Keep time series of every run, with this step in seconds of simulated time.
        comparison: What the results compare: ``factor``, ``kind`` (``best``, ``pairs`` or ``control``),
            ``control``, ``metrics`` (the primary measures), ``margins`` and ``confidence``. See
            the page Campaigns for what each is if it is not given.
        capacity: What `manetlab capacity` and `manetlab.load_capacity.find` ask: ``level``, ``levels``,
            ``limit``, ``most`` and ``confidence``. Runs of the campaign itself do without.
        folder: Where the names of files start from.
        where: What errors name as the campaign's place.
        origin: Where it comes from, and whether that is trusted; only the folder is known if not given.

    Raises:
        InputError: Something is unknown, missing or not allowed, or too much is asked for.

    Examples:
        >>> import manetlab
        >>> transfer = {"kind": "tcp", "src": 0, "dst": 3, "start_s": 0.0}
        >>> base = {"movement": {"chain": {"nodes": 4}}, "traffic": {"flows": [transfer]}}
        >>> campaign = manetlab.Campaign(
        ...     base={**base, "duration_s": 5.0},
        ...     factors={"tcp.sender": ["reno", "cubic"], "routing": ["aodv", "dsr"]},
        ...     replications=3,
        ... )
        >>> campaign
        <Campaign 'campaign': 4 points × 3 replications; tcp.sender: 2 levels, routing: 2 levels>
        >>> campaign.points[3].levels
        {'tcp.sender': 'cubic', 'routing': 'dsr'}
        >>> campaign.scenario(3, 2).seed
        3
    """

    base: Mapping[str, Any]
    factors: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    name: str = "campaign"
    question: str = ""
    replications: int = 10
    first_seed: int = 1
    metrics: Sequence[str] = ()
    until: float | None = None
    max_replications: int = 200
    adjusted: bool = False
    series_s: float | None = None
    comparison: Mapping[str, Any] = field(default_factory=dict)
    capacity: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()
    where: str = "campaign"
    origin: Origin | None = None

    def __repr__(self) -> str:
        """Name, question and size, in a line."""
        asked = f" ({self.question})" if self.question else ""
        most = f" to {self.max_replications}" if self.until is not None else ""
        factors = ", ".join(f"{name}: {len(levels)} levels" for name, levels in self.factors.items())
        size = f"{self.point_count} points × {self.replications}{most} replications"
        return f"<Campaign {self.name!r}{asked}: {size}{f'; {factors}' if factors else ''}>"

    def _repr_html_(self) -> str:
        """The factors with their levels, for notebooks."""
        from manetlab import notebook

        rows = [
            (name, ", ".join(str(level.label) for level in levels)) for name, levels in self.levels.items()
        ]
        return notebook.table(self.question or self.name, rows, ("factor", "levels"), repr(self)[1:-1])

    def __post_init__(self) -> None:
        # Lists and mappings are copied: what the caller does with theirs later is no matter.
        for name in ("base", "factors", "comparison", "capacity"):
            value = getattr(self, name)
            if not isinstance(value, Mapping):
                raise self._refused(name, value, "a table", "see `manetlab docs campaigns`")
        object.__setattr__(self, "base", as_plain(self.base))
        object.__setattr__(self, "comparison", as_plain(self.comparison))
        object.__setattr__(self, "capacity", as_plain(self.capacity))
        if isinstance(self.metrics, str) or not isinstance(self.metrics, Sequence):
            raise self._refused("metrics", self.metrics, "a list of names", '["tcp_throughput_bps"]')
        # A metric that is named twice is asked for once.
        object.__setattr__(self, "metrics", tuple(dict.fromkeys(named(str(name)) for name in self.metrics)))
        object.__setattr__(self, "comparison", family.with_keys(self.comparison))
        self._check_numbers()
        object.__setattr__(
            self,
            "factors",
            {str(key): listed(values, str(key), self.where) for key, values in self.factors.items()},
        )
        self._check_size()
        self._check_names()
        family.check(self.comparison, self, known_metrics())

    @classmethod
    def load(cls, path: str | Path) -> Campaign:
        """A campaign from a TOML file. Names of files within it start from its folder.

        Raises:
            InputError: The file cannot be read or does not hold a campaign.
        """
        path = Path(path)
        content = read_bytes(path, "campaign file")
        try:
            data = parse_toml(content)
        except (ValueError, RecursionError) as error:
            hint = "`manetlab docs campaigns` has examples"
            raise InputError("the campaign file is not TOML", str(path), str(error), "TOML", hint) from None
        return cls.build(data, printable(path), Origin(path.parent, (path,)), path.stem)

    @classmethod
    def build(
        cls,
        data: Mapping[str, Any],
        where: str = "campaign",
        folder: Path | Origin = Path(),
        name: str = "campaign",
    ) -> Campaign:
        """A campaign from a mapping with the keys of a TOML file.

        Args:
            data: The keys and values.
            where: What errors name as their place.
            folder: Where the names of files start from; or all that is known of where it comes from.
            name: What the campaign is called if it does not say so.

        Raises:
            InputError: A key is unknown or missing, or a value is not allowed.
        """
        if not isinstance(data, Mapping):
            wanted = "a mapping from keys to values"
            raise InputError("not a campaign", where, shown(data), wanted, "see `manetlab docs campaigns`")
        file_kinds.refuse_scenario(data, where)
        keys = [each.name for each in fields_of(cls) if each.name not in BESIDE]
        for key in data:
            if key not in keys:
                raise unknown("key of a campaign", str(key), keys, where)
        if "base" not in data:
            wanted = "a table [base] with the fields of a scenario, or the name of a scenario's file"
            hint = "`manetlab docs campaigns` has examples"
            raise InputError("the base scenario is missing", f"{where}: base", "nothing", wanted, hint)
        given, origin = {"name": name, **data}, Origin.of(folder)
        if isinstance(given["base"], str):
            given["base"], origin = _base_of_file(given["base"], origin)
        return cls(**given, where=where, folder=origin.folder, origin=origin)

    def changed(self, **changes: Any) -> Campaign:
        """The same campaign with other values for some of its attributes."""
        data = {each.name: getattr(self, each.name) for each in fields_of(self)}
        if "folder" in changes:
            data["origin"] = None
        for key in changes:
            if key not in data:
                raise unknown("attribute of a campaign", key, data, self.where)
        return Campaign(**{**data, **changes})

    def to_dict(self) -> dict[str, Any]:
        """The campaign as a mapping that `build` takes; absent values are left out."""
        data: dict[str, Any] = {"name": self.name, "question": self.question, "base": dict(self.base)}
        data["factors"] = {key: list(values) for key, values in self.factors.items()}
        data |= {"replications": self.replications, "first_seed": self.first_seed}
        data["metrics"] = list(self.metrics)
        if self.until is not None:
            data |= {"until": self.until, "max_replications": self.max_replications}
        if self.adjusted:
            data["adjusted"] = True
        if self.series_s is not None:
            data["series_s"] = self.series_s
        if self.comparison:
            data["comparison"] = dict(self.comparison)
        if self.capacity:
            data["capacity"] = dict(self.capacity)
        return data

    @cached_property
    def levels(self) -> dict[str, list[Level]]:
        """The levels of each factor."""
        return {name: [level_of(name, value) for value in values] for name, values in self.factors.items()}

    @cached_property
    def place(self) -> str:
        """The folder as an absolute path."""
        return str(self.folder.absolute())

    @cached_property
    def known_origin(self) -> Origin:
        """Where it comes from; if only the folder is known, that as an absolute path."""
        return self.origin or Origin(Path(self.place))

    @property
    def point_count(self) -> int:
        """The number of points, each a combination of levels."""
        return math.prod(len(levels) for levels in self.factors.values())

    @cached_property
    def points(self) -> list[Point]:
        """Every combination of levels; the last factor varies fastest."""
        labels = [[level.label for level in levels] for levels in self.levels.values()]
        return [
            Point(number, dict(zip(self.factors, chosen, strict=True)), self)
            for number, chosen in enumerate(product(*labels))
        ]

    def fields_of(self, point: int, replication: int) -> dict[str, Any]:
        """The fields of the scenario of a point and replication, not yet checked."""
        given = [each for level in self._chosen(point) for each in level.fields.items()]
        # Whatever the order of the levels, a preset goes behind what they set.
        named = {path: value for path, value in given if path == presets.KEY}
        data = presets.expanded({**self.base, **named}, self.where)
        for path, value in given:
            if path != presets.KEY:
                data = assign(data, path, value, self.where)
        movement = data.get("movement")
        if isinstance(movement, Mapping) and "files" in movement:
            data["movement"] = {"number": replication, **movement}
        return {**data, "seed": self.first_seed + replication}

    def place_of(self, point: int) -> str:
        """What errors name as a point's place: the campaign, and the levels."""
        levels = zip(self.factors, self._chosen(point), strict=True)
        return ", ".join([self.where, *(f"{name} = {level.label}" for name, level in levels)])

    def scenario(self, point: int, replication: int) -> Scenario:
        """The scenario of a point and replication.

        Raises:
            InputError: Base and levels make no scenario.
        """
        origin = self.origin or Origin(self.folder)
        return Scenario.build(self.fields_of(point, replication), self.place_of(point), origin)

    def tasks(self, replications: int) -> Iterator[Task]:
        """The runs of that many replications: all points of a replication, then those of the next."""
        for replication in range(replications):
            for point in range(self.point_count):
                yield Task(point, replication)

    def check(self) -> list[Path]:
        """Checks the scenarios of the points, as far as that can be done quickly, and returns their files.

        Each level is resolved once, with the first level of all other factors. The scenarios of the other
        points are built if they are not too many; what is wrong with one beyond that becomes a failed run.

        Raises:
            InputError: A point's scenario cannot be used.
        """
        self._check_storable()
        files: dict[Path, None] = {}
        for scenario in self.first_scenarios():
            scenario.resolve()
            files.update(dict.fromkeys(scenario.files))
        most = self.replications if self.until is None else self.max_replications
        checked = range(self.point_count) if self.point_count <= MAX_CHECKED else self._first_points()
        for point in checked:
            # The last replication is the one for which there may be no file.
            _ = self.scenario(point, most - 1).movement_name
        return list(files)

    def first_scenarios(self) -> Iterator[Scenario]:
        """Scenarios that have every level between them: see `_first_points`."""
        return (self.scenario(point, 0) for point in self._first_points())

    @property
    def inputs(self) -> list[Path]:
        """All files that the campaign comes from or its scenarios read, whose place no output may take.

        Raises:
            InputError: A level makes no scenario.
        """
        return list(dict.fromkeys(path for each in self.first_scenarios() for path in each.inputs))

    def _first_points(self) -> Iterator[int]:
        """The first point, and of every other level the first point that has it."""
        yield 0
        step = 1
        for levels in reversed(self.levels.values()):
            yield from (step * index for index in range(1, len(levels)))
            step *= len(levels)

    @property
    def names_files(self) -> bool:
        """Do scenarios have their movement or traffic from files, whose content is part of the identity?"""
        return any(
            isinstance(source := long_form(key, fields[key]), Mapping)
            and (source.get("file") is not None or source.get("files") is not None)
            for fields in (self.fields_of(point, 0) for point in self._first_points())
            for key in ("movement", "traffic")
            if key in fields
        )

    def identity(self, files: Sequence[Path]) -> str:
        """SHA-256 over what decides what is kept: base, factors, first seed, series, the files' content."""
        contents = {str(path): hashlib.sha256(read_bytes(path, "file")).hexdigest() for path in files}
        levels = {
            name: [[level.label, level.fields] for level in levels] for name, levels in self.levels.items()
        }
        asked = [
            self.base,
            list(levels.items()),
            self.first_seed,
            self.series_s,
            sorted(contents.values()),
        ]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def run(
        self,
        store: str | Path | None = None,
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        slurm: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        allow_other_version: bool = False,
        retry_failed: bool = False,
        points: Collection[int] | None = None,
        shard: tuple[int, int] | None = None,
    ) -> Results:
        """Runs what is missing and returns all results.

        Args:
            store: The file that keeps the results; without it they are kept in memory.
            jobs: Runs at a time; by default the number of cores.
            scheduler: The address of a Dask scheduler that runs them, ``tcp://host:port``.
            slurm: Options of `dask_jobqueue.SLURMCluster`, to run them as jobs of SLURM.
            progress: Called in this thread with a `manetlab.campaign.execution.Report`, now and then. In a
                notebook a bar is shown if it is not given.
            allow_other_version: Use results that another version or commit left in the store.
            retry_failed: Run again what failed before.
            points: The numbers of the points to run now; all if not given. The others can follow later, with
                the same store.
            shard: Run only this part of so many: ``(2, 8)`` is the second of eight. Each part has a store of
                its own, and `manetlab.campaign.merging.merge` makes one of them.

        Raises:
            InputError: The campaign, the store or the scheduler cannot be used.

        Examples:
            A store keeps what was run; asked again for more replications, only these are run.

            >>> import manetlab
            >>> transfer = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.0}
            >>> base = {"duration_s": 2.0, "movement": {"chain": {"nodes": 3}}}
            >>> base["traffic"] = {"flows": [transfer]}
            >>> manetlab.Campaign(base=base, replications=2).run("chain.db")
            <Results of 'campaign': 2 of 2 runs at 1 points>
            >>> results = manetlab.Campaign(base=base, replications=3).run("chain.db")
            >>> results.runs["seed"].tolist()
            [1, 2, 3]
        """
        from manetlab.campaign.execution import run

        return run(
            self,
            store,
            jobs=jobs,
            scheduler=scheduler,
            slurm=slurm,
            progress=progress,
            allow_other_version=allow_other_version,
            retry_failed=retry_failed,
            points=points,
            shard=shard,
        )

    def _chosen(self, point: int) -> list[Level]:
        chosen = []
        for levels in reversed(self.levels.values()):
            point, index = divmod(point, len(levels))
            chosen.append(levels[index])
        return chosen[::-1]

    def _refused(self, key: str, found: object, wanted: str, hint: str) -> InputError:
        return InputError("the value is not allowed", f"{self.where}: {key}", shown(found), wanted, hint)

    def _check_numbers(self) -> None:
        for name in ("name", "question"):
            if not isinstance(getattr(self, name), str):
                raise self._refused(name, getattr(self, name), "text", "put it in quotation marks")
            self._check_printable(name, getattr(self, name))
        for name, least, most in (
            ("replications", 1, MAX_RUNS),
            ("max_replications", 1, MAX_RUNS),
            ("first_seed", 0, 2**64 - 1),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                wanted = f"a whole number from {least} to {most}"
                raise self._refused(name, value, wanted, "a useful interval needs 10 or more replications")
        check_series_step(self.series_s, f"{self.where}: series_s")
        if not isinstance(self.adjusted, bool):
            hint = "true adjusts means for what the movement alone explains of them"
            raise self._refused("adjusted", self.adjusted, "true or false", hint)
        if self.until is None:
            return
        if not _is_number(self.until, 1e-6, 1.0):
            raise self._refused(
                "until", self.until, "a share of the mean, above 0 and at most 1", "0.05 means 5 %"
            )
        if self.replications < 2:
            hint = "an interval needs two replications, a reliable one ten"
            raise self._refused("replications", self.replications, "2 or more, with until", hint)
        if self.max_replications < self.replications:
            wanted = f"at least {self.replications}, the replications that are always made"
            hint = "raise max_replications, or omit until"
            raise self._refused("max_replications", self.max_replications, wanted, hint)
        if not self.metrics:
            hint = 'name them: metrics = ["tcp_throughput_bps"]'
            wanted = "the metrics whose intervals must become that narrow"
            raise self._refused("metrics", [], wanted, hint)

    def _check_printable(self, key: str, text: str) -> None:
        """Refuses characters that a terminal would obey instead of showing them."""
        if any(not letter.isprintable() and letter not in "\n\t" for letter in text):
            wanted = "text without control characters"
            raise self._refused(key, text, wanted, "take out what a terminal does not show")

    def _check_names(self) -> None:
        for metric in self.metrics:
            if metric not in known_metrics():
                raise family.unknown_metric(metric, known_metrics(), f"{self.where}: metrics")
        decided: dict[tuple[str, ...], str] = {}
        for name, levels in self.levels.items():
            place = f"{self.where}: factors.{name}"
            for text in (name, *(str(level.label) for level in levels)):
                self._check_printable(f"factors.{name!r}", text)
            if name in scenario_fields.REPLICATED:
                scenario_fields.check(name, place)
            reserved = COLUMNS | SERIES_COLUMNS if self.series_s else COLUMNS
            if name in reserved or name in known_metrics() or not name:
                hint = "tables already have a column of that name"
                raise InputError("this name is reserved", place, f'"{name}"', "another name", hint)
            check_different([level.label for level in levels], place)
            set_here = set()
            for level in levels:
                for path, value in level.fields.items():
                    scenario_fields.check(path, place)
                    set_here.update(scenario_fields.leaves(path, value))
            check_apart(set_here, decided, place)
            decided.update(dict.fromkeys(set_here, name))
        for name in scenario_fields.REPLICATED:
            if name in self.base:
                scenario_fields.check(name, f"{self.where}: base")

    def _check_storable(self) -> None:
        """Refuses what JSON cannot say, be it in a field of the base that every level replaces."""
        try:
            json.dumps(self.to_dict())
        except (TypeError, ValueError) as error:
            wanted = "text, numbers, true, false, and lists and tables of these"
            hint = "a store keeps the campaign beside its results"
            raise InputError("the campaign cannot be stored", self.where, str(error), wanted, hint) from None

    def _check_size(self) -> None:
        for key, values in self.factors.items():
            if not values:
                hint = "give it values, or remove the factor"
                raise InputError(
                    "a factor has no levels",
                    f"{self.where}: factors.{key}",
                    "none",
                    "one or more levels",
                    hint,
                )
        if (runs := self.point_count * self.replications) > MAX_RUNS:
            sizes = " × ".join(str(len(values)) for values in self.factors.values())
            found = f"{sizes} combinations × {self.replications} replications = {runs:.4g} runs"
            hint = "vary fewer factors at a time, or use fewer levels of each"
            raise InputError("the campaign is too large", self.where, found, f"at most {MAX_RUNS} runs", hint)
        last = self.first_seed + max(self.replications, self.max_replications if self.until else 0) - 1
        if last >= 2**64:
            raise self._refused(
                "first_seed", self.first_seed, "seeds below 2⁶⁴", "choose a smaller first_seed"
            )


def _is_number(value: object, least: float, most: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and least <= value <= most


def _base_of_file(name: str, origin: Origin) -> tuple[dict[str, Any], Origin]:
    """The fields of a scenario's file, whose own file names are made to start from the campaign's folder."""
    scenario = Scenario.load(origin.path(name))
    data = {key: value for key, value in scenario.to_dict().items() if key not in scenario_fields.REPLICATED}
    for key in ("movement", "traffic"):
        if (file := data[key].get("file")) is not None:
            data = merged(data, {key: {"file": str(Path(name).parent / file)}})
    return data, origin.with_sources(*scenario.origin.sources)


def known_metrics() -> tuple[str, ...]:
    """The names of all totals."""
    return tuple(MEASURES)
