"""The file of a store: how it is opened, checked and made, and its errors.

SQLite's write-ahead log with ``synchronous = FULL`` keeps every committed run through a kill or a power cut.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

from manetlab import _core
from manetlab.errors import InputError, shown
from manetlab.files import check_writable

APPLICATION = 0x6D6E6574
"""Marks the SQLite file as a store of manetlab; "mnet" in ASCII."""
SCHEMA_VERSION = 2
WAIT_S = 60.0
"""How long a process waits for another one's transaction, in s."""

FETCHED = 512
"""Rows that are fetched together where not all of them are wanted at once."""

SCHEMA = """
CREATE TABLE campaign (
    number INTEGER PRIMARY KEY,           -- in order of creation
    id TEXT NOT NULL UNIQUE,              -- SHA-256 over what decides the runs
    definition TEXT NOT NULL,             -- the campaign as JSON, as last asked
    folder TEXT NOT NULL,                 -- where the names of files start from
    digest TEXT NOT NULL,                 -- SHA-256 over id, definition and folder
    reached INTEGER NOT NULL,             -- replications that the results have
    used INTEGER NOT NULL                 -- the greatest was run last
);
CREATE TABLE run (
    key TEXT PRIMARY KEY,                 -- SHA-256 over scenario_hash and code
    scenario_hash TEXT NOT NULL,          -- of the resolved scenario, with seed
    code TEXT NOT NULL,                   -- version and commit
    seed TEXT NOT NULL,                   -- as text: it may exceed SQLite's integers
    result_hash TEXT NOT NULL,
    events INTEGER NOT NULL,
    arrivals INTEGER NOT NULL,
    totals TEXT NOT NULL,                 -- JSON, as `manetlab run --json` prints them
    flows TEXT NOT NULL,
    drops TEXT NOT NULL,
    audit TEXT NOT NULL,
    cpu_time_s REAL NOT NULL,
    wall_time_s REAL NOT NULL,
    platform TEXT NOT NULL,
    python TEXT NOT NULL,
    host TEXT NOT NULL,
    ended TEXT NOT NULL,                  -- UTC, ISO 8601
    digest TEXT NOT NULL                  -- SHA-256 over all the other columns
) WITHOUT ROWID;
CREATE INDEX run_of_scenario ON run (scenario_hash);
CREATE TABLE task (
    campaign INTEGER NOT NULL REFERENCES campaign (number),
    point INTEGER NOT NULL,
    replication INTEGER NOT NULL,
    key TEXT NOT NULL REFERENCES run (key),
    digest TEXT NOT NULL,                 -- SHA-256 over the campaign's id and the other columns
    PRIMARY KEY (campaign, point, replication)
) WITHOUT ROWID;
CREATE INDEX task_of_run ON task (key);
CREATE TABLE failure (
    campaign INTEGER NOT NULL REFERENCES campaign (number),
    point INTEGER NOT NULL,
    replication INTEGER NOT NULL,
    code TEXT NOT NULL,
    error TEXT NOT NULL,
    ended TEXT NOT NULL,
    PRIMARY KEY (campaign, point, replication)
) WITHOUT ROWID;
CREATE TABLE claim (
    campaign INTEGER NOT NULL REFERENCES campaign (number),
    point INTEGER NOT NULL,
    replication INTEGER NOT NULL,
    owner TEXT NOT NULL,                  -- host, process and its start
    expires REAL NOT NULL,                -- s since 1970
    PRIMARY KEY (campaign, point, replication)
) WITHOUT ROWID;
CREATE TABLE series (
    key TEXT NOT NULL REFERENCES run (key),
    name TEXT NOT NULL,
    file TEXT NOT NULL,                   -- within the folder beside the store
    rows INTEGER NOT NULL,
    digest TEXT NOT NULL,                 -- SHA-256 over the file
    PRIMARY KEY (key, name)
) WITHOUT ROWID;
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign (number),
    code TEXT NOT NULL,
    host TEXT NOT NULL,
    platform TEXT NOT NULL,
    python TEXT NOT NULL,
    dependencies TEXT NOT NULL,           -- names and versions of what is installed, JSON
    workers TEXT NOT NULL,                -- local threads, a Dask scheduler, SLURM
    began TEXT NOT NULL,
    digest TEXT NOT NULL,                 -- SHA-256 over the columns from campaign to began
    ended TEXT                            -- null if it was killed
);
"""


