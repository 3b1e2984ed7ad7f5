"""Which code made a result, on which machine."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import manetlab


@cache
def of_code() -> dict[str, Any]:
    """Version, commit, platform and Python's version."""
    machine = os.uname()
    return {
        "version": manetlab.__version__,
        "commit": commit(),
        # What `platform` says takes longer to find out than a short run.
        "platform": "-".join((machine.sysname, machine.release, machine.machine)),
        "python": ".".join(map(str, sys.version_info[:3])),
    }


@cache
def commit() -> str | None:
    """The commit of the checkout that this code runs from, with ``-dirty`` if files differ from it.

    None if it was installed from a package or git is not there.
    """
    root = repository()
    if root is None:
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def repository() -> Path | None:
    """The root of the checkout that this code runs from, if it does."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / ".git").exists() and (root / "crates" / "py").is_dir() else None
