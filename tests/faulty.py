"""Runs a campaign on a file system that fails: ``python -m tests.faulty FOLDER [EVERY]``.

The n-th call that writes to the store, its log, its time series or the exported files fails with an error,
with the same error from then on, or writes less than asked. Each time the campaign must end as if nothing had
happened, or with manetlab's own error; afterwards it is continued without faults, and what is exported must
be what an undisturbed campaign exports, byte for byte. Only every EVERY-th n is tried.

Needs a C compiler. A process of its own, because it forks, and because the C library's calls are replaced
before it begins (`tests/faulty.c`).
"""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path

from manetlab import Campaign
from manetlab.errors import InputError
from tests.campaigns import exported, small

FAULTS = {
    "ENOSPC": (errno.ENOSPC, False),
    "ENOSPC from then on": (errno.ENOSPC, True),
    "EIO": (errno.EIO, False),
    "EINTR": (errno.EINTR, False),
    "short write": (0, False),
}
"""Name → number of the error (0: a short write), and whether it lasts."""
DONE, REFUSED, CRASHED = 0, 2, 3
"""How a disturbed process ended: as if nothing had happened, with manetlab's own error, or another."""


def compiled(folder: Path) -> Path:
    """The library that replaces the calls."""
    library = folder / "faulty.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def campaign() -> Campaign:
    """Four runs of some milliseconds, with time series."""
    return small(replications=1, series_s=0.5)


def use(folder: Path) -> None:
    """Runs the campaign and exports what it measured."""
    exported(campaign().run(folder / "s.db", jobs=1), folder / "out")


def disturbed(folder: Path, library: ctypes.CDLL, first: int, fault: str, log: Path) -> tuple[int, int]:
    """Uses the folder in a process in which a call fails; returns how it ended and how many calls it made."""
    number, lasts = FAULTS[fault]
    if (process := os.fork()) == 0:
        status = CRASHED
        try:
            library.faulty_arm(str(folder).encode(), first, 2**60 if lasts else first, number)
            use(folder)
            status = DONE
        except InputError:
            status = REFUSED
        except BaseException:
            traceback.print_exc(file=log.open("a"))
        finally:
            calls = library.faulty_calls()
            library.faulty_arm(b"", 0, 0, 0)
            log.with_suffix(".calls").write_text(str(calls))
            os._exit(status)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), int(log.with_suffix(".calls").read_text())


def main(folder: Path, every: int) -> None:
    """Tries every fault; prints how often each ended how, and what was wrong."""
    library = ctypes.CDLL(None)
    library.faulty_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_long, ctypes.c_int]
    library.faulty_calls.restype = ctypes.c_long
    # What is imported and looked up here is there in every process at once.
    small(replications=1).run().runs.info(buf=io.StringIO())
    log = folder / "log"
    (folder / "whole").mkdir()
    # Nothing fails at call 0.
    status, calls = disturbed(folder / "whole", library, 0, "EIO", log)
    assert status == DONE, log.read_text()
    wanted = exported(campaign().run(folder / "whole" / "s.db", jobs=1), folder / "again")
    ended: Counter[str] = Counter()
    wrong: list[str] = []
    for offset, fault in enumerate(FAULTS):
        for first in range(1 + offset % every, calls + 1, every):
            place = folder / "disturbed"
            place.mkdir()
            status, _ = disturbed(place, library, first, fault, log)
            ended[f"{fault}: {('done', '', 'refused', 'crashed')[status]}"] += 1
            if status == CRASHED:
                wrong.append(f"{fault} at call {first}: {log.read_text()}")
            try:
                # Into the folder in which the export may have broken off.
                if exported(campaign().run(place / "s.db", jobs=1), place / "out") != wanted:
                    wrong.append(f"{fault} at call {first}: another result")
            except InputError as error:
                wrong.append(f"{fault} at call {first}: cannot be continued: {error}")
            shutil.rmtree(place)
    print(json.dumps({"calls": calls, "ended": ended, "wrong": wrong}))


if __name__ == "__main__":
    if "faulty" not in os.environ.get("LD_PRELOAD", ""):
        built = compiled(Path(sys.argv[1]))
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.faulty", *sys.argv[1:]],
            {**os.environ, "LD_PRELOAD": str(built)},
        )
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
