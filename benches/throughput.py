"""Many short runs through Python on two cores, beside the bare engine."""

import itertools
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benches import scenarios
from benches.measuring import ENGINE, Cost, available, in_turn, measured, must, progress, ratios, spread
from manetlab.tables import Table

RUNS = 40
"""Runs of each core."""
RUN_S = 0.05
"""What a run shall take."""

CAMPAIGN = """
import json, sys, time
from manetlab import Scenario, run_many
movement, traffic, duration_s, runs, jobs = sys.argv[1:]
files = {"movement": {"file": movement}, "traffic": {"file": traffic}, "profile": "ns-2.35"}
asked = Scenario.build({**files, "duration_s": float(duration_s)})
# Not counted, as the bare engine does not count it: imports, and whatever is found out once.
run_many([asked], jobs=1)
started, started_cpu = time.perf_counter(), time.process_time()
results = run_many([asked.changed(seed=1 + number) for number in range(int(runs))], jobs=int(jobs))
wall_s, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
runs_s = sum(result.provenance["cpu_time_s"] for result in results)
hashes = [result.hash for result in results]
print(json.dumps({"wall_s": wall_s, "cpu_s": cpu_s, "runs_s": runs_s, "hashes": hashes}))
"""


def table(rounds: int) -> Table:
    """Runs per second by the clock, and CPU time by the kernel's count.

    Beside as many bare engines at once as there are cores: they share caches and memory as the runs
    of one process do, and whatever else the machine is doing.
    """
    files = _short_enough()
    cores = available()[:2]
    bare = [ENGINE, files.movement, files.core, RUNS, 1]
    words = [files.movement, files.traffic, files.duration_s, len(cores) * RUNS, len(cores)]
    python = [sys.executable, "-c", CAMPAIGN, *words]
    progress(f"throughput, runs of {files.duration_s:g} s, {rounds} rounds")
    alone, at_once, through = in_turn(
        rounds,
        lambda: _outputs([must(measured(bare))]),
        lambda: _outputs(_at_once(bare, cores)),
        lambda: _outputs([must(measured(python, cores))]),
    )
    hashes = {each["hash"] for each in itertools.chain.from_iterable(alone + at_once)}
    assert hashes <= {name for (many,) in through for name in many["hashes"]}, "all make the same runs"
    one = [RUNS / each["wall_time_s"] for (each,) in alone]
    several = [sum(RUNS / each["wall_time_s"] for each in both) for both in at_once]
    python_rate = [len(cores) * RUNS / many["wall_s"] for (many,) in through]
    shown = Table(f"Throughput on {len(cores)} cores, {rounds} rounds", ("", ""))
    shown.add("one run in the bare engine", spread([1e3 / each for each in one], 1, " ms"))
    shown.add("bare engine, runs per second", spread(one, 1))
    shown.add(f"{len(cores)} bare engines at once, runs per second", spread(several, 1))
    shown.add("run_many, runs per second", spread(python_rate, 1))
    shown.add(
        f"run_many ÷ {len(cores)} bare engines at once", spread(_percent(python_rate, several), 0, " %")
    )
    doubled = [len(cores) * each for each in one]
    shown.add(f"run_many ÷ {len(cores)} × one bare engine", spread(_percent(python_rate, doubled), 0, " %"))
    own = [100 * (many["cpu_s"] - many["runs_s"]) / many["cpu_s"] for (many,) in through]
    shown.add("CPU time of run_many outside of the engine", spread(own, 1, " %"))
    return shown


def _outputs(costs: list[Cost]) -> list[dict[str, Any]]:
    return [json.loads(cost.output) for cost in costs]


def _at_once(command: list[object], cores: list[int]) -> list[Cost]:
    with ThreadPoolExecutor(len(cores)) as pool:
        return [must(cost) for cost in pool.map(lambda core: measured(command, [core]), cores)]


def _percent(over: list[float], under: list[float]) -> list[float]:
    return [100 * each for each in ratios(over, under)]


def _short_enough() -> scenarios.Files:
    """The standard scenario, cut so that a run takes about `RUN_S`."""
    duration_s = 20.0
    for _ in range(2):
        files = scenarios.standard(duration_s, 0.0, "short")
        once = _least(files).cpu_s / 5
        duration_s = round(duration_s * RUN_S / once, 1)
    return scenarios.standard(duration_s, 0.0, "short")


def _least(files: scenarios.Files) -> Cost:
    costs = [must(measured([ENGINE, files.movement, files.core, 5])) for _ in range(3)]
    return min(costs, key=lambda cost: cost.cpu_s)
