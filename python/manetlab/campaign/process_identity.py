"""Which process has claimed a task, and whether it is still there."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def current() -> str:
    """This process: host, number and start."""
    return f"{platform.node()} {os.getpid()} {_start_of(os.getpid())}"


def has_ended(identity: str) -> bool:
    """Is the process that made a claim known to have ended?"""
    host, pid, started = identity.rsplit(" ", 2)
    return host == platform.node() and _start_of(int(pid)) != started


def _start_of(pid: int) -> str:
    """When a process started, in ticks since boot; "-" if it has ended, or the system does not say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "-"
    # The name in the second field may hold spaces and parentheses.
    state, *others = stat.rpartition(")")[2].split()
    return "-" if state in "ZX" else others[18]
