"""Runs what is missing of a campaign, and keeps each result as it comes."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from manetlab import interrupts, notebook, provenance
from manetlab.campaign import elimination
from manetlab.campaign.plan import Campaign, Task
from manetlab.campaign.stopping import Round, rounds
from manetlab.campaign.store import LEASE_S, Store, TaskResult
from manetlab.campaign.worker import Work, resolve, work_of
from manetlab.errors import InputError, shown
from manetlab.optional_packages import require

if TYPE_CHECKING:
    from manetlab.campaign.results import Results

DEPENDENCIES = ("distributed", "numpy", "pandas", "pyarrow", "scipy")
"""Packages whose versions are kept with the results; a run itself needs none of them."""
COUNT_S = 1.0
"""How often the failed runs are counted while a campaign runs, in s."""
POLL_S = 0.2
"""How often a process looks whether another one has finished its tasks, in s."""


@dataclass(frozen=True)
class Report:
    """How far a campaign is.

    Attributes:
        done: Runs that are in the store, earlier ones included.
        failed: Runs that failed.
        total: Runs that are wanted as far as is known; more may follow with ``until`` or with elimination.
        ran: Runs that this process has made.
        elapsed_s: Real time since this process began, in s.
        replications: Replications of each point that are being made.
    """

    done: int
    failed: int
    total: int
    ran: int
    elapsed_s: float
    replications: int

    @property
    def rate(self) -> float:
        """Runs of this process in a second."""
        return self.ran / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Real time until all is done, in s, if it goes on as before; None if that is not known."""
        left = self.total - self.done - self.failed
        return left / self.rate if self.rate > 0 else None


class Backend(Protocol):
    """What runs tasks."""

    name: str

    def capacity(self) -> int:
        """How many tasks should be under way, waiting ones included."""
        ...

    def submit(self, works: Sequence[Work]) -> None:
        """Takes tasks."""
        ...

    def finished(self, timeout_s: float) -> list[TaskResult]:
        """What has ended since the last call; waits for the first, but no longer than ``timeout_s``."""
        ...

    def close(self, stop: bool) -> None:
        """Ends; what is under way is stopped, or else is not there any more."""
        ...


Progress = Callable[[Report], None]


