"""Runs tasks with threads of this process, one a core: a run holds no lock of the interpreter."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from manetlab import _core
from manetlab.campaign.completion_queue import CompletionQueue
from manetlab.campaign.store import TaskResult
from manetlab.campaign.worker import Work, perform
from manetlab.running import available_cores

TOGETHER_S = 0.01
"""Results of short runs that end within this time, in s, are stored together."""


class Threads:
    """Threads of this process.

    Args:
        jobs: How many; by default the number of cores.
    """

    def __init__(self, jobs: int | None) -> None:
        self.jobs = jobs or available_cores()
        self.name = f"{self.jobs} threads"
        self._pool = ThreadPoolExecutor(self.jobs)
        self._lately = 0
        self._ended: CompletionQueue[Future[TaskResult]] = CompletionQueue()

    def capacity(self) -> int:
        """Some tasks wait, so that no thread is idle while results are stored; more if runs are short."""
        return 2 * self.jobs + min(2 * self._lately, 64 * self.jobs)

    def submit(self, works: Sequence[Work]) -> None:
        """Takes tasks."""
        for work in works:
            self._pool.submit(perform, work).add_done_callback(self._ended.put)

    def finished(self, timeout_s: float) -> list[TaskResult]:
        """What has ended since the last call."""
        futures = self._ended.take(timeout_s)
        if futures and self._lately > self.jobs:
            # Runs are short, and others wait behind them: a transaction for each would take as long as a run.
            time.sleep(TOGETHER_S)
            futures += self._ended.take(0.0)
        self._lately = len(futures)
        return [future.result() for future in futures]

    def close(self, stop: bool) -> None:
        """Ends the threads; the runs of all of them stop if there are any."""
        if stop:
            _core.stop(True)
        self._pool.shutdown(wait=True, cancel_futures=True)
        if stop:
            _core.stop(False)
