"""Times the simulator beside ns-2.35 on the same files: 10 TCP and 10 CBR flows among 50 moving nodes.

Both run on one core, in turn, several times; what counts is CPU time (user and system) of the whole process,
from its start to its end, files read and results written. The ratio is taken in pairs.
"""

import argparse
import json
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
    ours += ["--routing", "aodv", "--tcp", "reno", "--profile", "ns-2.35", "--seed", 1]
    ours += ["--duration", STOP_S, "--warmup", 50]
    theirs = ["ns", ROOT / "benches" / "ns2.tcl", movement, traffic, 50, STOP_S, 1]
    rounds = []
    print(f"{asked.scenario}, {STOP_S} s, {asked.rounds} rounds, one core", file=sys.stderr)
    for number in range(asked.rounds):
        of_ours, output = cpu_time_s(ours)
        of_theirs, _ = cpu_time_s(theirs)
        rounds.append((of_ours, json.loads(output)["provenance"]["cpu_time_s"], of_theirs))
        print(f"  round {number + 1}: manetlab {of_ours:.2f} s, ns-2 {of_theirs:.2f} s", file=sys.stderr)
    report("manetlab, whole command", [whole for whole, _, _ in rounds], "s")
    report("manetlab, the run alone", [run for _, run, _ in rounds], "s")
    report("ns-2.35, whole command", [theirs for _, _, theirs in rounds], "s")
    report("ratio, whole commands", [theirs / whole for whole, _, theirs in rounds], "times")
    report("ratio, our run alone", [theirs / run for _, run, theirs in rounds], "times")


def cpu_time_s(command: list[object]) -> tuple[float, str]:
    """CPU time of a command and its children, on one core, and what it prints."""
    words = [str(word) for word in command]
    if shutil.which("taskset"):
        core = min(os.sched_getaffinity(0))
        words = ["taskset", "-c", str(core), *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def report(what: str, values: list[float], unit: str) -> None:
    low, middle, high = min(values), statistics.median(values), max(values)
    print(f"{what:<24} median {middle:6.2f} {unit}  (least {low:.2f}, greatest {high:.2f})")


if __name__ == "__main__":
    main()