@interrupts.brought_back()
def run(
    campaign: Campaign,
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
    """Runs what is missing and returns all results; see [`Campaign.run`][manetlab.Campaign.run].

    Raises:
        InputError: The campaign, the store or the scheduler cannot be used.
    """
    from manetlab.campaign.results import Results

    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        hint = "omit it to use all cores"
        place = "the number of jobs is not allowed"
        raise InputError(place, "jobs", shown(jobs), "a whole number, 1 or more", hint)
    if campaign.series_s is not None and store is None:
        hint = 'give the campaign one: run("name.db")'
        wanted = "a store in a file"
        raise InputError("time series need a store", f"{campaign.where}: series_s", "no store", wanted, hint)
    if campaign.series_s is not None:
        require("notebook", f"{campaign.where}: series_s")
    _check_points(campaign, points)
    if shard is not None:
        _check_shard(campaign, shard)
    identity = campaign.identity(campaign.check())
    if scheduler is not None or slurm is not None:
        _check_for_cluster(campaign)
    if progress is None and notebook.is_notebook():
        progress = _bar(campaign.name)
    code = provenance.code_identity()
    # A cluster that is not there is found out before anything is written.
    backend = _backend(jobs, scheduler, slurm)
    stop = True
    try:
        with Store.open(None if store is None else Path(store)) as opened:
            if not allow_other_version:
                opened.check_code(code)
            execution = _Execution(campaign, opened, identity, backend, code, progress, points, shard)
            execution.run(allow_other_version, retry_failed)
            stop = False
            return Results.of(opened, execution.number, campaign)
    finally:
        backend.close(stop)


def _bar(name: str) -> Progress:
    """A bar in a notebook."""
    bar = notebook.Bar(name)
    return lambda report: bar.show(report.done + report.failed, report.total, f"{report.rate:.1f} runs/s")


def _check_points(campaign: Campaign, points: Collection[int] | None) -> None:
    """Checks that the campaign has the points that are to be run."""
    unknown = [point for point in points or () if point not in range(campaign.point_count)]
    wanted = f"numbers from 0 to {campaign.point_count - 1}"
    if unknown:
        raise InputError("the campaign has no such point", "points", shown(unknown[0]), wanted)
    if points is not None and campaign.until is not None:
        hint = "give a number of replications, without until"
        found = f"points, and until = {campaign.until}"
        raise InputError(
            "intervals are looked at over all points", campaign.where, found, "one of them", hint
        )
    if points is not None:
        _check_no_elimination(campaign, "points")


def _check_shard(campaign: Campaign, shard: tuple[int, int]) -> None:
    """Checks that a campaign can be run in that many parts, and that this is one of them."""
    part, parts = shard
    if not 1 <= part <= parts:
        hint = "for example 2/8: the second of eight"
        found = f"{part}/{parts}"
        raise InputError("the shard does not exist", "shard", found, f"a number from 1 to {parts}", hint)
    if campaign.until is not None:
        hint = "give a number of replications, without until"
        found = f"a shard, and until = {campaign.until}"
        raise InputError("intervals are looked at over all runs", campaign.where, found, "one of them", hint)
    _check_no_elimination(campaign, "a shard")


def _check_no_elimination(campaign: Campaign, what: str) -> None:
    """Refuses to eliminate where the results of other alternatives are not known."""
    if elimination.is_asked(campaign):
        hint = "set comparison.elimination = false to make all runs, or run the campaign as a whole"
        found = f"{what}, and comparison.elimination = true"
        raise InputError(
            "alternatives are eliminated by the results of all", campaign.where, found, "one of them", hint
        )


def _check_for_cluster(campaign: Campaign) -> None:
    """Refuses routing protocols in Python: other machines may have another class of that name, or none."""
    for scenario in campaign.first_scenarios():
        if scenario.is_in_python:
            hint = "run it here, without a scheduler, or write the protocol in Rust"
            wanted = "one of the built-in protocols"
            place = f"{campaign.where}: routing"
            raise InputError(
                "a cluster cannot run a protocol in Python", place, f'"{scenario.routing}"', wanted, hint
            )


def _backend(jobs: int | None, scheduler: str | None, slurm: Mapping[str, Any] | None) -> Backend:
    from manetlab.campaign.local import Threads

    if scheduler is None and slurm is None:
        return Threads(jobs)
    where = "scheduler" if scheduler is not None else "slurm"
    if jobs is not None or (scheduler is not None and slurm is not None):
        found = "jobs" if jobs is not None else "slurm"
        hint = "the cluster determines the number of workers"
        raise InputError(
            "these options exclude each other", where, f"{where} and {found}", "only one of them", hint
        )
    from manetlab.campaign import dask_cluster

    return dask_cluster.Cluster(scheduler) if scheduler is not None else dask_cluster.Slurm(slurm or {})


class _Execution:
    """One process's work at a campaign."""

    def __init__(
        self,
        campaign: Campaign,
        store: Store,
        identity: str,
        backend: Backend,
        code: str,
        progress: Progress | None,
        points: Collection[int] | None,
        shard: tuple[int, int] | None,
    ) -> None:
        self.campaign, self.store, self.backend, self.code = campaign, store, backend, code
        self.progress = progress
        self.points = None if points is None else frozenset(points)
        self.shard = shard
        self.number = store.begin(campaign, identity)
        self.under_way: set[Task] = set()
        self.began = self.renewed = time.monotonic()
        self.ran = 0
        self.waits = False
        self.any_code = False
        self.failed, self.failures_counted = 0, -math.inf

    def run(self, any_code: bool, retry_failed: bool) -> None:
        self.any_code = any_code
        session = self.store.open_session(self.number, self.code, self.backend.name, dependencies())
        try:
            if retry_failed:
                self.store.forget_failures(self.number)
            for each in rounds(self.store, self.number, self.campaign):
                self.store.reach(self.number, each.reached)
                self._run_round(each)
        except KeyboardInterrupt:
            # What has ended in the meantime is kept.
            self._exchange(self.backend.finished(0.0), deque())
            raise
        finally:
            self.store.close_session(session)

    def _run_round(self, this: Round) -> None:
        settled, wanted, replications = self.store.settled(self.number), self._wanted(this), this.replications
        pending = deque(task for task in wanted if task not in settled)
        if pending and self.store.has_foreign_runs(self.number):
            self._adopt(pending)
        self._tell(len(wanted), pending, replications)
        while pending or self.under_way:
            self._exchange(self._wait(pending), pending)
            self._tell(len(wanted), pending, replications)

    def _wanted(self, this: Round) -> list[Task]:
        n, ended = this.replications, this.ended
        tasks = (task for task in self.campaign.tasks(n) if task.replication < ended.get(task.point, n))
        wanted = [task for task in tasks if self.points is None or task.point in self.points]
        if self.shard is None:
            return wanted
        # Every part has its share of all points, so that none is left with the long runs alone.
        part, parts = self.shard
        return wanted[part - 1 :: parts]

    def _adopt(self, pending: deque[Task]) -> None:
        """Lets tasks refer to runs that the store has already, of another campaign or another version."""
        has_series = self.campaign.series_s is not None
        for _ in range(len(pending)):
            task = pending.popleft()
            try:
                found = resolve(work_of(self.campaign, task, self.code)).hash
                key = self.store.key_for(found, self.code, self.any_code, has_series)
            except InputError:
                # The run will find the same and put it on record.
                key = None
            if key is None:
                pending.append(task)
                continue
            with self.store.transaction():
                self.store.record(self.number, TaskResult(task, key), self.code, {})

    def _wait(self, pending: deque[Task]) -> list[TaskResult]:
        if self.under_way:
            # With room left, what is pending is claimed by another process, which may free it at any time.
            others = pending and len(self.under_way) < self.backend.capacity()
            return self.backend.finished(POLL_S if others else LEASE_S / 4)
        if pending and self.waits:
            time.sleep(POLL_S)
        return []

    def _exchange(self, outcomes: list[TaskResult], pending: deque[Task]) -> None:
        """Puts results into the store and takes new tasks, in one transaction."""
        files = {outcome.task: self._write_series(outcome) for outcome in outcomes}
        room = max(0, self.backend.capacity() - len(self.under_way) + len(outcomes))
        with self.store.transaction():
            for outcome in outcomes:
                self.store.record(self.number, outcome, self.code, files[outcome.task])
            ours = self.store.claim(self.number, pending, room)
        self.ran += len(outcomes)
        self.failed += sum(bool(outcome.error) for outcome in outcomes)
        self.under_way.difference_update(outcome.task for outcome in outcomes)
        self.under_way.update(ours)
        self.waits = not ours
        self.backend.submit([work_of(self.campaign, task, self.code) for task in ours])
        if time.monotonic() - self.renewed > LEASE_S / 4:
            self.store.renew()
            self.renewed = time.monotonic()

    def _write_series(self, outcome: TaskResult) -> dict[str, tuple[str, int, str]]:
        if not outcome.series or self.store.path is None:
            return {}
        from manetlab.campaign.series import write

        return write(self.store.path, outcome.key, outcome.series)

    def _tell(self, total: int, pending: deque[Task], replications: int) -> None:
        if self.progress is None:
            return
        now, is_last = time.monotonic(), not pending and not self.under_way
        if is_last or now - self.failures_counted > COUNT_S:
            # Other processes' failures, too; in between, our own are added.
            self.failed = self.store.failure_count(self.number, replications, self.points)
            self.failures_counted = now
        done = total - self.failed - len(pending) - len(self.under_way)
        self.progress(Report(done, self.failed, total, self.ran, now - self.began, replications))


@cache
def dependencies() -> dict[str, str]:
    """The versions of the packages that have a part in runs and tables, as far as they are installed."""
    installed = {}
    for name in DEPENDENCIES:
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed
