"""Reading and writing files, so that every way in which that fails is a clear error."""

from __future__ import annotations

import os
import stat
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

    def refused(what: str, found: str, wanted: str, hint: str) -> InputError:
        return InputError(f"the {kind} {what}", str(path), found, wanted, hint)

    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            found = "a directory" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
            raise refused("is not a file", found, "a regular file", "name the file itself")
        if status.st_size > MAX_BYTES:
            found, wanted = f"{status.st_size} bytes", f"at most {MAX_BYTES} bytes"
            hint = "lines with god or set-dist are the bulk of long movement files: they can be removed"
            raise refused("is too long", found, wanted, hint)
        content = path.read_bytes()
    except FileNotFoundError:
        raise refused("does not exist", "no such file", "a file", "check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refused(
            "cannot be read", reason, "a readable file", "check the path and its permissions"
        ) from None
    if not content:
        raise refused("is empty", "0 bytes", f"a {kind}", "was it written to the end?")
    return content


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


def write_text(path: Path, text: str) -> None:
    """Writes a file whole or not at all; a device or pipe is written to as it is.

    Raises:
        InputError: It cannot be written.
    """
    import tempfile

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
        reason = error.strerror or str(error)
        hint = "nothing was written; check the disk"
        raise InputError(
            "the output cannot be written", str(path), reason, "a place to write", hint
        ) from None
