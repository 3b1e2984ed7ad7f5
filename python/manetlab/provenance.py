"""Which code made a result, on which machine."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import manetlab

DECIDING = (
    "chain_throughput",
    "flows",
    "parameters",
    "records",
    "resolving",
    "routing",
    "scenario",
    "scenario_data",
    "shares",
    "sources",
    "traffic",
    "values",
    "web",
)
"""Python modules that have a part in what a run is; the rest is the compiled core."""


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


@cache
def code_identity() -> str:
    """What must be equal for two results to be of the same code: the version and the commit.

    Of a checkout whose files differ from the commit, a digest of the files that decide a run is added,
    because there the commit says too little.
    """
    made_by = commit()
    text = f"{manetlab.__version__} {made_by or 'without commit'}"
    if made_by is None or not made_by.endswith("-dirty"):
        return text
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    deciding = [*folder.glob("_core*.so"), *(folder / f"{name}.py" for name in DECIDING)]
    for path in sorted(deciding):
        digest.update(path.read_bytes())
    return f"{text} {digest.hexdigest()[:12]}"


def repository() -> Path | None:
    """The root of the checkout that this code runs from, if it does."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / ".git").exists() and (root / "crates" / "py").is_dir() else None
