"""Reading and writing files, so that every way in which that fails is a clear error."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from manetlab.errors import InputError, ManetlabError

MAX_BYTES = 512 * 2**20
"""Longest file that is read. The largest movement files in use have some ten megabytes."""


HEAD_BYTES = 64 * 2**10
"""How many bytes of a file are looked at to tell what it is."""


def read_bytes(path: Path, kind: str) -> bytes:
    """The content of a file.

    Args:
        path: The file.
        kind: What it should be, for the error: ``movement file``.

    Raises:
        InputError: The file is missing, unreadable, not a regular file, too long or empty.
    """
    return _read(path, kind, MAX_BYTES, None)


def head_of(path: Path, kind: str, most: int = 4 * 2**30) -> bytes:
    """The first bytes of a file that is then read as it streams by, and may therefore be longer.

    Raises:
        InputError: As of `read_bytes`.
    """
    return _read(path, kind, most, HEAD_BYTES)


def _read(path: Path, kind: str, most: int, count: int | None) -> bytes:
    def refused(what: str, found: str, wanted: str, hint: str) -> InputError:
        return InputError(f"the {kind} {what}", str(path), found, wanted, hint)

    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            found = "a directory" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
            raise refused("is not a file", found, "a regular file", "give the file itself")
        if status.st_size > most:
            found, wanted = f"{status.st_size} bytes", f"at most {most} bytes"
            hint = "lines with god or set-dist make up most of a long movement file: they can be removed"
            raise refused("is too large", found, wanted, hint)
        with path.open("rb") as file:
            content = file.read() if count is None else file.read(count)
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


def text_of(path: str) -> str:
    """A path as text that any file can hold; one with bytes that are no text as a URI."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return Path(path).as_uri()
    return path


def printable(path: str | Path) -> str:
    """A path, or what names one, in text that every file can hold: bytes that are no text are replaced."""
    return str(path).encode("utf-8", "replace").decode("utf-8")


def path_of(text: str) -> Path:
    """The path that `text_of` has written."""
    from urllib.parse import unquote_to_bytes

    if text.startswith("file:///"):
        return Path(os.fsdecode(unquote_to_bytes(text.removeprefix("file://"))))
    return Path(text)


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


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """The check that every command and every function makes before it writes: nothing is destroyed.

    Args:
        outputs: What is to be written, by the name of its option; None stands for not asked for.
        inputs: What is read; None stands for not given.

    Raises:
        InputError: An output cannot be written, or takes the place of an input or of another output, be it
            only while it is written.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    read = [path for path in inputs if path is not None]
    for path in given.values():
        check_writable(path)
    check_apart(given, read)
    unfinished = {f"{option}, until it is complete:": beside(path) for option, path in given.items()}
    check_apart(
        {**given, **{option: each for option, each in unfinished.items() if each not in given.values()}}, read
    )


UNFINISHED = ".unfinished"
"""Behind the name of an output until it is complete, if another file has its name."""


def beside(path: Path) -> Path:
    """Where an output is until it is complete, so that what has its name is there until then.

    That is its own place if nothing is there, or a pipe or a device, which keeps nothing, or where no other
    file can be made.
    """
    try:
        if not path.is_file() or not os.access(path.resolve().parent, os.W_OK):
            return path
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path
    return real.with_name(real.name + UNFINISHED)


@contextlib.contextmanager
def completed(outputs: Iterable[Path]) -> Iterator[dict[Path, Path]]:
    """Where outputs are written to; they take the place of what has their names when all are whole.

    Raises:
        KeyboardInterrupt: The work was stopped; it says what is left of the outputs.
        InputError: An output could not be given its name.
    """
    places = {path: beside(path) for path in outputs}
    for path, place in places.items():
        if place != path:
            place.unlink(missing_ok=True)
    try:
        yield places
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_left(places)) from None
    except ManetlabError as error:
        if left := [str(place) for place in places.values() if _keeps(place)]:
            error.hint = "; ".join([*filter(None, [error.hint]), f"a part is in {', '.join(left)}"])
        raise
    for path, place in places.items():
        if place != path:
            try:
                place.replace(path.resolve())
            except OSError as error:
                reason, hint = error.strerror or str(error), f"all of it is in {place}"
                what = "the output cannot be given its name"
                raise InputError(what, str(path), reason, "a place to write", hint) from None


def _keeps(place: Path) -> bool:
    """Does the file of an output that was not completed hold anything? An empty one is removed."""
    try:
        if place.is_file() and not place.stat().st_size:
            place.unlink()
        return place.is_file()
    except OSError:
        return False


def _left(places: Mapping[Path, Path]) -> str:
    """What is there of outputs when the work on them was stopped, in a sentence."""
    told = []
    for path, place in places.items():
        if place.exists() and not place.is_file():
            told.append(f"{path} got a part")
        elif _keeps(place):
            told.append(f"a part is in {place}" + (f", and {path} is as it was" if place != path else ""))
        else:
            told.append(f"{path} is as it was" if path.exists() else f"{path} was not written")
    return "; ".join(told) or "nothing was written"


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
    write_bytes(path, printable(text).encode("utf-8"))


def write_files(contents: Iterable[tuple[Path, bytes]]) -> None:
    """Writes files one after the other, each whole or not at all.

    Raises:
        InputError: One cannot be written; it says which are complete.
    """
    complete: list[Path] = []
    for path, content in contents:
        try:
            write_bytes(path, content)
        except InputError as error:
            if complete:
                error.hint = f"{error.hint}; complete: {', '.join(map(str, complete))}"
            raise
        complete.append(path)


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
        hint = (
            f"{path} is as it was; check the disk"
            if path.exists()
            else f"{path} was not written; check the disk"
        )
        raise InputError(
            "the output cannot be written", str(path), reason, "a place to write", hint
        ) from None
