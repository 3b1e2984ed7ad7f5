"""``python -m validation.measure_ns2``: runs ns-2.35 on the reference files and keeps its measurements.

Needs ns-2.35 (Debian's package ``ns2``). validation/ns2/README.md explains the fields of a line.
"""

from __future__ import annotations

import json
import lzma
import os
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from validation import REFERENCE, networks
from validation.check import ns2_file, read_runs

MOST_CPU_S = 120
"""A run that takes more computing time than this hangs: the others take less than a tenth of it."""

SEGMENT_BYTES = 1460
"""What the reference's traffic files set as the size of a segment."""

VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "sack-delack": {"tcp": "TCP/Sack1", "sink": "TCPSink/Sack1/DelAck"},
    "vegas": {"tcp": "TCP/Vegas"},
    "no-rts": {"rts": 3000},
}
"""Changes to the common settings, by the last part of a run's name."""

ROUTING_TYPES = {"AODV", "DSR", "message"}
"""How ns-2's traces call packets of routing; DSDV's are messages."""


@dataclass
class Trace:
    """What is counted from a trace, of packets made after the warm-up.

    Attributes:
        warm_s: When counting begins.
    """

    warm_s: float

    def __post_init__(self) -> None:
        """Begins all counts at zero."""
        self.sent_at_s: dict[str, float] = {}
        self.sent = 0
        self.latencies_s: list[float] = []
        self.routing_sizes_bytes: list[int] = []
        self.data_hops = 0
        self.tcp_hops = 0
        self.drops: Counter[str] = Counter()

    def read(self, lines: Iterable[str]) -> None:
        """Counts the lines of a trace in ns-2's old wireless format."""
        for line in lines:
            parts = line.split(None, 8)
            if len(parts) == 9 and parts[0] in ("s", "r", "f", "D"):
                self._count(parts[0], float(parts[1]), parts[3], parts[4], parts[5], parts[6], int(parts[7]))

    def _count(
        self, event: str, at_s: float, layer: str, why: str, packet: str, kind: str, size_bytes: int
    ) -> None:
        warm = at_s >= self.warm_s
        if layer == "AGT" and kind == "cbr":
            if event == "s":
                self.sent_at_s[packet] = at_s
                self.sent += warm
            elif event == "r" and (sent_at_s := self.sent_at_s.pop(packet, -1.0)) >= self.warm_s:
                self.latencies_s.append(at_s - sent_at_s)
        elif layer == "RTR" and event in "sf" and warm:
            if kind in ROUTING_TYPES:
                self.routing_sizes_bytes.append(size_bytes)
            self.data_hops += kind == "cbr"
            self.tcp_hops += kind in ("tcp", "ack")
        if event == "D" and warm:
            self.drops[f"{layer}/{why}/{kind}"] += 1

    def measures(self, stop_s: float) -> dict[str, Any]:
        """The fields of a line that come from the trace."""
        received = len(self.latencies_s)
        span_s = stop_s - self.warm_s
        return {
            "cbr_sent": self.sent,
            "cbr_recv": received,
            "cbr_delivery": received / self.sent if self.sent else None,
            "cbr_latency_s": sum(self.latencies_s) / received if received else None,
            "routing_pkts_per_s": len(self.routing_sizes_bytes) / span_s,
            "routing_bytes_per_s": sum(self.routing_sizes_bytes) / span_s,
            "data_hops": self.data_hops,
            "tcp_hops": self.tcp_hops,
            "drops": dict(self.drops.most_common(12)),
        }


def measure(folder: Path, run: dict[str, Any]) -> dict[str, Any]:
    """``run`` with what ns-2.35 measures, or with ``"error"`` if it does not finish."""
    settings: dict[str, Any] = {key: run[key] for key in ("tcp", "sink", "rts") if key in run}
    arguments: dict[str, Any] = {
        "movement": networks.unpacked() / run["scen"],
        "traffic": networks.unpacked() / run["traffic"],
        "nodes": run["nn"],
        "side": max(run["x"], run["y"]),
        "stop": run["stop"],
        "seed": run["seed"],
        "routing": run["rp"],
        **settings,
    }
    trace = Trace(run["warm"])
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(1) as reader:
        pipe = Path(scratch) / "trace"
        os.mkfifo(pipe)
        reading = reader.submit(lambda: trace.read(pipe.open(encoding="utf-8")))
        command = ["ns", str(folder / "run.tcl"), *(f"{key}={value}" for key, value in arguments.items())]
        limited = ["prlimit", f"--cpu={MOST_CPU_S}", *command, f"trace={pipe}"]
        done = subprocess.run(limited, capture_output=True, text=True, check=False, cwd=scratch)
        if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
            return {**run, "error": "does not finish"}
        done.check_returncode()
        reading.result()
    of_tcp = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("TCP ")]
    acked = [int(segments) for segments, _ in of_tcp]
    span_s = run["stop"] - run.get("tcp_start", 0)
    return {
        **run,
        "tcp_acked": acked,
        "tcp_rexmit": [int(again) for _, again in of_tcp],
        "tcp_mbps": sum(acked) * SEGMENT_BYTES * 8 / span_s / 1e6 if acked else None,
        **trace.measures(run["stop"]),
    }


def missing(folder: Path, protocol: str, group: str, variant: str, seeds: int) -> Iterator[dict[str, Any]]:
    """The runs of a group that ``folder`` lacks to have so many seeds a scenario."""
    known = read_runs(ns2_file(folder, protocol))
    scenarios = sorted(path.stem for path in networks.unpacked().glob("p*.mov"))
    for number, scenario in enumerate(scenarios, start=1):
        name = "-".join(filter(None, (scenario, group, protocol, variant)))
        have = {run["seed"] for run in known if run["id"] == name}
        wanted = (number + 100 * index for index in range(seeds))
        for seed in wanted:
            if seed not in have:
                yield {
                    "id": name,
                    "traffic": f"{scenario}-{group}.traffic.tcl",
                    "rp": protocol,
                    "nn": 50,
                    "x": 1000,
                    "y": 1000,
                    "stop": 300,
                    "scen": f"{scenario}.mov",
                    "warm": 50,
                    "tcp_start": 50,
                    "seed": seed,
                    **VARIANTS[variant],
                }


@click.command()
@click.argument("protocol", type=click.Choice(["AODV", "DSDV", "DSR"]))
@click.argument("group", type=click.Choice(["1tcp", "10tcp", "cbr25"]))
@click.option("--variant", type=click.Choice(list(VARIANTS)), default="", help="What is changed. [nothing]")
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Seeds a scenario.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Runs at a time.")
def main(protocol: str, group: str, variant: str, seeds: int, jobs: int) -> None:
    """Run ns-2.35 on the reference's mobile networks until each has so many seeds."""
    file = ns2_file(REFERENCE, protocol)
    with ThreadPoolExecutor(jobs) as runs:
        wanted = list(missing(REFERENCE, protocol, group, variant, seeds))
        for line in runs.map(lambda run: measure(REFERENCE, run), wanted):
            # A stream of its own, which is whole whatever becomes of the next run.
            with lzma.open(file, "at", encoding="utf-8") as lines:
                lines.write(json.dumps(line) + "\n")
            click.echo(f"{line['id']} seed {line['seed']}: {line.get('error', line.get('cbr_delivery'))}")


if __name__ == "__main__":
    main(prog_name="python -m validation.measure_ns2")
