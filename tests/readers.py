"""What a reader does with anything: it reads it, or it raises manetlab's own error.

Each target takes bytes, which decide what is changed in something valid: values of scenarios, campaigns and
sessions, lines of traces, bytes and rows of stores and of their time series. Whatever is read must be read
again from what it is written as; a damaged store must be refused or be read as it was.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import json
import shutil
import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import tomli_w

from manetlab import Campaign, InputError, Results, Scenario, flows, web
from manetlab.campaign.plan import Task
from manetlab.campaign.series import folder_of
from manetlab.campaign.store import Store, TaskResult

SEEDS = Path(__file__).resolve().parents[1] / "fuzz" / "seeds"
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10, 500, 60_000, 100_001, 2**31, 2**63, 2**64, -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
    *(
        "",
        "x",
        "aodv",
        "tcp",
        "reno",
        "\x00",
        "\x1b[2J",
        "\ud800",
        "é" * 400,
        "../../x",
        "/dev/zero",
        "python:no.Such",
    ),
    *([], [0], [[]], [1.5, "x"], [None], {}, {"": {}}, {"nodes": 2}, [{}], [[0, 1], [1, 2]]),
    *({7: 1}, {None: {}}, "two.json", "four.csv", "three.tcl", "both.tcl", "python:manetlab.Routing"),
    *("flooding:x", "dsr:x", "python:x", "python:json.JSONDecoder", int, np.int64(3), np.array([1, 2])),
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


BESIDE = ("movement/three.tcl", "traffic/both.tcl", "sessions/two.json", "trace/four.csv")
"""Seeds that those of scenarios and campaigns name; the scenarios are beside the campaigns as well."""


@cache
def _folder() -> Path:
    """A place for files, in memory where there is one, with those that seeds name."""
    shared = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(prefix="manetlab-fuzz-", dir=shared if shared.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    for seed in (*(SEEDS / name for name in BESIDE), *(SEEDS / "scenario").glob("*.toml")):
        shutil.copy(seed, made)
    return made


def _copied(value: Any) -> Any:
    """A copy of tables and lists; all else in them does not change."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


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


def _fits(value: Any, other: Any) -> list[tuple[dict[Any, Any], Any, Any]]:
    """What of another value could stand at the same place in this one: a table, a key, a value for it."""
    found: list[tuple[dict[Any, Any], Any, Any]] = []
    waiting = [(value, other)]
    while waiting:
        mine, theirs = waiting.pop()
        if isinstance(mine, dict) and isinstance(theirs, dict):
            found += [(mine, key, item) for key, item in theirs.items()]
            waiting += [(mine[key], item) for key, item in theirs.items() if key in mine]
        elif isinstance(mine, list) and isinstance(theirs, list):
            waiting += [(one, another) for one in mine for another in theirs]
    return found


def _changed(valid: Any, given: Input, others: Sequence[Any] = ()) -> Any:
    """A valid value with up to four changes; ``others`` are valid, too, and lend what they have."""
    value = _copied(valid)
    for _ in range(given.below(5)):
        places = _places(value)
        if not places:
            return given.pick(ODD)
        of, key = given.pick(places)
        match given.below(8):
            case 0:
                del of[key]
            case 1 | 2:
                of[key] = _copied(given.pick(ODD))
            case 3:
                other, place = given.pick(places)
                with contextlib.suppress(LookupError):
                    of[key] = _copied(other[place])
            case 4:
                names = (key for _, key in places if isinstance(key, str))
                new = given.pick([*names, "", "x" * 300, "a.b", 7, None])
                if isinstance(of, dict):
                    of[new] = of.pop(key)
                else:
                    of.insert(key, _copied(of[key]))
            case 5 | 6 if others:
                table, name, lent = given.pick(_fits(value, given.pick(others)) or [(None, "", None)])
                if table is not None:
                    table[name] = _copied(lent)
            case _:
                if isinstance(of[key], bool | int | float) and abs(of[key]) < 1e300:
                    of[key] = of[key] * given.pick([-1, 2, 0.5, 1e3, 1e-9]) + given.pick([0, 1, 0.1])
                elif isinstance(of[key], str):
                    of[key] = of[key][: given.below(256)] + chr(given.below(0xD7FF))
    return value


def _edited(valid: bytes, given: Input) -> bytes:
    """Valid bytes with up to eight places overwritten, cut out, repeated or replaced."""
    content = bytearray(valid)
    for _ in range(given.below(9)):
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
                    [
                        b"\x00",
                        b"\xff",
                        b"\n",
                        b'"',
                        b"[",
                        b"1e999",
                        b"-",
                        b"{",
                        b"'''",
                        b".",
                        b",",
                        b"0",
                        b"a." * 99,
                    ]
                )
    return bytes(content)


