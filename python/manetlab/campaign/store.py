"""The store: what was asked, what was run, and what was measured.

A run is stored once, under a key that hashes its resolved scenario (with the seed) and the code that made it.
A *task* says which run answers a point and replication of a campaign. A run counts if and only if its task is
in the table `task`, which is written in the same transaction as the run itself. Processes that work at the
same store *claim* tasks, so that none is run twice; the claims of a process that is gone are void.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from manetlab import _core, provenance
from manetlab.campaign import process_identity
from manetlab.campaign.database import FETCHED, Database, damaged, digest_of
from manetlab.campaign.plan import Campaign, Task
from manetlab.errors import InputError, shown
from manetlab.files import path_of, printable, text_of
from manetlab.origin import Origin

LEASE_S = 60.0
"""How long a claim holds unless it is renewed, in s of real time."""
SOUGHT = 5
"""Runs that are read one after the other in the time in which one is sought."""


@dataclass(frozen=True)
class TaskResult:
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


def _ends(measured: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where the packets of a run's flows ended, as it is stored beside the drops: each packet once."""
    flows = measured["audit"]["flows"]
    found = [
        {
            "end": end,
            "layer": None,
            "reason": None,
            "packets": None,
            "count": sum(each[key] for each in flows),
        }
        for end, key in (("delivered", "delivered"), ("under way", "in_flight"))
    ]
    return [*found, *({"end": "lost", **each} for each in measured.get("losses", ()))]


