"""What has ended, as threads and clusters report it: put in from anywhere, taken out by one."""

from __future__ import annotations

import queue
from typing import Generic, TypeVar

T = TypeVar("T")


class CompletionQueue(Generic[T]):
    """A queue of what has ended."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[T] = queue.SimpleQueue()

    def put(self, item: T) -> None:
        """Something has ended."""
        self._queue.put(item)

    def take(self, timeout_s: float) -> list[T]:
        """All that has ended since the last call.

        Args:
            timeout_s: How long to wait for the first, in s; not at all if 0.
        """
        items: list[T] = []
        try:
            items.append(self._queue.get(timeout=timeout_s) if timeout_s else self._queue.get_nowait())
            while True:
                items.append(self._queue.get_nowait())
        except queue.Empty:
            return items
