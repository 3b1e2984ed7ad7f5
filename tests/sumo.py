"""Compares the movement that is read from SUMO's files with the positions in them: ``make sumo``.

SUMO makes a network with traffic lights and random trips over it, and writes where its vehicles are: as
floating car data, and by its own exporter as movement for ns-2. The first is read to within its two decimals,
and vehicles are there exactly while they are listed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from manetlab import movement_files
from manetlab.origin import Origin

END_S = 300
EXACT_M = 0.02
"""Two decimals, and thinning to a centimetre."""


def simulate(home: Path, folder: Path) -> Path:
    """Positions of vehicles in a grid of streets with traffic lights, as SUMO writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SUMO_HOME": str(home)}

    def call(*command: object) -> None:
        subprocess.run([str(word) for word in command], check=True, cwd=folder, env=environment, stdout=2)

    grid = ("--grid", "--grid.number", 4, "--grid.length", 150, "--default-junction-type", "traffic_light")
    call(home / "bin" / "netgenerate", *grid, "--seed", 7, "-o", "net.xml")
    trips = ("-e", 200, "-p", 1.5, "--seed", 7, "-o", "trips.xml", "-r", "routes.xml", "--validate")
    call(sys.executable, home / "tools" / "randomTrips.py", "-n", "net.xml", *trips)
    run = ("-n", "net.xml", "-r", "routes.xml", "--end", END_S, "--seed", 7, "--no-step-log")
    call(home / "bin" / "sumo", *run, "--fcd-output", "fcd.xml")
    exported = ("--fcd-input", "fcd.xml", "--ns2mobility-output", "ns2.movements")
    call(sys.executable, home / "tools" / "traceExporter.py", *exported)
    return folder / "fcd.xml"


def main() -> None:
    """Prints how far the two are apart; fails if it is too far."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="SUMO's folder, with bin and tools.")
    parser.add_argument("--folder", type=Path, default=Path("out/sumo"))
    given = parser.parse_args()
    fcd = simulate(given.home.resolve(), given.folder.resolve())
    movement = movement_files.load(Origin(fcd.parent), fcd.name)
    labels = movement.labels or [str(number) for number in range(movement.nodes)]
    numbers = {label: number for number, label in enumerate(labels)}
    off_m, compared, wrong, first_s = 0.0, 0, 0, None
    for step in ET.parse(fcd).getroot():
        first_s = float(step.get("time", 0)) if first_s is None else first_s
        time_s = float(step.get("time", 0)) - first_s
        places, there = movement.positions(time_s), movement.present(time_s)
        listed = {numbers[each.get("id", "")]: each for each in step}
        wrong += sum(there[number] != (number in listed) for number in numbers.values())
        for number, each in listed.items():
            x, y = float(each.get("x", 0)), float(each.get("y", 0))
            off_m = max(off_m, ((places[number][0] - x) ** 2 + (places[number][1] - y) ** 2) ** 0.5)
            compared += 1
    print(
        f"{movement.nodes} vehicles, {compared} positions: at most {off_m:.4f} m off, {wrong} wrong presences"
    )
    exported = movement_files.load(Origin(fcd.parent), "ns2.movements")
    print(f"SUMO's export for ns-2: {exported.nodes} nodes, {exported.rests_elsewhere} rests elsewhere")
    if off_m > EXACT_M or wrong or not compared or exported.nodes != movement.nodes:
        sys.exit("the movement is not that of SUMO")


if __name__ == "__main__":
    main()
