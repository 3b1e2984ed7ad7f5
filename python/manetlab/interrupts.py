"""Ctrl-C that Python drops in a callback is brought back after it.

Python's handler of Ctrl-C runs wherever the main thread just is. If that is a callback whose exceptions
cannot be passed on, such as that of a weak reference or the end of an object, Python prints the exception and
goes on as if nothing had happened.
"""

from __future__ import annotations

import _thread
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PAUSE_S = 0.01
"""How long after Python has dropped Ctrl-C it is brought back, in s."""


def bring_back() -> None:
    """Brings every Ctrl-C back that Python drops from now on: for a program of our own."""
    told = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Not here: it would be raised in this function, and be dropped once more.
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            told(unraisable)

    sys.unraisablehook = hook


@contextmanager
def brought_back() -> Iterator[None]:
    """The same as long as this lasts: for long work in a program of somebody else.

    Other threads than the main one never see Ctrl-C, and leave everything as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook
    bring_back()
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt_soon() -> None:
    time.sleep(PAUSE_S)
    _thread.interrupt_main()
