"""Runs a campaign in processes that are killed at random instants: ``python -m tests.killing FOLDER``.

A process of its own, because it forks: a fork has all that it needs in memory and begins to run at once.
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from manetlab import Campaign
from manetlab.campaign.results import Results
from manetlab.errors import InputError
from tests.campaigns import small

KILLS = 20
RUNS = 200


def campaign() -> Campaign:
    """Two hundred runs of some milliseconds."""
    return small(replications=RUNS // 4, base={**small().base, "duration_s": 3.0})


def begin(store: Path) -> int:
    """Starts to run the campaign in a new process."""
    if (process := os.fork()) == 0:
        try:
            campaign().run(store, jobs=2)
        finally:
            os._exit(0)
    return process


def done(store: Path) -> int:
    """How many runs the store has; 0 if it is not there yet."""
    try:
        return len(Results.load(store).runs)
    except InputError:
        return 0


def main(folder: Path) -> None:
    """Kills and continues; prints how many runs were in the store after each kill."""
    # What is imported and looked up here is there in every process at once.
    small(replications=1).run().runs.info(buf=io.StringIO())
    began = time.monotonic()
    os.waitpid(begin(folder / "whole.db"), 0)
    whole_s = time.monotonic() - began
    dice = random.Random(4)
    counts = []
    for _ in range(KILLS):
        process = begin(folder / "killed.db")
        # Short enough that most kills come before all is done, although each process has its start to make.
        time.sleep(dice.uniform(0.0, whole_s / 4))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        counts.append(done(folder / "killed.db"))
    os.waitpid(begin(folder / "killed.db"), 0)
    print(json.dumps({"after_kills": counts, "finally": done(folder / "killed.db")}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
