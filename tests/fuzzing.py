"""Fuzzes the readers in Python: ``python -m tests.fuzzing [TARGET ...] [--runs N] [--seconds S] [--seed N]``.

`tests/readers.py` turns bytes into changes of something valid. An input that is refused where none was
before is traced, and so is one of many others: if it goes from a line of the reader to another in a way that
none did before it is kept, and most bytes are drawn as changes of what was kept. A target fails with anything
but success and manetlab's own error, after a second of processor time, or beyond 4 GB of memory; the bytes
are then printed. What is printed at the end is the share of each reader's lines that ran, and with
``--missing`` which did not.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import random
import resource
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from manetlab.errors import InputError
from tests.readers import TARGETS, prepare, refusal

READERS: dict[str, dict[str, tuple[str, ...]]] = {
    "scenario": {
        "scenario": ("Scenario.__init__", "Scenario.alike"),
        "scenario_data": (),
        # What makes fields is called when modules are imported.
        "input_tables": (
            *(
                "InputTable.__init_subclass__",
                "InputTable.__init__",
                "InputTable.__setattr__",
                "InputTable.__eq__",
            ),
            *(
                "InputTable._values",
                "InputTable.__repr__",
                "value",
                "number",
                "integer",
                "text",
                "choice",
                "table",
            ),
            *("section", "list_of", "row"),
        ),
        "sources": ("_coordinate",),
        "value_types": (),
        "flows": ("read_trace", "_packet", "_packet.<locals>.refused", "field_names", "cycle_fields", "like"),
        "parameters": ("diff", "set_by_sender"),
        "resolving": (),
        "traffic": ("video_frames",),
    },
    "campaign": {
        "campaign.plan": ("Campaign.run", "Campaign.changed", "Campaign.tasks"),
        "campaign.levels": (),
        "scenario_fields": (),
    },
    "sessions": {"web": ()},
    "trace": {
        "flows": (
            *("kinds", "field_names", "cycle_fields", "like", "checked", "with_packets"),
            *("_field", "_table", "_value", "_items"),
        )
    },
    "store": {
        "campaign.database": (
            *("Database.open", "Database.transaction", "Database._use_log", "Database._create"),
            *("_own_objects", "_check_place"),
        ),
        "campaign.store": (
            *("Store.begin", "Store.reach", "Store.open_session", "Store.close_session", "Store.check_code"),
            *("Store.settled", "Store.failure_count", "Store.forget_failures", "Store.has_foreign_runs"),
            *("Store.key_for", "Store.claim", "Store.renew", "Store.record", "Store._insert_run"),
            *("Store._is_settled", "Store._is_free", "key_of", "now"),
        ),
        "campaign.snapshot": (),
        # What is made of the tables afterwards.
        "campaign.run_tables": (
            *("RunTables.first_runs", "RunTables.measures_of_runs", "RunTables.measures_of_flows"),
            *("RunTables.counts", "RunTables.parts", "witnesses", "arrays_of"),
        ),
        "campaign.results": (
            *(
                "Results.xarray",
                "Results.summary",
                "Results.family",
                "Results.comparisons",
                "Results.standings",
            ),
            *("Results.asking", "Results.compare", "Results.values_of", "Results.measured", "Results.wanted"),
            *("Results.export", "Results.command"),
        ),
        "campaign.series": ("folder_of", "write", "write_parquet", "_remove_leftovers"),
    },
}
"""The modules that each target reads with, and the functions in them that it does not read with."""
FIRST = {"store": bytes((0, 0, 0, 0, 3, 0, 2, 1, 1))}
"""The first input: a store whose tables are all read, which is done to few because it takes long."""
TRACED_FIRST = 1000
"""So many inputs are traced at the beginning, and then one in `TRACED_EVERY`."""
TRACED_EVERY = 32
LONGEST = 160
"""Most bytes of an input."""


def drawn(dice: random.Random) -> bytes:
    """Bytes of one input."""
    return dice.randbytes(dice.randrange(4, 120))


def mutated(dice: random.Random, kept: list[bytes]) -> bytes:
    """Bytes of one input that was kept, with one to four changes."""
    data = bytearray(dice.choice(kept))
    for _ in range(dice.randrange(1, 5)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(5):
            case 0 | 1:
                data[at : at + 1] = dice.randbytes(1)
            case 2:
                del data[at : at + dice.randrange(1, 5)]
            case 3:
                data[at:at] = dice.randbytes(dice.randrange(1, 5))
            case _:
                other = dice.choice(kept)
                data[at:] = other[dice.randrange(len(other) + 1) :]
    return bytes(data[:LONGEST])


def lines_of(name: str, without: tuple[str, ...]) -> tuple[str, set[int]]:
    """A module's file, and the lines of its functions without these."""
    module = importlib.import_module(f"manetlab.{name}")
    lines: set[int] = set()
    waiting = [compile(inspect.getsource(module), module.__file__ or "", "exec")]
    while waiting:
        code = waiting.pop()
        # What runs when the module is imported is no reading.
        function = code.co_qualname.partition(".<locals>.<")[0]
        if code.co_flags & inspect.CO_OPTIMIZED and function not in without:
            lines |= {line for _, _, line in code.co_lines() if line} - {code.co_firstlineno}
        waiting += [each for each in code.co_consts if inspect.iscode(each)]
    return str(module.__file__), lines


