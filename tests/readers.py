"""What a reader does with anything: it reads it, or it raises manetlab's own error.

Each target takes bytes, which decide what is changed in something valid: values of scenarios, campaigns and
sessions, lines of traces, bytes and rows of stores. Whatever is read must be read again from what it is
written as; a damaged store must be refused or be read as it was.
"""

from __future__ import annotations

import contextlib
import copy
import datetime
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from manetlab import Campaign, InputError, Results, Scenario, flows, web
from manetlab.campaign.series import folder_of

ROOT = Path(__file__).resolve().parents[1]
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 100_001, 2**31, 2**63, 2**64, -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
    *("", "x", "aodv", "tcp", "reno", "\x00", "\x1b[2J", "é" * 400, "../../x", "/dev/zero", "python:no.Such"),
    *([], [0], [[]], [1.5, "x"], [None], {}, {"": {}}, {"nodes": 2}, [{}], [[0, 1], [1, 2]]),
    *(datetime.datetime(2026, 1, 1), datetime.time(1), b"bytes", (1, 2)),
)
"""Values that stand where others are wanted."""


class Input:
    """Bytes as decisions; zeros follow the last."""

    def __init__(self, data: bytes) -> None:
        self._bytes: Iterator[int] = iter(data)

    def byte(self) -> int:
        """The next byte."""
        return next(self._bytes, 0)

    def below(self, n: int) -> int:
        """A number from 0 to ``n`` - 1."""
        return (self.byte() << 16 | self.byte() << 8 | self.byte()) % n if n > 256 else self.byte() % n

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of them."""
        return choices[self.below(len(choices))]

    def rest(self) -> bytes:
        """All that is left."""
        return bytes(self._bytes)


@cache
def _folder() -> Path:
    """A place for files, in memory where there is one."""
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="manetlab-fuzz-", dir=shared if shared.is_dir() else None))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place within a value: a table or list and a key or index."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        of = waiting.pop()
        items = of.items() if isinstance(of, dict) else enumerate(of) if isinstance(of, list) else ()
        for key, item in items:
            found.append((of, key))
            waiting.append(item)
    return found


def _changed(valid: Any, given: Input) -> Any:
    """A valid value with one to four changes."""
    value = copy.deepcopy(valid)
    for _ in range(1 + given.below(4)):
        places = _places(value)
        if not places:
            return given.pick(ODD)
        of, key = given.pick(places)
        match given.below(6):
            case 0:
                del of[key]
            case 1 | 2:
                of[key] = copy.deepcopy(given.pick(ODD))
            case 3:
                other, place = given.pick(places)
                with contextlib.suppress(LookupError):
                    of[key] = copy.deepcopy(other[place])
            case 4:
                new = given.pick([*(key for _, key in places if isinstance(key, str)), "", "x" * 300, "a.b"])
                if isinstance(of, dict):
                    of[new] = of.pop(key)
                else:
                    of.insert(key, copy.deepcopy(of[key]))
            case _:
                if isinstance(of[key], bool | int | float):
                    of[key] = of[key] * given.pick([-1, 2, 0.5, 1e3, 1e-9]) + given.pick([0, 1, 0.1])
                elif isinstance(of[key], str):
                    of[key] = of[key][: given.below(256)] + chr(given.below(0xD7FF))
    return value


def _edited(valid: bytes, given: Input) -> bytes:
    """Valid bytes with one to eight places overwritten, cut out, repeated or replaced."""
    content = bytearray(valid)
    for _ in range(1 + given.below(8)):
        if not content:
            break
        at = given.below(len(content))
        match given.below(5):
            case 0:
                content[at] ^= 1 << given.below(8)
            case 1:
                content[at] = given.byte()
            case 2:
                del content[at : at + 1 + given.below(64)]
            case 3:
                content[at:at] = content[at : at + 1 + given.below(256)]
            case _:
                content[at:at] = given.pick(
                    [b"\x00", b"\xff", b"\n", b'"', b"[", b"1e999", b"-", b"{", b"'''", b"."]
                )
    return bytes(content)


@cache
def _tomls(kind: str) -> list[tuple[bytes, Any]]:
    """Valid scenarios or campaigns: as bytes and as tables."""
    import tomllib

    files = sorted((ROOT / "fuzz" / "seeds" / kind).glob("*.toml"))
    return [(file.read_bytes(), tomllib.loads(file.read_text())) for file in files]


def _toml(kind: str, given: Input) -> bytes | Any:
    """A file's bytes, or what a file could say, or what only Python can say."""
    content, table = given.pick(_tomls(kind))
    match given.below(4):
        case 0:
            return _edited(content, given)
        case 1:
            changed = _changed(table, given)
            with contextlib.suppress(TypeError, ValueError, AttributeError):
                return tomli_w.dumps(changed).encode("utf-8", "surrogatepass")
            return changed
        case _:
            return _changed(table, given)


