"""``python -m validation.packets``: DSR's packets by kind and cause, here and in ns-2.35 on the same files.

ns-2.35 runs as ``ns`` with the script benches/ns2.tcl. A run of it that does not end is left out, and said.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from manetlab import run
from manetlab.cli import options
from manetlab.errors import ManetlabError
from manetlab.files import write_text
from manetlab.scenario import Scenario
from manetlab.stats import mean_interval
from manetlab.tables import Table, stdout_console
from validation import REFERENCE, networks
from validation.check import as_ns2_ran, ns2_runs, replications

SCRIPT = Path(__file__).parent.parent / "benches" / "ns2.tcl"
NODES = 50
LIMIT_S = 300.0
"""How long a run of ns-2 may take; it needs some ten seconds, or does not end."""

CAUSES = {
    "rreq": ("neighbours", "all"),
    "rrep": ("target", "cache", "shorter"),
    "rerr": ("broken", "nested", "unwrapped", "unknown-flow"),
}
"""The kinds of DSR's packets and why they are made; docs/recording.md explains the names."""

WAYS = ("made", "forwarded")

Key = tuple[str, str, str]
"""Kind, cause, and whether its source sends it or another node."""

LINE = re.compile(
    r"(?P<event>[sfr]) (?P<time>[\d.]+) _(?P<node>\d+)_ RTR +--- \d+ DSR .*? ------- "
    r"\[(?P<src>-?\d+):\d+ (?P<dst>-?\d+):\d+ .*?\] \d+ \[(?P<request>\d) (?P<number>\d+)\] "
    r"\[(?P<reply>\d) \d+ \d+ (?P<first>\d+)->(?P<target>\d+)\] "
    r"\[(?P<error>\d) (?P<errors>\d+) (?P<tell>\d+) (?P<broken>\d+)->"
)
PERIOD_S = 2.0
"""ns-2.35's wait after the first attempt at a discovery."""


@dataclass
class Counts:
    """What one run sent.

    Attributes:
        packets: DSR's packets, each hop counted, by kind, cause and way.
        made: CBR packets made.
        latencies_s: Latency of each CBR packet that arrived.
        span_s: Over how long it was counted.
    """

    packets: Counter[Key] = field(default_factory=Counter)
    made: int = 0
    latencies_s: list[float] = field(default_factory=list)
    span_s: float = 1.0

    def rate(self, keys: Iterable[Key]) -> float:
        """These packets per second."""
        return sum(self.packets[key] for key in keys) / self.span_s


def of_ns2(lines: Iterable[str], warmup_s: float, stop_s: float) -> Counts:
    """The counts of a trace of ns-2.35 in its usual format."""
    counts = Counts(span_s=stop_s - warmup_s)
    asked: dict[tuple[str, str], float] = {}
    sent: dict[str, float] = {}
    for line in lines:
        if " DSR " in line:
            match = LINE.match(line)
            if match is not None:
                _count_dsr(match, asked, counts, warmup_s)
        elif " AGT " in line and " cbr " in line:
            words = line.split()
            time, uid = float(words[1]), words[5]
            if words[0] == "s" and time >= warmup_s:
                sent[uid] = time
                counts.made += 1
            elif words[0] == "r" and uid in sent:
                counts.latencies_s.append(time - sent.pop(uid))
    return counts


def _count_dsr(
    line: re.Match[str], asked: dict[tuple[str, str], float], counts: Counts, warmup_s: float
) -> None:
    node, src = line["node"], line["src"]
    time = float(line["time"])
    if line["event"] == "r":
        if line["reply"] == "1" and line["dst"] == node:
            # The next request for this target is the first of a new discovery.
            asked.pop((node, line["target"]), None)
        return
    way = WAYS[node != src]
    if line["request"] == "1":
        # The trace does not say how far a request may go: the neighbours are asked first.
        began = asked.get((src, line["dst"]), -math.inf)
        to_all = way == "forwarded" or time < began + PERIOD_S
        if way == "made" and not to_all:
            asked[src, line["dst"]] = time
        key = ("rreq", "all" if to_all else "neighbours", way)
    elif line["reply"] == "1":
        # Only replies that shorten a route have no number of a request.
        from_target = "target" if line["target"] == src else "cache"
        key = ("rrep", "shorter" if line["number"] == "0" else from_target, way)
    elif line["error"] == "1":
        own = "nested" if int(line["errors"]) > 1 else "broken"
        key = ("rerr", own if line["broken"] == src else "unwrapped", way)
    else:
        key = ("rerr", "unknown-flow", way)
    if time >= warmup_s:
        counts.packets[key] += 1


