"""How far a campaign is, from counts: the results themselves are not read."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from manetlab.campaign import elimination
from manetlab.campaign.plan import Campaign
from manetlab.campaign.store import Store
from manetlab.stats.elimination import Eliminated


@dataclass(frozen=True)
class Status:
    """How far a campaign is.

    Attributes:
        campaign: The campaign.
        store: Its store.
        replications: Replications of each point that the results have.
        done: How many runs have finished.
        failures: Point, replication and error of each run that failed.
        code: The versions and commits that made the runs.
        started: When the first process began; None if none has.
        ended: When the last run ended; None if none has.
        cpu_time_s: What the runs took together, in s.
        eliminated: The points that got no more replications.
    """

    campaign: Campaign
    store: Path
    replications: int
    done: int
    failures: Sequence[tuple[int, int, str]]
    code: Sequence[str]
    started: str | None
    ended: str | None
    cpu_time_s: float
    eliminated: Eliminated[int] = elimination.NOBODY

    @classmethod
    def load(cls, path: Path, campaign_file: Path | None = None) -> Status:
        """The status of the campaign that was run last with a store.

        Only the campaign and the sessions are compared with their digests, not the runs.

        Raises:
            InputError: The store does not exist, or has no campaign.
        """
        with Store.read(path) as store:
            number, campaign, replications = store.definition(None, campaign_file)
            codes: set[str] = set()
            ended, cpu_times_s = "", array("d")
            for code, run_ended, run_cpu_s in store.outline(number, replications):
                codes.add(code)
                ended = max(ended, run_ended)
                cpu_times_s.append(run_cpu_s)
            failures = store.checked_failures(number, replications, campaign.point_count)
            sessions = store.sessions(number)
            eliminated, done = elimination.NOBODY, len(cpu_times_s)
            if elimination.is_asked(campaign):
                # Which runs are wanted follows from what they measured.
                eliminated = elimination.of_store(store, number, campaign, replications)
                made = eliminated.ended
                tasks = chain.from_iterable(store.tasks(number, replications))
                done = sum(at < made.get(point, replications) for point, at, _ in tasks)
                failures = [each for each in failures if each[1] < made.get(each[0], replications)]
        if campaign.origin is not None:
            campaign.origin.check_points(campaign.point_count, len(cpu_times_s))
        started = min((session["began"] for session in sessions), default=None)
        return cls(
            campaign,
            path,
            replications,
            done,
            failures,
            sorted(codes),
            started,
            ended or None,
            math.fsum(cpu_times_s),
            eliminated,
        )

    @property
    def spared(self) -> int:
        """How many runs elimination has spared so far."""
        return sum(self.replications - made for made in self.eliminated.ended.values())

    @property
    def missing(self) -> int:
        """How many of the wanted runs have neither finished nor failed."""
        wanted = self.campaign.point_count * self.replications - self.spared
        return wanted - self.done - len(self.failures)
