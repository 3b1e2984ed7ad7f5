"""How long it takes until something happens."""

import sys

from benches.measuring import MANETLAB, ROOT, Cost, in_turn, measured, must, progress, spread
from manetlab.tables import Table

CHAIN = ROOT / "tests" / "data" / "ns2" / "chain1"


def table(rounds: int) -> Table:
    """Time by the clock and CPU time of the shortest commands."""
    run = ["--movement", f"{CHAIN}.tcl", "--traffic", f"{CHAIN}.traffic.tcl", "--duration", "11"]
    commands: dict[str, list[object]] = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import manetlab": [sys.executable, "-c", "import manetlab"],
        "manetlab --help": [*MANETLAB, "--help"],
        "manetlab run, of 1 ms": [*MANETLAB, "run", *run],
        "manetlab run --json, of 1 ms": [*MANETLAB, "run", *run, "--json"],
        "import everything that run_many needs": [
            sys.executable,
            "-c",
            "from manetlab import Result, Scenario, run, run_many",
        ],
    }
    progress(f"start-up, {rounds} rounds")
    ways = [lambda command=command: must(measured(command)) for command in commands.values()]
    costs: list[list[Cost]] = in_turn(rounds, *ways)
    shown = Table(f"Start-up, {rounds} rounds", ("", "clock", "CPU time"))
    for name, each in zip(commands, costs, strict=True):
        clock = spread([1e3 * cost.wall_s for cost in each], 0, " ms")
        shown.add(name, clock, spread([1e3 * cost.cpu_s for cost in each], 0, " ms"))
    return shown
