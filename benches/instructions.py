"""Counts the instructions of a run under callgrind: by radio arrival, MAC frame, event, function and module.

Unlike times, these counts do not depend on the machine's load. The scenario has 10 TCP and 10 CBR flows among
50 moving nodes, profile ``ns-2.35``; with ``--record``, what the run's recording costs is counted too.
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

from benches.measuring import ENGINE, ROOT
from manetlab import Scenario
from validation import networks

FILES = networks.unpacked()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scenario", default="p01-10tcp", help="a scenario of validation/ns2")
    options.add_argument("--duration", type=float, default=60.0, help="simulated seconds")
    options.add_argument("--routing", default="aodv", help="a routing protocol")
    options.add_argument("--record", action="store_true", help="record the run to a file")
    options.add_argument("--functions", type=int, default=15, help="how many functions and modules to name")
    asked = options.parse_args()
    install_valgrind()
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "callgrind.out"
        result = run_counted(asked.scenario, asked.duration, profile, asked.routing, asked.record)
        functions = by_function(profile)
        modules = by_module(profile)
        totals = summary(profile)
    arrivals, events = result["arrivals"], result["events"]
    frames = round(result["frames_per_s"] * asked.duration)
    instructions = totals["Ir"]
    recorded = ", recorded" if asked.record else ""
    print(
        f"{asked.scenario} over {asked.routing}, {asked.duration:g} s{recorded}: {instructions} instructions"
    )
    print(f"{frames} frames, {arrivals} arrivals, {events} events")
    print(f"instructions per arrival   {instructions / arrivals:10.1f}")
    print(f"instructions per frame     {instructions / frames:10.0f}")
    print(f"instructions per event     {instructions / events:10.0f}")
    mispredicted = totals["Bcm"] + totals["Bim"]
    print(f"branches mispredicted per arrival (callgrind's model) {mispredicted / arrivals:.2f}")
    for title, counts in (
        ("by function, inlined functions with their callers", functions),
        ("by module", modules),
    ):
        print(f"instructions per arrival {title}:")
        for name, count in counts.most_common(asked.functions):
            print(f"{count / arrivals:10.1f}  {100 * count / instructions:5.1f} %  {name}")


def install_valgrind() -> None:
    """Installs the Debian package valgrind if there is none."""
    if shutil.which("valgrind"):
        return
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    for words in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "valgrind"]):
        subprocess.run([*as_root, *words], check=True, stdout=sys.stderr)


def run_counted(
    scenario: str, duration_s: float, profile: Path, routing: str = "aodv", record: bool = False
) -> dict[str, float]:
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
    fields |= {"routing": routing, "tcp": "reno", "profile": "ns-2.35", "seed": 1}
    asked = Scenario.build({**fields, "duration_s": duration_s, "warmup_s": 0.0})
    core = profile.with_name("scenario.json")
    core.write_text(asked.resolve().core_json())
    counting = [
        "valgrind",
        "--tool=callgrind",
        "--branch-sim=yes",
        "--dump-instr=yes",
        f"--callgrind-out-file={profile}",
    ]
    counting += ["--collect-atstart=no", "--toggle-collect=manetlab_core::network::Network::run_to_end*"]
    recording = ["1", str(profile.with_name("recording"))] if record else []
    words = [*counting, str(ENGINE), str(movement), str(core), "1", *recording]
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


def by_module(profile: Path) -> Counter[str]:
    """Instructions by module of the core; what is inlined from libraries counts for the module around it.

    In callgrind's file a line of costs begins with an address, or the step from the last one. The
    line after ``calls=`` has the cost of what was called.
    """
    costs: Counter[int] = Counter()
    address, engine, in_engine, called = 0, "", False, False
    for line in profile.read_text().splitlines():
        if found := re.match(r"(c?ob)=(\(\d+\))(.*)", line):
            # An object file is named once, and from then on by its number.
            engine = found[2] if found[3].endswith(str(ENGINE)) else engine
            if found[1] == "ob":
                in_engine = found[2] == engine
        elif line.startswith("calls="):
            called = True
        elif re.match(r"(0x|[+*-])", line):
            words = line.split()
            address = _address(words[0], address)
            if len(words) > 2 and not called:
                costs[address if in_engine else 0] += int(words[2])
            called = False
    counts: Counter[str] = Counter()
    modules = _modules([address for address in costs if address])
    for address, cost in costs.items():
        counts[modules.get(address, "C library")] += cost
    return counts


def _address(word: str, last: int) -> int:
    if word == "*":
        return last
    # Addresses are hexadecimal, steps decimal.
    return last + int(word) if word[0] in "+-" else int(word, 16)


def _modules(addresses: list[int]) -> dict[int, str]:
    """The module of the core that each instruction is from: the innermost, if one is inlined into another."""
    command = ["addr2line", "--addresses", "--inlines", f"--exe={ENGINE}"]
    asked = "\n".join(hex(address) for address in addresses)
    text = subprocess.run(command, check=True, input=asked, stdout=subprocess.PIPE, text=True).stdout
    modules: dict[int, str] = {}
    address = 0
    for line in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            address = int(line, 16)
            modules[address] = "libraries of Rust"
        elif modules[address] == "libraries of Rust" and (
            found := re.search(r"crates/core/src/(.*?)(?:/mod)?\.rs:", line)
        ):
            modules[address] = found[1]
    return modules


if __name__ == "__main__":
    main()
