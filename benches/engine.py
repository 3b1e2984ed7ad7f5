"""The engine of live pages beside the native one: the same runs, in turn, in Node and in Chromium."""

import itertools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from selenium.webdriver import Chrome

from benches.measuring import in_turn, progress, ratios, spread
from manetlab import Scenario, run
from manetlab.resolving import Resolved
from manetlab.tables import Table
from tests.engine import answered_in, engine_page, in_node, request

TICKS = os.sysconf("SC_CLK_TCK")
DURATIONS_S = (100.0, 500.0)
"""The shorter the run, the more of it passes before the engine's code is optimised."""
Cost = tuple[float, str]
"""CPU time in s, and the result hash."""


def scenario(duration_s: float) -> Resolved:
    """A network of the standard scenario's size and traffic."""
    return Scenario(
        profile="ns-2.35",
        duration_s=duration_s,
        warmup_s=20.0,
        movement={"waypoint": {"nodes": 50, "width_m": 1000.0, "height_m": 1000.0, "speed_max": 20.0}},
        traffic={
            "random": {"tcp": 10, "cbr": 10, "tcp_start_s": 20.0, "cbr_bytes": 512, "cbr_interval_s": 0.4096}
        },
    ).resolve()


def table(rounds: int) -> Table:
    """CPU time of a run without and with a recording."""
    progress(f"the engine of live pages, {rounds} rounds")
    columns = ("", "natively", "in Node", "÷ native", "in Chromium", "÷ native")
    shown = Table(f"The engine of live pages, 50 nodes, {rounds} rounds", columns)
    with engine_page() as browser, tempfile.TemporaryDirectory() as folder:
        for duration_s, is_recorded in itertools.product(DURATIONS_S, (False, True)):
            resolved = scenario(duration_s)
            text = request(resolved, is_recorded)
            path = Path(folder, "run.mlrec") if is_recorded else False
            ways: list[Callable[[], Cost]] = [
                lambda resolved=resolved, path=path: natively(resolved, path),
                lambda text=text: node(text),
                lambda text=text: in_page(browser, text),
            ]
            # The first run in a page also compiles the module; users wait for it when the page opens.
            in_page(browser, text)
            native, by_node, by_page = in_turn(rounds, *ways)
            hashes = {each[1] for costs in (native, by_node, by_page) for each in costs}
            assert len(hashes) == 1, "all make the same run"
            costs = [[each[0] for each in found] for found in (native, by_node, by_page)]
            shown.add(
                f"{duration_s:g} s{', recorded' if is_recorded else ''}",
                spread(costs[0], 2, " s"),
                *(
                    each
                    for cost in costs[1:]
                    for each in (spread(cost, 2, " s"), spread(ratios(cost, costs[0])))
                ),
            )
    shown.notes.append(
        "CPU time of the run alone; in Chromium that of the renderer's process during the run."
    )
    return shown


def natively(resolved: Resolved, record: Path | bool) -> Cost:
    """A run here."""
    result = run(resolved, record=record)
    return float(result.provenance["cpu_time_s"]), result.hash


def node(text: str) -> Cost:
    """A run in Node: its process's CPU time while the engine runs."""
    [answer] = in_node([text])
    return answer["cpu_ms"] / 1e3, answer["hash"]


def in_page(browser: Chrome, text: str) -> Cost:
    """A run in Chromium."""
    before = renderers_cpu_s(browser)
    answer = answered_in(browser, text)
    return renderers_cpu_s(browser) - before, answer["hash"]


def renderers_cpu_s(browser: Chrome) -> float:
    """The CPU time of the browser's processes that run pages, so far."""
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            is_renderer = b"--type=renderer" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        if is_renderer:
            times[int(folder.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    root = browser.service.process.pid
    return sum(time_s for process, time_s in times.items() if descends(process, root, parents))


def descends(process: int, root: int, parents: dict[int, int]) -> bool:
    """Is a process a child of another one, or a child's child?"""
    while process in parents:
        if process == root:
            return True
        process = parents[process]
    return False