T = TypeVar("T", Scenario, Campaign)


def _read(reader: type[T], found: bytes | Any) -> T:
    """What a reader makes of a file with these bytes, or of this table from Python."""
    if not isinstance(found, bytes):
        return reader.build(found, "fuzz", _folder())
    path = _folder() / "given.toml"
    path.write_bytes(found)
    return reader.load(path)


def scenario(data: bytes) -> None:
    """A scenario's TOML, or its table from Python."""
    read = _read(Scenario, _toml("scenario", Input(data)))
    # NaN, which no field takes, would differ from itself.
    assert Scenario.build(read.to_dict(), "fuzz", _folder()).to_dict() == read.to_dict()


def campaign(data: bytes) -> None:
    """A campaign's TOML, or its table from Python."""
    read = _read(Campaign, _toml("campaign", Input(data)))
    if read.point_count <= 100:
        assert len(read.points) == read.point_count
        read.points[-1].scenario(0)
    try:
        text = json.dumps(read.to_dict())
    except TypeError:
        # What only TOML or Python can say, a time for example, is refused with the scenario that it is in.
        with contextlib.suppress(InputError):
            read.check()
            raise AssertionError("a campaign that no store can keep") from None
        return
    assert json.loads(
        json.dumps(Campaign.build(json.loads(text), "fuzz", _folder()).to_dict())
    ) == json.loads(text)


@cache
def _seed(kind: str, name: str) -> bytes:
    return (ROOT / "fuzz" / "seeds" / kind / name).read_bytes()


def sessions(data: bytes) -> None:
    """A file of Web sessions: what is read is written and read again unchanged."""
    given = Input(data)
    content = _seed("sessions", "two.json")
    if given.below(2):
        changed = _changed(json.loads(content), given)
        with contextlib.suppress(TypeError, ValueError):
            content = json.dumps(changed).encode()
    else:
        content = _edited(content, given)
    path = _folder() / "w.json"
    path.write_bytes(content)
    read = web.read(path)
    text = web.text(read)
    path.write_text(text)
    again = web.read(path)
    assert again == read
    assert web.text(again) == text


def trace(data: bytes) -> None:
    """A trace of packets in CSV."""
    path = _folder() / "t.csv"
    path.write_bytes(_edited(_seed("trace", "four.csv"), Input(data)))
    packets = flows.read_trace(path)
    times = [time_s for time_s, _ in packets]
    assert times == sorted(times)
    assert all(0 <= time_s <= 1e6 and 1 <= size <= 65_507 for time_s, size in packets)


@cache
def _store() -> tuple[bytes, str]:
    """A valid store, with its time series beside the place where copies are read, and what it says."""
    whole, copied = _folder() / "whole.db", _folder() / "s.db"
    base = {
        "movement": {"chain": {"nodes": 2}},
        "traffic": {"random": {"tcp": 1, "cbr": 0}},
        "duration_s": 0.2,
    }
    asked = {"name": "fuzz", "base": base, "factors": {"tcp": ["reno", "vegas"]}, "replications": 2}
    Campaign(**asked, series_s=0.1).run(whole, jobs=1)
    shutil.copytree(folder_of(whole), folder_of(copied))
    # Everything into one file.
    with sqlite3.connect(whole) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    db.close()
    content = whole.read_bytes()
    copied.write_bytes(content)
    return content, _said(copied)


