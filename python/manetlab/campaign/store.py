"""The store: one SQLite file that keeps what was asked, what was run, and what was measured.

A run is stored once, under a key that hashes its resolved scenario (with the seed) and the code that made it.
A *task* says which run answers a point and replication of a campaign. A run counts if and only if its task is
in the table `task`, which is written in the same transaction as the run itself. Processes that work at the
same store *claim* tasks, so that none is run twice; the claims of a process that is gone are void.

SQLite's write-ahead log with ``synchronous = FULL`` keeps every committed run through a kill or a power cut.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sqlite3
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from manetlab import provenance
from manetlab.campaign.plan import Campaign, Task
from manetlab.errors import InputError

APPLICATION = 0x6D6E6574
"""Marks the SQLite file as a store of manetlab; "mnet" in ASCII."""
SCHEMA_VERSION = 1
WAIT_S = 60.0
"""How long a process waits for another one's transaction, in s."""
LEASE_S = 60.0
"""How long a claim holds unless it is renewed, in s of real time."""

SCHEMA = """
CREATE TABLE campaign (
    number INTEGER PRIMARY KEY,           -- in order of creation
    id TEXT NOT NULL UNIQUE,              -- SHA-256 over what decides the runs
    definition TEXT NOT NULL,             -- the campaign as JSON, as last asked
    folder TEXT NOT NULL,                 -- where the names of files start from
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
    ended TEXT NOT NULL                   -- UTC, ISO 8601
) WITHOUT ROWID;
CREATE INDEX run_of_scenario ON run (scenario_hash);
CREATE TABLE task (
    campaign INTEGER NOT NULL REFERENCES campaign (number),
    point INTEGER NOT NULL,
    replication INTEGER NOT NULL,
    key TEXT NOT NULL REFERENCES run (key),
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
    ended TEXT                            -- null if it was killed
);
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    Attributes:
        task: The task.
        key: The key of the run.
        scenario_hash: The hash of the resolved scenario.
        measured: Flows, totals, drops, audit and provenance of the result; None if it failed or was known.
        host: Where it ran.
        error: Why it failed; empty if it did not.
        series: The columns of each time series, by its name.
    """

    task: Task
    key: str = ""
    scenario_hash: str = ""
    measured: Mapping[str, Any] | None = None
    host: str = ""
    error: str = ""
    series: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)


def key_of(scenario_hash: str, code: str) -> str:
    """The key of the run of a resolved scenario by a version of the code."""
    return hashlib.sha256(f"{scenario_hash} {code}".encode()).hexdigest()


