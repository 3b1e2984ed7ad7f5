"""Times the simulator beside ns-2.35 on the same files: 10 TCP and 10 CBR flows among 50 moving nodes.

Both run on one core, in turn, several times; what counts is CPU time (user and system) of the whole process,
from its start to its end, files read and results written. The ratio is taken in pairs.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "tests" / "data" / "ns2"
STOP_S = 300


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scenario", default="p01-10tcp", help="a scenario of tests/data/ns2")
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    movement = FILES / f"{asked.scenario.split('-')[0]}.mov"
    traffic = FILES / f"{asked.scenario}.traffic.tcl"
    ours = [sys.executable, "-m", "manetlab", "run", "--movement", movement, "--traffic", traffic, "--json"]
    ours += [
        "--routing",
        "aodv",
        "--tcp",
        "reno",
        "--profile",
        "ns-2.35",
        "--duration",
        STOP_S,
        "--warmup",
        50,
    ]
    theirs = ["ns", ROOT / "benches" / "ns2.tcl", movement, traffic, 50, STOP_S, 1]
    pairs = []
    print(f"{asked.scenario}, {STOP_S} s, {asked.rounds} rounds, one core", file=sys.stderr)
    for number in range(asked.rounds):
        pair = cpu_time_s([*ours, "--seed", 1]), cpu_time_s(theirs)
        pairs.append(pair)
        print(f"  round {number + 1}: manetlab {pair[0]:.2f} s, ns-2 {pair[1]:.2f} s", file=sys.stderr)
    report("manetlab, CPU time", [a for a, _ in pairs], "s")
    report("ns-2.35, CPU time", [b for _, b in pairs], "s")
    report("ratio ns-2 / manetlab", [b / a for a, b in pairs], "times")


def cpu_time_s(command: list[object]) -> float:
    """CPU time of a command and its children, on one core."""
    words = [str(word) for word in command]
    if shutil.which("taskset"):
        core = min(os.sched_getaffinity(0))
        words = ["taskset", "-c", str(core), *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def report(what: str, values: list[float], unit: str) -> None:
    low, middle, high = min(values), statistics.median(values), max(values)
    print(f"{what:<24} median {middle:6.2f} {unit}  (least {low:.2f}, greatest {high:.2f})")


if __name__ == "__main__":
    main()