@cache
def _tomls(kind: str) -> list[tuple[bytes, Any]]:
    """Valid scenarios or campaigns: as bytes and as tables."""
    import tomllib

    files = sorted((SEEDS / kind).glob("*.toml"))
    return [(file.read_bytes(), tomllib.loads(file.read_text())) for file in files]


def _toml(kind: str, given: Input) -> bytes | Any:
    """A file's bytes, or what a file could say, or what only Python can say."""
    content, table = given.pick(_tomls(kind))
    others = [other for _, other in _tomls(kind)]
    match given.below(4):
        case 0:
            return _edited(content, given)
        case 1:
            changed = _changed(table, given, others)
            with contextlib.suppress(TypeError, ValueError, AttributeError):
                return tomli_w.dumps(changed).encode("utf-8", "surrogatepass")
            return changed
        case _:
            return _changed(table, given, others)


T = TypeVar("T", Scenario, Campaign)


def _read(reader: type[T], found: bytes | Any) -> T:
    """What a reader makes of a file with these bytes, or of this table from Python."""
    if not isinstance(found, bytes):
        return reader.build(found, "fuzz", _folder())
    path = _folder() / "given.toml"
    path.write_bytes(found)
    return reader.load(path)


MANY = 60
"""Up to this number of each of `COUNTED` a scenario is resolved, which then takes milliseconds."""
COUNTED = ("nodes", "columns", "rows", "tcp", "adp", "video", "cbr", "clients", "servers", "cycles")
LONGEST_S = 100.0
"""The longest scenario that is resolved: nodes are moved until its end."""


def _is_small(scenario: Scenario) -> bool:
    asked = [scenario.movement.to_dict(), scenario.traffic.to_dict()]
    counts = (of[key] for of, key in _places(asked) if key in COUNTED)
    few = all(not isinstance(count, int | float) or count <= MANY for count in counts)
    return few and scenario.duration_s <= LONGEST_S


def scenario(data: bytes) -> None:
    """A scenario's TOML, or its table from Python; what it leaves open is drawn, and its names looked up."""
    given = Input(data)
    use = given.below(4)
    read = _read(Scenario, _toml("scenario", given))
    # NaN, which no field takes, would differ from itself.
    assert Scenario.build(read.to_dict(), "fuzz", _folder()).to_dict() == read.to_dict()
    if use == 1:
        assert Scenario.build(read.changed(seed=3, tcp={}).to_dict(), "fuzz", _folder()).seed == 3
    elif use == 2 and _is_small(read):
        resolved = read.resolve()
        assert resolved.of(read).hash == resolved.hash
        assert read.is_drawn or not read.can_be_drawn_badly
        assert read.set_by("tcp", "window")
        json.dumps(resolved.to_dict(), allow_nan=False)


def campaign(data: bytes) -> None:
    """A campaign's TOML, or its table from Python."""
    given = Input(data)
    is_checked = given.below(4) == 1
    read = _read(Campaign, _toml("campaign", given))
    if read.point_count <= 100:
        assert len(read.points) == read.point_count
        read.points[-1].scenario(0)
    if is_checked and read.point_count <= 10 and all(map(_is_small, read.first_scenarios())):
        assert len(read.identity(read.check())) == 64
    try:
        text = json.dumps(read.to_dict())
    except (TypeError, ValueError):
        # What only TOML or Python can say, a time for example.
        with contextlib.suppress(InputError):
            read.check()
            raise AssertionError("a campaign that no store can keep") from None
        return
    assert json.loads(
        json.dumps(Campaign.build(json.loads(text), "fuzz", _folder()).to_dict())
    ) == json.loads(text)


@cache
def _seed(kind: str, name: str) -> bytes:
    return (SEEDS / kind / name).read_bytes()


@cache
def _webs() -> list[dict[str, Any]]:
    """Valid tables ``traffic.web``."""
    table = json.loads(_seed("sessions", "two.json"))
    drawn = {"clients": 3, "servers": 2, "cycles": 2, "think_max_s": 5.0, "distributions": "parametric"}
    return [{"sessions": table["sessions"]}, {"sessions": "two.json"}, drawn]


