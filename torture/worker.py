"""A process that makes one run after the other, and how another process talks to it.

A worker reads a job a line from its standard input and writes an outcome a line to its standard output. It
ends itself when a run takes far too long or too much memory: its death is then the outcome.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
JOB_CPU_S = 60.0
"""CPU time after which a worker dies at a job, in s."""
JOB_WALL_S = 900.0
"""Time after which a worker is killed that does nothing, in s."""
WORKER_BYTES = 4_000_000_000
"""Memory at which a worker dies, in bytes of address space."""
MANY_BYTES = 1_000_000_000
"""Memory after which a worker is replaced, so that the next large run is noticed."""

Outcome = dict[str, Any]


class Worker:
    """A process that makes runs, begun again when it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115

    def ask(self, job: dict[str, Any]) -> Outcome:
        """What becomes of a job: a number to draw a scenario from, or its fields."""
        process = self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        if not select.select([process.stdout], [], [], JOB_WALL_S)[0]:
            process.kill()
            return self._dead(f"it did nothing for {JOB_WALL_S:.0f} s")
        line = process.stdout.readline()
        if not line:
            return self._dead("")
        outcome: Outcome = json.loads(line)
        if outcome.pop("held_bytes", 0) > MANY_BYTES:
            self._end()
        return outcome

    def close(self) -> None:
        """Ends the process for good."""
        self._end()
        self._said.close()

    def _end(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._forget()

    def _forget(self) -> None:
        """The process has ended: its pipes are closed."""
        assert self._process is not None
        with contextlib.suppress(BrokenPipeError), self._process:
            pass
        self._process = None

    def _alive(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._said.seek(0)
            self._said.truncate()
            pipe, command = subprocess.PIPE, [sys.executable, "-m", "torture.worker"]
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._said, text=True, cwd=ROOT
            )
        return self._process

    def _dead(self, why: str) -> Outcome:
        """The outcome of a job at which the process died."""
        assert self._process is not None
        status = self._process.wait()
        self._forget()
        self._said.seek(0)
        said = self._said.read()[-2000:]
        ended = signal.strsignal(-status) if status < 0 else f"status {status}"
        if -status == signal.SIGPROF:
            ended = f"more than {JOB_CPU_S:.0f} s of CPU"
        return {"status": "failed", "why": f"the process died: {why or ended}", "error": said}


def main() -> None:
    """Does jobs until the input ends."""
    from torture import drawing, trial

    # The hard limit stays: Node, which a relation starts, reserves more than it uses, and lifts its limit.
    resource.setrlimit(resource.RLIMIT_AS, (WORKER_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Ctrl-C ends the session; workers end when their input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What Python or Rust print goes where errors go: the output is for outcomes.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    watch = trial.Watch()
    for line in sys.stdin:
        job = json.loads(line)
        # By default this signal ends the process, whatever it is in.
        signal.setitimer(signal.ITIMER_PROF, JOB_CPU_S)
        if "number" in job:
            drawn = drawing.drawn(job["number"])
            outcome = trial.try_out(
                drawn.fields, watch, drawn.again, drawn.series_s, job["cpu_s"], drawn.relation
            )
            outcome |= drawn.described()
        else:
            again, series_s, relation = (
                job.get("again", ""),
                job.get("series_s", 1.0),
                job.get("relation", ""),
            )
            outcome = trial.try_out(job["fields"], watch, again, series_s, relation=relation)
        signal.setitimer(signal.ITIMER_PROF, 0)
        outcome["held_bytes"] = trial.held_bytes()
        print(json.dumps(outcome), file=out, flush=True)


if __name__ == "__main__":
    main()
