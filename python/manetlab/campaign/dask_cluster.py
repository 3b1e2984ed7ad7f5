"""Runs tasks on a Dask cluster: one that is there, or one made of SLURM's jobs.

A task goes out as data; the files that scenarios name are sent to the cluster once. What comes back is data
too. Tasks travel in batches of about a second's work, because Dask takes some milliseconds for each thing
that it is sent. Dask gives the batches of a worker that goes away to another. The tasks of a batch that takes
down several workers one after the other are sent one by one; one that does it alone is a failed run.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from manetlab.campaign.completion_queue import CompletionQueue
from manetlab.campaign.store import TaskResult
from manetlab.campaign.worker import OtherCode, Work, named_files, packed_file, perform_all
from manetlab.errors import InputError
from manetlab.optional_packages import require

CONNECT_S = 10.0
"""How long to wait for a scheduler to answer, in s."""
LEAVE_S = 2.0
"""How long to wait for a scheduler when its client leaves, in s."""
WORKERS_S = 60.0
"""How long to wait for the first worker of a scheduler that answers, in s."""
TRIES = 5
"""How often a task is handed out again after Dask has lost it, with all workers that knew of it."""
BATCH_S = 1.0
"""How long the runs of a batch should take together, in s of a worker's time."""
MOST_IN_BATCH = 256
"""The most runs of a batch."""
THREADS_S = 2.0
"""How long the number of the cluster's threads is taken to be the same, in s."""


@dataclass(frozen=True)
class _Batch:
    """Tasks that were sent together, for which try they were, and whether alone because a batch died."""

    works: Sequence[Work]
    tries: int
    is_alone: bool = False


