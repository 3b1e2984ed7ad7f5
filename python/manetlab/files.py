"""Reading and writing files, so that every way in which that fails is a clear error."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from manetlab.errors import InputError

MAX_BYTES = 512 * 2**20
"""Longest file that is read. The largest movement files in use have some ten megabytes."""


def read_bytes(path: Path, kind: str) -> bytes:
    """The content of a file.

    Args:
        path: The file.
        kind: What it should be, for the error: ``movement file``.

    Raises:
        InputError: The file is missing, unreadable, not a regular file, too long or empty.
    """

    def refused(what: str, found: str, wanted: str, hint: str) -> InputError:
        return InputError(f"the {kind} {what}", str(path), found, wanted, hint)

    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            found = "a directory" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
            raise refused("is not a file", found, "a regular file", "give the file itself")
        if status.st_size > MAX_BYTES:
            found, wanted = f"{status.st_size} bytes", f"at most {MAX_BYTES} bytes"
            hint = "lines with god or set-dist make up most of a long movement file: they can be removed"
            raise refused("is too large", found, wanted, hint)
        content = path.read_bytes()
    except FileNotFoundError:
        raise refused("does not exist", "no such file", "a file", "check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refused(
            "cannot be read", reason, "a readable file", "check the path and its permissions"
        ) from None
    if not content:
        raise refused("is empty", "0 bytes", f"a {kind}", "was it written completely?")
    return content


LONGEST_KEY = 100
"""The most parts of a key in TOML; Python's reader takes time and memory in proportion to their square."""

_LONG_KEY = re.compile(
    rf"""^[ \t]*\[{{0,2}}[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{LONGEST_KEY}}}""",
    re.MULTILINE,
)


def parse_toml(content: bytes) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        ValueError: It is not TOML in UTF-8, or has a key of more than `LONGEST_KEY` parts.
        RecursionError: Its lists or tables are nested too deeply.
    """
    import tomllib

    text = content.decode("utf-8")
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise ValueError(f"a key of more than {LONGEST_KEY} parts (at line {line})")
    return tomllib.loads(text)


def check_writable(path: Path) -> None:
    """Checks, before the work is done, that a file can be written.

    Raises:
        InputError: Its directory is missing or not writable, or it is a directory itself.
    """
    parent = path.absolute().parent
    what = "the output cannot be written"
    if path.is_dir():
        raise InputError(what, str(path), "a directory", "a file name", f"for example {path / 'out'}")
    if not parent.is_dir():
        raise InputError(what, str(path), f"no directory {parent}", "a directory", f"mkdir -p {parent}")
    if not os.access(path if path.exists() else parent, os.W_OK):
        raise InputError(what, str(path), "permission denied", "a place to write", "choose another directory")


def check_apart(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Checks, before the work is done, that no output takes the place of an input or of another output.

    Args:
        outputs: What is to be written, by the name of its option; None stands for not asked for.
        inputs: What is read; None stands for not given.

    Raises:
        InputError: Two of them are the same file, be it by another path or a link.
    """
    taken = [(path, "is an input of this command") for path in inputs if path is not None]
    for option, path in outputs.items():
        if path is None:
            continue
        for other, why in taken:
            if _is_same(path, other):
                what, found = "the output would overwrite another file", f"{other}, which {why}"
                raise InputError(what, f"{option} {path}", found, "a separate file", "choose another name")
        taken.append((path, f"{option} writes"))


def _is_same(path: Path, other: Path) -> bool:
    try:
        if path.exists() and other.exists():
            # Devices and pipes keep nothing that could be overwritten.
            return path.is_file() and path.samefile(other)
        return path.resolve() == other.resolve()
    except (OSError, RuntimeError, ValueError):
        # What cannot be looked at cannot be read or written either, which is told where that is tried.
        return False


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all; a device or pipe is written to as it is.

    Raises:
        InputError: It cannot be written.
    """
    write_bytes(path, text.encode("utf-8"))


def for_spreadsheet(cell: object) -> object:
    """A cell of a CSV file as a spreadsheet may read it: text that would be a formula gets an apostrophe."""
    is_formula = isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{cell}" if is_formula else cell


def write_bytes(path: Path, content: bytes) -> None:
    """Like `write_text`, of bytes."""
    import tempfile

    check_writable(path)
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "nothing was written; check the disk"
        raise InputError(
            "the output cannot be written", str(path), reason, "a place to write", hint
        ) from None
