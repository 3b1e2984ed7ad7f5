"""``python -m validation.convergence``: how soon pings arrive, beside the daemons that meshnet-lab measured.

meshnet-lab's test ``convergence1`` of 2024 starts daemons with their defaults in a line and a tree of 50
nodes and a grid of 49, and counts how many of 200 pings are answered, for every two seconds after the start.
Here the protocols run in a network without a radio (crates/promises), with many seeds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import click

from manetlab.errors import ManetlabError
from manetlab.files import check_writable, write_text
from manetlab.tables import Table, stdout_console
from validation.olsr_ns3 import OURS, ours_program

SHAPES = ("line", "grid", "tree")
DAEMONS = {
    "olsr:rfc3626": "",
    "olsr:olsrd": "olsrd 0.9.8",
    "babel:rfc8966": "",
    "babel:babeld": "babeld 1.13.1",
    "batman:batman-adv": "",
    "batman:batman-adv-wired": "batman-adv 2023.2",
    "batman:batmand": "",
}
"""The parameter sets, and the daemons that were measured; without a radio quality falls as between wires."""
PUBLISHED_S = {
    "olsrd 0.9.8": (40, 18, 24),
    "babeld 1.13.1": (18, 16, 16),
    "batman-adv 2023.2": (22, 6, 6),
}
"""When nine of ten pings were answered for the first time, by shape: one run for every two seconds."""
PINGS, ROUND_S = 200, 2
WIRED = "batman:batman-adv-wired"
NEVER_STOPPED = {
    "line": (0, 0, 0, 116, 149, 174, 177, 173),
    "grid": (0, 0, 0, 200, 200, 200, 200, 200),
    "tree": (0, 0, 0, 200, 200, 200, 200, 200),
}
"""Answered pings of batman-adv in the first rows of the published files: 0, 2, … s after each start."""
START_S, CLEAR_S = 1.6, 0.3
"""What meshnet-lab took to start its nodes (column ``software_ms``), and for all else between two rows (twice
``traffic_ms``, and a guess for the rest)."""
ANSWERED = 0.9
LEVEL_ROUNDS = 10
"""Rounds at the end in which the level is taken."""


def counts(name: str, shape: str, seed: int, rounds: int) -> list[int]:
    """How many pings are answered in each round."""
    command = [str(OURS), "pings", name, shape, str(seed), str(rounds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()]


def reached_s(answered: Sequence[int]) -> int | None:
    """When the first round begins in which nine of ten pings are answered; none if they never are."""
    return next((ROUND_S * place for place, count in enumerate(answered) if count >= ANSWERED * PINGS), None)


def level(answered: Sequence[int]) -> float:
    """The share of pings that are answered at the end."""
    last = answered[-LEVEL_ROUNDS:]
    return sum(last) / (len(last) * PINGS)


def times_cell(times_s: Sequence[int | None]) -> str:
    """Median and range; never is later than any time."""
    ordered = sorted(times_s, key=lambda each: float("inf") if each is None else each)
    first, last = ordered[0], ordered[-1]
    if first is None:
        return "never"
    middle = median(float("inf") if each is None else each for each in ordered)
    said = "never" if middle == float("inf") else f"{middle:g}"
    return f"{said} ({first} to {'never' if last is None else last})"


def table_of(shape: str, seeds: int, rounds: int) -> Table:
    """All parameter sets in networks of one shape."""
    title = f"{shape}: seconds until nine of ten pings are answered; {seeds} seeds, median and range"
    table = Table(title, ("set", "here", "level at the end", "daemon", "published"), text_columns=1)
    for name, daemon in DAEMONS.items():
        runs = [counts(name, shape, seed, rounds) for seed in range(1, seeds + 1)]
        levels = [level(run) for run in runs]
        published = str(PUBLISHED_S[daemon][SHAPES.index(shape)]) if daemon else ""
        times = times_cell([reached_s(run) for run in runs])
        table.add(name, times, f"{sum(levels) / seeds:.1%}", daemon, published)
    return table


def asked_s(row: int) -> float:
    """Seconds from the first start to the pings of a row, where no start after it does anything."""
    before = sum(START_S + ROUND_S * each + ROUND_S + CLEAR_S for each in range(row))
    return before + START_S + ROUND_S * row


def never_stopped(seeds: int) -> Table:
    """batman-adv as meshnet-lab ran it in 2024: the stop script did not reach the nodes' namespaces."""
    title = f"batman-adv that runs on: answered of {PINGS} pings; {seeds} seeds, median and range"
    columns = ("shape", "after each start", "since the first start", "here", "published")
    table = Table(title, columns, text_columns=1)
    for shape, published in NEVER_STOPPED.items():
        # The nodes start one after the other.
        rounds = [round((asked_s(row) - START_S / 2) / ROUND_S) for row in range(len(published))]
        runs = [counts(WIRED, shape, seed, rounds[-1] + 1) for seed in range(1, seeds + 1)]
        for row, (place, answered) in enumerate(zip(rounds, published, strict=True)):
            here = [run[place] for run in runs]
            cell = f"{median(here):g} ({min(here)} to {max(here)})"
            table.add(shape, f"{ROUND_S * row} s", f"{asked_s(row):.1f} s", cell, str(answered))
    return table


@click.command()
@click.option("--seeds", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(20, 1000), default=60, show_default=True, help="Of two seconds."
)
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the tables here too, as Markdown.")
def main(seeds: int, rounds: int, markdown: Path | None) -> None:
    """Compare how soon pings arrive with meshnet-lab's measurements of daemons."""
    if markdown is not None:
        check_writable(markdown)
    ours_program()
    tables = []
    for shape in SHAPES:
        tables.append(table_of(shape, seeds, rounds))
        tables[-1].print(stdout_console())
    tables.append(never_stopped(seeds))
    tables[-1].print(stdout_console())
    if markdown is not None:
        write_text(markdown, "\n".join(table.to_markdown() for table in tables))


if __name__ == "__main__":
    try:
        main(prog_name="python -m validation.convergence")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
