"""How fast the page that plays runs is, in Chromium without a window and without a graphics card."""

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome

from benches import scenarios
from benches.measuring import OUT, measured, must, progress, spread
from manetlab import recording, view
from manetlab.tables import Table
from tests.browsers import chromium, set_window

WIDTH_PX, HEIGHT_PX = 1280, 800
PICTURES = 60
"""Pictures of which the rate is measured."""
SPEED = 0.1
"""Simulated seconds a second at which they are played: frames are seen to come and go."""
PLACES = 9
"""Instants to which the page seeks."""
LIMIT_S = 120.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
RENDERERS = {"WebGL2": "", "Canvas 2D": "plain=1&"}
"""What draws, and what asks for it in the page's address."""

AFTER_PAINT = """
const painted = (then) => requestAnimationFrame(() => setTimeout(then));
const done = arguments[arguments.length - 1];
"""
"""JavaScript: `painted` calls back when a frame of the browser is over."""


@dataclass(frozen=True)
class Seen:
    """What one visit of a page took.

    Attributes:
        first_ms: From the page's start to its first picture.
        late_ms: The same by a link to a moment near the end.
        all_ms: Until all events were read.
        cpu_s: CPU time of the browser's processes up to then, in s.
        rate: Pictures a second while playing.
        script_ms: The page's own CPU time for a picture.
        picture_cpu_ms: The CPU time that all of the browser's processes had for a picture.
        seek_ms: From asking for an instant to its picture, median of some instants.
    """

    first_ms: float
    late_ms: float
    all_ms: float
    cpu_s: float
    rate: float
    script_ms: float
    picture_cpu_ms: float
    seek_ms: float


def table(rounds: int) -> Table:
    """The standard scenario and a network of 1,000 nodes, a million events each, with both renderers."""
    columns = (
        "recording",
        "drawn with",
        "first picture",
        "the same, late moment",
        "all read",
        "its CPU time",
        "pictures a second",
        "script a picture",
        "CPU time a picture",
        "seek",
    )
    shown = Table(f"The page of a replay, {rounds} rounds", columns, text_columns=2)
    for name, path in _recordings():
        length_s = recording.open(path).head["duration_s"]
        page = view(path).save(path.with_suffix(".html"))
        seen: dict[str, list[Seen]] = {each: [] for each in RENDERERS}
        for number in range(rounds):
            for renderer, fragment in RENDERERS.items():
                seen[renderer].append(_visit(page, renderer, fragment, length_s))
            progress(f"{name}: round {number + 1} of {rounds}")
        for renderer, visits in seen.items():
            shown.add(name, renderer, *_cells(visits))
    shown.notes.append(
        f"Chromium without a window, {WIDTH_PX} × {HEIGHT_PX} pixels, with the software rendering that it "
        "chooses itself, a new one for each row and round. Pictures and their CPU time, that of all of the "
        f"browser's processes: {PICTURES} while playing at {SPEED} × in the middle of the run. The browser "
        "draws at most 60 a second."
    )
    return shown


def _cells(visits: list[Seen]) -> Iterator[str]:
    looks = {
        "first_ms": (0, " ms"),
        "late_ms": (0, " ms"),
        "all_ms": (0, " ms"),
        "cpu_s": (2, " s"),
        "rate": (1, ""),
        "script_ms": (1, " ms"),
        "picture_cpu_ms": (1, " ms"),
        "seek_ms": (0, " ms"),
    }
    for each in fields(Seen):
        digits, unit = looks[each.name]
        yield spread([getattr(visit, each.name) for visit in visits], digits, unit)


def _recordings() -> Iterator[tuple[str, Path]]:
    """Recordings of about a million events, by name."""
    runs = (
        ("standard, 50 nodes", scenarios.standard(370.0, 20.0, "page-standard")),
        ("1,000 nodes", scenarios.growing(1000, 8.5, 1, 0.0)),
    )
    for name, files in runs:
        path = OUT / f"page-{files.nodes}.mlrec"
        must(measured([*files.for_manetlab(seed=1), "--record", path]))
        events = sum(recording.open(path).index["events"].to_pylist())
        yield f"{name}, {events / 1e6:.2f} million events", path


