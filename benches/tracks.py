"""How long it takes, and what memory, to read an hour of a thousand vehicles: `python -m benches.tracks`."""

import random
import resource
import sys
import time
from pathlib import Path

from benches.measuring import OUT
from manetlab import movement_files
from manetlab.origin import Origin

VEHICLES, SECONDS = 1000, 3600


def write(path: Path) -> None:
    """Floating car data as SUMO writes it, of vehicles that drive at random."""
    draw = random.Random(1)
    places = [[draw.uniform(0, 5000), draw.uniform(0, 5000), draw.uniform(0, 15)] for _ in range(VEHICLES)]
    with path.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<fcd-export>\n')
        for second in range(SECONDS):
            rows = [f'    <timestep time="{second}.00">\n']
            for number, place in enumerate(places):
                place[2] = min(15.0, max(0.0, place[2] + draw.uniform(-2, 2)))
                place[number % 2] += place[2]
                rows.append(
                    f'        <vehicle id="veh{number}" x="{place[0]:.2f}" y="{place[1]:.2f}" angle="90.00" '
                    f'speed="{place[2]:.2f}"/>\n'
                )
            rows.append("    </timestep>\n")
            file.write("".join(rows))
        file.write("</fcd-export>\n")


def main() -> None:
    """Prints size, time and the most memory of the process."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "thousand-vehicles.fcd.xml"
    if not path.exists():
        write(path)
    before = time.perf_counter()
    movement = movement_files.load(Origin(path.parent), path.name)
    took_s = time.perf_counter() - before
    cpu_s = time.process_time()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 2**20)
    size = path.stat().st_size / 1e6
    print(
        f"{movement.nodes} nodes, {size:.0f} MB: {took_s:.1f} s, {cpu_s:.1f} s of processor, {most:.0f} MiB"
    )


if __name__ == "__main__":
    main()
