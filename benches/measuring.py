"""CPU time and memory of commands, in turn, on one core."""

import math
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "bench"
"""Where scenarios are made: too large for the repository, and made again by the same seed."""
ENGINE = ROOT / "target" / "release" / "examples" / "engine"
"""The simulator without Python: ``cargo build --release -p manetlab-formats --example engine``."""
MANETLAB = [sys.executable, "-m", "manetlab"]


@dataclass(frozen=True)
class Cost:
    """What a command took.

    Attributes:
        cpu_s: CPU time, user and system, of the process and its children, in s.
        wall_s: From start to end, in s.
        peak_mb: Most memory of the process, in 10^6 bytes.
        output: What it printed.
    """

    cpu_s: float
    wall_s: float
    peak_mb: float
    output: str


def measured(
    command: Sequence[object], cores: Iterable[int] | None = None, limit_s: float | None = None
) -> Cost | None:
    """Runs a command on some cores, the first alone if not given; None if it took more CPU time than allowed.

    The CPU time is that which the kernel counts: other processes on the machine make it longer, through the
    caches and the memory that they share, but by far not as much as the time on the clock.
    """
    import time

    chosen = set(cores) if cores is not None else {available()[0]}

    def prepare() -> None:
        os.sched_setaffinity(0, chosen)
        if limit_s is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit_s), math.ceil(limit_s) + 1))

    words = [str(word) for word in command]
    started = time.perf_counter()
    child = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=prepare
    )
    output, errors = _read(child)
    _, status, used = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu_s = used.ru_utime + used.ru_stime
    if child.returncode != 0:
        if limit_s is not None and cpu_s >= limit_s - 1:
            return None
        raise SystemExit(f"{' '.join(words)}\nexit status {child.returncode}\n{errors}")
    return Cost(cpu_s, wall_s, used.ru_maxrss * 1024 / 1e6, output)


def _read(child: subprocess.Popen[str]) -> tuple[str, str]:
    """All output of a process, whose end is waited for elsewhere."""
    from threading import Thread

    assert child.stdout is not None and child.stderr is not None
    kept: list[str] = []
    errors = child.stderr
    # Both at once: a full pipe would stop the process.
    beside = Thread(target=lambda: kept.append(errors.read()))
    beside.start()
    output = child.stdout.read()
    beside.join()
    return output, kept[0]


def must(cost: Cost | None) -> Cost:
    """A cost that was not limited."""
    assert cost is not None
    return cost


def available() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def in_turn(rounds: int, *ways: Callable[[], T]) -> list[list[T]]:
    """What each way gives, round by round in turn, so that all see the same load of the machine."""
    results: list[list[T]] = [[] for _ in ways]
    for number in range(rounds):
        for result, way in zip(results, ways, strict=True):
            result.append(way())
        progress(f"round {number + 1} of {rounds}")
    return results


def spread(values: Sequence[float], digits: int = 2, unit: str = "") -> str:
    """Median, least and greatest."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f} to {high:.{digits}f})"


def ratios(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """Quotients in pairs: what disturbs a round disturbs both."""
    return [a / b for a, b in zip(over, under, strict=True)]


def progress(text: str) -> None:
    """Tells whoever waits."""
    print(f"  {text}", file=sys.stderr, flush=True)
