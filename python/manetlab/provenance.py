"""Which code made a result, on which machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import manetlab

SOURCES = ("*.py", "*.toml")
"""The files of the Python package that may change a result."""

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
    import subprocess

    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


@cache
def code_identity() -> str:
    """What must be equal for two results to be of the same code.

    In a checkout without changes these are the version and the commit, which say all of it. Anywhere else the
    commit says too little, and `source_digest` is added.
    """
    made_by = commit()
    text = f"{manetlab.__version__} {made_by or 'without commit'}"
    is_clean = repository() is not None and made_by is not None and not made_by.endswith("-dirty")
    return text if is_clean else f"{text} {source_digest()}"


@cache
def source_digest() -> str:
    """A digest of all sources that may change a result, the same in every checkout and package of them."""
    from manetlab import _core

    return digest_of(_core.modules(), Path(__file__).parent)


def digest_of(modules: Iterable[tuple[str, str]], package: Path) -> str:
    """The digest of sources.

    All of the Python package counts, not only what a run is made of: no list of modules has to be right then.

    Args:
        modules: The modules in Rust, each with the digest that the extension knows of it; two builds of the
            same sources have the same, whatever compiler and machine made them.
        package: The folder of the Python package, with its tables.
    """
    import hashlib

    digest = hashlib.sha256(json.dumps(sorted(modules)).encode())
    for path in sorted(each for end in SOURCES for each in package.rglob(end)):
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def hash_form() -> str:
    """The form of result hashes: hashes of another form cannot be compared with those of this code."""
    from manetlab import _core

    # An extension that does not say it is from before there was another.
    return str(getattr(_core, "HASH_FORM", "manetlab-measures 1"))


def _commit_of_package() -> str | None:
    """The commit that `make wheel` wrote into the package, if it was made by that."""
    try:
        made = json.loads((Path(__file__).parent / BUILD).read_text(encoding="utf-8"))
        found = made["commit"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) and found else None


def repository() -> Path | None:
    """The root of the checkout that this code runs from, if it does."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / ".git").exists() and (root / "crates" / "py").is_dir() else None