Step = tuple[str, int, int]
"""From one line of a file to another."""


class Guide:
    """Which lines of the target's modules ran, and which inputs went from one to another first."""

    def __init__(self, target: str) -> None:
        self._wanted = {module: lines_of(module, without) for module, without in READERS[target].items()}
        self._files = {file for file, _ in self._wanted.values()}
        self._known: set[tuple[Step, int]] = set()
        self.kept: list[bytes] = []

    def run(self, target: Callable[[bytes], None], data: bytes) -> InputError | None:
        """Gives bytes to a target, and keeps them if they do what none did before."""
        steps: Counter[Step] = Counter()

        def trace(frame: FrameType, _event: str, _: Any) -> Any:
            file = frame.f_code.co_filename
            if file not in self._files:
                return None
            last = 0

            def step(frame: FrameType, event: str, _: Any) -> Any:
                nonlocal last
                if event == "line":
                    steps[file, last, frame.f_lineno] += 1
                    last = frame.f_lineno
                return step

            return step

        sys.settrace(trace)
        try:
            return refusal(target, data)
        finally:
            sys.settrace(None)
            # How often counts, too: once, twice, up to 4, 8, 16 times, more.
            found = {(step, min(count - 1, 16).bit_length()) for step, count in steps.items()}
            if not found <= self._known:
                self._known |= found
                self.kept.append(data)

    def missed(self) -> dict[str, list[int]]:
        """The lines of each module that did not run."""
        seen = {(file, line) for (file, _, line), _ in self._known}
        return {
            module: sorted(line for line in lines if (file, line) not in seen)
            for module, (file, lines) in self._wanted.items()
        }

    def shares(self) -> str:
        """The share of each module's lines that ran, and of all, in words."""
        missed = self.missed()
        counts = {
            name: (len(lines) - len(missed[name]), len(lines)) for name, (_, lines) in self._wanted.items()
        }
        ran, all_lines = (sum(each) for each in zip(*counts.values(), strict=True))
        parts = ", ".join(f"{name} {ran / lines:.0%}" for name, (ran, lines) in counts.items())
        return f"{ran / all_lines:.1%} of {all_lines} lines ({parts})"


def place_of(error: BaseException) -> tuple[int, ...]:
    """The lines that were being executed when it was raised, from the caller's to its own."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return tuple(lines)


def fuzz(name: str, runs: int, seconds: float, seed: int, is_verbose: bool) -> bool:
    """Gives a target inputs until there were enough; False if one failed."""
    target, dice, guide = TARGETS[name], random.Random(seed), Guide(name)
    # What is made once is not an input's time.
    prepare(name)
    guide.run(target, FIRST.get(name, b""))
    read = tried = 0
    slowest = 0.0
    refused: set[tuple[int, ...]] = set()
    began, used = time.monotonic(), time.process_time()
    while tried < runs and time.monotonic() - began < seconds:
        data = mutated(dice, guide.kept) if guide.kept and dice.random() < 0.8 else drawn(dice)
        before = time.process_time()
        try:
            if tried < TRACED_FIRST or tried % TRACED_EVERY == 0:
                error = guide.run(target, data)
            else:
                error = refusal(target, data)
            if error is not None and (place := place_of(error)) not in refused:
                refused.add(place)
                guide.run(target, data)
        except BaseException:
            print(f"{name}: failed at input {tried} of seed {seed}: bytes.fromhex({data.hex()!r})")
            traceback.print_exc(file=sys.stdout)
            return False
        took = time.process_time() - before
        slowest = max(slowest, took)
        read += error is None
        if took > 1.0:
            print(f"{name}: {took:.1f} s for input {tried} of seed {seed}: bytes.fromhex({data.hex()!r})")
            return False
        tried += 1
    wall, cpu = time.monotonic() - began, time.process_time() - used
    print(
        f"{name}: {tried} inputs, {read} of them read, {wall:.0f} s ({cpu:.0f} s of processor), "
        f"slowest {slowest:.3f} s, {len(guide.kept)} kept; {guide.shares()}",
        flush=True,
    )
    if is_verbose:
        for module, lines in guide.missed().items():
            print(f"  {module}: lines {', '.join(map(str, lines))}", flush=True)
    return True


def main() -> int:
    """Fuzzes the targets that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--runs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missing", action="store_true", help="list the lines that did not run")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
    warnings.simplefilter("ignore")
    names = asked.targets or list(TARGETS)
    if len(names) == 1:
        return 0 if fuzz(names[0], asked.runs, asked.seconds, asked.seed, asked.missing) else 1
    # What one target has read is kept in memory, and would not be read again by the next.
    options = [each for each in sys.argv[1:] if each not in names]
    return max(subprocess.call([sys.executable, "-m", "tests.fuzzing", name, *options]) for name in names)


if __name__ == "__main__":
    sys.exit(main())