def _visit(page: Path, renderer: str, fragment: str, length_s: float) -> Seen:
    """Opens a page in a new browser, plays, and seeks."""
    address = page.resolve().as_uri()
    with chromium() as browser:
        set_window(browser, WIDTH_PX, HEIGHT_PX, "light", is_mobile=False)
        browser.set_script_timeout(LIMIT_S)
        root = browser.service.process.pid
        before = _cpu_s(root)
        first_ms, all_ms = _opened(browser, f"{address}#{fragment}")
        cpu_s = _cpu_s(root) - before
        late_ms = _opened(browser, f"{address}#{fragment}t={0.9 * length_s:.3f}")[0]
        drawn = browser.execute_script("return manetlabReplay.drawn().renderer")
        if drawn != renderer:
            raise SystemExit(f"the browser draws with {drawn}, not with {renderer}")
        rate, script_ms, cpu_ms = _played(browser, root, 0.5e9 * length_s)
        return Seen(first_ms, late_ms, all_ms, cpu_s, rate, script_ms, cpu_ms, _sought(browser, length_s))


def _opened(browser: Chrome, address: str) -> tuple[float, float]:
    """Loads a page: the ms until its first picture, and until it has read everything."""
    browser.get("about:blank")
    browser.get(address)
    end = time.monotonic() + LIMIT_S
    while True:
        shown = browser.execute_script("return {...document.documentElement.dataset}")
        if "ready" in shown:
            return float(shown["drawn"]), float(shown["ready"])
        if "failed" in shown or time.monotonic() > end:
            raise SystemExit(f"{address}: {shown.get('failed', 'never ready')}")
        time.sleep(0.1)


def _played(browser: Chrome, root: int, from_ns: float) -> tuple[float, float, float]:
    """Pictures a second, the ms of the page's script for each, and the CPU time of all processes in ms."""
    play = (
        AFTER_PAINT
        + """
        const [from, speed, pictures] = arguments;
        manetlabReplay.play(from, speed);
        document.getElementById("play").click();
        let [count, began, cost] = [-10, 0, undefined];
        const next = () => {
          if (count === 0) [began, cost] = [performance.now(), manetlabReplay.cost()];
          if (count++ < pictures) return requestAnimationFrame(next);
          const [ms, now] = [performance.now() - began, manetlabReplay.cost()];
          document.getElementById("play").click();
          done([ms / pictures, (now.ms - cost.ms) / (now.pictures - cost.pictures)]);
        };
        requestAnimationFrame(next);"""
    )
    # Once before, so that what is compiled and allocated on first use is not measured.
    browser.execute_async_script(play, from_ns, SPEED, 10)
    before = _cpu_s(root)
    ms, script_ms = browser.execute_async_script(play, from_ns, SPEED, PICTURES)
    # The first ten pictures are not timed, but they cost as much.
    return 1e3 / ms, script_ms, 1e3 * (_cpu_s(root) - before) / (PICTURES + 10)


def _sought(browser: Chrome, length_s: float) -> float:
    seek = (
        AFTER_PAINT
        + """
        const began = performance.now();
        manetlabReplay.seek(arguments[0]);
        painted(() => done(performance.now() - began));"""
    )
    # Back and forth, not in order of time.
    places = [(number * 4 % PLACES + 0.5) / PLACES for number in range(PLACES)]
    return statistics.median(
        browser.execute_async_script(seek, round(1e9 * place * length_s)) for place in places
    )


def _cpu_s(root: int) -> float:
    """CPU time of all processes below one, in s."""
    children: dict[int, list[tuple[int, int]]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text(encoding="utf-8")
        except OSError:
            continue
        # After the name, which may hold anything, also brackets.
        words: list[Any] = stat.rpartition(")")[2].split()
        children.setdefault(int(words[1]), []).append((int(entry.name), int(words[11]) + int(words[12])))
    ticks, todo = 0, [root]
    while todo:
        for process, used in children.get(todo.pop(), []):
            ticks += used
            todo.append(process)
    return ticks / TICKS_PER_S
