"""``python -m validation.traces``: the awk measures of our traces beside those of ns-2.35's.

Needs ns-2.35 (Debian's package ``ns2``). Runs four networks of validation/ns2 in both simulators, checks that
every line of ns-2's trace has the form that ours have, and gives both traces to measures.awk.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

import click

from manetlab.captures import Ns2Trace
from manetlab.running import run
from manetlab.tables import Table, stdout_console
from validation import REFERENCE, networks
from validation.check import as_ns2_ran, ns2_runs, replications, verdict

MEASURES = Path(__file__).with_name("measures.awk")

# The lines of ns-2.35's wireless traces, as its own traces show them. Of AODV's messages it has no RREP-ACK.
HEX = r"[0-9a-f]+"
IP_PART = r"------- \[\d+:\d+ -?\d+:\d+ -?\d+ \d+\] "
ARP = r"------- \[(REQUEST|REPLY) \d+/\d+ \d+/\d+\]"
AODV = (
    r"\[0x[0-9a-f]+ \d+( \d+)? \[\d+ \d+\] (\[\d+ \d+\]|\d+\.\d{6})\] "
    r"\((REQUEST|REPLY|ERROR|HELLO|RREP-ACK)\)"
)
DSR = r"\d+ \[[01] \d+\] \[[01] \d+ \d+ \d+->\d+\] \[[01] \d+ -?\d+ \d+->\d+\]"
OLD = re.compile(
    rf"[srfD] \d+\.\d{{9}} _\d+_ (AGT|RTR|IFQ|MAC) [ \w-]{{4}} \d+ [\w-]+ \d+ \[{HEX} {HEX} {HEX} {HEX}\] "
    rf"({ARP}|{IP_PART}(\[-?\d+( \d+)?\] \d+ \d+|{AODV}|{DSR})?)?"
)
NEW = re.compile(
    r"[srfD] -t \d+\.\d{9} -Hs \d+ -Hd -?\d+ -Ni \d+ -Nx -?\d+\.\d\d -Ny -?\d+\.\d\d -Nz 0\.00 "
    rf"-Ne -1\.000000 -Nl (AGT|RTR|IFQ|MAC) -Nw [\w-]+ -Ma {HEX} -Md {HEX} -Ms {HEX} -Mt {HEX} "
    r"(-P arp( -P\w+ \w+)+ |-Is \d+\.\d+ -Id -?\d+\.\d+ -It [\w-]+ -Il \d+ -If \d+ -Ii \d+ -Iv -?\d+ "
    r"(-P\w* \w+( -P\w+ [\w.>-]+)+ )?)?"
)

NETWORKS = (("p01-1tcp", "AODV"), ("p02-cbr25", "AODV"), ("p01-1tcp", "DSR"), ("p01-1tcp", "DSDV"))
TOLERANCES = {
    "delivery_fraction": 0.10,
    "delay_s": 0.25,
    "routing_packets": 0.12,
    "routing_load": 0.12,
    "throughput_bps": 0.12,
}
"""As in validation.mobile: how far means may be apart, as a share of ns-2's."""


def measures(trace: Path) -> dict[str, float]:
    """What measures.awk computes of a trace."""
    done = subprocess.run(
        ["awk", "-f", str(MEASURES), str(trace)], capture_output=True, text=True, check=True
    )
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def foreign(lines: Iterable[str], grammar: re.Pattern[str]) -> list[str]:
    """The lines of packets that do not have the form of ours."""
    packets = (line.rstrip("\n") for line in lines if re.match(r"[srfD] ", line))
    return [line for line in packets if not grammar.fullmatch(line)]


def theirs(network: str, routing: str, seed: int, stop_s: int) -> dict[str, float]:
    """The measures of a trace that ns-2.35 makes."""
    scenario = network.partition("-")[0]
    settings = {
        "movement": networks.unpacked() / f"{scenario}.mov",
        "traffic": networks.unpacked() / f"{network}.traffic.tcl",
        "nodes": 50,
        "side": 1000,
        "stop": stop_s,
        "seed": seed,
        "routing": routing,
    }
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "ns2.tr"
        given = [f"{key}={value}" for key, value in settings.items()]
        command = ["ns", str(REFERENCE / "run.tcl"), *given, f"trace={trace}"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        with trace.open(encoding="utf-8") as lines:
            if wrong := foreign(lines, OLD):
                raise click.ClickException(f"ns-2 writes a line of another form: {wrong[0]}")
        return measures(trace)


def ours(network: str, routing: str, seeds: int, stop_s: int) -> list[dict[str, float]]:
    """The measures of our traces, and a check that they are what the runs measured."""
    name = f"{network}-{routing}"
    reference = next(run for run in ns2_runs(REFERENCE, routing) if run["id"] == name)
    scenario = as_ns2_ran(reference).changed(duration_s=float(stop_s), warmup_s=0.0)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "ours.tr"
        for each in replications(scenario, seeds):
            result = run(each, ns2_trace=Ns2Trace(trace))
            found.append(measures(trace))
            if found[-1]["received"] != result.totals["cbr_received"]:
                raise click.ClickException(f"{name}: the trace has other packets than the run")
    return found


def table(name: str, of_us: Sequence[dict[str, float]], of_ns2: Sequence[dict[str, float]]) -> Table:
    """Means beside each other."""
    made = Table(name, ("measure", "manetlab", "ns-2.35", "difference", "tolerance", "verdict"))
    for measure, tolerance in TOLERANCES.items():
        our, their = (fmean(each[measure] for each in found) for found in (of_us, of_ns2))
        if their == 0:
            continue
        apart = our / their - 1
        row = (
            f"{our:.6g}",
            f"{their:.6g}",
            f"{apart:+.1%}",
            f"{tolerance:.0%}",
            verdict(abs(apart) <= tolerance),
        )
        made.add(measure, *row)
    return made


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each network.")
@click.option("--stop", type=click.IntRange(60), default=300, show_default=True, help="Their length, s.")
def main(seeds: int, stop: int) -> None:
    """Compare the awk measures of our traces with those of ns-2.35's, over four networks."""
    console = stdout_console()
    for network, routing in NETWORKS:
        of_ns2 = [theirs(network, routing, seed, stop) for seed in range(1, seeds + 1)]
        table(f"{network} over {routing}", ours(network, routing, seeds, stop), of_ns2).print(console)


if __name__ == "__main__":
    main(prog_name="python -m validation.traces")