def digest_of(values: Iterable[Any]) -> str:
    """SHA-256 over the values of a row, in order, as `json.dumps` writes a list of them.

    So numbers are in their shortest exact decimal form.
    """
    return _core.digest_of(tuple(values))


class Database:
    """An open file of campaigns.

    Attributes:
        path: Its file; None if it is kept in memory.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """Opens a store to write, and makes it if it is not there.

        Raises:
            InputError: It cannot be written, or the file is something else.
        """
        if path is None:
            store = cls(None, _connect(":memory:"))
            store._create()
            return store
        _check_place(path)
        with _clear(path):
            store = cls(path, _connect(os.fspath(path.absolute())))
            try:
                store._check_kind(may_be_new=True)
                store._use_log()
                store._create()
            except BaseException:
                store._db.close()
                raise
        return store

    @classmethod
    def read(cls, path: Path) -> Self:
        """Opens a store to read only; a log that a killed process left is folded into the file.

        Raises:
            InputError: There is none, or it cannot be read.
        """
        if not path.is_file():
            hint = "`manetlab campaign run` creates it"
            found = "a directory" if path.is_dir() else "no such file"
            raise InputError("the store does not exist", str(path), found, "a store of a campaign", hint)
        with _clear(path):
            try:
                return cls._opened_to_read(path, "mode=rw")
            except sqlite3.OperationalError:
                # The log's index cannot be made on a read-only medium. Without a log it is not needed.
                log = Path(f"{path}-wal")
                if log.exists() and log.stat().st_size:
                    raise
                return cls._opened_to_read(path, "mode=ro&immutable=1")

    @classmethod
    def _opened_to_read(cls, path: Path, options: str) -> Self:
        # Only a connection that may write removes log and index again when it is the last to close.
        store = cls(path, _connect(f"{path.absolute().as_uri()}?{options}", is_uri=True))
        try:
            store._db.execute("PRAGMA query_only = ON")
            store._check_kind(may_be_new=False)
        except BaseException:
            store._db.close()
            raise
        return store

    def close(self) -> None:
        """Closes the store; the last to do so folds the log into the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """What happens within is kept whole or not at all.

        Raises:
            InputError: The disk is full, or the store cannot be written for another reason.
        """
        with _clear(self.path):
            try:
                # Ctrl-C may come while this waits for another process: what then has begun is ended below.
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    # After some errors SQLite has rolled back already.
                    with contextlib.suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with _clear(self.path):
            return self._db.execute(query, values).fetchall()

    def each(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """What a query finds, row by row: for what may not fit into memory."""
        for many in self.many(query, values):
            yield from many

    def many(self, query: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """What a query finds, many rows at a time."""
        with _clear(self.path):
            found = self._db.execute(query, values)
        while True:
            with _clear(self.path):
                many = found.fetchmany(FETCHED)
            if not many:
                return
            yield many

    def _check_kind(self, may_be_new: bool) -> None:
        # Looked at in one transaction: another process may be about to make the store.
        self._db.execute("BEGIN")
        try:
            [(tables,)] = self._db.execute("SELECT count(*) FROM sqlite_master")
            [(application,)] = self._db.execute("PRAGMA application_id")
            [(version,)] = self._db.execute("PRAGMA user_version")
        finally:
            self._db.execute("ROLLBACK")
        if application == 0 and version == 0 and tables == 0:
            if may_be_new:
                return
            hint = "`manetlab campaign run` fills it"
            raise InputError("the store is empty", str(self.path), "no tables", "a store of a campaign", hint)
        if application != APPLICATION:
            raise _no_store(self.path, "another program's SQLite file")
        if version != SCHEMA_VERSION:
            hint = "read it with the version of manetlab that wrote it, or name another --store"
            found, wanted = f"schema version {version}", f"schema version {SCHEMA_VERSION}"
            raise InputError("the store has another schema version", str(self.path), found, wanted, hint)
        self._check_content()

    def _check_content(self) -> None:
        """Checks that the file holds a store's tables and nothing else, and that SQLite finds them sound.

        Triggers and views would be executed by whoever opens a store that somebody else has made.
        """
        others = _objects(self._db) ^ _own_objects()
        if others:
            names = ", ".join(sorted({shown(name) for _, name, _ in others}))
            raise damaged(self.path, f"other tables, indices, views or triggers: {names}")
        [(found,)] = self._db.execute("PRAGMA quick_check(1)")
        if found != "ok":
            raise damaged(self.path, shown(found))
        # Otherwise a run whose task names another campaign would be missing, and nobody would be told.
        for table, parent, count in self._orphans():
            if count:
                raise damaged(
                    self.path, f"{count} rows without what they belong to: {table} without {parent}"
                )

    def _orphans(self) -> Iterator[tuple[str, str, int]]:
        """How many rows of each table have none that they belong to in another one."""
        # In the order of the keys SQLite reads both tables from end to end; its own check seeks run by run.
        for table, parent, query in (
            (
                "task",
                "run",
                "SELECT count(*) FROM task INDEXED BY task_of_run "
                "WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.key = task.key)",
            ),
            (
                "task",
                "campaign",
                "SELECT count(*) FROM task WHERE campaign NOT IN (SELECT number FROM campaign)",
            ),
        ):
            [(count,)] = self._db.execute(query)
            yield table, parent, count
        for table in ("failure", "claim", "series", "session"):
            lost = self._db.execute(f"PRAGMA foreign_key_check({table})").fetchall()
            yield table, lost[0][2] if lost else "", len(lost)

    def _use_log(self) -> None:
        # While another process makes the store, the change is refused without waiting.
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        self._db.execute("PRAGMA synchronous = FULL")

    def _create(self) -> None:
        with self.transaction():
            [(version,)] = self._db.execute("PRAGMA user_version")
            if version == 0:
                for statement in SCHEMA.split(";\n"):
                    if statement.strip():
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _connect(name: str, is_uri: bool = False) -> sqlite3.Connection:
    # Transactions are begun and ended by hand.
    db = sqlite3.connect(name, timeout=WAIT_S, isolation_level=None, uri=is_uri)
    # A file may come from somebody else: its schema calls no function that has an effect.
    db.execute("PRAGMA trusted_schema = OFF")
    return db


def _objects(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Type, name and definition of all that a file defines; statistics of SQLite's own are left out."""
    query = "SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    return {(str(kind), str(name), str(sql)) for kind, name, sql in db.execute(query)}


@cache
def _own_objects() -> frozenset[tuple[str, str, str]]:
    with Database.open(None) as store:
        return frozenset(_objects(store._db))


def _check_place(path: Path) -> None:
    check_writable(path)
    if path.exists() and not path.is_file():
        hint = "SQLite needs a file with random access"
        raise InputError("the store cannot be written", str(path), "not a regular file", "a file", hint)


@contextlib.contextmanager
def _clear(path: Path | None) -> Iterator[None]:
    """Gives SQLite's errors manetlab's form."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not hasattr(error, "sqlite_errorcode"):
            # Python's own: what SQLite returned is not text.
            raise damaged(path, str(error)) from None
        if _is_busy(error):
            found, hint = str(error), "another process is using the store: wait for it, or stop it"
        else:
            found = str(error)
            hint = "what was stored is safe; check disk and permissions, then run the same command again"
        wanted = "a writable file, on a disk with free space"
        raise InputError("the store cannot be used", str(path), found, wanted, hint) from None
    except sqlite3.DatabaseError as error:
        raise _no_store(path, str(error)) from None
    except UnicodeDecodeError:
        # SQLite quotes what it does not understand, which need not be text.
        raise damaged(path, "a schema that is not text") from None


def _is_busy(error: sqlite3.OperationalError) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def damaged(path: Path | None, found: str) -> InputError:
    """The error of a store whose content is not what manetlab wrote."""
    hint = "restore it from a copy, or name another --store and run the campaign again"
    wanted = "what manetlab stored, with its digests"
    return InputError(
        "the store is damaged, or was changed by another program", str(path), found, wanted, hint
    )


def _no_store(path: Path | None, found: str) -> InputError:
    hint = "give the file that `manetlab campaign run` made, for example NAME.db"
    return InputError("not a results store", str(path), found, "a store of a campaign", hint)