def _said(path: Path) -> str:
    """All that a store says, as text."""
    results = Results.load(path)
    raw = results._raw
    series = [results.series(name).to_csv() for name in results.series_names]
    ended = [{**session, "ended": None} for session in raw.sessions]
    return repr((results.campaign.to_dict(), raw.runs, raw.series, ended, series))


def _columns(db: sqlite3.Connection) -> list[tuple[str, str]]:
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]


def _update(path: Path, given: Input) -> None:
    """Changes a value of a row, or removes or doubles one, as another program could."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        table, column = given.pick(_columns(db))
        db.execute("PRAGMA foreign_keys = OFF")
        db.text_factory = bytes
        rows = db.execute(f"SELECT {column} FROM {table}").fetchall()
        if not rows:
            return
        [old] = given.pick(rows)
        match given.below(4):
            case 0:
                new = given.pick([None, 0, -1, 2**62, 1.5, "", "x", b"\xff\x00", "[]", "{}", "null", "1e999"])
            case 1 if isinstance(old, bytes):
                new = _edited(old, given).decode("utf-8", "replace")
            case 2 if isinstance(old, bytes):
                new = _edited(old, given)
            case _:
                new = given.pick(rows)[0]
                new = new.decode("utf-8", "replace") if isinstance(new, bytes) else new
        with contextlib.suppress(sqlite3.Error):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (new, old))


def store(data: bytes) -> None:
    """A damaged or changed store: refused, or read as it was."""
    content, wanted = _store()
    given = Input(data)
    path = _folder() / "s.db"
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    if given.below(2):
        path.write_bytes(content)
        _update(path, given)
    else:
        path.write_bytes(_flipped(content, given))
    said = _said(path)
    assert said == wanted or _has_others(path), "it was read as something else"


def _has_others(path: Path) -> bool:
    """Does the store count other runs than it did, each with its own values?

    How many replications count, which runs there are and which of them failed is what a campaign changes all
    the time: the store has no digest over it.
    """
    results = Results.load(path)
    runs, known = results._raw.runs, _known_runs()
    return len(runs) != len(known) and all(repr(run) in known for run in runs)


@cache
def _known_runs() -> frozenset[str]:
    path = _folder() / "known.db"
    path.write_bytes(_store()[0])
    return frozenset(repr(run) for run in Results.load(path)._raw.runs)


def _flipped(content: bytes, given: Input) -> bytes:
    """A file with bits flipped, ranges zeroed, pages exchanged, or its end missing."""
    damaged = bytearray(content)
    for _ in range(1 + given.below(4)):
        at = given.below(max(1, len(damaged)))
        match given.below(8):
            case 0:
                del damaged[at:]
            case 1:
                damaged[at : at + 512] = bytes(len(damaged[at : at + 512]))
            case 2:
                pages = len(damaged) // 4096
                if pages > 1:
                    one, other = (4096 * given.below(pages) for _ in range(2))
                    kept = bytes(damaged[one : one + 4096])
                    damaged[one : one + 4096] = damaged[other : other + 4096]
                    damaged[other : other + 4096] = kept
            case _:
                if at < len(damaged):
                    damaged[at] ^= 1 << given.below(8)
    return bytes(damaged)


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (scenario, campaign, sessions, trace, store)
}
"""All targets by name."""


def accepts(target: Callable[[bytes], None], data: bytes) -> bool:
    """Gives bytes to a target; False if what they made was refused with manetlab's own error."""
    try:
        target(data)
    except InputError as error:
        assert str(error).isprintable() or "\n" in str(error)
        return False
    return True