class Cluster:
    """The workers of a Dask scheduler.

    Args:
        address: The scheduler's, ``tcp://host:port`` or ``tls://host:port``.

    Raises:
        InputError: It does not answer.
    """

    def __init__(self, address: str) -> None:
        self.name = f"Dask scheduler {address}"
        self._where = address
        self._client = _client(address)
        self._patience_s: float | None = WORKERS_S
        self._begin()

    def _begin(self) -> None:
        self._ended: CompletionQueue[Any] = CompletionQueue()
        self._sent: dict[str, tuple[Any, _Batch]] = {}
        self._files: dict[tuple[Any, str, str], Any] = {}
        self._alone_since: float | None = None
        self._threads, self._counted_at = 0, -THREADS_S
        self._run_s = BATCH_S

    def capacity(self) -> int:
        """Each thread of a worker has one batch and another one waiting."""
        if time.monotonic() - self._counted_at >= THREADS_S:
            self._threads = self._count_threads()
            self._counted_at = time.monotonic()
        return max(2, 2 * self._threads) * self._batch_size()

    def _count_threads(self) -> int:
        """How many threads the workers have.

        Raises:
            InputError: The scheduler is gone.
        """
        try:
            # Not from `scheduler_info`, which tells of five workers at most in some versions.
            return sum(self._client.nthreads().values())
        except (OSError, TimeoutError, RuntimeError) as error:
            raise self._gone(str(error)) from None

    def _batch_size(self) -> int:
        return max(1, min(MOST_IN_BATCH, round(BATCH_S / self._run_s)))

    def submit(self, works: Sequence[Work]) -> None:
        """Takes tasks."""
        size = self._batch_size()
        # Every thread has something to do before one has much.
        size = min(size, max(1, -(-len(works) // max(1, self._threads))))
        for first in range(0, len(works), size):
            self._send(_Batch(works[first : first + size], 1))

    def _send(self, batch: _Batch) -> None:
        files = {file: self._scattered(file) for work in batch.works for file in named_files(work)}
        # Not pure: Dask would take two runs with the same data for one.
        future = self._client.submit(perform_all, batch.works, list(files), list(files.values()), pure=False)
        self._sent[future.key] = (future, batch)
        future.add_done_callback(self._ended.put)

    def _scattered(self, file: tuple[Any, str, str]) -> Any:
        """A file's content on the cluster: sent once, and again if the workers that had it are gone."""
        if file not in self._files or self._files[file].status in ("lost", "cancelled", "error"):
            self._files[file] = self._client.scatter(packed_file(*file), hash=False)
        return self._files[file]

    def finished(self, timeout_s: float) -> list[TaskResult]:
        """What has ended since the last call.

        Raises:
            InputError: The scheduler is gone, has no workers, or has workers that cannot run a task.
        """
        outcomes: list[TaskResult] = []
        deadline = time.monotonic() + timeout_s
        while not outcomes:
            futures = self._ended.take(min(1.0, max(0.0, deadline - time.monotonic())))
            outcomes = [each for future in futures for each in self._outcomes(future)]
            if not futures:
                self._check_alive()
            if time.monotonic() >= deadline:
                break
        return outcomes

    def close(self, stop: bool) -> None:
        """Leaves the cluster; what it has not done yet it need not do."""
        if stop:
            with contextlib.suppress(Exception):
                self._client.cancel([future for future, _ in self._sent.values()], force=True)
        self._client.close(timeout=LEAVE_S)

    def _outcomes(self, future: Any) -> list[TaskResult]:
        from distributed import CancelledError, KilledWorker

        _, batch = self._sent.pop(future.key)
        try:
            outcomes: list[TaskResult] = future.result(timeout=CONNECT_S)
        except KilledWorker as error:
            if not batch.is_alone and len(batch.works) > 1:
                for work in batch.works:
                    self._send(_Batch([work], 1, is_alone=True))
                return []
            found = f"the worker process died at every attempt: {error}"
            return [TaskResult(work.task, error=found) for work in batch.works]
        except OtherCode:
            raise
        except (CancelledError, OSError, TimeoutError) as error:
            # What a run itself meets is part of its outcome: this is the cluster's.
            self._check_alive()
            if batch.tries == TRIES:
                found = f"Dask lost this run {batch.tries} times: {error}"
                return [TaskResult(work.task, error=found) for work in batch.works]
            # Lost with the workers that had them, perhaps.
            self._files.clear()
            self._send(_Batch(batch.works, batch.tries + 1, batch.is_alone))
            return []
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            hint = "is the same version of manetlab installed on the worker?"
            wanted = "workers that can run tasks"
            raise InputError("a worker cannot run a task", self._where, found, wanted, hint) from None
        times = [each.measured["provenance"]["wall_time_s"] for each in outcomes if each.measured is not None]
        if times:
            # The last quarter of what is known: runs of a campaign differ, and come in order of their points.
            mean = sum(times) / len(times)
            self._run_s = max(1e-6, 0.75 * self._run_s + 0.25 * mean)
        return outcomes

    def _gone(self, found: str) -> InputError:
        hint = "earlier results are in the store; start a scheduler and run the same command again"
        return InputError("the scheduler has disappeared", self._where, found, "a running scheduler", hint)

    def _check_alive(self) -> None:
        if self._client.status != "running":
            raise self._gone(f"the connection is {self._client.status}")
        if self._patience_s is None or self._count_threads():
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        if now - self._alone_since > self._patience_s:
            found = f"no worker for {self._patience_s:g} s"
            hint = f"start some: dask worker {self._where}"
            raise InputError("the scheduler has no workers", self._where, found, "one or more workers", hint)


class Slurm(Cluster):
    """Dask workers that are jobs of SLURM.

    Args:
        options: Of `dask_jobqueue.SLURMCluster` (``queue``, ``cores``, ``memory``, ``walltime``, …), and
            ``jobs``, the number of jobs.

    Raises:
        InputError: An option is not allowed, or SLURM does not take the jobs.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.name = self._where = "SLURM"
        # Jobs may wait in SLURM's queue for as long as they like.
        self._patience_s = None
        self._cluster = _slurm_cluster(options)
        self._client = _client(self._cluster)
        self._begin()

    def close(self, stop: bool) -> None:
        """Ends the jobs."""
        super().close(stop)
        self._cluster.close()


def _slurm_cluster(options: Mapping[str, Any]) -> Any:
    import shutil

    require("cluster", "slurm")
    import dask_jobqueue

    hint = "for example --slurm cores=4 --slurm memory=8GB --slurm jobs=10 --slurm queue=short"
    if shutil.which("sbatch") is None:
        raise InputError("SLURM is not available", "slurm", "no sbatch in PATH", "SLURM's commands", hint)
    given = dict(options)
    jobs = given.pop("jobs", 1)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(
            "the number of jobs is not allowed", "slurm: jobs", repr(jobs), "a whole number", hint
        )
    make: Any = vars(dask_jobqueue)["SLURMCluster"]
    try:
        cluster = make(**{"cores": 1, "memory": "2GB", **given, **_private(given)})
        # Always as many: a job that SLURM ends, be it for its time limit, is followed by another.
        cluster.adapt(minimum_jobs=jobs, maximum_jobs=jobs)
    except (TypeError, ValueError, RuntimeError, OSError) as error:
        wanted = "options of dask_jobqueue.SLURMCluster"
        raise InputError(
            "SLURM cannot be used with these options", "slurm", str(error), wanted, hint
        ) from None
    return cluster


def _private(given: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a cluster that we start listen to nobody but us and its own workers.

    A scheduler runs any code that it is sent. Ours is on a login node, which others use too: it speaks TLS,
    and only with those who have a certificate that is made for this cluster and is gone with it. Workers get
    theirs in files that only the user can read, in a folder that all machines share.
    """
    import distributed

    # Untyped where mypy is strict.
    security: Any = distributed.Security
    return {
        "security": security.temporary(),
        "protocol": "tls://",
        "shared_temp_directory": given.get("shared_temp_directory", str(Path.cwd())),
        # Dask has a server of HTTP also without the dashboard: nobody else can reach it.
        "scheduler_options": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    }


def _client(scheduler: Any) -> Any:
    """A client of the scheduler at an address, or of a cluster's."""
    require("cluster", "scheduler")
    import distributed

    # Untyped where mypy is strict.
    connect: Any = distributed.Client
    try:
        if isinstance(scheduler, str):
            _check_certificate(scheduler)
            _knock(scheduler)
        return connect(scheduler, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        found = str(error).splitlines()[0] if str(error) else "no answer"
        hint = "start one with `dask scheduler`, or omit --scheduler to run on this machine"
        wanted = "the address of a running Dask scheduler, tcp://host:port"
        raise InputError("the scheduler cannot be reached", str(scheduler), found, wanted, hint) from None


def _check_certificate(address: str) -> None:
    """Refuses TLS without a certificate: Dask's own client fails with a traceback, twice."""
    import distributed

    # Untyped where mypy is strict.
    security: Any = distributed.Security
    if address.startswith("tls://") and security().get_connection_args("client")["ssl_context"] is None:
        wanted = "a client's certificate in Dask's configuration (distributed.comm.tls)"
        hint = "see On a cluster in `manetlab docs campaigns`"
        raise InputError("TLS is not configured", address, "no certificate", wanted, hint)


def _knock(address: str) -> None:
    """Finds out whether a scheduler is there: Dask's own client retries for ever."""
    place = urlsplit(address)
    if not place.hostname or not place.port:
        raise ValueError("no host and port")
    socket.create_connection((place.hostname, place.port), timeout=CONNECT_S).close()
