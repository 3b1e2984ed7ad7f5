"""Counts the instructions of one run under callgrind: by radio arrival, MAC frame, event and function.

Unlike times, these counts do not depend on the machine's load. The scenario has 10 TCP and 10 CBR flows among
50 moving nodes, AODV, profile ``ns-2.35``.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from manetlab import Scenario

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "tests" / "data" / "ns2"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scenario", default="p01-10tcp", help="a scenario of tests/data/ns2")
    options.add_argument("--duration", type=float, default=60.0, help="simulated seconds")
    options.add_argument("--functions", type=int, default=15, help="how many functions to name")
    asked = options.parse_args()
    install_valgrind()
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "callgrind.out"
        result = run_counted(asked.scenario, asked.duration, profile)
        counts = by_function(profile)
        totals = summary(profile)
    arrivals, events = result["arrivals"], result["events"]
    frames = round(result["frames_per_s"] * asked.duration)
    instructions = totals["Ir"]
    print(f"{asked.scenario}, {asked.duration:g} s: {frames} frames, {arrivals} arrivals, {events} events")
    print(f"instructions per arrival   {instructions / arrivals:10.1f}")
    print(f"instructions per frame     {instructions / frames:10.0f}")
    print(f"instructions per event     {instructions / events:10.0f}")
    mispredicted = totals["Bcm"] + totals["Bim"]
    print(f"branches mispredicted per arrival (callgrind's model) {mispredicted / arrivals:.2f}")
    print("instructions per arrival by function, inlined functions with their callers:")
    for function, count in counts.most_common(asked.functions):
        print(f"{count / arrivals:10.1f}  {100 * count / instructions:5.1f} %  {function}")


def install_valgrind() -> None:
    """Installs the Debian package valgrind if there is none."""
    if shutil.which("valgrind"):
        return
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    for words in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "valgrind"]):
        subprocess.run([*as_root, *words], check=True, stdout=sys.stderr)


def run_counted(scenario: str, duration_s: float, profile: Path) -> dict[str, float]:
    """Runs the scenario in the bare engine under callgrind, which counts from the first event to the last.

    The package's compiled core has no names of functions; the bare engine's has.
    """
    building = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "manetlab-formats",
        "--example",
        "engine",
    ]
    subprocess.run(building, check=True, cwd=ROOT)
    movement = FILES / f"{scenario.split('-')[0]}.mov"
    fields = {
        "movement": {"file": str(movement)},
        "traffic": {"file": str(FILES / f"{scenario}.traffic.tcl")},
    }
    fields |= {"routing": "aodv", "tcp": "reno", "profile": "ns-2.35", "seed": 1}
    asked = Scenario.build({**fields, "duration_s": duration_s, "warmup_s": 0.0})
    core = profile.with_name("scenario.json")
    core.write_text(asked.resolve().core_json())
    counting = ["valgrind", "--tool=callgrind", "--branch-sim=yes", f"--callgrind-out-file={profile}"]
    counting += ["--collect-atstart=no", "--toggle-collect=manetlab_core::network::Network::run_to_end*"]
    words = [*counting, str(ROOT / "target/release/examples/engine"), str(movement), str(core), "1"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def summary(profile: Path) -> dict[str, int]:
    """All instructions, branches and mispredictions."""
    text = profile.read_text()
    names = re.search(r"^events: (.*)$", text, re.MULTILINE)
    numbers = re.search(r"^(?:summary|totals): (.*)$", text, re.MULTILINE)
    if not names or not numbers:
        raise SystemExit("callgrind counted nothing: was the core built without symbols?")
    return dict(zip(names[1].split(), map(int, numbers[1].split()), strict=False))


def by_function(profile: Path) -> Counter[str]:
    """Instructions by function, its own and those of what was inlined into it."""
    annotate = ["callgrind_annotate", "--threshold=100", "--auto=no", "--show=Ir", str(profile)]
    text = subprocess.run(annotate, check=True, stdout=subprocess.PIPE, text=True).stdout
    counts: Counter[str] = Counter()
    for line in text.splitlines():
        found = re.match(r"\s*([\d,]+) \([^)]*\)\s+[^:]*:(.*?)(?: \[.*)?$", line)
        if found:
            counts[found[2]] += int(found[1].replace(",", ""))
    return counts


if __name__ == "__main__":
    main()