def now() -> str:
    """The time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Store:
    """An open store.

    Attributes:
        path: Its file; None if it is kept in memory.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._owner = _owner()

    @classmethod
    def open(cls, path: Path | None) -> Store:
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
            store = cls(path, _connect(str(path)))
            try:
                store._check_kind(may_be_new=True)
                store._use_log()
                store._create()
            except BaseException:
                store._db.close()
                raise
        return store

    @classmethod
    def read(cls, path: Path) -> Store:
        """Opens a store to read only.

        Raises:
            InputError: There is none, or it cannot be read.
        """
        if not path.is_file():
            hint = "`manetlab campaign run` makes it"
            found = "a directory" if path.is_dir() else "no such file"
            raise InputError("the store does not exist", str(path), found, "a store of a campaign", hint)
        with _clear(path):
            uri = path.absolute().as_uri() + "?mode=ro"
            try:
                store = cls(path, _connect(uri))
                store._check_kind(may_be_new=False)
            except sqlite3.OperationalError:
                # The log's index cannot be made on a read-only medium. Without a log it is not needed.
                log = Path(f"{path}-wal")
                if log.exists() and log.stat().st_size:
                    raise
                store = cls(path, _connect(uri + "&immutable=1"))
                store._check_kind(may_be_new=False)
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
            self._db.execute("BEGIN IMMEDIATE")
            try:
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

    # Campaigns

    def begin(self, campaign: Campaign, identity: str) -> int:
        """The number of a campaign in this store, which from now on is the one that was used last."""
        definition = json.dumps(campaign.to_dict())
        folder = campaign.place
        with self.transaction():
            used = "(SELECT coalesce(max(used), 0) + 1 FROM campaign)"
            self._db.execute(
                "INSERT INTO campaign (id, definition, folder, reached, used) "
                f"VALUES (?, ?, ?, ?, {used}) ON CONFLICT (id) DO UPDATE "
                f"SET definition = excluded.definition, folder = excluded.folder, used = {used}",
                (identity, definition, folder, campaign.replications),
            )
            [(number,)] = self._db.execute("SELECT number FROM campaign WHERE id = ?", (identity,))
        return int(number)

    def reach(self, campaign: int, replications: int) -> None:
        """Notes how many replications the results have."""
        with self.transaction():
            self._db.execute("UPDATE campaign SET reached = ? WHERE number = ?", (replications, campaign))

    def open_session(self, campaign: int, code: str, workers: str, dependencies: Mapping[str, str]) -> int:
        """Notes that a process begins to run a campaign; returns the session's number."""
        origin = provenance.of_code()
        with self.transaction():
            row = self._db.execute(
                "INSERT INTO session (campaign, code, host, platform, python, dependencies, workers, began) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(campaign, code, platform.node(), origin["platform"], origin["python"]),
                    *(json.dumps(dependencies), workers, now()),
                ),
            )
        return int(row.lastrowid or 0)

    def close_session(self, number: int) -> None:
        """Notes that a process has ended its work, and gives up its claims."""
        with self.transaction():
            self._db.execute("UPDATE session SET ended = ? WHERE number = ?", (now(), number))
            self._db.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))

    def check_code(self, code: str) -> None:
        """Checks that all runs in the store are of this code.

        Raises:
            InputError: Some are of another version or commit.
        """
        others = self.rows("SELECT code, count(*) FROM run WHERE code != ? GROUP BY code", (code,))
        if others:
            what = "the store holds runs of other code"
            found = "; ".join(f"{count} runs of {other}" for other, count in others)
            hint = "run that version, or name another --store, or mix them with --allow-other-version"
            raise InputError(what, str(self.path), found, f"runs of {code}", hint)

    def definition(self, number: int | None = None) -> tuple[int, Campaign, int]:
        """Number, definition and replications of a campaign, of the one that was run last if none is named.

        Raises:
            InputError: The store has none.
        """
        query = (
            "SELECT number, definition, folder, reached FROM campaign "
            "WHERE number = coalesce(?, number) ORDER BY used DESC LIMIT 1"
        )
        found = self.rows(query, (number,))
        if not found:
            hint = "`manetlab campaign run` fills it"
            raise InputError("the store is empty", str(self.path), "no campaign", "a campaign", hint)
        this, definition, folder, reached = found[0]
        where = "campaign" if self.path is None else str(self.path)
        campaign = Campaign.build(json.loads(definition), where, Path(folder))
        return int(this), campaign, int(reached)

    # Tasks

    def settled(self, campaign: int) -> set[Task]:
        """The tasks that are finished or have failed."""
        query = (
            "SELECT point, replication FROM task WHERE campaign = ?1 "
            "UNION SELECT point, replication FROM failure WHERE campaign = ?1"
        )
        return {Task(*row) for row in self.rows(query, (campaign,))}

    def failures(self, campaign: int, replications: int) -> list[tuple[Any, ...]]:
        """Point, replication and error of what failed."""
        return self.rows(
            "SELECT point, replication, error FROM failure "
            "WHERE campaign = ? AND replication < ? ORDER BY replication, point",
            (campaign, replications),
        )

    def failure_count(self, campaign: int, replications: int) -> int:
        """How many tasks have failed."""
        query = "SELECT count(*) FROM failure WHERE campaign = ? AND replication < ?"
        return int(self.rows(query, (campaign, replications))[0][0])

    def forget_failures(self, campaign: int) -> None:
        """Forgets what failed, so that it is run again."""
        with self.transaction():
            self._db.execute("DELETE FROM failure WHERE campaign = ?", (campaign,))

    def has_foreign_runs(self, campaign: int) -> bool:
        """Are there runs that no task of this campaign refers to?"""
        query = (
            "SELECT EXISTS (SELECT 1 FROM run WHERE NOT EXISTS "
            "(SELECT 1 FROM task WHERE task.key = run.key AND campaign = ?))"
        )
        return bool(self.rows(query, (campaign,))[0][0])

    def key_for(self, scenario_hash: str, code: str, any_code: bool, has_series: bool) -> str | None:
        """The key of the stored run of a scenario, if there is one; this code's before another's.

        Args:
            scenario_hash: The hash of the resolved scenario.
            code: The code that shall have run it.
            any_code: Another one's run will do.
            has_series: A run without time series will not do.
        """
        found = self.rows(
            "SELECT key FROM run WHERE scenario_hash = ?1 AND (code = ?2 OR ?3) "
            "AND (NOT ?4 OR EXISTS (SELECT 1 FROM series WHERE series.key = run.key)) "
            "ORDER BY code != ?2, code",
            (scenario_hash, code, any_code, has_series),
        )
        return str(found[0][0]) if found else None

    def claim(self, campaign: int, wanted: deque[Task], count: int) -> list[Task]:
        """Claims up to ``count`` of the wanted tasks, in order; must be called within a transaction.

        Claimed and settled tasks are taken out of ``wanted``; those that another process has claimed go to
        its end.
        """
        ours: list[Task] = []
        expires = time.time() + LEASE_S
        for _ in range(len(wanted)):
            if len(ours) == count:
                break
            task = wanted.popleft()
            place = (campaign, task.point, task.replication)
            if self._is_settled(place):
                continue
            if self._is_free(place):
                self._db.execute("REPLACE INTO claim VALUES (?, ?, ?, ?, ?)", (*place, self._owner, expires))
                ours.append(task)
            else:
                wanted.append(task)
        return ours

    def renew(self) -> None:
        """Prolongs this process's claims."""
        with self.transaction():
            values = (time.time() + LEASE_S, self._owner)
            self._db.execute("UPDATE claim SET expires = ? WHERE owner = ?", values)

    def record(
        self, campaign: int, outcome: Outcome, code: str, files: Mapping[str, tuple[str, int]]
    ) -> None:
        """Keeps what became of a task; must be called within a transaction.

        A task that is settled already keeps what it has.

        Args:
            campaign: The campaign's number.
            outcome: What became of the task.
            code: The code that ran it.
            files: File and number of rows of each time series, by its name.
        """
        place = (campaign, outcome.task.point, outcome.task.replication)
        self._db.execute("DELETE FROM claim WHERE campaign = ? AND point = ? AND replication = ?", place)
        if outcome.error:
            if not self._is_settled(place):
                failure = (*place, code, outcome.error, now())
                self._db.execute("INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?)", failure)
            return
        if outcome.measured is not None:
            self._insert_run(outcome, code)
            rows = [(outcome.key, name, file, count) for name, (file, count) in files.items()]
            self._db.executemany("INSERT OR IGNORE INTO series VALUES (?, ?, ?, ?)", rows)
        self._db.execute("DELETE FROM failure WHERE campaign = ? AND point = ? AND replication = ?", place)
        self._db.execute("INSERT OR IGNORE INTO task VALUES (?, ?, ?, ?)", (*place, outcome.key))

    def _insert_run(self, outcome: Outcome, code: str) -> None:
        assert outcome.measured is not None
        origin = outcome.measured["provenance"]
        texts = (json.dumps(outcome.measured[part]) for part in ("totals", "flows", "drops", "audit"))
        self._db.execute(
            "INSERT OR IGNORE INTO run VALUES (" + ", ".join("?" * 17) + ")",
            (
                *(outcome.key, outcome.scenario_hash, code, str(origin["seed"]), origin["result_hash"]),
                *(origin["events"], origin["arrivals"], *texts),
                *(origin["cpu_time_s"], origin["wall_time_s"], origin["platform"], origin["python"]),
                *(outcome.host, now()),
            ),
        )

    def _is_settled(self, place: tuple[int, int, int]) -> bool:
        query = (
            "SELECT EXISTS (SELECT 1 FROM task WHERE campaign = ?1 AND point = ?2 AND replication = ?3) "
            "OR EXISTS (SELECT 1 FROM failure WHERE campaign = ?1 AND point = ?2 AND replication = ?3)"
        )
        return bool(self._db.execute(query, place).fetchone()[0])

    def _is_free(self, place: tuple[int, int, int]) -> bool:
        query = "SELECT owner, expires FROM claim WHERE campaign = ? AND point = ? AND replication = ?"
        claim = self._db.execute(query, place).fetchone()
        return claim is None or claim[1] < time.time() or _is_gone(claim[0])

    # What came out

    def finished(self, campaign: int, replications: int) -> list[tuple[Any, ...]]:
        """The finished runs, ordered by point and replication."""
        return self.rows(
            "SELECT point, replication, key, scenario_hash, code, result_hash, events, totals, flows, drops, "
            "cpu_time_s, wall_time_s, platform, host, ended FROM task JOIN run USING (key) "
            "WHERE campaign = ? AND replication < ? ORDER BY point, replication",
            (campaign, replications),
        )

    def totals(self, campaign: int, replications: int) -> list[tuple[int, str]]:
        """Point and totals of the finished runs, ordered by point and replication."""
        query = (
            "SELECT point, totals FROM task JOIN run USING (key) "
            "WHERE campaign = ? AND replication < ? ORDER BY point, replication"
        )
        return [(int(point), str(totals)) for point, totals in self.rows(query, (campaign, replications))]

    def series_files(self, campaign: int, replications: int) -> list[tuple[str, str, str]]:
        """Key, name and file of each time series."""
        query = (
            "SELECT series.key, name, file FROM series JOIN task USING (key) "
            "WHERE campaign = ? AND replication < ? ORDER BY point, replication"
        )
        found = self.rows(query, (campaign, replications))
        return [(str(key), str(name), str(file)) for key, name, file in found]

    def sessions(self, campaign: int) -> list[dict[str, Any]]:
        """The processes that ran the campaign, in order."""
        names = ("code", "host", "platform", "python", "dependencies", "workers", "began", "ended")
        query = f"SELECT {', '.join(names)} FROM session WHERE campaign = ? ORDER BY number"
        sessions = [dict(zip(names, row, strict=True)) for row in self.rows(query, (campaign,))]
        for session in sessions:
            text = session["dependencies"]
            session["dependencies"] = json.loads(text)
            session["dependencies_hash"] = hashlib.sha256(text.encode()).hexdigest()
        return sessions

    # The file

    def _check_kind(self, may_be_new: bool) -> None:
        [(application,)] = self._db.execute("PRAGMA application_id")
        [(version,)] = self._db.execute("PRAGMA user_version")
        [(tables,)] = self._db.execute("SELECT count(*) FROM sqlite_master")
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
            raise InputError("the store has another form", str(self.path), found, wanted, hint)

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


