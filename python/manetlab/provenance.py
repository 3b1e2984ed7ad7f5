"""Which code made a result, on which machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import manetlab

DECIDING = (
    "alone",
    "chain_throughput",
    "flows",
    "parameters",
    "radio_units",
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

BUILD = "_build.json"
"""The file in which a package says what it was made of."""


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

    Of an installed package it is the commit that the package was made of. None if that is not known.
    """
    root = repository()
    if root is None:
        return _commit_of_package()
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


@cache
def code_identity() -> str:
    """What must be equal for two results to be of the same code: the version and the commit.

    Where the commit says too little, a digest is added: in a checkout whose files differ from the commit that
    of the files that decide a run, in an installed package that of the sources that decide it.
    """
    made_by = commit()
    text = f"{manetlab.__version__} {made_by or 'without commit'}"
    if repository() is None:
        return f"{text} {_digest_of_sources()}"
    if made_by is None or not made_by.endswith("-dirty"):
        return text
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    deciding = [*folder.glob("_core*.so"), *(folder / f"{name}.py" for name in DECIDING)]
    for path in sorted(deciding):
        digest.update(path.read_bytes())
    return f"{text} {digest.hexdigest()[:12]}"


def _commit_of_package() -> str | None:
    """The commit that `make wheel` wrote into the package, if it was made by that."""
    try:
        made = json.loads((Path(__file__).parent / BUILD).read_text(encoding="utf-8"))
        found = made["commit"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) and found else None


def _digest_of_sources() -> str:
    """A digest of what the extension was compiled from and of the Python modules that decide a run.

    Two builds of the same sources have the same, whatever compiler and machine made them.
    """
    from manetlab import _core

    digest = hashlib.sha256(json.dumps(_core.modules()).encode())
    for name in DECIDING:
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return digest.hexdigest()[:12]


def repository() -> Path | None:
    """The root of the checkout that this code runs from, if it does."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / ".git").exists() and (root / "crates" / "py").is_dir() else None