def sessions(data: bytes) -> None:
    """A file of Web sessions, or a scenario's table of them: what is read is written and read again."""
    given = Input(data)
    content = _seed("sessions", "two.json")
    path = _folder() / "w.json"
    match given.below(3):
        case 0:
            path.write_bytes(_edited(content, given))
            read = web.read(path)
        case 1:
            changed = _changed(json.loads(content), given)
            with contextlib.suppress(TypeError, ValueError):
                content = json.dumps(changed).encode()
            path.write_bytes(content)
            read = web.read(path)
        case _:
            asked = _changed(given.pick(_webs()), given, _webs())
            if not isinstance(asked, dict) or not all(isinstance(key, str) for key in asked):
                # The scenario refuses these before.
                return
            table = web.given(asked, "fuzz", _folder())
            if all(not isinstance(table.get(key), int) or table[key] <= MANY for key in COUNTED):
                web.drawn_flows(table, 20, 1.0, (1, 0))
            if web.SESSIONS not in table:
                return
            read = table[web.SESSIONS]
    text = web.text(read)
    path.write_text(text)
    again = web.read(path)
    assert again == read
    assert web.text(again) == text


def trace(data: bytes) -> None:
    """A trace of packets in CSV."""
    given = Input(data)
    path = _folder() / "t.csv"
    path.write_bytes(_edited(_seed("trace", given.pick(["four.csv", "marked.csv"])), given))
    packets = flows.read_trace(path)
    times = [time_s for time_s, _ in packets]
    assert times == sorted(times)
    assert all(0 <= time_s <= 1e6 and 1 <= size <= 65_507 for time_s, size in packets)


Files = dict[str, bytes]
"""A store's files, by what their names end in: nothing, ``-wal``."""
Said = tuple[list[str], ...]
"""What a store says and has digests of: the campaign, the runs, the time series, the sessions."""


@dataclass(frozen=True)
class Base:
    """A valid store: its files, what it says, and every value of its tables."""

    files: Files
    said: Said
    first_key: str
    failures: list[Any]
    values: dict[tuple[str, str], list[Any]]


