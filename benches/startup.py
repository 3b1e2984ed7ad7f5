"""How long it takes until something happens."""

import sys
from pathlib import Path

from benches.measuring import MANETLAB, OUT, ROOT, Cost, in_turn, measured, must, progress, spread
from manetlab.files import write_text
from manetlab.tables import Table

CHAIN = ROOT / "validation" / "ns2" / "chain1"
TOML = """
duration_s = 1.0
movement.chain = { nodes = 2, spacing_m = 100.0 }

[[traffic.flows]]
kind = "tcp"
src = 0
dst = 1
start_s = 0.0
"""


def table(rounds: int, beside: Path | None = None) -> Table:
    """Time by the clock and CPU time of the shortest commands.

    Args:
        rounds: Measurements of each command.
        beside: The command ``manetlab`` of another build, whose runs are measured in turn with this build's.
    """
    run = ["--movement", f"{CHAIN}.tcl", "--traffic", f"{CHAIN}.traffic.tcl", "--duration", "11"]
    OUT.mkdir(parents=True, exist_ok=True)
    write_text(OUT / "chain.toml", TOML)
    commands: dict[str, list[object]] = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import manetlab": [sys.executable, "-c", "import manetlab"],
        "manetlab --help": [*MANETLAB, "--help"],
        "manetlab run, of 1 ms": [*MANETLAB, "run", *run],
        "manetlab run --json, of 1 ms": [*MANETLAB, "run", *run, "--json"],
        "manetlab run --json of TOML, of 1 ms": [*MANETLAB, "run", OUT / "chain.toml", "--json"],
        "import everything that run_many needs": [
            sys.executable,
            "-c",
            "from manetlab import Result, Scenario, run, run_many",
        ],
    }
    progress(f"start-up, {rounds} rounds")
    if beside is not None:
        for name, words in list(commands.items()):
            if words[: len(MANETLAB)] == MANETLAB:
                commands[f"{name}: other build"] = [beside, *words[len(MANETLAB) :]]
                # As a script of its environment begins, like the other's.
                commands[name] = [Path(sys.executable).with_name("manetlab"), *words[len(MANETLAB) :]]
    ways = [lambda command=command: must(measured(command)) for command in commands.values()]
    costs: list[list[Cost]] = in_turn(rounds, *ways)
    shown = Table(f"Start-up, {rounds} rounds", ("", "clock", "CPU time"))
    for name, each in zip(commands, costs, strict=True):
        clock = spread([1e3 * cost.wall_s for cost in each], 0, " ms")
        shown.add(name, clock, spread([1e3 * cost.cpu_s for cost in each], 0, " ms"))
    return shown
