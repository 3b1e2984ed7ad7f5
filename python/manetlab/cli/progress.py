"""How work goes on, on standard error: a bar on a terminal; of a campaign, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manetlab.campaign.execution import Report
    from manetlab.campaign.results import Results
    from manetlab.running import Result
    from manetlab.scenario import Scenario

MANY_DRAWS = 500
"""Draws of the movement that take a second or more."""
LINE_S = 10.0
"""Real time between plain lines, in s."""
PATIENCE_S = 1.0
"""Real time after which a command says that it is at work, in s."""


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Says on standard error that ``what`` goes on and since when, if it takes longer than a second."""
    done = threading.Event()
    teller = threading.Thread(target=_tell_time, args=(what, done, time.monotonic()), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell_time(what: str, done: threading.Event, started: float) -> None:
    on_terminal = sys.stderr.isatty()
    pause_s = PATIENCE_S if on_terminal else LINE_S
    told = False
    while not done.wait(pause_s):
        text = f"{what}: {_clock(time.monotonic() - started)}"
        print(
            f"\r{text}" if on_terminal else f"{text} so far", end="" if on_terminal else "\n", file=sys.stderr
        )
        sys.stderr.flush()
        told = on_terminal
    if told:
        # To the line's beginning, and what is there away: results come next.
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def kept_in(store: Path) -> Iterator[None]:
    """Ctrl-C within says that finished runs are in the store; the command's group prints it and ends."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"finished runs are kept in {store}; the same command continues") from None


def run_with_bar(scenarios: list[Scenario], what: str, jobs: int | None) -> list[Result]:
    """Runs all of them behind a bar that names ``what`` is run."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from manetlab.running import run_many

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=len(scenarios))
        return run_many(scenarios, jobs=jobs, progress=lambda _, __: bar.advance(task))


@contextlib.contextmanager
def shown_progress(name: str) -> Iterator[Callable[[Report], None]]:
    """What a campaign is to call as it goes on."""
    if not sys.stderr.isatty():
        with _lines(name) as tell:
            yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rest]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None, rest="")
        yield lambda report: bar.update(
            task, total=report.total, completed=report.done + report.failed, rest=_rest(report)
        )


@contextlib.contextmanager
def _lines(name: str) -> Iterator[Callable[[Report], None]]:
    last: Report | None = None
    told_at = -LINE_S

    def tell(report: Report) -> None:
        nonlocal last, told_at
        last = report
        if time.monotonic() - told_at >= LINE_S:
            told_at = time.monotonic()
            write(report)
            last = None

    def write(report: Report) -> None:
        done = f"{report.done + report.failed} of {report.total} runs"
        print(f"{name}: {done}, {_rest(report)}", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if last is not None:
            write(last)


@contextlib.contextmanager
def shown_draws(results: Results) -> Iterator[None]:
    """Says on standard error how many movements have been looked at, if means are adjusted for them."""
    if not results.campaign.adjusted:
        yield
        return
    draws = results.adjustment.draws
    if not sys.stderr.isatty():
        draws.progress = _told_once()
        yield
        draws.progress = None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("draws of the movement", total=None)
        draws.progress = lambda done, wanted: bar.update(task, completed=done, total=wanted)
        yield
        draws.progress = None


def _told_once() -> Callable[[int, int], None]:
    """A sentence for a large number of draws, once."""
    told: list[int] = []

    def tell(done: int, wanted: int) -> None:
        if wanted - done >= MANY_DRAWS and not told:
            told.append(wanted)
            print(f"looking at {wanted} draws of the movement", file=sys.stderr, flush=True)

    return tell


def _rest(report: Report) -> str:
    parts = [f"{report.failed} failed"] if report.failed else []
    parts.append(f"{report.rate:.1f} runs/s")
    if report.left_s is not None:
        parts.append(f"{_clock(report.left_s)} left")
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}"