@cache
def _stores() -> list[Base]:
    """A store as manetlab leaves it, one of small pages, and one with a log; all with the same content.

    Their time series are beside the place where copies are read.
    """
    whole, copied = _folder() / "whole.db", _store_path()
    base = {
        "movement": {"chain": {"nodes": 2}},
        "traffic": {"random": {"tcp": 1, "cbr": 0}},
        "duration_s": 0.2,
    }
    asked = {"name": "fuzz", "base": base, "factors": {"tcp": ["reno", "vegas"]}, "replications": 2}
    Campaign(**asked, series_s=0.1).run(whole, jobs=1)
    shutil.copytree(folder_of(whole), folder_of(copied))
    with Store.open(whole) as store:
        number, _, _ = store.definition()
        with store.transaction():
            store.record(number, TaskResult(Task(1, 2), error="it failed"), "code", {})
            wanted = deque([Task(0, 2)])
            store.claim(number, wanted, 1)
        store.reach(number, 3)
        # Only while it is open has it a log.
        logged = {ending: Path(f"{whole}{ending}").read_bytes() for ending in ("", "-wal")}
    with contextlib.closing(sqlite3.connect(whole)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    plain = whole.read_bytes()
    with contextlib.closing(sqlite3.connect(whole)) as db:
        db.execute("PRAGMA page_size = 512")
        db.execute("VACUUM")
    return [_base(files) for files in ({"": plain}, {"": whole.read_bytes()}, logged)]


def _store_path() -> Path:
    return _folder() / "s.db"


def _base(files: Files) -> Base:
    path = _store_path()
    _write(files)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.text_factory = bytes
        tables = [
            name.decode() for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        columns = [
            (table, row[1].decode()) for table in tables for row in db.execute(f"PRAGMA table_info({table})")
        ]
        values = {
            (table, column): [value for (value,) in db.execute(f"SELECT {column} FROM {table}")]
            for table, column in columns
        }
    _write(files)
    results = Results.load(path)
    _read_all(results)
    found = results.snapshot
    return Base(files, _said(results), found.runs.keys[0], found.failures, values)


def _write(files: Files) -> None:
    path = _store_path()
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    for ending, content in files.items():
        Path(f"{path}{ending}").write_bytes(content)


def _said(results: Results) -> Said:
    """All that a store says and has digests of; of the time series, their digests."""
    sessions = [{**session, "ended": None} for session in results.snapshot.sessions]
    runs = results.snapshot.runs
    columns = (runs.points, runs.replications, runs.keys, runs.result_hashes, runs.codes, runs.cpu_times_s)
    totals = [{name: column[at] for name, column in runs.totals.items()} for at in range(len(runs))]
    # Not their place, which is another where rows are hidden.
    each_run = [slice(at, at + 1) for at in range(len(runs))]
    texts = [
        [repr(runs.rows_of(name, at)) for name in ("flows", "drops", "ends")] + [repr(runs.delays_of(at))]
        for at in each_run
    ]
    listed = list(zip(*columns, totals, texts, strict=True))
    parts = [results.campaign.to_dict()], listed, results.snapshot.series, sessions
    return tuple([repr(each) for each in part] for part in parts)


def _read_all(results: Results) -> None:
    """Makes every table, which takes milliseconds."""
    _ = results.runs, results.flows, results.drops, results.failed, results.machines, results.missing
    for name in results.series_names:
        results.series(name)


def _update(base: Base, given: Input) -> Files:
    """A store with a value of a row changed, or rows removed or doubled, as another program could."""
    table, column = given.pick(list(base.values))
    values = base.values[table, column]
    old = given.pick(values) if values else None
    match given.below(4):
        case 0:
            new = given.pick([None, 0, -1, 2**62, 1.5, "", "x", b"\xff\x00", "[]", "{}", "null", "1e999"])
        case 1 if isinstance(old, bytes):
            new = _edited(old, given).decode("utf-8", "replace")
        case 2 if isinstance(old, bytes):
            new = _edited(old, given)
        case _:
            new = given.pick(values) if values else 1
            new = new.decode("utf-8", "replace") if isinstance(new, bytes) else new
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(base.files[""])
        db.execute("PRAGMA foreign_keys = OFF")
        with contextlib.suppress(sqlite3.Error):
            match given.below(8):
                case 0:
                    db.execute(f"DELETE FROM {table} WHERE {column} IS ?", (old,))
                case 1:
                    # A row of one table under the names of another's columns.
                    db.execute(f"INSERT OR REPLACE INTO {table} ({column}) VALUES (?)", (new,))
                case _:
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (new, old))
        return {"": db.serialize()}


def store(data: bytes) -> None:
    """A damaged or changed store, or damaged time series: refused, or read as it was."""
    given = Input(data)
    base = given.pick(_stores())
    files, damaged = base.files, None
    match given.below(8):
        case 0 | 1 | 2 if "-wal" not in files:
            files = _update(base, given)
        case 3:
            damaged = given.pick(_series_files())
        case _:
            ending = given.pick(list(files))
            files = {**files, ending: _flipped(files[ending], given)}
    _write(files)
    results = Results.load(_store_path())
    failures = results.snapshot.failures
    _ = results.provenance, results.missing, [results.command(*place[:2]) for place in failures]
    said = _said(results)
    if not set(said[2]) <= set(base.said[2]):
        # Their files are looked at when they are read.
        for name in results.series_names:
            results.series(name)
    assert said == base.said or _is_hidden(said, base.said), "it was read as something else"
    if damaged is not None:
        _read_damaged(results, damaged, given)
    elif given.below(64) == 1 and (given.below(16) == 1 or failures != base.failures):
        _read_all(results)


@cache
def _series_files() -> list[Path]:
    """The first file of each time series."""
    folders = sorted(folder_of(_store_path()).iterdir())
    return [folder / f"{_stores()[0].first_key}.parquet" for folder in folders]


def _read_damaged(results: Results, path: Path, given: Input) -> None:
    """Reads a time series while one of its files is damaged: refused, if it is not what it was."""
    content = path.read_bytes()
    changed = _flipped(content, given)
    path.write_bytes(changed)
    try:
        results.series(path.parent.name)
        assert changed == content, "a time series was read as something else"
    finally:
        path.write_bytes(content)


def _is_hidden(said: Said, wanted: Said) -> bool:
    """Does a store say less than it did, and nothing else?

    How many replications count, which runs, time series and sessions there are and which runs failed is what
    a campaign changes all the time: the store has no digest over it.
    """
    whole, *parts = zip(said, wanted, strict=True)
    return whole[0] == whole[1] and all(
        len(set(ours)) == len(ours) and set(ours) <= set(theirs) for ours, theirs in parts
    )


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


def prepare(name: str) -> None:
    """Makes what a target changes."""
    if name == "store":
        _stores()


def refusal(target: Callable[[bytes], None], data: bytes) -> InputError | None:
    """Gives bytes to a target; manetlab's own error if what they made was refused."""
    try:
        target(data)
    except InputError as error:
        assert str(error).isprintable() or "\n" in str(error)
        return error
    return None


def accepts(target: Callable[[bytes], None], data: bytes) -> bool:
    """Gives bytes to a target; False if what they made was refused."""
    return refusal(target, data) is None
