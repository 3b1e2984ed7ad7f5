"""Runs random scenarios for a while, prints the smallest one of each kind of failure, and says what was done.

    python -m torture --seconds 600
    python -m torture --show 4711 > scenario.toml
    python -m torture --replay scenario.toml

Counts go to a file, to which the next sitting adds; it goes on with the number after the last.
"""

from __future__ import annotations

import argparse
import itertools
import json
import queue
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from torture import drawing
from torture.relations import RELATIONS
from torture.shrinking import shrunk
from torture.tally import Tally
from torture.trial import CPU_S, FAILED, signature
from torture.worker import Outcome, Worker

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "torture"
CHUNK = 500
"""Scenarios after which the counts are written."""
MOST_SHRUNK = 20
"""Kinds of failures that are made small in a sitting."""


def main() -> int:
    """Tortures, shows or replays; 1 if something failed."""
    arguments = _arguments()
    if arguments.show is not None:
        print(tomli_w.dumps(drawing.drawn(arguments.show).fields), end="")
        return 0
    if arguments.replay is not None:
        return _replay(arguments.replay)
    arguments.tally.parent.mkdir(parents=True, exist_ok=True)
    before = Tally.read(arguments.tally)
    first = before.next_number if arguments.first is None else arguments.first
    sitting = Sitting(arguments.tally, arguments.seconds, arguments.count, arguments.workers, arguments.cpu_s)
    try:
        sitting.work(first)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    print(f"This sitting:\n{_indented(sitting.all.summary())}")
    if before.next_number:
        print(f"All of {arguments.tally}:\n{_indented(Tally.read(arguments.tally).summary())}")
    return int(bool(sitting.all.failed))


def _arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m torture", description=__doc__, formatter_class=raw)
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long (60)")
    parser.add_argument("--count", type=int, default=10**9, help="how many scenarios at most")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (1)")
    parser.add_argument("--cpu-s", type=float, default=CPU_S, help=f"CPU time of a run at most ({CPU_S})")
    parser.add_argument("--first", type=int, help="number of the first scenario (the next one)")
    parser.add_argument("--tally", type=Path, default=OUT / "tally.jsonl", help="the file of the counts")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print this scenario")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try this scenario out")
    return parser.parse_args()


def _replay(path: Path) -> int:
    fields = tomllib.loads(path.read_text(encoding="utf-8"))
    worker = Worker()
    failed = False
    for relation in ("", *RELATIONS):
        outcome = worker.ask(
            {"fields": fields, "again": "" if relation else "recorded", "relation": relation}
        )
        print(json.dumps({"relation": relation or "none", **outcome}, indent=2))
        failed |= outcome["status"] == FAILED
    worker.close()
    return int(failed)


class Sitting:
    """Scenarios that are run one after the other, or several at a time.

    Attributes:
        all: The counts.
    """

    def __init__(self, tally: Path, seconds: float, count: int, workers: int, cpu_s: float) -> None:
        self.all = Tally()
        self._cpu_s = cpu_s
        self._tally, self._count, self._workers = tally, count, workers
        self._commit = commit()
        self._end_s = time.monotonic() + seconds
        self._kinds: set[str] = set()

    def work(self, first: int) -> None:
        """Runs scenarios from this number on."""
        workers = [Worker() for _ in range(self._workers)]
        last = first + self._count
        for begin in itertools.count(first, CHUNK):
            numbers = range(begin, min(begin + CHUNK, last))
            if not numbers or time.monotonic() >= self._end_s:
                break
            self._chunk(numbers, workers)
        for worker in workers:
            worker.close()

    def _chunk(self, numbers: range, workers: list[Worker]) -> None:
        """Runs some scenarios and writes their counts."""
        began_s, chunk = time.monotonic(), Tally()
        waiting, outcomes = iter(numbers), queue.Queue[Outcome | None]()
        lock = threading.Lock()

        def work(worker: Worker) -> None:
            try:
                while time.monotonic() < self._end_s:
                    with lock:
                        number = next(waiting, None)
                    if number is None:
                        break
                    outcomes.put(_described(worker.ask({"number": number, "cpu_s": self._cpu_s}), number))
            finally:
                outcomes.put(None)

        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        at_work = len(threads)
        failures = []
        while at_work:
            outcome = outcomes.get()
            if outcome is None:
                at_work -= 1
                continue
            chunk.add(outcome, self._commit)
            if outcome["status"] == FAILED:
                failures.append(outcome)
        for outcome in failures:
            self._report(outcome, workers[0])
        chunk.seconds = time.monotonic() - began_s
        chunk.append(self._tally)
        self.all.merge(chunk)

    def _report(self, failure: Outcome, worker: Worker) -> None:
        """Prints a failure; the first of its kind as the smallest scenario that fails like it."""
        number, why = failure["number"], failure["why"]
        print(f"FAILED: number {number}: {why}", flush=True)
        kind = signature(why)
        if kind in self._kinds or len(self._kinds) >= MOST_SHRUNK:
            return
        self._kinds.add(kind)
        drawn = drawing.drawn(number)
        job = {"again": drawn.again, "series_s": drawn.series_s, "relation": drawn.relation}

        def fails(fields: drawing.Fields) -> bool:
            outcome = worker.ask({"fields": fields, **job})
            return outcome["status"] == FAILED and signature(outcome["why"]) == kind

        smallest = shrunk(drawn.fields, fails) if fails(drawn.fields) else drawn.fields
        text = f"# Number {number} at {self._commit}: {why}\n{tomli_w.dumps(smallest)}"
        path = OUT / "failures" / f"{number}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        said = "\n".join(failure.get("faults", [])[1:] or [failure.get("error", "")])
        print(_indented(f"{said}\n{path}:\n{text}"), flush=True)


def _described(outcome: Outcome, number: int) -> Outcome:
    """An outcome with what is counted of its scenario, which a worker that died could not say."""
    return outcome if "number" in outcome else {**outcome, **drawing.drawn(number).described()}


def commit() -> str:
    """The commit of the code that is run, as short as it can be."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done: Any = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return str(done.stdout.strip())


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