def _connect(name: str) -> sqlite3.Connection:
    # Transactions are begun and ended by hand.
    return sqlite3.connect(name, timeout=WAIT_S, isolation_level=None, uri=name.startswith("file:"))


def _check_place(path: Path) -> None:
    from manetlab.files import check_writable

    check_writable(path)
    if path.exists() and not path.is_file():
        hint = "SQLite needs a file that it can read and write anywhere"
        raise InputError("the store cannot be written", str(path), "no regular file", "a file", hint)


@contextlib.contextmanager
def _clear(path: Path | None) -> Iterator[None]:
    """Gives SQLite's errors manetlab's form."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if _is_busy(error):
            found, hint = str(error), "another process holds the store: wait for it, or stop it"
        else:
            found = str(error)
            hint = "what was stored before is safe; check the disk and permissions, then run the same again"
        wanted = "a file that can be written, on a disk with room"
        raise InputError("the store cannot be used", str(path), found, wanted, hint) from None
    except sqlite3.DatabaseError as error:
        raise _no_store(path, str(error)) from None


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _no_store(path: Path | None, found: str) -> InputError:
    hint = "name the file that `manetlab campaign run` made"
    return InputError("this is no store", str(path), found, "a store of a campaign", hint)


def _owner() -> str:
    return f"{platform.node()} {os.getpid()} {_start_of(os.getpid())}"


def _is_gone(owner: str) -> bool:
    """Is the process that made a claim known to have ended?"""
    host, pid, started = owner.rsplit(" ", 2)
    return host == platform.node() and _start_of(int(pid)) != started


def _start_of(pid: int) -> str:
    """When a process started, in ticks since boot; "-" if it has ended, or the system does not say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "-"
    # The name in the second field may hold spaces and parentheses.
    state, *others = stat.rpartition(")")[2].split()
    return "-" if state in "ZX" else others[18]