def of_ours(scenario: Scenario, warmup_s: float, stop_s: float) -> Counts:
    """The counts of a run here."""
    result = run(scenario, record=True)
    counts = Counts(span_s=stop_s - warmup_s)
    for line in (result.recording or "").splitlines():
        if '"event":"sent"' in line and '"cause"' in line:
            event = json.loads(line)
            if event["t"] >= warmup_s:
                way = WAYS[event["node"] != event["src"]]
                counts.packets[event["what"], event["cause"], way] += 1
    latency = result.totals["cbr_latency_mean_s"]
    if latency is not None:
        counts.latencies_s = [float(latency)]
    return counts


def ns2_trace(movement: Path, traffic: Path, stop_s: float, seed: int, routing: str = "DSR") -> Iterator[str]:
    """The lines of a run of ns-2.35, as it writes them.

    Raises:
        subprocess.TimeoutExpired: It does not end.
    """
    script = ["ns", str(SCRIPT), str(movement), str(traffic), str(NODES), str(stop_s), str(seed)]
    command = ["timeout", f"{LIMIT_S:.0f}", *script, "1001", routing, "ON", "/dev/stdout"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    ) as ns2:
        if ns2.stdout is not None:
            yield from ns2.stdout
    if ns2.returncode != 0:
        raise subprocess.TimeoutExpired(command, LIMIT_S)


def table(title: str, theirs: Sequence[Counts], ours: Sequence[Counts]) -> Table:
    """Rates by kind, cause and way beside each other, as means over the runs."""
    columns = ("packets", "ns-2.35, 1/s", "manetlab, 1/s", "difference, 1/s", "% of ns-2's routing packets")
    made = Table(title, columns)
    every = [(kind, cause, way) for kind, causes in CAUSES.items() for cause in causes for way in WAYS]
    total = _mean(theirs, every)
    for key in every:
        _add(made, ", ".join(key), [key], total, theirs, ours)
    for kind, causes in CAUSES.items():
        keys = [(kind, cause, way) for cause in causes for way in WAYS]
        _add(made, f"all {kind}", keys, total, theirs, ours)
    _add(made, "all", every, total, theirs, ours)
    latency = [math.fsum(of.latencies_s) / len(of.latencies_s) for of in theirs if of.latencies_s]
    own = [math.fsum(of.latencies_s) / len(of.latencies_s) for of in ours if of.latencies_s]
    difference = math.fsum(own) / len(own) - math.fsum(latency) / len(latency)
    cells = (f"{_interval(latency)}", f"{_interval(own)}", f"{difference:+.3f}", "")
    made.add("CBR mean latency, s", *cells)
    return made


def _mean(counts: Sequence[Counts], keys: Sequence[Key]) -> float:
    return math.fsum(of.rate(keys) for of in counts) / len(counts)


def _interval(values: Sequence[float]) -> str:
    found = mean_interval(values)
    return f"{found.mean:.3f} ± {found.half_width:.3f}"


def _add(
    rows: Table,
    name: str,
    keys: Sequence[Key],
    total: float,
    theirs: Sequence[Counts],
    ours: Sequence[Counts],
) -> None:
    difference = _mean(ours, keys) - _mean(theirs, keys)
    cells = [_interval([of.rate(keys) for of in counts]) for counts in (theirs, ours)]
    rows.add(name, *cells, f"{difference:+.2f}", f"{difference / total:+.1%}")


@click.command()
@click.option(
    "--networks", "names", default="p01,p02,p03,p04", show_default=True, help="Movement files, with commas."
)
@click.option("--loads", default="1tcp,cbr25", show_default=True, help="Traffic files, with commas.")
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Of ns-2.35.")
@click.option("--replications", "count", type=click.IntRange(1, 100), default=5, show_default=True)
@click.option("--markdown", type=options.PATH, help="Write the tables here too, as Markdown.")
def packets(names: str, loads: str, seeds: int, count: int, markdown: Path | None) -> None:
    """Count DSR's packets by kind and cause, here and in ns-2.35."""
    written = []
    for load in loads.split(","):
        ours: list[Counts] = []
        theirs: list[Counts] = []
        hung = []
        for name in names.split(","):
            case = next(of for of in ns2_runs(REFERENCE, "DSR") if of["id"] == f"{name}-{load}-DSR")
            window = (float(case["warm"]), float(case["stop"]))
            files = (networks.unpacked() / case["scen"], networks.unpacked() / case["traffic"])
            for seed in range(1, seeds + 1):
                try:
                    theirs.append(of_ns2(ns2_trace(*files, window[1], seed), *window))
                except subprocess.TimeoutExpired:
                    hung.append(f"{name} with seed {seed}")
            ours += [of_ours(one, *window) for one in replications(as_ns2_ran(case), count)]
        left_out = f"; runs of ns-2 that did not end: {', '.join(hung)}" if hung else ""
        made = table(f"{load}: {len(theirs)} runs of ns-2.35, {len(ours)} here{left_out}", theirs, ours)
        made.print(stdout_console())
        written.append(made.to_markdown())
    if markdown is not None:
        write_text(markdown, "\n".join(written))


if __name__ == "__main__":
    try:
        packets(prog_name="python -m validation.packets")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
