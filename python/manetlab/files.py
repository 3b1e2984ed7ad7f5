"""Reading and writing files, so that every way in which that fails is a clear error."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

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
    place = str(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"the {kind} is a directory", place, "a directory", "a file")
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"the {kind} is not a regular file", place, "a device, pipe or socket", "a file")
        if status.st_size > MAX_BYTES:
            raise InputError(
                f"the {kind} is too long",
                place,
                f"{status.st_size} bytes",
                f"at most {MAX_BYTES} bytes",
                "lines with god or set-dist are the bulk of long movement files: they can be removed",
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"the {kind} does not exist", place, "no such file", "a file") from None
    except PermissionError:
        raise InputError(
            f"the {kind} cannot be read", place, "permission denied", "a readable file"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the {kind} cannot be read", place, str(error), "a readable file") from None
    if not content:
        raise InputError(f"the {kind} is empty", place, "0 bytes", f"a {kind}")
    return content


def check_writable(path: Path) -> None:
    """Checks, before the work is done, that a file can be written.

    Raises:
        InputError: Its directory is missing or not writable, or it is a directory itself.
    """
    parent = path.absolute().parent
    if path.exists() and not path.is_dir() and os.access(path, os.W_OK):
        return
    if path.is_dir():
        raise InputError("the output is a directory", str(path), "a directory", "a file name")
    if not parent.is_dir():
        raise InputError(
            "the output's directory does not exist", str(path), f"no directory {parent}", "a directory"
        )
    if not os.access(parent, os.W_OK):
        raise InputError(
            "the output cannot be written", str(path), "permission denied", "a writable directory"
        )


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all; a device or pipe is written to as it is.

    Raises:
        InputError: It cannot be written.
    """
    check_writable(path)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError("the output cannot be written", str(path), str(error), "a writable file") from None