def _flows(measured: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The flows as they are stored: one with a deadline has the histogram of its delays."""
    delays = {each["flow"]: each for each in measured.get("delays", ())}
    kept = ("up_to_s", "counts", "lost")
    return [
        {**flow, "delays": {key: found[key] for key in kept}} if (found := delays.get(flow["id"])) else flow
        for flow in measured["flows"]
    ]


RUN = (
    *("key", "scenario_hash", "code", "seed", "result_hash", "events", "arrivals"),
    *(
        "totals",
        "flows",
        "drops",
        "audit",
        "cpu_time_s",
        "wall_time_s",
        "platform",
        "python",
        "host",
        "ended",
    ),
)
"""The columns of a run, without its digest."""
INSERT_RUN = (
    f"INSERT OR IGNORE INTO run ({', '.join(RUN)}, digest) VALUES ({', '.join('?' * (len(RUN) + 1))})"
)
SESSION = ("campaign", "code", "host", "platform", "python", "dependencies", "workers", "began")
"""The columns of a session, without its digest and its end."""


class Store(Database):
    """An open store: what is done with it."""

    @cached_property
    def _identities(self) -> dict[int, str]:
        """What decides the runs of campaigns that were asked for, by number: it never changes."""
        return {}

    # Campaigns

    def begin(self, campaign: Campaign, identity: str) -> int:
        """The number of a campaign in this store, which from now on is the one that was used last."""
        definition = json.dumps(campaign.to_dict())
        folder = text_of(campaign.place)
        with self.transaction():
            used = "(SELECT coalesce(max(used), 0) + 1 FROM campaign)"
            asked = (identity, definition, folder)
            self._db.execute(
                "INSERT INTO campaign (id, definition, folder, digest, reached, used) "
                f"VALUES (?, ?, ?, ?, ?, {used}) ON CONFLICT (id) DO UPDATE SET "
                "definition = excluded.definition, folder = excluded.folder, digest = excluded.digest, "
                f"used = {used}",
                (*asked, digest_of(asked), campaign.replications),
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
        values = (
            *(campaign, code, platform.node(), origin["platform"], origin["python"]),
            *(json.dumps(dependencies), workers, now()),
        )
        with self.transaction():
            row = self._db.execute(
                f"INSERT INTO session ({', '.join(SESSION)}, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, digest_of(values)),
            )
        return int(row.lastrowid or 0)

    def close_session(self, number: int) -> None:
        """Notes that a process has ended its work, and gives up its claims."""
        with self.transaction():
            self._db.execute("UPDATE session SET ended = ? WHERE number = ?", (now(), number))
            self._db.execute("DELETE FROM claim WHERE owner = ?", (process_identity.current(),))

    def check_code(self, code: str) -> None:
        """Checks that all runs in the store are of this code.

        Raises:
            InputError: Some are of another version or commit.
        """
        others = self.rows("SELECT code, count(*) FROM run WHERE code != ? GROUP BY code", (code,))
        if others:
            what = "the store has runs of another version of the code"
            found = "; ".join(f"{count} runs of {other}" for other, count in others)
            hint = "run that version, choose another --store, or mix them with --allow-other-version"
            raise InputError(what, str(self.path), found, f"runs of {code}", hint)

    def definition(
        self, number: int | None = None, given: Path | None = None, trust: bool = False
    ) -> tuple[int, Campaign, int]:
        """Number, definition and replications of a campaign, of the one that was run last if none is named.

        Args:
            number: The campaign's number.
            given: The campaign's file, if the user named it: files beside it may be read, too.
            trust: The code that the campaign names may be imported, and any file of its may be read.

        Raises:
            InputError: The store has none, or it was changed.
        """
        query = (
            "SELECT number, id, definition, folder, digest, reached FROM campaign "
            "WHERE number = coalesce(?, number) ORDER BY used DESC LIMIT 1"
        )
        found = self.rows(query, (number,))
        if not found:
            hint = "`manetlab campaign run` fills it"
            raise InputError("the store is empty", str(self.path), "no campaign", "a campaign", hint)
        this, identity, definition, folder, digest, reached = found[0]
        self.verify(digest, (identity, definition, folder), f"campaign {this}")
        if not isinstance(reached, int) or reached < 1:
            raise damaged(self.path, f"campaign {this} with {shown(reached)} replications")
        where = "campaign" if self.path is None else printable(self.path)
        asked = json.loads(definition)
        if not isinstance(asked, dict) or not isinstance(asked.get("base"), dict):
            raise damaged(self.path, f"campaign {this} without a base scenario")
        place = path_of(folder)
        origin = Origin(place) if self.path is None else Origin.of_store(self.path, place, given, trust)
        campaign = Campaign.build(asked, where, origin)
        # What is in files may have changed since; scenarios are compared where they are used.
        if not campaign.names_files and campaign.identity([]) != identity:
            raise damaged(self.path, f"campaign {this} is another than its id says")
        return int(this), campaign, reached

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

    def checked_failures(self, campaign: int, replications: int, points: int) -> list[tuple[int, int, str]]:
        """What `failures` finds.

        Raises:
            InputError: A failure is one of no point, or its error is not text.
        """
        found = self.failures(campaign, replications)
        for point, replication, error in found:
            is_task = isinstance(point, int) and isinstance(replication, int) and replication >= 0
            if not is_task or not 0 <= point < points or not isinstance(error, str):
                place = f"point {shown(point)}, replication {shown(replication)}"
                raise damaged(self.path, f"a failure of {place}, with the error {shown(error)}")
        return [(int(point), int(replication), error) for point, replication, error in found]

    def failure_count(self, campaign: int, replications: int, points: Collection[int] | None = None) -> int:
        """How many tasks have failed, of these points or of all."""
        query = "SELECT point FROM failure WHERE campaign = ? AND replication < ?"
        failed = self.rows(query, (campaign, replications))
        return sum(points is None or point in points for (point,) in failed)

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
        owner, expires = process_identity.current(), time.time() + LEASE_S
        for _ in range(len(wanted)):
            if len(ours) == count:
                break
            task = wanted.popleft()
            place = (campaign, task.point, task.replication)
            if self._is_settled(place):
                continue
            if self._is_free(place):
                self._db.execute("REPLACE INTO claim VALUES (?, ?, ?, ?, ?)", (*place, owner, expires))
                ours.append(task)
            else:
                wanted.append(task)
        return ours

    def renew(self) -> None:
        """Prolongs this process's claims."""
        with self.transaction():
            values = (time.time() + LEASE_S, process_identity.current())
            self._db.execute("UPDATE claim SET expires = ? WHERE owner = ?", values)

    def record(
        self, campaign: int, outcome: TaskResult, code: str, files: Mapping[str, tuple[str, int, str]]
    ) -> None:
        """Keeps what became of a task; must be called within a transaction.

        A task that is settled already keeps what it has.

        Args:
            campaign: The campaign's number.
            outcome: What became of the task.
            code: The code that ran it.
            files: File, number of rows and digest of each time series, by its name.
        """
        place = (campaign, outcome.task.point, outcome.task.replication)
        self._db.execute("DELETE FROM claim WHERE campaign = ? AND point = ? AND replication = ?", place)
        if outcome.error:
            if not self._is_settled(place):
                failure = (*place, code, printable(outcome.error), now())
                self._db.execute("INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?)", failure)
            return
        if outcome.measured is not None:
            self._insert_run(outcome, code)
            rows = [(outcome.key, name, *of) for name, of in files.items()]
            self._db.executemany("INSERT OR IGNORE INTO series VALUES (?, ?, ?, ?, ?)", rows)
        self._db.execute("DELETE FROM failure WHERE campaign = ? AND point = ? AND replication = ?", place)
        digest = digest_of((self._identity(campaign), *place[1:], outcome.key))
        self._db.execute("INSERT OR IGNORE INTO task VALUES (?, ?, ?, ?, ?)", (*place, outcome.key, digest))

    def _identity(self, campaign: int) -> str:
        if campaign not in self._identities:
            [(identity,)] = self.rows("SELECT id FROM campaign WHERE number = ?", (campaign,))
            self._identities[campaign] = str(identity)
        return self._identities[campaign]

    def _insert_run(self, outcome: TaskResult, code: str) -> None:
        assert outcome.measured is not None
        origin = outcome.measured["provenance"]
        drops = [*outcome.measured["drops"], *_ends(outcome.measured)]
        parts = {**outcome.measured, "drops": drops, "flows": _flows(outcome.measured)}
        texts = (json.dumps(parts[part]) for part in ("totals", "flows", "drops", "audit"))
        values = (
            *(outcome.key, outcome.scenario_hash, code, str(origin["seed"]), origin["result_hash"]),
            *(origin["events"], origin["arrivals"], *texts),
            *(float(origin["cpu_time_s"]), float(origin["wall_time_s"]), origin["platform"]),
            *(origin["python"], outcome.host, now()),
        )
        self._db.execute(INSERT_RUN, (*values, digest_of(values)))

    def _is_settled(self, place: tuple[int, int, int]) -> bool:
        query = (
            "SELECT EXISTS (SELECT 1 FROM task WHERE campaign = ?1 AND point = ?2 AND replication = ?3) "
            "OR EXISTS (SELECT 1 FROM failure WHERE campaign = ?1 AND point = ?2 AND replication = ?3)"
        )
        return bool(self._db.execute(query, place).fetchone()[0])

    def _is_free(self, place: tuple[int, int, int]) -> bool:
        query = "SELECT owner, expires FROM claim WHERE campaign = ? AND point = ? AND replication = ?"
        claim = self._db.execute(query, place).fetchone()
        return claim is None or claim[1] < time.time() or process_identity.has_ended(claim[0])

    # Taking over what another store has

    def adopt_campaign(self, part: Store, theirs: int) -> int:
        """The number here of a campaign of another store, which is noted if it was not there.

        This and the other adoptions must be called within a transaction.
        """
        query = "SELECT id, definition, folder, digest, reached FROM campaign WHERE number = ?"
        [row] = part.rows(query, (theirs,))
        used = "(SELECT coalesce(max(used), 0) + 1 FROM campaign)"
        self._db.execute(
            "INSERT INTO campaign (id, definition, folder, digest, reached, used) "
            f"VALUES (?, ?, ?, ?, ?, {used}) "
            "ON CONFLICT (id) DO UPDATE SET reached = max(reached, excluded.reached)",
            row,
        )
        [(number,)] = self.rows("SELECT number FROM campaign WHERE id = ?", row[:1])
        return int(number)

    def adopt_run(self, values: Sequence[Any], digest: str) -> bool:
        """Keeps a run of another store, if it is not there; says whether it was not.

        Raises:
            InputError: It is there with another result.
        """
        row = self._db.execute(INSERT_RUN, (*values, digest))
        if row.rowcount:
            return True
        key, result = values[RUN.index("key")], values[RUN.index("result_hash")]
        [(here,)] = self.rows("SELECT result_hash FROM run WHERE key = ?", (key,))
        if here != result:
            wanted = "one result of one scenario and code"
            hint = "repeat it with `manetlab campaign repeat` to see which machine is wrong"
            raise InputError("a run has two results", shown(key), f"{here} and {result}", wanted, hint)
        return False

    def adopt_tasks(self, part: Store, theirs: int, ours: int) -> None:
        """Takes over which runs answer a campaign's tasks, what failed, and the files of time series."""
        tasks = part.rows("SELECT point, replication, key, digest FROM task WHERE campaign = ?", (theirs,))
        identity = self._identity(ours)
        for point, replication, key, digest in tasks:
            part.verify(
                digest, (identity, point, replication, key), f"point {point}, replication {replication}"
            )
        self._db.executemany(
            f"INSERT OR IGNORE INTO task VALUES ({ours}, ?, ?, ?, ?)", [tuple(row) for row in tasks]
        )
        columns = "point, replication, code, error, ended"
        failures = part.rows(f"SELECT {columns} FROM failure WHERE campaign = ?", (theirs,))
        self._db.executemany(f"INSERT OR IGNORE INTO failure VALUES ({ours}, ?, ?, ?, ?, ?)", failures)
        # What failed in one store may have been run by another.
        self._db.execute(
            "DELETE FROM failure WHERE campaign = ?1 AND EXISTS (SELECT 1 FROM task WHERE task.campaign = ?1 "
            "AND task.point = failure.point AND task.replication = failure.replication)",
            (ours,),
        )
        series = part.rows("SELECT key, name, file, rows, digest FROM series")
        self._db.executemany("INSERT OR IGNORE INTO series VALUES (?, ?, ?, ?, ?)", series)

    def adopt_sessions(self, part: Store, theirs: int, ours: int) -> None:
        """Takes over which processes have worked at a campaign."""
        columns = SESSION[1:]
        there = f"SELECT {', '.join((*columns, 'ended'))} FROM session WHERE campaign = ? ORDER BY number"
        known = set(self.rows(there, (ours,)))
        part.sessions(theirs)
        for *values, ended in part.rows(there, (theirs,)):
            if (*values, ended) not in known:
                row = (ours, *values)
                self._db.execute(
                    f"INSERT INTO session ({', '.join(SESSION)}, digest, ended) "
                    f"VALUES ({', '.join('?' * (len(SESSION) + 2))})",
                    (*row, digest_of(row), ended),
                )

    # What came out

    def verify(self, digest: str, values: Sequence[Any], what: str) -> None:
        """Checks values that were read against the digest that was stored with them.

        Raises:
            InputError: They are not what was stored.
        """
        # A column of SQLite may hold bytes, whatever its type; nothing that was stored does.
        if bytes in map(type, values) or digest != digest_of(values):
            raise damaged(self.path, f"{what} is not what its digest says")

    def verify_all(self, rows: Sequence[tuple[Any, ...]], what: Callable[[Sequence[Any]], str]) -> None:
        """Checks rows that were read, each with its digest at its end.

        Args:
            rows: The rows.
            what: What a row is, for the error.

        Raises:
            InputError: One is not what was stored.
        """
        if (at := _core.first_unsound([*rows])) is not None:
            raise damaged(self.path, f"{what(rows[at])} is not what its digest says")

    def tasks(self, campaign: int, replications: int) -> Iterator[list[tuple[int, int, str]]]:
        """Point, replication and key of the finished runs, ordered by point and replication, many at a time.

        Raises:
            InputError: A task is not what was stored.
        """
        query = (
            "SELECT ?3, point, replication, key, digest FROM task "
            "WHERE campaign = ?1 AND replication < ?2 ORDER BY point, replication"
        )
        for tasks in self.many(query, (campaign, replications, self._identity(campaign))):
            self.verify_all(tasks, lambda task: f"the task of point {task[1]}, replication {task[2]}")
            yield [(point, replication, key) for _, point, replication, key, _ in tasks]

    def runs_of(self, keys: Iterable[str], count: int) -> Iterator[list[tuple[Any, ...]]]:
        """The columns of `RUN` and the digest of the runs with these keys, in their order, many at a time.

        Args:
            keys: The keys, ascending, each once.
            count: How many there are, or a few more.

        Raises:
            InputError: A run is not what was stored, or is not there.
        """
        query = f"SELECT {', '.join(RUN)}, digest FROM run"
        [(stored,)] = self.rows("SELECT count(*) FROM run")
        if count * SOUGHT < stored:
            keys = [*keys]
            batches = self._sought(f"{query} WHERE key = ?", keys)
        else:
            batches = self.many(f"{query} ORDER BY key")
        following = iter(keys)
        key = next(following, None)
        for rows in batches:
            found = []
            for row in rows:
                if row[0] == key:
                    found.append(row)
                    key = next(following, None)
            self.verify_all(found, lambda run: f"the run {shown(run[0])}")
            yield found
            if key is None:
                return
        if key is not None:
            raise damaged(self.path, f"a task without the run {shown(key)}")

    def _sought(self, query: str, keys: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        for first in range(0, len(keys), FETCHED):
            yield [row for key in keys[first : first + FETCHED] for row in self.rows(query, (key,))]

    def outline(self, campaign: int, replications: int) -> Iterator[tuple[str, str, float]]:
        """Code, end and CPU time in s of the finished runs, in the order of their keys; not verified."""
        tasks = self.each(
            "SELECT key FROM task INDEXED BY task_of_run WHERE campaign = ? AND replication < ? ORDER BY key",
            (campaign, replications),
        )
        [task] = next(tasks, [None])
        # A join would seek in one of the tables for each row of the other.
        for key, *found in self.each("SELECT key, code, ended, cpu_time_s FROM run NOT INDEXED ORDER BY key"):
            while task == key:
                if [*map(type, found)] != [str, str, float]:
                    raise damaged(self.path, f"a run by {shown(found[0])} that ended at {shown(found[1])}")
                code, ended, cpu_time_s = found
                yield code, ended, cpu_time_s
                [task] = next(tasks, [None])

    def series_files(self, campaign: int, replications: int) -> list[tuple[str, str, str, str]]:
        """Key, name, file and digest of each time series."""
        query = (
            "SELECT series.key, name, file, series.digest FROM series JOIN task USING (key) "
            "WHERE campaign = ? AND replication < ? ORDER BY point, replication"
        )
        found = self.rows(query, (campaign, replications))
        for key, name, file, _ in found:
            if file != f"{name}/{key}.parquet":
                raise damaged(self.path, f"a time series of {shown(key)} in the file {shown(file)}")
        return [(str(key), str(name), str(file), str(digest)) for key, name, file, digest in found]

    def all_series_files(self) -> list[tuple[str, str]]:
        """File and digest of each time series of any campaign."""
        return [(str(file), str(digest)) for file, digest in self.rows("SELECT file, digest FROM series")]

    def sessions(self, campaign: int) -> list[dict[str, Any]]:
        """The processes that ran the campaign, in order."""
        query = f"SELECT {', '.join(SESSION)}, digest, ended FROM session WHERE campaign = ? ORDER BY number"
        sessions = []
        for *values, digest, ended in self.rows(query, (campaign,)):
            self.verify(digest, values, "a session")
            session = {**dict(zip(SESSION[1:], values[1:], strict=True)), "ended": ended}
            text = session["dependencies"]
            session["dependencies"] = json.loads(text)
            session["dependencies_hash"] = hashlib.sha256(text.encode()).hexdigest()
            sessions.append(session)
        return sessions
