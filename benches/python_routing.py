"""What a routing protocol costs in Python: the same flooding in both languages, several runs at a time."""

import time
from typing import Any

from benches.measuring import in_turn, progress, ratios, spread
from manetlab import Scenario, run, run_many
from manetlab.examples.flooding import Flooding
from manetlab.examples.greedy import Greedy
from manetlab.tables import Table

RUNS = 4
"""Runs whose time by the clock is taken, with one thread and with two."""


def scenario(seed: int, routing: Any) -> Scenario:
    """50 moving nodes, 10 CBR flows of four packets a second, 60 s."""
    return Scenario.build(
        {
            "movement": {"waypoint": {"nodes": 50}},
            "traffic": {"random": {"cbr": 10, "cbr_start_within_s": 5.0}},
            "duration_s": 60.0,
            "seed": seed,
            "routing": routing,
        }
    )


def cpu_s(seed: int, routing: Any) -> tuple[float, int, str]:
    """CPU time and events of a run, and its hash."""
    result = run(scenario(seed, routing))
    return result.provenance["cpu_time_s"], result.provenance["events"], result.hash


def clock_s(routing: Any, jobs: int) -> float:
    """Time by the clock of some runs."""
    started = time.perf_counter()
    run_many([scenario(seed, routing) for seed in range(RUNS)], jobs=jobs)
    return time.perf_counter() - started


def table(rounds: int) -> Table:
    """CPU time of runs by language, and what a second thread gains."""
    progress(f"routing in Python, {rounds} rounds")
    rust, python, greedy, aodv = in_turn(
        rounds, *(lambda kind=kind: cpu_s(1, kind) for kind in ("flooding", Flooding, Greedy, "aodv"))
    )
    assert rust[0][2] == python[0][2], "the two floodings make the same run"
    shown = Table(f"Routing protocols in Python, {rounds} rounds", ("", "CPU time", "events"))
    named = {"flooding in Rust": rust, "flooding in Python": python, "greedy in Python": greedy, "AODV": aodv}
    for name, costs in named.items():
        shown.add(name, spread([cost[0] for cost in costs], 2, " s"), f"{costs[0][1]:,}")
    slower = ratios([cost[0] for cost in python], [cost[0] for cost in rust])
    shown.add("flooding, Python ÷ Rust", spread(slower, 1), "")
    for name, kind in (("Python", Flooding), ("Rust", "flooding")):
        one, two = in_turn(rounds, lambda k=kind: clock_s(k, 1), lambda k=kind: clock_s(k, 2))
        shown.add(f"{RUNS} runs in {name}, clock, one thread ÷ two", spread(ratios(one, two), 2), "")
    return shown
