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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manetlab import provenance
from manetlab.campaign import process_identity
from manetlab.campaign.database import Database
from manetlab.campaign.plan import Campaign, Task
from manetlab.errors import InputError

LEASE_S = 60.0
"""How long a claim holds unless it is renewed, in s of real time."""


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


class Store(Database):
    """An open store: what is done with it."""

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
                self._db.execute(
                    "REPLACE INTO claim VALUES (?, ?, ?, ?, ?)", (*place, process_identity.current(), expires)
                )
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
        return claim is None or claim[1] < time.time() or process_identity.has_ended(claim[0])

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
