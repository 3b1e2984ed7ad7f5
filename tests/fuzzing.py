"""Fuzzes the readers in Python: ``python -m tests.fuzzing [TARGET ...] [--runs N] [--seconds S] [--seed N]``.

Bytes are drawn at random; `tests/readers.py` turns them into changes of something valid. A target fails with
anything but success and manetlab's own error, after a second of processor time, or beyond 4 GB of memory; the
bytes are then printed, and are the test of the fix. At the end a sample of inputs is traced: which share of
the reader's lines ran.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import random
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from tests.readers import TARGETS, accepts

READERS = {
    "scenario": ("scenario", "records", "sources", "values"),
    "campaign": ("campaign.plan", "campaign.levels", "campaign.fields"),
    "sessions": ("web",),
    "trace": ("flows",),
    "store": ("campaign.database", "campaign.results"),
}
"""The modules that each target reads with."""
TRACED = 300
"""Inputs of the sample for coverage, at most."""
TRACED_S = 10.0
"""Time for the sample, at most, in s."""


def drawn(dice: random.Random) -> bytes:
    """Bytes of one input."""
    return dice.randbytes(dice.randrange(4, 120))


def lines_of(name: str) -> tuple[str, set[int]]:
    """A module's file, and its lines that a function executes."""
    module = importlib.import_module(f"manetlab.{name}")
    lines: set[int] = set()
    waiting = [compile(inspect.getsource(module), module.__file__ or "", "exec")]
    while waiting:
        code = waiting.pop()
        # What runs when the module is imported is no reading.
        if code.co_name != "<module>" and code.co_flags & inspect.CO_OPTIMIZED:
            lines |= {line for _, _, line in code.co_lines() if line} - {code.co_firstlineno}
        waiting += [each for each in code.co_consts if inspect.iscode(each)]
    return str(module.__file__), lines


def coverage(name: str, target: Callable[[bytes], None], dice: random.Random) -> str:
    """Which share of each reader's lines a sample of inputs executes."""
    wanted = {module: lines_of(module) for module in READERS[name]}
    seen: dict[str, set[int]] = {file: set() for file, _ in wanted.values()}

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        lines = seen.get(frame.f_code.co_filename)
        if lines is None:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    began = time.monotonic()
    for _ in range(TRACED):
        if time.monotonic() - began > TRACED_S:
            break
        data = drawn(dice)
        sys.settrace(trace)
        try:
            accepts(target, data)
        finally:
            sys.settrace(None)
    shares = {module: len(seen[file] & lines) / len(lines) for module, (file, lines) in wanted.items()}
    return ", ".join(f"{module} {share:.0%}" for module, share in shares.items())


def fuzz(name: str, runs: int, seconds: float, seed: int) -> bool:
    """Gives a target inputs until there were enough; False if one failed."""
    target, dice = TARGETS[name], random.Random(seed)
    # What is made once is not an input's time.
    accepts(target, b"")
    read = tried = 0
    slowest = 0.0
    began, used = time.monotonic(), time.process_time()
    while tried < runs and time.monotonic() - began < seconds:
        data = drawn(dice)
        before = time.process_time()
        try:
            read += accepts(target, data)
        except BaseException:
            print(f"{name}: failed at input {tried} of seed {seed}: bytes.fromhex({data.hex()!r})")
            traceback.print_exc(file=sys.stdout)
            return False
        took = time.process_time() - before
        slowest = max(slowest, took)
        if took > 1.0:
            print(f"{name}: {took:.1f} s for input {tried} of seed {seed}: bytes.fromhex({data.hex()!r})")
            return False
        tried += 1
    wall, cpu = time.monotonic() - began, time.process_time() - used
    print(
        f"{name}: {tried} inputs, {read} of them read, {wall:.0f} s ({cpu:.0f} s of processor), "
        f"slowest {slowest:.3f} s; lines: {coverage(name, target, dice)}",
        flush=True,
    )
    return True


def main() -> int:
    """Fuzzes the targets that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--runs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
    warnings.simplefilter("ignore")
    names = asked.targets or list(TARGETS)
    passed = [fuzz(name, asked.runs, asked.seconds, asked.seed) for name in names]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
